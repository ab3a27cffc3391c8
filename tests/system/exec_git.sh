#!/bin/sh
# SPDX-License-Identifier: MIT
# The private git directory of 'wrapix exec': commands find there what the last one left, the host has their commits when they
# end and takes data alone, and where there is none the files are judged by content. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154 # the library; scripts for the shell inside
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/repositories.sh"
command -v git-lfs >/dev/null || bail "git-lfs is not installed"
settings() { # settings [KEYS OF FILESYSTEM [OTHERS [PATH]]]: PATH may be written as well
	echo "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": []}, \"filesystem\": {\"denyRead\": [], \"allowWrite\": [\".\"${3:+, \"$3\"}], \"denyWrite\": []${1-}}${2-}}" >"$tmp/settings.json"
}
is_last() { is "$(git log -1 --format=%s)" "$1"; }
unpublished() { find "$HOME/.local/state/wrapix/git" -mindepth 1 -maxdepth 1 ! -exec test -e '{}/done' ';' -print; }
settings

# --- a plain repository ---
new_repo "$tmp/plain" && cd "$tmp/plain" || exit 1
old=$(find . | sort | sha256sum)
ex true
check "true prints nothing" quiet
check "... and leaves nothing in the repository" is "$(find . | sort | sha256sum)" "$old"
check "... but one private directory" is "$(private_dirs)" 1
ex 'git status --porcelain; echo more >>file; git commit -qam more; git checkout -q -b side; git config user.name Agent; git branch -q -u main; echo new >new; git add new; git tag t; git stash list'
check "commit, branch, add, tag, configuration" quiet
check "... are the host's when the command ends" is "$(git symbolic-ref HEAD) $(log_of .) $(git diff --cached --name-only) $(git tag) $(git config --local user.name) $(git config branch.side.merge)" "refs/heads/side more start new t Agent refs/heads/main"
check "... who has a sound repository" is "$(git fsck 2>&1) $(git status --porcelain)" " A  new"
ex 'git log --format=%s; git diff --cached --name-only; git reflog | wc -l'
check "the next command sees the same" output "more start new 3"
ex 'mkdir -p .git/objects/c0; echo x >.git/objects/c0/tmp_obj_begun'
ex 'git branch -q short; git branch -q -D short'
check "an object that a killed git had begun goes with the next change" is "$rc $(find "$HOME/.local/state/wrapix/gitdirs" -name 'tmp_obj*')" "0 "
git commit -q -m host && git branch -q user
ex 'git log -1 --format=%s; git branch --format="%(refname:short)"'
check "... and what the user did meanwhile" output "host main side user"
git config user.email other@example.org && echo hidden >.git/info/exclude && touch hidden
ex 'git config user.email; git status --porcelain'
check "... in the configuration and in info/exclude, too" output "other@example.org"
ex 'echo 1 >f1; git add f1; git stash -q; git stash list | wc -l'
check "a stash" is "$(git stash list | wc -l | xargs)" 1
ex 'git stash pop -q; git commit -qm f1; git stash list'
check "... taken back" is "$(git stash list) $(log_of .)" " f1 host more start"
ex 'for i in 1 2 3; do git commit -q --allow-empty -m l$i; done; git gc -q --prune=now; git fsck --no-dangling && git log --format=%s | head -n 3'
check "git gc and fsck" output "l3 l2 l1"
check "... and the host has all of it" is "$(git fsck 2>&1) $(git rev-list --count HEAD)" " 7"

# --- what the one side begins and the other ends ---
new_repo "$tmp/both" && cd "$tmp/both" || exit 1
side_of() { git checkout -q -b "$1" "${2:-HEAD}" && echo "$1" >file && git commit -qam "$1" && git checkout -q main; }
unfinished() { find .git -maxdepth 1 \( -name '*MERGE*' -o -name '*PICK*' \) -exec echo {} +; }
side_of one && echo ours >file && git commit -qam ours
ex true
git merge -q one >/dev/null 2>&1
ex 'git rev-parse MERGE_HEAD; echo both >file; git add file; git commit -q --no-edit; git log -1 --format="%p %s" | wc -w'
check "a merge that the user began is known inside" output "$(git rev-parse one) 5"
check "... and ends there, with the user's message" is "$(git log -1 --format=%s) $(git log -1 --format=%p | wc -w) $(git status --porcelain)$(unfinished)" "Merge branch 'one' 2 "
side_of two HEAD~1
ex 'git merge -q two >/dev/null 2>&1'
check "one that a command began" is "$(git rev-parse MERGE_HEAD) $(git status --porcelain)" "$(git rev-parse two) UU file"
echo three >file && git add file && git commit -q --no-edit
ex 'git status | head -n 3; test ! -e .git/MERGE_MSG'
check "... and the user ended is over inside" output "On branch main nothing to commit, working tree clean"
check "... and nothing is said" quiet
side_of four HEAD~1 && { git cherry-pick four >/dev/null 2>&1; true; }
ex 'git cherry-pick --abort; git status --porcelain'
check "a cherry-pick of the user's is given up inside" is "$rc $(cat "$out")$(unfinished)$(git status --porcelain)" "0 "
ex 'git cherry-pick four >/dev/null 2>&1'
echo four >file && git add file && git cherry-pick --continue >/dev/null 2>&1
check "one that a command began, and the user ends, has its message" is "$(git log -1 --format=%s)$(unfinished)" four
echo more >file && git commit -qam first
ex 'git commit -q --amend -m second'
check "a commit of the user's that is rewritten is told of" has "$err" "rewritten 'refs/heads/main'"
git commit -q --amend -m third && old=$(git rev-parse HEAD)
ex 'git commit -q --amend -m fourth'
check "... by the name that has what it was" is "$(git rev-parse "$(sed -n "s/.*what it was is kept as \\(.*\\)/\\1/p" "$err")")" "$old"
git init -q --bare bare.git && git push -q ./bare.git main:main main:side
ex 'git commit -q --allow-empty -m gone && git push -q ./bare.git HEAD:new && git reset -q --hard HEAD~1'
ex 'git push -q ./bare.git :new'
check "what is kept of a bare repository is said with its name" has "$err" "taken over in git: 'bare.git': deleted 'refs/heads/new': what it was is kept as refs/wrapix/"
check "... and is removed by the command that is named" is "$(eval "$(sed -n "s|.*'wrapix \(git drop .*\)' there.*|'$wrapix' \1|p" "$err")" | tail -n 1 | cut -d' ' -f-3) $(git -C bare.git for-each-ref refs/wrapix)" "removed 1 of "

# --- what the user has checked out, and what a remote has first ---
mkdir part part/in part/out && echo in >part/in/file && echo out >part/out/file && git add part && git commit -qm part && git clone -q . "$tmp/clone" && cd "$tmp/clone" || exit 1
ex 'git symbolic-ref refs/remotes/origin/HEAD'
check "the first branch of a remote" output refs/remotes/origin/main
echo new >part/in/file
ex 'git add part/in/file'
git sparse-checkout set part/in
ex 'git status --porcelain; git sparse-checkout list; git commit -qam sparse'
check "what the user does not check out is not deleted inside" output "M part/in/file part/in"
check "... nor by a commit of all" is "$rc $(git show --format= --name-only) $(git ls-files -t part/out)" "0 part/in/file S part/out/file"
git sparse-checkout disable
ex 'git status --porcelain; git ls-files -t part/out'
check "... and is there again" output "H part/out/file"
git branch -q -M main trunk && git update-ref refs/remotes/origin/trunk HEAD && git remote set-head origin trunk
ex 'git symbolic-ref refs/remotes/origin/HEAD; git sparse-checkout set part/in'
check "a remote's first branch that changed" output refs/remotes/origin/trunk
check "what a command does not check out is told of, and to be seen" is "$(grep -c "state 'sparse checkout'" "$err") $(git status --porcelain | xargs)" "1 D part/out/file"
in_new_repo "$tmp/narrow" && mkdir in out && echo in >in/file && git add in && git commit -qm in && ex true || exit 1
echo out >out/file && git add out && git commit -qm out
ex 'git diff-files; git sparse-checkout set in; ls'
check "what the user committed meanwhile is no changed file to who checks less out" is "$rc $(xargs <"$out") $(grep -c 'not up to date' "$err")" "0 file in 0"
ex 'git sparse-checkout disable' && echo more >out/more && git add out && git commit -qm more
ex 'echo mine >in/mine && git add in && git status --porcelain' && echo yours >out/yours && git add out && git commit -qm yours out/yours
ex 'git status --porcelain && git commit -qm mine && git log -2 --format=%s'
check "... and what is staged inside stays so" is "$(xargs <"$out") $(git status --porcelain)" "A in/mine mine yours "

new_repo "$tmp/two
lines" && cd "$tmp/two
lines" || exit 1
ex 'git status --porcelain && git commit -q --allow-empty -m more && git log -1 --format=%s'
check "a directory with a line break in its name" eval 'quiet && output more && is_last more'

# --- what goes on from command to command ---
cd "$tmp/plain" || exit 1
git init -q --bare "$tmp/origin" && git remote add origin "$tmp/origin" && git push -q origin side && git fetch -q
git clone -q "$tmp/origin" "$tmp/other" -b side && (cd "$tmp/other" && git commit -q --allow-empty -m theirs && git push -q)
ex 'git fetch -q origin'
check "git fetch" quiet
ex 'git merge -q --ff-only origin/side; git log -1 --format=%s'
check "... and in the next command git merge" output theirs
check "... on the host, too" is "$(git log -1 --format=%s) $(git rev-parse origin/side)" "theirs $(git rev-parse HEAD)"
git checkout -q -b topic && echo topic >file && git commit -qam topic && git checkout -q side && echo side >file && git commit -qam ours && git checkout -q topic
ex 'git rebase -q side'
check "a rebase with a conflict stops" is "$rc" 1
check "... the host has no list of steps" absent .git/rebase-merge
check "... and stays where it was" is "$(git symbolic-ref HEAD)" refs/heads/topic
ex 'echo both >file; git add file; GIT_EDITOR=true git rebase --continue >/dev/null 2>&1; git log -2 --format=%s; git status -sb | head -n 1'
check "... and goes on in the next command" output "topic ours ## topic"
check "... to the end, on the host" is "$(log_of . | cut -d' ' -f1,2) $(git status --porcelain) $(git for-each-ref | grep -c /was/heads/topic)" "topic ours  1"
# --- a list of steps that the user began ---
new_repo "$tmp/begun" && cd "$tmp/begun" || exit 1
seq 9 >file && echo old >aside && git add . && git commit -qm base && git branch topic && sed -i 's/^[28]/main&/' file && git commit -qam ours && git checkout -q topic || exit 1
for line in 2 8; do sed -i "s/^$line/topic&/" file && git commit -qam "of $line"; done
git tag start
ends='sed -i "/^[<=>|]/d" file; git add file; GIT_EDITOR=true git rebase --continue >/dev/null 2>&1'
listed() { find .git -maxdepth 1 '(' -name 'rebase*' -o -name sequencer -o -name '*_MSG' -o -name 'REBASE_*' ')' | wc -l; }
begin() { git checkout -q topic && git reset -q --hard start && ! git rebase -q main >/dev/null 2>&1; }
ex true
begin
ex "git status | grep -c '^interactive rebase'; $ends; ls .git/rebase-merge/msgnum"
check "a rebase that the user began goes on in a command" output "1 .git/rebase-merge/msgnum"
check "... the host's stands where it was, and that is told" is "$(cat .git/rebase-merge/msgnum) $(grep -c 'is to be ended there' "$err")" "1 1"
ex "$ends; git log -3 --format=%s; git symbolic-ref HEAD"
check "... and where it comes to its end it is ended" output "of 8 of 2 ours refs/heads/topic"
check "... on the host, too" is "$(git log -3 --format=%s | xargs) $(git symbolic-ref HEAD) $(git status --porcelain) $(listed) $(git rev-parse "$(git for-each-ref --format='%(refname)' | grep /was/heads/topic)")" "of 8 of 2 ours refs/heads/topic  0 $(git rev-parse start)"
begin
ex 'echo "exec touch ~/ran" >>.git/rebase-merge/git-rebase-todo; git rebase --edit-todo 2>/dev/null; git status | head -n 1'
check "steps that a command added are not the host's" lacks .git/rebase-merge/git-rebase-todo exec
git rebase --abort
ex 'git rebase --abort; git status -sb'
check "what the command went on with is its own" output "## topic"
begin
ex 'rm -rf .git/rebase-merge; git status -s'
check "a list that is only gone is not ended" is "$(xargs <"$out") $(cat .git/rebase-merge/msgnum) $(git diff --name-only --diff-filter=U) $(grep -c 'here it goes on' "$err")" "UU file 1 file 1"
git rebase --abort
begin
ex 'git status | head -n 1' && git rebase --abort
ex 'git status -sb; ls .git | grep -c rebase'
check "one that the user ended is ended inside" output "## topic 0"
begin && sed -i "/^[<=>|]/d" file && git add file && ! GIT_EDITOR=true git rebase --continue >/dev/null 2>&1
ex "$ends; git log -1 --format=%s"
check "one that the user went on with, too" is "$(xargs <"$out") $(git symbolic-ref HEAD) $(listed)" "of 8 refs/heads/topic 0"
git checkout -q topic && git reset -q --hard start && ! git rebase -q --apply main >/dev/null 2>&1
ex "cat .git/rebase-apply/next; $ends; cat .git/rebase-apply/next"
check "one by patches goes on in a command, and the host's stands where it was" is "$(xargs <"$out") $(cat .git/rebase-apply/next) $(grep -c 'is to be ended there' "$err")" "1 2 1 1"
ex "$ends; git symbolic-ref HEAD"
check "... and is ended with it" is "$(xargs <"$out") $(git log -3 --format=%s | xargs) $(git symbolic-ref HEAD) $(git status --porcelain) $(listed)" "refs/heads/topic of 8 of 2 ours refs/heads/topic  0"
git format-patch -q -1 start --stdout >"$tmp/patch" && ! git am -q "$tmp/patch" >/dev/null 2>&1
ex 'ls .git | grep -c rebase-apply; rm -rf .git/rebase-apply; git commit -q --allow-empty -m within'
check "patches by 'git am' are the user's to go on with" is "$(xargs <"$out") $(ls .git/rebase-apply/applying)" "0 .git/rebase-apply/applying"
git am --abort
git checkout -q topic && git reset -q --hard start && echo mine >aside
git rebase -q --autostash main >/dev/null 2>&1
ex 'git rebase --abort 2>/dev/null; git symbolic-ref HEAD'
check "given up inside: what git had put aside is there, and in the stash" is "$(git symbolic-ref HEAD) $(git rev-parse HEAD) $(cat aside) $(git stash show -p | grep -c '^+mine') $(listed)" "refs/heads/topic $(git rev-parse start) mine 1 0"
git checkout -q aside && git checkout -q -B picks main && ! git cherry-pick start~1 start >/dev/null 2>&1
ex 'sed -i "/^[<=>|]/d" file; git add file; GIT_EDITOR=true git cherry-pick --continue >/dev/null 2>&1; git cherry-pick --skip >/dev/null 2>&1; git log -2 --format=%s'
check "a sequence of cherry-picks" is "$(git log -2 --format=%s | xargs) $(git status --porcelain) $(listed)" "$(xargs <"$out")  0"

cd "$tmp/plain" || exit 1
ex 'git remote add up ../other && git fetch -q up && git sparse-checkout set none 2>&1; git sparse-checkout disable; git bisect start HEAD HEAD~3 >/dev/null; git remote'
ex 'git bisect log | head -n 1; git bisect reset >/dev/null 2>&1; git remote; git ls-files -d'
check "a remote, bisect and sparse-checkout" is "$(tail -n 2 "$out" | xargs)" "origin up"
for change in "set-url up https://other.invalid/x" "rename up down" "remove up"; do
	ex "git remote $change"
	check "git remote $change is refused, with the key and why" is "$((rc > 0)) $(grep -c "'.git/config' is protected: git's 'remote.up.[a-z]*' may not be .*: where your git goes is said outside" "$err") $(git remote get-url up)" "1 1 ../other"
done
check "... the remote is the host's" is "$(git config remote.up.url)" ../other
ex 'git commit -q --amend -m again; git branch -q -D user'
check "a branch that was deleted, and one that was rewritten, are told of" is "$(grep -c 'held back in git: branch' "$err") $(grep -c 'taken over in git: rewritten' "$err")" "1 1"
check "... the host has the one" is "$(git rev-parse -q --verify user >/dev/null && echo there) $(git log -1 --format=%s)" "there again"
ex 'git commit -q --allow-empty -m silent; git branch --format="%(refname:short)"'
check "... once" quiet
check "... inside it stays away" lacks "$out" user
wx git held
check "... and 'wrapix git held' lists it" is "$rc $(grep -c user "$out")" "0 1"

# --- something is held, and a submodule comes: what waits is to be decided first ---
sealed() { # sealed DIR: has one in it
	new_repo "$tmp/$1" && cd "$tmp/$1" && git branch old && ex 'git branch -q -D old' && git submodule --quiet add "$tmp/both" sub 2>/dev/null && git commit -q -m sub
}
sealed sealed || exit 1
for path in .git/HEAD .git/modules/sub/HEAD .git/new "$tmp/sealed/.git"; do
	wx why "$path"
	check "'wrapix why' says that it is read-only ($path)" is "$rc $(grep -c "its repository is read-only: .*'wrapix git held x[0-9a-f]*' lists it" "$out") $(grep -c allowWrite "$out")" "3 1 0"
done
wx why ./file
check "... not of files beside it" is "$rc" 0
cd "$tmp/plain" || exit 1
printf '{"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": {"denyRead": [], "allowWrite": ["%s"], "denyWrite": []}}\n' "$tmp/sealed" >"$tmp/above.json"
wx why -s "$tmp/above.json" ../sealed/.git/HEAD
check "... also from elsewhere" has "$out" "its repository is read-only: "
cd "$tmp/sealed" || exit 1
ex 'git commit -q --allow-empty -m refused'
way="'wrapix git held x[0-9a-f]*' lists it, 'wrapix git accept' or 'wrapix git drop' decides"
check "a repository that cannot be written is told of with the way out" is "$((rc > 0)) $(git log -1 --format=%s) $(grep -c "is read-only: .*$way" "$err")" "1 sub 2"
check "... and no setting is offered" is "$(grep -c 'refused writing .*/.git/.*: its repository is read-only: ' "$err") $(grep -c allowWrite "$err")" "1 0"
wx learn "$(sed -n "s/.*'wrapix learn \([^']*\)'.*/\1/p" "$err")"
check "... nor by 'wrapix learn', which names the way, too" is "$rc $(grep -c "$way" "$out") $(grep -c 'allowWrite' "$out")" "0 1 0"
wx git accept "$("$wrapix" git held --json | sed -n 's/.*"session": "\([^"]*\)".*/\1/p')" branch:refs/heads/old
ex 'git commit -q --allow-empty -m accepted'
wx why .git/HEAD
check "... and 'wrapix why' says so" is "$rc" 0
check "... to accept it is one" is "$rc $(git log -1 --format=%s) $(git branch --list old)" "0 accepted "
sealed dropped || exit 1
ex 'git commit -q --allow-empty -m refused'
wx git drop "$(sed -n "s/.*'wrapix git held \([^']*\)'.*/\1/p" "$err" | head -n 1)"
ex 'git commit -q --allow-empty -m dropped'
check "... to drop it the other" is "$rc $(git log -1 --format=%s) $(git branch --list old | xargs)" "0 dropped old"
cd "$tmp/plain" || exit 1

# --- what the host does not obey ---
ex 'git config core.fsmonitor "touch ~/ran"'
check "a key that runs a program is refused at once" is "$rc $(grep -c '\.git/config' "$err")" "4 2"
ex 'echo x >.git/hooks/pre-commit; ln -s ~/.bashrc .git/logs/HEAD2; mv .git gone; rm -rf .git/wrapix; echo >.git/wrapix/x; rmdir .git; touch .git/objects/info/x'
check "... nothing of that comes to the host" is "$(find .git -name pre-commit -o -name HEAD2 -o -path .git/wrapix) $(test -e gone && echo gone)" " "
o=$(git rev-parse HEAD:file)
ex "p=.git/objects/$(echo "$o" | cut -c1-2); mkdir -p \$p; echo evil >\$p/$(echo "$o" | cut -c3-); rm -rf .git/objects/pack; rm -f .git/packed-refs .git/refs/heads/*; git replace -f HEAD HEAD~1; echo 'exec touch ~/ran' >>.git/git-rebase-todo"
check "broken objects and references stay there" is "$(git fsck 2>&1) $(git cat-file blob "$o") $(git log -1 --format=%s) $(git for-each-ref --format="%(refname:short)" refs/heads | xargs) $(git replace -l)" " both silent main topic user "
rm -rf "$HOME/.local/state/wrapix"
ex 'git log -1 --format=%s'
check "without the state the next command begins anew" output silent

# --- together ---
for i in 1 2 3 4; do
	"$wrapix" exec -s "$tmp/settings.json" -c "for n in 1 2 3; do until git commit -q --allow-empty -m p$i.\$n 2>/dev/null; do :; done; done" &
done
wait
check "four commands at once: every commit is there" is "$(git log -12 --format=%s | grep -c '^p')" 12
mkfifo go
"$wrapix" exec -s "$tmp/settings.json" -c 'git commit -q --allow-empty -m killed; echo up >go; exec sleep 1000' &
pid=$!
hear go
kill -9 $pid
wait $pid 2>/dev/null
rm go
ex 'git log -1 --format=%s'
check "what a killed command committed is taken over by the next" is "$(cat "$out") $(git log -1 --format=%s) $(unpublished)" "killed killed "
check "... and nothing is left of its beginning" is "$(git status --porcelain; private_dirs)" 1
mkfifo go ready
"$wrapix" exec -s "$tmp/settings.json" -c 'git commit -q --allow-empty -m live; echo up >ready; read -r x <go' &
hear ready
check "while a command runs its commit shows on the host" await is_last live
tell go
wait
rm go ready

# --- other layouts ---
git branch -q wt && git worktree add -q "$tmp/tree" wt && cd "$tmp/tree" || exit 1
ex 'echo w >w; git add w; git commit -q -m tree; git log -1 --format=%s; git -C . branch --show-current; echo x >"$(git rev-parse --git-common-dir)/x"'
check "a linked work tree" is "$(xargs <"$out") $(git log -1 --format=%s) $(git status --porcelain)" "tree wt tree "
check "... whose repository is closed" absent "$tmp/plain/.git/x"
branch=$(git -C "$tmp/plain" branch --show-current)
ex "git worktree list | grep -F '$tmp/plain ' | grep -cF '[$branch]'; git checkout -q '$branch'"
check "... and is shown beside it, so that its branch is not taken" is "$rc $(cat "$out") $(git branch --show-current)" "128 1 wt"
git -C "$tmp/plain" checkout -q -b elsewhere
ex "git worktree list | grep -F '$tmp/plain ' | grep -cF '[elsewhere]'; git checkout -q '$branch' && git checkout -q wt"
check "... also once it stands on another" is "$rc $(cat "$out") $(git branch --show-current)" "0 1 wt"
git -C "$tmp/plain" checkout -q "$branch" && git -C "$tmp/plain" branch -qd elsewhere
cd "$tmp/plain" && git worktree remove "$tmp/tree" || exit 1
new_repo "$tmp/mod" && new_repo "$tmp/super" && cd "$tmp/super" && git submodule --quiet add "$tmp/mod" sub && git commit -q -m sub || exit 1
ex 'cd sub && echo m >m && git add m && git commit -q -m inner && cd .. && git add sub && git commit -q -m outer && git status --porcelain'
check "a repository and its submodule" is "$rc $(log_of sub) $(log_of .) $(git status --porcelain)" "0 inner start outer sub start "
cd sub && ex 'echo n >n; git add n; git commit -q -m deep'
check "in the submodule" is "$rc $(log_of .) $(git status --porcelain)" "0 deep inner start "
mkdir dir && cd dir && ex 'git commit -q --allow-empty -m below'
check "in a directory of it" is "$rc $(git log -1 --format=%s)" "0 below"
cd "$tmp/plain" || exit 1
ex 'git init -q fresh && cd fresh && git commit -q --allow-empty -m one && cd .. && git clone -q . copy && git -C copy log -1 --format=%s'
check "git init and git clone" is "$(cat "$out") $(log_of fresh) $(git -C copy log -1 --format=%s) $(git -C copy fsck --no-dangling 2>&1)" "live one live "
rm -rf fresh copy
ex 'git worktree add -q -b added added && git -C added commit -q --allow-empty -m in && echo s >added/s && git -C added add s'
check "git worktree add" quiet
check "... the host has it, and what was staged" is "$(git worktree list | grep -c added) $(git -C added log -1 --format=%s) $(git -C added status --porcelain | xargs)" "1 in A s"
ex 'git -C added commit -q -m again; git commit -q --allow-empty -m main; git worktree remove added'
check "... then work in both, and remove it" is "$rc $(git log -1 --format=%s refs/heads/added) $(git log -1 --format=%s) $(git worktree list | wc -l | xargs)" "0 again main 1"
cd .git && ex 'echo evil >>info/attributes; GIT_DIR=. git commit -q --allow-empty -m within; echo x >hooks/post-commit; pwd'
cd .. && check "in the git directory itself" is "$(cat "$out") $(git log -1 --format=%s) $(cat .git/info/attributes .git/hooks/post-commit 2>/dev/null)" "$PWD/.git within "

# --- objects of git-lfs ---
in_new_repo "$tmp/lfs" && git lfs install --local >/dev/null && git lfs track '*.bin' >/dev/null && head -c 9999 /dev/urandom >old.bin && git add . && git commit -q -m bin || exit 1
git init -q --bare "$tmp/lfs.git" && git remote add origin "file://$tmp/lfs.git" && sum=$(sha256sum <old.bin)
settings '' '' "$tmp/lfs.git"
ex 'rm old.bin && git checkout -q -- old.bin && sha256sum <old.bin; head -c 7777 /dev/urandom >new.bin && git add new.bin && git commit -q -m new && git push -q origin main >/dev/null 2>&1
	d=.git/lfs/objects/aa/bb; mkdir -p $d; echo x >$d/aabb567890123456789012345678901234567890123456789012345678901234'
check "git-lfs: old objects are there inside" is "$rc $(cat "$out")" "0 $sum"
check "... new ones are the host's" is "$(git lfs fsck) $(git lfs ls-files | wc -l) $(git status --porcelain)" "Git LFS fsck OK 2 "
check "... and were pushed, all of them" is "$(find "$tmp/lfs.git/lfs/objects" -type f | wc -l)" 2
check "... but for those that are not what they say" is "$(grep -c "lfs 'aabb" "$err") $(find .git/lfs/objects -name 'aabb*' -type f)" "1 "
settings

# --- hooks that are a link ---
in_new_repo "$tmp/hooked" && rm -rf .git/hooks && mkdir "$tmp/hooks" "$tmp/closed" && ln -s "$tmp/hooks" .git/hooks || exit 1
printf '#!/bin/sh\necho hook >&2\n' >"$tmp/hooks/pre-commit" && chmod +x "$tmp/hooks/pre-commit" && cp "$tmp/hooks/pre-commit" "$tmp/closed/post-commit"
ex 'git commit -q --allow-empty -m hooked; echo evil >.git/hooks/post-commit; echo evil >'"$tmp"'/hooks/post-commit; rm -rf .git/hooks'
check "hooks that are a link run inside" is "$(grep -c '^hook$' "$err") $(log_of . | cut -d' ' -f1) $(readlink .git/hooks) $(ls "$tmp/hooks")" "1 hooked $tmp/hooks pre-commit"
rm .git/hooks && ln -s "$tmp/closed" .git/hooks
echo "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": []}, \"filesystem\": {\"denyRead\": [\"$tmp/closed\"], \"allowWrite\": [\".\"], \"denyWrite\": []}}" >"$tmp/settings.json"
ex 'git commit -q --allow-empty -m closed; cat .git/hooks/*'
check "... unless they lead to what may not be read" is "$(grep -c '^hook$' "$err") $(grep -c hook "$out") $(log_of . | cut -d' ' -f1)" "0 0 closed"
settings
cd "$tmp/plain" || exit 1

# --- one that a command broke ---
ex 'rm .git/index .git/HEAD; mkfifo .git/index; mkdir .git/HEAD; rm -rf .git/refs .git/packed-refs'
check "what a command broke of the private git directory is mended" is "$rc $(git log -1 --format=%s) $(git fsck --no-dangling 2>&1) $(grep -c held "$err")" "0 within  0"
ex 'echo exec touch ~/ran >.git/git-rebase-todo; git log -1 --format=%s; git commit -q --allow-empty -m mended'
check "... and stands in the host's place" is "$rc $(cat "$out") $(git log -1 --format=%s) $(git fsck --no-dangling 2>&1) $(test -e .git/git-rebase-todo && echo there)" "0 within mended  "

ex ': >.git/config.lock; : >.git/packed-refs.lock; : >.git/refs/heads/left.lock'
ex 'git config branch.left.description x && git branch left && git branch -q -D left'
check "locks that a git left when it was killed are in nobody's way" is "$rc $(cat "$err")" "0 "

# --- the settings decide ---
settings ', "allowGitConfig": true'
ex 'git config core.editor vi && git commit -q --allow-empty -m direct'
check "allowGitConfig: the file itself is written" is "$rc $(git config core.editor) $(git log -1 --format=%s)" "0 vi direct"
settings
ex 'git commit -q --allow-empty -m after; git log -2 --format=%s'
check "... and the next without it goes on there" output "after direct"
settings '' ', "protect": {"remove": [".git/hooks"]}'
ex 'echo : >.git/hooks/post-commit'
check "protect.remove: a hook is made" exists .git/hooks/post-commit
rm .git/hooks/post-commit
echo '{"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": [".git"]}}' >"$tmp/settings.json"
ex 'git commit -q --allow-empty -m no'
check "denyWrite of .git: no commit" is "$rc $(git log -1 --format=%s)" "128 after"
echo '{"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": {"denyRead": ["~"], "allowRead": ["."], "allowWrite": ["."], "denyWrite": []}}' >"$tmp/settings.json"
ex 'git -c user.name=A -c user.email=a@example.org commit -q --allow-empty -m holed; ls ~/.local'
check "a home that may not be read: a commit" is "$(git log -1 --format=%s) $(grep -c 'ermission denied' "$err")" "holed 2"
echo '{"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": {"denyRead": [], "allowWrite": ["~", "."], "denyWrite": []}}' >"$tmp/settings.json"
ex 'echo x >~/mine; for f in ~/.local/state/wrapix/git/x*/base ~/.local/state/wrapix/git/x*/done; do echo x >"$f"; done; mv ~/.local/state ~/moved'
check "a home that may be written: wrapix's state may not" is "$(cat "$HOME/mine") $(cat "$HOME"/.local/state/wrapix/git/x*/done) $(test -e "$HOME/moved" && echo moved)" "x  "
settings '' ', "allowNestedUserNamespaces": true'
ex 'unshare -Ur --mount git commit -q --allow-empty -m nested'
check "in namespaces of its own" is "$rc $(git log -1 --format=%s)" "0 nested"

# The private one has the host's own objects under another name.
new_repo "$tmp/objects" && git -C "$tmp/objects" worktree add -q "$tmp/tree" || exit 1
at=$(git -C "$tmp/objects" rev-parse HEAD:file | sed 's,..,&/,')
for dir in objects tree; do
	cd "$tmp/$dir" || exit 1
	settings
	ex 'git log -1 --format=%s; git show HEAD:file'
	check "an object of the host's can be read ($dir)" output "start start"
	echo "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": []}, \"filesystem\": {\"denyRead\": [\"$tmp/**/.git/objects/$at\"], \"allowWrite\": [\".\"], \"denyWrite\": []}}" >"$tmp/settings.json"
	ex 'git log -1 --format=%s; git show HEAD:file'
	check "... but where a pattern denies it by the name that it has there" output start
done

# --- after a session ---
settings
new_repo "$tmp/after" && cd "$tmp/after" || exit 1
wx run --network none -- git commit -q --allow-empty -m session
check "a session commits" is_last session
ex 'git commit -q --allow-empty -m command'
check "... and so does the first command after it" is_last command
check "... in silence" quiet

# --- a disk that is full ---
new_repo "$tmp/full" && mkdir "$tmp/disk" && cd "$tmp/full" || exit 1
before='mount -t tmpfs -o size=6m none "'"$tmp/disk"'"' XDG_STATE_HOME=$tmp/disk/state ex 'head -c 3M /dev/urandom >big && git add big && git commit -qm big'
check "what git says of a full disk is told" grep -q "'git pack-objects' failed in '[^']*': fatal: .*space" "$err"

# --- FIFOs in the host's, for which git would wait: ten seconds each ---
new_repo "$tmp/waits" && cd "$tmp/waits" || exit 1
for name in shallow commondir; do
	wx run --git direct --network none -- mkfifo ".git/$name"
	check "a session with the host's git leaves a FIFO as $name" test -p ".git/$name"
	ex "git commit -q --allow-empty -m $name"
	check "... no git of ours waits for it: it is named" grep -q "taken over: '[^']*/\.git/$name' is a FIFO.*; it is kept" "$err"
	rm ".git/$name"
	ex true
	check "... and without it the commit is the host's" is_last "$name"
done
for name in config index packed-refs; do
	git pack-refs --all && mv ".git/$name" "$tmp/$name" && mkfifo ".git/$name" || exit 1
	ex "git commit -q --allow-empty -m $name"
	check "a FIFO as the host's $name is named" grep -q "taken over: '[^']*/\.git/$name' is a FIFO and no regular file; it is kept" "$err"
	mv "$tmp/$name" ".git/$name"
	ex true
	check "... and without it the commit is the host's" is_last "$name"
done
git worktree add -q "$tmp/linked" && mkfifo .git/shallow && cd "$tmp/linked" || exit 1
ex 'git commit -q --allow-empty -m linked'
check "one in the repository of a linked work tree is named, too" grep -q "taken over: '$tmp/waits/\.git/shallow' is a FIFO" "$err"
rm "$tmp/waits/.git/shallow"
ex true
check "... and without it the commit is the host's" is_last linked

# --- those for which the command's own git would wait ---
cd "$tmp/waits" && mkfifo .git/objects/info/alternates || exit 1
for repo in waits fresh; do
	[ -d "$tmp/$repo" ] || { new_repo "$tmp/$repo" && mkfifo "$tmp/$repo/.git/objects/info/alternates"; } || exit 1
	cd "$tmp/$repo" || exit 1
	ex true
	check "a FIFO as the host's alternates is named before the command waits ($repo)" grep -q "'$tmp/$repo' is read-only: .*/\.git/objects/info/alternates' is a FIFO and no regular file" "$err"
	wx run --network none -- true
	check "... and a session is not begun" grep -q "^wrapix: making a private git directory: '$tmp/$repo/\.git/objects/info/alternates' is a FIFO" "$err"
	rm .git/objects/info/alternates
done
mv .git/HEAD "$tmp/HEAD" && mkfifo .git/HEAD || exit 1
wx run --network none -- true
check "a FIFO as HEAD is named" grep -q "directory: '$tmp/fresh/\.git/HEAD' is a FIFO and no regular file" "$err"
finish
