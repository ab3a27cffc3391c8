#!/bin/sh
# SPDX-License-Identifier: MIT
# wrapix-builder as it behaves on a Mac, with a stand-in for Apple's container that reads the command line by the real
# one's grammar and runs what it is told in namespaces. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the libraries; text in quotes; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/podman.sh" # for rootfs
be_user "$@"
set_up
. "$top/tests/lib/builder.sh"
PATH=$top/tests/lib/mac:$PATH
export PATH WRAPIX_PLATFORM=darwin FAKE_CONTAINER_IDS=range FAKE_CONTAINER_STATE="$tmp/fake"
trap 'builder_stop; tear_down' EXIT

mkdir -p "$tmp/fake" "$tmp/part"
wx start --port "$port"
check "without an image it is said where one comes from" has "$err" "container image load"
: >"$tmp/fake/stopped"
wx start --port "$port"
check "without the service: how to start it" has "$err" "container system start"
rm "$tmp/fake/stopped"
FAKE_CONTAINER_VERSION=0.7.1 wx start --port "$port"
check "an old release is refused" has "$err" "older than 0.8.0"
PATH=/usr/bin:/bin wx start --port "$port"
check "without the program: where it comes from" has "$err" "there is no 'container'"

# --- an image with a store ---
echo part >"$tmp/part/file"
part=$(nix-store --store "$tmp/source" --add "$tmp/part")
rootfs "$tmp/root" nix-daemon nix-store
cp /usr/sbin/sshd "$tmp/root/usr/sbin/sshd"
rootfs_libraries "$tmp/root" /usr/sbin/sshd
mkdir -p "$tmp/root/nix/store" "$tmp/root/run" "$tmp/root/tmp"
cp -a "$tmp/source$part" "$tmp/root/nix/store/"
chmod -R u+w "$tmp/root/nix" # the stand-in unpacks as this user
nix-store --store "$tmp/source" --dump-db "$part" >"$tmp/root/nix-path-registration"
WRAPIX_PLATFORM=linux "$sandbox" image build --from "rootfs:$tmp/root" --name builder --no-unpack --compression none -o "$tmp/builder.oci.tar" >"$tmp/log/out" 2>&1
container image load -i "$tmp/builder.oci.tar" >"$tmp/log/out"
container image tag "$(tail -n 1 "$tmp/log/out")" wrapix-builder
check "container has an image" container image inspect wrapix-builder

# --- a builder ---
wx start --port "$port" --cores 2 --memory 3G
check "start" is "$rc" 0
check "... in container" is "$(state engine) $(state state)" "apple ready"
check "the store was filled from the image" cmp "$nix/store/${part##*/}/file" "$tmp/part/file"
check "... and has its stamp" grep -q '^apple ' "$nix/.wrapix-stamp"
check "... and its paths are valid" say "nix-store --check-validity $part && nix-store --verify --check-contents"
grep -- '"--detach"' "$tmp/fake/runs" >"$tmp/log/out"
check "the port is on 127.0.0.1" has "$tmp/log/out" "\"127.0.0.1:$port:22/tcp\""
check "... with the limits" has "$tmp/log/out" '"--cpus", "2", "--memory", "3072'
check "the client key is not inside" lacks "$tmp/log/out" "$keys"
cat >"$tmp/thing.nix" <<'END'
derivation { name = "thing"; system = builtins.currentSystem; builder = "/bin/sh"; args = [ "-c" "echo built >$out" ]; }
END
path=$(NIX_SSHOPTS="-F $keys/ssh_config" timeout 60 nix-build --no-out-link --store "$tmp/client" --max-jobs 0 \
	--builders "ssh-ng://builder@wrapix-builder $(uname -m)-linux - 2 1" "$tmp/thing.nix" 2>"$tmp/log/err")
check "it builds" is "$(cat "$tmp/client$path")" built
wx start
check "a second start finds it" has "$out" "runs already"
wx logs
check "logs shows what it says" has "$out" "Server listening"
wx restart
check "restart" is "$rc" 0
check "... with the store that there was" say "nix-store --check-validity $path"
container delete --force wrapix-builder
check "one that is gone is known to be" is "$(state state)" stopped
wx start
check "... and is started anew" has "$out" "is ready"
wx start --network none
check "no network means no port, and that is said" isnt "$rc" 0
wx stop
check "stop" has "$out" "Stopped."
check "... leaves no container" is "$(container list --all --format json)" "[]"
finish
