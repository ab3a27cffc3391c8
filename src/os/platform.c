/* SPDX-License-Identifier: MIT */
/* Which system this is. */
#include "os/platform.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#ifdef __APPLE__
#define BUILT_FOR "darwin"
#else
#define BUILT_FOR "linux"
#endif

static const char *find_platform(void)
{
	static const char *const known[] = { "linux", "darwin" };
	const char *asked = getenv("WRAPIX_PLATFORM");

	for (size_t i = 0; asked && i < ARRAY_LEN(known); i++)
		if (!strcmp(asked, known[i]))
			return known[i];
	return BUILT_FOR;
}

/* It does not change with an environment that was taken from somebody else later. */
const char *os_platform(void)
{
	static const char *found;

	if (!found)
		found = find_platform();
	return found;
}

bool os_is_darwin(void)
{
	return !strcmp(os_platform(), "darwin");
}
