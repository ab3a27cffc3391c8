/* SPDX-License-Identifier: MIT */
/* Files that run later. Their content is the sandbox's: it is capped, and whoever prints it escapes it. */
#include "api/later.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"
#include "cow/unified.h"
#include "os/fs.h"

enum { DEPTH_MAX = 5, FILES_MAX = 500, TEXT_MAX = 64 * 1024, LINES_MAX = 40, TOLD_MAX = 20 };

static const struct row {
	const char *name, *when;
} rows[] = {
	{ ".claude", "you start Claude Code here" },
	{ ".mcp.json", "you start Claude Code here" },
	{ "CLAUDE.md", "Claude Code reads it here" },
	{ "AGENTS.md", "an agent reads it here" },
	{ ".codex", "you start Codex here" },
	{ ".gemini", "you start Gemini here" },
	{ ".cursor", "you open the project in Cursor" },
	{ ".cursorrules", "you open the project in Cursor" },
	{ ".opencode", "you start OpenCode here" },
	{ ".github/copilot-instructions.md", "Copilot reads it here" },
	{ ".vscode", "you open the project in VS Code" },
	{ ".idea", "you open the project in a JetBrains editor" },
	{ ".zed", "you open the project in Zed" },
	{ ".nvim.lua", "you start Neovim here" },
	{ ".exrc", "you start vi here" },
	{ ".dir-locals.el", "you open a file in Emacs" },
	{ ".devcontainer", "you open the project in a container" },
	{ ".husky", "you commit (husky)" },
	{ ".githooks", "you use git, if core.hooksPath says so" },
	{ ".pre-commit-config.yaml", "you commit (pre-commit)" },
	{ "lefthook.yml", "you commit (lefthook)" },
	{ ".gitattributes", "git converts, compares or merges files" },
	{ ".gitmodules", "you update submodules" },
	{ ".lfsconfig", "git-lfs fetches files" },
	{ ".envrc", "you enter the directory (direnv)" },
	{ ".env", "a program reads its environment from it" },
	{ ".mise.toml", "you enter the directory (mise)" },
	{ ".tool-versions", "you enter the directory (asdf, mise)" },
	{ "flake.nix", "you use nix here" },
	{ "shell.nix", "you use nix here" },
	{ ".cargo/config.toml", "you run cargo" },
	{ "rust-toolchain.toml", "you run cargo" },
	{ "build.rs", "you run cargo" },
	{ ".npmrc", "you run npm" },
	{ ".yarnrc.yml", "you run yarn" },
	{ ".pnpmfile.cjs", "you run pnpm" },
	{ "package.json", "you run npm" },
	{ "Makefile", "you run make" },
	{ "conftest.py", "you run pytest" },
	{ "gradlew", "you run it" },
	{ "mvnw", "you run it" },
	{ ".github/workflows", "you push (GitHub Actions)" },
	{ ".gitlab-ci.yml", "you push (GitLab)" },
};

struct later_file {
	const char *path, *when;
	mode_t mode;
	off_t size;
	struct timespec mtime;
	const char *text; /* NULL: too long, or not to be read; of a link its target */
	size_t len;
};

static void read_text(struct later *later, int dir, const char *name, struct later_file *file)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *text = NULL;
	char target[PATH_MAX];
	ssize_t n;

	if (S_ISLNK(file->mode)) {
		n = readlinkat(dir, name, target, sizeof(target) - 1);
		file->len = n < 0 ? 0 : (size_t)n;
		file->text = n < 0 ? NULL : arena_strndup(&later->arena, target, (size_t)n);
		return;
	}
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || os_read_fd(fd, TEXT_MAX, &text, &file->len) < 0)
		return;
	file->text = memcpy(arena_alloc(&later->arena, file->len + 1), text, file->len);
}

static void look(struct later *later, int dir, const char *path, const struct row *row, int depth);

static void look_in(struct later *later, int dir, const char *path, const struct row *row,
		    int depth)
{
	int fd = openat(dir, path_name(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (list && (entry = readdir(list)) != NULL)
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			look(later, fd, path_join(&later->arena, path, entry->d_name), row,
			     depth + 1);
	if (list)
		closedir(list);
}

static void look(struct later *later, int dir, const char *path, const struct row *row, int depth)
{
	struct later_file *file;
	struct stat st;

	if (later->n == FILES_MAX || depth > DEPTH_MAX ||
	    fstatat(dir, path_name(path), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISDIR(st.st_mode)) {
		look_in(later, dir, path, row, depth);
		return;
	}
	file = arena_grow(&later->arena, &later->v, &later->n, sizeof(*file));
	*file = (struct later_file){ .path = arena_strdup(&later->arena, path),
				     .when = row->when,
				     .mode = st.st_mode,
				     .size = st.st_size,
				     .mtime = st.st_mtim };
	if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
		read_text(later, dir, path_name(path), file);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct later_file *)a)->path, ((const struct later_file *)b)->path);
}

void later_look(struct later *later, const char *project)
{
	_cleanup_close_ int root = open(project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*later = (struct later){ .v = NULL };
	for (size_t i = 0; root >= 0 && i < ARRAY_LEN(rows); i++) {
		char *parent = path_parent(&later->arena,
					   path_join(&later->arena, "/", rows[i].name));
		_cleanup_close_ int dir = os_openat2(root, parent[1] ? parent + 1 : ".",
						     O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
						     RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);

		if (dir >= 0)
			look(later, dir, rows[i].name, &rows[i], 0);
	}
	if (later->n)
		qsort(later->v, later->n, sizeof(*later->v), by_path);
}

void later_release(struct later *later)
{
	arena_release(&later->arena);
	*later = (struct later){ .v = NULL };
}

/* ------------------------------------------------------------------ what changed */

static bool same(const struct later_file *a, const struct later_file *b)
{
	if (a->mode != b->mode)
		return false;
	if (a->text && b->text)
		return a->len == b->len && !memcmp(a->text, b->text, a->len);
	return !a->text && !b->text && a->size == b->size && a->mtime.tv_sec == b->mtime.tv_sec &&
	       a->mtime.tv_nsec == b->mtime.tv_nsec;
}

/* The difference, a line each, and no more of it than one looks at. */
static void tell_diff(const struct later_file *a, const struct later_file *b, struct arena *arena,
		      struct strv *says)
{
	_cleanup_str_ struct str out = { 0 };
	struct unified_stat stat;
	const char *old = a && a->text ? a->text : "", *new = b && b->text ? b->text : "";
	size_t old_len = a && a->text ? a->len : 0, new_len = b && b->text ? b->len : 0;
	int n = 0;

	if (!unified_is_text(old, old_len) || !unified_is_text(new, new_len))
		return;
	unified_add(&out, old, old_len, new, new_len, &stat);
	for (char *line = out.s, *end; line && *line && n <= LINES_MAX; line = end + 1, n++) {
		end = strchr(line, '\n');
		if (!end)
			end = line + strlen(line) - 1;
		strv_addf(arena, says, "  %s",
			  n == LINES_MAX ? "..."
					 : arena_strndup(arena, line,
							 (size_t)(end - line) + (*end != '\n')));
	}
}

static void tell(const struct later_file *a, const struct later_file *b, struct arena *arena,
		 struct strv *says)
{
	_cleanup_str_ struct str name = { 0 };

	strv_addf(arena, says, "%s was %s by the session: it counts when %s",
		  str_quote(&name, (a ? a : b)->path),
		  !a   ? "added"
		  : !b ? "removed"
		       : "changed",
		  (a ? a : b)->when);
	tell_diff(a, b, arena, says);
}

void later_tell(const struct later *before, const char *project, struct arena *arena,
		struct strv *ret_says)
{
	struct later now;
	size_t i = 0, k = 0, told = 0;

	later_look(&now, project);
	while (i < before->n || k < now.n) {
		const struct later_file *a = i < before->n ? &before->v[i] : NULL;
		const struct later_file *b = k < now.n ? &now.v[k] : NULL;
		int order = !a ? 1 : !b ? -1 : strcmp(a->path, b->path);

		i += order <= 0;
		k += order >= 0;
		if (order == 0 && same(a, b))
			continue;
		if (++told <= TOLD_MAX)
			tell(order <= 0 ? a : NULL, order >= 0 ? b : NULL, arena, ret_says);
	}
	if (told > TOLD_MAX)
		strv_addf(arena, ret_says, "... and %zu more files that run later were changed",
			  told - TOLD_MAX);
	later_release(&now);
}
