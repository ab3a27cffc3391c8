/* SPDX-License-Identifier: MIT */
/* A table of paths, and what is known of each: it costs the same however many there are. All of them are forgotten together. */
#pragma once

#include "base/arena.h"

struct path_map_slot {
	const char *path; /* NULL: free */
	size_t len;
	void *value;
};

struct path_map {
	struct arena arena; /* the values may live there, too */
	struct path_map_slot *slots;
	size_t n, n_slots;
	size_t bytes; /* that the paths take, about */
};

/* Where to begin to look for them in a table whose size is a power of two. */
size_t path_hash(const char *path, size_t len);

/* What is known of the first len bytes of path, until one more is added; NULL: they are not there. */
void **path_map_find(const struct path_map *map, const char *path, size_t len);
/* The same, and they are there from now on, at first with NULL. */
void **path_map_add(struct path_map *map, const char *path, size_t len);
/* What is known of them where the values are structs of the map's own; NULL: they are not there. */
void *path_map_get(const struct path_map *map, const char *path, size_t len);
/* The same; where they are not there yet they are added, with so many zeroed bytes. */
void *path_map_make(struct path_map *map, const char *path, size_t len, size_t size);
void path_map_release(struct path_map *map);
