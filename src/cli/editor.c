/* SPDX-License-Identifier: MIT */
/* The user's editor, on one file. */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/cli.h"
#include "os/proc.h"

int cli_edit(const char *path, struct err *err)
{
	const char *editor = getenv("VISUAL");
	int status;
	pid_t pid;

	if (!editor || !*editor)
		editor = getenv("EDITOR");
	if (!editor || !*editor)
		editor = "vi";
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		/* A shell reads EDITOR, as everywhere: it is the user's own variable. */
		setenv("WRAPIX_EDITOR", editor, 1);
		execl("/bin/sh", "sh", "-c", "eval \"$WRAPIX_EDITOR\" '\"$1\"'", "sh", path,
		      (char *)NULL);
		_exit(127);
	}
	if (pid < 0)
		return err_errno(err, errno, "starting the editor");
	status = os_await(pid);
	if (status < 0)
		return err_errno(err, -status, "waiting for the editor");
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		err_set(err, EIO, "the editor '%s' failed", editor);
		return err_hint(err, "EDITOR says which one is used");
	}
	return 0;
}
