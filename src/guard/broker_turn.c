/* SPDX-License-Identifier: MIT */
/*
 * One change at a time, of all commands and sessions of a user. Two of them may write in the same directories, and each
 * has a broker of its own: what one has judged the other could exchange before it is done (a configuration that was
 * read, a directory in which no link was found, one in which a name is missing that would make it git's). So a broker
 * has its turn from the first look to the deed, by a lock on a file in the state directory, which no sandbox can reach.
 *
 * It is given back before anything that may take long: git at work, a report, a caller that has to take a descriptor.
 * When somebody else does not give it back, the change is refused (session/turn.h).
 */
#include <sys/file.h>

#include "guard/broker_priv.h"
#include "session/turn.h"

enum { STEP_US = 10 }; /* it is a matter of microseconds */

static int open_turn(struct broker *b)
{
	int r = turn_open(b->turn_path, &b->turn);

	if (r == 0)
		b->turn_path = NULL;
	return r < 0 ? r : 0;
}

int turn_take(struct request *r)
{
	struct broker *b = r->b;
	int e;

	if (r->has_turn || !b->turn_path)
		return 0;
	e = b->turn < 0 ? open_turn(b) : 0;
	if (e < 0 || !b->turn_path)
		return e;
	e = turn_await(b->turn, STEP_US);
	r->has_turn = e == 0;
	return e;
}

void turn_give(struct request *r)
{
	if (r->has_turn)
		flock(r->b->turn, LOCK_UN);
	r->has_turn = false;
}
