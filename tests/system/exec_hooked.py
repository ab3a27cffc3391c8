#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exec_hooked.py WRAPIX PART: a command inside that does what it is told, line by line, while we are the user outside. Says what came
of each attempt: the name of an error, or that it was done."""

import ctypes
import json
import os
import struct
import subprocess
import sys

MANY = 300
FEW = 50  # looks, of 400 calls and more; how many it takes depends on the time that they do
IN_OPEN, IN_CLOSE = 0x20, 0x10

AGENT = """
import errno, os, sys
def write(path):
    open(path, "a").close()
    return "written"
def move(old, new):
    os.rename(old, new)
    return "moved"
def come_to(there, old, new, file):
    os.makedirs(there)
    write(f"{there}/f")
    os.unlink(f"{there}/f")
    os.removedirs(there)
    move(old, new)
    return write(file)
def make(dirs):
    for i in range(100):
        for dir in dirs:
            open(f"{dir}/new{i}", "w").close()
        os.symlink("nowhere", f"{dirs[0]}/link{i}")
        os.mkdir(f"{dirs[0]}/made{i}")
        os.rename(f"{dirs[0]}/made{i}", f"{dirs[0]}/moved{i}")
    return "done"
for line in sys.stdin:
    try:
        print(eval(line), flush=True)
    except OSError as e:
        print(errno.errorcode[e.errno], flush=True)
"""


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def settings(*places):
    text = {
        "network": {"allowedDomains": [], "deniedDomains": []},
        "filesystem": {"denyRead": [], "allowWrite": [".", *places], "denyWrite": []},
    }
    write("../settings.new", json.dumps(text))
    os.rename("../settings.new", "../settings.json")


def git(*args):
    subprocess.run(["git", "-c", "protocol.file.allow=always", *args], check=True, stdout=subprocess.DEVNULL)


def repository(path, *hooks, n=0):
    """With a file scripts/check, and hooks that lead to these, and to so many more."""
    git("init", "-q", path)
    os.mkdir(f"{path}/scripts")
    write(f"{path}/scripts/check", "yours\n")
    for i, target in enumerate(hooks):
        os.symlink(target, f"{path}/.git/hooks/hook{i}")
    for i in range(n):
        write(f"{path}/scripts/h{i}", "yours\n")
        os.symlink(f"../../scripts/h{i}", f"{path}/.git/hooks/h{i}")


def submodule(path):
    git("clone", "-q", ".", "../lib")
    git("submodule", "--quiet", "add", os.path.abspath("../lib"), path)
    os.mkdir(f"{path}/scripts")
    write(f"{path}/scripts/check", "yours\n")
    os.symlink(os.path.abspath(f"{path}/scripts/check"), f".git/modules/{path}/hooks/pre-commit")


class Command:
    """The agent inside."""

    def __init__(self, wrapix):
        write("../agent.py", AGENT)
        settings()
        self.process = subprocess.Popen(
            [wrapix, "exec", "-s", "../settings.json", "--", "python3", "-S", "../agent.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def write(self, path):
        return self.ask(f"write({path!r})")

    def move(self, old, new):
        return self.ask(f"move({old!r}, {new!r})")

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Opened:
    """How often a directory is opened, by whomever. Equal events that follow each other are one, so its closing is asked for, too."""

    def __init__(self, path):
        libc = ctypes.CDLL(None)
        self.fd = libc.inotify_init1(os.O_NONBLOCK)
        if libc.inotify_add_watch(self.fd, path.encode(), IN_OPEN | IN_CLOSE) < 0:
            sys.exit("inotify_add_watch() failed")

    def events(self):
        while True:
            try:
                data = os.read(self.fd, 65536)
            except BlockingIOError:
                return
            while data:
                _, mask, _, size = struct.unpack("iIII", data[:16])
                data = data[16 + size :]
                yield mask, size

    def count(self):
        return sum(1 for mask, size in self.events() if mask & IN_OPEN and not size)


def many(command):
    repository("inner", n=MANY)
    opened = Opened("inner/.git/hooks")
    said = command.ask("make(['inner', 'inner/scripts'])")
    n = opened.count()
    return f"{said}, {'few' if 1 <= n <= FEW else n}"


def ends(command):
    repository("inner", n=MANY)
    last = f"inner/scripts/h{MANY - 1}"
    return " ".join(
        [
            command.write("inner/scripts/h0"),
            command.write(last),
            command.move(last, "inner/x"),
            command.move("inner/scripts", "inner/x"),
            command.write("inner/scripts/check"),
        ]
    )


def new(command):
    repository("inner", n=MANY)
    first = command.write("inner/scripts/check")
    os.symlink("../../scripts/check", "inner/.git/hooks/pre-commit")
    return f"{first} {command.write('inner/scripts/check')}"


def other(command):
    repository("inner", n=MANY)
    repository("../theirs", "../../scripts/check", n=MANY)
    first = command.write("inner/scripts/check")
    os.rename("inner", "../gone")
    os.rename("../theirs", "inner")
    return f"{first} {command.write('inner/scripts/check')}"


def allowed(command):
    """A hook leads to where nothing may be written yet."""
    repository("inner", os.path.abspath("../elsewhere/tool"), n=MANY)
    os.mkdir("../elsewhere")
    command.write("inner/scripts/check")
    first = command.write("../elsewhere/tool")
    settings("../elsewhere")
    while command.write("../elsewhere/beside") != "written":
        pass
    command.write("inner/scripts/check")
    return f"{first} {command.write('../elsewhere/tool')} {command.write('../elsewhere/beside')}"


def moment(command):
    """Where it comes to was looked at just before."""
    os.mkdir("around")
    repository("around/inner", "../../scripts/check")
    return command.ask("come_to('x/inner', 'around', 'x', 'x/inner/scripts/check')")


def absolute(command):
    repository("inner", os.path.abspath("inner/scripts/check"))
    return command.move("inner", "x")


def submodule_moved(command):
    submodule("part")
    return command.move("part", "x")


def around(command):
    submodule("around/part")
    first = command.move("around", "x")
    command.write("x/part/scripts/check")
    return f"{first} {command.move('x', 'around')}"


def samples(command):
    repository("around/inner")
    return f"{command.move('around/inner', 'around/x')} {command.move('around', 'x')}"


PARTS = {f.__name__: f for f in (many, ends, new, other, allowed, moment, absolute, around, samples)}
PARTS["submodule"] = submodule_moved


def main():
    command = Command(sys.argv[1])
    print(PARTS[sys.argv[2]](command))
    command.end()


main()
