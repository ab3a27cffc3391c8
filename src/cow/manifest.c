/* SPDX-License-Identifier: MIT */
/* The manifest: written by one walk, read into a hash table. */
#include "cow/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#include "base/path_map.h"
#include "base/str.h"
#include "cow/cow.h"
#include "cow/paths.h"
#include "os/dir.h"
#include "os/fs.h"

#define MANIFEST_MAX ((size_t)1 << 30)
#define TICK_MS 20 /* the slowest clock has ten milliseconds a tick */
#define MAGIC "wrapix-manifest 1 "

static void add_entry(struct str *out, const struct node *node, bool late, const char *path)
{
	str_addf(out, "%x %" PRIx64 " %" PRIx64 " %" PRIx64 " %d %s", (unsigned)node->mode,
		 node->size, (uint64_t)node->mtime, node->ino, late, path);
	str_addn(out, "", 1);
}

/* --- writing --- */

struct walk {
	struct str out;
	int fd; /* where it goes */
	int64_t started;
	dev_t dev;
	uid_t user;
	gid_t group;
	size_t n_foreign; /* what is not ours and our first group's: the view can show it, not change it */
	struct str foreign; /* the first of them */
	char path[PATH_MAX];
};

static int flush(struct walk *walk, size_t least)
{
	int r = 0;

	if (walk->out.len > least) {
		r = os_write_all(walk->fd, walk->out.s, walk->out.len);
		walk->out.len = 0;
	}
	return r;
}

static int look(struct walk *walk, int dir, const char *name, size_t len);

static int look_below(struct walk *walk, int dir_fd, const char *name, size_t len)
{
	_cleanup_dir_ DIR *dir = os_dir_open(dir_fd, name);
	struct dirent *entry;
	int r = 0;

	/* What cannot be read cannot be in the view either. */
	while (r == 0 && (entry = os_dir_next(dir)))
		if (!is_git_name(entry->d_name))
			r = look(walk, dirfd(dir), entry->d_name, len);
	return r;
}

static int look(struct walk *walk, int dir, const char *name, size_t len)
{
	size_t n = strlen(name);
	struct stat st;
	struct node node;

	if (len + n + 2 > sizeof(walk->path) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    st.st_dev != walk->dev)
		return 0;
	if (len)
		walk->path[len++] = '/';
	memcpy(walk->path + len, name, n + 1);
	if ((st.st_uid != walk->user || st.st_gid != walk->group) && walk->n_foreign++ == 0)
		str_add(&walk->foreign, walk->path);
	node = node_from_stat(&st);
	add_entry(&walk->out, &node, node.ctime > walk->started, walk->path);
	if (S_ISDIR(st.st_mode)) {
		int r = look_below(walk, dir, name, len + n);

		if (r < 0)
			return r;
	}
	return flush(walk, 1 << 16);
}

/* "COUNT PATH" */
static int write_foreign(const struct cow *cow, const struct walk *walk)
{
	_cleanup_close_ int fd = openat(
		cow->dir, "foreign", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	_cleanup_str_ struct str text = { 0 };

	str_addf(&text, "%zu %s", walk->n_foreign, walk->foreign.s);
	return fd < 0 ? -errno : os_write_all(fd, text.s, text.len);
}

/* From the next tick on a change has another stamp than what was there when the session began. */
static void await_tick(int64_t started)
{
	struct timespec now;

	for (int i = 0; i < TICK_MS; i++) {
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
		if ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec > started)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

int manifest_write(const struct cow *cow, struct err *err)
{
	struct walk walk = { .started = cow->started, .user = geteuid(), .group = getegid() };
	struct stat st = { 0 };
	int r = 0;

	await_tick(cow->started);
	walk.fd = openat(cow->dir, "manifest.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (walk.fd < 0 || fstat(cow->root, &st) < 0)
		r = -errno;
	walk.dev = st.st_dev;
	str_addf(&walk.out, MAGIC "%" PRIx64, (uint64_t)cow->started);
	str_addn(&walk.out, "", 1);
	if (r == 0)
		r = look_below(&walk, cow->root, ".", 0);
	str_addn(&walk.out, "end", 4);
	if (r == 0)
		r = flush(&walk, 0);
	if (r == 0 && walk.n_foreign)
		r = write_foreign(cow, &walk);
	if (r == 0 && renameat(cow->dir, "manifest.new", cow->dir, "manifest") < 0)
		r = -errno;
	if (walk.fd >= 0)
		close(walk.fd);
	str_release(&walk.out);
	str_release(&walk.foreign);
	return r < 0 ? err_errno(err, -r, "writing the manifest") : 0;
}

char *manifest_foreign(const struct cow *cow, struct arena *arena, size_t *ret_n)
{
	_cleanup_free_ char *text = NULL;
	char *space;

	if (os_read_file_at(cow->dir, "foreign", PATH_MAX + 32, &text, NULL) < 0)
		return NULL;
	*ret_n = strtoul(text, &space, 10);
	return *space == ' ' ? arena_strdup(arena, space + 1) : NULL;
}

/* --- reading --- */

static size_t *slot_of(const struct manifest *m, const char *path)
{
	size_t i = path_hash(path, strlen(path)) & (m->n_slots - 1);

	while (m->slots[i] && strcmp(m->v[m->slots[i] - 1].path, path) != 0)
		i = (i + 1) & (m->n_slots - 1);
	return &m->slots[i];
}

static int grow(struct manifest *m)
{
	size_t n = m->n_slots ? m->n_slots * 2 : 1024;
	struct manifest_entry *v = reallocarray(m->v, n / 2, sizeof(*v));

	if (!v)
		return -ENOMEM;
	m->v = v;
	free(m->slots);
	m->slots = calloc(n, sizeof(*m->slots));
	m->n_slots = n;
	if (!m->slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->n; i++)
		*slot_of(m, m->v[i].path) = i + 1;
	return 0;
}

static int add(struct manifest *m, const struct manifest_entry *entry)
{
	size_t *slot;

	if (m->n + 1 > m->n_slots / 2 && grow(m) < 0)
		return -ENOMEM;
	slot = slot_of(m, entry->path);
	if (!*slot) {
		*slot = m->n + 1;
		m->n++;
	}
	m->v[*slot - 1] = *entry;
	return 0;
}

static bool parse_entry(char *text, struct manifest_entry *ret)
{
	uint64_t v[5];

	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		if (!node_take_number(&text, &v[i]))
			return false;
	*ret = (struct manifest_entry){
		.path = text,
		.node = { (mode_t)v[0], v[1], (int64_t)v[2], 0, v[3] },
		.late = v[4] != 0,
	};
	return v[0] <= 0177777 && path_is_plain(text);
}

int manifest_parse(struct manifest *m, char *text, size_t len, struct err *err)
{
	char *end = text + len, *next;

	m->complete = false;
	if (len < sizeof(MAGIC) || end[-1] || !str_starts(text, MAGIC))
		return err_set(err, EINVAL, "the manifest is damaged");
	for (char *p = text + strlen(text) + 1; p < end; p = next) {
		struct manifest_entry entry;

		next = p + strlen(p) + 1;
		if (!strcmp(p, "end")) {
			m->complete = next == end;
			return m->complete ? 0 : err_set(err, EINVAL, "the manifest is damaged");
		}
		if (!parse_entry(p, &entry))
			return err_set(err, EINVAL, "the manifest is damaged");
		if (add(m, &entry) < 0)
			return err_errno(err, ENOMEM, "reading the manifest");
	}
	return 0;
}

int manifest_load(struct manifest *m, const struct cow *cow, struct err *err)
{
	static const char *const names[] = { "manifest", "manifest.more" };
	bool complete = false;

	*m = (struct manifest){ 0 };
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t len;
		int r = os_read_file_at(cow->dir, names[i], MANIFEST_MAX, &m->text[i], &len);

		if (r == -ENOENT)
			continue;
		if (r < 0)
			return err_errno(err, -r, "reading the %s", names[i]);
		r = manifest_parse(m, m->text[i], len, err);
		if (r < 0)
			return r;
		if (i == 0)
			complete = m->complete;
	}
	m->complete = complete;
	return 0;
}

void manifest_release(struct manifest *m)
{
	free(m->text[0]);
	free(m->text[1]);
	free(m->v);
	free(m->slots);
	*m = (struct manifest){ 0 };
}

const struct manifest_entry *manifest_find(const struct manifest *m, const char *path)
{
	size_t *slot = m->n_slots ? slot_of(m, path) : NULL;

	return slot && *slot ? &m->v[*slot - 1] : NULL;
}

int manifest_load_settled(struct manifest *m, const struct cow *cow, struct err *err)
{
	size_t len;
	int r;

	*m = (struct manifest){ 0 };
	r = os_read_file_at(cow->dir, "settled", MANIFEST_MAX, &m->text[0], &len);
	if (r == -ENOENT)
		return 0;
	return r < 0 ? err_errno(err, -r, "reading what is settled")
		     : manifest_parse(m, m->text[0], len, err);
}

/* Reads what is there and writes all of it again, so that a crash leaves the old or the new. */
static int update(const struct cow *cow, const char *name, const struct manifest_entry *entries,
		  size_t n, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_str_ struct str out = { 0 };
	struct manifest m = { 0 };
	size_t len = 0;
	int r = os_read_file_at(cow->dir, name, MANIFEST_MAX, &text, &len);

	if (r == 0)
		r = manifest_parse(&m, text, len, err);
	else
		r = r == -ENOENT ? 0 : err_errno(err, -r, "reading the %s", name);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (add(&m, &entries[i]) < 0)
			r = err_errno(err, ENOMEM, "writing the %s", name);
	str_addf(&out, MAGIC "%" PRIx64, (uint64_t)cow->started);
	str_addn(&out, "", 1);
	for (size_t i = 0; r == 0 && i < m.n; i++)
		add_entry(&out, &m.v[i].node, m.v[i].late, m.v[i].path);
	str_addn(&out, "end", 4);
	if (r == 0)
		r = os_write_file_atomic(cow->dir, name, out.s, out.len, 0600, err);
	manifest_release(&m);
	return r;
}

int manifest_refresh(const struct cow *cow, const struct manifest_entry *entries, size_t n,
		     struct err *err)
{
	return n ? update(cow, "manifest.more", entries, n, err) : 0;
}

int manifest_settle(const struct cow *cow, const struct manifest_entry *entries, size_t n,
		    struct err *err)
{
	return n ? update(cow, "settled", entries, n, err) : 0;
}
