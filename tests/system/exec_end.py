# SPDX-License-Identifier: MIT
"""exec_end.py WRAPIX: what there is once a command has ended, by itself and through a server; a line of TAP each."""
import array
import ctypes
import fcntl
import json
import os
import resource
import socket
import subprocess
import sys
import time

WRAPIX = sys.argv[1]
PR_SET_CHILD_SUBREAPER = 36
# A process that outlives the command: in a session of its own, with a lock that it holds for as long as it lives.
STAYS = "exec 9>held; flock 9; setsid sh -c 'echo >up; sleep 1000' </dev/null >/dev/null 2>&1 & while [ ! -e up ]; do sleep 0.01; done"
BURNS = "python3 -c 'import time\nwhile time.process_time() < 0.2: pass'"


def say(good, text):
    print("ok" if good else "not ok", "-", text, flush=True)


def run(script):
    return subprocess.run([WRAPIX, "exec", "-c", script], stdin=subprocess.DEVNULL, check=False).returncode


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def is_free():
    with open("held", "w", encoding="utf-8") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    os.unlink("up")
    return True


def has_children():
    """As their reaper we would have whoever wrapix left behind, dead or alive."""
    try:
        return os.waitpid(-1, os.WNOHANG) is not None
    except ChildProcessError:
        return False


def ask(name, script):
    """The last line, the moment it comes; whoever serves us is not waited for."""
    with socket.socket(socket.AF_UNIX) as client, open("/dev/null", "r+b") as null:
        while client.connect_ex(name):
            time.sleep(0.01)
        fds = array.array("i", [null.fileno()] * 3)
        client.sendmsg([json.dumps({"command": script}).encode() + b"\n"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        text = b""
        while b'"exit"' not in text:
            data = client.recv(65536)
            if not data:
                break
            text += data
    return text.decode()


def main():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    say(all(run("true") == 0 for _ in range(20)), "commands that leave nobody behind")
    say(not has_children(), "... and wrapix leaves nobody to us")
    before = used()
    say(run(BURNS) == 0, "a command that takes its time")
    say(used() - before >= 0.19, "... and it is counted")
    say(run(STAYS + "; exit 3") == 3, "a command that leaves somebody behind")
    say(is_free(), "... who is dead when we know its status")
    say(not has_children(), "... and nobody is left to us")
    say(run("kill -9 $$") == 137, "a command that is killed")
    say(not has_children(), "... and nobody is left to us")
    with subprocess.Popen([WRAPIX, "exec", "--server", "server"]) as server:
        say('"status":0' in ask("server", "true").replace(" ", ""), "a command through a server")
        say('"status":3' in ask("server", STAYS + "; exit 3").replace(" ", ""), "one that leaves somebody behind")
        say(is_free(), "... who is dead when the server tells the status")
        server.terminate()


main()
