# shellcheck shell=sh disable=SC2034,SC2154 # a library: its variables are system.sh's, or the scripts'
# SPDX-License-Identifier: MIT
# What the tests of wrapix-builder share, after set_up: $wrapix is that program, $sandbox is wrapix itself. A script that starts one
# has 'builder_stop' in its trap.
sandbox=$wrapix
wrapix=${wrapix%/cli/wrapix}/builder/wrapix-builder
keys=$home/.local/share/wrapix/builder-keys
nix=$home/.local/share/wrapix/builder-nix
port=$(python3 "$top/tests/lib/port.py")
# For a client without a daemon and without the world outside.
export NIX_CONFIG='substituters =
build-users-group =
sandbox = false
experimental-features = nix-command'
say() { timeout 60 "$wrapix" ssh -- "$@"; } # in the builder
state() { "$wrapix" status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
builder_stop() { timeout 30 "$wrapix" stop >/dev/null 2>&1; }
