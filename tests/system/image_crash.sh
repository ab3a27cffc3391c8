#!/bin/sh
# shellcheck disable=SC1091,SC2154,SC2317 # the library; functions called by name
# SPDX-License-Identifier: MIT
# The store of images after a kill at each point: a process dies at its first, second, ... call that changes a name or
# syncs, until it has none left; whatever was there before is whole, and gc leaves nothing of the dead.
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
store=$HOME/.cache/wrapix/images
calls=rename,renameat,renameat2,unlinkat,mkdir,mkdirat,symlinkat,linkat,fsync,ftruncate

mkdir -p root/usr/bin root/etc
cp /bin/true root/usr/bin/true
ln -s usr/bin root/bin
echo one >root/etc/file
wx image build --from "rootfs:$PWD/root" --name keep
check "(control) an image is built" is "$rc" 0
image=$(dirname "$wrapix")/wrapix-image

whole() { # the other image, as it was; and after gc nothing that is nobody's
	"$image" gc && "$image" verify keep && [ "$(cat "$("$image" unpack keep)/etc/file")" = one ] &&
		! find "$store" -name '.[!.]*' ! -path "$store/roots/*/*" | grep .
}
# kills NAME BEFORE COMMAND...: BEFORE makes the state that COMMAND starts from.
kills() {
	kills_name=$1 kills_before=$2
	shift 2
	kills_n=$((1 - kills_step)) kills_rc=137
	while [ $kills_rc != 0 ]; do
		kills_n=$((kills_n + kills_step))
		$kills_before
		strace -qqq -f -o /dev/null -e trace=$calls -e inject=$calls:signal=KILL:when=$kills_n "$@" >"$tmp/log/out" 2>&1
		kills_rc=$?
		whole >"$tmp/whole" 2>&1 || break
		[ $kills_n -lt 200 ] || break
	done
	cp "$tmp/whole" "$tmp/log/out"
	check "$kills_name: killed up to its point $((kills_n - kills_step)), nothing is hurt" is "$kills_rc" 0
	check "... (control) there were some" test $kills_n -gt "$kills_least"
}
changed() {
	date +%N >root/etc/changed
}
unpacked() {
	"$image" remove new >/dev/null 2>&1
	"$image" gc >/dev/null 2>&1
	"$image" load "$tmp/new.oci.tar" --into store --name new >/dev/null 2>&1
}
removed() {
	"$image" build --from "rootfs:$PWD/root" --name old >/dev/null 2>&1
	"$image" remove old >/dev/null 2>&1
}
kills_least=10 kills_step=1
kills "a build" changed "$image" build --from "rootfs:$PWD/root" --name new
wx image verify new
check "... and what came of it at last is whole" is "$rc" 0
wx image build --from "rootfs:$PWD/root" --name new -o "$tmp/new.oci.tar"
kills_least=3
kills "an unpacking" unpacked "$image" unpack new
kills "a removal" unpacked "$image" remove new
# It mostly removes one file after the other.
kills_step=4
kills "gc" removed "$image" gc
finish
