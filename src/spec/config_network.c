/* SPDX-License-Identifier: MIT */
/* The keys of a configuration file that speak of the network: mode, rules, ports. */
#include <string.h>

#include "base/json.h"
#include "base/json_span.h"
#include "base/str.h"
#include "spec/config_priv.h"
#include "spec/widen.h"

/* "allow" and "deny" of the network. */
static int read_rules(const struct reader *reader, const struct json_at *at,
		      struct json_object *list, bool deny, struct err *err)
{
	int r = json_check_type(at, list, json_type_array, err);
	size_t n = r == 0 ? json_object_array_length(list) : 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct json_at *place = JSON_INDEX(at, i);
		_cleanup_str_ struct str shown = { 0 };
		const char *text;

		size_t before = config_asked(reader);

		json_at_add(&shown, place);
		r = json_get_string(place, json_object_array_get_idx(list, i), &text, err);
		if (r == 0 && reader->project && !deny)
			widen_rule(reader->project, reader->spec, shown.s, text);
		if (config_leaves_out(reader, before))
			continue;
		if (r == 0)
			r = spec_add_rule(reader->spec, text, deny, reader->layer, err);
		if (r == 0) { /* read later, by those who know what a rule is */
			struct rule_spec *rule = &reader->spec->rules[reader->spec->n_rules - 1];

			rule->where = arena_printf(&reader->spec->arena, "%s: %s", reader->origin,
						   shown.s);
			rule->file = arena_strdup(&reader->spec->arena, reader->origin);
		}
	}
	return r;
}

/* The first of these rules that stands there, and whose line is not known yet. */
static void set_line(struct rule_spec *rules, size_t n, bool deny, const struct json_span *span)
{
	for (size_t i = 0; i < n && span->string; i++)
		if (rules[i].file && !rules[i].line && rules[i].deny == deny &&
		    !strcmp(rules[i].text, span->string)) {
			rules[i].line = span->line;
			return;
		}
}

void config_find_lines(struct spec *spec, size_t first, const char *text, size_t len)
{
	static const char *const lists[] = { "allow", "deny" };
	_cleanup_json_doc_ struct json_doc doc = { 0 };
	const struct json_span *network;
	struct err ignored; /* it was read already */

	if (first == spec->n_rules ||
	    json_doc_parse(&doc, text, len, JSON_MAX_SIZE, "", &ignored) < 0)
		return;
	network = json_span_get(&doc, json_doc_top(&doc), "network");
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const struct json_span *list = json_span_get(&doc, network, lists[i]);

		for (const struct json_span *c = list ? json_span_first(&doc, list) : NULL; c;
		     c = json_span_next(&doc, c))
			set_line(spec->rules + first, spec->n_rules - first, i == 1, c);
	}
}

/* A word, or {"mode": ..., "allow": [...], "deny": [...]}. */
int config_read_network(const struct reader *reader, const struct json_at *at,
			struct json_object *value, struct err *err)
{
	static const char *const words[] = { "mode", "allow", "deny", "explain" };
	struct json_object *mode;
	const char *text = "filtered";
	int r = 0;

	if (json_object_is_type(value, json_type_string))
		return config_read_word(reader, at, value, err);
	if (!json_object_is_type(value, json_type_object))
		return json_err_type(at, value, "a mode, or an object with \"mode\"", err);
	json_object_object_foreach(value, key, entry)
	{
		if (!config_in_words(key, words, ARRAY_LEN(words)))
			return json_err_key(JSON_KEY(at, key), words, ARRAY_LEN(words), err);
		if (r == 0 && !strcmp(key, "explain"))
			r = config_read_bool(reader, JSON_KEY(at, key), entry, err);
		else if (r == 0 && strcmp(key, "mode"))
			r = read_rules(reader, JSON_KEY(at, key), entry, !strcmp(key, "deny"), err);
	}
	mode = json_object_object_get(value, "mode");
	if (r == 0 && mode)
		r = json_get_string(JSON_KEY(at, "mode"), mode, &text, err);
	return r == 0 ? config_set(reader, at, text, err) : r;
}

static int read_ports(const struct reader *reader, const struct json_at *at,
		      struct json_object *value,
		      int (*add)(struct spec *, const char *, enum layer, struct err *),
		      struct err *err)
{
	int r = json_check_type(at, value, json_type_array, err);
	size_t n = r == 0 ? json_object_array_length(value) : 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		struct json_object *port = json_object_array_get_idx(value, i);
		const struct json_at *place = JSON_INDEX(at, i);
		_cleanup_str_ struct str shown = { 0 };

		json_at_add(&shown, place);
		if (!json_object_is_type(port, json_type_string) &&
		    !json_object_is_type(port, json_type_int))
			return json_err_type(place, port, "a port", err);
		if (reader->project)
			widen_port(reader->project, shown.s, json_object_get_string(port));
		r = add(reader->spec, json_object_get_string(port), reader->layer, err);
		if (r < 0)
			return err_wrap(err, "%s", shown.s);
	}
	return r;
}

int config_read_publish(const struct reader *reader, const struct json_at *at,
			struct json_object *value, struct err *err)
{
	return read_ports(reader, at, value, spec_add_publish, err);
}

int config_read_host_ports(const struct reader *reader, const struct json_at *at,
			   struct json_object *value, struct err *err)
{
	return read_ports(reader, at, value, spec_add_host_port, err);
}
