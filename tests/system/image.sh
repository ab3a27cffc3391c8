#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
# SPDX-License-Identifier: MIT
# Images: built from a directory and an archive, read by other programs, the same every time, kept and thrown away.
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
store=$HOME/.cache/wrapix/images

digest() { # of what 'build' said
	sed -n 's/.* sha256://p' "$out"
}
# A root of two packages, as dpkg would list them, and a file of nobody's.
make_root() {
	mkdir -p "$1/usr/bin" "$1/etc" "$1/var/lib/dpkg/info" "$1/usr/lib/big"
	cp /bin/busybox "$1/usr/bin/busybox"
	ln -s busybox "$1/usr/bin/sh"
	ln -s usr/bin "$1/bin"
	ln "$1/usr/bin/busybox" "$1/usr/bin/second-name"
	printf 'one\n' >"$1/usr/bin/small tool"
	head -c 5000000 /dev/zero | tr '\0' "${2-x}" >"$1/usr/lib/big/data"
	printf 'mine\n' >"$1/etc/nobodys"
	printf '/usr/bin/busybox\n/usr/bin/small tool\n' >"$1/var/lib/dpkg/info/small:amd64.list"
	printf '/.\n/usr\n/usr/lib/big\n/usr/lib/big/data\n' >"$1/var/lib/dpkg/info/big.list"
	chmod 4755 "$1/usr/bin/small tool"
	chmod 1777 "$1/etc"
}
make_root root
wx image build --from "rootfs:$PWD/root" --name one
check "an image is built from a directory" is "$rc" 0
first=$(digest)
check "... and says its digest" is "${#first}" 64

mkdir elsewhere
make_root elsewhere/other
touch -d 2001-01-01 elsewhere/other/etc/nobodys
(umask 077 && XDG_CACHE_HOME=$tmp/cache2 wx image build --from "rootfs:$PWD/elsewhere/other" --name one && [ "$rc" = 0 ])
check "the same files elsewhere, of another day, give the same digest" is "$(digest)" "$first"
tar --sort=name -C root -cf root.tar .
gzip -k root.tar
for archive in root.tar root.tar.gz; do
	wx image build --from "tar:$archive" --name "$archive"
	check "an archive is as good ($archive)" is "$rc" 0
done
check "... and a compressed one is the same image" is "$(digest)" \
	"$("$wrapix" image list --json | python3 -c 'import json,sys; print([i["digest"] for i in json.load(sys.stdin) if i["name"] == "root.tar"][0])')"

# --- a changed package changes one small layer ---
layers() { "$wrapix" image show "$1" | sed -n 's/^layer *//p' | cut -d' ' -f1 | sort; }
layers one >"$tmp/before"
printf 'two\n' >"root/usr/bin/small tool"
wx image build --from "rootfs:$PWD/root" --name two
layers two >"$tmp/after"
check "a changed package changes one layer" is "$(comm -13 "$tmp/before" "$tmp/after" | wc -l)" 1
check "... and the big one stays" is "$(comm -12 "$tmp/before" "$tmp/after" | wc -l)" "$(($(wc -l <"$tmp/before") - 1))"

# --- keeping ---
wx image list
check "they are listed" has "$out" "two"
wx image show "$(printf %.12s "$first")"
check "an image is found by the beginning of its digest" has "$out" "$first"
wx image verify one
check "it is what its digests say" is "$rc" 0
victim=$(find "$store/blobs/sha256" -type f -size +1000c | sort | head -n 1)
was=$(sha256sum <"$victim")
printf x | dd of="$victim" bs=1 seek=500 conv=notrunc 2>/dev/null
check "(control) a blob was changed" isnt "$(sha256sum <"$victim")" "$was"
bad=0
for name in one two root.tar; do "$wrapix" image verify "$name" >>"$tmp/verified" 2>&1 || bad=$((bad + 1)); done
check "a changed blob is found" isnt "$bad" 0
check "... and named" has "$tmp/verified" "has been changed"
rm "$victim"
wx image build --from "rootfs:$PWD/root" --name two
wx image build --from "rootfs:$PWD/elsewhere/other" --name one
wx image verify one
check "building again mends it" is "$rc" 0
touch "$store/blobs/sha256/.new-dead"
for name in root.tar root.tar.gz two; do wx image remove "$name"; done
wx image gc
check "gc removes what no image needs" is "$rc" 0
check "... also what a killed build left" absent "$store/blobs/sha256/.new-dead"
check "... and leaves as many blobs as the image has" is "$(find "$store/blobs/sha256" -type f | wc -l)" "$(($(layers one | sort -u | wc -l) + 2))"
wx image verify one
check "... all whole" is "$rc" 0
wx image gc
check "... and finds nothing the second time" has "$out" "removed 0 blobs"

# Two at once, and one that is killed: the store stays whole.
for i in 1 2 3 4; do "$wrapix" image build --from "rootfs:$PWD/root" --name "n$i" >/dev/null 2>&1 & done
wait
wx image list --json
check "four builds at once are four images" is "$(grep -c '"name": *"n[1-4]"' "$out")" 4
# --- one that is ended or killed while another program brings the files ---
mkdir "$tmp/bin"
mkfifo "$tmp/began"
cat >"$tmp/bin/mmdebstrap" <<END
#!/bin/sh
for to; do case \$to in *.make-*) break ;; esac; done
echo half >"\$to"
echo \$\$ >"$tmp/began"
exec sleep 1000
END
chmod 755 "$tmp/bin/mmdebstrap"
half() { find "$store" -name '.make-*' | wc -l; }
begin() { # a shell's job has INT ignored
	PATH=$tmp/bin:$PATH env --default-signal=INT "$wrapix" image build --from debian --name half >"$tmp/log/out" 2>&1 &
	job=$!
	read -r bringer <"$tmp/began"
}
for end in TERM:143 INT:130; do
	begin
	check "(control) a build is under way" is "$(half)" 1
	kill -"${end%:*}" "$job"
	wait "$job" 2>/dev/null
	check "a build that ${end%:*} ends has that status" is "$?" "${end#*:}"
	check "... leaves nothing in the store" is "$(half)" 0
	check "... and no program" isnt "$(kill -0 "$bringer" 2>&1)" ""
done
begin
wx image gc
check "gc waits for no build, and says so" has "$err" "being made"
wx image build --from "rootfs:$PWD/root" --name one-more
check "a build beside it works" is "$rc" 0
check "... and leaves the other what it has" is "$(half)" 1
kill -9 "$job"
wait "$job" 2>/dev/null
check "(control) a kill leaves it behind" is "$(half)" 1
wx image verify one
check "... and has hurt nothing" is "$rc" 0
touch "$store/blobs/sha256/.new-dead"
wx image build --from "rootfs:$PWD/root" --name one-more
check "... which the next build removes" is "$rc $(half) $(find "$store" -name .new-dead | wc -l)" "0 0 0"
wx image remove one-more
wx image remove one-more
check "an image that is not there" refused 2 "there is no image 'one-more'"
wx image help
check "the help names the manual" has "$out" "wrapix-image(1) is the manual"

# --- unpacking ---
wx image unpack one
check "an image is unpacked" is "$rc" 0
merged=$(cat "$out")
check "... to what went in" sh -c 'cmp "$1/usr/lib/big/data" elsewhere/other/usr/lib/big/data && [ "$1/usr/bin/busybox" -ef "$1/usr/bin/second-name" ] &&
	[ "$(readlink "$1/bin")" = usr/bin ]' sh "$merged"
check "... without set-user-ID bits" is "$(find "$merged" -perm /6000)" ""
check "... (control) which it has" is "$(find elsewhere/other -perm /6000 | wc -l)" 1
# Each layer of the fuzzer's corpus as an image of its own, on a root with a link that leads out of it.
mkdir "$tmp/outside"
cat >"$tmp/image.py" <<-END
	import hashlib, io, json, os, sys, tarfile
	store, layer, outside = sys.argv[1:]
	def blob(data):
	    digest = hashlib.sha256(data).hexdigest()
	    open(f"{store}/blobs/sha256/{digest}", "wb").write(data)
	    return {"digest": "sha256:" + digest, "size": len(data), "mediaType": "application/vnd.oci.image.layer.v1.tar+gzip"}
	below = io.BytesIO()
	tar = tarfile.open(fileobj=below, mode="w")
	for name, target in ("out", outside), ("l", outside):
	    entry = tarfile.TarInfo(name); entry.type = tarfile.SYMTYPE; entry.linkname = target
	    tar.addfile(entry)
	tar.close()
	layers = [blob(below.getvalue()), blob(open(layer, "rb").read())]
	config = blob(json.dumps({"rootfs": {"diff_ids": [l["digest"] for l in layers]}}).encode())
	manifest = blob(json.dumps({"config": config, "layers": layers}).encode())
	manifest["annotations"] = {"org.opencontainers.image.ref.name": "hostile"}
	index = json.load(open(f"{store}/index.json"))
	index["manifests"] = [m for m in index["manifests"] if m["annotations"] != manifest["annotations"]] + [manifest]
	json.dump(index, open(f"{store}/index.json", "w"))
END
touch "$tmp/mark"
for layer in "$top"/tests/fuzz/corpus/layer/*; do
	python3 "$tmp/image.py" "$store" "$layer" "$tmp/outside"
	wx image unpack hostile
	check "${layer##*/}: unpacked or refused" sh -c '[ "$1" = 0 ] || [ "$1" = 125 ]' sh "$rc"
	check "... and nothing outside was touched" is "$(find "$tmp/outside" "$HOME" -path "$store" -prune -o -newer "$tmp/mark" -print)" ""
done
# A few megabytes can stand for a terabyte: what an entry says of itself is believed before it is gone through.
python3 -c 'import sys, tarfile; t = tarfile.TarInfo("big"); t.size = 100 << 30; sys.stdout.buffer.write(t.tobuf(tarfile.GNU_FORMAT) + bytes(1024))' >"$tmp/bomb"
python3 "$tmp/image.py" "$store" "$tmp/bomb" "$tmp/outside"
wx image unpack hostile
check "a file that is bigger than all that is unpacked is refused at once" eval 'is "$rc" 125 && has "$err" "too big"'
wx image remove hostile
wx image gc
check "gc removes unpacked roots that no image has" is "$(find "$store/roots" -mindepth 1 -maxdepth 1 -type d | wc -l)" 2 # one's, and that of n1 to n4

# An image's modes are for inside: '/etc' is everybody's there (make_root), and nobody's but the user's here.
check "no other user comes into the store" is "$(stat -c %a "$store")" 700
chmod 755 "$store" "$store/roots"
check "(control) the image lets everybody write" is "$(stat -c %a "$merged/etc")" 1777
wx run --image one --network none -- busybox true
check "a sandbox closes what an earlier wrapix left open" is "$(stat -c %a "$store/roots")" 700
wx image list
check "... and so does every command for images" is "$(stat -c %a "$store")" 700

# --- a sandbox from an image ---
mkdir project
cd project || exit 1
wx run --image one --network none -- busybox sh -c 'busybox id -u; busybox cat /etc/nobodys; echo x >/usr/bin/new && echo written; busybox touch /workspace/made'
check "a sandbox runs from an image" is "$rc" 0
check "... as the user, with the image's files, and may write there" is "$(tr '\n' ' ' <"$out")" "$(id -u) mine written "
check "... nothing of which stays" absent "$merged/usr/bin/new"
check "... but the project's files" exists made
check "... which are the user's" is "$(stat -c %U made)" "$(id -un)"
wx run --image one --network none -- busybox ls /usr
check "the host's programs are not there" is "$(tr '\n' ' ' <"$out")" "bin lib "
wx run --image nothing --network none -- true
check "an image that is not there is an error" is "$rc" 125
check "... that says how to make one" has "$err" "wrapix image build"
mkfifo fifo
"$wrapix" run --image one --network none -- busybox sh -c 'echo up >fifo; busybox cat fifo' >/dev/null 2>&1 &
running=$!
hear fifo
"$wrapix" image remove one >/dev/null
"$wrapix" image gc >/dev/null
check "gc leaves what a sandbox runs from" exists "$merged/usr/bin/busybox"
tell fifo
wait "$running"
"$wrapix" image gc >/dev/null
check "... until it has ended" absent "$merged"
cd .. || exit 1
wx image build --from "rootfs:$PWD/elsewhere/other" --name one

# --- wrong input ---
for from in rootfs:/nonexistent tar:/nonexistent tar:/etc/passwd frob "tar:$tmp/evil.tar"; do
	python3 - "$tmp/evil.tar" <<-END
		import tarfile, sys, io
		t = tarfile.open(sys.argv[1], "w")
		i = tarfile.TarInfo("../../escaped"); i.size = 1
		t.addfile(i, io.BytesIO(b"x"))
	END
	wx image build --from "$from" --name wrong
	check "--from $(basename "$from") is refused" isnt "$rc" 0
	check "... with a reason" has "$err" "wrapix:"
done
wx image list
check "... and leaves no image" lacks "$out" "wrong"
for name in ../x a/b .hidden -x ''; do
	wx image build --from "rootfs:$PWD/root" "--name=$name"
	check "the name '$name' is refused" is "$rc" 2
done
wx image show nothing
check "an unknown image is an error that lists the others" grep -q "^hint: there are .*one" "$err"
wx image frob
check "an unknown command is an error" is "$rc" 2
finish
