#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What UNIX datagram sockets do, a line for each case, so that a run outside and one inside can be compared.

    datagram.py cases DIR             with sockets of its own in DIR
    datagram.py try HOW PATH TEXT     sends TEXT by connect, sendto, sendmsg or sendmmsg: "ok", or the errno's name
    datagram.py serve PATH            prints what comes, a line each, until its input ends; "ready" when it is there
    datagram.py swap HOW OPEN SHUT TEXT
                                      sends TEXT to OPEN while another thread makes the call mean SHUT, if it can
"""
import array
import ctypes
import os
import select
import signal
import socket
import struct
import sys
import threading
import time

from sockets import LIBC, Interrupted, address_of, main, say, turning

ROUNDS = 2000
ENOUGH = 200  # however slow they are


class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class Mmsghdr(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint32), ("iov", ctypes.POINTER(Iovec)),
                ("iovlen", ctypes.c_size_t), ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t),
                ("flags", ctypes.c_int), ("done", ctypes.c_uint)]


def datagram(path=None):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    if path is not None:
        sock.bind(path)
    return sock


def sendmmsg(sock, path, texts, control=b""):
    name = address_of(path)
    heads = (Mmsghdr * len(texts))()
    parts = [Iovec(ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p), len(text)) for text in texts]
    for head, part in zip(heads, parts):
        head.name, head.namelen = ctypes.cast(ctypes.c_char_p(name), ctypes.c_void_p), len(name)
        head.iov, head.iovlen = ctypes.pointer(part), 1
        head.control, head.controllen = ctypes.cast(ctypes.c_char_p(control), ctypes.c_void_p), len(control)
    sent = LIBC.sendmmsg(sock.fileno(), heads, len(texts), 0)
    if sent < 0:
        raise OSError(ctypes.get_errno(), "sendmmsg")
    return sent, [head.done for head in heads[:sent]]


def send(how, sock, path, text):
    if how == "connect":
        sock.connect(path)
        sock.send(text)
    elif how == "sendto":
        sock.sendto(text, path)
    elif how == "sendmsg":
        sock.sendmsg([text[:1], text[1:]], [], 0, path)
    else:
        sendmmsg(sock, path, [text])


def between(server, path):
    """Both ways, with addresses, in each way of sending and receiving."""
    client = datagram(path + "-client")
    for how in "sendto", "sendmsg", "sendmmsg":
        send(how, client, path, b"ask by " + how.encode())
        say(f"{how}, recvfrom", lambda: server.recvfrom(99) == (b"ask by " + how.encode(), path + "-client"))
    client.sendto(b"again", path)
    text, _, flags, sender = server.recvmsg(2)
    say("recvmsg, cut off", lambda: (text, flags & socket.MSG_TRUNC != 0, sender == path + "-client"))
    say("an answer", lambda: (server.sendto(b"yes", path + "-client"), client.recvfrom(9) == (b"yes", path)))
    nobody = datagram()
    nobody.sendto(b"x", path)
    say("without a name", lambda: server.recvfrom(9)[0])
    nobody.connect(path)
    for text in b"one", b"", b"three":
        nobody.send(text)
    say("connected", lambda: [server.recv(9) for _ in range(3)])
    os.write(nobody.fileno(), b"written")
    say("written", lambda: os.read(server.fileno(), 99))
    client.connect(path)
    server.connect(path + "-client")
    say("to who talks to another", lambda: nobody.sendto(b"x", path))
    server.send(b"a")
    say("connected both ways", lambda: client.recv(9))


def errors(directory, path):
    sock = datagram()
    say("to nobody", lambda: sock.sendto(b"x", path + "-absent"))
    say("to a file", lambda: sock.sendto(b"x", "/etc/passwd"))
    say("to a directory", lambda: sock.connect(directory))
    say("to an empty name", lambda: sock.sendto(b"x", ""))
    say("bound twice", lambda: (sock.bind(path + "-b"), sock.bind(path + "-c")))
    say("a name that is taken", lambda: datagram(path + "-b"))
    say("a name in no directory", lambda: datagram(path + "-absent/x"))
    sock.close()
    say("to who is gone", lambda: datagram().sendto(b"x", path + "-b"))
    say("too long", lambda: datagram().sendto(bytes(1 << 20), path))
    say("of another protocol", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM, 17))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path + "-stream")
    listener.listen()
    say("to a stream", lambda: datagram().connect(path + "-stream"))
    say("raw is the same", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_RAW).sendto(b"raw", path))


def abstract():
    name = f"\0wrapix-test-{os.getpid()}"
    server, client = datagram(name), datagram("")
    client.sendto(b"hidden", name)
    text, sender = server.recvfrom(99)
    say("abstract", lambda: (text, len(sender)))
    say("abstract, an answer", lambda: (server.sendto(b"back", sender), client.recv(9)))
    say("abstract, taken", lambda: datagram(name))
    say("abstract and not there", lambda: client.sendto(b"x", name + "-absent"))


def waiting(server, path):
    server.setblocking(False)
    say("nothing there", lambda: server.recvfrom(9))
    server.setblocking(True)
    threading.Timer(0.2, lambda: datagram().sendto(b"late", path)).start()
    say("waited for", lambda: server.recvfrom(9)[0])
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 200000))
    say("waited for in vain", lambda: server.recvfrom(9))
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 0))

    def handler(*_):
        raise Interrupted

    signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        server.recvfrom(9)
        print("a signal: none")
    except Interrupted:
        print("a signal: interrupted")
    poll = select.poll()
    poll.register(server, select.POLLIN)
    threading.Timer(0.2, lambda: datagram().sendto(b"seen", path)).start()
    say("poll", lambda: (len(poll.poll(60000)), server.recvfrom(9)[0]))


def full(server, path):
    """More than there is room for, so that the sender waits until somebody reads."""
    many = 2000
    seen = []

    def read():
        while len(seen) < many:
            seen.append(server.recvfrom(99)[0])

    reader = threading.Timer(0.2, read)
    reader.start()
    sock = datagram()
    for i in range(many // 2):
        sock.sendto(b"%d" % i, path)
    sock.connect(path)
    for i in range(many // 2, many):
        sock.send(b"%d" % i)
    reader.join()
    say("a full queue", lambda: seen == [b"%d" % i for i in range(many)])


def rights(server, path):
    read, write = os.pipe()
    sock = datagram()
    control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [write]))]
    for name, target in ("by name", path), ("connected", None):
        if target is None:
            sock.connect(path)
        for receive in "recvmsg", "recv_fds":
            sock.sendmsg([b"take"], control, 0, *([target] if target else []))
            if receive == "recvmsg":
                _, got, _, _ = server.recvmsg(9, socket.CMSG_SPACE(4))
                fd = struct.unpack("i", got[0][2])[0]
            else:
                fd = socket.recv_fds(server, 9, 1)[1][0]
            os.write(fd, b"through")
            os.close(fd)
            say(f"a descriptor, {name}, {receive}", lambda: os.read(read, 99))


def crooked(path):
    """Control data with a wrong length, of a kind that is known and of one that is not, behind some that is right."""
    for length in 0, 15, 16, 17, 64, 1 << 40, 2 ** 64 - 16, 2 ** 64 - 1:
        for kind in (socket.SOL_SOCKET, socket.SCM_RIGHTS), (7, 7):
            control = struct.pack("Nii", 16, 7, 7) + struct.pack("Nii8x", length, *kind)
            say(f"a length of {length:#x} in control data of {kind[0]}", lambda: sendmmsg(datagram(), path, [b"x"], control))


def cases(directory):
    path = os.path.join(directory, "d")
    server = datagram(path)
    say("it is there", lambda: (os.stat(path).st_mode & 0o170000) == 0o140000)
    between(server, path)
    server.close()
    os.unlink(path)
    server = datagram(path)
    errors(directory, path)
    say("raw came", lambda: server.recv(9))
    abstract()
    waiting(server, path)
    full(server, path)
    rights(server, path)
    crooked(path)
    while select.select([server], [], [], 0)[0]:
        server.recv(9)
    os.chdir(directory)
    os.symlink("d", "d-link")
    say("relative, by a link", lambda: (datagram().sendto(b"linked", "d-link"), server.recv(9)))
    if os.fork() == 0:
        server.sendto(b"from the child", path)
        os._exit(0)
    os.wait()
    say("a child's", lambda: server.recvfrom(99) == (b"from the child", path))


def serve(path):
    server = datagram(path)

    def read():
        while True:
            print(server.recv(99).decode(), flush=True)

    threading.Thread(target=read, daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()


def swap(how, open_path, shut_path, text):
    """While the main thread sends, another changes what the call means."""
    text = text.encode()
    shut, good = address_of(shut_path), address_of(open_path)
    length = max(len(shut), len(good))
    buffer = ctypes.create_string_buffer(112)
    ctypes.memmove(buffer, good, len(good))
    sock = datagram()
    sock.setblocking(False)
    number = os.dup2(sock.fileno(), 700)

    def turn(odd):
        if how == "address":
            one = shut if odd else good
            ctypes.memmove(buffer, one, len(one))
        else: # a socket of another kind in between
            other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM) if odd else datagram()
            os.dup2(other.fileno(), number)
            other.close()

    if how == "descriptor":
        ctypes.memmove(buffer, shut, len(shut))
    begin = time.monotonic()
    sent = 0
    with turning(turn):
        while sent < ROUNDS and (sent < ENOUGH or time.monotonic() - begin < 5):
            LIBC.sendto(number, text, len(text), 0, buffer, length)
            sent += 1


def attempt(how, path, text):
    send(how, datagram(), path, text.encode())
    return True


if __name__ == "__main__":
    main(cases, attempt, serve, swap)
