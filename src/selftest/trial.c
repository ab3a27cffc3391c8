/* SPDX-License-Identifier: MIT */
/*
 * Both sides of a self test. A round is one kind of sandbox: the attempts of its place are listed by
 * the program that makes them, run outside as their control says, and all in one sandbox inside.
 * Those on a terminal are run one by one, because what became of the user's terminal is the result.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "os/fs.h"
#include "selftest/scene.h"
#include "selftest/trial.h"

struct round {
	const char *place;   /* as the attempts know it */
	const char *engines; /* where it is made; NULL: everywhere */
	bool root, user;     /* as whom */
	bool nested;         /* only where namespaces may be made inside */
	bool terminal;
	bool own_home; /* with a home in which a key has been made */
	const char *const *options;
};

#define RESULTS "results" /* in the project, where standard output will not do */
#define OPTIONS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static const struct round rounds[] = {
	{ "none", .user = true },
	{ "root", .root = true },
	{ "nested", .user = true, .nested = true },
	{ "small", "native", .user = true, .root = true,
	  .options = OPTIONS("--disk", "16M", "--pids", "64", "--memory", "128M") },
	{ "keys", "native", .user = true, .own_home = true,
	  .options = OPTIONS("--deploy-key", "escape") },
	{ "tty", "native podman", .user = true, .root = true, .terminal = true },
};

static bool applies(const struct selftest *test, const struct round *round)
{
	return (geteuid() ? round->user : round->root) && (!round->nested || test->nested) &&
	       (!round->engines || strstr(round->engines, test->engine));
}

static bool is_exec(const struct selftest *test)
{
	return !strcmp(test->engine, "exec");
}

static bool is_podman(const struct selftest *test)
{
	return !strcmp(test->engine, "podman");
}

/* --- what is tried --- */

static struct trial_case *find_case(const struct selftest *test, const char *name)
{
	for (size_t i = 0; i < test->n_cases; i++)
		if (!strcmp(test->cases[i].name, name))
			return &test->cases[i];
	return NULL;
}

static void add_case(struct selftest *test, bool terminal, char *line)
{
	char *save = NULL, *name = strtok_r(line, " ", &save),
	     *control = strtok_r(NULL, " ", &save);
	char *seen = strtok_r(NULL, " ", &save), *group = strtok_r(NULL, " ", &save);
	bool evidence = seen && !strcmp(seen, "evidence");
	struct trial_case *c;

	/* What is judged by the victim alone disturbs more than the victim. */
	if (!group || find_case(test, name) || (evidence && !terminal))
		return;
	c = arena_grow(&test->arena, &test->cases, &test->n_cases, sizeof(*c));
	*c = (struct trial_case){ .name = arena_strdup(&test->arena, name),
				  .control = arena_strdup(&test->arena, control),
				  .group = arena_strdup(&test->arena, group),
				  .evidence = evidence };
}

/* Adds the attempts of a place that no earlier round has. */
static int list_place(struct selftest *test, struct scene *scene, const struct round *round,
		      struct err *err)
{
	char *argv[] = { scene->attempt, (char *)"--list", (char *)round->place, NULL };
	int status = scene_run(scene, argv);
	char *save = NULL, *text = scene_read(scene, "log/out");

	if (status)
		return err_set(err, EIO, "'%s' cannot be run", scene->attempt);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		add_case(test, round->terminal, line);
	return 0;
}

/* --- the two sides --- */

static void take_results(struct selftest *test, char *text, bool inside)
{
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *blank = strchr(line, ' ');
		struct trial_case *c;

		if (!blank)
			continue;
		*blank = '\0';
		c = find_case(test, line);
		if (c && inside)
			c->inside = arena_strdup(&test->arena, blank + 1);
		else if (c)
			c->outside = arena_strdup(&test->arena, blank + 1);
	}
}

static void add_names(struct selftest *test, struct arena *arena, struct strv *argv, size_t first,
		      const char *control)
{
	for (size_t i = first; i < test->n_cases; i++)
		if (!test->cases[i].evidence &&
		    (!control || !strcmp(control, test->cases[i].control)))
			strv_add(arena, argv, test->cases[i].name);
}

static void run_controls(struct selftest *test, struct scene *scene, size_t first)
{
	static const struct {
		const char *control, *option;
	} kinds[] = { { "plain", NULL }, { "userns", "--userns" } };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct strv argv = { 0 };
		size_t words;

		strv_add(&scene->arena, &argv, scene->attempt);
		if (kinds[i].option)
			strv_add(&scene->arena, &argv, kinds[i].option);
		words = argv.len;
		add_names(test, &scene->arena, &argv, first, kinds[i].control);
		if (argv.len == words || scene_run(scene, argv.v) < 0)
			continue;
		take_results(test, scene_read(scene, "log/out"), false);
	}
}

/* What starts the sandbox, up to the name of the program inside. */
static void add_sandbox(const struct selftest *test, struct scene *scene, const struct round *round,
			struct strv *argv)
{
	struct arena *a = &scene->arena;

	if (round->own_home) {
		strv_add(a, argv, "/usr/bin/env");
		strv_add(a, argv, "-uXDG_CONFIG_HOME");
		strv_addf(a, argv, "HOME=%s/keyhome", scene->base);
	}
	strv_add(a, argv, scene->self);
	if (is_exec(test)) {
		strv_add(a, argv, "exec");
		strv_addf(a, argv, "--settings=%s/settings.json", scene->base);
	} else {
		strv_add(a, argv, "run");
		strv_add(a, argv, scene->project);
		strv_add(a, argv, "--name=selftest");
		strv_addf(a, argv, "--engine=%s", test->engine);
		if (geteuid() == 0)
			strv_add(a, argv, "--as-root");
		strv_addf(a, argv, "--mount=%s/shown:/shown:ro", scene->base);
		strv_addf(a, argv, "--env=WX_ARG=%s", scene->argument);
		for (size_t i = 0; round->options && round->options[i]; i++)
			strv_add(a, argv, round->options[i]);
		for (size_t i = 0; test->options && test->options[i]; i++)
			strv_add(a, argv, test->options[i]);
	}
	strv_add(a, argv, "--");
	strv_add(a, argv, "./attempt");
	strv_add(a, argv, "--inside");
	/* podman's standard output is a pipe, which an attempt may read from */
	if (is_podman(test) && !round->terminal)
		strv_add(a, argv, "--to=" RESULTS);
}

/* What the attempts inside said. */
static char *read_results(const struct selftest *test, struct scene *scene,
			  const struct round *round)
{
	char *text, *to;

	if (is_podman(test) && !round->terminal)
		return scene_read(scene, "project/" RESULTS);
	text = to = scene_read(scene, "log/out");
	for (const char *from = text; *from; from++)
		if (*from != '\r') /* a terminal's */
			*to++ = *from;
	*to = '\0';
	return text;
}

/* The last line that wrapix itself said. */
static int failed(struct scene *scene, const char *what, struct err *err)
{
	char *text = scene_read(scene, "log/err"), *hint;
	size_t len;

	text += str_starts(text, "wrapix: ") ? strlen("wrapix: ") : 0;
	hint = strstr(text, "\nhint: ");
	len = hint ? (size_t)(hint - text) : strlen(text);

	while (len && text[len - 1] == '\n')
		len--;
	text[MIN(len, 500U)] = '\0';
	err_set(err, EIO, "%s: %s", what, len ? text : "it said nothing");
	if (hint)
		err_hint(err, "%.*s", (int)strcspn(hint + 7, "\n"), hint + 7);
	return -EIO;
}

static int run_inside(struct selftest *test, struct scene *scene, const struct round *round,
		      size_t first, struct err *err)
{
	struct strv argv = { 0 };
	size_t words;
	int status;

	add_sandbox(test, scene, round, &argv);
	words = argv.len;
	add_names(test, &scene->arena, &argv, first, NULL);
	if (argv.len == words)
		return 0;
	(void)unlinkat(scene->lock_fd, "project/" RESULTS, 0);
	status = scene_run(scene, argv.v);
	if (status < 0)
		return err_errno(err, -status, "starting a sandbox");
	take_results(test, read_results(test, scene, round), true);
	if (!WIFEXITED(status) || WEXITSTATUS(status) >= EXIT_WRAPIX)
		return failed(scene, "the sandbox did not start, or did not live to the end", err);
	return 0;
}

/* --- on a terminal --- */

/* True when the terminal that the words ran on is not as it was. */
static bool changes_terminal(struct scene *scene, const struct strv *words, bool *ret_ran)
{
	struct strv argv = { 0 };
	const char *report;

	strv_add(&scene->arena, &argv, scene->attempt);
	strv_add(&scene->arena, &argv, "--on-terminal");
	strv_addf(&scene->arena, &argv, "%s/log/terminal", scene->base);
	for (size_t i = 0; i < words->len; i++)
		strv_add(&scene->arena, &argv, words->v[i]);
	(void)unlinkat(scene->lock_fd, "log/terminal", 0);
	(void)scene_run(scene, argv.v);
	report = scene_read(scene, "log/terminal");
	*ret_ran = report[0];
	return str_starts(report, "changed");
}

static void try_on_terminal(struct selftest *test, struct scene *scene, const struct round *round,
			    struct trial_case *c)
{
	struct strv outside = { 0 }, inside = { 0 };
	bool ran, changed;

	strv_add(&scene->arena, &outside, scene->attempt);
	strv_add(&scene->arena, &outside, c->name);
	changed = changes_terminal(scene, &outside, &ran);
	c->outside = changed ? "worked" : "stopped";
	add_sandbox(test, scene, round, &inside);
	strv_add(&scene->arena, &inside, c->name);
	changed = changes_terminal(scene, &inside, &ran);
	if (ran && strstr(read_results(test, scene, round), c->name))
		c->inside = changed ? "worked" : "stopped";
}

static void run_terminal(struct selftest *test, struct scene *scene, const struct round *round,
			 size_t first)
{
	struct strv argv = { 0 };
	bool ran;

	for (size_t i = first; i < test->n_cases; i++)
		if (test->cases[i].evidence)
			try_on_terminal(test, scene, round, &test->cases[i]);
	add_sandbox(test, scene, round, &argv);
	add_names(test, &scene->arena, &argv, first, NULL);
	(void)changes_terminal(scene, &argv, &ran);
	take_results(test, read_results(test, scene, round), true);
}

/* --- preparations --- */

/* Everything may be read but the victim's files, nothing changed outside, no host reached. */
static int write_settings(struct scene *scene, const char *home, struct err *err)
{
	_cleanup_str_ struct str s = { 0 };

	str_add(&s, "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": []},\n"
		    " \"filesystem\": {\"allowWrite\": [], \"denyRead\": [");
	json_add_string(&s, home);
	str_add(&s, "], \"allowRead\": [");
	json_add_string(&s, scene->project);
	str_add(&s, "], \"denyWrite\": [");
	json_add_string(&s, path_join(&scene->arena, scene->project, "wrapix.json"));
	str_add(&s, ", ");
	json_add_string(&s, path_join(&scene->arena, scene->project, ".wrapix"));
	str_add(&s, "]},\n \"credentials\": {\"envVars\": [");
	for (size_t i = 0; i < scene->env.len; i++) {
		const char *equal = strchr(scene->env.v[i], '=');

		if (!equal || strcmp(equal + 1, scene->token))
			continue;
		str_add(&s, "{\"mode\": \"deny\", \"name\": ");
		json_add_string(&s, arena_strndup(&scene->arena, scene->env.v[i],
						  (size_t)(equal - scene->env.v[i])));
		str_add(&s, "}, ");
	}
	str_add(&s, "{\"mode\": \"deny\", \"name\": \"WX_NOTHING\"}]}}\n");
	return os_write_file_atomic(scene->lock_fd, "settings.json", s.s, s.len, 0600, err);
}

static void make_key(struct scene *scene)
{
	struct strv argv = { 0 };

	strv_add(&scene->arena, &argv, "/usr/bin/env");
	strv_add(&scene->arena, &argv, "-uXDG_CONFIG_HOME");
	strv_addf(&scene->arena, &argv, "HOME=%s/keyhome", scene->base);
	strv_add(&scene->arena, &argv, scene->self);
	strv_add(&scene->arena, &argv, "key");
	strv_add(&scene->arena, &argv, "add");
	strv_add(&scene->arena, &argv, "escape");
	(void)scene_run(scene, argv.v); /* without it the round's attempts are 'not tried' */
}

static bool is_token(const struct scene *scene, const char *name)
{
	for (size_t i = 0; i < scene->env.len; i++) {
		const char *equal = strchr(scene->env.v[i], '=');

		if (equal && !strcmp(equal + 1, scene->token) &&
		    str_starts(scene->env.v[i], name) && equal == scene->env.v[i] + strlen(name))
			return true;
	}
	return false;
}

static void read_plan(struct selftest *test, struct scene *scene, struct json_object *plan)
{
	struct json_object *value, *list;
	const char *text;

	if (json_object_object_get_ex(plan, "network", &value) &&
	    (text = json_object_get_string(value)))
		test->network = arena_strdup(&test->arena, text);
	if (json_object_object_get_ex(plan, "seccomp", &value))
		test->nested = strstr(json_object_to_json_string(value), "nested");
	if (json_object_object_get_ex(plan, "weaker", &list))
		for (size_t i = 0; i < json_object_array_length(list); i++)
			strv_add(&test->arena, &test->weaker,
				 json_object_get_string(json_object_array_get_idx(list, i)));
	/* A variable that was let in is there by its name alone; so are our tokens then. */
	if (json_object_object_get_ex(plan, "env", &list))
		for (size_t i = 0; i < json_object_array_length(list); i++)
			test->lets_token |= is_token(
				scene, json_object_get_string(json_object_array_get_idx(list, i)));
	if (!json_object_object_get_ex(plan, "root", &list))
		return;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *op = json_object_array_get_idx(list, i);

		if (json_object_object_get_ex(op, "op", &value) &&
		    !strcmp(json_object_get_string(value), "image"))
			test->image = true;
		if (json_object_object_get_ex(op, "source", &value) &&
		    path_is_below(scene->base, json_object_get_string(value)))
			test->shows_home = true;
	}
}

/* What this configuration amounts to, as 'wrapix plan' says it. */
static int ask_plan(struct selftest *test, struct scene *scene, struct err *err)
{
	_cleanup_json_ struct json_object *plan = NULL;
	struct strv argv = { 0 };
	char *text;
	int status, r;

	strv_add(&scene->arena, &argv, scene->self);
	strv_add(&scene->arena, &argv, "plan");
	strv_add(&scene->arena, &argv, scene->project);
	strv_addf(&scene->arena, &argv, "--engine=%s", test->engine);
	if (geteuid() == 0)
		strv_add(&scene->arena, &argv, "--as-root");
	for (size_t i = 0; test->options && test->options[i]; i++)
		strv_add(&scene->arena, &argv, test->options[i]);
	strv_add(&scene->arena, &argv, "--json");
	strv_add(&scene->arena, &argv, "--");
	strv_add(&scene->arena, &argv, "true");
	status = scene_run(scene, argv.v);
	if (status)
		return failed(scene, "wrapix plan", err);
	text = scene_read(scene, "log/out");
	r = json_parse(text, strlen(text), "plan", &plan, err);
	if (r == 0)
		read_plan(test, scene, plan);
	return r;
}

static int prepare(struct selftest *test, struct scene *scene, struct err *err)
{
	const char *home = getenv("HOME");

	if (!is_exec(test))
		return ask_plan(test, scene, err);
	return write_settings(scene, home && home[0] == '/' ? home : scene->base, err);
}

int trial_run(struct selftest *test, struct scene *scene, struct err *err)
{
	int r = prepare(test, scene, err);

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(rounds); i++) {
		const struct round *round = &rounds[i];
		size_t first = test->n_cases;

		if (!applies(test, round))
			continue;
		test->say(round->place);
		r = list_place(test, scene, round, err);
		if (r < 0)
			break;
		if (round->own_home)
			make_key(scene);
		run_controls(test, scene, first);
		if (round->terminal)
			run_terminal(test, scene, round, first);
		else if (i == 0 || !round->options)
			r = run_inside(test, scene, round, first, err);
		else /* what this machine cannot give is 'not tried' */
			(void)run_inside(test, scene, round, first, err);
	}
	return r;
}
