#!/bin/sh
# SPDX-License-Identifier: MIT
# The network of 'wrapix exec' inside of 'wrapix run': the inner filter below an outer network that is open, filtered
# or none. A host is reached when both allow it. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2086,SC2154,SC2317 # the library; scripts for the shell inside; words; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/networld.sh"
in_world "$@"
set_up
set_up_net queue

settings() { # settings FILE ALLOWED [MORE-OF-NETWORK]
	printf '{"network":{"allowedDomains":[%s],"deniedDomains":[]%s},"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]}}\n' \
		"$2" "${3-}" >"$1"
}
# both NAME WANT OPTIONS SCRIPT: in a sandbox with that network; x PROBE... is what an inner command reaches.
both() {
	wx run --mount "$wrapix:/wrapix:ro" $3 -- sh -c "x() { /wrapix exec -s s.json -- python3 -B netprobe.py \"\$@\" 2>/dev/null; }
		o() { python3 -B netprobe.py \"\$@\"; }; $4"
	check "$1" is "$(xargs <"$out")" "$2"
}
settings s.json '"allowed.test","other.test"'
filtered='--network filtered --allow allowed.test --allow third.test'

both "below none: nothing" "EHOSTUNREACH EAI_NONAME" "--network none" 'x echo:allowed.test echo:registry.test'
both "below an open one: what the settings allow" "ok EAI_NONAME" "--network open" 'x echo:allowed.test echo:registry.test'
both "... where the outer command reaches both" "ok ok" "--network open" 'o echo:allowed.test echo:registry.test'
both "below a filtered one: what both allow" "ok" "$filtered" 'x echo:allowed.test'
check "... and nothing that the inner supervisor does is told as the command's" lacks "$err" "/proc/sys"
both "... not what the outer one refuses" "no" "$filtered" '[ "$(x echo:other.test)" = ok ] || echo no'
both "... nor what the inner one does" "EAI_NONAME" "--network filtered --allow allowed.test --allow registry.test" 'x echo:registry.test'
both "... which the outer command reaches" "ok" "--network filtered --allow allowed.test --allow registry.test" 'o echo:registry.test'
both "... when nobody has used the outer network yet, and when somebody has" "ok ok" "$filtered" 'x echo:allowed.test; o echo:allowed.test'
both "curl, with a name" "1" "$filtered" '/wrapix exec -s s.json -- curl -sS http://allowed.test/ | grep -c "hello from allowed.test"'
settings ip.json '"198.51.100.30"'
both "an address that both allow" "ok" "--network filtered --allow 198.51.100.30" '/wrapix exec -s ip.json -- python3 -B netprobe.py echo:198.51.100.30'
both "... that the outer one does not" "no" "$filtered" '[ "$(/wrapix exec -s ip.json -- python3 -B netprobe.py echo:198.51.100.30 2>/dev/null)" = ok ] || echo no'
settings s.json '"allowed.test"' ',"deniedResolvedAddresses":["10.0.0.0/8"]'
both "addresses that no name may lead to cannot be judged below a filter: refused" "no" "$filtered" '[ "$(x echo:allowed.test)" = ok ] || echo no'
both "... and below an open network they can" "ok" "--network open" 'x echo:allowed.test'
settings s.json '"other.test"' ',"deniedResolvedAddresses":["198.51.100.0/24","2001:db8:2::/64"]'
both "... so one is refused" "no" "--network open" '[ "$(x echo:other.test)" = ok ] || echo no'

# --- the outer sandbox's own loopback, and this machine's ---

serve='python3 -B -c "
import http.server, socketserver
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b\"outer\")
    def log_message(self, *a): pass
s = http.server.HTTPServer((\"127.0.0.1\", 8123), H); open(\"up\", \"w\").close(); s.serve_forever()" & until [ -e up ]; do sleep 0.02; done; rm up;'
get='curl -sS -m 50 http://127.0.0.1:8123/'
settings s.json ''
both "a service of the outer sandbox's is out of reach" "no" "--network none" "$serve"' [ "$(/wrapix exec -s s.json -- '"$get"' 2>/dev/null)" = outer ] || echo no'
settings s.json '"localhost:8123"'
both "... unless it is named" "outer" "--network none" "$serve"' /wrapix exec -s s.json -- '"$get"
python3 -B -c 'import http.server; http.server.HTTPServer(("127.0.0.1", 8124), http.server.BaseHTTPRequestHandler).serve_forever()' 2>/dev/null &
started=$!
await sh -c 'python3 -c "import socket; socket.create_connection((\"127.0.0.1\", 8124))"'
settings s.json '"localhost:8124"'
both "a service of this machine's is not to be had by naming it" "no" "--network open" '/wrapix exec -s s.json -- curl -sS -m 5 http://127.0.0.1:8124/ >f 2>&1; [ -s f ] && ! grep -q "Error response" f && echo no'
settings s.json '"allowed.test"' ',"parentProxy":{"http":"http://127.0.0.1:8124"}'
both "... nor as a proxy" "no" "--network none" '[ "$(x echo:allowed.test)" = ok ] || echo no'

# --- live ---

settings s.json ''
cp s.json live.json
mkfifo first
sed 's/"allowedDomains":\[\]/"allowedDomains":["allowed.test"]/' s.json >n
both "a settings file that is written again counts" "EAI_NONAME ok" "$filtered" '
	/wrapix exec -s live.json -- sh -c "p() { python3 -B netprobe.py echo:allowed.test; }; p; echo go >first; n=0
		until [ \$n = 1000 ] || p | grep -qx ok; do n=\$((n + 1)); done; p" &
	read x <first; mv n live.json; wait'
finish
