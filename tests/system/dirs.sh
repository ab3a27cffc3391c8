#!/bin/sh
# SPDX-License-Identifier: MIT
# Odd project directories and odd homes: each works or gives one clear line, and nothing is left in the tree.
# Prints TAP.
#
# shellcheck disable=SC1091,SC2015,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up

# --- names ---
valid_json() { python3 -c 'import json, sys; json.load(open(sys.argv[1], encoding="utf-8", errors="strict"))' "$1"; }
long=$(printf '%0255d' 0)
for name in "a b" "a:b" "it's" 'say "hi"' "$(printf 'new\nline')" "$(printf 'bytes \377\376')" "-dash" "--help" \
	"$(printf 'esc\033[31m')" 'back\slash' '$HOME' '`id`' '%s%n' "$(printf 'tab\t')" " " "ünï ☃" "a,b" "..." "~" "*" "#x" "$long"; do
	mkdir -- "$tmp/$name" && cd -- "$tmp/$name" || bail "cannot make '$name'"
	inside 'pwd; echo made >f'
	check "works: DIR '$name'" printed /workspace
	check "... the file is there" is "$(cat ./f)" made
	rm f
	check "... and nothing else" is "$(ls -A .)" ""
	cd "$tmp" || exit 1
	wx run --network none "./$name" -- pwd
	check "... named from elsewhere" printed /workspace
	wx plan "$tmp/$name" -- true
	check "... its plan is printable" printable "$out"
	wx plan "$tmp/$name" --json -- true
	check "... and good JSON" valid_json "$out"
	cd -- "$tmp/$name" || exit 1
	mkfifo "$tmp/fifo"
	"$wrapix" run --network none --mount "$tmp/fifo:/fifo" -- sh -c 'echo up >/fifo; cat /fifo' >/dev/null 2>&1 &
	started=$!
	hear "$tmp/fifo"
	"$wrapix" ps >"$tmp/log/out" 2>"$tmp/log/err"
	check "... listed by ps, printable" printable "$tmp/log/out"
	"$wrapix" ps --json >"$tmp/log/out" 2>"$tmp/log/err"
	check "... and as good JSON" valid_json "$tmp/log/out"
	tell "$tmp/fifo"
	wait $started
	rm "$tmp/fifo"
	snapshot . >"$tmp/tree"
	wx run --network none --mount /nonexistent:/x -- true
	check "... an error is one clear line" refused 125 "nonexistent"
	check "... that leaves nothing" same_tree . "$tmp/tree"
	cd "$tmp" || exit 1
done
wx run -- -dash
check "a DIR with a dash must be written ./-dash" isnt "$rc" 0

# --- links ---
mkdir "$tmp/real"
ln -s real "$tmp/link"
ln -s link "$tmp/link2"
cd "$tmp" || exit 1
wx run link2 --network none -- sh -c 'touch through; pwd'
check "works: DIR a link to a link" printed /workspace
check "... to where it leads" exists "$tmp/real/through"
wx plan link -- true
check "... whose plan names the real path" grep -qx "project *$tmp/real" "$out"
ln -s nowhere "$tmp/dangling"
wx run dangling --network none -- true
check "a link that leads nowhere" refused 125 "dangling"
ln -s loop "$tmp/loop"
wx run loop --network none -- true
check "a link to itself" refused 125 "loop"
mkdir -p "$tmp/real/sub"
cd "$tmp/link2/sub" || exit 1
wx run .. --network none -- ls
check "..: the directory above, as the kernel sees it" grep -qx through "$out"

# --- too broad ---
cd "$project" || exit 1
broad() { # broad DIR TEXT
	wx run "$1" --network none -- true
	check "refused: DIR $1" refused 2 "$2"
}
broad / "home directory"
broad "$home" "home directory"
broad "$tmp" "home directory"
broad "$home/." "home directory"
broad "$home/../home/" "home directory"
ln -s "$home" "$tmp/to-home"
broad "$tmp/to-home" "home directory"
for d in /proc /sys /dev /proc/self /proc/sys /sys/kernel; do
	broad "$d" "not a directory of files"
done
cd "$home" || exit 1
wx run --network none -- true
check "refused: the home as the current directory" refused 2 "home directory"
HOME=$tmp/to-home wx run --network none -- true
check "refused: the home when HOME is a link to it" refused 2 "home directory"
HOME=/nonexistent wx run "$real_home" --network none -- true
check "refused: the home of passwd, whatever HOME says" refused 2 "home directory"
echo here >"$home/mark"
says "with --force the home works" here 'cat mark' --force
wx run / --force --network none -- sh -c 'ls -d usr etc; cat "/workspace$1/mark"' sh "$home"
check "with --force / works" is "$(xargs <"$out")" "etc usr here"
check "... ends well" is "$rc" 0

# --- directories that cannot be used ---
cd "$project" || exit 1
mkdir "$tmp/closed" "$tmp/unsearchable"
chmod 000 "$tmp/closed"
wx run "$tmp/closed" --network none -- true
check "refused: unreadable DIR" refused 125 "Permission denied"
cd / || exit 1
wx run "$tmp/closed/below" --network none -- true
check "refused: below an unreadable DIR" refused 125 "Permission denied"
chmod 755 "$tmp/closed"
if [ -d /root ] && [ ! -r /root ]; then
	wx run /root --network none -- true
	check "refused: somebody else's private DIR" refused 125 "Permission denied"
fi
cd "$project" || exit 1
echo content >"$tmp/file"
wx run "$tmp/file" --network none -- true
check "refused: DIR is a file" refused 125 "Not a directory"
wx run "$tmp/missing" --network none -- true
check "refused: DIR is missing" refused 125 "No such file"
check "... and is not made" absent "$tmp/missing"
wx run "" --network none -- true
check "refused: an empty name" isnt "$rc" 0
check "... in one line" [ "$(wc -l <"$err")" -le 2 ]
mkdir "$tmp/gone" && cd "$tmp/gone" && rmdir "$tmp/gone"
wx run --network none -- true
check "refused: a deleted current directory" refused 125 "No such file"
wx run "$project" --network none -- pwd
check "... from which another DIR works" printed /workspace
wx plan "$project" -- true
check "... and plan" is "$rc" 0
cd "$project" || exit 1
chmod 555 "$project"
says "works: a DIR that cannot be written" "no" 'touch x 2>/dev/null || echo no'
chmod 755 "$project"
says "works: DIR below /usr" "no" 'touch x 2>/dev/null || echo no' /usr/share
for d in /tmp /var/tmp /dev/shm; do
	other=$(mktemp -d "$d/wrapix-dirs.XXXXXX")
	wx run "$other" --network none -- sh -c 'echo made >f; ls -A /tmp /var/tmp /dev/shm | grep -v :'
	check "works: DIR in $d" is "$(cat "$other/f")" made
	rm -rf "$other"
done
deep=$tmp/deep
mkdir "$deep" && cd "$deep" || exit 1
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
	mkdir "$long" && cd "$long" || break
done
says "works: a path of nearly 4096 bytes" "made" 'echo made >f; cat f'
cd "$project" || exit 1
python3 - "$deep" "$wrapix" >"$tmp/log/out" 2>"$tmp/log/err" <<'PY'
import os, subprocess, sys
os.chdir(sys.argv[1])
for i in range(20):
    os.makedirs("x" * 250, exist_ok=True)
    os.chdir("x" * 250)
sys.exit(subprocess.run([sys.argv[2], "run", "--network", "none", "--", "true"]).returncode)
PY
rc=$? out=$tmp/log/out err=$tmp/log/err
check "refused: a path longer than the kernel takes" refused 125 "too long"
rm -rf "$deep"

# --- disks ---
# The sandbox's own rights in these tests: none, but in a user namespace of the test's.
mkdir "$tmp/disk"
fill='mount -t tmpfs -o size=64k none "'"$tmp/disk"'"; mkdir "'"$tmp"'/disk/p"; cat /dev/zero >"'"$tmp/disk/ballast"'" 2>/dev/null || :'
before=$fill
says "works: DIR on a full disk" "No space" 'touch f && echo x 2>/dev/null >f || echo x | cat 2>&1 >f | grep -o "No space"; ls f >/dev/null' "$tmp/disk/p"
XDG_STATE_HOME=$tmp/disk/state wx run --network none -- pwd
check "works: state on a full disk" is "$rc $(cat "$out")" "0 /workspace"
check "... with two warnings at most: the session, git" [ "$(wc -l <"$err")" -le 2 ]
XDG_STATE_HOME=$tmp/disk/state wx run --network none --home keep -- sh -c 'echo x >~/f || echo no'
check "a kept home on a full disk: works or one clear line" [ "$rc" = 0 -o "$(grep -c '^wrapix: ' "$err")" = 1 ]
before='mount -t tmpfs -o nr_inodes=1 none "'"$tmp/disk"'"'
XDG_STATE_HOME=$tmp/disk wx exec -- sh -c 'touch f 2>&1 | grep -o "No space left"'
check "a state directory that there is no room for: nothing is changed out of turn" printed "No space left"
before='mount -t tmpfs -o ro none "'"$tmp/disk"'"'
wx run "$tmp/disk" --network none -- sh -c 'touch x 2>/dev/null || echo no'
check "works: DIR on a read-only disk" printed no
XDG_STATE_HOME=$tmp/disk/state wx run --network none -- pwd
check "works: state on a read-only disk" is "$rc $(cat "$out")" "0 /workspace"
check "... with two warnings that name it: the session, git" is "$(grep -c "$tmp/disk/state" "$err") $(wc -l <"$err")" "2 2"
XDG_STATE_HOME=$tmp/disk/state wx run --network none --home keep -- true
check "a kept home on a read-only disk is refused" is "$rc $(tail -n 1 "$err" | grep -c "$tmp/disk/state")" "125 1"
before='mount -t tmpfs -o noexec,nosuid,nodev,noatime none "'"$tmp/disk"'"; cp /bin/true "'"$tmp/disk"'/t"'
wx run "$tmp/disk" --network none -- sh -c 'touch f; ./t 2>/dev/null; echo $?'
check "works: DIR on a disk without exec, which stays so" printed 126
before='mount -t tmpfs none "'"$tmp/disk"'"; mkdir "'"$tmp"'/disk/m"; mount -t tmpfs none "'"$tmp"'/disk/m"; echo deep >"'"$tmp"'/disk/m/f"'
wx run "$tmp/disk" --network none -- sh -c 'cat m/f; echo new >m/g; cat m/g'
check "works: DIR with another disk mounted in it" printed "$(printf 'deep\nnew')"
program=$wrapix
cp "$wrapix" "$tmp/wrapix" # which may be in /tmp itself
wrapix=$tmp/wrapix
for network in none open; do
	before='mount -t tmpfs -o mode=0555 none /tmp; mount -t tmpfs -o mode=0555 none /var/tmp'
	wx run --network $network -- sh -c 'touch /tmp/x && pwd && ip link | grep -c UP'
	check "works: no /tmp that can be written, network $network" is "$rc $(head -n 1 "$out")" "0 /workspace"
	before='mount -t tmpfs -o size=64k none /tmp; cat /dev/zero >/tmp/ballast 2>/dev/null || :'
	[ $network = none ] || before='mount -t tmpfs -o size=64k,nr_inodes=1 none /tmp'
	wx run --network $network -- sh -c 'touch /tmp/x && pwd'
	check "works: a full /tmp, network $network" is "$rc $(head -n 1 "$out")" "0 /workspace"
done
before=
# No /tmp at all: a root made of the host's directories but that one.
if command -v bwrap >/dev/null; then
	set -- --dev-bind /dev /dev --bind /proc /proc
	for d in /*; do
		case $d in /tmp | /dev | /proc) continue ;; esac
		if [ -L "$d" ]; then set -- "$@" --symlink "$(readlink "$d")" "$d"; else set -- "$@" --bind "$d" "$d"; fi
	done
	bwrap "$@" -- sh -c '[ ! -e /tmp ] && exec "$@"' sh "$wrapix" run "$project" --network none -- sh -c 'touch /tmp/x && pwd' \
		>"$tmp/log/out" 2>"$tmp/log/err" </dev/null
	check "works: no /tmp at all" is "$(cat "$tmp/log/out")" /workspace
	bwrap "$@" -- sh -c '[ ! -e /tmp ] && exec "$@"' sh "$wrapix" run "$project" -- \
		python3 -c 'import socket; socket.socket(); print("up")' >"$tmp/log/out" 2>"$tmp/log/err" </dev/null
	check "... and pasta, which needs one, is said to be missing" grep -q 'pasta could not attach' "$tmp/log/err"
else
	skip "works: no /tmp at all" "bwrap is not installed"
fi
wrapix=$program

# --- homes ---
mkdir "$tmp/blocked"
chmod 555 "$tmp/blocked"
XDG_STATE_HOME=$tmp/blocked wx run --network none -- pwd
check "works: XDG_STATE_HOME cannot be written" is "$rc $(cat "$out")" "0 /workspace"
check "... with two warnings that name it: the session, git" is "$(grep -c "$tmp/blocked" "$err") $(wc -l <"$err")" "2 2"
mkdir -p repo && git init -q repo
XDG_STATE_HOME=$tmp/blocked wx run repo --network none -- sh -c 'git status >/dev/null && touch f && git add f 2>/dev/null || echo read-only'
check "... in a repository .git is read-only then" is "$(cat "$out")" read-only
check "... and that is said" has "$err" ".git is read-only inside"
XDG_STATE_HOME=$tmp/file wx run --network none -- pwd
check "works: XDG_STATE_HOME is a file" is "$rc $(cat "$out") $(wc -l <"$err")" "0 /workspace 2"
mkdir -m 777 "$tmp/open" && chmod 777 "$tmp/open"
XDG_RUNTIME_DIR=$tmp/open wx run --network none -- pwd
check "works: an XDG_RUNTIME_DIR that others write" printed /workspace
check "... in which nothing is put" is "$(ls -A "$tmp/open")" ""
XDG_STATE_HOME=relative wx run --network none -- pwd
check "works: a relative XDG_STATE_HOME does not count" printed /workspace
check "... and makes nothing in DIR" absent "$project/relative"
HOME=$tmp/no-such-home wx run --network none -- sh -c 'echo ~'
check "works: a HOME that is not there" is "$rc $(cat "$out")" "0 /home/wrapix"
HOME=relative wx run --network none -- sh -c 'echo ~'
check "works: a relative HOME" is "$rc $(cat "$out")" "0 /home/wrapix"
check "... which makes nothing in DIR" absent "$project/relative"
env -u HOME "$wrapix" run --network none -- sh -c 'echo ~' >"$tmp/log/out" 2>"$tmp/log/err"
check "works: no HOME" is "$(cat "$tmp/log/out")" /home/wrapix
homeless() { env -u HOME -u XDG_STATE_HOME -u XDG_CONFIG_HOME -u XDG_CACHE_HOME "$wrapix" "$@"; }
homeless run --network none --workspace cow --name homeless -- touch x 2>"$tmp/log/err"
homeless ps >"$tmp/log/out"
check "... and the other commands look where it was" grep -q ' homeless ' "$tmp/log/out"
homeless discard homeless --yes >"$tmp/log/out" 2>"$tmp/log/err"
check "... to take it away, too" is "$? $(cat "$tmp/log/err")" "0 "
homeless key list >"$tmp/log/out" 2>"$tmp/log/err"
check "... keys are looked for there" is "$? $(cat "$tmp/log/err")" "0 "
env -i "$wrapix" run --network none -- sh -c 'echo ~' >"$tmp/log/out" 2>"$tmp/log/err"
check "works: no environment at all" is "$(cat "$tmp/log/out")" /home/wrapix
# Without PATH programs are where the C library has them for everybody else.
mkdir "$tmp/log/far"
env -i "$wrapix" plan -- true >"$tmp/log/out" 2>&1
env -i PATH=/usr/bin:/bin "$wrapix" plan -- true >"$tmp/log/err" 2>&1
check "... and the plan is the one of who has the usual PATH" cmp "$tmp/log/err" "$tmp/log/out"
env -i "$wrapix" exec -- env >"$tmp/log/out" 2>"$tmp/log/err"
check "... and 'exec' finds a command" is "$? $(grep -c '^PATH=' "$tmp/log/out")" "0 0"
env -i PATH="$tmp/log/far" "$wrapix" exec -- env >"$tmp/log/out" 2>"$tmp/log/err"
check "(control) a PATH with nothing in it is one" is "$?" 127
# What these left in the user's real state directory is swept.
HOME=$real_home "$wrapix" ps >/dev/null 2>&1

# --- wrapix's own files, by a link ---
mkdir -p "$tmp/dotfiles/config" "$tmp/dotfiles/mine" "$tmp/config"
ln -s "$tmp/dotfiles/config" "$tmp/home-link"
ln -s "$tmp/dotfiles/mine" "$tmp/config/wrapix"
cd "$tmp/dotfiles" || exit 1
for where in home-link config; do
	XDG_CONFIG_HOME=$tmp/$where wx run --network none -- true
	check "refused: what the configuration's $where leads to" refused 2 "holds wrapix's own files"
	XDG_CONFIG_HOME=$tmp/$where wx run --force --network none -- true
	check "... but with --force" is "$rc" 0
	XDG_CONFIG_HOME=$tmp/$where wx run "$project" --mount "$tmp/dotfiles:/mnt:rw" --network none -- true
	check "... nor is it mounted to write" refused 2 "holds wrapix's own files"
done
XDG_CONFIG_HOME=$tmp/home-link wx run "$tmp/dotfiles/mine" --network none -- true
check "works: what lies beside it" is "$rc" 0

# --- a DIR that goes away ---
mkdir "$tmp/leaving"
cd "$tmp/leaving" || exit 1
mkfifo "$tmp/fifo"
"$wrapix" run --network none --mount "$tmp/fifo:/fifo" -- sh -c 'echo up >/fifo; cat /fifo; exit 4' >/dev/null 2>&1 &
started=$!
hear "$tmp/fifo"
rmdir "$tmp/leaving"
tell "$tmp/fifo"
wait $started
check "DIR removed while the command runs: it ends in its own time" is $? 4
finish
