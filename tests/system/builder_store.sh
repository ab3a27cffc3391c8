#!/bin/sh
# SPDX-License-Identifier: MIT
# The builder's store and its image: filled from it, whole or not at all; kept when the image is another one; and the
# same store under podman. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the libraries; text in quotes; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/podman.sh"
need_podman "$@"
be_user "$@"
set_up
podman_up
. "$top/tests/lib/builder.sh"
trap 'builder_stop; podman_down' EXIT

# --- two images, each with a path of its own in its store, and what they share ---
for name in shared first second; do
	mkdir -p "$tmp/parts/$name"
	echo "$name" >"$tmp/parts/$name/file"
	ln -s file "$tmp/parts/$name/link"
	nix-store --store "$tmp/source" --add "$tmp/parts/$name" >"$tmp/path.$name"
done
shared=$(cat "$tmp/path.shared") first=$(cat "$tmp/path.first") second=$(cat "$tmp/path.second")
check "there are paths to put into images" exists "$tmp/source$second/file"
rootfs "$tmp/root" nix-daemon nix-store sh
ln -sf nix-daemon "$tmp/root/usr/bin/nix"
cp /usr/sbin/sshd "$tmp/root/usr/sbin/sshd"
rootfs_libraries "$tmp/root" /usr/sbin/sshd
cp -L /lib/x86_64-linux-gnu/libnss_files.so.2 "$tmp/root/lib/x86_64-linux-gnu/" 2>/dev/null
# image NAME PATH...: with these paths in its store.
image() {
	image_name=$1
	shift
	chmod -R u+w "$tmp/root/nix" 2>/dev/null
	rm -rf "$tmp/root/nix"
	mkdir -p "$tmp/root/nix/store"
	for path; do cp -a "$tmp/source$path" "$tmp/root/nix/store/"; done
	nix-store --store "$tmp/source" --dump-db "$@" >"$tmp/root/nix-path-registration"
	"$sandbox" image build --from "rootfs:$tmp/root" --name "$image_name" --compression none >"$tmp/log/out" 2>&1
}
image one "$shared" "$first"
check "an image with a store is built" is $? 0
image two "$shared" "$second"
check "... and a second one" is $? 0

# --- a link of an image, or of who was root in a builder, leads to no file of the user's ---
mkdir -p "$tmp/mine/store" "$tmp/mine/var"
echo secret >"$tmp/mine/store/key"
refused() { # by these words, with nothing of mine in the store
	"$wrapix" start --image "$1" --network none --port "$port" >"$tmp/log/out" 2>"$tmp/log/err"
	is "$?" 125 && has "$tmp/log/err" "$2" && ! grep -qrs secret "$nix" "$nix.new"
}
mkdir -p "$tmp/hostile/usr/bin"
ln -s "$tmp/mine" "$tmp/hostile/nix"
"$sandbox" image build --from "rootfs:$tmp/hostile" --name linked >"$tmp/log/out" 2>&1
check "an image whose /nix is a link fills no store" refused linked "'nix/store' leads through a link"
rm "$tmp/hostile/nix"
ln -s "$tmp/mine/store/key" "$tmp/hostile/nix-path-registration"
"$sandbox" image build --from "rootfs:$tmp/hostile" --name linked >"$tmp/log/out" 2>&1
check "... nor does one whose registration is a link" refused linked "'nix-path-registration' leads through a link"
mkdir -p "$nix/store"
ln -s "$tmp/mine/var" "$nix/var"
check "a link in the store that is there is not followed" refused one "'var' leads through a link"
check "... and nothing is made where it leads" is "$(find "$tmp/mine/var")" "$tmp/mine/var"
chmod -R u+w "$nix"* && rm -rf "$nix"*

# --- a kill before any change of a name leaves nothing, or a whole store ---
whole() { # as the image has it
	diff -r "$tmp/source$shared" "$nix/store/${shared##*/}" && diff -r "$tmp/source$first" "$nix/store/${first##*/}" && exists "$nix/.wrapix-stamp"
}
points=0
for call in mkdirat renameat symlinkat unlinkat; do
	n=1
	while [ $n -lt 40 ]; do
		strace -f -o /dev/null -e trace=$call -e inject=$call:signal=KILL:when=$n \
			"$wrapix" start --image one --network none --port "$port" >/dev/null 2>&1
		[ ! -e "$nix" ] || break
		n=$((n + 1))
	done
	check "killed at each $call up to the one that ends it ($n): nothing, and then a whole store" whole
	points=$((points + n))
	"$wrapix" stop >/dev/null 2>&1
	chmod -R u+w "$nix"
	rm -rf "$nix"
done
check "... and there were many" [ "$points" -gt 20 ]

# --- filled, and registered ---
"$wrapix" start --image one --network none --port "$port" >"$tmp/log/out" 2>"$tmp/log/err"
check "a builder runs from the image" is $? 0
check "... and says so" is "$(state root)" one
check "its programs are the image's" fails say 'ls /usr/share/doc'
check "the image's paths are valid, and good" say "nix-store --check-validity $shared $first && nix-store --verify --check-contents"
check "gc leaves them" "$wrapix" gc
check "... really" exists "$nix/store/${first##*/}/file"

# --- something is built, then the image is another one ---
cat >"$tmp/thing.nix" <<'END'
{ n }: derivation { name = "thing-${n}"; system = builtins.currentSystem; builder = "/bin/sh"; args = [ "-c" "read -r host </proc/sys/kernel/hostname; echo $host ${n} >$out" ]; }
END
build() {
	path=$(NIX_SSHOPTS="-F $keys/ssh_config" timeout 60 nix-build --no-out-link --store "$tmp/client" --max-jobs 0 \
		--builders "ssh-ng://builder@wrapix-builder $(uname -m)-linux - 2 1" "$tmp/thing.nix" --argstr n "$1" 2>"$tmp/log/err")
}
build mine
check "something is built" is "$(cat "$tmp/client$path")" "wrapix-builder mine"
mine=$path
"$wrapix" stop >/dev/null
for n in 1 2 3; do
	strace -f -o /dev/null -e trace=renameat -e inject=renameat:signal=KILL:when=$n \
		"$wrapix" start --image two >/dev/null 2>&1
	check "killed while the store gets another image's paths ($n): what was built is there" has "$nix/store/${mine##*/}" mine
done
"$wrapix" restart --image two >"$tmp/log/out" 2>"$tmp/log/err"
check "a restart with another image" is $? 0
check "what was built is there" say "nix-store --check-validity $mine"
check "... and so is what the new image brings" say "nix-store --check-validity $shared $second && nix-store --verify --check-contents"
stamp=$(cat "$nix/.wrapix-stamp")
check "the stamp is the image's" is "$stamp" "image $(basename "$(readlink -f "$home/.cache/wrapix/images/names/two")")"
"$wrapix" stop >/dev/null

# --- podman has the same store ---
"$wrapix" start --engine podman --network open >"$tmp/log/out" 2>"$tmp/log/err"
check "a builder in podman" is $? 0
check "... and status knows" is "$(state engine) $(state state)" "podman ready"
check "the same store" say "nix-store --check-validity $mine $second"
build podman
check "it builds" is "$(cat "$tmp/client$path")" "wrapix-builder podman"
check "... what this user owns" is "$(stat -c %u "$nix/store/${path##*/}")" "$(id -u)"
check "its root has nine rights" is "$(say 'grep CapPrm /proc/1/status' | tr -d '\t')" CapPrm:00000000000404fb
"$wrapix" start >"$tmp/log/out"
check "a second start finds it" has "$tmp/log/out" "runs already"
podman kill wrapix-builder >/dev/null
await podman wait wrapix-builder
"$wrapix" start >"$tmp/log/out" 2>"$tmp/log/err"
check "one that was killed is started anew" has "$tmp/log/out" "is ready"
"$wrapix" logs >"$tmp/log/out"
check "logs shows what it says" has "$tmp/log/out" "Server listening"
"$wrapix" start --network none >"$tmp/log/out" 2>"$tmp/log/err"
"$wrapix" stop >"$tmp/log/out"
check "stop" has "$tmp/log/out" "Stopped."
check "... leaves no container" no_containers
finish
