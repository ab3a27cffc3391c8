/* SPDX-License-Identifier: MIT */
/*
 * Trust: which content of a project's wrapix.json the user has looked at and accepted.
 *
 * One record for each directory, in state_home/wrapix/trust/, named by the hash of its canonical
 * path: {dir, sha256, time, shown}. It holds for exactly these bytes, and for what was shown of them: any change asks again,
 * and so does a limit elsewhere that makes more of them a widening.
 * A record that is not the user's own or cannot be read is no trust.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/json.h"
#include "base/sha256.h"
#include "os/fs.h"
#include "spec/config.h"

enum { RECORD_MAX = 4 << 20 };

static char *trust_dir(struct arena *arena, const char *state_home)
{
	return arena_printf(arena, "%s/wrapix/trust", state_home);
}

static int check_dir(const char *dir, struct err *err)
{
	_cleanup_str_ struct str shown = { 0 };

	if (dir[0] == '/')
		return 0;
	return err_set(err, EINVAL, "trust: %s is not an absolute path", str_quote(&shown, dir));
}

/* Reads the record; -ENOENT where there is none that counts. */
static int read_record(const char *dir, const char *state_home, struct json_object **ret)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_free_ char *text = NULL;
	char name[SHA256_HEX];
	struct err ignored; /* a record that cannot be read is no trust */
	_cleanup_close_ int fd = -1;
	struct stat st;
	size_t len;

	sha256_hex(dir, strlen(dir), name);
	fd = open(arena_printf(&arena, "%s/%s", trust_dir(&arena, state_home), name),
		  O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_mode & 022 ||
	    (st.st_uid != geteuid() && st.st_uid != 0))
		return -ENOENT;
	if (os_read_fd(fd, RECORD_MAX, &text, &len) < 0 ||
	    json_parse_max(text, len, RECORD_MAX, "trust", ret, &ignored) < 0)
		return -ENOENT;
	return 0;
}

static bool record_says(struct json_object *record, const char *key, const char *value)
{
	struct json_object *found;

	return json_object_is_type(record, json_type_object) &&
	       json_object_object_get_ex(record, key, &found) &&
	       json_object_is_type(found, json_type_string) &&
	       !strcmp(json_object_get_string(found), value);
}

/* "network: \"host\"": as it is shown, and as the record has it. */
static char *widening_text(struct arena *arena, const struct widening *w)
{
	return arena_printf(arena, "%s: %s", w->key, w->shown);
}

/* What the user was shown, as the keys of an object. */
static struct json_object *shown_of(struct json_object *record)
{
	struct json_object *list, *set = json_object_new_object();
	size_t n = 0;

	if (json_object_object_get_ex(record, "shown", &list) &&
	    json_object_is_type(list, json_type_array))
		n = json_object_array_length(list);
	for (size_t i = 0; set && i < n; i++) {
		struct json_object *text = json_object_array_get_idx(list, i);

		if (json_object_is_type(text, json_type_string))
			json_object_object_add(set, json_object_get_string(text), NULL);
	}
	return set;
}

/* Of a list what is not among what was shown. */
static void add_unseen(struct arena *arena, const struct widening *list, size_t n,
		       struct json_object *shown, struct strv *ret)
{
	for (size_t i = 0; i < n; i++) {
		char *text = widening_text(arena, &list[i]);

		if (!shown || !json_object_object_get_ex(shown, text, NULL))
			strv_add(arena, ret, text);
	}
}

/* What is trusted is the content of each file under its name. */
static void sum_of(const struct project_config *project, char ret_hex[SHA256_HEX])
{
	_cleanup_str_ struct str all = { 0 };

	sha256_hex(project->bytes ? project->bytes : "", project->len, ret_hex);
	if (!project->n_profiles)
		return;
	str_addf(&all, "%s\n", ret_hex);
	for (size_t i = 0; i < project->n_profiles; i++) {
		const struct project_profile *profile = &project->profiles[i];
		char name[SHA256_HEX], content[SHA256_HEX];

		sha256_hex(profile->name, strlen(profile->name), name);
		sha256_hex(profile->bytes, profile->len, content);
		str_addf(&all, "%s %s\n", name, content);
	}
	sha256_hex(all.s, all.len, ret_hex);
}

/* How the project stands to its record. */
struct standing {
	struct arena arena;
	bool recorded, same; /* there is one; it is of this content */
	struct strv unseen;  /* what widens and was not shown */
};

/* The record holds for the project's own profiles as well, and does not tell which of them it was. Which values widen
 * depends on what is said elsewhere, too: by the user, and by files around the project's. */
static struct standing look_up(const struct project_config *project, const char *dir,
			       const char *state_home, bool others)
{
	_cleanup_json_ struct json_object *record = NULL, *shown = NULL;
	struct standing s = { 0 };
	char sum[SHA256_HEX];

	s.recorded = read_record(dir, state_home, &record) == 0 && record_says(record, "dir", dir);
	sum_of(project, sum);
	s.same = s.recorded && record_says(record, "sha256", sum);
	if (s.same)
		shown = shown_of(record);
	add_unseen(&s.arena, project->widenings, project->n_widenings, shown, &s.unseen);
	if (others)
		add_unseen(&s.arena, project->others, project->n_others, shown, &s.unseen);
	return s;
}

static const char *state_of(const struct project_config *project, const struct standing *s)
{
	if (s->same)
		return "asks for more here than it did when it was trusted";
	if (!s->recorded)
		return "is not trusted";
	return project->n_profiles
		       ? "or a profile in .wrapix/profiles has changed since it was trusted"
		       : "has changed since it was trusted";
}

enum { WIDENINGS_SHOWN = 3 }; /* 'wrapix trust' shows them all, one a line */

static int refuse(const struct project_config *project, const char *dir, const struct standing *s,
		  struct err *err)
{
	_cleanup_str_ struct str list = { 0 }, path = { 0 }, named = { 0 };
	const char *state = state_of(project, s);
	size_t n = s->unseen.len;

	str_add_shell(&named, dir);
	if (!n) {
		err_set(err, EPERM, "%s %s, so nothing that it names runs on the host",
			str_quote(&path, project->path), state);
		return err_hint(err, "read it; 'wrapix trust %s' accepts this content", named.s);
	}
	for (size_t i = 0; i < n && i < WIDENINGS_SHOWN; i++)
		str_addf(&list, "%s%s", i ? "; " : "", s->unseen.v[i]);
	if (n > WIDENINGS_SHOWN)
		str_addf(&list, "; and %zu more", n - WIDENINGS_SHOWN);
	err_set(err, EPERM, "%s %s; it widens the sandbox in %zu place%s: %s",
		str_quote(&path, project->path), state, n, n == 1 ? "" : "s", list.s);
	return err_hint(err,
			"read it; 'wrapix trust %s' shows each of them and accepts this content",
			named.s);
}

static int check_record(const struct project_config *project, const char *dir,
			const char *state_home, struct err *err)
{
	struct standing s = look_up(project, dir, state_home, false);
	int r = s.same && !s.unseen.len ? 0 : refuse(project, dir, &s, err);

	arena_release(&s.arena);
	return r;
}

int trust_check(const struct project_config *project, const char *dir, const char *state_home,
		struct err *err)
{
	int r = check_dir(dir, err);

	return r < 0 || !project->path || !project->n_widenings
		       ? r
		       : check_record(project, dir, state_home, err);
}

int trust_check_host(const struct project_config *project, const char *dir, const char *state_home,
		     struct err *err)
{
	int r = check_dir(dir, err);

	if (r == 0 && !project->path) {
		err_usage(err, "without a wrapix.json that you trust nothing runs on the host");
		return err_hint(err, "make one with the key \"ralph\", then 'wrapix trust'");
	}
	return r < 0 ? r : check_record(project, dir, state_home, err);
}

bool trust_is_complete(const struct project_config *project, const char *dir,
		       const char *state_home)
{
	struct standing s = look_up(project, dir, state_home, true);
	bool complete = s.same && !s.unseen.len;

	arena_release(&s.arena);
	return complete;
}

static void add_shown(struct arena *arena, const struct project_config *project, struct str *out)
{
	struct strv all = { 0 };

	add_unseen(arena, project->widenings, project->n_widenings, NULL, &all);
	add_unseen(arena, project->others, project->n_others, NULL, &all);
	json_add_strings(out, &all);
}

static void format_record(struct arena *arena, const struct project_config *project,
			  const char *dir, struct str *out)
{
	char sum[SHA256_HEX], when[32] = "";
	time_t now = time(NULL);
	struct tm tm;

	sum_of(project, sum);
	if (gmtime_r(&now, &tm))
		(void)strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	str_add(out, "{\"dir\": ");
	json_add_string(out, dir);
	str_addf(out, ", \"sha256\": \"%s\", \"time\": \"%s\", \"shown\": ", sum, when);
	add_shown(arena, project, out);
	str_add(out, "}\n");
}

int trust_record(const struct project_config *project, const char *dir, const char *state_home,
		 struct err *err)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_str_ struct str text = { 0 }, shown = { 0 };
	const char *place = trust_dir(&arena, state_home);
	_cleanup_close_ int fd = -1;
	char name[SHA256_HEX];
	int r = check_dir(dir, err);

	if (r == 0 && !project->path)
		r = err_usage(err, "%s has no wrapix.json to trust", str_quote(&shown, dir));
	if (r == 0)
		r = os_mkdirs(place, 0700, err);
	if (r < 0)
		return r;
	fd = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, errno, "opening '%s'", place);
	format_record(&arena, project, dir, &text);
	if (text.len > RECORD_MAX)
		return err_usage(err, "%s asks for more than anybody can read",
				 str_quote(&shown, project->path));
	sha256_hex(dir, strlen(dir), name);
	r = os_write_file_atomic(fd, name, text.s, text.len, 0600, err);
	return r < 0 ? err_wrap(err, "recording trust in '%s'", place) : 0;
}

int trust_revoke(const char *dir, const char *state_home, struct err *err)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	const char *place = trust_dir(&arena, state_home);
	char name[SHA256_HEX];
	int r = check_dir(dir, err);

	if (r < 0)
		return r;
	sha256_hex(dir, strlen(dir), name);
	if (unlink(arena_printf(&arena, "%s/%s", place, name)) < 0 && errno != ENOENT)
		return err_errno(err, errno, "removing the trust in '%s'", dir);
	return 0;
}
