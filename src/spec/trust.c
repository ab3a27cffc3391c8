/* SPDX-License-Identifier: MIT */
/*
 * Trust: which content of a project's wrapix.json the user has looked at and accepted.
 *
 * One record for each directory, in state_home/wrapix/trust/, named by the hash of its canonical
 * path: {dir, sha256, time}. It holds for exactly the bytes that were shown; any change asks again.
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

enum { RECORD_MAX = 64 * 1024 };

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
	    json_parse(text, len, "trust", ret, &ignored) < 0)
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

enum { WIDENINGS_SHOWN = 3 }; /* 'wrapix trust' shows them all, one a line */

/* The record holds for the project's own profiles as well, and does not tell which of them it was. */
static const char *state_of(const struct project_config *project, bool changed)
{
	if (!changed)
		return "is not trusted";
	return project->n_profiles
		       ? "or a profile in .wrapix/profiles has changed since it was trusted"
		       : "has changed since it was trusted";
}

static int refuse(const struct project_config *project, const char *dir, bool changed,
		  struct err *err)
{
	_cleanup_str_ struct str list = { 0 }, path = { 0 }, named = { 0 };
	const char *state = state_of(project, changed);

	str_add_shell(&named, dir);
	if (!project->n_widenings) {
		err_set(err, EPERM, "%s %s, so nothing that it names runs on the host",
			str_quote(&path, project->path), state);
		return err_hint(err, "read it; 'wrapix trust %s' accepts this content", named.s);
	}
	for (size_t i = 0; i < project->n_widenings && i < WIDENINGS_SHOWN; i++)
		str_addf(&list, "%s%s: %s", i ? "; " : "", project->widenings[i].key,
			 project->widenings[i].shown);
	if (project->n_widenings > WIDENINGS_SHOWN)
		str_addf(&list, "; and %zu more", project->n_widenings - WIDENINGS_SHOWN);
	err_set(err, EPERM, "%s %s; it widens the sandbox in %zu place%s: %s",
		str_quote(&path, project->path), state, project->n_widenings,
		project->n_widenings == 1 ? "" : "s", list.s);
	return err_hint(err,
			"read it; 'wrapix trust %s' shows each of them and accepts this content",
			named.s);
}

static int check_record(const struct project_config *project, const char *dir,
			const char *state_home, struct err *err)
{
	_cleanup_json_ struct json_object *record = NULL;
	char sum[SHA256_HEX];

	if (read_record(dir, state_home, &record) < 0 || !record_says(record, "dir", dir))
		return refuse(project, dir, false, err);
	sha256_hex(project->bytes, project->len, sum);
	return record_says(record, "sha256", sum) ? 0 : refuse(project, dir, true, err);
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

static void format_record(const struct project_config *project, const char *dir, struct str *out)
{
	char sum[SHA256_HEX], when[32] = "";
	time_t now = time(NULL);
	struct tm tm;

	sha256_hex(project->bytes, project->len, sum);
	if (gmtime_r(&now, &tm))
		(void)strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	str_add(out, "{\"dir\": ");
	json_add_string(out, dir);
	str_addf(out, ", \"sha256\": \"%s\", \"time\": \"%s\"}\n", sum, when);
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
	format_record(project, dir, &text);
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
