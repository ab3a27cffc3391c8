/* SPDX-License-Identifier: MIT */
/*
 * Writing the event log.
 *
 * A line is one write(2) to a file opened for appending, so that a kill -9 leaves whole lines and at
 * most one cut short; nothing is synced. Denials wait for up to a second and are counted when they
 * come again, which is also what makes one line of the two questions (IPv4, IPv6) of each lookup.
 *
 * What a sandbox controls: what happens, and how often. It cannot make the log large (two files: the
 * first stays as it is when it is full, the second is begun anew) nor push its own beginning out of
 * it, and beyond some number a second lines are counted and not written. Each gap is a line that says
 * how much is missing.
 *
 * Where the project holds the state directory, a sandbox can also put links there: the directory is
 * not opened through one, files are made new, and only names of logs are ever removed.
 */
#include "session/events.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "net/filter.h"
#include "os/fs.h"
#include "os/timer.h"
#include "session/store.h"

#define COMMAND_MAX 4096 /* bytes of the command in the header */

void event_log_init(struct event_log *log, const char *state_home, const struct session_info *about,
		    const struct fix_place *place, const struct event_log_hooks *hooks)
{
	*log = (struct event_log){
		.state_home = state_home,
		.about = *about,
		.place = *place,
		.started = os_real_ms(),
		.hooks = *hooks,
		.timer.fd = -1,
		.dir = -1,
		.head = -1,
		.fd = -1,
	};
}

/* --- lines --- */

static void add_time(struct str *out, const char *key, int64_t time)
{
	json_add_key(out, key);
	str_add(out, "\"");
	event_time_add(out, time);
	str_add(out, "\"");
}

static void add_header(struct str *out, const struct event_log *log)
{
	const struct session_info *about = &log->about;
	char command[COMMAND_MAX];

	snprintf(command, sizeof(command), "%s", about->command ? about->command : "");
	str_add(out, "{");
	json_add_count(out, "v", EVENTS_VERSION);
	json_add_member(out, "id", about->id);
	json_add_member(out, "name", about->name);
	json_add_member(out, "dir", about->dir);
	json_add_member(out, "engine", about->engine);
	json_add_member(out, "network", about->network);
	json_add_member(out, "command", command);
	json_add_member(out, "policy", fix_dialect_name(log->place.dialect));
	json_add_member(out, "settings", log->place.file);
	add_time(out, "started", log->started);
	str_add(out, "}");
}

/* --- files --- */

static void say_failed(struct event_log *log, struct err *err)
{
	if (log->failed)
		return;
	log->failed = true;
	err_wrap(err, "'wrapix log' will not show all of this session");
	if (log->hooks.failed)
		log->hooks.failed(log->hooks.ctx, err);
}

/* One line, with its end, in one write. */
static void put(struct event_log *log, struct str *line)
{
	_cleanup_str_ struct str whole = { 0 };
	struct err err;
	int r;

	str_addf(&whole, "%s%s\n", log->torn ? "\n" : "", line->s);
	r = os_write_all(log->fd, whole.s, whole.len);
	log->torn = r < 0;
	if (r < 0) {
		log->lost++;
		err_errno(&err, -r, "writing its log");
		say_failed(log, &err);
		return;
	}
	log->size += whole.len;
	log->events++;
}

static void begin_file(struct event_log *log, int fd)
{
	_cleanup_str_ struct str header = { 0 };

	log->fd = fd;
	log->size = 0;
	log->torn = false;
	add_header(&header, log);
	put(log, &header);
	log->events = 0; /* the header is none */
}

/* A file must not grow to where the kernel kills us for it. */
static int find_size_max(struct event_log *log, struct err *err)
{
	struct rlimit limit;

	log->size_max = EVENTS_FILE_MAX;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < log->size_max)
		log->size_max = limit.rlim_cur;
	if (log->size_max < 2 * EVENTS_LINE_MAX)
		return err_errno(err, EFBIG, "the limit for the size of files (ulimit -f)");
	return 0;
}

static int open_files(struct event_log *log, struct err *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int r = find_size_max(log, err);

	if (r < 0)
		return r;
	log->dir = store_open(log->state_home, true, err);
	if (log->dir < 0)
		return log->dir;
	log->head = store_create(log->dir, log->about.id, STORE_HEAD);
	if (log->head < 0)
		return err_errno(err, -log->head, "making its log in '%s/wrapix/log'",
				 log->state_home);
	/* Where the file system has no locks, the log is complete for its readers at any time. */
	(void)fcntl(log->head, F_SETLK, &lock);
	begin_file(log, log->head);
	if (!log->size) { /* which was told; without its first line it is none */
		store_remove(log->dir, log->about.id, STORE_HEAD);
		log->fd = -1;
		return err_errno(err, ENOSPC, "writing its log");
	}
	store_prune(log->dir, log->about.id, EVENTS_KEPT);
	return 0;
}

/* Makes the log when it is not there; false when it cannot be. */
static bool is_open(struct event_log *log)
{
	struct err err;

	if (log->fd >= 0)
		return true;
	if (log->failed || log->head >= 0)
		return false;
	if (open_files(log, &err) < 0) {
		say_failed(log, &err);
		return false;
	}
	if (log->hooks.opened)
		log->hooks.opened(log->hooks.ctx);
	return true;
}

/* The first file stays; the second makes room for the latest. */
static void next_file(struct event_log *log)
{
	struct err err;
	int fd;

	if (log->fd != log->head) {
		close(log->fd);
		log->lost += log->events;
	}
	log->fd = -1;
	fd = store_create(log->dir, log->about.id, STORE_TAIL);
	if (fd < 0) {
		err_errno(&err, -fd, "making a second file of its log");
		say_failed(log, &err);
		return;
	}
	begin_file(log, fd);
}

static void put_gap(struct event_log *log)
{
	_cleanup_str_ struct str line = { 0 };
	uint64_t lost = log->lost;

	if (!lost)
		return;
	log->lost = 0;
	str_add(&line, "{");
	add_time(&line, "t", os_real_ms());
	json_add_member(&line, "type", "truncated");
	json_add_count(&line, "lost", lost);
	str_add(&line, "}");
	put(log, &line);
	/* This line stands for them, also when it goes; put() has counted it as one. */
	*(log->torn ? &log->lost : &log->events) += lost - 1;
}

/* What a line is, beyond its text. */
enum { LINE_DENIED = 1, LINE_LAST = 2 /* whatever the number of lines in this second */ };

/* The line '{"t":TIME,BODY}'. */
static void add_line(struct event_log *log, int64_t time, const char *body, int flags)
{
	_cleanup_str_ struct str line = { 0 };
	int64_t second = os_real_ms() / 1000;

	if (second != log->second) {
		log->second = second;
		log->in_second = 0;
	}
	if (!(flags & LINE_LAST) && log->in_second++ >= EVENTS_PER_SECOND) {
		log->lost++;
		return;
	}
	str_add(&line, "{");
	add_time(&line, "t", time);
	str_addf(&line, ",%s}", body);
	if ((flags & LINE_DENIED) && log->hooks.denied)
		log->hooks.denied(log->hooks.ctx, line.s);
	if (!is_open(log))
		return;
	/* With room for a line about a gap. */
	if (log->size + line.len + 256 > log->size_max)
		next_file(log);
	if (log->fd < 0)
		return;
	put_gap(log);
	put(log, &line);
}

/* --- denials --- */

void event_log_flush(struct event_log *log)
{
	for (size_t i = 0; i < log->n_pending; i++) {
		struct event_pending *p = &log->pending[i];
		_cleanup_str_ struct str body = { 0 };

		str_add(&body, p->body);
		if (p->count > 1)
			json_add_count(&body, "count", p->count);
		if (p->process) {
			json_add_key(&body, "process");
			str_add(&body, p->process);
		}
		add_line(log, p->time, body.s, LINE_DENIED);
		free(p->body);
		free(p->process);
	}
	log->n_pending = 0;
}

static int on_timer(struct loop_source *source, uint32_t events, struct err *err)
{
	struct event_log *log = container_of(source, struct event_log, timer);

	(void)events;
	(void)err;
	if (os_timer_take(source->fd))
		event_log_flush(log);
	return 0;
}

/* In a second all that waits is written. Without a timer it waits for the next event. */
static void start_second(struct event_log *log)
{
	struct err ignored;

	if (!log->loop)
		return;
	if (log->timer.fd < 0) {
		log->timer = (struct loop_source){
			.fd = os_timer_open(),
			.on_event = on_timer,
		};
		if (log->timer.fd >= 0)
			(void)loop_add(log->loop, &log->timer, LOOP_IN, &ignored);
	}
	if (log->timer.fd >= 0)
		(void)os_timer_set(log->timer.fd, 1000, 0);
}

/* The same, where one of them may not know its process. */
static bool is_same(const struct event_pending *p, const char *body, const char *process)
{
	return !strncmp(p->body, body, p->known) && !body[p->known] &&
	       (!p->process || !process || !strcmp(p->process, process));
}

/* malloc'ed */
static char *whole(const char *body, const struct event_more *more)
{
	struct str out = { 0 };

	str_add(&out, body);
	if (more)
		more->add(more->ctx, &out);
	return out.s;
}

/* What 'more' would add to the body follows from it. */
static void add_denial(struct event_log *log, const char *body, struct event_more *more,
		       const char *process)
{
	struct event_pending *p = log->pending, *end = p + log->n_pending;

	if (log->n_pending && os_real_ms() - p->time >= 1000)
		event_log_flush(log);
	for (end = p + log->n_pending; p < end && !is_same(p, body, process); p++)
		;
	if (p == end) {
		if (log->n_pending == EVENTS_PENDING)
			event_log_flush(log);
		p = &log->pending[log->n_pending];
		*p = (struct event_pending){ .body = whole(body, more),
					     .known = strlen(body),
					     .time = os_real_ms() };
		if (!p->body) {
			log->lost++;
			return;
		}
		if (log->n_pending++ == 0)
			start_second(log);
	}
	p->count += more && more->times ? more->times : 1;
	if (!p->process && process)
		p->process = strdup(process);
}

/* --- what happens --- */

/* {"pid":12,"comm":"curl","argv":["curl","https://..."]}; malloc'ed. */
static char *make_process_text(const struct owner *owner)
{
	struct str out = { 0 };
	const char *p, *end;

	str_add(&out, "{");
	json_add_count(&out, "pid", (uint64_t)owner->pid);
	json_add_member(&out, "comm", owner->comm);
	json_add_key(&out, "argv");
	str_add(&out, "[");
	end = owner->args + owner->len;
	for (p = owner->args; p < end; p += strlen(p) + 1) {
		str_add(&out, p > owner->args ? "," : "");
		json_add_string(&out, p);
	}
	str_add(&out, "]");
	for (size_t i = 0; i < owner->n_parents; i++) {
		str_addf(&out, "%s{", i ? "," : ",\"parents\":[");
		json_add_count(&out, "pid", (uint64_t)owner->parents[i].pid);
		json_add_member(&out, "comm", owner->parents[i].comm);
		str_add(&out, "}");
	}
	str_add(&out, owner->n_parents ? "]" : "");
	str_add(&out, owner->likely ? ",\"predicted\":true}" : "}");
	return out.s;
}

/* NULL for nobody. Of a flood all are mostly one's. */
static const char *process_text(struct event_log *log, const struct owner *owner)
{
	if (!owner || (log->owner && owner == log->owner))
		return owner ? log->process : NULL;
	owner_unref(log->owner);
	log->owner = NULL;
	free(log->process);
	log->process = make_process_text(owner);
	if (owner->refs) { /* as long as we hold it nobody else has its address */
		log->owner = (struct owner *)owner;
		log->owner->refs++;
	}
	return log->process;
}

void event_log_refusal(struct event_log *log, const char *members, struct event_more *more,
		       const struct owner *owner)
{
	add_denial(log, members, more, process_text(log, owner));
}

void event_log_members(struct event_log *log, const char *members, bool denied,
		       const struct owner *owner)
{
	const char *process = process_text(log, owner);
	_cleanup_str_ struct str body = { 0 };

	if (denied) {
		add_denial(log, members, NULL, process);
		return;
	}
	str_add(&body, members);
	if (process) {
		json_add_key(&body, "process");
		str_add(&body, process);
	}
	add_line(log, os_real_ms(), body.s, 0);
}

void event_log_watch(struct event_log *log, struct loop *loop)
{
	if (!loop && log->timer.fd >= 0) {
		loop_remove(log->loop, &log->timer);
		close(take_fd(&log->timer.fd));
	}
	log->loop = loop;
}

/* What our children took: the sandbox, and the programs of its network; where a group counted, the
 * sandbox alone. Linux says the size of the largest process, in KiB. */
static void add_usage(struct str *body, const struct cgroup_peaks *peaks)
{
	struct rusage usage;
	uint64_t ms;

	if (getrusage(RUSAGE_CHILDREN, &usage) < 0)
		return;
	ms = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
	     (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
	if (peaks->cpu)
		ms = peaks->cpu / 1000;
	json_add_key(body, "cpu");
	str_addf(body, "%llu.%03llu", (unsigned long long)(ms / 1000),
		 (unsigned long long)(ms % 1000));
	json_add_count(body, "memory", (uint64_t)usage.ru_maxrss * 1024);
	if (peaks->memory)
		json_add_count(body, "peakMemory", peaks->memory);
	if (peaks->processes)
		json_add_count(body, "peakProcesses", peaks->processes);
}

void event_log_peaks(struct event_log *log, const struct cgroup_peaks *peaks)
{
	log->peaks = *peaks;
}

void event_log_close(struct event_log *log, int status)
{
	_cleanup_str_ struct str body = { 0 };

	event_log_watch(log, NULL);
	event_log_flush(log);
	event_log_exit(log, status);
	json_add_member(&body, "type", "exit");
	if (status >= 0)
		json_add_count(&body, "status", (uint64_t)status);
	add_usage(&body, &log->peaks);
	if (log->fd >= 0)
		add_line(log, os_real_ms(), body.s, LINE_LAST);
	if (log->fd >= 0 && log->fd != log->head)
		close(log->fd);
	if (log->head >= 0)
		close(log->head);
	if (log->dir >= 0)
		close(log->dir);
	log->dir = log->head = log->fd = -1;
	owner_unref(log->owner);
	log->owner = NULL;
	free(log->process);
	log->process = NULL;
	denial_texts_release(&log->texts);
	log->failed = true; /* nothing comes after the end */
}
