/* SPDX-License-Identifier: MIT */
/* Time as a descriptor, by timerfd. */
#include "os/timer.h"

#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

int os_timer_open(void)
{
	return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
}

static struct timespec in_ms(unsigned ms)
{
	return (struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
}

int os_timer_set(int fd, unsigned first_ms, unsigned every_ms)
{
	const struct itimerspec at = { in_ms(every_ms), in_ms(first_ms) };

	return timerfd_settime(fd, 0, &at, NULL);
}

bool os_timer_take(int fd)
{
	uint64_t ticks;

	return read(fd, &ticks, sizeof(ticks)) == sizeof(ticks);
}
