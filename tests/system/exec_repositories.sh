#!/bin/sh
# SPDX-License-Identifier: MIT
# Repositories that a command of 'wrapix exec' comes to, beside its working directory's: below it, in another writable place, bare ones,
# ones that it makes. Each has a private git directory from the moment that the command comes there; a start looks for none.
# Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154 # the library; scripts for the shell inside
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/repositories.sh"
git config --global core.editor true

settings() { # settings [OTHER KEYS]
	echo "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": []}, \"filesystem\": {\"denyRead\": [], \"allowWrite\": [\".\", \"$tmp/other\"], \"denyWrite\": []}${1-}}" >"$tmp/settings.json"
}
last() { git -C "$1" log -1 --format=%s "${2-HEAD}"; }
sound() { is "$(git -C "$1" fsck --no-dangling 2>&1) $(git -C "$1" status --porcelain)" " "; }
settings
mkdir "$tmp/work" "$tmp/other" && cd "$tmp/work" || exit 1
new_repo sub && new_repo "$tmp/other/far" && git init -q --bare bare.git && new_repo many/0 || exit 1
i=0
while [ $((i += 1)) -lt 100 ]; do cp -r many/0 many/$i; done

# --- no walk ---
ex 'true; ls many/7/.git/HEAD; cat sub/.git/config >/dev/null; cd many; cd ..'
check "a start makes nothing of a hundred repositories, nor does a look" is "$rc $(private_dirs)" "0 0"

# --- below ---
ex 'cd sub && git status --porcelain && echo more >>file && git commit -qam more && git checkout -q -b side && git tag t && git config user.name Agent'
check "a repository below the working directory" quiet
check "... whose commit, branch, tag and name are the host's" is "$(last sub) $(git -C sub symbolic-ref --short HEAD) $(git -C sub tag) $(git -C sub config user.name)" "more side t Agent"
check "... which is sound" sound sub
check "... and has one private git directory" is "$(private_dirs)" 1
ex 'git -C sub commit -q --allow-empty -m two; mkdir -p sub/dir; cd sub/dir; git commit -q --allow-empty -m three; GIT_DIR=../.git git log -1 --format=%s'
check "... by -C, in a directory of it" is "$(cat "$out") $(last sub)" "three three"
ex 'git --git-dir=sub/.git update-ref refs/heads/by main; echo hidden >sub/.git/info/exclude; echo "exec touch ~/ran" >sub/.git/rebase-todo'
check "... without going there: what is data is the host's, and nothing else" is "$(last sub by) $(find sub/.git -name rebase-todo) $(grep -c hidden sub/.git/info/exclude)" "more  0"
d=many/3/.git
ex "rm -f $d/objects/*/*; echo x >$d/refs/heads/bad; echo evil >$d/hooks/pre-commit; ln -s ~/.bashrc $d/logs/x; mv $d gone; mv $d/objects objects; rm -rf $d"
check "objects, hooks, links, and all of it moved or removed: the host has what it had" is "$(find $d -name bad -o -name pre-commit -o -path '*/logs/x') $(ls -d gone 2>/dev/null)" " "
check "... whole" sound many/3

# --- what goes on from command to command ---
(cd "$tmp/other/far" && git checkout -q -b topic && echo topic >file && git commit -qam topic && git checkout -q main && echo ours >file && git commit -qam ours && git checkout -q topic)
ex "cd '$tmp/other/far' && git rebase -q main"
check "in another writable place: a rebase stops" is "$rc $(grep -c "state 'rebase'" "$err")" "1 1"
check "... the host has no list of steps" absent "$tmp/other/far/.git/rebase-merge"
ex "cd '$tmp/other/far' && echo both >file && git add file && git rebase --continue >/dev/null 2>&1; git log -2 --format=%s"
check "... and goes on in the next command" output "topic ours"
check "... to the end" is "$(git -C "$tmp/other/far" log -2 --format=%s | xargs)" "topic ours"
git clone -q --bare sub origin.git && git -C sub remote add origin ../origin.git && git -C sub push -q origin side
ex 'cd sub && git push -q origin HEAD:new && git fetch -q origin && git branch -q --track mine origin/new && git notes add -m note && git stash list && git gc -q'
check "push, fetch, notes, gc" is "$rc $(last origin.git new) $(git -C sub rev-parse --abbrev-ref "mine@{u}")" "0 three origin/new"
ex 'cd sub && git notes show; git bisect start HEAD HEAD~2 >/dev/null; git bisect reset >/dev/null 2>&1; echo s >>file; git stash -q; git stash pop -q; git checkout -q -- file'
check "... and what stays inside is there again" output note

# --- a submodule, a work tree, a clone, LFS's filter ---
settings ', "protect": {"remove": [".gitmodules"]}'
ex 'cd sub && git submodule --quiet add ../many/1 mod && git commit -qm mod && git worktree add -q ../tree -b tree && cd ../tree && git commit -q --allow-empty -m intree && git submodule --quiet update --init'
check "submodule add, worktree add, submodule update" is "$rc $(last sub) $(last sub tree)" "0 mod intree"
ex 'cd sub/mod && git commit -q --allow-empty -m inmod && cd .. && git add mod && git commit -qm bump; git status --porcelain'
check "... and a commit in the submodule" is "$(cat "$out") $(last sub) $(last sub/mod)" " bump inmod"
settings
ex 'git clone -q many/5 copy && cd copy && git commit -q --allow-empty -m c && cd .. && git clone -q -s many/2 shared && git -C shared commit -q --allow-empty -m s'
check "clones" is "$rc $(last copy) $(last shared)" "0 c s"
ex 'cd shared && git commit -q --allow-empty -m s2'
check "... one of which borrows objects, and is private all the same" is "$rc $(last shared) $(git -C shared fsck 2>&1) $(find "$HOME"/.local/state/wrapix/gitdirs -name alternates -exec grep -l 'many/2/.git/objects' '{}' + | wc -l | xargs)" "0 s2  1"
ex 'git init -q fresh && cd fresh && git commit -q --allow-empty -m 1 && git commit -q --allow-empty -m 2 && GIT_SEQUENCE_EDITOR="sed -i 1ib" git rebase -q -i HEAD~1; test -d .git/rebase-merge; cd .. && git init -q gone && rm -rf gone'
check "a repository that the command makes: its rebase waits" is "$rc $(last fresh)" "0 2"
check "... and not on the host" absent fresh/.git/rebase-merge
ex 'cd fresh && git rebase --continue 2>/dev/null; git log --format=%s'
check "... but for the next command" output "2 1"
ex 'cd bare.git && git fetch -q ../sub side:side && git symbolic-ref HEAD refs/heads/side && git config core.pager "touch ~/ran"; echo x >hooks/update; git -C ../sub push -q ../bare.git HEAD:two; git log -1 --format=%s two'
check "a bare one" is "$(cat "$out") $(last bare.git) $(git -C bare.git config core.pager) $(find bare.git -name update)" "bump bump  "

# --- several at once, and one that was killed ---
for i in 1 2 3; do
	"$wrapix" exec -s "$tmp/settings.json" -c "cd sub; for n in 1 2 3; do until git commit -q --allow-empty -m p$i.\$n 2>/dev/null; do :; done; done" &
done
wait
check "three commands at once: every commit is there" is "$(git -C sub log -9 --format=%s | grep -c '^p')" 9
mkfifo go
"$wrapix" exec -s "$tmp/settings.json" -c 'cd sub; git commit -q --allow-empty -m killed; cd ..; echo up >go; exec sleep 1000' &
pid=$!
hear go
kill -9 $pid
wait $pid 2>/dev/null
rm go
ex 'git -C sub log -1 --format=%s'
check "what a killed command committed is taken over by the next" is "$(cat "$out") $(last sub)" "killed killed"
mkfifo go
"$wrapix" exec -s "$tmp/settings.json" -c 'cd sub; : >.git/index.lock; : >.git/refs/heads/side.lock; cd ..; echo up >go; exec sleep 1000' &
pid=$!
hear go
kill -9 $pid
wait $pid 2>/dev/null
rm go
ex 'git -C sub commit -q --allow-empty -m unlocked'
check "... and what it had locked is free" is "$rc $(last sub)" "0 unlocked"

# --- another repository at the same place ---
new_repo place
ex 'cd place && git commit -q --allow-empty -m old && git checkout -q -b kept'
mkfifo go
"$wrapix" exec -s "$tmp/settings.json" -c 'cd place; rm .git/HEAD; mkdir .git/HEAD; rm -rf .git/refs; cd ..; echo up >go; exec sleep 1000' &
pid=$!
hear go
rm -rf place && new_repo place
kill -9 $pid
wait $pid 2>/dev/null
rm go
ex 'cd place && git branch --format="%(refname:short)" && git log --format=%s'
check "a repository that was removed, and another one there: the command sees the other" output "main start"
check "... which gets nothing of the first" is "$(git -C place for-each-ref --format='%(refname:short)' | xargs) $(last place)" "main start"
cd place || exit 1
wx git status
wx git held
check "... of which the rest is kept, and listed" is "$rc $(grep -c 'repository.*place' "$out")" "0 1"
cd ..

# --- one that the user makes of a directory that the command has written in ---
mkfifo go
"$wrapix" exec -s "$tmp/settings.json" -c 'mkdir -p late/refs/heads; for i in 1 2; do touch late/f late/refs/heads/f; rm late/f late/refs/heads/f; done
	echo up >go; while [ ! -e made ]; do sleep 0.05; done; sleep 0.1; echo planted >late/refs/heads/planted; cat late/refs/heads/planted >written' 2>"$tmp/log/late" &
pid=$!
hear go
git init -q --bare late && touch made
wait $pid
rm go made
check "a repository that the user makes where a command has written is private for it, too" is "$(cat written) $(find late -name planted)" "planted "

# --- one that a command moves ---
new_repo mv1 && mkdir mvd && new_repo mvd/mv2 && new_repo mv3 || exit 1
ex 'cd mv1 && git commit -q --allow-empty -m one && mv ../mv1 ../new1 && git log -1 --format=%s && git commit -q --allow-empty -m two'
check "a repository that is moved: what was committed before is there" output one
check "... and on the host, and what was committed after" is "$rc $(cat "$err") $(git -C new1 log -2 --format=%s | xargs) $(ls -d mv1 2>/dev/null)" "0  two one "
ex 'cd mvd/mv2 && git commit -q --allow-empty -m one && cd ../.. && mv mvd new2'
check "... with a directory around it, where nobody went again" is "$rc $(cat "$err") $(last new2/mv2)" "0  one"
ex 'cd mv3 && git commit -q --allow-empty -m a && git commit -q --allow-empty -m b && GIT_SEQUENCE_EDITOR="sed -i 1ib" git rebase -q -i HEAD~1; cd .. && mv mv3 new3 && git init -q mv3 && git -C mv3 commit -q --allow-empty -m other'
check "... and another one made at its place" is "$(last mv3) $(git -C new3 log --format=%s | xargs)" "other b a start"
ex 'cd new3 && git rebase --continue 2>/dev/null; git log -1 --format=%s; git status | grep -c rebas; cd ../mv3 && git log --format=%s'
check "... where the next command goes on with what was not finished" output "b 0 other"
ex 'for r in new1 mv3; do git -C $r commit -q --allow-empty -m in-$r; done; mv new1 x && mv mv3 new1 && mv x mv3'
check "... and two that change places" is "$(last new1) $(last mv3)" "in-mv3 in-new1"

# --- one that a command made, for the next command's supervisor to trip over ---
mkdir "$HOME/closed" && echo KEY >"$HOME/closed/id" && echo '# mine' >"$HOME/.bashrc" && new_repo "$HOME/closed/repo" || exit 1
tree=$(git -C "$HOME/closed/repo" rev-parse 'HEAD^{tree}')
echo "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": []}, \"filesystem\": {\"denyRead\": [\"$HOME/closed\"], \"allowWrite\": [\".\"], \"denyWrite\": []}}" >"$tmp/settings.json"
plant() { # plant DIR: all of a git directory but HEAD
	echo "mkdir -p $1/objects/ev/refs $1/refs/heads; echo '[core] bare=true' >$1/config"
}
head='ref: refs/heads/main'
ex "$(plant a); ln -s ~/closed a/objects/ev/objects; echo $head >a/HEAD"
check "links below what would be its objects make no git directory" is "$(ls a/HEAD 2>/dev/null) $(grep -c 'links in it' "$err")" " 1"
ex "$(plant b); echo $head >b/HEAD; cat b/HEAD"
check "... and without them it is one" output "$head"
ex "$(plant c); rm -r c/refs; echo $head >c/HEAD; mkdir -p r/heads; mv r c/refs; rm -r c/refs; mkdir -p r/heads; ln -s ~/.bashrc r/heads/main; mv r c/refs"
check "links in a directory that makes it one by its arrival" is "$(ls -d c/refs 2>/dev/null) $(grep -c 'through a link' "$err")" " 1"
rm -rf b && git init -q --bare b && mkdir b/objects/ev && ln -s "$HOME/closed" b/objects/ev/objects && ln -s "$HOME/.bashrc" b/objects/ev/HEAD
ex 'cd b; mv objects/ev lfs; mv objects/ev logs; cat lfs/objects/id wrapix/lfs/objects/id'
check "links of the host's own are not moved to where git writes" is "$(find b -maxdepth 1 \( -name lfs -o -name logs \)) $(grep -c KEY "$out")" " 0"
mv b/objects/ev b/lfs && ln -s "$HOME/closed" b/objects/far && rm -rf b/objects/pack && ln -s "$HOME/closed" b/objects/pack
ex 'cd b; ls wrapix/lfs/objects wrapix/objects/pack lfs/objects; cat wrapix/lfs/objects/id lfs/objects/id'
check "... and nothing is shown through them" is "$(grep -c 'KEY\|^id' "$out")" 0
rm -rf b e
ex "git init -q e && echo ~/closed/repo/.git/objects >e/.git/objects/info/alternates"
ex "cd e; (for i in \$(seq 120); do printf '100644 blob %s\tf%s\n' \$(echo \$i | git hash-object -w --stdin) \$i; done; printf '040000 tree $tree\tz\n') | git mktree --missing >../t; git update-ref refs/heads/main \$(git commit-tree -m x \$(cat ../t))"
ex 'cd e; git show main:z/file; git cat-file -p main:f7'
check "what it borrows of is no way to what may not be read" is "$(xargs <"$out")" 7
check "... nor to the user's start-up file" is "$(cat "$HOME/.bashrc")" "# mine"

# --- git on the host, where all of that has failed ---
new_repo led && ex 'cd led && git commit -q --allow-empty -m first' && ln -s "$HOME/planted" led/.git/logs/refs/heads/side || exit 1
ex 'cd led && git branch side && git branch other'
check "what the host's git would write through a link is not published, and told" is "$(find "$HOME/planted" 2>/dev/null) $(git -C led for-each-ref --format='%(refname:short)' | xargs) $(grep -c "branch 'refs/heads/side'" "$err")" " main other 1"
git -C led update-ref refs/heads/side main
check "... as that git does by itself" grep -q '[0-9a-f]' "$HOME/planted"
new_repo wide && git -C wide config include.path "$HOME/more" && git config --file "$HOME/more" user.name More || exit 1
ex 'cd wide && git commit -q --allow-empty -m wide'
check "a configuration with another one from elsewhere" is "$(last wide) $(git -C wide log -1 --format=%an)" "wide More"

truncate -s 1T e/.git/rr-cache e/.git/index
ex 'cd e; echo there'
check "what is too large to be copied is not" is "$(cat "$out") $(du -s "$HOME/.local/state/wrapix" | awk '{ print ($1 < 100000) }')" "there 1"
finish
