/* SPDX-License-Identifier: MIT */
/* How long the daemon keeps a message that no way takes. */
#include "lib/tap.h"
#include "notify/daemon/notifyd.h"
#include "os/ticker.h"

/* Of a sender whose message has had no way for so long: is it still kept after a look? */
static bool is_kept(int64_t seconds, bool on_demand, bool host, bool gone)
{
	struct sender s = { .host = host,
			    .gone = gone,
			    .stage = STAGE_STUCK,
			    .stuck = os_seconds() - seconds,
			    .since = os_seconds() +
				     3600 }; /* no way is tried, however late we are */
	struct hub hub = { .on_demand = on_demand, .senders = &s };

	s.hub = &hub;
	deliver_tick(&hub);
	return s.stage == STAGE_STUCK;
}

int main(void)
{
	ok(is_kept(3600, true, false, false), "of a session that runs: for good");
	ok(is_kept(1, true, false, true), "of one that has ended: for a while");
	ok(!is_kept(61, true, false, true), "... and no longer");
	ok(is_kept(1, true, true, false), "the host's, by a daemon on demand: for a while");
	ok(!is_kept(61, true, true, false), "... and no longer: it would never end");
	ok(is_kept(3600, false, true, false), "by one that stays: for good");
	return done();
}
