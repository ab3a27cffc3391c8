#!/bin/sh
# SPDX-License-Identifier: MIT
# The network of srt, and settings that change while a command runs: domains, reasons, addresses that no name may lead
# to, ports of this machine, the control descriptor, the settings file. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2086,SC2154,SC2317 # the library; scripts for the shell inside; words; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/networld.sh"
in_world "$@"
set_up
set_up_net queue
mkdir "$tmp/bin"
ln -s "$(dirname "$wrapix")/srt" "$tmp/bin/srt"
s=$tmp/s.json

# settings ALLOWED DENIED [MORE-OF-NETWORK]: as one line.
settings() {
	printf '{"network":{"allowedDomains":[%s],"deniedDomains":[%s]%s},"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[%s]}}\n' \
		"$1" "$2" "${3-}" "${4-}"
}
srt() {
	out=$tmp/log/out err=$tmp/log/err
	timeout --foreground -s KILL 60 "$tmp/bin/srt" -s "$s" "$@" >"$out" 2>"$err" </dev/null
	rc=$?
}
# probed NAME WANT PROBE...: what netprobe.py says, joined, under the settings.
probed() {
	probed_name=$1 probed_want=$2
	shift 2
	srt -- python3 -B netprobe.py "$@"
	check "$probed_name" is "$(tr '\n' ' ' <"$out" | sed 's/ $//')" "$probed_want"
}

# --- who may be reached ---

settings '' '' >"$s"
probed "no domains: nothing" "EAI_NONAME" echo:allowed.test
settings '"allowed.test"' '' >"$s"
probed "a domain, and no other" "ok EAI_NONAME" echo:allowed.test echo:other.test
settings '"allowed.test:7"' '' >"$s"
probed "a domain at a port" ok echo:allowed.test
settings '"allowed.test:9"' '' >"$s"
srt -- python3 -B netprobe.py echo:allowed.test
check "... and not at another" isnt "$(cat "$out")" ok
settings '"allowed.test","other.test"' '"other.test"' >"$s"
probed "a denial beats" "ok EAI_NONAME" echo:allowed.test echo:other.test
settings '"allowed.test"' '"*"' >"$s"
probed "even every denial" "EAI_NONAME" echo:allowed.test
settings '"other.test"' '' ',"deniedResolvedAddresses":["198.51.100.20/24","2001:db8:2::/64"]' >"$s"
srt -- python3 -B netprobe.py echo:other.test
check "an address that no name may lead to" isnt "$(cat "$out")" ok
settings '"198.51.100.30"' '' >"$s"
probed "an address" ok echo:198.51.100.30

# --- what is said ---

settings '"allowed.test"' '"other.test"' ',"deniedDomainReasons":{"other.test":"ask the team first"}' >"$s"
srt --violations "$tmp/v.jsonl" -- python3 -B netprobe.py echo:other.test
check "srt itself says nothing" empty "$err"
check "the report names the host" has "$tmp/v.jsonl" '"name":"other.test"'
check "... the rule" has "$tmp/v.jsonl" '"rule":"other.test"'
check "... the reason" has "$tmp/v.jsonl" '"text":"ask the team first"'
check "... and the process" has "$tmp/v.jsonl" '"argv":["python3","-B","netprobe.py","echo:other.test"]'
check "each line is JSON" python3 -c 'import json,sys; [json.loads(l) for l in open(sys.argv[1])]' "$tmp/v.jsonl"
srt -d -- python3 -B netprobe.py echo:other.test
check "--debug says it for people" has "$err" "[SandboxDebug] deny network-outbound other.test (ask the team first)"
wx exec -s "$s" -- python3 -B netprobe.py echo:other.test
check "wrapix exec says it at the end" has "$err" "wrapix: refused looking up other.test: a rule denies it: other.test at $s:1 (ask the team first)"
settings '' '' | sed 's/}$/,"ignoreViolations":{"netprobe":["other.test"]}}/' >"$s"
srt -d --violations "$tmp/v2.jsonl" -- python3 -B netprobe.py echo:other.test echo:wild.test
check "ignoreViolations: not this one" lacks "$tmp/v2.jsonl" '"name":"other.test"'
check "... but the others" has "$tmp/v2.jsonl" wild.test

# --- this machine ---

python3 -B -c 'import http.server; http.server.HTTPServer(("127.0.0.1", 8123), http.server.BaseHTTPRequestHandler).serve_forever()' 2>/dev/null &
started=$!
await sh -c 'python3 -c "import socket; socket.create_connection((\"127.0.0.1\", 8123))"'
dial='import socket,sys
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5); print("ok")
except OSError as e: print("no")'
settings '' '' >"$s"
srt -- python3 -c "$dial" 8123
check "a service of this machine is out of reach" is "$(cat "$out")" no
settings '"localhost:8123"' '' >"$s"
srt -- python3 -c "$dial" 8123
check "but for a port that is named" is "$(cat "$out")" ok
settings '"localhost"' '' >"$s"
srt -- python3 -c "$dial" 8123
check "localhost alone opens nothing" is "$(cat "$out")" no
check "... and that is said" has "$err" "Warning: network.allowedDomains[0]: 'localhost' needs a port"
settings '' '' ',"httpProxyPort":8123,"socksProxyPort":8124' >"$s"
srt -- python3 -c "$dial" 8123
check "the port of one's own proxy is open" is "$(cat "$out")" ok
srt -c 'echo $https_proxy $ALL_PROXY'
check "... and programs are told" is "$(cat "$out")" "http://localhost:8123 socks5h://localhost:8124"
srt -- sh -c 'python3 -c "
import socket
s = socket.socket(); s.bind((\"127.0.0.1\", 0)); s.listen()
socket.create_connection(s.getsockname()); print(\"ok\")"'
check "a server of the command's own works" is "$(cat "$out")" ok

# --- a company's proxy ---

settings '"allowed.test"' '' >"$s"
for name in HTTPS_PROXY https_proxy HTTP_PROXY http_proxy; do
	export "$name=http://proxy.test:3128"
	mark
	probed "$name: a name is dialled through the proxy" ok echo:allowed.test,7
	check "... which is asked for it" heard "^proxy CONNECT allowed.test:7"
	srt -c 'env | grep -i proxy'
	check "... and no program tries to go there itself" empty "$out"
	unset "$name"
done
export ALL_PROXY=socks5://127.0.0.1:1080
probed "ALL_PROXY does not count" ok echo:allowed.test,7
srt -c 'env | grep -i proxy'
check "... nor inside" empty "$out"
unset ALL_PROXY

# --- srt somewhere else ---

# from DIR: the same probe by the srt of this directory.
from() { timeout --foreground -s KILL 60 "$1/srt" -s "$s" -- python3 -B netprobe.py echo:allowed.test,7 >"$out" 2>"$err" </dev/null; }
said_why() { grep -qx ok "$out" || has "$err" "Warning: no host can be reached by its name: 'wrapix-resolver' is missing"; }
mkdir -p "$tmp/moved/bin" "$tmp/moved/libexec/wrapix" "$tmp/alone"
cp "$(dirname "$wrapix")/srt" "$tmp/moved/bin"
cp "$(dirname "$wrapix")/srt" "$tmp/alone"
cp "$(dirname "$wrapix")/../wrapix-resolver" "$tmp/moved/libexec/wrapix"
from "$tmp/moved/bin"
check "a tree that was moved: names are found" is "$(cat "$out")" ok
from "$tmp/alone"
check "srt alone: a name is found (it is linked to the C library, or installed), or it says what is missing" said_why

# --- while it runs ---

mkfifo asked "$tmp/control"
exec 5<>asked 6<>"$tmp/control"
begin() { # begin OPTION...: a command that probes what it is told to
	"$tmp/bin/srt" -s "$s" "$@" -- sh -c \
		'while read -r words; do case $words in touch*) $words; r=$?; echo $r >answer.new ;; *) python3 -B netprobe.py $words >answer.new 2>&1 ;; esac; mv answer.new answer; done <asked' \
		</dev/null >"$tmp/begun.out" 2>"$tmp/begun.err" &
	supervisor=$!
	started="$started $supervisor"
}
ask() {
	rm -f answer
	echo "$*" >&5
	await exists answer || return
	tr '\n' ' ' <answer | sed 's/ $//'
}
end() { kill -TERM "$supervisor"; wait "$supervisor" 2>/dev/null; }
reaches() { [ "$(ask "echo:$1")" = ok ]; }

settings '"allowed.test"' '' >"$s"
begin --control-fd 6
check "before a change" is "$(ask echo:allowed.test echo:other.test)" "ok EAI_NONAME"
settings '"other.test"' '' >&6
check "a line opens" await reaches other.test
check "... and shuts" is "$(ask echo:allowed.test)" EAI_NONAME
echo '{"network":{}}' >&6
check "a bad line is refused in srt's words" await has "$tmp/begun.err" "Invalid config on control fd 6: ignored, previous config still in force"
check "... and the old rules stay" is "$(ask echo:other.test echo:allowed.test)" "ok EAI_NONAME"
echo '' >&6
check "writing is allowed before" is "$(ask touch kept)" 0
settings '"other.test"' '' '' '"kept"' >&6
denied_now() { [ "$(ask touch kept)" = 1 ]; }
check "a line shuts a file" await denied_now
check "no other" is "$(ask touch other)" 0
mkdir "$HOME/out"
check "another place is shut" is "$(ask touch "$HOME/out/x")" 1
settings '"other.test"' '' | sed 's/"allowWrite":\[/&"~\/out"/' >&6
open_now() { [ "$(ask touch "$HOME/out/x")" = 0 ]; }
check "a line opens it" await open_now
settings '"other.test"' '' | sed 's/"denyRead":\[/&"~\/out"/' >&6
check "what can only count from the start on is said" await has "$tmp/begun.err" "Warning: filesystem.denyRead[0]: '~/out' counts from the next command on"
settings '"allowed.test"' '' >"$s"
check "the settings file counts, too" await reaches allowed.test
check "... written in place, whole" is "$(ask echo:other.test)" EAI_NONAME
settings '"other.test"' '' >"$s.new"
mv "$s.new" "$s"
check "or replaced" await reaches other.test
echo '{' >"$s"
check "a file that is wrong is refused" await has "$tmp/begun.err" "is not valid JSON"
check "... and the old rules stay" is "$(ask echo:other.test)" ok
check "said so" has "$tmp/begun.err" "The previous config is still in force."
end

settings '"allowed.test"' '' >"$s"
begin --control-fd 7 7<"$s"
check "a regular file as control descriptor is read at once" is "$(ask echo:allowed.test)" ok
end
settings '"allowed.test"' '' | sed 's/"filesystem":{/&"disabled":true,/' >"$s"
begin
check "without file rules the command could write its settings:" is "$(ask echo:allowed.test)" ok
settings '"allowed.test","other.test"' '' | sed 's/"filesystem":{/&"disabled":true,/' >"$s"
check "... so they are not read again" is "$(ask echo:other.test)" EAI_NONAME
end
finish
