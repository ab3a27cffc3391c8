/* SPDX-License-Identifier: MIT */
/* GET / of a host, as a program with no library but C's does it: "netclient HOST PORT". */
#define _GNU_SOURCE
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int dial(const char *host, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	int r = getaddrinfo(host, port, &hints, &list), fd = -1;

	if (r) {
		printf("%s\n", r == EAI_NONAME ? "no such name" : gai_strerror(r));
		return -1;
	}
	for (struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
			r = errno;
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(list);
	if (fd < 0)
		printf("%s\n", strerror(r));
	return fd;
}

int main(int argc, char **argv)
{
	char buffer[4096];
	size_t len = 0;
	ssize_t n;
	char *body;
	int fd;

	if (argc != 3)
		return 2;
	fd = dial(argv[1], argv[2]);
	if (fd < 0)
		return 1;
	dprintf(fd, "GET / HTTP/1.0\r\nHost: %s\r\n\r\n", argv[1]);
	while (len < sizeof(buffer) - 1 &&
	       (n = read(fd, buffer + len, sizeof(buffer) - 1 - len)) > 0)
		len += (size_t)n;
	buffer[len] = '\0';
	body = strstr(buffer, "\r\n\r\n");
	printf("%s", body ? body + 4 : "no answer\n");
	return body ? 0 : 1;
}
