#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""path_race.py DIR ROUNDS: makes names in DIR, by calls whose path another process changes meanwhile, between 'xgit' and '.git'. What is
moved there would be a repository with a program in its configuration. Prints how often a call succeeded, which it does."""
import ctypes
import mmap
import os
import shutil
import signal
import sys

top, rounds = sys.argv[1], int(sys.argv[2])
libc = ctypes.CDLL(None, use_errno=True)
os.makedirs(top)
shared = mmap.mmap(-1, 4096)
path = ctypes.c_char.from_buffer(shared)
flip = len(top) + 1


def name():
    shared[:flip + 5] = f"{top}/xgit".encode() + b"\0"


def full():
    os.makedirs(f"{top}/full/objects")
    os.makedirs(f"{top}/full/refs")
    for file, text in (("HEAD", "ref: refs/heads/x\n"), ("config", "[core]\n\tfsmonitor = touch /tmp/ran\n")):
        with open(f"{top}/full/{file}", "w", encoding="ascii") as f:
            f.write(text)


def write(fd):
    if fd >= 0:
        os.write(fd, b"gitdir: full\n")
        os.close(fd)
    return min(fd, 0)


CALLS = (lambda: libc.mkdir(ctypes.byref(path), 0o755), lambda: write(libc.open(ctypes.byref(path), os.O_CREAT | os.O_WRONLY, 0o644)),
         lambda: libc.rename(f"{top}/full".encode(), ctypes.byref(path)), lambda: libc.symlink(b"full", ctypes.byref(path)),
         lambda: libc.link(f"{top}/full/HEAD".encode(), ctypes.byref(path)))
name()
us, done = os.getpid(), 0
flipper = os.fork()
while flipper == 0 and os.getppid() == us:
    shared[flip] = ord(".") if shared[flip] == ord("x") else ord("x")
if flipper == 0:
    os._exit(0)
for i in range(rounds):
    for call in CALLS:
        if not os.path.exists(f"{top}/full"):
            full()
        done += call() == 0
        for left in ("xgit", ".git"):
            place = f"{top}/{left}"
            if os.path.islink(place) or os.path.isfile(place):
                os.unlink(place)
            elif i + 1 < rounds:
                shutil.rmtree(place, ignore_errors=True)
os.kill(flipper, signal.SIGKILL)
print("some" if done > rounds else f"only {done}")
