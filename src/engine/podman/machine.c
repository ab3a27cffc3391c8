/* SPDX-License-Identifier: MIT */
/*
 * The container as a virtual machine (--runtime krun). Its kernel is another one, so that neither FIFOs nor
 * descriptors pass: what the supervisor has to say are new files in the directory that wrapix-init reads,
 * one a message, and wrapix-init says nothing. podman writes the pid of the machine's program down, and
 * its namespaces are made by then; the client ends with the command's status.
 *
 * wrapix-init cannot know that we died. A child of ours does, has podman remove the container, and removes what
 * wrapix-init read.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/path.h"
#include "engine/podman/container.h"
#include "os/fs.h"
#include "os/linux/files.h"
#include "os/proc.h"
#include "os/signals.h"
#include "os/tty.h"

static struct container *container(struct sandbox *sandbox)
{
	return container_of(sandbox, struct container, sandbox);
}

/* Whole when it gets its name: the other side reads it once. */
static int say(struct container *c, enum stage_type type, int value, struct err *err)
{
	const struct stage_message message = { .type = type, .value = value };
	_cleanup_close_ int dir = open(path_join(&c->arena, c->stage, "init"),
				       O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char name[32];

	if (dir < 0)
		return err_errno(err, errno, "opening '%s/init'", c->stage);
	snprintf(name, sizeof(name), STAGE_SAY, c->said++);
	return os_write_file_atomic(dir, name, &message, sizeof(message), 0600, err);
}

_Noreturn static void keeper_main(struct container *c, int life)
{
	char byte;
	ssize_t n;

	setsid();
	os_reset_signals();
	os_close_all_but(0, &life, 1);
	c->lock = -1;
	c->begun = true;
	do {
		n = read(life, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n == 0) { /* not a word: killed */
		c->ended = stage_remove_container(c->sandbox.plan, c->id) == 0;
		stage_remove(c);
	}
	_exit(0);
}

static int start_keeper(struct container *c, struct err *err)
{
	int life[2];

	if (pipe2(life, O_CLOEXEC) < 0)
		return err_errno(err, errno, "watching the machine");
	c->keeper = fork();
	if (c->keeper == 0)
		keeper_main(c, life[0]);
	close(life[0]);
	c->life = life[1];
	return c->keeper < 0 ? err_errno(err, errno, "watching the machine") : 0;
}

int machine_begin(struct container *c, struct err *err)
{
	c->sandbox.control = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (c->sandbox.control < 0 ||
	    inotify_add_watch(c->sandbox.control, c->stage, IN_CLOSE_WRITE | IN_MOVED_TO) < 0)
		return err_errno(err, errno, "watching '%s'", c->stage);
	return start_keeper(c, err);
}

int machine_look(struct container *c, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	char events[4096];
	int r;

	while (read(c->sandbox.control, events, sizeof(events)) > 0)
		; /* that something was written is all they say */
	if (os_read_file_at(AT_FDCWD, path_join(&c->arena, c->stage, "pid"), 64, &text, NULL) < 0 ||
	    !*text)
		return 0;
	r = container_enter(c, err);
	return r < 0 ? r : 1;
}

void machine_end(struct container *c)
{
	if (c->keeper <= 0)
		return;
	if (write(c->life, "", 1) < 0)
		kill(c->keeper, SIGKILL);
	close(take_fd(&c->life));
	(void)os_await(c->keeper);
}

/* --- while it runs --- */

/* Until now wrapix-init waits. */
static int start(struct sandbox *sandbox, _unused_ struct loop *loop,
		 _unused_ struct network *network, struct err *err)
{
	return say(container(sandbox), STAGE_GO, tty_size(sandbox->pty_master), err);
}

static int hear(_unused_ struct sandbox *sandbox, _unused_ struct said *ret)
{
	return -EPIPE;
}

/* One that is stopped could not say so. */
static void deliver(struct sandbox *sandbox, int signal_no)
{
	struct err err;

	if (signal_no != SIGSTOP && !os_signal_is_ignored(signal_no) &&
	    say(container(sandbox), STAGE_SIGNAL, signal_no, &err) < 0)
		sandbox_warn(sandbox, &err);
}

static int reap(struct sandbox *sandbox, int *ret_status, _unused_ struct err *err)
{
	struct container *c = container(sandbox);

	*ret_status = client_await(c);
	c->ended = WIFEXITED(*ret_status);
	return 0;
}

const struct sandbox_link machine_link = {
	.hear = hear,
	.deliver = deliver,
	.reap = reap,
	.start = start,
	.guests = &linux_guests,
};
