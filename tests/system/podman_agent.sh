#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
# SPDX-License-Identifier: MIT
# What an agent needs, in a container of podman's: it pushes with a deploy key and signs, through our ssh-agent; its
# token is put in by the relay, outside; its messages reach the desktop. What each refuses is in keys.sh,
# credentials.sh and notify.sh.
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/podman.sh"
PATH=$PATH:/usr/sbin:/sbin
need_podman "$@"
be_user "$@"
set_up
podman_up
rootfs "$tmp/root" bash curl git ssh ssh-add ssh-keygen
[ -z "${WRAPIX_TEST_CLAUDE-}" ] || rootfs_libraries "$tmp/root" "$(readlink -f "$WRAPIX_TEST_CLAUDE")"
wx image build --from "rootfs:$tmp/root" --name base
check "an image with git and ssh" is "$rc" 0
in_podman() { # in_podman SCRIPT [OPTION...]
	in_podman_script=$1
	shift
	wx run --engine podman --network none "$@" -- sh -c "$in_podman_script"
}

printed_beside() { is "$(cat "$out")" "$1"; } # whatever was said on standard error

# --- deploy keys: a real sshd with an account that can do nothing but git ---

keys=$home/.ssh/deploy_keys
me=$(id -un)
git config --global user.name "Key Tester"
git config --global user.email tester@example.com
git init -q -b main
mkdir "$home/.ssh"
wx key add site
echo "restrict,command=\"git-shell -c \\\"\$SSH_ORIGINAL_COMMAND\\\"\" $(cat "$keys/site.pub")" >"$tmp/authorized"
git init -q --bare -b main "$tmp/repo.git"
ssh-keygen -q -t ed25519 -N '' -f "$tmp/hostkey"
port=$(python3 "$top/tests/lib/port.py")
printf '%s\n' "Port $port" "ListenAddress 127.0.0.1" "HostKey $tmp/hostkey" "AuthorizedKeysFile $tmp/authorized" \
	"PidFile none" "UsePAM no" "StrictModes no" "PasswordAuthentication no" "KbdInteractiveAuthentication no" >"$tmp/sshd"
"$(command -v sshd)" -D -f "$tmp/sshd" -E "$tmp/sshd.log" &
started="${started-} $!"
await sh -c "ssh-keyscan -p $port 127.0.0.1 2>/dev/null | grep -q ."
git remote add origin "ssh://$me@127.0.0.1:$port$tmp/repo.git"
wx key trust --yes "127.0.0.1:$port"
echo one >file
git add file
git commit -qm one
keyed() { in_podman "$1" --host-port "$port" --deploy-key site; }
keyed 'echo two >file; git commit -qam two && git push -q origin main && git log -1 --format=%G? && git verify-commit HEAD 2>&1'
check "a commit is signed, and verifies inside" has "$out" 'Good "git" signature for tester@example.com'
echo "tester@example.com $(cut -d' ' -f1,2 "$keys/site-signing.pub")" >"$tmp/signers"
check "... and on the host, as it was pushed" is "$(git -C "$tmp/repo.git" -c gpg.ssh.allowedSignersFile="$tmp/signers" log -1 --format='%s %G? %GS' main)" "two G tester@example.com"
keyed 'ssh-add -l | cut -d" " -f2'
check "the agent has these two keys" printed "$(ssh-keygen -lf "$keys/site.pub" | cut -d' ' -f2)
$(ssh-keygen -lf "$keys/site-signing.pub" | cut -d' ' -f2)"
part=$(sed -n 4p "$keys/site") # of the secret half
keyed "echo '$part' >/tmp/found; grep -rlF '$part' /etc /home /opt /run /tmp /workspace 2>/dev/null; ssh-add -D; ssh-add -L | wc -l"
check "... neither of which is in a file inside, nor can be taken away" printed_beside "/tmp/found
2"
keyed 'git push -q origin main:other'
wx log --json
check "a signature is an event" has "$out" '"keyName":"site"'
ssh-keygen -q -t ed25519 -N '' -f "$tmp/otherkey"
sed "s|^\\[127.0.0.1\\]:$port .*|[127.0.0.1]:$port $(cut -d' ' -f1,2 "$tmp/otherkey.pub")|" "$home/.config/wrapix/known_hosts" >"$tmp/hosts"
cp "$tmp/hosts" "$home/.config/wrapix/known_hosts"
keyed 'git push -q -o x origin main:third'
check "a host with another key is refused" has "$err" "HOST IDENTIFICATION HAS CHANGED"
check "... (where a push before it came through)" is "$(git -C "$tmp/repo.git" branch --format='%(refname:short)' | tr '\n' ' ')" "main other "

# --- a brokered credential ---

token=sk-test-REALTOKEN-0123456789
mkdir "$tmp/tls" "$tmp/bin"
printf '#!/bin/sh\nexec sh -c "$SCRIPT"\n' >"$tmp/bin/claude"
chmod +x "$tmp/bin/claude"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost -keyout "$tmp/tls/key.pem" -out "$tmp/tls/cert.pem" 2>/dev/null
node "$top/tests/lib/fake-anthropic.mjs" --tls "$tmp/tls" --log "$tmp/api.log" >"$tmp/api.said" &
started="${started-} $!"
await test -s "$tmp/api.said"
mkdir -p "$home/.config/wrapix"
printf '{"credentials": {"CLAUDE_CODE_OAUTH_TOKEN": {"brokered": true, "upstream": "https://localhost:%s/v1/"}}}' \
	"$(sed 's/ready //' "$tmp/api.said")" >"$home/.config/wrapix/config.json"
for net in none filtered; do
	: >"$tmp/api.log"
	script='echo "$CLAUDE_CODE_OAUTH_TOKEN"
		ask() { curl -s -o /tmp/body -w "%{http_code} " --max-time 20 -d "{}" "$@" "$ANTHROPIC_BASE_URL/v1/messages" || echo "curl: $?"; }
		ask -H "authorization: Bearer $CLAUDE_CODE_OAUTH_TOKEN"; ask -H "authorization: Bearer sk-other"'
	PATH=$tmp/bin:$PATH SSL_CERT_FILE=$tmp/tls/cert.pem CLAUDE_CODE_OAUTH_TOKEN=$token wx run --engine podman --network $net \
		--agent claude --env "SCRIPT=$script"
	check "$net: inside there is a placeholder, which works, and nobody else's" is "$(xargs <"$out")" "wrapix-brokered-credential 200 403"
	check "$net: ... because outside the value is put in its place" has "$tmp/api.log" "\"authorization\":\"Bearer $token\""
done
rm "$home/.config/wrapix/config.json"

# --- a real Claude Code, whose hooks reach the desktop ---

export WRAPIX="$wrapix" NOTIFY_TMP="$tmp/n" PYTHONPATH="$top/tests/lib" PYTHONDONTWRITEBYTECODE=1
export NOTIFY_ENGINE=podman
mkdir "$NOTIFY_TMP"
if [ -n "${WRAPIX_TEST_CLAUDE-}" ]; then
	check "Claude Code's hooks are on the desktop, with the real reason" python3 "$here/notify_claude.py"
else
	skip "Claude Code's hooks" "./test installs it (WRAPIX_TEST_CLAUDE)"
fi
check "no container is left" await no_containers
finish
