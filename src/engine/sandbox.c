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

void sandbox_tell_denied(const struct sandbox *sandbox, const struct denial *denial, pid_t pid)
{
	if (sandbox->hooks && sandbox->hooks->on_denied)
		sandbox->hooks->on_denied(sandbox->hooks->ctx, denial, pid);
}

void sandbox_tell_network(void *ctx, const struct net_event *event)
{
	const struct sandbox *sandbox = ctx;

	if (sandbox->hooks && sandbox->hooks->on_network)
		sandbox->hooks->on_network(sandbox->hooks->ctx, event);
}

void sandbox_release(struct sandbox *sandbox)
{
	int *fds[] = { &sandbox->pidfd, &sandbox->control,    &sandbox->pty_master,
		       &sandbox->netns, &sandbox->listener,   &sandbox->agent,
		       &sandbox->view,  &sandbox->status,     &sandbox->door,
		       &sandbox->mntns, &sandbox->gate_store, &sandbox->outlet };

	if (sandbox->link && sandbox->link->guests->release)
		sandbox->link->guests->release(sandbox);
	keyring_release(&sandbox->keys);
	ports_stop(&sandbox->ports);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		close_ptr(fds[i]);
	for (size_t i = 0; i < sandbox->n_trees; i++)
		close_ptr(&sandbox->trees[i].fd);
}
