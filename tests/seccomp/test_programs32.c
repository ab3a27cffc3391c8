/* SPDX-License-Identifier: MIT */
/* A 32-bit program, given as the argument, runs to its end under every filter. */
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "lib/tap.h"
#include "os/linux/seccomp.h"

static void run_under(const char *program, unsigned flags)
{
	char out[64] = "";
	int pipes[2], status = -1;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		exit(EXIT_FAILURE);
	pid = fork();
	if (pid == 0) {
		struct err err = { 0 };

		dup2(pipes[1], STDOUT_FILENO);
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		    seccomp_load(flags, NULL, &err) < 0)
			_exit(100);
		execl(program, program, NULL);
		_exit(101);
	}
	close(pipes[1]);
	if (read(pipes[0], out, sizeof(out) - 1) < 0)
		diag("read: %s", strerror(errno));
	close(pipes[0]);
	waitpid(pid, &status, 0);
	is_int(status, 0, "%s: ends well", seccomp_describe(flags));
	is_str(out, "fine\n", "%s: and did everything", seccomp_describe(flags));
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		skip("a 32-bit program", "the compiler cannot make one (Debian: gcc-multilib)");
		return done();
	}
	run_under(argv[1], 0);
	run_under(argv[1], SECCOMP_NESTED);
	return done();
}
