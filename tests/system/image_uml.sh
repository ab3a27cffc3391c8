#!/bin/sh
# SPDX-License-Identifier: MIT
# A sandbox from an image on a kernel before 6.6, whose tmpfs cannot hold an overlay's marks: User Mode Linux is one
# (Debian 12's is 6.1). Its root is this machine's, read-only; the user's home is a disk of ext4. Prints TAP.
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
top=$(CDPATH='' cd -- "$here/../.." && pwd -P)
wrapix=${WRAPIX:-$top/build/src/cli/wrapix}
user=${WRAPIX_TEST_USER:-wrapixtest}
uml=$(command -v linux.uml || command -v linux)
skip() {
	[ "${WRAPIX_TESTS_MUST_RUN-0}" = 1 ] && { echo "Bail out! $1"; exit 1; }
	echo "1..0 # SKIP $1"
	exit 0
}
[ -n "$uml" ] || skip "no User Mode Linux (Debian: user-mode-linux)"
[ "$(id -u)" = 0 ] || skip "needs root: the guest's root is this machine's, and its users change inside"
module=$(find /usr/lib/uml/modules -name overlay.ko 2>/dev/null | head -n 1)
[ -n "$module" ] || skip "no overlayfs for User Mode Linux"
uid=$(id -u "$user") || { echo "Bail out! there is no user $user"; exit 1; }

# Not below /tmp, which is the guest's own.
tmp=$(mktemp -d /var/tmp/wrapix-uml.XXXXXX) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
chmod 0755 "$tmp"
build=$(dirname "$wrapix")/..
cp "$wrapix" "$build/cli/wrapix-image" "$build/entry/wrapix-entry" "$build/notify/wrapix-notify" "$tmp/" || exit 1
truncate -s 64M "$tmp/disk"
mkfs.ext4 -qF "$tmp/disk" || exit 1

cat >"$tmp/guest" <<END
cd
mkdir -p root/usr/bin root/usr/lib/dir project
cp /bin/busybox root/usr/bin
for name in sh ls rm mkdir mv cat chmod; do ln -s busybox root/usr/bin/\$name; done
ln -s usr/bin root/bin
echo mine >root/usr/lib/dir/file
check() { # check NAME WANT GOT
	if [ "\$2" = "\$3" ]; then echo "ok - \$1"; else echo "not ok - \$1"; echo "# wanted \$2"; echo "# got \$3"; fi
}
$tmp/wrapix image build --from "rootfs:\$HOME/root" --name one >log 2>&1
check "an image is built" 0 \$?
cd project
run() { $tmp/wrapix run --image one --network none -- sh -c "\$1" </dev/null 2>../err; }
check "a sandbox runs from it" mine "\$(run 'cat /usr/lib/dir/file')"
check "what is written there is read there" new "\$(run 'echo new >/usr/lib/dir/file; cat /usr/lib/dir/file')"
check "a directory of the image's is removed, made anew, moved" "[] file" "\$(run 'rm -r /usr/lib/dir && mkdir /usr/lib/dir && echo "[\$(ls /usr/lib/dir)]" && mkdir /usr/lib/x && echo >/usr/lib/x/file && mv /usr/lib /usr/lob && ls /usr/lob/x' | tr '\\n' ' ' | sed 's/ \$//')"
run 'mkdir /usr/shut && echo >/usr/shut/file && chmod 0 /usr/shut'
check "nothing of it stays" "" "\$(ls ../.cache/wrapix/images/changes)"
check "... in the image either" mine "\$(run 'cat /usr/lib/dir/file')"
mkdir -p ../.cache/wrapix/images/changes/dead/0
$tmp/wrapix image gc >/dev/null 2>&1
check "gc removes what a killed session left" "" "\$(ls ../.cache/wrapix/images/changes)"
mkfifo up go
$tmp/wrapix run --image one --network none -- sh -c 'echo up >up; cat go' </dev/null >/dev/null 2>&1 &
read -r word <up
$tmp/wrapix image gc >/dev/null 2>&1
check "... and not what a running one uses" 1 "\$(ls ../.cache/wrapix/images/changes | wc -l)"
echo end >go
wait
$tmp/wrapix run --image one --network none --disk 1M -- true </dev/null 2>../err
check "that --disk does not hold there is said" 1 "\$(grep -c 'disk' ../err)"
END
cat >"$tmp/init" <<END
#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
mount -t tmpfs -o mode=1777 tmpfs /tmp
/bin/busybox insmod $module
mount -t ext4 /dev/ubda /home
mkdir /home/u && chown $uid /home/u
setpriv --reuid $uid --regid $uid --clear-groups env -i PATH=/usr/bin:/bin HOME=/home/u sh $tmp/guest
echo "guest: the end"
poweroff -f
END
chmod 0755 "$tmp/init" "$tmp"/wrapix*
TMPDIR=$tmp timeout 100 "$uml" mem=512M root=/dev/root rootfstype=hostfs rootflags=/ ro ubd0="$tmp/disk" init="$tmp/init" quiet \
	con=null con0=fd:0,fd:1 >"$tmp/console" 2>&1 </dev/null
tr -d '\r' <"$tmp/console" | LC_ALL=C awk '
/^(not )?ok - / { n++; sub(/ok - /, "ok " n " - "); print; if (/^not/) failed = 1; next }
/^# / { print }
/^guest: the end$/ { ended = 1 }
{ last[NR % 20] = $0 }
END {
	if (!ended) {
		for (i = NR + 1; i <= NR + 20; i++) { gsub(/[^ -~]/, "?", last[i % 20]); print "# " last[i % 20] }
		print "Bail out! the guest did not come to its end"
		exit 1
	}
	print "1.." n
	exit failed
}'
