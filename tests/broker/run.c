/* SPDX-License-Identifier: MIT */
/*
 * Runs a command in a read-only view with a broker, for trying things: brokered_run DIR COMMAND...
 * Refusals are printed on standard error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "brokered.h"

static int run(void *ctx)
{
	char **argv = ctx;

	execvp(argv[0], argv);
	perror(argv[0]);
	return 127;
}

static void tell(struct brokered *b, const struct broker_denial *denial)
{
	(void)b;
	fprintf(stderr, "denied: %s %s (%s) %s\n", denial->call, denial->path,
		denial->rule ? denial->rule->text : "no rule",
		denial->reason ? denial->reason : "");
}

int main(int argc, char **argv)
{
	struct brokered b;
	char dir[4096];
	int status;

	if (argc < 3 || !realpath(argv[1], dir) || strlen(dir) >= sizeof(b.dir))
		return 2;
	brokered_init(&b, getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	brokered_allow(&b, dir);
	rmdir(b.dir);
	memcpy(b.dir, dir, strlen(dir) + 1);
	b.on_denied = tell;
	status = brokered_run(&b, run, argv + 2);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
