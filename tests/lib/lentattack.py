# SPDX-License-Identifier: MIT
"""What a program inside of 'wrapix run' tries at the door of 'wrapix exec', and at the process behind it.

	lentattack.py WHAT [ARGUMENT...]

Prints one line: what became of it.
"""
import array
import ctypes
import errno
import json
import os
import signal
import socket
import struct
import subprocess
import sys

DOOR = "/etc/wrapix/exec"
SO_PASSPIDFD, SCM_PIDFD = 76, 4
SYS = {"x86_64": (424, 438), "aarch64": (424, 438)}[os.uname().machine]  # pidfd_send_signal, pidfd_getfd
libc = ctypes.CDLL(None, use_errno=True)


def knock():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(50)
    s.setsockopt(socket.SOL_SOCKET, SO_PASSPIDFD, 1)
    s.connect(DOOR)
    return s


def lines(s):
    text = b""
    try:
        while data := s.recv(65536):
            text += data
    except ConnectionResetError:
        pass  # it did not read all that we have said
    return [json.loads(line) for line in text.splitlines()]


def name(r):
    return "done" if r >= 0 else errno.errorcode[ctypes.get_errno()]


def pidfd_of(s):
    """The sender of the next message, as the kernel gives him to whoever asks."""
    while True:
        data, control, _, _ = s.recvmsg(65536, socket.CMSG_SPACE(4) * 4)
        for level, kind, value in control:
            if level == socket.SOL_SOCKET and kind == SCM_PIDFD:
                return struct.unpack("i", value)[0]
        if not data:
            sys.exit("no pidfd came")


def abuse(pidfd):
    """Takes a descriptor from it, and kills it."""
    got = [name(libc.syscall(SYS[1], pidfd, fd, 0)) for fd in range(300)]
    took = "done" if "done" in got else got[0]
    return f"{took} {name(libc.syscall(SYS[0], pidfd, signal.SIGKILL, None, 0))}"


def ask(argv, **more):
    s = knock()
    r, w = os.pipe()
    null = os.open("/dev/null", os.O_RDWR)
    request = {"argv": argv, "cwd": "/workspace", "env": dict(os.environ), **more}
    try:
        socket.send_fds(s, [json.dumps(request).encode() + b"\n"], [null, w, null])
    except BrokenPipeError:
        pass  # it has answered before it heard
    os.close(w)
    return s, r


def run(*argv):
    s, r = ask(list(argv))
    answer = lines(s)
    with os.fdopen(r) as f:
        print(f.read().strip() or answer)


def peer():
    s, _ = ask(["sh", "-c", "touch .bashrc; sleep 1000"])
    print(abuse(pidfd_of(s)))


def control():
    """The same with a process of our own: what would be possible."""
    a, b = socket.socketpair()
    a.setsockopt(socket.SOL_SOCKET, SO_PASSPIDFD, 1)
    pid = os.fork()
    if pid == 0:
        b.sendall(b"x")
        signal.pause()
    print(abuse(pidfd_of(a)))


def flood(n):
    held = [knock() for _ in range(int(n))]
    for s in held:
        s.close()
    print(len(held))


def garbage():
    for data in (b"\n", b"{}\n", b"[1]\n", b"\0" * 1000 + b"\n", b"x" * (5 << 20), b'{"argv":["true"],"nonsense":1}\n'):
        s = knock()
        try:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            while s.recv(65536):
                pass
        except OSError:
            pass
        s.close()
    print("sent")


def directory():
    """A directory as a descriptor would lead past the rules."""
    s = knock()
    fds = [os.open("/dev/null", os.O_RDWR)] * 3 + [os.open("/", os.O_RDONLY)]
    socket.send_fds(s, [json.dumps({"argv": ["true"], "env": dict(os.environ), "fds": [0, 1, 2, 9]}).encode() + b"\n"], fds)
    print(next(line["text"] for line in lines(s) if line["type"] == "error"))


INNER = """
import socket, sys
socket_, = socket.recv_fds(socket.socket(fileno=7), 9, 1)[1]
try:
    socket.socket(fileno=socket_).connect(chr(0) + sys.argv[1])
    print("connected")
except OSError as e:
    print(type(e).__name__)
"""


def abstract(address):
    """A socket of the outer network, connected in a command's place."""
    s = socket.socket(socket.AF_UNIX)
    ours, theirs = socket.socketpair()
    os.dup2(theirs.fileno(), 7)
    argv = ["wrapix", "exec", "--pass-fd", "7", "--", "python3", "-c", INNER, address]
    with subprocess.Popen(argv, pass_fds=[7]) as command:
        socket.send_fds(ours, [b"x"], [s.fileno()])
        command.wait()


def seen(*argv):
    """Processes whose command line begins with these words."""
    n = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                n += f.read().startswith("\0".join(argv).encode() + b"\0")
        except OSError:
            pass
    print(n)


globals()[sys.argv[1]](*sys.argv[2:])
