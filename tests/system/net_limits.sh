#!/bin/sh
# SPDX-License-Identifier: MIT
# Floods from inside: the filtered network's limits hold, others are not delayed, and all is well afterwards. What they cost the
# host in memory is net_memory.sh's. Prints TAP.
#
#	net_limits.sh [queue|static|ports]
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2046,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/networld.sh"
in_world "$@"
set_up
set_up_net "${1-queue}"
. "$lib/netflood.sh"
late=$(by_tier ECONNREFUSED ECONNRESET ECONNRESET)

# --- ten thousand connections ---
flood keep:allowed.test,10000 "$pause" release:50 soon:allowed.test,50 release soon:allowed.test,1 \
	release serial:allowed.test,2000 quick:allowed.test
hear_flood
memory=$(rss)
check "10000 connections: 1024 are served, the rest is refused" is "$(line 1)" "$late=8976 ok=1024"
check "... the supervisor's memory stays below 10 MiB" under "$memory" 10240
ticks=$(cpu)
# Nothing moves: neither may the supervisor.
timeout 1 cat "$project/up" >/dev/null
check "... and it is idle" under $(($(cpu) - ticks)) 20
go_on
ends
check "50 end: 50 others are served" is "$(line 4)" "ok=50"
check "all end: it works again" is "$(line 6)" "ok=1"
check "... 2000 times" is "$(line 8)" "ok=2000"
check "... and quickly" is "$(line 9)" "quick"
check "... and the user is told of the limit" has "$err" ": limit"

# --- few descriptors ---
# An odd and an even number: whose turn it is when there are no more must not matter.
for files in 256 257; do
	flood keep:allowed.test,1000 "$pause" release:20 soon:allowed.test,10 release soon:allowed.test,1 release serial:allowed.test,1000 \
		quick:allowed.test soon:allowed.test,1 keep:allowed.test,1000 again:allowed.test
	hear_flood
	check "$files descriptors: some are served" under 80 "$(served "$(line 1)")"
	check "... the rest is refused" is "$(line 1 | sed 's/E[A-Z]*=[0-9]*/refused/g; s/ok=[0-9]*/ok/' | tr ' ' '\n' | sort -u | xargs)" "ok refused"
	ticks=$(cpu)
	timeout 1 cat "$project/up" >/dev/null
	check "... nothing spins" under $(($(cpu) - ticks)) 20
	go_on
	ends
	check "some end: others are served" is "$(line 4)" "ok=10"
	check "all end: it works again" is "$(line 8)" "ok=1000"
	check "... quickly" is "$(line 9)" "quick"
	check "no descriptor was lost: as many as before" is "$(line 12)" "as many"
done
files=4096

# --- TLS and DNS that say nothing ---
# Both in one sandbox: each is ended after ten seconds.
flood stalled_hellos:allowed.test,500 quick:allowed.test stalled_queries:500 quick:allowed.test name:allowed.test name:other.test ended:60 \
	ask:8.8.8.8,allowed.test,1,tcp
ends
check "500 stalled hellos: others are not delayed" is "$(line 1) $(line 2)" "stalled quick"
check "500 stalled DNS queries by TCP: others are not delayed" is "$(line 4)" "quick"
check "... nor are names" is "$(line 5) $(line 6)" "v4 v6 EAI_NONAME"
check "... all are ended" is "$(line 7)" "all"
check "... and DNS by TCP works again" is "$(line 8)" "synthetic"

# --- names ---
flood quick:allowed.test,1 slow_names:100 quick:allowed.test
ends
check "100 slow names: others are not delayed" is "$(line 3)" "quick"
flood slow_names:600,never.test quick:allowed.test
ends
check "600 names whose server is silent: others are not delayed" is "$(line 2)" "quick"
flood at_once:one.slow.test,500
ends
check "500 connections at once to a name that is not known yet" is "$(line 1)" "ok=500"
flood at_once:n%d.wild.test,1000 # where none of the others can still count
ends
check "1000 connections at once, to 1000 names" is "$(line 1)" "ok=1000"
flood name:allowed.test many_names:9000 quick:allowed.test serial:n5.wild.test,3 "$pause"
hear_flood
check "9000 names: as many as fit" is "$(line 2 | sed 's/=[0-9]*//g')" "EAI_AGAIN ok"
check "... others are not delayed" is "$(line 3)" "quick"
check "... known ones work on" is "$(line 4)" "ok=3"
check "... the supervisor's memory stays below 10 MiB" under "$(rss)" 10240
go_on
ends
check "... and the user is told" has "$err" ": names-full"
flood garbage:20000 quick:allowed.test name:allowed.test name:other.test "$pause"
hear_flood
check "garbage for DNS" is "$({ line 1; line 2; line 3; line 4; } | xargs)" "sent quick v4 v6 EAI_NONAME"
check "... the supervisor's memory stays below 10 MiB" under "$(rss)" 10240
go_on
ends

# --- refusals by the thousand ---
flood refused:198.51.100.10,99,5000 datagrams:20000 quick:allowed.test "$pause"
hear_flood
check "5000 refusals" is "$(line 1)" "ECONNREFUSED=5000"
check "... and 20000 datagrams: others are not delayed" is "$(line 3)" "quick"
check "... the supervisor's memory stays below 10 MiB" under "$(rss)" 10240
go_on
ends
check "... and the user is told, in few lines" under "$(wc -l <"$err")" 100
finish
