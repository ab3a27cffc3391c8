# SPDX-License-Identifier: MIT
"""Load, floods, a bus that dies and returns, a service that hangs: nothing that was accepted is lost."""
import os
import re
import signal
import socket
import threading
import time

from desktop import *
from port import free_port

have("dbus-daemon", "dunst", "Xvfb", "dbus-monitor")
bus = start_bus()
start_x()
dunst = start_dunst()
monitor = Monitor()
daemon = start_daemon()
LINE = b'{"title":"load","message":"%d","sound":"","session_id":""}\n'


def memory():
    text = open(f"/proc/{daemon.pid}/status").read()
    return int(re.search(r"VmHWM:\s+(\d+)", text).group(1)), int(re.search(r"VmRSS:\s+(\d+)", text).group(1))


def accounted(now):
    return now["shown"] + now["summed"] + now["silent"] + now["quiet"]


# --- 500 clients at once, 20 messages each ---
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.path.join(RUNTIME, "wrapix/notify.sock"))
    return s


clients = [connect() for _ in range(500)]
check("500 clients are connected at once", wait(lambda: status()["connections"] == 500), status().get("connections"))
for n in range(20):
    for client in clients:
        client.sendall(LINE % n)
after = wait(lambda: status()["received"] == 10000 and status())
check("10,000 messages are received", after and after["received"] == 10000, status())
for client in clients:
    client.close()
after = wait(lambda: accounted(status()) == 10000 and status())
check("... and each is shown, or stands behind a number", bool(after), status())
# A call that a busy desktop did not answer in time is made again, also by notify-send.
again = any("timed out" in outcome for outcome in outcomes())


def more():
    return sum(int(n) for n in re.findall(r"\((\d+) more\)", open(monitor.path).read()))


def told():  # the monitor may be behind the desktop
    return after["shown"] + more() == 10000 and (monitor.calls() == after["shown"] or again)


check("... which the desktop was told", wait(told), monitor.calls(), more(), after)
peak, now = memory()
print(f"# peak {peak} KiB, now {now} KiB, {monitor.calls()} bubbles")
# Under valgrind it is valgrind's.
MOST = 8192 if not UNDER else 256 << 10
check("memory stays under 8 MiB", peak < MOST, peak)

# --- lines that never end ---
clients = [connect() for _ in range(200)]
for client in clients:
    client.sendall(b'{"title":"' + b"x" * 60000)
for client in clients[:100]:
    client.sendall(b'"}\n')
wait(lambda: status()["connections"] == 200)
peak, now = memory()
check("... also with 200 lines that have begun", peak < MOST, peak)
for client in clients:
    client.close()
wait(lambda: status()["connections"] == 0)
check("... and falls again", memory()[1] < MOST)

# --- as many clients as are let in, who say nothing, or half of it ---
seen = status()["received"]
clients = [connect() for _ in range(512)]
for client in clients[::2]:
    client.sendall(LINE[:20])
check("512 clients are connected", wait(lambda: status()["connections"] == 512), status())
notify("who has", "something to say")
check("who says nothing makes room for who does", wait(lambda: status()["received"] == seen + 1), status())
for client in clients:
    client.close()
wait(lambda: status()["connections"] == 0)

# --- the bus dies and returns under load ---
before = status()
stopped = threading.Event()
sent = [0]


def pour():
    while not stopped.is_set():  # where the daemon stands still for long the client does not wait for it
        run = notify("load", str(sent[0]), env={"WRAPIX_NOTIFY_VERBOSE": "1"})
        sent[0] += b"wrapix-notify: sent\n" in run.stderr


pourer = threading.Thread(target=pour)
pourer.start()
wait(lambda: status()["received"] > before["received"] + 20)
stop(dunst)
stop(bus, signal.SIGKILL)
check("a dead bus is noticed", wait(lambda: not status()["desktop_works"]), status())
seen = status()["received"]
wait(lambda: status()["received"] > seen + 20)
check("... and the daemon goes on", daemon.poll() is None)
bus = start_bus()
dunst = start_dunst()
monitor = Monitor()
check("the bus that returns is used again", wait(lambda: status()["desktop_works"]), status())
wait(lambda: monitor.calls() > 0)
stopped.set()
pourer.join()
after = wait(lambda: status()["received"] == before["received"] + sent[0] and status())
check("all messages were received", bool(after), sent, before, status())
after = wait(lambda: accounted(status()) == status()["received"] and status())
check("... and none was lost", bool(after), status())
check("... the last ones on the desktop", monitor.calls() > 0)

# --- a service that hangs ---
os.kill(dunst.pid, signal.SIGSTOP)
shown = status()["shown"]
started = time.monotonic()
notify("hangs", "x")
check("the client does not wait for a service that hangs", time.monotonic() - started < 15)  # of a bus's 25
check("... nor does the daemon", wait(lambda: status()["received"] == after["received"] + 1))
os.kill(dunst.pid, signal.SIGCONT)
check("... and the message is shown when it goes on", wait(lambda: status()["shown"] == shown + 1), status())

# --- without any way ---
stop(daemon)
nowhere = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=" + os.path.join(TMP, "later"), "PATH": "/nonexistent"}
daemon = start_daemon(env=nowhere)
notify("kept", "until there is a way")
check("a message that no way takes is kept", wait(lambda: "kept" in " ".join(outcomes())), outcomes())
check("... and counted as neither shown nor lost", accounted(status()) == 0 and status()["received"] == 1, status())
os.symlink(os.path.join(TMP, "bus"), os.path.join(TMP, "later"))
check("... and shown when one comes", wait(lambda: status()["shown"] == 1), status())
check("... as it was", wait(lambda: "until there is a way" in open(monitor.path).read()))
stop(daemon)

# --- TCP, for virtual machines ---
number = free_port()
daemon = start_daemon("--tcp", f"127.0.0.1:{number}")
notify("tcp", "by TCP", env={"WRAPIX_NOTIFY_TCP": f"127.0.0.1:{number}"})
check("a message by TCP arrives", wait(lambda: status()["shown"] == 1), status())
run = subprocess.run([NOTIFYD, "--tcp", "0.0.0.0", "--dir", TMP], env=ENV, stderr=subprocess.PIPE, text=True)
check("all addresses at once are refused", run.returncode == 2 and "name one" in run.stderr, run)
run = notify("x", env={"WRAPIX_NOTIFY_TCP": f"127.0.0.1:{free_port()}", "WRAPIX_NOTIFY_VERBOSE": "1"})
check("nobody there: 0, and why when asked", run.returncode == 0 and b"no connection" in run.stderr, run)
finish()
