/* SPDX-License-Identifier: MIT */
/* The renderer: one pass over the template's bytes, none over a value's. */
#include "ralph/template.h"

#include <errno.h>
#include <string.h>

enum { DEPTH_MAX = 8, NAME_SIZE_MAX = 48, OUTPUT_MAX = 4 << 20 };

struct render {
	struct str *out;
	struct arena arena;
	const struct template_source *source;
	const struct template_var *vars;
	size_t n_vars;
	unsigned depth;
};

static int render_one(struct render *render, const char *name, struct err *err);

static unsigned line_of(const char *text, const char *at)
{
	unsigned line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

static int put_variable(struct render *render, const char *name, struct err *err)
{
	const char *names[64], *near;
	size_t n = 0;

	for (size_t i = 0; i < render->n_vars; i++) {
		const struct template_var *var = &render->vars[i];

		if (n < ARRAY_LEN(names))
			names[n++] = var->name;
		if (strcmp(var->name, name) != 0)
			continue;
		if (!var->value)
			return err_usage(err, "the variable '%s' has no value here", name);
		str_add(render->out, var->value);
		return 0;
	}
	err_usage(err, "the variable '%s' is not declared for this template", name);
	near = str_nearest(name, names, n);
	return near ? err_hint(err, "did you mean {{%s}}?", near) : -err->code;
}

static size_t span(const char *p, const char *end, const char *chars)
{
	size_t n = 0;

	while (p + n < end && p[n] && strchr(chars, p[n]))
		n++;
	return n;
}

#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
#define LOWER "abcdefghijklmnopqrstuvwxyz0123456789-"

/* What begins at p with '{{'; *ret_next is after its '}}'. */
static int put_placeholder(struct render *render, const char *p, const char *end,
			   const char **ret_next, struct err *err)
{
	bool part = p + 2 < end && p[2] == '>';
	const char *start = p + 2 + part;
	char name[NAME_SIZE_MAX];
	size_t n;

	if (part)
		start += span(start, end, " ");
	n = span(start, end, part ? LOWER : UPPER);
	if (!n || n >= sizeof(name) || start + n + 2 > end || memcmp(start + n, "}}", 2) != 0) {
		err_usage(err, "'{{' begins neither {{NAME}} nor {{> name}}");
		return err_hint(err, "'\\{{' stands for two braces");
	}
	memcpy(name, start, n);
	name[n] = '\0';
	*ret_next = start + n + 2;
	return part ? render_one(render, name, err) : put_variable(render, name, err);
}

static int render_text(struct render *render, const char *text, size_t len, const char *name,
		       struct err *err)
{
	const char *p = text, *end = text + len;

	while (p < end) {
		const char *brace = memchr(p, '{', (size_t)(end - p));
		bool two = brace && brace + 1 < end && brace[1] == '{';

		if (!brace)
			brace = end;
		if (two && brace > p && brace[-1] == '\\') {
			str_addn(render->out, p, (size_t)(brace - 1 - p));
			str_add(render->out, "{{");
			p = brace + 2;
			continue;
		}
		str_addn(render->out, p, (size_t)(brace - p) + (brace < end && !two));
		p = brace + (brace < end && !two);
		if (two && put_placeholder(render, brace, end, &p, err) < 0)
			return err_wrap(err, "%s.md:%u", name, line_of(text, brace));
		if (render->out->len > OUTPUT_MAX)
			return err_usage(err, "%s.md: the prompt is too long", name);
	}
	return 0;
}

static int render_one(struct render *render, const char *name, struct err *err)
{
	const char *text;
	size_t len;
	int r;

	if (++render->depth > DEPTH_MAX)
		return err_usage(err, "parts within parts, too deep: '%s'", name);
	r = render->source->find(render->source, &render->arena, name, &text, &len, err);
	if (r == 0)
		r = render_text(render, text, len, name, err);
	render->depth--;
	return r;
}

int template_render(struct str *out, const struct template_source *source, const char *name,
		    const struct template_var *vars, size_t n_vars, struct err *err)
{
	struct render render = { .out = out, .source = source, .vars = vars, .n_vars = n_vars };
	int r;

	str_add(out, "");
	r = render_one(&render, name, err);
	arena_release(&render.arena);
	return r;
}

static int with_declared(struct str *out, const struct template_source *source, const char *name,
			 const struct template_var *given, size_t n_given, const char *dummy,
			 struct err *err)
{
	const struct template_info *info = template_named(name);
	struct template_var vars[32];
	size_t n = 0;

	if (!info || !info->vars)
		return err_usage(err, "there is no template '%s'", name);
	for (; n < ARRAY_LEN(vars) && info->vars[n]; n++) {
		vars[n] = (struct template_var){ info->vars[n], dummy };
		for (size_t i = 0; i < n_given; i++)
			if (!strcmp(given[i].name, vars[n].name))
				vars[n].value = given[i].value;
	}
	return template_render(out, source, name, vars, n, err);
}

int template_fill(struct str *out, const struct template_source *source, const char *name,
		  const struct template_var *given, size_t n_given, struct err *err)
{
	return with_declared(out, source, name, given, n_given, NULL, err);
}

int template_check(const struct template_source *source, const char *name, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };

	return with_declared(&out, source, name, NULL, 0, "x", err);
}
