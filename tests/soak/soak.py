#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""soak.py WRAPIX PART [NUMBER]: many sandboxes and long ones, and what is left of them.

  row N     N sandboxes of every kind one after another, in a user namespace in which the kernel allows only a few namespaces
            and watches at a time: what is not given back is missed soon
  crowd N   N sandboxes at once
  long N    one session with N rounds of what an agent does in hours: connections, refusals, settings, rules, messages, commits

Counted before and after: the user's processes, mounts, namespaces, keys, control groups, open files and sockets of the
machine, and every file that wrapix keeps. Prints TAP. Runs as an ordinary user who does nothing else meanwhile.
"""
import ctypes
import glob
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../lib"), os.path.join(HERE, "../system")]
from place import HALF  # pylint: disable=wrong-import-position
WRAPIX, PART = os.path.abspath(sys.argv[1]), sys.argv[2]
LIMITED = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"]
# Logs, of which a fixed number is kept; what commands take turns by; the git directory of a project's commands, and the one for its next session.
CHANGING = "/wrapix/(log|turn|git(dirs)?/x[0-9a-f]{12}|gitready/[0-9a-f]{32})/"
points = {"run": 0, "failed": 0}


def check(name, good, *why):
    points["run"] += 1
    points["failed"] += not good
    print("ok" if good else "not ok", points["run"], "-", name)
    for line in [] if good else why:
        print("#", str(line).replace("\n", "\n# ")[:2000])
    sys.stdout.flush()
    return good


def say(*words):
    print("#", *words)
    sys.stdout.flush()


# --- what there is ---

def look(pid):
    """KiB that it alone has and its part of the rest (PSS), KiB that it has written (where a leak would be: pages of code come
    and go), and how many descriptors; zeros when it has ended."""
    try:
        text = read(f"/proc/{pid}/smaps_rollup")
        return *(int(re.search(rf"^{n}: +(\d+)", text, re.M).group(1)) for n in ("Pss", "Anonymous")), len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:
        return ask_root(pid)
    except (OSError, AttributeError):
        return 0, 0, 0


def ask_root(pid):
    """A supervisor keeps even its own user out of its memory: root's eyes, which run.sh opens."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(os.environ["SOAK_EYES"])
        s.sendall(f"{pid}\n".encode())
        return tuple(int(n) for n in s.makefile().readline().split())


def eyes(path):
    """As root, for the user who owns the directory of the socket: what look() says of his processes."""
    user = os.stat(os.path.dirname(path)).st_uid
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path + ".new")
        os.chown(path + ".new", user, user)
        listener.listen(8)
        os.rename(path + ".new", path)
        while True:
            peer, _ = listener.accept()
            with peer:
                pid = peer.recv(32).decode("ascii", "replace").strip()
                try:
                    found = look(int(pid)) if os.stat(f"/proc/{int(pid)}").st_uid == user else (0, 0, 0)
                except (OSError, ValueError):
                    found = (0, 0, 0)
                peer.sendall(" ".join(str(n) for n in found).encode() + b"\n")

def ours(all_of_them=False):
    """The user's living processes: pid -> name; without ourselves."""
    found, us = {}, {os.getpid(), os.getppid()}
    for name in os.listdir("/proc"):
        try:
            if not name.isdigit() or (int(name) in us and not all_of_them) or os.stat(f"/proc/{name}").st_uid != os.getuid():
                continue
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as f:
                stat = f.read()
            if stat.rpartition(")")[2].split()[0] not in "ZX":
                found[int(name)] = stat.partition("(")[2].rpartition(")")[0]
        except OSError:
            pass
    return found


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def namespaces():
    """Those that processes of the user's are in."""
    found = set()
    for pid in ours(True):
        for path in glob.glob(f"/proc/{pid}/ns/*"):
            try:
                found.add(os.readlink(path))
            except OSError:
                pass
    return found


def keys():
    """How many keys the kernel holds for the user."""
    found = re.search(rf"^ *{os.getuid()}: +(\d+)", read("/proc/key-users"), re.M)
    return int(found.group(1)) if found else 0


def files(*places):
    """Every path there, but for what changes on purpose, unless it was left half done."""
    found = set()
    for place in places:
        for root, dirs, names in os.walk(place):
            found.update(path for n in dirs + names if not re.search(CHANGING, (path := os.path.join(root, n)) + "/") or HALF.search(path))
    return found


def is_ours(path):
    try:
        return os.lstat(path).st_uid == os.getuid()
    except OSError:
        return False  # somebody else's, and gone


def census(world):
    """What must be the same afterwards."""
    return {
        "processes": set(ours()), "mounts": {line for line in read("/proc/self/mountinfo").splitlines() if "wrapix" in line or line.split()[4].startswith(os.environ["HOME"])}, "namespaces": namespaces(), "keys": keys(),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "control groups": {d for d, _, _ in os.walk("/sys/fs/cgroup") if "wrapix" in d},
        "files": files(world.home, world.runtime) | {p for d in ("/tmp", "/var/tmp", "/dev/shm") for p in glob.glob(d + "/*wrapix*") if is_ours(p)},
    }


def machine():
    """The whole machine's, in which others work, too: only a lot of it says something."""
    memory = dict(re.findall(r"(\w+): +(\d+) kB", read("/proc/meminfo")))
    return {"open files": int(read("/proc/sys/fs/file-nr").split()[0]), "sockets": int(re.search(r"used (\d+)", read("/proc/net/sockstat")).group(1)),
            "kernel memory, KiB": int(memory["SUnreclaim"]) + int(memory["KernelStack"]) + int(memory["PageTables"])}


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def compare(world, before, number):
    """number: of sandboxes; a leak would be at least one of something for each."""
    until(lambda: set(ours()) <= before["processes"] and keys() <= before["keys"])
    now = census(world)
    for name, old in before.items():
        new = now[name]
        more = sorted(new - old) if isinstance(old, set) else [new] if (new > old if isinstance(old, int) else new != old) else []
        check(f"{name}: as before", not more, more[:20], {p: n for p, n in ours().items() if p in more} if name == "processes" else "")
    left = {n: v - world.machine[n] for n, v in machine().items()}
    say("the whole machine, with all others on it:", ", ".join(f"{n} {v:+d}" for n, v in left.items()))
    if number >= 1000:
        check("the machine: no open file, no socket and no page of kernel memory more a sandbox",
              all(v < number // (1 if "KiB" not in n else 1) for n, v in left.items()), left)


class World:
    """A home, a repository in it, settings."""

    def __init__(self):
        self.base = tempfile.mkdtemp(prefix="wrapix-soak.", dir=os.environ["HOME"])
        self.home, self.project, self.runtime = (f"{self.base}/{n}" for n in ("home", "project", "run"))
        for path in (self.home, self.project, self.runtime):
            os.mkdir(path, 0o700)
        self.env = {"HOME": self.home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "dumb", "XDG_RUNTIME_DIR": self.runtime}
        for name, text in ((".gitconfig", "[user]\n\tname = x\n\temail = x@example.org\n"), (".config/wrapix/config.json", '{"notify": false}\n')):
            os.makedirs(os.path.dirname(f"{self.home}/{name}"), exist_ok=True)
            with open(f"{self.home}/{name}", "w", encoding="ascii") as f:
                f.write(text)
        self.call("git", "init", "-q")
        self.call("sh", "-c", "echo one >file && git add . && git commit -qm one")
        self.machine = machine()

    def call(self, *words, **more):
        return subprocess.run(words, cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120, check=False, **more)

    def start(self, *words, **more):
        return subprocess.Popen(words, cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, text=True, **more)

    def remove(self):
        subprocess.run(["chmod", "-R", "u+rwX", self.base], capture_output=True, check=False)
        shutil.rmtree(self.base, ignore_errors=True)


# --- one after another ---

SERVER = {}


def ask(world):
    """The same command by a server that stays."""
    import server  # pylint: disable=import-outside-toplevel
    if not SERVER:
        SERVER["path"] = world.base + "/socket"
        SERVER["process"] = world.start(WRAPIX, "exec", "--server", SERVER["path"])
        until(lambda: os.path.exists(SERVER["path"]))
    with open(os.devnull, "r+b") as null:
        status = server.run({"command": "echo server; exit 7"}, (null.fileno(),) * 3, SERVER["path"])[0]
    return "" if status == 7 else f"the server said {status}"


def stop_server():
    SERVER["process"].terminate()
    status = SERVER["process"].wait(20)
    SERVER.clear()
    return status


def wants(status, out, *words):
    def one(world):
        r = world.call(WRAPIX, *words)
        return "" if (r.returncode, r.stdout) == (status, out) else f"{words}: {r.returncode}, {r.stdout!r}, {r.stderr!r}"
    return one


def commit(world):
    """A commit comes out of a private git directory."""
    r = world.call(WRAPIX, "run", "--network", "none", "--", "sh", "-c", "git commit -q --allow-empty -m soak; git rev-parse HEAD")
    out = world.call("git", "rev-parse", "HEAD").stdout
    return "" if r.returncode == 0 and out == r.stdout else f"commit: {r.returncode} {r.stderr} {out}"


def cow(world):
    r = world.call(WRAPIX, "run", "--network", "none", "--workspace", "cow", "--name", "soak", "--", "sh", "-c", "echo two >made; cat file >/dev/null")
    gone = world.call(WRAPIX, "discard", "--yes", "soak")
    return "" if r.returncode == 0 and gone.returncode == 0 and not os.path.exists(world.project + "/made") else f"cow: {r.stderr}{gone.stderr}"


NESTED = ("run", "--network", "none", "--mount", f"{WRAPIX}:/bin2/wrapix:ro", "--", "/bin2/wrapix", "exec", "--", "echo", "nested")
KINDS = [  # how often of 100, and what
    (30, wants(0, "hi\n", "exec", "--", "echo", "hi")),
    (12, wants(3, "", "exec", "-c", "echo x >~/refused 2>/dev/null; exit 3")),
    (14, ask),
    (12, wants(0, "hi\n", "run", "--network", "none", "--", "echo", "hi")),
    (12, wants(5, "", "run", "--network", "filtered", "--allow", "wrapix.invalid", "--", "sh", "-c",
               "getent hosts wrapix.invalid refused.invalid >/dev/null; exit 5")),
    (6, wants(0, "nested\n", *NESTED)),
    (5, cow),
    (4, commit),
    (3, wants(127, "", "run", "--network", "none", "--", "/nonexistent")),
    (2, wants(137, "", "run", "--network", "none", "--", "sh", "-c", "kill -9 $$")),
]


def limit(number, rounds):
    """The same again for so many rounds in a user namespace of our own, with only so many namespaces at a time, and without rights."""
    uid, gid = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x10000000):
        raise OSError(ctypes.get_errno(), "no user namespace")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as f:
            f.write(text)
    for kind in [f"max_{n}_namespaces" for n in LIMITED] + ["max_inotify_instances"]:
        with open(f"/proc/sys/user/{kind}", "w", encoding="ascii") as f:
            f.write(str(number))
    os.execvp("setpriv", ["setpriv", "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", sys.executable, "-B", *sys.argv[:3], str(rounds), "limited"])


def row(number):
    allowed = max(60, number // 20)
    if "limited" not in sys.argv:
        limit(allowed, number)
    world = World()
    try:
        deck = [kind for often, kind in KINDS for _ in range(often)]
        # Interleaved, each kind spread over a hundred.
        deck = [deck[i * 37 % 100] for i in range(100)]
        wrong = [w for kind in (k for _, k in KINDS) if (w := kind(world))]
        check("each kind does what it should", not wrong, *wrong)
        stop_server()
        before, begun, memory, descriptors = census(world), time.monotonic(), [], []
        for i in range(number):
            why = deck[i % 100](world)
            if why:
                wrong.append(f"{i}: {why}")
                if len(wrong) > 20:
                    break
            if SERVER and i % max(1, number // 60) == 0:
                found = look(SERVER["process"].pid)
                memory.append(found[1])
                descriptors.append(found[2])
        spent = time.monotonic() - begun
        check(f"{number} sandboxes one after another, with {allowed} namespaces of each kind allowed at a time", not wrong, *wrong)
        say(f"{spent:.0f} s, {spent / number * 1000:.1f} ms each")
        flat("the server's memory, KiB", memory, 160)
        flat("the server's descriptors", descriptors, 1)
        check("the server ends", stop_server() == 0)
        compare(world, before, number)
        logs = len(glob.glob(world.home + "/.local/state/wrapix/log/*"))
        check("of logs a fixed number is kept", logs <= 110, logs)
    finally:
        if SERVER:
            SERVER["process"].kill()
        world.remove()


# --- at once ---

def crowd(number):
    world = World()
    os.mkdir(world.project + "/ready")
    os.mkfifo(world.project + "/go")
    wait = "touch ready/{0}; read x <go; echo {0} >>ready/{0}"
    kinds = [["exec", "-c"], ["run", "--network", "none", "--", "sh", "-c"], ["run", "--network", "filtered", "--allow", "wrapix.invalid", "--", "sh", "-c"]]
    try:
        world.call(WRAPIX, "run", "--network", "none", "--", "true")
        world.call(WRAPIX, "exec", "--", "true")
        before, begun, errors = census(world), time.monotonic(), open(world.base + "/errors", "w+", encoding="utf-8")
        running = [world.start(WRAPIX, *kinds[i % 3], wait.format(i), stdout=subprocess.DEVNULL, stderr=errors) for i in range(number)]
        check(f"{number} sandboxes are there at once",
              until(lambda: len(os.listdir(world.project + "/ready")) == number or any(p.poll() for p in running), 300),
              len(os.listdir(world.project + "/ready")), [p.poll() for p in running if p.poll()], read(world.base + "/errors")[-1500:])
        found, listed = ours(), json.loads(world.call(WRAPIX, "ps", "--json").stdout)
        memory = sum(look(pid)[0] for pid, name in found.items() if name.startswith(("wrapix", "srt")))
        say(f"after {time.monotonic() - begun:.1f} s: {len(found)} processes; wrapix's own have {memory} KiB (PSS), {memory // number} a sandbox; ps lists {len(listed)}")
        check("... and each is in another process namespace", len([n for n in namespaces() if n.startswith("pid:")]) >= number)
        with open(world.project + "/go", "w", encoding="ascii") as go:  # whoever reads gets one; the end is everybody's
            go.write("x\n" * number)
            go.flush()
            ended = [p.wait(120) for p in running]
        check("... and ends well", not any(ended), [e for e in ended if e][:20], read(world.base + "/errors")[-1500:])
        wrote = sum(read(f"{world.project}/ready/{i}") == f"{i}\n" for i in range(number))
        check("... having done its work", wrote == number, wrote)
        errors.close()
        os.unlink(world.base + "/errors")
        shutil.rmtree(world.project + "/ready")
        compare(world, before, number)
    finally:
        world.remove()


# --- for hours ---

def flat(name, values, slack):
    """The last third beside the first. The supervisor's heap grows once, by some 280 KiB, at a moment that differs from run to
    run, and stays there: a leak is more than that, in 5,000 rounds 80 bytes a round."""
    third = max(1, len(values) // 3)
    first, last = statistics.median(values[1:third + 1] or values), statistics.median(values[-third:])
    say(f"{name}: {first:.0f} at first, {last:.0f} at last, {max(values)} at most, of {len(values)} looks")
    return check(f"{name}: flat", last <= first + slack, values)


AGENT = r"""
import os, socket, subprocess, sys
rounds, port = int(sys.argv[1]), int(sys.argv[2])
def attempt(call, *words):
    try:
        call(*words)
    except OSError:
        pass
def talk():
    s = socket.create_connection(("127.0.0.1", port), 5)
    s.sendall(b"hello\n")
    assert s.recv(10)
    s.close()
def refused():
    s = socket.socket()
    s.settimeout(2)
    attempt(s.connect, ("192.0.2.%d" % (i % 200), 80))
    s.close()
# The supervisor keeps a descriptor for each of up to 128 callers: it begins with as many as it will ever know.
for i in range(1200):
    if os.fork() == 0:
        attempt(os.mkdir, "warm")
        os._exit(0)
    os.wait()
for i in range(rounds):
    attempt(talk)
    refused()
    attempt(socket.getaddrinfo, "n%d.refused.invalid" % (i % 50), 80)
    attempt(os.mkdir, "/usr/refused%d" % (i % 30))
    attempt(os.mkdir, "denied/x%d" % i)
    if i % 25 == 0:
        subprocess.run(["wrapix-notify", "soak", "message %d" % i])
    if i % 200 == 0:
        subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "soak %d" % i])
    if i % 10 == 0:
        with open("progress.new", "w") as f:
            f.write(str(i))
        os.rename("progress.new", "progress")
"""


def serve_lines(listener):
    while True:
        try:
            peer, _ = listener.accept()
        except OSError:
            return
        with peer:
            peer.recv(100)
            peer.sendall(b"hello\n")


class Meddler:
    """What comes from outside meanwhile: settings, rules, a bus that goes and returns."""

    def __init__(self, world, session):
        self.world, self.session, self.turns = world, session, 0

    def turn(self):
        self.turns += 1
        settings = {"sandbox": {"enabled": True, "network": {"allowedDomains": [f"a{self.turns % 7}.invalid"]},
                                "filesystem": {"denyWrite": [f"{self.world.project}/{n}" for n in ("denied", f"more{self.turns % 5}")]}}}
        path = self.world.home + "/.claude/settings.json"  # the user's own: a project's cannot widen
        with open(path + ".new", "w", encoding="ascii") as f:
            json.dump(settings, f)
        os.rename(path + ".new", path)
        self.world.call(WRAPIX, "allow" if self.turns % 2 else "deny", self.session, f"b{self.turns % 9}.invalid")


def long(number):
    os.environ.setdefault("WRAPIX", WRAPIX)
    world = World()
    os.environ["NOTIFY_TMP"] = world.base + "/desktop"
    os.mkdir(world.base + "/desktop")
    os.environ["HOME"] = world.home
    import desktop  # pylint: disable=import-outside-toplevel
    desktop.have("dbus-daemon", "dunst", "Xvfb")
    bus = desktop.start_bus()
    desktop.start_x()
    desktop.start_dunst()
    daemon = desktop.start_daemon()
    world.env.update({k: v for k, v in desktop.ENV.items() if k in ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY")})
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve_lines, args=(listener,), daemon=True).start()
    port = listener.getsockname()[1]
    os.mkdir(f"{world.home}/.claude")
    os.mkdir(f"{world.project}/denied")
    with open(world.home + "/.config/wrapix/config.json", "w", encoding="ascii") as f:
        f.write("{}\n")
    Meddler.turn(meddler := Meddler(world, "soak"))
    before = set(ours())
    session = world.start(WRAPIX, "run", "--name", "soak", "--network", "filtered", "--settings-from", "claude", "--host-port", str(port),
                          "--", "python3", "-c", AGENT, str(number), str(port), stdout=subprocess.DEVNULL, stderr=open(world.base + "/errors", "w", encoding="utf-8"))
    try:
        check("the session works", until(lambda: os.path.exists(world.project + "/progress") or session.poll() is not None, 60) and session.poll() is None,
              read(world.base + "/errors")[-1500:])
        looks = {}
        begun = moved = time.monotonic()
        rounds = -1
        while session.poll() is None and time.monotonic() < moved + 300:  # however busy the machine: as long as it gets on
            meddler.turn()
            if (now := int(read(world.project + "/progress"))) > rounds:
                rounds, moved = now, time.monotonic()
            if rounds < min(250, number // 2):
                continue  # until each table of names and addresses has what it will ever have
            helpers = [p for p, n in ours().items() if p not in before and n.startswith("wrapix") and p != session.pid]
            for name, pid in (("the supervisor", session.pid), ("the daemon", daemon.pid)):
                for what, value in zip(("PSS, KiB", "memory, KiB", "descriptors"), look(pid)):
                    looks.setdefault(f"{name}'s {what}", []).append(value)
            looks.setdefault("its other processes' memory, KiB", []).append(sum(look(p)[1] for p in helpers))
            looks.setdefault("its processes", []).append(len(helpers))
            if meddler.turns % 100 == 0:
                bus.kill()
                bus.wait()
                bus = desktop.start_bus()
        check("it ends well", session.poll() == 0, session.poll(), read(world.base + "/errors")[-1500:])
        events = sum(len(read(p).splitlines()) for p in glob.glob(world.home + "/.local/state/wrapix/log/*"))
        commits = len(world.call("git", "log", "--format=%s").stdout.split("\n"))
        say(f"{time.monotonic() - begun:.0f} s, {number} rounds, {meddler.turns} changes of settings and rules; the log has {events} lines, the repository {commits} commits, "
            f"the daemon was told {desktop.status().get('received')} messages")
        for name, values in looks.items():
            values = [v for v in values if v]
            if "PSS" in name or "other" in name:  # of the others there are now more, now fewer
                say(f"{name}: {statistics.median(values[:len(values) // 3]):.0f} in the first third, {statistics.median(values[-len(values) // 3:]):.0f} in the last, {max(values)} at most")
                continue
            flat(name, values[:-1] or values, 400 if "KiB" in name else 4)  # descriptors: some connections are always under way
        check("... its commits are there", commits > number // 200, commits)
        check("... its refusals, too", events > 20, events)
        world.call(WRAPIX, "log", "--violations")
    finally:
        if session.poll() is None:
            session.kill()
            session.wait()
        listener.close()
        desktop.end_all()
        world.remove()


PARTS = {"row": (row, 10000), "crowd": (crowd, 300), "long": (long, 20000)}


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if PART == "eyes":
        eyes(sys.argv[3])
    part, usual = PARTS[PART]
    part(int(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] else usual)
    print(f"1..{points['run']}")
    sys.exit(bool(points["failed"]))


main()
