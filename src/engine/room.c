/* SPDX-License-Identifier: MIT */
/* How much room there is; see room.h. */
#include "engine/room.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "engine/suspects.h"
#include "os/fs.h"
#include "os/linux/kernel.h"
#include "os/timer.h"
#include "session/denial.h"

enum {
	ASKED_MS = 250, /* a limit that somebody named */
	DEFAULT_MS = 2000,
};

static bool is_full(const struct room_place *place)
{
	struct statvfs fs;

	return fstatvfs(place->fd, &fs) == 0 && (fs.f_bfree == 0 || fs.f_ffree == 0);
}

static void tell(const struct room *r, const struct room_place *place)
{
	const struct crowd crowd = { r->sandbox, -1 };
	struct owner *owner = suspects_find_writer(&crowd, place->dev);
	char value[DENIAL_LIMIT_MAX];
	struct denial denial;

	denial_of_limit(&denial, DENIAL_DISK, r->sandbox->plan->scratch_size, value);
	if (r->n > 1) /* podman's; else all places share it */
		denial.path = place->path;
	denial.predicted = true;
	denial.owner = owner;
	sandbox_tell_denied(r->sandbox, &denial, 0);
	owner_unref(owner);
}

static void look(struct room *r)
{
	for (size_t i = 0; i < r->n; i++) {
		bool was = r->places[i].full;

		r->places[i].full = is_full(&r->places[i]);
		if (r->places[i].full && !was)
			tell(r, &r->places[i]);
	}
}

static int on_timer(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	(void)os_timer_take(source->fd);
	look(container_of(source, struct room, timer));
	return 0;
}

/* As large as the plan made it, in whole blocks. */
static bool is_ours(const struct room *r, const struct statvfs *fs)
{
	uint64_t size = (uint64_t)fs->f_blocks * fs->f_frsize;

	return size >= r->sandbox->plan->scratch_size &&
	       size - r->sandbox->plan->scratch_size < fs->f_frsize;
}

/* A private place; several may be directories of one file system. */
static void add_place(struct room *r, int root, const char *path)
{
	_cleanup_close_ int fd = os_openat2(root, path + 1, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0,
					    RESOLVE_NO_SYMLINKS);
	struct statvfs fs;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || fstatvfs(fd, &fs) < 0 || !is_ours(r, &fs))
		return;
	for (size_t i = 0; i < r->n; i++)
		if (r->places[i].dev == st.st_dev)
			return;
	if (r->n < ROOM_PLACES)
		r->places[r->n++] = (struct room_place){ path, take_fd(&fd), st.st_dev, false };
}

static void add_places(struct room *r)
{
	const struct plan *plan = r->sandbox->plan;
	_cleanup_close_ int root = crowd_open_root(r->sandbox);

	for (size_t i = 0; root >= 0 && i < plan->n_ops; i++)
		if (plan->ops[i].kind == OP_SCRATCH && !(plan->ops[i].flags & OPF_RO))
			add_place(r, root, plan->ops[i].dest);
}

void room_start(struct room *r, struct loop *loop, struct sandbox *sandbox)
{
	unsigned period = sandbox->plan->scratch_asked ? ASKED_MS : DEFAULT_MS;
	struct err err;

	*r = (struct room)ROOM_NONE;
	/* A single command has the machine's own places; a machine's are its own kernel's. */
	if (sandbox->first <= 0 || plan_root_of_host(sandbox->plan) ||
	    plan_is_machine(sandbox->plan))
		return;
	r->sandbox = sandbox;
	r->loop = loop;
	add_places(r);
	if (!r->n)
		return;
	r->timer = (struct loop_source){ .fd = os_timer_open(), .on_event = on_timer };
	if (r->timer.fd < 0 || os_timer_set(r->timer.fd, period, period) < 0 ||
	    loop_add(loop, &r->timer, LOOP_IN, &err) < 0) {
		err_set(&err, EIO, "the room for files cannot be watched here");
		sandbox_warn(sandbox, &err);
	}
}

void room_end(struct room *r)
{
	look(r);
}

void room_stop(struct room *r)
{
	if (r->timer.fd >= 0) {
		loop_remove(r->loop, &r->timer);
		close(r->timer.fd);
	}
	while (r->n)
		close(r->places[--r->n].fd);
	*r = (struct room)ROOM_NONE;
}
