/* SPDX-License-Identifier: MIT */
/*
 * Loads the system call filters that tools/seccomp-gen made from data/seccomp.
 *
 * A base decides: 'default' or 'nested'. Questions to the supervisor come after it, composed of a
 * fragment for every notify flag: where the base says 'allow' they begin. So a question can only be
 * asked about a call that the base allows, and the supervisor may let it go on without judging it
 * again. Fragments are strung together when loading, because a process tree may have one listener
 * only; adding one adds a row to the table below, not a variant of every program. What most sandboxes
 * have is there in one piece as well, which says the same and loads in half the time. Questions alone may
 * also be laid over a filter that there is: the kernel takes the stricter answer, and an errno is
 * stricter than a question, which is stricter than 'allow'.
 *
 * What is to be told of is refused by the supervisor: an errno leaves no trace. Then the base filter is
 * the 'weak' one, and what that lets through beyond the whole one is in the fragment of the questions.
 * The answer is the whole one's, run over the call's numbers here.
 *
 * The kernel remembers which calls a filter always allows, and does not run it for them.
 */
#include "os/linux/seccomp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the generated programs look at the low half of an argument where little endian has it"
#endif

/* Questions that are answered with a descriptor. */
#define SECCOMP_INJECTS (SECCOMP_NOTIFY_FILES | SECCOMP_NOTIFY_READS | SECCOMP_NOTIFY_CONNECT)

/* In the order in which a name is made of them. */
static const struct {
	unsigned flag;
	const char *name;
	const struct seccomp_program *fragment;
} notify_flags[] = {
	{ SECCOMP_NOTIFY_NET, "+notify-net", &seccomp_notify_net },
	{ SECCOMP_NOTIFY_FILES, "+notify-files", &seccomp_notify_files },
	{ SECCOMP_NOTIFY_WATCH, "+notify-watch", &seccomp_notify_files },
	{ SECCOMP_NOTIFY_READS, "+notify-reads", &seccomp_notify_reads },
	{ SECCOMP_NOTIFY_CONNECT, "+notify-connect", &seccomp_notify_connect },
	{ SECCOMP_NOTIFY_RENAME, "+notify-rename", &seccomp_notify_rename },
	{ SECCOMP_NOTIFY_REFUSED, "+notify-refused", NULL }, /* by SECCOMP_NESTED */
	{ SECCOMP_NOTIFY_MEMORY, "+notify-memory", &seccomp_notify_memory },
};

/* Made in one piece when building, with one search for the number of a call and not one for each fragment. */
#define MOST_HAVE (SECCOMP_NOTIFY_NET | SECCOMP_NOTIFY_FILES | SECCOMP_NOTIFY_REFUSED)
static const struct {
	unsigned flags;
	const struct seccomp_program *program;
} ready[] = {
	{ MOST_HAVE | SECCOMP_NOTIFY_CONNECT, &seccomp_whole_exec },
	{ MOST_HAVE | SECCOMP_NOTIFY_CONNECT | SECCOMP_NOTIFY_READS, &seccomp_whole_exec_reads },
	{ MOST_HAVE, &seccomp_whole_run },
	{ SECCOMP_NOTIFY_NET | SECCOMP_NOTIFY_WATCH | SECCOMP_NOTIFY_REFUSED,
	  &seccomp_whole_watch },
};

#define FLAGS_ALL (SECCOMP_NESTED | SECCOMP_NOTIFY | SECCOMP_ROOT)

static int set_filter(unsigned long how, const struct sock_filter *insns, unsigned len)
{
	struct sock_fprog prog = {
		.len = (unsigned short)len,
		.filter = (struct sock_filter *)insns, /* the kernel only reads it */
	};
	long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, how, &prog);

	return r < 0 ? -errno : (int)r;
}

/* A flag that the kernel knows gets as far as the missing program. */
static bool knows_flag(unsigned long how)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, how, NULL) < 0 && errno == EFAULT;
}

bool seccomp_is_on(void)
{
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0;
}

unsigned seccomp_features(void)
{
	unsigned has = 0;

	if (knows_flag(0))
		has |= SECCOMP_HAS_FILTER;
	if (knows_flag(SECCOMP_FILTER_FLAG_NEW_LISTENER))
		has |= SECCOMP_HAS_NOTIFY;
	if (knows_flag(SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV))
		has |= SECCOMP_HAS_WAIT_KILLABLE;
	return has;
}

const char *seccomp_call_name(const struct seccomp_program *fragment, uint32_t arch, uint32_t nr)
{
	for (const struct seccomp_call *call = fragment->calls; call && call->name; call++)
		if (call->arch == arch && call->nr == nr)
			return call->name;
	return NULL;
}

const struct seccomp_program *seccomp_refused(unsigned flags)
{
	return flags & SECCOMP_NESTED ? &seccomp_refused_nested : &seccomp_refused_default;
}

const char *seccomp_json(unsigned flags)
{
	if (flags & SECCOMP_NOTIFY_REFUSED)
		return flags & SECCOMP_NESTED ? seccomp_json_weak_nested
					      : seccomp_json_weak_default;
	return flags & SECCOMP_NESTED ? seccomp_json_nested : seccomp_json_default;
}

static const struct seccomp_program *base_program(unsigned flags)
{
	if (flags & SECCOMP_ROOT)
		return &seccomp_root;
	if (flags & SECCOMP_NOTIFY_REFUSED)
		return flags & SECCOMP_NESTED ? &seccomp_weak_nested : &seccomp_weak_default;
	return flags & SECCOMP_NESTED ? &seccomp_nested : &seccomp_default;
}

/* The kernel's own reading, of the instructions that tools/seccomp-emit.c makes. */
static uint32_t run(const struct seccomp_program *program, const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (size_t pc = 0; pc < program->len; pc++) {
		const struct sock_filter *i = &program->insns[pc];
		bool jumps = false;

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			memcpy(&a, (const char *)data + i->k, sizeof(a));
			continue;
		case BPF_RET | BPF_K:
			return i->k;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			continue;
		case BPF_JMP | BPF_JEQ | BPF_K:
			jumps = a == i->k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			jumps = a >= i->k;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			jumps = a & i->k;
			break;
		default:
			return SECCOMP_RET_KILL_PROCESS;
		}
		pc += jumps ? i->jt : i->jf;
	}
	return SECCOMP_RET_KILL_PROCESS;
}

int seccomp_judge(bool nested, const struct seccomp_data *data)
{
	uint32_t action = run(base_program(nested ? SECCOMP_NESTED : 0), data);

	if (action == SECCOMP_RET_ALLOW)
		return 0;
	return (action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO
		       ? (int)(action & SECCOMP_RET_DATA)
		       : ENOSYS;
}

unsigned seccomp_compose(unsigned flags, struct sock_filter *insns)
{
	unsigned n = 0;

	for (size_t i = 0; i < ARRAY_LEN(notify_flags); i++) {
		const struct seccomp_program *f = notify_flags[i].fragment;

		if (!(flags & notify_flags[i].flag))
			continue;
		if (!f)
			f = seccomp_refused(flags);
		if (n + f->len >= SECCOMP_COMPOSED_MAX)
			return 0; /* the caller refuses: it asked for questions and gets no filter */
		memcpy(&insns[n], f->insns, f->len * sizeof(insns[0]));
		n += f->len;
	}
	if (n > 0)
		insns[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return n;
}

/* Where the base allows a call, the questions come. */
unsigned seccomp_whole(unsigned flags, struct sock_filter *insns)
{
	const struct seccomp_program *base = base_program(flags);
	unsigned n = base->len, more;

	for (size_t i = 0; i < ARRAY_LEN(ready); i++)
		if (ready[i].flags == flags && ready[i].program->len <= SECCOMP_WHOLE_MAX) {
			n = ready[i].program->len;
			memcpy(insns, ready[i].program->insns, n * sizeof(insns[0]));
			return n;
		}
	if (n > SECCOMP_WHOLE_MAX - SECCOMP_COMPOSED_MAX)
		return 0;
	memcpy(insns, base->insns, n * sizeof(insns[0]));
	more = seccomp_compose(flags, insns + n);
	if (!more)
		return flags & SECCOMP_NOTIFY ? 0 : n;
	for (unsigned i = 0; i < n; i++)
		if (insns[i].code == (BPF_RET | BPF_K) && insns[i].k == SECCOMP_RET_ALLOW)
			insns[i] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, n - i - 1);
	return n + more;
}

static int set_asking(const struct sock_filter *insns, unsigned n, int *ret_listener,
		      struct err *err)
{
	unsigned long how = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	int fd;

	if (n == 0)
		return err_set(err, E2BIG, "seccomp: the filter for questions is too long");
	if (knows_flag(how | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV))
		how |= SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	fd = set_filter(how, insns, n);
	if (fd == -EBUSY) {
		err_errno(err, EBUSY, "loading the seccomp filter that asks the supervisor");
		return err_hint(err, "a seccomp listener is already watching this process tree");
	}
	if (fd < 0)
		return err_errno(err, -fd, "loading the seccomp filter that asks the supervisor");
	*ret_listener = fd; /* the kernel makes it close-on-exec */
	return 0;
}

/* Of a call that nobody asked about: a kernel that can do it says that there is none. */
static bool can_inject(int listener)
{
	struct seccomp_notif_addfd add = { .flags = SECCOMP_ADDFD_FLAG_SEND,
					   .srcfd = (uint32_t)listener };

	return ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0 && errno == ENOENT;
}

static int check_listener(unsigned flags, int *listener, struct err *err)
{
	if (!(flags & SECCOMP_INJECTS) || can_inject(*listener))
		return 0;
	close_ptr(listener);
	err_set(err, ENOSYS, "this kernel's supervisors cannot open files for a command");
	return err_hint(err, "file rules by name need Linux 5.14 or newer "
			     "(SECCOMP_ADDFD_FLAG_SEND)");
}

int seccomp_load_notify(unsigned flags, int *ret_listener, struct err *err)
{
	struct sock_filter insns[SECCOMP_COMPOSED_MAX];

	return set_asking(insns, seccomp_compose(flags, insns), ret_listener, err);
}

int seccomp_load_base(unsigned flags, struct err *err)
{
	const struct seccomp_program *base = base_program(flags);
	int r = set_filter(0, base->insns, base->len);

	if (r < 0)
		err_errno(err, -r, "loading the seccomp filter");
	if (r == -ENOSYS)
		return err_hint(err,
				"a kernel with CONFIG_SECCOMP_FILTER, outside of sandboxes that "
				"refuse seccomp(2)");
	return r;
}

int seccomp_load(unsigned flags, int *ret_listener, struct err *err)
{
	struct sock_filter insns[SECCOMP_WHOLE_MAX];
	int r;

	if (flags & ~(unsigned)FLAGS_ALL)
		return err_set(err, EINVAL, "seccomp: unknown flags 0x%x", flags);
	if (!(flags & SECCOMP_NOTIFY))
		return seccomp_load_base(flags, err);
	if (!ret_listener)
		return err_set(err, EINVAL, "seccomp: nobody to ask");
	/* One, since most of what a filter takes to load is the same for a short and for a long one. */
	r = set_asking(insns, seccomp_whole(flags, insns), ret_listener, err);
	return r < 0 ? r : check_listener(flags, ret_listener, err);
}

/* The flag of a filter that decides, and its name. */
static const struct {
	unsigned flag;
	const char *name;
} bases[] = { { SECCOMP_ROOT, "root" }, { SECCOMP_NESTED, "nested" }, { 0, "default" } };

const char *seccomp_describe(unsigned flags)
{
	static char names[FLAGS_ALL + 1][144];
	char *name;

	flags &= FLAGS_ALL;
	name = names[flags];
	for (size_t i = 0; !*name && i < ARRAY_LEN(bases); i++)
		if ((flags & bases[i].flag) == bases[i].flag)
			snprintf(name, sizeof(names[0]), "%s", bases[i].name);
	if (strchr(name, '+'))
		return name;
	for (size_t i = 0; i < ARRAY_LEN(notify_flags); i++)
		if (flags & notify_flags[i].flag)
			strncat(name, notify_flags[i].name, sizeof(names[0]) - strlen(name) - 1);
	return name;
}

/* What follows the word, where the text begins with it. */
static const char *after(const char *text, const char *word)
{
	size_t len = strlen(word);

	return strncmp(text, word, len) == 0 && (!text[len] || text[len] == '+') ? text + len
										 : NULL;
}

bool seccomp_find(const char *name, unsigned *ret_flags)
{
	const char *rest = NULL;
	unsigned flags = 0;

	for (size_t i = 0; !rest && i < ARRAY_LEN(bases); i++) {
		rest = after(name, bases[i].name);
		flags = bases[i].flag;
	}
	for (size_t i = 0; rest && i < ARRAY_LEN(notify_flags); i++) {
		const char *next = after(rest, notify_flags[i].name);

		flags |= next ? notify_flags[i].flag : 0;
		rest = next ? next : rest;
	}
	if (!rest || *rest)
		return false;
	*ret_flags = flags;
	return true;
}
