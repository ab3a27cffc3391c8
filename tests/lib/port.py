# SPDX-License-Identifier: MIT
"""A TCP port of 127.0.0.1 that is free, and that the kernel gives nobody by itself until it is used: one below its range
(of a socket that was bound to port 0 and closed, another program may have it by then). As a program it prints one."""
import os
import socket

FIRST, LEAST = 10000, 20000  # some machines give out all of them


def free_port():
    low = max(LEAST, int(open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii").read().split()[0]))
    begin = os.getpid() * 7 % (low - FIRST)  # each process elsewhere
    for i in range(low - FIRST):
        port = FIRST + (begin + i) % (low - FIRST)
        try:
            socket.create_server(("127.0.0.1", port)).close()
            return port
        except OSError:
            pass
    raise SystemExit("no port is free")


if __name__ == "__main__":
    print(free_port())
