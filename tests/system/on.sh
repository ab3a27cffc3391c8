#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
# SPDX-License-Identifier: MIT
# 'wrapix run --on': the same command line on somebody else's engine. podman's remote socket is real; kubectl is played
# by tests/lib/kubectl, which holds each word against kubectl's grammar, with a real pod behind it.
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/podman.sh"
need_podman "$@"
be_user "$@"
set_up
podman_up
podman system service --time=0 "unix://$tmp/podman.sock" >/dev/null 2>&1 &
leave() { # it has started itself again in a namespace of podman's
	pkill -u "$(id -u)" -f "unix://$tmp/podman.sock"
	pkill -u "$(id -u)" -f "conmon .*$tmp" # podman keeps them for five minutes, for who asks how it ended
	podman_down
}
trap leave EXIT
answers() { podman --url "unix://$tmp/podman.sock" version >/dev/null 2>&1; }
await answers
there=podman:unix://$tmp/podman.sock

wx run --on nowhere -- true
check "a place that is none" refused 2 "podman:CONNECTION or kube:"
wx run --on "$there" -- true
check "without a commit there is nothing to bring" refused 125 "the project has no commit"
git init -q -b main .
echo one >file
git add file
git -c user.name=me -c user.email=me@localhost commit -q -m one
wx run --on "$there" -- true
check "without the image it is said how to get it there" refused 125 "there is no image 'localhost/wrapix-base:latest'"
check "... word by word" has "$err" "load -i base.tar"
rootfs "$tmp/root" git
wx image build --from "rootfs:$tmp/root" --name base
wx image load base --into podman
for bad in "--allow example.org" "--network host" "--publish 3000" "--deploy-key x" "--engine podman --runtime krun" "--mount $tmp:/x"; do
	# shellcheck disable=SC2086 # words
	wx run --on "$there" $bad -- true
	check "what cannot be there is refused: ${bad%%/*}" is "$rc" 2
done

# --- podman, over its socket ---
# holds NAME OPTION...: what a run on some engine promises.
holds() {
	name=$1
	shift
	echo "from here" >"$tmp/input"
	rm -f "$tmp/log/why"
	TOKEN=s3cret timeout -s KILL 60 "$wrapix" run "$@" --network none --env TOKEN --env PLAIN=x -- sh -c \
		'read -r line; echo "$line $TOKEN $PLAIN $(id -u)"; echo err >&2; echo two >file; git commit -qam two; echo new >left; exit 7' <"$tmp/input" >"$out" 2>"$err"
	rc=$?
	check "$name: the exit status is the command's" is "$rc" 7
	check "$name: input, output, variables, nobody's root" is "$(cat "$out")" "from here $seen x 1000"
	check "$name: errors stay errors" has "$err" "err"
	branch=$(sed -n 's/.*the result is the branch \([^:]*\):.*/\1/p' "$err")
	check "$name: the commits are a branch" is "$(git log -3 --format=%s "$branch" | xargs)" "Left uncommitted by the command two one"
	check "$name: the work tree is as it was" is "$(cat file) $(git status --porcelain | wc -l)" "one 0"
	check "$name: nothing is left there" no_containers
	check "$name: nor here" is "$(find "$home/.local/state/wrapix/results" -type f)" ""
}
seen=s3cret
holds podman --on "$there"
wx run --on "$there" --network none -- true
check "a command that commits nothing" has "$err" "the command committed nothing"
check "... makes no branch" is "$rc $(git branch --list 'wrapix/*' | wc -l)" "0 1"
wx run --on "$there" --network none -- sh -c 'touch /usr/x 2>&1; ls /sys/class/net; cat /proc/self/status | grep CapEff'
check "read-only, without a network, without capabilities" is "$(grep -c Read-only "$out") $(grep -cx 'CapEff:.*0000000000000000' "$out")" "1 1"
wx run --dry-run --on "$there" --memory 1G -- true
check "--dry-run prints what would be asked" has "$out" "--memory=1073741824"

# --- killed in the middle ---
"$wrapix" run --on "$there" --network none -- sh -c 'touch /workspace/running; sleep 100' >/dev/null 2>&1 &
pid=$!
await sh -c '[ "$(podman ps -q)" ] && podman exec "$(podman ps -q | head -n 1)" test -e /workspace/running'
kill -9 $pid
wait $pid 2>/dev/null
check "kill -9: the container goes, too" await no_containers

# --- kubectl ---
mkdir "$tmp/kube" "$tmp/kbin"
ln -s "$top/tests/lib/kubectl" "$tmp/kbin/kubectl"
export KUBE_DIR="$tmp/kube"
PATH=$tmp/kbin:$PATH
seen= # a cluster's secrets are its own
holds kube --on kube:here/team
check "... the whole conversation" is "$(sed 's/ .*team//; s/^--context=here//' "$KUBE_DIR/said" | awk '{print $1}' | sort | xargs)" \
	"apply attach delete exec exec exec exec wait"
/usr/bin/python3 "$top/tests/lib/manifest.py" check kube <"$KUBE_DIR/manifest" >"$tmp/kinds" 2>&1
check "... with a valid manifest" is "$(cat "$tmp/kinds")" "NetworkPolicy Pod"
check "... without the secret" lacks "$KUBE_DIR/manifest" s3cret
# What is larger than any repository's history should be is the user's to look at.
printf '#!/bin/sh\ncase $* in *"|| cat"*) exec truncate -s 1073741825 /proc/self/fd/1 ;; esac\nexec "%s" "$@"\n' \
	"$top/tests/lib/kubectl" >"$tmp/kbin/kubectl.new"
chmod +x "$tmp/kbin/kubectl.new"
mv "$tmp/kbin/kubectl.new" "$tmp/kbin/kubectl"
wx run --on kube:here/team --network none -- true
check "a result that is too large is not taken over" has "$err" "the result is too large"
check "... which is an error" is "$rc" 125
kept=$(sed -n "s/.*it is the bundle '\([^']*\)'.*/\1/p" "$err")
check "... and not lost" is "$(stat -c %s "$kept")" 1073741825
rm -f "$kept"
# More than that is not waited for, however much comes.
sed -i 's/exec truncate.*;;/truncate -s 8589934591 \/proc\/self\/fd\/1; printf much >>\/proc\/self\/fd\/1; exit 1 ;;/' "$tmp/kbin/kubectl"
wx run --on kube:here/team --network none -- true
check "a result without an end is cut off" eval 'is "$rc" 125 && has "$err" "the result is larger than 8 GiB"'
check "... and what came of it is gone" is "$(find "$home/.local/state/wrapix/results" -type f)" ""
printf '#!/bin/sh\necho "error: the server has no room" >&2\nexit 1\n' >"$tmp/kbin/kubectl.new"
chmod +x "$tmp/kbin/kubectl.new"
mv "$tmp/kbin/kubectl.new" "$tmp/kbin/kubectl"
wx run --on kube:here/team --network none -- true
check "what kubectl complains about is said" refused 125 "the server has no room"
printf '#!/bin/sh\ncase $* in *apply*) { echo "error: no end of it"; head -c 100000 /dev/zero; } >&2 && : >"%s" ;; esac\nexit 1\n' "$tmp/all" >"$tmp/kbin/kubectl"
wx run --on kube:here/team --network none -- true
check "... its beginning, of whatever length" eval 'refused 125 "no end of it" && absent "$tmp/all"'
finish
