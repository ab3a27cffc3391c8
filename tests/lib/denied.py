#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Every call that asks about a name, without opening it: 'denied.py errno PATH...' prints those that say something else
# of a path than that errno (or go through, for 'none').
import errno
import os
import socket
import sys

import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")


def unix_connect(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)


CALLS = {
    "stat": os.stat,
    "lstat": os.lstat,
    "access": lambda p: checked(libc.access(p.encode(), os.F_OK)),
    "access r": lambda p: checked(libc.access(p.encode(), os.R_OK)),
    "faccessat": lambda p: checked(libc.faccessat(-100, p.encode(), os.F_OK, 0x200)),
    "statx": lambda p: checked(libc.statx(-100, p.encode(), 0, 0x7FF, ctypes.create_string_buffer(256))),
    "readlink": os.readlink,
    "statfs": os.statvfs,
    "listxattr": os.listxattr,
    "llistxattr": lambda p: os.listxattr(p, follow_symlinks=False),
    "getxattr": lambda p: os.getxattr(p, "user.none"),
    "open": lambda p: os.close(os.open(p, os.O_RDONLY)),
    "open path": lambda p: os.close(os.open(p, os.O_PATH)),
    "open directory": lambda p: os.close(os.open(p, os.O_DIRECTORY)),
    "chdir": os.chdir,
    "listdir": os.listdir,
    "exec": lambda p: os.execv(p, [p]),
    "inotify": lambda p: checked(libc.inotify_add_watch(libc.inotify_init(), p.encode(), 2)),
    "connect": unix_connect,
}

want = sys.argv[1]
for path in sys.argv[2:]:
    for name, call in CALLS.items():
        if name == "connect" and path.startswith("/proc/"):
            continue  # the supervisor connects, and knows no /proc of the caller's
        try:
            call(path)
            got = "none"
        except OSError as e:
            got = errno.errorcode.get(e.errno, str(e.errno))
        if got != want:
            print(f"{name} {path}: {got}")
