/* SPDX-License-Identifier: MIT */
/* Option tables: the parser and the help text. */
#include "base/opt.h"

#include <errno.h>
#include <string.h>

/* Where the parser stands. */
struct parse {
	const struct opt_syntax *syntax;
	void *ctx;
	char *const *argv;
	int argc, at; /* at: the word that is being read */
	struct opt_rest rest;
};

/* A row that is an option, at or after opt. */
static const struct opt *real_row(const struct opt *opt)
{
	while (opt && opt->kind == OPT_MORE)
		opt = opt->more;
	return opt && opt->kind != OPT_END ? opt : NULL;
}

const struct opt *opt_first(const struct opt *table)
{
	return real_row(table);
}

const struct opt *opt_next(const struct opt *opt)
{
	return real_row(opt + 1);
}

const char *const *opt_words(const struct opt *opt)
{
	return opt->words ? opt->words(opt->name) : NULL;
}

static const struct opt *find_long(const struct opt *table, const char *name, size_t len)
{
	for (const struct opt *o = opt_first(table); o; o = opt_next(o))
		if (o->name && strlen(o->name) == len && !memcmp(o->name, name, len))
			return o;
	return NULL;
}

static const struct opt *find_letter(const struct opt *table, char letter)
{
	for (const struct opt *o = opt_first(table); o; o = opt_next(o))
		if (letter && o->letter == letter)
			return o;
	return NULL;
}

static int unknown_long(const struct opt *table, const char *name, size_t len, struct err *err)
{
	const char *names[64], *near;
	char word[64] = "";
	size_t n = 0;

	for (const struct opt *o = opt_first(table); o && n < ARRAY_LEN(names); o = opt_next(o))
		if (o->name)
			names[n++] = o->name;
	if (len < sizeof(word))
		memcpy(word, name, len);
	near = str_nearest(word, names, n);
	if (near)
		return err_usage(err, "unknown option '--%.*s'; did you mean '--%s'?", (int)len,
				 name, near);
	err_usage(err, "unknown option '--%.*s'", (int)len, name);
	return err_hint(err, "--help lists the options");
}

static int unknown_letter(const struct opt *table, const char *word, char letter, struct err *err)
{
	/* '-network' is a long option with a dash too few. */
	size_t len = strcspn(word + 1, "=");

	if (find_long(table, word + 1, len))
		return err_usage(err, "unknown option '%s'; did you mean '--%.*s'?", word, (int)len,
				 word + 1);
	/* A byte of a multi-byte letter means nothing to a reader; the whole word does. */
	if ((unsigned char)letter >= 0x80 || strlen(word) == 2)
		err_usage(err, "unknown option '%s'", word);
	else
		err_usage(err, "unknown option '-%c' in '%s'", letter, word);
	return err_hint(err, "--help lists the options");
}

static int check_words(const struct opt *opt, const char *value, struct err *err)
{
	const char *const *words = opt_words(opt), *near;
	_cleanup_str_ struct str list = { 0 };
	size_t n = 0;

	if (opt->kind != OPT_STRING || !words)
		return 0;
	for (; words[n]; n++) {
		if (value && !strcmp(words[n], value))
			return 0;
		str_addf(&list, "%s%s", n ? ", " : "", words[n]);
	}
	near = str_nearest(value, words, n);
	if (near)
		return err_usage(err, "--%s: '%s' is not one of %s; did you mean '%s'?", opt->name,
				 value, list.s, near);
	return err_usage(err, "--%s: '%s' is not one of %s", opt->name, value, n ? list.s : "none");
}

static int store(const struct parse *parse, const struct opt *opt, const char *value,
		 struct err *err)
{
	char *place = (char *)parse->ctx + opt->offset;

	switch (opt->kind) {
	case OPT_HELP:
		return OPT_WANTS_HELP;
	case OPT_FLAG:
		*(bool *)(void *)place = true;
		return 0;
	case OPT_STRING:
		if (check_words(opt, value, err) < 0)
			return -err->code;
		*(const char **)(void *)place = value;
		return 0;
	case OPT_CALL:
		return opt->call(parse->ctx, opt, value, err);
	case OPT_END:
	case OPT_MORE:
		break;
	}
	return 0;
}

/* The next word as the argument of opt, which the user wrote as 'shown' of length len. */
static int take_argument(struct parse *parse, const struct opt *opt, const char *shown, size_t len,
			 const char **ret_value, struct err *err)
{
	if (parse->at + 1 >= parse->argc || !strcmp(parse->argv[parse->at + 1], "--"))
		return err_usage(err, "option '%.*s' needs an argument: %s", (int)len, shown,
				 opt->arg);
	*ret_value = parse->argv[++parse->at];
	return 0;
}

/* --name, --name X, --name=X */
static int parse_long(struct parse *parse, const char *word, struct err *err)
{
	size_t len = strcspn(word + 2, "=");
	const struct opt *opt = find_long(parse->syntax->opts, word + 2, len);
	const char *value = word[2 + len] ? word + 2 + len + 1 : NULL;

	if (!opt) {
		parse->rest.unknown = word + 2;
		return unknown_long(parse->syntax->opts, word + 2, len, err);
	}
	if (!opt->arg && value)
		return err_usage(err, "option '--%s' takes no argument", opt->name);
	if (opt->arg && !value && take_argument(parse, opt, word, strlen(word), &value, err) < 0)
		return -err->code;
	return store(parse, opt, value, err);
}

/* -v, -vf, -nX, -vn X */
static int parse_letters(struct parse *parse, const char *word, struct err *err)
{
	for (const char *p = word + 1; *p; p++) {
		const struct opt *opt = find_letter(parse->syntax->opts, *p);
		const char *value = NULL;
		int r;

		if (!opt)
			return unknown_letter(parse->syntax->opts, word, *p, err);
		if (opt->arg && p[1])
			value = p + 1;
		else if (opt->arg) {
			char shown[3] = { '-', *p };

			if (take_argument(parse, opt, shown, 2, &value, err) < 0)
				return -err->code;
		}
		r = store(parse, opt, value, err);
		if (r || value)
			return r;
	}
	return 0;
}

static int add_operand(struct parse *parse, struct err *err)
{
	char *word = parse->argv[parse->at];

	if (parse->rest.n_operands >= parse->syntax->max) {
		err_usage(err, "unexpected argument '%s'", word);
		if (parse->syntax->command)
			err_hint(err, "a command to run follows '--'");
		return -err->code;
	}
	parse->rest.operands[parse->rest.n_operands++] = word;
	return 0;
}

/* Everything after '--'. */
static int parse_tail(struct parse *parse, struct err *err)
{
	parse->at++;
	if (parse->syntax->command) {
		if (parse->at >= parse->argc)
			return err_usage(err, "no command after '--'");
		parse->rest.command = (char **)parse->argv + parse->at;
		return 0;
	}
	for (; parse->at < parse->argc; parse->at++)
		if (add_operand(parse, err) < 0)
			return -err->code;
	return 0;
}

static int parse_words(struct parse *parse, struct err *err)
{
	for (parse->at = 1; parse->at < parse->argc; parse->at++) {
		const char *word = parse->argv[parse->at];
		int r;

		if (!strcmp(word, "--"))
			return parse_tail(parse, err);
		if (str_starts(word, "--"))
			r = parse_long(parse, word, err);
		else if (word[0] == '-' && word[1])
			r = parse_letters(parse, word, err);
		else
			r = add_operand(parse, err);
		if (r)
			return r;
	}
	return 0;
}

int opt_parse(const struct opt_syntax *syntax, void *ctx, int argc, char *const *argv,
	      struct opt_rest *ret_rest, struct err *err)
{
	struct parse parse = { .syntax = syntax, .ctx = ctx, .argc = argc, .argv = argv };
	int r;

	parse.rest.operands = calloc((size_t)MAX(argc, 0) + 1, sizeof(char *));
	if (!parse.rest.operands)
		return err_errno(err, ENOMEM, "reading the command line");
	r = parse_words(&parse, err);
	if (!r && parse.rest.n_operands < syntax->min) {
		err_usage(err, "%s is missing", syntax->operand);
		r = err_hint(err, "--help shows the usage");
	}
	if (r) {
		ret_rest->unknown = parse.rest.unknown;
		opt_rest_release(&parse.rest);
	} else {
		*ret_rest = parse.rest;
	}
	return r;
}

void opt_rest_release(struct opt_rest *rest)
{
	free(rest->operands);
	*rest = (struct opt_rest){ 0 };
}

static void pad(struct str *str, size_t n)
{
	while (n-- > 0)
		str_add(str, " ");
}

void opt_add_wrapped(struct str *str, const char *text, size_t column, size_t indent, size_t width)
{
	bool fresh = true; /* nothing stands on this line yet */

	while (*text) {
		size_t len = strcspn(text, " ");

		if (!fresh && column + 1 + len > width) {
			str_add(str, "\n");
			pad(str, indent);
			column = indent;
			fresh = true;
		}
		if (len) {
			if (!fresh)
				str_add(str, " ");
			column += len + !fresh;
			str_addn(str, text, len);
			fresh = false;
		}
		text += len + strspn(text + len, " ");
	}
	str_add(str, "\n");
}

/* "  -n, --name NAME" */
static void add_head(struct str *str, const struct opt *opt)
{
	if (opt->letter)
		str_addf(str, "  -%c, --%s", opt->letter, opt->name);
	else
		str_addf(str, "      --%s", opt->name);
	if (opt->arg)
		str_addf(str, " %s", opt->arg);
}

void opt_add_help(struct str *str, const struct opt *table, size_t width)
{
	enum { WIDEST = 30 }; /* a longer head gets a line of its own */
	size_t indent = 0;

	for (const struct opt *o = opt_first(table); o; o = opt_next(o)) {
		_cleanup_str_ struct str head = { 0 };

		add_head(&head, o);
		if (head.len + 2 <= WIDEST)
			indent = MAX(indent, head.len + 2);
	}
	for (const struct opt *o = opt_first(table); o; o = opt_next(o)) {
		_cleanup_str_ struct str head = { 0 };

		add_head(&head, o);
		str_add(str, head.s);
		if (head.len + 2 > indent) {
			str_add(str, "\n");
			pad(str, indent);
		} else {
			pad(str, indent - head.len);
		}
		opt_add_wrapped(str, o->help, indent, indent, width);
	}
}
