# SPDX-License-Identifier: MIT
"""Both sides of edits.sh: a command that tries what the settings speak of, and who edits them meanwhile.

    try SHARED              inside: writes, reads and connects until the edits are made; prints what it got that nobody allowed
    edit SHARED FILE EDITS  outside: edits of the settings FILE, as fast as they can be made

There are three of each thing: a, b and c. Each version of the settings allows one of them. The edits go by windows: in one,
versions of two letters take turns, and what has the third letter may never be had. A window begins and ends with a version
that is known to be in force, because it alone allows a file of its own to be written.
"""
import mmap
import os
import socket
import sys
import time

LETTERS = "abc"
HOSTS = {"a": "allowed.test", "b": "other.test", "c": "wild.test"}
MARKS = 4
BURST = 75  # edits between two versions that are waited for
WINDOW, NEVER, MARK, MARKED, TRIES, DONE = range(6)


def share(path):
    with open(path, "r+b") as file:
        return memoryview(mmap.mmap(file.fileno(), 64)).cast("Q")


def can(act):
    try:
        act()
        return True
    except OSError:
        return False


def write(name):
    with open(name, "w") as file:
        file.write("x")


def read(name):
    with open(name) as file:
        file.read()


def connect(host):
    with socket.create_connection((host, 7), timeout=10) as sock:
        sock.settimeout(10)
        sock.sendall(b"ping")
        if sock.recv(4) != b"ping":
            raise OSError("reset")


def inside(shared):
    had = dict.fromkeys(("write", "read", "connect"), 0)
    while not shared[DONE]:
        window, letter = shared[WINDOW], LETTERS[shared[NEVER]]
        other = LETTERS[(shared[NEVER] + 1) % 3]
        got = {"write": can(lambda: write("w-" + letter)), "read": can(lambda: read("r-" + letter)),
               "connect": can(lambda: connect(HOSTS[letter]))}
        # The window is as it was, so that all of it happened in there.
        if window % 2 == 0 and shared[WINDOW] == window:
            for act, had_it in got.items():
                if had_it:
                    print(f"MORE OPEN: {act} {letter} in window {window}", flush=True)
            had["write"] += can(lambda: write("w-" + other))
            had["read"] += can(lambda: read("r-" + other))
            had["connect"] += can(lambda: connect(HOSTS[other]))
        mark = shared[MARK]
        if can(lambda: write(f"mark-{mark}")):
            shared[MARKED] = mark
        shared[TRIES] += 1
    print("tries", shared[TRIES], *(f"{act} {n > 0}" for act, n in had.items()), flush=True)


def wait_for(condition, lost):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            sys.exit(lost)
        time.sleep(0.0005)


class Editor:
    def __init__(self, shared, path, edits):
        self.shared, self.path, self.edits, self.made, self.taken = shared, path, edits, 0, 0

    def text(self, letter, mark):
        deny = [f"Edit(/w-{x})" for x in LETTERS if x != letter] + [f"Read(/r-{x})" for x in LETTERS if x != letter]
        deny += [f"Edit(/mark-{k})" for k in range(MARKS) if k != mark]
        hosts = f'"{HOSTS[letter]}:7"'
        return ('{"permissions": {"deny": [' + ", ".join(f'"{d}"' for d in deny) + "]},\n"
                '"sandbox": {"network": {"allowedDomains": [' + hosts + ']}}}\n')

    def edit(self, letter, mark):
        """As editors do it: in one go, in place and in halves, or with the file gone for a moment."""
        text, how = self.text(letter, mark), self.made % 3
        if how == 1:
            with open(self.path, "w") as file:
                file.write(text[: len(text) // 2])
                file.flush()
                file.write(text[len(text) // 2:])
        else:
            with open(self.path + ".new", "w") as file:
                file.write(text)
            if how == 2:
                os.unlink(self.path)
            os.rename(self.path + ".new", self.path)
        self.made += 1

    def settle(self, letter):
        """A version that is in force when this returns."""
        mark = (self.shared[MARK] + 1) % (MARKS - 1)
        self.shared[MARK] = mark
        self.edit(letter, mark)
        wait_for(lambda: self.shared[MARKED] == mark, "a version never came into force")
        self.taken += 1

    def pause(self):
        """For as long as the other side tries everything once."""
        tries = self.shared[TRIES]
        wait_for(lambda: self.shared[TRIES] >= tries + 2, "nobody tries any more")

    def run(self):
        window = 0
        self.pause()  # what changes before somebody looks for changes is not seen
        while self.made < self.edits:
            never = window % 3
            pair = [x for i, x in enumerate(LETTERS) if i != never]
            self.shared[WINDOW] = 2 * window + 1
            self.settle(pair[0])
            self.shared[NEVER] = never
            self.shared[WINDOW] = 2 * window + 2
            for half in range(2):
                for i in range(BURST):
                    self.edit(pair[i % 2], MARKS - 1)
                self.settle(pair[1 - half])
                if window < 3:
                    self.pause()
            window += 1
        self.shared[DONE] = 1
        print("edits", self.made, "taken", self.taken)


if sys.argv[1] == "try":
    inside(share(sys.argv[2]))
else:
    Editor(share(sys.argv[2]), sys.argv[3], int(sys.argv[4])).run()
