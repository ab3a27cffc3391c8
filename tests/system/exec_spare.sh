#!/bin/sh
# SPDX-License-Identifier: MIT
# The sandboxes that a server of commands begins before anybody asks: that they are used, that nothing in them is older
# than the command that gets them, and that they go. TAP.
#
# shellcheck disable=SC1091,SC2009,SC2086,SC2154,SC2317 # the library; ps with arguments; words; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
cd "$project" || exit 1
. "$top/tests/lib/server.sh"
alive() { # those of the processes that have not ended
	[ -z "$1" ] || ps -o stat=,args= $1 | grep -v '^Z'
}
are_there() { [ "$(alive "$(below "$pid")" | grep -c ' wrapix-init$')" -ge 2 ]; }
they=
are_gone() { [ -n "$they" ] && ! alive "$they"; }

start
plays spare "$pid"

# --- while they wait they are not where the server is; a command has all that its caller has ---
processors="sed -n s/^Cpus_allowed_list:.//p /proc/self/status"
ours=$($processors)
first=${ours%%[,-]*}
for i in 1 2 3; do
	check "processors, $i: the server's" is "$(python3 "$here/ask.py" "$socket" "$processors")" "$ours"
	check "... exec's" is "$("$wrapix" exec -- $processors)" "$ours"
	check "... one, where exec has one" is "$(taskset -c "$first" "$wrapix" exec -- $processors)" "$first"
done

# --- their end ---
check "two wait" await are_there
they=$(below "$pid")
kill -9 "$pid"
wait "$pid"
check "kill -9 of the server: they are gone" await are_gone
start
check "two wait again" await are_there
worker=$(ps -u "$(id -u)" -o pid=,ppid= | awk -v p="$pid" '$2 == p { print $1; exit }')
kill -9 "$worker"
check "kill -9 of a worker: another one waits, with its own" await are_there
check "... and the server goes on" answers
they=$(below "$pid")
kill "$pid"
wait "$pid"
check "SIGTERM: they are gone when the server is" are_gone

# --- a client that two workers see, of which one gets it: who sees it takes a while to take it ---
strace -f -o "$tmp/trace" -e trace=accept4 -e inject=accept4:delay_enter=200000 "$wrapix" exec --server "$socket" >"$tmp/log/server" 2>&1 </dev/null &
tracer=$!
started="$started $tracer"
lost() { answers && grep -q 'accept4.* EAGAIN' "$tmp/trace"; }
check "who did not get it does not wait for the next in accept()" await lost
pid=$(pgrep -P "$tracer")
plays seen "$pid"
kill "$pid"
wait "$tracer"

# --- mounts: a server in a place where an ordinary user may mount ---
mkdir "$tmp/place"
echo old >"$tmp/place/file"
mkdir "$tmp/place/dev"
echo zero >"$tmp/place/dev/zero"
echo other >"$tmp/place/dev/other"
touch "$tmp/place/dev/null" "$tmp/place/dev/urandom"
cat >"$tmp/mounts" <<'EOF'
mount --bind /dev/null "$3/dev/null" && mount --bind /dev/urandom "$3/dev/urandom" && mount --rbind "$3/dev" /dev || exit 1
"$WRAPIX" exec --server "$1" </dev/null >/dev/null 2>&1 &
until python3 "$2/ask.py" "$1" true 2>/dev/null; do :; done
for i in 1 2 3; do python3 "$2/ask.py" "$1" "cat $3/file /dev/zero"; done
mount -t tmpfs none "$3" && echo new >"$3/file"
for i in 1 2 3; do python3 "$2/ask.py" "$1" "cat $3/file"; done
umount "$3"
for i in 1 2 3; do python3 "$2/ask.py" "$1" "cat $3/file"; done
mv "$3/dev/other" "$3/dev/zero"
for i in 1 2 3; do python3 "$2/ask.py" "$1" "cat /dev/zero"; done
kill $!
wait $!
EOF
WRAPIX=$wrapix unshare --user --map-current-user --keep-caps --mount sh "$tmp/mounts" "$socket" "$here" "$tmp/place" >"$tmp/log/out" 2>"$tmp/log/err"
check "a mount that came, and went, a device that is another: no command sees what was" is "$(xargs <"$tmp/log/out")" \
	"old zero old zero old zero new new new old old old other other other"
finish
