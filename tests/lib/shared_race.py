#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""shared_race.py IN OUT ROUNDS: changes files by names that begin at the working directory and at a descriptor, while a child that shares
both (CLONE_FS, CLONE_FILES) moves them between the two directories. Prints how often a call succeeded."""
import ctypes
import os
import signal
import sys

CLONE = 56 if os.uname().machine == "x86_64" else 220
CLONE_FS, CLONE_FILES = 0x200, 0x400
libc = ctypes.CDLL(None, use_errno=True)
inside, out = (os.open(d, os.O_RDONLY | os.O_DIRECTORY) for d in sys.argv[1:3])
at = 50
succeeded = 0


def move():
    while True:
        for fd in (inside, out):
            os.fchdir(fd)
            os.dup2(fd, at)


def make(name, dir_fd):
    fd = os.open(name, os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=dir_fd)
    os.write(fd, b"x")
    # The child may have put another one at its number meanwhile.
    os.close(fd)


def tried(call, *args, **kwargs):
    global succeeded
    try:
        call(*args, **kwargs)
        succeeded += 1
    except OSError:
        pass


os.fchdir(inside)
os.dup2(inside, at)
child = libc.syscall(CLONE, CLONE_FS | CLONE_FILES | signal.SIGCHLD, 0, 0, 0, 0)
if child == 0:
    move()
if child < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
for i in range(int(sys.argv[3])):
    one, two = f"a{i % 50}", f"b{i % 50}"
    tried(make, one, None)
    tried(make, two, at)
    tried(os.rename, one, two, dst_dir_fd=at)
    tried(os.mkdir, f"d{i}", dir_fd=at)
    tried(os.symlink, "x", f"s{i}", dir_fd=at)
    tried(os.link, two, f"l{i}", src_dir_fd=at)
    tried(os.chmod, "victim", 0o640, dir_fd=at)
    tried(os.truncate, "victim", 3)
    tried(os.unlink, "victim", dir_fd=at)
os.kill(child, signal.SIGKILL)
print(succeeded > 0)
