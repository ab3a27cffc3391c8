# SPDX-License-Identifier: MIT
"""TLS hellos of every kind, made by hand; the verbs are used as netprobe.py's are.

The result of a hello is "answered" when the server at the other end has seen it, whatever it thinks of it, and an
errno when the relay has cut the connection.
"""
import select
import socket
import struct
import sys
import time

import netprobe

HANDSHAKE, ALERT = 22, 21


def extension(kind, data):
    return struct.pack(">HH", kind, len(data)) + data


def sni(*names, kind=0):
    """One extension with these names; none for None."""
    entries = b"".join(struct.pack(">BH", kind, len(n)) + n for n in names)
    return extension(0, struct.pack(">H", len(entries)) + entries)


def client_hello(extensions, version=b"\x03\x03"):
    rest = [
        extension(10, b"\0\4\0\x1d\0\x17"),  # groups
        extension(11, b"\1\0"),  # point formats
        extension(13, b"\0\x06\4\3\5\3\x08\4"),  # signatures
    ]
    body = version + bytes(range(32)) + b"\0" + b"\0\4\xc0\x2b\xc0\x2c" + b"\1\0"
    both = b"".join([*extensions, *rest])
    body += struct.pack(">H", len(both) & 0xFFFF) + both
    return b"\1" + len(body).to_bytes(3, "big") + body


def records(hello, sizes=(16384,), kind=HANDSHAKE):
    """The hello in records of these sizes; the last size goes on to the end."""
    out, at, sizes = b"", 0, list(sizes)
    while at < len(hello):
        size = sizes.pop(0) if len(sizes) > 1 else sizes[0]
        part = hello[at : at + size]
        out += struct.pack(">BHH", kind, 0x0301, len(part)) + part
        at += size
    return out


def reaction(sock):
    first = sock.recv(1)
    if not first:
        return "end"
    return "answered" if first[0] in (HANDSHAKE, ALERT) else "odd %d" % first[0]


def send(host, data, pieces=0, port=443):
    sock = netprobe.dial(host, port)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        for at in range(0, len(data), pieces or len(data)):
            sock.sendall(data[at : at + (pieces or len(data))])
            if pieces:
                time.sleep(0.0005)  # each in a packet of its own
    except (BrokenPipeError, ConnectionResetError):
        return "ECONNRESET"
    return reaction(sock)


def text(name):
    return name.replace("\\0", "\0").encode("latin-1")


def plain(host, *names):
    """A hello with this name; several: a list of them; none: no such extension."""
    return send(host, records(client_hello([sni(*map(text, names))] if names else [])))


def twice(host, first, second):
    """The extension twice."""
    return send(host, records(client_hello([sni(text(first)), sni(text(second))])))


def odd_type(host, name):
    return send(host, records(client_hello([sni(text(name), kind=1)])))


def bytewise(host, name):
    """Each byte in a packet of its own."""
    return send(host, records(client_hello([sni(text(name))])), pieces=1)


def split(host, name, first="10", second="40"):
    """In three records, the cut within the name or wherever."""
    return send(host, records(client_hello([sni(text(name))]), (int(first), int(second), 16384)))


def tiny(host, name):
    """Records of one byte each."""
    return send(host, records(client_hello([sni(text(name))]), (1,)))


def big(host, name, size):
    """The name behind a padding that fills several records."""
    left, pad = int(size), []
    while left > 0:
        pad.append(extension(21, bytes(min(left, 65000))))
        left -= 65000
    return send(host, records(client_hello([*pad, sni(text(name))])))


def after_alert(host, name):
    """A warning first, which some servers pass over."""
    return send(host, records(b"\1\0", kind=ALERT) + records(client_hello([sni(text(name))])))


def after_empty(host, name):
    """An empty record first."""
    return send(host, struct.pack(">BHH", HANDSHAKE, 0x0301, 0) + records(client_hello([sni(text(name))])))


def lying(host, name, by):
    """The extension's length says something else."""
    ext = bytearray(sni(text(name)))
    ext[3] = (ext[3] + int(by)) & 255
    return send(host, records(client_hello([bytes(ext)])))


def second(host, first, later):
    """A hello for one name, and one for another in the same packet."""
    return send(host, records(client_hello([sni(text(first))])) + records(client_hello([sni(text(later))])))


def half(host, name):
    """Half of a hello, and silence."""
    data = records(client_hello([sni(text(name))]))
    return send(host, data[: len(data) // 2])


def half_among(host, name):
    """The same, while others come and go, several a second."""
    data = records(client_hello([sni(text(name))]))
    sock = netprobe.dial(host, "443")
    sock.sendall(data[: len(data) // 2])
    while not select.select([sock], [], [], 0.3)[0]:
        netprobe.dial(host, "443").close()
    return reaction(sock)


def silent(host, port="443"):
    """Not a word."""
    return reaction(netprobe.dial(host, port))


if __name__ == "__main__":
    for verb, value in list(globals().items()):
        if callable(value) and verb not in ("sni", "send"):
            netprobe.__dict__.setdefault("tls_" + verb, value)
    netprobe.TIMEOUT = 30
    for argument in sys.argv[1:]:
        netprobe.run("tls_" + argument)
