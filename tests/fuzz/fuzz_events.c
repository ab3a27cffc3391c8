/* SPDX-License-Identifier: MIT */
/*
 * The bytes as an event log. Whatever they are, the reader ends; each event is one line of visible
 * text, and as JSON it is the same event again.
 */
#include <string.h>
#include <sys/mman.h>

#include "os/fs.h"
#include "session/events.h"
#include "fuzz.h"

static void check_visible(const struct str *text)
{
	for (const char *p = text->s; *p;) {
		uint32_t cp = 0;
		size_t n = utf8_next(p, SIZE_MAX, &cp);

		check(n && utf8_visible(cp));
		p += n;
	}
}

static void check_event(struct json_object *event)
{
	_cleanup_str_ struct str text = { 0 }, json = { 0 }, again = { 0 };
	_cleanup_json_ struct json_object *copy = NULL;
	struct err err;

	event_add_text(&text, event);
	check(text.s && text.len == strlen(text.s));
	check_visible(&text);
	event_add_json(&json, event);
	check_visible(&json);
	/* Escapes may have made the line longer than a line may be, so not by event_parse(). */
	check(json_parse(json.s, json.len, "f", &copy, &err) == 0);
	check(event_is_header(copy) == event_is_header(event));
	event_add_json(&again, copy);
	check(!strcmp(json.s, again.s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("log", MFD_CLOEXEC);
	struct event_reader reader;
	struct json_object *event;
	size_t events = 0, lines = 0;

	check(fd >= 0 && os_write_all(fd, data, size) == 0 && lseek(fd, 0, SEEK_SET) == 0);
	event_reader_from(&reader, fd);
	while (event_reader_next(&reader, &event) > 0) {
		check_event(event);
		json_object_put(event);
		events++;
	}
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	check(events + reader.bad == lines || size > EVENTS_LINE_MAX);
	event_reader_finish(&reader);
	check(events + reader.bad == lines + (size && data[size - 1] != '\n'));
	event_reader_close(&reader);
	return 0;
}
