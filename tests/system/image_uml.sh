#!/bin/sh
# SPDX-License-Identifier: MIT
# A sandbox from an image on a kernel before 6.6, whose tmpfs cannot hold an overlay's marks: User Mode Linux is one
# (Debian 12's is 6.1). Its root is this machine's, read-only; the user's home is a disk of ext4. Prints TAP.
# shellcheck disable=SC1091,SC2154 # the library and its variables
set -u
. "$(dirname -- "$0")/../lib/uml.sh"
wrapix=${WRAPIX:-$top/build/src/cli/wrapix}
module=$(find /usr/lib/uml/modules -name overlay.ko 2>/dev/null | head -n 1)
[ -n "$module" ] || skip "no overlayfs for User Mode Linux"
uml_up
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
$guest_check
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
timeout 120 head -n 1 up >/dev/null
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
chmod 0755 "$tmp"/wrapix*
uml_run 140 mem=512M ubd0="$tmp/disk"
