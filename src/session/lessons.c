/* SPDX-License-Identifier: MIT */
/* From refusals to a change of settings. */
#include "session/lessons.h"

#include <string.h>

#include "base/path.h"
#include "base/str.h"

#define COMMAND_CUT 120 /* bytes */

void lessons_init(struct lessons *l, const char *home)
{
	*l = (struct lessons){ .place.home = home };
}

static char *copy(struct lessons *l, struct json_object *event, const char *key)
{
	struct json_object *value = json_object_object_get(event, key);

	return json_object_is_type(value, json_type_string)
		       ? arena_strdup(&l->arena, json_object_get_string(value))
		       : NULL;
}

static const char *keep(struct lessons *l, const char *text)
{
	return text ? arena_strdup(&l->arena, text) : NULL;
}

/* The command of an event's process, as a shell takes it; cut. "" where it is not known. */
static void event_add_command(struct str *out, struct json_object *event)
{
	struct json_object *process = json_object_object_get(event, "process"), *argv;
	size_t from = out->len, n;

	if (!json_object_is_type(process, json_type_object))
		return;
	argv = json_object_object_get(process, "argv");
	n = json_object_is_type(argv, json_type_array) ? json_object_array_length(argv) : 0;
	for (size_t i = 0; i < n && out->len - from < COMMAND_CUT; i++) {
		struct json_object *word = json_object_array_get_idx(argv, i);
		_cleanup_str_ struct str quoted = { 0 };

		str_add(out, i ? " " : "");
		if (!json_object_is_type(word, json_type_string))
			continue;
		str_add_shell(&quoted, json_object_get_string(word));
		str_addn(out, quoted.s, MIN(quoted.len, (size_t)COMMAND_CUT));
	}
}

static void add_header(struct lessons *l, struct json_object *event)
{
	const char *policy = copy(l, event, "policy");

	l->id = copy(l, event, "id");
	l->name = copy(l, event, "name");
	l->dir = copy(l, event, "dir");
	l->command = copy(l, event, "command");
	l->place.file = copy(l, event, "settings");
	l->place.cwd = l->dir;
	l->place.dialect = FIX_RUN;
	if (policy)
		(void)fix_dialect_parse(policy, &l->place.dialect); /* an older log has none */
}

static bool is_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool is_same(const struct lesson *lesson, const struct fix *fix, const struct denial *d)
{
	if (!fix->key)
		return !lesson->fix.key && is_text(lesson->denial.path, d->path) &&
		       is_text(lesson->denial.name, d->name) &&
		       is_text(lesson->denial.address, d->address) &&
		       (d->path || is_text(lesson->denial.call, d->call)) &&
		       is_text(lesson->denial.reason, d->reason);
	return is_text(lesson->fix.key, fix->key) && is_text(lesson->fix.value, fix->value) &&
	       lesson->fix.remove == fix->remove && lesson->fix.raise == fix->raise;
}

static struct lesson *find(struct lessons *l, const struct fix *fix, const struct denial *d)
{
	struct lesson *lesson;

	for (size_t i = 0; i < l->n; i++)
		if (is_same(&l->v[i], fix, d))
			return &l->v[i];
	if (l->n == LESSONS_MAX)
		return NULL;
	lesson = arena_grow(&l->arena, (void *)&l->v, &l->n, sizeof(*l->v));
	*lesson = (struct lesson){
		.fix = { .key = keep(l, fix->key),
			 .value = keep(l, fix->value),
			 .path = keep(l, fix->path),
			 .remove = fix->remove,
			 .raise = fix->raise,
			 .literal = fix->literal,
			 .risk = keep(l, fix->risk),
			 .none = keep(l, fix->none) },
		.denial = { .what = keep(l, d->what),
			    .call = keep(l, d->call),
			    .args = keep(l, d->args),
			    .path = keep(l, d->path),
			    .name = keep(l, d->name),
			    .address = keep(l, d->address),
			    .port = d->port,
			    .reason = keep(l, d->reason),
			    .rule = keep(l, d->rule),
			    .key = keep(l, d->key),
			    .origin = keep(l, d->origin),
			    .made = d->made },
	};
	return lesson;
}

static void add_command(struct lessons *l, struct strv *to, const char *command)
{
	if (command && *command && to->len < LESSON_COMMANDS && !strv_has(to, command))
		strv_add(&l->arena, to, command);
}

/* Who did it was looked for, and may be another one. */
static bool is_likely(struct json_object *event)
{
	struct json_object *process = json_object_object_get(event, "process");

	return json_object_is_type(process, json_type_object) &&
	       json_object_get_boolean(json_object_object_get(process, "predicted"));
}

void lessons_add(struct lessons *l, struct json_object *event)
{
	int64_t count = json_object_get_int64(json_object_object_get(event, "count"));
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_str_ struct str command = { 0 };
	struct lesson *lesson;
	struct denial d;
	struct fix fix;

	if (json_object_object_get(event, "v") && !l->id)
		add_header(l, event);
	if (!denial_read(event, &d))
		return;
	/* Made anew where the log has it too: a file may say anything about a risk. */
	if (!fix_read(event, &fix) || fix.key)
		fix_make(&arena, &d, &l->place, &fix);
	count = MAX(count, (int64_t)1);
	l->refused += (unsigned long)count;
	lesson = find(l, &fix, &d);
	if (!lesson) {
		l->others += (unsigned long)count;
		return;
	}
	lesson->count += (unsigned long)count;
	event_add_command(&command, event);
	add_command(l, is_likely(event) ? &lesson->likely : &lesson->commands, command.s);
}

/* --- the least that covers them --- */

/* Something of a list of paths, that is to be added. */
static bool is_path(const struct lesson *lesson, const char *key)
{
	return lesson->fix.key && lesson->fix.value && !lesson->fix.remove && !lesson->dropped &&
	       !lesson->fix.literal && lesson->fix.path && !strcmp(lesson->fix.key, key);
}

/* The directory of what was refused already, which is not made wider again. */
static bool is_widened(const struct lesson *lesson)
{
	return strcmp(lesson->fix.path, lesson->denial.path) != 0;
}

static void give_to(struct lessons *l, struct lesson *to, struct lesson *from)
{
	to->count += from->count;
	for (size_t i = 0; i < from->commands.len; i++)
		add_command(l, &to->commands, from->commands.v[i]);
	for (size_t i = 0; i < from->likely.len; i++)
		add_command(l, &to->likely, from->likely.v[i]);
	from->dropped = true;
}

static void join_siblings(struct lessons *l, struct lesson *first)
{
	bool write = strstr(first->fix.key, "Write");
	char *dir = path_parent(&l->arena, first->fix.path);
	const char *below = l->place.home ? path_below(dir, l->place.home) : NULL;
	size_t n = 0;

	if (first->fix.risk || is_widened(first) || !fix_may_be_parent(&l->place, dir, write))
		return;
	for (size_t i = 0; i < l->n; i++)
		n += is_path(&l->v[i], first->fix.key) && !l->v[i].fix.risk &&
		     !is_widened(&l->v[i]) &&
		     !strcmp(path_parent(&l->arena, l->v[i].fix.path), dir);
	if (n < LESSON_SIBLINGS)
		return;
	first->fix.path = first->denial.path = dir;
	first->fix.value = below && *below ? arena_printf(&l->arena, "~/%s", below) : dir;
}

void lessons_merge(struct lessons *l)
{
	static const char *const lists[] = { "allowWrite", "allowRead" };

	for (size_t i = 0; i < l->n; i++) {
		struct lesson *lesson = &l->v[i];
		const char *name = lesson->fix.key ? strrchr(lesson->fix.key, '.') : NULL;
		bool list = false;

		for (size_t k = 0; name && k < ARRAY_LEN(lists); k++)
			list = list || !strcmp(name + 1, lists[k]);
		if (!list || !is_path(lesson, lesson->fix.key))
			continue;
		join_siblings(l, lesson);
		for (size_t k = 0; k < l->n; k++)
			if (k != i && is_path(&l->v[k], lesson->fix.key) &&
			    path_is_below(l->v[k].fix.path, lesson->fix.path))
				give_to(l, lesson, &l->v[k]);
	}
}

void lessons_release(struct lessons *l)
{
	arena_release(&l->arena);
}
