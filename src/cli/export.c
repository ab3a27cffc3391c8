/* SPDX-License-Identifier: MIT */
/* wrapix export: the sandbox as a document for somebody else's engine. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "api/export.h"
#include "cli/cli.h"
#include "os/fs.h"

static const char *const *form_words(_unused_ const char *name)
{
	static const char *words[FORM_COUNT + 1];

	for (size_t i = 0; i < FORM_COUNT; i++)
		words[i] = task_forms[i].name;
	return words;
}

static int unknown_form(const char *name, struct err *err)
{
	const char *const *words = form_words(NULL);
	const char *near = name ? str_nearest(name, words, FORM_COUNT) : NULL;
	_cleanup_str_ struct str shown = { 0 };

	if (name)
		err_usage(err, "export: there is no form %s", str_quote(&shown, name));
	else
		err_usage(err, "export: the form is missing");
	return near ? err_hint(err, "did you mean '%s'?", near)
		    : err_hint(err, "there are kube, quadlet, compose, devcontainer and oci");
}

/* The file appears whole or not at all, and replaces none that it did not make: that is the user's to do. */
static int write_file(const char *path, const struct str *text, struct err *err)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	_cleanup_str_ struct str shown = { 0 };
	int r;

	if (fd < 0) {
		err_errno(err, errno, "writing %s", str_quote(&shown, path));
		return errno == EEXIST ? err_hint(err, "remove it first, or name another with -o")
				       : -err->code;
	}
	r = os_write_all(fd, text->s, text->len);
	if (r < 0)
		unlink(path);
	return r < 0 ? err_errno(err, -r, "writing %s", str_quote(&shown, path)) : 0;
}

static void say_use(const struct form *form, const char *path)
{
	_cleanup_str_ struct str shown = { 0 };

	str_add_escaped(&shown, path);
	fprintf(stderr, "wrapix: wrote %s; next: %s\n", shown.s, form->use);
}

static void print_weaker(const struct task *task, const struct form *form, bool json)
{
	struct weaker list[TASK_WEAKER_MAX];
	size_t n = task_weaker(task, (enum task_form)(form - task_forms), list, ARRAY_LEN(list));

	for (size_t i = 0; i < n; i++)
		if (json)
			printf("%s\n\t{\"what\": \"%s\", \"there\": \"%s\"}%s", i ? "," : "[",
			       list[i].what, list[i].there, i + 1 == n ? "\n]\n" : "");
		else
			printf("%-22s %s\n", list[i].what, list[i].there);
}

static int export_task(struct run_args *args, const struct form *form, struct err *err)
{
	_cleanup_str_ struct str text = { 0 };
	struct task task;
	enum task_use use = args->weaker                     ? TASK_SHOWN
			    : form == &task_forms[FORM_KUBE] ? TASK_CARRIED
							     : TASK_USED;
	int r = api_task(args->spec, &args->task, use, &task, err);

	if (r < 0)
		return r;
	if (args->weaker) {
		print_weaker(&task, form, args->json);
		return 0;
	}
	r = form->write(&text, &task, args->task.kind, err);
	if (r < 0)
		return r;
	if (!args->output) {
		fwrite(text.s, 1, text.len, stdout);
		return fflush(stdout) ? err_errno(err, errno, "writing") : 0;
	}
	r = write_file(args->output, &text, err);
	if (r == 0)
		say_use(form, args->output);
	return r;
}

/* The first word is the form; what follows is what 'run' takes. */
static int cmd_export(int argc, char **argv)
{
	const struct form *form = NULL;
	struct run_args args;
	struct err err;
	int status;

	if (argc > 1 && argv[1][0] != '-') {
		form = task_form(argv[1]);
		if (!form)
			return unknown_form(argv[1], &err), cli_fail(&err);
		argv[1] = argv[0];
		argc--;
		argv++;
	}
	status = cli_parse_run(argc, argv, &args);
	if (status == CLI_GO_ON && !form)
		status = (unknown_form(NULL, &err), cli_fail(&err));
	else if (status == CLI_GO_ON)
		status = export_task(&args, form, &err) < 0 ? cli_fail(&err) : 0;
	wrapix_spec_free(args.spec);
	return status;
}

const struct command command_export = {
	.name = "export",
	.section = SECTION_SANDBOX,
	.usage = "export FORM [DIR] [options] [-- CMD...]",
	.summary = "write the sandbox down for another engine",
	.description =
		"Takes what 'run' takes and writes it for an engine that a fleet has. FORM is "
		"kube, quadlet, compose, devcontainer or oci: Kubernetes (a Pod, a Job, or the "
		"objects of agent-sandbox), a systemd quadlet, a compose file, a "
		"devcontainer.json, an OCI runtime bundle. Secrets are named, never written. What "
		"is weaker there stands at the head of the file; --weaker prints it alone.\n"
		"For a cluster the project's last commit goes along as a git bundle, and what the "
		"command commits comes back as one.",
	.examples = EXAMPLES("wrapix export kube --kind job -- make test",
			     "a Job that runs the tests of the last commit",
			     "wrapix export quadlet -o site.container",
			     "a service of systemd's, made by podman"),
	.syntax = { export_opts, .max = 2, .operand = "FORM", .complete = COMPLETE_WORDS,
		    .words = form_words, .rest = COMPLETE_DIR, .command = true },
	.run = cmd_export,
};
