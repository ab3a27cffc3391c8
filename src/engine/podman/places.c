/* SPDX-License-Identifier: MIT */
/*
 * Where podman's mounts come to lie. Its runtime follows the image's links, also into what it has mounted before, and
 * makes what is missing there: an image whose /etc is a link to /workspace had files made in the user's project,
 * as another id's. So no link may lead what is mounted at one place into what is mounted at another.
 *
 * This is the image as we have unpacked it, and says which link it is. Where podman has made something else of it, nothing can
 * be made either (hook.c), and no other place becomes writable (writable.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/path.h"
#include "engine/podman/container.h"

enum { LINKS_MAX = 40 };

/* What podman mounts by itself. */
static const char *const own[] = {
	"/dev/mqueue",   "/dev/pts",           "/dev/shm",     "/etc/group",
	"/etc/hostname", "/etc/hosts",         "/etc/passwd",  "/etc/resolv.conf",
	"/proc",         "/run/.containerenv", "/run/secrets", "/sys/fs/cgroup",
};

struct place {
	const char *said, *real;
	bool holds; /* something is mounted there that is not the image's */
};

/* Into buffers of fixed size: whose links make more of a path than the kernel takes is nobody's honest image, and would
 * fill our memory. */
struct walk {
	char done[PATH_MAX], rest[PATH_MAX]; /* without links; what is still to be gone */
};

/* What a link says comes before what was left. */
static bool follow(struct walk *walk, const char *target, size_t len, const char *left)
{
	char rest[PATH_MAX];

	if (snprintf(rest, sizeof(rest), "%.*s/%s", (int)len, target, left) >= (int)sizeof(rest))
		return false;
	memcpy(walk->rest, rest, strlen(rest) + 1);
	if (*target == '/')
		walk->done[0] = '\0';
	return true;
}

/* A path in the image without its links; what is missing keeps its name. NULL: there is no end of them. */
static const char *resolve(struct arena *arena, int root, const char *path)
{
	struct walk walk = { .done = "" };
	unsigned links = 0;

	if (!follow(&walk, path, strlen(path), ""))
		return NULL;
	for (const char *at = walk.rest; *at;) {
		size_t len = strcspn(at, "/"), had = strlen(walk.done);
		char target[PATH_MAX];
		ssize_t n;

		if (len == 2 && !memcmp(at, "..", 2)) {
			*(strrchr(walk.done, '/') ?: walk.done) = '\0';
		} else if (len && (len != 1 || *at != '.')) {
			if (had + 1 + len >= sizeof(walk.done))
				return NULL;
			walk.done[had] = '/';
			memcpy(walk.done + had + 1, at, len);
			walk.done[had + 1 + len] = '\0';
			n = readlinkat(root, walk.done + 1, target, sizeof(target));
			if (n >= 0) {
				walk.done[had] = '\0';
				if (++links > LINKS_MAX ||
				    !follow(&walk, target, (size_t)n, at + len))
					return NULL;
				at = walk.rest;
				continue;
			}
		}
		at += len + (at[len] == '/');
	}
	return arena_strdup(arena, *walk.done ? walk.done : "/");
}

static void add(struct arena *arena, struct place **places, size_t *n, const char *said, bool holds)
{
	struct place *place = arena_grow(arena, places, n, sizeof(*place));

	*place = (struct place){ .said = said, .holds = holds };
}

static int refuse(const struct plan *plan, const struct place *place, const char *where,
		  struct err *err)
{
	err_set(err, ELOOP, "by a link of the image '%s' '%s' lies in %s", plan->podman.name,
		place->said, where);
	return err_hint(err, "podman would make what it mounts there in your own files; the native "
			     "engine makes such places itself");
}

static int check_place(const struct plan *plan, const struct place *place,
		       const struct place *places, size_t n, struct err *err)
{
	if (!place->real)
		return refuse(plan, place, "itself", err);
	for (size_t i = 0; i < n; i++)
		if (places[i].holds && places[i].real &&
		    path_is_below(place->real, places[i].real) &&
		    !path_is_below(place->said, places[i].said))
			return refuse(plan, place, places[i].said, err);
	return 0;
}

int places_check(struct container *c, const struct plan *plan, struct err *err)
{
	_cleanup_close_ int root = open(plan->podman.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct place *places = NULL;
	size_t n = 0;
	int r = 0;

	if (root < 0)
		return err_errno(err, errno, "opening '%s'", plan->podman.root);
	for (size_t i = 0; i < plan->n_ops; i++)
		add(&c->arena, &places, &n, plan->ops[i].dest,
		    plan->ops[i].kind == OP_BIND || plan->ops[i].kind == OP_COW);
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		add(&c->arena, &places, &n, own[i], false);
	for (size_t i = 0; i < n; i++)
		places[i].real = resolve(&c->arena, root, places[i].said);
	c->places = arena_alloc(&c->arena, (plan->n_ops + 1) * sizeof(*c->places));
	for (size_t i = 0; i < plan->n_ops; i++)
		c->places[i] = places[i].real;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = check_place(plan, &places[i], places, n, err);
	return r;
}
