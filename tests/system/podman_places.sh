#!/bin/sh
# shellcheck disable=SC1091,SC2016,SC2154,SC2317 # the library; scripts for the shell inside; functions called by name
# SPDX-License-Identifier: MIT
# The places that podman mounts on: wherever links lead, nothing is made in the user's trees. Those of an image that wrapix sees are in podman.sh.
. "$(dirname -- "$0")/../lib/system.sh"
. "$top/tests/lib/podman.sh"

need_podman "$@"
be_user "$@"
set_up
podman_up
rootfs "$tmp/root"
mkdir -p "$tmp/root/tmp" "$tmp/root/workspace" "$tmp/root/home/wrapix"
wx image build --from "rootfs:$tmp/root" --name base

in_podman() { wx run --engine podman --network none "$@"; }

mkdir -p "$tmp/data"
echo one >"$tmp/data/one"
# --- a kept home, in which a sandbox was ---
in_podman --home keep --mount "$tmp/data:/home/wrapix/a/b" --mount "$tmp/data/one:/home/wrapix/c/one" -- sh -c 'touch ~/new ~/a/b/new2 && echo three >~/c/one; ls -A ~'
check "a kept home is writable, and what is mounted in it" is "$rc $(xargs <"$out")" "0 a c new"
check "... the places to mount on are the user's" is "$(find "$state/homes" ! -user "$(id -un)")" ""
mkdir "$tmp/victim"
in_podman --home keep -- ln -s "$tmp/victim" /home/wrapix/evil
in_podman --home keep --mount "$tmp/data:/home/wrapix/evil/made" -- true
check "a link that a sandbox left there leads nowhere" refused 125 "to mount on"
in_podman --home keep --mount "$tmp/data/one:/home/wrapix/evil/made/one" -- true
check "... for a file neither" refused 125 "to mount on"
check "... and nothing is made behind it" is "$(ls -A "$tmp/victim")" ""

check "no container is left" no_containers
check "no file of a session is left" is "$(ls "$XDG_RUNTIME_DIR/wrapix/podman")" ""
finish
