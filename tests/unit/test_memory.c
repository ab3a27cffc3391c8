/* SPDX-License-Identifier: MIT */
/* What the start needed goes from memory, and the program goes on with what it wrote. */

#include "os/proc.h"
#include "lib/tap.h"

#define TABLE (512 << 10)

/* Pages of a file that are read, and pages that were written. */
static const char constant[TABLE] = { [0] = 'a', [TABLE - 1] = 'z' };
static char written[TABLE] = { [0] = 'a' };

static long resident_file_kib(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssFile: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static int sum(const volatile char *bytes)
{
	int total = 0;

	for (size_t i = 0; i < TABLE; i += 1024)
		total += bytes[i];
	return total + bytes[TABLE - 1];
}

int main(void)
{
	int before, after;
	long kib;

	memset(written, 1, sizeof(written));
	before = sum(constant) + sum(written);
	kib = resident_file_kib();
	ok(kib >= TABLE >> 10, "what was read is in memory (%ld KiB)", kib);
	os_drop_code();
	after = (int)resident_file_kib();
	ok(after <= kib - (TABLE >> 11), "and goes (%d KiB are left)", after);
	is_int(sum(constant) + sum(written), before, "nothing of it is lost");
	return done();
}
