/* SPDX-License-Identifier: MIT */
/* wrapix-relay confined by Landlock and seccomp. */
#include "relay/confine.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/linux/landlock.h"
#include "os/linux/seccomp.h"
#include "os/proc.h"

/* What name resolution and certificates need; where a path is missing there is nothing to lose. */
int relay_confine(struct err *err)
{
	static const char *const readable[] = { "/etc", "/usr",     "/lib",      "/lib64",
						"/run", "/var/lib", "/nix/store" };
	const struct rlimit none = { 0, 0 };
	struct landlock_rule rules[ARRAY_LEN(readable) + 1];
	const char *ca = getenv("SSL_CERT_FILE");
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(readable); i++)
		if (access(readable[i], F_OK) == 0)
			rules[n++] = (struct landlock_rule){ readable[i], LANDLOCK_READ };
	if (ca && access(ca, F_OK) == 0)
		rules[n++] = (struct landlock_rule){ ca, LANDLOCK_READ };
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_FSIZE, &none);
	if (os_no_new_privileges() < 0)
		return err_errno(err, errno, "PR_SET_NO_NEW_PRIVS");
	if (landlock_abi() > 0 && landlock_restrict(landlock_abi(), rules, n, err) < 0)
		return -err->code;
	return seccomp_load(0, NULL, err);
}
