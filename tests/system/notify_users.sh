#!/bin/sh
# SPDX-License-Identifier: MIT
# Messages: another user's connection is refused, even where the directories let him in. Needs root. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library, and its variables; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
need_user
[ "$(id -u)" = 0 ] || {
	echo "1..0 # SKIP it needs root, to be two users"
	exit 0
}
set_up
notify=${wrapix%/cli/wrapix}/notify
run=$tmp/run
as_user mkdir -m 700 "$run"
user_env() { as_user env XDG_RUNTIME_DIR="$run" DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere "$@"; }
as_user touch "$tmp/pid"
user_env sh -c 'echo $$ >"$1"; exec "$2"' sh "$tmp/pid" "$notify/daemon/wrapix-notifyd" >"$tmp/log/daemon" 2>&1 &
await grep -q listening "$tmp/log/daemon"
started=$(cat "$tmp/pid")
counts() { user_env "$notify/daemon/wrapix-notifyd" --status --json | sed 's/.*"'"$1"'":\([0-9]*\).*/\1/'; }
counted() { [ "$(counts "$1")" = "$2" ]; }
# Root is another user here, and no directory keeps him out.
as_root() { XDG_RUNTIME_DIR=$run "$notify/wrapix-notify" "$@"; }

check "another user's client ends with 0" as_root x
check "... and is refused" await counted refused 1
check "... and nothing was received" counted received 0
user_env "$notify/wrapix-notify" mine
check "the user's own is taken" await counted received 1
chmod 711 "$home/.." "$tmp" "$run" "$run/wrapix" && chmod 666 "$run/wrapix/notify.sock"
setpriv --reuid 65534 --regid 65534 --clear-groups env XDG_RUNTIME_DIR="$run" "$notify/wrapix-notify" theirs
check "nobody is refused as well, where every mode is open" await counted refused 2
check "... and still only one was received" counted received 1
XDG_RUNTIME_DIR=$run "$notify/daemon/wrapix-notifyd" --status >"$tmp/log/status" 2>&1
check "the daemon's door is closed to others, too" fails grep -q counts "$tmp/log/status"

# A listener of another user's, where the directory lets him in: he would answer a question about a key.
cat >"$tmp/impostor.py" <<'PY'
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
listener.listen()
print("up", flush=True)
while True:
    guest = listener.accept()[0]
    if said := guest.recv(4096):
        guest.sendall(b'{"action":"yes"}\n')
    print(said or "nothing", flush=True)
    guest.close()
PY
mkdir "$tmp/theirs" "$tmp/theirs/wrapix"
chmod 755 "$tmp/theirs" "$tmp/theirs/wrapix"
mkfifo "$tmp/up"
asks() { "$@" env XDG_RUNTIME_DIR="$tmp/theirs" WRAPIX_NOTIFY_VERBOSE=1 "$notify/wrapix-notify" --wait --timeout 60 --action yes=Yes Key 'May it?' >"$tmp/answer" 2>"$tmp/why"; }
python3 "$tmp/impostor.py" "$tmp/theirs/wrapix/notify.sock" >"$tmp/up" 2>"$tmp/log/impostor" &
started="$started $!"
exec 8<"$tmp/up"
timeout 120 sh -c 'read -r _' <&8
asks as_user
check "a listener of another user's has no answer for us" is "$(cat "$tmp/answer")" ""
check "... and it is said why" grep -q 'notify.sock: Operation not permitted' "$tmp/why"
heard=$(timeout 120 sh -c 'read -r line && echo "$line"' <&8)
check "... and he hears nothing" is "$heard" nothing
asks command
check "(control) he has one for himself" is "$(cat "$tmp/answer")" yes
exec 8<&-

# Inside a sandbox that the user gave the whole directory: the socket for lines works, the door does not.
(cd "$project" && user_env "$wrapix" run --network none --mount "$run:/outside" -- sh -c "XDG_RUNTIME_DIR=/outside $notify/daemon/wrapix-notifyd --status" \
	>"$tmp/log/inside" 2>&1)
check "nor is it open to a sandbox that was given the directory" fails grep -q counts "$tmp/log/inside"

# A command whose settings allow the directory's sockets: its supervisor connects in its place, and is not inside.
printf '{"network":{"allowedDomains":[],"deniedDomains":[],"allowUnixSockets":["%s"]},"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]}}' \
	"$run" >"$tmp/settings.json"
chmod 644 "$tmp/settings.json"
in_exec() { (cd "$project" && user_env "$wrapix" exec -s "$tmp/settings.json" -- "$@"); }
in_exec "$notify/daemon/wrapix-notifyd" --status >"$tmp/log/exec" 2>&1
check "nor to a command that may connect to what is in it" fails grep -q counts "$tmp/log/exec"
in_exec "$notify/wrapix-notify" lines
check "... to which the socket for lines is" await counted received 2
user_env "$notify/daemon/wrapix-notifyd" --status >"$tmp/log/status"
check "... while the user's own is answered" grep -q counts "$tmp/log/status"
finish
