/* SPDX-License-Identifier: MIT */
/* Hostile names of archives. */
#include "image/names.h"

#include <string.h>

const char *name_clean(const char *name, char buffer[NAME_SIZE])
{
	size_t len = 0;

	if (!name)
		return NULL;
	while (*name) {
		size_t part = strcspn(name, "/");

		if (part == 2 && !strncmp(name, "..", 2))
			return NULL;
		if (part && !(part == 1 && *name == '.')) {
			if (part > 255 || len + part + 2 > NAME_SIZE)
				return NULL;
			if (len)
				buffer[len++] = '/';
			memcpy(buffer + len, name, part);
			len += part;
		}
		name += part;
		name += strspn(name, "/");
	}
	buffer[len] = '\0';
	return buffer;
}
