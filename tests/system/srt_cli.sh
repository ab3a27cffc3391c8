#!/bin/sh
# SPDX-License-Identifier: MIT
# srt and wrapix exec as their users type them: options, quoting, settings that are wrong, exit statuses, signals,
# descriptors, the environment. Prints TAP.
#
# shellcheck disable=SC1091,SC2012,SC2016,SC2034,SC2154,SC2317 # what system.sh sets and uses; scripts for other shells
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up

mkdir "$tmp/bin"
ln -s "$(dirname "$wrapix")/srt" "$tmp/bin/srt"
# srt ARG...: as wx does for wrapix.
srt() {
	out=$tmp/log/out err=$tmp/log/err
	rm -f "$tmp/log/why"
	timeout --foreground -s KILL 60 "$tmp/bin/srt" "$@" >"$out" 2>"$err" </dev/null
	rc=$?
}
said() { [ "$(cat "$out")" = "$1" ] || { printf "said '%s', wanted '%s'\n" "$(cat "$out")" "$1"; false; }; }
# refused STATUS TEXT: ended with that status, and standard error is exactly the text.
refused() {
	is "$rc" "$1" && printf '%s\n' "$2" | diff - "$err"
}
no_net='"network":{"allowedDomains":[],"deniedDomains":[]}'
no_files='"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]}'
this_file="Refusing to run with the built-in defaults, which would drop this file's rules (its denyRead, allowRead and credential entries included)."

# --- words ---

srt -V
check "-V is the release whose settings these are" said 0.0.83
srt --help
check "--help" has "$out" "-s, --settings <path>"
srt -c 'echo hi; echo there >&2'
check "-c runs a line" said hi
check "with its own standard error, and nothing else on it" is "$(cat "$err")" there
srt echo 'a  b' '$HOME' "it's"
check "words reach the program as they are" said 'a  b $HOME it'"'"s
srt printf '[%s]' '' x
check "an empty word stays one" said '[][x]'
srt "echo hi; echo there"
check "one word with blanks is a line for the shell" said "hi
there"
printf '#!/bin/sh\necho spaced "$@"\n' >"$tmp/bin/my tool"
chmod +x "$tmp/bin/my tool"
srt "$tmp/bin/my tool"
check "unless a program is called so" said spaced
srt -- "echo hi"
check "after '--' a word is a word" is "$rc" 127
srt echo --debug -x
check "options count from anywhere before '--'" said -x
check "... and --debug says what is done" has "$err" "[SandboxDebug] "
srt -- echo -d --debug
check "not after it" said "-d --debug"
srt -c 'echo line' echo words
check "-c counts more than words" said line
srt -dc 'echo both'
check "short options in one word" said both
srt -c 'echo - $SRT_DEBUG'
check "no debugging by itself" said -
SRT_DEBUG=1 srt -c 'echo $SRT_DEBUG'
check "SRT_DEBUG is --debug" has "$err" "[SandboxDebug] "
srt cd /
check "a builtin of the shell is a command" is "$rc" 0
srt type cd
check "whatever it prints" has "$out" "builtin"
wx exec -- sh -c 'echo "$1"' sh 'a  b'
check "wrapix exec runs the words as they are" said 'a  b'
wx exec -c 'echo $((1 + 1))'
check "or a line" said 2
srt
check "no command" refused 1 "Error: No command specified. Use -c <command> or provide command arguments."
srt -c ''
check "an empty line is none" refused 1 "Error: No command specified. Use -c <command> or provide command arguments."
srt -c '' echo words
check "... and words count then" said words
wx exec
check "no command for wrapix exec" is "$rc" 2
wx exec -c 'echo one' -- touch two
check "two commands for wrapix exec: none is dropped without a word" is "$rc $(ls two 2>&1 >/dev/null | wc -l) $(cat "$err")" "2 1 wrapix: two commands: give one, after '--' or with -c"
srt -c
check "-c without its line" refused 1 "error: option '-c <command>' argument missing"
srt --settings
check "--settings without its path" refused 1 "error: option '-s, --settings <path>' argument missing"
for fd in 2 x 3.5 -1 ''; do
	srt --control-fd "$fd" -c true
	check "--control-fd '$fd'" refused 1 "error: option '--control-fd <fd>' argument '$fd' is invalid. must be an integer file descriptor >= 3 (0-2 are stdin, stdout and stderr)."
done
srt --control-fd 99 -c 'echo ran'
check "a control descriptor that is not open" refused 1 "Error: --control-fd 99 is not usable: EBADF: bad file descriptor, read. Refusing to run the command without the control channel it asks for."
srt --control-fd 9 -c 'echo ran' 9<"$tmp"
check "a directory as control descriptor" refused 1 "Error: --control-fd 9 is not usable: EISDIR: illegal operation on a directory, read. Refusing to run the command without the control channel it asks for."
check "in neither case anything ran" empty "$out"

# A connection that is reset cannot be read.
reset='import os, socket, struct, sys
server = socket.create_server(("127.0.0.1", 0))
ours = socket.create_connection(server.getsockname())
theirs = server.accept()[0]
theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
theirs.close()
os.dup2(ours.fileno(), 9)
os.execv(sys.argv[1], sys.argv[1:])'
python3 -c "$reset" "$tmp/bin/srt" --control-fd 9 -c 'trap "" TERM; sleep 1000; sleep 1000' >"$out" 2>"$err" </dev/null
check "a control descriptor that fails ends the command, whatever it ignores" is "$?" 1
check "... and says why" has "$err" "Warning: --control-fd 9 is not usable: Connection reset by peer. The command is ended"
srt --control-fd 9 -c 'exec sleep 1000' 9</dev/zero
check "... and so does one that ends nowhere" is "$rc" 1
check "... and that" has "$err" "Warning: --control-fd 9 is not usable: a device that has no end cannot be waited for. The command is ended"
wx exec --control-fd 9 -- sleep 1000 9</dev/zero
check "... under 'wrapix exec' as well" has "$err" "wrapix: warning: --control-fd 9 is not usable: a device that has no end"
bad='{"network":{}}'
{ yes "$bad" | head -n 5000; echo "{$no_net,$no_files}"; echo "$bad"; echo "$bad"; } >"$tmp/lines"
wx exec --control-fd 9 -- sh -c 'sleep 1' 9<"$tmp/lines"
more() { sed -n 's/.*\.\.\. and \([0-9]*\) more lines of the control descriptor that are no settings.*/\1/p' "$1"; }
told() { grep -c 'Invalid config on control fd 9' "$1"; }
check "bad lines without number: few are told, the rest is counted, and none is lost" is "$rc $(($(told "$err") < 9)) $(($(told "$err") + $(more "$err" | paste -sd+ - | sed 's/^$/0/')))" "0 1 5002"

# --- settings ---

s=$tmp/s.json
srt -s "$tmp/nowhere.json" -c 'echo ran'
check "settings that are not there" refused 1 "Error: $tmp/nowhere.json does not exist.
Refusing to run with the built-in defaults, which would drop the rules --settings asked for."
: >"$s"
srt -s "$s" -c 'echo ran'
check "empty settings" refused 1 "Error: $s is empty. Delete it, or put a config in it.
$this_file"
echo '{}' >"$s"
srt -s "$s" -c 'echo ran'
check "settings of the wrong form" refused 1 "Error: $s does not hold a valid config — network: Required; filesystem: Required
$this_file"
check "nothing ran" empty "$out"
wx exec -s "$s" -- echo ran
check "wrapix exec says the same, with its own status" refused 2 "Error: $s does not hold a valid config — network: Required; filesystem: Required
$this_file"
srt -s "$tmp" -c 'echo ran'
check "a directory as settings" refused 1 "Error: $tmp could not be read (EISDIR).
$this_file"
echo "{$no_net,$no_files,\"network\":{}}" >"$s"
srt -s "$s" -c 'echo ran'
check "a key that stands twice" has "$err" "is not valid JSON: 1:"
printf '{"network":{"allowedDomains":["*.com"],"deniedDomains":[3]},%s}' "$no_files" >"$s"
srt -s "$s" -c 'echo ran'
check "a pattern that is too broad" has "$err" 'network.allowedDomains.0: Invalid domain pattern. Must be a valid domain'
check "... and all else that is wrong" has "$err" '; network.deniedDomains.0: Expected string, received number'
for key in '"tlsTerminate":{}' '"mitmProxy":{"socketPath":"/s","domains":["a.b"]}' '"requireHostMatch":true'; do
	name=${key#?}
	name=${name%%\"*}
	printf '{"network":{"allowedDomains":[],"deniedDomains":[],%s},%s}' "$key" "$no_files" >"$s"
	srt -s "$s" -c 'echo ran'
	check "$name is refused by name" refused 1 "Error: $s asks for network.$name, which wrapix does not have yet.
$this_file"
done
printf '{%s,%s,"credentials":{"allowPlaintextInject":true,"envVars":[{"name":"A","mode":"mask"}]}}' "$no_net" "$no_files" >"$s"
srt -s "$s" -c 'echo ran'
check "so is masking" has "$err" 'asks for credentials.envVars.0.mode "mask"'
printf '{%s,%s,"alowPty":true}' "$no_net" "$no_files" >"$s"
srt -s "$s" -c 'echo ran'
check "an unknown key is warned about" is "$(cat "$err")" "Warning: $s: unknown key 'alowPty'; did you mean 'allowPty'?"
check "... and the command runs" said ran
printf '{%s,%s,"seccomp":{},"ripgrep":{"command":"rg"},"mandatoryDenySearchDepth":3,"bwrapPath":"/x","socatPath":"/y","windows":{},"allowPty":true}' "$no_net" "$no_files" >"$s"
srt -s "$s" -c 'echo ran'
check "keys that need nothing are taken without a word" empty "$err"
srt -d -s "$s" -c 'echo ran'
check "... but for --debug" has "$err" "[SandboxDebug] bwrapPath: accepted"
printf '// mine\n{%s,%s,}' "$no_net" "$no_files" >"$HOME/.srt-settings.json"
srt -c 'echo ran'
check "the default settings may have comments" said ran
echo '{' >"$HOME/.srt-settings.json"
srt -c 'echo ran'
check "when they are wrong nothing runs" is "$rc$(cat "$out")" 1
rm "$HOME/.srt-settings.json"
srt -s /dev/stdin -c 'echo ran' # here it is /dev/null
check "settings from a descriptor" has "$err" "is empty"

# --- statuses and signals ---

for n in 0 1 3 126 255; do
	srt -c "exit $n"
	check "status $n" is "$rc" "$n"
done
srt -c 'kill -9 $$'
check "killed by KILL" is "$rc" 137
srt sh -c 'kill -15 $$'
check "killed by TERM" is "$rc" 143
srt no-such-program-here
check "not found is 127" is "$rc" 127
printf 'x' >noexec
srt ./noexec
check "not executable is 126" is "$rc" 126
wx exec -- no-such-program-here
check "not found, by wrapix exec" is "$rc" 127
mkfifo go
"$tmp/bin/srt" -c 'trap "echo trapped; exit 42" TERM; echo up >go; while :; do sleep 0.02; done' >"$tmp/log/out" 2>&1 &
pid=$!
started=$pid
hear go
kill -TERM $pid
wait $pid
rc=$?
started=
check "a signal reaches the command's trap" is "$(cat "$tmp/log/out")" trapped
check "and the status is the command's" is "$rc" 42

# --- descriptors, environment ---

srt -c 'ls /proc/self/fd | tr "\n" " "' 7<"$tmp" 9</dev/null
check "other descriptors are closed" said "0 1 2 3 "
srt --pass-fd 7 -c 'cat <&7' 7<noexec
check "--pass-fd lets one in" said x
srt --pass-fd 77 -c true
check "one that is not open" refused 1 "Error: --pass-fd 77: is not open"
SECRET=s TOKEN=t srt -c 'echo $SECRET $TOKEN $SANDBOX_RUNTIME'
check "the environment comes along" said "s t 1"
printf '{%s,%s,"credentials":{"envVars":[{"name":"SECRET","mode":"deny"}]},"git":{"safeDirectories":["/a","/b"]}}' "$no_net" "$no_files" >"$s"
SECRET=s TOKEN=t srt -s "$s" -c 'echo ${SECRET-none} $TOKEN; env | grep ^GIT_CONFIG | sort | tr "\n" " "'
check "but for what the settings deny" has "$out" "none t"
check "safe directories for git" has "$out" "GIT_CONFIG_COUNT=4 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_KEY_1=safe.directory GIT_CONFIG_KEY_2=safe.directory GIT_CONFIG_KEY_3=safe.directory GIT_CONFIG_VALUE_0=/a GIT_CONFIG_VALUE_1=/a/* GIT_CONFIG_VALUE_2=/b GIT_CONFIG_VALUE_3=/b/*"
printf '{%s,"filesystem":{"denyRead":["~"],"allowWrite":[],"denyWrite":[]}}' "$no_net" >"$s"
(
	unset HOME
	srt -s "$s" -c 'head -c 0 /etc/passwd && echo read; ls "$(getent passwd "$(id -u)" | cut -d: -f6)" >/dev/null 2>&1 || echo denied'
)
check "without HOME the home is the user database's" said "read
denied"
ln -s "$PWD" "$tmp/linked"
cd "$tmp/linked" || exit 1
srt -c 'pwd; pwd -P'
check "PWD is the name that the user's shell has" said "$tmp/linked
$project"
PWD=/somewhere/else srt -c pwd
check "... where it is one of the working directory's" said "$project"
cd "$project" || exit 1
srt -c 'f=$(mktemp) && echo text >"$f" && cat "$f"'
check "TMPDIR is there and works" said text
CLAUDE_CODE_TMPDIR=$tmp/own srt -c 'echo text >"$TMPDIR/kept"; echo "$TMPDIR"'
check "CLAUDE_CODE_TMPDIR is made and used" said "$tmp/own"
check "... and what is in it stays" is "$(cat "$tmp/own/kept")" text
srt -c 'pwd; echo "$HOME"'
check "paths are the host's" said "$project
$HOME"

# --- other keys ---

with() { # with KEYS: settings with these besides
	printf '{%s,%s,%s}' "$no_net" "$no_files" "$1" >"$s"
}
srt -c 'unshare -Ur true'
check "no namespaces inside" isnt "$rc" 0
with '"allowNestedUserNamespaces":true'
srt -s "$s" -c 'unshare -Urm sh -c "mount -t tmpfs none /mnt && echo mounted; touch .bashrc"'
check "allowNestedUserNamespaces" said mounted
check "... lifts no rule" has "$err" "'.bashrc': Permission denied"
srt -c 'echo /proc/[0-9]* | wc -w'
few=$(cat "$out")
with '"enableWeakerNestedSandbox":true'
srt -s "$s" -c 'echo /proc/[0-9]* | wc -w'
check "enableWeakerNestedSandbox: the outer /proc" [ "$(cat "$out")" -gt "$few" ]
check "... without a word" empty "$err"
srt -d -s "$s" -c true
check "... but for --debug" has "$err" "[SandboxDebug] enableWeakerNestedSandbox: /proc is the host's"
with '"limits":{"pids":"few"}'
srt -s "$s" -c true
check "a wrong limit" has "$err" "Error: limits: "
connect='import socket; socket.socket(socket.AF_UNIX).connect("'$tmp/sock'")'
python3 -c 'import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1] + ".new"); s.listen(); os.rename(sys.argv[1] + ".new", sys.argv[1]); sys.stdin.read()' "$tmp/sock" <go &
exec 5>go
await exists "$tmp/sock"
srt -- python3 -c "$connect"
check "a socket of the host's" has "$err" "Permission denied"
printf '{"network":{"allowedDomains":[],"deniedDomains":[],"allowUnixSockets":["%s"]},%s}' "$tmp/sock" "$no_files" >"$s"
srt -s "$s" -- python3 -c "$connect"
check "allowUnixSockets" is "$rc" 0
printf '{"network":{"allowedDomains":[],"deniedDomains":[],"allowAllUnixSockets":true},%s}' "$no_files" >"$s"
srt -s "$s" -- python3 -c "$connect"
check "allowAllUnixSockets" is "$rc" 0
exec 5>&-

# --- what is said ---

wx exec --json -c 'exit 3'
check "--json: the status" is "$(cat "$err")" '{"type":"exit","status":3}'
wx exec --json -s "$tmp/nowhere.json" -- true
check "--json: an error" has "$err" '{"type":"error","text":"Error: '
srt --violations "$tmp/no/where" -c 'echo ran'
check "a report that cannot be written" refused 1 "Error: --violations $tmp/no/where cannot be written (ENOENT). Refusing to run the command without the report it asks for."

ln -s "$HOME/target" report
srt --violations report -c 'echo ran'
check "a link in the report's place is not followed" refused 1 "Error: --violations report cannot be written (ELOOP). Refusing to run the command without the report it asks for."
rm report
mkdir "$tmp/apart" within && ln -s "$tmp/apart" out && ln -s within in
srt --violations out/report -c 'echo ran'
check "... nor one on the way that leads out of the working directory" refused 1 "Error: --violations out/report cannot be written (ELOOP). Refusing to run the command without the report it asks for."
check "... and nothing is made there" is "$(ls "$tmp/apart")" ""
srt --violations in/report -c 'touch .bashrc'
check "... but one that stays in it" has within/report '"rule":".bashrc"'
srt --violations "$project/out/report" -c 'echo ran'
check "... by a whole name as well" refused 1 "Error: --violations $project/out/report cannot be written (ELOOP). Refusing to run the command without the report it asks for."
rm -r out in within "$tmp/apart"
srt --violations report -c 'echo x >report; rm report; touch .bashrc'
check "the report is written" has report '"rule":".bashrc"'
check "... and not by the command" lines report 3
rm report

# Nothing stays behind.
check "the project holds what was put there" is "$(ls -A | tr '\n' ' ')" "go noexec "
check "so does the home" is "$(ls -A -I .local "$HOME")" ""
finish
