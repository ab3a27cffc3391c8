/* SPDX-License-Identifier: MIT */
/* wrapix-builder logs: what the builder said, and what it says. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "builder/machine.h"
#include "cli/builder/builder.h"
#include "os/fs.h"

struct logs_args {
	const char *lines;
	bool follow;
};

enum { LOG_MAX = 64 << 20, FOLLOW_MS = 200 };

static void print_part(const char *text, size_t len)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "");
	for (size_t n; len > 0; text += n, len -= n) { /* sshd ends its lines as a terminal would */
		n = *text == '\r';
		if (n)
			continue;
		while (n < len && text[n] != '\r')
			n++;
		str_add_visible(&out, text, n);
	}
	fputs(out.s, stdout);
	fflush(stdout);
}

/* The last n lines of it. */
static const char *tail(const char *text, size_t len, size_t n)
{
	const char *p = text + len;

	while (p > text && n > 0)
		if (--p > text && p[-1] == '\n' && p < text + len)
			n--;
	return p;
}

static int follow(struct builder *b, const char *path, size_t at)
{
	struct builder_machine machine;
	struct err ignored;

	for (;;) {
		_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
		char part[65536];
		ssize_t n;

		while (fd >= 0 && (n = pread(fd, part, sizeof(part), (off_t)at)) > 0) {
			print_part(part, (size_t)n);
			at += (size_t)n;
		}
		if (builder_look(b, &machine, &ignored) < 0 || !machine.running)
			return 0;
		nanosleep(&(struct timespec){ .tv_nsec = FOLLOW_MS * 1000000L }, NULL);
	}
}

static int print_log(struct builder *b, void *data, _unused_ const struct opt_rest *rest,
		     struct err *err)
{
	const struct logs_args *args = data;
	_cleanup_free_ char *text = NULL;
	struct builder_machine machine;
	struct strv words = { 0 };
	const char *path = builder_log(b), *from;
	size_t len, most = args->lines ? strtoul(args->lines, NULL, 10) : SIZE_MAX;
	int r = builder_look(b, &machine, err);

	if (r == 0 && machine.running && machine.engine == ENGINE_APPLE) {
		if (builder_log_words(b, args->follow, args->lines, &words, err) < 0)
			return -err->code;
		execv(words.v[0], words.v);
		return err_errno(err, errno, "executing '%s'", words.v[0]);
	}
	if (r < 0)
		return r;
	r = os_read_file_at(AT_FDCWD, path, LOG_MAX, &text, &len);
	if (r == -ENOENT) {
		err_set(err, ENOENT, "there is no log yet");
		return err_hint(err, "wrapix-builder start");
	}
	if (r < 0)
		return err_errno(err, -r, "reading '%s'", path);
	from = tail(text, len, most);
	print_part(from, len - (size_t)(from - text));
	return args->follow ? follow(b, path, len) : 0;
}

static int cmd_logs(int argc, char **argv)
{
	struct logs_args args = { 0 };

	return builder_do(argc, argv, &args, print_log);
}

static const struct opt opts[] = {
	{ 'f', "follow", FLAG(logs_args, follow), .help = "go on until the builder ends" },
	{ 'n', "lines", "N", .kind = OPT_STRING, .offset = offsetof(struct logs_args, lines),
	  .help = "the last N lines (default: all)" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_builder_logs = {
	.name = "logs",
	.section = SECTION_LOOK,
	.usage = "logs [options]",
	.summary = "what it said since it was started",
	.description =
		"That is what sshd, nix-daemon and wrapix say; a build's own words go to who "
		"asked for it.",
	.examples = EXAMPLES("wrapix-builder logs -f", "and what it says from now on"),
	.syntax = { opts },
	.run = cmd_logs,
};
