#!/bin/sh
# SPDX-License-Identifier: MIT
# nix/ and flake.nix with the real Nix and a package set of the tests' own (nix/pkgs.nix): what is evaluated, built,
# and run as an ordinary user. Needs root, for a Nix store that nobody else sees. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2088,SC2154,SC2317 # the library; Nix and scripts in quotes; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
[ "$(id -u)" = 0 ] || {
	skip "everything" "needs root, for a Nix store of its own"
	finish
}
need_user
# An empty /nix, in a mount namespace of our own; nothing of it stays.
[ "${1-}" = inside ] || {
	# One at a time: to remove the directory is to unmount it for others.
	exec 8>/run/wrapix-test-nix.lock
	flock 8
	made=
	[ -d /nix ] || { mkdir /nix && made=1; }
	unshare --mount --propagation private "$here/${0##*/}" inside
	rc=$?
	[ -z "$made" ] || rmdir /nix
	exit $rc
}
mount -t tmpfs -o mode=755 tmpfs /nix || bail "cannot mount on /nix"
set_up
export NIX_CONFIG='build-users-group =
substituters =
experimental-features = nix-command flakes
flake-registry =
sandbox = false'

# What every expression below sees: pkgs, w (the library), fixture (sets of options), module.
cat >"$tmp/world.nix" <<END
rec {
	json = import $top/nix/json.nix;
	tools = builtins.concatMap (file: (json (builtins.readFile ($top/data/profiles + "/\${file}"))).packages.nix)
		(builtins.attrNames (builtins.readDir $top/data/profiles));
	pkgs = import $here/nix/pkgs.nix { program = "$wrapix"; inherit tools; };
	w = import $top/nix { inherit pkgs; wrapix = pkgs.wrapixUnderTest; };
	module = import $here/nix/modules.nix { inherit pkgs; };
	schema = json (builtins.readFile $top/data/schema/wrapix.schema.json);
	# Every option, with a value that is no default (but git: a private one and a copy-on-write workspace exclude each other).
	all = {
		name = "everything"; wrapix = pkgs.wrapixUnderTest; profile = w.profiles.python; packages = [ pkgs.library ];
		agent = "shell"; agentMemory = true; credentials = { TOKEN = "on"; }; git = "direct"; allowNested = true; deployKey = { name = "site"; mode = "agent"; confirm = true; };
		deployKeyMode = "agent"; deployKeyConfirm = false; engine = "native"; runtime = "default"; env = { A = "b"; TERM = null; };
		home = "keep"; hostPorts = [ 5432 "5433" ]; image = "none"; limits = { cpus = 1.5; memory = "1G"; pids = 99; disk = 1073741824; };
		mounts = [ "~/a:/a:ro,optional" { source = "~/b"; dest = "/b"; mode = "ro"; optional = true; } ];
		network = { mode = "filtered"; allow = [ "a.example" ]; deny = [ "b.example" ]; explain = true; };
		notify = { enabled = true; waiting = "on"; idle = 3; quiet = "22:00-07:00"; sound = "bell"; always = true; webhook = "true"; };
		only = true; publish = [ 3000 "127.0.0.1:8080:3001" "[::1]:3002" "auto" ]; protect = { editor = "ro"; }; ralph = { }; workspace = "cow";
	};
}
END
# value EXPRESSION: as JSON, in $out; what Nix says in $err.
value() {
	out=$tmp/log/out err=$tmp/log/err
	nix-instantiate --eval --strict --json -E "with import $tmp/world.nix; $1" >"$out" 2>"$err"
}
gives() { value "$1" && is "$(cat "$out")" "$2"; }
refuses() { # refuses EXPRESSION MESSAGE
	! value "$1" && has "$err" "error: $2"
}
build() { nix-build --no-out-link -E "with import $tmp/world.nix; $1" 2>"$tmp/log/err"; }
# launch PROGRAM ARG...: as the ordinary user, in the project; leaves $rc, $out and $err.
launch() {
	out=$tmp/log/out err=$tmp/log/err
	as_user timeout -s KILL 60 "$@" >"$out" 2>"$err" </dev/null
	rc=$?
}
same() { python3 -c 'import json, sys; a, b = (json.load(open(f)) for f in sys.argv[1:3]); assert a == b, (a, b)' "$1" "$2"; }

# --- JSON with comments ---
printf '{ // one "x\n "a": "// no /* comment */ \\" \\\\", /* two\n ** "b": 1 */ "c": [1, "/*"] }' >"$tmp/comments.json"
check "comments are taken out, and strings left alone" gives "json (builtins.readFile $tmp/comments.json)" \
	'{"a":"// no /* comment */ \" \\","c":[1,"/*"]}'

# --- profiles ---
for profile in base c go node python rust; do
	value "let p = w.profiles.$profile; in { inherit (p) env writable domains registries checks; packages = map (x: x.name) p.packages; }"
	cp "$out" "$tmp/nix.json"
	as_user "$wrapix" profile show $profile --json >"$tmp/shown.json"
	check "profile $profile is the program's" python3 -c '
import json, sys
nix, own = (json.load(open(f)) for f in sys.argv[1:3])
assert nix["packages"] == own["packages"]["nix"], (nix["packages"], own["packages"]["nix"])
for key in ("env", "writable", "domains", "registries", "checks"):
    assert nix[key] == own[key], (key, nix[key], own[key])' "$tmp/nix.json" "$tmp/shown.json"
done
check "a profile has every key that the program's has" gives 'builtins.attrNames w.profiles.base' \
	"$(sed -n 's/.*{ "\([a-z]*\)",.*IN_PROFILE.*/\1/p' "$top/src/spec/config.c" | grep -vx extends | { cat; echo name; } | sort | sed 's/.*/"&"/' | paste -sd, | sed 's/.*/[&]/')"
derived='w.deriveProfile (w.deriveProfile w.profiles.rust { name = "one"; env = { A = "1"; CARGO_HOME = "/c"; }; packages = [ pkgs.library ]; })
	{ name = "two"; env.A = "2"; mounts = [ "~/x:/x:ro,optional" ]; writable = [ "/var/two" ]; checks = [ "true" ]; }'
check "deriveProfile of deriveProfile: the youngest value counts, lists are joined" gives \
	"let p = $derived; in [ p.name p.env.A p.env.CARGO_HOME p.env.RUSTUP_HOME (builtins.length p.mounts) p.writable (builtins.elem pkgs.library p.packages) (builtins.elem pkgs.git p.packages) ]" \
	'["two","2","/c","/home/wrapix/.rustup",5,["/home/wrapix/.cargo","/var/two"],true,true]'
check "a profile from nothing" gives '(w.deriveProfile { name = "mine"; } { env.A = "1"; }).env' '{"A":"1"}'
check "a package that nixpkgs does not have is named, and only where it is used" refuses \
	"let p = import $here/nix/pkgs.nix { program = \"/x\"; }; in (import $top/nix { pkgs = p; wrapix = p.wrapixUnderTest; }).profiles.c.packages" \
	"profiles.base: there is no package 'bashInteractive'"

# --- options ---
{
	sed -n 's/.*{ "\([A-Za-z]*\)", IN_CONFIG.*/\1/p' "$top/src/spec/config.c"
	printf '%s\n' name packages wrapix
} | sort -u | sed 's/.*/"&"/' | paste -sd, | sed 's/.*/[&]/' >"$tmp/keys"
check "the options are the program's keys, and three of Nix's own" gives 'builtins.sort builtins.lessThan w.options' "$(LC_ALL=C sort "$tmp/keys")"
check "... and 'all' has each" gives 'builtins.attrNames all == w.options' true
value '(w.mkSandbox all).configuration'
cp "$out" "$tmp/all.json"
check "every option reaches the configuration as it was said" python3 -c '
import json, sys
c = json.load(open(sys.argv[1]))
assert c["limits"] == {"cpus": 1.5, "memory": "1G", "pids": 99, "disk": 1073741824}, c
assert c["publish"] == [3000, "127.0.0.1:8080:3001", "[::1]:3002", "auto"], c
assert c["env"]["A"] == "b" and c["env"]["TERM"] is None and "/bin:/opt/wrapix/bin:" in c["env"]["PATH"], c
assert c["env"]["PKG_CONFIG_PATH"].endswith("-library-dev/lib/pkgconfig"), c
assert c["network"]["deny"] == ["b.example"] and c["notify"]["webhook"] == "true" and c["workspace"] == "cow", c
assert c["protect"] == {"editor": "ro"}, c
assert set(c) == set(json.loads(sys.argv[2])) - {"name", "packages", "wrapix"}, set(c)' "$tmp/all.json" "$(cat "$tmp/keys")"
sandbox=$(build 'w.mkSandbox (builtins.removeAttrs all [ "image" "deployKey" ])')
check "... and the program takes all of it" exists "$sandbox/bin/everything"
mkdir -p "$tmp/plain"
chown "$test_user" "$tmp/plain"
launch "$sandbox/bin/everything" plan "$tmp/plain" -- true
check "... as its plan shows" has "$out" "network   filtered"
check "... with status 0" is "$rc" 0

while IFS='|' read -r expression message; do
	[ -z "$expression" ] || check "refused: $expression" refuses "(w.mkSandbox $expression).drvPath" "$message"
done <<'END'
{ netwrok = "none"; }|mkSandbox: netwrok: unknown option; there are agent, agentMemory, allowNested,
{ memoryMb = 4096; }|mkSandbox: memoryMb: unknown option; it is limits.memory
{ env.A = 7; }|mkSandbox: env.A: must be a string or null, not 7
{ env = [ ]; }|mkSandbox: env: must be a set, not a list
{ env.HOME = "/x"; }|mkSandbox: env.HOME: cannot have this name
{ env."A=B" = "x"; }|mkSandbox: env.A=B: cannot have this name
{ network = "opne"; }|mkSandbox: network: must be "open" or "none" or
{ network.allow = "x"; }|mkSandbox: network.allow: must be a list, not "x"
{ network.alow = [ ]; }|mkSandbox: network.alow: unknown; there are allow, deny, explain, mode
{ limits.memory = true; }|mkSandbox: limits.memory: must be a whole number
{ limits.pids = 0; }|mkSandbox: limits.pids: must be a whole number (1 to 4194304)
{ mounts = "a:b"; }|mkSandbox: mounts: must be a list, not "a:b"
{ mounts = [ "a" ]; }|mkSandbox: mounts[0]: must be a string that matches
{ mounts = [ ./x ]; }|mkSandbox: mounts[0]: must be a string that matches
{ mounts = [ { source = "/x"; } ]; }|mkSandbox: mounts[0].dest: must be given
{ mounts = [ { source = "/x"; dest = "/y"; mode = "wr"; } ]; }|mkSandbox: mounts[0].mode: must be "ro" or "rw", not "wr"
{ publish = [ 0 ]; }|mkSandbox: publish[0]: must be a whole number (1 to 65535)
{ deployKey = "../x"; }|mkSandbox: deployKey: must be a string that matches
{ deployKey.mod = "file"; }|mkSandbox: deployKey.mod: unknown; there are confirm, mode, name
{ allowNested = "yes"; }|mkSandbox: allowNested: must be true or false, not "yes"
{ agent = 7; }|mkSandbox: agent: must be a string, not 7
{ image = "a b"; }|mkSandbox: image: must be a string that matches
{ packages = [ 3 ]; }|mkSandbox: packages[0]: must be a package, not 3
{ packages = pkgs.git; }|mkSandbox: packages: must be a list
{ wrapix = 7; }|mkSandbox: wrapix: must be a package, not 7
{ env.PATH = null; }|mkSandbox: env.PATH: cannot be null beside packages
{ name = "a/b"; }|mkSandbox: name: must be a string that matches
{ name = "x\nid"; }|mkSandbox: name: must be a string that matches
{ deployKey = "x\n../y"; }|mkSandbox: deployKey: must be a string that matches
{ name = "x; id"; }|mkSandbox: name: must be a string that matches
{ profile = "ruby"; }|mkSandbox: profile: there is no "ruby"; there are base, c,
{ profile = 7; }|mkSandbox: profile: must be a profile or the name of one
{ profile = { evn = { }; }; }|mkSandbox: profile: evn: unknown; there are checks,
END
check "refused: an unknown key of deriveProfile" refuses '(w.deriveProfile w.profiles.rust { envs = { }; }).env' "deriveProfile: envs: unknown; there are checks,"
check "refused: a wrong type in deriveProfile" refuses '(w.deriveProfile w.profiles.rust { checks = [ 1 ]; }).env' "deriveProfile: checks[0]: must be a string, not 1"
check "null is what was not said" gives '(w.mkSandbox { deployKey = null; limits = null; }).drvPath == (w.mkSandbox { }).drvPath' true

# --- a real run ---
as_user mkdir -p "$home/.config"
echo theirs >"$home/.config/file"
odd='a b"c'\''d$(touch /workspace/bad)`touch /workspace/bad`\n*'
printf '%s' "$odd" >"$tmp/odd"
sandbox=$(build "w.mkSandbox {
	network = \"none\"; profile = $derived; packages = [ pkgs.other ]; limits.pids = 77; agent = pkgs.other;
	env.ODD = builtins.readFile $tmp/odd;
	mounts = [ { source = \"~/.config\"; dest = \"~/.config\"; mode = \"ro\"; } ];
}")
launch "$sandbox/bin/wrapix" -- sh -c 'printf "%s\n" "$ODD"; cat ~/.config/file; library; git; other-agent; echo "$A $CARGO_HOME"; touch /var/two/x made; exit 7'
check "the launcher runs a command, with its status" is "$rc" 7
check "... a value arrives whole, whatever is in it; mounts, packages, profile" is "$(cat "$out")" "$odd
theirs
library of Nix
git of Nix
other-agent of Nix
2 /c"
check "... and nothing of it was run" absent "$project/bad"
check "... what it makes belongs to the user" is "$(stat -c %U "$project/made")" "$test_user"
check "... the launcher's text has nothing but paths" lacks "$sandbox/bin/wrapix" touch
launch "$sandbox/bin/wrapix"
check "without a command the agent's package runs" is "$(cat "$out")" "other-agent of Nix"
launch "$sandbox/bin/wrapix" ../project/ --env A=3 -- sh -c 'echo $A; pwd'
check "a directory, and an option over the configuration" is "$(cat "$out")" "3
/workspace"
launch "$sandbox/bin/wrapix" plan
check "plan shows the limit" has "$out" "pids 77"
launch "$sandbox/bin/wrapix" profile list
check "another command goes to wrapix" has "$out" rust
launch "$sandbox/bin/wrapix" --version
check "... and --version" has "$out" "wrapix "
printf '{ "network": "host", "mounts": ["/etc/hostname:/x"] }' >wrapix.json
launch "$sandbox/bin/wrapix" -- true
check "a project's file still needs trust" is "$rc" 125
check "... (control) and says so" has "$err" "wrapix trust"
rm wrapix.json
check "an agent that wrapix knows is started its own way" gives '(w.mkSandbox { agent = pkgs.claude; }).configuration.agent' '"claude"'
check "two builds of one description are one package" gives '(w.mkSandbox all).outPath == (w.mkSandbox (all // { })).outPath' true

# --- images ---
image=$(build '(w.mkSandbox { profile = { name = "small"; env.SMALL = "yes"; packages = [ pkgs.busybox ]; }; packages = [ pkgs.library ]; }).image')
check "the image is an OCI image" skopeo inspect "oci:$image"
check "... with the profile's variables" sh -c "skopeo inspect --config oci:$image | grep -q SMALL=yes"
rootfs=$(build '(w.mkSandbox { profile = { packages = [ pkgs.busybox ]; }; packages = [ pkgs.library ]; }).rootfs')
launch "$wrapix" image build --from "rootfs:$rootfs" --name nixed
check "wrapix takes the root directory for an image" is "$rc" 0
cat >"$tmp/nixpkgs.nix" <<END
let pkgs = (import $tmp/world.nix).pkgs; in {
	inherit (pkgs) busybox library;
	needed = pkgs.runCommand "needed" { } ''mkdir -p "\$out/bin" "\$out/etc/ssl/certs"; echo bundle >"\$out/etc/ssl/certs/ca-bundle.crt"; printf needed >"\$out/bin/needed"'';
	needy = pkgs.runCommand "needy" { } ''mkdir -p "\$out/bin"; echo \${(import $tmp/nixpkgs.nix).needed} \${pkgs.busybox} >"\$out/bin/needy"'';
}
END
cat >"$tmp/small.json" <<'END'
{ "packages": { "nix": ["needy", "needed", "busybox"], "debian": ["nosuch-package"] }, "env": { "SMALL": "yes" } }
END
# As the user whose store this is.
closure() { NIX_PATH=nixpkgs=$tmp/nixpkgs.nix wx image build "$@"; }
closure "$tmp/small.json" --from nix --name closed -o "$tmp/closed"
check "an image of a profile's packages by nix" is "$rc" 0
wx image show closed
check "... has a layer for each store path, one for the directories above, one of links and ours" is "$(grep -c ^layer "$out")" 6
umoci unpack --rootless --image "$tmp/closed:closed" "$tmp/bundle" >"$tmp/log/why" 2>&1
check "... with the store as it is" sh -c 'cd "$1" && for path in nix/store/*; do diff -r "$path" "/$path" || exit 1; done && [ "$(ls nix/store | wc -l)" = 3 ]' sh "$tmp/bundle/rootfs"
check "... programs on PATH, a shell, and certificates" sh -c 'cd "$1" && [ "$(readlink bin)" = usr/bin ] && readlink usr/bin/sh usr/bin/needy etc/ssl/certs/ca-certificates.crt | grep -c ^/nix/store/ | grep -qx 3' sh "$tmp/bundle/rootfs"
# A store of another place takes the paths in by it; a builder's does (wrapix-builder).
mkdir -p "$tmp/other/nix" && cp -a "$tmp/bundle/rootfs/nix/store" "$tmp/other/nix/"
nix-store --store "$tmp/other" --load-db <"$tmp/bundle/rootfs/nix-path-registration" 2>"$tmp/log/why"
check "... and what a store that gets them must know of them" nix-store --store "$tmp/other" --verify --check-contents
check "... which makes each of them valid" sh -c 'for path in "$1"/nix/store/*; do nix-store --store "$1" --check-validity "/nix/store/${path##*/}" || exit 1; done' sh "$tmp/other"
wx image show closed --json
first=$(jq -r .digest "$out")
closure base --from "nix:$(nix-build "$tmp/nixpkgs.nix" -A needy --no-out-link 2>/dev/null)" --name one
check "an image of a store path and what it needs" is "$rc" 0
closure "$tmp/small.json" --from nix --name again
wx image show again --json
check "the same closure is the same image" is "$(jq -r .digest "$out")" "$first"
closure "$tmp/small.json" --from nix --package nosuch --name wrong
check "a package that nixpkgs has not is an error, with nix's own words" sh -c '[ "$1" = 125 ] && grep -q nosuch "$2"' sh "$rc" "$err"
printf '{ "packages": { "nix": ["busybox"] } }\n' >"$tmp/only.json"
XDG_CACHE_HOME=$(mktemp -d /var/tmp/wrapix-nix.XXXXXX) # where root without rights can get
chmod 755 "$XDG_CACHE_HOME"
mkdir "$XDG_CACHE_HOME/project"
export XDG_CACHE_HOME NIX_PATH="nixpkgs=$tmp/nixpkgs.nix"
wx run "$XDG_CACHE_HOME/project" --as-root --network none --profile "$tmp/only.json" --package needed -- cat /usr/bin/needed
check "--package with a profile that has its packages of Nix is an image of a closure" is "$rc $(cat "$out")" "0 needed"
check "... and it is said that one is made" has "$err" "making an image of the profile"
wx run "$XDG_CACHE_HOME/project" --as-root --network none --profile "$tmp/only.json" --package needed -- sh -c '[ -e /usr/bin/python3 ] || echo alone'
check "... once" is "$(cat "$out") $(grep -c "making an image" "$err")" "alone 0"
wx run "$XDG_CACHE_HOME/project" --as-root --network none --profile "$tmp/only.json" --package nosuch -- true
check "... and a package that is not there is said, with nix's own words" sh -c '[ "$1" = 125 ] && grep -q nosuch "$2"' sh "$rc" "$err"
env PATH="$tmp/nowhere" "$wrapix" run "$XDG_CACHE_HOME/project" --as-root --network none --profile "$tmp/only.json" --package library -- true >"$out" 2>"$err"
rc=$?
check "... as is nix itself, where there is none" sh -c '[ "$1" = 125 ] && grep -q "install nix" "$2"' sh "$rc" "$err"
rm -rf "$XDG_CACHE_HOME"
unset NIX_PATH XDG_CACHE_HOME
sandbox=$(build 'w.mkSandbox { image = "nixed"; network = "none"; profile = { packages = [ pkgs.busybox ]; }; packages = [ pkgs.library ]; }')
launch "$sandbox/bin/wrapix" -- sh -c 'library; [ -e /usr/bin/python3 ] || echo alone'
check "... and runs in it" is "$(cat "$out")" "library of Nix
alone"

# --- overlay, modules, package, flake ---
check "the overlay" gives "let o = import $top/nix/overlay.nix (pkgs // o) pkgs; in builtins.attrNames o.wrapixLib.profiles" '["base","c","go","node","python","rust"]'
given='{ enable = true; package = pkgs.wrapixUnderTest; sandboxes.site = { network = "none"; }; }'
check "the NixOS module" gives "map (p: p.name) (module $top/nix/nixos.nix $given).config.environment.systemPackages" '["wrapix","wrapix-site"]'
check "... switched off" gives "(module $top/nix/nixos.nix { }).config" '{}'
check "... names a wrong option" refuses "map (p: p.outPath) (module $top/nix/nixos.nix { enable = true; package = pkgs.git; sandboxes.x = { evn = 1; }; }).config.environment.systemPackages" \
	"mkSandbox: evn: unknown option"
given='{ enable = true; package = pkgs.wrapixUnderTest; settings = { network = "none"; }; profiles.mine = { extends = "rust"; }; }'
check "the home-manager module" gives "let c = (module $top/nix/home-manager.nix $given).config; in [ (map (p: p.name) c.home.packages) c.xdg.configFile ]" \
	'[["wrapix"],{"wrapix/config.json":{"text":"{\"network\":\"none\"}"},"wrapix/profiles/mine.json":{"text":"{\"extends\":\"rust\"}"}}]'
check "... names a wrong setting" refuses "(module $top/nix/home-manager.nix { enable = true; package = pkgs.git; settings.limits.cpu = 1; }).config.xdg.configFile" \
	"programs.wrapix.settings: limits.cpu: unknown; there are cpus,"

package="(pkgs.callPackage $top/nix/package.nix { }).arguments"
check "the package's version is the program's" gives "$package.version" "\"$("$wrapix" --version | sed -n '1s/^wrapix //p')\""
awk '$1 == "build" && $2 ~ /^pkg:/ { print substr($2, 5) }' "$top/scripts/packages" | sed 's/^libcrypto$/openssl/; s/^libsystemd$/systemd/; s/^libzstd$/zstd/; s/^sqlite3$/sqlite/' | sort | sed 's/.*/"&"/' | paste -sd, | sed 's/.*/[&]/' >"$tmp/libraries"
check "... it has every library that scripts/packages has" gives "builtins.sort builtins.lessThan (map (p: p.pname or p) $package.buildInputs)" "$(cat "$tmp/libraries")"
source=$(nix-instantiate --eval --read-write-mode -E "with import $tmp/world.nix; $package.src" | tr -d '"')
check "... and the sources" exists "$source/src/cli/main.c"
check "... all of them" exists "$source/src/builder/meson.build"
check "... without what was built" absent "$source/build"

mkdir "$tmp/flake" "$tmp/nixpkgs"
cp -R "$top/flake.nix" "$top/nix" "$top/data" "$top/meson.build" "$tmp/flake"
cp "$here"/nix/*.nix "$tmp/nixpkgs"
value "{ program = \"$wrapix\"; inherit tools; system = builtins.currentSystem; }" && cp "$out" "$tmp/nixpkgs/world.json"
flake() { nix eval --json --no-write-lock-file --override-input nixpkgs "path:$tmp/nixpkgs" "path:$tmp/flake#$1" --apply "$2" >"$out" 2>"$err" && is "$(cat "$out")" "$3"; }
check "the flake's packages" flake packages.x86_64-linux 'p: map (n: p.${n}.name) (builtins.attrNames p)' \
	'["wrapix","wrapix","wrapix","wrapix","wrapix","wrapix","wrapix","wrapix","wrapix"]'
check "the flake's library" flake lib.x86_64-linux 'l: (l.mkSandbox { profile = l.deriveProfile l.profiles.go { env.A = "1"; }; }).profile.env.GOTOOLCHAIN' '"local"'
for output in overlays nixosModules homeManagerModules; do
	check "... its $output" flake $output.default builtins.isFunction true
done

# As in docs/nix.md: a flake of the user's own.
mkdir "$tmp/mine"
cat >"$tmp/mine/flake.nix" <<END
{
	inputs = {
		nixpkgs.url = "path:$tmp/nixpkgs";
		wrapix = { url = "path:$tmp/flake"; inputs.nixpkgs.follows = "nixpkgs"; };
	};
	outputs = { nixpkgs, wrapix, ... }:
		let
			pkgs = nixpkgs.legacyPackages.x86_64-linux;
			inherit (wrapix.lib.x86_64-linux) mkSandbox deriveProfile profiles;
		in {
			packages.$(uname -m)-linux.default = mkSandbox {
				name = "mine"; wrapix = pkgs.wrapixUnderTest; network = "none";
				profile = deriveProfile profiles.rust { packages = [ pkgs.library ]; env.RUST_LOG = "debug"; };
			};
		};
}
END
nix run "path:$tmp/mine" -- -- sh -c 'echo "$RUST_LOG"; library' >"$out" 2>"$err"
check "nix run of a flake of the user's own" is "$(cat "$out")" "debug
library of Nix"
finish
