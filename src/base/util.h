/* SPDX-License-Identifier: MIT */
/* Small things every file needs: cleanup attributes, array length, stealing a descriptor. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _printf_(a, b) __attribute__((format(printf, a, b)))
#define _unused_ __attribute__((unused))
#define _fallthrough_ __attribute__((fallthrough))

/* What holds here, for an analyzer that reads one file and cannot see why; no code is made of it. */
#ifdef __clang_analyzer__
#define known(x) ((x) ? (void)0 : __builtin_unreachable())
#else
#define known(x) ((void)0)
#endif

/* The digit's value; -1 for what is none. */
static inline int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Four bytes, the highest first. */
static inline uint32_t load_be32(const void *bytes)
{
	const unsigned char *p = bytes;

	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Afterwards it is -1: the number may be another file's by now. */
static inline void close_ptr(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static inline void free_ptr(void *p)
{
	free(*(void **)p);
}

static inline void fclose_ptr(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define _cleanup_close_ _cleanup_(close_ptr)
#define _cleanup_free_ _cleanup_(free_ptr)
#define _cleanup_fclose_ _cleanup_(fclose_ptr)

/* Hands the descriptor over to the caller and disarms its cleanup. */
static inline int take_fd(int *fd)
{
	int ret = *fd;

	*fd = -1;
	return ret;
}

/* Hands the pointer over to the caller and disarms its cleanup. */
#define TAKE_PTR(p)                  \
	({                           \
		typeof(p) _p_ = (p); \
		(p) = NULL;          \
		_p_;                 \
	})
