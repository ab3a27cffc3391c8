/* SPDX-License-Identifier: MIT */
/*
 * What a git of ours left locked when it was killed, in the host's repository or in a session's.
 *
 * Before a git changes references there, a note is laid down: since when, and what it is to change. It goes when that git
 * ended by itself. One that is found by who has the turn, which such a git inherits, is of a git that was killed, and
 * whoever started it may be gone, too.
 *
 * A lock of the user's is never taken away. Ours is a plain file of this user's, was born while that git could live, holds
 * what that git writes there or the beginning of it, and stays where it is, while one of a git that works is gone in
 * milliseconds. Who holds one for longer, because a hook of theirs runs, holds others beside it: HEAD's goes with its
 * branch's, a deleted one's with that of the packed references. So while one stands that cannot be ours all stay. And an
 * empty one says nothing of whose it is: it stays while a git is at work there that was when we came (holders.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/path.h"
#include "git/priv.h"
#include "os/fs.h"

static const char *const files[] = { "locks", "locks-inside" };
#define NOTE_MAX ((size_t)64 << 20)
enum { WAIT_MS = 500, STEP_MS = 50, LIFE_SECONDS = 60, CONTENT_MAX = 4096, NOWHERE = -1 };

struct lock {
	char *path;
	const char *content; /* what ours holds in the end; NULL: anything */
	int of;              /* the one that must be ours, too; or NOWHERE */
	bool deletes;
	bool there, ours;
	bool empty;   /* as anybody's may be; HEAD's goes with its branch's */
	ino_t number; /* when it was first seen */
};

struct note {
	struct arena arena;
	const struct git_store *store;
	bool inside;               /* of the session's: what is there may be hostile */
	const char *real, *common; /* where HEAD is, and the rest */
	struct timespec start, end;
	struct lock *v;
	size_t n;
	char *head;        /* HEAD's branch */
	const char *other; /* one that stands and cannot be ours */
	struct strv gits;  /* processes that may hold one */
	const char *stash; /* what is to be put there */
};

/* No link leads to what is the session's. */
static int open_in(const struct note *note, const char *dir)
{
	int fd;

	if (!note->inside)
		return git_open_host(note->store, dir);
	fd = os_openat2(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS);
	if (fd < 0)
		errno = -fd;
	return fd;
}

/* --- writing it --- */

int git_locks_note(const struct git_store *store, bool inside, const char *changes)
{
	_cleanup_close_ int fd = -1;
	_cleanup_str_ struct str text = { 0 };
	struct timespec now;

	git_clock(&now);
	str_addf(&text, "%lld %ld\n%s", (long long)now.tv_sec, now.tv_nsec, changes);
	fd = openat(store->dir, files[inside],
		    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : os_write_all(fd, text.s, text.len);
}

void git_locks_forget(const struct git_store *store, bool inside)
{
	unlinkat(store->dir, files[inside], 0);
}

bool git_locks_noted(const struct git_store *store)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (faccessat(store->dir, files[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	for (size_t i = 0; i < store->n_parts; i++)
		if (git_locks_noted(&store->parts[i]))
			return true;
	return false;
}

/* --- reading it --- */

static int add(struct note *note, char *path, const char *content, int of)
{
	struct lock *lock = arena_grow(&note->arena, &note->v, &note->n, sizeof(*lock));

	*lock = (struct lock){ .path = path, .content = content, .of = of };
	return (int)note->n - 1;
}

/* A line of a change: "update NAME OID ...", "delete NAME ...", "symref HEAD TARGET", "reflog NAME OID". */
static void add_change(struct note *note, char *line)
{
	struct arena *a = &note->arena;
	char *rest = line, *verb = strsep(&rest, " "), *name = strsep(&rest, " ");
	char *new = strsep(&rest, " ");
	bool is_head = name && !strcmp(name, "HEAD");
	int at;

	if (!name || !new)
		return;
	at = add(note, arena_printf(a, "%s/%s.lock", is_head ? note->real : note->common, name),
		 !strcmp(verb, "delete")   ? ""
		 : !strcmp(verb, "symref") ? arena_printf(a, "ref: %s\n", new)
					   : arena_printf(a, "%s\n", new),
		 NOWHERE);
	note->v[at].deletes = !strcmp(verb, "delete");
	if (!strcmp(name, "refs/stash") && !strcmp(verb, "update"))
		note->stash = arena_strdup(a, new);
	if (!strcmp(verb, "reflog"))
		add(note, arena_printf(a, "%s/logs/%s.lock", note->common, name), NULL, at);
	if (git_same(note->head, name))
		add(note, path_join(a, note->real, "HEAD.lock"), "", NOWHERE);
}

static void add_packed(struct note *note)
{
	int packed = add(note, path_join(&note->arena, note->common, "packed-refs.lock"), "",
			 NOWHERE);

	add(note, path_join(&note->arena, note->common, "packed-refs.new"), NULL, packed);
}

static void read_head(struct note *note)
{
	_cleanup_close_ int dir = open_in(note, note->real);
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (dir < 0 || git_read_file(dir, "HEAD", CONTENT_MAX, &text, &len) < 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	if (str_starts(text, "ref: "))
		note->head = arena_strdup(&note->arena, text + strlen("ref: "));
}

/* One that is cut off is of somebody who was killed before git began. */
static int read_note(struct note *note)
{
	_cleanup_free_ char *text = NULL;
	char *rest, *line, *end;
	size_t len;
	int r = os_read_file_at(note->store->dir, files[note->inside], NOTE_MAX, &text, &len);

	if (r < 0)
		return r;
	read_head(note);
	rest = text;
	line = strsep(&rest, "\n");
	note->start.tv_sec = strtoll(line, &end, 10);
	note->start.tv_nsec = strtol(end, NULL, 10);
	clock_gettime(CLOCK_REALTIME, &note->end);
	if (note->end.tv_sec - note->start.tv_sec > LIFE_SECONDS)
		note->end.tv_sec = note->start.tv_sec + LIFE_SECONDS;
	while ((line = strsep(&rest, "\n")) != NULL)
		add_change(note, line);
	if (note->n)
		add_packed(note);
	return 0;
}

/* --- whose is it? --- */

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static bool holds(int fd, const char *content)
{
	char text[CONTENT_MAX];
	ssize_t n = content ? os_read_full(fd, text, sizeof(text)) : 0;

	return !content ||
	       (n >= 0 && (size_t)n <= strlen(content) && !memcmp(text, content, (size_t)n));
}

static void look_at(const struct note *note, struct lock *lock)
{
	struct arena a = { 0 };
	_cleanup_close_ int dir = open_in(note, path_parent(&a, lock->path));
	_cleanup_close_ int fd = dir < 0 ? -1
					 : openat(dir, path_name(lock->path),
						  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct timespec born;
	struct stat st = { 0 };

	lock->there = fd >= 0 || (errno != ENOENT && errno != ENOTDIR);
	lock->ours = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		     st.st_uid == geteuid() && git_born(fd, &born) &&
		     !is_before(&born, &note->start) && !is_before(&note->end, &born) &&
		     (!lock->number || lock->number == st.st_ino) && holds(fd, lock->content);
	lock->number = st.st_ino;
	lock->empty = lock->there && !st.st_size && lock->content &&
		      (lock->deletes || *lock->content);
	arena_release(&a);
}

/* Whose is it, if not ours? */
static void look_for_holders(struct note *note)
{
	const char *empty = NULL;

	for (size_t i = 0; i < note->n; i++)
		if (note->v[i].empty)
			empty = note->v[i].path;
	for (size_t i = 0; empty && i < note->gits.len; i++)
		if (git_holds(note->store, note->gits.v[i]))
			note->other = empty;
}

/* The last to go of the locks of a deletion is that of the packed references. */
static bool may_delete(const struct note *note, bool *ret_stands)
{
	bool deletes = false;

	*ret_stands = false;
	for (size_t i = 0; i < note->n; i++) {
		deletes |= note->v[i].deletes;
		*ret_stands |= note->v[i].deletes && note->v[i].there;
	}
	return deletes;
}

/* The number of those that stand. */
static size_t look(struct note *note)
{
	struct lock *packed = &note->v[note->n - 2], *new = &note->v[note->n - 1];
	size_t standing = 0;
	bool deleting;

	for (size_t i = 0; i < note->n; i++)
		look_at(note, &note->v[i]);
	packed->ours &= may_delete(note, &deleting) && (deleting || !new->there);
	note->other = NULL;
	for (size_t i = 0; i < note->n; i++) {
		struct lock *lock = &note->v[i];

		if (lock->of != NOWHERE)
			lock->ours &= note->v[lock->of].there && note->v[lock->of].ours;
		standing += lock->there;
		if (lock->there && !lock->ours)
			note->other = lock->path;
	}
	return standing;
}

/* git notes in the log what it is about to do, and the log is the stash: what was not done is not to be there twice. */
static void undo_stash(struct note *note)
{
	struct arena *a = &note->arena;
	_cleanup_close_ int refs = open_in(note, arena_printf(a, "%s/refs", note->common));
	_cleanup_close_ int logs = open_in(note, arena_printf(a, "%s/logs/refs", note->common));
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *log = NULL, *now = NULL;
	size_t len, last, ignored;
	struct stat st;

	if (refs < 0 || logs < 0 ||
	    (git_read_file(refs, "stash", CONTENT_MAX, &now, &ignored) == 0 &&
	     str_starts(now, note->stash)))
		return;
	fd = openat(logs, "stash", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
	    os_read_fd(fd, NOTE_MAX, &log, &len) < 0 || len < 2)
		return;
	for (last = len - 1; last && log[last - 1] != '\n';)
		last--;
	if (str_starts(log + last + strcspn(log + last, " ") + 1, note->stash))
		(void)!ftruncate(fd, (off_t)last);
}

/* What tells whose another is goes after it, should we be killed. */
static int take_away(const struct note *note)
{
	struct arena a = { 0 };
	int r = 0;

	for (size_t i = note->n; r == 0 && i-- > 0;) {
		const struct lock *lock = &note->v[i];
		_cleanup_close_ int dir = -1;

		if (!lock->there)
			continue;
		git_step(note->store, "unlock");
		dir = open_in(note, path_parent(&a, lock->path));
		if (dir < 0 || (unlinkat(dir, path_name(lock->path), 0) < 0 && errno != ENOENT))
			r = -errno;
	}
	arena_release(&a);
	return r;
}

static int mend(struct note *note, struct err *err)
{
	size_t standing = look(note);
	int r = 0;

	if (standing)
		git_find_holders(note->store, &note->arena, &note->gits);
	for (int waited = 0; standing && waited < WAIT_MS; waited += STEP_MS) {
		poll(NULL, 0, STEP_MS);
		standing = look(note);
	}
	if (standing)
		look_for_holders(note);
	if (standing && note->other)
		return err_set(err, EAGAIN, GIT_LOCKED, note->other);
	if (standing) {
		if (note->stash)
			undo_stash(note);
		r = take_away(note);
	}
	return r < 0 ? err_errno(err, -r, "unlocking '%s'", note->common) : 0;
}

static struct note new_note(const struct git_store *store, bool inside)
{
	return (struct note){
		.store = store,
		.inside = inside,
		.real = inside ? store->private : store->real,
		.common = inside ? store->private : store->common,
	};
}

static int mend_side(const struct git_store *store, bool inside, struct err *err)
{
	struct note note = new_note(store, inside);
	int r = read_note(&note);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		err_errno(err, -r, "reading '%s/%s'", store->path, files[inside]);
	else if (note.n)
		r = mend(&note, err);
	if (r == 0)
		git_locks_forget(store, inside);
	arena_release(&note.arena);
	return r;
}

int git_locks_mend(const struct git_store *store, struct err *err)
{
	/* What it locked in its own is the session's to suffer from, until the next time. */
	struct err ignored;

	(void)mend_side(store, true, &ignored);
	return mend_side(store, false, err);
}

char *git_locks_find(const struct git_store *store, const char *change, struct arena *arena)
{
	struct note note = new_note(store, false);
	char *found = NULL;

	read_head(&note);
	add_change(&note, arena_strdup(&note.arena, change));
	add_packed(&note);
	for (size_t i = 0; !found && i < note.n; i++) {
		look_at(&note, &note.v[i]);
		if (note.v[i].there)
			found = arena_strdup(arena, note.v[i].path);
	}
	arena_release(&note.arena);
	return found;
}
