/* SPDX-License-Identifier: MIT */
/* Our own layer, and the agent's. */
#include "image/contents.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"
#include "entry/entry.h"
#include "image/platform.h"
#include "os/fs.h"
#include "os/proc.h"
#include "spec/deploykey.h"

#define OPT "opt/wrapix"

enum { PROGRAM_MAX = 64 << 20, USER = 1000 };

struct pile {
	struct arena *arena;
	struct build_file *files;
	size_t n;
};

static struct build_file *put(struct pile *pile, const char *path, unsigned mode, const char *data)
{
	struct build_file *file = arena_grow(pile->arena, &pile->files, &pile->n, sizeof(*file));

	*file = (struct build_file){ .path = arena_strdup(pile->arena, path),
				     .mode = mode,
				     .data = data,
				     .len = data ? strlen(data) : 0 };
	return file;
}

/* --- users --- */

/* The source's table without our name, and our line at its end. */
static char *with_line(struct arena *arena, const char *table, const char *line)
{
	_cleanup_str_ struct str out = { 0 };

	for (size_t n; *table; table += n) {
		size_t len = strcspn(table, "\n");

		n = len + (table[len] == '\n');
		if (len && strncmp(table, "wrapix:", 7))
			str_addf(&out, "%.*s\n", (int)len, table);
	}
	str_add(&out, line);
	return arena_strdup(arena, out.s);
}

static void put_users(struct pile *pile, const struct build_found *found)
{
	put(pile, "etc/group", S_IFREG | 0644,
	    with_line(pile->arena, found->group ?: "root:x:0:\nnogroup:x:65534:\n",
		      "wrapix:x:1000:\n"));
	put(pile, "etc/passwd", S_IFREG | 0644,
	    with_line(pile->arena,
		      found->passwd
			      ?: "root:x:0:0:root:/root:/bin/sh\n"
				 "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
		      "wrapix:x:1000:1000::/home/wrapix:/bin/sh\n"));
}

/* --- programs of ours --- */

/* Beside this program, installed, or in a directory of the other machine's name. */
static char *find_own(struct arena *arena, const char *name, const char *built, const char *arch)
{
	char *self = os_realpath(arena, "/proc/self/exe");
	char *here = self ? path_parent(arena, self) : arena_strdup(arena, WRAPIX_LIBEXECDIR);
	const char *const places[] = {
		path_join(arena, here, name),
		path_join(arena, here, built),
		arena_printf(arena, "%s/%s", WRAPIX_LIBEXECDIR, name),
		arena_printf(arena, "%s/%s", WRAPIX_BINDIR, name),
	};

	if (strcmp(arch, platform_here())) {
		char *other = arena_printf(arena, "%s/%s/%s", WRAPIX_LIBEXECDIR, arch, name);

		return access(other, R_OK) == 0 ? other : NULL;
	}
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (access(places[i], R_OK) == 0)
			return arena_strdup(arena, places[i]);
	return NULL;
}

static int put_own(struct pile *pile, const char *name, const char *built, const char *arch,
		   bool *ret_there, struct err *err)
{
	char *path = find_own(pile->arena, name, built, arch), *text;
	struct build_file *file;
	size_t len;
	int r;

	*ret_there = path;
	if (!path)
		return 0;
	r = os_read_file_at(AT_FDCWD, path, PROGRAM_MAX, &text, &len);
	if (r < 0)
		return err_errno(err, -r, "reading '%s'", path);
	file = put(pile, arena_printf(pile->arena, OPT "/bin/%s", name), S_IFREG | 0755, NULL);
	file->data = arena_alloc(pile->arena, len + 1);
	memcpy((char *)file->data, text, len);
	file->len = len;
	free(text);
	return 0;
}

/* --- the agent --- */

/* "#!/usr/bin/env node": "node". */
static char *read_interpreter(struct arena *arena, const char *program)
{
	_cleanup_close_ int fd = open(program, O_RDONLY | O_CLOEXEC);
	char line[256] = "";
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	char *word, *save = NULL;

	if (n < 3 || strncmp(line, "#!", 2))
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line + 2, " \t", &save);
	if (word && !strcmp(path_name(word), "env"))
		word = strtok_r(NULL, " \t", &save);
	return word ? arena_strdup(arena, path_name(word)) : NULL;
}

int contents_find_agent(struct contents *contents, struct arena *arena, struct err *err)
{
	const char *home = getenv("HOME"), *data = getenv("XDG_DATA_HOME");
	struct agent agent;
	char *real;
	int r;

	if (!contents->agent)
		return 0;
	r = agent_load(arena, contents->agent, NULL, &agent, err);
	if (r <= 0)
		return r < 0 ? r
			     : err_usage(err, "--agent: there is no agent '%s'", contents->agent);
	if (!strcmp(agent.program, "$SHELL"))
		return 0;
	data = data && data[0] == '/' ? data : path_join(arena, home ?: "/", ".local/share");
	real = agent_find_installed(arena, agent.program, getenv("PATH"), data, NULL);
	if (!real) {
		err_set(err, ENOENT, "the agent '%s' is not installed here", contents->agent);
		return err_hint(err, "npm install -g %s", agent.package ?: agent.program);
	}
	contents->root = agent_package_root(arena, data, real);
	contents->root_at = strcmp(path_name(contents->root), "node_modules")
				    ? arena_strdup(arena, OPT "/agent")
				    : arena_strdup(arena, OPT "/agent/node_modules");
	if (!strcmp(contents->root, real))
		contents->program_at = arena_printf(arena, OPT "/agent/%s", path_name(real));
	else
		contents->program_at = path_join(arena, contents->root_at,
						 path_below(real, contents->root));
	contents->interpreter = read_interpreter(arena, real);
	return 0;
}

static int add_agent_files(const struct contents *contents, struct store *store,
			   const struct build_how *how, struct oci_image *image, struct err *err)
{
	struct source source = { SOURCE_DIR, contents->root, contents->root_at, NULL };
	struct strv one = { 0 };
	struct stat st;

	if (!contents->root)
		return 0;
	if (stat(contents->root, &st) < 0)
		return err_errno(err, errno, "reading '%s'", contents->root);
	if (S_ISREG(st.st_mode)) {
		strv_add(&image->arena, &one, path_name(contents->root));
		source.kind = SOURCE_STORE;
		source.path = path_parent(&image->arena, contents->root);
		source.names = &one;
	}
	return build_from_tree(store, &source, how, image, err);
}

static const char prompt[] =
	"# The sandbox\n\n"
	"You work in a container that was made for you. /workspace is the user's project, and what "
	"you "
	"change there is changed at once. Everything else is gone afterwards. What is refused is "
	"refused on purpose: do not look for ways around it, but tell the user.\n";

static char *fill(struct arena *arena, const char *text, const char *hole, const char *value)
{
	_cleanup_str_ struct str out = { 0 };

	for (const char *at; (at = strstr(text, hole)); text = at + strlen(hole)) {
		str_addn(&out, text, (size_t)(at - text));
		str_add(&out, value);
	}
	str_add(&out, text);
	return arena_strdup(arena, out.s);
}

/* What is known of a session: the project's place, and that nobody has chosen a theme. */
static char *fill_all(struct arena *arena, const char *text)
{
	return fill(arena, fill(arena, text, "${CWD}", WORKSPACE_INSIDE), "${THEME}", "dark");
}

/* "~/x" and "/x" as they stand in the image. */
static char *place(struct arena *arena, const char *path)
{
	return path[0] == '~' ? arena_printf(arena, ENTRY_HOME "/%s", path + 2)
			      : arena_strdup(arena, path + 1);
}

static void put_agent(struct pile *pile, const struct contents *contents, struct oci_image *image)
{
	struct arena *a = pile->arena;
	struct agent agent;
	struct err ignored; /* it was read before */

	if (!contents->agent || agent_load(a, contents->agent, NULL, &agent, &ignored) <= 0)
		return;
	for (size_t i = 0; i < agent.files.len; i++)
		put(pile, place(a, agent.files.v[i].path), S_IFREG | 0644,
		    fill_all(a, agent.files.v[i].content));
	if (agent.approve_key)
		put(pile, ENTRY_KEY, S_IFREG | 0644, arena_printf(a, "%s\n", agent.approve_key));
	if (agent.prompt)
		put(pile, place(a, agent.prompt), S_IFREG | 0644, prompt);
	for (size_t i = 0; i < agent.n_env; i++)
		oci_set_env(image, agent.env[i].name, agent.env[i].value);
	if (contents->program_at)
		put(pile, arena_printf(a, OPT "/bin/%s", path_name(agent.program)), S_IFLNK | 0777,
		    arena_printf(a, "/%s", contents->program_at));
	image->cmd = (struct strv){ 0 };
	strv_add(&image->arena, &image->cmd,
		 contents->program_at ? path_name(agent.program) : "/bin/sh");
	for (size_t i = 0; i < agent.args.len; i++)
		strv_add(&image->arena, &image->cmd, agent.args.v[i]);
}

/* --- all of it --- */

static void put_places(struct pile *pile, const struct spec *spec)
{
	put(pile, "etc/hosts", S_IFREG | 0644,
	    "127.0.0.1 localhost\n::1 localhost ip6-localhost\n");
	put(pile, "etc/ssh", S_IFDIR | 0755, NULL);
	put(pile, "etc/ssh/ssh_known_hosts", S_IFREG | 0644, known_hosts_builtin());
	/* Whoever the engine maps to this: his own home. */
	put(pile, "home/wrapix", S_IFDIR | 0777, NULL)->uid = USER;
	put(pile, "tmp", S_IFDIR | 01777, NULL);
	put(pile, "var/cache", S_IFDIR | 01777, NULL);
	put(pile, "var/tmp", S_IFDIR | 01777, NULL);
	put(pile, "workspace", S_IFDIR | 0755, NULL)->uid = USER;
	for (size_t i = 0; i < spec->from_profile.writable.len; i++)
		put(pile, spec->from_profile.writable.v[i] + 1, S_IFDIR | 0777, NULL)->uid = USER;
	for (size_t i = 0; i < pile->n; i++)
		pile->files[i].gid = pile->files[i].uid;
}

static void set_environment(struct oci_image *image, const struct spec *spec)
{
	static const char *const common[][2] = {
		{ "PATH",
		  "/" OPT "/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" },
		{ "HOME", HOME_INSIDE },
		{ "LANG", "C.UTF-8" },
		{ "SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt" },
	};
	const char *path = oci_env(image, "PATH");

	/* A base knows where its programs are, and how it speaks. */
	for (size_t i = 0; i < ARRAY_LEN(common); i++)
		if (!oci_env(image, common[i][0]) || !strcmp(common[i][0], "HOME"))
			oci_set_env(image, common[i][0], common[i][1]);
	if (path)
		oci_set_env(image, "PATH", arena_printf(&image->arena, "/" OPT "/bin:%s", path));
	for (size_t i = 0; i < spec->n_env; i++)
		if (spec->env[i].value && strcmp(spec->env[i].name, "PATH"))
			oci_set_env(image, spec->env[i].name, spec->env[i].value);
}

/* The base's own entrypoint runs behind ours. */
static void set_entrypoint(struct oci_image *image, bool there)
{
	struct strv both = { 0 };

	if (!there || (image->entrypoint.len && !strcmp(image->entrypoint.v[0], "/" ENTRY_PATH)))
		return;
	strv_add(&image->arena, &both, "/" ENTRY_PATH);
	for (size_t i = 0; i < image->entrypoint.len; i++)
		strv_add(&image->arena, &both, image->entrypoint.v[i]);
	image->entrypoint = both;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct build_file *)a)->path, ((const struct build_file *)b)->path);
}

int contents_add(const struct contents *contents, struct store *store, const struct build_how *how,
		 struct oci_image *image, char **ret_said, struct err *err)
{
	struct pile pile = { .arena = &image->arena };
	bool entry = false, notify = false;
	int r = add_agent_files(contents, store, how, image, err);

	put_users(&pile, &contents->found);
	put_places(&pile, contents->spec);
	put(&pile, OPT, S_IFDIR | 0755, NULL);
	put(&pile, OPT "/bin", S_IFDIR | 0755, NULL);
	set_environment(image, contents->spec);
	if (!image->cmd.len && !image->entrypoint.len)
		strv_add(&image->arena, &image->cmd, "/bin/sh");
	put_agent(&pile, contents, image);
	if (r == 0)
		r = put_own(&pile, "wrapix-entry", "../entry/wrapix-entry", contents->architecture,
			    &entry, err);
	if (r == 0)
		r = put_own(&pile, "wrapix-notify", "../notify/wrapix-notify",
			    contents->architecture, &notify, err);
	if (r < 0)
		return r;
	set_entrypoint(image, entry);
	image->workdir = arena_strdup(&image->arena, WORKSPACE_INSIDE);
	*ret_said = entry && notify ? NULL
				    : arena_printf(&image->arena,
						   "no entrypoint of ours for %s is installed "
						   "here: the image goes without",
						   contents->architecture);
	qsort(pile.files, pile.n, sizeof(*pile.files), compare);
	return build_from_files(store, pile.files, pile.n, how, image, err);
}
