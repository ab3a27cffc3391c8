# SPDX-License-Identifier: MIT
"""What wrapix adds to 'podman run'."""
import os
import shutil

from lab import Failed


def words(lab):
    """'true' from an image of busybox alone, without a network: podman's own words, and ours."""
    for name in ("CONTAINERS_CONF", "XDG_RUNTIME_DIR"):
        if name in os.environ:
            lab.env[name] = os.environ[name]
    lab.env["PATH"] = os.path.dirname(shutil.which("podman")) + ":" + lab.env["PATH"]
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
    plain = [shutil.which("podman"), "run", "--rm", "--interactive", "--network=none", "--userns=keep-id", "--cap-drop=all",
             "--security-opt=no-new-privileges", "--read-only", "-v", project + ":/workspace", "-w", "/workspace", image,
             "true"]
    return plain, ours


def start(lab, rounds):
    plain, ours = words(lab)
    return lab.race({"podman run": plain, "wrapix --engine podman": ours}, rounds)


def added(results):
    rows = results.get("podman", {})
    names = list(rows)
    return (rows[names[1]]["median"] - rows[names[0]]["median"]) / 1000 if len(names) == 2 else None


GOALS = (("podman: milliseconds added to 'podman run'", added, 10),)
