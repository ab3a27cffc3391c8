/* SPDX-License-Identifier: MIT */
/* OCI documents: the index, which gives the images of a layout their names. */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "image/oci.h"
#include "os/fs.h"

#define NAME_KEY "org.opencontainers.image.ref.name"

void oci_index_release(struct oci_index *index)
{
	arena_release(&index->arena);
	*index = (struct oci_index){ 0 };
}

static const char *name_of(struct json_object *entry)
{
	struct json_object *annotations, *name;

	if (!json_object_object_get_ex(entry, "annotations", &annotations) ||
	    !json_object_object_get_ex(annotations, NAME_KEY, &name) ||
	    !json_object_is_type(name, json_type_string))
		return "";
	return json_object_get_string(name);
}

static int read_entry(struct oci_index *index, struct json_object *entry, struct err *err)
{
	struct json_object *digest = NULL, *size = NULL;
	struct oci_name *name;

	if (!json_object_is_type(entry, json_type_object) ||
	    !json_object_object_get_ex(entry, "digest", &digest) ||
	    !json_object_object_get_ex(entry, "size", &size))
		return err_set(err, EBADMSG, "index.json has an entry without digest or size");
	name = arena_grow(&index->arena, &index->names, &index->n, sizeof(*name));
	*name = (struct oci_name){ .name = arena_strdup(&index->arena, name_of(entry)) };
	name->manifest.size = (uint64_t)json_object_get_int64(size);
	if (!json_object_is_type(digest, json_type_string) ||
	    !digest_parse(json_object_get_string(digest), name->manifest.digest))
		return err_set(err, EBADMSG, "index.json has an entry without a SHA-256 digest");
	return 0;
}

int oci_read_index(int dir, struct oci_index *ret, struct err *err)
{
	_cleanup_json_ struct json_object *root = NULL;
	_cleanup_free_ char *text = NULL;
	struct json_object *list;
	size_t len;
	int r = os_read_file_at(dir, "index.json", OCI_MAX_DOCUMENT, &text, &len);

	*ret = (struct oci_index){ 0 };
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return err_errno(err, -r, "reading index.json");
	r = json_parse(text, len, "index.json", &root, err);
	if (r < 0)
		return r;
	if (!json_object_is_type(root, json_type_object) ||
	    !json_object_object_get_ex(root, "manifests", &list) ||
	    !json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > OCI_MAX_IMAGES)
		return err_set(err, EBADMSG, "index.json has no list of manifests");
	for (size_t i = 0; r == 0 && i < json_object_array_length(list); i++)
		r = read_entry(ret, json_object_array_get_idx(list, i), err);
	if (r < 0)
		oci_index_release(ret);
	return r;
}

const char oci_layout_text[] = "{\"imageLayoutVersion\":\"1.0.0\"}";

void oci_format_index(const struct oci_index *index, struct str *out)
{
	str_add(out,
		"{\"schemaVersion\":2,\"mediaType\":\"application/vnd.oci.image.index.v1+json\","
		"\"manifests\":[");
	for (size_t i = 0; i < index->n; i++) {
		const struct oci_name *name = &index->names[i];

		str_addf(out,
			 "%s{\"mediaType\":\"application/vnd.oci.image.manifest.v1+json\","
			 "\"digest\":\"" DIGEST_PREFIX "%s\",\"size\":%llu",
			 i ? "," : "", name->manifest.digest,
			 (unsigned long long)name->manifest.size);
		if (*name->name) {
			str_add(out, ",\"annotations\":{\"" NAME_KEY "\":");
			json_add_string(out, name->name);
			str_add(out, "}");
		}
		str_add(out, "}");
	}
	str_add(out, "]}\n");
}

int oci_write_index(int dir, const struct oci_index *index, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };
	int r;

	oci_format_index(index, &out);
	r = os_write_file_atomic(dir, "oci-layout", oci_layout_text, strlen(oci_layout_text), 0644,
				 err);
	return r < 0 ? r : os_write_file_atomic(dir, "index.json", out.s, out.len, 0644, err);
}

void oci_index_put(struct oci_index *index, const char *name, const struct blob_ref *manifest)
{
	struct oci_name *slot = NULL;

	for (size_t i = 0; i < index->n; i++)
		if (!strcmp(index->names[i].name, name))
			slot = &index->names[i];
	if (!slot) {
		slot = arena_grow(&index->arena, &index->names, &index->n, sizeof(*slot));
		*slot = (struct oci_name){ .name = arena_strdup(&index->arena, name) };
	}
	slot->manifest = *manifest;
}

const struct oci_name *oci_index_find(const struct oci_index *index, const char *word)
{
	const struct oci_name *found = NULL;
	size_t len;

	for (size_t i = 0; i < index->n; i++)
		if (!strcmp(index->names[i].name, word))
			return &index->names[i];
	if (!strncmp(word, DIGEST_PREFIX, strlen(DIGEST_PREFIX)))
		word += strlen(DIGEST_PREFIX);
	len = strlen(word);
	for (size_t i = 0; len >= 8 && i < index->n; i++) {
		if (strncmp(index->names[i].manifest.digest, word, len))
			continue;
		if (found && strcmp(found->manifest.digest, index->names[i].manifest.digest))
			return NULL;
		found = &index->names[i];
	}
	return found;
}
