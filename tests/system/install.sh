#!/bin/sh
# SPDX-License-Identifier: MIT
# What is installed, where, and that it runs from there; the source tarball, the bill of materials, the packaging.
#
# shellcheck disable=SC1091,SC2154,SC2016,SC2317,SC2013 # the library; its variables; scripts for other shells; functions by name
. "$(dirname -- "$0")/../lib/system.sh"
need_user
set_up
build=${wrapix%/src/cli/wrapix}
dest=$tmp/dest
prefix=$(meson introspect "$build" --buildoptions | python3 -c '
import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')
version=$(sed -n "s/^  version: '\(.*\)',\$/\1/p" "$top/meson.build")

meson install -C "$build" --no-rebuild --quiet --destdir "$dest" >"$tmp/log/out" 2>"$tmp/log/err"
check "meson install with DESTDIR" is $? 0
at=$dest$prefix
only_prefix() { is "$(cd "$dest" && find . -type f ! -path ".$prefix/*")" ""; }
check "nothing lands outside of the prefix" only_prefix

# --- everything is there ---

for name in ralph srt wrapix wrapix-builder wrapix-notify wrapix-notifyd wrapix-relay; do
	check "bin/$name" test -x "$at/bin/$name"
	check "... has a manual" test -s "$at/share/man/man1/$name.1"
done
for name in ralph-inside wrapix-attempt wrapix-entry wrapix-image wrapix-init wrapix-resolver; do
	check "libexec/wrapix/$name" test -x "$at/libexec/wrapix/$name"
done
commands() { "$wrapix" help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' | grep -vxE 'wrapix|completion|help|version'; }
commands >"$tmp/commands"
check "the help lists commands" [ "$(wc -l <"$tmp/commands")" -gt 20 ]
while read -r name; do
	check "a manual for wrapix $name" test -s "$at/share/man/man1/wrapix-$name.1"
done <"$tmp/commands"
for file in share/man/man5/wrapix.json.5 share/man/man7/wrapix-protocol.7 share/man/man3/libwrapix.3 include/wrapix.h \
	share/bash-completion/completions/wrapix share/zsh/site-functions/_wrapix share/fish/vendor_completions.d/wrapix.fish \
	share/bash-completion/completions/srt share/bash-completion/completions/ralph \
	lib/systemd/user/wrapix-notifyd.service lib/systemd/user/wrapix-notifyd.socket \
	share/wrapix/notify/wrapix-notifyd.plist share/wrapix/notify/wrapix-notifyd.desktop \
	share/wrapix/apparmor/wrapix share/wrapix/wrapix.schema.json share/wrapix/claude-hooks.json; do
	check "$file" test -s "$at/$file"
done
check "the units start what is installed" grep -qx "ExecStart=$prefix/bin/wrapix-notifyd.*" "$at/lib/systemd/user/wrapix-notifyd.service"
check "the agent of launchd, too" has "$at/share/wrapix/notify/wrapix-notifyd.plist" "$prefix/bin/wrapix-notifyd"
check "the list of launchd is one" python3 -c 'import plistlib, sys; plistlib.load(open(sys.argv[1], "rb"))' "$at/share/wrapix/notify/wrapix-notifyd.plist"

makers() { for program in "$at"/bin/*; do nm "$program" | grep -q ' T wrapix_plan_run$' && echo "${program##*/}"; done; }
check "programs that make sandboxes are found" is "$(makers | paste -sd' ')" "ralph srt wrapix wrapix-builder"
in_profile() { makers | while read -r name; do grep -q "^profile .*bin/{\([a-z,-]*,\)*${name}[,}]" "$1" || echo "$name"; done; }
check "... and AppArmor's profile is for each of them" is "$(in_profile "$at/share/wrapix/apparmor/wrapix")" ""

# --- it runs from there: mounted where it was configured to be, as a user ---

installed() { # installed SCRIPT: by the ordinary user, with what is installed in its place
	unshare -m --propagation private sh -c 'mkdir -p "$1" && mount --bind "$2" "$1" && shift 2 && exec "$@"' sh "$prefix" "$at" \
		setpriv --reuid "$test_user" --regid "$test_user" --init-groups env -i HOME="$home" PATH="$prefix/bin:/usr/bin:/bin:/usr/sbin:/sbin" \
		PREFIX="$prefix" TERM=xterm LANG=C.UTF-8 sh -c "cd '$project' && $1"
}
if [ "$(id -u)" = 0 ]; then
	check "wrapix is the installed one" is "$(installed 'command -v wrapix; wrapix --version')" "$prefix/bin/wrapix
wrapix $version"
	check "... and says how it was built" installed 'wrapix --version --build-info | grep -qx "prefix  *$PREFIX"'
	check "a sandbox" is "$(installed 'wrapix run --network none -- echo inside')" inside
	check "srt" is "$(installed 'srt echo inside')" inside
	check "the image program is found" installed 'wrapix image list'
	check "the attempts are found" installed 'wrapix selftest --engine exec --json >st.json; grep -q "\"verdict\": *\"weaker\"" st.json'
	check "ralph" installed 'ralph --version'
	check "systemd takes the units" installed 'cd "$PREFIX/lib/systemd/user" && XDG_RUNTIME_DIR=$HOME systemd-analyze --user verify ./wrapix-notifyd.service ./wrapix-notifyd.socket 2>&1 | tee "$HOME/verify"; ! grep -v "^$" "$HOME/verify"'
	check "the library by pkg-config" installed '
		PKG_CONFIG_PATH=$(dirname "$(find "$PREFIX" -name wrapix.pc)") && export PKG_CONFIG_PATH
		printf "#include <wrapix.h>\n#include <stdio.h>\nint main(void) { puts(wrapix_version()); return 0; }\n" >try.c
		cc -Wall -Werror -o try try.c $(pkg-config --cflags --libs wrapix) &&
		[ "$(LD_LIBRARY_PATH=$(pkg-config --variable=libdir wrapix) ./try)" = '"$version"' ]'
else
	skip "it runs from its prefix" "only root can mount it there"
fi

# --- the source tarball ---

mkdir "$tmp/clone"
(cd "$top" && tar --exclude=./build --exclude='./build-*' --exclude=./.git -cf - .) | tar -C "$tmp/clone" -xf -
cd "$tmp/clone" || exit 1
git init -q . && git add -A && GIT_COMMITTER_DATE='2026-01-02T03:04:05Z' git -c user.name=x -c user.email=x@example.org commit -qm x
tarball() { # tarball DIR UMASK ZONE
	(umask "$2" && TZ=$3 LC_ALL=C scripts/dist "$1" | cut -d' ' -f1)
}
one=$(tarball "$tmp/one" 022 UTC)
two=$(tarball "$tmp/two" 077 Asia/Tokyo)
check "make dist: twice the same bytes" is "$one" "$two"
check "... at all" cmp "$tmp/one/wrapix-$version.tar.gz" "$tmp/two/wrapix-$version.tar.gz"
tar -tvzf "$tmp/one/wrapix-$version.tar.gz" >"$tmp/log/out"
check "... of root's files at the commit's time" fails grep -vE '^[-dlrwx]+ root/root .* 2026-01-02 ' "$tmp/log/out"
check "... below one directory" fails grep -v " wrapix-$version/" "$tmp/log/out"
cd "$project" || exit 1

# --- the bill of materials ---

"$top/scripts/sbom" "$build" >"$tmp/sbom.json" 2>"$tmp/log/err"
"$top/scripts/sbom" "$build" >"$tmp/sbom2.json" 2>>"$tmp/log/err"
check "make sbom: twice the same" cmp "$tmp/sbom.json" "$tmp/sbom2.json"
names_all() {
	python3 - "$tmp/sbom.json" <<'PY'
import json, sys
bom = json.load(open(sys.argv[1]))
names = {c["name"]: c for c in bom["components"]}
missing = {"wrapix", "srt", "ralph", "json-c", "libcrypto", "sqlite3", "libarchive", "libseccomp"} - set(names)
assert not missing, missing
assert bom["bomFormat"] == "CycloneDX" and bom["specVersion"] == "1.5" and bom["serialNumber"].startswith("urn:uuid:")
loads = {c["name"]: c["properties"][0]["value"] for c in bom["components"]}
assert "libjson-c" in loads["wrapix"] and "ralph" in loads["sqlite3"], loads
assert "static" in loads["wrapix-attempt"], loads
PY
}
check "... with our programs, their libraries, who loads what" names_all

# --- packaging agrees with the tree ---

debian=$top/packaging/debian
check "Debian's version is ours" grep -q "^wrapix ($version-" "$debian/changelog"
check "the RPM's, too" grep -qx "Version: *$version" "$top/packaging/rpm/wrapix.spec"
build_depends() { # what scripts/packages says a build needs
	while read -r group _ apt _; do
		[ "$group" != build ] || echo "$apt" | tr , '\n'
	done <"$top/scripts/packages" | grep -vxE 'gcc|libc6-dev|linux-libc-dev' | sort -u | while read -r package; do
		grep -qE "^ ${package}[ ,]*|^ $package\$" "$debian/control" || echo "$package is not in Build-Depends"
	done
}
check "Debian's Build-Depends are those of scripts/packages" is "$(build_depends)" ""
bench_needs() { # programs without which 'make bench' leaves something out, and which it does not install
	python3 -B - "$top" <<'PY'
import importlib.machinery, importlib.util, sys
top = sys.argv[1]
loader = importlib.machinery.SourceFileLoader("run", f"{top}/bench/run")
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
loader.exec_module(run)
rows = [line.split() for line in open(f"{top}/scripts/packages", encoding="utf-8")]
there = {row[1] for row in rows if row and row[0] in ("build", "run", "bench")} | {"dpkg"}  # a distribution has that or not
print(*sorted({*run.net.SRT_NEEDS, *run.podman.NEEDS, *(name for section in run.SECTIONS for name in section[5])} - there))
PY
}
check "make bench installs what it measures beside wrapix" is "$(bench_needs)" ""
for file in "$top"/bench/*.c; do
	check "... compiles ${file##*/}" cc -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only "$file"
done
"$top/bench/run" --quick --rounds 1 --only start,parts --wrapix "$wrapix" --dir "$tmp" --json "$tmp/bench.json" >"$tmp/log/out" 2>"$tmp/log/err"
check "... knows every part of a plan" is $? 0
check "... and builds the same with bubblewrap" has "$tmp/log/out" "of bwrap host"
in_a_package() { # every installed file has a package
	(cd "$at" && find . -type f -o -type l) | sed 's|^\./|usr/|; s|usr/libexec/wrapix|usr/lib/wrapix|' | while read -r file; do
		for pattern in $(cat "$debian"/*.install); do
			# shellcheck disable=SC2254 # patterns
			case $file in $pattern | $pattern/*) continue 2 ;; esac
		done
		echo "$file is in no package"
	done
}
check "every installed file is in a Debian package" is "$(in_a_package)" ""
finish
