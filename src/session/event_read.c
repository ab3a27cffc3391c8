/* SPDX-License-Identifier: MIT */
/*
 * Reading event logs: lines out of the one or two files of a log, while it may still be written to.
 *
 * A file may be damaged, or made by somebody else: lines are capped, each is read by the strict JSON
 * reader, and what is no event is counted and passed over.
 */
#include "session/events.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "os/dir.h"
#include "os/fs.h"
#include "session/store.h"

#define READ_MAX ((uint64_t)16 << 20) /* of one file; ours are smaller */
#define TYPE_MAX 32

/* --- a line --- */

static bool parse_digits(const char **p, unsigned n, int *ret)
{
	int value = 0;

	for (unsigned i = 0; i < n; i++, (*p)++) {
		if (**p < '0' || **p > '9')
			return false;
		value = value * 10 + (**p - '0');
	}
	*ret = value;
	return true;
}

bool event_time_parse(const char *text, int64_t *ret)
{
	static const char marks[] = "--T::.Z";
	static const unsigned widths[] = { 4, 2, 2, 2, 2, 2, 3 };
	int v[ARRAY_LEN(widths)];
	struct tm tm = { 0 }, back;
	time_t seconds;

	for (size_t i = 0; i < ARRAY_LEN(widths); i++)
		if (!parse_digits(&text, widths[i], &v[i]) || *text++ != marks[i])
			return false;
	if (*text)
		return false;
	tm = (struct tm){ .tm_year = v[0] - 1900,
			  .tm_mon = v[1] - 1,
			  .tm_mday = v[2],
			  .tm_hour = v[3],
			  .tm_min = v[4],
			  .tm_sec = v[5] };
	seconds = timegm(&tm);
	/* A 31st of February comes back as another day. */
	if (!gmtime_r(&seconds, &back) || back.tm_mon != v[1] - 1 || back.tm_mday != v[2] ||
	    back.tm_hour != v[3] || back.tm_min != v[4])
		return false;
	*ret = (int64_t)seconds * 1000 + v[6];
	return true;
}

void event_time_add(struct str *out, int64_t milliseconds)
{
	time_t seconds = (time_t)(milliseconds / 1000);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm))
		memset(&tm, 0, sizeof(tm));
	str_addf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900, tm.tm_mon + 1,
		 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(milliseconds % 1000));
}

static bool has_time(struct json_object *event, const char *key, int64_t *ret)
{
	const char *text = json_text(event, key);

	return text && event_time_parse(text, ret);
}

bool event_is_header(struct json_object *event)
{
	return json_object_object_get_ex(event, "v", NULL);
}

static bool is_good_header(struct json_object *event)
{
	struct json_object *v = json_object_object_get(event, "v");
	const char *id = json_text(event, "id");
	int64_t time;

	return json_object_is_type(v, json_type_int) &&
	       json_object_get_int64(v) == EVENTS_VERSION && id && strlen(id) < SESSION_ID_MAX &&
	       has_time(event, "started", &time);
}

static bool is_good_event(struct json_object *event)
{
	const char *type = json_text(event, "type");
	int64_t time;

	return type && type[0] && strlen(type) < TYPE_MAX &&
	       type[strspn(type, "abcdefghijklmnopqrstuvwxyz-")] == '\0' &&
	       has_time(event, "t", &time);
}

int event_parse(const char *line, size_t len, struct json_object **ret)
{
	_cleanup_json_ struct json_object *event = NULL;
	struct err ignored;

	if (len > EVENTS_LINE_MAX || json_parse(line, len, "log", &event, &ignored) < 0 ||
	    !json_object_is_type(event, json_type_object))
		return -EINVAL;
	if (!(event_is_header(event) ? is_good_header(event) : is_good_event(event)))
		return -EINVAL;
	*ret = TAKE_PTR(event);
	return 0;
}

/* --- a log --- */

static void begin(struct event_reader *reader, int fd)
{
	struct stat st;

	if (reader->fd >= 0)
		close(reader->fd);
	reader->fd = fd;
	reader->ino = fstat(fd, &st) == 0 ? st.st_ino : 0;
	reader->buffer.len = reader->at = 0;
	reader->skipping = false;
	reader->taken = 0;
}

int event_log_open_dir(const char *state_home, struct err *err)
{
	return store_open(state_home, false, err);
}

void event_reader_from(struct event_reader *reader, int fd)
{
	*reader = (struct event_reader){ .dir = -1, .fd = -1 };
	begin(reader, fd);
}

int event_reader_open(struct event_reader *reader, int dir, const char *id, struct err *err)
{
	int fd = store_read(dir, id, STORE_HEAD);

	if (fd < 0)
		return err_errno(err, -fd, "opening the log of '%s'", id);
	event_reader_from(reader, fd);
	reader->dir = dir;
	snprintf(reader->id, sizeof(reader->id), "%s", id);
	return 0;
}

void event_reader_close(struct event_reader *reader)
{
	if (reader->fd >= 0)
		close(reader->fd);
	str_release(&reader->buffer);
	*reader = (struct event_reader){ .dir = -1, .fd = -1 };
}

pid_t event_reader_writer(const struct event_reader *reader)
{
	_cleanup_close_ int head = -1;

	if (!reader->second_file)
		return os_lock_holder(reader->fd);
	head = store_read(reader->dir, reader->id, STORE_HEAD);
	return head < 0 ? 0 : os_lock_holder(head);
}

/* More bytes of this file behind those that are left; false at its end. */
static bool fill(struct event_reader *reader)
{
	struct str *b = &reader->buffer;
	char bytes[16384];
	ssize_t n;

	if (reader->taken >= READ_MAX)
		return false;
	do {
		n = read(reader->fd, bytes, sizeof(bytes));
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	if (reader->at) {
		known(b->s);
		memmove(b->s, b->s + reader->at, b->len - reader->at);
		b->len -= reader->at;
		reader->at = 0;
	}
	reader->taken += (uint64_t)n;
	str_addn(b, bytes, (size_t)n);
	return true;
}

/* The next whole line; false when there is none now. What is too long for one is passed over. */
static bool next_line(struct event_reader *reader, const char **ret, size_t *ret_len)
{
	struct str *b = &reader->buffer;
	size_t searched = 0;

	for (;;) {
		size_t left = b->len - reader->at;
		const char *start = b->s ? b->s + reader->at : NULL;
		const char *end = NULL;

		known(start || !left);
		if (left > searched)
			end = memchr(start + searched, '\n', left - searched);
		if (end) {
			reader->at += (size_t)(end - start) + 1;
			if (!reader->skipping) {
				*ret = start;
				*ret_len = (size_t)(end - start);
				return true;
			}
			reader->skipping = false;
			searched = 0;
			continue;
		}
		if (left > EVENTS_LINE_MAX) {
			reader->bad += !reader->skipping;
			reader->skipping = true;
			reader->at = b->len;
			left = 0;
		}
		searched = left;
		if (!fill(reader))
			return false;
	}
}

/* The second file, when it is there and not the one that is being read. */
static int open_next(const struct event_reader *reader)
{
	int fd = reader->dir < 0 ? -1 : store_read(reader->dir, reader->id, STORE_TAIL);
	struct stat st;

	if (fd >= 0 && reader->second_file && (fstat(fd, &st) < 0 || st.st_ino == reader->ino)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int next_in_file(struct event_reader *reader, struct json_object **ret)
{
	const char *line;
	size_t len;

	while (next_line(reader, &line, &len)) {
		if (event_parse(line, len, ret) == 0)
			return 1;
		reader->bad++;
	}
	return 0;
}

int event_reader_next(struct event_reader *reader, struct json_object **ret)
{
	for (;;) {
		int fd;

		if (next_in_file(reader, ret))
			return 1;
		fd = open_next(reader);
		if (fd < 0)
			return 0;
		/* The writer goes on in another file: what was written here meanwhile is the last. */
		if (next_in_file(reader, ret)) {
			close(fd);
			return 1;
		}
		event_reader_finish(reader);
		begin(reader, fd);
		reader->second_file = true;
	}
}

void event_reader_finish(struct event_reader *reader)
{
	if (reader->buffer.len > reader->at && !reader->skipping)
		reader->bad++;
	reader->buffer.len = reader->at = 0;
	reader->skipping = true; /* what would come now belongs to that line */
}

/* --- all logs --- */

static char *copy(struct arena *arena, struct json_object *header, const char *key)
{
	const char *text = header ? json_text(header, key) : NULL;

	return arena_strdup(arena, text ? text : "");
}

static bool look_at(struct arena *arena, int dir, const char *id, struct event_log_info *ret)
{
	_cleanup_json_ struct json_object *header = NULL;
	struct event_reader reader = { .dir = -1, .fd = -1 };
	struct err ignored;
	struct stat st;
	int64_t started = 0;

	if (event_reader_open(&reader, dir, id, &ignored) < 0)
		return false;
	if (fstat(reader.fd, &st) == 0 && st.st_size == 0) { /* of a disk that was full */
		event_reader_close(&reader);
		return false;
	}
	if (next_in_file(&reader, &header) && !event_is_header(header)) {
		json_object_put(header);
		header = NULL;
	}
	if (header)
		has_time(header, "started", &started);
	ret->started = started;
	ret->session = (struct session_info){
		.id = arena_strdup(arena, id),
		.name = copy(arena, header, "name"),
		.dir = copy(arena, header, "dir"),
		.engine = copy(arena, header, "engine"),
		.network = copy(arena, header, "network"),
		.command = copy(arena, header, "command"),
		.started = started / 1000,
		.pid = event_reader_writer(&reader),
	};
	event_reader_close(&reader);
	return true;
}

static int by_age(const void *a, const void *b)
{
	const struct event_log_info *x = a, *y = b;

	return x->started < y->started ? -1 : x->started > y->started;
}

int event_log_list(struct arena *arena, const char *state_home, struct event_log_info **ret,
		   size_t *ret_len, struct err *err)
{
	_cleanup_close_ int store = store_open(state_home, false, err);
	_cleanup_dir_ DIR *dir = os_dir_open(store, ".");
	struct dirent *entry;

	*ret = NULL;
	*ret_len = 0;
	if (store == -ENOENT)
		return 0;
	if (store < 0)
		return store;
	while ((entry = os_dir_next(dir))) {
		struct event_log_info info;
		char id[SESSION_ID_MAX];

		if (store_id(entry->d_name, id) && look_at(arena, store, id, &info))
			*(struct event_log_info *)arena_grow(arena, ret, ret_len,
							     sizeof(info)) = info;
	}
	if (*ret_len)
		qsort(*ret, *ret_len, sizeof(**ret), by_age);
	return 0;
}
