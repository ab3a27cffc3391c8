/* SPDX-License-Identifier: MIT */
/* How long the daemon keeps a message that no way takes, and lets who asks wait for an answer. */
#include "lib/tap.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

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

/* Of a question that comes when no way has taken a message for so long: what its asker reads after a look, "" when he still waits. */
static const char *answered(int64_t seconds)
{
	static char line[64];
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct hub hub = { .ticker.runs = true };
	struct sender s = { .hub = &hub, .stage = STAGE_STUCK, .since = os_seconds() + 3600 };
	int asker = socket(AF_UNIX, SOCK_STREAM, 0);
	const char ask[] = "{\"title\":\"a\",\"message\":\"b\",\"wait\":true}\n";
	ssize_t n;
	struct err err;

	snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "wrapix-deliver-%d", (int)getpid());
	s.listener.fd = socket(AF_UNIX, SOCK_STREAM, 0);
	s.stuck = os_seconds() - seconds;
	hub.senders = &s;
	if (loop_init(&hub.loop, &err) < 0 ||
	    bind(s.listener.fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(s.listener.fd, 1) < 0 ||
	    connect(asker, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    send(asker, ask, strlen(ask), 0) < 0 || conn_accept(&s.listener, 0, &err) < 0 ||
	    loop_run(&hub.loop, 0, &err) < 0)
		return "nothing was asked";
	deliver_tick(&hub);
	n = recv(asker, line, sizeof(line) - 1, MSG_DONTWAIT);
	line[n > 0 ? n : 0] = '\0';
	conn_end_all(&hub, NULL);
	loop_release(&hub.loop);
	close(asker);
	close(s.listener.fd);
	return s.has_next ? line : "the question was not taken";
}

int main(void)
{
	ok(is_kept(3600, true, false, false), "of a session that runs: for good");
	ok(is_kept(1, true, false, true), "of one that has ended: for a while");
	ok(!is_kept(61, true, false, true), "... and no longer");
	ok(is_kept(1, true, true, false), "the host's, by a daemon on demand: for a while");
	ok(!is_kept(61, true, true, false), "... and no longer: it would never end");
	ok(is_kept(3600, false, true, false), "by one that stays: for good");
	is_str(answered(1), "", "a question that nobody can be shown waits for a way");
	is_str(answered(61), "{\"action\":\"\"}\n", "... and has no answer after a minute");
	return done();
}
