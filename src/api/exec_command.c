/* SPDX-License-Identifier: MIT */
/* Which words a command becomes: a program's own, or a shell's. */
#include <string.h>
#include <sys/stat.h>

#include "api/exec.h"
#include "base/str.h"
#include "os/proc.h"

/* Nothing in these means anything to a shell, but '=' in a first word. */
#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@+,%=-"

/* Words that bash itself knows: a program of the same name would be another. */
static bool is_builtin(const char *word)
{
	static const char *const words[] = {
		".",        ":",       "[",        "[[",      "alias",   "bg",      "bind",
		"break",    "builtin", "caller",   "case",    "cd",      "command", "compgen",
		"complete", "compopt", "continue", "coproc",  "declare", "dirs",    "disown",
		"do",       "done",    "echo",     "elif",    "else",    "enable",  "esac",
		"eval",     "exec",    "exit",     "export",  "false",   "fc",      "fg",
		"fi",       "for",     "function", "getopts", "hash",    "help",    "history",
		"if",       "in",      "jobs",     "kill",    "let",     "local",   "logout",
		"mapfile",  "popd",    "printf",   "pushd",   "pwd",     "read",    "readarray",
		"readonly", "return",  "select",   "set",     "shift",   "shopt",   "source",
		"suspend",  "test",    "then",     "time",    "times",   "trap",    "true",
		"type",     "typeset", "ulimit",   "umask",   "unalias", "unset",   "until",
		"wait",     "while",   "{",        "}",       "!",
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

static bool is_program(struct arena *arena, const char *word)
{
	struct stat st;

	if (!strchr(word, '/'))
		return os_find_program(arena, word, getenv("PATH"), NULL) != NULL;
	return !stat(word, &st) && S_ISREG(st.st_mode) && !access(word, X_OK);
}

static const char *shell_path(struct arena *arena)
{
	const char *path = getenv("PATH");
	char *bash = os_find_program(arena, "bash", path, NULL);

	return bash ? bash : os_find_program(arena, "sh", path, NULL) ? "sh" : "/bin/sh";
}

static char *join_words(struct arena *arena, char **words)
{
	_cleanup_str_ struct str line = { 0 };

	str_add_shell_words(&line, words);
	return arena_strdup(arena, line.s ? line.s : "");
}

/* One word with blanks in it that is no program: what 'srt "echo hi"' means. */
static bool is_shell_text(struct arena *arena, const struct exec_line *line)
{
	char *word = line->words[0];

	return line->srt && !line->dashed && word && !line->words[1] &&
	       strpbrk(word, " \t\n;|&<>()$`") && !is_program(arena, word);
}

/* Where a shell would do nothing but take the words apart and start a program, and finds it: it need
 * not be started. What its environment may bring it to do besides is left to it. */
static bool is_plain(struct arena *arena, const char *text, struct strv *ret)
{
	static const char *const same[] = { "true", "false" }; /* as builtins and as programs */
	struct strv words = { 0 };

	if (getenv("BASH_ENV") || text[strspn(text, PLAIN " ")])
		return false;
	for (char **variable = environ; variable && *variable; variable++)
		if (str_starts(*variable, "BASH_FUNC_") || str_starts(*variable, "BASHOPTS=") ||
		    str_starts(*variable, "SHELLOPTS="))
			return false;
	for (const char *p = text; *(p += strspn(p, " "));) {
		size_t len = strcspn(p, " ");

		strv_add(arena, &words, arena_strndup(arena, p, len));
		p += len;
	}
	if (!words.len || strchr(words.v[0], '=') || words.v[0][0] == '-' ||
	    (is_builtin(words.v[0]) && strcmp(words.v[0], same[0]) != 0 &&
	     strcmp(words.v[0], same[1]) != 0) ||
	    !is_program(arena, words.v[0]))
		return false;
	*ret = words;
	return true;
}

/* A program is executed as it is; a shell is asked for everything else. */
void exec_choose_argv(struct arena *arena, const struct exec_line *line,
		      struct exec_request *request)
{
	const char *text = line->string && *line->string ? line->string : NULL;
	struct strv words = { 0 };

	if (!text && is_shell_text(arena, line))
		text = line->words[0];
	request->command = text ? text : join_words(arena, line->words);
	if (!text &&
	    (!line->srt || (!is_builtin(line->words[0]) && is_program(arena, line->words[0])))) {
		request->argv = line->words;
		return;
	}
	if (!is_plain(arena, request->command, &words)) {
		words = (struct strv){ 0 };
		strv_add(arena, &words, shell_path(arena));
		strv_add(arena, &words, "-c");
		if (request->command[0] == '-' || request->command[0] == '+')
			strv_add(arena, &words, "--");
		strv_add(arena, &words, request->command);
	}
	request->argv = words.v;
}
