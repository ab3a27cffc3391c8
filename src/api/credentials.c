/* SPDX-License-Identifier: MIT */
/*
 * From the store, or the user's environment, to who needs them.
 *
 * A value that goes in as a variable lies in memory of its own, which the command's process inherits
 * and ours is wiped of once it runs. A brokered one is read when the relay's socket is there, after the
 * sandbox's processes were made, and goes to the relay's process alone. The relay says when it has used
 * a value for longer than 30 seconds: it is then read again, and until that succeeds the old one holds.
 */
#include "api/credentials.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/str.h"
#include "os/proc.h"
#include "relay/door.h"

struct session_relay {
	struct credentials *owner;
	struct session_relay *next;
	const struct plan_credential *about;
	struct loop_source door; /* fd -1: it has gone */
	pid_t pid;
	struct fetch fetch; /* a newer value */
	struct loop_source ready;
};

/* --- reading --- */

void credentials_prefetch(struct prefetch *prefetch, struct spec *spec, const char *config_home)
{
	struct credential *list;
	struct err ignored;
	size_t n = 0;

	if (!fetch_is_useful(config_home) ||
	    credentials_resolve(&spec->arena, spec, spec->definition, &list, &n, &ignored) < 0)
		return;
	for (size_t i = 0; i < n && prefetch->n < ARRAY_LEN(prefetch->v); i++) {
		struct fetch fetch;

		if (getenv(list[i].name) || spec_find_env(spec, list[i].name) ||
		    fetch_start(&fetch, config_home, list[i].secret, &ignored) < 0)
			continue;
		prefetch->v[prefetch->n].secret = list[i].secret;
		prefetch->v[prefetch->n++].fetch = fetch;
	}
}

void prefetch_cancel(struct prefetch *prefetch)
{
	for (size_t i = 0; i < prefetch->n; i++)
		fetch_cancel(&prefetch->v[i].fetch);
	prefetch->n = 0;
}

static int read_store(struct credentials *c, const char *secret, struct secret *ret,
		      size_t *ret_len, struct err *err)
{
	struct fetch fetch = { 0 };

	for (size_t i = 0; c->prefetch && i < c->prefetch->n; i++)
		if (c->prefetch->v[i].fetch.pid && !strcmp(c->prefetch->v[i].secret, secret)) {
			fetch = c->prefetch->v[i].fetch;
			c->prefetch->v[i].fetch.pid = 0;
			break;
		}
	if (!fetch.pid && !fetch_is_useful(c->config_home))
		return err_set(err, ENOENT, "there is no secret '%s'", secret);
	if (!fetch.pid && fetch_start(&fetch, c->config_home, secret, err) < 0)
		return -err->code;
	return fetch_finish(&fetch, ret, ret_len, err);
}

static int explain_missing(const struct plan_credential *p, struct err *err)
{
	err_set(err, ENOENT, "the credential %s is neither in the environment nor in the store",
		p->about.name);
	return err_hint(err, "wrapix secret set %s", p->about.secret);
}

/* One that nobody asked for may be missing, and its keyring too, but not locked: that is a no. */
static int judge(struct credentials *c, const struct plan_credential *p, struct err *err)
{
	if (err->code == ENOENT && p->named)
		return explain_missing(p, err);
	if (p->named || err->code == EACCES) {
		char hint[sizeof(err->hint)];

		snprintf(hint, sizeof(hint), "%s", err->hint);
		err_wrap(err, "the credential %s", p->about.name);
		return err_hint(err, "%s%s--credential %s=off goes without it", hint,
				hint[0] ? "; " : "", p->about.name);
	}
	if (err->code != ENOENT) {
		err_wrap(err, "going without the credential %s", p->about.name);
		c->hooks.warn(c->hooks.ctx, err);
	}
	return 0;
}

/* --- as a variable --- */

/* "NAME=VALUE" in memory that a child keeps. */
static int add_entry(struct credentials *c, const char *name, const struct secret *value,
		     size_t len, struct err *err)
{
	size_t size = strlen(name) + len + 2;
	char *entry;

	if (memchr(value->data, '\0', len))
		return err_set(err, EINVAL, "the credential %s holds a NUL: no variable can", name);
	if (!c->env.data) {
		if (secret_alloc(&c->env, (VAULT_VALUE_MAX + 66) * c->plan.n_credentials, err) < 0)
			return -err->code;
		(void)os_share_memory(c->env.data, c->env.size);
	}
	entry = (char *)c->env.data + c->env_len;
	memcpy(entry, name, strlen(name));
	entry[strlen(name)] = '=';
	memcpy(entry + strlen(name) + 1, value->data, len);
	c->env_len += size;
	plan_give_credential(&c->plan, entry);
	return 0;
}

static int give(struct credentials *c, const struct plan_credential *p, struct err *err)
{
	_cleanup_secret_ struct secret value = { 0 };
	size_t len = 0;
	int r = read_store(c, p->about.secret, &value, &len, err);

	return r < 0 ? judge(c, p, err) : add_entry(c, p->about.name, &value, len, err);
}

/* The plan's own lists, so that it can be changed while the other stays as it is. */
static void copy_plan(struct credentials *c, const struct plan *plan)
{
	c->plan = *plan;
	c->plan.arena = (struct arena){ 0 };
	c->plan.env = (struct strv){ 0 };
	for (size_t i = 0; i < plan->env.len; i++) {
		strv_add(&c->plan.arena, &c->plan.env, "");
		c->plan.env.v[i] = plan->env.v[i];
	}
	c->plan.ops = arena_alloc(&c->plan.arena, plan->n_ops * sizeof(*plan->ops) + 1);
	memcpy(c->plan.ops, plan->ops, plan->n_ops * sizeof(*plan->ops));
}

int credentials_begin(struct credentials *c, const struct plan *plan, struct prefetch *prefetch,
		      const char *config_home, const struct credential_hooks *hooks,
		      struct err *err)
{
	int r = 0;

	*c = (struct credentials){ .prefetch = prefetch,
				   .config_home = config_home,
				   .hooks = *hooks };
	copy_plan(c, plan);
	for (size_t i = 0; r == 0 && i < plan->n_credentials; i++)
		if (!plan->credentials[i].port && !plan->credentials[i].is_set)
			r = give(c, &plan->credentials[i], err);
	plan_fill_key_end(&c->plan);
	return r;
}

void credentials_started(struct credentials *c)
{
	secret_free(&c->env);
}

/* --- brokered --- */

/* A field's value cannot hold anything else. */
static bool fits_header(const struct secret *value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (value->data[i] <= ' ' || value->data[i] > '~')
			return false;
	return len > 0;
}

static int read_brokered(struct credentials *c, const struct plan_credential *p, struct secret *ret,
			 size_t *ret_len, struct err *err)
{
	const char *own = getenv(p->about.name);
	int r;

	if (own && *own) {
		*ret_len = strlen(own);
		if (*ret_len > VAULT_VALUE_MAX)
			return err_set(err, E2BIG, "the credential %s is too long", p->about.name);
		r = secret_alloc(ret, *ret_len, err);
		if (r == 0)
			memcpy(ret->data, own, *ret_len);
	} else {
		r = read_store(c, p->about.secret, ret, ret_len, err);
		if (r < 0)
			return r == -ENOENT ? explain_missing(p, err) : judge(c, p, err);
	}
	if (r == 0 && !fits_header(ret, *ret_len))
		r = err_set(err, EINVAL, "the credential %s holds what no header can",
			    p->about.name);
	return r;
}

static int send_rules(const struct session_relay *relay)
{
	const struct plan_credential *p = relay->about;
	_cleanup_str_ struct str methods = { 0 };
	char text[4096];
	struct relay_rules rules = {
		.host = p->upstream.host,
		.port = p->upstream.port,
		.prefix = p->upstream.prefix,
		.header = p->about.header,
		.scheme = p->about.scheme,
		.placeholder = CREDENTIAL_PLACEHOLDER,
		.fresh = RELAY_FRESH,
	};
	size_t len;

	for (size_t i = 0; i < p->about.methods.len; i++)
		str_addf(&methods, "%s ", p->about.methods.v[i]);
	rules.methods = methods.s;
	len = relay_rules_put(&rules, text, sizeof(text));
	return len ? relay_send(relay->door.fd, RELAY_RULES, text, len) : -E2BIG;
}

int credentials_relay(struct credentials *c, size_t index, int listener, struct err *err)
{
	_cleanup_secret_ struct secret value = { 0 };
	struct session_relay *relay = calloc(1, sizeof(*relay));
	size_t len = 0;
	int r;

	if (!relay) {
		close(listener);
		return err_errno(err, ENOMEM, "a relay");
	}
	*relay = (struct session_relay){
		.owner = c, .next = c->relays, .about = &c->plan.credentials[index], .door.fd = -1
	};
	c->relays = relay;
	r = read_brokered(c, relay->about, &value, &len, err);
	if (r < 0) {
		close(listener);
		return r;
	}
	r = relay_spawn(c->plan.relay, listener, &relay->door.fd, &relay->pid, err);
	if (r < 0)
		return r;
	r = send_rules(relay);
	if (r == 0)
		r = relay_send(relay->door.fd, RELAY_VALUE, value.data, len);
	return r < 0 ? err_errno(err, -r, "starting '%s'", c->plan.relay) : 0;
}

static void drop(struct session_relay *relay, struct loop_source *source)
{
	if (relay->owner->loop)
		loop_remove(relay->owner->loop, source);
	close_ptr(&source->fd);
}

/* A newer value, or none: the old one is good for another while. */
static int on_fetched(struct loop_source *source, _unused_ uint32_t events,
		      _unused_ struct err *err)
{
	struct session_relay *relay = container_of(source, struct session_relay, ready);
	_cleanup_secret_ struct secret value = { 0 };
	struct err ignored;
	size_t len = 0;
	int r;

	loop_remove(relay->owner->loop, source);
	r = fetch_finish(&relay->fetch, &value, &len, &ignored);
	if (r == 0 && fits_header(&value, len))
		(void)relay_send(relay->door.fd, RELAY_VALUE, value.data, len);
	else
		(void)relay_send(relay->door.fd, RELAY_KEEP, "", 0);
	return 0;
}

static void read_again(struct session_relay *relay)
{
	struct credentials *c = relay->owner;
	struct err ignored;

	if (relay->fetch.pid)
		return;
	if (getenv(relay->about->about.name) || !fetch_is_useful(c->config_home) ||
	    fetch_start(&relay->fetch, c->config_home, relay->about->about.secret, &ignored) < 0) {
		(void)relay_send(relay->door.fd, RELAY_KEEP, "", 0);
		return;
	}
	relay->ready = (struct loop_source){ .fd = relay->fetch.fd, .on_event = on_fetched };
	if (loop_add(c->loop, &relay->ready, LOOP_IN, &ignored) < 0) {
		fetch_cancel(&relay->fetch);
		(void)relay_send(relay->door.fd, RELAY_KEEP, "", 0);
	}
}

static int on_door(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct session_relay *relay = container_of(source, struct session_relay, door);
	struct credentials *c = relay->owner;
	char message[256];
	ssize_t n = recv(source->fd, message, sizeof(message) - 1, MSG_DONTWAIT);
	struct err gone;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		drop(relay, source);
		err_set(&gone, EPIPE, "the relay of %s has ended", relay->about->about.name);
		c->hooks.warn(c->hooks.ctx, &gone);
		return 0;
	}
	message[n] = '\0';
	if (message[0] == RELAY_WANT)
		read_again(relay);
	else if (message[0] == RELAY_SAID)
		c->hooks.said(c->hooks.ctx, relay->about->about.name, message + 1);
	return 0;
}

void credentials_watch(struct credentials *c, struct loop *loop)
{
	for (struct session_relay *r = c->relays; r; r = r->next) {
		struct err err;

		if (!loop) {
			loop_remove(c->loop, &r->door);
			fetch_cancel(&r->fetch);
			continue;
		}
		r->door.on_event = on_door;
		if (loop_add(loop, &r->door, LOOP_IN, &err) < 0)
			c->hooks.warn(c->hooks.ctx, &err);
	}
	c->loop = loop;
}

void credentials_end(struct credentials *c)
{
	while (c->relays) {
		struct session_relay *r = c->relays;

		c->relays = r->next;
		drop(r, &r->door);
		fetch_cancel(&r->fetch);
		if (r->pid > 0) {
			kill(r->pid, SIGKILL);
			(void)os_await(r->pid);
		}
		free(r);
	}
	secret_free(&c->env);
	arena_release(&c->plan.arena);
	*c = (struct credentials){ 0 };
}
