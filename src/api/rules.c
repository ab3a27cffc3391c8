/* SPDX-License-Identifier: MIT */
/* The rules of the network before a plan is made: are they good, and what do the profile's tools add? */
#include <string.h>

#include "api/api.h"
#include "base/str.h"
#include "net/policy.h"
#include "os/fs.h"
#include "spec/registry.h"

static void wrap_escaped(struct err *err, const char *where)
{
	_cleanup_str_ struct str shown = { 0 };

	str_add_escaped(&shown, where);
	err_wrap(err, "%s", shown.s);
}

/* 'none' on the command line, or in a file that counts more, is less than hosts which others have named,
 * and no contradiction. */
static bool is_none_at_all(const struct spec *spec)
{
	enum layer layer;

	if (spec->net != NET_NONE || !spec_layer(spec, "network", &layer))
		return false;
	for (size_t i = 0; i < spec->n_rules; i++) {
		const struct rule_spec *rule = &spec->rules[i];

		if (rule->layer > layer ||
		    (rule->layer == layer && !(rule->where && layer == LAYER_FLAG)))
			return false;
	}
	return true;
}

/* Who has said what the network is: nobody looks for a file that he has not written. */
static int refuse_hosts(const struct spec *spec, struct err *err)
{
	static const char *const files[] = {
		[LAYER_PROFILE] = "by the profile",
		[LAYER_USER] = "by your config.json",
		[LAYER_AROUND] = "by a wrapix.json around the project",
		[LAYER_PROJECT] = "by the project's wrapix.json",
	};
	enum layer layer;
	const char *by = spec_layer(spec, "network", &layer) && layer < LAYER_FLAG ? files[layer]
										   : NULL;

	err_usage(err, "hosts are named, and the network is '%s'%s%s", net_mode_name(spec->net),
		  by ? ", " : "", by ? by : "");
	return err_hint(err, by ? "--allow and --deny belong to --network filtered, which on the "
				  "command line counts more than that file"
				: "--allow and --deny belong to --network filtered");
}

/* The rules of the network, before anything is started for them. */
int api_check_rules(const struct spec *spec, struct err *err)
{
	struct arena arena = { 0 };
	bool allows = false;
	int r = 0;

	for (size_t i = 0; r == 0 && i < spec->n_rules; i++) {
		struct rule rule;

		r = rule_parse(&arena, spec->rules[i].text, spec->rules[i].deny ? RULE_DENY : 0,
			       &rule, err);
		if (r < 0 && spec->rules[i].where)
			wrap_escaped(err, spec->rules[i].where);
	}
	arena_release(&arena);
	for (size_t i = 0; i < spec->n_rules; i++)
		allows |= !spec->rules[i].deny;
	if (r == 0 && spec_names_hosts(spec) && !allows && spec->net == NET_UNSET) {
		err_usage(err, "only hosts to deny are named, so none could be reached");
		return err_hint(err, "name those to --allow as well");
	}
	if (r == 0 && spec_names_hosts(spec) && spec->net != NET_UNSET &&
	    spec->net != NET_FILTERED && !is_none_at_all(spec))
		return refuse_hosts(spec, err);
	return r;
}

/* Somebody has decided about "HOST:PORT". */
static bool is_decided(const struct spec *spec, const char *host)
{
	int len = (int)strcspn(host, ":");

	for (size_t i = 0; i < spec->n_rules; i++) {
		const char *rule = spec->rules[i].text;

		if (!strcmp(rule, host) || !strcmp(rule, "*") ||
		    (strlen(rule) == (size_t)len && !strncmp(rule, host, (size_t)len)))
			return true;
	}
	return false;
}

/* What a tool has used and nobody has decided about: a sandbox may have put it there, so the user does. False: it has
 * used none. */
static bool say_used(struct spec *spec, const char *tool, const struct registry_place *place,
		     struct strv *says)
{
	_cleanup_str_ struct str hosts = { 0 };
	struct strv used = { 0 };

	registry_used(&spec->arena, tool, place, &used);
	for (size_t i = 0; i < used.len; i++)
		if (!is_decided(spec, used.v[i]))
			str_addf(&hosts, " --allow %s", used.v[i]);
	if (hosts.len)
		strv_addf(&spec->arena, says,
			  "%s has used hosts that its configuration does not name; if you know "
			  "them:%s",
			  tool, hosts.s);
	return used.len > 0;
}

static int add_registry(struct spec *spec, const char *tool, const struct registry_place *place,
			struct strv *says, struct err *err)
{
	struct strv hosts = { 0 };
	bool known = registry_hosts(&spec->arena, tool, place, &hosts);
	int r = 0;

	for (size_t i = 0; r == 0 && i < hosts.len; i++)
		r = spec_add_rule(spec, hosts.v[i], false, LAYER_PROFILE, err);
	if (r == 0 && !say_used(spec, tool, place, says) && !known)
		strv_addf(&spec->arena, says,
			  "this machine does not say where %s downloads from; if it must, name "
			  "the host with --allow",
			  tool);
	return r;
}

/* What the profile's tools download from, as this machine's own configuration names it. */
int api_add_registries(struct spec *spec, struct strv *says, struct err *err)
{
	struct arena *a = &spec->arena;
	const struct registry_place place = {
		.home = getenv("HOME") ?: "/",
		.cache_home = api_base_dir(a, "XDG_CACHE_HOME", ".cache"),
		.path = getenv("PATH"),
		.except = os_realpath(a, spec->dir),
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < spec->from_profile.registries.len; i++)
		r = add_registry(spec, spec->from_profile.registries.v[i], &place, says, err);
	return r;
}
