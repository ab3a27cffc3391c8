#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2086,SC2154,SC2317 # the library; scripts for the shell inside; words; functions called by name
# SPDX-License-Identifier: MIT
# One list of what a sandbox promises, run against both engines from the same image, in an internet of the tests' own.
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/podman.sh"
. "$top/tests/lib/networld.sh"
need_podman "$@"
in_world "$@"
set_up
podman_up

rootfs "$tmp/root" curl
wx image build --from "rootfs:$tmp/root" --name base
check "an image for both" is "$rc" 0

# run OPTION... -- COMMAND...: with the engine's options
run() { wx run $engine "$@"; }
# prints NAME WANT SCRIPT [OPTION...]
prints() {
	prints_name=$1 prints_want=$2 prints_script=$3
	shift 3
	run "$@" -- sh -c "$prints_script"
	check "$label: $prints_name" is "$(cat "$out")" "$prints_want"
}
# held SCRIPT [OPTION...]: a sandbox that has said 'up' and goes on until it is told; $pid
held() {
	held_script=$1
	shift
	rm -f up
	mkfifo up
	"$wrapix" run $engine "$@" -- sh -c "$held_script" >"$tmp/log/out" 2>"$tmp/log/err" &
	pid=$!
	started="${started-} $pid"
	hear up
	rm up
}

files() {
	echo mine >file
	prints "the project is at /workspace, and is the user's" "mine $(id -u):$(id -g) $(id -u)" \
		'echo "$(cat /workspace/file) $(stat -c %u:%g /workspace/file) $(id -u)"'
	run -- sh -c 'touch made; mkdir -p dir/deep; ln -s file link; umask 077; touch private'
	check "$label: what is made inside is the user's" is "$(stat -c %u:%g made dir/deep private | sort -u)" "$(id -u):$(id -g)"
	check "$label: ... with its modes" is "$(stat -c %a made dir private | tr '\n' ' ')" "644 755 600 "
	rm -r made dir link private
	prints "the host's home is not there" no "[ -e '$home' ] && echo yes || echo no"
	prints "home, /tmp, /run, /dev/shm are private" "rw rw rw rw 700" \
		'{ for d in ~ /tmp /run /dev/shm; do touch $d/x && echo rw; done; stat -c %a ~; } | tr "\n" " " | sed "s/ \$//"'
	run -- touch /usr/bin/x
	prints "the root itself is read-only" ro 'touch /x 2>/dev/null && echo rw || echo ro'
	prints "nothing of it, nor of the system, is there at the next start" "" 'ls /tmp; ls /usr/bin/x 2>/dev/null; ls -A ~ | grep x'
}

mounts() {
	mkdir -p "$tmp/a, \"b\" c/deep" "$tmp/rw" "$tmp/kept"
	echo there >"$tmp/a, \"b\" c/f"
	prints "a read-only mount, with any name" "there ro ro" \
		'cd "/data dir"; echo "$(cat f) $(touch x 2>/dev/null && echo rw || echo ro) $(touch deep/x 2>/dev/null && echo rw || echo ro)"' \
		--mount "$tmp/a, \"b\" c:/data dir:ro"
	prints "a mount in the home, whose parents are the user's" "$(id -u) ok" \
		'echo "$(stat -c %u ~/.cache) $(touch ~/.cache/x ~/.cache/sub/y && echo ok)"' --mount "$tmp/rw:~/.cache/sub"
	check "$label: ... is written to" exists "$tmp/rw/y"
	rm -f "$tmp/rw/y"
	echo '{}' >wrapix.json
	prints "wrapix.json is read-only" "ro {}" '(echo x >wrapix.json) 2>/dev/null && echo rw || echo "ro $(cat wrapix.json)"'
	rm wrapix.json
	run --home keep -- sh -c 'echo again >~/note'
	prints "a kept home keeps" again 'cat ~/note' --home keep
	# What is mounted in it comes along, and below a read-only mount nothing can be written.
	prints "a mount below a read-only mount is read-only too" "in end" \
		'{ ls /tree/inner; touch /tree/x && echo rw; touch /tree/inner/x && echo rw; echo end; } 2>/dev/null | tr "\n" " " | sed "s/ \$//"' \
		--mount "$world/tree:/tree:ro"
	prints "... by the mounts, not by Landlock alone" "in end" \
		'{ ls /tree/inner; touch /tree/x && echo rw; touch /tree/inner/x && echo rw; echo end; } 2>/dev/null | tr "\n" " " | sed "s/ \$//"' \
		--allow-nested --mount "$world/tree:/tree:ro"
	prints "... and writable below a writable one" "in rw" \
		'{ ls /tree/inner; touch /tree/inner/x && echo rw; rm -f /tree/inner/x; } 2>/dev/null | tr "\n" " " | sed "s/ \$//"' \
		--mount "$world/tree:/tree"
}

view() {
	mkdir -p d/e
	echo x >d/e/f
	run --workspace cow -- sh -c 'echo changed >file; rm d/e/f; mv d moved; echo new >n; cat file n; ls moved/e'
	check "$label: a copy-on-write workspace is written to" is "$(cat "$out")" "$(printf 'changed\nnew')"
	check "$label: ... and the project is as it was" is "$(cat file) $(ls -A d/e) $(ls -d n moved 2>/dev/null)" "mine f "
	wx diff --stat
	check "$label: ... its changes are shown" has "$out" "n  +1 -0"
	wx apply --yes
	check "$label: ... taken over" is "$(cat file n) $(ls -Ad d moved 2>/dev/null) $(stat -c %u file n moved | sort -u)" "changed
new moved $(id -u)"
	wx undo
	check "$label: ... and back" is "$(cat file) $(ls -Ad n moved d 2>/dev/null)" "mine d"
	wx discard --yes
	check "$label: ... and nothing is left of it" is "$rc $(find "$state/cow" -mindepth 1 ! -name .overlay)" "0 "
	rm -r d
}

environment() {
	SECRET=$(printf 'two\nlines') run --env SECRET --env 'A=b c' -- sh -c 'echo "$SECRET|$A|$HOME|$WRAPIX|$USER|$(pwd)|$(hostname)"'
	check "$label: variables come in whole" is "$(cat "$out")" "$(printf 'two\nlines|b c|/home/wrapix|1|%s|/workspace|wrapix' "$(id -un)")"
	LEAK=me run -- env
	check "$label: others do not" lacks "$out" LEAK
	sed -n 's/^\([A-Za-z_]*\)=.*/\1/p' "$out" | grep -v '^_$' | LC_ALL=C sort >"$tmp/env.${label%% *}"
	run -- printf '%s|' '' ' ' '$HOME' "it's" --
	check "$label: arguments arrive as they are" is "$(cat "$out")" "| |\$HOME|it's|--|"
}

rights() {
	prints "no capability, no new privileges, a filter" "0000000000000000 0000000000000000 1 2" \
		'sed -n "s/^\(CapEff\|CapBnd\|NoNewPrivs\|Seccomp\):\t*//p" /proc/self/status | sed "2!b" | tr "\n" " " | sed "s/ \$//"'
	prints "PID 1 is ours and closed" "wrapix-init no" 'echo "$(tr "\0" "\n" </proc/1/cmdline | head -n 1 | sed "s,.*/,,") $(cat /proc/1/environ >/dev/null 2>&1 && echo yes || echo no)"'
	prints "namespaces cannot be made" no 'unshare -U true 2>/dev/null && echo yes || echo no'
	prints "the host's name and the kernel's settings stay" "no no" \
		'echo "$(hostname x 2>/dev/null && echo yes || echo no) $( (echo 1 >/proc/sys/kernel/panic) 2>/dev/null && echo yes || echo no)"'
}

endings() {
	for want in 0 7 125 255; do
		run -- sh -c "exit $want"
		check "$label: status $want" ended $want
	done
	for s in TERM:143 KILL:137 SEGV:139; do
		run -- sh -c "kill -${s%:*} \$\$"
		check "$label: killed by SIG${s%:*} is ${s#*:}" ended "${s#*:}"
	done
	run -- nosuch
	check "$label: a command that is not there is 127" refused 127 nosuch
	echo 'echo hi' >plain
	run -- ./plain
	check "$label: one that cannot be executed is 126" refused 126 plain
	printf '\177ELF garbage' >plain
	chmod +x plain
	run -- ./plain
	check "$label: a broken program is 126" refused 126 plain
	printf 'echo "a script $1"\n' >plain
	run -- ./plain here
	check "$label: a script without a first line goes to the shell" printed "a script here"
	rm plain
	for signal in TERM HUP USR1; do
		held "trap 'exit 42' $signal; echo up >up; while :; do sleep 0.05; done"
		kill -$signal $pid
		wait $pid
		check "$label: SIG$signal reaches the command" is $? 42
	done
	trap '' USR2
	held "trap 'exit 42' TERM; trap 'exit 43' USR2; echo up >up; while :; do sleep 0.05; done"
	trap - USR2
	kill -USR2 $pid
	kill -TERM $pid
	wait $pid
	check "$label: ... but for one that wrapix was started with ignored" is $? 42
	held 'trap "" HUP; echo up >up; exec sleep 100' --name stopme
	await sh -c "'$wrapix' ps | grep -q stopme"
	wx ps
	check "$label: it is listed" has "$out" stopme
	wx stop stopme
	wait $pid
	check "$label: 'wrapix stop' ends it" is "$? $rc" "143 0"
	held "echo up >up; exec sleep 100.$$" --name killed
	await sh -c "'$wrapix' ps | grep -q killed"
	kill -9 $pid
	check "$label: without its supervisor it ends" none_running "sleep 100.$$"
	held 'trap "" TERM; echo up >up; sleep 0.2; exit 5'
	kill -TERM $pid
	wait $pid
	check "$label: a command may end in its own time" is $? 5
}

descriptors() {
	check "$label: input comes in, output and errors go out apart" is \
		"$(echo in | "$wrapix" run $engine -- sh -c 'cat; echo err >&2' 2>"$tmp/log/err") $(cat "$tmp/log/err")" "in err"
	head -c 5000000 /dev/urandom >"$tmp/random"
	"$wrapix" run $engine -- cat <"$tmp/random" >"$tmp/copy" 2>"$tmp/log/err"
	check "$label: 5 MB through it, byte for byte" cmp "$tmp/random" "$tmp/copy"
	python3 -B "$top/tests/lib/resize.py" "$wrapix" run $engine -- sh -c 'tty; stty size' >"$tmp/tty" 2>&1
	check "$label: a terminal of its own" has "$tmp/tty" /dev/pts/0
	check "$label: ... of the user's size" has "$tmp/tty" "33 101"
	python3 -B "$top/tests/lib/resize.py" "$wrapix" run $engine -- \
		sh -c 'trap "stty size; exit 0" WINCH; echo ready; while :; do sleep 0.05; done' >"$tmp/tty" 2>&1
	check "$label: ... and of each new size" has "$tmp/tty" "44 99"
}

ask='curl -sS --max-time 50'
network() {
	prints "none: loopback alone" lo 'sed -n "s/:.*//p" /proc/net/dev | tr -d " "' --network none
	prints "open: there is a way out, by names too" "hello from 198.51.100.10 at 198.51.100.10 80
hello from allowed.test at 198.51.100.10 80" "$ask -4 http://198.51.100.10/ http://allowed.test/" --network open
	# A newer pasta looks once a second whether who it was given is there.
	prints "open: it is there later, too" "hello from 198.51.100.10 at 198.51.100.10 80" \
		"$ask -4 -o /dev/null http://198.51.100.10/; sleep 2.5; $ask -4 http://198.51.100.10/" --network open
	prints "open: the host's loopback is closed" "" \
		"for a in 127.0.0.1 169.254.1.2 \$(ip route | sed -n 's/default via \([^ ]*\).*/\1/p'); do nc -w 2 \$a $service </dev/null; done 2>/dev/null" --network open
	prints "host: it is the host's own" "of the host" "nc -w 50 127.0.0.1 $service </dev/null" --network host
}

filtered() {
	mark
	run --allow allowed.test -- sh -c "$ask http://allowed.test/; $ask --cacert ca.pem https://allowed.test/; $ask http://other.test/; $ask http://198.51.100.10/; nslookup allowed.test 8.8.8.8 >/dev/null && echo asked; nslookup other.test 8.8.8.8 >/dev/null 2>&1 || echo not there"
	check "$label: filtered: an allowed name, also over TLS" is "$(grep -c 'hello from allowed.test' "$out")" 2
	check "$label: filtered: another name does not exist" has "$err" "Could not resolve host: other.test"
	check "$label: filtered: nor is an address a way around" has "$err" "Failed to connect to 198.51.100.10"
	check "$label: filtered: any name server is ours" has "$out" "asked"
	check "$label: filtered: ... for the others too" has "$out" "not there"
	check "$label: filtered: the user is told" event "other.test: not-allowed"
	check "$label: filtered: nobody else was dialled" unheard "^tcp 198.51.100.20|^dns other.test|^udp"
	for tier in static ports; do
		prints "filtered, $tier: an allowed name, and no other" "hello from allowed.test" \
			"$ask http://allowed.test/ | sed 's/ at .*//'; $ask http://other.test/ http://198.51.100.10/ 2>/dev/null" --filter-tier $tier --allow allowed.test:80
	done
	rm -f go
	mkfifo go
	held "echo up >up; cat go; $ask http://other.test/" --name live --allow allowed.test
	await "$wrapix" allow live other.test
	: >go
	wait $pid
	check "$label: filtered: a rule that comes while it runs" has "$tmp/log/out" "hello from other.test"
	rm go
}

# call PORT: what a server there says first.
call() {
	python3 -c 'import socket, sys
print(socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30).makefile().readline().strip())' "$1"
}
answers() { [ "$(call "$1" 2>/dev/null)" = "$2" ]; }
serve='echo up >up; while :; do echo hi | nc -l -p 3000 >/dev/null; done'
ports() {
	for net in none open filtered; do
		held "$serve" --network $net --publish 8080:3000
		check "$label: $net: --publish" await answers 8080 hi
		kill $pid
		wait $pid
		prints "$net: --host-port, also by name" "of the host
of the host" "for a in 127.0.0.1 host.wrapix.internal; do nc -w 50 \$a $service </dev/null; done" --network $net --host-port "$service"
		prints "$net: ... and no other" "" "nc -w 2 127.0.0.1 $((service + 1)) </dev/null 2>/dev/null" --network $net --host-port "$service"
	done
}

python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
while True:
    c = s.accept()[0]
    c.sendall(b"of the host\n")
    c.close()' >"$tmp/port" 2>/dev/null &
started="${started-} $!"
await test -s "$tmp/port"
service=$(cat "$tmp/port")
cp $world/ca.pem .

for label in native podman; do
	case $label in native) engine="--image base" ;; *) engine="--engine podman" ;; esac
	files
	mounts
	view
	environment
	rights
	endings
	descriptors
	network
	filtered
	ports
done
check "both have the same variables, the image's too" sh -c 'diff "$1.native" "$1.podman" && grep -qx SSL_CERT_FILE "$1.native"' sh "$tmp/env"
check "no container is left" no_containers
finish
