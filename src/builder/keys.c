/* SPDX-License-Identifier: MIT */
/*
 * The builder's two pairs of keys: its own as a host, and the one that may log in. Made on the first
 * start, the public half in place before the private one, so that a private one always has its pair.
 * Only the host's goes inside; the client's private half never does.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/path.h"
#include "builder/builder.h"
#include "keys/store.h"
#include "os/fs.h"
#include "os/proc.h"
#include "spec/deploykey.h"

static const char *const names[] = { "host", "client" };

char *builder_key_path(struct builder *builder, const char *which)
{
	return arena_printf(&builder->arena, "%s/%s_ed25519", builder->keys, which);
}

static int make_pair(struct builder *b, const char *which, const char *keygen, struct err *err)
{
	char *path = builder_key_path(b, which);
	char *fresh = arena_printf(&b->arena, "%s.new", path);
	char *fresh_pub = arena_printf(&b->arena, "%s.pub", fresh);
	int r;

	unlink(fresh); /* of one that was killed; we hold the lock */
	unlink(fresh_pub);
	r = key_generate(&b->arena, keygen, arena_printf(&b->arena, BUILDER_NAME "-%s", which),
			 fresh, err);
	if (r < 0)
		return r;
	if (chmod(fresh, 0600) < 0 || chmod(fresh_pub, 0644) < 0 ||
	    rename(fresh_pub, arena_printf(&b->arena, "%s.pub", path)) < 0 ||
	    rename(fresh, path) < 0)
		return err_errno(err, errno, "making '%s'", path);
	return 0;
}

/* There, ours alone, and a file; 0: it is missing. */
static int check_key(const char *path, struct err *err)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_errno(err, errno, "looking at '%s'", path);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return err_set(err, EPERM, "'%s' is not a file of yours", path);
	if (st.st_mode & 077) {
		err_set(err, EPERM, "'%s' can be read by others", path);
		return err_hint(err,
				"if nobody did: chmod 600 '%s'; else remove it, and 'start' "
				"makes a new one",
				path);
	}
	return 1;
}

static int write_texts(struct builder *b, int dir, struct err *err)
{
	char *known = path_join(&b->arena, b->keys, "known_hosts");
	char *host = builder_public_key(b, "host", err);
	char *text;
	int r;

	if (!host)
		return -err->code;
	text = builder_known_hosts(&b->arena, &b->settings, host);
	r = os_write_file_atomic(dir, "known_hosts", text, strlen(text), 0644, err);
	text = builder_ssh_config(&b->arena, &b->settings, builder_key_path(b, "client"), known);
	return r < 0 ? r : os_write_file_atomic(dir, "ssh_config", text, strlen(text), 0644, err);
}

int builder_make_keys(struct builder *builder, struct err *err)
{
	_cleanup_close_ int dir = -1;
	char *keygen = NULL;
	int r = os_mkdirs(builder->keys, 0700, err);

	if (r < 0)
		return r;
	dir = open(builder->keys, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || fchmod(dir, 0700) < 0 || flock(dir, LOCK_EX) < 0)
		return err_errno(err, errno, "opening '%s'", builder->keys);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		r = check_key(builder_key_path(builder, names[i]), err);
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		keygen = os_find_program(&builder->arena, "ssh-keygen", getenv("PATH"), NULL);
		if (!keygen) {
			err_set(err, ENOENT, "there is no ssh-keygen on this machine");
			return err_hint(err, "apt install openssh-client");
		}
		if (make_pair(builder, names[i], keygen, err) < 0)
			return -err->code;
	}
	return write_texts(builder, dir, err);
}

char *builder_public_key(struct builder *builder, const char *which, struct err *err)
{
	char *path = arena_printf(&builder->arena, "%s.pub", builder_key_path(builder, which));
	_cleanup_free_ char *text = NULL;
	char *line;
	int r = os_read_file_at(AT_FDCWD, path, 4096, &text, NULL);

	if (r < 0) {
		err_errno(err, -r, "reading '%s'", path);
		if (r == -ENOENT)
			err_hint(err, "'wrapix-builder start' makes the keys");
		return NULL;
	}
	line = deploy_key_public(&builder->arena, text);
	if (!line || !str_starts(line, "ssh-ed25519 ")) {
		err_set(err, EINVAL, "'%s' is no public key of type ssh-ed25519", path);
		return NULL;
	}
	return line;
}
