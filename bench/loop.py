# SPDX-License-Identifier: MIT
"""ralph: what a step costs besides the agent, from the end of one agent until the next one begins."""
import glob
import json
import os

from lab import summary
from repository import WHO

# It takes a moment, as an agent does, and leaves in the project when it began and ended.
AGENT = r"""#!/bin/sh
began=$(date +%s%N)
while read -r line; do :; done
sleep 0.2
read -r name </proc/sys/kernel/random/uuid
printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"result":"RALPH_COMPLETE","total_cost_usd":0.1}'
echo "$began $(date +%s%N)" >"made-$name"
"""


def steps(lab, rounds, name, config):
    project = lab.make_dir(name)
    agent = lab.write(lab.path("bin", "agent"), AGENT)
    os.chmod(agent, 0o755)
    lab.make_dir("home", ".config", "wrapix")
    lab.write(lab.path("home", ".config", "wrapix", "config.json"),
              json.dumps({"network": "none", "notify": False, "ralph": {"agent": agent, **config}}))
    lab.make_dir(name, "specs")
    lab.write(f"{project}/specs/f.md", "# F\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"],
                  ["config", "user.name", "bench"], ["config", "user.email", "bench@localhost"]):
        lab.run([*WHO, *words], cwd=project)
    ralph = lab.beside("../ralph/ralph")
    lab.run([ralph, "start", "f"], cwd=project)
    for i in range(rounds + 1):
        lab.run([ralph, "item", "add", "--title", f"task {i}"], cwd=project)
    lab.run([ralph, "loop"], cwd=project)
    times = []
    for file in glob.glob(f"{project}/made-*"):
        with open(file, encoding="ascii") as f:
            times.append([int(word) for word in f.read().split()])
    times.sort()
    return summary([(after[0] - before[1]) / 1000 for before, after in zip(times, times[1:])])


def measure(lab, rounds):
    return {"a step with a commit": steps(lab, rounds, "plain", {}),
            "... without one": steps(lab, rounds, "loose", {"commit": False}),
            "... and a gate of 'true'": steps(lab, rounds, "gated", {"gate": "true"})}


GOALS = (
    ("ralph, a step besides the agent, ms",
     lambda r: r["ralph"]["a step with a commit"]["median"] / 1000 if "ralph" in r else None, 50),
)
