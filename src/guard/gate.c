/* SPDX-License-Identifier: MIT */
/* Private places: the list of them, and how they come into the sandbox. See gate.h. */
#include "guard/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/path.h"
#include "cow/copy.h"
#include "os/fs.h"
#include "os/linux/kernel.h"
#include "os/linux/mount.h"
#include "os/proc.h"

struct entry {
	unsigned number;
	enum gate_kind kind;
	bool made;
	int object; /* what the host has there, O_PATH: it tells where it is now; -1: not there yet */
	dev_t dev; /* what the sandbox sees */
	ino_t ino;
	char *path; /* when it was made; NULL: it was given up */
};

struct gate {
	int meta, mntns, store;
	struct entry entries[GATE_PLACES_MAX];
	size_t n;
	unsigned next;
	const char *inside, *host; /* the plan's */
	gate_repository_fn *repository;
	void *ctx;
};

/* ------------------------------------------------------------------ the list */

/* Where it is now; NULL when it is gone. */
static const char *path_now(const struct gate *gate, const struct entry *entry, char buf[PATH_MAX])
{
	char name[PATH_MAX];
	const char *below;
	struct stat st;

	if (entry->object < 0 || fstat(entry->object, &st) < 0 || st.st_nlink == 0)
		return NULL;
	if (os_fd_name(entry->object, name) <= 0)
		return entry->path;
	below = path_below(name, gate->inside);
	if (!below) /* one that was carried over is known by its name outside */
		below = path_below(name, gate->host);
	if (!below || snprintf(buf, PATH_MAX, "%s/%s", gate->host, below) >= PATH_MAX)
		return NULL;
	return buf;
}

static int save(const struct gate *gate, struct err *err)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct gate_place *places = arena_alloc(&arena, GATE_PLACES_MAX * sizeof(*places));
	char buf[PATH_MAX];

	for (size_t i = 0; i < gate->n; i++) {
		const struct entry *entry = &gate->entries[i];
		const char *path = entry->object < 0 ? entry->path : path_now(gate, entry, buf);

		/* What is held is not forgotten with its directory. */
		if (!path && entry->kind == GATE_HELD)
			path = entry->path;
		places[i] = (struct gate_place){ entry->number, entry->kind, entry->made,
						 arena_strdup(&arena, path) };
	}
	return gate_write(gate->meta, places, gate->n, err);
}

/* ------------------------------------------------------------------ the gate */

int gate_new(struct gate **ret, int meta, gate_repository_fn *fn, void *ctx, struct err *err)
{
	struct gate *gate = calloc(1, sizeof(*gate));

	if (!gate)
		return err_errno(err, ENOMEM, "the name gate");
	*gate = (struct gate){
		.meta = meta, .mntns = -1, .store = -1, .repository = fn, .ctx = ctx
	};
	*ret = gate;
	return 0;
}

void gate_enter(struct gate *gate, int mntns, int store, const char *inside, const char *host)
{
	gate->inside = inside;
	gate->host = host;
	gate->mntns = mntns;
	gate->store = store;
}

void gate_free(struct gate *gate)
{
	struct err ignored; /* where they were is written down already */

	if (!gate)
		return;
	if (gate->n)
		save(gate, &ignored);
	for (size_t i = 0; i < gate->n; i++) {
		close_ptr(&gate->entries[i].object);
		free(gate->entries[i].path);
	}
	close_ptr(&gate->mntns);
	close_ptr(&gate->store);
	free(gate);
}

static const struct entry *find(const struct gate *gate, const struct stat *st)
{
	for (size_t i = 0; i < gate->n; i++)
		if (gate->entries[i].object >= 0 && gate->entries[i].ino == st->st_ino &&
		    gate->entries[i].dev == st->st_dev)
			return &gate->entries[i];
	return NULL;
}

bool gate_is_ours(const struct gate *gate, const struct stat *st)
{
	return find(gate, st) != NULL;
}

enum gate_kind gate_kind_of(const struct gate *gate, const struct stat *st)
{
	return find(gate, st)->kind;
}

static bool is_view(enum gate_kind kind)
{
	return kind == GATE_OLD || kind == GATE_HELD;
}

/* ------------------------------------------------------------------ mounting */

/* In overlayfs's options a colon ends a path. */
static char *escaped(const char *path, char buf[2 * PATH_MAX])
{
	char *to = buf;

	for (; *path && to < buf + 2 * PATH_MAX - 2; path++) {
		if (*path == ':' || *path == '\\')
			*to++ = '\\';
		*to++ = *path;
	}
	*to = '\0';
	return buf;
}

/* In the sandbox's mount namespace; the private directories are reached by a descriptor alone. 'synced': when the
 * mount goes the whole file system of the upper one is written to the disk, which may take seconds; only a
 * repository's objects are worth it. */
static int mount_view(const struct gate *gate, const char *lower, const char *upper,
		      const char *work, bool synced)
{
	char buf[2 * PATH_MAX];
	const struct fs_option options[] = {
		{ "userxattr", NULL }, { "lowerdir", escaped(lower, buf) },
		{ "upperdir", upper }, { "workdir", work },
		{ "volatile", NULL },
	};

	if (fchdir(gate->store) < 0)
		return -errno;
	return mount_new("overlay", options, ARRAY_LEN(options) - synced, 0);
}

/* Where it is inside, asked before the child is in there: its /proc knows no such process. */
static int path_inside(const struct gate_spot *spot, char buf[PATH_MAX])
{
	int n = os_fd_name(spot->view, buf);

	if (n <= 0 || n >= PATH_MAX - NAME_MAX - 2)
		return n < 0 ? n : -ENAMETOOLONG;
	snprintf(buf + n, (size_t)(PATH_MAX - n), "/%s", spot->name);
	return 0;
}

/* The layers of a view that is the place of this name. */
static void name_layers(const char *name, char upper[32], char work[32])
{
	snprintf(upper, 32, "%s/" GATE_UPPER, name);
	snprintf(work, 32, "%s/" GATE_WORK, name);
}

static int mount_old(const struct gate *gate, const char *lower, const char *name)
{
	char upper[32], work[32];

	name_layers(name, upper, work);
	return mount_view(gate, lower, upper, work, false);
}

static int join(const struct gate *gate)
{
	_cleanup_close_ int userns = ioctl(gate->mntns, NS_GET_USERNS);

	if (userns < 0 || setns(userns, CLONE_NEWUSER) < 0 || setns(gate->mntns, CLONE_NEWNS) < 0)
		return -errno;
	return 0;
}

/* The private repository, and its objects as a view of the host's: a git that is in the middle of
 * something finds what it found before. */
static int mount_repository(const struct gate *gate, const struct gate_spot *spot,
			    const char *inside, const char *name)
{
	_cleanup_close_ int objects = -1, fd = -1, new = -1;
	char lower[PATH_MAX + 16], upper[32], work[32];
	int r;

	snprintf(lower, sizeof(lower), "%s/objects", inside);
	snprintf(upper, sizeof(upper), "%s/objects", name);
	snprintf(work, sizeof(work), "%s.work", name);
	objects = mount_view(gate, lower, upper, work, true);
	if (objects < 0)
		return objects;
	fd = mount_clone(gate->store, name, 0);
	r = fd < 0 ? fd : mount_attach(fd, spot->view, spot->name);
	if (r < 0)
		return r;
	new = openat(spot->view, spot->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return new < 0 ? -errno : mount_attach(objects, new, "objects");
}

_Noreturn static void mount_it(const struct gate *gate, const struct gate_spot *spot,
			       enum gate_kind kind, const char *name, pid_t parent)
{
	char inside[PATH_MAX];
	int fd, r;

	os_die_with_parent(SIGKILL);
	r = getppid() == parent ? path_inside(spot, inside) : -ESRCH;
	if (r == 0)
		r = join(gate);
	if (r < 0)
		_exit(-r);
	if (kind == GATE_REPO)
		_exit(-mount_repository(gate, spot, inside, name));
	fd = is_view(kind) ? mount_old(gate, inside, name) : mount_clone(gate->store, name, 0);
	r = fd < 0 ? fd : mount_attach(fd, spot->view, spot->name);
	_exit(-r);
}

static int mount_in_child(const struct gate *gate, const struct gate_spot *spot,
			  enum gate_kind kind, const char *name)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0)
		mount_it(gate, spot, kind, name, parent);
	return pid < 0 ? -errno : os_await_errno(pid);
}

/* ------------------------------------------------------------------ making places */

static int make_private(struct gate *gate, const struct gate_spot *spot, enum gate_kind kind,
			bool made, unsigned number, const char *name)
{
	char upper[32], work[32];
	struct err ignored;

	if (kind == GATE_REPO) {
		snprintf(work, sizeof(work), "%s.work", name);
		if (!gate->repository || mkdirat(gate->store, work, 0755) < 0)
			return -ENOSYS;
		return gate->repository(gate->ctx, spot->path, number);
	}
	if (kind == GATE_FILE && !made)
		return copy_tree(spot->dir, spot->name, gate->store, name, &ignored);
	if (kind == GATE_FILE)
		return mknodat(gate->store, name, S_IFREG | 0644, 0) < 0 ? -errno : 0;
	if (mkdirat(gate->store, name, 0755) < 0)
		return -errno;
	if (kind == GATE_NEW)
		return 0;
	name_layers(name, upper, work);
	return mkdirat(gate->store, upper, 0755) < 0 || mkdirat(gate->store, work, 0755) < 0
		       ? -errno
		       : 0;
}

static int make_placeholder(const struct gate_spot *spot, enum gate_kind kind, mode_t mode)
{
	if (kind == GATE_FILE)
		return mknodat(spot->dir, spot->name, S_IFREG | 0644, 0) < 0 ? -errno : 0;
	return mkdirat(spot->dir, spot->name, mode) < 0 ? -errno : 0;
}

/* The host's side, held so that it can be found again. */
static int hold(struct entry *entry, const struct gate_spot *spot)
{
	struct stat st;

	entry->object = openat(spot->dir, spot->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (entry->object < 0 || fstat(entry->object, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) == (entry->kind != GATE_FILE) ? 0 : -EEXIST;
}

static int attach(struct gate *gate, struct entry *entry, const struct gate_spot *spot,
		  const char *name)
{
	struct stat st = { 0 };
	int r = hold(entry, spot);

	if (r == 0)
		r = mount_in_child(gate, spot, entry->kind, name);
	if (r == 0 && fstatat(spot->view, spot->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		r = -errno;
	if (r < 0)
		return r;
	entry->dev = st.st_dev;
	entry->ino = st.st_ino;
	return 0;
}

/* A new entry, or one whose place is gone. */
static struct entry *new_entry(struct gate *gate)
{
	char buf[PATH_MAX];

	if (gate->n < GATE_PLACES_MAX)
		return &gate->entries[gate->n++];
	for (size_t i = 0; i < gate->n; i++) {
		struct entry *entry = &gate->entries[i];

		if (entry->path && (entry->kind == GATE_HELD || path_now(gate, entry, buf)))
			continue;
		close_ptr(&entry->object);
		free(entry->path);
		return entry;
	}
	return NULL;
}

static int give_up(struct entry *entry, int r)
{
	close_ptr(&entry->object);
	free(entry->path);
	entry->path = NULL;
	entry->made = false;
	return r;
}

static int add(struct gate *gate, const struct gate_spot *spot, enum gate_kind kind, bool made,
	       mode_t mode)
{
	struct entry *entry = gate->store < 0 ? NULL : new_entry(gate);
	char name[16];
	struct err err;
	int r;

	if (!entry)
		return -EMFILE;
	*entry = (struct entry){
		.number = gate->next++,
		.kind = kind,
		.made = made,
		.object = -1,
		.path = strdup(spot->path),
	};
	snprintf(name, sizeof(name), "%u", entry->number);
	r = entry->path ? make_private(gate, spot, kind, made, entry->number, name) : -ENOMEM;
	if (r == 0)
		r = save(gate, &err); /* before the host's tree has anything of it */
	if (r == 0 && made)
		r = make_placeholder(spot, kind, mode);
	if (r < 0)
		return give_up(entry, r);
	r = attach(gate, entry, spot, name);
	if (r < 0 && made)
		unlinkat(spot->dir, spot->name, kind == GATE_FILE ? 0 : AT_REMOVEDIR);
	return r < 0 ? give_up(entry, r) : 0;
}

int gate_make(struct gate *gate, const struct gate_spot *spot, enum gate_kind kind, mode_t mode)
{
	return add(gate, spot, kind, true, mode);
}

int gate_cover(struct gate *gate, const struct gate_spot *spot, enum gate_kind kind)
{
	struct stat st;

	if (fstatat(spot->dir, spot->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return S_ISREG(st.st_mode) ? add(gate, spot, GATE_FILE, false, 0) : -EINVAL;
	/* An empty one is no more than a place for one. */
	if (kind == GATE_REPO && unlinkat(spot->dir, spot->name, AT_REMOVEDIR) == 0)
		return add(gate, spot, GATE_NEW, true, st.st_mode & 0777);
	if (kind == GATE_REPO && add(gate, spot, GATE_REPO, false, 0) == 0)
		return 0;
	return add(gate, spot, kind == GATE_REPO ? GATE_OLD : kind, false, 0);
}

/* Where the view could not be mounted the sandbox sees what the host has; the place stays in the list. */
static void find_view(const struct gate *gate, struct entry *entry, int view)
{
	const char *below = path_below(entry->path, gate->host);
	char inside[PATH_MAX];
	struct stat st, seen;
	int object = open(entry->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), fd;

	if (!below || object < 0 || fstat(object, &st) < 0 ||
	    snprintf(inside, sizeof(inside), "%s/%s", gate->inside + 1, below) >=
		    (int)sizeof(inside)) {
		close_ptr(&object);
		return;
	}
	fd = os_openat2(view, inside, O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
			RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
	if (fd >= 0 && fstat(fd, &seen) == 0 && seen.st_dev != st.st_dev) {
		entry->dev = seen.st_dev;
		entry->ino = seen.st_ino;
		entry->object = take_fd(&object);
	}
	close_ptr(&fd);
	close_ptr(&object);
}

void gate_carry(struct gate *gate, const struct gate_place *places, size_t n, int view)
{
	for (size_t i = 0; i < n && gate->n < GATE_PLACES_MAX; i++) {
		struct entry *entry = &gate->entries[gate->n];

		*entry = (struct entry){
			.number = places[i].number,
			.kind = places[i].kind,
			.made = places[i].made,
			.object = -1,
			.path = strdup(places[i].path),
		};
		gate->next = MAX(gate->next, places[i].number + 1);
		if (!entry->path)
			continue;
		gate->n++;
		find_view(gate, entry, view);
	}
}
