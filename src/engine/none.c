/* SPDX-License-Identifier: MIT */
/* A build for macOS: the engines of Linux, and what 'wrapix doctor' tries of them. */
#include <errno.h>

#include "engine/engine.h"
#include "engine/native/lend.h"
#include "engine/native/probe.h"

static int lacking(struct err *err, const char *what)
{
	err_set(err, ENOTSUP, "%s needs Linux", what);
	return err_hint(err, "on macOS: 'wrapix run' (--engine apple) in a virtual machine, or "
			     "'wrapix exec' under Seatbelt");
}

int native_run(_unused_ const struct plan *plan, _unused_ const struct engine_session *session,
	       _unused_ const struct engine_hooks *hooks, _unused_ int *ret_status, struct err *err)
{
	return lacking(err, "the native engine");
}

int podman_run(_unused_ const struct plan *plan, _unused_ const struct engine_session *session,
	       _unused_ const struct engine_hooks *hooks, _unused_ int *ret_status, struct err *err)
{
	return lacking(err, "the podman engine");
}

struct engine_spare *native_spare(struct plan *begun, _unused_ int floor, _unused_ bool at_once)
{
	plan_release(begun);
	return NULL;
}

int native_spare_fd(_unused_ const struct engine_spare *spare)
{
	return -1;
}

void native_spare_free(_unused_ struct engine_spare *spare)
{
}

int lent_enter(_unused_ int n_spaces, _unused_ bool image, struct err *err)
{
	return lacking(err, "to enter a sandbox's namespaces");
}

int lent_open(_unused_ void *owner, _unused_ const char *path, _unused_ int flags)
{
	return -ENOTSUP;
}

int lent_mkdirs(_unused_ int owner, _unused_ const char *path, _unused_ mode_t mode,
		struct err *err)
{
	return lacking(err, "to ask a sandbox's supervisor");
}

void lent_tell(_unused_ int owner, _unused_ const struct err *err)
{
}

int probe_userns(struct err *err)
{
	return lacking(err, "a user namespace");
}

int probe_mounts(struct err *err)
{
	return lacking(err, "a mount namespace");
}

int probe_seccomp(struct err *err)
{
	return lacking(err, "the filter of system calls");
}

int probe_filter(_unused_ const char **ret_tier, struct err *err)
{
	return lacking(err, "the filter of a network namespace");
}

int probe_uplink(_unused_ const struct strv *argv, struct err *err)
{
	return lacking(err, "pasta or slirp4netns");
}
