/* SPDX-License-Identifier: MIT */
/*
 * Explaining a refusal. What is said is sent at once, and the connection is closed when the other
 * side has closed it or a few seconds later: closing with unread bytes would be a reset, and the
 * reason would be lost with it. What comes in is thrown away unread.
 */
#include "net/explain.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "net/names.h"
#include "os/socket.h"

#define FAREWELLS_MAX 64
#define FAREWELL_SECONDS 3

struct farewell {
	struct explainer *explainer;
	struct farewell *next, **link;
	struct loop_source source;
	int64_t deadline;
};

bool explainer_can(uint16_t port)
{
	return port == 80 || port == 443;
}

static void finish(struct farewell *f)
{
	struct explainer *explainer = f->explainer;

	loop_remove(explainer->loop, &f->source);
	close(f->source.fd);
	*f->link = f->next;
	if (f->next)
		f->next->link = f->link;
	free(f);
	if (--explainer->n == 0)
		ticker_run(&explainer->ticker, false);
}

static int on_bytes(struct loop_source *source, uint32_t events, struct err *err)
{
	struct farewell *f = container_of(source, struct farewell, source);
	char bytes[4096];
	ssize_t n = recv(source->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	(void)events;
	(void)err;
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return 0;
	finish(f);
	return 0;
}

static void on_tick(struct ticker *ticker)
{
	struct explainer *explainer = container_of(ticker, struct explainer, ticker);

	for (struct farewell *f = explainer->head, *next; f; f = next) {
		next = f->next;
		if (os_seconds() >= f->deadline)
			finish(f);
	}
}

int explainer_start(struct explainer *explainer, struct loop *loop, struct err *err)
{
	*explainer = (struct explainer){ .loop = loop };
	return ticker_start(&explainer->ticker, loop, on_tick, err);
}

void explainer_stop(struct explainer *explainer)
{
	if (!explainer->loop)
		return;
	while (explainer->head)
		finish(explainer->head);
	ticker_stop(&explainer->ticker);
	*explainer = (struct explainer){ .loop = NULL };
}

/* The name is canonical: nothing in it needs escaping. */
static size_t words_for(const char *name, uint16_t port, enum net_reason reason, char *buf,
			size_t size)
{
	static const char alert[] = { 0x15, 3, 1, 0, 2, 2, 49 }; /* fatal, access_denied */
	char body[2 * NAME_SIZE + 256];
	int n;

	if (port == 443) {
		memcpy(buf, alert, sizeof(alert));
		return sizeof(alert);
	}
	n = snprintf(body, sizeof(body),
		     "wrapix: %s:%u was refused (%s). To allow it, start with --allow %s, or "
		     "'wrapix allow' for this session, outside of the sandbox.\n",
		     name, port, net_reason_name(reason),
		     net_reason_is_resolved(reason) ? "ADDRESS, the one that it leads to" : name);
	n = snprintf(buf, size,
		     "HTTP/1.1 403 Refused by wrapix: %s\r\nContent-Type: text/plain\r\n"
		     "Content-Length: %d\r\nConnection: close\r\n\r\n%s",
		     net_reason_name(reason), n, body);
	return (size_t)n;
}

void explainer_tell(struct explainer *explainer, int fd, const char *name, uint16_t port,
		    enum net_reason reason)
{
	struct farewell *f = explainer->n < FAREWELLS_MAX ? calloc(1, sizeof(*f)) : NULL;
	char words[2 * NAME_SIZE + 512];
	size_t len = words_for(name, port, reason, words, sizeof(words));
	struct err ignored; /* the loop refuses it: then it is closed now */

	os_socket_linger(fd, false); /* an end that can be read, whatever the listener's habits */
	if (!f) {
		close(fd);
		return;
	}
	/* Whoever does not read it has not lost anything else. */
	(void)send(fd, words, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	(void)shutdown(fd, SHUT_WR);
	*f = (struct farewell){
		.explainer = explainer,
		.next = explainer->head,
		.link = &explainer->head,
		.source = { .fd = fd, .on_event = on_bytes },
		.deadline = os_seconds() + FAREWELL_SECONDS,
	};
	if (f->next)
		f->next->link = &f->next;
	explainer->head = f;
	if (explainer->n++ == 0)
		ticker_run(&explainer->ticker, true);
	if (loop_add(explainer->loop, &f->source, LOOP_IN, &ignored) < 0)
		finish(f);
}
