#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that download, and a browser with a sandbox of its own, under 'wrapix exec': through the filter, and onto
# files by name. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2086,SC2154,SC2317 # the library; scripts for the shell inside; words; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/networld.sh"
in_world "$@"
set_up
set_up_net queue
s=$tmp/s.json

# settings ALLOW-WRITE [MORE]
settings() {
	printf '{"network":{"allowedDomains":["allowed.test","registry.test"],"deniedDomains":[]},
"filesystem":{"denyRead":[],"allowWrite":[%s],"denyWrite":["*.lock.d"]}%s}\n' "$1" "${2-}" >"$s"
}
x() { wx exec -s "$s" -c "$1"; }
has_command() { command -v "$1" >/dev/null || { skip "$1" "$1 is not installed"; false; }; }
failed_with() { isnt "$rc" 0 && { grep -qF -- "$1" "$out" "$err" || { echo "nobody said '$1'"; false; }; }; }

# --- packages ---

has_command npm && {
	settings '"~/.npm"'
	mkdir -p "$HOME/.npm"
	install='npm install --no-audit --no-fund --registry'
	x "$install http://registry.test/ wrapix-hello >/dev/null && node -p 'require(\"wrapix-hello\")'"
	check "npm install" has "$out" "hello from npm"
	check "... is there outside" has package-lock.json wrapix-hello
	x "rm -r node_modules && npm ci --no-audit --no-fund --registry http://registry.test/ >/dev/null && ls node_modules"
	check "npm ci" has "$out" wrapix-hello
	x "npm_config_fetch_retries=0 $install http://other.test/ wrapix-other"
	check "npm install from another host" failed_with ENOTFOUND
	settings ''
	x "rm -r node_modules && npm_config_cache=\$TMPDIR/npm npm ci --no-audit --no-fund --registry http://registry.test/ && ls node_modules"
	check "npm ci with a cache that goes with the command" has "$out" wrapix-hello
	rm -rf node_modules package.json package-lock.json
}

settings ''
x 'python3 -c "
import hashlib, os, tempfile, urllib.request
with urllib.request.urlopen(\"http://allowed.test/bytes/3000000\") as page, tempfile.NamedTemporaryFile(dir=\".\", delete=False) as f:
    while part := page.read(65536):
        f.write(part)
os.replace(f.name, \"wheel\")
print(os.path.getsize(\"wheel\"))"'
check "a download of Python's, as pip does it: a temporary file, then its name" is "$(cat "$out")" 3000000
check "... is there outside" is "$(stat -c %s wheel)" 3000000
x 'curl -sS -o page http://allowed.test/ && cat page'
check "curl -o" has "$out" "hello from allowed.test"
x 'wget -q -O page2 http://allowed.test/ && cat page2'
check "wget -O" has "$out" "hello from allowed.test"
x 'curl -sS -o stolen http://other.test/'
check "another host" failed_with "Could not resolve host: other.test"
rm -f wheel page page2 stolen

# --- a browser ---

for browser in chromium-headless-shell chromium none; do
	! command -v $browser >/dev/null || break
done
load() {
	x "$browser --headless --disable-gpu --user-data-dir=\$TMPDIR/profile --dump-dom $1"
}
if [ $browser = none ]; then
	skip "Chromium" "neither chromium-headless-shell nor chromium is installed"
else
	settings '' ',"allowNestedUserNamespaces":true'
	load http://allowed.test/page.html
	check "Chromium with its own sandbox, allowNestedUserNamespaces" has "$out" "a page of allowed.test"
	load http://other.test/page.html
	check "... and another host" lacks "$out" "a page of"
fi
check "nothing else is left in the project" is "$(find . -newer "$s" -type f | grep -v '^./node_modules')" ""

# --- a connection that new settings end ---

mkdir .claude
printf '{"projects": {"%s": {"hasTrustDialogAccepted": true}}}' "$project" >"$HOME/.claude.json"
cat >hold.py <<'END'
import socket
with socket.create_connection(("allowed.test", 7)) as s:
    s.sendall(b"hi\n")
    s.recv(3, socket.MSG_WAITALL)
    open("held", "w").close()
    try:
        print("got", s.recv(1))
    except ConnectionResetError:
        print("reset")
END
for how in exec 'run --settings-from claude'; do
	rm -f held
	echo '{"sandbox": {"enabled": true}, "permissions": {"allow": ["WebFetch(domain:allowed.test)"]}}' >.claude/settings.json
	(
		await test -e held
		echo '{"sandbox": {"enabled": true}, "permissions": {"deny": ["WebFetch(domain:allowed.test)"]}}' >.claude/settings.json
	) &
	# shellcheck disable=SC2086 # words
	wx $how -- python3 -B hold.py
	wait
	check "$how: it is reset" is "$(cat "$out")" reset
	wx log --violations --json
	check "... the event names the rule, its file and line, what went over it, and what would allow it" python3 -c 'import json,sys
e = [json.loads(line) for line in open(sys.argv[1]) if "\"connect\"" in line][0]
assert (e["rule"], e["key"], e["received"]) == ("WebFetch(domain:allowed.test)", "permissions.deny[0]", 3), e
assert e["origin"].endswith("/.claude/settings.json:1") and e["fix"]["remove"] == e["rule"], e' "$out"
	wx report --json
	check "... and the report counts it" python3 -c 'import json,sys; h=json.load(open(sys.argv[1]))["hosts"]; assert h[0]["host"] == "allowed.test:7" and h[0]["received"] == 3, h' "$out"
done
finish
