/* SPDX-License-Identifier: MIT */
/* From a source to layers. */
#include "image/build.h"

#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "image/build_priv.h"

#define LISTS "var/lib/dpkg/info/"

enum { FILE_MAX = 16 * 1024 * 1024, CHUNK = 65536 };

/* What the first looks at a source bring. */
struct learn {
	struct build *build;
	struct oci_image *image;
	struct build_found *found;
};

static int read_all(source_read_fn *read, void *from, struct str *ret, struct err *err)
{
	char buffer[CHUNK];
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) > 0 && ret->len < FILE_MAX)
		str_addn(ret, buffer, (size_t)n);
	return n < 0 ? err_errno(err, (int)-n, "reading a file") : 0;
}

/* "PACKAGE.list" or "PACKAGE:ARCH.list", a path a line. */
static int read_list(struct build *build, const char *name, source_read_fn *read, void *from,
		     struct err *err)
{
	_cleanup_str_ struct str text = { 0 };
	char package[256];
	int r;

	snprintf(package, sizeof(package), "%.*s", (int)strcspn(name, ":"), name);
	package[MIN(strlen(package), strlen(name) - strlen(".list"))] = '\0';
	r = read_all(read, from, &text, err);
	if (r < 0)
		return err_wrap(err, "the list of '%s'", package);
	for (char *line = text.s, *next; line && *line; line = next) {
		size_t len = strcspn(line, "\n");

		next = line + len + (line[len] == '\n');
		line[len] = '\0';
		if (*line == '/')
			split_own(build->split, package, line);
	}
	return 0;
}

/* Who owns what, and what ours are merged with. */
static int learn_owner(void *ctx, struct archive_entry *entry, source_read_fn *read, void *from,
		       struct err *err)
{
	struct learn *learn = ctx;
	const char *path = archive_entry_pathname(entry);
	char **file = !strcmp(path, "etc/passwd")  ? &learn->found->passwd
		      : !strcmp(path, "etc/group") ? &learn->found->group
						   : NULL;
	_cleanup_str_ struct str text = { 0 };
	size_t len = strlen(path);
	int r = 0;

	if (file && archive_entry_filetype(entry) == AE_IFREG) {
		r = read_all(read, from, &text, err);
		*file = arena_strdup(&learn->image->arena, text.s ? text.s : "");
	}
	if (!strncmp(path, LISTS, strlen(LISTS)) && len > 5 && !strcmp(path + len - 5, ".list"))
		r = read_list(learn->build, path + strlen(LISTS), read, from, err);
	return r;
}

static int learn_size(void *ctx, struct archive_entry *entry, _unused_ source_read_fn *read,
		      _unused_ void *from, _unused_ struct err *err)
{
	struct build *build = ((struct learn *)ctx)->build;
	char path[4098];

	snprintf(path, sizeof(path), "/%s", archive_entry_pathname(entry));
	split_size(build->split, path, (uint64_t)archive_entry_size(entry));
	build->total += (uint64_t)archive_entry_size(entry);
	return 0;
}

size_t build_layer_of(const struct build *build, struct archive_entry *entry)
{
	const char *link = archive_entry_hardlink(entry);
	char path[4098];

	if (!build->split)
		return 0;
	/* A second name of a file stands beside the first. */
	snprintf(path, sizeof(path), "/%s", link ?: archive_entry_pathname(entry));
	return split_layer(build->split, path, archive_entry_filetype(entry) == AE_IFDIR);
}

static int write_layers(struct build *build, struct oci_image *image, struct err *err)
{
	struct layer_ref *refs = calloc(build->n, sizeof(*refs));
	int r;

	build->sizes = calloc(build->n, sizeof(*build->sizes));
	if (build->split && build->sizes)
		split_sizes(build->split, build->total, build->sizes);
	r = refs && build->sizes ? workers_write(build, refs, err)
				 : err_errno(err, ENOMEM, "building an image");
	for (size_t i = 0; r == 0 && refs && i < build->n; i++)
		if (refs[i].entries)
			oci_add_layer(image, &refs[i]);
	free(build->sizes);
	free(refs);
	return r;
}

int build_from_source(struct store *store, const struct source *source, const struct build_how *how,
		      struct oci_image *image, struct build_found *ret_found, struct err *err)
{
	struct build build = { store, source, how, .split = split_new() };
	struct learn learn = { &build, image, ret_found };
	int r;

	if (!build.split)
		return err_errno(err, ENOMEM, "building an image");
	for (size_t i = 0; how->ranked && i < how->ranked->len; i++)
		split_rank(build.split, how->ranked->v[i]);
	r = source_visit(source, learn_owner, &learn, err);
	if (r == 0)
		r = source_visit(source, learn_size, &learn, err);
	build.n = split_layout(build.split);
	if (r == 0)
		r = write_layers(&build, image, err);
	split_free(build.split);
	return r;
}

int build_from_tree(struct store *store, const struct source *source, const struct build_how *how,
		    struct oci_image *image, struct err *err)
{
	const struct build_how silent = { .compression = how->compression };
	struct build build = { store, source, &silent, .n = 1 };

	return write_layers(&build, image, err);
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
		     const struct build_how *how, struct oci_image *image, struct err *err)
{
	struct layer_writer layer;
	struct layer_ref ref;
	int r = layer_begin(&layer, store->blobs, how->compression, err);

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
