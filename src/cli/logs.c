/* SPDX-License-Identifier: MIT */
/* Which session's log a command means. */
#include "cli/logs.h"

#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "os/fs.h"

static const char *choose(const struct event_log_info *logs, size_t n, const char *word,
			  const char *dir)
{
	const char *id = NULL;
	int64_t newest = -1;

	for (size_t i = 0; i < n; i++) {
		const struct session_info *s = &logs[i].session;
		bool meant = word ? !strcmp(s->id, word) || !strcmp(s->name, word)
				  : !dir || !strcmp(s->dir, dir);

		if (meant && logs[i].started >= newest) {
			newest = logs[i].started;
			id = s->id;
		}
	}
	return id;
}

static int read_all(const char *state, const char *id,
		    void (*fn)(void *ctx, struct json_object *event), void *ctx, struct err *err)
{
	_cleanup_close_ int dir = event_log_open_dir(state, err);
	struct event_reader reader;
	struct json_object *event;
	int r = dir < 0 ? dir : event_reader_open(&reader, dir, id, err);

	if (r < 0)
		return r;
	while (event_reader_next(&reader, &event) > 0) {
		fn(ctx, event);
		json_object_put(event);
	}
	event_reader_close(&reader);
	return 0;
}

int cli_read_log(const char *word, void (*fn)(void *ctx, struct json_object *event), void *ctx,
		 struct err *err)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	const char *state = cli_state_home(&arena), *id;
	struct event_log_info *logs;
	size_t n;
	int r = event_log_list(&arena, state, &logs, &n, err);

	if (r < 0)
		return r;
	id = choose(logs, n, word, os_realpath(&arena, "."));
	if (!id && !word)
		id = choose(logs, n, NULL, NULL);
	if (id)
		return read_all(state, id, fn, ctx, err);
	if (word) {
		err_usage(err, "there is no log of a session '%s'", word);
		err_hint(err, "a session in which nothing happened has none; without a name it is "
			      "the latest");
	} else {
		err_set(err, ENOENT, "no session has recorded anything yet");
	}
	return -ENOENT;
}
