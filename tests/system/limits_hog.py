# SPDX-License-Identifier: MIT
"""What limits are for: run inside a sandbox by limits.sh. Prints one line that says how far it came.

bomb N      forks until it is refused, at most N times
stay N FIFO forks until it is refused, at most N times, and stays so until there is a line in FIFO
fill MIB    touches so much memory in one process
share N MIB N processes hold MIB each at the same time
spin MS     burns a processor so long, and says how much of it it got
"""
import errno
import os
import signal
import sys
import time


def bomb(limit, fifo=None):
    children = []
    why = "no limit"
    for _ in range(limit):
        try:
            pid = os.fork()
        except OSError as e:
            why = errno.errorcode[e.errno]
            break
        if pid == 0:
            signal.pause()
        children.append(pid)
    if fifo:
        open(fifo).readline()
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    print(f"forked {len(children)}: {why}")


def stay(limit, fifo):
    bomb(limit, fifo)


def touch(mib):
    return bytearray(b"x" * (1 << 20)) * mib


def fill(mib):
    try:
        print(f"filled {len(touch(mib)) >> 20}")
    except MemoryError:
        print("MemoryError")
        sys.exit(3)


def share(count, mib):
    # Each holds its memory until all that live have theirs: then the pipe below is closed.
    held_r, held_w = os.pipe()
    go_r, go_w = os.pipe()
    children = []
    for _ in range(count):
        pid = os.fork()
        if pid == 0:
            os.close(go_w)
            os.close(held_r)
            try:
                memory = touch(mib)
            except MemoryError:
                os._exit(3)
            os.write(held_w, b"h")
            os.close(held_w)
            os.read(go_r, 1)
            os._exit(0 if memory else 1)
        children.append(pid)
    os.close(held_w)
    while os.read(held_r, 1):
        pass
    os.close(go_w)
    states = [os.waitpid(pid, 0)[1] for pid in children]
    killed = sum(os.WIFSIGNALED(s) for s in states)
    print(f"held {states.count(0)} killed {killed}")


def spin(ms):
    before, begin = time.process_time(), time.monotonic()
    while time.monotonic() < begin + ms / 1000:
        pass
    print(f"percent {int((time.process_time() - before) * 100 / (time.monotonic() - begin))}")


if __name__ == "__main__":
    globals()[sys.argv[1]](*(int(a) if a.isdigit() else a for a in sys.argv[2:]))
