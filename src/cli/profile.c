/* SPDX-License-Identifier: MIT */
/* wrapix profile: which there are, what each holds, and whether its tools are there. */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "api/api.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/cli.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/proc.h"
#include "spec/config.h"

struct profile_args {
	bool json;
};

enum { CHECK_OUTPUT_MAX = 4096 };

static char *config_home(struct arena *arena)
{
	return api_base_dir(arena, "XDG_CONFIG_HOME", ".config");
}

static void add_once(struct arena *arena, struct strv *list, const char *name)
{
	if (!strv_has(list, name))
		strv_add(arena, list, name);
}

/* The built-in ones, the user's own, and the project's. */
static void list_names(struct arena *arena, const struct project_config *project, struct strv *ret)
{
	_cleanup_dir_ DIR *dir = opendir(path_join(arena, config_home(arena), "wrapix/profiles"));

	for (size_t i = 0; config_profile(i); i++)
		strv_add(arena, ret, config_profile(i));
	for (struct dirent *entry; (entry = os_dir_next(dir));) {
		size_t len = strlen(entry->d_name);

		if (len > 5 && !strcmp(entry->d_name + len - 5, ".json"))
			add_once(arena, ret, arena_strndup(arena, entry->d_name, len - 5));
	}
	for (size_t i = 0; i < project->n_profiles; i++)
		add_once(arena, ret, project->profiles[i].name);
}

static int load(struct spec *spec, const char *name, struct err *err)
{
	struct project_config project;
	int r;

	spec_init(spec);
	r = api_load_profile(spec, name, &project, err);
	project_config_release(&project);
	return r;
}

static int do_list(bool json, struct err *err)
{
	struct arena arena = { 0 };
	struct strv names = { 0 };
	_cleanup_json_ struct json_object *out = json_object_new_array();
	struct project_config project;
	struct spec base;
	int r;

	spec_init(&base);
	r = api_load_profile(&base, "base", &project, err);
	list_names(&arena, &project, &names);
	project_config_release(&project);
	spec_release(&base);
	if (r < 0) {
		arena_release(&arena);
		return r;
	}
	for (size_t i = 0; i < names.len; i++) {
		_cleanup_str_ struct str name = { 0 }, about = { 0 };
		struct json_object *row = json_object_new_object();
		struct spec spec;
		/* One that is broken is listed with what is wrong. */

		r = load(&spec, names.v[i], err);

		str_add_escaped(&name, names.v[i]);
		str_add_escaped(&about, r < 0                     ? err->msg
					: spec.from_profile.about ? spec.from_profile.about
								  : "");
		json_object_object_add(row, "name", json_object_new_string(names.v[i]));
		json_object_object_add(row, r < 0 ? "error" : "description",
				       json_object_new_string(about.s ? about.s : ""));
		json_object_array_add(out, row);
		if (!json)
			printf("%-10s %s\n", name.s, about.s ? about.s : "");
		spec_release(&spec);
	}
	if (json)
		puts(json_object_to_json_string_ext(out, JSON_C_TO_STRING_PRETTY));
	arena_release(&arena);
	return 0;
}

static struct json_object *list_to_json(const struct strv *list)
{
	struct json_object *out = json_object_new_array();

	for (size_t i = 0; i < list->len; i++)
		json_object_array_add(out, json_object_new_string(list->v[i]));
	return out;
}

static void packages_of(struct spec *spec, const char *source, struct strv *ret)
{
	for (size_t i = 0; i < spec->from_profile.n_packages; i++)
		if (!strcmp(spec->from_profile.packages[i].source, source))
			strv_add(&spec->arena, ret, spec->from_profile.packages[i].name);
}

static struct json_object *to_json(struct spec *spec, const char *name)
{
	struct json_object *out = json_object_new_object(), *env = json_object_new_object(),
			   *packages = json_object_new_object();
	struct strv mounts = { 0 }, domains = { 0 };

	for (size_t i = 0; i < spec->n_env; i++)
		json_object_object_add(
			env, spec->env[i].name,
			spec->env[i].value ? json_object_new_string(spec->env[i].value) : NULL);
	for (size_t i = 0; i < spec->n_mounts; i++)
		strv_addf(&spec->arena, &mounts, "%s:%s:%s%s", spec->mounts[i].src,
			  spec->mounts[i].dest, spec->mounts[i].rw ? "rw" : "ro",
			  spec->mounts[i].optional ? ",optional" : "");
	for (size_t i = 0; i < spec->n_rules; i++)
		strv_add(&spec->arena, &domains, spec->rules[i].text);
	for (size_t i = 0; package_sources[i]; i++) {
		struct strv list = { 0 };

		packages_of(spec, package_sources[i], &list);
		json_object_object_add(packages, package_sources[i], list_to_json(&list));
	}
	json_object_object_add(out, "name", json_object_new_string(name));
	json_object_object_add(
		out, "description",
		json_object_new_string(spec->from_profile.about ? spec->from_profile.about : ""));
	json_object_object_add(out, "env", env);
	json_object_object_add(out, "mounts", list_to_json(&mounts));
	json_object_object_add(out, "packages", packages);
	json_object_object_add(out, "writable", list_to_json(&spec->from_profile.writable));
	json_object_object_add(out, "domains", list_to_json(&domains));
	json_object_object_add(out, "registries", list_to_json(&spec->from_profile.registries));
	json_object_object_add(out, "checks", list_to_json(&spec->from_profile.checks));
	return out;
}

/* One value of the JSON form as lines: "mounts    ~/.npm:..." */
static void print_value(const char *key, const char *below, struct json_object *value)
{
	_cleanup_str_ struct str line = { 0 };

	str_addf(&line, "%-11s ", key);
	if (below)
		str_addf(&line, "%s ", below);
	if (!json_object_is_type(value, json_type_array)) {
		str_add_escaped(&line, value ? json_object_get_string(value) : "(as outside)");
		puts(line.s);
		return;
	}
	for (size_t i = 0; i < json_object_array_length(value); i++) {
		str_add(&line, i ? ", " : "");
		str_add_escaped(&line, json_object_get_string(json_object_array_get_idx(value, i)));
	}
	if (json_object_array_length(value))
		puts(line.s);
}

static int do_show(const char *name, bool json, struct err *err)
{
	_cleanup_json_ struct json_object *out = NULL;
	struct spec spec;
	int r = load(&spec, name, err);

	if (r == 0) {
		out = to_json(&spec, name);
		if (json)
			puts(json_object_to_json_string_ext(
				out, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	}
	if (r == 0 && !json) {
		json_object_object_foreach(out, key, value)
		{
			if (!json_object_is_type(value, json_type_object)) {
				print_value(key, NULL, value);
				continue;
			}
			json_object_object_foreach(value, below, entry)
				print_value(key, below, entry);
		}
	}
	spec_release(&spec);
	return r;
}

/* How the packages of a profile get onto this machine; NULL where we do not know. Those of 'base' are
 * for images: what is missing is one of the profile's own. */
static char *how_to_install(struct spec *spec, struct spec *base)
{
	static const struct {
		const char *program, *source, *command;
	} managers[] = {
		{ "apt-get", "debian", "apt-get install" },
		{ "dnf", "fedora", "dnf install" },
		{ "nix", "nix", "nix shell" },
	};
	_cleanup_str_ struct str out = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(managers); i++) {
		struct strv list = { 0 }, common = { 0 };

		if (!os_find_program(&spec->arena, managers[i].program, getenv("PATH") ?: "", NULL))
			continue;
		packages_of(spec, managers[i].source, &list);
		packages_of(base, managers[i].source, &common);
		str_add(&out, managers[i].command);
		for (size_t j = 0; j < list.len; j++)
			if (!strv_has(&common, list.v[j]))
				str_addf(&out, " %s%s", i == 2 ? "nixpkgs#" : "", list.v[j]);
		return arena_strdup(&spec->arena, out.s);
	}
	return NULL;
}

/* In a sandbox with this profile, where the tool is meant to be. */
static int check_one(struct arena *arena, const char *name, const char *dir, const char *check,
		     char **ret_line)
{
	char *self = os_realpath(arena, "/proc/self/exe");
	const char *argv[] = { self,   "run", dir,  "--profile", name,  "--network",
			       "none", "--",  "sh", "-c",        check, NULL };
	_cleanup_free_ char *output = NULL;
	int status = self ? os_capture((char *const *)argv, "/", CHECK_OUTPUT_MAX, &output) : -1;

	*ret_line = arena_strndup(arena, output ? output : "", output ? strcspn(output, "\n") : 0);
	return status < 0 ? status : os_exit_code(status);
}

/* No sandbox, as in a project that nobody trusts: that says nothing of the tool. */
static int no_sandbox(const char *name, const char *dir, struct err *err)
{
	_cleanup_str_ struct str named = { 0 }, where = { 0 }, shown = { 0 };

	str_add_shell(&where, dir);
	str_add_shell(&named, name);
	err_set(err, EPERM, "no sandbox with the profile %s could be started",
		str_quote(&shown, name));
	return err_hint(err, "'wrapix run %s --profile %s -- true' says why", where.s, named.s);
}

/* Returns 1 when a tool is missing. */
static int check_all(struct spec *spec, const char *name, const char *dir, bool json,
		     struct err *err)
{
	_cleanup_json_ struct json_object *out = json_object_new_array();
	bool all = true;

	for (size_t i = 0; i < spec->from_profile.checks.len; i++) {
		const char *check = spec->from_profile.checks.v[i];
		_cleanup_str_ struct str shown = { 0 }, what = { 0 };
		struct json_object *row = json_object_new_object();
		char *line;
		int status = check_one(&spec->arena, name, dir, check, &line);
		bool ok = status == 0;

		if (status == EXIT_WRAPIX) {
			json_object_put(row);
			return no_sandbox(name, dir, err);
		}
		all &= ok;
		str_add_escaped(&shown, line);
		str_add_quoted(&what, check);
		json_object_object_add(row, "check", json_object_new_string(check));
		json_object_object_add(row, "ok", json_object_new_boolean(ok));
		json_object_object_add(row, "output", json_object_new_string(line));
		json_object_array_add(out, row);
		if (!json)
			printf("%-8s %-20s %s\n", ok ? "ok" : "missing", what.s,
			       shown.s ? shown.s : "");
	}
	if (json)
		puts(json_object_to_json_string_ext(out, JSON_C_TO_STRING_PRETTY));
	return !all;
}

/* One of the project's own exists there alone. */
static bool is_projects(struct spec *spec, const char *name)
{
	return spec->config_dir && access(arena_printf(&spec->arena, "%s/.wrapix/profiles/%s.json",
						       spec->config_dir, name),
					  F_OK) == 0;
}

/* Returns 1 when a tool is missing. */
static int do_check(const char *name, bool json, struct err *err)
{
	char dir[] = "/tmp/wrapix-check.XXXXXX";
	struct spec spec, base;
	int r = load(&spec, name, err);
	char *how;

	if (r == 0 && is_projects(&spec, name)) {
		r = check_all(&spec, name, spec.config_dir, json, err);
	} else if (r == 0 && mkdtemp(dir)) {
		r = check_all(&spec, name, dir, json, err);
		rmdir(dir);
	} else if (r == 0) {
		r = err_errno(err, errno, "making '%s'", dir);
	}
	if (r == 1 && !json && load(&base, "base", err) == 0) {
		how = how_to_install(&spec, &base);
		if (how)
			printf("to get what is missing: %s\n", how);
		printf("%s 'wrapix image build %s', and 'wrapix run --image %s' has it from an "
		       "image\n",
		       how ? "or:" : "to get what is missing:", name, path_name(name));
		spec_release(&base);
	}
	spec_release(&spec);
	return r;
}

static const char *const *actions(_unused_ const char *name)
{
	static const char *const words[] = { "list", "show", "check", NULL };

	return words;
}

static int cmd_profile(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct profile_args args = { 0 };
	struct err err = { 0 };
	int r, status = cli_parse(argc, argv, &args, &rest);
	const char *action, *name;

	if (status != CLI_GO_ON)
		return status;
	action = rest.n_operands ? rest.operands[0] : "list";
	name = rest.n_operands > 1 ? rest.operands[1] : "base";
	if (!strcmp(action, "list"))
		r = do_list(args.json, &err);
	else if (!strcmp(action, "show"))
		r = do_show(name, args.json, &err);
	else if (!strcmp(action, "check"))
		r = do_check(name, args.json, &err);
	else
		r = err_usage(&err, "profile: '%s' is none of list, show, check", action);
	return r < 0 ? cli_fail(&err) : r;
}

static const struct opt opts[] = {
	{ 0, "json", FLAG(profile_args, json), .help = "print it as JSON" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_profile = {
	.name = "profile",
	.section = SECTION_HOST,
	.usage = "profile [list | show [NAME] | check [NAME]] [options]",
	.summary = "list the profiles, show one, try its tools",
	.description =
		"A profile is a ready-made environment: variables, mounts, packages, the hosts its "
		"tools download from. 'list' names the built-in ones, your own and the project's, "
		"'show' prints one with all that it extends, 'check' tries each of its tools in a "
		"sandbox and says how to get what is missing; the exit status is 1 when something "
		"is.",
	.examples = EXAMPLES("wrapix profile show rust", "what the profile 'rust' brings",
			     "wrapix profile check node", "whether node and npm are there"),
	.syntax = { opts, .max = 2, .operand = "ACTION", .complete = COMPLETE_WORDS,
		    .words = actions, .rest = COMPLETE_WORDS, .rest_words = config_profile_words },
	.run = cmd_profile,
};
