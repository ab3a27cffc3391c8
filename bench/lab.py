# SPDX-License-Identifier: MIT
"""The place where the measurements are made: an ordinary user, a directory of its own, the helpers in C."""
import json
import os
import pwd
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PATH = "/usr/local/bin:/usr/bin:/bin"


class Failed(Exception):
    """What the user is told instead of a trace."""


def ordinary_user():
    """Root gives way to who called sudo, to the tests' user, or to the first ordinary one; what root measures would not count."""
    if os.geteuid():
        return pwd.getpwuid(os.geteuid())
    if os.environ.get("SUDO_UID"):
        return pwd.getpwuid(int(os.environ["SUDO_UID"]))
    tests = os.environ.get("WRAPIX_TEST_USER", "wrapixtest")
    users = [user for user in pwd.getpwall() if 1000 <= user.pw_uid < 60000]
    if not users:
        raise Failed("no ordinary user on this machine: measure as one (scripts/prepare makes one for the tests)")
    return min(users, key=lambda user: (user.pw_name != tests, user.pw_uid))


def written_in_one(program):
    """A linker writes a program in pieces, and so it lies in memory until the next boot; one that is installed was copied."""
    program = os.path.realpath(program)
    if os.access(os.path.dirname(program), os.W_OK) and os.access(program, os.W_OK):
        shutil.copy2(program, program + ".copy")
        os.replace(program + ".copy", program)


class Lab:
    """A directory for one bench, gone with it. All commands run in it, as the user."""

    def __init__(self, wrapix, where):
        self.user = ordinary_user()
        self.dir = tempfile.mkdtemp(prefix="wrapix-bench-", dir=where)
        os.chmod(self.dir, 0o755)
        self.around = []  # a program of root's that the user's commands are run by
        self.env = {"PATH": PATH, "HOME": self.path("home"), "LANG": "C.UTF-8", "USER": self.user.pw_name}
        for name in ("home", "bin", "race", "tmp"):
            self.make_dir(name)
        for name in ("race", "lap", "stamp", "forget"):
            self.compile(name)
        self.built = os.path.dirname(os.path.realpath(wrapix))
        self.wrapix = self.reachable(wrapix)
        self.bwrap = shutil.which("bwrap", path=PATH)

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def own(self, path):
        """What root makes here belongs to the user."""
        if os.geteuid() == 0:
            os.chown(path, self.user.pw_uid, self.user.pw_gid, follow_symlinks=False)
        return path

    def make_dir(self, *names):
        os.makedirs(self.path(*names), exist_ok=True)
        return self.own(self.path(*names))

    def write(self, path, text):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return self.own(path)

    def compile(self, name):
        """Statically where the system has a static libc: the less a stamp does itself, the better."""
        cc = [os.environ.get("CC", "cc"), "-D_GNU_SOURCE", "-O2", "-o", self.path("bin", name),
              os.path.join(HERE, name + ".c")]
        if subprocess.run([*cc, "-static"], stderr=subprocess.DEVNULL, check=False).returncode:
            subprocess.run(cc, check=True)

    def reachable(self, program):
        """The program itself, or a copy of it where the user may not go to where it lies."""
        written_in_one(program)
        try:
            self.run([program, "--version"])
            return program
        except (OSError, Failed):
            copy = self.path("bin", os.path.basename(program))
            shutil.copy(os.path.realpath(program), copy)
            os.chmod(copy, 0o755)
            return copy

    def beside(self, name):
        """Another program that was built with wrapix."""
        return self.reachable(os.path.join(self.built, name))

    def as_user(self):
        """Words for subprocess: in our directory, with a clean environment, as the user."""
        words = {"cwd": self.dir, "env": self.env}
        if os.geteuid() == 0:
            words.update(user=self.user.pw_uid, group=self.user.pw_gid, extra_groups=[])
        return words

    def run(self, argv, cwd=None, as_root=False):
        words = self.as_user()
        if as_root or self.around:
            words = {"cwd": self.dir, "env": self.env}
        if self.around and not as_root:
            argv = [*self.around, "setpriv", "--reuid", self.user.pw_name, "--regid", str(self.user.pw_gid), "--clear-groups", *argv]
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False, **{**words, "cwd": cwd or words["cwd"]})
        if done.returncode:
            raise Failed(f"'{' '.join(argv[:6])} ...' failed:\n" + done.stderr.decode(errors="replace"))
        return done.stdout.decode(errors="surrogateescape")

    def run_words(self, network, workspace, *options):
        return [self.wrapix, "run", "--network", network, *options, workspace, "--"]

    def plan(self, network, workspace, *options):
        return json.loads(self.run([self.wrapix, "plan", "--json", "--network", network, *options, workspace,
                                    "--", "true"]))

    def works(self, argv, as_root=False):
        try:
            self.run(argv, as_root=as_root)
            return True
        except Failed:
            return False

    def race(self, runners, rounds, pause_us=2000, as_root=False):
        """Times of {name: argv} by turns, as {name: {median, p10, ...}} in microseconds."""
        files = {}
        for name, argv in runners.items():
            file = self.path("race", name.replace(" ", "-").replace("/", "_"))
            with open(file, "wb") as f:
                f.write(b"".join(os.fsencode(word) + b"\0" for word in argv))
            files[file] = name
        lines = self.run([self.path("bin", "race"), str(rounds), str(pause_us), *files], as_root=as_root).splitlines()
        results = [json.loads(line) for line in lines]
        return {files[result.pop("file")]: result for result in results}

    def laps(self, runners, rounds):
        """The same for commands in places: {name: words before the command}; one process a place lives on."""
        started = {name: subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **self.as_user())
                   for name, argv in runners.items()}
        times = {name: [] for name in runners}
        try:
            for turn in range(-2, rounds):
                order = list(started)
                random.shuffle(order)
                for name in order:
                    took = self.lap(name, started[name])
                    if turn >= 0:
                        times[name].append(took)
        finally:
            for process in started.values():
                process.stdin.close()
                process.wait()
        return {name: summary(samples) for name, samples in times.items()}

    @staticmethod
    def lap(name, process):
        process.stdin.write(b".")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise Failed(f"the command of '{name}' failed")
        return float(line)


def summary(samples):
    samples = sorted(samples)
    n = len(samples)
    return {"runs": n, "median": statistics.median(samples), "p10": samples[n // 10], "p90": samples[n * 9 // 10]}


def progress(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)
