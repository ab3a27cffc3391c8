#!/bin/sh
# SPDX-License-Identifier: MIT
# ralph with the real codex, gemini and opencode, as npm has them: each does a task in a step of its own, against scripted
# providers on this machine. Their keys are brokered, so none of them has one. ralph_claude.sh has Claude Code.
#
# The agents are kept in WRAPIX_TEST_CACHE (default /var/tmp/wrapix-tests), beside those of agents.sh.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # $1 in eval; the library and its variables; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
cache=${WRAPIX_TEST_CACHE:-/var/tmp/wrapix-tests}
[ $# -gt 0 ] || set -- "$cache"
be_user "$@"
cache=$1
set_up
. "$top/tests/lib/ralph.sh"
. "$top/tests/lib/agents.sh"
command -v npm >/dev/null || { skip "ralph with other agents" "npm is not installed"; finish; }
install_agents

make_certificate "$tmp/tls"
export SSL_CERT_FILE="$tmp/tls/cert.pem"
printf '{}' >"$tmp/none.json"
node "$top/tests/lib/fake-models.mjs" --tls "$tmp/tls" --log "$tmp/models.log" >"$tmp/models.said" 2>&1 </dev/null &
started=$!
node "$top/tests/lib/fake-anthropic.mjs" --tasks "$tmp/none.json" --tool bash --log "$tmp/api.log" >"$tmp/api.said" 2>&1 </dev/null &
started="$started $!"
await test -s "$tmp/models.said"
await test -s "$tmp/api.said"
models=$(sed 's/ready //' "$tmp/models.said") api=$(sed 's/ready //' "$tmp/api.said")

# does NAME: with the user's configuration as it is, the agent does the two commands of a task and ends it.
does() {
	who=$1
	task "$1 works" "sh: echo by $1 >$1.txt
sh: ralph item note 'it was $1'"
	XDG_DATA_HOME=$cache/$1 RX_SECONDS=180 rx step --agent "$1" --verbose
	check "$1 does a task" eval 'is "$rc" 0 && is "$(status_of "$who works")" "done" && has "$who.txt" "by $who"'
	check "... in a commit of that, with a note" eval 'is "$(git log -1 --format=%s)" "$who works" && is "$(git show --format= --name-only)" "$who.txt" && "$ralph" item show "$(id_of "$who works")" | grep -q "it was $who"'
	check "... and what it did is shown, and counted" eval 'grep -q "> .*echo by $who" "$out" && has "$out" RALPH_COMPLETE && [ "$(json .tokensIn)" -ge 1000 ]'
}
brokered() { # brokered VARIABLE PREFIX
	printf '{"network": "none", "notify": false, "credentials": {"%s": {"brokered": true, "upstream": "https://localhost:%s%s"}}}' \
		"$1" "$models" "$2" >"$home/.config/wrapix/config.json"
	printf sk-real | "$wrapix" secret set "$1" 2>/dev/null
}

if has_agent codex; then
	new_project codex '{"models": {"step": "gpt-5"}}' # the newest models have no shell, but JavaScript
	brokered OPENAI_API_KEY /v1/
	does codex
fi
if has_agent gemini; then
	new_project gemini
	brokered GEMINI_API_KEY /v1beta/
	does gemini
fi
if has_agent opencode; then
	new_project opencode
	printf '{"hostPorts": [%s], "notify": false, "env": {"ANTHROPIC_API_KEY": "sk-test", "OPENCODE_DISABLE_MODELS_FETCH": "1"}}' "$api" >"$home/.config/wrapix/config.json"
	printf '{"$schema": "https://opencode.ai/config.json", "model": "anthropic/claude-sonnet-4-5", "small_model": "anthropic/claude-sonnet-4-5", "share": "disabled", "autoupdate": false,
		"provider": {"anthropic": {"options": {"baseURL": "http://127.0.0.1:%s/v1"}}}}' "$api" >opencode.json
	git add -A && git commit -qm opencode
	does opencode
fi
finish
