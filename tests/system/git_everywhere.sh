#!/bin/sh
# SPDX-License-Identifier: MIT
# git_everywhere.sh [all [CELL]]: the behaviours of tests/lib/git_cells.sh in a plain repository, a linked work tree and a submodule, each
# in the project itself and copy-on-write. A session does several of them; the numbers are the table's. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2086,SC2119,SC2120,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name; words of options
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
command -v git-lfs >/dev/null || bail "git-lfs is not installed"
set_up
. "$top/tests/lib/git.sh"
new_repo() { # new_repo DIR [OPTION...]: with a commit
	repo_dir=$1
	shift
	git init -q "$@" "$repo_dir" && (cd "$repo_dir" && mkdir in dir out && echo start | tee file in/i dir/d >out/o && git add . && git commit -q -m start)
}
held() { "$wrapix" git status --json | jq -r '.[].id' | while read -r id; do "$wrapix" git held "$id" 2>/dev/null; done | grep -v '^ ' | cut -d' ' -f1 | sort | xargs; }
forget() { "$wrapix" git status --json | jq -r '.[].id' | while read -r id; do "$wrapix" git drop "$id" >/dev/null; done; }
new_repo "$tmp/lib" && new_repo "$tmp/sha" --object-format=sha256 && git -C "$tmp/lib" config uploadpack.allowFilter true || exit 1
. "$top/tests/lib/git_cells.sh"
. "$top/tests/lib/git_attacks.sh"
cow_driver=${wrapix%/src/cli/wrapix}/tests/system/cow_driver
[ -x "$cow_driver" ] || bail "there is no $cow_driver"
out=$tmp/log/out err=$tmp/log/err
mkdir "$tmp/sync" && mkfifo "$tmp/sync/go" "$tmp/sync/tell" || exit 1

# lay LAYOUT DIR SOURCE [OPTION...]: a project of that layout, cloned with these options; stands in it.
lay() {
	layout=$1 at=$2 from=$3
	shift 3
	case $layout in
	plain) git clone -q "$@" "file://$from" "$at" && cd "$at" ;;
	worktree) git clone -q "$@" "file://$from" "$at.main" && git -C "$at.main" worktree add -q -b side "$at" && cd "$at" ;;
	submodule) # of a repository with the same kind of names
		git init -q --object-format="$(git -C "$from" rev-parse --show-object-format)" "$at" && cd "$at" && git clone -q "$@" "file://$from" sub &&
			git submodule --quiet add "file://$from" sub && git submodule --quiet absorbgitdirs 2>/dev/null && git commit -q -m sub && cd sub ;;
	esac || exit 1
}

# Large files, files that run later, a hook, a bare repository among the files.
furnish() {
	gitdir=$(git rev-parse --absolute-git-dir) common=$(git rev-parse --path-format=absolute --git-common-dir)
	git lfs install --local --skip-repo >/dev/null && git lfs track '*.bin' >/dev/null && head -c 3000 /dev/urandom >old.bin && mkdir .vscode && echo '{}' >.vscode/tasks.json &&
		git add . && git commit -q -m furnished && git init -q --bare fixture.git && mkdir -p "$common/info" && echo /fixture.git >>"$common/info/exclude" || exit 1
	printf '#!/bin/sh\necho ran >>"$(git rev-parse --git-dir)/ran"\n' >"$common/hooks/pre-commit" && chmod +x "$common/hooks/pre-commit" || exit 1
	git clone -q --bare . "$tmp/remote" && git -C "$tmp/remote" branch newer || exit 1
	sum=$(sha256sum <old.bin) was=$(git rev-parse HEAD) branch=$(git symbolic-ref --short HEAD) remotes=$(git for-each-ref refs/remotes)
}

first='set -e; say() { echo "$*"; }
	git commit -q --allow-empty -m live; echo 1 >/sync/tell; read -r x </sync/go; i=0; while [ "$x" != "$(git log -1 --format=%s)" ] && [ $i -lt 1000 ]; do i=$((i + 1)); sleep 0.05; done; [ $i -lt 1000 ]; while [ -e "$(git rev-parse --git-dir)/HEAD.lock" ]; do sleep 0.05; done; say 24 ok
	git checkout -q -b topic; echo t >topic; git add topic; git commit -q -m topic; git checkout -q -; echo o >other; git add other; git commit -q -m other; git merge -q --no-edit topic
	git checkout -q -b pick HEAD~1; git cherry-pick topic >/dev/null; git revert --no-edit HEAD >/dev/null; git rebase -q topic; git checkout -q -; git tag light; git tag -a -m note heavy
	git bisect start HEAD HEAD~2 >/dev/null; git bisect reset >/dev/null 2>&1; echo s >>file; git stash -q; git stash pop -q; git reset -q --hard; git gc -q --prune=now; git fsck >/dev/null 2>&1; say 1 ok
	git config user.name Inside; git config core.fsmonitor "touch /tmp/ran; :"
	rm old.bin; git checkout -q old.bin; sha256sum <old.bin; head -c 2000 /dev/urandom >new.bin; git add new.bin; git commit -q -m large
	git -c protocol.file.allow=always submodule --quiet add /library mods/lib 2>/dev/null; git commit -q -m added; (cd mods/lib; echo x >x; git add x; git commit -q -m "in it"); git commit -q -am bumped; git submodule --quiet update; git submodule status | cut -c1
	git worktree add -q -b wt trees/wt; (cd trees/wt; echo w >w; git add w; git commit -q -m wt)
	git remote add in file:///remote; git fetch -q in; git rev-parse -q --verify in/newer >/dev/null; git push -q in HEAD:pushed >/dev/null 2>&1; say 11 ok
	git mv dir moved; git commit -q -m moved; python3 -c "import os; os.rename(\"in\", \"in2\"); os.rename(\"in2\", \"in\")"
	echo stashed >>file; git stash -q; echo staged >staged; git add staged; wc -l <"$(git rev-parse --git-dir)/ran"; git log -1 --format=%s; git stash list | wc -l'

second='git reset -q --hard; git rebase -x "touch /tmp/ran; false" HEAD~1 >/dev/null 2>&1; git status | grep -c "rebase in progress"; n=0; no() { "$@" >/dev/null 2>&1 || n=$((n + 1)); }
	git init -q a && (cd a && git commit -q --allow-empty -m a && git config core.pager "touch /tmp/ran" && echo evil >.git/hooks/post-commit); mv a b; git -C b log -1 --format=%s; git clone -q b c; rm -rf c
	git -C fixture.git config core.pager "touch /tmp/ran"; echo "{\"run\": 1}" >.vscode/tasks.json; cat .vscode/tasks.json
	python3 - <<END
import os, signal
signal.signal(signal.SIGURG, lambda *_: None); signal.siginterrupt(signal.SIGURG, False)
us = os.getpid(); storm = os.fork()
while storm == 0 and os.getppid() == us: os.kill(us, signal.SIGURG)
if storm == 0: os._exit(0)
os.mkdir("storm")
for i in range(100): os.mkdir(f"storm/d{i}"); os.close(os.open(f"storm/f{i}", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
os.kill(storm, signal.SIGKILL); print(len(os.listdir("storm")))
END
	no unshare -Urm umount .git; no unshare -Urm mount -t tmpfs none .git; echo $n
'

# Third: the path of a call that changes (16), and both sides commit at once (23).
third='python3 /tools/path_race.py race "$rounds" && git checkout -q "$branch" && echo 1 >/sync/tell && read -r x </sync/go && i=0 && while [ $i -lt "$commits" ]; do
	until git commit -q --no-verify --allow-empty -m "inside $i" 2>/tmp/err; do grep -q "cannot lock ref" /tmp/err || exit 1; done; i=$((i + 1)); done'
outside() {
	i=0
	while [ $i -lt "$commits" ]; do
		insist git commit -q --no-verify --allow-empty -m "outside $i" || return 1
		i=$((i + 1))
	done
}
planted() { find race -name .git ! -empty; } # by the race, in the project; while a session runs an empty one stands for its own
start() { # start SCRIPT [OPTION...]: a session beside us, as $started
	script=$1
	shift
	"$wrapix" run --network none --mount "$tmp/sync:/sync:rw" --mount "$tmp/lib:/library:ro" --mount "$tmp/remote:/remote:rw" --mount "$top/tests/lib:/tools:ro" "$@" -- sh -c "$script" >"$out" 2>"$err" </dev/null &
	started=$!
}
ends() {
	wait "$started"
	rc=$?
	started=
}
does() { in_cell "$cell" "$@"; }
its() { git for-each-ref --format="%($1)" "refs/wrapix/*/heads/$branch"; } # of the session's branch

# --- in the project itself ---
direct() { # while the first session runs
	seen() { [ "$(git log -1 --format=%s)" = live ]; }
	does 3 "a commit is there while the session runs" await seen
	insist git commit -q --allow-empty -m theirs --no-verify
	tell "$tmp/sync/go" theirs
}
direct_after() {
	does "1 5 6 7 8 10 11 24 30" "work inside" is "$rc $(tr '\n' ' ' <"$out")" "0 24 ok 1 ok $sum   11 ok 7 moved 1 "
	does 2 "an allowed key is there, another is held" is "$(git config user.name),$(git config core.fsmonitor),$(held | tr ' ' '\n' | grep -c '^config:core.fsmonitor')" "Inside,,1"
	does "3 24" "the commits are there, the user's among them" is "$(git log -1 --format=%s) $(git log --format=%s | grep -c -x -e live -e theirs)" "moved 2"
	does 4 "what is staged is staged" is "$(git diff --cached --name-only) $(git status --porcelain -uno | xargs)" "staged A staged"
	does 5 "the stash is there" is "$(git stash list | wc -l)" 1
	does 6 "submodules are, and have no hooks" is "$(git -C mods/lib log -1 --format=%s),$(git submodule status | cut -c1),$(ls "$(git -C mods/lib rev-parse --absolute-git-dir)/hooks" 2>/dev/null)" "in it, ,"
	does 7 "so are work trees, by a relative path" is "$(git -C trees/wt log -1 --format=%s) $(cut -c1-11 trees/wt/.git)" "wt gitdir: ../"
	does 8 "and large files" is "$(git lfs fsck) $(git lfs ls-files | wc -l)" "Git LFS fsck OK 2"
	does 10 "the user's hook did not run on the host" test ! -e "$gitdir/ran"
	does 11 "refs/remotes are as they were; the remote has what was pushed" is "$(git for-each-ref refs/remotes; git -C "$tmp/remote" log -1 --format=%s pushed)" "$remotes
bumped"
	does 30 "a directory that moved has moved" is "$(cat moved/d in/i | xargs) $(ls -d dir 2>/dev/null)" "start start "
	does 1 "the repository is sound" git fsck --strict
}
direct_second() {
	does "14 17 18 19 20 21" "inside" is "$(tr '\n' ' ' <"$out")" '1 a {"run": 1} 200 2 '
	does 14 "no rebase, no program of it" is "$(ls -d "$gitdir"/rebase* 2>/dev/null; held | tr ' ' '\n' | grep -x state:rebase; ls /tmp/ran 2>/dev/null)" state:rebase
	does 17 "the repository that was made is clean" is "$(git -C b log -1 --format=%s),$(git -C b config core.pager),$(ls b/.git/hooks/post-commit 2>/dev/null)" "a,,"
	does 19 "one among the files is as it was" is "$(git -C fixture.git config core.pager)" ""
	does 21 "a file that runs later is held, and accepted by a word" is "$(cat .vscode/tasks.json; "$wrapix" git accept .vscode >/dev/null; cat .vscode/tasks.json)" '{}
{"run": 1}'
}
direct_third() {
	does 23 "both commit at once: all is in reach" is "$rc $failed $(git log --all --format=%s | sort -u | grep -c 'side [0-9]')" "0 0 $((2 * commits))"
	does 23 "the branch has all of the user's" is "$(git log "$branch" --format=%s | grep -c '^outside')" "$commits"
}
# The user's git has the index when the session ends.
direct_busy() {
	: >"$gitdir/index.lock"
	start 'echo late >late; git add late; git commit -q --no-verify -m late; echo 1 >/sync/tell'
	hear "$tmp/sync/tell"
	[ "$deep" = '' ] || { # for long
		ends
		does 25 "an index that is locked for long: it is said, and the lock is left alone" is "$(grep -c 'could not be taken over' "$err") $(ls "$gitdir/index.lock")" "1 $gitdir/index.lock"
	}
	rm "$gitdir/index.lock"
	[ -z "$started" ] || ends
	"$wrapix" git status >/dev/null 2>&1
	does 25 "an index that was locked has what was staged" is "$rc $(git log -1 --format=%s) $(git status --porcelain -uno late)" "0 late "
}

# --- copy-on-write ---
cow() {
	does 3 "while the session runs nothing of the user's changes, and its commit is beside" is "$(git rev-parse HEAD; git status --porcelain; await beside live)" "$was"
	insist git commit -q --allow-empty -m theirs --no-verify
	was=$(git rev-parse HEAD)
	tell "$tmp/sync/go" live # it does not see the user's
}
beside() { [ "$(its subject)" = "$1" ]; }
cow_after() {
	does "1 5 6 7 8 10 11 24 30" "work inside, where the user's commit is not" is "$rc $(tr '\n' ' ' <"$out")" "0 24 ok 1 ok $sum   11 ok 7 moved 1 "
	does "2 4 5 6 7 8 10 24" "the repository is as the user left it" is "$(git rev-parse HEAD; git status --porcelain; git stash list; git config --local --get-regexp 'user.name|core.fsmonitor'; git for-each-ref refs/heads/topic refs/tags; ls -d "$gitdir/ran" mods trees 2>/dev/null)" "$was"
	does 3 "commits stand beside" is "$(its subject)" moved
	does 11 "refs/remotes are as they were" is "$(git for-each-ref refs/remotes)" "$remotes"
	does 26 "the difference is exact" is "$("$wrapix" diff --name-only one | grep -v -e '^mods' -e '^trees' | xargs)" ".gitmodules moved/d new.bin other staged topic"
	echo ours >>topic 2>/dev/null
	"$wrapix" apply --yes one >"$out" 2>&1
	does 27 "apply leaves what the user changed, and names it" is "$?,$(cat topic),$(grep -c '^topic: conflict' "$out")" "1,ours,1"
	does "26 30" "the rest is in the project, and .git as it was" is "$(cat moved/d other staged | xargs) $(ls -d dir 2>/dev/null) $(git rev-parse HEAD) $("$wrapix" diff --name-only one | xargs)" "start o staged  $was topic"
}
now() { find . -name .git -prune -o -mindepth 1 -printf '%P|%y|%m|%l|%s|%T@\n' | LC_ALL=C sort; }
# killed STEP: an apply of the session that is killed before it, finished, and taken back
killed() {
	now >"$tmp/before"
	"$cow_driver" "$state/cow" "$two" apply "$1" >/dev/null 2>&1 && return 9
	"$wrapix" apply --yes two >/dev/null 2>"$tmp/log/apply"
	[ $? -le 1 ] || { cat "$tmp/log/apply"; return 1; } # one file is never taken over
	is "$(find storm -mindepth 1 | wc -l)" 200 || return 1
	"$wrapix" undo two >/dev/null && now | diff "$tmp/before" -
}
killed_at_steps() {
	for step in $steps; do
		killed "$step" || {
			[ $? = 9 ] || { echo "killed before step $step"; return 1; }
			"$wrapix" undo two >/dev/null
			break
		}
	done
	[ "$step" -gt 100 ] || { echo "only $step"; return 1; }
}
cow_second() {
	two=$(sed -n 's/.*in the session \([a-z0-9]*\),.*/\1/p' "$err" | head -n 1)
	does "14 17 18 19 20 21" "inside" is "$(tr '\n' ' ' <"$out" | cut -c1-23)" '1 a {"run": 1} 200 2 '
	does "14 17 19 21" "nothing of it is in the project" is "$(ls -d b storm "$gitdir"/rebase* 2>/dev/null; git -C fixture.git config core.pager; cat .vscode/tasks.json)" '{}'
	"$wrapix" apply two <"/dev/null" >"$out" 2>&1
	does "17 19 21 29" "a second session is applied as well, without what is obeyed" is "$(find storm -mindepth 1 | wc -l) $(git -C fixture.git config core.pager) $(cat .vscode/tasks.json) $(find b -mindepth 1 2>/dev/null | wc -l) $(grep -c 'not taken over' "$out")" "200  {} 0 1"
	"$wrapix" undo two >/dev/null
	does 28 "and taken back" is "$(ls -d storm 2>/dev/null) $(cat moved/d)" " start"
	does 28 "killed at a step it is finished, and taken back: bytes, modes, times" killed_at_steps
	"$wrapix" discard --yes one >/dev/null 2>&1
	"$wrapix" discard --yes two >/dev/null 2>&1
	does 29 "and discarded" is "$(git for-each-ref refs/wrapix)" ""
}
cow_third() {
	does 23 "both commit at once: each has its own" is "$rc $failed $(git log "$branch" --format=%s | grep -c '^outside') $(git log "$branch" --format=%s | grep -c '^inside') $(git log "$(its objectname)" --format=%s | grep -c '^inside')" "0 0 $commits 0 $commits"
	"$wrapix" apply --yes three >"$out" 2>&1
	does 16 "nor is it applied" is "$(planted; ls -d race/full)" race/full
	"$wrapix" undo three >/dev/null
	"$wrapix" discard --yes three >/dev/null 2>&1
}
cow_busy() {
	: >"$gitdir/index.lock"
	start 'echo late >late; git add late; git commit -q --no-verify -m late; echo 1 >/sync/tell; read -r x </sync/go' --workspace cow --name four
	hear "$tmp/sync/tell"
	wx run --network none --resume four -- true
	does 29 "a session in use is not mounted twice" is "$rc $(grep -c 'is in use' "$err")" "125 1"
	wx apply four
	does 29 "nor applied" is "$rc" 125
	tell "$tmp/sync/go"
	ends
	does 25 "a lock of the user's index does not matter, and is left alone" is "$rc $(its subject) $(ls "$gitdir/index.lock")" "0 late $gitdir/index.lock"
	rm "$gitdir/index.lock"
	"$wrapix" discard --yes four >/dev/null 2>&1
}

# --- in both ---
views() { # views NAME: leaves $view, the options for a session of that name
	view=
	[ "$mode" = direct ] || view="--workspace cow --name $1"
}
attack_host() {
	chmod -R u+rwx "$state" 2>/dev/null
	rm -rf "${base:?}" "$state" && cp -a "$base.was" "$base" && cd "$base/$in" || exit 1
}
attack_plant() {
	timeout 60 "$wrapix" run --network none $view -- sh -c "session() { git \"\$@\"; }; $attack_tools
cd \"\$(git rev-parse --absolute-git-dir)\"; $1" >"$tmp/log/out" 2>"$tmp/log/err" </dev/null
	[ $? -lt 124 ]
}
# Each cell does its share of them, and all of them with the word.
attack() {
	n_attacks=$((n_attacks + 1))
	case $deep$((n_attacks % 12 - n_cells * 2 % 12)) in all* | 0) does 15 "$1" attack_unharmed "$2" ;; esac
}
attacked() {
	base=$tmp/attacked
	rm -rf "$base" "$base.was" "$tmp/secret"
	lay "$layout" "$base/p" "$tmp/lib"
	in=${PWD#"$base/"}
	attack_begin "$PWD"
	cp -a "$base" "$base.was"
	views attack
	attack_beside=refs/wrapix
	[ "$mode" = cow ] || attack_beside=
	n_attacks=0
	attack_host && attack_plant plain
	does 15 "control: a harmless commit is published" is "$(git for-each-ref --format='%(subject)' refs/heads/evil 'refs/wrapix/*/heads/evil')" evil
	attacks
	attack_host
}
kinds() { # shallow, blobless and sparse at once; other names of objects
	for kind in partial sha256; do
		case $kind in
		partial) lay "$layout" "$tmp/p$n_cells.$kind" "$tmp/lib" --depth 1 --filter=blob:none --sparse && git sparse-checkout set in ;;
		sha256) lay "$layout" "$tmp/p$n_cells.$kind" "$tmp/sha" ;;
		esac
		was=$(git rev-parse HEAD) branch=$(git symbolic-ref --short HEAD)
		views "$kind"
		inside 'echo x >>in/i && git commit -q -am kind && git status --porcelain' $view
		if [ "$mode" = direct ]; then
			does 9 "$kind" is "$rc $(cat "$out")$(git log -1 --format=%s) $(git status --porcelain) $(git fsck --strict 2>&1)" "0 kind  "
		else
			does 9 "$kind" is "$rc $(cat "$out")$(its subject) $(git rev-parse HEAD) $(git status --porcelain)" "0 kind $was "
			"$wrapix" discard --yes "$kind" >/dev/null 2>&1
		fi
	done
}

one_cell() {
	rm -rf "$tmp/remote" && lay "$layout" "$tmp/p$n_cells" "$tmp/lib" && furnish
	views one
	start "$first" $view
	hear "$tmp/sync/tell"
	"$mode"
	ends
	"${mode}_after"
	forget
	views two
	inside "$second" $view
	"${mode}_second"
	forget
	git checkout -q "$branch" # a rebase that waits leaves the project where it stands
	views three
	start "rounds=$rounds branch=$branch commits=$commits; $third" $view
	(
		(hear "$tmp/sync/tell")
		: >"$tmp/told"
	) &
	until [ -n "$(planted 2>/dev/null)" ] || [ -e "$tmp/told" ]; do sleep 0.01; done
	does 16 "no name that git obeys comes by a race" is "$(planted 2>/dev/null)" ""
	await rm "$tmp/told"
	tell "$tmp/sync/go"
	outside
	failed=$?
	ends
	does 16 "and the calls work" is "$(cat "$out")" some
	"${mode}_third"
	forget
	"${mode}_busy"
	does 22 "killed $kills times, nothing is lost or locked" timeout 200 python3 "$top/tests/lib/git_kills.py" "$wrapix" "${GIT_SEED:-4711}" "$kills" "$(echo "$mode" | sed s/direct/run/)"
	[ "$mode" = direct ] || "$wrapix" discard --yes killed >/dev/null 2>&1
	kinds
	attacked
}

# 'git_everywhere.sh all' does more of what takes long, and takes minutes; with a cell's name as second word it does that one.
deep='' rounds=40 commits=5 kills=2 steps='3 150'
[ "${1-}" != all ] || deep=all rounds=400 commits=40 kills=${GIT_KILLS:-16} steps=$(seq 0 7 2000)
only=${2-}
n_cells=0
for cell in $cells; do
	n_cells=$((n_cells + 1)) layout=${cell%,*} mode=${cell#*,}
	case ,$only, in ,, | *",$cell,"*) ;; *) continue ;; esac
	one_cell
	check "$(echo "$cell" | sed 's/,/, /'): each of the thirty was done, or the table says why not" cell_is_full git_everywhere "$cell"
done

# --- controls: on a plain mount the same session leaves what it should not ---
rm -rf "$tmp/remote"
lay plain "$tmp/control" "$tmp/lib" && furnish
inside "$second" --git direct
check "control: on a plain mount a rebase, a program, a repository's keys and a file that runs later are the host's" is "$(ls -d .git/rebase*) $(git -C b config core.pager) $(git -C fixture.git config core.pager) $(cat .vscode/tasks.json)" '.git/rebase-merge touch /tmp/ran touch /tmp/ran {"run": 1}'
finish
