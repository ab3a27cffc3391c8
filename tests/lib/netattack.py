# SPDX-License-Identifier: MIT
"""Ways out of the filtered network; the verbs are used as netprobe.py's are.

Each prints "through" when it got where no rule leads, or the errno that stopped it. Without a filter each gets
through: net_attacks.sh tries that first.
"""
import ctypes
import errno
import os
import random
import socket
import ssl
import struct
import sys

import netprobe
import nettls

libc = ctypes.CDLL(None, use_errno=True)
IPPROTO_MPTCP, IPPROTO_UDPLITE = 262, 136
PATIENCE = float(os.environ.get("PATIENCE", "2"))  # seconds; what is stopped may hear nothing


def syscall(number, *args):
    result = libc.syscall(number, *args)
    if result < 0:
        raise OSError(ctypes.get_errno(), "syscall")
    return result


def talk(sock, address, first=b"ping\n"):
    """An echo server must have got it, and nobody closer."""
    sock.settimeout(PATIENCE)
    sock.connect(address)
    sock.sendall(first)
    return "through" if sock.recv(100) == first else "end"


def tcp(host, port="7"):
    return {"ok": "through"}.get(result := netprobe.echo(host, port), result)


def web(host):
    return {"hello from": "through"}.get(" ".join((result := netprobe.get(host)).split()[:2]), result)


def numeric(text, port="7"):
    """A number that only the resolver takes for an address."""
    return talk(socket.socket(), (socket.gethostbyname(text), int(port)))


def scoped(host, port="7"):
    return talk(socket.socket(socket.AF_INET6), (host, int(port), 0, 1 + socket.if_nametoindex("lo")))


def from_port(host, source, port="7"):
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("", int(source)))
    return talk(sock, (host, int(port)))


def mptcp(host, port="7"):
    return talk(socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP), (host, int(port)))


def fast_open(host, port="7"):
    """The first bytes in the first packet."""
    sock = socket.socket()  # one that blocks, else this is no answer yet
    sock.sendto(b"ping\n", socket.MSG_FASTOPEN, (host, int(port)))
    return "through" if sock.recv(100) == b"ping\n" else "end"


def ip_options(host, port="7"):
    """A longer header."""
    sock = socket.socket()
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, b"\1\1\1\0")
    return talk(sock, (host, int(port)))


def nonblocking(host, port="7"):
    sock = socket.socket()
    sock.setblocking(False)
    sock.connect_ex((host, int(port)))
    import select

    select.select([], [sock], [], PATIENCE)
    if code := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
        raise OSError(code, "connect")
    sock.setblocking(True)
    sock.settimeout(PATIENCE)
    sock.sendall(b"ping\n")
    return "through" if sock.recv(100) == b"ping\n" else "end"


def again(host, port="7", times="200"):
    """The same over and over: one of them may slip through."""
    results = {tcp(host, port) for _ in range(int(times))}
    return "through" if "through" in results else " ".join(sorted(results))


def self_connect(host, port="20000"):
    """To the own port, at an address that is somebody else's."""
    sock = socket.socket()
    sock.bind(("", int(port)))
    sock.settimeout(PATIENCE)
    sock.connect((host, int(port)))
    return "through"


def two_steps(allowed, host, port="7"):
    """An allowed connection first; then the same socket, disconnected, to another."""
    sock = socket.socket()
    sock.settimeout(PATIENCE)
    sock.connect((socket.gethostbyname(allowed), 80))
    libc.connect(sock.fileno(), struct.pack("H14x", socket.AF_UNSPEC), 16)
    return talk(sock, (host, int(port)))


# --- datagrams ---


def datagram(host, port, source="0", size="10"):
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.settimeout(PATIENCE)
    sock.bind(("", int(source)))
    sock.connect((host, int(port)))
    sock.send(b"x" * int(size))
    return "through" if sock.recv(65536) else "end"


def named_datagram(name, port):
    return datagram(socket.gethostbyname(name), port)


def loose_datagram(host, port):
    """On a socket that is not connected; a refusal is not heard."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(PATIENCE)
    sock.sendto(b"x", (host, int(port)))
    return "through" if sock.recv(100) else "end"


def sent(family, protocol, address, *options, kind=socket.SOCK_DGRAM, data=b"x" * 8):
    """Whether it left is for the test to find out: it counts packets."""
    sock = socket.socket(family, kind, protocol)
    for option in options:
        sock.setsockopt(*option)
    sock.sendto(data, address)
    return "sent"


def udplite(host, port):
    return sent(socket.AF_INET, IPPROTO_UDPLITE, (host, int(port)))


def broadcast(host, port):
    return sent(socket.AF_INET, 0, (host, int(port)), (socket.SOL_SOCKET, socket.SO_BROADCAST, 1))


def multicast(host, port):
    return sent(socket.AF_INET, 0, (host, int(port)))


def multicast6(host, port):
    """Out of every device."""
    said = set()
    for device, _ in socket.if_nameindex():
        try:
            said.add(sent(socket.AF_INET6, 0, (host, int(port)), (socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, device)))
        except OSError as e:
            said.add(errno.errorcode[e.errno])
    return "sent" if "sent" in said else " ".join(said)


def ping(host):
    """ICMP with a message in it, by a ping socket."""
    v6 = ":" in host
    sock = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM, 58 if v6 else 1)
    sock.settimeout(PATIENCE)
    sock.sendto(struct.pack(">BBHHH", 128 if v6 else 8, 0, 0, 0, 1) + b"a secret", (host, 0))
    sock.recv(100)
    return "sent"


# --- names ---


def query(name, qtype=1):
    labels = b"".join(bytes([len(p)]) + p for p in name)
    return struct.pack(">HHHHHH", random.randrange(65536), 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", qtype, 1)


def exchange(server, data, protocol):
    kind = socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM
    sock = socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET, kind)
    sock.settimeout(PATIENCE)
    sock.connect((server, 53))
    sock.send(data if protocol == "udp" else struct.pack(">H", len(data)) + data)
    answer = sock.recv(4096)
    return answer[2:] if protocol == "tcp" else answer


def txt(server, name, protocol="udp"):
    """A tunnel's way back."""
    answer = exchange(server, query([p.encode() for p in name.split(".")], 16), protocol)
    return "through" if b"secret of" in answer else "code %d, %d records" % (answer[3] & 15, answer[7])


def tunnel(server, below, protocol="udp"):
    """A tunnel's way out: data in the name."""
    labels = [b"a-secret-" + b"x" * 50, b"y" * 63, *(p.encode() for p in below.split("."))]
    exchange(server, query(labels), protocol)
    return "sent"


def odd_label(server, label, below):
    label = label.encode("latin-1").decode("unicode_escape").encode("latin-1")
    exchange(server, query([label, *(p.encode() for p in below.split("."))]), "udp")
    return "sent"


def not_dns(server, protocol="udp"):
    """Anything at all to port 53."""
    kind = socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM
    sock = socket.socket(socket.AF_INET, kind)
    sock.settimeout(PATIENCE)
    sock.connect((server, 53))
    sock.send(b"a secret that is no question" * 10)
    return "sent"


def looked_up(name):
    socket.getaddrinfo(name, 80)
    return "sent"


# --- TLS and HTTP to an allowed host ---


def hello(how, *args):
    return {"answered": "through"}.get(result := getattr(nettls, how)(*args), result)


def doh(host):
    context = ssl._create_unverified_context()
    sock = context.wrap_socket(netprobe.dial(host, 443), server_hostname="dns.google")
    return "through" if "hello" in netprobe.http_get(sock, "dns.google", "/dns-query?dns=AAAA") else "odd"


def through_proxy(host, port, target):
    sock = netprobe.dial(host, port)
    sock.sendall(("CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (target, target)).encode())
    if b" 200 " not in (answer := sock.recv(1000)):
        return answer.split(b"\r\n")[0].decode() or "end"
    sock.sendall(b"ping\n")
    return "through" if sock.recv(100) == b"ping\n" else "end"


def http(host, port, line, header):
    """A request that names somebody else."""
    sock = netprobe.dial(host, port)
    sock.sendall(("GET %s HTTP/1.0\r\nHost: %s\r\n\r\n" % (line, header)).encode())
    return "through" if b"at 2001:db8:2::20" in (data := netprobe.read_all(sock)) or b"at 198.51.100.20" in data else "end"


# --- sockets of other kinds ---


def family(number, kind="2", protocol="0"):
    socket.socket(int(number), int(kind), int(protocol)).close()
    return "through"


def families():
    """Every kind of socket that can be made; of netlink every protocol."""
    made = []
    for number in range(1, 64):
        for kind, protocol in (1, 0), (2, 0), (3, 0), (5, 0), (2, 16), (3, 1):
            try:
                socket.socket(number, kind, protocol).close()
                made.append(str(number))
                break
            except OSError:
                pass
    for protocol in range(32):
        try:
            socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol).close()
            made.append("netlink-%d" % protocol)
        except OSError:
            pass
    return " ".join(made)


def io_uring():
    syscall(425, 4, ctypes.create_string_buffer(120))
    return "through"


def unshare(flags):
    if libc.unshare(int(flags, 16)) < 0:
        raise OSError(ctypes.get_errno(), "unshare")
    return "through"


def nested(flags, verb, *args):
    """As root of a user namespace of its own."""
    uid, gid = os.getuid(), os.getgid()
    unshare(flags)
    for name, text in ("setgroups", "deny"), ("uid_map", "0 %d 1" % uid), ("gid_map", "0 %d 1" % gid):
        with open("/proc/self/" + name, "w", encoding="ascii") as file:
            file.write(text)
    return globals()[verb](*args)


def raw_icmp(host):
    packet = struct.pack(">BBHHH", 8, 0, 0xF7FE, 0, 1)
    return sent(socket.AF_INET, 1, (host, 0), kind=socket.SOCK_RAW, data=packet)


def raw_packet(device):
    return sent(socket.AF_PACKET, 0, (device, 0x0800), kind=socket.SOCK_RAW, data=b"\2\0\0\0\0\2\2\0\0\0\0\1\x08\0" + bytes(46))


def add_route():
    """By netlink: 192.0.2.99 is unreachable."""
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    route = struct.pack("BBBBBBBBI", 2, 32, 0, 0, 254, 4, 0, 7, 0) + struct.pack("HH", 8, 1) + bytes([192, 0, 2, 99])
    sock.send(struct.pack("IHHII", 16 + len(route), 24, 0x405, 1, 0) + route)
    code = struct.unpack("i", sock.recv(100)[16:20])[0]
    if code and code != -errno.EEXIST:
        raise OSError(-code, "netlink")
    return "through"


def option(level, name, value):
    socket.socket().setsockopt(int(level), int(name), int(value))
    return "through"


def device(name, host, port="7"):
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, name.encode())
    return talk(sock, (host, int(port)))


def inherited(number):
    """A connection that was open before the sandbox was."""
    sock = socket.socket(fileno=int(number))
    sock.sendall(b"ping\n")
    return "through" if sock.recv(100) == b"ping\n" else "end"


def start_with_socket(host, *command):
    """On the host's side: runs the command with such a connection as its descriptor 9."""
    sock = netprobe.dial(host, 7)
    sock.setblocking(True)
    os.dup2(sock.fileno(), 9, inheritable=True)
    os.execvp(command[0], command)


if __name__ == "__main__":
    for verb, value in list(globals().items()):
        if callable(value):
            netprobe.__dict__["attack_" + verb] = value
    for argument in sys.argv[1:]:
        netprobe.run("attack_" + argument)
