/* SPDX-License-Identifier: MIT */
/* A spec: every criterion has a text, every trial a path and a line of its own. */
#include <string.h>

#include "ralph/criteria.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct criteria c;
	unsigned line = 0;

	criteria_parse(&c, (const char *)data, size);
	for (size_t i = 0; i < c.n; i++) {
		if (!c.v[i].text || strchr(c.v[i].text, '\n'))
			abort();
		for (size_t j = 0; j < c.v[i].n_trials; j++) {
			const struct trial *trial = &c.v[i].trials[j];

			if (!trial->path || trial->line <= line ||
			    (trial->function && !*trial->function))
				abort();
			line = trial->line;
		}
	}
	criteria_release(&c);
	return 0;
}
