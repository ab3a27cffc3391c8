#!/bin/sh
# SPDX-License-Identifier: MIT
# wrapix exec and srt as on macOS: whole commands under WRAPIX_PLATFORM=darwin, with stand-ins for sandbox-exec, which
# takes the profile by its grammar and holds willing programs to it, and for the system's log (tests/mac). TAP.
#
# shellcheck disable=SC1091,SC2009,SC2016,SC2034,SC2154,SC2317 # the library; ps with arguments; scripts for the shell inside;
# functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
build=$(CDPATH='' cd -- "$(dirname -- "$wrapix")/../.." && pwd -P)
mkdir "$tmp/bin" "$tmp/tmp"
ln -s "$build/tests/mac/sandbox-exec" "$top/tests/mac/log" "$build/src/cli/srt" "$tmp/bin/"
mkfifo "$tmp/maclog" "$tmp/maclog.told"
export WRAPIX_PLATFORM=darwin PATH="$tmp/bin:$PATH" TMPDIR="$tmp/tmp"
export MAC_LOG="$tmp/maclog" MAC_SEATBELT="$build/tests/mac/mac-seatbelt.so"
s=$tmp/s.json
settings() { # settings ALLOWED-DOMAINS [MORE]
	printf '{"network":{"allowedDomains":[%s],"deniedDomains":[]},"filesystem":{"denyRead":["%s"],"allowWrite":["."],"denyWrite":["keep"]}%s}\n' \
		"$1" "$tmp/secret" "${2-}" >"$s"
}
settings ''
echo hidden >"$tmp/secret"
ex() { wx exec -s "$s" "$@"; }
mark=70000.$$
logs() { ps -u "$(id -u)" -o args= | grep "$tmp/[b]in/log stream"; }

# --- the command ---

ex -- sh -c 'echo out; echo err >&2; exit 7'
check "the exit status" is "$rc" 7
check "standard output" is "$(cat "$out")" out
check "standard error" has "$err" err
ex -- sh -c 'kill -9 $$'
check "a signal is 128 and its number" is "$rc" 137
ex -- no-such-program
check "a program that is not there: 127" is "$rc" 127
touch plain
ex -- ./plain
check "one that cannot be executed: 126" is "$rc" 126
printf 'in\n' | "$wrapix" exec -s "$s" -- cat >"$out"
check "standard input" is "$(cat "$out")" in
ex -c 'echo $SANDBOX_RUNTIME; pwd'
check "it runs where it is called" is "$(xargs <"$out")" "1 $project"
"$tmp/bin/srt" -s "$s" sh -c 'exit 5' 2>"$err"
check "srt is the same" is $? 5

# --- files ---

ex -c 'echo x >here && echo y >../outside; cat ../secret; mkdir .vscode; echo z >keep; :'
check "the project can be written" is "$(cat here)" x
check "what lies outside cannot" absent "$tmp/outside"
check "... nor what denyWrite names" absent keep
check "... nor a protected name" absent .vscode
check "what denyRead names cannot be read" lacks "$out" hidden
check "the program is told" has "$err" "Operation not permitted"
check "the user is told of the write" has "$err" "refused writing $tmp/outside"
check "... of the read, and where that is written" has "$err" "filesystem.denyRead[0]"
check "... of what is protected" has "$err" ".vscode"
sh -c 'echo y >../outside; cat ../secret' >"$out"
check "without a sandbox all of that works" is "$(cat "$out" "$tmp/outside" | xargs)" "hidden y"
rm -f "$tmp/outside"

ex --violations "$tmp/report" -c 'echo y >../outside'
check "--violations: one JSON object a line" sh -c 'head -n 1 "$1" | python3 -c "import json,sys; d = json.load(sys.stdin); assert d[\"path\"].endswith(\"/outside\") and d[\"process\"][\"comm\"] == \"bash\", d"' sh "$tmp/report"
check "... and nothing on standard error" lacks "$err" "refused writing"
ex --annotate -c 'echo y >../outside'
check "--annotate: the block that agents know" has "$err" "<sandbox_violations>"
check "... with the line in it" has "$err" "deny file-write $tmp/outside"
ex -c 'echo y >../outside'
id=$(sed -n "s/.*log --violations \([^']*\)'.*/\1/p" "$err")
wx log --violations "$id"
check "wrapix log has the event" has "$out" outside
# Somebody else's refusal, with another tag, in the same log at the same time.
ex -c 'printf "%s\nwrapix-0000\n" "2026 E kernel (Sandbox) Sandbox: x(1) deny(1) file-write-create /others" >"$MAC_LOG"; echo y >../outside'
check "other tags are not ours" lacks "$err" /others
check "... while our own are" has "$err" outside
ex -c 'true'
check "nothing refused, nothing said" empty "$err"
deep=$(printf '%0250d/' 1 2 3 4 5)
printf '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":["/%s"],"allowWrite":["."],"denyWrite":[]}}\n' "$deep" >"$tmp/long.json"
wx exec -s "$tmp/long.json" -- sh -c 'echo ran'
check "a rule that Seatbelt cannot take: nothing runs" is "$rc $(cat "$out")" "125 "
check "... and it is said" has "$err" "longer than Seatbelt takes"

# --- the environment ---

settings '' ',"credentials":{"envVars":[{"name":"MY_TOKEN","mode":"deny"}]}'
MY_TOKEN=t OTHER=o ex -c 'echo "${MY_TOKEN-none} $OTHER $TMPDIR"; touch "$TMPDIR/x" && ls "$TMPDIR"; ls -ld "$TMPDIR" | cut -c1-10'
check "credentials are taken out" is "$(sed -n '1s/ [^ ]*$//p' "$out")" "none o"
check "TMPDIR is writable and private" is "$(sed 1d "$out" | xargs)" "x drwx------"
check "... and gone afterwards" is "$(ls "$tmp/tmp")" ""
mkdir "$tmp/own"
CLAUDE_TMPDIR=$tmp/own ex -c 'echo $TMPDIR; touch "$TMPDIR/kept"'
check "one of the user's is used, and stays" exists "$tmp/own/kept"

# --- the network ---

mkdir "$tmp/www"
echo page >"$tmp/www/index.html"
python3 -u -m http.server 0 --bind 127.0.0.1 -d "$tmp/www" >"$tmp/log/server" 2>&1 &
started=$!
await grep -q 'port [0-9]' "$tmp/log/server"
port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' "$tmp/log/server")
settings "\"localhost:$port\""
ex -c "curl -sS http://localhost:$port/"
check "a host that is listed, through the proxy" is "$(cat "$out")" page
ex -c "curl -sS -p http://localhost:$port/"
check "... by CONNECT" is "$(cat "$out")" page
ex -c "curl -sS --proxy socks5h://\${HTTP_PROXY#http://} http://localhost:$port/"
check "... by SOCKS" is "$(cat "$out")" page
ex -c "curl -sS --noproxy '*' http://127.0.0.1:$port/"
check "directly: the profile refuses" is "$rc" 7
check "... which is told" has "$err" "refused connecting to 127.0.0.1:$port"
ex -c 'curl -sS -o /dev/null -w "%{http_code}" http://other.test/; curl -sS https://other.test/'
check "a host that is not listed: 403" is "$(cat "$out")" 403
check "... which is told" has "$err" "refused connecting to other.test:443"
ex -c "curl -sS -o /dev/null -w '%{http_code}' --proxy 127.0.0.1:\${HTTP_PROXY##*:} http://localhost:$port/"
check "without the token: 407" is "$(cat "$out")" 407
settings ''
ex -c "curl -sS -o /dev/null -w '%{http_code}' http://localhost:$port/"
check "no host listed: none reached" is "$(cat "$out")" 403

# --- terminals and signals ---

check "a terminal: its own, with the user's size" python3 - "$wrapix" "$s" <<'PY'
import fcntl, os, pty, struct, subprocess, sys, termios
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
p = subprocess.Popen([sys.argv[1], "exec", "-s", sys.argv[2], "-c", "stty size; tty; read x; echo got $x"],
                     stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                     preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
outer = os.ttyname(slave)
os.close(slave)
text = b""
while b"/pts/" not in text:
    text += os.read(master, 4096)
os.write(master, b"word\r")
while True:
    try:
        more = os.read(master, 4096)
    except OSError:
        break
    if not more:
        break
    text += more
text = text.decode()
assert p.wait() == 0, text
assert "33 101" in text and "got word" in text and outer not in text.split(), (outer, text)
PY
fifo=$project/fifo
mkfifo "$fifo"
env --default-signal=INT,QUIT "$wrapix" exec -s "$s" -c 'trap "echo trapped; exit 3" TERM; echo up >fifo; while :; do sleep 0.05; done' >"$tmp/log/out" 2>&1 </dev/null &
pid=$!
hear "$fifo"
kill -TERM $pid
wait $pid
check "a signal reaches the command's trap" is "$? $(cat "$tmp/log/out")" "3 trapped"
"$wrapix" exec -s "$s" -c "sleep $mark & sleep $mark & echo up >fifo; wait" >/dev/null 2>&1 </dev/null &
pid=$!
hear "$fifo"
check "it runs, and so does the log" await fails is_empty logs
kill -9 $pid
check "killed: the command and its children end" await is_empty marked
check "... the log ends" await is_empty logs
check "... no file stays" await is_empty ls "$tmp/tmp"
ex -c "sleep $mark >/dev/null 2>&1 & exit 4"
check "what is left in the background ends with the command" await is_empty marked
check "... whose status is its own" is "$rc" 4

settings ''
"$wrapix" exec -s "$s" -c 'echo up >fifo; read x <fifo' >"$tmp/log/out" 2>"$tmp/log/err" </dev/null &
pid=$!
hear "$fifo"
sed 's/"keep"/"keep","later"/' "$s" >"$tmp/new.json"
mv "$tmp/new.json" "$s"
check "a file rule that comes while it runs: said to count for the next command" await grep -q "'later' counts from the next command on" "$tmp/log/err"
tell "$fifo"
wait $pid

# --- what is shown ---

wx plan --exec --engine apple --settings "$s" -- true
check "wrapix plan shows the profile" has "$out" '(deny default (with message "wrapix"))'
check "... which sandbox-exec takes" sandbox-exec -p "$(cat "$out")" true
wx plan --exec --settings "$s" -- true
check "... here without being asked for" has "$out" '(deny default (with message "wrapix"))'
check "sandbox-exec refuses another" fails sandbox-exec -p '(version 1)(allow file-reed*)' true
finish
