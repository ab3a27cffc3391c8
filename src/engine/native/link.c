/* SPDX-License-Identifier: MIT */
/* The supervisor's side of the socket to PID 1. */
#include <errno.h>
#include <sys/wait.h>

#include "engine/native/lend.h"
#include "engine/native/native.h"
#include "os/proc.h"

static int hear(struct sandbox *sandbox, struct said *ret)
{
	struct control message;
	_cleanup_close_ int fd = -1;
	int r = control_receive(sandbox->control, &message, &fd);

	if (r == 0 && message.type == CONTROL_SPACE)
		lender_take(sandbox->lender, message.value, take_fd(&fd));
	if (r == 0)
		*ret = (struct said){
			.type = message.type == CONTROL_STOPPED       ? SAID_STOPPED
				: message.type == CONTROL_CONTINUED   ? SAID_CONTINUED
				: message.type == CONTROL_EXITED      ? SAID_EXITED
				: message.type == CONTROL_EXITED_LAST ? SAID_EXITED
								      : SAID_NOTHING,
			.value = message.value,
			.last = message.type == CONTROL_EXITED_LAST,
		};
	return r;
}

static void deliver(struct sandbox *sandbox, int signal_no)
{
	control_send(sandbox->control, CONTROL_SIGNAL, signal_no, -1);
}

static void let_go(struct sandbox *sandbox)
{
	if (sandbox->limits_by == CGROUP_SYSTEMD)
		control_send(sandbox->control, CONTROL_LEAVE, 0, -1);
}

static void tell_peaks(const struct sandbox *sandbox)
{
	const struct engine_hooks *hooks = sandbox->hooks;
	struct cgroup_peaks peaks;

	if (!hooks || !hooks->on_peaks)
		return;
	cgroup_peaks(&sandbox->cgroup, &peaks);
	hooks->on_peaks(hooks->ctx, &peaks);
}

static int reap(struct sandbox *sandbox, int *ret_status, struct err *err)
{
	int status = os_await(sandbox->pid);

	sandbox->pid = 0;
	tell_peaks(sandbox);
	if (status < 0 || !WIFSIGNALED(status)) {
		err_set(err, ECHILD, "PID 1 of the sandbox ended unexpectedly");
		return err_hint(err, "'wrapix doctor' tries each thing that a sandbox needs");
	}
	*ret_status = status; /* all was killed: the user's doing, or memory's */
	return 0;
}

static int start(struct sandbox *sandbox, struct loop *loop, struct network *network,
		 struct err *err)
{
	return lender_start(sandbox->lender, loop, sandbox, network, err);
}

static void stop(struct sandbox *sandbox)
{
	lender_stop(sandbox->lender);
}

const struct sandbox_link native_link = {
	.hear = hear,
	.deliver = deliver,
	.let_go = let_go,
	.reap = reap,
	.start = start,
	.stop = stop,
	.guests = &linux_guests,
};
