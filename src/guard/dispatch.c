/* SPDX-License-Identifier: MIT */
/* From a notification to the guest that answers it, by arch and number of the system call. */
#include "guard/dispatch.h"

#include <errno.h>

#include "os/linux/kernel.h"

static int arch_index(struct dispatch *dispatch, uint32_t arch, bool add)
{
	for (int i = 0; i < 2; i++) {
		if (add && !dispatch->arch[i])
			dispatch->arch[i] = arch;
		if (dispatch->arch[i] == arch)
			return i;
	}
	return -1;
}

static int on_call(void *ctx, const struct seccomp_notif *call)
{
	struct dispatch *dispatch = ctx;
	int arch = arch_index(dispatch, call->data.arch, false), answer = -ENOSYS;
	unsigned guests = 0;

	if (arch >= 0 && call->data.nr >= 0 && call->data.nr < DISPATCH_CALLS)
		guests = dispatch->guests_of[arch][call->data.nr];
	for (unsigned i = 0; i < dispatch->n_guests; i++) {
		if (!(guests & (1u << i)))
			continue;
		answer = dispatch->guests[i].fn(dispatch->guests[i].ctx, call);
		if (answer != NOTIFY_CONTINUE)
			break;
	}
	return answer;
}

void dispatch_add(struct dispatch *dispatch, const struct seccomp_program *fragment, notify_fn *fn,
		  void *ctx)
{
	unsigned guest = 0;

	while (guest < dispatch->n_guests &&
	       (dispatch->guests[guest].fn != fn || dispatch->guests[guest].ctx != ctx))
		guest++;
	if (guest == DISPATCH_GUESTS)
		return; /* its calls are refused */
	dispatch->guests[guest].fn = fn;
	dispatch->guests[guest].ctx = ctx;
	dispatch->n_guests = MAX(dispatch->n_guests, guest + 1);
	for (const struct seccomp_call *call = fragment->calls; call && call->name; call++) {
		int arch = arch_index(dispatch, call->arch, true);

		if (arch >= 0 && call->nr < DISPATCH_CALLS)
			dispatch->guests_of[arch][call->nr] |= (uint8_t)(1u << guest);
	}
}

int dispatch_start(struct dispatch *dispatch, struct loop *loop, int listener, struct err *err)
{
	return notify_start(&dispatch->notify, loop, listener, on_call, dispatch, err);
}

void dispatch_stop(struct dispatch *dispatch)
{
	notify_stop(&dispatch->notify);
	*dispatch = (struct dispatch){ .notify.source.fd = -1 };
}
