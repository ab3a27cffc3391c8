#!/bin/sh
# SPDX-License-Identifier: MIT
# 10,000 edits of a settings file while a command writes, reads and connects: at no moment does it get more than the old
# and the new rules allow. For 'wrapix exec', and for 'wrapix run'. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2086,SC2154,SC2317 # the library; scripts for the shell inside; words; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/networld.sh"
in_world "$@"
set_up
set_up_net "${1-queue}"
mkdir .claude "$HOME/.claude"
cp "$here/edits.py" .
for letter in a b c; do echo x >r-$letter; done
printf '{"projects": {"%s": {"hasTrustDialogAccepted": true}}}' "$project" >"$HOME/.claude.json"

# storm NAME EDITS COMMAND...: the command tries while the settings are edited
storm() {
	storm_name=$1 storm_edits=$2
	shift 2
	head -c 64 /dev/zero >shared
	echo '{"permissions": {"deny": ["Edit(/w-*)", "Read(/r-*)", "Edit(/mark-*)"]}}' >.claude/settings.json
	"$@" python3 -B edits.py try shared >"$tmp/$storm_name.out" 2>"$tmp/$storm_name.err" &
	storm_pid=$!
	python3 -B edits.py edit shared .claude/settings.json "$storm_edits" >"$tmp/edits.out" 2>&1
	edited=$?
	[ $edited = 0 ] || kill $storm_pid
	wait $storm_pid
	check "$storm_name: $storm_edits edits, all windows taken" is "$edited" 0
	check "... nothing was ever more open than both versions" lacks "$tmp/$storm_name.out" "MORE OPEN"
	check "... and what one of them allows was had" grep -q '^tries [0-9]* write True read True connect True$' "$tmp/$storm_name.out"
	sed 's/^/# /' "$tmp/edits.out" "$tmp/$storm_name.out"
}
storm exec 10000 "$wrapix" exec --
storm run 1000 "$wrapix" run --settings-from claude --
wx log --json
check "each change that was taken is an event" python3 - "$out" <<'X'
import json, sys
n = [json.loads(l)["type"] for l in open(sys.argv[1]) if '"type"' in l].count("settings")
assert n >= 20, n
X
finish
