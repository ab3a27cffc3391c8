/* SPDX-License-Identifier: MIT */
/* An open table, at most half full. Outgrown slots stay in the arena: together they are no more than those in use. */
#include "base/path_map.h"

#include <string.h>

enum { SLOTS_MIN = 32 }; /* a power of two, as all that follow */

size_t path_hash(const char *path, size_t len)
{
	uint64_t h = 14695981039346656037ULL;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)path[i]) * 1099511628211ULL;
	return (size_t)(h ^ (h >> 29));
}

/* Where it is, or where it would be. */
static struct path_map_slot *slot_of(const struct path_map *map, const char *path, size_t len)
{
	size_t i = path_hash(path, len) & (map->n_slots - 1);

	while (map->slots[i].path &&
	       (map->slots[i].len != len || memcmp(map->slots[i].path, path, len) != 0))
		i = (i + 1) & (map->n_slots - 1);
	return &map->slots[i];
}

static void grow(struct path_map *map)
{
	const struct path_map old = *map;

	map->n_slots = MAX(2 * old.n_slots, (size_t)SLOTS_MIN);
	map->slots = arena_alloc(&map->arena, map->n_slots * sizeof(*map->slots));
	for (size_t i = 0; i < old.n_slots; i++)
		if (old.slots[i].path)
			*slot_of(map, old.slots[i].path, old.slots[i].len) = old.slots[i];
}

void **path_map_find(const struct path_map *map, const char *path, size_t len)
{
	struct path_map_slot *slot = map->n ? slot_of(map, path, len) : NULL;

	return slot && slot->path ? &slot->value : NULL;
}

void **path_map_add(struct path_map *map, const char *path, size_t len)
{
	struct path_map_slot *slot;

	if (2 * map->n >= map->n_slots)
		grow(map);
	slot = slot_of(map, path, len);
	if (!slot->path) {
		*slot = (struct path_map_slot){ arena_strndup(&map->arena, path, len), len, NULL };
		map->n++;
		map->bytes += len + sizeof(*slot);
	}
	return &slot->value;
}

void *path_map_get(const struct path_map *map, const char *path, size_t len)
{
	void **value = path_map_find(map, path, len);

	return value ? *value : NULL;
}

void *path_map_make(struct path_map *map, const char *path, size_t len, size_t size)
{
	void **value = path_map_add(map, path, len);

	if (!*value)
		*value = arena_alloc(&map->arena, size);
	return *value;
}

void path_map_release(struct path_map *map)
{
	arena_release(&map->arena);
	*map = (struct path_map){ 0 };
}
