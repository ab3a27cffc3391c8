#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What connect(2) does, a line for each case, so that a run outside and one inside can be compared.

    connect.py cases DIR              every error and every kind of waiting, with sockets of its own in DIR
    connect.py try PATH               one connection: "ok", or the errno's name
    connect.py serve PATH WORD        answers each connection with WORD, until its input ends; "ready" when it is there
    connect.py swap HOW OPEN SHUT DIR makes the kernel see SHUT where a judge saw OPEN, if it can; prints who answered
"""
import ctypes
import errno
import os
import signal
import socket
import struct
import sys
import threading
import time

from sockets import LIBC, Interrupted, address_of, main, result_of, say, turning

ROUNDS = 3000


def unix(path, blocking=True):
    sock = socket.socket(socket.AF_UNIX)
    sock.setblocking(blocking)
    sock.connect(path)
    return sock


def raw(fd, address, length):
    result = LIBC.connect(fd, address, length)
    return errno.errorcode[ctypes.get_errno()] if result else 0


def odd(sock, address):
    return raw(sock.fileno(), address, len(address))


def timed(function, least, most):
    begin = time.monotonic()
    result = result_of(function)
    took = time.monotonic() - begin
    return f"{result}, {'in time' if least <= took <= most else f'after {took:.3f} s'}"


def full_inet():
    """A listener whose queue is full: the next connection is under way for ever."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    held = [listener]
    for _ in range(4):
        sock = socket.socket()
        sock.setblocking(False)
        sock.connect_ex(listener.getsockname())
        held.append(sock)
    return held


def limit(sock, microseconds):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, microseconds))
    return sock


def inet_cases():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(9)
    address = listener.getsockname()

    def talk():
        sock = socket.create_connection(address)
        peer = listener.accept()[0]
        sock.send(b"x")
        return peer.recv(1), sock.getpeername() == address, sock.getblocking()

    def twice():
        sock = socket.create_connection(address)
        sock.connect(address)

    def disconnect():
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.connect(address)
        result = raw(sock.fileno(), bytes(16), 16)
        try:
            return result, sock.getpeername()
        except OSError as failed:
            return result, errno.errorcode[failed.errno]

    def not_blocking():
        sock = socket.socket()
        sock.setblocking(False)
        first = sock.connect_ex(("127.0.0.1", 9))
        return errno.errorcode[first] in ("EINPROGRESS", "ECONNREFUSED"), sock.getblocking()

    say("inet", talk)
    say("inet, refused", lambda: socket.create_connection(("127.0.0.1", 9)))
    say("inet, refused and then not", lambda: (raw_refused_then(address),))
    say("inet, not blocking", not_blocking)
    say("inet, connected already", twice)
    say("inet, an end of it", disconnect)
    say("inet, of another family", lambda: odd(socket.socket(), struct.pack("H14x", 44)))
    held = full_inet()
    say("inet, with a limit", lambda: timed(
        lambda: limit(socket.socket(), 200000).connect(held[0].getsockname()), 0.1, 20))
    say("inet, a signal", lambda: timed(lambda: interrupted(held[0].getsockname()), 0.1, 20))


def raw_refused_then(address):
    """A socket that was refused can be used again."""
    sock = socket.socket()
    try:
        sock.connect(("127.0.0.1", 9))
    except ConnectionRefusedError:
        sock.connect(address)
    return sock.getpeername() == address


def interrupted(address):
    def handler(*_):
        raise Interrupted

    signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        socket.socket().connect(address)
        return "connected"
    except Interrupted:
        return "interrupted"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def fault_cases():
    sock = socket.socket()
    say("no descriptor", lambda: raw(999, bytes(16), 16))
    say("no socket", lambda: raw(0, struct.pack("H14x", 2), 16))
    say("no address", lambda: raw(sock.fileno(), ctypes.c_void_p(8), 16))
    say("too long", lambda: raw(sock.fileno(), bytes(300), 300))
    say("too short", lambda: raw(sock.fileno(), struct.pack("H", 2), 2))
    say("of a negative length", lambda: raw(sock.fileno(), bytes(16), -1))


def unix_cases(directory):
    path = os.path.join(directory, "s")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(50)
    os.symlink("s", path + "-link")
    say("unix", lambda: unix(path).getpeername() == path)
    say("unix, by a link", lambda: bool(unix(path + "-link")))
    say("unix, by a descriptor", lambda: bool(unix(f"/proc/self/fd/{os.open(directory, os.O_RDONLY)}/s")))
    os.chdir(directory)
    say("unix, relative", lambda: bool(unix("s")))
    say("unix, relative and up", lambda: bool(unix(f"../{os.path.basename(directory)}/s")))
    say("unix, not there", lambda: unix(path + "-absent"))
    say("unix, a file that is none", lambda: unix("/etc/passwd"))
    say("unix, a directory", lambda: unix(directory))
    say("unix, empty", lambda: odd(socket.socket(socket.AF_UNIX), struct.pack("H", 1)))
    say("unix, of another family", lambda: odd(socket.socket(socket.AF_UNIX), struct.pack("H14x", 2)))
    say("unix, of another kind", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect(path))
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind(f"\0wrapix-test-{os.getpid()}")
    abstract.listen(1)
    say("unix, abstract", lambda: bool(unix(f"\0wrapix-test-{os.getpid()}")))
    say("unix, abstract and not there", lambda: unix("\0wrapix-test-absent"))
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    pair[0].send(b"ab")
    pair[0].send(b"cd")
    say("a pair that keeps messages apart", lambda: (pair[1].recv(9), pair[1].recv(9)))
    full_unix(directory)


def full_unix(directory):
    path = os.path.join(directory, "full")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(0)
    held = unix(path)
    say("unix, a full queue", lambda: unix(path, False))
    say("unix, a full queue and a limit", lambda: timed(
        lambda: limit(socket.socket(socket.AF_UNIX), 200000).connect(path), 0.1, 20))

    def emptied():
        threading.Timer(0.2, listener.accept).start()
        return bool(unix(path))

    say("unix, a full queue that empties", lambda: timed(emptied, 0.1, 20))
    held.close()


def serve(path, word):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)

    def answer():
        while True:
            peer = listener.accept()[0]
            try:
                peer.send(word.encode())
            except OSError:
                pass
            peer.close()

    threading.Thread(target=answer, daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()


def swap(how, open_path, shut_path, directory):
    """While the main thread connects, another changes what the call means."""
    buffer = ctypes.create_string_buffer(112)
    shut, good = address_of(shut_path), address_of(open_path)
    link = os.path.join(directory, "turns")
    target = address_of(link) if how == "link" else good
    ctypes.memmove(buffer, target, len(target))
    number = os.dup(0)

    def turn(odd):
        if how == "address":
            one = shut if odd else good
            ctypes.memmove(buffer, one, len(one))
        elif how == "link":
            os.symlink(shut_path if odd else open_path, link + "-new")
            os.rename(link + "-new", link)
        else:
            other = socket.socket(socket.AF_UNIX if odd else socket.AF_INET)
            os.dup2(other.fileno(), number)
            other.close()

    if how == "descriptor":
        ctypes.memmove(buffer, shut, len(shut))
    answers = set()
    with turning(turn):
        for _ in range(ROUNDS):
            sock = socket.socket(socket.AF_UNIX)
            fd = number if how == "descriptor" else sock.fileno()
            if LIBC.connect(fd, buffer, max(len(shut), len(target))) == 0:
                answers.add(os.read(fd, 9).decode() if how != "descriptor" else "shut")
            sock.close()
    print(" ".join(sorted(answers - {""})))


def cases(directory):
    fault_cases()
    inet_cases()
    unix_cases(directory)


if __name__ == "__main__":
    main(cases, unix, serve, swap)
