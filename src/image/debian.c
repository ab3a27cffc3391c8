/* SPDX-License-Identifier: MIT */
/*
 * Running mmdebstrap. It works in a user namespace of its own; the suite and the mirrors are this
 * machine's, read from its apt configuration, so that no list of ours names a mirror. With a fixed
 * SOURCE_DATE_EPOCH the same packages give the same archive.
 */
#include "image/debian.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/str.h"
#include "image/run.h"
#include "os/fs.h"

/* "VERSION_CODENAME=bookworm" of os-release. */
static char *find_suite(struct arena *arena)
{
	static const char key[] = "\nVERSION_CODENAME=";
	_cleanup_free_ char *text = NULL;
	char *line;
	size_t len;

	if (os_read_file_at(AT_FDCWD, "/etc/os-release", 65536, &text, &len) < 0)
		return NULL;
	line = strstr(text, key);
	if (!line)
		return NULL;
	line += strlen(key);
	line += *line == '"';
	return arena_strndup(arena, line, strcspn(line, "\"\n"));
}

/* The files that say where packages come from, in either form. */
static void add_sources(struct arena *arena, struct strv *argv)
{
	static const char *const places[] = { "/etc/apt/sources.list",
					      "/etc/apt/sources.list.d/debian.sources" };

	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (access(places[i], R_OK) == 0)
			strv_add(arena, argv, places[i]);
}

static char *join(struct arena *arena, const struct strv *list)
{
	_cleanup_str_ struct str out = { 0 };

	for (size_t i = 0; i < list->len; i++)
		str_addf(&out, "%s%s", i ? "," : "", list->v[i]);
	return arena_strdup(arena, out.s ? out.s : "");
}

int debian_make_tar(const char *tar, const struct strv *packages, const char *architecture, int log,
		    struct err *err)
{
	struct arena arena = { 0 };
	struct strv argv = { 0 };
	char *program = run_find(&arena, "mmdebstrap",
				 "apt-get install mmdebstrap uidmap; or build from something else "
				 "with --from",
				 err);
	char *suite = find_suite(&arena);
	int r = 0;

	if (!program) {
		r = -err->code;
	} else if (!suite) {
		err_set(err, ENOTSUP, "this machine's os-release names no Debian suite");
		r = err_hint(err, "--from says what else an image can be made of");
	} else {
		strv_add(&arena, &argv, program);
		strv_add(&arena, &argv, "--variant=minbase");
		strv_add(&arena, &argv, "--format=tar");
		if (architecture)
			strv_addf(&arena, &argv, "--architectures=%s", architecture);
		strv_addf(&arena, &argv, "--include=%s", join(&arena, packages));
		/* Nothing that says when or where it was made, and nothing that only people read. */
		strv_add(&arena, &argv, "--dpkgopt=path-exclude=/usr/share/doc/*");
		strv_add(&arena, &argv, "--dpkgopt=path-include=/usr/share/doc/*/copyright");
		strv_add(&arena, &argv, "--dpkgopt=path-exclude=/usr/share/locale/*");
		strv_add(&arena, &argv, "--dpkgopt=path-exclude=/usr/share/info/*");
		strv_add(&arena, &argv,
			 "--customize-hook=rm -f \"$1\"/var/cache/ldconfig/aux-cache "
			 "\"$1\"/var/log/*.log \"$1\"/etc/hostname \"$1\"/etc/resolv.conf "
			 "\"$1\"/etc/machine-id \"$1\"/var/lib/dbus/machine-id");
		strv_add(&arena, &argv, suite);
		strv_add(&arena, &argv, tar);
		add_sources(&arena, &argv);
		r = run_program(&arena, &argv, log, NULL, err);
		if (r < 0)
			err_hint(err, "what it said is above");
	}
	arena_release(&arena);
	return r;
}
