#!/bin/sh
# SPDX-License-Identifier: MIT
# The git that moves ralph's branch, killed itself at calls that write, alone or with ralph: what it locked is taken away by the next
# loop, and nobody else's lock is. RALPH_POINTS=all: at each of its calls, else at two. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # $1 in eval; the library and its variables; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
inject=${INJECT:-$top/build/tests/crash/inject}
need_user
[ "$(id -u)" != 0 ] || {
	HOME=$(getent passwd "$test_user" | cut -d: -f6)
	export HOME
	cd / || exit 1
	clean_env INJECT="$inject" RALPH_POINTS="${RALPH_POINTS-}" setpriv --reuid "$test_user" --regid "$test_user" --init-groups "$here/${0##*/}"
	exit
}
set_up
. "$top/tests/lib/ralph.sh"

# In front of git: 'update-ref' is killed at its call POINT, when $tmp/point says so: once.
mkdir "$tmp/bin" || exit 1
cat >"$tmp/bin/git" <<EOF
#!/bin/sh
case "\$*" in *update-ref*) [ ! -e "\${PWD%/*}/point" ] || { read -r who call <"\${PWD%/*}/point" && rm "\${PWD%/*}/point"; } ;; esac
[ -n "\${call-}" ] || exec $(command -v git) "\$@"
"$inject" -o "$tmp/log/hit" -p git all "\$call" $(command -v git) "\$@"
[ "\$who" = alone ] || kill -9 "\$PPID"
kill -9 \$\$
EOF
chmod +x "$tmp/bin/git"
locks() { find .git -name '*.lock' -o -name '*.ralph*' | sort | xargs; }
killed() { # killed WHO CALL: in a loop with one task
	task "task $1 $2" "sh: echo $1 $2 >>shared.txt"
	echo "$1 $2" >"$tmp/point"
	PATH=$tmp/bin:$PATH rx loop
}
whole() { # whole LINES: each task is done, once
	is "$(wc -l <shared.txt | xargs) $(git log --format=%b | grep -c '^Ralph-Item: ')" "$1 $1" && is "$(locks)" "" && is "$(json .done)" "$1" &&
		is "$(git status --short | grep -v '\.wrapix/')" "" && git fsck --strict --no-dangling
}

# --- a lock of the user's, for as long as it is waited for: meanwhile the rest ---
new_project theirs
killed both 1
printf 'somebody\n' >.git/refs/heads/main.lock
touch -d '1 hour ago' .git/refs/heads/main.lock
check "killed before it locks anything, and then somebody else does" is "$(cut -d' ' -f2 "$tmp/log/hit") $(locks)" "openat .git/refs/heads/main.lock"
timeout -s KILL 150 "$ralph" loop >"$tmp/log/theirs" 2>&1 </dev/null &
started=$!

# --- ours ---
new_project ours
killed both 1000
calls=$(cut -d' ' -f1 "$tmp/log/hit")
rx loop
check "a branch moves ($calls calls)" eval 'is "$rc" 0 && whole 1'
case ${RALPH_POINTS-} in
all) points=$(seq 1 "$calls") ;;
*) points="3 $calls" ;;
esac
lines=1
for call in $points; do
	for who in alone both; do
		lines=$((lines + 1))
		killed $who "$call"
		seen=$(locks)
		[ $who = alone ] || rx loop
		check "killed at call $call, $who ($(cut -d' ' -f2 "$tmp/log/hit"); left${seen:+ $seen}): all is done" eval 'is "$rc" 0 && whole "$lines"'
	done
done

# --- theirs, again ---
cd "$tmp/theirs" || exit 1
wait "$started"
rc=$? started=
check "the user's lock stays" eval 'is "$rc" 1 && is "$(cat .git/refs/heads/main.lock)" somebody'
check "... and is named" eval 'has "$tmp/log/theirs" "main.lock'"'"' is there, of another git that works or that was killed" && has "$tmp/log/theirs" "remove it when no git runs"'
rm .git/refs/heads/main.lock
rx loop
check "... and then the loop goes on" eval 'is "$rc" 0 && whole 1'
finish
