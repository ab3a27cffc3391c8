/* SPDX-License-Identifier: MIT */
/*
 * Dialling out.
 *
 * A name that resolves differently the next time (rebinding) gains nothing: the addresses that were
 * judged are the ones that are dialled, and a cached answer is judged again for each connection.
 */
#include "net/dial.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "net/asking.h"
#include "net/relay.h"
#include "os/socket.h"
#include "os/ticker.h"
#include "os/timer.h"

#define BUDGET_SECONDS 30
#define ACCEPT_SECONDS 10 /* for the sandbox to take what was connected for it */
#define CACHE_SIZE 64
#define CACHE_SECONDS 30

static void watch_time(struct dial_list *list, bool on)
{
	(void)os_timer_set(list->timer.fd, on ? 1000 : 0, on ? 1000 : 0);
	list->timed = on;
}

void dial_free(struct dial *dial)
{
	struct dial_list *list = dial->list;

	if (dial->outside.fd >= 0) {
		loop_remove(list->loop, &dial->outside);
		close(dial->outside.fd);
	}
	if (dial->inside >= 0)
		close(dial->inside);
	*dial->link = dial->next;
	if (dial->next)
		dial->next->link = dial->link;
	policy_unref(dial->policy);
	owner_unref(dial->owner);
	free(dial);
	list->n--;
}

static void fail(struct dial *dial, int code, enum net_reason reason, const struct address *addr)
{
	dial->list->hooks.failed(dial->list->hooks.ctx, dial, code, reason, addr);
	dial_free(dial);
}

static void close_outside(struct dial *dial)
{
	loop_remove(dial->list->loop, &dial->outside);
	close(dial->outside.fd);
	dial->outside.fd = -1;
}

static int on_connected(struct loop_source *source, uint32_t events, struct err *err);

/* Tries the addresses from dial->at on until one is under way. */
static void connect_next(struct dial *dial)
{
	while (dial->at < dial->n_addresses) {
		struct sockaddr_storage to;
		socklen_t len = address_to_sockaddr(&dial->addresses[dial->at++], dial->port, &to);
		struct err err;

		dial->outside = (struct loop_source){
			.fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
			.on_event = on_connected,
		};
		if (dial->outside.fd < 0) {
			dial->last_error = errno;
			continue;
		}
		if (connect(dial->outside.fd, (struct sockaddr *)&to, len) < 0 &&
		    errno != EINPROGRESS) {
			dial->last_error = errno;
			close_outside(dial);
			continue;
		}
		relay_prepare(dial->outside.fd);
		/* Told of once: what is connected stays in the loop for the relay. */
		if (loop_add(dial->list->loop, &dial->outside, LOOP_OUT | LOOP_ONCE, &err) == 0)
			return;
		dial->last_error = err.code;
		close_outside(dial);
	}
	fail(dial, dial->last_error ? dial->last_error : EHOSTUNREACH, NET_ALLOWED, NULL);
}

static void connected(struct dial *dial)
{
	dial->state = DIAL_CONNECTED;
	dial->deadline = os_seconds() + ACCEPT_SECONDS;
	dial->list->hooks.connected(dial->list->hooks.ctx, dial);
}

/* The proxy's answer. Only its head is taken: what follows is the tunnel's. Until it is whole it is
 * only looked at, so the event must be one of new bytes, not of bytes. */
static int on_reply(struct loop_source *source, uint32_t events, struct err *err)
{
	struct dial *dial = container_of(source, struct dial, outside);
	char bytes[PROXY_REPLY_MAX];
	ssize_t n = recv(source->fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);
	size_t used = 0;

	(void)err;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	switch (n <= 0 ? PROXY_REFUSED : proxy_reply(bytes, (size_t)n, &used)) {
	case PROXY_MORE:
		if (!(events & (LOOP_RDHUP | LOOP_HUP | LOOP_ERR)))
			return 0;
		fail(dial, ECONNREFUSED, NET_ALLOWED, NULL);
		return 0;
	case PROXY_OPEN:
		if (recv(source->fd, bytes, used, MSG_DONTWAIT) == (ssize_t)used) {
			loop_remove(dial->list->loop, source);
			connected(dial);
			return 0;
		}
		_fallthrough_;
	case PROXY_REFUSED:
		fail(dial, ECONNREFUSED, NET_ALLOWED, NULL);
	}
	return 0;
}

static void ask_proxy(struct dial *dial)
{
	char request[PROXY_REQUEST_MAX];
	size_t len = proxy_request(dial->list->proxy, dial->name, dial->packet.dport, request);
	struct err err;

	dial->state = DIAL_ASKING;
	dial->outside.on_event = on_reply;
	if (send(dial->outside.fd, request, len, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)len ||
	    loop_change(dial->list->loop, &dial->outside, LOOP_IN | LOOP_RDHUP | LOOP_EDGE, &err) <
		    0)
		fail(dial, ECONNREFUSED, NET_ALLOWED, NULL);
}

static int on_connected(struct loop_source *source, uint32_t events, struct err *err)
{
	struct dial *dial = container_of(source, struct dial, outside);
	int code = os_connect_result(source->fd);

	(void)events;
	(void)err;
	if (code) {
		dial->last_error = code;
		close_outside(dial);
		connect_next(dial);
		return 0;
	}
	if (dial->via_proxy)
		ask_proxy(dial);
	else
		connected(dial);
	return 0;
}

/* Keeps the addresses that the policy lets this name have. */
static void on_addresses(struct dial *dial, const struct resolver_answer *answer)
{
	enum net_reason reason = NET_RESOLVE;
	struct address refused;

	for (size_t i = 0; i < answer->n; i++) {
		struct address address = address_from_in6(&answer->addresses[i]);
		struct verdict verdict = { .allow = true };

		/* Behind a proxy the name was judged, and the proxy is the user's own choice. */
		if (!dial->via_proxy)
			verdict = policy_dial(dial->policy, dial->name, &address, dial->port);
		if (verdict.allow) {
			dial->addresses[dial->n_addresses++] = address;
		} else {
			refused = address;
			reason = verdict.reason;
		}
	}
	dial->state = DIAL_CONNECTING;
	if (dial->n_addresses)
		connect_next(dial);
	else
		fail(dial, reason == NET_RESOLVE ? EHOSTUNREACH : ECONNREFUSED, reason,
		     reason == NET_RESOLVE ? NULL : &refused);
}

static struct dial_cached *cache_slot(const struct dial_list *list, const char *name)
{
	uint32_t hash = 2166136261u;

	for (const char *p = name; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 16777619u;
	return &list->cache[hash % CACHE_SIZE];
}

/* As many as the resolver has room for. */
static void ask_all(struct dial_list *list)
{
	struct dial *dial;

	while ((dial = asking_next(list))) {
		int r = resolver_ask(&list->resolver, asking_name(dial));

		if (r == -EAGAIN)
			return; /* an answer makes room */
		if (r < 0)
			fail(dial, EHOSTUNREACH, NET_RESOLVE, NULL);
		else
			asking_done(dial);
	}
}

static bool is_answered(const struct dial *dial, const struct resolver_answer *answer)
{
	if (*answer->name)
		return asking_awaits(dial, answer->name);
	return dial->state == DIAL_RESOLVING && dial->asked;
}

static void on_resolved(void *ctx, const struct resolver_answer *answer)
{
	struct dial_list *list = ctx;

	if (!answer->error) {
		struct dial_cached *slot = cache_slot(list, answer->name);

		slot->answer = *answer;
		slot->expires = os_seconds() + CACHE_SECONDS;
	}
	for (struct dial *dial = list->head, *next; dial; dial = next) {
		next = dial->next;
		if (is_answered(dial, answer))
			on_addresses(dial, answer);
	}
	ask_all(list);
}

static int on_timer(struct loop_source *source, uint32_t events, struct err *err)
{
	struct dial_list *list = container_of(source, struct dial_list, timer);

	(void)events;
	(void)err;
	if (!os_timer_take(source->fd))
		return 0;
	for (struct dial *dial = list->head, *next; dial; dial = next) {
		next = dial->next;
		if (os_seconds() < dial->deadline)
			continue;
		if (dial->state == DIAL_CONNECTED)
			dial_free(dial); /* the sandbox did not want it any more */
		else
			fail(dial, ETIMEDOUT, NET_ALLOWED, NULL);
	}
	if (!list->head) /* here, and not with the last one: dials come in rows */
		watch_time(list, false);
	return 0;
}

int dial_list_start(struct dial_list *list, struct loop *loop, const struct dial_hooks *hooks,
		    struct err *err)
{
	int r;

	*list = (struct dial_list){
		.loop = loop,
		.hooks = *hooks,
		.resolver.source.fd = -1,
		.timer = { .fd = os_timer_open(), .on_event = on_timer },
		.cache = calloc(CACHE_SIZE, sizeof(*list->cache)),
	};
	if (!list->cache || list->timer.fd < 0)
		return err_errno(err, list->cache ? errno : ENOMEM, "dialling");
	r = loop_add(loop, &list->timer, LOOP_IN, err);
	return r == 0 ? resolver_start(&list->resolver, loop, on_resolved, list, err) : r;
}

void dial_list_stop(struct dial_list *list)
{
	while (list->head)
		dial_free(list->head);
	resolver_stop(&list->resolver);
	if (list->timer.fd >= 0) {
		loop_remove(list->loop, &list->timer);
		close(list->timer.fd);
	}
	free(list->cache);
	*list = (struct dial_list){ .timer.fd = -1, .resolver.source.fd = -1 };
}

static void begin_name(struct dial *dial)
{
	const struct proxy *proxy = dial->list->proxy;
	const struct dial_cached *slot;

	dial->via_proxy = proxy && proxy_serves(proxy, dial->name);
	if (dial->via_proxy)
		dial->port = proxy->port;
	slot = cache_slot(dial->list, asking_name(dial));
	if (!strcmp(slot->answer.name, asking_name(dial)) && os_seconds() < slot->expires) {
		struct resolver_answer answer = slot->answer;

		on_addresses(dial, &answer);
	} else {
		dial->asked = asking_is_done(dial);
		ask_all(dial->list);
	}
}

static struct dial *dial_new(struct dial_list *list, const struct queue_packet *packet)
{
	struct dial *dial = calloc(1, sizeof(*dial));

	if (!dial)
		return NULL;
	*dial = (struct dial){
		.list = list,
		.next = list->head,
		.link = &list->head,
		.packet = *packet,
		.port = packet->dport,
		.inside = -1,
		.outside.fd = -1,
		.deadline = os_seconds() + BUDGET_SECONDS,
	};
	if (dial->next)
		dial->next->link = &dial->next;
	list->head = dial;
	list->n++;
	if (!list->timed)
		watch_time(list, true);
	return dial;
}

bool dial_begin(struct dial_list *list, const struct queue_packet *packet, int inside,
		const char *name, struct policy *policy, const struct rule *rule,
		struct owner *owner)
{
	struct dial *dial = dial_new(list, packet);

	if (!dial) {
		owner_unref(owner);
		return false;
	}
	dial->owner = owner;
	dial->inside = inside;
	dial->policy = policy_ref(policy);
	dial->rule = rule;
	if (name) {
		snprintf(dial->name, sizeof(dial->name), "%s", name);
		begin_name(dial);
	} else {
		dial->addresses[0] = address_from_in6(&packet->dst);
		dial->n_addresses = 1;
		dial->state = DIAL_CONNECTING;
		connect_next(dial);
	}
	return true;
}

bool dial_refuse(struct dial_list *list, const struct queue_packet *packet, const char *name,
		 enum net_reason reason)
{
	struct dial *dial = dial_new(list, packet);

	if (!dial)
		return false;
	snprintf(dial->name, sizeof(dial->name), "%s", name);
	dial->refused = reason;
	dial->state = DIAL_CONNECTED;
	dial->deadline = os_seconds() + ACCEPT_SECONDS;
	return true;
}

/* A connection that the sandbox has been promised ends when it is taken. */
static void cut(struct dial *dial, const struct verdict *verdict, const struct address *addr)
{
	const struct dial_hooks *hooks = &dial->list->hooks;

	dial->rule = verdict->rule;
	if (dial->state != DIAL_CONNECTED) {
		fail(dial, ECONNREFUSED, verdict->reason, addr);
		return;
	}
	hooks->failed(hooks->ctx, dial, ECONNREFUSED, verdict->reason, addr);
	close_outside(dial);
	dial->refused = verdict->reason;
}

/* The name may still be dialled; perhaps not at each of its addresses. */
static void vet_addresses(struct dial *dial)
{
	struct address now_at = dial->addresses[dial->at - 1];
	struct verdict verdict = policy_dial(dial->policy, dial->name, &now_at, dial->port);
	size_t n = dial->at;

	for (size_t i = dial->at; i < dial->n_addresses; i++)
		if (policy_dial(dial->policy, dial->name, &dial->addresses[i], dial->port).allow)
			dial->addresses[n++] = dial->addresses[i];
	dial->n_addresses = n;
	if (verdict.allow)
		return;
	if (dial->state == DIAL_CONNECTED || dial->at == n) {
		cut(dial, &verdict, &now_at);
		return;
	}
	close_outside(dial);
	connect_next(dial);
}

static void judge(struct dial *dial, struct policy *policy)
{
	struct address to = address_from_in6(&dial->packet.dst);
	uint16_t port = dial->packet.dport;
	struct verdict verdict = dial->name[0] ? policy_connect(policy, dial->name, port)
					       : policy_address(policy, &to, port);

	policy_ref(policy);
	policy_unref(dial->policy);
	dial->policy = policy;
	dial->rule = verdict.rule;
	if (!verdict.allow)
		cut(dial, &verdict, dial->name[0] ? NULL : &to);
	else if (dial->name[0] && !dial->via_proxy && dial->state != DIAL_RESOLVING)
		vet_addresses(dial);
}

void dial_list_judge(struct dial_list *list, struct policy *policy)
{
	for (struct dial *dial = list->head, *next; dial; dial = next) {
		next = dial->next;
		if (!dial->refused)
			judge(dial, policy);
	}
}

struct dial *dial_find(const struct dial_list *list, const struct queue_packet *packet)
{
	for (struct dial *dial = list->head; dial; dial = dial->next)
		if (dial->packet.sport == packet->sport && dial->packet.dport == packet->dport &&
		    !memcmp(&dial->packet.src, &packet->src, sizeof(packet->src)) &&
		    !memcmp(&dial->packet.dst, &packet->dst, sizeof(packet->dst)))
			return dial;
	return NULL;
}
