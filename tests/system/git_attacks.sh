#!/bin/sh
# SPDX-License-Identifier: MIT
# Attacks on the one who publishes: what a sandbox may leave in its private git directory, and what the host's
# repository has afterwards, which is what it had. The first case is the control. Prints TAP.
#
# shellcheck disable=SC1091,SC2012,SC2015,SC2016,SC2034,SC2059,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
driver=${GIT_DRIVER:-$top/build/tests/system/git_driver}
need_user
[ "$(id -u)" != 0 ] || {
	HOME=$(getent passwd "$test_user" | cut -d: -f6)
	export HOME
	cd / || exit 1
	clean_env GIT_DRIVER="$driver" setpriv --reuid "$test_user" --regid "$test_user" --init-groups "$here/${0##*/}"
	exit
}
command -v git >/dev/null || bail "git is not installed"
set_up
git config --global user.name Somebody
git config --global user.email somebody@example.org
git config --global init.defaultBranch main
repo=$tmp/repo
states=$home/.local/state
private=$states/wrapix/gitdirs/s1/0
mark=$tmp/ran

git init -q "$tmp/secret" && (cd "$tmp/secret" && echo secret >secret && git add . && git commit -q -m secret)
secret=$(git -C "$tmp/secret" rev-parse HEAD)
git init -q "$repo" && cd "$repo" && echo start >file && git add . && git commit -q -m start || exit 1
printf 'file diff=evil filter=evil\n' >.git/info/attributes
"$driver" "$states" s1 prepare "$repo" || bail "no private git directory"
cd "$tmp" && mkdir before && mv repo home/.local before || exit 1

seen() {
	(cd "$repo" && git for-each-ref --format='%(refname) %(objectname)' && cat .git/HEAD .git/config && git ls-files -s && git stash list &&
		find .git -type l -o -name '*HEAD' | LC_ALL=C sort && ls .git .git/hooks .git/info)
}
# git as the session has it
session() { GIT_DIR=$private GIT_WORK_TREE=$repo GIT_ALTERNATE_OBJECT_DIRECTORIES=$repo/.git/objects git "$@" 2>>"$tmp/log/session"; }
begin() { rm -rf "$mark" "$repo" "$home/.local" && cp -a "$tmp/before/repo" "$repo" && cp -a "$tmp/before/.local" "$home/.local" && cd "$private" && seen >"$tmp/want"; }
publish() { timeout 60 "$driver" "$states" s1 publish >"$tmp/log/out" 2>"$tmp/log/err" </dev/null; }
# attack NAME SCRIPT: done in the private directory; the host's repository stays what it is
unharmed() {
	begin
	eval "$1" >"$tmp/log/plant" 2>&1 || { echo "it could not be planted"; cat "$tmp/log/plant" "$tmp/log/session"; return 1; }
	cd "$tmp" || return 1
	publish
	[ $? -lt 124 ] || { echo "it hangs"; return 1; }
	seen | diff "$tmp/want" - || return 1
	git -C "$repo" fsck --strict >"$tmp/log/fsck" 2>&1 || { cat "$tmp/log/fsck"; return 1; }
	git -C "$repo" status >/dev/null && git -C "$repo" log -p >/dev/null || return 1
	[ ! -e "$mark" ] || { echo "something ran"; return 1; }
	[ ! -s "$tmp/log/err" ] || printable "$tmp/log/err"
}
attack() { check "$1" unharmed "$2"; }
tree() { session mktree --missing; } # from stdin
put() { session update-ref refs/heads/evil "$(session commit-tree -m evil -p HEAD "$1")"; }
blob() { session hash-object -w --stdin; }
raw_tree() { # raw_tree NAME...: entries that git itself would not write, all of one blob
	b=$(echo x | blob)
	for name; do printf '100644 %s\0' "$name" && printf %s "$b" | perl -pe 's/(..)/chr hex $1/ge'; done | session hash-object -t tree --literally -w --stdin
}

# --- the control ---
begin
put "$(printf '100644 blob %s\tx\n' "$(echo x | blob)" | tree)" && cd "$tmp" && publish
check "a harmless commit is published" is "$? $(git -C "$repo" log -1 --format=%s evil) $(cat "$tmp/log/err")" "0 evil "

# --- objects ---
attack "a tree with .git" 'put "$(raw_tree .git)"'
attack "a tree with .GIT" 'put "$(raw_tree .GIT)"'
attack "a tree with .." 'put "$(raw_tree ..)"'
attack "a tree with a path in a name" 'put "$(raw_tree a/b)"'
modules() { put "$(printf '%s blob %s\t.gitmodules\n' "${2:-100644}" "$(printf "$1" | blob)" | tree)"; }
attack ".gitmodules that runs a command" 'modules "[submodule \"x\"]\n\tpath = x\n\turl = https://example.org\n\tupdate = !touch $mark\n"'
attack ".gitmodules with an option as address" 'modules "[submodule \"x\"]\n\tpath = x\n\turl = -ox\n"'
attack ".gitmodules whose name leads out" 'modules "[submodule \"../../x\"]\n\tpath = x\n\turl = https://example.org\n"'
attack ".gitmodules that is a link" 'modules "/etc/passwd" 120000'
attack "a commit whose parent is not there" 'session update-ref refs/heads/evil "$(printf "tree %s\nparent %040d\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx\n" "$(session rev-parse HEAD^{tree})" 7 | session hash-object -t commit --literally -w --stdin)"'
attack "a tree whose blob is not there" 'put "$(printf "100644 blob %040d\tx\n" 7 | tree)"'
attack "a blob that is not what its name says" 'b=$(echo good | blob); t=$(printf "100644 blob %s\tx\n" "$b" | tree); put "$t"; f=objects/$(echo "$b" | cut -c1-2)/$(echo "$b" | cut -c3-); e=$(echo evil | blob); chmod u+w "$f"; cp "objects/$(echo "$e" | cut -c1-2)/$(echo "$e" | cut -c3-)" "$f"'
attack "a pack that is junk" 'put "$(printf "100644 blob %s\tx\n" "$(echo x | blob)" | tree)"; session gc -q; for p in objects/pack/*.pack; do chmod u+w "$p"; dd if=/dev/urandom of="$p" bs=64 count=1 seek=1 conv=notrunc status=none; done'
attack "another repository of the user's as alternate" 'echo "$tmp/secret/.git/objects" >>objects/info/alternates; echo "$secret" >refs/heads/evil'
attack "... as the directory of objects" 'mv objects o; ln -s "$tmp/secret/.git/objects" objects; echo "$secret" >refs/heads/evil'
attack "replaced objects and grafts" 'mkdir -p refs/replace; echo x | blob >"refs/replace/$(session rev-parse HEAD:file)"; echo "$(session rev-parse HEAD) $secret" >info/grafts'

# --- references ---
head=$(git -C "$tmp/before/repo" rev-parse HEAD)
attack "names that no branch may have" 'for n in -x a..b x.lock "a~b" HEAD @ .x "$head"; do echo "$head $n" | sed "s| | refs/heads/|"; done >packed-refs; printf "%s refs/heads/main\n" "$head" >>packed-refs; LC_ALL=C sort -k2 -o packed-refs packed-refs'
attack "a name with an escape sequence" 'printf "%s refs/heads/main\n%s refs/heads/\033[2Jx\n" "$head" "$head" | LC_ALL=C sort -k2 >packed-refs; rm -f refs/heads/main'
attack "packed references that never end" 'ln -sf /dev/zero packed-refs'
attack "references that lead elsewhere" 'rm -rf refs; ln -s "$tmp/secret/.git/refs" refs'
attack "a branch that is a link" 'ln -s "$tmp/secret/.git/refs/heads/main" refs/heads/evil'
attack "a branch that is a FIFO" 'mkfifo refs/heads/evil'
attack "all references are gone" 'rm -rf refs packed-refs'
attack "all references are gone but their directory" 'rm -rf refs/heads refs/tags; : >packed-refs'
attack "HEAD leads out of refs" 'echo "ref: ../config" >HEAD'
attack "HEAD names an option" 'echo "ref: refs/heads/--upload-pack=x" >HEAD'
attack "HEAD is a link" 'rm HEAD; ln -s "$tmp/secret/.git/HEAD" HEAD'
attack "HEAD is a FIFO" 'rm HEAD; mkfifo HEAD'
attack "a stash that is none" 'echo "$head" >refs/stash; mkdir -p logs/refs; printf "junk\n" >logs/refs/stash'
attack "a merge with something else" 'mkfifo MERGE_HEAD'
attack "a merge with an option" 'echo "--exec=touch $mark" >MERGE_HEAD'

# --- the index ---
entry() { python3 - "$@" <<'EOF'
import hashlib, struct, sys
flags = int(sys.argv[3], 0) if len(sys.argv) > 3 else 0
name, oid = sys.argv[1].encode(), bytes.fromhex(sys.argv[2])
e = b"\0" * 24 + struct.pack(">L", 0o100644) + b"\0" * 12 + oid + struct.pack(">H", len(name) | flags) + name
e += b"\0" * (8 - len(e) % 8)
data = b"DIRC" + struct.pack(">LL", 2, 1) + e
open("index", "wb").write(data + hashlib.sha1(data).digest())
EOF
}
attack "an entry of the index in .git" 'entry .git/hooks/post-commit "$(echo x | blob)"'
attack "... out of the project" 'entry ../x "$(echo x | blob)"'
attack "... with another's name in it" 'entry a/.GIT/config "$(echo x | blob)"'
attack "an index that is a FIFO" 'rm index; mkfifo index'
attack "an index that is a link" 'rm index; ln -s /etc/passwd index'
attack "an index of nonsense" 'head -c 5000 /dev/urandom >index'
attack "an index that says it has many" 'printf "DIRC\0\0\0\2\377\377\377\377" >index'
begin
echo changed >"$repo/file"
entry file "$(git -C "$repo" rev-parse HEAD:file)" 0x8000
cd "$tmp" && publish
check "what is marked as unchanged is seen all the same" is "$(git -C "$repo" status --porcelain)" " M file"

# --- configuration, and what git would run ---
runs='[core]\n\tfsmonitor = touch MARK\n\thooksPath = hooks\n\tsshCommand = touch MARK\n\tpager = touch MARK\n\talternateRefsCommand = touch MARK\n[filter "evil"]\n\tclean = touch MARK\n\tsmudge = touch MARK\n[diff "evil"]\n\ttextconv = touch MARK\n\tcommand = touch MARK\n[uploadpack]\n\tpackObjectsHook = touch MARK\n[include]\n\tpath = other\n'
begin
put "$(printf '100644 blob %s\tx\n' "$(echo x | blob)" | tree)" && printf "$runs" | sed "s|MARK|$mark|" >>config
for h in post-index-change reference-transaction pre-commit post-commit; do printf '#!/bin/sh\ntouch %s\n' "$mark" >hooks/$h && chmod +x hooks/$h; done
cd "$tmp" && publish
check "keys and hooks that run something: the commit comes, and nothing ran" is "$? $(git -C "$repo" log -1 --format=%s evil) $(ls "$mark" 2>/dev/null)" "0 evil "
check "... and none of them comes along" is "$(git -C "$repo" config --local --get-regexp 'fsmonitor|filter|diff|include|uploadpack')$(find "$repo/.git/hooks" -type f ! -name '*.sample')" ""
attack "a configuration that includes itself" 'printf "[include]\n\tpath = config\n" >>config'
attack "a configuration that is a FIFO" 'rm config; mkfifo config'
attack "a configuration that is a link" 'rm config; ln -s "$home/.gitconfig" config'
attack "an address with another program" 'session config branch.main.remote "ext::touch $mark"; session config remote.origin.url "ext::touch $mark"; session config submodule.x.url "ext::touch $mark"'
attack "a name with a line's end" 'printf "[user]\n\tname = \"a\\\\nb\"\n" >>config'
attack "another work tree" 'session config core.worktree /etc'
attack "a layout of another kind" 'printf "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n" >>config'
attack "modules that lead elsewhere" 'ln -s "$tmp/secret/.git" modules'
attack "work trees that lead elsewhere" 'mkdir -p worktrees/x; echo "$home/.git" >worktrees/x/gitdir; echo "ref: refs/heads/main" >worktrees/x/HEAD; echo ../.. >worktrees/x/commondir'

# --- too much ---
many() { begin; seq -f "$head refs/heads/b%06g" 3000 >packed-refs; printf '%s refs/heads/main\n' "$head" >>packed-refs; cd "$tmp" || return 1; publish; git -C "$repo" for-each-ref refs/heads | wc -l; }
check "three thousand branches: a thousand at a time" is "$(many)" 1001
attack "more than any repository has" 'seq -f "$head refs/heads/b%06g" 60000 >packed-refs; printf "%s refs/heads/main\n" "$head" >>packed-refs'

# --- objects of git-lfs ---
begin
good=$(echo good | sha256sum | cut -d' ' -f1)
for name in "$good" "aabb$(echo "$good" | cut -c5-)"; do
	d=lfs/objects/$(echo "$name" | cut -c1-2)/$(echo "$name" | cut -c3-4)
	mkdir -p "$d" && echo good >"$d/$name"
done
ln -s "$home/.gitconfig" "$d/aabb$(printf %060d 1)" && mkfifo "$d/aabb$(printf %060d 2)" && cd "$tmp" && publish
check "an object of git-lfs that is not what its name says, a link, a FIFO: only the good one comes" is "$(find "$repo/.git/lfs" -type f -o -type l -o -type p | sed 's|.*/||')" "$good"
finish
