/* SPDX-License-Identifier: MIT */
/* Facts about a machine ('wrapix plan --host'): what is taken is whole, and printed and read again it is the same. */
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "spec/host.h"
#include "fuzz.h"

static char *print(const struct host *host)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	check(out);
	host_print_json(host, out);
	check(fclose(out) == 0 && text);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *once = NULL, *twice = NULL;
	struct host host, again;
	struct err err = { 0 };

	if (host_load((const char *)data, size, &host, &err) < 0) {
		check(err.msg[0]);
		return 0;
	}
	check(path_is_below(host.project.dir, host.project.top));
	once = print(&host);
	check(host_load(once, strlen(once), &again, &err) == 0);
	twice = print(&again);
	check(!strcmp(once, twice));
	host_release(&host);
	host_release(&again);
	return 0;
}
