#!/bin/sh
# SPDX-License-Identifier: MIT
# 'wrapix exec' and srt inside of 'wrapix run', where agents are: the outer supervisor lends a process. What a command
# sees is what it would see outside, and rules stack. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
uid=$(id -u)

settings() { # settings FILE DENYREAD DENYWRITE [MORE]
	printf '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[%s],"allowWrite":[],"denyWrite":[%s]}%s}\n' \
		"$2" "$3" "${4-}" >"$1"
}
# nest SCRIPT [OPTION...]: in a sandbox that has wrapix, under both of its names.
nest() {
	nest_script="PATH=/bin2:\$PATH; $1"
	shift
	inside "$nest_script" --mount "$wrapix:/bin2/wrapix:ro" --mount "$wrapix:/bin2/srt:ro" "$@"
}
# gives NAME WANT SCRIPT [OPTION...]: prints exactly that on standard output, in one line.
gives() {
	gives_name=$1 gives_want=$2
	shift 2
	nest "$@"
	check "$gives_name" is "$(xargs <"$out")" "$gives_want"
}

# --- a command ---

gives "a command runs, at its own place, as the same user" "hi $uid /workspace" 'wrapix exec -- sh -c "echo hi; id -u; pwd"'
gives "... its status comes back" "7 143 127 126" 'wrapix exec -- sh -c "exit 7"; echo $?; wrapix exec -- sh -c "kill -TERM \$\$"; echo $?
	wrapix exec -- /nonexistent; echo $?; wrapix exec -- /etc; echo $?'
gives "... the output of one goes where ours does" "to out" 'wrapix exec -- sh -c "echo to out; echo to err >&2"'
check "... and its errors" has "$err" "to err"
gives "... its input, and what it is passed" "typed passed" 'echo passed >f; echo typed | wrapix exec --pass-fd 7 -- sh -c "cat; cat <&7" 7<f'
gives "... umask, environment and directory are ours" "0027 bar /workspace/d" 'mkdir d; cd d; umask 027; FOO=bar wrapix exec -- sh -c "umask; echo \$FOO; pwd"'
settings s.json '"/workspace/secret"' '"/workspace/fixed"' ', "credentials": {"envVars": [{"name": "SECRET", "mode": "deny"}]}'
mkdir -p secret fixed && echo s >secret/s && echo f >fixed/f
printf 'import os, sys\nbig = {"BIG%%d" %% i: "x" * 100000 for i in range(12)}\nos.execvpe(sys.argv[1], sys.argv[1:], {**os.environ, **big})\n' >big.py
gives "... also a large environment" "12 12" 'python3 big.py wrapix exec -- sh -c "env | grep -c ^BIG; env | grep -c xxxxx"'
rm big.py
gives "... also a directory for temporary files, which is made" "ok /workspace/td/a 700" 'CLAUDE_CODE_TMPDIR=/workspace/td/a wrapix exec -- sh -c "touch \$TMPDIR/x && echo ok \$TMPDIR"; stat -c %a td/a; rm -r td'
gives "... but not where the sandbox around does not allow it" "125 125" 'for d in /etc/td .vscode/td; do CLAUDE_CODE_TMPDIR=$d wrapix exec -- true; echo $?; done'
check "... which is said" has "$err" "CLAUDE_CODE_TMPDIR: creating '/workspace/.vscode/td': Permission denied"
gives "... a secret of the settings' is not" "gone kept" 'SECRET=s KEPT=kept wrapix exec -s s.json -- sh -c "echo \${SECRET-gone} \$KEPT"'
gives "srt's own command line" "hi 1 0.0.83" 'srt "echo hi"; srt false; echo $?; srt --version'
gives "... and its errors" "1" 'echo "{}" >bad.json; srt -s bad.json true; echo $?'
check "... word for word" grep -q "^Error: bad.json does not hold a valid config" "$err"
gives "a second command finds it warm, a third from two at once" "a b c" 'wrapix exec -- echo a; wrapix exec -- echo b & wait; wrapix exec -- echo c'
gives "64 at once" "64 0" 'i=0; while [ $i -lt 64 ]; do wrapix exec -- sh -c "echo x >n$i" & i=$((i+1)); done; wait; ls n* | wc -l; rm n*; ls n* 2>/dev/null | wc -l'
gives "more than may be at a time wait" "80" 'i=0; while [ $i -lt 80 ]; do wrapix exec -- sh -c "sleep 0.1; echo x" & i=$((i+1)); done | wc -l'

# --- rules stack ---

gives "what the settings protect is protected" "s1 s2" 'wrapix exec -s s.json -- sh -c "cat secret/s" || echo s1; wrapix exec -s s.json -- sh -c "echo x >fixed/f" || echo s2'
gives "... and what always is" "1 1" 'wrapix exec -- touch .bashrc; echo $?; wrapix exec -- touch .claude/settings.json; echo $?'
check "... the tree is as it was" absent .bashrc
gives "... while the outer command may" "s x" 'cat secret/s; echo x >fixed/f; cat fixed/f'
printf '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":["/"],"denyWrite":[]}}\n' >wide.json
gives "what the outer one refuses stays so, whatever the settings allow" "1 1 1" 'wrapix exec -s wide.json -- sh -c "echo x >/etc/x"; [ -e /etc/x ]; echo $?
	wrapix exec -s wide.json -- sh -c "echo x >/usr/x"; [ -e /usr/x ]; echo $?; wrapix exec -s wide.json -- sh -c "ls '"$home"'" >/dev/null; [ -e '"$home"' ]; echo $?'
gives "... what it allows is written" "made" 'wrapix exec -s wide.json -- sh -c "echo made >/tmp/made"; cat /tmp/made'
gives "a directory of the outer one that is read-only" "2" 'wrapix exec -s wide.json -- sh -c "echo x >/ro/x"; echo $?' --mount "$project/fixed:/ro:ro"
check "... stays as it was" absent fixed/x

# --- what is said ---

nest 'wrapix exec --violations v.json -- touch .bashrc; wrapix exec --json -- touch .bashrc'
check "--violations" grep -q '"type":"deny".*"path":"/workspace/.bashrc"' v.json
check "--json: the refusal" grep -q '"type":"deny".*"path":"/workspace/.bashrc"' "$err"
check "... and the end" has "$err" '{"type":"exit","status":1}'
nest 'wrapix exec -- touch .bashrc; wrapix log --violations'
check "... at the end, to people" has "$err" "'.bashrc' is protected; to allow it: add"
check "... in the log" grep -q "bashrc" "$out"
nest 'CLAUDECODE=1 wrapix exec -- touch .bashrc'
check "... to an agent" has "$err" "<sandbox_violations>"
nest 'wrapix exec --violations v2.json -- sh -c "echo forged >v2.json"; wrapix exec -d -- true'
check "the report cannot be forged" fails grep -q ^forged v2.json
check "--debug" has "$err" "[SandboxDebug] ended with status 0"
mkdir -p .claude && echo '{"sandbox":{"enabled":true,"filesystem":{"denyRead":["/workspace/secret"]}}}' >.claude/settings.json
gives "Claude Code's settings count in its project" "0 1" 'cat secret/s >/dev/null; echo $?; wrapix exec -- cat secret/s; echo $?'
rm -r .claude

# --- while it runs ---

mkfifo control said 'then'
cat >live.sh <<'EOF'
wrapix exec -s s.json --control-fd 5 -- sh -c 'read x <said; echo n >fixed/f2 && echo written; read x <then; echo n >fixed/f3 || echo refused' 5<control &
exec 6>control
echo '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]}}' >&6
until grep -q updated err; do sleep 0.02; done
echo go >said
until [ -e fixed/f2 ]; do sleep 0.02; done
echo '{"nonsense":1}' >&6
until grep -q Invalid err; do sleep 0.02; done
cat s.json >&6
until [ "$(grep -c updated err)" = 2 ]; do sleep 0.02; done
echo go >then
wait
EOF
gives "--control-fd changes the rules, and a bad line does not" "written refused" 'SRT_DEBUG=1 timeout 50 sh live.sh 2>err'
gives "signals arrive" "term" 'wrapix exec -- sh -c "trap \"echo term; exit\" TERM; echo go >said; while :; do sleep 0.1; done" & p=$!; read x <said; kill $p; wait $p'
gives "stopped and continued" "T ended" 'wrapix exec -- sh -c "echo go >said; kill -STOP \$\$; echo ended" & p=$!; read x <said
	until grep -q "^State:.T" /proc/$p/status; do sleep 0.02; done; echo T; kill -CONT $p; wait $p'
nest 'wrapix exec -- sh -c "echo go >said; exec sleep 4321.0" & p=$!; read x <said; kill -9 $p; wait $p 2>/dev/null; echo over'
check "kill -9 of the client ends the command" none_running "^sleep 4321.0"

# --- where it is ---

inside 'srt "echo hi"; wrapix exec -- echo there; command -v srt'
check "wrapix and srt are there by themselves" is "$(xargs <"$out")" "hi there /opt/wrapix/bin/srt"

# --- where there is no door ---

gives "exec in an exec inside: refused, and nothing runs" "125" 'wrapix exec -- wrapix exec -- touch inner; echo $?'
check "... nothing was run" absent inner
check "... and says what to do" grep -q "^hint: the outer sandbox holds" "$err"
cat >ask.py <<'END'
import json, os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect("sock")
s.sendall(json.dumps({"command": sys.argv[1], "cwd": os.getcwd(), "env": dict(os.environ)}).encode() + b"\n")
print([json.loads(line)["status"] for line in s.makefile() if '"exit"' in line][0])
END
gives "--server inside: commands are served" "0 1 0 made gone" 'wrapix exec --server sock & until [ -S sock ]; do sleep 0.02; done
	python3 ask.py "echo made >by-server"; python3 ask.py "touch .bashrc 2>/dev/null"; python3 ask.py "test \"\$SANDBOX_RUNTIME\""
	kill $!; wait $!; cat by-server; [ -e sock ] || echo gone'
rm -f by-server
gives "... one that was killed is no obstacle" "0" 'ln -s /etc/wrapix/exec sock; wrapix exec --server sock & until python3 ask.py true; do sleep 0.02; done; kill $!; wait'
rm ask.py
gives "... and settings come with the requests" "2" 'wrapix exec --server sock -s x.json; echo $?'
gives "--allow-nested changes nothing of it" "hi 1" 'wrapix exec -- echo hi; wrapix exec -- touch .bashrc; echo $?' --allow-nested

# --- other roots and places ---

gives "a copy-on-write session: the command works on the copy" "new" 'wrapix exec -- sh -c "echo new >fresh"; cat fresh' --workspace cow
check "... and not on the project" absent fresh
gives "a terminal is none where there is none" "not a tty" 'wrapix exec -- tty'
finish
