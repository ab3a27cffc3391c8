#!/bin/sh
# SPDX-License-Identifier: MIT
# A wrapix.json in a directory above: its limits hold below, whatever a session of its has put in between; and what a project's
# own file may not show or cover before somebody has looked at it.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
git config --global user.name Tester
git config --global user.email tester@example.com
mkdir -p "$tmp/top/sub/deep" && cd "$tmp/top" || exit 1
git init -q -b main
echo kept | tee sub/deep/kept sub/kept >other
printf '{"network": "none", "limits": {"pids": 100}, "protect": {"sub/deep/kept": "ro", "./other": "ro"}}\n' >wrapix.json
git add -A && git commit -qm base
network() { "$WRAPIX" plan "$1" -- true | sed -n 's/^network *//p'; }
try='echo changed >kept; cat kept'

# --- below the top, with nothing in between ---

cd sub/deep || exit 1
wx run -- sh -c "$try"
check "a path that is protected is so from below, too" eval 'is "$(cat "$out")" kept && has "$err" "protect says"'
cd .. && wx run -- sh -c 'echo x >other; cat other; echo y >kept'
check "... and is no other one of that name" eval 'is "$(cat "$out")" x && is "$(cat kept)" y'
git checkout -q . && rm -f other && cd .. || exit 1

# --- what a session at the top can put in between ---

between() { # between WHAT COMMANDS: by a session, then a run below
	wx run --git private -- sh -c "$2"
	check "a session can make $1" is "$rc" 0
	check "... and the limits around hold" is "$(network sub/deep)" none
	wx run sub/deep -- sh -c "$try"
	check "... as do its paths" is "$(tail -n 1 "$out")" kept
}
between "a repository below" 'git init -q sub/deep'
check "... which is said" has "$err" "/top/wrapix.json' limits holds here, too"
rm -rf sub/deep/.git
between "an empty directory for profiles" 'mkdir -p sub/deep/.wrapix/profiles'
rm -rf sub/deep/.wrapix
between "a file that says nothing" 'echo "{}" >sub/deep/wrapix.json'
for text in '"network": "open"' '"network": {"allow": ["example.com"]}' '"limits": {"pids": 200}' '"protect": {"./kept": "report"}'; do
	wx run -- sh -c "echo '{$text}' >sub/deep/wrapix.json"
	wx run sub/deep -- true
	check "one that says $text is asked about" eval 'is "$rc" 125 && has "$err" "deep/wrapix.json'"'"' is not trusted"'
done
echo '{"network": "open"}' >sub/deep/wrapix.json
wx run sub/deep -- true
check "... with the file that leaves less, and what to type" eval 'has "$err" "network: \"open\", and less is left by $PWD/wrapix.json" && has "$err" "wrapix trust $PWD/sub/deep"'
echo '{"protect": {"./kept": "report"}}' >sub/deep/wrapix.json
wx trust --yes sub/deep
wx run sub/deep -- sh -c "$try"
check "... and counts when it is trusted" is "$(cat "$out")" changed
mv wrapix.json kept.json
printf '{"env": {"HIDDEN": null}, "network": "open"}\n' >sub/deep/wrapix.json
wx trust --yes sub/deep && wx run sub/deep -- true
check "what is open anyway is no question" eval 'is "$rc" 0 && lacks "$err" "holds here"'
mv kept.json wrapix.json
wx run sub/deep -- true
check "... until somebody limits it around: what was trusted was another thing" eval 'is "$rc" 125 && has "$err" "asks for more here" && has "$err" "in 1 place: network: \"open\""'
wx trust --yes sub/deep && wx run sub/deep -- true
check "... which can be trusted, too" is "$rc" 0
printf '{"network": "none"}\n' >wrapix.json
printf '{"network": "open"}\n' >sub/deep/wrapix.json
wx trust --yes sub/deep && wx run sub/deep -- true
check "a file around of which nothing is left is not said to hold" eval 'is "$rc" 0 && lacks "$err" "holds here"'
printf '{"limits": {"pids": 300}}\n' >wrapix.json
printf '{"limits": {"pids": 200}}\n' >sub/wrapix.json
printf '{"limits": {"pids": 250}}\n' >sub/deep/wrapix.json
wx run sub/deep -- true
check "of two around it the one that leaves less is named" eval 'is "$rc" 125 && has "$err" "$PWD/sub/wrapix.json"'
rm sub/wrapix.json
git checkout -q . && rm sub/deep/wrapix.json
printf '{"network": "open", "mounts": ["/etc:/x:ro"], "agent": "x", "env": {"A": "b"}}\n' >wrapix.json
git init -q sub/deep
wx run sub/deep -- sh -c 'ls /x; echo "$A"'
check "what is around gives nothing" eval 'is "$rc $(cat "$out")" "0 " && lacks "$err" "holds here"'
rm -rf sub/deep/.git

# --- mounts of a project's own ---

git remote add origin https://user:hunter2@example.com/x.git
ln -s .git link
for source in .git . link sub; do
	printf '{"mounts": ["%s:/x:ro"]}\n' "$source" >wrapix.json
	wx run -- true
	check "'$source' by another way is asked about" eval 'is "$rc" 125 && has "$err" "mounts[0]"'
done
wx trust --yes && wx run -- ls /x
check "... and is there then" has "$out" kept
for source in .git . link; do
	printf '{"mounts": ["%s:/x:ro"]}\n' "$source" >wrapix.json
	wx trust --yes && wx run -- grep -r hunter2 /x
	check "... but '$source' with the passwords of git's is not" eval 'isnt "$rc" 0 && lacks "$out" hunter2 && has "$err" "own git directory"'
done
rm link
printf '{"mounts": ["sub:~/.config/x:ro"]}\n' >wrapix.json
wx run -- true
check "what would be the agent's settings is asked about" is "$rc" 125

# --- whose credentials a command has ---

mkdir -p "$home/bin" && printf '#!/bin/sh\n' >"$home/bin/claude" && chmod +x "$home/bin/claude"
printf '{"agent": "claude"}\n' >wrapix.json
PATH=$home/bin:$PATH CLAUDE_CODE_OAUTH_TOKEN=s3cret wx run -- env
check "a command does not get what an agent of the project's choice has" eval 'is "$rc" 125 && lacks "$out" s3cret'
wx trust --yes
check "... which is shown" has "$out" "agent: \"claude\", whose credentials commands that you name get, too"
PATH=$home/bin:$PATH CLAUDE_CODE_OAUTH_TOKEN=s3cret wx run -- env
check "... and then it does" has "$out" s3cret

printf '{"agent": "shell"}\n' >wrapix.json
wx run -- true
check "one that has nothing to give is no question" is "$rc" 0

# --- what is a question at another time only ---

printf '{"protect": {"./other": "hold"}, "notify": false}\n' >wrapix.json
printf '{"notify": {"violations": true}}\n' >"$home/told.json"
wx run --protect ci=ro --config "$home/told.json" -- true
check "what a flag keeps closer makes a question" eval 'is "$rc" 125 && has "$err" "in 2 places"'
wx trust --yes && wx run --protect ci=ro --config "$home/told.json" -- true
check "... that can be answered" is "$rc" 0

python3 -c 'import json; print(json.dumps({"env": {"A%d" % i: None for i in range(30)}}))' >wrapix.json
echo n | python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$wrapix" trust >"$out"
check "a question about more than a screen holds says how many things it is about" has "$out" "Accept all 30 of these?"
asked() {
	python3 -c "import json; print(json.dumps($1))" >wrapix.json
	echo n | python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$wrapix" trust >"$out"
}
asked '{"mounts": ["/etc:/x:ro"], "env": {"PATH": "/a:" * 1000}}'
check "... a long value counts as the lines that it takes" has "$out" "Accept all 2 of these?"
asked '{"env": {"PATH": "/a:" * 1000}}'
check "... also one by itself" has "$out" "Accept this, all 38 lines of it?"
asked '{"env": {"PATH": "/a"}}'
check "... a short one is no long list" has "$out" "Accept this?"
asked '{"env": {"A%d" % i: None for i in range(8)}}'
check "... nor are eight lines" has "$out" "Accept this?"
echo n | python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' sh -c 'stty rows 10 cols 40; exec "$1" trust' sh "$wrapix" >"$out"
check "... but where there are ten on the screen" has "$out" "Accept all 8 of these?"

# --- a profile by another name ---

line='
'
mkdir -p .wrapix/profiles "$home/.config/wrapix/profiles" "$home/mine"
printf '{"mounts": ["%s:/mine:ro"]}\n' "$home/mine" >"$home/.config/wrapix/profiles/web.json"
echo '{}' >.wrapix/profiles/web.json
printf '{"env": {"HIDDEN": null}, "profile": "web"}\n' >wrapix.json
wx trust --yes && wx run -- true
check "a project's own profile is trusted" is "$rc" 0
printf '{"env": {"HIDDEN": null}, "profile": "web"}' >wrapix.json
mv .wrapix/profiles/web.json ".wrapix/profiles/${line}web.json"
wx run -- ls /mine
check "... and no name with a line end in it makes the user's own of it" eval 'is "$rc" 125 && has "$err" "has changed"'
rm -r .wrapix "$home/.config/wrapix/profiles"

# --- somebody else's engine ---

printf '#!/bin/sh\necho "$*" >>%s/asked\n' "$tmp" >"$home/bin/podman" && chmod +x "$home/bin/podman"
printf '{"env": {"HIDDEN": null}, "image": "theirs"}\n' >wrapix.json
PATH=$home/bin:$PATH HIDDEN=s3cret wx run --on podman:box -- true
check "another machine gets nothing that an untrusted project asks for" eval 'is "$rc" 125 && has "$err" "wrapix trust" && absent "$tmp/asked"'
wx export compose
check "... nor does a document" eval 'is "$rc" 125 && has "$err" "wrapix trust"'
wx trust --yes && wx export compose
check "... until it is trusted" has "$out" HIDDEN

# --- a directory alone ---

printf '{"only": true}\n' >wrapix.json
wx run -- sh -c 'git log --format=%s; cat .git/config'
check "alone, the repository that is in it has a private git directory" eval 'is "$(head -n 1 "$out")" base && has "$out" "x.git" && lacks "$out" hunter2'
finish
