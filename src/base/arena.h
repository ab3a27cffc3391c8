/* SPDX-License-Identifier: MIT */
/*
 * An arena: every string of a spec or a plan lives in one, and one call frees it all.
 * Allocation cannot fail from the caller's view: without memory the process ends (fail closed).
 */
#pragma once

#include <stdarg.h>

#include "base/util.h"

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
};

void *arena_alloc(struct arena *arena, size_t size); /* zeroed, aligned for anything */
char *arena_strdup(struct arena *arena, const char *s);
char *arena_strndup(struct arena *arena, const char *s, size_t len);
char *arena_printf(struct arena *arena, const char *fmt, ...) _printf_(2, 3);
char *arena_vprintf(struct arena *arena, const char *fmt, va_list ap) _printf_(2, 0);
void arena_release(struct arena *arena);

/* Makes room for one more element in an array that lives in the arena; returns the new element. */
void *arena_grow(struct arena *arena, void *array_ptr, size_t *len, size_t elem_size);

/* Appends to a NULL-terminated list of strings (a copy of s). */
struct strv {
	char **v; /* NULL-terminated once anything was added */
	size_t len;
};
void strv_add(struct arena *arena, struct strv *list, const char *s);
void strv_addf(struct arena *arena, struct strv *list, const char *fmt, ...) _printf_(3, 4);
bool strv_has(const struct strv *list, const char *s);
/* In the order of their bytes; and whether one that is sorted so has it. */
void strv_sort(struct strv *list);
bool strv_has_sorted(const struct strv *list, const char *s);
/* For qsort() and bsearch() of strings, in that order. */
int strv_order(const void *a, const void *b);
