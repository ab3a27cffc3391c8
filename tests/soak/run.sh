#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh PART [NUMBER]: a part of soak.py as the ordinary user. Root looks into processes that keep their own user out.
#
# shellcheck disable=SC1091,SC2154 # the library; its variables
. "$(dirname -- "$0")/../lib/system.sh"
[ "$(id -u)" != 0 ] || {
	need_user
	HOME=$(getent passwd "$test_user" | cut -d: -f6)
	export HOME
	cd / || exit 1
	eyes=$(as_user mktemp -d "$HOME/wrapix-eyes.XXXXXX")
	python3 -B "$here/soak.py" "$wrapix" eyes "$eyes/socket" &
	pid=$!
	trap 'kill "$pid"; rm -rf "$eyes"' EXIT
	await test -S "$eyes/socket" || bail "nobody looks into the processes"
	clean_env SOAK_EYES="$eyes/socket" setpriv --reuid "$test_user" --regid "$test_user" --init-groups "$here/${0##*/}" "$@"
	exit
}
case ${SOAK_EYES-}$1 in
crowd | long)
	skip "$1" "needs root, to look into processes that keep their own user out"
	finish
	;;
esac
exec python3 -B "$here/soak.py" "$wrapix" "$@"
