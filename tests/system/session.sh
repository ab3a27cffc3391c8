#!/bin/sh
# SPDX-License-Identifier: MIT
# Sessions: ps, stop, names, several at once; trust; which setting wins. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up

# start NAME SCRIPT [OPTION...]: a session in a project of that name, as $pid_NAME, once its script says "$up".
start() {
	name=$1 script=$2
	shift 2
	mkdir -p "$tmp/at/$name"
	[ -p "$tmp/at/$name/fifo" ] || mkfifo "$tmp/at/$name/fifo"
	"$wrapix" run "$tmp/at/$name" --network none "$@" -- sh -c "$script" >"$tmp/log/$name" 2>&1 </dev/null &
	eval "pid_$name=$!"
	started="${started-} $!"
	hear "$tmp/at/$name/fifo"
	await listed "$!" # which the command does not wait for
}
listed() { "$wrapix" ps | grep -q " $1 "; }
status() { # status NAME
	eval "wait \$pid_$1"
	rc=$?
}
up='echo up >fifo'
# What other tests keep in /var/tmp is the same user's, and not looked at.
ps_here() { wx ps; sed -i '/^$/,$d' "$out"; }
# 'stop' waits for what ignores its SIGHUP for ten seconds instead of three: whoever is to end by SIGTERM has more time so.
patient="trap '' HUP"
forever="$patient; $up; exec sleep 1000"
waits="$up; while :; do sleep 1000 & wait; done" # for who has a trap, which is set by then

# --- ps ---
ps_here
check "ps without a session: the heading alone" is "$rc $(wc -l <"$out")" "0 1"
wx ps --json
check "ps --json: an empty list" is "$(tr -d ' \n' <"$out")" "[]"
check "... and no state directory is made by looking" absent "$state"
start one "readlink /proc/self/ns/* >ns; $forever"
start two "readlink /proc/self/ns/* >ns; $forever" --name 'second'
ps_here
check "two sessions at once" is "$rc $(wc -l <"$out")" "0 3"
check "... oldest first, by directory and by name" is "$(sed 1d "$out" | awk '{ print $2 }' | xargs)" "one second"
pids="$pid_one $pid_two"
check "... with their pids" is "$(sed 1d "$out" | awk '{ print $3 }' | xargs)" "$pids"
check "... network, directory and command" grep -q "none  *-  *$tmp/at/one: sh -c 'readlink .*; exec sleep 1000'" "$out"
# Records of one second, of processes whose numbers turn the order round; and one as it was written before.
cat >"$tmp/records.py" <<'PY'
import fcntl, json, os, sys
where = sys.argv[1]
def holder():
    """A process that writes the record it is told and holds it: its pid, how to tell it, and what it says then."""
    told, tell = os.pipe()
    heard, say = os.pipe()
    if pid := os.fork():
        os.close(told)
        os.close(say)
        return pid, tell, heard
    os.close(tell)
    record = json.loads(os.read(told, 4096))
    os.mkdir(f"{where}/{record['id']}", 0o700)
    with open(f"{where}/{record['id']}/meta", "w") as meta:
        fcntl.lockf(meta, fcntl.LOCK_EX)
        json.dump(record, meta)
        meta.flush()
        os.write(say, b"1")
        sys.stdin.read()
        os._exit(0)
holders = sorted(holder() for _ in range(3))
for (_, tell, heard), name, more in zip(holders, ("last", "first", "before"), ({"nanoseconds": 30}, {"nanoseconds": 20}, {})):
    os.write(tell, json.dumps({"id": name, "name": f"rec-{name}", "dir": "/", "started": 5, **more}).encode())
    os.read(heard, 1)
print("up", flush=True)
for pid, _, _ in holders:
    os.waitpid(pid, 0)
PY
mkfifo "$tmp/records" "$tmp/up"
python3 "$tmp/records.py" "$state/sessions" <"$tmp/records" >"$tmp/up" 2>"$tmp/log/records" &
records=$!
exec 6>"$tmp/records"
hear "$tmp/up"
wx ps
check "... in the order in which they began, also within one second" is "$(grep -o 'rec-[a-z]*' "$out" | xargs)" "rec-before rec-first rec-last"
exec 6>&-
wait "$records"
wx ps --json
cat >"$tmp/ps.py" <<'PY'
import json, sys, time
sessions = json.load(open(sys.argv[1]))
assert [s["name"] for s in sessions] == ["one", "second"], sessions
for s, pid in zip(sessions, sys.argv[3:]):
    assert s["pid"] == int(pid) and s["engine"] == "native" and s["network"] == "none", s
    assert s["dir"].startswith(sys.argv[2]) and "sleep 1000" in s["command"], s
    assert abs(time.time() - s["started"]) < 60 and s["id"], s
PY
# shellcheck disable=SC2086 # two pids
check "ps --json says the same" python3 "$tmp/ps.py" "$out" "$tmp/at" $pids
check "each sandbox has its own namespaces" isnt "$(cat "$tmp/at/one/ns")" "$(cat "$tmp/at/two/ns")"

# --- stop ---
wx stop nobody
check "stop of no session" refused 2 "there is no session 'nobody'"
wx stop
check "stop of nothing" refused 2 "which session?"
wx stop second
check "stop by name" ended 0
status two
check "... the command got SIGTERM" is "$rc" 143
ps_here
check "... the other one goes on" is "$(sed 1d "$out" | awk '{ print $2 }')" one
id=$("$wrapix" ps --json | sed -n 's/.*"id": "\([a-z0-9]*\)".*/\1/p')
wx stop "$id"
check "stop by id" ended 0
status one
check "... " is "$rc" 143
ps_here
check "... none is left" is "$(wc -l <"$out")" 1
check "... nor of their state" is "$(ls -A "$state/sessions")" ""
start slow "$patient; trap 'echo bye; exit 9' TERM; $waits"
wx stop slow
check "stop waits for a command that ends in its own time" ended 0
status slow
check "... whose status comes back" is "$rc" 9
start deaf "trap '' TERM; $waits"
wx stop --kill deaf
check "stop --kill ends one that does not listen" ended 0
status deaf
check "... at once" is "$rc" 137
start deaf "trap '' TERM; $waits"
wx stop deaf
check "stop of one that ignores SIGTERM hangs up" ended 0
status deaf
check "... as its status says" is "$rc" 129
start deaf "trap '' TERM HUP; $waits"
wx stop deaf
check "... and what ignores that as well is killed" ended 0
status deaf
check "... as its status says" is "$rc" 137
start one "$forever"
start two "$forever"
wx stop --all --kill
check "stop --all --kill" ended 0
for name in one two; do
	status $name
	check "... $name" is "$rc" 137
done
start one "$forever"
start two "$forever"
wx stop one two
check "stop of several" ended 0
wx stop --all
check "stop --all of none" ended 0
start same "$forever" --name twin
start other "$forever" --name twin
ps_here
check "two sessions may have one name" is "$(sed 1d "$out" | awk '{ print $2 }' | xargs)" "twin twin"
wx stop twin
check "... a name of two is refused" refused 2 "2 sessions are called 'twin'"
for id in $(sed -n 's/.*by its id: //p' "$err" | tr -d ','); do
	wx stop "$id"
done
ps_here
check "... with the ids that stop takes" is "$(wc -l <"$out")" 1
start inner "$forever"
"$wrapix" run "$tmp/at/inner" --network none -- true
check "two in one directory" is "$("$wrapix" ps | sed '1d;/^$/,$d' | awk '{ print $2 }')" inner
wx stop --all
for bad in '' 'a b' 'a/b' '../x' "$(printf 'a\033b')" "$(printf '%064d' 0)"; do
	wx run --network none --name "$bad" -- true
	check "a bad name is refused: '$bad'" is "$rc $(grep -c '^wrapix: ' "$err")" "2 1"
	check "... printable" printable "$err"
done

# --- the configuration of a project ---
cd "$project" || exit 1
# has_either FILE FILE TEXT
has_either() { cat "$1" "$2" | grep -qF -- "$3"; }
config() { printf '%s\n' "$1" >"$project/wrapix.json"; }
config '{
	// a comment
	"env": {"FROM_PROJECT": "yes"},
	"network": "none" /* the end */
}'
wx run -- sh -c 'echo $FROM_PROJECT; ls /sys/class/net 2>/dev/null; echo changed >wrapix.json; rm -f wrapix.json; mv wrapix.json x; ln -f /etc/hosts wrapix.json; cat wrapix.json >/dev/null && echo there'
check "wrapix.json counts, where it does not widen" is "$(xargs <"$out")" "yes there"
check "... and is read-only inside" grep -q "a comment" wrapix.json
mkdir -p .wrapix/deep
echo keep >.wrapix/deep/file
inside 'echo changed >.wrapix/deep/file; touch .wrapix/new; rm -rf .wrapix; mv .wrapix y; cat .wrapix/deep/file'
check ".wrapix is read-only inside" is "$(cat "$out" .wrapix/deep/file | xargs)" "keep keep"
check "... nothing was made in it" is "$(find .wrapix | wc -l)" 3
rm -rf .wrapix
rm -f wrapix.json
inside 'echo "{}" >wrapix.json; mkdir .wrapix'
check "where there is none the sandbox makes none" eval 'absent wrapix.json && absent .wrapix'
wx run --network none --protect agent=allow -- sh -c 'echo "{\"allowNested\": true}" >wrapix.json; mkdir .wrapix'
check "... unless the user lets it" is "$rc$(ls -d .wrapix)" 0.wrapix
wx run -- true
check "... and then it has to be trusted" refused 125 "wrapix trust"
rm -rf .wrapix wrapix.json
config '{"networks": "none"}'
wx run -- true
check "an unknown key is an error" refused 2 'did you mean "network"'
config '{"network": "none"'
wx run -- true
check "broken JSON is an error, with its place" refused 2 "wrapix.json:"
rm wrapix.json
ln -s "$home/secret.json" wrapix.json
wx run -- true
check "wrapix.json that is a link is refused" refused 2 "symbolic link"
rm wrapix.json
mkfifo wrapix.json
wx run -- true
check "wrapix.json that is a FIFO is refused" refused 2 "regular file"
rm wrapix.json

# --- trust ---
# widens NAME KEY JSON: stops before trust and shows it; counts after; stops again after a change.
widens() {
	config "$3"
	wx run --network none -- true
	check "$1: refused before trust" refused 125 "not trusted"
	check "... the start names it" has "$err" "$2"
	check "... and prints nothing raw" printable "$err"
	wx plan --network none -- true
	check "... plan shows what it would be, or says the same" has_either "$out" "$err" "not trusted"
	wx trust
	check "... nobody to ask: trust refuses" is "$rc" 2
	check "... and shows it" has "$out" "$2"
	wx run --network none -- true
	check "... which is not trust" is "$rc" 125
	wx trust --yes
	check "... wrapix trust --yes" is "$rc" 0
	wx run --network none -- true
	check "... then it starts" is "$rc" 0
	echo >>wrapix.json
	wx run --network none -- true
	check "... after a change it stops again" refused 125 "has changed"
	wx trust --yes
	wx trust --revoke
	wx run --network none -- true
	check "... and after --revoke" refused 125 "not trusted"
}
mkdir -p "$home/outside"
widens "a mount outside the project" 'mounts[0]' "{\"mounts\": [\"$home/outside:/outside:ro\"]}"
widens "a host variable" 'env.SECRET' '{"env": {"SECRET": null}}'
widens "a variable that steers the agent" 'env.ANTHROPIC_BASE_URL' '{"env": {"ANTHROPIC_BASE_URL": "http://x"}}'
widens "nesting" 'allowNested' '{"allowNested": true}'
widens "an agent by path" 'agent' '{"agent": "/usr/bin/true"}'
widens "more memory" 'memory' '{"limits": {"memory": "900G"}}'
widens "a profile with mounts" 'profile' '{"profile": "rust"}'
config '{"network": "host"}'
wx run -- true
check "the host network: refused before trust" refused 125 "network"
wx run --network none -- true
check "... a flag overrules it, and nothing is left to trust" is "$rc" 0
# A mount of the project's own, where nobody holds, watches or looks at what is written.
mkdir -p sub
for mounts in '"sub:/s"' '"sub:/s:ro"' '".vscode:/v:rw,optional"' '"sub:/workspace/.git:ro"'; do
	echo "{\"network\":\"none\",\"mounts\":[$mounts]}" >wrapix.json
	wx run -- true
	check "a second door of the project's, $mounts: refused before trust" refused 125 "not trusted"
done
echo '{"network":"none","mounts":["sub:/s:ro"]}' >wrapix.json
wx trust --yes
wx run -- sh -c 'echo x >/s/x || echo closed'
check "... and one that only shows something is no more than that" is "$(cat "$out")" closed
wx trust --revoke
# A profile of the project's takes along no mounts of the user's, by what it extends or by its name.
mkdir -p .wrapix/profiles "$HOME/.config/wrapix/profiles" "$HOME/mine"
echo '{"network":"none","profile":"c"}' >wrapix.json
wx run -- true
check "a bare profile by the project's choice" is "$rc" 0
echo "{\"mounts\":[\"$HOME/mine:/mine\"]}" >"$HOME/.config/wrapix/profiles/c.json"
wx run -- true
check "... not where it is one of the user's own" refused 125 "not trusted"
echo '{"network":"none"}' >wrapix.json
wx run --profile c -- true
check "... unless he asks for it" is "$rc" 0
for extended in rust c; do
	echo "{\"extends\":\"$extended\"}" >.wrapix/profiles/ours.json
	wx run --profile ours -- true
	check "a profile of the project's that extends '$extended': refused before trust" refused 125 "extends"
done
wx trust --yes
check "... and trust shows it" has "$out" "extends"
wx run --profile ours -- true
check "... after which it counts" is "$rc" 0
rm -r .wrapix "$HOME/.config/wrapix/profiles"
wx trust --revoke
rmdir sub
echo '{"network":{"allow":["there.example.org"]}}' >wrapix.json
wx run --allow here.example.org -- true
check "a host of the project's beside one of the user's: refused before trust" refused 125 "not trusted"
wx run --deny here.example.org -- true
check "... also where the user has only refused one" refused 125 "not trusted"
wx run --allow there.example.org -- true
check "... not where he names the same" is "$rc" 0
wx trust --yes
check "trust shows it, without a flag" has "$out" 'there.example.org", beyond the hosts that you name yourself'
wx run --allow here.example.org -- true
check "... and is what the hint says it is" is "$rc" 0
wx trust --revoke
evil=$(printf 'X\033[2J\033]0;owned\007\r\302\233mnone of this\342\200\256')
python3 - "$evil" >wrapix.json <<'PY'
import json, sys
e = sys.argv[1]
print(json.dumps({"mounts": [{"source": "/" + e, "dest": "/" + e}], "env": {"PATH": e, "LD_PRELOAD": e}}))
PY
for command in "run --network none -- true" "plan -- true" "trust" "trust --yes"; do
	# shellcheck disable=SC2086 # words
	wx $command
	cat "$out" "$err" >"$tmp/both"
	check "hostile text is shown escaped: wrapix $command" printable "$tmp/both"
done
wx trust --revoke
config "{\"mounts\": [$(i=0; while [ $i -lt 300 ]; do printf '"/src%d:/dest%d:ro", ' $i $i; i=$((i + 1)); done)\"/z:/z:ro\"]}"
wx run -- true
check "300 of them: one line, that says how many" refused 125 "301 places"
rm wrapix.json
wx trust
check "nothing to trust" ended 0
config '{"network": "none"}'
wx trust
check "nothing that needs trust" ended 0
mkdir "$tmp/copy"
config '{"env": {"SECRET": null}}'
wx trust --yes
cp wrapix.json "$tmp/copy"
wx run "$tmp/copy" --network none -- true
check "trust is for one directory" refused 125 "not trusted"
mv "$project" "$tmp/moved"
wx run "$tmp/moved" --network none -- true
check "... and does not move with it" refused 125 "not trusted"
mv "$tmp/moved" "$project"
cd "$project" || exit 1
check "trust is kept out of the project" is "$(ls -A)" "wrapix.json"
find "$state/trust" -type f -exec chmod 666 {} +
wx run --network none -- true
check "a record that others could have written is no trust" refused 125 "not trusted"
rm wrapix.json

# --- which one wins ---
mkdir -p "$home/.config/wrapix/profiles"
echo '{"env": {"A": "profile", "B": "profile", "C": "profile", "D": "profile"}}' >"$home/.config/wrapix/profiles/mine.json"
echo '{"profile": "mine", "env": {"A": "user", "B": "user", "C": "user"}, "network": "none", "home": "keep"}' >"$home/.config/wrapix/config.json"
config '{"env": {"A": "project", "B": "project"}, "home": "fresh"}'
wx trust --yes
wx run --env A=flag -- sh -c 'echo $A $B $C $D'
check "flags, project, user, profile" printed "flag project user profile"
wx plan -- true
check "the network of the user's file" grep -qx 'network  *none' "$out"
check "the home of the project's" grep -q 'scratch  */home/wrapix' "$out"
wx plan --network open --home keep -- true
check "flags win over both" is "$(grep -cE '^network  *open|bind  */home/wrapix rw' "$out")" 2
wx run --profile base -- sh -c 'echo $D'
check "--profile replaces the profile" printed ""
wx run --profile nosuch -- true
check "a profile that is not there" refused 2 "nosuch"
echo '{"nonsense": 1}' >"$home/.config/wrapix/config.json"
wx run -- true
check "an error in the user's file is named" refused 2 "config.json"
rm -rf "$home/.config/wrapix" wrapix.json
wx run --dry-run --network none -- true
cp "$out" "$tmp/dry"
wx plan --network none -- true
check "--dry-run is plan" cmp "$out" "$tmp/dry"
wx run --network none --verbose -- sh -c 'exit 3'
check "--verbose says what is done" is "$rc $(grep -c . "$err")" "3 2"
wx run --engine apple -- true
check "the engine of another platform is refused" refused 125 "apple"
finish
