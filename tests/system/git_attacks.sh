#!/bin/sh
# SPDX-License-Identifier: MIT
# Attacks on the one who publishes: what a sandbox may leave in its private git directory, and what the host's
# repository has afterwards, which is what it had. The first case is the control. Prints TAP.
#
# shellcheck disable=SC1091,SC2012,SC2015,SC2016,SC2034,SC2059,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
kept="GIT_DRIVER"
be_user "$@"
driver=${GIT_DRIVER:-$top/build/tests/system/git_driver}
set_up
. "$top/tests/lib/git.sh"
. "$top/tests/lib/git_attacks.sh"
states=$home/.local/state
private=$states/wrapix/gitdirs/s1/0
git init -q "$tmp/repo" && cd "$tmp/repo" && echo start >file && git add . && git commit -q -m start || exit 1
attack_begin "$tmp/repo"
"$driver" "$states" s1 prepare "$repo" || bail "no private git directory"
cd "$tmp" && mkdir before && cp -a repo home/.local before || exit 1

# git as the session has it
session() { GIT_DIR=$private GIT_WORK_TREE=$repo GIT_ALTERNATE_OBJECT_DIRECTORIES=$repo/.git/objects git "$@" 2>>"$tmp/log/session"; }
publish() { timeout 60 "$driver" "$states" s1 publish >"$tmp/log/out" 2>"$tmp/log/err" </dev/null; }
attack_host() { put_back; }
attack_plant() {
	(cd "$private" && eval "$1") >"$tmp/log/plant" 2>&1 && { publish; [ $? -lt 124 ]; }
}
eval "$attack_tools"
begin() { rm -rf "$mark" && attack_host && cd "$private" || exit 1; }

# --- the control ---
begin
plain && cd "$tmp" && publish
check "a harmless commit is published" is "$? $(git -C "$repo" log -1 --format=%s evil) $(cat "$tmp/log/err")" "0 evil "

attacks
begin
echo changed >"$repo/file"
entry file "$(git -C "$repo" rev-parse HEAD:file)" 0x8000
cd "$tmp" && publish
check "what is marked as unchanged is seen all the same" is "$(git -C "$repo" status --porcelain)" " M file"

# --- configuration, and what git would run ---
runs='[core]\n\tfsmonitor = touch MARK\n\thooksPath = hooks\n\tsshCommand = touch MARK\n\tpager = touch MARK\n\talternateRefsCommand = touch MARK\n[filter "evil"]\n\tclean = touch MARK\n\tsmudge = touch MARK\n[diff "evil"]\n\ttextconv = touch MARK\n\tcommand = touch MARK\n[uploadpack]\n\tpackObjectsHook = touch MARK\n[include]\n\tpath = other\n'
begin
plain && printf "$runs" | sed "s|MARK|$mark|" >>config
for h in post-index-change reference-transaction pre-commit post-commit; do printf '#!/bin/sh\ntouch %s\n' "$mark" >hooks/$h && chmod +x hooks/$h; done
cd "$tmp" && publish
check "keys and hooks that run something: the commit comes, and nothing ran" is "$? $(git -C "$repo" log -1 --format=%s evil) $(ls "$mark" 2>/dev/null)" "0 evil "
check "... and none of them comes along" is "$(git -C "$repo" config --local --get-regexp 'fsmonitor|filter|diff|include|uploadpack')$(find "$repo/.git/hooks" -type f ! -name '*.sample')" ""
# --- too much ---
many() { begin; seq -f "$head refs/heads/b%06g" 3000 >packed-refs; printf '%s refs/heads/main\n' "$head" >>packed-refs; cd "$tmp" || return 1; publish; git -C "$repo" for-each-ref refs/heads | wc -l; }
check "three thousand branches: a thousand at a time" is "$(many)" 1001

# --- objects of git-lfs ---
begin
good=$(echo good | sha256sum | cut -d' ' -f1)
for name in "$good" "aabb$(echo "$good" | cut -c5-)"; do
	d=lfs/objects/$(echo "$name" | cut -c1-2)/$(echo "$name" | cut -c3-4)
	mkdir -p "$d" && echo good >"$d/$name"
done
ln -s "$home/.gitconfig" "$d/aabb$(printf %060d 1)" && mkfifo "$d/aabb$(printf %060d 2)" && cd "$tmp" && publish
check "an object of git-lfs that is not what its name says, a link, a FIFO: only the good one comes" is "$(find "$repo/.git/lfs" -type f -o -type l -o -type p | sed 's|.*/||')" "$good"
begin
d=lfs/objects/aa/bb
mkdir -p "$d" && truncate -s 3T "$d/aabb$(printf %060d 3)" && cd "$tmp" || exit 1
publish
check "one of three terabytes of holes is not looked at" is "$? $(find "$repo/.git/lfs" -name "aabb*3" -o -name wrapix-tmp)" "0 "
finish
