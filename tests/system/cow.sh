#!/bin/sh
# SPDX-License-Identifier: MIT
# Copy-on-write sessions: diff, apply, undo, discard, conflicts, several at once, random changes. Prints TAP.
#
# shellcheck disable=SC1091,SC2012,SC2015,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up

random=$top/tests/lib/cow_random.py
git config --global user.name T
git config --global user.email t@example.com
git config --global init.defaultBranch main

says_line() { grep -qxF -- "$1" "$out" || { printf "no line '%s' in:\n" "$1"; cat "$out"; false; }; }

# --- the view ---
mkdir -p d/deep e gone
echo one >d/a
echo two >d/b
echo x >x
ln -s x link
echo keep >gone/k
echo same >touched
echo mode >mode
echo becomes >f2d
mkdir d2f
echo in >d2f/in
echo again >e/old
python3 "$random" times >"$tmp/before"
cow 'echo new >n; echo ONE >d/a; mv d/b d/c; rm x; rm link; ln -s n link; rm -r gone; touch touched; chmod 700 mode
	rm f2d; mkdir f2d; echo k >f2d/k; rm -r d2f; echo file >d2f; rm -r e; mkdir e; echo fresh >e/new; mkdir empty
	echo same >touched; mkfifo pipe'
check "a session says what it changed, and what to type anywhere" is "$rc $(grep -c "in the session \([a-z0-9]*\), none in the project: 'wrapix diff \1' .*'wrapix apply \1'" "$err")" "0 1"
python3 "$random" times >"$tmp/now"
check "the project is as it was" cmp "$tmp/before" "$tmp/now"
wx diff --stat
cat >"$tmp/want" <<'EOF'
A d2f/in
EOF
grep -v '^wrapix:' "$out" | sed 's/  [+b].*//' >"$tmp/stat"
cat >"$tmp/want" <<'EOF'
M d/a
R d/b => d/c
T d2f
D d2f/in
A e/new
D e/old
A empty/
T f2d/
A f2d/k
D gone/k
M link (link)
M mode  mode 0644 => 0700
A n
! pipe  not taken over: it is neither a file nor a directory nor a link
D x
EOF
check "diff --stat is exact; a touched file is no change" sh -c "sed '\$d' '$tmp/stat' | diff '$tmp/want' -"
wx diff
check "diff is git's: it applies" sh -c "mkdir '$tmp/copy' && cp -a . '$tmp/copy' && cd '$tmp/copy' &&
	git apply --exclude=nothing '$out' && [ \"\$(cat d/a)\" = ONE ] && [ ! -e x ] && [ \"\$(readlink link)\" = n ]"
wx diff --name-only d
check "diff of a directory" is "$(cat "$out")" "$(printf 'd/a\nd/c')"
(cd d && "$wrapix" diff --name-only a) >"$out"
check "... of a path from where we stand" is "$(cat "$out")" d/a
(cd d && "$wrapix" diff b) >"$out"
check "... of one that the session removed" has "$out" "rename from d/b"
wx diff nosuch
check "a word that is neither a session nor a path is no empty diff" refused 2 "'nosuch' is no session"
wx apply "$id" d/nosuch
check "... and no apply of nothing" refused 2 "'d/nosuch' is no session, and neither in the project nor in the session '$id'"
wx diff --name-only d2f e
check "a path of the project that it knows is fine" is "$rc" 0
wx diff --json
check "diff --json" python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
c = {x["path"]: x for x in d["changes"]}
assert c["d/c"]["from"] == "d/b" and c["d/a"]["added"] == 1 and c["x"]["status"] == "D", c' "$out"
wx apply d/a
check "apply of one path" is "$rc $(cat d/a) $(cat x)" "0 ONE x"
wx undo
check "undo of it" is "$rc $(cat d/a)" "0 one"
wx apply
check "apply of all: 1, because the pipe is not taken over" is "$rc $(grep -c pipe "$out")" "1 1"
check "... content, names, kinds, modes" is "$(cat d/a d/c n d2f f2d/k e/new; readlink link; stat -c %a mode)" \
	"$(printf 'ONE\ntwo\nnew\nfile\nk\nfresh\nn\n700')"
check "... and what was removed is gone" is "$(ls -d x gone d/b e/old 2>/dev/null)" ""
wx diff --name-only
check "then the diff is empty but for the pipe" is "$(cat "$out")" pipe
wx undo
python3 "$random" times >"$tmp/now"
check "undo restores content, modes and times" cmp "$tmp/before" "$tmp/now"
wx undo
check "a second undo has nothing to do" refused 125 "nothing of the session"
wx discard </dev/null
check "discard asks before work is lost" refused 125 "not applied"
wx discard --yes
check "discard --yes" is "$rc $(ls "$state/cow")" "0 "
wx diff
check "then there is none" refused 2 "no copy-on-write session"

# --- sessions ---
reset
echo 1 >a
cow 'true'
check "a session that changed nothing leaves nothing" is "$rc $(ls "$state/cow")" "0 "
cow 'echo 2 >a' --name first
one=$id
cow 'cat a; echo 3 >b; echo 9 >c; mkdir new; echo 5 >new/d' --name second
check "a second one sees the project, not the first" is "$(cat "$out")" 1
wx diff --name-only first
check "diff by name" is "$(cat "$out")" a
wx ps
check "ps lists what is kept, with its size" grep -Eq "^$one +first +- .*[0-9][BKM] +$project" "$out"
wx apply "$one"
wx apply second
check "apply counts as the diff does" is "$(tail -n 1 "$out")" "3 changes were taken over"
check "both are applied" is "$(cat a b c)" "$(printf '2\n3\n9')"
wx run --network none --resume second -- sh -c 'cat b; echo 4 >b'
check "resume goes on where it was" is "$rc $(cat "$out" b)" "0 $(printf '3\n3')"
wx apply second
check "... and is applied again" is "$rc $(cat b)" "0 4"
wx undo second
check "undo takes the last back" is "$(cat a b)" "$(printf '2\n3')"
wx undo second
check "... and the one before" is "$(cat a; ls)" "$(printf '2\na')"
wx run --resume nobody -- true
check "resume of none" refused 2 "no copy-on-write session"
mkfifo "$tmp/go"
cp /dev/null "$tmp/log/bg"
"$wrapix" run --network none --resume first -- sh -c 'echo up >up; sleep 1000' >"$tmp/log/bg" 2>&1 &
started=$!
await test -s "$state/cow/$one/project/upper/up"
wx run --network none --resume first -- true
check "a session in use is not started twice" refused 125 "in use"
wx apply first
check "... nor applied" refused 125 "in use"
wx diff --name-only first
check "... but can be looked at" is "$(cat "$out")" up
wx ps
check "ps shows what a running one takes" grep -Eq "^$one .*[0-9][BKM] +$project: sh" "$out"
kill -9 "$started"
wait "$started" 2>/dev/null
wx run --network none --resume first -- cat up
check "after kill -9 it is whole, and goes on" is "$rc $(cat "$out")" "0 up"
started=

# --- conflicts ---
reset
git init -q .
seq 1 20 >merge
seq 1 20 >clash
echo a >deleted
echo a >both
mkdir dir
echo a >dir/f
echo a >own
git add -A
git commit -qm 1
echo dirty >>merge
truncate -s 17M ':(top) large*'
cow 'sed -i s/^2$/two/ merge; sed -i s/^5$/session/ clash; echo session >deleted; rm both; echo s >dir/f; echo s >appeared; echo s >own'
sed -i 's/^19$/nineteen/' merge
sed -i 's/^5$/mine/' clash
rm deleted
echo mine >both
rm -r dir
ln -s "$tmp" dir
echo mine >appeared
wx diff --stat
check "conflicts are found" is "$(grep -c 'conflict:' "$out")" 7
wx apply
check "apply leaves them, and says so" is "$rc $(grep -c ': conflict' "$out")" "1 6"
check "... what merges is merged, with what was not committed" is "$(sed -n '2p;19p;21p' merge | tr '\n' ' ')" "two nineteen dirty "
check "... a file that is too large for that is not kept" is "$(for index in "$state"/cow/*/base/index; do GIT_INDEX_FILE=$index git ls-files; done | grep -c -e large -e '^merge$')" 1
rm ':(top) large*'
check "... nothing of the user's is lost" is "$(sed -n 5p clash; cat both appeared; ls deleted 2>&1 | wc -l)" "$(printf 'mine\nmine\nmine\n1')"
check "... nothing is written through a link" absent "$tmp/f"
check "... the rest is applied" is "$(cat own)" s
wx diff --stat
check "what was merged is settled" lacks "$out" merge
wx apply
check "... and a second apply leaves the merge alone" is "$(sed -n '2p;19p' merge | tr '\n' ' ')" "two nineteen "
wx apply --both clash
check "--both puts the session's beside" is "$rc $(sed -n 5p clash) $(sed -n 5p "clash.wrapix-$id")" "0 mine session"
wx apply --ours both
check "--ours keeps it" is "$rc $(cat both)" "0 mine"
wx apply --theirs both appeared deleted
check "--theirs takes the session's" is "$rc $(cat appeared deleted; ls both 2>&1 | wc -l)" "0 $(printf 's\nsession\n1')"
wx undo
check "... which undo takes back" is "$(cat both appeared; ls deleted 2>&1 | wc -l)" "$(printf 'mine\nmine\n1')"
echo later >own
wx undo
wx undo
check "what was changed after the apply is kept" is "$rc $(cat own)" "1 later"
wx apply own
check "... also by the next apply, for which it is a conflict" eval 'is "$rc $(cat own)" "1 later" && says_line "0 changes were taken over, 1 not"'
reset
git init -q .
for f in yours its both; do
	seq 9 >"$f"
	chmod 640 "$f"
done
git add -A
git commit -qm 1
cow 'sed -i "s/^2$/two/" yours its both; chmod 750 its both'
sed -i 's/^8$/eight/' yours its both
chmod 600 yours both
python3 -c 'import os; os.setxattr("its", "user.note", b"mine")'
wx apply
check "who may use a merged file is merged, too" is "$rc $(grep -c eight ./* | xargs) $(stat -c %a yours its both | xargs)" "0 ./both:1 ./its:1 ./yours:1 600 750 700"
check "... and your attributes of it stay, and are no other's" is "$(python3 -c 'import os; print(*map(os.listxattr, ["both", "its", "yours"]))')" "[] ['user.note'] []"
reset
git init -q .
seq 9 | tee taken gone >merged
git add -A
git commit -qm 1
cow 'sed -i "s/^2$/two/" merged taken; rm gone; echo theirs >both'
sed -i 's/^8$/eight/' merged
echo mine | tee both gone >taken
cp -p merged taken gone both ..
wx apply merged
wx apply --theirs taken gone both
check "what you changed meanwhile is merged, or replaced where you say so" is "$rc $(grep -c . merged) $(grep -n 'two\|eight\|mine\|theirs' ./* | xargs)" \
	"0 9 ./both:1:theirs ./merged:2:two ./merged:8:eight ./taken:2:two"
wx undo
wx undo
check "... comes back" eval 'for f in merged taken gone both; do cmp "$f" "../$f" || break; done'
wx apply
check "... and is yours still: another apply asks again" eval 'is "$rc $(cat taken gone both | xargs) $(grep -c "two\|eight" merged)" "1 mine mine mine 2" &&
	says_line "0 changes were taken over, 1 merged, 3 not"'
reset
long=$(printf %0250d 0)
echo a >"$long"
cow 'for f in 0*; do echo s >"$f"; done'
echo mine >"$long"
wx apply --both
check "what has no room beside it was not taken over" eval 'is "$rc" 1 && says_line "0 changes were taken over, 1 not"'
wx diff --name-only
check "... and is not settled" says_line "$long"

# --- a project that is a mount of its own, of the same file system ---
reset
echo a >a
before="mount --bind '$project' '$project'"
cow 'echo A >a; echo n >n'
wx apply
check "a project that is bound to its place" is "$rc $(cat a n | xargs)" "0 A n"
wx undo
check "... and back" is "$rc $(cat a) $(ls -A)" "0 a a"
before=

# --- what others have put beside it meanwhile ---
reset
mkdir x
echo 'ref: refs/heads/main' >x/HEAD
cow 'rm x/HEAD'
wx apply
mkdir x/objects x/refs
wx undo
check "undo makes no repository of what came there meanwhile" eval 'refused 125 "git would take the directory for a repository" && absent x/HEAD'
rmdir x/objects
wx undo
check "... and goes on when that is gone" is "$rc $(cat x/HEAD)" "0 ref: refs/heads/main"
reset
mkdir d
cow 'echo "ref: refs/heads/main" >d/HEAD'
exec 9>>"$state/turn"
flock 9
"$wrapix" apply >"$out" 2>"$err" 9>&- &
started=$!
first=
waits() { # it has looked again and again since all was ready
	[ "$(cat "$state/cow/$id/apply/1/state" 2>/dev/null)" = commit ] || return 1
	n=$(sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/$started/status")
	[ "$n" -gt "$((${first:=$n} + 20))" ]
}
check "an apply waits for its turn" await waits
mv d y && mkdir d y/objects y/refs && exec 9>&-
wait "$started"
started=
check "... and means a directory by the name that it has then" is "$(echo d/* y/*)" "d/HEAD y/objects y/refs"

# --- what is never taken over, and what is asked about ---
reset
git init -q .
mkdir bare sub
echo x >bare/HEAD
echo a >a
cow 'git init -q nested; mkdir bare/objects bare/refs; echo evil >bare/config; mkdir .vscode; echo "{}" >.vscode/tasks.json
	echo "#!/bin/sh" >.git/hooks/post-commit; git config alias.x "!id"; echo b >>a; chmod 2755 a; ln -s /etc/passwd out
	touch HEAD commondir; mkdir -p sub/.GIT; echo x >sub/.GIT/config; echo ok >fine; mkdir .wrapix-apply-x; echo x >.wrapix-apply-x/0'
snapshot .git >"$tmp/git"
wx apply
check "apply never touches .git" same_tree .git "$tmp/git"
check "... makes no repository" is "$(ls -d bare/objects bare/refs nested/.git sub/.GIT HEAD commondir .wrapix-apply-x 2>/dev/null)" ""
check "... holds what an editor would obey" is "$(find . -maxdepth 1 -name .vscode | wc -l) $(grep -c 'not taken over; it would be executed' "$out")" "0 1"
check "... without special bits" is "$(stat -c %a a)" 755
wx apply --yes .vscode
check "--yes takes it over" is "$rc $(cat .vscode/tasks.json)" "0 {}"
reset
cow 'echo x >a; mkdir .vscode; echo {} >.vscode/tasks.json; echo x >.envrc'
numbers() { sed -n 's/^wrapix: \([0-9]*\) files were changed.*/\1/p; s/^\([0-9]* changed\),.*/\1/p; s/^1 change was taken over, \([0-9]*\) not$/1 and \1/p; s/.*holds \([0-9]*\) changes.*/\1/p' "$out" "$err"; }
counted=$(numbers)
for command in 'diff --stat' apply discard; do
	# shellcheck disable=SC2086 # words
	wx $command </dev/null
	counted="$counted, $(numbers)"
done
check "changes are the same number at the end, in diff, apply and discard" is "$counted" "3, 3 changed, 1 and 2, 2"
reset
git init -q .
mkdir -p tools/hooks more scripts
git config core.hooksPath tools/hooks
rm -r .git/hooks
ln -s ../more .git/hooks
ln -s ../../scripts/check tools/hooks/pre-push
cow 'echo x | tee tools/hooks/pre-commit more/pre-commit >scripts/check; echo x >scripts/other; mkdir evil; echo x >evil/pre-commit'
wx apply
check "what git is told to run in the project is asked about, and nothing else" is "$(find . -path ./.git -prune -o -type f -print | sort | xargs) $(grep -c 'not taken over; it would be executed when you use git' "$out")" "./evil/pre-commit ./scripts/other 3"
cow 'rmdir tools/hooks 2>/dev/null; rm -r tools; ln -s evil tools'
wx apply
check "... nor does a link come above it" absent tools/pre-commit
rm -rf tools && mkdir -p real/hooks && ln -s second first && ln -s real second && git config core.hooksPath first/hooks
cow 'mkdir -p evil/hooks; echo x >evil/hooks/pre-commit; rm second; ln -s evil second'
wx apply
check "... nor one on the way that another leads to" absent first/hooks/pre-commit

reset
git init -q .
mkdir tools && git config diff.a.textconv 'sh tools/text' && git config alias.x '!tools/alias'
cow 'echo x | tee tools/text tools/alias >tools/other'
wx diff --stat
check "programs that git's configuration names are shown as such" is "$(grep -c '\[git\]' "$out")" 2
wx apply
check "... and asked about" is "$(ls tools)" other

# --- as a branch ---
reset
git init -q .
printf 'ignored/\n' >.gitignore
echo a >a
git add -A
git commit -qm 1
cow 'echo b >a; echo new >"n ew\"q"; mkdir ignored; echo i >ignored/i; git commit -qam inside'
wx apply --as-branch try
check "as a branch: one commit, files alone" is "$rc $(git show try:a) $(git show 'try:n ew"q') $(cat a) $(git status --short | wc -l)" "0 b new a 0"
check "... without what git ignores" is "$(git ls-tree -r --name-only try | grep -c ignored/)" 0
wx apply --as-branch try
check "... not over one that is there" refused 125 "is there already"
wx apply --as-branch 'x..y'
check "... nor with a bad name" refused 2 "no name for a branch"
wx apply
wx apply
check "(control) nothing is left to apply, and that is no failure" is "$rc $(cat "$out")" "0 0 changes were taken over"
wx apply --as-branch empty
check "... and nothing for a branch, which is said and not made" is "$rc $(cat "$out") $(git branch --list empty)" "0 There is nothing to put on a branch. None was made. "

# --- what it stashed ---
reset
git init -q .
echo a >a
git add a
git commit -qm 1
echo other >>a
git stash -q
cow 'git stash list >l'
check "a stash of the user's is none of the session's" eval 'lacks "$err" stash && is "$(git for-each-ref refs/wrapix) $(wc -l <"$state/cow/$id/project/upper/l")" " 1"'
wx discard --yes
echo dirty >>a
echo mine >untracked
cow 'git stash -qu'
check "a stash of the session's is kept beside, and told" has "$err" "'git stash apply $(git for-each-ref --format='%(objectname)' "refs/wrapix/$id/stash")' takes it over"
stashed=$(sed -n "s/.*'\(git stash apply [0-9a-f]*\)'.*/\1/p" "$err")
wx apply
check "... before it is gone from the project" is "$(ls)" a
$stashed >"$out" 2>&1
check "... and it comes back so" is "$(cat a untracked | xargs)" "a dirty mine"
rm untracked
git checkout -q a
wx undo
wx run --network none --resume "$id" -- git stash pop -q
check "... until the session takes it up" is "$rc $(git for-each-ref "refs/wrapix/$id")" "0 "

reset
git init -q "$tmp/other"
git -C "$tmp/other" commit -q --allow-empty -m o
git init -q .
printf '/*.o\nlib\n' >.gitignore
echo a >a
ln -s a link
ln -s a lib
git -c protocol.file.allow=always submodule --quiet add "$tmp/other" sub
git add -A
git commit -qm 1
git init -q nest
git worktree add -q --detach wt
cow 'echo b >a; echo x >sub/s; mv a sub/a; echo n >nest/n; echo w >wt/w; echo c >":c"; echo o >":o.o"; echo m >":(glob)m"
	rm link lib; mkdir link lib; echo l >link/l; echo i >lib/i; echo y >"$(printf "y\377\nz\t\"\\\\")"; head -c 17000000 /dev/zero >large'
wx apply --as-branch try
cat >"$tmp/want" <<'EOF'
nest: stays in the session, with 1 change: it is a repository of its own
sub: stays in the session, with 2 changes: it is a repository of its own
wt: stays in the session, with 1 change: it is a repository of its own
The branch 'try' has 7 changed files, without 3 that git ignores, without 4 in repositories of their own. Your files are as they were.
hint: 'wrapix apply PATH' takes over the files in such a repository
EOF
check "as a branch with submodules and others in it: what stays is named" sh -c "cat '$err'; [ $rc = 1 ] && diff '$tmp/want' '$out'"
git ls-tree -r --name-only try >"$tmp/names"
cat >"$tmp/want" <<'EOF'
.gitignore
.gitmodules
:(glob)m
:c
large
link/l
sub
"y\377\nz\t\"\\"
EOF
check "... any name is on it, and a large file" sh -c "diff '$tmp/want' '$tmp/names' && [ \$(git cat-file -s try:large) = 17000000 ]"
check "... the submodule is what it was" is "$(git rev-parse try:sub)" "$(git rev-parse HEAD:sub)"
wx apply sub nest/n
check "... and what stayed is taken over by plain apply" is "$rc $(cat sub/s nest/n sub/a | tr '\n' ' ')" "0 x n b "
wx apply --as-branch json --json
check "... as JSON alone" is "$rc $(python3 -c 'import json, sys; print([(r["outcome"], r["path"]) for r in json.load(sys.stdin)["results"]])' <"$out")" "1 [('refused', 'wt')]"
chmod 555 .git/refs/heads
wx apply --as-branch unwritable
chmod 755 .git/refs/heads
check "... where git refuses it its reason is told" refused 125 "git refused the commit: 'git fast-import' failed: error: cannot lock ref "

# --- repositories around it ---
reset
git init -q .
mkdir -p pkg/in
echo a >pkg/in/f
echo t >topfile
git add -A
git commit -qm 1
cd pkg || exit 1
cow 'echo b >in/f; git commit -qam x; git log --oneline | wc -l; touch ../topfile 2>/dev/null || echo refused'
check "in a subdirectory of a repository" is "$(tr '\n' ' ' <"$out")$(git log --oneline | wc -l) $(cat in/f)" "2 refused 1 a"
wx apply
check "... applied" is "$rc $(cat in/f)" "0 b"
cd "$project" || exit 1
git worktree add -q "$tmp/wt"
cd "$tmp/wt" || exit 1
cow 'echo w >w; git add -A; git commit -qm w; git log --oneline | wc -l'
check "in a linked worktree" is "$(cat "$out") $(git log --oneline | wc -l) $(ls)" "2 1 $(printf 'pkg\ntopfile')"
wx apply
check "... applied" is "$rc $(cat w)" "0 w"
cd "$project" || exit 1

# --- files of others ---
reset
mkdir locked
echo a >locked/f
chmod 555 locked
cow 'echo b >locked/f; chmod 755 locked; echo n >locked/n'
wx apply
check "a directory that is opened up" is "$rc $(cat locked/f locked/n) $(stat -c %a locked)" "0 $(printf 'b\nn') 755"
wx undo
check "... and closed again" is "$rc $(ls locked) $(stat -c %a locked)" "0 f 555"
cow 'echo "$(printf "\033[2J")" >"$(printf "evil\033[2J\nname")"'
wx diff --stat
check "hostile names are escaped" printable "$out"

# --- directories of the user's that cannot be looked into ---
reset
mkdir -p none/in gone/in gone/other
python3 -c "
import os
for i in range(500):
    os.mkdir('d'); os.chdir('d')"
echo a >a
echo o >gone/other/o
chmod 300 none
chmod 0 gone/in
cow 'echo A >a; chmod 700 none gone/in; echo x >none/x; rm -r gone d'
wx diff --stat
check "they are named, and what else was changed is shown" eval 'is "$rc $(grep -c "/  not taken over: your directory cannot be read\$" "$out") $(grep -c "^! d/.*  not taken over: too deep\$" "$out")" "0 2 1" && has "$out" "M a "'
wx apply
check "... and taken over; they stay" is "$rc $(cat a) $(stat -c %a none gone/in | xargs) $(echo d gone/*)" "1 A 300 0 d gone/in"
wx undo
check "... and comes back" is "$(cat a gone/other/o | xargs)" "a o"
chmod 700 none gone/in
wx discard --yes

# --- who may use a file ---
cat >"$tmp/list.py" <<'END'
import os, struct, sys
names = ["system.posix_acl_access", "system.posix_acl_default"]
entries = [(1, 7, -1), (2, 7, 12345), (4, 5, -1), (16, 7, -1), (32, 5, -1)]
value = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *e) for e in entries)
def lists(path):
    return "".join("ad"[i] for i, n in enumerate(names) if n in os.listxattr(path) and len(os.getxattr(path, n)) == len(value))
if sys.argv[1] == "set":
    for path in sys.argv[2:]:
        for name in names[:1 + os.path.isdir(path)]:
            os.setxattr(path, name, value)
else:
    print(*(path + ":" + oct(os.stat(path).st_mode)[-4:] + lists(path) for path in sys.argv[2:] if os.path.exists(path)))
END
lists() { python3 "$tmp/list.py" get d d/a d/new d/sub d/sub/x plain gone; }
for where in "$tmp/here" /dev/shm/wrapix-test.$$; do
	reset
	export XDG_STATE_HOME="$where"
	mkdir d
	echo a | tee d/a plain >gone
	python3 "$tmp/list.py" set d d/a gone
	chmod 4775 gone
	lists >"$tmp/before"
	cow 'echo b | tee d/a plain >d/new; mkdir d/sub; echo x >d/sub/x; rm gone'
	wx apply
	check "what replaces a file has its access list, what is new that of its directory" is "$rc $(lists)" \
		"0 d:0775ad d/a:0775a d/new:0664a d/sub:0775ad d/sub/x:0664a plain:0644"
	wx undo
	check "... and undo brings back lists and all bits" eval 'lists | diff "$tmp/before" -'
	wx discard --yes
	rm -rf "$where"
done
unset XDG_STATE_HOME
reset
echo a | tee secret old >other
chmod 600 secret old
cow 'echo b >>secret; chmod 644 secret; mv old new; chmod 640 new; chmod 600 other; echo b >>other'
wx diff
check "a diff tells each change of who may read a file" eval 'has "$err" "the mode of secret changes from 0600 to 0644" &&
	has "$err" "the mode of new changes from 0600 to 0640" && has "$err" "the mode of other changes from 0644 to 0600"'
wx diff --stat
check "... and in short" is "$(grep -c 'mode 06[04][04] => 06[04][04]' "$out")" 3

# --- directories are renamed ---
reset
git init -q .
mkdir -p dir/sub/deep other empty
seq 1 50 >dir/a
echo b >dir/sub/b
echo c >dir/sub/deep/c
echo o >other/o
chmod 750 dir/sub
touch -d '2020-01-02 03:04:05' dir/sub
git add -A
git commit -qm 1
cow 'git mv dir moved && git diff --cached --name-status -M HEAD | tr "\t" " " | head -n 1'
check "git mv of a directory" is "$rc $(cat "$out")" "0 R100 dir/a moved/a"
wx discard --yes
cat >"$tmp/rename.py" <<'EOF'
import os, errno
os.rename("dir", "new")
assert not os.path.exists("dir") and open("new/sub/deep/c").read() == "c\n"
st = os.stat("new/sub")
assert st.st_mode & 0o777 == 0o750 and int(st.st_mtime) == 1577934245, st
os.rename("new", "empty")  # an empty directory is replaced
assert sorted(os.listdir("empty")) == ["a", "sub"]
for source, target, code in (("empty", "other", errno.ENOTEMPTY), ("empty", "empty/sub/x", errno.EINVAL),
                             ("empty", "other/o", errno.ENOTDIR), ("nothing", "x", errno.ENOENT)):
    try:
        os.rename(source, target)
        raise AssertionError((source, target))
    except OSError as e:
        assert e.errno == code, (source, target, e)
os.rename("empty/sub", "other/sub")
fd = os.open("other", os.O_RDONLY)
os.rename("sub", "up", src_dir_fd=fd)  # into the working directory
os.rename("up", "/workspace/back/")
os.rename("back/b", "b")
print("good")
EOF
cow 'python3 /rename.py' --mount "$tmp/rename.py:/rename.py:ro"
check "os.rename of directories, by every way" is "$rc $(cat "$out")" "0 good"
wx apply
check "... applied" is "$rc $(wc -l <empty/a) $(cat back/deep/c) $(cat b) $(find . -name dir)" "0 50 c b "
wx undo
check "... and undone" is "$rc $(git status --short)" "0 "

# --- a tree as deep as it goes ---
reset
cow 'python3 -c "
import os
for i in range(1500):
    os.mkdir(\"d\"); os.chdir(\"d\")
open(\"f\", \"w\").close()"; echo x >x'
wx diff --name-only
check "a tree that is too deep is said, and the rest shown" is "$rc $(grep -cx x "$out")" "0 1"
wx apply
check "... and left out" is "$rc $(cat x)" "1 x"
wx discard --yes
check "... and removed" is "$rc $(find "$state/cow" -mindepth 1 -maxdepth 1 -type d)" "0 "

# --- the room that changes take ---
reset
cow 'truncate -s 4G hole; printf x | dd of=hole bs=1 seek=3G conv=notrunc 2>/dev/null'
wx apply
check "holes stay holes" is "$rc $(stat -c %s hole) $(($(stat -c %b hole) < 1000)) $(tail -c +3221225473 hole | head -c 1)" "0 4294967296 1 x"
rm hole
reset
cow 'head -c 30M /dev/zero >big; sleep 60' --disk 8M
check "--disk ends a session that takes more" is "$rc $(grep -c 'limit reached: the changes take' "$err")" "137 1"
check "... and keeps what it changed" is "$("$wrapix" diff --name-only)" big
reset
cow 'head -c 12M /dev/zero >big' --disk 8M
check "... and is told of one that was over sooner" is "$(grep -c 'the changes take .* MiB' "$err") $("$wrapix" diff --name-only)" "1 big"

# --- a directory that is gone in the session, and in which the user changed something ---
reset
mkdir d
echo a >d/a
echo b >d/b
inside 'mv d e' --workspace cow
echo mine >>d/a
wx apply
check "a directory with something of yours in it stays, and is no failure" eval 'is "$rc" 1 && has "$out" "d: conflict: something of yours is in it" && lacks "$out" failed && is "$(cat d/a e/b | xargs)" "a mine b"'
wx undo
check "... which is taken back" is "$rc $(cat d/a d/b | xargs) $(ls)" "0 a mine b d"
"$wrapix" discard --yes >/dev/null

# --- without overlayfs: a file system without user attributes, for the state and for /var/tmp ---
reset
mkdir d
mkdir away
mkfifo pipe
echo a | tee d/a away/a >yours
echo b >b
cat >"$tmp/copy.sh" <<'EOF'
"$wrapix" run --workspace cow --network none -- sh -c 'echo A >d/a; rm b; mv d e; echo n >n'
echo mine >mine
echo mine >yours
rm -r away
"$wrapix" diff --name-only
"$wrapix" apply --theirs
cat e/a n mine yours
ls -d away pipe 2>/dev/null
"$wrapix" diff --name-only
"$wrapix" undo
cat d/a b mine
EOF
mkdir -p "$state"
rc=0
with_mounts "mount -t ramfs none '$state'; mount -t ramfs none /var/tmp" sh "$tmp/copy.sh" >"$out" 2>"$err" || rc=$?
check "the project is copied, and it says so" has "$err" "so the project is copied"
check "... diff, apply and undo are the same, and the user's changes and pipes stay" is "$rc $(sed '/taken/d' "$out" | tr '\n' ' ')" "0 b d/a e/a n A n mine mine pipe a b mine "

# --- a disk that is full when all was moved: what came out lies in the project ---
cat >"$tmp/full.sh" <<'EOF'
"$wrapix" run --workspace cow --network none -- sh -c 'echo A >a; rm b'
"$wrapix" apply
"$wrapix" undo
ls -A
"$wrapix" apply
mount -o remount,size=64M none "$1"
"$wrapix" apply
ls -A
"$wrapix" undo
EOF
reset
head -c 3M /dev/urandom >a
head -c 2M /dev/urandom >b
cksum a b >"$tmp/before"
chmod -R u+rwx "$state" 2>/dev/null; rm -rf "$state"
mkdir -p "$state"
wrapix=$wrapix unshare --user --map-current-user --mount --keep-caps sh -ec "mount -t tmpfs -o size=4M none '$state'; exec sh '$tmp/full.sh' '$state'" >"$out" 2>"$err"
check "what cannot be kept is named" has "$err" "keeping what was at 'a'"
check "... undo and apply go on from there" is "$(sed /taken/d "$out" | xargs)" "a b a"
check "... and back again" eval 'cksum a b | diff "$tmp/before" -'

# --- turns: nothing is moved while a sandbox makes a change, wherever the session is kept ---
# apply_in_turn: somebody has the turn, and the apply waits (here until it is killed); then it goes on.
cat >"$tmp/turn.sh" <<'EOF'
"$wrapix" run --workspace cow --network none -- sh -c 'echo n >n; echo m >m' 2>&1
ls "$1"/*/meta | wc -l
rm -f "$state/turn"
"$wrapix" apply n
ls "$state/turn"
exec 9<"$state/turn"
flock 9
timeout 2 "$wrapix" apply m
echo "$? $(echo *)"
exec 9<&-
"$wrapix" apply
echo *
"$wrapix" discard --yes
EOF
in_turn() { # in_turn WHERE COMMAND...: the sessions are kept there
	kept=$1
	shift
	reset
	wrapix=$wrapix state=$state "$@" sh "$tmp/turn.sh" "$kept" >"$out" 2>&1 || { cat "$out"; return 1; }
	says_line 1 && says_line "$state/turn" && says_line "124 n" && says_line "m n"
}
check "an apply takes turns with sandboxes, also where none has made a change yet" in_turn "$state/cow" env
check "... and where the sessions are kept in /var/tmp" in_turn "/var/tmp/wrapix-$(id -u)/cow" with_mounts 'mount -t ramfs none "$state"; mount -t tmpfs none /var/tmp'

# --- configuration ---
reset
echo '{"workspace": "cow"}' >wrapix.json
inside 'echo x >x'
check "wrapix.json asks for it" is "$rc $(ls)" "0 wrapix.json"

# --- random changes ---
seed=${COW_SEED:-$(($$ % 10000 * 20))}
echo "# COW_SEED=$seed"
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	reset
	cp "$random" "$tmp/changes.py"
	python3 "$random" "$((seed + i))" >/dev/null
	python3 "$random" times >"$tmp/before"
	inside "python3 /changes.py $((seed + 100 + i))" --workspace cow --mount "$tmp/changes.py:/changes.py:ro"
	cp "$out" "$tmp/inside"
	[ "$rc" = 0 ] || { check "random changes, seed $((seed + i))" is "$rc" 0; continue; }
	wx diff --name-only
	grep -q . "$out" || continue
	wx apply --yes
	python3 "$random" snapshot >"$tmp/applied"
	check "random changes $((seed + i)): the project is what the session saw" diff "$tmp/inside" "$tmp/applied"
	wx diff
	check "... and nothing is left" empty "$out"
	wx undo
	python3 "$random" times >"$tmp/now"
	check "... and undo restores all of it" diff "$tmp/before" "$tmp/now"
done

finish
