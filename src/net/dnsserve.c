/* SPDX-License-Identifier: MIT */
/*
 * The DNS responder's sockets. UDP: the answer leaves from the address that was asked, whichever
 * that was. TCP: few clients, small buffers, ten seconds; what floods is cut off.
 */
#include "net/dnsserve.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "net/nsconf.h"
#include "net/owner.h"

#define CLIENTS_MAX 64
#define CLIENT_SECONDS 10
#define BATCH 64

struct dns_client {
	struct dns_server *server;
	struct dns_client *next, **link;
	struct loop_source source;
	int64_t deadline;
	struct queue_packet from;
	size_t len;
	uint8_t bytes[DNS_QUERY_MAX + 2];
};

static size_t respond(struct dns_server *server, const struct queue_packet *from,
		      const uint8_t *query, size_t len, uint8_t buf[DNS_ANSWER_MAX])
{
	struct dns_answer answer;

	dns_answer(&server->dns, query, len, buf, &answer);
	if (answer.report)
		server->report(server->ctx, &answer, from);
	return answer.len;
}

/* Turns the received destination address into the answer's source address. */
static void answer_from(struct msghdr *message)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo *info = (struct in6_pktinfo *)(void *)CMSG_DATA(c);

			info->ipi6_ifindex = 0;
		} else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo *info = (struct in_pktinfo *)(void *)CMSG_DATA(c);

			info->ipi_ifindex = 0;
			info->ipi_spec_dst = info->ipi_addr;
		}
	}
}

static int on_udp(struct loop_source *source, uint32_t events, struct err *err)
{
	struct dns_server *server = container_of(source, struct dns_server, udp);

	(void)events;
	(void)err;
	for (int i = 0; i < BATCH; i++) {
		uint8_t query[DNS_QUERY_MAX], buf[DNS_ANSWER_MAX];
		struct sockaddr_storage from;
		struct queue_packet packet;
		char control[CMSG_SPACE(sizeof(struct in6_pktinfo))];
		struct iovec iov = { query, sizeof(query) };
		struct msghdr message = {
			.msg_name = &from,
			.msg_namelen = sizeof(from),
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof(control),
		};
		ssize_t n = recvmsg(source->fd, &message, MSG_DONTWAIT | MSG_TRUNC);

		if (n < 0)
			return 0;
		if ((size_t)n > sizeof(query) ||
		    !packet_of_message(&message, NSCONF_DNS_PORT, &packet))
			continue;
		iov = (struct iovec){ buf, respond(server, &packet, query, (size_t)n, buf) };
		answer_from(&message);
		/* A client that is gone, or a full buffer: DNS over UDP asks again. */
		if (iov.iov_len)
			(void)sendmsg(source->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	return 0;
}

static void drop(struct dns_client *client)
{
	struct dns_server *server = client->server;

	loop_remove(server->loop, &client->source);
	close(client->source.fd);
	*client->link = client->next;
	if (client->next)
		client->next->link = client->link;
	free(client);
	server->n_clients--;
	ticker_keep(&server->ticker, server->n_clients);
}

/* Answers every whole query that is there; false when the client is to be dropped. */
static bool answer_queries(struct dns_client *client)
{
	int len;

	while ((len = dns_tcp_next(client->bytes, client->len)) > 0) {
		uint8_t buf[2 + DNS_ANSWER_MAX];
		size_t used = 2 + (size_t)len;
		size_t n = respond(client->server, &client->from, client->bytes + 2, (size_t)len,
				   buf + 2);

		memmove(client->bytes, client->bytes + used, client->len - used);
		client->len -= used;
		dns_tcp_prefix(n, buf);
		/* A client that does not read its answers has its time, and then it is gone. */
		if (n && send(client->source.fd, buf, n + 2, MSG_DONTWAIT | MSG_NOSIGNAL) !=
				 (ssize_t)n + 2)
			return false;
	}
	return len == 0;
}

static int on_client(struct loop_source *source, uint32_t events, struct err *err)
{
	struct dns_client *client = container_of(source, struct dns_client, source);
	ssize_t n = recv(source->fd, client->bytes + client->len,
			 sizeof(client->bytes) - client->len, MSG_DONTWAIT);

	(void)events;
	(void)err;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n > 0)
		client->len += (size_t)n;
	if (n <= 0 || !answer_queries(client))
		drop(client);
	return 0;
}

static void take_in(struct listener *listener, int fd)
{
	struct dns_server *server = container_of(listener, struct dns_server, tcp);
	struct dns_client *client = server->n_clients < CLIENTS_MAX ? calloc(1, sizeof(*client))
								    : NULL;
	struct err ignored; /* the client hears nothing */

	if (!client) {
		close(fd);
		return;
	}
	client->server = server;
	client->source = (struct loop_source){ .fd = fd, .on_event = on_client };
	client->deadline = os_seconds() + CLIENT_SECONDS;
	(void)packet_of_socket(fd, &client->from); /* else nobody is known to ask */
	client->next = server->clients;
	client->link = &server->clients;
	if (client->next)
		client->next->link = &client->next;
	server->clients = client;
	server->n_clients++;
	ticker_keep(&server->ticker, true);
	if (loop_add(server->loop, &client->source, LOOP_IN, &ignored) < 0)
		drop(client);
}

static void on_tick(struct ticker *ticker)
{
	struct dns_server *server = container_of(ticker, struct dns_server, ticker);

	for (struct dns_client *client = server->clients, *next; client; client = next) {
		next = client->next;
		if (os_seconds() >= client->deadline)
			drop(client);
	}
	ticker_keep(ticker, server->n_clients);
}

int dns_server_start(struct dns_server *server, struct loop *loop, const struct dns *dns, int udp,
		     int tcp, dns_report_fn *report, void *ctx, struct err *err)
{
	int r;

	*server = (struct dns_server){
		.loop = loop,
		.dns = *dns,
		.udp = { .fd = udp, .on_event = on_udp },
		.tcp = LISTENER(tcp, take_in),
		.report = report,
		.ctx = ctx,
	};
	r = ticker_start(&server->ticker, loop, on_tick, err);
	if (r == 0 && udp >= 0)
		r = loop_add(loop, &server->udp, LOOP_IN, err);
	if (r == 0 && tcp >= 0)
		r = listener_start(&server->tcp, loop, err);
	return r;
}

void dns_server_stop(struct dns_server *server)
{
	if (!server->loop)
		return;
	while (server->clients)
		drop(server->clients);
	loop_remove(server->loop, &server->udp);
	listener_stop(&server->tcp);
	ticker_stop(&server->ticker);
	*server = (struct dns_server){ .loop = NULL };
}
