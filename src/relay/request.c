/* SPDX-License-Identifier: MIT */
/*
 * Reading requests.
 *
 * What an attacker controls: every byte of a request. What must hold: the credential goes to one host,
 * for the methods and the paths of the rules alone, and never with somebody else's beside it, which
 * would make the host an outlet for what is inside. So nothing is let through that another reader could
 * see differently: one form of line end, one length, no path that could be shortened on the way.
 */
#include "relay/request.h"

#include <string.h>
#include <strings.h>

struct span {
	const char *p;
	size_t len;
};

static bool span_is(struct span s, const char *text)
{
	return s.len == strlen(text) && !strncasecmp(s.p, text, s.len);
}

static bool refuse(struct relay_request *r, int status, const char *why)
{
	r->status = status;
	r->why = why;
	return true;
}

/* Without the underscore: what some servers pass over others take for a dash. */
static bool is_name_char(char c)
{
	return c > ' ' && c < 127 && !strchr("()<>@,;:\\\"/[]?={}_", c);
}

/* --- the first line --- */

static bool has_word(const char *words, struct span word)
{
	for (const char *p = words; *p; p += strcspn(p, " "), p += *p == ' ')
		if (strcspn(p, " ") == word.len && !strncmp(p, word.p, word.len))
			return true;
	return false;
}

/* Nothing in it means another path to whoever reads it next. */
static bool is_plain_path(struct span path)
{
	for (size_t i = 0; i < path.len; i++) {
		const char *p = path.p + i;
		size_t left = path.len - i;

		if (*p == '\\' || *p == ';')
			return false;
		if (*p == '/' && left > 1 && (p[1] == '/' || p[1] == '.'))
			return false;
		if (*p == '%' &&
		    (left < 3 || !strncasecmp(p, "%2e", 3) || !strncasecmp(p, "%2f", 3) ||
		     !strncasecmp(p, "%5c", 3) || !strncasecmp(p, "%25", 3) || p[1] < '2'))
			return false;
	}
	return true;
}

/* Some hosts take credentials there, or fields and the method. */
static bool has_credential_parameter(struct span query)
{
	static const char *const names[] = {
		"key",          "api_key",     "api-key",     "apikey",        "access_token",
		"token",        "auth_token",  "oauth_token", "private_token", "job_token",
		"$httpheaders", "$httpmethod", "_method",
	};

	/* Some take it for another '&'. */
	if (query.len && memchr(query.p, ';', query.len))
		return true;

	while (query.len) {
		const char *end = memchr(query.p, '&', query.len);
		size_t len = end ? (size_t)(end - query.p) : query.len;
		const char *equals = memchr(query.p, '=', len);
		struct span name = { query.p, equals ? (size_t)(equals - query.p) : len };

		/* An escaped name could be any. */
		if (memchr(name.p, '%', name.len))
			return true;
		for (size_t i = 0; i < ARRAY_LEN(names); i++)
			if (span_is(name, names[i]))
				return true;
		query = (struct span){ query.p + len + (end != NULL),
				       query.len - len - (end != NULL) };
	}
	return false;
}

/* "/v2" is no beginning of "/v2-admin". */
static bool is_below(struct span path, const char *prefix)
{
	size_t len = strlen(prefix);

	return path.len >= len && !memcmp(path.p, prefix, len) &&
	       (prefix[len - 1] == '/' || path.len == len || path.p[len] == '/');
}

static bool read_line(const struct relay_rules *rules, struct span line, struct wire_out *out,
		      struct relay_request *r)
{
	static const char version[] = " HTTP/1.1";
	const char *space = memchr(line.p, ' ', line.len), *mark;
	struct span method, target, path, query = { 0 };

	if (line.len < sizeof(version) || !space ||
	    memcmp(line.p + line.len - strlen(version), version, strlen(version)) != 0)
		return refuse(r, 400, "not a request of HTTP/1.1");
	method = (struct span){ line.p, (size_t)(space - line.p) };
	target = (struct span){ space + 1, line.len - method.len - 1 };
	if (target.len <= strlen(version))
		return refuse(r, 400, "not a request of HTTP/1.1");
	target.len -= strlen(version);
	for (size_t i = 0; i < target.len; i++)
		if (target.p[i] <= ' ' || target.p[i] > '~' || target.p[i] == '#')
			return refuse(r, 400, "not a path");
	mark = memchr(target.p, '?', target.len);
	path = (struct span){ target.p, mark ? (size_t)(mark - target.p) : target.len };
	if (mark)
		query = (struct span){ mark + 1, target.len - path.len - 1 };
	if (!has_word(rules->methods, method))
		return refuse(r, 403, "this method is not brokered");
	if (!is_plain_path(path) || !is_below(path, rules->prefix))
		return refuse(r, 403, "this path is not brokered");
	if (has_credential_parameter(query))
		return refuse(r, 403, "a credential of somebody else's is in the address");
	wire_put_bytes(out, line.p, line.len);
	wire_put_bytes(out, "\r\n", 2);
	return false;
}

/* --- fields --- */

enum field {
	FIELD_OTHER,
	FIELD_DROP,
	FIELD_CREDENTIAL,
	FIELD_LENGTH,
	FIELD_ENCODING,
	FIELD_INSTEAD, /* of the method or the path in the first line */
};

/* Those that speak of this connection, that carry credentials, that some servers believe rather than the line. */
static const struct {
	const char *name;
	enum field kind;
} fields[] = {
	{ "host", FIELD_DROP },
	{ "connection", FIELD_DROP },
	{ "keep-alive", FIELD_DROP },
	{ "proxy-connection", FIELD_DROP },
	{ "te", FIELD_DROP },
	{ "trailer", FIELD_DROP },
	{ "upgrade", FIELD_DROP },
	{ "content-length", FIELD_LENGTH },
	{ "transfer-encoding", FIELD_ENCODING },
	{ "authorization", FIELD_CREDENTIAL },
	{ "proxy-authorization", FIELD_CREDENTIAL },
	{ "x-api-key", FIELD_CREDENTIAL },
	{ "api-key", FIELD_CREDENTIAL },
	{ "x-goog-api-key", FIELD_CREDENTIAL },
	{ "x-auth-token", FIELD_CREDENTIAL },
	{ "private-token", FIELD_CREDENTIAL },
	{ "job-token", FIELD_CREDENTIAL },
	{ "deploy-token", FIELD_CREDENTIAL },
	{ "cookie", FIELD_CREDENTIAL },
	{ "x-http-method-override", FIELD_INSTEAD },
	{ "x-http-method", FIELD_INSTEAD },
	{ "x-method-override", FIELD_INSTEAD },
	{ "x-original-url", FIELD_INSTEAD },
	{ "x-rewrite-url", FIELD_INSTEAD },
};

static enum field kind_of(const struct relay_rules *rules, struct span name)
{
	if (span_is(name, rules->header))
		return FIELD_CREDENTIAL;
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (span_is(name, fields[i].name))
			return fields[i].kind;
	return FIELD_OTHER;
}

/* The placeholder alone, or after one word. */
static bool is_placeholder(const struct relay_rules *rules, struct span value)
{
	const char *space = memchr(value.p, ' ', value.len);
	size_t skip = space ? (size_t)(space - value.p) + 1 : 0;

	return value.len - skip == strlen(rules->placeholder) &&
	       !memcmp(value.p + skip, rules->placeholder, value.len - skip);
}

static bool parse_length(struct span value, uint64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < value.len; i++) {
		if (value.p[i] < '0' || value.p[i] > '9')
			return false;
		*ret = *ret * 10 + (uint64_t)(value.p[i] - '0');
	}
	return value.len > 0 && value.len <= 18;
}

struct seen {
	bool length, encoding, credential;
};

static bool read_field(const struct relay_rules *rules, struct span line, struct wire_out *out,
		       struct seen *seen, struct relay_request *r)
{
	const char *colon = memchr(line.p, ':', line.len);
	struct span name = { line.p, colon ? (size_t)(colon - line.p) : 0 }, value;

	for (size_t i = 0; !span_is(name, rules->header) && i < name.len; i++)
		if (!is_name_char(name.p[i]))
			name.len = 0;
	if (!name.len)
		return refuse(r, 400, "not a field");
	value = (struct span){ colon + 1, line.len - name.len - 1 };
	for (; value.len && (*value.p == ' ' || *value.p == '\t'); value.len--)
		value.p++;
	while (value.len && (value.p[value.len - 1] == ' ' || value.p[value.len - 1] == '\t'))
		value.len--;
	for (size_t i = 0; i < value.len; i++)
		if ((unsigned char)value.p[i] < ' ' ? value.p[i] != '\t' : value.p[i] == 127)
			return refuse(r, 400, "not a field's value");
	switch (kind_of(rules, name)) {
	case FIELD_DROP:
		return false;
	case FIELD_CREDENTIAL:
		seen->credential = true;
		return is_placeholder(rules, value)
			       ? false
			       : refuse(r, 403, "a credential of somebody else's");
	case FIELD_INSTEAD:
		return refuse(r, 403, "a field that stands for another method or path");
	case FIELD_LENGTH:
		if (seen->length || !parse_length(value, &r->body.left))
			return refuse(r, 400, "not a length");
		seen->length = true;
		break;
	case FIELD_ENCODING:
		if (seen->encoding || !span_is(value, "chunked"))
			return refuse(r, 400, "this transfer encoding is not known");
		seen->encoding = true;
		break;
	default:
		break;
	}
	wire_put_bytes(out, line.p, line.len);
	wire_put_bytes(out, "\r\n", 2);
	return false;
}

/* --- the whole --- */

static void put_text(struct wire_out *out, const char *text)
{
	wire_put_bytes(out, text, strlen(text));
}

static void put_own_fields(const struct relay_rules *rules, struct blob value, struct wire_out *out)
{
	char port[16] = "";

	if (rules->port != 443)
		snprintf(port, sizeof(port), ":%u", rules->port);
	put_text(out, "host: ");
	put_text(out, rules->host);
	put_text(out, port);
	put_text(out, "\r\n");
	put_text(out, rules->header);
	put_text(out, ": ");
	put_text(out, rules->scheme);
	put_text(out, *rules->scheme ? " " : "");
	wire_put_bytes(out, value.p, value.len);
	put_text(out, "\r\n\r\n");
}

/* The length of the head with its empty line; 0: it is not all there. */
static size_t head_length(const char *bytes, size_t n)
{
	const char *end = memmem(bytes, n, "\r\n\r\n", 4);

	return end ? (size_t)(end - bytes) + 4 : 0;
}

/* All lines of the head up to the empty one; true: refused. */
static bool read_lines(const struct relay_rules *rules, const char *bytes, size_t len,
		       struct wire_out *out, struct seen *seen, struct relay_request *r)
{
	bool first = true;

	for (size_t at = 0; at < len - 2; first = false) {
		const char *end = memmem(bytes + at, len - at, "\r\n", 2);
		struct span line = { bytes + at, (size_t)(end - bytes) - at };

		if (memchr(line.p, '\n', line.len) || memchr(line.p, '\r', line.len) ||
		    memchr(line.p, '\0', line.len))
			return refuse(r, 400, "not a line");
		if (first ? read_line(rules, line, out, r) : read_field(rules, line, out, seen, r))
			return true;
		at += line.len + 2;
	}
	return false;
}

bool relay_request_read(const struct relay_rules *rules, const char *bytes, size_t n,
			struct blob value, struct wire_out *out, struct relay_request *ret)
{
	struct seen seen = { 0 };
	size_t begin = out->len;

	*ret = (struct relay_request){ .len = head_length(bytes, n) };
	if (!ret->len)
		return n >= REQUEST_HEAD_MAX ? refuse(ret, 431, "the head is too long") : false;
	if (ret->len > REQUEST_HEAD_MAX)
		return refuse(ret, 431, "the head is too long");
	if (!read_lines(rules, bytes, ret->len, out, &seen, ret)) {
		if (seen.length && seen.encoding)
			refuse(ret, 400, "two lengths");
		else if (!seen.credential)
			refuse(ret, 401, "the placeholder is missing");
		else
			put_own_fields(rules, value, out);
	}
	if (!ret->status && out->overflow)
		refuse(ret, 431, "the head is too long");
	if (ret->status) {
		out->len = begin;
		return true;
	}
	ret->body.chunked = seen.encoding;
	ret->body.at = seen.encoding ? BODY_SIZE : BODY_DATA;
	ret->body.done = !seen.encoding && !ret->body.left;
	return true;
}

/* --- the body --- */

/* One byte between the chunks. */
static bool take_frame(struct relay_body *b, char c)
{
	switch (b->at) {
	case BODY_SIZE:
		if (c == '\r' && b->digits) {
			b->at = BODY_SIZE_LF;
			return true;
		}
		if (hex_digit(c) < 0 || b->digits++ >= 15)
			return false; /* no extensions */
		b->left = b->left << 4 | (uint64_t)hex_digit(c);
		return true;
	case BODY_SIZE_LF:
		b->at = b->left ? BODY_DATA : BODY_END;
		b->digits = 0;
		return c == '\n';
	case BODY_AFTER:
		b->at = BODY_AFTER_LF;
		return c == '\r';
	case BODY_AFTER_LF:
		b->at = BODY_SIZE;
		return c == '\n';
	case BODY_END: /* no trailers */
		b->at = BODY_END_LF;
		return c == '\r';
	default:
		b->done = true;
		return c == '\n';
	}
}

ssize_t relay_body_take(struct relay_body *b, const char *bytes, size_t n)
{
	size_t at = 0;

	while (at < n && !b->done) {
		size_t data = b->at == BODY_DATA ? (size_t)MIN((uint64_t)(n - at), b->left) : 0;

		if (data) {
			at += data;
			b->left -= data;
			if (!b->left && b->chunked)
				b->at = BODY_AFTER;
			b->done = !b->left && !b->chunked;
		} else if (!take_frame(b, bytes[at++])) {
			return -1;
		}
	}
	return (ssize_t)at;
}
