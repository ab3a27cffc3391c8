/* SPDX-License-Identifier: MIT */
/* OCI documents: an image's configuration and manifest. */
#include "image/oci.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/str.h"

#define TYPE_CONFIG "application/vnd.oci.image.config.v1+json"
#define TYPE_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define TYPE_LAYER "application/vnd.oci.image.layer.v1.tar"

void oci_image_release(struct oci_image *image)
{
	arena_release(&image->arena);
	*image = (struct oci_image){ 0 };
}

void oci_add_layer(struct oci_image *image, const struct layer_ref *layer)
{
	struct oci_layer *added = arena_grow(&image->arena, &image->layers, &image->n_layers,
					     sizeof(*added));

	*added = (struct oci_layer){ .blob = layer->blob, .compression = layer->compression };
	memcpy(added->diff_id, layer->diff_id, DIGEST_HEX);
}

static size_t env_index(const struct oci_image *image, const char *name)
{
	size_t len = strlen(name), i = 0;

	while (i < image->env.len &&
	       (strncmp(image->env.v[i], name, len) || image->env.v[i][len] != '='))
		i++;
	return i;
}

const char *oci_env(const struct oci_image *image, const char *name)
{
	size_t i = env_index(image, name);

	return i < image->env.len ? image->env.v[i] + strlen(name) + 1 : NULL;
}

void oci_set_env(struct oci_image *image, const char *name, const char *value)
{
	size_t i = env_index(image, name);

	if (i == image->env.len)
		strv_addf(&image->arena, &image->env, "%s=%s", name, value);
	else
		image->env.v[i] = arena_printf(&image->arena, "%s=%s", name, value);
}

/* --- writing --- */

static void add_list(struct str *out, const char *key, const struct strv *list)
{
	if (!list->len)
		return;
	str_addf(out, ",\"%s\":[", key);
	for (size_t i = 0; i < list->len; i++) {
		str_add(out, i ? "," : "");
		json_add_string(out, list->v[i]);
	}
	str_add(out, "]");
}

static void add_text(struct str *out, const char *key, const char *value)
{
	if (!value)
		return;
	str_addf(out, ",\"%s\":", key);
	json_add_string(out, value);
}

static void add_config(struct str *out, const struct oci_image *image)
{
	str_add(out, "{\"created\":\"1970-01-01T00:00:01Z\"");
	add_text(out, "architecture", image->architecture);
	add_text(out, "os", image->os);
	add_text(out, "variant", image->variant);
	str_add(out, ",\"config\":{\"StopSignal\":\"SIGTERM\"");
	add_text(out, "User", image->user);
	add_list(out, "Env", &image->env);
	add_list(out, "Entrypoint", &image->entrypoint);
	add_list(out, "Cmd", &image->cmd);
	add_text(out, "WorkingDir", image->workdir);
	for (size_t i = 0; i + 1 < image->labels.len; i += 2) {
		str_add(out, i ? "," : ",\"Labels\":{");
		json_add_string(out, image->labels.v[i]);
		str_add(out, ":");
		json_add_string(out, image->labels.v[i + 1]);
	}
	str_add(out, image->labels.len ? "}}" : "}");
	str_add(out, ",\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[");
	for (size_t i = 0; i < image->n_layers; i++)
		str_addf(out, "%s\"" DIGEST_PREFIX "%s\"", i ? "," : "", image->layers[i].diff_id);
	str_add(out, "]}}");
}

static void add_descriptor(struct str *out, const char *type, const struct blob_ref *blob)
{
	str_addf(out, "{\"mediaType\":\"%s\",\"digest\":\"" DIGEST_PREFIX "%s\",\"size\":%llu}",
		 type, blob->digest, (unsigned long long)blob->size);
}

static const char *const layer_types[] = {
	[COMPRESS_GZIP] = TYPE_LAYER "+gzip",
	[COMPRESS_ZSTD] = TYPE_LAYER "+zstd",
	[COMPRESS_NONE] = TYPE_LAYER,
};

int oci_write_image(int blobs, struct oci_image *image, struct err *err)
{
	_cleanup_str_ struct str config = { 0 }, manifest = { 0 };
	int r;

	add_config(&config, image);
	r = blob_put(blobs, config.s, config.len, &image->config, err);
	if (r < 0)
		return r;
	str_add(&manifest, "{\"schemaVersion\":2,\"mediaType\":\"" TYPE_MANIFEST "\",\"config\":");
	add_descriptor(&manifest, TYPE_CONFIG, &image->config);
	str_add(&manifest, ",\"layers\":[");
	for (size_t i = 0; i < image->n_layers; i++) {
		str_add(&manifest, i ? "," : "");
		add_descriptor(&manifest, layer_types[image->layers[i].compression],
			       &image->layers[i].blob);
	}
	str_add(&manifest, "]}");
	return blob_put(blobs, manifest.s, manifest.len, &image->manifest, err);
}

/* --- reading --- */

static int read_document(int blobs, const struct blob_ref *ref, const char *what,
			 struct json_object **ret, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	int r = blob_get(blobs, ref, OCI_MAX_DOCUMENT, &text, err);

	return r < 0 ? err_wrap(err, "%s", what) : json_parse(text, ref->size, what, ret, err);
}

static int bad(const char *what, struct err *err)
{
	return err_set(err, EBADMSG, "the image's %s is not as the OCI specification has it", what);
}

/* Nothing in it means something else to a reader that takes "Layers" for "layers", as those do which are written in Go:
 * an engine would run other files than we have looked at. */
static bool has_one_meaning(struct json_object *object)
{
	static const char *const names[] = { "config", "layers",   "digest",    "size",
					     "rootfs", "diff_ids", "mediaType", "urls" };

	if (!json_object_is_type(object, json_type_object))
		return false;
	json_object_object_foreach(object, key, value)
	{
		(void)value;
		for (const char *p = key; *p; p++)
			if ((unsigned char)*p > 127)
				return false; /* some letters beyond ASCII are taken for one of it */
		for (size_t i = 0; i < ARRAY_LEN(names); i++)
			if (!strcasecmp(key, names[i]) && strcmp(key, names[i]) != 0)
				return false;
	}
	return true;
}

/* "digest" and "size" of a descriptor. */
static int read_descriptor(struct json_object *value, struct blob_ref *ret, struct err *err)
{
	struct json_object *digest = NULL, *size = NULL, *urls;

	if (!has_one_meaning(value) || !json_object_object_get_ex(value, "digest", &digest) ||
	    !json_object_object_get_ex(value, "size", &size) ||
	    !json_object_is_type(digest, json_type_string) ||
	    !json_object_is_type(size, json_type_int) || json_object_get_int64(size) < 0 ||
	    !digest_parse(json_object_get_string(digest), ret->digest))
		return bad("descriptor", err);
	/* An engine would fetch it from there, outside of every sandbox: also from this machine's own servers. */
	if (json_object_object_get_ex(value, "urls", &urls) && urls &&
	    (!json_object_is_type(urls, json_type_array) || json_object_array_length(urls)))
		return err_set(err, ENOTSUP, "the image has a part that lies elsewhere (urls)");
	ret->size = (uint64_t)json_object_get_int64(size);
	return 0;
}

static void read_strings(struct arena *arena, struct json_object *from, const char *key,
			 struct strv *ret)
{
	struct json_object *list;

	if (!json_object_object_get_ex(from, key, &list) ||
	    !json_object_is_type(list, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(list) && i < 4096; i++)
		strv_add(arena, ret,
			 json_object_get_string(json_object_array_get_idx(list, i)) ?: "");
}

static char *read_string(struct arena *arena, struct json_object *from, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(from, key, &value) &&
			       json_object_is_type(value, json_type_string)
		       ? arena_strdup(arena, json_object_get_string(value))
		       : NULL;
}

static void read_labels(struct oci_image *image, struct json_object *run)
{
	struct json_object *map;

	if (!json_object_object_get_ex(run, "Labels", &map) ||
	    !json_object_is_type(map, json_type_object))
		return;
	json_object_object_foreach(map, key, value)
	{
		if (image->labels.len >= 2 * OCI_MAX_LABELS)
			break;
		strv_add(&image->arena, &image->labels, key);
		strv_add(&image->arena, &image->labels, json_object_get_string(value) ?: "");
	}
	if (image->labels.len)
		qsort(image->labels.v, image->labels.len / 2, 2 * sizeof(*image->labels.v),
		      strv_order);
}

static int read_diff_ids(struct oci_image *image, struct json_object *config, struct err *err)
{
	struct json_object *rootfs, *list;

	if (!json_object_object_get_ex(config, "rootfs", &rootfs) || !has_one_meaning(rootfs) ||
	    !json_object_object_get_ex(rootfs, "diff_ids", &list) ||
	    !json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) != image->n_layers)
		return bad("list of layers", err);
	for (size_t i = 0; i < image->n_layers; i++) {
		const char *id = json_object_get_string(json_object_array_get_idx(list, i));

		if (!id || !digest_parse(id, image->layers[i].diff_id))
			return bad("list of layers", err);
	}
	return 0;
}

static int read_config(int blobs, struct oci_image *image, struct err *err)
{
	_cleanup_json_ struct json_object *root = NULL;
	struct json_object *run;
	struct arena *a = &image->arena;
	int r = read_document(blobs, &image->config, "configuration", &root, err);

	if (r < 0)
		return r;
	if (!has_one_meaning(root))
		return bad("configuration", err);
	image->os = read_string(a, root, "os");
	image->architecture = read_string(a, root, "architecture");
	image->variant = read_string(a, root, "variant");
	if (json_object_object_get_ex(root, "config", &run) &&
	    json_object_is_type(run, json_type_object)) {
		image->user = read_string(a, run, "User");
		image->workdir = read_string(a, run, "WorkingDir");
		read_strings(a, run, "Env", &image->env);
		read_strings(a, run, "Entrypoint", &image->entrypoint);
		read_strings(a, run, "Cmd", &image->cmd);
		read_labels(image, run);
	}
	return read_diff_ids(image, root, err);
}

/* Docker's own media types end the same way. */
static int read_layer(struct oci_image *image, struct json_object *value, struct err *err)
{
	static const char *const ends[] = {
		[COMPRESS_GZIP] = "gzip",
		[COMPRESS_ZSTD] = "zstd",
		[COMPRESS_NONE] = "tar",
	};
	struct oci_layer *layer = arena_grow(&image->arena, &image->layers, &image->n_layers,
					     sizeof(*layer));
	const char *type = read_string(&image->arena, value, "mediaType") ?: "";
	_cleanup_str_ struct str shown = { 0 };

	*layer = (struct oci_layer){ .compression = COMPRESS_COUNT };
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (strlen(type) > strlen(ends[i]) &&
		    !strcmp(type + strlen(type) - strlen(ends[i]), ends[i]))
			layer->compression = (enum compression)i;
	if (layer->compression == COMPRESS_COUNT)
		return err_set(err, ENOTSUP, "the image has a layer of type %s",
			       str_quote(&shown, type));
	return read_descriptor(value, &layer->blob, err);
}

int oci_read_image(int blobs, struct oci_image *image, struct err *err)
{
	_cleanup_json_ struct json_object *root = NULL;
	struct json_object *config, *layers;
	int r = read_document(blobs, &image->manifest, "manifest", &root, err);

	if (r < 0)
		return r;
	if (!has_one_meaning(root) || !json_object_object_get_ex(root, "config", &config) ||
	    !json_object_object_get_ex(root, "layers", &layers) ||
	    !json_object_is_type(layers, json_type_array) ||
	    json_object_array_length(layers) > OCI_MAX_LAYERS)
		return bad("manifest", err);
	r = read_descriptor(config, &image->config, err);
	for (size_t i = 0; r == 0 && i < json_object_array_length(layers); i++)
		r = read_layer(image, json_object_array_get_idx(layers, i), err);
	return r < 0 ? r : read_config(blobs, image, err);
}
