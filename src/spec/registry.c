/* SPDX-License-Identifier: MIT */
/*
 * Asking package tools where they download from.
 *
 * A tool is run in '/', where no project can put a configuration of its own before it, and what is
 * found below the project is not run. Running npm takes a fifth of a second, so an answer is kept in
 * the cache under a stamp of what it depends on: the tool, the user's configuration files, the
 * environment variables. cargo tells nobody its default: what its configuration does not name is for the user to allow.
 */
#include "spec/registry.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

#include "base/path.h"
#include "base/sha256.h"
#include "base/str.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/proc.h"

enum { ANSWER_MAX = 64 * 1024, MAX_HOSTS = 32 };

struct registry {
	const char *name;
	const char *program;
	const char *ask[6];       /* its arguments; none: see look */
	bool bare;                /* the answer has names that are no URLs */
	const char *variables[4]; /* of the environment, and files, that change the answer */
	const char *files[4];     /* "~/..." or absolute */
	void (*look)(struct arena *arena, const struct registry_place *place, struct strv *ret);
	void (*look_back)(struct arena *arena, const struct registry_place *place,
			  struct strv *ret);
};

/* pip's default is in its code, and a configured index comes on top. */
static const char ask_pip[] =
	"from pip._internal.models.index import PyPI\n"
	"from pip._internal.configuration import Configuration\n"
	"c = Configuration(isolated=False); c.load()\n"
	"v = [str(x) for k, x in c.items() if k.endswith(('index-url', 'find-links'))]\n"
	"print(*(v or [PyPI.simple_url, 'https://' + PyPI.file_storage_domain + '/']))\n";

static void look_at_cargo(struct arena *arena, const struct registry_place *place,
			  struct strv *ret);
static void look_back_at_cargo(struct arena *arena, const struct registry_place *place,
			       struct strv *ret);

static const struct registry registries[] = {
	{ "npm",
	  "npm",
	  { "config", "get", "registry" },
	  .variables = { "npm_config_registry", "NPM_CONFIG_REGISTRY" },
	  .files = { "~/.npmrc", "/etc/npmrc" } },
	{ "pip",
	  "python3",
	  { "-c", ask_pip },
	  .variables = { "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE" },
	  .files = { "~/.config/pip/pip.conf", "~/.pip/pip.conf", "/etc/pip.conf" } },
	{ "go",
	  "go",
	  { "env", "GOPROXY", "GOSUMDB" },
	  .bare = true,
	  .variables = { "GOPROXY", "GOSUMDB" },
	  .files = { "~/.config/go/env" } },
	{ "cargo", .look = look_at_cargo, .look_back = look_back_at_cargo },
};

const char *registry_name(size_t i)
{
	return i < ARRAY_LEN(registries) ? registries[i].name : NULL;
}

/* --- hosts in a text --- */

/* What programs take for the last part of an address: no name ends with it. */
static bool is_number(const char *label)
{
	bool hex = !strncasecmp(label, "0x", 2);
	const char *digits = hex ? "0123456789abcdefABCDEF" : "0123456789";

	label += hex ? 2 : 0;
	return !label[strspn(label, digits)];
}

/* A name with a dot, or an IPv4 address: what a rule of the network may be. */
static bool is_host(const char *s)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
	const char *label = s;
	struct in_addr address;

	if (s[0] == '-' || !strchr(s, '.') || strlen(s) > 253)
		return false;
	for (;; label++) {
		size_t n = strspn(label, plain);

		if (!n || n > 63 || (label[n] && label[n] != '.'))
			return false;
		if (!label[n])
			return !is_number(label) || inet_pton(AF_INET, s, &address) == 1;
		label += n;
	}
}

/* "https://user@host:port/path", and the like with "sparse+" before it. */
static void scan_word(struct arena *arena, char *word, bool bare, struct strv *ret)
{
	char *host = strstr(word, "://"), *port, *rule;
	bool plain = host && host - word >= 4 && !strncmp(host - 4, "http", 4);
	unsigned long number = plain ? 80 : 443;

	if (!host && !bare)
		return;
	host = host ? host + 3 : word;
	host[strcspn(host, "/?#")] = '\0';
	host = strrchr(host, '@') ? strrchr(host, '@') + 1 : host;
	port = strchr(host, ':');
	if (port) {
		*port++ = '\0';
		number = strlen(port) <= 5 && !port[strspn(port, "0123456789")]
				 ? strtoul(port, NULL, 10)
				 : 0;
	}
	if (!is_host(host) || !number || number > 65535)
		return;
	rule = arena_printf(arena, "%s:%lu", host, number);
	if (ret->len < MAX_HOSTS && !strv_has(ret, rule))
		strv_add(arena, ret, rule);
}

void registry_scan(struct arena *arena, const char *text, bool bare, struct strv *ret)
{
	static const char between[] = " \t\r\n,|\"'";

	while (*(text += strspn(text, between))) {
		size_t len = strcspn(text, between);

		scan_word(arena, arena_strndup(arena, text, len), bare, ret);
		text += len;
	}
}

/* --- cargo --- */

static const char *cargo_home(struct arena *arena, const struct registry_place *place)
{
	const char *home = getenv("CARGO_HOME");

	return home && home[0] == '/' ? home : path_join(arena, place->home, ".cargo");
}

/* The user's own files, which no sandbox writes. */
static void look_at_cargo(struct arena *arena, const struct registry_place *place, struct strv *ret)
{
	static const char *const files[] = { "config.toml", "config" };

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		_cleanup_free_ char *text = NULL;
		size_t len;

		if (os_read_file_at(AT_FDCWD, path_join(arena, cargo_home(arena, place), files[i]),
				    ANSWER_MAX, &text, &len) == 0)
			registry_scan(arena, text, false, ret);
	}
}

/* An index that cargo has used: its directory is the host's name and a hash, and the index says
 * where the crates themselves are. */
static void look_at_index(struct arena *arena, int dir, const char *name, struct strv *ret)
{
	const char *dash = strrchr(name, '-');
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (!dash || dash == name)
		return;
	scan_word(arena, arena_strndup(arena, name, (size_t)(dash - name)), true, ret);
	if (os_read_file_at(dir, arena_printf(arena, "%s/config.json", name), ANSWER_MAX, &text,
			    &len) == 0)
		registry_scan(arena, text, false, ret);
}

/* Sandboxes write there as well. */
static void look_back_at_cargo(struct arena *arena, const struct registry_place *place,
			       struct strv *ret)
{
	_cleanup_dir_ DIR *dir = opendir(
		path_join(arena, cargo_home(arena, place), "registry/index"));

	for (struct dirent *entry; (entry = os_dir_next(dir));)
		if (entry->d_name[0] != '.')
			look_at_index(arena, dirfd(dir), entry->d_name, ret);
}

/* --- asking, and remembering the answer --- */

static void stamp_file(struct str *out, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0)
		str_addf(out, "%s %lld %lld.%09ld\n", path, (long long)st.st_size,
			 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

/* Names the answer: it changes when anything does that the answer depends on. */
static char *make_stamp(struct arena *arena, const struct registry *registry, const char *program,
			const struct registry_place *place)
{
	_cleanup_str_ struct str text = { 0 };
	char hash[SHA256_HEX];

	str_addf(&text, "%s %s\n", registry->name, place->home);
	stamp_file(&text, program);
	for (size_t i = 0; i < ARRAY_LEN(registry->files) && registry->files[i]; i++)
		stamp_file(&text, registry->files[i][0] == '~'
					  ? path_join(arena, place->home, registry->files[i] + 2)
					  : registry->files[i]);
	for (size_t i = 0; i < ARRAY_LEN(registry->variables) && registry->variables[i]; i++)
		str_addf(&text, "%s=%s\n", registry->variables[i],
			 getenv(registry->variables[i]) ?: "");
	sha256_hex(text.s, text.len, hash);
	return arena_printf(arena, "%s-%.16s", registry->name, hash);
}

static bool ask(struct arena *arena, const struct registry *registry, const char *program,
		struct strv *ret)
{
	char *argv[ARRAY_LEN(registry->ask) + 2] = { (char *)program };
	_cleanup_free_ char *answer = NULL;
	int status;

	for (size_t i = 0; i < ARRAY_LEN(registry->ask) && registry->ask[i]; i++)
		argv[i + 1] = (char *)registry->ask[i];
	status = os_capture(argv, "/", ANSWER_MAX, &answer);
	if (status != 0)
		return false;
	registry_scan(arena, answer, registry->bare, ret);
	return ret->len > 0;
}

/* A cache that cannot be read or written costs time and nothing else. */
static bool recall(struct arena *arena, const char *dir, const char *stamp, struct strv *ret)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (os_read_file_at(AT_FDCWD, path_join(arena, dir, stamp), ANSWER_MAX, &text, &len) < 0)
		return false;
	registry_scan(arena, text, true, ret);
	return ret->len > 0;
}

static void remember(const char *dir, const char *stamp, const struct strv *hosts)
{
	_cleanup_str_ struct str text = { 0 };
	_cleanup_close_ int fd = -1;
	struct err ignored;

	if (os_mkdirs(dir, 0700, &ignored) < 0)
		return;
	for (size_t i = 0; i < hosts->len; i++)
		str_addf(&text, "%s\n", hosts->v[i]);
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		os_write_file_atomic(fd, stamp, text.s, text.len, 0600, &ignored);
}

static bool ask_or_recall(struct arena *arena, const struct registry *registry,
			  const struct registry_place *place, struct strv *ret)
{
	char *program = os_find_program(arena, registry->program, place->path, place->except);
	const char *dir = path_join(arena, place->cache_home, "wrapix/registries"), *stamp;

	if (!program)
		return false;
	stamp = make_stamp(arena, registry, program, place);
	if (recall(arena, dir, stamp, ret))
		return true;
	if (!ask(arena, registry, program, ret))
		return false;
	remember(dir, stamp, ret);
	return true;
}

bool registry_hosts(struct arena *arena, const char *name, const struct registry_place *place,
		    struct strv *ret)
{
	struct strv hosts = { 0 };
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(registries); i++) {
		if (strcmp(registries[i].name, name))
			continue;
		if (registries[i].look)
			registries[i].look(arena, place, &hosts);
		found = registries[i].look ? hosts.len > 0
					   : ask_or_recall(arena, &registries[i], place, &hosts);
	}
	for (size_t i = 0; found && i < hosts.len; i++)
		strv_add(arena, ret, hosts.v[i]);
	return found;
}

void registry_used(struct arena *arena, const char *name, const struct registry_place *place,
		   struct strv *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(registries); i++)
		if (!strcmp(registries[i].name, name) && registries[i].look_back)
			registries[i].look_back(arena, place, ret);
}
