/* SPDX-License-Identifier: MIT */
/* wrapix ps: the sessions that are running. */
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "session/session.h"

struct ps_args {
	bool json;
};

char *cli_state_home(struct arena *arena)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (state && state[0] == '/')
		return arena_strdup(arena, state);
	return arena_printf(arena, "%s/.local/state", home && home[0] == '/' ? home : "");
}

int cli_list_sessions(struct arena *arena, struct session_info **ret, size_t *ret_len,
		      struct err *err)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	const char *bases[] = {
		arena_printf(arena, "/run/user/%u", geteuid()),
		cli_state_home(arena),
		runtime && runtime[0] == '/' ? runtime : NULL,
		NULL,
	};

	if (bases[2] && !strcmp(bases[2], bases[0]))
		bases[2] = NULL;
	return session_list(arena, bases, ret, ret_len, err);
}

const struct session_info *cli_pick_session(const struct session_info *list, size_t n,
					    const char *word, struct err *err)
{
	const struct session_info *found = NULL;
	_cleanup_str_ struct str ids = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(list[i].id, word))
			return &list[i];
		if (strcmp(list[i].name, word))
			continue;
		found = &list[i];
		str_addf(&ids, "%s%s", count++ ? ", " : "", list[i].id);
	}
	if (count == 1)
		return found;
	if (count)
		err_usage(err, "%zu sessions are called '%s'", count, word);
	else
		err_usage(err, "there is no session '%s'", word);
	if (count)
		err_hint(err, "name one by its id: %s", ids.s);
	else
		err_hint(err, "'wrapix ps' lists them");
	return NULL;
}

/* "45s", "12m", "3h", "2d" */
static void add_age(struct str *out, int64_t seconds)
{
	static const struct {
		int64_t length;
		char unit;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (seconds >= units[i].length || units[i].unit == 's') {
			str_addf(out, "%lld%c", (long long)(seconds / units[i].length),
				 units[i].unit);
			return;
		}
}

static void print_text(const struct session_info *list, size_t n)
{
	printf("%-10s %-20s %7s %5s  %-8s %s\n", "ID", "NAME", "PID", "AGE", "NETWORK",
	       "DIRECTORY: COMMAND");
	for (size_t i = 0; i < n; i++) {
		_cleanup_str_ struct str name = { 0 }, age = { 0 }, rest = { 0 };

		str_add_escaped(&name, list[i].name);
		add_age(&age, time(NULL) - list[i].started);
		str_add_escaped(&rest, list[i].dir);
		str_add(&rest, ": ");
		str_add_escaped(&rest, list[i].command);
		printf("%-10s %-20s %7d %5s  %-8s %s\n", list[i].id, name.s ? name.s : "",
		       (int)list[i].pid, age.s, list[i].network, rest.s);
	}
}

static void print_json(const struct session_info *list, size_t n)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "[");
	for (size_t i = 0; i < n; i++) {
		const struct {
			const char *key, *value;
		} pairs[] = {
			{ "id", list[i].id },           { "name", list[i].name },
			{ "dir", list[i].dir },         { "engine", list[i].engine },
			{ "network", list[i].network }, { "command", list[i].command },
		};

		str_addf(&out, "%s\n  {\"pid\": %d, \"started\": %lld", i ? "," : "",
			 (int)list[i].pid, (long long)list[i].started);
		for (size_t j = 0; j < ARRAY_LEN(pairs); j++) {
			str_addf(&out, ", \"%s\": ", pairs[j].key);
			json_add_string(&out, pairs[j].value);
		}
		str_add(&out, "}");
	}
	printf("%s%s]\n", out.s, n ? "\n" : "");
}

static int cmd_ps(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct ps_args args = { 0 };
	struct session_info *list;
	struct arena arena = { 0 };
	struct err err;
	size_t n;
	int status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	if (cli_list_sessions(&arena, &list, &n, &err) < 0)
		status = cli_fail(&err);
	else
		(args.json ? print_json : print_text)(list, n);
	arena_release(&arena);
	return status == CLI_GO_ON ? 0 : status;
}

int cli_print_sessions(void)
{
	struct session_info *list;
	struct arena arena = { 0 };
	struct err err;
	size_t n;

	if (cli_list_sessions(&arena, &list, &n, &err) == 0)
		for (size_t i = 0; i < n; i++)
			printf("%s\n%s\n", list[i].name, list[i].id);
	arena_release(&arena);
	return 0;
}

static const struct opt opts[] = {
	{ 0, "json", FLAG(ps_args, json), .help = "print the sessions as JSON" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_ps = {
	.name = "ps",
	.section = SECTION_SESSIONS,
	.usage = "ps [options]",
	.summary = "list the running sessions",
	.description = "One line for each sandbox of yours that is running.",
	.examples = EXAMPLES("wrapix ps", "what is running"),
	.syntax = { opts },
	.run = cmd_ps,
};
