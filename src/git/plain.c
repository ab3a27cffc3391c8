/* SPDX-License-Identifier: MIT */
/* What stands in the host's git directory in place of a file, and is none: git would wait for a FIFO until its time is over. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/util.h"
#include "git/priv.h"
#include "git/run.h"

/* What git opens whatever it is asked. The first one also where all that is read of a repository is its objects. */
static const char *const names[] = { "objects/info/alternates",
				     "HEAD",
				     "config",
				     "commondir",
				     "index",
				     "shallow",
				     "packed-refs",
				     "logs/HEAD" };

static const char *kind_of(mode_t mode)
{
	return S_ISFIFO(mode) ? "a FIFO" : S_ISSOCK(mode) ? "a socket" : "a device";
}

static int look(const struct git_store *store, const char *gitdir, size_t n, struct err *err)
{
	_cleanup_close_ int dir = git_open_host(store, gitdir);
	struct stat st;

	for (size_t i = 0; dir >= 0 && i < n; i++)
		if (fstatat(dir, names[i], &st, 0) == 0 && !S_ISREG(st.st_mode) &&
		    !S_ISDIR(st.st_mode))
			return err_set(err, ENXIO, "'%s/%s' is %s and no regular file", gitdir,
				       names[i], kind_of(st.st_mode));
	return 0;
}

int git_check_plain(const struct git_store *store, const char *gitdir, struct err *err)
{
	int r = look(store, gitdir, ARRAY_LEN(names), err);

	if (r == 0 && git_is_linked(gitdir, store->common))
		r = look(store, store->common, ARRAY_LEN(names), err);
	return r;
}

int git_check_objects(const struct git_store *store, struct err *err)
{
	int r = look(store, store->common, 1, err);

	for (size_t i = 0; r == 0 && i < store->n_parts; i++)
		if (!store->parts[i].tree)
			r = look(&store->parts[i], store->parts[i].common, 1, err);
	return r;
}
