/* SPDX-License-Identifier: MIT */
/*
 * Names of users and hosts by the C library's own means. GNU's loads modules for them from wherever the root
 * is by then, as /etc/nsswitch.conf there says, and asks a daemon there; since 2.34 it needs none for files and DNS.
 * Another has no modules at all.
 */
#include <string.h>

#include "base/util.h"
#include "os/proc.h"

static bool pinned;

bool os_has_names(void)
{
	return !pinned && !os_is_static();
}

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#include <nss.h>

bool os_pin_names(void)
{
	static const struct {
		const char *names, *way;
	} databases[] = {
		{ "passwd", "files" },   { "group", "files" },     { "initgroups", "files" },
		{ "shadow", "files" },   { "hosts", "files dns" }, { "networks", "files" },
		{ "services", "files" }, { "protocols", "files" },
	};

	if (strverscmp(gnu_get_libc_version(), "2.34") < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(databases); i++)
		if (__nss_configure_lookup(databases[i].names, databases[i].way) < 0)
			return false;
	pinned = true;
	return true;
}
#else
bool os_pin_names(void)
{
	pinned = true;
	return true;
}
#endif
