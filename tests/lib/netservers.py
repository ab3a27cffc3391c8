# SPDX-License-Identifier: MIT
"""The servers of the tests' own internet; started by networld.sh in the namespace that is "outside".

    netservers.py DIR	DIR/log gets a line for each packet that arrives; DIR/ready is a FIFO

Each port is one behaviour, at every address. What is sent says where it came from, because a test must look at
content: a connection alone proves nothing.
"""
import asyncio
import hashlib
import json
import os
import socket
import ssl
import struct
import sys

import netdns
import netproxy

DIR = sys.argv[1]
LOG = os.open(DIR + "/log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
BLOCK = bytes(range(32, 96)) * 1024  # 64 KiB
DNS_ADDRESSES = ["203.0.113.254", "2001:db8:1::fe", "8.8.8.8", "2001:4860:4860::8888"]
UDP_ADDRESSES = ["198.51.100.10", "2001:db8:2::10", "8.8.8.8"]
UDP_PORTS = [7, 123, 443, 3478, 5353]
STALLED = []
CALLED = asyncio.Event()


def log(text):
    os.write(LOG, (text + "\n").encode("ascii", "backslashreplace"))


def where(writer):
    local = writer.get_extra_info("sockname")
    return "%s %d" % (local[0].removeprefix("::ffff:"), local[1])


def set_option(writer, option, value):
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, option, value)


def reset(writer):
    set_option(writer, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


# --- plain ports ---


async def echo(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


async def discard(reader, _):
    while await reader.read(65536):
        pass


async def chargen(_, writer):
    set_option(writer, socket.SO_SNDBUF, 4096)  # what stands still is not to stand here
    while True:
        writer.write(BLOCK)
        await writer.drain()


async def refuse_late(reader, writer):
    """A reset after the first byte."""
    await reader.read(1)
    reset(writer)


async def digest(reader, writer):
    """Reads to the end, and only then answers: a half-closed connection."""
    total, size = hashlib.sha256(), 0
    while data := await reader.read(65536):
        total.update(data)
        size += len(data)
    log("digest %d %s" % (size, total.hexdigest()))
    writer.write(("%d %s\n" % (size, total.hexdigest())).encode())


async def stall(_, writer):
    """Never reads, never writes."""
    set_option(writer, socket.SO_RCVBUF, 4096)
    writer.transport.pause_reading()  # the loop forgets it, and
    STALLED.append(writer)  # so would everybody
    await asyncio.Event().wait()


async def cut(_, writer):
    """Some bytes of a promised million, then a reset."""
    writer.write(b"HTTP/1.0 200 OK\r\nContent-Length: 1000000\r\n\r\n" + BLOCK)
    await writer.drain()
    await asyncio.sleep(0.2)  # the reset must not overtake them
    reset(writer)


async def turn_down(reader, writer):
    """An answer and a reset in one breath, when somebody calls at port 1008."""
    await reader.read(1)
    log("asked")
    await CALLED.wait()
    writer.write(b"HTTP/1.1 413 Too Large\r\nConnection: close\r\n\r\ntoo large\n")
    reset(writer)
    log("turned down")


async def call(_reader, _writer):
    CALLED.set()


async def talk_first(reader, writer):
    writer.write(b"220 ready\r\n")
    await echo(reader, writer)


async def greet(_, writer):
    writer.write(("hello at %s\n" % where(writer)).encode())


# --- HTTP ---


async def run_git(method, path, query, headers, body):
    """A smart HTTP server for the repositories in DIR/git."""
    env = {
        "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": DIR + "/git", "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": path.removeprefix("/git"), "QUERY_STRING": query, "REQUEST_METHOD": method,
        "CONTENT_TYPE": headers.get("content-type", ""), "CONTENT_LENGTH": str(len(body)),
        "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
        "GIT_PROTOCOL": headers.get("git-protocol", ""),
        # The repositories are another user's.
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
    }
    process = await asyncio.create_subprocess_exec("git", "http-backend", env=env, stdin=-1, stdout=-1)
    out, _ = await process.communicate(body)
    head, _, content = out.partition(b"\r\n\r\n")
    fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
    return fields.pop("Status", "200 OK"), fields, content


async def respond(method, target, headers, body, writer):
    """(status, headers, content)"""
    path, _, query = target.partition("?")
    if path.startswith("/git/"):
        return await run_git(method, path, query, headers, body)
    if method not in ("GET", "HEAD", "POST", "PUT"):
        return "405 Method Not Allowed", {}, b"not here\n"
    if path.startswith("/bytes/"):
        size = int(path.removeprefix("/bytes/"))
        return "200 OK", {"Content-Type": "application/octet-stream"}, (BLOCK * (size // len(BLOCK) + 1))[:size]
    if path == "/upload":
        return "200 OK", {}, ("%d %s\n" % (len(body), hashlib.sha256(body).hexdigest())).encode()
    if path.startswith("/redirect/"):
        return "302 Found", {"Location": "http://" + path.removeprefix("/redirect/")}, b""
    if path == "/wrapix-hello":  # npm asks for a package
        tarball = "http://%s/npm.tgz" % headers.get("host", "")
        release = {"name": "wrapix-hello", "version": "1.0.0", "dist": {"tarball": tarball}}
        package = {"name": "wrapix-hello", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": release}}
        return "200 OK", {"Content-Type": "application/json"}, json.dumps(package).encode()
    if path == "/npm.tgz":
        with open(DIR + "/npm.tgz", "rb") as file:
            return "200 OK", {"Content-Type": "application/octet-stream"}, file.read()
    if path == "/page.html":
        return "200 OK", {"Content-Type": "text/html"}, ("<html>a page of %s</html>" % headers["host"]).encode()
    if path.startswith("/with/"):  # a page with parts of another host
        part = "//%s/part" % path.removeprefix("/with/")
        page = "<html>only this<img src=%s><script src=%s></script></html>" % (part, part)
        return "200 OK", {"Content-Type": "text/html"}, page.encode()
    return "200 OK", {}, ("hello from %s at %s\n" % (headers.get("host", "-"), where(writer))).encode()


async def http(reader, writer):
    while True:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ", 2)
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
        log("http %s %s %s" % (headers.get("host", "-"), method, target))
        if headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if headers.get("transfer-encoding") == "chunked":
            body = b""
            while size := int(await reader.readline(), 16):
                body += (await reader.readexactly(size + 2))[:-2]
            await reader.readline()
        else:
            body = await reader.readexactly(int(headers.get("content-length", 0)))
        status, fields, content = await respond(method, target, headers, body, writer)
        fields = {"Content-Type": "text/plain", **fields, "Content-Length": len(content)}
        writer.write(("HTTP/1.1 %s\r\n%s\r\n" % (status, "".join("%s: %s\r\n" % f for f in fields.items()))).encode())
        writer.write(content if method != "HEAD" else b"")
        await writer.drain()
        if headers.get("connection", "").lower() == "close" or head[0].endswith("1.0"):
            return


PORTS = {
    1: echo, 7: echo, 20000: echo, 9: discard, 19: chargen, 80: http, 8080: http, 443: http, 8443: http,
    1001: refuse_late, 1003: digest, 1004: stall, 1006: cut, 1007: turn_down, 1008: call, 1025: talk_first,
    53000: greet, 8000: greet, 2000: greet, 65535: greet, **netproxy.ports(log),
}  # fmt: skip
TLS_PORTS = (443, 8443)


def served(serve):
    """The handler with its connection written down, and closed at its end."""

    async def run(reader, writer):
        tls = writer.get_extra_info("ssl_object")
        log("tcp %s from %s%s" % (where(writer), writer.get_extra_info("peername")[0], " tls" if tls else ""))
        try:
            await serve(reader, writer)
        except ConnectionResetError:
            log("reset %s" % where(writer))
        except (OSError, EOFError, ValueError, KeyError, ssl.SSLError, asyncio.LimitOverrunError):
            pass  # a client that is rude, or gone
        finally:
            writer.close()

    return run


async def settle(_, writer):
    """Ends when what had arrived before has been written down: that takes a few rounds of the loop."""
    for _round in range(20):
        await asyncio.sleep(0)
    writer.close()


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self, name):
        self.name = name

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, peer):
        log("udp %s %d bytes" % (self.name, len(data)))
        self.transport.sendto(data, peer)


def tls_context():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(DIR + "/server.pem")
    context.sni_callback = lambda _sock, name, _context: log("tls %s" % name)
    return context


def listener(port):
    sock = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    sock.bind(("::", port))
    return sock


async def main():
    loop = asyncio.get_running_loop()
    # The end of a client's connection in the middle of a write is no news.
    loop.set_exception_handler(lambda _loop, _context: None)
    context = tls_context()
    for port, serve in PORTS.items():
        await asyncio.start_server(served(serve), sock=listener(port), backlog=4096,
                                   ssl=context if port in TLS_PORTS else None)  # fmt: skip
    for address in UDP_ADDRESSES:
        for port in UDP_PORTS:
            name = "%s %d" % (address, port)
            await loop.create_datagram_endpoint(lambda n=name: Datagrams(n), local_addr=(address, port))
    await netdns.serve(log, DNS_ADDRESSES)
    await asyncio.start_unix_server(settle, DIR + "/settled")
    os.chmod(DIR + "/settled", 0o666)
    with open(DIR + "/ready", "w", encoding="ascii") as file:
        file.write("ready\n")
    await asyncio.Event().wait()


asyncio.run(main())
