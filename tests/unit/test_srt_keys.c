/* SPDX-License-Identifier: MIT */
/* Every key of the settings: srt(1) says what becomes of it, and that is what becomes of it. */
#include <fcntl.h>

#include "base/arena.h"
#include "base/str.h"
#include "lib/tap.h"
#include "os/fs.h"
#include "spec/srt.h"
#include "spec/srt_schema.h"

#define HEADING "\n.Ss What becomes of each key\n"

static struct arena arena;
static char *table; /* that part of the manual */

/* --- the manual --- */

static bool is_end(char c)
{
	return c == ' ' || c == '\n' || c == '\0';
}

/* The manual lists the key: returns the words of its group, "" for none. */
static const char *documented(const char *key)
{
	static const char item[] = ".It ";
	const char *group = "";
	size_t len = strlen(key);

	for (char *line = table; line && *line; line = strchr(line, '\n') + 1) {
		if (!strncmp(line, item, strlen(item)))
			group = line + strlen(item);
		for (const char *at = line; (at = strstr(at, key)) && at < strchr(line, '\n');
		     at += len)
			if (at > line && at[-1] == ' ' && is_end(at[len]))
				return arena_strndup(&arena, group, strcspn(group, "\n"));
	}
	return "";
}

static bool load_table(void)
{
	const char *source = getenv("WRAPIX_SOURCE");
	char *text, *end;

	if (!source || os_read_file_at(AT_FDCWD, arena_printf(&arena, "%s/man/srt.1", source),
				       1 << 20, &text, NULL) < 0)
		return false;
	table = strstr(text, HEADING);
	if (!table)
		return false;
	table += strlen(HEADING);
	end = strstr(table, "\n.El\n");
	if (end)
		end[1] = '\0';
	return true;
}

/* --- settings that hold one key --- */

static void add_sample(struct str *out, const struct srt_type *type);

static const char *sample_text(const struct srt_type *type)
{
	static const char *const texts[] = { "(a)b",
					     "a.example.com",
					     "/a",
					     "http://a.example.com",
					     "10.0.0.1",
					     "A",
					     "com.example.a",
					     "123e4567-e89b-42d3-a456-426614174000" };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (!type->check || !type->check(texts[i]))
			return texts[i];
	return "?";
}

static void add_required(struct str *out, const struct srt_type *type, const char *but)
{
	for (const struct srt_key *key = type->keys; key->name; key++)
		if (key->flags & SRT_REQUIRED && strcmp(key->name, but) != 0) {
			str_addf(out, "\"%s\": ", key->name);
			add_sample(out, key->type);
			str_add(out, ", ");
		}
}

static void add_sample(struct str *out, const struct srt_type *type)
{
	switch (type->kind) {
	case SRT_BOOL:
		str_add(out, "true");
		break;
	case SRT_INT:
	case SRT_SIZE:
		str_addf(out, "%ld", type->kind == SRT_INT ? type->min : 1L);
		break;
	case SRT_ENUM:
		str_addf(out, "\"%s\"", type->words[0]);
		break;
	case SRT_ARRAY:
		str_add(out, "[");
		for (long i = 0; i < MAX(type->min, 1L); i++) {
			str_add(out, i ? ", " : "");
			add_sample(out, type->of);
		}
		str_add(out, "]");
		break;
	case SRT_RECORD:
		str_add(out, "{\"a.example.com\": ");
		add_sample(out, type->of);
		str_add(out, "}");
		break;
	case SRT_OBJECT:
		str_add(out, "{");
		add_required(out, type, "");
		if (out->s[out->len - 1] == ' ')
			out->len -= 2;
		str_add(out, "}");
		break;
	case SRT_STRING:
	case SRT_PATH:
	case SRT_FUNCTION:
		str_addf(out, "\"%s\"", type->kind == SRT_PATH ? "/a" : sample_text(type));
		break;
	}
}

/* --- one key --- */

struct step {
	const struct step *up;
	const struct srt_key *key;
	const struct srt_type *in; /* the object that holds it */
	bool element;              /* of a list */
};

static void add_value(struct str *out, const struct step *at, struct str *inner)
{
	_cleanup_str_ struct str whole = { 0 };

	str_add(&whole, at->element ? "[{" : "{");
	add_required(&whole, at->in, at->key->name);
	str_addf(&whole, "\"%s\": %s%s", at->key->name, inner->s, at->element ? "}]" : "}");
	if (at->up)
		add_value(out, at->up, &whole);
	else
		str_add(out, whole.s);
}

static void add_name(struct str *out, const struct step *at, const char *element)
{
	if (at->up) {
		add_name(out, at->up, element);
		str_addf(out, "%s.", at->element ? element : "");
	}
	str_add(out, at->key->name);
}

static bool lists(const struct srt_config *config, const char *name, const char *state)
{
	for (size_t i = 0; i < config->unused.len; i++)
		if (!strcmp(config->unused.v[i], arena_printf(&arena, "%s: %s", name, state)))
			return true;
	return false;
}

static bool mentions(const struct srt_config *config, const char *name)
{
	for (size_t i = 0; i < config->unused.len; i++)
		if (str_starts(config->unused.v[i], arena_printf(&arena, "%s:", name)))
			return true;
	return false;
}

/* What one key demands of another is an error that names it: that is not silence either. */
static void check_behaviour(const char *name, const char *state, const char *text)
{
	_cleanup_str_ struct str why = { 0 };
	struct srt_config config = { 0 };
	int r = srt_parse(&config, text, strlen(text), "f", &why);
	bool named = why.len && strstr(why.s, name);

	if (!strcmp(state, "refused"))
		ok(r < 0 && named, "%s is refused by its name", name);
	else if (!strcmp(state, "enforced"))
		ok(r == 0 ? !mentions(&config, name) : named, "%s counts: %s", name,
		   r == 0 ? "accepted" : why.s);
	else
		ok(r == 0 ? lists(&config, name, state) : named, "%s is told of: %s", name,
		   r == 0 ? state : why.s);
	srt_config_release(&config);
}

static void check_key(const struct step *at)
{
	_cleanup_str_ struct str sample = { 0 }, text = { 0 }, said = { 0 }, written = { 0 };
	const char *state = srt_key_state(at->key->flags);

	add_name(&written, at, "[]");
	add_name(&said, at, ".0");
	add_sample(&sample, at->key->type);
	add_value(&text, at, &sample);
	is_str(documented(written.s), state, "srt(1) on %s", written.s);
	check_behaviour(said.s, state, text.s);
}

/* What is told of or refused as a whole has no lines for its parts. */
static void walk(const struct step *up, const struct srt_type *type, bool element)
{
	for (const struct srt_key *key = type->keys; key->name; key++) {
		const struct step at = { up, key, type, element };
		const struct srt_type *of = key->type;
		bool list = of->kind == SRT_ARRAY && of->of->kind == SRT_OBJECT;

		if (!(key->flags & ~(unsigned)SRT_REQUIRED) && (list || of->kind == SRT_OBJECT))
			walk(&at, list ? of->of : of, list);
		else
			check_key(&at);
	}
}

int main(void)
{
	if (ok(load_table(), "the manual is there (WRAPIX_SOURCE names the source tree)"))
		walk(NULL, &srt_config_type, false);
	return done();
}
