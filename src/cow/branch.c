/* SPDX-License-Identifier: MIT */
/* A session's changes as a branch: one stream for 'git fast-import', which takes data and runs nothing. */
#include "cow/branch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "base/path.h"
#include "base/str.h"
#include "cow/apply.h"
#include "cow/base.h"
#include "cow/inner.h"
#include "cow/show.h"
#include "os/fs.h"

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define OUTPUT_MAX ((size_t)64 << 20)
#define HERE "./" /* before each name: one that begins with ':' would be an expression */
enum { COPY_SIZE = 1 << 16 };

static int scratch_file(const struct cow *cow)
{
	int fd = openat(cow->dir, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd < 0) { /* a file system without nameless files */
		unlinkat(cow->dir, "scratch", 0);
		fd = openat(cow->dir, "scratch", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		unlinkat(cow->dir, "scratch", 0);
	}
	return fd;
}

/* Runs git and gives its output without the last newline; the exit status or -errno. */
static int ask_git(const struct cow *cow, const char *const *args, int in, char **ret,
		   size_t *ret_len)
{
	_cleanup_close_ int fd = scratch_file(cow);
	int status = fd < 0 ? -errno : base_git(cow, args, NULL, in, fd);

	*ret = NULL;
	if (status < 0)
		return status;
	if (lseek(fd, 0, SEEK_SET) < 0 || os_read_fd(fd, OUTPUT_MAX, ret, ret_len) < 0)
		return -EIO;
	if (*ret_len && (*ret)[*ret_len - 1] == '\n')
		(*ret)[--*ret_len] = '\0';
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EIO;
}

static int check_name(const struct cow *cow, const char *name, struct err *err)
{
	_cleanup_free_ char *out = NULL;
	_cleanup_str_ struct str ref = { 0 };
	size_t len;
	int r;

	if (!cow->git_top) {
		err_usage(err, "'%s' is not a git repository", cow->project);
		return err_hint(err, "'wrapix apply' without --as-branch takes the files over");
	}
	str_addf(&ref, "refs/heads/%s", name);
	r = name[0] == '-' ? 1 : ask_git(cow, ARGS("check-ref-format", ref.s), -1, &out, &len);
	if (r == -ENOENT)
		return err_set(err, ENOENT, "git is not installed");
	if (r != 0)
		return err_usage(err, "'%s' is no name for a branch", name);
	free(TAKE_PTR(out));
	if (ask_git(cow, ARGS("show-ref", "--verify", "--quiet", ref.s), -1, &out, &len) == 0) {
		err_set(err, EEXIST, "the branch '%s' is there already", name);
		return err_hint(err, "choose another name");
	}
	return 0;
}

static void split(struct arena *arena, const char *text, size_t len, struct strv *ret)
{
	for (const char *p = text; p && p < text + len; p += strlen(p) + 1)
		strv_add(arena, ret, p + strlen(HERE));
	strv_sort(ret);
}

struct stream {
	struct cow *cow;
	int fd;
	const char *prefix; /* of the project below the top, with its '/' */
	const struct changes *changes;
	struct strv ignored;
	struct inner inner;
	struct branch_report *report;
};

static int find_inner(struct stream *s, struct err *err)
{
	int fd = scratch_file(s->cow), r;

	if (fd < 0)
		return err_errno(err, errno, "asking git for submodules");
	r = base_ask(s->cow, ARGS("ls-files", "-s", "-z"), -1, fd, 0, err);
	if (r < 0) {
		close(fd);
		return r;
	}
	r = inner_load(&s->inner, s->cow, fd);
	return r < 0 ? err_errno(err, -r, "asking git for submodules") : 0;
}

/* The link of the project that the session made a directory of, on the way to that path; NULL: none. */
static const char *link_above(const struct changes *changes, struct arena *arena, const char *path)
{
	while (strchr(path, '/')) {
		const struct change *above;

		path = path_parent(arena, path);
		above = changes_at(changes, path);
		if (above && S_ISLNK(above->old.mode))
			return above->path;
	}
	return NULL;
}

/* Git answers none of the questions when one of them is about what it has no opinion on. */
static bool may_ask(struct stream *s, struct arena *arena, const struct change *change)
{
	return node_exists(&change->new) && !inner_of(&s->inner, change->path) &&
	       !link_above(s->changes, arena, change->path);
}

/* Those of the new paths that git ignores, as NUL-terminated names. */
static int find_ignored(struct stream *s, struct arena *arena, char **ret, size_t *len,
			struct err *err)
{
	_cleanup_close_ int in = scratch_file(s->cow), out = scratch_file(s->cow);
	int r = in < 0 || out < 0 ? -errno : 0;

	for (size_t i = 0; r == 0 && i < s->changes->n; i++) {
		const char *path = s->changes->v[i].path;

		if (!may_ask(s, arena, &s->changes->v[i]))
			continue;
		r = os_write_all(in, HERE, strlen(HERE));
		if (r == 0)
			r = os_write_all(in, path, strlen(path) + 1);
	}
	if (r == 0 && lseek(in, 0, SEEK_SET) < 0)
		r = -errno;
	if (r == 0 && base_ask(s->cow, ARGS("check-ignore", "-z", "--stdin"), in, out, 1, err) < 0)
		return err_wrap(err, "asking git which files it ignores");
	if (r == 0 && (lseek(out, 0, SEEK_SET) < 0 || os_read_fd(out, OUTPUT_MAX, ret, len) < 0))
		r = -EIO;
	return r < 0 ? err_errno(err, -r, "asking git which files it ignores") : 0;
}

/* What a link was made to goes the way of the link. */
static bool is_ignored(const struct stream *s, const char *path)
{
	struct arena arena = { 0 };
	const char *link = link_above(s->changes, &arena, path);

	arena_release(&arena);
	path = link ? link : path;
	return strv_has_sorted(&s->ignored, path);
}

static void add_path(struct str *out, const struct stream *s, const char *path)
{
	_cleanup_str_ struct str whole = { 0 };

	str_addf(&whole, "%s%s", s->prefix, path);
	/* Quoted in any case: a name may begin with a quote or hold a space. */
	str_add(out, "\"");
	for (const char *p = whole.s; *p; p++)
		if (*p == '"' || *p == '\\')
			str_addf(out, "\\%c", *p);
		else if (*p == '\n')
			str_add(out, "\\n");
		else
			str_addn(out, p, 1);
	str_add(out, "\"\n");
}

static int write_str(const struct stream *s, const struct str *text)
{
	return os_write_all(s->fd, text->s, text->len);
}

static int write_file_head(const struct stream *s, const struct change *change, uint64_t len)
{
	_cleanup_str_ struct str head = { 0 };

	str_addf(&head, "M %s inline ",
		 S_ISLNK(change->new.mode)     ? "120000"
		 : (change->new.mode &S_IXUSR) ? "100755"
					       : "100644");
	add_path(&head, s, change->path);
	str_addf(&head, "data %llu\n", (unsigned long long)len);
	return write_str(s, &head);
}

/* The rest of it, which is to be so long. */
static int write_rest(const struct stream *s, int from, uint64_t len)
{
	_cleanup_free_ char *buf = malloc(COPY_SIZE);
	int r = buf ? 0 : -ENOMEM;

	while (r == 0 && len) {
		ssize_t n = read(from, buf, MIN(len, (uint64_t)COPY_SIZE));

		r = n < 0 ? -errno : n == 0 ? -EIO : os_write_all(s->fd, buf, (size_t)n);
		len -= n > 0 ? (uint64_t)n : 0;
	}
	return r;
}

/* One that is too large to be shown is not too large for a commit. */
static int write_large(const struct stream *s, const struct change *change)
{
	_cleanup_close_ int fd = change_open(s->cow, change);
	struct stat st;
	struct statvfs room;
	int r = fd < 0 ? fd : fstat(fd, &st) < 0 || fstatvfs(s->fd, &room) < 0 ? -errno : 0;

	/* Of one with holes there may be more than the disk holds. */
	if (r == 0 && (uint64_t)st.st_size / room.f_frsize >= room.f_bavail)
		r = -ENOSPC;
	if (r == 0)
		r = write_file_head(s, change, (uint64_t)st.st_size);
	return r < 0 ? r : write_rest(s, fd, (uint64_t)st.st_size);
}

static int write_file(const struct stream *s, const struct change *change)
{
	_cleanup_free_ char *content = NULL;
	size_t len;
	int r = change_read(s->cow, change, true, &content, &len);

	if (r == -EFBIG) {
		r = write_large(s, change);
	} else if (r == 0) {
		r = write_file_head(s, change, len);
		r = r < 0 ? r : os_write_all(s->fd, content, len);
	}
	return r < 0 ? r : os_write_all(s->fd, "\n", 1);
}

static int write_removal(const struct stream *s, const char *path)
{
	_cleanup_str_ struct str line = { 0 };

	str_add(&line, "D ");
	add_path(&line, s, path);
	return write_str(s, &line);
}

/* True when it lies in a repository of its own, which is counted there. */
static bool stays(struct stream *s, const char *path, bool counts)
{
	struct branch_report *report = s->report;
	const char *top = inner_of(&s->inner, path);
	size_t i = 0;

	if (!top)
		return false;
	while (i < report->n_inner && strcmp(report->inner[i].path, top) != 0)
		i++;
	if (counts && i == report->n_inner)
		*(struct branch_inner *)arena_grow(&report->arena, &report->inner, &report->n_inner,
						   sizeof(*report->inner)) = (struct branch_inner){
			.path = arena_strdup(&report->arena, top)
		};
	if (counts)
		report->inner[i].changes++;
	return true;
}

/* What was there and is there no more; that of a directory is told by what was in it. */
static int write_removals(struct stream *s, const struct change *change)
{
	int r = 0;

	if (change->from && !stays(s, change->from, true))
		r = write_removal(s, change->from);
	if (r == 0 && node_exists(&change->old) && !S_ISDIR(change->old.mode) &&
	    (!node_exists(&change->new) || S_ISDIR(change->new.mode)))
		r = write_removal(s, change->path);
	return r;
}

static int write_change(struct stream *s, const struct change *change)
{
	bool counts = !S_ISDIR(change->new.mode | change->old.mode);
	int r;

	if (stays(s, change->path, counts))
		return 0;
	if (change->status == CHANGE_IGNORED || resolve_is_repository(s->cow, change->path)) {
		s->report->refused++;
		return 0;
	}
	if (is_ignored(s, change->path)) {
		s->report->ignored++;
		return 0;
	}
	r = write_removals(s, change);
	if (r == 0 && node_exists(&change->new) && !S_ISDIR(change->new.mode))
		r = write_file(s, change);
	s->report->taken += r == 0 && counts;
	return r;
}

static int write_head(const struct stream *s, const char *name, struct err *err)
{
	_cleanup_free_ char *who = NULL, *head = NULL;
	_cleanup_str_ struct str out = { 0 }, message = { 0 };
	size_t len;

	if (ask_git(s->cow, ARGS("var", "GIT_COMMITTER_IDENT"), -1, &who, &len) != 0) {
		err_set(err, EINVAL, "git does not know who you are");
		return err_hint(err, "git config --global user.name and user.email say it");
	}
	str_addf(&message, "Changes of the wrapix session %s", s->cow->id);
	str_addf(&out, "commit refs/heads/%s\ncommitter %s\ndata %zu\n%s\n", name, who, message.len,
		 message.s);
	/* A repository without a commit has none to stand on. */
	if (ask_git(s->cow, ARGS("rev-parse", "--verify", "--quiet", "HEAD^{commit}"), -1, &head,
		    &len) == 0)
		str_addf(&out, "from %s\n", head);
	return write_str(s, &out) < 0 ? err_set(err, EIO, "writing the commit") : 0;
}

static int write_stream(struct stream *s, char *const *paths, size_t n_paths, const char *name,
			struct err *err)
{
	const struct changes *changes = s->changes;
	int r = write_head(s, name, err);

	for (size_t i = 0; r == 0 && i < changes->n; i++) {
		if (!change_is_chosen(&changes->v[i], paths, n_paths))
			continue;
		r = write_change(s, &changes->v[i]);
		if (r < 0)
			return err_errno(err, -r, "taking '%s' into the branch",
					 changes->v[i].path);
	}
	if (r == 0 && (os_write_all(s->fd, "done\n", 5) < 0 || lseek(s->fd, 0, SEEK_SET) < 0))
		r = err_set(err, EIO, "writing the commit");
	return r;
}

static int commit(const struct stream *s, struct err *err)
{
	int r = base_ask(s->cow, ARGS("fast-import", "--quiet", "--done"), s->fd, -1, 0, err);

	if (r == 0)
		return 0;
	err_wrap(err, "git refused the commit");
	return err_hint(err, "'wrapix apply --as-branch BRANCH SESSION PATH...' makes it of those "
			     "paths alone, and "
			     "'wrapix apply' takes the files over");
}

void branch_report_release(struct branch_report *report)
{
	arena_release(&report->arena);
	*report = (struct branch_report){ 0 };
}

int branch_make(struct cow *cow, const struct changes *changes, char *const *paths, size_t n_paths,
		const char *name, struct branch_report *ret, struct err *err)
{
	struct arena arena = { 0 };
	const char *below = cow->git_top ? path_below(cow->project, cow->git_top) : NULL;
	struct stream s = { .cow = cow, .changes = changes, .report = ret };
	_cleanup_free_ char *ignored = NULL;
	size_t len = 0;
	int r = check_name(cow, name, err);

	*ret = (struct branch_report){ 0 };
	if (r < 0)
		return r;
	s.prefix = arena_printf(&arena, "%s%s", below ? below : "", below && *below ? "/" : "");
	s.fd = scratch_file(cow);
	r = find_inner(&s, err);
	if (r == 0)
		r = find_ignored(&s, &arena, &ignored, &len, err);
	split(&arena, ignored, len, &s.ignored);
	if (r == 0)
		r = write_stream(&s, paths, n_paths, name, err);
	if (r == 0 && ret->taken)
		r = commit(&s, err);
	if (s.fd >= 0)
		close(s.fd);
	inner_release(&s.inner);
	arena_release(&arena);
	return r;
}
