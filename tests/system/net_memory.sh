#!/bin/sh
# SPDX-License-Identifier: MIT
# Connections from inside that stand still: how much of the machine's memory for TCP they hold, which is one for all of its
# network namespaces. Prints TAP.
#
#	net_memory.sh [queue|static|ports]
#
# shellcheck disable=SC1091,SC2034,SC2154,SC2317 # the library; its variables; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/networld.sh"
in_world "$@"
set_up
set_up_net "${1-queue}"
. "$lib/netflood.sh"
tcp_memory() { awk '/^TCP:/ { print $11 * 4 }' /proc/net/sockstat; } # kB, of the whole machine

free=$(tcp_memory)
flood stalled_downloads:allowed.test,1000 quick:allowed.test "$pause"
hear_flood
used=$(($(tcp_memory) - free))
check "1000 stalled downloads" is "$(line 1)" "stalled"
echo "# $((used / 1000)) kB each"
check "... hold less than 0.5 MB each" under $((used / 1000)) 512
check "... the host's own connections work" is "$(errno_here allowed.test)" "ok"
go_on
ends
freed() { [ "$(tcp_memory)" -lt $((free + 50000)) ]; }
await freed
free=$(tcp_memory)
flood stalled_uploads:allowed.test,500 quick:allowed.test "$pause"
hear_flood
used=$(($(tcp_memory) - free))
check "500 stalled uploads" is "$(line 1)" "stalled"
echo "# $((used / 500)) kB each"
check "... hold less than 0.75 MB each" under $((used / 500)) 768
check "... others are not delayed" is "$(line 2)" "quick"
go_on
ends
finish
