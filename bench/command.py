# SPDX-License-Identifier: MIT
"""wrapix exec beside srt 0.0.83 (from npm) and beside bubblewrap with the same mounts."""
import json
import os
import subprocess

import bwrap
import measure
import net
from lab import progress

TRUE = ["/bin/true"]
FILES = {"denyRead": [], "allowWrite": [], "denyWrite": []}


def settings(lab):
    text = json.dumps({"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": FILES})
    return lab.write(lab.path("home", "settings.json"), text)


def denying_settings(lab, name, *paths):
    files = {**FILES, "denyRead": [lab.make_dir("secret"), *paths]}
    text = json.dumps({"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": files})
    return lab.write(lab.path("home", name), text)


def watched_settings(lab):
    """A directory that may not be read: each opening for reading is looked at, for the report."""
    return denying_settings(lab, "watched.json")


def pattern_settings(lab):
    """A name that may not be read wherever it is: the supervisor opens what is opened for reading."""
    return denying_settings(lab, "pattern.json", "**/.env")


def inside(lab, directory, argv, file=None):
    return ["/usr/bin/env", "-C", directory, lab.wrapix, "exec", "-s", file or settings(lab), "--", *argv]


def equal(lab, directory, argv):
    """bubblewrap with the mounts of the plan: the whole tree read-only, and what is laid over it."""
    plan = json.loads(lab.run([lab.wrapix, "plan", "--exec", "--json", "--settings", settings(lab), "--", *argv],
                              cwd=directory))
    words = [lab.bwrap, *bwrap.NAMESPACES, "--unshare-net", "--die-with-parent", "--new-session", "--ro-bind", "/", "/",
             "--dev", "/dev", "--proc", "/proc"]
    files = bwrap.Files(lab.make_dir("race", "files-exec"))
    for op in plan["root"]:
        if not op["dest"].startswith("/dev/") and op["dest"] not in ("/", "/dev", "/proc"):
            words += bwrap.WORDS[op["op"]](op, files)
    return [*files.words, *words, "--chdir", directory, "--", *argv]


def start(lab, rounds):
    """'srt -c true', as its users type it; theirs needs hundreds of milliseconds, so it has fewer rounds."""
    directory, srt = measure.small_workspace(lab), net.install_srt()
    ours = [lab.beside("srt"), "-s", settings(lab), "-c", "true"]
    runners = {"exec": TRUE, "wrapix exec": [lab.wrapix, "exec", *ours[1:]], "wrapix srt": ours}
    if lab.bwrap:
        runners["bwrap exec"] = equal(lab, directory, TRUE)
    results = lab.race(runners, rounds)
    if srt:
        theirs = [srt, "-s", settings(lab), "-c", "true"]
        # What srt leaves behind (dead processes, a namespace of its own) is over by then. A longer rest would be
        # measured too: a machine that does nothing else takes half as long again for the command alone after 0.3 s.
        both = lab.race({"beside srt": ours, "srt": theirs}, max(10, rounds // 5), pause_us=30000)
        results.update(both)
    return results


def server(lab, rounds):
    """A command through 'wrapix exec --server', beside a start of its own; by turns, from one client."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ask.py")
    with open(script, encoding="utf-8") as f:
        words = ["/usr/bin/python3", "-c", f.read(), lab.wrapix, settings(lab), str(rounds)]
    return json.loads(lab.run(words, cwd=measure.small_workspace(lab)))


def repositories(lab, rounds):
    """A directory with many git repositories in it; srt takes seconds with 300 and refuses 1,000."""
    small, runners = measure.small_workspace(lab), {}
    runners["no repository"] = inside(lab, small, TRUE)
    for count in (300, 1000):
        progress(f"{count} repositories")
        directory = lab.make_dir(f"repositories{count}")
        for i in range(count):
            for name in ("objects", "refs", "hooks"):
                lab.make_dir(f"repositories{count}", f"r{i}", ".git", name)
            lab.write(os.path.join(directory, f"r{i}", ".git", "HEAD"), "ref: refs/heads/main\n")
            lab.write(os.path.join(directory, f"r{i}", ".git", "config"), "[core]\n\tbare = false\n")
        runners[f"{count} repositories"] = inside(lab, directory, TRUE)
    return lab.race(runners, rounds)


def calls(lab, rounds):
    """Microseconds a system call, in a writable place of a policy with rules by name; as root, on a tmpfs."""
    directory = lab.make_dir("calls")
    lab.compile("calls")
    lab.compile("floor")
    argv = [lab.path("bin", "calls"), directory, str(rounds), lab.write(lab.path("home", "kept"), "x")]
    mounted = os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "bench", directory],
                                                   check=False).returncode == 0
    try:
        # On one processor nothing has to be woken on another, which a virtual machine does slowly.
        one = ["/usr/bin/taskset", "-c", str(min(os.sched_getaffinity(0)))]
        places = {"outside": argv, "bare listener": [lab.path("bin", "floor"), directory, *argv],
                  "wrapix": inside(lab, directory, argv),
                  "wrapix, a directory denied": inside(lab, directory, argv, watched_settings(lab)),
                  "wrapix, a pattern denied": inside(lab, directory, argv, pattern_settings(lab))}
        places |= {name + ", one processor": [*one, *words] for name, words in places.items()}
        results = {name: json.loads(lab.run(words)) for name, words in places.items()}
        for name, row in results.items():
            if name.startswith("bare"):  # it answers for what is opened, and for nothing else
                results[name] = {call: row[call] for call in ("create", "write", "read")}
        return results
    finally:
        if mounted:
            subprocess.run(["umount", directory], check=False)


def places(lab, workspace, command):
    lap = [lab.path("bin", "lap"), *command]
    return {"outside": ["/usr/bin/env", "-C", workspace, *lap], "wrapix": inside(lab, workspace, lap),
            "wrapix, a directory denied": inside(lab, workspace, lap, watched_settings(lab)),
            "wrapix, a pattern denied": inside(lab, workspace, lap, pattern_settings(lab))}


def compile_c(lab, rounds):
    return measure.compile_c(lab, rounds, places)


def npm_install(lab, rounds):
    return measure.npm_install(lab, rounds, places)


def over(results, call, place="wrapix", base="outside"):
    rows = results.get("exec-calls", {})
    return rows[place][call] - rows[base][call] if rows else None


def ratio(results, section, what, base):
    rows = results.get(section, {})
    return rows[what]["median"] / rows[base]["median"] if what in rows and base in rows else None


# what, its value, the most it may be; or the least, where that word follows
GOALS = (
    ("srt -c true / ours", lambda r: ratio(r, "exec", "srt", "beside srt"), 80, "least"),
    ("wrapix exec / bwrap with equal mounts", lambda r: ratio(r, "exec", "wrapix exec", "bwrap exec"), 1.0),
    ("a command through the server, ms", lambda r: r["exec-server"]["server"]["median"] / 1000 if "exec-server" in r else None, 3),
    ("300 repositories / none", lambda r: ratio(r, "exec-repos", "300 repositories", "no repository"), 1.03),
    ("1000 repositories / none", lambda r: ratio(r, "exec-repos", "1000 repositories", "no repository"), 1.03),
    ("rules by name: create, + us", lambda r: over(r, "create"), 25),
    ("rules by name: create on one processor, + us",
     lambda r: over(r, "create", "wrapix, one processor", "outside, one processor"), 25),
    ("rules by name: rename, + us", lambda r: over(r, "rename"), 25),
    ("rules by name: unlink, + us", lambda r: over(r, "unlink"), 25),
    ("rules by name: stat, + us", lambda r: over(r, "stat"), 0.5),
    ("rules by name: open to read, + us", lambda r: over(r, "read"), 0.5),
    ("reports: open to read where a directory is denied, + us",
     lambda r: over(r, "read", "wrapix, a directory denied", "wrapix"), 10),
    ("reports: open to write where only mounts decide, + us", lambda r: over(r, "kept"), 10),
    ("reports: a refused system call, + us", lambda r: over(r, "refused"), 10),
    ("exec: compile, inside / outside", lambda r: ratio(r, "exec-compile", "wrapix", "outside"), 1.05),
    ("exec: compile, a directory denied / outside",
     lambda r: ratio(r, "exec-compile", "wrapix, a directory denied", "outside"), 1.05),
    ("exec: npm install, inside / outside", lambda r: ratio(r, "exec-npm", "wrapix", "outside"), 1.2),
    ("exec: npm install, a directory denied / outside",
     lambda r: ratio(r, "exec-npm", "wrapix, a directory denied", "outside"), 1.2),
)
