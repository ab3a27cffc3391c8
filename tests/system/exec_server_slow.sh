#!/bin/sh
# SPDX-License-Identifier: MIT
# wrapix exec --server and clients who say nonsense, too much, too little or nothing: each has a worker for a while only. Most of
# this is waiting. The other clients are exec_server.sh's. Prints TAP.
#
# shellcheck disable=SC1091,SC2154 # the library; its variables
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/server.sh"
start
for part in hostile slow; do
	plays "$part" "72000.$$" "$part: "
done
kill "$pid"
wait "$pid"
check "the server ends well" is $? 0
finish
