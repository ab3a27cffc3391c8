/* SPDX-License-Identifier: MIT */
/* tmux, by its own program and the socket of the session's server: never the default one. */
#include "notify/tmux.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "os/proc.h"

/* Divides the fields; no name of tmux's can hold it. */
#define SEP "\037"

/* Runs tmux to its end with its output caught. */
static int run(const struct place *place, char *const *args, char **ret_output)
{
	struct arena arena = { 0 };
	struct strv argv = { 0 };
	char *path = os_find_program(&arena, "tmux", getenv("PATH"), NULL);
	int status = -ENOENT;

	if (path && place->tmux_socket[0]) {
		strv_add(&arena, &argv, path);
		strv_add(&arena, &argv, "-S");
		strv_add(&arena, &argv, place->tmux_socket);
		for (; *args; args++)
			strv_add(&arena, &argv, *args);
		status = os_capture(argv.v, "/", 65536, ret_output);
	}
	arena_release(&arena);
	return status;
}

#define RUN(place, output, ...) run(place, (char *[]){ __VA_ARGS__, NULL }, output)

static bool parse_client(const struct place *place, char *line, struct tmux_client *ret)
{
	enum { TTY, PID, PANE, FLAGS, FEATURES, EVENTS, FIELDS };
	char *field[FIELDS];

	for (int i = 0; i < FIELDS; i++) {
		field[i] = strsep(&line, SEP);
		if (!field[i])
			return false;
	}
	*ret = (struct tmux_client){
		.pid = (pid_t)strtol(field[PID], NULL, 10),
		.shows = !strcmp(field[PANE], place->tmux_pane),
		.focused = strstr(field[FLAGS], "focused") != NULL,
		/* Until its terminal has reported something, tmux takes every client for focused. */
		.knows = (!strcmp(field[EVENTS], "1") || !strcmp(field[EVENTS], "on")) &&
			 strstr(field[FEATURES], "focus"),
	};
	snprintf(ret->tty, sizeof(ret->tty), "%s", field[TTY]);
	return true;
}

int tmux_read_clients(const struct place *place, char *output, struct tmux_client ret[TMUX_CLIENTS])
{
	char *line;
	int n = 0;

	while (n < TMUX_CLIENTS && (line = strsep(&output, "\n")))
		if (*line && parse_client(place, line, &ret[n]))
			n++;
	return n;
}

int tmux_clients(const struct place *place, struct tmux_client ret[TMUX_CLIENTS])
{
	_cleanup_free_ char *output = NULL;
	int status = RUN(place, &output, (char *)"list-clients", (char *)"-F",
			 (char *)"#{client_tty}" SEP "#{client_pid}" SEP "#{pane_id}" SEP
				 "#{client_flags}" SEP "#{client_termfeatures}" SEP
				 "#{focus-events}");

	if (status != 0)
		return status < 0 ? status : -EIO;
	return tmux_read_clients(place, output, ret);
}

void tmux_raise(const struct place *place)
{
	char *pane = (char *)place->tmux_pane;
	struct tmux_client clients[TMUX_CLIENTS];
	char *output = NULL;
	int n;

	(void)RUN(place, &output, (char *)"select-window", (char *)"-t", pane, (char *)";",
		  (char *)"select-pane", (char *)"-t", pane);
	free(output);
	n = tmux_clients(place, clients);
	for (int i = 0; i < n; i++)
		if (clients[i].shows)
			return;
	output = NULL;
	(void)RUN(place, &output, (char *)"switch-client", (char *)"-t", pane);
	free(output);
}
