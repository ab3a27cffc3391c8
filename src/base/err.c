/* SPDX-License-Identifier: MIT */
/* Errors: set, wrapped with context on the way up, and given a hint. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

_printf_(4, 0) static void fill(struct err *err, int code, int status, const char *fmt, va_list ap)
{
	err->code = code > 0 ? code : EIO;
	err->exit = status;
	err->hint[0] = '\0';
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(err, code, EXIT_WRAPIX, fmt, ap);
	va_end(ap);
	return -err->code;
}

/* What is to be done about it, whatever it was. */
static int hint_of(struct err *err)
{
	static const struct {
		int code;
		const char *hint;
	} hints[] = {
		{ ENOSYS, "wrapix needs Linux 5.12 or newer; in a container its seccomp profile "
			  "may refuse the call, and on WSL 1 there is no such kernel" },
		{ EMFILE, "a process may have as many files open as 'ulimit -n' says: raise it" },
		{ ENFILE, "all programs together have as many files open as there may be: "
			  "/proc/sys/fs/file-max" },
	};

	for (size_t i = 0; i < ARRAY_LEN(hints); i++)
		if (err->code == hints[i].code)
			return err_hint(err, "%s", hints[i].hint);
	return -err->code;
}

int err_errno(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;
	size_t len;

	va_start(ap, fmt);
	fill(err, code, EXIT_WRAPIX, fmt, ap);
	va_end(ap);
	len = strlen(err->msg);
	snprintf(err->msg + len, sizeof(err->msg) - len, ": %s", strerror(err->code));
	return hint_of(err);
}

int err_usage(struct err *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(err, EINVAL, EXIT_USAGE, fmt, ap);
	va_end(ap);
	return -err->code;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char old[sizeof(err->msg)];
	va_list ap;
	size_t len;

	memcpy(old, err->msg, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	len = strlen(err->msg);
	snprintf(err->msg + len, sizeof(err->msg) - len, ": %s", old);
	return -err->code;
}

int err_hint(struct err *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
	return -err->code;
}
