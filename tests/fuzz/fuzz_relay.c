/* SPDX-License-Identifier: MIT */
/* Requests to the relay: whatever goes on is one request for the path and the method of the rules, with
 * the credential once and no other; its body ends where it says. And the rules, as the relay gets them. */
#include <stdlib.h>
#include <string.h>

#include "relay/door.h"
#include "relay/request.h"
#include "fuzz.h"

static const struct relay_rules rules = {
	.host = "api.example",
	.port = 443,
	.prefix = "/v1/",
	.methods = "GET POST ",
	.header = "authorization",
	.scheme = "Bearer",
	.placeholder = "PLACE",
};

static size_t count(const uint8_t *text, size_t len, const char *what)
{
	size_t n = 0;
	const uint8_t *p;

	while ((p = memmem(text, len, what, strlen(what)))) {
		len -= (size_t)(p - text) + strlen(what);
		text = p + strlen(what);
		n++;
	}
	return n;
}

static void read_rules(const char *text, size_t size)
{
	struct relay_rules got = { 0 };

	if (relay_rules_get(&got, text, size) &&
	    strlen(got.host) + strlen(got.prefix) + strlen(got.placeholder) > size)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t buffer[2 * REQUEST_HEAD_MAX];
	static const char end[] = "authorization: Bearer \1SECRET\1\r\n\r\n";
	struct blob value = { (const uint8_t *)"\1SECRET\1", 8 };
	struct wire_out out = { .p = buffer, .size = sizeof(buffer) };
	struct relay_request request;
	ssize_t n;

	read_rules((const char *)data, size);
	if (!relay_request_read(&rules, (const char *)data, size, value, &out, &request) ||
	    request.status) {
		if (out.len)
			abort();
		return 0;
	}
	if ((strncmp((char *)buffer, "GET /v1/", 8) && strncmp((char *)buffer, "POST /v1/", 9)) ||
	    out.len < sizeof(end) - 1 ||
	    memcmp(buffer + out.len - (sizeof(end) - 1), end, sizeof(end) - 1) ||
	    count(buffer, out.len, "\r\n\r\n") != 1 || count(buffer, out.len, "\1SECRET\1") != 1 ||
	    count(buffer, out.len, "\r\nhost: api.example\r\n") != 1 || request.len > size)
		abort();
	n = relay_body_take(&request.body, (const char *)data + request.len, size - request.len);
	if (n > (ssize_t)(size - request.len) ||
	    (n >= 0 && n < (ssize_t)(size - request.len) && !request.body.done))
		abort();
	return 0;
}
