# SPDX-License-Identifier: MIT
"""What connect.py and datagram.py share: results as words, and a thread that changes what a call means while it is made."""
import contextlib
import ctypes
import errno
import socket
import struct
import sys
import threading

LIBC = ctypes.CDLL(None, use_errno=True)


class Interrupted(Exception):
    """Raised by a signal's handler."""


def result_of(function):
    """What it returned, or the errno's name."""
    try:
        return function()
    except OSError as failed:
        return errno.errorcode.get(failed.errno, failed.errno)


def say(name, function):
    print(f"{name}: {result_of(function)}", flush=True)


def address_of(path):
    return struct.pack("H", socket.AF_UNIX) + path.encode() + b"\0"


@contextlib.contextmanager
def turning(turn):
    """Calls turn(True), turn(False) and so on in another thread as long as the block runs."""
    stop = threading.Event()

    def loop():
        odd = False
        while not stop.is_set():
            odd = not odd
            turn(odd)

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def main(cases, attempt, serve, swap):
    """The four modes of both programs; an attempt prints "ok", or the errno's name."""
    mode, rest = sys.argv[1], sys.argv[2:]
    if mode == "try":
        print(result_of(lambda: attempt(*rest) and "ok"))
    else:
        {"cases": cases, "serve": serve, "swap": swap}[mode](*rest)
