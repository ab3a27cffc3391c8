/* SPDX-License-Identifier: MIT */
/*
 * A private git directory as a sandbox may have left it: files, directories, links and pipes under any name, from a
 * list. What is read of it keeps the rules, and nothing hangs.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/priv.h"
#include "os/fs.h"
#include "fuzz.h"

static const char *const names[] = {
	"HEAD",
	"packed-refs",
	"refs",
	"refs/heads",
	"refs/heads/main",
	"refs/tags",
	"refs/stash",
	"logs",
	"logs/refs",
	"logs/refs/stash",
	"index",
	"objects",
	"MERGE_HEAD",
	"CHERRY_PICK_HEAD",
	"REVERT_HEAD",
	"refs/heads/a b",
	"refs/heads/.x",
	"refs/heads/x.lock",
	"refs/replace",
	"reftable",
	"rebase-merge",
	"rebase-merge/git-rebase-todo",
	"rebase-merge/msgnum",
	"sequencer",
};

static void write_name(int dir, const char *name, const char *text, size_t len)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0644);

	if (fd < 0)
		return;
	(void)!write(fd, text, len);
	close(fd);
}

/* "KNtext\0" each: the kind, a byte that says which name, and the content, or where a link leads. */
static void plant(int dir, const char *text, size_t len)
{
	for (const char *p = text; p < text + len; p += strlen(p) + 1) {
		const char *name, *body;

		if (strlen(p) < 2)
			continue;
		name = names[(unsigned char)p[1] % ARRAY_LEN(names)];
		body = p + 2;
		if (*p == 'd')
			(void)!mkdirat(dir, name, 0755);
		else if (*p == 'l')
			(void)!symlinkat(*body ? body : "/dev/zero", dir, name);
		else if (*p == 'p')
			(void)!mkfifoat(dir, name, 0600);
		else
			write_name(dir, name, body, strlen(body));
	}
}

static void look(int dir)
{
	struct arena arena = { 0 };
	struct git_items refs = { 0 }, ops = { 0 }, stash = { 0 };
	struct strv symbolic = { 0 };
	bool is_new;

	if (git_refs_read(&arena, dir, &refs, &symbolic) == 0)
		for (size_t i = 0; i < refs.n; i++) {
			check(git_oid_ok(refs.v[i].value, strlen(refs.v[i].value)));
			check(i == 0 || strcmp(refs.v[i - 1].name, refs.v[i].name) < 0);
		}
	if (git_ops_read(&arena, dir, &ops) == 0)
		for (size_t i = 1; i < ops.n; i++)
			check(strcmp(ops.v[i - 1].name, ops.v[i].name) < 0);
	if (git_stash_read(&arena, dir, &stash) == 0)
		for (size_t i = 0; i < stash.n; i++)
			check(git_oid_ok(stash.v[i].name, strlen(stash.v[i].name)));
	(void)git_is_repository(dir);
	(void)git_index_mark(&arena, dir, true, &is_new);
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[FUZZ_DIR_MAX];
	char *text;
	int dir;

	if (size == 0 || size > 65536)
		return 0;
	text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	dir = fuzz_make_dir(path);
	plant(dir, text, size);
	look(dir);
	git_stamps_hold(
		text); /* of our own writing; cut off anywhere it does not hold, or does no harm */
	close(dir);
	os_remove_tree(AT_FDCWD, path);
	free(text);
	return 0;
}
