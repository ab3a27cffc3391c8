/* SPDX-License-Identifier: MIT */
/* Messages over TCP: who knows the token of the session is let in. */
#include "notify/porch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

#include "os/socket.h"

#define PORTS 16
#define GUESTS_MAX 16
#define PATIENCE_SECONDS 5
#define SOCKET_MS 1000

struct porch_guest {
	struct porch *porch;
	struct porch_guest *next, **link;
	struct loop_source source;
	time_t deadline;
};

static int listen_at(const struct porch *porch, unsigned port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), code;

	if (fd < 0 || inet_pton(AF_INET, porch->address, &at.sin_addr) != 1)
		return fd < 0 ? -errno : -EINVAL;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(fd, GUESTS_MAX) == 0)
		return fd;
	code = errno;
	close(fd);
	return -code;
}

static int make_token(char token[PORCH_TOKEN + 1], struct err *err)
{
	unsigned char bytes[PORCH_TOKEN / 2];

	if (getentropy(bytes, sizeof(bytes)) < 0)
		return err_errno(err, errno, "making a token");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* The network of the machines comes with the first of them: then the port is taken later. */
int porch_make(struct porch *p, const char *address, const char *path, struct err *err)
{
	struct in_addr parsed;
	int fd = -EADDRINUSE;

	*p = (struct porch)PORCH_NONE;
	if (inet_pton(AF_INET, address, &parsed) != 1 || parsed.s_addr == INADDR_ANY)
		return err_set(err, EINVAL, "'%s' is no address of a gateway", address);
	snprintf(p->address, sizeof(p->address), "%s", address);
	if (snprintf(p->path, sizeof(p->path), "%s", path) >= (int)sizeof(p->path))
		return err_set(err, ENAMETOOLONG, "the path of a socket is too long: '%s'", path);
	for (unsigned i = 0; i < PORTS && fd == -EADDRINUSE; i++) {
		p->port = (uint16_t)(PORCH_PORT + i);
		fd = listen_at(p, p->port);
	}
	if (fd == -EADDRNOTAVAIL)
		p->port = (uint16_t)(PORCH_PORT + (unsigned)getpid() % PORTS);
	else if (fd < 0)
		return err_errno(err, -fd, "listening at %s", address);
	p->listener.source.fd = fd < 0 ? -1 : fd;
	return make_token(p->token, err);
}

static void guest_free(struct porch_guest *g, bool close_it)
{
	struct porch *p = g->porch;

	loop_remove(p->loop, &g->source);
	if (close_it)
		close(g->source.fd);
	*g->link = g->next;
	if (g->next)
		g->next->link = g->link;
	p->n_guests--;
	free(g);
}

/* As long for a wrong one as for the right one. */
static bool is_token(const struct porch *p, const char *text)
{
	unsigned differs = (unsigned char)text[PORCH_TOKEN] ^ '\n';

	for (size_t i = 0; i < PORCH_TOKEN; i++)
		differs |= (unsigned)(text[i] ^ p->token[i]) & 0xff;
	return !differs;
}

static void let_in(struct porch *p, int fd)
{
	int inside = os_connect_unix(p->path, SOCKET_MS);
	struct err ignored; /* the connection ends, which says so */

	if (inside < 0) {
		close(fd);
		return;
	}
	fcntl(inside, F_SETFL, O_NONBLOCK);
	relay_prepare(fd);
	(void)relay_add(&p->relay, fd, inside, NULL, NULL, &ignored);
}

static int on_bytes(struct loop_source *source, uint32_t events, _unused_ struct err *err)
{
	struct porch_guest *g = container_of(source, struct porch_guest, source);
	struct porch *p = g->porch;
	char text[PORCH_TOKEN + 1];
	ssize_t n = recv(source->fd, text, sizeof(text), MSG_PEEK | MSG_DONTWAIT);
	int fd = source->fd;

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n > 0 && n < (ssize_t)sizeof(text) && !memchr(text, '\n', (size_t)n))
		return 0; /* the rest is on its way, or its time comes */
	if (n != sizeof(text) || recv(fd, text, sizeof(text), 0) != n || !is_token(p, text)) {
		guest_free(g, true);
		return 0;
	}
	guest_free(g, false);
	let_in(p, fd);
	return 0;
}

static void take_in(struct listener *listener, int fd)
{
	struct porch *p = container_of(listener, struct porch, listener);
	struct porch_guest *g = p->n_guests == GUESTS_MAX ? NULL : calloc(1, sizeof(*g));
	struct err ignored; /* the connection ends, which says so */

	if (!g) {
		close(fd);
		return;
	}
	*g = (struct porch_guest){ .porch = p,
				   .next = p->guests,
				   .link = &p->guests,
				   .source = { .fd = fd, .on_event = on_bytes },
				   .deadline = time(NULL) + PATIENCE_SECONDS };
	if (g->next)
		g->next->link = &g->next;
	p->guests = g;
	p->n_guests++;
	ticker_keep(&p->ticker, true);
	if (loop_add(p->loop, &g->source, LOOP_IN | LOOP_EDGE, &ignored) < 0)
		guest_free(g, true);
}

static void open_port(struct porch *p)
{
	int fd = listen_at(p, p->port);
	struct err ignored; /* tried again */

	p->listener = (struct listener)LISTENER(fd < 0 ? -1 : fd, take_in);
	if (fd >= 0)
		(void)listener_start(&p->listener, p->loop, &ignored);
}

static void on_tick(struct ticker *ticker)
{
	struct porch *p = container_of(ticker, struct porch, ticker);

	if (p->listener.source.fd < 0)
		open_port(p);
	for (struct porch_guest *g = p->guests, *next; g; g = next) {
		next = g->next;
		if (time(NULL) > g->deadline)
			guest_free(g, true);
	}
	ticker_keep(ticker, p->listener.source.fd < 0 || p->guests);
}

static void on_ended(_unused_ void *ctx, _unused_ void *tag, _unused_ const struct relay_stats *s)
{
}

int porch_watch(struct porch *p, struct loop *loop, struct err *err)
{
	const struct relay_hooks hooks = { on_ended, p };
	int r;

	if (!p->port)
		return 0;
	p->loop = loop;
	r = relay_start(&p->relay, loop, &hooks, err);
	if (r == 0)
		r = ticker_start(&p->ticker, loop, on_tick, err);
	if (r < 0)
		return r;
	p->listener.on_connection = take_in;
	if (p->listener.source.fd >= 0)
		return listener_start(&p->listener, loop, err);
	ticker_run(&p->ticker, true);
	return 0;
}

void porch_close(struct porch *p)
{
	if (p->loop) {
		while (p->guests)
			guest_free(p->guests, true);
		ticker_stop(&p->ticker);
		relay_stop(&p->relay);
		listener_stop(&p->listener);
	}
	if (p->listener.source.fd >= 0)
		close(p->listener.source.fd);
	*p = (struct porch)PORCH_NONE;
}
