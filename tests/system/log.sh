#!/bin/sh
# SPDX-License-Identifier: MIT
# The event log and 'wrapix log': who talked to whom, what was refused, while a session runs and after. Prints TAP.
#
# The test runs in a user and network namespace of its own, in which a second network namespace is the world outside:
# one server at a public address, and a name for it. So connections can be allowed without any packet leaving.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
[ -n "${LOG_WORLD-}" ] ||
	LOG_WORLD=1 exec unshare --user --map-current-user --net --mount --keep-caps -- "$here/${0##*/}"
set_up
export TZ=UTC
logs=$state/log
secret=hunter2hunter2

# --- the world ---
PATH=$PATH:/usr/sbin:/sbin
mkfifo "$tmp/ready"
cat >"$tmp/server.py" <<'END'
# Takes 5 bytes, gives 1000. Says when it listens.
import socket, sys
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("0.0.0.0", 7000))
s.listen(8)
open(sys.argv[1], "w").write("ready\n")
while True:
    c, _ = s.accept()
    if c.recv(5, socket.MSG_WAITALL) == b"hello":
        c.sendall(b"x" * 1000)
    c.close()
END
unshare --net python3 "$tmp/server.py" "$tmp/ready" &
world=$!
started=$world
hear "$tmp/ready"
in_world() { nsenter --net="/proc/$world/ns/net" "$@"; }
printf '127.0.0.1 localhost\n11.22.33.44 ok.example\n' >"$tmp/hosts"
printf 'hosts: files\n' >"$tmp/nsswitch"
{
	ip link set lo up && ip link add w0 type veth peer name w1 netns "$world" &&
		ip address add 11.22.33.1/24 dev w0 && ip link set w0 up &&
		in_world ip address add 11.22.33.44/24 dev w1 && in_world ip link set w1 up &&
		mount --bind "$tmp/hosts" /etc/hosts && mount --bind "$tmp/nsswitch" /etc/nsswitch.conf
} || bail "the world cannot be made"
# From here on without the rights that made it.
printf '#!/bin/sh\nexec setpriv --inh-caps=-all --ambient-caps=-all -- "%s" "$@"\n' "$wrapix" >"$tmp/wrapix"
chmod +x "$tmp/wrapix"
wrapix=$tmp/wrapix

cat >"$project/talk.py" <<'END'
# talk.py HOST PORT: says hello and counts what comes back.
import socket, sys
s = socket.create_connection((sys.argv[1], int(sys.argv[2])))
s.sendall(b"hello")
n = 0
while True:
    b = s.recv(4096)
    if not b:
        break
    n += len(b)
print(n)
END
cat >"$project/send.py" <<'END'
# A datagram, and time for the supervisor to ask whose it was: two answers from it that come after.
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b"x", ("8.8.8.8", 123))
for i in range(2):
    socket.getaddrinfo("ok.example", 7000)
END
# A question that waits is not asked again.
filtered() { wx run --network filtered --env RES_OPTIONS=timeout:30 --allow ok.example:7000 "$@"; }
count_logs() { find "$logs" -name '*.jsonl' 2>/dev/null | wc -l; }
# Every line of standard output is a JSON object; the expression (in Python) is true for what they are, a list.
json() {
	python3 -c '
import json, sys
e = [json.loads(line) for line in open(sys.argv[1])]
deny = [x for x in e if x.get("type") == "deny"] # the same in the next second is a line of its own
conn = [x for x in e if x.get("type") == "connection"]
if not eval("(" + sys.argv[2] + ")"):
    print("not so: " + sys.argv[2])
    print(json.dumps(e, indent=1))
    sys.exit(1)' "$out" "$1"
}

# --- nothing to show ---
wx log
check "no logs: that is no error" is "$rc" 0
check "... and is said" has "$err" "no session has recorded anything yet"
check "... on standard error" empty "$out"
wx log --json
check "... nor with --json" empty "$out"
wx log nowhere
check "a session that nobody knows: 2" refused 2 "there is no session 'nowhere'"
wx log ../../x
check "... nor is a path one" refused 2 "../../x"
filtered -- true
check "a run in which nothing happens" ended 0
check "... leaves no log" absent "$logs"
wx run --network none -- true
check "... nor without a network" absent "$logs"

# --- a session with everything ---
filtered --name site --env "TOKEN=$secret" -- sh -c '
	python3 talk.py ok.example 7000
	python3 talk.py evil.example 443 2>/dev/null
	python3 talk.py 9.9.9.9 80 2>/dev/null
	python3 talk.py ok.example 22 2>/dev/null
	python3 talk.py 2001:db8::1 99 2>/dev/null
	python3 send.py
	exit 7'
check "allowed and denied hosts: the command's own status" is "$rc" 7
check "... the allowed one was reached" is "$(cat "$out")" 1000
check "... one log" is "$(count_logs)" 1
log=$(echo "$logs"/*.jsonl)
id=$(basename "$log" .jsonl)
check "... whose session the summary names" has "$err" "'wrapix log --violations $id'"
check "... for nobody else's eyes" is "$(stat -c %a "$log")$(stat -c %a "$logs")" 600700
check "... without the value of a variable" lacks "$log" "$secret"
wx log --json
check "wrapix log --json" ended 0
check "... is the file" cmp "$log" "$out"
check "... begins with the session" json \
	"e[0]['v'] == 1 and e[0]['id'] == '$id' and e[0]['name'] == 'site' and e[0]['dir'] == '$project' and e[0]['command'].startswith('sh -c')"
check "... the connection: who, where, how much" json \
	"len(conn) == 1 and conn[0]['name'] == 'ok.example' and conn[0]['address'] == '11.22.33.44' and conn[0]['port'] == 7000 and
	conn[0]['rule'] == 'ok.example:7000' and conn[0]['sent'] == 5 and conn[0]['received'] == 1000 and 0 <= conn[0]['seconds'] < 60"
check "... and which program, as it is called inside" json \
	"conn[0]['process']['argv'] == ['python3', 'talk.py', 'ok.example', '7000'] and 1 < conn[0]['process']['pid'] < 100"
check "... a name that is not allowed" json \
	"sum(x.get('count', 1) for x in deny if x['what'] == 'lookup' and x['name'] == 'evil.example' and x['reason'] == 'not-allowed' and
	x['process']['argv'][2] == 'evil.example' and 'port' not in x) == 2"
check "... an address" json \
	"{x['port'] for x in deny if x['what'] == 'connect' and x.get('address') == '9.9.9.9' and x['reason'] == 'direct-ip' and
	x['process']['argv'][2] == '9.9.9.9' and 'name' not in x} == {80}"
check "... of IPv6" json \
	"{x['port'] for x in deny if x.get('address') == '2001:db8::1' and x['process']['argv'][2] == '2001:db8::1'} == {99}"
check "... another port" json \
	"{x['reason'] for x in deny if x.get('name') == 'ok.example' and x['port'] == 22 and x['process']['argv'][3] == '22'} == {'port'}"
check "... UDP" json \
	"[x['address'] for x in deny if x['what'] == 'send' and x['port'] == 123 and x['process']['argv'][1] == 'send.py'] == ['8.8.8.8']"
check "... and at last the end" json "e[-1]['type'] == 'exit' and e[-1]['status'] == 7"
check "... each with its time, in order but for those that were counted first" json \
	"all(a['t'] <= b['t'] or b['type'] == 'deny' for a, b in zip(e[1:], e[2:])) and all(len(x['t']) == 24 for x in e[1:]) and
	[x['t'] for x in deny] == sorted(x['t'] for x in deny)"
wx log --json --denied "$id"
check "--denied: only that" json "len(e) == 1 + len(deny) and len({(x.get('name'), x.get('address'), x.get('port')) for x in deny}) == 5"
wx log site
check "as text: by name" ended 0
check "... a head" grep -qE "^session $id \(site\) in $project, started 20[0-9-]+ [0-9:]+: sh -c" "$out"
check "... titles" grep -qE '^TIME +WHAT +RESULT +SENT +RECEIVED +SECONDS +PROCESS$' "$out"
check "... the connection" grep -qE '^20[0-9-]+ [0-9:]+  ok\.example:7000 +ok +5 +1000 +[0-9.]+  [0-9]+ python3 talk.py ok.example 7000$' "$out"
check "... a denial" grep -qE '^20[0-9-]+ [0-9:]+  evil\.example +not-allowed( x2)? +[0-9]+ python3 talk.py evil.example 443$' "$out"
check "... IPv6" has "$out" "[2001:db8::1]:99"
check "... the end" has "$out" "ended with status 7"
check "... in columns" is "$(grep -cE '^20.{17}  .{35}  ?[a-z]' "$out")" "$(grep '^20' "$out" | grep -vc 'ended with')"
check "... and nothing that a terminal obeys" printable "$out"

# --- hostile ---
esc=$(printf '\033')
filtered --name hostile -- python3 -c '
import socket, sys
s = socket.socket()
try: s.connect(("9.9.9.9", 80))
except OSError: pass
q = b"\0\1\1\0\0\1\0\0\0\0\0\0\5a\x1b[2J\3x\ny\7example\0\0\1\0\1"
d = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
d.sendto(q, ("8.8.8.8", 53))
d.recv(512)' "$esc]0;title" "$(printf '\342\200\256\n{"t":1}')"
check "hostile names and arguments" is "$rc" 0
wx log hostile
check "... cannot reach the terminal" printable "$out"
check "... and are shown" has "$out" '\x0aimport socket'
check "... each event in a line" lines "$out" 5
wx log --json hostile
check "... nor as JSON" printable "$out"
check "... which is what it was" json \
	"deny[0]['process']['argv'][-1] == chr(0x202e) + chr(10) + '{\"t\":1}' and deny[0]['process']['argv'][-2] == chr(27) + ']0;title'"

# --- the other ways to catch connections: what they can tell ---
for tier in static ports; do
	filtered --name by-$tier --filter-tier $tier -- sh -c '
		python3 talk.py ok.example 7000
		python3 talk.py evil.example 443 2>/dev/null
		python3 talk.py 9.9.9.9 7000 2>/dev/null
		python3 talk.py ok.example 22 2>/dev/null
		python3 send.py'
	wx log --json by-$tier
	check "$tier: the connection, and whose it was" json \
		"[(x['name'], x['address'], x['port'], x['sent'], x['received'], x['process']['argv'][1]) for x in conn] == [('ok.example', '11.22.33.44', 7000, 5, 1000, 'talk.py')]"
	check "... a name" json "{x['process']['argv'][2] for x in deny if x.get('name') == 'evil.example'} == {'evil.example'}"
	check "... an address" json "{x['reason'] for x in deny if x.get('address') == '9.9.9.9'} == {'direct-ip'}"
	# The kernel itself refuses what nobody listens for, without a word.
	[ $tier = ports ] || check "... another port, and UDP" json "{x['reason'] for x in deny if x.get('port') in (22, 123)} == {'port', 'udp'}"
done

# --- one line a name and second ---
filtered --name often -- python3 -c '
import socket
for i in range(300):
    try: socket.getaddrinfo("evil.example", 443)
    except socket.gaierror: pass'
wx log --json often
check "a name that is asked for again and again: a line a second" json "len(deny) == len({x['t'][:19] for x in deny}) < 300"
check "... and every question counted" json "sum(x.get('count', 1) for x in deny) == 600"

# --- a flood ---
filtered --name flood -- python3 -c '
import socket
for i in range(3000):
    s = socket.socket()
    try: s.connect(("9.9.9.9", 80))
    except ConnectionRefusedError: pass
    s.close()'
check "a flood of denials" is "$rc" 0
wx log --json flood
# A connection that waits for more than a second is tried again by the kernel.
check "... is counted" json "3000 <= sum(x.get('count', 1) for x in deny) < 3100"
check "... not written line by line, but each second" json "len(deny) == len({x['t'][:19] for x in deny}) < 1000"
wx log flood
check "... also as text" grep -qE '^20[0-9-]+ [0-9:]+  9\.9\.9\.9:80 +direct-ip x[0-9]+ +[0-9]+ python3' "$out"

# --- which session ---
mkdir "$tmp/other"
(cd "$tmp/other" && "$wrapix" run --network filtered --name site -- getent hosts other.example 2>/dev/null)
wx log --json site
check "of two of a name: the newest" json "e[0]['dir'] == '$tmp/other'"
wx log --json "$id"
check "... the other by its id" json "e[0]['dir'] == '$project'"
wx log --json
check "without a name: the newest of this directory" json "e[0]['name'] == 'flood'"
cd "$home" || exit 1
wx log --json
check "... else the newest of all" json "e[0]['dir'] == '$tmp/other'"
cd "$project" || exit 1

# --- following ---
mkfifo "$project/go" "$project/here"
shows() { grep -qE "^20[0-9-]+ [0-9:]+  $2 " "$1"; } # as an event: the head has the command, and so all names
background() { # background NAME SCRIPT: runs it, and waits until it is inside
	"$wrapix" run --network filtered --name "$1" -- sh -c "exec 3<>go; echo x >here; $2" >"$tmp/log/bg" 2>&1 &
	session=$!
	started="$started $session"
	hear "$project/here"
	await listed "$1" # which is done while the command runs
}
watches() { readlink "/proc/$1/fd/"* 2>/dev/null | grep -q inotify; }
listed() { "$wrapix" ps | grep -qF " $1 "; }
follows() { # follows ARG...: wrapix log -f in the background
	"$wrapix" log -f "$@" >"$tmp/log/follow" 2>"$tmp/log/follow.err" &
	follower=$!
	started="$started $follower"
	await watches "$follower"
}
# A process that ended and was not waited for still has a number.
gone() { ! grep -q '^State:.[^Z]' "/proc/$1/status" 2>/dev/null; }
ends() { # ends PID STATUS: within 20 seconds
	await gone "$1" || return 1
	wait "$1"
	is $? "$2"
}

background live 'read -r x <&3; getent hosts one.example; read -r x <&3; getent hosts two.example; read -r x <&3; exit 3'
wx log live
check "a session without events: nothing yet" is "$rc" 0
check "... is said" has "$err" "this session has recorded nothing yet"
follows live
tell "$project/go"
check "-f waits for the first event" await shows "$tmp/log/follow" one.example
check "... whose head comes first" grep -q '^session .* (live)' "$tmp/log/follow"
check "... while it lives" lacks "$tmp/log/follow" "ended with"
wx log live
check "who does not follow is not kept" shows "$out" one.example
"$wrapix" allow live three.example >/dev/null 2>&1
check "a rule that is added is an event" await has "$tmp/log/follow" "from now on: allow three.example"
check "... the second event is none yet" fails shows "$tmp/log/follow" two.example
tell "$project/go"
check "-f goes on" await shows "$tmp/log/follow" two.example
tell "$project/go"
check "-f ends with the session" ends "$follower" 0
check "... whose end it shows" has "$tmp/log/follow" "ended with status 3"
check "... without a word of its own" empty "$tmp/log/follow.err"
wait "$session"
wx log -f live
check "-f of one that has ended: all, at once" has "$out" "ended with status 3"

background quiet 'read -r x <&3; exit 0'
follows quiet
tell "$project/go"
check "-f of one that ends without an event" ends "$follower" 0
check "... shows nothing" empty "$tmp/log/follow"

background hasty 'read -r x <&3; getent hosts one.example'
follows hasty
tell "$project/go"
check "-f of one that ends with its first event" ends "$follower" 0
check "... shows that, and the end" is "$(grep -oE ' one.example  |ended with status' "$tmp/log/follow" | sort -u | wc -l)" 2

background killed 'getent hosts one.example; read -r x <&3'
follows --json killed
check "a session about to be killed" await has "$tmp/log/follow" '"name":"one.example"'
kill -9 "$session"
check "kill -9: -f ends too" ends "$follower" 0
wait "$session" 2>/dev/null
wx log --json killed
check "... and the log is whole up to there" json "deny[-1]['name'] == 'one.example' and e[-1]['type'] != 'exit'"
check "... without a word" ended 0

# --- damage ---
printf '{"t":"2026-11-15T12:00:00.000Z","type":"deny","na' >>"$logs/$id.jsonl"
wx log --json "$id"
check "a line cut short: the rest is there" json "e[-1]['type'] == 'exit' and len(conn) == 1"
check "... and one is missed" has "$err" "the log of '$id' is damaged: 1 line was skipped"
head -c 300000 /dev/urandom >"$logs/noise.jsonl"
wx log noise
check "noise is no log" is "$rc" 0
check "... and shows nothing" empty "$out"
rm "$logs/noise.jsonl"
ln -s /etc/passwd "$logs/alink.jsonl"
wx log alink
check "a link is no log" refused 2 alink
rm "$logs/alink.jsonl"

# --- what is kept ---
i=0
while [ $i -lt 120 ]; do
	echo old >"$logs/old$i.jsonl"
	touch -d "2001-01-01 00:00:$((i % 60))" "$logs/old$i.jsonl"
	i=$((i + 1))
done
wx run --network none -- true
check "where nothing happens nothing is removed" [ "$(count_logs)" -gt 120 ]
filtered --name last -- getent hosts one.example
check "a new log: the latest hundred are kept" is "$(count_logs)" 100
check "... the new one with them" exists "$logs/$(basename "$(grep -l '"name":"last"' "$logs"/*)")"
check "... and the real ones" exists "$logs/$id.jsonl"

# --- no place for it ---
rm -rf "$logs"
echo file >"$logs"
filtered -- sh -c 'getent hosts one.example; getent hosts two.example; exit 5'
check "without a place for a log the command runs all the same" is "$rc" 5
check "... that is said" has "$err" "'wrapix log' will not show all of this session"
check "... once" is "$(grep -c 'will not show' "$err")" 1
check "... and the summary promises no log" lacks "$err" "log --violations"
wx log
check "wrapix log says why" refused 125 "$logs"

# --- no room for it ---
rm -rf "$logs"
full() { # full SCRIPT: in a home that is full
	unshare --user --map-current-user --mount --keep-caps sh -c 'mount -t tmpfs -o size=200k x "$HOME" || exit
		dd if=/dev/zero of="$HOME/fill" bs=1k 2>/dev/null; cd "$1" && exec setpriv --inh-caps=-all --ambient-caps=-all sh -c "$3" sh "$2"' sh "$project" "$wrapix" "$1" >"$out" 2>"$err"
	rc=$?
}
full '"$1" run --network filtered -- getent hosts one.example; "$1" exec -- touch "$HOME/x"; ls "$HOME/.local/state/wrapix/log"'
check "on a full disk a log is said to be missing" has "$err" "'wrapix log' will not show all of this session: writing its log: No space left"
check "... and is not promised" sh -c 'grep -q "^wrapix: refused writing" "$1" && ! grep -q "log --violations\|null" "$1"' sh "$err"
check "... and no empty one is left" empty "$out"
full '"$1" exec -- sh -c "touch $HOME/x; touch $HOME/y; echo ran"'
check "... once for a single command, which runs" is "$(cat "$out") $(grep -c "^wrapix: warning: 'wrapix log' will not show all of this session: writing its log: No space left" "$err")" "ran 1"
mkdir -p "$tmp/fixed/.local/state/wrapix"
chmod 555 "$tmp/fixed/.local/state/wrapix"
HOME=$tmp/fixed wx exec -- sh -c 'touch /nowhere; echo ran'
check "... and where the state directory is read-only" is "$(cat "$out") $(grep -c "^wrapix: warning: 'wrapix log' will not show all of this session: .*: Permission denied" "$err")" "ran 1"
chmod 755 "$tmp/fixed/.local/state/wrapix"
for file in .local/state/wrapix .local/state .local; do
	rm -rf "$tmp/fixed/.local"
	mkdir -p "$(dirname "$tmp/fixed/$file")" && echo mine >"$tmp/fixed/$file"
	HOME=$tmp/fixed wx exec -- sh -c 'touch /nowhere; echo ran; cat "$HOME/.local/state/wrapix" 2>/dev/null'
	check "... and where a file stands in its place ($file)" is "$rc $(cat "$out") $(grep -c "^wrapix: warning: 'wrapix log' will not show all of this session: .*: Not a directory" "$err")" "1 ran 1"
	check "... which stays" is "$(cat "$tmp/fixed/$file")" mine
done
echo "{\"network\":{\"allowedDomains\":[],\"deniedDomains\":[]},\"filesystem\":{\"denyRead\":[],\"allowWrite\":[\"$tmp/fixed\"],\"denyWrite\":[]}}" >"$tmp/s.json"
HOME=$tmp/fixed wx exec -s "$tmp/s.json" -- sh -c 'rm "$HOME/.local"; mkdir -p "$HOME/.local/state"'
check "... but a command that could put a directory there does not run" eval 'refused 125 "is no directory that wrapix can write to, and the command could" && is "$(cat "$tmp/fixed/.local")" mine'
rm "$tmp/fixed/.local" && mkdir -m 555 "$tmp/fixed/.local"
HOME=$tmp/fixed wx exec -s "$tmp/s.json" -- sh -c 'chmod 755 "$HOME/.local"; mkdir "$HOME/.local/state"'
check "... nor one that could make the place writable" eval 'refused 125 "is no directory that wrapix can write to, and the command could" && is "$(ls "$tmp/fixed/.local")" ""'
HOME=$tmp/fixed wx exec -- sh -c 'touch /nowhere; echo ran'
check "... while another runs" is "$rc $(cat "$out")" "0 ran"
chmod 755 "$tmp/fixed/.local"
rm -r "$tmp/fixed/.local" && echo mine >"$tmp/fixed/.local" && mkfifo up go
cp "$tmp/s.json" "$tmp/wide.json" && sed 's/"allowWrite":[^]]*/"allowWrite":["."/' "$tmp/wide.json" >"$tmp/s.json"
HOME=$tmp/fixed "$wrapix" exec -s "$tmp/s.json" -- sh -c 'echo up >up; read x <go; rm "$HOME/.local"' >"$out" 2>"$err" &
started="${started-} $!"
hear up
mv "$tmp/wide.json" "$tmp/s.json"
await grep -q "previous config is still in force" "$err"
echo on >go
wait $!
check "... nor one that gets such settings while it runs" eval 'has "$err" "is no directory that wrapix can write to" && is "$(cat "$tmp/fixed/.local")" mine'
full '"$1" doctor; "$1" key add site; true'
check "... doctor asks for room there" grep -q 'fix: room on that file system' "$out"
check "... what ssh-keygen says comes without its end of line" sh -c 'grep -q "No space left on device$" "$1" && ! grep -q x0d "$1"' sh "$err"
mkdir -m 700 "$logs" && : >"$logs/abcdefgh.jsonl" || exit 1
for command in log learn 'report -o -'; do
	# shellcheck disable=SC2086 # words
	wx $command
	check "an empty log is none: $command" sh -c '[ ! -s "$1" ] && grep -q "no session has recorded anything yet" "$2"' sh "$out" "$err"
done
wx log abcdefgh
check "... by its name neither" refused 2 "no session 'abcdefgh'"
finish
