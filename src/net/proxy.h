/* SPDX-License-Identifier: MIT */
/*
 * The proxy of a company's network, through which the filtered network dials out: HTTP CONNECT.
 * What goes through it is judged by name alone; the proxy resolves. Pure.
 */
#pragma once

#include "base/err.h"
#include "net/names.h"

struct proxy {
	char host[NAME_SIZE]; /* a name or an address */
	uint16_t port;
	char credentials[512]; /* for Proxy-Authorization, in base64; "": none */
	char exempt[4096];     /* NO_PROXY: names, suffixes and "*", divided by commas or blanks */
};

/* "http://[user:password@]host[:port][/]". no_proxy may be NULL. The error does not repeat the
 * password. */
int proxy_parse(const char *url, const char *no_proxy, struct proxy *ret, struct err *err);

/* False for names that NO_PROXY exempts. */
bool proxy_serves(const struct proxy *proxy, const char *name);

#define PROXY_REQUEST_MAX 2048
/* The request for a tunnel; returns its length. */
size_t proxy_request(const struct proxy *proxy, const char *name, uint16_t port,
		     char buf[PROXY_REQUEST_MAX]);

#define PROXY_REPLY_MAX 16384
enum proxy_reply { PROXY_MORE, PROXY_OPEN, PROXY_REFUSED };
/* *ret_used: the length of the reply's head; what follows belongs to the tunnel. */
enum proxy_reply proxy_reply(const char *bytes, size_t len, size_t *ret_used);
