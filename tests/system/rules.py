# SPDX-License-Identifier: MIT
"""Both sides of rules.sh: programs inside that hold and try connections, and clients of the control socket.

    hold NAME ...       inside: connections that stay open; what became of each, when the line END comes
    try SHARED          inside: connects until all changes are made, and compares with the rules of the moment
    change SHARED DIR   outside: 1,000 changes through the control socket in DIR
    send DIR TEXT ...   outside: requests on one connection; a line for each reply. @FILE is a file's content
    crowd DIR N         outside: N clients that say nothing, then one that asks
"""
import errno
import json
import mmap
import os
import socket
import sys
import time

CHANGES = 1000
# In even states the first two may be reached, in odd ones the third. The last never.
EVEN, ODD, NEVER = ["allowed.test:7", "198.51.100.30:7"], ["wild.test:7"], ["other.test:7", "198.51.100.20:7"]


def target(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


def connect(address):
    sock = socket.create_connection(address, timeout=10)
    sock.settimeout(10)
    return sock


def reaches(address):
    """A word there and back: without the packet queue a refused connection is reset on its first use."""
    try:
        with connect(address) as sock:
            sock.sendall(b"ping")
            return sock.recv(4) == b"ping"
    except TimeoutError:
        raise  # the filter refuses at once
    except OSError:
        return False


def hold(*names):
    socks = {name: connect(target(name)) for name in names}
    for sock in socks.values():
        sock.sendall(b"ping")
        assert sock.recv(4) == b"ping"
    print("open", flush=True)
    for line in sys.stdin:
        said = []
        for name, sock in socks.items():
            try:
                if line.split()[0] == "END":
                    sock.sendall(b"more")
                said.append("open" if sock.recv(4) else "end")
            except OSError as e:
                # Whoever writes on a connection that was reset before he looked hears of a broken pipe.
                said.append({errno.EPIPE: "reset", errno.ECONNRESET: "reset"}.get(e.errno, str(e)))
        print(" ".join(said), flush=True)


class Shared:
    """Two numbers that both sides see: changes begun and made (odd while one is under way), and attempts made."""

    def __init__(self, path):
        with open(path, "r+b") as file:
            # Each is read and written in one go.
            self.numbers = memoryview(mmap.mmap(file.fileno(), 16)).cast("Q")

    def get(self, i):
        return self.numbers[i]

    def put(self, i, value):
        self.numbers[i] = value


def attempt(shared, text, known):
    """What came of it, and what the rules before and after said."""
    before = shared.get(0)
    try:
        if text not in known:
            known[text] = socket.getaddrinfo(*target(text), type=socket.SOCK_STREAM)[0][4][:2]
        got = reaches(known[text])
    except socket.gaierror:
        got = False
    after = shared.get(0)
    # The states whose rules were in force, at least as the new ones or the old ones of a change, meanwhile.
    states = range(before // 2, (after + 1) // 2 + 1)
    allowed = {text in (EVEN, ODD)[state % 2] for state in states}
    shared.put(1, shared.get(1) + 1)
    return got, allowed


def try_all(path):
    shared, known, i = Shared(path), {}, 0
    counts = {"open": 0, "shut": 0, "between": 0, "wrong": 0}
    texts = EVEN + ODD + NEVER
    while shared.get(0) < 2 * CHANGES and i < 200000:
        text = texts[i % len(texts)]
        i += 1
        got, allowed = attempt(shared, text, known)
        if i % 7 == 0:
            known.clear()  # ask again
        if got not in allowed:
            counts["wrong"] += 1
            print("wrong: %s %s, at %d" % (text, "reached" if got else "refused", shared.get(0)), flush=True)
        elif len(allowed) == 2:
            counts["between"] += 1
        else:
            counts["open" if got else "shut"] += 1
    print(json.dumps(counts), flush=True)


def door(dir_):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    fd = os.open(dir_, os.O_PATH)
    while True:  # it opens a second after the start; the test has an end of its own
        try:
            sock.connect("/proc/self/fd/%d/control" % fd)
            break
        except FileNotFoundError:
            time.sleep(0.01)
    os.close(fd)
    sock.settimeout(10)
    return sock


def ask(sock, text):
    try:
        sock.send(text)
    except BrokenPipeError:
        pass  # it was answered before it was asked
    return sock.recv(65536)


def change(path, dir_):
    """Half of the changes wait until somebody has tried under them; the others come at once."""
    shared, sock = Shared(path), door(dir_)
    for i in range(CHANGES):
        now, not_now = (EVEN, ODD) if i % 2 else (ODD, EVEN)
        shared.put(0, 2 * i + 1)
        reply = json.loads(ask(sock, json.dumps({"allow": now, "deny": not_now}).encode()))
        if reply != {"ok": True}:
            sys.exit(str(reply))
        shared.put(0, 2 * i + 2)
        seen, end = shared.get(1), time.monotonic() + 10
        while i % 4 < 2 and shared.get(1) < seen + 6 and time.monotonic() < end:
            os.sched_yield()
    print("made %d changes" % CHANGES)


def say(sock, text):
    data = text.encode("latin-1").decode("unicode_escape").encode("latin-1")
    if text[0:1] == "@":
        with open(text[1:], "rb") as file:
            data = file.read()
    try:
        reply = ask(sock, data)
    except OSError as e:
        return errno.errorcode[e.errno] if e.errno else repr(e)
    return reply.decode() or "closed"


def send(dir_, *texts):
    try:
        sock = door(dir_)
    except OSError as e:
        print(errno.errorcode[e.errno])
        return
    for text in texts:
        print(say(sock, text), flush=True)


def crowd(dir_, number):
    socks = [door(dir_) for _ in range(int(number))]
    print(say(socks[-1], "{}"), say(door(dir_), "{}"))


if __name__ == "__main__":
    {"hold": hold, "try": try_all, "change": change, "send": send, "crowd": crowd}[sys.argv[1]](*sys.argv[2:])
