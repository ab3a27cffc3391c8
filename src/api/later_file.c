/* SPDX-License-Identifier: MIT */
/*
 * Notes that outlive the process which made them: one JSON object a line, written before the change that it is about.
 * The file lies where no sandbox reaches.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>

#include "api/later_priv.h"
#include "base/json.h"
#include "base/str.h"
#include "os/fs.h"

/* Every byte of a text may need six. */
#define LINE_MAX_BYTES ((size_t)8 * LATER_TEXT_MAX + 65536)

void later_write(const struct later *later, const struct later_file *file)
{
	_cleanup_str_ struct str line = { 0 };

	if (!later->file)
		return;
	str_add(&line, "{\"path\": ");
	json_add_string(&line, file->path);
	str_addf(&line, ", \"mode\": %u, \"tree\": %s, \"size\": %lld, \"s\": %lld, \"ns\": %ld",
		 (unsigned)file->mode, file->tree ? "true" : "false", (long long)file->size,
		 (long long)file->ctime.tv_sec, file->ctime.tv_nsec);
	str_addf(&line, ", \"hash\": \"%s\"", file->hash);
	if (file->text) {
		str_add(&line, ", \"text\": ");
		json_add_string(&line, file->text);
	}
	str_add(&line, "}\n");
	/* A disk that is full costs what is told after a kill, and nothing else. */
	(void)os_write_all(later->file, line.s, line.len);
}

static int64_t number(struct json_object *line, const char *key)
{
	return json_object_get_int64(json_object_object_get(line, key));
}

static void take(struct later *later, struct json_object *line)
{
	const char *path = json_text(line, "path");
	const char *hash = json_text(line, "hash");
	struct json_object *text = json_object_object_get(line, "text");
	struct later_file *file = path && !later_is_noted(later, path)
					  ? later_add(later, path, NULL)
					  : NULL;

	if (!file)
		return;
	file->mode = (mode_t)number(line, "mode");
	file->tree = json_object_get_boolean(json_object_object_get(line, "tree"));
	file->size = number(line, "size");
	file->ctime = (struct timespec){ number(line, "s"), (long)number(line, "ns") };
	snprintf(file->hash, sizeof(file->hash), "%s", hash ? hash : "");
	if (text) {
		file->len = (size_t)json_object_get_string_len(text);
		file->text = arena_strndup(&later->arena, json_object_get_string(text), file->len);
	}
}

void later_read(struct later *later, int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_fclose_ FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	_cleanup_free_ char *text = NULL;
	struct err ignored;
	size_t room = 0;
	ssize_t n;

	later->noted = true;
	while (f && (n = getline(&text, &room, f)) > 0) {
		_cleanup_json_ struct json_object *line = NULL;

		/* The last one may be torn. */
		if (json_parse_max(text, (size_t)n, LINE_MAX_BYTES, "notes", &line, &ignored) ==
			    0 &&
		    json_object_is_type(line, json_type_object))
			take(later, line);
	}
}
