/* SPDX-License-Identifier: MIT */
/* wrapix image load: an image into an engine, or from elsewhere into the store. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "cli/image.h"
#include "image/base.h"
#include "image/export.h"
#include "image/interrupt.h"
#include "image/platform.h"
#include "image/run.h"
#include "os/fs.h"

struct loading {
	struct arena arena;
	struct store *store;
	struct oci_image *image;
	const char *name;
	char *tag, *latest; /* "localhost/wrapix-NAME:DIGEST" and ":latest" */
};

static int run(struct loading *loading, const char *program, const char *const *words,
	       struct err *err)
{
	struct arena *a = &loading->arena;
	struct strv argv = { 0 };
	char *found = run_find(a, program, "install it, or run the image with 'wrapix run --image'",
			       err);

	if (!found)
		return -err->code;
	strv_add(a, &argv, found);
	for (; *words; words++)
		strv_add(a, &argv, *words);
	return run_program(a, &argv, STDERR_FILENO, NULL, err);
}

#define RUN(loading, program, ...) \
	run(loading, program, (const char *const[]){ __VA_ARGS__, NULL }, err)

/* A layout with this image alone, by no name, whose blobs are the store's. */
static int make_layout(struct loading *loading, const char *path, struct err *err)
{
	struct oci_index index = { 0 };
	_cleanup_close_ int dir = -1;
	int r;

	if (mkdir(path, 0700) < 0 || (dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
	    symlinkat("../blobs", dir, "blobs") < 0)
		return err_errno(err, errno, "making '%s'", path);
	oci_index_put(&index, "", &loading->image->manifest);
	r = oci_write_index(dir, &index, err);
	oci_index_release(&index);
	return r;
}

/*
 * podman reads the blobs of the store itself; nothing is copied first. A name that it found in the layout
 * it would take for one of a registry's: 'rust' for docker.io/library/rust.
 */
static int into_podman(struct loading *loading, struct err *err)
{
	char *path = arena_printf(&loading->arena, "%s/.load-%d", image_store_path(&loading->arena),
				  getpid());
	int r;

	interrupt_hold();
	r = make_layout(loading, path, err);
	if (r == 0)
		r = RUN(loading, "podman", "pull", "--quiet",
			arena_printf(&loading->arena, "oci:%s", path));
	os_remove_tree(AT_FDCWD, path);
	interrupt_release();
	return r < 0 ? r
		     : RUN(loading, "podman", "tag", loading->image->config.digest, loading->tag,
			   loading->latest);
}

/* Those that read files only get one, which is gone afterwards. */
static int with_file(struct loading *loading, const char *end,
		     int (*fn)(struct loading *, const char *, struct err *), struct err *err)
{
	char *file = arena_printf(&loading->arena, "%s/.load-%d%s",
				  image_store_path(&loading->arena), getpid(), end);
	int r;

	interrupt_hold();
	r = image_export(loading->store, loading->image, loading->name, file, err);
	if (r == 0)
		r = fn(loading, file, err);
	unlink(file);
	interrupt_release();
	return r;
}

static int docker_takes(struct loading *loading, const char *file, struct err *err)
{
	int r = RUN(loading, "docker", "load", "--quiet", "--input", file);

	return r < 0 ? r : RUN(loading, "docker", "tag", loading->tag, loading->latest);
}

static int into_docker(struct loading *loading, struct err *err)
{
	return with_file(loading, ".tar", docker_takes, err);
}

/* What it loads has no name: it is known by its digest. */
static int apple_takes(struct loading *loading, const char *file, struct err *err)
{
	char *untagged = arena_printf(&loading->arena, "untagged@" DIGEST_PREFIX "%s",
				      loading->image->manifest.digest);
	int r = RUN(loading, "container", "image", "load", "--input", file);

	if (r == 0)
		r = RUN(loading, "container", "image", "tag", untagged, loading->tag);
	return r < 0 ? r : RUN(loading, "container", "image", "tag", untagged, loading->latest);
}

static int into_apple(struct loading *loading, struct err *err)
{
	return with_file(loading, ".oci.tar", apple_takes, err);
}

static const struct {
	const char *name;
	int (*load)(struct loading *loading, struct err *err);
} engines[] = {
	{ "podman", into_podman },
	{ "docker", into_docker },
	{ "apple", into_apple },
};

static const char *const *into_words(_unused_ const char *name)
{
	static const char *const words[] = { "podman", "docker", "apple", "store", NULL };

	return words;
}

static int load(struct store *store, struct oci_image *image, const struct image_args *args,
		struct err *err)
{
	struct loading loading = { .store = store, .image = image, .name = args->name };
	const char *into = args->into ?: engines[0].name;
	int r = 0;

	loading.tag = arena_printf(&loading.arena, "localhost/wrapix-%s:%.12s", args->name,
				   image->manifest.digest);
	loading.latest = arena_printf(&loading.arena, "localhost/wrapix-%s:latest", args->name);
	for (size_t i = 0; i < ARRAY_LEN(engines); i++)
		if (!strcmp(engines[i].name, into))
			r = engines[i].load(&loading, err);
	if (r == 0)
		puts(loading.tag);
	else
		err_wrap(err, "giving the image to %s", into);
	arena_release(&loading.arena);
	return r;
}

char *image_name_of(struct arena *arena, const char *ref)
{
	const char *name = path_name(ref);

	return arena_strndup(arena, name, strcspn(name, ":@."));
}

int image_no_name(struct err *err)
{
	return err_usage(err, "--name: what shall the image be called?");
}

static int into_store(struct store *store, const struct image_args *args, struct err *err)
{
	struct oci_image image = { 0 };
	struct build_found ignored = { 0 };
	const char *name = args->as ?: image_name_of(&image.arena, args->name);
	char *scratch = arena_printf(&image.arena, "%s/.fetch-%d", image_store_path(&image.arena),
				     getpid());
	int r;

	interrupt_hold();
	r = base_fetch(store, args->name, platform_here(), scratch, STDERR_FILENO, &image, &ignored,
		       err);
	interrupt_release();
	if (r == 0 && !*name)
		r = image_no_name(err);
	if (r == 0)
		r = layout_name(store, name, &image.manifest, err);
	if (r == 0)
		printf("%s %s%s\n", name, DIGEST_PREFIX, image.manifest.digest);
	oci_image_release(&image);
	return r;
}

static int do_load(struct store *store, const struct image_args *args, struct err *err)
{
	if (args->into && !strcmp(args->into, "store"))
		return into_store(store, args, err);
	if (args->as)
		return err_usage(err, "--name is for --into store; an engine's name for an image "
				      "is made of ours");
	return image_named(store, args, load, err);
}

static const struct opt opts[] = {
	{ 0, "into", "ENGINE", .kind = OPT_STRING, .offset = offsetof(struct image_args, into),
	  .words = into_words, .complete = COMPLETE_WORDS,
	  .help = "who gets it: podman (default), docker, apple; or store: NAME is a layout, an "
		  "archive or a name for skopeo, and the image comes here" },
	{ 0, "name", "NAME", .kind = OPT_STRING, .offset = offsetof(struct image_args, as),
	  .help = "with --into store: what it is called here" },
	HELP,
	{ .kind = OPT_END },
};

IMAGE_COMMAND(load, "load NAME [options]", "give an image to an engine, or take one in",
	      { opts, ONE_IMAGE });
