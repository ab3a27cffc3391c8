#!/bin/sh
# SPDX-License-Identifier: MIT
# Secrets: in a file where there is no keyring, in a real GNOME Keyring, and what happens when that is locked, gone or
# silent.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154 # the library; scripts for other shells
. "$(dirname -- "$0")/../lib/system.sh"
. "$(dirname -- "$0")/../lib/keyring.sh"
be_user "$@"
set_up
command -v gnome-keyring-daemon >/dev/null || bail "gnome-keyring is not installed"
unset DBUS_SESSION_BUS_ADDRESS
file=$home/.config/wrapix/credentials.json

# put NAME VALUE: as wx, with the value on standard input.
put() {
	out=$tmp/log/out err=$tmp/log/err
	printf '%s' "$2" | timeout -s KILL 60 "$wrapix" secret set "$1" >"$out" 2>"$err"
	rc=$?
}
holds() { # holds NAME VALUE
	wx secret get "$1"
	is "$rc $(cat "$out")" "0 $2"
}

# --- a file ---

wx secret get one
check "before there is any, there is no secret" refused 125 "there is no secret 'one'"
wx secret remove one
check "... to remove, either" refused 125 "there is no secret 'one'"
put one first
check "without a keyring a value goes to a file" is "$rc" 0
check "... with a warning" has "$err" "warning: 'one' is in a file"
check "... that only its owner reads" is "$(stat -c %a "$file")" 600
check "... where it is found" holds one first
put one second
check "a new value takes the old one's place" holds one second
printf 'a\0b\n\377"x' >"$tmp/bytes"
"$wrapix" secret set bytes <"$tmp/bytes" 2>/dev/null
"$wrapix" secret get bytes >"$tmp/back"
check "a value may hold anything" cmp "$tmp/bytes" "$tmp/back"
wx secret list
check "the list has names, no values" is "$(sort "$out" | tr '\n' ' ')" "bytes (file) one (file) "
wx secret list --json
check "... as JSON" is "$(python3 -c 'import json,sys; print(sorted(s["name"] for s in json.load(sys.stdin)))' <"$out")" "['bytes', 'one']"
wx secret remove bytes
wx secret get bytes
check "what is removed is gone" refused 125 "there is no secret 'bytes'"
wx secret remove bytes
check "... and cannot be removed twice" refused 125 "there is no secret 'bytes'"
put empty ''
check "nothing is no value" is "$rc" 2
# typed KEYS: at a terminal, when the question is there; whether it shows what is typed then and afterwards, and the end.
typed() {
	timeout 60 python3 - "$wrapix" "$1" <<'PY'
import os, pty, sys, termios
shows = lambda fd: bool(termios.tcgetattr(fd)[3] & termios.ECHO)
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "secret", "set", "typed"])
seen = b""
while b"value: " not in seen:
    seen += os.read(fd, 100)
print(shows(fd), end=" ")
os.write(fd, sys.argv[2].encode())
status = os.waitpid(pid, 0)[1]
print(shows(fd), os.waitstatus_to_exitcode(status))
PY
}
check "a value that is typed is not shown" is "$(typed "word$(printf '\nx')")" "False True 0"
check "... and kept" holds typed word
check "... Ctrl-C leaves a terminal that shows what is typed" is "$(typed "$(printf '\003')")" "False True -2"
check "... and the value" holds typed word
wx secret remove typed
head -c 9000 /dev/zero | "$wrapix" secret set long >/dev/null 2>"$tmp/log/err"
check "a value has a size" is "$?" 2
for name in '' 'a b' a/b -x "$(printf 'a\nb')"; do
	printf x | "$wrapix" secret set -- "$name" >/dev/null 2>&1
	check "no secret is called '$name'" is "$?" 2
done
wx secret got
check "an unknown action names the nearest" has "$err" "wrapix secret get"

i=0
while [ $i -lt 20 ]; do
	printf 'v%s' $i | "$wrapix" secret set "n$i" 2>/dev/null &
	writers="${writers-} $!"
	i=$((i + 1))
done
# shellcheck disable=SC2086 # words
wait $writers
check "writers at the same time lose nothing" is "$("$wrapix" secret list | grep -c '^n')" 20
i=0
while [ $i -lt 40 ]; do
	printf 'kill%s' $i | "$wrapix" secret set killed 2>/dev/null &
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
	i=$((i + 1))
done
check "a kill -9 leaves the old or the new" holds n7 v7
check "... and whole JSON" python3 -c 'import json,sys; json.load(open(sys.argv[1]))' "$file"

chmod 644 "$file"
wx secret get one
check "a file that others can read is not used" refused 125 "can be read by others"
chmod 600 "$file"
cp "$file" "$tmp/saved"
echo '{"one": "66", ' >"$file"
put two x
check "a damaged file is not written over" is "$rc $(cat "$file")" '125 {"one": "66", '
mv "$tmp/saved" "$tmp/elsewhere"
rm "$file"
ln -s "$tmp/elsewhere" "$file"
wx secret get one
check "a link is not followed" isnt "$rc" 0
rm "$file"
mv "$tmp/elsewhere" "$file"

# --- a keyring ---

export WRAPIX="$wrapix"
ring 'printf ring | "$WRAPIX" secret set ring 2>&1; "$WRAPIX" secret get ring; echo; "$WRAPIX" secret list | grep ring' >"$tmp/log/out"
check "with a keyring a value goes there, without a word" is "$(cat "$tmp/log/out")" "ring
ring (keyring)"
check "... and not into the file" lacks "$file" ring
ring '"$WRAPIX" secret get ring; printf again | "$WRAPIX" secret set ring; "$WRAPIX" secret get ring; "$WRAPIX" secret list | grep -c ring' >"$tmp/log/out"
check "it is there later, and replaced" is "$(cat "$tmp/log/out")" "ringagain1"
ring '"$WRAPIX" secret get n3; printf new | "$WRAPIX" secret set n3; "$WRAPIX" secret get n3; "$WRAPIX" secret list | grep "^n3 "' >"$tmp/log/out"
check "what is in the file is found, and moves when it is written" is "$(cat "$tmp/log/out")" "v3newn3 (keyring)"
check "... out of the file" lacks "$file" '"n3"'
ring '"$WRAPIX" secret remove n3; "$WRAPIX" secret get n3 2>&1' >"$tmp/log/out"
check "removed from the keyring" has "$tmp/log/out" "there is no secret 'n3'"
cc -shared -fPIC -o "$tmp/held.so" "$top/tests/lib/keyring_held.c"
KEYRING_PRELOAD=$tmp/held.so KEYRING_HELD=$tmp/held ring ': >"$KEYRING_HELD"; "$WRAPIX" secret get ring 2>&1' >"$tmp/log/out"
check "a keyring that has not noted who calls survives it" is "$(cat "$tmp/log/out")" again
check "... as it stood still then" absent "$tmp/held"

# --- locked, gone, silent ---

locked '"$WRAPIX" secret get ring 2>&1; echo "status $?"' >"$tmp/log/out"
check "a locked keyring is said to be locked" has "$tmp/log/out" "the keyring is locked"
check "... and is an error" has "$tmp/log/out" "status 125"
locked 'printf other | "$WRAPIX" secret set fresh 2>&1; "$WRAPIX" secret get fresh' >"$tmp/log/out"
check "a new value then goes to the file" has "$tmp/log/out" "warning: 'fresh' is in a file"
check "... and why is said" has "$tmp/log/out" "(the keyring is locked)"
check "... and is found" is "$(tail -n 1 "$tmp/log/out")" other
locked 'printf newer | "$WRAPIX" secret set ring 2>&1; echo "status $?"' >"$tmp/log/out"
check "an old value that cannot be taken out is said" has "$tmp/log/out" "an older value stays in the keyring"
DBUS_SESSION_BUS_ADDRESS=unix:path=$tmp/nowhere wx secret get one
check "a bus that is gone: the file" is "$rc $(cat "$out")" "0 second"
python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print("ready", flush=True)
while True: sys.argv.append(s.accept())' "$tmp/silent" >"$tmp/said" &
started="${started-} $!"
await test -s "$tmp/said"
DBUS_SESSION_BUS_ADDRESS=unix:path=$tmp/silent wx secret get one
check "a bus that says nothing: the file, in a while" is "$rc $(cat "$out")" "0 second"

finish
