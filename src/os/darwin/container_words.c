/* SPDX-License-Identifier: MIT */
/* The words of container's command line. It splits at ',', ':' and '=' and knows no escaping. */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "os/darwin/container.h"

enum { PORT_MAX = 65535 };

void container_add_option(struct arena *arena, struct strv *words, const char *option,
			  const char *value)
{
	strv_add(arena, words, option);
	strv_add(arena, words, value);
}

/* Without the '=' it would take the value from its own environment. */
void container_add_env(struct arena *arena, struct strv *words, const char *name, const char *value)
{
	strv_add(arena, words, "--env");
	strv_addf(arena, words, "%s=%s", name, value);
}

int container_add_label(struct arena *arena, struct strv *words, const char *name,
			const char *value, struct err *err)
{
	if (!*name || strchr(name, '=') || strchr(value, '='))
		return err_set(err, EINVAL, "container cannot take the label '%s'", name);
	strv_add(arena, words, "--label");
	strv_addf(arena, words, "%s=%s", name, value);
	return 0;
}

static bool has_any(const char *src, const char *dest, const char *letters)
{
	return src[strcspn(src, letters)] || dest[strcspn(dest, letters)];
}

static int check_paths(const char *src, const char *dest, struct err *err)
{
	if (src[0] != '/' || dest[0] != '/')
		return err_set(err, EINVAL, "container mounts absolute paths: '%s' on '%s'", src,
			       dest);
	/* Some file systems of a Mac have no such names, and its strings are UTF-8. */
	for (const char *p = src; *p;) {
		uint32_t cp;
		size_t n = utf8_next(p, strlen(p), &cp);

		if (!n || cp < 0x20)
			return err_set(err, EINVAL,
				       "container cannot take a path with such a byte: '%s'", src);
		p += n;
	}
	return 0;
}

static int not_said(struct err *err, const char *src, const char *dest)
{
	err_set(err, ENOTSUP, "container cannot mount '%s' on '%s'", src, dest);
	return err_hint(err,
			"its --volume is split at ':' and its --mount at ',' and '=': rename the "
			"directory, or mount the one above it");
}

int container_add_dir(struct arena *arena, struct strv *words, const char *src, const char *dest,
		      bool read_only, struct err *err)
{
	int r = check_paths(src, dest, err);

	if (r < 0)
		return r;
	if (!has_any(src, dest, ":")) {
		strv_add(arena, words, "--volume");
		strv_addf(arena, words, "%s:%s%s", src, dest, read_only ? ":ro" : "");
		return 0;
	}
	if (has_any(src, dest, ",="))
		return not_said(err, src, dest);
	strv_add(arena, words, "--mount");
	strv_addf(arena, words, "type=virtiofs,source=%s,target=%s%s", src, dest,
		  read_only ? ",readonly" : "");
	return 0;
}

int container_add_socket(struct arena *arena, struct strv *words, const char *src, const char *dest,
			 struct err *err)
{
	int r = check_paths(src, dest, err);

	if (r < 0)
		return r;
	if (has_any(src, dest, ":")) {
		err_set(err, ENOTSUP, "container cannot relay the socket '%s' to '%s'", src, dest);
		return err_hint(err, "its --volume is split at ':'");
	}
	strv_add(arena, words, "--volume");
	strv_addf(arena, words, "%s:%s", src, dest);
	return 0;
}

int container_add_port(struct arena *arena, struct strv *words, unsigned host, unsigned guest,
		       struct err *err)
{
	if (host < 2 || guest < 2 || host > PORT_MAX || guest > PORT_MAX)
		return err_set(err, EINVAL, "container cannot publish port %u as %u", guest, host);
	strv_add(arena, words, "--publish");
	strv_addf(arena, words, "127.0.0.1:%u:%u/tcp", host, guest);
	return 0;
}

void container_add_memory(struct arena *arena, struct strv *words, uint64_t bytes)
{
	strv_add(arena, words, "--memory");
	strv_addf(arena, words, "%lluM", (unsigned long long)((bytes + (1 << 20) - 1) >> 20));
}

void container_add_image(struct arena *arena, struct strv *words, const char *image)
{
	strv_add(arena, words, "--");
	strv_add(arena, words, image);
}
