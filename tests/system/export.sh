#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2088,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
# SPDX-License-Identifier: MIT
# 'wrapix export': every form is valid, and runs where there is something here to run it: the Pod and the Job under a real
# 'podman kube play', from where the commit comes back; the quadlet through podman's generator; the bundle under crun.
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/podman.sh"
need_podman "$@"
be_user "$@"
set_up
podman_up
manifest() { /usr/bin/python3 "$top/tests/lib/manifest.py" "$@"; }
# valid FORM KINDS OPTION...: what is exported is valid, and these objects.
valid() {
	valid_form=$1 valid_kinds=$2
	shift 2
	wx export "$valid_form" "$@"
	check "$valid_form $*: is written" is "$rc" 0
	manifest check "$valid_form" <"$out" >"$tmp/kinds" 2>&1
	check "... and valid" is "$(cat "$tmp/kinds")" "$valid_kinds"
}
value() { manifest get "$@" <"$out"; }

# --- what it says ---
wx export
check "without a form" refused 2 "the form is missing"
wx export kub
check "a form that is not there" refused 2 "there is no form 'kub'"
check "... and which is meant" has "$err" "did you mean 'kube'?"
wx export kube --kind cronjob -- true
check "a kind that is not there" is "$rc" 2
wx export kube -- true
check "a project without a commit cannot go to a cluster" refused 125 "the project has no commit"
git init -q -b main .
echo one >file
git add file
git -c user.name=me -c user.email=me@localhost commit -q -m one

valid kube "ConfigMap PersistentVolumeClaim NetworkPolicy Pod" -- true
valid kube "ConfigMap PersistentVolumeClaim NetworkPolicy Job" --kind job --memory 1G --cpus 1.5 --disk 2G --pids 100 -- true
check "limits" is "$(value kube Job spec.template.spec.containers.0.resources.limits)" \
	'{"cpu": "1500m", "memory": "1024Mi", "ephemeral-storage": "2048Mi"}'
check "... and what a cluster does not have is said" has "$out" "limit of processes   the node's own"
valid kube "ConfigMap CiliumNetworkPolicy NetworkPolicy Sandbox" --kind sandbox --allow example.org:443 --allow '*.example.com' -- true
check "hosts by name are Cilium's" is "$(value kube CiliumNetworkPolicy spec.egress.1)" \
	'{"toFQDNs": [{"matchName": "example.org"}], "toPorts": [{"ports": [{"port": "443", "protocol": "TCP"}]}]}'
check "... and without it only the resolver is reached" is "$(value kube NetworkPolicy spec.egress | grep -c ipBlock)" 0
valid kube "ConfigMap CiliumNetworkPolicy NetworkPolicy SandboxTemplate SandboxWarmPool SandboxClaim" --kind template --replicas 5 \
	--runtime-class gvisor --allow example.org -- true
check "a pool of five" is "$(value kube SandboxWarmPool spec.replicas)" 5
check "... with gVisor" is "$(value kube SandboxTemplate spec.podTemplate.spec.runtimeClassName)" '"gvisor"'
check "... that waits instead of running the command" is "$(value kube SandboxTemplate spec.podTemplate.spec.containers.0 | grep -c '"args"')" 0
valid kube "ConfigMap SandboxTemplate SandboxWarmPool SandboxClaim" --kind template --network none -- true
check "without a network: nobody is reached" is "$(value kube SandboxTemplate spec.networkPolicy)" '{"ingress": [], "egress": []}'
valid kube "ConfigMap PersistentVolumeClaim NetworkPolicy Pod" --allow 10.1.2.3 --allow '[2001:db8::/32]:443' --publish 3000 -- true
check "addresses are the policy's" is "$(value kube NetworkPolicy spec.egress.1.to.0.ipBlock.cidr) $(value kube NetworkPolicy spec.egress.2.ports.0.port)" '"10.1.2.3/32" 443'
check "ports come in" is "$(value kube NetworkPolicy spec.ingress)" '[{"ports": [{"protocol": "TCP", "port": 3000}]}]'
wx export kube --allow example.org --deny evil.example.org -- true
check "hosts to deny cannot be written, and are not left out" refused 2 "hosts to deny cannot be written"

# --- text that means something elsewhere ---
MINE=s3cret valid kube "ConfigMap PersistentVolumeClaim NetworkPolicy Pod" --env MINE --env 'ODD=a: "b" #c $(HOME) yes' -- \
	sh -c 'echo $(id) "$HOME" %h' 'on' '- x' ''
check "words stay words" is "$(value kube Pod spec.containers.0.args)" \
	'["sh", "-c", "echo $$(id) \"$HOME\" %h", "on", "- x", ""]'
check "values stay values" is "$(value kube Pod spec.containers.0.env.0)" '{"name": "ODD", "value": "a: \"b\" #c $(HOME) yes"}'
check "a value of this machine is a secret, named and not written" is "$(grep -c s3cret "$out") $(value kube Pod spec.containers.0.env.3.valueFrom.secretKeyRef.key)" '0 "MINE"'
valid compose compose --env 'A=b$c' --mount '~/x:/x:ro' --publish 3000 --cpus 2 -- sh -c 'echo $A'
check "compose replaces nothing" is "$(value compose compose services.wrapix.command.2)" '"echo $$A"'
valid compose compose --allow example.org -- true
check "... a filter by name is no network there" is "$(value compose compose services.wrapix.network_mode)" '"none"'
check "... which is said" has "$out" "no network at all"
valid devcontainer devcontainer --env MINE --memory 1G --publish 3000
check "a devcontainer gets secrets from the editor's environment" is "$(value devcontainer devcontainer remoteEnv.MINE)" '"${localEnv:MINE}"'
wx export quadlet --mount 'a:b:/x' -- true
check "a path that a form cannot hold is refused, not mangled" is "$rc" 2
wx export kube --weaker --json -- true
check "what is weaker, for programs" is "$(jq -r '.[0].what' "$out")" "the project"
wx export quadlet -o here.container -- true
check "-o writes a file, and says what to do with it" has "$err" "systemctl --user daemon-reload"
wx export quadlet -o here.container -- true
check "... and replaces none" refused 125 "remove it first"
rm here.container

# --- the Pod and the Job, for real ---
rootfs "$tmp/root" git
wx image build --from "rootfs:$tmp/root" --name base
wx image load base --into podman
check "an image for podman" is "$rc" 0
check "... by no name that is a registry's" is "$(podman image ls --format '{{.Repository}}' | sort -u)" localhost/wrapix-base
cat >work.sh <<-'END'
	[ "$(id -u)" = 1000 ] && ! touch /usr/x 2>/dev/null && touch "$HOME/x" /tmp/x || exit 9
	echo two >file && git add file && git commit -q -m 'two, from inside' && echo three >left
END
git add work.sh
git -c user.name=me -c user.email=me@localhost commit -q -m work
# plays KIND: the manifest's own objects, but for those that podman does not know.
plays() {
	wx export kube --kind "$1" --network none --name "$1" -- sh work.sh
	podman kube play --quiet --network none --userns auto "$out" >"$tmp/play" 2>&1 || cat "$tmp/play"
	await sh -c '[ "$(podman ps -aq --filter status=exited --filter name='"wrapix-$1"'.*wrapix)" ]'
	code=$(podman inspect -f '{{.State.ExitCode}}' "$(podman ps -aq --filter status=exited --filter name="wrapix-$1.*wrapix")")
	check "the $1 runs under podman kube play" is "$code" 0
	podman volume export "wrapix-$1-out" | tar -xf - -C "$tmp" result.bundle status
	check "... its status comes back" is "$(cat "$tmp/status")" 0
	git fetch -q "$tmp/result.bundle" refs/wrapix/result:refs/heads/"from-$1"
	check "... and its commit" is "$(git log -2 --format=%s "from-$1" | xargs)" "Left uncommitted by the command two, from inside"
	check "... on top of ours" is "$(git merge-base main "from-$1")" "$(git rev-parse main)"
	podman kube down --force "$out" >/dev/null 2>&1
	rm -f "$tmp/result.bundle" "$tmp/status"
}
plays pod
plays job

# --- the quadlet, as podman's generator reads it ---
mkdir "$tmp/units"
MINE=x wx export quadlet --env MINE --env 'ODD=50% "x"' --memory 1G --pids 50 --publish 3000 -o "$tmp/units/site.container" -- sh -c 'echo "$ODD" 50%'
QUADLET_UNIT_DIRS=$tmp/units "$podman_prefix/usr/libexec/podman/quadlet" -dryrun -user >"$tmp/unit" 2>"$tmp/unit.err"
check "podman's generator takes the quadlet" grep -q '^ExecStart=.*podman run .*--cap-drop all' "$tmp/unit"
check "... without a complaint" lacks "$tmp/unit.err" "unsupported"
check "... the words are quoted for systemd" has "$tmp/unit" 'sh -c "echo \"$$ODD\" 50%%"'

# --- the bundle, under crun ---
mkdir "$tmp/bundle"
wx export oci -o "$tmp/bundle/config.json" -- sh -c 'echo "$(id -u) $HOME" >made; touch /usr/x 2>/dev/null || echo readonly >>made; ls /sys/class/net 2>/dev/null | wc -l >>made'
ln -s "$tmp/root" "$tmp/bundle/rootfs"
(cd "$tmp/bundle" && crun --root "$tmp/crun" --cgroup-manager disabled run "wrapix-test") >"$tmp/crun.out" 2>&1
check "crun runs the bundle" is "$? $(head -n 2 made | xargs)" "0 $(id -u) /home/wrapix readonly"
sed 's/^/# /' "$tmp/crun.out"
finish
