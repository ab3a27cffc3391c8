#!/bin/sh
# SPDX-License-Identifier: MIT
# Real tools under wrapix exec, where every change of a file is made by the broker: editors' ways of saving, archives,
# builds, databases, sockets, and git in its shapes with what it must not write. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
for tool in git gcc make python3 tar; do
	command -v "$tool" >/dev/null || bail "$tool is not installed"
done
set_up
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org

inside() { # inside SCRIPT: in the working directory; leaves $rc, $out and $err
	out=$tmp/log/out err=$tmp/log/err
	rm -f "$tmp/log/why"
	timeout --foreground -s KILL 60 "$wrapix" exec -- sh -ec "$1" >"$out" 2>"$err" </dev/null
	rc=$?
}
can() { inside "$1"; is "$rc" 0; }
cannot() { inside "$1"; isnt "$rc" 0 && has "$err" "Permission denied"; }

# --- tools ---

check "sed -i" can 'echo one >f; sed -i s/one/two/ f; grep -q two f'
check "cp -a, mv, rm -r" can 'mkdir -p a/b; ln -s b a/l; cp -a a c; mv c d; test -L d/l; rm -r d'
check "install" can 'install -D -m 755 f bin/f; test -x bin/f'
check "tar" can 'tar cf t.tar a f; mkdir un; tar xpf t.tar -C un; cmp f un/f'
check "touch, truncate, chmod" can 'touch -d "2001-02-03 04:05:06 UTC" f; truncate -s 9 f; chmod 640 f'
check "... and it was done" is "$(stat -c '%s %a' f)" "9 640"
check "the caller's umask" can '(umask 077; echo x >private); test "$(stat -c %a private)" = 600'
check "a lock file and a descriptor that is kept" can 'exec 9>lock; flock 9; echo x >&9; echo y >/proc/self/fd/9; echo z >/dev/null'
check "a fifo" can 'mkfifo ff; (echo through >ff) & test "$(cat ff)" = through'
check "make and gcc" can 'echo "int main(void) { return 0; }" >m.c; printf "m: m.o\n\tgcc -o m m.o\n" >Makefile; make -s; ./m'
check "python: temporary files, sqlite, a virtual environment" can '
	python3 -c "import tempfile, os, sqlite3
with tempfile.NamedTemporaryFile(dir=\".\") as f: os.fchmod(f.fileno(), 0o600)
os.rename(tempfile.mkdtemp(dir=\".\"), \"made\")
db = sqlite3.connect(\"x.db\"); db.execute(\"pragma journal_mode=wal\"); db.execute(\"create table t(a)\"); db.commit()"
	python3 -m venv --without-pip venv; ./venv/bin/python -c pass'
check "a socket of its own" can 'python3 -c "import socket
s = socket.socket(socket.AF_UNIX); s.bind(\"s\"); s.listen(); c = socket.socket(socket.AF_UNIX); c.connect(\"s\")"'
check "standard output as a file" can 'echo x >/dev/stdout'
printf 'given\n' >"$tmp/given"
chmod 644 "$tmp/given"
"$wrapix" exec -- sh -c 'chmod 777 /dev/stdin; cat' <"$tmp/given" >"$tmp/log/out" 2>&1
check "a file as standard input can be read" has "$tmp/log/out" given
check "... and is not changed" is "$(stat -c %a "$tmp/given")" 644
"$wrapix" exec -- python3 -c 'import os
for flags in os.O_TRUNC, os.O_TRUNC | os.O_CREAT:
	try: os.open("/dev/stdin", os.O_RDONLY | flags)
	except OSError as e: print(e.strerror)
try: os.truncate("/dev/stdin", 0)
except OSError as e: print(e.strerror)' <"$tmp/given" >"$tmp/log/out" 2>&1
check "... nor cut off by who only reads it" is "$(cat "$tmp/log/out" "$tmp/given")" "$(printf 'Read-only file system\n%.0s' 1 2 3; echo given)"

# --- a project in the host's memory, where a command has memory of its own ---

memory=$(mktemp -d /dev/shm/wrapix-test.XXXXXX) || bail "no directory in /dev/shm"
echo theirs >"$memory.other"
mkdir -p "$memory/deep/er"
git init -q -b main "$memory/deep" && git -C "$memory/deep" commit -q --allow-empty -m first
cd "$memory/deep/er" || bail "no directory"
check "what a command writes in a project in /dev/shm is there" can 'echo x >f; git add f; git commit -qm second'
check "... afterwards, and its repository is the host's" is "$(cat f) $(git log -1 --format=%s) $(git status --porcelain)" "x second "
cd "$memory" || bail "no directory"
check "... without a repository, too" can 'echo y >g'
check "... afterwards" is "$(cat g)" y
check "nothing else of the host's memory is seen" can "! test -e $memory.other; echo z >$memory.other"
check "... nor written" is "$(cat "$memory.other")" theirs
cd "$tmp/project" || bail "no project"
rm -rf "$memory" "$memory.other"

# --- git ---

mkdir "$tmp/git"
cd "$tmp/git" || bail "no directory"
check "init, add, commit, branch, merge, stash, tag, gc" can '
	git init -q -b main r; cd r; echo 1 >f; git add f; git commit -qm 1; git checkout -qb x; echo 2 >f; git commit -qam 2
	git checkout -q main; git merge -q x; echo 3 >f; git stash -q; git stash pop -q; git commit -qam 3; git tag v1
	git rebase -q main x; git gc -q; git fsck'
check "a repository made inside keeps file modes" is "$(git -C r config core.filemode)" true
check "clone, push, pull, and to a bare one" can '
	git clone -q r c; cd c; git checkout -qb y; git commit -q --allow-empty -m y; git push -q origin y; git pull -q origin main
	git clone -q --bare ../r ../b.git; git push -q ../b.git y; cd ..; rm -rf c'
check "a work tree" can 'cd r; git worktree add -q ../wt -b wt; cd ../wt; echo w >w; git add w; git commit -qm w; git status'
check "... whose commit is the host's" is "$(git -C r log -1 --format=%s wt)" w
check "keys that are harmless" can 'cd r; git config user.name Me; git branch -q -u main x; git remote add up https://example.org/x; git checkout -qb z main'
check "... are there" is "$(git -C r config user.name) $(git -C r config branch.x.merge) $(git -C r config remote.up.url)" "Me refs/heads/main https://example.org/x"
for change in "config core.fsmonitor id" "config alias.x !id" "config core.hooksPath x" "config include.path x" "remote set-url up ext::id"; do
	check "git $change is refused" cannot "cd r; git $change"
done
check "... and nothing of it is there" is "$(grep -cE 'fsmonitor|alias|hooksPath|include|ext::' r/.git/config)" 0
check "the file itself is not written" cannot 'echo "[core]" >>r/.git/config'
check "no hook" cannot 'echo id >r/.git/hooks/pre-commit'
check "no hook in a bare repository" cannot 'echo id >b.git/hooks/post-update'
check "no bare repository with a configuration that runs" cannot 'mkdir -p e/objects e/refs; printf "[core]\n\tfsmonitor = id\n" >e/config; echo "ref: refs/heads/main" >e/HEAD'
check "... it is none" isnt "$(git -C e rev-parse --git-dir 2>/dev/null)" .
check "directories called hooks and config are free" can 'mkdir -p app/hooks app/config; echo x >app/hooks/useThing.js; echo y >app/config/app.json'

# In a work tree and a submodule of a repository outside of them.
git -C r worktree add -q "$tmp/git/tree" -b tree
cd "$tmp/git/tree" || bail "no work tree"
check "commit in a linked work tree" can 'echo v >v; git add v; git commit -qm v; git config user.name Other'
check "... not what runs" cannot 'git config core.pager id'
finish
