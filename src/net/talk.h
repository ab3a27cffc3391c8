/* SPDX-License-Identifier: MIT */
/*
 * What a program says to a proxy before it has a connection: HTTP (CONNECT, and requests with a whole
 * address) or SOCKS 5, told apart by the first byte. Pure: bytes in, what to do out. Both sides of the
 * token are of one length; without the right one nothing is dialled.
 */
#pragma once

#include "base/str.h"
#include "net/names.h"

#define TALK_USER "wrapix"
#define TALK_TOKEN_MAX 64
#define TALK_HEAD_MAX 16384

struct talk {
	char token[TALK_TOKEN_MAX + 1]; /* "": whoever gets here may ask */
	enum { TALK_FIRST, TALK_SOCKS_TOKEN, TALK_SOCKS_REQUEST } state;
	bool socks, tunnel; /* tunnel: CONNECT */
	char host[NAME_SIZE];
	uint16_t port;
};

enum talk_step {
	TALK_MORE, /* bytes are missing */
	TALK_ON,   /* 'reply' is to be sent, and more comes */
	TALK_DIAL, /* host and port are set; 'reply' is what the far side gets first, of HTTP requests */
	TALK_END, /* 'reply' is to be sent, and that was all */
};

/* Looks at what has come so far. *ret_used of it is done with. */
enum talk_step talk_step(struct talk *talk, const char *bytes, size_t len, size_t *ret_used,
			 struct str *reply);

/* What the program is told of how its connection went. why: for a refusal, a sentence. */
enum talk_end { TALK_OPEN, TALK_REFUSED, TALK_UNREACHABLE };
void talk_answer(const struct talk *talk, enum talk_end end, const char *why, struct str *reply);
