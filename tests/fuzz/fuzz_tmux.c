/* SPDX-License-Identifier: MIT */
/* What tmux says of its clients: no more than there is room for, each with a terminal that ends. */
#include <string.h>

#include "notify/tmux.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct place place = { .tmux_pane = "%1" };
	_cleanup_free_ char *text = strndup((const char *)data, size);
	struct tmux_client clients[TMUX_CLIENTS];
	int n = tmux_read_clients(&place, text, clients);

	if (n < 0 || n > TMUX_CLIENTS)
		abort();
	for (int i = 0; i < n; i++)
		if (!memchr(clients[i].tty, '\0', sizeof(clients[i].tty)))
			abort();
	return 0;
}
