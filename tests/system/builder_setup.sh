#!/bin/sh
# SPDX-License-Identifier: MIT
# wrapix-builder: its keys, the configurations that it prints, and what setup writes and unsetup puts back. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; text in quotes; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
wrapix=${wrapix%/cli/wrapix}/builder/wrapix-builder
keys=$home/.local/share/wrapix/builder-keys
etc=$tmp/etc
mode() { stat -c %a "$1"; }
# Everything below a directory: names, kinds, modes, and bytes.
picture() { (cd "$1" && find . -printf '%p %y %m\n' -type f -exec sha256sum {} \; | sort); }

# --- keys ---
wx config
check "config prints" ended 0
for which in host client; do
	check "a $which key, for its owner alone" is "$(mode "$keys/${which}_ed25519")" 600
	check "... of type ed25519" has "$keys/${which}_ed25519.pub" "ssh-ed25519 "
	check "... that is its private half's" is "$(ssh-keygen -y -f "$keys/${which}_ed25519" | cut -d' ' -f1,2)" \
		"$(cut -d' ' -f1,2 "$keys/${which}_ed25519.pub")"
done
check "... in a directory of his own" is "$(mode "$keys")" 700
cp "$keys/host_ed25519.pub" "$tmp/first"
wx config
check "the keys stay" cmp "$tmp/first" "$keys/host_ed25519.pub"
chmod 644 "$keys/client_ed25519"
wx config
check "a key that others can read is not used" is "$rc" 125
check "... and that is said" has "$err" "can be read by others"
chmod 600 "$keys/client_ed25519"

# --- configurations ---
host_key=$(cut -d' ' -f1,2 "$keys/host_ed25519.pub")
pin=$(printf %s "$host_key" | base64 -w0)
for form in nixos darwin nix.conf; do
	wx config $form
	check "config $form pins the host key" has "$out" "$pin"
	check "... and asks nobody to trust one" fails grep -qiE 'accept-new|StrictHostKeyChecking no' "$out"
done
for form in nixos darwin; do
	"$wrapix" config $form >"$tmp/$form.nix"
	check "config $form is Nix" nix-instantiate --store "$tmp/nix" --eval --strict "$tmp/$form.nix"
done
"$wrapix" config ssh >"$tmp/ssh_config"
for name in wrapix-builder localhost:2222; do
	ssh -T -G -F "$tmp/ssh_config" "$name" >"$tmp/resolved"
	for line in "port 2222" "hostname 127.0.0.1" "user builder" "hostkeyalias wrapix-builder" "stricthostkeychecking true" \
		"identitiesonly yes" "identityfile $keys/client_ed25519" "userknownhostsfile $keys/known_hosts"; do
		check "ssh takes it for $name: $line" grep -qxF "$line" "$tmp/resolved"
	done
done
check "the host key is found by each name" is "$(for n in wrapix-builder '[localhost]:2222' '[127.0.0.1]:2222'; do
	ssh-keygen -F "$n" -f "$keys/known_hosts" | grep -cF "$host_key"
done | tr -d '\n')" 111
wx config nix.cnf
check "an unknown form is refused" is "$rc" 2
check "... with those that there are" has "$err" "there is nix.conf, nixos, darwin and ssh"

# --- setup ---
mkdir -p "$etc/nix"
printf 'ssh://other x86_64-linux - 1' >"$etc/nix/machines" # no newline at the end
chmod 640 "$etc/nix/machines"
picture "$etc" >"$tmp/before"
unchanged() { picture "$etc" | diff "$tmp/before" -; }
wx setup --etc "$etc" --dry-run
check "setup --dry-run shows a diff" has "$out" "+ssh-ng://builder@wrapix-builder"
check "... of the host for ssh, too" has "$out" "+++ $etc/ssh/ssh_config.d/100-wrapix-builder.conf"
check "... and not the private key" lacks "$out" "PRIVATE KEY"
check "... and writes nothing" unchanged
wx setup --etc "$etc"
check "without a terminal nobody is asked, and nothing written" is "$rc" 2
check "... really nothing" unchanged
wx setup --etc "$etc" --yes
check "setup --yes" is "$rc" 0
check "what was in the list of machines is there" has "$etc/nix/machines" "ssh://other x86_64-linux - 1"
check "... and the builder, with its host key" has "$etc/nix/machines" "$pin"
check "... with the mode that it had" is "$(mode "$etc/nix/machines")" 640
check "the key is root's alone" is "$(mode "$etc/nix/wrapix_builder_ed25519")" 600
check "... and the one that may log in" cmp "$etc/nix/wrapix_builder_ed25519" "$keys/client_ed25519"
check "ssh finds the builder by what was written" grep -qxF "userknownhostsfile $etc/nix/wrapix_builder_known_hosts" <<-END
	$(ssh -T -G -F "$etc/ssh/ssh_config.d/100-wrapix-builder.conf" wrapix-builder)
END
wx setup --etc "$etc" --yes
check "a second setup has nothing to do" has "$out" "Nothing to do"
wx unsetup --etc "$etc" --yes
check "unsetup" is "$rc" 0
check "... and all is as it was, byte for byte" unchanged
wx unsetup --etc "$etc" --yes
check "a second one has nothing to put back" is "$rc" 125

# Others work there, too.
wx setup --etc "$etc" --yes
echo 'ssh://third aarch64-linux' >>"$etc/nix/machines"
wx unsetup --etc "$etc" --yes
check "what others added since stays" is "$(cat "$etc/nix/machines")" "$(printf 'ssh://other x86_64-linux - 1\nssh://third aarch64-linux')"
wx setup --etc "$etc" --yes
echo '# mine' >>"$etc/ssh/ssh_config.d/100-wrapix-builder.conf"
wx unsetup --etc "$etc" --yes
check "a file of ours that somebody changed is not thrown away" is "$rc" 125
check "... which says so" has "$err" "was changed by somebody since setup"
check "... and nothing else was" has "$etc/nix/machines" "wrapix-builder"
wx unsetup --etc "$etc" --yes --force
check "... but with --force" absent "$etc/ssh/ssh_config.d/100-wrapix-builder.conf"
rm -rf "$etc"; mkdir "$etc"
picture "$etc" >"$tmp/before"
wx setup --etc "$etc" --yes
check "where there was nothing" exists "$etc/nix/machines"
wx unsetup --etc "$etc" --yes
check "... there is nothing afterwards" unchanged

# Killed before any call that changes a name: unsetup puts back what was there.
mkdir "$etc/nix"; printf 'one\n' >"$etc/nix/machines"
picture "$etc" >"$tmp/before"
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	! strace -f -o /dev/null -e trace=rename,renameat,renameat2,linkat,mkdirat,unlinkat \
		-e inject=rename,renameat,renameat2,linkat,mkdirat,unlinkat:signal=KILL:when=$n \
		"$wrapix" setup --etc "$etc" --yes >/dev/null 2>&1 || break
	"$wrapix" unsetup --etc "$etc" --yes >/dev/null 2>&1
	# A directory that setup made before it had a record may stay, and its unfinished record.
	rm -rf "$etc/nix/wrapix-builder.saved.new"; rmdir "$etc/ssh/ssh_config.d" "$etc/ssh" 2>/dev/null
	find "$etc" -name '.*.[0-9n]*' -type f -delete
	check "killed at change $n: put back" unchanged
done
check "the kills came to an end" [ "$n" -gt 6 ]
"$wrapix" unsetup --etc "$etc" --yes >/dev/null
check "... and after a whole one as well" unchanged
mkdir -p "$tmp/store"; echo x >"$tmp/store/machines"; ln -sf "$tmp/store/machines" "$etc/nix/machines"
wx setup --etc "$etc" --yes
check "a link there is somebody's configuration, and not replaced" has "$err" "config nixos"
check "... nor written through" is "$(cat "$tmp/store/machines")" x

# --- what the program says ---
for c in config setup unsetup; do
	wx $c --help
	check "wrapix-builder $c --help" has "$out" "usage: wrapix-builder $c"
done
finish
