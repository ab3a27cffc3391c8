# SPDX-License-Identifier: MIT
"""Noticing that a command waits, for agents without hooks; and the terminal as the last way to show a message."""
import json
import os
import subprocess
import time

from desktop import *

have("dbus-daemon", "dunst", "Xvfb")
start_bus()
start_x()
start_dunst()
daemon = start_daemon()


def settings(**keys):
    with open("wrapix.json", "w") as f:
        json.dump({"notify": keys}, f)


def on_terminal(script, *options, **env):
    return Screen([WRAPIX, "run", "--network", "none", *options, "--", "sh", "-c", script], env)


def messages(screen, n, seconds=PATIENCE):
    """The titles and texts of this session's messages, once there are n."""
    screen.until(lambda: displayed() >= n, seconds)
    got = [(one["summary"], one["body"]) for one in history()[:n]]
    return got


# --- silence ---
settings(waiting="on", idle=60)
screen = on_terminal("printf 'name? '; read x; echo got $x; sleep 60")
got = messages(screen, 1)
check("a program that reads the terminal waits", got == [("sh (project)", "Waiting for input")], got)
screen.type(b"you\r")
check("... and gets its answer", screen.sees(b"got you"))
screen.close()
clear()

settings(waiting="on", idle=4)
screen = on_terminal("echo thinking; exec sleep 60")
got = messages(screen, 1)
check("silence while nothing works is told", got == [("sh (project)", "Silent, perhaps waiting for you")], got)
screen.close()
clear()
busy = on_terminal("echo working; i=0; while [ $i -lt 100000000 ]; do i=$((i+1)); done")
idle = on_terminal("echo thinking; exec sleep 60", "--name", "control")
got = messages(idle, 1)
check("... and not while something does", got == [("sh (control)", "Silent, perhaps waiting for you")] and
      busy.read() and displayed() == 0, got)
busy.close()
idle.close()
clear()

# --- what the program itself says ---
time.sleep(2)  # the rate
settings(waiting="on", idle=60)
screen = on_terminal("printf '\\033]0;a title\\007'; printf '\\033]9;4;1;50\\007'; printf '\\033]777;notify;Agent;done it\\007'; sleep 60")
got = messages(screen, 1)
check("OSC 777 is a message; a title and a progress bar are none", got == [("Agent (project)", "done it")], got)
check("... and the terminal gets it as well", screen.sees(b"\x1b]777;notify;Agent;done it\x07"), screen.all)
screen.close()
clear()
screen = on_terminal("printf '\\007'; sleep 60")
got = messages(screen, 1)
check("the bell is a message", got == [("sh (project)", "Rang the bell")], got)
screen.close()
clear()

# --- when it is off ---
settings(waiting="auto", idle=1)
screen = on_terminal("printf '\\007name? '; read x; echo got $x")
screen.sees(b"name?")
time.sleep(4)  # that nothing comes has no event
check("a command of the user's own is not watched by itself", displayed() == 0)
screen.type(b"x\r")
check("... and works", screen.sees(b"got x"))
screen.until(lambda: not screen.read())
settings(waiting="on", idle=1)
run = subprocess.Popen([WRAPIX, "run", "--network", "none", "--", "sh", "-c", "printf 'name? '; read x"], env=ENV,
                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
run.stdout.read(6)
time.sleep(4)
check("nor is a pipe", displayed() == 0)
run.communicate(b"x\n")
os.unlink("wrapix.json")
stop(daemon)

# --- the terminal as the last way ---
nowhere = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "PATH": "/nonexistent"}
for term, sequence in (("foot", b"\x1b]777;notify;T, (project);a b<c>\x07\x07"),
                       ("xterm-256color", b"\x1b]9;T, (project): a b<c>\x07\x07")):
    daemon = start_daemon(env=nowhere)
    screen = on_terminal("wrapix-notify 'T;' 'a\nb<c>'; sleep 60", TERM=term)
    check(f"without a desktop, on the terminal: {term}", screen.sees(sequence), screen.all)
    check("... and the daemon says why", wait(lambda: "shown on the terminal" in " ".join(outcomes())), outcomes())
    screen.close()
    stop(daemon)
daemon = start_daemon(env={"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "PATH": TMP + "/bin"})
os.mkdir(TMP + "/bin")
with open(TMP + "/bin/notify-send", "w") as f:
    f.write(f"#!/bin/sh\nprintf '%s|' \"$@\" >{TMP}/words\n")
os.chmod(TMP + "/bin/notify-send", 0o755)
notify("--", "--help", "-t text")
wait(lambda: os.path.exists(TMP + "/words") and os.path.getsize(TMP + "/words"))
words = open(TMP + "/words").read()
check("by a program: text stands after '--'", words == "--app-name=wrapix|--urgency|normal|--|--help|-t text|", words)
os.unlink(TMP + "/words")
notify("T", "\\033]0;x <a href='file:///x'>")
wait(lambda: os.path.exists(TMP + "/words") and os.path.getsize(TMP + "/words"))
words = open(TMP + "/words").read()
check("... and neither its escapes nor markup mean anything",
      words.endswith("|T|\\\\033]0;x &lt;a href=&#39;file:///x&#39;&gt;|"), words)
finish()
