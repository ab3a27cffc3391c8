# shellcheck shell=sh disable=SC2034,SC2154 # a library: its variables are the script's, and those of system.sh
# SPDX-License-Identifier: MIT
# What the tests of signals share, after set_up. The script has start(): its argument, for a shell inside, in the background as
# $pid, and back once that has said 'up' (echo up >fifo).
status() { # of $pid, once it has ended
	wait "$pid"
	rc=$?
}
signals() { # signals NAME:NUMBER...: a command that has a trap, and one without
	for s; do
		start "trap 'exit 42' ${s%:*}; echo up >fifo; while :; do sleep 1000 & wait; done"
		kill -"${s%:*}" "$pid"
		status
		check "SIG${s%:*}: the command's trap runs, and its status comes back" is "$rc" 42
		start 'echo up >fifo; exec sleep 1000'
		kill -"${s%:*}" "$pid"
		status
		check "SIG${s%:*}: without one it dies of it" is "$rc" $((128 + ${s#*:}))
		check "... without a word" empty "$tmp/log/err"
	done
}
