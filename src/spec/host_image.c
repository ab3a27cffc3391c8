/* SPDX-License-Identifier: MIT */
/*
 * The image that a sandbox is to run from: unpacked by wrapix-image (image/unpack.h), which leaves a
 * link NAME -> ../roots/DIGEST in the store. Finding it takes no library and no process.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "os/dir.h"
#include "os/fs.h"
#include "os/linux/overlay.h"
#include "spec/host.h"
#include "spec/host_priv.h"

/* What the sandbox makes itself, whatever an image has there. */
static const char *const own[] = { "dev",  "proc", "sys", "run",   "tmp",       "home",
				   "boot", "mnt",  "srv", "media", "workspace", "lost+found" };

#define IMAGE_ENV_MAX (1u << 20)

static bool is_own(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (!strcmp(own[i], name))
			return true;
	return name[0] == '.';
}

static void add_top(struct host *host, int root, const char *name)
{
	char target[4096] = "";
	struct stat st;

	if (is_own(name) || fstatat(root, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISLNK(st.st_mode) && readlinkat(root, name, target, sizeof(target) - 1) < 0)
		return;
	if (S_ISLNK(st.st_mode) || S_ISDIR(st.st_mode))
		host_add_fact(host, &host->image_top, arena_printf(&host->arena, "/%s", name),
			      path_kind_of(&st), *target ? target : NULL);
}

/* "ROOT.env", which wrapix-image wrote beside the root: "NAME=VALUE" with a NUL after each. */
static void read_env(struct host *host, const char *root)
{
	_cleanup_free_ char *data = NULL;
	size_t len = 0;

	if (os_read_file_at(AT_FDCWD, arena_printf(&host->arena, "%s.env", root), IMAGE_ENV_MAX,
			    &data, &len) < 0)
		return; /* unpacked by an older wrapix */
	for (char *p = data; p < data + len; p += strlen(p) + 1) {
		char *equals = strchr(p, '=');
		struct env_fact *fact;

		if (!equals || equals == p)
			continue;
		fact = arena_grow(&host->arena, &host->image_env, &host->n_image_env,
				  sizeof(*fact));
		fact->name = arena_strndup(&host->arena, p, (size_t)(equals - p));
		fact->value = arena_strdup(&host->arena, equals + 1);
	}
}

int host_no_image(const char *name, struct err *err)
{
	err_set(err, ENOENT, "there is no unpacked image '%s'", name);
	return err_hint(
		err,
		"'wrapix image build %s' makes it of the profile of that name, 'wrapix image "
		"build --from oci:REF --name %s' of another image; 'wrapix image unpack %s' "
		"unpacks one that is there",
		name, name, name);
}

int host_probe_image(const struct spec *spec, struct host *host, struct err *err)
{
	char *store = path_join(&host->arena, host->cache_home, "wrapix/images");
	char *root, *roots = os_realpath(&host->arena, path_join(&host->arena, store, "roots"));
	const char *name = spec_image(spec);
	_cleanup_dir_ DIR *dir = NULL;

	if (!name)
		return 0;
	root = os_realpath(&host->arena, arena_printf(&host->arena, "%s/names/%s", store, name));
	dir = root && roots && path_is_below(root, roots) ? opendir(root) : NULL;
	if (!dir && spec->packages.len) {
		err_set(err, ENOENT, "the image with the packages is not made yet");
		return err_hint(err,
				"'wrapix run' makes it, and 'wrapix image build' with --name %s",
				name);
	}
	if (!dir && spec->engine == ENGINE_PODMAN)
		return 0; /* there may be no podman, which is to be said first: plan_podman() */
	if (!dir)
		return host_no_image(name, err);
	host->image_root = root;
	read_env(host, root);
	if (!overlay_tmpfs_works())
		host->image_changes = path_join(&host->arena, store, "changes");
	for (struct dirent *entry; (entry = os_dir_next(dir));)
		add_top(host, dirfd(dir), entry->d_name);
	path_facts_sort(&host->image_top);
	return 0;
}
