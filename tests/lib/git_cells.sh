# shellcheck shell=sh disable=SC2034,SC2154 # a library: its variables are system.sh's, and the tests'
# SPDX-License-Identifier: MIT
# Thirty things that safe git and copy-on-write sessions are to do, in six cells: a plain repository, a linked work tree and a submodule,
# each in the project itself (direct) and copy-on-write (cow). This table says who does them in each cell, and where one has
# no meaning; in_cell and cell_is_full hold the tests to it.
#
# number|what|by|more of it, each in depth|where it has no meaning, and why
cell_table='1|every command works inside|git_everywhere|git_private git_behaviour|
2|keys, allowed and held|git_everywhere|git_private git_attacks|
3|a commit is there while the session runs|git_everywhere|git_private|
4|what is staged|git_everywhere|git_private|
5|the stash|git_everywhere|git_private git_crash|
6|submodules|git_everywhere|git_private git_layouts|
7|worktree add|git_everywhere|git_layouts|
8|LFS|git_everywhere|git_layouts|
9|shallow, blobless, sparse, sha256|git_everywhere|git_private git_layouts git_gate|
10|the hooks of the user|git_everywhere|git_private git_attacks|
11|fetch and push|git_everywhere|git_behaviour|
12|what can be planted, after the session|git_matrix||
13|what can be planted, while it runs|git_matrix||
14|a rebase with exec|git_everywhere|git_layouts|
15|attacks on the one who publishes|git_everywhere|git_attacks exec_git_attacks|
16|races of a path|git_everywhere|broker|
17|repositories below|git_everywhere|git_gate|
18|a storm of signals|git_everywhere|git_behaviour|
19|bare repositories among the files|git_everywhere|git_gate|
20|namespaces inside|git_everywhere|git_gate nested|
21|files that run later|git_everywhere|protect|
22|kill -9|git_everywhere|git_crash exec_git_kill|
23|both commit at once|git_everywhere|git_crash git_random|
24|a commit of the user|git_everywhere|git_private|
25|index.lock|git_everywhere|git_behaviour|
26|diff and apply|git_everywhere|cow|direct: there is nothing to apply
27|conflicts|git_everywhere|cow|direct: there is nothing to apply; branches that both change are 23
28|an apply that is killed|git_everywhere|cow_crash|direct: there is nothing to apply; a publisher that is killed is 22
29|several sessions, one at a time each|git_everywhere|cow|direct: a session is not kept, so nothing is resumed or applied
30|directories that move|git_everywhere|cow programs|'
cells="plain,direct plain,cow worktree,direct worktree,cow submodule,direct submodule,cow"

# in_cell CELL NUMBERS NAME COMMAND...: one test point, which counts for these numbers of the table.
in_cell() {
	cell=$1 cell_numbers=$2 cell_name=$3
	shift 3
	for cell_number in $cell_numbers; do echo "$cell $cell_number" >>"$tmp/cells"; done
	check "$(echo "$cell" | sed 's/,/, /'): $(echo "$cell_numbers" | sed 's/ /, /g') $cell_name" "$@"
}

# cell_is_full TEST CELL: what the table says that TEST does was done there, and no more.
cell_is_full() {
	cell_mode=${2#*,}
	echo "$cell_table" | while IFS='|' read -r number what by _ why; do
		cell_done=$(grep -cx "$2 $number" "$tmp/cells")
		case $why in
		"$cell_mode":*) [ "$cell_done" = 0 ] || { echo "$number ($what) has a meaning there"; exit 1; } ;;
		*) [ "$by" != "$1" ] || [ "$cell_done" -gt 0 ] || { echo "$number ($what) was not done"; exit 1; } ;;
		esac
	done
}
