/* SPDX-License-Identifier: MIT */
/* A build for macOS: no session has a private git directory there, so that there is nothing to publish. */
#include <errno.h>
#include <time.h>

#include "git/priv.h"
#include "git/watch.h"

void git_identity(_unused_ const char *dir, char ret[GIT_IDENTITY])
{
	*ret = '\0';
}

bool git_has_identity(_unused_ int dir_fd, _unused_ const char *name, _unused_ const char *identity)
{
	return true;
}

bool git_born(_unused_ int fd, _unused_ struct timespec *ret)
{
	return false;
}

void git_clock(struct timespec *ret)
{
	clock_gettime(CLOCK_REALTIME, ret);
}

int git_watch_start(_unused_ struct git_watch *watch, _unused_ struct loop *loop,
		    _unused_ struct git_store *store,
		    _unused_ void (*on_failure)(void *ctx, const char *text), _unused_ void *ctx,
		    struct err *err)
{
	err_set(err, ENOTSUP, "a private git directory needs Linux");
	return err_hint(err, "on macOS the sandbox has the repository's own");
}

void git_watch_stop(_unused_ struct git_watch *watch)
{
}
