#!/bin/sh
# SPDX-License-Identifier: MIT
# The name gate: repositories that are made, cloned or found below the project work inside and are published,
# and nothing that the host's git obeys comes into the project. Prints TAP.
#
# shellcheck disable=SC1091,SC2016,SC2088,SC2154 # the library; scripts for the shell inside; words for git
. "$(dirname -- "$0")/../lib/system.sh"
be_user "$@"
set_up
. "$top/tests/lib/git.sh"
gated() { wx run --git private --network none -- sh -c "$1"; }
output() { is "$(cat "$out")" "$1"; }
hooks_of() { find "$1/.git/hooks" -type f 2>/dev/null | wc -l; }

# --- made inside ---
new_repo "$tmp/made" && cd "$tmp/made" || exit 1
gated 'git init -q -b main sub && cd sub && echo 1 >f && git add f && git commit -q -m one && cd .. && mv sub moved && cd moved &&
	echo 2 >f && git commit -qam two && git log --format=%s | xargs; printf "#!/bin/sh\ntouch $HOME/ran" >.git/hooks/pre-commit; chmod +x .git/hooks/*
	git config core.fsmonitor "touch /tmp/x"; git config user.name Inside'
check "git init, commit, mv, commit inside" output "two one"
check "... published with its history" is "$(log_of moved)" "two one"
check "... clean" is "$(git -C moved status --porcelain)" ""
check "... with no hook, and only keys that are data" is "$(hooks_of moved) $(git -C moved config --local --get core.fsmonitor) $(git -C moved config --local user.name)" "0  Inside"
check "... and what was held is said, with the place" has "$err" "held back in git: 'moved': config 'core.fsmonitor'"
gated 'git clone -q . copy && cd copy && git commit -q --allow-empty -m cloned && cd .. && git clone -q copy two && rm -rf copy && ls -A two; test ! -e copy'
check "clone of the project, clone of the clone, rm -rf" is "$rc $(log_of two) $(echo .git* file* m* two*)" "0 cloned start .git file moved two"
gated 'git clone -q --depth 1 "file://$PWD" thin && git -C thin log --format=%s'
check "a shallow clone" is "$(cat "$out") $(log_of thin)" "start start"
gated 'git init -q --object-format=sha256 other && cd other && git commit -q --allow-empty -m long'
check "a sha256 repository" is "$(log_of other) $(git -C other rev-parse HEAD | wc -c)" "long 65"
gated 'git init -q --bare bare.git && git push -q bare.git HEAD:refs/heads/main && git -C bare.git log --format=%s main'
check "a bare repository works inside" output start
check "... and is none outside" absent bare.git/objects
check "... which is said" has "$err" "'bare.git' is a git directory by its content"
gated 'cp -a moved copied && git -C copied log --format=%s | xargs && tar cf - moved | (mkdir out && cd out && tar xf -) && git -C out/moved status --porcelain'
check "cp -a and tar of a repository" is "$rc $(cat "$out")" "0 two one"
check "... published" is "$(log_of copied) $(log_of out/moved)" "two one two one"
mkdir "$tmp/none" && cd "$tmp/none" || exit 1
gated 'git init -q -b main && echo 1 >f && git add . && git commit -q -m first'
check "git init in a project without git" is "$rc $(log_of .) $(git status --porcelain)" "0 first "

# --- there before ---
new_repo "$tmp/old" && cd "$tmp/old" && new_repo nested && git init -q --bare fixture.git && new_repo sub/deep || exit 1
gated 'cd nested && echo 2 >>file && git commit -qam inside && git log --format=%s | xargs && git fsck --no-progress && git config core.pager evil
	echo "[core] fsmonitor = evil" >>../fixture.git/config; echo evil >../fixture.git/hooks/post-update; cat ../fixture.git/hooks/post-update
	echo x >../sub/deep/.git/hooks/pre-commit; cat ../sub/deep/.git/hooks/pre-commit'
check "an existing repository below: commits" output "inside start
evil
x"
check "... are published, its index as well" is "$(log_of nested) $(git -C nested status --porcelain)" "inside start "
check "... not its configuration" is "$(git -C nested config core.pager)" ""
check "a bare one, and one deeper: changed inside alone" is "$(git config -f fixture.git/config core.fsmonitor)$(ls fixture.git/hooks/post-update sub/deep/.git/hooks/pre-commit 2>/dev/null)" ""
mkfifo "$tmp/up" "$tmp/go"
"$wrapix" run --network none --mount "$tmp/up:/up" --mount "$tmp/go:/go" -- sh -c 'cd nested && echo 3 >>file && git commit -qam live && echo up >/up && read -r x </go
	git log --format=%s host..; git log -1 --format=%s host; git commit -q --allow-empty -m last' >"$out" 2>"$err" &
started=$!
hear "$tmp/up"
published() { is "$(log_of nested) $(git -C nested status --porcelain)" "live inside start "; }
check "... while it runs" await published
git -C nested branch host
seen_inside() { GIT_DIR=$(echo "$home"/.local/state/wrapix/gatedirs/*/*/HEAD) && GIT_DIR=${GIT_DIR%/HEAD} && [ -n "$(git --git-dir="$GIT_DIR" for-each-ref refs/heads/host)" ]; }
check "... and what the user does there shows inside" await seen_inside
tell "$tmp/go"
wait "$started"
started=
check "... to the end" is "$(log_of nested) $(cat "$out")" "last live inside start live"

# --- what is refused ---
new_repo "$tmp/bad" && cd "$tmp/bad" && mkdir d e || exit 1
gated 'n=0; no() { "$@" 2>/dev/null || n=$((n + 1)); }
	no ln -s /tmp d/.git; no ln file d/.git; no mkfifo d/.git; echo gitdir: /tmp >g; no mv g d/.git; no mv e d/.git; no mv .git x; no rmdir .git
	no mkdir d/.GIT; no mkdir d/.Git; no mkdir d/git~1; no mkdir "d/.git "; no mkdir "d/.g$(printf "\342\200\214")it"; no touch "d/.git::\$INDEX_ALLOCATION"; echo $n
	touch d/.gitignore d/.github d/git d/x.git && mkdir d/.git && mv d d2 && echo fine'
check "links, moves and other spellings of .git are refused, and nothing else" output "13
fine"
check "... nothing of it is there" is "$(find . -iname '*git' -path './?*/*' ! -path './.git/*' | sort | xargs)" "./d2/git ./d2/x.git"
check "... and it is said" has "$err" "refused writing $PWD/d/.git: git itself makes .git, in place"

# --- what is read-only in the project stays so ---
new_repo "$tmp/closed" && cd "$tmp/closed" && mkdir .wrapix && echo '{}' >wrapix.json || exit 1
gated 'n=0; no() { "$@" 2>/dev/null || n=$((n + 1)); }
	no sh -c "echo 1 >wrapix.json"; no rm wrapix.json; no mv wrapix.json w; no touch wrapix.json; no chmod 777 wrapix.json; no ln wrapix.json l; no truncate -s 9 wrapix.json
	no touch .wrapix/x; no rmdir .wrapix; no mv .wrapix w; no mv file wrapix.json; echo $n'
check "wrapix.json and .wrapix" is "$(cat "$out" wrapix.json) $(ls -A .wrapix)" "11
{} "
wx run --git private --network none --allow-nested -- sh -c 'echo 1 >made; unshare -rm sh -c "echo 2 >>made; mkdir d; mkdir d/.git; echo 3 >d/.git/x; cat made"; mkdir e e/.git && echo 4 >e/.git/config && cat e/.git/config'
check "--allow-nested: from a namespace inside as well, and no .git from there" is "$(cat "$out" made | xargs) $(ls -A d e)" "1 2 4 1 2 d:

e:"

# --- a repository below the project, and what is put in its place ---
new_repo "$tmp/swapped" && cd "$tmp/swapped" && new_repo sub && new_repo "$tmp/victim" || exit 1
gated 'cd sub && git checkout -q -b side && git commit -q --allow-empty -m side && git worktree add -q trees/two'
check "a branch and a work tree of one are the host's" is "$(log_of sub) $(log_of sub/trees/two) $(git -C sub worktree list | wc -l)" "side start side start 2"
gated "cd sub && git checkout -q -b evil && git commit -q --allow-empty -m evil && git tag v9 && git config branch.evil.remote evil && cd .. && mv sub gone && ln -s '$tmp/victim' sub && git -C gone branch more"
check "a link in its place leads to nobody else's" is "$(git -C "$tmp/victim" for-each-ref --format='%(refname)' | xargs) $(git -C "$tmp/victim" config branch.evil.remote)" "refs/heads/main "
check "... and what it held is kept, and said" has "$err" "held back in git: 'sub'"
new_repo "$tmp/hooked" && cd "$tmp/hooked" && mkdir -p tools/hooks "$tmp/secret" && echo key >"$tmp/secret/key" && echo '#!/bin/sh' >tools/hooks/pre-commit || exit 1
printf '[pull]\n\trebase = true\n' >shared.cfg
git config core.hooksPath "$PWD/tools/hooks"
git config include.path ../shared.cfg
gated 'ls .git/hooks; echo touch /tmp/ran >>tools/hooks/pre-commit; echo "[core]fsmonitor=x" >>shared.cfg'
check "core.hooksPath in the project: its hooks run inside" has "$out" pre-commit
check "... what the session makes of them is held" is "$(cat tools/hooks/pre-commit)" '#!/bin/sh'
check "... and what the configuration includes stays" lacks shared.cfg fsmonitor
rm -r tools/hooks
ln -s "$tmp/secret" tools/hooks
gated 'find .git/hooks; cat .git/hooks/key'
check "... a link there that leads out of the project shows nothing" lacks "$out" key
rm tools/hooks
mkdir tools/hooks
git config core.hooksPath tools/hooks
gated 'mv tools t2; rmdir tools/hooks tools; ln -sT t2 tools; mkdir -p t2/hooks; echo touch /tmp/ran >t2/hooks/pre-commit'
check "... nor is the directory above moved, or a link put in its place" eval 'is "$(ls tools)" hooks && has "$err" "what is held or read-only is in it"'
new_repo "$tmp/linked" && cd "$tmp/linked" && mkdir githooks scripts && echo '#!/bin/sh' | tee githooks/pre-commit scripts/check >githooks/pre-push && rm -rf .git/hooks && ln -s ../githooks .git/hooks || exit 1
ln -s ../scripts/check githooks/commit-msg
gated 'ls .git/hooks; echo touch /tmp/ran >>githooks/pre-commit; echo touch /tmp/ran >>scripts/check; mv githooks old; mv scripts old'
check "hooks that are a link into the project run inside" has "$out" pre-commit
check "... what the session makes of them is held, and what they lead to stays" is "$(cat githooks/pre-commit scripts/check)" '#!/bin/sh
#!/bin/sh'
rm -r githooks
ln -s "$tmp/secret" githooks
gated 'find .git/hooks; cat .git/hooks/key'
check "... and where another link leads out from there, nothing is shown" lacks "$out" key
rm -rf .git/hooks && mkdir "$tmp/shared" && echo '#!/bin/sh' >"$tmp/shared/pre-push" && ln -s "$tmp/shared" .git/hooks
gated 'ls .git/hooks'
check "... but where you keep them elsewhere they run inside" has "$out" pre-push

# --- hooks in the project, whichever configuration names them ---
new_repo "$tmp/said" && cd "$tmp/said" && mkdir hooks && echo '#!/bin/sh' >hooks/pre-commit || exit 1
printf '[core]\n\thooksPath = hooks\n' >shared.cfg
printf '\357\273\277[alias]\n\tlong = "!: %5000s"\n\tbell = "!: \a"\n[core]\n\thooksPath = hooks\n' x >odd.cfg
check "(control) git takes what is odd" is "$(git config -f odd.cfg core.hooksPath)" hooks
git config extensions.worktreeConfig true
for where in "--local include.path ../shared.cfg" "--local include.path ../odd.cfg" "--worktree core.hooksPath hooks" "--local core.hooksPath ~/../said/hooks" "--global core.hooksPath hooks"; do
	# shellcheck disable=SC2086 # words
	git config $where
	gated 'echo touch /tmp/ran >>hooks/pre-commit'
	check "hooks by git config $where: what the session makes of them is held" eval 'is "$(cat hooks/pre-commit)" "#!/bin/sh" && has "$err" "was changed by the session, and is held"'
	wx git drop hooks
	rest=${where#* }
	git config "${where%% *}" --unset "${rest%% *}"
done
mkdir real && mv hooks real && ln -s second first && ln -s real second && git config core.hooksPath first/hooks
gated 'mkdir -p evil/hooks && echo touch /tmp/ran >evil/hooks/pre-commit && rm second; ln -s evil second'
check "no link on the way to them is exchanged, also one that another leads to" eval 'lacks first/hooks/pre-commit touch && has "$err" "what is held or read-only is in it"'

# --- programs of the tree that a configuration names: the host's git runs them with commands that say nothing of it ---
new_repo "$tmp/programs" && cd "$tmp/programs" && mkdir tools "t t" || exit 1
for name in fsmonitor textconv command external gpg driver clean process ssh helper top cut alias told data 't t/quoted'; do
	case $name in */*) f=$name ;; *) f=tools/$name ;; esac
	echo '#!/bin/sh' >"$f" && chmod +x "$f"
done
git add . && git commit -qm tools
git config core.fsmonitor tools/fsmonitor
git config diff.a.textconv 'sh tools/textconv -x'
git config diff.b.command ./tools/command
git config diff.external "$PWD/tools/external"
git config gpg.program tools/gpg
git config merge.a.driver 'tools/driver %A %O %B'
git config filter.a.clean 'python3 tools/clean %f'
git config --global filter.b.process '~/../programs/tools/process'
git config core.sshCommand 'A=1 tools/ssh -v'
git config credential.helper '!tools/helper'
git config core.pager "sh 't t/quoted'"
git config interactive.diffFilter '$(git rev-parse --show-toplevel)/tools/top'
git config sequence.editor 'true;tools/cut'
git config core.editor tools/none
git config alias.x '!sh tools/alias'
git config alias.y 'log told'
git config blame.ignoreRevsFile tools/data
gated 'for f in tools/* "t t/quoted" tools/none; do echo changed >>"$f"; done 2>&1; mv tools moved'
check "programs of the tree that git's configuration names are read-only inside, others and data are not" is "$(grep -rl changed tools 't t' | sort | xargs)" "tools/alias tools/data tools/told"
check "... and what an alias runs is told of" eval 'has "$err" "'"'tools/alias' was changed by the session"'" && lacks "$err" tools/told'
wx run --git private --network none --protect ./tools/gpg=report -- sh -c 'echo mine >>tools/gpg'
check "... also others, where you let them" eval 'has tools/gpg mine && has "$err" "'"'tools/gpg' was changed by the session"'"'
git config --global --unset filter.b.process

# --- two repositories that change places while one of them is published; after the index comes HEAD, or else the configuration ---
mkdir "$tmp/gits" && : >"$tmp/gits/git" && chmod +x "$tmp/gits/git" || exit 1
for branch in dev main; do
	new_repo "$tmp/$branch/first" && new_repo "$tmp/$branch/second" && cd "$tmp/$branch" && git -C first branch dev && git -C second branch dev || exit 1
	cat >"$tmp/gits/git" <<-EOF
		#!/bin/sh
		[ "\$1" != update-index ] || [ -e '$PWD/third' ] || { mv '$PWD/first' '$PWD/third' && mv '$PWD/second' '$PWD/first'; }
		exec $(command -v git) "\$@"
	EOF
	(cd first && PATH=$tmp/gits:$PATH && gated "git checkout -q $branch; echo 1 >new; git add new; git config pull.rebase true")
	check "another repository that comes to its place is not written ($branch)" eval 'exists third && is "$(git -C first branch --show-current) $(git -C first config pull.rebase) $(git -C first status --porcelain)" "main  "'
	check "... and that is said" has "$err" "is not the repository that the session began with"
done

# --- a hook that is accepted while a link is put in the repository's place ---
new_repo "$tmp/accepted" && cd "$tmp/accepted" && new_repo sub && rm -rf "$state/turns" || exit 1
gated 'cd sub && git commit -q --allow-empty -m x && echo "#!/bin/sh" >.git/hooks/pre-commit'
id=$(sed -n "s/.*'wrapix git held \([a-z0-9]*\) --show'.*/\1/p" "$err" | head -n 1)
first=
waits() { # it has opened the turn, and looks again and again
	readlink "/proc/$waiting/fd/"* | grep -qF "$state/turns/" || return 1
	n=$(sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/$waiting/status")
	[ "$n" -gt "$((${first:=$n} + 20))" ]
}
accept_late() { # accept_late TURN...: which somebody else has, until the link is there
	if [ $# -gt 0 ]; then
		(exec 9>>"$1" && flock 9 && shift && accept_late "$@")
	else
		"$wrapix" git accept "$id" hook:pre-commit >"$out" 2>"$err" 9>&- &
		waiting=$!
		echo $waiting >"$tmp/waiting"
		await waits && mv sub gone && ln -s "$tmp/victim" sub
	fi
}
check "accepting a hook waits for its turn" accept_late "$state"/turns/*
over() { ! grep -q '^State:.[^Z]' "/proc/$(cat "$tmp/waiting")/status"; }
check "... and ends" await over
check "... which is nothing in another repository" eval 'absent "$tmp/victim/.git/hooks/pre-commit" && has "$err" "is another repository than the one of"'

# --- a sandbox in the directory above ---
mkdir "$tmp/above" && cd "$tmp/above" && new_repo proj && new_repo "$tmp/target" || exit 1
cd proj || exit 1
"$wrapix" run --network none --protect ./.claude/commands=report --mount "$tmp/up:/up" --mount "$tmp/go:/go" -- sh -c 'mkdir -p .claude/commands; echo x >.claude/commands/x.md; echo up >/up; read -r x </go; git checkout -q --orphan evil && git commit -q --allow-empty -m evil && git tag v9 && git config branch.evil.remote evil' >"$out" 2>"$err" &
started=$!
hear "$tmp/up"
cd ..
"$wrapix" run --network none -- sh -c "mv proj gone && ln -s '$tmp/target' proj"
tell "$tmp/go"
wait "$started"
started=
check "who moves the project and puts a link there has nothing written to another repository" is "$(git -C "$tmp/target" for-each-ref --format='%(refname)' | xargs) $(cat "$tmp/target/.git/HEAD") $(git -C "$tmp/target" config branch.evil.remote)" "refs/heads/main ref: refs/heads/main "
check "... and no file to another directory" absent "$tmp/target/.claude"
check "... which is said" has "$err" "is not the repository that the session began with"
rm proj && mv gone proj && cd proj || exit 1
wx git status
check "... and when it is back it is taken over" is "$(git log --format=%s evil) $(git tag)" "evil v9"

# --- files that run later ---
new_repo "$tmp/later" && cd "$tmp/later" && mkdir -p .vscode .github/workflows && echo '{"a": 1}' >.vscode/tasks.json && echo x >.envrc && echo y >Makefile || exit 1
gated 'echo "{\"a\": 2}" >.vscode/tasks.json; rm .envrc; echo on: push >.github/workflows/ci.yml; ln -s /etc/passwd .exrc; touch Makefile; printf "\033[2Jhello\n" >.env; echo z >file'
later() { grep -c "by the session.*: it counts when" "$err"; }
check "at the end those that changed are listed, and no others" is "$(later)" 5
check "... with the difference" has "$err" '+{"a": 2}'
check "... and when they run" has "$err" "'.github/workflows/ci.yml' was added by the session: it counts when you push (GitHub Actions)"
check "... safe for a terminal" lacks "$err" "$(printf '\033')"
gated 'echo y >Makefile; true'
check "... nothing is said where nothing changed" is "$(later)" 0

# --- killed ---
new_repo "$tmp/killed" && cd "$tmp/killed" && new_repo nested || exit 1
"$wrapix" run --git private --network none -- sh -c 'git init -q -b main sub; cd sub; git commit -q --allow-empty -m kept; cd ../nested; git commit -q --allow-empty -m too
	cd ..; mkdir d; echo gitdir: x >d/.git; mkfifo /tmp/f; echo >ready; read -r x </tmp/f' >/dev/null 2>&1 </dev/null &
pid=$!
await test -e ready
check "while it runs the host's has an empty .git" is "$(find sub/.git d/.git | tr "\n" " ") $(stat -c %s d/.git)" "sub/.git d/.git  0"
kill -9 "$pid"
wx git status # at once: it waits while the kernel ends the session
wait "$pid" 2>/dev/null
check "after kill -9 the next command takes over both" is "$rc $(log_of sub) $(log_of nested)" "0 kept too start"
check "... and clears up" is "$(find d) $(grep -rl "$PWD" "$state/gate" "$state/git")" "d "

finish
