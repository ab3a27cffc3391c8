#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [WRITER...]: points.py as the ordinary user. CRASH_POINTS limits how many points are tried.
#
# shellcheck disable=SC1091,SC2034,SC2154 # the library; its variables
. "$(dirname -- "$0")/../lib/system.sh"
kept="CRASH_POINTS INJECT"
be_user "$@"
inject=${INJECT:-$top/build/tests/crash/inject}
exec python3 -B "$here/points.py" "$wrapix" "$inject" "$@"
