/* SPDX-License-Identifier: MIT */
/* Executing the command, inside. */
#pragma once

/* As a shell would: looked up in the PATH of env, and a script without a first line goes to /bin/sh.
 * Returns only when it failed: the errno. */
int exec_command(char *const argv[], char *const env[]);
