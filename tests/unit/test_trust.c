/* SPDX-License-Identifier: MIT */
/* Trust: asked for what widens, kept for exactly those bytes, in a record nobody else can plant. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/sha256.h"
#include "lib/tap.h"
#include "os/fs.h"
#include "spec/config.h"

static struct err err;
static char state[] = "/tmp/wrapix-test-trust.XXXXXX";

static void load(struct project_config *project, const char *text)
{
	struct spec spec;

	*project = (struct project_config){ .path = NULL };
	project->path = arena_strdup(&project->arena, "/p/wrapix.json");
	project->bytes = arena_strdup(&project->arena, text);
	project->len = strlen(text);
	spec_init(&spec);
	if (config_parse(&spec, text, strlen(text), "f", LAYER_PROJECT, project, &err) < 0)
		abort();
	spec_release(&spec);
}

static char *record_path(struct arena *arena, const char *dir)
{
	char hex[SHA256_HEX];

	sha256_hex(dir, strlen(dir), hex);
	return arena_printf(arena, "%s/wrapix/trust/%s", state, hex);
}

static void test_check(void)
{
	struct project_config wide, narrow, none = { .path = NULL };

	load(&narrow, "{\"network\":\"none\"}");
	load(&wide, "{\"network\":\"host\",\"mounts\":[\"~/.ssh:/s\\u001b[2J:ro\"]}");
	is_int(trust_check(&none, "/p", state, &err), 0, "no file needs no trust");
	is_int(trust_check(&narrow, "/p", state, &err), 0, "what widens nothing needs no trust");
	is_int(trust_check(&wide, "/p", state, &err), -EPERM, "what widens needs it");
	is_str(err.msg,
	       "'/p/wrapix.json' is not trusted; it widens the sandbox in 2 places: network: "
	       "\"host\"; mounts[0]: \"~/.ssh\" at \"/s\\u001b[2J\", read-only",
	       "each key is shown, escaped");
	ok(strstr(err.hint, "'wrapix trust /p'"), "with what to type");
	is_int(trust_check(&wide, "p", state, &err), -EINVAL, "a relative directory is a bug");
	project_config_release(&wide);
	project_config_release(&narrow);
}

static void test_record(void)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct project_config project, changed, none = { .path = NULL };
	struct stat st;

	load(&project, "{\"network\":\"host\"}");
	load(&changed, "{\"network\":\"host\"} ");
	is_int(trust_record(&project, "/p \xff\"", state, &err), 0, "recorded");
	is_int(trust_check(&project, "/p \xff\"", state, &err), 0, "and trusted");
	is_int(trust_check(&project, "/q", state, &err), -EPERM, "in no other directory");
	is_int(trust_check(&changed, "/p \xff\"", state, &err), -EPERM, "one byte more is not");
	ok(strstr(err.msg, "has changed since it was trusted"), "and it says why");
	ok(stat(record_path(&arena, "/p \xff\""), &st) == 0 && (st.st_mode & 07777) == 0600,
	   "the record is the user's alone");
	ok(stat(arena_printf(&arena, "%s/wrapix/trust", state), &st) == 0 &&
		   (st.st_mode & 07777) == 0700,
	   "its directory too");
	is_int(trust_record(&changed, "/p \xff\"", state, &err), 0, "recorded anew");
	is_int(trust_check(&changed, "/p \xff\"", state, &err), 0, "the new content is trusted");
	is_int(trust_check(&project, "/p \xff\"", state, &err), -EPERM, "the old is not any more");
	is_int(trust_revoke("/p \xff\"", state, &err), 0, "revoked");
	is_int(trust_check(&changed, "/p \xff\"", state, &err), -EPERM, "and forgotten");
	is_int(trust_revoke("/p \xff\"", state, &err), 0, "revoking again is fine");
	ok(trust_record(&none, "/p", state, &err) < 0, "nothing to trust without a file");
	project_config_release(&project);
	project_config_release(&changed);
}

/* Files are kept apart by their names, whatever bytes are in these and in them. */
static void test_names(void)
{
	char *one = (char *)"a", *other = (char *)"\na", *bytes = (char *)"{}";
	struct project_profile profile = { .name = one, .bytes = bytes, .len = 2 };
	struct project_config project;

	load(&project, "{\"network\":\"host\"}\n");
	project.profiles = &profile;
	project.n_profiles = 1;
	is_int(trust_record(&project, "/p", state, &err), 0, "recorded with a profile");
	is_int(trust_check(&project, "/p", state, &err), 0, "and trusted");
	profile.name = other;
	project.len--;
	is_int(trust_check(&project, "/p", state, &err), -EPERM, "a line end elsewhere is not it");
	project.n_profiles = 0;
	is_int(trust_check(&project, "/p", state, &err), -EPERM, "nor is one file less");
	project_config_release(&project);
}

/* The same bytes, of which more is asked about than was shown. */
static void test_shown(void)
{
	struct widening more = { (char *)"network", (char *)"\"open\"", NULL };
	struct project_config project;

	load(&project, "{\"env\":{\"A\":null}}");
	is_int(trust_record(&project, "/p", state, &err), 0, "recorded");
	project.others = &more;
	project.n_others = 1;
	is_int(trust_check(&project, "/p", state, &err), 0, "what is no question now is none");
	ok(!trust_is_complete(&project, "/p", state), "... though it could be shown");
	is_int(trust_record(&project, "/p", state, &err), 0, "recorded when it was");
	ok(trust_is_complete(&project, "/p", state), "... and that is all");
	project.widenings = &more;
	is_int(trust_check(&project, "/p", state, &err), 0, "it may become a question");
	more.shown = (char *)"\"host\"";
	is_int(trust_check(&project, "/p", state, &err), -EPERM, "another value may not");
	is_str(err.msg,
	       "'/p/wrapix.json' asks for more here than it did when it was trusted; it widens the "
	       "sandbox in 1 place: network: \"host\"",
	       "and that alone is named");
	project_config_release(&project);
}

/* What must not count as a record. */
static void test_planted(void)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	const char *path = record_path(&arena, "/p"), *other = record_path(&arena, "/other");
	struct project_config project;
	FILE *f;

	load(&project, "{\"network\":\"host\"}");
	trust_record(&project, "/p", state, &err);
	is_int(trust_check(&project, "/p", state, &err), 0, "a good record, to begin with");
	ok(chmod(path, 0622) == 0 && trust_check(&project, "/p", state, &err) == -EPERM,
	   "not one that others can write");
	chmod(path, 0600);
	ok(rename(path, other) == 0 && trust_check(&project, "/other", state, &err) == -EPERM,
	   "not one of another directory");
	ok(symlink(other, path) == 0 && trust_check(&project, "/p", state, &err) == -EPERM,
	   "not by way of a link");
	unlink(path);
	ok(mkfifo(path, 0600) == 0 && trust_check(&project, "/p", state, &err) == -EPERM,
	   "not a FIFO, and no waiting for it");
	unlink(path);
	f = fopen(path, "we");
	fputs("{\"dir\": \"/p\", \"sha256\": 7", f);
	fclose(f);
	is_int(trust_check(&project, "/p", state, &err), -EPERM, "not half a record");
	project_config_release(&project);
}

/* A project with very many keys cannot push the number of them out of the message. */
static void test_many(void)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	char *text = arena_strdup(&arena, "{\"env\":{\"A0\":null");
	struct project_config project;

	for (int i = 1; i < 500; i++)
		text = arena_printf(&arena, "%s,\"A%d\":null", text, i);
	load(&project, arena_printf(&arena, "%s}}", text));
	trust_check(&project, "/p", state, &err);
	ok(strstr(err.msg, "in 500 places: env.A0:"), "the number is shown");
	project_config_release(&project);
}

int main(void)
{
	if (!mkdtemp(state))
		return EXIT_FAILURE;
	test_check();
	test_record();
	test_names();
	test_shown();
	test_planted();
	test_many();
	is_int(os_remove_tree(AT_FDCWD, state), 0, "cleaned up");
	return done();
}
