/* SPDX-License-Identifier: MIT */
/* A build for macOS: no gate stands in a sandbox there, so that no session has a list of private places; nor does a filter. */
#include "guard/gate.h"

#include <errno.h>

#include "guard/refused.h"

int gate_read(_unused_ int meta, _unused_ struct arena *arena, struct gate_place **ret,
	      size_t *ret_n, _unused_ struct err *err)
{
	*ret = NULL;
	*ret_n = 0;
	return 0;
}

int gate_write(_unused_ int meta, _unused_ const struct gate_place *places, _unused_ size_t n,
	       struct err *err)
{
	return err_set(err, ENOTSUP, "there are no private places here");
}

bool refused_by_mode(_unused_ const char *name)
{
	return false;
}
