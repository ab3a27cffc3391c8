#!/bin/sh
# SPDX-License-Identifier: MIT
# Deploy keys: made, listed, removed; pushing to a real sshd with a restricted account, signing commits, and the
# ssh-agent attacked from inside. What is refused has a control beside it that works.
#
# shellcheck disable=SC2016,SC2029,SC2154,SC1091 # scripts for other shells; variables of the library
# shellcheck source=../lib/system.sh
. "$(dirname -- "$0")/../lib/system.sh"
PATH=$PATH:/usr/sbin:/sbin
be_user "$@"
set_up
cp "$top/tests/lib/agentattack.py" "$project/"

keys=$home/.ssh/deploy_keys
me=$(id -un)
# As refused, after something was printed.
refused_after() { is "$rc" "$1" && has "$err" "$2"; }
mode() { stat -c %a "$1"; }

# --- making and looking ---

git init -q -b main "$project"
git config --global user.name "Key Tester"
git config --global user.email tester@example.com
(umask 0; mkdir "$home/.ssh"; mkdir "$home/.ssh/deploy_keys")

wx key
check "without keys the list says how to make some" has "$out" "wrapix key add"
wx key add site
check "key add makes a pair" ended 0
check "... with the modes that ssh wants" is "$(mode "$keys") $(mode "$keys/site") $(mode "$keys/site.pub") $(mode "$keys/site-signing") $(mode "$keys/site-signing.pub")" "700 600 644 600 644"
check "... of Ed25519, with the comments" is "$(cut -d' ' -f1,3 "$keys/site.pub" "$keys/site-signing.pub" | tr '\n' ' ')" "ssh-ed25519 deploy-key-site ssh-ed25519 signing-key-site "
check "... and shows both" has "$out" "$(cut -d' ' -f2 "$keys/site-signing.pub")"
check "... and where to paste them, for every forge" has "$out" "Gitea, Forgejo"
check "... and leaves nothing else" is "$(find "$keys" -mindepth 1 -printf "%f\n" | sort | tr '\n' ' ')" "site site-signing site-signing.pub site.pub "
wx key list
check "key list has the fingerprints of ssh-keygen" has "$out" "$(ssh-keygen -lf "$keys/site.pub" | cut -d' ' -f2)"
wx key list --json
check "... as JSON too" is "$(python3 -c 'import json,sys; p=json.load(sys.stdin)[0]; print(p["name"], p["signing"]["fingerprint"])' <"$out")" "site $(ssh-keygen -lf "$keys/site-signing.pub" | cut -d' ' -f2)"
wx key show site
check "key show has the public keys" has "$out" "$(cut -d' ' -f1,2 "$keys/site.pub")"
was=$(cat "$keys/site")
wx key add site
check "key add overwrites nothing" refused 125 "is there already"
check "... not a byte" is "$(cat "$keys/site")" "$was"
wx key add --force site
check "key add --force keeps a backup" is "$(cat "$keys"/backup/site.*/site)" "$was"
check "... and makes new ones" isnt "$(cat "$keys/site")" "$was"
wx key add
check "the name is the directory's and the machine's" exists "$keys/project-$(hostname | cut -d. -f1).pub"
wx key remove --yes
check "key remove removes that" absent "$keys/project-$(hostname | cut -d. -f1)"
wx key remove site
check "key remove asks first" refused 2 "nobody can be asked"
check "... and says how to do without, for this one" has "$err" "hint: wrapix key remove site --yes"
for name in ../x x-signing .x '' 'a b' -x; do
	wx key add -- "$name"
	check "no key is called '$name'" refused 2 "name"
done
wx key ad
check "an unknown action names the nearest" has "$err" "wrapix key add"

# --- registering ---

mkdir "$tmp/bin"
cat >"$tmp/bin/gh" <<-EOF
	#!/bin/sh
	echo "\$*" >>"$tmp/gh"
	[ "\$1 \$2" != "ssh-key add" ] || { echo "HTTP 404: admin:ssh_signing_key"; exit 1; }
EOF
chmod +x "$tmp/bin/gh"
git remote add origin https://github.com/me/repo.git
PATH=$tmp/bin:$PATH wx key add hub
check "gh registers the deploy key with write access" has "$tmp/gh" "repo deploy-key add $keys/hub.pub --repo me/repo --title hub --allow-write"
check "... and tries the signing key" has "$tmp/gh" "ssh-key add $keys/hub-signing.pub --type signing --title signing-hub"
check "what gh cannot do is said" has "$err" "gh did not register the signing key: HTTP 404"
check "... and where to paste it" has "$out" "https://github.com/me/repo/settings/keys"
rm "$tmp/gh"
PATH=$tmp/bin:$PATH wx key add hub2 --no-gh
check "--no-gh leaves gh alone" absent "$tmp/gh"
git remote remove origin

# --- a git host ---

# start_host NAME HOSTKEY-TYPE: a real sshd with an account that can do nothing but git. Sets $port, which is held by who starts it
# for each connection: nobody else can have got it meanwhile.
start_host() {
	host=$tmp/$1
	mkdir "$host"
	ssh-keygen -q -t "$2" -N '' -f "$host/key"
	printf '%s\n' "HostKey $host/key" "AuthorizedKeysFile $tmp/authorized" \
		"PidFile none" "UsePAM no" "StrictModes no" "PasswordAuthentication no" "KbdInteractiveAuthentication no" >"$host/config"
	mkfifo "$host/port"
	python3 -c 'import socket, subprocess, sys
listener = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[1], "w") as told: print(listener.getsockname()[1], file=told)
while True:
    peer = listener.accept()[0]
    subprocess.Popen(sys.argv[2:], stdin=peer, stdout=peer, stderr=subprocess.DEVNULL)
    peer.close()' "$host/port" "$(command -v sshd)" -i -f "$host/config" -E "$host/log" &
	started="${started-} $!"
	read -r port <"$host/port"
}
echo "restrict,command=\"git-shell -c \\\"\$SSH_ORIGINAL_COMMAND\\\"\" $(cat "$keys/site.pub")" >"$tmp/authorized"
git init -q --bare -b main "$tmp/repo.git"
start_host ed ed25519
ed=$port
start_host ecdsa ecdsa
ecdsa=$port
start_host rsa rsa
rsa=$port
start_host other ed25519
other=$port
url=ssh://$me@127.0.0.1:$ed$tmp/repo.git
git remote add origin "$url"

# --- trusting and testing ---

wx key test site
check "key test wants the host pinned" refused 125 "[127.0.0.1]:$ed' are not pinned"
wx key trust "127.0.0.1:$ed"
check "key trust shows the fingerprint" has "$out" "$(ssh-keygen -lf "$tmp/ed/key.pub" | cut -d' ' -f2)"
check "... and asks" is "$rc" 2
check "... and pins nothing by itself" absent "$home/.config/wrapix/known_hosts"
wx key trust "127.0.0.1:$ed" --fingerprint "$(ssh-keygen -lf "$tmp/other/key.pub" | cut -d' ' -f2)"
check "another fingerprint is not pinned" is "$rc $(cat "$home/.config/wrapix/known_hosts" 2>/dev/null)" "125 "
wx key trust "127.0.0.1:$ed" --fingerprint "$(ssh-keygen -lf "$tmp/ed/key.pub" | cut -d' ' -f2)"
check "the right one is" has "$home/.config/wrapix/known_hosts" "[127.0.0.1]:$ed $(cut -d' ' -f1,2 "$tmp/ed/key.pub")"
wx key trust --yes "127.0.0.1:$ecdsa"
wx key trust --yes "127.0.0.1:$rsa"
wx key trust --yes "127.0.0.1:$rsa"
check "a host is pinned once" lines "$home/.config/wrapix/known_hosts" 3
wx key trust github.com
check "built-in keys stay" refused 125 "built in"
wx key test site
check "key test: it can read and write" is "$(tail -n 2 "$out" | tr -s ' ' | tr '\n' ' ')" "read yes write yes "
cat >"$tmp/bin/ssh" <<-EOF
	#!/bin/sh
	[ "\$1" != -V ] || { echo "OpenSSH_8.4p1 Debian-5, OpenSSL" >&2; exit; }
	exec $(command -v ssh) "\$@"
EOF
chmod +x "$tmp/bin/ssh"
PATH=$tmp/bin:$PATH wx key test site
check "... and an ssh that is too old for the inside is said" has "$err" "OpenSSH 8.4 cannot use the key inside"
rm "$tmp/bin/ssh"
wx key test hub
check "key test: a key that is not registered" refused_after 125 "Permission denied"

# --- inside ---

ports="--host-port $ed --host-port $ecdsa --host-port $rsa --host-port $other"
# keyed SCRIPT [OPTION...]
keyed() {
	keyed_script=$1
	shift
	# shellcheck disable=SC2086 # words
	inside "$keyed_script" $ports --deploy-key site "$@"
}
echo one >file
git add file
git commit -qm one
keyed 'git push -q origin main && git fetch -q && git clone -q "$(git remote get-url origin)" /tmp/r && cat /tmp/r/file'
check "push, fetch and clone" printed one
check "... arrived" is "$(git -C "$tmp/repo.git" log -1 --format=%s main)" one
keyed 'env -u GIT_SSH_COMMAND git fetch -q; env -u SSH_AUTH_SOCK git fetch -q; ssh -p '"$ed"' -T '"$me"'@127.0.0.1'
check "plain ssh logs in too" has "$err" "unrecognized command"
check "... and git, by either way" lines "$err" 1
for kind in ecdsa rsa; do
	at=; eval "at=\$$kind"
	keyed "git ls-remote ssh://$me@127.0.0.1:$at$tmp/repo.git main | cut -f2"
	check "a host whose key is $kind" printed refs/heads/main
done
keyed 'echo two >file; git commit -qam two && git push -q origin main && git log -1 --format=%G? && git verify-commit HEAD 2>&1'
check "a commit is signed, and verifies inside" has "$out" 'Good "git" signature for tester@example.com'
echo "tester@example.com $(cut -d' ' -f1,2 "$keys/site-signing.pub")" >"$tmp/signers"
check "... and on the host, as it arrived" is "$(git -C "$tmp/repo.git" -c gpg.ssh.allowedSignersFile="$tmp/signers" log -1 --format='%s %G? %GS' main)" "two G tester@example.com"
keyed 'git tag plain && git tag -s -m signed t1 && git verify-tag t1 2>&1'
check "tags are signed when asked" has "$out" "Good"
WRAPIX_GIT_SIGN=0 keyed 'git commit -q --allow-empty -m unsigned && git log -1 --format=%G?'
check "WRAPIX_GIT_SIGN=0" printed N
keyed 'ssh-add -l | cut -d" " -f2'
check "the agent has two keys" printed "$(ssh-keygen -lf "$keys/site.pub" | cut -d' ' -f2)
$(ssh-keygen -lf "$keys/site-signing.pub" | cut -d' ' -f2)"
keyed 'git commit -q --allow-empty -m three; git fetch -q'
wx log --json
check "each signature is an event, with its key, its host and its process" is "$(python3 -c '
import json, sys
for line in sys.stdin:
    e = json.loads(line)
    if e.get("type") == "signature":
        print(e["key"], e["keyName"], e["number"], e.get("name"), e.get("user"), e["process"]["comm"])' <"$out")" "signing site 1 None None ssh-keygen
deploy site 1 [127.0.0.1]:$ed $me ssh"

git remote set-url origin https://github.com/me/repo.git
keyed 'git ls-remote --get-url; git ls-remote --get-url https://github.com/me/other'
check "an origin over https is reached over ssh, and no other" printed "ssh://git@github.com/me/repo.git
https://github.com/me/other"
git remote set-url origin https://me:token@github.com/me/repo.git
keyed 'git ls-remote --get-url'
check "one with a password is inside without it" printed https://github.com/me/repo.git
keyed 'git ls-remote --get-url' --git direct
check "... with --git direct it stays" is "$(cat "$out")" https://me:token@github.com/me/repo.git
wx plan --facts --deploy-key site
check "... and is in no plan" lacks "$out" token
git remote set-url origin "$url"

# --- hosts ---

anyhow="-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
keyed "ssh -p $other -T $me@127.0.0.1"
check "a host that is not pinned is refused" has "$err" "Host key verification failed"
keyed "ssh $anyhow -p $other -T $me@127.0.0.1"
check "... also when ssh is told not to look: the agent looks" has "$err" "agent refused operation"
keyed "ssh $anyhow -p $ed -T $me@127.0.0.1"
check "... (which works with the pinned one)" has "$err" "unrecognized command"
wx log --json
keyed "ssh $anyhow -p $other -T $me@127.0.0.1"
wx log --denied --json
check "... with an event" has "$out" '"reason":"host-not-pinned"'
sed "s|^\\[127.0.0.1\\]:$ed .*|[127.0.0.1]:$ed $(cut -d' ' -f1,2 "$tmp/other/key.pub")|" "$home/.config/wrapix/known_hosts" >"$tmp/hosts"
cp "$home/.config/wrapix/known_hosts" "$tmp/right"
cp "$tmp/hosts" "$home/.config/wrapix/known_hosts"
keyed "ssh -p $ed -T $me@127.0.0.1"
check "a host with another key than the pinned one is refused" has "$err" "HOST IDENTIFICATION HAS CHANGED"
cp "$tmp/right" "$home/.config/wrapix/known_hosts"
keyed "ssh-keygen -q -t ed25519 -N '' -f /tmp/own; ssh -o IdentityAgent=none -i /tmp/own -p $ed -T $me@127.0.0.1"
check "a key made inside does not log in" has "$err" "Permission denied"
echo "nonsense" >>"$home/.config/wrapix/known_hosts"
keyed true
check "a damaged list of hosts stops the start" refused 2 "known_hosts:4: not a host"
cp "$tmp/right" "$home/.config/wrapix/known_hosts"

# --- the agent, attacked ---

attack() { # attack NAME WANT TEST-NAME [ARGUMENT]
	keyed "ssh-keygen -q -t ed25519 -N '' -f /tmp/own; python3 agentattack.py $1 ${4-}"
	check "$3" printed "$2"
}
attack list "both and no other" "it lists both keys and no other"
attack git_message signed "it signs for git"
attack message_by_deploy_key refused "not with the deploy key"
attack other_namespace "refused refused refused refused refused" "no other namespace"
attack message_forms "refused refused refused refused refused refused refused refused" "nothing that is not quite an SSHSIG"
attack login_by_signing_key refused "no login with the signing key"
attack unbound refused "no login on a connection that is not bound"
attack raw "refused refused refused refused" "nothing else with the deploy key"
attack own_host "refused refused" "no login at a host of its own" /tmp/own.pub
attack pinned_host refused "no login in a session that the host did not sign"
attack other_requests refused "adding, removing, locking, anything else"
attack lengths "both and no other closed refused" "lengths that lie"
attack byte_by_byte identities "a request byte by byte"
attack crowd "both and no other" "200 connections"
attack silent "both and no other" "64 connections that ask for nothing"
attack flood bounded "a flood of wishes"
keyed 'echo x | ssh-keygen -Y sign -n git -f /etc/wrapix/ssh/signing.pub >/dev/null 2>&1; ls -l /etc/wrapix/ssh/agent | cut -c1-10; rm -f /etc/wrapix/ssh/agent; touch /etc/wrapix/ssh/x; ls /etc/wrapix/ssh | tr "\n" " "'
check "the socket and all beside it stay as they are" is "$(cat "$out")" "srw-------
agent allowed_signers config deploy.pub known_hosts signing.pub "
keyed 'mkfifo up; python3 -c "
import os, socket
s = socket.socket(socket.AF_UNIX); s.connect(os.environ[\"SSH_AUTH_SOCK\"]); s.sendall(b\"\\0\\0\\0\")
"; ssh-add -l | wc -l'
check "who hangs up half-way leaves it working" printed 2

# --- the key stays outside ---

# The seed is what counts, and a line of the file that has most of it; masked, so that the searcher's own words do not hold it.
masked() {
	python3 -c '
import base64, sys
lines = open(sys.argv[1]).read().split("\n")
data = base64.b64decode("".join(lines[1:-2]))
at = data.index(b"\0\0\0\x40", len(data) // 2) + 4
print(bytes(b ^ 0x5a for b in data[at:at + 32]).hex(), bytes(b ^ 0x5a for b in lines[4][:40].encode()).hex())' "$1"
}
places="/etc /home /tmp /run /var /dev/shm /workspace"
for key in site site-signing; do
	for secret in $(masked "$keys/$key"); do
		keyed "sleep 60 & python3 agentattack.py git_message >/dev/null; ssh-add -l >/dev/null; python3 agentattack.py search $secret $places"
		check "no file and no process inside has the private half of $key" printed nothing
	done
done
rm -f up
keyed "python3 agentattack.py search $(masked "$keys/site" | cut -d' ' -f2) $places" --deploy-key-mode file
check "... (as a file it is found)" is "$(cat "$out")" /etc/wrapix/ssh/deploy
mkfifo up down
# shellcheck disable=SC2086 # words
"$wrapix" run --network none $ports --deploy-key site -- sh -c 'git commit -q --allow-empty -m x; echo up >up; read x <down' >/dev/null 2>&1 &
run=$!
started="${started-} $run"
hear up
check "nobody looks into the supervisor: memory" fails head -c 1 "/proc/$run/mem"
check "... environment" fails head -c 1 "/proc/$run/environ"
check "... descriptors" fails ls "/proc/$run/fd"
echo >down
wait "$run"
rm up down

# --- asking the user ---

cat >"$tmp/bin/askpass" <<-EOF
	#!/bin/sh
	echo "\$SSH_ASKPASS_PROMPT: \$1" >>"$tmp/asked"
	exit "\$(cat "$tmp/answer")"
EOF
chmod +x "$tmp/bin/askpass"
echo 0 >"$tmp/answer"
SSH_ASKPASS=$tmp/bin/askpass keyed 'git fetch -q && git commit -q --allow-empty -m asked' --deploy-key-confirm
check "with --deploy-key-confirm the user says yes" ended 0
check "... to each" is "$(cat "$tmp/asked")" "confirm: wrapix: may the sandbox use the deploy key 'site' to log in as $me@[127.0.0.1]:$ed?
confirm: wrapix: may the sandbox use the signing key 'site' to sign for git?"
: >"$tmp/asked"
SSH_ASKPASS=$tmp/bin/askpass keyed "python3 agentattack.py question 'git@github.com, by way of us' -p $ed -T $me@127.0.0.1" --deploy-key-confirm
check "... and the user's name is no part of the sentence: it names no other host" is "$(cat "$tmp/asked")" \
	"confirm: wrapix: may the sandbox use the deploy key 'site' to log in as git\\x40github.com\\x2c\\x20by\\x20way\\x20of\\x20us@[127.0.0.1]:$ed?"
echo 1 >"$tmp/answer"
SSH_ASKPASS=$tmp/bin/askpass keyed 'git fetch -q' --deploy-key-confirm
check "... or no" has "$err" "agent refused operation"
printf '#!/bin/sh\necho asked >>"%s/dialogs"\nexec sleep 60\n' "$tmp" >"$tmp/bin/dialog"
chmod +x "$tmp/bin/dialog"
SSH_ASKPASS=$tmp/bin/dialog keyed 'python3 agentattack.py dialogs' --deploy-key-confirm
read -r dialogs seconds <"$out"
check "who asks and hangs up again and again opens few dialogs" is "$dialogs $(($(wc -l <"$tmp/dialogs") <= seconds / 4 + 3))" "done 1" # one each five seconds
PATH=$tmp/none:$PATH keyed true --deploy-key-confirm
check "without a program that asks it does not start" refused 125 "no program can ask you"

# The daemon's part is played here: it takes the message and says which button was chosen.
cat >"$tmp/bin/daemon" <<-'EOF'
	import json, os, socket, sys
	s = socket.socket(socket.AF_UNIX)
	s.bind(sys.argv[1])
	s.listen()
	print("ready", flush=True)
	while True:
	    c = s.accept()[0]
	    message = json.loads(c.makefile().readline())
	    with open(sys.argv[2], "a") as f:
	        print(message["message"], [a["key"] if isinstance(a, dict) else a for a in message["actions"]], file=f)
	    with open(sys.argv[3]) as f:
	        c.sendall(f.read().encode())
	    c.close()
EOF
mkdir -m 700 "$tmp/run" "$tmp/run/wrapix"
mkfifo "$tmp/listening"
python3 "$tmp/bin/daemon" "$tmp/run/wrapix/notify.sock" "$tmp/heard" "$tmp/button" >"$tmp/listening" 2>"$tmp/log/daemon" &
started="$started $!"
hear "$tmp/listening"
echo '{"action":"allow"}' >"$tmp/button"
XDG_RUNTIME_DIR=$tmp/run keyed 'git fetch -q' --deploy-key-confirm
check "a notification asks too: the button for yes" ended 0
check "... with the question" has "$tmp/heard" "to log in as $me@[127.0.0.1]:$ed?"
for button in '{"action":"refuse"}' '{"action":""}' '{}' ''; do
	echo "$button" >"$tmp/button"
	XDG_RUNTIME_DIR=$tmp/run keyed 'git fetch -q' --deploy-key-confirm
	check "... any other answer is a no: $button" has "$err" "agent refused operation"
done

# --- as a file ---

keyed 'git fetch -q && git commit -q --allow-empty -m file && git log -1 --format=%G? && [ "$WRAPIX_DEPLOY_KEY" = /etc/wrapix/ssh/deploy ] && [ -z "$SSH_AUTH_SOCK" ]' --deploy-key-mode file
check "deployKeyMode file works" is "$rc $(cat "$out")" "0 G"
check "... with a warning" has "$err" "can read the private keys"

mv "$keys" "$home/elsewhere"
ln -s ../elsewhere "$keys"
for mode in agent file; do
	keyed 'git fetch -q && git commit -q --allow-empty -m link && git log -1 --format=%G?' --deploy-key-mode $mode
	check "keys that stand behind a link ($mode)" is "$rc $(cat "$out")" "0 G"
done
rm "$keys"
mv "$home/elsewhere" "$keys"

# --- keys that cannot be used ---

bad() { # bad TEST-NAME TEXT COMMAND...: on a copy of the pair
	bad_name=$1 bad_text=$2
	shift 2
	rm -f "$keys"/bad*
	for f in '' .pub -signing -signing.pub; do cp -p "$keys/site$f" "$keys/bad$f"; done
	"$@"
	wx run --network none --deploy-key bad -- true
	check "$bad_name" refused 125 "$bad_text"
}
bad "a key that others can read" "can be read by others" chmod 644 "$keys/bad"
bad "a key with a passphrase" "has a passphrase" sh -c 'ssh-keygen -q -p -P "" -N secret -f "$0" >/dev/null' "$keys/bad"
bad "a public half that is missing" "bad-signing.pub' is not there" rm "$keys/bad-signing.pub"
bad "a file that is no key" "not a private key" sh -c 'echo x >"$0"' "$keys/bad-signing"
bad "a key cut short" "cut short" sh -c 'head -n 3 "$0" >"$0.new"; cat "$0.new" >"$0"' "$keys/bad"
bad "a public half of another kind" "no Ed25519 key" sh -c 'rm "$0" "$0.pub"; ssh-keygen -q -t rsa -N "" -f "$0"' "$keys/bad"
wx run --network none --deploy-key nobody -- true
check "a pair that is not there" refused 125 "there is no deploy key 'nobody'"
echo '{ "deployKey": "site" }' >wrapix.json
wx run --network none -- true
check "a project cannot take a key by itself" refused 125 "deployKey"
wx trust --yes
wx run --network none -- ssh-add -l
check "... until it is trusted" lines "$out" 2
rm wrapix.json

finish
