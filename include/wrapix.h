/* SPDX-License-Identifier: MIT */
/*
 * libwrapix: load or build a spec, make and print a plan, run it, get events and errors.
 *
 *	struct wrapix_spec *spec = wrapix_spec_new(".");
 *	struct wrapix_plan *plan;
 *	struct wrapix_error error;
 *	int status;
 *
 *	wrapix_spec_set(spec, "network", "none", &error);
 *	wrapix_spec_set_command(spec, (const char *const[]){ "make", "test", NULL });
 *	if (wrapix_plan_make(spec, &plan, &error) < 0 ||
 *	    wrapix_plan_run(plan, NULL, NULL, &status, &error) < 0)
 *		fprintf(stderr, "%s\n", error.message);
 *
 * Functions return 0 or a negative errno and fill *error (which may be NULL) on failure. The
 * calling process must have one thread while wrapix_plan_run() runs.
 */
#ifndef WRAPIX_H
#define WRAPIX_H

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WRAPIX_API __attribute__((visibility("default")))

struct wrapix_spec;
struct wrapix_plan;

struct wrapix_error {
	int code;        /* positive errno */
	int exit_status; /* what a program should exit with: 2, 125, 126 or 127 */
	char message[768];
	char hint[512]; /* what to do about it; may be empty */
};

WRAPIX_API const char *wrapix_version(void);

/* A spec for the project in dir ("." by default), with nothing set yet. */
WRAPIX_API struct wrapix_spec *wrapix_spec_new(const char *dir);
WRAPIX_API void wrapix_spec_free(struct wrapix_spec *spec);

WRAPIX_API void wrapix_spec_set_dir(struct wrapix_spec *spec, const char *dir);

/* The scalar options of 'wrapix run' by their long names: "network", "memory", "profile", ... */
WRAPIX_API int wrapix_spec_set(struct wrapix_spec *spec, const char *key, const char *value,
			       struct wrapix_error *error);
/* All that a file with the keys of wrapix.json says; what is set later replaces it. */
WRAPIX_API int wrapix_spec_load(struct wrapix_spec *spec, const char *file,
				struct wrapix_error *error);
/* "SRC:DEST[:ro|rw][,optional]" */
WRAPIX_API int wrapix_spec_add_mount(struct wrapix_spec *spec, const char *mount,
				     struct wrapix_error *error);
/* "NAME=VALUE", or "NAME" for the host's value */
WRAPIX_API int wrapix_spec_add_env(struct wrapix_spec *spec, const char *env,
				   struct wrapix_error *error);
/* "HOST[:PORT]" for the filtered network; deny is 0 or 1. */
WRAPIX_API int wrapix_spec_add_rule(struct wrapix_spec *spec, const char *host, int deny,
				    struct wrapix_error *error);
/* "[IP:]HOST[:SANDBOX]" or "auto": ports of the sandbox's that this machine offers. */
WRAPIX_API int wrapix_spec_add_publish(struct wrapix_spec *spec, const char *port,
				       struct wrapix_error *error);
/* "PORT" of this machine's loopback that the sandbox may reach. */
WRAPIX_API int wrapix_spec_add_host_port(struct wrapix_spec *spec, const char *port,
					 struct wrapix_error *error);
/* "NAME[=on|off|brokered]": a secret from the environment or the store, as a variable inside, or
 * brokered: it stays outside, and requests get it on their way. */
WRAPIX_API int wrapix_spec_add_credential(struct wrapix_spec *spec, const char *credential,
					  struct wrapix_error *error);
/* "CLASS=LEVEL" or "PATH=LEVEL": what becomes of changes to files that run later. */
WRAPIX_API int wrapix_spec_add_protect(struct wrapix_spec *spec, const char *text,
				       struct wrapix_error *error);
/* A package beyond the profile's: the sandbox runs from an image that has it. 'wrapix run' makes one where
 * there is none; a program that uses the library finds one or is told how to make it. */
WRAPIX_API int wrapix_spec_add_package(struct wrapix_spec *spec, const char *package,
				       struct wrapix_error *error);
/* The plan will be run: while it is made, credentials are fetched from the store. */
WRAPIX_API void wrapix_spec_set_will_run(struct wrapix_spec *spec);
/* NULL-terminated; without one the agent is started. */
WRAPIX_API void wrapix_spec_set_command(struct wrapix_spec *spec, const char *const *argv);

/*
 * Reads the profile, the user's configuration and the project's wrapix.json below what was set,
 * looks at this host, and decides everything. An untrusted wrapix.json that widens the sandbox is an
 * error.
 */
WRAPIX_API int wrapix_plan_make(struct wrapix_spec *spec, struct wrapix_plan **ret,
				struct wrapix_error *error);
/* The same for a machine described by the facts in a JSON text instead of this one. */
WRAPIX_API int wrapix_plan_make_for(struct wrapix_spec *spec, const char *host_json, size_t len,
				    struct wrapix_plan **ret, struct wrapix_error *error);
WRAPIX_API void wrapix_plan_free(struct wrapix_plan *plan);

enum wrapix_format {
	WRAPIX_TEXT,
	WRAPIX_JSON,
	WRAPIX_FACTS, /* the facts about the host that the plan was made from, as JSON */
};
WRAPIX_API void wrapix_plan_print(const struct wrapix_plan *plan, enum wrapix_format format,
				  FILE *out);

enum wrapix_event_type {
	WRAPIX_NOTE = 1,    /* text: something the user should know, before the start or later */
	WRAPIX_WARNING = 2, /* text: a comfort was lost */
	WRAPIX_STARTED = 3, /* number: the host's pid of the sandbox */
	WRAPIX_STOPPED = 4, /* number: the signal */
	WRAPIX_CONTINUED = 5,
	WRAPIX_LIMIT = 6,  /* text: the limit that was hit */
	WRAPIX_EXITED = 7, /* number: the exit status */
	/* text: what was refused, and why; number: the port, 0 for a name, -1 where it was a system call or a file,
	 * -2 where it was a write to what is read-only inside */
	WRAPIX_DENIED = 8,
	WRAPIX_RULE = 9, /* text: a rule that was added while it runs; number: 1 when it denies */
	/* text: the session's id; 'wrapix log' has something to show; "": not all */
	WRAPIX_LOGGED = 10,
	WRAPIX_VIOLATION = 11, /* text: what a command's settings refused, as one JSON object */
	WRAPIX_QUIET = 12,     /* nothing happened for a moment, for the first time */
};

struct wrapix_event {
	enum wrapix_event_type type;
	int number;
	const char *text; /* may be NULL */
};

typedef void wrapix_event_fn(void *ctx, const struct wrapix_event *event);

/*
 * Runs the plan with this process as the supervisor until the command has ended. *ret_status is
 * the command's exit status, 128+n when signal n killed it. on_event may be NULL.
 */
WRAPIX_API int wrapix_plan_run(const struct wrapix_plan *plan, wrapix_event_fn *on_event, void *ctx,
			       int *ret_status, struct wrapix_error *error);

/*
 * Many commands, each under the settings of sandbox-runtime as 'wrapix exec' runs it, and each for
 * less than a start costs: a server is a process of the caller's that has everything loaded and the
 * next supervisors ready. It ends with wrapix_server_stop(), or with the caller, however that ends;
 * its commands end with it.
 *
 *	struct wrapix_server *server;
 *	struct wrapix_command make = { .line = "make -s check" };
 *
 *	if (wrapix_server_start(NULL, &server, &error) == 0 &&
 *	    wrapix_server_exec(server, &make, NULL, NULL, &status, &error) == 0)
 *		printf("status %d\n", status);
 *
 * Several threads may have commands run by one server at the same time.
 */
struct wrapix_server;

struct wrapix_command {
	const char *line;          /* for the shell; or */
	const char *const *argv;   /* words, NULL-terminated */
	const char *dir;           /* absolute; NULL: the caller's working directory */
	const char *const *env;    /* "NAME=VALUE", NULL-terminated; NULL: the caller's */
	const char *settings;      /* a file; NULL: the server's */
	const char *settings_json; /* the settings themselves instead; NULL */
	const int *fds; /* three: the command's input, output and errors; NULL: the caller's */
};

/* settings: the file for commands that name none; NULL: ~/.srt-settings.json. It is read for each. */
WRAPIX_API int wrapix_server_start(const char *settings, struct wrapix_server **ret,
				   struct wrapix_error *error);
/* Until the command has ended. *ret_status as of wrapix_plan_run(). on_event may be NULL. */
WRAPIX_API int wrapix_server_exec(struct wrapix_server *server,
				  const struct wrapix_command *command, wrapix_event_fn *on_event,
				  void *ctx, int *ret_status, struct wrapix_error *error);
/* Ends its commands, too. */
WRAPIX_API void wrapix_server_stop(struct wrapix_server *server);

#ifdef __cplusplus
}
#endif

#endif
