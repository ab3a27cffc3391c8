#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A wrapix-relay whose host's name nobody answers for: who asks for nothing of that host does not wait for the name.

    relay_name.py PROGRAM HOST

Prints what came first, and what came in the end.
"""
import os
import select
import socket
import subprocess
import sys

program, host = sys.argv[1:]
inside = socket.create_server(("127.0.0.1", 0))
door, its_door = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
door.send(b"R" + "".join(f + "\0" for f in (host, "443", "/v1/", "GET ", "x-key", "", "PLACE", "30")).encode())
door.send(b"Vvalue")
fds = [os.dup2(its_door.fileno(), 63), os.dup2(inside.fileno(), 64)]
process = subprocess.Popen(["bash", "-c", 'exec 3<&63 4<&64 63<&- 64<&-; exec "$0"', program], pass_fds=fds,
                           env={"PATH": "/usr/bin:/bin", "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")})
its_door.close()


def begin(path):
    client = socket.create_connection(inside.getsockname())
    client.sendall(f"GET {path} HTTP/1.1\r\nx-key: PLACE\r\n\r\n".encode())
    return client


clients = {begin("/v1/x"): "name"}
for client, what in ((begin("/v2/x"), "path"), (begin("/v1/y"), "name")):
    clients[client] = what
said = []
while clients:
    ready, _, _ = select.select(list(clients), [], [], 120)
    for client in ready or sys.exit("nobody is answered"):
        said.append(clients.pop(client) + " " + client.recv(4096).decode().split()[1])
door.close()
print(", ".join(said), process.wait(60))
