/* SPDX-License-Identifier: MIT */
/*
 * The error that travels up: flat and of fixed size, so that a child can write it whole into the
 * status pipe and the parent prints the same words.
 *
 * Functions that can fail return 0 or a negative errno and take 'struct err *err' last. Each call
 * below returns that negative errno, so that a failure is one line: 'return err_errno(err, ...)'.
 */
#pragma once

#include "base/util.h"

enum exit_code {
	EXIT_USAGE = 2,    /* the command line or a configuration file is wrong */
	EXIT_WRAPIX = 125, /* wrapix itself failed */
	EXIT_NOEXEC = 126, /* the command was found and cannot be executed */
	EXIT_NOTFOUND = 127,
};

struct err {
	int code;       /* positive errno; 0 when unset */
	int exit;       /* the exit status it leads to, an enum exit_code */
	char msg[768];  /* what was being done, to what, why it failed */
	char hint[512]; /* what the user can type next; may be empty */
};

/* "ENOENT"; NULL for a number that has no name here. */
const char *err_name(int code);

/* A failure of ours with its own words; leads to EXIT_WRAPIX. */
int err_set(struct err *err, int code, const char *fmt, ...) _printf_(3, 4);

/* A failed system call: appends ": strerror(code)". A call that the kernel lacks gets a hint, too. */
int err_errno(struct err *err, int code, const char *fmt, ...) _printf_(3, 4);

/* A mistake of the user's: EINVAL and EXIT_USAGE. */
int err_usage(struct err *err, const char *fmt, ...) _printf_(2, 3);

/* Puts "what: " before the message that is there; keeps the hint. */
int err_wrap(struct err *err, const char *fmt, ...) _printf_(2, 3);

/* Sets the hint. */
int err_hint(struct err *err, const char *fmt, ...) _printf_(2, 3);
