/* SPDX-License-Identifier: MIT */
/* wrapix-relay confined by Seatbelt's profile for programs that write no file: weaker, for it may read what the user may. */
#include "relay/confine.h"

#include <errno.h>
#include <sandbox.h>
#include <sys/resource.h>

int relay_confine(struct err *err)
{
	const struct rlimit none = { 0, 0 };
	char *why = NULL;

	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_FSIZE, &none);
	if (sandbox_init(kSBXProfileNoWrite, SANDBOX_NAMED, &why) == 0)
		return 0;
	err_set(err, EPERM, "Seatbelt: %s", why ? why : "no reason was given");
	sandbox_free_error(why);
	return -EPERM;
}
