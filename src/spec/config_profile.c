/* SPDX-License-Identifier: MIT */
/*
 * The keys that only profiles have: packages, writable directories, hosts, checks. A list is added
 * to what the profile extends: a child has all that its parents have.
 */
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "spec/config_priv.h"
#include "spec/registry.h"
#include "spec/widen.h"

typedef int text_fn(const struct reader *reader, const struct json_at *at, const char *text,
		    struct err *err);

static void add_once(struct spec *spec, struct strv *list, const char *text)
{
	if (!strv_has(list, text))
		strv_add(&spec->arena, list, text);
}

static int read_list(const struct reader *reader, const struct json_at *at,
		     struct json_object *value, text_fn *add, struct err *err)
{
	int r = json_check_type(at, value, json_type_array, err);
	size_t n = r == 0 ? json_object_array_length(value) : 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct json_at *place = JSON_INDEX(at, i);
		_cleanup_str_ struct str shown = { 0 };
		const char *text;

		r = json_get_string(place, json_object_array_get_idx(value, i), &text, err);
		if (r == 0)
			r = add(reader, place, text, err);
		if (r < 0) {
			json_at_add(&shown, place);
			return err_wrap(err, "%s", shown.s);
		}
	}
	return r;
}

static int add_check(const struct reader *reader, _unused_ const struct json_at *at,
		     const char *text, struct err *err)
{
	if (!*text)
		return err_usage(err, "must be a command line");
	add_once(reader->spec, &reader->spec->from_profile.checks, text);
	return 0;
}

int config_read_checks(const struct reader *reader, const struct json_at *at,
		       struct json_object *value, struct err *err)
{
	return read_list(reader, at, value, add_check, err);
}

static int add_writable(const struct reader *reader, _unused_ const struct json_at *at,
			const char *text, struct err *err)
{
	if (text[0] != '/' || !text[1] || strcmp(path_join(&reader->spec->arena, "/", text), text))
		return err_usage(err, "must be a clean absolute path inside the sandbox");
	add_once(reader->spec, &reader->spec->from_profile.writable, text);
	return 0;
}

int config_read_writable(const struct reader *reader, const struct json_at *at,
			 struct json_object *value, struct err *err)
{
	return read_list(reader, at, value, add_writable, err);
}

static int add_domain(const struct reader *reader, const struct json_at *at, const char *text,
		      struct err *err)
{
	_cleanup_str_ struct str place = { 0 };

	json_at_add(&place, at);
	if (reader->project)
		widen_rule(reader->project, reader->spec, place.s, text);
	return spec_add_rule(reader->spec, text, false, LAYER_PROFILE, err);
}

int config_read_domains(const struct reader *reader, const struct json_at *at,
			struct json_object *value, struct err *err)
{
	return read_list(reader, at, value, add_domain, err);
}

static int add_registry(const struct reader *reader, const struct json_at *at, const char *text,
			struct err *err)
{
	_cleanup_str_ struct str list = { 0 }, place = { 0 };

	json_at_add(&place, at);
	/* The hosts are those of the user's own tools. */
	if (reader->project)
		widen_rule(reader->project, reader->spec, place.s, text);
	for (size_t i = 0; registry_name(i); i++) {
		if (!strcmp(registry_name(i), text)) {
			add_once(reader->spec, &reader->spec->from_profile.registries, text);
			return 0;
		}
		str_addf(&list, "%s%s", i ? ", " : "", registry_name(i));
	}
	return err_usage(err, "there is no tool '%s' to ask; there are %s", text, list.s);
}

int config_read_registries(const struct reader *reader, const struct json_at *at,
			   struct json_object *value, struct err *err)
{
	return read_list(reader, at, value, add_registry, err);
}

static bool has_package(const struct profile_spec *profile, const char *source, const char *name)
{
	for (size_t i = 0; i < profile->n_packages; i++)
		if (!strcmp(profile->packages[i].source, source) &&
		    !strcmp(profile->packages[i].name, name))
			return true;
	return false;
}

/* They become words of a package manager's command line. */
bool config_is_package(const char *name)
{
	return *name && *name != '-' && strlen(name) < 256 &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789+-._:@/")];
}

static int read_packages_of(const struct reader *reader, const struct json_at *at,
			    const char *source, struct json_object *list, struct err *err)
{
	struct spec *spec = reader->spec;
	struct profile_spec *profile = &spec->from_profile;
	int r = json_check_type(at, list, json_type_array, err);
	size_t n = r == 0 ? json_object_array_length(list) : 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		struct json_object *value = json_object_array_get_idx(list, i);
		const char *name;

		r = json_get_string(JSON_INDEX(at, i), value, &name, err);
		if (r == 0 && !config_is_package(name))
			return json_err_type(JSON_INDEX(at, i), value, "a package's name", err);
		if (r < 0 || has_package(profile, source, name))
			continue;
		*(struct package_spec *)arena_grow(
			&spec->arena, &profile->packages, &profile->n_packages,
			sizeof(struct package_spec)) = (struct package_spec){
			arena_strdup(&spec->arena, source), arena_strdup(&spec->arena, name)
		};
	}
	return r;
}

const char *const package_sources[] = { "debian", "fedora", "nix", NULL };

int config_read_packages(const struct reader *reader, const struct json_at *at,
			 struct json_object *value, struct err *err)
{
	int r = json_check_type(at, value, json_type_object, err);

	if (r < 0)
		return r;
	json_object_object_foreach(value, source, list)
	{
		const struct json_at *place = JSON_KEY(at, source);

		if (!config_in_words(source, package_sources, ARRAY_LEN(package_sources) - 1))
			return json_err_key(place, package_sources, ARRAY_LEN(package_sources) - 1,
					    err);
		r = read_packages_of(reader, place, source, list, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int spec_add_package(struct spec *spec, const char *name, struct err *err)
{
	_cleanup_str_ struct str shown = { 0 };

	if (!config_is_package(name))
		return err_usage(err, "package: %s is no package's name", str_quote(&shown, name));
	add_once(spec, &spec->packages, name);
	return 0;
}

static int add_package(const struct reader *reader, const struct json_at *at, const char *text,
		       struct err *err)
{
	_cleanup_str_ struct str place = { 0 };

	json_at_add(&place, at);
	/* An image is made for it, and its programs run instead of the host's. */
	if (reader->project && !strv_has(&reader->spec->packages, text))
		widen_port(reader->project, place.s, text);
	return spec_add_package(reader->spec, text, err);
}

int config_read_wanted(const struct reader *reader, const struct json_at *at,
		       struct json_object *value, struct err *err)
{
	return read_list(reader, at, value, add_package, err);
}

/* The youngest is read last, and its text is the one that counts. */
int config_read_description(const struct reader *reader, const struct json_at *at,
			    struct json_object *value, struct err *err)
{
	const char *text;
	int r = json_get_string(at, value, &text, err);

	if (r == 0)
		reader->spec->from_profile.about = arena_strdup(&reader->spec->arena, text);
	return r;
}
