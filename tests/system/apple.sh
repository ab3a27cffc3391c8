#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
# SPDX-License-Identifier: MIT
# The engine of macOS, through whole sessions: WRAPIX_PLATFORM=darwin, with stand-ins for a Mac's programs (tests/lib/mac) that
# read their command lines by the real grammar. What they share looks like root's inside.
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/podman.sh"
be_user "$@"
set_up

WRAPIX_PLATFORM=darwin PATH=$top/tests/lib/mac:$PATH FAKE_CONTAINER_STATE=$tmp/container FAKE_KEYCHAIN=$tmp/keychain
FAKE_NOTIFICATIONS=$tmp/notifications
export WRAPIX_PLATFORM PATH FAKE_CONTAINER_STATE FAKE_KEYCHAIN FAKE_NOTIFICATIONS
containers() { ls "$FAKE_CONTAINER_STATE/containers" 2>/dev/null; }
clean() { [ -z "$(containers)" ] && [ -z "$(ls "$state/apple" 2>/dev/null)" ]; }
lines() { tr '\n' ' ' <"$out"; }
asays() { # asays NAME WANT SCRIPT [OPTION...]
	asays_name=$1 asays_want=$2 asays_script=$3
	shift 3
	wx run "$@" -- sh -c "$asays_script"
	check "$asays_name" is "$(lines)" "$asays_want"
}

# --- what is missing is said, in a line each ---
rootfs "$tmp/root"
wx run -- true
check "without an image it is said how to get one" refused 125 "there is no image 'base'"
wx image build --from "rootfs:$tmp/root" --name base
check "an image is built" is "$rc" 0
touch "$FAKE_CONTAINER_STATE/stopped"
wx run -- true
check "a service that does not run: how to start it" sh -c 'grep -q "^wrapix: container.s service is not running" "$1" && grep -q "^hint: container system start" "$1"' sh "$err"
rm "$FAKE_CONTAINER_STATE/stopped"
FAKE_CONTAINER_VERSION=0.7.1 wx run -- true
check "a release before 0.8.0 is refused" refused 125 "container 0.8.0 or newer"
FAKE_MACOS=15.5 wx run -- true
check "so is macOS before 26" refused 125 "needs macOS 26, and this is 15"
WRAPIX_PLATFORM=linux wx run --engine apple -- true
check "elsewhere the engine is refused" has "$err" "wrapix: the apple engine needs macOS"

# --- doctor ---
wx doctor
check "doctor has all that is needed" sh -c 'grep -q "^ok *container .*1\.2\.0" "$1" && grep -q "^ok *service" "$1" && grep -q "^ok *image" "$1" && grep -q "^ok *network .*gateway" "$1" && grep -q "^ok *messages" "$1" && grep -q "^ok *keychain" "$1"' sh "$out"
FAKE_ROUTE=utun4 FAKE_ROUTE_MACHINES=utun4 wx doctor
check "... finds a VPN that has taken the machines' subnet, and says what to do" sh -c 'grep -q "^broken *network .*VPN (utun4) has taken" "$1" && grep -q "fix: sudo route -n add -net .*/25" "$1"' sh "$out"
check "... as an error" is "$rc" 125
FAKE_ROUTE=utun4 wx doctor --json
check "... and one that leaves it alone" has "$out" "leaves it alone"
touch "$FAKE_CONTAINER_STATE/stopped"
FAKE_MACOS=15.1 FAKE_CONTAINER_VERSION=0.9.0 wx doctor
check "... and what is missing, with the fix" sh -c 'grep -q "^broken *macos" "$1" && grep -q "^broken *service" "$1" && grep -q "fix: container system start" "$1" && grep -q "^weaker *container .*relays no sockets" "$1"' sh "$out"
rm "$FAKE_CONTAINER_STATE/stopped"

# --- a whole session ---
echo mine >file
asays "a session: the project, the user, his files" "mine $(id -u) $(id -un) $(id -u) $(id -u) $(id -u) $(id -u) $(id -u) /workspace " \
	'cat file; id -u; id -un; stat -c %u . file ~ /tmp; >made; stat -c %u made; pwd; exit 7'
check "... his status" is "$rc" 7
check "... and outside it is the user's own" is "$(stat -c %u made)" "$(id -u)"
check "... and nothing is left" clean
check "the image was loaded once, by itself" sh -c 'set -- "$1"/images/*; [ $# = 1 ]' sh "$FAKE_CONTAINER_STATE"
wx run -- sh -c 'kill -9 $$'
check "killed by a signal is 128 and the signal" is "$rc" 137
wx run -- nosuch
check "a command that is not there is 127" is "$rc" 127
wx run -- /etc/passwd
check "one that cannot run is 126" is "$rc" 126
echo in | "$wrapix" run -- cat >"$out"
check "standard input comes in" is "$(cat "$out")" in
python3 -B "$top/tests/lib/resize.py" "$wrapix" run -- sh -c 'stty size; env | grep -c ^WRAPIX_[RC]O' >"$tmp/tty" 2>&1
check "a terminal is of the user's size from the first moment" is "$(tr -dc '0-9 \n' <"$tmp/tty")" "$(printf '33 101\n0')"
asays "he has no rights but his own" "0000000000000000 1 " "grep -E 'CapEff|NoNewPrivs' /proc/self/status | cut -f 2"
mkdir sub
(cd sub && wx run --only -- pwd)
check "a directory alone is the project" is "$(cat "$out")" /workspace

# --- files ---
ln -s file link
mkdir "$tmp/dir" "$tmp/a:b" "$tmp/a:b,c"
echo one >"$tmp/dir/one"
echo colon >"$tmp/a:b/one"
echo live >"$tmp/rw,=:"
chmod 640 "$tmp/rw,=:"
cat >wrapix.json <<EOF
{"mounts": [{"source": "$tmp/a:b", "dest": "/colon", "mode": "ro"}, {"source": "$tmp/rw,=:", "dest": "/data/live", "mode": "rw"}]}
EOF
wx trust --yes
asays "odd names: a directory with a colon, a file that is written" "colon no live " \
	'cat /colon/one; echo x >/colon/one 2>/dev/null || echo no; cat /data/live; echo written >/data/live'
check "... and what was written is in the user's file" is "$(cat "$tmp/rw,=:")" written
rm wrapix.json
asays "a single file, read-only, whatever links lead to it" "mine no " 'cat /etc/one; echo x >/etc/one 2>/dev/null || echo no' --mount "$project/link:/etc/one:ro"
asays "a directory, read-only" "one no " 'cat /d/one; >/d/two 2>/dev/null || echo no' --mount "$tmp/dir:/d:ro"
printf '{"mounts": [{"source": "%s", "dest": "/c"}]}' "$tmp/a:b,c" >wrapix.json
wx trust --yes
wx run -- true
check "a directory that container has no words for is refused, with the reason" refused 125 "cannot mount '$tmp/a:b,c'"
rm wrapix.json
wx run --mount "$tmp/dir:/workspace/nosuch" -- true
check "a mount on nothing in the project is refused" refused 125 nosuch
check "... and nothing is made for it" absent nosuch
git init -q repo
cd repo || exit 1
asays "git's configuration and hooks are read-only" "ok no no " \
	'touch a && git -C . status >/dev/null 2>&1; echo ok; echo x >>.git/config 2>/dev/null || echo no; >.git/hooks/x 2>/dev/null || echo no'
cd ..
asays "a kept home is kept" "" 'echo kept >~/kept' --home keep
asays "... and is the user's" "kept $(id -u) " 'cat ~/kept; stat -c %u ~/kept' --home keep

# --- secrets ---
TOKEN=s3cret-value wx run --env TOKEN -- sh -c 'echo "$TOKEN"; ls /run/wrapix/stage/env 2>&1 | grep -c "No such"'
check "a variable comes in, and its file is gone by then" is "$(lines)" "s3cret-value 1 "
check "... and container never sees it" fails grep -q s3cret-value "$FAKE_CONTAINER_STATE/runs"
printf from-keychain | "$wrapix" secret set TOKEN >"$out" 2>"$err"
check "a secret goes to the Keychain" sh -c 'grep -q from-keychain "$1"/wrapix-TOKEN' sh "$FAKE_KEYCHAIN"
asays "... and from there into a session" "from-keychain " 'echo "$TOKEN"' --credential TOKEN
wx secret remove TOKEN
check "... and out of it again" absent "$FAKE_KEYCHAIN/wrapix-TOKEN"

# --- signals, and the end ---
mkfifo up
is_listed() { "$wrapix" ps | grep -q held; }
held() { # held SCRIPT [OPTION...]: a session that runs, and is listed; it writes to 'up'
	held_script=$1
	shift
	"$wrapix" run --name held "$@" -- sh -c "$held_script" >"$tmp/log/held" 2>&1 &
	pid=$!
	started="${started-} $pid"
	hear up
	await is_listed || bail "the session is not listed"
}
held 'trap "" HUP; trap "exit 9" TERM; echo up >up; while :; do sleep 0.05; done'
check "a session is listed, with its engine" sh -c '"$1" ps | grep -q "held.*apple\|apple.*held" || "$1" ps --json | grep -q apple' sh "$wrapix"
check "its machine has a name and labels" sh -c 'container list --all --format json | grep -q "\"wrapix.name\": \"held\""'
wx stop held
wait "$pid"
check "signals reach the command" is $? 9
check "... and nothing is left" clean
held 'echo up >up; exec sleep 60'
kill -9 "$pid"
await_gone() { [ -z "$(containers)" ]; }
check "the machine ends with a supervisor that is killed" await await_gone
wx run -- true
check "... and the next session clears away what it left" clean

# --- network ---
asays "no network is none: the loopback alone" "lo " 'ls /sys/class/net 2>/dev/null || sed "1,2d;s/:.*//;s/ //g" /proc/net/dev' --network none
python3 -c '
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); seen = self.headers.get("Proxy-Connection")
        self.wfile.write(f"served {self.path} {seen}\n".encode())
    def log_message(self, *a): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open(sys.argv[1], "w").write(f"{server.server_port}\n"); server.serve_forever()' "$tmp/port" &
started="${started-} $!"
check "a server runs here" await test -s "$tmp/port"
port=$(cat "$tmp/port")
proxied='ask() { printf "$1\r\n\r\n$2" | nc 127.0.0.1 3128; }; '
asays "what is allowed is reached, by a tunnel" "HTTP/1.1 200 Connection established served /a None " \
	"$proxied"'ask "CONNECT 127.0.0.1:'"$port"' HTTP/1.1" "GET /a HTTP/1.0\r\n\r\n" | tr -d "\r" | grep -E "^(HTTP/1.1|served)"' --allow "127.0.0.1:$port"
asays "... and as a request" "served /b?c None " \
	"$proxied"'ask "GET http://127.0.0.1:'"$port"'/b?c HTTP/1.1\r\nProxy-Connection: x" | grep ^served' --allow "127.0.0.1:$port"
asays "what is not is refused, with the reason" "HTTP/1.1 403 Forbidden HTTP/1.1 403 Forbidden HTTP/1.1 400 Bad Request " \
	"$proxied"'for t in "CONNECT 127.0.0.1:1" "CONNECT example.com:443" "GET /x"; do ask "$t HTTP/1.1" | tr -d "\r" | grep ^HTTP; done' --allow "127.0.0.1:$port"
wx log --json
check "... and is an event" sh -c 'grep -q example.com "$1"' sh "$out"
asays "programs are told by variables" "http://127.0.0.1:3128 " 'echo "$HTTPS_PROXY"' --network filtered
held "$proxied"'open() { ask "CONNECT 127.0.0.1:'"$port"' HTTP/1.1" | grep -q "200 Conn"; }; ! open || exit 4; echo up >up; until open; do sleep 0.1; done; exit 5' --network filtered
wx allow held "127.0.0.1:$port"
wait "$pid"
check "a host is opened while it runs" is $? 5

# --- messages ---
shown() { grep -qs "$1" "$FAKE_NOTIFICATIONS"; }
wx run -- wrapix-notify Hello 'from a machine'
check "a message comes out of the machine and is shown" await shown '"-title": ".*Hello.*from a machine'
FAKE_CONTAINER_VERSION=0.12.3 wx run -- sh -c 'wrapix-notify Older "over TCP"; exit 4'
check "with a release that relays no sockets the status is the command's" is "$rc" 4
check "... and a message comes over TCP" await shown 'Older.*over TCP'
FAKE_CONTAINER_VERSION=0.12.3 wx run -- sh -c 'WRAPIX_NOTIFY_TOKEN=00000000000000000000000000000000 wrapix-notify Forged "not of this session"; wrapix-notify Genuine x'
check "... with the session's token" await shown Genuine
check "... and not without" fails shown Forged
FAKE_CONTAINER_VERSION=0.12.3 wx run --network none -- true
check "it has no other network than the open one" refused 125 "needs container 1.1.0"
export FAKE_CONTAINER_VERSION=0.12.3
held 'trap "" HUP; trap "exit 6" TERM; echo up >up; while :; do sleep 0.05; done'
wx stop held
wait "$pid"
check "... and signals by name" is $? 6
wx run --image nosuch -- true
check "no image of that name" refused 125 "there is no image 'nosuch'"
unset FAKE_CONTAINER_VERSION
check "nothing is left at the end" clean
finish
