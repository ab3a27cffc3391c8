/* SPDX-License-Identifier: MIT */
/* Taking turns in the host's repository: who has it finds nothing half done by those before, killed or not. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sha256.h"
#include "git/priv.h"
#include "os/fs.h"
#include "session/turn.h"

enum { STEP_US = 5000 }; /* git may be at work meanwhile */

int git_open_turn(const char *state, const char *common)
{
	char identity[GIT_IDENTITY], hex[SHA256_HEX], path[PATH_MAX];
	const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
	struct err err;
	int fd;

	git_identity(common, identity);
	if (!*identity) {
		errno = ENOENT;
		return -1;
	}
	sha256_hex(identity, strlen(identity), hex);
	if (snprintf(path, sizeof(path), "%s/turns/%.16s", state, hex) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = open(path, flags, 0600);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	*strrchr(path, '/') = '\0';
	if (os_mkdirs(path, 0700, &err) < 0) {
		errno = err.code;
		return -1;
	}
	path[strlen(path)] = '/';
	return open(path, flags, 0600);
}

int git_take_turn(int fd)
{
	int r = turn_await(fd, STEP_US);

	if (r < 0)
		errno = -r;
	return r < 0 ? -1 : 0;
}

/* What was copied to be exchanged. */
static void repair_exchanges(const struct git_store *store)
{
	_cleanup_close_ int real = git_open_host(store, store->real);
	_cleanup_close_ int common = git_open_host(store, store->common);
	_cleanup_close_ int private = open(store->private,
					   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	git_exchange_repair(real, "index");
	git_exchange_repair(private, "index");
	git_exchange_repair(common, "config");
}

static int take_turn(struct git_store *store, struct err *err)
{
	_cleanup_close_ int turn = git_open_turn(store->state, store->common);

	if (turn < 0 || git_take_turn(turn) < 0)
		return err_errno(err, errno, "locking '%s'", store->common);
	store->turn = turn;
	turn = -1;
	repair_exchanges(store);
	return 0;
}

static void leave_turn(struct git_store *store)
{
	close(store->turn);
	store->turn = 0;
}

int git_begin_turn(struct git_store *store, struct err *err)
{
	int r = take_turn(store, err);

	if (r < 0)
		return r;
	r = git_locks_mend(store, err);
	if (r < 0)
		leave_turn(store);
	return r;
}

void git_end_turn(struct git_store *store)
{
	struct err ignored; /* then the next one does it */

	(void)git_locks_mend(store, &ignored);
	leave_turn(store);
}

int git_unlock(struct git_store *store, struct err *err)
{
	int r = git_begin_turn(store, err);

	if (r == 0)
		leave_turn(store);
	for (size_t i = 0; r == 0 && i < store->n_parts; i++)
		r = git_unlock(&store->parts[i], err);
	return r;
}
