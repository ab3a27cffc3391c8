#!/bin/sh
# SPDX-License-Identifier: MIT
# What a copy-on-write session keeps of a repository to merge with, and that no program of the repository's runs for it,
# nor for a branch. Prints TAP.
#
# shellcheck disable=SC1091,SC2015,SC2016,SC2034,SC2088,SC2154,SC2317 # the library; a tilde for git; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up

git config --global user.name T
git config --global user.email t@example.com
git config --global init.defaultBranch main
git config --global protocol.file.allow always

# --- programs that configurations name ---
mkdir "$tmp/ran" "$tmp/hooks"
evil=$tmp/evil
printf '#!/bin/sh\n>"%s/$1"\nexec cat\n' "$tmp/ran" >"$evil"
chmod +x "$evil"
for hook in reference-transaction post-index-change pre-auto-gc pre-commit update post-checkout; do
	printf '#!/bin/sh\nexec "%s" hook-%s\n' "$evil" "$hook" >"$tmp/hooks/$hook"
	chmod +x "$tmp/hooks/$hook"
done
nothing_ran() { is "$(ls "$tmp/ran")" ""; }

hostile() { # hostile DIR TAG: its configuration names our program wherever a program may be named
	(
		cd "$1" || exit 1
		for key in filter.x.clean filter.x.smudge core.fsmonitor diff.external diff.x.textconv diff.x.command merge.x.driver core.pager core.editor \
			core.askPass gpg.program core.sshCommand core.alternateRefsCommand remote.origin.uploadpack; do
			git config "$key" "$evil $2-$key"
		done
		git config filter.y.process "$evil $2-process"
		git config credential.helper "!$evil $2-credential"
		git config commit.gpgSign true
		for word in status add ls-files check-ignore fast-import write-tree rev-parse update-index merge-file; do
			git config "alias.$word" "!$evil $2-alias-$word"
		done
		git config protocol.ext.allow always
		git config remote.origin.url "ext::$evil $2-ext"
		git config remote.origin.promisor true
		git config remote.origin.partialclonefilter blob:none
		git config core.hooksPath "$tmp/hooks"
		git config gc.auto 1
	)
}

lose() { rm -f ".git/objects/$(git rev-parse HEAD:lost | sed 's,..,&/,')"; } # git would fetch it

git init -q "$tmp/other"
printf '*.f filter=x\n' >"$tmp/other/.gitattributes"
echo s | tee "$tmp/other/s" >"$tmp/other/s.f"
git -C "$tmp/other" add -A
git -C "$tmp/other" commit -qm o
git init -q .
printf '*.f filter=x diff=x merge=x\n*.y filter=y\n' >.gitattributes
echo lost >lost
seq 9 | tee a >a.f
cp a.f a.y
git submodule --quiet add "$tmp/other" sub
git add -A
git commit -qm 1
for f in a a.f a.y new new.f new.y; do seq 0 9 >"$f"; done
echo S | tee sub/s >sub/s.f
touch -d 2001-01-01 sub/.gitattributes
hostile sub sub
hostile . top
cp .git/index "$tmp/index"
GIT_INDEX_FILE=$tmp/index timeout 20 git add -A >/dev/null 2>&1
check "(control) git itself runs them" exists "$tmp/ran/top-filter.x.clean"
rm -f "$tmp"/ran/*
lose
inside 'for f in a a.f a.y new new.f new.y; do echo end >>$f; done; echo T >sub/s' --workspace cow
check "a session begins: nothing of them runs" nothing_ran
for f in a a.f a.y new new.f new.y; do sed -i 1ibegin "$f"; done
wx diff --stat
wx apply --as-branch try
check "a branch: nothing of them runs" nothing_ran
check "... and it is made" is "$rc $(git cat-file -p try:new.f | tail -n 1)" "1 end"
rm -f "$tmp"/ran/*
lose
wx apply
check "apply: nothing of them runs" nothing_ran
check "... and it merges, with what filters would have changed as well" is \
	"$(for f in a a.f a.y new new.f new.y; do sed -n '1p;$p' "$f"; done | sort | uniq -c | tr -s ' \n' ' ')" " 6 begin 6 end "
wx undo
check "undo: nothing of them runs" nothing_ran
lose
wx export kube -- true
check "what goes to a cluster: nothing of them runs" nothing_ran
check "... and that something is missing is told as what it is" refused 125 "git makes no bundle of the project: "

# --- other kinds of repositories ---
merges() { # merges: what is there is merged; git as it is
	inside 'echo end >>a' --workspace cow
	sed -i 1ibegin a
	wx apply
	is "$rc $(sed -n '1p;$p' a | tr '\n' ' ')" "0 begin end " || { cat "$out" "$err"; return 1; }
}
for kind in sha1 sha256; do
	reset
	git init -q --object-format="$kind" .
	seq 9 >a
	git add -A
	git commit -qm 1
	seq 0 9 >a
	check "merging where objects are named by $kind" merges
done
reset
git init -q .
git config core.splitIndex true
seq 9 >a
echo b >b
git add -A
git commit -qm 1
echo c >c
git add c
check "... where the index is split" sh -c 'ls .git/sharedindex.* >/dev/null'
check "... merging there" merges
reset
git init -q .
seq 9 >a
check "... where nothing was committed yet" merges
reset
git init -q .
mkdir d
for f in 'd/y"q' "$(printf 'd/n\nl')" 'd/:c' d/plain 'd/file/in' was/f; do
	mkdir -p "$(dirname "$f")"
	seq 9 >"$f"
done
git add -A
git commit -qm 1
rm -r was d/file
ln -s d was
seq 9 >d/file
mkdir secret
echo s >secret/s
echo s >unreadable
chmod 0 unreadable
git init -q nest
echo n >nest/n
for f in 'd/y"q' "$(printf 'd/n\nl')" 'd/:c' d/plain d/file; do seq 0 9 >"$f"; done
inside 'for f in d/*; do echo end >>"$f"; done' --workspace cow
for f in d/*; do sed -i 1ibegin "$f"; done
wx apply
check "any name, links for directories, files that cannot be read, repositories in it: the rest is merged" is \
	"$rc $(sed -sn '1p;$p' d/* | sort | uniq -c | tr -s ' \n' ' ')" "0  5 begin 5 end "

# --- what is ignored is not kept ---
reset
git init -q .
git config --global core.excludesFile '~/my-ignores'
echo '*.global' >"$HOME/my-ignores"
echo '*.own' >.git/info/exclude
echo '*.file' >.gitignore
for f in a.global a.own a.file a.kept; do echo "$f" >"$f"; done
inside 'echo x >x' --workspace cow
set -- "$state"/cow/*/base
check "what is ignored is not kept, whoever says so" is "$(git --git-dir="$1" ls-tree -r --name-only "$(cat "$1/tree")" | tr '\n' ' ')" ".gitignore a.kept "

finish
