/* SPDX-License-Identifier: MIT */
/* From the lines of a log to a change of settings. */
#include <string.h>

#include "lib/tap.h"
#include "session/lessons.h"

#define HEAD                                                                                      \
	"{\"v\":1,\"id\":\"aaaaaaaa\",\"dir\":\"/home/me/p\",\"policy\":\"srt\",\"settings\":\"/" \
	"s\","                                                                                    \
	"\"command\":\"make\"}"
#define WRITE(path)                                                                        \
	"{\"type\":\"deny\",\"what\":\"write\",\"call\":\"openat\",\"path\":\"" path "\"," \
	"\"reason\":\"not-allowed\",\"process\":{\"pid\":2,\"argv\":[\"cc\",\"a b\"]}}"

#define MADE(path)                                                                        \
	"{\"type\":\"deny\",\"what\":\"write\",\"call\":\"mkdir\",\"path\":\"" path "\"," \
	"\"reason\":\"not-allowed\",\"made\":true}"

static void add(struct lessons *l, const char *text)
{
	struct json_object *event;
	struct err err;

	if (json_parse(text, strlen(text), "event", &event, &err) < 0) {
		ok(false, "%s", err.msg);
		return;
	}
	lessons_add(l, event);
	json_object_put(event);
}

static const struct {
	const char *name, *lines[8], *want;
} rows[] = {
	{ "one", { WRITE("/srv/a") }, "+/srv/a " },
	{ "the same twice", { WRITE("/srv/a"), WRITE("/srv/a") }, "+/srv/a " },
	{ "two of a directory stay two", { WRITE("/srv/a"), WRITE("/srv/b") }, "+/srv/a +/srv/b " },
	{ "three are the directory",
	  { WRITE("/srv/x/a"), WRITE("/srv/x/b"), WRITE("/srv/x/c") },
	  "+/srv/x " },
	{ "not the home",
	  { WRITE("/home/me/a"), WRITE("/home/me/b"), WRITE("/home/me/c") },
	  "+~/a +~/b +~/c " },
	{ "nor what holds the working directory",
	  { WRITE("/home/a"), WRITE("/home/b"), WRITE("/home/c") },
	  "+/home/a +/home/b +/home/c " },
	{ "nor files that others obey",
	  { WRITE("/home/me/.config/a"), WRITE("/home/me/.config/b"), WRITE("/home/me/.config/c") },
	  "!~/.config/a !~/.config/b !~/.config/c " },
	{ "what lies in another is covered", { WRITE("/srv/a/b/c"), WRITE("/srv/a") }, "+/srv/a " },
	{ "what is made is its directory",
	  { MADE("/srv/x/tmp.1"), MADE("/srv/x/tmp.2"), WRITE("/srv/x/a") },
	  "+/srv/x " },
	{ "directories of what is made stay apart",
	  { MADE("/srv/x/a/1"), MADE("/srv/x/b/1"), MADE("/srv/x/c/1") },
	  "+/srv/x/a +/srv/x/b +/srv/x/c " },
	{ "not the home, the root or the working directory's",
	  { MADE("/home/me/a"), MADE("/a"), MADE("/home/a") },
	  "+~/a +/a +/home/a " },
	{ "nor where it is a risk itself, or of all programs",
	  { MADE("/srv/id_rsa"), MADE("/home/me/.config/a"), MADE("/tmp/tmp.1") },
	  "!/srv/id_rsa !~/.config/a !/tmp " },
	{ "a risk that a file denies",
	  { "{\"type\":\"deny\",\"what\":\"write\",\"call\":\"openat\",\"path\":\"/home/me/.ssh/"
	    "id\","
	    "\"reason\":\"not-allowed\",\"fix\":{\"key\":\"filesystem.allowWrite\",\"add\":\"/"
	    "\"}}" },
	  "!~/.ssh/id " },
	{ "no refusals", { "{\"type\":\"limit\",\"text\":\"memory\"}" }, "" },
};

/* Whoever is only likely to have done it is not said to have needed it. */
static void only_likely(void)
{
	struct lessons l;

	lessons_init(&l, "/home/me");
	add(&l, HEAD);
	add(&l,
	    "{\"type\":\"deny\",\"what\":\"limit\",\"reason\":\"processes\",\"rule\":\"9\",\"key\":"
	    "\"limits.processes\",\"process\":{\"pid\":2,\"argv\":[\"make\"],\"predicted\":true}}");
	lessons_merge(&l);
	ok(l.n == 1 && !l.v[0].commands.len && l.v[0].likely.len == 1,
	   "a likely process is kept apart");
	is_str(l.v[0].likely.v[0], "make", "... with its command");
	lessons_release(&l);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct str got = { 0 };
		struct lessons l;

		lessons_init(&l, "/home/me");
		add(&l, HEAD);
		for (size_t k = 0; k < 8 && rows[i].lines[k]; k++)
			add(&l, rows[i].lines[k]);
		lessons_merge(&l);
		str_add(&got, "");
		for (size_t k = 0; k < l.n; k++)
			if (!l.v[k].dropped)
				str_addf(&got, "%s%s ", l.v[k].fix.risk ? "!" : "+",
					 l.v[k].fix.value);
		is_str(got.s, rows[i].want, "%s", rows[i].name);
		if (i == 0)
			is_str(l.v[0].commands.v[0], "cc 'a b'", "... with its command");
		str_release(&got);
		lessons_release(&l);
	}
	only_likely();
	return done();
}
