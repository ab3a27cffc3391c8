/* SPDX-License-Identifier: MIT */
/*
 * A settings file, or a line of a control descriptor: taken whole or refused with words. Of what is taken the plain reader of JSON
 * sees no path, no host and no port that the settings do not have.
 */
#include <string.h>

#include "base/json.h"
#include "spec/srt.h"
#include "fuzz.h"

static struct json_object *get(struct json_object *root, const char *group, const char *key)
{
	return json_object_object_get(json_object_object_get(root, group), key);
}

static void check_hosts(struct json_object *list, const struct strv *hosts)
{
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;

	check(hosts->len == n);
	for (size_t i = 0; i < n; i++)
		check(!strcmp(json_object_get_string(json_object_array_get_idx(list, i)),
			      hosts->v[i]));
}

/* The next of that kind: they are in the file's order. */
static const struct srt_path *next_path(const struct srt_config *config, enum file_rule_kind kind,
					const char *key, size_t *at)
{
	while (*at < config->n_paths)
		if (config->paths[(*at)++].kind == kind &&
		    !strncmp(config->paths[*at - 1].key, key, strlen(key)))
			return &config->paths[*at - 1];
	return NULL;
}

static void check_paths(struct json_object *list, const struct srt_config *config,
			enum file_rule_kind kind)
{
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		struct json_object *entry = json_object_array_get_idx(list, i);
		const struct srt_path *path = next_path(config, kind, "filesystem.", &at);

		if (json_object_is_type(entry, json_type_object))
			entry = json_object_object_get(entry, "path");
		check(path && !strcmp(path->text, json_object_get_string(entry)));
	}
	check(!next_path(config, kind, "filesystem.", &at));
}

static void check_same(const struct srt_config *config, struct json_object *root)
{
	check_hosts(get(root, "network", "allowedDomains"), &config->allowed);
	check_hosts(get(root, "network", "deniedDomains"), &config->denied);
	check_hosts(get(root, "network", "deniedResolvedAddresses"), &config->denied_resolved);
	check_paths(get(root, "filesystem", "denyRead"), config, FILE_DENY_READ);
	check_paths(get(root, "filesystem", "allowRead"), config, FILE_ALLOW_READ);
	check_paths(get(root, "filesystem", "allowWrite"), config, FILE_ALLOW_WRITE);
	check_paths(get(root, "filesystem", "denyWrite"), config, FILE_DENY_WRITE);
	check(json_object_get_double(get(root, "network", "httpProxyPort")) ==
	      config->http_proxy_port);
	check(json_object_get_double(get(root, "network", "socksProxyPort")) ==
	      config->socks_proxy_port);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_json_ struct json_object *root = NULL;
	_cleanup_str_ struct str why = { 0 };
	struct srt_config config = { 0 };
	struct err err;
	int r = srt_parse(&config, (const char *)data, size, "f", &why);

	check((r < 0) == (why.len > 0));
	for (size_t i = 0; r == 0 && i < config.n_paths; i++)
		check(config.paths[i].text[0] && config.paths[i].key);
	if (r == 0 && json_parse((const char *)data, size, "f", &root, &err) == 0)
		check_same(&config, root);
	srt_ignores(&config, "command", "line");
	srt_reason(&config, "a.b");
	srt_config_release(&config);
	return 0;
}
