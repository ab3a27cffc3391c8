#!/bin/sh
# SPDX-License-Identifier: MIT
# Started by root: wrapix becomes the owner of DIR, unless told otherwise. Needs root. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
[ "$(id -u)" = 0 ] || {
	skip "everything" "needs root"
	finish
}
need_user
set_up
uid=$(id -u "$test_user") gid=$(id -g "$test_user")
owner() { is "$(stat -c %u:%g "$1")" "$2"; }

# --- a project of somebody's ---
says "root becomes the owner of DIR" "$uid $gid $test_user" 'echo $(id -u) $(id -g) $(id -un)'
says "... without a group of root's" "$gid" 'id -G'
says "... with the usual home" /home/wrapix 'echo ~'
inside 'touch made'
check "... what is made belongs to the owner" owner "$project/made" "$uid:$gid"
check "... our state is in the owner's home" owner "$(getent passwd "$test_user" | cut -d: -f6)/.local/state/wrapix" "$uid:$gid"
check "... and not in root's" absent "$HOME/.local"
echo secret >"$tmp/secret"
chmod 600 "$tmp/secret"
inside 'cat /data' --mount "$tmp/secret:/data:ro"
check "root's own files cannot be mounted and read that way" isnt "$rc" 0
check "... really" lacks "$out" secret
mkfifo "$tmp/fifo"
chown "$test_user" "$tmp/fifo"
"$wrapix" run --network none --mount "$tmp/fifo:/fifo" -- sh -c 'echo up >/fifo; cat /fifo' >"$tmp/log/out" 2>"$tmp/log/err" &
pid=$!
hear "$tmp/fifo"
check "the supervisor is not root's either" is "$(ps -o uid= -p $pid | tr -d ' ')" "$uid"
check "... in any of its ids" is "$(grep -E '^[UG]id' /proc/$pid/status | xargs)" "Uid: $uid $uid $uid $uid Gid: $gid $gid $gid $gid"
check "... nor with a capability" is "$(grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/$pid/status | cut -f2 | sort -u)" 0000000000000000
listed() { HOME=$real_home clean_env setpriv --reuid "$test_user" --regid "$test_user" --init-groups "$wrapix" ps | grep -q " $pid "; }
check "the owner sees the session" await listed # which its command does not wait for
tell "$tmp/fifo"
wait $pid
XDG_STATE_HOME=$HOME/state XDG_CONFIG_HOME=$HOME/config inside true
check "root's XDG directories do not count" is "$rc $(ls -A "$HOME")" "0 "
chmod 700 "$project"
says "a private DIR works: it is the owner's" "$uid" 'id -u'
chmod 755 "$project"
HOME=/root inside 'echo ok'
check "HOME=/root does not follow" printed ok
wx run --network open -- python3 -c 'import socket; socket.socket(); print("up")'
check "the open network" is "$rc $(cat "$out")" "0 up"

# --- staying root ---
# Without its rights over others' files root is a user like any other: so in a place of its own.
roots=$(mktemp -d /var/tmp/wrapix-root.XXXXXX)
trap 'rm -rf "$roots"; tear_down' EXIT
chmod 755 "$roots"
mkdir "$roots/own" "$roots/others"
chown "$test_user:" "$roots/others"
chmod 777 "$roots/others"
cd "$roots/own" || exit 1
inside 'git init -q . && echo made'
check "a HOME that root may not enter without its rights: works" is "$rc $(cat "$out")" "0 made"
check "... and says what is weaker" has "$err" "no git directory of the session's own can be made"
rm -rf .git
HOME=$roots/home
mkdir "$HOME"
says "a DIR of root's own: root stays" "0 0 root" 'echo $(id -u) $(id -g) $(id -un)'
inside 'touch made'
check "... what is made belongs to root" owner made 0:0
cd "$roots/others" || exit 1
says "--as-root: root in somebody's DIR" "0 0 root" 'echo $(id -u) $(id -g) $(id -un)' --as-root
inside 'touch by-root' --as-root
check "... what is made belongs to root" owner by-root 0:0
inside 'grep -E "^Cap(Inh|Prm|Eff|Bnd|Amb)|^NoNewPrivs" /proc/self/status | cut -f2 | sort -u | xargs' --as-root
check "... without a capability" is "$(cat "$out")" "0000000000000000 1"
inside 'for f in /proc/sys/kernel/hostname /proc/sys/net/ipv4/ip_forward /proc/sysrq-trigger /sys/devices/system/cpu/cpu1/online; do
	{ echo 0 >$f; } 2>/dev/null && echo $f; done; ls /root /etc/shadow 2>/dev/null; true' --as-root
check "... nothing of the kernel's can be written, nothing of root's is there" is "$rc $(cat "$out")" "0 "
inside 'mknod n c 1 3; chown 1 by-root; mount -t tmpfs none /tmp; chroot / true; echo end' --as-root
check "... no device, no owner, no mount" is "$(cat "$out") $(ls) $(stat -c %u by-root)" "end by-root 0"
inside true --as-root --allow-nested
check "... with --allow-nested refused" refused 125 "allow-nested"
wx run --network open --as-root -- python3 -c 'import socket; socket.socket(); print("up")'
check "... the open network" is "$rc $(cat "$out")" "0 up"
cd "$project" || exit 1
chmod 700 "$tmp"
inside true --as-root
check "a DIR that root may not enter without its rights: one clear line" refused 125 "Permission denied"
wx run /root --network none -- true
check "root's home is refused" isnt "$rc" 0
HOME=/root wx run /root --network none -- true
check "... as a home" refused 2 "home directory"

# --- owners without a name ---
mkdir "$tmp/strange"
chown 54321:54322 "$tmp/strange"
chmod 711 "$tmp" "$real_home"
wx run "$tmp/strange" --network none -- sh -c 'echo $(id -u) $(id -g) $(id -un) ~; touch f'
check "an owner whom nobody knows" is "$rc $(cat "$out")" "0 54321 54322 u54321 /home/wrapix"
check "... what is made belongs to him" owner "$tmp/strange/f" 54321:54322
wx run "$tmp/missing" --network none -- true
check "a DIR that is not there" refused 125 "No such file"

# --- a root that is not the root ---
mkdir "$tmp/chroot"
unshare --mount sh -c 'mount --rbind / "$1" && exec chroot "$1" env HOME="$5" setpriv --reuid "$2" --regid "$2" --init-groups "$3" run "$4" --network none -- true' \
	sh "$tmp/chroot" "$test_user" "$wrapix" "$project" "$home" >"$tmp/log/out" 2>"$tmp/log/err"
rc=$? out=$tmp/log/out err=$tmp/log/err
check "in a chroot: one clear line" refused 125 "namespace"
finish
