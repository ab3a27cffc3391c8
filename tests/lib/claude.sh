# shellcheck shell=sh disable=SC2154 # $top is the script's
# SPDX-License-Identifier: MIT
# A real Claude Code for the tests: install_claude sets $claude, from npm where WRAPIX_TEST_CACHE has none yet.

# A half-made install is never used: it becomes visible by its last step. Scripts that run side by side make one.
install_claude() {
	cache=${WRAPIX_TEST_CACHE:-/var/tmp/wrapix-tests}
	claude=$cache/claude/node_modules/.bin/claude
	mkdir -p "$cache" || return
	[ -O "$cache" ] || { echo "$cache belongs to somebody else"; return 1; }
	(
		flock 9
		[ ! -x "$claude" ] || exit 0
		new=$(mktemp -d "$cache/new.XXXXXX") || exit
		"$top/scripts/npm-install" "$new" @anthropic-ai/claude-code && mv -T "$new" "$cache/claude" && exit
		rm -rf "$new"
		exit 1
	) 9>"$cache/claude.lock"
}
