# SPDX-License-Identifier: MIT
"""Plays a terminal and the person at it: what is typed, what is seen, what state the terminal is left in.

Run by tty.sh in an empty project directory, as an ordinary user, with WRAPIX set, and by exec_inside_tty.sh inside of
a sandbox. Prints TAP. Every wait is for
text on the screen, for the end of a process or for a condition, with a deadline.
"""
import errno
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import termios
import time

WRAPIX = os.environ["WRAPIX"]
PATIENCE = 60
# What it is run by; inside of a sandbox ("exec --") the command's processes are out of sight.
RUN = [WRAPIX, *os.environ.get("WRAPIX_TTY_RUN", "run --network none --").split()]
SEES = RUN[1] == "run"
TYPED = " ".join(RUN)  # on the command line of a shell
count = failed = 0


def check(name, cond, *why):
    global count, failed
    count += 1
    print(f"{'ok' if cond else 'not ok'} {count} - {name}")
    if not cond:
        failed += 1
        for what in why:
            print("# " + repr(what[-600:] if isinstance(what, (bytes, str)) else what))
    sys.stdout.flush()
    return cond


def resize(fd, rows, cols):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


class Terminal:
    """A terminal with a program on it: the leader of a session of its own, as a login shell is."""

    def __init__(self, argv, rows=24, cols=80, env=None):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            resize(0, rows, cols)  # before the program looks
            os.environ.update({"TERM": "xterm", **(env or {})})
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            os.execvp(argv[0], argv)
        self.seen = b""  # since the last expect()
        self.all = b""
        self.status = None

    def read(self, timeout):
        """Takes in what is there; False at the end."""
        if not select.select([self.fd], [], [], max(timeout, 0))[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError as e:
            if e.errno != errno.EIO:
                raise
            data = b""
        self.seen += data
        self.all += data
        return bool(data)

    def expect(self, pattern):
        """Waits for the pattern on the screen; the match, or None."""
        deadline = time.time() + PATIENCE
        while True:
            match = re.search(pattern, self.seen, re.S)
            if match:
                self.seen = self.seen[match.end():]
                return match
            if time.time() > deadline or not self.read(deadline - time.time()):
                return None

    def type(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        while data:  # a full terminal takes no more keys until somebody reads what it shows
            ready = select.select([self.fd], [self.fd], [], PATIENCE)
            if ready[0]:
                self.read(0)
            if ready[1]:
                data = data[os.write(self.fd, data[:512]):]
            if not any(ready):
                return False
        return True

    def flags(self):
        """The settings, as tcgetattr() has them."""
        return termios.tcgetattr(self.fd)

    def wait(self):
        """Reads to the end; the exit status as a shell has it."""
        deadline = time.time() + PATIENCE
        while self.status is None and time.time() < deadline:
            self.read(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        while self.status is not None and select.select([self.fd], [], [], 0)[0] and self.read(0):
            pass
        return self.status

    def close(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
        os.close(self.fd)
        if self.status is None:
            os.waitpid(self.pid, 0)


class Shell(Terminal):
    """An interactive shell with a prompt that nothing else prints."""

    PROMPT = rb"@(\d+)> "

    def __init__(self):
        super().__init__(["bash", "--norc", "--noprofile", "-i"], env={"PS1": "@$?> ", "HISTFILE": "/dev/null", "TERM": "dumb"})
        assert self.prompt() is not None

    def prompt(self):
        """Waits for the prompt; the status of the last command."""
        match = self.expect(self.PROMPT)
        return int(match.group(1)) if match else None

    def run(self, line):
        """Types a command line; what it printed, without the echo, once the prompt is back."""
        before = len(self.all)
        self.type(line + "\r")
        self.last = self.prompt()
        return self.all[before:].decode(errors="replace").split("\n", 1)[-1].replace("\r", "")


def await_true(condition):
    deadline = time.time() + PATIENCE
    while not condition():
        if time.time() > deadline:
            return False
        time.sleep(0.01)
    return True


def await_sleep(mark):
    """Until the command sleeps; where its processes are out of sight, until it has made the file of that name."""
    return await_true(lambda: processes("sleep", mark) if SEES else os.path.exists(mark))


def processes(*argv):
    """Processes with exactly this command line: not the shell that is about to start them."""
    wanted = "\0".join(argv).encode() + b"\0"
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if f.read() == wanted:
                    found.append(int(pid))
        except OSError:
            pass
    return found


# --- what the command sees ---
t = Terminal(RUN + ["sh", "-c", 'tty; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all; stty size; echo "$TERM"; echo "to the tty" >/dev/tty; exit 3'],
             rows=33, cols=101)
check("the status comes back", t.wait() == 3, t.status, t.all)
check("tty is /dev/pts/0, and standard input, output and error are it",
      t.all.replace(b"\r\n", b"\n") == b"/dev/pts/0\nall\n33 101\nxterm\nto the tty\n", t.all)
t.close()

settings = "stty -a | tr -d '\\n'"
t = Terminal(["sh", "-c", f"stty erase ^H kill ^X -echoctl; {settings}; echo; {TYPED} sh -c \"{settings}; echo\""])
t.wait()
lines = [line for line in t.all.decode().replace("\r", "").split("\n") if "speed" in line]
check("the settings of the terminal are the user's", len(lines) == 2 and lines[0] == lines[1], lines)
t.close()

t = Terminal(RUN + ["ps", "-e", "-o", "tty=,comm="])
t.wait()
check("the command's terminal is that one", re.search(rb"pts/0 +ps", t.all), t.all)
t.close()

# --- output ---
size = 1_000_000
t = Terminal(RUN + ["sh", "-c", f"head -c {size} /dev/zero | tr '\\0' x; exit 9"])
check("1 MB and then the end: the status", t.wait() == 9, t.status)
check("... every byte of it is shown", t.all == b"x" * size, len(t.all), t.all[-80:])
t.close()
t = Terminal(RUN + ["sh", "-c", "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done"])
t.wait()
check("2000 lines in order", t.all.decode().split() == " ".join(f"line {i}" for i in range(2000)).split(), t.all[-200:])
t.close()
t = Terminal(RUN + ["sh", "-c", "(setsid sh -c 'echo from behind; exec sleep 1000' &) ; echo last"])
check("a background process that holds the terminal does not keep the end away", t.wait() == 0, t.status, t.all)
t.close()

# --- input ---
big = b"".join(b"%06d\n" % i for i in range(30000))
t = Terminal(RUN + ["sh", "-c", "stty raw -echo; echo ready; head -c %d | cksum" % len(big)])
t.expect(rb"ready")
check("a paste of 210 KB is taken", t.type(big))
t.wait()
crc = os.popen("python3 -c 'import sys; [sys.stdout.write(\"%06d\\n\" % i) for i in range(30000)]' | cksum").read().split()
check("... every byte of it", crc == t.all.decode().split()[1:], crc, t.all)
t.close()
t = Terminal(RUN + ["cat"])
t.type("typed\r")
check("what is typed is echoed once and arrives", t.expect(rb"^typed\r\ntyped\r\n"), t.all)
t.type("\x04")
check("Ctrl-D is the end of input", t.wait() == 0, t.status, t.all)
t.close()
for key, name, status in (("\x03", "C", 130), ("\x1c", "\\", 131)):
    t = Terminal(RUN + ["sh", "-c", "echo ready; exec sleep 1000"])
    t.expect(rb"ready")
    t.type(key)
    check(f"Ctrl-{name} ends the command: {status}", t.wait() == status, t.status, t.all)
    t.close()

# --- a shell inside: job control ---
t = Terminal(RUN + ["bash", "--norc", "--noprofile", "-i"], env={"PS1": "unused"})
t.type("PS1='in''side> '\r")
t.expect(rb"inside> ")
check("no complaint about job control", b"job control" not in t.all and b"cannot set terminal" not in t.all, t.all)
mark = f"9999.{os.getpid()}"
t.type(f"sh -c 'touch {mark}; exec sleep {mark}'\r")
await_sleep(mark)
t.type("\x03")
check("Ctrl-C kills the foreground command", t.expect(rb"\^C.*inside> "), t.all)
t.type("echo a''live $?\r")
check("... and only that", t.expect(rb"alive 130"), t.all)
t.expect(rb"inside> ")
t.type("echo rea''dy; cat\r")
t.expect(rb"ready\r\n")
t.type("before\r")
t.expect(rb"before\r\nbefore\r\n")
t.type("\x1a")
check("Ctrl-Z stops it", t.expect(rb"Stopped.*inside> "), t.all)
t.type("jobs; fg\r")
check("... jobs lists it", t.expect(rb"\[1\]\+ +Stopped +cat"), t.all)
t.expect(rb"\ncat\r\n")
t.type("again\r")
check("... fg continues it", t.expect(rb"again\r\nagain\r\n"), t.all)
t.type("\x04")
t.expect(rb"inside> ")
t.type("sleep 1000 & jobs -p; kill %1; wait; echo wai''ted\r")
check("background jobs", t.expect(rb"waited"), t.all)
t.expect(rb"inside> ")
t.type("exit 6\r")
check("... exit", t.wait() == 6, t.status, t.all)
t.close()

# --- Ctrl-Z of the command itself: the outer shell gets the terminal, fg gives it back ---
s = Shell()
cooked = s.flags()
mark = f"7777.{os.getpid()}"
s.type(f"{TYPED} sh -c 'echo rea''dy; read x; echo got $x; touch {mark}; sleep {mark}'\r")
s.expect(rb"ready\r\n")
s.type("\x1a")
check("Ctrl-Z suspends wrapix: the outer shell says so", s.expect(rb"Stopped"), s.all)
check("... and prompts", s.prompt() is not None, s.all)
check("... on a terminal in its usual state", s.flags() == cooked, cooked, s.flags())
check("... which works", "outer 2" in s.run("echo outer $((1+1))"), s.all)
s.type("fg\r")
s.expect(rb"read x")
s.type("word\r")
check("fg continues it: the command gets what is typed", s.expect(rb"got word"), s.all)
await_sleep(mark)
s.type("\x1a")
check("Ctrl-Z once more", s.expect(rb"Stopped") and s.prompt() is not None, s.all)
s.run("bg")
check("bg lets it go on", await_sleep(mark), s.all)
s.run("kill %1; wait %1")
check("... and kill ends it", await_true(lambda: not processes("sleep", mark)), processes("sleep", mark))
check("the terminal is as it was", s.flags() == cooked, cooked, s.flags())
s.type(f"{TYPED} sh -c 'echo rea''dy; kill -STOP $$; echo on'\r")
check("a command that stops itself suspends wrapix too", s.expect(rb"ready.*Stopped") and s.prompt() is not None, s.all)
check("... fg", "on" in s.run("fg").split("\n"), s.all)

# --- in the background ---
s.type(f"{TYPED} sh -c 'echo rea''dy; read x; echo got $x' &\r")
check("started in the background: it runs, and the shell stays usable",
      s.expect(rb"ready\r.*@\d+> |@\d+> .*ready\r") and "outer 3" in s.run("echo outer $((1+2))"), s.all)
s.type("fg\r")
await_true(lambda: os.tcgetpgrp(s.fd) != s.pid)
s.type("later\r")
check("... fg: it works", s.expect(rb"got later"), s.all)
check("... and ends", s.prompt() == 0, s.all)
check("... the terminal is as it was", s.flags() == cooked, cooked, s.flags())
s.run(f"{TYPED} sh -c 'exit 4' </dev/null & wait %1; echo status $?")
check("in the background with input from /dev/null it runs", "status 4" in s.run("echo status $?") or b"status 4" in s.all, s.all)

# --- pipes beside the terminal ---
out = s.run(f"echo hi | {TYPED} sh -c 'cat; [ -t 1 ] && echo out; [ -t 0 ] || echo in'")
check("input from a pipe, output to the terminal", out.split("\n")[:3] == ["hi", "out", "in"], out)
check("... lines end as they do outside", b"hi\r\nout\r\nin\r\n" in s.all, s.all)
s.type(f"{TYPED} sh -c 'echo rea''dy >/dev/tty; exec cat' | tr a-z A-Z\r")
s.expect(rb"ready\r\n")
s.type("upper\r")
s.expect(rb"(?=.*upper\r\n)")  # the echo, which may come before the other end of the pipe or after it
s.type("\x04")
check("input from the terminal, output to a pipe", s.expect(rb"UPPER"), s.all)
check("... ends", s.prompt() == 0, s.all)
s.type(f"sleep 1000 | {TYPED} sh -c 'echo rea''dy >/dev/tty; cat'\r")
s.expect(rb"ready")
s.type("\x03")
# The end of its input, which Ctrl-C ended too, may come first.
check("Ctrl-C with input from a pipe", s.prompt() in (130, 0), s.all)
out = s.run(f"{TYPED} sh -c '[ -t 2 ] && echo yes' 2>/dev/null >file </dev/null; cat file; rm file")
check("no terminal at all is none inside", "yes" not in out, out)
check("the terminal is as it was", s.flags() == cooked, cooked, s.flags())
s.run(f"{TYPED} no-such-command")
check("a command that is not there: 127", s.last == 127, s.last)
check("... the terminal is as it was", s.flags() == cooked, cooked, s.flags())
s.run(f"{TYPED} stty raw -echo")
check("a command that leaves its terminal in a mess leaves ours alone", s.flags() == cooked, cooked, s.flags())
s.run(f"{WRAPIX} run --network none /nonexistent -- true")
check("an error before the start", s.last == 125 and s.flags() == cooked, s.last)
s.close()

# --- size ---
watcher = """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})
print("at first", *os.get_terminal_size(), flush=True)
while True:
    signal.sigwait({signal.SIGWINCH})
    print("now", *os.get_terminal_size(), flush=True)
"""
t = Terminal(RUN + ["python3", "-c", watcher], rows=20, cols=60)
check("the size at the start", t.expect(rb"at first 60 20"), t.all)
for rows, cols in ((40, 120), (10, 30), (200, 500)):
    resize(t.fd, rows, cols)
    check(f"a change to {cols}x{rows} arrives, with SIGWINCH", t.expect(b"now %d %d" % (cols, rows)), t.all)
t.close()

# --- full-screen programs ---
for editor in ("vim", "vi"):
    if shutil.which(editor):
        t = Terminal(RUN + [editor, "-u", "NONE", "-N", "text"])
        t.expect(rb"text")
        t.type("ihello from vim\x1b:wq\r")
        check("vim edits a file", t.wait() == 0 and open("text").read() == "hello from vim\n", t.status, t.all)
        t.close()
        break
else:
    check("vim edits a file", os.environ.get("WRAPIX_TESTS_MUST_RUN") != "1", "vim is not installed")
with open("many", "w") as f:
    f.writelines(f"row {i}\n" for i in range(500))
t = Terminal(RUN + ["less", "many"])
check("less shows the first page", t.expect(rb"row 0\b.*row 20\b"), t.all)
t.type("G")
check("... and the last", t.expect(rb"row 499\b"), t.all)
t.type("q")
check("... and ends", t.wait() == 0, t.status)
t.close()
s = Shell()
s.type(f"cat many | TERM=xterm {TYPED} less\r")
check("less at the end of a pipe shows the first page", s.expect(rb"row 0\b.*row 20\b"), s.all)
s.type("G")
check("... takes keys from the terminal", s.expect(rb"row 499\b"), s.all)
s.type("q")
check("... and ends", s.prompt() == 0, s.all)
s.close()

# --- what a program leaves switched on ---
OFF = b"\x1b[?1000l\x1b[?1006l\x1b[?2004l\x1b[?25h\x1b[<1u\x1b[?1049l"
t = Terminal(RUN + ["printf", r"\033[?1049;1000;1006;2004h\033[?25l\033[>1ulast"])
check("what a program leaves switched on is switched off at its end", t.wait() == 0 and t.all.endswith(b"last" + OFF), t.all)
t.close()
written = b"\x1b[?1049;1000h\x1b[?25l\x1b[31mred\x1b[m\x1b[?25h\x1b[?1000;1049l"
t = Terminal(RUN + ["printf", "%s", written])
check("... nothing is written where nothing was left", t.wait() == 0 and t.all == written, t.all)
t.close()
for name, sig in (("SIGTERM", signal.SIGTERM), ("SIGHUP", signal.SIGHUP)):
    s = Shell()
    s.type(f"{TYPED} sh -c 'printf \"\\033[?1049;1000;1006;2004h\\033[?25l\\033[>1urea''dy\"; exec sleep 1000'\r")
    s.expect(rb"lready|uready")
    os.kill(int(open(f"/proc/{s.pid}/task/{s.pid}/children").read()), sig)
    check(f"{name} to wrapix while they are on: they are off before the prompt", s.expect(re.escape(OFF) + rb".*@\d+> "), s.all)
    s.close()
t = Terminal(["sh", "-c", f"{TYPED} printf '\\033[c'; echo ended; read line; echo \"got <$line>\" | cat -v"])
t.expect(rb"\x1b\[c")
t.type("\x1b[?62;22c")
t.expect(rb"ended")
t.type("typed\r")
check("the answer to a question of the program's is not typed into the shell after it", t.expect(rb"got <typed>"), t.all)
t.close()

# --- signals and hangup ---
for name, sig, status in (("SIGTERM", signal.SIGTERM, 143), ("SIGINT", signal.SIGINT, 130), ("SIGHUP", signal.SIGHUP, 129)):
    s = Shell()
    cooked = s.flags()
    s.type(f"{TYPED} sh -c 'echo rea''dy; exec sleep 1000'\r")
    s.expect(rb"ready\r\n")
    wrapix = int(open(f"/proc/{s.pid}/task/{s.pid}/children").read())
    check(f"{name}: the terminal is raw while the command runs", not s.flags()[3] & termios.ICANON)
    os.kill(wrapix, sig)
    check(f"{name} to wrapix: {status}", s.prompt() == status, s.all)
    check("... the terminal is as it was", s.flags() == cooked, cooked, s.flags())
    s.close()
mark = f"8888.{os.getpid()}"
t = Terminal(RUN + ["sh", "-c", f"trap 'echo hup >hup; exit' HUP; echo ready; sleep {mark} & wait"])
t.expect(rb"ready")
os.close(t.fd)
check("the terminal goes away: the command gets SIGHUP", await_true(lambda: os.path.exists("hup")))
check("... and all ends", await_true(lambda: not processes("sleep", mark)), processes("sleep", mark))
os.waitpid(t.pid, 0)
t = Terminal(RUN + ["sh", "-c", f"trap '' HUP; echo ready; cat; echo end >survived; touch {mark}; sleep {mark}; :"])
t.expect(rb"ready")
os.close(t.fd)
check("one that ignores SIGHUP goes on, and reads the end of its input", await_true(lambda: os.path.exists("survived")))
await_sleep(mark)
os.kill(t.pid, signal.SIGTERM)
check("... until it is told to end", await_true(lambda: not processes("sleep", mark)), processes("sleep", mark))
os.kill(t.pid, signal.SIGKILL)
os.waitpid(t.pid, 0)

print(f"1..{count}")
sys.exit(failed > 0)
