#!/bin/sh
# SPDX-License-Identifier: MIT
# The agent's program, wherever it is installed: found, inside read-only, with nothing of its neighbours. The agent is
# a script of ours; claude.sh has the real one. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
path=$PATH
case $(command -v claude) in "") ;; *) # an installed one must not be found instead
	path=$(printf '%s' "$PATH" | tr : '\n' | while read -r d; do [ -x "$d/claude" ] || printf '%s:' "$d"; done)
	;;
esac

# What the agent does when it is started: tells where it is, and who else is there.
script='echo "agent at $0 with $*"
cat "$(dirname "$(readlink -f "$0")")/part" 2>/dev/null
find / -path /proc -prune -o -path /usr -prune -o -name "neighbour*" -print 2>/dev/null
touch "$0" 2>/dev/null && echo "can be changed"
rm -f "$0" 2>/dev/null && echo "can be removed"
exit 5'
# agent DIR: makes an agent DIR/claude there.
agent() {
	mkdir -p "$1"
	printf '#!/bin/sh\n%s\n' "$script" >"$1/claude"
	chmod +x "$1/claude"
	echo secret >"$1/neighbour"
}
# starts NAME DIR: without a command, with DIR on PATH, the agent runs in the sandbox.
starts() {
	PATH=$2:$path wx run --network none
	check "$1: started" is "$rc" 5
	check "... with the arguments for work without questions" grep -q '^agent at /opt/wrapix/.* with --dangerously-skip-permissions$' "$out"
	check "... read-only, and none of its neighbours" is "$(grep -v '^agent at\|^a part' "$out")" ""
}

agent "$home/.local/bin"
starts "in ~/.local/bin" "$home/.local/bin"
agent "$home/.local/share/claude/versions/1.2.3"
mv "$home/.local/share/claude/versions/1.2.3/claude" "$home/.local/share/claude/versions/1.2.3/claude.exe"
ln -sf ../share/claude/versions/1.2.3/claude.exe "$home/.local/bin/claude"
starts "as a link from ~/.local/bin" "$home/.local/bin"

# npm -g: a link in bin to a file of a package, which needs the rest of its package.
package=$home/.npm/lib/node_modules/@anthropic-ai/claude-code
agent "$package"
mv "$package/claude" "$package/cli.js"
rm "$package/neighbour"
echo "a part of the package" >"$package/part"
mkdir -p "$home/.npm/bin" "$home/.npm/lib/node_modules/neighbour"
echo secret >"$home/.npm/bin/neighbour-program"
ln -s ../lib/node_modules/@anthropic-ai/claude-code/cli.js "$home/.npm/bin/claude"
starts "from npm" "$home/.npm/bin"
check "... with the rest of its package" has "$out" "a part of the package"

# nvm: the interpreter is there too, and nowhere else.
node=$home/.nvm/versions/node/v20.0.0
agent "$node/lib/node_modules/@anthropic-ai/claude-code"
package=$node/lib/node_modules/@anthropic-ai/claude-code
rm "$package/neighbour"
printf '#!/usr/bin/env mynode\n' >"$package/cli.js"
chmod +x "$package/cli.js"
mkdir -p "$node/bin"
printf '#!/bin/sh\necho "interpreter at $0 runs $1"\n' >"$node/bin/mynode"
chmod +x "$node/bin/mynode"
echo secret >"$node/bin/neighbour"
ln -s ../lib/node_modules/@anthropic-ai/claude-code/cli.js "$node/bin/claude"
PATH=$node/bin:$path wx run --network none
check "from nvm: its own interpreter comes along" grep -q '^interpreter at .*/mynode runs .*cli.js$' "$out"
PATH=$node/bin:$path wx run --network none --agent claude -- sh -c 'find / -path /proc -prune -o -path /usr -prune -o -name "neighbour*" -print 2>/dev/null; command -v claude'
check "... with a command beside it: it is on PATH, its neighbours nowhere" is "$(grep -c . "$out") $(xargs <"$out")" "1 /opt/wrapix/bin/claude"

# --- by path ---
agent "$tmp/tools"
wx run --network none --agent "$tmp/tools/claude"
check "--agent PATH" is "$rc $(grep -c '^agent at ' "$out")" "5 1"
check "... and none of its neighbours" lacks "$out" neighbour
cd "$tmp/tools" || exit 1
wx run "$project" --network none --agent ./claude
check "--agent with a relative path" is "$rc" 5
cd "$project" || exit 1

# --- not the project's ---
agent "$project/bin"
PATH=$project/bin:$path wx run --network none
check "a program of the project's is not the agent" lacks "$out" "agent at"
ln -s "$project/bin" "$tmp/sly"
PATH=$tmp/sly:$path wx run --network none
check "... by no other name" lacks "$out" "agent at"
PATH=bin:.:$path wx run --network none
check "... nor by a relative PATH" lacks "$out" "agent at"
rm -rf "${project:?}/bin"

# --- none ---
PATH=$path wx run --network none
check "without an agent a shell starts" is "$rc" 0
check "... and one line says how to get one" is "$(grep -c 'npm install' "$err") $(wc -l <"$err")" "1 1"
PATH=$path wx run --network none --agent claude
check "--agent claude without it: 127, and how to get it" refused 127 "not installed"
check "... by npm" has "$err" "npm install"
wx run --network none --agent no-such-agent
check "an agent that nobody knows" refused 127 "no-such-agent"
wx run --network none --agent shell
check "--agent shell" is "$rc" 0

# --- the user's own ---
mkdir -p "$home/.config/wrapix/agents" "$tmp/own"
printf '#!/bin/sh\necho "mine: $* $MINE"; cat ~/.mine/conf /etc/mine.json\n' >"$tmp/own/my-agent"
chmod +x "$tmp/own/my-agent"
cat >"$home/.config/wrapix/agents/mine.json" <<-'END'
	{ "name": "mine", "program": "my-agent", "args": ["--fast"], "env": { "MINE": "1" }, "domains": ["api.example.org"],
		"files": { "~/.mine/conf": "in ${CWD}\n", "/etc/mine.json": { "a": true } } }
END
PATH=$tmp/own:$path wx run --network none --agent mine
check "an agent of the user's own: program, arguments, variables, files" is "$rc $(xargs <"$out")" "0 mine: --fast 1 in /workspace { a:true }"
PATH=$tmp/own:$path wx plan --network filtered --agent mine
check "... and its hosts" grep -q '^allow .*api.example.org' "$out"
for bad in '{"name": "mine"}:it has no program' '{"name": "other", "program": "x"}:its name must be' \
	'{"name": "mine", "program": "x", "colour": 1}:unknown key' \
	'{"name": "mine", "program": "x", "files": {"../x": "y"}}:is no clean path' '{"name": "mine":mine.json:1'; do
	printf '%s' "${bad%:*}" >"$home/.config/wrapix/agents/mine.json"
	wx run --network none --agent mine
	check "... a mistake in it: ${bad##*:}" refused 2 "${bad##*:}"
done
rm "$home/.config/wrapix/agents/mine.json"

# --- the user's theme ---
theme() { sed -n 's/.*"theme": *"\(.*\)".*/\1/p' "$out"; }
printf '#!/bin/sh\ncat ~/.claude.json\n' >"$tmp/own/claude"
chmod +x "$tmp/own/claude"
PATH=$tmp/own:$path wx run --network none
check "without a theme of the user's it is the dark one" is "$(theme)" dark
printf '{"x": {"theme": "no"}, "theme": "light-daltonized", "secret": "s3cret"}' >"$home/.claude.json"
PATH=$tmp/own:$path wx run --network none
check "the user's theme, and nothing else of that file" is "$(theme) $(grep -c s3cret "$out")" "light-daltonized 0"
mkdir -p "$home/.claude"
printf '{"theme": "light"}' >"$home/.claude/settings.json"
PATH=$tmp/own:$path wx run --network none
check "... the settings' comes first" is "$(theme)" light
printf '{"theme": "a\\", \\"b"}' >"$home/.claude/settings.json"
PATH=$tmp/own:$path wx run --network none
check "... a theme is a word" is "$(theme)" light-daltonized
rm -r "$home/.claude" "$home/.claude.json"
finish
