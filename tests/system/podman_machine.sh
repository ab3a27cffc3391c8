#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
# SPDX-License-Identifier: MIT
# --runtime krun. The test machines have neither libkrun nor a KVM that starts a kernel, so podman's part is a stand-in that
# makes a container; wrapix's own part - messages as files, the client's status, the one who ends what is left - is the real one.
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/podman.sh"

need_kvm "$@"
need_podman "$@"
be_user "$@"
set_up
podman_up
rootfs "$tmp/root"
wx image build --from "rootfs:$tmp/root" --name base

run() { wx run --engine podman --runtime krun --network none "$@"; }
run -- true
check "without krun it is said what is missing" refused 125 "needs the program 'krun'"
podman_machine
echo mine >file
run --env 'A=b c' -- sh -c 'echo "$(id -u) $A $HOME $(pwd) $(cat file)"; touch made; exit 9'
check "a command, its user, environment and status" is "$rc $(cat "$out")" "9 $(id -u) b c /home/wrapix /workspace mine"
check "... and what it made is the user's" is "$(stat -c %u made)" "$(id -u)"
run -- nosuch
check "one that is not there is 127" is "$rc" 127
check "... and said" has "$err" nosuch
check "input goes in, output and errors come out apart" is \
	"$(echo in | "$wrapix" run --engine podman --runtime krun --network none -- sh -c 'cat; echo err >&2' 2>"$tmp/log/err") $(cat "$tmp/log/err")" "in err"
python3 -B "$top/tests/lib/resize.py" "$wrapix" run --engine podman --runtime krun --network none -- sh -c 'tty; stty size' >"$tmp/tty" 2>&1
check "a terminal, of the user's size" sh -c 'grep -q /dev/pts/0 "$1" && grep -q "33 101" "$1"' sh "$tmp/tty"
wx run --engine podman --runtime krun --allow allowed.test -- sh -c 'cat /etc/resolv.conf; nslookup other.test 2>&1 | tail -n 2; wget -T 2 -O - http://192.0.2.1/ 2>&1'
check "a filtered network is up before the command" has "$out" 198.18.0.1
wx log
check "... and what it refuses is told" has "$out" "other.test"

mkfifo up
held() { # held NAME SCRIPT
	"$wrapix" run --engine podman --runtime krun --network none --name "$1" -- sh -c "$2" >"$tmp/log/out" 2>"$tmp/log/err" &
	pid=$!
	started="${started-} $pid"
	hear up
}
held ends 'trap "exit 42" TERM; echo up >up; while :; do sleep 0.05; done'
check "podman is given the runtime" is "$(podman inspect --format '{{.OCIRuntime}}' "$(podman ps -q)")" "$tmp/krun/krun"
kill -TERM $pid
wait $pid
check "a signal reaches the command" is $? 42
held killed "echo up >up; exec sleep 100.$$"
kill -9 $pid
check "without its supervisor the machine is ended and removed" await no_containers
check "... and nothing of it runs" none_running "sleep 100.$$"
check "... and its files are gone" await sh -c '[ -z "$(ls "$XDG_RUNTIME_DIR/wrapix/podman")" ]'
rm -f up file made
wx plan --engine podman --runtime krun -- true
check "the plan says what differs" has "$out" "the kernel is the machine's own"
check "no container is left" no_containers
check "the project has what it had" is "$(ls -A)" ""
finish
