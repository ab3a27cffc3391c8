#!/bin/sh
# SPDX-License-Identifier: MIT
# 'wrapix exec' and srt inside of 'wrapix run --image', where every file of the system is the sandbox's to change: the
# process that is lent has no filter, and nothing of the image may get into it. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/podman.sh"
be_user "$@"
set_up
uid=$(id -u)
! file "$(dirname "$wrapix")/srt" | grep -q 'dynamically linked' || {
	skip "exec in an image" "srt was built with shared libraries"
	finish
}

settings() { # settings FILE ALLOWED ALLOWWRITE [DENYREAD]
	printf '{"network":{"allowedDomains":[%s],"deniedDomains":[]},"filesystem":{"denyRead":[%s],"allowWrite":[%s],"denyWrite":[]}}\n' "$2" "${4-}" "$3" >"$1"
}
gives() { # gives NAME WANT SCRIPT [OPTION...]
	gives_name=$1 gives_want=$2
	shift 2
	inside "$@" --image small
	check "$gives_name" is "$(xargs <"$out")" "$gives_want"
}

# A program of the C library that loads modules, and a module that says under which filters it was loaded.
rootfs "$tmp/root" getent
cat >"$tmp/evil.c" <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
__attribute__((constructor)) static void loaded(void)
{
	char line[128];
	FILE *status = fopen("/proc/self/status", "re");
	int fd = open("/tmp/loaded", O_WRONLY | O_CREAT | O_APPEND, 0666);
	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, "Seccomp:", 8))
			(void)!write(fd, line, strlen(line));
}
END
mkdir -p "$tmp/root/evil"
${CC:-cc} -shared -fPIC -o "$tmp/root/evil/libnss_evil.so.2" "$tmp/evil.c" || bail "no C compiler"
libdir=$(dirname "$(cd "$tmp/root" && find usr -name 'libc.so.6' | head -n 1)")
wx image build --from "rootfs:$tmp/root" --name small
check "an image of next to nothing is built" is "$rc" 0

# --- a command ---

gives "a command runs, at its own place, as the same user" "hi $uid /workspace" 'wrapix exec -- sh -c "echo hi; id -u; pwd"'
gives "... its status comes back" "7 143 127" 'wrapix exec -- sh -c "exit 7"; echo $?; wrapix exec -- sh -c "kill -TERM \$\$"; echo $?; wrapix exec -- /nonexistent; echo $?'
gives "srt's own command line" "hi 1 0.0.83" 'srt "echo hi"; srt false; echo $?; srt --version'
gives "both are there by themselves" "/opt/wrapix/bin/wrapix /opt/wrapix/bin/srt" 'command -v wrapix; command -v srt'
gives "16 at once" "16" 'i=0; while [ $i -lt 16 ]; do wrapix exec -- echo x & i=$((i+1)); done | wc -l'
gives "other commands of wrapix are outside" "2" 'wrapix ps; echo $?'
check "... it says so" has "$err" "there is 'wrapix exec' alone"
gives "exec in an exec inside is refused" "125" 'wrapix exec -- wrapix exec -- touch inner; echo $?'

# --- rules stack ---

mkdir secret && echo s >secret/s
settings s.json '' '' '"/workspace/secret", "/opt/hidden"'
gives "what the settings deny is denied, what is protected protected" "1 1 x" 'wrapix exec -s s.json -- cat secret/s; echo $?; wrapix exec -s s.json -- touch .bashrc; echo $?; wrapix exec -s s.json -- sh -c "echo x >made; cat made"'
check "... and reported" has "$err" "'/workspace/secret' denies it"
gives "... a file of the image by its name inside" "1 in" 'mkdir /opt/hidden; echo in >/opt/hidden/f; wrapix exec -s s.json -- cat /opt/hidden/f; echo $?; cat /opt/hidden/f'
gives "the image is read-only to the command, and writable outside of it" "1 0" 'wrapix exec -- touch /etc/new; echo $?; touch /etc/new; echo $?'
settings wide.json '' '"/"'
gives "... unless the settings allow it, as the outer sandbox does" "made" 'wrapix exec -s wide.json -- sh -c "echo made >/etc/new"; cat /etc/new'
gives "what the outer sandbox refuses stays so" "1 absent" 'wrapix exec -s wide.json -- sh -c "echo x >/ro/x" 2>/dev/null; echo $?; [ -e '"$tmp/home"' ] || echo absent' --mount "$project/secret:/ro:ro"
check "... and nothing came to the host" is "$(ls secret)" s
gives "a copy-on-write session" "new" 'wrapix exec -- sh -c "echo new >fresh"; cat fresh' --workspace cow
check "... leaves the project" absent fresh

# --- nothing of the image gets into what is lent ---

spoil="cp /evil/* /$libdir/; printf 'passwd: evil files\ngroup: evil files\nhosts: evil files dns\n' >/etc/nsswitch.conf"
gives "a program of the image loads the image's module, under the filter" "Seccomp: 2" "$spoil; getent passwd nobody-there; sort -u /tmp/loaded"
settings names.json '"names.test"' ''
gives "what is lent does not, for a user without a line in the image, nor for a host" "ran 1 nothing" \
	"$spoil; echo root:x:0:0::/:/bin/sh >/etc/passwd; wrapix exec -- echo ran; wrapix exec -s names.json -- wget -q -O - http://names.test/; echo \$?
	cat /tmp/loaded 2>/dev/null || echo nothing"
cat >take-over <<'END'
printf '#!/usr/bin/busybox sh\n/usr/bin/busybox grep ^Seccomp: /proc/self/status >>/tmp/loaded\n' >/tmp/evil
for f in git sh bash pasta getent rg newuidmap nft; do busybox rm -f /usr/bin/$f; busybox cp /tmp/evil /usr/bin/$f; busybox chmod 755 /usr/bin/$f; done
busybox mkdir .git
wrapix exec -s out.json -- /usr/bin/git
srt -s out.json true
busybox sort -u /tmp/loaded
END
settings out.json '' '"/tmp"'
gives "programs of the image run under the filter alone" "Seccomp: 2" 'exec busybox sh take-over'
rm -rf .git
gives "a door of one's own opens nothing" "refused ran" 'mv /etc/wrapix/exec /etc/wrapix/old; timeout 5 srt true 2>/dev/null || echo refused; mv /etc/wrapix/old /etc/wrapix/exec; srt "echo ran"'
gives "a link in its place leads nowhere" "refused" 'rm /etc/wrapix/exec; ln -s /workspace/none /etc/wrapix/exec; srt "echo ran" 2>/dev/null || echo refused'
gives "a user list that never ends stops nobody else" "ran" 'cp /etc/passwd /tmp/p; rm /etc/passwd; mkfifo /etc/passwd; timeout 1 srt true 2>/dev/null; rm /etc/passwd; cp /tmp/p /etc/passwd; srt "echo ran"'
lent=$(running wrapix-lent) # of other scripts', too
none_left() { for p in $lent; do ! exists "/proc/$p" || return 1; done; }
check "nothing is left" await none_left
finish
