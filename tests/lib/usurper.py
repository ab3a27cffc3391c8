#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills the server of a program that uses libwrapix, and takes the name of its socket: usurper.py PID.

Says "ready", and then what comes: the client's request, or nothing."""

import os
import signal
import socket
import sys
import time

starter = int(sys.argv[1])


def parent(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return int(f.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def listeners():
    """The abstract names by the inodes of their sockets; the kernel's own ones have five digits."""
    with open("/proc/net/unix") as f:
        rows = [line.split() for line in f]
    return {row[6]: row[7][1:] for row in rows if len(row) == 8 and row[7].startswith("@") and len(row[7]) == 6}


def name_of(pid):
    sockets = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
    return next(name for inode, name in listeners().items() if f"socket:[{inode}]" in sockets)


server = next(int(pid) for pid in os.listdir("/proc") if pid.isdigit() and parent(pid) == starter)
name = name_of(server)
os.kill(server, signal.SIGKILL)
own = socket.socket(socket.AF_UNIX)
for _ in range(500):
    try:
        own.bind("\0" + name)
        break
    except OSError:
        time.sleep(0.01)
own.listen()
print("ready", flush=True)
client = own.accept()[0]
client.settimeout(20)
said, fds, _, _ = socket.recv_fds(client, 65536, 8)
print("heard", len(said), len(fds), flush=True)
