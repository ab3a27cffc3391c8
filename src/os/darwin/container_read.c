/* SPDX-License-Identifier: MIT */
/*
 * What container prints as JSON. Up to 0.12 a container's state was a word at the top; since 1.0 it is in an
 * object 'status'. Members of networks were renamed in 0.8 (address -> ipv4Subnet). Labels are of whoever made
 * the container, so nothing here is trusted further than its form.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "os/darwin/container.h"

enum { ANSWER_MAX = 16 << 20 };

static struct json_object *member(struct json_object *object, const char *name)
{
	struct json_object *value = NULL;

	if (json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, name, &value);
	return value;
}

/* The first of the names that is a string. */
static const char *text_of(struct json_object *object, const char *const *names)
{
	for (; *names; names++) {
		struct json_object *value = member(object, *names);

		if (json_object_is_type(value, json_type_string))
			return json_object_get_string(value);
	}
	return NULL;
}

static struct json_object *element(struct json_object *array, size_t i)
{
	return json_object_is_type(array, json_type_array) && i < json_object_array_length(array)
		       ? json_object_array_get_idx(array, i)
		       : NULL;
}

static enum container_state state_of(struct json_object *object)
{
	struct json_object *status = member(object, "status");
	const char *word = json_object_is_type(status, json_type_string)
				   ? json_object_get_string(status)
				   : text_of(status, (const char *const[]){ "state", NULL });

	if (word && !strcmp(word, "running"))
		return CONTAINER_RUNNING;
	return word && !strcmp(word, "stopped") ? CONTAINER_STOPPED : CONTAINER_BETWEEN;
}

static void read_labels(struct arena *arena, struct json_object *labels, struct strv *ret)
{
	if (!json_object_is_type(labels, json_type_object))
		return;
	json_object_object_foreach(labels, name, value)
	{
		if (json_object_is_type(value, json_type_string))
			strv_addf(arena, ret, "%s=%s", name, json_object_get_string(value));
	}
}

static int read_one(struct arena *arena, struct json_object *object, struct container_info *ret,
		    struct err *err)
{
	static const char *const id[] = { "id", NULL };
	struct json_object *config = member(object, "configuration");
	const char *name = text_of(object, id);

	name = name ? name : text_of(config, id);
	if (!name)
		return err_set(err, EPROTO, "container's answer names no container");
	*ret = (struct container_info){
		.id = arena_strdup(arena, name),
		.state = state_of(object),
	};
	read_labels(arena, member(config, "labels"), &ret->labels);
	return 0;
}

static int read_array(const char *text, size_t len, struct json_object **ret, struct err *err)
{
	int r = json_parse_max(text, len, ANSWER_MAX, "container's answer", ret, err);

	if (r == 0 && !json_object_is_type(*ret, json_type_array)) {
		json_object_put(*ret);
		*ret = NULL;
		return err_set(err, EPROTO, "container's answer is no list");
	}
	return r;
}

int container_read_list(struct arena *arena, const char *text, size_t len,
			struct container_info **ret, size_t *ret_n, struct err *err)
{
	_cleanup_json_ struct json_object *array = NULL;
	struct container_info *list = NULL;
	size_t n = 0;
	int r = read_array(text, len, &array, err);

	for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++)
		r = read_one(arena, element(array, i), arena_grow(arena, &list, &n, sizeof(*list)),
			     err);
	if (r < 0)
		return r;
	*ret = list;
	*ret_n = n;
	return 0;
}

int container_read_network(struct arena *arena, const char *text, size_t len,
			   struct container_network *ret, struct err *err)
{
	static const char *const subnet[] = { "ipv4Subnet", "address", "subnet", NULL };
	static const char *const gateway[] = { "ipv4Gateway", "gateway", NULL };
	_cleanup_json_ struct json_object *array = NULL;
	struct json_object *status;
	int r = read_array(text, len, &array, err);

	if (r < 0)
		return r;
	status = member(element(array, 0), "status");
	if (!status)
		return err_set(err, ENOENT, "container has no such network, or it is not up");
	*ret = (struct container_network){
		.subnet = arena_strdup(arena, text_of(status, subnet)),
		.gateway = arena_strdup(arena, text_of(status, gateway)),
	};
	return 0;
}

unsigned container_parse_version(const char *text)
{
	const char *at = strstr(text, "version");
	unsigned major, minor, patch = 0;

	if (!at || sscanf(at, "version %3u.%2u.%2u", &major, &minor, &patch) < 2)
		return 0;
	return CONTAINER_VERSION(major, minor, patch);
}
