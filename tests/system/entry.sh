#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
# SPDX-License-Identifier: MIT
# wrapix-entry, the entrypoint of images, in sandboxes of our own engine: who the command is, what he finds, how it ends.
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up

# --- an image of next to nothing, with an agent ---
mkdir -p "$tmp/root/usr/bin" "$tmp/bin"
cp /bin/busybox "$tmp/root/usr/bin/"
for name in sh id cat stat env unshare kill grep umount; do ln -s busybox "$tmp/root/usr/bin/$name"; done
ln -s usr/bin "$tmp/root/bin"
printf 'root:x:0:0::/root:/bin/sh\ndaemon:x:1:1::/:/bin/false\n' >"$tmp/root/passwd"
mkdir "$tmp/root/etc"
mv "$tmp/root/passwd" "$tmp/root/etc/passwd"
printf '#!/bin/sh\necho "agent $*"\nexit 5\n' >"$tmp/bin/claude"
chmod 755 "$tmp/bin/claude"
PATH=$tmp/bin:$PATH wx image build --from "rootfs:$tmp/root" --name entry --agent claude -o "$tmp/layout"
check "an image is built, with an agent" is "$rc" 0
wx image show entry
check "its entrypoint is ours" grep -q '^entrypoint  */opt/wrapix/bin/wrapix-entry$' "$out"
check "its command is the agent, with its arguments" grep -q '^command  *claude --dangerously-skip-permissions$' "$out"
merged=$("$wrapix" image unpack entry)
check "its users are the source's, and ours" is "$(cut -d: -f1 "$merged/etc/passwd" | tr '\n' ' ')" "root daemon wrapix "
check "it has pinned host keys, private places and the client for messages" sh -c 'grep -q ^github.com "$1/etc/ssh/ssh_known_hosts" &&
	[ "$(stat -c %a "$1/tmp" "$1/var/tmp" | sort -u)" = 1777 ] && [ -d "$1/workspace" ] && [ -x "$1/opt/wrapix/bin/wrapix-notify" ]' sh "$merged"
check "... and the agent's word about where it is" has "$merged/etc/claude-code/CLAUDE.md" "sandbox"

entry=/opt/wrapix/bin/wrapix-entry
# entered SCRIPT [OPTION...]: in a sandbox from the image, by way of the entrypoint.
entered() {
	entered_script=$1
	shift
	wx run --image entry --network none "$@" -- $entry sh -c "$entered_script"
}

# What it printed, whatever the engine says of --allow-nested; and how the entrypoint itself fails.
said() { is "$(cat "$out")" "$1"; }
fails_with() { is "$rc" 125 && grep -q "^wrapix-entry: .*$1" "$err" && [ ! -s "$out" ]; }

# --- who ---
entered 'echo "$(id -u)"; exit 7'
check "he who has a name stays who he is" said "$(id -u)"
check "... and the exit status is the command's" is "$rc" 7
entered 'echo "$(id -u) $(id -g) $(id -un) $HOME"; stat -c %u . ~ ~/.claude.json; >made; stat -c %u made; grep -E "CapEff|CapBnd|NoNewPrivs" /proc/self/status' \
	--allow-nested --env WRAPIX_UID=4242 --env WRAPIX_GID=4343 --env WRAPIX_USER=anna
check "he can be somebody else, and so is what he sees and makes" said "$(printf '4242 4343 anna /home/wrapix\n4242\n4242\n4242\n4242\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1')"
check "... and outside it is the user's own" is "$(stat -c %u made)" "$(id -u)"
rm made
# As a virtual machine's share shows it: we are root, and everything is root's.
wx run --image entry --network none --allow-nested -- unshare -Ur -m sh -c \
	'stat -c %u /workspace /etc/passwd / ~; id -u; exec env WRAPIX_UID=4242 '$entry' sh -c "id -u; id -un; >made; stat -c %u made . ~; exit 9"'
check "where all is root's, he is himself all the same" said "$(printf '0\n0\n0\n0\n0\n4242\nwrapix\n4242\n4242\n4242')"
check "... with his exit status" is "$rc" 9
check "... and outside it is the user's own" is "$(stat -c %u made)" "$(id -u)"
rm made
for value in x -1 4294967295 1x ''; do
	entered 'echo started' --env "WRAPIX_UID=$value"
	check "WRAPIX_UID='$value' is refused" fails_with "WRAPIX_UID"
done
entered 'echo started' --env WRAPIX_USER=a:b
check "so is a name that a table cannot hold" fails_with "WRAPIX_USER"

# --- what he finds ---
entered 'env' --env ANTHROPIC_API_KEY=letters-0123456789-abcdefgh --env WRAPIX_USER=anna
check "what was for us the command does not see" lacks "$out" WRAPIX_USER
entered 'cat ~/.claude.json ~/.claude/settings.json' --env ANTHROPIC_API_KEY=letters-0123456789-abcdefgh
check "the agent's settings are in the home, with the end of the key" has "$out" '"-0123456789-abcdefgh"'
check "... and its hooks" has "$out" wrapix-notify
entered 'cat ~/.claude.json' --env 'ANTHROPIC_API_KEY=a"b'
check "a key that would break them is left out" lacks "$out" 'a"b'
mkdir -p "$home/.local/share"
echo mine >"$tmp/settings"
entered 'cat ~/.claude/settings.json' --mount "$tmp/settings:~/.claude/settings.json:ro"
check "a file that is there stays" said mine
wx run --image entry --network none -- $entry
check "without a command it is a shell" is "$rc" 0
wx run --image entry --network none -- $entry claude --dangerously-skip-permissions
check "the agent runs, and its exit status comes back" is "$rc $(cat "$out")" "5 agent --dangerously-skip-permissions"

# --- what an engine stages ---
mkdir -p "$tmp/stage/tree/home/wrapix/.sub"
echo staged >"$tmp/stage/tree/home/wrapix/.sub/file"
printf 'A=b c\nd\0WRAPIX_USER=staged\0' >"$tmp/stage/env"
entered 'echo "$A"; id -un; cat ~/.sub/file' --allow-nested --mount "$tmp/stage:/stage:ro" --env WRAPIX_STAGE=/stage --env WRAPIX_UID=4242
check "a staged environment and tree are taken" said "$(printf 'b c\nd\nstaged\nstaged')"
entered 'echo started' --env WRAPIX_STAGE=/nosuch
check "one that is not there is an error" fails_with "/nosuch"

# --- what a virtual machine's engine stages: all is root's, and files are mounted over places ---
mkdir -p "$tmp/vm/stage/files" "$tmp/vm/live" "$tmp/vm/said"
echo staged >"$tmp/vm/stage/files/0"
echo live >"$tmp/outside"
ln "$tmp/outside" "$tmp/vm/live/1"
echo kept >keep
printf 'bind\0/stage/files/0\0/etc/over\0bind\0/live/1\0/etc/live\0read-only\0\0/workspace/keep\0read-only\0\0/nosuch\0' >"$tmp/vm/stage/binds"
printf 'PATH=/ours\0WRAPIX_UID=4242\0WRAPIX_CWD=/workspace/sub\0WRAPIX_MARK=/said/started\0' >"$tmp/vm/stage/env"
mkdir -p sub
as_root() { # as_root SCRIPT [OPTION...]: the entrypoint where everybody is root, as a share shows it
	as_root_script=$1
	shift
	wx run --image entry --network none --allow-nested --mount "$tmp/vm/stage:/stage:ro" --mount "$tmp/vm/live:/live" --mount "$tmp/vm/said:/said" "$@" -- \
		unshare -Ur -m busybox env WRAPIX_STAGE=/stage $entry sh -c "$as_root_script"
}
as_root 'cat /etc/over; echo x >/etc/over || echo no; cat /etc/live; echo written >/etc/live; echo x >../keep || echo no; id -u; busybox stat -c %u ../keep /etc/live; pwd; echo "${PATH%%:*}"; umount /etc/over || echo no' 2>/dev/null
check "staged files stand in their places, read-only or live, and he cannot undo it" said "$(printf 'staged\nno\nlive\nno\n4242\n4242\n4242\n/workspace/sub\n/ours\nno')"
check "... and what he wrote is in the file outside" is "$(cat "$tmp/outside") $(cat keep)" "written kept"
check "... and he has left a mark" test -e "$tmp/vm/said/started"
printf 'bind\0/stage/files/0\0' >"$tmp/vm/stage/binds"
as_root 'echo started'
check "a list that is cut short is an error" fails_with "cut short"
printf 'bind\0/nosuch\0/etc/over\0' >"$tmp/vm/stage/binds"
as_root 'echo started'
check "so is a file that is not there" fails_with "/nosuch"
rm "$tmp/vm/stage/binds"

# --- the supervisor's end is everybody's ---
cat >"$tmp/supervisor.py" <<'EOF'
import os, socket, sys, time
path, how = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
print("up", flush=True)
link, _ = listener.accept()
def heard():
    got = link.recv(2, socket.MSG_WAITALL)
    return chr(got[0]) + str(got[1]) if got else "end"
said = [heard()]
link.send(b"G\0")
said.append(heard())
if how == "signal":
    while not os.path.exists("ready"):
        time.sleep(0.01)
    link.send(bytes([ord("S"), 10]))
    said += [heard(), heard()]
elif how == "stop":
    said.append(heard())
    link.send(bytes([ord("S"), 18]))
    said.append(heard())
    open("ready", "w").close()
    said.append(heard())
else:
    link.close()
print(" ".join(said), flush=True)
EOF
linked() { # linked HOW SCRIPT: what the supervisor hears; the exit status is the entrypoint's
	rm -f "$tmp/vm/said/link.sock"
	mkfifo "$tmp/heard"
	python3 "$tmp/supervisor.py" "$tmp/vm/said/link.sock" "$1" >"$tmp/heard" &
	started="${started-} $!"
	exec 7<"$tmp/heard"
	rm "$tmp/heard"
	timeout 120 sh -c 'read -r _' <&7
	printf 'WRAPIX_UID=4242\0WRAPIX_LINK=/said/link.sock\0' >"$tmp/vm/stage/env"
	as_root "$2"
	linked_rc=$rc
	heard=$(timeout 120 head -n 1 <&7)
	exec 7<&-
}
linked signal 'trap "exit 5" USR1; >ready; while :; do busybox sleep 0.05; done'
check "the supervisor is told, and its signals arrive" is "$linked_rc $heard" "5 H0 R0 X5 end"
rm ready
linked stop 'kill -STOP $$; until [ -e ready ]; do busybox sleep 0.05; done; exit 6'
check "... that the command was stopped, and goes on, too" is "$linked_rc $heard" "6 H0 R0 T19 C0 X6"
linked leave 'busybox sleep 60 & busybox sleep 60'
check "without a supervisor everything inside ends" is "$linked_rc $heard" "137 H0 R0"

# --- ports that are sockets outside ---
printf 'WRAPIX_UID=4242\0WRAPIX_FORWARD=3128=/said/net.sock 3129=/said/nosuch.sock\0' >"$tmp/vm/stage/env"
python3 -c '
import os, socket, sys
listener = socket.socket(socket.AF_UNIX); listener.bind(sys.argv[1] + ".new"); listener.listen()
os.rename(sys.argv[1] + ".new", sys.argv[1])
while True:
    c, _ = listener.accept(); data = b""
    while chunk := c.recv(65536): data += chunk
    c.sendall(b"%d bytes\n" % len(data)); c.close()' "$tmp/vm/said/net.sock" &
started="${started-} $!"
check "a server listens outside" await test -S "$tmp/vm/said/net.sock"
as_root 'busybox dd if=/dev/zero bs=1000 count=3000 2>/dev/null | busybox nc 127.0.0.1 3128; busybox nc 127.0.0.1 3129 </dev/null; for i in 1 2 3; do echo $i | busybox nc 127.0.0.1 3128 & done; wait' 2>/dev/null
check "ports inside are sockets outside, for many at once" said "$(printf '3000000 bytes\n2 bytes\n2 bytes\n2 bytes')"
printf 'WRAPIX_FORWARD=x=/y\0' >"$tmp/vm/stage/env"
as_root 'echo started'
check "a list that is none is an error" fails_with "WRAPIX_FORWARD"

# --- git and ssh, for real: the host's own programs ---
ssh-keygen -q -t ed25519 -N '' -C '' -f "$tmp/deploy"
ssh-keygen -q -t ed25519 -N '' -C '' -f "$tmp/signing"
chmod 644 "$tmp/deploy" "$tmp/signing" # as a share shows them
bin=$(dirname "$wrapix")/../entry/wrapix-entry
with_keys() { # with_keys SCRIPT [OPTION...]
	with_keys_script=$1
	shift
	GIT_COMMITTER_EMAIL=a@b.example GIT_AUTHOR_EMAIL=a@b.example GIT_AUTHOR_NAME=A GIT_COMMITTER_NAME=A \
		wx run --network none --mount "$bin:/opt/entry:ro" --mount "$tmp/deploy:/keys/deploy:ro" --mount "$tmp/signing:/keys/signing:ro" \
		--env WRAPIX_DEPLOY_KEY=/keys/deploy --env WRAPIX_SIGNING_KEY=/keys/signing "$@" -- /opt/entry sh -c "$with_keys_script"
}
with_keys 'git init -q r && cd r && git commit -q --allow-empty -m x && git verify-commit HEAD 2>&1 && git log --format=%G?'
check "commits are signed, and the signature is good" is "$rc $(tail -n 1 "$out")" "0 G"
rm -rf r
with_keys 'git init -q r && cd r && git commit -q --allow-empty -m x && git log --format=%G?' --env WRAPIX_GIT_SIGN=0
check "... unless that is not wanted" said N
rm -rf r
with_keys 'ssh -G git@github.com | grep -iE "^(identityfile|identitiesonly|stricthostkeychecking) "; stat -c "%a" ~/.ssh ~/.ssh/wrapix-deploy; echo "$GIT_SSH_COMMAND"'
check "ssh uses the key, from a copy that it accepts, and learns no host" said "$(printf 'identitiesonly yes\nstricthostkeychecking true\nidentityfile /home/wrapix/.ssh/wrapix-deploy\n700\n600\nssh -o IdentitiesOnly=yes -o StrictHostKeyChecking=yes -i /home/wrapix/.ssh/wrapix-deploy')"
with_keys 'echo started' --env WRAPIX_DEPLOY_KEY=/nosuch
check "a key that is not there is said, and the command runs" is "$(cat "$out") $(grep -c "wrapix-entry: warning: .*/nosuch" "$err")" "started 1"
with_keys 'echo started' --env WRAPIX_SIGNING_KEY=/etc/passwd
check "so is one that is none" is "$(cat "$out") $(grep -c "no private key" "$err")" "started 1"

# --- how it ends ---
entered 'kill -9 $$'
check "killed by a signal is 128 and the signal" is "$rc" 137
wx run --image entry --network none -- $entry nosuch
check "a command that is not there is 127" is "$rc" 127
wx run --image entry --network none -- $entry /etc/passwd
check "one that cannot run is 126" is "$rc" 126
mkfifo up
"$wrapix" run --image entry --network none --name signalled -- $entry sh -c 'trap "" HUP; trap "exit 9" TERM; echo up >up; while :; do busybox sleep 0.05; done' >"$tmp/log/out" 2>&1 &
pid=$!
started="${started-} $pid"
hear up
await sh -c "'$wrapix' ps | grep -q signalled" # which the command does not wait for
"$wrapix" stop signalled >/dev/null 2>&1
wait "$pid"
check "signals reach the command" is $? 9
entered 'busybox sleep 0.2 & (busybox true &); exit 3'
check "orphans do not keep it" is "$rc" 3
finish
