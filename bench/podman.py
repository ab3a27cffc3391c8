# SPDX-License-Identifier: MIT
"""What wrapix adds to 'podman run'. Where there is no podman, or an old one, root gets the one that the tests have."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys

from lab import HERE, PATH, Failed, progress

TESTS = os.path.realpath(os.path.join(HERE, "..", "tests", "lib"))
OLDEST = (4, 4)  # that wrapix takes
NEEDS = ("newuidmap", "patchelf")  # beside what the tests' brings along
PREFIX = os.path.realpath(os.path.join(HERE, "..", "build", "podman5"))


def is_new_enough():
    """Whether there is a podman at all, too."""
    if not shutil.which("podman"):
        return False
    said = subprocess.run(["podman", "--version"], stdout=subprocess.PIPE, check=False).stdout.decode()
    return tuple(int(part) for part in re.findall(r"\d+", said)[:2]) >= OLDEST


def own(lab):
    """The machine's, as it is set up there."""
    lab.env.update({name: os.environ[name] for name in ("CONTAINERS_CONF", "XDG_RUNTIME_DIR") if name in os.environ})
    return shutil.which("podman")


def of_the_tests(lab):
    """podman 5 in build/, with a policy, a runtime directory and control groups that it can use; None where it cannot be had."""
    if os.geteuid() or subprocess.run([os.path.join(TESTS, "podman5"), PREFIX], stdout=sys.stderr, check=False).returncode:
        return None
    lab.env.update(CONTAINERS_CONF=os.path.join(PREFIX, "containers.conf"), XDG_RUNTIME_DIR=lab.make_dir("run"))
    os.chmod(lab.path("run"), 0o700)
    lab.make_dir("home", ".config")
    shutil.copy(os.path.join(PREFIX, "policy.json"), lab.make_dir("home", ".config", "containers"))
    lab.around = [os.path.join(TESTS, "cgroup2")]
    return os.path.join(PREFIX, "bin", "podman")


def stop(lab):
    """The process that podman keeps for a runtime directory."""
    with contextlib.suppress(OSError, ValueError):
        with open(lab.path("run", "libpod", "tmp", "pause.pid"), encoding="ascii") as f:
            os.kill(int(f.read()), signal.SIGKILL)


@contextlib.contextmanager
def found(lab):
    """podman's program, or None and why; within, the lab's commands run where podman can."""
    before = dict(lab.env)
    try:
        program = own(lab) if is_new_enough() else of_the_tests(lab)
        if program:
            lab.env["PATH"] = os.path.dirname(program) + ":" + PATH
        else:
            progress("podman: left out, there is no new one here" + (", and only root gets the tests'" if os.geteuid() else ""))
        yield program
    finally:
        if lab.around:
            stop(lab)
        lab.env, lab.around = before, []


def words(lab, program):
    """'true' from an image of busybox alone, without a network: podman's own words, and ours."""
    project, programs = lab.make_dir("podman"), lab.make_dir("image", "bin")
    shutil.copy("/bin/busybox", programs)
    for name in ("true", "sh"):
        os.symlink("busybox", os.path.join(programs, name))
    lab.run([lab.wrapix, "image", "build", "--from", "rootfs:" + lab.path("image"), "--name", "bench"])
    options = ["--engine", "podman", "--image", "bench"]
    image = lab.plan("none", project, *options).get("image")
    if not image:
        raise Failed("wrapix plan --engine podman names no image")
    ours = [*lab.run_words("none", project, *options), "true"]
    lab.run(ours)  # which gives podman the image
    plain = [program, "run", "--rm", "--interactive", "--network=none", "--userns=keep-id", "--cap-drop=all",
             "--security-opt=no-new-privileges", "--read-only", "-v", project + ":/workspace", "-w", "/workspace", image,
             "true"]
    return plain, ours


def start(lab, rounds):
    with found(lab) as program:
        if not program:
            return {}
        plain, ours = words(lab, program)
        return lab.race({"podman run": plain, "wrapix --engine podman": ours}, rounds)


def added(results):
    rows = results.get("podman", {})
    names = list(rows)
    return (rows[names[1]]["median"] - rows[names[0]]["median"]) / 1000 if len(names) == 2 else None


GOALS = (("podman: milliseconds added to 'podman run'", added, 10),)
