/* SPDX-License-Identifier: MIT */
/* The state of a repository: asked of git, and kept as the base. */
#include "git/state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "os/fs.h"
#include "spec/gitkeys.h"

#define BASE_MAGIC "wrapix git base 1\n"
#define HEAD_MAX 4096

/* A small file that must be one: a FIFO would hang, a link lead elsewhere. */
static int read_small(struct arena *arena, const char *dir, const char *name, size_t max,
		      char **ret, size_t *ret_len)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = open(path_join(arena, dir, name),
				      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	r = os_read_fd(fd, max, &text, ret_len);
	if (r < 0)
		return r;
	*ret = arena_alloc(arena, *ret_len + 1);
	memcpy(*ret, text, *ret_len);
	return 0;
}

static const char *const ref_args[] = { "for-each-ref",
					"--format=%(objectname) %(refname) %(symref)", NULL };
static const char *const index_args[] = { "ls-files", "-s", "-z", NULL };
static const char *const stash_args[] = {
	"log", "-g", "--format=%H %gs", "refs/stash", "--", NULL
};

typedef int parse_fn(struct arena *arena, const char *text, size_t len, struct git_items *ret);

static int ask(struct git_store *store, struct arena *arena, bool private, const char *const *args,
	       parse_fn *parse, struct git_items *ret, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };
	struct git_run run = private ? git_in_private(store, args, false)
				     : git_on_host(store, args);
	int r = git_do(&run, &out, err);

	if (r < 0)
		return r;
	r = parse(arena, out.s ? out.s : "", out.len, ret);
	return r < 0 ? err_set(err, EINVAL, "'git %s' printed what no repository may have", args[0])
		     : 0;
}

static int read_lists(struct git_store *store, struct arena *arena, bool private,
		      struct git_state *ret, struct err *err)
{
	int r = ask(store, arena, private, ref_args, git_parse_refs, &ret->refs, err);

	if (r == 0)
		r = ask(store, arena, private, index_args, git_parse_index, &ret->index, err);
	if (r == 0 && git_find(&ret->refs, "refs/stash"))
		r = ask(store, arena, private, stash_args, git_parse_stash, &ret->stash, err);
	return r;
}

int git_read_host(struct git_store *store, struct arena *arena, struct git_state *ret,
		  struct err *err)
{
	char *text;
	size_t len;
	int r;

	*ret = (struct git_state){ 0 };
	r = read_small(arena, store->real, "HEAD", HEAD_MAX, &text, &len);
	if (r < 0)
		return err_errno(err, -r, "reading '%s/HEAD'", store->real);
	ret->head = git_parse_head(arena, text, len);
	r = read_small(arena, store->common, "config", GITKEYS_MAX, &text, &ret->config_len);
	if (r < 0 && r != -ENOENT)
		return err_errno(err, -r, "reading '%s/config'", store->common);
	ret->config = r < 0 ? "" : text;
	return read_lists(store, arena, false, ret, err);
}

int git_read_private(struct git_store *store, struct arena *arena, struct git_state *ret,
		     struct err *err)
{
	static const char *const must_be_files[] = { "index", "packed-refs", "config", "shallow" };
	char *text;
	size_t len;
	int r;

	*ret = (struct git_state){ 0 };
	r = read_small(arena, store->private, "HEAD", HEAD_MAX, &text, &len);
	if (r < 0)
		return err_errno(err, -r, "reading HEAD of the session");
	ret->head = git_parse_head(arena, text, len);
	for (size_t i = 0; i < ARRAY_LEN(must_be_files); i++) {
		struct stat st;

		if (lstat(path_join(arena, store->private, must_be_files[i]), &st) == 0 &&
		    !S_ISREG(st.st_mode))
			return err_set(err, EINVAL, "'%s' of the session is not a file",
				       must_be_files[i]);
	}
	r = read_small(arena, store->private, "config", GITKEYS_MAX, &text, &ret->config_len);
	if (r < 0)
		return err_errno(err, -r, "reading the configuration of the session");
	ret->config = text;
	return read_lists(store, arena, true, ret, err);
}

/* --- the base --- */

static void add_section(struct str *out, const char *name, const struct str *body)
{
	str_addf(out, "%s %zu\n", name, body->len);
	if (body->len)
		str_addn(out, body->s, body->len);
}

static void add_lines(struct str *out, const char *name, const struct git_items *items)
{
	_cleanup_str_ struct str body = { 0 };

	for (size_t i = 0; i < items->n; i++)
		str_addf(&body, "%s %s\n", name[0] == 's' ? items->v[i].name : items->v[i].value,
			 name[0] == 's' ? items->v[i].value : items->v[i].name);
	add_section(out, name, &body);
}

static void add_index(struct str *out, const struct git_items *items)
{
	_cleanup_str_ struct str body = { 0 };

	for (size_t i = 0; i < items->n; i++)
		git_index_lines(&body, &items->v[i]);
	add_section(out, "index", &body);
}

void git_index_lines(struct str *out, const struct git_item *item)
{
	for (const char *p = item->value; *p;) {
		size_t len = strcspn(p, "\n");

		str_addn(out, p, len);
		str_addf(out, "\t%s", item->name);
		str_addn(out, "", 1);
		p += len + (p[len] == '\n');
	}
}

int git_base_save(const struct git_store *store, const char *file, const struct git_state *state,
		  struct err *err)
{
	_cleanup_str_ struct str out = { 0 };
	struct str head = { .s = (char *)state->head,
			    .len = state->head ? strlen(state->head) : 0 };
	struct str config = { .s = (char *)state->config, .len = state->config_len };

	str_add(&out, BASE_MAGIC);
	add_lines(&out, "refs", &state->refs);
	add_lines(&out, "made", &state->made);
	add_lines(&out, "stash", &state->stash);
	add_section(&out, "head", &head);
	add_section(&out, "config", &config);
	add_index(&out, &state->index);
	return os_write_file_atomic(store->dir, file, out.s, out.len, 0600, err);
}

/* The section of that name, which must come next. */
static const char *section(const char **at, const char *end, const char *name, size_t *ret_len)
{
	const char *start;
	char *rest;
	size_t n = strlen(name);

	if ((size_t)(end - *at) < n + 3 || strncmp(*at, name, n) != 0 || (*at)[n] != ' ' ||
	    !memchr(*at, '\n', (size_t)(end - *at)) || (*at)[n + 1] < '0' || (*at)[n + 1] > '9')
		return NULL;
	*ret_len = strtoul(*at + n + 1, &rest, 10);
	if (*rest != '\n' || *ret_len > (size_t)(end - rest - 1))
		return NULL;
	start = rest + 1;
	*at = start + *ret_len;
	return start;
}

int git_base_parse(struct arena *arena, const char *text, size_t len, struct git_state *ret)
{
	const char *end = text + len, *at = text + strlen(BASE_MAGIC), *s;
	const struct {
		const char *name;
		parse_fn *parse;
		struct git_items *into;
	} lists[] = { { "refs", git_parse_refs, &ret->refs },
		      { "made", git_parse_refs, &ret->made },
		      { "stash", git_parse_stash, &ret->stash } };
	size_t n;

	*ret = (struct git_state){ 0 };
	if (len < strlen(BASE_MAGIC) || strncmp(text, BASE_MAGIC, strlen(BASE_MAGIC)) != 0)
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		s = section(&at, end, lists[i].name, &n);
		if (!s || lists[i].parse(arena, s, n, lists[i].into) < 0)
			return -EINVAL;
	}
	s = section(&at, end, "head", &n);
	if (!s)
		return -EINVAL;
	ret->head = n ? git_parse_head(arena, s, n) : NULL;
	s = section(&at, end, "config", &n);
	if (!s)
		return -EINVAL;
	ret->config = arena_strndup(arena, s, n);
	ret->config_len = strlen(ret->config);
	s = section(&at, end, "index", &n);
	return s && git_parse_index(arena, s, n, &ret->index) == 0 ? 0 : -EINVAL;
}

int git_base_load(const struct git_store *store, const char *file, struct arena *arena,
		  struct git_state *ret, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = os_read_file_at(store->dir, file, GIT_OUTPUT_MAX * 2, &text, &len);

	if (r < 0)
		return err_errno(err, -r, "reading the base of the session '%s'", store->id);
	r = git_base_parse(arena, text, len, ret);
	return r < 0 ? err_set(err, EINVAL, "the base of the session '%s' is damaged", store->id)
		     : 0;
}
