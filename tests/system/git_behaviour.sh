#!/bin/sh
# SPDX-License-Identifier: MIT
# Safe git and copy-on-write sessions are to do thirty things. Which test has each of them:
#
#	 1 commands inside            git_private.sh (plain, worktree, apart), here: submodule, and all three copy-on-write
#	 2 keys, allowed and held     git_private.sh, git_attacks.sh          3 seen while it runs    git_private.sh
#	 4 what is staged             git_private.sh (index, status)          5 stash                 git_private.sh, git_crash.sh
#	 6 submodules                 git_private.sh, git_layouts.sh          7 worktree add          git_layouts.sh
#	 8 LFS                        git_layouts.sh                          9 shallow, blobless, sparse, sha256   git_private.sh, git_layouts.sh, git_gate.sh
#	10 the user's hooks           git_private.sh; never by us: git_attacks.sh   11 fetch, push     here
#	12, 13 the matrix             git_matrix.sh (all: each layout, and copy-on-write)
#	14 a rebase with exec         git_layouts.sh                         15 attacks on publishing git_attacks.sh
#	16 races of a path            tests/broker                           17 repositories below   git_gate.sh
#	18 a storm of signals         here                                   19 bare ones            git_gate.sh
#	20 namespaces inside          git_gate.sh, nested.sh                 21 files that run later protect.sh
#	22 kill -9                    git_crash.sh                           23 forty and forty      git_crash.sh, git_random.sh
#	24 the user's commit inside   git_private.sh                         25 index.lock           here
#	26 diff and apply             cow.sh                                 27 conflicts            cow.sh
#	28 killed at every step       cow_crash.sh                           29 several sessions     cow.sh
#	30 directories that move      cow.sh; npm and make: programs.sh; times: bench/run --only git-status
#
# In every layout (plain, linked work tree, submodule), in the project and copy-on-write: 1 to 11, 14, 17 to 21, 24 and 26, 27, 29, 30 by
# 'git_everywhere.sh all' (CI: a work tree copy-on-write, and a submodule), with a control; 12 and 13 by 'git_matrix.sh all'. Not so, because there is no difference:
#	15, 22, 23  publishing reads one private git directory and writes one repository, whatever lies around them
#	16, 18      the broker knows names, not layouts; copy-on-write has no broker in the project
#	24, 25      a copy-on-write session sees no commit of the user's, and writes no index
#	26 to 30    are copy-on-write; what is killed at every step (28) is a journal of files
#
# Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/git.sh"

# --- 1: the commands, each of which fails loudly ---
commands='set -e
	git checkout -q -B work; echo x >>file; git add file; git commit -q -m inside
	git checkout -q -b topic; echo t >topic; git add topic; git commit -q -m topic
	git checkout -q work; echo m >other; git add other; git commit -q -m other; git merge -q --no-edit topic
	git checkout -q -b pick work~1; git cherry-pick topic >/dev/null; git revert --no-edit HEAD >/dev/null; git rebase -q work; git checkout -q work
	git tag light; git tag -a -m note heavy; git branch -m topic subject
	echo s >>file; git stash -q; git stash pop -q; git stash -q; git stash drop -q; git reset -q --hard
	git bisect start HEAD HEAD~2 >/dev/null; git bisect reset >/dev/null 2>&1
	git config user.name Inside; git gc -q --prune=now; git fsck >/dev/null 2>&1; git log --format=%s -1; git status --porcelain'
new_repo "$tmp/plain" && new_repo "$tmp/repo" && git -C "$tmp/repo" worktree add -q -b side "$tmp/worktree" && new_repo "$tmp/super" &&
	git -C "$tmp/super" submodule --quiet add "$tmp/plain" sub && git -C "$tmp/super" commit -q -m sub && git -C "$tmp/super/sub" checkout -q -B main || exit 1
merged="Merge branch 'topic' into work"
for layout in plain worktree super/sub; do
	cd "$tmp/$layout" || exit 1
	was=$(git rev-parse HEAD main 2>/dev/null; git status --porcelain; git for-each-ref refs/heads refs/tags)
	private "$commands" --workspace cow
	check "$layout, copy-on-write: every command works" is "$rc $(cat "$out")" "0 $merged"
	check "... the repository is as it was" is "$(git rev-parse HEAD main 2>/dev/null; git status --porcelain; git for-each-ref refs/heads refs/tags)" "$was"
	check "... and its commits stand beside" is "$(git for-each-ref --format='%(subject)' 'refs/wrapix/*/heads/work')" "$merged"
	"$wrapix" discard --yes >/dev/null 2>&1
	check "... until it is discarded" is "$(git for-each-ref refs/wrapix)" ""
done
private "$commands"
check "submodule: every command works" is "$rc $(cat "$out")" "0 $merged"
check "... and shows outside" is "$(git log -1 --format=%s work) $(git tag | xargs) $(git config user.name) $(git status --porcelain)" "$merged heavy light Inside "

# --- 11: what a remote has is the session's to know ---
git clone -q --bare "$tmp/plain" "$tmp/remote.git" && git clone -q "$tmp/remote.git" "$tmp/clone" && new_repo "$tmp/else" && cd "$tmp/clone" || exit 1
git -C "$tmp/plain" commit -q --allow-empty -m newer && git -C "$tmp/plain" push -q "$tmp/remote.git" HEAD:refs/heads/newer || exit 1
remotes=$(git for-each-ref refs/remotes)
private 'git remote add in file:///remote.git; git fetch -q in; git log -1 --format=%s in/newer; git commit -q --allow-empty -m pushed; git push -q in HEAD:pushed; git branch -r | grep -c "^ *in/"' --mount "$tmp/remote.git:/remote.git:rw"
check "fetch and push inside" is "$rc $(cat "$out") $(git -C "$tmp/remote.git" log -1 --format=%s pushed)" "0 newer
3 pushed"
check "... refs/remotes outside are as they were, and the remote is held" is "$(git for-each-ref refs/remotes) $(git remote)" "$remotes origin"

# --- 18: names are made once, whatever signals come ---
cat >"$tmp/plain/storm.py" <<'END'
import os, signal, sys
signal.signal(signal.SIGURG, lambda *_: None)
signal.siginterrupt(signal.SIGURG, False) # as Go has it; without, the kernel answers EINTR before we are asked
us, bad, n = os.getpid(), [], 0
storm = os.fork()
if storm == 0:
    while os.getppid() == us:
        os.kill(us, signal.SIGURG)
    os._exit(0)
for i in range(int(sys.argv[1])):
    for name, make in (("d", os.mkdir), ("f", lambda path: os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))), ("g", lambda path: os.symlink("x", path))):
        try:
            make(f"storm/{name}{i}")
            n += 1
        except OSError as error:
            bad.append(error)
os.kill(storm, signal.SIGKILL)
print(n, bad[:3])
END
cd "$tmp/plain" || exit 1
private 'mkdir storm && python3 storm.py 300'
check "under a storm of signals no name is refused or made twice" is "$rc $(cat "$out") $(find storm -mindepth 1 | wc -l)" "0 900 [] 900"
rm -rf storm storm.py

# --- 25: the user's git is busy ---
mkfifo go && echo /go >>.git/info/exclude || exit 1
"$wrapix" run --network none -- sh -c 'read -r x <go; echo staged >staged; git add staged' >/dev/null 2>"$tmp/log/busy" </dev/null &
started=$!
: >.git/index.lock
echo >go
wait "$started"
started=
check "while the user's git has the index for long, nothing is taken over, which is said" is "$(git diff --cached --name-only; grep -c 'could not be taken over' "$tmp/log/busy")" 1
check "... and the lock is left alone" test -e .git/index.lock
rm .git/index.lock
wx git status
check "... the next command does it" is "$rc $(git diff --cached --name-only)" "0 staged"
(: >.git/index.lock; sleep 1; rm .git/index.lock) &
private 'echo second >second; git add second; git commit -q -m second'
wait
check "a lock of a second is waited for" is "$rc $(git log -1 --format=%s) $(git status --porcelain -uno)" "0 second "
finish
