# shellcheck shell=sh disable=SC2016,SC2034,SC2154 # a definition for another shell; for who reads this; variables of his
# SPDX-License-Identifier: MIT
# A machine of the tests' own: User Mode Linux is a kernel that runs as a process. Its root is this machine's, read-only; /tmp is its own.
#
#	. "$(dirname -- "$0")/../lib/uml.sh"
#	uml_up			# skips what cannot be; then $tmp is shared with the guest, and $uid is the ordinary $user's
#	...			# write $tmp/init, the guest's PID 1: it prints 'ok - NAME' and 'not ok - NAME', and 'guest: the end' last
#	$guest_check		# in there, a definition for its shell: check NAME WANT GOT
#	uml_run SECONDS WORD...	# starts it with these words on its command line, and prints TAP

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
top=$(CDPATH='' cd -- "$here/../.." && pwd -P)
user=${WRAPIX_TEST_USER:-wrapixtest}
skip() {
	[ "${WRAPIX_TESTS_MUST_RUN-0}" = 1 ] && { echo "Bail out! $1"; exit 1; }
	echo "1..0 # SKIP $1"
	exit 0
}
uml_up() {
	uml=$(command -v linux.uml || command -v linux)
	[ -n "$uml" ] || skip "no User Mode Linux (Debian: user-mode-linux)"
	uml_ptrace=${UML_PTRACE:-$top/build/tests/system/uml_ptrace.so}
	[ "$(id -u)" = 0 ] || skip "needs root: the guest's root is this machine's, and its users change inside"
	uid=$(id -u "$user") || { echo "Bail out! there is no user $user"; exit 1; }
	# Not below /tmp, which is the guest's own.
	tmp=$(mktemp -d /var/tmp/wrapix-uml.XXXXXX) || exit 1
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 1' HUP INT TERM
	chmod 0755 "$tmp"
	# Where no blank and no colon is in its name.
	cp "$uml_ptrace" "$tmp/uml_ptrace.so" || { echo "Bail out! there is no library at $uml_ptrace"; exit 1; }
}
guest_check='check() {
	if [ "$2" = "$3" ]; then echo "ok - $1"; else echo "not ok - $1"; echo "# wanted $2"; echo "# got $3"; fi
}'
uml_run() {
	seconds=$1
	shift
	chmod 0755 "$tmp/init"
	# What is preloaded is for processors with more registers than this kernel knows. The guest's memory is a file in TMPDIR: not the tmpfs that a machine with little memory has there.
	LD_PRELOAD=$tmp/uml_ptrace.so TMPDIR=$tmp timeout "$seconds" "$uml" root=/dev/root rootfstype=hostfs rootflags=/ ro init="$tmp/init" quiet con=null con0=fd:0,fd:1 "$@" \
		>"$tmp/console" 2>&1 </dev/null
	tr -d '\r' <"$tmp/console" | LC_ALL=C awk '
	/^(not )?ok - / { n++; sub(/ok - /, "ok " n " - "); print; if (/^not/) failed = 1; next }
	/^# / { print }
	/^guest: the end$/ { ended = 1 }
	{ last[NR % 20] = $0 }
	END {
		if (!ended) {
			for (i = NR + 1; i <= NR + 20; i++) { gsub(/[^ -~]/, "?", last[i % 20]); print "# " last[i % 20] }
			print "Bail out! the guest did not come to its end"
			exit 1
		}
		print "1.." n
		exit failed
	}'
}
