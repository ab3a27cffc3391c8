#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; text that is not for this shell; functions called by name
# SPDX-License-Identifier: MIT
# A cloned repository's settings in 'wrapix export' and 'wrapix run --on': what widens counts after 'wrapix trust' alone,
# and no value is more than a value in the document.
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
git init -q -b main .
git -c user.name=me -c user.email=me@localhost commit -q --allow-empty -m one

# --- trust ---
# A podman that writes down what it is asked, and what it is given.
mkdir "$tmp/bin"
cat >"$tmp/bin/podman" <<-END
	#!/bin/sh
	echo "\$*" "\$MINE" >>"$tmp/asked"
END
chmod +x "$tmp/bin/podman"
PATH=$tmp/bin:$PATH
MINE=s3cret
export MINE
printf '{"env": {"MINE": null}, "mounts": ["/etc:/there"]}' >wrapix.json
for form in quadlet compose devcontainer oci kube; do
	wx export "$form" -- true
	check "$form: what nobody trusted is not written" refused 125 "is not trusted; it widens the sandbox in 2 places"
	check "... not a word of it" is "$(cat "$out")" ""
done
wx run --on podman:there -- true
check "run --on: nor is it run" refused 125 "is not trusted; it widens the sandbox in 2 places"
check "... and nobody is asked" test ! -e "$tmp/asked"
wx export compose --weaker -- true
check "what is weaker there can be looked at" is "$rc" 0
wx run --dry-run --on podman:there -- true
check "and what would be asked" has "$out" "--env=MINE"
wx trust --yes
wx export compose -- true
check "trusted, it is written" has "$out" "/etc:/there:rw"
wx run --on podman:there -- true
check "... and run" has "$tmp/asked" "--env=MINE"

# --- values that are more than a value elsewhere ---
# project JSON: settings that widen nothing, so that nobody is asked about them.
project() { printf '%s' "$1" >wrapix.json; }
project '{"env": {"A": "x\"\n[Service]\nExecStartPre=/bin/id\n", "B": "x\r[Service]\rExecStartPre=/bin/id", "C": "${HOME}%h"}}'
wx export quadlet -- sh -c 'a
b'
check "quadlet: a value ends no line" is "$rc $(tr '\r' '\n' <"$out" | grep -c '^ExecStartPre')" "0 0"
check "... and is all there" has "$out" 'Environment="A=x\"\x0a[Service]\x0aExecStartPre=/bin/id\x0a"'
check "... of a return as well" has "$out" 'Environment="B=x\x0d[Service]\x0dExecStartPre=/bin/id"'
check "... systemd replaces nothing in it" has "$out" 'Environment="C=$${HOME}%%h"'
check "... nor in the command" has "$out" '"a\x0ab"'
project '{"env": {"A": "${localEnv:MINE}"}}'
wx export devcontainer
check "devcontainer: no value asks for the editor's environment" refused 2 "A: '\${' cannot be written there"
project '{}'
wx export devcontainer -- sh -c 'echo ${localEnv:MINE}'
check "... nor does the command" refused 2 "the command: '\${' cannot be written there"
for path in '${X-..}/${X-..}' '%h/x'; do
	project "{\"mounts\": [\"$path:/there:ro\"]}"
	wx trust --yes
	for form in compose quadlet devcontainer; do
		wx export "$form" -- true
		check "$form: a path that is replaced there is refused: $path" refused 2 "cannot be written there"
	done
done
finish
