#!/bin/sh
# SPDX-License-Identifier: MIT
# ralph with a real Claude Code, against a scripted API on this machine: interview, decomposition, three tasks with a
# dependency, and what goes wrong. Each outcome is seen from outside.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # $1 in eval; the library and its variables; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/ralph.sh"
. "$top/tests/lib/claude.sh"
RX_SECONDS=180
cannot_run() {
	skip "ralph with a real Claude Code" "$1"
	finish
}
claude=${WRAPIX_TEST_CLAUDE-}
[ -n "$claude" ] || install_claude >"$tmp/npm.log" 2>&1 </dev/null || cannot_run "no Claude Code: $(head -n 1 "$tmp/npm.log")"
"$claude" --version >"$tmp/version" 2>&1 </dev/null || cannot_run "$claude: $(head -n 1 "$tmp/version")"
echo "# $(head -n 1 "$tmp/version")"
PATH=$(dirname "$claude"):$PATH
export PATH

cat >"$tmp/phases.json" <<'EOF'
{
	"Interview": "sh: mkdir -p specs && printf '# Lamp\\n\\n## Success Criteria\\n- [ ] there is light\\n  [judge](../rubric.md)\\n' >specs/feature.md\nend: Leave now, and type 'ralph ready'.",
	"Cut into tasks": "sh: e=$(ralph item add --title 'The lamp' --epic); a=$(ralph item add --title bulb --after $e --text 'sh: echo bulb >bulb.txt'); ralph item add --title switch --after $a --text 'sh: grep -q bulb bulb.txt && echo switch >switch.txt'; ralph item add --title shade --text 'sh: echo shade >shade.txt'\nsh: ralph item list",
	"Review": "sh: ralph item list\nend: RALPH_COMPLETE",
	"Judge": "end: PASS"
}
EOF
mkfifo "$tmp/ready"
node "$top/tests/lib/fake-anthropic.mjs" --tasks "$tmp/phases.json" --log "$tmp/api.log" --look "Every lamp is green." >"$tmp/ready" 2>"$tmp/api.err" </dev/null &
started=$!
read -r _ port <"$tmp/ready"
cat >"$home/.config/wrapix/config.json" <<EOF
{
	"hostPorts": [$port], "notify": false,
	"env": {
		"ANTHROPIC_BASE_URL": "http://127.0.0.1:$port", "ANTHROPIC_API_KEY": "sk-ant-test-0123456789-abcdefghij-0123456789",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"
	}
}
EOF

# --- the whole way ---

new_project way '{"gate": "test -e base.txt", "models": {"step": "claude-test-model"}}'
rm specs/feature.md && git commit -qam 'no spec yet'
echo 'Is there light?' >rubric.md
TMUX_TMPDIR=$tmp tmux -f /dev/null new-session -d -s plan -x 100 -y 30 \
	"env HOME='$HOME' PATH='$PATH' '$ralph' plan; echo \$? >'$tmp/planned'"
screen() { TMUX_TMPDIR=$tmp tmux capture-pane -p -t plan; }
await eval 'screen | grep -q "Leave now"'
check "the interview is a session in the terminal" eval 'screen | grep -q "Leave now" || { screen; false; }'
TMUX_TMPDIR=$tmp tmux send-keys -t plan /exit Enter
await test -s "$tmp/planned"
check "and leaves a spec" eval 'is "$(cat "$tmp/planned")" 0 && has specs/feature.md "there is light"'
rx ready --yes
check "an agent cuts it into tasks" eval 'is "$rc" 0 && has "$out" "The lamp" && is "$(json .total)" 3 && is "$(json "[.items[].needs | length] | add")" 2'
rx loop
check "three tasks with a dependency are done" eval 'is "$rc" 0 && exists switch.txt && exists shade.txt && is "$(json .done)" 3'
check "each in a commit" is "$(git log --format=%s | head -n 3 | sort | tr '\n' ' ')" "bulb shade switch "
check "what it cost is known" eval '[ "$(json ".cost > 0 and .tokensOut > 3000")" = true ]'
rx spec
check "a judge judges" eval 'is "$rc" 0 && has "$out" "[PASS] there is light"'
rx check
check "a reviewer finds nothing" eval 'is "$rc" 0 && has "$out" "found nothing"'

# --- a memory that is compacted ---

sed -i 's/"CLAUDE_CODE_DIS/"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "150000", &/' "$home/.config/wrapix/config.json"
new_project compacted
echo 'Every lamp is green.' >specs/README.md
task long 'full: 195000
sh: echo a >a.txt
sh: echo b >b.txt
sum: It was about letters.'
: >"$tmp/api.log"
rx step
check "an agent's memory is compacted, and it goes on" eval 'is "$rc" 0 && exists b.txt && has "$out" "(its memory was compacted)"'
check "... by the hook it is told again what holds" eval 'grep -q "SessionStart:compact.*Your memory was compacted.*Every lamp is green" "$("$ralph" logs --raw)"'
check "... and the model hears it" eval 'is "$(jq -r .found "$tmp/api.log" | tail -n 1)" true && is "$(jq -r ".messages" "$tmp/api.log" | tail -n 1)" 5'

# --- what goes wrong ---

new_project wrong '{"gate": "! grep -q bad *.txt", "attempts": 2}'
task blocked 'end: RALPH_BLOCKED: no power'
task asks 'end1: RALPH_CLARIFY: warm or cold?
sh2: grep -c . base.txt >count.txt'
task liar 'sh: echo x >liar.txt
end: Not RALPH_COMPLETE yet'
task fails 'sh1: echo bad >fails.txt
sh2: grep -q +bad /run/ralph/previous.diff && echo good >fails.txt'
task crashes 'sh1: kill -9 $PPID
sh2: echo c >crashes.txt'
task long 'sh: echo l >long.txt
big: 20000000'
rx loop -p 3
check "a loop with all of them ends as failed" is "$rc" 1
check "blocked" is "$(status_of blocked)" blocked
check "a question" is "$(status_of asks)" question
check "a lie about the completion" eval 'is "$(status_of liar)" failed && absent liar.txt'
check "a failure, then success with the diff of it" eval 'is "$(status_of fails)" "done" && has fails.txt good'
check "a crash in the middle of the stream, then success" is "$(status_of crashes)" "done"
check "a line of 20 MB" is "$(status_of long)" "done"
rx msg "$(id_of asks)" --answer warm
began=$(date +%s)
rx step
took=$(($(date +%s) - began))
check "the answer leads on" eval 'is "$rc" 0 && exists count.txt'
task dear 'sh: echo d >dear.txt'
rx loop --max-cost 0.01
check "a budget ends it" eval 'is "$rc" 1 && is "$(status_of dear)" open && "$ralph" logs --list | grep -q " budget "'
# Silence is more than what a start takes here and now.
new_project hang "{\"silence\": \"$((4 + 2 * took))s\", \"attempts\": 9}"
task hangs 'hang1:
sh2: echo h >hangs.txt'
rx loop
check "a hang, then success" eval 'is "$rc" 0 && exists hangs.txt && "$ralph" logs --list | grep -q " timeout "'
check "no session and no process is left" eval 'is "$(sessions)" 0 && none_running stream-json'
finish
