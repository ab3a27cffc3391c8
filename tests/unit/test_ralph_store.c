/* SPDX-License-Identifier: MIT */
/* ralph's database, its items, and their lines of JSON. */
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/path.h"
#include "lib/tap.h"
#include "os/fs.h"
#include "ralph/config.h"
#include "ralph/export.h"

static char dir[] = "/tmp/wrapix-ralph-XXXXXX";
static struct arena arena;

static void open_store(struct db *db, const char *name)
{
	struct err err;

	if (db_open(db, path_join(&arena, dir, name), NULL, &err) < 0) {
		diag("%s", err.msg);
		exit(1);
	}
}

static const char *add(struct db *db, const char *title, bool epic, char **needs, size_t n)
{
	struct item item = { .feature = (char *)"f",
			     .title = (char *)title,
			     .epic = epic,
			     .status = ITEM_OPEN,
			     .needs = needs,
			     .n_needs = n };
	const char *id = NULL;
	struct err err;

	ok(item_add(db, &arena, &item, &id, &err) == 0, "add '%s'", title);
	return id;
}

static void test_order(struct db *db)
{
	struct feature f = { .name = (char *)"f", .spec = (char *)"specs/f.md" };
	const char *epic, *a, *b, *c;
	struct item_count count;
	struct items items;
	struct err err;

	ok(feature_add(db, &f, &err) == 0, "add a feature");
	epic = add(db, "all of it", true, NULL, 0);
	a = add(db, "first", false, (char *[]){ (char *)epic, NULL }, 1);
	b = add(db, "second", false, (char *[]){ (char *)a, NULL }, 1);
	c = add(db, "third & \"last\"", false, NULL, 0);
	items_load(db, "f", &items, &err);
	is_int((long long)items.n, 4, "all of them are there");
	ok(!item_is_ready(&items, items_find(&items, epic)) &&
		   item_is_ready(&items, items_find(&items, a)),
	   "an epic is no work, and holds nothing up");
	ok(!item_is_ready(&items, items_find(&items, b)), "one waits for another");
	ok(item_is_ready(&items, items_find(&items, c)), "one that waits for nothing is ready");
	items_release(&items);

	ok(item_move(db, a, ITEM_OPEN, ITEM_RUNNING, NULL, &err) == 0, "take one");
	is_int(item_move(db, a, ITEM_OPEN, ITEM_RUNNING, NULL, &err), -ESTALE, "only once");
	ok(item_move(db, a, ITEM_RUNNING, ITEM_DONE, NULL, &err) == 0, "finish it");
	items_load(db, "f", &items, &err);
	ok(item_is_ready(&items, items_find(&items, b)), "what waited is next");
	items_count(&items, &count);
	ok(count.total == 3 && count.by[ITEM_DONE] == 1 && count.ready == 2, "counts");
	is_int(items_check(&items, &err), 0, "nothing waits in a circle");
	items.v[1].needs = (char *[]){ (char *)b, NULL };
	items.v[1].n_needs = 1;
	is_int(items_check(&items, &err), -ELOOP, "a circle is found: %s", err.msg);
	items_release(&items);
}

static void test_export(struct db *db)
{
	struct str text = { 0 }, again = { 0 }, both = { 0 };
	struct feature f = { 0 };
	struct db other = { 0 };
	size_t taken = 0, passed = 0;
	struct items items;
	struct err err;

	feature_find(db, &arena, "f", &f, &err);
	ok(export_text(db, &f, &text, &err) == 0, "export");
	open_store(&other, "other.db");
	ok(export_merge(&other, text.s, text.len, false, &taken, &passed, &err) == 0 &&
		   taken == 5 && !passed,
	   "into an empty database");
	feature_find(&other, &arena, "f", &f, &err);
	export_text(&other, &f, &again, &err);
	is_str(again.s, text.s, "comes out the same");

	/* Two sides of a merge, with git's marks between them. */
	items_load(&other, "f", &items, &err);
	item_move(&other, items.v[2].id, ITEM_OPEN, ITEM_DONE, NULL, &err);
	db_run(&other, &err, "UPDATE item SET updated = updated + 1000 WHERE id = ?", "s",
	       items.v[2].id);
	again.len = 0;
	export_text(&other, &f, &again, &err);
	str_addf(&both,
		 "<<<<<<< ours\n%s=======\n%s>>>>>>> theirs\n{\"kind\":\"task\",\"id\":\"../x\"}\n",
		 again.s, text.s);
	ok(export_merge(db, both.s, both.len, false, &taken, &passed, &err) == 0, "a merged file");
	is_int((long long)passed, 4, "marks and what is no record are passed over");
	items_release(&items);
	items_load(db, "f", &items, &err);
	is_int(items.v[2].status, ITEM_DONE, "the newer record counts, whichever comes first");
	items_release(&items);
	db_close(&other);
	str_release(&text);
	str_release(&again);
	str_release(&both);
}

/* A file of a stranger's: the newer record counts in any order, nothing of it runs here, and titles are those of one line. */
static void test_strange(void)
{
	static const char text[] = "{\"kind\":\"feature\",\"name\":\"s\",\"spec\":\"s.md\","
				   "\"title\":\"New\",\"updated\":9}\n"
				   "{\"kind\":\"feature\",\"name\":\"s\",\"spec\":\"s.md\","
				   "\"title\":\"Old\",\"updated\":2}\n"
				   "{\"kind\":\"task\",\"id\":\"a\",\"feature\":\"s\",\"title\":\" "
				   "A\\nB \",\"status\":\"landing\",\"updated\":1}\n"
				   "{\"kind\":\"task\",\"id\":\"b\",\"feature\":\"s\",\"title\":\" "
				   "\\t\",\"status\":\"open\",\"updated\":1}\n";
	struct feature f = { 0 };
	struct db db = { 0 };
	size_t taken = 0, passed = 0;
	struct items items;
	struct err err;

	open_store(&db, "strange.db");
	ok(export_merge(&db, text, strlen(text), false, &taken, &passed, &err) == 0 && taken == 2 &&
		   passed == 1,
	   "a stranger's file: a title of blanks is none");
	feature_find(&db, &arena, "s", &f, &err);
	is_str(f.title, "New", "the newer record of a feature counts, though it comes first");
	items_load(&db, "s", &items, &err);
	is_int(items.v[0].status, ITEM_OPEN, "nothing lands here that did not begin here");
	is_str(items.v[0].title, "A B", "a title is one line");
	items_release(&items);
	db_close(&db);
}

/* Many writers, none of whom loses a count. */
static void test_writers(void)
{
	enum { WRITERS = 4, TIMES = 25 };
	struct db db = { 0 };
	char *value = NULL;
	struct err err;
	int bad = 0;

	open_store(&db, "many.db");
	db_set(&db, "n", "0", &err);
	db_close(&db);
	for (int i = 0; i < WRITERS; i++)
		if (fork() == 0) {
			struct db own = { 0 };
			int r = db_open(&own, path_join(&arena, dir, "many.db"), NULL, &err);

			for (int j = 0; r == 0 && j < TIMES; j++) {
				char next[24];

				r = db_begin(&own, &err);
				if (r == 0)
					r = db_get(&own, &arena, "n", &value, &err);
				snprintf(next, sizeof(next), "%ld", strtol(value, NULL, 10) + 1);
				if (r == 0)
					r = db_set(&own, "n", next, &err);
				if (r == 0)
					r = db_commit(&own, &err);
			}
			_exit(r < 0);
		}
	for (int i = 0, status; i < WRITERS; i++)
		bad |= wait(&status) < 0 || status;
	open_store(&db, "many.db");
	db_get(&db, &arena, "n", &value, &err);
	ok(!bad, "four writers at once");
	is_str(value, "100", "none of their changes is lost");
	db_close(&db);
}

static void test_config(void)
{
	static const struct {
		const char *text;
		const char *bad; /* in the message; NULL: it is fine */
	} cases[] = {
		{ "{}", NULL },
		{ "{\"gate\": \"make test\", \"protect\": [\"specs\", \"tests/\"], \"attempts\": "
		  "2}",
		  NULL },
		{ "{\"models\": {\"step\": \"opus\"}, \"maxCost\": 12.5, \"maxTime\": \"2h\"}",
		  NULL },
		{ "{\"hooks\": {\"pre-step\": \"true\", \"post-loop\": {\"run\": \"x\", "
		  "\"onFailure\": "
		  "\"warn\"}}}",
		  NULL },
		{ "{\"gaet\": \"x\"}", "ralph.gaet" },
		{ "{\"protect\": [\"../x\"]}", "ralph.protect[0]" },
		{ "{\"attempts\": 0}", "ralph.attempts" },
		{ "{\"maxTime\": \"soon\"}", "ralph.maxTime" },
		{ "{\"hooks\": {\"pre-lunch\": \"x\"}}", "ralph.hooks.pre-lunch" },
		{ "{\"hooks\": {\"pre-loop\": {\"onFailure\": \"warn\"}}}",
		  "ralph.hooks.pre-loop" },
		{ "{\"hooks\": {\"pre-loop\": {\"run\": \"x\", \"onFailure\": \"cry\"}}}",
		  "onFailure" },
		{ "{\"models\": {\"step\": \"--evil\"}}", "ralph.models.step" },
		{ "{\"specs\": \"/etc\"}", "ralph.specs" },
		{ "{\"push\": \"yes\"}", "ralph.push" },
		{ "[]", "ralph" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_json_ struct json_object *root = NULL;
		struct ralph_config config;
		struct err err = { 0 };
		int r = json_parse(cases[i].text, strlen(cases[i].text), "test", &root, &err);

		ralph_config_init(&config);
		if (r == 0)
			r = ralph_config_take(&config, root, &err);
		ok(cases[i].bad ? r < 0 && strstr(err.msg, cases[i].bad) : r == 0, "config %s: %s",
		   cases[i].text, err.msg);
		if (strstr(cases[i].text, "2h"))
			is_int(config.max_time, 7200, "two hours");
		ralph_config_release(&config);
	}
}

static void take(struct ralph_config *config, const char *text)
{
	_cleanup_json_ struct json_object *root = NULL;
	struct err err;

	if (json_parse(text, strlen(text), "test", &root, &err) < 0 ||
	    ralph_config_take(config, root, &err) < 0)
		abort();
}

/* The user's own, and over it the project's. */
static void test_layers(void)
{
	struct ralph_config config;

	ralph_config_init(&config);
	take(&config,
	     "{\"maxCost\": 5, \"stepTime\": \"1h\", \"maxSteps\": 9, \"protect\": [\"a\"]}");
	config.from_project = true;
	take(&config,
	     "{\"maxCost\": 500, \"stepTime\": \"2h\", \"maxSteps\": 3, \"protect\": [\"b\"],"
	     " \"maxTime\": \"2h\", \"attempts\": 7, \"push\": true}");
	ok(config.max_cost == 5 && config.step_time == 3600, "a project lifts no limit");
	ok(config.max_steps == 3 && config.max_time == 7200 && config.attempts == 7,
	   "... and may have smaller ones, and its own");
	is_int((long long)config.protect.len, 2, "what the user protects stays so");
	ok(config.push && config.push_asked, "that it wants to push is known");
	ralph_config_release(&config);
	ralph_config_init(&config);
	take(&config, "{\"push\": true}");
	config.from_project = true;
	take(&config, "{\"push\": true}");
	ok(config.push && !config.push_asked, "... but where the user does, too");
	ralph_config_release(&config);
}

int main(void)
{
	struct db db = { 0 };

	if (!mkdtemp(dir))
		return 1;
	open_store(&db, "one.db");
	test_order(&db);
	test_export(&db);
	test_strange();
	db_close(&db);
	test_writers();
	test_config();
	test_layers();
	os_remove_tree(AT_FDCWD, dir);
	arena_release(&arena);
	return done();
}
