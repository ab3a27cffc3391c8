#!/bin/sh
# SPDX-License-Identifier: MIT
# What was refused, and what would allow it: events of files, hosts and sockets, in the log, in the report, for an
# agent and for a person. Prints TAP.
#
# shellcheck disable=SC2088,SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
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
# events FILE EXPRESSION: of the refusals e, each of them once, with its count, d, the first of them, and written, as the log has
# them: one that comes again in another second is another line; and the seconds that they took
events() {
	python3 - "$1" "$2" <<'END'
import datetime, json, sys
lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
head = [x for x in lines if "v" in x]
written = [x for x in lines if x.get("type") == "deny"]
e = []
for x in written:
    same = [y for y in e if {**y, "t": 0, "count": 0} == {**x, "t": 0, "count": 0}]
    if same:
        same[0]["count"] = same[0].get("count", 1) + x.get("count", 1)
    else:
        e.append(dict(x))
d = e[0] if e else {}
times = [datetime.datetime.fromisoformat(x["t"].rstrip("Z")) for x in written]
seconds = (max(times) - min(times)).total_seconds() if e else 0
if not eval(sys.argv[2]):
    print(json.dumps(written, indent=1))
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
check "outside of what is writable: predicted" events "$v" 'len(e) == 1 and d["predicted"] and d["path"] == "'"$HOME"'/out/x" and d["fix"] == {"key": "filesystem.allowWrite", "add": "~/out"} and d["made"]'
check "... by whom, and who started that" events "$v" 'd["process"]["comm"] == "touch" and [p["comm"] for p in d["process"]["parents"]] == ["sh", "bash"]'
ex 'bash -c "echo x >~/out/y; exec touch ~/out/z"; :'
check "... also of one that becomes another program in the same moment" events "$v" '[(x["process"]["comm"], x["process"]["argv"][0], x["path"][-1]) for x in e] == [("bash", "bash", "y"), ("touch", "touch", "z")]'
cat >"$tmp/again.c" <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char name[32], next[8];
	snprintf(name, sizeof(name), "/opt/wrapix%s", argv[argc - 1]);
	open(name, O_WRONLY | O_CREAT, 0600);
	snprintf(next, sizeof(next), "%d", atoi(argv[argc - 1]) - 1);
	return *next == '0' ? 0 : execl(argv[0], argv[0], next, (char *)NULL);
}
END
for how in "-static -no-pie" "-fPIE -pie"; do
	# shellcheck disable=SC2086 # options
	cc $how -o "$tmp/again" "$tmp/again.c" || bail "no compiler"
	ex "exec $tmp/again 20"
	check "... by which arguments, of a program that starts itself over and over ($how)" events "$v" 'len(e) == 20 and all(x["path"] == "/opt/wrapix" + x["process"]["argv"][1] for x in e)'
done
settings '"~/.ssh", "~/*.secret"' '"."' '"keep"'
echo x >"$HOME/out/mine"
echo x >moved
cat >rename.py <<'END'
import os, sys
try:
    os.rename(*sys.argv[1:])
except OSError as e:
    print(e.errno)
END
for way in "$HOME/out/mine $HOME/out/x $HOME/out/mine" "$HOME/out/mine x $HOME/out/mine" "moved $HOME/out/x $HOME/out/x" "/usr/bin/env x /usr/bin/env" "moved /usr/bin/x /usr/bin/x"; do
	ex "python3 rename.py ${way% *}"
	check "a rename is told of also where the caller may copy instead: ${way% *}" events "$v" 'len(e) == 1 and d["what"] == "write" and d["call"].startswith("rename") and d["path"] == "'"${way##* }"'" and d["process"]["comm"] == "python3"'
	check "... and is refused" isnt "$(cat "$out")" ""
done
ex 'mkdir sub; python3 rename.py moved x; mv x sub; mv sub/x moved; rmdir sub; python3 rename.py nothing x; :'
check "control: one of its own is not, nor one of nothing" is "$([ ! -s "$v" ] || cat "$v") $(cat "$out")" " 2"
cat >link.py <<'END'
import os, sys
try:
    os.link(*sys.argv[1:])
except OSError as e:
    print(e.errno)
END
for way in "$HOME/out/mine x $HOME/out/mine none" "moved $HOME/out/x $HOME/out/x key" "$HOME/out/mine $HOME/out/x $HOME/out/mine none"; do
	fix=${way##* } way=${way% *}
	ex "python3 link.py ${way% *}"
	check "a hard link is told of, of the path that may not be written: ${way% *}" events "$v" 'len(e) == 1 and d["what"] == "write" and d["call"].startswith("link") and d["path"] == "'"${way##* }"'" and list(d["fix"])[0] == "'"$fix"'" and d["process"]["comm"] == "python3"'
	check "... and is refused" isnt "$(cat "$out")" ""
done
wx exec -s "$s" -- python3 link.py "$HOME/out/mine" x
check "... by its name, and nothing is proposed for its source" sh -c 'grep -q "refused a hard link to ~/out/mine: no allowWrite covers it$" "$1"' sh "$err"
wx learn
check "... by learn neither" lacks "$out" 'add "'
wx doctor
check "... nor by doctor" sh -c 'grep -q "refused lately *a hard link to ~/out/mine$" "$1" && ! grep -q "wrapix learn" "$1"' sh "$out"
ex 'mktemp ~/out/XXXXXX; mktemp -d ~/out/XXXXXX; mktemp ~/XXXXXX; mktemp ~/out/id_XXXXXX; :'
check "a name that is made up: its directory is proposed, where that is no risk" events "$v" '[x["fix"]["add"].count("/") for x in e] == [1, 1, 1, 2] and [x["fix"]["add"] for x in e][:2] == ["~/out", "~/out"] and "risk" in e[3]["fix"]'
ex "python3 link.py moved x; python3 link.py nothing y; python3 link.py moved x; python3 link.py /proc/version z; rm x"
check "control: one of its own is not, nor one of nothing, over something or between two file systems" is "$([ ! -s "$v" ] || cat "$v") $(tr '\n' ' ' <"$out")" " 2 17 18 "
wx run --network none -- sh -c 'mv moved /tmp/; mv /tmp/moved .'
check "... nor one between its own places" ended 0
wx exec -s "$s" --violations "$v" -c 'mv moved ~/out/; true'
check "mv itself: of its tries one is an event, and its copy" events "$v" '{x["path"] for x in e} == {"'"$HOME"'/out/moved"}'
settings '"~/.ssh", "~/*.secret"' '' '"keep"'
ex 'mkdir .vscode; mv s .mcp.json; :'
check "a protected name" events "$v" 'd["fix"]["add"] == ".vscode" and d["fix"]["key"] == "protect.remove"'
ex 'cat ~/a.secret; cat ~/.ssh/id; ls ~/.ssh; cat /etc/hostname; true'
check "a read that a pattern refuses" events "$v" 'len(e) >= 1 and d["what"] == "read" and d["path"] == "'"$HOME"'/a.secret"'
settings '"~/.ssh"' '' ''
ex 'cat ~/.ssh/id; true' --report changes
check "a read that a mount refuses leaves no trace with --report changes" empty "$v"
for how in '' '--report reads'; do
	# shellcheck disable=SC2086 # words
	ex 'cat ~/.ssh/id; ls ~/.ssh; cat /etc/hostname >/dev/null; true' $how
	check "... ${how:-without it} it does" events "$v" '[x["path"] for x in e] == ["'"$HOME"'/.ssh/id", "'"$HOME"'/.ssh"] and d["fix"]["risk"]'
	check "... exact, with the rule" events "$v" '"predicted" not in d and d["rule"] == "~/.ssh" and d["origin"] == "'"$s"':2"'
	check "... and it is refused" is "$(grep -c 'Permission denied' "$err")" 2
done
ln -s "$HOME/.ssh/id" "$project/absolute"
ln -s "$(python3 -c 'import os, sys; print(os.path.relpath(*sys.argv[1:]))' "$HOME/.ssh/id" "$project")" "$project/relative"
mkdir "$project/sub"
ln -s "$HOME/.ssh" "$project/sub/dir"
for way in 'cat absolute' 'cat relative' 'cat ./sub/../sub/dir/id' 'cd sub; cat dir/id' 'cd sub; cd ..; cat sub/dir/id' \
	'cd ~; cat .ssh/id' 'exec 5<sub; cat /proc/self/fd/5/dir/id' 'cat /proc/self/cwd/sub/dir/id' 'cat /proc/self/root$HOME/.ssh/id' "python3 -c 'import os; os.open(\"dir/id\", 0, dir_fd=os.open(\"sub\", 0))'" \
	"python3 -c 'import os; os.chdir(\"sub\"); os.rename(\"../sub\", \"../bus\"); os.rename(\"../bus\", \"../sub\"); open(\"dir/id\")'"; do
	ex "$way >/dev/null; true"
	check "a way to it: $way" events "$v" '[x["path"] for x in e] == ["'"$HOME"'/.ssh/id"]'
done
ex "python3 -c 'import ctypes, os, struct
path, how = os.path.expanduser(\"~/.ssh/id\").encode(), struct.pack(\"QQQ\", 0, 0, 0)
assert ctypes.CDLL(None).syscall(437, -100, path, how, 24) < 0'"
check "... openat2" events "$v" 'd["call"] == "openat2" and d["path"] == "'"$HOME"'/.ssh/id"'
ex 'cat ~/.bashrc sub/none ~/.sshx /etc/shadow "$HOME" </dev/null; true'
check "what no rule refuses is not told" empty "$v"
# Directories are remembered from the second look on, within a moment: all of it in one process.
cat >"$project/again.py" <<'END'
import os, sys
os.mkdir("d"); open("d/plain", "w").close()
def read(path):
    try:
        open(path).close()
        return True
    except PermissionError:
        return False
for turn in range(50):
    assert all(read("d/plain") for i in range(5))
    os.symlink(os.path.expanduser("~/.ssh/id"), "d/link")
    assert not read("d/link")                           # a name that is new
    os.remove("d/link")
    os.rename("d", "e"); os.symlink(os.path.expanduser("~/.ssh"), "d")
    assert not read("d/id")                             # another directory
    os.remove("d"); os.rename("e", "d")
    for i in range(3):
        assert not read(os.path.expanduser("~/.ssh/id"))
        assert not read(os.path.expanduser("~/.ssh"))
END
ex 'python3 again.py'
check "what was looked at before is looked at again" is "$rc" 0
check "... and each time told of" events "$v" 'sum(x.get("count", 1) for x in e if x["path"].endswith("/.ssh/id")) == 250 and sum(x.get("count", 1) for x in e if x["path"].endswith("/.ssh")) == 150'
cat >"$project/again.py" <<'END'
import errno, os
def write(path):
    try:
        open(path, "w").close()
        return 0
    except OSError as e:
        return e.errno
out, tmp, here = os.path.expanduser("~/out"), os.environ["TMPDIR"], os.getcwd()
os.mkdir(f"{tmp}/d"); os.mkdir("in")
for turn in range(50):
    assert [write(f"{out}/x") for i in range(4)] == [errno.EROFS] * 4
    assert [write(f"{tmp}/d/x") for i in range(4)] == [0] * 4
    os.rename(f"{tmp}/d", f"{tmp}/e"); os.symlink(f"{here}/in", f"{tmp}/d")
    assert write(f"{tmp}/d/y{turn}") == 0 and os.path.exists(f"in/y{turn}")
    os.remove(f"{tmp}/d"); os.rename(f"{tmp}/e", f"{tmp}/d")
    assert write("/dev/null") == 0 and write(f"{out}/") != 0 and write(f"{out}/.") != 0
END
ex 'python3 again.py'
check "writing, too" is "$rc" 0
check "... each time told of" events "$v" 'sum(x.get("count", 1) for x in e if x["predicted"] and x["path"].endswith("/out/x")) == 200'
rm -r "$project/absolute" "$project/relative" "$project/sub" "$project/d" "$project/in" "$project/again.py"
ex 'getent hosts evil.example; true'
check "a host" events "$v" 'len(e) == 1 and d["name"] == "evil.example" and d["fix"] == {"key": "network.allowedDomains", "add": "evil.example"}'
python3 -c 'import socket,sys; s=socket.socket(socket.AF_UNIX); s.bind(sys.argv[1])' "$HOME/sock"
ex 'python3 -c "import socket; s=socket.socket(socket.AF_UNIX); s.connect(\"$HOME/sock\")" 2>/dev/null; true'
check "a UNIX socket" events "$v" 'len(e) == 1 and d["path"] == "'"$HOME"'/sock" and d["fix"]["key"] == "network.allowUnixSockets"'
ex 'for i in $(seq 300); do : >~/out/x; done 2>/dev/null; true'
check "a flood is counted" events "$v" 'len(written) < 5 + seconds and sum(x.get("count", 1) for x in e) == 300'
settings '' '' ''
ex 'cp /bin/true s; chmod 4755 s; chmod 2755 s; stat -c %a s; mkdir g; chmod 2755 g; stat -c %a g; rm -r s g'
check "a mode that would make others the user, or of his group, is given to no file" eval 'is "$(cat "$out")" "755
2755" && has "$err" "Operation not permitted"'
check "... which is told of" events "$v" '[(x["call"], x["args"], x["reason"], x["fix"]) for x in e] == [("fchmodat", "\"s\", 04755", "setuid", {"none": "no setting allows this system call"})]'
ex 'unshare -U true; mount -t tmpfs x /mnt; python3 -c "import socket; socket.socket(17, 3, 0)"; unshare --fork true; true'
check "a system call that the filter refuses: which, with what" events "$v" '[(x["what"], x["call"], x["args"], x["reason"]) for x in e] == [("call", "unshare", "CLONE_NEWUSER", "namespaces"), ("call", "mount", "\"x\", \"/mnt\", \"tmpfs\"", "namespaces"), ("call", "socket", "AF_PACKET, SOCK_RAW, 0", "system-call")]'
check "... by whom, and what would allow it" events "$v" 'd["process"]["argv"] == ["unshare", "-U", "true"] and d["fix"]["key"] == "allowNestedUserNamespaces" and d["fix"]["set"] and e[2]["fix"] == {"none": "no setting allows this system call"}'
check "... which gets the filter's own errno" is "$(grep -c 'Operation not permitted\|must be superuser\|Address family not supported' "$err")" 3
ex 'python3 -c "
import ctypes, os
libc = ctypes.CDLL(None)
for i in range(20000): libc.unshare(1 << 28)
print(os.strerror(1))"'
check "... a flood is counted" events "$v" 'len(written) < 20 + seconds and sum(x.get("count", 1) for x in e) == 20000'
settings '' '' '' ',"allowNestedUserNamespaces":true'
ex 'unshare -U true && echo made'
check "... and with the setting it is allowed" is "$rc$(cat "$out")$(cat "$v")" 0made
settings '' '' ''
rm -rf "$logs"
prlimit --cpu=1:60 "$wrapix" exec -s "$s" -c 'while :; do :; done' 2>"$err"
check "a limit of processor time is an event" has "$(ls "$logs"/*.jsonl)" '"type":"limit","text":"processor time (ulimit -t)'
rm -rf "$logs"
prlimit --fsize=5000000: "$wrapix" exec -s "$s" -c 'exec head -c 20M /dev/zero >long' 2>"$err"
rm -f long
check "... and one of a file's length" has "$(ls "$logs"/*.jsonl)" '"type":"limit","text":"the length of a file (ulimit -f)'
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

# Standard error is one open file for the command and for us. Whoever reads it is slow, as long as nothing is 'filled'.
cat >fill.py <<'EOF'
import fcntl, os
fcntl.fcntl(2, fcntl.F_SETFL, fcntl.fcntl(2, fcntl.F_GETFL) | os.O_NONBLOCK)
for size in 4096, 1:
    try:
        while True:
            os.write(2, b"#" * size)
    except BlockingIOError:
        pass
try:
    open(os.path.expanduser("~/z"), "w")
except OSError:
    open("filled", "w")
EOF
waits() { python3 -c 'import fcntl, os; print(not fcntl.fcntl(2, fcntl.F_GETFL) & os.O_NONBLOCK)'; }
fill() { # WORD...: how exec is to tell; the text of standard error, and whether it waits for its reader after that
	rm -f filled
	{ timeout 120 "$wrapix" exec -s "$s" "$@" -- python3 fill.py; waits >"$out"; } 2>&1 | (await test -e filled; tr -d '#' >"$err")
}
fill
check "a command that fills standard error and does not wait takes no word away" has "$err" "wrapix: refused writing ~/z"
check "... and leaves it waiting, as it was" is "$(cat "$out")" True
fill --json
check "... also in JSON, up to the last line" has "$err" '"type":"exit","status":0'
rm fill.py filled

# --- run ---

rm -rf "$logs"
for net in none open filtered; do
	wx run --network $net -- sh -c 'unshare -U true; true'
	check "run --network $net tells of a refused system call" has "$err" "refused calling unshare(CLONE_NEWUSER): namespaces and mounts of its own are kept from it; to allow it: set allowNested to true"
	check "... and of nothing else" is "$(grep -c '^wrapix: refused' "$err")" 1
done
wx log --violations
check "... so does the log" has "$out" "call unshare(CLONE_NEWUSER)"
wx learn
check "... and learn, as a risk" has "$out" "set allowNested to true"
wx run --network none -- sh -c 'ls >/dev/null; git --version >/dev/null; sh -c "exit 3"'
check "ordinary programs make none" is "$rc$(grep -c refused "$err")" 30

echo mine >"$HOME/mine"
wx run --network none --mount "$HOME/mine:/mine" -- sh -c 'echo x >/etc/x; rm /usr/bin/env; mkdir /opt/x; mv /etc/hosts /etc/h; echo x >/tmp/x; echo x >/mine; cat /etc/passwd >x; true'
check "what cannot be written in there: the end has a line for the first" is "$(grep '^wrapix: ' "$err")" "wrapix: refused writing /etc/x: the sandbox has it to read
wrapix: and refused 3 more"
wx log --violations --json
check "... and is an event, predicted" is "$(grep -o '"path":"[^"]*","reason":"read-only","predicted":true' "$out" | cut -d'"' -f4 | xargs)" "/etc/x /usr/bin/env /opt/x /etc/hosts"
check "... with what would help" has "$out" '"fix":{"none":"a directory of yours could be mounted there, without'
check "control: what can be is none" is "$(cat "$HOME/mine") $(grep -c '"type":"deny"' "$out")" "x 4"

# The same whoever makes the changes: the supervisor, or the kernel in a view or in the project itself.
cat >acts.py <<'END'
import os, socket
def act(do, *args, **more):
    try:
        return do(*args, **more)
    except OSError:
        return None
def make(path, **more):
    return act(os.open, path, os.O_WRONLY | os.O_CREAT, **more)
make("/usr/new")
make("/mine.ro")
make("/tmp/q")
act(os.rename, "/tmp/q", "/usr/in")
act(os.rename, "/usr/bin/env", "/usr/moved")
act(os.rename, "own", "/usr/out")
act(os.rename, "/usr/bin/env", "own")
act(os.link, "/usr/bin/env", "/usr/linked")
act(os.symlink, "x", "/usr/sym")
act(os.symlink, "/usr/target", "/tmp/sym")
make("/tmp/sym")
act(os.unlink, "/usr/bin/sh")
act(os.mkdir, "/usr/dir")
act(os.truncate, "/usr/bin/cat", 0)
act(os.chmod, "/usr/bin/ls", 0o755)
act(os.fchmod, os.open("/usr/bin/mv", os.O_RDONLY), 0o755)
act(os.setxattr, "/usr/bin/cp", "user.x", b"1")
act(os.open, "/usr/lib", os.O_TMPFILE | os.O_RDWR)
act(socket.socket(socket.AF_UNIX).bind, "/usr/socket")
os.chdir("/usr/lib")
make("relative")
make("by-dir", dir_fd=os.open("/usr", os.O_PATH))
os.chdir("/workspace")
make("/workspace/../usr/up")
make("/proc/self/root/usr/proc")
# refused for another reason, or not at all
act(os.mkdir, "/usr/bin")
act(os.truncate, "/usr/none", 0)
make("/dev/null")
os.mkdir("made")
os.rename("made", "moved")
os.fchmod(make("moved/file"), 0o600)
os.symlink("file", "moved/link")
os.utime("moved/link")
os.unlink("moved/file")
END
told="openat /usr/new, openat /mine.ro, rename /usr/in, rename /usr/bin/env, rename /usr/out, link /usr/linked, symlink /usr/sym, openat /usr/target, unlink /usr/bin/sh, mkdir /usr/dir, truncate /usr/bin/cat, chmod /usr/bin/ls, fchmod /usr/bin/mv, setxattr /usr/bin/cp, openat /usr/lib, bind /usr/socket, openat /usr/lib/relative, openat /usr/by-dir, openat /usr/up, openat /usr/proc"
for how in "--workspace direct" "--workspace cow" "--git direct"; do
	touch own
	rm -rf moved
	# shellcheck disable=SC2086 # two words
	wx run --network none $how --mount "$HOME/mine:/mine.ro:ro" -- python3 acts.py
	check "run $how: the command does what it may" is "$rc$(grep -c Traceback "$err")" 00
	wx log --violations --json
	check "... and each act on what is read-only is an event" is "$(sed -n 's/.*"what":"write","call":"\([^"]*\)","path":"\([^"]*\)","reason":"read-only","predicted":true.*/\1 \2/p' "$out" | paste -sd, | sed 's/,/, /g')" "$told"
	check "... and nothing else" is "$(grep -c '"type":"deny"' "$out")" 20
done

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

# --- why ---

# why STATUS TEXT ARG...: says so
why() {
	why_status=$1 why_text=$2
	shift 2
	wx why "$@"
	check "why $*: $why_text" has "$out" "$why_text"
	check "... status $why_status" is "$rc" "$why_status"
}
printf '{"network":{"allowedDomains":["ok.example", "*.wide.example", "localhost:81"],"deniedDomains":["no.wide.example"]},\n"filesystem":{"denyRead":["~/.ssh"],\n"allowWrite":["~/out"],\n"denyWrite":["keep"]}}\n' >"$s"
why 3 "writing ~/z: no, no allowWrite covers it" -s "$s" "$HOME/z"
check "... and what to write where" has "$out" "to allow it: add \"~/z\" to filesystem.allowWrite in $s"
why 0 "writing ~/out/z: yes, filesystem.allowWrite[0], '~/out' at $s:3" -s "$s" "$HOME/out/z"
why 3 "'keep' denies it, filesystem.denyWrite[0] at $s:4" -s "$s" keep/x
why 3 "reading ~/.ssh/id: no, '~/.ssh' denies it" -s "$s" '~'/.ssh/id
ln -s "$HOME/.ssh" link
why 3 "reading ~/.ssh/id: no" -s "$s" link/id
rm link
why 3 "connecting to ~/sock: no" -s "$s" "$HOME/sock"
why 0 "looking up ok.example: yes, rule 'ok.example'" -s "$s" ok.example
why 0 "connecting to a.wide.example:443: yes" -s "$s" a.wide.example:443
why 3 "take \"no.wide.example\" out of network.deniedDomains" -s "$s" no.wide.example
why 3 "add \"other.example\" to network.allowedDomains" -s "$s" other.example:22
why 0 "a port of this machine that is opened" -s "$s" localhost:81
why 3 "connecting to localhost:82: no" -s "$s" localhost:82
why 3 "writing ~/z: no, it is not in the sandbox" --run "$HOME/z"
why 0 "it is /workspace/a inside" --run ./a
printf '{"network": {"mode": "filtered",\n"deny": ["no.example"]}}' >wrapix.json
why 3 "a rule denies it: no.example at $project/wrapix.json:2" --run no.example:443
wx run -- sh -c 'getent hosts no.example; getent hosts other.example; :'
check "... at the end of a session, with what would allow it" has "$err" "refused no.example: denied-name, by rule no.example at $project/wrapix.json:2; to allow it: take \"no.example\" out of network.deny (careful: somebody denied it on purpose)"
check "... and of a host without a rule" has "$err" 'refused other.example: not-allowed; to allow it: add "other.example" to network.allow'
wx log --violations
check "... the log has where it is written" has "$out" "    by network.deny, $project/wrapix.json:2"
check "... and who started it" has "$out" "    started by sh 2"
wx log --json
check "... and so says the event" has "$out" '"rule":"no.example","key":"network.deny","origin":"'"$project"'/wrapix.json:2"'
rm wrapix.json
why 3 "namespaces and mounts of its own are kept from it" -s "$s" 'mount()'
why 3 "with some arguments: namespaces" -s "$s" 'clone()'
why 3 "no sandbox may make this system call" --run 'keyctl()'
why 3 "the kernel lacks it (ENOSYS)" -s "$s" 'io_uring_setup()'
why 0 "every sandbox may make it" -s "$s" 'read()'
why 1 'add "Bash(git push)" to permissions.allow in ' -- git push
why 1 'part     git log' 'git log | head; git push'
why 1 'part     git log' -- 'git log | head; git push'
why 3 'writing ~/a b: no' -s "$s" '~/a b'
why 1 'add "Bash(uptime)" to permissions.allow in ' uptime
why 3 'looking up uptime: no' -s "$s" uptime.
why 3 'connecting to uptime:443: no' -s "$s" uptime:443
why 0 'looking up no-such-program: yes' --run no-such-program
why 3 "writing $project/keep: no, 'keep' denies it" -s "$s" keep
: >uptime
why 0 'reading '"$project"'/uptime: yes' -s "$s" uptime
rm uptime
wx why --run uptime
check "rules about commands are Claude Code's alone" refused 2 "'uptime' is a command, and these settings have no rules about commands"
check "... and how to say that it is a host" has "$err" "a host is 'uptime.' or 'uptime:443'"
wx why -s "$s" -- git push
check "... by whatever words" refused 2 "'git push' is a command"
wx why python3.11
check "a word that can be no host" has "$err" "a command stands after '--'"
wx why --json -s "$s" "$HOME/z"
check "why --json" python3 -c 'import json,sys; a=json.load(open(sys.argv[1])); assert a["policy"] == "srt" and [x["allowed"] for x in a["answers"]] == [True, False] and a["answers"][1]["fix"]["add"] == "~/z"' "$out"
wx why
check "why needs a word" refused 2 "say one thing"
wx why "$(printf 'e\033[2J:x')"
check "a hostile word is escaped" printable "$err"
# What it says is what happens.
for path in "$HOME/out/w" "$HOME/w" ./keep .vscode ./here; do
	wx why --json -s "$s" "$path"
	said=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["answers"][1]["allowed"])' "$out")
	wx exec -s "$s" -c "echo x >'$path' 2>/dev/null && echo True || echo False"
	check "... and so it is: ${path##*/}" is "$(cat "$out")" "$said"
done

# --- command lines: each backslash once, and JSON stays JSON ---

printf '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]}}\n' >"$s"
rm -rf "$logs"
wx exec -s "$s" -- sh -c 'printf "a\\t\033b" >~/z; true'
for where in 'log --violations' learn 'report --md'; do
	# shellcheck disable=SC2086 # words
	wx $where
	check "'wrapix $where' shows a command line as a shell takes it" has "$out" 'printf "a\\t\033b" >~/z'
done
wx log --violations --json
check "... and --json as it was" python3 -c 'import json,sys; assert any(json.loads(line).get("process", {"argv": [0, 0, 0]})["argv"][2] == r"""printf "a\\t\033b" >~/z; true""" for line in open(sys.argv[1]))' "$out"

# --- learn ---

printf '{ // mine\n"network":{"allowedDomains":[],"deniedDomains":[]},\n"filesystem":{"denyRead":["~/.ssh"],\n  "allowWrite":[],\n  "denyWrite":["keep"]}}\n' >"$s"
rm -rf "$logs"
mkdir "$HOME/cache"
wx exec -s "$s" --report reads -c 'touch ~/z ~/cache/a ~/cache/b ~/cache/c; echo x >keep; touch ~/.bashrc; cat ~/.ssh/id; getent hosts new.example; mkdir .vscode; true'
cp "$s" "$tmp/before"
wx learn
check "learn proposes" has "$out" 'add "~/z" to filesystem.allowWrite'
check "... many files as their directory" has "$out" 'add "~/cache" to filesystem.allowWrite (3 times)'
check "... not each of them" lacks "$out" '/cache/a"'
check "... a host, and who needed it" has "$out" "needed by getent hosts new.example"
check "... and what has a risk apart" is "$(sed -n '/^with a risk/,/^hint/p' "$out" | grep -c careful:)" 4
check "... and changes nothing" cmp "$s" "$tmp/before"
wx learn --json
check "learn --json" python3 -c 'import json,sys; a=json.load(open(sys.argv[1])); assert a["refused"] >= 9 and {c["fix"].get("add") for c in a["changes"] if c["proposed"]} == {"~/z", "~/cache", "new.example"}' "$out"
wx learn --apply
check "learn --apply" is "$rc" 0
check "... changes these lines alone" is "$(diff "$tmp/before" "$s" | sed -n 's/^> //p')" '"network":{"allowedDomains":["new.example"],"deniedDomains":[]},
  "allowWrite":["~/z", "~/cache"],'
cp "$s" "$tmp/once"
wx learn --apply
check "... and nothing the second time" cmp "$s" "$tmp/once"
check "... which is said" has "$out" "nothing was written"
check "... and is proposed no more" is "$(sed -n '/^the settings cover it already, /,/^[^ ]/{s/^  add "\([^"]*\)" .*/\1/p}' "$out" | xargs) $(grep -c "^to allow that\|^written" "$out")" "~/z ~/cache new.example 0"
wx learn --json
check "... in JSON neither" python3 -c 'import json,sys; a=json.load(open(sys.argv[1])); assert {c["fix"].get("add") for c in a["changes"] if c.get("settled")} == {"~/z", "~/cache", "new.example"} and not any(c["proposed"] for c in a["changes"])' "$out"
sed 's|"~/z", "~/cache"|"~/z/"|; s|"new.example"|"*.example"|; s|"keep"||' "$tmp/once" >"$s"
wx learn
check "... nor what another entry covers, or what is denied no more" is "$(sed -n '/^the settings cover/,$p' "$out" | grep -c '"~/z"\|new.example" to\|"keep"')" 3
cp "$tmp/once" "$s"
wx learn --apply --risky
wx learn --apply --risky
check "... what has a risk the same" has "$out" "nothing was written"
cp "$tmp/once" "$s"
wx exec -s "$s" -c 'touch ~/z ~/cache/a ~/cache/d'
check "... and then it is allowed" is "$rc$(cat "$err")" 0
wx exec -s "$s" -c 'touch ~/.bashrc'
check "... but not what has a risk" isnt "$rc" 0
rm -rf "$logs"
wx exec -s "$s" -c 'touch ~/.bashrc; true'
wx learn
check "where all has a risk, --apply by itself is not proposed" has "$out" "--apply --risky' writes also what has a risk"
check "... in one hint" is "$(grep -c ^hint "$out")" 1
cp "$s" "$tmp/before"
wx learn --apply
check "... and writes nothing, which is said" has "$out" "nothing was written"
check "... " cmp "$s" "$tmp/before"
wx learn nobody
check "no such session" refused 2 "there is no log of a session 'nobody'"
rm -rf "$logs"
wx run --network filtered -- getent hosts new.example
wx learn --apply
check "of run: wrapix.json" is "$(tr -d ' \n' <wrapix.json)" '{"network":{"allow":["new.example"]}}'
echo '{}' >"$tmp/mine.json" && ln -sf "$tmp/mine.json" wrapix.json
wx learn --apply
check "... and not by a link that leads out of the project" refused 125 "leads out of it, by a link"
check "... nothing was written there" is "$(cat "$tmp/mine.json")" "{}"
rm wrapix.json
mkdir sub "$tmp/apart"
cd sub || exit 1
wx run --name below --network filtered -- getent hosts sub.example
cd "$project" || exit 1
mv sub was && ln -s "$tmp/apart" sub
wx learn below --apply
check "... nor where the project itself is one by now" refused 125 "leads out of it, by a link"
check "... nothing was made there" is "$(ls "$tmp/apart")" ""
rm -r sub was "$tmp/apart"
wx exec -s "$s" -c "touch ~/'a\033[2J</b>'; true"
wx learn
check "what a session asked for is escaped" printable "$out"

# --- Claude Code's settings ---

rm -rf "$logs" .claude
mkdir .claude
echo '{"sandbox":{"enabled":true,"filesystem":{"denyWrite":["keep"]}}}' >.claude/settings.json
wx exec -c 'touch ~/z2; mkdir keep; true'
check "Claude Code's keys" has "$err" 'add "~/z2" to sandbox.filesystem.allowWrite'
check "... and its file and line" has "$err" "sandbox.filesystem.denyWrite[0] at $project/.claude/settings.json:1"
wx why .claude/hooks/x
check "what decides about the sandbox is never its own to write, and nothing is proposed for it" has "$out" "'$project/.claude/hooks' denies it, always
  this file is what the sandbox itself rests on"
mkdir -p "$HOME/.claude"
wx learn --apply
check "in a folder that is not trusted learn writes the user's own settings" is "$(tr -d ' \n' <"$HOME/.claude/settings.json")" '{"sandbox":{"filesystem":{"allowWrite":["~/z2"]}}}'
wx exec -c 'touch ~/z2 && rm ~/z2'
check "... which count" is "$rc" 0
rm "$HOME/.claude/settings.json"
printf '{"projects": {"%s": {"hasTrustDialogAccepted": true}}}' "$project" >"$HOME/.claude.json"
wx exec -c 'unshare -U true; touch ~/z2; true'
wx log --violations
check "what no file of a project may set is not proposed for one" has "$out" "sandbox.allowNestedUserNamespaces in your own ~/.claude/settings.json would"
wx learn --apply --risky
check "learn writes the local settings" is "$(tr -d ' \n' <.claude/settings.local.json)" '{"sandbox":{"filesystem":{"allowWrite":["~/z2"]}}}'
wx exec -c 'touch ~/z2'
check "... which count too" is "$rc" 0
wx why --json ~/z2
check "why asks the same" has "$out" "\"policy\":\"claude\",\"settings\":\"$project/.claude/settings.local.json\""
wx doctor
check "doctor: what is enforced here" grep -q "^ok *policy here *Claude Code's settings, .*settings.local.json; files: .* hosts: 0 allowed" "$out"
check "doctor: what was refused, and that it is learnt" sh -c 'grep -qF "writing ~/z2 (the settings allow it by now)" "$1" && ! grep -q "fix: wrapix learn" "$1"' sh "$out"
wx exec -c 'touch ~/z3; true'
wx doctor
check "... and what to do" grep -q 'fix: wrapix learn ' "$out"
echo '{' >.claude/settings.json
wx doctor
check "doctor: settings that cannot be read" grep -qE "^missing +policy here +[^ :]*/.claude/settings.json:" "$out"
wx doctor --json
check "doctor --json" python3 -c 'import json,sys; a={c["check"]: c for c in json.load(open(sys.argv[1]))}; assert a["policy here"]["verdict"] == "missing" and "~/z3" in a["refused lately"]["text"]' "$out"
finish
