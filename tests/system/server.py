#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A client of 'wrapix exec --server', for exec_server.sh and bench: server.py SOCKET CHECK. Prints TAP."""
import array
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time

PATH = sys.argv[1] if len(sys.argv) > 1 else ""
tests = {"run": 0, "failed": 0}


class Command:
    """One connection: a request, and the lines that come back."""

    def __init__(self, request, fds=(), path=None):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path or PATH)
        self.socket.settimeout(60)
        self.buffer, self.fds, self.lines = b"", [], []
        line = request if isinstance(request, bytes) else json.dumps(request).encode() + b"\n"
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        try:
            sent = self.socket.sendmsg([line], rights)
            self.socket.sendall(line[sent:])
        except (BrokenPipeError, ConnectionResetError):
            pass  # what it says all the same is read

    def send(self, message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def line(self):
        while b"\n" not in self.buffer:
            try:
                data, ancillary, _, _ = self.socket.recvmsg(65536, 4096)
            except ConnectionResetError:
                return None
            for level, kind, rights in ancillary:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    got = array.array("i")
                    got.frombytes(rights)
                    self.fds += list(got)
            if not data:
                return None
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\n", 1)
        self.lines.append(json.loads(text))
        return self.lines[-1]

    def until(self, kind):
        line = self.line()
        while line and line["type"] != kind:
            line = self.line()
        return line

    def finish(self):
        """The exit status, and what was written to both descriptors, where they came back."""
        first = self.line()
        texts = [read(fd) for fd in self.fds] if first and first["type"] == "output" else []
        last = first if first and first["type"] == "exit" else self.until("exit")
        while self.line():
            pass
        self.socket.close()
        return (last["status"] if last else None, *texts)


def read(fd):
    with os.fdopen(fd, "rb") as f:
        return f.read().decode(errors="replace")


def run(request, fds=(), path=None):
    return Command(request, fds, path).finish()


def check(name, got, wanted):
    tests["run"] += 1
    print(f"{'ok' if got == wanted else 'not ok'} {tests['run']} - {name}", flush=True)
    if got != wanted:
        tests["failed"] += 1
        print(f"# got {got!r}, wanted {wanted!r}".encode("ascii", "replace").decode())


def of(lines, kind):
    return [line for line in lines if line["type"] == kind]


def alive(mark):
    args = subprocess.run(["ps", "-u", str(os.getuid()), "-o", "args="], capture_output=True, check=True, text=True).stdout
    return any(line.strip() == f"sleep {mark}" for line in args.splitlines())


def await_that(is_alive, mark):
    """Looks until the process is there, or gone; a test that waits for ever is ended from outside."""
    while alive(mark) != is_alive:
        threading.Event().wait(0.01)
    return True


def test_answers(project):
    check("a line for the shell; output comes back by descriptors", run({"command": "echo out; echo err >&2; exit 3"}),
          (3, "out\n", "err\n"))
    check("words", run({"argv": ["printf", "%s|", "a b", "$HOME"]})[1], "a b|$HOME|")
    check("a signal is 128 and its number", run({"command": "kill -9 $$"})[0], 137)
    check("a command that is not there", run({"argv": ["no-such-command"]})[0], 127)
    check("where it runs", run({"argv": ["pwd"], "cwd": "/usr"})[1], "/usr\n")
    check("its environment is the client's alone", sorted(
        line for line in run({"argv": ["/usr/bin/env"], "env": {"A": "1\n2", "HOME": "/"}})[1].split("\n")
        if not line.startswith(("TMPDIR=", "TMUX_TMPDIR=", "PWD=", "SANDBOX_RUNTIME="))), ["", "2", "A=1", "HOME=/"])
    large = {"argv": ["sh", "-c", "env | wc -c"], "env": {f"BIG{i}": "x" * 100000 for i in range(12)}}
    check("... a large one, too", int(run(large)[1]) > 1200000, True)
    line = json.dumps({"argv": ["true"]}).encode()
    check("a line of the greatest length", [run(line + b" " * (4194304 + more - len(line)) + b"\n")[0] for more in (0, 1)], [0, 2])
    check("its umask", run({"command": "umask", "umask": 0o27})[1], "0027\n")
    command = Command({"command": "echo x >made; echo y >.bashrc; cat made"}, ())
    status, out, _ = command.finish()
    check("rules hold: what is allowed", (status, out, os.path.exists(os.path.join(project, "made"))), (0, "x\n", True))
    check("... what is not, with the event", [(e["path"], e["key"]) for e in of(command.lines, "deny")],
          [(os.path.join(project, ".bashrc"), "protect")])
    check("... and it is not there", os.path.exists(os.path.join(project, ".bashrc")), False)


def test_settings(project):
    secret = os.path.join(project, "secret")
    with open(secret, "w", encoding="ascii") as f:
        f.write("s\n")
    settings = {"network": {"allowedDomains": [], "deniedDomains": []},
                "filesystem": {"denyRead": [secret], "allowWrite": [], "denyWrite": []}}
    check("without settings it is read", run({"argv": ["cat", "secret"]})[:2], (0, "s\n"))
    check("settings in the request hold", run({"argv": ["cat", "secret"], "settings": settings})[:2], (1, ""))
    name = os.path.join(project, "..", "settings.json")
    with open(name, "w", encoding="ascii") as f:
        json.dump(settings, f)
    check("... in a file, too", run({"argv": ["cat", "secret"], "settings": name})[:2], (1, ""))
    with open(name, "w", encoding="ascii") as f:
        f.write('{"filesystem": 1}')
    command = Command({"argv": ["cat", "secret"], "settings": name})
    check("... and are read anew: wrong ones refuse it", command.finish()[0], 2)
    check("... and say why", len(of(command.lines, "error")), 1)
    os.unlink(name)
    os.mkfifo(name)
    check("a FIFO is none, and nobody waits for its writer", run({"argv": ["true"], "settings": name})[0], 2)
    os.unlink(name)
    command = Command({"argv": ["true"], "settings": {"filesystem": 1}})
    check("wrong ones in the request, too", command.finish()[0], 2)


def test_descriptors(project):
    r, w = os.pipe()
    null = os.open("/dev/null", os.O_RDWR)
    status = run({"command": "echo to 1"}, (null, w, null))[0]
    os.close(w)
    check("the client's own descriptors", (status, read(r)), (0, "to 1\n"))
    r, w = os.pipe()
    status = run({"command": "echo to 5 >&5; ls /proc/$$/fd >&5", "fds": [2, 5, 0, 1]}, (null, w, null, null))[0]
    os.close(w)
    check("... by other names, and no others", (status, read(r).split()), (0, "to 5 0 1 2 5".split()))
    command = Command({"argv": ["true"], "fds": [0, 1]}, (null,))
    check("... in another number than named: refused", command.finish()[0], 2)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.join(project, "listener"))
    listener.listen()
    os.unlink(os.path.join(project, "listener"))
    for what, fd in (("is a directory", os.open("/", os.O_RDONLY)), ("is not open for reading", os.open("/etc/passwd", os.O_PATH)), ("is not open for reading", os.pipe()[1]),
                     ("is no pipe", os.open("/dev/zero", os.O_RDONLY)), ("is no pipe", os.eventfd(0)), ("is a socket that listens", listener.fileno()),
                     ("cannot be read", os.open("/proc/self/ns/net", os.O_RDONLY))):
        command = Command({"command": "echo ran >&2", "fds": [0, 1, 2, 5], "control": 5}, (null, null, null, fd))
        check(f"no control by what {what}: refused", (command.finish()[0], [what in e["text"] for e in of(command.lines, "error")]), (2, [True]))
    for name, fd in (("a pipe", os.pipe()[0]), ("a socket", socket.socketpair()[0].detach()), ("nothing", null), ("a terminal", os.openpty()[0]),
                     ("a file", os.memfd_create("settings"))):
        check(f"control by {name}", run({"command": "exit 3", "fds": [0, 1, 2, 5], "control": 5}, (null, null, null, fd)), (3,))
    here = os.open("/", os.O_RDONLY)
    command = Command({"command": "ls /proc/self/fd/0/", "fds": [0, 1, 2]}, (here, null, null))
    check("a directory is refused", (command.finish()[0], len(of(command.lines, "error"))), (2, 1))
    keyboard, terminal = os.openpty()
    command = Command({"argv": ["cat"]}, (terminal, null, null))
    check("a terminal as input is refused", (command.finish()[0], len(of(command.lines, "error"))), (2, 1))
    status = run({"command": "test -t 1 && echo on a terminal"}, (null, terminal, null))[0]
    check("... as output it is one", (status, os.read(keyboard, 100)), (0, b"on a terminal\r\n"))


def test_hostile():
    for name, line in (("no JSON", b"hello\n"), ("no object", b"[1]\n"), ("no command", b"{}\n"),
                       ("an unknown key", b'{"argv":["true"],"sandbox":false}\n'), ("both forms", b'{"argv":["a"],"command":"b"}\n'),
                       ("a word with NUL", b'{"argv":["a\\u0000b"]}\n'), ("a key twice", b'{"argv":["a"],"argv":["b"]}\n'),
                       ("a relative directory", b'{"argv":["true"],"cwd":"tmp"}\n'), ("an odd variable", b'{"argv":["true"],"env":{"A=B":"c"}}\n')):
        command = Command(line)
        check(f"refused: {name}", (command.finish()[0], len(of(command.lines, "error"))), (2, 1))
    command = Command(b'{"argv":["' + b"a" * (2 << 20))
    check("a line that does not end is cut off", command.finish()[0], 125)
    null = os.open("/dev/null", os.O_RDWR)
    command = Command({"argv": ["true"]}, (null,) * 65)
    check("more descriptors than may be", command.finish()[0], 125)
    command = Command({"command": "echo up; exec sleep 1000"}, ())
    command.line()
    check("... while it runs: what is no message is said", os.read(command.fds[0], 3), b"up\n")
    command.socket.sendall(b'{"signal":19}\n{"sigal":15}\nx\n{"signal":15}\n')
    status = command.until("exit")["status"]
    check("... three times, and a signal that may be sent arrives", (len(of(command.lines, "warning")), status), (3, 143))
    command = Command(b'{"argv":["sleep","1000"]}\n{"sigal":15}\n{"signal":15}\n')
    status = command.until("exit")["status"]
    check("what comes in one piece with the request is heard", (len(of(command.lines, "warning")), status), (1, 143))


def test_slow():
    """Who says or reads a little at a time, or nothing, has a worker for a while only."""
    began = time.monotonic()
    clients = []
    for _ in range(2):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        client.connect(PATH)
        clients.append(client)
    # More is refused than the socket holds, and nobody reads it.
    deaf = Command({"argv": ["python3", "-c", "import os\nfor i in range(6000):\n try: os.mkdir('/etc/' + 'x' * 200 + str(i))\n except OSError: pass"]})
    refused = []
    while len(refused) < len(clients) and time.monotonic() - began < 40:
        for client in clients:
            try:
                client.sendall(b" ")
                client.setblocking(False)
                refused += [client] if client.recv(1000) else []
            except BlockingIOError:
                pass
            except OSError:
                refused.append(client)
            client.setblocking(True)
        clients = [c for c in clients if c not in refused]
        threading.Event().wait(1)
    check("a request in drops is not waited for", (clients, 5 < time.monotonic() - began < 25), ([], True))
    ended = select.poll()
    ended.register(deaf.socket, 0)
    check("who does not read has a worker for a while", ended.poll(0), [])
    check("... and not for ever", [event for _, event in ended.poll(60000)], [select.POLLHUP])


def test_life(mark):
    started = []
    for i in range(8):
        inner, outer = os.pipe(), os.pipe()
        null = os.open("/dev/null", os.O_RDWR)
        started.append((Command({"command": f"echo up; read x; exit {i}"}, (inner[0], outer[1], null)), inner[1], outer[0]))
    for _, _, out in started:
        os.read(out, 3)
    for _, to, _ in reversed(started):
        os.write(to, b"\n")
    check("eight at once, each with its own status", [command.finish()[0] for command, _, _ in started], list(range(8)))
    command = Command({"command": f"echo up; exec sleep {mark}1"})
    command.line()
    os.read(command.fds[0], 3)
    check("there is a command to look for", await_that(True, f"{mark}1"), True)
    command.socket.close()
    check("the client goes: its command ends", await_that(False, f"{mark}1"), True)
    command = Command({"command": f"trap '' TERM; echo up; sleep {mark}2"})
    command.line()
    os.read(command.fds[0], 3)
    command.socket.shutdown(socket.SHUT_WR)
    check("... also when it only says that nothing follows", (await_that(False, f"{mark}2"), command.until("exit")["status"]), (True, 137))
    command = Command({"command": "trap 'exit 42' USR1; echo up; while :; do sleep 1000 & wait; done"})
    command.line()
    os.read(command.fds[0], 3)
    command.send({"signal": int(signal.SIGUSR1)})
    check("a signal: the command's trap runs", command.until("exit")["status"], 42)
    command = Command({"command": "kill -STOP $$; exit 5"})
    check("a command that stops: it is said", command.until("stopped")["signal"], int(signal.SIGSTOP))
    command.send({"signal": int(signal.SIGCONT)})
    check("... and goes on when it is told to", command.until("exit")["status"], 5)


def test_updates(project):
    settings = {"network": {"allowedDomains": [], "deniedDomains": []},
                "filesystem": {"denyRead": [], "allowWrite": [], "denyWrite": []}}
    inner, outer = os.pipe(), os.pipe()
    command = Command({"command": "echo x >one; read x; echo x >two; read x; echo x >two; exit 0", "settings": settings},
                      (inner[0], outer[1], outer[1]))
    denying = {**settings, "filesystem": {"denyRead": [], "allowWrite": [], "denyWrite": [os.path.join(project, "two")]}}
    command.send({"settings": denying})
    check("new settings hold", command.until("settings"), {"type": "settings"})
    os.write(inner[1], b"\n")
    check("... for what comes", command.until("deny")["path"], os.path.join(project, "two"))
    command.send({"settings": {"filesystem": 7}})
    check("wrong ones do not, and say why", "text" in command.until("settings"), True)
    command.send({"settings": settings, "sigal": 15})
    check("nor do those of a message that is not understood", "sigal" in command.until("warning")["text"], True)
    os.write(inner[1], b"\n")
    check("... and the old ones hold", command.until("deny")["path"], os.path.join(project, "two"))
    check("... to the end", command.until("exit")["status"], 0)


def processes():
    """{pid: (parent, words)} of this user's."""
    lines = subprocess.run(["ps", "-u", str(os.getuid()), "-o", "pid=,ppid=,args="], capture_output=True, check=True,
                           text=True).stdout.splitlines()
    rows = [line.split(None, 2) for line in lines]
    return {int(row[0]): (int(row[1]), row[2]) for row in rows if len(row) == 3}


def link(path):
    """None: it is gone, or is not to be looked at, as a command's is."""
    try:
        return os.readlink(path)
    except OSError:
        return None


def is_dead(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return f.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def await_spares(server):
    """The sandboxes that the server's workers have begun, once there are two that wait, as {pid: mount namespace}."""
    while True:
        all_of = processes()
        spares = {pid: link(f"/proc/{pid}/ns/mnt") for pid, (parent, words) in all_of.items()
                  if words == "wrapix-init" and all_of.get(parent, (0,))[0] == server and link(f"/proc/{pid}/cwd") == "/"}
        if len(spares) == 2 and None not in spares.values():
            return spares
        threading.Event().wait(0.01)


def is_ahead(server, request):
    """Whether a command runs in a sandbox that was there before it was asked for, and what it says besides."""
    spares = await_spares(server)
    status, out, _ = run({"command": f"readlink /proc/self/ns/mnt; {request.pop('command')}", **request})
    return out.split("\n", 1)[0] in spares.values(), status, out.split("\n", 1)[1]


def write(text, *names):
    os.makedirs(os.path.join(*names[:-1]), exist_ok=True)
    with open(os.path.join(*names), "w", encoding="ascii") as f:
        f.write(text)


def test_spare(project, server):
    place, files = os.path.join(project, "place"), {"denyRead": [], "allowWrite": [], "denyWrite": []}
    check("a command has a sandbox that was there before", is_ahead(server, {"command": "pwd"}), (True, 0, f"{project}\n"))
    check("... its own variables, umask and directory", is_ahead(
        server, {"command": "umask; echo $A; pwd", "cwd": "/usr", "umask": 0o27, "env": {"A": "1", "HOME": "/", "PATH": "/usr/bin:/bin"}}),
        (True, 0, "0027\n1\n/usr\n"))
    filters = 'until [ "$n" = 1 ]; do n=$(sed -n "s/^Seccomp_filters:\t//p" /proc/1/status); done; echo $n'
    check("... PID 1 under its own filter", is_ahead(server, {"command": filters}), (True, 0, "1\n"))
    for name in ("old", "new"):
        await_spares(server)
        write(name, place, "file")
        check(f"... what stands there now: {name}", is_ahead(server, {"command": "cat file", "cwd": place}), (True, 0, name))
        check("... where it writes, too", (is_ahead(server, {"command": "echo x >made", "cwd": place}),
                                           os.listdir(place)), ((True, 0, ""), ["file", "made"]))
        os.rename(place, f"{place}.{name}")
    secret = os.path.join(project, "denied")
    denying = {"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": {**files, "denyRead": [secret]}}
    for name in ("first", "second"):
        write("s", secret, "key")
        ahead, status, out = is_ahead(server, {"command": "cat denied/key", "settings": denying})
        check(f"what the settings deny, {name} of its name", (ahead, status, out), (True, 1, ""))
        check("... which can be read without them", is_ahead(server, {"command": "cat denied/key"}), (True, 0, "s"))
        await_spares(server)
        os.rename(secret, f"{secret}.{name}")
    open_files = {"network": denying["network"], "filesystem": {**files, "disabled": True}}
    check("a plan that begins otherwise starts anew", is_ahead(server, {"command": "echo x", "settings": open_files})[:2], (False, 0))
    pid = next(iter(await_spares(server)))
    held = [link(f"/proc/{pid}/fd/{fd}") or "" for fd in os.listdir(f"/proc/{pid}/fd")]
    check("while it waits it has no file of the user's open", [name for name in held if name[0] == "/" and name not in (
        "/", "/dev", "/dev/null", "/dev/shm")], [])
    for pid in await_spares(server):
        os.kill(pid, signal.SIGKILL)
        while not is_dead(pid):
            threading.Event().wait(0.001)
    check("one that was killed: the next command starts anew", [run({"argv": ["true"]})[0] for _ in range(3)], [0, 0, 0])
    started = [Command({"command": f"cat file; exit {i}", "cwd": f"{place}.old"}) for i in range(64)]
    check("64 at once", [command.finish()[:2] for command in started], [(i, "old") for i in range(64)])
    check("... and then there are two again", len(await_spares(server)), 2)


def test_seen(server):
    """The server makes two workers while one client waits."""
    await_spares(server)
    os.kill(server, signal.SIGSTOP)
    started = [Command({"argv": ["true"]}) for _ in range(3)]
    statuses = [command.finish()[0] for command in started[:2]]
    os.kill(server, signal.SIGCONT)
    check("three clients are served", statuses + [started[2].finish()[0]], [0, 0, 0])
    check("... and who saw the last in vain has begun something, too", len(await_spares(server)), 2)


def main():
    what, project = sys.argv[2], sys.argv[3]
    {"answers": lambda: test_answers(project), "settings": lambda: test_settings(project), "descriptors": lambda: test_descriptors(project),
     "hostile": test_hostile, "slow": test_slow, "life": lambda: test_life(sys.argv[4]), "updates": lambda: test_updates(project),
     "spare": lambda: test_spare(project, int(sys.argv[4])), "seen": lambda: test_seen(int(sys.argv[4]))}[what]()
    return 1 if tests["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
