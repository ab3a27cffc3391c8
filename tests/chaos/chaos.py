#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""chaos.py WRAPIX [ROUNDS] [SEED]: does something with wrapix, breaks it at a random moment, and looks at what is left.

A round is a scene (a start, a copy-on-write session, an apply, an image, a key, ...) with a fault: one of its processes is
killed or stopped, descriptors, memory or file sizes are limited, or a system call fails with EIO, ENOSPC, EMFILE or ENOMEM
from some point on. Afterwards: no process and no mount is left, no file of the user's is lost or half written, and the next
start works. Prints TAP, a point a round, with the seed that repeats it: chaos.py WRAPIX 1 SEED.

Runs as an ordinary user who does nothing else meanwhile.
"""
import ctypes
import errno
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

WRAPIX = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2] else 40
SEED = int(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] else int.from_bytes(os.urandom(4), "little")
FILES = 12
CALLS = {"rename": 82, "mkdir": 83, "fsync": 74, "fdatasync": 75, "ftruncate": 77, "pipe2": 293, "socketpair": 53, "fchmod": 91,
         "renameat2": 316, "renameat": 264, "mkdirat": 258, "linkat": 265, "symlinkat": 266, "memfd_create": 319, "clone3": 435,
         "epoll_create1": 291, "timerfd_create": 283, "signalfd4": 289, "flock": 73, "mount_setattr": 442, "fsopen": 430,
         "move_mount": 429, "openat2": 437, "pidfd_open": 434, "getdents64": 217, "unlinkat": 263, "copy_file_range": 326}
ERRORS = ["EIO", "ENOSPC", "EMFILE", "ENOMEM"]


def fail_call(number, code):
    """From here on the call fails, in this process and all that it starts."""
    rows = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | code), (0x06, 0, 0, 0x7FFF0000)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))

    class Program(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
    libc = ctypes.CDLL(None)
    program = Program(len(rows), ctypes.addressof(text))
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
        os._exit(99)


class World:
    """A home, a project in it, and what the user has there."""

    def __init__(self, base):
        self.base = base
        self.home, self.project = os.path.join(base, "home"), os.path.join(base, "project")
        os.mkdir(self.home)
        os.mkdir(self.project)
        self.env = {"HOME": self.home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "dumb"}
        for i in range(FILES):
            self.write(f"file{i}", "old\n" * 200)
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "one")
        self.rootfs = os.path.join(base, "rootfs")
        os.makedirs(os.path.join(self.rootfs, "usr/bin"))
        with open(os.path.join(self.rootfs, "usr/bin/busybox"), "wb") as f:
            f.write(os.urandom(200000))

    def write(self, name, text):
        with open(os.path.join(self.project, name), "w", encoding="ascii") as f:
            f.write(text)

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *words], cwd=self.project, env=self.env,
                       check=True, capture_output=True)

    def run(self, *words, timeout=30):
        return subprocess.run([WRAPIX, *words], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=timeout)


CHANGE = f"for i in $(seq 0 {FILES - 1}); do yes new | head -n 200 >file$i.tmp && mv file$i.tmp file$i; done"


def scene_run(world):
    return ["run", "--network", "none", "--", "sh", "-c", "echo hello; yes | head -n 20000 >/tmp/x; echo end"]


def scene_filtered(world):
    return ["run", "--network", "filtered", "--allow", "wrapix.invalid", "--", "sh", "-c", "exec 3<>/dev/null; getent hosts wrapix.invalid; true"]


def scene_exec(world):
    return ["exec", "--", "sh", "-c", "echo x >made && mv made moved && rm moved"]


def scene_cow(world):
    return ["run", "--network", "none", "--workspace", "cow", "--", "sh", "-c", CHANGE]


def scene_apply(world):
    world.run("run", "--network", "none", "--workspace", "cow", "--name", "work", "--", "sh", "-c", CHANGE)
    return ["apply", "--all", "--yes"] if "--all" in world.run("apply", "--help").stdout else ["apply", "--yes"]


def scene_git(world):
    return ["run", "--network", "none", "--git", "private", "--", "sh", "-c",
            "git -c user.name=x -c user.email=x@example.org commit -q --allow-empty -m inside"]


def scene_image(world):
    return ["image", "build", "--from", f"rootfs:{world.rootfs}", "--name", "chaos"]


def scene_key(world):
    return ["key", "add", f"k{random.getrandbits(32)}"]


def scene_notify(world):
    return ["run", "--network", "none", "--", "sh", "-c", "wrapix-notify hello; wrapix-notify again; true"]


def scene_stop(world):
    return ["stop", "--all"]


SCENES = [scene_run, scene_filtered, scene_exec, scene_cow, scene_apply, scene_git, scene_image, scene_key, scene_notify, scene_stop]


def mine():
    """The user's living processes but for us: pid -> what it is."""
    found, us = {}, {os.getpid(), os.getppid()}
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) in us:
            continue
        try:
            if os.stat(f"/proc/{name}").st_uid != os.getuid():
                continue
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as f:
                stat = f.read()
            if stat.rpartition(")")[2].split()[0] not in "ZX":
                found[int(name)] = stat.partition("(")[2].rpartition(")")[0]
        except OSError:
            pass
    return found


def descendants(pid):
    found, grown = {pid}, True
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as f:
                    parents[int(name)] = int(f.read().rpartition(")")[2].split()[1])
            except OSError:
                pass
    while grown:
        grown = False
        for child, parent in parents.items():
            if parent in found and child not in found:
                found.add(child)
                grown = True
    return sorted(found)


def pick_fault(rng):
    kind = rng.choice(["kill", "kill", "kill", "stop", "nofile", "memory", "fsize", "call", "call", "call"])
    if kind in ("kill", "stop"):
        return kind, rng.random() ** 2 * 0.25
    if kind == "nofile":
        return kind, rng.randint(4, 40)
    if kind == "memory":
        return kind, rng.randint(6, 80) << 20
    if kind == "fsize":
        return kind, rng.choice([0, 1000, 50000])
    return kind, (rng.choice(sorted(CALLS)), rng.choice(ERRORS))


def limits(fault):
    kind, value = fault
    if kind == "nofile":
        resource.setrlimit(resource.RLIMIT_NOFILE, (value, value))
    elif kind == "memory":
        resource.setrlimit(resource.RLIMIT_AS, (value, value))
    elif kind == "fsize":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (value, value))
    elif kind == "call":
        fail_call(CALLS[value[0]], getattr(errno, value[1]))


def send(pid, number):
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def break_it(world, words, fault, rng):
    process = subprocess.Popen([WRAPIX, *words], cwd=world.project, env=world.env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=lambda: limits(fault))
    kind, value = fault
    if kind in ("kill", "stop"):
        time.sleep(value)  # the random moment itself, not a wait for something
        victim = rng.choice(descendants(process.pid))
        if process.poll() is None:
            send(victim, signal.SIGKILL if kind == "kill" else signal.SIGSTOP)
            if kind == "stop":
                time.sleep(0.1)
                # A stopped command stops its supervisor, too, as a job of a shell's: whoever goes on, all go on.
                for pid in [victim, *descendants(process.pid)]:
                    send(pid, signal.SIGCONT)
    try:
        return process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        return None


def whole(path):
    with open(path, encoding="ascii") as f:
        return f.read() in ("old\n" * 200, "new\n" * 200)


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def look(world, words, status, before, mounts):
    wrong = []
    if status is None:
        wrong.append("it did not end within 20 s")
    # The daemon that shows messages waits for more of them; it is asked to go by a signal, as at the end of a session.
    for pid, name in mine().items():
        if name.startswith("wrapix-notifyd") and pid not in before:
            send(pid, signal.SIGTERM)
    if not wait_for(lambda: not set(mine()) - set(before), 8):
        wrong.append(f"left running: { {p: n for p, n in mine().items() if p not in before} }")
        for pid in set(mine()) - set(before):
            send(pid, signal.SIGKILL)
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as f:
        if f.read() != mounts:
            wrong.append("a mount is left")
    wrong += [f"file{i} is gone or half" for i in range(FILES) if not os.path.exists(f"{world.project}/file{i}") or not whole(f"{world.project}/file{i}")]
    if words[0] == "apply":
        again = world.run(*words)
        undone = [i for i in range(FILES) if open(f"{world.project}/file{i}", encoding="ascii").read() != "new\n" * 200]
        if again.returncode == 0 and undone and status != 0:
            wrong.append(f"applied again, and still old: {undone}: {again.stdout}{again.stderr}")
    if words[0] == "image":
        again = world.run(*words)
        if again.returncode or world.run("image", "verify", "chaos").returncode:
            wrong.append(f"the image cannot be made afterwards: {again.stderr}")
    after = world.run("run", "--network", "none", "--", "echo", "works")
    if after.returncode or after.stdout != "works\n":
        wrong.append(f"the next start fails: {after.returncode} {after.stderr}")
    git = subprocess.run(["git", "fsck", "--no-progress"], cwd=world.project, env=world.env, capture_output=True, text=True)
    if git.returncode:
        wrong.append(f"the repository is damaged: {git.stderr}")
    sessions = world.run("ps", "--json")
    if sessions.stdout.split() not in (["[]"], ["[", "]"]):
        wrong.append(f"a session is left: {sessions.stdout}")
    return wrong


def one_round(seed):
    rng = random.Random(seed)
    random.seed(seed)
    scene, fault = rng.choice(SCENES), pick_fault(rng)
    base = tempfile.mkdtemp(prefix="wrapix-chaos.", dir=os.environ["HOME"])
    try:
        world = World(base)
        before = mine()
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as f:
            mounts = f.read()
        words = scene(world)
        status = break_it(world, words, fault, rng)
        wrong = look(world, words, status, before, mounts)
    finally:
        subprocess.run(["chmod", "-R", "u+rwX", base], capture_output=True)
        shutil.rmtree(base, ignore_errors=True)
    return f"{scene.__name__[6:]}, {fault[0]} {fault[1]}, status {status}", wrong


def main():
    print(f"# {ROUNDS} rounds, the first with seed {SEED}")
    failed = 0
    for i in range(ROUNDS):
        name, wrong = one_round(SEED + i)
        failed += bool(wrong)
        print("not ok" if wrong else "ok", i + 1, f"- seed {SEED + i}: {name}".replace("#", "?"))
        for line in wrong:
            print("#", line.replace("\n", "\n# ")[:2000])
        sys.stdout.flush()
    print(f"1..{ROUNDS}")
    sys.exit(bool(failed))


main()
