/* SPDX-License-Identifier: MIT */
/*
 * A message to the user, and the line of JSON that carries it: wrapix-protocol(7). Both ends use this
 * file, so it needs nothing but libc. What message_parse() returns is safe to hand on: valid UTF-8,
 * no control characters but newlines in the text, everything cut to its place.
 */
#pragma once

#include "base/str.h"

enum { MESSAGE_LINE_MAX = 65536 }; /* bytes of a line, without its newline */

enum urgency { URGENCY_LOW, URGENCY_NORMAL, URGENCY_CRITICAL };

struct message_action {
	char key[32], label[64];
};

struct message {
	char title[256];
	char text[2048];
	char sound[64];   /* a name of the sound theme, may be empty */
	char session[64]; /* what the client calls its session; who it is, the socket says */
	char replace[64]; /* takes the place of the session's last message of that name */
	enum urgency urgency;
	struct message_action actions[4];
	size_t n_actions;
	bool wait; /* the client waits for the user's answer */
};

#define MESSAGE_TITLE "Claude Code" /* when nobody says otherwise */

/* 0, or -EINVAL for what is no message. Unknown keys are passed over. */
int message_parse(const char *line, size_t len, struct message *ret);
/* Adds the line, with its newline. */
void message_print(const struct message *message, struct str *out);

/* 0, or -EINVAL: "low", "normal", "critical". */
int urgency_parse(const char *word, enum urgency *ret);
const char *urgency_name(enum urgency urgency);

/* Puts text of any origin into a field: invalid UTF-8 becomes U+FFFD, controls go (newlines become
 * spaces where 'lines' is false), what is too long ends in an ellipsis. */
void message_set(char *field, size_t size, const char *text, bool lines);

/* What a hook of Claude Code writes to standard input, as a message; as much of it as was read will
 * do. -EINVAL when it is no hook's. */
int message_from_hook(const char *json, size_t len, struct message *ret);
