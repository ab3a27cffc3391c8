# SPDX-License-Identifier: MIT
# A real GNOME Keyring on a bus of its own, after system.sh.
#
# shellcheck shell=sh disable=SC2016,SC2154 # scripts for other shells; the library's variables

# on_bus SCRIPT: with a bus and a runtime directory of its own, so that no two keyrings meet, and a pid namespace, so
# that nothing the bus starts outlives it.
on_bus() {
	XDG_RUNTIME_DIR=$(mktemp -d "$tmp/run.XXXXXX") unshare --user --map-current-user --pid --fork --kill-child \
		dbus-run-session -- sh -c "$1" 2>"$tmp/log/bus"
}

# gnome-keyring-daemon's start ends before the daemon has its name; who asked now would have the bus start a second one.
keyring_is_up='timeout 60 sh -c '\''until dbus-send --session --print-reply --dest=org.freedesktop.DBus / \
	org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets | grep -q "boolean true"; do sleep 0.01; done'\'

# ring SCRIPT: with the keyring open. KEYRING_PRELOAD: a library for the daemon.
ring() {
	on_bus 'printf pw | LD_PRELOAD=${KEYRING_PRELOAD-} gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
		'"$keyring_is_up
		$1"
}

# locked SCRIPT: with a keyring that nobody opens, and no display for its dialog.
locked() {
	on_bus "gnome-keyring-daemon --start --components=secrets >/dev/null 2>&1
		$keyring_is_up
		$1"
}
