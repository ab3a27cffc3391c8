#!/bin/sh
# SPDX-License-Identifier: MIT
# The file rules of srt, key by key, in real commands: what may be written and read, which entry decides, names that
# are protected at any depth and never created for it, links, moves, git. Prints TAP.
#
# shellcheck disable=SC1091,SC2012,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
command -v git >/dev/null || bail "git is not installed"
set_up
mkdir "$tmp/bin"
ln -s "$(dirname "$wrapix")/srt" "$tmp/bin/srt"
s=$tmp/s.json

# settings DENYREAD ALLOWREAD ALLOWWRITE DENYWRITE [MORE]
settings() {
	printf '{"network":{"allowedDomains":[],"deniedDomains":[]},\n"filesystem":{"denyRead":[%s],"allowRead":[%s],\n"allowWrite":[%s],\n"denyWrite":[%s]}%s}\n' \
		"$1" "$2" "$3" "$4" "${5-}" >"$s"
}
srt() { # srt SCRIPT: leaves $rc, $out, $err and $report
	out=$tmp/log/out err=$tmp/log/err report=$tmp/log/report
	rm -f "$tmp/log/why" "$report"
	timeout --foreground -s KILL 60 "$tmp/bin/srt" -s "$s" --violations "$report" -c "$1" >"$out" 2>"$err" </dev/null
	rc=$?
}
# can COMMAND, cannot COMMAND: as its exit status says, in the sandbox.
can() { srt "$1"; is "$rc" 0; }
cannot() { srt "$1"; isnt "$rc" 0 && has "$err" "${2-Permission denied}"; }

# --- writing ---

settings '' '' '' ''
check "the working directory can be written" can 'echo x >new && mkdir -p d/e && echo y >d/e/f && rm new'
check "what was made is the user's" is "$(cat d/e/f; stat -c %U d/e/f)" "y
$(id -un)"
check "nothing else can" cannot 'echo x >"$HOME/x"' "Read-only file system"
check "... and the report says so" has "$report" "\"path\":\"$HOME/x\",\"reason\":\"not-allowed\""
# Directories that are closed, removed, moved while somebody is in them, and one that is called as the kernel calls what is out of reach.
odd='top=$PWD; mkdir -p "o/(unreachable)" o/closed o/gone o/here
	(cd "o/(unreachable)" && echo y >x && mv x z && mkdir d; ls)
	(cd o/closed && chmod 0 . && touch x; echo $?; chmod 700 "$top/o/closed"; touch x; echo $?; ls)
	(cd o/gone && rmdir ../gone && touch x; echo $?)
	(cd o/here && mv ../here ../there && touch x; ls ../there)
	(chmod 0 . && touch o/y; echo $?; chmod 700 "$top"; touch o/y; echo $?; mv o/y o/w; ls o)
	rm -r o'
srt "$odd"
check "in directories that change as it would be outside" is "$rc $(tr '\n' ' ' <"$out")" "0 $(sh -c "$odd" 2>/dev/null | tr '\n' ' ')"
check "... and under the rules" cannot 'mkdir "(unreachable)" && cd "(unreachable)" && echo x >fine && echo x >.gitconfig'
check "... by their names" has "$report" "\"path\":\"$project/(unreachable)/.gitconfig\""
chmod 755 .
rm -r "(unreachable)"
settings '' '' '"~/out", "../later/deep", "~/logs/*.log"' ''
mkdir "$HOME/out" "$HOME/logs" "$tmp/later"
check "allowWrite" can 'echo x >~/out/x'
check "a path that is not there yet" can 'mkdir ../later/deep && echo x >../later/deep/x'
check "... and not beside it" cannot 'echo x >../later/x' ""
check "a pattern" can 'echo x >~/logs/a.log'
check "... and nothing else there" cannot 'echo x >~/logs/a.txt' ""
settings '' '' "$(seq -f '"~/logs/%g"' -s, 2000)" ''
# shellcheck disable=SC3045 # dash has it
few_files() { (ulimit -S -n 1024 && "$@"); }
check "more files by name than may be open at once" few_files can 'echo x >~/logs/1 && echo x >~/logs/2000'
check "... and not the next" few_files cannot 'echo x >~/logs/2001' ""
mkdir ~/rooms && (cd ~/rooms && mkdir $(seq 1100)) && (cd ~/rooms && for i in $(seq 1100); do echo "$i" >"$i/n"; done) || exit 1
settings '' '' "$(seq -f '"~/rooms/%g"' -s, 1100)" ''
check "more directories than may be open at once" few_files can 'echo x >~/rooms/1/x && echo x >~/rooms/1100/x && [ "$(ulimit -S -n)" = 1024 ]'
check "... and not one beside them" few_files cannot 'echo x >~/rooms/x' ""
settings '"~/rooms"' "$(seq -f '"~/rooms/%g/n"' -s, 1100)" '' ''
check "more holes in what may not be read than may be open at once" few_files can '[ "$(cat ~/rooms/1/n ~/rooms/1100/n | xargs) $(ulimit -S -n)" = "1 1100 1024" ]'
check "... and nothing else of it" few_files cannot 'cat ~/rooms/1/x' ""
# shellcheck disable=SC3045 # dash has it
few_at_all() { (ulimit -n 1024 && wx exec -s "$s" -c true && is "$rc" 125 && grep -q "$1" "$err"); }
check "where no more may be open that is named" few_at_all "^wrapix: opening the 110[0-9] places that are mounted: Too many open files"
settings '' '' "$(seq -f '"~/rooms/%g"' -s, 1000)" ''
check "... of directories as well" few_at_all "^wrapix: opening the 100[0-9] writable directories: Too many open files"
rm -r ~/rooms
settings '' '' '"~/out"' '"~/out/sub", "keep", "*.lock", "src/**/gen", {"path":"[x]","literal":true}'
mkdir -p "$HOME/out/sub" keep src/a/b/gen
check "denyWrite in what is allowed" cannot 'echo x >~/out/sub/x'
check "... in the working directory" cannot 'echo x >keep/x'
check "... names the entry and its line" has "$report" "\"rule\":\"keep\",\"key\":\"filesystem.denyWrite[1]\",\"origin\":\"$s:4\""
check "a pattern, for a name that is not there" cannot 'echo x >a.lock'
check "... of this directory only" can 'echo x >d/a.lock'
check "a pattern of any depth" cannot 'echo x >src/a/b/gen/x'
check "... that includes none" cannot 'mkdir src/gen'
check "a literal name" cannot 'echo x >"[x]"'
check "... is no pattern" can 'echo x >x'
settings '' '' '"~/out/sub/narrow"' '"~/out"'
mkdir -p "$HOME/out/sub/narrow"
check "denyWrite wins over a narrower allowWrite" cannot 'echo x >~/out/sub/narrow/x' ""
for call in 'rm keep/it' 'mv keep/it x2' 'mv x keep/it' 'ln keep/it link2' 'ln -sf a keep/it' 'chmod 777 keep/it' 'touch -d 2000-01-01 keep/it' \
	'truncate -s 0 keep/it' 'mkdir keep/d' 'mknod keep/p p' 'rmdir keep' 'mv keep moved' 'mv d keep/d'; do
	settings '' '' '' '"keep"'
	echo it >keep/it
	check "denied: $call" cannot "$call"
	check "... and nothing has changed" is "$(cat keep/it; ls -A keep)" "it
it"
done

# --- links ---

ln -s "$HOME/out" out-link
settings '' '' '"out-link"' ''
check "a link that the command may have made does not widen" cannot 'echo x >out-link/y' "Read-only file system"
check "... and a warning says so" has "$err" "goes through the symbolic link '$project/out-link', which is not followed"
rm out-link
ln -s keep keep-link
settings '' '' '' '"keep-link"'
check "a denial follows links" cannot 'echo x >keep/x'
check "... and keeps the link as it is" cannot 'rm keep-link'
settings '' '' '' '"keep"'
check "a link made inside leads nowhere else" cannot 'ln -s keep l1 && echo x >l1/x'
check "... nor does '..'" cannot 'echo x >d/e/../../keep/x'
check "... nor /proc/self/cwd" cannot 'echo x >/proc/self/cwd/keep/x'
check "... nor /proc/self/root" cannot "echo x >/proc/self/root$project/keep/x"
check "... nor an open directory" cannot 'exec 5<keep; echo x >/proc/self/fd/5/x'
rm -f l1 keep-link
# '..' after a link: where the kernel goes by that path, and what its text says.
mkdir -p far/deep/in far/deep/secret.d secret.d "$HOME/far/in" "$HOME/far/open"
echo far | tee far/deep/secret >far/deep/secret.d/s
echo near | tee secret >secret.d/s
ln -s far/deep/in in-far
for entry in in-far/../secret ./in-far/../secret far/../in-far/../secret "$project/in-far/../secret" 'in-far/../secre[t]' 'in-far/../s?cret*'; do
	settings '' '' '' "\"$entry\""
	check "denyWrite of '$entry': where it leads" cannot 'echo x >far/deep/secret'
	check "... by its own name" cannot 'echo x >in-far/../secret'
	check "... and what it looks like" cannot 'echo x >secret'
	check "... and the link stays" cannot 'ln -sfn /tmp in-far'
	check "... and where it goes up from" cannot 'mv far/deep/in far/deep/out'
	check "... not more" can 'echo x >far/deep/other && echo x >other'
	settings "\"$entry\"" '' '' ''
	check "denyRead of '$entry': where it leads" cannot 'cat far/deep/secret' ""
	check "... and what it looks like" cannot 'cat secret' ""
	check "... not more" can 'cat far/deep/other other'
done
settings '' '' '' '"in-far/../secret.d/**"'
check "denyWrite of a pattern below: where it leads" cannot 'echo x >far/deep/secret.d/s'
check "... and what it looks like" cannot 'echo x >secret.d/s'
settings '' '' '' '"nowhere/../secret", "far/deep/../deep/secret"'
check "'..' of what is not there, or is no link, is what it looks like" cannot 'echo x >secret'
check "... the other, too" cannot 'echo x >far/deep/secret'
ln -s "$HOME/far/in" up
for entry in up/../open 'up/../ope[n]' up/../../far/open "$project/up/../open"; do
	settings '' '' "\"$entry\"" ''
	check "allowWrite of '$entry' allows neither" cannot 'echo x >~/far/open/x' ""
	check "... and says why" has "$err" "filesystem.allowWrite[0]: '$entry' goes up by '..' from what the symbolic link '$project/up' points to, and is not followed; name the place itself"
done
settings '"~/far"' '"up/../open"' '' ''
check "allowRead of such a path, too" cannot 'ls ~/far/open' ""
settings '' '' '"~/far/in/../open"' ''
check "(control) without a link it is what it was" can 'echo x >~/far/open/x'
rm -rf far secret secret.d other in-far up "$HOME/far"
# The settings and the report by names whose '..' follows a link: what the kernel opens is kept, and the way to it.
mkdir -p way/in way/other/in way/side
ln -s way/in in-link
settings '' '' '"."' ''
cp "$s" way/s.json
s=in-link/../s.json
for call in 'echo x >way/s.json' 'rm way/s.json' 'rm in-link' 'ln -sfn way/other/in in-link' 'mv way/in way/out' 'mv way away'; do
	check "settings behind a link and '..' stay: $call" cannot "$call"
done
check "... nothing stands in for a directory on the way" cannot 'rmdir way/in; ln -s other/in way/in'
mkdir -p way/in
check "... nor is moved to its name" cannot 'rmdir way/in; ln -s other/in way/l; mv -T way/l way/in'
mkdir -p way/in
check "... which can be worked in" can 'touch way/in/x && mv way/in/x way/y && rm way/y'
s=way/side/../s.json
check "... likewise without a link" cannot 'rmdir way/side; ln -s other/in way/side'
mkdir -p way/side
"$tmp/bin/srt" -s in-link/../s.json -c 'touch way/on; for i in $(seq 300); do touch "$HOME/out/y" 2>/dev/null && exit 0; sleep 0.1; done; exit 1' &
await exists way/on
s=way/new.json
settings '' '' '".", "~/out"' ''
mv way/new.json way/s.json
wait $!
check "... and new ones are seen there" is $? 0
: >way/report
timeout -s KILL 60 "$tmp/bin/srt" -s way/s.json --violations in-link/../report -c 'touch .bashrc; echo x >way/report; rm way/report' 2>"$tmp/log/err"
check "a report behind a link and '..' is not the command's" lines way/report 3
rm -r way in-link "$HOME/out/y"
s=$tmp/s.json

# --- reading ---

mkdir -p sec/pub/in open
echo s >sec/s
echo p >sec/pub/p
echo n >sec/pub/in/n
echo o >open/o
settings '"sec", "sec/pub/in"' '"sec/pub"' '' ''
check "denyRead" cannot 'cat sec/s'
check "... of a name that is not there, too" cannot 'cat sec/none'
check "... by a link, from a directory" cannot 'ln -s ../sec/s d/to-s; cd d; cat to-s'
check "... with the rule in the report" has "$report" "\"path\":\"$project/sec/s\",\"reason\":\"denyRead\",\"rule\":\"sec\""
rm -f d/to-s
check "... reads as denied, not as empty" cannot 'ls sec' "Permission denied"
check "allowRead in it" can 'cat sec/pub/p'
check "a narrower denyRead in that" cannot 'cat sec/pub/in/n' "Permission denied"
check "the rest is readable" can 'cat open/o /etc/passwd'
settings '"sec", "sec/pub"' '"sec/pub/in"' '' ''
check "what is allowed in a denied directory in a denied one" can 'cat sec/pub/in/n'
check "... and nothing beside it" cannot 'cat sec/pub/p'
# every way to ask about a name says the same, whether the name exists or not
mkdir -p sec/pub/far/off sec/bare
settings '"sec", "sec/pub/in"' '"sec/pub/far/off", "sec/pub/p"' '' ''
every() { srt "python3 -B '$top/tests/lib/denied.py' $*"; is "$rc $(cat "$out" "$err")" "0 "; }
for name in sec/s sec/none sec/bare sec/bare/x sec/pub/in sec/pub/in/n sec/pub/none sec/pub/far/none "$project/sec/s" /proc/self/cwd/sec/s sec/pub/../s; do
	check "every call says EACCES of $name" every EACCES "$name"
done
check "... and of a name that is nowhere what it always said" every ENOENT open/none sec/pub/far/off/none
for act in 'ls -l sec/s' 'stat sec/none' 'find sec -name s' 'cd sec/bare' 'readlink -e sec/s; ls sec/s' 'cd sec/pub/far/off; cat ../none' 'head ../project/sec/none' \
	'wc sec/pub/far/none' 'test -e sec/s && exit; ls sec/s' 'git -C sec/s status' 'tar -cf - sec/s' 'du sec/pub/in'; do
	check "denied to a tool: $act" cannot "$act"
done
check "what can be read there is found, listed and passed" can 'ls -la sec/pub/far/off && cat sec/pub/p && cd sec/pub/far/off && pwd && cd .. && cat ../p && find off && echo x >off/x'
check "... and nothing is left in the tree" is "$(cd sec && find . | sort | tr '\n' ' ')" \
	". ./bare ./pub ./pub/far ./pub/far/off ./pub/far/off/x ./pub/in ./pub/in/n ./pub/p ./s "
settings '"sec", "sec/pub/in"' '"sec/pub"' '' ''
check "what cannot be read cannot be moved" cannot 'mv sec sec2'
check "... nor written" cannot 'echo x >sec/new' ""
check "... nor linked" cannot 'ln sec/s got' ""
# swapped SCRIPT WHAT...: WHAT is done outside while the script waits
swapped() {
	swapped_script=$1
	shift
	(
		until [ -e started ]; do sleep 0.01; done
		"$@"
		: >made
	) &
	srt ": >started; until [ -e made ]; do sleep 0.01; done; $swapped_script"
	wait
	rm -f started made
}
put_another() { mv sec sec.old && mkdir sec && echo new >sec/s; }
put_above() { mv up up.old && mkdir -p up/sec && echo new >up/sec/s; }
settings '"sec", "up/sec"' '' '' ''
mkdir -p up/sec
ln -s sec/s to-s
settings '"sec"' '' '' '' ',"allowNestedUserNamespaces":true'
check "a directory of a sandbox's own over a denied one is its own" can 'unshare -rm sh -c "mount -t tmpfs x sec && echo k >sec/k && cat sec/k && ! ls sec/s"'
check "... and the denied one is denied in it" cannot 'unshare -rm cat sec/s' ""
settings '"sec", "up/sec"' '' '' ''
# Milliseconds; seconds, where who looks after it stands still.
within='n=0; while [ $n -lt 5000 ] && cat $file >/dev/null 2>&1; do n=$((n + 1)); done'
swapped "file=sec/s; $within"'; cat sec/s to-s sec.old/s; ls sec' put_another
check "a denied directory that is replaced outside stays denied" is "$(grep -c 'Permission denied' "$err")$(cat "$out")" 4
rm -r sec.old
swapped "file=up/sec/s; $within"'; cat up/sec/s; ls up; cat open/o' put_above
check "... and one above which another is put" is "$(grep -c 'Permission denied' "$err")$(cat "$out")" "1sec
o"
rm -r up.old up to-s
settings '"sec"' '' '' ''
deny_more() { settings '"sec", "open"' '' '' ''; }
swapped "file=open/o; $within"'; cat open/o /etc/hostname' deny_more
check "a directory that the settings come to deny is denied at once" is "$(grep -c 'Permission denied' "$err") $(wc -l <"$out")" "1 1"
settings '"sec"' '"sec"' '' ''
check "the same path twice: allowRead wins" can 'cat sec/s'
settings '"~"' '' '' ''
check "the working directory in a denied home can be read and written" can 'cat open/o && echo x >open/x'
echo t >"$HOME/token"
settings '' '"~/token"' '"~"' '' ',"credentials":{"files":[{"path":"~/token","mode":"deny"}]}'
check "a credential" cannot 'cat ~/token'
check "... that nothing lifts" cannot 'echo x >~/token' ""

settings '"**/*.pem", "later", "~/.keys/*"' '"pub/ok.pem"' '' ''
mkdir -p deep/er pub "$HOME/.keys"
echo k | tee a.pem deep/er/b.pem pub/ok.pem "$HOME/.keys/k" >deep/c.txt
check "a pattern denies reading" cannot 'cat a.pem'
check "... names the entry" has "$report" '"what":"read","call":"openat"'
check "... at any depth" cannot 'cat deep/er/b.pem'
check "... by any way" cannot 'cat /proc/self/cwd/deep/er/b.pem'
check "... through a link" cannot 'ln -s deep/er/b.pem l.txt; cat l.txt'
check "... under another name" cannot 'mv a.pem a.txt'
check "... by another link to the file" cannot 'ln a.pem a.txt'
check "... and a lock in the private temporary directory can be made" can 'flock "$TMPDIR/lock" test -f "$TMPDIR/lock"'
check "... once, where it has to be new" can 'flock "$TMPDIR/new" true && ! python3 -c "import os; os.open(os.environ[\"TMPDIR\"] + \"/new\", os.O_RDONLY | os.O_CREAT | os.O_EXCL)"'
check "... with the umask, and cut off by who reads it" can 'umask 027 && python3 -c "import os
d = os.environ[\"TMPDIR\"]; open(d + \"/f\", \"w\").write(\"text\"); os.open(d + \"/f\", os.O_RDONLY | os.O_TRUNC); assert os.stat(d + \"/f\").st_size == 0
os.open(d + \"/g\", os.O_RDONLY | os.O_CREAT, 0o666); assert os.stat(d + \"/g\").st_mode & 0o777 == 0o640"'
check "... but not elsewhere" cannot 'flock /opt/lock true' "Read-only file system"
check "... and /proc is the command's own" can 'cat /proc/mounts /proc/net/dev /proc/thread-self/stat >out; ls /proc/self /proc/net/ >out && cat /proc/self/comm | grep -q cat && rm out'
check "... of the home" cannot 'cat ~/.keys/k'
check "what it does not match can be read" can 'cat deep/c.txt && ls deep/er && python3 -c "import json"'
check "allowRead of one that it matches" can 'cat pub/ok.pem'
check "a file that appears while the command runs" cannot 'cp /etc/hostname n.pem; cat n.pem'
check "a name that was not there" cannot 'echo x >later' ""
(
	until [ -e started ]; do sleep 0.01; done
	echo late >later
	: >made
) &
check "... and comes from outside" cannot ': >started; until [ -e made ]; do sleep 0.01; done; cat later'
wait
rm -f later started made l.txt

# --- protected names ---

settings '' '' '"~"' ''
mkdir -p a/b .vscode .git-not "$HOME/.claude"
echo tasks >.vscode/tasks.json
for name in .bashrc .bash_profile .zshrc .profile .gitconfig .gitmodules .ripgreprc .mcp.json .srt-settings.json .config/wrapix/x .vscode/x .idea .claude/settings.json \
	.claude/settings.local.json .claude/commands .claude/agents/x .claude/skills .claude/hooks .config/fish/config.fish .ssh/authorized_keys .config/systemd/user/x .cursor/mcp.json \
	wrapix.json .wrapix/profiles/x.json; do
	for where in . a/b '"$HOME"'; do
		check "$where/$name cannot be made" cannot "mkdir -p \$(dirname $where/$name) && echo x >$where/$name"
	done
done
echo '{"network": "none"}' >wrapix.json
check "the limits of the next 'wrapix run' cannot be taken away" cannot 'rm wrapix.json'
check "... nor moved" cannot 'mv wrapix.json w'
rm wrapix.json
check "in capital letters neither" cannot 'echo x >a/.BashRC'
check "nor by way of a move" cannot 'echo x >f1 && mv f1 a/.bashrc'
check "nor by a directory that is moved" cannot 'mkdir -p m && echo x >m/settings.json && mv m a/.claude'
check "what is there cannot be changed" cannot 'echo x >.vscode/tasks.json'
check "... nor removed" cannot 'rm .vscode/tasks.json'
check "... nor moved away" cannot 'mv .vscode v'
check "other names can" can 'mkdir -p .claude .config && echo x >.claude/CLAUDE.md && echo x >bashrc && echo x >.git-not/config'
check "none was made to protect it" is "$(find . "$HOME" -name '.bashrc' -o -name .idea -o -name .mcp.json -o -name 'settings*.json' | grep -v '^\./m/')" ""
settings '' '' '' '' ',"protect":{"remove":[".vscode"],"add":["Makefile","conf/*.secret"]}'
check "protect.remove" can 'echo x >.vscode/tasks.json'
check "protect.add" cannot 'echo x >a/b/Makefile'
check "... a pattern" cannot 'mkdir -p a/conf && echo x >a/conf/k.secret'
settings '' '' '' '' ',"protect":{"remove":[".vscod"]}'
srt 'echo ran'
check "a name that is not protected" has "$err" "protect.remove[0]: '.vscod' is not a protected name"
check "... with what was meant" has "$err" "did you mean '.vscode'?"
settings '' '' '' ''
cp "$s" "$project/own.json"
s=$project/own.json
check "the settings cannot be written" cannot 'echo x >own.json'
check "... nor replaced" cannot 'echo x >n.json && mv n.json own.json'
check "... nor the default ones made" cannot 'echo x >~/.srt-settings.json' ""
s=$tmp/s.json
rm "$project/own.json"

# --- switched off ---

printf '{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":["sec"],"allowWrite":[],"denyWrite":["keep"],"disabled":true}}' >"$s"
check "filesystem.disabled: no rules at all" can 'cat sec/s && echo x >keep/x && echo x >"$HOME/free" && echo x >.mcp.json && rm .mcp.json keep/x'

# --- git ---

settings '' '' '' ''
export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
check "git init and commit" can 'git init -q repo && cd repo && echo x >f && git add f && git commit -qm one'
check "it is a repository outside" is "$(git -C repo log --format=%s)" one
check "a branch, its upstream, a name" can 'cd repo && git checkout -q -b br && git config user.name me && git branch -u master br 2>/dev/null || git branch -u main br'
check "what makes git run programs does not get in" cannot 'cd repo && git config core.fsmonitor /tmp/x'
check "nor a hook" cannot 'mkdir -p repo/.git/hooks && echo x >repo/.git/hooks/pre-commit'
check "git clone" can 'git clone -q repo clone && cd clone && git log -1 --format=%s'
git -C repo worktree add -q ../linked 2>/dev/null
mkdir "$tmp/elsewhere"
mv linked "$tmp/elsewhere/linked"
git -C repo worktree repair "$tmp/elsewhere/linked" >/dev/null 2>&1
check "a commit in a linked worktree" sh -c "cd '$tmp/elsewhere/linked' && '$tmp/bin/srt' -s '$s' -c 'echo y >g && git add g && git commit -qm two'"
check "... whose link stays as it is" fails sh -c "cd '$tmp/elsewhere/linked' && '$tmp/bin/srt' -s '$s' -c 'echo gitdir: /tmp >.git'"
mkdir -p repo/sub
check "a commit from below the top" sh -c "cd repo/sub && '$tmp/bin/srt' -s '$s' -c 'echo z >h && git add h && git commit -qm three'"
check "git status is clean while a command runs" is "$(cd repo && "$tmp/bin/srt" -s "$s" -c 'git status --porcelain')" ""
check "where 'wrapix apply' has its files ready nobody writes" eval 'fails "$tmp/bin/srt" -s "$s" -c "mkdir .wrapix-apply-x" && absent .wrapix-apply-x'
# --- the log ---

wx exec -c 'echo x >.mcp.json'
wx log
check "wrapix log shows the file and the rule" grep -q "write $project/.mcp.json  *protect by .mcp.json" "$out"
finish
