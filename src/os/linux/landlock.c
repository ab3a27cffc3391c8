/* SPDX-License-Identifier: MIT */
/* Landlock by ABI: each step says what an older kernel lacks. */
#include "os/linux/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "os/fs.h"
#include "os/linux/compat.h"

#define FS_READ \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_ABI_1 (LANDLOCK_ACCESS_FS_MAKE_SYM * 2 - 1)
#define FS_OF_A_FILE                                                   \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |   \
	 LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE | \
	 LANDLOCK_ACCESS_FS_IOCTL_DEV)

int landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

bool landlock_handles_files(int abi)
{
	return abi >= 2;
}

bool landlock_has_scopes(int abi)
{
	return abi >= 6;
}

static struct landlock_ruleset handled_by(int abi, bool files, bool reads, bool guarded)
{
	struct landlock_ruleset all = {
		.fs = FS_ABI_1 | LANDLOCK_ACCESS_FS_REFER | LANDLOCK_ACCESS_FS_TRUNCATE |
		      LANDLOCK_ACCESS_FS_IOCTL_DEV,
		.scoped = LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL,
	};

	switch (abi) {
	case 0:
	case 1:
		/* Without REFER every rename between directories fails: the mounts stand alone. */
		all.fs = 0;
		_fallthrough_;
	case 2:
		/* truncate(2) is bounded by the mounts alone. */
		all.fs &= ~(__u64)LANDLOCK_ACCESS_FS_TRUNCATE;
		_fallthrough_;
	case 3:
	case 4:
		/* ioctl on devices is bounded by the few devices in /dev. */
		all.fs &= ~(__u64)LANDLOCK_ACCESS_FS_IOCTL_DEV;
		_fallthrough_;
	case 5:
		/* Signals are bounded by the pid namespace, abstract sockets by the network's. */
		all.scoped = 0;
		break;
	default:
		break;
	}
	if (!files)
		all.fs = 0;
	if (!reads)
		all.fs &= ~(__u64)FS_READ;
	/* Each open for reading would be asked whether the file may be cut off later. */
	if (!reads && guarded)
		all.fs &= ~(__u64)LANDLOCK_ACCESS_FS_TRUNCATE;
	return all;
}

static bool has_class(const struct landlock_rule *rules, size_t n, enum landlock_class class)
{
	for (size_t i = 0; i < n; i++)
		if (rules[i].class == class)
			return true;
	return false;
}

static __u64 rights_of(enum landlock_class class, __u64 handled)
{
	static const __u64 rights[] = {
		[LANDLOCK_READ] = FS_READ,
		[LANDLOCK_WRITE] = ~(__u64)LANDLOCK_ACCESS_FS_IOCTL_DEV,
		[LANDLOCK_DEV] = FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE |
				 LANDLOCK_ACCESS_FS_TRUNCATE | LANDLOCK_ACCESS_FS_IOCTL_DEV,
	};

	return rights[class] & handled;
}

static int add_rule(int ruleset, const struct landlock_rule *rule, __u64 handled, struct err *err)
{
	_cleanup_close_ int fd = os_openat2(AT_FDCWD, rule->path, O_PATH, 0,
					    rule->plain ? RESOLVE_NO_SYMLINKS : 0);
	struct landlock_path_beneath_attr attr = {
		.allowed_access = rights_of(rule->class, handled),
		.parent_fd = fd,
	};
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(err, fd < 0 ? -fd : errno, "Landlock rule for '%s'", rule->path);
	if (!S_ISDIR(st.st_mode))
		attr.allowed_access &= FS_OF_A_FILE;
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0)
		return err_errno(err, errno, "Landlock rule for '%s'", rule->path);
	return 0;
}

/* "/dev/stdout" is /proc/self/fd/1, and a file behind it lies in no tree of the sandbox's. */
static int add_standard_files(int ruleset, __u64 handled, struct err *err)
{
	static const __u64 rights[] = {
		[O_RDONLY] = LANDLOCK_ACCESS_FS_READ_FILE,
		[O_WRONLY] = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE,
		[O_RDWR] = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
			   LANDLOCK_ACCESS_FS_TRUNCATE,
	};

	for (int fd = 0; fd < 3; fd++) {
		struct landlock_path_beneath_attr attr = { .parent_fd = fd };
		int mode = fcntl(fd, F_GETFL);
		struct stat st;

		if (mode < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
		    (mode & O_ACCMODE) >= (int)ARRAY_LEN(rights))
			continue;
		attr.allowed_access = rights[mode & O_ACCMODE] & handled;
		if (!attr.allowed_access)
			continue; /* reading is free everywhere */
		/* EBADFD: a file of no file system, such as a memfd, needs no rule. */
		if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) <
			    0 &&
		    errno != EBADFD)
			return err_errno(err, errno, "Landlock rule for descriptor %d", fd);
	}
	return 0;
}

static int enter(int abi, const struct landlock_rule *rules, size_t n, bool guarded,
		 struct err *err)
{
	struct landlock_ruleset attr = handled_by(abi, n > 0, has_class(rules, n, LANDLOCK_READ),
						  guarded);
	size_t size = abi >= 6 ? sizeof(attr) : abi >= 4 ? 2 * sizeof(__u64) : sizeof(__u64);
	_cleanup_close_ int ruleset = -1;

	if (!attr.fs && !attr.scoped)
		return 0;
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
	if (ruleset < 0)
		return err_errno(err, errno, "creating the Landlock ruleset");
	for (size_t i = 0; attr.fs && i < n; i++) {
		int r = add_rule(ruleset, &rules[i], attr.fs, err);

		if (r < 0)
			return r;
	}
	if (attr.fs && add_standard_files(ruleset, attr.fs, err) < 0)
		return -err->code;
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return err_errno(err, errno, "entering the Landlock domain");
	return 0;
}

int landlock_restrict(int abi, const struct landlock_rule *rules, size_t n, struct err *err)
{
	return enter(abi, rules, n, false, err);
}

int landlock_restrict_guarded(int abi, const struct landlock_rule *rules, size_t n, struct err *err)
{
	return enter(abi, rules, n, true, err);
}
