/* SPDX-License-Identifier: MIT */
/* Which branch of a remote is its first ("origin/HEAD"): a reference to another, and those do not travel with the rest. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "git/lasting.h"
#include "git/priv.h"
#include "os/dir.h"
#include "os/fs.h"
#include "session/record.h"

enum { REF_MAX = 1024 };

static int make_dir(int at, const char *name)
{
	if (mkdirat(at, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	return record_open_dir(at, name);
}

/* One remote's, where the host's is newer. */
static int take(int from, int to, const char *remote, struct err *err)
{
	_cleanup_close_ int theirs = record_open_dir(from, remote);
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int ours = -1;
	size_t len;

	if (theirs < 0 || git_read_file(theirs, "HEAD", REF_MAX, &text, &len) < 0 ||
	    strlen(text) != len || !str_starts(text, "ref: refs/remotes/"))
		return 0;
	ours = make_dir(to, remote);
	if (ours < 0 || !git_is_newer(theirs, "HEAD", ours, "HEAD"))
		return ours < 0 ? err_errno(err, -ours, "making 'refs/remotes/%s'", remote) : 0;
	return os_write_file_atomic(ours, "HEAD", text, len, 0644, err);
}

int git_take_remote_heads(const struct git_store *store, int to, struct err *err)
{
	_cleanup_close_ int host = git_open_host(store, store->common);
	_cleanup_close_ int their_refs = host < 0 ? -1 : record_open_dir(host, "refs");
	_cleanup_dir_ DIR *list = os_dir_take(
		their_refs < 0 ? -1 : record_open_dir(their_refs, "remotes"));
	_cleanup_close_ int refs = !list ? -1 : make_dir(to, "refs");
	_cleanup_close_ int remotes = refs < 0 ? -1 : make_dir(refs, "remotes");
	struct dirent *entry;
	int r = 0;

	while (r == 0 && remotes >= 0 && (entry = os_dir_next(list)) != NULL)
		r = take(dirfd(list), remotes, entry->d_name, err);
	return r;
}
