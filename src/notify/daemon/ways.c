/* SPDX-License-Identifier: MIT */
/*
 * Ways to show a message where the desktop's service does not: a program, the terminal itself; and the
 * user's own command, which gets every message that was shown.
 *
 * Text of a sandbox stands in argv only after "--" or in a place that takes one word, on a terminal only
 * after message_set() has taken every control character out, and in a script's text never.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "notify/daemon/notifyd.h"
#include "os/fs.h"
#include "os/platform.h"
#include "os/proc.h"

#define PROGRAM_MS 3000
#define WEBHOOK_MS 10000

const char *way_name(enum way way)
{
	static const char *const names[] = { "desktop", "program", "terminal", "none" };

	return names[way];
}

/* --- a program --- */

enum { ARG_WORD, ARG_TITLE, ARG_TEXT, ARG_MARKUP, ARG_SOUND, ARG_URGENCY };

static const struct {
	const char *name;
	struct {
		int kind;
		const char *word;
	} args[12];
} programs[] = {
	{ "notify-send",
	  { { ARG_WORD, "--app-name=wrapix" },
	    { ARG_WORD, "--urgency" },
	    { ARG_URGENCY, NULL },
	    { ARG_WORD, "--" },
	    { ARG_TITLE, NULL },
	    { ARG_MARKUP, NULL } } },
	{ "terminal-notifier",
	  { { ARG_WORD, "-title" },
	    { ARG_TITLE, NULL },
	    { ARG_WORD, "-message" },
	    { ARG_TEXT, NULL },
	    { ARG_WORD, "-sound" },
	    { ARG_SOUND, NULL } } },
	/* The script takes the text from its arguments: nothing of it is ever read as AppleScript. */
	{ "osascript",
	  { { ARG_WORD, "-e" },
	    { ARG_WORD, "on run argv" },
	    { ARG_WORD, "-e" },
	    { ARG_WORD, "display notification (item 2 of argv) with title (item 1 of argv)" },
	    { ARG_WORD, "-e" },
	    { ARG_WORD, "end run" },
	    { ARG_WORD, "--" },
	    { ARG_TITLE, NULL },
	    { ARG_TEXT, NULL } } },
};

/* The first of them that is installed; ret may be NULL. */
static char *find_program(struct arena *arena, size_t *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		bool here = !os_is_darwin() || strcmp(programs[i].name, "notify-send");
		char *path = here ? os_find_program(arena, programs[i].name, getenv("PATH"), NULL)
				  : NULL;

		if (path) {
			if (ret)
				*ret = i;
			return path;
		}
	}
	return NULL;
}

const char *way_program_name(void)
{
	struct arena arena = { 0 };
	size_t i = 0;
	bool found = find_program(&arena, &i) != NULL;

	arena_release(&arena);
	return found ? programs[i].name : NULL;
}

static int exec_child(void *arg, _unused_ int out)
{
	char **argv = arg;

	execv(argv[0], argv);
	return 127;
}

/* For notify-send, which makes of "\\033" what it stands for; and to most services it is markup. */
static void add_markup(struct str *out, const char *text)
{
	_cleanup_str_ struct str plain = { 0 };

	for (; *text; text++)
		str_addn(&plain, *text == '\\' ? "\\\\" : text, *text == '\\' ? 2 : 1);
	str_add_markup(out, plain.len ? plain.s : "");
}

int way_program(struct sender *s, job_done_fn *done)
{
	const struct message *m = &s->now.message;
	_cleanup_str_ struct str markup = { 0 };
	struct arena arena = { 0 };
	struct strv argv = { 0 };
	size_t which;
	char *path = find_program(&arena, &which);
	int r = -ENOENT;

	add_markup(&markup, m->text);
	if (path) {
		strv_add(&arena, &argv, path);
		for (size_t i = 0; programs[which].args[i].word || programs[which].args[i].kind;
		     i++) {
			const char *const words[] = {
				[ARG_WORD] = programs[which].args[i].word,
				[ARG_TITLE] = m->title,
				[ARG_TEXT] = m->text,
				[ARG_MARKUP] = markup.len ? markup.s : "",
				[ARG_SOUND] = m->sound[0] ? m->sound : "default",
				[ARG_URGENCY] = urgency_name(m->urgency),
			};

			strv_add(&arena, &argv, words[programs[which].args[i].kind]);
		}
		r = job_start(&s->job, &s->hub->loop, exec_child, argv.v, PROGRAM_MS, done);
	}
	arena_release(&arena);
	return r;
}

/* --- the terminal --- */

/* Terminals that draw a notification by OSC 777; the others that draw one know OSC 9. */
static const char *const terminals[] = {
	"foot", "ghostty", "WezTerm", "rxvt-unicode", "xterm-ghostty", "contour",
};

/* Semicolons divide the fields. */
static void add_field(struct str *out, const char *text)
{
	for (; *text; text++)
		str_addn(out, *text == ';' ? "," : *text == '\n' ? " " : text, 1);
}

static void add_sequence(struct str *out, const struct sender *s)
{
	const struct message *m = &s->now.message;
	bool osc777 = false;

	for (size_t i = 0; i < ARRAY_LEN(terminals); i++)
		osc777 |= str_starts(s->place.term, terminals[i]);
	str_add(out, osc777 ? "\033]777;notify;" : "\033]9;");
	add_field(out, m->title);
	str_add(out, osc777 ? ";" : ": ");
	add_field(out, m->text);
	str_add(out, "\a");
}

/* tmux hands on what is wrapped like this, where allow-passthrough is on. */
static void add_wrapped(struct str *out, const char *sequence)
{
	str_add(out, "\033Ptmux;");
	for (; *sequence; sequence++)
		str_addn(out, *sequence == '\033' ? "\033\033" : sequence,
			 *sequence == '\033' ? 2 : 1);
	str_add(out, "\033\\");
}

int way_terminal(const struct sender *s)
{
	_cleanup_str_ struct str sequence = { 0 }, out = { 0 };
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (!s->place.tty[0])
		return -ENOTTY;
	fd = open(s->place.tty, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISCHR(st.st_mode) || !isatty(fd))
		return -ENOTTY;
	add_sequence(&sequence, s);
	if (s->place.tmux_pane[0])
		add_wrapped(&out, sequence.s);
	else
		str_add(&out, sequence.s);
	str_add(&out, "\a"); /* every terminal knows the bell */
	return write(fd, out.s, out.len) == (ssize_t)out.len ? 0 : -EIO;
}

/* --- the user's command --- */

struct webhook {
	const char *command;
	struct str line;
};

static int webhook_child(void *arg, _unused_ int out)
{
	struct webhook *w = arg;
	int pipe_fds[2];

	/* A message is shorter than a pipe holds, so this never waits. */
	if (pipe2(pipe_fds, 0) < 0 || os_write_all(pipe_fds[1], w->line.s, w->line.len) < 0)
		return 1;
	dup2(pipe_fds[0], STDIN_FILENO);
	os_close_all_but(3, NULL, 0);
	execl("/bin/sh", "sh", "-c", w->command, (char *)NULL);
	return 127;
}

static void on_webhook(_unused_ struct job *job, _unused_ bool ok, _unused_ const char *output)
{
}

void way_webhook(struct sender *s)
{
	struct hub *hub = s->hub;
	struct webhook w = { .command = s->place.webhook };

	if (!w.command[0])
		return;
	message_print(&s->now.message, &w.line);
	for (size_t i = 0; i < WEBHOOKS; i++)
		if (!job_busy(&hub->webhooks[i])) {
			job_start(&hub->webhooks[i], &hub->loop, webhook_child, &w, WEBHOOK_MS,
				  on_webhook);
			break;
		}
	str_release(&w.line);
}
