#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Plays the supervisor of a wrapix-relay, and the host that it relays to: values that are not fresh any more are asked
for, and hold until there is a newer one.

    relay.py PROGRAM DIRECTORY        with key.pem and cert.pem of 'localhost'

Prints TAP lines without a plan; the first argument may be the number to begin with.
"""
import os
import resource
import socket
import ssl
import subprocess
import sys
import threading
import time

program, directory, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
seen = []
stalled = []  # connections of the relay that get no TLS, while this holds something


def check(name, good):
    global number
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)


def answer(plain, context):
    try:
        conn = context.wrap_socket(plain, server_side=True)
        while True:
            head = b""
            while b"\r\n\r\n" not in head:
                more = conn.recv(65536)
                if not more:
                    raise OSError
                head += more
            seen.append(head.decode())
            conn.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
    except OSError:
        plain.close()


def serve(listener, context):
    while True:
        plain, _ = listener.accept()
        if stalled:
            stalled.append(plain)
        else:
            threading.Thread(target=answer, args=(plain, context), daemon=True).start()


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(f"{directory}/cert.pem", f"{directory}/key.pem")
upstream = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(upstream, context), daemon=True).start()

inside = socket.create_server(("127.0.0.1", 0))
door, its_door = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def start():
    # High numbers first: the places are 3 and 4.
    fds = [os.dup2(its_door.fileno(), 63), os.dup2(inside.fileno(), 64)]
    script = 'exec 3<&63 4<&64 63<&- 64<&-; exec "$0"'
    return subprocess.Popen(["bash", "-c", script, program], pass_fds=fds, env={
        "SSL_CERT_FILE": f"{directory}/cert.pem", "PATH": "/usr/bin:/bin", "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")})


def begin(text):
    client = socket.create_connection(inside_address)
    client.settimeout(120)
    client.sendall(text.encode())
    return client


def ask(path="/v1/x"):
    with begin(f"GET {path} HTTP/1.1\r\nhost: x\r\nx-key: PLACE\r\n\r\n") as client:
        return client.recv(4096).decode().split("\r\n")[0]


def rules(fresh):
    fields = ["localhost", str(upstream.getsockname()[1]), "/v1/", "GET POST ", "x-key", "", "PLACE", str(fresh)]
    return b"R" + "".join(f + "\0" for f in fields).encode()


def last_value():
    return [line.split(": ")[1] for line in seen[-1].split("\r\n") if line.startswith("x-key: ")]


door.settimeout(60)
door.send(rules(0))
door.send(b"Vfirst")
inside_address = inside.getsockname()
process = start()
its_door.close()
check("a request goes on with the value", ask() == "HTTP/1.1 200 OK" and last_value() == ["first"])
check("... and a value that is not fresh is asked for", door.recv(100) == b"W")
check("... but holds until there is another", ask() == "HTTP/1.1 200 OK" and last_value() == ["first"])
door.send(b"K")
ask()
check("when there is none it holds on, and is asked for again", last_value() == ["first"] and door.recv(100) == b"W")
door.send(b"Vsecond")
values = []
while "second" not in values and len(values) < 1000:
    ask()
    values += last_value()
check("a newer one takes its place", values[-1] == "second")
door.setblocking(False)
try:
    while door.recv(100):
        pass
except BlockingIOError:
    pass
door.setblocking(True)
check("another path is refused", ask("/v2/x").startswith("HTTP/1.1 403"))
door.settimeout(60)
lines = []
while not lines or not lines[-1].startswith(b"S"):
    lines.append(door.recv(200))
check("... and the supervisor hears of it", lines[-1] == b"Srefused: this path is not brokered")


with begin("POST /v1/x HTTP/1.1\r\nx-key: PLACE\r\ntransfer-encoding: chunked\r\n\r\n1;a=b\r\nx\r\n0\r\n\r\n") as client:
    check("so is a body that two could read differently", client.recv(4096).startswith(b"HTTP/1.1 400"))


def is_ended(client):
    try:
        client.sendall(b"x")
    except OSError:
        return True
    return False


# A client that does not leave after a refusal is put out in some seconds, also while others come every moment.
with socket.create_connection(inside_address) as held:
    held.sendall(b"GET /v2/x HTTP/1.1\r\nhost: x\r\n\r\n")
    while held.recv(4096):
        pass
    end = time.monotonic() + 60
    while not (ended := is_ended(held)) and time.monotonic() < end:
        socket.create_connection(inside_address).close()
        time.sleep(0.1)
    check("who stays after a refusal is put out while others come", ended)


def processor_seconds():
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")


# Without a descriptor for a client it waits for one; the loop is told of that client again and again otherwise.
limits = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (5, limits[1]))  # those that it was started with
with socket.create_connection(inside_address) as held:
    held.sendall(b"GET /v1/x HTTP/1.1\r\nhost: x\r\nx-key: PLACE\r\n\r\n")
    before = processor_seconds()
    time.sleep(2)
    check("no client can be let in: it waits, and is not busy with that", processor_seconds() - before < 0.2)
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, limits)
    held.settimeout(60)
    check("... until there is room", held.recv(4096).startswith(b"HTTP/1.1 200"))
# As many as are let in, of whom none says what it wants: one that does has its turn all the same. Meanwhile a host that
# answers nothing, whose client hears of it.
stalled.append(None)
unanswered = begin("GET /v1/x HTTP/1.1\r\nx-key: PLACE\r\n\r\n")
while len(stalled) < 2:
    time.sleep(0.01)
held = stalled.pop()
stalled.clear()
head = "POST /v1/x HTTP/1.1\r\nx-key: PLACE\r\ncontent-length: 9\r\n\r\n"
silent = [begin(("", head[:30], head + "half")[i % 3]) for i in range(300)]
check("300 clients that say nothing, or half of it, make room", ask() == "HTTP/1.1 200 OK")
said = unanswered.recv(4096)
check("who waits for a host that does not answer is told", said.startswith(b"HTTP/1.1 502") and b"does not answer" in said)
for client in [unanswered, held, *silent]:
    client.close()
door.close()
check("it ends with the supervisor", process.wait(60) == 0)
