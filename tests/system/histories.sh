#!/bin/sh
# SPDX-License-Identifier: MIT
# What other sandboxes were escaped by, hung by or lied to by, as far as the escape suite's attempts do not have it
# (docs/histories.md says where each idea is tried): roots with links where a runtime makes things, names that are read
# as options or obeyed by a terminal, settings that two readers read differently, files at which a reader waits for
# ever, repositories that a command broke, and processes that stand for the sandbox outside. Prints TAP.
#
# shellcheck disable=SC1091,SC2015,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
token=wx-$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
mkdir "$home/secret"
echo "$token" >"$home/secret/key"
git config --global user.name N
git config --global user.email n@example.org
s=$tmp/s.json
printf '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]}}\n' >"$s"
wxe() { wx exec -s "$s" "$@"; }
good() { is "$rc" 0; }

# --- an image whose directories are links out of it ---

links="dev proc sys tmp run mnt"
decoy() { # as a runtime would find what it makes
	rm -rf "$tmp/decoy" "$tmp/root"
	mkdir -p "$tmp/decoy/pts" "$tmp/decoy/shm" "$tmp/root/bin"
	echo mine >"$tmp/decoy/ptmx"
	cp "$(command -v busybox)" "$tmp/root/bin/busybox"
	ln -s busybox "$tmp/root/bin/sh"
	for name in $links; do ln -s "$1" "$tmp/root/$name"; done
}
mark() { find "$tmp/decoy" -printf '%P %i %T@ %s\n' | sort; }
decoy "../../../../../../../../../../../../../../..$tmp/decoy"
was=$(mark)
wx image build --from "rootfs:$tmp/root" --name links
wx run --network none --image links -- sh -c 'echo ran; echo x >/dev/shm/x; echo x >/tmp/x; echo x >/mnt/ptmx'
check "links in an image's root: $links" has "$out" ran
check "... and nothing is made or changed where they lead" is "$(mark)" "$was"
echo x >"$tmp/root/dev/ptmx"
check "... control: a program that follows them does" isnt "$(mark)" "$was"

# --- names that are options, separators, or a terminal's orders ---

name=$(printf -- '--network=host:/etc,upperdir=x\n\033]0;title\007\342\200\256')
mkdir -p "$tmp/$name" && cd "$tmp/$name" || bail "no directory of that name"
git init -q . && echo orig >file && git add file && git commit -qm x
wx run --network none -- sh -c 'pwd; cat file; echo new >file; mkdir .zed; echo 1 >.zed/t; ip -o link 2>/dev/null | wc -l'
check "a project of a hostile name" eval 'good && is "$(cat file)" new && has "$out" /workspace && has "$out" orig'
git checkout -q file
wx run --network none --workspace cow -- sh -c 'echo cow >file; mkdir "$1"; echo x >"$1/$1"' sh "$(printf 'e\033]0;title\007\342\200\256')"
check "... copied on write" eval 'good && is "$(cat file)" orig'
echo '{"network": "host"}' >wrapix.json
silent() { # silent WORDS...: whatever they print, a terminal shows it and does nothing
	wx "$@"
	check "'$*' prints nothing that a terminal obeys" eval 'cat "$out" "$err" >"$tmp/log/all" && printable "$tmp/log/all"'
}
silent trust
silent run -- true
rm wrapix.json
for words in ps "git status" "git held" diff log report learn; do
	# shellcheck disable=SC2086 # words
	silent $words
done
wx run --network none -- --mount "$HOME/secret:/s" cat /s/key
check "after -- nothing is an option" eval 'isnt "$rc" 0 && lacks "$out" "$token"'
cd "$project" || exit 1

# --- settings that one reader reads otherwise than the next ---

echo '{"network": "none"}' >wrapix.json
wx run -- echo ran
check "a wrapix.json" good
refused() { printf %b "$2" >wrapix.json; wx run -- echo ran; check "... with $1 is refused" eval 'is "$rc" 2 && lacks "$out" ran'; }
refused "a key twice" '{"network": "none", "network": "host"}'
refused "more after a zero byte" '{"network": "none"}\000{"network": "host"}'
refused "a zero in a string" '{"network": "none", "mounts": ["data\\u0000:/x"]}'
rm wrapix.json

# --- what a reader on the host would wait for, or fill its memory with ---

git init -q . && echo x >file && git add file && git commit -qm x
wx run --network none -- sh -c 'mkfifo Makefile; ln -s /dev/zero package.json; truncate -s 1T AGENTS.md; ln -s "$1/secret/key" .npmrc
	mkdir .zed; mkfifo .zed/f; echo plain >.exrc' sh "$HOME"
check "files that run later, which are none" eval 'good && has "$err" "Makefile" && has "$err" "package.json" && has "$err" "AGENTS.md"'
check "... no more is shown than is theirs (control: a file's text is)" eval 'has "$err" "+plain" && lacks "$err" "$token"'
wx git accept .zed
check "... nor accepted" eval 'absent .zed/f'
rm -f Makefile package.json AGENTS.md .npmrc .exrc
wx git drop .zed
for how in 'mkfifo .git/HEAD' 'truncate -s 1T .git/index' 'ln -s /dev/zero .git/packed-refs'; do
	file=${how##* }
	wx run --network none -- sh -c "rm -f $file; $how"
	id=$(sed -n "s/.*'wrapix git drop \([^ ]*\)' forgets it.*/\1/p" "$err")
	check "a session's $how: it is told, and the repository is as it was" eval 'good && isnt "$id" "" && is "$(git log --format=%s)" x && is "$(git status --porcelain)" ""'
	wx git drop "$id"
	wx run --network none -- git log --format=%s
	check "... and dropped" eval 'is "$(cat "$out")" x && empty "$err"'
done

# --- a command that breaks the git directory which all commands have ---

works() { wxe -c 'git log --format=%s && git status --short && git commit -q --allow-empty -m y && git reset -q --soft HEAD^'; good && is "$(cat "$out")" x; }
check "git works in commands" works
for how in 'rm -rf .git' 'rm .git/HEAD' 'rm .git/HEAD; mkfifo .git/HEAD' 'truncate -s 1T .git/index' 'rm -r .git/objects; echo x >.git/objects' \
	'rm .git/objects/info/alternates; mkfifo .git/objects/info/alternates' 'mkdir .git/MERGE_HEAD' 'mkfifo .git/refs/heads/b'; do
	wxe -c "$how"
	check "... after '$how' in the next" works
done
check "... and the host's is as it was" eval 'is "$(git log --format=%s) $(git branch | wc -l)" "x 1" && git fsck'

# --- who stands for the sandbox outside ---

cat >peer.py <<'PY'
import array, ctypes, errno, os, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
call = lambda *a: libc.syscall(*a) if (ctypes.set_errno(0), 1)[1] else 0
server = socket.socket(socket.AF_UNIX)
server.bind("server")
server.listen()
client = socket.socket(socket.AF_UNIX)
client.connect("server")
peer = server.accept()[0]
pid = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
print("peer", "me" if pid == os.getpid() else "another")
try:
    fd = peer.getsockopt(socket.SOL_SOCKET, 77)  # SO_PEERPIDFD
except OSError:
    fd = call(434, pid, 0) if pid else -1
got = [n for n, r in {"descriptor": call(438, fd, 0, 0), "signal": call(424, fd, 0, None, 0),
       "namespace": libc.ioctl(fd, 0xff04, 0), "memory": call(440, fd, None, 0, 20, 0)}.items() if r >= 0]
print("got", *got)
os.unlink("server")
PY
python3 peer.py >"$tmp/log/peer"
check "control: a peer can be reached by its descriptor" eval 'has "$tmp/log/peer" "peer me" && has "$tmp/log/peer" "got descriptor signal"'
wxe -- python3 peer.py
check "under exec the peer is the supervisor, which cannot be reached" is "$(xargs <"$out")" "peer another got"

# A socket of TCP's that waits at its end (SO_LINGER), on its way in a message that is on its way itself.
cat >linger.py <<'PY'
import array, socket, struct
rights = lambda s: [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [s.fileno()]))]
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
other = server.accept()[0]
client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
client.setblocking(False)
try:
    while True:
        client.send(bytes(65536))
except BlockingIOError:
    pass
a, b = socket.socketpair()
a.sendmsg([b"x"], rights(client))
client.close()
a.close()
mine = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
to = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
to.bind(b"\0to")
mine.sendmsg([b"x"], rights(b), 0, b"\0to")
b.close()
to.recvfrom(1)
open("made", "w").close()  # by the supervisor, if it still answers
print("answered")
PY
wxe -- python3 linger.py
check "the supervisor waits for no socket that it carries" has "$out" answered

# Whether a call on a socket waits is its owner's to say, in every moment (O_NONBLOCK is the file's): a hundred threads want
# a connection that nobody accepts, and a process says all the time that they may wait.
cat >wait.py <<'PY'
import fcntl, os, socket, threading, time
server = socket.socket(socket.AF_UNIX)
server.bind("full")
server.listen(0)
first, mine = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
first.connect("full")
child = os.fork()
while not child:
    fcntl.fcntl(mine, fcntl.F_SETFL, 0)
for _ in range(100):
    threading.Thread(target=mine.connect_ex, args=("full",), daemon=True).start()
end = time.monotonic() + 2
while time.monotonic() < end:
    open("made", "w").close()
os.kill(child, 9)
print("answered", flush=True)
os._exit(0)
PY
wxe -- python3 wait.py
check "... nor in a connect that a socket's owner makes wait" has "$out" answered
prlimit --sigpending=0 "$wrapix" exec -- true >"$out" 2>"$err"
rc=$?
check "... and where there can be no timer for that, nothing starts" eval 'is "$rc" 125 && has "$err" "making the timer" && has "$err" "ulimit -i"'

# The last close of a socket that lingers, while the supervisor has it for a connect.
cat >last.py <<'PY'
import os, random, socket, struct, threading, time
server = socket.create_server(("127.0.0.1", 0))
def lingering():
    with socket.create_connection(server.getsockname()) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
        s.setblocking(False)
        try:
            while True:
                s.send(bytes(65536))
        except BlockingIOError:
            return socket.socket(fileno=os.dup(s.fileno()))
def drop(fd, delay):
    at = time.perf_counter() + delay
    while time.perf_counter() < at:
        pass
    os.close(fd)
for _ in range(2000):
    s = lingering()
    threading.Thread(target=drop, args=(s.fileno(), random.random() * 2e-4), daemon=True).start()
    try:
        s.connect_ex(server.getsockname())
    except OSError:
        pass
    s.detach()
    server.accept()[0].close()
print("answered", flush=True)
os._exit(0)
PY
wxe -- python3 last.py
check "... nor in the close of one that lingers" has "$out" answered
finish
