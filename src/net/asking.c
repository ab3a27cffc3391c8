/* SPDX-License-Identifier: MIT */
/*
 * Whose name is looked up next.
 *
 * The resolver does so many at once, and a name whose server is silent takes it 15 seconds. What an
 * attacker controls: how many names below a wildcard are dialled, and perhaps their server. So the
 * names of one zone, by one rule, have a part of the resolver and no more, and what has to wait does
 * it here, where who is next can be chosen, and not in the resolver's queue.
 */
#include "net/asking.h"

#include <string.h>

#define OF_ONE_ZONE (RESOLVER_AT_ONCE / 4)

/* What the resolver works on. */
struct load {
	size_t n, n_groups;
	struct group {
		const struct rule *rule;
		const char *zone;
		size_t n;
	} groups[RESOLVER_AT_ONCE];
};

const char *asking_name(const struct dial *dial)
{
	return dial->via_proxy ? dial->list->proxy->host : dial->name;
}

bool asking_awaits(const struct dial *dial, const char *name)
{
	return dial->state == DIAL_RESOLVING && !strcmp(asking_name(dial), name);
}

/* The last two labels: about what one owner has. */
static const char *zone_of(const char *name)
{
	const char *zone = name + strlen(name);

	for (unsigned dots = 0; zone > name; zone--)
		if (zone[-1] == '.' && ++dots == 2)
			break;
	return zone;
}

static struct group *group_of(struct load *load, const struct dial *dial)
{
	const char *zone = zone_of(asking_name(dial));

	for (size_t i = 0; i < load->n_groups; i++)
		if (load->groups[i].rule == dial->rule && !strcmp(load->groups[i].zone, zone))
			return &load->groups[i];
	return NULL;
}

static void count(struct load *load, const struct dial *dial)
{
	struct group *group = group_of(load, dial);

	if (load->n == RESOLVER_AT_ONCE)
		return;
	if (!group) {
		group = &load->groups[load->n_groups++];
		group->rule = dial->rule;
		group->zone = zone_of(asking_name(dial));
	}
	group->n++;
	load->n++;
}

struct dial *asking_next(const struct dial_list *list)
{
	struct load load = { 0 };
	struct dial *oldest = NULL;

	for (struct dial *dial = list->head; dial; dial = dial->next)
		if (dial->asks && dial->state == DIAL_RESOLVING)
			count(&load, dial);
	if (load.n == RESOLVER_AT_ONCE)
		return NULL;
	for (struct dial *dial = list->head; dial; dial = dial->next) {
		const struct group *group;

		if (dial->state != DIAL_RESOLVING || dial->asked)
			continue;
		group = group_of(&load, dial);
		if (!group || group->n < OF_ONE_ZONE)
			oldest = dial;
	}
	return oldest;
}

void asking_done(struct dial *dial)
{
	const char *name = asking_name(dial);

	dial->asks = true;
	for (struct dial *other = dial->list->head; other; other = other->next)
		if (asking_awaits(other, name))
			other->asked = true;
}

bool asking_is_done(const struct dial *dial)
{
	const char *name = asking_name(dial);

	for (const struct dial *other = dial->list->head; other; other = other->next)
		if (other->asked && asking_awaits(other, name))
			return true;
	return false;
}
