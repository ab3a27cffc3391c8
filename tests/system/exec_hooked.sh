#!/bin/sh
# SPDX-License-Identifier: MIT
# Hooks that are links, in repositories below the working directory of 'wrapix exec': what they lead to is not written, however many
# there are, whoever made them how lately, and wherever the repository has come to; and hundreds are not looked at with each call.
# exec_attacks.sh has the ways to write. Prints TAP.
#
# shellcheck disable=SC1091,SC2154 # the library
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
command -v git >/dev/null || bail "git is not installed"
set_up
. "$top/tests/lib/git.sh"

plays() { # plays PART: what exec_hooked.py says of it, in a new project
	rm -rf "$tmp/work" && mkdir "$tmp/work" && in_new_repo "$tmp/work/project" || exit 1
	timeout 60 python3 "$here/exec_hooked.py" "$wrapix" "$1" 2>"$tmp/log/err" || head -n 20 "$tmp/log/err"
}

check "hundreds of links: 200 files, 100 links, 100 directories made and moved beside what they lead to take a few looks" is "$(plays many)" "done, few"
check "... and the first and the last are kept" is "$(plays ends)" "EACCES EACCES EACCES EACCES written"
check "a link that the user made a moment ago, beside hundreds of others" is "$(plays new)" "written EACCES"
check "... and another repository that he put in its place" is "$(plays other)" "written EACCES"
check "what may be written only now" is "$(plays allowed)" "EROFS EACCES written"
check "a repository that comes to where there was none, in the same moment" is "$(plays moment)" "EACCES"
check "a repository with such a hook by its full path is not moved away" is "$(plays absolute)" "EACCES"
check "... nor a submodule, to be written elsewhere" is "$(plays submodule)" "EACCES"
check "... and if it goes along with what is around it, it does not come back" is "$(plays around)" "moved EACCES"
check "... as it does with hooks that are none" is "$(plays samples)" "moved moved"
finish
