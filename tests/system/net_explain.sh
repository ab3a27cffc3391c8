#!/bin/sh
# SPDX-License-Identifier: MIT
# wrapix run --explain: programs that are refused are told why, where they print what they are told. Prints TAP.
#
#	net_explain.sh [queue|static|ports]
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/networld.sh"
in_world "$@"
set_up
set_up_net "${1-queue}"
said() { grep -qF -- "$1" "$out" "$err" || { echo "nobody said '$1'"; false; }; }
told() { # told NAME TEXT SCRIPT: it fails, and TEXT was said
	inside_net "$3" --explain --allow allowed.test:80 --allow allowed.test:443
	check "$1" said "$2"
}
why="was refused (not-allowed). To allow it, start with --allow other.test"

mark
told "curl prints the reason" "other.test:80 $why" 'curl -sS http://other.test/'
check "... with an event" event "other.test: not-allowed"
told "... and fails if asked to" "403" 'curl -sSf http://other.test/'
told "wget" "403 Refused by wrapix: not-allowed" 'wget -O- http://other.test/'
told "python" "403: Refused by wrapix: not-allowed" 'python3 -c "import urllib.request as u; u.urlopen(\"http://other.test/\")"'
command -v node >/dev/null && told "node" "$why" 'node -e "fetch(\"http://other.test/\").then(r => r.text()).then(console.log)"'
command -v npm >/dev/null && told "npm, at once" "403 Refused by wrapix" 'timeout 50 npm --registry http://other.test/ install --no-audit --no-fund wrapix-hello'
told "git" "error: 403" 'git clone -q http://other.test/git/repo.git /tmp/r'
told "TLS: curl" "access denied" 'curl -sSk https://other.test/'
told "TLS: python" "ACCESS_DENIED" 'python3 -c "import urllib.request as u; u.urlopen(\"https://other.test/\")" 2>&1 | tr "[:lower:]" "[:upper:]" | tr " " _'
told "a whole upload, and the reason" "$why" 'head -c 3000000 /dev/zero | curl -sS -T - http://other.test/upload'
label=$(printf 'a%.0s' $(seq 63))
told "a long name" "--allow $label.$label.$label.other.test, or" "curl -sS http://$label.$label.$label.other.test/"
check "... in a whole answer" lacks "$err" "curl:"
inside_net 'curl -sS http://allowed.test:8080/; curl -sS http://allowed.test/' --explain --allow allowed.test:80
check "an allowed host is as it was" has "$out" "hello from allowed.test"
probe "other ports refuse as ever" "$(by_tier "ECONNREFUSED ECONNREFUSED" "ECONNRESET ECONNRESET" "ECONNREFUSED ECONNREFUSED")" "--explain --allow allowed.test:80" echo:other.test,22 echo:allowed.test,22
probe "addresses refuse as ever" "$(by_tier ECONNREFUSED ECONNREFUSED ECONNRESET)" "--explain --allow allowed.test:80" get:198.51.100.20,80
inside_net 'curl -sS http://allowed.test/' --explain --allow allowed.test --deny allowed.test:80
check "a rule that denies" said "(denied-name)"
inside_net 'curl -sS http://private.test/; curl -sSk https://meta.test/' --explain --allow private.test --allow meta.test
check "a name that leads to a private address" said "private.test:80 was refused (private). To allow it, start with --allow ADDRESS, the one that it leads to"
check "... or to a metadata service, over TLS" said "access denied"
check "... with events" has "$err" "private.test:80: private"
inside_net 'curl -sS http://nosuch.test/' --explain --allow nosuch.test
check "a name that nobody has is not wrapix's doing" lacks "$out" "wrapix"
probe "a reason that nobody reads delays nobody" "200 told, quick" "--explain --allow allowed.test:7 --allow allowed.test:80" unread_reasons:other.test,200
check "nobody else was dialled" unheard "^tcp (198.51.100.20|2001:db8:2::20)"
check "... nor asked for" unheard "^dns other.test"
finish
