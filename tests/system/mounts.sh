#!/bin/sh
# SPDX-License-Identifier: MIT
# --mount in all its forms, and what it refuses. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2088,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up

name=$(id -un)
mkdir -p "$home/data dir/sub" "$tmp/colon:dir" "$tmp/src/$name"
echo data >"$home/data dir/file"
echo colon >"$tmp/colon:dir/file"
echo mine >"$tmp/src/$name/file"
ln -s "$home/data dir" "$tmp/link"
mount_says() { # mount_says NAME MOUNT WANT SCRIPT
	inside "$4" --mount "$2"
	check "$1: --mount $2" printed "$3"
}
mount_says "a directory" "$home/data dir:/data" "data" 'cat /data/file; touch /data/new'
check "... writable by default" exists "$home/data dir/new"
mount_says "read-only" "$home/data dir:/data:ro" "no" 'touch /data/no 2>/dev/null || echo no'
mount_says "read-write" "$home/data dir:/data:rw" "" 'rm /data/new'
check "... really" absent "$home/data dir/new"
mount_says "a file" "$home/data dir/file:/etc/my.conf:ro" "data" 'cat /etc/my.conf'
mount_says "a file, writable" "$home/data dir/file:/data.txt" "" 'echo more >>/data.txt'
check "... really" is "$(cat "$home/data dir/file")" "$(printf 'data\nmore')"
echo data >"$home/data dir/file"
mount_says "~" '~/data dir:/data' data 'cat /data/file'
mount_says '$HOME' '$HOME/data dir:/data' data 'cat /data/file'
mount_says '$USER' "$tmp/src/\$USER:/data" mine 'cat /data/file'
mount_says "DEST below the home inside" '~/data dir:~/x/data' data 'cat ~/x/data/file'
mount_says "spaces on both sides" '~/data dir:/my data/of mine' data 'cat "/my data/of mine/file"'
mount_says "a link is what it leads to" "$tmp/link:/data" data 'cat /data/file'
mount_says "deep below" "$home/data dir:/a/b/c/d:ro" data 'cat /a/b/c/d/file'
mount_says "optional and there" "$home/data dir:/data:ro,optional" data 'cat /data/file'
mount_says "optional and missing" "$tmp/missing:/data:ro,optional" "" 'ls -d /data 2>/dev/null; true'
mount_says "optional without a mode" "$tmp/missing:/data,optional" "" 'ls -d /data 2>/dev/null; true'
cd "$home" || exit 1
says "SRC relative to where wrapix was started" data 'cat /data/file' --force --mount 'data dir:/data'
cd "$project" || exit 1
says "two mounts, one below the other" "data mine" 'cat /a/file /a/sub/file | tr "\n" " " | sed "s/ $//"' \
	--mount "$home/data dir:/a" --mount "$tmp/src/$name:/a/sub:ro"
mount_says "over a file of the sandbox's own" "$tmp/src/$name/file:/etc/hosts:ro" mine 'cat /etc/hosts'
mount_says "below a directory of the host's that has the name" "$tmp/src/$name:/usr/local/bin:ro" mine 'cat /usr/local/bin/file'

# In the project a mount point must be there: nothing is created.
mkdir "$project/place"
touch "$project/empty"
snapshot "$project" >"$tmp/tree"
mount_says "into the project, on a directory" "$tmp/src/$name:/workspace/place" mine 'cat place/file'
mount_says "into the project, on a file" "$tmp/src/$name/file:/workspace/empty:ro" mine 'cat empty'
# mount_refused NAME STATUS TEXT MOUNT
mount_refused() {
	inside true --mount "$4"
	check "$1: --mount $4" refused "$2" "$3"
	check "... and nothing was created" same_tree "$project" "$tmp/tree"
}
mount_refused "into the project, on a missing name" 125 "/workspace/new" "$tmp/src/$name:/workspace/new"
mount_refused "... a missing directory" 125 "/workspace/new" "$tmp/src/$name:/workspace/new/deep/er"
mount_refused "... a file" 125 "/workspace/new" "$tmp/src/$name/file:/workspace/new"
mount_refused "a directory on a file" 125 "/workspace/empty" "$tmp/src/$name:/workspace/empty"
mount_refused "a file on a directory" 125 "/workspace/place" "$tmp/src/$name/file:/workspace/place"
mount_refused "on a missing name of /usr" 125 "/usr/no-such-name" "$tmp/src/$name:/usr/no-such-name"
ln -s /etc "$project/leads-out"
snapshot "$project" >"$tmp/tree"
mount_refused "through a link of the project" 125 "link" "$tmp/src/$name/file:/workspace/leads-out/passwd"
mount_refused "a missing source" 125 "does not exist" "$tmp/missing:/data"
mount_refused "only HOME and USER expand" 125 "does not exist" '$PWD/x:/data'
mount_refused "nor with braces" 125 "does not exist" '${HOME}/x:/data'
mount_refused "nobody else's home" 2 "~root" '~root/x:/data'
mount_refused "a variable in DEST" 2 "absolute" "$tmp/src:\$HOME/x"
mount_refused "a relative DEST" 2 "absolute" "$tmp/src:x"
mount_refused "no DEST" 2 "SRC:DEST" "$tmp/src"
mount_refused "an empty DEST" 2 "empty" "$tmp/src:"
mount_refused "an empty SRC" 2 "empty" ":/data"
mount_refused "dots in DEST" 2 "'..'" "$tmp/src:/data/../etc"
mount_refused "a wrong mode" 2 "'ro' or 'rw'" "$tmp/src:/data:rx"
mount_refused "a wrong option" 2 "optional" "$tmp/src:/data:ro,always"
mount_refused "too many colons" 2 "colons" "$tmp/a:b:/data:ro"
for dest in / /proc /proc/x /dev /dev/x /sys/x /workspace /home /home/wrapix '~'; do
	mount_refused "a place of the sandbox's own" 2 "nothing can be mounted there" "$tmp/src:$dest"
done
inside true --mount "$tmp/src:/data" --mount "$home:/data"
check "two mounts on one place" refused 2 "two mounts"
chmod 000 "$tmp/src/$name"
mount_refused "a source that may not be entered can be mounted, and not read" 125 "" "$tmp/src/$name/file:/data"
chmod 755 "$tmp/src/$name"

# --- the form for odd names, in wrapix.json ---
rm "$project/leads-out"
odd=$(printf 'a:b,c "d"\ne\\f\t')
mkdir -p "$project/$odd"
echo odd >"$project/$odd/file"
python3 - "$odd" >"$project/wrapix.json" <<'PY'
import json, sys
print(json.dumps({"mounts": [{"source": sys.argv[1], "dest": "/" + sys.argv[1], "mode": "ro"},
                             {"source": "absent", "dest": "/x", "mode": "ro", "optional": True}]}))
PY
wx trust --yes
wx run --network none -- cat "/$odd/file"
check "colons, commas, quotes, newlines" printed odd
wx run --network none -- touch "/$odd/new"
check "... read-only" isnt "$rc" 0
printf '{"mounts": [{"source": "%s", "dest": "/data", "mode": "rw"}]}' "$tmp/colon:dir" >"$project/wrapix.json"
wx trust --yes
says "... outside the project, once trusted" "colon" 'cat /data/file; touch /data/new'
check "... read-write" exists "$tmp/colon:dir/new"
rm "$project/wrapix.json"
ln -s "$home" "$project/sly"
printf '{"mounts": ["sly:/data:ro"]}' >"$project/wrapix.json"
wx trust --yes
inside 'ls /data'
check "a link in the project that leads out of it is refused" refused 125 "leaves the project"
rm "$project/wrapix.json"

# --- a link that an earlier session has left, and a mount that the user types every day ---
mkdir "$project/own" && echo own >"$project/own/file" && echo planted >"$home/planted"
inside "rm -f data; ln -s '$home' data; ln -s own near; mkdir -p in && ln -s ../data in/further"
for source in data ./data "$project/data" in/further own/../data "data/.cache/.."; do
	mkdir -p "$home/.cache"
	inside 'cat /x/planted' --mount "$source:/x:ro"
	check "--mount $source: refused, the link leaves the project" refused 125 "leaves it (to"
done
inside 'cat /x/file' --mount near:/x
check "... one that stays in it is followed" printed own
ln -s "$home" "$tmp/mine"
says "... and so is one outside of it" planted 'cat /x/planted' --mount "$tmp/mine:/x:ro"
says "... and what '..' leads to" planted 'cat /x/planted' --mount "../$(basename "$home"):/x:ro"

# --- ... and a directory to run in ---
mkdir -p "$tmp/many/one" "$tmp/elsewhere" && echo theirs >"$tmp/elsewhere/key" && cd "$tmp/many" && git init -q . || exit 1
wx run --network none -- sh -c "rmdir one && ln -s '$tmp/elsewhere' one"
wx run --network none one -- cat key
check "a directory that became a link out of its project is not run in" refused 2 "goes by a link in another, '$tmp/many/one', that leaves it (to '$tmp/elsewhere')"
cd one || exit 1
wx run --network none -- cat key
check "... nor where one went by it" refused 2 "goes by a link in another"
wx run --network none --force -- cat key
check "... but with --force" printed theirs
cd "$tmp" || exit 1
wx run --network none --mount "$tmp/many/one:/x" "$tmp/src" -- cat /x/key
check "... nor is it mounted elsewhere" refused 125 "leaves it (to"
ln -s many "$tmp/name"
wx run --network none "$tmp/name" -- pwd
check "... one that stays, or that lies in no project, is followed" is "$rc" 0
finish
