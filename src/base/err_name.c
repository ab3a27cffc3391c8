/* SPDX-License-Identifier: MIT */
/* Names of errors: GNU's strerrorname_np() is in no other C library. */
#include <errno.h>

#include "base/err.h"

#define NAMED(code)         \
	{                   \
		code, #code \
	}

static const struct {
	int code;
	const char *name;
} names[] = {
	NAMED(E2BIG),        NAMED(EACCES),       NAMED(EADDRINUSE),      NAMED(EADDRNOTAVAIL),
	NAMED(EAFNOSUPPORT), NAMED(EAGAIN),       NAMED(EALREADY),        NAMED(EBADF),
	NAMED(EBADMSG),      NAMED(EBUSY),        NAMED(ECANCELED),       NAMED(ECHILD),
	NAMED(ECONNABORTED), NAMED(ECONNREFUSED), NAMED(ECONNRESET),      NAMED(EDEADLK),
	NAMED(EDESTADDRREQ), NAMED(EDOM),         NAMED(EDQUOT),          NAMED(EEXIST),
	NAMED(EFAULT),       NAMED(EFBIG),        NAMED(EHOSTDOWN),       NAMED(EHOSTUNREACH),
	NAMED(EIDRM),        NAMED(EILSEQ),       NAMED(EINPROGRESS),     NAMED(EINTR),
	NAMED(EINVAL),       NAMED(EIO),          NAMED(EISCONN),         NAMED(EISDIR),
	NAMED(ELOOP),        NAMED(EMFILE),       NAMED(EMLINK),          NAMED(EMSGSIZE),
	NAMED(EMULTIHOP),    NAMED(ENAMETOOLONG), NAMED(ENETDOWN),        NAMED(ENETRESET),
	NAMED(ENETUNREACH),  NAMED(ENFILE),       NAMED(ENOBUFS),         NAMED(ENODATA),
	NAMED(ENODEV),       NAMED(ENOENT),       NAMED(ENOEXEC),         NAMED(ENOLCK),
	NAMED(ENOLINK),      NAMED(ENOMEM),       NAMED(ENOMSG),          NAMED(ENOPROTOOPT),
	NAMED(ENOSPC),       NAMED(ENOSYS),       NAMED(ENOTBLK),         NAMED(ENOTCONN),
	NAMED(ENOTDIR),      NAMED(ENOTEMPTY),    NAMED(ENOTSOCK),        NAMED(ENOTTY),
	NAMED(ENXIO),        NAMED(EOPNOTSUPP),   NAMED(EOVERFLOW),       NAMED(EPERM),
	NAMED(EPIPE),        NAMED(EPROTO),       NAMED(EPROTONOSUPPORT), NAMED(EPROTOTYPE),
	NAMED(ERANGE),       NAMED(EROFS),        NAMED(ESRCH),           NAMED(ESTALE),
	NAMED(ETIME),        NAMED(ETIMEDOUT),    NAMED(ETXTBSY),         NAMED(EUSERS),
	NAMED(EXDEV),
#ifdef __linux__
	NAMED(ECHRNG),       NAMED(EKEYEXPIRED),  NAMED(EKEYREJECTED),    NAMED(EKEYREVOKED),
	NAMED(ENOKEY),       NAMED(ENOMEDIUM),    NAMED(EREMOTEIO),       NAMED(ERESTART),
	NAMED(ESHUTDOWN),    NAMED(EUCLEAN),
#endif
};

const char *err_name(int code)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (names[i].code == code)
			return names[i].name;
	return NULL;
}
