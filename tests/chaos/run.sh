#!/bin/sh
# SPDX-License-Identifier: MIT
# Some rounds of chaos.py as the ordinary user. CHAOS_ROUNDS and CHAOS_SEED say how many, and from where ('make chaos').
#
# shellcheck disable=SC1091,SC2154 # the library; its variables
. "$(dirname -- "$0")/../lib/system.sh"
inject=${INJECT:-$top/build/tests/crash/inject}
[ "$(id -u)" != 0 ] || {
	need_user
	HOME=$(getent passwd "$test_user" | cut -d: -f6)
	export HOME
	cd / || exit 1
	clean_env CHAOS_ROUNDS="${CHAOS_ROUNDS-}" CHAOS_SEED="${CHAOS_SEED-}" CHAOS_WORKERS="${CHAOS_WORKERS-}" INJECT="$inject" \
		setpriv --reuid "$test_user" --regid "$test_user" --init-groups "$here/${0##*/}"
	exit
}
exec python3 -B "$here/chaos.py" "$wrapix" "$inject" "${CHAOS_ROUNDS:-1000}" "${CHAOS_SEED-}"
