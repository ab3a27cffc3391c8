/* SPDX-License-Identifier: MIT */
/* A table of mounts: each line once, in the text and no further. */
#include <string.h>

#include "os/linux/mountinfo.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	const char *end = text + strlen(text), *last = text;
	struct mountinfo mount;
	char *at = text;

	while (mountinfo_next(&at, &mount)) {
		if (mount.root <= last || mount.point <= mount.root ||
		    mount.point + strlen(mount.point) > end)
			abort();
		last = mount.point;
	}
	return 0;
}
