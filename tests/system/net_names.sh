#!/bin/sh
# SPDX-License-Identifier: MIT
# The filtered network: which names and addresses can be reached, and how a refusal looks. Prints TAP.
#
#	net_names.sh [queue|static|ports]	the way in which connections are caught; by default the best
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317,SC2086 # the library; scripts for the shell inside; functions called by name; words
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/networld.sh"
in_world "$@"
set_up
set_up_net "${1-queue}"

# How a refusal looks. Without the packet queue it comes after the connection ($late); where nothing but listeners
# catch connections, that is so at every address, but only at the ports that some rule has ($at_port, $at_address).
no=ECONNREFUSED
late=$(by_tier ECONNREFUSED ECONNRESET ECONNRESET)
at_port=$(by_tier ECONNREFUSED ECONNRESET ECONNREFUSED)
at_address=$(by_tier ECONNREFUSED ECONNREFUSED ECONNRESET)

# --- allowed ---
allow="--allow allowed.test"
probe "an allowed name: plain, v4, v6" "ok ok ok" "--allow allowed.test:7" echo:allowed.test,7 echo4:allowed.test,7 echo6:allowed.test,7
check "... without a word" ended 0
probe "the server sees the name it was asked for" "hello from allowed.test at 2001:db8:2::10 80" "$allow" get:allowed.test
probe "TLS" "hello from allowed.test at 2001:db8:2::10 443" "$allow" hello:allowed.test
probe "a name with IPv4 alone, by either family" "ok ok" "--allow v4only.test:7" echo4:v4only.test,7 echo6:v4only.test,7
probe "a name with IPv6 alone, by either family" "ok ok" "--allow v6only.test:7" echo4:v6only.test,7 echo6:v6only.test,7
probe "upper case and a final dot are the same name" "ok ok ok" "--allow allowed.test:7" echo:ALLOWED.Test,7 echo:allowed.test.,7 echo:aLLowed.TEST.,7
probe "... in the rule as well" "ok" "--allow Allowed.TEST.:7" echo:allowed.test,7
probe "an underscore, punycode" "ok ok" "--allow under_score.test:7 --allow xn--bcher-kva.test:7" echo:under_score.test,7 echo:xn--bcher-kva.test,7
probe "a name that the host has in /etc/hosts" "hello from inhosts.test at 198.51.100.10 80" "--allow inhosts.test" get:inhosts.test
probe "a slow name" "ok" "--allow slow.test:7" echo:slow.test,7
probe "the first address is dead: the next one" "ok" "--allow half.test:7" echo:half.test,7

# --- wildcards ---
allow="--allow *.wild.test:7"
probe "*.wild.test: one below, two below" "ok ok" "$allow" echo:a.wild.test,7 echo:b.a.wild.test,7
probe "... not itself" "EAI_NONAME" "$allow" echo:wild.test,7
check "... with an event" event "wild.test: not-allowed"
probe "... not what ends alike" "EAI_NONAME EAI_NONAME EAI_NONAME" "$allow" echo:evilwild.test,7 echo:a.wild.test.evil.test,7 echo:wild.test.test,7
probe "deny beats allow" "ok EAI_NONAME EAI_NONAME" "--allow *.wild.test:7 --deny b.wild.test --deny *.b.wild.test" echo:a.wild.test,7 echo:b.wild.test,7 echo:x.b.wild.test,7
check "... and the event names the rule" event "b.wild.test: denied-name, by rule b.wild.test"

# --- ports ---
allow="--allow allowed.test:7 --allow other.test:8080"
probe "a port that is not in the rule" "$at_port" "$allow" echo:allowed.test,80
[ $tier = ports ] || check "... with an event" event "allowed.test:80: port, by rule allowed.test:7"
probe "another host's port" "$late" "$allow" echo:allowed.test,8080
check "... with an event" event "allowed.test:8080: port, by rule allowed.test:7"
probe "the port of the rule" "ok hello from other.test at 2001:db8:2::20 8080" "$allow" echo:allowed.test get:other.test,8080
[ $tier != queue ] || {
	inside_net 'nc -z -w 50 allowed.test 80; echo $?; nc -z -w 50 allowed.test 7; echo $?' --allow allowed.test:7
	check "nc -z tells open from closed" is "$(cat "$out")" "$(printf '1\n0')"
}
[ $tier = ports ] || probe "no port in the rule: every port" "hello at 2001:db8:2::10 53000 hello at 2001:db8:2::10 65535" \
	"--allow allowed.test" raw:allowed.test,53000 raw:allowed.test,65535

# --- denied names ---
allow="--allow allowed.test:7"
mark
probe "a name that no rule has" "EAI_NONAME EAI_NONAME" "$allow" echo:other.test name:nowhere.test
check "... with an event" event "other.test: not-allowed"
check "... nothing was asked for outside" quiet
probe "localhost is the sandbox itself" "ECONNREFUSED v4 v6" "$allow" echo:localhost,80 name:x.localhost

# --- addresses ---
probe "IPv4, IPv6, IPv4 in IPv6, NAT64" "$no $no $no $no" "$allow" echo:198.51.100.10,80 echo:2001:db8:2::10,80 echo:::ffff:198.51.100.10,80 echo:64:ff9b::c633:640a,80
[ $tier = ports ] || check "... with an event" event "198.51.100.10:80: direct-ip"
[ $tier = ports ] || check "... also of IPv6" event "2001:db8:2::10:80: direct-ip"
probe "... at the port of a rule" "$at_address $at_address $at_address $at_address" "$allow" echo:198.51.100.10,7 echo:2001:db8:2::10,7 echo:::ffff:198.51.100.10,7 echo:64:ff9b::c633:640a,7
check "... with an event" event "198.51.100.10:7: direct-ip"
check "nothing arrived outside" quiet
probe "a rule for an address" "ok ok" "--allow 198.51.100.10:7" echo:198.51.100.10,7 echo:::ffff:198.51.100.10,7
probe "... at that port alone" "$no" "--allow 198.51.100.10:7" echo:198.51.100.10,80
probe "... and that address" "$at_address $at_address" "--allow 198.51.100.10:7" echo:198.51.100.11,7 echo:2001:db8:2::10,7
probe "a rule for an IPv6 address" "ok $at_address" "--allow [2001:db8:2::10]:7" echo:2001:db8:2::10,7 echo:2001:db8:2::11,7
probe "ranges" "ok $at_address ok $at_address" "--allow 198.51.100.0/28:7 --allow [2001:db8:2::/64]:7" echo:198.51.100.10,7 echo:198.51.100.20,7 echo:2001:db8:2::20,7 echo:2001:db8:2:1::1,7
probe "a denied address in an allowed range" "ok $late" "--allow 198.51.100.0/28:7 --deny 198.51.100.10" echo:198.51.100.11,7 echo:198.51.100.10,7
probe "... also when a name leads there" "$late" "--allow v4only.test:7 --deny 198.51.100.10" echo:v4only.test,7
check "... with an event" event "v4only.test:7: denied-address"
probe "addresses of the sandbox's own" "$no $no $no $no $no" "$allow" echo:127.0.0.1,80 echo:127.0.9.1,80 echo:::1,80 echo:198.18.0.2,80 echo:0.0.0.0,80
probe "a synthetic address that no name has" "$late $late" "$allow" echo:198.18.99.99,7 echo:fd53:b0c5:0:1::9999,7
check "... with an event" event "198.18.99.99:7: unassigned"

# --- where a name may not lead ---
forbidden() { # forbidden REASON NAME...: refused, with that reason, and no connection is tried
	reason=$1
	shift
	for host; do
		mark
		probe "$host leads to $reason" "$late" "--allow $host:7" echo:$host,7
		check "... with an event" event "$host:7: $reason"
		check "... nobody was dialled" unheard '^tcp'
	done
}
python3 "$project/netprobe.py" serve:7 & # the host's own service, on all of its addresses
started=$!
await python3 "$project/netprobe.py" connect:127.0.0.1,7
forbidden private private.test private16.test private12.test shared.test private6.test site.test mapped.test nat64.test 6to4.test
forbidden loopback loop.test loop9.test loop6.test mappedloop.test
forbidden unspecified zero.test zero6.test
forbidden own-address own.test own6.test
forbidden metadata meta.test meta6.test nat64meta.test
forbidden link-local link.test link6.test
forbidden reserved compat.test broadcast.test synthetic.test
forbidden multicast multicast.test
kill $started
started=
mark
probe "a mixed answer: only the fit address is dialled" "ok ok" "--allow mixed.test:7 --allow mixed6.test:7" echo:mixed.test,7 echo:mixed6.test,7
check "... of IPv4" heard "^tcp 198.51.100.10 7 "
check "... of IPv6" heard "^tcp 2001:db8:2::10 7 "
check "... and no other" unheard "^tcp (10\.|169|fd|127)"
probe "a rule for the private address opens it to the name" "ok" "--allow private.test:7 --allow 10.9.9.9:7" echo:private.test,7
probe "... and a range of private addresses" "ok" "--allow private.test:7 --allow 10.0.0.0/8:7" echo:private.test,7
probe "... but not everything" "$late" "--allow private.test:7 --allow 0.0.0.0/0:7" echo:private.test,7

# --- rebinding ---
mark
probe "public, then private: what was vetted is dialled" "ok ok" "--allow *.rebind.test:7" echo:a.rebind.test,7 echo:a.rebind.test,7
check "... one question for it" is "$(since | grep -c '^dns a.rebind.test A ')" 1
check "... only the public address" unheard "^tcp 10"
probe "... later it is private, and refused" "$late" "--allow *.rebind.test:7" echo:a.rebind.test,7
check "... with an event" event "a.rebind.test:7: private"
probe "private first: refused" "$late" "--allow *.moves.test:7" echo:b.moves.test,7
check "... never dialled" unheard "^tcp 10"

# --- DNS ---
allow="--allow allowed.test:7"
for server in 198.18.0.1 8.8.8.8 1.2.3.4 2001:4860:4860::8888 127.0.0.53 127.0.0.1 ::1; do
	probe "DNS at $server is ours" "synthetic synthetic synthetic nxdomain nxdomain" "$allow" ask:$server,allowed.test,1 ask:$server,allowed.test,28 \
		ask:$server,allowed.test,1,tcp ask:$server,other.test,1 ask:$server,other.test,1,tcp
done
mark
sent=$(packets)
probe "other types have no data" "nodata nodata nodata nodata nodata" "$allow" ask:8.8.8.8,allowed.test,16 ask:8.8.8.8,allowed.test,65 ask:8.8.8.8,allowed.test,15 ask:8.8.8.8,allowed.test,252 ask:8.8.8.8,allowed.test,33
probe "services of an allowed host: no data" "nodata" "$allow" ask:8.8.8.8,_http._tcp.allowed.test,33
check "... and no event" ended 0
probe "odd names do not exist" "nxdomain nxdomain nxdomain" "$allow" "ask:8.8.8.8,a b.allowed.test" "ask:8.8.8.8,127.1" "ask:8.8.8.8,x@.allowed.test"
# shellcheck disable=SC2046 # words
probe "a hundred names" "$(yes nxdomain | head -n 100 | xargs)" "$allow" $(seq -f "ask:8.8.8.8,n%g.other.test" 100)
check "no packet left the host for any of them" is "$(packets)" "$sent"
inside_net 'dig +noall +comments @8.8.8.8 other.test; dig +noall +comments @8.8.8.8 other.test +dnssec' --allow allowed.test
check "dig is told why" has "$out" "no rule allows this name"
inside_net 'getent hosts "$(getent ahostsv4 allowed.test | { read -r a rest; echo $a; })"' --allow allowed.test
check "the reverse of a synthetic address is its name" has "$out" allowed.test
probe "AI_ADDRCONFIG, each family" "v4 v6 v4 v6" "$allow" name:allowed.test,2,32 name:allowed.test,10,32 name:allowed.test,0,32

# --- UDP ---
mark
for to in 198.51.100.10,443 198.51.100.10,123 2001:db8:2::10,443 8.8.8.8,443 allowed.test,7; do
	probe "UDP to $to" ECONNREFUSED "$allow" udp:$to
	[ $tier = ports ] || check "... with an event" has "$err" ": udp"
done
check "no datagram arrived outside" unheard '^udp'

# --- as the first thing that is done ---
inside_net 'ip -br addr show lo; ip route get 198.51.100.1; ip -6 route get 2001:db8:2::1' --allow allowed.test:7
check "'ip addr' as the first command shows the addresses" has "$out" 198.18.0.2
check "... of both families" has "$out" fd53:b0c5::2
check "'ip route get' shows the way" has "$out" "src 198.18.0.2"
inside_net "getent ahostsv4 allowed.test; cat /etc/resolv.conf" --allow allowed.test
check "getent as the first command" has "$out" "allowed.test"
check "the resolver's file has no search domain" lacks "$out" search

# --- what looks names up is killed, as by a machine without memory ---
begin_killed() { # PROBE: a sandbox that waits before it looks up another name; the probe goes on meanwhile
	"$wrapix" run --allow v4only.test:7 --allow allowed.test:7 --allow one.never.test:7 -- sh -c 'python3 -B netprobe.py echo:v4only.test; python3 -B netprobe.py "$0" &
		echo x >up; read -r x <go; python3 -B netprobe.py echo:allowed.test; wait' "$1" >"$tmp/log/out" 2>"$tmp/log/err" &
	run=$!
	started="${started-} $run"
	hear "$project/up"
	workers=$(for p in $(pgrep -P $run); do awk -v p="$p" '$1 == "NSpid:" && NF == 2 { print p }' "/proc/$p/status"; done) # the others are in the sandbox's namespace
}
end_killed() {
	kill -9 $workers
	await fails kill -0 $workers
	tell "$project/go"
	wait $run
}
[ $tier != queue ] || {
	mkfifo "$project/up" "$project/go"
	begin_killed echo:v4only.test
	check "the supervisor has one process that looks up names" is "$(echo "$workers" | wc -w)" 1
	end_killed
	check "killed, another one takes its place" is "$(xargs <"$tmp/log/out")" "ok ok ok"
	begin_killed echo4:one.never.test
	await pgrep -P "$workers" >"$tmp/log/child" || give_up "a name is looked up"
	end_killed
	check "... also while it waits for a name server, and what was asked is known to be lost" is "$(sort "$tmp/log/out" | xargs)" "EHOSTUNREACH ok ok"
}

# --- a brokered credential's relay, which looks its host up by itself ---
[ $tier != queue ] || {
	python3 -B "$lib/relay_name.py" "${wrapix%/cli/wrapix}/wrapix-relay" never.test >"$tmp/log/out" 2>"$tmp/log/err"
	check "a name that nobody answers for delays nobody else at the relay" is "$(cat "$tmp/log/out")" "path 403, name 502, name 502 0"
}

finish
