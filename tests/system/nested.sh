#!/bin/sh
# SPDX-License-Identifier: MIT
# wrapix inside wrapix, inside containers, and where namespaces are not to be had. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
uid=$(id -u)
# nest SCRIPT [OPTION...]: a script in a sandbox that has wrapix too, as /wrapix.
nest() {
	nest_script=$1
	shift
	inside "$nest_script" --mount "$wrapix:/wrapix:ro" "$@"
}

# --- where it was allowed ---
mkdir -p "$project/inner/ro" "$project/fixed"
nest '/wrapix run inner --network none -- sh -c "id -u; pwd; touch made; exit 7"' --allow-nested
check "wrapix in wrapix" is "$rc $(xargs <"$out")" "7 $uid /workspace"
check "... what is made belongs to the user" is "$(stat -c %u "$project/inner/made")" "$uid"
mkdir -p "$project/.wrapix/profiles"
nest 'unshare -Urm sh -c "mkdir /tmp/m; mount --bind .wrapix /tmp/m && echo x >/tmp/m/x; mount --rbind /workspace /tmp/m && cd /tmp/m && echo x >.wrapix/x; echo x >/tmp/m/made" 2>/dev/null; cat made; rm made' --allow-nested
check "... nor is what decides about the next start written by another name" is "$(cat "$out") $(find "$project/.wrapix" -type f)" "x "
rm -r "$project/.wrapix"
nest '/wrapix run inner --network none --mount /ro:/workspace/ro -- sh -c "mkdir d && mv d e && echo x >e/f && chmod 600 e/f && rm -r e && echo made; echo x >ro/x || echo read-only" 2>/dev/null' --allow-nested --mount "$project/fixed:/ro:ro"
check "... works in a part of the project, and what was mounted read-only stays so" is "$(xargs <"$out") $(ls "$project/fixed")" "made read-only "
nest '/wrapix run inner --network none -- sh -c "ls -d /wrapix /workspace/inner; grep -c NoNewPrivs.*1 /proc/self/status; ps -e >/tmp/ps; wc -l </tmp/ps; ls ~"' --allow-nested
check "... a sandbox of its own" is "$(xargs <"$out")" "1 4"
nest '/wrapix run inner --network none --allow-nested --mount /wrapix:/wrapix:ro -- /wrapix run --network none -- id -u' --allow-nested
check "... three deep" is "$rc $(cat "$out")" "0 $uid"
nest '/wrapix run inner --network none -- sh -c "exit 0"; /wrapix ps | wc -l' --allow-nested
check "... ps inside knows the inner ones alone" is "$(cat "$out")" 1
nest '/wrapix run inner -- sh -c "ip -o link | wc -l"' --allow-nested
check "... by default its network is the outer one's" is "$rc $(cat "$out")" "0 1"
nest '/wrapix run inner --network open -- true; echo $?' --allow-nested
check "... an open one has no device there: 125" is "$(cat "$out")" 125
check "... one clear line" has "$err" "cannot have an open network of its own"
nest '/wrapix run inner --network none -- sleep 1000 & sleep 1000 & kill $!; exit 3' --allow-nested
check "... ends with the outer one" is "$rc" 3
nest 'unshare -Ur id -u; unshare -Urm sh -c "mount -t tmpfs none /mnt 2>/dev/null || mount -t tmpfs none /tmp && echo mounted"' --allow-nested
check "other programs make namespaces, too" is "$(xargs <"$out")" "0 mounted"
if command -v bwrap >/dev/null; then
	nest 'bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev -- sh -c "echo bwrap \$\$"' --allow-nested
	check "... bubblewrap" is "$(cat "$out")" "bwrap 2"
else
	skip "... bubblewrap" "bwrap is not installed"
fi
nest true --allow-nested
check "--allow-nested says what it costs" has "$err" "--allow-nested"

# --- where it was not ---
nest '/wrapix run inner --network none -- true 2>&1; echo $?'
check "without it: 125" is "$(tail -n 1 "$out")" 125
check "... one clear line, that names the way" grep -q "^wrapix: .*namespace" "$out"
check "... and at most a hint" [ "$(wc -l <"$out")" -le 3 ]
nest 'unshare -Ur true 2>/dev/null && echo made'
check "... nobody makes namespaces" is "$(cat "$out")" ""

# (exec inside of run: exec_inside.sh)
nest '/wrapix run inner --network none -- test -e /etc/wrapix/exec; echo $?' --allow-nested
check "a sandbox in a sandbox has no door for exec" is "$(cat "$out")" 1

# --- containers ---
# contained NAME SCRIPT: the script as root of a user namespace of its own, with mounts and processes of its own
contained() {
	unshare --user --map-root-user --mount --pid --fork --mount-proc sh -c "$1" sh "$wrapix" >"$tmp/log/out" 2>"$tmp/log/err" </dev/null
	rc=$? out=$tmp/log/out err=$tmp/log/err
}
contained '"$1" run --network none -- sh -c "id -u; touch contained; pwd"'
check "in a container that permits it" is "$rc $(xargs <"$out")" "0 0 /workspace"
check "... what is made belongs to the user" is "$(stat -c %u "$project/contained")" "$uid"
contained 'mount --bind /dev/null /proc/kallsyms; "$1" run --network none -- true'
check "in one with a masked /proc: one clear line" refused 125 "proc"
check "... and what to do" grep -q "^hint: .*unmask" "$err"
contained 'mount -t tmpfs none /proc/acpi 2>/dev/null || mount -t tmpfs none /proc/bus; "$1" run --network none -- true'
check "... masked by an empty directory" refused 125 "proc"
contained 'echo 0 >/proc/sys/user/max_user_namespaces; "$1" run --network none -- true'
check "where no user namespace is left: one clear line" refused 125 "user namespace"
check "... and what to do" grep -q "^hint: .*max_user_namespaces" "$err"
for ns in net pid mnt ipc uts; do
	contained "echo 0 >/proc/sys/user/max_${ns}_namespaces; \"\$1\" run --network none -- true"
	check "... no $ns namespace: one line" refused 125 "namespace"
done
finish
