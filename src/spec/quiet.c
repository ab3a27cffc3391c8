/* SPDX-License-Identifier: MIT */
/* Do not disturb. */
#include "spec/quiet.h"

#include <errno.h>

/* "22:00"; NULL where there is none. */
static const char *time_of_day(const char *p, unsigned short *ret)
{
	unsigned hour = 0, minute = 0;

	for (int i = 0; i < 5; i++) {
		bool digit = p[i] >= '0' && p[i] <= '9';

		if (i == 2 ? p[i] != ':' : !digit)
			return NULL;
		if (i < 2)
			hour = hour * 10 + (unsigned)(p[i] - '0');
		else if (i > 2)
			minute = minute * 10 + (unsigned)(p[i] - '0');
	}
	if (hour > 24 || minute > 59 || (hour == 24 && minute))
		return NULL;
	*ret = (unsigned short)(hour * 60 + minute);
	return p + 5;
}

int quiet_parse(const char *text, struct quiet *ret)
{
	struct quiet quiet = { .n = 0 };

	while (*text) {
		unsigned short from, to;

		text = quiet.n < QUIET_MAX ? time_of_day(text, &from) : NULL;
		if (!text || *text++ != '-')
			return -EINVAL;
		text = time_of_day(text, &to);
		if (!text || from == to || (*text && *text != ','))
			return -EINVAL;
		if (*text && !*++text)
			return -EINVAL;
		quiet.v[quiet.n].from = from;
		quiet.v[quiet.n++].to = to;
	}
	*ret = quiet;
	return 0;
}

bool quiet_at(const struct quiet *quiet, unsigned minute)
{
	for (size_t i = 0; i < quiet->n; i++) {
		unsigned from = quiet->v[i].from, to = quiet->v[i].to;
		bool inside = from < to ? minute >= from && minute < to
					: minute >= from || minute < to;

		if (inside)
			return true;
	}
	return false;
}
