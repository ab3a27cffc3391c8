#!/bin/sh
# SPDX-License-Identifier: MIT
# The command as a filter for pipes, its descriptors, its arguments, its exit status. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up

# --- descriptors ---
echo secret >"$home/secret"
exec 7<"$home/secret" 8>>"$tmp/log/eight"
says "no inherited descriptor but 0, 1, 2" "0 1 2" 'ls /proc/self/fd | grep -vx 3 | tr "\n" " " | sed "s/ $//"'
says "... not even without close-on-exec" "" '{ cat <&7; } 2>/dev/null; true'
exec 7<&- 8>&-
head -c 52428800 /dev/urandom >"$tmp/random"
"$wrapix" run --network none -- cat <"$tmp/random" >"$tmp/copy" 2>"$tmp/log/err"
check "50 MB through a filter: status" is $? 0
check "... byte for byte" cmp "$tmp/random" "$tmp/copy"
check "... without a word" empty "$tmp/log/err"
# shellcheck disable=SC2002 # a pipe is the point
cat "$tmp/random" | "$wrapix" run --network none -- sh -c 'cat; echo bad >&2' 2>"$tmp/log/err" | cat >"$tmp/copy"
check "the same through pipes" cmp "$tmp/random" "$tmp/copy"
check "... standard error apart" is "$(cat "$tmp/log/err")" bad
rm -f "$tmp/random" "$tmp/copy"
(
	"$wrapix" run --network none -- yes
	echo $? >"$tmp/rc"
) 2>"$tmp/log/err" | head -n 1 >/dev/null
check "a reader that goes away ends the command by SIGPIPE" is "$(cat "$tmp/rc")" 141
check "... without a word" empty "$tmp/log/err"
(
	trap '' PIPE
	"$wrapix" run --network none -- yes 2>/dev/null
	echo $? >"$tmp/rc"
) | head -n 1 >/dev/null
check "... also when wrapix was started with SIGPIPE ignored" is "$(cat "$tmp/rc")" 141
"$wrapix" run --network none -- sh -c 'cat; echo $?' <&- >"$tmp/log/out" 2>"$tmp/log/err"
check "closed standard input: reading fails, and nothing else" is "$(cat "$tmp/log/out")" 1
"$wrapix" run --network none -- sh -c 'echo x 2>/dev/null; exit $?' >&- 2>"$tmp/log/err"
check "closed standard output: writing fails" isnt $? 0
"$wrapix" run --network none -- sh -c 'exit 3' <&- >&- 2>&-
check "all three closed" is $? 3
"$wrapix" run --network none -- sh -c 'echo x >>/dev/stderr; echo y >>/dev/stdout; cat /dev/stdin' <<-END >>"$tmp/log/new" 2>"$tmp/log/err"
	z
END
check "/dev/stdin, /dev/stdout" is "$(cat "$tmp/log/new")" "$(printf 'y\nz')"
check "/dev/stderr" is "$(cat "$tmp/log/err")" x
echo original >"$tmp/input"
"$wrapix" run --network none -- sh -c '{ echo changed >/proc/self/fd/0; } 2>/dev/null; cat' <"$tmp/input" >"$tmp/log/out" 2>"$tmp/log/err"
check "a file given for reading cannot be written" is "$(cat "$tmp/input")" original
check "... and is read" is "$(cat "$tmp/log/out")" original
for options in "" --allow-nested; do
	# shellcheck disable=SC2086 # options are words
	"$wrapix" run --network none $options -- sh -c 'ls -a /proc/self/fd/0/ /proc/self/fd/0/..' <"$home" >"$tmp/log/out" 2>"$tmp/log/err"
	check "a directory as standard input is no door ($options)" lacks "$tmp/log/out" secret
done

# --- exit status ---
for n in 0 1 7 125 126 127 255; do
	inside "exit $n"
	check "exit $n comes back" ended "$n"
done
for s in TERM:143 KILL:137 INT:130 SEGV:139 HUP:129 ABRT:134; do
	inside "kill -${s%:*} \$\$"
	check "killed by SIG${s%:*} is ${s#*:}" ended "${s#*:}"
done
wx run --network none -- no-such-command
check "a command that is not there: 127" refused 127 "no-such-command"
wx run --network none -- ./no-such-file
check "... nor as a path" refused 127 "no-such-file"
echo 'echo hi' >"$project/script"
wx run --network none -- ./script
check "a file that is not executable: 126" refused 126 "script"
wx run --network none -- /usr
check "a directory: 126" refused 126 "/usr"
printf '#!/no/such/interpreter\n' >"$project/script"
chmod +x "$project/script"
wx run --network none -- ./script
check "a script whose interpreter is not there: 127" refused 127 "script"
printf '\177ELF garbage' >"$project/garbage"
chmod +x "$project/garbage"
wx run --network none -- ./garbage
check "a broken program: 126" refused 126 "garbage"
printf '#!/bin/sh\necho "$0" "$1"\n' >"$project/script"
wx run --network none -- ./script "a  b"
check "a script of the project runs, with its arguments" printed "./script a  b"
wx run --network none -- printf '%s|' '' ' ' '$HOME' "it's" -- "$(printf 'a\nb')"
check "arguments arrive as they are" is "$(cat "$out")" "$(printf "| |\$HOME|it's|--|a\nb|")"
wx run --no-such-option
check "a wrong option: 2" refused 2 "no-such-option"
wx run "$tmp/missing" -- true
check "wrapix itself cannot: 125" refused 125 "missing"
rm -f "$project"/*
finish
