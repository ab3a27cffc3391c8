/* SPDX-License-Identifier: MIT */
/* The list of a session's private places, as it is written down. */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "guard/gate.h"
#include "os/fs.h"

#define LIST_MAX ((size_t)4 << 20)

static const char *const kind_names[] = {
	[GATE_NEW] = "new",   [GATE_REPO] = "repository", [GATE_OLD] = "old",
	[GATE_FILE] = "file", [GATE_HELD] = "held",
};

int gate_write(int meta, const struct gate_place *places, size_t n, struct err *err)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "[");
	for (size_t i = 0; i < n; i++) {
		str_addf(&out, "%s\n{\"number\": %u, \"kind\": \"%s\", \"made\": %s", i ? "," : "",
			 places[i].number, kind_names[places[i].kind],
			 places[i].made ? "true" : "false");
		if (places[i].path) {
			str_add(&out, ", \"path\": ");
			json_add_string(&out, places[i].path);
		}
		str_add(&out, "}");
	}
	str_add(&out, "\n]\n");
	return os_write_file_atomic(meta, "places", out.s, out.len, 0600, err);
}

static int read_place(struct arena *arena, struct json_object *item, struct gate_place *ret)
{
	const char *kind = json_object_get_string(json_object_object_get(item, "kind"));
	const char *path = json_object_get_string(json_object_object_get(item, "path"));
	size_t k = 0;

	while (kind && k < ARRAY_LEN(kind_names) && strcmp(kind, kind_names[k]) != 0)
		k++;
	if (!kind || k == ARRAY_LEN(kind_names))
		return -EINVAL;
	*ret = (struct gate_place){
		.number = (unsigned)json_object_get_int(json_object_object_get(item, "number")),
		.kind = (enum gate_kind)k,
		.made = json_object_get_boolean(json_object_object_get(item, "made")),
		.path = arena_strdup(arena, path),
	};
	return 0;
}

int gate_read(int meta, struct arena *arena, struct gate_place **ret, size_t *ret_n,
	      struct err *err)
{
	_cleanup_json_ struct json_object *list = NULL;
	_cleanup_free_ char *text = NULL;
	size_t len, n = 0;
	int r = os_read_file_at(meta, "places", LIST_MAX, &text, &len);

	*ret = NULL;
	*ret_n = 0;
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return err_errno(err, -r, "reading the list of private places");
	r = json_parse(text, len, "places", &list, err);
	if (r < 0)
		return r;
	for (size_t i = 0;
	     json_object_is_type(list, json_type_array) && i < json_object_array_length(list);
	     i++) {
		struct gate_place *place = arena_grow(arena, (void *)ret, &n, sizeof(*place));

		if (read_place(arena, json_object_array_get_idx(list, i), place) < 0)
			return err_set(err, EINVAL, "the list of private places is damaged");
	}
	*ret_n = n;
	return 0;
}
