/* SPDX-License-Identifier: MIT */
/*
 * Settings that change while a command runs; see config_watch.h.
 *
 * The file is watched by its directory, because editors put a new file in its place. Where it is a
 * symbolic link, the directory of what it leads to is watched as well.
 */
#include "guard/config_watch.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/inotify.h>

#include "base/path.h"
#include "os/fs.h"

#define CHANGES (IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR)

static bool is_blank(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr(" \t\r\n", text[i]))
			return false;
	return true;
}

static void end_line(struct config_watch *w)
{
	size_t len = w->too_long ? CONFIG_LINE_MAX + 1 : w->line.len;

	if (w->too_long || !is_blank(w->line.s, w->line.len))
		w->hooks.on_line(w->hooks.ctx, w->line.s, len);
	str_release(&w->line);
	w->line = (struct str){ 0 };
	w->too_long = false;
}

static void add_bytes(struct config_watch *w, const char *data, size_t len)
{
	while (len) {
		const char *end = memchr(data, '\n', len);
		size_t n = end ? (size_t)(end - data) : len;

		if (w->line.len + n > CONFIG_LINE_MAX)
			w->too_long = true;
		else
			str_addn(&w->line, data, n);
		if (!end)
			return;
		end_line(w);
		data += n + 1;
		len -= n + 1;
	}
}

/* An end without a newline is the end of a line too. */
static void close_control(struct config_watch *w)
{
	if (w->line.len || w->too_long)
		end_line(w);
	loop_remove(w->loop, &w->control);
	w->control.fd = -1;
}

/* Returns what is left to read, as read(2) does. */
static ssize_t read_control(struct config_watch *w)
{
	char buf[16384];
	ssize_t n = read(w->control.fd, buf, sizeof(buf));

	if (n > 0)
		add_bytes(w, buf, (size_t)n);
	return n < 0 ? -errno : n;
}

static int on_control(struct loop_source *source, uint32_t events, struct err *err)
{
	struct config_watch *w = container_of(source, struct config_watch, control);
	ssize_t n = read_control(w);

	(void)events;
	(void)err;
	if (n > 0 || n == -EINTR || n == -EAGAIN)
		return 0;
	close_control(w);
	if (n < 0)
		w->hooks.on_lost(w->hooks.ctx, (int)n);
	return 0;
}

static int on_inotify(struct loop_source *source, uint32_t events, struct err *err)
{
	struct config_watch *w = container_of(source, struct config_watch, inotify);
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool changed = false;
	ssize_t n;

	(void)events;
	(void)err;
	while ((n = read(source->fd, buf, sizeof(buf))) > 0)
		for (char *p = buf; p < buf + n;) {
			const struct inotify_event *event = (void *)p;

			for (size_t i = 0; i < ARRAY_LEN(w->names); i++)
				changed |= event->mask & IN_Q_OVERFLOW ||
					   (w->names[i] && event->wd == w->watches[i] &&
					    event->len && !strcmp(event->name, w->names[i]));
			p += sizeof(*event) + event->len;
		}
	if (changed)
		w->hooks.on_file(w->hooks.ctx);
	return 0;
}

/* A directory that cannot be watched is no reason not to run: the file is then read once. */
static void watch_place(struct config_watch *w, size_t i, const char *path)
{
	struct arena arena = { 0 };
	char *dir = path_parent(&arena, path);

	w->watches[i] = inotify_add_watch(w->inotify.fd, dir, CHANGES);
	if (w->watches[i] >= 0)
		w->names[i] = strdup(path_name(path));
	arena_release(&arena);
}

static int watch_file(struct config_watch *w, const char *path, struct err *err)
{
	struct arena arena = { 0 };
	char *real = os_realpath(&arena, path);

	w->inotify = (struct loop_source){ .fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC),
					   .on_event = on_inotify };
	if (w->inotify.fd < 0) {
		arena_release(&arena);
		return err_errno(err, errno, "watching '%s'", path);
	}
	watch_place(w, 0, path);
	if (real && strcmp(real, path) != 0)
		watch_place(w, 1, real);
	arena_release(&arena);
	return loop_add(w->loop, &w->inotify, EPOLLIN, err);
}

/* A regular file cannot be waited for: it is read to its end. */
static int watch_control(struct config_watch *w, int fd, struct err *err)
{
	struct err ignored;
	ssize_t n;

	w->control = (struct loop_source){ .fd = fd, .on_event = on_control };
	if (loop_add(w->loop, &w->control, EPOLLIN, &ignored) == 0)
		return 0;
	if (ignored.code != EPERM)
		return *err = ignored, -err->code;
	do {
		n = read_control(w);
	} while (n > 0 || n == -EINTR);
	close_control(w);
	if (n < 0)
		w->hooks.on_lost(w->hooks.ctx, (int)n);
	return 0;
}

int config_watch_start(struct config_watch *w, struct loop *loop, int control_fd, const char *path,
		       const struct config_watch_hooks *hooks, struct err *err)
{
	int r = 0;

	*w = (struct config_watch)CONFIG_WATCH_NONE;
	w->loop = loop;
	w->hooks = *hooks;
	if (path)
		r = watch_file(w, path, err);
	if (r == 0 && control_fd >= 0)
		r = watch_control(w, control_fd, err);
	return r;
}

void config_watch_stop(struct config_watch *w)
{
	if (!w->loop)
		return;
	if (w->control.fd >= 0)
		loop_remove(w->loop, &w->control);
	if (w->inotify.fd >= 0) {
		loop_remove(w->loop, &w->inotify);
		close(w->inotify.fd);
	}
	for (size_t i = 0; i < ARRAY_LEN(w->names); i++)
		free(w->names[i]);
	str_release(&w->line);
	*w = (struct config_watch)CONFIG_WATCH_NONE;
}
