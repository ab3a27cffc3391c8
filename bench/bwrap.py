# SPDX-License-Identifier: MIT
"""A plan of wrapix as words for bubblewrap, so that both build the same root from the same parts.

What has no equal there is left out (Landlock, seccomp, the keyring, limits, what lies under the project): bubblewrap then does
less, and the comparison is in its favour.
"""
import os

NAMESPACES = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup"]

# Made by 'bwrap --dev /dev' in one go.
DEV = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/pts",
       "/dev/ptmx", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/shm"}


def bind(op, _files):
    how = "ro-bind" if op["mode"] == "ro" else "bind"
    return ["--" + how + ("-try" if op.get("optional") else ""), op.get("source", op["dest"]), op["dest"]]


def directory(op, _files):
    return ["--perms", op["permissions"], "--dir", op["dest"]]


def scratch(op, _files):
    return ["--perms", op["permissions"], "--tmpfs", op["dest"]]


def link(op, _files):
    return ["--symlink", op["target"], op["dest"]]


def content(op, files):
    return ["--perms", op.get("permissions", "0444"), "--file", str(files.add(op.get("content", ""))), op["dest"]]


def cover(op, files):
    return ["--ro-bind-data", str(files.add(op.get("content", ""))), op["dest"]]


def hide(op, _files):
    empty = "/sys/fs" if os.path.isdir(op["dest"]) else "/dev/null"
    return ["--ro-bind", empty, op["dest"]]


WORDS = {
    "bind": bind,
    "dir": directory,
    "scratch": scratch,
    "link": link,
    "file": content,
    "cover": cover,
    "hide": hide,
    "readonly": lambda op, _files: ["--ro-bind", op["dest"], op["dest"]],
    "socket": content,  # a node to make; nobody listens
    "proc": lambda op, _files: ["--proc", op["dest"]],
    "devpts": lambda op, _files: [],
}


BY_DESCRIPTOR = {name for name, words in WORDS.items() if words in (content, cover)}


def has_equal(op, last, files):
    """Not the node of '--dev', not a bind that another one covers."""
    return (op["dest"] not in DEV and (op["op"] != "bind" or op is last[op["dest"]])
            and (files or op["op"] not in BY_DESCRIPTOR))


class Files:
    """Contents that bubblewrap reads from descriptors; the race opens them anew for each run."""

    def __init__(self, directory, first=20):
        self.directory, self.next, self.words = directory, first, []

    def add(self, text):
        number, self.next = self.next, self.next + 1
        path = os.path.join(self.directory, f"content-{number}")
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write(text)
        self.words.append(f"{number}<{path}")
        return number


def tail(plan):
    words = ["--hostname", plan["identity"]["hostname"], "--chdir", plan["cwd"], "--clearenv"]
    for entry in plan["env"]:
        name, equals, value = entry.partition("=")
        if equals:
            words += ["--setenv", name, value]
    return words


def equal(bwrap, plan, directory, command):
    """The same namespaces, the same mounts, the same identity. directory: for contents, None: without those."""
    files = Files(directory) if directory else None
    net = [] if plan["network"] == "host" else ["--unshare-net"]
    words = [bwrap, *NAMESPACES, *net, "--die-with-parent", "--new-session", "--dev", "/dev"]
    last = {op["dest"]: op for op in plan["root"]}
    for op in plan["root"]:
        if has_equal(op, last, files):
            words += WORDS[op["op"]](op, files)
    return [*(files.words if files else []), *words, *tail(plan), "--", *command]


def minimal(bwrap, plan, workspace, command):
    """What a person would type: for orientation only."""
    net = [] if plan["network"] == "host" else ["--unshare-net"]
    words = [bwrap, *NAMESPACES, *net, "--die-with-parent", "--new-session"]
    for op in plan["root"]:
        if op["dest"].count("/") == 1 and op["op"] in ("bind", "link") and op["dest"] != "/workspace":
            words += WORDS[op["op"]](op, None)
    return [*words, "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache", "--proc", "/proc", "--dev", "/dev",
            "--tmpfs", "/tmp", "--bind", workspace, "/workspace", *tail(plan), "--", *command]
