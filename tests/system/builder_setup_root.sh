#!/bin/sh
# SPDX-License-Identifier: MIT
# wrapix-builder setup, called by root for a user: what that user's files are, and nothing that only root may read. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154 # the library; a script for another shell
. "$(dirname -- "$0")/../lib/system.sh"
need_user
set_up
builder=${wrapix%/cli/wrapix}/builder/wrapix-builder
user_dir=$(getent passwd "$test_user" | cut -d: -f6)

# The user's home is another one, for this alone. Root has its groups as sudo gives them.
setup() { # with the user's settings a link to a file of the group 0
	echo '{"told": ' >"$tmp/log/secret"
	chmod 640 "$tmp/log/secret"
	chmod 755 "$tmp/log"
	exec 3<"$tmp/log" 4<"$builder" # which may lie in that home
	setpriv --groups 0 unshare -m sh -c 'mount --bind /proc/self/fd/3 /mnt && mount -t tmpfs none "$2" &&
		mkdir -p "$2/.local/share/wrapix" && ln -s /mnt/secret "$2/.local/share/wrapix/builder.json" && chmod -R a+rX "$2" &&
		exec /proc/self/fd/4 setup --dry-run --user "$1" --etc "$2"' sh "$test_user" "$user_dir" >"$out" 2>&1
	exec 3<&- 4<&-
}
out=$tmp/log/out
if [ "$(id -u)" = 0 ]; then
	as_user test -x "$builder" || bail "$test_user cannot reach $builder"
	setup
	check "a link of the user's is read with the user's groups, not with root's" has "$out" "Permission denied"
else
	check "only root has other groups than the user's" true
fi

finish
