#!/bin/sh
# SPDX-License-Identifier: MIT
# What a hostile copy-on-write session leaves, so that its user does not see it, or takes over what was not shown. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154 # the library; scripts for the shell inside
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up


# --- directories that nobody can enter ---
echo a >a
mkdir own && echo o >own/o
cow 'echo b >b; mkdir shut; echo s >shut/s; chmod 0 shut; mkdir list; echo l >list/l; chmod 400 list; chmod 0 own'
wx diff --stat
check "a directory without permissions hides nothing else" is "$rc $(sed -n 's/  not taken over: its directory cannot be read$/ not/p; /^A /p' "$out" | sort | xargs)" \
	"0 ! list/ not ! own/ not ! shut/ not A b +1 -0"
wx apply
check "... and the rest is taken over" is "$(find . -type f | sort | xargs)" "./a ./b ./own/o"
wx discard --yes
check "... and it can be discarded" is "$rc $(ls "$state/cow")" "0 "
reset
cow 'echo b >b; chmod 0 .'
wx diff --stat
check "a session whose root nobody can enter is one still" has "$out" "A b"
wx apply
check "... its changes are taken over, and the project's own mode stays" is "$(cat b) $(stat -c %a .)" "b 755"
wx discard --yes
check "... and it can be discarded" is "$rc $(ls "$state/cow")" "0 "

# --- links ---
reset
mkdir -p a/b/c in
cow 'ln -s ../../.. a/b/c/top; ln -s a/b/c/top/../.ssh out; ln -s a/b/c/top/in fine; ln -s ../.. plain; ln -s a/../in/. fine2; ln -s missing/x fine3; ln -s loop loop'
wx apply
check "a link that leaves the project by another link is told" is "$(sed -n 's/: taken over, it is a link that leaves the project//p' "$out" | sort | xargs)" "loop out plain"

reset
ln -s env/local .envrc
ln -s conf .vscode
mkdir x && ln -s ../first x/Makefile && ln -s gone/second first
ln -s /nowhere/at/all .exrc
cow 'mkdir env conf gone; echo e >env/local; echo {} >conf/tasks.json; echo m >gone/second; echo f >free'
wx apply </dev/null
check "what a link of the project names, to something that was not there, is asked about" is "$(find . -type f | sort | xargs) $(grep -c 'not taken over; it would be executed' "$out")" "./free 3"

# --- rights ---
reset
echo k >known && chmod 666 known && echo m >mode
cow 'umask 0; echo o >open; mkdir -p dir/sub; echo x >dir/sub/x; chmod 755 dir; chmod 644 dir/sub/x; echo k >>known; echo m >>mode; chmod 666 mode'
wx diff --stat
check "what everybody may write is shown" is "$(sed -n 's/  .*mode/ mode/p' "$out" | sort | xargs)" "A dir/sub/ mode 0777 A open mode 0666 M mode mode 0644 => 0666"
wx diff
check "... by the diff, too, which has no word for it" is "$(sed -n 's/^wrapix: everybody on this machine may write //p' "$err" | sort | xargs)" "dir/sub (mode 0777) mode (mode 0666) open (mode 0666)"
wx apply
check "... and by apply" is "$(sed -n 's/: taken over, everybody on this machine may write it//p' "$out" | sort | xargs)" "dir/sub mode open"

finish
