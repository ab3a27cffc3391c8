# shellcheck shell=sh disable=SC2016,SC2034,SC2154 # a library, with a script for another shell and the variables of system.sh, networld.sh and the scripts
# SPDX-License-Identifier: MIT
# What net_limits.sh and net_memory.sh share, after set_up_net: floods from inside (netload.py), and a look at the supervisor meanwhile.
cp "$lib/netload.py" "$project"
mkfifo "$project/up" "$project/go"
out=$tmp/log/out err=$tmp/log/err

# flood VERB...: starts it; hear_flood() waits for its 'pause'. What it and the supervisor say is explained with a failure.
hear_flood() { timeout 200 cat "$project/up" >/dev/null || echo "# nobody wrote"; }
go_on() { timeout 60 sh -c 'echo >"$1"' sh "$project/go" || echo "# nobody read"; }
flood() {
	(
		# shellcheck disable=SC3045 # dash has it
		ulimit -n "${files-4096}"
		exec timeout -s KILL 200 "$wrapix" run --filter-tier "$tier" --allow allowed.test --allow allowed.test:7 --allow allowed.test:19 \
			--allow allowed.test:1004 --allow '*.wild.test:7' --allow '*.slow.test:7' --allow '*.never.test:7' -- python3 -B netload.py "$@"
	) >"$out" 2>"$err" </dev/null &
	flood=$!
	started="${started-} $flood"
}
supervisor() { pgrep -u "$(id -u)" -P "$flood" -f "$wrapix run" | head -n 1; }
rss() { awk '/VmRSS/ { print $2 }' "/proc/$(supervisor)/status"; }       # kB
cpu() { awk '{ print $14 + $15 }' "/proc/$(supervisor)/stat"; }          # hundredths of a second
under() { [ "$1" -lt "$2" ] || { echo "$1, the limit is $2"; false; }; }
line() { sed -n "$1s/ (late)\$//; $1p" "$out"; }
ends() {
	wait "$flood"
	rc=$?
	check "... and it ends well" is "$rc" 0
}
served() { echo "$1" | sed -n 's/.*ok=\([0-9]*\).*/\1/p'; }
pause=pause:up,go
