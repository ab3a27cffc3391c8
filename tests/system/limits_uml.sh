#!/bin/sh
# SPDX-License-Identifier: MIT
# Limits where few test machines have them: cgroup v2 with all controllers and a real systemd with its user manager, in
# a machine of our own. User Mode Linux is a kernel that runs as a process; its root is this machine's, read-only, so
# everything in it is the real thing: systemd, dbus, logind, and limits_driver (LIMITS_DRIVER, default:
# build/tests/system/limits_driver), the smallest sandbox with wrapix's limits, and wrapix itself (WRAPIX). Takes some 50 s. Prints TAP.
# shellcheck disable=SC1091,SC2154 # the library and its variables
set -u
. "$(dirname -- "$0")/../lib/uml.sh"
driver=${LIMITS_DRIVER:-$top/build/tests/system/limits_driver}
[ -x "$driver" ] || { echo "Bail out! there is no program at $driver"; exit 1; }
for need in /lib/systemd/systemd dbus-daemon loginctl python3; do
	command -v $need >/dev/null || skip "no $need"
done
uml_up
gid=$(id -g "$user")
wrapix=${WRAPIX:-$top/build/src/cli/wrapix}
cp "$wrapix" "$tmp/wrapix" && cp "$driver" "$tmp/driver" && cp "$here/limits_hog.py" "$tmp/hog.py" && cp "$here/limits_guest.sh" "$tmp/guest.sh" || exit 1

# What becomes PID 1: mounts, two units, then systemd. "Nothing but ours starts" keeps the boot short.
cat >"$tmp/init" <<END
#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t cgroup2 -o nsdelegate cgroup2 /sys/fs/cgroup
for d in /run /tmp /var/lib/systemd /var/log; do mount -t tmpfs -o mode=755 tmpfs \$d; done
chmod 1777 /tmp
mkdir -p /run/systemd/system /run/lock
cat >/run/systemd/system/limits.target <<E
[Unit]
Wants=dbus.socket dbus.service systemd-logind.service limits.service
E
cat >/run/systemd/system/limits.service <<E
[Unit]
After=dbus.service systemd-logind.service
DefaultDependencies=no
SuccessAction=poweroff-force
FailureAction=poweroff-force
[Service]
Type=oneshot
ExecStart=/bin/sh $tmp/guest.sh $tmp $user $uid $gid
StandardOutput=tty
StandardError=tty
TTYPath=/dev/console
E
exec /lib/systemd/systemd --unit=limits.target --log-level=err --log-target=console --show-status=0
END
uml_run 480 mem=768M
