/* SPDX-License-Identifier: MIT */
#include "os/quiet_git.h"

#include "base/util.h"

static const struct git_setting settings[] = {
	{ "core.hooksPath", "/dev/null" },       { "core.fsmonitor", "false" },
	{ "core.alternateRefsCommand", "true" }, { "gc.auto", "0" },
	{ "maintenance.auto", "false" },         { "submodule.recurse", "false" },
};

void quiet_git_add_words(struct arena *arena, struct strv *argv)
{
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		strv_add(arena, argv, "-c");
		strv_addf(arena, argv, "%s=%s", settings[i].key, settings[i].value);
	}
}

static void add_setting(struct arena *arena, struct strv *env, size_t i,
			const struct git_setting *setting)
{
	strv_addf(arena, env, "GIT_CONFIG_KEY_%zu=%s", i, setting->key);
	strv_addf(arena, env, "GIT_CONFIG_VALUE_%zu=%s", i, setting->value);
}

void quiet_git_add_settings(struct arena *arena, struct strv *env, const struct git_setting *more,
			    size_t n)
{
	strv_addf(arena, env, "GIT_CONFIG_COUNT=%zu", ARRAY_LEN(settings) + n);
	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		add_setting(arena, env, i, &settings[i]);
	for (size_t i = 0; i < n; i++)
		add_setting(arena, env, ARRAY_LEN(settings) + i, &more[i]);
}

void quiet_git_add_env(struct arena *arena, struct strv *env, const char *protocols)
{
	strv_add(
		arena, env,
		"GIT_NO_LAZY_FETCH=1"); /* from git 2.44 on; before, it has no protocol to fetch by */
	strv_addf(arena, env, "GIT_ALLOW_PROTOCOL=%s", protocols);
	strv_add(arena, env, "GIT_TERMINAL_PROMPT=0");
	strv_add(arena, env, "GIT_ASKPASS=/bin/false");
}
