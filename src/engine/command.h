/* SPDX-License-Identifier: MIT */
/* Executing the command, and its parent's part: signals to it, and its end. Inside. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* As a shell would: looked up in the PATH of env, and a script without a first line goes to /bin/sh.
 * Returns only when it failed: the errno. */
int exec_command(char *const argv[], char *const env[]);

/* Keyboard signals are for the whole foreground group, the others for the command alone. */
void signal_command(pid_t command, int signal_no);

/* Takes in the children that have ended, up to the command, which may have been stopped, or
 * continued, as well: true, and its status. */
bool reap_command(pid_t command, int *ret_status);
