# SPDX-License-Identifier: MIT
"""Images: how long a build takes beside umoci and buildah, how much memory, and what an image costs a start."""
import glob
import os
import resource
import shutil
import subprocess
import time

from lab import summary

PACKAGES = 200
BIG = 1 << 30


def packages():
    """Of this machine's packages, 200 that are neither the smallest nor the largest."""
    lists = sorted(glob.glob("/var/lib/dpkg/info/*.list"), key=lambda name: (os.path.getsize(name), name))
    first = max(0, (len(lists) - PACKAGES) // 2)
    return lists[first:first + PACKAGES]


def copy_package(name, root):
    for line in open(name, encoding="utf-8", errors="surrogateescape"):
        path = line.rstrip("\n")
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        target = root + path
        if os.path.islink(path) or os.path.isfile(path):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if not os.path.lexists(target) and os.access(path, os.R_OK):
                shutil.copy2(path, target, follow_symlinks=False)
    info = root + "/var/lib/dpkg/info"
    os.makedirs(info, exist_ok=True)
    shutil.copy(name, info)


def make_root(lab):
    root = lab.make_dir("image-root")
    for name in packages():
        copy_package(name, root)
    for directory, _, files in os.walk(root):
        lab.own(directory)
        for name in files:
            lab.own(os.path.join(directory, name))
    return root


def timed(lab, words):
    """Seconds and the size (KiB) of the largest process of one run; None when it failed. In a child, whose own
    children are these alone."""
    before = time.monotonic()
    pid = os.fork()
    if pid == 0:
        with open(os.devnull, "r+b") as null:
            done = subprocess.run(words, stdin=null, stdout=null, stderr=null, check=False, **lab.as_user())
        with open(lab.path("largest"), "w", encoding="ascii") as out:
            out.write(f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss} {done.returncode}")
        os._exit(0)
    os.waitpid(pid, 0)
    seconds = time.monotonic() - before
    with open(lab.path("largest"), encoding="ascii") as out:
        largest, status = map(int, out.read().split())
    return None if status else (seconds, largest)


def umoci_words(lab, layers):
    """One process for each layer, as umoci wants it; the script is timed whole."""
    script = "cd tmp; rm -rf u && umoci init --layout u && umoci new --image u:x\n"
    script += "".join(f"umoci raw add-layer --image u:x {layer}\n" for layer in layers)
    return ["sh", "-ec", script]


def buildah_words(root):
    return ["sh", "-ec", "cd tmp; export XDG_RUNTIME_DIR=$PWD; b='buildah --root b --runroot br --storage-driver vfs'; c=$($b from scratch); "
            f"$b add -q $c {root} /; $b commit -q --disable-compression=false $c oci:bl:x; $b rm $c; buildah unshare rm -rf b br bl"]


def build(lab, rounds):
    """By turns, one build of each a round; every one from nothing."""
    root = make_root(lab)
    image = [lab.wrapix, "image", "build", "--from", f"rootfs:{root}", "--name", "x", "--no-unpack"]
    lab.run([*image, "--compression", "none", "-o", lab.path("tmp", "plain")])
    layers = sorted(glob.glob(lab.path("tmp", "plain", "blobs", "sha256", "*")), key=os.path.getsize, reverse=True)
    layers = [name for name in layers if open(name, "rb").read(1) != b"{"]
    runners = {"wrapix gzip": image, "wrapix zstd": [*image, "--compression", "zstd"]}
    if shutil.which("umoci"):
        runners["umoci, the same layers"] = umoci_words(lab, layers)
    if shutil.which("buildah"):
        runners["buildah, one layer"] = buildah_words(root)
    times = {name: [] for name in runners}
    sizes = {name: 0 for name in runners}
    for _ in range(rounds):
        for name, words in runners.items():
            shutil.rmtree(lab.path("home", ".cache"), ignore_errors=True)
            result = timed(lab, words)
            if result:
                times[name].append(result[0] * 1e6)
                sizes[name] = max(sizes[name], result[1])
    return {name: {**summary(samples), "KiB": sizes[name]} for name, samples in times.items() if samples}


def memory(lab, _):
    """One layer of a gibibyte."""
    root = lab.make_dir("image-big")
    with open(os.path.join(root, "big"), "wb") as out:
        out.truncate(BIG)
    lab.own(os.path.join(root, "big"))
    rows = {}
    for how in ("gzip", "zstd"):
        shutil.rmtree(lab.path("home", ".cache"), ignore_errors=True)
        result = timed(lab, [lab.wrapix, "image", "build", "--from", f"rootfs:{root}", "--name", "x", "--compression", how])
        if result:
            rows[how] = {"VmRSS": result[1]}
    shutil.rmtree(lab.path("home", ".cache"), ignore_errors=True)
    return rows


def start(lab, rounds):
    """A whole run of 'true', from an image and from the host."""
    root = lab.make_dir("image-small")
    os.makedirs(os.path.join(root, "bin"))
    shutil.copy("/bin/busybox", os.path.join(root, "bin", "true"))
    lab.run([lab.wrapix, "image", "build", "--from", f"rootfs:{root}", "--name", "small"])
    workspace = lab.make_dir("image-workspace")
    return lab.race({"wrapix none": [*lab.run_words("none", workspace), "true"],
                     "wrapix none, from an image": [*lab.run_words("none", workspace, "--image", "small"), "true"]}, rounds)


def start_more(results):
    rows = results.get("image-start", {})
    return (rows["wrapix none, from an image"]["median"] - rows["wrapix none"]["median"]) / 1000 if len(rows) == 2 else None


def build_ratio(other):
    def value(results):
        rows = results.get("image-build", {})
        return rows["wrapix gzip"]["median"] / rows[other]["median"] if other in rows and "wrapix gzip" in rows else None
    return value


GOALS = (
    ("start from an image, more than without, ms", start_more, 2),
    ("image of 200 packages: wrapix / umoci", build_ratio("umoci, the same layers"), 1),
    ("image of 200 packages: wrapix / buildah", build_ratio("buildah, one layer"), 1),
    ("a layer of 1 GiB: largest process, MiB",
     lambda r: max(row["VmRSS"] for row in r["image-memory"].values()) / 1024 if r.get("image-memory") else None, 64),
)
