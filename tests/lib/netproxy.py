# SPDX-License-Identifier: MIT
"""Proxies of the tests' own internet, good and bad: each takes CONNECT, and writes down for whom."""
import asyncio

import netdns

SECRET = "Proxy-Authorization: Basic dXNlcjpwQDpzcw=="  # user:p@:ss


async def pump(source, to):
    while data := await source.read(65536):
        to.write(data)
        await to.drain()
    to.write_eof()


async def agree(writer):
    writer.write(b"HTTP/1.1 200 Connection established\r\nProxy-Agent: the tests' own\r\n\r\n")


async def agree_slowly(writer):
    """Byte by byte."""
    for byte in b"HTTP/1.0 200 OK\r\nX: y\r\n\r\n":
        writer.write(bytes([byte]))
        await asyncio.sleep(0.001)


def proxy(log, secret="", reply=agree):
    """One that wants these words in the request."""

    async def run(reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, target, _ = head.split(" ", 2)
        log("proxy %s %s" % (method, target))
        name, _, port = target.rpartition(":")
        known = netdns.addresses(name, {})
        if secret not in head:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        elif method != "CONNECT" or not known:
            writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
        else:
            out_reader, out_writer = await asyncio.open_connection(known[0], int(port))
            await reply(writer)
            await asyncio.gather(pump(reader, out_writer), pump(out_reader, writer))
            out_writer.close()

    return run


def stalling(log, answer, wait=True):
    """One that begins an answer, and leaves it at that, or hangs up."""

    async def run(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        log("half an answer")
        if wait:
            await reader.read()

    return run


def ports(log):
    return {
        3128: proxy(log),
        3129: proxy(log, SECRET),
        3130: proxy(log, reply=agree_slowly),
        3131: stalling(log, b"HTTP/1.1 200 Connection"),
        3132: stalling(log, b"HTTP/1.1 200 OK\r\nX: " + b"x" * 30000),
        3134: stalling(log, b"HTTP/1.1 200 Connection", wait=False),
        3133: stalling(log, b"SSH-2.0-OpenSSH_9.2\r\n\r\n"),
    }
