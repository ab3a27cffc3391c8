/* SPDX-License-Identifier: MIT */
/* A bump allocator: chunks of growing size in a list, freed together. */
#include "base/arena.h"

#include <string.h>

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	_Alignas(max_align_t) char data[];
};

static void out_of_memory(void)
{
	static const char msg[] = "wrapix: out of memory\n";

	if (write(STDERR_FILENO, msg, sizeof(msg) - 1) < 0) {
		/* Nothing is left to tell it to. */
	}
	_exit(125);
}

static struct arena_chunk *chunk_add(struct arena *arena, size_t need)
{
	size_t size = MAX(need, (size_t)8192 - sizeof(struct arena_chunk));
	struct arena_chunk *chunk = malloc(sizeof(*chunk) + size);

	if (!chunk)
		out_of_memory();
	*chunk = (struct arena_chunk){ .next = arena->chunks, .size = size };
	arena->chunks = chunk;
	return chunk;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	struct arena_chunk *chunk = arena->chunks;
	void *p;

	if (size > SIZE_MAX / 2)
		out_of_memory();
	size = (size + align - 1) & ~(align - 1);
	if (!chunk || chunk->size - chunk->used < size)
		chunk = chunk_add(arena, size);
	p = chunk->data + chunk->used;
	chunk->used += size;
	return memset(p, 0, size);
}

char *arena_strndup(struct arena *arena, const char *s, size_t len)
{
	char *p = arena_alloc(arena, len + 1);

	memcpy(p, s, len);
	return p;
}

char *arena_strdup(struct arena *arena, const char *s)
{
	return s ? arena_strndup(arena, s, strlen(s)) : NULL;
}

char *arena_vprintf(struct arena *arena, const char *fmt, va_list ap)
{
	va_list again;
	char *p;
	int len;

	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (len < 0)
		out_of_memory();
	p = arena_alloc(arena, (size_t)len + 1);
	vsnprintf(p, (size_t)len + 1, fmt, ap);
	return p;
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
	va_list ap;
	char *p;

	va_start(ap, fmt);
	p = arena_vprintf(arena, fmt, ap);
	va_end(ap);
	return p;
}

void arena_release(struct arena *arena)
{
	while (arena->chunks) {
		struct arena_chunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		free(chunk);
	}
}

void *arena_grow(struct arena *arena, void *array_ptr, size_t *len, size_t elem_size)
{
	void **array = array_ptr;
	size_t n = *len;

	/* The capacity is the next power of two, so it need not be stored. */
	if ((n & (n - 1)) == 0) {
		void *bigger = arena_alloc(arena, (n ? n * 2 : 1) * elem_size);

		if (n)
			memcpy(bigger, *array, n * elem_size);
		*array = bigger;
	}
	*len = n + 1;
	return (char *)*array + n * elem_size;
}

static void strv_take(struct arena *arena, struct strv *list, char *s)
{
	size_t slots = list->len ? list->len + 1 : 0;
	char **slot;

	/* The array always holds len + 1 slots, the last of them NULL. */
	if (!slots)
		arena_grow(arena, &list->v, &slots, sizeof(*list->v));
	slot = arena_grow(arena, &list->v, &slots, sizeof(*list->v));
	slot[-1] = s;
	slot[0] = NULL;
	list->len++;
}

void strv_add(struct arena *arena, struct strv *list, const char *s)
{
	strv_take(arena, list, arena_strdup(arena, s));
}

void strv_addf(struct arena *arena, struct strv *list, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strv_take(arena, list, arena_vprintf(arena, fmt, ap));
	va_end(ap);
}

bool strv_has(const struct strv *list, const char *s)
{
	for (size_t i = 0; i < list->len; i++)
		if (!strcmp(list->v[i], s))
			return true;
	return false;
}

int strv_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void strv_sort(struct strv *list)
{
	if (list->len)
		qsort(list->v, list->len, sizeof(*list->v), strv_order);
}

bool strv_has_sorted(const struct strv *list, const char *s)
{
	return list->len && bsearch(&s, list->v, list->len, sizeof(*list->v), strv_order);
}
