#!/bin/sh
# shellcheck shell=sh disable=SC1091,SC2016,SC2034,SC2086,SC2154 # a library, with the scripts' variables and system.sh's; words
# SPDX-License-Identifier: MIT
# An internet of the tests' own: two network namespaces and a cable. No packet ever leaves the machine, and nothing
# of the machine's own network is touched.
#
#	here                                          outside
#	203.0.113.1, 2001:db8:1::1  -- up0 == out0 -- 203.0.113.254, 2001:db8:1::fe (DNS)
#	wrapix, as the ordinary user                  198.51.100.0/24, 2001:db8:2::/64 and others (netservers.py)
#
# A script begins with
#
#	. "$(dirname -- "$0")/../lib/system.sh"
#	. "$top/tests/lib/networld.sh"
#	in_world "$@"		# as root: start again in there, as the ordinary user
#	set_up
#
# By hand, as root: tests/lib/networld.sh run COMMAND... runs it in there, as the ordinary user.
#
# All of it lives in namespaces that end with the script, however it ends. $world (/mnt in there) holds the
# certificate, the keys and the log of what arrived outside.

world=/mnt
us4=203.0.113.1 us6=2001:db8:1::1
out4=203.0.113.254 out6=2001:db8:1::fe
# What outside answers for: web hosts, well-known name servers, and addresses that no sandbox may reach.
local4="198.51.100.0/24 8.8.8.8 1.1.1.1 10.9.9.0/24 192.168.9.0/24 172.16.9.0/24 100.64.9.0/24 169.254.169.254 169.254.9.9 198.18.1.9 192.0.0.192"
local6="2001:db8:2::/64 2001:4860:4860::8888 64:ff9b::/96 2002:a09:909::/48 fd12:3456::/64 fd00:ec2::254 fec0::9"

# --- building it; as root, in the new namespaces ---

world_links() {
	ip link set lo up
	ip link add up0 address 02:00:00:00:00:01 type veth peer name out0 address 02:00:00:00:00:02
	unshare --net sleep infinity &
	outside=$!
	until [ "$(readlink /proc/$outside/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do
		sleep 0.01
	done
	ip link set out0 netns $outside
	outside ip link set lo up
	# Nobody but the tests sends a packet here: they count them.
	ip link set up0 addrgenmode none
	outside ip link set out0 addrgenmode none
	echo 0 >/proc/sys/net/ipv6/conf/up0/router_solicitations
	ip link set up0 up
	outside ip link set out0 up
	ip addr add $us4/24 dev up0
	ip addr add $us6/64 dev up0 nodad
	ip addr add fe80::1/64 dev up0 nodad # without one pasta gives no IPv6
	outside ip addr add $out4/24 dev out0
	outside ip addr add $out6/64 dev out0 nodad
	for to in $out4 $out6; do ip neigh add $to lladdr 02:00:00:00:00:02 dev up0 nud permanent; done
	for to in $us4 $us6; do outside ip neigh add $to lladdr 02:00:00:00:00:01 dev out0 nud permanent; done
}

outside() { nsenter -t "$outside" -n "$@"; }
outside_user() { nsenter -t "$outside" -n setpriv --reuid "$test_user" --regid "$test_user" --init-groups "$@"; }
set_outside() { outside sh -c "echo '$2' >/proc/sys/net/$1"; }

world_routes() {
	ip route add default via $out4
	ip -6 route add default via $out6
	for net in $local4; do
		outside ip route add local "$net" dev lo
	done
	for net in $local6; do
		outside ip -6 route add local "$net" dev lo
	done
	# Broken hosts: outside says so, outside says nothing, we know no way. They are exceptions of the ranges above.
	for host in 66:unreachable 99:blackhole; do
		outside ip route add "${host#*:}" 198.51.100.${host%:*} table local
		outside ip -6 route add "${host#*:}" 2001:db8:2::${host%:*} table local
	done
	ip route add throw 198.51.100.77
	echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start
	echo "0 2147483647" >/proc/sys/net/ipv4/ping_group_range # as distributions have it
	ip -6 route add throw 2001:db8:2::77
	set_outside ipv4/ip_forward 1
	set_outside ipv6/conf/all/forwarding 1
	set_outside ipv6/ip_nonlocal_bind 1 # a server may have any address of the ranges
	set_outside ipv4/icmp_ratemask 0
	set_outside ipv4/ip_unprivileged_port_start 0
}

world_files() {
	printf 'nameserver %s\noptions timeout:8 attempts:1\n' $out4 >$world/resolv.conf
	printf '127.0.0.1 localhost\n::1 localhost\n198.51.100.10 inhosts.test\n' >$world/hosts
	printf 'passwd: files\ngroup: files\nhosts: files mdns4_minimal [NOTFOUND=return] resolve [!UNAVAIL=return] dns\n' >$world/nsswitch.conf
	for file in resolv.conf hosts nsswitch.conf; do
		real=$(readlink -m /etc/$file)
		mkdir -p "${real%/*}"
		[ -e "$real" ] || : >"$real"
		mount --bind $world/$file "$real"
	done
	mkdir $world/keys $world/git $world/package
	cd $world/keys || exit 1
	{
		curve="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
		openssl req -x509 $curve -keyout ca.key -out ../ca.pem -days 2 -subj "/CN=the tests' own authority" &&
			openssl req $curve -keyout server.key -out server.csr -subj /CN=allowed.test &&
			printf 'subjectAltName=DNS:allowed.test,DNS:other.test,DNS:v6only.test,DNS:v4only.test,DNS:registry.test,DNS:*.wild.test,IP:198.51.100.10,IP:2001:db8:2::10\nbasicConstraints=CA:FALSE\n' >ext &&
			openssl x509 -req -in server.csr -CA ../ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out server.crt &&
			cat server.crt server.key >../server.pem &&
			ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f user
	} >$world/keys/log 2>&1 || { cat $world/keys/log; exit 1; }
	for name in allowed.test 198.51.100.10 v6only.test; do
		echo "$name $(cat host.pub)"
	done >../known_hosts
	printf '{"name":"wrapix-hello","version":"1.0.0","main":"index.js"}\n' >$world/package/package.json
	printf 'module.exports = "hello from npm";\n' >$world/package/index.js
	tar -C $world -czf $world/npm.tgz package
	chown -R "$test_user:" $world
	# A Python with the right to raw packets and to this network: CAP_NET_ADMIN and CAP_NET_RAW, in force.
	cp "$(readlink -f "$(command -v python3)")" $world/mighty-python
	python3 -c 'import os, struct, sys
os.setxattr(sys.argv[1], "security.capability", struct.pack("<5I", 0x02000001, 1 << 12 | 1 << 13, 0, 0, 0))' $world/mighty-python
}

world_servers() {
	mkfifo $world/ready
	chown "$test_user:" $world/ready $world
	outside python3 -B "$lib/netservers.py" $world >$world/servers.out 2>&1 &
	servers=$!
	# Opened for both, so that a server that has died is no endless wait.
	timeout 60 cat $world/ready >/dev/null || {
		sed 's/^/# /' $world/servers.out
		exit 1
	}
	as_user sh -c "cd $world/git && git init -q -b main work && cd work && echo 'from git' >file &&
		git add file && git -c user.name=t -c user.email=t@t.test commit -q -m x && git clone -q --bare . ../repo.git"
	outside_user git daemon --base-path=$world/git --export-all --reuseaddr --informative-errors $world/git >$world/git.out 2>&1 &
	[ ! -x /usr/sbin/sshd ] || {
		cat >$world/sshd_config <<-END
			HostKey $world/keys/host
			AuthorizedKeysFile $world/keys/user.pub
			StrictModes no
			PidFile none
			UsePAM no
			ListenAddress 0.0.0.0
			ListenAddress ::
		END
		outside_user /usr/sbin/sshd -D -e -f $world/sshd_config >$world/sshd.out 2>&1 &
		await outside sh -c "ss -Hltn 'sport = 22' | grep -q ." || { cat $world/sshd.out; exit 1; }
	}
	await outside sh -c "ss -Hltn 'sport = 9418' | grep -q ." || { cat $world/git.out; exit 1; }
}

world_enter() { # COMMAND...; as PID 1 of the new namespaces
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	mount --make-rshared / # as a machine has it, and podman wants it
	mount -t tmpfs -o mode=755 world $world
	mount -t tmpfs -o mode=755 run /run
	mkdir -p $world/tree/inner # a directory with a mount in it
	mount -t tmpfs -o mode=755 inner $world/tree/inner
	touch $world/tree/inner/in
	mkdir -p /run/nscd /run/dbus /run/systemd/resolve
	chown "$test_user:" /run/nscd /run/dbus /run/systemd/resolve
	(set -e; world_links; world_routes; world_files; echo $outside >$world/outside) || exit 1
	outside=$(cat $world/outside)
	world_servers
	HOME=$(getent passwd "$test_user" | cut -d: -f6)
	cd / || exit 1
	[ "$world_user" = root ] || set -- setpriv --reuid "$world_user" --regid "$world_user" --init-groups "$@"
	clean_env WRAPIX_WORLD=$world NO_COLOR=1 "$@"
}

# --- for scripts ---

in_world() {
	lib=$top/tests/lib
	[ -z "${WRAPIX_WORLD-}" ] || return 0
	[ "$(id -u)" = 0 ] || {
		skip "everything" "a network of the tests' own needs root"
		finish
	}
	need_user
	exec unshare --mount --net --pid --fork --kill-child --mount-proc \
		sh "$lib/networld.sh" "${world_as:-enter}" "$here/${0##*/}" "$@"
}
# The same, but stays root, to change the world while it runs.
in_world_as_root() { world_as=enter-as-root in_world "$@"; }

# Lines that arrived outside since the last 'mark'. The servers have taken note of all that was sent, however busy the machine is.
settle() { timeout 60 python3 -S -c 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.recv(1)' $world/settled || echo "# the servers are gone" >&2; }
mark() { settle; log_from=$(wc -l <$world/log); }
since() { settle; tail -n "+$((log_from + 1))" $world/log; }
heard() { since | grep -qE -- "$1" || { echo "outside did not see: $1"; since | head -n 20; false; }; }
unheard() { ! since | grep -E -- "$1"; }
quiet() { is "$(since)" ""; }

# set_up_net TIER: what scripts of the filtered network need in the project. Connections are caught in this way at best.
set_up_net() {
	tier=$1
	allow=
	cp "$lib/netprobe.py" $world/ca.pem "$project"
}
by_tier() { case $tier in queue) echo "$1" ;; static) echo "$2" ;; ports) echo "$3" ;; esac; }

# inside_net SCRIPT OPTION...: a script in a sandbox with that network.
inside_net() {
	inside_script=$1
	shift
	wx run --filter-tier $tier "$@" -- sh -c "$inside_script"
}

# probe NAME WANT OPTIONS PROBE...: netprobe.py's lines, joined by blanks. OPTIONS are words.
probe() {
	probe_name=$1 probe_want=$2 probe_options=$3
	shift 3
	set -f
	wx run --filter-tier $tier $probe_options -- python3 -B netprobe.py "$@"
	set +f
	check "$probe_name" is "$(tr '\n' ' ' <"$out" | sed 's/ $//')" "$probe_want"
}

# What a program without a sandbox gets there.
errno_here() { python3 -B "$project/netprobe.py" "echo:$1"; }

# The sandbox that ended last was refused this, and the user is told: "HOST:PORT: REASON".
event() { has "$err" "wrapix: refused $1"; }

# Until the connections of what has ended are at their end, too.
hang_up() { await sh -c '[ -z "$(ss -Htan state connected exclude time-wait exclude syn-sent)" ]'; }
# Packets that left for the outside so far, but for the kernel's own about multicast groups.
packets() {
	hang_up >&2
	awk '$1 == "up0:" { n = $11 } $1 == "Icmp6OutType143" { n -= $2 } END { print n }' /proc/net/dev /proc/net/dev_snmp6/up0
}

# --- started as a program ---

case ${0##*/} in networld.sh)
	set -u
	top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd -P)
	lib=$top/tests/lib
	here=$top/tests/system
	# system.sh finds itself by $0.
	. "$lib/system.sh"
	case ${1-} in
	enter) shift; world_user=$test_user world_enter "$@" ;;
	enter-as-root) shift; world_user=root world_enter "$@" ;;
	run)
		shift
		need_user
		exec unshare --mount --net --pid --fork --kill-child --mount-proc sh "$lib/networld.sh" enter "$@"
		;;
	*) echo "usage: networld.sh run COMMAND..." >&2; exit 2 ;;
	esac
	;;
esac
