#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2088,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
# SPDX-License-Identifier: MIT
# Profiles: what 'wrapix profile' says, tools tried inside, and hosts that the tools of this machine name.
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up

wx profile
check "the built-in profiles are listed" is "$(cut -d' ' -f1 "$out" | tr '\n' ' ')" "base c go node python rust "
wx profile list --json
check "... as JSON too" is "$(python3 -c 'import json, sys; print(*[p["name"] for p in json.load(sys.stdin)])' <"$out")" "base c go node python rust"

mkdir -p "$HOME/.config/wrapix/profiles"
cat >"$HOME/.config/wrapix/profiles/mine.json" <<-END
	{
		"extends": "python", "description": "of mine", "env": { "MINE": "1", "UV_LINK_MODE": "symlink" },
		"domains": ["packages.example"], "writable": ["/var/mine"],
		"packages": { "debian": ["sl"] }, "checks": ["true", "no-such-tool --version"]
	}
END
wx profile show mine --json
check "a profile of the user's has what it extends" python3 -c '
import json, sys
p = json.load(open(sys.argv[1]))
assert p["env"]["MINE"] == "1" and p["env"]["UV_LINK_MODE"] == "symlink", p["env"]
assert p["packages"]["debian"][-1] == "sl" and "git" in p["packages"]["debian"], p["packages"]
assert p["registries"] == ["pip"] and p["domains"] == ["packages.example"], p
assert p["checks"][-2:] == ["true", "no-such-tool --version"], p["checks"]
' "$out"
wx profile show mine
check "... also for people" has "$out" "UV_LINK_MODE symlink"
wx profile check mine
check "a missing tool makes the status 1" is "$rc" 1
check "... is named" has "$out" "missing  no-such-tool --version"
check "... and the others are not" has "$out" "ok       true"
wx profile check c
check "the compiler of this machine works inside" is "$rc" 0
check "... as its own words say" grep -q '^ok  *cc --version .*[0-9]' "$out"
wx run --profile mine --network none -- sh -c 'touch /var/mine/x && echo "$MINE $UV_LINK_MODE"'
check "its environment and its writable directory are there" is "$(cat "$out")" "1 symlink"

wx plan --profile mine -- true
check "a profile's hosts do not make the network filtered" has "$out" "network   open"
check "... and are no rules there" lacks "$out" "packages.example"
wx plan --profile mine --network filtered -- true
check "a filtered network lets them through" has "$out" "packages.example"
printf 'registry=http://packages.example:4873/\n' >"$HOME/.npmrc"
wx plan --profile node --network filtered -- true
check "npm's own configuration names its host" has "$out" "allow     packages.example:4873"
printf 'registry=https://other.example/npm/\n' >"$HOME/.npmrc"
wx plan --profile node --network filtered -- true
check "... also when it has changed" has "$out" "allow     other.example:443"
printf 'registry=https://evil.example/\n' >.npmrc
wx plan --profile node --network filtered -- true
check "... and the project's file has no say" lacks "$out" "evil.example"
check "... (control) npm itself would have listened to it" is "$(npm config get registry)" "https://evil.example/"

wx profile show nothing
check "an unknown profile is an error" is "$rc" 2
check "... with the names of the others" has "$err" "built in are base, c, go, node, python, rust"
wx profile frob
check "an unknown action is an error" is "$rc" 2
for bad in '{"writable": ["home"]}' '{"packages": {"arch": []}}' '{"packages": {"debian": ["--x"]}}' '{"registries": ["cpan"]}' '{"checks": [1]}' '{"domains": "x"}'; do
	printf '%s\n' "$bad" >"$HOME/.config/wrapix/profiles/bad.json"
	wx profile show bad
	check "$bad is refused" is "$rc" 2
	check "... with the file's name" has "$err" "profiles/bad.json"
done
wx profile list
check "... and the list says what is wrong with it" has "$out" "bad.json"
finish
