#!/bin/sh
# SPDX-License-Identifier: MIT
# An apply, and an undo, that are killed at every step: what comes after finishes them or takes them back. Prints TAP.
#
# shellcheck disable=SC1091,SC2012,SC2015,SC2016,SC2034,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
. "$(dirname -- "$0")/../lib/system.sh"
kept="COW_DRIVER"
be_user "$@"
driver=${COW_DRIVER:-$top/build/tests/system/cow_driver}
set_up

# One of each kind of step; the same each time.
prepare() {
	cd "$tmp" || exit 1
	chmod -R u+rwx "$project" "$sessions" 2>/dev/null
	rm -rf "$project" "$sessions"
	mkdir -p "$project/d/e"
	cd "$project" || exit 1
	echo one >a
	echo two >d/b
	echo three >d/e/c
	ln -s a link
	echo x >d2
	mkfifo d/e/pipe
	chmod 600 a
	chmod 2750 d/e
	chmod 4711 d/b
	touch -d '2020-01-02 03:04:05.678' a d/b d/e/c d/e d .
	wxq run --network none --workspace cow -- sh -c 'echo ONE >a; chmod 640 a; mv d/b b; rm -r d/e; rm link; ln -s b link
		rm d2; mkdir d2; echo in >d2/in; mkdir new; chmod 500 new; chmod 700 d; echo z >z; chmod 755 z'
	id=$(ls "$sessions")
}
contents() { (cd "$project" && find . -type f -exec cksum {} + | LC_ALL=C sort); }
now() { contents && (cd "$project" && find . -mindepth 1 -printf '%P|%y|%m|%l|%T@\n' | LC_ALL=C sort); }
view() { contents && (cd "$project" && find . -mindepth 1 -printf '%P|%y|%m|%l\n' | LC_ALL=C sort); }
as_applied() { view | diff "$tmp/applied" - >"$tmp/log/diff" || { echo "killed before: $at"; cat "$tmp/log/diff"; return 1; }; }

# each NAME FINISH WANT: kills 'apply' before each step, then runs FINISH; the project must be WANT.
each() {
	step=0
	while :; do
		prepare
		now >"$tmp/before"
		"$driver" "$sessions" "$id" "$1" "$step" >"$tmp/log/out" 2>"$tmp/log/err"
		rc=$?
		at=$(cat "$tmp/log/out")
		[ "$rc" = 99 ] || break
		"$2" || return 1
		step=$((step + 1))
	done
	[ "$rc" = 0 ] || { cat "$tmp/log/err"; return 1; }
	[ "$step" -gt 10 ] || { echo "only $step steps"; return 1; }
	echo "# $step steps"
}
# wx forgets why the check failed so far.
wxq() { "$wrapix" "$@" >"$tmp/log/out" 2>"$tmp/log/err" </dev/null; rc=$?; }
differs() { now | diff "$1" - >"$tmp/log/diff" || { echo "killed before: $at"; cat "$tmp/log/diff"; "$wrapix" diff --stat "$id"; return 1; }; }
no_litter() { is "$(find "$project" -name '.wrapix*')" ""; }
finish_apply() {
	wxq apply --yes "$id"
	[ "$rc" = 0 ] || { cat "$tmp/log/out" "$tmp/log/err"; return 1; }
	as_applied || return 1
	no_litter || return 1
	wxq undo "$id"
	differs "$tmp/before"
}
take_back() {
	wxq undo "$id"
	differs "$tmp/before" && {
		# One that never began leaves something to sweep: the next apply does.
		wxq apply --yes "$id"
		as_applied && no_litter
	}
}
whole() { # where it is not killed it ends with an error
	step=0 ended=99
	while [ "$ended" = 99 ]; do
		prepare
		now >"$tmp/before"
		"$driver" "$sessions" "$id" whole "$step" >"$tmp/log/out" 2>"$tmp/log/err"
		ended=$?
		at=$(cat "$tmp/log/out")
		cp "$tmp/log/err" "$tmp/log/last"
		wxq undo "$id" # what was killed; else there is nothing
		rm -f "$project/z"
		rm -rf "$project"/.wrapix-apply* # of one that never began: the next apply does that
		differs "$tmp/before" || return 1
		step=$((step + 1))
	done
	[ "$ended $((step > 20))" = "1 1" ] && has "$tmp/log/last" "do not fit"
}
kill_undo() {
	step=0
	while :; do
		prepare
		now >"$tmp/before"
		wxq apply --yes "$id"
		"$driver" "$sessions" "$id" undo "$step" >"$tmp/log/out" 2>"$tmp/log/err"
		rc=$?
		at=$(cat "$tmp/log/out")
		[ "$rc" = 99 ] || break
		wxq undo "$id"
		differs "$tmp/before" || return 1
		wxq apply --yes "$id"
		as_applied || return 1
		no_litter || return 1
		step=$((step + 1))
	done
	[ "$rc" = 0 ] && [ "$step" -gt 5 ]
}

# Killed before each step; then the user changes a file that was to be replaced, or was replaced already.
edited() {
	step=0
	while :; do
		prepare
		"$driver" "$sessions" "$id" apply "$step" >"$tmp/log/out" 2>"$tmp/log/err"
		rc=$?
		at=$(cat "$tmp/log/out")
		[ "$rc" = 99 ] || break
		echo mine >a
		wxq apply --yes "$id"
		is "$rc $(cat a z | xargs)" "1 mine z" && has "$tmp/log/out" "a: conflict" || { echo "killed before: $at"; return 1; }
		step=$((step + 1))
	done
	[ "$rc" = 0 ] && [ "$step" -gt 10 ]
}

for where in "$state/cow" /dev/shm; do
	sessions=$where name="on the project's file system"
	[ "$where" != /dev/shm ] || {
		export XDG_STATE_HOME="/dev/shm/wrapix-test.$$"
		trap 'chmod -R u+rwx "$XDG_STATE_HOME"; rm -rf "$XDG_STATE_HOME"; tear_down' EXIT
		sessions=$XDG_STATE_HOME/wrapix/cow name="on another file system"
	}
	prepare
	wx apply --yes "$id"
	check "a session $name is applied" is "$rc" 0
	view >"$tmp/applied"
	check "... killed at each step, it is finished" each apply finish_apply
	check "... killed at each step, it is taken back" each apply take_back
	check "... an undo that is killed at each step is finished" kill_undo
	check "... killed at each step, what the user writes then is a conflict" edited
	check "... all or nothing of it, where somebody makes one of its files meanwhile" whole
done
# --- what was merged is settled when it is done ---
both() { # both sides have changed f
	cd "$tmp" || exit 1
	chmod -R u+rwx "$project" "$sessions"
	rm -rf "$project" "$sessions"
	mkdir "$project"
	cd "$project" || exit 1
	git -c init.defaultBranch=main init -q
	seq 9 >f
	git add f
	git -c user.name=T -c user.email=t@example.com commit -qm 1
	wxq run --network none --workspace cow -- sed -i 's/^2$/two/' f
	id=$(ls "$sessions")
	sed -i 's/^8$/eight/' f
}
merged_later() { # killed before each step that comes before the first move
	step=0 at=
	until [ "${at%% *}" = apply ]; do
		both
		"$driver" "$sessions" "$id" apply "$step" >"$tmp/log/out" 2>"$tmp/log/err"
		at=$(cat "$tmp/log/out")
		wxq diff --name-only "$id"
		is "$(cat "$tmp/log/out") $(grep -c two f)" "f 0" || { echo "killed before: $at"; return 1; }
		step=$((step + 1))
	done
}
check "a merge that was killed before it began is a change still" merged_later
wxq discard "$id"
check "... which is not removed without a word" eval 'has "$tmp/log/err" "holds 1 change" && exists "$sessions/$id"'
wxq apply "$id"
check "... and comes by the next apply" is "$rc $(grep -c 'two\|eight' f)" "0 2"
wxq diff --name-only "$id"
check "... and is settled then" is "$rc $(cat "$tmp/log/out")" "0 "

# --- a start that was killed while it wrote its record ---
half() { # half ID [FILE]: as it lay there an hour ago
	mkdir -p "$sessions/$1/project/upper" "$sessions/$1/project/work"
	: >"$sessions/$1/lock"
	: >"$sessions/$1/meta"
	[ -z "${2-}" ] || echo mine >"$sessions/$1/project/upper/$2"
	touch -d '1 hour ago' "$sessions/$1"
}
half abcdefgh
half bcdefghj work
mkdir -p "$sessions/cdefghjk/project/upper"
: >"$sessions/cdefghjk/meta"
wxq ps
check "what never began is gone an hour later" absent "$sessions/abcdefgh"
check "... not one that has something in it" is "$(cat "$sessions/bcdefghj/project/upper/work")" mine
check "... nor one that may begin now" exists "$sessions/cdefghjk/meta"
rm -rf "$sessions/bcdefghj" "$sessions/cdefghjk"
finish
