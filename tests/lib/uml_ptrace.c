/* SPDX-License-Identifier: MIT */
/* Preloaded into User Mode Linux on a processor with more registers than it knows: Linux 6.1's has room for 2,696 bytes
 * of them, and where a processor has AMX's tiles (11,008 bytes) the kernel takes none that are not whole, so that the
 * guest's first program ends in a panic. Here the rest is left out on the way to it and is zero on the way back: of
 * tiles nothing is lost, since a program has none before it asked the kernel for them. */
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

typedef long ptrace_fn(enum __ptrace_request request, pid_t pid, void *addr, void *data);

static struct {
	ptrace_fn *next;
	unsigned char bytes[1 << 16];
	size_t len; /* 0: nobody asked yet */
} state;

static long get_registers(pid_t pid, struct iovec *part)
{
	struct iovec whole = { state.bytes, sizeof(state.bytes) };
	long r = state.next(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &whole);

	if (r)
		return r;
	state.len = whole.iov_len;
	if (part->iov_len > whole.iov_len)
		part->iov_len = whole.iov_len;
	memcpy(part->iov_base, state.bytes, part->iov_len);
	return 0;
}

static long set_registers(pid_t pid, struct iovec *part)
{
	struct iovec whole = { state.bytes, state.len };

	if (part->iov_len >= state.len)
		return state.next(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, part);
	memset(state.bytes, 0, state.len);
	memcpy(state.bytes, part->iov_base, part->iov_len);
	return state.next(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, &whole);
}

__attribute__((visibility("default"))) long ptrace(enum __ptrace_request request, ...)
{
	va_list args;
	pid_t pid;
	void *addr, *data;

	va_start(args, request);
	pid = va_arg(args, pid_t);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	if (!state.next)
		state.next = (ptrace_fn *)dlsym(RTLD_NEXT, "ptrace");
	if (request == PTRACE_GETREGSET && addr == (void *)NT_X86_XSTATE)
		return get_registers(pid, data);
	if (request == PTRACE_SETREGSET && addr == (void *)NT_X86_XSTATE)
		return set_registers(pid, data);
	return state.next(request, pid, addr, data);
}
