# SPDX-License-Identifier: MIT
# cow_random.py SEED: changes the tree below the current directory at random, as a program in a sandbox
# would, and prints what it is afterwards. With 'snapshot' in place of the seed it only prints, with
# 'times' the times of files as well.
import hashlib
import os
import random
import shutil
import stat
import sys


def everything(top="."):
    found = []
    for root, dirs, files in os.walk(top):
        dirs[:] = sorted(d for d in dirs if d != ".git")
        found += [os.path.relpath(os.path.join(root, name), top) for name in sorted(files) + dirs]
    return sorted(found)


def describe(path, times):
    st = os.lstat(path)
    kind = stat.S_IFMT(st.st_mode)
    text = f"{path!r} {kind:o} {stat.S_IMODE(st.st_mode) & 0o777:o}"
    if stat.S_ISLNK(st.st_mode):
        return f"{path!r} link {os.readlink(path)!r}"
    if times:
        text += f" {st.st_mtime_ns}"
    if stat.S_ISREG(st.st_mode):
        with open(path, "rb") as file:
            text += " " + hashlib.sha256(file.read()).hexdigest()
    return text


def content(rng):
    return bytes(rng.choice(b"ab\n\0\xff") for _ in range(rng.choice([0, 1, 5, 60, 5000])))


def fresh(rng, dirs):
    name = rng.choice(["a", "b", "c", "d e", "f\ng", "\xfc", "-x", "\x1b[2J", "q\"q", "b\\s"]) + str(rng.randrange(9))
    return os.path.join(rng.choice(dirs), name)


def change(rng):
    names = everything()
    dirs = ["."] + [n for n in names if os.path.isdir(n) and not os.path.islink(n)]
    files = [n for n in names if os.path.isfile(n) and not os.path.islink(n)]
    any_of = rng.choice(names) if names else None
    new = fresh(rng, dirs)
    kind = rng.randrange(14)
    if kind < 3 and not os.path.lexists(new):
        with open(new, "wb") as file:
            file.write(content(rng))
    elif kind == 3 and not os.path.lexists(new):
        os.mkdir(new, rng.choice([0o755, 0o700, 0o750]))
    elif kind == 4 and not os.path.lexists(new):
        os.symlink(rng.choice(["a", "../x", "/etc", "nowhere"]), new)
    elif kind in (5, 6) and files:
        name = rng.choice(files)
        if not os.access(name, os.W_OK):
            return
        with open(name, "r+b") as file:
            file.seek(0, rng.choice([0, 2]))
            file.write(content(rng))
    elif kind == 7 and files:
        os.utime(rng.choice(files))
    elif kind == 8 and any_of and not os.path.islink(any_of):
        os.chmod(any_of, rng.choice([0o755, 0o700, 0o744] if os.path.isdir(any_of) else [0o644, 0o755, 0o600, 0o444]))
    elif kind == 9 and any_of:
        shutil.rmtree(any_of) if os.path.isdir(any_of) and not os.path.islink(any_of) else os.unlink(any_of)
    elif kind == 10 and any_of and not os.path.lexists(new) and not new.startswith(any_of + "/"):
        shutil.move(any_of, new)
    elif kind == 11 and files:  # a file becomes a directory
        name = rng.choice(files)
        os.unlink(name)
        os.mkdir(name)
        with open(os.path.join(name, "in"), "wb") as file:
            file.write(content(rng))
    elif kind == 12 and len(dirs) > 1:  # a directory becomes a file, or is made again
        name = rng.choice(dirs[1:])
        shutil.rmtree(name)
        if rng.randrange(2):
            with open(name, "wb") as file:
                file.write(content(rng))
        else:
            os.mkdir(name)
    elif kind == 13 and files:  # replaced, as editors do it
        name = rng.choice(files)
        with open(name + "~", "wb") as file:
            file.write(content(rng))
        os.rename(name + "~", name)


def main():
    if sys.argv[1] not in ("snapshot", "times"):
        rng = random.Random(int(sys.argv[1]))
        for _ in range(rng.randrange(60)):
            change(rng)
    for name in everything():
        print(describe(name, sys.argv[1] == "times"))


main()
