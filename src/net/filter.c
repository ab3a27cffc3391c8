/* SPDX-License-Identifier: MIT */
/*
 * The filtered network: where packets, names, dials and relayed bytes meet.
 *
 * Invariants: a destination is a name by its synthetic address, or an address that a rule names;
 * everything else is refused before a packet leaves. The policy lives here and nowhere inside: a
 * sandbox that takes its own rules and routes away cuts itself off. When the supervisor dies, the
 * kernel refuses what is new and resets what was open.
 *
 * What an attacker controls: every packet and every byte, their number and their timing.
 */
#include "net/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "net/filter_rules.h"
#include "net/flow.h"
#include "os/socket.h"

#define BATCH 64
#define FEW 8 /* dials: then there is likely no second packet to look for */

/* packet: what the sandbox sent, to find out who did. */
static void tell(struct filter *f, struct net_event *event, const struct queue_packet *packet)
{
	struct owner *owner = owners_find(&f->owners, f->sockets.diag, packet);

	event->owner = owner;
	f->on_event(f->ctx, event);
	owner_unref(owner);
}

static void deny(struct filter *f, const char *name, const struct address *address,
		 const struct queue_packet *packet, const struct verdict *verdict)
{
	char text[ADDRESS_TEXT];
	struct net_event event = {
		.type = NET_EVENT_DENIED,
		.name = name && *name ? name : NULL,
		.address = address ? address_print(address, text) : NULL,
		.port = packet->dport,
		.reason = verdict->reason,
		.rule = verdict->rule ? verdict->rule->text : NULL,
	};

	tell(f, &event, packet);
}

/* What the destination means, and whether it may be reached. */
static struct verdict judge(const struct filter *f, const struct address *dst, uint16_t port,
			    const char **ret_name)
{
	*ret_name = names_at(f->names, dst);
	if (*ret_name)
		return policy_connect(f->policy, *ret_name, port);
	if (names_is_synthetic(dst))
		return (struct verdict){ .reason = NET_UNASSIGNED };
	return policy_address(f->policy, dst, port);
}

static bool is_full(const struct filter *f)
{
	return f->relay.n_conns + f->dials.n >= f->relay.most;
}

/* With --explain a refused connection to a name is accepted, to be told the reason. */
static bool tell_why(struct filter *f, const struct queue_packet *packet, int inside,
		     const char *name, enum net_reason reason)
{
	if (!f->explain || !name || !*name || !explainer_can(packet->dport) || is_full(f))
		return false;
	if (inside >= 0) {
		explainer_tell(&f->explainer, inside, name, packet->dport, reason);
		return true;
	}
	if (!dial_refuse(&f->dials, packet, name, reason))
		return false;
	queue_verdict(f->sockets.queue, packet->id, QUEUE_PASS);
	return true;
}

/* Starts to dial for a connection that is allowed, or says why not. */
static bool begin(struct filter *f, const struct queue_packet *packet, int inside)
{
	struct address dst = address_from_in6(&packet->dst);
	const char *name;
	struct verdict verdict = judge(f, &dst, packet->dport, &name);

	if (verdict.allow && is_full(f))
		verdict = (struct verdict){ .reason = NET_LIMIT };
	if (!verdict.allow) {
		deny(f, name, name ? NULL : &dst, packet, &verdict);
		return tell_why(f, packet, inside, name, verdict.reason);
	}
	/* Who it is, while it surely is there: it waits for us to dial. */
	return dial_begin(&f->dials, packet, inside, name, f->policy, verdict.rule,
			  owners_find(&f->owners, f->sockets.diag, packet));
}

static int on_queue(struct loop_source *source, uint32_t events, struct err *err)
{
	struct filter *f = container_of(source, struct filter, queue);

	(void)events;
	(void)err;
	for (int i = 0; i < (f->dials.n < FEW ? 1 : BATCH); i++) {
		struct queue_packet packet;
		int r = queue_receive(source->fd, &packet);
		struct dial *dial;

		if (r == -EAGAIN)
			return 0;
		if (r < 0)
			continue;
		dial = dial_find(&f->dials, &packet);
		if (dial) /* sent again while we dial, or after */
			queue_verdict(source->fd, packet.id,
				      dial->state == DIAL_CONNECTED ? QUEUE_PASS : QUEUE_DROP);
		else if (!begin(f, &packet, -1))
			queue_verdict(source->fd, packet.id, QUEUE_REFUSE);
	}
	return 0;
}

/* UDP that the kernel refused by itself. */
static int on_log(struct loop_source *source, uint32_t events, struct err *err)
{
	struct filter *f = container_of(source, struct filter, log);
	struct queue_packet packet;

	(void)events;
	(void)err;
	while (log_receive(source->fd, &packet) == 0) {
		struct address dst = address_from_in6(&packet.dst);
		const char *name = names_at(f->names, &dst);
		struct verdict verdict = { .reason = packet.proto == IPPROTO_UDP ? NET_UDP
										 : NET_DIRECT_IP };

		deny(f, name, name ? NULL : &dst, &packet, &verdict);
	}
	return 0;
}

static enum queue_verdict verdict_for(int code)
{
	switch (code) {
	case ENETUNREACH:
		return QUEUE_NO_ROUTE;
	case EHOSTUNREACH:
	case ETIMEDOUT:
		return QUEUE_HOST_UNREACHABLE;
	default:
		return QUEUE_REFUSE;
	}
}

static void on_dial_failed(void *ctx, struct dial *dial, int code, enum net_reason reason,
			   const struct address *address)
{
	struct filter *f = ctx;
	struct verdict verdict = { .reason = reason, .rule = dial->rule };

	if (reason != NET_ALLOWED)
		deny(f, dial->name, address, &dial->packet, &verdict);
	if (dial->state == DIAL_CONNECTED)
		return; /* the rules have changed; the sandbox comes for it in on_accepted() */
	if (net_reason_is_policy(reason) &&
	    tell_why(f, &dial->packet, dial->inside, dial->name, reason))
		dial->inside = -1; /* the explainer's now, or still to be accepted */
	else if (dial->inside < 0)
		queue_verdict(f->sockets.queue, dial->packet.id, verdict_for(code));
	else
		os_socket_reset(take_fd(&dial->inside));
}

/* Joins the two sides. The dial is done with. */
static void join(struct filter *f, struct dial *dial, int inside)
{
	flow_join(&f->relay, dial, inside);
	dial_free(dial);
}

static void on_dial_connected(void *ctx, struct dial *dial)
{
	struct filter *f = ctx;

	if (dial->inside >= 0)
		join(f, dial, take_fd(&dial->inside));
	else
		queue_verdict(f->sockets.queue, dial->packet.id, QUEUE_PASS);
}

static void on_accepted(struct filter *f, int fd)
{
	struct queue_packet packet;
	struct dial *dial;

	if (!packet_of_socket(fd, &packet)) {
		close(fd);
		return;
	}
	dial = dial_find(&f->dials, &packet);
	if (dial && dial->refused) {
		if (f->explain && dial->name[0] && explainer_can(packet.dport))
			explainer_tell(&f->explainer, fd, dial->name, packet.dport, dial->refused);
		else
			os_socket_reset(fd);
		dial_free(dial);
	} else if (dial && dial->state == DIAL_CONNECTED) {
		join(f, dial, fd);
	} else if (f->tier == TIER_QUEUE) {
		/* Nobody was let through to here: it is the relay's own port that was dialled. */
		struct address dst = address_from_in6(&packet.dst);

		deny(f, NULL, &dst, &packet, &(struct verdict){ .reason = NET_RELAY_PORT });
		os_socket_reset(fd);
	} else if (!begin(f, &packet, fd)) {
		os_socket_reset(fd);
	}
}

/* Without a descriptor to accept with, the loop would be told of the same connection for ever: a
 * spare one takes it in, and both it and what was dialled for it are let go. */
static void shed(struct filter *f, int listener)
{
	struct queue_packet packet;
	struct dial *dial;
	int fd;

	if (f->spare >= 0)
		close(f->spare);
	fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	dial = fd >= 0 && packet_of_socket(fd, &packet) ? dial_find(&f->dials, &packet) : NULL;
	if (dial)
		dial_free(dial);
	if (fd >= 0)
		os_socket_reset(fd);
	f->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int filter_accept(struct filter *f, int listener)
{
	for (int i = 0; i < (f->dials.n < FEW ? 1 : BATCH); i++) {
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0 && (errno == EMFILE || errno == ENFILE))
			shed(f, listener);
		if (fd < 0)
			return 0;
		on_accepted(f, fd);
	}
	return 0;
}

static int on_tcp(struct loop_source *source, uint32_t events, struct err *err)
{
	(void)events;
	(void)err;
	return filter_accept(container_of(source, struct filter, tcp), source->fd);
}

static void on_relay_ended(void *ctx, void *tag, const struct relay_stats *stats)
{
	struct filter *f = ctx;

	flow_end(tag, stats, f->on_event, f->ctx);
}

static void on_dns_report(void *ctx, const struct dns_answer *answer,
			  const struct queue_packet *query)
{
	struct filter *f = ctx;
	struct net_event event = {
		.type = NET_EVENT_DENIED,
		.name = answer->name,
		.reason = answer->verdict.reason,
		.rule = answer->verdict.rule ? answer->verdict.rule->text : NULL,
	};

	if (!answer->verdict.allow)
		tell(f, &event, query);
}

static int watch(struct filter *f, struct loop_source *source, int fd,
		 int (*on_event)(struct loop_source *, uint32_t, struct err *), struct err *err)
{
	*source = (struct loop_source){ .fd = fd, .on_event = on_event };
	return fd < 0 ? 0 : loop_add(f->loop, source, LOOP_IN, err);
}

static int configure(struct filter *f, struct err *err)
{
	static const struct address loopback_v4 = { { [10] = 0xff, [11] = 0xff, 127, 0, 0, 1 } },
				    loopback_v6 = { { [15] = 1 } };
	const struct relay_hooks relay = { on_relay_ended, f };
	const struct dial_hooks dials = { on_dial_connected, on_dial_failed, f };
	struct dns dns = { .policy = f->policy, .names = f->names };
	bool ipv6 = false;
	int r = nsconf_open(f->netns, &f->sockets, err);

	if (r == 0)
		r = nsconf_routes(&f->sockets, &ipv6, err);
	if (r == 0)
		r = filter_enforce(f, err);
	if (r == 0)
		r = relay_start(&f->relay, f->loop, &relay, err);
	if (r == 0)
		r = explainer_start(&f->explainer, f->loop, err);
	if (r == 0)
		r = dial_list_start(&f->dials, f->loop, &dials, err);
	if (r < 0)
		return r;
	dns.no_ipv6 = !ipv6;
	dns.explain = f->explain;
	if (f->serves_host) {
		dns.host_v4 = &loopback_v4;
		dns.host_v6 = &loopback_v6;
	}
	relay_prepare(f->sockets.tcp);
	f->dials.proxy = f->proxy.port ? &f->proxy : NULL;
	f->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	r = dns_server_start(&f->dns, f->loop, &dns, f->sockets.udp, f->sockets.dns_tcp,
			     on_dns_report, f, err);
	if (r == 0)
		r = watch(f, &f->queue, f->sockets.queue, on_queue, err);
	if (r == 0)
		r = watch(f, &f->log, f->sockets.log, on_log, err);
	if (r == 0)
		r = watch(f, &f->tcp, f->sockets.tcp, on_tcp, err);
	return r;
}

void filter_start(struct filter *f, struct loop *loop, int netns, struct policy *policy,
		  net_event_fn *on_event, void *ctx)
{
	*f = (struct filter){
		.loop = loop,
		.netns = netns,
		.spare = -1,
		.policy = policy,
		.queue.fd = -1,
		.log.fd = -1,
		.tcp.fd = -1,
		.sockets = { .tcp = -1,
			     .udp = -1,
			     .dns_tcp = -1,
			     .route = -1,
			     .diag = -1,
			     .nft = -1,
			     .queue = -1,
			     .log = -1 },
		.dials = { .timer.fd = -1, .resolver.source.fd = -1 },
		.own = OWN_ADDRESSES_NONE,
		.on_event = on_event,
		.ctx = ctx,
	};
	policy->guard.own = own_address;
	policy->guard.ctx = &f->own;
}

/* Hosts that a rule names keep their place, whatever is asked for below a wildcard. */
static void reserve_names(struct filter *f)
{
	for (size_t i = 0; i < f->policy->n_rules && names_count(f->names) < NAMES_MAX / 2; i++) {
		const struct rule *rule = f->policy->rules[i];

		if (rule->kind == RULE_NAME && !(rule->flags & RULE_DENY))
			(void)names_add(f->names, rule->host); /* full: it is asked for later */
	}
}

int filter_up(struct filter *f, struct err *err)
{
	int r;

	if (f->up)
		return 0;
	f->names = names_new();
	if (f->names)
		reserve_names(f);
	r = f->names ? configure(f, err) : err_errno(err, ENOMEM, "the filtered network");
	f->up = r == 0;
	return r;
}

void filter_stop(struct filter *f)
{
	if (!f->loop)
		return;
	dns_server_stop(&f->dns);
	explainer_stop(&f->explainer);
	loop_remove(f->loop, &f->queue);
	loop_remove(f->loop, &f->log);
	loop_remove(f->loop, &f->tcp);
	if (f->up) {
		relay_finish(&f->relay);
		relay_stop(&f->relay);
		dial_list_stop(&f->dials);
	}
	filter_unlisten(f);
	owners_release(&f->owners);
	nsconf_close(&f->sockets);
	own_addresses_release(&f->own);
	if (f->spare >= 0)
		close(f->spare);
	names_free(f->names);
	policy_unref(f->policy);
	if (f->netns >= 0)
		close(f->netns);
	*f = (struct filter){ .netns = -1 };
}
