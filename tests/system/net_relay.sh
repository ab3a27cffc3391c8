#!/bin/sh
# SPDX-License-Identifier: MIT
# The filtered network's relay: bytes, ends, errors and the names in TLS hellos. Prints TAP.
#
#	net_relay.sh [queue|static|ports]
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2046,SC2086,SC2154,SC2317 # the library; scripts for the shell inside; words; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/networld.sh"
in_world "$@"
set_up
set_up_net "${1-queue}"
cp "$lib/nettls.py" "$project"

allow="--allow allowed.test:7 --allow allowed.test:80 --allow allowed.test:81 --allow allowed.test:1001 --allow allowed.test:1003 --allow allowed.test:1006 --allow allowed.test:1025"

# What takes the limits' seconds, which are whole ones (up to one less), until the end of all else.
"$wrapix" run --filter-tier "$tier" --allow silent.test:7 --env PROBE_TIMEOUT=60 --env PROBE_LATE=29 -- python3 -B netprobe.py echo4:silent.test \
	>"$tmp/never.out" 2>&1 &
never=$!
"$wrapix" run --filter-tier "$tier" --allow allowed.test:443 --env PROBE_LATE=9 -- python3 -B nettls.py half:allowed.test,allowed.test >"$tmp/half.out" 2>&1 &
half=$!
"$wrapix" run --filter-tier "$tier" --allow never.test:7 --env PROBE_TIMEOUT=60 -- python3 -B netprobe.py echo4:never.test >"$tmp/mute.out" 2>&1 &
mute=$!
timeout -s KILL 120 "$wrapix" run --filter-tier "$tier" --allow allowed.test:443 --env PROBE_LATE=9 -- python3 -B nettls.py half_among:allowed.test,allowed.test >"$tmp/among.out" 2>&1 &
among=$!
started="$never $half $mute $among"

# --- hosts that are not there: the same errno that a program sees without us ---
trouble() { # trouble NAME WANT OPTIONS PROBE...; without the packet queue the connection was accepted before
	trouble_name=$1 late=$(echo "$2" | sed 's/E[A-Z]*/ECONNRESET/g') want=$2
	shift 2
	probe "$trouble_name" "$(by_tier "$want" "$late" "$late")" "$@"
}
trouble "nobody listens" "ECONNREFUSED ECONNREFUSED" "$allow" echo4:allowed.test,81 echo6:allowed.test,81
trouble "no way to the host" "EHOSTUNREACH EHOSTUNREACH" "--allow unreachable.test:7" echo4:unreachable.test echo6:unreachable.test
trouble "... over IPv6" "$(errno_here unreachable6.test)" "--allow unreachable6.test:7" echo6:unreachable6.test
trouble "no way to the network" "ENETUNREACH ENETUNREACH" "--allow noroute.test:7" echo4:noroute.test echo6:noroute.test
trouble "... over IPv6" "ENETUNREACH" "--allow noroute6.test:7" echo6:noroute6.test
trouble "a name without an address" "EHOSTUNREACH" "--allow nowhere.test:7" echo6:nowhere.test
check "... with an event" event "nowhere.test:7: resolve"
trouble "an address by rule where nobody listens" "ECONNREFUSED" "--allow 198.51.100.10:81" echo:198.51.100.10,81
probe "the server resets" "ECONNRESET ECONNRESET" "$allow" echo4:allowed.test,1001 echo6:allowed.test,1001
probe "a download that is cut off does not look complete" "reset" "$allow" cut:allowed.test

# --- bytes ---
probe "an upload, its end, the answer" "same same" "$allow" half_close:allowed.test,5242880 half_close:allowed.test,0
probe "20 MB both ways at once" "same" "$allow" round_trip:allowed.test,20971520
mark
head -c 8000000 /dev/urandom >"$project/upload"
inside_net "python3 -c 'import socket; socket.create_connection((\"allowed.test\", 1003)).sendall(open(\"upload\", \"rb\").read())'" $allow
check "what was sent before the sandbox's end arrives" await heard "^digest 8000000 $(sha256sum "$project/upload" | cut -d' ' -f1)"
rm "$project/upload"
probe "a reader that is slow loses nothing" "all" "$allow" slow_reader:allowed.test,300000
probe "a server that speaks first" "220 ready" "$allow" first_line:allowed.test,1025
mark
probe "a client that resets" "aborted" "$allow" abort:allowed.test
check "... resets outside" await heard "^reset 2001:db8:2::10 7"
mark
"$wrapix" run --filter-tier "$tier" --allow allowed.test:1007 -- python3 -B netprobe.py turned_down:allowed.test >"$tmp/down.out" 2>&1 &
down=$!
started="$started $down"
check "a server that answers and resets" await heard "^asked"
# The relay finds both at once when it looks again.
kill -STOP $down
python3 -B "$project/netprobe.py" connect:allowed.test,1008 >/dev/null
check "... in one breath" await heard "^turned down"
kill -CONT $down
wait $down
check "... the answer arrives" is "$(cat "$tmp/down.out")" "HTTP/1.1 413 Too Large"
probe "a hundred connections one after the other" "$(yes ok | head -n 100 | xargs)" "$allow" $(yes echo:allowed.test | head -n 100)
probe "... and at the same time" "100 ok" "$allow" crowd:allowed.test,100

# --- a server inside at a port that is dialled outside ---
[ "$tier" = ports ] || {
	probe "a server inside, and a host outside, at the same port" \
		"outside inside inside inside inside outside" "--allow allowed.test:8000" own_server:allowed.test,8000
}

# --- the name in the hello ---
tls() { # tls NAME WANT VERB...
	name=$1 want=$2
	shift 2
	wx run --filter-tier "$tier" --allow allowed.test -- python3 -B nettls.py "$@"
	check "$name" is "$(tr '\n' ' ' <"$out" | sed 's/ $//')" "$want"
}
mark
tls "the name that was dialled" "answered answered answered" plain:allowed.test,allowed.test plain:allowed.test,ALLOWED.TEST plain:allowed.test,allowed.test.
check "... without a word" ended 0
tls "no name" "answered" plain:allowed.test
tls "byte by byte" "answered" bytewise:allowed.test,allowed.test
tls "in three records" "answered answered" split:allowed.test,allowed.test split:allowed.test,allowed.test,1,59
tls "in records of one byte" "answered" tiny:allowed.test,allowed.test
tls "behind 40 kB" "answered" big:allowed.test,allowed.test,40000
check "the server has seen the name" heard '^tls allowed.test$'
mark
tls "another name" "ECONNRESET" plain:allowed.test,other.test
check "... with an event" event "allowed.test:443: sni"
for name in x.allowed.test allowed.test.other.test xallowed.test test allowed.tes allowed 'allowed.test\0' 'allowed.test\0.other.test' \
	'allowed.test/' ' allowed.test' allowed..test allowed.test.. 198.51.100.10 ''; do
	tls "the name '$name'" "ECONNRESET" "plain:allowed.test,$name"
done
tls "two names" "ECONNRESET ECONNRESET" plain:allowed.test,allowed.test,other.test plain:allowed.test,other.test,allowed.test
tls "two extensions" "ECONNRESET ECONNRESET" twice:allowed.test,allowed.test,other.test twice:allowed.test,allowed.test,allowed.test
tls "a name of another type" "ECONNRESET" odd_type:allowed.test,other.test
tls "another name byte by byte" "ECONNRESET" bytewise:allowed.test,other.test
tls "... in three records" "ECONNRESET ECONNRESET" split:allowed.test,other.test split:allowed.test,other.test,1,59
tls "... in records of one byte" "ECONNRESET" tiny:allowed.test,other.test
tls "... behind 40 kB" "ECONNRESET" big:allowed.test,other.test,40000
tls "a hello of more than 64 kB" "ECONNRESET ECONNRESET" big:allowed.test,allowed.test,70000 big:allowed.test,other.test,70000
tls "behind an alert" "ECONNRESET" after_alert:allowed.test,other.test
tls "behind an empty record" "ECONNRESET" after_empty:allowed.test,other.test
tls "lengths that lie" "ECONNRESET ECONNRESET" lying:allowed.test,other.test,1 lying:allowed.test,other.test,255
check "no server has seen a name but the one that was dialled" unheard '^tls'
probe "no TLS at all: for the host that was dialled" "end" "--allow allowed.test" get:allowed.test,443

# --- limits ---
wait $half
check "half a hello, and silence: an end after ten seconds" is "$(head -n 1 "$tmp/half.out")" "ECONNRESET (late)"
check "... with an event" has "$tmp/half.out" "allowed.test:443: bad-tls"
wait $among
check "... also while others come and go" is "$(head -n 1 "$tmp/among.out")" "ECONNRESET (late)"
wait $mute
check "a resolver that does not answer: its seconds" is "$(head -n 1 "$tmp/mute.out")" "$(by_tier "EHOSTUNREACH (late)" "ECONNRESET (late)" "ECONNRESET (late)")"
wait $never
check "a host that never answers: thirty seconds" is "$(cat "$tmp/never.out")" "$(by_tier "EHOSTUNREACH (late)" "ECONNRESET (late)" "ECONNRESET (late)")"

finish
