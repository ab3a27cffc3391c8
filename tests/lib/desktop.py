# SPDX-License-Identifier: MIT
"""A desktop for tests of messages: a real session bus, a real dunst on a real X server, and TAP.

Everything is the test's own: bus, display, runtime directory. What is started is ended by its pid. Every wait is for a
condition, with a deadline.
"""
import atexit
import json
import os
import pty
import select
import shutil
import signal
import socket
import subprocess
import sys
import time

WRAPIX = os.environ["WRAPIX"]
NOTIFY = os.path.join(os.path.dirname(WRAPIX), "../notify/wrapix-notify")
NOTIFYD = os.path.join(os.path.dirname(WRAPIX), "../notify/daemon/wrapix-notifyd")
UNDER = os.environ.get("WRAPIX_TEST_UNDER", "").split()  # scripts/valgrind: what the daemon is started with
PATIENCE = 120 if UNDER else 60
TMP = os.path.realpath(os.environ["NOTIFY_TMP"])
RUNTIME = os.path.join(TMP, "run")
count = failed = 0
children = []
ENV = {
    "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": os.environ["HOME"], "LANG": "C.UTF-8", "TERM": "xterm",
    "XDG_RUNTIME_DIR": RUNTIME,
}
os.makedirs(RUNTIME, 0o700, exist_ok=True)


def check(name, cond, *why):
    global count, failed
    count += 1
    print(f"{'ok' if cond else 'not ok'} {count} - {name}")
    if not cond:
        failed += 1
        for what in why:
            print("# " + repr(what)[-1500:])
    sys.stdout.flush()
    return cond


def finish():
    print(f"1..{count}")
    sys.stdout.flush()
    sys.exit(1 if failed or not count else 0)


def wait(condition, seconds=PATIENCE):
    """Until it holds; what it returned last."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.01)


def start(*argv, env=None, **more):
    process = subprocess.Popen(argv, env={**ENV, **(env or {})}, **more)
    children.append(process)
    return process


def stop(process, how=signal.SIGTERM):
    process.send_signal(how)
    process.wait()


@atexit.register
def end_all():
    for process in children:
        if process.poll() is None:
            process.kill()
            process.wait()


def listens(path):
    """Whether somebody does at that socket: its name is there some time before."""
    with open("/proc/net/unix") as sockets:
        return any(words[3] == "00010000" and words[7:] == [path] for words in map(str.split, sockets))


BUS_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={path}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>"""


def start_bus():
    """The session bus at a fixed address, so that it can die and return. It starts no service by itself."""
    path, config = os.path.join(TMP, "bus"), os.path.join(TMP, "bus.conf")
    if os.path.exists(path):
        os.unlink(path)
    with open(config, "w") as f:
        f.write(BUS_CONFIG.format(path=path))
    ENV["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={path}"
    bus = start("dbus-daemon", "--nofork", "--nopidfile", f"--config-file={config}", stderr=subprocess.DEVNULL)
    wait(lambda: listens(path))
    return bus


def start_x():
    read, write = os.pipe()
    x = start("Xvfb", "-displayfd", str(write), "-screen", "0", "640x400x24", "-nolisten", "tcp", pass_fds=[write],
              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    with open(read) as line:  # all of it: the server minds a pipe that is closed too early
        ENV["DISPLAY"] = ":" + line.readline().strip()
    return x


def start_dunst(config="/dev/null"):
    dunst = start("dunst", "-conf", config, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait(lambda: dunstctl("is-paused").strip() == "false")
    return dunst


def dunstctl(*words):
    return subprocess.run(["dunstctl", *words], env=ENV, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, timeout=PATIENCE).stdout


def displayed():
    return int((dunstctl("count", "displayed").strip() or "0"))


def history():
    """What dunst has shown and closed: a list of dicts, newest first."""
    dunstctl("close-all")
    data = json.loads(dunstctl("history") or '{"data":[[]]}')["data"][0]
    return [{key: value["data"] for key, value in one.items()} for one in data]


def clear():
    dunstctl("close-all")
    wait(lambda: displayed() == 0)


class Monitor:
    """Every Notify call on the bus, as dbus-monitor sees it."""

    def __init__(self):
        self.path = os.path.join(TMP, f"monitor.{len(children)}")
        self.process = start("dbus-monitor", "--session", "interface='org.freedesktop.Notifications',member='Notify'",
                             stdout=open(self.path, "w"), stderr=subprocess.DEVNULL)
        wait(lambda: "NameAcquired" in open(self.path).read())

    def calls(self):
        return open(self.path, errors="replace").read().count("member=Notify")


def start_daemon(*args, env=None, **more):
    daemon = start(*UNDER, NOTIFYD, *args, env=env, stdout=subprocess.PIPE, **more)
    daemon.stdout.readline()
    return daemon


def status():
    """The daemon's own account; {} when none is running. One that is slow (valgrind, a busy machine) is asked again."""
    def ask():
        run = subprocess.run([NOTIFYD, "--status", "--json"], env=ENV, capture_output=True, timeout=PATIENCE)
        return None if b"does not answer" in run.stderr else run

    run = wait(ask)
    return json.loads(run.stdout) if run and run.returncode == 0 else {}


def outcomes():
    return [one["outcome"] for one in status().get("last", [])]


def notify(*words, env=None, stdin=None):
    return subprocess.run([NOTIFY, *words], env={**ENV, **(env or {})}, input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=PATIENCE)


def send(*lines, path=None, newline=b"\n"):
    """Raw bytes to the daemon's own socket."""
    s = socket.socket(socket.AF_UNIX)
    s.connect(path or os.path.join(RUNTIME, "wrapix/notify.sock"))
    try:
        for line in lines:
            s.sendall(line + newline)
    except BrokenPipeError:
        pass
    s.close()


def sandbox(script, *options, env=None, wait_for=True, **more):
    argv = [WRAPIX, "run", "--network", "none", *options, "--", "sh", "-c", script]
    more.setdefault("stdin", subprocess.DEVNULL)
    if wait_for:
        return subprocess.run(argv, env={**ENV, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=60, **more)
    return start(*argv, env=env, **more)


class Screen:
    """A terminal with a program on it, and what it has written."""

    def __init__(self, argv, env=None):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(argv[0], argv, {**ENV, **(env or {})})
        self.all = b""
        self.status = None

    def read(self, timeout=0.02):
        while select.select([self.fd], [], [], timeout)[0]:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return False
            if not data:
                return False
            self.all += data
            timeout = 0
        return True

    def until(self, condition, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            alive = self.read()
            value = condition()
            if value or not alive:
                return value
        return condition()

    def sees(self, text):
        return self.until(lambda: text in self.all)

    def type(self, data):
        os.write(self.fd, data)

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def tmux_socket():
    return os.path.join(TMP, "tmux")


def tmux(*words):
    return subprocess.run(["tmux", "-S", tmux_socket(), *words], env=ENV, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=PATIENCE).stdout.strip()


@atexit.register
def end_tmux():
    if os.path.exists(tmux_socket()):
        tmux("kill-server")


def have(*programs):
    missing = [one for one in programs if not shutil.which(one)]
    if missing:
        if os.environ.get("WRAPIX_TESTS_MUST_RUN") == "1":
            check("messages", False, "not installed: " + " ".join(missing))
            finish()
        print(f"1..0 # SKIP not installed: {' '.join(missing)}")
        sys.exit(0)
