#!/bin/sh
# SPDX-License-Identifier: MIT
# Chromium without a window, with its own sandbox inside of ours, on the filtered network. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2086,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/networld.sh"
in_world "$@"
set_up
set_up_net "${1-queue}"
for browser in chromium-headless-shell chromium none; do
	! command -v $browser >/dev/null || break
done
[ $browser != none ] || {
	skip "Chromium" "neither chromium-headless-shell nor chromium is installed"
	finish
}

# load URL OPTION...: the page as Chromium has it. Our authority is in no store of its own, so TLS is not verified.
load() {
	url=$1
	shift
	wx run --filter-tier "$tier" --allow allowed.test "$@" -- $browser --headless --disable-gpu --user-data-dir=/tmp/profile \
		--ignore-certificate-errors --dump-dom "$url"
}
failed_with() { lacks "$out" "a page of" && has "$err" "net::ERR_$1"; }

mark
load http://allowed.test/page.html --allow-nested
check "a page of an allowed host, with Chromium's own sandbox" has "$out" "a page of allowed.test"
load https://allowed.test/page.html --allow-nested
check "... by TLS" has "$out" "a page of allowed.test"
check "... for that name" heard "^tls allowed.test"
load http://allowed.test/with/other.test --allow-nested
check "a page with parts of another host" has "$out" "only this"
check "... without them" event "other.test: not-allowed"
check "... and nobody was asked for it outside" unheard "^(dns|http|tls) other.test"
load http://other.test/page.html --allow-nested
check "a page of another host" lacks "$out" "a page of"
check "... with an event" event "other.test: not-allowed"
load http://198.51.100.20/page.html --allow-nested
check "a page at an address" failed_with CONNECTION_REFUSED
check "... with an event" event "198.51.100.20:80: direct-ip"
load http://allowed.test/redirect/other.test/page.html --allow-nested
check "a redirect to another host" lacks "$out" "a page of"
check "nothing else arrived outside" unheard "^((dns|http|tls) other.test|tcp 198.51.100.20|udp)"
finish
