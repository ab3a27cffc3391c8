/* SPDX-License-Identifier: MIT */
/* For the files that host.c is cut into. */
#pragma once

#include <sys/stat.h>

#include "spec/host.h"

struct path_fact *host_add_fact(struct host *host, struct path_facts *facts, const char *path,
				enum path_kind kind, const char *target);
enum path_kind path_kind_of(const struct stat *st);
/* What stands at the sources of spec->mounts, once the project is known. */
void host_probe_mounts(const struct spec *spec, struct host *host);
/* project.way. */
void host_probe_way(const struct spec *spec, struct host *host);
/* The unpacked image that spec->image names. */
int host_probe_image(const struct spec *spec, struct host *host, struct err *err);
/* Programs, what is needed of /etc, device nodes, and what of /proc is masked. */
void host_probe_system(struct host *host);
/* The proxy, the resolver, the programs for the open network and the way to the internet. */
void host_probe_network(const struct spec *spec, char **environment, struct host *host);
/* The last two. */
void host_probe_uplink(char **environment, struct host *host);
/* Of an environment that is given; NULL when it has no such variable. */
const char *host_raw_env(char **environment, const char *name);
/* The short look that 'wrapix exec' needs: no agents, profiles, package managers. */
int host_probe_exec(const struct spec *spec, char **environment, struct host *host,
		    struct err *err);
/* The one that a builder needs: the system, an image, the range of ids. */
int host_probe_builder(const struct spec *spec, char **environment, struct host *host,
		       struct err *err);
void host_probe_proxy(const char *const *names, char **environment, struct host *host);
/* What the kernel can do for a sandbox, and which of our descriptors are a terminal. */
void host_probe_kernel(struct host *host);
