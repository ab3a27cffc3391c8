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
mkdir -p .wrapix/profiles
printf '{"extends":"base","checks":["true \\u001b[2J\\u202e"]}\n' >.wrapix/profiles/orders.json
wx profile check orders
check "a project's are no orders to the terminal" has "$out" 'ok       true \x1b[2J\xe2\x80\xae'
rm -r .wrapix
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
mkdir -p "$HOME/.cargo/registry"
wx run --profile rust --network none -- sh -c 'cd ~/.cargo/registry && mkdir -p index/evil.example-0123456789abcdef && echo "{\"dl\":\"https://dl.evil.example/\"}" >index/evil.example-0123456789abcdef/config.json && echo made'
check "a sandbox writes in cargo's downloads" is "$(cat "$out")" "made"
wx plan --profile rust --network filtered -- true
check "... and so lets no host through to the next one" is "$(grep -c 'allow  .*evil' "$out")" 0
check "... the user is told, and how to allow it" has "$out" "note      cargo has used hosts that its configuration does not name; if you know them: --allow evil.example:443 --allow dl.evil.example:443"
wx plan --profile rust --network filtered --allow evil.example --allow dl.evil.example:443 -- true
check "... who has done so is told no more" eval 'has "$out" "dl.evil.example:443" && lacks "$out" "cargo has used"'
printf '[source.crates-io]\nreplace-with = "own"\n[source.own]\nregistry = "sparse+https://crates.example/index/"\n' >"$HOME/.cargo/config.toml"
wx plan --profile rust --network filtered -- true
check "what cargo's configuration names is let through" has "$out" "allow     crates.example:443"

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
rm "$HOME/.config/wrapix/profiles/bad.json"

# --- the project's own ---
mkdir -p .wrapix/profiles secret
profile() { cat >".wrapix/profiles/$1.json"; } # profile NAME <TEXT
profile plain <<'END'
{ "extends": "mine", "description": "of the project", "env": { "PLAIN": "1" }, "checks": ["printenv PLAIN"] }
END
profile mine <<'END'
{ "extends": "mine", "env": { "MINE": "2" } }
END
profile wide <<'END'
{ "extends": "plain", "mounts": ["~/.config:/config:ro"] }
END
wx profile list
check "the project's profiles are listed" has "$out" "of the project"
wx run --profile plain --network none -- true
check "one that takes along what the user's has mounted is refused until it is trusted" refused 125 'profile mine: extends: "mine"'
wx trust --yes
wx run --profile plain --network none -- sh -c 'echo "$PLAIN $MINE $UV_LINK_MODE"'
check "one is used, with what it extends: the project's, the user's, a built-in one" is "$(cat "$out")" "1 2 symlink"
wx run --network none -- sh -c 'echo "${MINE-none}"; echo x >.wrapix/profiles/new.json'
check "none is used unless it is named" grep -qx none "$out"
check "... and the sandbox cannot make one" absent .wrapix/profiles/new.json
wx profile check plain
check "its tools are tried where it is" has "$out" "ok       printenv PLAIN"
wx trust --revoke
wx run --profile wide --network none -- true
check "one that widens is refused until it is trusted" refused 125 "profile wide: mounts[0]"
wx plan --profile wide -- true
check "... and a plan says so" has "$out" "wrapix trust"
wx image build wide --from "rootfs:$PWD/secret" --name wide
check "... no image is made of it either" refused 125 "is not trusted"
profile rust <<'END'
{ "packages": { "debian": ["./of-the-project.deb"] } }
END
wx image build rust --from "rootfs:$PWD/secret" --name own
check "... nor of one that takes a built-in one's name and asks for packages" refused 125 "is not trusted"
wx trust </dev/null
check "... which 'trust' shows" has "$out" "profile rust: its packages"
wx trust --json
check "... to programs as well, and accepts nothing" is "$rc $(jq -r '"\(.trusted) \(.needsTrust) \(.profiles | index("rust") != null)"' "$out")" "0 false true true"
wx trust --json --yes
check "... with nothing that would" refused 2 "shows, and changes nothing"
rm .wrapix/profiles/rust.json
listed=$PWD
cd / || exit 1
wx trust "$listed"
check "without a terminal 'trust' says how, and of which directory" has "$err" "hint: wrapix trust $listed --yes"
cd "$listed" || exit 1
wx profile check wide
check "'check' does not call a tool missing where there is no sandbox to try it in" eval 'refused 125 "no sandbox with the profile" && lacks "$out" missing && has "$err" "wrapix run $listed --profile wide -- true"'
wx trust --yes
check "'trust' shows what any of them asks for, named or not" has "$out" "profile wide: mounts[0]: "
wx run --profile wide --network none -- ls /config
check "... and then it runs" is "$rc $(cat "$out")" "0 wrapix"
wx trust </dev/null
check "what is trusted is not asked about again" eval 'is "$rc" 0 && has "$out" "Trusted already, until the file or a profile changes."'
wx trust --json
check "... and programs are told" is "$(jq -r '"\(.trusted) \(.asks[1].key)"' "$out")" "true profile wide: mounts[0]"
profile other <<'END'
{ "mounts": ["~:/host:rw"] }
END
wx run --profile wide --network none -- true
check "a change of any of them asks again" refused 125 "or a profile in .wrapix/profiles has changed since it was trusted"
rm .wrapix/profiles/other.json
wx run --profile wide --network none -- true
check "... and the old content is as it was" is "$rc" 0
echo '{ "profile": "wide" }' >wrapix.json
wx run --network none -- true
check "a project's file may name it, and asks for trust" refused 125 "has changed since it was trusted"
rm wrapix.json
echo '{ "network": "filtered" }' >"$HOME/.config/wrapix/config.json"
echo '{ "network": "filtered", "profile": "base" }' >wrapix.json
echo '{ "domains": ["evil.example"] }' | profile base
wx run -- true
check "a project that says 'filtered' as the user does may not name hosts for that" refused 125 "profile base: domains[0]"
rm "$HOME/.config/wrapix/config.json" .wrapix/profiles/base.json wrapix.json
for bad in '{ "extends": "/etc/passwd" }|not a file' '{ "extends": "loop" }|none of that name' '{ "extends": "back" }|extends itself' '{ "network": "host" }|unknown key'; do
	printf '%s' "${bad%|*}" | profile loop
	echo '{ "extends": "loop" }' | profile back
	wx run --profile loop --network none -- true
	check "${bad%|*} is refused" refused 2 "${bad#*|}"
done
rm .wrapix/profiles/loop.json .wrapix/profiles/back.json
ln -s /etc/passwd .wrapix/profiles/link.json
wx run --profile plain --network none -- true
check "a link is none" refused 2 "symbolic link"
rm .wrapix/profiles/link.json
i=0
while [ $i -lt 60 ]; do
	echo "{ \"extends\": \"deep$((i + 1))\", \"env\": { \"D$i\": \"1\" } }" | profile deep$i
	i=$((i + 1))
done
echo '{ "env": { "D60": "1" } }' | profile deep60
wx run --profile deep0 --network none -- sh -c 'env | grep -c "^D[0-9]*=1"'
check "profiles extend each other to any depth" is "$(cat "$out")" 61
rm -r .wrapix

# --- packages ---
wx plan --package jq -- true
check "a plan with packages says how their image is made" refused 125 "not made yet"
wx run --package '-x' -- true
check "a name that is none is refused" is "$rc" 2
wx run --package jq --image one -- true
check "packages and an image exclude each other" refused 2 "cannot go into"
echo '{ "packages": ["jq"] }' >wrapix.json
wx run --network none -- true
check "a project's packages ask for trust" refused 125 "packages[0]"
rm wrapix.json
# A root of busybox instead of mmdebstrap's, which the image's own test has.
mkdir "$tmp/bin"
cat >"$tmp/bin/mmdebstrap" <<END
#!/bin/sh
for last; do case \$last in --include=*) echo "\$last" >>"$tmp/asked" ;; *.make-*) to=\$last ;; esac; done
mkdir -p "$tmp/made/usr/bin"
cp /bin/busybox "$tmp/made/usr/bin/busybox"
ln -sf busybox "$tmp/made/usr/bin/sh"
ln -sfn usr/bin "$tmp/made/bin"
exec tar -C "$tmp/made" -cf "\$to" .
END
chmod 755 "$tmp/bin/mmdebstrap"
PATH=$tmp/bin:$PATH wx run --package zsh --package jq --network none -- sh -c 'echo ran'
check "packages make an image of the profile, which is run" is "$rc $(cat "$out")" "0 ran"
check "... and it is said, once" is "$(grep -c "^wrapix: making an image of the profile 'base' with zsh, jq" "$err")" 1
check "... with the profile's packages and these" grep -q 'include=bash,.*,zsh,jq$' "$tmp/asked"
PATH=$tmp/bin:$PATH wx run --package jq --package zsh --network none -- sh -c 'echo ran'
check "the next time it is there, in any order" is "$rc $(cat "$out" "$err") $(wc -l <"$tmp/asked")" "0 ran 1"
PATH=$tmp/bin:$PATH wx run --package jq --profile mine --network none -- sh -c 'echo ran'
check "another profile, or other packages, are another image" is "$rc $(wc -l <"$tmp/asked")" "0 2"
wx image list
check "they are kept with the others" is "$(grep -cE '^(base|mine)-[0-9a-f]{12} ' "$out")" 2
printf '#!/bin/sh\necho "E: no such package" >&2\nexit 1\n' >"$tmp/bin/mmdebstrap"
PATH=$tmp/bin:$PATH wx run --package nosuch --network none -- true
check "where it cannot be made, it is said why" sh -c '[ "$1" = 125 ] && grep -q "no such package" "$2"' sh "$rc" "$err"
finish
