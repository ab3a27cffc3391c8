/* SPDX-License-Identifier: MIT */
/* Claude Code's settings: the whole lattice (every key, every source, locked or not), lines, rules. */
#include "spec/claude.h"

#include "base/json_span.h"
#include "lib/tap.h"

static struct err err;
static struct claude_place place = { .home = "/home/u",
				     .config = "/home/u/.claude",
				     .project = "/p",
				     .cwd = "/p",
				     .flag_dir = "/flags",
				     .trusted = true };

static const char *const paths[CLAUDE_SCOPES] = {
	[CLAUDE_USER] = "/home/u/.claude/settings.json",
	[CLAUDE_PROJECT] = "/p/.claude/settings.json",
	[CLAUDE_LOCAL] = "/p/.claude/settings.local.json",
	[CLAUDE_FLAG] = "/flags/f.json",
	[CLAUDE_MANAGED] = "/etc/claude-code/managed-settings.json",
};

/* The settings of one text for each scope; NULL: no file. */
static int load(struct claude_settings *s, const char *const texts[CLAUDE_SCOPES])
{
	struct claude_source sources[CLAUDE_SCOPES];
	size_t n = 0;

	for (int i = 0; i < CLAUDE_SCOPES; i++)
		if (texts[i])
			sources[n++] = (struct claude_source){ (enum claude_scope)i, paths[i],
							       texts[i], strlen(texts[i]) };
	return claude_settings_parse(s, sources, n, &place, &err);
}

/* {"a": {"b": VALUE}} for "a.b". */
static char *nest(struct arena *arena, const char *name, const char *value)
{
	const char *dot = strchr(name, '.');

	if (!dot)
		return arena_printf(arena, "{\"%s\": %s}", name, value);
	return arena_printf(arena, "{\"%.*s\": %s}", (int)(dot - name), name,
			    nest(arena, dot + 1, value));
}

/*
 * One row: a value, and what becomes of it in a project's files (both of them) when nothing locks,
 * when a policy locks, and when the folder is not trusted. Everywhere else it counts, or as
 * 'elsewhere' says. Written from the description of the rules, not from the program's table.
 */
static const struct row {
	const char *key, *value;
	enum claude_fate free, locked, untrusted, elsewhere;
	bool managed_only;
} rows[] = {
#define C CLAUDE_COUNTS
#define L CLAUDE_LOCKED
#define U CLAUDE_UNTRUSTED
#define P CLAUDE_NOT_PROJECT
#define N CLAUDE_NO_EFFECT
	{ "sandbox.enabled", "true", C, C, C, C },
	{ "sandbox.enabled", "false", C, L, U, C },
	{ "sandbox.failIfUnavailable", "true", C, C, C, C },
	{ "sandbox.failIfUnavailable", "false", C, L, U, C },
	{ "sandbox.autoAllowBashIfSandboxed", "true", C, C, U, C },
	{ "sandbox.autoAllowBashIfSandboxed", "false", C, C, C, C },
	{ "sandbox.excludedCommands", "[\"x:*\"]", C, L, U, C },
	{ "sandbox.ignoreViolations", "{\"*\": [\"x\"]}", C, L, U, C },
	{ "sandbox.network.allowedDomains", "[\"x.org\"]", C, L, U, C },
	{ "sandbox.network.deniedDomains", "[\"x.org\"]", C, C, C, C },
	{ "sandbox.network.strictAllowlist", "true", P, P, P, C },
	{ "sandbox.network.strictAllowlist", "false", P, P, P, C },
	{ "sandbox.network.allowManagedDomainsOnly", "true", .managed_only = true },
	{ "sandbox.network.allowUnixSockets", "[\"/x\"]", C, L, U, C },
	{ "sandbox.network.allowAllUnixSockets", "true", C, L, U, C },
	{ "sandbox.network.allowAllUnixSockets", "false", C, C, C, C },
	{ "sandbox.network.allowLocalBinding", "true", N, L, U, N },
	{ "sandbox.network.allowLocalBinding", "false", N, N, N, N },
	{ "sandbox.network.allowMachLookup", "[\"x\"]", N, L, U, N },
	{ "sandbox.network.httpProxyPort", "3128", C, L, U, C },
	{ "sandbox.network.socksProxyPort", "1080", C, L, U, C },
	{ "sandbox.network.tlsTerminate", "{}", P, P, P, C },
	{ "sandbox.filesystem.allowWrite", "[\"/x\"]", C, L, U, C },
	{ "sandbox.filesystem.denyWrite", "[\"/x\"]", C, C, C, C },
	{ "sandbox.filesystem.denyRead", "[\"/x\"]", C, C, C, C },
	{ "sandbox.filesystem.allowRead", "[\"/x\"]", C, L, U, C },
	{ "sandbox.filesystem.allowManagedReadPathsOnly", "true", .managed_only = true },
	{ "sandbox.filesystem.disabled", "true", P, P, P, C },
	{ "sandbox.filesystem.disabled", "false", P, P, P, C },
	{ "sandbox.credentials.files", "[{\"path\": \"/x\", \"mode\": \"deny\"}]", C, C, C, C },
	{ "sandbox.credentials.envVars", "[{\"name\": \"X\", \"mode\": \"deny\"}]", C, C, C, C },
	{ "sandbox.credentials.allowPlaintextInject", "true", P, P, P, C },
	{ "sandbox.credentials.awsPairs", "[{}]", P, P, P, C },
	{ "sandbox.credentials.sigv4", "{}", P, P, P, C },
	{ "sandbox.enableWeakerNestedSandbox", "true", C, L, U, C },
	{ "sandbox.enableWeakerNestedSandbox", "false", C, C, C, C },
	{ "sandbox.allowNestedUserNamespaces", "true", P, P, P, C },
	{ "sandbox.allowNestedUserNamespaces", "false", C, C, C, C },
	{ "sandbox.enableWeakerNetworkIsolation", "true", N, L, U, N },
	{ "sandbox.enableWeakerNetworkIsolation", "false", N, N, N, N },
	{ "sandbox.allowAppleEvents", "true", P, P, P, N },
	{ "sandbox.enabledPlatforms", "[\"linux\"]", N, N, N, N },
	{ "sandbox.ripgrep", "{}", P, P, P, N },
	{ "sandbox.bwrapPath", "\"/x\"", .elsewhere = N, .managed_only = true },
	{ "sandbox.socatPath", "\"/x\"", .elsewhere = N, .managed_only = true },
	{ "permissions.allow", "[\"Bash(x:*)\"]", C, C, U, C },
	{ "permissions.allow", "[\"Edit(//x)\"]", C, L, U, C },
	{ "permissions.allow", "[\"WebFetch(domain:x.org)\"]", C, L, U, C },
	{ "permissions.ask", "[\"Bash(x:*)\"]", C, C, C, C },
	{ "permissions.deny", "[\"Bash(x:*)\"]", C, C, C, C },
	{ "permissions.deny", "[\"Edit(//x)\"]", C, C, C, C },
	{ "permissions.additionalDirectories", "[\"/x\"]", C, L, U, C },
	{ "permissions.defaultMode", "\"plan\"", N, N, N, N },
	{ "permissions.disableBypassPermissionsMode", "\"disable\"", N, N, N, N },
	{ "allowManagedPermissionRulesOnly", "true", .managed_only = true },
#undef C
#undef L
#undef U
#undef P
#undef N
};

static const struct {
	const char *name;
	enum claude_scope scope;
	const char *text;
	bool trusted;
} states[] = {
	{ "free", CLAUDE_MANAGED, "{}", true },
	{ "locked by the managed file", CLAUDE_MANAGED,
	  "{\"sandbox\": {\"allowUnsandboxedCommands\": false}}", true },
	{ "locked by --settings", CLAUDE_FLAG,
	  "{\"sandbox\": {\"allowUnsandboxedCommands\": false}}", true },
	{ "not locked by the user", CLAUDE_USER,
	  "{\"sandbox\": {\"allowUnsandboxedCommands\": false}}", true },
	{ "untrusted", CLAUDE_MANAGED, "{}", false },
	{ "locked by allowManagedDomainsOnly", CLAUDE_MANAGED,
	  "{\"sandbox\": {\"network\": {\"allowManagedDomainsOnly\": true}}}", true },
};

static bool allows_domain(const struct row *row)
{
	return !strcmp(row->key, "sandbox.network.allowedDomains") ||
	       (!strcmp(row->key, "permissions.allow") && strstr(row->value, "WebFetch"));
}

static enum claude_fate expected(const struct row *row, enum claude_scope scope, size_t state)
{
	if (row->managed_only)
		return scope == CLAUDE_MANAGED ? row->elsewhere : CLAUDE_MANAGED_ONLY;
	if (state == 5 && scope != CLAUDE_MANAGED && allows_domain(row))
		return CLAUDE_LOCKED;
	if (scope != CLAUDE_PROJECT && scope != CLAUDE_LOCAL)
		return row->elsewhere;
	if (state == 4)
		return row->untrusted;
	return state == 1 || state == 2 || state == 5 ? row->locked : row->free;
}

/* The key's only value of that scope. */
static const struct claude_value *value_of(const struct claude_settings *s, const char *key,
					   enum claude_scope scope)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->values[i].key && s->values[i].scope == scope &&
		    !strcmp(s->values[i].key->name, key))
			return &s->values[i];
	return NULL;
}

static void test_lattice(void)
{
	size_t bad = 0, n = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		for (int scope = 0; scope < CLAUDE_SCOPES; scope++) {
			for (size_t k = 0; k < ARRAY_LEN(states); k++) {
				_cleanup_(arena_release) struct arena arena = { NULL };
				_cleanup_claude_ struct claude_settings s = { .n = 0 };
				const char *texts[CLAUDE_SCOPES] = { NULL };
				const struct claude_value *v;
				enum claude_fate want = expected(&rows[i], scope, k);

				texts[states[k].scope] = states[k].text;
				if ((int)states[k].scope == scope && k)
					continue; /* its file is taken */
				texts[scope] = nest(&arena, rows[i].key, rows[i].value);
				place.trusted = states[k].trusted;
				n++;
				if (load(&s, texts) == 0 &&
				    (v = value_of(&s, rows[i].key, scope)) && v->fate == want)
					continue;
				bad++;
				diag("%s: %s from %s, %s: %s, not %s", rows[i].key, rows[i].value,
				     claude_scope_name(scope), states[k].name,
				     s.n ? claude_fate_name(value_of(&s, rows[i].key, scope)->fate)
					 : err.msg,
				     claude_fate_name(want));
			}
		}
	}
	place.trusted = true;
	ok(!bad && n > 1000, "the lattice: %zu combinations", n);
	for (size_t i = 0; claude_key(i); i++) {
		bool tested = !strcmp(claude_key(i)->name, "sandbox.allowUnsandboxedCommands");

		for (size_t k = 0; k < ARRAY_LEN(rows); k++)
			tested = tested || !strcmp(rows[k].key, claude_key(i)->name);
		ok(tested, "the table has %s", claude_key(i)->name);
	}
}

/* Of each two sources the stronger one's scalar counts; lists have both. */
static void test_precedence(void)
{
	for (int weak = 0; weak < CLAUDE_SCOPES; weak++) {
		for (int strong = weak + 1; strong < CLAUDE_SCOPES; strong++) {
			_cleanup_claude_ struct claude_settings s = { .n = 0 };
			const char *texts[CLAUDE_SCOPES] = { NULL };
			const struct claude_value *v, *list;

			texts[weak] = "{\"sandbox\": {\"enabled\": false, \"network\": "
				      "{\"deniedDomains\": [\"a.org\", \"b.org\"]}}}";
			texts[strong] = "{\"sandbox\": {\"enabled\": true, \"network\": "
					"{\"deniedDomains\": [\"b.org\", \"c.org\"]}}}";
			load(&s, texts);
			v = claude_get(&s, "sandbox.enabled");
			ok(v && v->truth && (int)v->scope == strong, "%s beats %s",
			   claude_scope_name(strong), claude_scope_name(weak));
			v = value_of(&s, "sandbox.enabled", weak);
			ok(v->fate == CLAUDE_OVERRIDDEN && v->by && (int)v->by->scope == strong,
			   "and what lost says to whom");
			list = claude_each(&s, NULL, "sandbox.network.deniedDomains");
			is_str(list->string, "b.org", "lists are joined");
			list = claude_each(&s, list, "sandbox.network.deniedDomains");
			is_str(list->string, "c.org", "in order");
			list = claude_each(&s, list, "sandbox.network.deniedDomains");
			is_str(list->string, "a.org", "each entry once");
			ok(!claude_each(&s, list, "sandbox.network.deniedDomains"), "no more");
		}
	}
}

/* With allowManagedDomainsOnly nobody else widens; everybody may deny. */
static void test_managed_domains(void)
{
	_cleanup_claude_ struct claude_settings s = { .n = 0 };
	static const char other[] =
		"{\"sandbox\": {\"network\": {\"allowedDomains\": [\"o.org\"], "
		"\"deniedDomains\": [\"d.org\"]}}, \"permissions\": {\"allow\": "
		"[\"WebFetch(domain:w.org)\", \"Bash(a)\"]}}";
	const char *texts[CLAUDE_SCOPES] = {
		other, other, other, other,
		"{\"sandbox\": {\"network\": {\"allowManagedDomainsOnly\": true, "
		"\"allowedDomains\": [\"m.org\"]}}, \"permissions\": {\"allow\": "
		"[\"WebFetch(domain:mw.org)\"]}}"
	};
	struct claude_srt srt;

	load(&s, texts);
	claude_to_srt(&s, &srt);
	ok(strstr(srt.text.s, "m.org") && strstr(srt.text.s, "mw.org"), "managed ones count");
	ok(!strstr(srt.text.s, "o.org") && !strstr(srt.text.s, "\"w.org"), "no others");
	ok(strstr(srt.text.s, "d.org"), "denied ones count from everywhere");
	ok(claude_each(&s, NULL, "permissions.allow"), "a Bash rule goes on");
	claude_srt_release(&srt);
}

/* An allowed host that is none is reported and allows nothing. */
static void test_bad_hosts(void)
{
	_cleanup_claude_ struct claude_settings s = { .n = 0 };
	const char *texts[CLAUDE_SCOPES] = {
		"{\"sandbox\": {\"network\": {\"allowedDomains\": [\"*.com\", \"*\", "
		"\"ok.org\"]}}, \"permissions\": {\"allow\": [\"WebFetch(domain:*)\"]}}"
	};
	struct claude_srt srt;

	load(&s, texts);
	is_int((int)s.values[0].fate, CLAUDE_INVALID, "*.com");
	is_int((int)s.values[1].fate, CLAUDE_INVALID, "*");
	is_int((int)s.values[2].fate, CLAUDE_COUNTS, "a host");
	is_int((int)s.values[3].fate, CLAUDE_INVALID, "a rule for *");
	claude_to_srt(&s, &srt);
	ok(!strstr(srt.text.s, "\"*") && strstr(srt.text.s, "ok.org"), "they allow nothing");
	claude_srt_release(&srt);
}

static void test_managed_rules(void)
{
	_cleanup_claude_ struct claude_settings s = { .n = 0 };
	static const char other[] = "{\"permissions\": {\"allow\": [\"Bash(a)\"], \"deny\": "
				    "[\"Bash(d)\"]}}";
	const char *texts[CLAUDE_SCOPES] = { other, other, other, other,
					     "{\"allowManagedPermissionRulesOnly\": true}" };

	load(&s, texts);
	ok(!claude_each(&s, NULL, "permissions.allow"), "no allow rule of others");
	ok(claude_each(&s, NULL, "permissions.deny"), "deny rules of others go on");
}

static void test_places(void)
{
	_cleanup_claude_ struct claude_settings s = { .n = 0 };
	const char *texts[CLAUDE_SCOPES] = {
		[CLAUDE_LOCAL] = "{\n  // mine\n  \"sandbox\": {\n    \"network\": {\n"
				 "      \"allowedDomains\": [\n        \"a.org\",\n"
				 "        \"b.org\",\n      ]\n    },\n    \"enabld\": true\n  },\n"
				 "  \"model\": \"x\"\n}\n"
	};
	const struct claude_value *v;

	load(&s, texts);
	v = claude_each(&s, NULL, "sandbox.network.allowedDomains");
	v = claude_each(&s, v, "sandbox.network.allowedDomains");
	is_str(v->name, "sandbox.network.allowedDomains[1]", "an entry's name");
	is_int(v->line, 7, "its line");
	is_str(v->path, paths[CLAUDE_LOCAL], "its file");
	is_str(s.values[2].name, "sandbox.enabld", "an unknown key is kept");
	is_int((int)s.values[2].fate, CLAUDE_UNKNOWN, "as such");
	is_int((int)s.values[3].fate, CLAUDE_NOT_POLICY, "and so is one of Claude Code's own");
	ok(!s.values[3].json, "without its value");
}

/* Two readers could each believe another one of them. */
static void test_dots(void)
{
	_cleanup_claude_ struct claude_settings s = { .n = 0 };
	const char *texts[CLAUDE_SCOPES] = {
		[CLAUDE_FLAG] = "{\"sandbox.allowUnsandboxedCommands\": false}",
		[CLAUDE_LOCAL] = "{\"sandbox.enabled\": true, \"sandbox\": {\"enabled\": false,"
				 "\"filesystem.denyRead\": [\"/x\"]}}",
	};

	load(&s, texts);
	ok(claude_mode(&s) == CLAUDE_DISABLED, "a key with a dot in it is not a key in an object");
	ok(!claude_get(&s, "sandbox.filesystem.denyRead") && !s.lock, "... wherever it stands");
	for (size_t i = 0; i < s.n; i++)
		ok(s.values[i].fate == CLAUDE_UNKNOWN || s.values[i].key, "%s is told of",
		   s.values[i].name);
}

static void test_refused(void)
{
	static const char *const cases[][2] = {
		{ "{\"sandbox\": {\"enabled\": \"yes\"}}",
		  "/p/.claude/settings.json:1:25: sandbox.enabled: must be true or false, not a "
		  "string" },
		{ "{\"sandbox\": []}",
		  "/p/.claude/settings.json:1:13: sandbox: must be an object, not a list" },
		{ "{\"sandbox\": {\"network\": {\"httpProxyPort\": 70000}}}",
		  "/p/.claude/settings.json:1:43: sandbox.network.httpProxyPort: must be a port, 1 "
		  "to 65535, not a number" },
		{ "{\"permissions\": {\"deny\": [1]}}",
		  "/p/.claude/settings.json:1:27: permissions.deny[0]: must be a string, not a "
		  "number" },
		{ "{\"permissions\": {\"deny\": \"x\"}}",
		  "/p/.claude/settings.json:1:26: permissions.deny: must be a list, not a string" },
		{ "{\"sandbox\": {\"enabled\": true",
		  "/p/.claude/settings.json:1:29: the text ends too early" },
		{ "7", "/p/.claude/settings.json:1:1: the settings: must be an object, not a "
		       "number" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_claude_ struct claude_settings s = { .n = 0 };
		const char *texts[CLAUDE_SCOPES] = { [CLAUDE_PROJECT] = cases[i][0] };

		ok(load(&s, texts) < 0, "refused: %s", cases[i][1]);
		is_str(err.msg, cases[i][1], "and it says where");
	}
}

static void test_rules(void)
{
	static const struct {
		const char *what, *text;
		bool covers;
	} cases[] = {
		{ "git status", "git status", true },
		{ "git status", "git status -s", false },
		{ "git:*", "git", true },
		{ "git:*", "git push", true },
		{ "git:*", "gitk", false },
		{ "git push:*", "git push origin", true },
		{ "git push:*", "git pushx", false },
		{ "git *", "git", true },
		{ "git *", "git log", true },
		{ "git *", "gitk", false },
		{ "git * main", "git push origin main", true },
		{ "git * main", "git push main x", false },
		{ "*", "anything", true },
		{ "npm run test*", "npm run test:unit", true },
		{ "echo \\*", "echo *", true },
		{ "echo \\*", "echo x", false },
		{ "* --help", "x --help", true },
		{ "a*b*c", "aXbYbc", true },
	};
	struct claude_rule rule;
	struct arena arena = { NULL };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		is_int(claude_rule_covers(cases[i].what, cases[i].text), cases[i].covers, "%s, %s",
		       cases[i].what, cases[i].text);
	ok(claude_rule_parse(&arena, "Bash", &rule) && !rule.what, "a whole tool");
	ok(claude_rule_parse(&arena, "Bash(*)", &rule) && !rule.what, "the same in brackets");
	ok(claude_rule_parse(&arena, "Bash(a (b))", &rule), "brackets in a rule");
	is_str(rule.what, "a (b)", "are its own");
	ok(!claude_rule_parse(&arena, "Bash(a", &rule), "an open bracket");
	ok(!claude_rule_parse(&arena, "", &rule), "nothing");
	ok(!claude_rule_parse(&arena, "rm -rf", &rule), "no tool's name");
	ok(claude_rule_parse(&arena, "mcp__a__b", &rule), "a tool of a server");
	arena_release(&arena);
}

static void test_effects(void)
{
	static const struct {
		const char *rule, *list;
		enum claude_scope scope;
		enum claude_effect effect;
		const char *want;
	} cases[] = {
		{ "Edit(//etc/x)", "allow", CLAUDE_USER, CLAUDE_EFFECT_ALLOW_WRITE, "/etc/x" },
		{ "Edit(/src/**)", "allow", CLAUDE_PROJECT, CLAUDE_EFFECT_ALLOW_WRITE, "/p/src" },
		{ "Edit(/src)", "deny", CLAUDE_USER, CLAUDE_EFFECT_DENY_WRITE,
		  "/home/u/.claude/src" },
		{ "Edit(/src)", "deny", CLAUDE_FLAG, CLAUDE_EFFECT_DENY_WRITE, "/flags/src" },
		{ "Edit(/src)", "deny", CLAUDE_MANAGED, CLAUDE_EFFECT_DENY_WRITE, "/p/src" },
		{ "Edit(~/x/)", "deny", CLAUDE_USER, CLAUDE_EFFECT_DENY_WRITE, "/home/u/x" },
		{ "Read(.env)", "deny", CLAUDE_PROJECT, CLAUDE_EFFECT_DENY_READ, "/p/**/.env" },
		{ "Read(./.env)", "deny", CLAUDE_USER, CLAUDE_EFFECT_DENY_READ, "/p/.env" },
		{ "Read(a/*.pem)", "deny", CLAUDE_USER, CLAUDE_EFFECT_DENY_READ, "/p/a/*.pem" },
		{ "Read(**)", "deny", CLAUDE_USER, CLAUDE_EFFECT_DENY_READ, "/p/**" },
		{ "Read(x)", "allow", CLAUDE_USER, CLAUDE_EFFECT_NONE, NULL },
		{ "Read(x)", "ask", CLAUDE_USER, CLAUDE_EFFECT_NONE, NULL },
		{ "Write(x/y)", "deny", CLAUDE_USER, CLAUDE_EFFECT_DENY_WRITE, "/p/x/y" },
		{ "Write(x)", "allow", CLAUDE_USER, CLAUDE_EFFECT_NONE, NULL },
		{ "Edit", "deny", CLAUDE_USER, CLAUDE_EFFECT_NONE, NULL },
		{ "WebFetch(domain:x.org)", "allow", CLAUDE_USER, CLAUDE_EFFECT_ALLOW_DOMAIN,
		  "x.org" },
		{ "WebFetch(domain:x.org)", "deny", CLAUDE_USER, CLAUDE_EFFECT_DENY_DOMAIN,
		  "x.org" },
		{ "WebFetch", "allow", CLAUDE_USER, CLAUDE_EFFECT_NONE, NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(arena_release) struct arena arena = { NULL };
		struct claude_value value = { .scope = cases[i].scope };
		struct claude_rule rule;
		const char *to = NULL;

		claude_rule_parse(&arena, cases[i].rule, &rule);
		rule.value = &value;
		is_int((int)claude_rule_effect(&arena, &rule, cases[i].list, &place, &to),
		       (int)cases[i].effect, "%s %s", cases[i].list, cases[i].rule);
		is_str(to, cases[i].want, "leads to");
	}
}

static void test_paths(void)
{
	static const struct {
		const char *text;
		enum claude_scope scope;
		const char *want;
	} cases[] = {
		{ "/x/", CLAUDE_USER, "/x" },
		{ "//x", CLAUDE_PROJECT, "/x" },
		{ "~/x", CLAUDE_PROJECT, "/home/u/x" },
		{ "~", CLAUDE_PROJECT, "/home/u" },
		{ "./x", CLAUDE_PROJECT, "/p/x" },
		{ "x/**", CLAUDE_LOCAL, "/p/x" },
		{ "x", CLAUDE_USER, "/home/u/.claude/x" },
		{ "x", CLAUDE_MANAGED, "/p/x" },
		{ "x", CLAUDE_FLAG, "/flags/x" },
		{ "../../x", CLAUDE_PROJECT, "/x" },
		{ "~x", CLAUDE_PROJECT, "/p/~x" },
		{ "/**", CLAUDE_PROJECT, "/**" },
	};
	struct arena arena = { NULL };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		is_str(claude_path(&arena, cases[i].text, cases[i].scope, &place), cases[i].want,
		       "%s from %s", cases[i].text, claude_scope_name(cases[i].scope));
	arena_release(&arena);
}

/* Every line of the SandboxRuntimeConfig leads back to where it came from. */
static void test_srt(void)
{
	_cleanup_claude_ struct claude_settings s = { .n = 0 };
	_cleanup_json_doc_ struct json_doc doc = { .spans = NULL };
	const char *texts[CLAUDE_SCOPES] = {
		[CLAUDE_USER] = "{\"sandbox\": {\"network\": {\"httpProxyPort\": 8080},\n"
				"\"ignoreViolations\": {\"npm\": [\"x\"]},\n"
				"\"credentials\": {\"envVars\": [{\"name\": \"T\", // secret\n"
				"\"mode\": \"deny\"}]}, \"allowNestedUserNamespaces\": true}}",
		[CLAUDE_PROJECT] = "{\"permissions\": {\"deny\": [\"Read(.env)\",\n"
				   "\"Edit(/dist)\"]}}",
	};
	const struct json_span *list;
	struct claude_srt srt;

	load(&s, texts);
	claude_to_srt(&s, &srt);
	is_int(json_doc_parse(&doc, srt.text.s, srt.text.len, 1 << 20, "srt", &err), 0, "JSON");
	list = json_span_get(&doc, json_span_get(&doc, json_doc_top(&doc), "filesystem"),
			     "denyWrite");
	list = json_span_first(&doc, list);
	is_str(list->string, "/p/dist", "a rule's path");
	ok(srt.lines[list->line - 1] && srt.lines[list->line - 1]->line == 2, "and its line");
	is_str(srt.lines[list->line - 1]->name, "permissions.deny[1]", "and its key");
	ok(strstr(srt.text.s, "{\"name\":\"T\",\"mode\":\"deny\"}"), "objects without comments");
	ok(strstr(srt.text.s, "\"npm\": [\"x\"]"), "ignored violations");
	ok(strstr(srt.text.s, "/p/.claude/settings.json"), "the settings protect themselves");
	is_int((long long)srt.n_lines, doc.n_spans ? (long long)srt.n_lines : -1, "lines");
	claude_srt_release(&srt);
}

static void test_modes(void)
{
	static const struct {
		const char *text;
		enum claude_mode mode;
	} cases[] = {
		{ "{}", CLAUDE_DISABLED },
		{ "", CLAUDE_DISABLED },
		{ "{\"sandbox\": {\"autoAllowBashIfSandboxed\": true}}", CLAUDE_DISABLED },
		{ "{\"sandbox\": {\"enabled\": true}}", CLAUDE_REGULAR },
		{ "{\"sandbox\": {\"enabled\": true, \"autoAllowBashIfSandboxed\": true}}",
		  CLAUDE_AUTO_ALLOW },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_claude_ struct claude_settings s = { .n = 0 };
		const char *texts[CLAUDE_SCOPES] = { [CLAUDE_LOCAL] = cases[i].text };

		load(&s, texts);
		is_int((int)claude_mode(&s), (int)cases[i].mode, "%s", cases[i].text);
	}
}

int main(void)
{
	test_lattice();
	test_precedence();
	test_managed_domains();
	test_bad_hosts();
	test_managed_rules();
	test_places();
	test_dots();
	test_refused();
	test_rules();
	test_effects();
	test_paths();
	test_srt();
	test_modes();
	return done();
}
