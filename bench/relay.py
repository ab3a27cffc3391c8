#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a brokered credential adds to a request: one kept connection to a TLS server of ours, directly and by way of
wrapix-relay.

    bench/relay.py [PROGRAM [REQUESTS]]        (build/src/wrapix-relay, 2000)
"""
import os
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time

program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/src/wrapix-relay")
count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
directory = tempfile.TemporaryDirectory()
cert, key = directory.name + "/cert.pem", directory.name + "/key.pem"
subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert],
               check=True, capture_output=True)


def serve(listener, context):
    while True:
        plain, _ = listener.accept()
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=answer, args=(plain, context), daemon=True).start()


def answer(plain, context):
    conn = context.wrap_socket(plain, server_side=True)
    while conn.recv(65536):
        conn.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")


server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
server.load_cert_chain(cert, key)
upstream = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(upstream, server), daemon=True).start()
inside = socket.create_server(("127.0.0.1", 0))
door, its_door = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
port = upstream.getsockname()[1]
door.send(b"R" + b"".join(f.encode() + b"\0" for f in ["localhost", str(port), "/v1/", "GET ", "x-key", "", "PLACE", "30"]))
door.send(b"Vvalue")
fds = [os.dup2(its_door.fileno(), 63), os.dup2(inside.fileno(), 64)]
relay = subprocess.Popen(["bash", "-c", 'exec 3<&63 4<&64 63<&- 64<&-; exec "$0"', program], pass_fds=fds,
                         env={"SSL_CERT_FILE": cert, "PATH": "/usr/bin:/bin"})


def measure(conn):
    request = b"GET /v1/x HTTP/1.1\r\nhost: x\r\nx-key: PLACE\r\n\r\n"
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        conn.sendall(request)
        conn.recv(65536)
        times.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(times), statistics.quantiles(times, n=100)[98]


client = ssl.create_default_context(cafile=cert)
direct = client.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost")
through = socket.create_connection(inside.getsockname())
for conn in (direct, through):
    conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    measure(conn)
a, b = measure(direct), measure(through)
print(f"direct     median {a[0]:6.0f} us, 99% {a[1]:6.0f} us")
print(f"by relay   median {b[0]:6.0f} us, 99% {b[1]:6.0f} us")
print(f"added      median {b[0] - a[0]:6.0f} us")
relay.kill()
