/* SPDX-License-Identifier: MIT */
/* Reading logs, and throwing old ones away. */
#include "ralph/logs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "os/dir.h"
#include "ralph/lines.h"

static void on_line(void *ctx, const char *line, size_t len)
{
	stream_line(ctx, line, len);
}

int log_read(const struct work *work, const char *name, bool tail, stream_fn *show, void *ctx,
	     struct err *err)
{
	enum { TAIL = 65536 };
	struct arena arena = { 0 };
	struct stream stream = { .dialect = work->dialect, .show = show, .ctx = ctx };
	struct lines lines = { .on_line = on_line, .ctx = &stream };
	_cleanup_close_ int fd = open(work_file(work, &arena, "%s", name), O_RDONLY | O_CLOEXEC);
	char buf[65536];
	ssize_t n = 0;

	arena_release(&arena);
	if (fd < 0)
		return err_errno(err, errno, "opening the log '%s'", name);
	if (tail)
		(void)lseek(fd, -TAIL, SEEK_END); /* a shorter one is read whole */
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		lines_feed(&lines, buf, (size_t)n);
	lines_end(&lines);
	lines_release(&lines);
	stream_release(&stream);
	return n < 0 ? err_errno(err, errno, "reading the log '%s'", name) : 0;
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* The numbers of the steps that have a log, newest first. */
static size_t list(DIR *dir, struct arena *arena, int64_t **ret)
{
	struct dirent *entry;
	size_t n = 0;

	while ((entry = os_dir_next(dir))) {
		char *end;
		int64_t number = strtoll(entry->d_name, &end, 10);

		if (end != entry->d_name && !strcmp(end, ".jsonl"))
			*(int64_t *)arena_grow(arena, ret, &n, sizeof(number)) = number;
	}
	if (n)
		qsort(*ret, n, sizeof(**ret), by_number);
	return n;
}

void logs_rotate(const struct work *work)
{
	static const char *const kinds[] = { "jsonl", "err" };
	struct arena arena = { 0 };
	_cleanup_dir_ DIR *dir = opendir(work_file(work, &arena, "logs"));
	int64_t *numbers = NULL;
	size_t n = list(dir, &arena, &numbers);

	for (size_t i = (size_t)work->config.keep_logs; i < n; i++)
		for (size_t k = 0; k < ARRAY_LEN(kinds); k++) /* what stays is tried next time */
			(void)unlink(work_file(work, &arena, "logs/%lld.%s", (long long)numbers[i],
					       kinds[k]));
	arena_release(&arena);
}
