#!/bin/sh
# SPDX-License-Identifier: MIT
# The git that ralph runs on the host: which programs of the configuration run for a commit (filters), which do not (all
# others), and that any name of a file is only a name. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # $1 in eval; the library and its variables; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/ralph.sh"

mkdir "$tmp/ran" "$tmp/hooks"
evil=$tmp/evil
printf '#!/bin/sh\n>"%s/$1"\ncase $1 in ext) ;; core.fsmonitor) printf "token\\\\0/\\\\0" ;; *) exec cat ;; esac\n' "$tmp/ran" >"$evil" # all files changed
chmod +x "$evil"
for hook in reference-transaction post-index-change pre-auto-gc pre-commit post-commit update; do
	printf '#!/bin/sh\nexec "%s" hook-%s\n' "$evil" "$hook" >"$tmp/hooks/$hook"
	chmod +x "$tmp/hooks/$hook"
done
ran() { find "$tmp/ran" -type f -printf '%f '; }

# --- programs that the configuration names ---
new_project named
printf '*.x filter=x\n' >.gitattributes
for f in lost too; do echo "$f" >"$f"; done
git add -A
git commit -qm more
for key in core.fsmonitor core.alternateRefsCommand core.pager core.editor core.askPass core.sshCommand gpg.program diff.external \
	diff.x.textconv diff.x.command merge.x.driver filter.x.smudge remote.origin.uploadpack; do
	git config "$key" "$evil $key"
done
git config filter.x.clean "'$evil' clean | tr a-z A-Z"
git config credential.helper "!$evil credential"
git config commit.gpgSign true
git config core.hooksPath "$tmp/hooks"
git config gc.auto 1
git config protocol.ext.allow always
git config remote.origin.url "ext::$evil ext"
git config remote.origin.promisor true
git config remote.origin.partialclonefilter blob:none
git update-index --refresh >/dev/null 2>&1
check "(control) git itself runs them" eval 'exists "$tmp/ran/core.fsmonitor"'
rm -f ".git/objects/$(git rev-parse HEAD:lost | sed 's,..,&/,')" # git would fetch it
git -c core.fsmonitor= cat-file -e HEAD:lost 2>/dev/null
check "(control) ... and fetches what is missing" exists "$tmp/ran/ext"
rm -f "$tmp"/ran/*
task one 'sh: echo one >one.txt; echo base2 >base.txt; rm too'
rx loop
check "a step is committed where a partial clone lacks a file that it does not touch" is "$rc $(git log -1 --format=%s)" "0 one"
check "... with what it changed, and all else" is "$(git ls-tree --name-only HEAD lost one.txt too; git show HEAD:base.txt)" "lost
one.txt
base2"
check "... without a program of the configuration's" is "$(ran)" ""
task two 'sh: echo two >two.x'
rx loop
check "a filter of the user's makes what is committed, as with 'git add'" is "$(git show HEAD:two.x) $(cat two.x)" "TWO two"
check "... and is the only one that runs" is "$(ran)" "clean "
task three 'sh: printf "*.x filter=x\n*.txt filter=x\n" >.gitattributes; echo three >three.txt'
rx step
check "for what files an agent does not say: its attributes are refused" eval 'is "$rc" 1 && has "$out" "refused: it changed '"'.gitattributes'"'" && absent three.txt'

task four 'sh: mv .gitattributes other; echo four >four.x'
rx step
check "... nor by another name for them" eval 'is "$rc" 1 && has "$out" "refused: it changed '"'.gitattributes'"'" && absent four.x'
rx item drop "$(id_of four)"

mkdir "$tmp/sha256" && cd "$tmp/sha256" || exit 1
git init -q --object-format=sha256
mkdir specs
printf '# x\n\n## Success Criteria\n- [ ] it works\n' >specs/feature.md
rx start feature
task first 'sh: echo x >x'
rx step
check "the first commit of a repository of other names" is "$rc $(git log --format=%s) $(git show --format= --name-only HEAD)" "0 first x"

# --- names ---
new_project names
printf 'gone*\n' >.gitignore
git add -A
git commit -qm ignores
task names 'sh: for f in ":!bang" ":(top)base.txt" ":(icase)x" ":/slash" "./-dash" "star*" gone1 ":gone"; do mkdir -p "$(dirname "./$f")"; echo x >"./$f"; done'
rx loop
check "names that git takes for more than a name are committed" is "$rc $(git -c core.quotePath=false show --format= --name-only HEAD | tr '\n' ' ')" \
	"0 -dash :!bang :(icase)x :(top)base.txt :/slash :gone star* "
check "... and of those, too, what is ignored stays behind" absent gone1
task inner 'sh: mkdir ":!d"; echo x >":!d/gone2"; echo x >":!d/kept"'
rx loop
check "... in directories of such names as well" is "$rc $(git show --format= --name-only HEAD)" "0 :!d/kept"

# --- the user's own work that no commit has ---
before() { find "$state/ralph" -path '*/before/*' -name "$1" -exec cat {} +; }
new_project loss
printf 'ignored*\n' >.gitignore
mkdir dir only
for f in same two kept dir/file moved; do echo "$f" >"$f"; done
git add -A
git commit -qm more
echo 'an edit' >>two
echo draft >draft
echo 'in a directory' >dir/new
ln -s nowhere link
echo secret >dir/ignored
echo secret >only/ignored
echo 'not committed' >>moved
task tidy 'sh: git checkout -q two; rm draft link same; rm -r dir only; mv moved further; echo more >>kept; echo x >x.txt'
rx step
check "a step that throws uncommitted work away is taken over" eval 'is "$rc" 0 && absent draft dir/file dir/new && exists x.txt && is "$(cat two)" two'
check "... what no commit has is as it was in the state directory" is "$(before two; before draft; before new)" "two
an edit
draft
in a directory"
check "... a link as a link, and nothing that a commit has or that is there under another name" \
	is "$(find "$state/ralph" -path '*/before/*' ! -type d -printf '%f\n' | sort | tr '\n' ' ')" "draft link new two "
check "... and it is said" has "$out" "4 files were not committed before this step: as they were in $state/ralph/"
check "what is ignored stays when the directory around it is removed" is "$(cat dir/ignored only/ignored)" "secret
secret"
task again 'sh: echo y >>two; echo z >>x.txt'
rx step
check "what was committed before is kept by git alone" eval 'is "$rc" 0 && lacks "$out" "not committed"'
echo 'mine' >>two
task turned 'sh: rm -r dir; echo x >dir'
rx step
check "a file in the place of a directory does not take along what is ignored in it" is "$(cat dir/ignored)" secret
mkdir "$tmp/plain" && cd "$tmp/plain" || exit 1
mkdir specs
printf '# plain\n\n## Success Criteria\n- [ ] it works\n' >specs/feature.md
echo 'no git' >precious
rx start feature
task one 'sh: echo other >precious'
rx step
check "without git all that is replaced is kept" eval 'is "$rc $(cat precious)" "0 other" && is "$(before precious)" "no git"'

# --- what is staged, and what the user does meanwhile ---
new_project staged
for f in two same; do echo first >$f; done
git add two same
git commit -qm two
for f in two same; do echo mine >$f; done
git add two same
git show HEAD:two >two # as it was, but for the index
task edit 'sh: echo agent >>two; echo agent >>same'
rx step
check "what is staged of a step's file and stands nowhere else is kept" is "$rc $(cat "$state"/ralph/staged-*/before/*-staged/two) $(git show :two)" "0 mine first
agent"
check "... and said, alone" eval 'has "$out" "1 file was staged otherwise before this step: as it was in" && absent "$state"/ralph/staged-*/before/*-staged/same'
new_project meanwhile
echo mine >draft
echo /turn >>.git/info/exclude
: >turn
task over 'sh: echo agent >draft; echo x >x.txt; touch begun; until grep -q go turn; do sleep 0.05; done; rm begun'
(await eval 'find "$state/cow" -name begun | grep -q .' && echo later >draft && echo go >turn) &
rx step
check "a file that the user changes meanwhile is his, and no second name of it stays" \
	eval 'has "$out" "conflict: others have changed the same meanwhile: draft" && is "$(cat draft) $(stat -c %h draft) $(before draft | grep later)" "later 1 "'

# --- what has no room in the state directory ---
new_project long
python3 -c "
import os
for i in range(19):
    os.mkdir('d' * 199)
    os.chdir('d' * 199)
open('f' * 220, 'w').write('mine')"
task away 'sh: rm -r d*; echo x >x'
rx step
check "what cannot be kept stays, and the step is a conflict" eval 'is "$rc" 1 && has "$out" "conflict: it takes the place of what no commit has and nobody can keep" && absent x && is "$(cd d* && echo d*)" "$(echo d*)"'
rx item drop "$(id_of away)"
task next 'sh: echo y >y'
rx step
check "... and stops no other one" is "$rc $(git log -1 --format=%s)" "0 next"

# --- directories ---
new_project places
printf 'ign*\n' >.gitignore
mkdir d e only
echo in >d/a
echo in >e/b
ln -s e l
for f in f moved only/ign; do echo "$f" >"$f"; done
git add -A
git commit -qm more
task turn 'sh: rm -r d f l; echo file >d; mkdir f l; echo in >f/x; echo in >l/y; rm -r e; ln -s f e'
rx step
check "a file becomes a directory, a directory a file or a link, and a link a directory" \
	is "$rc $(git show --no-renames --format= --name-status HEAD | tr '\t\n' '  ')$(git status --short | grep -v .wrapix)" "0 A d D d/a A e D e/b D f A f/x D l A l/y "
task away 'sh: mv only/ign kept; rmdir only; mv moved ign-moved; echo x >x'
rx step
check "what moves to or from a name that is ignored is not the step's there" \
	is "$rc $(git show --no-renames --format= --name-status HEAD | tr '\t\n' '  ')$(cat only/ign)" "0 A kept D moved A x only/ign"
check "... nor left where it was ignored" absent ign-moved
for own in known plain; do
	git init -q $own
	(cd $own && echo theirs >theirs && git add -A && git commit -qm theirs)
done
git -c advice.addEmbeddedRepo=false add known
git commit -qm known
task theirs 'sh: for r in known plain; do echo x >$r/x; echo y >>$r/theirs; done; echo z >z'
rx step
check "files of other repositories in the project are not committed to it" \
	is "$rc $(git show --format= --name-only HEAD) $(cat known/x plain/x) $(grep -c "4 changed files are in submodules or other" "$out")" "0 z x
x 1"

# --- rules of the user's own for all projects ---
printf '*.swp\n' >"$tmp/ignored"
git config --global core.excludesFile "$tmp/ignored"
new_project rules
task rules 'sh: echo "*.o" >.gitignore; for f in a.swp a.o a.c; do echo x >$f; done'
rx step
check "what the user ignores everywhere is ignored where a step brings rules, too" is "$rc $(git show --format= --name-only HEAD | tr '\n' ' ')" "0 .gitignore a.c "
task own 'sh: mkdir -p c/t cache m/.vscode; echo /t >c/.gitignore; echo x >c/t/x; echo "*" >cache/.gitignore; echo x >cache/x; echo "m/" >>.gitignore; echo {} >m/.vscode/tasks.json'
rx step
check "rules in directories that a step makes count, and what is ignored is judged by nobody" \
	is "$rc $(git show --format= --name-only HEAD | tr '\n' ' ')$(ls -d cache c/t m 2>/dev/null)" "0 .gitignore c/.gitignore "
git config --global --unset core.excludesFile
mkdir -p "$home/.config/git"
printf '*.swp\n' >"$home/.config/git/ignore"
task default 'sh: echo "*.obj" >>.gitignore; for f in b.swp b.obj b.c; do echo x >$f; done'
rx step
check "... also by the file that git takes by itself" is "$rc $(git show --format= --name-only HEAD | tr '\n' ' ')" "0 .gitignore b.c "

# --- a state directory on another file system ---
export XDG_STATE_HOME="/dev/shm/wrapix-test.$$"
trap 'chmod -R u+rwx "$XDG_STATE_HOME"; rm -rf "$XDG_STATE_HOME"; tear_down' EXIT
new_project elsewhere
echo mine >closed
chmod 0 closed
task closed 'sh: rm -f closed'
rx step
chmod 600 "$XDG_STATE_HOME"/wrapix/ralph/elsewhere-*/before/*/closed
check "a file that nobody may read is kept there, too" is "$rc $(cat "$XDG_STATE_HOME"/wrapix/ralph/elsewhere-*/before/*/closed)" "0 mine"

finish
