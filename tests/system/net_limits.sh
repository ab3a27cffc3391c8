#!/bin/sh
# SPDX-License-Identifier: MIT
# Floods from inside: the filtered network's limits hold, others are not delayed, and all is well afterwards. Prints TAP.
#
#	net_limits.sh [queue|static|ports]
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2046,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/networld.sh"
in_world "$@"
set_up
set_up_net "${1-queue}"
cp "$lib/netload.py" "$project"
mkfifo "$project/up" "$project/go"
out=$tmp/log/out err=$tmp/log/err
late=$(by_tier ECONNREFUSED ECONNRESET ECONNRESET)

# flood VERB...: starts it; hear() waits for its 'pause'. What it and the supervisor say is explained with a failure.
hear() { timeout 200 cat "$project/up" >/dev/null || echo "# nobody wrote"; }
go_on() { timeout 60 sh -c 'echo >"$1"' sh "$project/go" || echo "# nobody read"; }
flood() {
	(
		# shellcheck disable=SC3045 # dash has it
		ulimit -n "${files-4096}"
		exec timeout -s KILL 200 "$wrapix" run --filter-tier "$tier" --allow allowed.test --allow allowed.test:7 --allow allowed.test:19 \
			--allow allowed.test:1004 --allow '*.wild.test:7' --allow '*.slow.test:7' --allow '*.never.test:7' -- python3 -B netload.py "$@"
	) >"$out" 2>"$err" </dev/null &
	flood=$!
	started="${started-} $flood"
}
supervisor() { pgrep -u "$(id -u)" -P "$flood" -f "$wrapix run" | head -n 1; }
rss() { awk '/VmRSS/ { print $2 }' "/proc/$(supervisor)/status"; }       # kB
cpu() { awk '{ print $14 + $15 }' "/proc/$(supervisor)/stat"; }          # hundredths of a second
tcp_memory() { awk '/^TCP:/ { print $11 * 4 }' /proc/net/sockstat; }     # kB, of the whole machine
below() { [ "$1" -lt "$2" ] || { echo "$1, the limit is $2"; false; }; }
line() { sed -n "$1s/ (late)\$//; $1p" "$out"; }
ends() {
	wait "$flood"
	rc=$?
	check "... and it ends well" is "$rc" 0
}
served() { echo "$1" | sed -n 's/.*ok=\([0-9]*\).*/\1/p'; }
pause=pause:up,go

# --- ten thousand connections ---
flood keep:allowed.test,10000 $pause release:50 soon:allowed.test,50 release soon:allowed.test,1 \
	release serial:allowed.test,2000 quick:allowed.test
hear
memory=$(rss)
check "10000 connections: 1024 are served, the rest is refused" is "$(line 1)" "$late=8976 ok=1024"
check "... the supervisor's memory stays below 10 MiB" below "$memory" 10240
ticks=$(cpu)
# Nothing moves: neither may the supervisor.
timeout 1 cat "$project/up" >/dev/null
check "... and it is idle" below $(($(cpu) - ticks)) 20
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
	flood keep:allowed.test,1000 $pause release:20 soon:allowed.test,10 release soon:allowed.test,1 release serial:allowed.test,1000 \
		quick:allowed.test soon:allowed.test,1 keep:allowed.test,1000 again:allowed.test
	hear
	check "$files descriptors: some are served" below 80 "$(served "$(line 1)")"
	check "... the rest is refused" is "$(line 1 | sed 's/E[A-Z]*=[0-9]*/refused/g; s/ok=[0-9]*/ok/' | tr ' ' '\n' | sort -u | xargs)" "ok refused"
	ticks=$(cpu)
	timeout 1 cat "$project/up" >/dev/null
	check "... nothing spins" below $(($(cpu) - ticks)) 20
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
flood name:allowed.test many_names:9000 quick:allowed.test serial:n5.wild.test,3 $pause
hear
check "9000 names: as many as fit" is "$(line 2 | sed 's/=[0-9]*//g')" "EAI_AGAIN ok"
check "... others are not delayed" is "$(line 3)" "quick"
check "... known ones work on" is "$(line 4)" "ok=3"
check "... the supervisor's memory stays below 10 MiB" below "$(rss)" 10240
go_on
ends
check "... and the user is told" has "$err" ": names-full"
flood garbage:20000 quick:allowed.test name:allowed.test name:other.test $pause
hear
check "garbage for DNS" is "$({ line 1; line 2; line 3; line 4; } | xargs)" "sent quick v4 v6 EAI_NONAME"
check "... the supervisor's memory stays below 10 MiB" below "$(rss)" 10240
go_on
ends

# --- refusals by the thousand ---
flood refused:198.51.100.10,99,5000 datagrams:20000 quick:allowed.test $pause
hear
check "5000 refusals" is "$(line 1)" "ECONNREFUSED=5000"
check "... and 20000 datagrams: others are not delayed" is "$(line 3)" "quick"
check "... the supervisor's memory stays below 10 MiB" below "$(rss)" 10240
go_on
ends
check "... and the user is told, in few lines" below "$(wc -l <"$err")" 100

# --- the host's memory for TCP ---
free=$(tcp_memory)
flood stalled_downloads:allowed.test,1000 quick:allowed.test $pause
hear
used=$(($(tcp_memory) - free))
check "1000 stalled downloads" is "$(line 1)" "stalled"
echo "# $((used / 1000)) kB each"
check "... hold less than 0.5 MB each" below $((used / 1000)) 512
check "... the host's own connections work" is "$(errno_here allowed.test)" "ok"
go_on
ends
freed() { [ "$(tcp_memory)" -lt $((free + 50000)) ]; }
await freed
free=$(tcp_memory)
flood stalled_uploads:allowed.test,500 quick:allowed.test $pause
hear
used=$(($(tcp_memory) - free))
check "500 stalled uploads" is "$(line 1)" "stalled"
echo "# $((used / 500)) kB each"
check "... hold less than 0.75 MB each" below $((used / 500)) 768
check "... others are not delayed" is "$(line 2)" "quick"
go_on
ends
finish
