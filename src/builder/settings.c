/* SPDX-License-Identifier: MIT */
/* Where the builder's things are, and the settings that it was last started with. */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/json.h"
#include "base/path.h"
#include "builder/builder.h"
#include "os/fs.h"

enum { SETTINGS_MAX = 1 << 16, CORES_MAX = 4096, IDLE_MAX = 366 * 86400 };

void builder_say(const struct builder *builder, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (!builder->say)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	builder->say(builder->ctx, line);
}

/* --- values --- */

static int parse_number(const char *key, const char *value, uint64_t min, uint64_t max,
			uint64_t *ret, struct err *err)
{
	char *end = NULL;
	unsigned long long n;

	errno = 0;
	n = *value >= '0' && *value <= '9' ? strtoull(value, &end, 10) : 0;
	if (!end || *end || errno || n < min || n > max)
		return err_usage(err, "%s: must be a number from %llu to %llu, not '%s'", key,
				 (unsigned long long)min, (unsigned long long)max, value);
	*ret = n;
	return 0;
}

/* "30m", "2h", "90s", "90", "never". */
static int parse_time(const char *key, const char *value, uint64_t *ret, struct err *err)
{
	static const struct {
		const char *ending;
		uint64_t seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 } };
	size_t digits = strspn(value, "0123456789");
	uint64_t n = digits > 0 && digits < 9 ? strtoull(value, NULL, 10) : 0;

	if (!strcmp(value, "never") || !strcmp(value, "0")) {
		*ret = 0;
		return 0;
	}
	for (size_t i = 0; n > 0 && i < ARRAY_LEN(units); i++)
		if (!strcmp(value + digits, units[i].ending) && n * units[i].seconds <= IDLE_MAX) {
			*ret = n * units[i].seconds;
			return 0;
		}
	return err_usage(err,
			 "%s: must be a time such as 30m, 2h, at most 366d, or 'never', not '%s'",
			 key, value);
}

static int set_engine(struct builder *b, const char *value, struct err *err)
{
	static const enum engine_kind kinds[] = { ENGINE_AUTO, ENGINE_NATIVE, ENGINE_PODMAN,
						  ENGINE_APPLE };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(value, engine_name(kinds[i]))) {
			b->settings.engine = kinds[i];
			return 0;
		}
	return err_usage(err, "engine: must be auto, native, podman or apple, not '%s'", value);
}

static int set_network(struct builder *b, const char *value, struct err *err)
{
	if (strcmp(value, "open") && strcmp(value, "none"))
		return err_usage(err, "network: must be open or none, not '%s'", value);
	b->settings.net = *value == 'o' ? NET_OPEN : NET_NONE;
	return 0;
}

static int set_image(struct builder *b, const char *value, struct err *err)
{
	for (const char *p = value; *p; p++)
		if (*p <= ' ' || *p == 0x7f || *value == '-')
			return err_usage(err, "image: '%s' is no name of an image", value);
	b->settings.image = *value && strcmp(value, "none") ? arena_strdup(&b->arena, value) : NULL;
	return 0;
}

static int set_memory(struct builder *b, const char *value, struct err *err)
{
	if (!strcmp(value, "0")) {
		b->settings.memory = 0;
		return 0;
	}
	return parse_size(value, &b->settings.memory, err) < 0 ? err_wrap(err, "memory") : 0;
}

static int set_cores(struct builder *b, const char *value, struct err *err)
{
	return parse_number("cores", value, 0, CORES_MAX, &b->settings.cores, err);
}

static int set_port(struct builder *b, const char *value, struct err *err)
{
	return parse_number("port", value, 1024, 65535, &b->settings.port, err);
}

static int set_idle(struct builder *b, const char *value, struct err *err)
{
	return parse_time("idle", value, &b->settings.idle, err);
}

static const struct {
	const char *key;
	int (*set)(struct builder *builder, const char *value, struct err *err);
} keys[] = {
	{ "engine", set_engine },   { "image", set_image },   { "port", set_port },
	{ "cores", set_cores },     { "memory", set_memory }, { "idle", set_idle },
	{ "network", set_network },
};

int builder_set(struct builder *builder, const char *key, const char *value, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!strcmp(key, keys[i].key))
			return keys[i].set(builder, value, err);
	return err_usage(err, "%s: no such setting", key);
}

/* --- the file --- */

int builder_parse_settings(struct builder *builder, const char *text, size_t len, struct err *err)
{
	_cleanup_json_ struct json_object *json = NULL;
	int r = json_parse(text, len, builder->config, &json, err);

	if (r == 0)
		r = json_check_type(NULL, json, json_type_object, err);
	if (r < 0)
		return r;
	json_object_object_foreach(json, key, value)
	{
		const char *word;

		r = json_get_string(JSON_KEY(NULL, key), value, &word, err);
		if (r == 0)
			r = builder_set(builder, key, word, err);
		if (r < 0)
			return err_wrap(err, "%s", builder->config);
	}
	return 0;
}

void builder_add_settings(struct str *out, const struct builder_settings *s)
{
	char number[32];

	json_add_member(out, "engine", engine_name(s->engine));
	json_add_member(out, "image", s->image);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)s->port);
	json_add_member(out, "port", number);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)s->cores);
	json_add_member(out, "cores", number);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)s->memory);
	json_add_member(out, "memory", number);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)s->idle);
	json_add_member(out, "idle", number);
	json_add_member(out, "network", net_mode_name(s->net));
}

static int load(struct builder *builder, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = os_read_file_at(AT_FDCWD, builder->config, SETTINGS_MAX, &text, &len);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return err_errno(err, -r, "reading '%s'", builder->config);
	return builder_parse_settings(builder, text, len, err);
}

int builder_save(struct builder *builder, struct err *err)
{
	_cleanup_str_ struct str text = { 0 };
	_cleanup_close_ int dir = -1;

	str_add(&text, "{");
	builder_add_settings(&text, &builder->settings);
	str_add(&text, "}\n");
	if (os_mkdirs(builder->data, 0700, err) < 0)
		return -err->code;
	dir = open(builder->data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_errno(err, errno, "opening '%s'", builder->data);
	return os_write_file_atomic(dir, path_name(builder->config), text.s, text.len, 0600, err);
}

/* --- places --- */

static char *base_dir(struct builder *b, const char *home, const char *variable, const char *below)
{
	const char *value = variable ? getenv(variable) : NULL;

	return value && value[0] == '/' ? path_join(&b->arena, "/", value)
					: path_join(&b->arena, home, below);
}

int builder_open(struct builder *builder, const char *user, struct err *err)
{
	struct passwd *pw = user ? getpwnam(user) : getpwuid(geteuid());
	const char *home = user ? NULL : getenv("HOME");
	struct arena *a = &builder->arena;

	if (user && !pw)
		return err_usage(err, "there is no user '%s'", user);
	if (!home || home[0] != '/')
		home = pw ? pw->pw_dir : "/";
	builder->user = arena_strdup(a, pw ? pw->pw_name : "");
	builder->data = arena_printf(
		a, "%s/wrapix",
		base_dir(builder, home, user ? NULL : "XDG_DATA_HOME", ".local/share"));
	builder->state = arena_printf(
		a, "%s/wrapix/builder",
		base_dir(builder, home, user ? NULL : "XDG_STATE_HOME", ".local/state"));
	builder->keys = path_join(a, builder->data, "builder-keys");
	builder->nix = path_join(a, builder->data, "builder-nix");
	builder->config = path_join(a, builder->data, "builder.json");
	builder->settings = (struct builder_settings){ .engine = ENGINE_AUTO,
						       .port = BUILDER_PORT,
						       .net = NET_OPEN };
	return load(builder, err);
}

void builder_close(struct builder *builder)
{
	arena_release(&builder->arena);
}

unsigned builder_cores(const struct builder *builder)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return builder->settings.cores ? (unsigned)builder->settings.cores
	       : n > 0                 ? (unsigned)n
				       : 1;
}

const char *builder_system(void)
{
	struct utsname name;

	if (uname(&name) == 0 &&
	    (!strcmp(name.machine, "arm64") || !strcmp(name.machine, "aarch64")))
		return "aarch64-linux";
	return "x86_64-linux";
}
