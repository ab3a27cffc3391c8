/* SPDX-License-Identifier: MIT */
/* A settings file, or a line of a control descriptor: taken whole or refused with words. */
#include <string.h>

#include "spec/srt.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_str_ struct str why = { 0 };
	struct srt_config config = { 0 };
	int r = srt_parse(&config, (const char *)data, size, "f", &why);

	if ((r < 0) != (why.len > 0))
		abort();
	for (size_t i = 0; r == 0 && i < config.n_paths; i++)
		if (!config.paths[i].text[0] || !config.paths[i].key)
			abort();
	srt_ignores(&config, "command", "line");
	srt_reason(&config, "a.b");
	srt_config_release(&config);
	return 0;
}
