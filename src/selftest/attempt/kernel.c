/* SPDX-License-Identifier: MIT */
/* Doors into the kernel that have let many through: really used, not only knocked at. */
#include "selftest/attempt/attempt.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ring(void)
{
	char params[256] = { 0 }; /* struct io_uring_params */

	return outcome(syscall(SYS_io_uring_setup, 4, params));
}

static int page_faults(void)
{
	return outcome(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
}

static int page_fault_device(void)
{
	return outcome(open("/dev/userfaultfd", O_RDWR | O_CLOEXEC));
}

static int bpf_map(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = attr.value_size = 4;
	attr.max_entries = 1;
	return outcome(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
}

static int performance(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
	};

	return outcome(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

static int file_events(void)
{
	return outcome(fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID, O_RDONLY));
}

static int kernel_log(void)
{
	char text[256];

	return outcome(syscall(SYS_syslog, 3, text, sizeof(text))); /* 3: read all */
}

static int account(void)
{
	return outcome(syscall(SYS_acct, NULL));
}

#ifdef __x86_64__
static int local_descriptors(void)
{
	char table[64];

	return outcome(syscall(SYS_modify_ldt, 0, table, sizeof(table)));
}
#endif

const struct attempt kernel_attempts[] = {
	{ "kernel-io-uring", ring, PLAIN, IN_ALL },
	{ "kernel-userfaultfd", page_faults, PLAIN, IN_ALL },
	{ "kernel-userfaultfd-device", page_fault_device, ROOT, IN_ALL },
	{ "kernel-bpf", bpf_map, ROOT, IN_ALL },
	{ "kernel-perf", performance, ROOT, IN_ALL },
	{ "kernel-fanotify", file_events, PLAIN, IN_ALL },
	{ "kernel-log", kernel_log, ROOT, IN_ALL },
	{ "kernel-acct", account, ROOT, IN_ALL },
#ifdef __x86_64__
	{ "kernel-modify-ldt", local_descriptors, PLAIN, IN_ALL },
#endif
	{ 0 },
};
