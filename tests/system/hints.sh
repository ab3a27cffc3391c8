#!/bin/sh
# SPDX-License-Identifier: MIT
# Errors that a newcomer meets, each with what to type in its hint, and that typing it helps; docs/troubleshooting.md
# has them all. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for other shells; its variables; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
unset https_proxy HTTPS_PROXY all_proxy ALL_PROXY http_proxy no_proxy NO_PROXY
hinted() { refused "$1" "$2" && has "$err" "hint: $3"; }

# --- doctor, in a home that nobody has used yet ---
wx doctor
cp "$out" "$tmp/doctor"
check "doctor names no settings that are not there" grep -q '^ok *policy here *the defaults, without ~/\.srt-settings\.json;' "$out"
echo '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]}}' >"$home/.srt-settings.json"
wx doctor
check "... and those that are" grep -q "^ok *policy here *srt's settings, ~/\.srt-settings\.json;" "$out"
rm "$home/.srt-settings.json"
mkdir .claude && echo '{"sandbox":{"enabled":true}}' >.claude/settings.json
wx doctor
check "... and no file that is not there, where a project has some" grep -q "^ok *policy here *Claude Code's settings, which 'wrapix settings' lists;" "$out"
rm -r .claude
cp "$tmp/doctor" "$out"
said=$(sed -n "s/^ok  *copy-on-write .* in '\(.*\)'\$/\1/p" "$out")
inside 'echo x >x' --workspace cow
kept=$state/cow
[ -n "$(ls "$state/cow")" ] || kept=/var/tmp/wrapix-$(id -u)/cow
! grep -qF "overlayfs cannot be used" "$tmp/doctor" || kept=
check "doctor says where a copy-on-write session is kept" is "$said" "$kept"
# A state directory without user attributes, and an empty /var/tmp.
with_mounts "mount -t ramfs x '$state'; mount -t tmpfs -o mode=1777 x /var/tmp" \
	sh -c '"$wrapix" doctor >"$2" && ls -A /var/tmp && ls -A "$1"' sh "$state" "$tmp/doctor" >"$tmp/log/out" 2>&1
check "... which is another place where the state directory cannot hold it" grep -q "^ok  *copy-on-write .* in '/var/tmp/wrapix-$(id -u)/cow'\$" "$tmp/doctor"
check "... nothing is left beside it" is "$(xargs <"$tmp/log/out")" "wrapix-$(id -u) cow"
# The ranges that others have: above them all, or between them where one ends with the last id.
subids() { # subids SUBUID SUBGID: what doctor proposes
	printf %b "$1" >"$tmp/subuid" && printf %b "$2" >"$tmp/subgid" || return
	unshare --user --map-current-user --mount --keep-caps sh -ec 'mount --bind "$1/subuid" /etc/subuid && mount --bind "$1/subgid" /etc/subgid
		exec setpriv --inh-caps=-all --ambient-caps=-all "$2" doctor' sh "$tmp" "$wrapix" 2>&1 | sed -n 's/.*--add-subuids \(.*\) --add-subgids \(.*\) .*/\1 \2/p'
}
if [ -e /etc/subuid ] && [ -e /etc/subgid ]; then
	check "doctor proposes the first range of ids" is "$(subids '' '')" "100000-165535 100000-165535"
	check "... that nobody has" is "$(subids 'other:100000:65536\nthird:165536:65536\n' 'other:100000:65536\nfourth:300000:10\n')" "300010-365545 300010-365545"
	check "... below who has all to the last" is "$(subids 'other:100000:65536\ncontainers:2147483647:2147483648\n' 'other:165530:65536\n')" "231066-296601 231066-296601"
	check "... and none to who has one" is "$(subids "$(id -un):100000:65536" "$(id -un):100000:65536")" ""
else
	skip "doctor proposes a range of ids that nobody has" "there is no /etc/subuid"
fi
command -v script >/dev/null || bail "script is not installed"
mkdir "$tmp/pager" && printf '#!/bin/sh\necho paged\nexec cat\n' >"$tmp/pager/less" && chmod +x "$tmp/pager/less" || exit 1
paged() { PATH=$tmp/pager:$PATH TERM=$1 timeout 60 script -qec "'$wrapix' diff" /dev/null </dev/null >"$tmp/log/tty" 2>&1; grep -c -e paged -e '+x' "$tmp/log/tty"; }
check "a difference goes through the pager, unless the terminal can do nothing" is "$(paged xterm) $(paged dumb)" "2 1"
wx undo
check "an undo before any apply" hinted 125 "nothing of the session" "'wrapix apply "
wx review
check "review without a terminal says what does without" hinted 2 "must be a terminal" "'wrapix diff'"
wx discard --yes

mkdir -m 555 "$tmp/closed"
XDG_STATE_HOME=$tmp/closed wx doctor
check "doctor tells of a state directory that cannot be written" grep -q "^weaker *git .*no directory to keep things in ('$tmp/closed'" "$out"
mkdir "$tmp/gone" && cd "$tmp/gone" && rmdir "$tmp/gone" || exit 1
wx doctor
check "... and of a directory that is gone" grep -q "^broken *project *finding the working directory: No such file" "$out"
check "... beside what it says of the machine" sh -c 'grep -q "fix: it was removed" "$1" && grep -q "^ok *seccomp" "$1" && grep -q "^ok *git .*takes over" "$1" && [ "$2" = 125 ] && [ ! -s "$3" ]' sh "$out" "$rc" "$err"
wx run -- true
check "... which run does not take for a command" hinted 125 "finding the working directory: No such file or directory" "it was removed; cd to a directory that is there"
for words in "exec -- true" plan trust settings git "key list"; do
	# shellcheck disable=SC2086 # words
	wx $words
	check "... nor $words for anything else" hinted 125 "finding the working directory" "it was removed; cd to"
done
cd "$OLDPWD" || exit 1

# --- a file that says what the network is ---
echo '{"network": "open"}' >wrapix.json
wx plan --allow example.org -- true
check "hosts beside the network of the project's file: whose it is" hinted 2 "the network is 'open', by the project's wrapix.json" "--allow and --deny belong to --network filtered, which"
wx plan --network filtered --allow example.org -- true
check "... and that counts more" ended 0
wx plan --network open --allow example.org -- true
check "... and of the command line nothing is said" lacks "$err" wrapix.json
rm wrapix.json

# --- programs and mounts ---
inside 'true'
check "control: a program that is inside" ended 0
wx run --network none -- nosuch
check "a program that is not inside: why that is" hinted 127 "executing 'nosuch'" "inside are this machine's /usr"
agent=$(for agent in opencode gemini codex claude; do [ -n "$(PATH=/usr/local/bin:/usr/bin:/bin command -v "$agent")" ] || { echo "$agent"; break; }; done)
wx run --network none -- "$agent" -p x
check "an agent that is not inside: how it comes in" hinted 127 "executing '$agent'" "an agent comes in by --agent, with what it needs: wrapix run --agent $agent -- $agent ..."
mkdir "$home/bin"
printf '#!/bin/sh\necho mine\n' >"$home/bin/nosuch"
chmod +x "$home/bin/nosuch"
wx run --network none --mount "$home/bin:/opt/tools:ro" -- /opt/tools/nosuch
check "... and --mount brings it" printed mine
wx exec -- nosuch
check "of a single command, which has the host's, it is not said" refused 127 "executing 'nosuch'"
check "..." lacks "$err" "hint:"
printf '#!/bin/sh\necho mine\n' >script
for how in 'run --network none' exec; do
	# shellcheck disable=SC2086 # words
	wx $how -- ./script
	check "a script without the mode of one, in ${how%% *}: what gives it" hinted 126 "executing './script': Permission denied" "its mode lets nobody execute it: chmod +x './script'"
done
sh -c "$(sed -n 's/^hint: .*: \(chmod .*\)$/\1/p' "$err")"
wx run --network none -- ./script
check "... which the hint does" printed mine
rm script
wx run --network none --mount "$home/bin:/usr/nosuch:ro" -- true
check "a mount in the system has no place" hinted 125 "mounting on '/usr/nosuch'" "wrapix creates nothing in your files; choose"
wx run --network none --mount "$home/bin:/workspace/nosuch:ro" -- true
check "one in the project must be there" hinted 125 "mounting on '/workspace/nosuch'" "wrapix creates nothing in your files; create"
wx run --image registry.example/thing:1 -- true
check "an image of a registry" hinted 2 "a name is made of" "an image of a registry or a file is taken in first: wrapix image build --from oci:REF --name NAME"
wx run --image x --package jq -- true
check "packages and an image" hinted 2 "packages cannot go into an image that is named ('x')" "wrapix image build"
wx image build --from oci:localhost:1/nosuch:1
check "a registry that is not reached" eval 'is "$rc" 125 && has "$err" "skopeo failed" && has "$err" "hint: what it said is above; an image that was saved"'
wx image build --from nix --package nosuch --name nosuch
check "nix that fails" eval 'is "$rc" 125 && has "$err" "nix-build failed" && has "$err" "hint: "'
wx plan --host nosuch
check "facts that are not there" hinted 125 "reading 'nosuch'" "'wrapix plan --facts' prints such a file"

# --- network and keys ---
HTTPS_PROXY='http://[::1' wx run --allow example.com -- true
check "a proxy that cannot be read" hinted 125 "the proxy's address" "as in http://HOST:PORT"
wx run --network none --credential OTHER=brokered -- true
check "a credential that nobody has described" hinted 2 "cannot be brokered" "agents bring their own"
wx key add site
key=$home/.ssh/deploy_keys/site
chmod 644 "$key"
wx run --network none --deploy-key site -- true
check "a key that others can read" hinted 125 "can be read by others" "chmod 600 '$key'"
chmod 600 "$key"
wx run --network none --deploy-key site -- true
check "... and then they cannot" ended 0
rm "$key.pub"
wx run --network none --deploy-key site -- true
check "a key without its public half" hinted 125 "is not there, or no Ed25519 key" "ssh-keygen -y -f"
sh -c "$(sed -n 's/^hint: \(.*\) writes it anew$/\1/p' "$err")"
wx run --network none --deploy-key site -- true
check "... which the hint writes" ended 0

wx key trust localhost:1
check "a host that has no keys" hinted 125 "'localhost' offers no key at port 1" "is the name right? 'wrapix key trust HOST:PORT'"
wx secret set X
check "a secret without a value" hinted 2 "a value has 1 to 8192 bytes" "it is typed, or comes by standard input"

# --- git ---
wx git drop nosuch
check "a session that is none" hinted 125 "there is no session 'nosuch' with a git directory" "'wrapix git status'"
finish
