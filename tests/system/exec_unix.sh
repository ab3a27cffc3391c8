#!/bin/sh
# SPDX-License-Identifier: MIT
# connect(2) under wrapix exec: for everything of the sandbox's own it is what it is outside, case by case; of the
# host's UNIX sockets only those that allowUnixSockets names can be reached, also by who swaps what the call means.
#
# shellcheck disable=SC1091,SC2016,SC2154 # the library; scripts for other shells; its variables
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up

connect=$top/tests/lib/connect.py
cp "$connect" "$top/tests/lib/sockets.py" "$tmp" || bail "no $connect"
cd "$project" || exit 1

settings() { # settings NETWORK...: the members of "network"
	printf '{"network":{"allowedDomains":[],"deniedDomains":[]%s},' "$1" >"$tmp/settings.json"
	printf '"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]}}\n' >>"$tmp/settings.json"
}
inside() { timeout 60 "$wrapix" exec -s "$tmp/settings.json" -- "$@" 2>"$tmp/log/stderr"; }
outside() { timeout 60 "$@"; }

# --- every case, outside and inside ---

settings ''
mkdir "$tmp/own"
outside python3 "$tmp/connect.py" cases "$tmp/own" >"$tmp/log/outside" 2>&1
inside sh -c 'python3 "$1" cases "$TMPDIR"' sh "$tmp/connect.py" >"$tmp/log/inside"
while IFS= read -r line; do
	check "the same inside: $line" grep -Fxq -- "$line" "$tmp/log/inside"
done <"$tmp/log/outside"
check "there were cases to compare" test "$(wc -l <"$tmp/log/outside")" -gt 30
check "in the project, too" sh -c 'mkdir p && [ "$("$1" exec -s "$2" -- python3 "$3" cases "$4/p" | grep "^unix, relative: ")" = "unix, relative: True" ]' \
	sh "$wrapix" "$tmp/settings.json" "$tmp/connect.py" "$project"

# --- the host's sockets ---

start_server() { # start_server NAME: $tmp/NAME answers with NAME
	mkfifo "$tmp/log/$1.in" "$tmp/log/$1.out"
	python3 "$tmp/connect.py" serve "$tmp/$1" "$1" <"$tmp/log/$1.in" >"$tmp/log/$1.out" &
}
start_server open
exec 7>"$tmp/log/open.in"
hear "$tmp/log/open.out"
start_server shut
exec 8>"$tmp/log/shut.in"
hear "$tmp/log/shut.out"
ln -s "$tmp/shut" "$project/by-link"

says() { # says WORD COMMAND...: that is what it prints
	word=$1
	shift
	[ "$("$@")" = "$word" ]
}
check "outside the host's socket can be reached" says ok outside python3 "$tmp/connect.py" try "$tmp/shut"
check "inside it cannot" says EACCES inside python3 "$tmp/connect.py" try "$tmp/shut"
check "nor by a link in the project" says EACCES inside python3 "$tmp/connect.py" try "$project/by-link"
check "nor by its directory's descriptor" says EACCES inside python3 -c '
import os, socket, sys
d = os.open(sys.argv[1], os.O_RDONLY)
try:
    socket.socket(socket.AF_UNIX).connect(f"/proc/self/fd/{d}/shut")
    print("ok")
except PermissionError:
    print("EACCES")' "$tmp"
check "nor from the child of a thread" says EACCES inside python3 -c '
import subprocess, sys, threading
threading.Thread(target=lambda: subprocess.run([sys.executable, *sys.argv[1:]])).start()' \
	"$tmp/connect.py" try "$tmp/shut"
check "the refusal is told" grep -q "refused connecting to $tmp/shut" "$tmp/log/stderr"
settings ",\"allowUnixSockets\":[\"$tmp/open\"]"
check "one that is named can be reached" says ok inside python3 "$tmp/connect.py" try "$tmp/open"
check "and no other" says EACCES inside python3 "$tmp/connect.py" try "$tmp/shut"
swapped() { # swapped WORD WHERE HOW DIR: who swaps is answered by WORD at least once
	got=$("$2" python3 "$tmp/connect.py" swap "$3" "$tmp/open" "$tmp/shut" "$4" 8<&-)
	case $got in *$1*) ;; *) false ;; esac
}
# Whoever swaps wins by chance: the two that must be seen are tried until they are.
for how in address link descriptor; do
	mkdir "$project/$how"
	check "outside a swapped $how reaches the other socket" await swapped shut outside $how "$project/$how"
	got=$(inside python3 "$tmp/connect.py" swap $how "$tmp/open" "$tmp/shut" "$project/$how" 8<&-)
	check "inside it does not ($got)" sh -c 'case $1 in *shut*) false ;; esac' sh "$got"
done
check "while who swaps an address still reaches the open one" await swapped open inside address "$project"
check "... and the other not even once ($got)" is "$got" open
printf '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[],"disabled":true}}\n' \
	>"$tmp/settings.json"
check "without file rules what is bound inside can be reached, too" says ok inside python3 -c '
import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind("bound")
listener.listen()
socket.socket(socket.AF_UNIX).connect(sys.argv[1])
print("ok")' "$project/bound"
check "... and the host's cannot" says EACCES inside python3 "$tmp/connect.py" try "$tmp/shut"
settings ',"allowAllUnixSockets":true'
check "allowAllUnixSockets opens all of them" says ok inside python3 "$tmp/connect.py" try "$tmp/shut"
exec 7>&- 8>&-
wait

# --- a number that is free again ---
# What the sandbox bound is known by the file's number, which the next file gets when it is gone.

printf '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":["."],"denyWrite":[]}}' >"$tmp/settings.json"
mkdir -p numbers/own numbers/doors && cd numbers || exit 1
cat >numbers.py <<'EOF'
import os, socket, sys, time

COUNT = 300


def listen(name):
    s = socket.socket(socket.AF_UNIX)
    s.bind(name)
    s.listen()
    return s


def reached(name):
    try:
        socket.socket(socket.AF_UNIX).connect(name)
    except OSError:
        return False
    return True


def await_file(name):
    end = time.monotonic() + 50
    while not os.path.exists(name) and time.monotonic() < end:
        time.sleep(0.01)


if sys.argv[1] == "inside":
    for i in range(COUNT):
        listen(f"own/{i}").close()
    open("bound", "w").close()
    await_file("there")
    print(sum(reached(f"doors/{i}") for i in range(COUNT)), "of the host's,", end=" ")
    mine = [listen(f"doors/mine{i}") for i in range(COUNT)]
    print(sum(reached(f"doors/mine{i}") for i in range(COUNT)), "of its own")
else:
    await_file("bound")
    for i in range(COUNT):
        os.unlink(f"own/{i}")
    theirs = [listen(f"doors/{i}") for i in range(COUNT)]
    open("there", "w").close()
    print(sum(reached(f"doors/{i}") for i in range(COUNT)))
    sys.stdout.flush()
    await_file("over")
EOF
python3 numbers.py outside >"$tmp/log/numbers" &
inside python3 numbers.py inside >"$tmp/log/reached"
: >over
wait $!
check "sockets of the host's that have the numbers of some that the sandbox bound" is "$(cat "$tmp/log/numbers")" 300
check "... cannot be reached by it, and its own can" is "$(cat "$tmp/log/reached")" "0 of the host's, 300 of its own"
cd .. || exit 1

# --- descriptors that are passed ---

settings ''
echo told >"$tmp/given"
check "a file that is passed can be read" says told sh -c '"$1" exec -s "$2" --pass-fd 5 -c "cat <&5" 5<"$3"' sh \
	"$wrapix" "$tmp/settings.json" "$tmp/given"
check "and not be opened again to be written" fails sh -c '"$1" exec -s "$2" --pass-fd 5 -c "echo x >>/proc/self/fd/5" \
	5<"$3"' sh "$wrapix" "$tmp/settings.json" "$tmp/given"
check "... nor standard input" fails sh -c '"$1" exec -s "$2" -c "echo x >>/proc/self/fd/0" <"$3"' sh "$wrapix" \
	"$tmp/settings.json" "$tmp/given"
check "... it is as it was" says told cat "$tmp/given"
printf '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":["."],"denyWrite":[]},"allowNestedUserNamespaces":true}\n' >"$tmp/nested.json"
wx exec -s "$tmp/nested.json" --pass-fd 5 -- true 5<"$tmp/given"
check "where nothing forbids that, it is said" has "$err" "the file on descriptor 5 can be opened again"
check "a directory is not passed" fails sh -c '"$1" exec -s "$2" --pass-fd 5 -- true 5<"$3"' sh "$wrapix" \
	"$tmp/settings.json" "$tmp"
finish
