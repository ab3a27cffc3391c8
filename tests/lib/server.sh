# shellcheck shell=sh disable=SC2034,SC2154 # a library: its variables are the script's, and the other way round
# SPDX-License-Identifier: MIT
# What the tests of 'wrapix exec --server' share, after set_up: a server, and server.py, whose points become points here.
socket=$tmp/socket
start() { # a server as $pid, once it answers
	"$wrapix" exec --server "$socket" >"$tmp/log/out" 2>"$tmp/log/err" </dev/null &
	pid=$!
	started="${started-} $pid"
	await answers
}
answers() { python3 "$here/ask.py" "$socket" true; }
plays() { # plays PART MARK [PREFIX]: MARK tells processes of this test from others; PREFIX begins the points' names
	timeout -s KILL 90 python3 "$here/server.py" "$socket" "$1" "$project" "$2" >"$tmp/log/out" 2>"$tmp/log/err"
	rc=$?
	while read -r word rest; do
		case "$word $rest" in
		"ok "*) check "${3-}${rest#*- }" true ;;
		"not ok"*) check "${3-}${rest#*- }" false ;;
		esac
	done <"$tmp/log/out"
	check "${3-}all was said" is "$rc" 0
}
