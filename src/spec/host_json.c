/* SPDX-License-Identifier: MIT */
/* Host facts as JSON: what 'wrapix plan --host FILE' reads. */
#include "spec/host.h"

#include <errno.h>

int host_load(const char *json, size_t len, struct host *ret, struct err *err)
{
	(void)json;
	(void)len;
	(void)ret;
	return err_set(err, ENOSYS, "--host");
}
