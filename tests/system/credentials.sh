#!/bin/sh
# SPDX-License-Identifier: MIT
# Credentials: from the environment and from the store, as variables and brokered; what is not in a plan, a log, an
# argument or, brokered, anywhere inside. The host that they are for is a server of ours over TLS.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154 # the library; scripts for other shells
. "$(dirname -- "$0")/../lib/system.sh"
. "$(dirname -- "$0")/../lib/keyring.sh"
be_user "$@"
set_up
for tool in node curl openssl python3; do
	command -v $tool >/dev/null || bail "$tool is not installed"
done
unset DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR
relay=${wrapix%/cli/wrapix}/wrapix-relay
word=TOKEN # put together here: a copy of this file may be readable inside (nix keeps sources), and is not what is searched for
token=sk-test-TRUE$word-0123456789

# An agent of our own that has Claude Code's name, and so its table.
mkdir -p "$tmp/bin"
printf '#!/bin/sh\nexec sh -c "$SCRIPT"\n' >"$tmp/bin/claude"
chmod +x "$tmp/bin/claude"
# inside SCRIPT OPTION...: as Claude Code would run.
inside() {
	script=$1
	shift
	PATH=$tmp/bin:$PATH wx run --agent claude --env "SCRIPT=$script" "$@"
}

# --- as a variable ---

inside 'echo "${CLAUDE_CODE_OAUTH_TOKEN-none}"' --network none
check "without a token the agent starts all the same" is "$rc $(cat "$out")" "0 none"
printf '%s' "$token" | "$wrapix" secret set CLAUDE_CODE_OAUTH_TOKEN 2>/dev/null
printf 'sk-test-KEY' | "$wrapix" secret set ANTHROPIC_API_KEY 2>/dev/null
inside 'echo "$CLAUDE_CODE_OAUTH_TOKEN ${ANTHROPIC_API_KEY-none}"' --network none
check "the token comes from the store, the API key does not" is "$rc $(cat "$out")" "0 $token none"
CLAUDE_CODE_OAUTH_TOKEN=mine inside 'echo "$CLAUDE_CODE_OAUTH_TOKEN"' --network none
check "the environment's comes before it" is "$rc $(cat "$out")" "0 mine"
inside 'echo "$ANTHROPIC_API_KEY"; grep -c KEY ~/.claude.json' --network none --credential ANTHROPIC_API_KEY
check "the API key when it is asked for, and the agent's files know its end" is "$rc $(xargs <"$out")" "0 sk-test-KEY 1"
inside 'echo "${CLAUDE_CODE_OAUTH_TOKEN-none}"' --network none --credential CLAUDE_CODE_OAUTH_TOKEN=off
check "off" is "$rc $(cat "$out")" "0 none"
wx run --network none -- sh -c 'echo "${CLAUDE_CODE_OAUTH_TOKEN-none}"'
check "a command without the agent gets none" is "$rc $(cat "$out")" "0 none"
wx run --network none --credential ANTHROPIC_API_KEY -- sh -c 'echo "$ANTHROPIC_API_KEY"'
check "... unless it is named" is "$rc $(cat "$out")" "0 sk-test-KEY"
wx run --network none --credential NOT_THERE -- true
check "one that is named must be there" refused 125 "NOT_THERE is neither in the environment nor in the store"
check "... and what to type is said" has "$err" "wrapix secret set NOT_THERE"
printf '{"credentials": {"ANTHROPIC_API_KEY": true}}' >wrapix.json
wx run --network none -- true
check "a project's file asks for one: not before it is trusted" is "$rc" 125
check "... by name" has "$err" "wrapix trust"
rm wrapix.json
for format in '' --json --facts; do
	# shellcheck disable=SC2086 # a word or none
	PATH=$tmp/bin:$PATH wx plan --agent claude $format
	check "a plan has no value of the store's ${format:-(text)}" lacks "$out" "$token"
done

# --- brokered ---

mkdir "$tmp/tls"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost -keyout "$tmp/tls/key.pem" -out "$tmp/tls/cert.pem" 2>/dev/null
node "$top/tests/lib/fake-anthropic.mjs" --tls "$tmp/tls" --slow --log "$tmp/api.log" >"$tmp/api.said" &
started="${started-} $!"
await test -s "$tmp/api.said"
port=$(sed 's/ready //' "$tmp/api.said")
printf '{"credentials": {"CLAUDE_CODE_OAUTH_TOKEN": {"brokered": true, "upstream": "https://localhost:%s/v1/"}}}' "$port" \
	>"$home/.config/wrapix/config.json"
export SSL_CERT_FILE="$tmp/tls/cert.pem"
# What the agent's own client does. The answer's status comes first.
cat >"$tmp/ask" <<-'END'
	ask() { # ask PATH CURL_OPTION...
		path=$1
		shift
		curl -s -o body -w '%{http_code} ' --max-time 50 "$@" "$ANTHROPIC_BASE_URL$path" || echo "curl: $?"
	}
	mine="authorization: Bearer $CLAUDE_CODE_OAUTH_TOKEN"
END
asks() { # asks SCRIPT OPTION...
	script=$1
	shift
	inside "$(cat "$tmp/ask")
		$script" "$@"
}

asks 'echo "$CLAUDE_CODE_OAUTH_TOKEN"; ask /v1/messages -H "$mine" -d "{}"' --network none
check "inside there is a placeholder, and it works, without any network" is "$rc $(xargs <"$out")" "0 wrapix-brokered-credential 200"
check "... because outside the value is put in its place" has "$tmp/api.log" "\"authorization\":\"Bearer $token\""
inside 'echo "$CLAUDE_CODE_OAUTH_TOKEN"' --network none --credential CLAUDE_CODE_OAUTH_TOKEN
check "... also where it is named without a word of how" is "$rc $(cat "$out")" "0 wrapix-brokered-credential"
inside 'echo "$CLAUDE_CODE_OAUTH_TOKEN"' --network none --credential CLAUDE_CODE_OAUTH_TOKEN=on
check "... but not where that is said" is "$rc $(cat "$out")" "0 $token"
: >"$tmp/api.log"
asks 'ask /v1/messages -H "authorization: Bearer sk-other"
	ask /v1/messages -H "$mine" -H "x-api-key: sk-other"
	ask /v1/messages -H "$mine" -H "Cookie: a=b"
	ask "/v1/messages?key=other" -H "$mine"
	ask /v1/messages
	ask /api/oauth -H "$mine"
	ask /v1/../api/oauth --path-as-is -H "$mine"
	ask /v1/messages -X DELETE -H "$mine"' --network none
check "somebody else's credential, other paths and other methods are refused" is "$(cat "$out")" "403 403 403 403 401 403 403 403 "
check "... and nobody was asked" is "$(wc -c <"$tmp/api.log")" 0
wx log
check "... which the log knows" has "$out" "somebody else's"
check "... without the value" lacks "$out" "$token"

# A stream whose next event is sent when the one before has been seen.
asks 'mkfifo stream
	curl -sN -H "$mine" -d "{\"stream\":true}" "$ANTHROPIC_BASE_URL/v1/messages" >stream &
	n=0
	while read -r line; do
		case $line in "event: "*) n=$((n + 1)); ask /v1/next -H "$mine" >/dev/null ;; esac
	done <stream
	echo "$n events"' --network none
check "streams stream" has "$out" "6 events"
head -c 3000000 /dev/zero | tr '\0' x >big
asks '(printf "{\"x\":\""; cat big; printf "\"}") | ask /v1/messages -H "$mine" --data-binary @- -H "Expect:" &&
	(printf "{\"x\":\""; cat big; printf "\"}") | ask /v1/messages -H "$mine" -H "Transfer-Encoding: chunked" --data-binary @-' --network none
check "large bodies, by length and in chunks" is "$(cat "$out")" "200 200 "
asks 'for i in 1 2 3 4 5 6 7 8; do (ask /v1/messages -o /dev/null -H "$mine" -d "{}" >"said$i") & done
	wait; cat said*' --network none
check "several at a time" is "$(cat "$out")" "200 200 200 200 200 200 200 200 "

# Whoever is on this machine could use the credential by a port of the host's.
PATH=$tmp/bin:$PATH "$wrapix" run --agent claude --network none --publish auto \
	--env 'SCRIPT=python3 -m http.server --bind 127.0.0.1 5055 >/dev/null 2>&1 & while [ ! -e end ]; do sleep 0.1; done; kill $!' 2>"$err" &
publisher=$!
await grep -q "leads to port 5055 inside" "$err"
touch end
wait $publisher
rm end
check "--publish auto publishes what listens inside, and not the relay" lacks "$err" "leads to port 4777"
PATH=$tmp/bin:$PATH wx plan --agent claude --publish 4777 --publish 4779:4778
check "... and no port that is published is the relay's" has "$out" "at 127.0.0.1:4779"

# Everything that can be read inside, searched for the value.
search='find / \( -path /proc -o -path /sys -o -path /dev -o -path /usr \) -prune -o -type f -size -2000k -exec grep -laE "TRUE[T]OKEN" {} + 2>/dev/null
	cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr "\0" "\n" | grep -aE "TRUE[T]OKEN"
	python3 /workspace/search
	echo searched'
# The memory of everybody else inside; who searches has what is searched for.
cat >search <<-'END'
	import glob, os
	wanted = bytes(b ^ 1 for b in b'USTDUNJDO')
	for maps in glob.glob('/proc/[0-9]*/maps'):
	    if maps.split('/')[2] == str(os.getpid()):
	        continue
	    try:
	        for line in open(maps):
	            a, b = (int(x, 16) for x in line.split()[0].split('-'))
	            with open(maps[:-4] + 'mem', 'rb') as mem:
	                mem.seek(a)
	                if wanted in mem.read(min(b - a, 1 << 26)):
	                    print('in the memory of', maps)
	                    break
	    except (OSError, ValueError, OverflowError):
	        pass
END
asks "$search" --network none
check "brokered, the value is nowhere inside" is "$(cat "$out")" searched
inside "$search" --network none --credential CLAUDE_CODE_OAUTH_TOKEN=on
check "... where the search finds it when it is not" has "$out" "CLAUDE_CODE_OAUTH_TOKEN=$token"

mkfifo up go
asks 'ask /v1/messages -H "$mine" -d "{}" >up; read -r line <go' --network none &
session=$!
started="$started $session"
relays() { below "$session" | while read -r p; do ! grep -qx wrapix-relay "/proc/$p/comm" || echo "$p"; done | grep . | head -n 1; } # the second looks up names
hear up # its relay has answered
pid=$(relays)
check "the relay's memory and environment are closed to others of the user's" sh -c '! cat /proc/'"$pid"'/environ 2>/dev/null && ! head -c 1 /proc/'"$pid"'/mem 2>/dev/null'
check "... and its arguments say nothing" is "$(tr '\0' ' ' <"/proc/$pid/cmdline")" "wrapix-relay "
tell go
wait "$session"
gone() { [ ! -e "/proc/$pid" ]; }
check "it ends with the session" await gone

asks 'ask /v1/messages -H "$mine" -d "{}"; curl -s -o body -w "%{http_code} " --max-time 5 "https://localhost.localdomain/"' \
	--allow example.com
check "with a filtered network too" is "$(cut -c 1-4 "$out")" "200 "
PATH=$tmp/bin:$PATH wx plan --agent claude --allow example.com
check "... where the host is closed on every other way" has "$out" "deny      localhost"
inside true --network host
check "not with the host's network" refused 2 "a network of the sandbox's own"
SSL_CERT_FILE=/etc/passwd asks 'ask /v1/messages -H "$mine" -d "{}"; cat body' --network none
check "a certificate that is not trusted: nothing is sent" has "$out" "502 "
check "... and why is said" has "$out" "certificate is not trusted"
sed -i 's/localhost/localhost.localdomain/' "$home/.config/wrapix/config.json"
asks 'ask /v1/messages -H "$mine" -d "{}"' --network none
check "nor one of another name" is "$(cat "$out")" "502 "
wx run --network none --credential SOMETHING=brokered -- true
check "what nobody has described cannot be brokered" refused 2 "cannot be brokered"

# --- the relay by itself ---

python3 "$top/tests/lib/relay.py" "$relay" "$tmp/tls" "$tests_run" >"$tmp/log/out" 2>"$tmp/log/err"
cat "$tmp/log/out"
tests_run=$((tests_run + $(grep -c '^\(not \)\?ok' "$tmp/log/out")))
tests_failed=$((tests_failed + $(grep -c '^not ok' "$tmp/log/out")))
check "the relay's own tests came to their end" has "$tmp/log/out" "it ends with the supervisor"

# --- a locked keyring ---

if command -v gnome-keyring-daemon >/dev/null; then
	rm -f "$home/.config/wrapix/"*.json
	export WRAPIX="$wrapix" AGENT="$tmp/bin"
	ring 'printf from-the-ring | "$WRAPIX" secret set CLAUDE_CODE_OAUTH_TOKEN
		PATH=$AGENT:$PATH SCRIPT="echo \$CLAUDE_CODE_OAUTH_TOKEN" "$WRAPIX" run --network none --agent claude --env SCRIPT 2>&1' >"$tmp/log/out"
	check "from a keyring" has "$tmp/log/out" from-the-ring
	locked 'PATH=$AGENT:$PATH SCRIPT="echo started" "$WRAPIX" run --network none --agent claude --env SCRIPT 2>&1
		echo "status $?"' >"$tmp/log/out"
	check "a locked keyring: no start without a word" has "$tmp/log/out" "the keyring is locked"
	check "... and the status of a failure" has "$tmp/log/out" "status 125"
	check "... with a way out" has "$tmp/log/out" "CLAUDE_CODE_OAUTH_TOKEN=off"
else
	skip "a keyring" "gnome-keyring is not installed"
fi
finish
