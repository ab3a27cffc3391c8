/* SPDX-License-Identifier: MIT */
/* What a package tool says it downloads from: hosts with a port, which are rules. */
#include <string.h>

#include "net/policy.h"
#include "spec/registry.h"
#include "fuzz.h"

static void scan(const char *text, bool bare)
{
	struct arena arena = { 0 };
	struct strv found = { 0 };

	registry_scan(&arena, text, bare, &found);
	for (size_t i = 0; i < found.len; i++) {
		const char *colon = strrchr(found.v[i], ':');
		unsigned long port = colon ? strtoul(colon + 1, NULL, 10) : 0;

		if (!port || port > 65535 || !strchr(found.v[i], '.') ||
		    found.v[i][strcspn(found.v[i], " /@?#\"'")])
			abort();
	}
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);

	if (!text)
		abort();
	scan(text, false);
	scan(text, true);
	return 0;
}
