#!/bin/sh
# SPDX-License-Identifier: MIT
# Some rounds of chaos.py as the ordinary user. CHAOS_ROUNDS, CHAOS_SEED and CHAOS_SCENES say how many, from where, and of
# which scenes ('make chaos').
#
# shellcheck disable=SC1091,SC2034,SC2154 # the library; its variables
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/podman.sh"
kept="CHAOS_ROUNDS CHAOS_SEED CHAOS_SCENES CHAOS_WORKERS INJECT"
need_podman "$@"
be_user "$@"
podman_path
inject=${INJECT:-$top/build/tests/crash/inject}
exec python3 -B "$here/chaos.py" "$wrapix" "$inject" "${CHAOS_ROUNDS:-1000}" "${CHAOS_SEED-}" "${CHAOS_SCENES-}"
