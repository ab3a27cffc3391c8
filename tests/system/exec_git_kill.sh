#!/bin/sh
# SPDX-License-Identifier: MIT
# Commands of 'wrapix exec' that commit and are killed: in their repository, in one below, by the server's; while they run, or while
# they publish. The next command does the rest, and nothing is lost. EXEC_KILLS times. Prints TAP.
#
# shellcheck disable=SC1091,SC2154,SC2317 # the library; a function called by name
. "$(dirname -- "$0")/../lib/system.sh"
[ -z "${EXEC_KILLS-}" ] || set -- "$EXEC_KILLS" "${EXEC_SEED:-4711}"
be_user "$@"
set_up
. "$top/tests/lib/git.sh"
kills=${1:-20} seed=${2:-4711}
echo '{"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": []}}' >"$tmp/settings.json"
in_new_repo "$tmp/repo"
new_repo below && echo /below >>.git/info/exclude || exit 1
echo "# EXEC_SEED=$seed, $kills kills"
kill_them() {
	timeout "$((40 + kills * 3))" python3 "$top/tests/lib/git_kills.py" "$wrapix" "$seed" "$kills" exec "$tmp/settings.json" "$here/ask.py" 2>"$tmp/log/said" ||
		{ echo "status $?"; tail -n 12 "$tmp/log/said"; false; }
}
check "killed $kills times, nothing is lost, nothing is locked" kill_them
for dir in . below; do
	check "... $dir is sound" git -C "$dir" fsck --strict --no-dangling
	check "... and has no change" is "$(git -C "$dir" status --porcelain)" ""
done
wx exec -s "$tmp/settings.json" -c 'git commit -q --allow-empty -m after; cd below; git commit -q --allow-empty -m after'
check "the next command commits in both" is "$rc $(git log -1 --format=%s) $(git -C below log -1 --format=%s)" "0 after after"

# What is held stays, also through a kill, and what was locked then does not.
mkfifo up && echo /up >>.git/info/exclude || exit 1
"$wrapix" exec -s "$tmp/settings.json" -c 'git bisect start && : >.git/refs/heads/left.lock && echo x >up && exec sleep 1000' >"$tmp/log/bg" 2>&1 &
pid=$!
hear up
kill -KILL "$pid"
wait "$pid"
wx git status
check "killed while something is to be held: that is told" has "$out" '1 held'
wx exec -s "$tmp/settings.json" -c 'git branch left && git bisect reset'
check "... and is there in the next command, which finds nothing locked" is "$rc $(git branch --list left | xargs)" "0 left"
"$wrapix" exec -s "$tmp/settings.json" -c "mkdir -p .git/objects/c0 && : >.git/objects/c0/tmp_obj_begun && : >.git/index.lock && echo x >up && exec sleep 1000.$$" >"$tmp/log/bg" 2>&1 &
pid=$!
hear up
kill -KILL "$pid"
wait "$pid"
gone() { ! pgrep -u "$(id -u)" -fx "sleep 1000.$$"; }
left() { find "$HOME/.local/state/wrapix/gitdirs" -name index.lock -o -name 'tmp_obj*'; }
check "killed in 'git add', before the index: there is something left" is "$(left | wc -l)" 2
check "... and nobody works there" await gone
wx exec -s "$tmp/settings.json" -c true
check "... and after the next command nothing, also of the object that was begun" is "$rc $(left)" "0 "
finish
