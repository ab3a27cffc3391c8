# SPDX-License-Identifier: MIT
"""A real Claude Code in a sandbox: its own hooks reach the desktop. It stops at a question for permission, and later at
the end of its turn. The provider is the tests' own and runs inside; see claude.sh. With NOTIFY_ENGINE=podman it is a
container of podman's, and the provider runs outside: podman_agent.sh has made the image and podman's environment."""
import os
import shutil

from desktop import *

have("dbus-daemon", "dunst", "Xvfb", "tmux", "node")
claude = os.environ.get("WRAPIX_TEST_CLAUDE", "")
if not claude:
    have("claude that ./test installs (WRAPIX_TEST_CLAUDE)")
start_bus()
start_x()
start_dunst()
here = os.path.dirname(os.path.abspath(__file__))
kit = os.path.join(TMP, "kit")
os.mkdir(kit)
for file in here + "/../lib/fake-anthropic.mjs", here + "/claude/with-api":
    shutil.copy(file, kit)
real = os.path.realpath(claude)
ENV["ANTHROPIC_API_KEY"] = "sk-ant-test-0123456789-abcdefghij-0123456789"
ENV["PATH"] = os.path.dirname(claude) + ":" + ENV["PATH"]
where, with_api = "", "sh /kit/with-api "
if os.environ.get("NOTIFY_ENGINE") == "podman":
    for name in "PATH", "CONTAINERS_CONF", "XDG_RUNTIME_DIR":
        ENV[name] = os.environ[name]
    ENV["PATH"] = os.path.dirname(claude) + ":" + ENV["PATH"]
    said = os.path.join(TMP, "api")
    with open(said, "w") as f:
        start("node", kit + "/fake-anthropic.mjs", "--look", "a sandbox that wrapix made", "--log",
              TMP + "/api.log", stdout=f)
    wait(lambda: open(said).read().endswith("\n"))
    port = open(said).read().split()[1]
    ENV["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:" + port
    where, with_api = f"--engine podman --host-port {port} --env ANTHROPIC_BASE_URL ", ""
run = (f"{WRAPIX} run --network none {where}--mount {kit}:/kit:ro --mount {real}:/claude.real:ro --env ANTHROPIC_API_KEY "
       f"--env CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 --agent claude -- {with_api}/claude.real "
       "--permission-mode default")


def screen_has(text):
    return wait(lambda: text in tmux("capture-pane", "-p"), 60)


tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", run)
check("the prompt opens", screen_has("❯"), tmux("capture-pane", "-p"))
tmux("send-keys", "-l", "make the file")
screen_has("make the file")
tmux("send-keys", "Enter")
check("it asks for permission", screen_has("Do you want to"), tmux("capture-pane", "-p"))
wait(lambda: displayed() >= 1, 60)
texts = [(one["summary"], one["body"]) for one in history()]
check("its Notification hook is on the desktop, with the real reason", any("permission" in text for _, text in texts),
      texts, outcomes(), tmux("capture-pane", "-p"))
check("... under its name and the session's", texts and texts[0][0] == "Claude Code (project)", texts)
tmux("send-keys", "Enter")
check("the turn completes", screen_has("The file is there."), tmux("capture-pane", "-p"))
wait(lambda: displayed() >= 1, 60)
texts = [(one["summary"], one["body"]) for one in history()]
check("its Stop hook is there, with its last words", texts and texts[0][1] == "The file is there.", texts)
finish()
