#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Half of a race between two sandboxes: exec_races.py RACE SIDE ROUNDS, in the directory that both may write.

One side does what its broker or its supervisor judges first and does then; the other exchanges what was judged. Prints how often its own
part was done, and 'escaped' when something came of it that neither may do."""

import ctypes
import mmap
import os
import struct
import sys
import time

EXCHANGE = 2
BASE = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"
LIMIT = 60  # seconds; who does not come in this time is lost
libc = ctypes.CDLL(None, use_errno=True)
start = time.monotonic()


def wait_for(name):
    end = time.monotonic() + LIMIT
    while not os.path.exists(name):
        if time.monotonic() > end:
            sys.exit(f"no {name}")
        time.sleep(0.0003)


def exchange(a, b):
    return libc.renameat2(-100, a.encode(), -100, b.encode(), EXCHANGE) == 0


def tried(call, *args):
    """Whether it was done; to be refused is right."""
    try:
        call(*args)
    except OSError:
        return False
    return True


def write(name, text):
    with open(name, "w", encoding="ascii") as file:
        file.write(text)


def replace(name, text, to):
    write(name, text)
    os.rename(name, to)


# A configuration that is fine is renamed onto git's, while the other exchanges the file that was read.
def config_first(done):
    text = f"{BASE}[user]\n\tname = n{done}\n"
    return tried(replace, "made/.git/config.lock", text, "made/.git/config")


def config_second(done):
    text = f"{BASE}[core]\n\tfsmonitor = evil{done}\n"
    return tried(replace, "made/.git/mine", text, "made/.git/config.lock")


# A directory becomes git's while the other puts a link into it.
def links_first(_done):
    if not tried(write, "bare/HEAD", "ref: refs/heads/main\n"):
        return False
    if os.path.islink("bare/objects/00/link"):
        print("escaped")
    os.unlink("bare/HEAD")
    return True


def links_second(_done):
    if not tried(os.symlink, os.environ["SECRET"], "bare/objects/00/link"):
        return False
    if os.path.exists("bare/HEAD"):
        print("escaped")
    os.unlink("bare/objects/00/link")
    return True


# Somebody comes to a repository while the other exchanges it for a directory with a link in it.
def come_first(i):
    there = f"b{i}"
    write(f"go{i}", "")
    if tried(os.chdir, there):
        wait_for(f"../done{i}")
        os.chdir("..")
    wait_for(f"done{i}")
    for at in (there, f"x{i}"):
        for name in ("wrapix/objects", "objects"):
            if tried(open, f"{at}/{name}/id") and not os.path.islink(f"{at}/{name}"):
                print("escaped")
    return True


def come_second(i):
    wait_for(f"go{i}")
    time.sleep(0.001 + 0.0015 * i)  # another moment each time; none of them is a condition
    exchanged = exchange(f"b{i}", f"x{i}")
    time.sleep(0.05)
    exchange(f"b{i}", f"x{i}")
    write(f"done{i}", "")
    return exchanged


# A command has ended, and its supervisor publishes, while the other exchanges the repository for a link to one that neither may write.
def publish_second(i):
    wait_for(f"left{i}")
    time.sleep(0.002 + 0.008 * i)
    exchanged = exchange(f"sub{i}", f"link{i}")
    wait_for(f"ended{i}")
    exchange(f"sub{i}", f"link{i}")
    write(f"back{i}", "")
    return exchanged


# A directory has of a repository all but two names, and each makes one of them, in the same moment.
class Meeting:
    """Both sides' counts, in memory that they share: who is there waits for the other without a call that a supervisor hears of."""

    ENOUGH = 15  # seconds, after which a race is over that a busy machine makes slow, once each has done its part

    def __init__(self, name, side):
        self.mine, self.other = (0, 8) if side == "first" else (8, 0)
        if side == "first":
            write(f"{name}-new", "\0" * 40)
            os.rename(f"{name}-new", name)
        wait_for(name)
        with open(name, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 40)

    def get(self, at):
        return struct.unpack_from("q", self.memory, at)[0]

    def meet(self):
        count = self.get(self.mine) + 1
        struct.pack_into("q", self.memory, self.mine, count)
        end = time.monotonic() + LIMIT
        while self.get(self.other) < count:
            os.sched_yield()
            if time.monotonic() > end:
                sys.exit("nobody to meet")

    def did(self):
        struct.pack_into("q", self.memory, 24 + self.mine, 1)

    def is_over(self):
        """The first one says so."""
        if self.mine == 0 and time.monotonic() - start > self.ENOUGH and self.get(24) and self.get(32):
            struct.pack_into("q", self.memory, 16, 1)
        self.meet()
        return self.get(16) == 1


def become(side, i, make):
    if not i:
        become.meeting = Meeting(f"{os.environ['RACE']}-meeting", side)
    if side == "first":
        os.makedirs(f"{os.environ['RACE']}{i}/objects")
        write(f"{os.environ['RACE']}{i}/config", "[core]\n\tfsmonitor = evil\n")
    if become.meeting.is_over():
        return 0
    for _ in range(i * 7 % 200):  # another moment each time; none of them is a condition
        pass
    if not tried(make, f"{os.environ['RACE']}{i}"):
        return 0
    become.meeting.did()
    return 1


def become_first(i):
    return become("first", i, lambda name: write(f"{name}/HEAD", "ref: refs/heads/main\n"))


def become_second(i):
    return become("second", i, lambda name: os.mkdir(f"{name}/refs"))


def main():
    race, side, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    step = globals()[f"{race}_{side}"]
    alone = race in ("config", "links")
    n = 0
    if side == "second":
        wait_for(f"{race}-first")
    if alone:  # each once while the other does nothing: then it can be done
        n += step(rounds)
    write(f"{race}-{side}", "")
    wait_for(f"{race}-second")
    for i in range(rounds):
        n += step(i)
    print("done" if n else "never")


main()
