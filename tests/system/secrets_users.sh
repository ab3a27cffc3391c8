#!/bin/sh
# SPDX-License-Identifier: MIT
# Secrets: a message bus that another user has put in the place of one that ended hears nothing. Needs root. Prints TAP.
#
# shellcheck disable=SC1091,SC2034,SC2154 # the library, and its variables
. "$(dirname -- "$0")/../lib/system.sh"
need_user
[ "$(id -u)" = 0 ] || {
	echo "1..0 # SKIP it needs root, to be two users"
	exit 0
}
set_up
name=wrapix-test-bus-$$
# Says what the client said first.
cat >"$tmp/bus.py" <<-'END'
	import socket, sys
	own = socket.socket(socket.AF_UNIX)
	own.bind("\0" + sys.argv[1])
	own.listen()
	print("listening", flush=True)
	print("heard", len(own.accept()[0].recv(65536)), flush=True)
END
# hears UID: what a bus of that user's hears of a new secret.
hears() {
	setpriv --reuid "$1" --clear-groups timeout 30 python3 - "$name" <"$tmp/bus.py" >"$tmp/heard" 2>&1 &
	started="${started-} $!"
	await grep -q listening "$tmp/heard"
	printf value | as_user env -u XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS="unix:abstract=$name" timeout 30 "$wrapix" secret set one >"$tmp/log/out" 2>"$tmp/log/err"
	wait "${started##* }"
}
hears 65534
check "another user's bus hears nothing" is "$(xargs <"$tmp/heard")" "listening heard 0"
check "... which is said" has "$tmp/log/err" "the message bus is another user's"
hears "$(as_user id -u)"
check "the control: one of the user's own does" lacks "$tmp/heard" "heard 0"
finish
