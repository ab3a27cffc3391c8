# SPDX-License-Identifier: MIT
"""What is measured. Each function takes the lab and the number of rounds and returns {name: result}."""
import io
import os
import signal
import subprocess
import tarfile

import bwrap
from lab import Failed, progress

TRUE = ["/bin/true"]
TOOLS = "/mnt/bench"  # where the helpers stand inside
PACKAGES = 10


def small_workspace(lab):
    directory = lab.make_dir("small")
    for i in range(10):
        lab.write(os.path.join(directory, f"file{i}"), "")
    return directory


def contents(lab, name):
    """A place for the generated files that bubblewrap gets through descriptors."""
    return lab.make_dir("race", "files-" + name)


def start(lab, rounds):
    """A whole run of 'true': the start and the end of a sandbox, and nothing between."""
    workspace = small_workspace(lab)
    runners = {"exec": TRUE}
    for network in ("none", "host"):
        plan = lab.plan(network, workspace)
        runners[f"wrapix {network}"] = [*lab.run_words(network, workspace), *TRUE]
        if lab.bwrap:
            runners[f"bwrap {network}"] = bwrap.equal(lab.bwrap, plan, contents(lab, network), TRUE)
            runners[f"bwrap {network}, few mounts"] = bwrap.minimal(lab.bwrap, plan, workspace, TRUE)
    return lab.race(runners, rounds)


def open_network(lab, rounds):
    workspace = small_workspace(lab)
    runner = [*lab.run_words("open", workspace), *TRUE]
    return lab.race({"wrapix open": runner}, rounds, 20000) if lab.works(runner) else {}


def parts(lab, rounds):
    """The same in two parts: until the command's first line, and from its last line on."""
    workspace = small_workspace(lab)
    tools = ["--mount", f"{lab.path('bin')}:{TOOLS}:ro"]
    stamp = [f"{TOOLS}/stamp"]
    runners = {"exec": [lab.path("bin", "stamp")],
               "wrapix none": [*lab.run_words("none", workspace, *tools), *stamp],
               "wrapix none, copy-on-write": [*lab.run_words("none", workspace, "--workspace", "cow", *tools), *stamp]}
    if lab.bwrap:
        plan = lab.plan("none", workspace, *tools)
        runners["bwrap none"] = bwrap.equal(lab.bwrap, plan, contents(lab, "parts"), stamp)
    return lab.race(runners, rounds)


def mounts(lab, rounds):
    """Many more read-only mounts: of a few files, each at a place of its own."""
    workspace, results = small_workspace(lab), {}
    sources = [lab.write(lab.path("home", f"source{i}"), "x\n") for i in range(4)]
    for count in (40, 300, 1200):
        progress(f"{count} more mounts")
        options = []
        for i in range(count):
            options += ["--mount", f"{sources[i % len(sources)]}:/mnt/many/{i}:ro"]
        runners = {f"wrapix +{count}": [*lab.run_words("none", workspace, *options), *TRUE]}
        if lab.bwrap:
            plan = lab.plan("none", workspace, *options)
            runners[f"bwrap +{count}"] = bwrap.equal(lab.bwrap, plan, contents(lab, str(count)), TRUE)
        results.update(lab.race(runners, rounds))
    return results


def directory_size(lab, rounds):
    """The start must not depend on how much there is in the project."""
    small, count = small_workspace(lab), 1000000 if os.environ.get("BENCH_FULL") else 100000
    progress(f"making {count} files")
    big = lab.make_dir("big")
    for i in range(count):
        if i % 1000 == 0:
            directory = lab.make_dir("big", f"d{i // 1000}")
        os.close(os.open(f"{directory}/f{i}", os.O_WRONLY | os.O_CREAT, 0o644))
    return lab.race({"10 files": [*lab.run_words("none", small), *TRUE],
                     f"{count} files": [*lab.run_words("none", big), *TRUE]}, rounds)


def status_fields(pid, file, names):
    """KiB of the named lines of a file in /proc; None where it may not be read."""
    try:
        with open(f"/proc/{pid}/{file}", encoding="ascii", errors="replace") as f:
            lines = dict(line.split(":", 1) for line in f if ":" in line)
    except OSError:
        return {name: None for name in names}
    return {name: int(lines[name].split()[0]) if name in lines else None for name in names}


def memory_of(pid):
    return {**status_fields(pid, "status", ("VmRSS", "RssAnon")), **status_fields(pid, "smaps_rollup", ("Pss",))}


def memory(lab, _rounds):
    """What the supervisor and PID 1 keep in memory while a command runs. Pss needs root: they are not dumpable."""
    argv = [*lab.run_words("none", small_workspace(lab)), "/bin/sh", "-c", "echo ready; exec sleep 60"]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, **lab.as_user()) as process:
        try:
            if process.stdout.readline() != b"ready\n":
                raise Failed("the sandbox for the memory measurement did not start")
            with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as f:
                children = f.read().split()
            results = {"supervisor": memory_of(process.pid)}
            if children:
                results["PID 1"] = memory_of(children[0])
        finally:
            process.send_signal(signal.SIGTERM)
    return results


def places(lab, workspace, command):
    """One command in three places, for Lab.laps()."""
    tools = ["--mount", f"{lab.path('bin')}:{TOOLS}:ro"]
    inside = [f"{TOOLS}/lap", *command]
    outside = ["/usr/bin/env", "-C", workspace, lab.path("bin", "lap"), *command]
    runners = {"outside": outside, "wrapix": [*lab.run_words("none", workspace, *tools), *inside],
               "wrapix copy-on-write": [*lab.run_words("none", workspace, "--workspace", "cow", *tools), *inside]}
    if lab.bwrap:
        plan = lab.plan("none", workspace, "--git", "direct", *tools)
        # No contents by descriptor here: these places are started once, by subprocess.
        runners["bwrap"] = bwrap.equal(lab.bwrap, plan, None, inside)
    return runners


def git_status(lab, rounds):
    progress("making a repository of 20000 files")
    repository = lab.make_dir("repository")
    for i in range(20000):
        if i % 100 == 0:
            directory = lab.make_dir("repository", f"d{i // 100}")
        lab.write(f"{directory}/f{i}.c", f"int f{i}(void);\n")
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"], ["status"]):
        lab.run([*git, *words], cwd=repository)
    return lab.laps(places(lab, repository, ["git", "--no-optional-locks", "status"]), rounds)


def source_text(functions):
    head = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/socket.h>\n"
    body = "".join(f"""
int f{i}(const char *s, int n)
{{
	char buf[64];
	int sum = {i};

	for (int k = 0; k < n; k++)
		sum += snprintf(buf, sizeof(buf), "%s %d", s, k) * (sum ^ k);
	return strlen(buf) > {i % 60} ? sum : abs(sum - {i});
}}
""" for i in range(functions))
    return head + body


def compile_c(lab, rounds, at=places):
    """Temporary files go to the workspace in all places: a tmpfs inside would not be a fair comparison."""
    workspace = lab.make_dir("compile")
    lab.write(os.path.join(workspace, "many.c"), source_text(150))
    command = ["env", "TMPDIR=.", "cc", "-O2", "-c", "many.c", "-o", "many.o"]
    return lab.laps(at(lab, workspace, command), rounds)


def add_text(archive, name, text):
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(text), 0o644
    archive.addfile(info, io.BytesIO(text.encode()))


def make_package(lab, workspace, i):
    file = os.path.join(workspace, f"p{i}.tgz")
    with tarfile.open(file, "w:gz") as archive:
        add_text(archive, "package/package.json", f'{{"name": "p{i}", "version": "1.0.0", "main": "m0.js"}}\n')
        for k in range(40):
            add_text(archive, f"package/m{k}.js", f"module.exports = {k};\n" * 20)
    return lab.own(file)


def npm_install(lab, rounds, at=places):
    """From archives in the workspace: without a network, and so that only this machine is measured."""
    workspace = lab.make_dir("npm")
    for i in range(PACKAGES):
        make_package(lab, workspace, i)
    wanted = ", ".join(f'"p{i}": "file:p{i}.tgz"' for i in range(PACKAGES))
    lab.write(os.path.join(workspace, "package.json"),
              f'{{"name": "all", "version": "1.0.0", "dependencies": {{{wanted}}}}}\n')
    script = ("rm -rf node_modules package-lock.json && "
              "npm install --offline --cache ./cache --no-audit --no-fund --no-update-notifier --ignore-scripts")
    return lab.laps(at(lab, workspace, ["sh", "-c", script]), rounds)
