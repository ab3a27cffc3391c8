#!/bin/sh
# SPDX-License-Identifier: MIT
# The sandbox on a terminal: terminal.py plays the terminal and the user. Prints TAP.
#
# shellcheck disable=SC1091,SC2154 # the library
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
export WRAPIX="$wrapix"
python3 "$here/terminal.py"
