/* SPDX-License-Identifier: MIT */
/*
 * The shortest change of settings that would allow what was refused, and what to think of before it
 * is made. A change names the very file, host or entry: nothing is widened by guessing, but that
 * what was to be made is the directory's business: its name may never come again. What
 * opens a way out of the sandbox (files that others obey, keys, sockets, rules that say no on purpose)
 * carries its risk with it.
 */
#include <fnmatch.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "os/fs.h"
#include "session/denial.h"
#include "spec/glob.h"

static const char *const dialects[] = {
	[FIX_RUN] = "run", [FIX_SRT] = "srt", [FIX_CLAUDE] = "claude"
};

const char *fix_dialect_name(enum fix_dialect dialect)
{
	return dialects[dialect];
}

bool fix_dialect_parse(const char *name, enum fix_dialect *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(dialects); i++)
		if (!strcmp(dialects[i], name)) {
			*ret = (enum fix_dialect)i;
			return true;
		}
	return false;
}

/* --- risks --- */

/* Seen from the home directory. */
static bool is_secret(const char *below)
{
	static const char *const names[] = {
		".ssh",
		".gnupg",
		".aws",
		".azure",
		".kube",
		".docker",
		".netrc",
		".npmrc",
		".pypirc",
		".git-credentials",
		".password-store",
		".mozilla",
		".config/gh",
		".config/gcloud",
		".config/chromium",
		".config/google-chrome",
		".local/share/keyrings",
		".claude",
		".claude.json",
		".cargo/credentials*",
		".config/wrapix",
		".local/state/wrapix",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!fnmatch(names[i], below, FNM_LEADING_DIR))
			return true;
	return false;
}

static bool is_key_file(const char *path)
{
	static const char *const patterns[] = {
		"id_*", "*.pem", "*.key", "*.p12", ".env", ".env.*"
	};

	for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
		if (!fnmatch(patterns[i], path_name(path), 0))
			return true;
	return false;
}

static bool meet(const char *a, const char *b)
{
	return path_is_below(a, b) || path_is_below(b, a);
}

/* One of those in which your shell looks for programs, by its name or behind a link, or around one. */
static bool has_programs(const char *path)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	const char *list = getenv("PATH");

	for (size_t len; list && *list; list += len + (list[len] == ':')) {
		const char *dir, *real;

		len = strcspn(list, ":");
		dir = path_join(&arena, "/", arena_strndup(&arena, list, len));
		real = *list == '/' ? os_realpath(&arena, dir) : NULL;
		if (*list == '/' && (meet(path, dir) || (real && meet(path, real))))
			return true;
	}
	return false;
}

const char *fix_path_risk(const char *path, bool write, const char *home)
{
	static const char *const system[] = { "/etc",   "/usr",  "/bin", "/sbin", "/lib",
					      "/lib64", "/boot", "/opt", "/root", "/var/lib",
					      "/sys",   "/proc", "/dev", "/run" };
	const char *below = home ? path_below(path, home) : NULL;

	if (!strcmp(path, "/"))
		return "that is everything";
	if (home && path_is_below(home, path))
		return "that is your whole home directory";
	if ((below && is_secret(below)) || is_key_file(path))
		return "keys or passwords may be in it";
	if (write && below && below[0] == '.')
		return "programs outside of the sandbox obey such files";
	for (size_t i = 0; write && i < ARRAY_LEN(system); i++)
		if (path_is_below(path, system[i]))
			return "it belongs to the system";
	if (write && has_programs(path))
		return "programs are looked for there, outside of the sandbox, too";
	return NULL;
}

bool fix_may_be_parent(const struct fix_place *place, const char *dir, bool write)
{
	return strcmp(dir, "/") != 0 && !fix_path_risk(dir, write, place->home) &&
	       (!place->cwd || !path_is_below(place->cwd, dir));
}

static bool is_shared(const char *dir)
{
	return !strcmp(dir, "/tmp") || !strcmp(dir, "/var/tmp") || !strcmp(dir, "/dev/shm");
}

/* --- what to change --- */

struct maker {
	struct arena *arena;
	const struct denial *d;
	const struct fix_place *place;
	struct fix *fix;
};

/* Claude Code keeps the same keys below "sandbox". */
static const char *key_of(const struct maker *m, const char *key)
{
	return m->place->dialect == FIX_CLAUDE ? arena_printf(m->arena, "sandbox.%s", key) : key;
}

static void set_path(const struct maker *m, const char *key, const char *path, const char *risk)
{
	const char *below = m->place->home ? path_below(path, m->place->home) : NULL;

	m->fix->key = key_of(m, key);
	m->fix->path = path;
	m->fix->value = below && *below ? arena_printf(m->arena, "~/%s", below) : path;
	m->fix->risk = risk;
	m->fix->literal = glob_is_special(m->fix->value);
	if (m->fix->literal && m->place->dialect == FIX_CLAUDE)
		*m->fix = (struct fix){ .none = "its name would be read as a pattern" };
}

/* The list that an entry stands in: "filesystem.denyWrite" of "filesystem.denyWrite[2]". */
static const char *list_of(struct arena *arena, const char *key)
{
	return arena_printf(arena, "%.*s", (int)strcspn(key, "["), key);
}

static void remove_entry(const struct maker *m, const char *key, const char *entry)
{
	*m->fix = (struct fix){ .key = list_of(m->arena, key),
				.value = entry,
				.remove = true,
				.risk = "somebody denied it on purpose" };
}

static void unprotect(const struct maker *m)
{
	const struct denial *d = m->d;

	if (!strcmp(d->key, "protect")) {
		if (m->place->dialect == FIX_CLAUDE)
			m->fix->none = "Claude Code's settings cannot lift the protection of names";
		else
			*m->fix = (struct fix){
				.key = "protect.remove",
				.value = d->rule,
				.risk = "programs outside of the sandbox obey such files",
			};
		return;
	}
	remove_entry(m, d->key, d->rule);
}

/* "~", "/", "Read(~)": all that the user has, of which parts are to be opened. */
static bool is_everything(const struct maker *m, const char *rule)
{
	const char *home = m->place->home;
	char *text = arena_strdup(m->arena, str_starts(rule, "Read(") ? rule + 5 : rule);
	size_t len;

	text += str_starts(text, "//"); /* Claude Code's absolute paths */
	len = strlen(text);
	while (len && strchr(")*/", text[len - 1]))
		text[--len] = '\0';
	return !len || !strcmp(text, "~") || (text[0] == '/' && home && path_is_below(home, text));
}

/* Who denies one directory means it; who denies everything opens parts of it. */
static void allow_read(const struct maker *m)
{
	const struct denial *d = m->d;
	const char *risk = fix_path_risk(d->path, !strcmp(d->what, "write"), m->place->home);

	if (!risk && d->rule && !is_everything(m, d->rule))
		risk = "somebody denied it on purpose";
	set_path(m, "filesystem.allowRead", d->path, risk);
}

/* A temporary name is another one the next time: what is to be made is allowed by its directory, where that
 * may be proposed. */
static void allow_write(const struct maker *m)
{
	const struct denial *d = m->d;
	const char *risk = fix_path_risk(d->path, true, m->place->home);
	const char *dir = d->made && !risk ? path_parent(m->arena, d->path) : NULL;

	if (dir && fix_may_be_parent(m->place, dir, true))
		set_path(m, "filesystem.allowWrite", dir,
			 is_shared(dir) ? "all programs have their temporary files there" : NULL);
	else
		set_path(m, "filesystem.allowWrite", d->path, risk);
}

static void fix_file(const struct maker *m)
{
	const struct denial *d = m->d;
	bool write = !strcmp(d->what, "write");
	bool denied_read = d->key && strstr(d->key, "denyRead");

	if (!d->rule && d->reason && !strcmp(d->reason, "read-only"))
		m->fix->none = "a directory of yours could be mounted there, without ':ro': "
			       "--mount DIR:PATH, or 'mounts' in wrapix.json";
	else if (!d->rule && d->reason && str_starts(d->reason, DENIAL_SEALED))
		m->fix->none = d->reason;
	else if (!d->rule && d->reason && strchr(d->reason, ' '))
		*m->fix = (struct fix){ .none = "git's own files are changed through git" };
	else if (denial_is_link(d)) /* who gets none makes a copy */
		m->fix->none = "with a second name it could be changed by it; a copy needs no link";
	else if (!d->rule)
		allow_write(m);
	else if (d->key && str_starts(d->key, "protect"))
		unprotect(m);
	else if (d->firm || (d->key && strstr(d->key, "credentials")))
		m->fix->none = "a credential is never given away; take its entry out to lift that";
	else if (denied_read || (d->key && !write && strstr(d->key, "permissions.deny")))
		allow_read(m);
	else if (d->key && strchr(d->key, '['))
		remove_entry(m, d->key, d->rule);
	else
		m->fix->none = "this file is what the sandbox itself rests on";
}

static void fix_socket(const struct maker *m)
{
	if (m->d->path) {
		set_path(m, "network.allowUnixSockets", m->d->path,
			 "the program that listens there runs outside, and does what it is told");
		return;
	}
	m->fix->key = key_of(m, "network.allowAllUnixSockets");
	m->fix->risk = "every program outside that listens on a socket could be told what to do";
}

static void fix_call(const struct maker *m)
{
	if (!m->d->reason || strcmp(m->d->reason, "namespaces") != 0) {
		m->fix->none = "no setting allows this system call";
		return;
	}
	/* No file of a project's may set it, the local one included. */
	if (m->place->dialect == FIX_CLAUDE) {
		m->fix->none =
			"sandbox.allowNestedUserNamespaces in your own ~/.claude/settings.json "
			"would; much more of the kernel is in reach then";
		return;
	}
	m->fix->key = m->place->dialect == FIX_RUN ? "allowNested" : "allowNestedUserNamespaces";
	m->fix->risk = "much more of the kernel is in reach of what may make namespaces";
}

/* Claude Code's settings know no such limit: it is a flag's or wrapix.json's. */
static void fix_limit(const struct maker *m)
{
	if (m->place->dialect == FIX_CLAUDE) {
		m->fix->none = "a larger limit in wrapix.json or on the command line would";
		return;
	}
	m->fix->key = m->d->key;
	m->fix->value = m->d->rule;
	m->fix->raise = m->d->key;
	m->fix->risk = "how much of this machine it may have is yours to say";
}

static const char *host_value(const struct maker *m)
{
	const struct denial *d = m->d;
	const char *host = d->name ? d->name : d->address;
	bool v6 = !d->name && strchr(host, ':');
	const char *text = v6 ? arena_printf(m->arena, "[%s]", host) : host;

	/* Only our own lists know ports. */
	return d->port && m->place->dialect == FIX_RUN
		       ? arena_printf(m->arena, "%s:%u", text, d->port)
		       : text;
}

static void allow_host(const struct maker *m, const char *value, const char *risk)
{
	m->fix->key = m->place->dialect == FIX_RUN ? "network.allow"
						   : key_of(m, "network.allowedDomains");
	m->fix->value = value;
	m->fix->risk = risk;
}

static void fix_host(const struct maker *m)
{
	static const char *const resolved[] = { "loopback", "private", "link-local",
						"own-address" };
	const struct denial *d = m->d;
	const char *reason = d->reason ? d->reason : "";

	if (!d->name && !d->address)
		return;
	if (!strcmp(reason, "not-allowed") || !strcmp(reason, "port"))
		allow_host(m, host_value(m), NULL);
	else if (!strcmp(reason, "direct-ip"))
		allow_host(m, host_value(m), "an address does not say who answers there");
	else if (!strcmp(reason, "denied-name") || !strcmp(reason, "denied-address"))
		remove_entry(m,
			     d->key                         ? d->key
			     : m->place->dialect == FIX_RUN ? "network.deny"
							    : key_of(m, "network.deniedDomains"),
			     d->rule ? d->rule : host_value(m));
	for (size_t i = 0; d->address && i < ARRAY_LEN(resolved); i++)
		if (!strcmp(reason, resolved[i]))
			allow_host(m,
				   strchr(d->address, ':')
					   ? arena_printf(m->arena, "[%s]", d->address)
					   : d->address,
				   "it is in your own network");
}

/* What a policy leaves to its own files no file of the user's can change. */
static void respect_locks(const struct maker *m)
{
	static const char *const keys[] = { "sandbox.network.allowedDomains",
					    "sandbox.filesystem.allowRead" };
	const char *const locks[] = { m->place->hosts_lock, m->place->paths_lock };

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (m->fix->key && !strcmp(m->fix->key, keys[i]) && locks[i])
			*m->fix = (struct fix){
				.none = arena_printf(m->arena, "a policy locks it: %s", locks[i])
			};
}

/* A session's own gate: of a level that the user set, the next one would let it in. */
static void fix_gate(const struct maker *m)
{
	static const char for_class[] = "protect.", for_path[] = "protect says that '";
	const char *level = strstr(m->d->reason, for_class);

	m->fix->none = "the name gate holds it; '--git direct' mounts the project without one";
	if (level) {
		level += strlen(for_class);
		m->fix->none = arena_printf(m->arena,
					    "'--protect %.*s=hold' would, until you accept it",
					    (int)strcspn(level, " "), level);
	} else if (str_starts(m->d->reason, for_path)) {
		level = m->d->reason + strlen(for_path);
		m->fix->none = arena_printf(m->arena, "'--protect ./%.*s=report' would",
					    (int)strcspn(level, "'"), level);
	}
}

void fix_make(struct arena *arena, const struct denial *d, const struct fix_place *place,
	      struct fix *ret)
{
	const struct maker m = { arena, d, place, ret };

	*ret = (struct fix){ .none = NULL };
	if (!strcmp(d->what, "limit")) {
		fix_limit(&m);
	} else if (!strcmp(d->what, "call")) {
		fix_call(&m);
	} else if (d->path && d->reason && strchr(d->reason, ' ') && place->dialect == FIX_RUN) {
		fix_gate(&m);
	} else if (d->path || d->call) {
		if (!strcmp(d->what, "connect"))
			fix_socket(&m);
		else if (d->path)
			fix_file(&m);
	} else if (strcmp(d->what, "sign") != 0) {
		fix_host(&m);
	}
	if (place->dialect == FIX_CLAUDE)
		respect_locks(&m);
	if (!ret->key && !ret->none)
		ret->none = "no setting allows this";
}

/* --- JSON and words --- */

void fix_add_value(struct str *out, const struct fix *fix)
{
	if (!fix->value) {
		str_add(out, "true");
		return;
	}
	str_add(out, fix->literal ? "{\"path\":" : "");
	json_add_string(out, fix->value);
	str_add(out, fix->literal ? ",\"literal\":true}" : "");
}

void fix_add_json(struct str *out, const struct fix *fix)
{
	str_add(out, "{");
	json_add_member(out, "key", fix->key);
	if (fix->key && !fix->value) {
		str_add(out, ",\"set\":true");
	} else if (fix->key) {
		json_add_member(out,
				fix->raise    ? "raise"
				: fix->remove ? "remove"
					      : "add",
				fix->value);
		if (fix->literal)
			str_add(out, ",\"literal\":true");
	}
	json_add_member(out, "risk", fix->risk);
	json_add_member(out, "none", fix->none);
	str_add(out, "}");
}

bool fix_read(struct json_object *event, struct fix *ret)
{
	struct json_object *fix = json_object_object_get(event, "fix");

	if (!json_object_is_type(fix, json_type_object))
		return false;
	*ret = (struct fix){
		.key = json_text(fix, "key"),
		.value = json_text(fix, "add"),
		.literal = json_object_get_boolean(json_object_object_get(fix, "literal")),
		.risk = json_text(fix, "risk"),
		.none = json_text(fix, "none"),
	};
	if (json_text(fix, "remove")) {
		ret->value = json_text(fix, "remove");
		ret->remove = true;
	}
	if (json_text(fix, "raise")) {
		ret->value = json_text(fix, "raise");
		ret->raise = true;
	}
	return true;
}

void fix_add_text(struct str *out, const struct fix *fix)
{
	if (!fix->key) {
		str_add_escaped(out, fix->none ? fix->none : "no setting allows this");
		return;
	}
	if (!fix->value) {
		str_add(out, "set ");
		str_add_escaped(out, fix->key);
		str_add(out, " to true");
		return;
	}
	if (fix->raise) {
		str_add(out, "raise ");
		str_add_escaped(out, fix->key);
		str_add(out, " above ");
		str_add_escaped(out, fix->value);
		return;
	}
	str_add(out, fix->remove ? "take " : "add ");
	fix_add_value(out, fix);
	str_add(out, fix->remove ? " out of " : " to ");
	str_add_escaped(out, fix->key);
}
