/* SPDX-License-Identifier: MIT */
/*
 * wrapix-relay: adds one credential to the requests of one sandbox for one host. A program of its own,
 * with no other secret, so that OpenSSL and what a sandbox sends meet outside of the supervisor.
 *
 * It is started with two descriptors (relay/door.h), takes the rules and the value over the first, then
 * gives up what it does not need: files but for reading the system's, new privileges, most system
 * calls (relay/confine.h). It ends with the supervisor.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "os/proc.h"
#include "os/socket.h"
#include "os/ticker.h"
#include "relay/confine.h"
#include "relay/door.h"
#include "relay/pair.h"

#define PAIRS_MAX 256
#define BATCH 16

void relay_say(struct relay *relay, const char *what, const char *why)
{
	char line[160];
	int n = snprintf(line, sizeof(line), "%s: %s", what, why);

	/* A supervisor that does not read has enough of them. */
	(void)relay_send(relay->door.fd, RELAY_SAID, line, (size_t)MIN(n, (int)sizeof(line) - 1));
}

void relay_touch_value(struct relay *relay)
{
	if (relay->wanted || os_seconds() - relay->value_since < relay->rules.fresh)
		return;
	relay->wanted = relay_send(relay->door.fd, RELAY_WANT, "", 0) == 0;
}

/* --- the door --- */

static bool take_rules(struct relay *relay, const uint8_t *text, size_t len)
{
	relay->rules_text = malloc(len);
	if (!relay->rules_text)
		return false;
	memcpy(relay->rules_text, text, len);
	return relay_rules_get(&relay->rules, relay->rules_text, len);
}

static bool take_value(struct relay *relay, const uint8_t *value, size_t len)
{
	if (!len || len > relay->value.size)
		return false;
	explicit_bzero(relay->value.data, relay->value.size);
	memcpy(relay->value.data, value, len);
	relay->value_len = len;
	return true;
}

/* One message; false: the supervisor has gone, or makes no sense. */
static bool read_message(struct relay *relay, int flags)
{
	_cleanup_secret_ struct secret buffer = { 0 };
	struct err err;
	ssize_t n;
	bool ok = false;

	if (secret_alloc(&buffer, RELAY_MESSAGE_MAX, &err) < 0)
		return false;
	n = recv(relay->door.fd, buffer.data, RELAY_MESSAGE_MAX, flags);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	switch ((enum relay_message)buffer.data[0]) {
	case RELAY_RULES:
		ok = !relay->rules_text && take_rules(relay, buffer.data + 1, (size_t)n - 1);
		break;
	case RELAY_VALUE:
		ok = take_value(relay, buffer.data + 1, (size_t)n - 1);
		break;
	case RELAY_KEEP:
		ok = true;
		break;
	default:
		break;
	}
	relay->value_since = os_seconds();
	relay->wanted = false;
	return ok;
}

static int on_door(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct relay *relay = container_of(source, struct relay, door);

	relay->loop.done = !read_message(relay, MSG_DONTWAIT);
	return 0;
}

/* --- connections --- */

static void on_resolved(void *ctx, const struct resolver_answer *answer)
{
	pairs_resolved(ctx, answer);
}

static int listen_again(struct relay *relay, struct err *err)
{
	int r = loop_add(&relay->loop, &relay->listener, LOOP_IN, err);

	relay->listening = r == 0;
	return r;
}

/* More wait in the socket's queue, until the clock lets them in. */
static void rest(struct relay *relay)
{
	loop_remove(&relay->loop, &relay->listener);
	relay->listening = false;
	ticker_keep(&relay->ticker, true);
}

static void on_tick(struct ticker *ticker)
{
	struct relay *relay = container_of(ticker, struct relay, ticker);
	struct err ignored; /* tried again */

	pairs_expire(relay);
	if (!relay->listening && relay->n_pairs < PAIRS_MAX)
		(void)listen_again(relay, &ignored);
	ticker_keep(ticker, relay->pairs || !relay->listening);
}

static int on_listener(struct loop_source *source, _unused_ uint32_t events, struct err *err)
{
	struct relay *relay = container_of(source, struct relay, listener);

	for (int i = 0; i < BATCH && relay->n_pairs < PAIRS_MAX; i++) {
		int fd = accept4(source->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0) {
			/* Without a descriptor for it the loop would be told of the same one for ever. */
			if (os_is_exhausted(errno))
				rest(relay);
			return 0;
		}
		(void)pair_begin(relay, fd, err); /* without memory for it, it is closed */
		ticker_keep(&relay->ticker, true);
	}
	if (relay->n_pairs >= PAIRS_MAX)
		rest(relay);
	return 0;
}

/* --- the start --- */

static bool set_up_tls(struct relay *relay)
{
	static const uint8_t alpn[] = "\x08http/1.1";

	relay->tls = SSL_CTX_new(TLS_client_method());
	if (!relay->tls || SSL_CTX_set_min_proto_version(relay->tls, TLS1_2_VERSION) != 1 ||
	    SSL_CTX_set_default_verify_paths(relay->tls) != 1 ||
	    SSL_CTX_set_alpn_protos(relay->tls, alpn, sizeof(alpn) - 1) != 0)
		return false;
	SSL_CTX_set_verify(relay->tls, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_mode(relay->tls, SSL_MODE_ENABLE_PARTIAL_WRITE |
					     SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
					     SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_session_cache_mode(relay->tls,
				       SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	return true;
}

static int start(struct relay *relay, struct err *err)
{
	int r = secret_alloc(&relay->value, RELAY_MESSAGE_MAX, err);
	bool told = true;

	if (r < 0)
		return r;
	for (int i = 0; told && i < 2; i++) /* the rules, the value */
		told = read_message(relay, 0);
	if (!told || !relay->rules_text || !relay->value_len)
		return err_set(err, EPROTO, "wrapix starts this program; it has no use by itself");
	if (!set_up_tls(relay))
		return err_set(err, EIO, "TLS could not be set up");
	r = relay_confine(err);
	if (r == 0)
		r = loop_init(&relay->loop, err);
	if (r == 0)
		r = loop_add(&relay->loop, &relay->door, LOOP_IN, err);
	if (r == 0)
		r = ticker_start(&relay->ticker, &relay->loop, on_tick, err);
	if (r == 0)
		r = resolver_start(&relay->resolver, &relay->loop, on_resolved, relay, err);
	if (r == 0 && fcntl(RELAY_LISTENER, F_SETFL, O_NONBLOCK) < 0)
		r = err_errno(err, errno, "the socket of the sandbox");
	return r < 0 ? r : listen_again(relay, err);
}

int main(int argc, char **argv)
{
	struct relay relay = {
		.door = { .fd = RELAY_DOOR, .on_event = on_door },
		.listener = { .fd = RELAY_LISTENER, .on_event = on_listener },
	};
	struct err err = { 0 };
	int r;

	if (argc > 1 && !strcmp(argv[1], "--version")) {
		puts("wrapix-relay " WRAPIX_VERSION);
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "--help")) {
		puts("usage: wrapix-relay\n\nwrapix starts this program for brokered credentials; "
		     "it has no use by itself.");
		return 0;
	}
	os_set_dumpable(0);
	signal(SIGPIPE, SIG_IGN);
	r = start(&relay, &err);
	if (r == 0)
		r = loop_run(&relay.loop, -1, &err);
	secret_free(&relay.value);
	if (r >= 0)
		return 0;
	relay_say(&relay, "relay", err.msg);
	fprintf(stderr, "wrapix-relay: %s\n", err.msg);
	return EXIT_WRAPIX;
}
