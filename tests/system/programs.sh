#!/bin/sh
# SPDX-License-Identifier: MIT
# What people run works inside: devices, languages, debuggers, 32-bit programs, servers. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up


# --- devices ---
says "/dev/null" "" 'echo x >/dev/null; cat /dev/null'
says "/dev/zero" "3" 'head -c 3 /dev/zero | tr "\0" z | tr -d "\n" | wc -c'
says "/dev/full" "No space" 'echo x | cat 2>&1 >/dev/full | grep -o "No space"'
says "/dev/random, /dev/urandom" "16 16" 'echo $(head -c 16 /dev/random | wc -c) $(head -c 16 /dev/urandom | wc -c)'
says "/dev/tty is nobody's terminal without one" "No such device" '{ : </dev/tty; } 2>&1 | grep -o "No such device"'
says "/dev holds nothing else" "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero" 'echo $(ls /dev)'
says "a pty can be made" "/dev/pts/0" 'python3 -c "import os, pty; m, s = pty.openpty(); print(os.ttyname(s))"'
says "... and a shell run on it" "tty: /dev/pts/0" 'script -qec "echo tty: \$(tty)" /dev/null </dev/null | tr -d "\r"'
says "shared memory" "shared" 'python3 -c "
from multiprocessing import shared_memory as m
a = m.SharedMemory(create=True, size=6); a.buf[:] = b\"shared\"
b = m.SharedMemory(a.name); print(bytes(b.buf).decode()); a.unlink()"'
says "process substitution (/dev/fd)" "same" 'bash -c "cmp <(echo a) <(echo a) && echo same"'

# --- /proc ---
says "ps shows only the sandbox's own processes" "ps sh wrapix" 'ps -e -o comm= >/tmp/ps; sort /tmp/ps | xargs'
says "/proc of the host is not there" "" "ls -d /proc/$$ 2>/dev/null; true"
says "/proc/sys is read-only" "no" '{ echo x >/proc/sys/kernel/hostname; } 2>/dev/null || echo no'
says "/proc/self/exe, /proc/cpuinfo, /proc/meminfo" "ok" '[ -e /proc/self/exe ] && grep -q processor /proc/cpuinfo && grep -q MemTotal /proc/meminfo && echo ok'
for f in keys kallsyms timer_list; do
	says "/proc/$f is masked" "" "cat /proc/$f 2>/dev/null; true"
done

# --- languages and tools ---
needs() { # needs PROGRAM NAME: false, with the point counted, when it is not there
	command -v "$1" >/dev/null || { skip "$2" "$1 is not installed"; false; }
}
says "python3" "42" 'python3 -c "print(6*7)"'
says "python3: subprocess, threads, pools" "[0, 1, 4]" 'python3 -c "
from concurrent.futures import ProcessPoolExecutor as P
import subprocess, threading
t = threading.Thread(target=lambda: None); t.start(); t.join()
subprocess.check_call([\"true\"])
with P(2) as p: print(list(p.map(pow, [0, 1, 2], [2, 2, 2])))"'
says "perl" "42" 'perl -e "print 6*7, qq(\n)"'
needs node "node" && says "node" "42" 'node -e "console.log(6*7)"'
needs node "node: workers, child processes, timers, files" &&
	says "node: workers, child processes, timers, files" "done" 'node -e "
const w = require(\"worker_threads\"), c = require(\"child_process\"), fs = require(\"fs\");
new w.Worker(\"1\", {eval: true}).on(\"exit\", () => { c.execSync(\"true\"); fs.writeFileSync(\"n\", \"x\");
fs.watch(\".\").close(); setTimeout(() => console.log(\"done\"), 1); })"'
cat >"$project/hello.c" <<'C'
#include <stdio.h>
int main(void) { printf("%zu\n", sizeof(long)); return 0; }
C
says "gcc builds a program that runs" "8" 'gcc -o hello hello.c && ./hello'
says "... also from /tmp and the home" "8 8" 'cp hello /tmp/h; cp hello ~/h; echo $(/tmp/h) $(~/h)'
printf 'all:\n\t@echo built\n' >"$project/Makefile"
says "make" "built" make
says "tar keeps what can be kept" "hello.c" 'tar -cf /tmp/t.tar hello.c && mkdir /tmp/x && tar -C /tmp/x -xf /tmp/t.tar && ls /tmp/x'
says "flock, inotify, timerfd, eventfd, memfd, userland of a build" "ok" 'flock lock true && python3 -c "
import ctypes, os; l = ctypes.CDLL(None)
assert l.inotify_init1(0) >= 0 and l.timerfd_create(1, 0) >= 0 and l.eventfd(0, 0) >= 0
assert os.memfd_create(\"x\") >= 0; print(\"ok\")"'
says "SysV and POSIX shared memory, semaphores" "ok" 'python3 -c "
import ctypes, multiprocessing; l = ctypes.CDLL(None)
assert l.shmget(0, 4096, 0o1600) >= 0; multiprocessing.Semaphore(1).acquire(); print(\"ok\")"'
says "rename, hard links and xattrs in the project" "ok" 'touch a && ln a b && mv b c && python3 -c "
import os; os.setxattr(\"a\", \"user.x\", b\"1\"); assert os.getxattr(\"c\", \"user.x\") == b\"1\"; print(\"ok\")"'
says "git" "1" 'git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git rev-list --count HEAD'
if printf 'int main(void){return 0;}' | gcc -m32 -xc -o /dev/null - 2>/dev/null; then
	gcc -m32 -o "$project/hello32" "$project/hello.c"
	gcc -m32 -static -o "$project/static32" "$project/hello.c"
	says "a 32-bit program" "4" ./hello32
	says "... a static one" "4" ./static32
elif [ "$(uname -m)" = x86_64 ]; then
	skip "a 32-bit program" "gcc -m32 does not work here"
fi

# --- debuggers, among its own ---
if needs strace "strace"; then
	says "strace" "traced" 'strace -f -o log -e trace=execve sh -c "true; /bin/true" && grep -q execve log && echo traced'
	says "strace attaches to a running process" "attached" 'mkfifo f
		sh -c "echo ready >f; read x <f" & victim=$!
		read r <f
		strace -o log2 -p $victim -e trace=read 2>/dev/null & tracer=$!
		until grep -q "TracerPid:.$tracer" /proc/$victim/status; do :; done
		echo go >f; wait; grep -q exited log2 && echo attached'
fi
if command -v gdb >/dev/null; then
	says "gdb" "\$1 = 42" 'gdb -q -batch -ex "break main" -ex run -ex "print 6*7" ./hello 2>/dev/null | grep "^\\$"'
fi

# --- crashes ---
inside 'ulimit -c; ulimit -Hc; ulimit -c unlimited 2>/dev/null; sh -c "kill -SEGV \$\$"; ls core* 2>/dev/null; true'
check "core dumps are off, for good" is "$(xargs <"$out")" "0 0"

# --- background processes ---
mark="86400.$$"
mkfifo "$project/go"
says "a server started inside serves those who come later" "served" "
	cd /tmp && echo served >page
	setsid python3 -m http.server -b 127.0.0.1 8000 </dev/null >/dev/null 2>&1 &
	setsid sleep $mark </dev/null >/dev/null 2>&1 &
	until python3 -c 'import urllib.request as u; print(u.urlopen(\"http://127.0.0.1:8000/page\").read().decode(), end=\"\")' 2>/dev/null; do :; done"
check "... and ends with the command" none_running "$mark"
"$wrapix" run --network none -- sh -c "setsid sleep $mark & echo up >go; cat go >/dev/null" >"$tmp/log/out" 2>&1 &
session=$!
hear "$project/go"
check "a background process lives as long as the command" [ -n "$(running "$mark")" ]
tell "$project/go"
wait $session
check "... and not longer" none_running "$mark"
"$wrapix" run --network none -- sh -c "(setsid sh -c 'trap \"\" HUP TERM INT; sleep $mark' &) ; exit 5" >"$tmp/log/out" 2>&1
check "one that ignores every signal does not keep wrapix" is $? 5
check "... and dies as well" none_running "$mark"
cat >"$project/orphans.py" <<'PY'
import os, time

def zombies():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found += [pid] if open(f"/proc/{pid}/stat").read().split()[2] == "Z" else []
        except (FileNotFoundError, ProcessLookupError):
            pass  # gone meanwhile, before it was opened or after
    return found

for i in range(20):
    child = os.fork()
    if child == 0:
        os.fork()  # the second one's parent is gone at once
        os._exit(0)
    os.waitpid(child, 0)
end = time.time() + 50
left = zombies()
while left and time.time() < end:
    left = zombies()
print(left)
PY
says "orphans are reaped: no zombie stays" "[]" 'python3 orphans.py'
finish
