# SPDX-License-Identifier: MIT
"""Messages from inside a sandbox to a real dunst: text, actions, clicks, hostile text, settings, and nothing left."""
import html
import json
import os
import subprocess
import threading
import time

from desktop import *

have("dbus-daemon", "dunst", "Xvfb", "xdotool", "tmux", "systemd-socket-activate")
start_bus()
start_x()
conf = os.path.join(TMP, "dunstrc")
menu = os.path.join(TMP, "menu")
with open(menu, "w") as f:
    f.write("#!/bin/sh\ngrep Later\n")
os.chmod(menu, 0o755)
with open(conf, "w") as f:
    f.write(f"[global]\nmonitor=0\nwidth=300\nheight=300\norigin=top-left\noffset=0x0\nmarkup=full\ndmenu={menu}\n"
            "mouse_left_click=do_action\nmouse_right_click=close_current\n")
dunst = start_dunst(conf)


def one(title=None):
    """The newest that dunst has shown, once it is there."""
    wait(lambda: displayed() > 0)
    all = history()
    return all[0] if all else {}


# --- from inside ---
run = sandbox("wrapix-notify 'Claude Code' 'Waiting for input...'; echo $?")
check("the client inside ends with 0", run.stdout == "0\n" and run.stderr == "", run)
got = one()
check("its title is on the desktop, with the session's name", got.get("summary") == "Claude Code (project)", got)
check("... and its text", got.get("body") == "Waiting for input...", got)
check("... from wrapix", got.get("appname") == "wrapix", got)
check("the daemon ends after the last sandbox", wait(lambda: not status()))
check("... and leaves its lock alone", os.listdir(RUNTIME + "/wrapix/notify") == [] and
      os.listdir(RUNTIME + "/wrapix/sessions") == [], os.listdir(RUNTIME + "/wrapix"))

run = sandbox("ls -A /run/wrapix; rm -f /run/wrapix/notify.sock 2>&1; mkdir /run/wrapix/x 2>&1; ls -A /run/wrapix;"
              "cd /run/wrapix/..; ls wrapix; ldd /opt/wrapix/bin/wrapix-notify 2>&1")
check("inside there is the socket and nothing else", run.stdout.split("\n")[0] == "notify.sock", run)
check("... which cannot be removed or replaced", run.stdout.count("Read-only") == 2, run)
check("the client is static", "not a dynamic executable" in run.stdout, run)
start_time = time.monotonic()
run = sandbox("true")
check("a sandbox that says nothing starts no daemon", not status() and run.returncode == 0)

# --- hostile text, by the client ---
clear()
cases = [
    ("an option as a title", ["--", "--help", "-x"], "--help", "-x"),
    ("markup is text", ["<b>t</b>", "<i>a</i> & <img src='x'>"], "<b>t</b>", "<i>a</i> & <img src='x'>"),
    ("escape codes go", ["\033[31mred\033]0;x\007", "a\033[2Jb"], "[31mred]0;x", "a[2Jb"),
    ("a title is one line, a text has several", ["one\ntwo", "one\ntwo"], "one two", "one\ntwo"),
    ("invalid UTF-8 is replaced", [b"bad \xff\xfe", b"\xc3("], "bad \ufffd\ufffd", "\ufffd("),
    ("quotes and backslashes", ['"\\"', '\\n'], '"\\"', '\\n'),
]
holder = sandbox("read x", wait_for=False, stdin=subprocess.PIPE)
wait(lambda: os.listdir(RUNTIME + "/wrapix/notify"))
sock = os.path.join(RUNTIME, "wrapix/notify", os.listdir(RUNTIME + "/wrapix/notify")[0], "notify.sock")
daemon = None
for name, words, title, text in cases:
    clear()
    if not status():
        daemon = start_daemon()
    notify(*words)
    got = one()
    # dunst hands on markup as it came: what was escaped reads as text
    body = html.unescape(got.get("body", ""))
    check(name, got.get("summary") == title and body == text, got)
    if name == "markup is text":
        check("... escaped on the bus", "&lt;i&gt;" in got.get("body", ""), got)
    time.sleep(0.2)  # under the rate: five at once, then one a second
clear()
run = notify("x" * 300, "y" * 100000)
got = one()
check("long text is cut with an ellipsis", got.get("summary", "").endswith("x\u2026") and
      got.get("body", "").endswith("y\u2026") and len(got["body"]) < 2048, got)

# --- hostile bytes, past the client ---
wait(lambda: not any(s["waiting"] for s in status()["sessions"]))
before = status()
send(b"not json", b"{", b'{"title":1', b"\xff\xfe\x00", b"[]")
send(b'{"title":"' + b"A" * (10 << 20) + b'"}', b'{"title":"after"}')
after = wait(lambda: status()["received"] > before["received"] and status())
check("malformed lines are dropped and counted", after["malformed"] == before["malformed"] + 5, after)
check("a line of 10 MB is dropped and counted", after["too_long"] == before["too_long"] + 1, after)
check("... and the line after it is read", after["received"] == before["received"] + 1, after)
wait(lambda: status()["shown"] == after["received"])
clear()
send(b'{"title":"no newline"}', newline=b"")
check("the last line counts without a newline", one().get("summary") == "no newline")
holder.stdin.write(b"\n")
holder.stdin.close()
holder.wait()

# --- actions and clicks ---
clear()
time.sleep(3)  # the rate again


def ask(answers, *words):
    thread = threading.Thread(target=lambda: answers.append(notify("--wait", *words).stdout))
    thread.start()
    wait(lambda: displayed() == 1)
    return thread


def click(button, thread):
    """On the bubble, which is drawn some time after it counts as displayed: until who waits has heard of it."""
    wait(lambda: subprocess.run(["xdotool", "mousemove", "60", "20", "click", button], env=ENV) and (thread.join(0.5) or not thread.is_alive()))


answers = []
thread = ask(answers, "--action", "yes=Deploy", "--action", "no=Later", "Build", "Deploy it?")
dunstctl("context")
thread.join(PATIENCE)
check("the chosen action comes back to who waits", answers == [b"no\n"], answers)
clear()
answers = []
thread = ask(answers, "--action", "yes=Deploy", "Build", "Deploy it?")
subprocess.run(["import", "-window", "root", os.path.join(TMP, "screen.png")], env=ENV)
if os.environ.get("NOTIFY_KEEP_SCREEN"):
    subprocess.run(["cp", os.path.join(TMP, "screen.png"), os.environ["NOTIFY_KEEP_SCREEN"]])
click("1", thread)
check("a real click on the bubble is 'default'", answers == [b"default\n"], answers)
clear()
answers = []
thread = ask(answers, "Build", "Look?")
click("3", thread)
check("closed without a choice: nothing is printed", answers == [b""], answers)
answers = []
thread = threading.Thread(target=lambda: answers.append(notify("--wait", "--timeout", "1", "Build", "Soon?")))
thread.start()
thread.join(PATIENCE)
check("--timeout ends the waiting, with 0", len(answers) == 1 and answers[0].returncode == 0 and
      answers[0].stdout == b"", answers)
clear()
time.sleep(2)
notify("--replace", "build", "Build", "one")
wait(lambda: displayed() == 1)
notify("--replace", "build", "Build", "two")
wait(lambda: status()["shown"] == status()["received"])
check("--replace takes the place of the last", displayed() == 1)
check("... with the new text", one().get("body") == "two")
clear()
notify("--urgency", "critical", "Urgent", "x", "bell")
got = one()
check("the urgency arrives: a critical one stays", got.get("timeout") == 0, got)
clear()
agent = subprocess.Popen([NOTIFY, "--hook"], env=ENV, stdin=subprocess.PIPE)
time.sleep(0.5)  # an agent on a busy machine
agent.communicate(b'{"hook_event_name": "Notification", "message": "may I?"}')
got = one()
check("an agent that is slow to say what its hook is about is waited for", got.get("body") == "may I?", got)

# --- asking the daemon ---
run = subprocess.run([NOTIFYD, "--test", "--status"], env=ENV, stdout=subprocess.PIPE, text=True)
check("--test says what became of it", "shown on the desktop" in run.stdout, run.stdout)
check("--status says which way messages take", "a notification service, with actions" in run.stdout, run.stdout)
stop(daemon)
run = subprocess.run([WRAPIX, "doctor", "--json"], env=ENV, stdout=subprocess.PIPE, text=True)
found = [x for x in json.loads(run.stdout) if x["check"] == "messages"]
check("wrapix doctor says so as well", found and found[0]["verdict"] == "ok" and "service" in found[0]["text"], found)
run = subprocess.run([WRAPIX, "doctor", "--json"], env={**ENV, "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"},
                     stdout=subprocess.PIPE, text=True)
found = [x for x in json.loads(run.stdout) if x["check"] == "messages"]
check("... and why not, without a bus", found and found[0]["verdict"] == "missing" and
      "no session bus" in found[0]["text"], found)

# --- settings ---
def settings(text):
    with open("wrapix.json", "w") as f:
        json.dump(text, f)


clear()
settings({"notify": {"quiet": "00:00-24:00"}})
sandbox("wrapix-notify Quiet; wrapix-notify --urgency critical Loud; sleep 0.5")
wait(lambda: displayed() > 0)
shown = [x["summary"] for x in history()]
check("a quiet time leaves out all but the critical", shown[0] == "Loud (project)" and "Quiet (project)" not in shown, shown)
wait(lambda: not status())
clear()
settings({})
sandbox("unshare -U true; true")
check("what is refused is not told unasked: no daemon is started", not status() and displayed() == 0, history()[:1])
settings({"notify": {"violations": True}})
run = sandbox("unshare -U true; unshare -U true; true")
got = one()
check("violations: what is refused, and why", got.get("summary") == "Refused (project)" and html.unescape(got.get("body", "")) ==
      "calling unshare(CLONE_NEWUSER): namespaces and mounts of its own are kept from it", got)
settings({"notify": False})
run = sandbox("ls /run/wrapix /opt; wrapix-notify x; echo $?")
check("\"notify\": false: neither socket nor client", "127" in run.stdout and "notify.sock" not in run.stdout, run)
settings({"notify": {"webhook": "touch pwned"}})
run = sandbox("true")
check("a project cannot name a webhook", run.returncode == 2 and "config.json" in run.stderr, run)
os.unlink("wrapix.json")
os.makedirs(os.path.join(ENV["HOME"], ".config/wrapix"))
hook = os.path.join(TMP, "hook")
with open(os.path.join(ENV["HOME"], ".config/wrapix/config.json"), "w") as f:
    json.dump({"notify": {"webhook": f"cat >>{hook}"}}, f)
sandbox("wrapix-notify \"it's '; touch pwned; '\" $(echo text); sleep 0.5")
wait(lambda: os.path.exists(hook) and os.path.getsize(hook))
got = json.loads(open(hook).read())
check("the user's own webhook gets the message as JSON", got["title"] == "it's '; touch pwned; ' (project)", got)
def refused_exec(*options):
    clear()
    return subprocess.run([WRAPIX, "exec", *options, "--", "sh", "-c", "echo x >~/z; echo x >~/z; true"], env=ENV, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)


with open(os.path.join(ENV["HOME"], ".config/wrapix/config.json"), "w") as f:
    json.dump({"notify": {"violations": True}}, f)
report = os.path.join(TMP, "refused")
run = refused_exec("--violations", report)
got = one()
# Both at once, unless they were not of one second.
times = " (2 times)" if len(open(report).readlines()) == 1 else ""
check("exec tells of what it refuses where the user's configuration says so", got.get("summary") == "Refused (project)" and
      html.unescape(got.get("body", "")) == "writing ~/z: no allowWrite covers it" + times, (run, got))
check("... and leaves nothing", not os.listdir(os.path.join(RUNTIME, "wrapix/notify")) and
      not os.listdir(os.path.join(RUNTIME, "wrapix/sessions")))
os.unlink(os.path.join(ENV["HOME"], ".config/wrapix/config.json"))
wait(lambda: not status())
run = refused_exec()
check("... and not unasked", not status() and displayed() == 0 and "refused writing" in run.stderr, run)

# --- daemons that die, and several sandboxes ---
clear()
a = sandbox("wrapix-notify A; read x; wrapix-notify B; sleep 1", "--name", "aa", wait_for=False,
            stdin=subprocess.PIPE)
check("a sandbox is registered", wait(lambda: [s["name"] for s in status().get("sessions", [])] == ["aa"]))
wait(lambda: displayed() == 1)
pid = int(subprocess.run(["pgrep", "-u", str(os.getuid()), "-f", f"wrapix-notifyd --on-demand --dir {RUNTIME}"],
                         stdout=subprocess.PIPE, text=True).stdout.split()[0])
os.kill(pid, 9)
wait(lambda: not status())
a.stdin.write(b"\n")
a.stdin.close()
wait(lambda: displayed() == 2)
check("a daemon that was killed is replaced at the next message", [x["summary"] for x in history()][:2] ==
      ["B (aa)", "A (aa)"])
a.wait()
b = sandbox("wrapix-notify C; sleep 60", "--name", "bb", wait_for=False)
wait(lambda: [s["name"] for s in status().get("sessions", [])] == ["bb"])
stop(b, 9)
check("a supervisor that was killed takes its session with it", wait(lambda: not status()))
subprocess.run([WRAPIX, "ps"], env=ENV, stdout=subprocess.DEVNULL)
check("... and the next command what it left", os.listdir(RUNTIME + "/wrapix/sessions") == [])
sandbox("true")
check("... the next run its socket, too", os.listdir(RUNTIME + "/wrapix/notify") == [])
for name in (".aaaaaaaa", ".bbbbbbbb"):
    os.mkdir(RUNTIME + "/wrapix/notify/" + name)
os.utime(RUNTIME + "/wrapix/notify/.aaaaaaaa", (0, 0))
sandbox("true")
check("... and what one left that died as it made it; one that may be at it keeps its", os.listdir(RUNTIME + "/wrapix/notify") == [".bbbbbbbb"])
os.rmdir(RUNTIME + "/wrapix/notify/.bbbbbbbb")
for limit in range(4, 16):
    subprocess.run(["sh", "-c", f"ulimit -n {limit}; exec \"$0\" run --network none -- true", WRAPIX], env=ENV, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
sandbox("true")
check("... and a start without descriptors leaves nothing there", os.listdir(RUNTIME + "/wrapix/notify") == [])

# --- by socket activation: systemd's own tool holds the socket and starts the daemon at the first connection ---
clear()
manager = start("systemd-socket-activate", "-l", RUNTIME + "/wrapix/notify.sock", *[f"-E{k}={v}" for k, v in ENV.items()],
                NOTIFYD)
check("before the first message there is no daemon", wait(lambda: listens(RUNTIME + "/wrapix/notify.sock")) and
      not status())
notify("activated", "by its socket")
check("the first message starts it, and is shown", one().get("summary") == "activated", history())
check("... by the process that the manager became", open(f"/proc/{manager.pid}/comm").read() == "wrapix-notifyd\n")
stop(manager)
finish()
