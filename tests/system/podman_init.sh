#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
# SPDX-License-Identifier: MIT
# wrapix-init as a virtual machine has it (--runtime krun): as root, not as PID 1, with files for messages. The kernel is this one.
. "$(dirname -- "$0")/../lib/system.sh"
[ "$(id -u)" = 0 ] || {
	skip "everything" "what root becomes needs root"
	finish
}
need_user

init=${wrapix%/*}/../engine/wrapix-init
as_machine() { # as_machine COMMAND...: with $tmp/stage at its place
	unshare -m --propagation private sh -c 'mount -t tmpfs opt /opt && mkdir -p /opt/wrapix/init && mount --bind "$1" /opt/wrapix/init && shift && exec "$@"' \
		sh "$tmp/stage" "$init" --filter=default "--machine=$uid:$uid" -- "$@" >"$tmp/log/out" 2>"$tmp/log/err"
	rc=$?
}
# message N TYPE VALUE: as stage.h has it
message() { python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("ii", *map(int, sys.argv[1:])).ljust('"$size"', b"\0"))' "$2" "$3" >"$tmp/stage/new" && mv "$tmp/stage/new" "$tmp/stage/say.$1"; }
tmp=$(mktemp -d) out=$tmp/log/out err=$tmp/log/err
uid=$(id -u "$test_user")
mkdir "$tmp/log" "$tmp/stage" "$tmp/stage/tree"
chmod 755 "$tmp"
printf 'HOME=/tmp\0PATH=/usr/bin:/bin\0A=b c\0' >"$tmp/stage/env"
for path in /usr /bin /lib /lib64 /proc /dev /tmp; do printf 'w%s\0' $path; done >"$tmp/stage/rules"
size=$(printf '#include <stdio.h>\n#include "engine/podman/stage.h"\nint main(void) { printf("%%zu %%d %%d", sizeof(struct stage_message), STAGE_GO, STAGE_SIGNAL); }\n' |
	cc -I"$top/src" -x c - -o "$tmp/size" && "$tmp/size")
signal=${size##* } go=${size#* } size=${size%% *}
go=${go% *}
message 0 "$go" 0
as_machine sh -c 'echo "$(id -u) $(id -g) $(id -G) $A $(sed -n "s/NoNewPrivs:\t//p; s/Seccomp:\t//p" /proc/self/status | tr "\n" " ")"; exit 7'
check "in a machine root becomes the user, under the filter; the status is the command's" is "$rc $(cat "$out")" "7 $uid $uid $uid b c 1 2 "
as_machine /nosuch
check "... what goes wrong is said there" is "$rc $(grep -c "executing '/nosuch'" "$err")" "127 1"
mkfifo "$tmp/up"
chmod 666 "$tmp/up"
{ read -r _ <"$tmp/up" && message 1 "$signal" 15; } &
as_machine sh -c "trap 'exit 42' TERM; echo up >$tmp/up; while :; do sleep 0.05; done"
wait
check "... and a signal is a file" is "$rc" 42
rm -rf "$tmp"
finish
