/* SPDX-License-Identifier: MIT */
/* What a supervisor on Linux keeps for the kernel's sandboxes: the network, keys, and the guards. */
#include <errno.h>
#include <stdlib.h>

#include "engine/guards.h"
#include "engine/headcount.h"
#include "engine/keys.h"
#include "engine/network.h"
#include "engine/room.h"
#include "engine/sandbox.h"
#include "engine/tally.h"

struct guests {
	struct sandbox *sandbox;
	struct network network;
	struct key_agent keys;
	struct guards guards;
	struct headcount headcount;
	struct tally tally;
	struct room room;
	struct loop *loop;
	const struct file_rules *files; /* in force; NULL: the plan's */
};

static int start(struct sandbox *sandbox, struct loop *loop, void **ret, struct err *err)
{
	struct guests *g = calloc(1, sizeof(*g));
	int r;

	if (!g)
		return err_errno(err, ENOMEM, "the supervisor");
	*g = (struct guests){
		.sandbox = sandbox,
		.guards = GUARDS_NONE,
		.headcount = HEADCOUNT_NONE,
		.tally = TALLY_NONE,
		.room = ROOM_NONE,
		.loop = loop,
	};
	*ret = g;
	guards_begin(&g->guards, sandbox);
	r = network_start(&g->network, loop, sandbox, &g->guards.dispatch, err);
	if (r == 0)
		r = keys_serve(&g->keys, loop, sandbox, err);
	if (r == 0)
		r = guards_start(&g->guards, loop, sandbox, err);
	if (r == 0 && sandbox->link->start)
		r = sandbox->link->start(sandbox, loop, &g->network, err);
	return r;
}

static void started(void *guests)
{
	struct guests *g = guests;

	network_open_door(&g->network);
	headcount_start(&g->headcount, g->loop, g->sandbox);
	tally_start(&g->tally, g->loop, g->sandbox);
	room_start(&g->room, g->loop, g->sandbox);
}

static void ended(void *guests, int status)
{
	struct guests *g = guests;

	tally_end(&g->tally, status);
	room_end(&g->room);
}

static int set_rules(void *guests, const struct engine_rules *rules, struct err *err)
{
	struct guests *g = guests;
	struct sandbox *sandbox = g->sandbox;
	const struct file_rules *old = g->files ? g->files : sandbox->plan->files;
	int r = 0;

	if (rules->files && sandbox->broker)
		r = broker_set_rules(sandbox->broker, rules->files, err);
	if (r < 0)
		return r;
	if (sandbox->plan->net == NET_FILTERED)
		r = network_set_rules(&g->network, rules, err);
	if (r == 0)
		g->files = rules->files;
	else if (rules->files && sandbox->broker) /* its places are open already: it cannot fail */
		(void)broker_set_rules(sandbox->broker, old, &(struct err){ 0 });
	return r;
}

static void stop(void *guests)
{
	struct guests *g = guests;

	if (g->sandbox->link->stop)
		g->sandbox->link->stop(g->sandbox);
	headcount_stop(&g->headcount);
	tally_stop(&g->tally);
	room_stop(&g->room);
	guards_stop(&g->guards);
	key_agent_stop(&g->keys);
	network_stop(&g->network);
	free(g);
}

static void release(struct sandbox *sandbox)
{
	broker_free(sandbox->broker);
}

const struct sandbox_guests linux_guests = {
	.start = start,
	.started = started,
	.ended = ended,
	.set_rules = set_rules,
	.stop = stop,
	.release = release,
};
