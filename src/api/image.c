/* SPDX-License-Identifier: MIT */
/* Holding an unpacked image while a sandbox runs from it. */
#include "api/image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "api/api.h"
#include "base/path.h"
#include "os/fs.h"

static int make_changes(const char *base, const char *session, struct image_use *use,
			struct err *err)
{
	int r = os_mkdirs(base, 0700, err);

	if (r < 0)
		return r;
	snprintf(use->dir, sizeof(use->dir), "%s/%s", base, session);
	if (mkdir(use->dir, 0700) < 0)
		return err_errno(err, errno, "making '%s'", use->dir);
	use->changes = open(use->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (use->changes < 0 || flock(use->changes, LOCK_SH | LOCK_NB) < 0)
		return err_errno(err, errno, "holding '%s'", use->dir);
	return 0;
}

/* What an earlier wrapix unpacked could be changed by others wherever the image's own modes let them. */
static int close_to_others(struct arena *arena, const char *root, struct err *err)
{
	const char *roots = path_parent(arena, root);

	return chmod(roots, 0700) < 0 ? err_errno(err, errno, "closing '%s' to others", roots) : 0;
}

int image_hold(const struct host *host, const char *session, struct image_use *ret, struct err *err)
{
	struct arena arena = { 0 };
	char path[PATH_MAX];
	int r;

	*ret = (struct image_use){ .lock = -1, .changes = -1 };
	if (!host->image_root)
		return 0;
	r = close_to_others(&arena, host->image_root, err);
	arena_release(&arena);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s.lock", host->image_root);
	ret->lock = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (ret->lock < 0 || flock(ret->lock, LOCK_SH | LOCK_NB) < 0)
		return err_errno(err, errno, "holding the image in '%s'", host->image_root);
	return host->image_changes ? make_changes(host->image_changes, session, ret, err) : 0;
}

void image_let_go(struct image_use *use)
{
	if (use->dir[0])
		os_remove_tree(AT_FDCWD, use->dir);
	close_ptr(&use->changes);
	close_ptr(&use->lock);
}

bool image_is_there(struct spec *spec)
{
	char *cache = api_base_dir(&spec->arena, "XDG_CACHE_HOME", ".cache");

	return access(arena_printf(&spec->arena, "%s/wrapix/images/names/%s/.", cache,
				   spec_image(spec)),
		      F_OK) == 0;
}
