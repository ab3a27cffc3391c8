#!/bin/sh
# SPDX-License-Identifier: MIT
# Files of the project that somebody outside obeys or runs later: what is told of them at the end, and what 'protect' makes of
# changes to them.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions that check() calls by name
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
git config --global user.name Tester
git config --global user.email tester@example.com
told() { grep -c "by the session\(, and is held\)\?: it counts when" "$err"; }
held_by() { "$WRAPIX" git held --json | jq -r ".[] | select(.name == \"$1\") | .session"; }
new() { # new NAME: a repository with some of them, at its top and deeper
	mkdir "$tmp/$1" && cd "$tmp/$1" || exit 1
	git init -q -b main
	mkdir -p .vscode sub/deep/.vscode plain/.claude
	echo '{"a": 1}' | tee .vscode/tasks.json sub/deep/.vscode/tasks.json >plain/.claude/settings.json
	echo one >sub/Makefile
	echo x >file
	git add -A && git commit -qm base
}

# --- reported, at every depth ---

new deep
wx run --git private --network none -- sh -c 'echo "{\"a\": 2}" >sub/deep/.vscode/tasks.json; echo two >>sub/Makefile; echo y >sub/deep/.envrc; echo y >file; rm plain/.claude/settings.json
	mkdir made; echo z >made/package.json; mkdir -p made/node_modules/.bin made/node_modules/p; echo x >made/node_modules/.bin/tool; echo x >made/node_modules/p/package.json'
check "those that changed are listed, however deep" eval 'is "$rc" 0 && is "$(told)" 5'
check "... with what makes them count" eval 'has "$err" "'"'sub/deep/.vscode/tasks.json' was changed by the session, and is held: it counts when you open the project in VS Code"'" && has "$err" "'"'sub/deep/.envrc' was added"'" && has "$err" "'"'plain/.claude/settings.json' was removed"'"'
check "... and the difference" eval 'has "$err" "+{\"a\": 2}" && has "$err" "+two" && lacks "$err" "+one"'
check "what a package manager fills is one line" is "$(grep -c node_modules "$err")" 1
check "the user's word takes it over, by its path, from anywhere in the project" eval '(cd sub && "$WRAPIX" git accept deep/.vscode) >/dev/null && has sub/deep/.vscode/tasks.json 2 && "$WRAPIX" git drop plain/.claude >/dev/null && exists plain/.claude/settings.json && is "$("$WRAPIX" git held)" "Nothing is held back here."'
new moved
wx run --git private --network none --protect editor=report -- sh -c 'mkdir -p new/x; echo a >new/x/.envrc; mv new here; mv sub/deep sub/deeper; mkdir v && echo 1 >v/settings.json && mv v .zed; ln -s /etc/passwd .exrc; cp Makefile x 2>/dev/null; touch sub/Makefile; chmod 644 sub/Makefile'
check "what comes by a rename is seen, too" eval 'has "$err" "'"'here/x/.envrc' was added"'" && has "$err" "'"'sub/deeper/.vscode/tasks.json' was added"'" && has "$err" "'"'.zed/settings.json' was added"'" && has "$err" "'"'.exrc' was added"'"'
check "... and a touch is no change" lacks "$err" "sub/Makefile"
wx run --git private --network none -- sh -c 'echo y >file; echo "{\"a\": 1}" >.vscode/tasks.json; rm plain/.claude/settings.json; git checkout -q plain'
check "nothing is said where nothing changed in the end, nor held" eval 'is "$(grep -c . "$err")" 0 && is "$(find "$state/gatedirs" -mindepth 1 | wc -l)" 0'

# --- held by default: directories of editors, agents and git ---

new default
mkdir .husky && echo "echo hook" >.husky/pre-commit && git add -A && git commit -qm husky
wx run --network none -- sh -c 'for d in .vscode .husky .claude; do mkdir -p $d && (cd $d && echo mine >>tasks.json && tail -n 1 tasks.json && rm -f pre-commit && ls | tr "\n" " ") || echo failed $d; done
	git add -A && git commit -qm edits && git checkout -q HEAD~ && cat .vscode/tasks.json && git checkout -q main && echo more >>.vscode/tasks.json && git stash -q && tail -n 1 .vscode/tasks.json && git stash pop -q && echo u >.vscode/un && git clean -fdq && ls .vscode; rm -rf .vscode 2>/dev/null || echo busy; git checkout -q .vscode; git status --short'
check "by default they are held, and all of git works in them" is "$(tr '\n' ' ' <"$out")" 'mine tasks.json mine tasks.json mine tasks.json {"a": 1} mine tasks.json busy '
check "... what the host has is unchanged" is "$(cat .vscode/tasks.json .husky/pre-commit; find .claude -type f)" '{"a": 1}
echo hook'
check "... and what changed is listed, with the difference and with when it would count" eval 'is "$(told)" 4 && has "$err" "'"'.husky/pre-commit' was removed by the session, and is held: it counts when you commit (husky)"'" && has "$err" "+mine" && has "$err" "are as they were: .vscode .husky .claude;"'
check "... the commit is the host's, so that its status shows what is not there" eval 'is "$(git log -1 --format=%s)" edits && git status --short | grep -q "^ M .vscode/tasks.json"'
wx run --network none -- sh -c 'cat .claude/tasks.json; git status --short; echo next >.claude/settings.local.json.tmp && mv .claude/settings.local.json.tmp .claude/settings.local.json'
check "the next session goes on with them" eval 'is "$rc" 0 && is "$(cat "$out")" mine && is "$(told)" 1 && has "$err" "settings.local.json"'
wx run --network none -- cat .claude/settings.local.json
check "... and one that changes nothing there says no more than that they wait" eval 'is "$(cat "$out")" next && is "$(grep -c . "$err")" 1 && has "$err" "3 directories of earlier sessions wait for your word"'
wx git accept .claude/settings.local.json
check "a file of one can be accepted by itself" eval 'is "$rc" 0 && is "$(cat .claude/settings.local.json)" next && absent .claude/tasks.json && "$WRAPIX" git held >"$tmp/list" && has "$tmp/list" "+ tasks.json"'
wx git accept .claude/none
check "... and nothing that is not held" eval 'is "$rc" 2 && has "$err" "nothing is held of"'
git checkout -q .vscode .husky .claude && rm .husky/pre-commit
check "what the user took from the commit is not held any more" is "$("$WRAPIX" git held)" "Nothing is held back here."
wx run --network none -- sh -c 'cat .vscode/tasks.json; echo 1 >.vscode/new; exit 0'
rm -rf .vscode
wx run --network none -- cat .vscode/new
check "a directory that the user removed meanwhile is there for the session" eval 'is "$(cat "$out")" 1 && absent .vscode'
(cd "$tmp/default" && "$WRAPIX" git drop .vscode >/dev/null)
git checkout -q .vscode

# --- a session that was killed ---

new killed
"$WRAPIX" run --network none -- sh -c 'echo evil >>sub/Makefile; echo evil >.vscode/tasks.json; mkdir moved; mv sub moved/sub; echo ready >ready; exec sleep 60' >/dev/null 2>&1 &
pid=$!
await exists ready
kill -9 "$pid"
wait "$pid" 2>/dev/null
await eval '"$WRAPIX" git held >"$tmp/list" 2>"$err"; grep -q "broken off" "$err"'
check "the next command tells of a session that was killed" eval 'has "$err" "was broken off" && has "$err" "'"'moved/sub/Makefile' was added"'" && has "$err" "+evil" && has "$err" "'"'.vscode/tasks.json' was changed by the session, and is held"'"'
check "... once, and what it held is held" eval '"$WRAPIX" git status >"$tmp/list" 2>"$err"; lacks "$err" "broken off" && has "$tmp/list" "dir:.vscode is held" && is "$(cat .vscode/tasks.json)" "{\"a\": 1}"'
"$WRAPIX" git drop .vscode >/dev/null

new backslash
printf 'a\n' >sub/Makefile && git commit -qam makefile
wx run --git private --network none -- sh -c 'printf "all: ; echo \"a\\\\b\" \\\\033[31m \033[31m \342\200\256\n" >sub/Makefile'
check "the difference has backslashes as they are, and no byte that a terminal obeys" has "$err" '+all: ; echo "a\b" \033[31m \x1b[31m \xe2\x80\xae'

# --- wrapix.json, which is read-only where it is ---

new own
wx run --git private --network none -- sh -c 'n=0; no() { "$@" 2>/dev/null || n=$((n + 1)); }; echo {} >f
	no sh -c "echo {} >wrapix.json"; no touch WRAPIX.json; no mv f wrapix.json; no ln f wrapix.json; no ln -s f wrapix.json; no mkdir .wrapix; mkdir d; no mv d .wrapix
	echo {} >sub/wrapix.json; echo {} >wrapix.jsonx; echo $n'
check "no wrapix.json is made for the project, by any way" eval 'is "$(cat "$out")" 7 && is "$(ls -A | tr "\n" " ")" ".git .vscode d f file plain sub wrapix.jsonx "'
check "... it is said; one elsewhere is told of" eval 'has "$err" "it decides about the next session here" && has "$err" "'"'sub/wrapix.json' was added"'"'
wx run --git private --network none --protect agent=allow -- sh -c 'echo {} >wrapix.json'
check "... but where the user allows it" is "$rc $(cat wrapix.json)" "0 {}"

# --- allow and ro ---

new levels
wx run --git private --network none --protect editor=ro --protect build=allow -- sh -c 'n=0; no() { "$@" 2>/dev/null || n=$((n + 1)); }
	no sh -c "echo 2 >.vscode/tasks.json"; no rm sub/deep/.vscode/tasks.json; no touch sub/deep/.vscode/new; no mkdir .idea; no mv .vscode v; mkdir v; echo 1 >v/x; no mv v .zed; no ln -s v .idea; no ln file .exrc; no sh -c "echo 1 >sub/a.code-workspace"
	no chmod 777 .vscode/tasks.json; echo three >>sub/Makefile; echo e >.envrc; echo $n'
check "ro: nothing of that kind is changed, made, moved or removed" eval 'is "$(cat "$out")" 10 && is "$(git status --short | tr "\n" " ")" " M sub/Makefile ?? .envrc ?? v/ "'
check "... and it is said" has "$err" "it runs later, and protect.editor is ro"
check "allow: nothing is said; the others are told of" eval 'lacks "$err" "sub/Makefile" && has "$err" "'"'.envrc' was added"'"'
printf '{"protect": {"editor": "ro", "shell": "allow"}}\n' >wrapix.json
wx run --git private --network none -- true
check "a project may ask for more protection, and not for less" eval 'is "$rc" 125 && has "$err" "wrapix trust"'
printf '{"protect": {"editor": "ro"}}\n' >wrapix.json
wx run --git private --network none -- sh -c 'echo 2 >.vscode/tasks.json'
check "... which holds without a word" eval 'is "$(cat .vscode/tasks.json)" "{\"a\": 1}"'
printf '{"protect": {"editer": "ro"}}\n' >wrapix.json
wx run --network none -- true
check "a wrong class is named" eval 'is "$rc" 2 && has "$err" "did you mean"'
rm wrapix.json
wx run --network none --protect editor -- true
check "... and on the command line" eval 'is "$rc" 2 && has "$err" "CLASS=LEVEL"'
wx run --network none --protect editor=rw -- true
check "... a wrong level" eval 'is "$rc" 2 && has "$err" "allow, report, hold, ro"'

# --- by path ---

new paths
git config core.checkStat default
wx run --network none --protect .claude/settings.local.json=allow --protect .vscode/settings.json=report --protect ./file=ro --protect ./sub=hold --protect plain/.claude=report -- sh -c 'mkdir .claude; echo a >.claude/settings.local.json; echo b >.claude/settings.json; echo c >.vscode/settings.json; echo d >file; echo e >sub/x; cat sub/x; echo f >plain/.claude/settings.json; mkdir s; echo 1 >s/y; mv sub sub2; mv s sub'
check "a path counts more than its class, and any directory can be held" eval 'is "$(cat "$out")" e && absent sub/x && exists sub/deep && is "$(cat plain/.claude/settings.json)" f'
check "... or be refused" eval 'is "$(cat file)" x && has "$err" "protect says that '"'file'"' is ro"'
check "a path that is left to the session comes out of a directory that is held" eval 'is "$(cat .claude/settings.local.json .vscode/settings.json | tr "\n" " ")" "a c " && absent .claude/settings.json && lacks "$err" "settings.local.json" && has "$err" "'"'.vscode/settings.json' was added by the session: it counts"'"'
"$WRAPIX" git drop "$(held_by sub)" >/dev/null
printf '{"protect": {"sub": "ro", "./sub": "ro"}}\n' >wrapix.json
wx run --network none -- true
check "a word that is neither is an error that names the classes" eval 'is "$rc" 2 && has "$err" "protect.sub" && has "$err" "./sub"'
printf '{"protect": {"./sub": "ro"}}\n' >wrapix.json
wx run --network none -- sh -c 'echo 1 >sub/Makefile'
check "a project may close a path" eval 'is "$(cat sub/Makefile)" one && is "$rc" 1 || is "$rc" 2'
printf '{"protect": {".vscode": "report"}}\n' >wrapix.json
wx run --network none -- true
check "... and open none without trust" eval 'is "$rc" 125 && has "$err" "wrapix trust"'
rm wrapix.json
wx run --network none --protect ../x=ro -- true
check "a path stays in the project" eval 'is "$rc" 2 && has "$err" "is no path of the project"'
wx run --network none --protect thing=ro -- true
check "... and has a form of its own" eval 'is "$rc" 2 && has "$err" "there is no class" && has "$err" "./thing"'

# --- what a hostile session tries ---

new hostile
ln sub/Makefile notes; ln .vscode/tasks.json twin
wx run --network none -- sh -c 'echo evil >notes; echo evil >twin; ln .vscode/tasks.json q; ln -s /tmp .idea; ln -s file .zed; mkfifo .cursor; mkdir v && echo evil >v/tasks.json && mv v .codex; mkdir .VSCODE && echo evil >.VSCODE/tasks.json
	mkdir -p deep/1/2/3/4/5/6/7/8; echo evil >deep/1/2/3/4/5/6/7/8/.envrc; mv deep deep2; exec 3<.vscode && cd .vscode && echo evil >tasks.json; cd /proc/self/fd/3 && echo evil >tasks.json; cd .. && touch -d 2020-01-01 sub/Makefile; sh -c "(cd plain/.claude && echo evil >settings.json)"'
check "hard links, links, pipes, moves and other spellings bring nothing into what is held" is "$(cat .vscode/tasks.json plain/.claude/settings.json; find . -path ./.git -prune -o \( -path './.codex*' -o -path './.idea*' -o -path './.zed*' -o -path './.cursor*' -o -path './.VSCODE/*' -o -name q \) -print)" '{"a": 1}
{"a": 1}'
check "... and what is reported is, by any of its names, and however deep it was moved" eval 'has "$err" "'"'sub/Makefile' was changed"'" && has "$err" "'"'deep2/1/2/3/4/5/6/7/8/.envrc' was added"'" && is "$(cat sub/Makefile)" evil'
wx run --network none --protect ci=ro --protect build=ro -- sh -c 'mkdir -p x/workflows s; echo evil >x/workflows/ci.yml; echo evil >s/config.toml; mv x .github || mv s .cargo || mv sub sub3 || echo all; mkdir y && mv y .github && ls -d .github'
check "no move makes a directory of one that may not be changed, nor takes one along" eval 'is "$(tr "\n" " " <"$out")" "all .github " && absent .github/workflows && absent .cargo && exists sub/Makefile'
wx run --network none --allow-nested -- unshare -Urm sh -c 'mkdir /tmp/m; mount --rbind /workspace /tmp/m; (cd /tmp/m/.vscode && echo evil >tasks.json); echo evil >/tmp/m/.vscode/tasks.json; mount -t tmpfs t .vscode; echo evil >.vscode/tasks.json; umount .vscode; echo evil >.vscode/tasks.json; echo evil >plain/.claude/settings.json; mount -t overlay o -o lowerdir=/workspace,upperdir=/workspace/sub,workdir=/tmp /tmp/m && echo evil >/tmp/m/.vscode/tasks.json; true'
check "nor does a namespace inside" eval 'is "$(cat .vscode/tasks.json plain/.claude/settings.json | sort -u)" "{\"a\": 1}" && absent sub/.vscode'
wx run --network none -- sh -c 'i=0; while [ $i -lt 600 ]; do mkdir m$i; echo x >m$i/Makefile; i=$((i + 1)); done; echo y >.envrc'
check "of many the worst are shown, and the number of the others" eval 'grep -m 1 "counts when" "$err" | grep -q .envrc && has "$err" "... and 581 more files that run later were changed"'
id=$(sed -n "s/.*'wrapix log \([^ ]*\)' names them.*/\1/p" "$err")
check "... and the log has all of them" is "$("$WRAPIX" log --json "$id" | jq -r 'select(.type == "later" and .class == "build" and .change == "added") | .path' | wc -l)" 600
rm -rf m[0-9]* .envrc
for dir in $("$WRAPIX" git held --json | jq -r ".[].name"); do "$WRAPIX" git drop "$dir" >/dev/null; done

new twins
echo '#!/bin/sh' >hook && ln hook .git/hooks/pre-commit && git worktree add -q ../twins-tree && cd ../twins-tree && ln ../twins/hook hook
for dir in "$tmp/twins" "$tmp/twins-tree"; do
	cd "$dir" || exit 1
	wx run --network none -- sh -c 'echo "touch /tmp/ran" >>hook; echo y >file'
	check "what is a hook by another name stays, in ${dir##*/}" eval 'is "$(cat hook) $(cat file)" "#!/bin/sh y" && has "$err" "is the same file, which git obeys"'
done

# --- hold ---

new held
wx run --git private --network none --protect editor=hold -- sh -c 'echo "{\"a\": 2}" >.vscode/tasks.json; echo n >.vscode/new; mkdir .zed; echo z >.zed/z; rm sub/deep/.vscode/tasks.json; mkdir sub/deep/.vscode/d; echo e >.exrc
	cat .vscode/tasks.json .zed/z; ls sub/deep/.vscode; git add -A; git commit -qm inside; git status --short; mv .vscode v 2>/dev/null || echo busy; mkdir q; mv q .idea 2>/dev/null || echo refused'
check "hold: inside all of it works" is "$(tr '\n' ' ' <"$out")" '{"a": 2} z d busy refused '
check "... the project has nothing of it" eval 'is "$(cat .vscode/tasks.json sub/deep/.vscode/tasks.json | tr "\n" " ")" "{\"a\": 1} {\"a\": 1} " && is "$(find .vscode .zed sub -name "[nzd]" | tr "\n" " ")" ""'
check "... but files by themselves, which are told of" eval 'exists .exrc && has "$err" "'"'.exrc' was added"'"'
check "... and the commit is there, so that status shows what is missing" eval 'is "$(git log -1 --format=%s)" inside && git status --short | grep -q " M .vscode/tasks.json"'
check "it is said how to take it over" has "$err" "held, your own files are as they were: .vscode .zed sub/deep/.vscode; 'wrapix git accept PATH'"
id=$(held_by .vscode)
wx git held
check "held lists it" eval 'has "$out" "dir:.vscode  files in it run later (session $id)" && has "$out" "+ tasks.json" && has "$out" "dir:sub/deep/.vscode" && has "$out" "- tasks.json"'
wx git held --json
check "... for programs as well" is "$(jq -r '[.[] | select(.kind == "dir") | .name] | sort | join(" ")' "$out")" ".vscode .zed sub/deep/.vscode"
wx git accept "$id" dir:.vscode
check "accept takes it over" eval 'is "$rc" 0 && has .vscode/tasks.json 2 && has .vscode/new n'
wx git accept "$id" dir:sub/deep/.vscode
check "... what was removed, too" eval 'is "$rc" 0 && absent sub/deep/.vscode/tasks.json && exists sub/deep/.vscode/d'
wx git drop "$id" dir:.zed
check "drop forgets it" eval 'is "$rc" 0 && absent .zed/z'
wx git held
check "then nothing is held" eval 'is "$rc" 0 && lacks "$out" "dir:" && absent "$state/gate/$id" && absent "$state/gatedirs/$id"'
new escape
mkdir "$tmp/outside"
wx run --git private --network none --protect editor=hold -- sh -c 'ln -s ../../outside .vscode/link; mkdir .vscode/sub; ln -s / .vscode/sub/root; printf x >.vscode/set; chmod 755 .vscode/set; mkfifo .vscode/fifo'
id=$(held_by .vscode)
chmod 4755 "$(find "$state/gatedirs/$id" -name set)" # nobody inside can
rm -rf .vscode && ln -s "$tmp/outside" .vscode
wx git accept "$id" dir:.vscode
check "accept follows no link of the project's" eval '! [ "$rc" = 0 ] && is "$(ls -A "$tmp/outside")" ""'
rm .vscode
wx git accept "$id" dir:.vscode
check "... nor of the session's; rights and special files do not come along" eval 'is "$rc" 0 && [ -L .vscode/link ] && is "$(stat -c %a .vscode/set)" 755 && absent .vscode/fifo'

# --- what the user changed meanwhile ---

new meanwhile
seq 1 20 | tee .vscode/a .vscode/b .vscode/c .vscode/d .vscode/e >.vscode/f
mkdir .vscode/gone && echo g | tee .vscode/gone/g >.vscode/gone/h
ln .vscode/f .vscode/f2
wx run --network none -- sh -c 'cd .vscode && sed -i s/^18$/theirs/ a b && rm c d && sed -i s/^18$/theirs/ e && echo theirs >new && rm -r gone && echo theirs >f'
sed -i s/^2$/ours/ .vscode/a # merges
sed -i s/^18$/ours/ .vscode/b # does not
echo ours >>.vscode/d         # removed inside
rm .vscode/e                  # changed inside
echo ours >.vscode/new        # made on both sides
echo ours >.vscode/gone/h     # removed with its directory
wx git accept .vscode
check "accept overwrites nothing that the user changed meanwhile, and merges what goes" eval 'is "$rc" 1 && is "$(sed -n "2p;18p" .vscode/a | tr "\n" " ")" "ours theirs " && is "$(sed -n 18p .vscode/b)" ours && has .vscode/d ours && absent .vscode/e && is "$(cat .vscode/new .vscode/gone/h | sort -u)" ours'
check "... takes over what the session alone changed" eval 'absent .vscode/c && absent .vscode/gone/g && is "$(cat .vscode/f)" theirs'
check "... and says which it left, and why" eval 'has "$out" ".vscode/a: merged with your changes" && has "$out" ".vscode/b: conflict: you changed it meanwhile" && has "$out" ".vscode/e: conflict: you removed it meanwhile" && has "$out" ".vscode/new: conflict: you made one of the same name meanwhile" && has "$out" ".vscode/gone/h: conflict: you changed it" && has "$out" "hint: both are as they were; --theirs"'
wx git held --json
check "... which stay held" is "$(jq -r '.[].files[].name' "$out" | sort | tr '\n' ' ')" "b d e gone/h new "
wx run --network none -- sh -c 'sed -n 18p .vscode/b; cat .vscode/new; echo more >>.vscode/b; echo fresh >.vscode/fresh'
wx git accept .vscode/b .vscode/fresh
check "... through the next session, too" eval 'is "$rc" 1 && is "$(sed -n 18p .vscode/b)" ours && is "$(cat .vscode/fresh)" fresh && has "$out" ".vscode/b: conflict" && has "$out" "accepted .vscode/fresh"'
wx git accept --ours .vscode/b .vscode/new
check "--ours keeps the user's, and forgets the other" eval 'is "$rc" 0 && is "$(sed -n 18p .vscode/b)" ours && is "$(cat .vscode/new)" ours && has "$out" ".vscode/b: yours was kept"'
wx git accept --theirs .vscode
check "--theirs takes the session's" eval 'is "$rc" 0 && absent .vscode/d && is "$(sed -n 18p .vscode/e)" theirs && absent .vscode/gone && is "$("$WRAPIX" git held)" "Nothing is held back here."'
wx run --network none --protect .vscode/x=allow -- sh -c 'echo theirs >.vscode/x; echo theirs >.vscode/y; echo ready >ready; until [ -e go ]; do sleep 0.05; done' &
pid=$!
await exists ready
echo ours >.vscode/x
touch go
wait "$pid"
check "nor does a file that is left to the session" eval 'is "$(cat .vscode/x)" ours && "$WRAPIX" git held >"$tmp/list" && has "$tmp/list" "+ x" && "$WRAPIX" git drop .vscode >/dev/null'
echo "echo mine" >.git/hooks/pre-commit; git config alias.x mine
wx run --network none -- sh -c 'echo "echo theirs" >.git/hooks/pre-commit; git config alias.x theirs; echo "echo theirs" >.git/hooks/post-merge'
echo "echo newer" >.git/hooks/pre-commit; git config alias.x newer
id=$("$WRAPIX" git status --json | jq -r '.[0].id')
wx git accept "$id" hook:pre-commit
check "nor a hook" eval 'is "$rc" 125 && has .git/hooks/pre-commit newer && has "$err" "you changed it meanwhile" && has "$err" --theirs'
wx git accept "$id" config:alias.x
check "... nor a key" eval 'is "$rc" 125 && is "$(git config alias.x)" newer && has "$err" "you changed it meanwhile"'
wx git accept --theirs "$id" hook:pre-commit config:alias.x hook:post-merge
check "... but by --theirs" eval 'is "$rc" 0 && has .git/hooks/pre-commit theirs && is "$(git config alias.x)" theirs && has .git/hooks/post-merge theirs'

# A session that runs could put another in the place of the one that the user has looked at.
rm -f ready go
"$WRAPIX" run --network none -- sh -c 'echo "echo harmless" >.git/hooks/post-commit; git config alias.y harmless; git commit -q --no-verify --allow-empty -m x; touch ready; until [ -e go ]; do sleep 0.05; done' >"$tmp/log/out" 2>&1 &
pid=$!
held_by_now() { "$WRAPIX" git held | grep -q hook:post-commit && "$WRAPIX" git held | grep -q config:alias.y; }
check "(control) a session that runs holds a hook and a key" await held_by_now
id=$("$WRAPIX" git status --json | jq -r '.[] | select(.running) | .id')
wx git accept "$id" hook:post-commit
check "a hook of a session that runs is not taken over" eval 'is "$rc" 125 && absent .git/hooks/post-commit && has "$err" "it could still change what you looked at" && has "$err" "wrapix stop $id"'
wx git accept --theirs "$id" config:alias.y
check "... nor is a key" eval 'is "$rc" 125 && is "$(git config alias.y)" "" && has "$err" "it could still change what you looked at"'
touch go
wait "$pid"
wx git accept "$id" hook:post-commit config:alias.y
check "... until it has ended" eval 'is "$rc" 0 && has .git/hooks/post-commit harmless && is "$(git config alias.y)" harmless'

# --- a directory of theirs that is a link ---

new links # links at several depths, to directories and files in the project, by several names, and to what is not in it
rm -r .vscode sub/deep/.vscode
mkdir -p cfg/editor cfg/deep skills a/b/c/d "$tmp/elsewhere"
echo one | tee cfg/editor/tasks.json cfg/deep/tasks.json skills/s.md cfg/env a/b/c/rules.md >"$tmp/elsewhere/x"
ln -s editor cfg/way
ln -s cfg/way .vscode
ln -s ../../cfg/deep sub/deep/.vscode
ln -s ../../skills plain/.claude/skills
ln -s "$PWD/cfg/env" .envrc
ln -s ../rules.md a/b/c/d/AGENTS.md
ln -s "$tmp/elsewhere" .idea
ln -s .. a/.zed
wx run --network none -- sh -c 'echo two >.vscode/tasks.json; (cd cfg/deep && echo two >tasks.json && cat tasks.json); echo two >skills/s.md; echo two >plain/.claude/skills/new; echo two >cfg/env; echo two >a/b/c/rules.md; echo two >cfg/plain; echo two >a/x
	cat .vscode/tasks.json sub/deep/.vscode/tasks.json; n=0; no() { "$@" 2>/dev/null || n=$((n + 1)); }; no rm .vscode; no mv .vscode v; no ln -sfn cfg .vscode; no mv cfg/editor cfg/e; no rm sub/deep/.vscode; no ln -s cfg .cursor; echo $n; ln -sfn ../a cfg/way'
check "where the directory is a link, what it leads to is held, by either name and at every depth" eval 'is "$(tr "\n" " " <"$out")" "two two two 6 " && is "$(cat cfg/editor/tasks.json cfg/deep/tasks.json skills/s.md | sort -u)" one && absent skills/new && is "$(readlink .vscode)" cfg/way'
check "... what only stands beside it is not" eval 'is "$(cat cfg/plain a/x | sort -u)" two && lacks "$err" cfg/plain && lacks "$err" "a/x"'
check "... a file that a link leads to is told of" eval 'is "$(cat cfg/env a/b/c/rules.md | sort -u)" two && has "$err" "'"'cfg/env', which is '.envrc', was changed by the session: it counts when you enter the directory"'" && has "$err" "'"'a/b/c/rules.md', which is 'a/b/c/d/AGENTS.md', was"'"'
check "... and so is a link on the way" has "$err" "'cfg/way', which is '.vscode', was changed by the session: it counts when you open the project in VS Code"
ln -sfn editor cfg/way
check "... and the others with the name that counts" eval 'has "$err" "'"'cfg/editor/tasks.json', which is '.vscode/tasks.json', was changed by the session, and is held: it counts when you open the project in VS Code"'" && has "$err" "'"'skills/new', which is 'plain/.claude/skills/new', was added"'" && "$WRAPIX" git held | grep -q "it counts when you open the project in VS Code"'
wx git accept cfg/editor
check "... until they are accepted" eval 'is "$rc" 0 && is "$(cat .vscode/tasks.json)" two && "$WRAPIX" git drop skills >/dev/null && "$WRAPIX" git drop cfg/deep >/dev/null && is "$("$WRAPIX" git held)" "Nothing is held back here."'
wx run --network none --protect editor=report -- sh -c 'echo three >.vscode/tasks.json; rm sub/deep/.vscode'
check "reported: the link, and what is changed behind it" eval 'is "$(cat cfg/editor/tasks.json)" three && has "$err" "'"'cfg/editor/tasks.json', which is '.vscode/tasks.json', was changed by the session: it"'" && has "$err" "'"'sub/deep/.vscode' was removed by the session"'"'
wx run --network none --protect editor=ro -- sh -c 'echo four >cfg/editor/tasks.json || echo four >.vscode/new || mv cfg c || echo none'
check "ro: neither is changed" eval 'is "$(cat "$out" cfg/editor/tasks.json | tr "\n" " ")" "none three " && absent cfg/editor/new'
wx run --network none --git direct --protect editor=ro -- sh -c 'echo four >cfg/editor/tasks.json || echo four >cfg/env'
check "direct: by links at the top" eval 'is "$(cat cfg/editor/tasks.json cfg/env | tr "\n" " ")" "three four " && has "$err" "'"'cfg/env', which is '.envrc', was changed"'"'
wx run --network none --workspace cow --name links -- sh -c 'echo five >cfg/editor/tasks.json; echo five >cfg/plain'
"$WRAPIX" apply links </dev/null >"$out" 2>&1
check "copy-on-write: apply asks" eval 'has "$out" "cfg/editor/tasks.json: not taken over; it would be executed when an editor opens the project" && is "$(cat cfg/editor/tasks.json cfg/plain | tr "\n" " ")" "three five "'
"$WRAPIX" discard --yes links >/dev/null

# --- too much to look through ---

new vast
ln file other
wx run --network none -- sh -c 'echo 1 >other; cat other'
check "a file with several names, none of which runs later" eval 'is "$rc $(cat "$out")" "0 1" && lacks "$err" "not all links"'
mkdir -p "$(printf 'd/%.0s' $(seq 70))"
wx run --network none -- sh -c 'echo 2 >other; echo 3 >new; rm other; cat file new'
check "where they cannot all be looked for it is not changed in place, and that is said" eval 'is "$(tr "\n" " " <"$out")" "1 3 " && has "$err" "it has several names" && has "$err" "not all links of the project were looked at"'

# --- what git would obey, in what is held ---

new planted
mkdir -p .claude/commands
plant='for d in .vscode/.git .vscode/x .claude/commands/.git .claude/commands/y; do mkdir -p $d/objects $d/refs/heads; echo k | tee $d/objects/k >$d/refs/heads/k; echo "ref: refs/heads/main" >$d/HEAD
	printf "[core]\\n\\tfsmonitor = x\\n" >$d/config; done; echo 2 >.vscode/tasks.json; echo c >.claude/commands/c.md'
wx run --network none --protect ./.claude/commands=report -- sh -c "$plant"
check "a directory that is open in a held one gets files, and no repository" is "$rc $(find .claude -type f)" "0 .claude/commands/c.md"
wx git accept .vscode
check "accept takes over files, and no repository" eval '! [ "$rc" = 0 ] && is "$(find .vscode -type f) $(cat .vscode/tasks.json)" ".vscode/tasks.json 2" && has "$out" "git would obey"'

git init -q -b main ../meanwhile && cd ../meanwhile && mkdir .husky || exit 1
wx run --network none -- sh -c 'echo "ref: refs/heads/main" >.husky/HEAD; mkdir .husky/x; echo y >.husky/x/y'
exec 9>>"$state/turn"
flock 9
"$WRAPIX" git accept .husky >"$out" 2>"$err" 9>&- &
started=$!
first=
waits() { # it looks again and again
	n=$(sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/$started/status")
	[ "$n" -gt "$((${first:=$n} + 20))" ]
}
check "accept waits for its turn" await waits
mkdir .husky/objects .husky/refs && exec 9>&-
wait "$started"
started=
check "... and takes over nothing that makes a repository then" eval 'absent .husky/HEAD && has "$out" "git would obey" && lacks "$out" "permitted"'

# --- without the supervisor's hand on the files ---

new direct
wx run --git direct --network none --protect editor=ro -- sh -c 'echo 2 >.vscode/tasks.json; echo 3 >.envrc; mkdir .zed' 2>/dev/null
check "direct: what is at the top is told of, and closed" eval 'has "$err" "'"'.envrc' was added"'" && is "$(cat .vscode/tasks.json)" "{\"a\": 1}"'
check "... and what does not hold is said" has "$err" "protect.editor is ro: without --git private"
wx run --network none --git direct --protect shell=allow -- sh -c 'echo 4 >.envrc; echo 5 >Makefile'
check "... by class" eval 'lacks "$err" "envrc" && has "$err" "'"'Makefile' was added by the session: it counts when you run make"'"'
finish
