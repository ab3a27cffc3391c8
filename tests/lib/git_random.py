# SPDX-License-Identifier: MIT
"""Random git commands inside a session (--git private) and outside at the same time, against a model.

git_random.py WRAPIX DIR SEED STEPS: works in DIR (new), prints what went wrong and ends with 1, or nothing.

The model: what a side has committed is in reach of a reference of the host's when the session is over, unless that
side itself took it back; the host's branches, tags and stash entries are never taken away by the session; both sides
end with the same branch, or the session's is kept beside it; the repository passes fsck and nothing is locked.
"""
import os
import random
import subprocess
import sys
import time

wrapix, top, seed, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rand = random.Random(seed)
log = []
os.mkdir(top)
os.chdir(top)


class Wrong(Exception):
    pass


class Outside:
    name = "outside"

    def run(self, script):
        r = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
        return r.returncode, r.stdout, r.stderr


class Inside:
    name = "inside"

    def __init__(self):
        self.child = subprocess.Popen([wrapix, "run", "--git", "private", "--network", "none", "--", "sh"],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def run(self, script):
        self.child.stdin.write(f"{{ {script}\n}} 2>&1 </dev/null; echo \"=end $?\"\n")
        self.child.stdin.flush()
        text = ""
        while True:
            line = self.child.stdout.readline()
            if not line:
                raise Wrong("the session ended")
            if line.startswith("=end "):
                return int(line.split()[1]), text, text
            text += line

    def end(self):
        self.child.stdin.close()
        return self.child.wait(timeout=60)


def ask(side, script):
    code, out, err = side.run(script)
    if code:
        raise Wrong(f"{side.name}: {script}: {err}")
    return out.split()


def attempt(side, script):
    """A command may be refused by git itself: the other side moved meanwhile."""
    code, _, err = side.run(script)
    log.append(f"{side.name}: {script}{'' if code == 0 else ' -> ' + err.strip()[:100]}")
    return code == 0


outside = Outside()
for line in ("git init -q -b main .", "echo start >start; git add start; git commit -q -m start", "git branch kept; git tag v0"):
    ask(outside, line)
inside = Inside()
ask(inside, "git rev-parse HEAD")
must_stay = {ask(outside, "git rev-parse HEAD")[0]}  # the host's commits
host_refs = {"refs/heads/kept", "refs/heads/main", "refs/tags/v0"}
counter = 0


def commit(side):
    mark = side.name[0]
    if attempt(side, f"echo {counter} >{mark}{rand.randrange(4)}; git add {mark}*; git commit -q -m '{side.name} {counter}' --allow-empty") and side is outside:
        must_stay.update(ask(side, "git rev-parse HEAD"))


def branch(side):
    if attempt(side, f"git branch {side.name}-{counter}") and side is outside:
        host_refs.add(f"refs/heads/outside-{counter}")


def tag(side):
    if attempt(side, f"git tag t-{side.name}-{counter}") and side is outside:
        host_refs.add(f"refs/tags/t-outside-{counter}")


def stash(side):
    attempt(side, f"echo {counter} >>{side.name[0]}0; git add {side.name[0]}0; git stash -q -- {side.name[0]}0")


def delete(side):
    if side is inside:
        attempt(side, "b=$(git for-each-ref --format='%(refname:short)' refs/heads/inside-* | head -n 1); [ -z \"$b\" ] || git branch -q -D \"$b\"")


def delete_kept(side):
    if side is inside:
        attempt(side, "git branch -q -D kept; git tag -f v0 HEAD >/dev/null")


def amend(side):
    if side is inside:
        attempt(side, f"git commit -q --amend -m 'amended {counter}'")


def rewind(side):
    if side is inside:
        attempt(side, "git reset -q --soft HEAD~1")


def merge(side):
    if side is inside:
        attempt(side, "git merge -q -m merge kept || git merge --abort")


def collect(side):
    attempt(side, "git gc -q" + ("" if side is outside else " --prune=now"))


def settle(_):
    time.sleep(rand.random() * 0.2)


ACTIONS = [commit] * 8 + [branch, branch, tag, stash, delete, delete_kept, amend, rewind, merge, collect, settle, settle, settle]


def check():
    tips = ask(inside, "git for-each-ref --format='%(objectname)' refs/heads refs/tags; git rev-parse HEAD")
    status = inside.end()
    if status:
        raise Wrong(f"the session ended with {status}")
    reach = set(ask(outside, "git rev-list --all"))
    refs = set(ask(outside, "git for-each-ref --format='%(refname)'"))
    commits = {c for c in tips if ask(outside, f"git cat-file -t {c} || true")[:1] == ["commit"]}
    for what, lost in (("commits of the host's", must_stay - reach), ("references of the host's", host_refs - refs),
                       ("what the session's references end in", {t for t in tips if t not in commits} | (commits - reach)),
                       ("a lock", {n for _, _, names in os.walk(".git") for n in names if n.endswith(".lock") or n.startswith("wrapix-")})):
        if lost:
            raise Wrong(f"{what}: {sorted(lost)}")
    ask(outside, "git fsck --strict --no-dangling")
    ask(outside, "git status")
    if subprocess.run([wrapix, "git", "status"], capture_output=True, check=False).returncode:
        raise Wrong("wrapix git status")


try:
    for counter in range(steps):
        rand.choice(ACTIONS)(rand.choice((inside, outside)))
    check()
except Wrong as wrong:
    print(f"seed {seed}: {wrong}")
    print("\n".join(log))
    inside.child.kill()
    sys.exit(1)
