#!/bin/sh
# SPDX-License-Identifier: MIT
# exec_git_attacks.sh [all]: attacks on the one who publishes (tests/lib/git_attacks.sh), by commands of 'wrapix exec' and of its
# server, by turns; all: each by both. Each is refused, or stays in the command's private git directory; the repository is what it
# was, and what cannot be published does not stand in the way for ever. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/git.sh"
. "$top/tests/lib/git_attacks.sh"
echo '{"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": []}}' >"$tmp/settings.json"
in_new_repo "$tmp/repo"
attack_begin "$tmp/repo"
cd "$tmp" && mv repo before || exit 1
socket=$tmp/socket
"$wrapix" exec --server "$socket" >/dev/null 2>"$tmp/log/server" </dev/null &
started=$!
await test -S "$socket"

# by WAY SCRIPT: leaves $rc
by() {
	(cd "$repo" && case $1 in
	exec) timeout 60 "$wrapix" exec -s "$tmp/settings.json" -c "$2" ;;
	server) timeout 60 python3 "$here/ask.py" "$socket" "$2" "$tmp/settings.json" ;;
	esac) >"$tmp/log/out" 2>"$tmp/log/err" </dev/null
	rc=$?
}
attack_host() { rm -rf "$repo" "$HOME/.local/state/wrapix" && cp -a "$tmp/before" "$repo"; }
way='exec'
attack_plant() {
	echo "by $way" >"$tmp/log/plant"
	by "$way" "session() { git \"\$@\"; }; $attack_tools
cd .git; $1"
	[ "$rc" -lt 124 ]
}
goes_on() { # what cannot be published is forgotten by the command that the message names
	(cd "$repo" && for id in "$state"/git/x*; do "$wrapix" git drop "${id##*/}"; done) >"$tmp/log/drop" 2>&1 || { cat "$tmp/log/drop"; return 1; }
	by "$way" 'git commit -q --allow-empty -m after && git log -1 --format=%s'
	is "$rc $(cat "$tmp/log/out") $(git -C "$repo" log -1 --format=%s)" "0 after after"
}
attack() {
	for way in $ways; do
		check "$way: $1" attack_unharmed "$2"
		case ${all-}$1 in all* | *" junk" | *nonsense | *"out of refs" | *" many") check "... dropped, and the next command works" goes_on ;; esac
	done
	case $ways in exec) ways=server ;; server) ways='exec' ;; esac
}

for way in exec server; do
	attack_host
	attack_plant plain
	check "$way: control: a harmless commit is published" is "$rc $(git -C "$repo" log -1 --format=%s evil)" "0 evil"
done
ways='exec'
[ "${1-}" != all ] || all=all ways='exec server'
attacks
finish
