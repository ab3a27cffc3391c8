#!/bin/sh
# SPDX-License-Identifier: MIT
# wrapix selftest, and SECURITY.md's tables against what it and 'wrapix plan' say.
#
# shellcheck disable=SC1091,SC2154,SC2016,SC2317 # the libraries; their variables; scripts for other shells; functions that await() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/podman.sh"
need_podman "$@"
be_user "$@"
set_up
podman_up
export LC_ALL=C.UTF-8

# The table, as lines "GROUP<tab>COLUMN<tab>EXPECTED".
python3 - "$top/SECURITY.md" >"$tmp/table" 2>"$tmp/log/err" <<'PY'
import sys
lines = open(sys.argv[1], encoding="utf-8").read().split("\n")
cells = lambda line: [c.strip() for c in line.strip().strip("|").split("|")]
at = next(i for i, line in enumerate(lines) if line.startswith("| attacked |"))
columns = [c.strip("`") for c in cells(lines[at])[1:]]
for line in lines[at + 2:]:
    if not line.startswith("|"):
        break
    group, *states = cells(line)
    assert len(states) == len(columns), line
    for column, state in zip(columns, states):
        print(group, column, state, sep="\t")
PY
check "SECURITY.md has the table" [ "$(wc -l <"$tmp/table")" -gt 60 ]

image() { (rootfs "$tmp/root") && "$wrapix" image build --from "rootfs:$tmp/root" --name base; }
check "an image for podman" image

# as_expected FILE COLUMN: every group of the report has the state of the table, and the table has no other.
as_expected() {
	python3 - "$1" "$tmp/table" "$2" <<'PY'
import json, sys
report = json.load(open(sys.argv[1]))
want = {g: s for g, c, s in (line.rstrip("\n").split("\t") for line in open(sys.argv[2])) if c == sys.argv[3]}
got = {g["name"]: g["verdict"] for g in report["groups"]}
wrong = [f"{g}: expected {s}, got {got.get(g, '-')}" for g, s in want.items() if got.get(g, "-") != s]
wrong += [f"{g}: not in the table" for g in got if g not in want]
wrong += [f'{c["name"]}: {c.get("why")}' for c in report["cases"] if c["verdict"] == "escaped"]
tried = sum(g["contained"] for g in report["groups"])
if tried < 200:
    wrong.append(f"only {tried} were stopped")
print("\n".join(wrong))
sys.exit(bool(wrong))
PY
}

cut -f 2 "$tmp/table" | sort -u >"$tmp/columns"
while IFS= read -r column; do
	engine=${column%% *}
	options=${column#"$engine"}
	# shellcheck disable=SC2086 # options are words
	timeout 200 "$wrapix" selftest --engine "$engine" --json ${options:+--} $options >"$tmp/log/out" 2>"$tmp/log/err" </dev/null
	rc=$?
	check "$column: ends with 0" is "$rc" 0
	check "$column: as SECURITY.md says" as_expected "$tmp/log/out" "$column"
done <"$tmp/columns"

# The other table: a machine's facts, and what the plan then says.
python3 - "$top/SECURITY.md" "$top/tests/golden/hosts/debian12.json" "$wrapix" >"$tmp/log/out" 2>"$tmp/log/err" <<'PY'
import json, os, subprocess, sys
text, host, wrapix = open(sys.argv[1], encoding="utf-8").read().split("\n"), json.load(open(sys.argv[2])), sys.argv[3]
at = next(i for i, line in enumerate(text) if line.startswith("| where |"))
for line in text[at + 2:]:
    if not line.startswith("|"):
        break
    where, facts, options, weaker = [c.strip() for c in line.strip().strip("|").split("|")]
    with open("facts.json", "w") as f:
        json.dump({**host, "landlockAbi": 7, **json.loads(facts.strip("`"))}, f)
    words = [wrapix, "plan", "--host", "facts.json", *options.strip("`").split(), "--json", "--", "true"]
    said = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)["weaker"]
    good = not said if weaker == "-" else any(weaker in s for s in said)
    print("agrees" if good else "differs", where, options, said)
PY
rows=$(wc -l <"$tmp/log/out")
check "what machines lack: the plan says what SECURITY.md says" lacks "$tmp/log/out" differs
check "... of five rows" is "$rows" 5

# --- as a user ---

"$wrapix" selftest -- --network host >"$tmp/log/out" 2>"$tmp/log/err"
check "as text: a line a group" [ "$(grep -c '^contained ' "$tmp/log/out")" = 15 ]
check "... and the sum" has "$tmp/log/out" ' 0 escaped'
check "what is weaker says why" has "$tmp/log/out" "the machine's own services can be reached: net-loopback"
check "... and what to do" has "$tmp/log/out" 'fix: --network open'
"$wrapix" selftest -- --mount "$home:$home:ro" >"$tmp/log/out" 2>"$tmp/log/err"
check "a mount of the home is seen by the attempts" has "$tmp/log/out" 'a mount that you ask for shows the home: secret-by-path'
GITHUB_TOKEN=x "$wrapix" selftest -- --workspace cow --env GITHUB_TOKEN >"$tmp/log/out" 2>"$tmp/log/err"
check "in a copy-on-write session" has "$tmp/log/out" ' 0 escaped, 2 were not tried'
check "a variable that is let in is seen" has "$tmp/log/out" 'a variable that you let in holds a token: env-any-variable'
"$wrapix" selftest --engine native -- --engine nonsense >"$tmp/log/out" 2>"$tmp/log/err"
rc=$?
check "options that are wrong: 125, and what wrapix said" is "$rc" 125
check "... in its words" has "$tmp/log/err" nonsense
"$wrapix" selftest --engine exec -- --network none >"$tmp/log/out" 2>"$tmp/log/err"
rc=$?
check "exec takes no options of run" is "$rc" 2
"$wrapix" doctor >"$tmp/log/out" 2>"$tmp/log/err"
check "doctor offers it" has "$tmp/log/out" 'wrapix selftest'

# --- nothing stays ---

# Other tests have victims of their own, who take their sockets away before they end.
deserted() { # sockets whose victim is gone
	for socket in /tmp/wrapix-escape-*; do
		deserted_by=${socket#/tmp/wrapix-escape-}
		[ ! -O "$socket" ] || kill -0 "${deserted_by%%.*}" 2>/dev/null || echo "$socket"
	done
}
nothing_left() { is_empty find "$state" -name 'selftest.*' && is_empty deserted; }
check "no directory, no socket is left" nothing_left
sessions_clean() { "$wrapix" ps --json >"$tmp/ps" && is "$(tr -d ' \n' <"$tmp/ps")" '[]'; }
check "... and no session" sessions_clean
# A terminal's Ctrl-C is for all of the foreground, the victim too.
interrupt() { # prints how it ended, and the victim's pid
	python3 - "$wrapix" "$state" <<'PY'
import glob, os, re, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
started = subprocess.Popen([sys.argv[1], "selftest"], start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
until = time.monotonic() + 60
victim = None
while not victim and time.monotonic() < until:
    time.sleep(0.01)
    for facts in glob.glob(sys.argv[2] + "/**/selftest.*/project/facts", recursive=True):
        victim = re.search(r"^pid=(\d+)$", open(facts).read(), re.M)
os.killpg(started.pid, signal.SIGINT)
print(started.wait(), victim[1])
PY
}
interrupt >"$tmp/log/out" 2>"$tmp/log/err"
read -r rc victim <"$tmp/log/out"
check "Ctrl-C ends it" is "$rc" -2
no_victim() { [ -n "$victim" ] && ! kill -0 "$victim" 2>/dev/null; }
check "... and its victim" await no_victim
left_by() { # by the victim's pid
	find /tmp /dev/shm -maxdepth 2 \( -name "wrapix-escape-$1*" -o -name "X9$1" \) 2>/dev/null
	awk -v key=$((0x77780000 + $1)) '$1 == key' /proc/sysvipc/*
}
check "... which leaves no socket, no shared memory" is "$(left_by "$victim")" ""
find "$state" -depth -path '*/selftest.*' -delete

"$wrapix" selftest >"$tmp/log/out" 2>"$tmp/log/err" &
killed=$!
stands() { victim=$(find "$state" -path '*/selftest.*/project/facts' -exec sed -n 's/^pid=//p' {} +) && [ -n "$victim" ]; }
await stands
kill -9 $killed
wait $killed 2>/dev/null
check "control: a killed one leaves its directory" fails nothing_left
check "... its victim ends by itself" await no_victim
"$wrapix" selftest >"$tmp/log/out" 2>"$tmp/log/err"
check "... and the next one sweeps it" nothing_left
finish
