#!/bin/sh
# SPDX-License-Identifier: MIT
# git works inside in every layout, identity included, and a hostile .git leads nowhere. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/git.sh"

cat >"$home/.gitconfig" <<'END'
[user]
	name = "An \"Odd\" \\ Name, Jr. # not a comment"
	email = odd@example.org ; a comment
	signingkey = SECRETKEY
[credential]
	helper = store --file ~/.secret-credentials
[alias]
	leak = !cat ~/.secret
[init]
	defaultBranch = main
END
author='An "Odd" \ Name, Jr. # not a comment <odd@example.org>'

commit='echo x >>file && git add file && git commit -q -m inside && git status --porcelain'
commits() { is "$(git -C "$1" log --format=%s | xargs)" "$2"; }
by_user() { is "$(git -C "$1" log -1 --format='%an <%ae>')" "$author"; }
owned() { is "$(find "$1" ! -uid "$(id -u)" | head -n 3)" ""; }

# --- a plain repository ---
new_repo "$tmp/plain" || bail "git does not work outside"
cd "$tmp/plain" || exit 1
says "plain repository: commit" "" "$commit"
check "... seen outside" commits . "inside start"
check "... by the user of ~/.gitconfig" by_user .
check "... whose files belong to the user" owned .git
check "... and outside git has nothing to complain about" git fsck --strict
says "log, diff, branch, stash, rebase, gc" "done" 'git log >/dev/null && git checkout -q -b b && echo y >>file && git stash -q &&
	git stash pop -q && git commit -qam y && git checkout -q - && git rebase -q b && git gc -q && git diff --exit-code && echo done'
says "of ~/.gitconfig only the identity comes in" "$(printf 'user.email\nuser.name')" 'git config --global --name-only --list | sort'
says "... no credential, no alias, no key" "" 'grep -riE "secret|credential|alias" ~/.gitconfig; true'
GIT_AUTHOR_NAME=Other GIT_AUTHOR_EMAIL=other@example.org inside "$commit"
check "GIT_AUTHOR_NAME comes in by itself" is "$(git log -1 --format='%an <%ae>')" "Other <other@example.org>"
mkdir -p "$home/.config/git"
mv "$home/.gitconfig" "$home/.config/git/config"
inside "$commit"
check "the identity of ~/.config/git/config" by_user .
mv "$home/.config/git/config" "$home/.gitconfig"
mv "$home/.gitconfig" "$tmp/away"
says "without one git says so itself" "" 'git config user.name; true'
mv "$tmp/away" "$home/.gitconfig"

# --- the repository's own ---
new_repo "$tmp/direct" && cd "$tmp/direct" || exit 1
inside 'mkdir -p .git/hooks; echo "echo planted" >.git/hooks/pre-commit'
check "a hook that the session wrote stays there" absent .git/hooks/pre-commit
check "... and is held" has "$err" "hook 'pre-commit'"
inside 'mkdir -p .git/hooks; echo "echo planted" >.git/hooks/pre-commit' --git direct
check "--git direct: it is the host's" exists .git/hooks/pre-commit
check "... with a warning" has "$err" "--git direct: the host's git obeys"
cd "$project" || exit 1

# --- what is none, or none that can be read ---
mkdir -p "$tmp/odd/.git" && cd "$tmp/odd" || exit 1
inside 'git init -q -b main . && git commit -q --allow-empty -m inside && echo made'
check "an empty .git is nothing: git init" is "$rc $(cat "$out") $(git log --format=%s)" "0 made inside"
new_repo "$tmp/broken" && cd "$tmp/broken" && echo garbage >.git/HEAD || exit 1
inside true
check "a repository that git does not know either" refused 125 "HEAD of"
check "... with a hint" has "$err" "--git direct"
cd "$project" || exit 1

# --- linked worktrees ---
worktree() { # worktree NAME DIR REPO
	cd "$2" || exit 1
	says "$1: commit" /workspace "$commit && git rev-parse --show-toplevel"
	check "... seen in the repository" is "$(git -C "$3" log -1 --format=%s side)" inside
	check "... outside all is well" git status
	says "... log, branch, worktree list" "inside 2 2" 'echo $(git log --format=%s | head -n 1; git branch | wc -l; git worktree list | wc -l)'
	says "... of the repository nothing is there, its objects but to read" "" "ls -A '$3' 2>/dev/null; true"
	inside "ls -A '$3'" --git direct
	check "... with --git direct only .git is" is "$(cat "$out")" .git
	wx run --network none --only -- git status
	check "... with --only there is no git" is "$rc $(wc -l <"$out")" "128 0"
}
new_repo "$tmp/repo" && git -C "$tmp/repo" worktree add -q -b side "$tmp/worktree"
worktree "linked worktree" "$tmp/worktree" "$tmp/repo"
printf 'gitdir: ../repo/.git/worktrees/worktree\n' >"$tmp/worktree/.git"
worktree "... with a relative link" "$tmp/worktree" "$tmp/repo"
printf '../../../../worktree/.git\n' >"$tmp/repo/.git/worktrees/worktree/gitdir"
cd "$tmp/worktree" || exit 1
inside "$commit"
check "... relative both ways (git 2.48)" printed ""
printf 'gitdir: %s/repo/.git/worktrees/worktree\n' "$tmp" >"$tmp/worktree/.git"
mkdir "$tmp/worktree/below"
cd "$tmp/worktree/below" || exit 1
inside 'touch f ../g; git add f && git commit -q -m below && pwd'
check "below the top of a worktree" is "$(cat "$out")" /workspace/below
check "... commit" is "$(git -C "$tmp/worktree" log -1 --format=%s)" below
check "... the rest is read-only" absent "$tmp/worktree/g"
for d in /tmp /var/tmp; do
	far=$(mktemp -d "$d/wrapix-git.XXXXXX")
	new_repo "$far/repo" && git -C "$far/repo" worktree add -q -b side "$far/worktree"
	worktree "worktree in $d" "$far/worktree" "$far/repo"
	rm -rf "$far"
done
git -C "$tmp/repo" worktree add -q -b inner "$tmp/repo/trees/inner"
cd "$tmp/repo/trees/inner" || exit 1
inside "$commit"
check "a worktree inside its repository: commit" printed ""
check "... seen" is "$(git -C "$tmp/repo" log -1 --format=%s inner)" inside

# --- submodules ---
new_repo "$tmp/super"
git -C "$tmp/super" -c protocol.file.allow=always submodule --quiet add "$tmp/plain" sub >/dev/null 2>&1 || bail "no submodule"
git -C "$tmp/super" commit -q -m submodule
cd "$tmp/super/sub" || exit 1
git checkout -q -B work
says "submodule: commit" "/workspace" "$commit && git rev-parse --show-toplevel"
check "... seen outside" is "$(git log -1 --format=%s)" inside
cd "$tmp/super" || exit 1
inside "git submodule status | wc -l; cd sub; $commit; cd ..; git add sub; git commit -q -m super"
check "in the repository around it" printed 1
check "... both committed" is "$(git -C "$tmp/super" log -1 --format=%s)" super
mkdir "$tmp/super/sub/deep"
cd "$tmp/super/sub/deep" || exit 1
inside 'echo 1 >f; git add f; git commit -q -m deep; pwd'
check "below the top of a submodule" is "$(cat "$out")" /workspace/deep
check "... commit" is "$(git -C "$tmp/super/sub" log -1 --format=%s)" deep

# --- a git directory elsewhere ---
mkdir "$tmp/separate"
git init -q --separate-git-dir "$tmp/elsewhere.git" "$tmp/separate"
cd "$tmp/separate" || exit 1
inside true
check "--separate-git-dir: not followed while that does not name DIR" has "$err" "was not followed"
git config core.worktree "$tmp/separate"
says "--separate-git-dir: commit" "" "$commit"
check "... seen outside" is "$(git log -1 --format=%s)" inside
cd "$tmp" || exit 1
git clone -q --bare "$tmp/plain" "$tmp/bare.git"
cd "$tmp/bare.git" || exit 1
works "a bare repository as DIR" 'git log -1 --format=%s'

# --- DIR below the top of a repository ---
mkdir -p "$tmp/plain/a/b" "$tmp/plain/c"
cd "$tmp/plain/a/b" || exit 1
inside 'pwd; echo new >file; git add file && git commit -q -m below; git status --porcelain'
check "below the top: the command starts in DIR's place" is "$(cat "$out")" /workspace/a/b
check "... the start says so, in one line" is "$(grep -c "is part of the repository" "$err") $(wc -l <"$err")" "1 1"
check "... commit" commits "$tmp/plain" "below $(git -C "$tmp/plain" log --skip 1 --format=%s | xargs)"
inside 'touch ../../file ../x ../../c/x ../../new; cat ../../file >/dev/null && echo read'
check "... the rest can be read" is "$(cat "$out")" read
check "... and not written" [ ! -e "$tmp/plain/a/x" -a ! -e "$tmp/plain/c/x" -a ! -e "$tmp/plain/new" ]
wx run --network none --only -- sh -c 'pwd; ls -A ..; git log'
check "--only: DIR alone, at /workspace" is "$(head -n 1 "$out")" /workspace
check "... nothing around it" lacks "$out" .git
check "... and no git" isnt "$rc" 0
printf '{}' >wrapix.json
inside 'echo 1 >wrapix.json; rm -f wrapix.json; cat wrapix.json'
check "wrapix.json in DIR is read-only" is "$(cat "$out" wrapix.json)" "{}{}"
rm wrapix.json

# --- a home that is a repository ---
secret=secret.${tmp##*.} # no other file on the machine is called so
echo secret >"$home/$secret"
mkdir -p "$home/code/project"
(cd "$home" && git init -q . && git add .gitconfig && git commit -q -m dotfiles)
home_hidden() { # home_hidden NAME
	inside "pwd; find / -path /usr -prune -o -path /proc -prune -o -name '$secret' -print 2>/dev/null; true"
	check "$1" printed /workspace
}
cd "$home/code/project" || exit 1
home_hidden "a home that is a repository is not shown"
ln -s "$home" "$tmp/home-link"
HOME=$tmp/home-link home_hidden "... nor when HOME is a link to it"
cd "$tmp/home-link/code/project" || exit 1
home_hidden "... nor when DIR was reached through a link"
rm -rf "$home/.git"

# --- hostile .git files ---
mkdir -p "$home/.ssh"
echo "BEGIN SECRET KEY" >"$home/.ssh/id_secret"
cd "$project" || exit 1
# hostile NAME: the .git of the project is not followed, the start says so, and nothing of it is inside
hostile() {
	snapshot "$home" >"$tmp/tree"
	inside "ls -d '$home' '$tmp/plain' /root 2>/dev/null; find / -path /usr -prune -o -path /proc -prune -o -name 'id_secret*' -print 2>/dev/null; true"
	check "$1: not mounted" is "$(cat "$out")" ""
	check "... the start says so" has "$err" "was not followed"
	check "... nothing is written there" same_tree "$home" "$tmp/tree"
}
echo "gitdir: $home/.ssh" >.git
hostile ".git that leads to ~/.ssh"
echo "gitdir: $home" >.git
hostile ".git that leads to the home"
echo "gitdir: /" >.git
hostile ".git that leads to /"
echo "gitdir: /nonexistent" >.git
hostile ".git that leads nowhere"
echo "gitdir: $tmp/plain/.git" >.git
hostile ".git that leads to a repository that does not know it"
printf 'gitdir: %s\0/x' "$home/.ssh" >.git
hostile ".git with a zero byte"
printf 'something else' >.git
hostile ".git that is no link of git's"
: >.git
hostile ".git that is empty"
head -c 200000 /dev/zero | tr '\0' a >.git
hostile ".git that is huge"
rm .git
# A git directory in the project that claims another one as its common directory.
mkdir -p fake
cp -r "$tmp/plain/.git/." fake/
echo "$home/.ssh" >fake/commondir
echo "gitdir: fake" >.git
echo "$project/.git" >fake/gitdir
hostile ".git whose commondir leads to ~/.ssh"
mkdir -p "$home/.ssh/objects" "$home/.ssh/refs"
touch "$home/.ssh/HEAD"
hostile "... even when that looks like a repository"
rm -rf "$home/.ssh/objects" "$home/.ssh/refs" "$home/.ssh/HEAD" fake .git
ln -s "$home/.ssh" .git
inside "ls '$home' .git/ 2>/dev/null"
check ".git that is a link to ~/.ssh: not mounted" is "$(cat "$out")" ""
rm .git
mkfifo .git
inside 'echo fine'
check ".git that is a FIFO: does not hang" is "$(cat "$out")" fine
rm .git
mkdir -p sub
echo "gitdir: $home/.ssh" >.git
cd sub || exit 1
hostile "a hostile .git above DIR"
rm ../.git
# The user's own repository, but written by the sandbox: a link back from a worktree of its own making.
mkdir -p "$tmp/evil"
cp -r "$tmp/plain/.git" "$tmp/evil/.git"
git -C "$tmp/evil" config core.worktree "$home"
cd "$tmp/evil" || exit 1
inside "ls '$home' 2>/dev/null"
check "core.worktree in a plain .git mounts nothing" is "$(cat "$out")" ""
finish
