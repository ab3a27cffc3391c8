#!/bin/sh
# SPDX-License-Identifier: MIT
# limits_guest.sh DIR USER UID GID: the part of limits_uml.sh that runs inside, as root, under a real systemd.
# Prints 'ok - NAME' and 'not ok - NAME'; limits_uml.sh numbers them.
#
# shellcheck disable=SC2317,SC2086 # functions that check() calls by name; words
set -u
dir=$1 user=$2 uid=$3 gid=$4
cg=/sys/fs/cgroup
manager=$cg/user.slice/user-$uid.slice/user@$uid.service
cd "$dir" || exit 1

as_user() {
	env -i PATH="$PATH" HOME=/tmp USER="$user" XDG_RUNTIME_DIR="${runtime-/run/user/$uid}" \
		setpriv --reuid "$uid" --regid "$gid" --init-groups -- "$@"
}
# run WRAPPER... -- OPTION... -- CMD...: the driver behind a command that places it; sets $out, $err and $rc.
run() {
	as_user "$@" >/tmp/out 2>/tmp/err </dev/null
	rc=$?
	out=$(cat /tmp/out)
}
driver() { run ./driver run "$@"; }
check() {
	name=$1
	shift
	if "$@" >/tmp/why 2>&1; then
		echo "ok - $name"
		return
	fi
	echo "not ok - $name"
	echo "# got: ${out-} (exit ${rc-})"
	sed 's/^/# /' /tmp/why /tmp/err
}
says() { grep -F -- "$1" /tmp/err; }
got() { [ "$out" = "$1" ] && [ "$rc" = "${2-0}" ]; }
exited() { [ "$rc" = "$1" ]; }
stopped_near_50() {
	forked=$(expr "$out" : 'forked \([0-9]*\): EAGAIN$') && [ "$forked" -ge 40 ] && [ "$forked" -lt 50 ]
}
percent_between() {
	p=$(expr "$out" : 'percent \([0-9]*\)$') && [ "$p" -ge "$1" ] && [ "$p" -le "$2" ]
}
nothing_left() {
	for _ in $(seq 600); do
		[ -n "$(find $cg -name 'wrapix-*')" ] || return 0
		sleep 0.1
	done
	find $cg -name 'wrapix-*'
	return 1
}

# hold WRAPPER...: a sandbox that is there until hold_kill; $group is its directory.
hold() {
	rm -f /tmp/alive && mkfifo -m 666 /tmp/alive
	# shellcheck disable=SC2016 # expands there
	as_user sh -c 'echo $$ >/tmp/pid; exec "$@"' sh "$@" -- sh -c 'echo up >/tmp/alive; exec sleep 1000' 2>/dev/null &
	timeout 120 head -n 1 /tmp/alive >/dev/null
	group=$(find $cg -name 'wrapix-*' | head -n 1)
}

: >/tmp/pid
mkdir /tmp/project /tmp/home
chown "$uid" /tmp/pid /tmp/project /tmp/home
session() { (cd /tmp/project && as_user env HOME=/tmp/home "$dir/wrapix" run --network none "$@" </dev/null >/tmp/out 2>/tmp/err; rc=$?; as_user env HOME=/tmp/home "$dir/wrapix" log --json >/tmp/events; exit $rc); rc=$? out=$(cat /tmp/out); }
told() { grep -F "\"what\":\"limit\",\"reason\":\"$1\"" /tmp/events | grep -vF '"predicted":true,"fix"' | grep -F -- "${2-}" || { sed 's/^/# /' /tmp/events; false; }; } # its process may be likely only
hog='dd if=/dev/zero of=/dev/null bs=100M count=1' bomb='while :; do sleep 1000 & done' # python3 takes seconds to start here

echo "# no manager for the user"
driver --verbose --memory 64M -- true
check "rlimits, and it says so" says "each process on its own (RLIMIT_DATA)"
check "the fix is named" says "sudo loginctl enable-linger $uid"
loginctl enable-linger "$uid"
systemctl start user@"$uid".service # the same job, which enable-linger does not wait for

echo "# from a login's group: a scope of systemd's"
driver --verbose -- true
check "a default is not worth a scope" says "memory: not limited (a limit you name would be, by a systemd scope)"
driver --verbose --patient -- true
check "in a long session it is" says ": systemd scope (whole sandbox)"
check "and the scope goes with it" nothing_left
driver --verbose --memory 64M --pids 50 --cpus 0.25 -- python3 hog.py bomb 200
check "all three are held" test "$(grep -c 'systemd scope (whole sandbox)' /tmp/err)" = 3
check "a fork bomb stops at 50" stopped_near_50
driver --memory 64M -- python3 hog.py fill 200
check "a hog is killed: 137" exited 137
driver --memory 64M -- python3 hog.py share 3 40
check "three that together have too much: some are killed, the sandbox goes on" expr "$out" : 'held [012] killed [123]$'
driver --cpus 0.25 -- python3 hog.py spin 2000
check "a quarter of a processor at most" percent_between 1 40 # a busy machine gives less
hold ./driver run --memory 64M
check "the scope is the manager's" test "${group#"$manager"}" != "$group"
check "memory is the kernel's to hold" test "$(cat "$group/memory.max") $(cat "$group/memory.swap.max")" = "67108864 0"
kill -9 "$(cat /tmp/pid)"
wait
check "kill -9 leaves neither process nor scope" nothing_left
session --memory 64M --pids 30 -- $hog
check "wrapix's own session there: memory is an event, with who it was" told memory '"argv":["dd"'
session --memory 64M --pids 30 -- sh -c "$bomb"
check "... and so are processes" told processes
session --memory 64M --pids 30 -- sh -c "PATH=\$PATH:/opt/wrapix/bin; wrapix exec -- $hog; echo \$?; wrapix exec -- sh -c '$bomb'; echo \$?"
check "in an exec inside: the session's limits" got "137
2"
check "... in its own scope: memory is an event" told memory
check "... and so are processes" told processes
check "nor a failed unit" test -z "$(as_user systemctl --user list-units --all --plain --no-legend 'wrapix*')"

echo "# from the user's own tree: a group beside ours, without D-Bus"
run systemd-run -q --user --scope ./driver run --verbose -- true
check "defaults are held" says "cgroup v2 (whole sandbox)"
run systemd-run -q --user --scope ./driver run --memory 64M -- python3 hog.py fill 200
check "a hog is killed: 137" exited 137
check "and the group knows why" says "hits 1"
run systemd-run -q --user --scope ./driver run --pids 50 -- python3 hog.py bomb 200
check "a fork bomb stops at 50" stopped_near_50
check "and the group knows why" says "hits 2"
run systemd-run -q --user --scope -p MemoryMax=64M ./driver run --verbose -- python3 hog.py fill 200
check "a limit around wrapix goes along" says "memory 64 MiB: cgroup v2 (whole sandbox)"
check "and binds" exited 137
check "nothing is left" nothing_left
hold systemd-run -q --user --scope ./driver run
check "a running sandbox has its group" test -d "$group"
as_user systemd-run -q --user --scope ./driver run 2>/tmp/err
check "a sweep leaves it alone" test -d "$group"
# systemd-run becomes the driver by exec: it is the one in /tmp/pid.
kill -9 "$(cat /tmp/pid)"
wait
swept() {
	for _ in $(seq 100); do
		as_user systemd-run -q --user --scope ./driver run
		[ -n "$(find $cg -name 'wrapix-*')" ] || return 0
	done
	return 1
}
check "after kill -9 it takes it away" swept

echo "# a directory delegated by root, without systemd's help"
runtime=/nonexistent
# The commands of cgroup_fix() for such a host, with this shell as the user's.
mkdir -p $cg/user."$uid"/shell && echo +memory +pids +cpu | tee $cg/cgroup.subtree_control $cg/user."$uid"/cgroup.subtree_control >/dev/null &&
	chown -R "$uid" $cg/user."$uid" && echo $$ >$cg/user."$uid"/shell/cgroup.procs
driver --verbose --memory 64M --pids 50 --cpus 0.25 -- python3 hog.py bomb 200
check "all three are held" test "$(grep -c 'cgroup v2 (whole sandbox)' /tmp/err)" = 3
check "a fork bomb stops at 50" stopped_near_50
driver --memory 64M -- python3 hog.py share 3 40
check "three that together have too much: some are killed, the sandbox goes on" expr "$out" : 'held [012] killed [123]$'
driver --cpus 0.25 -- python3 hog.py spin 2000
check "a quarter of a processor at most" percent_between 1 40 # a busy machine gives less
check "nothing is left" nothing_left

echo "# a group as podman's crun makes it: the limits above, the processes below"
podman=$cg/user.$uid/libpod-t.scope
mkdir -p "$podman/container" && echo 67108864 >"$podman/memory.max" && echo 30 >"$podman/pids.max" && chown -R "$uid" "$podman"
in_podman() { run sh -c "echo 0 >$podman/container/cgroup.procs && exec ./driver watch \"\$@\"" sh "$@"; }
in_podman true
check "nothing happened" says "hits 0"
in_podman sh -c "$bomb"
check "processes that were refused" says "hits 2"
echo 1 >"$podman/cgroup.kill"
in_podman $hog
check "one that was ended for want of memory" says "hits 3"
echo 1 >"$podman/cgroup.kill"
for _ in $(seq 100); do rmdir "$podman/container" "$podman" 2>/dev/null && break; sleep 0.1; done

echo "# wrapix itself there: a limit that was reached is an event, exact, of a session and of what 'wrapix exec' does in it"
rm -rf /tmp/home/.local # of the sessions before
session --memory 64M --pids 30 -- true
check "nothing is told of a session that stays below" test "$rc $(grep -c '"what":"limit"' /tmp/events)" = "0 0"
session --memory 64M --pids 30 -- sh -c "$hog; echo \$?; sh -c '$bomb'; echo \$?"
check "a hog is killed, and processes are refused" got "137
2"
check "... memory is an event" told memory
check "... and so are processes" told processes
session --memory 64M -- $hog
check "... with who it was" told memory '"argv":["dd"'
session --memory 64M --pids 30 -- sh -c "PATH=\$PATH:/opt/wrapix/bin; wrapix exec -- $hog; echo \$?; wrapix exec -- sh -c '$bomb'; echo \$?"
check "in an exec inside: the session's limits" got "137
2"
check "... memory is an event" told memory
check "... and so are processes" told processes
check "nothing is left" nothing_left

echo "# a sandbox that may mount"
# Without nsdelegate the kernel does not protect a namespace's root: the second level has to. The flags are the whole
# hierarchy's, and every mount from outside a namespace sets them.
mkdir /tmp/plain && mount -t cgroup2 cgroup2 /tmp/plain
# shellcheck disable=SC2016 # expands there
attack='mount -t cgroup2 none /mnt && { echo max >/mnt/memory.max; mkdir /mnt/x; echo $$ >/mnt/x/cgroup.procs; }
	exec python3 hog.py fill 200'
driver --memory 64M -- unshare -rmC sh -c "$attack"
check "control: it lifts a limit that it can reach" got "filled 200"
driver --memory 64M --allow-nested -- unshare -rmC sh -c "$attack"
check "with --allow-nested it reaches none" exited 137
check "and what it made is removed" nothing_left

echo "guest: the end"
