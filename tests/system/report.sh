#!/bin/sh
# SPDX-License-Identifier: MIT
# wrapix report: one page about a session, as HTML that a real browser shows, as Markdown, as JSON. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2086,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
export TZ=UTC
for browser in chromium-headless-shell chromium none; do
	! command -v $browser >/dev/null || break
done
page=$tmp/page.html
python3 "$top/tests/lib/reportlog.py" "$state" || bail "no log"

# --- the page ---

wx report reportaa -o "$page"
check "a page" is "$rc$(cat "$err")" 0
check "... that only its owner reads" is "$(stat -c %a "$page")" 600
check "... of text and structure alone, whatever names hold" python3 "$top/tests/lib/reportpage.py" check "$page"
for part in 'Session site&lt;/title&gt;' 'What was refused' '43.5 MiB' 'looking up evil.example' 'add &quot;evil.example&quot; to network.allowedDomains' \
	'Careful: programs outside' 'needed by <code>npm install' '>likely needed by <code>make -j99' 'memory: &lt;i&gt;512M' 'from now on: allow new.example' 'ended with status 3' '330 MiB' \
	'<dt>most memory at once</dt><dd>942 MiB' '<dt>most processes at once</dt><dd>77' \
	'settings changed: -network.allowedDomains &lt;u&gt;gone.example +permissions.deny[0] Read(.env)'; do
	check "... with: $part" has "$page" "$part"
done
wx report reportaa
check "to standard output" cmp "$out" "$page"

# in_browser WIDTH OPTION...: the title that the test's own script makes
in_browser() {
	width=$1
	shift
	timeout 60 $browser --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/profile" --window-size="$width,900" "$@" \
		--dump-dom "file://$tmp/measured.html" 2>"$tmp/log/err" >"$tmp/log/dom"
	sed -n 's/.*<title>\({.*}\)<\/title>.*/\1/p' "$tmp/log/dom" >"$tmp/log/out"
}
measured() { python3 -c 'import json,sys; m=json.load(open(sys.argv[1])); assert eval(sys.argv[2]), m' "$tmp/log/out" "$1"; }
if [ $browser = none ]; then
	skip "the page in Chromium" "neither chromium-headless-shell nor chromium is installed"
else
	python3 "$top/tests/lib/reportpage.py" measure "$page" >"$tmp/measured.html"
	in_browser 1280 --blink-settings=preferredColorScheme=1
	check "at a desk nothing sticks out" measured 'm["width"] > 1000 and not m["wide"]'
	check "... the keyboard reaches all" measured 'm["focus"] and m["reach"] >= 2'
	check "... light" measured 'm["background"] == "rgb(255, 255, 255)"'
	in_browser 390 --blink-settings=preferredColorScheme=0
	check "on a small screen nothing sticks out" measured 'm["width"] <= 390 and not m["wide"]'
	check "... dark" measured 'm["background"] != "rgb(255, 255, 255)"'
	timeout 60 $browser --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/profile" --dump-dom "file://$page" 2>/dev/null >"$tmp/log/dom"
	check "no name is obeyed" is "$(grep -c "<title>wrapix: session reportaa</title>" "$tmp/log/dom")" 1
fi

# --- other forms ---

wx report reportaa --md
check "Markdown" has "$out" '`looking up evil.example: no rule allows this host` (2 times)'
check "... on lines of its own" printable "$out"
check "... who it likely was" has "$out" '  likely needed by `make -j99`'
check "... that no backtick leaves" has "$out" '`` npm install "<b>" & `x` `` in'
wx report reportaa --json
check "JSON" python3 -c 'import json,sys; a=json.load(open(sys.argv[1])); assert a["refused"] == 6 and a["status"] == 3 and a["hosts"][0]["received"] == 45625685 and len(a["denials"]) == 5 and a["denials"][4]["likely"] == ["make -j99"] and not a["denials"][4]["commands"]' "$out"
wx report nobody
check "no such session" refused 2 "there is no log of a session 'nobody'"
wx report reportaa -o "$tmp/no/where.html"
check "a file that cannot be made" refused 125 "opening the directory of '$tmp/no/where.html'"
mkdir "$tmp/apart" && ln -s "$tmp/apart" out
wx report reportaa -o out/page.html
check "nor one behind a link that leads out of the working directory" refused 125 "opening the directory of 'out/page.html'"
check "... nothing is made there" is "$(ls "$tmp/apart")" ""
rm -r out "$tmp/apart"
"$wrapix" report reportaa >/dev/full 2>"$err"
check "no room for it" is "$? $(cat "$err")" "125 wrapix: writing to standard output: No space left on device"
rm -rf "$state"
wx report
check "nothing recorded" refused 125 "no session has recorded anything yet"

# --- of a real session ---

git init -q . && echo a >f && git add f && git -c user.name=x -c user.email=x@y.example commit -qm a
wx run --network filtered --workspace cow --name work -- sh -c 'echo "</pre><script>x</script>" >f; getent hosts evil.example'
wx report work -o "$page"
check "a copy-on-write session" is "$rc" 0
check "... what it changed" has "$page" '<summary>M <code>f</code></summary>'
check "... with the difference, as text" has "$page" '+&lt;/pre&gt;&lt;script&gt;'
check "... and is sound" python3 "$top/tests/lib/reportpage.py" check "$page"
wx run --workspace cow --name quiet -- sh -c 'echo x >new'
wx report quiet --md
check "one in which nothing happened: what it changed" has "$out" '- A `new`'
check "... and where to see it" has "$out" '`wrapix diff '
finish
