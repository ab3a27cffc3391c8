# shellcheck shell=sh disable=SC2016,SC2034,SC2154,SC2317 # a library: scripts for another shell, its user's variables and functions
# SPDX-License-Identifier: MIT
# Attacks on the one who publishes, for the tests that plant them: in a private git directory themselves (git_attacks.sh), from a
# session (git_everywhere.sh), from commands (exec_git_attacks.sh). After set_up:
#
#	attack_begin DIR	# what lies around in the user's home; DIR is a work tree with a commit on main
#	attack_host() { ... }	# that test's: makes DIR what it was, and forgets all private directories
#	attack_plant() { ... }	# that test's: runs a script in the private git directory, and has it published
#	attacks			# attack NAME SCRIPT for each: a point of its own, unless the test says otherwise
mark=$tmp/ran

attack_begin() {
	repo=$1
	git init -q "$tmp/secret" && (cd "$tmp/secret" && echo secret >secret && git add . && git commit -q -m secret) || exit 1
	secret=$(git -C "$tmp/secret" rev-parse HEAD)
	common=$(git -C "$repo" rev-parse --path-format=absolute --git-common-dir) gitdir=$(git -C "$repo" rev-parse --absolute-git-dir)
	mkdir -p "$common/info" && printf 'file diff=evil filter=evil\n' >"$common/info/attributes"
	head=$(git -C "$repo" rev-parse HEAD)
	attack_tools="tmp='$tmp' mark='$mark' home='$home' secret=$secret head=$head
$attack_functions"
}

# What the scripts use, together with some names: $attack_tools. 'session' is git in the private directory, which the test defines.
attack_functions='
tree() { session mktree --missing; } # from stdin
put() { session update-ref refs/heads/evil "$(session commit-tree -m evil -p "$head" "$1")"; }
blob() { session hash-object -w --stdin; }
raw_tree() { # raw_tree NAME...: entries that git itself would not write, all of one blob
	b=$(echo x | blob)
	for name; do printf "100644 %s\0" "$name" && printf %s "$b" | perl -pe "s/(..)/chr hex \$1/ge"; done | session hash-object -t tree --literally -w --stdin
}
modules() { put "$(printf "%s blob %s\t.gitmodules\n" "${2:-100644}" "$(printf "$1" | blob)" | tree)"; }
entry() { python3 - "$@" <<END
import hashlib, struct, sys
flags = int(sys.argv[3], 0) if len(sys.argv) > 3 else 0
name, oid = sys.argv[1].encode(), bytes.fromhex(sys.argv[2])
e = b"\0" * 24 + struct.pack(">L", 0o100644) + b"\0" * 12 + oid + struct.pack(">H", len(name) | flags) + name
e += b"\0" * (8 - len(e) % 8)
data = b"DIRC" + struct.pack(">LL", 2, 1) + e
open("index", "wb").write(data + hashlib.sha1(data).digest())
END
}
plain() { put "$(printf "100644 blob %s\tx\n" "$(echo x | blob)" | tree)"; }'

attack_seen() { # of the host's repository; in a copy-on-write session, but for what stands beside its branches
	(cd "$repo" && git for-each-ref --format='%(refname) %(objectname)' | grep -v "^${attack_beside:-$}"; cat "$gitdir/HEAD" "$common/config"; git ls-files -s; git stash list
		find "$gitdir" "$common" -type l -o -name '*HEAD' | LC_ALL=C sort; ls "$gitdir" "$common" "$common/hooks" "$common/info")
}
attack_unharmed() {
	rm -rf "$mark"
	attack_host && attack_seen >"$tmp/want" || return 1
	attack_plant "$1" || { echo "it could not be planted, or hangs"; cat "$tmp/log/plant"; return 1; }
	attack_seen | diff "$tmp/want" - || return 1
	git -C "$repo" fsck --strict >"$tmp/log/fsck" 2>&1 || { cat "$tmp/log/fsck"; return 1; }
	git -C "$repo" status >/dev/null && git -C "$repo" log -p >/dev/null || return 1
	[ ! -e "$mark" ] || { echo "something ran"; return 1; }
	[ ! -s "$tmp/log/err" ] || printable "$tmp/log/err"
}
attack() { check "$1" attack_unharmed "$2"; }

attacks() {
	# --- objects ---
	attack "a tree with .git" 'put "$(raw_tree .git)"'
	attack "a tree with .GIT" 'put "$(raw_tree .GIT)"'
	attack "a tree with .." 'put "$(raw_tree ..)"'
	attack "a tree with a path in a name" 'put "$(raw_tree a/b)"'
	attack ".gitmodules that runs a command" 'modules "[submodule \"x\"]\n\tpath = x\n\turl = https://example.org\n\tupdate = !touch $mark\n"'
	attack ".gitmodules with an option as address" 'modules "[submodule \"x\"]\n\tpath = x\n\turl = -ox\n"'
	attack ".gitmodules whose name leads out" 'modules "[submodule \"../../x\"]\n\tpath = x\n\turl = https://example.org\n"'
	attack ".gitmodules that is a link" 'modules "/etc/passwd" 120000'
	attack "a commit whose parent is not there" 'session update-ref refs/heads/evil "$(printf "tree %s\nparent %040d\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx\n" "$(session rev-parse "$head^{tree}")" 7 | session hash-object -t commit --literally -w --stdin)"'
	attack "a tree whose blob is not there" 'put "$(printf "100644 blob %040d\tx\n" 7 | tree)"'
	attack "a blob that is not what its name says" 'b=$(echo good | blob); t=$(printf "100644 blob %s\tx\n" "$b" | tree); f=objects/$(echo "$b" | cut -c1-2)/$(echo "$b" | cut -c3-); e=$(echo evil | blob); chmod u+w "$f"; cp "objects/$(echo "$e" | cut -c1-2)/$(echo "$e" | cut -c3-)" "$f"; put "$t"'
	attack "a pack that is junk" 'b=$(echo x | blob); t=$(printf "100644 blob %s\tx\n" "$b" | tree); c=$(session commit-tree -m evil -p "$head" "$t"); p=$(printf "%s\n" "$b" "$t" "$c" | session pack-objects -q objects/pack/pack); for f in "$b" "$t" "$c"; do rm -f "objects/$(echo "$f" | cut -c1-2)/$(echo "$f" | cut -c3-)"; done; chmod u+w "objects/pack/pack-$p.pack"; dd if=/dev/urandom of="objects/pack/pack-$p.pack" bs=64 count=1 seek=1 conv=notrunc status=none; mkdir -p refs/heads; echo "$c" >refs/heads/evil'
	attack "another repository of the user's as alternate" 'mkdir -p objects/info; echo "$tmp/secret/.git/objects" >>objects/info/alternates; echo "$secret" >refs/heads/evil'
	attack "... as the directory of objects" 'mv objects o; ln -s "$tmp/secret/.git/objects" objects; echo "$secret" >refs/heads/evil'
	attack "replaced objects and grafts" 'mkdir -p refs/replace; echo x | blob >"refs/replace/$(session rev-parse "$head:file")"; echo "$head $secret" >info/grafts'

	# --- references ---
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
	attack "an entry of the index in .git" 'entry .git/hooks/post-commit "$(echo x | blob)"'
	attack "an entry of the index out of the project" 'entry ../x "$(echo x | blob)"'
	attack "an entry of the index with another's name in it" 'entry a/.GIT/config "$(echo x | blob)"'
	attack "an index that is a FIFO" 'rm index; mkfifo index'
	attack "an index that is a link" 'ln -s /etc/passwd i; mv i index'
	attack "an index of nonsense" 'head -c 5000 /dev/urandom >index'
	attack "an index that says it has many" 'printf "DIRC\0\0\0\2\377\377\377\377" >index'

	# --- configuration ---
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
	attack "more references than any repository has" 'seq -f "$head refs/heads/b%06g" 60000 >packed-refs; printf "%s refs/heads/main\n" "$head" >>packed-refs'
}
