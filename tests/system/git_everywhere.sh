#!/bin/sh
# SPDX-License-Identifier: MIT
# git_everywhere.sh [all]: behaviours of git_behaviour.sh's list in a plain repository, a linked work tree and a submodule, each in
# the project itself and copy-on-write. A session does several of them; the numbers are the list's. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
command -v git >/dev/null || bail "git is not installed"
command -v git-lfs >/dev/null || bail "git-lfs is not installed"
set_up
cat >"$home/.gitconfig" <<'END'
[user]
	name = Somebody
	email = somebody@example.org
[init]
	defaultBranch = main
[protocol "file"]
	allow = always
END
new_repo() { # new_repo DIR [OPTION...]: with a commit
	repo_dir=$1
	shift
	git init -q "$@" "$repo_dir" && (cd "$repo_dir" && mkdir in dir out && echo start | tee file in/i dir/d >out/o && git add . && git commit -q -m start)
}
held() { "$wrapix" git status --json | jq -r '.[].id' | while read -r id; do "$wrapix" git held "$id" 2>/dev/null; done | grep -v '^ ' | cut -d' ' -f1 | sort | xargs; }
forget() { "$wrapix" git status --json | jq -r '.[].id' | while read -r id; do "$wrapix" git drop "$id" >/dev/null; done; }
new_repo "$tmp/lib" && new_repo "$tmp/sha" --object-format=sha256 && git -C "$tmp/lib" config uploadpack.allowFilter true || exit 1
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
	git commit -q --allow-empty -m live; echo 1 >/sync/tell; read -r x </sync/go; i=0; while [ "$x" != "$(git log -1 --format=%s)" ] && [ $i -lt 400 ]; do i=$((i + 1)); sleep 0.05; done; [ $i -lt 400 ]; say 24 ok
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

direct() { # what the host has of the first session while it runs, and of both
	seen() { [ "$(git log -1 --format=%s)" = live ]; }
	check "$1: 3 a commit is there while the session runs" await seen
	git commit -q --allow-empty -m theirs --no-verify
}
direct_after() {
	check "$1: 1 to 11 work inside" is "$rc $(tr '\n' ' ' <"$out")" "0 24 ok 1 ok $sum   11 ok 7 moved 1 "
	check "$1: 2 an allowed key is there, another is held" is "$(git config user.name),$(git config core.fsmonitor),$(held | tr ' ' '\n' | grep -c '^config:core.fsmonitor')" "Inside,,1"
	check "$1: 3, 24 the commits are there, the user's among them" is "$(git log -1 --format=%s) $(git log --format=%s | grep -c -x -e live -e theirs)" "moved 2"
	check "$1: 4 what is staged is staged" is "$(git diff --cached --name-only) $(git status --porcelain -uno | xargs)" "staged A staged"
	check "$1: 5 the stash is there" is "$(git stash list | wc -l)" 1
	check "$1: 6 submodules are, and have no hooks" is "$(git -C mods/lib log -1 --format=%s),$(git submodule status | cut -c1),$(ls "$(git -C mods/lib rev-parse --absolute-git-dir)/hooks" 2>/dev/null)" "in it, ,"
	check "$1: 7 so are work trees, by a relative path" is "$(git -C trees/wt log -1 --format=%s) $(cut -c1-11 trees/wt/.git)" "wt gitdir: ../"
	check "$1: 8 and large files" is "$(git lfs fsck) $(git lfs ls-files | wc -l)" "Git LFS fsck OK 2"
	check "$1: 10 the user's hook did not run on the host" test ! -e "$gitdir/ran"
	check "$1: 11 refs/remotes are as they were; the remote has what was pushed" is "$(git for-each-ref refs/remotes; git -C "$tmp/remote" log -1 --format=%s pushed)" "$remotes
bumped"
	check "$1: the repository is sound" git fsck --strict
}
direct_second() {
	check "$1: 14, 17 to 21 inside" is "$(tr '\n' ' ' <"$out")" '1 a {"run": 1} 200 2 '
	check "$1: 14 no rebase, no program of it" is "$(ls -d "$gitdir"/rebase* 2>/dev/null; held | tr ' ' '\n' | grep -x state:rebase; ls /tmp/ran 2>/dev/null)" state:rebase
	check "$1: 17 the repository that was made is clean" is "$(git -C b log -1 --format=%s),$(git -C b config core.pager),$(ls b/.git/hooks/post-commit 2>/dev/null)" "a,,"
	check "$1: 19 one among the files is as it was" is "$(git -C fixture.git config core.pager)" ""
	check "$1: 21 a file that runs later is held, and accepted by a word" is "$(cat .vscode/tasks.json; "$wrapix" git accept .vscode >/dev/null; cat .vscode/tasks.json)" '{}
{"run": 1}'
}
cow() {
	check "$1: 3 while the session runs nothing of the user's changes" is "$(git rev-parse HEAD; git status --porcelain)" "$was"
}
cow_after() {
	check "$1: 1 to 11, 30 work inside" is "$rc $(tr '\n' ' ' <"$out")" "0 24 ok 1 ok $sum   11 ok 7 moved 1 "
	check "$1: 2 to 8, 10 the repository is as it was" is "$(git rev-parse HEAD; git status --porcelain; git stash list; git config --local --get-regexp 'user.name|core.fsmonitor'; git for-each-ref refs/heads/topic refs/tags; ls -d "$gitdir/ran" mods trees 2>/dev/null)" "$was"
	check "$1: 3 commits stand beside" is "$(git for-each-ref --format='%(subject)' "refs/wrapix/*/heads/$branch")" moved
	check "$1: 11 refs/remotes are as they were" is "$(git for-each-ref refs/remotes)" "$remotes"
	check "$1: 26 the difference is exact" is "$("$wrapix" diff --name-only one | grep -v -e '^mods' -e '^trees' | xargs)" ".gitmodules moved/d new.bin other staged topic"
	echo ours >>topic 2>/dev/null
	"$wrapix" apply --yes one >"$out" 2>&1
	check "$1: 27 apply leaves what the user changed, and names it" is "$?,$(cat topic),$(grep -c '^topic: conflict' "$out")" "1,ours,1"
	check "$1: 26 the rest is in the project, and .git as it was" is "$(cat moved/d other staged | xargs) $(ls -d dir 2>/dev/null) $(git rev-parse HEAD) $("$wrapix" diff --name-only one | xargs)" "start o staged  $was topic"
}
cow_second() {
	check "$1: 14, 17 to 20 inside" is "$(tr '\n' ' ' <"$out" | cut -c1-23)" '1 a {"run": 1} 200 2 '
	check "$1: 17, 19, 21 nothing of it is in the project" is "$(ls -d b storm 2>/dev/null; git -C fixture.git config core.pager; cat .vscode/tasks.json)" '{}'
	"$wrapix" apply two <"/dev/null" >"$out" 2>&1
	check "$1: 29 a second session is applied as well; 17, 19, 21 without what is obeyed" is "$(find storm -mindepth 1 | wc -l) $(git -C fixture.git config core.pager) $(cat .vscode/tasks.json) $(find b -mindepth 1 2>/dev/null | wc -l) $(grep -c 'not taken over' "$out")" "200  {} 0 1"
	"$wrapix" undo two >/dev/null
	check "$1: 28 and taken back" is "$(ls -d storm 2>/dev/null) $(cat moved/d)" " start"
	"$wrapix" discard --yes one >/dev/null 2>&1
	"$wrapix" discard --yes two >/dev/null 2>&1
	check "$1: 29 and discarded" is "$(git for-each-ref refs/wrapix)" ""
}

# Two of them have all the parts; 'git_everywhere.sh all' is minutes.
chosen=" worktree,cow submodule,direct "
[ "${1-}" != all ] || chosen=" plain,direct plain,cow worktree,direct worktree,cow submodule,direct submodule,cow "
n=0
for layout in plain worktree submodule; do
	for mode in direct cow; do
		case $chosen in *" $layout,$mode "*) ;; *) continue ;; esac
		n=$((n + 1))
		name="$layout, $mode"
		rm -rf "$tmp/remote" || exit 1
		lay "$layout" "$tmp/p$n" "$tmp/lib" && furnish
		set --
		[ "$mode" = direct ] || set -- --workspace cow --name one
		"$wrapix" run --network none --mount "$tmp/sync:/sync:rw" --mount "$tmp/lib:/library:ro" --mount "$tmp/remote:/remote:rw" "$@" -- sh -c "$first" >"$out" 2>"$err" </dev/null &
		started=$!
		hear "$tmp/sync/tell"
		"$mode" "$name"
		if [ "$mode" = direct ]; then echo theirs; else echo live; fi >"$tmp/sync/go"
		wait "$started"
		rc=$?
		"${mode}_after" "$name"
		forget
		[ "$mode" = direct ] || set -- --workspace cow --name two
		inside "$second" "$@"
		"${mode}_second" "$name"
		forget
		for kind in partial sha256; do
			case $kind in
			partial) lay "$layout" "$tmp/p$n.$kind" "$tmp/lib" --depth 1 --filter=blob:none --sparse && git sparse-checkout set in ;;
			sha256) lay "$layout" "$tmp/p$n.$kind" "$tmp/sha" ;;
			esac
			was=$(git rev-parse HEAD) branch=$(git symbolic-ref --short HEAD)
			[ "$mode" = direct ] || set -- --workspace cow --name three
			inside 'echo x >>in/i && git commit -q -am kind && git status --porcelain' "$@"
			if [ "$mode" = direct ]; then
				check "$name: 9 $kind" is "$rc $(cat "$out")$(git log -1 --format=%s) $(git status --porcelain) $(git fsck --strict 2>&1)" "0 kind  "
			else
				check "$name: 9 $kind" is "$rc $(cat "$out")$(git for-each-ref --format='%(subject)' "refs/wrapix/*/heads/$branch") $(git rev-parse HEAD) $(git status --porcelain)" "0 kind $was "
				"$wrapix" discard --yes three >/dev/null 2>&1
			fi
		done
	done
done

# --- controls: on a plain mount the same session leaves what it should not ---
rm -rf "$tmp/remote"
lay plain "$tmp/control" "$tmp/lib" && furnish
inside "$second" --git direct
check "control: on a plain mount a rebase, a program, a repository's keys and a file that runs later are the host's" is "$(ls -d .git/rebase*) $(git -C b config core.pager) $(git -C fixture.git config core.pager) $(cat .vscode/tasks.json)" '.git/rebase-merge touch /tmp/ran touch /tmp/ran {"run": 1}'
finish
