/* SPDX-License-Identifier: MIT */
/* Names of files that somebody executes or obeys later. */
#include "cow/paths.h"

#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
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
static const struct row {
	const char *pattern, *class;
	const char *event; /* that makes it count: "you run make"; NULL: as its class says */
} names[] = {
	{ ".husky/", "git", "you commit (husky)" },
	{ ".githooks/", "git", "you use git, if core.hooksPath says so" },
	{ ".pre-commit-config.yaml", "git", "you commit (pre-commit)" },
	{ ".pre-commit-config.yml", "git", "you commit (pre-commit)" },
	{ "lefthook.yaml", "git", "you commit (lefthook)" },
	{ "lefthook.yml", "git", "you commit (lefthook)" },
	{ ".beads/hooks/", "git", "bd changes an issue (beads), or you commit" },
	{ ".beads/redirect", "git", "you use bd here (beads)" },
	{ ".beads/config.yaml", "git", "you use bd here (beads)" },
	{ ".beads/metadata.json", "git", "you use bd here (beads)" },
	{ ".gitattributes", "git", "git converts, compares or merges files" },
	{ ".gitmodules", "git", "you update submodules" },
	{ ".lfsconfig", "git", "git-lfs fetches files" },
	{ ".hg/hgrc", "git", "you use Mercurial here" },
	{ ".jj/repo/config.toml", "git", "you use Jujutsu here" },
	{ ".envrc", "shell", "you enter the directory (direnv)" },
	{ ".env", "shell", "a program reads its environment from it" },
	{ ".mise.toml", "shell", "you enter the directory (mise)" },
	{ "mise.toml", "shell", "you enter the directory (mise)" },
	{ ".tool-versions", "shell", "you enter the directory (asdf, mise)" },
	{ "flake.nix", "shell", "you use nix here" },
	{ "shell.nix", "shell", "you use nix here" },
	{ "devenv.nix", "shell", "you use devenv here" },
	{ ".autoenv*", "shell", "you enter the directory (autoenv)" },
	{ ".venv/", "shell", NULL },
	{ "node_modules/.bin/*", "shell", NULL },
	{ ".vscode/", "editor", "you open the project in VS Code" },
	{ "*.code-workspace", "editor", "you open it in VS Code" },
	{ ".idea/", "editor", "you open the project in a JetBrains editor" },
	{ ".zed/", "editor", "you open the project in Zed" },
	{ ".fleet/", "editor", "you open the project in Fleet" },
	{ ".helix/", "editor", "you start Helix here" },
	{ ".lvimrc", "editor", "you start vi here" },
	{ ".nvim.lua", "editor", "you start Neovim here" },
	{ ".nvimrc", "editor", "you start Neovim here" },
	{ ".exrc", "editor", "you start vi here" },
	{ ".dir-locals.el", "editor", "you open a file in Emacs" },
	{ ".devcontainer/", "editor", "you open the project in a container" },
	{ ".devcontainer.json", "editor", "you open the project in a container" },
	{ ".claude/", "agent", "you start Claude Code here" },
	{ ".mcp.json", "agent", "you start Claude Code here" },
	{ "CLAUDE.md", "agent", "Claude Code reads it here" },
	{ "CLAUDE.local.md", "agent", "Claude Code reads it here" },
	{ "AGENTS.md", "agent", "an agent reads it here" },
	{ "GEMINI.md", "agent", "Gemini reads it here" },
	{ ".codex/", "agent", "you start Codex here" },
	{ ".gemini/", "agent", "you start Gemini here" },
	{ ".cursor/", "agent", "you open the project in Cursor" },
	{ ".cursorrules", "agent", "you open the project in Cursor" },
	{ ".opencode/", "agent", "you start OpenCode here" },
	{ "opencode.json*", "agent", "you start OpenCode here" },
	{ ".windsurf/", "agent", "you open the project in Windsurf" },
	{ ".windsurfrules", "agent", "you open the project in Windsurf" },
	{ ".continue/", "agent", "you use Continue here" },
	{ ".clinerules*", "agent", "you use Cline here" },
	{ ".roo/", "agent", "you use Roo here" },
	{ ".kiro/", "agent", "you use Kiro here" },
	{ ".junie/", "agent", "you use Junie here" },
	{ ".qwen/", "agent", "you start Qwen here" },
	{ "QWEN.md", "agent", "Qwen reads it here" },
	{ ".aider*", "agent", NULL },
	{ ".github/copilot-instructions.md", "agent", "Copilot reads it here" },
	{ ".cargo/config.toml", "build", "you run cargo" },
	{ ".cargo/config", "build", "you run cargo" },
	{ "rust-toolchain*", "build", "you run cargo" },
	{ ".npmrc", "build", "you run npm" },
	{ ".yarnrc*", "build", "you run yarn" },
	{ ".pnpmfile.cjs", "build", "you run pnpm" },
	{ "package.json", "build", "you run npm" },
	{ "build.rs", "build", "you run cargo" },
	{ "Makefile", "build", "you run make" },
	{ "makefile", "build", "you run make" },
	{ "GNUmakefile", "build", "you run make" },
	{ "conftest.py", "build", "you run pytest" },
	{ "setup.py", "build", "you run pip" },
	{ "gradlew", "build", "you run it" },
	{ "mvnw", "build", "you run it" },
	{ ".github/workflows/", "ci", "you push (GitHub Actions)" },
	{ ".github/actions/", "ci", "you push (GitHub Actions)" },
	{ ".gitlab-ci.yaml", "ci", "you push (GitLab)" },
	{ ".gitlab-ci.yml", "ci", "you push (GitLab)" },
	{ ".gitea/workflows/", "ci", "you push (Gitea)" },
	{ ".forgejo/workflows/", "ci", "you push (Forgejo)" },
	{ ".circleci/", "ci", "you push (CircleCI)" },
	{ ".buildkite/", "ci", "you push (Buildkite)" },
	{ "Jenkinsfile", "ci", "you push (Jenkins)" },
	{ "azure-pipelines.yml", "ci", "you push (Azure)" },
	{ "bitbucket-pipelines.yml", "ci", "you push (Bitbucket)" },
	{ ".travis.yml", "ci", "you push (Travis)" },
	{ "wrapix.json", "agent", NULL },
	{ ".wrapix/", "agent", NULL },
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
		return (*pattern == '*' ||
			tolower((unsigned char)*pattern) == tolower((unsigned char)*name)) &&
		       !fnmatch(pattern, name, FNM_CASEFOLD);
	/* At the end of the path: as many components as the pattern has. */
	for (const char *p = path + n; p >= path; p--)
		if ((p == path || p[-1] == '/') &&
		    !fnmatch(pattern, p, FNM_CASEFOLD | FNM_PATHNAME))
			return true;
	return false;
}

static const struct row *find_row(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	bool dotted = *path == '.' || strstr(path, "/.") != NULL; /* directories all are */

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if ((dotted || !strchr(names[i].pattern, '/')) &&
		    matches(names[i].pattern, path, name))
			return &names[i];
	return NULL;
}

const char *sensitive_when(const char *class)
{
	for (size_t i = 0; i < ARRAY_LEN(classes); i++)
		if (!strcmp(classes[i].class, class))
			return classes[i].when;
	return "";
}

const char *sensitive_class(const char *path, const char **ret_when)
{
	const struct row *row = find_row(path);

	if (row && ret_when)
		*ret_when = sensitive_when(row->class);
	return row ? row->class : NULL;
}

const char *sensitive_event(const char *path)
{
	const struct row *row = find_row(path);

	if (!row)
		return NULL;
	return row->event ? row->event : sensitive_when(row->class) + strlen("when ");
}

const char *sensitive_dir(const char *path, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *pattern = names[i].pattern;
		size_t len = strlen(pattern) - 1;

		if (len <= n && pattern[len] == '/' && !strncasecmp(path + n - len, pattern, len) &&
		    (n == len || path[n - len - 1] == '/'))
			return names[i].class;
	}
	return NULL;
}

bool sensitive_pair(size_t i, char first[32], char second[64])
{
	for (size_t k = 0; k < ARRAY_LEN(names); k++) {
		const char *slash = strchr(names[k].pattern, '/');

		if (!slash || !slash[1] || i-- > 0)
			continue;
		snprintf(first, 32, "%.*s", (int)(slash - names[k].pattern), names[k].pattern);
		snprintf(second, 64, "%.*s", (int)strcspn(slash + 1, "/*"), slash + 1);
		return true;
	}
	return false;
}

size_t sensitive_bulk(const char *path)
{
	static const char *const dirs[] = { "node_modules", ".venv" };

	for (const char *p = path; p; p = strchr(p, '/'), p = p ? p + 1 : NULL)
		for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
			size_t n = strlen(dirs[i]);

			if (!strncmp(p, dirs[i], n) && (p[n] == '/' || !p[n]))
				return (size_t)(p - path) + n;
		}
	return 0;
}

const char *sensitive_name(size_t i)
{
	for (size_t k = 0; k < ARRAY_LEN(names); k++)
		if (!strchr(names[k].pattern, '*') && i-- == 0)
			return names[k].pattern;
	return NULL;
}
