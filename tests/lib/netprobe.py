# SPDX-License-Identifier: MIT
"""What a program in the sandbox sees of the network: netprobe.py VERB:ARG,ARG... [...]

One line for each: what came back, or the errno's name. An answer that is late says so: the network refuses at once, and
whatever waits has run into a timeout, of eight seconds (names, see networld.sh) or more. A busy machine takes seconds, too.
"""
import errno
import hashlib
import os
import socket
import ssl
import sys
import time

TIMEOUT = float(os.environ.get("PROBE_TIMEOUT", "10"))
LATE = float(os.environ.get("PROBE_LATE", "7.9"))
WORK = ("half_close", "round_trip", "slow_reader", "crowd", "own_server", "unread_reasons")  # takes its time


def look_up(host, port, family=0, kind=socket.SOCK_STREAM, flags=0):
    return socket.getaddrinfo(host, int(port), family, kind, 0, flags)


def dial(host, port, family=0):
    """Like any client: each address in turn; the last error counts."""
    error = None
    for af, kind, proto, _, address in look_up(host, port, family):
        sock = socket.socket(af, kind, proto)
        sock.settimeout(TIMEOUT)
        try:
            sock.connect(address)
            return sock
        except OSError as e:
            sock.close()
            error = e
    raise error


def read_all(sock):
    data = b""
    while part := sock.recv(65536):
        data += part
    return data


def connect(host, port):
    dial(host, port).close()
    return "connected"


def echo(host, port="7", family="0"):
    """A word there and back. A connection that is refused late is reset on the first use."""
    sock = dial(host, port, int(family))
    try:
        sock.sendall(b"ping\n")
        back = sock.recv(100)
    except BrokenPipeError:
        return "ECONNRESET"
    return "ok" if back == b"ping\n" else "end" if not back else repr(back)


def echo4(host, port="7"):
    return echo(host, port, socket.AF_INET)


def echo6(host, port="7"):
    return echo(host, port, socket.AF_INET6)


def raw(host, port):
    return read_all(dial(host, port)).decode().strip()


def serve(port):
    """The other side: an echo on every address."""
    import socketserver

    class Echo(socketserver.BaseRequestHandler):
        def handle(self):
            while data := self.request.recv(65536):
                self.request.sendall(data)

    class Server(socketserver.ThreadingTCPServer):
        address_family, allow_reuse_address, daemon_threads = socket.AF_INET6, True, True

    with Server(("::", int(port)), Echo) as server:
        server.serve_forever()


def http_get(sock, host, path):
    sock.sendall(("GET %s HTTP/1.0\r\nHost: %s\r\n\r\n" % (path, host)).encode())
    head, _, body = read_all(sock).partition(b"\r\n\r\n")
    return body.split(b"\n")[0].decode() if head.startswith(b"HTTP/1.1 200") else head.split(b"\r\n")[0].decode() or "end"


def get(host, port="80", header=None, path="/"):
    try:
        return http_get(dial(host, port), header or host, path)
    except BrokenPipeError:
        return "ECONNRESET"


def hello(host, port="443", sni="same", header=None):
    """HTTPS, with any server name in its hello, or none."""
    context = ssl.create_default_context(cafile=os.environ.get("CA", "ca.pem"))
    context.check_hostname = False
    sni = {"same": host, "none": None}.get(sni, sni)
    return http_get(context.wrap_socket(dial(host, port), server_hostname=sni), header or host, "/")


def name(host, family="0", flags="0"):
    """The number of addresses of each family."""
    found = {a[0] for a in look_up(host, 0, int(family), flags=int(flags))}
    return " ".join(sorted({socket.AF_INET: "v4", socket.AF_INET6: "v6"}[f] for f in found))


def udp(host, port, text="x"):
    """A datagram on a connected socket, which hears of refusals."""
    af, kind, proto, _, address = look_up(host, port, kind=socket.SOCK_DGRAM)[0]
    sock = socket.socket(af, kind, proto)
    sock.settimeout(TIMEOUT)
    sock.connect(address)
    sock.send(text.encode())
    return "ok" if sock.recv(2000) == text.encode() else "odd"


def ask(server, question="allowed.test", qtype="1", protocol="udp"):
    """A DNS query to any server: the answer's code, and what kind of address came."""
    labels = b"".join(bytes([len(p)]) + p.encode("latin-1") for p in question.split("."))
    query = b"\x12\x34\x01\x00\0\1\0\0\0\0\0\0" + labels + b"\0" + int(qtype).to_bytes(2, "big") + b"\0\1"
    kind = socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM
    af, kind, proto, _, address = look_up(server, 53, kind=kind)[0]
    sock = socket.socket(af, kind, proto)
    sock.settimeout(TIMEOUT)
    sock.connect(address)
    if protocol == "udp":
        sock.send(query)
        data = sock.recv(4096)
    else:
        sock.sendall(len(query).to_bytes(2, "big") + query)
        data = sock.recv(4096)[2:]
    code = {0: "ok", 1: "formerr", 2: "servfail", 3: "nxdomain", 4: "notimp", 5: "refused"}[data[3] & 15]
    if code != "ok" or not data[7]:
        return code if code != "ok" else "nodata"
    if qtype == "1":
        return "synthetic" if data[-4:-2] == bytes([198, 18]) else "real " + socket.inet_ntoa(data[-4:])
    if qtype == "28":
        return "synthetic" if data[-16:-12] == b"\xfd\x53\xb0\xc5" else "real"
    return "data"


def half_close(host, size):
    """All of it up, the end, and then the answer down."""
    sock = dial(host, 1003)
    block, total = bytes(range(256)) * 256, hashlib.sha256()
    for _ in range(int(size) // len(block)):
        sock.sendall(block)
        total.update(block)
    sock.shutdown(socket.SHUT_WR)
    return "same" if read_all(sock).decode().split() == [size, total.hexdigest()] else "differs"


def round_trip(host, size):
    """Both ways at once, without ever waiting for the other."""
    import threading

    sock, size = dial(host, 7), int(size)
    sent, received, got = hashlib.sha256(), hashlib.sha256(), 0

    def send():
        for i in range(size // 65536):
            block = hashlib.sha256(str(i).encode()).digest() * 2048
            sent.update(block)
            sock.sendall(block)
        sock.shutdown(socket.SHUT_WR)

    thread = threading.Thread(target=send)
    thread.start()
    while part := sock.recv(65536):
        received.update(part)
        got += len(part)
    thread.join()
    return "same" if (got, received.digest()) == (size, sent.digest()) else "differs: %d" % got


def slow_reader(host, size):
    """A small buffer and pauses: nothing may be lost."""
    sock, total = socket.socket(socket.AF_INET), 0
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect((socket.gethostbyname(host), 80))
    sock.sendall(("GET /bytes/%s HTTP/1.0\r\nHost: x\r\n\r\n" % size).encode())
    while part := sock.recv(3000):
        total += len(part)
        if total % 7 == 0:
            time.sleep(0.002)
    return "all" if total > int(size) else "only %d" % total


def cut(host):
    """A download that the server resets half-way must not look complete."""
    sock = dial(host, 1006)
    try:
        return "complete with %d" % len(read_all(sock))
    except ConnectionResetError:
        return "reset"


def turned_down(host):
    """An answer that is followed by a reset at once must be there all the same."""
    sock = dial(host, 1007)
    sock.sendall(b"a large upload")
    return sock.recv(100).decode().splitlines()[0]


def first_line(host, port):
    return dial(host, port).recv(100).decode().strip()


def abort(host):
    """An end without a goodbye."""
    sock = dial(host, 7)
    sock.sendall(b"x")
    sock.recv(1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    sock.close()
    return "aborted"


def crowd(host, number):
    """So many at once, each with a word of its own."""
    socks = [dial(host, 7) for _ in range(int(number))]
    for i, sock in enumerate(socks):
        sock.sendall(b"word %d" % i)
    return "%d ok" % sum(sock.recv(100) == b"word %d" % i for i, sock in enumerate(socks))


def own_server(host, port):
    """The same port outside, then inside too, at each of our own addresses, then outside again."""
    import threading

    def answer(sock):
        while True:
            sock.accept()[0].sendall(b"inside")

    said = [raw(host, port)]
    for family, address in (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::"):
        sock = socket.socket(family)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind((address, int(port)))
        sock.listen()
        threading.Thread(target=answer, args=[sock], daemon=True).start()
    for address in "127.0.0.1", "198.18.0.2", "::1", "fd53:b0c5::2":
        said.append(dial(address, port).recv(10).decode())
    said.append(raw(host, port))
    return " ".join("outside" if word.startswith("hello at") else word for word in said)


def unread_reasons(host, number):
    """Refusals that are explained to somebody who does not listen; others go on meanwhile."""
    socks = [dial(host, 80) for _ in range(int(number))]
    start = time.monotonic()
    result = echo("allowed.test", 7)
    quick = "quick" if time.monotonic() - start < LATE else "slow"
    return "%d told, %s" % (len(socks), quick if result == "ok" else result)


def unix(path):
    """A Unix socket; @NAME is an abstract one."""
    sock = socket.socket(socket.AF_UNIX)
    sock.connect("\0" + path[1:] if path[0] == "@" else path)
    return "connected"


def listen(path, log):
    """The other side: writes down who was asked, and hangs up."""
    sock = socket.socket(socket.AF_UNIX)
    if path[0] == "@":
        sock.bind("\0" + path[1:])
        sock.listen()
    else:  # its name is there once somebody listens
        sock.bind(path + ".new")
        sock.listen()
        os.rename(path + ".new", path)
    while True:
        peer = sock.accept()[0]
        with open(log, "a", encoding="ascii") as file:
            file.write(path + "\n")
        peer.close()


def connect_soon(host, port):
    """Within two seconds, or never."""
    global TIMEOUT
    TIMEOUT = 2
    return connect(host, port)


def pause(up, go):
    """Says that all before is done, and waits for leave to go on."""
    with open(up, "w", encoding="ascii") as file:
        file.write("up\n")
    with open(go, encoding="ascii") as file:
        file.read()
    return "-"


def outcome(probe):
    verb, _, args = probe.partition(":")
    start = time.monotonic()
    try:
        result = globals()[verb](*args.split(",") if args else [])
    except socket.gaierror as e:
        names = {socket.EAI_NONAME: "EAI_NONAME", socket.EAI_AGAIN: "EAI_AGAIN", socket.EAI_NODATA: "EAI_NODATA"}
        result = names.get(e.errno, "EAI %d" % e.errno)
    except TimeoutError as e:
        result = errno.errorcode[e.errno] if e.errno else "timeout"
    except ssl.SSLError as e:
        result = "SSL " + str(e.reason)
    except OSError as e:
        result = errno.errorcode[e.errno] if e.errno else repr(e)
    if time.monotonic() - start >= LATE and verb not in WORK:
        result += " (late)"
    return result


def run(probe):
    print(outcome(probe), flush=True)


if __name__ == "__main__":
    at_once = int(os.environ.get("PROBE_AT_ONCE", "0"))  # so many of the last ones, so that they wait together
    for argument in sys.argv[1:len(sys.argv) - at_once]:
        run(argument)
    if at_once:
        import concurrent.futures

        with concurrent.futures.ThreadPoolExecutor() as pool:
            for text in pool.map(outcome, sys.argv[-at_once:]):
                print(text, flush=True)
