/* SPDX-License-Identifier: MIT */
/* The relay of brokered credentials: which requests go on, and what becomes of them; credentials in
 * flags, files and the agents' table. */
#include <errno.h>

#include "lib/tap.h"
#include "relay/door.h"
#include "spec/agent.h"
#include "spec/config.h"

static const struct relay_rules rules = {
	.host = "api.example",
	.port = 443,
	.prefix = "/v1/",
	.methods = "GET POST ",
	.header = "authorization",
	.scheme = "Bearer",
	.placeholder = "PLACE",
};

#define CREDENTIAL "authorization: Bearer PLACE\r\n"
#define FIRST "POST /v1/messages HTTP/1.1\r\n"

static int read_one(const char *text, char *ret_head, struct relay_request *ret)
{
	uint8_t buffer[4096];
	struct wire_out out = { .p = buffer, .size = sizeof(buffer) };
	struct blob value = { (const uint8_t *)"SECRET", 6 };

	if (!relay_request_read(&rules, text, strlen(text), value, &out, ret))
		return -1;
	snprintf(ret_head, 4096, "%.*s", (int)out.len, buffer);
	return ret->status;
}

static void test_good(void)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ FIRST "Host: 127.0.0.1:4777\r\n" CREDENTIAL "X: y\r\n\r\n",
		  FIRST "X: y\r\nhost: api.example\r\nauthorization: Bearer SECRET\r\n\r\n" },
		{ "GET /v1/a?b=c&d HTTP/1.1\r\nAuthorization:PLACE\r\nconnection: "
		  "upgrade\r\nUpgrade: "
		  "h2c\r\n\r\n",
		  "GET /v1/a?b=c&d HTTP/1.1\r\nhost: api.example\r\nauthorization: Bearer "
		  "SECRET\r\n\r\n" },
		{ FIRST "x-api-key: PLACE\r\n" CREDENTIAL "Content-Length: 5\r\n\r\nhello",
		  FIRST "Content-Length: 5\r\nhost: api.example\r\nauthorization: Bearer "
			"SECRET\r\n\r\n" },
	};
	struct relay_request request;
	char head[4096];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		ok(read_one(cases[i].in, head, &request) == 0, "request %zu goes on", i);
		is_str(head, cases[i].out, "... as it should");
	}
	is_int((int)request.body.left, 5, "a body has its length");
	ok(read_one(FIRST CREDENTIAL, head, &request) == -1, "half a head is waited for");
}

static void test_refused(void)
{
	static const struct {
		const char *name, *in;
		int status;
	} cases[] = {
		{ "no credential", FIRST "\r\n", 401 },
		{ "another's", FIRST "authorization: Bearer mine\r\n\r\n", 403 },
		{ "another's beside ours", FIRST CREDENTIAL "x-api-key: mine\r\n\r\n", 403 },
		{ "another's after ours", FIRST CREDENTIAL "authorization: mine\r\n\r\n", 403 },
		{ "a cookie", FIRST CREDENTIAL "Cookie: a=b\r\n\r\n", 403 },
		{ "in the address", "GET /v1/a?x=1&key=mine HTTP/1.1\r\n" CREDENTIAL "\r\n", 403 },
		{ "... escaped", "GET /v1/a?%6bey=mine HTTP/1.1\r\n" CREDENTIAL "\r\n", 403 },
		{ "... after a semicolon", "GET /v1/a?x=1;key=mine HTTP/1.1\r\n" CREDENTIAL "\r\n",
		  403 },
		{ "... among fields in the address",
		  "GET /v1/a?$httpHeaders=x-goog-api-key:mine HTTP/1.1\r\n" CREDENTIAL "\r\n",
		  403 },
		{ "another method in the address",
		  "POST /v1/a?$httpMethod=DELETE HTTP/1.1\r\n" CREDENTIAL "\r\n", 403 },
		{ "... as of a form", "POST /v1/a?_method=delete HTTP/1.1\r\n" CREDENTIAL "\r\n",
		  403 },
		{ "GitLab's, in the address",
		  "GET /v1/a?private_token=mine HTTP/1.1\r\n" CREDENTIAL "\r\n", 403 },
		{ "... a job's", "GET /v1/a?job_token=mine HTTP/1.1\r\n" CREDENTIAL "\r\n", 403 },
		{ "... in a field", FIRST CREDENTIAL "Job-Token: mine\r\n\r\n", 403 },
		{ "another method in a field",
		  FIRST CREDENTIAL "X-HTTP-Method-Override: DELETE\r\n\r\n", 403 },
		{ "another path in a field", FIRST CREDENTIAL "x-original-url: /admin\r\n\r\n",
		  403 },
		{ "an underscore for a dash", FIRST CREDENTIAL "x_api_key: mine\r\n\r\n", 400 },
		{ "... in a length", FIRST CREDENTIAL "content_length: 5\r\n\r\n", 400 },
		{ "another method", "DELETE /v1/a HTTP/1.1\r\n" CREDENTIAL "\r\n", 403 },
		{ "part of a method", "POS /v1/a HTTP/1.1\r\n" CREDENTIAL "\r\n", 403 },
		{ "no method", " /v1/a HTTP/1.1\r\n" CREDENTIAL "\r\n", 403 },
		{ "another path", "GET /v2/a HTTP/1.1\r\n" CREDENTIAL "\r\n", 403 },
		{ "up", "GET /v1/../admin HTTP/1.1\r\n" CREDENTIAL "\r\n", 403 },
		{ "up, escaped", "GET /v1/%2e%2E/admin HTTP/1.1\r\n" CREDENTIAL "\r\n", 403 },
		{ "up, escaped twice", "GET /v1/%252e/admin HTTP/1.1\r\n" CREDENTIAL "\r\n", 403 },
		{ "a slash, escaped", "GET /v1/..%2fadmin HTTP/1.1\r\n" CREDENTIAL "\r\n", 403 },
		{ "two slashes", "GET /v1//a HTTP/1.1\r\n" CREDENTIAL "\r\n", 403 },
		{ "a whole URL", "GET https://evil/v1/ HTTP/1.1\r\n" CREDENTIAL "\r\n", 403 },
		{ "an old version", "GET /v1/a HTTP/1.0\r\n" CREDENTIAL "\r\n", 400 },
		{ "two lengths", FIRST CREDENTIAL "content-length: 1\r\nContent-Length: 1\r\n\r\n",
		  400 },
		{ "a length and chunks",
		  FIRST CREDENTIAL "content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n", 400 },
		{ "another encoding", FIRST CREDENTIAL "transfer-encoding: gzip, chunked\r\n\r\n",
		  400 },
		{ "no number", FIRST CREDENTIAL "content-length: +1\r\n\r\n", 400 },
		{ "a huge number", FIRST CREDENTIAL "content-length: 9999999999999999999\r\n\r\n",
		  400 },
		{ "a lone newline", FIRST CREDENTIAL "a: b\nx-api-key: mine\r\n\r\n", 400 },
		{ "a lone return", FIRST CREDENTIAL "a: b\rx-api-key: mine\r\n\r\n", 400 },
		{ "a folded line", FIRST CREDENTIAL " folded\r\n\r\n", 400 },
		{ "a space before the colon", FIRST CREDENTIAL "x-api-key : mine\r\n\r\n", 400 },
		{ "nothing", "\r\n\r\n", 400 },
	};
	struct relay_request request;
	char head[4096];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		is_int(read_one(cases[i].in, head, &request), cases[i].status, "refused: %s",
		       cases[i].name);
		is_str(head, "", "... and nothing is made of it");
	}
}

static void test_prefix(void)
{
	static const struct {
		const char *path;
		int status;
	} cases[] = { { "/v2", 0 },         { "/v2?a", 0 },        { "/v2/a", 0 },
		      { "/v2-admin", 403 }, { "/v20/admin", 403 }, { "/v2.old/a", 403 } };
	struct relay_rules open = rules;
	struct relay_request request;

	open.prefix = "/v2";
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint8_t buffer[512];
		struct wire_out out = { .p = buffer, .size = sizeof(buffer) };
		struct blob value = { (const uint8_t *)"SECRET", 6 };
		char text[256];

		snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\n" CREDENTIAL "\r\n",
			 cases[i].path);
		ok(relay_request_read(&open, text, strlen(text), value, &out, &request) &&
			   request.status == cases[i].status,
		   "below /v2 or not: %s", cases[i].path);
	}
}

static void test_body(void)
{
	static const char chunks[] = "5\r\nhello\r\n0A\r\n0123456789\r\n0\r\n\r\nGET";
	static const char *const bad[] = { "5;x=y\r\n",
					   "g\r\n",
					   "\r\n",
					   "1\r\nab",
					   "0\r\nx: y\r\n",
					   "1\na",
					   "fffffffffffffffff\r\n" };

	for (size_t step = 1; step < sizeof(chunks); step++) {
		struct relay_body body = { .chunked = true, .at = BODY_SIZE };
		size_t at = 0;

		while (at < sizeof(chunks) - 1 && !body.done) {
			ssize_t n = relay_body_take(&body, chunks + at,
						    MIN(step, sizeof(chunks) - 1 - at));

			if (n < 0)
				break;
			at += (size_t)n;
		}
		ok(body.done && !strcmp(chunks + at, "GET"), "chunks, %zu bytes at a time", step);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct relay_body body = { .chunked = true, .at = BODY_SIZE };

		is_int((int)relay_body_take(&body, bad[i], strlen(bad[i])), -1, "no chunks: %zu",
		       i);
	}
}

static void test_rules(void)
{
	struct relay_rules back = { 0 };
	char text[256];
	size_t len = relay_rules_put(&rules, text, sizeof(text));

	ok(len && relay_rules_get(&back, text, len), "rules go through the door");
	ok(back.port == 443 && !strcmp(back.placeholder, "PLACE") &&
		   !strcmp(back.host, "api.example"),
	   "... whole");
	ok(!relay_rules_get(&back, text, len - 1), "... or not at all");
	is_int((int)relay_rules_put(&rules, text, 8), 0, "rules that are too long");
}

static int set(struct spec *spec, const char *json)
{
	struct err err;

	return config_parse(spec, json, strlen(json), "test", LAYER_USER, NULL, &err);
}

static void test_spec(void)
{
	static const char *const bad[] = {
		"{\"credentials\": {\"A B\": true}}",
		"{\"credentials\": {\"A\": 1}}",
		"{\"credentials\": {\"A\": \"maybe\"}}",
		"{\"credentials\": {\"A\": {\"upstream\": \"http://plain.example/\"}}}",
		"{\"credentials\": {\"A\": {\"upstream\": \"https://a.example/v1/../x\"}}}",
		"{\"credentials\": {\"A\": {\"upstream\": \"https://user@a.example/\"}}}",
		"{\"credentials\": {\"A\": {\"upstream\": \"https://a.example:0/\"}}}",
		"{\"credentials\": {\"A\": {\"header\": \"host\"}}}",
		"{\"credentials\": {\"A\": {\"header\": \"a: b\"}}}",
		"{\"credentials\": {\"A\": {\"methods\": [\"CONNECT\"]}}}",
		"{\"credentials\": {\"A\": {\"basePath\": \"v1\"}}}",
		"{\"credentials\": {\"A\": {\"colour\": \"red\"}}}",
	};
	struct credential *list;
	struct agent agent;
	struct spec spec;
	struct err err;
	size_t n;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		spec_init(&spec);
		is_int(set(&spec, bad[i]), -EINVAL, "refused: %s", bad[i]);
		spec_release(&spec);
	}
	spec_init(&spec);
	ok(agent_load(&spec.arena, "claude", NULL, &agent, &err) == 1, "the table of Claude Code");
	ok(credentials_resolve(&spec.arena, &spec, &agent, &list, &n, &err) == 0 && n == 1 &&
		   !strcmp(list[0].name, "CLAUDE_CODE_OAUTH_TOKEN") &&
		   list[0].mode == CREDENTIAL_ON,
	   "... has one that comes by itself");
	is_int(spec_add_credential_string(&spec, "ANTHROPIC_API_KEY=brokered", LAYER_FLAG, &err), 0,
	       "another is asked for");
	is_int(set(&spec, "{\"credentials\": {\"ANTHROPIC_API_KEY\": true, "
			  "\"CLAUDE_CODE_OAUTH_TOKEN\": false}}"),
	       0, "a weaker layer says otherwise");
	ok(credentials_resolve(&spec.arena, &spec, &agent, &list, &n, &err) == 0 && n == 1 &&
		   !strcmp(list[0].header, "x-api-key") && !*list[0].scheme &&
		   list[0].mode == CREDENTIAL_BROKERED && list[0].methods.len == 3,
	   "... and the stronger one holds");
	is_int(spec_add_credential_string(&spec, "OTHER=brokered", LAYER_FLAG, &err), 0,
	       "one that nobody knows");
	is_int(credentials_resolve(&spec.arena, &spec, &agent, &list, &n, &err), -EINVAL,
	       "... cannot be brokered");
	is_int(spec_add_credential_string(&spec, "A=maybe", LAYER_FLAG, &err), -EINVAL, "no mode");
	spec_release(&spec);
}

/* A name alone says nothing of how: what a file has brokered stays outside. */
static void test_named(void)
{
#define WHERE "\"upstream\": \"https://a.example/\", \"baseUrl\": \"A_URL\""
	static const struct {
		const char *file, *flag;
		enum credential_mode mode;
	} said[] = {
		{ "{\"credentials\": {\"A\": {\"brokered\": true, " WHERE "}}}", "A",
		  CREDENTIAL_BROKERED },
		{ "{\"credentials\": {\"A\": {\"brokered\": true, " WHERE "}}}", "A=on",
		  CREDENTIAL_ON },
		{ "{\"credentials\": {\"A\": {" WHERE "}}}", "A", CREDENTIAL_ON },
		{ "{\"credentials\": {\"A\": {" WHERE "}}}", "A=brokered", CREDENTIAL_BROKERED },
		{ "{\"credentials\": {\"A\": \"off\"}}", "A", CREDENTIAL_ON },
		{ "{}", "A", CREDENTIAL_ON },
	};
	struct credential *list;
	struct spec spec;
	struct err err;
	size_t n;

	for (size_t i = 0; i < 2 * ARRAY_LEN(said); i++) {
		const char *file = said[i / 2].file, *flag = said[i / 2].flag;

		spec_init(&spec);
		for (size_t k = 0; k < 2; k++) /* whichever layer comes first */
			is_int(k == i % 2
				       ? set(&spec, file)
				       : spec_add_credential_string(&spec, flag, LAYER_FLAG, &err),
			       0, "%s, --credential %s", file, flag);
		ok(credentials_resolve(&spec.arena, &spec, NULL, &list, &n, &err) == 0 && n == 1 &&
			   list[0].mode == said[i / 2].mode,
		   "... come to the right one");
		spec_release(&spec);
	}
}

/* Every row of the agents' tables is one that the reader takes. */
static void test_tables(void)
{
	static const char *const names[] = { "claude", "codex", "gemini", "opencode" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct arena arena = { 0 };
		struct agent agent;
		struct upstream upstream;
		struct err err;
		bool good = agent_load(&arena, names[i], NULL, &agent, &err) == 1 &&
			    agent.n_credentials;

		for (size_t k = 0; good && k < agent.n_credentials; k++) {
			const struct credential *c = &agent.credentials[k];

			good = !c->upstream == !c->base_url &&
			       (!c->upstream ||
				upstream_parse(&arena, c->upstream, &upstream, &err) == 0);
		}
		ok(good, "the credentials of %s", names[i]);
		arena_release(&arena);
	}
}

int main(void)
{
	test_good();
	test_refused();
	test_prefix();
	test_body();
	test_rules();
	test_spec();
	test_named();
	test_tables();
	return done();
}
