/* SPDX-License-Identifier: MIT */
/* "ID PARENT MAJOR:MINOR ROOT POINT ...": blanks, line ends and backslashes of a name are "\040" and the like. */
#include "os/linux/mountinfo.h"

#include <string.h>

static bool is_octal(const char *s)
{
	return s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' && s[2] >= '0' &&
	       s[2] <= '7';
}

static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++, to++) {
		if (*s == '\\' && is_octal(s + 1)) {
			*to = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
			s += 3;
		} else {
			*to = *s;
		}
	}
	*to = '\0';
}

static bool parse(char *line, struct mountinfo *ret)
{
	enum { ID, PARENT, DEVICE, ROOT, POINT, FIELDS };
	char *field[FIELDS];

	for (int i = 0; i < FIELDS; i++) {
		field[i] = strsep(&line, " ");
		if (!field[i] || !*field[i])
			return false;
	}
	*ret = (struct mountinfo){ strtoull(field[ID], NULL, 10), field[ROOT], field[POINT] };
	unescape(ret->root);
	unescape(ret->point);
	return true;
}

bool mountinfo_next(char **at, struct mountinfo *ret)
{
	char *line;

	while ((line = strsep(at, "\n")))
		if (parse(line, ret))
			return true;
	return false;
}
