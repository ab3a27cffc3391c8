#!/bin/sh
# SPDX-License-Identifier: MIT
# UNIX datagram sockets under wrapix exec: among the sandbox's own they do what they do outside, case by case; of the
# host's only those that allowUnixSockets names can be sent to, also by who swaps what the call means.
#
# shellcheck disable=SC1091,SC2016,SC2154 # the library; scripts for other shells; its variables
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up

cp "$top/tests/lib/datagram.py" "$top/tests/lib/sockets.py" "$tmp" || bail "no datagram.py"
datagram=$tmp/datagram.py
cd "$project" || exit 1

settings() { # settings NETWORK [FILESYSTEM]: the members of "network", and more of "filesystem"
	printf '{"network":{"allowedDomains":[],"deniedDomains":[]%s},' "$1" >"$tmp/settings.json"
	printf '"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]%s}}\n' "${2-}" >>"$tmp/settings.json"
}
inside() { timeout 60 "$wrapix" exec -s "$tmp/settings.json" -- "$@" 2>"$tmp/log/stderr"; }
outside() { timeout 60 "$@"; }
says() { # says WORD COMMAND...: that is what it prints
	word=$1
	shift
	[ "$("$@")" = "$word" ]
}

# --- every case, outside and inside ---

settings ''
mkdir "$tmp/own" "$project/own"
outside python3 "$datagram" cases "$tmp/own" >"$tmp/log/outside" 2>&1
inside sh -c 'python3 "$1" cases "$TMPDIR"' sh "$datagram" >"$tmp/log/inside"
inside python3 "$datagram" cases "$project/own" >"$tmp/log/project"
while IFS= read -r line; do
	check "the same inside: $line" grep -Fxq -- "$line" "$tmp/log/inside"
	check "... and in the project" grep -Fxq -- "$line" "$tmp/log/project"
done <"$tmp/log/outside"
check "there were cases to compare" test "$(wc -l <"$tmp/log/outside")" -gt 35

# --- the host's sockets ---

start_server() { # start_server NAME: what comes to $tmp/NAME is in the log
	mkfifo "$tmp/log/$1.in"
	python3 "$datagram" serve "$tmp/$1" <"$tmp/log/$1.in" >"$tmp/log/$1.out" &
}
came() { # came NAME TEXT: within a while
	await grep -Fxq -- "$2" "$tmp/log/$1.out"
}
start_server open
exec 7>"$tmp/log/open.in"
start_server shut
exec 8>"$tmp/log/shut.in"
for name in open shut; do
	came $name ready || bail "no server"
done

for how in connect sendto sendmsg sendmmsg; do
	check "outside the host's socket can be reached by $how" says ok outside python3 "$datagram" try $how "$tmp/shut" "$how-outside"
	check "... and it came" came shut "$how-outside"
	check "inside it cannot" says EACCES inside python3 "$datagram" try $how "$tmp/shut" inside
	check "... which is told" grep -q "refused .*$tmp/shut" "$tmp/log/stderr"
done
settings ",\"allowUnixSockets\":[\"$tmp/open\"]"
for how in connect sendto sendmsg sendmmsg; do
	check "one that is named can be reached by $how" says ok inside python3 "$datagram" try $how "$tmp/open" "$how-inside"
	check "... also by the last words of a command" came open "$how-inside"
	check "and no other" says EACCES inside python3 "$datagram" try $how "$tmp/shut" inside
done

# Whoever swaps an address or a descriptor under the call; outside the other socket is reached at once.
reaches() { # by chance: as often as it takes
	outside python3 "$datagram" swap address "$tmp/open" "$tmp/shut" outside 8<&-
	grep -Fxq outside "$tmp/log/shut.out"
}
check "outside a swapped address reaches the other socket" await reaches
for how in address descriptor; do
	inside python3 "$datagram" swap $how "$tmp/open" "$tmp/shut" swapped 8<&-
done
check "inside the open one was reached" came open swapped
outside python3 "$datagram" try sendto "$tmp/shut" last >/dev/null
came shut last || bail "the server is gone"
check "... and the other never" sh -c '! grep "inside\|swapped" "$1"' sh "$tmp/log/shut.out"

# A duplicate has another number, and can name nobody: what it sends is not sent anywhere else.
check "a duplicate reaches nobody by name" inside python3 -c '
import os, socket, sys
sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
low = socket.socket(fileno=os.dup(sock.fileno()))
for path in sys.argv[1:]:
    low.sendto(b"duplicate", path)
    low.sendmsg([b"duplicate"], [], 0, path)' "$tmp/open" "$tmp/shut"
# What the supervisor carries comes from it: who asks for the sender's own descriptor has one of the supervisor's.
cat >"$tmp/sender.py" <<'EOF'
import ctypes, errno, os, socket, struct, sys

LIBC = ctypes.CDLL(None, use_errno=True)


def tried(function, *words):
    return "done" if function(*words) >= 0 else errno.errorcode[ctypes.get_errno()]


def use(fd):
    """pidfd_getfd, pidfd_send_signal, and PIDFD_GET_NET_NAMESPACE where there is one"""
    return tried(LIBC.syscall, 438, fd, 0, 0), tried(LIBC.syscall, 424, fd, 0, 0, 0), tried(LIBC.ioctl, fd, 0xff04, 0)


one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
one.bind(b"\0sender")
try:
    one.setsockopt(socket.SOL_SOCKET, 76, 1)  # SO_PASSPIDFD, Linux 6.5
except OSError:
    sys.exit(print("none"))
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", b"\0sender")
low = socket.socket(fileno=os.dup(one.fileno()))
got = [struct.unpack("i", data)[0] for _, kind, data in low.recvmsg(9, 99)[1] if kind == 4]
print(*["done" in use(fd) for fd in got], "done" in use(os.pidfd_open(os.getpid())))
EOF
sender=$(inside python3 "$tmp/sender.py")
check "a descriptor of the supervisor's is of no use, where one of its own is ($sender)" sh -c '[ "$1" = "False True" ] || [ "$1" = none ]' sh "$sender"
outside python3 "$datagram" try sendto "$tmp/shut" after >/dev/null
came shut after
check "... indeed" fails grep -q duplicate "$tmp/log/shut.out"
mkfifo "$tmp/log/ready" "$tmp/log/go"
inside python3 -c '
import socket, sys
name = "\0wrapix-squat-" + sys.argv[1]
sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
stream = socket.socket(socket.AF_UNIX)
for one in sock, pair[0], stream:
    one.bind(name)
print(name[1:] in open("/proc/net/unix").read(), flush=True)
sys.stdin.read()' $$ <"$tmp/log/go" >"$tmp/log/ready" &
exec 9>"$tmp/log/go"
hear "$tmp/log/ready"
check "abstract names can be had inside" is "$heard" True
check "... and are none of the host's" fails grep -q "wrapix-squat-$$" /proc/net/unix
exec 9>&-
settings ''
check "... nor does a socket of ours show the host's network" says "lo lo" inside python3 -c '
import array, fcntl, socket, struct
def interfaces(sock):
    buffer = array.array("B", bytes(4096))
    head = struct.pack("iL", 4096, buffer.buffer_info()[0])
    used = struct.unpack("iL", fcntl.ioctl(sock, 0x8912, head))[0]
    return [buffer.tobytes()[i:i + 16].split(b"\0")[0].decode() for i in range(0, used, 40)]
pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
names = interfaces(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) + interfaces(pair[0])
print("lo lo" if set(names) <= {"lo"} else names)'

# --- what people use ---

settings ''
check "logger" says "<13>hello" inside python3 -c '
import os, re, socket, subprocess
path = os.environ["TMPDIR"] + "/log"
sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
sock.bind(path)
subprocess.run(["logger", "--rfc3164", "-t", "x", "-u", path, "hello"], check=True)
print(re.sub(r">.*: ", ">", sock.recv(999).decode()))'
check "sd_notify" says "READY=1" inside python3 -c '
import ctypes, os, socket
path = os.environ["TMPDIR"] + "/notify"
sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
sock.bind(path)
os.environ["NOTIFY_SOCKET"] = path
if ctypes.CDLL("libsystemd.so.0").sd_notify(0, b"READY=1") != 1:
    raise SystemExit("not sent")
print(sock.recv(999).decode())'
settings '' ',"disabled":true'
check "without file rules, too" says "(b'x', '$project/free')" inside python3 -c '
import socket, sys
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.bind(sys.argv[1])
server.sendto(b"x", sys.argv[1])
print(server.recvfrom(9))' "$project/free"
exec 7>&- 8>&-
wait
finish
