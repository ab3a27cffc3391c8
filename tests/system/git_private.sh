#!/bin/sh
# SPDX-License-Identifier: MIT
# --git private: every git command works inside, the repository takes over data, and nothing that the sandbox wrote
# into its .git does anything on the host. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/git.sh"
first_id() { for id in "$state/git"/*; do basename "$id"; done | tail -n 1; }

# --- what works inside shows outside ---
everything='set -e
	echo x >>file; git add file; git commit -q -m inside
	git checkout -q -b topic; echo t >topic; git add topic; git commit -q -m topic
	git checkout -q -; echo m >other; git add other; git commit -q -m other
	git merge -q --no-edit topic; git cherry-pick --allow-empty HEAD^ >/dev/null 2>&1 || git cherry-pick --abort || true
	git revert --no-edit HEAD^ >/dev/null 2>&1 || git revert --abort || true
	git checkout -q -b re HEAD^; echo r >re; git add re; git commit -q -m re; git rebase -q topic; git checkout -q -
	git tag light; git tag -a -m note heavy; git branch -m topic subject
	echo s >>file; git stash -q; git stash pop -q; git stash -q; git stash apply -q; git reset -q --hard
	git bisect start HEAD HEAD~2 >/dev/null 2>&1; git bisect reset >/dev/null 2>&1
	git gc -q --prune=now; git fsck >/dev/null 2>&1
	git config user.name Inside; git config branch.main.description "the main line"
	echo staged >staged; git add staged; echo untracked >untracked'
state_of() { (git rev-parse HEAD; git symbolic-ref -q HEAD; git for-each-ref refs/heads refs/tags; git status --porcelain; git stash list --format=%H; git ls-files -s); }
layout() { # layout NAME DIR
	cd "$2" || exit 1
	private "$everything"'; git rev-parse HEAD; git symbolic-ref -q HEAD; git for-each-ref refs/heads refs/tags; git status --porcelain; git stash list --format=%H; git ls-files -s'
	check "$1: everything works inside" is "$rc $(cat "$err")" "0 "
	state_of >"$tmp/outside"
	check "... and HEAD, branches, tags, status, stash and index are the same outside" diff "$out" "$tmp/outside"
	check "... fsck outside" git fsck --strict
	check "... allowed configuration" is "$(git config user.name), $(git config branch.main.description)" "Inside, the main line"
	check "... nothing is left behind" is "$(stores)" 0
	check "... nor a file of another's" is "$(find . ! -uid "$(id -u)")" ""
}
new_repo "$tmp/plain" && layout "plain repository" "$tmp/plain"
wx doctor
check "doctor starts a sandbox in a repository" grep -q '^ok *a whole sandbox *started and ended one' "$out"
new_repo "$tmp/repo" && git -C "$tmp/repo" worktree add -q -b side "$tmp/worktree"
layout "linked worktree" "$tmp/worktree"
git init -q --separate-git-dir "$tmp/apart.git" "$tmp/apart" && (cd "$tmp/apart" && git config core.worktree "$tmp/apart" && echo start >file && git add . && git commit -q -m start)
layout "separate git directory" "$tmp/apart"
new_repo "$tmp/library" && new_repo "$tmp/super" && (cd "$tmp/super" && git submodule --quiet add "$tmp/library" sub 2>/dev/null && git commit -q -m sub)
(cd "$tmp/super/sub" && git checkout -q main && git config user.email s@example.org && git config user.name S)
layout "checkout of a submodule" "$tmp/super/sub"
git init -q --object-format=sha256 "$tmp/sha256" && (cd "$tmp/sha256" && echo start >file && git add . && git commit -q -m start)
layout "sha256" "$tmp/sha256"
new_repo "$tmp/below" && mkdir "$tmp/below/dir" && cd "$tmp/below/dir" || exit 1
private 'echo x >f && git add f && git commit -q -m below && git status --porcelain'
check "below the top of a repository" is "$rc $(git -C "$tmp/below" log -1 --format=%s) $(git -C "$tmp/below" status --porcelain)" "0 below "
(cd "$tmp/plain" && for i in 1 2 3; do git commit -q --allow-empty -m "$i"; done) && git clone -q --depth 1 "file://$tmp/plain" "$tmp/shallow" && cd "$tmp/shallow" || exit 1
private 'echo x >f && git add f && git commit -q -m shallow'
check "a shallow clone" is "$(git log -1 --format=%s) $(git fsck 2>&1)" "shallow "

# --- submodules, each with a git directory of its own ---
new_repo "$tmp/top" && (cd "$tmp/top" && git submodule --quiet add "$tmp/library" deep/er 2>/dev/null && git commit -q -m deeper)
with_submodules() { # with_submodules NAME DIR
	cd "$2" || exit 1
	private 'set -e; git submodule status >/dev/null; cd deep/er; git checkout -q -b in-sub; echo s >s; git add s; git commit -q -m "in the submodule"
		printf "#!/bin/sh\n" >"$(git rev-parse --git-dir)/hooks/pre-commit"; git config core.editor evil; cd ../..
		git add deep/er; git commit -q -m "in the top"; git status --porcelain; git submodule status | cut -c1'
	check "$1: commits in a submodule and around it" is "$rc $(cat "$out")" "0  "
	check "... are there outside" is "$(git log -1 --format=%s), $(git -C deep/er log -1 --format=%s in-sub)" "in the top, in the submodule"
	check "... and both are clean" is "$(git status --porcelain; git -C deep/er status --porcelain; git submodule status | cut -c1)" " "
	check "... fsck" sh -c 'git fsck --strict && git -C deep/er fsck --strict'
	check "... its hook and its keys are held" is "$(cd "$2" && "$wrapix" git held | cut -d' ' -f1 | xargs) $(git -C deep/er config core.editor)" "deep/er//config:core.editor deep/er//hook:pre-commit "
	wx git accept "$(first_id)" deep/er//config:core.editor
	check "... until they are accepted" is "$rc $(git -C deep/er config core.editor)" "0 evil"
	wx git drop "$(first_id)" deep/er//hook:pre-commit
	check "... or dropped" is "$rc $(stores)" "0 0"
	git -C deep/er config --unset core.editor
}
with_submodules "a repository with a submodule" "$tmp/top"
git -C "$tmp/top" worktree add -q -b tree "$tmp/tree" HEAD^ && git -C "$tmp/tree" submodule --quiet update --init 2>/dev/null
with_submodules "... in a linked worktree" "$tmp/tree"
git clone -q --shared "$tmp/plain" "$tmp/shared" && cd "$tmp/shared" || exit 1
private 'echo x >f && git add f && git commit -q -m borrowed && git log --oneline | wc -l'
check "a clone that borrows its objects" is "$rc $(cat "$err")$(git log -1 --format=%s) $(git fsck 2>&1 | grep -v dangling)" "0 borrowed "
echo ../../../plain/.git/objects >.git/objects/info/alternates
private 'git log -1 --format=%s; git fsck 2>&1 | grep -v dangling'
check "... by a relative name" is "$(cat "$out")" borrowed
# From a submodule that lies deep enough a relative name leads to the top inside: not to the system's programs there.
new_repo "$tmp/steep" && cd "$tmp/steep" && git init -q --bare .git/modules/m/n/o && mkdir -p .git/usr fake/objects fake/refs && cp .git/HEAD fake || exit 1
ln -s ../../fake/objects .git/usr/bin && echo ../../../../../usr/bin >.git/modules/m/n/o/objects/info/alternates
private 'echo in'
check "what is borrowed does not stand in the place of the system's" is "$rc $(cat "$out")" "0 in"

# --- both sides at once ---
new_repo "$tmp/both" && cd "$tmp/both" && mkfifo go tell || exit 1
printf '/go\n/tell\n' >.git/info/exclude
# What is seen to have come may still be locked for a moment by the git that brought it.
"$wrapix" run --git private --network none -- sh -c 'echo in >in; git add in; git commit -q -m in; echo 1 >tell
	read -r x <go; while [ -e .git/HEAD.lock ]; do sleep 0.05; done; echo more >more; git add more; git commit -q -m more; git log --format=%s | xargs >tell
	read -r x <go; git commit -q --allow-empty -m ours; echo 3 >tell; read -r x <go' >"$tmp/log/out" 2>"$tmp/log/err" </dev/null &
pid=$!
# shellcheck disable=SC2034 # the library ends it
started=$pid
hear tell
commits() { [ "$(git log -1 --format=%s)" = "$1" ]; }
clean() { [ -z "$(git status --porcelain)" ]; }
check "a commit is seen outside while the session runs" await commits in
check "... and nothing is modified" await clean
echo h >host && insist git add host && insist git commit -q -m host
private_head() { git --git-dir "$state/gitdirs/$(first_id)/0" rev-parse refs/heads/main 2>/dev/null; }
seen_inside() { [ "$(private_head)" = "$(git rev-parse main)" ]; }
check "the user's commit comes inside" await seen_inside
tell go
check "... where the next one follows it" is "$(timeout 60 head -n 1 tell)" "more host in start"
check "... and comes outside" await commits more
check "... with an index that is the same" await clean
# Who publishes waits for the repository's lock; this one's is the youngest.
exec 9<"$(find "$state/turns" -type f -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2)"
flock 9
git commit -q --allow-empty -m theirs
tell go
timeout 60 head -n 1 tell >/dev/null
exec 9<&-
diverged() { git rev-parse -q --verify "refs/wrapix/$(first_id)/diverged/heads/main" >/dev/null; }
check "both commit on one branch: the session's is kept beside" await diverged
check "... the user's stays" commits theirs
check "... nothing is lost" is "$(git log --format=%s "refs/wrapix/$(first_id)/diverged/heads/main" -1)" ours
tell go
wait "$pid"
check "... and it is said" has "$tmp/log/err" "both sides changed it"
wx git drop "$(first_id)"
check "... and can be forgotten" is "$rc $(stores)" "0 0"

# --- what was rewritten is there, and what it was is kept ---
new_repo "$tmp/again" && cd "$tmp/again" && git submodule --quiet add "$tmp/library" sub 2>/dev/null && git commit -q -m sub && old=$(git rev-parse HEAD) || exit 1
private 'git commit -q --amend -m again; cd sub && git commit -q --amend -m "sub again"'
id=$(sed -n "s/.*'wrapix git drop \([^']*\)' removes what is kept so.*/\1/p" "$err")
check "a rewritten branch is told of, and not as held" is "$(git log -1 --format=%s) $(grep -c "taken over in git: rewritten 'refs/heads/main': what it was is kept as refs/wrapix/$id/was/heads/main" "$err") $(grep -c 'held\|accept' "$err") $(stores)" "again 1 0 0"
check "... what it was is kept" is "$(git rev-parse "refs/wrapix/$id/was/heads/main") $(git -C sub for-each-ref refs/wrapix | wc -l)" "$old 1"
wx git held
check "... nothing waits" has "$out" "Nothing is held back here."
wx git drop "$id"
check "... until it is dropped, in the submodule as well" is "$rc $(cat "$out") $(git for-each-ref refs/wrapix; git -C sub for-each-ref refs/wrapix) $(stores)" "0 removed 2 of refs/wrapix/$id/was  0"
wx git drop "$id"
check "... once" refused 125 "there is no session '$id'"
private 'git commit -q --amend -m "and again"; git config core.editor evil'
id=$(first_id)
check "... with something that is held only that waits" is "$("$wrapix" git held | cut -d' ' -f1) $(git for-each-ref refs/wrapix | wc -l)" "config:core.editor 1"
wx git drop
check "... to drop what is not said shows what to type" refused 2 "then: wrapix git drop $id KIND:NAME"
wx git drop config:core.editor
check "... and so it is without the session, which 'held' does not name" refused 2 "then: wrapix git drop $id config:core.editor"
wx git drop "$id" config:core.editor
check "... and to drop that leaves what is kept" is "$rc $(stores) $(git for-each-ref refs/wrapix | wc -l)" "0 0 1"
wx git drop "$id"
check "... which goes by the session's name" is "$rc $(git for-each-ref refs/wrapix)" "0 "
private 'git commit -q --amend -m "once more"; git config core.editor evil'
wx git drop "$(first_id)"
check "... or with all of it" is "$rc $(stores) $(git for-each-ref refs/wrapix)" "0 0 "

# --- what is held ---
new_repo "$tmp/held" && cd "$tmp/held" && git branch keep && git tag v1 || exit 1
private 'git branch -D -q keep; git branch temporary; git tag -f v1 HEAD >/dev/null; git commit -q --allow-empty -m x; git tag -f v1 >/dev/null
	git config core.editor evil; printf "#!/bin/sh\ntouch $HOME/ran\n" >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
	git remote add new https://example.org/x; git config alias.x "!evil"'
id=$(first_id)
wx git held
check "held: hook, keys, deleted branch, moved tag" is "$(cut -d' ' -f1 "$out" | sort | xargs)" "branch:refs/heads/keep config:alias.x config:core.editor config:remote.new.fetch config:remote.new.url hook:pre-commit tag:refs/tags/v1"
check "... and none of it happened" is "$(git rev-parse -q --verify keep >/dev/null && git rev-parse v1^0) $(git config --local --get-regexp 'alias|editor|remote')$(find .git/hooks -type f ! -name "*.sample")" "$(git rev-parse HEAD^) "
wx git accept hook:pre-commit
check "... 'accept' without the session says it" refused 2 "then: wrapix git accept $id hook:pre-commit"
rm "$state/git/$id/lock"
(mkdir "$tmp/elsewhere" && cd "$tmp/elsewhere" && wx exec -- true)
check "... a command elsewhere does not ask whether it runs" [ ! -e "$state/git/$id/lock" ]
wx git status
check "... and one here does" [ -e "$state/git/$id/lock" ]
check "... the kept directory is no repository" fails git --git-dir "$state/gitdirs/$id/0" rev-parse HEAD
wx git held --json
check "... as JSON" python3 -c 'import json,sys; assert len(json.load(open(sys.argv[1]))) == 7' "$out"
block() { sed -n "\\,^$1 ,,/^[^ ]/{/^ /p;}" "$out" | sed 's/^  //'; }
wx git held --show
check "held --show: the text of a hook" is "$(block hook:pre-commit)" "@@ -0,0 +1,2 @@
+#!/bin/sh
+touch /home/wrapix/ran"
check "... the value of a key, a branch that was deleted, a tag that was moved" is "$(block config:core.editor; block branch:refs/heads/keep; block tag:refs/tags/v1)" \
	"+ evil
- $(git rev-parse keep)
- $(git rev-parse v1)
+ $(git rev-parse "refs/wrapix/$id/diverged/tags/v1")"
git config core.editor mine
git config --add core.editor other
seq 500 | sed 's/^/# /' >.git/hooks/pre-commit
wx git held "$id" --show
check "... against what the repository has now" is "$(block config:core.editor; block hook:pre-commit | sed -n '1,3p;$p')" "- mine
- other
+ evil
@@ -1,500 +1,2 @@
-# 1
-# 2
... and 103 lines more: $state/gitdirs/$id/0/hooks/pre-commit"
rm .git/hooks/pre-commit
git config --unset-all core.editor
wx git held --show --json
check "... as JSON" is "$(jq -c '.[] | select(.kind == "hook" or .name == "alias.x") | [.was, .is, .bytes]' "$out")" "$(printf '%s\n' '[[],["!evil"],null]' "[[],[\"#!/bin/sh\\ntouch /home/wrapix/ran\\n\"],33]")"
mv "$state/gitdirs/$id/0/hooks/pre-commit" "$tmp/hook"
mkfifo "$state/gitdirs/$id/0/hooks/pre-commit"
wx git held --show
check "... one that is no file is named as that" is "$rc $(block hook:pre-commit)" "0 (it is no file, or too large a one, and cannot be accepted)"
rm "$state/gitdirs/$id/0/hooks/pre-commit"
{ cat "$tmp/hook"; printf '\0'; } >"$state/gitdirs/$id/0/hooks/pre-commit"
wx git held --show
check "... nor one with more than text shown as text" has "$out" "no text, 34 bytes: $state/gitdirs/"
mv "$tmp/hook" "$state/gitdirs/$id/0/hooks/pre-commit"
private 'git config alias.y "!evil"'
other=$("$wrapix" git status --json | jq -r '.[].id' | grep -vxF "$id")
wx git held
check "several sessions: each under its id" is "$rc $(grep -cx -e "$id:" -e "$other:" "$out") $(sed -n "/^$other:/,/^[^ ]*:\$/p" "$out" | grep -c '^  config:alias.y ') $(grep -c '^  ' "$out")" "0 2 1 8"
wx git held --json
check "... as JSON" is "$(jq -r '.[] | select(.name == "alias.y") | .session' "$out") $(jq length "$out")" "$other 8"
wx git held "$other"
check "... one by its id" is "$(cut -d' ' -f1 "$out")" config:alias.y
wx git drop "$other"
wx git accept "$id" hook:pre-commit config:core.editor branch:refs/heads/keep tag:refs/tags/v1
check "accept does it" is "$rc $(git config core.editor) $(git rev-parse -q --verify keep) $(git rev-parse v1^0) $(test -x .git/hooks/pre-commit && echo hook)" "0 evil  $(git rev-parse HEAD) hook"
check "... and keeps what was" git rev-parse -q --verify "refs/wrapix/$id/was/heads/keep"
wx git drop "$id" config:alias.x config:remote.new.url config:remote.new.fetch
check "drop forgets, and then nothing is left" is "$rc $(stores)" "0 0"
wx git status --json
check "status of nothing" printed "[]"
wx git accept none hook:x
check "a session that is not there" refused 125 "none"
rm .git/hooks/pre-commit
git config --unset core.editor

# --- broken off ---
private 'echo k >k; git add k; git commit -q -m killed; git branch survivor; kill -9 -1' 2>/dev/null
"$wrapix" run --git private --network none -- sh -c 'mkfifo /tmp/f; echo l >l; git add l; git commit -q -m late; echo >ready; read -r x </tmp/f' >/dev/null 2>&1 </dev/null &
pid=$!
await test -e ready
kill -9 "$pid"
wait "$pid" 2>/dev/null
rm ready
wx git status
check "after kill -9 of the supervisor the next command takes over what it did" is "$rc $(git log -1 --format=%s) $(git status --porcelain)" "0 late "
check "... and nothing is left" is "$(stores)" 0

# --- what is held, and a link in its place since ---
printf '[alias]\n\tzz = of another\n' >"$tmp/another"
"$wrapix" run --git private --network none -- sh -c 'git config alias.zz "!true"; git commit -q --allow-empty -m held
	for i in $(seq 1200); do test ! -e go || break; sleep 0.05; done; ln -sf "$1" .git/config' sh "$tmp/another" >/dev/null 2>&1 </dev/null &
pid=$!
await sh -c '"$0" git held | grep -q "^config:alias.zz "' "$wrapix"
touch go
wait "$pid"
id=$(first_id)
wx git accept "$id" config:alias.zz
check "a file of the host's is not read by way of the session's configuration" is "$rc $(grep -c ": the session's configuration cannot be read" "$err")" "125 1"
check "... nor does anything of it come in" is "$(git config alias.zz)" ""
wx git drop "$id"
rm go

# --- in a copy-on-write session ---
new_repo "$tmp/view" && cd "$tmp/view" || exit 1
private 'echo x >x && git add x && git commit -q -m one && git checkout -q -b side && echo y >y && git add y && git commit -q -m two
	git config user.name Inside; echo z >z; git add z; git stash -q; git branch gone' --workspace cow
id=$(sed -n 's/.*in the session \([a-z0-9]*\),.*/\1/p' "$err")
refs() { git for-each-ref --format='%(refname)' | sed 's|/stash/[0-9a-f]*$|/stash/*|' | xargs; }
check "a view: its commits and stashes stand beside the host's branches" is "$rc $(refs)" "0 refs/heads/main refs/wrapix/$id/heads/gone refs/wrapix/$id/heads/main refs/wrapix/$id/heads/side refs/wrapix/$id/stash/*"
check "... and nothing else changes" is "$(git status --porcelain) $(git log --format=%s) $(git config user.name)$(git stash list) $(ls)" " start Somebody file"
check "... it can be merged" git merge-tree --write-tree main "wrapix/$id/heads/side"
wx run --network none --git private --resume "$id" -- sh -c 'git log --format=%s | xargs; git stash list | wc -l; git branch -q -D gone; git commit -q --allow-empty -m three'
check "... it is gone on with" is "$rc $(xargs <"$out") $(refs)" "0 two one start 1 refs/heads/main refs/wrapix/$id/heads/main refs/wrapix/$id/heads/side refs/wrapix/$id/stash/*"
check "... at rest it is no repository" fails git --git-dir "$state/gitdirs/$id/0" rev-parse HEAD
wx apply "$id"
check "... applied: the files" is "$rc $(echo *) $(git log --format=%s)" "0 file x y start"
wx discard --yes "$id"
check "... discarded: all of it goes" is "$rc $(refs) $(stores)" "0 refs/heads/main 0"
cd "$project" || exit 1
says "without a repository it does nothing" ok 'echo ok' --git private
finish
