#!/bin/sh
# SPDX-License-Identifier: MIT
# The end of a command: nobody is left of it, and nobody of ours; what it took is counted.
#
# shellcheck disable=SC1091,SC2154 # the library; its variables
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
cd "$project" || exit 1

timeout 60 python3 "$top/tests/system/exec_end.py" "$wrapix" >"$tmp/log/lines" 2>"$tmp/log/err" || cat "$tmp/log/err" >&2
while IFS= read -r line; do
	check "${line#*- }" is "${line%% -*}" ok
done <"$tmp/log/lines"
check "all of them were tried" is "$(wc -l <"$tmp/log/lines")" 12
finish
