#!/bin/sh
# SPDX-License-Identifier: MIT
# notify.sh PART: messages from sandboxes to the user's desktop; notify_PART.py has the test points. Prints TAP.
#
# shellcheck disable=SC1091,SC2154 # the library
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
export WRAPIX="$wrapix" NOTIFY_TMP="$tmp/n" PYTHONPATH="$top/tests/lib" PYTHONDONTWRITEBYTECODE=1
mkdir "$NOTIFY_TMP"
python3 "$here/notify_$1.py"
