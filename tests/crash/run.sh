#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [WRITER...]: points.py as the ordinary user. CRASH_POINTS limits how many points are tried.
#
# shellcheck disable=SC1091,SC2154 # the library; its variables
. "$(dirname -- "$0")/../lib/system.sh"
inject=${INJECT:-$top/build/tests/crash/inject}
[ "$(id -u)" != 0 ] || {
	need_user
	HOME=$(getent passwd "$test_user" | cut -d: -f6)
	export HOME
	cd / || exit 1
	clean_env CRASH_POINTS="${CRASH_POINTS-}" INJECT="$inject" \
		setpriv --reuid "$test_user" --regid "$test_user" --init-groups "$here/${0##*/}" "$@"
	exit
}
exec python3 -B "$here/points.py" "$wrapix" "$inject" "$@"
