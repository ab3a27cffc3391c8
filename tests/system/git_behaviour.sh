#!/bin/sh
# SPDX-License-Identifier: MIT
# Two of the things that safe git is to do (tests/lib/git_cells.sh), in depth: many names under a storm of signals, and a user whose
# git is busy. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/git.sh"

new_repo "$tmp/plain" || exit 1

# --- 18: names are made once, whatever signals come ---
cat >"$tmp/plain/storm.py" <<'END'
import os, signal, sys
signal.signal(signal.SIGURG, lambda *_: None)
signal.siginterrupt(signal.SIGURG, False) # as Go has it; without, the kernel answers EINTR before we are asked
us, bad, n = os.getpid(), [], 0
storm = os.fork()
if storm == 0:
    while os.getppid() == us:
        os.kill(us, signal.SIGURG)
    os._exit(0)
for i in range(int(sys.argv[1])):
    for name, make in (("d", os.mkdir), ("f", lambda path: os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))), ("g", lambda path: os.symlink("x", path))):
        try:
            make(f"storm/{name}{i}")
            n += 1
        except OSError as error:
            bad.append(error)
os.kill(storm, signal.SIGKILL)
print(n, bad[:3])
END
cd "$tmp/plain" || exit 1
private 'mkdir storm && python3 storm.py 300'
check "under a storm of signals no name is refused or made twice" is "$rc $(cat "$out") $(find storm -mindepth 1 | wc -l)" "0 900 [] 900"
rm -rf storm storm.py

# --- 25: the user's git is busy ---
mkfifo go && echo /go >>.git/info/exclude || exit 1
"$wrapix" run --network none -- sh -c 'read -r x <go; echo staged >staged; git add staged' >/dev/null 2>"$tmp/log/busy" </dev/null &
started=$!
: >.git/index.lock
tell go
wait "$started"
started=
check "while the user's git has the index for long, nothing is taken over, which is said" is "$(git diff --cached --name-only; grep -c 'could not be taken over' "$tmp/log/busy")" 1
check "... and the lock is left alone" test -e .git/index.lock
rm .git/index.lock
wx git status
check "... the next command does it" is "$rc $(git diff --cached --name-only)" "0 staged"
# Two seconds are waited, beginning after the session's commit: a lock that went later, on a machine that is too busy, says nothing.
mkfifo tell && echo /tell >>.git/info/exclude || exit 1
now() { date +%s%N; }
lock_went() {
	: >.git/index.lock
	"$wrapix" run --network none -- sh -c "date +%s%N >tell; echo $1 >second; git add second; git commit -q -m 'second $1'" >/dev/null 2>"$tmp/log/busy" </dev/null &
	started=$!
	hear tell
	sleep 0.7
	rm .git/index.lock
	went=$(($(now) - heard))
	wait "$started"
	rc=$?
	started=
	[ "$went" -lt 1900000000 ]
}
round=1
until lock_went $round || [ $round = 20 ]; do round=$((round + 1)); done
check "a lock of nearly a second is waited for" is "$rc $(git log -1 --format=%s) $(git status --porcelain -uno)" "0 second $round "
finish
