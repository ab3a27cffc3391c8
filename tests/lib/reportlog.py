#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# reportlog.py STATE: writes the log of a session 'reportaa' in which much happened, with hostile names.
import json, os, sys

home, here = os.environ["HOME"], os.getcwd()
who = {"pid": 7, "comm": "npm", "argv": ["npm", "install"], "parents": [{"pid": 2, "comm": "bash"}]}
evil = {"pid": 9, "comm": "sh", "argv": ["sh", "-c", "</script><script>document.title='owned'</script>"]}
lines = [{"v": 1, "id": "reportaa", "name": "site</title><script>document.title='owned'</script>", "dir": here,
          "engine": "native", "network": "filtered\x1b[2J", "command": "npm install \"<b>\" & `x`", "policy": "srt",
          "settings": home + "/.srt-settings.json", "started": "2026-11-15T12:00:00.000Z"}]


def event(second, **keys):
    lines.append({"t": "2026-11-15T12:00:%06.3fZ" % second, **keys})


def talk(second, name, sent, received, seconds):
    event(second, type="connection", name=name, address="203.0.113.7", port=443, rule=name, sent=sent, received=received,
          seconds=seconds, process=who)


talk(1.2, "packages.example", 1830, 45621123, 0.31)
talk(1.9, "packages.example", 2830, 4562, 0.5)
talk(2.0, "a-very-long-host-name.with-many-labels.that-goes-on-and-on.example", 830, 999, 12.5)
event(2.1, type="deny", what="lookup", name="evil.example", reason="not-allowed", count=2, process=who)
event(2.4, type="deny", what="write", call="openat", path=home + "/.bashrc", reason="not-allowed", predicted=True, process=evil)
event(2.5, type="deny", what="write", call="openat", reason="not-allowed", process=who,
      path=home + "/x\x1b[2J\n<img src=x onerror=\"document.title='owned'\">\u202e\udcff" + "long" * 60)
event(3.0, type="deny", what="write", call="mkdir", path=here + "/.vscode", reason="protect", rule=".vscode", key="protect")
event(3.1, type="deny", what="limit", call="fork", reason="processes", rule="40", key="limits.processes",
      process={"pid": 11, "comm": "make", "argv": ["make", "-j99"], "predicted": True})
event(3.2, type="limit", text="memory: <i>512M</i>, a process was killed")
event(3.3, type="rule", effect="allow", rule="new.example")
event(3.4, type="warning", text="a part `failed` | here")
event(3.5, type="settings", old=[dict(key="network.allowedDomains", rule="<u>gone.example")], new=[dict(key="permissions.deny[0]", rule="Read(.env)", origin="/x:1")])
event(4.0, type="exit", status=3, cpu=2.345, memory=345678901, peakMemory=987654321, peakProcesses=77)
path = os.path.join(sys.argv[1], "log")
os.makedirs(path, mode=0o700, exist_ok=True)
with open(path + "/reportaa.jsonl", "w", encoding="ascii") as out:
    for line in lines:
        out.write(json.dumps(line) + "\n")
