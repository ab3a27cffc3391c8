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

static const struct blob value = { (const uint8_t *)"\1SECRET\1", 8 };
static const char end[] = "authorization: Bearer \1SECRET\1\r\n\r\n";

/* What goes out is in the one form: a relay behind this one would write the same, and see a body of the same length. */
static void check_again(const struct wire_out *out, const struct relay_request *request)
{
	static const char own[] = "authorization: Bearer PLACE\r\n\r\n";
	static uint8_t text[2 * REQUEST_HEAD_MAX], buffer[2 * REQUEST_HEAD_MAX];
	struct wire_out in = { .p = text, .size = sizeof(text) };
	struct wire_out again = { .p = buffer, .size = sizeof(buffer) };
	struct relay_request second;

	wire_put_bytes(&in, out->p, out->len - strlen(end));
	wire_put_bytes(&in, own, strlen(own));
	if (in.len > REQUEST_HEAD_MAX) /* the fields of our own may be too many for it */
		return;
	check(relay_request_read(&rules, (char *)text, in.len, value, &again, &second));
	check(!second.status && second.len == in.len);
	check(again.len == out->len && !memcmp(again.p, out->p, out->len));
	check(second.body.chunked == request->body.chunked &&
	      second.body.left == request->body.left && second.body.done == request->body.done);
}

/* A body ends at the same byte, whatever pieces it comes in. */
static void check_body(struct relay_body body, const char *bytes, size_t n)
{
	struct relay_body drops = body;
	ssize_t whole = relay_body_take(&body, bytes, n), one = 1;
	size_t at = 0;

	check(whole <= (ssize_t)n && (whole < 0 || (size_t)whole == n || body.done));
	while (at < n && one == 1) {
		one = relay_body_take(&drops, bytes + at, 1);
		at += one == 1;
	}
	check(whole < 0 ? one < 0 : one >= 0 && at == (size_t)whole && drops.done == body.done);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t buffer[2 * REQUEST_HEAD_MAX];
	struct wire_out out = { .p = buffer, .size = sizeof(buffer) };
	struct relay_request request;

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
	check_again(&out, &request);
	check_body(request.body, (const char *)data + request.len, size - request.len);
	return 0;
}
