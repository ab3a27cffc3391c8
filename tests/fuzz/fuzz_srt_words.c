/* SPDX-License-Identifier: MIT */
/* A text as each kind of string that settings hold, and as a domain pattern that covers itself. */
#include <string.h>

#include "spec/srt_schema.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static srt_check_fn *const checks[] = {
		srt_check_address, srt_check_env_name, srt_check_url,  srt_check_absolute,
		srt_check_uuid,    srt_check_mach,     srt_check_user,
	};
	struct arena arena = { NULL };
	const char *text = arena_strndup(&arena, size ? (const char *)data : "", size);
	struct strv list = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		checks[i](text);
	strv_add(&arena, &list, text);
	/* What may be allowed may be denied, and nothing but that and '*'. */
	if (!srt_check_allowed(text) != !srt_check_domain(text))
		abort();
	if (!srt_check_allowed(text) && srt_check_denied(text))
		abort();
	if (!srt_check_denied(text) && srt_check_allowed(text) && text[0] != '*')
		abort();
	if (!srt_check_allowed(text) && !srt_domain_covered(&list, text))
		abort();
	arena_release(&arena);
	return 0;
}
