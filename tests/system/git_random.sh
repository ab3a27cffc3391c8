#!/bin/sh
# SPDX-License-Identifier: MIT
# Random git commands inside and outside at the same time, against a model (tests/lib/git_random.py). The seeds are
# fixed; GIT_SEEDS='A B C' takes others, GIT_STEPS more steps. Prints TAP.
#
# shellcheck disable=SC1091,SC2034,SC2154 # the library
. "$(dirname -- "$0")/../lib/system.sh"
kept="GIT_SEEDS GIT_STEPS"
be_user "$@"
seeds=${GIT_SEEDS:-1 2 3 4}
steps=${GIT_STEPS:-60}
command -v git >/dev/null || bail "git is not installed"
set_up
git config --global user.name Somebody
git config --global user.email somebody@example.org
for seed in $seeds; do
	check "seed $seed, $steps steps: nothing is lost" python3 "$top/tests/lib/git_random.py" "$wrapix" "$tmp/random-$seed" "$seed" "$steps"
done
finish
