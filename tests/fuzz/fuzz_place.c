/* SPDX-License-Identifier: MIT */
/* Where a session's user is, as its file says it: printed and read again it is the same. And a proxy's address, with NO_PROXY behind a line's end. */
#include <string.h>

#include "base/err.h"
#include "net/proxy.h"
#include "notify/place.h"
#include "fuzz.h"

static void read_proxy(const char *text)
{
	_cleanup_free_ char *url = strdup(text);
	char *exempt = url ? strchr(url, '\n') : NULL;
	struct proxy proxy;
	struct err err;

	if (exempt)
		*exempt++ = '\0';
	if (url && proxy_parse(url, exempt, &proxy, &err) == 0)
		(void)proxy_serves(&proxy, "www.example.org");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	_cleanup_str_ struct str once = { 0 }, twice = { 0 };
	struct place place, again;

	if (text)
		read_proxy(text);
	if (place_parse((const char *)data, size, &place) < 0)
		return 0;
	place_print(&place, &once);
	if (place_parse(once.s, once.len, &again) < 0)
		abort();
	place_print(&again, &twice);
	if (strcmp(once.s, twice.s) != 0)
		abort();
	return 0;
}
