#!/bin/sh
# SPDX-License-Identifier: MIT
# Two commands of 'wrapix exec', or sessions of 'wrapix run', at once that share what they may write: what one's supervisor has judged the
# other exchanges before it is done. However often they try, nothing comes of it. exec_races.sh [N]: N times as often. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2154 # the library; scripts for the shell inside
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/git.sh"

races=${1-1}
mkdir "$tmp/work" "$tmp/denied" && cd "$tmp/work" || exit 1
cp "$here/exec_races.py" "$tmp/race"
echo secret >"$tmp/denied/id"
SECRET=$tmp/denied
export SECRET
echo "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": []}, \"filesystem\": {\"denyRead\": [\"$tmp/denied\"], \"allowWrite\": [\".\"], \"denyWrite\": [\"made/.git/description\"]}}" >"$tmp/settings.json"
side() { # side NAME first|second ROUNDS: in a command of its own
	timeout 100 "$wrapix" exec -s "$tmp/settings.json" -- python3 "$tmp/race" "$1" "$2" "$3" >"$tmp/$2" 2>"$tmp/$2.err"
}
race() { # race NAME ROUNDS
	side "$1" second $(($2 * races)) &
	side "$1" first $(($2 * races))
	wait $!
}
did() { is "$(cat "$tmp/$1")" "done" || { head -n 20 "$tmp/$1.err"; false; }; } # did SIDE: its part, at least once
held() { did first && did second; }
ex() { wx exec -s "$tmp/settings.json" -c "$1"; }

# --- a configuration is exchanged between the look at it and its rename ---
# With a rule about something in it, it is judged by content.
git init -q made && git -C made commit -q --allow-empty -m start || exit 1
ex 'cd made && git commit -q --allow-empty -m new && echo kept >.git/kept'
check "a repository that is judged by content" is "$rc $(git -C made log -1 --format=%s) $(cat made/.git/kept)" "0 new kept"
race config 200
check "two commands change its configuration, 200 times each: both can" held
check "... and it never says what one of them may not" is "$(cd made && git config core.fsmonitor) $(git -C made config user.name | cut -c1)" " n"
printf '[core]\n\tfsmonitor = evil\n' >made/.git/config.lock && mv made/.git/config.lock made/.git/config
check "... which it would, were it done by nobody's leave" is "$(cd made && git config core.fsmonitor)" evil

# --- a link is put into a directory that becomes git's ---
mkdir -p bare/objects/00 bare/refs/heads && (cd bare/objects && seq -f f%g 2000 | xargs touch)
race links 60
check "one makes a git directory, one a link in it, 60 times each: each can, and never both" held
ex 'ln -s "$SECRET" bare/objects/00/link && echo "ref: refs/heads/main" >bare/HEAD'
check "... one after the other is refused" is "$rc $(find bare -name HEAD)" "1 "

# --- a repository that somebody comes to is exchanged for a directory with a link in it ---
i=-1
while [ $((i += 1)) -lt $((8 * races)) ]; do
	git init -q --bare b$i && mkdir -p x$i/refs x$i/wrapix/objects && ln -s "$SECRET" x$i/objects || exit 1
done
race come 8
check "a directory that may not be read, behind a link in what takes a repository's place: 8 times" held
check "... which whoever may read it does" is "$(cat x0/objects/id)" secret

# --- a repository is exchanged for a link while it is published ---
git init -q "$tmp/theirs" && git -C "$tmp/theirs" commit -q --allow-empty -m theirs || exit 1
files() { find "$tmp/theirs" -type f -printf '%P %T@\n' | sort; }
files >"$tmp/before"
i=-1
while [ $((i += 1)) -lt $((4 * races)) ]; do
	git init -q sub$i && git -C sub$i commit -q --allow-empty -m start && ln -s "$tmp/theirs" link$i || exit 1
done
: >publish-first
side publish second $((4 * races)) &
i=-1
while [ $((i += 1)) -lt $((4 * races)) ]; do
	ex "cd sub$i && git commit -q --allow-empty -m new && git branch evil && exec touch ../left$i"
	: >ended$i
	await test -e back$i
done
wait $!
files >"$tmp/after"
check "a repository that no command may write, in the place of one that is published: 4 times" did second
check "... has nothing new" cmp "$tmp/before" "$tmp/after"
ex 'cd sub0 && git commit -q --allow-empty -m later'
check "... and the other has its commits" is "$(git -C sub0 log --format=%s | xargs) $(git -C sub0 for-each-ref --format='%(refname:short)' refs/heads/evil)" "later new start evil"

# --- two sessions, and a session and a command, make a repository of a directory, each a name of it ---
mkdir "$tmp/shared" && cd "$tmp/shared" && cp "$tmp/race" race.py || exit 1
session() { RACE=$1 timeout 100 "$wrapix" run --network none --env RACE -- python3 race.py become "$2" $((100 * races)) >"$tmp/$2" 2>"$tmp/$2.err"; }
command_of() { RACE=$1 side become "$2" $((100 * races)); }
become() { # become NAME FIRST SECOND: the names that make it one, and what else
	rm -f become-*
	"$3" "$1" second &
	"$2" "$1" first
	wait $!
}
whole() { find . -path "./$1[0-9]*/refs" | while read -r dir; do find "${dir%/refs}" -name HEAD; done; }
become run session session
check "two sessions make a repository of a directory, each a name of it, 100 times: each can" held
check "... and none is one on the host" is "$(whole run)" ""
become mixed session command_of
check "a session and a command: each can" held
check "... and none is one" is "$(whole mixed)" ""
mkdir -p run0/objects run0/refs && echo "ref: refs/heads/main" >run0/HEAD || exit 1
check "... which git would obey" is "$(cd run0 && git config core.fsmonitor)" evil
cd "$tmp/work" || exit 1

# --- a command that does not let go of a repository's directory ---
git init -q held && git -C held commit -q --allow-empty -m start || exit 1
timeout 100 "$wrapix" exec -s "$tmp/settings.json" -c 'exec 9<held/.git; flock 9; touch locked; while [ ! -e over ]; do sleep 0.05; done' &
await test -e locked
check "a command locks a git directory" eval '! flock -n held/.git true'
ex 'cd held && git commit -q --allow-empty -m new && echo mine >.git/planted'
check "... another works in it, in private as ever" is "$rc $(git -C held log -1 --format=%s) $(find held -name planted)" "0 new "
: >over
wait $!

finish
