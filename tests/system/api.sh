#!/bin/sh
# SPDX-License-Identifier: MIT
# libwrapix for others: what 'meson install' puts down is enough to build a program on it, with pkg-config, and that
# program runs a sandbox and hears of it. WRAPIX_BUILD: the build directory. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
need_user
set_up
build=${WRAPIX_BUILD:-$top/build}
cd "$tmp" || exit 1

# --- installing ---
root=$tmp/root
chmod 755 "$tmp" # what root installs is for all
DESTDIR=$root meson install -C "$build" --no-rebuild --quiet >"$tmp/log/out" 2>"$tmp/log/err"
check "meson install" is $? 0
prefix=$root/usr/local
library=$(find "$root" -name libwrapix.so.0)
check "the shared library is there" [ -n "$library" ]
check "... and the static one" [ -n "$(find "$root" -name libwrapix.a)" ]
for file in bin/wrapix include/wrapix.h share/man/man1/wrapix.1 share/man/man1/wrapix-run.1 share/man/man5/wrapix.json.5 \
	share/bash-completion/completions/wrapix share/zsh/site-functions/_wrapix share/fish/vendor_completions.d/wrapix.fish; do
	check "installed: $file" exists "$prefix/$file"
done
check "the installed program runs" is "$(as_user "$prefix/bin/wrapix" version)" "$(as_user "$wrapix" version)"
needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | xargs; }
check "the program loads libc and json-c, and nothing else" is "$(needed "$prefix/bin/wrapix")" "libjson-c.so.5 libc.so.6"
check "nothing else is exported" is "$(nm -D --defined-only "$library" | awk '{ print $3 }' | grep -v '^wrapix_' | xargs)" ""
declared=$(sed -n 's/^WRAPIX_API .*[ *]\(wrapix_[a-z_]*\)(.*/\1/p' "$top/include/wrapix.h" | sort | xargs)
check "... and all that the header declares" is "$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort | xargs)" "$declared"
documented() { sed -n 's/^\.Fn \(wrapix_[a-z_]*\) .*/\1/p' "$top/man/libwrapix.3" | sort -u | xargs; }
check "libwrapix(3) has them, and no others" is "$(documented)" "$declared"
events() { sed -n '/^enum wrapix_event_type/,/^}/s/^\t\(WRAPIX_[A-Z]*\) =.*/\1/p' "$top/include/wrapix.h"; }
check "... and every event" is "$(events | while read -r name; do grep -q "^\.It Dv .*$name" "$top/man/libwrapix.3" || echo "$name"; done)" ""
check "the library loads no more than libc and json-c" is "$(needed "$library")" "libjson-c.so.5 libc.so.6"

# --- building ---
cat >"$tmp/only.c" <<'END'
#include <wrapix.h>
int main(void) { return !wrapix_version(); }
END
export PKG_CONFIG_SYSROOT_DIR="$root"
PKG_CONFIG_PATH=$(dirname "$(find "$root" -name wrapix.pc)")
export PKG_CONFIG_PATH
check "pkg-config knows it" pkg-config --exists wrapix
check "... by version" is "wrapix $(pkg-config --modversion wrapix)" "$("$wrapix" version)"
# shellcheck disable=SC2046 # flags are words
check "the header is good C99 by itself" cc -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags wrapix) only.c
if command -v c++ >/dev/null; then
	# shellcheck disable=SC2046
	check "... and good C++" c++ -x c++ -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags wrapix) only.c
fi
mandoc -T ascii "$top/man/libwrapix.3" | col -b | sed -n '/#include <stdio.h>/,/^SEE ALSO/p' | sed '$d' >manual.c
# shellcheck disable=SC2046
check "the example of libwrapix(3) is good C" cc -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags wrapix) manual.c
# shellcheck disable=SC2046
check "the example builds against the shared library" cc -Wall -Wextra -Werror -o example "$here/example.c" $(pkg-config --cflags --libs wrapix)
check "... which it needs" is "$(needed example)" "libwrapix.so.0 libc.so.6"
# shellcheck disable=SC2046
check "... and against the static one" cc -o static "$here/example.c" $(pkg-config --cflags wrapix) "$(find "$root" -name libwrapix.a)" -ljson-c
# shellcheck disable=SC2046
check "... the example with many commands, too" cc -Wall -Wextra -Werror -o commands "$here/commands.c" $(pkg-config --cflags --libs wrapix)
check "... without the shared one" is "$(needed static)" "libjson-c.so.5 libc.so.6"

# --- running ---
cd "$project" || exit 1
# Whoever starts us may ignore the ends of children, which is inherited: nobody must wait for ever, or take it for a success.
ignoring() { as_user timeout -k 1 60 python3 -c 'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])' "$@" 2>"$tmp/log/err"; }
ignoring "$tmp/static" none sh -c 'exit 41'
check "a program that ignores SIGCHLD hears how the command ended" is $? 41
ignoring "$wrapix" run --network none -- sh -c 'exit 42'
check "... and so does whoever started wrapix with it ignored" is $? 42
ignoring "$wrapix" exec -- sh -c 'exit 43'
check "... for exec" is $? 43
# run PROGRAM ARG...: as the ordinary user; leaves $rc, $out, $err
run() {
	out=$tmp/log/out err=$tmp/log/err
	program=$1
	shift
	as_user env LD_LIBRARY_PATH="$(dirname "$library")" timeout -s KILL 60 "$tmp/$program" "$@" >"$out" 2>"$err" </dev/null
	rc=$?
}
for program in example static; do
	run $program none sh -c 'echo $EXAMPLE $(id -u) $(pwd); ls -d /shared; exit 7'
	check "$program: the command's output" is "$(xargs <"$out")" "1 $(as_user id -u) /workspace /shared"
	check "... its status" is "$rc" 7
	check "... the events" is "$(grep ^event "$err" | xargs)" "event: started 1 event: exited 7"
	check "... the result" has "$err" "example: status 7 after 2 events"
	run $program none sh -c 'kill -9 $$'
	check "... a signal is 128 and its number" is "$rc $(grep -c 'event: exited 137' "$err")" "137 1"
	run $program none no-such-command
	check "... an error is an error, with the status to exit with" is "$rc $(grep -c "^example: .*no-such-command" "$err")" "127 1"
	run $program nowhere true
	check "... a wrong value" is "$rc $(grep -c "^example: .*nowhere" "$err")" "2 1"
done
as_user git init -q "$project"
as_user mkdir "$project/below"
cd "$project/below" || exit 1
run example none true
check "a note is an event" grep -q "^event: note 0 .*is part of the repository" "$err"
cd "$project" || exit 1
run example --text none true
check "a plan as text" grep -q "^engine  *native" "$out"
run example --json none true
check "a plan as JSON" python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["network"] == "none"' "$out"
as_user "$wrapix" plan --network none --env EXAMPLE=1 --mount /usr/share:/shared:ro --json -- true >"$tmp/plan.json" 2>"$tmp/log/why"
# Uninstalled, only the program itself finds the client beside it.
without_client() { grep -ve /wrapix-notify -e /run/wrapix -e /etc/wrapix/exec -e /opt/wrapix/bin "$1" >"$1.own" && sed -i 's/,$//' "$1.own"; }
without_client "$out" && without_client "$tmp/plan.json"
check "... the same as the program's" cmp "$out.own" "$tmp/plan.json.own"
echo '{"env": {"SECRET": null}}' >"$project/wrapix.json"
run example none true
check "trust holds here as well" is "$rc $(grep -c 'not trusted' "$err")" "125 1"
rm "$project/wrapix.json"

# --- many commands ---
run commands 'echo one; exit 4' 'echo two >made; cat made' 'echo three >.bashrc' no-such-command 'kill -9 $$'
check "many commands: their output" is "$(xargs <"$out")" "one two"
check "... their statuses" is "$(sed -n 's/^commands: status //p' "$err" | xargs) $rc" "4 0 1 127 137 137"
check "... what was refused" grep -q '^commands: {.*"path":"'"$project"'/.bashrc"' "$err"
check "... and what was not" is "$(cat "$project/made") $(find "$project" -name .bashrc)" "two "
settings='{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":["made"],"allowWrite":[],"denyWrite":[]}}'
as_user env LD_LIBRARY_PATH="$(dirname "$library")" SETTINGS="$settings" "$tmp/commands" 'cat made' >"$out" 2>"$err"
check "... under settings of the caller's" is "$? $(cat "$out")" "1 "
as_user env LD_LIBRARY_PATH="$(dirname "$library")" SETTINGS='{"filesystem":3}' "$tmp/commands" 'cat made' >"$out" 2>"$err"
check "... wrong ones are an error" is "$? $(grep -c filesystem "$err")" "2 1"
as_user env LD_LIBRARY_PATH="$(dirname "$library")" SETTINGS_FILE=no-such-file "$tmp/commands" true >"$out" 2>"$err" </dev/null
check "a server without its settings is refused, and the caller keeps its input" is "$? $(cat "$err")" "2 commands: 'no-such-file': No such file or directory"
echo "$settings" >"$project/real.json"
ln -s real.json "$project/link.json"
as_user env LD_LIBRARY_PATH="$(dirname "$library")" SETTINGS_FILE=link.json "$tmp/commands" 'rm -f link.json; rm -f real.json; cat made' >"$out" 2>"$err" </dev/null
check "settings of the server's, and the link to them, stay as they are" is "$? $(cd "$project" && echo *.json) $(cat "$out")" "1 link.json real.json "
rm "$project/link.json" "$project/real.json"
mark=72000.$$
marked() { pgrep -f "^sleep $mark"; }
unmarked() { ! marked; }
as_user env LD_LIBRARY_PATH="$(dirname "$library")" "$tmp/commands" "exec sleep $mark" >"$out" 2>"$err" &
await marked
check "there is a command to look for" marked
kill -9 "$(pgrep -o -x commands -u "$(as_user id -u)")"
check "kill -9 of the caller: its command ends" await unmarked
servers() { pgrep -x commands -u "$(as_user id -u)"; }
unserved() { ! servers; }
check "... and the server" await unserved
# Whoever takes the name of a server that was killed gets neither the environment nor the descriptors.
mkfifo "$tmp/go"
as_user env LD_LIBRARY_PATH="$(dirname "$library")" "$tmp/commands" - true <"$tmp/go" >"$out" 2>"$err" &
client=$!
exec 7>"$tmp/go"
await pgrep -xf "$tmp/commands - true"
starter=$(pgrep -oxf "$tmp/commands - true")
await pgrep -P "$starter"
as_user timeout 60 python3 "$top/tests/lib/usurper.py" "$starter" >"$tmp/usurper" 2>&1 &
usurper=$!
await grep -q ready "$tmp/usurper"
echo >&7
wait $client
check "a server that was killed: nobody else is asked in its place" is "$? $(cat "$err")" \
	"125 commands: the server has ended, and somebody else has its name
commands: status 125"
exec 7>&-
wait $usurper
check "... who hears nothing" is "$(xargs <"$tmp/usurper")" "ready heard 0 0"
finish
