/* SPDX-License-Identifier: MIT */
/* Memory: what children and cores do not get, and giving back what only the start needed. */
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/proc.h"

static int drop_object(struct dl_phdr_info *object, size_t size, void *ctx)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	(void)size;
	(void)ctx;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		uintptr_t start = object->dlpi_addr + segment->p_vaddr;
		uintptr_t first = start & ~(page - 1);

		/* A written page is in no file: only the others can come back. */
		if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W))
			(void)madvise((void *)first, start + segment->p_memsz - first,
				      MADV_DONTNEED); /* advice: the pages merely stay */
	}
	return 0;
}

int os_hide_memory(void *pages, size_t len)
{
	return madvise(pages, len, MADV_WIPEONFORK) < 0 ? -1 : madvise(pages, len, MADV_DONTDUMP);
}

int os_share_memory(void *pages, size_t len)
{
	return madvise(pages, len, MADV_KEEPONFORK);
}

void os_drop_code(void)
{
	dl_iterate_phdr(drop_object, NULL);
}
