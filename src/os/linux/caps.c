/* SPDX-License-Identifier: MIT */
/* Capabilities: all of them gone, from every set. */
#include "os/linux/caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Those of the high word stay permitted, and are not in force. */
static int drop_but(uint32_t high, struct err *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2] = { { 0 }, { .permitted = high } };

	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return err_errno(err, errno, "emptying the ambient capabilities");
	if (syscall(SYS_capset, &header, sets) < 0)
		return err_errno(err, errno, "dropping capabilities");
	return 0;
}

int caps_drop_own(struct err *err)
{
	return drop_but(0, err);
}

static int drop_bounding(struct err *err)
{
	/* The kernel says EINVAL past its last capability. */
	for (int cap = 0; prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; cap++)
		;
	return errno == EINVAL ? 0 : err_errno(err, errno, "emptying the capability bounding set");
}

int caps_drop_all(struct err *err)
{
	int r = drop_bounding(err);

	return r < 0 ? r : caps_drop_own(err);
}

int caps_keep_token(struct err *err)
{
	int r = drop_bounding(err);

	return r < 0 ? r : drop_but(1U << (CAP_WAKE_ALARM - 32), err);
}

static const uint32_t root_caps = 1U << CAP_CHOWN | 1U << CAP_DAC_OVERRIDE | 1U << CAP_FOWNER |
				  1U << CAP_FSETID | 1U << CAP_KILL | 1U << CAP_SETGID |
				  1U << CAP_SETUID | 1U << CAP_NET_BIND_SERVICE |
				  1U << CAP_SYS_CHROOT;

int caps_keep_root(struct err *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2] = { { .permitted = root_caps,
						    .effective = root_caps } };

	/* The kernel says EINVAL past its last capability. */
	for (int cap = 0;; cap++)
		if ((cap >= 32 || !(root_caps & 1U << cap)) &&
		    prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			break;
	if (errno != EINVAL)
		return err_errno(err, errno, "reducing the capability bounding set");
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
	    syscall(SYS_capset, &header, sets) < 0)
		return err_errno(err, errno, "dropping capabilities");
	return 0;
}

#define SETFCAP (1U << CAP_SETFCAP)

int caps_keep_map_root(struct err *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2] = { { .permitted = SETFCAP } };

	if (syscall(SYS_capset, &header, sets) < 0)
		return err_errno(err, errno, "dropping capabilities");
	return 0;
}

/* The low word has them all. */
static bool raise_caps(uint32_t caps, bool on)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2];

	if (syscall(SYS_capget, &header, sets) < 0 || (sets[0].permitted & caps) != caps ||
	    (sets[0].effective & caps) != (on ? 0 : caps))
		return false;
	sets[0].effective ^= caps;
	return syscall(SYS_capset, &header, sets) == 0;
}

bool caps_raise_map_root(bool on)
{
	return raise_caps(SETFCAP, on);
}

bool caps_raise_files(bool on)
{
	return raise_caps(1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH, on);
}

/* A kernel without keyrings has nothing to leave. In a container, and inside another wrapix, a filter refuses it. */
int keyring_leave(struct err *err)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS &&
	    errno != EPERM)
		return err_errno(err, errno, "joining a new session keyring");
	return 0;
}
