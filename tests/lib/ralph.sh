# shellcheck shell=sh disable=SC2034,SC2154 # a library: its variables are the script's, and the other way round
# SPDX-License-Identifier: MIT
# What the tests of ralph share, after system.sh: an agent that does what it is told, projects, tasks.
ralph=${wrapix%/cli/wrapix}/ralph/ralph
[ -x "$ralph" ] || ralph=${wrapix%/*}/ralph # installed
git config --global user.name Tester
git config --global user.email tester@example.com
git config --global init.defaultBranch main

rx() { # rx ARG...: leaves $rc, $out and $err
	out=$tmp/log/out err=$tmp/log/err
	timeout --foreground -s KILL "${RX_SECONDS:-120}" "$ralph" "$@" >"$out" 2>"$err" </dev/null
	rc=$?
}
json() { "$ralph" status --json 2>/dev/null | jq -r "$1"; }
id_of() { json ".items[] | select(.title == \"$1\") | .id"; }
status_of() { json ".items[] | select(.title == \"$1\") | .status"; }
task() { # task TITLE TEXT [OPTION...]: a task that counts
	task_title=$1 task_text=$2
	shift 2
	rx item add --title "$task_title" --text "$task_text" "$@"
	[ "$rc" = 0 ] || { explain; bail "no task could be added"; }
}
new_project() { # new_project NAME [CONFIG]: a repository with the feature of that name
	mkdir "$tmp/$1" && cd "$tmp/$1" || exit 1
	git init -q
	echo base >base.txt
	mkdir specs .agent
	printf '# %s\n\n## Success Criteria\n- [ ] it works\n' "$1" >specs/feature.md
	[ $# -lt 2 ] || printf '{"ralph": %s}\n' "$2" >wrapix.json
	git add -A && git commit -qm base
	rx start feature
}
sessions() { find "$state/cow" -mindepth 1 -maxdepth 1 -type d 2>/dev/null | wc -l; }
agent=$home/agent
cp "$top/tests/lib/ralph-agent" "$agent"
mkdir -p "$home/.config/wrapix"
printf '{"network": "none", "notify": false, "ralph": {"agent": "%s"}}\n' "$agent" >"$home/.config/wrapix/config.json"
