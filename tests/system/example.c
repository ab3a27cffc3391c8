/* SPDX-License-Identifier: MIT */
/*
 * The smallest useful program on libwrapix: runs a command in a sandbox of the current directory and
 * tells what happens. Built by api.sh against an installed library, with pkg-config.
 *
 *	example [--json|--text] NETWORK COMMAND...
 */
#include <stdio.h>
#include <string.h>
#include <wrapix.h>

static int fail(const struct wrapix_error *error)
{
	fprintf(stderr, "example: %s\n", error->message);
	if (error->hint[0])
		fprintf(stderr, "example: %s\n", error->hint);
	return error->exit_status;
}

static void on_event(void *ctx, const struct wrapix_event *event)
{
	static const char *const names[] = {
		[WRAPIX_NOTE] = "note",           [WRAPIX_WARNING] = "warning",
		[WRAPIX_STARTED] = "started",     [WRAPIX_STOPPED] = "stopped",
		[WRAPIX_CONTINUED] = "continued", [WRAPIX_LIMIT] = "limit",
		[WRAPIX_EXITED] = "exited",
	};
	int *count = ctx;

	++*count;
	if (event->type == WRAPIX_STARTED)
		fprintf(stderr, "event: %s %d\n", names[event->type], event->number > 0);
	else if ((size_t)event->type < sizeof(names) / sizeof(*names) && names[event->type])
		fprintf(stderr, "event: %s %d %s\n", names[event->type], event->number,
			event->text ? event->text : "");
}

static int run(const struct wrapix_plan *plan)
{
	struct wrapix_error error;
	int status, events = 0;

	if (wrapix_plan_run(plan, on_event, &events, &status, &error) < 0)
		return fail(&error);
	fprintf(stderr, "example: status %d after %d events\n", status, events);
	return status;
}

int main(int argc, char **argv)
{
	int print = argc > 1 && !strncmp(argv[1], "--", 2);
	struct wrapix_spec *spec = wrapix_spec_new(".");
	struct wrapix_plan *plan = NULL;
	struct wrapix_error error;
	int status;

	if (argc < 3 + print || !spec)
		return 2;
	wrapix_spec_set_command(spec, (const char *const *)argv + 2 + print);
	if (wrapix_spec_set(spec, "network", argv[1 + print], &error) < 0 ||
	    wrapix_spec_add_env(spec, "EXAMPLE=1", &error) < 0 ||
	    wrapix_spec_add_mount(spec, "/usr/share:/shared:ro", &error) < 0 ||
	    wrapix_plan_make(spec, &plan, &error) < 0)
		status = fail(&error);
	else if (print)
		status = 0,
		wrapix_plan_print(plan, argv[1][2] == 'j' ? WRAPIX_JSON : WRAPIX_TEXT, stdout);
	else
		status = run(plan);
	wrapix_plan_free(plan);
	wrapix_spec_free(spec);
	return status;
}
