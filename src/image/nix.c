/* SPDX-License-Identifier: MIT */
/* Asking nix for a closure. */
#include "image/nix.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "image/run.h"
#include "os/dir.h"
#include "os/fs.h"

#define NIX_DAEMON "/nix/var/nix/daemon-socket/socket"
#define HOW "install nix; or build from something else with --from"

/* --- popularity --- */

struct graph {
	size_t n;
	unsigned char *needs; /* n*n: [a*n + b]: b needs a, in the end through others */
};

static ssize_t index_of(const struct strv *names, const char *word, size_t len)
{
	char name[512];
	const char *key = name;
	char **found;

	if (len >= sizeof(name))
		return -1;
	memcpy(name, word, len);
	name[len] = '\0';
	found = names->len ? bsearch(&key, names->v, names->len, sizeof(*names->v), strv_order)
			   : NULL;
	return found ? found - names->v : -1;
}

/* "a" -> "b" of one line; anything else is passed over. */
static void read_edge(struct graph *graph, const struct strv *names, const char *line, size_t len)
{
	const char *end = line + len, *words[2] = { NULL };
	size_t lens[2] = { 0 };
	ssize_t from, to;

	if (!memmem(line, len, "\" -> \"", 6))
		return;
	for (size_t i = 0; i < 2; i++) {
		const char *open = memchr(line, '"', (size_t)(end - line));
		const char *close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;

		if (!close)
			return;
		words[i] = open + 1;
		lens[i] = (size_t)(close - open - 1);
		line = close + 1;
	}
	from = index_of(names, words[0], lens[0]);
	to = index_of(names, words[1], lens[1]);
	if (from >= 0 && to >= 0 && from != to)
		graph->needs[(size_t)from * graph->n + (size_t)to] = 1;
}

/* Who needs it through others (Warshall's way: a few hundred names). */
static void close_graph(struct graph *graph)
{
	size_t n = graph->n;

	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; graph->needs[i * n + k] && j < n; j++)
				graph->needs[i * n + j] |= graph->needs[k * n + j];
}

struct rank {
	char *name;
	size_t users;
};

static int by_users(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->users != y->users)
		return x->users < y->users ? 1 : -1;
	/* Behind the hash, so that the order stays when one is rebuilt. */
	return strcmp(strchr(x->name, '-') ?: x->name, strchr(y->name, '-') ?: y->name)
		       ?: strcmp(x->name, y->name);
}

void nix_rank(struct arena *arena, const struct strv *names, const char *graph_text,
	      struct strv *ret)
{
	struct graph graph = { .n = names->len };
	struct rank *ranks = arena_alloc(arena, (names->len + 1) * sizeof(*ranks));

	graph.needs = calloc(graph.n * graph.n + 1, 1);
	for (const char *line = graph_text; graph.needs && *line;) {
		size_t len = strcspn(line, "\n");

		read_edge(&graph, names, line, len);
		line += len + (line[len] == '\n');
	}
	if (graph.needs)
		close_graph(&graph);
	for (size_t i = 0; i < graph.n; i++) {
		ranks[i].name = names->v[i];
		for (size_t j = 0; graph.needs && j < graph.n; j++)
			ranks[i].users += graph.needs[i * graph.n + j];
	}
	qsort(ranks, graph.n, sizeof(*ranks), by_users);
	for (size_t i = 0; i < graph.n; i++)
		strv_add(arena, ret, ranks[i].name);
	free(graph.needs);
}

/* --- asking --- */

static void add_lines(struct arena *arena, const char *text, struct strv *ret)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len)
			strv_add(arena, ret, arena_strndup(arena, text, len));
		text += len + (text[len] == '\n');
	}
}

static int ask_store(struct arena *arena, const char *program, const char *what,
		     const struct strv *paths, int log, char **ret, struct err *err)
{
	struct strv argv = { 0 };

	strv_add(arena, &argv, program);
	strv_add(arena, &argv, "--query");
	strv_add(arena, &argv, what);
	for (size_t i = 0; i < paths->len; i++)
		strv_add(arena, &argv, paths->v[i]);
	return run_program(arena, &argv, log, ret, err);
}

/* Builds or gets attributes of nixpkgs; adds the paths. */
static int realise(struct arena *arena, const struct strv *attributes, int log, struct strv *ret,
		   struct err *err)
{
	char *program = run_find(arena, "nix-build", HOW, err), *output;
	struct strv argv = { 0 };
	int r;

	if (!program)
		return -err->code;
	strv_add(arena, &argv, program);
	strv_add(arena, &argv, "<nixpkgs>");
	strv_add(arena, &argv, "--no-out-link");
	for (size_t i = 0; i < attributes->len; i++) {
		strv_add(arena, &argv, "--attr");
		strv_add(arena, &argv, attributes->v[i]);
	}
	r = run_program(arena, &argv, log, &output, err);
	if (r == 0)
		add_lines(arena, output, ret);
	else if (access("/nix/store", W_OK) < 0 && access(NIX_DAEMON, F_OK) < 0)
		err_hint(err,
			 "there is no /nix that you may write, nor nix-daemon: root makes one, "
			 "or starts the other; --from debian needs neither");
	else
		err_hint(err, "what it said is above");
	return r;
}

/* Names of packages and paths, each to what it is. */
static int find_roots(struct arena *arena, const struct strv *packages, int log,
		      struct nix_closure *ret, struct err *err)
{
	struct strv attributes = { 0 };

	for (size_t i = 0; i < packages->len; i++) {
		const char *word = packages->v[i];
		char *real = strchr(word, '/') ? os_realpath(arena, word) : NULL;

		if (!strchr(word, '/'))
			strv_add(arena, &attributes, word);
		else if (!real)
			return err_errno(err, errno, "'%s'", word);
		else
			strv_add(arena, &ret->roots, real);
	}
	return attributes.len ? realise(arena, &attributes, log, &ret->roots, err) : 0;
}

static int take_names(struct arena *arena, const struct strv *paths, struct nix_closure *ret,
		      struct err *err)
{
	for (size_t i = 0; i < paths->len; i++) {
		char *dir = path_parent(arena, paths->v[i]);

		if (ret->store && strcmp(ret->store, dir))
			return err_set(err, EINVAL, "'%s' is not in '%s'", paths->v[i], ret->store);
		ret->store = dir;
		strv_add(arena, &ret->names, path_name(paths->v[i]));
	}
	if (!ret->names.len)
		return err_usage(err, "there is nothing to build an image of");
	strv_sort(&ret->names);
	return 0;
}

/* In the order of their names: the same paths are the same text. */
static int dump_registration(struct arena *arena, const char *program, int log,
			     struct nix_closure *closure, struct err *err)
{
	struct strv argv = { 0 };

	strv_add(arena, &argv, program);
	strv_add(arena, &argv, "--dump-db");
	for (size_t i = 0; i < closure->names.len; i++)
		strv_addf(arena, &argv, "%s/%s", closure->store, closure->names.v[i]);
	return run_program(arena, &argv, log, &closure->registration, err);
}

int nix_closure_find(struct arena *arena, const struct strv *packages, int log,
		     struct nix_closure *ret, struct err *err)
{
	char *program = run_find(arena, "nix-store", HOW, err);
	char *closure = NULL, *graph = NULL;
	struct strv paths = { 0 };
	int r;

	*ret = (struct nix_closure){ 0 };
	if (!program)
		return -err->code;
	r = find_roots(arena, packages, log, ret, err);
	if (r == 0)
		r = ask_store(arena, program, "--requisites", &ret->roots, log, &closure, err);
	if (r == 0)
		r = ask_store(arena, program, "--graph", &ret->roots, log, &graph, err);
	if (r < 0)
		return r;
	known(closure && graph);
	add_lines(arena, closure, &paths);
	r = take_names(arena, &paths, ret, err);
	if (r == 0)
		r = dump_registration(arena, program, log, ret, err);
	if (r == 0)
		nix_rank(arena, &ret->names, graph, &ret->popular);
	return r;
}

/* --- a root of them --- */

struct links {
	struct arena *arena;
	struct build_file *files;
	size_t n;
};

static void add_link(struct links *links, const char *path, const char *target)
{
	struct build_file *file;

	for (size_t i = 0; i < links->n; i++)
		if (!strcmp(links->files[i].path, path))
			return; /* the first wins, as on PATH */
	file = arena_grow(links->arena, &links->files, &links->n, sizeof(*file));
	*file = (struct build_file){ .path = path, .mode = S_IFLNK | 0777, .data = target };
}

static void add_programs(struct links *links, const char *package)
{
	char *bin = path_join(links->arena, package, "bin");
	struct strv names = { 0 };
	_cleanup_dir_ DIR *dir = opendir(bin);

	for (struct dirent *entry; (entry = os_dir_next(dir));)
		if (entry->d_name[0] != '.')
			strv_add(links->arena, &names, entry->d_name);
	strv_sort(&names);
	for (size_t i = 0; i < names.len; i++)
		add_link(links, arena_printf(links->arena, "usr/bin/%s", names.v[i]),
			 path_join(links->arena, bin, names.v[i]));
}

void nix_links(struct arena *arena, const struct nix_closure *closure, struct build_file **ret,
	       size_t *ret_n)
{
	struct links links = { arena, NULL, 0 };

	add_link(&links, "bin", "usr/bin");
	for (size_t i = 0; i < closure->roots.len; i++)
		add_programs(&links, closure->roots.v[i]);
	for (size_t i = 0; i < links.n; i++)
		if (!strcmp(links.files[i].path, "usr/bin/bash"))
			add_link(&links, "usr/bin/sh", "bash");
	for (size_t i = 0; i < closure->roots.len; i++) {
		char *bundle = path_join(arena, closure->roots.v[i], "etc/ssl/certs/ca-bundle.crt");

		if (access(bundle, F_OK) == 0)
			add_link(&links, "etc/ssl/certs/ca-certificates.crt", bundle);
	}
	if (closure->registration) {
		struct build_file *file = arena_grow(arena, &links.files, &links.n, sizeof(*file));

		*file = (struct build_file){ .path = "nix-path-registration",
					     .mode = S_IFREG | 0444,
					     .data = closure->registration,
					     .len = strlen(closure->registration) };
	}
	*ret = links.files;
	*ret_n = links.n;
}
