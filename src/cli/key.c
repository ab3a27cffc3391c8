/* SPDX-License-Identifier: MIT */
/* wrapix key: pairs of keys that a sandbox may push and sign with. */
#include "cli/key.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "api/api.h"
#include "base/json.h"
#include "base/path.h"
#include "os/fs.h"
#include "os/proc.h"
#include "spec/host.h"

int key_job_name(struct key_job *job, char **ret, struct err *err)
{
	char host[256] = "host", *name;

	if (job->words[0]) {
		*ret = job->words[0];
		return key_name_check(*ret, err);
	}
	(void)gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = '\0';
	name = arena_printf(&job->arena, "%.40s-%.22s", path_name(job->dir), host);
	for (char *p = name; *p; p++)
		if (!isascii(*p) || (!isalnum((unsigned char)*p) && !strchr("._-", *p)) ||
		    (p == name && !isalnum((unsigned char)*p)))
			*p = '_';
	*ret = name;
	return key_name_check(name, err);
}

char *key_job_program(struct key_job *job, const char *name)
{
	return os_find_program(&job->arena, name, getenv("PATH"), job->dir);
}

int key_job_without(const char *name, struct err *err)
{
	err_set(err, ENOENT, "there is no %s", name);
	return err_hint(err, "install OpenSSH's client (Debian: openssh-client)");
}

int key_job_run(struct key_job *job, const char *const *argv, char **ret_said, struct err *err)
{
	_cleanup_free_ char *said = NULL;
	struct strv words = { 0 };
	int status;

	for (; *argv; argv++)
		strv_add(&job->arena, &words, *argv);
	status = os_capture_all(words.v, 60, 1 << 16, &said);
	if (status < 0)
		return err_errno(err, -status, "running '%s'", words.v[0]);
	*ret_said = arena_strdup(&job->arena, said);
	return status;
}

int key_job_ask(const struct key_job *job, const char *question, const char *hint, struct err *err)
{
	if (job->args.yes)
		return 0;
	if (!isatty(STDIN_FILENO)) {
		err_usage(err, "not on a terminal, so nobody can be asked");
		return err_hint(err, "%s", hint);
	}
	return cli_ask(question) ? 0 : err_set(err, ECANCELED, "nothing was changed");
}

/* --- list, show, remove --- */

static void add_json_file(struct str *out, const char *key, const struct key_file *file)
{
	if (!file->path)
		return;
	str_addf(out, ", \"%s\": {\"path\": ", key);
	json_add_string(out, file->path);
	if (file->line) {
		str_add(out, ", \"fingerprint\": ");
		json_add_string(out, file->fingerprint);
		str_add(out, ", \"public\": ");
		json_add_string(out, file->line);
	}
	str_add(out, "}");
}

static void add_json_pair(struct str *out, const struct key_pair *pair)
{
	str_add(out, "{\"name\": ");
	json_add_string(out, pair->name);
	add_json_file(out, "deploy", &pair->deploy);
	add_json_file(out, "signing", &pair->signing);
	str_add(out, "}");
}

static const char *shown(const struct key_file *file)
{
	return !file->path ? "-" : file->fingerprint ? file->fingerprint : "no Ed25519 key";
}

static int key_list(struct key_job *job, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };
	struct key_pair *pairs = NULL;
	size_t n = 0;
	int r = key_store_list(&job->arena, job->home, &pairs, &n, err);

	if (r < 0)
		return r;
	str_add(&out, job->args.json ? "[" : "");
	for (size_t i = 0; i < n; i++) {
		if (job->args.json) {
			str_add(&out, i ? ",\n " : "");
			add_json_pair(&out, &pairs[i]);
			continue;
		}
		if (!i)
			str_addf(&out, "%-24s %-51s %s\n", "NAME", "DEPLOY KEY", "SIGNING KEY");
		str_addf(&out, "%-24s %-51s %s\n", pairs[i].name, shown(&pairs[i].deploy),
			 shown(&pairs[i].signing));
	}
	str_add(&out, job->args.json ? "]\n" : "");
	if (!n && !job->args.json)
		str_add(&out, "There are none; 'wrapix key add' makes a pair.\n");
	fputs(out.s, stdout);
	return 0;
}

static void print_half(const char *title, const struct key_file *file)
{
	if (!file->path)
		printf("%-12s none\n", title);
	else
		printf("%-12s %s\n             %s\n             %s\n", title, file->path,
		       shown(file), file->line ? file->line : "its .pub file cannot be read");
}

/* The pair that is meant, and what it is called. */
static int find_pair(struct key_job *job, char **ret_name, struct key_pair *ret, struct err *err)
{
	int r = key_job_name(job, ret_name, err);

	return r < 0 ? r : key_store_find(&job->arena, job->home, *ret_name, ret, err);
}

static int key_show(struct key_job *job, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };
	struct key_pair pair = { 0 };
	char *name;
	int r = find_pair(job, &name, &pair, err);

	if (r < 0)
		return r;
	if (job->args.json) {
		add_json_pair(&out, &pair);
		printf("%s\n", out.s);
		return 0;
	}
	print_half("deploy key", &pair.deploy);
	print_half("signing key", &pair.signing);
	forge_add_places(&out, job->has_remote ? &job->remote : NULL, false);
	printf("\nWhere they are registered:\n%s", out.s);
	return 0;
}

static int key_remove(struct key_job *job, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };
	struct key_pair pair = { 0 };
	char *name;
	int r = find_pair(job, &name, &pair, err);

	if (r == 0)
		r = key_job_ask(
			job, arena_printf(&job->arena, "Remove the keys of '%s' for good?", name),
			arena_printf(&job->arena, "wrapix key remove %s --yes, when you are sure",
				     name),
			err);
	if (r == 0)
		r = key_store_remove(job->home, name, err);
	if (r < 0)
		return r;
	forge_add_places(&out, job->has_remote ? &job->remote : NULL, false);
	printf("Removed '%s' here. Where it was registered it can go as well:\n%s", name, out.s);
	return 0;
}

/* --- dispatching --- */

static const struct {
	const char *name;
	size_t max; /* words after it */
	int (*run)(struct key_job *job, struct err *err);
} actions[] = {
	{ "add", 1, key_add },       { "list", 0, key_list }, { "show", 1, key_show },
	{ "remove", 1, key_remove }, { "test", 2, key_test }, { "trust", 1, key_trust },
};

static const char *const *action_words(_unused_ const char *name)
{
	static const char *words[ARRAY_LEN(actions) + 1];

	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		words[i] = actions[i].name;
	return words;
}

/* The origin of the repository here. 'git config' runs nothing of the project's. */
static void find_remote(struct key_job *job)
{
	char *git = key_job_program(job, "git"), *said = NULL;
	const char *argv[] = { git, "-C", job->dir, "config", "--get", "remote.origin.url", NULL };
	struct err ignored; /* without an origin the advice is general */

	if (!git || key_job_run(job, argv, &said, &ignored) != 0)
		return;
	known(said);
	said[strcspn(said, "\r\n")] = '\0';
	job->has_remote = remote_parse(&job->arena, said, &job->remote);
}

static int start_job(struct key_job *job, struct err *err)
{
	job->home = user_home(&job->arena);
	job->config_home = api_base_dir(&job->arena, "XDG_CONFIG_HOME", ".config");
	job->dir = os_here(&job->arena, err);
	if (!job->dir)
		return -err->code;
	find_remote(job);
	return 0;
}

static int run_action(struct key_job *job, size_t n_words, struct err *err)
{
	const char *word = n_words ? job->words[0] : "list", *near;
	const char *const *names = action_words(NULL);

	for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
		if (strcmp(actions[i].name, word))
			continue;
		if (n_words > actions[i].max + 1)
			return err_usage(err, "'key %s' takes at most %zu words after it", word,
					 actions[i].max);
		job->words += n_words ? 1 : 0;
		return start_job(job, err) < 0 ? -err->code : actions[i].run(job, err);
	}
	near = str_nearest(word, names, ARRAY_LEN(actions));
	err_usage(err, "unknown action '%s'", word);
	return near ? err_hint(err, "did you mean 'wrapix key %s'?", near)
		    : err_hint(err, "'wrapix help key' lists the actions");
}

static int cmd_key(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct key_job job = { .home = NULL };
	struct err err;
	int r, status = cli_parse(argc, argv, &job.args, &rest);

	if (status != CLI_GO_ON)
		return status;
	job.words = rest.operands;
	r = run_action(&job, rest.n_operands, &err);
	arena_release(&job.arena);
	return r < 0 ? cli_fail(&err) : 0;
}

static const struct opt opts[] = {
	{ 0, "json", FLAG(key_args, json), .help = "list, show: print as JSON" },
	{ 0, "force", FLAG(key_args, force),
	  .help = "add: make new keys where there are some, and keep those in a backup" },
	{ 0, "no-gh", FLAG(key_args, no_gh),
	  .help = "add: do not register the keys with GitHub's program gh" },
	{ 0, "fingerprint", "SHA256:...", .kind = OPT_STRING,
	  .offset = offsetof(struct key_args, fingerprint),
	  .help = "trust: the host's fingerprint as you know it from elsewhere; nobody is asked" },
	{ 'y', "yes", FLAG(key_args, yes), .help = "remove, trust: do not ask" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_key = {
	.name = "key",
	.section = SECTION_HOST,
	.usage = "key [add|list|show|remove|test|trust] [NAME] [options]",
	.summary = "make and look after the keys a sandbox may push and sign with",
	.description = "A pair is a deploy key, which pushes, and a signing key, which signs "
		       "commits; the sandbox asks for signatures, and the keys stay outside.\n"
		       "add makes a pair and registers it, or says where to; list and show tell "
		       "which there are; test [NAME] [URL] logs in with one; remove deletes one. "
		       "trust HOST[:PORT] shows the fingerprints of a host and pins them; "
		       "GitHub's, GitLab's and Codeberg's are known. NAME is this directory's and "
		       "this machine's name unless you say another.",
	.examples = EXAMPLES("wrapix key add", "a pair for the project here",
			     "wrapix run --deploy-key site", "use the pair 'site'",
			     "wrapix key trust git.example.com", "pin the keys of another host"),
	.syntax = { opts, .max = 3, .operand = "ACTION", .complete = COMPLETE_WORDS,
		    .words = action_words },
	.run = cmd_key,
};
