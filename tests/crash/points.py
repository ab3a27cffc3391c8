#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""points.py WRAPIX INJECT [WRITER...]: everything that writes, killed at every point at which it writes.

A writer is a command with a state before it and one after it. It is begun again and again from the same files, and dies at
its first, its second, ... call that writes (inject.c), until it has none left; in a second turn that call fails with ENOSPC.
After each: the state is the old one or the new one and nothing between; whoever said that all went well has the new one;
the next command does what this one should have done; and then no file lies about that a run without a fault does not leave.

CRASH_POINTS=KILLS,ERRORS: at most so many points of each writer in the first and the second turn, evenly spread; all without
it. Prints TAP. Runs as an ordinary user.
"""
import concurrent.futures
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from place import Place  # pylint: disable=wrong-import-position

WRAPIX, INJECT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
BUILD = os.path.dirname(os.path.dirname(WRAPIX))
RALPH = os.path.join(BUILD, "ralph/ralph")
RALPH = RALPH if os.path.exists(RALPH) else os.path.join(os.path.dirname(WRAPIX), "ralph")
MOST = [int(n) for n in (os.environ.get("CRASH_POINTS") or "1000000,1000000").split(",")]
AGENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib/ralph-agent")
PROGRAMS = "wrapix,ralph,srt"


class World(Place):
    """A home and a project; what commands see, and the files that each of them starts from."""

    def __init__(self, base):
        self.base, self.kept = base + "/now", base + "/kept"
        self.home, self.project = self.base + "/home", self.base + "/project"
        os.makedirs(self.home + "/.config/wrapix")
        os.makedirs(self.project)
        self.env = {"HOME": self.home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "dumb",
                    "XDG_RUNTIME_DIR": self.home + "/no-login"}  # so that sessions are in the state directory
        self.put(".config/wrapix/config.json", '{"notify": false, "network": "none"}\n', self.home)
        self.put(".gitconfig", "[user]\n\tname = x\n\temail = x@example.org\n[init]\n\tdefaultBranch = main\n", self.home)
        self.put("file", "old\n")

    def call(self, *words, data=""):
        return subprocess.run(words, cwd=self.project, env=self.env, input=data, capture_output=True, text=True, timeout=60,
                              errors="replace", check=False)

    def wrapix(self, *words, data=""):
        return self.call(WRAPIX, *words, data=data)

    def said(self, *words, data=""):
        """What it prints, or its failure."""
        r = self.call(*words, data=data)
        return r.stdout if r.returncode == 0 else f"status {r.returncode}: {r.stderr}"

    def must(self, *words, data=""):
        r = self.call(*words, data=data)
        if r.returncode:
            raise RuntimeError(f"{words}: status {r.returncode}: {r.stdout}{r.stderr}")
        return r.stdout

    def repository(self):
        self.must("git", "init", "-q")
        self.must("git", "add", "-A")
        self.must("git", "commit", "-qm", "one")

    def keep(self):
        subprocess.run(["chmod", "-R", "u+rwX", self.base], check=True)  # overlayfs leaves a directory that nobody may enter
        subprocess.run(["cp", "-a", self.base, self.kept], check=True)

    def restore(self):
        remove(self.base)
        subprocess.run(["cp", "-a", self.kept, self.base], check=True)

    def age(self):
        """An hour passes, for those who leave alone what may be in the making."""
        for root, dirs, files in os.walk(self.home + "/.local/state/wrapix"):
            for name in dirs + files:
                path = os.path.join(root, name)
                when = os.lstat(path).st_mtime - 3600
                os.utime(path, (when, when), follow_symlinks=False)

    def names(self):
        """Every file there is, with X for what is chosen anew each time: ids, digests, object names."""
        found = set()
        for root, dirs, files in os.walk(self.base):
            for name in dirs + files:
                path = os.path.relpath(os.path.join(root, name), self.base)
                path = re.sub(r"\b\d{8}T\d{6}Z", "X", path)
                path = re.sub(r"\.git/objects/.*", ".git/objects/X", path)
                path = re.sub(r"/objects/[0-9a-f]{2}(/[0-9a-f]{38,62})?$", "/objects/X", path)
                path = re.sub(r"\b([0-9a-f]{16,64}|x[0-9a-f]{12})\b", "X", path)
                found.add(re.sub(r"(?<=state/wrapix/)(\w+)/[a-z2-9]{8}\b", r"\1/X", path))
        return found


def remove(path):
    subprocess.run(["chmod", "-R", "u+rwX", path], capture_output=True, check=False)
    shutil.rmtree(path, ignore_errors=True)


class Writer:
    """What every row of the table has. A state is anything that can be compared; a string 'broken: ...' is always wrong."""
    repeatable = True  # the command may be given again when it was done already
    also = ()  # points that a short run tries as well: where something was wrong once
    between = ()  # states that are neither old nor new, and right nevertheless

    def prepare(self, w):
        pass

    def command(self, w):
        raise NotImplementedError

    data = ""
    kept = "/wrapix/log"  # of logs there are always some
    fresh = False  # its files cannot be copied: they are made anew for each point

    def state(self, w):
        raise NotImplementedError

    def settle(self, w):
        """What the user does next, before the command again."""

    def later(self, w):
        """What he does in an hour: sweeps what a start or an end that was killed left."""


def lines_are_json(w):
    logs = w.home + "/.local/state/wrapix/log"
    for name in os.listdir(logs) if os.path.isdir(logs) else []:
        for line in w.get(name, logs).splitlines(keepends=True):
            try:
                json.loads(line if line.strip() else "{}")  # an empty one ends one that could not be written
            except ValueError:
                return f"broken: {name} has the line {line!r}"
    return None


class Log(Writer):
    """The events of a session. What was done before the kill may be missing; what is there is whole."""
    def command(self, w):
        return [WRAPIX, "exec", "--", "sh", "-c", "echo x >~/refused; echo y >../refused; true"]

    def state(self, w):
        wrong = lines_are_json(w)
        if wrong or w.said(WRAPIX, "ps", "--json").split() not in (["[]"], ["[", "]"]):
            return wrong or "broken: a session is left"
        r = w.wrapix("log", "--violations", "--json")
        return "fine" if r.returncode == 0 or "no session" in r.stderr or "nothing" in r.stderr else f"broken: log: {r.stderr}"


class Run(Log):
    """The registry, the gate and the session's directories, with a network filter and a private git directory."""
    def prepare(self, w):
        w.repository()

    def command(self, w):
        return [WRAPIX, "run", "--network", "filtered", "--allow", "wrapix.invalid", "--", "true"]

    def later(self, w):
        w.must(WRAPIX, "run", "--", "true")


class Publish(Run):
    """A commit made inside comes out, at the end or with the next command."""
    kept = "/wrapix/log|/refs/wrapix"  # where git cannot be asked whether a branch was rewritten its old end is kept

    def command(self, w):
        return [WRAPIX, "run", "--", "sh", "-c", "[ $(git rev-list --count HEAD) != 1 ] || git commit -q --allow-empty -m inside"]

    def settle(self, w):
        w.must(WRAPIX, "git", "status")

    def state(self, w):
        if w.call("git", "fsck", "--strict").returncode:
            return f"broken: {w.said('git', 'fsck', '--strict')}"
        locks = [n for n in w.names() if n.endswith(".lock")]
        status = w.said("git", "status", "--porcelain")
        return lines_are_json(w) or (w.said("git", "log", "--format=%s").split(), status, locks)


class Take(Publish):
    """A command takes in what the host has done since the last one; what it left when it was killed goes with the next session, too."""
    repeatable = False  # another command would begin anew
    fresh = True  # the git directory of commands knows the repository by what it is
    also = range(7, 10)  # the beginning is noted

    def prepare(self, w):
        w.repository()
        w.must(WRAPIX, "exec", "--", "true")
        w.must("git", "commit", "-q", "--allow-empty", "-m", "outside")

    def command(self, w):
        return [WRAPIX, "exec", "--", "true"]


class TakeHeld(Take):
    """The same where something waits for the user's word, so that the directory stays."""
    also = range(7, 20)
    kept = "/wrapix/log|/HEAD.held$"  # what only commands use rests between them once it was taken over

    def prepare(self, w):
        w.repository()
        branch = f"{w.project}/.git/{w.must('git', 'symbolic-ref', 'HEAD').strip()}"
        # The user's git is in the midst of a commit: it has locked the branch, and ends only when the command has committed, too.
        with open(branch + ".lock", "x", encoding="ascii") as lock:
            lock.write(w.must("git", "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "outside"))
        with subprocess.Popen([WRAPIX, "exec", "--", "sh", "-c", "git commit -q --allow-empty -m inside && echo && read word"], cwd=w.project,
                              env=w.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as inside:
            inside.stdout.readline()
            os.rename(branch + ".lock", branch)
            inside.communicate(b"\n", timeout=60)
        if not json.loads(w.must(WRAPIX, "git", "status", "--json")):
            raise RuntimeError("nothing is held")
        w.must("git", "commit", "-q", "--allow-empty", "-m", "more")


class Command(Take):
    """A commit of a command's comes out with it or with the next one, which leaves nothing half done either."""
    also = range(136, 150, 6)  # what was brought over is removed

    def prepare(self, w):
        w.repository()
        w.must(WRAPIX, "exec", "--", "true")

    def command(self, w):
        return [WRAPIX, "exec", "--", "git", "commit", "-q", "--allow-empty", "-m", "inside"]

    def settle(self, w):
        w.must(WRAPIX, "exec", "--", "true")


class Accept(Run):
    """'wrapix git accept': something of the session's that was held comes into the repository by the user's word."""
    repeatable = False
    fresh = True  # the session knows the repository by what it is, and a copy is another
    hook = "#!/bin/sh\ntrue\n"

    def prepare(self, w):
        w.repository()
        w.put("hook", self.hook)
        w.must(WRAPIX, "run", "--", "sh", "-c", "cp hook .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit")
        self.id = json.loads(w.must(WRAPIX, "git", "status", "--json"))[0]["id"]

    def command(self, w):
        return [WRAPIX, "git", "accept", self.id, "hook:pre-commit"]

    def state(self, w):
        return w.get(".git/hooks/pre-commit") == self.hook, len(json.loads(w.must(WRAPIX, "git", "status", "--json")))

    between = ((True, 1),)  # taken over, and still listed: accepting it again does no harm
    also = range(16, 20)  # from the last decision to the end of the session


class Apply(Writer):
    """A copy-on-write session's changes: each file is old or new, all of them after the next apply."""
    files = 4
    repeatable = False
    kept = "/wrapix/(log|cow)"  # the session's own goes with it: Discard
    fresh = True  # the session knows the project's files by their times

    def prepare(self, w):
        for i in range(self.files):
            w.put(f"file{i}", "old\n" * 200)
        w.must(WRAPIX, "run", "--workspace", "cow", "--name", "work", "--", "sh", "-c",
               "yes new | head -n 200 >n; for i in 0 1 2; do cp n file$i; done; rm n file3; mkdir d; echo x >d/x")

    def command(self, w):
        return [WRAPIX, "apply", "--yes", "work"]

    def state(self, w):
        found = []
        for i in range(self.files):
            text = w.get(f"file{i}")
            found.append({"old\n" * 200: "old", "new\n" * 200: "new", None: "gone" if i == 3 else f"broken: file{i} is gone"}.get(text, f"broken: file{i} is half"))
        found.append({None: "old", "x\n": "new"}.get(w.get("d/x"), "broken: d/x is half"))
        found.append("new" if os.path.isdir(w.project + "/d") else "old")
        wrong = [f for f in found if f.startswith("broken")]
        return wrong[0] if wrong else "old" if set(found) == {"old"} else "new" if set(found) == {"new", "gone"} else "mixed"

    between = ("mixed",)  # each file is whole; the next apply does the rest, and undo takes it back


class Undo(Apply):
    """An apply taken back: what the user had before comes back, whatever fails on the way."""
    def prepare(self, w):
        super().prepare(w)
        w.must(WRAPIX, "apply", "--yes", "work")

    def command(self, w):
        return [WRAPIX, "undo", "work"]


class Discard(Apply):
    """All of a session goes; what is left of one whose end was killed goes with the next list."""
    kept = Writer.kept

    def command(self, w):
        return [WRAPIX, "discard", "--yes", "work"]

    def state(self, w):
        return w.wrapix("diff", "--stat", "work").returncode


class Secret(Writer):
    """The file of secrets (no Secret Service here): this one is old or new, its neighbour stays."""
    data = "new-value"

    def prepare(self, w):
        w.must(WRAPIX, "secret", "set", "token", data="old-value")
        w.must(WRAPIX, "secret", "set", "neighbour", data="stays")

    def command(self, w):
        return [WRAPIX, "secret", "set", "token"]

    def state(self, w):
        if w.said(WRAPIX, "secret", "get", "neighbour").strip() != "stays":
            return "broken: the neighbour is gone"
        return w.said(WRAPIX, "secret", "get", "token").strip()


class SecretRemove(Secret):
    repeatable = False
    data = ""

    def command(self, w):
        return [WRAPIX, "secret", "remove", "token"]


class FirstSecret(Secret):
    def prepare(self, w):
        pass

    def state(self, w):
        return w.said(WRAPIX, "secret", "get", "token").strip()


class Key(Writer):
    """Deploy keys: a pair has its four files or none, and ssh can read each."""
    repeatable = False

    def command(self, w):
        return [WRAPIX, "key", "add", "--no-gh", "site"]

    def state(self, w):
        pairs = len(json.loads(w.must(WRAPIX, "key", "list", "--json")))
        where = w.home + "/.ssh/deploy_keys"
        found = sorted(n for n in os.listdir(where) if not n.startswith(".")) if os.path.isdir(where) else []
        if found and found != ["site", "site-signing", "site-signing.pub", "site.pub"]:
            return f"broken: only {found}"
        bad = [n for n in found if w.call("ssh-keygen", "-l", "-f", where + "/" + n).returncode]
        if bad:
            return f"broken: ssh cannot read {bad}"
        return len([n for n in found if n != "backup"]), pairs


class KeyForce(Key):
    """New keys where there are some: the old ones are there under their name, or in the backup."""
    def prepare(self, w):
        w.must(*Key.command(self, w))
        self.old = w.get(".ssh/deploy_keys/site.pub", w.home)

    def command(self, w):
        return [WRAPIX, "key", "add", "--no-gh", "--force", "site"]

    def state(self, w):
        w.must(WRAPIX, "key", "list")
        kept = w.call("grep", "-rlF", self.old.strip(), w.home + "/.ssh").stdout.split()
        if not kept:
            return "broken: the old key is lost"
        now = w.get(".ssh/deploy_keys/site.pub", w.home)
        if now is None or w.call("ssh-keygen", "-y", "-f", w.home + "/.ssh/deploy_keys/site").stdout.split()[:2] != now.split()[:2]:
            return "broken: the pair does not fit together"
        return now == self.old


class KeyRemove(Key):
    def prepare(self, w):
        w.must(*Key.command(self, w))

    def command(self, w):
        return [WRAPIX, "key", "remove", "--yes", "site"]


class Trust(Writer):
    """What the user accepted of a project's wrapix.json."""
    def prepare(self, w):
        w.put("wrapix.json", '{"network": "host"}\n')

    def command(self, w):
        return [WRAPIX, "trust", "--yes"]

    def state(self, w):
        r = w.wrapix("plan")
        return "trusted" if r.returncode == 0 else "not trusted" if "trust" in r.stderr else f"broken: {r.stderr}"


class Revoke(Trust):
    def prepare(self, w):
        super().prepare(w)
        w.must(WRAPIX, "trust", "--yes")

    def command(self, w):
        return [WRAPIX, "trust", "--revoke"]


class Mode(Writer):
    """'wrapix mode' changes one value of a file of the user's and no other byte."""
    file = '{\n  "mine": [1,   2],\n  "sandbox": {"enabled": true}\n}\n'

    def prepare(self, w):
        w.put(".claude/settings.local.json", self.file)

    def command(self, w):
        return [WRAPIX, "mode", "disabled"]

    def state(self, w):
        text = w.get(".claude/settings.local.json")
        if text is None:
            return None
        return text if json.loads(text).get("mine") == [1, 2] or not self.file else "broken: what was there is gone"


class FirstMode(Mode):
    file = ""

    def prepare(self, w):
        w.put(".claude/settings.json", '{"sandbox": {"enabled": true}}\n')

    def command(self, w):
        return [WRAPIX, "mode", "regular"]


class Learn(Writer):
    """'wrapix learn --apply' adds to the settings what a session lacked."""
    def prepare(self, w):
        w.put(".claude/settings.json", '{"sandbox": {"enabled": true}}\n', w.home)
        w.put(".claude/settings.json", '{}\n')
        w.wrapix("exec", "--", "sh", "-c", "echo x >~/refused")

    def command(self, w):
        return [WRAPIX, "learn", "--apply"]

    def state(self, w):
        text = w.get(".claude/settings.json", w.home)
        return text if json.loads(text)["sandbox"]["enabled"] else "broken: what was there is gone"


class Report(Writer):
    """A page about a session, in the place of an older one."""
    def prepare(self, w):
        w.wrapix("exec", "--", "sh", "-c", "echo x >~/refused")
        w.put("r.html", "old\n")

    def command(self, w):
        return [WRAPIX, "report", "-o", "r.html"]

    def state(self, w):
        text = w.get("r.html")
        return "old" if text == "old\n" else "new" if text.rstrip().endswith("</html>") else "broken: half a page"


class Ralph(Writer):
    """ralph's database and its export."""
    repeatable = False

    def prepare(self, w):
        w.repository()
        w.must(RALPH, "start", "first")
        w.must(RALPH, "item", "add", "--title", "one")

    def command(self, w):
        return [RALPH, "start", "second"]

    def database(self, w):
        where = w.home + "/.local/state/wrapix/ralph"
        for name in os.listdir(where) if os.path.isdir(where) else []:
            if name.endswith(".db"):
                db = sqlite3.connect(f"{where}/{name}")
                found = db.execute("PRAGMA integrity_check").fetchall()
                db.close()
                if found != [("ok",)]:
                    return f"broken: {found}"
        return None

    def state(self, w):
        items = w.said(RALPH, "item", "list", "--feature", "first")
        if "one" not in items:
            return f"broken: what was there is gone: {items}"
        return self.database(w) or w.call(RALPH, "status", "second").returncode


class RalphItem(Ralph):
    def command(self, w):
        return [RALPH, "item", "add", "--title", "two"]

    def state(self, w):
        items = w.said(RALPH, "item", "list")
        if "one" not in items:
            return f"broken: what was there is gone: {items}"
        return self.database(w) or "two" in items


class RalphExport(Ralph):
    repeatable = True

    def prepare(self, w):
        super().prepare(w)
        w.must(RALPH, "export")
        w.must(RALPH, "item", "add", "--title", "two")
        w.put(".wrapix/ralph/first.jsonl", re.sub(".*two.*\n", "", w.get(".wrapix/ralph/first.jsonl")))

    def command(self, w):
        return [RALPH, "export"]

    def state(self, w):
        return self.database(w) or "two" in w.get(".wrapix/ralph/first.jsonl")


class RalphStep(Ralph):
    """A task done by an agent: its commit is there or not, with all of it; the next loop does it once."""
    repeatable = True
    kept = "/wrapix/(log|ralph/project-X/(logs|patches)|(cow|gitdirs)/X|gitready)"  # one more try; a session that never began, for a minute
    between = ((0, 0, "two\n"), (0, 1, "two\n"))  # what is taken over is not yet committed, or not yet noted: the next loop does it

    also = range(361, 363)  # what git is told to commit

    def later(self, w):
        w.must(WRAPIX, "run", "--", "true")

    def prepare(self, w):
        shutil.copy(AGENT, w.home + "/agent")
        w.put(".config/wrapix/config.json", json.dumps({"notify": False, "network": "none",
              "ralph": {"agent": w.home + "/agent", "attempts": 100}}), w.home)
        w.put("specs/first.md", "# F\n")
        super().prepare(w)
        w.must(RALPH, "item", "add", "--title", "two", "--text", "sh: echo two >>shared.txt")
        found = json.loads(w.must(RALPH, "status", "--json"))["items"]
        w.must(RALPH, "item", "drop", *[i["id"] for i in found if i["title"] == "one"])

    def command(self, w):
        return [RALPH, "loop"]

    def state(self, w):
        if w.call("git", "fsck", "--strict").returncode:
            return "broken: the repository is damaged"
        if w.get("shared.txt") not in (None, "two\n"):
            return f"broken: shared.txt is {w.get('shared.txt')!r}"
        done = json.loads(w.must(RALPH, "status", "--json"))["done"]
        commits = w.must("git", "log", "--format=%b").count("Ralph-Item: ")
        return self.database(w) or (done, commits, w.get("shared.txt"))


WRITERS = [Log, Run, Publish, Take, TakeHeld, Command, Accept, Apply, Undo, Discard, FirstSecret, Secret, SecretRemove, Key, KeyForce, KeyRemove, Trust, Revoke,
           FirstMode, Mode, Learn, Report, Ralph, RalphItem, RalphExport, RalphStep]


class Table:
    """One writer: its states, and what becomes of them at each point."""

    def __init__(self, writer, base):
        self.writer, self.base, self.world = writer, base, World(base)
        writer.prepare(self.world)
        if not writer.fresh:
            self.world.keep()
        self.old = writer.state(self.world)
        self.begin()
        self.world.must(*writer.command(self.world), data=writer.data)
        self.new = self.settled()
        if writer.repeatable:
            self.world.must(*writer.command(self.world), data=writer.data)
            self.settled()
        self.writer.later(self.world)
        self.names = self.world.names()
        self.begin()
        self.calls = self.inject("kill", 1 << 30)[1]

    def begin(self):
        if not self.writer.fresh:
            self.world.restore()
            return
        remove(self.world.base)
        self.world = World(self.base)
        self.writer.prepare(self.world)

    def settled(self):
        self.writer.settle(self.world)
        return self.writer.state(self.world)

    def inject(self, action, n):
        """Its status, how many calls it made, and the one that was hit."""
        seen = self.world.kept + ".seen"
        r = self.world.call(INJECT, "-o", seen, "-p", PROGRAMS, action, str(n), *self.writer.command(self.world), data=self.writer.data)
        count, hit = self.world.get(seen).split()
        return r, int(count), hit

    def point(self, action, n):
        """What is wrong when it breaks at this point, the call that was hit, and how many there were."""
        self.begin()
        world, writer = self.world, self.writer
        r, count, hit = self.inject(action, n)
        state = self.settled()
        if state not in (self.old, self.new, *writer.between):
            return f"the state is {state!r}, not {self.old!r} or {self.new!r}", hit, count
        if r.returncode == 0 and state != self.new:
            return f"it said that all was well, and the state is {state!r}: {r.stderr}", hit, count
        world.age()
        if writer.repeatable or state != self.new:
            r = world.call(*writer.command(world), data=writer.data)
            state = self.settled()
            if r.returncode or state != self.new:
                return f"the next one: status {r.returncode}, the state is {state!r}: {r.stderr}", hit, count
        writer.later(world)
        stray = sorted(n for n in world.names() - self.names if not re.search(writer.kept, n))
        return f"left: {stray}" if stray else None, hit, count

    def turn(self, action, most):
        """Every point, or so many of them: how many were tried, and those that went wrong."""
        wrong, tried, n = [], 0, 1
        also = list(self.writer.also) if most < self.calls else []
        while True:
            at, spread = (also.pop(), False) if also else (n, True)
            why, hit, _ = self.point(action, at)
            if why:
                wrong.append(f"point {at} ({hit}): {why}")
            if spread and hit == "-":
                return tried, wrong
            tried += 1
            if spread:  # Rounded up, and the last ones singly: there are not always as many.
                n += min(-(-self.calls // most), max(1, self.calls - n))


def one(kind):
    base = tempfile.mkdtemp(prefix="wrapix-crash.", dir=os.environ["HOME"])
    rows = []
    try:
        table = Table(kind(), base)
        for turn, action in enumerate(("kill", "ENOSPC")):
            tried, wrong = table.turn(action, MOST[turn])
            rows.append((f"{kind.__name__}, {action} at {tried} of {table.calls} points", wrong + ([] if tried else ["it has no points"])))
    except (RuntimeError, OSError, ValueError, KeyError, AttributeError, subprocess.TimeoutExpired) as e:
        rows.append((kind.__name__, [f"{type(e).__name__}: {e}"]))
    finally:
        remove(base)
    return rows


def main():
    chosen = [kind for kind in WRITERS if len(sys.argv) < 4 or kind.__name__ in sys.argv[3:]]
    count = failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for rows in pool.map(one, chosen):
            for name, wrong in rows:
                count += 1
                failed += bool(wrong)
                print("not ok" if wrong else "ok", count, "-", name)
                for line in wrong[:8]:
                    print("#", line.replace("\n", "\n# ")[:1500])
                sys.stdout.flush()
    print(f"1..{count}")
    sys.exit(bool(failed))


main()
