# shellcheck shell=sh disable=SC2034,SC2154 # a library: its variables are system.sh's, or the scripts'
# SPDX-License-Identifier: MIT
# What the tests of wrapix-builder share, after set_up: $wrapix is that program, $sandbox is wrapix itself. A script that starts one
# has 'builder_stop' in its trap.
sandbox=$wrapix
wrapix=${wrapix%/cli/wrapix}/builder/wrapix-builder
keys=$home/.local/share/wrapix/builder-keys
nix=$home/.local/share/wrapix/builder-nix
# A port that the kernel gives nobody by itself, also while the builder does not run; each script begins to look at another one.
port=$(python3 -c 'import socket, sys
low = max(int(open("/proc/sys/net/ipv4/ip_local_port_range").read().split()[0]), 20000) # some machines give all of them
for port in range(10000 + int(sys.argv[1]) * 7 % (low - 10000), low):
    try:
        socket.create_server(("127.0.0.1", port)).close()
        sys.exit(print(port))
    except OSError:
        pass' $$)
# For a client without a daemon and without the world outside.
export NIX_CONFIG='substituters =
build-users-group =
sandbox = false
experimental-features = nix-command'
say() { timeout 60 "$wrapix" ssh -- "$@"; } # in the builder
state() { "$wrapix" status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
builder_stop() { timeout 30 "$wrapix" stop >/dev/null 2>&1; }
