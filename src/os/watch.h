/* SPDX-License-Identifier: MIT */
/* Changes in a directory as a descriptor. */
#pragma once

/* Becomes readable when a file in it is made or written; perhaps also when none was. -1 with errno. */
int os_watch_dir(const char *path);
/* What has been told of is done with. */
void os_watch_take(int fd);
