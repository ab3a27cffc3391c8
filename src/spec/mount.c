/* SPDX-License-Identifier: MIT */
/*
 * What the user mounts: the string form of the --mount flag, and the rules each mount keeps.
 *
 * The string is "SRC:DEST[:ro|rw][,optional]", read from the right. A colon always separates, so a
 * name with a colon needs the JSON form; so does a DEST with a comma where no mode follows.
 * Nothing is looked up here: '~' and '$HOME' in SRC are expanded when the host is probed.
 */
#include <limits.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "spec/spec.h"

/* Places that are the sandbox's own. */
static const struct {
	const char *path;
	bool below; /* what lies below it too */
	const char *why;
} reserved[] = {
	{ "/", false, "it is the root of the sandbox" },
	{ "/proc", true, "wrapix mounts it for the sandbox's own processes" },
	{ "/dev", true, "wrapix makes a minimal one" },
	{ "/sys", true, "it belongs to the kernel" },
	{ WORKSPACE_INSIDE, false, "the project stands there; mount below it or elsewhere" },
	{ "/home", false,
	  "the private home, " HOME_INSIDE ", stands in it; mount what you need of it, "
	  "such as /home/NAME" },
	{ HOME_INSIDE, false, "it is the private home; mount below it, or use --home keep" },
};

static const char json_form[] = "a name with ':' or ',' is written in wrapix.json, as "
				"{\"source\": \"SRC\", \"dest\": \"DEST\", \"mode\": \"ro\"}";

static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h;
}

static bool has_dotdot(const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && !memcmp(path, "..", 2))
			return true;
		path += n;
		path += strspn(path, "/");
	}
	return false;
}

/* '~' and '~/x'; nobody else's home. */
static bool is_home(const char *path)
{
	return path[0] == '~' && (!path[1] || path[1] == '/');
}

static int check_source(const char *src, struct err *err)
{
	_cleanup_str_ struct str shown = { 0 };

	known(src);
	if (!*src)
		return err_usage(err, "the source is empty");
	if (strlen(src) >= PATH_MAX)
		return err_usage(err, "the source is longer than a path can be");
	if (src[0] == '~' && !is_home(src))
		return err_usage(err, "source %s: only '~' and '~/' stand for a home directory",
				 str_quote(&shown, src));
	return 0;
}

/* Cleans dest; a leading '~' becomes the home inside. */
static int check_dest(struct spec *spec, const char *dest, char **ret, struct err *err)
{
	_cleanup_str_ struct str shown = { 0 };
	char *clean;

	if (!*dest)
		return err_usage(err, "the destination is empty");
	if (dest[0] != '/' && !is_home(dest))
		return err_usage(err,
				 "destination %s: must be absolute, or begin with '~/' for "
				 "the home inside",
				 str_quote(&shown, dest));
	if (strlen(dest) >= PATH_MAX - sizeof(HOME_INSIDE))
		return err_usage(err, "the destination is longer than a path can be");
	if (has_dotdot(dest))
		return err_usage(err, "destination %s: '..' is not allowed",
				 str_quote(&shown, dest));
	clean = is_home(dest) ? arena_printf(&spec->arena, HOME_INSIDE "/%s", dest + 1)
			      : arena_strdup(&spec->arena, dest);
	clean = path_join(&spec->arena, "/", clean);
	for (size_t i = 0; i < ARRAY_LEN(reserved); i++) {
		if (reserved[i].below ? !path_is_below(clean, reserved[i].path)
				      : strcmp(clean, reserved[i].path))
			continue;
		return err_usage(err, "destination %s: nothing can be mounted there: %s",
				 str_quote(&shown, dest), reserved[i].why);
	}
	*ret = clean;
	return 0;
}

static struct mount_spec *find_mount(struct spec *spec, const struct mount_spec *mount)
{
	for (size_t i = 0; i < spec->n_mounts; i++)
		if (spec->mounts[i].dest_hash == mount->dest_hash &&
		    !strcmp(spec->mounts[i].dest, mount->dest))
			return &spec->mounts[i];
	return NULL;
}

int spec_check_mount(struct spec *spec, struct mount_spec *mount, struct err *err)
{
	int r = check_source(mount->src, err);

	if (r == 0)
		r = check_dest(spec, mount->dest, &mount->dest, err);
	if (r == 0)
		mount->dest_hash = hash(mount->dest);
	return r;
}

int spec_add_mount(struct spec *spec, const struct mount_spec *mount, struct err *err)
{
	_cleanup_str_ struct str shown = { 0 };
	struct mount_spec new = *mount, *old;
	int r = spec_check_mount(spec, &new, err);

	if (r < 0)
		return r;
	old = find_mount(spec, &new);
	if (old && old->layer > new.layer)
		return 0;
	if (old && old->layer == new.layer &&new.layer != LAYER_PROFILE)
		return err_usage(err, "destination %s: two mounts have it",
				 str_quote(&shown, new.dest));
	if (!old && spec->n_mounts >= SPEC_MAX_MOUNTS)
		return err_usage(err, "more than %d mounts", SPEC_MAX_MOUNTS);
	if (!old)
		old = arena_grow(&spec->arena, &spec->mounts, &spec->n_mounts,
				 sizeof(*spec->mounts));
	new.src = arena_strdup(&spec->arena, mount->src);
	*old = new;
	return 0;
}

/* Cuts ",optional" off the last part of the string. */
static int cut_options(char *part, bool *ret_optional, struct err *err)
{
	_cleanup_str_ struct str shown = { 0 };
	char *comma;

	while ((comma = strrchr(part, ','))) {
		if (strcmp(comma + 1, "optional")) {
			err_usage(err, "%s is not an option; there is only 'optional'",
				  str_quote(&shown, comma + 1));
			return err_hint(err, "%s", json_form);
		}
		*comma = '\0';
		*ret_optional = true;
	}
	return 0;
}

static int parse_parts(char *src, struct mount_spec *ret, struct err *err)
{
	_cleanup_str_ struct str shown = { 0 };
	char *dest = strchr(src, ':'), *mode;
	int r;

	if (!dest)
		return err_usage(err, "must be SRC:DEST[:ro|rw][,optional]");
	*dest++ = '\0';
	mode = strchr(dest, ':');
	if (mode)
		*mode++ = '\0';
	if (mode && strchr(mode, ':')) {
		err_usage(err, "too many colons for SRC:DEST[:ro|rw][,optional]");
		return err_hint(err, "%s", json_form);
	}
	r = cut_options(mode ? mode : dest, &ret->optional, err);
	if (r < 0)
		return r;
	if (mode && strcmp(mode, "ro") && strcmp(mode, "rw")) {
		err_usage(err, "the mode must be 'ro' or 'rw', not %s", str_quote(&shown, mode));
		return err_hint(err, "%s", json_form);
	}
	ret->src = src;
	ret->dest = dest;
	ret->rw = !mode || !strcmp(mode, "rw");
	return 0;
}

int spec_parse_mount(struct spec *spec, const char *text, struct mount_spec *ret, struct err *err)
{
	struct mount_spec mount = { .src = NULL };
	int r = parse_parts(arena_strdup(&spec->arena, text), &mount, err);

	if (r == 0)
		*ret = mount;
	return r;
}

int spec_add_mount_string(struct spec *spec, const char *text, enum layer layer, struct err *err)
{
	_cleanup_str_ struct str shown = { 0 };
	struct mount_spec mount;
	int r = spec_parse_mount(spec, text, &mount, err);

	if (r == 0) {
		mount.layer = layer;
		r = spec_add_mount(spec, &mount, err);
	}
	return r < 0 ? err_wrap(err, "mount %s", str_quote(&shown, text)) : 0;
}
