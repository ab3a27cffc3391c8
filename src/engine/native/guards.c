/* SPDX-License-Identifier: MIT */
/* The supervisor's guests that answer system calls. */
#include "engine/native/guards.h"

int guards_start(struct guards *guards, struct loop *loop, struct sandbox *sandbox, struct err *err)
{
	if (sandbox->listener < 0)
		return 0;
	return dispatch_start(&guards->dispatch, loop, take_fd(&sandbox->listener), err);
}

void guards_stop(struct guards *guards)
{
	dispatch_stop(&guards->dispatch);
}
