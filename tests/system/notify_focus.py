# SPDX-License-Identifier: MIT
"""Is the user looking? Real tmux with several clients, the conversations of sway, niri and Hyprland played by a server of
the test's own, X11's root window, the terminal's reports. Silence is told from showing by the daemon's own account, and
every silence has its counterpart that is shown."""
import ctypes
import json
import os
import re
import socket
import struct
import subprocess
import threading
import time

from desktop import *

have("dbus-daemon", "dunst", "Xvfb", "tmux", "script")
start_bus()
start_x()
start_dunst()
daemon = start_daemon()


class Compositor:
    """Answers as one of them does: how a request is framed, what the members are called."""

    def __init__(self, kind):
        self.kind = kind
        self.windows = []  # (id, pid, focused)
        self.commands = []
        self.hangs = False
        self.late = 0  # seconds that it takes for an answer
        self.path = os.path.join(TMP, kind)
        if kind == "hypr":
            os.makedirs(os.path.join(RUNTIME, "hypr/sig"), exist_ok=True)
            self.path = os.path.join(RUNTIME, "hypr/sig/.socket.sock")
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        self.socket.listen(16)
        self.kept = []
        threading.Thread(target=self.serve, daemon=True).start()

    def env(self):
        return {"sway": {"SWAYSOCK": self.path}, "niri": {"NIRI_SOCKET": self.path},
                "hypr": {"HYPRLAND_INSTANCE_SIGNATURE": "sig"}}[self.kind] | {"WAYLAND_DISPLAY": "wayland-9"}

    def serve(self):
        while True:
            client, _ = self.socket.accept()
            if self.hangs:
                self.kept.append(client)
                continue
            time.sleep(self.late)
            try:
                getattr(self, self.kind)(client)
            except OSError:
                pass
            client.close()

    def sway(self, client):
        head = client.recv(14, socket.MSG_WAITALL)
        length, kind = struct.unpack("=II", head[6:])
        payload = client.recv(length, socket.MSG_WAITALL).decode() if length else ""
        if kind == 4:
            nodes = [{"id": i, "name": "t", "pid": p, "focused": f, "nodes": []} for i, p, f in self.windows]
            answer = json.dumps({"id": 1, "type": "root", "focused": False, "nodes": [
                {"id": 2, "type": "output", "focused": False, "nodes": [
                    {"id": 3, "type": "workspace", "focused": False, "nodes": nodes, "floating_nodes": []}]}]})
        else:
            self.commands.append(payload)
            answer = '[{"success":true}]'
        client.sendall(b"i3-ipc" + struct.pack("=II", len(answer), kind) + answer.encode())

    def niri(self, client):
        request = json.loads(client.makefile().readline())
        if request == "Windows":
            answer = {"Ok": {"Windows": [{"id": i, "title": "t", "app_id": "foot", "pid": p, "is_focused": f}
                                         for i, p, f in self.windows]}}
        else:
            self.commands.append(request)
            answer = {"Ok": "Handled"}
        client.sendall(json.dumps(answer).encode() + b"\n")

    def hypr(self, client):
        request = client.recv(4096).decode()
        if request == "j/clients":
            answer = json.dumps([{"address": hex(i), "workspace": {"id": 1, "name": "1"}, "pid": p,
                                  "focusHistoryID": 0 if f else 1} for i, p, f in self.windows])
        else:
            self.commands.append(request)
            answer = "ok"
        client.sendall(answer.encode())


class Talker:
    """A sandbox that sends what it is told to, through a FIFO in the project."""

    def __init__(self, name, start_it):
        os.mkfifo(name)
        self.command = f"while read -r x; do wrapix-notify T \"$x\"; done <{name}"
        self.screen = start_it(f"{WRAPIX} run --network none --name {name} -- sh -c '{self.command}'")
        self.fifo = open(name, "w")
        self.n = 0

    def outcome(self, text="hello"):
        before = status()["outcomes"]
        self.fifo.write(text + "\n")
        self.fifo.flush()
        wait(lambda: status()["outcomes"] > before)
        return status()["last"][-1]["outcome"]

    def end(self):
        self.fifo.close()


def silent(name, outcome, why=""):
    check(name, outcome.startswith("not shown: you are looking") and why in outcome, outcome)


def shown(name, outcome):
    """On the desktop; by a program where that does not answer, because it stands still."""
    check(name, outcome.startswith(("shown on the desktop", "shown by a program (desktop: no answer")), outcome)


def alone():
    """No bubble is up, so that the next one is the one that is clicked."""
    dunstctl("close-all")
    wait(lambda: displayed() == 0)


def click():
    """On the one bubble, once dunst has drawn it: it answers before it does."""
    wait(lambda: displayed() == 1)
    dunstctl("action", "0")


# --- tmux: one session, two clients that show different windows ---
sway = Compositor("sway")
ENV.update(sway.env())


def in_tmux(command):
    tmux("-f", "/dev/null", "new-session", "-d", "-s", "main", "-x", "80", "-y", "24", command)


talker = Talker("one", in_tmux)
pane = tmux("display-message", "-p", "-t", "main:0", "#{pane_id}")
tmux("new-window", "-d", "-t", "main", "sleep 600")
tmux("new-session", "-d", "-t", "main", "-s", "other")
tmux("select-window", "-t", "other:1")
attach = f"tmux -S {tmux_socket()} attach -t "
first = Screen(["script", "-qc", attach + "main", "/dev/null"])
second = Screen(["script", "-qc", attach + "other", "/dev/null"])
both = lambda: first.read() and second.read() and len(tmux("list-clients").splitlines()) == 2
check("two clients are attached", wait(both), tmux("list-clients"))
stranger = start("sleep", "600")
sway.windows = [(10, first.pid, True), (11, second.pid, False), (12, stranger.pid, False)]
silent("the focused window's client shows the pane: silent", talker.outcome(), "sway")
sway.windows = [(10, first.pid, False), (11, second.pid, True), (12, stranger.pid, False)]
shown("the focused one's shows another window: shown", talker.outcome())
tmux("select-window", "-t", "other:0")
silent("... and silent when it has turned to the pane", talker.outcome())
sway.windows = [(10, first.pid, False), (12, stranger.pid, True)]
shown("another program has the focus: shown", talker.outcome())
tmux("split-window", "-d", "-t", "main:0", "sleep 600")
tmux("select-pane", "-t", "main:0.1")
sway.windows = [(10, first.pid, True)]
shown("the other pane of the same window is the active one: shown", talker.outcome())
tmux("select-pane", "-t", "main:0.0")
silent("... this one: silent", talker.outcome())
sway.windows = [(10, first.pid, True), (13, first.pid, False)]
shown("a terminal program with two windows is not known: shown", talker.outcome())
sway.windows = []
shown("no window has the focus: shown", talker.outcome())
sway.windows = [(10, first.pid, True)]
sway.hangs = True
shown("a compositor that hangs says nothing: shown", talker.outcome())
sway.hangs = False
sway.late = 0.3
silent("... and silent again when it answers, even if it is busy", talker.outcome())
sway.late = 0

# a click
tmux("select-window", "-t", "main:1")
tmux("select-window", "-t", "other:1")
alone()
shown("the pane is not in front: shown", talker.outcome())
click()
# In the client that tmux takes for the last one used: both show sessions with this window.
check("a click brings the pane to the front",
      wait(lambda: pane in [tmux("display-message", "-p", "-t", name, "#{pane_id}") for name in ("main", "other")]),
      tmux("list-clients"))
tmux("detach-client", "-a")
for client in tmux("list-clients", "-F", "#{client_name}").splitlines():
    tmux("detach-client", "-t", client)
wait(lambda: tmux("list-clients") == "")
shown("detached: shown", talker.outcome())
talker.end()
tmux("kill-server")
clear()

# --- without tmux: the window that it was started in ---
for kind in "niri", "hypr":
    for name in "SWAYSOCK", "NIRI_SOCKET", "HYPRLAND_INSTANCE_SIGNATURE":
        ENV.pop(name, None)
    ruler = Compositor(kind)
    ENV.update(ruler.env())
    ruler.windows = [(20, os.getpid(), True), (21, stranger.pid, False)]
    talker = Talker(kind, lambda command: Screen(["sh", "-c", command]))
    silent(f"{kind}: the window that it was started in has the focus: silent", talker.outcome(), "window")
    ruler.windows = [(20, os.getpid(), False), (22, os.getpid(), True)]
    alone()
    shown("... another window of the same program: shown", talker.outcome())
    click()
    wanted = {"niri": {"Action": {"FocusWindow": {"id": 20}}}, "hypr": "dispatch focuswindow address:0x14"}[kind]
    check("... and a click asks for the right one", wait(lambda: wanted in ruler.commands), ruler.commands)
    ruler.windows = [(20, os.getpid(), True)]
    silent("... and silent again", talker.outcome())
    talker.end()
    clear()
for name in "SWAYSOCK", "NIRI_SOCKET", "HYPRLAND_INSTANCE_SIGNATURE", "WAYLAND_DISPLAY":
    ENV.pop(name, None)

# --- X11: what the window manager writes on the root window ---
x11 = ctypes.CDLL("libX11.so.6")
x11.XOpenDisplay.restype = ctypes.c_void_p
x11.XDefaultRootWindow.restype = x11.XInternAtom.restype = x11.XCreateSimpleWindow.restype = ctypes.c_ulong
display = ctypes.c_void_p(x11.XOpenDisplay(ENV["DISPLAY"].encode()))
root = x11.XDefaultRootWindow(display)


def activate(window):
    value = (ctypes.c_ulong * 1)(window)
    atom = ctypes.c_ulong(x11.XInternAtom(display, b"_NET_ACTIVE_WINDOW", 0))
    x11.XChangeProperty(display, ctypes.c_ulong(root), atom, ctypes.c_ulong(33), 32, 0, value, 1)
    x11.XSync(display, 0)


windows = [x11.XCreateSimpleWindow(display, ctypes.c_ulong(root), 0, 0, 9, 9, 0, 0, 0) for _ in range(2)]
activate(windows[0])
talker = Talker("x11", lambda command: Screen(["env", f"WINDOWID={windows[0]}", "sh", "-c", command]))
silent("X11: its own window is the active one: silent", talker.outcome(), "X11")
activate(windows[1])
shown("... another one is: shown", talker.outcome())
talker.end()

# --- macOS, with a stand-in for osascript: the application in front, and its windows ---
stop(daemon)
os.mkdir(os.path.join(TMP, "mac"))
with open(os.path.join(TMP, "mac/osascript"), "w") as f:
    f.write(f"#!/bin/sh\n[ $# = 2 ] && [ \"$1\" = -e ] && case $2 in *'whose frontmost is true') exec cat {TMP}/front ;; esac\nexit 1\n")
os.chmod(os.path.join(TMP, "mac/osascript"), 0o755)


def front(text):
    with open(os.path.join(TMP, "front"), "w") as f:
        f.write(text)


daemon = start_daemon(env={"PATH": os.path.join(TMP, "mac") + ":" + ENV["PATH"]})
front("com.apple.Terminal, 1\n")
talker = Talker("mac", lambda command: Screen(["env", "__CFBundleIdentifier=com.apple.Terminal", "sh", "-c", command]))
silent("macOS: the terminal's application is in front: silent", talker.outcome(), "macOS")
front("com.apple.Safari, 1\n")
shown("... another one is: shown", talker.outcome())
front("com.apple.Terminal, 2\n")
shown("... it is, with several windows: shown", talker.outcome())
front("execution error: Not authorised\n")
shown("... nobody may ask: shown", talker.outcome())
talker.end()
stop(daemon)
daemon = start_daemon()

# --- the terminal's own reports ---
del ENV["DISPLAY"]
os.mkfifo("reports")
screen = Screen([WRAPIX, "run", "--network", "none", "--name", "reports", "--", "sh", "-c",
                 "stty raw -echo; printf '\\033[?1004h'; while read -r x; do wrapix-notify T \"$x\"; done <reports"])
fifo = open("reports", "w")


def report(keys, state):
    screen.type(keys)
    screen.until(lambda: state in [s["reported"] for s in status()["sessions"]])


def outcome():
    before = status()["outcomes"]
    fifo.write("x\n")
    fifo.flush()
    screen.until(lambda: status()["outcomes"] > before)
    return status()["last"][-1]["outcome"]


screen.sees(b"\x1b[?1004h")
shown("nothing is known: shown", outcome())
report(b"\x1b[I", "here")
silent("the terminal reports the focus: silent", outcome(), "reports")
report(b"\x1b[O", "elsewhere")
shown("... and that it has lost it: shown", outcome())
report(b"\x1b[I", "here")
silent("... and has it again: silent", outcome())
fifo.close()
stop(daemon)

# --- always ---
with open("wrapix.json", "w") as f:
    json.dump({"notify": {"always": True}}, f)
ENV.update(sway.env())
sway.windows = [(20, os.getpid(), True)]
daemon = start_daemon()
talker = Talker("always", lambda command: Screen(["sh", "-c", command]))
shown("\"always\": shown all the same", talker.outcome())
talker.end()
os.unlink("wrapix.json")
stop(daemon)
daemon = start_daemon(env={"WRAPIX_NOTIFY_ALWAYS": "1"})
talker = Talker("variable", lambda command: Screen(["sh", "-c", command]))
shown("WRAPIX_NOTIFY_ALWAYS=1: shown all the same", talker.outcome())
talker.end()
stop(daemon)
daemon = start_daemon()
talker = Talker("control", lambda command: Screen(["sh", "-c", command]))
silent("... and without it, silent", talker.outcome())
finish()
