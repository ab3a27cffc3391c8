#!/bin/sh
# SPDX-License-Identifier: MIT
# ralph with several tasks at once, several loops, and repositories of every kind.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # $1 in eval; the library and its variables; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/ralph.sh"

# --- at once ---

# Tasks that write by "$(meets SED)" meet: each has read shared.txt before either writes it, however late it goes on, because
# each waits for a word of the host's, in a file that it has of the host, which comes when 'both' have read, and what
# they began with is kept: what somebody else changes before that is not merged.
meets() { echo "sed '$1' shared.txt >/tmp/new; touch begun; until grep -q go turn; do sleep 0.05; done; rm begun; cat /tmp/new >shared.txt"; }
begun() {
	n=0
	for at in "$state"/cow/*/; do
		[ -e "$at/base/tree" ] && [ -n "$(find "$at" -name begun)" ] && n=$((n + 1))
	done
	[ "$n" = 2 ]
}
both() {
	: >turn
	(await begun && echo go >turn) &
}

new_project parallel
printf '/turn\n' >>.git/info/exclude
seq 1 20 >shared.txt && git add -A && git commit -qm shared
task one 'sh: sed -i "s/^1$/first/" shared.txt'
task two 'sh: sed -i "s/^20$/last/" shared.txt'
task three 'sh: echo 3 >three.txt'
rx loop -p 3
check "three at once: what does not meet is merged" eval 'is "$rc" 0 && has shared.txt first && has shared.txt last && exists three.txt'
check "... in a commit each" is "$(git log --format=%s | head -n 3 | sort | tr '\n' ' ')" "one three two "
task left "sh: $(meets 's/^10$/left/')"'
sh2: grep -q "others have changed" /tmp/prompt && grep -q "+right\|+left" /run/ralph/previous.diff && sed -i "s/^right$/both/" shared.txt'
task right "sh: $(meets 's/^10$/right/')"'
sh2: grep -q "others have changed" /tmp/prompt && sed -i "s/^left$/both/" shared.txt'
both
rx loop -p 2
check "what meets is tried again on the new state" eval 'is "$rc" 0 && has shared.txt both && lacks shared.txt "<<<<"'
check "... as a conflict" eval '"$ralph" logs --list | grep -q " conflict "'
check "... and no session is left" is "$(sessions)" 0
i=1
while [ $i -le 4 ]; do
	task "append $i" "sh: echo line $i >>shared.txt"
	i=$((i + 1))
done
printf '{"ralph": {"attempts": 20}}\n' >wrapix.json
rx loop -p 3
check "four that write to the end of one file at once: no line is lost" eval 'is "$rc" 0 && is "$(grep -c ^line shared.txt)" 4'
printf '{"ralph": {"attempts": 1}}\n' >wrapix.json
task up "sh: $(meets 's/^5$/up/')"
task down "sh: $(meets 's/^5$/down/')"
both
rx loop -p 2
wx ps --json
session=$(jq -r '.. | objects | select(.name? // "" | startswith("ralph-")) | .id' "$out" | head -n 1)
wx diff "$session"
check "the work of the one that came too late is kept" eval 'is "$rc" 0 && grep -qE "^\+(up|down)" "$out"'
wx apply "$session" --theirs
check "... and can be taken over by hand" eval 'is "$rc" 0 && git diff shared.txt | grep -qE "^\+(up|down)"'
git checkout -q shared.txt && rm wrapix.json
wx discard "$session"
check "the tree is clean" is "$(git status --short | grep -v '\.wrapix/')" ""

# --- the gate, with what others did meanwhile ---

new_project together '{"gate": "sleep 0.3; ! { test -e north.txt && test -e south.txt; }", "attempts": 1}'
task north 'sh: echo n >north.txt'
task south 'sh: echo s >south.txt'
rx loop -p 2
check "of two that pass alone and not together one is taken over" eval 'is "$rc" 1 && is "$(find . -name "[ns]o*th.txt" | wc -l)" 1 && is "$(git log --format=%s | wc -l)" 2'
check "... and the other is refused by the gate" eval '"$ralph" logs --list | grep -q " gate "'
new_project merged '{"gate": "sleep 0.3; ! { grep -q first shared.txt && grep -q last shared.txt; }", "attempts": 1}'
printf '/turn\n' >>.git/info/exclude
seq 1 20 >shared.txt && git add -A && git commit -qm shared
task first "sh: $(meets 's/^1$/first/')"
task last "sh: $(meets 's/^20$/last/')"
both
rx loop -p 2
check "the gate sees files as they are merged" eval 'is "$rc" 1 && is "$(grep -c "first\|last" shared.txt)" 1 && "$ralph" logs --list | grep -q " gate "'
printf '{"ralph": {"gate": "test $(wc -l <shared.txt) = 20", "attempts": 1}}\n' >wrapix.json
task two "sh: $(meets 's/^2$/second/')"
task nineteen "sh: $(meets 's/^19$/nineteenth/')"
both
rx loop -p 2
check "... and takes over those that it lets through" eval 'has shared.txt second && has shared.txt nineteenth && is "$(git status --short shared.txt)" ""'

# --- two loops on one feature ---

new_project loops
task slow 'sh: touch begun; while :; do sleep 0.1; done'
"$ralph" loop >"$tmp/log/first" 2>&1 </dev/null &
first=$!
started="$first"
await eval 'is "$(json ".items[0].status")" running'
rx loop
check "a second loop on the feature is refused" eval 'is "$rc" 1 && has "$err" "another ralph works on it (pid $first)" && has "$err" "--wait"'
rx start other
task quick 'sh: echo q >quick.txt'
rx loop
check "a loop on another feature goes on beside it" eval 'is "$rc" 0 && exists quick.txt'
await eval '"$ralph" status feature | grep -q "now: .*Bash working"'
check "status shows what the first one does" eval '"$ralph" status feature | grep -q "now: .*Bash working"'
"$ralph" loop feature --wait --max-steps 1 >"$tmp/log/second" 2>&1 </dev/null &
second=$!
started="$first $second"
kill -INT $first
wait $first
check "Ctrl-C ends a loop" is $? 130
check "... whose task is open again, and the try does not count" eval 'await eval "\"\$ralph\" logs --list | grep -q interrupted"'
await eval '"$ralph" status feature | grep -q "now: "'
check "who waited goes on" eval '"$ralph" status feature | grep -q "now: "'
kill -TERM $second
wait $second
check "and ends when it is told" is $? 143
check "nothing is left running" none_running "$home/agent"

# --- repositories of every kind ---

new_project main
git worktree add -q "$tmp/linked tree" -b side
cd "$tmp/linked tree" || exit 1
rx start feature
task tree 'sh: echo t >tree.txt'
rx loop
check "a linked worktree, with a space" eval 'is "$rc" 0 && is "$(git log -1 --format=%s side)" tree && is "$(git log -1 --format=%s main)" base'

git init -q "$tmp/lib" && (cd "$tmp/lib" && echo l >lib.txt && git add -A && git commit -qm lib)
new_project sub
git -c protocol.file.allow=always submodule --quiet add "$tmp/lib" lib && git commit -qm submodule
task both 'sh: echo changed >lib/lib.txt; echo s >super.txt'
rx loop
check "a submodule's files are taken over and not committed" eval 'is "$rc" 0 && has lib/lib.txt changed && is "$(git show --format= --name-only)" super.txt && has "$out" "in submodules"'

mkdir "$tmp/plain" && cd "$tmp/plain" || exit 1
mkdir specs .wrapix && echo '# P' >specs/feature.md
rx start feature
task alone 'sh: echo a >alone.txt; mkdir -p empty/dir'
rx loop
check "a directory without git" eval 'is "$rc" 0 && exists alone.txt && exists empty/dir'

new_project nobody
task who 'sh: echo w >who.txt'
cp "$home/.gitconfig" "$tmp/gitconfig" && git config --global --unset user.email && git config --global user.useConfigOnly true
rx loop
check "without a name for commits it does not begin" eval 'is "$rc" 2 && has "$err" "user.email" && absent who.txt'
cp "$tmp/gitconfig" "$home/.gitconfig"

mkdir "$tmp/unborn" && cd "$tmp/unborn" || exit 1
git init -q && mkdir specs && echo '# U' >specs/feature.md
rx start feature
task born 'sh: echo b >born.txt'
rx loop
check "a branch without a commit" eval 'is "$rc" 0 && is "$(git show --format= --name-only)" born.txt'

new_project dirty
echo mine >>base.txt && echo staged >staged.txt && git add staged.txt
task clean 'sh: echo c >clean.txt; rm -f specs/README.md'
rx loop
check "what the user has staged and changed stays his" eval 'is "$(git show --format= --name-only)" clean.txt && is "$(git status --short | grep -v "\.wrapix/")" " M base.txt
A  staged.txt"'
task moves 'sh: git mv clean.txt moved.txt && git commit -qam inside && mkdir -p a/b && echo x >a/b/x'
rx loop
check "renames, and what the agent committed itself" eval 'is "$(git log -1 --format=%s)" moves && exists moved.txt && absent clean.txt && exists a/b/x && is "$(git log --format=%s | grep -c inside)" 0'

# --- tasks in beads ---

mkdir "$tmp/bin" && cp "$top/tests/lib/bd" "$tmp/bin"
PATH=$tmp/bin:$PATH
new_project beads
mkdir .beads
rx start beads
printf '# B\n' >specs/beads.md
of() { jq -r ".[] | select(.title == \"$1\") | .$2" .beads/issues.json; }
task here 'sh: until grep -q in_progress .beads/issues.json; do sleep 0.05; done; echo taken >seen.txt'
task later 'sh: echo t >then.txt' --after "$(id_of here)"
check "what is added here is in beads, with what it waits for" eval 'is "$(of here status)" open && is "$(of later "dependencies[0].depends_on_id")" "$(of here id)" && is "$(id_of here)" "$(of here id)"'
bd create --title=there --type=task --labels=spec-beads --description='end: RALPH_CLARIFY: which way?' --silent >/dev/null
check "and the other way round" is "$(status_of there)" open
bd create --title=gone --type=task --labels=spec-beads --silent >/dev/null
bd close "$(of gone id)" >/dev/null
rx loop
check "a loop does them" eval 'is "$rc" 101 && exists then.txt && is "$(status_of gone)" "done"'
check "beads knows that one is worked on, is done, has a question" eval 'has seen.txt taken && is "$(of here status)" closed && is "$(of there status)" blocked && of there notes | grep -q "which way"'
bd update "$(of there id)" --status=open >/dev/null
check "what is opened there is open here" is "$(status_of there)" open
task whole '' --epic
task part 'sh: echo p >part.txt' --after "$(id_of whole)"
check "a task is its epic's child" eval 'is "$(of part "dependencies[0] | .type + .depends_on_id")" "parent-child$(of whole id)" && is "$(json ".items[] | select(.title == \"part\") | .needs[0]")" "$(of whole id)"'
rx item drop "$(id_of there)"
BD_JSON_ENVELOPE=1 rx loop
check "... and both are closed in the end" eval 'is "$rc" 0 && exists part.txt && is "$(of part status) $(of whole status)" "closed closed"'
i=1
while [ $i -le 60 ]; do
	bd create --title="issue $i" --type=task --labels=spec-beads --silent >/dev/null
	i=$((i + 1))
done
check "more issues than bd lists of itself, in their order" eval 'is "$(json "[.items[] | select(.title | startswith(\"issue\")) | .title] | length, first, last" | tr "\n" " ")" "60 issue 1 issue 60 "'
check "there is no export beside it" absent .wrapix/ralph/beads.jsonl
for i in $(json '.items[] | select(.status == "open") | .id'); do bd close "$i" >/dev/null; done
task hooks "sh: mkdir -p .beads/hooks; printf '#!/bin/sh\necho ran >>$tmp/ran\n' >.beads/hooks/on_close; chmod 755 .beads/hooks/on_close"
rx step
check "a program that bd would run on the host is not taken over" eval 'is "$rc" 1 && has "$out" refused && absent .beads/hooks && absent "$tmp/ran"'
rx item drop "$(id_of hooks)"
task leads "sh: mkdir -p other/hooks; printf '#!/bin/sh\necho ran >>$tmp/ran\n' >other/hooks/on_close; chmod 755 other/hooks/on_close; echo other >.beads/redirect"
rx step
check "... nor what leads bd to one" eval 'is "$rc" 1 && has "$out" refused && absent .beads/redirect && absent "$tmp/ran"'
rx item drop "$(id_of leads)"
mkdir -p .beads/hooks other/hooks
printf '#!/bin/sh\necho ran >>%s/ran\n' "$tmp" >other/hooks/on_create
chmod 755 other/hooks/on_create
cp other/hooks/on_create .beads/hooks
rx item add --title cloned
check "where one came with the project bd is not run" eval 'isnt "$rc" 0 && has "$err" "on_create" && has "$err" "outside of a sandbox" && absent "$tmp/ran"'
mv .beads/hooks/on_create .beads/hooks/pre-commit && echo other >.beads/redirect
rx item add --title cloned
check "... nor where it leads to one" eval 'isnt "$rc" 0 && has "$err" "other/hooks/on_create" && absent "$tmp/ran"'
rm -r .beads/redirect other
rx status
check "(control) hooks of git's are none of bd's" is "$rc" 0
rm .beads/issues.json && echo '{' >.beads/issues.json
rx status
check "a bd that fails is an error" eval 'is "$rc" 1 && has "$err" "bd list"'
finish
