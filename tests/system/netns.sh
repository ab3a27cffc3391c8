#!/bin/sh
# SPDX-License-Identifier: MIT
# netns.sh DRIVER: runs a driver (netns_driver, netns_edges_driver) as the ordinary user. It makes network namespaces
# of its own, so that nothing leaves this machine, and prints TAP.
#
# shellcheck disable=SC1091 # the library
. "$(dirname -- "$0")/../lib/system.sh"
[ $# = 1 ] || bail "usage: netns.sh DRIVER"
be_user "$@"
exec "$1"
