/* SPDX-License-Identifier: MIT */
/* Taking an image from elsewhere: hostile input, as every document is. */
#include "image/base.h"

#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/path.h"
#include "image/foreign_tar.h"
#include "image/names.h"
#include "image/run.h"
#include "image/unpack.h"
#include "os/fs.h"

#define BLOBS "blobs/sha256/"
#define ARCHIVE_LIMIT (64ULL << 30)

enum { INDEX_DEPTH = 3, TABLE_MAX = 1 << 20, ARCHIVE_FILES = 1 << 16 };

/* --- which manifest --- */

static bool is_for(struct json_object *entry, const char *architecture)
{
	struct json_object *platform, *arch, *os;

	return json_object_object_get_ex(entry, "platform", &platform) &&
	       json_object_object_get_ex(platform, "architecture", &arch) &&
	       json_object_object_get_ex(platform, "os", &os) &&
	       !strcmp(json_object_get_string(os) ?: "", "linux") &&
	       !strcmp(json_object_get_string(arch) ?: "", architecture);
}

/* An index names a manifest for each platform; it may name indexes, too. */
static int pick(int blobs, const char *architecture, struct blob_ref *ref, unsigned depth,
		struct err *err)
{
	_cleanup_json_ struct json_object *root = NULL;
	_cleanup_free_ char *text = NULL;
	struct json_object *list, *digest, *size;
	int r = blob_get(blobs, ref, OCI_MAX_DOCUMENT, &text, err);

	if (r == 0)
		r = json_parse(text, ref->size, "manifest", &root, err);
	if (r < 0 || !json_object_object_get_ex(root, "manifests", &list) ||
	    !json_object_is_type(list, json_type_array))
		return r;
	for (size_t i = 0; depth && i < json_object_array_length(list); i++) {
		struct json_object *entry = json_object_array_get_idx(list, i);

		if (!is_for(entry, architecture) ||
		    !json_object_object_get_ex(entry, "digest", &digest) ||
		    !json_object_object_get_ex(entry, "size", &size) ||
		    !digest_parse(json_object_get_string(digest) ?: "", ref->digest))
			continue;
		ref->size = (uint64_t)json_object_get_int64(size);
		return pick(blobs, architecture, ref, depth - 1, err);
	}
	return err_set(err, ENOENT, "the image has nothing for linux/%s", architecture);
}

static int find_manifest(const struct store *from, const char *name, struct blob_ref *ret,
			 struct err *err)
{
	const struct oci_name *found = NULL;
	struct oci_index index;
	int r = oci_read_index(from->dir, &index, err);

	if (r < 0)
		return r;
	if (name)
		found = oci_index_find(&index, name);
	else if (index.n == 1)
		found = &index.names[0];
	if (found)
		*ret = found->manifest;
	else if (name)
		r = err_usage(err, "the layout has no image '%s'", name);
	else
		r = err_usage(err, "the layout has %zu images: say which, as DIR:NAME", index.n);
	oci_index_release(&index);
	return r;
}

/* --- into the store --- */

static int import(struct store *store, const char *path, const char *name, const char *architecture,
		  struct oci_image *image, struct err *err)
{
	struct store from = STORE_NONE;
	struct oci_image seen = { 0 };
	int r = layout_open_foreign(&from, path, err);

	if (r == 0)
		r = find_manifest(&from, name, &seen.manifest, err);
	if (r == 0)
		r = pick(from.blobs, architecture, &seen.manifest, INDEX_DEPTH, err);
	if (r == 0)
		r = oci_read_image(from.blobs, &seen, err);
	for (size_t i = 0; r == 0 && i < seen.n_layers; i++)
		r = blob_copy(from.blobs, store->blobs, &seen.layers[i].blob, err);
	if (r == 0)
		r = blob_copy(from.blobs, store->blobs, &seen.config, err);
	if (r == 0)
		r = blob_copy(from.blobs, store->blobs, &seen.manifest, err);
	if (r == 0) {
		image->manifest = seen.manifest;
		r = oci_read_image(store->blobs, image, err);
	}
	oci_image_release(&seen);
	layout_close(&from);
	return r < 0 ? err_wrap(err, "the image in '%s'", path) : 0;
}

/* --- archives --- */

/* A file of a layout, by its name in an archive? Nothing else is taken. */
static bool is_of_layout(const char *name)
{
	char digest[DIGEST_HEX], text[NAME_SIZE];

	if (strncmp(name, BLOBS, strlen(BLOBS)))
		return !strcmp(name, "oci-layout") || !strcmp(name, "index.json");
	snprintf(text, sizeof(text), DIGEST_PREFIX "%s", name + strlen(BLOBS));
	return digest_parse(text, digest);
}

static int take_file(struct foreign_tar *tar, int dir, const char *name)
{
	_cleanup_close_ int fd = openat(
		dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	char buffer[65536];
	ssize_t n;
	int r = fd < 0 ? -errno : 0;

	while (r == 0 && (n = foreign_tar_data(tar, buffer, sizeof(buffer))) != 0)
		r = n < 0 ? (int)n : os_write_all(fd, buffer, (size_t)n);
	return r;
}

/* What of an archive is a layout's goes to 'dir'. Returns 0, or 1 when it is another archive. */
static int take_files(struct foreign_tar *tar, int dir, struct err *err)
{
	struct archive_entry *entry;
	unsigned left = ARCHIVE_FILES;
	char buffer[NAME_SIZE];
	bool layout = false;
	int r = 0, more;

	while (r == 0 && (more = foreign_tar_next(tar, &entry, err)) > 0) {
		const char *name = name_clean(archive_entry_pathname(entry), buffer);

		if (!name || !is_of_layout(name) || archive_entry_filetype(entry) != AE_IFREG)
			continue;
		layout |= !strcmp(name, "oci-layout");
		r = left-- ? take_file(tar, dir, name) : -EFBIG;
	}
	if (r < 0)
		return err_errno(err, -r, "unpacking it");
	return more < 0 && (layout || err->code == EINTR) ? more : !layout;
}

/* An archive of a layout into the directory 'scratch'. Returns 0, or 1 when it is another archive. */
static int take_layout(const char *path, const char *scratch, struct err *err)
{
	_cleanup_close_ int fd = foreign_open(path, err), dir = -1;
	struct foreign_tar tar;
	int r;

	if (fd < 0)
		return fd;
	if (mkdir(scratch, 0700) < 0)
		return err_errno(err, errno, "making '%s'", scratch);
	dir = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || mkdirat(dir, "blobs", 0700) < 0 || mkdirat(dir, "blobs/sha256", 0700) < 0)
		return err_errno(err, errno, "making '%s/blobs'", scratch);
	r = foreign_tar_begin(&tar, FOREIGN_FILE, fd, ARCHIVE_LIMIT, err);
	if (r == 0)
		r = take_files(&tar, dir, err);
	foreign_tar_close(&tar);
	return r < 0 ? err_wrap(err, "reading '%s'", path) : r;
}

/* --- through skopeo --- */

/* A machine without a policy for signatures has nobody who wants one kept. */
static bool has_policy(struct arena *arena)
{
	const char *home = getenv("HOME");

	return access("/etc/containers/policy.json", R_OK) == 0 ||
	       (home &&
		access(path_join(arena, home, ".config/containers/policy.json"), R_OK) == 0);
}

static int copy_by_skopeo(struct arena *arena, const char *from, const char *architecture,
			  const char *scratch, int log, struct err *err)
{
	char *program = run_find(arena, "skopeo",
				 "install skopeo; or save the image as an OCI layout and name its "
				 "directory",
				 err);
	struct strv argv = { 0 };

	if (!program)
		return -err->code;
	strv_add(arena, &argv, program);
	if (!has_policy(arena))
		strv_add(arena, &argv, "--insecure-policy");
	strv_add(arena, &argv, "--override-os=linux");
	strv_addf(arena, &argv, "--override-arch=%s", architecture);
	strv_add(arena, &argv, "copy");
	strv_add(arena, &argv, "--quiet");
	strv_add(arena, &argv, from);
	strv_addf(arena, &argv, "oci:%s:base", scratch);
	if (run_program(arena, &argv, log, NULL, err) < 0)
		return err_hint(err, "what it said is above; an image that was saved to a file or "
				     "a directory needs no registry");
	return 0;
}

/*
 * Podman is asked itself: where it was never used, skopeo would make its storage, and by the driver 'vfs', which
 * podman then keeps to and copies the whole image at each start.
 */
static bool podman_has(struct arena *arena, const char *ref, int log)
{
	char *program = run_find(arena, "podman", "", &(struct err){ 0 });
	struct strv argv = { 0 };

	if (!program)
		return false;
	strv_add(arena, &argv, program);
	strv_add(arena, &argv, "image");
	strv_add(arena, &argv, "exists");
	strv_add(arena, &argv, ref);
	return run_program(arena, &argv, log, NULL, &(struct err){ 0 }) == 0;
}

/* As skopeo spells it; a bare name is podman's, if it has one, or a registry's. */
static int fetch(struct arena *arena, const char *ref, const char *architecture,
		 const char *scratch, int log, struct err *err)
{
	static const char *const transports[] = {
		"docker:",         "containers-storage:", "dir:",          "oci:",
		"docker-archive:", "oci-archive:",        "docker-daemon:"
	};

	for (size_t i = 0; i < ARRAY_LEN(transports); i++)
		if (!strncmp(ref, transports[i], strlen(transports[i])))
			return copy_by_skopeo(arena, ref, architecture, scratch, log, err);
	return copy_by_skopeo(
		arena,
		arena_printf(arena, "%s%s",
			     podman_has(arena, ref, log) ? "containers-storage:" : "docker://",
			     ref),
		architecture, scratch, log, err);
}

/* --- its tables of users --- */

static char **table_of(struct build_found *found, const char *path)
{
	return !strcmp(path, "etc/passwd")  ? &found->passwd
	       : !strcmp(path, "etc/group") ? &found->group
					    : NULL;
}

/* What a layer has of them; one that a later layer had stays. */
static int look_into(struct foreign_tar *tar, struct unpack_limits *room, struct arena *arena,
		     struct build_found *found, struct err *err)
{
	struct archive_entry *entry;
	char name[NAME_SIZE];
	int r;

	while ((r = foreign_tar_next(tar, &entry, err)) > 0) {
		const char *path = name_clean(archive_entry_pathname(entry), name);
		char **table = path ? table_of(found, path) : NULL;
		la_int64_t size = archive_entry_size(entry);

		if (!room->entries-- || !unpack_fits(entry, &room->bytes))
			return unpack_too_big(err);
		if (!table || *table || archive_entry_filetype(entry) != AE_IFREG || size < 0 ||
		    size > TABLE_MAX)
			continue;
		*table = arena_alloc(arena, (size_t)size + 1);
		if (foreign_tar_data(tar, *table, (size_t)size) != size)
			return err_set(err, EBADMSG, "it is cut short");
	}
	return r;
}

static int look_at_layer(int fd, struct unpack_limits *room, struct arena *arena,
			 struct build_found *found, struct err *err)
{
	struct foreign_tar tar;
	int r = foreign_tar_begin(&tar, FOREIGN_LAYER, fd, room->stream, err);

	if (r == 0)
		r = look_into(&tar, room, arena, found, err);
	room->stream -= MIN(room->stream, foreign_tar_used(&tar));
	foreign_tar_close(&tar);
	return r < 0 ? err_wrap(err, "reading a layer") : 0;
}

static int find_tables(struct store *store, struct oci_image *image, struct build_found *ret,
		       struct err *err)
{
	struct unpack_limits room = UNPACK_LIMITS;
	int r = 0;

	for (size_t i = image->n_layers; r == 0 && i-- > 0 && !(ret->passwd && ret->group);) {
		_cleanup_close_ int fd = blob_open(store->blobs, &image->layers[i].blob, err);

		r = fd < 0 ? fd : look_at_layer(fd, &room, &image->arena, ret, err);
	}
	return r;
}

int base_fetch(struct store *store, const char *ref, const char *architecture, const char *scratch,
	       int log, struct oci_image *image, struct build_found *ret_found, struct err *err)
{
	struct arena arena = { 0 };
	const char *colon = strrchr(ref, ':');
	char *dir = arena_strndup(&arena, ref, colon ? (size_t)(colon - ref) : strlen(ref));
	struct stat st;
	int r;

	if (stat(ref, &st) == 0 && S_ISDIR(st.st_mode)) {
		r = import(store, ref, NULL, architecture, image, err);
	} else if (colon && stat(dir, &st) == 0 && S_ISDIR(st.st_mode)) {
		r = import(store, dir, colon + 1, architecture, image, err);
	} else if (stat(ref, &st) == 0) {
		r = take_layout(ref, scratch, err);
		if (r > 0) {
			os_remove_tree(AT_FDCWD, scratch);
			r = fetch(&arena, arena_printf(&arena, "docker-archive:%s", ref),
				  architecture, scratch, log, err);
		}
		if (r == 0)
			r = import(store, scratch, NULL, architecture, image, err);
	} else {
		r = fetch(&arena, ref, architecture, scratch, log, err);
		if (r == 0)
			r = import(store, scratch, NULL, architecture, image, err);
	}
	os_remove_tree(AT_FDCWD, scratch);
	if (r == 0)
		r = find_tables(store, image, ret_found, err);
	arena_release(&arena);
	return r;
}
