#!/bin/sh
# SPDX-License-Identifier: MIT
# A private git directory that was made ahead, at the end of a session, is taken over by the next one as long as the
# repository is as it was, and by none after a change of anything it was made of. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
command -v strace >/dev/null || bail "strace is not installed"
set_up
. "$top/tests/lib/git.sh"
ready=$state/gitready

# One file of the prepared directory keeps its number when it is taken over.
number() { for one in "$ready"/[0-9a-f]*; do ! sed -n 2p "$one/made" 2>/dev/null | grep -qx "$(pwd -P)" || stat -c %i "$one/dirs/0/HEAD"; done; }
view='git rev-parse HEAD; git symbolic-ref -q HEAD; git for-each-ref refs/heads refs/tags; git --no-optional-locks status --porcelain; git stash list --format=%H; git ls-files -s; git config user.name; cat .git/info/exclude .git/MERGE_HEAD 2>/dev/null; ls .git/hooks | grep -v sample; cat .git/hooks/pre-commit 2>/dev/null'
outside() { sh -c "$view" 2>&1; }
session() { # session COMMAND: what it prints; the first line is the number of its HEAD
	"$wrapix" run --network none -- sh -c "stat -c %i .git/HEAD; $1" 2>"$tmp/log/session"
}
warm() { session true >/dev/null; number; }
taken() { # taken NAME: the next session has the prepared one, and sees what is outside
	before=$(number)
	got=$(session "$view")
	check "$1: taken over" is "$(printf '%s\n' "$got" | head -n 1)" "$before"
	check "... and shows what is outside" is "$(printf '%s\n' "$got" | tail -n +2)" "$(outside)"
}
renewed() { # renewed NAME: it has another one, which shows what is outside
	before=$(number)
	check "$1: there was one" test -n "$before"
	got=$(session "$view")
	check "... not taken over" isnt "$(printf '%s\n' "$got" | head -n 1)" "$before"
	check "... what is outside is inside" is "$(printf '%s\n' "$got" | tail -n +2)" "$(outside)"
}

git init -q . && echo start >file && git add . && git commit -q -m start && git branch other
echo 'one' >.git/info/exclude
check "nothing is there before the first session" is "$(number)" ""
session true >/dev/null
check "the first session leaves one" test -n "$(number)"
taken "nothing changed"
taken "a second time"
touch -d '1 hour ago' file && git status >/dev/null && warm >/dev/null && git status >/dev/null
taken "'git status' outside that changes nothing"
session 'echo s >s; git add s; git commit -q -m inside' >/dev/null
taken "after a commit inside"

# --- any change counts, also one that hides its time ---
hide() { # hide FILE COMMAND: with the time of change of the content as it was
	when=$(stat -c %y "$1")
	sh -c "$2"
	touch -m -d "$when" "$1"
}
for change in \
	'echo c >>file; git commit -q -a -m c' 'git branch new' 'git tag new' 'git branch -q -D new' 'git checkout -q other' 'git checkout -q main' \
	'git pack-refs --all' 'git config user.name Other' 'echo staged >staged; git add staged' 'git stash -q' 'git stash drop -q' \
	'printf "#!/bin/sh\ntrue\n" >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit' \
	'hide .git/hooks/pre-commit "printf \"#!/bin/sh\nfals\n\" >.git/hooks/pre-commit"' \
	'hide .git/info/exclude "echo two >.git/info/exclude"' 'git rev-parse HEAD >.git/MERGE_HEAD' 'rm .git/MERGE_HEAD' \
	'git branch loose; git rev-parse HEAD^ >.git/refs/heads/loose' \
	'hide .git/refs/heads/loose "git rev-parse HEAD >.git/refs/heads/loose"' \
	'git worktree add -q -b tree "$tmp/tree"' 'git -C "$tmp/tree" checkout -q -b tree2' \
	'git update-index --force-remove s'; do
	eval "$change"
	renewed "$change"
done
taken "after all of that"
hide .git/index 'printf "\\000" | dd of=.git/index bs=1 seek=40 conv=notrunc status=none; git read-tree HEAD'
renewed "an index of the same size"
mkdir "$tmp/hooks" && git config core.hooksPath "$tmp/hooks" && warm >/dev/null
echo true >"$tmp/hooks/pre-commit"
before=$(number)
check "a hook elsewhere: not taken over" isnt "$(session true | head -n 1)" "$before"
git config --unset core.hooksPath
git config include.path ../more && session true >/dev/null && session true >/dev/null
check "with an included file there is none that counts" isnt "$(session true | head -n 1)" "$(number)"
git config --unset include.path && warm >/dev/null
taken "without it again"

# --- what changes in the moment in which it is made ---
round() {
	warm >/dev/null
	git rev-parse "$1" >.git/refs/heads/loose
	is "$(session 'git rev-parse loose' | tail -n 1)" "$(git rev-parse "$1")"
}
for turn in 1 2 3 4 5 6; do
	check "changed at once, round $turn" round "HEAD~$((turn % 2))"
done

# --- nothing of a session's is in the next ---
session 'printf "#!/bin/sh\necho planted\n" >.git/hooks/post-commit; chmod +x .git/hooks/post-commit; git config core.fsmonitor planted
	echo planted >>.git/info/exclude; git update-index --assume-unchanged file; git update-ref refs/replace/$(git rev-parse HEAD) HEAD^' >/dev/null
check "a session's hooks, keys and marks are not in what is prepared" fails grep -rq planted "$ready"
session 'ls .git/hooks; git config core.fsmonitor; git ls-files -v | grep "^h"; git for-each-ref refs/replace' >"$tmp/got"
check "... nor in the next session" is "$(grep -c 'planted\|post-commit\|^h\|replace' "$tmp/got")" 0
for id in "$state"/git/*; do "$wrapix" git drop "${id##*/}" --all >/dev/null 2>&1 || "$wrapix" git drop "${id##*/}" >/dev/null 2>&1; done

# --- not this boot's, not this program's ---
warm >/dev/null
before=$(number)
sed -i '1s/, [0-9a-f-]*$/, 00000000-0000-0000-0000-000000000000/' "$ready"/[0-9a-f]*/made
check "made before the machine crashed: not taken over" isnt "$(session true | head -n 1)" "$before"
warm >/dev/null
before=$(number)
for one in "$ready"/[0-9a-f]*; do : >"$one/made"; done
check "cut off: not taken over" isnt "$(session true | head -n 1)" "$before"

# --- several at once ---
rm -f .git/hooks/pre-commit
warm >/dev/null
for n in 1 2 3 4; do
	"$wrapix" run --network none -- sh -c "stat -c %i .git/HEAD; until [ -e go ]; do sleep 0.01; done; git commit -q --allow-empty -m at-once-$n" >"$tmp/at-once-$n" 2>"$tmp/log/at-once-$n" &
	started="${started-} $!"
done
all_four() { [ "$(cat "$tmp"/at-once-? | wc -l)" = 4 ]; }
await all_four
touch go
wait
rm go
check "four at once: each has its own" is "$(cat "$tmp"/at-once-? | sort -u | wc -l)" 4
check "... and every commit is outside" is "$(git log --all --format=%s | grep -c '^at-once-[1-4]$')" 4
git checkout -q -f main

# --- killed at any point, in making and in taking ---
killed=0
for call in renameat mkdirat mkdir linkat; do
	n=1
	while [ "$n" -lt 60 ]; do
		strace -qq -e trace="$call" -e inject="$call:signal=KILL:when=$n" -o /dev/null "$wrapix" run --network none -- true >/dev/null 2>&1 && break
		killed=$((killed + 1))
		echo "$killed" >>file && git commit -q -a -m "$call $n"
		got=$(session "$view" | tail -n +2)
		[ "$got" = "$(outside)" ] || { echo "# after $call $n: $got"; break 2; }
		n=$((n + ${GIT_READY_STEP-3}))
	done
done
check "killed at $killed points: the next session shows what is outside" is "$got" "$(outside)"
check "... there were as many as one would think" test "$killed" -gt 10
find "$ready" "$state/git" -mindepth 1 -maxdepth 1 -exec touch -d '2 minutes ago' {} +
session true >/dev/null
session true >/dev/null
check "... what they left is swept" is "$(find "$ready" -mindepth 1 -maxdepth 1 -name '.*'; for id in "$state"/git/*; do [ -e "$id/meta" ] || echo "$id"; done)" ""
check "... all of it" is "$(ls "$state/gitdirs")" "$(ls "$state/git")"
check "... fsck" git fsck --strict

# --- not many ---
for n in 1 2 3 4 5 6; do
	git init -q "$tmp/many$n" && cd "$tmp/many$n" && git commit -q --allow-empty -m x && session true >/dev/null
done
check "of seven projects four are kept" is "$(find "$ready" -mindepth 1 -maxdepth 1 | wc -l)" 4
taken "the last one"
finish
