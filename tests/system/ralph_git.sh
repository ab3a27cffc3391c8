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

finish
