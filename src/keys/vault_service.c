/* SPDX-License-Identifier: MIT */
/*
 * The Secret Service, as freedesktop.org describes it. Values go over the user's own bus in the clear
 * ("plain"): who can listen there is the user already. What holds one is wiped.
 *
 * A locked keyring asks the user once, with its own dialog; a no is an error, not a question again.
 */
#include <errno.h>
#include <string.h>

#include "keys/vault.h"
#include "os/linux/dbus_bus.h"

#define NAME "org.freedesktop.secrets"
#define SERVICE "/org/freedesktop/secrets"
#define IFACE "org.freedesktop.Secret."
#define SECONDS 5
#define PROMPT_SECONDS 60
#define PATH_LEN 256

struct service {
	struct dbus_bus bus;
	char session[PATH_LEN];
	bool refused; /* the user did not unlock it */
	struct dbus_writer w;
	struct dbus_message m;
};

void vault_service_free(struct service *service)
{
	if (!service)
		return;
	dbus_bus_close(&service->bus);
	explicit_bzero(service, sizeof(*service));
	free(service);
}

static void begin(struct service *s, const char *path, const char *interface, const char *member,
		  const char *signature)
{
	dbus_call(&s->w, NAME, path, interface, member, signature);
}

static int call(struct service *s, struct err *err)
{
	int r;

	dbus_bus_patience(&s->bus, SECONDS);
	r = dbus_bus_call(&s->bus, &s->w, &s->m, err);
	explicit_bzero(&s->w, sizeof(s->w));
	return r;
}

static int take_path(struct service *s, char path[PATH_LEN], struct err *err)
{
	const char *text = dbus_get_string(&s->m);

	if (s->m.bad || snprintf(path, PATH_LEN, "%s", text) >= PATH_LEN)
		return err_set(err, EBADMSG, "the keyring's answer is not understood");
	return 0;
}

/*
 * GNOME Keyring (seen with 42.1) notes who calls in its main loop, and may come to that after the
 * call itself: OpenSession then finds no note and ends the daemon, and with it what the user had
 * unlocked. So the first call is one that needs none. An error is an answer as well.
 */
static int be_noted(struct service *s, struct err *err)
{
	int r;

	begin(s, SERVICE, "org.freedesktop.DBus.Properties", "Get", "ss");
	dbus_put_string(&s->w, IFACE "Service");
	dbus_put_string(&s->w, "Collections");
	r = call(s, err);
	return r == -EREMOTEIO ? 0 : r;
}

static int open_session(struct service *s, struct err *err)
{
	if (be_noted(s, err) < 0)
		return -err->code;
	begin(s, SERVICE, IFACE "Service", "OpenSession", "sv");
	dbus_put_string(&s->w, "plain");
	dbus_put_signature(&s->w, "s");
	dbus_put_string(&s->w, "");
	if (call(s, err) < 0)
		return -err->code;
	(void)dbus_get_signature(&s->m);
	(void)dbus_get_string(&s->m);
	return take_path(s, s->session, err);
}

/* Opened at the first question; a machine without a keyring is asked once. */
static int open_service(struct vault *vault, struct service **ret, struct err *err)
{
	struct service *s;
	int r;

	if (!vault->asked) {
		vault->asked = true;
		s = calloc(1, sizeof(*s));
		r = s ? dbus_bus_open(&s->bus, SECONDS, &vault->why) : -ENOMEM;
		if (r == -ENOENT && !vault->why.code)
			err_set(&vault->why, ENOENT, "there is no message bus");
		if (r == 0)
			r = open_session(s, &vault->why);
		if (r == 0)
			vault->service = s;
		else
			vault_service_free(s);
	}
	*ret = vault->service;
	if (vault->service)
		return 0;
	*err = vault->why;
	err->code = err->code ? err->code : ENOENT;
	return -err->code;
}

static void put_attributes(struct service *s, const char *name)
{
	const char *const pairs[][2] = { { "application", "wrapix" }, { "name", name } };
	struct dbus_array all = dbus_open_array(&s->w, 8);

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		if (!pairs[i][1])
			continue;
		dbus_align(&s->w, 8);
		dbus_put_string(&s->w, pairs[i][0]);
		dbus_put_string(&s->w, pairs[i][1]);
	}
	dbus_close_array(&s->w, all);
}

/* --- locks --- */

static int refuse(struct service *s, struct err *err)
{
	s->refused = true;
	err_set(err, EACCES, "the keyring is locked");
	return err_hint(err, "unlock it (its own program, or log in again) and try once more");
}

/* The service's dialog; "/" means that none is needed. */
static int answer_prompt(struct service *s, const char *prompt, struct err *err)
{
	if (!strcmp(prompt, "/"))
		return 0;
	dbus_call(&s->w, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
		  "AddMatch", "s");
	dbus_put_string(&s->w, "type='signal',interface='" IFACE "Prompt',member='Completed'");
	if (call(s, err) < 0)
		return -err->code;
	begin(s, prompt, IFACE "Prompt", "Prompt", "s");
	dbus_put_string(&s->w, "");
	if (call(s, err) < 0)
		return refuse(s, err);
	dbus_bus_patience(&s->bus, PROMPT_SECONDS);
	if (dbus_bus_signal(&s->bus, "Completed", &s->m, err) < 0 || dbus_get_u32(&s->m))
		return refuse(s, err);
	return 0;
}

static int unlock(struct service *s, const char *object, struct err *err)
{
	struct dbus_array all;
	char path[PATH_LEN], prompt[PATH_LEN];
	size_t end;

	snprintf(path, sizeof(path), "%s", object);
	if (s->refused)
		return refuse(s, err);
	begin(s, SERVICE, IFACE "Service", "Unlock", "ao");
	all = dbus_open_array(&s->w, 4);
	dbus_put_string(&s->w, path);
	dbus_close_array(&s->w, all);
	if (call(s, err) < 0)
		return -err->code;
	end = dbus_enter_array(&s->m, 4);
	s->m.at = end;
	if (take_path(s, prompt, err) < 0)
		return -err->code;
	return answer_prompt(s, prompt, err);
}

/* --- items --- */

/* The items of a name (or all of ours) as they come: unlocked ones, then locked ones. */
static int search(struct service *s, struct arena *arena, const char *name, struct strv *ret,
		  size_t *ret_unlocked, struct err *err)
{
	begin(s, SERVICE, IFACE "Service", "SearchItems", "a{ss}");
	put_attributes(s, name);
	if (call(s, err) < 0)
		return -err->code;
	for (int list = 0; list < 2; list++) {
		size_t end = dbus_enter_array(&s->m, 4);

		while (!s->m.bad && s->m.at < end)
			strv_add(arena, ret, dbus_get_string(&s->m));
		if (list == 0)
			*ret_unlocked = ret->len;
	}
	return s->m.bad ? err_set(err, EBADMSG, "the keyring's answer is not understood") : 0;
}

/* The first of that name, unlocked. */
static int find(struct service *s, const char *name, char path[PATH_LEN], struct err *err)
{
	struct arena arena = { 0 };
	struct strv items = { 0 };
	size_t unlocked = 0;
	int r = search(s, &arena, name, &items, &unlocked, err);

	if (r == 0 && !items.len)
		r = err_set(err, ENOENT, "there is no secret '%s'", name);
	if (r == 0)
		snprintf(path, PATH_LEN, "%s", items.v[0]);
	if (r == 0 && !unlocked)
		r = unlock(s, path, err);
	arena_release(&arena);
	return r;
}

static int service_get(struct vault *vault, const char *name, struct secret *ret, size_t *ret_len,
		       struct err *err)
{
	struct service *s;
	char path[PATH_LEN];
	const uint8_t *value;
	size_t len = 0;
	int r = open_service(vault, &s, err);

	if (r == 0)
		r = find(s, name, path, err);
	if (r < 0)
		return r;
	begin(s, path, IFACE "Item", "GetSecret", "o");
	dbus_put_string(&s->w, s->session);
	r = call(s, err);
	if (r < 0)
		return r;
	dbus_enter_struct(&s->m);
	(void)dbus_get_string(&s->m);
	(void)dbus_get_bytes(&s->m, &len);
	value = dbus_get_bytes(&s->m, &len);
	if (s->m.bad || len > VAULT_VALUE_MAX)
		r = err_set(err, EBADMSG, "the keyring's answer is not understood");
	if (r == 0)
		r = secret_alloc(ret, VAULT_VALUE_MAX, err);
	if (r == 0) {
		memcpy(ret->data, value, len);
		*ret_len = len;
	}
	explicit_bzero(&s->m, sizeof(s->m));
	return r;
}

static int create_item(struct service *s, const char *collection, const char *name,
		       const struct secret *value, size_t len, struct err *err)
{
	char label[96], prompt[PATH_LEN];
	struct dbus_array properties;

	snprintf(label, sizeof(label), "wrapix: %s", name);
	begin(s, collection, IFACE "Collection", "CreateItem", "a{sv}(oayays)b");
	properties = dbus_open_array(&s->w, 8);
	dbus_align(&s->w, 8);
	dbus_put_string(&s->w, IFACE "Item.Label");
	dbus_put_signature(&s->w, "s");
	dbus_put_string(&s->w, label);
	dbus_align(&s->w, 8);
	dbus_put_string(&s->w, IFACE "Item.Attributes");
	dbus_put_signature(&s->w, "a{ss}");
	put_attributes(s, name);
	dbus_close_array(&s->w, properties);
	dbus_align(&s->w, 8);
	dbus_put_string(&s->w, s->session);
	dbus_put_bytes(&s->w, "", 0);
	dbus_put_bytes(&s->w, value->data, len);
	dbus_put_string(&s->w, "text/plain");
	dbus_put_bool(&s->w, true);
	if (call(s, err) < 0)
		return -err->code;
	(void)dbus_get_string(&s->m);
	if (take_path(s, prompt, err) < 0)
		return -err->code;
	return answer_prompt(s, prompt, err);
}

static int service_set(struct vault *vault, const char *name, const struct secret *value,
		       size_t len, struct err *err)
{
	struct service *s;
	char collection[PATH_LEN];
	int r = open_service(vault, &s, err);

	if (r < 0)
		return r;
	begin(s, SERVICE, IFACE "Service", "ReadAlias", "s");
	dbus_put_string(&s->w, "default");
	if (call(s, err) < 0 || take_path(s, collection, err) < 0)
		return -err->code;
	if (!strcmp(collection, "/"))
		return err_set(err, ENOENT, "the keyring has no default collection");
	/* Does nothing where it is open. */
	r = unlock(s, collection, err);
	return r == 0 ? create_item(s, collection, name, value, len, err) : r;
}

static int service_remove(struct vault *vault, const char *name, struct err *err)
{
	struct service *s;
	char path[PATH_LEN], prompt[PATH_LEN];
	int r = open_service(vault, &s, err);

	if (r == 0)
		r = find(s, name, path, err);
	if (r < 0)
		return r;
	begin(s, path, IFACE "Item", "Delete", "");
	if (call(s, err) < 0 || take_path(s, prompt, err) < 0)
		return -err->code;
	return answer_prompt(s, prompt, err);
}

static int add_name(struct service *s, struct arena *arena, const char *item, struct strv *ret,
		    struct err *err)
{
	size_t end;

	begin(s, item, "org.freedesktop.DBus.Properties", "Get", "ss");
	dbus_put_string(&s->w, IFACE "Item");
	dbus_put_string(&s->w, "Attributes");
	if (call(s, err) < 0)
		return -err->code;
	(void)dbus_get_signature(&s->m);
	end = dbus_enter_array(&s->m, 8);
	while (!s->m.bad && s->m.at < end) {
		const char *key, *value;

		dbus_enter_struct(&s->m);
		key = dbus_get_string(&s->m);
		value = dbus_get_string(&s->m);
		if (!strcmp(key, "name"))
			strv_add(arena, ret, value);
	}
	return 0;
}

static int service_list(struct vault *vault, struct arena *arena, struct strv *ret, struct err *err)
{
	struct strv items = { 0 };
	struct service *s;
	size_t unlocked;
	int r = open_service(vault, &s, err);

	if (r == 0)
		r = search(s, arena, NULL, &items, &unlocked, err);
	for (size_t i = 0; r == 0 && i < items.len; i++)
		r = add_name(s, arena, items.v[i], ret, err);
	return r;
}

const struct vault_store vault_service = { service_get, service_set, service_remove, service_list };
