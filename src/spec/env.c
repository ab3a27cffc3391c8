/* SPDX-License-Identifier: MIT */
/* The variables the user names: added to the sandbox's environment, which is otherwise a short list. */
#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "spec/spec.h"

enum { ENV_MAX = 128 * 1024 - 1 }; /* exec takes no longer "K=V" */

/* Those that are part of what the sandbox is. */
static const struct {
	const char *name, *why;
} fixed[] = {
	{ "HOME", "the home inside is always " HOME_INSIDE },
	{ "USER", "the user inside is the one of the passwd entry" },
	{ "LOGNAME", "the user inside is the one of the passwd entry" },
	{ "PWD", "it follows the directory the command starts in" },
};

static int check_name(const char *name, struct err *err)
{
	_cleanup_str_ struct str shown = { 0 };
	size_t len = 0;

	while (isascii(name[len]) && (isalnum((unsigned char)name[len]) || name[len] == '_'))
		len++;
	if (!len || name[len] || isdigit((unsigned char)name[0]))
		return err_usage(err,
				 "env: %s is not a name: letters, digits and '_', no digit first",
				 str_quote(&shown, name));
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		if (!strcmp(fixed[i].name, name))
			return err_usage(err, "env: %s cannot be set: %s", name, fixed[i].why);
	return 0;
}

const struct env_spec *spec_find_env(const struct spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->n_env; i++)
		if (!strcmp(spec->env[i].name, name))
			return &spec->env[i];
	return NULL;
}

int spec_add_env(struct spec *spec, const char *name, const char *value, enum layer layer,
		 struct err *err)
{
	_cleanup_str_ struct str shown = { 0 };
	struct env_spec *entry;
	int r = check_name(name, err);

	if (r < 0)
		return r;
	if (strlen(name) + (value ? strlen(value) : 0) + 1 > ENV_MAX)
		return err_usage(err, "env: %s: longer than 128 KiB", str_quote(&shown, name));
	entry = (struct env_spec *)spec_find_env(spec, name);
	if (entry && entry->layer > layer)
		return 0;
	if (!entry && spec->n_env >= SPEC_MAX_ENV)
		return err_usage(err, "env: more than %d variables", SPEC_MAX_ENV);
	if (!entry)
		entry = arena_grow(&spec->arena, &spec->env, &spec->n_env, sizeof(*spec->env));
	*entry = (struct env_spec){
		.name = arena_strdup(&spec->arena, name),
		.value = arena_strdup(&spec->arena, value),
		.layer = layer,
	};
	return 0;
}

int spec_add_env_string(struct spec *spec, const char *text, enum layer layer, struct err *err)
{
	const char *equals = strchr(text, '=');
	char *name;

	if (!equals)
		return spec_add_env(spec, text, NULL, layer, err);
	name = arena_strndup(&spec->arena, text, (size_t)(equals - text));
	return spec_add_env(spec, name, equals + 1, layer, err);
}
