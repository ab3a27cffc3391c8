/* SPDX-License-Identifier: MIT */
/* Memory, queues and keys that the user's processes outside share. */
#include "selftest/attempt/attempt.h"

#include <fcntl.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MSG_COPY
#define MSG_COPY 040000
#endif

static int shared_memory(int id)
{
	char *at;

	if (id < 0)
		return -errno;
	at = shmat(id, NULL, SHM_RDONLY);
	return at == (void *)-1 ? -errno : find_secret(at, 64);
}

static int shm_by_id(void)
{
	return shared_memory((int)fact_number("shm_id"));
}

static int shm_by_key(void)
{
	return shared_memory(shmget((key_t)fact_number("sysv_key"), 64, 0));
}

static int semaphore(void)
{
	return outcome(semctl((int)fact_number("sem_id"), 0, GETVAL));
}

static int message(void)
{
	struct {
		long type;
		char text[64];
	} m;
	ssize_t n = msgrcv((int)fact_number("msg_id"), &m, sizeof(m.text), 0,
			   IPC_NOWAIT | MSG_COPY | MSG_NOERROR);

	if (n < 0 && errno == ENOSYS) /* a kernel without MSG_COPY: seeing the queue is enough */
		return outcome(
			msgctl((int)fact_number("msg_id"), IPC_STAT, &(struct msqid_ds){ 0 }));
	return n < 0 ? -errno : find_secret(m.text, (size_t)n);
}

static int posix_queue(void)
{
	return outcome(mq_open(fact("mq"), O_RDONLY));
}

static int posix_memory(void)
{
	return read_secret_fd(shm_open(fact("shm_name"), O_RDONLY, 0));
}

static int read_key(long serial)
{
	char bytes[64];
	long n = syscall(SYS_keyctl, KEYCTL_READ, serial, bytes, sizeof(bytes));

	return n < 0 ? -errno : find_secret(bytes, (size_t)n);
}

/* A serial number is good in every namespace. */
static int key_by_serial(void)
{
	return read_key(fact_number("key"));
}

static int key_by_name(void)
{
	long serial = syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user",
			      fact("key_name"), 0);

	return serial < 0 ? -errno : read_key(serial);
}

static int change_key(void)
{
	return outcome(syscall(SYS_keyctl, KEYCTL_UPDATE, fact_number("key"), fact("token"),
			       strlen(fact("token"))));
}

static int leave_key(void)
{
	return outcome(
		syscall(SYS_add_key, "user", "wrapix-escape", "x", 1, KEY_SPEC_PROCESS_KEYRING));
}

const struct attempt ipc_attempts[] = {
	{ "ipc-shm-by-id", shm_by_id, PLAIN, IN_ALL | IN_HOST },
	{ "ipc-shm-by-key", shm_by_key, PLAIN, IN_ALL },
	{ "ipc-semaphore", semaphore, PLAIN, IN_ALL },
	{ "ipc-message", message, PLAIN, IN_ALL },
	{ "ipc-posix-queue", posix_queue, PLAIN, IN_ALL },
	{ "ipc-posix-memory", posix_memory, PLAIN, IN_ALL },
	{ "key-by-serial", key_by_serial, PLAIN, IN_ALL },
	{ "key-by-name", key_by_name, PLAIN, IN_ALL },
	{ "key-change", change_key, PLAIN, IN_ALL },
	{ "key-add", leave_key, PLAIN, IN_ALL },
	{ 0 },
};
