#!/bin/sh
# SPDX-License-Identifier: MIT
# wrapix exec under Claude Code's settings: their rules hold, refusals name the file and line, and what is written into
# the files while a command runs counts at once, unless it is broken. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up

x() { wx exec "$@"; }
mkdir -p .claude "$HOME/.claude" "$HOME/.ssh" "$HOME/cache" dist sub
echo secret >"$HOME/.ssh/id"
echo secret >sub/.env
cat >"$HOME/.claude/settings.json" <<'X'
{
  "permissions": {
    "deny": ["Read(.env)"]
  },
  "sandbox": {"filesystem": {"denyRead": ["~/.ssh"]}}
}
X
cat >.claude/settings.json <<'X'
{
  "sandbox": {
    "enabled": false,
    "filesystem": {"allowWrite": ["~/cache"], "disabled": true}
  },
  "permissions": {"deny": ["Edit(/dist/**)"]}
}
X

x -c 'echo a >made && cat made; echo b >dist/x; cat ~/.ssh/id sub/.env; echo c >~/cache/x; exit 7'
check "the command's own status" is "$rc" 7
check "the project is writable, though a file of it says 'disabled'" is "$(cat "$out")" a
check "what an Edit rule denies is not" absent dist/x
check "nor what an untrusted folder allows itself" absent "$HOME/cache/x"
check "what is denied cannot be read" lacks "$out" secret
x --violations "$tmp/report" -c 'echo b >dist/x'
check "a refusal names file and line" has "$tmp/report" "\"origin\":\"$project/.claude/settings.json:6\""
check "and the rule" has "$tmp/report" '"key":"permissions.deny[0]"'
x -c 'echo {} >.claude/settings.local.json; echo {} >~/.claude/settings.json; mkdir .claude/hooks'
check "the settings cannot be written from inside" sh -c '! test -e .claude/settings.local.json && grep -q Read "$1" && ! test -e .claude/hooks' \
	sh "$HOME/.claude/settings.json"
cat >"$HOME/.claude/settings.json" <<'X'
{
  "permissions": {
    "deny": ["Read(.env)"]
  },
  "sandbox": {"filesystem": {"denyRead": ["~/.ssh"], "allowWrite": ["~"]}}
}
X
export record='{"projects": {"/": {"hasTrustDialogAccepted": true}}}'
x -c 'echo a >~/written; echo "$record" >~/new; mv ~/new ~/.claude.json; echo "$record" >~/.claude.json; true'
check "no folder is trusted by a command, whatever may be written" eval 'exists "$HOME/written" && absent "$HOME/.claude.json"'
CLAUDE_CONFIG_DIR=$HOME/.claude x -c 'echo "$record" >~/.claude/.claude.json; true'
check "... by a record elsewhere" absent "$HOME/.claude/.claude.json"
rm "$HOME/written" "$HOME/new"
printf '{"projects": {"%s": {"hasTrustDialogAccepted": true}}}' "$project" >"$HOME/.claude.json"
x -c 'echo c >~/cache/x'
check "a trusted folder's wish counts" exists "$HOME/cache/x"
cd sub || exit 1
x -c 'touch here ../there'
check "below the project its settings count, and the working directory is writable" sh -c 'test -e here && ! test -e ../there'
cd .. || exit 1
x -c 'git init -q sub && echo made'
check "a command can make a repository below" has "$out" made
cd sub || exit 1
x -c 'echo b >../dist/x; cat .env ~/.ssh/id; true'
check "... which ends nothing: what the project denies is denied there, too" eval 'lacks "$out" secret && has "$err" ".claude/settings.json:" && absent ../dist/x'
rm -rf .git
cd .. || exit 1
x --settings-from srt -c 'echo b >dist/x'
check "srt's settings when asked for" exists dist/x
mkdir "$tmp/elsewhere"
cd "$tmp/elsewhere" || exit 1
x -c 'cat ~/.ssh/id'
check "no project of Claude Code's: not its settings" has "$out" secret
x --settings-from claude -c 'cat ~/.ssh/id'
check "unless asked for" lacks "$out" secret
x --project "$project" -c 'cat ~/.ssh/id; true'
check "or by the project's name" lacks "$out" secret
x --encoded -c 'echo %24((1+1)) %60echo b%60 100%25'
check "an encoded command" is "$(cat "$out")" '2 b 100%'
x --encoded -c 'echo 100%'
check "that is wrong" is "$rc" 2
cd "$project" || exit 1
echo '{"sandbox": {' >.claude/settings.local.json
x -- true
check "a broken file: nothing starts" is "$rc" 2
check "and it is named" has "$err" 'settings.local.json:2:1'
echo '{"sandbox": {"network": {"deniedDomains": ["http://x"]}}}' >.claude/settings.local.json
x -- true
check "so with a rule that cannot be enforced" is "$rc" 2
rm .claude/settings.local.json

# --- while a command runs ---
rules() { printf '{"permissions": {"deny": ["Edit(/never)", "Edit(/%s)"]}}' "$1"; }
rules a >.claude/settings.json
mkfifo ready open tighter
"$wrapix" exec -c 'echo >b; echo x >ready; until echo >a; do sleep 0.01; done; echo x >open; while echo >b; do sleep 0.01; done; echo x >tighter
	until test -e stop; do echo >never; done' >"$tmp/log/out" 2>"$tmp/log/err" &
started=$!
hear ready
check "a rule denies" absent a
check "what it does not name is allowed" exists b
rules x | head -c 30 >.claude/settings.json
await grep -q 'still in force' "$tmp/log/err"
check "half a file changes nothing, and it is said" absent a
check "... and an event" await sh -c "'$wrapix' log --json | grep -qF 'the settings stay as they were'"
: >.claude/settings.json
rules b >.claude/settings.new && mv .claude/settings.new .claude/settings.json
hear open
check "a new file lets the command do what it allows" exists a
hear tighter # comes once b is refused
check "and takes away what it denies" has "$tmp/log/err" 'b: Permission denied'
i=0
while [ $i -lt 300 ]; do
	i=$((i + 1))
	rules $i >.claude/settings.json # not at once: the file is empty for a moment
	[ $((i % 3)) != 0 ] || rm .claude/settings.json
	rules $i >.claude/settings.new && mv .claude/settings.new .claude/settings.json
done
touch stop
wait $started
check "300 edits, some by removal, never open what all of them deny" absent never

finish
