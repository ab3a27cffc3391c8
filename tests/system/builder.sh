#!/bin/sh
# SPDX-License-Identifier: MIT
# wrapix-builder in our own engine, with Debian's Nix as a client that builds on it over ssh-ng. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; text in quotes; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/builder.sh"
trap 'builder_stop; tear_down' EXIT

# What the client builds: it says where it was built, and by whom. The shell's own words are all that it needs.
cat >"$tmp/thing.nix" <<'END'
{ n, script ? "" }: derivation {
	name = "thing-${n}"; system = builtins.currentSystem; builder = "/bin/sh";
	args = [ "-c" "${script}\nread -r host </proc/sys/kernel/hostname; echo $host >$out; while read -r k v; do case $k in Uid:) echo $v >>$out;; esac; done </proc/self/status" ];
}
END
# build N [SCRIPT]: on the builder; the path in $path, what Nix says in $err.
build() {
	path=$(NIX_SSHOPTS="-F $keys/ssh_config" timeout 60 nix-build --no-out-link --store "$tmp/client" --max-jobs 0 \
		--builders "ssh-ng://builder@wrapix-builder $(uname -m)-linux - 2 1" "$tmp/thing.nix" --argstr n "$1" --argstr script "${2-}" 2>"$tmp/log/err")
}
result() { cat "$tmp/client$path"; }
is_state() { is "$(state state)" "$1"; }

# --- start ---
wx start --port "$port" --network none
check "start" is "$rc" 0
check "... says where" has "$out" "ssh-ng://builder@localhost:$port is ready"
check "status --json says that it is ready" is_state ready
check "... and where" is "$(state address)" "ssh-ng://builder@localhost:$port"
pid=$(state pid)
wx start
check "a second start finds it" has "$out" "runs already"
check "... and the settings are remembered" is "$(state pid) $(state port)" "$pid $port"
wx start --memory 1G
check "other settings need a restart, and that is said" has "$err" "wrapix-builder restart"
"$sandbox" ps >"$out"
check "'wrapix ps' shows it" has "$out" wrapix-builder
listeners() { # the addresses that somebody listens on at this port, as /proc writes them
	cat /proc/net/tcp /proc/net/tcp6 | awk -v port="$(printf ':%04X' "$port")" '$4 == "0A" && index($2, port) { print substr($2, 1, index($2, ":") - 1) }'
}
check "it listens on 127.0.0.1 alone" is "$(listeners)" 0100007F

# --- inside ---
check "who logs in is no root" is "$(say 'id -un')" builder
caps() { say 'grep -E "^Cap(Prm|Eff|Amb)|^NoNewPrivs|^Seccomp:" /proc/self/status' | tr -d '\n\t '; }
check "... without a right, and with no way to more" is "$(caps)" \
	CapPrm:0000000000000000CapEff:0000000000000000CapAmb:0000000000000000NoNewPrivs:1Seccomp:2
# Root's own: nix-daemon's. CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID NET_BIND_SERVICE SYS_CHROOT.
check "its root has nine rights, and no other" is \
	"$(say 'grep CapPrm /proc/$(pgrep -x nix-daemon | head -n1)/status' | tr -d '\t')" CapPrm:00000000000404fb
check "PID 1 has none" is "$(say 'grep -E "Cap(Prm|Bnd)" /proc/1/status' | head -n1 | tr -d '\t')" CapPrm:0000000000000000
check "ids are a range" is "$(say 'cat /proc/self/uid_map' | awk '{ print $1, $3 }' | tr '\n' ' ')" "0 1 1 65535 "
check "... of which 0 is this user" is "$(say 'cat /proc/self/uid_map' | awk 'NR == 1 { print $2 }')" "$(id -u)"
for what in "unshare -Ur true" "mount -t tmpfs none /tmp" "cat /run/wrapix-builder/host_ed25519" "cat /etc/wrapix/builder/host_ed25519" \
	"touch /usr/x" "ls $keys" "ls $HOME"; do
	say "$what" >"$tmp/log/out" 2>&1
	check "not inside: $what" isnt $? 0
done
check "... where other things can be done" is "$(say 'touch ~/x && echo yes')" yes

# --- building ---
build one
check "a derivation is built over ssh-ng" is $? 0
check "... on the builder" is "$(result | head -n1)" wrapix-builder
check "... by a user of the builder's own for it" is "$(result | sed 1d | cut -d' ' -f1)" "$(say 'getent passwd nixbld1 | cut -d: -f3')"
one=$path
check "the result is in the builder's store, too" exists "$nix/store/${one##*/}"
check "... and is this user's on the disk" is "$(stat -c %u "$nix/store/${one##*/}")" "$(id -u)"
NIX_SSHOPTS="-F $keys/ssh_config" nix store ping --store "ssh-ng://builder@localhost:$port" >"$tmp/log/out" 2>&1
check "ssh-ng://builder@localhost:PORT is a store" is $? 0

# --- who may not ---
ssh_to() { timeout 30 ssh -T -F "$keys/ssh_config" -o BatchMode=yes "$@" </dev/null; }
check "the right key may log in" ssh_to wrapix-builder true
ssh-keygen -q -t ed25519 -N '' -f "$tmp/other"
check "a wrong key may not" fails ssh_to -i "$tmp/other" -o IdentityFile="$tmp/other" -F /dev/null -p "$port" -o UserKnownHostsFile="$keys/known_hosts" builder@127.0.0.1 true
check "... by the key, not by the host" ssh_to -i "$keys/client_ed25519" -F /dev/null -p "$port" -o UserKnownHostsFile="$keys/known_hosts" builder@127.0.0.1 true
printf 'wrapix-builder %s\n' "$(cut -d' ' -f1,2 "$tmp/other.pub")" >"$tmp/known"
check "a wrong host key is refused" fails ssh_to -o UserKnownHostsFile="$tmp/known" wrapix-builder true
NIX_SSHOPTS="-F $keys/ssh_config -o UserKnownHostsFile=$tmp/known" nix store ping --store ssh-ng://builder@wrapix-builder >"$tmp/log/out" 2>&1
check "... to Nix as well" isnt $? 0
check "root may not log in" fails ssh_to -l root wrapix-builder true
ssh -F /dev/null -p "$port" -o UserKnownHostsFile="$keys/known_hosts" -o BatchMode=yes -o PubkeyAuthentication=no -v builder@127.0.0.1 true 2>"$tmp/log/out"
check "keys are all that is taken" has "$tmp/log/out" "Authentications that can continue: publickey"
check "... nothing else" fails grep -q 'can continue: .*[,]' "$tmp/log/out"
ssh_to -W 127.0.0.1:22 wrapix-builder >"$tmp/log/out" 2>&1
check "nothing is forwarded" has "$tmp/log/out" "administratively prohibited"
check "... in the other direction neither" fails ssh_to -o ExitOnForwardFailure=yes -R 0:127.0.0.1:9 wrapix-builder true

# --- setup, as root's Nix would use it ---
mkdir "$tmp/etc"
"$wrapix" setup --etc "$tmp/etc" --yes >/dev/null
path=$(NIX_SSHOPTS="-F $tmp/etc/ssh/ssh_config.d/100-wrapix-builder.conf" timeout 60 nix-build --no-out-link --store "$tmp/client" \
	--max-jobs 0 --builders "@$tmp/etc/nix/machines" "$tmp/thing.nix" --argstr n setup 2>"$tmp/log/err")
check "what setup writes is enough to build" is "$(result | head -n1)" wrapix-builder

# --- restart, and a kill ---
wx restart
check "restart" is "$rc" 0
check "... is another one" isnt "$(state pid)" "$pid"
check "the store is there" say "nix-store --check-validity $one && nix-store --verify --check-contents"
wx stop
check "stop" has "$out" "Stopped."
check "... and it is" is_state stopped
wx stop
check "a second stop finds none" has "$out" "does not run"
for i in 1 2 3 4; do "$wrapix" start >"$tmp/start.$i" 2>&1 & done
wait
check "four starts at once: one starts it, three find it" is "$(cat "$tmp"/start.? | sort | uniq -c | awk '{ print $1, $NF }' | LC_ALL=C sort | tr '\n' ' ')" "1 ready 3 already "
pid=$(state pid)
build long 'echo half >$out; echo begun >&2; while :; do read x </dev/zero; done' &
await grep -q begun "$tmp/log/err"
half=$(find "$nix/store" -maxdepth 1 -name '*-thing-long')
check "a build that is under way" has "$half" half
everybody=$(below "$pid")
check "the builder's processes" test "$(echo "$everybody" | wc -l)" -gt 3
kill -9 "$pid"
wait
none_left() { for p in $everybody; do ! exists "/proc/$p" || return 1; done; }
check "the supervisor's end is everybody's" await none_left
check "... and status knows" is_state stopped
wx start
check "it starts again" is "$rc" 0
check "the store is consistent" say nix-store --verify --check-contents
check "... and the half of a build is none" fails say "nix-store --check-validity /nix/store/${half##*/}"
check "... nor is its directory left" is "$(ls -A "$nix/var/nix/builds")" ""
build long
check "the same name can be built" is "$(result | head -n1)" wrapix-builder

# --- a port that is taken ---
mkfifo "$tmp/hold"
python3 -c 'import socket, sys; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname()[1], flush=True); sys.stdin.read()' >"$tmp/taken" <"$tmp/hold" &
started=$!
exec 7>"$tmp/hold"
await [ -s "$tmp/taken" ]
wx restart --port "$(cat "$tmp/taken")"
check "a port that somebody has is an error that says so" grep -qE "wrapix-builder: .*$(cat "$tmp/taken").*(in use|taken)" "$err"
exec 7>&-
# Somebody else's ssh server, and one who sends one byte and no more.
for greeting in SSH-2.0-other S; do
	rm -f "$tmp/more"
	mkfifo "$tmp/more"
	python3 -c 'import socket, sys
s, kept = socket.create_server(("127.0.0.1", 0)), []
print(s.getsockname()[1], flush=True)
while True:
    kept.append(s.accept()[0])
    kept[-1].send(sys.argv[1].encode())' "$greeting" >"$tmp/more" &
	started="$started $!"
	read -r taken <"$tmp/more"
	wx start --port "$taken"
	check "... also when that one greets: $greeting" grep -qE "wrapix-builder: .*$taken.*(in use|taken)" "$err"
done

# --- the network goes ---
wx start --port "$port" --network open
pid=$(state pid)
uplink=$(pgrep -P "$pid" 'passt|pasta|slirp4netns')
check "the open network has a program outside" isnt "$uplink" ""
kill -9 "$uplink"
await grep -q "has ended, and the sandbox's network with it" "$home/.local/state/wrapix/builder/log"
check "one that is killed is told in the log" has "$home/.local/state/wrapix/builder/log" "has ended, and the sandbox's network with it"
check "... and the builder goes on" is "$(say 'echo here') $(state pid)" "here $pid"
wx restart --network none

# --- limits and the end of a quiet day ---
# Where a group of the kernel's holds it there is nothing to say.
limit_is_honest() { grep -q 'memory 1024 MiB: ' "$err" || lacks "$home/.local/state/wrapix/builder/log" "memory 1024 MiB: "; }
wx restart --port "$port" --cores 1
check "restart with limits" is "$rc" 0
wx restart --memory 1G
check "a limit that is weaker than it sounds is said" limit_is_honest
wx restart --memory 0 --idle 1s
# On a busy machine it may have stopped before somebody came.
tries=10
until used=$(say 'grep -E "^(cores|max-jobs)" /run/wrapix-builder/nix.conf; sleep 2.5; echo here' | tr '\n' ' ') && [ -n "$used" ] || [ $((tries -= 1)) -lt 1 ]; do wx start; done
check "Nix knows the cores" is "${used%here *}" "max-jobs = 1 cores = 1 "
check "one that is used does not stop" is "${used##* 1 }" "here "
check "one that nobody uses stops by itself" await is_state stopped
check "... and says why" has "$home/.local/state/wrapix/builder/log" "nobody was here for 1 s"
wx logs
check "logs shows it" has "$out" "nobody was here for 1 s"
wx ssh -- true
check "ssh into none is refused" has "$err" "does not run"

# --- gc ---
wx start --idle never
check "there is something to free" exists "$nix/store/${one##*/}"
wx gc --dry-run
check "gc --dry-run lists it" has "$out" "$one"
check "... and leaves it" exists "$nix/store/${one##*/}"
wx gc
check "gc removes it" absent "$nix/store/${one##*/}"
"$wrapix" stop >/dev/null
finish
