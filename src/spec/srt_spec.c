/* SPDX-License-Identifier: MIT */
/* The settings become fields of the spec: who may be reached, what the environment says, limits. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "spec/srt.h"
#include "spec/srt_walk.h"

struct filler {
	const struct srt_config *config;
	const struct srt_place *place;
	struct spec *spec;
	struct exec_spec *exec;
	struct srt_notes *notes;
};

/* "localhost:8080" and its like mean the host's own service; returns what follows the host. */
static const char *after_loopback(const char *text)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t len = strlen(names[i]);

		if (!strncmp(text, names[i], len) && (!text[len] || text[len] == ':'))
			return text + len;
	}
	return NULL;
}

/* Patterns that are valid and can match no host: "a..b", "a b.c", "*.*.b", names outside of ASCII. */
static bool matches_nothing(const char *text)
{
	if (text[0] == '[')
		return false;
	if (text[0] && strchr(text + 1, '*'))
		return true;
	for (const char *s = text; *s; s++)
		if (*s <= ' ' || *s >= 0x7f || (s[0] == '.' && s[1] == '.'))
			return true;
	return strpbrk(text, "%@?#\\\"'(),;<>=&!$^`{}|~+") != NULL;
}

/* As net/policy.h takes it: without a zone, IPv4 without brackets. */
static char *rule_text(struct arena *arena, const char *text)
{
	const char *end = strchr(text, ']'), *zone = strchr(text, '%');

	if (text[0] != '[' || !end)
		return arena_strdup(arena, text);
	if (zone && zone < end)
		return arena_printf(arena, "%.*s%s", (int)(zone - text), text, end);
	if (!memchr(text, ':', (size_t)(end - text)))
		return arena_printf(arena, "%.*s%s", (int)(end - text - 1), text + 1, end + 1);
	return arena_strdup(arena, text);
}

static int add_domain(const struct filler *f, const char *text, bool deny, size_t index,
		      struct err *err)
{
	const char *list = deny ? "deniedDomains" : "allowedDomains";
	const char *rest = deny ? NULL : after_loopback(text);

	if (rest && *rest)
		return spec_add_host_port(f->spec, rest + 1, LAYER_FLAG, err);
	if (rest) {
		strv_addf(f->notes->arena, &f->notes->lines,
			  "network.%s[%zu]: '%s' needs a port, as '%s:8080': each port of this "
			  "machine is opened by its number",
			  list, index, text, text);
		return 0;
	}
	if (matches_nothing(text)) {
		strv_addf(f->notes->arena, &f->notes->lines,
			  "network.%s[%zu]: '%s' is no name that a host can have", list, index,
			  text);
		return 0;
	}
	return spec_add_rule(f->spec, rule_text(&f->spec->arena, text), deny, LAYER_FLAG, err);
}

/* "10.0.0.1/8" means the range that it lies in. */
static void add_denied_address(const struct filler *f, const char *text)
{
	size_t len = strcspn(text, "/");
	char address[INET6_ADDRSTRLEN] = "", shown[INET6_ADDRSTRLEN];
	unsigned char bytes[16] = { 0 };
	int family = strchr(text, ':') ? AF_INET6 : AF_INET;
	unsigned size = family == AF_INET6 ? 128 : 32;
	unsigned bits = text[len] ? (unsigned)strtoul(text + len + 1, NULL, 10) : size;

	snprintf(address, sizeof(address), "%.*s", (int)len, text);
	inet_pton(family, address, bytes);
	for (unsigned i = bits; i < size; i++)
		bytes[i / 8] &= (unsigned char)~(0x80 >> i % 8);
	inet_ntop(family, bytes, shown, sizeof(shown));
	strv_addf(&f->spec->arena, &f->exec->denied_resolved, "%s/%u", shown, bits);
}

static int fill_network(const struct filler *f, struct err *err)
{
	const struct srt_config *c = f->config;
	int r = 0;

	f->spec->net = NET_FILTERED;
	for (size_t i = 0; r == 0 && i < c->allowed.len; i++)
		r = add_domain(f, c->allowed.v[i], false, i, err);
	for (size_t i = 0; r == 0 && i < c->denied.len; i++)
		r = add_domain(f, c->denied.v[i], true, i, err);
	for (size_t i = 0; i < c->denied_resolved.len; i++)
		add_denied_address(f, c->denied_resolved.v[i]);
	f->exec->all_unix_sockets = c->all_unix_sockets;
	f->exec->local_binding = c->local_binding;
	f->exec->pty = c->pty;
	for (size_t i = 0; r == 0 && i < c->unix_sockets.len; i++) {
		char *key = arena_printf(&f->spec->arena, "network.allowUnixSockets[%zu]", i);
		char *path = srt_resolve_allowed(&f->spec->arena, f->place, c->unix_sockets.v[i],
						 key, f->notes, err);

		if (!path)
			r = -err->code;
		else if (*path)
			strv_add(&f->spec->arena, &f->exec->unix_sockets, path);
	}
	return r;
}

/* The company's proxy. One is used for everything: connections are tunnelled by CONNECT. */
static int fill_parent_proxy(const struct filler *f, struct err *err)
{
	const struct srt_config *c = f->config;
	char *url = c->parent_https ? c->parent_https : c->parent_http;

	if (!url && !c->parent_no_proxy)
		return 0;
	if (url && strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
		return err_usage(err, "network.parentProxy: '%.*s' is not http or https",
				 (int)strcspn(url, ":"), url);
	f->exec->proxy = url ? arena_strdup(&f->spec->arena, url) : NULL;
	if (c->parent_no_proxy)
		f->exec->no_proxy = arena_strdup(&f->spec->arena, c->parent_no_proxy);
	return 0;
}

static int set_all(const struct filler *f, const char *const *names, size_t n, const char *value,
		   struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = spec_add_env(f->spec, names[i], value, LAYER_FLAG, err);
	return r;
}

/* The host's own proxy is for us to go through: the command does not reach it, and its password is not the command's. */
static void unset_all(const struct filler *f, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strv_add(&f->spec->arena, &f->exec->unset_env, names[i]);
}

/* A proxy of the user's own on this machine: its ports are opened, and programs are told of it. */
static int fill_own_proxy(const struct filler *f, struct err *err)
{
	static const char *const http[] = { "HTTP_PROXY", "HTTPS_PROXY", "http_proxy",
					    "https_proxy" };
	static const char *const socks[] = { "ALL_PROXY", "all_proxy", "FTP_PROXY", "ftp_proxy" };
	static const char *const none[] = { "NO_PROXY", "no_proxy" };
	unsigned ports[] = { f->config->http_proxy_port, f->config->socks_proxy_port };
	char text[48];
	int r = 0;

	for (size_t i = 0; r == 0 && i < 2; i++) {
		if (!ports[i])
			continue;
		snprintf(text, sizeof(text), "%u", ports[i]);
		r = spec_add_host_port(f->spec, text, LAYER_FLAG, err);
	}
	unset_all(f, http, ARRAY_LEN(http));
	unset_all(f, socks, ARRAY_LEN(socks));
	snprintf(text, sizeof(text), "http://localhost:%u", ports[0]);
	if (r == 0 && ports[0])
		r = set_all(f, http, ARRAY_LEN(http), text, err);
	snprintf(text, sizeof(text), "socks5h://localhost:%u", ports[1]);
	if (r == 0 && ports[1])
		r = set_all(f, socks, ARRAY_LEN(socks), text, err);
	if (r == 0 && (ports[0] || ports[1]))
		r = set_all(f, none, ARRAY_LEN(none), "localhost,127.0.0.1,::1", err);
	return r;
}

/* The next of git's variables for configuration. */
static int add_safe(const struct filler *f, const char *dir, unsigned long *count, struct err *err)
{
	char name[48];
	int r;

	snprintf(name, sizeof(name), "GIT_CONFIG_KEY_%lu", *count);
	r = spec_add_env(f->spec, name, "safe.directory", LAYER_FLAG, err);
	snprintf(name, sizeof(name), "GIT_CONFIG_VALUE_%lu", (*count)++);
	return r == 0 ? spec_add_env(f->spec, name, dir, LAYER_FLAG, err) : r;
}

/* safe.directory through the environment, after what the user's own variables say: each directory,
 * and what is below it, which git knows since 2.46. */
static int fill_git(const struct filler *f, struct err *err)
{
	const struct strv *dirs = &f->config->safe_directories;
	const char *text = f->place->git_count;
	unsigned long count = text && text[strspn(text, "0123456789")] == '\0' && *text
				      ? strtoul(text, NULL, 10)
				      : 0;
	char value[24];
	int r = 0;

	if (!dirs->len)
		return 0;
	if (count > 10000)
		return err_usage(err, "GIT_CONFIG_COUNT: %lu is too many", count);
	for (size_t i = 0; r == 0 && i < dirs->len; i++) {
		size_t len = strlen(dirs->v[i]);
		char *dir = arena_strdup(&f->spec->arena, dirs->v[i]);

		while (len > 1 && dir[len - 1] == '/')
			dir[--len] = '\0';
		r = add_safe(f, dir, &count, err);
		if (r == 0)
			r = add_safe(f, path_join(&f->spec->arena, dir, "*"), &count, err);
	}
	snprintf(value, sizeof(value), "%lu", count);
	return r == 0 ? spec_add_env(f->spec, "GIT_CONFIG_COUNT", value, LAYER_FLAG, err) : r;
}

static int fill_rest(const struct filler *f, struct err *err)
{
	const struct srt_config *c = f->config;
	int r = spec_add_env(f->spec, "SANDBOX_RUNTIME", "1", LAYER_FLAG, err);

	f->spec->allow_nested = c->nested_userns;
	f->exec->host_proc = c->weaker_nested;
	for (size_t i = 0; i < c->unset_env.len; i++)
		strv_add(&f->spec->arena, &f->exec->unset_env, c->unset_env.v[i]);
	if (f->place->tmpdir)
		f->exec->tmpdir = arena_strdup(&f->spec->arena, f->place->tmpdir);
	for (size_t i = 0; r == 0 && i + 1 < c->limits.len; i += 2) {
		r = spec_set(f->spec, c->limits.v[i], c->limits.v[i + 1], LAYER_FLAG, err);
		if (r < 0)
			err_wrap(err, "limits");
	}
	return r;
}

int srt_to_spec(const struct srt_config *config, const struct srt_place *place, struct spec *spec,
		struct exec_spec *exec, struct srt_notes *notes, struct err *err)
{
	const struct filler f = { config, place, spec, exec, notes };
	int r = fill_network(&f, err);

	if (r == 0)
		r = fill_parent_proxy(&f, err);
	if (r == 0)
		r = fill_own_proxy(&f, err);
	if (r == 0)
		r = fill_git(&f, err);
	if (r == 0)
		r = fill_rest(&f, err);
	return r == 0 ? srt_file_rules(config, place, &exec->files, notes, err) : r;
}
