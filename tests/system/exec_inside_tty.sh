#!/bin/sh
# SPDX-License-Identifier: MIT
# 'wrapix exec' on a terminal inside of 'wrapix run': what tty.sh tries with a sandbox, once more in one. Prints TAP.
#
# shellcheck disable=SC1091,SC2154 # the library
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
cp "$here/terminal.py" "$tmp/terminal.py"
timeout 100 "$wrapix" run --network none --mount "$wrapix:/wrapix:ro" --mount "$tmp/terminal.py:/terminal.py:ro" -- \
	env WRAPIX=/wrapix WRAPIX_TTY_RUN="exec --" WRAPIX_TESTS_MUST_RUN="${WRAPIX_TESTS_MUST_RUN-0}" python3 /terminal.py
