/* SPDX-License-Identifier: MIT */
/*
 * An ordinary 32-bit program, for running under the filter: loader, files, memory, threads, time,
 * another process. Prints "fine" when all went well.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *in_thread(void *arg)
{
	*(int *)arg = 1;
	return NULL;
}

int main(void)
{
	struct timespec now;
	struct stat st;
	pthread_t thread;
	int ran = 0, status = -1;
	char *memory = malloc(1 << 20);
	FILE *f = fopen("/proc/self/status", "re");

	if (sizeof(void *) != 4 || !memory || !f || !fgets(memory, 1 << 20, f))
		return 1;
	if (pthread_create(&thread, NULL, in_thread, &ran) || pthread_join(thread, NULL) || !ran)
		return 2;
	if (clock_gettime(CLOCK_REALTIME, &now) || now.tv_sec == 0 || stat("/", &st))
		return 3;
	if (system("exit 7") == -1 || (status = system("exit 7"), WEXITSTATUS(status) != 7))
		return 4;
	puts("fine");
	return 0;
}
