/* SPDX-License-Identifier: MIT */
/* The key "ralph", as the user's and as a project's: what is taken is in its bounds, and a project names no program and no path outside. */
#include <string.h>

#include "base/json.h"
#include "cow/paths.h"
#include "ralph/config.h"
#include "fuzz.h"

static void check_taken(const struct ralph_config *c)
{
	check(c->attempts >= 1 && c->attempts <= 100 && c->parallel >= 1 && c->parallel <= 16);
	check(c->max_cost >= 0 && c->step_cost >= 0 && c->max_time >= 0 && c->silence > 0);
	check(path_is_plain(c->specs) && path_is_plain(c->pinned));
	check(!c->from_project || !c->agent || !strchr(c->agent, '/'));
	for (size_t i = 0; i < c->protect.len; i++)
		check(path_is_plain(c->protect.v[i]));
	for (size_t i = 0; i < PHASE_COUNT; i++)
		check(!c->models[i] || c->models[i][0] != '-');
}

static void take(struct json_object *root, bool from_project)
{
	struct ralph_config config;
	struct err err = { 0 };

	ralph_config_init(&config);
	config.from_project = from_project;
	if (ralph_config_take(&config, root, &err) == 0)
		check_taken(&config);
	else
		check(err.msg[0]);
	ralph_config_release(&config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	_cleanup_json_ struct json_object *root = NULL;
	int64_t seconds = 0;
	struct err err;

	if (text && parse_duration(text, &seconds, &err) == 0)
		check(seconds > 0);
	if (json_parse((const char *)data, size, "wrapix.json", &root, &err) < 0)
		return 0;
	take(root, false);
	take(root, true);
	return 0;
}
