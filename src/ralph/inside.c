/* SPDX-License-Identifier: MIT */
/*
 * 'ralph' as it stands in a sandbox: it knows 'item' and nothing else, and knows nothing of that itself.
 * Words go out through a socket, and the answer is printed. Static, so that it needs nothing inside.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/util.h"
#include "ralph/wire.h"

static char question[WIRE_MAX];
static size_t len;

static int fail(const char *what)
{
	fprintf(stderr, "ralph: %s\n", what);
	return 1;
}

static int add(const char *bytes, size_t n)
{
	if (n > sizeof(question) - len)
		return -1;
	memcpy(question + len, bytes, n);
	len += n;
	return 0;
}

static int ask(int fd)
{
	char buf[4096];
	ssize_t n;
	int status = 0;
	bool in_status = true;

	for (size_t done = 0; done < len; done += (size_t)n) {
		n = send(fd, question + done, len - done, MSG_NOSIGNAL);
		if (n < 0)
			return fail(strerror(errno));
	}
	shutdown(fd, SHUT_WR);
	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0) {
		char *p = buf;

		for (; in_status && p < buf + n; p++) {
			if (*p == '\n')
				in_status = false;
			else if (*p >= '0' && *p <= '9' && status < 100)
				status = status * 10 + (*p - '0');
		}
		fwrite(p, 1, (size_t)(buf + n - p), status ? stderr : stdout);
	}
	if (n < 0 || in_status)
		return fail("no answer came");
	return fflush(stdout) ? 1 : status;
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = RALPH_DOOR_INSIDE };
	_cleanup_close_ int fd = -1;
	bool wants_text = false;
	int bad;

	if (argc < 2 || strcmp(argv[1], "item") != 0)
		return fail(
			"in a sandbox there is 'ralph item' alone; 'ralph item help' explains it");
	bad = add(WIRE_MAGIC, sizeof(WIRE_MAGIC));
	for (int i = 2; !bad && i < argc; i++) {
		bad = argv[i][0] ? add(argv[i], strlen(argv[i]) + 1) : -1;
		wants_text |= !strcmp(argv[i], "-");
	}
	if (!bad)
		bad = add("", 1);
	if (!bad && wants_text) {
		char buf[4096];
		size_t n;

		while (!bad && (n = fread(buf, 1, sizeof(buf), stdin)) > 0)
			bad = add(buf, n);
	}
	if (bad)
		return fail("that is too long, or an empty word");
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return fail("nobody listens: this sandbox was not started by ralph");
	return ask(fd);
}
