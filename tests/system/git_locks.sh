#!/bin/sh
# SPDX-License-Identifier: MIT
# The git that wrapix starts on the host to change it, killed itself at calls that write, alone or with everybody else: what it
# locked there is taken away, and nobody else's lock. Prints TAP.
#
# GIT_POINTS=N: so many of its calls (4), evenly spread; 'all': each, and the one that is killed because it does not end.
#
# shellcheck disable=SC1091,SC2015,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
kept="GIT_DRIVER INJECT GIT_POINTS"
be_user "$@"
driver=${GIT_DRIVER:-$top/build/tests/system/git_driver}
inject=${INJECT:-$top/build/tests/crash/inject}
set_up
. "$top/tests/lib/git.sh"
repo=$tmp/repo
states=$home/.local/state
points=${GIT_POINTS:-4}

locks() { find "$repo/.git" -name '*.lock' -o -name 'wrapix-*' -o -name packed-refs.new | sed "s,^$repo/.git/,," | sort | xargs; }
numbers() { find "$repo/.git" -name '*.lock' -printf '%P %i\n' | sort; }
notes() { find "$states/wrapix/git" -name locks | wc -l | xargs; }
repair() { (cd "$repo" && "$wrapix" git status >"$tmp/log/out" 2>"$tmp/log/err"); }
new_repo() { rm -rf "$repo" "$home/.local" && git init -q "$repo" && cd "$repo" && git commit -q --allow-empty -m start && git branch other && git commit -q --allow-empty -m more; }
last() { git -C "$repo" log -1 --format=%s main; }

# --- each call of a round that changes branches, deletes one, drops a stash, adds one, moves HEAD, sets a key ---
session() { GIT_DIR=$states/wrapix/gitdirs/s1/0 GIT_WORK_TREE=$repo GIT_ALTERNATE_OBJECT_DIRECTORIES=$repo/.git/objects git "$@" 2>>"$tmp/log/session"; }
seen() {
	(cd "$repo" && git for-each-ref --format='%(refname) %(objectname)' && cat .git/HEAD && git stash list --format='%H %gs' && git config --local -l | sort &&
		git ls-files -s && git fsck --strict 2>&1)
}
new_repo && echo one >file && git add . && git commit -q -m file && echo s >>file && git stash -q && "$driver" "$states" s1 prepare "$repo" || exit 1
session branch made && "$driver" "$states" s1 publish && git pack-refs --all || exit 1
session branch -q -D made && session commit -q --amend -m again && session stash drop -q && echo two >>file && session stash -q &&
	session config user.name Inside && session checkout -q -b side && cd "$tmp" || exit 1
# What comes before the first of them is not of interest here: objects are there, and the index.
"$driver" "$states" s1 publish update-ref >"$tmp/log/step"
[ "$(cat "$tmp/log/step")" = update-ref ] || bail "no 'git update-ref' was started"
restore() { put_back; }
mkdir before && cp -a repo home/.local before || exit 1
cp "$driver" "$tmp/publisher" # only names that begin with "git" count
publish() { "$inject" -o "$tmp/log/hit" -p git "$1" "$2" "$tmp/publisher" "$states" s1 publish >"$tmp/log/publish" 2>&1; }
publish kill 100000
calls=$(cut -d' ' -f1 "$tmp/log/hit")
seen >"$tmp/want"
echo "# $calls calls"
check "it is published" is "$(grep -c 'refs/heads/side\|user.name=Inside\|/was/heads/main\|/stash/' "$tmp/want") $(locks)" "5 "
locked=0
at() { # at ACTION CALL: afterwards all is as without it
	restore
	publish "$1" "$2"
	[ "$(cut -d' ' -f2 "$tmp/log/hit")" != - ] || { echo "$1 $2: not reached"; return 1; }
	[ "$1" = kill ] || [ -z "$(locks)" ] || locked=$((locked + 1))
	[ "$1" = all ] || [ -z "$(locks)" ] || { echo "$1 $2: $(locks) left by who goes on"; return 1; }
	repair && seen | diff "$tmp/want" - && is "$(locks) $(notes)" " 0" || { echo "$1 at call $2 ($(cat "$tmp/log/hit"))"; cat "$tmp/log/err"; return 1; }
}
every() { # every ACTION FIRST
	[ "$points" = all ] && by=1 || by=$(((calls + points - 1) / points))
	call=$2
	while [ "$call" -le "$calls" ]; do
		at "$1" "$call" || return 1
		call=$((call + by))
	done
}
check "the git is killed at a call that writes: who started it does the rest" every kill 3
check "... and with who started it: the next command does" every all 6
check "... which found locks" [ "$locked" -gt 0 ]

# --- the other way: what the user did comes to the session ---
own() { find "$states/wrapix/gitdirs/s1/0" -name '*.lock' -o -name 'wrapix-*' | wc -l | xargs; }
noted() { find "$states/wrapix/git" -name 'locks*' | wc -l | xargs; }
inwards() { "$inject" -o "$tmp/log/hit" -p git -w update-ref "$1" "$2" "$tmp/publisher" "$states" s1 publish >"$tmp/log/publish" 2>&1; }
for action in kill all; do
	new_repo && "$driver" "$states" s1 prepare "$repo" && git commit -q --allow-empty -m outside || exit 1
	inwards $action 4
	check "the git that brings it there is killed ($action)" is "$(cut -d' ' -f2 "$tmp/log/hit") $([ $action = kill ] || echo "$(own) $(noted)")" "write $([ $action = kill ] || echo 1 1)"
	"$driver" "$states" s1 publish
	check "... and the next time it comes, and nothing is locked" is "$(session log -1 --format=%s) $(own) $(noted) $(locks)" "outside 0 0 "
done

# --- a work tree ---
inject_tree() { "$inject" -o "$tmp/log/hit" -p git -w read-tree "$1" "$2" "$tmp/publisher" "$states" s1 publish >"$tmp/log/publish" 2>&1; }
for action in kill all; do
	new_repo && "$driver" "$states" s1 prepare "$repo" && session worktree add -q -b tree "$repo/tree" && echo /workspace/tree/.git >"$states/wrapix/gitdirs/s1/0/worktrees/tree/gitdir" || exit 1
	inject_tree $action 2
	check "its git is killed ($action)" is "$(cut -d' ' -f2 "$tmp/log/hit") $(locks)" "write $([ $action = kill ] || echo worktrees/tree/index.lock)"
	repair
	check "... the work tree is there" is "$(git -C "$repo/tree" status --porcelain -b) $(git -C "$repo" worktree list | wc -l) $(locks) $(git -C "$repo" fsck 2>&1)" "## tree 2  "
	check "... nothing is held" lacks "$tmp/log/err" worktree
done

# --- through 'run' and through 'exec' ---
commit='git commit -q --allow-empty -m inside'
outer() { # outer ACTION CALL run|exec COMMAND
	case $3 in run) set -- "$1" "$2" "$3" "$4" --network none ;; *) set -- "$1" "$2" "$3" "$4" ;; esac
	action=$1 call=$2 verb=$3 command=$4
	shift 4
	(cd "$repo" && "$inject" -o "$tmp/log/hit" -p git -w update-ref "$action" "$call" "$wrapix" "$verb" "$@" -- sh -c "$command" >"$tmp/log/out" 2>"$tmp/log/err" </dev/null)
	rc=$?
}
here() { (cd "$repo" && if [ "$1" = run ]; then "$wrapix" git status; else "$wrapix" exec -- true; fi) >"$tmp/log/out" 2>"$tmp/log/err"; }
for verb in run exec; do
	new_repo || exit 1
	outer kill 100000 "$verb" "$commit"
	check "$verb: a commit is on the host" is "$rc $(last)" "0 inside"
	unlocks=$(($(cut -d' ' -f1 "$tmp/log/hit") - 1)) # the last word is for who started it
	new_repo || exit 1
	outer kill 4 "$verb" "$commit"
	check "... and it is when the git that brings it there is killed" is "$rc $(cut -d' ' -f2 "$tmp/log/hit") $(last) $(locks) $(notes)" "0 write inside  0"
	new_repo || exit 1
	outer all "$unlocks" "$verb" "$commit"
	check "... everybody is killed with it: HEAD is locked" is "$(cut -d' ' -f2 "$tmp/log/hit") $(locks) $(notes)" "unlink HEAD.lock 1"
	check "... until the next command" here "$verb"
	check "... which finishes it" is "$(last) $(locks) $(notes) $(git -C "$repo" fsck 2>&1)" "inside  0 "
done

# --- others' locks ---
mkfifo "$tmp/to" || exit 1
other() { # other CHANGE: a git of the user's has everything locked that this takes, until 'other_ends'
	(cd / && exec git --git-dir="$repo/.git" update-ref --stdin <"$tmp/to" >"$tmp/log/other" 2>&1) &
	started=$!
	exec 9>"$tmp/to"
	printf 'start\n%s\nprepare\n' "$1" >&9
	await has "$tmp/log/other" 'prepare: ok'
	held=$(numbers)
}
other_ends() {
	printf 'commit\n' >&9
	exec 9>&-
	wait "$started"
	rc=$?
	started=
}
stands() { is "$(numbers)" "$held"; }
for change in 'update refs/heads/main' 'verify refs/heads/main'; do
	new_repo || exit 1
	case $change in update*) change="$change $(git rev-parse other)" ;; *) change="$change $(git rev-parse main)" ;; esac
	outer all 2 run "$commit"
	check "killed before it locks anything (${change%% *})" is "$(cut -d' ' -f2 "$tmp/log/hit") $(locks) $(notes)" "openat  1"
	other "$change"
	check "... then a git of the user's works" is "$(locks)" "HEAD.lock refs/heads/main.lock"
	repair
	check "... whose locks stay" stands
	check "... and are named" has "$tmp/log/err" "main.lock' is there, of another git that works or that was killed"
	other_ends
	check "... and who is done" is "$rc $(tail -n 1 "$tmp/log/other")" "0 commit: ok"
	repair
	check "... and then it is published" is "$(locks) $(notes) $(git log --all --format=%s | grep -c inside)" " 0 1"
done
check "... on the branch, which nobody changed" is "$(last)" inside
new_repo && : >.git/refs/heads/main.lock && : >.git/HEAD.lock || exit 1
held=$(numbers)
outer kill 100000 run "$commit"
check "locks that were there before stay" stands
check "... and are named" has "$tmp/log/err" "main.lock' is there"
outer all 2 run "$commit"
repair
check "... also when a git of ours is killed before them" stands
rm "$repo/.git/refs/heads/main.lock" "$repo/.git/HEAD.lock"
repair
check "... once they are gone it is published" is "$(last) $(locks) $(notes)" "inside  0"

# --- one that does not end ---
if [ "$points" = all ]; then
	new_repo || exit 1
	outer stop 4 run "$commit"
	check "a git that does not end is killed, and what it locked is unlocked" is "$(locks) $(notes)" " 0"
	repair # unless it was the one while the session ran, and the one at its end has done it
	check "... and then it is published" is "$(last) $(locks) $(notes)" "inside  0"
fi
finish
