/* SPDX-License-Identifier: MIT */
/* A hash table of paths, each with its package, and the packages' layers. */
#include "image/split.h"

#include <string.h>
#include <sys/types.h>

#define NIX_STORE "/nix/store/"

enum { LAYER_DIRS, LAYER_SHARED };

struct package {
	char *name;
	uint64_t size;
	size_t layer;
};

struct owned {
	char *path;
	uint32_t hash;
	uint32_t package;
};

struct split {
	struct arena arena;
	struct package *packages;
	size_t n_packages;
	struct owned *slots; /* open addressing, a power of two */
	size_t n_slots, used;
	size_t layers;
	size_t ranked, last;
};

static uint32_t hash_of(const char *s)
{
	uint32_t hash = 2166136261u;

	while (*s)
		hash = (hash ^ (unsigned char)*s++) * 16777619u;
	return hash;
}

struct split *split_new(void)
{
	return calloc(1, sizeof(struct split));
}

void split_free(struct split *split)
{
	if (!split)
		return;
	free(split->slots);
	arena_release(&split->arena);
	free(split);
}

static struct owned *find(const struct split *split, const char *path, uint32_t hash)
{
	size_t i = hash & (split->n_slots - 1);

	while (split->slots[i].path &&
	       (split->slots[i].hash != hash || strcmp(split->slots[i].path, path)))
		i = (i + 1) & (split->n_slots - 1);
	return &split->slots[i];
}

static bool grow(struct split *split)
{
	struct split bigger = { .n_slots = split->n_slots ? split->n_slots * 2 : 4096 };

	if (split->used * 2 < split->n_slots)
		return true;
	bigger.slots = calloc(bigger.n_slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < split->n_slots; i++)
		if (split->slots[i].path)
			*find(&bigger, split->slots[i].path,
			      split->slots[i].hash) = split->slots[i];
	free(split->slots);
	split->slots = bigger.slots;
	split->n_slots = bigger.n_slots;
	return true;
}

static bool is_package(const struct split *split, size_t i, const char *name, size_t len)
{
	return i < split->n_packages && !strncmp(split->packages[i].name, name, len) &&
	       !split->packages[i].name[len];
}

/* A package's files come together, so the last one is the likely one. */
static ssize_t find_package(struct split *split, const char *name, size_t len)
{
	for (size_t i = 0; i <= split->n_packages; i++) {
		size_t at = i ? split->n_packages - i : split->last;

		if (is_package(split, at, name, len)) {
			split->last = at;
			return (ssize_t)at;
		}
	}
	return -1;
}

static size_t package_index(struct split *split, const char *name, size_t len)
{
	ssize_t i = find_package(split, name, len);

	if (i >= 0)
		return (size_t)i;
	*(struct package *)arena_grow(&split->arena, &split->packages, &split->n_packages,
				      sizeof(struct package)) = (struct package){
		.name = arena_strndup(&split->arena, name, len)
	};
	return split->n_packages - 1;
}

void split_rank(struct split *split, const char *package)
{
	if (split->ranked < SPLIT_MAX_RANKED && find_package(split, package, strlen(package)) < 0) {
		package_index(split, package, strlen(package));
		split->ranked++;
	}
}

/* "NAME" of "/nix/store/NAME/...", as long as *ret_len says. */
static const char *in_store(const char *path, size_t *ret_len)
{
	if (strncmp(path, NIX_STORE, strlen(NIX_STORE)))
		return NULL;
	path += strlen(NIX_STORE);
	*ret_len = strcspn(path, "/");
	return *ret_len ? path : NULL;
}

void split_own(struct split *split, const char *package, const char *path)
{
	uint32_t hash = hash_of(path);
	struct owned *slot;

	if (!grow(split))
		return; /* what is not known goes to the last layer */
	slot = find(split, path, hash);
	if (slot->path)
		return;
	*slot = (struct owned){ arena_strdup(&split->arena, path), hash,
				(uint32_t)package_index(split, package, strlen(package)) };
	split->used++;
}

/* Distributions merged /bin into /usr/bin, and their lists have both spellings. */
static const struct owned *owner(const struct split *split, const char *path)
{
	const struct owned *slot;

	if (!split->n_slots)
		return NULL;
	slot = find(split, path, hash_of(path));
	if (!slot->path && !strncmp(path, "/usr/", 5))
		slot = find(split, path + 4, hash_of(path + 4));
	return slot->path ? slot : NULL;
}

void split_size(struct split *split, const char *path, uint64_t size)
{
	size_t len;
	const char *name = in_store(path, &len);
	const struct owned *slot = name ? NULL : owner(split, path);
	size_t i;

	if (!name && !slot)
		return;
	i = name ? package_index(split, name, len) : slot->package;
	split->packages[i].size += size;
}

static int by_size(const void *a, const void *b)
{
	const struct package *const *x = a, *const *y = b;

	if ((*x)->size != (*y)->size)
		return (*x)->size < (*y)->size ? 1 : -1;
	return strcmp((*x)->name, (*y)->name);
}

static int by_name(const void *a, const void *b)
{
	const struct package *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* Those that are big, in the order of their names, so that one that grows does not move the others. */
static size_t lay_big(struct split *split, size_t first)
{
	struct package **order = calloc(split->n_packages + 1, sizeof(*order));
	size_t big = 0;

	for (size_t i = 0; order && i < split->n_packages; i++)
		order[i] = &split->packages[i];
	if (order) {
		qsort(order, split->n_packages, sizeof(*order), by_size);
		while (big < split->n_packages && big < SPLIT_MAX_BIG &&
		       order[big]->size >= SPLIT_BIG)
			big++;
		qsort(order, big, sizeof(*order), by_name);
		for (size_t i = 0; i < big; i++)
			order[i]->layer = first + i;
	}
	free(order);
	return big;
}

size_t split_layout(struct split *split)
{
	if (split->ranked) {
		split->layers = LAYER_DIRS + 1 + split->ranked + 1;
		for (size_t i = 0; i < split->n_packages; i++)
			split->packages[i].layer = i < split->ranked ? LAYER_DIRS + 1 + i
								     : split->layers - 1;
		return split->layers;
	}
	for (size_t i = 0; i < split->n_packages; i++)
		split->packages[i].layer = LAYER_SHARED +
					   hash_of(split->packages[i].name) % SPLIT_SHARED;
	split->layers = LAYER_SHARED + SPLIT_SHARED + 1;
	split->layers += lay_big(split, split->layers - 1);
	return split->layers;
}

size_t split_layer(struct split *split, const char *path, bool is_dir)
{
	size_t len;
	const char *name = in_store(path, &len);
	const struct owned *slot;
	ssize_t i;

	if (name) {
		i = find_package(split, name, len);
		return i < 0 ? split->layers - 1 : split->packages[i].layer;
	}
	if (is_dir)
		return LAYER_DIRS;
	slot = owner(split, path);
	return slot ? split->packages[slot->package].layer : split->layers - 1;
}

void split_sizes(const struct split *split, uint64_t total, uint64_t *ret)
{
	for (size_t i = 0; i < split->n_packages; i++) {
		ret[split->packages[i].layer] += split->packages[i].size;
		total -= MIN(total, split->packages[i].size);
	}
	ret[split->layers - 1] += total; /* nobody's */
}
