/* SPDX-License-Identifier: MIT */
/* wrapix image list, show, verify, unpack, remove, gc: what is in the store. */
#include "cli/image.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "api/api.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "image/interrupt.h"
#include "image/unpack.h"

/* --- what all of them need --- */

char *image_store_path(struct arena *arena)
{
	return path_join(arena, api_base_dir(arena, "XDG_CACHE_HOME", ".cache"), "wrapix/images");
}

/* Images say of files and directories that everybody may write them, or read what they keep for their
 * own root: that holds inside. Nobody else on this machine comes in. */
int image_open_store(struct store *store, struct err *err)
{
	struct arena arena = { 0 };
	const char *path = image_store_path(&arena);
	int r = layout_open(store, path, err);

	if (r == 0 && fchmod(store->dir, 0700) < 0) {
		r = err_errno(err, errno, "closing '%s' to others", path);
		layout_close(store);
	}
	arena_release(&arena);
	return r;
}

static void add_names(struct str *out, const struct oci_index *index)
{
	for (size_t i = 0; i < index->n; i++) {
		str_add(out, i ? ", " : "");
		str_add_escaped(out, index->names[i].name);
	}
}

/* The image of that name or digest, read; an error that says which there are. */
static int image_find(struct store *store, const char *word, struct oci_image *ret, struct err *err)
{
	_cleanup_str_ struct str names = { 0 };
	const struct oci_name *found;
	struct oci_index index;
	int r = oci_read_index(store->dir, &index, err);

	*ret = (struct oci_image){ 0 };
	if (r < 0)
		return r;
	found = oci_index_find(&index, word);
	if (found) {
		ret->manifest = found->manifest;
		r = oci_read_image(store->blobs, ret, err);
	} else {
		r = err_usage(err, "there is no image '%s'", word);
		add_names(&names, &index);
		if (index.n)
			err_hint(err, "there are %s", names.s);
		else
			err_hint(err, "'wrapix image build' makes the first");
	}
	if (r < 0)
		oci_image_release(ret);
	oci_index_release(&index);
	return r;
}

int image_command(int argc, char **argv, image_fn *fn)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct image_args args = { 0 };
	struct store store;
	struct err err = { 0 };
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	args.name = rest.n_operands ? rest.operands[0] : NULL;
	r = image_open_store(&store, &err);
	if (r < 0)
		return cli_fail(&err);
	r = fn(&store, &args, &err);
	layout_close(&store);
	return r < 0 ? cli_fail(&err) : 0;
}

int image_named(struct store *store, const struct image_args *args, named_fn *fn, struct err *err)
{
	struct oci_image image;
	int r = image_find(store, args->name, &image, err);

	if (r == 0) {
		r = fn(store, &image, args, err);
		oci_image_release(&image);
	}
	return r;
}

/* --- list, show --- */

static uint64_t size_of(const struct oci_image *image)
{
	uint64_t size = image->config.size + image->manifest.size;

	for (size_t i = 0; i < image->n_layers; i++)
		size += image->layers[i].blob.size;
	return size;
}

static struct json_object *to_json(const char *name, const struct oci_image *image)
{
	struct json_object *out = json_object_new_object();

	json_object_object_add(out, "name", json_object_new_string(name));
	json_object_object_add(out, "digest", json_object_new_string(image->manifest.digest));
	json_object_object_add(out, "platform",
			       json_object_new_string(image->architecture ?: "unknown"));
	json_object_object_add(out, "layers", json_object_new_int64((int64_t)image->n_layers));
	json_object_object_add(out, "size", json_object_new_int64((int64_t)size_of(image)));
	return out;
}

static void print_json(struct json_object *out)
{
	puts(json_object_to_json_string_ext(out, JSON_C_TO_STRING_PRETTY));
	json_object_put(out);
}

static void print_row(const char *name, const struct oci_image *image)
{
	_cleanup_str_ struct str shown = { 0 }, platform = { 0 };

	str_add_escaped(&shown, name);
	str_add_escaped(&platform, image->architecture ?: "");
	printf("%-24s %.12s   %6zu %9.1fM  %s\n", shown.s ? shown.s : "", image->manifest.digest,
	       image->n_layers, (double)size_of(image) / 1048576, platform.s ? platform.s : "");
}

static int do_list(struct store *store, const struct image_args *args, struct err *err)
{
	struct json_object *out = json_object_new_array();
	struct oci_index index;
	struct err bad = { 0 }; /* of one that cannot be read; the others are shown */
	int r = oci_read_index(store->dir, &index, err);

	if (r == 0 && !args->json)
		printf("%-24s %-14s %6s %10s  %s\n", "NAME", "DIGEST", "LAYERS", "SIZE",
		       "PLATFORM");
	for (size_t i = 0; r == 0 && i < index.n; i++) {
		struct oci_image image = { .manifest = index.names[i].manifest };

		if (oci_read_image(store->blobs, &image, &bad) < 0)
			err_wrap(&bad, "the image '%s'", index.names[i].name);
		else if (args->json)
			json_object_array_add(out, to_json(index.names[i].name, &image));
		else
			print_row(index.names[i].name, &image);
		oci_image_release(&image);
	}
	if (r == 0 && args->json)
		print_json(TAKE_PTR(out));
	json_object_put(out);
	oci_index_release(&index);
	if (r == 0 && bad.code)
		*err = bad;
	return r == 0 ? -bad.code : r;
}

static void print_words(const char *label, const struct strv *words)
{
	_cleanup_str_ struct str line = { 0 };

	for (size_t i = 0; i < words->len; i++) {
		str_add(&line, i ? " " : "");
		str_add_escaped(&line, words->v[i]);
	}
	if (words->len)
		printf("%-11s %s\n", label, line.s);
}

static int show(_unused_ struct store *store, struct oci_image *image,
		const struct image_args *args, _unused_ struct err *err)
{
	_cleanup_str_ struct str platform = { 0 };

	if (args->json) {
		print_json(to_json(args->name, image));
		return 0;
	}
	printf("%-11s %s\n", "digest", image->manifest.digest);
	str_addf(&platform, "%s/%s", image->os ?: "", image->architecture ?: "");
	print_words("platform", &(struct strv){ &platform.s, 1 });
	print_words("entrypoint", &image->entrypoint);
	print_words("command", &image->cmd);
	for (size_t i = 0; i < image->env.len; i++)
		print_words("env", &(struct strv){ &image->env.v[i], 1 });
	for (size_t i = 0; i < image->n_layers; i++)
		printf("%-11s %.12s %10llu bytes, %s\n", "layer", image->layers[i].blob.digest,
		       (unsigned long long)image->layers[i].blob.size,
		       compression_names[image->layers[i].compression]);
	return 0;
}

static int do_show(struct store *store, const struct image_args *args, struct err *err)
{
	return image_named(store, args, show, err);
}

/* --- verify, unpack, remove, gc --- */

static int verify(struct store *store, struct oci_image *image, const struct image_args *args,
		  struct err *err)
{
	int r = layout_verify(store, image, err);

	if (r == 0)
		printf("%s: %zu layers, all as their digests say\n", args->name, image->n_layers);
	return r;
}

static int do_verify(struct store *store, const struct image_args *args, struct err *err)
{
	return image_named(store, args, verify, err);
}

static int unpack(struct store *store, struct oci_image *image, const struct image_args *args,
		  struct err *err)
{
	struct arena arena = { 0 };
	char *path;
	int r;

	interrupt_hold();
	r = unpack_named(store, image, args->name, &arena, &path, err);
	interrupt_release();
	if (r == 0)
		puts(path);
	arena_release(&arena);
	return r;
}

static int do_unpack(struct store *store, const struct image_args *args, struct err *err)
{
	return image_named(store, args, unpack, err);
}

static int do_remove(struct store *store, const struct image_args *args, struct err *err)
{
	return layout_forget(store, args->name, err);
}

static int do_gc(struct store *store, _unused_ const struct image_args *args, struct err *err)
{
	struct store_gc gone;
	int r = layout_gc(store, &gone, err);

	if (r == 0)
		printf("removed %llu blobs, %.1f MiB\n", (unsigned long long)gone.blobs,
		       (double)gone.bytes / 1048576);
	return r;
}

static const struct opt json_opts[] = {
	{ 0, "json", FLAG(image_args, json), .help = "print it as JSON" },
	HELP,
	{ .kind = OPT_END },
};

static const struct opt no_opts[] = {
	HELP,
	{ .kind = OPT_END },
};

IMAGE_COMMAND(list, "list [options]", "list the images", { json_opts });
IMAGE_COMMAND(show, "show NAME [options]", "show what an image holds", { json_opts, ONE_IMAGE });
IMAGE_COMMAND(verify, "verify NAME", "read all of an image and compare it with its digests",
	      { no_opts, ONE_IMAGE });
IMAGE_COMMAND(unpack, "unpack NAME", "unpack an image once, and print where its files are",
	      { no_opts, ONE_IMAGE });
IMAGE_COMMAND(remove, "remove NAME", "take an image's name away; 'gc' frees its space",
	      { no_opts, ONE_IMAGE });
IMAGE_COMMAND(gc, "gc", "remove what no image needs", { no_opts });
