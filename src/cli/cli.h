/* SPDX-License-Identifier: MIT */
/*
 * The command line: one file per subcommand, which ends with the subcommand's row (struct command);
 * commands.c lists the rows. Only this room prints and exits.
 */
#pragma once

#include "base/opt.h"
#include "cli/denials.h"
#include "export/task.h"
#include "spec/spec.h"
#include "wrapix.h"

/* The headings that the help lists the commands under, in this order. */
enum command_section {
	SECTION_SANDBOX,
	SECTION_SESSIONS,
	SECTION_CLAUDE,
	SECTION_HOST,
	SECTION_COUNT
};

struct command {
	const char *name;
	enum command_section section;
	const char *usage;           /* after "wrapix ": "run [DIR] [options] [-- CMD...]" */
	const char *summary;         /* one line, without a full stop */
	const char *description;     /* paragraphs divided by a newline */
	const char *const *examples; /* pairs of command line and meaning; NULL-terminated */
	struct opt_syntax syntax;
	int (*run)(int argc, char **argv); /* argv[0] is the name; returns the exit status */
	bool is_program; /* one of its own, which has commands and help of its own */
};

/* What every row's table of options is made of. */
#define FLAG(type, field) .kind = OPT_FLAG, .offset = offsetof(struct type, field)
#define HELP                                                            \
	{                                                               \
		'h', "help", .kind = OPT_HELP, .help = "show this help" \
	}
#define EXAMPLES(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* What this program is; the table of its commands stands beside it. */
struct program {
	const char *name;  /* as it is typed: "wrapix", "wrapix image" */
	const char *label; /* what its messages begin with; NULL: wrapix */
	const char *file;  /* what its completion and its manual are called; NULL: as its label */
	const char *about;
	const char *const *examples;
	int (*run)(int argc, char **argv); /* the whole of it; NULL: it has subcommands */
	/* Other names of the file, under which it is another program; NULL at the end. */
	struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} others[3];
	void (*begin)(void); /* before each command, or NULL */
};
extern const struct program this_program;
const char *program_label(void);

/* The rows, NULL at the end, and the one of that name or NULL. */
extern const struct command *const commands[];
extern const char *const command_sections[SECTION_COUNT];
const struct command *command_find(const char *name);
/* Says that there is none of that name, and which one may be meant. */
int command_unknown(const char *name, struct err *err);

/* What 'wrapix' itself takes before a subcommand. */
struct main_args {
	bool version, build_info;
};
extern const struct opt main_opts[];

/* What each subcommand's options fill. */
struct run_args {
	struct wrapix_spec *spec;
	bool dry_run, json, facts, verbose;
	bool running; /* the command has been started */
	struct denials denials;
	bool host_refused;      /* one of these was of the network */
	bool read_only_refused; /* and one a write to what is read-only inside */
	const char *resume;
	const char *on;          /* another engine's place */
	const char *host_file;   /* plan --host: facts about another machine */
	const char *from;        /* --settings-from */
	struct task_wishes task; /* export */
	const char *output;
	bool weaker;
	bool exec; /* plan --exec: of a command under these settings */
	const char *settings;
};
extern const struct opt run_opts[];  /* run */
extern const struct opt plan_opts[]; /* plan: run's and its own */
extern const struct opt export_opts[];

extern const struct command command_run;
extern const struct command command_exec;
extern const struct command command_plan;
extern const struct command command_export;
extern const struct command command_why;
extern const struct command command_ps;
extern const struct command command_stop;
extern const struct command command_log;
extern const struct command command_learn;
extern const struct command command_report;
extern const struct command command_allow;
extern const struct command command_deny;
extern const struct command command_settings;
extern const struct command command_mode;
extern const struct command command_check;
extern const struct command command_diff;
extern const struct command command_review;
extern const struct command command_apply;
extern const struct command command_undo;
extern const struct command command_discard;
extern const struct command command_git;
extern const struct command command_doctor;
extern const struct command command_selftest;
extern const struct command command_profile;
extern const struct command command_image;
extern const struct command command_trust;
extern const struct command command_key, command_secret;
extern const struct command command_completion;
extern const struct command command_help;
extern const struct command command_version;

/* Makes the image that packages ask for, and says so: image_door.c. */
int cli_make_image(const struct spec *spec, struct err *err);

/* The program under the name 'srt'; and under one that only a supervisor gives it (exec_server.c). */
int cmd_srt(int argc, char **argv);
void git_begin(void);
int cmd_lent(int argc, char **argv);

/*
 * Parses the words of the subcommand argv[0] by its row. Returns CLI_GO_ON, or the exit status to
 * end with, after the help or the error has been printed:
 *
 *	status = cli_parse(argc, argv, &args, &rest);
 *	if (status != CLI_GO_ON)
 *		return status;
 */
enum { CLI_GO_ON = -1 };
int cli_parse(int argc, char **argv, void *args, struct opt_rest *ret_rest);

/* "y" on a terminal; false without one. */
bool cli_ask(const char *question);

/* "wrapix: MSG" and "hint: HINT" on standard error, with control bytes escaped. */
void cli_print_err(const struct err *err);
/* The same, and the exit status it leads to. */
int cli_fail(const struct err *err);
/* "wrapix: warning: ..." on standard error, escaped the same way. */
void cli_warn(const char *fmt, ...) _printf_(1, 2);

/* How this program was built, a line each. */
void cli_print_build_info(void);

/* Colour only on a terminal, never with NO_COLOR or TERM=dumb. */
bool cli_color(FILE *file);

/* The help of wrapix itself (command NULL) or of one subcommand, on standard output. */
void cli_print_help(const struct command *command);

/* The public library's error, printed as ours; returns the exit status it leads to. */
int cli_fail_public(const struct wrapix_error *error);

/* Opens a spec from the words of 'run' or 'plan'; CLI_GO_ON or the status to end with. */
int cli_parse_run(int argc, char **argv, struct run_args *args);

/* run_claude.c: Claude Code's settings count for the spec. */
int cli_run_claude(struct wrapix_spec *spec, struct err *err);

/* The user's state directory, in the arena. */
char *cli_state_home(struct arena *arena);

/* The running sessions of this user, wherever they are registered. */
struct session_info;
int cli_list_sessions(struct arena *arena, struct session_info **ret, size_t *ret_len,
		      struct err *err);
/* The one with that id, or the only one of that name; else NULL and an error that lists the ids. */
const struct session_info *cli_pick_session(const struct session_info *list, size_t n,
					    const char *word, struct err *err);

/* editor.c: the user's editor (VISUAL, EDITOR) on a file; fails when that does. */
int cli_edit(const char *path, struct err *err);

/* The names of the running sessions, one per line, for completion; in ps.c. Returns a status. */
int cli_print_sessions(void);
