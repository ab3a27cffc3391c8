/* SPDX-License-Identifier: MIT */
/* Staying on one processor: for how long, and that no child has to. With one processor there is nothing to keep. */
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/tap.h"
#include "os/linux/processor.h"

enum { SOMEBODY = 7, ELSE };

static int count(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 ? -1 : CPU_COUNT(&set);
}

static int count_in_child(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(count());
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Until both answers fell into one tick of the clock, which one may end in between. */
static int count_after_two(void)
{
	for (int i = 0; i < 100; i++) {
		processor_pause(SOMEBODY);
		processor_stay();
		processor_pause(SOMEBODY);
		if (count() == 1)
			return 1;
	}
	return count();
}

int main(void)
{
	int all = count();

	ok(all > 0, "there are %d processors", all);
	processor_pause(ELSE);
	processor_stay();
	ok(count() == 1, "one is enough while somebody is answered");
	processor_pause(SOMEBODY);
	ok(count() == all, "who is answered for the first time is not stayed with");
	ok(count_after_two() == 1, "who is answered twice is");
	ok(count_in_child() == all && count() == 1, "a child has all of them");
	processor_pause(ELSE);
	ok(count() == all, "another's turn ends it");
	count_after_two();
	while (count() == 1 && all > 1)
		processor_pause(SOMEBODY);
	ok(count() == all, "the clock ends it");
	count_after_two();
	processor_pause(0);
	ok(count() == all, "the end ends it");
	return done();
}
