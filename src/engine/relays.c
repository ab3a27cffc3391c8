/* SPDX-License-Identifier: MIT */
/* Listening inside for the relays of brokered credentials. */
#include "engine/relays.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "net/nsconf.h"

#define BACKLOG 64

static int listen_inside(void *ctx, _unused_ size_t n, uint16_t port, int *ret_fd, struct err *err)
{
	int netns = *(int *)ctx;
	const struct sockaddr_in at = { .sin_family = AF_INET,
					.sin_port = htons(port),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	_cleanup_close_ int fd = -1;
	const int on = 1;
	int r = nsconf_refill(netns, &fd, 1, AF_INET, err);

	if (r < 0)
		return r;
	/* With TIER_PORTS the filter may listen on all other addresses of the same port. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0 ||
	    bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, BACKLOG) < 0)
		return err_errno(err, errno, "taking port %u in the sandbox", port);
	*ret_fd = take_fd(&fd);
	return 0;
}

int relays_offer(const struct sandbox *sandbox,
		 int (*listen_at)(void *ctx, size_t n, uint16_t port, int *ret, struct err *err),
		 void *ctx, struct err *err)
{
	const struct engine_hooks *hooks = sandbox->hooks;
	const struct plan *plan = sandbox->plan;
	size_t n = 0;
	int r = 0;

	if (plan->n_relays && !(hooks && hooks->take_relay))
		return err_set(err, EOPNOTSUPP, "nobody serves the brokered credentials");
	for (size_t i = 0; r == 0 && i < plan->n_credentials; i++) {
		int fd = -1;

		if (!plan->credentials[i].port)
			continue;
		r = listen_at(ctx, n++, plan->credentials[i].port, &fd, err);
		if (r == 0)
			r = hooks->take_relay(hooks->ctx, i, fd, err);
	}
	return r;
}

int relays_enter(struct sandbox *sandbox, struct err *err)
{
	return relays_offer(sandbox, listen_inside, &sandbox->netns, err);
}
