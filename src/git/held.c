/* SPDX-License-Identifier: MIT */
/* What stays in the session until the user says so. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"
#include "session/record.h"

enum { HELD_MAX = 1000, HOOKS_MAX = 256, HOOK_SIZE = 1 << 20, FILE_MAX = 4 << 20 };

bool git_held_same(const struct git_held *a, const struct git_held *b)
{
	return git_same(a->where, b->where) && !strcmp(a->kind, b->kind) &&
	       !strcmp(a->name, b->name);
}

static void add(struct git_report *report, struct git_held **list, size_t *n,
		const struct git_held *new)
{
	struct git_held *held;

	for (size_t i = 0; i < *n; i++)
		if (git_held_same(&(*list)[i], new))
			return;
	if (*n >= HELD_MAX)
		return;
	held = arena_grow(&report->arena, list, n, sizeof(*held));
	*held = *new;
	held->where = arena_strdup(&report->arena, new->where);
	held->name = arena_strdup(&report->arena, new->name);
	held->why = arena_strdup(&report->arena, new->why);
}

void git_hold(struct git_report *report, const char *kind, const char *name, const char *why)
{
	const struct git_held new = { report->where, kind, name, why };

	add(report, &report->held, &report->n_held, &new);
}

void git_keep(struct git_report *report, const char *kind, const char *name, const char *why)
{
	const struct git_held new = { report->where, kind, name, why };

	add(report, &report->kept, &report->n_kept, &new);
}

void git_held_add_json(struct str *out, const char *id, const struct git_held *held,
		       const char *more, bool first)
{
	str_addf(out, "%s\n  {", first ? "" : ",");
	if (id)
		str_addf(out, "\"session\": \"%s\", ", id);
	str_add(out, "\"where\": ");
	json_add_string(out, held->where);
	str_add(out, ", \"kind\": ");
	json_add_string(out, held->kind);
	str_add(out, ", \"name\": ");
	json_add_string(out, held->name);
	str_add(out, ", \"why\": ");
	json_add_string(out, held->why);
	str_addf(out, "%s}", more);
}

static int write_list(const struct git_store *store, const char *file, const struct git_held *held,
		      size_t n, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "[");
	for (size_t i = 0; i < n; i++)
		git_held_add_json(&out, NULL, &held[i], "", i == 0);
	str_add(&out, "\n]\n");
	return record_write_file(store->dir, file, out.s, out.len, err);
}

static int read_list(const struct git_store *store, const char *file, struct arena *arena,
		     struct git_held **ret, size_t *ret_n, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ struct json_object *list = NULL;
	size_t len;
	int r = os_read_file_at(store->dir, file, FILE_MAX, &text, &len);

	*ret = NULL;
	*ret_n = 0;
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return err_errno(err, -r, "reading what is held of '%s'", store->id);
	r = json_parse(text, len, file, &list, err);
	if (r < 0)
		return r;
	if (!json_object_is_type(list, json_type_array))
		return err_set(err, EINVAL, "what is held of '%s' is damaged", store->id);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *item = json_object_array_get_idx(list, i);
		struct git_held *held = arena_grow(arena, ret, ret_n, sizeof(*held));

		*held = (struct git_held){ record_get(arena, item, "where"),
					   record_get(arena, item, "kind"),
					   record_get(arena, item, "name"),
					   record_get(arena, item, "why") };
	}
	return 0;
}

int git_held_read(const struct git_store *store, struct arena *arena, struct git_held **ret,
		  size_t *ret_n, struct err *err)
{
	return read_list(store, "held", arena, ret, ret_n, err);
}

/* For the same reason: a branch that was deleted is another thing when both sides have changed it. */
static bool has(const struct git_held *list, size_t n, const struct git_held *held)
{
	for (size_t i = 0; i < n; i++)
		if (git_held_same(&list[i], held) && git_same(list[i].why, held->why))
			return true;
	return false;
}

int git_held_write(const struct git_store *store, struct git_report *report, struct err *err)
{
	struct git_held *dropped;
	size_t n, kept = 0;
	int r = read_list(store, "dropped", &report->arena, &dropped, &n, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < report->n_held; i++)
		if (!has(dropped, n, &report->held[i]))
			report->held[kept++] = report->held[i];
	report->n_held = kept;
	return write_list(store, "held", report->held, report->n_held, err);
}

void git_held_untold(const struct git_store *store, struct git_report *report)
{
	struct git_held *told;
	struct err ignored; /* then it is told once more */
	size_t n = 0, kept = 0;

	read_list(store, "told", &report->arena, &told, &n, &ignored);
	if (report->n_held || n)
		write_list(store, "told", report->held, report->n_held, &ignored);
	for (size_t i = 0; i < report->n_held; i++)
		if (!has(told, n, &report->held[i]))
			report->held[kept++] = report->held[i];
	report->n_held = kept;
}

int git_held_forget(struct git_store *store, struct git_held *list, size_t n, size_t at,
		    struct err *err)
{
	struct git_held *dropped, *more;
	size_t n_dropped;
	int r = read_list(store, "dropped", &store->arena, &dropped, &n_dropped, err);

	if (r < 0)
		return r;
	more = arena_grow(&store->arena, &dropped, &n_dropped, sizeof(*more));
	*more = list[at];
	r = write_list(store, "dropped", dropped, n_dropped, err);
	memmove(&list[at], &list[at + 1], (n - at - 1) * sizeof(*list));
	return r < 0 ? r : write_list(store, "held", list, n - 1, err);
}

/* --- hooks --- */

int git_read_hook(int dir, const char *name, char **ret, size_t *len)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? os_read_fd(fd, HOOK_SIZE, ret, len) : -EINVAL;
}

static bool is_same_link(int old, int new, const char *name)
{
	char a[PATH_MAX], b[PATH_MAX];
	ssize_t n = readlinkat(old, name, a, sizeof(a));

	return n >= 0 && readlinkat(new, name, b, sizeof(b)) == n && !memcmp(a, b, (size_t)n);
}

static bool hook_is_new(int old, int new, const char *name)
{
	_cleanup_free_ char *a = NULL, *b = NULL;
	size_t a_len = 0, b_len = 0;

	if (is_same_link(old, new, name))
		return false;
	if (git_read_hook(new, name, &b, &b_len) < 0)
		return true;
	return git_read_hook(old, name, &a, &a_len) < 0 || a_len != b_len ||
	       (a_len && memcmp(a, b, a_len) != 0);
}

/* Samples are what git puts into a new repository. */
static bool is_hook(const char *name)
{
	const char *ending = strrchr(name, '.');

	return name[0] != '.' && (!ending || strcmp(ending, ".sample") != 0);
}

void git_hold_hooks(struct git_round *round)
{
	struct git_store *store = round->store;
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	_cleanup_close_ int old = openat(store->dir, "hooks", flags);
	_cleanup_close_ int new = open(path_join(&round->arena, store->private, "hooks"), flags);
	_cleanup_dir_ DIR *dir = os_dir_open(new, ".");
	struct dirent *entry;

	for (int n = 0; n < HOOKS_MAX && (entry = os_dir_next(dir)) != NULL; n++)
		if (is_hook(entry->d_name) && hook_is_new(old, new, entry->d_name))
			git_hold(round->report, "hook", entry->d_name,
				 "a program that git would run on the host");
}
