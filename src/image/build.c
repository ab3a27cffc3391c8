/* SPDX-License-Identifier: MIT */
/* From a source to layers. */
#include "image/build.h"

#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "image/split.h"

#define LISTS "var/lib/dpkg/info/"

enum { LIST_MAX = 16 * 1024 * 1024, CHUNK = 65536 };

struct build {
	struct store *store;
	struct split *split;
	struct layer_writer *layers;
	bool *begun;
	size_t n;
	uint64_t done, total;
	const struct build_hooks *hooks;
};

/* --- first pass: who owns what --- */

/* "PACKAGE.list" or "PACKAGE:ARCH.list", a path a line. */
static int read_list(struct build *build, const char *name, source_read_fn *read, void *from,
		     struct err *err)
{
	_cleanup_str_ struct str text = { 0 };
	char package[256], buffer[CHUNK];
	ssize_t n;

	snprintf(package, sizeof(package), "%.*s", (int)strcspn(name, ":"), name);
	package[MIN(strlen(package), strlen(name) - strlen(".list"))] = '\0';
	while ((n = read(from, buffer, sizeof(buffer))) > 0 && text.len < LIST_MAX)
		str_addn(&text, buffer, (size_t)n);
	if (n < 0)
		return err_errno(err, (int)-n, "reading the list of '%s'", package);
	for (char *line = text.s, *next; line && *line; line = next) {
		size_t len = strcspn(line, "\n");

		next = line + len + (line[len] == '\n');
		line[len] = '\0';
		if (*line == '/')
			split_own(build->split, package, line);
	}
	return 0;
}

static int learn_owner(void *ctx, struct archive_entry *entry, source_read_fn *read, void *from,
		       struct err *err)
{
	const char *path = archive_entry_pathname(entry);
	size_t len = strlen(path);

	if (strncmp(path, LISTS, strlen(LISTS)) || len < 6 || strcmp(path + len - 5, ".list"))
		return 0;
	return read_list(ctx, path + strlen(LISTS), read, from, err);
}

static int learn_size(void *ctx, struct archive_entry *entry, _unused_ source_read_fn *read,
		      _unused_ void *from, _unused_ struct err *err)
{
	struct build *build = ctx;
	char path[4098];

	snprintf(path, sizeof(path), "/%s", archive_entry_pathname(entry));
	split_size(build->split, path, (uint64_t)archive_entry_size(entry));
	build->total += (uint64_t)archive_entry_size(entry);
	return 0;
}

/* --- last pass: writing --- */

static int copy_data(struct build *build, struct layer_writer *layer, source_read_fn *read,
		     void *from, struct err *err)
{
	char buffer[CHUNK];
	ssize_t n;
	int r = 0;

	while (r == 0 && (n = read(from, buffer, sizeof(buffer))) > 0) {
		r = layer_data(layer, buffer, (size_t)n, err);
		build->done += (uint64_t)n;
		if (build->hooks && build->hooks->on_progress)
			build->hooks->on_progress(build->hooks->ctx, build->done, build->total);
	}
	return r == 0 && n < 0 ? err_errno(err, (int)-n, "reading a file") : r;
}

static int write_entry(void *ctx, struct archive_entry *entry, source_read_fn *read, void *from,
		       struct err *err)
{
	struct build *build = ctx;
	const char *link = archive_entry_hardlink(entry);
	char path[4098];
	size_t i;
	int r = 0;

	/* A second name of a file stands beside the first. */
	snprintf(path, sizeof(path), "/%s", link ?: archive_entry_pathname(entry));
	i = split_layer(build->split, path, archive_entry_filetype(entry) == AE_IFDIR);
	if (!build->begun[i]) {
		r = layer_begin(&build->layers[i], build->store->blobs, err);
		build->begun[i] = r == 0;
	}
	if (r == 0)
		r = layer_add(&build->layers[i], entry, err);
	if (r == 0 && !link && archive_entry_filetype(entry) == AE_IFREG)
		r = copy_data(build, &build->layers[i], read, from, err);
	return r < 0 ? err_wrap(err, "'%s'", path) : 0;
}

static int end_layers(struct build *build, struct oci_image *image, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < build->n; i++) {
		struct layer_ref ref;

		if (!build->begun[i])
			continue;
		if (r < 0) {
			layer_abort(&build->layers[i]);
			continue;
		}
		r = layer_end(&build->layers[i], &ref, err);
		if (r == 0)
			oci_add_layer(image, &ref);
	}
	return r;
}

int build_from_source(struct store *store, const struct source *source, struct oci_image *image,
		      const struct build_hooks *hooks, struct err *err)
{
	struct build build = { .store = store, .split = split_new(), .hooks = hooks };
	int r, ended;

	if (!build.split)
		return err_errno(err, ENOMEM, "building an image");
	r = source_visit(source, learn_owner, &build, err);
	if (r == 0)
		r = source_visit(source, learn_size, &build, err);
	build.n = split_layout(build.split);
	build.layers = calloc(build.n, sizeof(*build.layers));
	build.begun = calloc(build.n, sizeof(*build.begun));
	if (r == 0 && (!build.layers || !build.begun))
		r = err_errno(err, ENOMEM, "building an image");
	if (r == 0)
		r = source_visit(source, write_entry, &build, err);
	if (build.layers && build.begun) {
		struct err second;

		ended = end_layers(&build, image, r < 0 ? &second : err);
		r = r < 0 ? r : ended;
	}
	free(build.layers);
	free(build.begun);
	split_free(build.split);
	return r;
}

/* --- files of ours --- */

static int add_file(struct layer_writer *layer, const struct build_file *file, struct err *err)
{
	struct archive_entry *entry = archive_entry_new();
	int r;

	if (!entry)
		return err_errno(err, ENOMEM, "building an image");
	archive_entry_set_pathname(entry, file->path);
	archive_entry_set_mode(entry, file->mode);
	archive_entry_set_uid(entry, file->uid);
	archive_entry_set_gid(entry, file->gid);
	archive_entry_set_size(entry, S_ISREG(file->mode) ? (la_int64_t)file->len : 0);
	if (S_ISLNK(file->mode))
		archive_entry_set_symlink(entry, file->data);
	r = layer_add(layer, entry, err);
	if (r == 0 && S_ISREG(file->mode) && file->len)
		r = layer_data(layer, file->data, file->len, err);
	archive_entry_free(entry);
	return r;
}

int build_from_files(struct store *store, const struct build_file *files, size_t n,
		     struct oci_image *image, struct err *err)
{
	struct layer_writer layer;
	struct layer_ref ref;
	int r = layer_begin(&layer, store->blobs, err);

	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = add_file(&layer, &files[i], err);
	if (r < 0) {
		layer_abort(&layer);
		return r;
	}
	r = layer_end(&layer, &ref, err);
	if (r == 0)
		oci_add_layer(image, &ref);
	return r;
}
