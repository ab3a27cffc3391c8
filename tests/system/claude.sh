#!/bin/sh
# SPDX-License-Identifier: MIT
# A real Claude Code completes a whole turn in the sandbox, against a provider of our own that also runs inside: once
# in print mode, and as the full-screen program under tmux, where the prompt must open without any question first.
#
# WRAPIX_TEST_CLAUDE: an installed claude; without it one is installed from npm into WRAPIX_TEST_CACHE (default
# /var/tmp/wrapix-tests) and kept there. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/claude.sh"
kept=WRAPIX_TEST_CACHE
be_user "$@"
set_up
trap 'tmux kill-server 2>/dev/null; tear_down' EXIT
export TMUX_TMPDIR="$tmp"
unset TMUX

key=sk-ant-test-0123456789-abcdefghij-0123456789
content='made by the agent'
reply='The file is there.'
me=$(id -u):$(id -g)

# --- what is needed ---
cannot_run() {
	skip "Claude Code in the sandbox" "$1"
	finish
}
for tool in node tmux openssl; do
	command -v $tool >/dev/null || cannot_run "$tool is not installed"
done
claude=${WRAPIX_TEST_CLAUDE-}
if [ -z "$claude" ]; then
	install_claude >"$tmp/npm.log" 2>&1 </dev/null || cannot_run "no Claude Code: $(head -n 1 "$tmp/npm.log")"
fi
"$claude" --version >"$tmp/version" 2>&1 </dev/null || cannot_run "$claude: $(head -n 1 "$tmp/version")"
echo "# $(head -n 1 "$tmp/version")"
out=$tmp/log/out err=$tmp/log/err screen=$tmp/log/screen

# What the sandboxes see at /kit.
cd "$tmp" || exit 1
mkdir kit bin
cp "$top/tests/lib/fake-anthropic.mjs" "$here/claude/with-api" kit
cp "$here/claude/claude" bin
printf '%s\n' 'set -g remain-on-exit on' 'set -g status off' >tmux.conf
# tmux 3.3 knows a program's exit status most of the time only.
echo '"$@"; echo $? >status' >keep-status

# run_claude RUNNER PATH_FIRST ARGUMENT...: the program under test, with nothing of our environment but this.
run_claude() {
	runner=$1
	first=$2
	shift 2
	# shellcheck disable=SC2086 # the runner is words
	$runner env -i HOME="$home" PATH="$first:/usr/local/bin:/usr/bin:/bin" TERM=screen-256color LANG=C.UTF-8 \
		ANTHROPIC_API_KEY="$key" "$wrapix" run --network none --mount "$tmp/kit:/kit:ro" \
		--env ANTHROPIC_API_KEY --env CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 "$@"
}

of_project() { # of_project DIR: what follows is about this one, and its provider explains failures
	project=$1 more_logs="$screen $1/api.err $1/api.log"
}
made_the_file() {
	is "$(cat "$1/hello.txt")" "$content" && is "$(stat -c %u:%g "$1/hello.txt")" "$me"
}
# The provider saw this program, with the key that the user let in.
was_asked() { grep -F '"agent":"claude-cli/' "$1/api.log" | grep -qF "\"key\":\"$key\""; }

# --- print mode ---
of_project "$tmp/print"
mkdir "$project"
print_mode() {
	run_claude "timeout 60" "$(dirname "$claude")" "$project" --agent claude -- \
		sh /kit/with-api claude -p 'make the file' --dangerously-skip-permissions \
		>"$out" 2>"$err" </dev/null
	is $? 0 && is "$(cat "$out")" "$reply"
}
check "print mode: a turn completes" print_mode
check "print mode: the file is the user's on the host" made_the_file "$project"
check "print mode: the provider got the user's key" was_asked "$project"
check "print mode: the agent was told about the sandbox" grep -q '"found":true' "$project/api.log"

# --- a brokered credential: the real client, a server over TLS outside, and no network inside ---
of_project "$tmp/brokered"
mkdir "$project" tls
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost -keyout tls/key.pem -out tls/cert.pem 2>/dev/null
mkfifo ready
node "$top/tests/lib/fake-anthropic.mjs" --tls tls --seconds 300 --log "$project/api.log" >ready 2>"$project/api.err" </dev/null &
started=$!
read -r _ port <ready
mkdir -p home/.config/wrapix
printf '{"credentials": {"CLAUDE_CODE_OAUTH_TOKEN": {"brokered": true, "upstream": "https://localhost:%s/v1/"}}}' "$port" \
	>home/.config/wrapix/config.json
brokered() {
	timeout 60 env -i HOME="$home" PATH="$(dirname "$claude"):/usr/local/bin:/usr/bin:/bin" LANG=C.UTF-8 SSL_CERT_FILE="$tmp/tls/cert.pem" \
		CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat-real "$wrapix" run --network none --env CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
		"$project" --agent claude -- sh -c 'echo "$CLAUDE_CODE_OAUTH_TOKEN"; claude -p "make the file" --dangerously-skip-permissions' \
		>"$out" 2>"$err" </dev/null
	is $? 0 && is "$(cat "$out")" "wrapix-brokered-credential
$reply"
}
check "brokered: a turn completes with a placeholder inside" brokered
check "brokered: the file is the user's on the host" made_the_file "$project"
check "brokered: the provider got the real token" grep -q '"agent":"claude-cli/.*"authorization":"Bearer sk-ant-oat-real"' "$project/api.log"
kill "$started"
started=
rm home/.config/wrapix/config.json

# --- full screen ---
# screen_has PATTERN: wait until the screen shows it. Ends early when the program ended or asks something.
questions='Enter to confirm|Choose the text style|Select login method|Not logged in|Unable to connect|Pane is dead'
screen_has() {
	end=$(($(date +%s) + 60))
	while tmux capture-pane -p >"$screen"; do
		! grep -qE "$1" "$screen" || return 0
		! grep -E "$questions" "$screen" || return 1
		[ "$(date +%s)" -lt "$end" ] || { echo "60 s without '$1'"; return 1; }
		sleep 0.1
	done
	return 1
}
# written FILE: wait until it has something in it.
written() {
	end=$(($(date +%s) + 60))
	until [ -s "$1" ]; do
		[ "$(date +%s)" -lt "$end" ] || { echo "60 s without '$1'"; tmux capture-pane -p; return 1; }
		sleep 0.1
	done
}
ends_with() { written status && is "$(cat status)" "$1"; }

types() {
	tmux send-keys -l "$1"
	screen_has "❯.*$1" && tmux send-keys Enter
}

# on_screen ARGUMENT...: the program under test, on a terminal whose tmux is another one each time: one that was told to end is still
# there for a moment, and takes the next session with it.
on_screen() {
	TMUX_TMPDIR=$(mktemp -d "$tmp/tmux.XXXXXX")
	rm -f status
	run_claude "tmux -f tmux.conf new-session -d -x 100 -y 40 sh keep-status" "$tmp/bin" --mount "$(readlink -f "$claude"):/claude.real:ro" "$@"
}

# whole_session NAME DIRECTORY [FILE]: a plain 'wrapix run' there, from the first screen to the last, which does not come before FILE.
whole_session() {
	of_project "$2"
	on_screen "$2"
	check "$1: the prompt opens with no question before it" screen_has 'bypass permissions on'
	check "$1: takes a prompt" types 'make the file'
	check "$1: the turn completes" screen_has "● $reply"
	check "$1: the file is the user's on the host" made_the_file "$2"
	check "$1: the provider got the user's key" was_asked "$2"
	[ -z "${3-}" ] || written "$3" >/dev/null # a hook of the turn's end runs when the reply is on the screen, and not after /exit
	check "$1: takes /exit" types '/exit'
	check "$1: ends with 0" ends_with 0
	tmux kill-server
}

# A hook of the project's for an event that the staged settings have a hook for as well; both count.
mkdir -p plain/.claude
echo '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo fired >>/workspace/fired"}]}]}}' >plain/.claude/settings.json
whole_session "full screen" "$tmp/plain" "$tmp/plain/fired"
check "full screen: the project's hook has fired" is "$(cat plain/fired)" fired

# A sandbox of today finds yesterday's session, which lies outside of the project; another project's does not.
of_project "$tmp/plain"
on_screen "$tmp/plain" --agent claude -- claude --dangerously-skip-permissions --resume
check "--resume lists the session of the sandbox before" screen_has 'make the file'
tmux send-keys Enter
check "--resume: what was said is there" screen_has "● $reply"
check "--resume: takes another prompt" types 'once more'
tmux kill-server
check "--resume: nothing of it lies in the project" is "$(find plain -name '*.jsonl')" ""
mkdir other
run_claude "timeout 60" "$(dirname "$claude")" "$tmp/other" --agent claude -- sh -c 'find ~/.claude/projects -name "*.jsonl"' >"$out" 2>"$err" </dev/null
check "another project has no part in it" is "$(cat "$out")" ""

# Of the host's ~/.claude nothing is visible, and on request what the user has written for his agents, read-only.
mkdir -p home/.claude/skills/one
echo 'my own rules' | tee home/.claude/CLAUDE.md >home/.claude/skills/one/SKILL.md
echo secret >home/.claude/.credentials.json
look='cd ~/.claude; cat CLAUDE.md skills/one/SKILL.md .credentials.json 2>/dev/null; touch CLAUDE.md skills/x 2>/dev/null && echo writable'
run_claude "timeout 60" "$(dirname "$claude")" "$tmp/other" --agent claude -- sh -c "$look" >"$out" 2>"$err" </dev/null
check "nothing of the user's ~/.claude is there" is "$(cat "$out")" ""
run_claude "timeout 60" "$(dirname "$claude")" "$tmp/other" --agent claude --agent-memory -- sh -c "$look" >"$out" 2>"$err" </dev/null
check "with --agent-memory CLAUDE.md and the skills are, read-only, and nothing else" is "$(xargs <"$out")" "my own rules my own rules"

# For Claude Code the repository's top is the project; it starts in a directory below it.
git init -q repo && mkdir repo/sub && echo '@/etc/passwd' >repo/CLAUDE.md
whole_session "below a repository's top" "$tmp/repo/sub"

finish
