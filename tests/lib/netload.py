# SPDX-License-Identifier: MIT
"""Floods, from inside of a sandbox; the verbs are used as netprobe.py's are.

netprobe.py's 'pause' lets the test look at the supervisor while a flood stands.
"""
import collections
import errno
import os
import random
import resource
import select
import socket
import statistics
import struct
import sys
import time

import netprobe

held = []
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def summary(results):
    return " ".join("%s=%d" % item for item in sorted(collections.Counter(results).items()))


def errno_of(use):
    """What it returns, or the errno."""
    try:
        return use()
    except BrokenPipeError:
        return "ECONNRESET"
    except TimeoutError as e:
        return errno.errorcode[e.errno] if e.errno else "timeout"
    except OSError as e:
        return errno.errorcode[e.errno]


def echoed(sock):
    """The socket, if a byte comes back."""
    sock.sendall(b"x")
    return sock if sock.recv(1) == b"x" else "end"


def attempt(address, family=socket.AF_INET, wait=10):
    """A connection that has carried a byte there and back, or the errno."""
    sock = socket.socket(family)
    sock.settimeout(wait)

    def use():
        sock.connect(address)
        return echoed(sock) if address[1] == 7 else sock

    return errno_of(use)


def keep(host, number, port="7"):
    """That many connections, one after the other, that stay open."""
    address, results = (socket.gethostbyname(host), int(port)), []
    for _ in range(int(number)):
        sock = attempt(address)
        if isinstance(sock, socket.socket):
            held.append(sock)
            results.append("ok")
        else:
            results.append(sock)
    return summary(results)


def release(number="0"):
    """Closes that many of them, or all."""
    for _ in range(int(number) or len(held)):
        held.pop().close()
    return "released"


def soon(host, number):
    """That many connections, once the limit allows them again: each is given some time."""
    address, results = (socket.gethostbyname(host), 7), []
    for _ in range(int(number)):
        end = time.monotonic() + 60
        while not isinstance(sock := attempt(address), socket.socket) and time.monotonic() < end:
            time.sleep(0.01)
        results.append("ok" if isinstance(sock, socket.socket) else sock)
        held.append(sock)
    return summary(results)


def again(host):
    """All that there are end, and as many are served anew."""
    number = len(held)
    release()
    return "as many" if soon(host, number) == f"ok={number}" else "fewer"


def serial(host, number):
    """One at a time, each closed."""
    address = (socket.gethostbyname(host), 7)
    results = []
    for _ in range(int(number)):
        sock = attempt(address)
        if isinstance(sock, socket.socket):
            sock.close()
            sock = "ok"
        results.append(sock)
    return summary(results)


def refused(host, port, number):
    return summary(str(attempt((host, int(port)))) for _ in range(int(number)))


def stalled_downloads(host, number):
    """Readers that stop after the first bytes."""
    address = (socket.gethostbyname(host), 19)
    for _ in range(int(number)):
        sock = attempt(address)
        if not isinstance(sock, socket.socket) or not sock.recv(10):
            return "no: %s" % sock
        held.append(sock)
    return "stalled"


def stalled_uploads(host, number):
    """Writers to somebody who never reads, until nothing more goes."""
    address, poll, total = (socket.gethostbyname(host), 1004), select.poll(), {}
    for _ in range(int(number)):
        sock = attempt(address)
        if not isinstance(sock, socket.socket):
            return "no: %s" % sock
        sock.setblocking(False)
        held.append(sock)
        poll.register(sock, select.POLLOUT)
        total[sock.fileno()] = sock
    block = bytes(65536)
    while ready := poll.poll(500):
        for fd, event in ready:
            if event & (select.POLLERR | select.POLLHUP):
                code = total[fd].getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                return "broken: %s, %d of %s" % (errno.errorcode.get(code, code), held.index(total[fd]), number)
            try:
                total[fd].send(block)
            except BlockingIOError:
                pass
    return "stalled"


def stalled_hellos(host, number):
    """TLS that never says its name."""
    address = (socket.gethostbyname(host), 443)
    for _ in range(int(number)):
        sock = attempt(address)
        if not isinstance(sock, socket.socket):
            return "no: %s" % sock
        sock.sendall(b"\x16\x03\x01\x02")
        held.append(sock)
    return "stalled"


def stalled_queries(number):
    """DNS by TCP that never ends its question."""
    results = []
    for _ in range(int(number)):
        sock = attempt(("8.8.8.8", 53))
        if isinstance(sock, socket.socket):
            sock.sendall(b"\0\x40abc")
            held.append(sock)
            sock = "ok"
        results.append(sock)
    return summary(results)


def ended(seconds):
    """How many of the stalled ones the other side has ended within this time."""
    poll, gone, end = select.poll(), set(), time.monotonic() + float(seconds)
    for sock in held:
        poll.register(sock, select.POLLIN | select.POLLRDHUP)
    while len(gone) < len(held) and time.monotonic() < end:
        for fd, _ in poll.poll(1000):
            poll.unregister(fd)
            gone.add(fd)
    return "all" if len(gone) == len(held) else "%d of %d" % (len(gone), len(held))


def quick(host, number="20"):
    """Ordinary connections meanwhile: what delays them delays each of them; a busy machine does that to one or two."""
    took = []
    for _ in range(int(number)):
        start = time.monotonic()
        sock = attempt((socket.gethostbyname(host), 7))
        if not isinstance(sock, socket.socket):
            return "no: %s" % sock
        sock.close()
        took.append(time.monotonic() - start)
    return "quick" if statistics.median(took) < 1 else " ".join("%.1f" % t for t in took)


def garbage(number):
    """Queries that are nothing of the kind, and those that nearly are, to any server, by UDP and TCP."""
    dice = random.Random(1)
    good = b"\x12\x34\x01\x00\0\1\0\0\0\0\0\0\7allowed\4test\0\0\1\0\1"
    sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    for i in range(int(number)):
        if i % 3 == 0:
            data = dice.randbytes(dice.randrange(600))
        else:
            data = bytearray(good)
            for _ in range(dice.randrange(1, 6)):
                data[dice.randrange(len(data))] = dice.randrange(256)
            data = bytes(data[: dice.randrange(len(data) + 1)]) if i % 3 == 1 else bytes(data)
        sock.sendto(data, ("::ffff:8.8.8.8" if i % 2 else "2001:4860:4860::8888", 53))
        if i % 100 == 0:
            stream = attempt(("8.8.8.8", 53))
            stream.sendall(struct.pack(">H", len(data)) + data + dice.randbytes(100))
            stream.close()
    return "sent"


def many_names(number):
    """Names below a wildcard until there are no more."""
    results = []
    for i in range(int(number)):
        try:
            socket.getaddrinfo("n%d.wild.test" % i, 7, socket.AF_INET)
            results.append("ok")
        except socket.gaierror as e:
            results.append("EAI_AGAIN" if e.errno == socket.EAI_AGAIN else str(e))
    return summary(results)


def slow_names(number, zone="slow.test"):
    """Connections to names whose lookup takes its time, all at once, without waiting."""
    for i in range(int(number)):
        sock = socket.socket()
        sock.setblocking(False)
        sock.connect_ex((socket.gethostbyname("n%d.%s" % (i, zone)), 7))
        held.append(sock)
    return "asked"


def at_once(host, number):
    """Connections that are all begun before any is answered; a host like n%d.wild.test is another one each time."""
    addresses = [socket.gethostbyname(host.replace("%d", str(i))) for i in range(int(number))]
    socks = [socket.socket() for _ in addresses]
    for sock, address in zip(socks, addresses):
        sock.setblocking(False)
        sock.connect_ex((address, 7))
        sock.settimeout(40)  # longer than the supervisor tries
    return summary("ok" if isinstance(end := errno_of(lambda s=sock: echoed(s)), socket.socket) else end for sock in socks)


def datagrams(number):
    """UDP that is refused, to everywhere."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for i in range(int(number)):
        sock.sendto(b"x" * 100, ("198.51.100.%d" % (i % 250 + 1), 1000 + i % 5000))
    return "sent"


if __name__ == "__main__":
    for verb, value in list(globals().items()):
        if callable(value):
            netprobe.__dict__.setdefault("load_" + verb, value)
    for argument in sys.argv[1:]:
        netprobe.run("load_" + argument if "load_" + argument.partition(":")[0] in netprobe.__dict__ else argument)
    sys.stdout.flush()
    os._exit(0)  # thousands of sockets: the kernel is quicker
