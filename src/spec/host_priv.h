/* SPDX-License-Identifier: MIT */
/* For the files that host.c is cut into. */
#pragma once

#include <sys/stat.h>

#include "spec/host.h"

struct path_fact *host_add_fact(struct host *host, struct path_facts *facts, const char *path,
				enum path_kind kind, const char *target);
enum path_kind path_kind_of(const struct stat *st);
/* Programs, what is needed of /etc, device nodes, and what of /proc is masked. */
void host_probe_system(struct host *host);
