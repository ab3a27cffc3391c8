/* SPDX-License-Identifier: MIT */
/* What every engine's sandbox needs of its supervisor. */
#include "engine/sandbox.h"

void sandbox_warn(const struct sandbox *sandbox, const struct err *err)
{
	if (sandbox->hooks && sandbox->hooks->on_failure)
		sandbox->hooks->on_failure(sandbox->hooks->ctx, err);
}

void sandbox_tell(const struct sandbox *sandbox, enum engine_event event, int value)
{
	if (sandbox->hooks && sandbox->hooks->on_event)
		sandbox->hooks->on_event(sandbox->hooks->ctx, event, value);
}

void sandbox_release(struct sandbox *sandbox)
{
	int *fds[] = { &sandbox->pidfd, &sandbox->control,   &sandbox->pty_master,
		       &sandbox->netns, &sandbox->listener,  &sandbox->agent,
		       &sandbox->view,  &sandbox->status,    &sandbox->door,
		       &sandbox->mntns, &sandbox->gate_store };

	if (sandbox->link && sandbox->link->guests->release)
		sandbox->link->guests->release(sandbox);
	keyring_release(&sandbox->keys);
	ports_stop(&sandbox->ports);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		if (*fds[i] >= 0)
			close(take_fd(fds[i]));
	for (size_t i = 0; i < sandbox->n_trees; i++)
		close_ptr(&sandbox->trees[i].fd);
}
