# SPDX-License-Identifier: MIT
"""podman's side of a world of chaos.py: an image of busybox, and what podman keeps that a session may leave behind."""
import os
import re
import shutil
import subprocess
import time

# podman holds its namespaces open with a process of its own for each runtime directory; it stays on purpose.
PAUSE = ("catatonit", "podman pause")
# Of the runtime directory; in libpod/tmp/exits and persist a killed conmon or podman leaves a few bytes of its own.
PLACES = ("wrapix/podman", "netns", "libpod/tmp/socket", "libpod/tmp/attach")
STORE = ".local/share/containers/storage"


def available():
    return shutil.which("podman") is not None


class Containers:
    """Needs a world with 'env', 'home', 'base', 'runtime' and 'call'."""

    def __init__(self, world, wrapix):
        self.world, self.wrapix = world, wrapix
        conf = os.environ.get("CONTAINERS_CONF")
        if conf:
            world.env["CONTAINERS_CONF"] = conf
            os.makedirs(world.home + "/.config/containers")
            shutil.copy(os.path.dirname(conf) + "/policy.json", world.home + "/.config/containers/")
        self.make_image()
        self.seen = self.things()

    def make_image(self):
        root = self.world.base + "/busybox"
        for name in ("usr/bin", "usr/lib", "etc"):
            os.makedirs(f"{root}/{name}")
        for name in ("bin", "lib"):
            os.symlink(f"usr/{name}", f"{root}/{name}")
        shutil.copy("/bin/busybox", root + "/usr/bin/busybox")
        for name in ("sh", "seq", "yes", "head", "mv", "echo", "true", "cat", "wget", "nslookup"):
            os.symlink("busybox", f"{root}/usr/bin/{name}")
        self.must(self.wrapix, "image", "build", "--from", f"rootfs:{root}", "--name", "base")
        # podman's own preparations, one for each kind of network
        for network in ("none", "open"):
            self.must(self.wrapix, "run", "--engine", "podman", "--network", network, "--", "true")

    def must(self, *words):
        r = self.world.call(*words, timeout=240)
        if r.returncode:
            raise RuntimeError(f"{words}: {r.stderr}")
        return r.stdout

    def pause(self):
        """podman's own process that stays, in a round's tree."""
        try:
            with open(self.world.runtime + "/libpod/tmp/pause.pid", encoding="ascii") as f:
                return int(f.read())
        except (OSError, ValueError):
            return 0

    def things(self):
        """What podman has, as a set of sentences: containers, volumes, mounts in its namespace, files of containers."""
        found = {f"container {line}" for line in self.must("podman", "ps", "-a", "--external", "--format", "{{.ID}} {{.Names}} {{.Status}}").splitlines()}
        found |= {f"volume {line}" for line in self.must("podman", "volume", "ls", "-q").splitlines()}
        mounts = self.must("podman", "unshare", "cat", "/proc/self/mountinfo").splitlines()
        found |= {f"mount {line.split()[4]}" for line in mounts if self.world.base in line.split()[4]}
        for place in [os.path.join(self.world.runtime, p) for p in PLACES]:
            found |= {f"file {place}/{name}" for name in (os.listdir(place) if os.path.isdir(place) else [])}
        # Not 'overlay': a podman that is killed while it makes a layer leaves that half made, and knows nothing of it.
        place = os.path.join(self.world.home, STORE, "overlay-containers")
        found |= {f"file of container {name}" for name in os.listdir(place) if re.fullmatch("[0-9a-f]{64}", name)}
        return found

    def left(self):
        """After the next start, which sweeps."""
        place = self.world.runtime + "/wrapix/podman"
        for name in os.listdir(place):  # an hour later
            os.utime(os.path.join(place, name), (time.time() - 3600,) * 2)
        again = self.world.call(self.wrapix, "run", "--engine", "podman", "--network", "none", "--", "echo", "works", timeout=120)
        wrong = [] if (again.returncode, again.stdout) == (0, "works\n") else [
            f"the next start with podman fails: {again.returncode} {again.stdout} {again.stderr}"]
        left = sorted(self.things() - self.seen)
        return wrong + ([f"podman has more than before: {left[:20]}"] if left else [])

    def remove(self):
        for _ in range(2):  # the first call may only note that a conmon is gone
            self.world.call("podman", "rm", "--all", "--force", "--time=0")
        self.world.call("podman", "unshare", "rm", "-rf", self.world.home + "/" + os.path.dirname(STORE))
        subprocess.run(["kill", str(self.pause())], capture_output=True, check=False)
