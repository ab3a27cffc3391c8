#!/bin/sh
# SPDX-License-Identifier: MIT
# Real programs under wrapix exec, as an agent runs them: each does its work, and nothing of ours is seen in the tree.
#
# shellcheck disable=SC1091,SC2016,SC2154 # the library; scripts for the shell inside; its variables
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
cd "$project" || exit 1

x() { timeout 60 "$wrapix" exec -c "$1" >"$tmp/log/out" 2>"$tmp/log/err" </dev/null; }
prints() { # prints TEXT SCRIPT
	x "$2" && [ "$(cat "$tmp/log/out")" = "$1" ]
}
git config --global user.name t
git config --global user.email t@localhost

check "mktemp, a file and a directory" x 'f=$(mktemp) && d=$(mktemp -d) && echo x >"$f" && mv "$f" "$d/"'
check "make and a compiler" prints built 'mkdir c && cd c && printf "int main(void){return 0;}\n" >m.c &&
	printf "m: m.c\n\t@cc -o m m.c\n" >Makefile && make && ./m && echo built'
if command -v tmux >/dev/null; then
	check "tmux: a server, a client and its end" prints a 'tmux -f /dev/null new-session -d -s a "sleep 60" &&
		tmux ls -F "#S" && tmux kill-server'
else
	skip "tmux" "it is not installed"
fi
if command -v vim >/dev/null; then
	check "vim writes a file" prints hello 'vim -u NONE -es -c "normal ihello" -c wq v.txt; cat v.txt'
else
	skip "vim" "it is not installed"
fi
check "sed -i, tar, sort, find" prints b 'echo a >s && sed -i s/a/b/ s && tar cf s.tar s && rm s && tar xf s.tar &&
	sort -o s s && find . -name s -exec cat {} +'
check "processes of Python's that talk to each other" prints "[1, 2]" \
	'python3 -c "import multiprocessing as m; print(m.Pool(2).map(abs, [-1, -2]))"'
check "git: init, commit, a branch, a clone, a worktree" prints "a
a" 'git init -q g && cd g && echo a >a && git add a && git commit -qm one && git checkout -qb other &&
	git clone -q . ../clone && git worktree add -q ../tree && ls ../clone ../tree | grep -v :$ | grep .'
(cd g && git worktree add -q "$tmp/linked") 2>/dev/null
check "git: a commit in a linked worktree" sh -c 'cd "$1" && echo b >b && "$2" exec -c "git add b && git commit -qm two" && git log --oneline | grep -q two' \
	sh "$tmp/linked" "$wrapix"
check "git: a hook is not planted" fails x 'echo "#!/bin/sh" >g/.git/hooks/pre-commit'
check "... nor in the repository behind a linked worktree" sh -c 'cd "$1" && ! "$2" exec -c "echo x >$3/g/.git/hooks/post-commit" && [ ! -e "$3/g/.git/hooks/post-commit" ]' \
	sh "$tmp/linked" "$wrapix" "$project"
check "git status during a command shows nothing of ours" prints "" 'cd g && git status --short'
program32=${WRAPIX_BUILD:-$top/build}/tests/seccomp/program32
if [ -x "$program32" ] && "$program32" >/dev/null 2>&1; then
	check "a 32-bit program" x "'$program32'"
else
	skip "a 32-bit program" "the compiler makes none"
fi
rm -rf g clone tree c s s.tar v.txt
check "nothing else is left in the project" is "$(ls -A)" ""
finish
