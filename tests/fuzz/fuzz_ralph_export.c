/* SPDX-License-Identifier: MIT */
/* The records of ralph in a project, which anybody may have written: each line is taken or passed over, and what is taken can be written again. */
#include "ralph/export.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct db db;
	size_t taken = 0, passed = 0;
	struct err err;

	if (!db.handle && db_open(&db, ":memory:", NULL, &err) < 0)
		abort();
	if (db_begin(&db, &err) < 0)
		abort();
	(void)export_merge(&db, (const char *)data, size, false, &taken, &passed, &err);
	if (taken > size || passed > size)
		abort();
	db_rollback(&db);
	return 0;
}
