/* SPDX-License-Identifier: MIT */
/*
 * Prompts from templates. A template is text with {{NAME}} for a variable and {{> name}} for another
 * template; '\{{' stands for the two braces themselves. Values are put in as they are, in one pass:
 * nothing in a value is looked at again. A variable that is not declared, one without a value, and
 * braces that are neither are errors with the line.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct template_var {
	const char *name;
	const char *value; /* NULL: declared, but there is none */
};

/* Where templates come from: the text of the one of that name, which lives in the arena; -ENOENT. */
struct template_source {
	int (*find)(const struct template_source *source, struct arena *arena, const char *name,
		    const char **ret_text, size_t *ret_len, struct err *err);
	int dir; /* the project's own templates; -1: only those of the program */
};
#define TEMPLATES_BUILT_IN               \
	{                                \
		template_find, .dir = -1 \
	}

/* The project's own where it has one, else the program's. */
int template_find(const struct template_source *source, struct arena *arena, const char *name,
		  const char **ret_text, size_t *ret_len, struct err *err);

int template_render(struct str *out, const struct template_source *source, const char *name,
		    const struct template_var *vars, size_t n_vars, struct err *err);

/* The i-th built-in template and what it is for; NULL after the last. */
struct template_info {
	const char *name, *about;
	const char *const *vars; /* declared for it; NULL: a part of others */
};
const struct template_info *template_info(size_t i);
const struct template_info *template_named(const char *name);
/* The text of a built-in one. */
const char *template_built_in(const char *name, size_t *ret_len);

/* Renders it with placeholders for values: what 'ralph check' does with each. */
int template_check(const struct template_source *source, const char *name, struct err *err);

/* By name, with the declared variables of the template; those not given have no value. */
int template_fill(struct str *out, const struct template_source *source, const char *name,
		  const struct template_var *given, size_t n_given, struct err *err);
