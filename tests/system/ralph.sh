#!/bin/sh
# SPDX-License-Identifier: MIT
# ralph, with an agent that does what it is told: each outcome of a step as a user sees it, and what the sandbox holds.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # $1 in eval; the library and its variables; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/ralph.sh"

# --- the whole way: start, plan, ready, step, loop ---

mkdir "$tmp/way project" && cd "$tmp/way project" || exit 1
git init -q
echo base >base.txt
mkdir .agent deep
cat >.agent/plan <<'EOF'
mkdir -p specs
printf '# A feature\n\n## Success Criteria\n- [ ] one is there\n  [verify](../check.sh#one.txt)\n- [ ] two is good\n  [judge](../rubric.md)\n- [ ] three\n' >specs/way.md
echo stray >stray.txt
EOF
cat >.agent/ready <<'EOF'
e=$(ralph item add --title 'All of it' --epic)
a=$(ralph item add --title 'First' --after "$e" --text 'sh: echo one >one.txt')
printf 'sh: test -e one.txt && echo two >two.txt\n' | ralph item add --title 'Second' --after "$a" --text - >&2
ralph item add --title 'Third' --text 'sh: cd deep && echo three >three.txt' >&2
ralph item list >&2
EOF
printf '#!/bin/sh\n[ "$1" != skip ] || exit 77\ntest -e "$1" || { echo "no $1"; exit 1; }\n' >check.sh
chmod +x check.sh
echo 'Is it good?' >rubric.md
printf '*.log\n' >.gitignore
git add -A && git commit -qm base
cd deep || exit 1
rx status
check "without a feature it says how to begin one" eval 'is "$rc" 2 && has "$err" "ralph start NAME"'
rx start way
check "start says what to type next" eval 'is "$rc" 0 && has "$err" "next: ralph plan"'
rx ready
check "ready without a spec says so" eval 'is "$rc" 1 && has "$err" "ralph plan"'
rx check
check "... and check, before it starts an agent" eval 'is "$rc" 1 && has "$err" "reading the spec" && is "$("$ralph" logs --list)" ""'
rx item
check "that there are no tasks is said" eval 'is "$rc" 0 && has "$out" "There are no tasks."'
rx item list --json
check "... to programs as well" is "$rc $(cat "$out")" "0 []"
rx plan
check "plan keeps the spec" eval 'is "$rc" 0 && exists ../specs/way.md && has "$err" "next: ralph ready"'
check "... and nothing else that was written" absent ../stray.txt
rx ready
check "ready shows what is proposed" eval 'is "$rc" 0 && has "$out" "All of it" && has "$out" "Second  proposed  after" && has "$err" "--yes"'
rx item list --json
check "items for programs" is "$(jq -r '.[] | select(.title == "First") | "\(.feature) \(.status) \(.text) \(.needs | length)"' "$out")" "way proposed sh: echo one >one.txt 1"
rx item show "$(jq -r '.[0].id' "$out")" --json
check "... and one of them" is "$(jq -r 'length, .[0].title' "$out" | xargs)" "1 All of it"
rx loop
check "a proposal does not count" eval 'is "$rc" 100 && absent ../one.txt'
EDITOR="sed -i -e s/Third/Last/" rx ready --edit
check "proposals can be edited" eval 'is "$rc" 0 && has "$out" "Last"'
rx ready --yes
check "and accepted" eval 'is "$rc" 0 && has "$out" "4 items count now" && has "$err" "next: ralph loop"'
rx step
check "a step does one task" eval 'is "$rc" 0 && exists ../one.txt && absent ../two.txt && is "$(json .done)" 1'
check "... in a commit of its own" eval 'is "$(git log -1 --format=%s)" First && is "$(git show --format= --name-only HEAD)" one.txt'
check "... that names the item" eval 'git log -1 --format=%b | grep -qx "Ralph-Item: $(id_of First)"'
rx loop
check "a loop does the rest, in order" eval 'is "$rc" 0 && exists ../two.txt && exists three.txt && is "$(json .done)" 3'
check "... and the epic is done with them" is "$(status_of 'All of it')" "done"
check "the tree is clean but for the export and the spec" eval 'is "$(git -C .. status --short)" "?? .wrapix/
?? specs/"'
check "no session is left" is "$(sessions)" 0
rx step
check "then there is nothing to do" is "$rc" 100
rx loop
check "a loop with all done is content" is "$rc" 0
check "cost and tokens are summed up" eval 'is "$(json .tokensIn)" 40 && is "$(json .cost)" 0.4'
rx logs
check "logs shows actions" eval 'is "$rc" 0 && has "$out" "> Bash working"'
rx report --diff
check "report has steps, commits and diffs" eval 'is "$rc" 0 && has "$out" "## Second" && has "$out" "+three" && has "$out" "commit $(git rev-parse HEAD)"'
mv ../check.sh ../check.away
rx spec --verify
check "a trial that nobody has written yet fails, and says so" eval 'is "$rc" 1 && has "$out" "there is no '"'check.sh'"'"'
mv ../check.away ../check.sh
echo "end=PASS" >../.agent/judge
rx spec
check "the criteria are tried" eval 'is "$rc" 0 && has "$out" "[PASS] one is there" && has "$out" "[PASS] two is good" && has "$out" "2 passed, 0 failed, 0 skipped, 1 without a trial"'
mv ../specs/way.md "$tmp/way.md"
printf '# T\n## Success Criteria\n- a point, and no box\n' >../specs/way.md
rx spec
check "a spec without criteria does not pass, and is told what they are" eval 'is "$rc" 100 && has "$out" "- [ ] TEXT"'
mv "$tmp/way.md" ../specs/way.md
echo "end='FAIL: it is ugly'" >../.agent/judge
sed -i 's/#one.txt/#none.txt/; $s/three/three\n  [verify](..\/check.sh#skip)/' ../specs/way.md
rx spec
check "... fail, with a reason, and are skipped" eval 'is "$rc" 1 && has "$out" "no none.txt" && has "$out" "it is ugly" && has "$out" "[SKIP] three"'
echo "ralph item add --title 'A hole' --text 'sh: echo mended >mended.txt' >&2; echo x >review.txt" >../.agent/check
rx check
check "a reviewer's findings are proposals" eval 'is "$rc" 1 && is "$(status_of "A hole")" proposed && absent ../review.txt && has "$err" "ralph ready"'

cat >../.agent/ready <<'EOF'
ralph item add --title 'Keep' --text x >&2
ralph item add --title 'Drop' --text x >&2
ralph item add --title 'Before' --text x >&2
ralph item add --title "$(printf 'a\033[31mb')" >&2 || echo refused >&2
ralph item add --title 'No' --after nowhere >&2 || echo refused >&2
ralph item close x >&2 || echo refused >&2
EOF
rx ready --again
printf 'd %s\nm %s %s\nz\na\n' "$(id_of Drop)" "$(id_of Before)" "$(id_of Keep)" | script -qec "'$ralph' ready" /dev/null >"$tmp/log/out" 2>&1
check "on a terminal one drops, moves and accepts" eval 'is "$(status_of Drop)" dropped && is "$(status_of Keep)" open && is "$(json "[.items[] | select(.title == \"Keep\" or .title == \"Before\") | .title] | join(\" \")")" "Before Keep"'
check "... and a wrong answer is explained" has "$tmp/log/out" "a, e, d ID, m ID ID or q"
check "an agent cannot close items, nor write to the terminal by a title" eval 'is "$(grep -c ^refused "$("$ralph" logs --raw | sed s/jsonl/err/)")" 3'
rx item drop "$(id_of Keep)" "$(id_of Before)"

# --- the export makes the database again ---

known=$(json '[.items[] | [.id, .title, .status]] | sort')
rm -rf "$state"/ralph
check "the database is made again from the export" is "$(json '[.items[] | [.id, .title, .status]] | sort')" "$known"
cp ../.wrapix/ralph/way.jsonl "$tmp/ours"
check "what git merges is read" eval '{ sed "s/\"title\":\"A hole\"/\"title\":\"A gap\"/; s/\"updated\":[0-9]*/\"updated\":9999999999999/" "$tmp/ours"; cat "$tmp/ours"; } >../.wrapix/ralph/way.jsonl && is "$(status_of "A gap")" open'
mkdir -m 500 "$tmp/closed"
XDG_STATE_HOME=$tmp/closed rx status
check "a state directory that cannot be made is named" eval 'is "$rc" 1 && has "$err" "ralph: creating" && has "$err" "Permission denied"'
rm -rf "$state"/ralph
chmod a-w ../.wrapix/ralph
rx status
check "a project that cannot be written can be looked at" is "$rc" 0
chmod u+w ../.wrapix/ralph

# --- outcomes ---

new_project outcomes '{"attempts": 2}'
task lies 'sh: echo x >lie.txt
end: I could say RALPH_COMPLETE'
rx step
check "an agent that mentions the signal is not done" eval 'is "$rc" 1 && is "$(status_of lies)" open && absent lie.txt && has "$out" "no signal"'
rx step
check "after as many attempts as are allowed it has failed" eval 'is "$rc" 1 && is "$(status_of lies)" failed'
rx item drop "$(id_of lies)"
task nothing 'end: RALPH_COMPLETE'
rx step
check "complete without a change and a note is a failure" eval 'is "$rc" 1 && has "$out" "changed nothing"'
rx item drop "$(id_of nothing)"
task noted 'sh: ralph item note "it was there already"'
rx step
check "with a note it is done" eval 'is "$rc" 0 && is "$(status_of noted)" done'
task blocked 'end: RALPH_BLOCKED: there is no compiler'
task asks 'sh1: echo half >half.txt
end1: RALPH_CLARIFY: red or blue?
sh2: grep -q "the blue one" /tmp/prompt && cp /run/ralph/previous.diff was.diff && echo blue >color.txt'
task waits 'sh: echo w >w.txt' --after "$(id_of asks)"
rx step
check "a step that ends with what the user must settle says so by its status" eval 'is "$rc" 101 && is "$(status_of blocked)" blocked'
rx loop
check "a loop with nothing but blocked tasks is stuck" eval 'is "$rc" 101 && is "$(status_of blocked)" blocked && is "$(status_of asks)" question && is "$(status_of waits)" open && has "$err" "ralph msg"'
rx msg
check "msg lists the questions" eval 'is "$rc" 0 && has "$out" "red or blue?" && has "$out" "there is no compiler"'
rx msg "$(id_of asks)" --answer 'the blue one'
check "an answer opens the task" eval 'is "$rc" 0 && is "$(status_of asks)" open'
rx msg "$(id_of blocked)" --dismiss
rx item drop "$(id_of blocked)"
rx loop
check "its next session has the answer, and the diff of the last one" eval 'is "$rc" 0 && exists color.txt && has was.diff +half && absent half.txt'
task crashes 'raw: printf "{\"type\":\"assistant\",\"mess"; kill -9 $$'
rx step
check "a stream that breaks off is a crash" eval 'is "$rc" 1 && has "$out" "crashed"'
rx item drop "$(id_of crashes)"
task long 'raw: head -c 20000000 /dev/zero | tr "\0" x; echo
raw: printf "\377\376 garbage\n{\"type\":\"result\",\"result\":\"early\"}\n"
sh: echo l >long.txt'
rx step
check "20 MB on a line, garbage, and several results" eval 'is "$rc" 0 && exists long.txt'
printf '{"ralph": {"attempts": 1, "silence": "1s"}}\n' >wrapix.json
task hangs 'sh: sleep 1000'
rx step
check "silence ends a session" eval 'is "$rc" 1 && has "$out" "timeout: it printed nothing for 1 seconds"'
rx item drop "$(id_of hangs)"
printf '{"ralph": {"grace": "1s"}}\n' >wrapix.json
task stays 'sh: echo s >stays.txt
raw: result RALPH_COMPLETE; sleep 1000'
rx step
check "one that does not end after its result is ended, and counts" eval 'is "$rc" 0 && exists stays.txt'
rx loop --max-time 0
check "a limit that is none is refused" is "$rc" 2
rx xyzzy
check "an unknown command is refused" eval 'is "$rc" 2 && has "$err" "ralph help"'
check "no session is left" is "$(sessions)" 0

# --- the gate, protection, hidden specs ---

new_project gate '{"gate": "sh gate.sh", "protect": ["tests", "specs"], "attempts": 3}'
echo 'cat work.txt; grep -q good work.txt && touch built.log && ls /run/ralph-spec 2>/dev/null; grep -q good work.txt' >gate.sh
mkdir tests && echo t >tests/t && echo '*.log' >.gitignore && git add -A && git commit -qm gate
task gated 'sh1: echo bad >work.txt; echo other >other.txt
sh2: grep -q +bad /run/ralph/previous.diff && grep -q "in the words of what failed" /tmp/prompt && echo good >work.txt'
rx step
check "a gate that fails rolls the step back" eval 'is "$rc" 1 && absent work.txt && absent other.txt && has "$out" "gate" && is "$(status_of gated)" open'
rx step
check "the next try knows why, and passes" eval 'is "$rc" 0 && has work.txt good && is "$(git log -1 --format=%s)" gated'
check "what the gate makes is not taken over" absent built.log
task tests 'sh: echo hacked >tests/t; rm -rf tests; echo good >>work.txt; echo new >specs/new.md'
rx step
check "protected files stand read-only" eval 'is "$rc" 0 && has tests/t t && absent specs/new.md'
task spelled 'sh: mkdir TESTS && echo hacked >TESTS/t; echo good >>work.txt'
rx step
check "... by every spelling: the file system may ignore case" eval 'is "$rc" 1 && has "$out" "it is protected" && absent TESTS'
rx item drop "$(id_of spelled)"
task config 'sh: echo "{}" >wrapix.json; echo good >>work.txt; echo "echo pwned" >.envrc'
rx step
check "what a shell would obey is not taken over" eval 'is "$rc" 1 && has "$out" "refused" && absent .envrc && has wrapix.json gate'
rx item drop "$(id_of config)"
rx start --hidden secret
printf 'mkdir -p /run/ralph-spec; printf "# Secret\\n\\nThis sentence is to stay between the two of us.\\n" >/run/ralph-spec/spec.md\n' >.agent/plan
rx plan
check "a hidden spec is written outside of the project" eval 'is "$rc" 0 && ! grep -r --exclude-dir=.agent "between the two" . && grep -rq "between the two" "$state/ralph"'
task quotes 'sh: cat /run/ralph-spec/spec.md >copy.txt; echo good >>work.txt'
rx step
check "and cannot reach a commit" eval 'is "$rc" 1 && has "$out" "a hidden spec stands in it" && absent copy.txt'
rm "$state"/ralph/*.db*
check "it stays hidden when the database is made again" eval '"$ralph" status secret | grep -q "(hidden)" && absent .wrapix/ralph/secret.jsonl'
rx use feature
check "features stand side by side" eval 'is "$rc" 0 && "$ralph" status --all | grep -q "^secret"'

# --- protected, by a link ---

new_project linked '{"gate": "sh way/tests/run.sh", "protect": ["way/tests"], "attempts": 3}'
mkdir -p real/tests other/tests && ln -s real way && echo 'grep -q good work.txt' >real/tests/run.sh && git add -A && git commit -qm linked
task behind 'sh: echo : >real/tests/run.sh; echo bad >work.txt'
rx step
check "what a protected path leads to is protected" eval 'is "$rc" 1 && has real/tests/run.sh grep && absent work.txt'
rx item drop "$(id_of behind)"
task link 'sh: echo : >other/tests/run.sh; ln -sfn other way; echo bad >work.txt'
rx step
check "... and so is the link on the way" eval 'is "$rc" 1 && is "$(readlink way)" real && absent work.txt'

# --- a plan is a spec ---

new_project plans
echo keep >other && git add -A && git commit -qm other
printf 'rm specs/feature.md; mkdir -p specs/feature.md/.vscode; echo pwned >specs/feature.md/.envrc; echo {} >specs/feature.md/.vscode/tasks.json\n' >.agent/plan
rx plan
check "a directory in the spec's place is not taken over" eval 'has "$out" "not kept" && has specs/feature.md "Success Criteria"'
printf 'rm specs/feature.md; ln -s /etc/passwd specs/feature.md\n' >.agent/plan
rx plan
check "... nor is a link, or that it is gone" eval 'has specs/feature.md "Success Criteria" && [ ! -L specs/feature.md ] && echo "rm specs/feature.md" >.agent/plan && "$ralph" plan >"$out" 2>"$err"; has specs/feature.md "Success Criteria"'
git rm -q specs/feature.md && git commit -qm gone
printf 'mkdir -p specs; mv other specs/feature.md\n' >.agent/plan
rx plan
check "... nor what another file lost by becoming the spec" eval 'has specs/feature.md keep && has other keep'

# --- what runs in the gate was written by the agent ---

new_project around '{"gate": "sh build.sh; sh tests/run.sh", "protect": ["tests"], "attempts": 3}'
mkdir tests gone && echo 'grep -q good work.txt' >tests/run.sh && echo : >build.sh
for file in gone/f victim kept; do echo "$file" >"$file"; done
git add -A && git commit -qm more
cat >.agent/build <<'END'
echo : >tests/run.sh
rm -rf x; mkdir -p x/.vscode; echo pwned >x/.envrc; echo {} >x/.vscode/tasks.json
echo later >y; chmod 777 y; ln -sf /etc/passwd z; rm victim; echo back >gone/f; mkdir -p gone/dir; echo more >gone/dir/g
echo beside >made/evil; mv kept .mcp.json
END
task talks 'sh: cat .agent/build >build.sh; echo bad >work.txt'
rx step
check "what is protected cannot be rewritten in the gate" eval 'is "$rc" 1 && has "$out" "the gate" && has tests/run.sh grep && absent work.txt'
rx item drop "$(id_of talks)"
task swaps 'sh: cat .agent/build >build.sh; echo hi >x; echo agent >y; echo z >z; rm gone/f; mkdir made; echo mine >made/mine; echo victim >copy; echo good >work.txt'
rx step
check "what is taken over is what was looked at, whatever the gate made of it" eval 'is "$rc" 0 && is "$(cat x) $(cat y) $(cat z) $(cat made/mine)" "hi agent z mine" && is "$(stat -c %a y)" 644'
check "... what was removed, and what only the gate removed" eval 'absent gone/f && exists victim && exists copy && exists kept'
check "... and nothing that it put beside" eval 'absent made/evil && absent gone/dir && absent .mcp.json && is "$(git status --porcelain | grep -v -e .agent -e .wrapix)" ""'
task moves 'sh: rm kept; echo "echo kept >.mcp.json" >build.sh'
rx step
check "... nor under another name" eval 'is "$rc" 0 && absent .mcp.json && absent kept'

# --- hooks, trust, pushes ---

git init -q --bare "$tmp/remote.git"
new_project hooks '{"hooks": {"pre-loop": "echo $RALPH_FEATURE; exit 3"}}'
task one 'sh: echo 1 >1.txt'
rx loop
check "a hook that fails blocks, with its own status" eval 'is "$rc" 3 && has "$out" "pre-loop" && absent 1.txt'
printf '{"ralph": {"hooks": {"pre-loop": {"run": "exit 3", "onFailure": "warn"}, "post-step": "touch %s/escaped"}}}\n' "$tmp" >wrapix.json
rx loop
check "one that only warns does not" eval 'exists 1.txt && has "$out" "status 3"'
check "hooks run in a sandbox" absent "$tmp/escaped"
task two 'sh: echo 2 >2.txt; git push -q origin main 2>/dev/null; true'
rx loop --host
check "on the host only when trusted" eval 'is "$rc" 1 && has "$err" "wrapix trust" && absent 2.txt'
wx trust --yes
git remote add origin "$tmp/remote.git" && git push -q -u origin main
old=$(git -C "$tmp/remote.git" rev-parse main)
rx loop --host
check "... and then they do" eval 'exists "$tmp/escaped" && exists 2.txt'
check "an agent cannot push" is "$(git -C "$tmp/remote.git" rev-parse main)" "$old"
task three 'sh: echo 3 >3.txt'
cp wrapix.json trusted.json && printf '{"ralph": {"push": true}}\n' >wrapix.json
rx loop
check "a project's file does not make it push" eval 'is "$rc" 1 && has "$err" "wrapix trust" && absent 3.txt && is "$(git -C "$tmp/remote.git" rev-parse main)" "$old"'
mv wrapix.json elsewhere.json && ln -s elsewhere.json wrapix.json
rx loop
check "... nor is it read by a link" eval 'is "$rc" 2 && has "$err" "symbolic link"'
rm wrapix.json elsewhere.json && mv trusted.json wrapix.json
rx loop --push
check "ralph pushes, after the gate" eval 'is "$(git -C "$tmp/remote.git" rev-parse main)" "$(git rev-parse HEAD)"'

printf '{"ralph": {"hooks": {"pre-step": {"run": "test $RALPH_ITEM != $(cat skip.txt)", "onFailure": "skip"}}}}\n' >wrapix.json
task skipped 'sh: echo s >skipped.txt'
task after 'sh: echo a >after.txt'
id_of skipped >skip.txt
rx loop
check "a hook can pass over a task" eval 'absent skipped.txt && exists after.txt && is "$(status_of skipped)" open'

printf '{"agent": "claude", "ralph": {"gate": "true"}}\n' >wrapix.json
task gated 'sh: echo g >gated.txt'
rx loop
check "a gate asks for nothing of an agent that the project names" exists gated.txt

# --- the user's own gate ---

printf '{"network": "none", "notify": false, "ralph": {"agent": "%s", "gate": "test ! -e bad.txt"}}\n' "$agent" >"$home/.config/wrapix/config.json"
new_project own '{"gate": "true"}'
task breaks 'sh: echo x >bad.txt'
rx step
check "a project's gate does not take the place of the user's" eval 'is "$rc" 1 && has "$out" "the gate" && absent bad.txt'
rx item drop "$(id_of breaks)"
printf '{"ralph": {"gate": "test -e good.txt"}}\n' >wrapix.json
task fails 'sh: echo x >other.txt'
rx step
check "... nor the user's that of the project's" eval 'is "$rc" 1 && has "$out" "then test -e good.txt" && absent other.txt'
rx item drop "$(id_of fails)"
task holds 'sh: echo x >good.txt'
rx step
check "... and what both let through is taken over" eval 'is "$rc" 0 && exists good.txt'

printf '{"network": "none", "notify": false, "ralph": {"agent": "%s", "hooks": {"pre-step": "exit 3"}}}\n' "$agent" >"$home/.config/wrapix/config.json"
new_project hooked '{"hooks": {"pre-step": {"run": "true", "onFailure": "warn"}}}'
task stopped 'sh: echo x >stopped.txt'
rx loop
check "a project's hook does not take the place of the user's" eval 'is "$rc" 3 && has "$out" "the hook pre-step ended with status 3" && absent stopped.txt'
printf '{"ralph": {"hooks": {"pre-step": "exit 4"}}}\n' >wrapix.json
printf '{"network": "none", "notify": false, "ralph": {"agent": "%s", "hooks": {"pre-step": "true"}}}\n' "$agent" >"$home/.config/wrapix/config.json"
rx loop
check "... nor the user's that of the project's" eval 'is "$rc" 4 && absent stopped.txt'
printf '{"network": "none", "notify": false, "ralph": {"agent": "%s"}}\n' "$agent" >"$home/.config/wrapix/config.json"

# --- what is said on the desktop ---

printf '{"network": "none", "notify": {"webhook": "cat >>%s/posted", "always": true}, "ralph": {"agent": "%s"}}\n' "$tmp" "$agent" >"$home/.config/wrapix/config.json"
new_project told
task ask 'end: RALPH_CLARIFY: is anybody there?'
rx loop
await has "$tmp/posted" "is anybody there"
check "a question is told to the user" has "$tmp/posted" "is anybody there"
await has "$tmp/posted" "ralph is stuck"
check "and that it is stuck" has "$tmp/posted" "ralph is stuck"

# --- templates ---

EDITOR='sed -i s/{{TITLE}}/{{TITEL}}/' rx tune step
check "a template with a wrong name is refused, with the right one" eval 'is "$rc" 2 && has "$err" "step.md:1" && has "$err" "{{TITLE}}"'
rx check --templates
check "check finds it too" is "$rc" 1
rx tune step --reset
rx check --templates
check "and the built-in one is valid" is "$rc" 0

# --- the manual ---

heads() { sed -n '/^options:/,/^$/s/^ *\(-.*\)/\1/p' | sed 's/   *.*//' | sort -u; }
commands=$("$ralph" --help | sed -n '/^options:/q; s/^  \([a-z][a-z]*\) .*/\1/p')
{ "$ralph" --help; for c in $commands; do "$ralph" help "$c"; done; } >"$tmp/helps"
heads <"$tmp/helps" >"$tmp/heads"
sed -n 's/^\.It \(Fl .*\)/\1/p' "$top/man/ralph.1" | sed 's/Fl Fl /--/g; s/Fl /-/g; s/ ,/,/g; s/ Ar / /g' | sort -u >"$tmp/manual"
check "ralph(1) has the options of the program, and no others" diff "$tmp/heads" "$tmp/manual"
for c in $commands; do
	check "ralph(1) explains $c, which has an example" eval 'grep -qE "^\.(It )?Cm (.*, )?$c\b|Cm help , version" "$top/man/ralph.1" && "$ralph" help "$c" | grep -q ^examples:'
done
for shell in bash zsh fish; do
	check "ralph completion $shell is a script of that shell" eval '"$ralph" completion $shell >"$tmp/script" && $shell -n "$tmp/script"'
done
finish
