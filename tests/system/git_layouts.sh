#!/bin/sh
# SPDX-License-Identifier: MIT
# --git private: what the session makes beside commits (submodules, work trees, objects of git-lfs, an unfinished
# merge), and repositories of every kind. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
command -v git-lfs >/dev/null || bail "git-lfs is not installed"
set_up
. "$top/tests/lib/git.sh"
held() { "$wrapix" git held 2>/dev/null | grep : | cut -d' ' -f1 | sort | xargs; }
forget() { for id in "$state"/git/*; do "$wrapix" git drop "${id##*/}" >/dev/null; done; }

# --- a submodule that the session added ---
in_new_repo "$tmp/library"
in_new_repo "$tmp/top" || exit 1
private 'git -c protocol.file.allow=always submodule --quiet add /library new/mod 2>/dev/null && git commit -q -m added && cd new/mod && echo x >x && git add x &&
	git commit -q -m "in it" && git config core.fsmonitor "touch /tmp/ran" && git config remote.origin.url https://example.org/x &&
	printf "#!/bin/sh\ntouch /tmp/ran\n" >"$(git rev-parse --git-dir)/hooks/post-commit" && cd ../.. && git commit -q -am moved' --mount "$tmp/library:/library:ro"
check "submodule add: outside it is one, and clean" is "$rc $(git status --porcelain) $(git submodule status | cut -c1)" "0   "
check "... with what was committed in it" is "$(git -C new/mod log -1 --format=%s) $(git -C new/mod status --porcelain)" "in it "
check "... found by a relative path" is "$(cat new/mod/.git)" "gitdir: ../../.git/modules/new/mod"
check "... where it comes from is known" is "$(git -C new/mod config remote.origin.url)" https://example.org/x
check "... it has no hooks and no keys that run something" is "$(ls .git/modules/new/mod/hooks 2>/dev/null)$(git -C new/mod config core.fsmonitor)" ""
check "... those are held" is "$(held)" "config:submodule.new/mod.url new/mod//config:core.fsmonitor new/mod//hook:post-commit"
check "... fsck" sh -c 'git fsck --strict && git -C new/mod fsck --strict'
forget
private 'cd new/mod && echo y >y && git add y && git commit -q -m again && cd ../.. && git commit -q -am again && git submodule status | cut -c1'
check "... the next session goes on with it" is "$rc $(cat "$out")$(git -C new/mod log -1 --format=%s) $(git status --porcelain)" "0  again "
private 'git submodule deinit -f new/mod >/dev/null && git submodule --quiet update --init 2>/dev/null; cat new/mod/y; git submodule status | cut -c1'
check "submodule deinit and update" is "$rc $(cat "$out") $(git submodule status | cut -c1)" "0 $(printf 'y\n ')  "
forget
private 'mkdir -p .git/modules && cp -r .git/modules/new/mod/. .git/modules/evil && git -C .git/modules/evil config core.worktree ../../../../../home
	mkdir -p ".git/modules/-x" && cp -r .git/modules/evil/. .git/modules/-x; ln -s / .git/modules/root; mkdir -p .git/modules/a/b/c/d/e/f/g/h/i/j'
check "submodules that are none are held" is "$(held) $(ls .git/modules)" "submodule:-x submodule:evil new"
forget

# --- a work tree that the session added ---
in_new_repo "$tmp/trees" || exit 1
private 'git worktree add -q -b side trees/side && cd trees/side && echo x >x && git add x && git commit -q -m side && echo y >y && git worktree add -q /tmp/out 2>/dev/null'
check "worktree add: it works outside" is "$rc $(git -C trees/side log -1 --format=%s) $(git -C trees/side status --porcelain)" "0 side ?? y"
check "... found by a relative path" is "$(cat trees/side/.git)" "gitdir: ../../.git/worktrees/side"
check "... one that is not in the project is held" is "$(held) $(git worktree list | wc -l)" "worktree:out 2"
forget

# --- where HEAD was ---
in_new_repo "$tmp/back" && git branch one && git branch two && git checkout -q one || exit 1
private 'git checkout -q two'
check "after a checkout inside, 'git checkout -' outside goes back" is "$(git checkout -q - 2>&1; git symbolic-ref HEAD) $(git rev-parse --abbrev-ref '@{-1}')" "refs/heads/one two"
private 'git commit -q --allow-empty -m more && git checkout -q --detach main'
check "... from a commit, too" is "$(git checkout -q - 2>&1; git symbolic-ref HEAD; git checkout -q - 2>&1; git status | head -n 1)" "$(printf 'refs/heads/one\nHEAD detached at %s' "$(git rev-parse --short main)")"
private 'git checkout -q two'
check "... and to one" is "$(git checkout -q - 2>&1; git rev-parse --abbrev-ref HEAD; git rev-parse HEAD)" "$(printf 'HEAD\n%s' "$(git rev-parse main)")"
# --- unfinished operations ---
in_new_repo "$tmp/merge" && git branch other && echo a >file && git commit -q -am a && git checkout -q other && echo b >file && git commit -q -am b && git checkout -q main || exit 1
private 'git merge other >/dev/null; git status --porcelain'
check "a merge with conflicts is there outside" is "$(git status --porcelain) $(git rev-parse MERGE_HEAD) $(held)" "UU file $(git rev-parse other) "
private 'echo c >file && git add file && git commit -q -m merged'
check "... the next session finishes it" is "$(git log -1 --format=%p | wc -w) $(git status --porcelain) $(ls .git/MERGE_HEAD .git/MERGE_MSG 2>/dev/null)" "2  "
in_new_repo "$tmp/pick" && git branch other && echo a >file && git commit -q -am 'ours: a' && git checkout -q other && echo b >file && git commit -q -am "$(printf 'theirs: b\n\nwith a body')" && git checkout -q main || exit 1
private 'git cherry-pick other >/dev/null 2>&1; echo "of the session" >.git/MERGE_MSG'
check "a cherry-pick with conflicts has the picked commit's message outside, not the session's" is "$(git rev-parse CHERRY_PICK_HEAD) $(cat .git/MERGE_MSG)" "$(git rev-parse other) $(git log -1 --format=%B other)"
private 'git cherry-pick --abort; git revert --no-edit HEAD~1 >/dev/null 2>&1'
check "... a revert in its place has its own" is "$(find .git -name CHERRY_PICK_HEAD -o -name REVERT_HEAD) $(cat .git/MERGE_MSG)" ".git/REVERT_HEAD $(printf 'Revert "start"\n\nThis reverts commit %s.' "$(git rev-parse HEAD~1)")"
private 'git revert --abort; git cherry-pick other >/dev/null 2>&1'
check "... and a cherry-pick in the place of that" is "$(head -n 1 .git/MERGE_MSG)" "theirs: b"
echo both >file && git add file
check "... the user ends it, without an editor" is "$(git cherry-pick --continue >/dev/null 2>&1; git log -1 --format='%an %B' | xargs) $(git status --porcelain)" "Somebody theirs: b with a body "
cd "$tmp/merge" || exit 1
private 'git checkout -q -b re other && git rebase main~1 >/dev/null 2>&1; mkdir -p .git/rebase-merge; echo "exec touch /tmp/ran" >>.git/rebase-merge/git-rebase-todo'
check "a rebase is never carried over, and reported" is "$(held) $(ls -d .git/rebase* 2>/dev/null)" "state:rebase "
forget
git reset -q --hard && git checkout -q -f main && git format-patch -q -1 --stdout other >"$tmp/merge/patch" || exit 1
private 'git am -q patch >/dev/null 2>&1'
check "... nor is 'git am', by its name" is "$(held)" state:am
forget
private 'git checkout -q -b apply other && git rebase --apply main~1 >/dev/null 2>&1'
check "... which a rebase by patches is not" is "$(held)" state:rebase
forget

in_new_repo "$tmp/rebase" && git branch other && echo a >file && git commit -q -am a && git checkout -q other && echo b >file && git commit -q -am b || exit 1
git rebase -q main >/dev/null 2>&1
private 'git status | head -n 1 | cut -d" " -f-2; echo both >file && git add file && GIT_EDITOR=true git rebase --continue >/dev/null 2>&1'
check "one that the user began is ended by a session" is "$(cat "$out") $(git symbolic-ref HEAD) $(git log -2 --format=%s | xargs) $(git status --porcelain) $(ls -d .git/rebase* 2>/dev/null)" "interactive rebase refs/heads/other b a  "
forget

# --- objects of git-lfs ---
in_new_repo "$tmp/lfs" && git lfs install --local >/dev/null && git lfs track '*.bin' >/dev/null && head -c 9999 /dev/urandom >old.bin && git add . && git commit -q -m bin || exit 1
sum=$(sha256sum <old.bin)
private 'rm old.bin && git checkout -q old.bin && sha256sum <old.bin && head -c 5000 /dev/urandom >new.bin && git add new.bin && git commit -q -m new
	d=.git/lfs/objects/aa/bb; mkdir -p $d; echo x >$d/aabb567890123456789012345678901234567890123456789012345678901234'
check "git-lfs: old objects are there inside" is "$rc $(cat "$out")" "0 $sum"
check "... new ones come outside" is "$(git lfs fsck) $(git lfs ls-files | wc -l) $(git status --porcelain)" "Git LFS fsck OK 2 "
check "... but for those that are not what they say" is "$(held) $(find .git/lfs/objects -name 'aabb*' -type f)" "lfs:aabb567890123456789012345678901234567890123456789012345678901234 "
forget

# --- partial and sparse clones ---
in_new_repo "$tmp/origin" && mkdir in out && echo i >in/i && echo o >out/o && git add . && git commit -q -m two && git config uploadpack.allowFilter true || exit 1
git clone -q --filter=blob:none "file://$tmp/origin" "$tmp/partial" && cd "$tmp/partial" || exit 1
private 'echo x >x && git add x && git commit -q -m partial && git log --oneline | wc -l'
check "a blobless clone" is "$rc $(cat "$err")$(cat "$out") $(git log -1 --format=%s) $(git fsck 2>&1)" "0 3 partial "
git clone -q "$tmp/origin" "$tmp/sparse" && cd "$tmp/sparse" && git sparse-checkout set in || exit 1
private 'echo x >>in/i && git commit -q -am sparse && ls -d out 2>/dev/null; git status --porcelain'
check "a sparse clone" is "$rc $(cat "$out")$(git log -1 --format=%s) $(git status --porcelain) $(git ls-tree -r --name-only HEAD | wc -l)" "0 sparse  3"
git worktree add -q -b tree "$tmp/sparse-tree" && cd "$tmp/sparse-tree" && git sparse-checkout set out || exit 1
private 'echo x >>out/o && git commit -q -am tree && git checkout -q --detach HEAD~1 && git checkout -q - && ls -d in out 2>/dev/null; git status --porcelain'
check "... a work tree of it with directories of its own" is "$rc $(cat "$out") $(git log -1 --format=%s) $(git status --porcelain)" "0 out tree "
cd "$tmp/sparse" || exit 1
private 'git clone -q "file:///origin" /tmp/clone && cd /tmp/clone && git commit -q --allow-empty -m x && git push -q origin HEAD:pushed && git fetch -q' --mount "$tmp/origin:/origin:rw"
check "clone, push and fetch inside" is "$rc $(git -C "$tmp/origin" log -1 --format=%s pushed)" "0 x"
git update-index --split-index && echo y >>in/i || exit 1
private 'git commit -q -am split'
check "a split index" is "$rc $(git log -1 --format=%s) $(git status --porcelain)" "0 split "
check "nothing is left behind" is "$(stores)" 0

# --- a bare repository: to be read; its work trees are to work in ---
git clone -q --bare "$tmp/origin" "$tmp/bare" && cd "$tmp/bare" || exit 1
private 'git log -1 --format=%s; git branch made 2>/dev/null || echo refused; echo evil >hooks/post-commit'
check "a bare repository can be read, and not written" is "$(cat "$out") $(git branch | grep -c made) $(ls hooks/post-commit 2>/dev/null)" "two
refused 0 "
check "... which is said, with what to do" has "$err" "this is a bare repository: inside it can be read; to work in it make a work tree"
inside 'git config core.fsmonitor evil; echo evil >hooks/post-commit; git branch made' --workspace cow
"$wrapix" apply --yes >/dev/null 2>&1
check "... nor by way of a copy-on-write session" is "$rc $(git branch | grep -c made) $(ls hooks/post-commit 2>/dev/null) $(git config core.fsmonitor)" "0 0  "
"$wrapix" discard --yes >/dev/null 2>&1
git worktree add -q -b work "$tmp/bare-work" && cd "$tmp/bare-work" || exit 1
private 'git commit -q --allow-empty -m three'
check "... its work trees are like any other" is "$rc $(git -C "$tmp/bare" log -1 --format=%s work)" "0 three"
check "nothing of it ran" is "$(ls /tmp/ran 2>/dev/null)" ""
finish
