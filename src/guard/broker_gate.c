/* SPDX-License-Identifier: MIT */
/*
 * The name gate of 'wrapix run': what the host's git would obey does not come into the host's tree.
 *
 * Git takes a directory for one of its own where it finds .git (a directory, a file that leads to one, a
 * link), or HEAD with objects and refs, or HEAD with commondir; and then obeys what is in it. So:
 *
 * - .git is made private (gate.h) when it is made: 'git init', 'git clone', 'git worktree add' and
 *   'git submodule add' work. It is not made as a link or by renaming something, nor in letters that
 *   some file system takes for the same;
 * - what is a git directory already, .git or not, is covered by a private one at the first change, and a
 *   directory that is about to become one ('git init --bare') by a view of it; the call is then let go
 *   on, and finds that.
 *
 * Nothing here trusts a look: the workspace is read-only inside, the broker alone changes it, one call at a
 * time, and brokers of other sandboxes wait for their turn, so what was judged is what is done. The host may change its
 * tree meanwhile, as it likes.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "guard/broker_priv.h"
#include "guard/gate.h"
#include "os/dir.h"
#include "os/fs.h"

/* A name as any file system that ignores something might compare it: in small letters, without what is not
 * ASCII (code points that are skipped when names are compared), without the end that Windows cuts off. */
static size_t fold(const char *name, size_t n, char buf[NAME_MAX + 2])
{
	size_t len = 0;

	for (size_t i = 0; i < n && name[i] != ':'; i++)
		if (!((unsigned char)name[i] & 0x80))
			buf[len++] = (char)tolower((unsigned char)name[i]);
	while (len > 0 && (buf[len - 1] == '.' || buf[len - 1] == ' '))
		len--;
	buf[len] = '\0';
	return len;
}

static bool is_dotgit(const char *name, size_t n)
{
	return n == 4 && !memcmp(name, ".git", 4);
}

/* .git, or what may be the same to another file system. */
static bool like_dotgit(const char *name, size_t n)
{
	char folded[NAME_MAX + 2];
	size_t len;

	if (n < 4 || n > NAME_MAX)
		return false;
	len = fold(name, n, folded);
	return is_dotgit(folded, len) || (len > 4 && !memcmp(folded, "git~", 4) &&
					  !folded[4 + strspn(folded + 4, "0123456789")]);
}

/* ------------------------------------------------------------------ git directories of the host's */

/* The first n bytes of the place's path, in the writable tree. */
static int open_prefix(const struct place *p, size_t n)
{
	char buf[PATH_MAX + NAME_MAX + 2];
	const char *below = buf + p->anchor->len;

	memcpy(buf, p->path, n);
	buf[n] = '\0';
	below += strspn(below, "/");
	return os_openat2(p->anchor->fd, *below ? below : ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
			  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

/* Is the directory, the first n bytes, one that git obeys whatever it is called? */
static bool is_bare(const struct place *p, size_t n)
{
	char buf[PATH_MAX + NAME_MAX + 8];
	const char *below = buf + p->anchor->len;
	_cleanup_close_ int dir = -1;
	struct stat st;

	memcpy(buf, p->path, n);
	memcpy(buf + n, "/HEAD", sizeof("/HEAD"));
	below += strspn(below, "/");
	if (fstatat(p->anchor->fd, below, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG &&
		       errno != EACCES;
	dir = open_prefix(p, n);
	return dir < 0 || git_is_dir(dir, NULL, 0);
}

/* The outermost git directory that the place lies in: the length of its path; 0: none. */
static size_t enclosing(const struct place *p)
{
	size_t at = p->anchor->len;

	if (is_bare(p, at))
		return at ? at : 1;
	while (at < p->dir_len) {
		const char *name = p->path + at + 1;
		size_t n = strcspn(name, "/");

		at += 1 + n;
		if (at > p->dir_len)
			break;
		if (like_dotgit(name, n) || is_bare(p, at))
			return at;
	}
	return 0;
}

/* ------------------------------------------------------------------ making it private */

/* The directory of the sandbox's view that the host calls so. */
static int open_view(struct request *r, const struct anchor *a, const char *path)
{
	char buf[PATH_MAX];

	if (snprintf(buf, sizeof(buf), "%s%s", a->inside, path + a->len) >= (int)sizeof(buf))
		return -ENAMETOOLONG;
	return os_openat2(r->root, buf[1] ? buf + 1 : ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
			  RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

/* The place whose path is the first n bytes, by its directory. */
static int open_spot(struct request *r, const struct place *p, size_t n, char buf[PATH_MAX],
		     struct gate_spot *ret)
{
	size_t dir = n;

	if (n >= PATH_MAX || n <= p->anchor->len)
		return -EACCES;
	memcpy(buf, p->path, n);
	buf[n] = '\0';
	while (buf[dir - 1] != '/')
		dir--;
	*ret = (struct gate_spot){ .dir = open_prefix(p, dir - 1), .view = -1, .path = buf };
	ret->name = buf + dir;
	if (ret->dir < 0)
		return ret->dir;
	buf[dir - 1] = '\0';
	ret->view = open_view(r, p->anchor, buf);
	buf[dir - 1] = '/';
	return MIN(ret->view, 0);
}

/* A view of the host's own. 1: it was there before. */
static int cover_spot(struct request *r, const struct gate_spot *spot, enum gate_kind kind)
{
	struct stat st;
	int e;

	if (fstatat(spot->view, spot->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    gate_is_ours(r->b->gate, &st))
		return 1;
	e = request_check(r);
	return e == 0 ? gate_cover(r->b->gate, spot, kind) : e;
}

/* The call is done again by the kernel then, and meets it. */
static int cover(struct request *r, struct place *p, size_t n)
{
	struct gate_spot spot = { .dir = -1, .view = -1 };
	char buf[PATH_MAX];
	int e = r->lent ? -EACCES : open_spot(r, p, n, buf, &spot);

	turn_give(r); /* it may take git, and what is done is done in private */
	if (e == 0)
		e = cover_spot(r, &spot, strcmp(spot.name, ".git") ? GATE_OLD : GATE_REPO);
	close_ptr(&spot.dir);
	close_ptr(&spot.view);
	if (e == -EINTR)
		return e;
	/* Who still stands in what lies under it would ask for ever. */
	return e == 0 ? RETRY
		      : request_denied(r, p->path, NULL,
				       "the host's git would obey what is in that directory");
}

/* The place is meant in the view that covers the first n bytes of its path: whoever asks may stand under
 * that, where the kernel would refuse. Nothing that is mounted in the view is entered. */
static int turn_into_view(struct place *p, const struct gate_spot *spot, size_t n)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	_cleanup_close_ int top = openat(spot->view, spot->name, flags);
	char buf[PATH_MAX];
	size_t len = p->dir_len > n ? p->dir_len - n - 1 : 0;
	int fd;

	if (top < 0 || len >= sizeof(buf))
		return -EACCES;
	memcpy(buf, p->path + n + 1, len);
	buf[len] = '\0';
	fd = os_openat2(top, len ? buf : ".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
			RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
	if (fd < 0)
		return fd;
	place_release(p);
	p->own_dir = p->dir = fd;
	p->view = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return p->view < 0 ? -errno : place_stat(p);
}

/* A directory that is held: what happens in it happens in a view of it. */
static int hold(struct request *r, struct place *p, size_t n)
{
	struct gate_spot spot = { .dir = -1, .view = -1 };
	bool inside = p->object < 0 && n <= p->dir_len;
	char buf[PATH_MAX];
	int e = r->lent ? -EACCES : open_spot(r, p, n, buf, &spot);

	if (e == 0)
		e = cover_spot(r, &spot, GATE_HELD);
	if (e >= 0)
		e = !inside ? (e == 0 ? RETRY : -EACCES) : turn_into_view(p, &spot, n);
	close_ptr(&spot.dir);
	close_ptr(&spot.view);
	/* A mount of the caller's own stands in the way, or there are too many. */
	return e != -EACCES && e != -EMFILE && e != -EINVAL
		       ? e
		       : request_denied(r, p->path, NULL,
					r->lent ? "it is held, and changed outside of 'wrapix "
						  "exec' only"
						: "it runs later, and cannot be held here");
}

static int make(struct request *r, struct place *p, enum gate_kind kind, mode_t mode)
{
	struct gate_spot spot = { .dir = p->dir, .view = p->view, .name = ".git", .path = p->path };
	int e = r->lent ? -EPERM : request_check(r);

	if (e == 0)
		e = gate_make(r->b->gate, &spot, kind, mode);
	if (e == -EINVAL || e == -EMFILE || e == -EPERM)
		return request_denied(r, p->path, NULL,
				      e == -EMFILE ? "too many repositories were made here"
				      : r->lent    ? "a repository is made outside of 'wrapix exec'"
						   : "it cannot be made private there");
	return e;
}

int gate_mkdir(struct request *r, struct place *p, mode_t mode)
{
	int e = make(r, p, GATE_NEW, mode);

	return e < 0 ? e : NOTIFY_DONE;
}

int gate_open(struct request *r, struct place *p, int flags)
{
	_cleanup_close_ int fd = -1;
	int e = make(r, p, GATE_FILE, 0);

	if (e < 0)
		return e;
	fd = openat(p->view, ".git",
		    (flags & ~(O_CREAT | O_EXCL)) | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : open_inject(r, fd, flags);
}

bool gate_makes(const struct request *r, const struct place *p)
{
	return r->b->gate && is_dotgit(p->name, strcspn(p->name, "/"));
}

/* ------------------------------------------------------------------ decisions */

/* Something is mounted on the name, inside. Where statx() cannot tell (it is missing, refused, or the C
 * library's own), a look that must not cross a mount does; what nothing tells counts as one. */
static bool is_mount(const struct place *p)
{
	_cleanup_close_ int fd = -1;
	char name[NAME_MAX + 2];
	struct statx st;

	if (p->view < 0 || !p->exists)
		return false;
	place_bare_name(p, name);
	if (statx(p->view, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_INO, &st) == 0 &&
	    (st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT))
		return st.stx_attributes & STATX_ATTR_MOUNT_ROOT;
	fd = os_openat2(p->view, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0, RESOLVE_NO_XDEV);
	return fd < 0 && fd != -ENOENT;
}

/* In the sandbox's view of the directory, or in the writable tree. */
static bool is_empty(const struct place *p, int at)
{
	char name[NAME_MAX + 2];

	return os_dir_is_empty(at, place_bare_name(p, name));
}

/* What is mounted there is the kernel's to change or refuse. Removing the name takes a mount along,
 * because the broker is in another mount namespace: so only one of the gate's own. */
static int judge_mount(struct request *r, struct place *p, enum git_act act)
{
	if (act == GIT_OPEN || act == GIT_TOUCH || act == GIT_CREATE)
		return OUTSIDE;
	if (act != GIT_REMOVE || !gate_is_ours(r->b->gate, &p->st))
		return -EBUSY;
	if (S_ISDIR(p->st.st_mode) && !is_empty(p, p->view))
		return -ENOTEMPTY;
	/* What is held may be empty in the view alone. */
	return gate_kind_of(r->b->gate, &p->st) == GATE_HELD && !is_empty(p, p->dir) ? -EBUSY : 0;
}

static int judge_dotgit(struct request *r, struct place *p, enum git_act act)
{
	if (act == GIT_REMOVE || act == GIT_TOUCH)
		return 0;
	if (act == GIT_MKDIR || (act == GIT_OPEN && !p->exists))
		return is_dotgit(p->name, strcspn(p->name, "/"))
			       ? 0
			       : request_denied(r, p->path, NULL,
						"another file system takes it for .git");
	if (act == GIT_OPEN && S_ISREG(p->st.st_mode))
		return cover(r, p, strlen(p->path));
	return request_denied(r, p->path, NULL,
			      act == GIT_LEAVE ? "a git directory stays what it is called"
					       : "git itself makes .git, in place");
}

/* Who knows what the file is for is asked. */
static int ask_about(struct request *r, struct place *p, struct protect_change *change)
{
	const struct broker_hooks *hooks = &r->b->hooks;
	char name[NAME_MAX + 2];
	const char *reason = NULL;
	enum protect_answer answer = ANSWER_GO_ON;
	size_t held = 0;

	change->path = p->path;
	change->dir = p->dir;
	change->name = place_bare_name(p, name);
	change->st = p->exists ? &p->st : NULL;
	if (hooks->on_change)
		answer = hooks->on_change(hooks->ctx, change, &reason, &held);
	change->name = NULL; /* it was in a buffer of ours */
	switch (answer) {
	case ANSWER_REFUSE:
		return request_denied(r, p->path, NULL, reason);
	case ANSWER_HOLD:
		return hold(r, p, held);
	default:
		return 0;
	}
}

static int ask(struct request *r, struct place *p, enum git_act act, bool moves_dir)
{
	struct protect_change change = { .makes_dir = act == GIT_MKDIR,
					 .moves_dir = moves_dir,
					 .from = -1,
					 .stays = act == GIT_TOUCH || act == GIT_REMOVE,
					 .removes = act == GIT_REMOVE };

	return ask_about(r, p, &change);
}

int gate_judge_dir(struct request *r, const struct place *from, struct place *to)
{
	_cleanup_close_ int dir = place_open(from);
	struct protect_change change = { .moves_dir = true, .from = dir };

	return dir < 0 ? dir : ask_about(r, to, &change);
}

/* Reads are the kernel's, so who goes into a directory that is held is to find the view of it, before it
 * changes something there. */
void gate_entered(struct request *r)
{
	struct protect_change change = { .enters = true, .from = -1 };
	_cleanup_place_ struct place p = PLACE_NONE;
	char path[PATH_MAX];

	if (!r->b->gate || !r->b->hooks.on_change || r->lent || r->row->path < 0 ||
	    request_read_path(r, r->row->path, path) < 0)
		return;
	if (!strcmp(path, ".") || !strcmp(path, "/"))
		return;
	if (place_find(r, AT_FDCWD, path, FOLLOW, &p) == 0 && place_map(r, &p) == 0 &&
	    !p.is_anchor && p.dir >= 0 && place_stat(&p) == 0 && p.exists &&
	    S_ISDIR(p.st.st_mode) && !gate_is_ours(r->b->gate, &p.st)) {
		r->quiet = true;
		(void)ask_about(r, &p, &change);
	}
}

int gate_judge(struct request *r, struct place *p, enum git_act act)
{
	size_t n = strcspn(p->name, "/"), outer;
	char folded[NAME_MAX + 2];

	if (p->dir < 0 || !p->anchor)
		return 0;
	outer = enclosing(p);
	if (outer)
		return cover(r, p, outer);
	if (is_mount(p))
		return judge_mount(r, p, act);
	if (like_dotgit(p->name, n))
		return judge_dotgit(r, p, act);
	if (act == GIT_REMOVE || act == GIT_TOUCH || act == GIT_LEAVE)
		return ask(r, p, act, act == GIT_LEAVE && p->exists && S_ISDIR(p->st.st_mode));
	fold(p->name, n, folded);
	/* One that is not called .git ('git init --bare') becomes one in a view. */
	return git_is_dir(p->dir, folded, strlen(folded)) ? cover(r, p, p->dir_len)
							  : ask(r, p, act, false);
}
