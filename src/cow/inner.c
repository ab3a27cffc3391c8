/* SPDX-License-Identifier: MIT */
#include "cow/inner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cow/apply.h"

#define LINK_MODE "160000 "

/* Each is "MODE OBJECT STAGE\tPATH": an index may be large, and few of it are submodules. */
int inner_load(struct inner *inner, const struct cow *cow, int index)
{
	FILE *file = lseek(index, 0, SEEK_SET) < 0 ? NULL : fdopen(index, "r");
	char *line = NULL, *path;
	size_t room = 0;

	*inner = (struct inner){ .cow = cow };
	if (!file) {
		close(index);
		return -EIO;
	}
	while (getdelim(&line, &room, '\0', file) > 0)
		if (str_starts(line, LINK_MODE) && (path = strchr(line, '\t')))
			strv_add(&inner->arena, &inner->links, path + 1);
	free(line);
	fclose(file);
	strv_sort(&inner->links);
	return 0;
}

void inner_release(struct inner *inner)
{
	arena_release(&inner->arena);
	*inner = (struct inner){ 0 };
}

const char *inner_of(struct inner *inner, const char *path)
{
	char *part = arena_strdup(&inner->arena, path);

	for (char *end = part;; end++) {
		char was;

		end += strcspn(end, "/");
		was = *end;
		*end = '\0';
		if (strv_has_sorted(&inner->links, part) ||
		    resolve_has_name(inner->cow->root, part, ".git"))
			return part;
		if (!was)
			return NULL;
		*end = was;
	}
}
