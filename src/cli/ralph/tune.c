/* SPDX-License-Identifier: MIT */
/* ralph tune: the project's own templates. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "cli/ralph/ralph.h"
#include "os/fs.h"
#include "ralph/export.h"

struct tune_args {
	bool list, reset, print;
};

#define TEMPLATE_DIR EXPORT_DIR "/template"

static void list(const struct work *work)
{
	for (size_t i = 0; template_info(i); i++) {
		const struct template_info *info = template_info(i);
		char file[64];

		snprintf(file, sizeof(file), "%s.md", info->name);
		printf("%-8s  %-10s  %s\n", info->name,
		       work->templates.dir >= 0 &&
				       faccessat(work->templates.dir, file, F_OK, 0) == 0
			       ? "(yours)"
			       : "(built in)",
		       info->about);
	}
}

/* Every template that is used, as it would be used. */
static int check_all(struct work *work, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && template_info(i); i++)
		if (template_info(i)->vars)
			r = template_check(&work->templates, template_info(i)->name, err);
	return r;
}

static int edit(struct work *work, const char *name, struct err *err)
{
	char *file = arena_printf(&work->arena, "%s.md", name);
	_cleanup_close_ int dir = site_open_dir(&work->site, TEMPLATE_DIR, true, err);
	size_t len;
	const char *text = template_built_in(name, &len);
	struct stat st;
	int r = dir < 0 ? dir : 0;

	if (r == 0 && faccessat(dir, file, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		r = os_write_file_atomic(dir, file, text, len, 0644, err);
	if (r == 0 && fstatat(dir, file, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode))
		r = err_usage(err, "'%s' in '%s' is no file", file, TEMPLATE_DIR);
	if (r == 0)
		r = cli_edit(path_join(&work->arena, work->site.top,
				       arena_printf(&work->arena, TEMPLATE_DIR "/%s", file)),
			     err);
	if (r < 0)
		return r;
	close_ptr(&work->templates.dir);
	work->templates.dir = take_fd(&dir);
	r = check_all(work, err);
	if (r == 0)
		printf("The template '%s' is valid, and used from now on.\n", name);
	else
		ralph_next("ralph tune %s (mend it), or ralph tune %s --reset", name, name);
	return r;
}

static int reset(struct work *work, const char *name, struct err *err)
{
	_cleanup_close_ int dir = site_open_dir(&work->site, TEMPLATE_DIR, false, err);
	char *file = arena_printf(&work->arena, "%s.md", name);

	if (dir >= 0 && unlinkat(dir, file, 0) < 0 && errno != ENOENT)
		return err_errno(err, errno, "removing '%s'", file);
	printf("The built-in template '%s' is used.\n", name);
	return 0;
}

static int cmd_tune(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct tune_args args = { 0 };
	struct work work = { 0 };
	struct err err = { 0 };
	const char *name, *text;
	size_t len;
	int r = 0, status = cli_parse(argc, argv, &args, &rest);

	if (status == CLI_GO_ON)
		status = ralph_open(&work, NULL, NULL, NULL, false);
	if (status != CLI_GO_ON)
		return status;
	name = rest.n_operands ? rest.operands[0] : NULL;
	if (name && !template_named(name)) {
		r = err_usage(&err, "there is no template '%s'", name);
		err_hint(&err, "'ralph tune --list' lists them");
	} else if (!name || args.list) {
		list(&work);
		ralph_next("ralph tune TEMPLATE");
	} else if (args.reset) {
		r = reset(&work, name, &err);
	} else if (args.print) {
		r = template_find(&work.templates, &work.arena, name, &text, &len, &err);
		if (r == 0)
			fwrite(text, 1, len, stdout);
	} else {
		r = edit(&work, name, &err);
	}
	if (r == 0 && name && !args.print && !args.list)
		say_next_of(&work, NULL);
	work_close(&work);
	return r < 0 ? ralph_fail(&err) : 0;
}

static const char *const *template_words(_unused_ const char *name)
{
	static const char *words[16];

	for (size_t i = 0; i + 1 < ARRAY_LEN(words) && template_info(i); i++)
		words[i] = template_info(i)->name;
	return words;
}

static const struct opt opts[] = {
	{ 'l', "list", FLAG(tune_args, list), .help = "list the templates" },
	{ 0, "print", FLAG(tune_args, print), .help = "print the one that is used" },
	{ 0, "reset", FLAG(tune_args, reset), .help = "use the built-in one again" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_tune = {
	.name = "tune",
	.section = SECTION_SELF,
	.usage = "tune [options] [TEMPLATE]",
	.summary = "change what agents are told, in your editor",
	.description = "Opens the project's own version of a template, which begins as the "
		       "built-in one, and "
		       "checks it afterwards.",
	.examples = EXAMPLES("ralph tune --list", "which there are", "ralph tune step",
			     "change one"),
	.syntax = { opts, .max = 1, .operand = "TEMPLATE", .complete = COMPLETE_WORDS,
		    .words = template_words },
	.run = cmd_tune,
};
