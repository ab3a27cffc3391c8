/* SPDX-License-Identifier: MIT */
/* wrapix ps: the sessions that are running. */
#include <string.h>
#include <time.h>

#include "api/api.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/cow.h"
#include "session/session.h"

struct ps_args {
	bool json, all;
};

char *cli_state_home(struct arena *arena)
{
	return api_base_dir(arena, "XDG_STATE_HOME", ".local/state");
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

/* The copy-on-write session with that id, or NULL. */
static const struct cow_info *find_cow(const struct cow_info *cows, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(cows[i].id, id))
			return &cows[i];
	return NULL;
}

static void print_running(const struct session_info *list, size_t n, const struct cow_info *cows,
			  size_t n_cows)
{
	printf("%-10s %-20s %7s %5s  %-8s %7s  %s\n", "ID", "NAME", "PID", "AGE", "NETWORK",
	       "CHANGES", "DIRECTORY: COMMAND");
	for (size_t i = 0; i < n; i++) {
		_cleanup_str_ struct str name = { 0 }, age = { 0 }, rest = { 0 }, size = { 0 };
		const struct cow_info *cow = find_cow(cows, n_cows, list[i].id);

		str_add_escaped(&name, list[i].name);
		add_age(&age, time(NULL) - list[i].started);
		str_add_escaped(&rest, list[i].dir);
		str_add(&rest, ": ");
		str_add_escaped(&rest, list[i].command);
		if (cow)
			add_size(&size, cow_usage(cow->base, cow->id));
		printf("%-10s %-20s %7d %5s  %-8s %7s  %s\n", list[i].id, name.s ? name.s : "",
		       (int)list[i].pid, age.s, list[i].network, size.s ? size.s : "-", rest.s);
	}
}

/* What 'wrapix run --workspace cow' left to look at. */
static void print_kept(const struct cow_info *cows, size_t n)
{
	size_t kept = 0, old = 0;

	for (size_t i = 0; i < n; i++) {
		_cleanup_str_ struct str name = { 0 }, age = { 0 }, dir = { 0 }, size = { 0 };

		if (cows[i].running)
			continue;
		if (!kept++)
			printf("\nKept, to look at with 'wrapix diff':\n");
		old += cow_is_old(&cows[i]);
		str_add_escaped(&name, cows[i].name);
		str_add_escaped(&dir, cows[i].project);
		add_age(&age, time(NULL) - cows[i].started);
		add_size(&size, cow_usage(cows[i].base, cows[i].id));
		printf("%-10s %-20s %7s %5s  %-8s %7s  %s\n", cows[i].id, name.s ? name.s : "", "-",
		       age.s, "-", size.s, dir.s);
	}
	if (old)
		printf("hint: 'wrapix discard --old' goes through the %zu older than 14 days\n",
		       old);
}

static void add_pairs(struct str *out, const char *const (*pairs)[2], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		str_addf(out, ", \"%s\": ", pairs[i][0]);
		json_add_string(out, pairs[i][1]);
	}
}

static void add_running(struct str *out, const struct session_info *session,
			const struct cow_info *cow)
{
	const char *const pairs[][2] = {
		{ "id", session->id },           { "name", session->name },
		{ "dir", session->dir },         { "engine", session->engine },
		{ "network", session->network }, { "command", session->command },
	};

	str_addf(out, "{\"pid\": %d, \"started\": %lld", (int)session->pid,
		 (long long)session->started);
	add_pairs(out, pairs, ARRAY_LEN(pairs));
	if (cow)
		str_addf(out, ", \"changedBytes\": %llu",
			 (unsigned long long)cow_usage(cow->base, cow->id));
	str_add(out, "}");
}

static void add_kept(struct str *out, const struct cow_info *cow)
{
	const char *const pairs[][2] = {
		{ "id", cow->id },
		{ "name", cow->name },
		{ "dir", cow->project },
	};

	str_addf(out, "{\"kept\": true, \"started\": %lld", (long long)cow->started);
	add_pairs(out, pairs, ARRAY_LEN(pairs));
	str_addf(out, ", \"changedBytes\": %llu}",
		 (unsigned long long)cow_usage(cow->base, cow->id));
}

static void print_json(const struct session_info *list, size_t n, const struct cow_info *cows,
		       size_t n_cows, bool all)
{
	_cleanup_str_ struct str out = { 0 };
	size_t count = 0;

	str_add(&out, "[");
	for (size_t i = 0; i < n; i++) {
		str_add(&out, count++ ? ",\n  " : "\n  ");
		add_running(&out, &list[i], find_cow(cows, n_cows, list[i].id));
	}
	for (size_t i = 0; all && i < n_cows; i++) {
		if (cows[i].running)
			continue;
		str_add(&out, count++ ? ",\n  " : "\n  ");
		add_kept(&out, &cows[i]);
	}
	printf("%s%s]\n", out.s, count ? "\n" : "");
}

static int cmd_ps(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct ps_args args = { 0 };
	struct session_info *list;
	struct arena arena = { 0 };
	struct cow_info *cows;
	struct err err;
	size_t n, n_cows;
	int status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	if (cli_list_sessions(&arena, &list, &n, &err) < 0 ||
	    cli_cow_list(&arena, &cows, &n_cows, &err) < 0) {
		status = cli_fail(&err);
	} else if (args.json) {
		print_json(list, n, cows, n_cows, args.all);
	} else {
		print_running(list, n, cows, n_cows);
		print_kept(cows, n_cows);
	}
	arena_release(&arena);
	return status == CLI_GO_ON ? 0 : status;
}

int cli_print_sessions(void)
{
	struct session_info *list;
	struct cow_info *cows;
	struct arena arena = { 0 };
	struct err err;
	size_t n;

	if (cli_list_sessions(&arena, &list, &n, &err) == 0)
		for (size_t i = 0; i < n; i++)
			printf("%s\n%s\n", list[i].name, list[i].id);
	if (cli_cow_list(&arena, &cows, &n, &err) == 0)
		for (size_t i = 0; i < n; i++)
			if (!cows[i].running)
				printf("%s\n%s\n", cows[i].name, cows[i].id);
	arena_release(&arena);
	return 0;
}

static const struct opt opts[] = {
	{ 0, "json", FLAG(ps_args, json), .help = "print the sessions as JSON" },
	{ 0, "all", FLAG(ps_args, all), .help = "in JSON, those that are kept as well" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_ps = {
	.name = "ps",
	.section = SECTION_SESSIONS,
	.usage = "ps [options]",
	.summary = "list the running sessions",
	.description = "One line for each sandbox of yours that is running, with the room that a "
		       "copy-on-write session takes; then those that ended and are kept.",
	.examples = EXAMPLES("wrapix ps", "what is running"),
	.syntax = { opts },
	.run = cmd_ps,
};
