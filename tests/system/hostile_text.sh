#!/bin/sh
# SPDX-License-Identifier: MIT
# Text of a session's that would be orders to a terminal (escape sequences, control characters, directions of writing), in names of
# files, branches, tags, keys, hooks, remotes and work trees, in messages, authors and contents, and in what an agent says: whatever of it
# wrapix and ralph show on a terminal, they show. (review.sh has the same for 'wrapix review'.) Prints TAP.
#
# shellcheck disable=SC1091,SC2154,SC2317 # the libraries; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/git.sh"
. "$top/tests/lib/ralph.sh"
command -v script >/dev/null || bail "script is not installed"
export PAGER=cat TERM=xterm

cat >"$tmp/plant.py" <<'END'
import os, subprocess, sys
evil = "EV\033]0;pwned\007\033[95m\u202eIL\u2066\u009b95m\r\n</script>\x7f\u200f"
line, ref = evil.replace("\n", ""), "b\u202eEVIL\u009b95m\u2066</script>"
name = evil.replace("/", "_")
def git(*words, **how):
    subprocess.run(["git", *words], **how)
def write(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf8", newline="") as f:
        f.write(text)
write("f" + name, "text " + evil)
write("a", "1\n" + evil + "\n3\n")
try:
    write(".vscode/" + name, evil)
except OSError:
    pass  # a command may not
write("package.json", evil)
write("d" + name + "/x", "x")
os.symlink(evil, "link")
git("branch", ref)
git("add", "-A")
git("-c", "user.name=N" + line, "commit", "-q", "-m", evil)
git("tag", "-m", evil, "t" + ref)
git("branch", "-D", "keep" + ref)
git("config", "core.editor", line)
git("config", "alias.z", "!" + line)
git("remote", "add", "r" + ref.replace("/", ""), "https://example.org/" + line)
try:
    write(".git/hooks/h" + name, evil)
except OSError:
    pass
git("init", "-q", "n" + name)
git("config", "core.pager", line, cwd="n" + name)
git("worktree", "add", "-q", "-b", "wt" + ref, "w" + name)
git("checkout", "-q", "-b", "q" + ref)
git("rebase", "-x", "false", "HEAD~1")
END
cat >"$tmp/look.py" <<'END'
import re, sys
shown, text = sys.argv[1] == "shown", open(sys.argv[2], "rb").read().decode("utf8", "surrogateescape")
plain = re.sub(r"\033\[(?!95m)[0-9;]*m", "", text) # colours of ours
bad = re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", plain)
if bad:
    sys.exit("raw: " + ascii(plain[max(bad.start() - 60, 0):bad.end() + 20]))
if shown and "EV" not in plain:
    sys.exit("it does not show: " + ascii(plain[:300]))
END
# on_tty shown|said COMMAND...: on a terminal; 'shown' when that text is in it, visibly
quote() { for word; do printf "'%s' " "$(printf %s "$word" | sed "s/'/'\\\\''/g")"; done; }
on_tty() {
	how=$1
	shift
	timeout 60 script -qec "$(quote "$@")" /dev/null >"$tmp/log/tty" 2>&1 </dev/null
	python3 "$tmp/look.py" "$how" "$tmp/log/tty"
}
printf 'x\033]0;pwned\007EV' >"$tmp/control"
check "control: it is seen where it is raw" fails python3 "$tmp/look.py" shown "$tmp/control"
ref=$(printf 'b\342\200\256EVIL\302\23395m\342\201\246</script>')
new_repo "$tmp/direct" && git -C "$tmp/direct" branch "keep$ref" && cp -a "$tmp/direct" "$tmp/cow" && cp -a "$tmp/direct" "$tmp/exec" || exit 1

# --- what a project says in its settings ---
mkdir -p "$tmp/said/.claude" && cd "$tmp/said" || exit 1
printf '{"sandbox": {"EV\\u009bx": 1, "ignoreViolations": {"EV\\u001b]0;pwned\\u0007\\u202e": ["EV\\u001b[95m"]}}}' >.claude/settings.json
cp .claude/settings.json .claude/settings.local.json
printf '{"projects": {"%s": {"hasTrustDialogAccepted": true}}}' "$PWD" >"$HOME/.claude.json"
check "settings, where one file is stronger than another" on_tty shown "$wrapix" settings
check "... of one key" on_tty shown "$wrapix" settings --explain sandbox.ignoreViolations
check "... --json" on_tty shown "$wrapix" settings --json
rm "$HOME/.claude.json"
printf '{"env": {"LD_PRELOAD": "EV\\u001b[95m\\u202e\\n"}, "mounts": [{"source": "EV\\u009b95m", "dest": "/EV\\u2066"}]}' >wrapix.json
check "trust" on_tty shown "$wrapix" trust --yes
check "trust --revoke" on_tty said "$wrapix" trust --revoke

# --- a session, and what it left ---
cd "$tmp/direct" || exit 1
check "the end of a session" on_tty shown "$wrapix" run --network none --mount "$tmp/plant.py:/plant.py" -- sh -c 'python3 /plant.py >/tmp/log 2>&1'
check "git status" on_tty said "$wrapix" git status
check "git held" on_tty shown "$wrapix" git held
check "git held --json" on_tty shown "$wrapix" git held --json
check "git held --show" on_tty shown "$wrapix" git held --show
check "... which shows the text of hooks and the values of keys" is "$(grep -c '^  *+.*EV' "$tmp/log/tty" | sed 's/^[2-9].*/some/')" some
check "git held --show --json" on_tty shown "$wrapix" git held --show --json
check "log" on_tty shown "$wrapix" log
"$wrapix" git status --json | jq -r '.[].id' | head -n 1 >"$tmp/id"
check "git accept" on_tty shown "$wrapix" git accept "$(cat "$tmp/id")" "branch:refs/heads/keep$ref"
check "git drop of what is not there" on_tty shown "$wrapix" git drop "$(cat "$tmp/id")" "hook:EV$ref"
check "git drop" on_tty said "$wrapix" git drop "$(cat "$tmp/id")"
cd "$tmp/exec" || exit 1
check "a command" on_tty shown "$wrapix" exec -- sh -c "python3 '$tmp/plant.py' >/dev/null 2>&1"
check "... what is held of it" on_tty said "$wrapix" git held

# --- copy-on-write ---
cd "$tmp/cow" || exit 1
check "the end of a copy-on-write session" on_tty said "$wrapix" run --network none --workspace cow --mount "$tmp/plant.py:/plant.py" -- sh -c 'python3 /plant.py >/tmp/log 2>&1'
for option in "" --stat --name-only --json; do
	# shellcheck disable=SC2086 # none, or one
	check "diff $option" on_tty shown "$wrapix" diff $option
done
check "apply --as-branch" on_tty shown "$wrapix" apply --as-branch "EV$ref"
check "apply" on_tty said "$wrapix" apply --yes
check "ps" on_tty said "$wrapix" ps
check "undo" on_tty said "$wrapix" undo

# --- what an agent of ralph's says ---
new_project ralph
cat >.agent/lines <<'END'
{"type":"assistant","message":{"content":[{"type":"text","text":"EV\u001b]0;pwned\u0007\u202e\u009b"},{"type":"tool_use","name":"Bash","input":{"command":"EV\u001b[95m\u202e\n\r\u007f"}}]}}
END
printf 'EV\033]0;pwned\007\342\200\256\n' >>.agent/lines
cat >.agent/plant <<'END'
echo x >"$(printf 'fEV\033]0;pwned\007\342\200\256')"
printf 'EV\033]0;pwned\007\342\200\256\n' >>base.txt
printf 'EV\033]0;pwned\007\342\200\256\n' >&2
END
git add -A && git commit -q -m agent || exit 1
task asks 'raw: cat .agent/lines
sh: . ./.agent/plant
end: RALPH_CLARIFY: EV\u001b]0;pwned\u0007\u202eIL?'
task does 'raw: cat .agent/lines
sh: . ./.agent/plant'
check "ralph step, which ends with a question" on_tty shown "$ralph" step
check "ralph loop" on_tty shown "$ralph" loop
for words in msg logs report "report --diff"; do
	# shellcheck disable=SC2086 # words
	check "ralph $words" on_tty shown "$ralph" $words
done
check "ralph status" on_tty said "$ralph" status
finish
