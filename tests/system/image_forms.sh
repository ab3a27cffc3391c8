#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
# SPDX-License-Identifier: MIT
# Images as others have them: each form that we write is taken by other programs, and each that they write by us.
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up

mkdir -p root/usr/bin root/usr/lib/big
cp /bin/busybox root/usr/bin/busybox
ln root/usr/bin/busybox root/usr/bin/second-name
ln -s usr/bin root/bin
printf 'one\n' >"root/usr/bin/small tool"
head -c 5000000 /dev/zero | tr '\0' x >root/usr/lib/big/data
digest() { # of what 'build' and 'load' say
	sed -n 's/.* sha256://p' "$out"
}

# --- other programs take it, in each form ---
buildah_takes() ( # buildah keeps its files elsewhere than podman, whose process would outlive us
	cd "$tmp" && XDG_RUNTIME_DIR=$tmp/run buildah --root "$tmp/buildah" --runroot "$tmp/buildah-run" --storage-driver vfs pull --quiet --policy always "$1"
)
mkdir -m 700 "$tmp/run"
unpacked() { # is what went in
	cmp "$1/usr/bin/busybox" root/usr/bin/busybox && cmp "$1/usr/lib/big/data" root/usr/lib/big/data && [ "$(readlink "$1/bin")" = usr/bin ] &&
		[ "$(stat -c %i "$1/usr/bin/busybox")" = "$(stat -c %i "$1/usr/bin/second-name")" ] && [ "$(cat "$1/usr/bin/small tool")" = one ] && [ "$(stat -c %a "$1/tmp")" = 1777 ]
}
for how in gzip zstd none; do
	for form in layout.$how $how.oci.tar $how.tar; do
		wx image build --from "rootfs:$PWD/root" --name one --compression $how -o "$tmp/$form"
		check "$form is written" is "$rc" 0
	done
	check "... skopeo reads the layout" skopeo inspect "oci:$tmp/layout.$how:one"
	check "... and both archives" sh -c 'skopeo --insecure-policy copy -q "oci-archive:$1.oci.tar" "dir:$1.dir1" && skopeo --insecure-policy copy -q "docker-archive:$1.tar" "dir:$1.dir2"' sh "$tmp/$how"
	check "... buildah takes it" buildah_takes "oci-archive:$how.oci.tar"
	# Debian 12's umoci is older than zstd in images.
	[ $how = zstd ] || check "... umoci unpacks it" umoci unpack --rootless --image "$tmp/layout.$how:one" "$tmp/bundle.$how"
	[ $how = zstd ] || check "... to what went in" unpacked "$tmp/bundle.$how/rootfs"
	merged=$("$wrapix" image unpack one)
	check "... and so do we" unpacked "$merged"
done
check "zstd's layers are called so" grep -rqs 'tar+zstd' "$tmp/layout.zstd/blobs"
check "a layout has nothing but what one has" is "$(find "$tmp/layout.gzip" -mindepth 1 -maxdepth 1 -printf '%f ' | tr ' ' '\n' | sort | grep . | tr '\n' ' ')" "blobs index.json oci-layout "

# --- an image as a base, from each form ---
for ref in "$tmp/layout.gzip" "$tmp/layout.gzip:one" "$tmp/gzip.oci.tar" "$tmp/gzip.tar" "oci:$tmp/layout.gzip:one"; do
	wx image build --from "oci:$ref" --name based
	check "oci:${ref##*/} is a base" is "$rc" 0
	wx image show based
	check "... whose layers and entrypoint stay" is "$(grep -c ^layer "$out") $(grep -c '^entrypoint  */opt/wrapix/bin/wrapix-entry$' "$out")" "$(($(skopeo inspect "oci:$tmp/layout.gzip:one" | jq '.Layers | length') + 1)) 1"
done
wx image load "$tmp/gzip.oci.tar" --into store --name taken
check "an image is taken in as it is" is "$rc $(digest)" "0 $(skopeo inspect "oci:$tmp/layout.gzip:one" | jq -r .Digest | sed s/sha256://)"
# Two machines' images under one name.
python3 - "$tmp/layout.gzip" "$tmp/both" <<-'END'
	import hashlib, json, os, shutil, sys
	shutil.copytree(sys.argv[1], sys.argv[2])
	os.chdir(sys.argv[2])
	index = json.load(open("index.json"))
	def blob(data):
	    digest = hashlib.sha256(data).hexdigest()
	    open("blobs/sha256/" + digest, "wb").write(data)
	    return {"digest": "sha256:" + digest, "size": len(data)}
	manifests = []
	for arch in "arm64", "amd64":
	    manifest = json.load(open("blobs/sha256/" + index["manifests"][0]["digest"][7:]))
	    config = json.load(open("blobs/sha256/" + manifest["config"]["digest"][7:]))
	    config["architecture"] = arch
	    manifest["config"].update(blob(json.dumps(config).encode()))
	    manifests.append(dict(blob(json.dumps(manifest).encode()), platform={"os": "linux", "architecture": arch}, mediaType=manifest["mediaType"]))
	index["manifests"][0].update(blob(json.dumps({"schemaVersion": 2, "manifests": manifests}).encode()), mediaType="application/vnd.oci.image.index.v1+json")
	json.dump(index, open("index.json", "w"))
END
for arch in arm64 amd64; do
	wx image build --from "oci:$tmp/both" --name both --platform linux/$arch
	wx image show both
	check "of several machines' images the right one is taken ($arch)" has "$out" "linux/$arch"
done
wx image build --from "oci:$tmp/both" --name both --platform linux/s390x
check "... or none, and it is said" has "$err" "nothing for linux/s390x"
wx image build --from "oci:$tmp/both" --name both --platform linux/pdp11
check "a machine that nobody has is refused" is "$rc" 2
printf y | dd of="$(find "$tmp/layout.none/blobs/sha256" -size +4000k)" bs=1 seek=600 conv=notrunc 2>/dev/null
wx image build --from "oci:$tmp/layout.none" --name spoilt
check "a base that has been changed is refused" has "$err" "has been changed"
wx image build --from "oci:$tmp/layout.gzip" --package jq --name wrong
check "packages cannot go into an image that is there" has "$err" "--package"

wx image build --from "oci:$tmp/layout.gzip" --no-unpack
check "without a name it has that of its source" is "$rc $(cut -d ' ' -f 1 "$out")" "0 layout"
wx image build --from "rootfs:$PWD/root/" --no-unpack
check "... and where that has none, it is asked for one" refused 2 "--name"

# --- engines that are not here: what they would be asked ---
mkdir "$tmp/bin"
for engine in docker container; do
	cat >"$tmp/bin/$engine" <<-END
		#!/bin/sh
		echo "$engine \$*" >>"$tmp/asked"
		for last; do :; done
		case "\$*" in *load*) tar -tf "\$last" >"$tmp/$engine.files" ;; esac
	END
	chmod 755 "$tmp/bin/$engine"
done
wx image build --from "rootfs:$PWD/root" --name one --no-unpack
tag=localhost/wrapix-one:$(digest | cut -c 1-12)
PATH=$tmp/bin:$PATH wx image load one --into docker
check "docker gets its own archive, and the names" is "$rc $(cat "$out") $(grep -c manifest.json "$tmp/docker.files") $(tail -n 1 "$tmp/asked")" \
	"0 $tag 1 docker tag $tag localhost/wrapix-one:latest"
PATH=$tmp/bin:$PATH wx image load one --into apple
check "Apple's container gets an archive of a layout" is "$rc $(grep -c '^oci-layout$' "$tmp/container.files")" "0 1"
check "... and the names, for what it calls untagged" grep -qx "container image tag untagged@sha256:$(skopeo inspect "oci:$HOME/.cache/wrapix/images:one" | jq -r .Digest | sed s/sha256://) $tag" "$tmp/asked"
check "... and no file stays" is "$(find "$HOME/.cache/wrapix/images" -maxdepth 1 -name '.load*')" ""
cat >"$tmp/bin/podman" <<-END
	#!/bin/sh
	echo "podman \$*" >>"$tmp/asked"
	case "\$*" in pull*) skopeo inspect "\$3" >"$tmp/podman.sees" ;; image*mine) exit 0 ;; image*) exit 1 ;; esac
END
chmod 755 "$tmp/bin/podman"
PATH=$tmp/bin:$PATH wx image load one
check "podman gets a layout with the image in it, and no name that it would take for a registry's" is "$rc $(jq -r .Digest "$tmp/podman.sees" | cut -c 8-19) $(grep -c "^podman pull --quiet oci:[^:]*\$" "$tmp/asked") $(tail -n 1 "$tmp/asked" | cut -d ' ' -f 4-)" \
	"0 ${tag##*:} 1 $tag localhost/wrapix-one:latest"
check "... and no layout stays" is "$(find "$HOME/.cache/wrapix/images" -maxdepth 1 -name '.load*')" ""
printf '#!/bin/sh\necho "skopeo $*" >>"%s"\nexit 1\n' "$tmp/asked" >"$tmp/bin/skopeo"
chmod 755 "$tmp/bin/skopeo"
# asked_for REF: from where skopeo is to bring it
asked_for() {
	: >"$tmp/asked"
	PATH=$tmp/bin:$PATH wx image build --from "oci:$1" --name never
	grep ^skopeo "$tmp/asked" | grep -Eo '[^ ]+ oci:' | cut -d ' ' -f 1
}
check "a bare name is podman's, where podman says so" is "$(asked_for mine)" containers-storage:mine
check "... else a registry's, and no storage of podman's is made to look" is "$(asked_for other)" docker://other
check "... and the registry's where there is no podman" is "$(rm "$tmp/bin/podman" && asked_for mine)" docker://mine
rm "$tmp/bin/skopeo"
printf '#!/bin/sh\nexit 1\n' >"$tmp/bin/container"
PATH=$tmp/bin:$PATH wx image load one --into apple
check "an engine that fails is said" has "$err" "giving the image to apple"
wx image load one --into nothing
check "one that nobody knows is refused" is "$rc" 2
finish
