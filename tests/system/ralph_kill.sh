#!/bin/sh
# SPDX-License-Identifier: MIT
# ralph killed at random moments, alone or with all of its processes: the next loop goes on, and in the end every task was
# done exactly once. 'ralph_kill.sh ROUNDS SEED PARALLEL' for more often, for other moments, and for several at once.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # $1 in eval; the library and its variables; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
rounds=${1:-25}
seed=${2:-4711}
parallel=${3:-1}
command -v strace >/dev/null || bail "strace is not installed"
be_user "$@"
set_up
ralph=${wrapix%/cli/wrapix}/ralph/ralph
[ -x "$ralph" ] || ralph=${wrapix%/*}/ralph # installed
git config --global user.name Tester
git config --global user.email tester@example.com
cp "$top/tests/lib/ralph-agent" "$home/agent"
mkdir -p "$home/.config/wrapix" "$project/.wrapix/ralph" "$project/specs"
printf '{"network": "none", "notify": false, "ralph": {"agent": "%s", "gate": "grep -q . shared.txt", "attempts": 100}}\n' \
	"$home/agent" >"$home/.config/wrapix/config.json"
cd "$project" || exit 1
git init -q
echo begin >shared.txt
printf '# F\n' >specs/f.md
git add -A && git commit -qm base

# Every task adds its line to a file that all share, and makes, replaces and removes files of its own.
tasks=$((rounds + 10))
{
	printf '{"kind":"feature","name":"f","spec":"specs/f.md","created":1,"updated":1}\n'
	i=1
	while [ $i -le $tasks ]; do
		printf '{"kind":"task","id":"t%d","feature":"f","title":"task %d","status":"open","rank":%d,"created":%d,"updated":1,"text":"sh: echo t%d >>shared.txt; mkdir -p d%d/deep; echo x >d%d/deep/x; echo y >d%d/y; rm -rf d%d/deep"}\n' \
			$i $i $i $i $i $i $i $i $((i - 1))
		i=$((i + 1))
	done
} >.wrapix/ralph/f.jsonl

draw() { # draw MAX: $drawn is the next of a fixed sequence, from 0 to MAX-1
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	drawn=$((seed / 8 % $1))
}
kill_round() {
	setsid "$ralph" loop -p "$parallel" f >"$tmp/log/out" 2>"$tmp/log/err" </dev/null &
	pid=$!
	draw 450000
	sleep "0.$(printf %06d "$drawn")"
	draw 3
	if [ "$drawn" = 0 ]; then # the machine: everything of that session, in no order
		for victim in $(pgrep -s "$pid"); do kill -9 "$victim" 2>/dev/null; done
	fi
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}
# First at each call about the lock of the user's index: nobody could tell afterwards whose an empty one is.
lock=$project/.git/index.lock
lock_kills=
for call in unlink openat flock write renameat2; do
	timeout -s KILL 60 strace -qqq -o /dev/null -P "$lock" -P "$lock.ralph" -e trace=$call -e inject=$call:signal=KILL:when=1 \
		"$ralph" loop f >"$tmp/log/out" 2>"$tmp/log/err" </dev/null
	lock_kills="$lock_kills$?$([ -e "$lock" ] && [ ! -s "$lock" ] && echo " empty") "
done
check "a kill at each call about the index's lock" is "$lock_kills" "137 137 137 137 137 "

killed=0
while [ $killed -lt "$rounds" ]; do
	kill_round
	killed=$((killed + 1))
done
check "$rounds kills" is "$killed" "$rounds"
timeout -s KILL 300 "$ralph" loop -p "$parallel" f >"$tmp/log/out" 2>"$tmp/log/err" </dev/null
rc=$?
check "the next loop finishes" is "$rc" 0
json() { "$ralph" status f --json 2>/dev/null | jq -r "$1"; }
check "every task is done" eval 'is "$(json .done)" "$tasks"'
# shellcheck disable=SC2046
check "and exactly once" is "$(sed 1d shared.txt | sort | tr '\n' ' ')" "$(printf '%s\n' $(seq -f t%.0f 1 $tasks) | sort | tr '\n' ' ')"
check "each has one commit" is "$(git log --format=%b | grep -c '^Ralph-Item: ')" "$tasks"
check "... of its own" is "$(git log --format=%b | grep '^Ralph-Item: ' | sort -u | wc -l)" "$tasks"
check "the tree is whole" eval 'is "$(git status --short --untracked-files=all | grep -v "\.wrapix/")" "" && is "$(git ls-files | wc -l)" "$(git ls-files | xargs -d "\n" ls -d | wc -l)"'
check "the repository is sound" git fsck --strict --no-dangling
# A start that was killed may leave a directory without a record or without a layer, which is swept after a minute.
sessions() { for upper in "$state"/cow/*/project/upper; do [ ! -s "${upper%/project/upper}/meta" ] || echo "$upper"; done; }
check "no session is left" is "$(sessions)" ""
check "no process is left" none_running "$home/agent"
finish
