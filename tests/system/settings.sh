#!/bin/sh
# SPDX-License-Identifier: MIT
# Claude Code's settings as policy: wrapix settings, mode and check, with files of every scope. The managed ones lie in
# /etc: for them the program gets an /etc of its own, in a mount namespace.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2088,SC2154,SC2317 # the library; tildes that are printed; scripts for other shells; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"

be_user "$@"
set_up
managed=$tmp/managed

put() { # put FILE: standard input is its content
	mkdir -p "$(dirname "$1")" && cat >"$1"
}
same() { [ "$1" = "$2" ] || { printf 'got    %s\nwanted %s\n' "$1" "$2"; false; }; }
status_is() { # status_is STATUS COMMAND...
	want=$1
	shift
	"$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ $got = "$want" ] || { echo "status $got, wanted $want"; cat "$tmp/out" "$tmp/err"; false; }
}
says() { grep -qF -- "$1" "$tmp/out" "$tmp/err" || { echo "nowhere: $1"; cat "$tmp/out" "$tmp/err"; false; }; }
trust_project() { printf '{"projects": {"%s": {"hasTrustDialogAccepted": true}}}' "$project" >"$HOME/.claude.json"; }

cd "$project" || exit 1

# --- nothing at all ---
check "without any file the mode is disabled" status_is 0 "$wrapix" mode
check "and it says that this is the default" says 'sandbox.enabled = false, by default'
check "every command is asked for" status_is 1 "$wrapix" check -- true

# --- scopes ---
put "$HOME/.claude/settings.json" <<'X'
{
  "model": "opus",
  "env": {"TOKEN": "s3cret"},
  "permissions": {
    "allow": ["Bash(git:*)"],
    "deny": ["Bash(rm:*)", "Read(~/.ssh/**)"]
  },
  "sandbox": {"network": {"allowedDomains": ["user.example.org"]}}
}
X
put .claude/settings.json <<'X'
{
  // what the team shares
  "sandbox": {
    "enabled": true,
    "network": {
      "allowedDomains": ["team.example.org"],
      "deniedDomains": ["evil.example.org"],
    },
    "filesystem": {"allowWrite": ["~/.cache/x"], "disabled": true},
    "tyop": 1
  },
  "permissions": {"allow": ["Bash(make:*)"], "deny": ["Edit(/dist/**)"]}
}
X
check "settings" status_is 0 "$wrapix" settings
check "a value has its file and line" says "~/.claude/settings.json:8 (user)"
check "an untrusted folder's wish does not count" says "/.claude/settings.json:6 (project): it widens the sandbox"
check "a project's filesystem.disabled does not count" says "a project's file may not say so"
check "an unknown key is named" says 'sandbox.tyop'
check "so are keys of Claude Code's own" says 'model, env'
check "without their values" sh -c '! grep -q s3cret "$1"' sh "$tmp/out"
check "an untrusted folder's allow rule does not count" status_is 1 "$wrapix" check -- make
check "as srt" status_is 0 "$wrapix" settings --as srt
check "it has the user's host and not the project's" sh -c 'grep -q user.example "$1" && ! grep -q team.example "$1"' sh "$tmp/out"
check "and what the project denies" sh -c 'grep -q evil.example "$1" && grep -qF "$2/dist" "$1"' sh "$tmp/out" "$project"
check "our own reader takes it" sh -c 'command -v python3 >/dev/null && python3 -m json.tool "$1" >/dev/null' sh "$tmp/out"

check "nor is a mode written that widens it" status_is 125 "$wrapix" mode auto-allow
check "... and what to do is said" says "open Claude Code there once, and say yes"
trust_project
check "trusted" status_is 0 "$wrapix" settings --explain sandbox.network.allowedDomains
check "the project's host counts" says "/.claude/settings.json:6 (project)"
check "trusted: its allow rule counts" status_is 0 "$wrapix" check -- make
check "JSON" sh -c '"$1" settings --json | python3 -c "
import json, sys
s = json.load(sys.stdin)
v = [x for x in s[\"values\"] if x[\"key\"] == \"sandbox.filesystem.disabled\"][0]
assert s[\"mode\"] == \"regular\" and s[\"trusted\"] and v[\"fate\"] == \"notFromProject\" and v[\"line\"] == 9, v"' sh "$wrapix"
check "from a directory below" sh -c 'mkdir -p a/b && cd a/b && "$1" mode | grep -q regular' sh "$wrapix"
check "a key that does not exist" status_is 2 "$wrapix" settings --explain sandbox.enabeld
check "has a suggestion" says "did you mean 'sandbox.enabled'"

# --- the mode ---
printf '{\r\n\t"a": [1,  2], // keep\r\n\t"sandbox": {"excludedCommands": ["docker:*"]}\r\n}' >.claude/settings.local.json
chmod 640 .claude/settings.local.json
check "choose a mode" status_is 0 "$wrapix" mode auto-allow
check "it is printed with its line" says 'sandbox.autoAllowBashIfSandboxed = true, '
printf '{\r\n\t"a": [1,  2], // keep\r\n\t"sandbox": {"excludedCommands": ["docker:*"], "enabled": true, "autoAllowBashIfSandboxed": true}\r\n}' >"$tmp/want"
check "every other byte of the file stays" cmp .claude/settings.local.json "$tmp/want"
check "and its mode" same "$(stat -c %a .claude/settings.local.json)" 640
check "nothing is left beside it" same "$(ls .claude)" "$(printf 'settings.json\nsettings.local.json')"
check "back" status_is 0 "$wrapix" mode disabled
sed -i 's/"enabled": true/"enabled": false/;s/Sandboxed": true/Sandboxed": false/' "$tmp/want"
check "changes the two words alone" cmp .claude/settings.local.json "$tmp/want"
mv .claude/settings.local.json mine.json && ln -s ../mine.json .claude/settings.local.json
check "through a link" status_is 0 "$wrapix" mode regular
check "which stays one" sh -c 'test -L .claude/settings.local.json && grep -q "\"enabled\": true" mine.json'
# A project that was cloned may have one to a file that counts elsewhere.
mv mine.json "$tmp/elsewhere" && ln -sf "$tmp/elsewhere" .claude/settings.local.json
check "not by a link that leads out of the project" status_is 125 "$wrapix" mode disabled
check "which is said" says "leads out of it, by a link"
check "and nothing is changed there" grep -q '"enabled": true' "$tmp/elsewhere"
rm .claude/settings.local.json && mkdir "$tmp/apart" && cp -a .claude/. "$tmp/apart" && mv .claude "$tmp/was" && ln -s "$tmp/apart" .claude
check "nor by a directory that is one" status_is 125 "$wrapix" mode disabled
check "and nothing is made there" test ! -e "$tmp/apart/settings.local.json"
rm .claude && mv "$tmp/was" .claude
check "a wrong word" status_is 2 "$wrapix" mode sometimes
check "a new file" status_is 0 "$wrapix" mode auto-allow
check "is plain JSON" same "$(cat .claude/settings.local.json)" "$(printf '{\n  "sandbox": {\n    "enabled": true,\n    "autoAllowBashIfSandboxed": true\n  }\n}')"

# --- what becomes of commands ---
check "auto-allow allows what is in the sandbox" status_is 0 "$wrapix" check -c 'npm test | tee log'
check "and says so" says 'it runs in the sandbox'
check "a deny rule beats it" status_is 3 "$wrapix" check -c 'npm test && sudo rm -rf x'
check "with its place" says "~/.claude/settings.json:6 (user)"
check "words after -- are one command" status_is 0 "$wrapix" check -- echo 'a; rm b'
check "what is not understood asks" status_is 1 "$wrapix" check -c 'echo "x'
check "outside asks" status_is 1 "$wrapix" check --outside -c true
check "more settings" status_is 3 "$wrapix" check --settings '{"permissions":{"deny":["Bash(true)"]}}' -c true
check "from a file" sh -c 'echo "{\"sandbox\":{\"excludedCommands\":[\"x:*\"]}}" >f && "$1" check --settings f -c "x y" | grep -q ^excluded:' sh "$wrapix"
check "no command at all" status_is 2 "$wrapix" check
check "hostile text is escaped" sh -c '"$1" check -c "$(printf "a\033]0;b\007")" | LC_ALL=C grep -q "[[:cntrl:]]" && exit 1; exit 0' sh "$wrapix"

# --- a whole session ---
check "run: rules inside the project" status_is 0 "$wrapix" plan --settings-from claude -- true
check "are held by the supervisor" says "ro held from"
check "but not in a copy" status_is 125 "$wrapix" plan --workspace cow --settings-from claude -- true
check "with their place" says "/.claude/settings.json:12: permissions.deny[0]: 'run' cannot hold"
sed -i 's|"deny": ."Edit(/dist/..)".|"deny": []|' .claude/settings.json
check "run: without them" status_is 0 "$wrapix" plan --settings-from claude -- true
check "the network is filtered" says filtered
check "to the hosts of the settings" says team.example.org
check "and what is denied is" says evil.example.org

# --- enabled, and not possible ---
start='{"hook_event_name":"SessionStart","cwd":"'$PWD'"}'
none() { python3 -B "$top/tests/lib/without.py" seccomp "$@"; }
echo '{"sandbox": {"enabled": true}}' >.claude/settings.local.json
check "a session begins in silence where a sandbox is possible" same "$(echo "$start" | PATH=/usr/bin:/bin "$wrapix" check --hook | grep -c 'not possible')" 0
echo "$start" | none "$wrapix" check --hook >"$tmp/out"
check "without seccomp its start says why, and the fix" sh -c 'grep -q "enabled and not possible here: loading the seccomp filter" "$1" && grep -q CONFIG_SECCOMP_FILTER "$1" && ! grep -q continue "$1"' sh "$tmp/out"
echo '{"sandbox": {"enabled": true, "failIfUnavailable": true}}' >.claude/settings.local.json
echo "$start" | none "$wrapix" check --hook >"$tmp/out"
check "with failIfUnavailable it ends there" grep -q '"continue":false' "$tmp/out"
for how in "exec" "run --network none" "run --settings-from claude"; do
	# shellcheck disable=SC2086 # words
	check "$how: an error, and nothing runs" status_is 125 none "$wrapix" $how -- touch ran
	check "... with a fix" says hint:
done
check "... indeed nothing" test ! -e ran
# shellcheck disable=SC2016 # for the shell inside
check "without pasta the open network is an error that names it" sh -c 'mkdir bin && ln -s "$(command -v true)" bin/true && ! PATH=$PWD/bin "$1" run -- true 2>err && grep -q "needs pasta" err && grep -q "^hint: " err' sh "$wrapix"
rm .claude/settings.local.json

# --- broken files ---
echo '{"sandbox": {"enabled": true' >.claude/settings.local.json
check "a file that is broken opens nothing" status_is 2 "$wrapix" check -- true
check "and is named with its line" says 'settings.local.json:2:1: the text ends too early'
check "nor is it written" status_is 2 "$wrapix" mode disabled
check "it stays as it was" same "$(cat .claude/settings.local.json)" '{"sandbox": {"enabled": true'
echo '{"sandbox": {"enabled": "true"}}' >.claude/settings.local.json
check "a value of the wrong form is an error" status_is 2 "$wrapix" settings
check "which says what it must be" says 'sandbox.enabled: must be true or false, not a string'
rm .claude/settings.local.json && mkfifo .claude/settings.local.json
check "a FIFO is no settings file, and nobody waits for it" status_is 2 timeout 60 "$wrapix" settings
rm .claude/settings.local.json
if [ "$(id -u)" != 0 ]; then
	echo '{}' >.claude/settings.local.json && chmod 0 .claude/settings.local.json
	check "a file that cannot be read is an error" status_is 125 "$wrapix" check -- true
	rm -f .claude/settings.local.json
fi

# --- a policy ---
mkdir "$tmp/overlay" "$managed" "$managed/managed-settings.d"
before="mount -t tmpfs none $tmp/overlay; cd $tmp/overlay; mkdir upper work; cp -r $managed upper/claude-code
mount -t overlay -o userxattr,lowerdir=/etc,upperdir=upper,workdir=work none /etc; cd $project"
etc=/etc/claude-code
policy() { # policy STATUS ARGUMENT...
	want=$1
	shift
	wx "$@"
	[ "$rc" = "$want" ] || { echo "status $rc, wanted $want"; false; }
}
echo '{"sandbox": {"enabled": true, "network": {"allowManagedDomainsOnly": true, "allowedDomains": ["corp.example.org"]}}}' \
	>"$managed/managed-settings.json"
check "managed domains only" policy 0 settings --as srt
check "the policy's host is there" has "$out" corp.example.org
check "the user's is not" lacks "$out" user.example
check "nor is the project's" lacks "$out" team.example
check "what the project denies still is" has "$out" evil.example.org
check "the mode cannot be taken back" policy 125 mode disabled
check "the policy's line is named" has "$err" "$etc/managed-settings.json:1 (managed)"
check "and nothing was written" absent .claude/settings.local.json
check "a host that the policy leaves out is not to be had by a file of the user's" policy 3 why other.example
check "... which is said, with the policy's line" eval 'has "$out" "a policy locks it: sandbox.network.allowManagedDomainsOnly at $etc/managed-settings.json:1" && lacks "$out" "to allow it"'
check "a file is, by the user's own settings" policy 3 why "$HOME/other"
check "... since the project's do not count" eval 'has "$out" "sandbox.filesystem.allowWrite in ~/.claude/settings.json" && lacks "$out" settings.local.json'
mkdir -p "$HOME/kept/policy" "$HOME/kept/user"
echo policy >"$HOME/kept/policy/file"
echo user >"$HOME/kept/user/file"
cp "$HOME/.claude/settings.json" "$tmp/user.json"
echo '{"sandbox": {"filesystem": {"allowRead": ["~/kept/user"]}}}' >"$HOME/.claude/settings.json"
for lock in true false; do
	printf '{"sandbox": {"enabled": true, "filesystem": {"allowManagedReadPathsOnly": %s, "denyRead": ["~/kept"], "allowRead": ["~/kept/policy"]}}}' $lock >"$managed/managed-settings.json"
	check "managed paths to read only, $lock: the policy's can be read" policy 0 exec -- cat "$HOME/kept/policy/file"
	[ $lock = false ] || check "... a path of the user's cannot" policy 1 exec -- cat "$HOME/kept/user/file"
	[ $lock = false ] || check "... and nothing is proposed but the policy's line" eval 'has "$err" "refused reading ~/kept/user/file" && policy 3 why "$HOME/kept/user/file" && has "$out" "a policy locks it: sandbox.filesystem.allowManagedReadPathsOnly at $etc/managed-settings.json:1"'
	[ $lock = true ] || check "... and the user's" policy 0 exec -- cat "$HOME/kept/user/file"
done
mv "$tmp/user.json" "$HOME/.claude/settings.json"
echo '{"permissions": {"deny": ["Bash(npm:*)"]}}' >"$managed/managed-settings.d/10-a.json"
echo '{"sandbox": {"enabled": false}}' >"$managed/managed-settings.d/20-b.json"
check "files of the directory count" policy 3 check -- npm x
check "the last is the strongest" policy 0 mode
check "and named" has "$out" "20-b.json:1 (managed)"
echo '{' >"$managed/managed-settings.d/30-c.json"
check "a broken one is an error" policy 2 check -- true

finish
