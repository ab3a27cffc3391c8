/* SPDX-License-Identifier: MIT */
/*
 * beads by its command line. Its output is read as JSON only; what stands before that is passed over. A
 * failure of bd is ours: a task that is not written down there would be lost.
 */
#include "ralph/beads.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/path.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/proc.h"

enum { OUTPUT_MAX = 16 << 20 };

struct sync {
	struct work *work;
	struct arena arena;
	const struct feature *feature;
	char *label;
	struct items items;
};

bool beads_used(const struct site *site)
{
	struct arena arena = { 0 };
	struct stat st;
	bool used = lstat(path_join(&arena, site->top, ".beads"), &st) == 0 &&
		    S_ISDIR(st.st_mode) && os_find_program(&arena, "bd", getenv("PATH"), site->top);

	arena_release(&arena);
	return used;
}

/* The state of an issue in bd's words for an item's. */
static const char *beads_word(enum item_status status)
{
	switch (status) {
	case ITEM_OPEN:
		return "open";
	case ITEM_RUNNING:
	case ITEM_LANDING:
		return "in_progress";
	case ITEM_DONE:
	case ITEM_DROPPED:
		return "closed";
	default:
		return "blocked";
	}
}

/* Where the JSON begins in what bd printed, which may have warnings before it. */
static const char *beads_json(const char *text)
{
	known(text);
	while (*text && *text != '[' && *text != '{') {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return text;
}

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Runs bd in the project; its output in the arena. */
static int ask(struct sync *s, const char *const *args, char **ret, struct err *err)
{
	struct arena *a = &s->arena;
	struct strv argv = { 0 };
	_cleanup_close_ int out = memfd_create("bd", MFD_CLOEXEC);
	struct os_command command = {
		.env = environ, .cwd = s->work->site.top, .in = -1, .out = out
	};
	char *bd = os_find_program(a, "bd", getenv("PATH"), s->work->site.top);
	_cleanup_free_ char *text = NULL;
	struct stat st;
	int status;

	strv_add(a, &argv, bd ? bd : "bd");
	for (const char *const *arg = args; *arg; arg++)
		strv_add(a, &argv, *arg);
	command.argv = argv.v;
	status = out < 0 || !bd ? -ENOENT : os_run(&command);
	if (status != 0) {
		err_set(err, EIO, "'bd %s' failed", args[0]);
		return err_hint(err, "try it by hand: its words say why");
	}
	if (fstat(out, &st) < 0 || st.st_size > OUTPUT_MAX)
		return err_set(err, EFBIG, "'bd %s' said too much", args[0]);
	text = malloc((size_t)st.st_size + 1);
	if (!text || lseek(out, 0, SEEK_SET) < 0 ||
	    os_read_full(out, text, (size_t)st.st_size) != st.st_size)
		return err_set(err, EIO, "reading what 'bd %s' said", args[0]);
	*ret = arena_strndup(a, text, (size_t)st.st_size);
	return 0;
}

/* The state that both sides had last. */
static int mark_get(struct sync *s, const char *id, char **ret, struct err *err)
{
	return db_get(&s->work->db, &s->arena, arena_printf(&s->arena, "bd:%s", id), ret, err);
}

static int mark_set(struct sync *s, const char *id, const char *word, struct err *err)
{
	return db_set(&s->work->db, arena_printf(&s->arena, "bd:%s", id), word, err);
}

static enum item_status status_of(const char *word)
{
	if (!strcmp(word, "closed"))
		return ITEM_DONE;
	return strcmp(word, "open") ? ITEM_BLOCKED : ITEM_OPEN;
}

/* What it waits for, and the epic that it belongs to. */
static void read_needs(struct sync *s, struct json_object *issue, struct item *item)
{
	struct json_object *list = json_object_object_get(issue, "dependencies");
	struct strv needs = { 0 };

	for (size_t i = 0; json_object_is_type(list, json_type_array) &&
			   i < json_object_array_length(list) && i < 1000;
	     i++) {
		struct json_object *entry = json_object_array_get_idx(list, i);
		const char *id, *kind;

		if (!json_object_is_type(entry, json_type_object))
			continue;
		id = json_text(entry, "depends_on_id") ? json_text(entry, "depends_on_id")
						       : json_text(entry, "id");
		kind = json_text(entry, "type") ? json_text(entry, "type")
						: json_text(entry, "dependency_type");
		if (id && (!kind || !strcmp(kind, "blocks") || !strcmp(kind, "parent-child")))
			strv_add(&s->arena, &needs, id);
	}
	item->needs = needs.v;
	item->n_needs = needs.len;
}

static int take_new(struct sync *s, struct json_object *issue, const char *id, const char *word,
		    struct err *err)
{
	const char *kind = json_text(issue, "issue_type");
	const char *text = json_text(issue, "description"), *ignored;
	char *title = item_title_of(&s->arena, json_text(issue, "title"));
	struct item item = { .id = arena_strdup(&s->arena, id),
			     .feature = s->feature->name,
			     .title = title ? title : arena_strdup(&s->arena, id),
			     .text = arena_strdup(&s->arena, text),
			     .epic = kind && !strcmp(kind, "epic"),
			     .status = status_of(word) };
	int r;

	read_needs(s, issue, &item);
	r = item_add(&s->work->db, &s->arena, &item, &ignored, err);
	return r < 0 ? r : mark_set(s, id, word, err);
}

/* A word that can be typed, and stands in lists and before a colon. */
static bool is_id(const char *id)
{
	struct err ignored;

	return strlen(id) <= 60 && !strpbrk(id, " :,") && item_check_title(id, &ignored) == 0;
}

/* What became of an issue over there, since both sides last agreed. */
static int take_issue(struct sync *s, struct json_object *issue, struct err *err)
{
	const char *id = json_text(issue, "id"), *word = json_text(issue, "status");
	const struct item *item = items_find(&s->items, id);
	char *mark = NULL;
	int r;

	if (!id || !word || !is_id(id))
		return 0;
	if (!item)
		return take_new(s, issue, id, word, err);
	r = mark_get(s, id, &mark, err);
	if (r < 0 || (mark && !strcmp(mark, word)) || item->status == ITEM_RUNNING ||
	    item->status == ITEM_LANDING)
		return r;
	if (strcmp(beads_word(item->status), word) != 0)
		r = item_move(&s->work->db, id, item->status, status_of(word),
			      strcmp(word, "in_progress") ? NULL : "somebody else works on it",
			      err);
	return r < 0 ? r : mark_set(s, id, word, err);
}

static int take_list(struct sync *s, const char *text, struct err *err)
{
	_cleanup_json_ struct json_object *root = NULL;
	const char *json = beads_json(text);
	struct json_object *list;
	struct strv seen = { 0 };
	int r;

	if (!*json)
		return 0;
	r = json_parse_max(json, strlen(json), OUTPUT_MAX, "bd", &root, err);
	/* Newer ones can put it into an envelope. */
	list = json_object_is_type(root, json_type_object) ? json_object_object_get(root, "data")
							   : root;
	if (r == 0 && !json_object_is_type(list, json_type_array))
		r = err_set(err, EINVAL, "'bd list' gave no list");
	for (size_t i = 0; r == 0 && i < json_object_array_length(list); i++) {
		struct json_object *issue = json_object_array_get_idx(list, i);
		const char *id = json_text(issue, "id");

		if (!id || strv_has(&seen, id))
			continue; /* what is named twice counts once */
		strv_add(&s->arena, &seen, id);
		r = take_issue(s, issue, err);
	}
	return r;
}

int beads_take(struct work *work, const struct feature *feature, const char *text, struct err *err)
{
	struct sync s = { .work = work, .feature = feature };
	int r = items_load(&work->db, feature->name, &s.items, err);

	if (r == 0)
		r = take_list(&s, text, err);
	items_release(&s.items);
	arena_release(&s.arena);
	return r;
}

/* An item that began here gets bd's id, everywhere. */
static int rename_item(struct sync *s, const char *from, const char *to, struct err *err)
{
	static const char *const statements[] = {
		"UPDATE item SET id = ? WHERE id = ?",
		"UPDATE need SET item = ? WHERE item = ?",
		"UPDATE need SET other = ? WHERE other = ?",
		"UPDATE step SET item = ? WHERE item = ?",
	};
	int r = db_begin(&s->work->db, err);

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(statements); i++)
		r = db_run(&s->work->db, err, statements[i], "ss", to, from);
	if (r == 0)
		r = mark_set(s, to, "open", err);
	if (r == 0)
		return db_commit(&s->work->db, err);
	db_rollback(&s->work->db);
	return r;
}

static int create(struct sync *s, struct item *item, struct err *err)
{
	struct arena *a = &s->arena;
	char *out, *id;
	int r = ask(s,
		    ARGS("create", arena_printf(a, "--title=%s", item->title),
			 arena_printf(a, "--description=%s", item->text ? item->text : ""),
			 item->epic ? "--type=epic" : "--type=task",
			 arena_printf(a, "--labels=%s", s->label), "--silent"),
		    &out, err);

	if (r < 0)
		return r;
	/* The id is the last word it prints. */
	for (size_t n = strlen(out); n && strchr(" \n\r", out[n - 1]); n--)
		out[n - 1] = '\0';
	id = strrchr(out, '\n');
	id = id ? id + 1 : out;
	if (!*id || strlen(id) > 60 || strpbrk(id, " \t"))
		return err_set(err, EIO, "'bd create' gave no id");
	r = rename_item(s, item->id, id, err);
	for (size_t i = 0; r == 0 && i < s->items.n; i++) /* who waits for it, too */
		for (size_t j = 0; j < s->items.v[i].n_needs; j++)
			if (!strcmp(s->items.v[i].needs[j], item->id))
				s->items.v[i].needs[j] = id;
	item->id = id;
	return r;
}

static int tell(struct sync *s, const struct item *item, struct err *err)
{
	struct arena *a = &s->arena;
	const char *word = beads_word(item->status);
	char *mark = NULL, *out;
	int r = mark_get(s, item->id, &mark, err);

	if (r < 0 || (mark && !strcmp(mark, word)))
		return r;
	if (!strcmp(word, "closed"))
		r = ask(s,
			/* Blockers and children may be closed after it, within one sync. */
			ARGS("close", item->id, "--force",
			     arena_printf(a, "--reason=%s%s", item_status_name(item->status),
					  item->commit ? arena_printf(a, " in %s", item->commit)
						       : "")),
			&out, err);
	else if (item->reason && strcmp(word, "blocked") == 0)
		r = ask(s,
			ARGS("update", item->id, "--status=blocked",
			     arena_printf(a, "--append-notes=%s: %.500s",
					  item_status_name(item->status), item->reason)),
			&out, err);
	else
		r = ask(s, ARGS("update", item->id, arena_printf(a, "--status=%s", word)), &out,
			err);
	return r < 0 ? r : mark_set(s, item->id, word, err);
}

/* bd lets no epic block a task, nor the other way round: a task is its epic's child. */
static int tie(struct sync *s, const struct item *item, const char *need, struct err *err)
{
	const struct item *other = items_find(&s->items, need);
	bool mixed = other && other->epic != item->epic;
	char *out;

	return ask(s,
		   ARGS("dep", "add", item->id, need,
			!mixed       ? "--type=blocks"
			: item->epic ? "--type=related"
				     : "--type=parent-child"),
		   &out, err);
}

/* New ones first, so that every id is known when they are tied together. */
static int push(struct sync *s, struct err *err)
{
	_cleanup_free_ bool *is_new = calloc(s->items.n + 1, sizeof(bool));
	char *mark;
	int r = 0;

	if (!is_new)
		return err_errno(err, ENOMEM, "writing to bd");
	for (size_t i = 0; r == 0 && i < s->items.n; i++) {
		struct item *item = &s->items.v[i];

		r = mark_get(s, item->id, &mark, err);
		is_new[i] = !mark && item->status != ITEM_PROPOSED && item->status != ITEM_DROPPED;
		if (r == 0 && is_new[i])
			r = create(s, item, err);
	}
	for (size_t i = 0; r == 0 && i < s->items.n; i++) {
		const struct item *item = &s->items.v[i];

		for (size_t j = 0; r == 0 && is_new[i] && j < item->n_needs; j++)
			r = tie(s, item, item->needs[j], err);
		if (r == 0 && item->status != ITEM_PROPOSED &&
		    (is_new[i] || item->status != ITEM_DROPPED ||
		     (mark_get(s, item->id, &mark, err) == 0 && mark)))
			r = tell(s, item, err);
	}
	return r;
}

static int sync_feature(struct work *work, const struct feature *feature, struct err *err)
{
	struct sync s = { .work = work, .feature = feature };
	char *text = NULL;
	int r;

	s.label = arena_printf(&s.arena, "spec-%s", feature->name);
	r = ask(&s,
		ARGS("list", "--label", s.label, "--all", "--limit=0", "--sort=created",
		     "--reverse", "--json"),
		&text, err);
	if (r == 0)
		r = beads_take(work, feature, text, err);
	if (r == 0)
		r = items_load(&work->db, feature->name, &s.items, err);
	if (r == 0)
		r = push(&s, err);
	items_release(&s.items);
	arena_release(&s.arena);
	return r;
}

/* --- what bd would run --- */

/* bd's own have an underscore ("on_close", "pre_write"), and run with each change; git's have none. */
static int check_hooks(const struct work *work, struct arena *arena, const char *beads,
		       struct err *err)
{
	_cleanup_dir_ DIR *list = opendir(path_join(arena, beads, "hooks"));
	_cleanup_str_ struct str shown = { 0 };
	const struct dirent *entry;

	while ((entry = os_dir_next(list)) != NULL)
		if (strchr(entry->d_name, '_') && !work->host) {
			str_quote(&shown, path_join(arena, beads,
						    path_join(arena, "hooks", entry->d_name)));
			err_set(err, EPERM, "bd would run %s outside of a sandbox", shown.s);
			return err_hint(
				err, "look at it, and move it away; 'ralph loop --host' runs it, "
				     "when 'wrapix trust' has accepted wrapix.json");
		}
	return 0;
}

/* The directory, and the one that it says bd is to use in its place. */
static int check_programs(const struct work *work, struct arena *arena, struct err *err)
{
	char *beads = path_join(arena, work->site.top, ".beads");
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = check_hooks(work, arena, beads, err);

	if (r == 0 && os_read_file_at(AT_FDCWD, path_join(arena, beads, "redirect"), PATH_MAX,
				      &text, &len) == 0) {
		text[strcspn(text, "\r\n")] = '\0';
		r = check_hooks(work, arena, path_join(arena, work->site.top, text), err);
	}
	return r;
}

int beads_sync(struct work *work, struct err *err)
{
	struct arena arena = { 0 };
	struct feature *list;
	size_t n = 0;
	int r = check_programs(work, &arena, err);

	if (r == 0)
		r = feature_list(&work->db, &arena, &list, &n, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (!list[i].hidden)
			r = sync_feature(work, &list[i], err);
	arena_release(&arena);
	return r;
}
