/* SPDX-License-Identifier: MIT */
/* A spec: every criterion has a text and a line, every trial a path. */
#include <string.h>

#include "ralph/criteria.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct criteria c;
	unsigned line = 0;

	criteria_parse(&c, (const char *)data, size);
	for (size_t i = 0; i < c.n; i++) {
		if (!c.v[i].text || c.v[i].line <= line || strchr(c.v[i].text, '\n'))
			abort();
		line = c.v[i].line;
		for (size_t j = 0; j < c.v[i].n_trials; j++)
			if (!c.v[i].trials[j].path || c.v[i].trials[j].line <= line ||
			    (c.v[i].trials[j].function && !*c.v[i].trials[j].function))
				abort();
	}
	criteria_release(&c);
	return 0;
}
