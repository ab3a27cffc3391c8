#!/bin/sh
# SPDX-License-Identifier: MIT
# wrapix run under Claude Code's settings: file rules by name inside of a session, which has names of its own for the
# project; what changes in the files while it runs; what cannot be held is said. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up

# r [OPTION...] SCRIPT: a session under the settings
r() {
	r_n=$#
	for r_word; do
		shift
		r_n=$((r_n - 1))
		if [ $r_n = 0 ]; then r_script=$r_word; else set -- "$@" "$r_word"; fi
	done
	wx run --settings-from claude "$@" -- sh -c "$r_script"
}
user() { printf '%s\n' "$1" >"$HOME/.claude/settings.new" && mv "$HOME/.claude/settings.new" "$HOME/.claude/settings.json"; }
mkdir -p .claude "$HOME/.claude" dist secret "$HOME/other"
echo secret >secret/a
echo secret >.env
echo plain >plain
echo keep >x.keep
echo '{}' >wrapix.json
cat >.claude/settings.json <<'X'
{
  "permissions": {
    "deny": ["Read(.env)", "Read(./secret/**)", "Edit(*.keep)",
      "Edit(/dist/**)"]
  }
}
X
user '{"sandbox":{"filesystem":{"allowWrite":["~/other"]}}}'

# --- files ---
r 'cat .env secret/a; cat plain; echo made >made; mkdir -p d/e && mv d f && echo deep >f/e/x'
check "what is denied cannot be read, what is not can" is "$(cat "$out")" plain
check "... and the rest is written, and moved" is "$(cat made f/e/x | tr '\n' ' ')" "made deep "
check "... by the session's own user, with its umask" is "$(stat -c '%u %a' made)" "$(id -u) 644"
check "a refusal has the host's name of the file, the rule as it is written, and its line" \
	has "$err" "reading $project/.env: 'Read(.env)' denies it, permissions.deny[0] at $project/.claude/settings.json:3"
check "a place that is allowed and not in the sandbox is named" has "$err" "settings.json:1: '~/other' is not in the sandbox"
r 'echo x >dist/x; mkdir dist/y; echo x >x.keep; echo x >new.keep; rm x.keep; mv x.keep y; mv plain z.keep; ln plain l.keep; : >>x.keep; truncate -s0 x.keep; chmod 600 x.keep; true'
check "what is denied is not written, made, moved, linked or changed" is "$(ls) $(cat x.keep) $(stat -c %a x.keep) $(ls dist)" \
	"$(printf 'dist\nf\nmade\nplain\nsecret\nwrapix.json\nx.keep') keep 644 "
r 'echo x >wrapix.json; rm wrapix.json; mv wrapix.json w; mkdir .wrapix; echo {} >.claude/settings.local.json; mkdir -p .vscode .git/hooks; true'
check "nor what decides about the next start" is "$(cat wrapix.json)$(ls -d .wrapix .vscode .claude/settings.local.json 2>/dev/null)" '{}'
r 'echo x >/tmp/t && echo x >~/h && echo x >/dev/shm/s && cat /tmp/t ~/h'
check "the sandbox's own places are its own" is "$(cat "$out")" "$(printf 'x\nx')"
r 'cat /workspace/../workspace/.env ./secret/../.env /proc/self/cwd/.env /proc/1/cwd/.env; exec 3</workspace; cat /proc/self/fd/3/.env; ln -s .env l1; cat l1; ln -s /workspace/secret l2; cat l2/a
	ln .env l3; cat l3; mv .env e; cat e; mv secret open; cat open/a; cp -r secret copy; cat copy/a; tar c . 2>/dev/null | grep -ac ^secret
	python3 - <<X
import os
for how in (lambda: os.open("/workspace/.env", os.O_RDWR), lambda: os.open(".env", os.O_RDONLY, dir_fd=os.open("/workspace", os.O_PATH)),
            lambda: os.open("/proc/self/fd/%d" % os.open("/workspace/.env", os.O_PATH), os.O_RDONLY)):
    try: print(os.read(how(), 9))
    except OSError as e: pass
X
	true'
check "no other way leads to what is denied" lacks "$out" secret
check "... and it stays where it is" is "$(cat .env secret/a | tr '\n' ' ')" "secret secret "
rm -f l1 l2
r --mount ./secret:/s:ro 'cat /s/a'
check "nor does another name that is mounted" is "$rc$(cat "$out")" 1
r --mount "$HOME/other:/o:rw" 'echo x >/o/x'
check "a place that the user mounts is written" is "$rc$(cat "$HOME/other/x")" 0x
user '{"permissions":{"deny":["Edit(~/other/no)"]}}'
r --mount "$HOME/other:/o:rw" 'echo x >/o/no'
check "... a rule about it is not held, and said to be weaker" has "$err" "'Edit(~/other/no)' is not held in /o"
r --network none 'echo x >y; echo x >dist/x; true'
check "without a network the files are held as well" is "$rc$(cat y)$(ls dist)" 0x
rm -f y
wx run --workspace cow --settings-from claude -- true
check "in a copy they are not, and nothing starts" refused 125 "settings.json:3: permissions.deny[0]: 'run' cannot hold 'Read(.env)' inside the project with --workspace cow"
wx run --allow-nested --settings-from claude -- true
check "nor where the sandbox may mount: it could show a file under another name" refused 125 "'run' cannot hold 'Read(.env)' inside the project where the sandbox may mount"
cp .claude/settings.json "$tmp/settings"
echo '{"permissions": {"deny": ["Edit(/dist/**)"]}}' >.claude/settings.json
r --allow-nested 'unshare -Urm sh -c "mkdir /tmp/m; mount --bind /workspace/dist /tmp/m; echo x >/tmp/m/x; mount --bind /workspace/dist /workspace/f; echo x >/workspace/f/x; echo x >/workspace/nested"; true'
check "... but what may be written is held there too" is "$(ls dist)$(cat nested)" x
rm nested
mv "$tmp/settings" .claude/settings.json
# What the mounts alone allow, for comparison: the rules are what refuses.
wx run -- sh -c 'cat .env; echo x >dist/x'
check "without the settings all of it is allowed" is "$rc$(cat "$out")$(cat dist/x)" 0secretx
rm dist/x

# --- git ---
git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first
r 'git config user.name a && git config user.email a@b && git add plain && git commit -qm second && git log --format=%s; echo "#!/bin/sh" >.git/hooks/pre-commit; git config core.fsmonitor evil; true'
check "git works" is "$(cat "$out")" "$(printf 'second\nfirst')"
check "... its hooks and what it would run are protected" is "$(ls .git/hooks/pre-commit 2>/dev/null)$(git config core.fsmonitor)" ""
git worktree add -q "$tmp/tree" 2>/dev/null
mkdir -p sub
(cd "$tmp/tree" && r 'git config user.name a; git config user.email a@b; echo x >t && git add t && git commit -qm third; echo >.git2')
check "... in a linked worktree" is "$(git -C "$tmp/tree" log -1 --format=%s)" third
(cd sub && r 'echo x >here; git add here && git commit -qm fourth; echo x >../there')
check "... in a directory of the repository" is "$(git log -1 --format=%s)$(ls there 2>/dev/null)" fourth

# --- wrapix exec in such a session: both rules hold ---
mkdir -p kept && echo kept >kept/k && echo mine >mine && echo shut >shut
printf '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":["/workspace/mine"],"allowWrite":["/"],"denyWrite":["/workspace/kept"]}}\n' >"$tmp/inner.json"
printf '{"permissions": {"deny": ["Read(.env)", "Read(./secret/**)", "Read(/shut)", "Edit(*.keep)", "Edit(/dist/**)"]}}\n' >.claude/settings.json
both() { r --mount "$tmp/inner.json:/inner.json:ro" "wrapix exec -s /inner.json -- sh -c '$1'; $2"; }
both 'cat plain; cat .env secret/a shut mine; cat /proc/self/cwd/.env; ln -s .env in-link; cat in-link; ls secret; echo in >in-made; cat in-made; exec 3<.; cat /proc/self/fd/3/shut; ln shut in-hard; cat in-hard; mv shut in-moved; cat in-moved; true' 'cat mine'
check "reading: what either denies is denied, and by any name" is "$(xargs <"$out")" "plain in mine"
check "... and the rest is written" is "$(cat in-made)$(cat shut)" inshut
both 'echo x >x.keep; echo x >dist/x; echo x >in.keep; mv in-made in2.keep; rm x.keep; echo x >kept/k; echo x >.claude/settings.json; true' 'echo x >kept/k'
check "writing likewise" is "$(cat x.keep in-made kept/k | xargs)$(ls dist)$(ls ./*.keep)" "keep in x./x.keep"
check "... the outer rules are named by their line" has "$err" "'Edit(*.keep)' denies it, permissions.deny[3] at $project/.claude/settings.json:1"
r 'wrapix exec -- sh -c "echo x >y.keep; cat .env; cat plain; git log -1 --format=%s"; srt "cat .env; cat plain"'
check "without settings of its own it has these, and git" is "$(xargs <"$out")" "plain fourth plain"
cat >races.py <<'X'
import os, sys, threading, time
def turn():
    i = 0
    while not done:
        i += 1
        os.symlink(".env" if i % 2 else "plain", "turn-new")
        os.rename("turn-new", "turn")
done = False
os.symlink("plain", "turn")
thread = threading.Thread(target=turn)
thread.start()
seen = set()
end = time.monotonic() + 60
rounds = 0
while rounds < 200 or (len(seen) < len(sys.argv) and time.monotonic() < end): # as many as are wanted, by chance
    rounds += 1
    try:
        seen.add(open("turn").read().strip())
    except OSError:
        pass
done = True
thread.join()
os.unlink("turn")
print(*sorted(seen))
X
python3 races.py both >"$out"
check "outside a turning link leads to both" is "$(cat "$out")" "plain secret"
both 'python3 races.py' true
check "... and inside to what may be read" is "$(cat "$out")" plain
rm -f in-* races.py

# --- while it runs ---
rules() { printf '{"permissions": {"deny": ["Edit(/never)", "Read(/hidden)", "Edit(/%s)", "Read(/%s)"]}}\n' "$1" "$2" >.claude/s.new && mv .claude/s.new .claude/settings.json; }
echo hidden >hidden
echo p >p
echo q >q
rules a p
mkfifo ready open
"$wrapix" run --settings-from claude -- sh -c 'echo >b; cat p 2>/dev/null >pp; echo x >ready; until echo >a; do :; done; until cat p; do :; done; while echo >b; do :; done; while cat q; do :; done; echo x >open
	until test -e stop; do echo >never; cat hidden; done' >"$tmp/out" 2>"$tmp/err" &
started=$!
hear ready
check "rules hold from the start" is "$(ls a 2>/dev/null)$(ls b)$(cat pp)" b
echo '{"permissions": {' >.claude/settings.json
rules b q
hear open
check "a change counts both ways, for reading and writing" exists a
touch stop
wait $started
check "what both forbid was never allowed" is "$(ls never 2>/dev/null)$(grep -c hidden "$tmp/out")" 0
wx log --json
check "the change is an event with the old and the new rules" python3 - "$out" "$project" <<'X'
import json, sys
e = [json.loads(l) for l in open(sys.argv[1])]
c = [x for x in e if x.get("type") == "settings"]
rule = lambda s, t: sorted(r["rule"] for r in c[0][s] if r["origin"] == sys.argv[2] + "/.claude/settings.json:1") == t
assert len(c) == 1 and rule("old", ["Edit(/a)", "Read(/p)"]) and rule("new", ["Edit(/b)", "Read(/q)"]), c
X
wx log
check "... and a line" has "$out" "settings changed: "
# --- what 'wrapix deny' and 'allow' said last counts, whatever the settings say later ---
hosts() { user "$(printf '{"sandbox": {"enabled": true, "network": {"allowedDomains": [%s]}}}' "$1")"; }
hosts ''
"$wrapix" run --name said --settings-from claude -- sh -c 'echo x >ready; until getent hosts changed.invalid; do :; done; getent hosts back.invalid; getent hosts away.invalid; true' >"$tmp/out" 2>"$tmp/err" &
started=$!
hear ready
await sh -c "'$wrapix' ps | grep -q ' said '" # which its command does not wait for
for word in "deny back" "allow back" "allow away" "deny away"; do
	"$wrapix" "${word% *}" said "${word#* }.invalid" >"$tmp/log/out" 2>"$tmp/log/err" || explain
done
hosts '"changed.invalid"'
wait $started
check "a host that was denied and then allowed stays allowed when the settings change" has "$tmp/out" back.invalid
check "... the other way round it stays denied" lacks "$tmp/out" away.invalid

finish
