# shellcheck shell=sh disable=SC2016,SC2154 # scripts for other shells; variables of system.sh
# SPDX-License-Identifier: MIT
# A real podman for the tests, and images of the machine's own programs.
#
#	. "$(dirname -- "$0")/../lib/system.sh"
#	. "$top/tests/lib/podman.sh"
#	need_podman "$@"	# as root: gets one, and starts again where it can run
#	be_user "$@"		# or in_world "$@", which keeps what need_podman made
#	set_up
#	podman_up

podman_prefix=$top/build/podman5

# As root: a podman of the tests' own (tests/lib/podman5, kept in the build's directory), and control groups that crun
# takes (tests/lib/cgroup2).
need_podman() {
	[ "$(id -u)" = 0 ] && [ -z "${WRAPIX_PODMAN_READY-}" ] || return 0
	need_user
	WRAPIX_PODMAN_READY=1
	export WRAPIX_PODMAN_READY
	"$top/tests/lib/podman5" "$podman_prefix" >&2 || {
		skip "the podman engine" "podman 5 could not be had from the mirror"
		finish
	}
	exec "$top/tests/lib/cgroup2" "$here/${0##*/}" "$@"
}

# That podman is the one on PATH.
podman_path() {
	[ -e "$podman_prefix/whole" ] || return
	CONTAINERS_CONF=$podman_prefix/containers.conf PATH=$podman_prefix/bin:$PATH
	export CONTAINERS_CONF PATH
}

# As the ordinary user, after set_up. podman keeps a process of its own for each runtime directory, and files of other
# ids.
podman_up() {
	if podman_path; then
		mkdir -p "$HOME/.config/containers"
		cp "$podman_prefix/policy.json" "$HOME/.config/containers/"
	elif ! podman --version >/dev/null 2>&1; then
		skip "the podman engine" "there is no podman"
		finish
	fi
	XDG_RUNTIME_DIR=$tmp/run
	export XDG_RUNTIME_DIR
	mkdir -m 700 "$XDG_RUNTIME_DIR"
	trap podman_down EXIT
}
podman_down() {
	podman unshare rm -rf "$HOME/.local/share/containers" >/dev/null 2>&1
	kill "$(cat "$XDG_RUNTIME_DIR/libpod/tmp/pause.pid" 2>/dev/null)" 2>/dev/null
	tear_down
}
no_containers() { is "$(podman ps -aq)" ""; }

# rootfs DIR PROGRAM...: a root of busybox and these programs of the machine's, with the libraries that they need.
rootfs() {
	rootfs=$1
	shift
	mkdir -p "$rootfs/usr/bin" "$rootfs/etc"
	for dir in bin sbin lib lib64; do
		mkdir -p "$rootfs/usr/$dir"
		ln -sfn "usr/$dir" "$rootfs/$dir"
	done
	cp /bin/busybox "$rootfs/usr/bin/"
	for name in $(/bin/busybox --list | grep -vx busybox); do
		ln -sf busybox "$rootfs/usr/bin/$name"
	done
	for name; do
		file=$(readlink -f "$(command -v "$name")")
		rm -f "$rootfs/usr/bin/$name"
		cp "$file" "$rootfs/usr/bin/$name"
		rootfs_libraries "$rootfs" "$file"
	done
}
rootfs_libraries() { # rootfs_libraries DIR FILE: those that the file needs
	ldd "$2" | grep -o '/[^ ]*' | while read -r lib; do
		case $lib in /usr/*) ;; *) lib=/usr$lib ;; esac
		mkdir -p "$1${lib%/*}"
		cp -n "$(readlink -f "$lib")" "$1$lib"
	done
}

# As root, before need_podman: a /dev of the test's own, with a /dev/kvm that anybody may open. It is no KVM: a stand-in
# for krun, which podman is pointed at with podman_machine, makes an ordinary container.
need_kvm() {
	[ "$(id -u)" = 0 ] && [ -z "${WRAPIX_KVM_READY-}" ] || return 0
	WRAPIX_KVM_READY=1
	export WRAPIX_KVM_READY
	exec unshare -m --propagation private sh -c '
		dev=$(mktemp -d) && mount -t tmpfs -o mode=755 dev "$dev" || exit
		for file in /dev/*; do
			if [ -L "$file" ]; then cp -P "$file" "$dev"
			elif [ -d "$file" ]; then mkdir "$dev/${file##*/}" && mount --rbind "$file" "$dev/${file##*/}"
			else : >"$dev/${file##*/}" && mount --bind "$file" "$dev/${file##*/}"; fi
		done
		umount "$dev/kvm" "$dev/ptmx" "$dev/pts" 2>/dev/null
		mkdir -p "$dev/pts" && mount -t devpts -o ptmxmode=666 pts "$dev/pts" && ln -sf pts/ptmx "$dev/ptmx" || exit
		: >"$dev/kvm" && mount --bind /dev/null "$dev/kvm" && mount --move "$dev" /dev && rmdir "$dev" && mount --make-rshared / && exec "$@"' \
		sh "$here/${0##*/}" "$@"
}
podman_machine() {
	mkdir -p "$tmp/krun"
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v crun)" >"$tmp/krun/krun"
	chmod 755 "$tmp/krun/krun"
	PATH=$tmp/krun:$PATH
}
