#!/bin/sh
# SPDX-License-Identifier: MIT
# The open network on hosts of every kind: one family, VPNs, odd routes, resolvers, no network, another address while it
# runs; with pasta and with slirp4netns. On an internet of the tests' own, which root changes here. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2086,SC2154,SC2317 # the libraries; scripts for the shell inside; functions called by name; words
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/networld.sh"
in_world_as_root "$@"
set_up
outside=$(cat $world/outside)
cp "$lib/netprobe.py" "$project"
web=198.51.100.10 web6=2001:db8:2::10
out=$tmp/log/out err=$tmp/log/err
tools=$PATH # that wrapix finds
patient="--env PROBE_TIMEOUT=30 --env PROBE_LATE=50" # what works may take its time

# sees NAME WANT PROBE...: what netprobe.py prints in a sandbox of the ordinary user's, joined by blanks.
sees() {
	sees_name=$1 sees_want=$2
	shift 2
	as_user timeout -s KILL 60 env PATH="$tools" "$wrapix" run $patient -- python3 -B netprobe.py "$@" >"$out" 2>"$err" </dev/null
	check "$sees_name" is "$(xargs <"$out")" "$sees_want"
}
sees_all() { sees "$1" "ok ok v4 v6 ok" "echo:$web" "echo:$web6" name:allowed.test "udp:$web,7,datagram"; }
resolver() { printf "nameserver %s\n" "$@" >$world/resolv.conf; }

# The host's network, from nothing: addresses and routes are taken away and given anew.
bare() {
	ip addr flush dev up0
	ip addr flush dev vpn0
	ip route flush table main
	ip -6 route flush table main 2>/dev/null
	ip addr add fe80::1/64 dev up0 nodad
	resolver $out4
	neighbours $out4 $out6 10.77.0.1
}
neighbours() {
	for to; do
		case $to in 10.*) on=vpn0 mac=02:00:00:00:00:04 ;; *) on=up0 mac=02:00:00:00:00:02 ;; esac
		ip neigh replace $to lladdr $mac dev $on nud permanent 2>/dev/null
	done
}
v4() { ip addr add $us4/24 dev up0 && ip route add default via $out4; }
v6() { ip addr add $us6/64 dev up0 nodad && ip -6 route add default via $out6; }
both() { bare && v4 && v6; }
# A second cable, which is a VPN when a route says so. Outside answers on it for every address.
ip link add vpn0 address 02:00:00:00:00:03 type veth peer name vpnout address 02:00:00:00:00:04
ip link set vpnout netns $outside
ip link set vpn0 addrgenmode none
ip link set vpn0 up
outside ip link set vpnout addrgenmode none
outside ip link set vpnout up
outside ip addr add 10.77.0.1/24 dev vpnout
set_outside ipv4/conf/vpnout/proxy_arp 1
outside ip neigh add 10.77.0.2 lladdr 02:00:00:00:00:03 dev vpnout nud permanent

both
sees_all "both families"
# The kernel's questions whether an address is taken make pasta of 2023 lose answers, of those above among others.
dad=/proc/sys/net/ipv6/conf/up0/accept_dad
as_user timeout -s KILL 60 "$wrapix" run $patient -- sh -c "python3 -B netprobe.py echo:$web; cat $dad" >"$out" 2>"$err" </dev/null
check "the sandbox's addresses count at once; the host's are asked for first" is "$(xargs <"$out") $(cat $dad)" "ok 0 1"
bare; v4
sees "IPv4 alone" "ok ENETUNREACH v4" "echo:$web" "echo:$web6" name:v4only.test
bare; v6; resolver $out6
sees "IPv6 alone" "ENETUNREACH ok v4 v6" "echo:$web" "echo:$web6" name:allowed.test
# systemd-resolved there: on a loopback address of IPv4.
cat >"$tmp/dns.py" <<'PY'
"""A resolver on loopback that asks over IPv6."""
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.53", 53))
open(sys.argv[1], "w").write("up\n")
while True:
    data, peer = s.recvfrom(4096)
    up = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    up.sendto(data, ("2001:db8:1::fe", 53))
    s.sendto(up.recv(4096), peer)
PY
mkfifo "$tmp/up"
python3 "$tmp/dns.py" "$tmp/up" &
started="${started-} $!"
hear "$tmp/up"
resolver 127.0.0.53
sees "IPv6 alone, with systemd-resolved" "ok v4 v6" "echo:$web6" name:allowed.test
both; resolver 127.0.0.53
sees_all "both, with systemd-resolved"
both; resolver $out6
sees_all "both, and a resolver of IPv6 alone"
both; ip -6 route del default
outside ip addr add fe80::2/64 dev out0 nodad
outside ip neigh add fe80::1 lladdr 02:00:00:00:00:01 dev out0 nud permanent
neighbours fe80::2
ip -6 route add default via fe80::2 dev up0
sees_all "a router that announced itself: a link-local gateway"

vpn() { ip addr add 10.77.0.2/${1:-24} dev vpn0; }
both; vpn; ip route add 0.0.0.0/1 via 10.77.0.1; ip route add 128.0.0.0/1 via 10.77.0.1
sees_all "a VPN by two halves of the internet"
both; vpn 32; ip route add 0.0.0.0/1 dev vpn0; ip route add 128.0.0.0/1 dev vpn0
sees_all "... without a gateway"
both; vpn; ip route add 198.51.100.0/24 via 10.77.0.1
sees_all "a VPN for some networks"
both; vpn 32; ip route del default; ip route add default dev vpn0
sees_all "a default route without a gateway"
both; vpn; ip route del default
ip route add default via 10.77.0.1 dev vpn0 metric 50; ip route add default via $out4 dev up0 metric 100
sees_all "two default routes, the VPN's first"
both; vpn; ip route del default
ip route add default via 10.77.0.1 dev vpn0 metric 200; ip route add default via $out4 dev up0 metric 100
sees_all "two default routes, the VPN's last"
both; vpn; ip route del default
ip route add default nexthop via $out4 dev up0 nexthop via 10.77.0.1 dev vpn0
sees_all "one default route with two gateways"
both; ip addr del $us4/24 dev up0; ip addr add $us4/32 dev up0; ip route add $out4 dev up0; ip route add default via $out4
sees_all "a gateway outside of the network (/32)"
both; vpn 32; ip route add default dev vpn0 table 51820; ip rule add not fwmark 51820 table 51820
sees_all "a VPN by a rule, as wg-quick has it"
ip rule del table 51820

# Search domains and options.
both
printf 'search sub.test test\nnameserver %s\noptions ndots:2 edns0\n' $out4 >$world/resolv.conf
sees "search domains" "v4" name:v4only

# Another network while it runs: an address, a route, and the network itself.
mkfifo "$project/there" "$project/on"
chown "$test_user:" "$project/there" "$project/on"
both
as_user timeout -s KILL 60 env PATH="$tools" "$wrapix" run $patient -- sh -c "python3 -B netprobe.py echo:$web; echo >there; read x <on
	python3 -B netprobe.py echo:$web echo:$web6 name:allowed.test udp:$web,7,datagram" >"$out" 2>"$err" </dev/null &
session=$!
timeout 60 cat "$project/there" >/dev/null
outside ip neigh add 203.0.113.77 lladdr 02:00:00:00:00:01 dev out0 nud permanent
outside ip neigh add 2001:db8:1::77 lladdr 02:00:00:00:00:01 dev out0 nud permanent
bare
ip addr add 203.0.113.77/24 dev up0; ip route add default via $out4
ip addr add 2001:db8:1::77/64 dev up0 nodad; ip -6 route add default via $out6
tell "$project/on"
wait $session
check "another address while it runs" is "$(xargs <"$out")" "ok ok ok v4 v6 ok"
bare
as_user timeout -s KILL 60 env PATH="$tools" "$wrapix" run $patient -- sh -c "PROBE_TIMEOUT=3 python3 -B netprobe.py connect:$web,7; echo >there; read x <on
	python3 -B netprobe.py echo:$web udp:$web,7,datagram" >"$out" 2>"$err" </dev/null &
session=$!
timeout 60 cat "$project/there" >/dev/null
v4
tell "$project/on"
wait $session
check "started without a network, which comes later" is "$(sed 1d "$out" | xargs)" "ok ok"
check "... before that it cannot be reached" isnt "$(head -n 1 "$out")" ok

# slirp4netns stands in.
both
tools=$tmp/bin
mkdir "$tools"
ln -s "$(command -v slirp4netns)" "$tools/"
# Its IPv6 comes with an announcement, later than the first connection.
sees "no pasta, but slirp4netns: TCP, UDP, names" "ok ok v4 v6" "echo:$web" "udp:$web,7,datagram" name:allowed.test
check "... with one warning" is "$(grep -c 'warning: network: without pasta' "$err") $(wc -l <"$err")" "1 1"
resolver 127.0.0.53
sees "... with systemd-resolved" "v4" name:v4only.test
both
python3 -c 'import socket, sys
s = [socket.create_server((a, 5001), family=f) for a, f in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6))]
open(sys.argv[1], "w").write("up\n")
while True: s[0].accept()' "$tmp/up" &
started="$started $!"
hear "$tmp/up"
check "a service on the host's loopback is there, for the host" is "$(python3 -B "$project/netprobe.py" connect:127.0.0.1,5001 connect:::1,5001 | xargs)" "connected connected"
as_user timeout -s KILL 60 env PATH="$tools" "$wrapix" run $patient -- sh -c "python3 -B netprobe.py echo:$web; PROBE_TIMEOUT=2 python3 -B netprobe.py connect:127.0.0.1,5001 \
	connect:::1,5001 connect:10.0.2.2,5001 connect:10.0.2.3,5001 connect:fd00::2,5001 connect:fd00::3,5001" >"$out" 2>"$err" </dev/null
check "... and with slirp4netns cannot be reached" is "$(head -n 1 "$out") $(grep -c connected "$out")" "ok 0"
check "... nothing is left" await fails running_as_user slirp4netns
case $(pasta --help 2>&1) in
*--map-host-loopback*) age='ok       open network .*/pasta attached' ;;
*) age='weaker   open network .*/pasta attached.*/pasta is older than August 2024' ;;
esac
as_user timeout -s KILL 60 "$wrapix" doctor >"$out" 2>&1
check "doctor says what this pasta's age means" grep -q "$age" "$out"
printf '#!/bin/sh\necho "it does not work today" >&2\nexit 1\n' >"$tools/pasta"
chmod +x "$tools/pasta"
sees "a pasta that fails: slirp4netns stands in" "ok v4" "echo:$web" name:v4only.test
check "... the user is told, once" is "$(grep -c 'pasta could not attach the network: it does not work today; trying slirp4netns' "$err") $(wc -l <"$err")" "1 1"
as_user timeout -s KILL 60 env PATH="$tools" "$wrapix" doctor >"$out" 2>&1
check "doctor tells of both" grep -q 'weaker .*pasta could not attach.*; .*/slirp4netns attached' "$out"
rm "$tools/pasta"
as_user timeout -s KILL 60 env PATH="$tools" "$wrapix" doctor >"$out" 2>&1
check "doctor: slirp4netns alone is weaker" grep -q 'weaker   open network .*slirp4netns attached' "$out"
as_user timeout -s KILL 60 env PATH="$tools" "$wrapix" run -- python3 -c "import socket, time, os
socket.create_connection(('$web', 7)); open('there', 'w').write('up'); time.sleep(60)" >"$out" 2>&1 </dev/null &
session=$!
timeout 60 cat "$project/there" >/dev/null
check "slirp4netns runs" running_as_user slirp4netns
kill -9 "$(pgrep -u "$test_user" -xf "$wrapix run -- python3 .*" | head -n 1)"
check "... and ends with a killed supervisor" await fails running_as_user slirp4netns
finish
