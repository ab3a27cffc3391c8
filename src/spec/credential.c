/* SPDX-License-Identifier: MIT */
/* Credentials, from flags, files and the agents' table to what one sandbox gets. */
#include "spec/credential.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/str.h"
#include "spec/agent.h"
#include "spec/config_priv.h"
#include "spec/widen.h"

#define NAME_MAX_LEN 63
#define CREDENTIALS_MAX 32

static const char *const modes[] = { "on", "off", "brokered", NULL };

/* --- checks --- */

static bool is_token(const char *text)
{
	static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_.";

	return *text && strlen(text) <= NAME_MAX_LEN && !text[strspn(text, chars)] &&
	       text[0] != '-';
}

static bool is_variable(const char *text)
{
	for (const char *p = text; *p; p++)
		if (!isascii(*p) || (!isalnum((unsigned char)*p) && *p != '_'))
			return false;
	return *text && strlen(text) <= NAME_MAX_LEN && !isdigit((unsigned char)text[0]);
}

static bool is_visible(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

int upstream_parse(struct arena *arena, const char *text, struct upstream *ret, struct err *err)
{
	static const char scheme[] = "https://";
	static const char chars[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
	size_t len;
	char *end;
	unsigned long port = 443;

	if (strncmp(text, scheme, strlen(scheme)) != 0 || !is_visible(text) || strchr(text, '?') ||
	    strchr(text, '#') || strchr(text, '%') || strstr(text, "/."))
		return err_usage(err, "an upstream is https://HOST[:PORT][/PREFIX]");
	text += strlen(scheme);
	len = strspn(text, chars);
	if (!len || len > 253 || !text[len - 1])
		return err_usage(err, "an upstream's host is a name in small letters");
	ret->host = arena_strndup(arena, text, len);
	text += len;
	if (*text == ':') {
		port = strtoul(text + 1, &end, 10);
		if (!isdigit((unsigned char)text[1]) || !port || port > 65535)
			return err_usage(err, "an upstream's port is 1 to 65535");
		text = end;
	}
	if (*text && *text != '/')
		return err_usage(err, "an upstream is https://HOST[:PORT][/PREFIX]");
	ret->port = (uint16_t)port;
	ret->prefix = arena_strdup(arena, *text ? text : "/");
	return 0;
}

static int check(struct arena *arena, const struct credential *c, struct err *err)
{
	struct upstream ignored;

	if (!is_variable(c->name))
		return err_usage(err, "a credential is named as the variable that it is inside");
	if (c->secret && !is_token(c->secret))
		return err_usage(err, "secret: not the name of a secret");
	if (c->header &&
	    (!is_token(c->header) || !strcasecmp(c->header, "host") ||
	     !strcasecmp(c->header, "content-length") ||
	     !strcasecmp(c->header, "transfer-encoding") || !strcasecmp(c->header, "connection")))
		return err_usage(err, "header: not the name of a header that carries a credential");
	if (c->scheme && *c->scheme && !is_token(c->scheme))
		return err_usage(err, "scheme: must be one word");
	if (c->base_url && !is_variable(c->base_url))
		return err_usage(err, "baseUrl: not the name of a variable");
	if (c->base_path && *c->base_path && (c->base_path[0] != '/' || !is_visible(c->base_path)))
		return err_usage(err, "basePath: must begin with '/'");
	for (size_t i = 0; i < c->methods.len; i++)
		if (!is_token(c->methods.v[i]) || strcmp(c->methods.v[i], "CONNECT") == 0)
			return err_usage(err, "methods: not a method");
	return c->upstream ? upstream_parse(arena, c->upstream, &ignored, err) : 0;
}

/* --- the object form --- */

int credential_read(struct arena *arena, const struct json_at *at, struct json_object *value,
		    struct credential *ret, struct err *err)
{
	static const char *const words[] = { "secret",   "upstream", "header", "scheme", "baseUrl",
					     "basePath", "brokered", "asked",  "methods" };
	char **const texts[] = { &ret->secret, &ret->upstream, &ret->header,
				 &ret->scheme, &ret->base_url, &ret->base_path };

	json_object_object_foreach(value, key, entry)
	{
		const struct json_at *place = JSON_KEY(at, key);
		const char *text;
		bool on = false;
		size_t i;
		int r = json_find_key(place, words, ARRAY_LEN(words), &i, err);

		if (r < 0)
			return r;
		if (i < ARRAY_LEN(texts)) {
			r = json_get_string(place, entry, &text, err);
			if (r == 0)
				*texts[i] = arena_strdup(arena, text);
		} else if (!strcmp(key, "methods")) {
			r = json_get_strings(arena, place, entry, &ret->methods, err);
		} else {
			r = json_get_bool(place, entry, &on, err);
			if (!strcmp(key, "asked"))
				ret->asked = on;
			else
				ret->mode = on ? CREDENTIAL_BROKERED : CREDENTIAL_ON;
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- adding --- */

static struct credential *find(struct credential *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

/* What 'over' says is said over what 'c' says. */
static void lay_over(struct arena *arena, struct credential *c, const struct credential *over)
{
	char **const to[] = { &c->secret, &c->upstream, &c->header,
			      &c->scheme, &c->base_url, &c->base_path };
	char *const from[] = { over->secret, over->upstream, over->header,
			       over->scheme, over->base_url, over->base_path };
	bool named;

	for (size_t i = 0; i < ARRAY_LEN(to); i++)
		if (from[i])
			*to[i] = arena_strdup(arena, from[i]);
	named = over->named && (!c->mode || c->named);
	if (over->mode && !(over->named && c->mode == CREDENTIAL_BROKERED))
		c->mode = over->mode;
	c->named = named;
	if (over->methods.len) {
		c->methods = (struct strv){ 0 };
		for (size_t i = 0; i < over->methods.len; i++)
			strv_add(arena, &c->methods, over->methods.v[i]);
	}
	c->layer = over->layer;
}

static int spec_add_credential(struct spec *spec, const struct credential *credential,
			       struct err *err)
{
	struct credential *c = find(spec->credentials, spec->n_credentials, credential->name);
	struct credential over;
	int r = check(&spec->arena, credential, err);

	if (r < 0)
		return r;
	if (!c && spec->n_credentials == CREDENTIALS_MAX)
		return err_usage(err, "more than %d credentials", CREDENTIALS_MAX);
	if (!c) {
		c = arena_grow(&spec->arena, &spec->credentials, &spec->n_credentials, sizeof(*c));
		*c = (struct credential){ .name = arena_strdup(&spec->arena, credential->name) };
	}
	if (c->layer <= credential->layer) {
		lay_over(&spec->arena, c, credential);
		return 0;
	}
	/* The stronger layer came first. */
	over = *c;
	*c = (struct credential){ .name = over.name };
	lay_over(&spec->arena, c, credential);
	lay_over(&spec->arena, c, &over);
	return 0;
}

int spec_add_credential_string(struct spec *spec, const char *text, enum layer layer,
			       struct err *err)
{
	const char *equals = strchr(text, '='), *word = equals ? equals + 1 : "on";
	struct credential c = { .layer = layer, .named = !equals };

	c.name = equals ? arena_strndup(&spec->arena, text, (size_t)(equals - text))
			: arena_strdup(&spec->arena, text);
	for (size_t i = 0; modes[i]; i++)
		if (!strcmp(modes[i], word))
			c.mode = (enum credential_mode)(i + 1);
	if (!c.mode)
		return err_usage(err, "a credential is on, off or brokered");
	return spec_add_credential(spec, &c, err);
}

/* --- wrapix.json --- */

/* Where the user's own is brokered another one that leads to the same place stays out; without it that comes in. */
static bool opens_another(const struct reader *reader, const char *name)
{
	const struct spec *spec = reader->spec;
	const struct credential *own = find(spec->credentials, spec->n_credentials, name);

	return own && own->layer < LAYER_PROJECT && own->mode == CREDENTIAL_BROKERED;
}

static int read_one(const struct reader *reader, const struct json_at *at, const char *name,
		    struct json_object *value, struct err *err)
{
	struct credential c = { .name = arena_strdup(&reader->spec->arena, name),
				.layer = reader->layer };
	_cleanup_str_ struct str text = { 0 }, place = { 0 };
	size_t before = config_asked(reader);
	int r = 0;

	switch (json_object_get_type(value)) {
	case json_type_object:
		c.mode = CREDENTIAL_ON;
		c.named = !json_object_object_get_ex(value, "brokered", NULL);
		r = credential_read(&reader->spec->arena, at, value, &c, err);
		break;
	case json_type_boolean:
		c.mode = json_object_get_boolean(value) ? CREDENTIAL_ON : CREDENTIAL_OFF;
		break;
	case json_type_string:
		for (size_t i = 0; modes[i]; i++)
			if (!strcmp(modes[i], json_object_get_string(value)))
				c.mode = (enum credential_mode)(i + 1);
		break;
	default:
		break;
	}
	if (r == 0 && !c.mode)
		return json_err_type(at, value, "\"on\", \"off\", \"brokered\" or an object", err);
	json_at_add(&place, at);
	if (r == 0 && reader->project &&
	    (c.mode != CREDENTIAL_OFF || opens_another(reader, name))) {
		str_add(&text, json_object_to_json_string(value));
		widen_credential(reader->project, place.s, text.s);
	}
	if (r == 0 && config_leaves_out(reader, before))
		return 0;
	if (r == 0)
		r = spec_add_credential(reader->spec, &c, err) < 0 ? err_wrap(err, "%s", place.s)
								   : 0;
	return r;
}

int config_read_credentials(const struct reader *reader, const struct json_at *at,
			    struct json_object *value, struct err *err)
{
	int r = json_check_type(at, value, json_type_object, err);

	if (r < 0)
		return r;
	json_object_object_foreach(value, name, entry)
	{
		r = read_one(reader, JSON_KEY(at, name), name, entry, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- what one sandbox gets --- */

bool credential_is_named(const struct spec *spec, const char *name)
{
	return find(spec->credentials, spec->n_credentials, name) != NULL;
}

static void fill(struct arena *arena, struct credential *c)
{
	static const char *const usual[] = { "GET", "HEAD", "POST" };

	if (!c->secret)
		c->secret = c->name;
	if (!c->header)
		c->header = arena_strdup(arena, "authorization");
	if (!c->scheme)
		c->scheme = arena_strdup(arena,
					 strcasecmp(c->header, "authorization") ? "" : "Bearer");
	if (!c->base_path)
		c->base_path = arena_strdup(arena, "");
	if (c->methods.len)
		return;
	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		strv_add(arena, &c->methods, usual[i]);
}

/* One that would come by itself, and that programs would show to another one's relay. */
static bool is_in_the_way(const struct spec *spec, const struct credential *all, size_t n,
			  const struct credential *c)
{
	for (size_t i = 0; i < n; i++)
		if (&all[i] != c && all[i].mode == CREDENTIAL_BROKERED && all[i].base_url &&
		    c->base_url && !strcmp(all[i].base_url, c->base_url))
			return !credential_is_named(spec, c->name);
	return false;
}

int credentials_resolve(struct arena *arena, const struct spec *spec, const struct agent *agent,
			struct credential **ret, size_t *ret_len, struct err *err)
{
	struct credential *all = NULL, *list = NULL;
	size_t n_all = 0, n = 0;

	for (size_t i = 0; agent && i < agent->n_credentials; i++) {
		struct credential *c = arena_grow(arena, &all, &n_all, sizeof(*c));

		*c = agent->credentials[i];
		c->mode = c->asked ? CREDENTIAL_OFF : CREDENTIAL_ON;
	}
	for (size_t i = 0; i < spec->n_credentials; i++) {
		struct credential *c = find(all, n_all, spec->credentials[i].name);

		if (!c) {
			c = arena_grow(arena, &all, &n_all, sizeof(*c));
			c->name = arena_strdup(arena, spec->credentials[i].name);
		}
		lay_over(arena, c, &spec->credentials[i]);
	}
	for (size_t i = 0; i < n_all; i++) {
		if (all[i].mode == CREDENTIAL_OFF || is_in_the_way(spec, all, n_all, &all[i]))
			continue;
		if (all[i].mode == CREDENTIAL_BROKERED && (!all[i].upstream || !all[i].base_url)) {
			err_usage(err, "the credential %s cannot be brokered", all[i].name);
			return err_hint(err,
					"agents bring their own (--agent claude); of others "
					"~/.config/wrapix/config.json must say \"upstream\" and "
					"\"baseUrl\": docs/credentials.md");
		}
		fill(arena, &all[i]);
		*(struct credential *)arena_grow(arena, &list, &n, sizeof(*list)) = all[i];
	}
	*ret = list;
	*ret_len = n;
	return 0;
}
