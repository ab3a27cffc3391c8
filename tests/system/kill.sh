#!/bin/sh
# SPDX-License-Identifier: MIT
# Signals reach the command, which may end in its own time; whatever is killed, at whatever moment, nothing is left:
# no process, no mount, nothing in the project, and of our own state nothing after the next command. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/signals.sh"

# start SCRIPT [OPTION...]: in the background as $pid, once the script has said 'up' (echo up >fifo).
fifo=$project/fifo
mkfifo "$fifo"
start() {
	start_script=$1
	shift
	# A shell starts background commands with SIGINT and SIGQUIT ignored.
	env --default-signal=INT,QUIT "$wrapix" run --network none "$@" -- sh -c "$start_script" \
		>"$tmp/log/out" 2>"$tmp/log/err" </dev/null &
	pid=$!
	started="${started-} $pid"
	hear "$fifo"
}
ours() { ps -u "$(id -u)" -o pid=,comm= | awk '$2 ~ /^(wrapix|pasta|passt)/ { print $1 }'; } # of this user, whoever started them
ours_before=$(ours)
left() { # what is there that was not there before
	ours | while read -r p; do
		case " $(echo "$ours_before" | xargs) " in *" $p "*) ;; *) ps -o pid,ppid,stat,args -p "$p" | sed 1d ;; esac
	done
}
nothing_left() { await is_empty left || { left; false; }; }
mark=60000.$$

# --- signals ---
signals TERM:15 INT:2 HUP:1 QUIT:3 USR1:10 USR2:12 ALRM:14
cat >"$project/patient.py" <<'PY'
import signal, sys

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
for i in range(2):
    open("fifo", "w").write("up\n")
    signal.sigwait({signal.SIGTERM})
    print("term", flush=True)
sys.exit(5)
PY
start 'exec python3 patient.py'
kill -TERM "$pid"
hear "$fifo"
kill -TERM "$pid"
status
check "a command may take its time: the second SIGTERM ends it" is "$rc $(xargs <"$tmp/log/out")" "5 term term"
start "trap '' TERM; echo up >fifo; cat fifo; exit 6"
kill -TERM "$pid"
tell "$fifo" go
status
check "a command that ignores SIGTERM goes on" is "$rc $(cat "$tmp/log/out")" "6 go"
start "trap 'exit 3' TERM; sleep $mark & echo up >fifo; while :; do sleep 1000 & wait; done"
kill -TERM "$pid"
status
check "background processes of it end with it" none_running "$mark"

# A signal at any moment of the start: the command gets it, or wrapix dies of it.
cat >"$tmp/hit.py" <<'PY'
"""hit.py SIGNAL TIMES MAX_MS PROGRAM...: starts the program, sends the signal after a random time, prints how it ended."""
import collections, random, signal, subprocess, sys, time
number, times, longest, argv = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
random.seed(20)
ends = collections.Counter()
for i in range(times):
    p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.perf_counter() + random.random() * longest / 1000
    while time.perf_counter() < end:
        pass  # a sleep would be coarser than the start is long
    p.send_signal(number)
    try:
        code = p.wait(30)
    except subprocess.TimeoutExpired:
        p.kill()
        code = "hung"
    ends[128 - code if isinstance(code, int) and code < 0 else code] += 1
print(*sorted(ends, key=str))
PY
snapshot "$project" >"$tmp/tree"
our_mounts() { grep -e wrapix -e " $real_home" -e " /run/user/$(id -u)" /proc/self/mountinfo; } # others have theirs
our_mounts >"$tmp/mounts"
python3 "$tmp/hit.py" 15 100 6 "$wrapix" run --network none -- sleep "$mark" >"$tmp/log/out" 2>"$tmp/log/err"
check "SIGTERM at 100 moments of the start: always 143" is "$(cat "$tmp/log/out")" 143
check "... nothing is left" nothing_left
check "... of the command neither" none_running "$mark"

# --- kill -9 of wrapix ---
# clean NAME: after the next command nothing of ours is anywhere.
clean() {
	check "... no process is left" none_running "$mark"
	check "... no PID 1, no pasta" nothing_left
	check "... nothing in the project" same_tree "$project" "$tmp/tree"
	check "... no mount" is "$(our_mounts)" "$(cat "$tmp/mounts")"
	# A directory without a record may belong to a session that is just starting: its age tells.
	find "$state/sessions" -mindepth 1 -exec touch -d '5 minutes ago' {} + 2>/dev/null
	find /tmp -maxdepth 1 -user "$(id -u)" -name 'wrapix-??????' -exec touch -d '5 minutes ago' {} +
	"$wrapix" ps >"$tmp/log/out" 2>"$tmp/log/err"
	check "... the next command sweeps the sessions" is "$(ls -A "$state/sessions")" ""
	check "... and lists none" is "$(sed 1d "$tmp/log/out")" ""
	check "... and what was in /tmp" is "$(find /tmp -maxdepth 1 -user "$(id -u)" -name 'wrapix-??????')" ""
}
python3 "$tmp/hit.py" 9 100 6 "$wrapix" run --network none -- sleep "$mark" >"$tmp/log/out" 2>"$tmp/log/err"
check "SIGKILL at 100 moments of the start" is "$(cat "$tmp/log/out")" 137
clean
python3 "$tmp/hit.py" 9 40 200 "$wrapix" run -- python3 -c "import socket, time; socket.socket(); time.sleep($mark)" \
	>"$tmp/log/out" 2>"$tmp/log/err"
check "SIGKILL at 40 moments, while the network comes up" is "$(cat "$tmp/log/out")" 137
clean
start "setsid sleep $mark & (trap '' HUP TERM INT; sleep $mark & sleep $mark) & echo up >fifo; sleep $mark"
kill -KILL "$pid"
status
check "SIGKILL while the command runs" is "$rc" 137
clean
start "sleep $mark & echo up >fifo; sleep $mark"
kill -STOP "$pid"
kill -KILL "$pid"
status
check "SIGKILL while wrapix is stopped" is "$rc" 137
clean

# --- kill -9 of others of ours ---
init_of() { pgrep -P "$1" -x wrapix; }
start "trap '' TERM; sleep $mark & echo up >fifo; sleep $mark"
kill -KILL "$(init_of "$pid")"
status
check "SIGKILL of PID 1 of the sandbox: wrapix ends, as 137" is "$rc" 137
clean
cat >"$project/net.py" <<'PY'
import socket, sys
socket.socket(socket.AF_INET)  # pasta is attached now
open("fifo", "w").write("up\n")
open("fifo").read()
sys.exit(8)
PY
snapshot "$project" >"$tmp/tree"
if command -v pasta >/dev/null; then
	"$wrapix" run -- python3 net.py >"$tmp/log/out" 2>"$tmp/log/err" </dev/null &
	pid=$!
	hear "$fifo"
	pasta=$(pgrep -P "$pid" '^pass?ta?')
	check "pasta is a child of wrapix" [ -n "$pasta" ]
	kill -KILL "$pasta"
	tell "$fifo"
	status
	check "SIGKILL of pasta: the command ends in its own time" is "$rc" 8
	clean
	"$wrapix" run -- python3 net.py >"$tmp/log/out" 2>"$tmp/log/err" </dev/null &
	pid=$!
	hear "$fifo"
	kill -KILL "$pid"
	status
	check "SIGKILL of wrapix with a network" is "$rc" 137
	clean
	"$wrapix" run -- python3 net.py >"$tmp/log/out" 2>"$tmp/log/err" </dev/null &
	pid=$!
	hear "$fifo"
	kill -KILL "$(init_of "$pid" | head -n 1)"
	status
	check "SIGKILL of PID 1 with a network" is "$rc" 137
	clean
else
	skip "SIGKILL of pasta" "pasta is not installed"
fi

# --- stop and continue ---
start "echo up >fifo; cat fifo; exit 7"
kill -STOP "$pid"
stopped() { is "$(ps -o stat= -p "$pid" | cut -c1)" T; }
check "SIGSTOP stops wrapix" await stopped
kill -CONT "$pid"
tell "$fifo" on
status
check "SIGCONT: all goes on" is "$rc $(cat "$tmp/log/out")" "7 on"
start "echo up >fifo; exec sleep $mark" # a shell in the middle of a vfork could not be stopped
kill -TSTP "$pid"
check "SIGTSTP stops wrapix" await stopped
command_stopped() { pgrep -u "$(id -u)" -f "sleep $mark" | while read -r p; do ps -o stat= -p "$p"; done | grep -v '^T' | grep -c . | grep -qx 0; }
check "... and the command" await command_stopped
kill -CONT "$pid"
command_runs() { ! command_stopped; }
check "SIGCONT: both go on" await command_runs
kill -TERM "$pid"
status
check "... and end" is "$rc" 143
clean
finish
