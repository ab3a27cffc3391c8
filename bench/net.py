#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the network costs: open (pasta) and filtered, beside none, no sandbox at all, and srt.

The servers stand in a network namespace of their own, at an address that no other network of this machine knows:
nothing leaves the machine. That takes root; wrapix, srt and the clients run as the ordinary user. bench/run starts
this file once more in new namespaces, and reads the tables as JSON.
"""
import json
import os
import random
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)

from lab import Failed, Lab, progress, summary  # noqa: E402
from measure import TOOLS, TRUE, memory_of, small_workspace  # noqa: E402

SERVER, PORT = "198.51.100.10", "80"
SRT = "@anthropic-ai/sandbox-runtime"
SRT_VERSION = "0.0.83"
SRT_NEEDS = ("npm", "bwrap", "socat", "rg")
CACHE = os.environ.get("BENCH_CACHE", "/var/tmp/wrapix-bench-cache")
BULK_MIB = 256
SANDBOXES = 500
KERNEL, OTHERS = "network namespaces of the kernel", 25


def rate(results, place):
    row = results.get("net stream", {}).get(place)
    return row["MB/s"] / 1000 if row else None


def over(results, table, what, base, key="median"):
    rows = results.get(table, {})
    return (rows[what][key] - rows[base][key]) / 1000 if what in rows and base in rows else None


def added(results, table, place):
    """Milliseconds that a place adds to what it takes without a sandbox."""
    return over(results, table, place, "outside")


def divided(above, below):
    return None if above is None or below is None else above / below


def start_ratio(results):
    rows = results.get("net start", {})
    return divided(rows["open"]["median"], rows["none"]["median"]) if "open" in rows else None


def first_ms(results):
    rows = results.get("net first", {})
    return rows["open"]["median"] / 1000 if "open" in rows else None


def idle_mib(results):
    rows = results.get("net memory")
    return rows["filtered, 1 connection"]["VmRSS"] / 1024 if rows else None


def held_mib(results):
    rows = results.get("net memory")
    if not rows:
        return None
    return (rows["filtered, 1001 connections"]["RssAnon"] - rows["filtered, 1 connection"]["RssAnon"]) / 1024


def full_mib(results):
    rows = results.get("net memory")
    return rows["filtered, 1001 connections"]["VmRSS"] / 1024 if rows else None


def leaked(results):
    """Other programs make namespaces too: of the kernel's, only more than those count."""
    rows = results.get("net leaks")
    return sum(max(0, row["after"] - row["before"] - (OTHERS if name == KERNEL else 0))
               for name, row in rows.items()) if rows else None


# what, its value, the bound; and "least" where more is better
GOALS = (
    ("open, unused / none", start_ratio, 1.15),
    ("filtered, unused: added start, ms", lambda r: over(r, "net start", "filtered", "none"), 0.1),
    ("open: first connection, ms", first_ms, 25),
    ("filtered: added per connection, ms", lambda r: added(r, "net connection", "filtered"), 0.15),
    ("added per GET: srt / filtered",
     lambda r: divided(added(r, "net GET", "srt"), added(r, "net GET", "filtered")), 10, "least"),
    ("filtered: one stream, GB/s", lambda r: rate(r, "filtered"), 1.2, "least"),
    ("one stream: filtered / srt", lambda r: divided(rate(r, "filtered"), rate(r, "srt")), 4, "least"),
    ("filtered: added round trip, ms", lambda r: added(r, "net round trip", "filtered"), 0.04),
    ("filtered: supervisor, MiB", idle_mib, 3),
    ("filtered: per 1000 connections, MiB", held_mib, 0.5),
    ("filtered, 1001 connections: supervisor, MiB", full_mib, 3.5),
    ("exit, filtered unused: added, ms", lambda r: over(r, "net exit", "filtered", "none", "end"), 0.1),
    ("left by 500 sandboxes", leaked, 0),
)


# --- in bench/run ---

def measure(lab, rounds):
    """{table: rows}, measured in namespaces of their own; {} where that cannot be."""
    missing = [program for program in ("ip", "unshare", "mount") if not shutil.which(program)]
    if os.geteuid() or missing:
        why = f"there is no {missing[0]} here" if missing else "only root makes the servers' network"
        progress(f"network: left out, {why}")
        return {}
    argv = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc",
            sys.executable, os.path.join(HERE, "net.py"), lab.wrapix, os.path.dirname(lab.dir), str(rounds)]
    srt = install_srt()
    done = subprocess.run([*argv, srt or ""], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise Failed("the network could not be measured")
    return json.loads(done.stdout)


def install_srt():
    """srt's program; from the cache, or from npm into it."""
    directory = os.path.join(CACHE, "srt-" + SRT_VERSION)
    program = os.path.join(directory, "node_modules", ".bin", "srt")
    missing = [name for name in SRT_NEEDS if not shutil.which(name)]
    if not missing and not os.path.exists(program):
        os.makedirs(directory, exist_ok=True)
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", directory,
                        f"{SRT}@{SRT_VERSION}"], stdout=sys.stderr, check=False)
    if missing or not os.path.exists(program):
        progress("srt: left out, " + (f"there is no {missing[0]} here" if missing else "npm could not install it"))
        return None
    return program


# --- in the new namespaces, as root ---

def build_world(lab):
    """A cable to a namespace with the server in it. All of it ends with this process."""
    for line in ("mount -t tmpfs run /run", "ip link set lo up", "ip netns add outside",
                 "ip link add up0 type veth peer name out0 netns outside",
                 "ip addr add 203.0.113.1/24 dev up0", "ip link set up0 up",
                 "ip -n outside link set lo up", "ip -n outside addr add 203.0.113.254/24 dev out0",
                 "ip -n outside link set out0 up", f"ip -n outside addr add {SERVER}/32 dev lo",
                 "ip route add default via 203.0.113.254"):
        subprocess.run(line.split(), stdout=sys.stderr, check=True)
    for name in ("netserve", "netclient"):
        lab.compile(name)
    server = subprocess.Popen(["ip", "netns", "exec", "outside", lab.path("bin", "netserve"), SERVER, PORT],
                              stdout=subprocess.PIPE)
    if server.stdout.readline() != b"ready\n":
        raise Failed("the server for the network measurements did not start")


class Networks:
    """The command lines for each kind of network."""

    def __init__(self, lab, srt):
        self.lab, self.srt = lab, srt
        self.workspace = small_workspace(lab)
        self.tools = ["--mount", f"{lab.path('bin')}:{TOOLS}:ro"]
        self.options = {"none": ["none"], "filtered": ["filtered", "--allow", SERVER], "open": ["open"]}
        if not lab.works(self.run("open", TRUE)):
            progress("open network: left out, it does not start here")
            del self.options["open"]

    def run(self, network, argv):
        return [*self.lab.run_words(self.options[network][0], self.workspace, *self.options[network][1:], *self.tools),
                *argv]

    def client(self, network, *command):
        words = [SERVER, PORT, *command]
        if network == "outside":
            return [self.lab.path("bin", "netclient"), *words]
        if network == "srt":
            return self.srt_words([self.lab.path("bin", "netclient"), *words])
        return self.run(network, [f"{TOOLS}/netclient", *words])

    def srt_words(self, argv):
        settings = {"network": {"allowedDomains": [SERVER], "deniedDomains": []},
                    "filesystem": {"denyRead": [], "allowWrite": [self.workspace], "denyWrite": []}}
        file = self.lab.write(self.lab.path("home", "srt.json"), json.dumps(settings))
        return [self.srt, "-s", file, "-c", shlex.join(argv)]

    def used(self):
        return [name for name in self.options if name != "none"]


class Client:
    """netclient in one place."""

    def __init__(self, lab, name, argv):
        self.name = name
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **lab.as_user())

    def ask(self, command, count):
        self.process.stdin.write(f"{command} {count}\n".encode())
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"'{command}' of '{self.name}' failed")
        return [float(word) for word in line.split()]

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait()


def start(networks, rounds):
    """More rounds than elsewhere: a tenth of a millisecond is to be seen in several."""
    return networks.lab.race({name: networks.run(name, TRUE) for name in networks.options}, 5 * rounds)


def leaving(networks, rounds):
    """From the command's last line on: without a connection, and after one."""
    unused = {name: networks.run(name, [f"{TOOLS}/stamp"]) for name in networks.options}
    used = {f"{name}, used": networks.client(name, "stamp", "1") for name in networks.used()}
    return {**networks.lab.race(unused, 5 * rounds), **networks.lab.race(used, rounds)}


def first(networks, rounds):
    """The first connection of a sandbox, from socket() on: it brings up what was left out at the start."""
    times = {name: [] for name in ("outside", *networks.used())}
    for _ in range(rounds):
        for name in random.sample(list(times), len(times)):
            times[name].append(float(networks.lab.run(networks.client(name, "conn", "1"))))
    return {name: summary(samples) for name, samples in times.items()}


def by_turns(clients, turns, command, count):
    times = {client.name: [] for client in clients}
    for turn in range(-1, turns):
        for client in random.sample(clients, len(clients)):
            took = client.ask(command, count)
            if turn >= 0:
                times[client.name] += took
    return times


def talking(networks, rounds):
    """Tables of clients that live on, each in its place; srt has a proxy and no connections of its own."""
    lab = networks.lab
    clients = [Client(lab, name, networks.client(name)) for name in ("outside", *networks.used())]
    every = [*clients, Client(lab, "srt", networks.client("srt"))] if networks.srt else clients
    try:
        tables = {}
        for title, who, command, count in (("connection", clients, "conn", 20), ("round trip", clients, "rtt", 50),
                                           ("GET", every, "get", 10)):
            progress(f"network: {title}")
            times = by_turns(who, rounds, command, count)
            tables[title] = {name: summary(samples) for name, samples in times.items()}
        progress("network: stream")
        times = by_turns(every, max(5, rounds // 5), "bulk", BULK_MIB)
        tables["stream"] = {name: stream_row(samples) for name, samples in times.items()}
        return tables
    finally:
        for client in every:
            client.close()


def stream_row(samples):
    size = BULK_MIB * 1048576
    return {"runs": len(samples), "MB/s": round(size / statistics.median(samples)),
            "best": round(size / min(samples)), "worst": round(size / max(samples))}


def memory(networks):
    """The supervisor of a filtered network; before the first connection it has nothing of it."""
    client = Client(networks.lab, "filtered", networks.client("filtered"))
    try:
        rows = {}
        client.ask("hold", 0)
        rows["filtered, unused"] = memory_of(client.process.pid)
        client.ask("hold", 1)
        time.sleep(1)  # in its first pause it gives back what only the start needed
        rows["filtered, 1 connection"] = memory_of(client.process.pid)
        client.ask("hold", 1000)
        rows["filtered, 1001 connections"] = memory_of(client.process.pid)
        return rows
    finally:
        client.close()


def census():
    """What there is now in our PID namespace, and in the whole kernel where it says so."""
    pids = [name for name in os.listdir("/proc") if name.isdigit()]
    counts = {"processes": len(pids), "files open here": len(os.listdir("/proc/self/fd"))}
    spaces = set()
    for pid in pids:
        try:
            spaces.add(os.readlink(f"/proc/{pid}/ns/net"))
        except OSError:
            pass
    counts["network namespaces of processes"] = len(spaces)
    try:
        with open("/proc/slabinfo", encoding="ascii") as f:
            counts.update({KERNEL: int(line.split()[1]) for line in f
                           if line.startswith("net_namespace ")})
    except OSError:
        pass
    return counts


def leaks(networks, sandboxes):
    """Sandboxes in a row, each with a connection. The kernel takes namespaces down later, and others use it too."""
    before, names = census(), networks.used()
    for i in range(sandboxes):
        networks.lab.run(networks.client(names[i % len(names)], "conn", "1"))
    for _ in range(50):
        after = census()
        if all(after[name] <= count for name, count in before.items()):
            break
        time.sleep(0.2)
    return {name: {"before": before[name], "after": after[name]} for name in before}


def main():
    wrapix, where, rounds, srt = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    lab = Lab(wrapix, where)
    try:
        build_world(lab)
        networks, tables = Networks(lab, srt), {}
        for title, function in (("start", start), ("exit", leaving), ("first", first)):
            progress(f"network: {title}")
            tables[title] = function(networks, rounds)
        tables.update(talking(networks, rounds))
        tables["memory"] = memory(networks)
        progress(f"network: {SANDBOXES if rounds >= 50 else rounds} sandboxes in a row")
        tables["leaks"] = leaks(networks, SANDBOXES if rounds >= 50 else rounds)
        json.dump(tables, sys.stdout)
    finally:
        lab.close()


if __name__ == "__main__":
    try:
        main()
    except (Failed, OSError, subprocess.CalledProcessError) as failed:
        sys.exit(f"bench: {failed}")
