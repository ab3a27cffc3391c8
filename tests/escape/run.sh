#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh user|image|filtered|open|root|srt|podman|lent|lent-root: makes every attempt of 'attempt --list' twice, outside and inside, and prints TAP.
#
# A case passes when the attempt works in its control and is stopped in the sandbox. The control is the same program,
# against the same victim, in the same directory; the second column of the list says how it runs: 'plain' as the same
# user; 'userns' as root of namespaces of its own; 'root' as the machine's root; 'pasta' behind pasta as it comes;
# 'laid' as the user, with a file that root laid there. A control that does not work fails its case.
#
# user: as the ordinary user, with several kinds of sandbox. root: as root, staying root. open: the open network, on a
# made-up host (a network namespace with one interface that leads nowhere), so that no packet leaves this machine.
# image, filtered: as the ordinary user, from an image, and with a filtered network.
# srt: as the ordinary user, through srt. podman: as the ordinary user, in podman's containers. lent, lent-root: as
# user and root, through wrapix exec inside of wrapix run.
#
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; its variables; scripts for other shells; functions
# called by name
. "$(dirname -- "$0")/../lib/system.sh"

. "$top/tests/lib/podman.sh"

part=${1-}
[ "$part" != podman ] || need_podman "$@"
[ "$part" != podman ] || [ -e "$podman_prefix/whole" ] || {
	skip "the podman engine" "there is no podman of the tests' own, which only root makes"
	finish
}
attempt=${ATTEMPT:-$top/build/src/selftest/attempt/wrapix-attempt}
is_root=false
[ "$(id -u)" != 0 ] || is_root=true

me() { as_user "$@"; }
options="--network none"
[ "$part" != srt ] || options=
# Through 'wrapix exec' inside of it, which asks its supervisor.
lent=false
case $part in lent | lent-root) lent=true part=$(echo "$part" | sed 's/^lent$/user/; s/^lent-//') ;; esac
case $part in
user | made-up | srt) ;;
podman) options="--engine podman --network none" ;;
image) options="--network none --image base" ;;
filtered) options="--network filtered --allow wrapix.invalid" ;;
open)
	# From here on as the ordinary user, alone in a network with one address and a gateway that is not there.
	need_user
	cd / || exit 1
	as_user env WRAPIX="$wrapix" ATTEMPT="$attempt" \
		unshare --user --map-current-user --keep-caps --net -- sh -ec '
		ip link set lo up
		ip link add wx0 type veth peer name wx1
		ip addr add 10.99.0.1/24 dev wx0
		ip link set wx0 up
		ip link set wx1 up
		ip route add default via 10.99.0.254
		exec setpriv --inh-caps=-all --ambient-caps=-all -- "$0" made-up' "$here/${0##*/}"
	exit
	;;
root)
	$is_root || {
		skip "what root may not do inside" "only root can stay root"
		finish
	}
	me() { clean_env "$@"; }
	HOME=/root
	options="--network none --as-root"
	;;
*) bail "usage: run.sh user|image|filtered|open|root|srt|podman|lent|lent-root" ;;
esac
need_user

# --- the victim and the project ---

if [ "$part" = root ]; then its_home=/root; else its_home=$(as_user sh -c 'echo "$HOME"'); fi
base=$(me mktemp -d "$its_home/wxe.XXXXXX") || bail "no directory in $its_home"
export tmp="$base" # for the library's check()
victim_pid=
clean_up() {
	cd / || :
	exec 3>&-
	[ -z "$victim_pid" ] || wait "$victim_pid"
	[ "$part" != podman ] || { # files of other ids, and podman's own process
		with_secrets podman unshare rm -rf "$base/keyhome/.local" 2>/dev/null
		kill "$(cat "$base/prun/libpod/tmp/pause.pid" 2>/dev/null)" 2>/dev/null
	}
	rm -rf "$base" ${run_dir:+"$run_dir"}
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

token=wx-$$-$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
argument=arg-$$-$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
project=$base/project
me mkdir "$base/keyhome" "$base/secret" "$base/shown" "$project" "$project/.wrapix" "$base/log" "$base/state"
me sh -c 'echo "$1" >"$2/secret/key"; echo shown >"$2/shown/file"; echo "{}" >"$2/project/wrapix.json"
	echo state >"$2/project/.wrapix/state"; cp "$3" "$2/project/attempt"
	chmod 600 "$2/secret/key"' sh "$token" "$base" "$attempt"
me ln -s "$base/secret/key" "$project/link-absolute"
me ln -s ../secret/key "$project/link-relative"
me ln -s ../secret "$project/link-directory"
me ln -s "$base/agent.sock" "$project/link-socket"
if $is_root; then
	echo "$token" >"$project/root-file"
	chmod 600 "$project/root-file"
	cp "$attempt" "$project/setuid-root"
	chmod 4755 "$project/setuid-root"
	cp "$attempt" "$project/capable"
	"$attempt" --give-capability "$project/capable" || bail "no file capabilities in $project"
	mknod -m 666 "$project/node-zero" c 1 5
	mkdir -m 1777 /tmp/.X11-unix 2>/dev/null # root's, as an X server makes it and leaves it
	run_dir=$(mktemp -d /run/wxe.XXXXXX)
	chmod 755 "$run_dir"
	[ "$part" = root ] || chown "$test_user" "$run_dir"
fi

# What a desktop's and a cloud user's environment holds, and two forgotten descriptors.
with_secrets() {
	# shellcheck disable=SC2086 # settings are words
	me env ${podman_env-} WX_SECRET="$token" WX_RUN="${run_dir-${XDG_RUNTIME_DIR-$base/state}}" HOME="${other_home:-$its_home}" \
		XDG_STATE_HOME="$base/state" SSH_AUTH_SOCK="$base/agent.sock" \
		DBUS_SESSION_BUS_ADDRESS="unix:path=$base/agent.sock" DISPLAY=:9 WAYLAND_DISPLAY=wayland-0 \
		XAUTHORITY="$base/secret/key" DOCKER_HOST="unix://$base/agent.sock" KUBECONFIG="$base/secret/key" \
		GITHUB_TOKEN="$token" AWS_SECRET_ACCESS_KEY="$token" OPENAI_API_KEY="$token" LD_PRELOAD= BASH_ENV= \
		GIT_SSH_COMMAND=ssh SUDO_USER=root PYTHONPATH="$base" \
		"$@" 8<"$base/secret" 9<"$base/secret/key"
}

if [ "$part" = podman ]; then
	other_home=$base/keyhome
	podman_env="XDG_RUNTIME_DIR=$base/prun CONTAINERS_CONF=$podman_prefix/containers.conf PATH=$podman_prefix/bin:$PATH"
	me mkdir -p "$base/keyhome/.config/containers"
	me mkdir -m 700 "$base/prun"
	me cp "$podman_prefix/policy.json" "$base/keyhome/.config/containers/"
fi
if [ "$part" = podman ] || [ "$part" = image ]; then
	other_home=$base/keyhome
	(rootfs "$base/root")
	with_secrets "$wrapix" image build --from "rootfs:$base/root" --name base >/dev/null 2>&1 || bail "no image"
fi

cd "$project" || exit 1
mkfifo "$base/log/stop" "$base/log/ready"
[ "$part" = root ] || ! $is_root || chown "$test_user" "$base/log/stop" "$base/log/ready"
with_secrets env WX_ADDRESS=10.99.0.1 WX_GATEWAY=10.99.0.254 "$attempt" --victim "$base" "$project" "$argument" \
	<"$base/log/stop" >"$base/log/ready" &
victim_pid=$!
exec 3>"$base/log/stop"
said=$(timeout 120 head -n 1 "$base/log/ready") || bail "the victim did not start"
[ "$said" = ready ] || bail "the victim said '$said'"

# --- the two sides; results are lines "NAME worked|stopped|unable WHY" ---

controls=$base/log/controls
insides=$base/log/insides
names() { "$attempt" --list "$1" | while read -r n c e _; do [ "$e" != - ] || [ "$c" != "$2" ] || echo "$n"; done; }

run_control() { # run_control KIND NAME...
	kind=$1
	shift
	[ $# -gt 0 ] || return 0
	case $kind in
	plain) with_secrets ./attempt "$@" ;;
	userns) with_secrets ./attempt --userns "$@" ;;
	pasta) with_secrets pasta --config-net --quiet -- ./attempt "$@" ;;
	root) ! $is_root || ./attempt "$@" 8<"$base/secret" 9<"$base/secret/key" ;;
	laid) ! $is_root || with_secrets ./attempt "$@" ;;
	esac
}

run_inside() { # run_inside "OPTIONS" NAME...
	inside_options=$1
	shift
	if [ "$part" = srt ]; then
		srt_settings "$inside_options"
		with_secrets timeout -s KILL 170 "${wrapix%/*}/srt" -s "$base/settings.json" -- ./attempt --inside "$@"
		return
	fi
	# podman's standard output is a pipe, which an attempt may read from; a file of the project keeps the results.
	[ "$part" != podman ] || set -- ./attempt --inside --to=results "$@"
	[ "$part" = podman ] || set -- ./attempt --inside "$@"
	if $lent; then
		lent_settings "$inside_options"
		set -- /wrapix exec -s /lent.json -- "$@"
		inside_options="$inside_options --mount $wrapix:/wrapix:ro --mount $base/lent.json:/lent.json:ro"
	fi
	# shellcheck disable=SC2086 # options are words
	with_secrets timeout -s KILL 170 "$wrapix" run . $inside_options --mount "$base/shown:/shown:ro" \
		--env WX_ARG="$argument" -- "$@"
	inside_rc=$?
	[ "$part" != podman ] || { cat results; rm -f results; }
	return $inside_rc
}

# 'wrapix exec' keeps the host's tree, its name and the environment: what is not denied may be seen. A second mount
# of the user's has no equal there.
by_design="home-visible host-tmp-visible readonly-mount-reopen readonly-mount-mmap readonly-mount-lease readonly-mount-flags
readonly-mount-chmod-by-magic-link proc-read-symbols
sys-kernel-visible sys-class-visible sys-block-visible sys-cgroup-visible env-doors env-host-name"

# From an image the system's files are the sandbox's own, in a layer that goes with it.
of_image="system-write-usr system-write-usr-lib system-write-etc system-chmod-usr system-append-passwd"
case $part in
srt) excepted=$(echo "$by_design" | tr '\n' ' ') ;;
image) excepted=$of_image ;;
*) excepted= ;;
esac

srt_settings() { # srt_settings [true]: with namespaces inside
	cat >"$base/settings.json" <<-EOF
		{"network": {"allowedDomains": [], "deniedDomains": []}, "allowNestedUserNamespaces": ${1:-false},
		 "filesystem": {"denyRead": ["$base/secret", "$its_home"], "allowRead": ["$project"], "allowWrite": [],
		  "denyWrite": ["$project/wrapix.json", "$project/.wrapix"]},
		 "credentials": {"envVars": [
		  {"name": "WX_SECRET", "mode": "deny"}, {"name": "GITHUB_TOKEN", "mode": "deny"},
		  {"name": "AWS_SECRET_ACCESS_KEY", "mode": "deny"}, {"name": "OPENAI_API_KEY", "mode": "deny"}]}}
	EOF
}

# As much as settings can give: what stays closed is so by the outer sandbox, or by the filters.
lent_settings() { # lent_settings OPTIONS
	nests=false
	case $1 in *--allow-nested*) nests=true ;; esac
	cat >"$base/lent.json" <<-EOF
		{"network": {"allowedDomains": [], "deniedDomains": [], "allowAllUnixSockets": true}, "allowNestedUserNamespaces": $nests,
		 "filesystem": {"denyRead": [], "allowWrite": ["/"], "denyWrite": ["/workspace/wrapix.json", "/workspace/.wrapix"]}}
	EOF
	chmod 644 "$base/lent.json"
}

# The last result counts: a name may have been run before.
result_of() { awk -v n="$2" '$1 == n { line = $0 } END { $0 = line; $1 = ""; print substr($0, 2) }' "$1"; }

# --- judging ---

judge() { # judge PLACE NAME KIND
	outside=$(result_of "$controls" "$2")
	inside=$(result_of "$insides" "$2")
	title="$1: $2 (control: $3; inside: ${inside:-nothing})"
	case $3 in root | laid)
		$is_root || {
			skip "$title" "its control needs root"
			return
		}
		;;
	esac
	case $outside in
	worked*) ;;
	*)
		tests_failed=$((tests_failed + 1))
		point 'not ok' "$title"
		echo "# the control is broken, so this proves nothing: ${outside:-no result}"
		return
		;;
	esac
	case $inside in
	stopped*) point ok "$title" ;;
	*)
		tests_failed=$((tests_failed + 1))
		point 'not ok' "$title"
		;;
	esac
}

# Controls are run once for each place: some change what they touch, and put it back.
place() { # place PLACE OPTIONS
	: >"$controls"
	: >"$insides"
	for kind in plain userns root pasta laid; do
		# shellcheck disable=SC2046 # names are words
		run_control $kind $(names "$1" $kind) >>"$controls" 2>"$base/log/err.$kind"
	done
	# shellcheck disable=SC2046
	run_inside "$2" $("$attempt" --list "$1" | awk '$3 == "-" { print $1 }') >>"$insides" 2>"$base/log/err"
	rc=$?
	[ -s "$insides" ] || sed 's/^/# /' "$base/log/err"
	"$attempt" --list "$1" >"$base/log/list"
	while read -r name kind seen _; do
		case " $excepted " in *" $name "*) continue ;; esac
		[ "$seen" != - ] || judge "$1" "$name" "$kind"
	done <"$base/log/list"
	[ $rc -lt 125 ] || {
		tests_failed=$((tests_failed + 1))
		point 'not ok' "$1: the sandbox lives to the end (status $rc)"
		sed 's/^/# /' "$base/log/err"
	}
}

# The victim answers in order, so what came before this has been seen by it.
victim_is_through() { with_secrets ./attempt net-path-home >/dev/null; }

evidence() { # evidence NAME COMMAND...: the command runs and the victim notices
	rm -f "$base/evidence"
	"$@" >/dev/null 2>&1 8>&-
	victim_is_through && [ -e "$base/evidence" ]
}

signal_everybody() { # signal_everybody PLACE OPTIONS; one at a time, for others have victims, too
	title="$1: host-signal-everybody (control: plain)"
	exec 8<"$top/tests/escape/run.sh"
	flock 8
	if ! evidence run_control plain host-signal-everybody; then
		check "$title: the control" false
	else
		check "$title" fails evidence run_inside "$2" host-signal-everybody
	fi
	exec 8<&-
}

outlive() {
	with_secrets ./attempt daemon-stays >/dev/null
	holder=$(me ./attempt --lock-holder daemon-lock)
	if [ -z "$holder" ]; then
		echo "the control is broken: no daemon"
		return 1
	fi
	kill -9 "$holder"
	me rm -f daemon-lock
	run_inside "$options" daemon-stays >"$insides" 2>&1
	has "$insides" worked && exists daemon-lock && fails me ./attempt --lock-holder daemon-lock
}

# --- a terminal ---

terminal_case() { # terminal_case NAME KIND EVIDENCE
	case $2 in
	root) $is_root && "$attempt" --on-terminal "$base/log/tty" ./attempt "$1" >"$controls" ;;
	*) with_secrets "$attempt" --on-terminal "$base/log/tty" ./attempt "$1" >"$controls" ;;
	esac
	before=$(cat "$base/log/tty" 2>/dev/null)
	rm -f "$base/log/tty"
	# shellcheck disable=SC2086 # options are words
	with_secrets "$attempt" --on-terminal "$base/log/tty" "$wrapix" run . $options -- ./attempt --inside "$1" 2>&1 |
		tr -d '\r' >"$insides"
	after=$(cat "$base/log/tty" 2>/dev/null)
	rm -f "$base/log/tty"
	if [ "$3" = evidence ]; then
		# The attempt may well find a terminal: the sandbox's own. The user's must be as it was.
		echo "$1 $(case $before in changed) echo worked ;; *) echo "unable $before" ;; esac)" >"$controls"
		grep -q "^$1 " "$insides" || after="no result"
		echo "$1 $(case $after in same) echo "stopped" ;; *) echo "worked $after" ;; esac)" >"$insides"
	fi
	judge tty "$1" "$2"
}

terminal() {
	chmod 777 "$base/log"
	"$attempt" --list tty >"$base/log/list"
	while read -r name kind seen _; do
		terminal_case "$name" "$kind" "$seen" 3>&- </dev/null
	done <"$base/log/list"
}

# --- somebody calls a server inside ---

# pasta as it comes looks once a second for ports to open, so one call is not enough.
answered() { # answered SECONDS
	calling_until=$(($(date +%s) + $1))
	until with_secrets ./attempt call; do
		[ "$(date +%s)" -lt "$calling_until" ] || return 1
	done
}

call_in() { # call_in SECONDS COMMAND...: the server runs while we call it
	patience=$1
	shift
	rm -f serving
	"$@" >"$base/log/served" 2>&1 &
	server=$!
	await exists serving && answered "$patience"
	called=$?
	kill $server 2>/dev/null
	wait $server 2>/dev/null
	await fails with_secrets ./attempt call # the next one needs its port
	return $called
}

serve_outside() { exec ./attempt serve; }
serve_behind_pasta() { exec pasta --config-net --quiet -- setpriv --pdeathsig KILL ./attempt serve; }
serve_inside() { exec "$wrapix" run . --network open -- ./attempt --inside serve; }

inbound() {
	for control in serve_outside serve_behind_pasta; do
		call_in 15 $control >"$base/log/called" || {
			echo "the control is broken: $control"
			cat "$base/log/served" "$base/log/called"
			return 1
		}
	done
	fails call_in 3 serve_inside >"$base/log/called" && exists serving && has "$base/log/called" stopped
}

# --- root starts it in a user's project, and must become that user ---

becomes_owner() {
	mine=$(as_user mktemp -d "$(as_user sh -c 'echo "$HOME"')/wxe.XXXXXX")
	echo "$token" >"$mine/file"
	chmod 640 "$mine/file"
	has "$mine/file" "$token" && # the control: root's group opens it
		with_secrets "$wrapix" run "$mine" --network none -- sh -c 'id -u; cat file; echo "$HOME"' \
			>"$base/log/out" 2>"$base/log/err"
	is "$(cat "$base/log/out")" "$(printf '%s\n%s' "$(id -u "$test_user")" /home/wrapix)"
	became=$?
	rm -rf "$mine"
	return $became
}

image_is_whole() {
	for name in $of_image; do
		case $(result_of "$insides" "$name") in worked*) ;; *) echo "$name did not work"; return 1 ;; esac
	done
	with_secrets "$wrapix" image verify base && ! find "$base/keyhome/.local" -name '.wrapix-escape-*' | grep .
}

if $lent && [ "$part" = root ]; then
	place root "$options"
	finish
elif $lent; then
	place none "$options"
	signal_everybody none "$options"
	place nested "$options --allow-nested"
	place host "--network host"
	check "a daemon does not outlive the command (control: plain)" outlive
	finish
fi
case $part in
srt)
	place none ""
	signal_everybody none ""
	place nested true
	signal_everybody nested true
	check "a daemon does not outlive the command (control: plain)" outlive
	;;
user)
	place none "$options"
	signal_everybody none "$options"
	place nested "$options --allow-nested"
	signal_everybody nested "$options --allow-nested"
	place host "--network host"
	signal_everybody host "--network host"
	place small "$options --disk 16M --pids 64 --memory 128M"
	other_home=$base/keyhome
	with_secrets "$wrapix" key add escape >"$base/log/err" 2>&1 || bail "no deploy key: $(cat "$base/log/err")"
	place keys "$options --deploy-key escape"
	other_home=
	check "a daemon does not outlive the sandbox (control: plain)" outlive
	terminal
	;;
image | filtered)
	place none "$options"
	signal_everybody none "$options"
	place nested "$options --allow-nested"
	[ "$part" != image ] || check "the image is as it was (control: the attempts on it work)" image_is_whole
	check "a daemon does not outlive the sandbox (control: plain)" outlive
	;;
podman)
	place none "$options"
	signal_everybody none "$options"
	place nested "$options --allow-nested"
	place host "--engine podman --network host"
	with_secrets "$wrapix" key add escape >"$base/log/err" 2>&1 || bail "no deploy key: $(cat "$base/log/err")"
	place keys "$options --deploy-key escape"
	check "a daemon does not outlive the sandbox (control: plain)" outlive
	terminal
	;;
made-up)
	place open "--network open"
	place offline "--network none"
	check "a server inside cannot be reached from the host (controls: plain, pasta)" inbound
	;;
root)
	place root "$options"
	check "root becomes the owner of a project, in groups too (control: root reads the file)" becomes_owner
	;;
esac
finish
