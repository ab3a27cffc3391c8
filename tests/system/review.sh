#!/bin/sh
# SPDX-License-Identifier: MIT
# wrapix review, in a real terminal (tmux) of 80x24 and of 140x40. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
command -v tmux >/dev/null || { skip "wrapix review" "tmux is not installed"; finish; }

# A terminal of ours alone, each with a server of its own: one whose last session has ended takes the next with it. Keys
# are sent when what they are for is on the screen.
tm() { tmux -S "$tmp/tmux.${size-}" -f /dev/null "$@"; }
trap 'tm kill-server 2>/dev/null; tear_down' EXIT
terminal() { tm new-session -d -x "$1" -y "$2" -s t "cd '$project' && PS1='ready> ' EDITOR='$tmp/editor' exec sh"; }
screen() { tm capture-pane -p -t t; }
shows() { screen | grep -qF -- "$1"; }
see() { await shows "$1" || { screen; false; }; }
type() { tm send-keys -t t "$@"; }

title() { tm display-message -p -t t '#{pane_title}' | grep -q pwned; }
obeys_nothing() { ! title && ! screen | grep -q "$(printf '\342\200\256')"; }

prepare() {
	chmod -R u+rwx "$state" 2>/dev/null
	rm -rf "$project" "$state"
	mkdir "$project"
	cd "$project" || exit 1
	seq 1 9 >a
	echo b >b
	echo c >c
	inside 'sed -i s/5/five/ a; echo B >b; rm c; echo new >new; mkdir .vscode; echo "{}" >.vscode/tasks.json
		printf "1\033]0;pwned\0072\342\200\256\n" >"$(printf "evil\033[31mname\033]0;pwned\007\342\200\256")"' --workspace cow
}
cat >"$tmp/editor" <<'EOF'
#!/bin/sh
echo EDITED >>"$1"
EOF
chmod +x "$tmp/editor"

for size in "80 24" "140 40"; do
	prepare
	# shellcheck disable=SC2086 # two numbers
	terminal $size
	see 'ready>'
	type "printf '\033]0;pwned\007'" Enter
	check "$size: control: a title is obeyed" await title
	type "printf '\033]0;own\007'" Enter
	await fails title
	type "$wrapix review" Enter
	check "$size: the list" see 'AS .vscode/tasks.json'
	check "... and the first diff" see 'when an editor opens the project'
	check "... with escaped names" see 'evil\033'
	check "... by which the terminal is not told anything" obeys_nothing
	check "... and the keys, all of the line" see 'space ? keys'
	type '?'
	check "? shows the keys" see 'undecided again'
	check "... all of them" see 'Any key goes back'
	type x
	check "... until the next one" see 'AS .vscode/tasks.json'
	type r
	check "r rejects, and goes on" see '- AS .vscode/tasks.json'
	check "... to the next diff" see '+five'
	type a
	check "a accepts" see '+ M  a'
	type e
	check "e edits the session's version" see '+EDITED'
	type a
	see '+ M  b'
	type k
	type k
	type j
	check "the keys move" see '-b'
	type G
	see '+new'
	type A
	check "A accepts the rest" see '+ A  new'
	type g
	type j
	type j
	type j
	type j
	check "a hostile difference" see '\x1b]0;pwned'
	check "... is shown, and not obeyed" obeys_nothing
	check "... but not what was decided" see '- AS .vscode/tasks.json'
	check "nothing is taken over yet" is "$(cat b)" b
	tm resize-window -t t -x 70 -y 20
	check "it follows the size of the window" see 'w apply'
	type w
	check "w takes over what was accepted" see 'changes were taken over'
	await test ! -e c
	check "... and nothing else" is "$(sed -n 5p a) $(tr '\n' ' ' <b)$(cat new) $(find . -name .vscode)" "five B EDITED new "
	type "$wrapix review" Enter
	see 'AS .vscode/tasks.json'
	type q
	check "q takes nothing over" see 'Nothing was taken over'
	type "stty -a | grep -o ' icanon'" Enter
	check "the terminal is as it was" see ' icanon'
	type clear Enter "$wrapix review" Enter
	see 'AS .vscode/tasks.json'
	type C-z
	check "Ctrl-Z gives the shell its terminal" see 'ready>'
	type "stty -a | grep -o ' icanon'" Enter
	check "... as it was" see ' icanon'
	type fg Enter
	check "... fg goes on" see 'AS .vscode/tasks.json'
	kill -TERM "$(pgrep -P "$(tm display-message -p -t t '#{pane_pid}')")"
	check "ended by a signal, it leaves the terminal as it was" see 'ready>'
	type "clear; stty -a | grep -o ' icanon'" Enter
	check "... so that one sees what one types" see ' icanon'
	tm kill-session -t t
done
# A directory with a change of its own is one thing, and what is in it others.
prepare
"$wrapix" discard --yes >/dev/null
mkdir d
echo a >d/a
inside 'chmod 700 d; echo evil >d/.envrc; echo evil >>d/a; mkdir open; chmod 777 open; echo evil >open/Makefile' --workspace cow
size=d
terminal 80 24
see 'ready>'
type "$wrapix review" Enter
see 'Mode 0700, was 0755'
type a
type j
type r
see '- M  d/a'
type A
see 'need a look of their own'
type w
see 'change'
check "what was rejected or not looked at stays in the session, also where its directory was accepted" \
	await eval 'is "$(stat -c %a d) $(cat d/a) $(ls -A d open | xargs)" "700 a d: a open:"'
tm kill-session -t t
wx review
check "without a terminal" refused 2 "must be a terminal"
finish
