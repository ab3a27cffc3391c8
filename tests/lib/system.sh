# shellcheck shell=sh disable=SC2016,SC2034 # scripts for other shells; a library, whose variables the scripts use
# SPDX-License-Identifier: MIT
# What the system tests share; sourced as their first act:
#
#	. "$(dirname -- "$0")/../lib/system.sh"
#	be_user "$@"		# as root: start again as the ordinary user WRAPIX_TEST_USER
#	set_up			# $tmp, an empty $HOME, a $project to stand in
#	check NAME COMMAND...	# one test point: the command succeeds
#	finish			# the plan, and the exit status
#
# WRAPIX is the program under test. Nothing here sleeps to let something happen: a test waits for the end of a
# process, for a line in a FIFO (the sandbox writes it into the project), or with await() for a condition.
set -u

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
top=$(CDPATH='' cd -- "$here/../.." && pwd -P)
wrapix=${WRAPIX:-$top/build/src/cli/wrapix}
case $wrapix in /*) ;; *) wrapix=$PWD/$wrapix ;; esac
test_user=${WRAPIX_TEST_USER:-wrapixtest}
tests_run=0
tests_failed=0
tmp=
export CCACHE_DISABLE=1 # where a compiler's name in PATH is ccache's: its cache lies where no sandbox of a test may write

bail() {
	echo "Bail out! $*"
	exit 1
}

# --- who runs the test ---

# Only these come from whoever started the test.
clean_env() {
	env -i PATH="$PATH" LANG=C.UTF-8 TERM=xterm WRAPIX="$wrapix" WRAPIX_TEST_USER="$test_user" \
		WRAPIX_TESTS_MUST_RUN="${WRAPIX_TESTS_MUST_RUN-0}" WRAPIX_TEST_CLAUDE="${WRAPIX_TEST_CLAUDE-}" \
		WRAPIX_TEST_UNDER="${WRAPIX_TEST_UNDER-}" ASAN_OPTIONS="${ASAN_OPTIONS-}" UBSAN_OPTIONS="${UBSAN_OPTIONS-}" HOME="${HOME-/}" "$@"
}

# as_user COMMAND...: root does it as the ordinary user, anybody else as himself.
as_user() {
	if [ "$(id -u)" = 0 ]; then
		HOME=${user_home:-$(getent passwd "$test_user" | cut -d: -f6)} \
			clean_env setpriv --reuid "$test_user" --regid "$test_user" --init-groups "$@"
	else
		"$@"
	fi
}

need_user() {
	[ "$(id -u)" != 0 ] || id "$test_user" >/dev/null 2>&1 ||
		bail "there is no user '$test_user' (WRAPIX_TEST_USER); scripts/prepare makes it"
	[ -x "$wrapix" ] || bail "there is no program at $wrapix (WRAPIX)"
	as_user test -x "$wrapix" || bail "$test_user cannot reach $wrapix"
}

# be_user "$@": from here on the script runs as the ordinary user. The variables that $kept names come along.
be_user() {
	need_user
	[ "$(id -u)" != 0 ] || {
		HOME=$(getent passwd "$test_user" | cut -d: -f6)
		export HOME
		cd / || exit 1
		set -- setpriv --reuid "$test_user" --regid "$test_user" --init-groups "$here/${0##*/}" "$@"
		for name in ${kept-}; do
			eval "set -- \"$name=\${$name-}\" \"\$@\""
		done
		clean_env "$@"
		exit
	}
}

# $tmp lies in the user's real home, as projects do, because /tmp and /var/tmp are places of the sandbox's own. A
# script that stays root gets the same, owned by the ordinary user, with a home for root beside it.
set_up() {
	real_home=$HOME
	[ "$(id -u)" != 0 ] || real_home=$(getent passwd "$test_user" | cut -d: -f6)
	tmp=$(as_user mktemp -d "$real_home/wrapix-test.XXXXXX") || bail "no temporary directory in $real_home"
	tmp=$(CDPATH='' cd -- "$tmp" && pwd -P)
	trap tear_down EXIT
	trap 'exit 1' HUP INT TERM
	as_user mkdir "$tmp/home" "$tmp/project"
	mkdir "$tmp/log"
	home=$tmp/home
	project=$tmp/project
	state=$home/.local/state/wrapix
	export HOME="$home"
	[ "$(id -u)" != 0 ] || {
		user_home=$home HOME=$tmp/root-home
		mkdir -m 700 "$HOME"
	}
	unset XDG_STATE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR TMPDIR NO_COLOR
	# Sessions are looked for in the state directory, which has them where there is no directory of a login.
	[ ! -d "/run/user/$(id -u)" ] || export XDG_RUNTIME_DIR="$tmp/no-login"
	umask 022
	cd "$project" || exit 1
}

tear_down() {
	cd / || :
	for pid in ${started-}; do
		kill -9 "$pid" 2>/dev/null
	done
	[ -z "$tmp" ] || {
		chmod -R u+rwX "$tmp" 2>/dev/null
		rm -rf "$tmp"
	}
}

# with_mounts SCRIPT COMMAND...: in a mount namespace with what SCRIPT mounts, COMMAND without any right. Its $wrapix is
# there also when SCRIPT mounts over the place that wrapix is built in.
with_mounts() {
	mkdir -p "$tmp/bound"
	built=${wrapix%/src/cli/wrapix}
	with=$1
	shift
	wrapix=$tmp/bound${wrapix#"$built"} unshare --user --map-current-user --mount --keep-caps sh -ec \
		'mount --bind "$1" "$2"; shift 2; '"$with"'; exec setpriv --inh-caps=-all --ambient-caps=-all "$@"' sh "$built" "$tmp/bound" "$@"
}

# --- TAP ---

# What a test prints may hold anything; TAP gets lines of printable ASCII.
explain() {
	# shellcheck disable=SC2086 # words: other files of the script's that explain a failure
	for log in "$tmp/log/why" "$tmp/log/out" "$tmp/log/err" "$tmp/log/bg" ${more_logs-}; do
		[ ! -s "$log" ] || { echo "--- ${log##*/}"; head -c 3000 "$log"; echo; }
	done | LC_ALL=C tr -c ' -~\n' '?' | sed 's/^/# /'
}

point() { # point 'ok'|'not ok' NAME
	tests_run=$((tests_run + 1))
	printf '%s %d - ' "$1" "$tests_run"
	printf '%s\n' "$2" | LC_ALL=C tr -c ' -~\n' '?' | tr '#\n' '? ' | sed 's/ *$//'
	echo
}

check() {
	check_name=$1
	shift
	if "$@" >"$tmp/log/why" 2>&1; then
		point ok "$check_name"
	else
		point 'not ok' "$check_name"
		tests_failed=$((tests_failed + 1))
		explain
	fi
}

# A test that cannot run here. Allowed on a laptop; in CI it is a failure.
skip() { # skip NAME WHY
	if [ "${WRAPIX_TESTS_MUST_RUN-0}" = 1 ]; then
		point 'not ok' "$1"
		echo "# cannot run here: $2"
		tests_failed=$((tests_failed + 1))
	else
		tests_run=$((tests_run + 1))
		echo "ok $tests_run - $1 # SKIP $2"
	fi
}

finish() {
	echo "1..$tests_run"
	[ "$tests_failed" = 0 ]
	exit
}

# --- conditions; each says why when it does not hold ---

is() { [ "$1" = "$2" ] || { printf "got '%s', wanted '%s'\n" "$1" "$2"; false; }; }
isnt() { [ "$1" != "$2" ] || { printf "got '%s'\n" "$1"; false; }; }
has() { grep -qF -- "$2" "$1" || { printf "no '%s' in %s\n" "$2" "$1"; false; }; }
lacks() { ! grep -F -- "$2" "$1"; }
empty() { [ ! -s "$1" ] || { echo "$1 is not empty"; head -n 5 "$1"; false; }; }
lines() { is "$(wc -l <"$1" | tr -d ' ')" "$2"; }
absent() { [ ! -e "$1" ] || { echo "$1 exists"; false; }; }
exists() { [ -e "$1" ] || { echo "$1 does not exist"; false; }; }
fails() { ! "$@"; }
is_empty() { [ -z "$("$@")" ]; } # the command prints nothing
is_not_empty() { [ -n "$("$@")" ]; }
printable() { # nothing that a terminal obeys, nor what turns the direction of writing
	[ -s "$1" ] && ! LC_ALL=C.UTF-8 grep -anvx '[[:print:]]*' "$1" && ! LC_ALL=C.UTF-8 grep -anP '[\x{061c}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]' "$1"
}

# await COMMAND...: until it succeeds; fails after two minutes. For what gives no event to wait for.
await() {
	await_end=$(($(date +%s) + 120))
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$await_end" ] || { echo "still not so after 120 s: $*"; return 1; }
		sleep 0.01
	done
}

# give_up WHAT: it is not so, and without it the test cannot go on.
give_up() {
	check "$1" false
	bail "not so: $1"
}

# hear FIFO: waits for the line that the other side writes into it, and leaves it as $heard.
hear() {
	hear_end=$(($(date +%s) + 120))
	# An end without a line: somebody whom we have heard before closes it only now.
	until heard=$(timeout 120 head -n 1 "$1") && [ -n "$heard" ]; do
		[ "$(date +%s)" -lt "$hear_end" ] || give_up "something comes through ${1##*/}"
	done
}

# tell FIFO [LINE]: a line for the other side to read. Who reads a second one has to keep it open, as in 'exec 3<>go; read -r x <&3':
# as long as we have not closed it yet, to open it again succeeds, and what is read then is the end.
tell() { timeout 120 sh -c 'echo "$2" >"$1"' sh "$1" "${2-x}" || give_up "somebody reads from ${1##*/}"; }

# --- running the program ---

# wx ARG...: leaves $rc, the files $out and $err. A hang ends after two minutes, as 137. With $before set: in a mount
# namespace of its own, where that script has run first with the right to mount.
wx() {
	out=$tmp/log/out err=$tmp/log/err
	rm -f "$tmp/log/why"
	set -- timeout --foreground -s KILL 120 "$wrapix" "$@"
	[ -z "${before-}" ] || set -- unshare --user --map-current-user --mount --keep-caps sh -ec \
		"$before"'; cd "$PWD"; exec setpriv --inh-caps=-all --ambient-caps=-all "$@"' sh "$@"
	"$@" >"$out" 2>"$err" </dev/null
	rc=$?
}

# inside SCRIPT [OPTION...]: in the current directory, without a network, which is fast.
inside() {
	inside_script=$1
	shift
	wx run --network none "$@" -- sh -c "$inside_script"
}

# cow SCRIPT [OPTION...]: a copy-on-write session in which the script runs; $id is it
cow() {
	inside "$@" --workspace cow
	id=$(sed -n 's/.*in the session \([a-z0-9]*\),.*/\1/p' "$err")
}

# An empty project, and no copy-on-write session of it.
reset() {
	cd "$tmp" || exit 1
	chmod -R u+rwx "$project" "$state/cow" 2>/dev/null
	rm -rf "$project" "$state/cow"
	mkdir "$project"
	cd "$project" || exit 1
}

# Nothing on standard error, but for what the end says of writes to what is read-only.
no_word() {
	grep -v "^wrapix: refused writing .*: the sandbox has it to read\( ([0-9]* times)\)\?\$\|^wrapix: and refused [0-9]* more\$\|^hint: 'wrapix log --violations" \
		"$err" >"$tmp/log/words"
	empty "$tmp/log/words"
}

ended() { is "$rc" "$1" && no_word; } # as the command wanted, without a word of ours

printed() { # exactly this on standard output, nothing on standard error, status 0
	is "$(cat "$out")" "$1" && ended 0
}

# says NAME WANT SCRIPT [OPTION...]: the script runs inside and prints exactly WANT.
says() {
	says_name=$1 says_want=$2
	shift 2
	inside "$@"
	check "$says_name" printed "$says_want"
}

# works NAME SCRIPT [OPTION...]: the script runs inside and succeeds.
works() {
	works_name=$1
	shift
	inside "$@"
	check "$works_name" is "$rc" 0
}

# refused STATUS TEXT: one line of error that holds TEXT, at most one hint, and nothing else but warnings.
refused() {
	grep -v '^wrapix: warning: ' "$err" >"$tmp/log/error"
	is "$rc" "$1" && empty "$out" && has "$tmp/log/error" "$2" &&
		is "$(head -n 1 "$tmp/log/error" | cut -c1-8)" "wrapix: " &&
		is "$(sed 1d "$tmp/log/error" | grep -v '^hint: ' | head -n 1)" "" &&
		[ "$(wc -l <"$tmp/log/error")" -le 2 ]
}

# Everything in a directory: names, kinds, modes, sizes, targets.
snapshot() { (cd "$1" && find . -printf '%P|%y|%m|%s|%l\n' | LC_ALL=C sort); }
same_tree() { # same_tree DIR FILE: as it was when 'snapshot DIR >FILE' ran
	snapshot "$1" | diff "$2" -
}

# Processes of this user whose command line holds the word.
running() { pgrep -u "$(id -u)" -f -- "$1" | grep -vx $$; }
running_as_user() { pgrep -u "$test_user" -f -- "$1"; }
below() { for below_pid in $(pgrep -P "$1"); do echo "$below_pid" && below "$below_pid"; done; } # its descendants
marked() { pgrep -u "$(id -u)" -afx "sleep ${mark:?}"; } # the script's own; $mark is a number of its choice
none_running() { await fails running "$1" || { pgrep -u "$(id -u)" -af -- "$1"; false; }; }
