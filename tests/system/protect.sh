#!/bin/sh
# SPDX-License-Identifier: MIT
# Files of the project that somebody outside obeys or runs later: what is told of them at the end, and what 'protect' makes of
# changes to them.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
git config --global user.name Tester
git config --global user.email tester@example.com
told() { grep -c "by the session: it counts when" "$err"; }
new() { # new NAME: a repository with some of them, at its top and deeper
	mkdir "$tmp/$1" && cd "$tmp/$1" || exit 1
	git init -q -b main
	mkdir -p .vscode sub/deep/.vscode plain/.claude
	echo '{"a": 1}' | tee .vscode/tasks.json sub/deep/.vscode/tasks.json >plain/.claude/settings.json
	echo one >sub/Makefile
	echo x >file
	git add -A && git commit -qm base
}

# --- reported, at every depth ---

new deep
wx run --git private --network none -- sh -c 'echo "{\"a\": 2}" >sub/deep/.vscode/tasks.json; echo two >>sub/Makefile; echo y >sub/deep/.envrc; echo y >file; rm plain/.claude/settings.json
	mkdir made; echo z >made/package.json; mkdir -p made/node_modules/.bin made/node_modules/p; echo x >made/node_modules/.bin/tool; echo x >made/node_modules/p/package.json'
check "those that changed are listed, however deep" eval 'is "$rc" 0 && is "$(told)" 5'
check "... with what makes them count" eval 'has "$err" "'"'sub/deep/.vscode/tasks.json' was changed by the session: it counts when you open the project in VS Code"'" && has "$err" "'"'sub/deep/.envrc' was added"'" && has "$err" "'"'plain/.claude/settings.json' was removed"'"'
check "... and the difference" eval 'has "$err" "+{\"a\": 2}" && has "$err" "+two" && lacks "$err" "+one"'
check "what a package manager fills is one line" is "$(grep -c node_modules "$err")" 1
new moved
wx run --git private --network none -- sh -c 'mkdir -p new/x; echo a >new/x/.envrc; mv new here; mv sub/deep sub/deeper; mkdir v && echo 1 >v/settings.json && mv v .zed; ln -s /etc/passwd .exrc; cp Makefile x 2>/dev/null; touch sub/Makefile; chmod 644 sub/Makefile'
check "what comes by a rename is seen, too" eval 'has "$err" "'"'here/x/.envrc' was added"'" && has "$err" "'"'sub/deeper/.vscode/tasks.json' was added"'" && has "$err" "'"'.zed/settings.json' was added"'" && has "$err" "'"'.exrc' was added"'"'
check "... and a touch is no change" lacks "$err" "sub/Makefile"
wx run --git private --network none -- sh -c 'echo y >file; echo "{\"a\": 1}" >.vscode/tasks.json'
check "nothing is said where nothing changed" is "$(told)" 0

new backslash
printf 'a\n' >sub/Makefile && git commit -qam makefile
wx run --git private --network none -- sh -c 'printf "all: ; echo \"a\\\\b\" \\\\033[31m \033[31m \342\200\256\n" >sub/Makefile'
check "the difference has backslashes as they are, and no byte that a terminal obeys" has "$err" '+all: ; echo "a\b" \033[31m \x1b[31m \xe2\x80\xae'

# --- wrapix.json, which is read-only where it is ---

new own
wx run --git private --network none -- sh -c 'n=0; no() { "$@" 2>/dev/null || n=$((n + 1)); }; echo {} >f
	no sh -c "echo {} >wrapix.json"; no touch WRAPIX.json; no mv f wrapix.json; no ln f wrapix.json; no ln -s f wrapix.json; no mkdir .wrapix; mkdir d; no mv d .wrapix
	echo {} >sub/wrapix.json; echo {} >wrapix.jsonx; echo $n'
check "no wrapix.json is made for the project, by any way" eval 'is "$(cat "$out")" 7 && is "$(ls -A | tr "\n" " ")" ".git .vscode d f file plain sub wrapix.jsonx "'
check "... it is said; one elsewhere is told of" eval 'has "$err" "it decides about the next session here" && has "$err" "'"'sub/wrapix.json' was added"'"'
wx run --git private --network none --protect agent=allow -- sh -c 'echo {} >wrapix.json'
check "... but where the user allows it" is "$rc $(cat wrapix.json)" "0 {}"

# --- allow and ro ---

new levels
wx run --git private --network none --protect editor=ro --protect build=allow -- sh -c 'n=0; no() { "$@" 2>/dev/null || n=$((n + 1)); }
	no sh -c "echo 2 >.vscode/tasks.json"; no rm sub/deep/.vscode/tasks.json; no touch sub/deep/.vscode/new; no mkdir .idea; no mv .vscode v; mkdir v; echo 1 >v/x; no mv v .zed; no ln -s v .idea; no ln file .exrc; no sh -c "echo 1 >sub/a.code-workspace"
	no chmod 777 .vscode/tasks.json; echo three >>sub/Makefile; echo e >.envrc; echo $n'
check "ro: nothing of that kind is changed, made, moved or removed" eval 'is "$(cat "$out")" 10 && is "$(git status --short | tr "\n" " ")" " M sub/Makefile ?? .envrc ?? v/ "'
check "... and it is said" has "$err" "it runs later, and protect.editor is ro"
check "allow: nothing is said; the others are told of" eval 'lacks "$err" "sub/Makefile" && has "$err" "'"'.envrc' was added"'"'
printf '{"protect": {"editor": "ro", "shell": "allow"}}\n' >wrapix.json
wx run --git private --network none -- true
check "a project may ask for more protection, and not for less" eval 'is "$rc" 125 && has "$err" "wrapix trust"'
printf '{"protect": {"editor": "ro"}}\n' >wrapix.json
wx run --git private --network none -- sh -c 'echo 2 >.vscode/tasks.json'
check "... which holds without a word" eval 'is "$(cat .vscode/tasks.json)" "{\"a\": 1}"'
printf '{"protect": {"editer": "ro"}}\n' >wrapix.json
wx run --network none -- true
check "a wrong class is named" eval 'is "$rc" 2 && has "$err" "did you mean"'
rm wrapix.json
wx run --network none --protect editor -- true
check "... and on the command line" eval 'is "$rc" 2 && has "$err" "CLASS=LEVEL"'
wx run --network none --protect editor=rw -- true
check "... a wrong level" eval 'is "$rc" 2 && has "$err" "allow, report, hold, ro"'

# --- hold ---

new held
wx run --git private --network none --protect editor=hold -- sh -c 'echo "{\"a\": 2}" >.vscode/tasks.json; echo n >.vscode/new; mkdir .zed; echo z >.zed/z; rm sub/deep/.vscode/tasks.json; mkdir sub/deep/.vscode/d; echo e >.exrc
	cat .vscode/tasks.json .zed/z; ls sub/deep/.vscode; git add -A; git commit -qm inside; git status --short; mv .vscode v 2>/dev/null || echo busy; mkdir q; mv q .idea 2>/dev/null || echo refused'
check "hold: inside all of it works" is "$(tr '\n' ' ' <"$out")" '{"a": 2} z d busy refused '
check "... the project has nothing of it" eval 'is "$(cat .vscode/tasks.json sub/deep/.vscode/tasks.json | tr "\n" " ")" "{\"a\": 1} {\"a\": 1} " && is "$(find .vscode .zed sub -name "[nzd]" | tr "\n" " ")" ""'
check "... but files by themselves, which are told of" eval 'exists .exrc && has "$err" "'"'.exrc' was added"'"'
check "... and the commit is there, so that status shows what is missing" eval 'is "$(git log -1 --format=%s)" inside && git status --short | grep -q " M .vscode/tasks.json"'
id=$(sed -n "s/.*wrapix git accept \([^ ]*\) dir:.vscode'.*/\1/p" "$err")
check "it is said how to take it over" [ -n "$id" ]
wx git held
check "held lists it" eval 'has "$out" "dir:.vscode  files in it run later (session $id)" && has "$out" "+ tasks.json" && has "$out" "dir:sub/deep/.vscode" && has "$out" "- tasks.json"'
wx git held --json
check "... for programs as well" is "$(jq -r '[.[] | select(.kind == "dir") | .name] | sort | join(" ")' "$out")" ".vscode .zed sub/deep/.vscode"
wx git accept "$id" dir:.vscode
check "accept takes it over" eval 'is "$rc" 0 && has .vscode/tasks.json 2 && has .vscode/new n'
wx git accept "$id" dir:sub/deep/.vscode
check "... what was removed, too" eval 'is "$rc" 0 && absent sub/deep/.vscode/tasks.json && exists sub/deep/.vscode/d'
wx git drop "$id" dir:.zed
check "drop forgets it" eval 'is "$rc" 0 && absent .zed/z'
wx git held
check "then nothing is held" eval 'is "$rc" 0 && lacks "$out" "dir:" && is "$(find "$state/gate" "$state/gatedirs" -mindepth 1 2>/dev/null | wc -l)" 0'
new escape
mkdir "$tmp/outside"
wx run --git private --network none --protect editor=hold -- sh -c 'ln -s ../../outside .vscode/link; mkdir .vscode/sub; ln -s / .vscode/sub/root; printf x >.vscode/set; chmod 4755 .vscode/set; mkfifo .vscode/fifo'
id=$(sed -n "s/.*wrapix git accept \([^ ]*\) dir:.vscode'.*/\1/p" "$err")
rm -rf .vscode && ln -s "$tmp/outside" .vscode
wx git accept "$id" dir:.vscode
check "accept follows no link of the project's" eval '! [ "$rc" = 0 ] && is "$(ls -A "$tmp/outside")" ""'
rm .vscode
wx git accept "$id" dir:.vscode
check "... nor of the session's; rights and special files do not come along" eval 'is "$rc" 0 && [ -L .vscode/link ] && is "$(stat -c %a .vscode/set)" 755 && absent .vscode/fifo'

# --- without the supervisor's hand on the files ---

new direct
wx run --git direct --network none --protect editor=ro -- sh -c 'echo 2 >.vscode/tasks.json; echo 3 >.envrc; mkdir .zed' 2>/dev/null
check "direct: what is at the top is told of, and closed" eval 'has "$err" "'"'.envrc' was added"'" && is "$(cat .vscode/tasks.json)" "{\"a\": 1}"'
check "... and what does not hold is said" has "$err" "protect.editor is ro: without --git private"
wx run --network none --git direct --protect shell=allow -- sh -c 'echo 4 >.envrc; echo 5 >Makefile'
check "... by class" eval 'lacks "$err" "envrc" && has "$err" "'"'Makefile' was added by the session: it counts when you run make"'"'
finish
