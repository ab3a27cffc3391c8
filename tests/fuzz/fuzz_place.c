/* SPDX-License-Identifier: MIT */
/* Where a session's user is, as its file says it: printed and read again it is the same. And a proxy's address, with NO_PROXY behind a line's
 * end: who is named there is exempt, and what is asked of the proxy is one request. */
#include <string.h>

#include "base/err.h"
#include "net/proxy.h"
#include "notify/place.h"
#include "fuzz.h"

/* A name of NO_PROXY is exempt, and what is below it, wherever in the list it stands. */
static void check_exempt(const struct proxy *proxy)
{
	_cleanup_free_ char *list = strdup(proxy->exempt);
	char *save = NULL;

	check(list);
	for (char *word = strtok_r(list, ", \t", &save); word;
	     word = strtok_r(NULL, ", \t", &save)) {
		char below[sizeof(proxy->exempt) + 2];

		word += strspn(word, ".");
		if (!*word || strchr(word, ':'))
			continue;
		(void)snprintf(below, sizeof(below), "x.%s", word);
		check(!proxy_serves(proxy, word) && !proxy_serves(proxy, below));
	}
}

static void read_proxy(const char *text)
{
	_cleanup_free_ char *url = strdup(text);
	char *exempt = url ? strchr(url, '\n') : NULL, request[PROXY_REQUEST_MAX];
	struct proxy proxy;
	struct err err;
	size_t n;

	if (exempt)
		*exempt++ = '\0';
	if (!url || proxy_parse(url, exempt, &proxy, &err) < 0)
		return;
	check(proxy.port && proxy.host[0]);
	(void)proxy_serves(&proxy, "www.example.org");
	check_exempt(&proxy);
	n = proxy_request(&proxy, "www.example.org", 443, request);
	check(n < sizeof(request) && strlen(request) == n && !strcmp(request + n - 4, "\r\n\r\n"));
	check(strstr(request, "\r\n\r\n") == request + n - 4);
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
