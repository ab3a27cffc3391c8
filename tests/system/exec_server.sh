#!/bin/sh
# SPDX-License-Identifier: MIT
# wrapix exec --server: commands for programs in other languages, over a UNIX socket. server.py is such a program; its
# points become points here. Slow clients are exec_server_slow.sh's. Prints TAP.
#
# shellcheck disable=SC1091,SC2009,SC2016,SC2154,SC2317 # the library; ps with arguments; scripts for the shell inside;
# functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
cd "$project" || exit 1
. "$top/tests/lib/server.sh"
mark=71000.$$
stop() { # stop SIGNAL: leaves $rc
	kill -"$1" "$pid"
	wait "$pid"
	rc=$?
}
children() { ps -u "$(id -u)" -o ppid=,args= | awk -v p="$pid" '$1 == p'; }
is_refused() { # by the rule for UNIX sockets, and, where that is off, by the server itself
	python3 "$here/ask.py" "$socket" "python3 $here/ask.py $socket true" 2>"$tmp/log/err" && return 1
	echo '{"network":{"allowedDomains":[],"deniedDomains":[],"allowAllUnixSockets":true},"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]}}' >"$tmp/all.json"
	"$wrapix" exec -s "$tmp/all.json" -- python3 -B "$here/ask.py" "$socket" true
	[ $? = 125 ]
}
of_server() { ps -u "$(id -u)" -o args= | grep "[e]xec --server $socket"; }

start
check "the socket is the user's alone" is "$(stat -c %a "$socket")" 1600
for part in answers settings descriptors updates life; do
	plays "$part" "$mark" "$part: "
done

# --- who may ask ---
check "a command of the server's does not reach it" is_refused
# In the project, where its commands write: not this name, for the next client would be theirs.
near=$project/near/socket
mkdir "$project/near"
ln -s near to-near
mkdir near/up
"$wrapix" exec --server to-near/up/../socket 2>"$tmp/log/err" &
await test -S "$near"
for what in 'rm near/socket' 'mv near/socket near/other' 'chmod 600 near/socket' 'mv near away' 'ln near/socket near/other' 'touch near/fresh && mv near/fresh near/socket'; do
	check "its socket is not for commands to change: $what" fails python3 "$here/ask.py" "$near" "$what"
done
# Nor what leads there: a link, and a directory that '..' goes up from.
for what in 'rm to-near' 'ln -sfn away to-near' 'mv to-near away' 'rmdir near/up; ln -s .. near/up'; do
	mkdir -p near/up
	check "... nor what leads to it: $what" fails python3 "$here/ask.py" "$near" "$what"
done
check "... what is beside it is" python3 "$here/ask.py" "$near" 'touch near/beside && rm near/beside'
check "... it is as it was" is "$(stat -c %a "$near")" 1600
# The user may have it lead elsewhere.
ln -sfn .. to-near
kill $!
wait $!
check "... and it is removed where it was" fails test -e "$near"
rm to-near
# Settings of its own command line, by a name from where it was started.
echo '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":["/"],"denyWrite":["denied"]}}' >near/s.json
mkdir elsewhere near/denied elsewhere/denied
(cd near && exec "$wrapix" exec --server socket -s s.json 2>"$tmp/log/err") &
await test -S "$near"
cd elsewhere || exit 1
check "settings of the server's count wherever its client is" fails python3 "$here/ask.py" "$near" 'touch ok && touch denied/x'
check "... and are not looked for there" exists ok
check "... nor are they the command's" fails python3 "$here/ask.py" "$near" 'echo x >../near/s.json'
cd ..
kill $!
wait $!
rm -r elsewhere near
"$wrapix" exec --server "$socket" >"$tmp/log/out" 2>"$tmp/log/err"
check "a second server: refused" is $? 125
check "... in one clear line" has "$tmp/log/err" "listens on '$socket' already"
check "... and the first one goes on" answers
echo file >"$tmp/file"
"$wrapix" exec --server "$tmp/file" >"$tmp/log/out" 2>"$tmp/log/err"
check "in the place of a file: refused" is "$? $(cat "$tmp/file")" "125 file"
"$wrapix" exec --server "$socket" -- true >"$tmp/log/out" 2>"$tmp/log/err"
check "a server with a command: usage" is $? 2

# --- its end ---
python3 "$here/ask.py" "$socket" "exec sleep $mark" >/dev/null 2>&1 &
await marked
stop TERM
check "SIGTERM: it ends well" is "$rc" 0
check "... its commands with it" await is_empty marked
check "... and nothing is left" is "$(find "$tmp" -maxdepth 1 -name 'socket*')" ""
start
python3 "$here/ask.py" "$socket" "exec sleep $mark" >/dev/null 2>&1 &
await marked
stop KILL
check "kill -9: its commands end" await is_empty marked
check "... and every process of its" await is_empty of_server
check "... the socket stays" [ -S "$socket" ]
start
check "... and the next server takes its place" answers
check "workers wait for clients" await eval '! is_empty children'
begun() { for w in $(pgrep -P "$pid"); do pgrep -P "$w"; done | wc -l; }
limit() { for p in "$pid" $(pgrep -P "$pid"); do prlimit --pid "$p" --nofile="$1":; done; }
await eval 'is "$(pgrep -P "$pid" | wc -l) $(begun)" "2 2"'
waiting=$(pgrep -P "$pid" | xargs)
limit 3
python3 "$here/ask.py" "$socket" true &
client=$!
check "without a descriptor for a client they let go of what they have" await eval 'is "$(begun)" 0'
check "... and are not replaced by others without one" is "$(pgrep -P "$pid" | xargs)" "$waiting"
limit 1024
wait "$client"
check "... who waits is heard when there is one again" is $? 0
stop INT
"$wrapix" exec --server "$socket" <&- >&- 2>&- &
pid=$!
started="$started $pid"
await answers
check "a server without descriptors of its own: commands have theirs" is "$(echo in | python3 "$here/ask.py" "$socket" 'cat; echo err >&2' 2>&1 | xargs)" "in err"
stop INT
check "SIGINT: the socket is gone" [ ! -e "$socket" ]
finish
