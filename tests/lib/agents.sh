# shellcheck shell=sh disable=SC2154 # a library: $top, $tmp and $cache are the script's
# SPDX-License-Identifier: MIT
# codex, gemini and opencode for the tests, in $cache/NAME below XDG_DATA_HOME, where './run' puts an agent; from npm where
# $cache has none yet.
agents="codex:@openai/codex gemini:@google/gemini-cli opencode:opencode-ai"
mkdir -p "$cache" 2>/dev/null
[ -w "$cache" ] || cache=$tmp/cache

# installed NAME PACKAGE: whole or not at all, and once where scripts run side by side.
installed() (
	mkdir -p "$cache" && exec 9>"$cache/$1.lock" && flock 9 || exit
	[ ! -x "$cache/$1/wrapix/agents/node_modules/.bin/$1" ] || exit 0
	new=$(mktemp -d "$cache/new.XXXXXX") && "$top/scripts/npm-install" "$new/wrapix/agents" "$2" && mv -T "$new" "$cache/$1"
)
# Side by side: each is mostly waiting.
install_agents() {
	installs=
	for agent_package in $agents; do
		installed "${agent_package%%:*}" "${agent_package#*:}" >"$tmp/npm-${agent_package%%:*}.log" 2>&1 </dev/null &
		installs="$installs $!"
	done
	# shellcheck disable=SC2086 # words
	wait $installs
}
has_agent() { # or a skip
	[ -x "$cache/$1/wrapix/agents/node_modules/.bin/$1" ] && return
	skip "$1 is installed" "$(head -n 1 "$tmp/npm-$1.log")"
	return 1
}
make_certificate() { # make_certificate DIR: key.pem and cert.pem of 'localhost'
	mkdir "$1"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
		-addext subjectAltName=DNS:localhost -keyout "$1/key.pem" -out "$1/cert.pem" 2>/dev/null
}
