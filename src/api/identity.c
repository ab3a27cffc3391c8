/* SPDX-License-Identifier: MIT */
/* Root gives itself up. */
#include "api/identity.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include "os/proc.h"

/* The variables that name root's places would lead the user there. */
static const char *const personal[] = {
	"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
};

static int change_ids(uid_t uid, gid_t gid, const char *name, struct err *err)
{
	if ((name ? initgroups(name, gid) : setgroups(0, NULL)) < 0 ||
	    setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return err_errno(err, errno, "becoming uid %u, the owner of the project", uid);
	if (setuid(0) == 0)
		return err_set(err, EPERM, "root's rights could not be given up");
	/* The kernel closed our /proc/self with the change; the child writes its id maps there. */
	if (os_set_dumpable(1) < 0)
		return err_errno(err, errno, "PR_SET_DUMPABLE");
	return 0;
}

int identity_become_owner(const char *dir, struct err *err)
{
	struct passwd *pw;
	struct stat st;
	int r;

	if (geteuid() != 0 || stat(dir, &st) < 0 || st.st_uid == 0)
		return 0; /* a missing directory is reported by the probe */
	pw = getpwuid(st.st_uid);
	r = change_ids(st.st_uid, pw ? pw->pw_gid : st.st_gid, pw ? pw->pw_name : NULL, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_LEN(personal); i++)
		unsetenv(personal[i]);
	setenv("HOME", pw ? pw->pw_dir : "/", 1);
	return 0;
}
