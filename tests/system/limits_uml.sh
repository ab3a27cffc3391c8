#!/bin/sh
# SPDX-License-Identifier: MIT
# Limits where few test machines have them: cgroup v2 with all controllers and a real systemd with its user manager, in
# a machine of our own. User Mode Linux is a kernel that runs as a process; its root is this machine's, read-only, so
# everything in it is the real thing: systemd, dbus, logind, and limits_driver (LIMITS_DRIVER, default:
# build/tests/system/limits_driver), the smallest sandbox with wrapix's limits. Takes some 50 s. Prints TAP.
set -u

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
top=$(CDPATH='' cd -- "$here/../.." && pwd -P)
driver=${LIMITS_DRIVER:-$top/build/tests/system/limits_driver}
user=${WRAPIX_TEST_USER:-wrapixtest}
uml=$(command -v linux.uml || command -v linux)
skip() {
	[ "${WRAPIX_TESTS_MUST_RUN-0}" = 1 ] && { echo "Bail out! $1"; exit 1; }
	echo "1..0 # SKIP $1"
	exit 0
}
[ -x "$driver" ] || { echo "Bail out! there is no program at $driver"; exit 1; }
[ -n "$uml" ] || skip "no User Mode Linux (Debian: user-mode-linux)"
[ "$(id -u)" = 0 ] || skip "needs root: the guest's root is this machine's, and its users change inside"
for need in /lib/systemd/systemd dbus-daemon loginctl python3; do
	command -v $need >/dev/null || skip "no $need"
done
uid=$(id -u "$user") || { echo "Bail out! there is no user $user"; exit 1; }
gid=$(id -g "$user")

# Not below /tmp, which is the guest's own.
tmp=$(mktemp -d /var/tmp/wrapix-uml.XXXXXX) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
chmod 0755 "$tmp"
cp "$driver" "$tmp/driver" && cp "$here/limits_hog.py" "$tmp/hog.py" && cp "$here/limits_guest.sh" "$tmp/guest.sh" || exit 1

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
chmod 0755 "$tmp/init"

# The guest's memory is a file in TMPDIR: not the tmpfs that a machine with little memory has there.
TMPDIR=$tmp timeout 400 "$uml" mem=768M root=/dev/root rootfstype=hostfs rootflags=/ ro init="$tmp/init" quiet \
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
