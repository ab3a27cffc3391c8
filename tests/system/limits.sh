#!/bin/sh
# SPDX-License-Identifier: MIT
# Limits that really hold, on this machine: rlimits while nothing is delegated to the user, then control groups that
# root delegates to him with the very commands that cgroup_fix() prints. Runs as root and starts sandboxes as
# WRAPIX_TEST_USER. WRAPIX: the program under test (default: build/src/cli/wrapix). Prints TAP.
# cgroup v2 and systemd's user manager, which not every machine has: limits_uml.sh.
#
# shellcheck disable=SC1091,SC2034,SC2154,SC2317 # the library; what it explains; its variables; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
if [ "$(id -u)" != 0 ]; then
	skip "limits that hold" "needs root, to delegate control groups"
	finish
fi
need_user
uid=$(id -u "$test_user")
cg=/sys/fs/cgroup

undelegate() {
	for c in memory pids cpu; do
		# What is left below would be a finding of its own; 'nothing is left' looks for it first.
		find "$cg/$c/wrapix.$uid" -depth -type d -exec rmdir {} + 2>/dev/null
	done
}
set_up
trap 'undelegate; tear_down' EXIT
as_user cp "$here/limits_hog.py" "$project/hog.py" || exit 1

# sandbox OPTION... -- CMD...; sets $out, $err and $rc.
sandbox() {
	(as_user "$wrapix" run --network none "$@") >"$tmp/log/out" 2>"$tmp/log/err" </dev/null
	rc=$?
	out=$(cat "$tmp/log/out")
}

# The refusals of the last session, as JSON.
events() {
	(as_user "$wrapix" log --violations --json) 2>/dev/null | sed 1d
}
# told WHAT KEY VALUE [PREDICTED]: it has one about this limit, and by whom
told() {
	events >"$tmp/log/events"
	cat "$tmp/log/events"
	grep -F '"what":"limit"' "$tmp/log/events" | grep -F "\"reason\":\"$1\",\"rule\":\"$3\",\"key\":\"$2\"" | grep -F "\"raise\":\"$3\"" | grep -F -- "${4-}"
}
lacks_prediction() { ! grep -F '"predicted":true,"fix"' "$tmp/log/events"; } # that of the event; its process may be likely only
nothing_told() { ! grep -F "refused" "$tmp/log/err" && ! grep -F "limit reached" "$tmp/log/err"; }

# A fork bomb in a sandbox of 50: its own processes and ours in there are fewer than ten.
stopped_near_50() {
	forked=$(expr "$out" : 'forked \([0-9]*\): EAGAIN$') && [ "$forked" -ge 40 ] && [ "$forked" -lt 50 ]
}
got() { [ "$out" = "$1" ] && [ "$rc" = "${2-0}" ]; }
exited() { [ "$rc" = "$1" ]; }
percent_between() {
	p=$(expr "$out" : 'percent \([0-9]*\)$') && [ "$p" -ge "$1" ] && [ "$p" -le "$2" ]
}
plan_says() {
	(as_user "$wrapix" plan --network none --memory 64M --pids 50 --cpus 1) 2>&1 | grep -F -- "$1"
}

echo "# nothing delegated: rlimits"
undelegate
check "the plan says that memory is limited per process only" plan_says "each process on its own (RLIMIT_DATA)"
check "and that processes are counted for the sandbox" plan_says "pids 50: RLIMIT_NPROC (whole sandbox)"
check "and that processors can be taken back" plan_says "which a program inside can lift"
# Sixty more processes of the same user outside: they must not count inside.
mkfifo "$tmp/home/ready" && chown "$test_user" "$tmp/home/ready"
# shellcheck disable=SC2016 # expands there
as_user setsid sh -c 'for i in $(seq 60); do sleep 300 & done; echo $$ >"$HOME/ready"; wait' &
outside=$(timeout 120 head -n 1 "$tmp/home/ready")
sandbox --pids 50 -- python3 hog.py bomb 200
check "a fork bomb stops at 50, whatever runs outside" stopped_near_50
kill -9 "-$outside"
wait 2>/dev/null
# At the limit for as long as it takes to be seen.
mkfifo "$project/go" && chown "$test_user" "$project/go"
until_told() { # until_told REASON KEY VALUE PREDICTED OPTION... -- CMD...: one that ends by a line in the FIFO, once that is told
	told_of=$1 told_key=$2 told_value=$3 told_more=$4
	shift 4
	(sandbox "$@"; echo "$rc" >"$tmp/stayed") &
	await told "$told_of" "$told_key" "$told_value" "$told_more"
	found=$?
	echo >"$project/go"
	wait
	rc=$(cat "$tmp/stayed") out=$(cat "$tmp/log/out")
	return "$found"
}
check "a sandbox that is at its limit is an event" until_told processes limits.pids 40 '"predicted":true' --pids 40 -- python3 hog.py stay 200 go
check "... one, for as long as it stays there" test "$(wc -l <"$tmp/log/events")" = 1
check "... with who has the most children" grep -q '"what":"limit".*"process":{[^}]*"argv":\["python3","hog.py"' "$tmp/log/events"
check "... and it is said" grep -F "refused having more processes: limits.pids is 40; to allow it: raise limits.pids above 40" "$tmp/log/err"
sandbox --pids 50 -- python3 hog.py bomb 30
check "one that stays below is none" got "forked 30: no limit"
check "... and nothing is told" nothing_told
sandbox --memory 256M -- python3 hog.py fill 512
check "one process cannot have more than --memory" got MemoryError 3
check "... which is an event" told memory limits.memory 256M '"predicted":true'
sandbox --memory 256M -- python3 hog.py fill 100
check "and can have less" got "filled 100"
check "... of which nothing is told" nothing_told
echo '{"limits": {' >"$project/wrapix.json" && echo '  "memory": "64M"}}' >>"$project/wrapix.json"
sandbox -- python3 hog.py fill 200
check "the event says where the limit is written" told memory limits.memory 64M "/project/wrapix.json:2\""
rm "$project/wrapix.json"
check "disk space that is used up is an event" until_told disk limits.disk 16M '"predicted":true' --disk 16M -- \
	sh -c 'dd if=/dev/zero of=/tmp/big bs=1M count=30 2>/dev/null; echo $?; read -r _ <go'
check "... the sandbox's own files cannot have more than --disk" got 1
check "... and said" grep -F "refused writing more to its private places: limits.disk is 16M; to allow it: raise limits.disk above 16M" "$tmp/log/err"
sandbox --disk 16M -- sh -c 'dd if=/dev/zero of=/tmp/big bs=1M count=10 2>/dev/null; echo $?'
check "and can have less" got 0
check "... of which nothing is told" nothing_told
sandbox --memory 64M -- python3 hog.py share 3 40
check "but three can together, as the plan said" got "held 3 killed 0"
sandbox --cpus 1 -- nproc
check "--cpus 1 is an affinity to one processor" got 1
sandbox -- sh -c 'ulimit -Hc'
check "core dumps are off" got 0
if command -v node >/dev/null; then
	sandbox --memory 1G -- node -e 'console.log("up")'
	check "node starts with --memory 1G" got up
	check "... of which nothing is told" nothing_told
fi
# shellcheck disable=SC2016 # awk expands it
sandbox -- awk '/^Max processes/ { print $4 }' /proc/self/limits
check "processes are limited by default" test "$out" -le 8192

if [ ! -e $cg/memory/cgroup.procs ] || [ ! -e $cg/pids/cgroup.procs ] || [ ! -e $cg/cpu/cgroup.procs ]; then
	# A pure version 2 needs a login of the user's own: limits_uml.sh does that in a machine of its own.
	echo "# no cgroup v1 here: the rest is tested in limits_uml.sh"
	finish
fi

echo "# delegated by root: cgroup v1"
for c in memory pids cpu; do mkdir -p $cg/$c/wrapix."$uid" && chown -R "$uid" $cg/$c/wrapix."$uid"; done
check "the plan says memory is held" plan_says "memory 64 MiB: cgroup v1 (whole sandbox)"
check "the plan says pids are held" plan_says "pids 50: cgroup v1 (whole sandbox)"
check "the plan says cpus are held" plan_says "cpus 1: cgroup v1 (whole sandbox)"
sandbox --pids 50 -- python3 hog.py bomb 200
check "a fork bomb stops at 50" stopped_near_50
check "... which is an event, and exact" told processes limits.pids 50
check "... without a prediction" lacks_prediction
sandbox --memory 64M -- python3 hog.py fill 200
check "a hog is killed: 137" exited 137
check "and wrapix says why" grep -F "memory 64 MiB: cgroup v1 (whole sandbox); to allow it: raise limits.memory above 64M" "$tmp/log/err"
check "... as an event, too" told memory limits.memory 64M '"process":{"pid":2,"comm":"python3","argv":["python3","hog.py","fill","200"]'
check "memory that is used up is told of while the session runs" until_told memory limits.memory 64M '' --memory 64M --pids 50 -- \
	sh -c 'python3 hog.py fill 200; read -r _ <go'
check "... and so are processes" until_told processes limits.pids 50 '' --memory 64M --pids 50 -- sh -c 'python3 hog.py stay 200 go'
check "... with who has the most children, as likely" grep -q '"what":"limit".*"process":{[^}]*"argv":\["python3","hog.py","stay".*"predicted":true}}$' "$tmp/log/events"
sandbox --memory 64M -- python3 hog.py share 3 40
check "three that together have too much: some are killed, the sandbox goes on" expr "$out" : 'held [012] killed [123]$'
sandbox --memory 64M -- wrapix exec -- python3 hog.py fill 200
check "a hog that 'exec' inside runs counts for the sandbox" exited 137
check "... which says why" grep -F "memory 64 MiB" "$tmp/log/err"
sandbox --memory 64M -- wrapix exec -- python3 hog.py fill 20
check "... and one that fits is let be" got "filled 20"
sandbox --pids 50 -- wrapix exec -- python3 hog.py bomb 200
check "... and so does a fork bomb" expr "$out" : 'forked [1-4][0-9]: EAGAIN$'
sandbox --cpus 0.25 -- python3 hog.py spin 1000
check "a quarter of a processor at most" percent_between 1 35 # a busy machine gives less
sandbox -- python3 hog.py fill 100
check "defaults leave room to work" got "filled 100"
sandbox -- sh -c 'ls -A /sys/fs/cgroup 2>/dev/null; cut -d: -f3 /proc/self/cgroup | sort -u'
check "inside no group is to be seen" got /
left() { find $cg/memory/wrapix."$uid" $cg/pids/wrapix."$uid" $cg/cpu/wrapix."$uid" -mindepth 1 -type d; }
nothing_left() {
	left >"$tmp/left"
	cat "$tmp/left"
	[ ! -s "$tmp/left" ]
}
check "nothing is left" nothing_left

echo "# a sandbox that may mount"
# shellcheck disable=SC2016 # expands there
attack='mkdir -p /tmp/m && mount -t cgroup -o pids none /tmp/m && { echo max >/tmp/m/pids.max; mkdir /tmp/m/x; echo $$ >/tmp/m/x/tasks; }
	exec python3 hog.py bomb 200'
# The control: the same attempt in a group whose limit lies at its namespace's root.
(as_user unshare -rm sh -c "mkdir $cg/pids/wrapix.$uid/control && cd $cg/pids/wrapix.$uid/control && echo 50 >pids.max && echo \$\$ >tasks && \
	cd '$project' && exec unshare -C sh -c '$attack'") >"$tmp/log/out" 2>"$tmp/log/err"
rc=$?
out=$(cat "$tmp/log/out")
check "control: it lifts a limit that it can reach" got "forked 200: no limit"
find "$cg/pids/wrapix.$uid/control" -depth -type d -exec rmdir {} + 2>/dev/null
# Without a cgroup namespace of its own it has even less to mount.
sandbox --allow-nested --pids 50 -- sh -c "unshare -rmC true && ns=C; exec unshare -rm\$ns sh -c '$attack'"
check "with --allow-nested it reaches none" stopped_near_50
check "and what it made is removed" nothing_left

echo "# after kill -9"
mkfifo "$project/alive" && chown "$test_user" "$project/alive"
# shellcheck disable=SC2016 # expands there
(as_user sh -c 'echo $$ >"$HOME/pid"; exec "$@"' sh \
	"$wrapix" run --network none -- sh -c 'echo up >alive; exec sleep 300') 2>/dev/null &
word=$(timeout 120 head -n 1 "$project/alive")
check "a sandbox is up" test "$word" = up
check "with a group of its own" test -n "$(left)"
procs=$(left | sed 's|$|/cgroup.procs|' | xargs cat | sort -u)
kill -9 "$(cat "$tmp/home/pid")"
# Inside dies with wrapix: its processes' directories in /proc go.
gone() { for p in $procs; do [ ! -e "/proc/$p" ] || return 1; done; }
check "kill -9 of wrapix kills what is inside" await gone
sandbox -- true
check "the next start works" exited 0
check "and removes what the killed one left" nothing_left

finish
