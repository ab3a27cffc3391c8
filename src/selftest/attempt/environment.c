/* SPDX-License-Identifier: MIT */
/* What the user's environment and command lines tell. */
#include "selftest/attempt/attempt.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static int own_variable(void)
{
	const char *value = getenv("WX_SECRET");

	return value ? find_secret(value, strlen(value)) : -ENOENT;
}

static int any_variable(void)
{
	for (char **v = environ; v && *v; v++)
		if (find_secret(*v, strlen(*v)) == WORKED)
			return WORKED;
	return -ENOENT;
}

/* Doors that desktop and cloud tools leave in the environment; the runner sets each. */
static int doors(void)
{
	static const char *const names[] = {
		"SSH_AUTH_SOCK",  "DBUS_SESSION_BUS_ADDRESS",
		"DISPLAY",        "WAYLAND_DISPLAY",
		"XAUTHORITY",     "DOCKER_HOST",
		"KUBECONFIG",     "GPG_AGENT_INFO",
		"GITHUB_TOKEN",   "AWS_SECRET_ACCESS_KEY",
		"OPENAI_API_KEY", "LD_PRELOAD",
		"BASH_ENV",       "GIT_SSH_COMMAND",
		"SUDO_USER",      "PYTHONPATH",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (getenv(names[i])) {
			printf("(%s) ", names[i]);
			return WORKED;
		}
	return -ENOENT;
}

static int of_process(long pid)
{
	return read_secret(proc_path(pid, "environ"));
}

static int of_any_process(void)
{
	return for_each_process(of_process);
}

/* 'wrapix run --env K=V' has it in its own command line, which PID 1 is a copy of. */
static int in_command_line(long pid)
{
	char text[8192], *end;
	const char *token = fact("argument");
	int fd = open(proc_path(pid, "cmdline"), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (fd >= 0)
		close(fd);
	end = n > 0 ? memmem(text, (size_t)n, token, strlen(token)) : NULL;
	return end ? WORKED : -ENODATA;
}

static int any_command_line(void)
{
	return for_each_process(in_command_line);
}

static int host_name(void)
{
	char name[256] = "";

	(void)gethostname(name, sizeof(name) - 1);
	return strcmp(name, fact("hostname")) ? -ENODATA : WORKED;
}

#define PLACES (IN_ALL | IN_OPEN | IN_HOST)

const struct attempt environment_attempts[] = {
	{ "env-variable", own_variable, PLAIN, PLACES },
	{ "env-any-variable", any_variable, PLAIN, PLACES },
	{ "env-doors", doors, PLAIN, PLACES & ~IN_KEYS }, /* which has an agent of its own */
	{ "env-of-any-process", of_any_process, PLAIN, PLACES },
	{ "env-command-line", any_command_line, PLAIN, PLACES },
	{ "env-host-name", host_name, PLAIN, PLACES },
	{ 0 },
};
