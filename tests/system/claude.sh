#!/bin/sh
# SPDX-License-Identifier: MIT
# A real Claude Code completes a whole turn in the sandbox, against a provider of our own that also runs inside: once
# in print mode, and as the full-screen program under tmux, where the prompt must open without any question first.
#
# WRAPIX: the program under test (default: build/wrapix). WRAPIX_TEST_CLAUDE: an installed claude; without it one is
# installed from npm into WRAPIX_TEST_CACHE (default /var/tmp/wrapix-tests) and kept there. As root the test goes on as
# WRAPIX_TEST_USER. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2317 # scripts for the shell inside; functions that check() calls by name
set -u

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
top=$(CDPATH='' cd -- "$here/../.." && pwd -P)
wrapix=${WRAPIX:-$top/build/wrapix}
case $wrapix in /*) ;; *) wrapix=$PWD/$wrapix ;; esac
[ -x "$wrapix" ] || { echo "Bail out! there is no program at $wrapix"; exit 1; }

if [ "$(id -u)" = 0 ]; then
	user=${WRAPIX_TEST_USER:-wrapixtest}
	home=$(getent passwd "$user" | cut -d: -f6)
	[ -n "$home" ] || { echo "Bail out! there is no user '$user'; set WRAPIX_TEST_USER"; exit 1; }
	cd / && exec setpriv --reuid "$user" --regid "$user" --init-groups env HOME="$home" USER="$user" LOGNAME="$user" \
		WRAPIX="$wrapix" "$here/claude.sh" "$@"
fi

key=sk-ant-test-0123456789-abcdefghij-0123456789
content='made by the agent'
reply='The file is there.'
me=$(id -u):$(id -g)

tmp=$(mktemp -d) || exit 1
# shellcheck disable=SC2329 # called by the trap
finish() {
	tmux kill-server 2>/dev/null
	[ -z "${server-}" ] || kill "$server" 2>/dev/null
	rm -rf "$tmp"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM
export TMUX_TMPDIR="$tmp"
unset TMUX

n=0
failed=0
# check NAME COMMAND...: what a failing command printed, and what the program did, explain the failure.
check() {
	name=$1
	shift
	n=$((n + 1))
	if "$@" >"$tmp/why" 2>&1; then
		echo "ok $n - $name"
		return
	fi
	echo "not ok $n - $name"
	for f in "$tmp/why" "$tmp/out" "$tmp/err" "$tmp/screen" "$project/api.err" "$project/api.log"; do
		[ ! -s "$f" ] || sed "s|^|# ${f##*/}: |" "$f" | LC_ALL=C tr -cs ' -~\n' '?'
	done
	failed=1
}
cannot_run() {
	if [ "${WRAPIX_TESTS_MUST_RUN-0}" = 1 ]; then
		echo "not ok 1 - Claude Code in the sandbox"
		echo "# cannot run here: $1"
		echo 1..1
		exit 1
	fi
	echo "1..0 # SKIP $1"
	exit 0
}
is() { [ "$1" = "$2" ] || { echo "got '$1', wanted '$2'"; false; }; }

# --- what is needed ---
. "$top/tests/lib/claude.sh"

for tool in node tmux openssl; do
	command -v $tool >/dev/null || cannot_run "$tool is not installed"
done
claude=${WRAPIX_TEST_CLAUDE-}
if [ -z "$claude" ]; then
	install_claude >"$tmp/npm.log" 2>&1 </dev/null || cannot_run "no Claude Code: $(head -n 1 "$tmp/npm.log")"
fi
"$claude" --version >"$tmp/version" 2>&1 </dev/null || cannot_run "$claude: $(head -n 1 "$tmp/version")"
echo "# $(head -n 1 "$tmp/version")"

# What the sandboxes see at /kit.
cd "$tmp" || exit 1
mkdir home kit bin
cp "$top/tests/lib/fake-anthropic.mjs" "$here/claude/with-api" kit
cp "$here/claude/claude" bin
printf '%s\n' 'set -g remain-on-exit on' 'set -g status off' >tmux.conf
# tmux 3.3 knows a program's exit status most of the time only.
echo '"$@"; echo $? >status' >keep-status

# wx RUNNER PATH_FIRST ARGUMENT...: the program under test, with nothing of our environment but this.
wx() {
	runner=$1
	first=$2
	shift 2
	# shellcheck disable=SC2086 # the runner is words
	$runner env -i HOME="$tmp/home" PATH="$first:/usr/local/bin:/usr/bin:/bin" TERM=screen-256color LANG=C.UTF-8 \
		ANTHROPIC_API_KEY="$key" "$wrapix" run --network none --mount "$tmp/kit:/kit:ro" \
		--env ANTHROPIC_API_KEY --env CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 "$@"
}

made_the_file() {
	is "$(cat "$1/hello.txt")" "$content" && is "$(stat -c %u:%g "$1/hello.txt")" "$me"
}
# The provider saw this program, with the key that the user let in.
was_asked() { grep -F '"agent":"claude-cli/' "$1/api.log" | grep -qF "\"key\":\"$key\""; }

# --- print mode ---
project=$tmp/print
mkdir "$project"
print_mode() {
	wx "timeout 60" "$(dirname "$claude")" "$project" --agent claude -- \
		sh /kit/with-api claude -p 'make the file' --dangerously-skip-permissions \
		>"$tmp/out" 2>"$tmp/err" </dev/null
	is $? 0 && is "$(cat "$tmp/out")" "$reply"
}
check "print mode: a turn completes" print_mode
check "print mode: the file is the user's on the host" made_the_file "$project"
check "print mode: the provider got the user's key" was_asked "$project"
check "print mode: the agent was told about the sandbox" grep -q '"found":true' "$project/api.log"

# --- a brokered credential: the real client, a server over TLS outside, and no network inside ---
project=$tmp/brokered
mkdir "$project" tls
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost -keyout tls/key.pem -out tls/cert.pem 2>/dev/null
mkfifo ready
node "$top/tests/lib/fake-anthropic.mjs" --tls tls --seconds 300 --log "$project/api.log" >ready 2>"$project/api.err" </dev/null &
server=$!
read -r _ port <ready
mkdir -p home/.config/wrapix
printf '{"credentials": {"CLAUDE_CODE_OAUTH_TOKEN": {"brokered": true, "upstream": "https://localhost:%s/v1/"}}}' "$port" \
	>home/.config/wrapix/config.json
brokered() {
	timeout 60 env -i HOME="$tmp/home" PATH="$(dirname "$claude"):/usr/local/bin:/usr/bin:/bin" LANG=C.UTF-8 SSL_CERT_FILE="$tmp/tls/cert.pem" \
		CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat-real "$wrapix" run --network none --env CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
		"$project" --agent claude -- sh -c 'echo "$CLAUDE_CODE_OAUTH_TOKEN"; claude -p "make the file" --dangerously-skip-permissions' \
		>"$tmp/out" 2>"$tmp/err" </dev/null
	is $? 0 && is "$(cat "$tmp/out")" "wrapix-brokered-credential
$reply"
}
check "brokered: a turn completes with a placeholder inside" brokered
check "brokered: the file is the user's on the host" made_the_file "$project"
check "brokered: the provider got the real token" grep -q '"agent":"claude-cli/.*"authorization":"Bearer sk-ant-oat-real"' "$project/api.log"
kill "$server"
rm home/.config/wrapix/config.json

# --- full screen ---
# screen_has PATTERN: wait until the screen shows it. Ends early when the program ended or asks something.
questions='Enter to confirm|Choose the text style|Select login method|Not logged in|Unable to connect|Pane is dead'
screen_has() {
	end=$(($(date +%s) + 60))
	while tmux capture-pane -p >"$tmp/screen"; do
		! grep -qE "$1" "$tmp/screen" || return 0
		! grep -E "$questions" "$tmp/screen" || return 1
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
	wx "tmux -f tmux.conf new-session -d -x 100 -y 40 sh keep-status" "$tmp/bin" --mount "$(readlink -f "$claude"):/claude.real:ro" "$@"
}

# whole_session NAME DIRECTORY [FILE]: a plain 'wrapix run' there, from the first screen to the last, which does not come before FILE.
whole_session() {
	project=$2
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
project=$tmp/plain
on_screen "$tmp/plain" --agent claude -- claude --dangerously-skip-permissions --resume
check "--resume lists the session of the sandbox before" screen_has 'make the file'
tmux send-keys Enter
check "--resume: what was said is there" screen_has "● $reply"
check "--resume: takes another prompt" types 'once more'
tmux kill-server
check "--resume: nothing of it lies in the project" is "$(find plain -name '*.jsonl')" ""
mkdir other
wx "timeout 60" "$(dirname "$claude")" "$tmp/other" --agent claude -- sh -c 'find ~/.claude/projects -name "*.jsonl"' >"$tmp/out" 2>"$tmp/err" </dev/null
check "another project has no part in it" is "$(cat "$tmp/out")" ""

# Of the host's ~/.claude nothing is visible, and on request what the user has written for his agents, read-only.
mkdir -p home/.claude/skills/one
echo 'my own rules' | tee home/.claude/CLAUDE.md >home/.claude/skills/one/SKILL.md
echo secret >home/.claude/.credentials.json
look='cd ~/.claude; cat CLAUDE.md skills/one/SKILL.md .credentials.json 2>/dev/null; touch CLAUDE.md skills/x 2>/dev/null && echo writable'
wx "timeout 60" "$(dirname "$claude")" "$tmp/other" --agent claude -- sh -c "$look" >"$tmp/out" 2>"$tmp/err" </dev/null
check "nothing of the user's ~/.claude is there" is "$(cat "$tmp/out")" ""
wx "timeout 60" "$(dirname "$claude")" "$tmp/other" --agent claude --agent-memory -- sh -c "$look" >"$tmp/out" 2>"$tmp/err" </dev/null
check "with --agent-memory CLAUDE.md and the skills are, read-only, and nothing else" is "$(xargs <"$tmp/out")" "my own rules my own rules"

# For Claude Code the repository's top is the project; it starts in a directory below it.
git init -q repo && mkdir repo/sub && echo '@/etc/passwd' >repo/CLAUDE.md
whole_session "below a repository's top" "$tmp/repo/sub"

echo "1..$n"
exit $failed
