/* SPDX-License-Identifier: MIT */
/* Names of files that somebody executes or obeys later. */
#include "cow/paths.h"

#include <fnmatch.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

bool is_git_name(const char *name)
{
	return !strcasecmp(name, ".git");
}

bool is_in_git(const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 4 && !strncasecmp(path, ".git", 4))
			return true;
		path += n + (path[n] == '/');
	}
	return false;
}

bool path_is_plain(const char *path)
{
	if (!*path || strlen(path) >= PATH_MAX)
		return false;
	for (;;) {
		size_t n = strcspn(path, "/");

		if (!n || n > NAME_MAX || (n == 1 && path[0] == '.') ||
		    (n == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		if (!path[n])
			return true;
		path += n + 1;
	}
}

/* A pattern with a '/' at its end is a directory at any depth; one with a '/' inside is matched at
 * the end of the path; any other is a name. */
static const struct {
	const char *pattern, *class;
} names[] = {
	{ ".husky/", "git" },
	{ ".githooks/", "git" },
	{ ".pre-commit-config.y*ml", "git" },
	{ "lefthook.y*ml", "git" },
	{ ".gitattributes", "git" },
	{ ".gitmodules", "git" },
	{ ".lfsconfig", "git" },
	{ ".envrc", "shell" },
	{ ".env", "shell" },
	{ ".mise.toml", "shell" },
	{ "mise.toml", "shell" },
	{ ".tool-versions", "shell" },
	{ "flake.nix", "shell" },
	{ "shell.nix", "shell" },
	{ ".venv/", "shell" },
	{ "node_modules/.bin/*", "shell" },
	{ ".vscode/", "editor" },
	{ "*.code-workspace", "editor" },
	{ ".idea/", "editor" },
	{ ".zed/", "editor" },
	{ ".nvim.lua", "editor" },
	{ ".nvimrc", "editor" },
	{ ".exrc", "editor" },
	{ ".dir-locals.el", "editor" },
	{ ".devcontainer/", "editor" },
	{ ".devcontainer.json", "editor" },
	{ ".claude/", "agent" },
	{ ".mcp.json", "agent" },
	{ "CLAUDE.md", "agent" },
	{ "CLAUDE.local.md", "agent" },
	{ "AGENTS.md", "agent" },
	{ "GEMINI.md", "agent" },
	{ ".codex/", "agent" },
	{ ".gemini/", "agent" },
	{ ".cursor/", "agent" },
	{ ".cursorrules", "agent" },
	{ ".opencode/", "agent" },
	{ ".aider*", "agent" },
	{ ".github/copilot-instructions.md", "agent" },
	{ ".cargo/config.toml", "build" },
	{ ".cargo/config", "build" },
	{ "rust-toolchain*", "build" },
	{ ".npmrc", "build" },
	{ ".yarnrc*", "build" },
	{ ".pnpmfile.cjs", "build" },
	{ "package.json", "build" },
	{ "build.rs", "build" },
	{ "Makefile", "build" },
	{ "makefile", "build" },
	{ "GNUmakefile", "build" },
	{ "conftest.py", "build" },
	{ "setup.py", "build" },
	{ "gradlew", "build" },
	{ "mvnw", "build" },
	{ ".github/workflows/", "ci" },
	{ ".github/actions/", "ci" },
	{ ".gitlab-ci.y*ml", "ci" },
	{ "wrapix.json", "agent" },
	{ ".wrapix/", "agent" },
};

static const struct {
	const char *class, *when;
} classes[] = {
	{ "git", "when you use git here" },
	{ "shell", "when a shell enters the directory or uses its tools" },
	{ "editor", "when an editor opens the project" },
	{ "agent", "when you start an agent here" },
	{ "build", "when you build, test or install" },
	{ "ci", "when it is pushed" },
};

/* True for a directory of that name, and what is below one; dir may be two names, as "a/b/". */
static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir) - 1;

	for (const char *p = path; p; p = strchr(p, '/'), p = p ? p + 1 : NULL)
		if (!strncasecmp(p, dir, len) && (p[len] == '/' || !p[len]))
			return true;
	return false;
}

static bool matches(const char *pattern, const char *path, const char *name)
{
	size_t len = strlen(pattern), n = strlen(path);

	if (pattern[len - 1] == '/')
		return is_below(path, pattern);
	if (!strchr(pattern, '/'))
		return !fnmatch(pattern, name, FNM_CASEFOLD);
	/* At the end of the path: as many components as the pattern has. */
	for (const char *p = path + n; p >= path; p--)
		if ((p == path || p[-1] == '/') &&
		    !fnmatch(pattern, p, FNM_CASEFOLD | FNM_PATHNAME))
			return true;
	return false;
}

const char *sensitive_class(const char *path, const char **ret_when)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!matches(names[i].pattern, path, name))
			continue;
		for (size_t k = 0; k < ARRAY_LEN(classes); k++)
			if (ret_when && !strcmp(classes[k].class, names[i].class))
				*ret_when = classes[k].when;
		return names[i].class;
	}
	return NULL;
}
