#!/bin/sh
# SPDX-License-Identifier: MIT
# The filtered network's namespace: free until used, and worth nothing to whoever gets hold of it; the end of the
# supervisor is the end of the network. Prints TAP.
#
#	net_namespace.sh [queue|static|ports]
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/networld.sh"
in_world "$@"
set_up
set_up_net "${1-queue}"
cp "$lib/netjoin.py" "$project"
mkfifo "$project/up" "$tmp/ready" "$tmp/go"

# hold_sandbox [PROCESS]: a sandbox that stays; $sandbox is its supervisor, $within that process of it, by default the
# last. It does $first.
serial=90000
use_it='python3 -B netprobe.py echo:allowed.test,7'
hold_sandbox() {
	serial=$((serial + 1))
	"$wrapix" run --filter-tier "$tier" --allow allowed.test:7 --allow allowed.test:19 --allow v6only.test:7 -- \
		sh -c "$first; echo up >up; exec sleep $serial" >"$tmp/held.out" 2>&1 </dev/null &
	sandbox=$!
	started="${started-} $sandbox"
	hear "$project/up"
	await pgrep -u "$(id -u)" -fx "${1-sleep $serial}"
	within=$(pgrep -u "$(id -u)" -fx "${1-sleep $serial}")
}
# FIFOs, without an endless wait for somebody who has died.
hear() { timeout 60 cat "$1" >/dev/null || echo "# nobody wrote into $1"; }
end_sandbox() {
	kill "$sandbox" 2>/dev/null
	wait "$sandbox"
}
joined() { # joined NAME WANT VERB...: from outside, in the held sandbox's namespaces
	joined_name=$1 want=$2
	shift 2
	timeout -s KILL 60 python3 -B "$project/netjoin.py" "$within" "$@" >"$tmp/log/out" 2>"$tmp/log/err"
	check "$joined_name" is "$(tr '\n' ' ' <"$tmp/log/out" | sed 's/ $//')" "$want"
}
alive() { kill -0 "$sandbox" 2>/dev/null || { echo "the supervisor has ended"; cat "$tmp/held.out"; false; }; }

# --- nothing until the first socket ---
traced() { # traced OPTION... -- COMMAND...: what of the network wrapix touches
	strace -f -qq -e trace=socket,setns -o "$tmp/trace" "$wrapix" run --filter-tier "$tier" "$@" >"$tmp/log/out" 2>"$tmp/log/err"
}
traced --allow allowed.test -- true
check "a command without a network: no netlink socket" lacks "$tmp/trace" AF_NETLINK
check "... and the namespace is never entered" lacks "$tmp/trace" setns
traced --allow allowed.test -- python3 -c 'import socket; socket.socket(socket.AF_UNIX)'
check "... nor for a Unix socket" lacks "$tmp/trace" AF_NETLINK
traced --allow allowed.test -- python3 -c 'import socket; socket.socket(socket.AF_INET)'
check "with the first socket it is there" has "$tmp/trace" NETLINK_ROUTE
[ "$tier" = ports ] || check "... and the packet filter" has "$tmp/trace" NETLINK_NETFILTER

# --- IPv6 is off ---
first='echo up >up; cat go >/dev/null; python3 -B netprobe.py name:allowed.test echo:allowed.test,7 echo4:allowed.test,7 echo:v6only.test,7 connect:::1,7 connect:2001:db8:2::10,7'
mkfifo "$project/go"
hold_sandbox "cat go"
joined "before the first socket: IPv6 is turned off" "set set" sysctl:net/ipv6/conf/all/disable_ipv6,1 sysctl:net/ipv6/conf/lo/disable_ipv6,1
tell "$project/go"
hear "$project/up"
check "... names have IPv4 alone, and work" is "$(head -n 3 "$tmp/held.out" | xargs)" "v4 ok ok"
check "... also those that have IPv6 alone outside" is "$(sed -n 4p "$tmp/held.out")" ok
check "... IPv6 itself is not there" is "$(sed -n '5,6s/EADDRNOTAVAIL/ENETUNREACH/p;5,6s/^ENETUNREACH/&/p' "$tmp/held.out" | sort -u)" ENETUNREACH
end_sandbox

# --- somebody with all rights over the namespace ---
first=$use_it
mark
hold_sandbox
check "a sandbox that has used its network" is "$(cat "$tmp/held.out")" ok
joined "somebody who joins has it as the sandbox has" "ok EAI_NONAME $(by_tier ECONNREFUSED ECONNREFUSED ECONNRESET)" echo:allowed.test,7 name:other.test echo:198.51.100.10,7
joined "he takes the packet filter away" "flushed" flush
mark
joined "... and has gained nothing" "$(by_tier "ECONNREFUSED ECONNREFUSED ECONNREFUSED" "ECONNREFUSED ECONNREFUSED ECONNREFUSED" "ECONNRESET ECONNRESET ECONNRESET")" \
	echo:198.51.100.10,7 echo:10.9.9.9,7 echo:2001:db8:2::10,7
joined "... nor by UDP" "ECONNREFUSED" udp:198.51.100.10,443
joined "he takes the routes away" "done done" command:ip,route,flush,table,local command:ip,-6,route,flush,table,local
joined "... and has nothing at all" "ENETUNREACH ENETUNREACH" echo:198.51.100.10,7 echo:2001:db8:2::10,7
joined "he adds links, addresses and routes of his own" "done done done done" \
	command:ip,link,add,v0,type,veth,peer,name,v1 command:ip,link,set,v0,up command:ip,addr,add,203.0.113.77/24,dev,v0 \
	command:ip,route,add,default,via,203.0.113.254,onlink,dev,v0
joined "... which lead nowhere" "timeout" connect_soon:198.51.100.10,7
check "nothing arrived outside" unheard '^(tcp|udp|dns)'
check "the supervisor is alive" alive
end_sandbox

# --- the supervisor is killed ---
first=$use_it
hold_sandbox
python3 -B "$project/netjoin.py" "$within" hold:allowed.test hold_download:allowed.test "pause:$tmp/ready,$tmp/go" held_read \
	echo4:198.18.99.99,7 echo6:fd53:b0c5:0:1::1,7 echo:198.51.100.10,7 echo:2001:db8:2::10,7 name:allowed.test name:other.test \
	udp:198.51.100.10,443 ask:8.8.8.8 ask:2001:4860:4860::8888 ask:8.8.8.8,allowed.test,1,tcp >"$tmp/joined.out" 2>&1 &
joined=$!
started="$started $joined"
hear "$tmp/ready"
mark
kill -9 "$sandbox"
wait "$sandbox" 2>/dev/null
check "killed: the sandbox ends with it" none_running "sleep $serial"
tell "$tmp/go"
wait $joined
check "two connections were open" is "$(head -n 2 "$tmp/joined.out" | xargs)" "held held"
check "... both were reset" is "$(sed -n 4p "$tmp/joined.out")" "reset reset"
check "new ones are refused at once" is "$(sed -n 5,8p "$tmp/joined.out" | xargs)" "ECONNREFUSED ECONNREFUSED ECONNREFUSED ECONNREFUSED"
check "names fail at once" is "$(sed -n 9,10p "$tmp/joined.out" | xargs)" "EAI_AGAIN EAI_AGAIN"
check "UDP is refused at once, DNS too" is "$(sed -n 11,14p "$tmp/joined.out" | xargs)" "ECONNREFUSED ECONNREFUSED ECONNREFUSED ECONNREFUSED"
check "outside sees resets" heard "^reset"
check "nothing new arrived outside" unheard '^(tcp|udp|dns)'
check "nothing of wrapix is left" none_running "$wrapix run"

# --- the host's own name services ---
for socket in /run/nscd/socket /run/dbus/system_bus_socket /run/systemd/resolve/io.systemd.Resolve; do
	python3 -B "$project/netprobe.py" "listen:$socket,$tmp/asked" &
	started="$started $!"
	await test -S $socket
done
python3 -B "$project/netprobe.py" "listen:@wrapix-abstract,$tmp/asked" &
started="$started $!"
abstract_is_up() { python3 -B "$project/netprobe.py" unix:@wrapix-abstract | grep -q connected; }
await abstract_is_up
getent hosts allowed.test >/dev/null
check "without a sandbox: nscd is asked" has "$tmp/asked" nscd
await has "$tmp/asked" abstract
check "... and an abstract socket can be reached" has "$tmp/asked" abstract
rm -f "$tmp/asked"
: >"$tmp/asked"
probe "with one: names work" "v4 v6 ok" "--allow allowed.test:7" name:allowed.test echo:allowed.test,7
probe "... the host's sockets are not there" "ENOENT ENOENT ENOENT ECONNREFUSED" "--allow allowed.test:7" unix:/run/nscd/socket \
	unix:/run/dbus/system_bus_socket unix:/run/systemd/resolve/io.systemd.Resolve unix:@wrapix-abstract
inside_net 'ls -A /run /var/run/ | grep -xE "nscd|dbus|resolve|systemd"' --allow allowed.test
check "... not even their directories" empty "$out"
check "nobody was asked but the supervisor's own resolver" lacks "$tmp/asked" abstract
check "... and no D-Bus" lacks "$tmp/asked" dbus

finish
