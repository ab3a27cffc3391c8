#!/bin/sh
# SPDX-License-Identifier: MIT
# The rules of a running session: wrapix allow, wrapix deny, and the control socket they talk to. Prints TAP.
#
#	rules.sh [queue|static|ports]
#
# shellcheck disable=SC1091,SC2016,SC2086,SC2154,SC2317 # the library; scripts for the shell inside; words; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/networld.sh"
in_world "$@"
set_up
set_up_net "${1-queue}"
cp "$here/rules.py" "$project"

# --- sessions that wait for us ---
begin() { # begin NAME OPTION... -- COMMAND...: in the background, until it is listed
	session=$1
	shift
	"$wrapix" run --name "$session" "$@" <&3 >"$tmp/$session.out" 2>"$tmp/$session.err" &
	supervisor=$!
	started="${started-} $supervisor"
	await listed "$session" || explain
}
listed() { "$wrapix" ps | grep -q " $1 "; }
id_of() { "$wrapix" ps --json | sed -n 's/.*"id": "\([^"]*\)", "name": "'"$1"'".*/\1/p'; }
dir_of() { echo "$state/sessions/$(id_of "$1")"; }
end() { "$wrapix" stop "$1" >/dev/null 2>&1; await fails listed "$1"; wait "$supervisor" 2>/dev/null; }

# A session whose command probes what it is told to: "ask PROBE..." prints netprobe.py's lines, joined.
mkfifo asked empty
exec 3<>empty
begin_asked() {
	session_name=$1
	shift
	exec 5<>asked
	begin "$session_name" --filter-tier $tier "$@" -- sh -c \
		'while read -r words; do python3 -B netprobe.py $words >answer.new 2>&1; mv answer.new answer; done <asked'
}
ask() {
	rm -f answer
	echo "$*" >&5
	await exists answer || return
	tr '\n' ' ' <answer | sed 's/ $//'
}
dialled() { ss -Htn state syn-sent | grep -qF "$1:7"; }
asked() { check "$1" is "$(ask $3)" "$2"; } # asked NAME WANT PROBES
refused_as() { by_tier ECONNREFUSED ECONNRESET ECONNRESET; }

begin_asked one --allow allowed.test:7
one=$(dir_of one)
check "the door opens" await exists "$one/control"
check "... for the user alone" is "$(stat -c '%F %a' "$one/control")" "socket 1600"
asked "what is allowed" ok echo:allowed.test
asked "what is not" EAI_NONAME echo:other.test

# --- allow and deny ---
wx allow one other.test:7
check "allow: done, without a word" printed ""
asked "... and open at once" ok echo:other.test
asked "... and the rest as before" "ok EAI_NONAME" "echo:allowed.test echo:wild.test"
wx allow one other.test:7
check "the same again" printed ""
wx deny one other.test
check "deny: done, without a word" printed ""
asked "... and shut at once: a deny rule beats the narrower allow rule" EAI_NONAME echo:other.test
wx allow one other.test:7
check "an allow rule that cannot open is refused" refused 125 "'other.test:7' stays closed"
wx allow one other.test
check "the same HOST[:PORT] takes the deny rule back" printed ""
asked "... and it is open" ok echo:other.test
wx deny one 198.51.100.20 2001:db8:2::20/128
check "deny by address" printed ""
asked "... shuts the name that leads there" "$(refused_as)" echo:other.test
asked "... and that alone" ok echo:allowed.test
check "an address that no rule names" isnt "$(ask echo:198.51.100.30)" ok
wx allow one 198.51.100.30:7
asked "... can be allowed" ok echo:198.51.100.30
wx deny one 198.51.100.30:7
check "... and denied again" isnt "$(ask echo:198.51.100.30)" ok
wx allow one v4only.test:2000
check "a port that no rule had before" grep -q '^hello at' <<-END
	$(ask raw:v4only.test,2000)
END
wx deny one v4only.test:2000
asked "... and none has any more: nobody listens there" ECONNREFUSED connect:127.0.0.1,2000
wx allow "$(id_of one)" '*.wild.test:7' v4only.test:7
asked "by id, several rules at once" "ok ok" "echo:a.wild.test echo:v4only.test"
wx deny one --json a.wild.test
check "--json" is "$(cat "$out")" "{\"id\": \"$(id_of one)\", \"name\": \"one\", \"ok\": true}"
asked "below a wildcard" "EAI_NONAME ok" "echo:a.wild.test echo:b.wild.test"

# --- what is refused, and changes nothing ---
wx allow one 'https://wild.test/'
check "a rule that is none" refused 2 "a URL, not a host"
echo '{"network": {"allow": ["ok.test", "https://wild.test/"]}}' >"$project/wrapix.json"
wx run -- true
check "... in a file: which, and where" refused 2 "$project/wrapix.json: network.allow[1]: network rule 'https://wild.test/': a URL, not a host"
rm "$project/wrapix.json"
wx allow one '*'
check "every host" refused 2 "allows every host"
wx allow one
check "no host" refused 2 "give SESSION and HOST"
wx deny
check "no session" refused 2 "give SESSION and HOST"
wx deny nobody wild.test
check "a session that is not" refused 2 "there is no session 'nobody'"
check "a request with one bad rule is refused" is "$(python3 -B rules.py send "$one" '{"allow":["wild.test:7","a b"]}')" \
	"{\"error\": \"network rule 'a b': a blank or control character\"}"
asked "... and none of it was done" "EAI_NONAME ok" "echo:wild.test echo:allowed.test"
begin open --network none -- sleep 1000
wx allow open wild.test
check "a session without a filter" refused 125 "the network of 'open' is 'none'"
check "... has no door" absent "$(dir_of open)/control"
end open

# --- the door ---
bad() { # bad NAME REPLY TEXT: the text gets this reply, and the session goes on
	check "$1" is "$(python3 -B rules.py send "$one" "$3")" "$2"
}
bad "nothing to do is no mistake" '{"ok": true}' '{}'
bad "no JSON" '{"error": "request:1:1: expected a value"}' 'x'
bad "half of it" '{"error": "request:1:11: the text ends too early"}' '{"allow":['
bad "no object" '{"error": "request: must be an object, not a list"}' '[]'
bad "a wrong type" '{"error": "allow: must be a list, not 7"}' '{"allow":7}'
bad "a wrong type below" '{"error": "deny[1]: must be a string, not null"}' '{"deny":["a.b",null]}'
bad "another key" '{"error": "alow: unknown key", "hint": "did you mean \"allow\"?"}' '{"alow":[]}'
bad "a NUL" '{"error": "request:1:3: a control character; in a string write it as \\uXXXX"}' '{}\0'
bad "escapes for a terminal come back as text" "{\"error\": \"network rule '\\\\x1b[31mred': a blank or control character\"}" '{"allow":["\\u001b[31mred"]}'
head -c 65536 /dev/zero | tr '\0' ' ' >"$tmp/long"
printf '{}' | dd of="$tmp/long" conv=notrunc 2>/dev/null
bad "64 KiB" '{"ok": true}' "@$tmp/long"
echo >>"$tmp/long"
bad "one byte more" '{"error": "the request is too long"}' "@$tmp/long"
check "several on one connection" is "$(python3 -B rules.py send "$one" '{}' '[' '{}' | tr '\n' ' ')" \
	'{"ok": true} {"error": "request:1:2: the text ends too early"} {"ok": true} '
check "twenty clients that say nothing are in nobody's way" is "$(python3 -B rules.py crowd "$one" 20)" '{"ok": true} {"ok": true}'
asked "after all that the rules are as they were" "ok EAI_NONAME" "echo:allowed.test echo:wild.test"

# --- who may ---
cp rules.py "$state/rules.py"
wx run --network none --mount "$state:/state" --force -- python3 -B /state/rules.py send "/state/sessions/${one##*/}" '{"allow":["wild.test:7"]}'
check "not the inside of a sandbox" is "$(cat "$out")" '{"error": "only the user'"'s own processes outside of sandboxes may ask"'"}'
asked "... and nothing has changed" EAI_NONAME echo:wild.test
check "the same from outside" is "$(python3 -B "$state/rules.py" send "$one" '{"allow":["wild.test:7"]}')" '{"ok": true}'
asked "... works" ok echo:wild.test
rm "$state/rules.py"
end one
check "the end takes the door away" absent "$one"
check "what was refused is told with its rule" has "$tmp/one.err" "refused other.test: denied-name, by rule other.test"

# --- open connections ---
exec 5<>asked
begin held --filter-tier $tier --allow allowed.test:7 --allow other.test:7 --allow v4only.test:7 --allow 198.51.100.30:7 --allow wild.test:7 \
	-- sh -c 'exec python3 -B rules.py hold allowed.test:7 other.test:7 v4only.test:7 198.51.100.30:7 wild.test:7 <asked'
check "five connections" await has "$tmp/held.out" open
wx deny held wild.test:80 198.51.100.30:80
wx deny held other.test 198.51.100.30 '*.wild.test'
echo END >&5
check "deny resets those that it covers" await lines "$tmp/held.out" 2
check "... and no others" is "$(sed -n 2p "$tmp/held.out")" "open reset open reset open"
wx deny held 198.51.100.10/32 2001:db8:2::10/128
echo END >&5
check "deny by address resets what a name led to" await lines "$tmp/held.out" 3
check "... and no others" is "$(sed -n 3p "$tmp/held.out")" "reset reset reset reset open"
wx deny held '*'
echo END >&5
check "deny of everything" await lines "$tmp/held.out" 4
check "... resets the rest" is "$(sed -n 4p "$tmp/held.out")" "reset reset reset reset reset"
wx allow held allowed.test:7
check "... and stands" refused 125 "'allowed.test:7' stays closed"
end held
check "each is told with its rule" has "$tmp/held.err" "refused other.test:7: denied-name, by rule other.test"
check "... and by address" has "$tmp/held.err" "refused v4only.test:7: denied-address, by rule 198.51.100.10/32"

# --- connections that are on their way ---
begin_asked dialling --allow never.test:7 --allow silent.test:7 --allow allowed.test:7
mark
rm -f answer
echo echo4:never.test >&5
check "a name that is being resolved" await heard '^dns .*never.test'
wx deny dialling never.test
check "... is refused" await exists answer
check "... as refused" is "$(sed 's/ (.*//' answer)" "$(refused_as)"
rm -f answer
echo echo4:silent.test >&5
check "a host that is being dialled" await dialled 198.51.100.99
wx deny dialling 198.51.100.99
check "... is refused" await exists answer
check "... as refused" is "$(sed 's/ (.*//' answer)" "$(refused_as)"
check "neither has arrived" unheard '^tcp'
asked "others are not refused" ok echo:allowed.test
end dialling
check "each is told with its rule" has "$tmp/dialling.err" "refused never.test:7: denied-name, by rule never.test"
check "... and by address" has "$tmp/dialling.err" "refused silent.test:7: denied-address, by rule 198.51.100.99"

# --- 1,000 changes ---
head -c 16 /dev/zero >shared
mark
begin busy --filter-tier $tier --allow allowed.test:7 --allow 198.51.100.30:7 --deny wild.test:7 -- python3 -B rules.py try shared
busy=$(dir_of busy)
check "1,000 changes" is "$(python3 -B rules.py change shared "$busy" 2>&1)" "made 1000 changes"
wait "$supervisor"
check "the client inside ends well" is $? 0
stat_of() { sed -n 's/^{.*"'"$1"'": \([0-9]*\).*/\1/p' "$tmp/busy.out"; }
check "never a connection that neither the old nor the new rules allow, never a refusal that both allow" is "$(stat_of wrong)" 0
check "... and both were seen" [ "$(stat_of open)" -gt 50 -a "$(stat_of shut)" -gt 50 ]
check "outside saw the hosts that are sometimes allowed" heard '^tcp 198.51.100.30 7 '
check "... and nothing for those that never are" unheard '^tcp (198.51.100.20|2001:db8:2::20) '
sed 's/^/# /' "$tmp/busy.out"

# --- a supervisor that is killed ---
begin dead --filter-tier $tier --allow allowed.test:7 -- sleep 1000
dead=$(dir_of dead)
check "a door to be left behind" await exists "$dead/control"
kill -9 "$supervisor"
wait "$supervisor" 2>/dev/null
await fails listed dead
check "what a killed one leaves is swept by the next command" absent "$dead"

finish
