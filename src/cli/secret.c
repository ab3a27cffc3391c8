/* SPDX-License-Identifier: MIT */
/* wrapix secret: named values in the user's keyring. They come by standard input and leave by standard
 * output, and are never arguments. */
#include <errno.h>
#include <string.h>
#include <termios.h>

#include "api/api.h"
#include "base/json.h"
#include "base/path.h"
#include "cli/cli.h"
#include "keys/vault.h"
#include "os/fs.h"
#include "os/proc.h"
#include "os/signals.h"

struct secret_args {
	bool json;
};

static const char *const place_names[VAULT_PLACES] = {
	[VAULT_KEYRING] = "keyring",
	[VAULT_FILE] = "file",
};

static struct termios shown; /* the terminal as it was */
static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

/* Whoever ends us while nothing is shown gets a terminal that shows what is typed; the signal strikes afterwards. */
static void show_again(int signal_no)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &shown);
	raise(signal_no);
}

static void hide_typing(void)
{
	const struct sigaction action = { .sa_handler = show_again, .sa_flags = SA_RESETHAND };
	struct termios hidden = shown;

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (!os_signal_is_ignored(ends[i]))
			sigaction(ends[i], &action, NULL);
	hidden.c_lflag &= ~(tcflag_t)ECHO;
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
}

static void show_typing(void)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &shown);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (!os_signal_is_ignored(ends[i]))
			signal(ends[i], SIG_DFL);
}

/* From the terminal without showing it, or all of standard input; a line's end at the end does not
 * count. */
static int read_value(struct secret *ret, size_t *ret_len, struct err *err)
{
	bool tty = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &shown) == 0;
	size_t len = 0;
	ssize_t n = 1;

	if (secret_alloc(ret, VAULT_VALUE_MAX + 2, err) < 0)
		return -err->code;
	if (tty) {
		hide_typing();
		fputs("value: ", stderr);
	}
	while (n > 0 && len < VAULT_VALUE_MAX + 2 && !(tty && memchr(ret->data, '\n', len))) {
		n = read(STDIN_FILENO, ret->data + len, VAULT_VALUE_MAX + 2 - len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (tty) {
		show_typing();
		fputs("\n", stderr);
	}
	if (n < 0)
		return err_errno(err, errno, "reading the value");
	if (len && ret->data[len - 1] == '\n')
		len--;
	if (!len || len > VAULT_VALUE_MAX) {
		err_usage(err, "a value has 1 to %d bytes", VAULT_VALUE_MAX);
		return err_hint(
			err,
			"it is typed, or comes by standard input: wrapix secret set NAME <FILE");
	}
	*ret_len = len;
	return 0;
}

static int do_set(struct vault *vault, const char *name, _unused_ bool json, struct err *err)
{
	_cleanup_secret_ struct secret value = { 0 };
	enum vault_place place;
	size_t len = 0;
	int r = read_value(&value, &len, err);

	if (r == 0)
		r = vault_set(vault, name, &value, len, &place, err);
	if (r == 0 && place == VAULT_FILE)
		cli_warn("'%s' is in a file that every program of yours can read, "
			 "~/.config/wrapix/credentials.json (%s)",
			 name, vault->why.msg);
	return r;
}

static int do_get(struct vault *vault, const char *name, _unused_ bool json, struct err *err)
{
	_cleanup_secret_ struct secret value = { 0 };
	enum vault_place place;
	size_t len = 0;
	int r = vault_get(vault, name, &value, &len, &place, err);

	/* Not through stdio, whose buffer nobody wipes. */
	if (r == 0 && os_write_all(STDOUT_FILENO, value.data, len) < 0)
		r = err_errno(err, errno, "writing the value");
	if (r == 0 && isatty(STDOUT_FILENO))
		puts("");
	return r;
}

static int do_remove(struct vault *vault, const char *name, _unused_ bool json, struct err *err)
{
	return vault_remove(vault, name, err);
}

static int do_list(struct vault *vault, _unused_ const char *name, bool json, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };
	struct strv names[VAULT_PLACES];
	struct arena arena = { 0 };
	int r = vault_list(vault, &arena, names, err);

	str_add(&out, json ? "[" : "");
	for (int place = 0; r == 0 && place < VAULT_PLACES; place++)
		for (size_t i = 0; i < names[place].len; i++) {
			if (!json) {
				str_add_escaped(&out, names[place].v[i]);
				str_addf(&out, " (%s)\n", place_names[place]);
				continue;
			}
			str_add(&out, out.len > 1 ? ",\n {\"name\": " : "{\"name\": ");
			json_add_string(&out, names[place].v[i]);
			str_addf(&out, ", \"in\": \"%s\"}", place_names[place]);
		}
	str_add(&out, json ? "]\n" : "");
	if (r == 0)
		fputs(out.s, stdout);
	arena_release(&arena);
	return r;
}

static const struct {
	const char *name;
	bool named;
	int (*run)(struct vault *vault, const char *name, bool json, struct err *err);
} actions[] = {
	{ "set", true, do_set },
	{ "get", true, do_get },
	{ "list", false, do_list },
	{ "remove", true, do_remove },
};

static const char *const *action_words(_unused_ const char *name)
{
	static const char *words[ARRAY_LEN(actions) + 1];

	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		words[i] = actions[i].name;
	return words;
}

static int run_action(struct vault *vault, char **words, size_t n, bool json, struct err *err)
{
	const char *word = n ? words[0] : "list", *near;

	for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
		if (strcmp(actions[i].name, word))
			continue;
		if (actions[i].named != (n == 2))
			return err_usage(err,
					 actions[i].named ? "'secret %s' takes one name"
							  : "'secret %s' takes no name",
					 word);
		if (n == 2 && vault_name_check(words[1], err) < 0)
			return -err->code;
		return actions[i].run(vault, n == 2 ? words[1] : NULL, json, err);
	}
	near = str_nearest(word, action_words(NULL), ARRAY_LEN(actions));
	err_usage(err, "unknown action '%s'", word);
	return near ? err_hint(err, "did you mean 'wrapix secret %s'?", near)
		    : err_hint(err, "'wrapix help secret' lists the actions");
}

static int cmd_secret(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct secret_args args = { 0 };
	struct arena arena = { 0 };
	struct vault vault = { 0 };
	struct err err;
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	/* No core file and no debugger, from here on. */
	os_set_dumpable(0);
	vault.config_home = api_base_dir(&arena, "XDG_CONFIG_HOME", ".config");
	r = run_action(&vault, rest.operands, rest.n_operands, args.json, &err);
	vault_release(&vault);
	arena_release(&arena);
	return r < 0 ? cli_fail(&err) : 0;
}

static const struct opt opts[] = {
	{ 0, "json", FLAG(secret_args, json), .help = "list: print as JSON" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_secret = {
	.name = "secret",
	.section = SECTION_HOST,
	.usage = "secret [set|get|list|remove] [NAME] [options]",
	.summary = "keep tokens and passwords in your keyring",
	.description = "Values are in the Secret Service (GNOME Keyring, KWallet, KeePassXC); "
		       "without one in a file that only you can read, with a warning. set reads "
		       "the value from standard input, get writes it to standard output.",
	.examples = EXAMPLES("wrapix secret set api-token <token.txt", "keep a value",
			     "wrapix secret list", "the names of what is kept"),
	.syntax = { opts, .max = 2, .operand = "ACTION", .complete = COMPLETE_WORDS,
		    .words = action_words },
	.run = cmd_secret,
};
