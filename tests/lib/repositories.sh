# shellcheck shell=sh disable=SC1091,SC2154 # the library of git's tests; variables of system.sh
# SPDX-License-Identifier: MIT
# What the tests of repositories under 'wrapix exec' share, after set_up; each has settings() of its own, which writes
# $tmp/settings.json.
. "$top/tests/lib/git.sh"
ex() { wx exec -s "$tmp/settings.json" -c "$1"; }
quiet() { is "$rc" 0 && empty "$err"; }
output() { is "$(xargs <"$out")" "$1"; }
private_dirs() { find "$HOME/.local/state/wrapix/git" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l | xargs; } # how many private git directories there are
