/* SPDX-License-Identifier: MIT */
/* The socket of a server of commands, while another process puts a link in its place. */
#include "api/serve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/tap.h"
#include "session/control.h"

static bool swapping;

/* The C library's: it is set back when the socket was bound, and here the link comes just then. */
mode_t umask(mode_t mask)
{
	char name[32];

	snprintf(name, sizeof(name), "sock.%d", (int)getpid());
	if (swapping && access(name, F_OK) == 0) {
		swapping = false;
		if (rename(name, "away") < 0 || symlink("victim", name) < 0)
			abort();
	}
	return mask;
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	return lstat(name, &st) < 0 ? 0 : st.st_mode & 07777;
}

int main(void)
{
	char top[] = "/tmp/wrapix-test-serve.XXXXXX";
	struct serve_id id;
	struct err err;
	int fd;

	if (!mkdtemp(top) || chdir(top) < 0)
		return 1;
	fd = open("victim", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || fchmod(fd, 0640) < 0)
		return 1;
	close(fd);
	fd = serve_listen("sock", &id, &err);
	ok(fd >= 0 && mode_of("sock") == CONTROL_MODE, "a socket for us alone is made");
	close(fd);
	serve_unlink("sock", &id);
	swapping = true;
	ok(serve_listen("sock", &id, &err) < 0 && !swapping,
	   "a link that takes the place of it is not followed");
	is_int(mode_of("victim"), 0640, "... nor is what it leads to changed");
	ok(!unlink("victim") && !unlink("away") && !chdir("/") && !rmdir(top),
	   "nothing else is there");
	return done();
}
