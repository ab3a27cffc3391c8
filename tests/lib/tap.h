/* SPDX-License-Identifier: MIT */
/*
 * TAP for tests in C, small enough to be a header: ok(), is_int(), is_str(), then 'return done()'.
 *
 * Standard output belongs to TAP; it is flushed after every line, so that a forked child does not
 * print the parent's lines again. A child leaves with _exit().
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count;
static int tap_failed;

/* A name may hold anything: what would end the line or start a directive is written as '?'. */
__attribute__((format(printf, 1, 0))) static inline void tap_name(const char *fmt, va_list ap)
{
	char name[512];

	(void)vsnprintf(name, sizeof(name), fmt, ap);
	for (char *p = name; *p; p++)
		putchar(*p == '#' || (unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p);
	putchar('\n');
	fflush(stdout);
}

__attribute__((format(printf, 2, 0))) static inline bool tap_result(bool cond, const char *fmt,
								    va_list ap)
{
	tap_count++;
	if (!cond)
		tap_failed++;
	printf("%s %d - ", cond ? "ok" : "not ok", tap_count);
	tap_name(fmt, ap);
	return cond;
}

/* A line for the reader, after the result it explains. */
__attribute__((format(printf, 1, 2))) static inline void diag(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	tap_name(fmt, ap);
	va_end(ap);
}

__attribute__((format(printf, 2, 3))) static inline bool ok(bool cond, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap_result(cond, fmt, ap);
	va_end(ap);
	return cond;
}

__attribute__((format(printf, 3, 4))) static inline bool is_int(long long got, long long want,
								const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap_result(got == want, fmt, ap);
	va_end(ap);
	if (got != want)
		diag("got %lld, wanted %lld", got, want);
	return got == want;
}

/* NULL equals NULL and nothing else. */
__attribute__((format(printf, 3, 4))) static inline bool is_str(const char *got, const char *want,
								const char *fmt, ...)
{
	bool same = got && want ? strcmp(got, want) == 0 : got == want;
	va_list ap;

	va_start(ap, fmt);
	tap_result(same, fmt, ap);
	va_end(ap);
	if (!same) {
		diag("got    %s", got ? got : "(null)");
		diag("wanted %s", want ? want : "(null)");
	}
	return same;
}

/*
 * A check that cannot be made here. Where everything must run (WRAPIX_TESTS_MUST_RUN=1) that is a
 * failure, so that a skip hides nothing in CI.
 */
static inline void skip(const char *what, const char *why)
{
	const char *must = getenv("WRAPIX_TESTS_MUST_RUN");

	if (must && strcmp(must, "1") == 0) {
		ok(false, "%s", what);
		diag("cannot run here: %s", why);
		return;
	}
	printf("ok %d - %s # SKIP %s\n", ++tap_count, what, why);
	fflush(stdout);
}

/* Prints the plan and returns main's exit status. A test without a check is a failure. */
static inline int done(void)
{
	printf("1..%d\n", tap_count);
	fflush(stdout);
	return tap_count == 0 || tap_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
