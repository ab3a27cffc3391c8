#!/bin/sh
# SPDX-License-Identifier: MIT
# A real Claude Code whose Bash tool goes through our hook, in each mode: what the settings say happens to the command,
# and where a sandbox is wanted it runs in 'wrapix exec'. The hooks are those that are installed with wrapix.
#
# WRAPIX_TEST_CLAUDE: an installed claude; see claude.sh. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for other shells; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/claude.sh"
[ $# -gt 0 ] || set -- "${WRAPIX_TEST_CLAUDE-}"
be_user "$@"
claude=$1
set_up

for tool in node jq; do
	command -v $tool >/dev/null || { skip "Claude Code with our hook" "$tool is not installed"; finish; }
done
[ -n "$claude" ] || install_claude >"$tmp/npm.log" 2>&1 </dev/null ||
	{ skip "Claude Code with our hook" "no Claude Code: $(head -n 1 "$tmp/npm.log")"; finish; }

mkdir -p "$tmp/bin" "$HOME/.claude"
ln -s "$wrapix" "$tmp/bin/wrapix"
mkdir "$tmp/outside"
outside=$(readlink /proc/self/ns/mnt)

# turn INPUT SETTINGS [ARGUMENT...]: one turn in which the model asks for the Bash call; what the tool said is in
# $tmp/result. With $around set, claude is started by way of that.
turn() {
	input=$1
	jq -s '.[0] * .[1]' "$top/data/hooks/claude-hooks.json" - >"$HOME/.claude/settings.json" <<-X || return
		$2
	X
	shift 2
	printf '{"projects": {"%s": {"hasTrustDialogAccepted": true}}}' "$project" >"$HOME/.claude.json"
	rm -f "$tmp/api.log" "$tmp/ready" "$tmp/result" "$tmp/outside/x" inside
	mkfifo "$tmp/ready"
	node "$top/tests/lib/fake-anthropic.mjs" --seconds 60 --log "$tmp/api.log" --input "$input" >"$tmp/ready" 2>"$tmp/log/api" &
	api=$!
	read -r _ port <"$tmp/ready"
	# shellcheck disable=SC2086 # words
	timeout 60 ${around-} env PATH="$tmp/bin:$PATH" ANTHROPIC_API_KEY=x ANTHROPIC_BASE_URL="http://127.0.0.1:$port" \
		CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 "$claude" -p 'do it' "$@" >"$tmp/log/out" 2>"$tmp/log/err" </dev/null
	kill $api 2>/dev/null
	wait $api 2>/dev/null
	jq -r 'select(.results | length > 0) | .results[0].content' "$tmp/api.log" >"$tmp/result" 2>"$tmp/log/why"
	cat "$tmp/result" >>"$tmp/log/out"
}
ran() { ! grep -q -e approval -e granted -e 'hook error' "$tmp/result" && [ -s "$tmp/result" ]; }
sandboxed() { ran && lacks "$tmp/result" "$outside" && has "$tmp/result" 'mnt:[' && absent "$tmp/outside/x" && exists inside; }
not_sandboxed() { ran && has "$tmp/result" "$outside" && exists "$tmp/outside/x"; }
nothing_ran() { absent "$tmp/outside/x" && absent inside && lacks "$tmp/result" 'mnt:['; }

auto='"sandbox": {"enabled": true, "autoAllowBashIfSandboxed": true}'
line="readlink /proc/self/ns/mnt; touch inside \$(echo $tmp/outside/x); echo \`echo end\`"
call=$(jq -nc --arg c "$line" '{command: $c, description: "try"}')

turn "$call" "{$auto}"
check "auto-allow: a command runs unasked, in the sandbox" sandboxed
check "auto-allow: to its end, substitutions and all" has "$tmp/result" end
check "auto-allow: what was refused is told" has "$tmp/result" "deny file-write $tmp/outside/x"

turn "$call" '{"sandbox": {"enabled": true}}'
check "regular: a command that no rule allows is asked for" nothing_ran
turn "$call" '{"sandbox": {"enabled": true}, "permissions": {"allow": ["Bash(readlink:*)", "Bash(touch:*)", "Bash(echo:*)"]}}'
check "regular: one that rules allow runs, in the sandbox" sandboxed
turn "$call" '{"sandbox": {"enabled": true}}' --dangerously-skip-permissions
check "regular, all permissions skipped: it still runs in the sandbox" sandboxed

turn "$call" '{}' --dangerously-skip-permissions
check "disabled: it runs as ever" not_sandboxed

turn "$call" "{$auto, \"permissions\": {\"deny\": [\"Bash(touch:*)\"]}}" --dangerously-skip-permissions
check "a deny rule for one part denies the whole" nothing_ran
check "and is named with its line" has "$tmp/result" "Bash(touch:*) at ~/.claude/settings.json:"
turn "$call" "{$auto, \"permissions\": {\"ask\": [\"Bash(touch:*)\"]}}"
check "an ask rule asks, in auto-allow mode as well" nothing_ran

printf 'readlink /proc/self/ns/mnt; touch %s/outside/x\n' "$tmp" >script
turn "$(jq -nc --arg c "sh $project/script" '{command: $c, description: "try"}')" \
	'{"sandbox": {"enabled": true, "autoAllowBashIfSandboxed": true, "excludedCommands": ["wrapix exec:*", "sh:*"]}}' \
	--dangerously-skip-permissions
check "an excluded command runs outside" not_sandboxed

turn "$(echo "$call" | jq -c '. + {dangerouslyDisableSandbox: true}')" "{$auto}"
check "one that wants out is asked for" nothing_ran
turn "$(echo "$call" | jq -c '. + {dangerouslyDisableSandbox: true}')" \
	'{"sandbox": {"enabled": true, "autoAllowBashIfSandboxed": true, "allowUnsandboxedCommands": false}}'
check "and stays inside where nothing may go out" sandboxed

mkdir -p .claude && echo '{"sandbox": {' >.claude/settings.local.json
turn "$call" "{$auto}" --dangerously-skip-permissions
check "with a broken settings file every command is denied" nothing_ran
check "and the file is named" has "$tmp/result" '.claude/settings.local.json:2:1:'
rm -r .claude

# The usual place: Claude Code inside of 'wrapix run', whose supervisor lends the hook's 'wrapix exec' a process.
mkdir "$tmp/kit" .claude
cp "$top/tests/lib/fake-anthropic.mjs" "$wrapix" "$tmp/kit"
jq -s '.[0] * .[1]' "$top/data/hooks/claude-hooks.json" - >.claude/settings.json <<-X
	{$auto}
X
inner='readlink /proc/self/ns/mnt; touch inside .bashrc; echo end'
jq -nc --arg c "$inner" '{command: $c, description: "try"}' >"$tmp/kit/call"
cat >"$tmp/kit/turn" <<-'X'
	readlink /proc/self/ns/mnt >outer
	mkfifo /tmp/ready
	node /kit/fake-anthropic.mjs --seconds 60 --log "$PWD/api.log" --input "$(cat /kit/call)" >/tmp/ready 2>/dev/null </dev/null &
	read -r _ port </tmp/ready
	ANTHROPIC_BASE_URL=http://127.0.0.1:$port PATH=/kit:$PATH claude -p 'do it'
X
rm -f inside
timeout 60 env PATH="$(dirname "$claude"):$PATH" ANTHROPIC_API_KEY=x "$wrapix" run --network none --agent claude --env ANTHROPIC_API_KEY \
	--env CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 --mount "$tmp/kit:/kit:ro" -- sh /kit/turn >"$tmp/log/out" 2>"$tmp/log/err" </dev/null
jq -r 'select(.results | length > 0) | .results[0].content' api.log >"$tmp/result" 2>"$tmp/log/why"
cat "$tmp/result" >>"$tmp/log/out"
outside=$(cat outer)
check "inside of wrapix run: a command of the Bash tool runs in a sandbox of its own" sandboxed
check "... to its end" has "$tmp/result" end
check "... what is protected stays so" absent .bashrc
check "... and the model is told" has "$tmp/result" "deny file-write /workspace/.bashrc"
rm -r .claude inside
outside=$(readlink /proc/self/ns/mnt)

# No user namespaces below this one: no sandbox is possible.
around='unshare --user --map-current-user --keep-caps sh -c'
cannot='echo 0 >/proc/sys/user/max_user_namespaces; exec setpriv --inh-caps=-all --ambient-caps=-all "$@"'
printf '#!/bin/sh\nexec %s %s sh "$@"\n' "$around" "'$cannot'" >"$tmp/without" && chmod +x "$tmp/without"
around=$tmp/without
turn "$call" "{$auto}"
check "where no sandbox is possible nothing runs without one" nothing_ran
check "and the fix is named" has "$tmp/result" max_user_namespaces

hook() { printf '{"hook_event_name": "SessionStart", "cwd": "%s"}' "$project" | $1 env PATH="$tmp/bin:$PATH" wrapix check --hook; }
check "the session's start says so" sh -c "$(printf '%s | grep -q "not possible here: making a user namespace.*sysctl"' "printf '{\"hook_event_name\":\"SessionStart\",\"cwd\":\"$project\"}' | $tmp/without $wrapix check --hook")"
hook '' >"$tmp/log/out"
check "and nothing where one is" is "$(cat "$tmp/log/out")" '{}'
echo "{\"sandbox\": {\"enabled\": true, \"failIfUnavailable\": true}}" >"$HOME/.claude/settings.json"
hook "$tmp/without" >"$tmp/log/out"
check "failIfUnavailable ends it" has "$tmp/log/out" '"continue":false'

finish
