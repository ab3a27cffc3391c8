/* SPDX-License-Identifier: MIT */
/* The part of a stream's reading that all dialects share. */
#include "ralph/stream.h"

#include <string.h>

#include "base/json.h"
#include "ralph/lines.h"

enum { ERRORS_MAX = 4000 };

const struct dialect *dialect_find(const char *name)
{
	static const struct dialect *const all[] = {
		&dialect_claude,
		&dialect_codex,
		&dialect_gemini,
		&dialect_opencode,
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (!strcmp(all[i]->name, name))
			return all[i];
	return NULL;
}

struct json_object *stream_get(struct json_object *object, const char *key)
{
	return json_object_is_type(object, json_type_object) ? json_object_object_get(object, key)
							     : NULL;
}

double stream_number(struct json_object *object, const char *key)
{
	struct json_object *value = stream_get(object, key);
	double n = json_object_is_type(value, json_type_double) ||
				   json_object_is_type(value, json_type_int)
			   ? json_object_get_double(value)
			   : 0;

	return n > 0 && n < 1e9 ? n : 0;
}

uint64_t stream_count(struct json_object *object, const char *key)
{
	return (uint64_t)stream_number(object, key);
}

/* One line for the eye: blanks run together, and it ends where a character does. */
void stream_show(struct stream *stream, enum act act, const char *prefix, const char *text)
{
	char line[ACT_TEXT_MAX + 8];
	size_t n = 0;

	if (!stream->show)
		return;
	for (const char *p = prefix; *p && n < ACT_TEXT_MAX / 2; p++)
		line[n++] = *p;
	if (n && text && *text)
		line[n++] = ' ';
	while (text && *text) {
		bool blank = *text == ' ' || *text == '\n' || *text == '\t' || *text == '\r';
		uint32_t cp;
		size_t len = utf8_next(text, SIZE_MAX, &cp);

		len = MAX(len, (size_t)1);
		if (n + len > ACT_TEXT_MAX - 3) {
			memcpy(line + n, "...", 3);
			n += 3;
			break;
		}
		if (!blank || (n && line[n - 1] != ' ')) {
			memcpy(line + n, blank ? " " : text, blank ? 1 : len);
			n += blank ? 1 : len;
		}
		text += len;
	}
	line[n] = '\0';
	stream->show(stream->ctx, act, line);
}

/* The latest ones count: what the next try should know is how this one ended. */
void stream_error(struct stream *stream, const char *text)
{
	enum { ONE_MAX = 1200 };
	size_t len = strlen(text);

	if (stream->errors.len + MIN(len, (size_t)ONE_MAX) > ERRORS_MAX)
		stream->errors.len = 0;
	str_addn(&stream->errors, text, MIN(len, (size_t)ONE_MAX));
	str_add(&stream->errors, "\n");
	stream_show(stream, ACT_ERROR, "", text);
}

void stream_line(struct stream *stream, const char *line, size_t len)
{
	_cleanup_json_ struct json_object *record = NULL;
	struct err ignored; /* counted, and shown as it is */
	const char *type;
	char note[64];

	if (!line) {
		snprintf(note, sizeof(note), "a line of %zu bytes was passed over", len);
		stream->noise++;
		stream_show(stream, ACT_NOISE, "", note);
		return;
	}
	if (!len)
		return;
	if (line[0] == '{' &&
	    json_parse_max(line, len, LINES_MAX, "stream", &record, &ignored) == 0) {
		type = json_text(record, "type");
		stream->records++;
		if (stream->dialect->record(stream, type ? type : "", record))
			return;
		stream->records--;
	}
	stream->noise++;
	stream_show(stream, ACT_NOISE, "", line);
}

void stream_release(struct stream *stream)
{
	str_release(&stream->final);
	str_release(&stream->errors);
}
