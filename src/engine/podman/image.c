/* SPDX-License-Identifier: MIT */
/*
 * The image, in podman's own store. To ask podman takes as long as a third of a start, so that the answer is
 * remembered until the machine is started anew, or until podman fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "engine/podman/container.h"
#include "os/fs.h"
#include "os/proc.h"

static char *stamp_of(struct arena *arena, const struct plan *plan)
{
	char *name = arena_strdup(arena, path_name(plan->podman.image));

	name[strcspn(name, ":")] = '@';
	return arena_printf(arena, "%s-images/%s", plan->podman.base, name);
}

static int load(const struct plan *plan, struct err *err)
{
	char *argv[] = { plan->podman.loader, (char *)"load", plan->podman.name, NULL };
	_cleanup_free_ char *says = NULL;
	_cleanup_str_ struct str shown = { 0 };

	if (!plan->podman.loader)
		return err_set(err, ENOENT, "wrapix-image is not installed beside wrapix");
	if (os_capture_all(argv, 600, 65536, &says) == 0)
		return 0;
	str_add_escaped(&shown, says ? says : "");
	err_set(err, EIO, "giving the image '%s' to podman: %.400s", plan->podman.name,
		shown.s ? shown.s : "");
	return err_hint(err, "'wrapix image load %s' shows all of it", plan->podman.name);
}

/* It takes seconds, and nothing else would say so. */
static void tell(const struct plan *plan, const struct engine_hooks *hooks)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "the image '%s' goes to podman, and its files to your ids: this first start takes "
		 "longer",
		 plan->podman.name);
	if (hooks && hooks->on_note)
		hooks->on_note(hooks->ctx, text);
}

int image_load(const struct plan *plan, const struct engine_hooks *hooks, struct err *err)
{
	char *argv[] = { plan->podman.program, (char *)"image", (char *)"exists",
			 plan->podman.image, NULL };
	_cleanup_free_ char *says = NULL;
	struct arena arena = { 0 };
	char *stamp = stamp_of(&arena, plan);
	int fd, r = 0;

	if (access(stamp, F_OK) < 0) {
		if (os_capture_all(argv, 60, 65536, &says) != 0) {
			tell(plan, hooks);
			r = load(plan, err);
		}
		if (r == 0)
			r = os_mkdirs(path_parent(&arena, stamp), 0700, err);
		fd = r < 0 ? -1 : open(stamp, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			close(fd);
	}
	arena_release(&arena);
	return r;
}

void image_doubt(const struct plan *plan)
{
	struct arena arena = { 0 };

	unlink(stamp_of(&arena, plan));
	arena_release(&arena);
}
