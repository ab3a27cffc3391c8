#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2046,SC2154,SC2317 # the library; scripts for the shell inside; several words; functions called by name
# SPDX-License-Identifier: MIT
# What the podman engine has of its own, with a real podman 5. What both engines promise is in engines.sh.
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/podman.sh"
need_podman "$@"
be_user "$@"
set_up
podman_up

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

# --- docker in its place ---
mkdir "$tmp/docker"
printf '#!/bin/sh\nexec /usr/bin/podman "$@"\n' >"$tmp/docker/docker"
chmod +x "$tmp/docker/docker"
PATH=$tmp/docker:$PATH wx run --engine docker -- true
check "docker that is podman is told from docker" refused 125 "what has that name here is podman"
printf '#!/bin/sh\n' >"$tmp/docker/docker"
DOCKER_HOST=unix://$tmp/nosuch PATH=$tmp/docker:$PATH wx run --engine docker -- true
check "docker without a socket" refused 125 "its socket cannot be opened"
: >"$tmp/docker.sock"
DOCKER_HOST=unix://$tmp/docker.sock PATH=$tmp/docker:$PATH wx run --engine docker -- true
check "docker whose daemon is the user's" refused 125 "its daemon keeps what it starts"

# --- an image of next to nothing ---
rootfs "$tmp/root"
wx run --engine podman -- true
check "without an image it is said how to make one" refused 125 "there is no unpacked image 'base'"
wx image build --from "rootfs:$tmp/root" --name base
check "an image is built" is "$rc" 0

# --- files and owners ---
echo mine >file
in_podman 'cat /workspace/file'
check "the project is at /workspace, the image is loaded by itself" is "$rc $(cat "$out")" "0 mine"
check "... which is said, for it takes time" has "$err" "this first start takes longer"

# --- exec ---
in_podman 'cd /workspace && wrapix exec -- touch ran; echo $?; srt "touch ran"; echo $?'
check "exec inside is refused" is "$(xargs <"$out")" "125 1"
check "... says why" has "$err" "the outer sandbox holds this command as well"
check "... and runs nothing" absent ran

# --- limits: those of a control group are in limits_uml.sh ---
in_podman 'dd if=/dev/zero of=/tmp/big bs=1M count=30 2>/dev/null; echo $?' --disk 16M
check "a private place that is full" is "$(cat "$out")" 1
check "... is told of" has "$err" "refused writing more to its private places (/tmp): limits.disk is 16M; to allow it: raise limits.disk above 16M"

# Without a group an rlimit stands in, which counts podman's own with them: that is said at the start.
in_podman '(i=0; while [ $i -lt 60 ]; do { read -r x <nosuch || sleep 60; } & i=$((i + 1)); done) 2>&1' --pids 40
check "an rlimit holds the processes" has "$out" "can't fork"
check "... it was said what counts with them, and that nothing tells of it" has "$err" "an rlimit counts podman's own processes and those of your other containers with them, and reaching it is no event"

# --- git ---
command -v git >/dev/null && {
	git init -q repo && git -C repo -c user.name=U -c user.email=u@example.org commit -q --allow-empty -m one
	commit=$(git -C repo rev-parse HEAD)
	wx run repo --engine podman --network none -- sh -c 'cat /workspace/.git/packed-refs; echo evil >/workspace/.git/hooks/pre-commit || mkdir /workspace/.git/hooks &&
		echo evil >/workspace/.git/hooks/pre-commit; cp /workspace/.git/HEAD /workspace/.git/refs/heads/x; echo "'"$commit"'" >/workspace/.git/refs/heads/inside'
	check "git: the session has a git directory of its own" has "$out" "$commit"
	check "... a hook of its stays there" absent repo/.git/hooks/pre-commit
	check "... and is held" has "$err" "held back in git: hook 'pre-commit'"
	check "... a branch comes" is "$(git -C repo rev-parse inside)" "$commit"
	wx git drop
	rm -rf repo
}

# --- mounts ---
mkdir "$tmp/rw"
wx run --engine podman --network none --mount "$tmp/rw:/workspace/nosuch" -- true
check "a mount on nothing in the project is refused" refused 125 "nosuch"
check "... and nothing is made for it" absent nosuch

# --- environment ---
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
check "it is listed" await sh -c "'$wrapix' ps | grep -q held"
: >go
wait "$pid"
check "the exit status is the command's" is $? 9

# --- rights ---
psays "no capability, no new privileges, our filter on podman's" "0000000000000000 1 2 ok" \
	'grep -E "CapEff|NoNewPrivs|Seccomp:" /proc/self/status | sed "s/.*:\t*//" | tr "\n" " "
	[ "$(sed -n "s/Seccomp_filters:\t*//p" /proc/self/status)" -ge 2 ] && echo ok'

# --- system calls that are refused ---
in_podman 'unshare -U true; mount -t tmpfs x /tmp; :'
check "a refused system call is refused" is "$(grep -c 'Operation not permitted\|denied' "$err")" 2
check "... and told, with what would allow it" has "$err" "refused calling unshare(CLONE_NEWUSER): namespaces and mounts of its own are kept from it; to allow it: set allowNested to true"
wx log --violations --json
check "... it is an event, by whom and with what" python3 -c '
import json, sys
e = [x for x in map(json.loads, open(sys.argv[1])) if x.get("what") == "call"]
assert [(x["call"], x["args"]) for x in e] == [("unshare", "CLONE_NEWUSER"), ("mount", "\"x\", \"/tmp\", \"tmpfs\"")], e
assert e[0]["process"]["argv"] == ["unshare", "-U", "true"], e[0]' "$out"
in_podman 'unshare -U true' --allow-nested
check "what --allow-nested allows is neither refused nor told" is "$rc $(grep -c refused "$err")" "0 0"

# --- what is read-only ---
for how in direct cow; do
	in_podman 'echo x >/etc/new; rm /usr/bin/busybox; mkdir /dir; ln -s x /sym; echo x >/tmp/x; mv /tmp/x w; mkdir d; mv d e; rm -r w e; :' --workspace $how
	wx log --violations --json
	check "--workspace $how: a write to the image is an event, and nothing else is" is \
		"$(grep '"type":"deny"' "$out" | sed 's/.*"path":"\([^"]*\)","reason":"\([^"]*\)","predicted":true.*/\2 \1/' | paste -sd,)" \
		"read-only /etc/new,read-only /usr/bin/busybox,read-only /dir,read-only /sym"
done

# --- endings ---
"$wrapix" run --engine podman --network none --name killed -- sh -c 'echo up >up; sleep 100' 2>/dev/null &
pid=$!
started="${started-} $pid"
hear up
await sh -c "'$wrapix' ps | grep -q killed" # it is recorded
kill -9 $pid
check "without its supervisor a container ends and is removed" await no_containers
in_podman true
check "... and the next start removes its files" is "$(ls "$XDG_RUNTIME_DIR/wrapix/podman")" ""

# Whoever of podman's is killed: the container goes, at the end of this session or at the next start.
conmon() { for conmon in $(pgrep -u "$(id -u)" -x conmon); do ! grep -qaF "$tmp" "/proc/$conmon/cmdline" || echo "$conmon"; done; }
hold() { # hold NAME: one that runs; its supervisor is $pid
	"$wrapix" run --engine podman --network none --name "$1" -- sh -c 'echo up >up; sleep 100' 2>/dev/null &
	pid=$!
	started="${started-} $pid"
	hear up
	await sh -c "'$wrapix' ps | grep -q '$1'"
}
stages() { ls -A "$XDG_RUNTIME_DIR/wrapix/podman"; }
hold client
kill -9 "$(pgrep -P "$pid" -x podman)"
wait "$pid"
rc=$?
check "podman's client is killed: the session ends, the container is gone with it" eval 'is "$rc" 137 && no_containers && is "$(stages)" ""'
hold conmon
kill -9 $(conmon)
wait "$pid"
check "its conmon is killed: the same" eval 'no_containers && is "$(stages)" "" && is "$(conmon)" ""'
hold all
kill -9 "$pid" $(conmon) "$(cat "$XDG_RUNTIME_DIR"/wrapix/podman/*/pid)"
wait "$pid"
in_podman 'echo works'
check "all are killed: the next start works, and removes it" eval 'printed works && no_containers && is "$(stages)" ""'

# podman is killed between making the container and starting it: nobody but conmon knows of who waits in there.
mkdir "$tmp/slow"
cat >"$tmp/slow/crun" <<C
#!/bin/sh
case " \$* " in *" start "*)
	echo up >"$project/up"
	while kill -0 \$PPID 2>/dev/null; do sleep 0.05; done # what it writes to is the test's own output
	exit 1 ;;
esac
exec "$(command -v crun)" "\$@"
C
chmod +x "$tmp/slow/crun"
sed "s|^crun = .*|crun = [\"$tmp/slow/crun\"]|" "$CONTAINERS_CONF" >"$tmp/slow/containers.conf"
CONTAINERS_CONF=$tmp/slow/containers.conf "$wrapix" run --engine podman --network none -- true 2>/dev/null &
pid=$!
started="${started-} $pid"
hear up
kill -9 "$(pgrep -P "$pid" -x podman)"
wait "$pid"
check "killed before the start: 125" is $? 125
check "... nobody waits any more, no container is left" await eval 'no_containers && is "$(stages)" "" && is "$(conmon)" ""'

# podman tells conmon the size of the terminal beside the start, and conmon sets it when its turn comes: here after the command.
cat >"$tmp/slow/crun" <<C
#!/bin/sh
case " \$* " in *" start "*)
	read -r conmon <"\$(echo "$XDG_RUNTIME_DIR"/wrapix/podman/*/conmon)"
	kill -STOP "\$conmon"
	read -r init _ <"/proc/\$conmon/task/\$conmon/children"
	stty -F "/proc/\$init/root/dev/pts/0" rows 0 cols 0 && echo "\$conmon" >"$tmp/stopped" ;;
esac
exec "$(command -v crun)" "\$@"
C
CONTAINERS_CONF=$tmp/slow/containers.conf python3 -B "$top/tests/lib/resize.py" "$wrapix" run --engine podman --network none -- \
	sh -c 'stty size >size 2>&1; echo up >up' >"$tmp/log/out" 2>"$tmp/log/err" &
pid=$!
started="${started-} $pid"
hear up
kill -CONT "$(cat "$tmp/stopped")"
wait "$pid"
check "a terminal is of the user's size before podman has set it" is "$(cat size)" "33 101"
rm size

# A directory of a session that was being made, or removed, when somebody was killed.
for name in abcdefgh .bcdefghj cdefghjk; do mkdir -p "$XDG_RUNTIME_DIR/wrapix/podman/$name/init"; done
touch -d '1 hour ago' "$XDG_RUNTIME_DIR"/wrapix/podman/abcdefgh "$XDG_RUNTIME_DIR"/wrapix/podman/.bcdefghj
in_podman true
check "what nobody holds any more goes; what may be in the making stays" is "$(stages)" cdefghjk
rm -r "$XDG_RUNTIME_DIR/wrapix/podman/cdefghjk"
mkfifo "$tmp/up"
"$wrapix" run --engine podman --network none --workspace cow --name later --mount "$tmp/up:/up" -- \
	sh -c 'echo new >made; echo up >/up; sleep 100' 2>/dev/null &
pid=$!
started="${started-} $pid"
hear "$tmp/up"
await sh -c "'$wrapix' ps | grep -q later"
kill -9 $pid
check "a killed copy-on-write session ends too" await no_containers
wx diff
check "... what it wrote is there to be looked at" has "$out" +new
wx discard --yes
check "... and it is removed whole, podman's part of it too" is "$rc $(find "$state/cow" -mindepth 1 ! -name .overlay)" "0 "
in_podman true # which sweeps
rm up go

# --- an image that says where volumes are: podman makes a place for each ---
wx image build --from "rootfs:$tmp/root" --name volumes -o "$tmp/volumes"
python3 - "$tmp/volumes" <<'END'
import hashlib, json, os, sys
os.chdir(sys.argv[1])
index = json.load(open("index.json"))
def of(ref):
    return json.load(open("blobs/sha256/" + ref["digest"][7:]))
def put(ref, value):
    data = json.dumps(value).encode()
    ref.update(digest="sha256:" + hashlib.sha256(data).hexdigest(), size=len(data))
    open("blobs/sha256/" + ref["digest"][7:], "wb").write(data)
manifest = of(index["manifests"][0])
config = of(manifest["config"])
config["config"]["Volumes"] = {"/workspace/made/deep": {}, "/workspace/.git": {}, "/etc": {}}
put(manifest["config"], config)
put(index["manifests"][0], manifest)
json.dump(index, open("index.json", "w"))
END
wx image load "$tmp/volumes" --into store --name volumes
wx image unpack volumes
had=$(ls -A)
wx run --engine podman --image volumes --network none -- sh -c 'echo x >/etc/x'
check "an image's volumes are none: it is read-only" eval '[ "$rc" != 0 ] && has "$err" "refused writing /etc/x"'
check "... and no place is made for one in the project" is "$(ls -A)" "$had"

# --- an image whose links lead into the project: podman's runtime follows them, and makes there what is missing ---
linked() { # NAME TARGET
	rm -rf "$tmp/linked"
	cp -a "$tmp/root" "$tmp/linked" && rm -rf "$tmp/linked/$1" && ln -s "$2" "$tmp/linked/$1" &&
		mkdir -p "$tmp/linked/tmp" "$tmp/linked/workspace/x" "$tmp/linked/other" || return
	wx image build --from "rootfs:$tmp/linked" --name linked && wx run --engine podman --image linked --network none -- sh -c 'cat /workspace/file'
}
for link in opt:/workspace home:workspace/x var:/tmp/../workspace; do
	linked "${link%%:*}" "${link#*:}"
	check "an image whose /${link%%:*} is a link into the project is refused" refused 125 "by a link of the image 'linked'"
	check "... and nothing is made there" is "$(ls -A)" "$had"
done
linked home other
check "one whose link leads elsewhere is none of these" is "$rc $(cat "$out")" "0 mine"

# Forty links, each of which leaves two thousand names behind it.
rm -rf "$tmp/linked" && cp -a "$tmp/root" "$tmp/linked" && rm -rf "$tmp/linked/run"
python3 -c 'import os, sys
os.chdir(sys.argv[1])
for i in range(38):
    os.symlink(f"/l{i + 1}/" + "a/" * 2000, f"l{i}")
os.symlink("/l0", "run")' "$tmp/linked" || give_up "the links are made"
wx image build --from "rootfs:$tmp/linked" --name linked
prlimit --as=1500000000 "$wrapix" run --engine podman --image linked --network none -- true >"$out" 2>"$err"
rc=$?
check "an image whose links have no end costs nothing" refused 125 "lies in itself"

# --- the image by itself: podman alone, and the entrypoint ---
for how in "--userns=keep-id|$(id -u)" "--env=HOME=/home/wrapix|0" "--env=WRAPIX_UID=4242|4242"; do
	podman run --rm --network none "${how%|*}" --volume "$PWD:/workspace" localhost/wrapix-base sh -c 'id -u; touch made && stat -c %u made; exit 7' \
		>"$tmp/log/out" 2>"$tmp/log/err"
	check "podman run ${how%|*}: he is who he is to be, and so is his file; the exit status is his" is "$? $(tr '\n' ' ' <"$tmp/log/out")" "7 ${how#*|} ${how#*|} "
	check "... and outside it is the user's" is "$(stat -c %u made)" "$(id -u)"
	rm -f made
done

# --- the end ---
check "no container is left" no_containers
check "no file of a session is left" is "$(ls "$XDG_RUNTIME_DIR/wrapix/podman" "$XDG_RUNTIME_DIR/wrapix/sessions")" \
	"$(printf '%s:\n\n%s:' "$XDG_RUNTIME_DIR/wrapix/podman" "$XDG_RUNTIME_DIR/wrapix/sessions")"
check "the project has what it had" is "$(ls -A)" file
finish
