/* SPDX-License-Identifier: MIT */
/* wrapix-resolver: finds the addresses of names for a static program of ours, on its standard input. */
#include "net/resolver.h"

int main(void)
{
	resolver_work(STDIN_FILENO);
}
