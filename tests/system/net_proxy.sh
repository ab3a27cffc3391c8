#!/bin/sh
# SPDX-License-Identifier: MIT
# The filtered network behind a company's proxy: the supervisor dials through it, and the sandbox knows nothing of it.
# Prints TAP.
#
#	net_proxy.sh [queue|static]
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2086,SC2154,SC2317 # the library; words; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/networld.sh"
in_world "$@"
set_up
set_up_net "${1-queue}"
late=$(by_tier ECONNREFUSED ECONNRESET ECONNRESET)
allow="--allow allowed.test"
through() { HTTPS_PROXY=$1; export HTTPS_PROXY; }

# --- it is used ---
through http://proxy.test:3128
mark
probe "a name is dialled through the proxy" "ok" "$allow" echo:allowed.test,7
check "... which is asked for it" heard "^proxy CONNECT allowed.test:7"
check "... and resolves it: nobody else does" unheard "^dns allowed.test"
check "... without a word" ended 0
probe "IPv4, IPv6" "ok ok" "$allow" echo4:allowed.test,7 echo6:allowed.test,7
probe "TLS" "hello from allowed.test at 198.51.100.10 443" "$allow" hello:allowed.test
probe "TLS for another name" "ECONNRESET" "$allow" hello:allowed.test,443,other.test
probe "20 MB both ways, a half-closed upload" "same same" "$allow" round_trip:allowed.test,20971520 half_close:allowed.test,5242880
probe "a server that speaks first" "220 ready" "$allow" first_line:allowed.test,1025
probe "a hundred at the same time" "100 ok" "$allow" crowd:allowed.test,100
mark
probe "other names do not exist" "EAI_NONAME" "$allow" echo:other.test,7
probe "other ports are refused" "$late" "--allow allowed.test:80" echo:allowed.test,7
probe "the proxy itself is no way out" "EAI_NONAME ECONNREFUSED" "$allow" echo:proxy.test,3128 echo:198.51.100.30,3128
check "the proxy was asked for none of them" quiet
mark
probe "an address of a rule is dialled directly" "ok" "--allow 198.51.100.10:7" echo:198.51.100.10,7
check "... without the proxy" unheard "^proxy"
inside_net 'env | grep -i proxy' --allow allowed.test
check "the sandbox has no variable that names it" empty "$out"
printf '{"network":{"allowedDomains":["allowed.test"],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]}}' >"$tmp/proxied.json"
mark
(
	http_proxy=http://user:word@proxy.test:3128 all_proxy=$HTTPS_PROXY
	export http_proxy all_proxy
	wx exec -s "$tmp/proxied.json" -- sh -c 'env | grep -i _proxy; curl -sS http://allowed.test/'
)
check "nor has a command of exec" lacks "$out" proxy.test
check "... whose programs get out by it" has "$out" "hello from allowed.test"
check "... indeed" heard "^proxy CONNECT allowed.test:80"

# --- who is exempt ---
for exempt in allowed.test .test test '*' 'other.test, allowed.test' 'x.test,.allowed.test:443'; do
	mark
	NO_PROXY=$exempt
	export NO_PROXY
	probe "NO_PROXY=$exempt: directly" "ok" "$allow" echo:allowed.test,7
	check "... without the proxy" unheard "^proxy"
done
for exempt in lowed.test other.test x.allowed.test '' ','; do
	mark
	NO_PROXY=$exempt
	probe "NO_PROXY=$exempt: through the proxy" "ok" "$allow" echo:allowed.test,7
	check "... indeed" heard "^proxy CONNECT allowed.test:7"
done
NO_PROXY=private.test
probe "a name that is exempt is vetted" "$late" "--allow private.test" echo:private.test,7
check "... with an event" event "private.test:7: private"
unset NO_PROXY

# --- where it is, and who may use it ---
mark
for url in http://198.51.100.30:3128 http://proxy.test:3128/ HTTP://proxy.test proxy.test:3128 'http://[2001:db8:2::30]:3128'; do
	through "$url"
	probe "$url" "ok" "$allow" echo:allowed.test,7
done
check "... each has been asked" is "$(since | grep -c '^proxy CONNECT allowed.test:7')" 5
socat TCP-LISTEN:3128,bind=127.0.0.1,fork,reuseaddr TCP:198.51.100.30:3128 &
started=$!
await python3 -B "$project/netprobe.py" connect:127.0.0.1,3128
through http://127.0.0.1:3128
probe "a proxy on the host's own loopback" "ok" "$allow" echo:allowed.test,7
through http://user:p%40:ss@proxy.test:3129
probe "with a password" "ok" "$allow" echo:allowed.test,7
through http://user:wrong-word@proxy.test:3129
probe "with a wrong one" "$late" "$allow" echo:allowed.test,7
check "... which is shown nowhere" lacks "$err" wrong-word
through http://user:hidden-word@proxy.test:99999
probe "an address that is none" "" "$allow" echo:allowed.test,7
check "... is an error that does not repeat the password" refused 125 "proxy"
check "... indeed" lacks "$err" hidden-word
through socks5://proxy.test:1080
probe "a proxy of another kind" "" "$allow" echo:allowed.test,7
check "... is an error" refused 125 "http://"

# --- one that dies ---
mkfifo "$project/there" "$project/on"
through http://127.0.0.1:3128
"$wrapix" run --filter-tier "$tier" $allow -- python3 -c 'import socket
def say(s):
    try:
        s.sendall(b"x")
        return s.recv(1) or "end"
    except OSError as e: return type(e).__name__
old = socket.create_connection(("allowed.test", 7), 10)
print(say(old))
open("there", "w").write("x\n"); open("on").read()
print(say(old))
try: print(say(socket.create_connection(("allowed.test", 7), 10)))
except OSError as e: print(type(e).__name__)' >"$tmp/dies.out" 2>&1 &
session=$!
hear "$project/there"
# shellcheck disable=SC2046 # one word each
kill -9 $(pgrep -f TCP-LISTEN:3128)
tell "$project/on"
wait $session
check "a proxy that dies: what was open ends" grep -Eqx "ConnectionResetError|end|BrokenPipeError" "$tmp/dies.out"
check "... after it worked" is "$(head -n 1 "$tmp/dies.out")" "b'x'"
check "... and what is new is refused" is "$(tail -n 1 "$tmp/dies.out")" "$(by_tier ConnectionRefusedError ConnectionResetError ConnectionResetError)"

# --- trouble ---
through http://proxy.test:3128
probe "a name that the proxy does not know" "$late" "--allow nowhere.test" echo:nowhere.test,7
through http://proxy.test:3999
probe "nobody listens there" "$late" "$allow" echo:allowed.test,7
through http://nowhere.test:3128
probe "its name does not exist" "$(by_tier EHOSTUNREACH ECONNRESET ECONNRESET)" "$allow" echo:allowed.test,7
through http://proxy.test:3130
probe "an answer byte by byte" "ok 220 ready" "$allow" echo:allowed.test,7 first_line:allowed.test,1025
through http://proxy.test:3132
probe "an answer without an end" "$late" "$allow" echo:allowed.test,7
through http://proxy.test:3133
probe "an answer that is none" "$late" "$allow" echo:allowed.test,7
through http://proxy.test:3134
probe "half an answer, and an end" "$late" "$allow" echo:allowed.test,7
through http://proxy.test:3131
mark
"$wrapix" run --filter-tier "$tier" --allow allowed.test -- python3 -B netprobe.py echo:allowed.test,7 >"$tmp/half.out" 2>&1 &
half=$!
started="$started $half"
check "half an answer, and silence" await heard "^half an answer"
ticks() { awk '{ print $14 + $15 }' "/proc/$half/stat"; }
before_wait=$(ticks)
timeout 1 sleep 10 # a second in which nothing happens
check "... and the supervisor is idle meanwhile" [ $(($(ticks) - before_wait)) -lt 20 ]
kill $half
finish
