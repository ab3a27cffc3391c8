#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""git_kills.py WRAPIX SEED KILLS run|cow|exec [SETTINGS ASK]: sessions or commands that commit here, and are killed with SIGKILL: every
second one while it waits for us, the others a moment after it was let go, which is while their commits are published. Of commands (exec) every
third is one of a server's, which is killed, and every second pair commits in the repository 'below'. A copy-on-write session is resumed each
time. Fails when a commit or a branch is not the host's afterwards, or a lock is left."""
import os
import random
import signal
import subprocess
import sys
import time

wrapix, seed, kills, way = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
settings, ask = sys.argv[5:7] if way == "exec" else (None, None)
rand = random.Random(seed)
socket = os.path.abspath("../socket")
places = (".", "below") if way == "exec" else (".",)
SCRIPT = """cd {0}; echo {1} >k{2}; git add k{2}; git commit -q --no-verify -m 'inside {1}' || exit 1; git branch b{1} || exit 1; echo {1} >>file; git stash -q || exit 1
git stash drop -q; git rev-parse HEAD; read -r x"""


def git(where, *words):
    return subprocess.run(["git", "-C", where, *words], check=True, capture_output=True, text=True).stdout.split()


def serve():
    server = subprocess.Popen([wrapix, "exec", "--server", socket], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while subprocess.run([sys.executable, ask, socket, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        time.sleep(0.01)
    return server


def command_of(i, script):
    if way == "exec":
        return [wrapix, "exec", "-s", settings, "-c", script]
    options = [] if way == "run" else ["--resume", "killed"] if i else ["--workspace", "cow", "--name", "killed"]
    return [wrapix, "run", "--network", "none", *options, "--", "sh", "-c", script]


def round_of(i):
    """Where a commit was made, which, and whether its maker was killed."""
    where = places[i // 2 % len(places)]
    script = SCRIPT.format(where, i, i % 5)
    victim = serve() if way == "exec" and i % 3 == 2 else None
    argv = [sys.executable, ask, socket, script, settings] if victim else command_of(i, script)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as command:
        commit = command.stdout.readline().strip()
        if not commit:
            sys.exit(f"round {i}: no commit in {where}")
        victim = victim or command
        if i % 2:
            command.stdin.close()
            time.sleep(rand.random() * 0.05)
        killed = victim.poll() is None
        victim.send_signal(signal.SIGKILL)
        victim.wait()
    return where, commit, killed


def main():
    made = [round_of(i) for i in range(kills)]
    if way == "exec":
        subprocess.run([wrapix, "exec", "-s", settings, "-c", "cd below; git status"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([wrapix, "git", "status"], check=True, stdout=subprocess.DEVNULL)
    print(f"# killed {sum(k for _, _, k in made)} of {kills}", file=sys.stderr)
    kind = "refs/wrapix/*/heads/*" if way == "cow" else "refs/heads/*"
    reach = {where: set(git(where, "rev-list", f"--glob={kind}")) for where in places}
    lost = [(i, where, commit) for i, (where, commit, _) in enumerate(made) if commit not in reach[where]]
    branches = {where: {name.rpartition("/")[2] for name in git(where, "for-each-ref", "--format=%(refname)", kind)} for where in places}
    missing = [f"{where}: b{i}" for i, (where, _, _) in enumerate(made) if f"b{i}" not in branches[where]]
    common = git(".", "rev-parse", "--path-format=absolute", "--git-common-dir")[0]
    locks = [os.path.join(d, n) for top in (".", common) for d, _, names in os.walk(top)
             for n in names if n.endswith(".lock") or n.startswith(("wrapix-", "tmp_obj_wrapix"))]
    assert sum(k for _, _, k in made) >= kills // 2, made
    assert not lost and not missing and not locks, (lost, missing, locks)


main()
