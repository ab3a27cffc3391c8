#!/bin/sh
# SPDX-License-Identifier: MIT
# Ports in both directions, in every network that is the sandbox's own: published ones, those that publish themselves,
# and services of the host's loopback inside. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
command -v python3 >/dev/null || bail "python3 is not installed"
set_up
cp "$top/tests/lib/netprobe.py" "$project"

# A server, inside and outside: serve.py WHAT ADDRESS PORT... It says 'up' when it listens.
cat >"$project/serve.py" <<'PY'
import os, select, socket, sys
what, address, ports = sys.argv[1], sys.argv[2], [int(p) for p in sys.argv[3:]]
listeners = [socket.create_server((address, p), family=socket.AF_INET6 if ":" in address else socket.AF_INET, backlog=256)
             for p in ports]
print(*[s.getsockname()[1] for s in listeners], flush=True)
if os.path.exists("fifo"):
    open("fifo", "w").write("up\n")
if what == "once":  # answers one connection, and ends with all that it has still to send
    c = listeners[0].accept()[0]
    c.sendall(bytes(range(256)) * 65536)
    sys.exit(0)
if what == "flood":  # into a client that does not read, with the end of the process in the middle
    c = listeners[0].accept()[0]
    c.settimeout(0.2)
    try:
        while True:
            c.send(bytes(65536))
    except TimeoutError:
        sys.exit(0)
poll, peers = select.poll(), {}
for s in listeners:
    poll.register(s, select.POLLIN)
    peers[s.fileno()] = s
while True:
    for fd, _ in poll.poll():
        if peers[fd] in listeners:
            c = peers[fd].accept()[0]
            peers[c.fileno()] = c
            poll.register(c, select.POLLIN)
            continue
        try:
            data = peers[fd].recv(1 << 20)
            peers[fd].sendall(data)
        except ConnectionError:
            data = b""
        if not data:
            poll.unregister(fd)
            peers.pop(fd).close()
PY
# A client: call.py WHAT [N] ADDRESS PORT prints in one word how it went. What hangs ends as 'hung'.
cat >"$project/call.py" <<'PY'
import hashlib, os, socket, sys, threading, time
what, n, address, port = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
def call():
    s = socket.create_connection((address, port), 30)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s
def echo(s):
    s.sendall(b"x" * 100)
    got = b""
    while len(got) < 100:
        more = s.recv(100)
        if not more:
            return "eof"
        got += more
    return "echo"
def read_all(s, h, count=0):
    while more := s.recv(1 << 20):
        h.update(more)
        count += len(more)
    return count
def outcome(f):
    try:
        return f()
    except ConnectionRefusedError:
        return "refused"
    except ConnectionResetError:
        return "reset"
    except BrokenPipeError:
        return "reset"
    except TimeoutError:
        return "hung"
    except socket.gaierror:
        return "unknown"
def many():  # one after the other
    return f"{sum(echo(call()) == 'echo' for _ in range(n))}"
def big():  # n MB there and back, at the same time, and then the end of each direction by itself
    s, there, back = call(), hashlib.sha256(), hashlib.sha256()
    def send():
        for _ in range(n):
            data = os.urandom(1 << 20)
            there.update(data)
            s.sendall(data)
        s.shutdown(socket.SHUT_WR)
    t = threading.Thread(target=send)
    t.start()
    count = read_all(s, back)
    t.join()
    return "same" if there.digest() == back.digest() and count == n << 20 else f"other, {count} bytes"
def all_of_it():  # slowly in the end, n ms a piece, so that there is much left when the sender has ended
    s, count = call(), 0
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    while more := s.recv(100000):
        count += len(more)
        time.sleep(n / 1000 if count > 13 << 20 else 0)
    return str(count)
def crowd():  # n at the same time: how many are served, then that one is again when they are gone
    held = [outcome(call) for _ in range(n)]
    ends = []
    for s in held:
        ends.append(outcome(lambda: echo(s)) if isinstance(s, socket.socket) else s)
        if "hung" in ends:
            return "hung"
    for s in held:
        if isinstance(s, socket.socket):
            s.close()
    end = time.monotonic() + 20  # those must be seen to be gone first
    while (again := outcome(lambda: echo(call()))) != "echo" and time.monotonic() < end:
        pass
    return f"{ends.count('echo')} {sorted(set(ends))} {again}"
print(outcome({"echo": lambda: echo(call()), "many": many, "big": big, "all": all_of_it, "crowd": crowd}[what]))
PY
fifo=$project/fifo
go=$project/go # the other way, for who has it open for both: so it has no end
mkfifo "$fifo" "$go"
called() { # called WANT WHAT N ADDRESS PORT: from outside
	called_want=$1
	shift
	is "$(python3 "$project/call.py" "$@")" "$called_want"
}
free_port() { python3 "$top/tests/lib/port.py"; }
is_free() { called refused echo 1 "${2-127.0.0.1}" "$1"; }

# start OPTION... -- COMMAND...: in the background as $pid; with a server in it, once it listens.
launch() {
	"$wrapix" run "$@" >"$tmp/log/out" 2>"$tmp/log/err" </dev/null &
	pid=$!
	started="${started-} $pid"
}
start() {
	launch "$@"
	hear "$fifo"
}
stop() {
	kill -TERM "$pid"
	wait "$pid"
	rc=$?
}
# serve_here WHAT ADDRESS PORT: a service of this machine's, as $service, at $service_port
serve_here() {
	rm -f "$tmp/service"
	(cd "$tmp" && exec python3 "$project/serve.py" "$@") >"$tmp/service" 2>&1 &
	service=$!
	started="${started-} $service"
	await test -s "$tmp/service"
	service_port=$(cat "$tmp/service")
}

for net in none open filtered; do
	set -- --network $net
	[ $net != filtered ] || set -- "$@" --allow allowed.invalid
	[ $net != open ] || command -v pasta >/dev/null || {
		skip "the open network" "pasta is not installed"
		continue
	}

	# --- published ---
	p=$(free_port)
	for address in 127.0.0.1 0.0.0.0 :: ::1; do
		start "$@" --publish "$p:3000" -- python3 serve.py echo "$address" 3000
		check "$net: a server on $address is reached" called echo echo 1 127.0.0.1 "$p"
		[ $address != 127.0.0.1 ] || {
			check "... not by another address of this machine's" called refused echo 1 127.0.0.2 "$p"
			check "... 2000 connections" called 2000 many 2000 127.0.0.1 "$p"
			check "... 64 MB there and back" called same big 64 127.0.0.1 "$p"
			check "... 300 at once: 256 are served, the rest is reset, and then it goes on" \
				called "256 ['echo', 'reset'] echo" crowd 300 127.0.0.1 "$p"
			check "... which is said once" is "$(grep -c 'beyond 256' "$tmp/log/err")" 1
		}
		stop
		check "... SIGTERM ends it" is "$rc" 143
		check "... and the port is free" is_free "$p"
	done
	start "$@" --publish "$p:3000" --publish "[::1]:$p:3000" -- python3 serve.py echo 127.0.0.1 3000
	check "$net: two addresses for one port" called echo echo 1 127.0.0.1 "$p"
	check "... the other" called echo echo 1 ::1 "$p"
	stop
	start "$@" --publish "127.0.0.2:$p" -- python3 serve.py echo 127.0.0.1 "$p"
	check "$net: at another address" called echo echo 1 127.0.0.2 "$p"
	check "... and there alone" is_free "$p"
	stop
	start "$@" --publish "$p" -- python3 serve.py echo 127.0.0.1 "$p"
	check "$net: the same port on both sides" called echo echo 1 127.0.0.1 "$p"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	check "... SIGKILL of wrapix frees it" await is_free "$p"
	start "$@" -- python3 serve.py echo 0.0.0.0 "$p"
	check "$net: nothing is published that nobody asked for" is_free "$p"
	stop

	# Nobody listens, at first and before anything has used the network; then somebody does.
	start "$@" --publish "$p:3000" -- sh -c 'exec 3<>go; echo up >fifo; read -r go <&3; exec python3 serve.py echo 0.0.0.0 3000'
	check "$net: nobody listens: reset" called reset echo 1 127.0.0.1 "$p"
	tell "$go"
	hear "$fifo"
	check "... somebody does: served" called echo echo 1 127.0.0.1 "$p"
	stop
	start "$@" --publish "$p:3000" -- python3 serve.py once 127.0.0.1 3000
	check "$net: an answer is whole though its sandbox ends" called 16777216 all "$([ $net = none ] && echo 40 || echo 1)" 127.0.0.1 "$p"
	wait "$pid"
	check "... which ends as it would" is $? 0

	# --- the host's services ---
	serve_here echo 127.0.0.1 0
	free=$(free_port)
	for name in 127.0.0.1 localhost ::1 host.wrapix.internal host.containers.internal; do
		wx run "$@" --host-port "$service_port" -- python3 call.py echo 1 $name "$service_port"
		check "$net: a service of this machine's, as $name" is "$rc $(cat "$out")" "0 echo"
	done
	wx run "$@" --host-port "$service_port" -- python3 call.py many 2000 127.0.0.1 "$service_port"
	check "... 2000 connections" is "$(cat "$out")" 2000
	wx run "$@" --host-port "$service_port" -- python3 call.py big 64 127.0.0.1 "$service_port"
	check "... 64 MB there and back" is "$(cat "$out")" same
	wx run "$@" --host-port "$service_port" -- python3 call.py crowd 300 127.0.0.1 "$service_port"
	check "... 300 at once" is "$(cat "$out")" "256 ['echo', 'reset'] echo"
	wx run "$@" --host-port "$free" -- python3 call.py echo 1 127.0.0.1 "$service_port"
	check "... and no other port than the one that was named" is "$(cat "$out")" refused
	wx run "$@" --host-port "$free" -- python3 call.py echo 1 127.0.0.1 "$free"
	check "... where nobody listens: reset" is "$(cat "$out")" reset
	wx run "$@" -- python3 call.py echo 1 127.0.0.1 "$service_port"
	check "... and none without the option" is "$(cat "$out")" refused
	kill "$service"
	serve_here echo ::1 0
	wx run "$@" --host-port "$service_port" -- python3 call.py echo 1 127.0.0.1 "$service_port"
	check "... one that listens on ::1 alone" is "$(cat "$out")" echo
	kill "$service"

	# --- those that publish themselves ---
	says_port() { grep -qx "wrapix: 127.0.0.1:$1 leads to port $2 inside" "$tmp/log/err"; }
	p=$(free_port)
	start "$@" --publish auto -- sh -c "exec 3<>go; python3 serve.py echo 127.0.0.1 $p & read -r go <&3; kill \$!; read -r go <&3; exec python3 serve.py echo :: $p"
	check "$net: a port publishes itself" await says_port "$p" "$p"
	check "... and is reached" called echo echo 1 127.0.0.1 "$p"
	tell "$go"
	check "... when nobody listens any more it goes" await is_free "$p"
	check "... with a line" await eval 'is "$(sed -n 2p "$tmp/log/err")" "wrapix: 127.0.0.1:$p is closed: nothing listens on port $p inside"'
	tell "$go"
	hear "$fifo"
	check "... and comes again" await called echo echo 1 127.0.0.1 "$p"
	stop
	check "... three lines in all" is "$(wc -l <"$tmp/log/err")" 3
	check "... it is free at the end" is_free "$p"
done
set -- --network none

# A server that answers nobody who does not ask: the end does not wait for a client that does not read.
p=$(free_port)
start "$@" --publish "$p:3000" -- python3 serve.py flood 127.0.0.1 3000
python3 -c '
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
sys.stdin.read()' "$p" <"$go" &
client=$!
exec 9>"$go"
wait "$pid"
check "a client that does not read delays the end by two seconds, not for ever" is $? 0
exec 9>&-
wait "$client"

# --- ports that publish themselves, with company ---
serve_here echo 127.0.0.1 0
start "$@" --publish auto -- python3 serve.py echo 0.0.0.0 "$service_port"
moved() { sed -n "s/^wrapix: 127.0.0.1:\([0-9]*\) leads to port $1 inside ($1: .*)\$/\1/p" "$tmp/log/err"; }
is_moved() { [ -n "$(moved "$1")" ]; }
check "a port that is taken on the host: another one is" await is_moved "$service_port"
check "... which leads inside" called echo echo 1 127.0.0.1 "$(moved "$service_port")"
stop
kill "$service"
start "$@" --publish auto -- python3 serve.py echo 127.0.0.1 80
check "a port of the administrator's: another one is" await is_moved 80
check "... which leads inside" called echo echo 1 127.0.0.1 "$(moved 80)"
stop
p=$(free_port) q=$(free_port) own=$(free_port)
start "$@" --publish auto --publish "$q:$p" --host-port "$(free_port)" -- python3 serve.py echo 127.0.0.1 "$p" "$own"
check "a port that is published already is left alone, and so is ours" await says_port "$own" "$own"
check "... one line alone" is "$(wc -l <"$tmp/log/err")" 1
check "... it is where it was asked for" called echo echo 1 127.0.0.1 "$q"
stop
# shellcheck disable=SC2046 # words
start "$@" --publish auto -- python3 serve.py echo 127.0.0.1 $(seq 21000 21099)
check "a hundred ports: 64 are published" await grep -q 'more ports listen' "$tmp/log/err"
check "... each with its line" is "$(grep -c 'leads to port' "$tmp/log/err")" 64
stop

# --- with each way to catch connections; the last listens on 8080 inside itself ---
serve_here echo 127.0.0.1 0
for tier in queue static ports; do
	p=$(free_port) own=$(free_port)
	start --network filtered --allow allowed.invalid:8080 --allow "allowed.invalid:$service_port" --filter-tier $tier --publish "$p:3000" \
		--publish auto --host-port "$service_port" -- sh -c "python3 call.py echo 1 host.wrapix.internal $service_port
		python3 -B netprobe.py ask:198.18.0.1,host.wrapix.internal,1,udp ask:8.8.8.8,host.containers.internal,1,tcp ask:1.1.1.1,host.wrapix.internal,28,udp; exec python3 serve.py echo 127.0.0.1 3000 $own"
	check "$tier: a service of this machine's, at a port that a rule names too" is "$(head -n 1 "$tmp/log/out")" echo
	check "... its names, for who asks a server" is "$(sed -n 2,4p "$tmp/log/out" | xargs)" "real 127.0.0.1 real 127.0.0.1 real"
	check "... a published port" called echo echo 1 127.0.0.1 "$p"
	check "... one that publishes itself" await says_port "$own" "$own"
	check "... and none of the filter's own" is "$(wc -l <"$tmp/log/err")" 1
	stop
done
kill "$service"

# --- few descriptors: none for what is to be accepted, none for a socket inside ---
for few in 60 100; do
	p=$(free_port)
	(
		# shellcheck disable=SC3045 # every sh that there is has it
		ulimit -n $few
		exec "$wrapix" run "$@" --publish "$p:3000" -- python3 serve.py echo 127.0.0.1 3000
	) >"$tmp/log/out" 2>"$tmp/log/err" </dev/null &
	pid=$!
	hear "$fifo"
	python3 "$project/call.py" crowd 80 127.0.0.1 "$p" >"$tmp/crowd"
	check "with $few descriptors the rest is reset, and then it goes on" grep -Eqx "[1-9][0-9]? \['echo', 'reset'\] echo" "$tmp/crowd"
	check "... with a word" has "$tmp/log/err" "Too many open files"
	stop
done

# --- what cannot be ---
serve_here echo 127.0.0.1 0
not_started() { refused 125 "$1" && absent "$project/ran"; }
wx run "$@" --publish "$service_port:3000" -- touch ran
check "a port that is taken: said before the start" not_started "publishing 127.0.0.1:$service_port: Address already in use"
wx run "$@" --publish "0.0.0.0:$service_port:3000" -- touch ran
check "... also for every address" not_started "publishing 0.0.0.0:$service_port: Address already in use"
kill "$service"
wx run "$@" --publish 80:3000 -- touch ran
check "the administrator's ports" not_started "publishing 127.0.0.1:80: Permission denied"
wx run "$@" --publish 5353/udp -- touch ran
check "UDP" refused 2 "only TCP ports can be published"
wx run "$@" --publish 203.0.113.1:8080:3000 -- touch ran
check "an address of another machine" not_started "publishing 203.0.113.1:8080: Cannot assign"
for wrong in 0 65536 a 1:2:3 1:2:3:4 127.0.0.1: :1 1: localhost:1:2 127.0.0.1:0:1 ::1:1:2 '[::1]:1:' '[::1]1:2' '' AUTO; do
	wx run "$@" --publish "$wrong" -- touch ran
	check "--publish $wrong: not a port" refused 2 "not a port to publish"
done
for wrong in 0 65536 a 1:2 -1 auto ''; do
	wx run "$@" --host-port="$wrong" -- touch ran
	check "--host-port $wrong: not a port" refused 2 "not a port"
done
wx run --network host --publish 3000 -- touch ran
check "--network host has no ports of its own" refused 2 "the network is 'host'"
wx run --network host --host-port 3000 -- touch ran
check "... in neither direction" refused 2 "the network is 'host'"
for pair in 3000 3000:4000 4000:3000; do
	wx run "$@" --publish $pair --host-port 3000 -- touch ran
	check "no circles: --publish $pair --host-port 3000" refused 2 "port 3000 is a service of this machine's"
done
wx run --network filtered --allow allowed.invalid --host-port 53 -- touch ran
check "the filter needs port 53 for itself" refused 2 "port 53 inside"
wx run "$@" --publish 3000:1 --publish 3000:2 -- touch ran
check "one port leads to one port" refused 2 "named twice"
absent "$project/ran" || bail "a command ran that should not have"

# --- wrapix.json ---
p=$(free_port)
printf '{ "publish": [%s, "auto"], "hostPorts": [%s] }\n' "$p" "$(free_port)" >wrapix.json
wx run "$@" -- touch ran
check "a project cannot publish by itself" refused 125 "wrapix.json"
check "... and does not" absent ran
mkdir -p "$home/.config/wrapix"
mv wrapix.json "$home/.config/wrapix/config.json"
start "$@" --publish "$p" -- python3 serve.py echo 127.0.0.1 "$p"
check "the user's own configuration does; a flag may say the same" called echo echo 1 127.0.0.1 "$p"
stop
wx plan "$@" --publish 3000 -- true
check "the plan shows them" has "$out" "publish   127.0.0.1:3000:3000 127.0.0.1:$p:$p auto"
wx plan "$@" --json -- true
check "... also as JSON" has "$out" "\"publish\": [\"127.0.0.1:$p:$p\", \"auto\"]"
finish
