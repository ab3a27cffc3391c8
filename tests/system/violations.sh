#!/bin/sh
# SPDX-License-Identifier: MIT
# What was refused, and what would allow it: events of files, hosts and sockets, in the log, in the report, for an
# agent and for a person. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
s=$tmp/s.json
v=$tmp/v.jsonl
logs=$state/log

# settings DENYREAD ALLOWWRITE DENYWRITE [MORE]
settings() {
	printf '{"network":{"allowedDomains":[],"deniedDomains":[]},\n"filesystem":{"denyRead":[%s],\n"allowWrite":[%s],\n"denyWrite":[%s]}%s}\n' \
		"$1" "$2" "$3" "${4-}" >"$s"
}
# events FILE EXPRESSION: of the refusals e, and d, the first of them
events() {
	python3 - "$1" "$2" <<'END'
import json, sys
e = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
head = [x for x in e if "v" in x]
e = [x for x in e if x.get("type") == "deny"]
d = e[0] if e else {}
if not eval(sys.argv[2]):
    print(json.dumps(e, indent=1))
    sys.exit(1)
END
}
ex() { # ex SCRIPT [OPTION...]: leaves the report in $v
	ex_script=$1
	shift
	rm -f "$v"
	wx exec -s "$s" --violations "$v" "$@" -c "$ex_script"
}

# --- events ---

settings '"~/.ssh", "~/*.secret"' '' '"keep"'
mkdir "$HOME/.ssh" "$HOME/out"
echo k >"$HOME/.ssh/id"
echo k >"$HOME/a.secret"
ex 'echo x >keep'
check "denied by an entry: the rule, the key, the line" \
	events "$v" 'len(e) == 1 and (d["what"], d["path"], d["rule"], d["key"], d["origin"]) == ("write", "'"$project"'/keep", "keep", "filesystem.denyWrite[0]", "'"$s"':4")'
check "... what would allow it, and its risk" \
	events "$v" 'd["fix"] == {"key": "filesystem.denyWrite", "remove": "keep", "risk": "somebody denied it on purpose"}'
check "... exact" events "$v" '"predicted" not in d'
ex 'sh -c "touch $HOME/out/x; :"; :'
check "outside of what is writable: predicted" events "$v" 'len(e) == 1 and d["predicted"] and d["path"] == "'"$HOME"'/out/x" and d["fix"] == {"key": "filesystem.allowWrite", "add": "~/out/x"}'
check "... by whom, and who started that" events "$v" 'd["process"]["comm"] == "touch" and [p["comm"] for p in d["process"]["parents"]] == ["sh", "bash"]'
ex 'mkdir .vscode; mv s .mcp.json; :'
check "a protected name" events "$v" 'd["fix"]["add"] == ".vscode" and d["fix"]["key"] == "protect.remove"'
ex 'cat ~/a.secret; cat ~/.ssh/id; ls ~/.ssh; cat /etc/hostname; true'
check "a read that a pattern refuses" events "$v" 'len(e) >= 1 and d["what"] == "read" and d["path"] == "'"$HOME"'/a.secret"'
settings '"~/.ssh"' '' ''
ex 'cat ~/.ssh/id; true'
check "a read that a mount refuses leaves no trace" empty "$v"
ex 'cat ~/.ssh/id; ls ~/.ssh; cat /etc/hostname >/dev/null; true' --report reads
check "... but with --report reads" events "$v" '[x["path"] for x in e] == ["'"$HOME"'/.ssh/id", "'"$HOME"'/.ssh"] and d["fix"]["risk"]'
check "... and the reason is the rule" events "$v" 'd["rule"] == "~/.ssh" and d["origin"] == "'"$s"':2"'
ex 'getent hosts evil.example; true'
check "a host" events "$v" 'len(e) == 1 and d["name"] == "evil.example" and d["fix"] == {"key": "network.allowedDomains", "add": "evil.example"}'
python3 -c 'import socket,sys; s=socket.socket(socket.AF_UNIX); s.bind(sys.argv[1])' "$HOME/sock"
ex 'python3 -c "import socket; s=socket.socket(socket.AF_UNIX); s.connect(\"$HOME/sock\")" 2>/dev/null; true'
check "a UNIX socket" events "$v" 'len(e) == 1 and d["path"] == "'"$HOME"'/sock" and d["fix"]["key"] == "network.allowUnixSockets"'
ex 'for i in $(seq 300); do : >~/out/x; done 2>/dev/null; true'
check "a flood is counted" events "$v" 'len(e) < 5 and sum(x.get("count", 1) for x in e) == 300'
settings '' '' '' ',"ignoreViolations":{"*":["/out/"]}'
ex 'echo x >~/out/x; echo x >~/z; true'
check "ignoreViolations" events "$v" '[x["path"] for x in e] == ["'"$HOME"'/z"]'
settings '' '' ''
ex 'echo hi >here'
check "nothing refused, nothing said" is "$rc $(wc -c <"$v")$(cat "$err")" "0 0"

# --- for people and for agents ---

rm -rf "$logs"
wx exec -s "$s" -c 'echo x >~/z; echo x >~/z; mkdir .vscode; true' 2>/dev/null
check "told at the end, with what would allow it" has "$err" 'wrapix: refused writing ~/z: no allowWrite covers it; to allow it: add "~/z" to filesystem.allowWrite (2 times)'
check "... and what to think of" has "$err" 'add ".vscode" to protect.remove (careful: programs outside of the sandbox obey such files)'
check "the log has it, and whose settings they are" events "$logs"/*.jsonl 'len(e) == 2 and head[0]["policy"] == "srt" and head[0]["settings"] == "'"$s"'"'
wx log --violations
check "wrapix log --violations" has "$out" 'to allow it: add "~/z" to filesystem.allowWrite'
check "... shows the path" has "$out" "$HOME/z"
wx log --violations --json
check "... as JSON" events "$out" 'len(e) == 2 and e[0]["count"] == 2'
wx exec -s "$s" --annotate -c 'echo out; echo x >~/z; echo x >~/z; true'
cp "$err" "$tmp/annotated"
check "--annotate appends a block" is "$(sed -n '/^<sandbox_violations>/,$p' "$err")" "<sandbox_violations>
deny file-write $HOME/z (not-allowed); to allow it: add \"~/z\" to filesystem.allowWrite
</sandbox_violations>"
check "... and nothing else of ours" lacks "$err" "wrapix:"
wx exec -s "$s" -c 'echo x >~/z; true' && CLAUDECODE=1 wx exec -s "$s" -c 'echo x >~/z; true'
check "so does Claude Code's variable" has "$err" "<sandbox_violations>"
ln -s "$wrapix" "$tmp/srt"
"$tmp/srt" -s "$s" -c 'echo x >~/z; true' 2>"$err"
check "srt says nothing of its own" lacks "$err" "refused"
"$tmp/srt" --annotate -s "$s" -c 'echo x >~/z; true' 2>"$err"
check "... but with --annotate" has "$err" "<sandbox_violations>"

# --- hostile names ---

mkdir "$HOME/<"
printf 'touch "$HOME/$(printf "%%b" "</script>\\033[2Jx\\n<b>\\0342\\0200\\0256y")"; touch "$HOME/$(printf "\\377\\376")"; true\n' >hostile.sh
ex 'sh hostile.sh'
check "any bytes in a name: JSON" events "$v" 'len(e) == 2 and d["path"] == "'"$HOME"'/</script>\x1b[2Jx\n<b>\u202ey"'
check "... without one that a terminal obeys" printable "$v"
wx exec -s "$s" -c 'sh hostile.sh' 2>/dev/null
grep '^wrapix' "$err" >"$tmp/lines"
check "... at the end" printable "$tmp/lines"
wx log --violations
check "... in the log's text" printable "$out"
wx exec --annotate -s "$s" -c 'sh hostile.sh 2>/dev/null'
check "... and none ends the agent's block" is "$(grep -c sandbox_violations "$err") $(grep -c '<b>' "$err")" "2 0"
check "... or is obeyed" printable "$err"
finish
