/* SPDX-License-Identifier: MIT */
/*
 * Silence alone proves little: a compiler is silent, and so is an agent that waits for its model. So after
 * some of it the processes inside are looked at. One that is blocked in read(2) on the terminal waits for
 * sure, and is told after three seconds. Otherwise nothing may run or use the processor for as long as the
 * user has set.
 */
#include "notify/watcher.h"

#include <fcntl.h>
#include <string.h>

#include "os/fs.h"
#include "os/linux/kernel.h"

#define WAITING "waiting" /* one bubble for all that says so */

#define SURE_SECONDS 3
#define BELL_SECONDS 10
#define PROCESSES_MAX 256

struct look {
	bool reads; /* one of the foreground waits for the terminal */
	bool runs;  /* one is at work in this moment */
	uint64_t cpu;
	unsigned n;
};

static char *read_proc(pid_t pid, const char *name)
{
	char path[80], *text = NULL;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return os_read_file_at(AT_FDCWD, path, 16384, &text, NULL) < 0 ? NULL : text;
}

/* In read(2) of a terminal, right now. */
static bool reads_terminal(pid_t pid)
{
	_cleanup_free_ char *call = read_proc(pid, "syscall");
	char path[64], target[64];
	unsigned long fd;
	long number;
	ssize_t n;

	if (!call || sscanf(call, "%ld %lx", &number, &fd) != 2 || number != SYS_read)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd/%lu", (int)pid, fd);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	return !strncmp(target, "/dev/pts/", 9) || !strcmp(target, "/dev/tty");
}

static void look_at(struct look *look, pid_t pid)
{
	_cleanup_free_ char *stat = read_proc(pid, "stat");
	const char *after = stat ? strrchr(stat, ')') : NULL;
	unsigned long user = 0, system = 0;
	int group = 0, foreground = 0;
	char state = 0;

	if (!after || sscanf(after + 1, " %c %*d %d %*d %*d %d %*u %*u %*u %*u %*u %lu %lu", &state,
			     &group, &foreground, &user, &system) != 5)
		return;
	look->cpu += user + system;
	look->runs |= state == 'R' || state == 'D';
	if (group == foreground && state == 'S')
		look->reads |= reads_terminal(pid);
}

/* All of the sandbox, from PID 1 down. */
static void look_below(struct look *look, pid_t pid, unsigned depth)
{
	_cleanup_free_ char *children = NULL;
	char name[48], *word, *rest;

	snprintf(name, sizeof(name), "task/%d/children", (int)pid);
	children = depth < 32 ? read_proc(pid, name) : NULL;
	rest = children;
	while (rest && (word = strsep(&rest, " ")) && look->n < PROCESSES_MAX) {
		pid_t child = (pid_t)strtol(word, NULL, 10);

		if (child <= 0)
			continue;
		look->n++;
		look_at(look, child);
		look_below(look, child, depth + 1);
	}
}

static void on_tick(struct ticker *ticker)
{
	struct watcher *w = container_of(ticker, struct watcher, ticker);
	int64_t now = os_seconds(), silence = waiting_silence(&w->waiting, now);
	struct look look = { .n = 0 };

	if (!silence || silence < MIN(w->idle, SURE_SECONDS))
		return;
	look_below(&look, w->init, 0);
	/* A hundredth of a second now and then is a timer, not work. */
	if (!look.reads && (look.runs || look.cpu > w->cpu + 2)) {
		w->cpu = look.cpu;
		w->waiting.output_at = now;
		return;
	}
	w->cpu = look.cpu;
	if (!look.reads && silence < w->idle)
		return;
	doorbell_say(w->bell, WAITING, w->title,
		     look.reads ? "Waiting for input" : "Silent, perhaps waiting for you");
	waiting_told(&w->waiting);
}

static void on_bell(void *ctx)
{
	struct watcher *w = ctx;
	int64_t now = os_seconds();

	if (!w->idle || (w->rung && now - w->rung < BELL_SECONDS))
		return;
	w->rung = now;
	doorbell_say(w->bell, WAITING, w->title, "Rang the bell");
}

static void on_text(void *ctx, const char *title, const char *text)
{
	struct watcher *w = ctx;

	if (w->idle)
		doorbell_say(w->bell, WAITING, *title ? title : w->title, text);
}

static void on_focus(void *ctx, bool here)
{
	doorbell_focus(((struct watcher *)ctx)->bell, here);
}

int watcher_start(struct watcher *w, struct loop *loop, struct doorbell *bell, pid_t init,
		  uint64_t idle, const char *title, struct err *err)
{
	*w = (struct watcher){
		.bell = bell,
		.waiting.hooks = { on_bell, on_text, on_focus, w },
		.idle = (int64_t)idle,
		.init = init,
	};
	snprintf(w->title, sizeof(w->title), "%s", title);
	if (!idle)
		return 0;
	if (ticker_start(&w->ticker, loop, on_tick, err) < 0) {
		w->bell = NULL;
		return -err->code;
	}
	ticker_run(&w->ticker, true);
	return 0;
}

void watcher_bytes(struct watcher *w, bool from_user, const char *bytes, size_t len)
{
	if (!w->bell)
		return;
	if (from_user)
		waiting_input(&w->waiting, bytes, len);
	else
		waiting_output(&w->waiting, bytes, len, os_seconds());
}

void watcher_stop(struct watcher *w)
{
	ticker_stop(&w->ticker);
	w->bell = NULL;
}
