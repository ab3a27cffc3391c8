#!/bin/sh
# SPDX-License-Identifier: MIT
# wrapix-init under a kernel of its own, as with --runtime krun: root of the guest, with the session's directory shared by files
# alone (hostfs, as virtiofs is for krun). The supervisor's messages are written here, outside. Prints TAP.
# shellcheck disable=SC1091,SC2016,SC2154 # the library and its variables; scripts for the guest
set -u
. "$(dirname -- "$0")/../lib/uml.sh"
wrapix=${WRAPIX:-$top/build/src/cli/wrapix}
uml_up
mkdir "$tmp/stage" "$tmp/stage/tree" "$tmp/said"
chown "$uid" "$tmp/said"
cp "${wrapix%/*}/../engine/wrapix-init" "$tmp/" || exit 1
printf 'HOME=/tmp\0PATH=/usr/bin:/bin\0A=b c\0' >"$tmp/stage/env"
printf '' >"$tmp/stage/rules"
numbers=$(printf '#include <stdio.h>\n#include "engine/podman/stage.h"\nint main(void) { printf("%%zu %%d %%d", sizeof(struct stage_message), STAGE_GO, STAGE_SIGNAL); }\n' |
	cc -I"$top/src" -x c - -o "$tmp/numbers" && "$tmp/numbers") || exit 1
# shellcheck disable=SC2086 # words
set -- $numbers
size=$1 go=$2 signal=$3
message() { # message N TYPE VALUE: as stage.h has it
	python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("ii", int(sys.argv[2]), int(sys.argv[3])).ljust(int(sys.argv[1]), b"\0"))' \
		"$size" "$2" "$3" >"$tmp/stage/new" && mv "$tmp/stage/new" "$tmp/stage/say.$1"
}
cat >"$tmp/init" <<END
#!/bin/sh
mount -t proc proc /proc
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t tmpfs tmpfs /opt
mkdir -p /opt/wrapix/init /tmp/said
mount -t hostfs -o $tmp/stage none /opt/wrapix/init
mount -t hostfs -o $tmp/said none /tmp/said
$guest_check
ip link set lo up 2>/dev/null
echo waits >/tmp/said/waits
run() { $tmp/wrapix-init --filter=default --machine=$uid:$uid -- "\$@" 2>/tmp/err; }
got=\$(run sh -c 'echo "\$(id -u) \$(id -g) \$(id -G) \$A" \$(sed -n "s/NoNewPrivs:\t//p; s/Seccomp:\t//p" /proc/self/status); exit 7')
check "root becomes the user, under the filter; the environment; the status is the command's" "7 $uid $uid $uid b c 1 2" "\$? \$got"
run /nosuch
check "what goes wrong is said there" "127 1" "\$? \$(grep -c "executing '/nosuch'" /tmp/err)"
run sh -c '(setsid sleep 0.2 &) ; trap "exit 42" TERM; echo up >/tmp/said/up; while :; do sleep 0.1; done'
check "a signal from outside reaches the command" 42 \$?
echo "guest: the end"
poweroff -f
END
await() { # await FILE
	n=0
	while [ ! -e "$1" ] && [ $n -lt 600 ]; do
		sleep 0.1
		n=$((n + 1))
	done
}
{
	await "$tmp/said/waits"
	message 0 "$go" 0
	await "$tmp/said/up"
	message 1 "$signal" 15
} &
uml_run 140 mem=256M
