/* SPDX-License-Identifier: MIT */
/*
 * Many commands with libwrapix: runs each argument as a line for the shell, under the settings in
 * SETTINGS (JSON) or in the file SETTINGS_FILE if one is set, and tells what was refused. Built by
 * api.sh as example.c is.
 *
 *	commands LINE...
 *
 * The line "-" waits for one of standard input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wrapix.h>

static void on_event(void *ctx, const struct wrapix_event *event)
{
	(void)ctx;
	if (event->type == WRAPIX_VIOLATION || event->type == WRAPIX_WARNING)
		fprintf(stderr, "commands: %s\n", event->text);
}

int main(int argc, char **argv)
{
	struct wrapix_server *server;
	struct wrapix_error error;
	int status = 0;

	if (wrapix_server_start(getenv("SETTINGS_FILE"), &server, &error) < 0) {
		fprintf(stderr, "commands: %s\n", error.message);
		return fgetc(stdin) == EOF && ferror(stdin) ? 1 : error.exit_status;
	}
	for (int i = 1; i < argc; i++) {
		const struct wrapix_command command = { .line = argv[i],
							.settings_json = getenv("SETTINGS") };

		if (!strcmp(argv[i], "-")) {
			while ((status = fgetc(stdin)) != '\n' && status != EOF)
				;
			continue;
		}
		if (wrapix_server_exec(server, &command, on_event, NULL, &status, &error) < 0) {
			fprintf(stderr, "commands: %s\n", error.message);
			status = error.exit_status;
		}
		fprintf(stderr, "commands: status %d\n", status);
	}
	wrapix_server_stop(server);
	return status;
}
