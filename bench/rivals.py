# SPDX-License-Identifier: MIT
"""'true' in every sandbox that can be had here, in one race: the machine's floor, ours, and the others'.

They do not do the same. bubblewrap has our mounts and no filter; firejail has its own ideas of a default; podman has an
image and a store; systemd-nspawn runs as root, and so in a race of its own, under the same pause.
"""
import os
import shutil

import command
import measure
import net
import podman
from lab import PATH, Failed, progress

PAUSE_US = 300000  # what srt and podman leave behind them is not to be in the time of the next


def firejail(project):
    program = shutil.which("firejail", path=PATH)
    words = ["/usr/bin/env", "-C", project, program, "--quiet", "--net=none", "--private-dev"]
    return {"firejail": [*words, "true"], "firejail, no profile": [*words, "--noprofile", "true"]} if program else {}


def nspawn(project):
    """A root of tmpfs with this machine's /usr in it."""
    program = shutil.which("systemd-nspawn", path=PATH)
    words = [program, "--quiet", "--register=no", "--keep-unit", "--as-pid2", "--volatile=yes", "--private-network",
             "--bind=" + project + ":/workspace", "--chdir=/workspace", "-D", "/", "/usr/bin/true"]
    return {"systemd-nspawn, as root": words} if program and os.geteuid() == 0 else {}


def runners(lab, project):
    found = {"exec": command.TRUE, "wrapix run": [*lab.run_words("none", project), *command.TRUE],
             "wrapix exec": command.inside(lab, project, command.TRUE),
             "wrapix srt": [lab.beside("srt"), "-s", command.settings(lab), "-c", "true"]}
    if lab.bwrap:
        found["bubblewrap, equal mounts"] = command.equal(lab, project, command.TRUE)
    return found


def others(lab, project, container):
    """Those that may be installed and yet not work."""
    found = firejail(project)
    if container and shutil.which("busybox"):
        try:
            plain, ours = podman.words(lab, container)
            found.update({"podman run": plain, "wrapix run --engine podman": ours})
        except Failed as failed:
            progress(f"podman is left out: {failed}")
    srt = net.install_srt()
    if srt:
        found["srt 0.0.83"] = [srt, "-s", command.settings(lab), "-c", "true"]
    return {name: words for name, words in found.items() if lab.works(words)}


def race(lab, rounds):
    project = measure.small_workspace(lab)
    with podman.found(lab) as container:
        rows = lab.race({**runners(lab, project), **others(lab, project, container)}, rounds, PAUSE_US)
    root = {name: words for name, words in nspawn(project).items() if lab.works(words, as_root=True)}
    if root:
        rows.update(lab.race(root, rounds, PAUSE_US, as_root=True))
    for row in rows.values():
        row["of srt"] = f"{row['median'] / rows['wrapix srt']['median']:.1f}"
    return rows
