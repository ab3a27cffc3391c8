/* SPDX-License-Identifier: MIT */
/* Saying no to a system call, and what it was about; see refused.h. */
#include "guard/refused.h"

#include <limits.h>
#include <string.h>

#include "guard/caller.h"
#include "os/linux/kernel.h"
#include "os/linux/seccomp.h"

#define TEXT_MAX 96 /* bytes shown of a string of the caller's */

/* How an argument is shown. */
enum shown { NUMBER = 1, HEX, MODE, TEXT, NAMESPACES, FAMILY, TYPE, REQUEST, COMMAND };

struct word {
	uint64_t value;
	const char *name;
};

static const struct word namespaces[] = {
	{ 0x00000080, "CLONE_NEWTIME" },   { 0x00020000, "CLONE_NEWNS" },
	{ 0x02000000, "CLONE_NEWCGROUP" }, { 0x04000000, "CLONE_NEWUTS" },
	{ 0x08000000, "CLONE_NEWIPC" },    { 0x10000000, "CLONE_NEWUSER" },
	{ 0x20000000, "CLONE_NEWPID" },    { 0x40000000, "CLONE_NEWNET" },
};

static const struct word families[] = {
	{ 2, "AF_INET" },       { 10, "AF_INET6" }, { 15, "AF_KEY" },   { 16, "AF_NETLINK" },
	{ 17, "AF_PACKET" },    { 21, "AF_RDS" },   { 29, "AF_CAN" },   { 30, "AF_TIPC" },
	{ 31, "AF_BLUETOOTH" }, { 38, "AF_ALG" },   { 40, "AF_VSOCK" }, { 41, "AF_KCM" },
	{ 42, "AF_QIPCRTR" },   { 43, "AF_SMC" },   { 44, "AF_XDP" },
};

static const struct word types[] = {
	{ 1, "SOCK_STREAM" }, { 2, "SOCK_DGRAM" },     { 3, "SOCK_RAW" },
	{ 4, "SOCK_RDM" },    { 5, "SOCK_SEQPACKET" }, { 10, "SOCK_PACKET" },
};

static const struct word requests[] = {
	{ 0x5412, "TIOCSTI" },
	{ 0x541c, "TIOCLINUX" },
	{ 0x541d, "TIOCCONS" },
	{ 0x5423, "TIOCSETD" },
	{ 0x40086602, "FS_IOC_SETFLAGS" },
	{ 0x40046602, "FS_IOC_SETFLAGS" },
	{ 0x401c5820, "FS_IOC_FSSETXATTR" },
	{ 0x40087602, "FS_IOC_SETVERSION" },
	{ 0x40047602, "FS_IOC_SETVERSION" },
	{ 0x40086604, "EXT4_IOC_SETVERSION" },
	{ 0x40046604, "EXT4_IOC_SETVERSION" },
	{ 0x6609, "EXT4_IOC_MIGRATE" },
	{ 0x40806685, "FS_IOC_ENABLE_VERITY" },
	{ 0x50009402, "BTRFS_IOC_DEFRAG" },
	{ 0x40309410, "BTRFS_IOC_DEFRAG_RANGE" },
	{ 0x4004f50d, "F2FS_IOC_SET_PIN_FILE" },
	{ 0x40047211, "FAT_IOCTL_SET_ATTRIBUTES" },
	{ 0xc0506617, "FS_IOC_ADD_ENCRYPTION_KEY" },
	{ 0xc0406618, "FS_IOC_REMOVE_ENCRYPTION_KEY" },
};

static const struct word commands[] = {
	{ 1024, "F_SETLEASE" },
	{ 1039, "F_SETDELEG" },
};

/* Of these calls these arguments; of others none. */
static const struct {
	const char *name;
	struct {
		uint8_t arg, shown;
	} args[3];
} calls[] = {
	{ "mount", { { 0, TEXT }, { 1, TEXT }, { 2, TEXT } } },
	{ "umount", { { 0, TEXT } } },
	{ "umount2", { { 0, TEXT } } },
	{ "pivot_root", { { 0, TEXT }, { 1, TEXT } } },
	{ "chroot", { { 0, TEXT } } },
	{ "fsopen", { { 0, TEXT } } },
	{ "fspick", { { 1, TEXT } } },
	{ "open_tree", { { 1, TEXT } } },
	{ "open_tree_attr", { { 1, TEXT } } },
	{ "move_mount", { { 1, TEXT }, { 3, TEXT } } },
	{ "mount_setattr", { { 1, TEXT } } },
	{ "swapon", { { 0, TEXT } } },
	{ "swapoff", { { 0, TEXT } } },
	{ "acct", { { 0, TEXT } } },
	{ "add_key", { { 0, TEXT }, { 1, TEXT } } },
	{ "request_key", { { 0, TEXT }, { 1, TEXT } } },
	{ "keyctl", { { 0, NUMBER } } },
	{ "bpf", { { 0, NUMBER } } },
	{ "syslog", { { 0, NUMBER } } },
	{ "personality", { { 0, HEX } } },
	{ "clone", { { 0, NAMESPACES } } },
	{ "unshare", { { 0, NAMESPACES } } },
	{ "setns", { { 1, NAMESPACES } } },
	{ "socket", { { 0, FAMILY }, { 1, TYPE }, { 2, NUMBER } } },
	{ "socketpair", { { 0, FAMILY }, { 1, TYPE } } },
	{ "ioctl", { { 1, REQUEST } } },
	{ "fcntl", { { 1, COMMAND } } },
	{ "fcntl64", { { 1, COMMAND } } },
	{ "chmod", { { 0, TEXT }, { 1, MODE } } },
	{ "fchmod", { { 0, NUMBER }, { 1, MODE } } },
	{ "fchmodat", { { 1, TEXT }, { 2, MODE } } },
	{ "fchmodat2", { { 1, TEXT }, { 2, MODE } } },
	{ "file_setattr", { { 1, TEXT } } },
};

static void add_flags(struct str *out, uint64_t value)
{
	size_t from = out->len;

	for (size_t i = 0; i < ARRAY_LEN(namespaces); i++)
		if (value & namespaces[i].value)
			str_addf(out, "%s%s", out->len > from ? "|" : "", namespaces[i].name);
	if (out->len == from)
		str_addf(out, "0x%llx", (unsigned long long)value);
}

static void add_word(struct str *out, const struct word *words, size_t n, uint64_t value)
{
	for (size_t i = 0; i < n; i++)
		if (words[i].value == value) {
			str_add(out, words[i].name);
			return;
		}
	str_addf(out, "%llu", (unsigned long long)value);
}

static void add_text(struct str *out, const struct seccomp_notif *call, uint64_t address)
{
	char text[PATH_MAX];
	int n = address ? caller_read_path(call, address, text) : -1;

	if (n < 0) {
		str_add(out, address ? "?" : "NULL");
		return;
	}
	if (n > TEXT_MAX)
		memcpy(text + TEXT_MAX, "...", 4);
	str_add(out, "\"");
	str_add_escaped(out, text);
	str_add(out, "\"");
}

static void add_arg(struct str *out, enum shown shown, const struct seccomp_notif *call,
		    uint64_t value)
{
	uint32_t low = (uint32_t)value; /* what the filter and the kernel look at */

	switch (shown) {
	case NUMBER:
		str_addf(out, "%u", low);
		break;
	case HEX:
		str_addf(out, "0x%x", low);
		break;
	case MODE:
		str_addf(out, "0%o", low);
		break;
	case TEXT:
		add_text(out, call, value);
		break;
	case NAMESPACES:
		add_flags(out, low);
		break;
	case FAMILY:
		add_word(out, families, ARRAY_LEN(families), low);
		break;
	case TYPE:
		add_word(out, types, ARRAY_LEN(types), low & 0xf);
		break;
	case REQUEST:
		add_word(out, requests, ARRAY_LEN(requests), low);
		break;
	case COMMAND:
		add_word(out, commands, ARRAY_LEN(commands), low);
		break;
	}
}

/* The arguments that matter. */
static void add_args(struct str *out, const char *name, const struct seccomp_notif *call)
{
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		if (strcmp(calls[i].name, name) != 0)
			continue;
		for (size_t k = 0; k < ARRAY_LEN(calls[i].args) && calls[i].args[k].shown; k++) {
			str_add(out, k ? ", " : "");
			add_arg(out, calls[i].args[k].shown, call,
				call->data.args[calls[i].args[k].arg]);
		}
	}
}

bool refused_by_mode(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].args[1].shown == MODE;
	return false;
}

int refused_call(void *ctx, const struct seccomp_notif *call)
{
	struct refused *r = ctx;
	int code = seccomp_judge(r->nested, &call->data);
	const struct seccomp_program *fragment = seccomp_refused(r->nested ? SECCOMP_NESTED : 0);
	const char *name = seccomp_call_name(fragment, call->data.arch, (uint32_t)call->data.nr);
	_cleanup_str_ struct str args = { 0 };

	if (!code)
		return NOTIFY_CONTINUE; /* another guest's question about the same call */
	if (name)
		add_args(&args, name, call);
	/* What was read was the caller's only if it is there still. */
	if (name && notify_is_valid(r->notify, call->id))
		r->fn(r->ctx, &(struct refused_call){
				      .name = name,
				      .args = args.s,
				      .reason = refused_by_mode(name) ? "setuid"
						: !r->nested && !seccomp_judge(true, &call->data)
							? "namespaces"
							: "system-call",
				      .pid = (pid_t)call->pid,
			      });
	return -code;
}
