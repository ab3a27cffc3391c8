/* SPDX-License-Identifier: MIT */
/* What one 'apply' does, on the disk. */
#include "cow/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "cow/paths.h"
#include "os/dir.h"
#include "os/fs.h"

#define MAGIC "wrapix-apply 1"
#define PLAN_MAX ((size_t)1 << 30)

static const char *const kinds[] = {
	[STEP_ADD] = "add",
	[STEP_REPLACE] = "replace",
	[STEP_REMOVE] = "remove",
	[STEP_MODE] = "mode",
};

static const char *const states[] = {
	[JOURNAL_NEW] = "",      [JOURNAL_COMMIT] = "commit", [JOURNAL_DONE] = "done",
	[JOURNAL_UNDO] = "undo", [JOURNAL_UNDONE] = "undone",
};

/* Phases from the bottom up have the deeper path first. */
static int by_phase(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->phase != y->phase)
		return x->phase < y->phase ? -1 : 1;
	return x->phase == 2 || x->phase == 5 ? strcmp(y->path, x->path) : strcmp(x->path, y->path);
}

static unsigned phase_of(const struct step *step)
{
	switch (step->kind) {
	case STEP_MODE:
		return (step->post.mode & 0300) == 0300 && (step->pre.mode & 0300) != 0300 ? 0 : 5;
	case STEP_REMOVE:
		return S_ISDIR(step->pre.mode) ? 2 : 1;
	case STEP_ADD:
		return S_ISDIR(step->post.mode) ? 3 : 4;
	default:
		return 4;
	}
}

void journal_sort(struct journal *journal)
{
	for (size_t i = 0; i < journal->n_steps; i++)
		journal->steps[i].phase = phase_of(&journal->steps[i]);
	if (journal->n_steps)
		qsort(journal->steps, journal->n_steps, sizeof(struct step), by_phase);
}

int journal_open_dir(const struct cow *cow, unsigned number, bool make)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "apply/%u", number);
	if (make && ((mkdirat(cow->dir, "apply", 0700) < 0 && errno != EEXIST) ||
		     (mkdirat(cow->dir, name, 0700) < 0 && errno != EEXIST)))
		return -errno;
	fd = openat(cow->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

unsigned journal_last(const struct cow *cow)
{
	_cleanup_dir_ DIR *dir = os_dir_open(cow->dir, "apply");
	struct dirent *entry;
	unsigned last = 0;

	while ((entry = os_dir_next(dir))) {
		unsigned long n = strtoul(entry->d_name, NULL, 10);

		if (n > last && n < 1000000)
			last = (unsigned)n;
	}
	return last;
}

static void add_node(struct str *out, const struct node *node)
{
	str_addf(out, "%x %" PRIx64 " %" PRIx64 " %" PRIx64 " ", (unsigned)node->mode, node->size,
		 (uint64_t)node->mtime, node->ino);
}

static void end_record(struct str *out, const char *path)
{
	str_addn(out, path, strlen(path) + 1);
}

int journal_save(const struct journal *journal, int dir, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };

	end_record(&out, MAGIC);
	for (size_t i = 0; i < journal->n_steps; i++) {
		const struct step *step = &journal->steps[i];

		str_addf(&out, "%s ", kinds[step->kind]);
		add_node(&out, &step->pre);
		add_node(&out, &step->post);
		end_record(&out, step->path);
		if (step->base) {
			str_addf(&out, "base %d ", step->base->late);
			add_node(&out, &step->base->node);
			end_record(&out, step->path);
		}
	}
	for (size_t i = 0; i < journal->n_touched; i++) {
		str_addf(&out, "dir %" PRIx64 " ", (uint64_t)journal->touched[i].mtime);
		end_record(&out, journal->touched[i].path);
	}
	for (size_t i = 0; i < journal->n_settled; i++) {
		str_add(&out, "settled ");
		add_node(&out, &journal->settled[i].node);
		end_record(&out, journal->settled[i].path);
	}
	end_record(&out, "end");
	return os_write_file_soon(dir, "plan", out.s, out.len, 0600, err);
}

static bool take_word(char **p, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*p, word, n) != 0 || (*p)[n] != ' ')
		return false;
	*p += n + 1;
	return true;
}

static bool take_node(char **p, struct node *ret)
{
	uint64_t v[4];

	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		if (!node_take_number(p, &v[i]))
			return false;
	*ret = (struct node){ (mode_t)v[0], v[1], (int64_t)v[2], 0, v[3] };
	return v[0] <= 0177777;
}

static bool parse_step(struct journal *journal, char *p)
{
	struct step step = { 0 };
	size_t kind = 0;

	while (kind < ARRAY_LEN(kinds) && !take_word(&p, kinds[kind]))
		kind++;
	if (kind == ARRAY_LEN(kinds) || !take_node(&p, &step.pre) || !take_node(&p, &step.post) ||
	    !path_is_plain(p) || is_in_git(p))
		return false;
	step.kind = (enum step_kind)kind;
	step.path = p;
	*(struct step *)arena_grow(&journal->arena, &journal->steps, &journal->n_steps,
				   sizeof(step)) = step;
	return true;
}

static bool parse_touched(struct journal *journal, char *p)
{
	uint64_t mtime;

	if (!node_take_number(&p, &mtime) || (strcmp(p, ".") != 0 && !path_is_plain(p)))
		return false;
	*(struct touched *)arena_grow(&journal->arena, &journal->touched, &journal->n_touched,
				      sizeof(struct touched)) = (struct touched){ p,
										  (int64_t)mtime };
	return true;
}

/* Of the step before it. */
static bool parse_base(struct journal *journal, char *p)
{
	struct step *step = journal->n_steps ? &journal->steps[journal->n_steps - 1] : NULL;
	struct manifest_entry *base = arena_alloc(&journal->arena, sizeof(*base));
	uint64_t late;

	if (!node_take_number(&p, &late) || late > 1 || !take_node(&p, &base->node) || !step ||
	    strcmp(p, step->path) != 0)
		return false;
	base->path = step->path;
	base->late = late;
	step->base = base;
	return true;
}

static bool parse_settled(struct journal *journal, char *p)
{
	struct manifest_entry entry = { 0 };

	if (!take_node(&p, &entry.node) || !path_is_plain(p) || is_in_git(p))
		return false;
	entry.path = p;
	*(struct manifest_entry *)arena_grow(&journal->arena, &journal->settled,
					     &journal->n_settled, sizeof(entry)) = entry;
	return true;
}

static bool parse_record(struct journal *journal, char *p)
{
	if (take_word(&p, "dir"))
		return parse_touched(journal, p);
	if (take_word(&p, "base"))
		return parse_base(journal, p);
	return take_word(&p, "settled") ? parse_settled(journal, p) : parse_step(journal, p);
}

int journal_parse(struct journal *journal, char *text, size_t len, struct err *err)
{
	char *end = text + len, *next;

	if (len < sizeof(MAGIC) || end[-1] || strcmp(text, MAGIC) != 0)
		return err_set(err, EINVAL, "its plan is damaged");
	for (char *p = text + sizeof(MAGIC); p < end; p = next) {
		next = p + strlen(p) + 1;
		if (!strcmp(p, "end") && next == end)
			return 0;
		if (!parse_record(journal, p))
			break;
	}
	return err_set(err, EINVAL, "its plan is damaged");
}

int journal_load(struct journal *journal, int dir, struct err *err)
{
	_cleanup_free_ char *read = NULL;
	char *text;
	size_t len;
	int r = os_read_file_at(dir, "plan", PLAN_MAX, &read, &len);

	*journal = (struct journal){ 0 };
	if (r < 0)
		return err_errno(err, -r, "reading its plan");
	text = arena_alloc(&journal->arena, len + 1);
	memcpy(text, read, len);
	r = journal_parse(journal, text, len, err);
	if (r < 0)
		journal_release(journal);
	return r;
}

int journal_set_state(int dir, enum journal_state state, struct err *err)
{
	return os_write_file_atomic(dir, "state", states[state], strlen(states[state]), 0600, err);
}

enum journal_state journal_state(int dir)
{
	_cleanup_free_ char *text = NULL;

	if (os_read_file_at(dir, "state", 64, &text, NULL) < 0)
		return JOURNAL_NEW;
	for (size_t i = 1; i < ARRAY_LEN(states); i++)
		if (!strcmp(text, states[i]))
			return (enum journal_state)i;
	return JOURNAL_NEW;
}

void journal_release(struct journal *journal)
{
	arena_release(&journal->arena);
	*journal = (struct journal){ 0 };
}
