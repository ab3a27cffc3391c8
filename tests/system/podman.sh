#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
# SPDX-License-Identifier: MIT
# The podman engine, with a real podman 5: what a sandbox of the native engine promises holds here too.
#
# As root it gets a podman of the tests' own (tests/lib/podman5, kept in the build's directory) and, where the machine
# mounts cgroups in the old way, which crun refuses, a mount namespace with the new way.
. "$(dirname -- "$0")/../lib/system.sh"
prefix=$top/build/podman5
if [ "$(id -u)" = 0 ] && [ -z "${WRAPIX_PODMAN_READY-}" ]; then
	need_user
	WRAPIX_PODMAN_READY=1
	export WRAPIX_PODMAN_READY
	"$here/../lib/podman5" "$prefix" >&2 || {
		skip "the podman engine" "podman 5 could not be had from the mirror"
		finish
	}
	[ "$(stat -fc %T /sys/fs/cgroup)" = cgroup2fs ] || exec unshare -m --propagation private sh -c \
		'umount -R /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && mount --make-rshared / && exec "$@"' \
		sh "$here/${0##*/}" "$@"
fi
be_user "$@"
set_up
if [ -e "$prefix/whole" ]; then
	CONTAINERS_CONF=$prefix/containers.conf PATH=$prefix/bin:$PATH
	export CONTAINERS_CONF PATH
	mkdir -p "$HOME/.config/containers"
	cp "$prefix/policy.json" "$HOME/.config/containers/"
elif ! podman --version >/dev/null 2>&1; then
	skip "the podman engine" "there is no podman"
	finish
fi
# podman keeps a process of its own for each runtime directory, and files of other ids.
export XDG_RUNTIME_DIR="$tmp/run"
mkdir -m 700 "$XDG_RUNTIME_DIR"
leave() {
	podman unshare rm -rf "$HOME/.local/share/containers" >/dev/null 2>&1
	kill "$(cat "$XDG_RUNTIME_DIR/libpod/tmp/pause.pid" 2>/dev/null)" 2>/dev/null
	tear_down
}
trap leave EXIT

in_podman() { # in_podman SCRIPT [OPTION...]
	in_podman_script=$1
	shift
	wx run --engine podman --network none "$@" -- sh -c "$in_podman_script"
}
psays() { # psays NAME WANT SCRIPT [OPTION...]
	psays_name=$1 psays_want=$2
	shift 2
	in_podman "$@"
	check "$psays_name" printed "$psays_want"
}
no_containers() { is "$(podman ps -aq)" ""; }

# --- an image of next to nothing ---
mkdir -p "$tmp/root/bin" "$tmp/root/etc"
cp /bin/busybox "$tmp/root/bin/"
for name in sh ls cat id stat env touch tr nc ip stty tty grep kill sleep wget readlink ps mkdir head sed; do
	ln -s busybox "$tmp/root/bin/$name"
done
printf '#!/bin/nosuch\n' >"$tmp/root/bin/odd"
touch "$tmp/root/bin/plain"
chmod 755 "$tmp/root/bin/odd"
wx run --engine podman -- true
check "without an image it is said how to make one" refused 125 "there is no unpacked image 'base'"
wx image build --from "rootfs:$tmp/root" --name base
check "an image is built" is "$rc" 0

# --- files and owners ---
echo mine >file
psays "the project is at /workspace, the image is loaded by itself" "mine" 'cat /workspace/file'
psays "the user is himself" "$(id -u) $(id -g)" 'echo "$(id -u) $(id -g)"'
in_podman 'touch made && mkdir dir && touch dir/deep'
check "what is made inside is the user's" is "$(stat -c %u made dir dir/deep | sort -u)" "$(id -u)"
rm -r made dir
psays "the host's home is not there" "no" "[ -e '$home' ] && echo yes || echo no"
psays "the image is read-only, the private places are not" "ro rw rw rw 700" \
	'(touch /bin/x 2>/dev/null && echo rw || echo ro
	for d in /tmp "$HOME" /run; do touch $d/x && echo rw; done; stat -c %a "$HOME") | tr "\n" " " | sed "s/ \$//"'

# --- mounts ---
mkdir "$tmp/a, \"b\" c" "$tmp/rw" point
echo there >"$tmp/a, \"b\" c/f"
psays "a mount with any name, read-only" "there ro" 'echo "$(cat "/data dir/f") $(touch "/data dir/x" 2>/dev/null && echo rw || echo ro)"' \
	--mount "$tmp/a, \"b\" c:/data dir:ro"
psays "a mount in the home: what is above it is the user's" "$(id -u) ok" \
	'echo "$(stat -c %u ~/.cache) $(touch ~/.cache/x ~/.cache/sub/y && echo ok)"' --mount "$tmp/rw:~/.cache/sub"
check "... and is written to" exists "$tmp/rw/y"
wx run --engine podman --network none --mount "$tmp/rw:/workspace/nosuch" -- true
check "a mount on nothing in the project is refused" refused 125 "nosuch"
check "... and nothing is made for it" absent nosuch
echo '{}' >wrapix.json
psays "wrapix.json is read-only" ro '(echo x >wrapix.json) 2>/dev/null && echo rw || echo ro'
rm wrapix.json
rmdir point

# --- environment ---
SECRET=$(printf 'two\nlines') wx run --engine podman --network none --env SECRET --env 'A=b c' -- sh -c 'echo "$SECRET|$A|$HOME|$WRAPIX"'
check "variables come in whole" printed "$(printf 'two\nlines|b c|/home/wrapix|1')"
mkfifo up go
TOKEN=s3cret-value "$wrapix" run --engine podman --network none --env TOKEN --name held -- \
	sh -c 'echo up >up; cat go >/dev/null; [ -n "$TOKEN" ] && exit 9' >"$tmp/log/out" 2>"$tmp/log/err" &
pid=$!
started="${started-} $pid"
hear up
podman inspect "$(podman ps -q)" >"$tmp/inspect"
check "podman never sees a value" lacks "$tmp/inspect" s3cret-value
check "... nor does any command line" fails grep -l s3cret-value /proc/[0-9]*/cmdline
check "... nor a file of the session's" fails grep -r s3cret-value "$XDG_RUNTIME_DIR/wrapix"
check "the container says whose it is" has "$tmp/inspect" '"wrapix.name": "held"'
wx ps
check "it is listed" has "$out" held
: >go
wait "$pid"
check "the exit status is the command's" is $? 9

# --- rights ---
psays "no capability, no new privileges, our filter on podman's" "0000000000000000 1 2 ok" \
	'grep -E "CapEff|NoNewPrivs|Seccomp:" /proc/self/status | sed "s/.*:\t*//" | tr "\n" " "
	[ "$(sed -n "s/Seccomp_filters:\t*//p" /proc/self/status)" -ge 2 ] && echo ok'
psays "PID 1 is ours and closed" "wrapix-init no" 'echo "$(sed -n "s/Name:\t//p" /proc/1/status) $(cat /proc/1/environ >/dev/null 2>&1 && echo yes || echo no)"'

# --- endings ---
for want in 0 7 255; do
	in_podman "exit $want"
	check "status $want" ended $want
done
in_podman 'kill -9 $$'
check "a killed command is 137" ended 137
wx run --engine podman --network none -- nosuch
check "a command that is not there is 127" refused 127 nosuch
wx run --engine podman --network none -- /bin/plain
check "one that cannot be executed is 126" refused 126 plain
for signal in TERM INT USR1; do
	"$wrapix" run --engine podman --network none -- sh -c "trap 'exit 42' $signal; echo up >up; while :; do sleep 0.05; done" &
	pid=$!
	started="${started-} $pid"
	hear up
	kill -$signal $pid
	wait $pid
	check "SIG$signal reaches the command" is $? 42
done
"$wrapix" run --engine podman --network none --name stopme -- sh -c 'echo up >up; sleep 100' 2>/dev/null &
pid=$!
started="${started-} $pid"
hear up
wx stop stopme
wait $pid
check "'wrapix stop' ends it" is "$? $rc" "143 0"
"$wrapix" run --engine podman --network none -- sh -c 'echo up >up; sleep 100' 2>/dev/null &
pid=$!
started="${started-} $pid"
hear up
kill -9 $pid
check "without its supervisor a container ends and is removed" await no_containers
in_podman true
check "... and the next start removes its files" is "$(ls "$XDG_RUNTIME_DIR/wrapix/podman")" ""
rm up go

# --- standard descriptors and the terminal ---
check "input comes in, output and errors go out apart" is \
	"$(echo in | "$wrapix" run --engine podman --network none -- sh -c 'cat; echo err >&2' 2>"$tmp/log/err") $(cat "$tmp/log/err")" "in err"
script -qec "stty rows 33 cols 101; '$wrapix' run --engine podman --network none -- sh -c 'tty; stty size'" /dev/null \
	</dev/null >"$tmp/tty" 2>&1
check "a terminal of its own" has "$tmp/tty" /dev/pts/0
check "... of the user's size" has "$tmp/tty" "33 101"

# --- network ---
psays "none: loopback alone" "lo" 'ls /sys/class/net'
python3 -c 'import socket, threading
def serve(s):
    while True:
        c = s.accept()[0]
        c.sendall(b"of the host\n")
        c.close()
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
serve(s)' >"$tmp/port" 2>/dev/null &
started="${started-} $!"
await test -s "$tmp/port"
port=$(cat "$tmp/port")
ask='for a in 127.0.0.1 169.254.1.2 $(ip route | sed -n "s/default via \([^ ]*\).*/\1/p"); do nc -w 2 $a '$port' </dev/null; done 2>/dev/null; :'
wx run --engine podman -- sh -c "$ask"
check "open: the host's loopback is closed" printed ""
wx run --engine podman -- sh -c 'ls /sys/class/net | grep -vc "^lo$"'
check "... and there is a way out" printed 1
wx run --engine podman --host-port "$port" -- sh -c "nc -w 2 127.0.0.1 $port </dev/null"
check "--host-port opens one port of it" printed "of the host"
wx run --engine podman --network host -- sh -c "nc -w 2 127.0.0.1 $port </dev/null"
check "host: it is the host's own" has "$out" "of the host"

# --- what it does not have is refused ---
wx run --engine podman --allow example.com -- true
check "a filtered network is refused" refused 125 "filtered"
wx run --engine podman --workspace cow -- true
check "copy-on-write is refused" refused 125 "copy-on-write"
check "no container is left" no_containers
check "no file of a session is left" is "$(ls "$XDG_RUNTIME_DIR/wrapix/podman" "$XDG_RUNTIME_DIR/wrapix/sessions")" \
	"$(printf '%s:\n\n%s:' "$XDG_RUNTIME_DIR/wrapix/podman" "$XDG_RUNTIME_DIR/wrapix/sessions")"
check "the project has what it had" is "$(ls -A)" file
finish
