# shellcheck shell=sh disable=SC2154 # a library: its variables are system.sh's
# SPDX-License-Identifier: MIT
# What the tests of git share, after set_up: somebody who commits, and repositories.
command -v git >/dev/null || bail "git is not installed"
git config --global user.name Somebody
git config --global user.email somebody@example.org
git config --global init.defaultBranch main
git config --global protocol.file.allow always

new_repo() { # new_repo DIR: with one commit
	git init -q "$1" && (cd "$1" && echo start >file && git add . && git commit -q -m start)
}
put_back() { # $repo and the state are what they are in $tmp/before; the repository stays the directory that it is
	find "$repo" -mindepth 1 ! -path "$repo/.git" -delete && cp -a "$tmp/before/repo/." "$repo" && rm -rf "$home/.local" && cp -a "$tmp/before/.local" "$home/.local"
}
# insist COMMAND...: of the user's git while a session's is brought over; as between any two it is refused where the other holds a
# lock at that moment, and who works there does it again.
insist() {
	until "$@" 2>"$tmp/log/insist"; do
		grep -q "cannot lock ref\|Unable to create '.*\.lock': File exists" "$tmp/log/insist" || { cat "$tmp/log/insist" >&2; return 1; }
	done
}
in_new_repo() { new_repo "$1" && cd "$1" || exit 1; }
private() { inside "$@" --git private; }
stores() { find "$state/git" "$state/gitdirs" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l; }
log_of() { git -C "$1" log --format=%s | xargs; }
