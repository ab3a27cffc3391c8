#!/bin/sh
# SPDX-License-Identifier: MIT
# Some rounds of chaos.py as the ordinary user. CHAOS_ROUNDS and CHAOS_SEED say how many, and from where ('make chaos').
#
# shellcheck disable=SC1091,SC2034,SC2154 # the library; its variables
. "$(dirname -- "$0")/../lib/system.sh"
kept="CHAOS_ROUNDS CHAOS_SEED CHAOS_WORKERS INJECT"
be_user "$@"
inject=${INJECT:-$top/build/tests/crash/inject}
exec python3 -B "$here/chaos.py" "$wrapix" "$inject" "${CHAOS_ROUNDS:-1000}" "${CHAOS_SEED-}"
