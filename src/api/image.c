/* SPDX-License-Identifier: MIT */
/* Holding an unpacked image while a sandbox runs from it. */
#include "api/image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>

#include "api/api.h"

int image_hold(const struct host *host, int *ret_fd, struct err *err)
{
	char path[PATH_MAX];

	*ret_fd = -1;
	if (!host->image_root)
		return 0;
	snprintf(path, sizeof(path), "%s.lock", host->image_root);
	*ret_fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (*ret_fd < 0 || flock(*ret_fd, LOCK_SH | LOCK_NB) < 0)
		return err_errno(err, errno, "holding the image in '%s'", host->image_root);
	return 0;
}

bool image_is_there(struct spec *spec)
{
	char *cache = api_base_dir(&spec->arena, "XDG_CACHE_HOME", ".cache");

	return access(arena_printf(&spec->arena, "%s/wrapix/images/names/%s/.", cache,
				   spec_image(spec)),
		      F_OK) == 0;
}
