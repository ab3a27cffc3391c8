#!/bin/sh
# SPDX-License-Identifier: MIT
# Ways round the file rules of 'wrapix exec' that once worked or nearly did, each with something beside it that does
# work: links that stand for protected names, mounts made inside, files that the host replaces, descriptors that are
# opened again. Prints TAP.
#
# shellcheck disable=SC1091,SC2015,SC2016,SC2034,SC2154,SC2317,SC3045 # ulimit -S; the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
command -v git >/dev/null || bail "git is not installed"
set_up
s=$tmp/s.json
mkdir "$HOME/other"
git init -q . && git config user.name n && git config user.email n@example.org && echo x >f && git add f && git commit -qm x

settings() { # settings DENYREAD [MORE]
	printf '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[%s],"allowWrite":[],"denyWrite":[]}%s}\n' \
		"$1" "${2-}" >"$s"
}
run() { # run SCRIPT: leaves $rc, $out and $err; standard input is the caller's
	out=$tmp/log/out err=$tmp/log/err
	timeout --foreground -s KILL 60 "$wrapix" exec -s "$s" -c "$1" >"$out" 2>"$err"
	rc=$?
}
can() { run "$1" </dev/null && is "$rc" 0; }
cannot() { run "$1" </dev/null; isnt "$rc" 0 && has "$err" "${2-Permission denied}"; }

# --- links that stand for protected names ---

settings ''
mkdir evil && echo '{}' >evil/settings.json && ln -s evil link
check "a link to a directory" can 'ln -s evil l && mv l l2 && ln l2 l3 && rm l2 l3'
for name in .claude .git .config deep/.claude; do
	mkdir -p deep && rm -rf sub && mkdir sub
	check "no link at $name" cannot "cd sub && mkdir -p deep && ln -s ../evil $name"
	check "... by a rename" cannot "cd sub && mkdir -p deep && mv ../link $name"
	check "... by a hard link" cannot "cd sub && mkdir -p deep && ln -P ../link $name"
done
check "... by an exchange" cannot 'cd sub && mkdir -p .claude && python3 -c "
import ctypes, os
r = ctypes.CDLL(None, use_errno=True).renameat2(-100, b\"../link\", -100, b\".claude\", 2)
raise SystemExit(0 if r == 0 else os.strerror(ctypes.get_errno()))"'
check "a directory of the name can be made" can 'mkdir -p sub/.claude && echo x >sub/.claude/notes'
check "no link in git's directory leads out" cannot 'ln -s ~/.bashrc .git/logs/LINK'
check "... or to its configuration" cannot 'ln -s config .git/FETCH_HEAD'
check "... or comes with a directory" cannot 'mkdir l && ln -s ~/.bashrc l/HEAD && mv l .git/more'
check "... or by a rename" cannot 'ln -s ~/.bashrc out && mv out .git/FETCH_HEAD'
check "... nor in a bare one" cannot 'git init -q --bare bare.git && ln -s ~/.bashrc bare.git/logs'
check "git itself does not mind" can 'git init -q new && cd new && git config user.name n && git config user.email n@example.org &&
	git commit -q --allow-empty -m x && git checkout -q -b y && git gc -q && test "$(git config core.symlinks)" != false'

# --- links that come along with a directory ---

git init -q below && git -C below -c user.name=n -c user.email=n@example.org commit -q --allow-empty -m x
check "a directory moves in its git directory" can 'mv below/.git/logs below/.git/old && mv below/.git/old below/.git/logs'
run 'mkdir -p fake/d fake/objects fake/refs; ln -s ~/.bashrc fake/d/HEAD; echo "ref: refs/heads/main" >fake/HEAD
	mv below/.git/logs below/.git/old; mv -T fake/d below/.git/logs; ls -l below/.git/logs/' </dev/null
check "... but none with links comes from what was made one" lacks "$out" "->"
rm -rf below fake
check "nothing with links in it becomes a git directory" cannot 'mkdir -p b/logs b/objects b/refs; ln -s ~/.bashrc b/logs/HEAD; echo "ref: refs/heads/main" >b/HEAD'
check "... without them it does" can 'rm -rf b; mkdir -p b/logs b/objects b/refs; echo "ref: refs/heads/main" >b/HEAD'
rm -rf b

# --- a working directory and a descriptor that another process moves in the moment of a call ---

cp "$top/tests/lib/shared_race.py" race.py
raced() { # raced COMMAND...: what became of the directory that is not to be written
	rm -rf race "$HOME/theirs" && mkdir race "$HOME/theirs" && echo victim >"$HOME/theirs/victim" && chmod 600 "$HOME/theirs/victim"
	"$@" && (cd "$HOME/theirs" && ls && stat -c '%n %a %s' victim)
}
check "a name is changed where another process has led it" isnt "$(raced python3 race.py race "$HOME/theirs" 300 | grep -c '^[a-z][0-9]')" 0
check "... and not by a command, in a place that it may not write" is "$(raced can 'python3 race.py race ~/theirs 300') $(cat "$tmp/log/out")" "victim
victim 600 7 True"
rm -rf race race.py "$HOME/theirs"

# --- the descriptor that brings new settings, where it has a name ---

settings ''
mkfifo control && mkdir "$home/mine" && : >control.file
new='{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":["'$home'"],"denyWrite":[]}}'
printf '%s\n' "$new" >new.json
cat >widen.py <<'EOF'
import os, sys, time

try:
    os.write(os.open(sys.argv[1], os.O_WRONLY | os.O_NONBLOCK), open("new.json", "rb").read())
except OSError as error:
    print(error.strerror)
for _ in range(int(sys.argv[3])):
    try:
        open(sys.argv[2], "w").close()
        sys.exit("widened")
    except OSError:
        time.sleep(.05)
EOF
# The file is as new as can be, and is looked at a second time (in less than the 0.3 s); what came after it counts.
sh -c 'exec 5<>control; cat new.json >&5; touch "$2"; exec "$1" exec -s "$2" --control-fd 5 -- sh -c "sleep 0.3; exec python3 widen.py /nowhere $3/mine/one 1200"' \
	sh "$wrapix" "$s" "$home" >"$tmp/log/out" 2>"$tmp/log/err"
check "what comes by a FIFO is obeyed" has "$tmp/log/err" widened
for file in control control.file ./evil/../control; do
	sh -c 'exec 5<>"$1"; "$2" exec -s "$3" --control-fd 5 -- python3 widen.py "$1" "$4/mine/two" 40' \
		sh "$file" "$wrapix" "$s" "$home" >"$tmp/log/out" 2>"$tmp/log/err"
	check "... and not what the command would write there by its name: $file" is "$(cat "$tmp/log/out")" "Permission denied"
	check "... nothing was" absent "$home/mine/two"
done
check "... which is told" has "$tmp/log/err" "the control channel"

# What stands in the place of the settings is looked at, and not waited for.
cp "$s" "$tmp/live.json" && mkfifo "$tmp/nobody"
"$wrapix" exec -s "$tmp/live.json" -- sh -c 'echo up; exec sleep 1000' >"$tmp/log/out" 2>"$tmp/log/err" &
await has "$tmp/log/out" up
echo '{' >"$tmp/live.json"
await has "$tmp/log/err" "not valid JSON" # they are watched
mv "$tmp/nobody" "$tmp/live.json"
check "a FIFO in the place of the settings: it is said that they stay" await has "$tmp/log/err" "live.json could not be read (EINVAL)"
kill $!
wait $!
check "... and the command can be ended" is $? 143

# --- a supervisor that has no descriptor left ---

settings '"**/*.hidden"'
echo secret >x.hidden
flood='python3 -c "
import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(b\"\\0flood\")
s.setsockopt(socket.SOL_SOCKET, 76, 1)
for i in range(1200):
    s.sendto(b\"x\", b\"\\0flood\")
    s.recvfrom(1)
if os.fork() == 0:
    print(open(\"FILE\").read())
    os._exit(0)
raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))"'
limit=$(ulimit -Sn)
ulimit -Sn 1024
check "a file that may be read, after a flood" can "$(printf "%s\n" "$flood" | sed s/FILE/f/)"
check "... and one that may not" cannot "$(printf "%s\n" "$flood" | sed s/FILE/x.hidden/)"
ulimit -Sn "$limit"
rm x.hidden
settings ''

# --- what wrapix keeps of repositories ---

check "copies of repositories are there" exists "$HOME/.local/state/wrapix/gitdirs"
check "... and no command reads them" cannot 'ls ~/.local/state/wrapix'

# --- what wrapix obeys: agents, images, hosts of registries, configuration, what the notification daemon reads ---

mkdir -p "$HOME/.local/share/wrapix/agents" "$HOME/.cache/wrapix/images" "$HOME/own/config/wrapix" "$HOME/own/run/wrapix/sessions" "$HOME/elsewhere"
ln -s "$HOME/elsewhere" "$HOME/own/wrapix"
export XDG_CONFIG_HOME="$HOME/own/config" XDG_RUNTIME_DIR="$HOME/own/run"
printf '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":["~"],"denyWrite":[]}}\n' >"$s"
check "a home that may be written" can 'mkdir -p ~/.cache/tool && echo x >~/.cache/tool/x && echo x >~/own/config/x && echo x >~/elsewhere/x'
for dir in .local/share/wrapix/agents .cache/wrapix .cache/wrapix/images own/config/wrapix own/run/wrapix own/run/wrapix/sessions; do
	check "... but for ~/$dir" cannot "echo x >~/$dir/x"
done
for dir in .cache .cache/wrapix own own/config own/run/wrapix; do
	check "not moved away: ~/$dir" cannot "mv ~/$dir ~/moved"
done
rm -r "$HOME/.cache/wrapix"
check "nor made where there is none" cannot 'mkdir ~/.cache/wrapix'
export XDG_CACHE_HOME="$HOME/own"
check "what it is a link to is not written either" cannot 'echo x >~/elsewhere/y'
strace -qq -o "$tmp/trace" -e 'trace=/^readlink' "$wrapix" exec -s "$s" -- true
check "... and for that no directory is resolved twice" is "$(grep -c "\"$HOME/own/config\"" "$tmp/trace")" 1
echo x | tee "$XDG_CONFIG_HOME/wrapix/credentials.json" >"$XDG_CONFIG_HOME/wrapix/other"
check "the file with secrets is not read" cannot 'cat ~/own/config/wrapix/credentials.json'
check "... while others are" can 'cat ~/own/config/wrapix/other'
unset XDG_CONFIG_HOME XDG_RUNTIME_DIR XDG_CACHE_HOME
settings ''

# --- links of the user's that protected names are ---

mkdir -p shared/vscode shared/claude && echo rc >shared/rc && ln -s shared/vscode .vscode &&
	ln -s "$project/shared/rc" "$HOME/.bashrc" && ln -s shared/claude .claude
check "what a protected name leads to is protected: a directory" cannot 'echo x >shared/vscode/tasks.json'
check "... a file" cannot 'echo x >shared/rc'
check "... moved away" cannot 'mv shared/rc shared/rc2'
check "... what is protected in it" cannot 'echo x >shared/claude/settings.json'
mkdir githooks && mv .git/hooks .git/samples && ln -s ../githooks .git/hooks
check "... hooks" cannot 'echo x >githooks/pre-commit'
rm .git/hooks && mv .git/samples .git/hooks
mkdir scripts && echo x >scripts/check && ln -s ../../scripts/check .git/hooks/pre-commit && git worktree add -q tree && ln -s ../../tree/check .git/hooks/pre-push
check "... a hook that is one" cannot 'echo x >scripts/check'
check "... by which it is named" has "$err" "scripts/check"
check "... also from below" eval '(cd scripts && cannot "echo x >check")'
check "... and in a linked work tree, where it is not made either" eval '(cd tree && cannot "echo x >check")'
git worktree remove -f tree && rm -r .git/hooks/pre-* scripts
git init -q inner && git clone -q . lib && git -c protocol.file.allow=always submodule --quiet add "$PWD/lib" part && mkdir inner/scripts inner/more part/scripts
echo yours | tee inner/scripts/check inner/more/pre-push inner/beside part/scripts/check >outside
ln -s ../../scripts/step inner/.git/hooks/pre-commit && ln -s check inner/scripts/step && ln -s ../../../../part/scripts/check .git/modules/part/hooks/pre-commit && ln -s "$PWD/outside" inner/.git/hooks/post-commit
check "... of a repository below, too: it is not written" cannot 'echo x >>inner/scripts/check'
check "... nor moved away, nor what is above it, nor a link on the way" eval 'cannot "mv inner/scripts/check inner/x" && cannot "mv inner/scripts inner/x" && cannot "rm inner/scripts/step" && cannot "ln inner/scripts/check inner/x && echo x >>inner/x"'
check "... nor by an open file, its mode or its length" eval 'cannot "truncate -s 0 inner/scripts/check" && cannot "chmod 700 inner/scripts/check" && cannot "cp outside y && mv y inner/scripts/check"'
check "... of a submodule" eval 'cannot "echo x >>part/scripts/check" && cannot "cd part && echo x >>scripts/check"'
check "... also what lies elsewhere, once somebody was there" cannot 'echo x >>inner/beside && echo x >>outside'
rm -r inner/.git/hooks && ln -s ../more inner/.git/hooks
check "... where all of them are behind a link" cannot 'echo x >>inner/more/pre-push'
check "... and the rest of it is written" eval 'can "echo x >>inner/beside && mkdir inner/d && mv inner/d inner/e && echo x >inner/scripts/check" && is "$(cat part/scripts/check inner/more/pre-push outside)" "yours
yours
yours"'
git rm -qf --cached part .gitmodules && rm -rf inner lib part .gitmodules .git/modules outside
check "... and nothing beside" can 'echo x >shared/vscode2 && echo x >shared/claude/notes && rm shared/vscode2'
settings '' ', "protect": {"remove": [".bashrc"]}'
check "... unless it is not to be" can 'echo x >shared/rc'
rm .vscode .claude "$HOME/.bashrc"

# --- hard links of the user's: what is a hook, or protected, by another name ---

settings '' ', "protect": {"add": ["kept*"]}'
mkdir -p scripts "$HOME/outer" husky && git init -q inner && git worktree add -q tree &&
	git clone -q --bare . bare && git -C bare worktree add -q ../branch && git config core.hooksPath ~/outer
for name in inner/.git/hooks/h bare/hooks/h .git/hooks/h "$HOME/outer/h" "$HOME/.bashrc" "$HOME/kept1"; do
	file=scripts/check && rm -f $file inner/check tree/check branch/check
	case $name in inner/*) file=inner/check ;; bare/*) file=branch/check ;; .git/*) file=tree/check ;; esac
	echo yours >$file && ln $file "$name" || break
	check "what is ${name##"$HOME"/} by another name stays" cannot "echo x >>$file"
	check "... and is named" eval 'has "$err" "${name##*/}'"'"' is the same file" && is "$(cat "$name")" yours'
done
check "... also its length and mode" eval 'cannot "truncate -s 0 scripts/check" && cannot "chmod 700 scripts/check"'
check "... a new file in its place is another" can 'cp scripts/check fresh && mv fresh scripts/check && echo x >>scripts/check'
check "... and so does what nobody obeys have its names" can 'echo x >one && ln one two && echo y >>two && grep -q y one && chmod 700 one && rm one two'
git config core.hooksPath husky && echo x >husky/h && ln husky/h scripts/h
check "... as hooks that are files of the tree by core.hooksPath have" can 'echo y >>scripts/h'
git worktree remove -f tree && git config --unset core.hooksPath && rm -rf scripts inner husky bare branch "$HOME/.bashrc" .git/hooks/h
settings ''

# --- mounts made inside ---

settings '' ', "allowNestedUserNamespaces": true'
nested() { can "unshare -Ur --mount sh -ec '$1'"; }
mkdir -p x/h h
check "mounts can be made inside" nested 'mount --bind evil h && test -e h/settings.json'
check "a hook is not planted by another name for the directory" cannot \
	'touch .git/hooks/a.sample && unshare -Ur --mount sh -ec "mount --bind .git/hooks x/h; cd x/h; chmod 000 ../../x; echo x >pre-commit"' \
	'Permission denied'
chmod 755 x
check "... nor by a name that it once had" cannot 'mkdir b && mv x/h b/hooks && mkdir b/objects b/refs && echo "ref: refs/heads/main" >b/HEAD && mkdir x/h &&
	unshare -Ur --mount sh -ec "mount --bind b/hooks x/h; echo x >x/h/pre-commit"' 'Permission denied'
check "no hook is there" is "$(find .git/hooks b/hooks -name pre-commit)" ""
echo secret >"$HOME/other/k.pem"
echo public >"$HOME/other/k.txt"
settings '"~/**/*.pem"' ', "allowNestedUserNamespaces": true'
check "a pattern for reading" cannot 'cat ~/other/k.pem'
check "... where it is mounted elsewhere" cannot 'unshare -Ur --mount sh -ec "mount --bind ~/other h; cat h/k.pem"'
check "... under a view of its own" cannot 'mkdir -p $TMPDIR/u $TMPDIR/w && unshare -Ur --mount sh -ec \
	"mount -t overlay -o lowerdir=$HOME/other,upperdir=$TMPDIR/u,workdir=$TMPDIR/w,userxattr o h; cat h/k.pem"'
check "... what is the sandbox's own is read" nested 'mount -t tmpfs none h && echo mine >h/k && cat h/k ~/other/k.txt /proc/self/comm'
cat >root.py <<'END'
import ctypes, os, struct, sys
call, how = ctypes.CDLL(None).syscall, struct.pack("QQQ", 0, 0, 0)
def opens(*paths):
    return [call(437, -100, path.encode(), how, 24) >= 0 for path in paths]
outer = os.path.expanduser("~/other/k.txt")
before = opens(outer)
os.chroot("h")
os.chdir("/")
print(before + opens(outer, "../" * 40 + outer))
END
nested 'mount -t tmpfs none h && python3 root.py'
check "... and openat2 finds nothing out of the caller's own root" is "$(cat "$out")" "[True, False, False]"
rm root.py

mkdir -p "$HOME/other/shut" "$HOME/other/ajar"
echo secret >"$HOME/other/shut/f"
echo public >"$HOME/other/ajar/f"
settings '"~/other/shut"' ', "allowNestedUserNamespaces": true'
check "root of a namespace inside lists a directory" nested 'ls ~/other/ajar | grep -qx f'
for act in 'ls ~/other/shut' 'stat ~/other/shut/f' 'test -e ~/other/shut && cat ~/other/shut/f'; do
	check "... and one that is denied is denied to it: $act" cannot "unshare -Ur --mount sh -ec '$act'" 'Permission denied'
done
check "... without its cover, too" cannot "unshare -Ur --mount sh -ec 'umount ~/other/shut || :; mount --rbind / h; umount h/\$HOME/other/shut || :; ls h/\$HOME/other/shut'" \
	'Permission denied'
mkdir "$HOME/other/shut/in"
echo public >"$HOME/other/shut/in/f"
settings '"~/other/shut"], "allowRead": ["~/other/shut/in"' ', "allowNestedUserNamespaces": true'
check "root of a namespace inside passes a denied directory to what can be read in it" nested 'cat ~/other/shut/in/f'
for act in 'ls ~/other/shut' 'stat ~/other/shut/f' 'cat ~/other/shut/f' 'stat ~/other/shut/none' 'umount ~/other/shut/in || :; ls ~/other/shut/' \
	'mount --rbind ~/other h; umount h/shut/in || :; umount h/shut || :; ls h/shut'; do
	check "... and the rest of it is denied to it: $act" cannot "unshare -Ur --mount sh -ec '$act'" 'Permission denied'
done

# --- the host replaces a file that may not be read ---

mkfifo go went
replaced() { # replaced SCRIPT: the denied file is replaced between the script's $ask and what follows
	echo old >"$HOME/other/token"
	{ read -r _ <go && echo fresh >"$HOME/other/token.new" && mv "$HOME/other/token.new" "$HOME/other/token" && echo >went; } &
	run "$1" </dev/null
	wait
}
ask='echo >go && read -r _ <went &&'
settings '"~/other/token"'
replaced "! cat ~/other/token && $ask cat ~/other/token"
check "a denied file that is replaced stays denied" eval 'isnt "$rc" 0 && lacks "$out" fresh && has "$err" "Permission denied"'
check "... and what lies beside it is read" can 'cat ~/other/k.txt'
settings '"~/other/*ken"'
replaced "exec 3<>/dev/null; python3 -c '
import os
fd = os.open(os.path.expanduser(\"~/other/token\"), os.O_PATH)
open(\"go\", \"w\").write(\"\\n\")
open(\"went\").readline()
print(open(\"/proc/self/fd/%d\" % fd).read())'"
check "a denied file that is gone is not read through a descriptor" eval 'isnt "$rc" 0 && lacks "$out" old && has "$err" "Permission denied"'

# --- descriptors, fifos and leases where reading is asked about ---

settings '"~/**/*.pem"'
piped() { echo hello | { run 'cat /dev/stdin' && is "$(cat "$out")" hello; }; }
check "standard input by its name" piped
check "a fifo" can 'mkfifo ff && (echo x >ff &) && test "$(cat ff)" = x'
check "a fifo by a descriptor" can 'python3 -c "
import os
os.mkfifo(\"f2\")
fd = os.open(\"f2\", os.O_PATH)
if os.fork() == 0:
    open(\"f2\", \"w\").write(\"x\")
    os._exit(0)
assert open(\"/proc/self/fd/%d\" % fd).read() == \"x\""'
check "no lease is taken, by which others would wait for a file" cannot 'python3 -c "
import fcntl, os
fcntl.fcntl(os.open(\"f\", os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)"' 'Operation not permitted'
check "... locks are" can 'python3 -c "
import fcntl
fcntl.flock(open(\"f\"), fcntl.LOCK_EX)
fcntl.lockf(open(\"f\"), fcntl.LOCK_SH)"'

# A file that is handed in is on the host's own mount, and who owns it needs no descriptor for writing.
echo mine >"$HOME/other/input"
cat >flags.py <<'EOF'
import ctypes, fcntl, os, struct, sys

SETFLAGS, FSSETXATTR = 0x40086602, 0x401C5820  # 64-bit programs'
flags = struct.unpack("i4x", fcntl.ioctl(0, 0x80086601, bytes(8)))[0]
attributes = fcntl.ioctl(0, 0x801C581F, bytes(28))
if sys.argv[1] == "look":
    print(flags)
elif sys.argv[1] == "flags":
    fcntl.ioctl(0, SETFLAGS, struct.pack("i4x", flags ^ 0x40))  # no dump
elif sys.argv[1] == "attributes":
    fcntl.ioctl(0, FSSETXATTR, struct.pack("I24x", struct.unpack_from("I", attributes)[0] ^ 0x80))
else:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(469, 0, b"", bytes(24), 24, 0x1000) < 0:
        sys.exit(os.strerror(ctypes.get_errno()))
EOF
flags_of() { python3 flags.py look <"$HOME/other/input"; }
kept() { # kept HOW MESSAGE
	was=$(flags_of)
	run "python3 flags.py $1" <"$HOME/other/input"
	isnt "$rc" 0 && has "$err" "$2" && is "$(flags_of)" "$was"
}
was=$(flags_of)
python3 flags.py flags <"$HOME/other/input"
check "a file's flags can be changed by who may only read it" isnt "$(flags_of)" "$was"
check "... but not inside, by standard input" kept flags 'Operation not permitted'
check "... nor its attributes" kept attributes 'Operation not permitted'
check "... nor by the newer call" kept call 'Operation not permitted'
looked() { run 'python3 flags.py look' <"$HOME/other/input" && is "$rc" 0 && is "$(cat "$out")" "$(flags_of)"; }
check "... which can be read" looked
settings ''

# --- a socket that wrapix takes orders on, among those that are allowed ---

mkdir doors
printf '{"network":{"allowedDomains":[],"deniedDomains":[],"allowUnixSockets":["doors"]},"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]}}' >"$s"
"$wrapix" exec --server doors/server &
server=$!
python3 -c '
import socket
s = socket.socket(socket.AF_UNIX)
s.bind("doors/plain.new")
s.listen()
import os
os.rename("doors/plain.new", "doors/plain")
while True:
    s.accept()[0].close()' &
plain=$!
await test -S doors/server
await test -S doors/plain
door='python3 -c "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])"'
check "an allowed socket" can "$door doors/plain"
check "... but not the server's" cannot "$door doors/server"
check "... nor with another mode" cannot "chmod 600 doors/server; $door doors/server"
check "... nor by another name" cannot "mv doors/server doors/s2; ln -s s2 doors/s3; $door doors/s3"
check "... which answers outside" sh -c "$door \"\$1\"" - "$(ls doors/server doors/s2 2>/dev/null)"
kill "$server" "$plain"
wait

given() { run 'cat && echo x >/proc/self/fd/0' <"$HOME/other/input" && isnt "$rc" 0; is "$(cat "$HOME/other/input" "$out")" "mine
mine"; }
check "a file given as standard input is read and not written" given

# --- where the file system ignores case ---

# A second name of a file stands for one: Windows' disks under WSL, shares of a Mac.
mkdir folded && echo x >folded/beside && ln folded/beside folded/Beside && mkdir plain
printf '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"allowWrite":[],"denyWrite":["folded/later","plain/later"],"denyRead":["folded/hidden","plain/hidden"]}}\n' >"$s"
echo x >folded/HIDDEN && echo x >plain/HIDDEN
check "where case counts another spelling is another file" can 'echo x >plain/LATER && cat plain/HIDDEN && mv plain/LATER plain/LATEST'
check "where it does not it is the one that is not written" cannot 'echo x >folded/LATER'
check "... made by a rename" cannot 'echo x >other && mv other folded/Later'
check "... or read" cannot 'cat folded/HIDDEN'
check "... and other names are free" can 'echo x >folded/latest && cat folded/latest'

# --- sockets that come along ---

settings ''
handed() { # handed KIND: a command with such a socket of the host's as standard input; leaves $rc, $out and $err
	out=$tmp/log/out err=$tmp/log/err
	timeout -s KILL 60 python3 -c '
import socket, subprocess, sys
server = socket.create_server(("127.0.0.1", 0))
kinds = {
    "pair": lambda: socket.socketpair(),
    "datagrams": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
    "unconnected": lambda: [socket.socket(socket.AF_UNIX)],
    "tcp": lambda: [socket.create_connection(server.getsockname())],
    "udp": lambda: [socket.socket(socket.AF_INET, socket.SOCK_DGRAM)],
}
ends = kinds[sys.argv[1]]()
sys.exit(subprocess.run(sys.argv[2:], stdin=ends[0]).returncode)' "$1" "$wrapix" exec -s "$s" -- echo started >"$out" 2>"$err"
	rc=$?
}
handed pair
check "an end of a pair as standard input" is "$rc $(cat "$out")" "0 started"
for kind in datagrams unconnected tcp udp; do
	handed "$kind"
	check "no socket that could be made to reach others: $kind" eval 'is "$rc $(cat "$out")" "2 " && has "$err" "standard input is a socket that could be made to reach others than its peer"'
done
finish
