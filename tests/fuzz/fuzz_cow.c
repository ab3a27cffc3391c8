/* SPDX-License-Identifier: MIT */
/*
 * The files of a copy-on-write session: a manifest, an apply's plan, and, from a list of names and
 * kinds, what a sandbox may have left in the upper directory. What is accepted keeps the rules.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cow/apply.h"
#include "cow/paths.h"
#include "cow/show.h"
#include "os/fs.h"
#include "fuzz.h"

static void try_manifest(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct manifest manifest = { 0 };
	struct err err;

	memcpy(text, data, size);
	text[size] = '\0';
	if (manifest_parse(&manifest, text, size, &err) == 0)
		for (size_t i = 0; i < manifest.n; i++)
			check(path_is_plain(manifest.v[i].path) &&
			      manifest_find(&manifest, manifest.v[i].path) == &manifest.v[i]);
	manifest_release(&manifest);
	free(text);
}

static bool same_node(const struct node *a, const struct node *b)
{
	return a->mode == b->mode && a->size == b->size && a->mtime == b->mtime && a->ino == b->ino;
}

/* A plan that was read is written and read again as the same. */
static void check_journal(const struct journal *journal)
{
	static int dir = -1;
	struct journal again;
	struct err err;

	if (dir < 0)
		dir = fuzz_open_top(NULL, 0);
	check(journal_save(journal, dir, &err) == 0 && journal_load(&again, dir, &err) == 0);
	check(journal->n_steps == again.n_steps && journal->n_touched == again.n_touched &&
	      journal->n_settled == again.n_settled);
	for (size_t i = 0; i < again.n_steps; i++) {
		const struct step *a = &journal->steps[i], *b = &again.steps[i];

		check(a->kind == b->kind && !strcmp(a->path, b->path) &&
		      same_node(&a->pre, &b->pre) && same_node(&a->post, &b->post));
		check(!a->base == !b->base);
		check(!a->base || (a->base->late == b->base->late &&
				   same_node(&a->base->node, &b->base->node)));
	}
	for (size_t i = 0; i < again.n_touched; i++)
		check(journal->touched[i].mtime == again.touched[i].mtime &&
		      !strcmp(journal->touched[i].path, again.touched[i].path));
	for (size_t i = 0; i < again.n_settled; i++)
		check(same_node(&journal->settled[i].node, &again.settled[i].node) &&
		      !strcmp(journal->settled[i].path, again.settled[i].path));
	journal_release(&again);
}

static void try_journal(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct journal journal = { 0 };
	struct err err;

	memcpy(text, data, size);
	text[size] = '\0';
	if (journal_parse(&journal, text, size, &err) == 0) {
		for (size_t i = 0; i < journal.n_steps; i++)
			check(path_is_plain(journal.steps[i].path) &&
			      !is_in_git(journal.steps[i].path));
		check_journal(&journal);
	}
	journal_release(&journal);
	free(text);
}

/* "KIND NAME\0": f(ile), d(irectory), l(ink), p(ipe), w(hiteout), g(o into), u(p), L: in the project. */
static void plant(int top, const uint8_t *data, size_t len)
{
	char *text = malloc(len + 1);
	int dir = dup(top), depth = 0;

	memcpy(text, data, len);
	text[len] = '\0';
	for (const char *p = text; p < text + len && strlen(p) > 1; p += strlen(p) + 1) {
		const char *name = p + 1;
		int fd = -1, sub;

		if (strchr(name, '/') || strlen(name) > NAME_MAX)
			continue;
		switch (*p) {
		case 'f':
			fd = openat(dir, name, O_WRONLY | O_CREAT | O_NOFOLLOW, 0644);
			check(fd < 0 || write(fd, name, strlen(name)) >= 0);
			break;
		case 'd':
			(void)!mkdirat(dir, name, 0755);
			break;
		case 'l':
			(void)!symlinkat(name, dir, name);
			break;
		case 'p':
			(void)!mkfifoat(dir, name, 0600);
			break;
		case 'w':
			(void)!mknodat(dir, name, S_IFCHR, 0);
			break;
		case 'g':
			sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
			if (sub >= 0 && depth++ < 20) {
				close(dir);
				dir = sub;
			} else if (sub >= 0) {
				close(sub);
			}
		}
		if (fd >= 0)
			close(fd);
	}
	close(dir);
	free(text);
}

static void try_walk(const uint8_t *data, size_t size)
{
	char path[FUZZ_DIR_MAX];
	struct cow cow = COW_NONE;
	struct apply_options options = { .sensitive = true };
	struct apply_report report = { 0 };
	struct changes changes;
	struct err err;
	size_t half = size / 2;

	cow.dir = fuzz_make_dir(path);
	check(mkdirat(cow.dir, "root", 0700) == 0 && mkdirat(cow.dir, "upper", 0700) == 0);
	cow.root = openat(cow.dir, "root", O_RDONLY | O_DIRECTORY);
	cow.upper = openat(cow.dir, "upper", O_RDONLY | O_DIRECTORY);
	cow.base = arena_strndup(&cow.arena, path, (size_t)(strrchr(path, '/') - path));
	cow.turn = arena_printf(&cow.arena, "%s/turn", path);
	cow.id = arena_strdup(&cow.arena, strrchr(path, '/') + 1);
	cow.project = arena_printf(&cow.arena, "%s/root", path);
	cow.started = INT64_MAX;
	plant(cow.root, data, half);
	plant(cow.upper, data + half, size - half);
	if (changes_find(&changes, &cow, &err) == 0) {
		for (size_t i = 0; i < changes.n; i++) {
			struct str text = { 0 };

			check(path_is_plain(changes.v[i].path) && !is_in_git(changes.v[i].path));
			change_add_diff(&text, &cow, &changes.v[i]);
			change_add_json(&text, &cow, &changes.v[i]);
			str_release(&text);
		}
		check(apply_changes(&cow, &changes, &options, &report, &err) == 0);
		/* Nothing comes into the project that git would obey. */
		check(faccessat(cow.root, ".git/config", F_OK, 0) < 0);
		changes_release(&changes);
	}
	apply_report_release(&report);
	cow_close(&cow);
	os_remove_tree(AT_FDCWD, path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void (*const targets[])(const uint8_t *, size_t) = { try_manifest, try_journal, try_walk };

	if (size > 1 && size < 65536)
		targets[data[0] % 3](data + 1, size - 1);
	return 0;
}
