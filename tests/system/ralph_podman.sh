#!/bin/sh
# SPDX-License-Identifier: MIT
# ralph's steps in containers of podman's: the agent, what it may not change, its way to the tasks, the gate, the landing.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # $1 in eval; the library and its variables; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/podman.sh"
PATH=$PATH:/usr/sbin:/sbin
need_podman "$@"
be_user "$@"
set_up
podman_up
. "$top/tests/lib/ralph.sh"
rootfs "$tmp/root" bash git
wx image build --from "rootfs:$tmp/root" --name base
check "an image with git" is "$rc" 0
printf '{"engine": "podman", "network": "none", "notify": false, "ralph": {"agent": "%s"}}\n' "$agent" >"$home/.config/wrapix/config.json"

new_project steps '{"gate": "grep -q good work.txt", "protect": ["specs"], "attempts": 2}'
task works 'sh: echo good >work.txt; echo new >specs/new.md
sh: ralph item note "seen: $(ralph item list | grep -c works)"'
rx step
check "a step" eval 'is "$rc" 0 && has work.txt good && is "$(git log -1 --format=%s)" works'
check "... that reached its task" eval '"$ralph" item show "$(id_of works)" | grep -q "seen: 1"'
check "... and not what is protected" absent specs/new.md
task fails 'sh1: echo bad >work.txt
sh2: grep -q +bad /run/ralph/previous.diff && echo good again >work.txt'
rx loop
check "a gate that fails, then success" eval 'is "$rc" 0 && has work.txt again && "$ralph" logs --list | grep -q " gate "'
check "nothing is left" eval 'is "$(sessions)" 0 && no_containers'
finish
