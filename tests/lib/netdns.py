# SPDX-License-Identifier: MIT
"""The names of the tests' own internet (see networld.sh), and the DNS server that answers for them.

Every question is written down before it is answered: a test can tell that none was asked.
"""
import asyncio
import ipaddress
import struct

A, NS, CNAME, SOA, PTR, TXT, AAAA, OPT = 1, 2, 5, 6, 12, 16, 28, 41
TYPES = {A: "A", AAAA: "AAAA", TXT: "TXT", PTR: "PTR", 15: "MX", 33: "SRV", 65: "HTTPS", 252: "AXFR"}

WEB4, WEB6 = "198.51.100.10", "2001:db8:2::10"
NAMES = {
    # Ordinary hosts.
    "allowed.test": [WEB4, WEB6],
    "other.test": ["198.51.100.20", "2001:db8:2::20"],
    "v4only.test": [WEB4],
    "v6only.test": [WEB6],
    "wild.test": ["198.51.100.11", "2001:db8:2::11"],
    "registry.test": [WEB4],
    "proxy.test": ["198.51.100.30", "2001:db8:2::30"],
    "under_score.test": [WEB4],
    "xn--bcher-kva.test": [WEB4],
    # Names that look like those, and are others.
    "evilwild.test": ["198.51.100.20"],
    "sub.allowed.test": ["198.51.100.20"],
    "allowed.test.other.test": ["198.51.100.20"],
    "xn--llowed-9za.test": ["198.51.100.20"],
    # Hosts whose network is broken (networld.sh has the routes).
    "unreachable.test": ["198.51.100.66"],
    "unreachable6.test": ["2001:db8:2::66"],
    "noroute.test": ["198.51.100.77"],
    "noroute6.test": ["2001:db8:2::77"],
    "silent.test": ["198.51.100.99"],
    "half.test": ["198.51.100.66", WEB4],  # the first address does not answer, the second does
    # Names that lead where no name may lead.
    "private.test": ["10.9.9.9"],
    "private16.test": ["192.168.9.9"],
    "private12.test": ["172.16.9.9"],
    "shared.test": ["100.64.9.9"],
    "private6.test": ["fd12:3456::9"],
    "site.test": ["fec0::9"],
    "loop.test": ["127.0.0.1"],
    "loop9.test": ["127.0.9.1"],
    "loop6.test": ["::1"],
    "zero.test": ["0.0.0.0"],
    "zero6.test": ["::"],
    "own.test": ["203.0.113.1"],
    "own6.test": ["2001:db8:1::1"],
    "meta.test": ["169.254.169.254"],
    "meta6.test": ["fd00:ec2::254"],
    "link.test": ["169.254.9.9"],
    "link6.test": ["fe80::9"],
    "mapped.test": ["::ffff:10.9.9.9"],
    "mappedloop.test": ["::ffff:127.0.0.1"],
    "nat64.test": ["64:ff9b::a09:909"],
    "nat64meta.test": ["64:ff9b::a9fe:a9fe"],
    "6to4.test": ["2002:a09:909::9"],
    "compat.test": ["::10.9.9.9"],
    "multicast.test": ["224.0.0.9"],
    "broadcast.test": ["255.255.255.255"],
    "synthetic.test": ["198.18.1.9"],
    "mixed.test": ["10.9.9.9", "127.0.0.1", WEB4, "169.254.169.254"],
    "mixed6.test": ["fd12:3456::9", "::1", WEB6],
}
# Each name below one of these has the next answer each time it is asked for; the last one stays.
CHANGING = {
    "rebind.test": [[WEB4], ["10.9.9.9"]],
    "rebindloop.test": [[WEB4], ["127.0.0.1"]],
    "moves.test": [["10.9.9.9"], [WEB4]],
}
DELAYS = {"slow.test": 1.2, "never.test": None}  # seconds; None: no answer at all


def addresses(name, counts):
    """What the name has now, or None."""
    answers = CHANGING.get(name.partition(".")[2])
    if answers:
        counts[name] = counts.get(name, 0) + 1
        return answers[min(counts[name], len(answers)) - 1]
    if name in NAMES:
        return NAMES[name]
    if name.endswith(".wild.test"):
        return NAMES["wild.test"]
    if name == "slow.test" or name.endswith(".slow.test"):
        return [WEB4]
    if name == "never.test" or name.endswith(".never.test"):
        return []
    if name == "many.test":
        return ["198.51.100.%d" % (100 + i) for i in range(40)]
    return None


def delay(name):
    for slow, seconds in DELAYS.items():
        if name == slow or name.endswith("." + slow):
            return seconds
    return 0


def read_question(query):
    """(name, type, end of the question); raises for what is no query."""
    at, labels = 12, []
    if len(query) < 12 or query[2] & 0x80 or struct.unpack(">H", query[4:6])[0] != 1:
        raise ValueError
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("latin-1"))
        at += 1 + query[at]
    return ".".join(labels).lower(), struct.unpack(">H", query[at + 1 : at + 3])[0], at + 5


def answer(query, name, qtype, end, counts):
    known = addresses(name, counts if qtype == A else {})  # A and AAAA of one lookup count as one
    records = []
    for text in known or []:
        packed = ipaddress.ip_address(text).packed
        if (qtype, len(packed)) in ((A, 4), (AAAA, 16)):
            records.append(struct.pack(">HHHIH", 0xC00C, qtype, 1, 0, len(packed)) + packed)
    if qtype == TXT and known is not None:
        text = b"secret of " + name.encode()
        records.append(struct.pack(">HHHIHB", 0xC00C, TXT, 1, 0, len(text) + 1, len(text)) + text)
    flags = 0x8180 | (3 if known is None else 0)
    header = query[:2] + struct.pack(">HHHHH", flags, 1, len(records), 0, 0)
    return header + query[12:end] + b"".join(records)


class Server(asyncio.DatagramProtocol):
    def __init__(self, log, counts, where):
        self.log, self.counts, self.where = log, counts, where

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, peer):
        asyncio.get_running_loop().create_task(self.respond(data, peer))

    async def reply(self, data, protocol):
        name, qtype, end = read_question(data)
        self.log("dns %s %s %s %s" % (name, TYPES.get(qtype, qtype), protocol, self.where))
        seconds = delay(name)
        if seconds is None:
            return None
        if seconds:
            await asyncio.sleep(seconds)
        return answer(data, name, qtype, end, self.counts)

    async def respond(self, data, peer):
        try:
            out = await self.reply(data, "udp")
        except (ValueError, IndexError, struct.error):
            return
        if out:
            self.transport.sendto(out, peer)

    async def stream(self, reader, writer):
        try:
            while True:
                (size,) = struct.unpack(">H", await reader.readexactly(2))
                out = await self.reply(await reader.readexactly(size), "tcp")
                if out:
                    writer.write(struct.pack(">H", len(out)) + out)
        except (asyncio.IncompleteReadError, ValueError, IndexError, struct.error, OSError):
            writer.close()


async def serve(log, where):
    """On port 53 of each of these addresses."""
    counts = {}
    loop = asyncio.get_running_loop()
    for address in where:
        server = Server(log, counts, address)
        await loop.create_datagram_endpoint(lambda s=server: s, local_addr=(address, 53))
        await asyncio.start_server(server.stream, address, 53)
