/* SPDX-License-Identifier: MIT */
/* The spec's scalars: one table of keys, each with its parser and its limits. */
#include "spec/spec.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "spec/quiet.h"

static const char *const engines[] = { "auto", "native", "podman", "docker", "apple", NULL };
static const char *const runtimes[] = { "default", "krun", NULL };
static const char *const networks[] = { "open", "none", "host", "filtered", NULL };
static const char *const tiers[] = { "queue", "static", "ports", NULL };
static const char *const homes[] = { "fresh", "keep", NULL };
static const char *const key_modes[] = { "agent", "file", NULL };
static const char *const switches[] = { "on", "off", NULL };
static const char *const waitings[] = { "auto", "on", "off", NULL };
static const char *const workspaces[] = { "direct", "cow", NULL };
static const char *const gits[] = { "direct", "private", NULL };
static const char *const protects[] = { "allow", "report", "hold", "ro", NULL };
static const char *const bools[] = { "false", "true", NULL };

/* A parser says what is wrong without key and value; spec_set() puts them before it. */
struct key {
	const char *name;
	int (*parse)(struct spec *spec, const struct key *key, const char *value, struct err *err);
	size_t offset, size; /* of the field in struct spec */
	const char *const *words;
	uint64_t least, most;
};

static void *field(struct spec *spec, const struct key *key)
{
	return (char *)spec + key->offset;
}

/* The index of value among words, or a message that lists them. */
static int word_index(const char *const *words, const char *value, struct err *err)
{
	_cleanup_str_ struct str list = { 0 };
	const char *near;
	int n = 0;

	for (; words[n]; n++) {
		if (!strcmp(words[n], value))
			return n;
		str_addf(&list, "%s%s", n ? ", " : "", words[n]);
	}
	err_usage(err, "must be one of %s", list.s);
	near = str_nearest(value, words, (size_t)n);
	return near ? err_hint(err, "did you mean '%s'?", near) : -err->code;
}

/* The n-th word is the enum's value n + 1; 0 is unset in each. */
static int parse_choice(struct spec *spec, const struct key *key, const char *value,
			struct err *err)
{
	int n = word_index(key->words, value, err);

	if (n >= 0)
		*(unsigned *)field(spec, key) = (unsigned)n + 1;
	return MIN(n, 0);
}

static int parse_bool(struct spec *spec, const struct key *key, const char *value, struct err *err)
{
	int n = word_index(key->words, value, err);

	if (n >= 0)
		*(bool *)field(spec, key) = n == 1;
	return MIN(n, 0);
}

static int set_string(struct spec *spec, const struct key *key, const char *value)
{
	*(char **)field(spec, key) = arena_strdup(&spec->arena, value);
	return 0;
}

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

static bool is_name(const char *s, const char *chars)
{
	return *s && *s != '.' && *s != '-' && strlen(s) <= 63 && !s[strspn(s, chars)];
}

static int parse_profile(struct spec *spec, const struct key *key, const char *value,
			 struct err *err)
{
	if (value[0] == '/' ? strlen(value) >= 4096 : !is_name(value, LOWER DIGITS "._-"))
		return err_usage(err, "a profile is named with lower-case letters, digits, "
				      "'.', '_' and '-'; a file of one by its absolute path");
	return set_string(spec, key, value);
}

static int parse_name(struct spec *spec, const struct key *key, const char *value, struct err *err)
{
	if (!is_name(value, LOWER UPPER DIGITS "._-"))
		return err_usage(err, "a name is made of at most 63 letters, digits, '.', '_' and "
				      "'-', and begins with a letter, a digit or '_'");
	return set_string(spec, key, value);
}

static int parse_image(struct spec *spec, const struct key *key, const char *value, struct err *err)
{
	int r = parse_name(spec, key, value, err);

	return r < 0 && strpbrk(value, ":/")
		       ? err_hint(err, "an image of a registry or a file is taken in first: "
				       "wrapix image build --from oci:REF --name NAME")
		       : r;
}

static int parse_agent(struct spec *spec, const struct key *key, const char *value, struct err *err)
{
	if (strchr(value, '/') ? strlen(value) >= 4096 : !is_name(value, LOWER UPPER DIGITS "._-"))
		return err_usage(err, "must be the name of an agent or a path with a '/' in it");
	return set_string(spec, key, value);
}

/* Whole and decimal digits, no sign, no exponent, no other locale's point. */
static int parse_cpus(struct spec *spec, const struct key *key, const char *value, struct err *err)
{
	size_t whole = strspn(value, DIGITS);
	size_t part = value[whole] == '.' ? strspn(value + whole + 1, DIGITS) : 0;
	size_t len = whole + (value[whole] == '.' ? 1 + part : 0);
	double cpus = 0, unit = 1;

	if (!whole || value[len] || (value[whole] == '.' && !part))
		return err_usage(err, "must be a decimal number such as 2 or 1.5");
	if (whole > 5 || part > 6)
		return err_usage(err, "must lie between 0.01 and 99999, with six decimals at most");
	for (size_t i = 0; i < whole; i++)
		cpus = cpus * 10 + (value[i] - '0');
	for (size_t i = whole + 1; i < len; i++)
		cpus += (unit /= 10) * (value[i] - '0');
	if (cpus < 0.01)
		return err_usage(err, "must be at least 0.01");
	*(double *)field(spec, key) = cpus;
	return 0;
}

static int parse_digits(const char *text, size_t len, uint64_t *ret, struct err *err)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len; i++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(text[i] - '0'), &n))
			return err_usage(err, "the number is too large");
	*ret = n;
	return 0;
}

int parse_size(const char *text, uint64_t *ret_bytes, struct err *err)
{
	static const char units[] = "kmgt";
	size_t len = strspn(text, DIGITS);
	const char *suffix = text + len;
	unsigned shift = 0;
	uint64_t n = 0;
	int r;

	if (*suffix) {
		const char *unit = memchr(units, *suffix | 32, sizeof(units) - 1);

		if (unit) {
			shift = 10 * ((unsigned)(unit - units) + 1);
			suffix += str_starts(suffix + 1, "i") ? 2 : 1;
		}
		if (*suffix == 'B' && (unit || len))
			suffix++;
	}
	if (!len || *suffix)
		return err_usage(err,
				 "must be a size such as 512M or 4G (K, M, G, T: powers of 1024)");
	r = parse_digits(text, len, &n, err);
	if (r < 0)
		return r;
	if (n > UINT64_MAX >> shift)
		return err_usage(err, "the number is too large");
	*ret_bytes = n << shift;
	return 0;
}

static int in_range(struct spec *spec, const struct key *key, uint64_t n, struct err *err)
{
	if (n < key->least || n > key->most)
		return err_usage(err, "must lie between %llu and %llu",
				 (unsigned long long)key->least, (unsigned long long)key->most);
	*(uint64_t *)field(spec, key) = n;
	return 0;
}

static int parse_bytes(struct spec *spec, const struct key *key, const char *value, struct err *err)
{
	uint64_t n = 0;
	int r = parse_size(value, &n, err);

	if (r < 0)
		return r;
	r = in_range(spec, key, n, err);
	return r < 0 && n < key->least
		       ? err_hint(err, "a plain number counts bytes; write 512M or 4G")
		       : r;
}

static int parse_count(struct spec *spec, const struct key *key, const char *value, struct err *err)
{
	size_t len = strspn(value, DIGITS);
	uint64_t n = 0;
	int r;

	if (!len || value[len])
		return err_usage(err, "must be a whole number");
	r = parse_digits(value, len, &n, err);
	return r < 0 ? r : in_range(spec, key, n, err);
}

static int parse_quiet(struct spec *spec, const struct key *key, const char *value, struct err *err)
{
	struct quiet quiet;

	if (quiet_parse(value, &quiet) < 0 || strlen(value) > 127)
		return err_usage(err,
				 "must be times of day such as 22:00-07:00, divided by commas");
	return set_string(spec, key, value);
}

/* Text of at most 'most' bytes, on one line. */
static int parse_line(struct spec *spec, const struct key *key, const char *value, struct err *err)
{
	if (strlen(value) > key->most || strchr(value, '\n'))
		return err_usage(err, "must be one line of at most %llu bytes",
				 (unsigned long long)key->most);
	return set_string(spec, key, value);
}

#define FIELD(f) offsetof(struct spec, f), sizeof(((struct spec *)NULL)->f)
#define MIB ((uint64_t)1 << 20)

static const struct key keys[] = {
	{ "profile", parse_profile, FIELD(profile) },
	{ "agent", parse_agent, FIELD(agent) },
	{ "agentMemory", parse_bool, FIELD(agent_memory), bools },
	{ "name", parse_name, FIELD(name) },
	{ "engine", parse_choice, FIELD(engine), engines },
	{ "runtime", parse_choice, FIELD(runtime), runtimes },
	{ "network", parse_choice, FIELD(net), networks },
	{ "home", parse_choice, FIELD(home), homes },
	{ "workspace", parse_choice, FIELD(workspace), workspaces },
	{ "git", parse_choice, FIELD(git), gits },
	{ "protect.git", parse_choice, FIELD(protect.levels[PROTECT_GIT]), protects },
	{ "protect.shell", parse_choice, FIELD(protect.levels[PROTECT_SHELL]), protects },
	{ "protect.editor", parse_choice, FIELD(protect.levels[PROTECT_EDITOR]), protects },
	{ "protect.agent", parse_choice, FIELD(protect.levels[PROTECT_AGENT]), protects },
	{ "protect.build", parse_choice, FIELD(protect.levels[PROTECT_BUILD]), protects },
	{ "protect.ci", parse_choice, FIELD(protect.levels[PROTECT_CI]), protects },
	{ "resume", parse_name, FIELD(resume) },
	{ "image", parse_image, FIELD(image) },
	{ "filter-tier", parse_choice, FIELD(filter_tier), tiers },
	{ "cpus", parse_cpus, FIELD(limits.cpus) },
	{ "memory", parse_bytes, FIELD(limits.memory), NULL, MIB, INT64_MAX },
	{ "pids", parse_count, FIELD(limits.pids), NULL, 1, 1 << 22 },
	{ "disk", parse_bytes, FIELD(limits.disk), NULL, MIB, INT64_MAX },
	{ "deployKey", parse_name, FIELD(deploy_key) },
	{ "deployKeyMode", parse_choice, FIELD(deploy_key_mode), key_modes },
	{ "deployKeyConfirm", parse_bool, FIELD(deploy_key_confirm), bools },
	{ "explain", parse_bool, FIELD(explain), bools },
	{ "only", parse_bool, FIELD(only), bools },
	{ "force", parse_bool, FIELD(force), bools },
	{ "asRoot", parse_bool, FIELD(as_root), bools },
	{ "allowNested", parse_bool, FIELD(allow_nested), bools },
	{ "notify", parse_choice, FIELD(notify.mode), switches },
	{ "notify.waiting", parse_choice, FIELD(notify.waiting), waitings },
	{ "notify.idle", parse_count, FIELD(notify.idle), NULL, 1, 86400 },
	{ "notify.quiet", parse_quiet, FIELD(notify.quiet) },
	{ "notify.sound", parse_line, FIELD(notify.sound), NULL, 0, 63 },
	{ "notify.webhook", parse_line, FIELD(notify.webhook), NULL, 0, 511 },
	{ "notify.always", parse_bool, FIELD(notify.always), bools },
	{ "notify.violations", parse_bool, FIELD(notify.violations), bools },
};
_Static_assert(ARRAY_LEN(keys) <= SPEC_KEYS, "spec.set_by is too short");

static const struct key *find_key(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

bool spec_layer(const struct spec *spec, const char *name, enum layer *ret_layer)
{
	static const char zero[sizeof(uint64_t)];
	const struct key *key = find_key(name);
	unsigned char set_by = key ? spec->set_by[key - keys] : 0;

	if (!key || (!set_by && !memcmp((const char *)spec + key->offset, zero, key->size)))
		return false;
	*ret_layer = set_by ? (enum layer)(set_by - 1) : LAYER_FLAG;
	return true;
}

bool spec_values_differ(const struct spec *a, const struct spec *b)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (a->set_by[i] != b->set_by[i] ||
		    memcmp((const char *)a + keys[i].offset, (const char *)b + keys[i].offset,
			   keys[i].size))
			return true;
	return false;
}

/* A project that says once more what the user says takes it from nobody: it is still his. */
static bool is_repeated(const struct spec *before, const struct spec *spec, const struct key *key,
			enum layer layer)
{
	unsigned char set_by = before->set_by[key - keys];

	return layer == LAYER_PROJECT && set_by && set_by != LAYER_PROFILE + 1 &&
	       !memcmp((const char *)before + key->offset, (const char *)spec + key->offset,
		       key->size);
}

int spec_set(struct spec *spec, const char *name, const char *value, enum layer layer,
	     struct err *err)
{
	const struct key *key = find_key(name);
	_cleanup_str_ struct str shown = { 0 };
	struct spec before = *spec, scratch = before, *target = spec;
	enum layer stronger;
	int r;

	if (!key)
		return err_usage(err, "%s: unknown key", str_quote(&shown, name));
	if (spec_layer(spec, name, &stronger) && stronger > layer)
		target = &scratch; /* checked all the same, and forgotten */
	r = key->parse(target, key, value, err);
	spec->arena = target->arena;
	if (r < 0)
		return err_wrap(err, "%s: %s", name, str_quote(&shown, value));
	if (!is_repeated(&before, target, key, layer))
		target->set_by[key - keys] = (unsigned char)(layer + 1);
	return 0;
}

const char *const *spec_choices(const char *name)
{
	const struct key *key = find_key(name);

	return key ? key->words : NULL;
}

static const char *word(const char *const *words, unsigned value)
{
	return value ? words[value - 1] : "unset";
}

const char *engine_name(enum engine_kind kind)
{
	return kind == ENGINE_SEATBELT ? "seatbelt" : word(engines, kind);
}

const char *net_mode_name(enum net_mode mode)
{
	return word(networks, mode);
}

const char *filter_tier_name(enum filter_tier tier)
{
	return word(tiers, tier);
}

void spec_init(struct spec *spec)
{
	*spec = (struct spec){ .dir = NULL };
	spec->dir = arena_strdup(&spec->arena, ".");
}

void spec_release(struct spec *spec)
{
	arena_release(&spec->arena);
	*spec = (struct spec){ .dir = NULL };
}

const char *spec_image(const struct spec *spec)
{
	if (spec->image || (spec->engine != ENGINE_PODMAN && spec->engine != ENGINE_APPLE))
		return spec->image;
	return spec->profile ? spec->profile : "base";
}
