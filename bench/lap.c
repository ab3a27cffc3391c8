/* SPDX-License-Identifier: MIT */
/*
 * Runs a command once for every byte on its standard input and answers each with the microseconds
 * that the run took, one line each: lap CMD [ARG...]
 *
 * Two of these, one in a sandbox and one outside, compare the work itself without the start of the
 * sandbox, and by turns. What the command prints is thrown away.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int run(char **argv)
{
	pid_t pid = vfork();
	int status;

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		execvp(argv[0], argv);
		_exit(127);
	}
	return pid < 0 || waitpid(pid, &status, 0) < 0 ? -1 : status;
}

int main(int argc, char **argv)
{
	struct timespec start, end;
	char go;

	while (argc > 1 && read(STDIN_FILENO, &go, 1) == 1) {
		clock_gettime(CLOCK_MONOTONIC, &start);
		if (run(argv + 1)) {
			fprintf(stderr, "lap: '%s' failed\n", argv[1]);
			return 1;
		}
		clock_gettime(CLOCK_MONOTONIC, &end);
		printf("%.1f\n", (double)(end.tv_sec - start.tv_sec) * 1e6 +
					 (double)(end.tv_nsec - start.tv_nsec) / 1e3);
		fflush(stdout);
	}
	return 0;
}
