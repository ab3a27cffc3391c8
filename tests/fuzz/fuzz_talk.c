/* SPDX-License-Identifier: MIT */
/*
 * What a program says to the proxy on the loopback, whole and byte by byte, which must come to the same; and a line of
 * macOS's log. The first byte chooses.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/seatbelt/violations.h"
#include "net/talk.h"
#include "session/denial.h"
#include "spec/file_rules.h"
#include "fuzz.h"

struct outcome {
	enum talk_step step;
	struct talk talk;
	struct str reply;
	size_t used;
};

/* Shows it 'step' bytes more at a time. */
static struct outcome listen_to(const char *bytes, size_t size, size_t more)
{
	struct outcome o = { .step = TALK_MORE, .talk.token = "0123456789abcdef" };
	size_t shown = 0;

	while (o.step == TALK_MORE || o.step == TALK_ON) {
		size_t used = 0;

		o.step = talk_step(&o.talk, bytes + o.used, shown - o.used, &used, &o.reply);
		if (used > shown - o.used)
			abort();
		o.used += used;
		if (o.step == TALK_MORE && shown == size)
			break;
		if (o.step == TALK_MORE)
			shown = MIN(shown + more, size);
	}
	return o;
}

static void check_talk(const char *bytes, size_t size)
{
	struct outcome whole = listen_to(bytes, size, size ? size : 1),
		       drops = listen_to(bytes, size, 1);

	if (whole.step != drops.step || whole.used != drops.used ||
	    whole.reply.len != drops.reply.len || strcmp(whole.talk.host, drops.talk.host) ||
	    whole.talk.port != drops.talk.port)
		abort();
	if (whole.step == TALK_DIAL && !whole.talk.host[0])
		abort();
	str_release(&whole.reply);
	str_release(&drops.reply);
}

static void check_line(const char *bytes, size_t size)
{
	struct file_rules rules;
	struct denial denial;
	char *line = strndup(bytes, size);
	pid_t pid = 0;

	file_rules_init(&rules, "/Users/me", "/Users/me/p");
	if (line && violation_parse(line, "wrapix-1", &rules, &denial, &pid)) {
		_cleanup_str_ struct str text = { 0 };

		denial_add_line(&text, &denial);
		if (!denial.what || !denial.reason)
			abort();
	}
	free(line);
	file_rules_release(&rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && data[0] == 'L')
		check_line((const char *)data + 1, size - 1);
	else if (size)
		check_talk((const char *)data + 1, MIN(size - 1, (size_t)TALK_HEAD_MAX));
	return 0;
}
