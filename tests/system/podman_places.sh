#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
# SPDX-License-Identifier: MIT
# While podman's runtime makes a container nothing can be made in the user's trees, wherever an image's links lead, and what the
# sandbox may write to is writable afterwards. The links that wrapix sees itself are in podman.sh.
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/podman.sh"

# As root: a project with file systems below it, in a mount namespace of the test's own.
need_mounts() {
	[ "$(id -u)" = 0 ] && [ -z "${WRAPIX_MOUNTS_READY-}" ] || return 0
	WRAPIX_MOUNTS_READY=1
	export WRAPIX_MOUNTS_READY
	exec unshare -m --propagation private sh -c '
		mount -t tmpfs -o mode=1777 project /mnt && mkdir -m 777 /mnt/project && cd /mnt/project && mkdir rw ro &&
		mount -t tmpfs -o mode=777 rw rw && mount -t tmpfs -o mode=777,ro ro ro && : >file && chmod 666 file &&
		mount --bind file file && mount --make-rshared / && cd / && exec "$@"' sh "$here/${0##*/}" "$@"
}
need_mounts "$@"
need_podman "$@"
be_user "$@"
set_up
podman_up
rootfs "$tmp/root"
mkdir -p "$tmp/root/tmp" "$tmp/root/workspace" "$tmp/root/home/wrapix"
wx image build --from "rootfs:$tmp/root" --name base

in_podman() { wx run --engine podman --network none "$@"; }

# --- images that podman unpacks to something else than we do ---
# In the second layer /var and /home are links to /workspace. The third makes directories of them by way of another link, or takes
# them away by way of it, or has names that two readers understand differently: so we see no link, and podman does.
cat >"$tmp/make.py" <<'PY'
import gzip, hashlib, io, json, os, subprocess, sys, tarfile
root, out = sys.argv[1:]
DIR, LINK, FILE = tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.REGTYPE
def entry(name, kind, data=b"", link=""):
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname, info.mode = kind, len(data), link, 0o755
    return info.tobuf(tarfile.USTAR_FORMAT) + data + bytes(-len(data) % 512)
def pax(key, value):
    body = " %s=%s\n" % (key, value)
    size = len(body) + 1
    while len(str(size)) + len(body) != size:
        size = len(str(size)) + len(body)
    return entry("pax", b"x", (str(size) + body).encode())
def layout(name, *layers):
    os.makedirs(f"{out}/{name}/blobs/sha256")
    def blob(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        open(f"{out}/{name}/blobs/sha256/{digest}", "wb").write(data)
        return {"digest": "sha256:" + digest, "size": len(data), "mediaType": "application/vnd.oci.image." + kind}
    ids = ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in layers]
    config = {"architecture": os.uname().machine.replace("x86_64", "amd64").replace("aarch64", "arm64"), "os": "linux",
              "config": {"Env": ["PATH=/usr/bin:/bin"]}, "rootfs": {"type": "layers", "diff_ids": ids}}
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": blob(json.dumps(config).encode(), "config.v1+json"),
                "layers": [blob(gzip.compress(layer, 1, mtime=0), "layer.v1.tar+gzip") for layer in layers]}
    index = {"schemaVersion": 2, "manifests": [blob(json.dumps(manifest).encode(), "manifest.v1+json")]}
    json.dump(index, open(f"{out}/{name}/index.json", "w"))
    open(f"{out}/{name}/oci-layout", "w").write('{"imageLayoutVersion":"1.0.0"}')
end = bytes(1024)
base = subprocess.check_output(["tar", "-C", root, "--owner=0", "--group=0", "-cf", "-", "."])
links = b"".join(entry(n, LINK, link=to) for n, to in (("var", "/workspace"), ("home", "/workspace"), ("r", "/"))) + end
layout("through", base, links, b"".join(entry(n, DIR) for n in ("r/var", "r/home", "r/home/wrapix")) + end)
layout("whiteouts", base, links, entry("r/.wh.var", FILE) + entry("r/.wh.home", FILE) + end)
layout("names", base, entry(".wh.var", FILE) + entry(".wh.home", FILE) + end, b"".join(
    pax("path", "harmless-" + n) + entry("././@LongLink", b"L", n.encode() + b"\0") + entry("z", LINK, link="/workspace")
    for n in ("var", "home")) + end)
PY
python3 "$tmp/make.py" "$tmp/root" "$tmp/images" || give_up "the images are made"
echo mine >file
for image in through whiteouts names; do
	wx image load "$tmp/images/$image" --into store --name "$image"
	wx image unpack "$image"
	for how in direct cow; do
		in_podman --image "$image" --workspace $how -- sh -c 'echo ran'
		check "image '$image', --workspace $how: the start fails" eval 'is "$rc" 125 && has "$err" "podman did not start the container"'
		check "... because its runtime can make nothing there" has "$err" "Read-only file system"
		check "... and nothing was made" is "$(find . -mindepth 1; find "$state/cow" -path '*/upper/*' 2>/dev/null)" ./file
	done
done
wx discard --yes

# --- what is writable afterwards, and what is not ---
mkdir -p "$tmp/data/sub" "$tmp/lower" sub
echo one >"$tmp/data/one"
in_podman --mount "$tmp/data:/workspace/sub" --mount "$tmp/lower:/workspace/sub/sub:ro" --mount "$tmp/data/one:/one" -- \
	sh -c 'for i in . sub sub/sub; do touch $i/new || echo "$i not"; done; echo two >/one; grep -c " /workspace.* ro," /proc/self/mountinfo' 2>/dev/null
check "the project and a mount in it are writable, a read-only one in that is not" is "$rc $(xargs <"$out")" "0 sub/sub not 1"
check "... on the host, too" is "$(ls new "$tmp/data/new" "$tmp/lower") $(cat "$tmp/data/one")" "$(ls new "$tmp/data/new" "$tmp/lower") two"
rm -r new sub
in_podman --workspace cow -- sh -c 'touch new && mkdir dir && mv file dir'
check "a copy-on-write workspace is writable" is "$rc" 0
check "... and the project is as it was" is "$(ls -A)" file
wx discard --yes
wx run /mnt/project --engine podman --network none -- sh -c 'for i in . rw ro; do touch $i/new || echo "$i not"; done; echo new >file' 2>/dev/null
check "file systems below the project are as writable as they are on the host" is "$rc $(xargs <"$out")" "0 ro not"
check "... a file that is one, too" is "$(cat /mnt/project/file) $(ls /mnt/project/new /mnt/project/rw)" "new $(ls /mnt/project/new /mnt/project/rw)"
rm -f /mnt/project/new /mnt/project/rw/new
wx run /mnt/project/ro --engine podman --network none -- sh -c 'touch new'
check "a project on a read-only file system is read-only, and starts" is "$rc $(grep -c 'Read-only file system' "$err")" "1 1"

# --- a kept home, in which a sandbox was ---
in_podman --home keep --mount "$tmp/data:/home/wrapix/a/b" --mount "$tmp/data/one:/home/wrapix/c/one" -- sh -c 'touch ~/new ~/a/b/new2 && echo three >~/c/one; ls -A ~'
check "a kept home is writable, and what is mounted in it" is "$rc $(xargs <"$out")" "0 a c new"
check "... the places to mount on are the user's" is "$(find "$state/homes" ! -user "$(id -un)")" ""
mkdir "$tmp/victim"
in_podman --home keep -- ln -s "$tmp/victim" /home/wrapix/evil
in_podman --home keep --mount "$tmp/data:/home/wrapix/evil/made" -- true
check "a link that a sandbox left there leads nowhere" refused 125 "to mount on"
in_podman --home keep --mount "$tmp/data/one:/home/wrapix/evil/made/one" -- true
check "... for a file neither" refused 125 "to mount on"
check "... and nothing is made behind it" is "$(ls -A "$tmp/victim")" ""

# --- where podman does not ask ---
mkdir "$tmp/old"
cat >"$tmp/old/podman" <<P
#!/bin/bash
for word; do [[ \$word == --hooks-dir=* ]] || words+=("\$word"); done
exec "$(command -v podman)" "\${words[@]}"
P
chmod +x "$tmp/old/podman"
for how in direct cow; do
	PATH=$tmp/old:$PATH in_podman --workspace $how -- touch ran
	check "--workspace $how: podman that obeys no hook is refused" refused 125 "did not keep '/workspace' read-only at first"
	check "... and no command runs" is "$(ls -A)" file
done
check "no container is left" no_containers
check "no file of a session is left" is "$(ls "$XDG_RUNTIME_DIR/wrapix/podman")" ""
finish
