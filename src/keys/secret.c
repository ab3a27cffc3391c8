/* SPDX-License-Identifier: MIT */
/* Memory for secrets. */
#include "keys/secret.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "os/proc.h"

int secret_alloc(struct secret *secret, size_t size, struct err *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t whole = (size + page - 1) / page * page;
	void *p = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return err_errno(err, errno, "memory for a key");
	/* A copy in a child would outlive our wiping; without this there is no secret to hold. */
	if (os_hide_memory(p, whole) < 0) {
		int code = errno;

		munmap(p, whole);
		return err_errno(err, code, "protecting the memory for a key");
	}
	/* The limit for locked memory may be used up; swap is then the system's to protect. */
	(void)mlock(p, whole);
	*secret = (struct secret){ p, whole };
	return 0;
}

void secret_free(struct secret *secret)
{
	if (!secret->data)
		return;
	explicit_bzero(secret->data, secret->size);
	munmap(secret->data, secret->size);
	*secret = (struct secret){ 0 };
}
