/* SPDX-License-Identifier: MIT */
/*
 * Configuration files: one table of keys for wrapix.json and the user's config.json, which profiles
 * share a part of. A wrong, unknown or not yet supported key is an error: nothing is ignored that
 * the user may count on.
 *
 * A project's file may be an attacker's. It is opened once, without following links or waiting for
 * a FIFO, and read once; what it widens is noted on the way (widen.c) for trust.c to judge.
 */
#include "spec/config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "os/fs.h"
#include "spec/config_priv.h"
#include "spec/widen.h"

/* BINDS: what it limits holds for projects below, too, which have their own file or none. */
enum files { IN_CONFIG = 1, IN_PROFILE = 2, BINDS = 4 };

struct key {
	const char *name;
	unsigned files;
	int (*read)(const struct reader *reader, const struct json_at *at,
		    struct json_object *value, struct err *err);
};

/* For editors, and text for people. */
static int read_text(_unused_ const struct reader *reader, const struct json_at *at,
		     struct json_object *value, struct err *err)
{
	return json_check_type(at, value, json_type_string, err);
}

/* What is in it is for ralph, which reads it itself; it widens no sandbox. */
static int read_ralph(const struct reader *reader, const struct json_at *at,
		      struct json_object *value, struct err *err)
{
	if (reader->project)
		reader->project->has_ralph = true;
	return json_check_type(at, value, json_type_object, err);
}

static bool is_around(const struct reader *reader)
{
	return reader->layer == LAYER_AROUND;
}

size_t config_asked(const struct reader *reader)
{
	return reader->project ? reader->project->n_widenings : 0;
}

bool config_leaves_out(const struct reader *reader, size_t before)
{
	return is_around(reader) && config_asked(reader) > before;
}

/* No limit, so nothing that a project below would have to keep to. */
static bool is_idle(const char *key, const char *text)
{
	static const char *const idle[][2] = {
		{ "network", "open" },
		{ "workspace", "direct" },
		{ "home", "keep" },
		{ "only", "false" },
		{ "engine", "auto" },
		{ "runtime", "default" },
		{ "allowNested", "true" },
		{ "agentMemory", "true" },
		{ "deployKeyConfirm", "false" },
	};

	for (size_t i = 0; i < ARRAY_LEN(idle); i++)
		if (!strcmp(idle[i][0], key) && !strcmp(idle[i][1], text))
			return true;
	return false;
}

int config_set(const struct reader *reader, const struct json_at *at, const char *text,
	       struct err *err)
{
	_cleanup_str_ struct str place = { 0 };

	size_t before = config_asked(reader);

	json_at_add(&place, at);
	if (reader->project)
		widen_scalar(reader->project, reader->spec, place.s, at->key, text);
	if (config_leaves_out(reader, before) || (is_around(reader) && is_idle(at->key, text)))
		return 0;
	return spec_set(reader->spec, at->key, text, reader->layer, err);
}

int config_read_word(const struct reader *reader, const struct json_at *at,
		     struct json_object *value, struct err *err)
{
	const char *text;
	int r = json_get_string(at, value, &text, err);

	return r < 0 ? r : config_set(reader, at, text, err);
}

int config_read_bool(const struct reader *reader, const struct json_at *at,
		     struct json_object *value, struct err *err)
{
	bool on;
	int r = json_get_bool(at, value, &on, err);

	return r < 0 ? r : config_set(reader, at, on ? "true" : "false", err);
}

/* A file may be changed after the project was trusted, by the sandbox itself. */
static int read_profile(const struct reader *reader, const struct json_at *at,
			struct json_object *value, struct err *err)
{
	const char *text;
	int r = json_get_string(at, value, &text, err);

	if (r == 0 && reader->layer == LAYER_PROJECT && strchr(text, '/'))
		return err_usage(err,
				 "profile: a project's file names a profile, not a file of one");
	return r < 0 ? r : config_set(reader, at, text, err);
}

static const char *const limit_keys[] = { "cpus", "memory", "pids", "disk" };

bool config_in_words(const char *word, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(words[i], word))
			return true;
	return false;
}

static int read_limits(const struct reader *reader, const struct json_at *at,
		       struct json_object *value, struct err *err)
{
	int r = json_check_type(at, value, json_type_object, err);

	if (r < 0)
		return r;
	json_object_object_foreach(value, key, limit)
	{
		const struct json_at *place = JSON_KEY(at, key);

		if (!config_in_words(key, limit_keys, ARRAY_LEN(limit_keys)))
			return json_err_key(place, limit_keys, ARRAY_LEN(limit_keys), err);
		switch (json_object_get_type(limit)) {
		case json_type_int:
		case json_type_double: /* json.c kept the digits as they were written */
		case json_type_string:
			break;
		default:
			return json_err_type(place, limit, "a number or a string such as \"4G\"",
					     err);
		}
		r = config_set(reader, place, json_object_get_string(limit), err);
		if (r < 0)
			return err_wrap(err, "limits");
	}
	return 0;
}

static int read_env(const struct reader *reader, const struct json_at *at,
		    struct json_object *value, struct err *err)
{
	int r = json_check_type(at, value, json_type_object, err);

	if (r < 0)
		return r;
	json_object_object_foreach(value, name, entry)
	{
		if (entry && json_object_get_type(entry) != json_type_string)
			return json_err_type(JSON_KEY(at, name), entry,
					     "a string, or null for the value it has outside", err);
		if (reader->project)
			widen_env(reader->project, reader->spec, name,
				  json_object_get_string(entry));
		r = spec_add_env(reader->spec, name, json_object_get_string(entry), reader->layer,
				 err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The object form of a mount; its keys are read in any order. */
static int read_mount_object(const struct json_at *at, struct json_object *value,
			     struct mount_spec *ret, struct err *err)
{
	static const char *const words[] = { "source", "dest", "mode", "optional" };
	const char *text[ARRAY_LEN(words)] = { NULL, NULL, "rw", NULL };

	json_object_object_foreach(value, key, entry)
	{
		const struct json_at *place = JSON_KEY(at, key);
		size_t i;
		int r = json_find_key(place, words, ARRAY_LEN(words), &i, err);

		if (r == 0)
			r = i == 3 ? json_get_bool(place, entry, &ret->optional, err)
				   : json_get_string(place, entry, &text[i], err);
		if (r < 0)
			return r;
		if (i == 2 && strcmp(text[2], "ro") && strcmp(text[2], "rw"))
			return json_err_type(place, entry, "\"ro\" or \"rw\"", err);
	}
	for (size_t i = 0; i < 2; i++)
		if (!text[i])
			return json_err_type(JSON_KEY(at, words[i]), NULL, "given", err);
	ret->src = (char *)text[0];
	ret->dest = (char *)text[1];
	ret->rw = !strcmp(text[2], "rw");
	return 0;
}

static int add_mount(const struct reader *reader, const char *place, struct mount_spec *mount,
		     struct err *err)
{
	int r = spec_check_mount(reader->spec, mount, err);

	if (r < 0)
		return r;
	/* Only a project has a directory that a source can be relative to. */
	if (reader->layer != LAYER_PROJECT && !strchr("/~$", mount->src[0]))
		return err_usage(err, "the source must be absolute or begin with '~/'");
	if (reader->project)
		widen_mount(reader->project, place, mount);
	return spec_add_mount(reader->spec, mount, err);
}

static int read_mount(const struct reader *reader, const struct json_at *at,
		      struct json_object *value, struct err *err)
{
	struct mount_spec mount = { .layer = reader->layer };
	_cleanup_str_ struct str place = { 0 };
	int r;

	json_at_add(&place, at);
	switch (json_object_get_type(value)) {
	case json_type_string:
		r = spec_parse_mount(reader->spec, json_object_get_string(value), &mount, err);
		if (r < 0)
			return err_wrap(err, "%s", place.s);
		break;
	case json_type_object:
		r = read_mount_object(at, value, &mount, err);
		if (r < 0)
			return r;
		break;
	default:
		return json_err_type(at, value, "a string \"SRC:DEST[:ro|rw]\" or an object", err);
	}
	mount.layer = reader->layer;
	r = add_mount(reader, place.s, &mount, err);
	return r < 0 ? err_wrap(err, "%s", place.s) : 0;
}

static int read_mounts(const struct reader *reader, const struct json_at *at,
		       struct json_object *value, struct err *err)
{
	int r = json_check_type(at, value, json_type_array, err);
	size_t n = r == 0 ? json_object_array_length(value) : 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = read_mount(reader, JSON_INDEX(at, i), json_object_array_get_idx(value, i), err);
	return r;
}

static const struct key keys[] = {
	{ "$schema", IN_CONFIG | IN_PROFILE, read_text },
	{ "profile", IN_CONFIG, read_profile },
	{ "env", IN_CONFIG | IN_PROFILE, read_env },
	{ "mounts", IN_CONFIG | IN_PROFILE, read_mounts },
	{ "network", IN_CONFIG | BINDS, config_read_network },
	{ "publish", IN_CONFIG, config_read_publish },
	{ "hostPorts", IN_CONFIG, config_read_host_ports },
	{ "limits", IN_CONFIG | BINDS, read_limits },
	{ "deployKey", IN_CONFIG | BINDS, config_read_deploy_key },
	{ "deployKeyMode", IN_CONFIG | BINDS, config_read_word },
	{ "deployKeyConfirm", IN_CONFIG | BINDS, config_read_bool },
	{ "credentials", IN_CONFIG | BINDS, config_read_credentials },
	{ "engine", IN_CONFIG | BINDS, config_read_word },
	{ "runtime", IN_CONFIG | BINDS, config_read_word },
	{ "agent", IN_CONFIG, config_read_word },
	{ "agentMemory", IN_CONFIG | BINDS, config_read_bool },
	{ "home", IN_CONFIG | BINDS, config_read_word },
	{ "notify", IN_CONFIG, config_read_notify },
	{ "workspace", IN_CONFIG | BINDS, config_read_word },
	{ "image", IN_CONFIG, config_read_word },
	{ "git", IN_CONFIG | BINDS, config_read_word },
	{ "protect", IN_CONFIG | BINDS, config_read_protect },
	{ "allowNested", IN_CONFIG | BINDS, config_read_bool },
	{ "only", IN_CONFIG | BINDS, config_read_bool },
	{ "ralph", IN_CONFIG, read_ralph },
	{ "description", IN_PROFILE, config_read_description },
	{ "extends", IN_PROFILE, read_text }, /* profile.c has followed it */
	{ "packages", IN_PROFILE, config_read_packages },
	{ "packages", IN_CONFIG, config_read_wanted },
	{ "writable", IN_PROFILE, config_read_writable },
	{ "domains", IN_PROFILE, config_read_domains },
	{ "registries", IN_PROFILE, config_read_registries },
	{ "checks", IN_PROFILE, config_read_checks },
};

const char *config_key(size_t i)
{
	for (size_t k = 0; k < ARRAY_LEN(keys); k++)
		if (keys[k].files & IN_CONFIG && i-- == 0)
			return keys[k].name;
	return NULL;
}

static const struct key *find_key(const char *name, unsigned files)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (keys[i].files & files && !strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

static int unknown_key(const struct json_at *at, unsigned files, struct err *err)
{
	const char *words[ARRAY_LEN(keys)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (keys[i].files & files)
			words[n++] = keys[i].name;
	return json_err_key(at, words, n, err);
}

static int read_keys(const struct reader *reader, struct json_object *root, struct err *err)
{
	unsigned files = reader->layer == LAYER_PROFILE ? IN_PROFILE : IN_CONFIG;
	int r = json_check_type(NULL, root, json_type_object, err);

	if (r < 0)
		return r;
	json_object_object_foreach(root, name, value)
	{
		const struct json_at *at = JSON_KEY(NULL, name);
		const struct key *key = find_key(name, files);

		if (key && is_around(reader) && !(key->files & BINDS))
			continue;

		r = key ? key->read(reader, at, value, err) : unknown_key(at, files, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int config_apply(struct spec *spec, struct json_object *root, const char *origin, enum layer layer,
		 struct project_config *project, struct err *err)
{
	struct reader reader = {
		.spec = spec, .layer = layer, .origin = origin, .project = project
	};
	_cleanup_str_ struct str shown = { 0 };
	int r = read_keys(&reader, root, err);

	if (r == 0)
		return 0;
	str_add_escaped(&shown, origin);
	return err_wrap(err, "%s", shown.s);
}

int config_parse(struct spec *spec, const char *text, size_t len, const char *origin,
		 enum layer layer, struct project_config *project, struct err *err)
{
	_cleanup_json_ struct json_object *root = NULL;
	size_t first = spec->n_rules;
	int r = json_parse(text, len, origin, &root, err);

	if (r == 0)
		r = config_apply(spec, root, origin, layer, project, err);
	if (r == 0)
		config_find_lines(spec, first, text, len);
	return r;
}

/* Takes the descriptor over, or -errno. 'alone': as the only name of its file. */
static int read_opened(int opened, const char *name, bool alone, const char *shown, char **ret_text,
		       size_t *ret_len, struct err *err)
{
	_cleanup_close_ int fd = opened;
	struct stat st;
	int r;

	*ret_text = NULL;
	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	if (fd == -ELOOP)
		return err_usage(err, "%s: a symbolic link; it must be the file itself", shown);
	if (fd < 0)
		return err_errno(err, -fd, "opening '%s'", shown);
	if (fstat(fd, &st) < 0)
		return err_errno(err, errno, "looking at '%s'", shown);
	if (!S_ISREG(st.st_mode))
		return err_usage(err, "%s: not a regular file", shown);
	/* What covers the name inside does not cover a second one. */
	if (alone && st.st_nlink > 1) {
		err_usage(err, "%s: has a second name (a hard link)", shown);
		return err_hint(err, "cp %s new && mv new %s", name, name);
	}
	r = os_read_fd(fd, JSON_MAX_SIZE, ret_text, ret_len);
	if (r == -EFBIG)
		return err_usage(err, "%s: larger than 1 MiB", shown);
	return r < 0 ? err_errno(err, -r, "reading '%s'", shown) : 0;
}

int config_read_at(int dir_fd, const char *name, uint64_t resolve, const char *shown,
		   char **ret_text, size_t *ret_len, struct err *err)
{
	int fd = os_openat2(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, resolve);

	return read_opened(fd, name, resolve != 0, shown, ret_text, ret_len, err);
}

int config_read(const char *path, char **ret_text, size_t *ret_len, struct err *err)
{
	_cleanup_str_ struct str shown = { 0 };

	str_add_escaped(&shown, path);
	return read_opened(os_open_settings(path, O_NONBLOCK), path, false, shown.s, ret_text,
			   ret_len, err);
}

int config_load_user(struct spec *spec, const char *config_home, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	const char *path = path_join(&spec->arena, config_home, "wrapix/config.json");
	size_t len;
	int r = config_read(path, &text, &len, err);

	if (r < 0 || !text)
		return r;
	return config_parse(spec, text, len, path, LAYER_USER, NULL, err);
}

void spec_note_file(struct spec *spec, const char *path)
{
	struct arena *a = &spec->arena;
	const char *slash = strrchr(path, '/');
	const char *dir = slash ? arena_strndup(a, path, (size_t)(slash - path) + 1) : ".";
	char *real = os_realpath(a, dir), *target = os_realpath(a, path);

	if (real)
		strv_add(a, &spec->files, path_join(a, real, slash ? slash + 1 : path));
	if (target)
		strv_add(a, &spec->files, target);
}

int config_load_file(struct spec *spec, const char *path, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_str_ struct str shown = { 0 };
	size_t len = 0;
	int r = config_read(path, &text, &len, err);

	if (r == 0 && !text)
		return err_usage(err, "%s: there is no such file", str_quote(&shown, path));
	spec_note_file(spec, path);
	return r < 0 ? r : config_parse(spec, text, len, path, LAYER_FLAG, NULL, err);
}
