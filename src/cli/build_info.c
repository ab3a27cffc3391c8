/* SPDX-License-Identifier: MIT */
/* How this program was built: for bug reports, and for packagers who compare. */
#include <stdio.h>

#include "build_info.h"
#include "cli/cli.h"

void cli_print_build_info(void)
{
	static const struct {
		const char *what, *value;
	} rows[] = {
		{ "commit", BUILD_COMMIT },          { "compiler", BUILD_COMPILER },
		{ "machine", BUILD_MACHINE },        { "type", BUILD_TYPE },
		{ "sanitizers", BUILD_SANITIZE },    { "prefix", BUILD_PREFIX },
		{ "libexec", WRAPIX_LIBEXECDIR },    { "json-c", BUILD_JSONC },
		{ "libcrypto", WRAPIX_LIBCRYPTO },   { "libseccomp", BUILD_SECCOMP },
		{ "static programs", BUILD_STATIC },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		printf("%-16s %s\n", rows[i].what, rows[i].value);
}
