#!/bin/sh
# SPDX-License-Identifier: MIT
# wrapix exec and signals: the command's traps run; whatever of ours is killed, at whatever moment, the command dies
# with it and nothing stays: no process, no file in the project, the home or the places for temporary files. TAP.
#
# shellcheck disable=SC1091,SC2009,SC2016,SC2154,SC2317 # the library; ps with arguments; scripts for the shell inside;
# functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/signals.sh"
cd "$project" || exit 1

fifo=$project/fifo
mkfifo "$fifo"
mark=70000.$$
start() { # start SCRIPT: in the background as $pid, once the script has said 'up' (echo up >fifo)
	env --default-signal=INT,QUIT "$wrapix" exec -c "$1" >"$tmp/log/out" 2>"$tmp/log/err" </dev/null &
	pid=$!
	hear "$fifo"
}
of_ours() { ps -u "$(id -u)" -o pid=,ppid=,comm= | awk -v p="$1" '$2 == p && $3 ~ /^wrapix/ { print $1 }'; }
ours() { ps -u "$(id -u)" -o pid=,comm= | awk '$2 ~ /^wrapix/ { print $1 }'; } # of this user, whoever started them
ours_before=$(ours | xargs)
of_us() {
	ours | while read -r p; do case " $ours_before " in *" $p "*) ;; *) echo "$p" ;; esac; done
}
places() { # what lies where something could be left
	for dir in "$project" "$HOME" /tmp /var/tmp /dev/shm "/run/user/$(id -u)"; do
		[ ! -d "$dir" ] || find "$dir" -xdev -user "$(id -u)" ! -path "$tmp/log*" ! -path "$tmp" 2>/dev/null
	done | sort
}

signals TERM:15 INT:2 HUP:1 USR1:10
start 'echo up >fifo; kill -KILL $$'
status
check "a command that is killed inside: 128+9" is "$rc" 137

# Whoever stops us (Ctrl-Z, a debugger) interrupts the ioctls by which calls are answered; the caller still waits.
timeout 60 strace -o "$tmp/log/strace" -e trace=ioctl -e inject=ioctl:error=EINTR:when=8+3 "$wrapix" exec -c '
	for i in 1 2 3 4 5 6 7 8 9; do echo x >one; mv one two; rm two; done; echo all' >"$tmp/log/out" 2>"$tmp/log/err"
check "answers that are interrupted are given all the same" is "$? $(cat "$tmp/log/out")" "0 all"
check "... and there were some" is_not_empty grep 'NOTIF_SEND.*EINTR.*INJECTED' "$tmp/log/strace"
cat >opens.py <<'END'
import os
before, wrong = os.sched_getaffinity(0), 0
for _ in range(20000):
    fd = os.open("opened", os.O_WRONLY | os.O_CREAT, 0o644)
    if fd:
        os.close(fd)
    wrong += fd == 0  # which is there already
print(wrong, os.sched_getaffinity(0) == before)
END
cat >stops.py <<'END'
import os, signal, subprocess, sys, time
command = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
while command.poll() is None:
    command.send_signal(signal.SIGSTOP)
    command.send_signal(signal.SIGCONT)
    time.sleep(0.0005)  # in which it works
sys.exit(command.returncode)
END
timeout 60 python3 stops.py "$wrapix" exec -- python3 opens.py >"$tmp/log/out" 2>"$tmp/log/err"
check "a file that is opened while we are stopped has the descriptor that it got, and the caller its processors" is "$? $(cat "$tmp/log/out")" "0 0 True"
rm opens.py stops.py opened

# A command that goes on before we have heard that it was stopped. PID 1 takes in its children in the order in which it got
# them: once an orphan that died later is gone, it has told of the command.
start "(sleep 1$mark &); (sleep 2$mark &); echo up >fifo; exec sleep $mark"
orphan() { pgrep -u "$(id -u)" -fx "sleep $1$mark"; }
is_in() { is "$(ps -o stat= -p "$1" | cut -c1)" "$2"; }
ended() { is_in "$pid" "" || is_in "$pid" Z; } # whether or not the shell knows
end_orphan() { # end_orphan N: and it was taken in
	end_orphan_pid=$(orphan "$1")
	kill -9 "$end_orphan_pid" && await is_in "$end_orphan_pid" ""
}
command=$(orphan "")
kill -STOP "$pid"
check "the supervisor stands still" await is_in "$pid" T
kill -STOP "$command"
check "... the command is stopped" await is_in "$command" T
check "... and PID 1 has told of it" end_orphan 1
kill -CONT "$command"
check "... and that it goes on" end_orphan 2
kill -CONT "$pid"
kill -TERM "$pid"
check "a command that goes on before it was heard that it was stopped: its supervisor goes on, too" await ended
kill -9 "$pid" 2>/dev/null
status
check "... and ends with it" is "$rc" 143

before=$(places)
busy="echo x >made; rm made; (while :; do echo y >turn; mv turn turned; rm turned; done) & echo up >fifo; exec sleep $mark"
start "$busy"
check "there is a command to look for" is_not_empty marked
kill -9 "$pid"
status
check "kill -9 of the supervisor: the command dies with it" await is_empty marked
start "$busy"
kill -9 "$(of_ours "$pid")"
status
check "kill -9 of PID 1: the status says so" is "$rc" 137
check "... and the command is gone" await is_empty marked
start "mkfifo held; (cat <held &) ; (: >held2; while :; do :; done) & sleep 0; echo up >fifo; exec sleep $mark"
kill -9 "$pid"
status
check "kill -9 while a FIFO is waited for: nothing of ours stays" await is_empty of_us
rm -f held held2 turn turned made

# At moments that nobody chose.
i=0
while [ $i -lt 40 ]; do
	i=$((i + 1))
	"$wrapix" exec -c "exec sleep $mark" >/dev/null 2>&1 &
	pid=$!
	python3 -c 'import sys, time; time.sleep(int(sys.argv[1]) / 10000)' $i
	kill -9 $pid
	wait $pid 2>/dev/null
done 2>/dev/null
check "40 kills during the start: no command lives" await is_empty marked
check "... and no process of ours" await is_empty of_us
rm -f turn turned made
check "nothing was left in any place" is "$(places)" "$before"
finish
