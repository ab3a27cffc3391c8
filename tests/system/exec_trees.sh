#!/bin/sh
# SPDX-License-Identifier: MIT
# Several work trees of one repository under 'wrapix exec': they are one repository inside, of which the host takes data alone; those that a
# command adds are the host's when it ends. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154 # the library; scripts for the shell inside
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/repositories.sh"
settings() { # settings PATH...: what may be written beside the working directory
	for dir; do set -- "$@" ", \"$tmp/$dir\"" && shift; done
	echo "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": []}, \"filesystem\": {\"denyRead\": [], \"allowWrite\": [\".\"$*], \"denyWrite\": []}}" >"$tmp/settings.json"
}
both() { echo "$(log_of "$tmp/main" | cut -d' ' -f1) $(log_of "$tmp/tree" | cut -d' ' -f1) $(git -C "$tmp/main" status --porcelain)$(git -C "$tmp/tree" status --porcelain)"; }
sound() { is "$(git -C "$1" fsck --no-dangling 2>&1)" ""; }
state=$HOME/.local/state/wrapix

# --- work in both ---
in_new_repo "$tmp/main"
git worktree add -q -b topic "$tmp/tree"
settings tree
ex "cd '$tmp/tree' && git status --porcelain && echo t >t && git add t && git commit -q -m tree && cd - >/dev/null && git merge -q topic && git commit -q --allow-empty -m merged && git -C '$tmp/tree' log -1 --format=%s"
check "a commit in the work tree, merged in the repository" quiet
check "... by one command, which sees one repository" output tree
check "... and so does the host" is "$(both)" "merged tree "
settings main
cd "$tmp/tree" || exit 1
ex "git merge -q main && echo s >s && git add s && git -C '$tmp/main' commit -q --allow-empty -m more; git log -1 --format=%s"
check "from the work tree" is "$rc $(cat "$out") $(both)" "0 merged more merged A  s"
git commit -q -m host && git -C "$tmp/main" checkout -q -b side
ex "git log -1 --format=%s; git status --porcelain; git -C '$tmp/main' branch --show-current; git branch -q made; git -C '$tmp/main' checkout -q main"
check "... and what the user did in both meanwhile" is "$(xargs <"$out") $(git -C "$tmp/main" branch --show-current)" "host side main"
ex "git rebase -q main; cd '$tmp/main' && git checkout -q topic"
check "a branch that stands in one cannot be had in the other" is "$rc" 128
check "... all of it sound" sound .
check "... in one private git directory" is "$(private_dirs)" 1

# --- what is not taken over, in the work tree ---
echo other >file && git commit -qam theirs && git -C "$tmp/main" checkout -q main && echo ours >"$tmp/main/file" && git -C "$tmp/main" commit -qam ours
ex 'git rebase -q main'
check "a rebase in the work tree stops" is "$rc $(grep -c "state 'rebase'" "$err")" "1 1"
check "... the host has no list of steps" absent "$tmp/main/.git/worktrees/tree/rebase-merge"
ex 'echo both >file && git add file && GIT_EDITOR=true git rebase --continue >/dev/null 2>&1; git log -3 --format=%s'
check "... and it goes on in the next command" is "$(xargs <"$out") $(log_of . | cut -d' ' -f1-3)" "theirs host ours theirs host ours"
d=$tmp/main/.git
ex "cd $d && echo evil >hooks/post-checkout; echo '[core] fsmonitor = x' >worktrees/tree/config.worktree; echo /nowhere >worktrees/tree/commondir; ln -s ~/.bashrc worktrees/tree/logs/x; rm -f worktrees/tree/HEAD; rm -rf worktrees objects/pack"
check "what is planted in the git directory of a work tree" is "$(find "$d" -name post-checkout -o -name config.worktree -o -path '*/logs/x') $(cat "$d/worktrees/tree/commondir") $(log_of . | cut -d' ' -f1) $(git status --porcelain)" " ../.. theirs "
ex 'git status --porcelain; git log -1 --format=%s'
check "... and what was broken is mended" output theirs

# --- what may not be written ---
settings
ex "git commit -q --allow-empty -m alone; git -C '$tmp/main' commit -q --allow-empty -m no; cd '$tmp/main' && git checkout -q side"
check "a work tree alone: nothing else is changed" is "$(log_of . | cut -d' ' -f1) $(log_of "$tmp/main" | cut -d' ' -f1) $(git -C "$tmp/main" branch --show-current)" "alone ours main"
git worktree add -q -b third "$tmp/third"
settings third
ex "git -C '$tmp/third' commit -q --allow-empty -m three; git -C '$tmp/main' symbolic-ref HEAD refs/heads/side; echo x >'$d/HEAD'"
check "two of three: the repository's own HEAD stays" is "$(log_of "$tmp/third" | cut -d' ' -f1) $(cat "$d/HEAD") $(grep -c 'the work tree that it belongs to' "$err")" "three ref: refs/heads/main 2"
old=$(git rev-parse main)
ex "git update-ref refs/heads/main topic"
check "... and so does the branch that it stands on" is "$(git rev-parse main) $(git -C "$tmp/main" status --porcelain) $(grep -c "branch 'refs/heads/main'" "$err")" "$old  1"
ex "git update-ref refs/heads/main $old"

# --- one that a command adds ---
cd "$tmp/main" && git worktree remove "$tmp/third" || exit 1
settings added tree
mkdir "$tmp/added"
ex "git worktree add -q '$tmp/added/one' -b one && cd '$tmp/added/one' && echo 1 >1 && git add 1 && git commit -q -m one && echo 2 >2 && git add 2"
check "git worktree add" quiet
check "... and the host has it" is "$(git worktree list --porcelain | grep -c "worktree $tmp/added/one\$") $(log_of "$tmp/added/one" | cut -d' ' -f1) $(git -C "$tmp/added/one" status --porcelain | xargs)" "1 one A 2"
check "... made of nothing but data" is "$(cd .git/worktrees/one && find . -type f | sort | xargs) $(cat .git/worktrees/one/commondir)" "./HEAD ./commondir ./gitdir ./index ../.."
git -C "$tmp/added/one" commit -q -m two
ex "cd '$tmp/added/one' && git log -1 --format=%s && git commit -q --allow-empty -m three && git worktree add -q --detach ../two && git worktree list | wc -l"
check "... where both go on" is "$(xargs <"$out") $(log_of "$tmp/added/one" | cut -d' ' -f1,2)" "two 4 three two"
ex "git bisect start -q HEAD HEAD~2 2>/dev/null; git worktree add -q -b meanwhile '$tmp/added/meanwhile'"
check "... also while a bisection goes on inside, which is held" is "$(grep -c "state 'bisection'" "$err") $(git -C "$tmp/added/meanwhile" branch --show-current) $(git branch --show-current)" "1 meanwhile main"
ex "git bisect reset -q; git worktree remove '$tmp/added/meanwhile'"
ex "git worktree move '$tmp/added/one' '$tmp/added/uno' && git -C '$tmp/added/uno' commit -q --allow-empty -m moved"
check "... and moved" is "$rc $(log_of "$tmp/added/uno" | cut -d' ' -f1) $(git worktree list | grep -c added/uno)" "0 moved 1"
ex "git worktree move '$tmp/added/uno' '$tmp/added/one'"
cd "$tmp/added/two" && ex 'git checkout -q -b late && git commit -q --allow-empty -m late'
check "... also from a work tree that was added" is "$rc $(git log -1 --format=%s) $(git branch --show-current)" "0 late late"
cd "$tmp/main" || exit 1
ex "git worktree remove --force '$tmp/added/two' && git worktree remove '$tmp/added/one' && git worktree list | wc -l"
check "... and what commands made they remove" is "$(cat "$out") $(git worktree list | wc -l) $(ls .git/worktrees)" "2 2 tree"
mkfifo go
"$wrapix" exec -s "$tmp/settings.json" -c "git worktree add -q '$tmp/added/lost' -b lost; echo up >go; exec sleep 1000" &
pid=$!
hear go
kill -9 $pid
wait $pid 2>/dev/null
rm go
ex 'git branch --list lost >/dev/null'
ex "git -C '$tmp/added/lost' commit -q --allow-empty -m found"
check "one of a command that was killed is there after the next that changes something" is "$rc $(log_of "$tmp/added/lost" | cut -d' ' -f1) $(git -C "$tmp/added/lost" status --porcelain)" "0 found "
mkdir "$tmp/added/x" && echo KEY >"$tmp/added/x/key"
ex "git worktree add -q --detach '$tmp/added/evil' && echo '$tmp/added/x/.git' >.git/worktrees/evil/gitdir; mv '$tmp/added/evil' '$tmp/added/away'; ln -s '$HOME' '$tmp/added/evil'"
check "one whose files do not lead back to it is held" is "$(cd .git/worktrees && echo *) $(grep -c "worktree 'evil'" "$err")" "lost tree 1"
ex "mkdir -p .git/worktrees/zz; echo \"\$(git rev-parse HEAD)\" >.git/worktrees/zz/HEAD; echo '$HOME/.git' >.git/worktrees/zz/gitdir; : >.git/worktrees/zz/index"
check "... and so is one that was made up" is "$(cd .git/worktrees && echo *) $(git status --porcelain)" "lost tree "
ex "git worktree add -q --detach '$tmp/added/far' && cd '$tmp/added/far' && echo f >f && git add f && git commit -q -m far && echo g >g && git add g"
check "one without a branch, and its commit" is "$rc $(log_of "$tmp/added/far" | cut -d' ' -f1) $(git -C "$tmp/added/far" status --porcelain | xargs)" "0 far A g"
check "the repository is sound" sound .

# --- of a bare repository ---
git init -q --bare "$tmp/bare.git" && git push -q "$tmp/bare.git" main && git -C "$tmp/bare.git" worktree add -q "$tmp/added/b1" main && git -C "$tmp/bare.git" worktree add -q -b zero "$tmp/added/b0" && cd "$tmp/added/b1" || exit 1
settings bare.git added
ex "git commit -q --allow-empty -m b1 && git worktree add -q -b two ../b2 && cd ../b2 && git log -1 --format=%s && git commit -q --allow-empty -m b2"
check "work trees of a bare repository" is "$rc $(cat "$out") $(log_of . | cut -d' ' -f1) $(log_of ../b2 | cut -d' ' -f1) $(git worktree list | wc -l)" "0 b1 b1 b2 4"
check "... which is sound" sound "$tmp/bare.git"
finish
