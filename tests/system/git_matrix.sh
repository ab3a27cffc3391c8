#!/bin/sh
# SPDX-License-Identifier: MIT
# What can be planted for the host's git in a project (tests/lib/gitmatrix.py): from 'wrapix run' and 'wrapix exec' nothing of it
# runs, while they run and after it; planted on a plain mount nearly all of it does. Prints TAP.
#
# shellcheck disable=SC1091,SC2154 # the library
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
command -v git >/dev/null || bail "git is not installed"
set_up
. "$top/tests/lib/git_cells.sh"

run() { # run MODE LAYOUT [GROUP...]
	mode=$1 layout=$2
	shift 2
	WRAPIX=$wrapix timeout 600 python3 "$top/tests/lib/gitmatrix.py" "$mode" "$layout" "$tmp/$mode-$layout" "$@" >"$tmp/log/out" 2>"$tmp/log/err"
	tail -n 1 "$tmp/log/out"
}
at_least() { [ "${1%% *}" -ge "$2" ]; }

result=$(run control plain)
check "control: on a plain mount at least 55 of 62 work ($result)" at_least "$result" 55
run sandbox plain >/dev/null
in_cell plain,direct "12 13" "a sandbox: none" is "$(cat "$tmp/log/out")" "0 of 62"
# The other layouts: what can be planted together, which takes one session, and three more; all of it with the word "all".
some="hooks hooksPath fsmonitor keys process external gpg.ssh include includeIf config.worktree insteadOf uploadpack vcs remotes submodule.update
	modules worktrees alternate nested to-link commondir reflog"
# What a judgement by content alone lets pass.
more="rebase exclude trojan replace alternates rm-objects rm-refs unchanged"
[ "${1-}" != all ] || some='' more=''
# shellcheck disable=SC2086 # words
run exec plain $some $more >/dev/null
check "a command in a plain repository: none ($(tail -n 1 "$tmp/log/out"))" has "$tmp/log/out" "0 of "
check "... nor is anything broken" lacks "$tmp/log/out" broken
# Repositories that a command comes to: below its working directory, in another writable place, made by it; work trees of one repository, all of which it
# may write.
for layout in below root made trees both; do
	few="rebase"
	[ "$layout" != trees ] || few="rebase unchanged"
	[ "$layout" != below ] || few="hooks keys rebase trojan"
	[ "${1-}" != all ] || few=''
	# shellcheck disable=SC2086 # words
	run exec "$layout" $few >/dev/null
	check "a command in a repository of the kind '$layout': none ($(tail -n 1 "$tmp/log/out"))" has "$tmp/log/out" "0 of "
	check "... nor is anything broken" lacks "$tmp/log/out" broken
done
for layout in worktree submodule; do
	# shellcheck disable=SC2086 # words
	run sandbox "$layout" $some >/dev/null
	in_cell "$layout,direct" "12 13" "a sandbox: none ($(tail -n 1 "$tmp/log/out"))" has "$tmp/log/out" "0 of "
	check "... nor is anything broken" lacks "$tmp/log/out" broken
	[ "${1-}" = all ] || continue
	run exec "$layout" >/dev/null
	check "a command in a $layout: none" is "$(cat "$tmp/log/out")" "0 of 62"
done
# A copy-on-write session, and all of it applied: in CI what can be planted together, and in the other layouts some of that.
for layout in plain worktree submodule; do
	few="hooks keys modules nested"
	[ "$layout" != plain ] || few=$some
	[ "${1-}" != all ] || few=''
	# shellcheck disable=SC2086 # words
	run cow "$layout" $few >/dev/null
	in_cell "$layout,cow" "12 13" "a copy-on-write session, applied: none ($(tail -n 1 "$tmp/log/out"))" has "$tmp/log/out" "0 of "
done
for cell in $cells; do
	check "$(echo "$cell" | sed 's/,/, /'): what the table of behaviours says was done" cell_is_full git_matrix "$cell"
done
finish
