/* SPDX-License-Identifier: MIT */
/*
 * The client of the network measurements: netclient ADDRESS PORT [COMMAND COUNT].
 *
 * It lives in one place and does what the lines on standard input say, so that several places can be
 * measured by turns without the start of a sandbox in the times. Each line 'COMMAND COUNT' is
 * answered by a line of times in microseconds:
 *
 *	conn N   N new connections, one byte there and back each
 *	rtt N    N round trips of one byte on one connection
 *	get N    N times GET of one byte, a connection each
 *	bulk N   GET of N MiB; one time
 *	hold N   open N connections and keep them; no times
 *	stamp 1  one connection and echo, then the time itself, as stamp.c writes it
 *
 * get and bulk go through the proxy in HTTP_PROXY where there is one, as curl would.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 256 << 10 };

static struct sockaddr_in server, way; /* way: the server, or the proxy to it */
static char url[128], credentials[512];

_Noreturn static void die(const char *what)
{
	fprintf(stderr, "netclient: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int dial(const struct sockaddr_in *to)
{
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)to, sizeof(*to)))
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static void echo(int fd)
{
	char byte = 'e';

	if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1 || recv(fd, &byte, 1, 0) != 1)
		die("echo");
}

static void get(size_t size)
{
	static char buf[CHUNK];
	char request[1024];
	size_t got = 0;
	ssize_t n;
	int fd = dial(&way);
	int length = snprintf(request, sizeof(request),
			      "GET %s/%zu HTTP/1.1\r\nHost: %s\r\n%sConnection: close\r\n\r\n",
			      way.sin_port == server.sin_port ? "" : url, size,
			      url + strlen("http://"), credentials);

	if (send(fd, request, (size_t)length, MSG_NOSIGNAL) != length)
		die("request");
	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0) {
		if (!got && (n < 12 || memcmp(buf + 9, "200", 3))) {
			fprintf(stderr, "%.*s\n", (int)n, buf);
			die("not the answer wanted");
		}
		got += (size_t)n;
	}
	if (got < size)
		die("answer too short");
	close(fd);
}

static void conn(long count)
{
	for (long i = 0; i < count; i++) {
		double from = now();
		int fd = dial(&server);

		echo(fd);
		printf("%.1f ", now() - from);
		close(fd);
	}
}

static void rtt(long count)
{
	int fd = dial(&server);

	echo(fd);
	for (long i = 0; i < count; i++) {
		double from = now();

		echo(fd);
		printf("%.1f ", now() - from);
	}
	close(fd);
}

static void gets_small(long count)
{
	for (long i = 0; i < count; i++) {
		double from = now();

		get(1);
		printf("%.1f ", now() - from);
	}
}

static void bulk(long mib)
{
	double from = now();

	get((size_t)mib << 20);
	printf("%.1f ", now() - from);
}

static void hold(long count)
{
	for (long i = 0; i < count; i++)
		echo(dial(&server));
}

static void stamp(long count)
{
	struct timespec t;

	for (long i = 0; i < count; i++)
		echo(dial(&server));
	clock_gettime(CLOCK_MONOTONIC, &t);
	fwrite(&t, sizeof(t), 1, stdout);
	fflush(stdout);
	_exit(0);
}

static const struct {
	const char *name;
	void (*run)(long count);
} commands[] = {
	{ "conn", conn }, { "rtt", rtt },   { "get", gets_small },
	{ "bulk", bulk }, { "hold", hold }, { "stamp", stamp },
};

static void run(const char *name, long count)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(commands[i].name, name) == 0) {
			commands[i].run(count);
			putchar('\n');
			fflush(stdout);
			return;
		}
	}
	errno = EINVAL;
	die(name);
}

static void base64(const char *text, char *to)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t left = strlen(text); left; left -= left < 3 ? left : 3, text += 3) {
		unsigned int a = (unsigned char)text[0], b = left > 1 ? (unsigned char)text[1] : 0;
		unsigned int c = left > 2 ? (unsigned char)text[2] : 0, bits = a << 16 | b << 8 | c;

		*to++ = digits[bits >> 18];
		*to++ = digits[bits >> 12 & 63];
		*to++ = left > 1 ? digits[bits >> 6 & 63] : '=';
		*to++ = left > 2 ? digits[bits & 63] : '=';
	}
	*to = '\0';
}

/* The name and the password stand in a URL with %XX for what has a meaning there. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++, to++) {
		char hex[3] = { 0 };

		*to = *text;
		if (*text == '%' && text[1] && text[2]) {
			memcpy(hex, text + 1, 2);
			*to = (char)strtol(hex, NULL, 16);
			text += 2;
		}
	}
	*to = '\0';
}

/* http://[user:password@]localhost:port; the proxies that are measured listen on the loopback. */
static void find_proxy(void)
{
	const char *proxy = getenv("HTTP_PROXY");
	char user[256], encoded[400];
	const char *at, *port;

	if (!proxy || strncmp(proxy, "http://", 7) != 0)
		return;
	proxy += 7;
	at = strrchr(proxy, '@');
	if (at) {
		snprintf(user, sizeof(user), "%.*s", (int)(at - proxy), proxy);
		unescape(user);
		base64(user, encoded);
		snprintf(credentials, sizeof(credentials), "Proxy-Authorization: Basic %s\r\n",
			 encoded);
		proxy = at + 1;
	}
	port = strchr(proxy, ':');
	way.sin_port = htons((in_port_t)(port ? atoi(port + 1) : 80));
	way.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

int main(int argc, char **argv)
{
	struct rlimit files;
	char name[16];
	long count;

	if (argc != 3 && argc != 5)
		die("usage: netclient ADDRESS PORT [COMMAND COUNT]");
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	server.sin_family = AF_INET;
	server.sin_port = htons((in_port_t)atoi(argv[2]));
	if (inet_pton(AF_INET, argv[1], &server.sin_addr) != 1)
		die(argv[1]);
	way = server;
	snprintf(url, sizeof(url), "http://%s:%s", argv[1], argv[2]);
	find_proxy();
	if (argc == 5)
		run(argv[3], atol(argv[4]));
	else
		while (scanf("%15s %ld", name, &count) == 2)
			run(name, count);
	return 0;
}
