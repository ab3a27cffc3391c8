#!/bin/sh
# SPDX-License-Identifier: MIT
# The other agents, as npm has them today: each starts in the sandbox, and opencode completes a turn against a provider of
# our own, inside and without a network. claude.sh has Claude Code.
#
# The agents are kept in WRAPIX_TEST_CACHE (default /var/tmp/wrapix-tests). Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154 # the library; scripts for the shell inside
. "$(dirname -- "$0")/../lib/system.sh"
cache=${WRAPIX_TEST_CACHE:-/var/tmp/wrapix-tests}
[ $# -gt 0 ] || set -- "$cache"
be_user "$@"
cache=$1
set_up
command -v npm >/dev/null || { skip "the other agents" "npm is not installed"; finish; }
. "$top/tests/lib/agents.sh"

starts() { # starts NAME
	has_agent "$1" || return 1
	XDG_DATA_HOME=$cache/$1 wx run --network none --agent "$1" -- "$1" --version
	check "$1 starts in the sandbox" is "$rc" 0
	check "... and says which it is" grep -qE '[0-9]+\.[0-9]+\.[0-9]+' "$out"
}

install_agents

# The places that codex and gemini ask, over TLS: each must find the relay, and the relay puts the key in.
make_certificate "$tmp/tls"
node "$top/tests/lib/fake-anthropic.mjs" --tls "$tmp/tls" --log "$tmp/api.log" >"$tmp/api.said" &
started="${started-} $!"
await test -s "$tmp/api.said"
port=$(sed 's/ready //' "$tmp/api.said")
mkdir -p "$home/.config/wrapix"
export SSL_CERT_FILE="$tmp/tls/cert.pem"
# asks NAME VARIABLE PREFIX PATTERN COMMAND...: it gives up, because there is nobody who answers; what it asked is in the log.
asks() {
	asker=$1 pattern=$4
	printf '{"credentials": {"%s": {"brokered": true, "upstream": "https://localhost:%s%s"}}}' "$2" "$port" "$3" \
		>"$home/.config/wrapix/config.json"
	printf 'sk-real' | "$wrapix" secret set "$2" 2>/dev/null
	shift 4
	: >"$tmp/api.log"
	XDG_DATA_HOME=$cache/$asker wx run --network none --agent "$asker" -- timeout -k 1 60 "$@" </dev/null
	cp "$tmp/api.log" "$tmp/asked"
	check "$asker finds the relay, and its key is put in outside" grep -q "$pattern" "$tmp/asked"
	check "... without having had it" lacks "$out" "sk-real"
	rm "$home/.config/wrapix/config.json"
}
starts codex && asks codex OPENAI_API_KEY /v1/ '/v1/responses.*Bearer sk-real"' \
	codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox 'say yes'
starts gemini && asks gemini GEMINI_API_KEY /v1beta/ '/v1beta/models/.*"google":"sk-real"' \
	gemini --yolo -p 'say yes'
starts opencode || finish

mkdir "$tmp/kit"
cp "$top/tests/lib/fake-anthropic.mjs" "$here/claude/with-api" "$tmp/kit"
# Its base URL is in a file of its own, not in a variable.
cat >turn <<-'END'
	printf '{"model": "anthropic/claude-sonnet-4-5", "small_model": "anthropic/claude-sonnet-4-5", "share": "disabled", "autoupdate": false,
		"provider": {"anthropic": {"options": {"baseURL": "%s/v1"}}}}' "$ANTHROPIC_BASE_URL" >opencode.json
	exec opencode run 'say yes'
END
XDG_DATA_HOME=$cache/opencode wx run --network none --mount "$tmp/kit:/kit:ro" --env ANTHROPIC_API_KEY=sk-test \
	--agent opencode -- sh /kit/with-api sh turn </dev/null
check "opencode completes a turn" is "$rc" 0
check "... with the provider's words" has "$out" "Yes."
check "... which knew the key, and the sandbox" grep -q '"agent":"opencode/.*"key":"sk-test".*"found":true' api.log
finish
