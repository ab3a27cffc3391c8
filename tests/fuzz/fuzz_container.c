/* SPDX-License-Identifier: MIT */
/* What Apple's container prints: lists of containers, networks, its version. */
#include <string.h>

#include "os/darwin/container.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct container_network network;
	struct container_info *list = NULL;
	struct err err = { 0 };
	size_t n = 0;
	char *text = arena_strndup(&arena, (const char *)data, size);

	(void)container_parse_version(text);
	if (container_read_list(&arena, (const char *)data, size, &list, &n, &err) < 0)
		check(err.msg[0]);
	for (size_t i = 0; i < n; i++)
		check(list[i].id && list[i].state != CONTAINER_NONE);
	if (container_read_network(&arena, (const char *)data, size, &network, &err) < 0)
		check(err.msg[0]);
	arena_release(&arena);
	return 0;
}
