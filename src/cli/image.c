/* SPDX-License-Identifier: MIT */
/* wrapix image list, show, verify, load, remove, gc: what is in the store, and where it goes. */
#include "cli/image.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "image/unpack.h"
#include "os/proc.h"

struct list_args {
	bool json;
};

struct load_args {
	const char *into;
};

char *image_store_path(struct arena *arena)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	return path_join(arena,
			 cache && cache[0] == '/' ? cache : path_join(arena, home ?: "/", ".cache"),
			 "wrapix/images");
}

int image_open_store(struct store *store, struct err *err)
{
	struct arena arena = { 0 };
	int r = store_open(store, image_store_path(&arena), err);

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

int image_find(struct store *store, const char *word, struct oci_image *ret, struct err *err)
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

static int list_images(struct store *store, bool json, struct err *err)
{
	_cleanup_json_ struct json_object *out = json_object_new_array();
	struct oci_index index;
	int r = oci_read_index(store->dir, &index, err);

	if (r < 0)
		return r;
	if (!json)
		printf("%-24s %-14s %6s %10s  %s\n", "NAME", "DIGEST", "LAYERS", "SIZE",
		       "PLATFORM");
	for (size_t i = 0; i < index.n && r == 0; i++) {
		struct oci_image image = { .manifest = index.names[i].manifest };
		_cleanup_str_ struct str name = { 0 };

		str_add_escaped(&name, index.names[i].name);
		r = oci_read_image(store->blobs, &image, err);
		if (r == 0 && json)
			json_object_array_add(out, to_json(index.names[i].name, &image));
		else if (r == 0)
			printf("%-24s %.12s   %6zu %9.1fM  %s\n", name.s ? name.s : "",
			       image.manifest.digest, image.n_layers,
			       (double)size_of(&image) / 1048576, image.architecture ?: "");
		else
			err_wrap(err, "the image '%s'", name.s);
		oci_image_release(&image);
	}
	if (json)
		puts(json_object_to_json_string_ext(out, JSON_C_TO_STRING_PRETTY));
	oci_index_release(&index);
	return r;
}

static int cmd_list(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct list_args args = { 0 };
	struct store store;
	struct err err;
	int r, status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	r = image_open_store(&store, &err);
	if (r == 0) {
		r = list_images(&store, args.json, &err);
		store_close(&store);
	}
	return r < 0 ? cli_fail(&err) : 0;
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

static void print_image(const struct oci_image *image)
{
	printf("%-11s %s\n", "digest", image->manifest.digest);
	printf("%-11s %s/%s\n", "platform", image->os ?: "", image->architecture ?: "");
	print_words("entrypoint", &image->entrypoint);
	print_words("command", &image->cmd);
	for (size_t i = 0; i < image->env.len; i++)
		print_words("env", &(struct strv){ &image->env.v[i], 1 });
	for (size_t i = 0; i < image->n_layers; i++)
		printf("%-11s %.12s %10llu bytes\n", "layer", image->layers[i].blob.digest,
		       (unsigned long long)image->layers[i].blob.size);
}

/* 'show' and 'verify': both look at one image. */
static int with_image(int argc, char **argv, void *args,
		      int (*fn)(struct store *, struct oci_image *, void *, const char *,
				struct err *))
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct oci_image image;
	struct store store;
	struct err err = { 0 };
	int r, status = cli_parse(argc, argv, args, &rest);

	if (status != CLI_GO_ON)
		return status;
	r = image_open_store(&store, &err);
	if (r < 0)
		return cli_fail(&err);
	r = image_find(&store, rest.operands[0], &image, &err);
	if (r == 0) {
		r = fn(&store, &image, args, rest.operands[0], &err);
		oci_image_release(&image);
	}
	store_close(&store);
	return r < 0 ? cli_fail(&err) : 0;
}

static int show(_unused_ struct store *store, struct oci_image *image, void *args, const char *name,
		_unused_ struct err *err)
{
	_cleanup_json_ struct json_object *out = to_json(name, image);

	if (((struct list_args *)args)->json)
		puts(json_object_to_json_string_ext(out, JSON_C_TO_STRING_PRETTY));
	else
		print_image(image);
	return 0;
}

static int cmd_show(int argc, char **argv)
{
	struct list_args args = { 0 };

	return with_image(argc, argv, &args, show);
}

static int verify(struct store *store, struct oci_image *image, _unused_ void *args,
		  const char *name, struct err *err)
{
	int r = store_verify(store, image, err);

	if (r == 0)
		printf("%s: %zu layers, all as their digests say\n", name, image->n_layers);
	return r;
}

static int cmd_verify(int argc, char **argv)
{
	return with_image(argc, argv, NULL, verify);
}

static int unpack(struct store *store, struct oci_image *image, _unused_ void *args,
		  const char *name, struct err *err)
{
	struct arena arena = { 0 };
	char *path;
	int r = unpack_named(store, image, name, &arena, &path, err);

	if (r == 0)
		puts(path);
	arena_release(&arena);
	return r;
}

static int cmd_unpack(int argc, char **argv)
{
	return with_image(argc, argv, NULL, unpack);
}

/* --- giving it to an engine --- */

static int run_podman(struct arena *arena, const char *const *words, struct err *err)
{
	struct strv argv = { 0 };
	char *podman = os_find_program(arena, "podman", getenv("PATH") ?: "", NULL);
	pid_t pid;
	int status = 0;

	if (!podman) {
		err_set(err, ENOENT, "there is no 'podman' on this machine");
		return err_hint(err, "install it, or run the image with 'wrapix run --image'");
	}
	strv_add(arena, &argv, podman);
	for (; *words; words++)
		strv_add(arena, &argv, *words);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		execv(podman, argv.v);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0)
		return err_errno(err, errno, "fork");
	return status ? err_set(err, EIO, "podman could not take the image") : 0;
}

/* podman reads the store's layout itself; nothing is copied first. */
static int load(_unused_ struct store *store, struct oci_image *image, void *args, const char *name,
		struct err *err)
{
	const char *into = ((struct load_args *)args)->into;
	struct arena arena = { 0 };
	char *from, *tag = arena_printf(&arena, "localhost/wrapix-%s:%.12s", name,
					image->manifest.digest);
	const char *latest = arena_printf(&arena, "localhost/wrapix-%s:latest", name);
	int r;

	if (into && strcmp(into, "podman")) {
		arena_release(&arena);
		return err_usage(err, "--into: '%s' is not podman", into);
	}
	from = arena_printf(&arena, "oci:%s:%s", image_store_path(&arena), name);
	r = run_podman(&arena, (const char *const[]){ "pull", "--quiet", from, NULL }, err);
	if (r == 0)
		r = run_podman(
			&arena,
			(const char *const[]){ "tag", image->config.digest, tag, latest, NULL },
			err);
	if (r == 0)
		printf("%s\n", tag);
	arena_release(&arena);
	return r;
}

static int cmd_load(int argc, char **argv)
{
	struct load_args args = { 0 };

	return with_image(argc, argv, &args, load);
}

static int cmd_remove(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct store store;
	struct err err;
	int r, status = cli_parse(argc, argv, NULL, &rest);

	if (status != CLI_GO_ON)
		return status;
	r = image_open_store(&store, &err);
	if (r == 0) {
		r = store_forget(&store, rest.operands[0], &err);
		store_close(&store);
	}
	return r < 0 ? cli_fail(&err) : 0;
}

static int cmd_gc(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct store_gc gone;
	struct store store;
	struct err err;
	int r, status = cli_parse(argc, argv, NULL, &rest);

	if (status != CLI_GO_ON)
		return status;
	r = image_open_store(&store, &err);
	if (r == 0) {
		r = store_gc(&store, &gone, &err);
		store_close(&store);
	}
	if (r < 0)
		return cli_fail(&err);
	printf("removed %llu blobs, %.1f MiB\n", (unsigned long long)gone.blobs,
	       (double)gone.bytes / 1048576);
	return 0;
}

static const struct opt json_opts[] = {
	{ 0, "json", FLAG(list_args, json), .help = "print it as JSON" },
	HELP,
	{ .kind = OPT_END },
};

static const struct opt load_opts[] = {
	{ 0, "into", "ENGINE", .kind = OPT_STRING, .offset = offsetof(struct load_args, into),
	  .help = "who gets it: podman (default)" },
	HELP,
	{ .kind = OPT_END },
};

static const struct opt no_opts[] = {
	HELP,
	{ .kind = OPT_END },
};

#define ONE_IMAGE .min = 1, .max = 1, .operand = "NAME"

const struct command command_image_list = {
	.name = "list",
	.usage = "list [options]",
	.summary = "list the images",
	.syntax = { json_opts },
	.run = cmd_list,
};

const struct command command_image_show = {
	.name = "show",
	.usage = "show NAME [options]",
	.summary = "show what an image holds",
	.syntax = { json_opts, ONE_IMAGE },
	.run = cmd_show,
};

const struct command command_image_verify = {
	.name = "verify",
	.usage = "verify NAME",
	.summary = "read all of an image and compare it with its digests",
	.syntax = { no_opts, ONE_IMAGE },
	.run = cmd_verify,
};

const struct command command_image_unpack = {
	.name = "unpack",
	.usage = "unpack NAME",
	.summary = "unpack an image once, and print where its files are",
	.syntax = { no_opts, ONE_IMAGE },
	.run = cmd_unpack,
};

const struct command command_image_load = {
	.name = "load",
	.usage = "load NAME [--into podman]",
	.summary = "give an image to an engine",
	.syntax = { load_opts, ONE_IMAGE },
	.run = cmd_load,
};

const struct command command_image_remove = {
	.name = "remove",
	.usage = "remove NAME",
	.summary = "take an image's name away; 'gc' frees its space",
	.syntax = { no_opts, ONE_IMAGE },
	.run = cmd_remove,
};

const struct command command_image_gc = {
	.name = "gc",
	.usage = "gc",
	.summary = "remove what no image needs",
	.syntax = { no_opts },
	.run = cmd_gc,
};
