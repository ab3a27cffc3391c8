#!/bin/sh
# SPDX-License-Identifier: MIT
# What a session did in git, and a publisher that is killed: before each of its steps, and a hundred times at random;
# and both sides that commit at once. Nothing is lost. Prints TAP.
#
# shellcheck disable=SC1091,SC2012,SC2015,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
kept="GIT_DRIVER GIT_KILLS GIT_SEED"
be_user "$@"
driver=${GIT_DRIVER:-$top/build/tests/system/git_driver}
set_up
. "$top/tests/lib/git.sh"
repo=$tmp/repo
states=$home/.local/state

# session COMMAND...: git as the session has it, in its private directory
session() {
	GIT_AUTHOR_DATE='1000000000 +0000' GIT_COMMITTER_DATE='1000000000 +0000' GIT_DIR=$states/wrapix/gitdirs/s1/0 GIT_WORK_TREE=$repo GIT_ALTERNATE_OBJECT_DIRECTORIES=$repo/.git/objects git "$@" 2>>"$tmp/log/session"
}
seen() { # what the host has
	(cd "$repo" && git for-each-ref --format='%(refname) %(objectname)' refs/heads refs/tags; cat .git/HEAD; git ls-files -s
		git stash list --format='%H %gs'; git config --local -l | sort; cat .git/MERGE_HEAD 2>/dev/null)
}
no_litter() { is "$(find "$repo/.git" -name '*.lock' -o -name 'wrapix-*' -o -name 'tmp_obj_wrapix*')" ""; }
repair() { (cd "$repo" && "$wrapix" git status >"$tmp/log/out" 2>"$tmp/log/err"); }

# --- killed before each step ---
git init -q "$repo" && cd "$repo" && echo start >file && git add . && git commit -q -m start && git branch old && git branch rewritten && echo s >>file && git stash -q || exit 1
"$driver" "$states" s1 prepare "$repo" || bail "no private git directory"
session checkout -q rewritten && session commit -q --amend -m again && session checkout -q main && echo one >one && session add one && session commit -q -m one &&
	session tag t && session branch new && session stash drop -q && echo two >>file && session stash -q && session config user.name Inside &&
	session config core.editor evil && session checkout -q -b conflict && echo x >file && session commit -q -am x && session checkout -q main && echo y >file &&
	session commit -q -am y
session merge conflict >/dev/null
echo staged >staged
session add staged
cd "$tmp" && mkdir before && cp -a repo home/.local before || exit 1
restore() { put_back; }
restore
"$driver" "$states" s1 publish || bail "it cannot be published"
seen >"$tmp/want"
check "it is published: commits, tag, stash, key, merge, index" is "$(grep -c 'refs/\|staged\|user.name=Inside' "$tmp/want") $(tail -n 1 "$tmp/want")" "9 $(git -C "$repo" rev-parse conflict)"
every_step() {
	step=0
	while :; do
		restore
		"$driver" "$states" s1 publish "$step" >"$tmp/log/step" 2>"$tmp/log/err"
		rc=$?
		[ "$rc" = 99 ] || break
		[ "$(cat "$tmp/log/step")" != base ] || unnoted=$step
		repair || { echo "before step $step ($(cat "$tmp/log/step")):"; cat "$tmp/log/err"; return 1; }
		seen | diff "$tmp/want" - || { echo "killed before step $step ($(cat "$tmp/log/step"))"; return 1; }
		no_litter || return 1
		git -C "$repo" fsck --strict >"$tmp/log/fsck" 2>&1 || { cat "$tmp/log/fsck"; return 1; }
		git -C "$repo" rev-parse -q --verify refs/wrapix/s1/was/heads/rewritten >/dev/null || { echo "step $step: what was rewritten is lost"; return 1; }
		step=$((step + 1))
	done
	echo "# $step steps" >&2
	[ "$rc" = 0 ] && [ "$step" -gt 20 ] || { echo "$rc after $step steps"; cat "$tmp/log/err"; return 1; }
}
check "killed before each step, the next command in the project does the rest" every_step

# --- killed when all is written but not noted, and the session goes on, and again before each step ---
go_on() {
	restore
	"$driver" "$states" s1 publish "$unnoted" >/dev/null 2>&1
	session commit -q --no-edit -a && session checkout -q -b later && session commit -q --allow-empty -m later && session stash drop -q && session branch -D new >/dev/null
}
held() { (cd "$repo" && "$wrapix" git held --json 2>&1); }
twice() {
	go_on && repair || return 1
	seen >"$tmp/want2"
	held >"$tmp/held2"
	grep -q "ref: refs/heads/later" "$tmp/want2" && ! grep -q 'both sides' "$tmp/held2" || { cat "$tmp/want2" "$tmp/held2"; return 1; }
	step=0
	while :; do
		go_on || return 1
		"$driver" "$states" s1 publish "$step" >"$tmp/log/step" 2>"$tmp/log/err"
		rc=$?
		[ "$rc" = 99 ] || break
		repair && seen | diff "$tmp/want2" - && held | diff "$tmp/held2" - && no_litter || { echo "killed again before step $step ($(cat "$tmp/log/step"))"; return 1; }
		step=$((step + 1))
	done
	echo "# $step steps" >&2
	[ "$rc" = 0 ] && [ "$step" -gt 10 ]
}
check "... and killed again in the next round: what we wrote is not taken for the user's" twice

# --- killed at random ---
seed=${GIT_SEED:-4711}
kills=${GIT_KILLS:-100}
echo "# GIT_SEED=$seed, $kills kills"
cat >"$tmp/kills.py" <<'EOF'
import os, random, re, signal, subprocess, sys, time
driver, states, repo, wrapix, seed, kills = sys.argv[1:7]
rand, kills = random.Random(int(seed)), int(kills)
private = f"{states}/wrapix/gitdirs/s1/0"
inner = dict(os.environ, GIT_DIR=private, GIT_WORK_TREE=repo, GIT_ALTERNATE_OBJECT_DIRECTORIES=f"{repo}/.git/objects")

def git(env, *words):
    r = subprocess.run(["git", *words], cwd=repo, env=env, capture_output=True, text=True)
    if r.returncode:
        sys.exit(f"git {words}: {r.stderr}")
    return r.stdout.strip()

made, killed, within = set(), 0, 0.06  # seconds; fewer where it is done in less
for i in range(kills):
    with open(f"{repo}/f{i % 7}", "w") as f:
        f.write(f"{i}\n")
    git(inner, "add", f"f{i % 7}")
    git(inner, "commit", "-q", "--allow-empty", "-m", f"inside {i}")
    made.add(git(inner, "rev-parse", "HEAD"))
    if i % 5 == 0:
        git(inner, "branch", f"b{i}")
    if i % 11 == 0:
        made.add(git(None, "commit-tree", "-m", f"host {i}", "HEAD^{tree}"))
        git(None, "branch", f"h{i}", git(None, "rev-parse", "HEAD"))
    child = subprocess.Popen([driver, states, "s1", "publish"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(rand.random() * within)
    if child.poll() is None:
        child.send_signal(signal.SIGKILL)
    ended = child.wait() >= 0
    killed += not ended
    within = within / 2 if ended else min(within * 1.2, 0.06)
said = subprocess.run([wrapix, "git", "status"], cwd=repo, check=True, capture_output=True, text=True).stdout
print(f"# killed {killed} times", file=sys.stderr)
reachable = set(git(None, "rev-list", "--all").split())
lost = [c for c in made if c not in reachable and git(None, "log", "-1", "--format=%s", c).startswith("inside")]
locks = [n for _, _, names in os.walk(f"{repo}/.git") for n in names if n.endswith(".lock") or n.startswith("wrapix-")]
branches = git(None, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()
status = git(None, "status", "--porcelain")
missing = [b for b in [f"b{i}" for i in range(0, kills, 5)] + [f"h{i}" for i in range(0, kills, 11)] if b not in branches]
assert killed > kills / 3, f"only {killed} of {kills} were killed"
assert not lost and not locks and not missing, (lost, locks, missing)
# Nobody else changed the session's branch: the host's tree is as the session left it, and nothing is held.
assert not status and not re.search("[1-9] held", said), (status, said)
EOF
restore
rm -rf "$repo" "$home/.local"
git init -q "$repo" && cd "$repo" && echo start >file && git add . && git commit -q -m start || exit 1
"$driver" "$states" s1 prepare "$repo"
check "killed $kills times at random, nothing is lost, nothing is locked" python3 "$tmp/kills.py" "$driver" "$states" "$repo" "$wrapix" "$seed" "$kills"
check "... fsck" git fsck --strict

# --- back and forth: what was about to be written once says nothing about later ---
rm -rf "$repo" "$home/.local"
git init -q "$repo" && cd "$repo" && echo start >file && git add . && git commit -q -m start && "$driver" "$states" s1 prepare "$repo" && session commit -q --allow-empty -m inside || exit 1
main_of() { "$driver" "$states" s1 publish && echo "$(git rev-parse main) $(session rev-parse main)"; }
old=$(git rev-parse main) new=$(session rev-parse main)
check "a commit of the session's comes" is "$(main_of)" "$new $new"
check "... the user takes it back" is "$(git reset -q --hard "$old" && main_of)" "$old $old"
check "... and takes it again" is "$(git reset -q --hard "$new" && main_of)" "$new $new"

# --- one side goes on from what it just got, before the round is at its end: that was agreed on, and nobody diverges ---
session commit -q --allow-empty -m more
"$driver" "$states" s1 publish refs "git commit -q --allow-empty -m mine"
check "a commit of the user's on one that just came" is "$? $(main_of) $(git log -2 --format=%s | xargs)" "0 $(git rev-parse main main | xargs) mine more"
git commit -q --allow-empty -m yours
"$driver" "$states" s1 publish refs-in "GIT_DIR='$states/wrapix/gitdirs/s1/0' GIT_WORK_TREE='$repo' GIT_ALTERNATE_OBJECT_DIRECTORIES='$repo/.git/objects' git commit -q --allow-empty -m ours"
check "... and one of the session's on the user's" is "$? $(main_of) $(git log -2 --format=%s | xargs)" "0 $(git rev-parse main main | xargs) ours yours"
check "... nothing is kept apart" is "$(git for-each-ref refs/wrapix)" ""

# --- the user commits without a branch in the moment before the session's checkout comes ---
rm -rf "$repo" "$home/.local"
git init -q "$repo" && cd "$repo" && echo start >file && git add . && git commit -q -m start && git checkout -q --detach && "$driver" "$states" s1 prepare "$repo" && session checkout -q main || exit 1
"$driver" "$states" s1 publish head "git commit -q --allow-empty -m mine"
check "the user's commit without a branch stays in reach when HEAD moves" is "$? $(git symbolic-ref HEAD) $(git log -1 --format=%s refs/wrapix/s1/was/HEAD)" "0 refs/heads/main mine"
git checkout -q --detach && "$driver" "$states" s1 publish && session checkout -q main && "$driver" "$states" s1 publish
check "... and nothing is kept where there was none" is "$(git symbolic-ref HEAD) $(git for-each-ref refs/wrapix | wc -l)" "refs/heads/main 1"

# --- forty commits inside and forty outside, on one branch ---
rm -rf "$repo" "$home/.local"
git init -q "$repo" && cd "$repo" && echo start >file && git add . && git commit -q -m start && mkfifo go && echo /go >.git/info/exclude || exit 1
# As between any two: git refuses who was overtaken between the look at the branch and its change, and who commits does it again.
commits='i=0
while [ $i -lt 40 ]; do
	until git commit -q --allow-empty -m "$1 $i" 2>"$2"; do grep -q "cannot lock ref" "$2" || exit 1; done
	i=$((i + 1))
done'
"$wrapix" run --git private --network none -- sh -c "read -r x <go; set -- inside /tmp/err; $commits" >"$tmp/log/out" 2>"$tmp/log/err" </dev/null &
started=$!
tell go
sh -c "$commits" sh outside "$tmp/log/commit"
failed=$?
wait "$started"
rc=$?
started=
check "40 commits inside and 40 outside are made" is "$rc $failed" "0 0"
check "... and each of the 80 is in reach" is "$(git log --all --format=%s | sort -u | grep -c 'side')" 80
check "... the branch has all of the user's" is "$(git log main --format=%s | grep -c outside)" 40
check "... fsck, no lock, no change" is "$(git fsck --strict 2>&1 | grep -v dangling) $(git status --porcelain) $(find .git -name '*.lock')" "  "
finish
