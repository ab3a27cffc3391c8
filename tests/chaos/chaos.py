#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""chaos.py WRAPIX INJECT [ROUNDS] [SEED] [SCENES]: does something with wrapix, breaks it at a random moment, and looks at what is left.

A round is a scene (a start, an apply, an image, a key in use, a step of ralph's, a builder, ...) with a fault: one of its
processes is killed or stopped at a random moment, one or all of them die at a random call that writes, descriptors, memory
or file sizes are limited, a system call fails from the beginning with EIO, ENOSPC, EMFILE or ENOMEM, or from a random call
that writes on. Afterwards: no process, no mount and nothing in wrapix's directories is left, no file of the user's is lost
or half written, and the next start works. Prints TAP, a point a round, with the seed that repeats it: chaos.py ... 1 SEED.

Dear scenes come less often than cheap ones; SCENES is a pattern for the names of those to play, and belongs to the seed.
With podman's engine podman, conmon, pasta and crun are among those that are killed; of podman it is asked whether anything
is left: containers, volumes, mounts in its namespace, files. CHAOS_WORKERS (two a processor) at a time, each with a home of its own; what a round starts is
told by its ancestors, so that others of the same user do not matter. Runs as an ordinary user.
"""
import ctypes
import errno
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from place import Place, half_done  # pylint: disable=wrong-import-position
from containers import PAUSE, Containers, available  # pylint: disable=wrong-import-position

WRAPIX, INJECT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] else 40
SEED = int(sys.argv[4]) if len(sys.argv) > 4 and sys.argv[4] else int.from_bytes(os.urandom(4), "little")
ONLY = sys.argv[5] if len(sys.argv) > 5 and sys.argv[5] else "."
WORKERS = int(os.environ.get("CHAOS_WORKERS") or 2 * len(os.sched_getaffinity(0)))  # a round waits more than it computes
ROOT = os.path.dirname(os.path.dirname(WRAPIX))
AGENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib/ralph-agent")
FILES = 12
OLD, NEW = "old\n" * 200, "new\n" * 200
CALLS = {"rename": 82, "mkdir": 83, "fsync": 74, "fdatasync": 75, "ftruncate": 77, "pipe2": 293, "socketpair": 53, "fchmod": 91,
         "renameat2": 316, "renameat": 264, "mkdirat": 258, "linkat": 265, "symlinkat": 266, "memfd_create": 319, "clone3": 435,
         "epoll_create1": 291, "timerfd_create": 283, "signalfd4": 289, "flock": 73, "mount_setattr": 442, "fsopen": 430,
         "move_mount": 429, "openat2": 437, "pidfd_open": 434, "getdents64": 217, "unlinkat": 263, "copy_file_range": 326}
ERRORS = ["EIO", "ENOSPC", "EMFILE", "ENOMEM"]
PROGRAMS = "wrapix,ralph,srt"
KEPT = {"log", "cow", "ralph", "trust", "podman", "images", "builder", "turns"}  # of the state directory: what stays on purpose

LASTING = "x[0-9a-f]{12}|[0-9a-f]{32}"  # one for each project: the git directory of its commands, one that is ready for the next session


def program(name):
    """Of the build, or beside wrapix where it is installed."""
    found = {"ralph": "ralph/ralph", "wrapix-builder": "builder/wrapix-builder"}[name]
    path = os.path.join(ROOT, found)
    return path if os.path.exists(path) else os.path.join(os.path.dirname(WRAPIX), name)


def prctl(*words):
    return ctypes.CDLL(None).prctl(*words)


def fail_call(number, code):
    """From here on the call fails, in this process and all that it starts."""
    rows = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | code), (0x06, 0, 0, 0x7FFF0000)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))

    class Program(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
    if prctl(38, 1, 0, 0, 0) or prctl(22, 2, ctypes.byref(Program(len(rows), ctypes.addressof(text))), 0, 0):
        os._exit(99)


class World(Place):
    """A home, a project in it, and what the user has there."""

    def __init__(self):
        self.base = tempfile.mkdtemp(prefix="wrapix-chaos.", dir=os.environ["HOME"])
        self.home, self.project, self.runtime = (os.path.join(self.base, n) for n in ("home", "project", "run"))
        for path in (self.home, self.project, self.runtime):
            os.mkdir(path, 0o700)
        self.state = self.home + "/.local/state/wrapix"
        self.env = {"HOME": self.home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "dumb", "XDG_RUNTIME_DIR": self.runtime,
                    "CLAUDE_CODE_OAUTH_TOKEN": "token"}
        self.made = set()
        self.containers = None
        self.put(".gitconfig", "[user]\n\tname = x\n\temail = x@example.org\n", self.home)
        self.put(".config/wrapix/config.json", json.dumps({"ralph": {"agent": self.home + "/agent", "attempts": 100}}), self.home)
        self.put("token.json", json.dumps({"credentials": {"CLAUDE_CODE_OAUTH_TOKEN": {
            "brokered": True, "upstream": "https://localhost:9/v1/", "baseUrl": "ANTHROPIC_BASE_URL"}}}), self.base)
        shutil.copy(AGENT, self.home + "/agent")
        self.put("rootfs/file", os.urandom(30000).hex(), self.base)
        self.put("specs/f.md", "# F\n")
        self.put(".gitignore", ".wrapix/\n.claude/\nmade\nmoved\n")
        self.fill()
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "one")
        # That copy-on-write works here is remembered; a fault in the trial would have sessions kept in /var/tmp.
        self.run("run", "--network", "none", "--workspace", "cow", "--", "true")

    def once(self, what):
        """True the first time that a scene asks."""
        new = what not in self.made
        self.made.add(what)
        return new

    def fill(self):
        for i in range(FILES):
            if self.get(f"file{i}") != OLD:
                self.put(f"file{i}", OLD)

    def call(self, *words, timeout=60, **more):
        return subprocess.run(words, cwd=self.project, env=self.env, capture_output=True, text=True, errors="replace",
                              timeout=timeout, check=False, **({"stdin": subprocess.DEVNULL} if "input" not in more else {}), **more)

    def git(self, *words):
        r = self.call("git", *words)
        if r.returncode:
            raise RuntimeError(f"git {words}: {r.stderr}")
        return r.stdout

    def run(self, *words, **more):
        return self.call(WRAPIX, *words, **more)

    def remove(self):
        if self.containers:
            self.containers.remove()
        subprocess.run(["chmod", "-R", "u+rwX", self.base], capture_output=True, check=False)
        shutil.rmtree(self.base, ignore_errors=True)


CHANGE = f"for i in $(seq 0 {FILES - 1}); do yes new | head -n 200 >file$i.tmp && mv file$i.tmp file$i; done"


class Scene:
    """A command, how long it takes (roughly: kills come within it), how often of 1,000 rounds, and what holds afterwards.
    Where victims are named, half of the kills and stops wait for one of them, however long the machine takes to start it."""
    often, seconds = 10, 0.05
    victims = ()

    def words(self, w):
        raise NotImplementedError

    def after(self, w, status):
        return []


class Run(Scene):
    often = 130

    def words(self, w):
        return [WRAPIX, "run", "--network", "none", "--", "sh", "-c", "echo hello; yes | head -n 20000 >/tmp/x; echo end"]


class Filtered(Scene):
    often = 100

    def words(self, w):
        return [WRAPIX, "run", "--network", "filtered", "--allow", "wrapix.invalid", "--", "sh", "-c", "getent hosts wrapix.invalid; true"]


class Exec(Scene):
    often, seconds = 250, 0.02

    def words(self, w):
        return [WRAPIX, "exec", "--", "sh", "-c", "echo x >made && mv made moved && rm moved; echo x >~/refused; true"]

    def after(self, w, status):
        wrong = []
        for name in os.listdir(w.state + "/log") if os.path.isdir(w.state + "/log") else []:
            for line in (w.get(name, w.state + "/log") or "").splitlines():
                try:
                    json.loads(line or "{}")
                except ValueError:
                    wrong.append(f"the log {name} has a line that cannot be read: {line[:200]!r}")
        return wrong


class Cow(Scene):
    often, seconds = 50, 0.1

    def words(self, w):
        return [WRAPIX, "run", "--network", "none", "--workspace", "cow", "--", "sh", "-c", CHANGE]


class Apply(Scene):
    often, seconds = 50, 0.05

    def words(self, w):
        w.run("run", "--network", "none", "--workspace", "cow", "--name", "work", "--", "sh", "-c", CHANGE)
        return [WRAPIX, "apply", "--yes", "work"]

    def after(self, w, status):
        again = w.run("apply", "--yes", "work")
        undone = [i for i in range(FILES) if w.get(f"file{i}") != NEW]
        return [f"applied again, and still old: {undone}: {again.stdout}{again.stderr}"] if again.returncode == 0 and undone and status != 0 else []


class Undo(Apply):
    often = 30

    def words(self, w):
        w.call(*super().words(w))
        return [WRAPIX, "undo", "work"]

    def after(self, w, status):
        again = w.run("undo", "work")
        undone = [i for i in range(FILES) if w.get(f"file{i}") != OLD]
        return [f"taken back again, and still new: {undone}: {again.stdout}{again.stderr}"] if undone else []


class Git(Scene):
    often, seconds = 90, 0.1

    def words(self, w):
        return [WRAPIX, "run", "--network", "none", "--git", "private", "--", "sh", "-c",
                "git commit -q --allow-empty -m inside && git rev-parse HEAD >.git/made-id; cat .git/made-id"]

    def after(self, w, status):
        w.run("git", "status")
        git = w.call("git", "fsck", "--no-progress")
        locks = [n for d, _, names in os.walk(w.project + "/.git") for n in names if n.endswith(".lock")]
        return [f"the repository is damaged: {git.stderr}"] * bool(git.returncode) + [f"locked: {locks}"] * bool(locks)


class ExecGit(Scene):
    """Both sides have something for the other; whatever happens, the next command's git works and the host gets what it did."""
    often, seconds = 60, 0.15

    def words(self, w):
        w.git("commit", "-q", "--allow-empty", "-m", "outside")
        w.git("branch", "-f", "outside")
        return [WRAPIX, "exec", "--", "sh", "-c", "git branch -f inside outside; git commit -q --allow-empty -m inside; echo x >made; git add -f made; git stash -q"]

    def after(self, w, status):
        name = f"after {random.getrandbits(32)}"
        again = w.run("exec", "--", "git", "commit", "-q", "--allow-empty", "-m", name)
        wrong = [] if again.returncode == 0 and name in w.git("log", "--all", "--format=%s") else [f"git does not work afterwards: {again.stderr}"]
        return wrong + Git.after(self, w, status)


class Image(Scene):
    often, seconds = 40, 0.05

    def words(self, w):
        w.put("rootfs/changed", str(random.random()), w.base)
        return [WRAPIX, "image", "build", "--from", f"rootfs:{w.base}/rootfs", "--name", "chaos"]

    def after(self, w, status):
        again = w.call(*self.words(w))
        if again.returncode or w.run("image", "verify", "chaos").returncode:
            return [f"the image cannot be made afterwards: {again.stderr}"]
        return []


class Key(Scene):
    often, seconds = 30, 0.03

    def words(self, w):
        return [WRAPIX, "key", "add", "--no-gh", f"k{random.getrandbits(32)}"]

    def after(self, w, status):
        pairs = json.loads(w.run("key", "list", "--json").stdout)
        where = w.home + "/.ssh/deploy_keys"
        found = [n for n in os.listdir(where) if n != "backup"] if os.path.isdir(where) else []
        return [] if len(found) == 4 * len(pairs) else [f"{len(pairs)} pairs in {sorted(found)}"]


class UseKey(Key):
    """The agent of the supervisor's lists its keys and signs a commit."""
    often, seconds = 40, 0.15

    def words(self, w):
        if w.once("site"):
            w.run("key", "add", "--no-gh", "site")
        return [WRAPIX, "run", "--network", "none", "--deploy-key", "site", "--", "sh", "-c", "ssh-add -L; git commit -q -S --allow-empty -m signed"]

    def after(self, w, status):
        return super().after(w, status) + Git.after(self, w, status)


class UseToken(Scene):
    """A brokered credential: the relay is asked for something that its host does not answer."""
    often, seconds = 30, 0.1

    def words(self, w):
        return [WRAPIX, "run", "--network", "none", "--config", w.base + "/token.json", "--", "sh", "-c",
                'curl -s --max-time 2 "$ANTHROPIC_BASE_URL/v1/messages"; true']


class Secret(Scene):
    often, seconds = 30, 0.01

    def words(self, w):
        w.run("secret", "set", "token", input="old")
        return [WRAPIX, "secret", "remove", "token"]

    def after(self, w, status):
        kept = w.run("secret", "get", "token")
        return [] if (kept.returncode, kept.stdout.strip()) in ((0, "old"), (125, ""), (1, "")) else [f"the secret is {kept}"]


class Mode(Scene):
    often, seconds = 20, 0.01

    def words(self, w):
        w.put(".claude/settings.local.json", '{"mine": 1, "sandbox": {"enabled": true}}\n')
        return [WRAPIX, "mode", "disabled"]

    def after(self, w, status):
        return [] if json.loads(w.get(".claude/settings.local.json"))["mine"] == 1 else ["the settings are not whole"]


class Notify(Scene):
    """The daemon of messages is among those that are killed."""
    often, seconds = 50, 0.1

    def words(self, w):
        return [WRAPIX, "run", "--network", "none", "--", "sh", "-c", "wrapix-notify hello; wrapix-notify again; true"]


class Ralph(Scene):
    """A task of its own: whatever happens, it is done once in the end."""
    often, seconds = 15, 0.4
    number = 0

    def words(self, w):
        if w.once("feature"):
            w.call(program("ralph"), "start", "f")
        self.number = random.getrandbits(32)
        w.call(program("ralph"), "item", "add", "--title", f"t{self.number}", "--text", f"sh: echo t{self.number} >>shared.txt")
        return [program("ralph"), "loop"]

    def after(self, w, status):
        again = w.call(program("ralph"), "loop")
        done = (w.get("shared.txt") or "").split().count(f"t{self.number}")
        return [] if done == 1 else [f"the task was done {done} times: {again.returncode} {again.stdout[-500:]}{again.stderr[-500:]}"]


class Builder(Scene):
    """A machine for Nix's builds; where there is no Nix it says so, which breaks as well."""
    often, seconds = 4, 0.6

    def words(self, w):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        return [program("wrapix-builder"), "start", "--network", "none", "--port", str(port)]

    def after(self, w, status):
        w.call(program("wrapix-builder"), "stop")
        said = w.call(program("wrapix-builder"), "status", "--json").stdout
        return [] if '"ready"' not in said else [f"the builder runs on: {said}"]


class Stop(Scene):
    often, seconds = 10, 0.01

    def words(self, w):
        return [WRAPIX, "stop", "--all"]


class Podman(Scene):
    """The first of a world takes seconds more: an image is made and given to podman."""
    often, seconds = 3, 0.5
    victims = ("wrapix", "podman", "conmon", "crun", "wrapix-init", "sh")
    options = ["--network", "none"]
    script = "echo hello; yes | head -n 20000 >/tmp/x; echo end"

    def words(self, w):
        if not w.containers:
            w.containers = Containers(w, WRAPIX)
        return [WRAPIX, "run", "--engine", "podman", *self.options, "--", "sh", "-c", self.script]

    def after(self, w, status):
        return w.containers.left()


class PodmanOpen(Podman):
    """pasta is there."""
    victims = (*Podman.victims, "pasta")
    options = ["--network", "open"]
    script = "nslookup wrapix.invalid; true"


class PodmanFiltered(Podman):
    options = ["--network", "filtered", "--allow", "wrapix.invalid"]
    script = "nslookup wrapix.invalid; wget -q -O /dev/null http://wrapix.invalid; true"


class PodmanCow(Podman):
    often = 2
    options = ["--network", "none", "--workspace", "cow"]
    script = CHANGE


class PodmanWork(Podman):
    """Writes into the project itself, with a git directory of its own and a port."""
    often = 2
    options = ["--network", "none", "--git", "private", "--publish", "auto"]
    script = CHANGE


PODMAN = (Podman, PodmanOpen, PodmanFiltered, PodmanCow, PodmanWork) if available() else ()
SCENES = [s() for s in (Run, Filtered, Exec, Cow, Apply, Undo, Git, ExecGit, Image, Key, UseKey, UseToken, Secret, Mode, Notify, Ralph, Builder, Stop, *PODMAN)
          if re.match(ONLY, s.__name__)]


# --- processes ---

def tree():
    """What descends from this worker, to whom orphans come: pid -> name; those that have ended are buried."""
    parents, names, ended = {}, {}, []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as f:
                    stat = f.read()
            except OSError:
                continue
            state, parent = stat.rpartition(")")[2].split()[:2]
            if state in "ZX":
                ended.append((int(name), int(parent)))
            else:
                parents[int(name)], names[int(name)] = int(parent), stat.partition("(")[2].rpartition(")")[0]
    found, grown = {os.getpid()}, True
    while grown:
        more = {p for p, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    for pid, parent in ended:
        if parent == os.getpid() and pid != STARTED.get("pid"):
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass
    return {p: names[p] for p in found if p != os.getpid() and names[p] not in PAUSE}


STARTED = {}


def send(pid, number):
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


# --- faults ---

def pick_fault(rng, scene):
    kind = rng.choice(["kill"] * 3 + ["stop"] + ["nofile", "memory", "fsize"] + ["call"] * 2 + ["inject"] * 4)
    if kind in ("kill", "stop"):
        if scene.victims and rng.random() < 0.5:
            return kind, (rng.choice(scene.victims), rng.random() * 0.3)
        return kind, ("", rng.random() * 1.3 * scene.seconds)
    if kind == "nofile":
        return kind, rng.randint(4, 40)
    if kind == "memory":
        return kind, rng.randint(6, 80) << 20
    if kind == "fsize":
        return kind, rng.choice([0, 1000, 50000])
    if kind == "inject":
        return kind, (rng.choice(["kill", "kill", "all", *ERRORS, "ENOSPC+", "EIO+"]), int(2 ** (rng.random() * 8)))
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


def strike(kind, name, rng):
    victims = sorted(pid for pid, comm in tree().items() if comm.startswith(name))
    if not victims:
        return
    victim = rng.choice(victims)
    send(victim, signal.SIGKILL if kind == "kill" else signal.SIGSTOP)
    if kind == "stop":
        time.sleep(0.05)
        send(victim, signal.SIGCONT)


def go_on():
    """A stopped command stops its supervisor, too, as a job of a shell's, some time after it: whoever goes on, all go on."""
    for pid in tree():
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
                stopped = f.read().rpartition(")")[2].split()[0] == "T"
        except OSError:
            continue
        if stopped:
            send(pid, signal.SIGCONT)


def break_it(world, words, fault, rng):
    kind, value = fault
    prefix = [INJECT, "-p", PROGRAMS, value[0], str(value[1])] if kind == "inject" else []
    process = subprocess.Popen([*prefix, *words], cwd=world.project, env=world.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, preexec_fn=None if kind in ("kill", "stop", "inject") else lambda: limits(fault))
    STARTED["pid"] = process.pid
    if kind in ("kill", "stop"):
        name, moment = value
        if name:
            wait_for(lambda: process.poll() is not None or any(comm.startswith(name) for comm in tree().values()), 60)
        time.sleep(moment)  # the random moment itself, not a wait for something
        strike(kind, name, rng)
        wait_for(lambda: kind == "kill" or process.poll() is not None or go_on(), 60)
    elif kind == "inject":
        # inject stays until all have ended; a daemon is asked to when it is all that is left.
        wait_for(lambda: process.poll() is not None or (set(tree().values()) <= {"inject", "wrapix-notifyd"} and dismiss()), 60)
    try:
        return process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        return None


def dismiss():
    """The daemon that shows messages waits for more of them; it is asked to go by a signal, as at the end of a session."""
    for pid, name in tree().items():
        if name.startswith("wrapix-notifyd"):
            send(pid, signal.SIGTERM)


# --- what is left ---

def left_of(world, fault):
    """What lies in wrapix's directories, an hour later."""
    for root, dirs, files in os.walk(world.state):
        for name in dirs + files:
            path = os.path.join(root, name)
            try:
                when = os.lstat(path).st_mtime - 3600
                os.utime(path, (when, when), follow_symlinks=False)
            except (PermissionError, FileNotFoundError):
                pass  # an overlay's own directory is an id's of podman's; and what ends meanwhile takes its own away
    wrong, cow = [], world.state + "/cow"
    for name in os.listdir(cow) if os.path.isdir(cow) else []:
        if not name.startswith("."):
            world.run("discard", "--yes", name)
    world.run("ps")
    left = [name for name in (os.listdir(cow) if os.path.isdir(cow) else []) if name != ".overlay"]
    if left:
        wrong.append(f"left in cow: {left}, with {os.listdir(os.path.join(cow, left[0]))}")
    after = world.run("run", "--network", "none", "--", "echo", "works")
    if (after.returncode, after.stdout) != (0, "works\n"):
        wrong.append(f"the next start fails: {after.returncode} {after.stdout} {after.stderr}")
    sessions = world.run("ps", "--json")
    if sessions.stdout.split() not in (["[]"], ["[", "]"]):
        wrong.append(f"a session is left: {sessions.stdout}")
    for name in sorted(os.listdir(world.state)) if os.path.isdir(world.state) else []:
        path = os.path.join(world.state, name)
        left = [] if name in KEPT or not os.path.isdir(path) else [n for n in os.listdir(path) if not re.fullmatch(LASTING, n)]
        if left:
            wrong.append(f"left in {name}: {left[:20]}, with {os.listdir(os.path.join(path, left[0]))[:20] if os.path.isdir(os.path.join(path, left[0])) else 'text'}")
    half = half_done(world.state)
    if fault[0] == "call" and fault[1][0] == "unlinkat":  # where nothing can be removed git does not remove its own either
        while half:
            os.unlink(os.path.join(world.state, half.pop()))
    if half:
        wrong.append(f"left in a git directory: {half[:20]}")
    return wrong


def our_mounts():
    """Those in the user's places; others have theirs."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as f:
        return {line for line in f if "wrapix" in line or line.split()[4].startswith((os.environ["HOME"], f"/run/user/{os.getuid()}"))}


def look(world, scene, fault, status, mounts):
    wrong = ["it did not end within a minute"] if status is None else []
    try:
        if isinstance(scene, Builder):
            wrong += scene.after(world, status)
        if not wait_for(lambda: not tree() or dismiss(), 30):
            wrong.append(f"left running: {tree()}")
            for pid in tree():
                send(pid, signal.SIGKILL)
            wait_for(lambda: not tree(), 5)
        if left := our_mounts() - mounts:
            wrong.append(f"mounts are left: {left}")
        wrong += [f"file{i} is gone or half" for i in range(FILES) if world.get(f"file{i}") not in (OLD, NEW)]
        if not isinstance(scene, Builder):
            wrong += scene.after(world, status)
        wrong += left_of(world, fault)
        dismiss()
        wait_for(lambda: not tree(), 30)
    except (subprocess.TimeoutExpired, RuntimeError, ValueError, OSError) as e:
        wrong.append(f"afterwards: {type(e).__name__}: {e}")
    return wrong


def one_round(world, seed):
    rng = random.Random(seed)
    random.seed(seed)
    scene = rng.choices(SCENES, [s.often for s in SCENES])[0]
    fault = pick_fault(rng, scene)
    world.fill()
    mounts = our_mounts()
    words = scene.words(world)
    dismiss()
    wait_for(lambda: not tree(), 30)
    status = break_it(world, words, fault, rng)
    value = "{} {:.3f} s".format(*fault[1]).strip() if fault[0] in ("kill", "stop") else fault[1]
    return f"{type(scene).__name__}, {fault[0]} {value}, status {status}", look(world, scene, fault, status, mounts)


def work(number, out):
    """Every WORKERS-th round; a world is used again as long as it is whole."""
    prctl(36, 1, 0, 0, 0)  # orphans come to us
    world = World()
    with os.fdopen(out, "w", encoding="utf-8") as f:
        for i in range(number, ROUNDS, WORKERS):
            name, wrong = one_round(world, SEED + i)
            f.write(json.dumps([SEED + i, name, wrong]) + "\n")
            f.flush()
            if wrong:
                for pid in tree():
                    send(pid, signal.SIGKILL)
                world.remove()
                world = World()
    world.remove()
    os._exit(0)


def main():
    print(f"# {ROUNDS} rounds, the first with seed {SEED}")
    sys.stdout.flush()
    read, write = os.pipe()
    workers = []
    for number in range(min(WORKERS, ROUNDS)):
        workers.append(os.fork())
        if workers[-1] == 0:
            os.close(read)
            work(number, write)
    os.close(write)
    count = failed = 0
    kinds = {}
    with os.fdopen(read, encoding="utf-8") as f:
        for line in f:
            seed, name, wrong = json.loads(line)
            count, failed = count + 1, failed + bool(wrong)
            kinds[name.split(",")[0]] = kinds.get(name.split(",")[0], 0) + 1
            print("not ok" if wrong else "ok", count, f"- seed {seed}: {name}".replace("#", "?"))
            for why in wrong:
                print("#", why.replace("\n", "\n# ")[:2000])
            sys.stdout.flush()
    while workers:
        os.waitpid(workers.pop(), 0)
    print("#", ", ".join(f"{n} {c}" for n, c in sorted(kinds.items())))
    print(f"1..{ROUNDS}")
    sys.exit(bool(failed) or count != ROUNDS)


main()
