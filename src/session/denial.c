/* SPDX-License-Identifier: MIT */
/* A refusal as JSON, and as words. */
#include "session/denial.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"

static const struct {
	const char *reason, *key;
} limits[DENIAL_LIMITS] = {
	[DENIAL_MEMORY] = { "memory", "limits.memory" },
	[DENIAL_PROCESSES] = { "processes", "limits.pids" },
	[DENIAL_DISK] = { "disk", "limits.disk" },
};

void denial_of_limit(struct denial *ret, enum denial_limit limit, uint64_t value,
		     char text[DENIAL_LIMIT_MAX])
{
	static const char *const units[] = { "", "K", "M", "G", "T" };
	size_t unit = 0;

	while (limit != DENIAL_PROCESSES && unit + 1 < ARRAY_LEN(units) && value &&
	       value % 1024 == 0) {
		value /= 1024;
		unit++;
	}
	snprintf(text, DENIAL_LIMIT_MAX, "%llu%s", (unsigned long long)value, units[unit]);
	*ret = (struct denial){
		.what = "limit",
		.reason = limits[limit].reason,
		.rule = text,
		.key = limits[limit].key,
	};
}

static bool is_limit(const struct denial *d)
{
	return !strcmp(d->what, "limit");
}

bool denial_find_limit(const struct denial *d, enum denial_limit *ret)
{
	for (*ret = 0; is_limit(d) && d->reason && *ret < DENIAL_LIMITS; (*ret)++)
		if (!strcmp(d->reason, limits[*ret].reason))
			return true;
	return false;
}

void denial_add_members(struct str *out, const struct denial *d)
{
	json_add_member(out, "type", "deny");
	json_add_member(out, "what", d->what);
	json_add_member(out, "call", d->call);
	json_add_member(out, "args", d->args);
	json_add_member(out, "path", d->path);
	json_add_member(out, "name", d->name);
	json_add_member(out, "address", d->address);
	if (d->port)
		json_add_count(out, "port", d->port);
	json_add_member(out, "reason", d->reason);
	json_add_member(out, "rule", d->rule);
	json_add_member(out, "key", d->key);
	json_add_member(out, "origin", d->origin);
	json_add_member(out, "text", d->text);
	if (d->predicted)
		str_add(out, ",\"predicted\":true");
	if (d->made)
		str_add(out, ",\"made\":true");
}

bool denial_read(struct json_object *event, struct denial *ret)
{
	const char *type = json_text(event, "type");
	int64_t port = json_object_get_int64(json_object_object_get(event, "port"));

	if (!type || strcmp(type, "deny") != 0)
		return false;
	*ret = (struct denial){
		.what = json_text(event, "what"),
		.call = json_text(event, "call"),
		.args = json_text(event, "args"),
		.path = json_text(event, "path"),
		.name = json_text(event, "name"),
		.address = json_text(event, "address"),
		.port = port > 0 && port <= UINT16_MAX ? (uint16_t)port : 0,
		.reason = json_text(event, "reason"),
		.rule = json_text(event, "rule"),
		.key = json_text(event, "key"),
		.origin = json_text(event, "origin"),
		.text = json_text(event, "text"),
		.made = json_object_get_boolean(json_object_object_get(event, "made")),
		.predicted = json_object_get_boolean(json_object_object_get(event, "predicted")),
	};
	if (!ret->what)
		ret->what = "";
	return true;
}

void denial_add_path(struct str *out, const char *path, const char *home)
{
	const char *below = home && path[0] == '/' ? path_below(path, home) : NULL;

	if (below) {
		str_add(out, *below ? "~/" : "~");
		path = below;
	}
	str_add_escaped(out, path);
}

/* "name:443", "[fd00::1]:443", "name" */
static void add_host(struct str *out, const struct denial *d)
{
	const char *host = d->name ? d->name : d->address ? d->address : "a host";
	bool v6 = !d->name && d->port && strchr(host, ':');

	str_add(out, v6 ? "[" : "");
	str_add_escaped(out, host);
	str_add(out, v6 ? "]" : "");
	if (d->port)
		str_addf(out, ":%u", d->port);
}

/* "mount(\"tmpfs\", \"/mnt\")" */
static void add_call(struct str *out, const struct denial *d)
{
	str_add_escaped(out, d->call ? d->call : "?");
	str_add(out, "(");
	str_add_escaped(out, d->args ? d->args : "");
	str_add(out, ")");
}

static bool is_call(const struct denial *d)
{
	return !strcmp(d->what, "call");
}

/* "writing more to its private places (/tmp/x)" */
static void add_limited(struct str *out, const struct denial *d, const char *home)
{
	static const char *const acts[] = { "taking more memory", "having more processes",
					    "writing more to its private places" };
	enum denial_limit limit;

	str_add(out, denial_find_limit(d, &limit) ? acts[limit] : "having more");
	if (d->path) {
		str_add(out, " (");
		denial_add_path(out, d->path, home);
		str_add(out, ")");
	}
}

bool denial_is_link(const struct denial *d)
{
	return !strcmp(d->what, "write") && d->call && str_starts(d->call, "link") && d->path &&
	       !d->made && !d->rule;
}

void denial_add_act(struct str *out, const struct denial *d, const char *home)
{
	static const struct {
		const char *what, *words;
	} acts[] = {
		{ "write", "writing " },       { "read", "reading " },
		{ "lookup", "looking up " },   { "send", "sending to " },
		{ "sign", "a signature for" }, { "connect", "connecting to " },
		{ "call", "calling " },
	};
	const char *words = "";

	for (size_t i = 0; i < ARRAY_LEN(acts); i++)
		if (!strcmp(acts[i].what, d->what))
			words = acts[i].words;
	str_add(out, denial_is_link(d) ? "a hard link to " : words);
	if (is_limit(d))
		add_limited(out, d, home);
	else if (is_call(d))
		add_call(out, d);
	else if (d->path)
		denial_add_path(out, d->path, home);
	else if (d->name || d->address)
		add_host(out, d);
	else
		str_add(out, d->call ? "a datagram socket" : "something");
}

static const struct {
	const char *reason, *words;
} reasons[] = {
	{ "host-socket",
	  "a program outside listens there, and no allowUnixSockets entry covers it" },
	{ "datagram-socket", "UNIX datagram sockets of 32-bit programs cannot be checked" },
	{ "read-only", "the sandbox has it to read" },
	{ "namespaces", "namespaces and mounts of its own are kept from it" },
	{ "system-call", "no sandbox may make this system call" },
	{ "setuid", "no sandbox makes a program that runs as its owner" },
	{ "denied-name", "a rule denies it" },
	{ "port", "the host is allowed, but not at this port" },
	{ "direct-ip", "no rule allows this address" },
	{ "denied-address", "a rule denies it" },
	{ "bad-name", "that is no host name" },
	{ "names-full", "too many names were asked for" },
	{ "unassigned", "no name has this address" },
	{ "unspecified", "the name leads to no host" },
	{ "loopback", "the name leads to this machine" },
	{ "private", "the name leads to a private address" },
	{ "link-local", "the name leads to a link-local address" },
	{ "metadata", "the name leads to a metadata service" },
	{ "multicast", "the name leads to a multicast address" },
	{ "reserved", "the name leads to a reserved address" },
	{ "own-address", "the name leads to this machine" },
	{ "denied-resolved", "the name leads to an address that is denied" },
	{ "sni", "its TLS hello named another host" },
	{ "no-sni", "it sent no TLS name" },
	{ "bad-tls", "its TLS hello was malformed" },
	{ "udp", "UDP is not let out" },
	{ "relay-port", "that port is the sandbox's own" },
	{ "limit", "too many connections" },
	{ "resolve", "the name has no address" },
};

/* What stands where no rule does. */
static const char *missing_rule(const struct denial *d)
{
	if (!strcmp(d->what, "write"))
		return "no allowWrite covers it";
	return d->path ? "nothing allows it" : "no rule allows this host";
}

static void add_rule(struct str *out, const struct denial *d)
{
	bool protect = d->key && str_starts(d->key, "protect");

	str_add(out, "'");
	str_add_escaped(out, d->rule);
	str_add(out, protect ? "' is protected" : "' denies it");
	if (d->key && (!protect || strcmp(d->key, "protect") != 0)) {
		str_add(out, ", ");
		str_add_escaped(out, d->key);
	}
	if (d->origin) {
		str_add(out, " at ");
		str_add_escaped(out, d->origin);
	}
}

/* "limits.pids is 50 at FILE:LINE" */
static void add_limit(struct str *out, const struct denial *d)
{
	str_add_escaped(out, d->key ? d->key : "the limit");
	str_add(out, " is ");
	str_add_escaped(out, d->rule ? d->rule : "lower");
	if (d->origin) {
		str_add(out, " at ");
		str_add_escaped(out, d->origin);
	}
	if (d->text) {
		str_add(out, ", ");
		str_add_escaped(out, d->text);
	}
}

void denial_add_why(struct str *out, const struct denial *d)
{
	const char *reason = d->reason ? d->reason : "", *words = NULL;

	if (is_limit(d)) {
		add_limit(out, d);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (!strcmp(reasons[i].reason, reason))
			words = reasons[i].words;
	if (d->rule && !words) {
		add_rule(out, d);
		if (strchr(reason, ' ')) { /* which part of it */
			str_add(out, ": ");
			str_add_escaped(out, reason);
		}
	} else if (!strcmp(reason, "not-allowed") || !*reason) {
		str_add(out, missing_rule(d));
	} else {
		str_add_escaped(out, words ? words : reason);
	}
	if (d->rule && words) {
		str_add(out, ": ");
		str_add_escaped(out, d->rule);
		if (d->origin) {
			str_add(out, " at ");
			str_add_escaped(out, d->origin);
		}
	}
	if (d->text) {
		str_add(out, " (");
		str_add_escaped(out, d->text);
		str_add(out, ")");
	}
}

void denial_add_line(struct str *out, const struct denial *d)
{
	const char *cause = d->key ? d->key : d->reason;

	if (is_limit(d)) {
		str_add(out, "deny limit ");
		str_add_escaped(out, d->reason ? d->reason : "");
		str_add(out, " (");
		add_limit(out, d);
		str_add(out, ")");
		return;
	}
	if (is_call(d)) {
		str_add(out, "deny system-call ");
		add_call(out, d);
		str_add(out, " (");
		str_add_escaped(out, cause ? cause : "denied");
		str_add(out, ")");
		return;
	}
	if (!d->path && !d->call) {
		str_add(out, "deny network-outbound ");
		add_host(out, d);
		str_add(out, " (");
		str_add_escaped(out, d->text ? d->text : d->reason ? d->reason : "denied");
		str_add(out, ")");
		return;
	}
	str_add(out, !strcmp(d->what, "connect") ? "deny unix-" : "deny file-");
	str_add(out, d->what);
	str_add(out, " ");
	str_add_escaped(out, d->path ? d->path : d->call);
	str_add(out, " (");
	str_add_escaped(out, cause ? cause : "not in allowWrite");
	if (d->rule) {
		str_add(out, ": ");
		str_add_escaped(out, d->rule);
	}
	str_add(out, ")");
}

/* Whatever the texts are made of, as bytes: first the numbers, and which of the strings there are. */
static void add_key(struct str *key, const struct denial *d)
{
	const char *const strings[] = { d->what,   d->call, d->args, d->path,   d->name, d->address,
					d->reason, d->rule, d->key,  d->origin, d->text };
	struct {
		uint32_t port, flags;
	} head = { d->port,
		   (unsigned)d->firm | (unsigned)d->predicted << 1 | (unsigned)d->made << 2 };

	for (size_t i = 0; i < ARRAY_LEN(strings); i++)
		head.flags |= strings[i] ? 8U << i : 0;
	str_addn(key, (const char *)&head, sizeof(head));
	for (size_t i = 0; i < ARRAY_LEN(strings); i++)
		if (strings[i])
			str_addn(key, strings[i], strlen(strings[i]) + 1);
}

void denial_texts_make(struct denial_texts *texts, const struct denial *denial)
{
	struct str was = texts->key;

	texts->key = texts->other;
	texts->key.len = 0;
	texts->other = was;
	add_key(&texts->key, denial);
	if (texts->key.len == was.len && !memcmp(texts->key.s, was.s, was.len))
		return;
	texts->line.len = texts->members.len = 0;
	denial_add_line(&texts->line, denial);
	denial_add_members(&texts->members, denial);
}

void denial_texts_release(struct denial_texts *texts)
{
	str_release(&texts->key);
	str_release(&texts->other);
	str_release(&texts->line);
	str_release(&texts->members);
	*texts = (struct denial_texts){ 0 };
}
