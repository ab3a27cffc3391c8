#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; words for eval; functions called by name
# SPDX-License-Identifier: MIT
# Images of a stranger's: what they say is shown as text, what stands for far more than it is is refused, what fails takes nothing
# away, and whoever waits for one can end it at any time.
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
store=$HOME/.cache/wrapix/images
images=$tmp/images
mkdir "$images"
cat >"$tmp/make.py" <<'PY'
import gzip, hashlib, io, json, os, sys, tarfile
def layout(name, layers, **top):
    os.makedirs(name + "/blobs/sha256")
    def blob(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        open(f"{name}/blobs/sha256/{digest}", "wb").write(data)
        return {"digest": "sha256:" + digest, "size": len(data), "mediaType": "application/vnd.oci.image." + kind}
    layers = [blob(layer, "layer.v1.tar+gzip") for layer in layers]
    config = {"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": [l["digest"] for l in layers]}}
    manifest = {"schemaVersion": 2, **top.pop("manifest", {})}
    config = blob(json.dumps(dict(config, **top)).encode(), "config.v1+json")
    config.update(manifest.pop("of config", {}))
    manifest = blob(json.dumps(dict(manifest, config=config, layers=layers)).encode(), "manifest.v1+json")
    json.dump({"schemaVersion": 2, "manifests": [manifest]}, open(name + "/index.json", "w"))
    open(name + "/oci-layout", "w").write('{"imageLayoutVersion":"1.0.0"}')
def entry(name, data=b"", kind=tarfile.REGTYPE, size=None, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(data) if size is None else size
    return info.tobuf(tarfile.GNU_FORMAT) + data + bytes(-len(data) % 512)
end = bytes(1024)
tables = gzip.compress(entry("etc/passwd", b"root:x:0:0::/:/bin/sh\n") + entry("etc/group", b"root:x:0:\n") + end)
os.chdir(sys.argv[1])
layout("good", [gzip.compress(entry("file", b"good\n") + end)])
layout("broken", [gzip.compress(entry("file", b"bad\n") + entry("link", kind=tarfile.LNKTYPE, link="nowhere") + end)])
layout("shown", [tables], architecture="amd64\x1b]0;mine\x07", os="linux\x1b[2J", config={"Entrypoint": ["\x1b[1m"], "Env": ["A=\x1b[2J"]})
layout("most", [gzip.compress(entry("file", b"good\n") + end)] * 512)
layout("other-layers", [tables], manifest={"Layers": []})
layout("other-digest", [tables], manifest={"of config": {"DIGEST": "sha256:" + "0" * 64}})
layout("urls", [tables], manifest={"of config": {"urls": ["http://127.0.0.1:1/"]}})
layout("no-urls", [tables], manifest={"of config": {"urls": []}})
layout("other-rootfs", [tables], **{"rootf\u017f": {"type": "layers", "diff_ids": []}})
once = gzip.compress(entry("d", kind=tarfile.DIRTYPE) * 20000)
layout("twice", [gzip.compress(once * 1000)])
# Of the entry that nobody wants 30 GB come out, which takes a while.
zeros = gzip.compress(bytes(100 << 20), 1)
with open("slow.gz", "wb") as file:
    file.write(gzip.compress(entry("fifo", kind=b"7", size=300 * (100 << 20))))
    for _ in range(300):
        file.write(zeros)
layout("slow", [open("slow.gz", "rb").read(), tables])
layout("slow-tables", [open("slow.gz", "rb").read()])
PY
python3 "$tmp/make.py" "$images" || give_up "the images are made"
from() { wx image build --from "oci:$images/$1" --name "$2"; }
said() { # STATUS TEXT
	is "$rc" "$1" && has "$err" "$2"
}

# --- what it says of itself ---
from shown shown
check "(control) an image with hostile text is taken" is "$rc" 0
wx image show shown
check "what it says is shown as text" eval 'printable "$out" && has "$out" "x1b[2J/amd64\\x1b"'
wx image list
check "... in the list, too" eval 'printable "$out" && has "$out" "amd64\\x1b"'

# --- what means something else to somebody else ---
for what in layers:manifest digest:descriptor rootfs:configuration; do
	from "other-${what%:*}" other
	check "a document that an engine would read differently is refused (${what%:*})" said 125 "the image's ${what#*:} is not as"
done

from urls urls
check "what an engine would fetch from anywhere is refused" said 125 "lies elsewhere"
from no-urls urls
check "... (control) a list of no places is none" is "$rc" 0

# --- what stands for far more ---
from twice twice
check "what is compressed again and again is not gone through" said 125 "more than once"
gzip -c "$images/slow.gz" >"$tmp/twice.tar"
wx image build --from "tar:$tmp/twice.tar" --name twice
check "... nor a file of that kind" said 125 "more than once"
mkdir "$tmp/bin"
for program in lrzip lzop grzip; do
	printf '#!/bin/sh\ntouch "%s/ran"\n' "$tmp" >"$tmp/bin/$program"
	chmod 755 "$tmp/bin/$program"
done
printf 'LRZI\0\6%040d' 0 >"$tmp/lrzip.tar"
PATH=$tmp/bin:$PATH wx image build --from "tar:$tmp/lrzip.tar" --name lrzip
check "a file starts no program that it is for" eval 'said 125 "lrzip.tar" && absent "$tmp/ran"'
mkfifo "$tmp/fifo"
for ref in tar oci; do
	wx image build --from "$ref:$tmp/fifo" --name fifo
	check "nobody is waited for at a FIFO ($ref)" said 125 "is not a file"
done

# --- what fails takes nothing away ---
from good kept
check "(control) an image is taken" is "$rc" 0
was=$(sed -n 's/.*sha256://p' "$out")
from broken kept
check "one that cannot be unpacked is refused" said 125 "unpacking 'link'"
wx image show kept
check "... and the one of that name is the one before" has "$out" "$was"
wx image unpack kept
check "... as it was" has "$(cat "$out")/file" good
from broken fresh
wx image list
check "... and it has no name of its own" lacks "$out" fresh

from most most
check "an image that has as many layers as one may have gets none of ours" said 125 "what became of the image"
wx image gc
check "... and is nobody's trouble later" is "$rc" 0
wx image load "$images/most" --into store --name most
check "... (control) as it is it can be read" is "$rc" 0
manifest=$store/blobs/sha256/$(sed -n 's/.*sha256://p' "$out")
echo damaged >"$manifest"
from good after
wx image list
check "one that is damaged is named, and the others are listed" eval 'said 125 ": manifest: the blob" && has "$out" after'
wx image gc
check "... gc says what to do about it" said 125 "hint: 'wrapix image remove most'"
wx image remove most
wx image gc
check "... which helps" is "$rc" 0

# --- who has enough of waiting ---
left() { find "$store" -name '.[!.]*' ! -path "$store/roots/*/*" ! -path "$store/roots"; }
begin() { # IMAGE: its build is under way, in the background; a shell's job has INT ignored
	env --default-signal=INT "$wrapix" image build --from "oci:$images/$1" --name slow >"$tmp/log/out" 2>&1 &
	job=$!
}
unpacks() { find "$store/roots" -name '.new-*' | grep -q . && child=$(pgrep -P "$job"); }
slow=$store/blobs/sha256/$(sha256sum "$images/slow.gz" | cut -d' ' -f1)
ended() { # STATUS
	wait "$job" 2>/dev/null
	is "$?" "$1" && empty "$tmp/log/out"
}
for end in TERM:143 INT:130; do
	begin slow-tables
	await exists "$slow" || give_up "a build looks into its layers"
	kill -"${end%:*}" "$job"
	check "${end%:*} is heard while a layer is looked into" ended "${end#*:}"
	"$wrapix" image gc >/dev/null
	begin slow
	await unpacks || give_up "a build unpacks"
	kill -"${end%:*}" "$job"
	check "... and while it is unpacked" ended "${end#*:}"
	check "... which leaves nothing" is "$(left)" ""
	check "... and nobody" fails kill -0 "$child"
	"$wrapix" image gc >/dev/null
done
begin slow
await unpacks || give_up "a build unpacks"
kill -9 "$job"
wait "$job" 2>/dev/null
gone() { ! kill -0 "$child"; }
check "who unpacks for a build that was killed ends" await gone
check "(control) what it made is there" isnt "$(left)" ""
from good other
check "... and the next build removes it" is "$rc $(left)" "0 "

# --- what it is written to ---
mkdir "$tmp/mine"
echo mine >"$tmp/mine/lock"
echo mine >"$tmp/mine/use"
wx image build --from "oci:$images/good" --name one -o "$tmp/mine"
check "a layout beside files of the user's leaves them" is "$rc $(cat "$tmp/mine/lock" "$tmp/mine/use" | tr '\n' ' ')" "0 mine mine "
check "... (control) it is one" exists "$tmp/mine/index.json"
flock "$tmp/mine" sleep 60 &
holder=$!
held() { ! flock -n "$tmp/mine" true; }
await held || give_up "somebody holds the layout"
env --default-signal=INT "$wrapix" image build --from "oci:$images/good" --name two -o "$tmp/mine" >"$tmp/log/out" 2>&1 &
job=$!
named() { "$wrapix" image list | grep -q two; }
await named || give_up "a build is about to write"
kill -TERM "$job"
check "TERM is heard while somebody else holds the layout" eval 'ended 143 && kill "$holder"'
wait "$holder" 2>/dev/null
echo mine >"$tmp/mine/victim"
ln -s victim "$tmp/mine/one.tar.part"
wx image build --from "oci:$images/good" --name one -o "$tmp/mine/one.tar"
check "a link that was put where an archive begins is not followed" is "$rc $(cat "$tmp/mine/victim")" "0 mine"
check "... (control) the archive is a file" eval 'tar tf "$tmp/mine/one.tar" >"$tmp/log/out" && [ ! -L "$tmp/mine/one.tar" ]'
finish
