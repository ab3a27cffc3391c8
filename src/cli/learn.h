/* SPDX-License-Identifier: MIT */
/* What was learnt from a session, and the settings that it belongs to; for learn and doctor. */
#pragma once

#include "base/err.h"
#include "session/lessons.h"

/* Marks what the settings have by now, or no longer deny. Where they cannot be read nothing is. */
void learn_look(struct lessons *lessons);
/* Writes what is chosen, and leaves every other byte as it is. */
int learn_write(const struct lessons *lessons,
		bool (*is_chosen)(const struct lesson *lesson, bool risky), bool risky,
		struct err *err);
