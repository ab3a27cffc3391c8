/* SPDX-License-Identifier: MIT */
/* The state of a repository: asked of git, and kept as the base. */
#include "git/priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/path.h"
#include "cow/copy.h"
#include "os/fs.h"
#include "session/record.h"
#include "spec/gitconfig.h"
#include "spec/gitkeys.h"

#define BASE_MAGIC "wrapix git base 1\n"
#define BASE_INDEX "base.index"
enum { MARK_MS = 100 };
#define HEAD_MAX 4096

/* --- asking git: where the files are none that we read --- */

static const char *const ref_args[] = { "for-each-ref",
					"--format=%(objectname) %(refname) %(symref)", NULL };
static const char *const index_args[] = { "ls-files", "-s", "-z", NULL };

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

/* --- reading the files --- */

bool git_is_sha256(const struct git_store *store)
{
	_cleanup_close_ int dir = git_open_host(store, store->common);
	_cleanup_free_ char *text = NULL;
	struct arena a = { 0 };
	const char *format = NULL;
	bool sha256;
	size_t len;

	if (dir >= 0 && git_read_file(dir, "config", GITKEYS_MAX, &text, &len) == 0)
		format = gitconfig_get(&a, text, "extensions", "objectformat");
	sha256 = format && !strcasecmp(format, "sha256");
	arena_release(&a);
	return sha256;
}

/* One side of the pair: 'own' is the git directory (a worktree's), 'common' the repository's. */
struct side {
	struct git_store *store;
	struct arena *arena;
	bool private;
	int own, common;
	const char *whose;
};

static int odd(const struct side *side, int r, const char *what, struct err *err)
{
	if (r != -ENXIO)
		return err_errno(err, -r, "reading the %s's %s", side->whose, what);
	if (!side->private && git_check_plain(side->store, side->store->real, err) < 0)
		return r;
	return err_set(err, ENXIO, "reading the %s's %s: there is no regular file", side->whose,
		       what);
}

/* It is replaced and never written in place: another number, size or time. One that is very new may be
 * replaced within the same time. A session could lie about the time of a change of content; that of the
 * host's changes with each link to it that a session makes and removes. */
char *git_index_mark(struct arena *arena, int dir, bool private, bool *ret_new)
{
	struct timespec now, then;
	struct stat st;
	int64_t age;

	*ret_new = false;
	if (fstatat(dir, "index", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return arena_strdup(arena, errno == ENOENT ? "none" : "");
	then = private ? st.st_ctim : st.st_mtim;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	age = (int64_t)(now.tv_sec - then.tv_sec) * 1000 + (now.tv_nsec - then.tv_nsec) / 1000000;
	*ret_new = age < MARK_MS;
	return arena_printf(arena, "%llu:%lld:%lld.%09ld", (unsigned long long)st.st_ino,
			    (long long)st.st_size, (long long)then.tv_sec, then.tv_nsec);
}

static int read_index(const struct side *side, struct git_state *state, struct err *err)
{
	struct git_items *ret = &state->index;
	_cleanup_free_ char *data = NULL;
	size_t len;
	int r = git_read_file(side->own, "index", GIT_INDEX_MAX, &data, &len);

	*ret = (struct git_items){ .sorted = true };
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = git_index_read(side->arena, data, len, git_is_sha256(side->store), ret);
	if (r == -ENOTSUP)
		return ask(side->store, side->arena, side->private, index_args, git_parse_index,
			   ret, err);
	return r < 0 ? odd(side, r, "index", err) : 0;
}

static int read_refs(const struct side *side, struct git_items *ret, struct err *err)
{
	int r = git_refs_read(side->arena, side->common, ret, NULL);

	if (r == -ENOTSUP)
		return ask(side->store, side->arena, side->private, ref_args, git_parse_refs, ret,
			   err);
	return r < 0 ? odd(side, r, "references", err) : 0;
}

static int read_text(const struct side *side, int dir, const char *name, size_t max,
		     const char **ret, size_t *ret_len)
{
	_cleanup_free_ char *text = NULL;
	int r = git_read_file(dir, name, max, &text, ret_len);

	if (r == 0) {
		char *copy = arena_alloc(side->arena, *ret_len + 1);

		memcpy(copy, text, *ret_len);
		*ret = copy;
	}
	return r;
}

static int read_side(const struct side *side, struct git_state *ret, struct err *err)
{
	const char *head = NULL;
	size_t len;
	int r;

	*ret = (struct git_state){ .config = "" };
	if (side->own < 0 || side->common < 0)
		return odd(side, -errno, "git directory", err);
	r = read_text(side, side->own, "HEAD", HEAD_MAX, &head, &len);
	if (r < 0)
		return odd(side, r, "HEAD", err);
	ret->head = git_parse_head(side->arena, head, len);
	r = read_text(side, side->common, "config", GITKEYS_MAX, &ret->config, &ret->config_len);
	if (r < 0 && (r != -ENOENT || side->private))
		return odd(side, r, "configuration", err);
	r = read_refs(side, &ret->refs, err);
	if (r < 0)
		return r;
	ret->mark = git_index_mark(side->arena, side->own, side->private, &ret->mark_new);
	r = git_ops_read(side->arena, side->own, &ret->ops);
	if (r < 0)
		return odd(side, r, "unfinished operations", err);
	if (!git_find(&ret->refs, "refs/stash"))
		return 0;
	r = git_stash_read(side->arena, side->common, &ret->stash);
	return r < 0 ? odd(side, r, "stash", err) : 0;
}

static int open_side(const struct git_store *store, const char *private, const char *host)
{
	return private ? open(private, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		       : git_open_host(store, host);
}

/* Calls fn with the session's side or the host's. */
static int with_side(struct git_store *store, bool private, struct arena *arena,
		     int (*fn)(const struct side *, struct git_state *, struct err *),
		     struct git_state *ret, struct err *err)
{
	_cleanup_close_ int own = open_side(store, private ? store->private : NULL, store->real);
	_cleanup_close_ int common = open_side(store, private ? git_shared(store) : NULL,
					       store->common);
	const struct side side = { store, arena,  private,
				   own,   common, private ? "session" : "repository" };

	return fn(&side, ret, err);
}

int git_read_host(struct git_store *store, struct arena *arena, struct git_state *ret,
		  struct err *err)
{
	return with_side(store, false, arena, read_side, ret, err);
}

int git_read_private(struct git_store *store, struct arena *arena, struct git_state *ret,
		     struct err *err)
{
	return with_side(store, true, arena, read_side, ret, err);
}

int git_read_index(struct git_store *store, bool private, struct arena *arena,
		   struct git_state *ret, struct err *err)
{
	return with_side(store, private, arena, read_index, ret, err);
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
	struct str mark = { .s = (char *)state->mark,
			    .len = state->mark ? strlen(state->mark) : 0 };

	str_add(&out, BASE_MAGIC);
	add_lines(&out, "refs", &state->refs);
	add_lines(&out, "made", &state->made);
	add_lines(&out, "ops", &state->ops);
	add_lines(&out, "stash", &state->stash);
	add_section(&out, "head", &head);
	add_section(&out, "config", &config);
	add_section(&out, "mark", &mark);
	add_index(&out, &state->index);
	git_step(store, file);
	return record_write_file(store->dir, file, out.s, out.len, err);
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
		      { "ops", git_parse_ops, &ret->ops },
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
	s = section(&at, end, "mark", &n);
	if (!s)
		return -EINVAL;
	ret->mark = arena_strndup(arena, s, n);
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

/* --- the index of the base, which may be large --- */

int git_base_link_index(const struct git_store *store, struct err *err)
{
	_cleanup_close_ int real = git_open_host(store, store->real);

	unlinkat(store->dir, BASE_INDEX, 0);
	if (linkat(real, "index", store->dir, BASE_INDEX, 0) == 0 || errno == ENOENT)
		return 0;
	return copy_tree(real, "index", store->dir, BASE_INDEX, err);
}

int git_base_save_index(const struct git_store *store, const struct git_items *index,
			struct err *err)
{
	_cleanup_str_ struct str out = { 0 };

	for (size_t i = 0; i < index->n; i++)
		git_index_lines(&out, &index->v[i]);
	git_step(store, BASE_INDEX);
	return record_write_file(store->dir, BASE_INDEX, out.s ? out.s : "", out.len, err);
}

int git_base_load_index(struct git_store *store, struct arena *arena, struct git_items *ret,
			struct err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = os_read_file_at(store->dir, BASE_INDEX, GIT_INDEX_MAX, &text, &len);

	*ret = (struct git_items){ .sorted = true };
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = len > 4 && !memcmp(text, "DIRC", 4)
			    ? git_index_read(arena, text, len, git_is_sha256(store), ret)
			    : git_parse_index(arena, text, len, ret);
	if (r == -ENOTSUP) { /* the host's own, so git may read it */
		struct git_run run = git_on_host(store, index_args);
		_cleanup_str_ struct str out = { 0 };

		run.index = path_join(&store->arena, store->path, BASE_INDEX);
		run.reads[run.n_reads++] = (struct git_read){ .path = store->path };
		r = git_do(&run, &out, err);
		return r < 0 ? r : git_parse_index(arena, out.s ? out.s : "", out.len, ret);
	}
	return r < 0 ? err_errno(err, -r, "reading the base of the session '%s'", store->id) : 0;
}
