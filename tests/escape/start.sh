#!/bin/sh
# SPDX-License-Identifier: MIT
# Attacks on the start itself: a hostile project decides what wrapix finds when it starts, and somebody swaps names
# while it does. Each check has its control: the same thing where it is allowed, or done by a careless program, works.
# Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
attempt=${ATTEMPT:-$top/build/src/selftest/attempt/wrapix-attempt}
[ "$(id -u)" != 0 ] || {
	need_user
	cd / || exit 1
	as_user env ATTEMPT="$attempt" WRAPIX="$wrapix" "$here/${0##*/}"
	exit
}
set_up

token=wx-$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
secret=$home/secret
mkdir "$secret"
echo "$token" >"$secret/key"
git config --global user.name N
git config --global user.email n@example.org
starts=200

# A fresh project; the last one is left to tear_down.
n_projects=0
new_project() {
	n_projects=$((n_projects + 1))
	project=$tmp/p$n_projects
	mkdir "$project"
	cd "$project" || exit 1
	out=$tmp/log/out
}

was_refused() { isnt "$rc" 0 && lacks "$out" ran; }
shows_secret() { has "$out" "$token"; }
hides_secret() { is "$rc" 0 && lacks "$out" "$token"; }

# --- a project's wrapix.json that asks for more: nothing runs before it is trusted, and then it holds ---

# asks NAME JSON SCRIPT TEXT: refused; once trusted, the script prints TEXT, so the key was a real one.
asks() {
	new_project
	asks_name=$1
	mkdir x
	printf '%s\n' "$2" >wrapix.json
	wx run -- sh -c "echo ran; $3"
	check "untrusted: $asks_name" was_refused
	wx trust --yes
	wx run -- sh -c "echo ran; $3"
	check "... control: trusted, it holds" has "$out" "$4"
}

none='"network": "none"'
asks "a mount of the home" "{$none, \"mounts\": [\"~/secret:/s:ro\"]}" 'cat /s/key' "$token"
asks "a mount by a variable" "{$none, \"mounts\": [\"\$HOME/secret:/s\"]}" 'cat /s/key' "$token"
asks "a mount by an absolute path" "{$none, \"mounts\": [\"$secret:/s\"]}" 'cat /s/key' "$token"
asks "a mount by .." "{$none, \"mounts\": [\"../home/secret:/s\"]}" 'cat /s/key' "$token"
asks "a mount by a hidden .." "{$none, \"mounts\": [\"./x/../../home/secret:/s\"]}" 'cat /s/key' "$token"
asks "a mount over the system" "{$none, \"mounts\": [\".:/usr/share/doc:ro\"]}" 'ls /usr/share/doc' wrapix.json
export WX_SECRET="$token"
asks "a variable of the host's" "{$none, \"env\": {\"WX_SECRET\": null}}" 'echo "$WX_SECRET"' "$token"
unset WX_SECRET
asks "a variable that steers the agent" "{$none, \"env\": {\"ANTHROPIC_BASE_URL\": \"http://evil\"}}" \
	'echo "$ANTHROPIC_BASE_URL"' http://evil
asks "a library for every program" "{$none, \"env\": {\"LD_LIBRARY_PATH\": \"/workspace\"}}" 'echo "$LD_LIBRARY_PATH"' \
	/workspace
asks "the host's network" '{"network": "host"}' 'ls /workspace' wrapix.json
asks "nested namespaces" "{$none, \"allowNested\": true}" 'unshare -Ur id -u' 0
asks "limits lifted" "{$none, \"limits\": {\"pids\": 100000}}" 'true' ran

new_project
echo '{"network": "none", "mounts": ["~/secret:/s"]}' >wrapix.json
wx trust --yes
wx run -- cat /s/key
check "control: what was trusted runs" shows_secret
echo '{"network": "none", "mounts": ["~/:/s"]}' >wrapix.json
wx run -- echo ran
check "trust ends when the content changes" was_refused
mkdir "$tmp/copy"
echo '{"network": "none", "mounts": ["~/secret:/s"]}' | tee wrapix.json >"$tmp/copy/wrapix.json"
wx run -- echo ran
check "control: ... and comes back with it" is "$rc" 0
cd "$tmp/copy" || exit 1
wx run -- echo ran
check "trust is not for the same content elsewhere" was_refused

# broken WHAT JSON: no trust helps, because it must never be.
broken() {
	new_project
	printf '%s\n' "$2" >wrapix.json
	mkdir data
	wx trust --yes
	wx run -- echo ran
	check "never: $1" was_refused
}
new_project
mkdir data
echo "{$none, \"mounts\": [\"data:/data\"]}" >wrapix.json
wx run -- sh -c 'echo ran >/data/x'
check "a directory of the project, writable at a place of its own, where nobody looks" was_refused
wx trust --yes
wx run -- sh -c 'echo ran >/data/x'
check "... control: it can be trusted" exists data/x
broken "a mount over /proc" "{$none, \"mounts\": [\"data:/proc/sys\"]}"
broken "a mount over /dev" "{$none, \"mounts\": [\"data:/dev/shm\"]}"
broken "a mount over /" "{$none, \"mounts\": [\"data:/\"]}"
broken "a place with .." "{$none, \"mounts\": [\"data:/data/../etc\"]}"
broken "a home with .." "{$none, \"mounts\": [\"data:~/../../etc\"]}"
broken "a second door to itself" "{$none, \"mounts\": [\".:/door\"]}"
broken "a profile by a path" "{$none, \"profile\": \"../../x\"}"

new_project
mkdir real
echo "{$none}" >real/wrapix.json
cp real/wrapix.json .
wx run -- echo ran
check "control: a plain wrapix.json" is "$rc" 0
ln -sf real/wrapix.json wrapix.json
wx run -- echo ran
check "a wrapix.json that is a link is refused" was_refused
rm wrapix.json
mkfifo wrapix.json
wx run --network none -- echo ran
check "... or a FIFO" was_refused
rm wrapix.json
ln -s /dev/zero wrapix.json
wx run --network none -- echo ran
check "... or a device" was_refused

# A file that the user names is obeyed as his own: not where the sandbox writes.
new_project
echo "{$none}" >mine.json
echo "{$none}" >"$tmp/mine.json"
ln -s "$tmp/mine.json" link.json
wx run --config "$tmp/mine.json" -- echo ran
check "control: --config with a file elsewhere" is "$rc" 0
for file in mine.json "$project/mine.json" link.json; do
	wx run --config "$file" -- echo ran
	check "--config $file, which the sandbox could write, is refused" was_refused
done
ln -s "$project/mine.json" "$tmp/inward.json"
wx run --config "$tmp/inward.json" -- echo ran
check "... by a link to it, too" was_refused
wx run --profile "$project/mine.json" -- echo ran
check "... and a profile" was_refused
mkdir sub
wx run sub --network none --only --config mine.json -- echo ran
check "... not where only a part of it is given" is "$rc" 0
wx run --force --config mine.json -- echo ran
check "... nor with --force" is "$rc" 0

# --- second doors to the files that decide about the next start ---

door='echo "{ }" >"$1" && echo through'
new_project
echo '{}' >wrapix.json
wx run --network none --mount ".:/door" -- sh -c "$door" sh /door/wrapix.json
check "control: a door that the user makes is open" has "$out" through

closed() { lacks "$out" through && is "$(cat wrapix.json)" "$was"; }
try_door() { # try_door NAME PATH [OPTION...]
	door_name=$1 door_path=$2
	shift 2
	was=$(cat wrapix.json)
	wx run --network none "$@" -- sh -c "$door" sh "$door_path"
	check "no second door: $door_name" closed
}

new_project
ln -s . here
echo '{"mounts": [{"source": "here", "dest": "/door", "mode": "rw"}]}' >wrapix.json
try_door "a mount by a link to the project" /door/wrapix.json
new_project
ln -s wrapix.json same
echo '{"mounts": [{"source": "same", "dest": "/door", "mode": "rw"}]}' >wrapix.json
try_door "a mount by a link to wrapix.json" /door
new_project
ln -s . here
echo '{"mounts": [{"source": "here/here", "dest": "/door", "mode": "rw"}]}' >wrapix.json
try_door "a mount by a link in a link" /door/wrapix.json
new_project
echo '{}' >wrapix.json
ln wrapix.json other
try_door "a hard link that was there before" other
new_project
mkdir .wrapix
echo '{}' >.wrapix/state
ln -s .wrapix/state wrapix.tmp
echo '{"mounts": [{"source": "wrapix.tmp", "dest": "/door", "mode": "rw"}]}' >wrapix.json
try_door "a mount by a link into .wrapix" /door
check "... where nothing changed" is "$(cat .wrapix/state)" '{}'

# A .git file may name any directory; only a repository that knows this project is believed.
git_door() { # git_door NAME GITDIR PATH
	new_project
	mkdir -p "$2/objects" "$2/refs"
	echo 'ref: refs/heads/main' >"$2/HEAD"
	printf '[core]\n\tworktree = %s\n' "$project" >"$2/config"
	echo "gitdir: $2" >.git
	echo '{}' >wrapix.json
	try_door "$1" "$project/$3"
}
git_door "a git directory that is the project" . wrapix.json
git_door "a git directory in .wrapix" .wrapix/git ../wrapix.json
mkdir "$tmp/around"
cd "$tmp/around" || exit 1
mkdir -p objects refs inner
echo 'ref: refs/heads/main' >HEAD
printf '[core]\n\tworktree = %s/inner\n' "$tmp/around" >config
cd inner || exit 1
echo 'gitdir: ..' >.git
echo '{}' >wrapix.json
project=$tmp/around/inner
try_door "a git directory around the project" "$project/wrapix.json"

git init -q "$tmp/other"
echo "$token" >"$tmp/other/.git/token"
git -C "$tmp/other" commit -q --allow-empty -m x
git -C "$tmp/other" worktree add -q "$tmp/tree" 2>/dev/null
cd "$tmp/tree" || exit 1
wx run --network none --git direct -- cat "$tmp/other/.git/token"
check "control: the repository of a worktree is there" shows_secret
wx run --network none -- sh -c 'git log --format=%s; cat "$@"; true' sh "$tmp/other/.git/token"
check "... by default its history alone" is "$(cat "$out")" x
for link in "$tmp/other/.git" "$tmp/other/.git/worktrees/tree" "$secret" "$home" /; do
	new_project
	echo "gitdir: $link" >.git
	wx run --network none --git direct -- sh -c 'cat "$@"; true' sh "$tmp/other/.git/token" "$secret/key"
	check "a .git that names ${link#"$tmp"/} is not followed" hides_secret
	wx run --network none -- sh -c 'git log --format=%s; cat "$@"; find /run/wrapix-git -type f' sh "$tmp/other/.git/token" "$secret/key"
	check "... nor for a git directory of the session's own" is "$(cat "$out")" ""
done
new_project
mkdir fake
printf '%s\n' "$tmp/other/.git" >fake/commondir
printf '%s\n' "$project/.git" >fake/gitdir
echo 'ref: refs/heads/main' >fake/HEAD
echo 'gitdir: fake' >.git
for mode in private direct; do
	wx run --network none --git $mode -- sh -c 'git log --format=%s; cat "$@"; true' sh "$tmp/other/.git/token"
	check "... nor by a worktree of the project's own making ($mode)" is "$(cat "$out")" ""
done

# --- programs of the project's that the host would run ---

planted() { # a directory with a pasta that leaves a trace and then fails
	mkdir -p "$1"
	printf '#!/bin/sh\necho ran >"%s"\nexit 1\n' "$tmp/trace" >"$1/pasta"
	chmod +x "$1/pasta"
}
needs_network='python3 -c "import socket; socket.socket().connect_ex((\"127.0.0.1\", 9))"; true'
with_path() { # with_path DIRS: leaves a trace when the planted one ran
	rm -f "$tmp/trace"
	(
		PATH=$1:$PATH
		wx run --network open -- sh -c "$needs_network"
	)
}
planted "$tmp/bin"
new_project
with_path "$tmp/bin"
check "control: a pasta that the user put on PATH is run" exists "$tmp/trace"
planted "$project/bin"
with_path "$project/bin"
check "a pasta of the project's is not" absent "$tmp/trace"
ln -s "$project" "$tmp/alias"
with_path "$tmp/alias/bin"
check "... by another name of the project" absent "$tmp/trace"
ln -s "$project/bin/pasta" "$tmp/linked"
mkdir "$tmp/links"
ln -s "$project/bin/pasta" "$tmp/links/pasta"
with_path "$tmp/links"
check "... by a link to the program" absent "$tmp/trace"
with_path "bin:.:./bin:"
check "... by a relative path" absent "$tmp/trace"
git init -q "$tmp/repo"
mkdir "$tmp/repo/sub"
planted "$tmp/repo/bin"
cd "$tmp/repo/sub" || exit 1
with_path "$tmp/repo/bin"
check "... of the repository around the project" absent "$tmp/trace"

new_project
git init -q .
git config core.fsmonitor "echo ran >$tmp/trace; false"
rm -f "$tmp/trace"
git status >/dev/null 2>&1
check "control: git runs what .git/config says" exists "$tmp/trace"
rm -f "$tmp/trace"
wx run --network none -- true
check "a start runs nothing of .git/config" absent "$tmp/trace"

# --- standard descriptors that hold more than they say ---

written_only() { has "$tmp/given" added && lacks "$tmp/log/err" "$token"; }
new_project
as_filter() { "$wrapix" run --network none "$@" >"$tmp/log/out" 2>"$tmp/log/err"; }
through_stdin='cat /proc/self/fd/0/key /dev/stdin/key /dev/stdin/../secret/key; true'
sh -c "$through_stdin" <"$secret" >"$tmp/log/out" 2>/dev/null
check "control: a directory as standard input is a door" has "$tmp/log/out" "$token"
as_filter -- sh -c "$through_stdin" <"$secret"
check "... but not inside" lacks "$tmp/log/out" "$token"
as_filter --allow-nested -- sh -c "$through_stdin" <"$secret"
check "... nor with --allow-nested" lacks "$tmp/log/out" "$token"

echo given >"$tmp/given"
sh -c 'echo changed >/proc/self/fd/0' <"$tmp/given"
check "control: a file as standard input can be written by its link" has "$tmp/given" changed
echo given >"$tmp/given"
as_filter -- sh -c 'cat; echo changed >/proc/self/fd/0; echo changed >/dev/stdin' <"$tmp/given"
check "... but not inside" is "$(cat "$tmp/given" "$tmp/log/out")" "$(printf 'given\ngiven')"
as_filter --allow-nested -- true <"$tmp/given"
check "... where --allow-nested says that it can be" has "$tmp/log/err" "can be opened again for both"

echo "$token" >"$tmp/given"
sh -c 'exec 3>&1 >&2; head -c 99 /proc/self/fd/3' 2>"$tmp/log/err" >>"$tmp/given"
check "control: a file as standard output can be read by its link" has "$tmp/log/err" "$token"
"$wrapix" run --network none -- sh -c 'echo added; exec 3>&1 >&2; head -c 99 /proc/self/fd/3' >>"$tmp/given" 2>"$tmp/log/err"
check "... but not inside" written_only

# --- what an earlier session left in the kept home ---

new_project
echo mine >"$tmp/mine"
wx run --network none --home keep -- sh -c 'cd; rm -rf .gitconfig .config .claude*
	ln -s "$1/mine" .gitconfig; ln -s "$1/new" .claude.json; ln -s "$2" .claude; ln -s "$2" .config' sh "$tmp" "$secret"
ls -A "$secret" >"$tmp/log/before"
wx run --network none --home keep -- sh -c 'readlink ~/.gitconfig'
check "control: what a session leaves in the kept home stays" has "$out" "$tmp/mine"
untouched() { is "$(cat "$tmp/mine")" mine && absent "$tmp/new" && is "$(ls -A "$secret")" "$(cat "$tmp/log/before")"; }
check "links in the kept home lead the start nowhere" untouched
wx run --network none --home keep --agent claude -- sh -c 'cat ~/.claude/key ~/.config/key'
check "... with an agent's files neither" untouched
check "... and show nothing" lacks "$out" "$token"

# --- a place to mount on that is a link ---

new_project
mkdir d
ln -s "$secret" l
mkdir "$tmp/shown"
wx run --network none --mount "$tmp/shown:/workspace/d" -- ls d
check "control: a directory of the project can be mounted on" is "$rc" 0
wx run --network none --mount "$tmp/shown:/workspace/l/new" -- echo ran
check "a link on the way is not followed" was_refused
check "... and nothing was made behind it" absent "$secret/new"

# --- names that are swapped while we start ---

flipper=
flip() { # flip A B: until stop_flip
	mkfifo "$tmp/log/flip" 2>/dev/null
	"$attempt" --flip "$1" "$2" >"$tmp/log/flip" &
	flipper=$!
	started="${started-} $flipper"
	hear "$tmp/log/flip"
}
stop_flip() {
	kill "$flipper"
	wait "$flipper" 2>/dev/null
}

# many COMMAND...: the command starts a sandbox; counts what the starts ended in.
many() {
	held=0 won=0 refusals=0
	for _ in $(seq "$starts"); do
		"$@" >"$tmp/log/out" 2>"$tmp/log/err"
		if grep -q "$token" "$tmp/log/out"; then
			held=$((held + 1))
		elif grep -q ran "$tmp/log/out"; then
			won=$((won + 1))
		else
			refusals=$((refusals + 1))
		fi
	done
	echo "# $starts starts: $won as planned, $refusals refused, $held wrong"
}

judge_race() { # judge_race NAME
	check "swapped: $1: never the wrong one" is "$held" 0
	check "... control: both sides were met" [ "$won" -gt 0 -a "$refusals" -gt 0 ]
}

# The project, and a link to the home, which wrapix refuses as a project.
mkdir -p "$tmp/race/p"
ln -s "$home" "$tmp/race/l"
cd "$tmp/race" || exit 1
echo "token=$token" >facts
flip "$tmp/race/p" "$tmp/race/l"
check "control: looking first and opening then is beaten" "$attempt" --look-and-open "$tmp/race/p" /secret/key
many "$wrapix" run "$tmp/race/p" --network none -- sh -c 'echo ran; cat secret/key'
stop_flip
judge_race "the project, by a link to the home"

# A directory of the project that its own file mounts, and a link that leaves the project.
new_project
mkdir data
ln -s "$secret" "$tmp/data-link"
echo "{$none, \"mounts\": [\"data:/data:ro\"]}" >wrapix.json
wx trust --yes
flip "$project/data" "$tmp/data-link"
many "$wrapix" run . -- sh -c 'echo ran; cat /data/key'
stop_flip
judge_race "a mount of the project's, by a link out of it"

# wrapix.json itself, which is covered by a copy of what it names.
new_project
echo "{$none}" >wrapix.json
ln -s "$secret/key" "$tmp/config-link"
flip "$project/wrapix.json" "$tmp/config-link"
many "$wrapix" run . --network none -- sh -c 'echo ran; cat wrapix.json'
stop_flip
judge_race "wrapix.json, by a link to a secret"

# .wrapix, which is covered in the same way.
new_project
mkdir .wrapix
ln -s "$secret" "$tmp/wrapix-link"
flip "$project/.wrapix" "$tmp/wrapix-link"
many "$wrapix" run . --network none -- sh -c 'echo ran; cat .wrapix/key'
stop_flip
check "swapped: .wrapix, by a link to a directory: never the wrong one" is "$held" 0
check "... control: a start was met" [ "$won" -gt 0 ]
finish
