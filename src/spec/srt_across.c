/* SPDX-License-Identifier: MIT */
/* What the keys of a SandboxRuntimeConfig demand of each other. The shape of the text is right. */
#include <string.h>

#include "spec/glob.h"
#include "spec/srt_schema.h"

struct across {
	const struct json_doc *doc;
	struct srt_findings *found;
	struct strv allowed;
	bool masks, disabled; /* the file rules are off */
};

static const struct json_span *get(const struct across *a, const char *group, const char *key)
{
	return json_span_get(a->doc, json_span_get(a->doc, json_doc_top(a->doc), group), key);
}

static char *place(const struct across *a, const char *list, size_t i, const char *rest)
{
	return arena_printf(a->found->arena, "%s.%zu%s", list, i, rest);
}

/* A pattern that was written for a directory, and would match nothing. */
static void check_deny_glob(const struct across *a, const char *text, char *where)
{
	size_t len = text ? strlen(text) : 0, end = len;

	while (end > 1 && text[end - 1] == '/')
		end--;
	if (a->disabled || end == len || (text[0] != '/' && text[0] != '~') ||
	    !glob_is_special(text))
		return;
	srt_add_issue(a->found, where,
		      "Deny glob \"%s\" ends in a separator, so as a pattern it can match no "
		      "path. Write \"%.*s\", which is also read as the path of that name "
		      "where it exists, or add a \"**\" segment to match at any depth.",
		      text, (int)end, text);
}

static void check_deny_globs(const struct across *a, const char *key)
{
	char *list = arena_printf(a->found->arena, "filesystem.%s", key);
	size_t i = 0;

	for (const struct json_span *s = json_span_first(a->doc, get(a, "filesystem", key)); s;
	     s = json_span_next(a->doc, s), i++)
		check_deny_glob(a, s->string, place(a, list, i, ""));
}

static void check_inject_hosts(const struct across *a, const char *list, size_t i,
			       const struct json_span *entry, bool masked)
{
	const struct json_span *hosts = json_span_get(a->doc, entry, "injectHosts");
	size_t n = 0;

	if (masked && hosts && !hosts->count)
		srt_add_issue(
			a->found, place(a, list, i, ""),
			"injectHosts is explicitly empty — the credential would be masked but "
			"never injected. Omit injectHosts to default to "
			"network.allowedDomains, or list the intended hosts.");
	for (const struct json_span *s = json_span_first(a->doc, hosts); s;
	     s = json_span_next(a->doc, s), n++)
		if (!srt_domain_covered(&a->allowed, s->string))
			srt_add_issue(
				a->found, place(a, place(a, list, i, ".injectHosts"), n, ""),
				"injectHosts entry \"%s\" is not reachable via "
				"network.allowedDomains — add \"%s\" (or a covering wildcard) "
				"to allowedDomains, or remove it from injectHosts.",
				s->string, s->string);
}

static void check_claims(const struct across *a, const char *key, char *where,
			 const struct json_span *entry)
{
	const struct json_span *claims = json_span_get(a->doc, entry, "maskClaims");

	if (claims && !json_span_get(a->doc, entry, "decode"))
		srt_add_issue(a->found, where,
			      "maskClaims requires decode — it names claims inside the "
			      "decoded payload. Set decode (e.g. \"jwt\"), or remove "
			      "maskClaims to mask the %s.",
			      strcmp(key, "files") ? "whole value" : "extracted value whole");
	if (claims && !claims->count)
		srt_add_issue(a->found, where,
			      "maskClaims is explicitly empty — no claim would ever be masked. "
			      "Omit maskClaims to mask the whole token, or list the claims to "
			      "protect.");
}

static void check_file(const struct across *a, const char *list, size_t i, const char *path,
		       bool masked)
{
	size_t len = strlen(path);

	if (!masked)
		check_deny_glob(a, path, place(a, list, i, ".path"));
	else if (len && path[len - 1] == '/')
		srt_add_issue(a->found, place(a, list, i, ".path"),
			      "Credential mode \"mask\" applies to a single file, not a "
			      "directory. Use mode \"deny\" for \"%s\", or point at the "
			      "credential file inside it.",
			      path);
}

static void check_entries(struct across *a, const char *key)
{
	char *list = arena_printf(a->found->arena, "credentials.%s", key);
	size_t i = 0;

	for (const struct json_span *s = json_span_first(a->doc, get(a, "credentials", key)); s;
	     s = json_span_next(a->doc, s), i++) {
		const struct json_span *path = json_span_get(a->doc, s, "path");
		bool masked = !strcmp(json_span_get(a->doc, s, "mode")->string, "mask");

		a->masks |= masked;
		check_inject_hosts(a, list, i, s, masked);
		check_claims(a, key, place(a, list, i, ".maskClaims"), s);
		if (path)
			check_file(a, list, i, path->string, masked);
	}
}

static bool is_masked(const struct across *a, const char *name)
{
	for (const struct json_span *s = json_span_first(a->doc, get(a, "credentials", "envVars"));
	     s; s = json_span_next(a->doc, s))
		if (!strcmp(json_span_get(a->doc, s, "name")->string, name) &&
		    !strcmp(json_span_get(a->doc, s, "mode")->string, "mask"))
			return true;
	return false;
}

static void check_aws_pairs(const struct across *a)
{
	static const char *const keys[] = { "accessKeyIdVar", "secretAccessKeyVar",
					    "sessionTokenVar" };
	size_t i = 0;

	for (const struct json_span *s = json_span_first(a->doc, get(a, "credentials", "awsPairs"));
	     s; s = json_span_next(a->doc, s), i++)
		for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
			const struct json_span *name = json_span_get(a->doc, s, keys[k]);

			if (!name || is_masked(a, name->string))
				continue;
			srt_add_issue(a->found,
				      arena_printf(a->found->arena, "credentials.awsPairs.%zu.%s",
						   i, keys[k]),
				      "\"%s\" does not reference a credentials.envVars entry with "
				      "mode \"mask\" — an AWS pair links already-masked variables; "
				      "add the entry (masking is the opt-in for SigV4 re-signing).",
				      name->string);
		}
}

void srt_check_across(const struct json_doc *doc, struct srt_findings *findings)
{
	struct across a = { .doc = doc, .found = findings };
	const struct json_span *plain, *list, *off = get(&a, "filesystem", "disabled");

	a.disabled = off && off->kind == JSON_SPAN_TRUE;
	list = get(&a, "network", "allowedDomains");
	for (const struct json_span *s = json_span_first(doc, list); s; s = json_span_next(doc, s))
		strv_add(findings->arena, &a.allowed, s->string);
	check_deny_globs(&a, "denyRead");
	check_deny_globs(&a, "denyWrite");
	check_entries(&a, "envVars");
	check_entries(&a, "files");
	plain = get(&a, "credentials", "allowPlaintextInject");
	if (a.masks && !get(&a, "network", "tlsTerminate") &&
	    !(plain && plain->kind == JSON_SPAN_TRUE))
		srt_add_issue(
			findings, "credentials",
			"Credential masking requires network.tlsTerminate so substitution "
			"runs only over a verified TLS connection. Enable tlsTerminate, or set "
			"credentials.allowPlaintextInject to opt out (not recommended).");
	check_aws_pairs(&a);
}
