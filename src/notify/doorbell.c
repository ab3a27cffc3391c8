/* SPDX-License-Identifier: MIT */
/*
 * From the first ring to the daemon.
 *
 *	listener readable --> connect to the daemon's door --> register with the listener
 *	                       | nobody there
 *	                       v
 *	                      start it, wait for its first line, connect
 *
 * Nothing here waits. The daemon is no child of ours for long: it may outlive us, for other sessions.
 */
#include "notify/doorbell.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "notify/door.h"
#include "notify/windows.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/proc.h"

#define ATTEMPTS 5
#define BACKLOG 512
#define LAST_WORDS_MS 5000
#define BEGUN_SECONDS 60

/* --- before the start --- */

/* Between its making and its lock it has a name that begins with a dot; who dies there leaves it. */
static bool may_be_begun(const char *name, int dir)
{
	struct stat st;

	return name[0] == '.' && (fstat(dir, &st) < 0 || time(NULL) - st.st_mtime <= BEGUN_SECONDS);
}

/* A directory that nobody holds the lock of is a dead session's. */
static void sweep(int notify_fd)
{
	_cleanup_dir_ DIR *dir = os_dir_open(notify_fd, ".");
	struct dirent *entry;

	while ((entry = os_dir_next(dir))) {
		_cleanup_close_ int each = -1;

		each = openat(notify_fd, entry->d_name,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (each < 0 || may_be_begun(entry->d_name, each) ||
		    flock(each, LOCK_EX | LOCK_NB) < 0)
			continue;
		os_remove_tree(notify_fd, entry->d_name);
	}
}

/* Under a name that a sweep leaves for a while, until the lock is held. */
static int make_directory(struct doorbell *bell, int notify_fd, struct err *err)
{
	char hidden[32];
	int code;

	snprintf(hidden, sizeof(hidden), ".%s", bell->place.id);
	if (mkdirat(notify_fd, hidden, 0700) < 0)
		return err_errno(err, errno, "making the session's socket directory");
	bell->dir = openat(notify_fd, hidden, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (bell->dir < 0 || flock(bell->dir, LOCK_EX | LOCK_NB) < 0 ||
	    renameat(notify_fd, hidden, notify_fd, bell->place.id) < 0) {
		code = errno;
		unlinkat(notify_fd, hidden, AT_REMOVEDIR);
		return err_errno(err, code, "making the session's socket directory");
	}
	return 0;
}

static int make_socket(struct doorbell *bell, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	bell->listener.fd = fd;
	/* By way of the descriptor: the real path may be longer than a socket's may be. */
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/notify.sock",
		 bell->dir);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    fchmodat(bell->dir, "notify.sock", 0600, 0) < 0 || listen(fd, BACKLOG) < 0)
		return err_errno(err, errno, "making the session's socket");
	return 0;
}

int doorbell_make(struct doorbell *bell, const char *base, const char *daemon,
		  const struct place *place, const struct doorbell_hooks *hooks, struct err *err)
{
	_cleanup_close_ int notify_fd = -1;
	char path[PATH_MAX];
	int r;

	*bell = (struct doorbell)DOORBELL_NONE;
	bell->place = *place;
	bell->hooks = *hooks;
	if (snprintf(path, sizeof(path), "%s/wrapix/notify", base) >= (int)sizeof(path))
		return err_errno(err, ENAMETOOLONG, "'%s'", base);
	r = os_mkdirs(path, 0700, err);
	if (r < 0)
		return r;
	notify_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (notify_fd < 0)
		return err_errno(err, errno, "opening '%s'", path);
	sweep(notify_fd);
	bell->base = strdup(base);
	bell->daemon = strdup(daemon);
	r = bell->base && bell->daemon ? make_directory(bell, notify_fd, err)
				       : err_errno(err, ENOMEM, "the session's socket");
	if (r == 0)
		r = make_socket(bell, err);
	if (r < 0)
		doorbell_remove(bell);
	return r;
}

void doorbell_remove(struct doorbell *bell)
{
	char path[PATH_MAX];
	_cleanup_close_ int wrapix = -1;

	doorbell_unwatch(bell);
	if (bell->dir >= 0) {
		snprintf(path, sizeof(path), "%s/wrapix", bell->base);
		wrapix = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		snprintf(path, sizeof(path), "notify/%s", bell->place.id);
		os_remove_tree(wrapix, path);
		snprintf(path, sizeof(path), "sessions/%s.json", bell->place.id);
		unlinkat(wrapix, path, 0);
		close(bell->dir);
	}
	if (bell->record >= 0)
		close(bell->record);
	if (bell->listener.fd >= 0)
		close(bell->listener.fd);
	free(bell->base);
	free(bell->daemon);
	*bell = (struct doorbell)DOORBELL_NONE;
}

/* --- while it runs --- */

static void tell_failure(struct doorbell *bell, int code)
{
	struct err err;

	ticker_run(&bell->ticker, false);
	err_errno(&err, code, "starting '%s'; messages to you will not be shown", bell->daemon);
	bell->hooks.on_failure(bell->hooks.ctx, &err);
}

static void drop(struct doorbell *bell, struct loop_source *source)
{
	loop_remove(bell->loop, source);
	if (source->fd >= 0)
		close(source->fd);
	source->fd = -1;
}

static void wait_for_ring(struct doorbell *bell)
{
	struct err err;

	if (loop_add(bell->loop, &bell->listener, LOOP_IN, &err) < 0)
		bell->hooks.on_failure(bell->hooks.ctx, &err);
}

static void send_op(struct doorbell *bell, const struct str *request)
{
	/* A daemon that does not read is dead or dying, and its end is seen on the door. */
	(void)door_send(bell->door.fd, request, -1);
}

static void send_focus(struct doorbell *bell)
{
	_cleanup_str_ struct str request = { 0 };

	if (bell->door.fd < 0 || !bell->focus[0])
		return;
	str_addf(&request, "{\"op\":\"focus\",\"value\":\"%s\"}", bell->focus);
	send_op(bell, &request);
}

static void send_message(struct doorbell *bell)
{
	_cleanup_str_ struct str request = { 0 }, line = { 0 };

	if (bell->door.fd < 0 || !bell->has_message)
		return;
	message_print(&bell->message, &line);
	str_add(&request, "{\"op\":\"message\",");
	str_addn(&request, line.s + 1, line.len - 2); /* without its brace and its newline */
	send_op(bell, &request);
	bell->has_message = false;
}

/* The daemon has answered, or gone. */
static int on_door(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct doorbell *bell = container_of(source, struct doorbell, door);
	char answer[256];
	ssize_t n = recv(source->fd, answer, sizeof(answer), MSG_DONTWAIT);

	if (n > 0) {
		bell->attempts = 0;
		bell->loop->done |= bell->ending;
	}
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return 0;
	drop(bell, source);
	if (!bell->attempts)
		wait_for_ring(bell);
	else if (bell->attempts < ATTEMPTS)
		ticker_run(&bell->ticker, true); /* it did not want us: later again */
	else
		tell_failure(bell, EACCES);
	return 0;
}

static bool register_at(struct doorbell *bell, int door)
{
	_cleanup_str_ struct str request = { 0 };
	struct err err;

	bell->door = (struct loop_source){ .fd = door, .on_event = on_door };
	str_addf(&request, "{\"op\":\"register\",\"id\":\"%s\"}", bell->place.id);
	if (door_send(door, &request, bell->listener.fd) < 0 ||
	    loop_add(bell->loop, &bell->door, LOOP_IN, &err) < 0) {
		close(door);
		bell->door.fd = -1;
		return false;
	}
	bell->attempts++; /* until it answers */
	ticker_run(&bell->ticker, false);
	send_focus(bell);
	send_message(bell);
	return true;
}

/* In a child of a child, so that nobody has to wait for it. */
_Noreturn static void become_daemon(const struct doorbell *bell, int out)
{
	char *argv[] = { bell->daemon, (char *)"--on-demand", (char *)"--dir", bell->base, NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	os_reset_signals();
	setsid();
	if (fork() != 0)
		_exit(0);
	dup2(null, STDIN_FILENO);
	dup2(null, STDERR_FILENO);
	dup2(out, STDOUT_FILENO);
	os_close_all_but(3, NULL, 0);
	if (chdir("/") < 0)
		_exit(1);
	execv(argv[0], argv);
	_exit(127);
}

static void try_door(struct doorbell *bell);

/* It listens, or it has ended: then another one does, or nobody will. */
static int on_ready(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct doorbell *bell = container_of(source, struct doorbell, ready);

	drop(bell, source);
	try_door(bell);
	return 0;
}

static void start_daemon(struct doorbell *bell)
{
	struct err err;
	int out[2];
	pid_t pid;

	if (bell->attempts++ >= ATTEMPTS) {
		tell_failure(bell, ECONNREFUSED);
		return;
	}
	ticker_run(&bell->ticker, true); /* should all of this lead nowhere */
	if (pipe2(out, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0)
		become_daemon(bell, out[1]);
	close(out[1]);
	(void)os_await(pid);
	bell->ready = (struct loop_source){ .fd = out[0], .on_event = on_ready };
	if (pid < 0 || loop_add(bell->loop, &bell->ready, LOOP_IN, &err) < 0) {
		close(out[0]);
		bell->ready.fd = -1;
	}
}

static void try_door(struct doorbell *bell)
{
	int door = door_connect(bell->base);

	if (door >= 0 && register_at(bell, door))
		return;
	if (bell->ready.fd < 0)
		start_daemon(bell);
}

static void on_tick(struct ticker *ticker)
{
	struct doorbell *bell = container_of(ticker, struct doorbell, ticker);

	if (bell->door.fd < 0 && bell->ready.fd < 0)
		try_door(bell);
}

static int on_ring(_unused_ struct loop_source *source, _unused_ uint32_t events,
		   _unused_ struct err *err)
{
	struct doorbell *bell = container_of(source, struct doorbell, listener);

	loop_remove(bell->loop, source);
	try_door(bell);
	return 0;
}

/* --- coming and going --- */

/* The user has just typed a command there, so the focused window is the terminal's, if anything says
 * so: its process is our ancestor. */
static void note_window(struct place *place)
{
	struct windows windows;

	if ((place->niri[0] || place->sway[0] || place->hyprland[0]) &&
	    windows_ask(place, &windows) && windows.pid && process_descends(getpid(), windows.pid))
		memcpy(place->window, windows.focused, sizeof(place->window));
}

/* Its lock tells who looks at the registry that this session lives. */
static bool write_place(struct doorbell *bell)
{
	_cleanup_str_ struct str text = { 0 };
	char path[PATH_MAX];
	struct err err;

	bell->place.pid = getpid();
	note_window(&bell->place);
	place_print(&bell->place, &text);
	snprintf(path, sizeof(path), "%s/wrapix/sessions", bell->base);
	if (os_mkdirs(path, 0700, &err) < 0)
		return false;
	snprintf(path, sizeof(path), "%s/wrapix/sessions/%s.json", bell->base, bell->place.id);
	bell->record = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return bell->record >= 0 && flock(bell->record, LOCK_EX | LOCK_NB) == 0 &&
	       os_write_all(bell->record, text.s, text.len) == 0;
}

void doorbell_watch(struct doorbell *bell, struct loop *loop)
{
	struct err err;

	/* Where this cannot be written, the session's record beside it cannot either, and that is told. */
	if (bell->dir < 0 || !write_place(bell))
		return;
	bell->loop = loop;
	bell->listener.on_event = on_ring;
	if (ticker_start(&bell->ticker, loop, on_tick, &err) < 0) {
		bell->hooks.on_failure(bell->hooks.ctx, &err);
		return;
	}
	wait_for_ring(bell);
}

/* Somebody has rung, and the daemon has not said yet that it has the socket. */
static bool is_unheard(const struct doorbell *bell)
{
	struct pollfd p = { .fd = bell->listener.fd, .events = POLLIN };

	if (bell->door.fd >= 0)
		return bell->attempts > 0;
	return bell->has_message || poll(&p, 1, 0) > 0;
}

/* The last words of a sandbox come just before its end: they are worth a moment, in a loop of our own. */
static void hear_last_words(struct doorbell *bell)
{
	struct loop *loop = &bell->last;
	struct err err;

	if (!is_unheard(bell) || loop_init(loop, &err) < 0)
		return;
	bell->loop = loop;
	bell->ending = true;
	if (ticker_start(&bell->ticker, loop, on_tick, &err) == 0) {
		struct loop_source *sources[] = { &bell->ready, &bell->door };
		bool begun = false;

		for (size_t i = 0; i < ARRAY_LEN(sources); i++)
			if (sources[i]->fd >= 0)
				begun |= loop_add(loop, sources[i], LOOP_IN, &err) == 0;
		if (!begun)
			try_door(bell);
		(void)loop_run(loop, LAST_WORDS_MS,
			       &err); /* who has not answered by now will not */
	}
	ticker_stop(&bell->ticker);
	loop_release(loop);
}

static void close_door(struct doorbell *bell)
{
	for (size_t i = 0; i < 2; i++) {
		struct loop_source *source = (struct loop_source *[]){ &bell->ready,
								       &bell->door }[i];

		if (source->fd >= 0)
			close(source->fd);
		source->fd = -1;
	}
	bell->loop = NULL;
}

void doorbell_unwatch(struct doorbell *bell)
{
	if (!bell->loop)
		return;
	loop_remove(bell->loop, &bell->listener);
	loop_remove(bell->loop, &bell->ready);
	loop_remove(bell->loop, &bell->door);
	ticker_stop(&bell->ticker);
	hear_last_words(bell);
	close_door(bell);
}

void doorbell_focus(struct doorbell *bell, bool here)
{
	snprintf(bell->focus, sizeof(bell->focus), "%s", here ? "here" : "elsewhere");
	if (bell->loop)
		send_focus(bell);
}

static void set_message(struct doorbell *bell, const char *kind, const char *title,
			const char *text)
{
	bell->message = (struct message){ .urgency = URGENCY_NORMAL };
	message_set(bell->message.replace, sizeof(bell->message.replace), kind, false);
	message_set(bell->message.title, sizeof(bell->message.title), title, false);
	message_set(bell->message.text, sizeof(bell->message.text), text, true);
	bell->has_message = true;
}

void doorbell_say_last(struct doorbell *bell, const char *kind, const char *title, const char *text)
{
	if (bell->dir < 0 || bell->record < 0 || bell->loop)
		return;
	set_message(bell, kind, title, text);
	bell->attempts = 0;
	hear_last_words(bell);
	close_door(bell);
}

void doorbell_say(struct doorbell *bell, const char *kind, const char *title, const char *text)
{
	if (!bell->loop)
		return;
	set_message(bell, kind, title, text);
	if (bell->door.fd >= 0) {
		send_message(bell);
	} else if (bell->ready.fd < 0) {
		loop_remove(bell->loop, &bell->listener);
		try_door(bell);
	}
}
