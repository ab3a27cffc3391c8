# SPDX-License-Identifier: MIT
"""Repositories: what a private git directory costs at the start, in 'git status', and until a commit shows outside."""
import subprocess
import time

from lab import Failed, progress, summary
from measure import TOOLS

FILES = 50000
WHO = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"]


def repository(lab, name, files):
    directory = lab.path(name)
    try:
        lab.run(["test", "-d", f"{directory}/.git"])
        return directory
    except Failed:
        progress(f"making a repository of {files} files")
    directory = lab.make_dir(name)
    for i in range(files):
        if i % 100 == 0:
            part = lab.make_dir(name, f"d{i // 100}")
        lab.write(f"{part}/f{i}.c", f"int f{i}(void);\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"], ["status"]):
        lab.run([*WHO, *words], cwd=directory)
    return directory


def repositories(lab):
    return {"10 files": repository(lab, "few", 10), f"{FILES} files": repository(lab, "fifty", FILES)}


MODES = {"direct": ["--git", "direct"], "private": ["--git", "private"],
         "cow": ["--git", "direct", "--workspace", "cow"], "cow, private": ["--git", "private", "--workspace", "cow"]}


def start(lab, rounds):
    """Until the command's first line; 'anew' without what an earlier session left for it."""
    tools = ["--mount", f"{lab.path('bin')}:{TOOLS}:ro"]
    forget = [lab.path("bin", "forget"), lab.make_dir("forgetful")]
    runners = {}
    for size, where in repositories(lab).items():
        for mode, options in MODES.items():
            runners[f"{mode}, {size}"] = [*lab.run_words("none", where, *options, *tools), f"{TOOLS}/stamp"]
        runners[f"private, anew, {size}"] = [*forget, *runners[f"private, {size}"]]
        runners[f"direct, anew, {size}"] = [*forget, *runners[f"direct, {size}"]]
    return lab.race(runners, rounds)


def status(lab, rounds):
    """'git status' in one process a place, by turns."""
    where = repository(lab, "fifty", FILES)
    words = ["git", "--no-optional-locks", "status"]
    tools = ["--mount", f"{lab.path('bin')}:{TOOLS}:ro"]
    runners = {"outside": ["/usr/bin/env", "-C", where, lab.path("bin", "lap"), *words]}
    for mode, options in MODES.items():
        runners[mode] = [*lab.run_words("none", where, *options, *tools), f"{TOOLS}/lap", *words]
    return lab.laps(runners, rounds)


class Session:
    """A shell in a sandbox, one line after the other."""

    def __init__(self, lab, where):
        self.child = subprocess.Popen([*lab.run_words("none", where, "--git", "private"), "sh"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True, **lab.as_user())

    def do(self, line):
        self.child.stdin.write(f"{line} >/dev/null 2>&1; echo end\n")
        self.child.stdin.flush()
        if not self.child.stdout.readline():
            raise Failed("the session ended")

    def end(self):
        self.child.stdin.close()
        self.child.wait()


def visible(lab, rounds):
    """From the end of 'git commit' inside until the host's branch is there."""
    results = {}
    for name, where, files in (("1 file", repository(lab, "few", 10), 1), ("1000 files", repository(lab, "few", 10), 1000),
                               (f"1 file of {FILES}", repository(lab, "fifty", FILES), 1)):
        session, times = Session(lab, where), []
        session.do("git config user.name bench; git config user.email bench@localhost; sleep 0.5; mkdir -p v")
        for turn in range(rounds):
            session.do(f"for i in $(seq {files}); do echo {turn} $i >v/$i; done; git add v; git commit -q -m {turn}-{files}")
            begin = time.perf_counter()
            while lab.run(["git", "log", "-1", "--format=%s"], cwd=where).strip() != f"{turn}-{files}":
                if time.perf_counter() - begin > 20:
                    raise Failed("a commit did not show outside")
            times.append((time.perf_counter() - begin) * 1e6)
            time.sleep(0.3)
        session.end()
        results[name] = summary(times)
    return results


def more(results, what, base):
    rows = results.get("git-start", {})
    return (rows[what]["start"] - rows[base]["start"]) / 1000 if what in rows and base in rows else None


def share(results, what):
    rows = results.get("git-status", {})
    return rows[what]["median"] / rows["outside"]["median"] if what in rows else None


GOALS = (
    ("private git, start anew, 10 files, ms", lambda r: more(r, "private, anew, 10 files", "direct, anew, 10 files"), 5),
    (f"private git, start anew, {FILES} files, ms",
     lambda r: more(r, f"private, anew, {FILES} files", f"direct, anew, {FILES} files"), 20),
    ("private git, start, 10 files, ms", lambda r: more(r, "private, 10 files", "direct, 10 files"), 1),
    (f"private git, start, {FILES} files, ms", lambda r: more(r, f"private, {FILES} files", f"direct, {FILES} files"), 1),
    ("copy-on-write, start, ms", lambda r: more(r, "cow, 10 files", "direct, 10 files"), 3),
    (f"git status, private / outside, {FILES}", lambda r: share(r, "private"), 1.05),
    (f"git status, cow / outside, {FILES}", lambda r: share(r, "cow"), 1.5),
    ("a commit of 1000 files shows after, s",
     lambda r: r["git-visible"]["1000 files"]["median"] / 1e6 if "git-visible" in r else None, 0.3),
)
