/* SPDX-License-Identifier: MIT */
/*
 * Settings that change while a command runs; see config_watch.h.
 *
 * The files are looked at fifty times a second, and soon again when one is another. The kernel could tell of changes (inotify), but it
 * makes whoever watches anything wait for 10 ms and more at his end, and most commands are shorter.
 * A file that changes between two looks is being written, and is told of when it stays the same.
 */
#include "session/config_watch.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "os/timer.h"

#define LOOK_MS 20 /* two looks make a change: within 100 ms, on a busy machine too */
#define SOON_MS 15

static bool is_blank(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!text[i] || !strchr(" \t\r\n", text[i]))
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

void config_watch_bytes(struct config_watch *w, const char *data, size_t len)
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

void config_watch_end(struct config_watch *w)
{
	if (w->line.len || w->too_long)
		end_line(w);
}

static void close_control(struct config_watch *w)
{
	config_watch_end(w);
	loop_remove(w->loop, &w->control);
	w->control.fd = -1;
}

/* Returns what is left to read, as read(2) does. */
static ssize_t read_control(struct config_watch *w)
{
	char buf[16384];
	ssize_t n = read(w->control.fd, buf, sizeof(buf));

	if (n > 0)
		config_watch_bytes(w, buf, (size_t)n);
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

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* One that is not there is all zeroes. */
static struct stat look(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st : (struct stat){ 0 };
}

/* True when it is another than was told of, and has come to rest; restless: it is being written. */
static bool has_changed(struct config_file *file, bool *restless)
{
	struct stat now = look(file->path);
	bool rests = is_same(&now, &file->seen);

	file->seen = now;
	*restless |= !rests;
	if (!rests || (is_same(&now, &file->told) && !file->late))
		return false;
	file->told = now;
	file->late = false;
	return true;
}

/* The times of files are those of the kernel's last tick. */
void config_watch_mark(struct config_watch *w)
{
	const long tick = 20000000;

	clock_gettime(CLOCK_REALTIME, &w->since);
	w->since.tv_sec -= w->since.tv_nsec < tick;
	w->since.tv_nsec += w->since.tv_nsec < tick ? 1000000000 - tick : -tick;
}

static bool is_since(const struct config_watch *w, const struct stat *st)
{
	return w->since.tv_sec &&
	       (st->st_ctim.tv_sec > w->since.tv_sec ||
		(st->st_ctim.tv_sec == w->since.tv_sec && st->st_ctim.tv_nsec >= w->since.tv_nsec));
}

/* Whether it is another than was read, perhaps: of one that is not there its directory tells. */
static bool is_late(const struct config_watch *w, const struct config_file *file)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct stat dir;

	if (file->seen.st_ino) /* what came by a pipe has been read */
		return S_ISREG(file->seen.st_mode) && is_since(w, &file->seen);
	dir = look(path_parent(&arena, file->path));
	return dir.st_ino && is_since(w, &dir);
}

static int set_timer(const struct config_watch *w, unsigned first_ms)
{
	return os_timer_set(w->timer.fd, first_ms, LOOK_MS);
}

static int on_timer(struct loop_source *source, uint32_t events, struct err *err)
{
	struct config_watch *w = container_of(source, struct config_watch, timer);
	bool changed = false, restless = false;

	(void)events;
	(void)err;
	if (!os_timer_take(source->fd))
		return 0;
	for (size_t i = 0; i < w->n_files; i++)
		changed |= has_changed(&w->files[i], &restless);
	if (restless)
		(void)set_timer(w, SOON_MS); /* else in its own time */
	if (changed)
		w->hooks.on_file(w->hooks.ctx);
	return 0;
}

static int watch_files(struct config_watch *w, const struct strv *paths, struct err *err)
{
	w->timer = (struct loop_source){
		.fd = os_timer_open(),
		.on_event = on_timer,
	};
	w->files = calloc(paths->len, sizeof(*w->files));
	if (w->timer.fd < 0 || !w->files || set_timer(w, LOOK_MS) < 0)
		return err_errno(err, errno, "watching '%s'", paths->v[0]);
	for (size_t i = 0; i < paths->len; i++) {
		struct config_file *file = &w->files[i];

		file->path = strdup(paths->v[i]);
		if (!file->path)
			return err_errno(err, ENOMEM, "watching '%s'", paths->v[i]);
		w->n_files++;
		file->told = file->seen = look(file->path);
		file->late = is_late(w, file);
	}
	return loop_add(w->loop, &w->timer, LOOP_IN, err);
}

/* A file cannot be waited for: it is read, as far as it reaches now. Neither can a device like /dev/zero, which ends nowhere:
 * if there is anything to read from it, it is of no use. */
static int read_file(struct config_watch *w)
{
	struct stat st;
	bool regular = fstat(w->control.fd, &st) == 0 && S_ISREG(st.st_mode);
	off_t left = regular ? st.st_size : 0;
	ssize_t n = 0;
	char byte;

	if (!regular)
		return (n = read(w->control.fd, &byte, 1)) < 0 ? -errno : n ? -EOPNOTSUPP : 0;
	while (left > 0 && ((n = read_control(w)) > 0 || n == -EINTR))
		left -= MAX(n, 0);
	return (int)MIN(n, 0);
}

static int watch_control(struct config_watch *w, int fd, struct err *err)
{
	struct err ignored;
	int r;

	w->control = (struct loop_source){ .fd = fd, .on_event = on_control };
	if (loop_add(w->loop, &w->control, LOOP_IN, &ignored) == 0)
		return 0;
	if (ignored.code != EPERM)
		return *err = ignored, -err->code;
	r = read_file(w);
	close_control(w);
	if (r < 0)
		w->hooks.on_lost(w->hooks.ctx, r);
	return 0;
}

int config_watch_start(struct config_watch *w, struct loop *loop, int control_fd,
		       const struct strv *paths, const struct config_watch_hooks *hooks,
		       struct err *err)
{
	const struct timespec since = w->since;
	int r = 0;

	*w = (struct config_watch)CONFIG_WATCH_NONE;
	w->since = since;
	w->loop = loop;
	w->hooks = *hooks;
	if (paths && paths->len)
		r = watch_files(w, paths, err);
	if (r == 0 && control_fd >= 0)
		r = watch_control(w, control_fd, err);
	return r;
}

void config_watch_overrule(struct config_watch *w)
{
	for (size_t i = 0; i < w->n_files; i++)
		w->files[i].late = false;
}

void config_watch_stop(struct config_watch *w)
{
	if (!w->loop)
		return;
	if (w->control.fd >= 0)
		loop_remove(w->loop, &w->control);
	if (w->timer.fd >= 0) {
		loop_remove(w->loop, &w->timer);
		close(w->timer.fd);
	}
	for (size_t i = 0; i < w->n_files; i++)
		free(w->files[i].path);
	free(w->files);
	str_release(&w->line);
	*w = (struct config_watch)CONFIG_WATCH_NONE;
}
