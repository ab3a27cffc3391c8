# SPDX-License-Identifier: MIT
"""ask.py WRAPIX SETTINGS ROUNDS: microseconds for 'true', bare, cold and through a server, as JSON; command.py runs it."""
import array
import json
import os
import socket
import statistics
import subprocess
import sys
import time

WRAPIX, SETTINGS, ROUNDS = sys.argv[1], sys.argv[2], int(sys.argv[3])
NULL = os.open("/dev/null", os.O_RDWR)
NAME = f"{os.environ['HOME']}/server"
LINE = json.dumps({"argv": ["/bin/true"]}).encode() + b"\n"
RIGHTS = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [NULL] * 3))]


def ask():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(NAME)
        client.sendmsg([LINE], RIGHTS)
        text = b""
        while data := client.recv(65536):
            text += data
    if json.loads(text.splitlines()[-1]) != {"type": "exit", "status": 0}:
        sys.exit(text.decode())


def spawn(*argv):
    _, status = os.waitpid(os.posix_spawn(argv[0], argv, os.environ), 0)
    if status:
        sys.exit(f"{argv}: {status}")


def main():
    ways = {"bare": lambda: spawn("/bin/true"), "cold": lambda: spawn(WRAPIX, "exec", "-s", SETTINGS, "--", "/bin/true"),
            "server": ask}
    times = {name: [] for name in ways}
    with subprocess.Popen([WRAPIX, "exec", "--server", NAME, "-s", SETTINGS]) as server:
        while not os.path.exists(NAME):
            time.sleep(0.001)
        for turn in range(-3, ROUNDS):
            for name, way in ways.items():
                time.sleep(0.002)
                start = time.perf_counter_ns()
                way()
                if turn >= 0:
                    times[name].append((time.perf_counter_ns() - start) / 1000)
        server.terminate()
    rows = {name: sorted(values) for name, values in times.items()}
    print(json.dumps({name: {"median": statistics.median(v), "p10": v[len(v) // 10], "p90": v[len(v) * 9 // 10]}
                      for name, v in rows.items()}))


main()
