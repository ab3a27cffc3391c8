/* SPDX-License-Identifier: MIT */
/* Directories that an earlier session was kept apart from: this one finds them as that one left them. */
#include <fcntl.h>

#include "base/path.h"
#include "engine/native/native.h"
#include "engine/native/root.h"
#include "guard/gate.h"
#include "os/fs.h"
#include "os/linux/mount.h"
#include "os/linux/overlay.h"

/* One that cannot be mounted waits for the next session, or for the user. Nothing of the project that is a link
 * is followed, and nothing in the place is anybody's but ours. */
static void carry(const struct root *root, const struct gate_place *place)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	const struct plan *plan = root->child->plan;
	const char *below = path_below(place->path, plan->project);
	_cleanup_close_ int lower = -1, upper = -1, work = -1, view = -1;
	char path[PATH_MAX], name[32];

	if (!below || snprintf(path, sizeof(path), "%s/%s", plan->cwd, below) >= (int)sizeof(path))
		return;
	lower = os_openat2(root->fd, path + 1, O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
			   RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
	snprintf(name, sizeof(name), "%u/" GATE_UPPER, place->number);
	upper = openat(root->gate, name, flags);
	snprintf(name, sizeof(name), "%u/" GATE_WORK, place->number);
	work = openat(root->gate, name, flags);
	if (lower < 0 || upper < 0 || work < 0)
		return;
	view = overlay_mount(lower, upper, work, true);
	if (view >= 0)
		(void)mount_attach(view, lower, "");
}

void root_carry(struct root *root)
{
	for (size_t i = 0; root->gate >= 0 && i < root->child->n_carried; i++)
		carry(root, &root->child->carried[i]);
	close_ptr(&root->gate);
}
