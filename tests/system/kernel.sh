#!/bin/sh
# SPDX-License-Identifier: MIT
# Kernels that lack something, as far as wrapix can tell: a system call is missing (ENOSYS), or a container refuses it
# (EPERM). Either the way around it is right, or the start is refused with what would help. And Windows' subsystems.
#
# shellcheck disable=SC1091,SC2153,SC2154,SC2016 # the library; its variables; scripts for other shells
. "$(dirname -- "$0")/../lib/system.sh"

# As root: another osrelease, in a mount namespace of its own; then this script again, as the user.
wsl() { # wsl RELEASE WORD
	unshare -m --propagation private sh -c 'echo "$1" >"$2" && mount --bind "$2" /proc/sys/kernel/osrelease && shift 2 && exec "$@"' sh "$1" \
		"$wsl_file" setpriv --reuid "$test_user" --regid "$test_user" --init-groups "$here/${0##*/}" "$2"
}
if [ "$(id -u)" = 0 ] && [ $# = 0 ]; then
	need_user
	wsl_file=$(mktemp)
	chmod 644 "$wsl_file"
	cd / || exit 1
	HOME=$(getent passwd "$test_user" | cut -d: -f6)
	export HOME
	wsl1=$(wsl 4.4.0-19041-Microsoft wsl1)
	wsl2=$(wsl 5.15.153.1-microsoft-standard-WSL2 wsl2)
	rm -f "$wsl_file"
	clean_env setpriv --reuid "$test_user" --regid "$test_user" --init-groups env WSL1="$wsl1" WSL2="$wsl2" "$here/${0##*/}" as-user
	exit
fi
case ${1-} in
wsl1 | wsl2)
	set_up
	"$wrapix" run --network none -- echo ran 2>&1
	echo "status $?"
	"$wrapix" exec -- echo exec-ran 2>&1
	echo "status $?"
	"$wrapix" doctor 2>&1 | grep -E 'kernel|WSL'
	exit
	;;
esac
set_up

# --- Windows' subsystems ---

text() { case $1 in *"$2"*) ;; *) printf "no '%s' in: %s\n" "$2" "$1"; false ;; esac; }
if [ -n "${WSL1-}" ]; then
	check "WSL 1: run is refused with a sentence" text "$WSL1" 'WSL 1 has no Linux kernel'
	check "... 125, and nothing ran" text "$WSL1" 'status 125'
	check "... with what to type" text "$WSL1" 'wsl --set-version'
	check "... exec and doctor say the same" [ "$(printf '%s\n' "$WSL1" | grep -c 'WSL 1 has no')" = 3 ]
	check "... none of them ran" fails text "$WSL1" ran
	# Not that a sandbox works: what shows another release here is a mask on /proc, under which no new one can be mounted.
	check "WSL 2 is not refused for what it is" fails text "$WSL2" 'WSL 1'
	check "... doctor says what it is" text "$WSL2" 'WSL 2'
else
	skip "Windows' subsystems" "only root can show another kernel's release"
fi

# --- calls that are missing ---

without() { python3 -B "$top/tests/lib/without.py" "$@"; }
# Somebody's descriptor is open, and must not be inside.
exec 9<"$top/README.md"
inside='echo ran; for fd in /proc/self/fd/*; do case ${fd##*/} in 0 | 1 | 2 | 3) ;; *) echo "open: $fd" ;; esac; done'
commands='echo x >f && chmod 600 f && mv f g && cat g && rm g'

works() { # works CALLS
	without "$1" "$wrapix" run --network none -- sh -c "$inside" >"$tmp/log/out" 2>"$tmp/log/err" </dev/null
	check "without $1: run works, and nothing is left open inside" is "$?:$(cat "$tmp/log/out")" 0:ran
	without "$1" timeout 60 "$wrapix" exec -- sh -c "$commands" >"$tmp/log/out" 2>"$tmp/log/err" </dev/null
	check "... exec, too" is "$?:$(cat "$tmp/log/out")" 0:x
}
refused() { # refused CALLS [HINT]
	without "$1" "$wrapix" run --network none -- echo ran >"$tmp/log/out" 2>"$tmp/log/err" </dev/null
	check "without $1: run is refused" is "$?:$(cat "$tmp/log/out")" 125:
	check "... with a hint" grep -q "^hint: .*${2-Linux 5.12 or newer}" "$tmp/log/err"
	without "$1" timeout 60 "$wrapix" exec -- echo ran >"$tmp/log/out" 2>"$tmp/log/err" </dev/null
	check "... exec is, too" is "$?:$(cat "$tmp/log/out")" 125:
	check "... with a hint" grep -q "^hint: " "$tmp/log/err"
}

"$wrapix" run --network none -- sh -c "$inside" >"$tmp/log/out" 2>"$tmp/log/err"
check "control: with all of them" is "$?:$(cat "$tmp/log/out")" 0:ran
check "control: the descriptor is seen outside" sh -c "$inside; [ -e /proc/self/fd/9 ]"
made='import os; os.memfd_create("x")'
check "control: a call is there" python3 -c "$made"
check "... and is missing" fails without memfd_create python3 -c "$made"
for calls in close_range close_range=EPERM pidfd_open pidfd_send_signal pidfd_getfd faccessat2 fchmodat2 statx memfd_create renameat2 \
	copy_file_range keyctl keyctl=EPERM name_to_handle_at statmount,listmount \
	landlock_create_ruleset,landlock_add_rule,landlock_restrict_self; do
	works $calls
done
without landlock_create_ruleset "$wrapix" run --network none -- true 2>"$tmp/log/err"
check "without Landlock: it is said" has "$tmp/log/err" 'file rules stand on the mounts alone'
for calls in openat2 mount_setattr open_tree move_mount fsopen fsmount; do
	refused $calls
done
refused clone3 'user namespaces'
refused seccomp ''

# Before Linux 5.14 a supervisor could not answer with a descriptor: who decides by name opens in the command's place.
no_answer() { # no_answer ERRNO COMMAND...
	no_answer=$1
	shift
	without "addfd=$no_answer" timeout 60 "$wrapix" "$@" -- sh -c 'echo ran; echo x >made' >"$tmp/log/out" 2>"$tmp/log/err" </dev/null
	check "without an answer by descriptor ($no_answer): $* is refused" is "$?:$(cat "$tmp/log/out")" 125:
	check "... says why, and what would help" sh -c 'grep -q "cannot open files for a command" "$1" && grep -q "^hint: .*Linux 5.14" "$1"' sh "$tmp/log/err"
	check "... and nothing was made" absent made
}
for error in EINVAL ENOSYS; do
	no_answer $error exec
	no_answer $error run --network none --protect build=ro --git private
done
without addfd "$wrapix" run --network none --workspace cow -- echo ran >"$tmp/log/out" 2>"$tmp/log/err" </dev/null
check "... a session whose changes are kept apart works" is "$?:$(cat "$tmp/log/out")" 0:ran

# What is worked around must hold as well.
for calls in close_range,pidfd_open,pidfd_getfd,statx landlock_create_ruleset,landlock_add_rule,landlock_restrict_self; do
	without $calls "$wrapix" selftest >"$tmp/log/out" 2>"$tmp/log/err" </dev/null
	check "selftest without $calls: nothing escapes" is "$?" 0
	check "... and it was tried" grep -qE '^[23][0-9][0-9] attempts were stopped' "$tmp/log/out"
done
finish
