/* SPDX-License-Identifier: MIT */
/*
 * A project with a '.git' of any content, beside a repository that may know it: a linked git directory is believed only
 * when it lies outside, belongs to a repository and points back.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"
#include "os/fs.h"
#include "spec/project.h"
#include "fuzz.h"

/* The first three are written by the input, "NAME CONTENT\0" by one letter each; the rest is there. */
static const struct {
	char letter;
	const char *path;
} files[] = {
	{ 'g', "project/.git" },
	{ 'b', "repo/.git/worktrees/w/gitdir" },
	{ 'c', "repo/.git/worktrees/w/commondir" },
	{ 'k', "repo/.git/config" },
	{ 'a', "repo/.git/objects/info/alternates" },
	{ 'm', "repo/.git/modules/m/config" },
	{ 'l', "repo/sub/.git" },
	{ 'i', ".gitconfig" },
};

static const char *const dirs[] = {
	"project",
	"repo",
	"repo/sub",
	"repo/.git",
	"repo/.git/objects",
	"repo/.git/objects/info",
	"repo/.git/refs",
	"repo/.git/worktrees",
	"repo/.git/worktrees/w",
	"repo/.git/modules",
	"repo/.git/modules/m",
	"repo/.git/modules/m/objects",
	"repo/.git/modules/m/refs",
};

static int open_top(void)
{
	static int dir = -1;

	if (dir >= 0)
		return dir;
	dir = fuzz_open_top(dirs, ARRAY_LEN(dirs));
	fuzz_write(dir, "repo/.git/HEAD", "ref: refs/heads/main\n", 21);
	fuzz_write(dir, "repo/.git/modules/m/HEAD", "ref: refs/heads/main\n", 21);
	return dir;
}

/* "@" in a content stands for the directory of it all, whose name is another each time. */
static void plant(int dir, const char *text, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		(void)!unlinkat(dir, files[i].path, 0);
	for (const char *p = text; p < text + len; p += strlen(p) + 1)
		for (size_t i = 0; *p && i < ARRAY_LEN(files); i++) {
			_cleanup_str_ struct str out = { 0 };

			if (files[i].letter != *p)
				continue;
			for (const char *c = p + 1; *c; c++)
				if (*c == '@')
					str_add(&out, fuzz_top);
				else
					str_addn(&out, c, 1);
			fuzz_write(dir, files[i].path, out.s ? out.s : "", out.len);
		}
}

static void check_facts(const struct host *host)
{
	const struct project_facts *p = &host->project;

	check(p->dir && p->top && path_is_below(p->dir, p->top));
	if (p->git == GIT_LINKED)
		check(p->gitdir && p->commondir && !path_is_below(p->gitdir, p->dir) &&
		      !path_is_below(p->dir, p->commondir) &&
		      path_is_below(p->gitdir, p->commondir));
	for (size_t i = 0; i < p->borrowed.len; i++)
		check(!strcmp(path_name(p->borrowed.v[i].path), "objects"));
	for (size_t i = 0; i < p->modules.len; i++)
		check(!p->modules.v[i].target ||
		      (p->modules.v[i].target[0] && p->modules.v[i].target[0] != '/'));
}

static void probe(const char *name)
{
	struct host host = { .uid = geteuid() };
	struct spec spec;
	struct err err;

	spec_init(&spec);
	host.home = arena_strdup(&host.arena, fuzz_top);
	host.config_home = path_join(&host.arena, fuzz_top, ".config");
	spec.dir = path_join(&spec.arena, fuzz_top, name);
	check(project_probe(&spec, &host, &err) == 0);
	check_facts(&host);
	git_identity_probe(&host);
	(void)project_git_dir(&host.arena, spec.dir, fuzz_top);
	arena_release(&host.arena);
	spec_release(&spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = malloc(size + 1);
	int dir = open_top();

	if (size > 65536)
		return 0;
	check(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	plant(dir, text, size);
	probe("project");
	probe("repo");
	return 0;
}
