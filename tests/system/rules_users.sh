#!/bin/sh
# SPDX-License-Identifier: MIT
# Nobody but the session's own user may change its rules, or say what is to be applied: other users are tried, which takes root. Prints TAP.
#
# shellcheck disable=SC1091,SC2034,SC2154,SC2317 # the library, and its variables; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
need_user
[ "$(id -u)" = 0 ] || {
	skip "everything" "becoming other users needs root"
	finish
}
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
user_home=$(getent passwd "$test_user" | cut -d: -f6)
tmp=$(as_user mktemp -d "$user_home/wrapix-test.XXXXXX") || bail "no temporary directory in $user_home"
trap tear_down EXIT
trap 'exit 1' HUP INT TERM
as_user mkdir "$tmp/project" "$tmp/log" "$tmp/home"
user_home=$tmp/home
cd "$tmp/project" || exit 1

wx_user() { as_user "$wrapix" "$@"; }
listed() { wx_user ps | grep -q " $1 "; }
wx_user run --name mine --allow allowed.test -- sleep 1000 </dev/null >"$tmp/log/out" 2>"$tmp/log/err" &
started=$!
check "a session of $test_user" await listed mine
door_is_there() { find "$tmp/home" "/run/user/$(id -u "$test_user")/wrapix" -name control 2>/dev/null | grep -q .; }
check "... has a door" await door_is_there
dir=$(find "$tmp/home" "/run/user/$(id -u "$test_user")/wrapix" -name control -printf '%h\n' 2>/dev/null | tail -n 1)

# Root opens the directory and the script; the process that asks is another user's.
asks_as() { # asks_as UID: the reply to a request that changes nothing
	setpriv --reuid "$1" --regid "$1" --clear-groups python3 -B - send /proc/self/fd/9 '{}' <"$here/rules.py" 9<"$dir"
}
refusal='{"error": "only the user'"'"'s own processes outside of sandboxes may ask"}'
uid=$(id -u "$test_user")
check "the user may" is "$(asks_as "$uid" 2>&1)" '{"ok": true}'
check "root is another user" is "$(asks_as 0 2>&1)" "$refusal"
check "nobody does not come in" is "$(asks_as 65534 2>&1)" EACCES
chmod 777 "$dir" "$dir/control"
check "... and is refused where the directory is open" is "$(asks_as 65534 2>&1)" "$refusal"
chmod 700 "$dir"
check "after that the user still may" is "$(asks_as "$uid" 2>&1)" '{"ok": true}'
wx_user stop --kill mine

# A place in /var/tmp is whose it is: a session that somebody else put there is none of the user's, whatever it says.
spare=/var/tmp/wrapix-$uid
fake=$spare/cow/fake
plant() { # plant OWNER: the last step of an apply to the user's project that was interrupted
	rm -rf "$spare" && mkdir -p "$fake/project/upper" "$fake/apply/1/slots" && echo mine >"$fake/apply/1/slots/0" &&
		printf 'wrapix-apply 1\0add 0 0 0 0 81a4 0 0 0 planted\0end\0' >"$fake/apply/1/plan" && printf commit >"$fake/apply/1/state" &&
		printf 'wrapix-manifest 1\0000\0end\0' >"$fake/manifest" && : >"$fake/lock" &&
		echo "{\"version\": 1, \"started\": 4000000000000000000, \"copy\": false, \"id\": \"fake\", \"name\": \"fake\", \"project\": \"$PWD\"}" >"$fake/meta" &&
		chmod -R a+rwX "$spare/cow" && chown -R "$1" "$spare" && chmod 755 "$spare"
}
finishes() { wx_user apply >"$tmp/log/out" 2>&1; rm -rf "$spare"; [ -e planted ]; }
not_believed() { ! finishes || { echo "it was:"; ls -la; false; }; }
plant "$uid" || bail "no $spare"
check "an apply that was interrupted is finished" finishes
rm -f planted
plant 65534
check "... but not one that somebody else has put into /var/tmp" not_believed
plant "$uid" && chmod 777 "$spare"
check "... nor where anybody could" not_believed
finish
