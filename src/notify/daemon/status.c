/* SPDX-License-Identifier: MIT */
/* How the daemon is, as one JSON object: for --status, for 'wrapix doctor', for tests. */
#include <string.h>

#include "base/json.h"
#include "notify/daemon/notifyd.h"

static void add_pair(struct str *out, const char *key, const char *value, bool last)
{
	str_addf(out, "\"%s\":", key);
	json_add_string(out, value);
	str_add(out, last ? "" : ",");
}

static void add_sender(struct str *out, const struct sender *s)
{
	static const char *const focus[] = { "unknown", "here", "elsewhere" };

	str_add(out, "{");
	add_pair(out, "id", s->place.id, false);
	add_pair(out, "name", s->place.name, false);
	add_pair(out, "tty", s->place.tty, false);
	add_pair(out, "tmux", s->place.tmux_pane, false);
	add_pair(out, "window", s->place.window, false);
	add_pair(out, "reported", focus[s->reported], false);
	str_addf(out, "\"waiting\":%u}", (s->stage != STAGE_IDLE) + (s->has_next ? 1U : 0));
}

static void add_outcomes(struct str *out, const struct hub *hub)
{
	unsigned long first = hub->n_outcomes > OUTCOMES ? hub->n_outcomes - OUTCOMES : 0;

	for (unsigned long i = first; i < hub->n_outcomes; i++) {
		const struct outcome *o = &hub->outcomes[i % OUTCOMES];

		str_addf(out, "%s{\"at\":%lld,", i > first ? "," : "", (long long)o->at);
		add_pair(out, "sender", o->sender, false);
		add_pair(out, "title", o->title, false);
		add_pair(out, "outcome", o->text, true);
		str_add(out, "}");
	}
}

void hub_status(const struct hub *hub, struct str *out)
{
	const struct stats *st = &hub->stats;
	const char *program = way_program_name();
	bool first = true;

	str_add(out, "{");
	add_pair(out, "version", WRAPIX_VERSION, false);
	add_pair(out, "desktop", bus_describe(hub->bus), false);
	str_addf(out, "\"desktop_works\":%s,", bus_works(hub->bus) ? "true" : "false");
	add_pair(out, "program", program ? program : "", false);
	str_addf(out, "\"received\":%lu,\"shown\":%lu,\"summed\":%lu,\"silent\":%lu,\"quiet\":%lu,",
		 st->received, st->shown, st->summed, st->silent, st->quiet);
	str_addf(out, "\"malformed\":%lu,\"too_long\":%lu,\"refused\":%lu,\"connections\":%u,",
		 st->malformed, st->too_long, st->refused, hub->n_conns);
	str_addf(out, "\"outcomes\":%lu,\"sessions\":[", hub->n_outcomes);
	for (const struct sender *s = hub->senders; s; s = s->next)
		if (!s->host) {
			str_add(out, first ? "" : ",");
			add_sender(out, s);
			first = false;
		}
	str_add(out, "],\"last\":[");
	add_outcomes(out, hub);
	str_add(out, "]}");
}
