#!/bin/sh
# SPDX-License-Identifier: MIT
# Ways out of the filtered network. Each is tried without the filter first, where it must succeed: an attack that
# cannot work proves nothing. Prints TAP.
#
#	net_attacks.sh [queue|static|ports]
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/networld.sh"
in_world "$@"
set_up
set_up_net "${1-queue}"
cp "$lib/netattack.py" "$lib/nettls.py" "$lib/netjoin.py" "$project"
rules="--allow allowed.test:80 --allow allowed.test:443 --allow *.wild.test:80"
fence=$rules

# How each is tried without the filter: with the host's network, or without a sandbox, or with rights besides.
on_host() { wx run --network host --env PATIENCE=30 -- python3 -B netattack.py "$1"; }
unboxed() { run_control python3 -B "$project/netattack.py" "$1"; }
mighty() { run_control "$world/mighty-python" -B "$project/netattack.py" "$1"; }
run_control() {
	out=$tmp/log/out err=$tmp/log/err
	PATIENCE=30 timeout -s KILL 60 "$@" >"$out" 2>"$err" </dev/null
}
in_filter() {
	set -f
	# shellcheck disable=SC2086 # words
	wx run --filter-tier "$tier" $fence -- python3 -B netattack.py "$1"
	set +f
}

# What there is to see outside: a line in the log, or any packet at all (-), or nothing but the answer (=).
left() {
	case $1 in
	-) [ "$(packets)" -gt "$sent" ] || { echo "no packet has left"; false; } ;;
	=) ;;
	*) await_log "$1" ;;
	esac
}
stayed() {
	case $1 in
	-) is "$(packets)" "$sent" ;;
	=) ;;
	*) unheard "$1" ;;
	esac
}
await_log() { await heard "$1" || { heard "$1"; false; }; }
reached() { grep -qE '^(through|sent)( |$)' "$out" && left "$1"; }
stopped() { [ -s "$out" ] && lacks "$out" through && stayed "$1"; }

attack() { # attack NAME CONTROL EVIDENCE VERB; what this kernel does not know is no attack
	mark
	sent=$(packets)
	"$2" "$4"
	! grep -qxE 'EPROTONOSUPPORT|EAFNOSUPPORT' "$out" || { echo "# $1: not in this kernel"; return; }
	check "$1: works without the filter" reached "$3"
	mark
	sent=$(packets)
	in_filter "$4"
	check "$1" stopped "$3"
	fence=$rules
}

python3 -B "$project/netprobe.py" serve:7 & # services of the host's own
python3 -B "$project/netprobe.py" serve:1 &
python3 -B "$project/netprobe.py" "listen:@wrapix-abstract,/dev/null" &
started=$(jobs -p | xargs)
await python3 "$project/netprobe.py" connect:127.0.0.1,7
await python3 "$project/netprobe.py" connect:127.0.0.1,1

# --- addresses ---
attack "IPv4" on_host - tcp:198.51.100.10
attack "IPv6" on_host - tcp:2001:db8:2::10
attack "IPv4 in IPv6" on_host - tcp:::ffff:198.51.100.10
attack "NAT64" on_host - tcp:64:ff9b::c633:640a
attack "6to4" on_host - tcp:2002:a09:909::9
attack "the address of an allowed host" on_host - web:198.51.100.10
attack "a decimal number" on_host - numeric:3325256714
attack "a hexadecimal number" on_host - numeric:0xc633640a
attack "a short address" on_host - numeric:198.51.25610
attack "an octal address" on_host - numeric:0306.063.0144.012
attack "a private address" on_host - tcp:10.9.9.9
attack "a unique local address" on_host - tcp:fd12:3456::9
attack "a metadata service" on_host - tcp:169.254.169.254
attack "a metadata service, IPv6" on_host - tcp:fd00:ec2::254
attack "the gateway" on_host - tcp:203.0.113.254
attack "the host itself" on_host = tcp:203.0.113.1
attack "the host itself, IPv6" on_host = tcp:2001:db8:1::1
attack "the host's loopback" on_host = tcp:127.0.0.1
attack "the host's loopback, another address" on_host = tcp:127.0.9.1
attack "the host's loopback, IPv6" on_host = tcp:::1
attack "0.0.0.0" on_host = tcp:0.0.0.0
attack "::" on_host = tcp:::
attack "an address with a scope" on_host - scoped:2001:db8:2::10
attack "two hundred times" on_host - again:198.51.100.10
attack "from port 53" on_host - from_port:198.51.100.10,53
attack "from port 22" on_host - from_port:198.51.100.10,22
attack "from port 443 to 443" on_host - from_port:198.51.100.10,443
attack "without waiting" on_host - nonblocking:198.51.100.10
attack "MPTCP" on_host - mptcp:198.51.100.10
attack "TCP fast open" on_host - fast_open:198.51.100.10
attack "IP options" on_host - ip_options:198.51.100.10
attack "the socket of an allowed connection, connected anew" on_host "^tcp 198.51.100.20 7 " two_steps:allowed.test,198.51.100.20
attack "a socket that connects to its own port" on_host - self_connect:198.51.100.10
attack "bound to the loopback device" on_host = device:lo,127.0.0.1
attack "bound to the host's device" on_host - device:up0,198.51.100.10

# --- the relay's own port ---
for host in 127.0.0.1 ::1; do
	attack "port 1 of $host" on_host = tcp:$host,1
done
attack "port 1 of an allowed name" on_host "^tcp [^ ]* 1 " tcp:allowed.test,1
fence="--allow allowed.test"
attack "port 1 of the relay's address" unboxed = tcp:203.0.113.1,1

# --- ports and names ---
attack "another port of an allowed host" on_host "^tcp [^ ]* 7 " tcp:allowed.test,7
attack "another name" on_host "^(dns|tcp)" tcp:other.test
attack "a name below an allowed one" on_host "^(dns|tcp)" tcp:sub.allowed.test
attack "a name that ends like a wildcard" on_host "^(dns|tcp)" tcp:evilwild.test
attack "a name that begins like an allowed one" on_host "^(dns|tcp)" tcp:allowed.test.other.test
attack "a name that looks alike" on_host "^(dns|tcp)" tcp:xn--llowed-9za.test
fence="--allow *.wild.test --deny b.wild.test"
attack "a denied name in upper case" on_host "^tcp" tcp:B.WILD.TEST
fence="--allow *.wild.test --deny b.wild.test"
attack "a denied name with a final dot" on_host "^tcp" tcp:b.wild.test.
for name in private private16 shared private6 meta meta6 nat64 6to4; do
	fence="--allow $name.test"
	attack "$name.test" on_host "^tcp" tcp:$name.test
done
for name in loop loop6 mappedloop zero own own6; do
	fence="--allow $name.test"
	attack "$name.test" on_host = tcp:$name.test
done
on_host "again:z.rebind.test,7,2" # the control has used up the public answer
check "a name that changes its address: works without the filter" heard "^tcp 10.9.9.9"
mark
fence="--allow *.rebind.test"
in_filter "again:z.rebind.test,7,3"
check "a name that changes its address" stopped "^tcp 10"
fence=$rules

# --- DNS ---
attack "another DNS server" on_host "^dns" txt:8.8.8.8,other.test
attack "another DNS server, by TCP" on_host "^dns" txt:8.8.8.8,other.test,tcp
attack "another DNS server, IPv6" on_host "^dns" txt:2001:4860:4860::8888,other.test
attack "the host's DNS server" on_host "^dns" txt:203.0.113.254,other.test
attack "TXT of an allowed name" on_host "^dns" txt:8.8.8.8,allowed.test
attack "data in a name" on_host "^dns a-secret" tunnel:8.8.8.8,other.test
attack "data in a name, by TCP" on_host "^dns a-secret" tunnel:8.8.8.8,other.test,tcp
attack "data in a name below an allowed one" on_host "^dns a-secret" tunnel:8.8.8.8,allowed.test
attack "data in a name below a wildcard" on_host "^dns a-secret" tunnel:8.8.8.8,wild.test
attack "a NUL in a name" on_host "^dns" 'odd_label:8.8.8.8,a\x00b,other.test'
attack "a dot in a label" on_host "^dns" 'odd_label:8.8.8.8,secret.other,test'
attack "odd bytes in a name" on_host "^dns" 'odd_label:8.8.8.8,\xff\x01\x7f,allowed.test'
attack "anything to port 53" on_host - not_dns:8.8.8.8
attack "anything to port 53, by TCP" on_host - not_dns:8.8.8.8,tcp
attack "the resolver of the system" on_host "^dns" looked_up:other.test
attack "DNS over HTTPS" on_host "^tls" doh:8.8.8.8

# --- datagrams ---
attack "UDP" on_host "^udp" datagram:198.51.100.10,7
attack "UDP, IPv6" on_host "^udp" datagram:2001:db8:2::10,7
attack "QUIC's port" on_host "^udp" datagram:198.51.100.10,443
attack "QUIC's port of an allowed host" on_host "^udp" named_datagram:v4only.test,443
fence="--allow v4only.test"
attack "UDP to an allowed name" on_host "^udp" named_datagram:v4only.test,443
attack "UDP from port 53" on_host "^udp" datagram:198.51.100.10,7,53
attack "UDP that hears no refusal" on_host "^udp" loose_datagram:198.51.100.10,7
attack "a large datagram" on_host "^udp" datagram:198.51.100.10,7,0,60000
attack "NTP, STUN, mDNS" on_host "^udp" datagram:198.51.100.10,5353
attack "UDP-Lite" on_host - udplite:198.51.100.10,7
attack "broadcast" on_host - broadcast:203.0.113.255,7
attack "broadcast to all" on_host - broadcast:255.255.255.255,7
attack "multicast" on_host - multicast:239.1.2.3,7
attack "multicast, IPv6" on_host - multicast6:ff02::1234,7
attack "ping" on_host - ping:198.51.100.10
attack "ping, IPv6" on_host - ping:2001:db8:2::10

# --- TLS and HTTP ---
seen="^tls other.test"
attack "TLS for another name" on_host "$seen" hello:plain,allowed.test,other.test
attack "TLS for another name, in pieces" on_host "$seen" hello:bytewise,allowed.test,other.test
attack "TLS for another name, in records" on_host "$seen" hello:split,allowed.test,other.test
attack "TLS for another name, behind 40 kB" on_host "$seen" hello:big,allowed.test,other.test,40000
fence="--allow allowed.test:80"
attack "a proxy at another port" on_host "^proxy" through_proxy:allowed.test,3128,other.test:7
fence="--allow allowed.test:80"
attack "HTTP: the whole address of another host" on_host "^tcp (198.51.100.20|2001:db8:2::20)" http:other.test,80,http://other.test/,other.test
mark
in_filter "through_proxy:allowed.test,80,other.test:7"
check "CONNECT is nothing to the relay" has "$out" "405"
check "... and nobody else is dialled" unheard "^tcp (198.51.100.20|2001:db8:2::20)"
in_filter "http:allowed.test,80,http://other.test/,other.test"
check "a Host header changes nothing: the allowed host has the connection" heard "^tcp 2001:db8:2::10 80"
check "... and nobody else" unheard "^tcp (198.51.100.20|2001:db8:2::20)"

# --- other sockets ---
attack "AF_VSOCK" unboxed = family:40,1
attack "AF_ALG" unboxed = family:38,5
attack "AF_XDP" mighty = family:44,3
attack "AF_PACKET" mighty - raw_packet:up0
attack "raw ICMP" mighty - raw_icmp:198.51.100.10
attack "raw UDP" mighty = family:2,3,17
attack "the packet filter's netlink" mighty = family:16,3,12
attack "routes by netlink" mighty = add_route
attack "a mark" mighty = option:1,36,1
attack "a transparent socket" mighty = option:0,19,1
attack "another user and network namespace" unboxed = unshare:50000000
if grep -qx 0 /proc/sys/kernel/io_uring_disabled 2>/dev/null || [ ! -e /proc/sys/kernel/io_uring_disabled ]; then
	attack "io_uring" unboxed = io_uring
fi
mighty families
check "sockets of many kinds: can be made without the sandbox" has "$out" " 40 "
in_filter families
check "sockets of many kinds: Unix, both of the internet, routes" is "$(cat "$out")" "1 2 10 16 netlink-0"

# --- as root of a user namespace inside, where that is allowed ---
mark
sent=$(packets)
fence="$rules --allow-nested"
for verb in raw_icmp,198.51.100.10 raw_packet,lo family,16,3,12 add_route option,1,36,1 option,0,19,1 tcp,198.51.100.10; do
	in_filter "nested:10000000,$verb"
	check "nested: $verb" stopped -
done
in_filter "nested:10000000,tcp,allowed.test,7"
check "nested: the rules are the same" stopped -
in_filter "nested:10000000,web,allowed.test"
check "nested: what is allowed works" has "$out" through
sent=$(packets)
in_filter "nested:50000000,web,allowed.test"
check "nested, with a network of its own: there is none in it" stopped -
fence=$rules
run_control python3 -B "$project/netprobe.py" unix:@wrapix-abstract
check "an abstract socket of the host: works without the sandbox" has "$out" connected
probe "an abstract socket of the host" ECONNREFUSED "$rules" unix:@wrapix-abstract
run_control python3 -B "$project/netattack.py" "start_with_socket:allowed.test,python3,-B,$project/netattack.py,inherited:9"
check "a connection that was open before: works without the sandbox" has "$out" through
# shellcheck disable=SC2086 # words
run_control python3 -B "$project/netattack.py" "start_with_socket:allowed.test,$wrapix,run,--filter-tier,$tier,--allow,allowed.test:80,--,python3,-B,netattack.py,inherited:9"
check "a connection that was open before" has "$out" EBADF

# --- a 32-bit program ---
cat >"$project/small.c" <<'C'
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(7), .sin_addr.s_addr = inet_addr("198.51.100.10") };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char c = 'x';

	printf("%d vsock %s\n", (int)sizeof(long), socket(40, 1, 0) >= 0 ? "through" : strerror(errno));
	errno = 0;
	printf("tcp %s\n", connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 && write(fd, &c, 1) == 1 && read(fd, &c, 1) == 1 ? "through" : strerror(errno));
	return 0;
}
C
if (cd "$project" && gcc -m32 -o small small.c) >"$tmp/log/why" 2>&1; then
	run_control "$project/small"
	check "a 32-bit program: works without the sandbox" is "$(xargs <"$out")" "4 vsock through tcp through"
	mark
	inside_net ./small --allow allowed.test:80
	check "a 32-bit program" lacks "$out" through
	check "... runs" has "$out" "4 vsock"
	check "... and nothing arrived outside" unheard "^tcp"
else
	skip "a 32-bit program" "there is no 32-bit compiler (gcc-multilib)"
fi

finish
