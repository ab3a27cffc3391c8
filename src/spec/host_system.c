/* SPDX-License-Identifier: MIT */
/* What exists here of the system's own files that a sandbox may see or must not: tables of names. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>

#include "os/dir.h"
#include "spec/host_priv.h"

/* Directories at the top that hold programs and libraries, or links to where those are. */
static const char *const top_names[] = {
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store",
};

/* What programs need of /etc. Nothing here holds secrets on any system we know; a directory is
 * listed only where all of it is meant for everybody. */
static const char *const etc_names[] = {
	"/etc/alternatives",
	"/etc/bash.bashrc",
	"/etc/bash_completion.d",
	"/etc/ca-certificates/extracted", /* Arch: where /etc/ssl/certs leads */
	"/etc/crypto-policies",
	"/etc/debian_version",
	"/etc/default/locale",
	"/etc/emacs",
	"/etc/fonts",
	"/etc/gai.conf",
	"/etc/host.conf",
	"/etc/inputrc",
	"/etc/java-17-openjdk",
	"/etc/java-21-openjdk",
	"/etc/ld.so.cache",
	"/etc/locale.conf",
	"/etc/localtime",
	"/etc/lsb-release",
	"/etc/maven/m2.conf",
	"/etc/manpath.config",
	"/etc/mime.types",
	"/etc/nanorc",
	"/etc/os-release",
	"/etc/perl",
	"/etc/pki/ca-trust",
	"/etc/pki/tls/certs",
	"/etc/pki/tls/cert.pem",
	"/etc/pki/tls/openssl.cnf",
	"/etc/profile",

	"/etc/protocols",
	"/etc/python3",
	"/etc/redhat-release",
	"/etc/services",
	"/etc/shells",
	"/etc/ssl/cert.pem",
	"/etc/ssl/ca-bundle.pem",
	"/etc/ssl/certs",
	"/etc/ssl/openssl.cnf",
	"/etc/static", /* NixOS: where most of /etc leads */
	"/etc/terminfo",
	"/etc/timezone",
	"/etc/vim",
	"/etc/zsh",
};

static const char *const extra_names[] = {
	"/dev/null",
	"/dev/zero",
	"/dev/full",
	"/dev/random",
	"/dev/urandom",
	"/dev/tty",
	"/run/current-system",
	"/var/lib/ca-certificates",
	"/sys/devices/system/cpu",
	"/sys/devices/system/node",
};

/* Files of the kernel's in /proc: hidden, or (second column) left visible and made read-only. */
static const struct {
	const char *path;
	bool readonly;
} mask_names[] = {
	{ "/proc/sys", true },
	{ "/proc/irq", true },
	{ "/proc/bus", true },
	{ "/proc/fs", true },
	{ "/proc/sysrq-trigger", false },
	{ "/proc/kcore", false },
	{ "/proc/keys", false },
	{ "/proc/key-users", false },
	{ "/proc/kallsyms", false },
	{ "/proc/kpagecount", false },
	{ "/proc/kpageflags", false },
	{ "/proc/kpagecgroup", false },
	{ "/proc/timer_list", false },
	{ "/proc/sched_debug", false },
	{ "/proc/latency_stats", false },
	{ "/proc/acpi", false },
	{ "/proc/asound", false },
	{ "/proc/scsi", false },
	{ "/proc/config.gz", false },
	{ "/proc/modules", false },
};

struct path_fact *host_add_fact(struct host *host, struct path_facts *facts, const char *path,
				enum path_kind kind, const char *target)
{
	struct path_fact *fact = arena_grow(&host->arena, &facts->v, &facts->len, sizeof(*fact));

	*fact = (struct path_fact){
		.path = arena_strdup(&host->arena, path),
		.kind = kind,
		.target = arena_strdup(&host->arena, target),
	};
	return fact;
}

enum path_kind path_kind_of(const struct stat *st)
{
	return S_ISREG(st->st_mode)   ? PATH_FILE
	       : S_ISDIR(st->st_mode) ? PATH_DIR
	       : S_ISLNK(st->st_mode) ? PATH_LINK
				      : PATH_OTHER;
}

static void probe_top(struct host *host)
{
	for (size_t i = 0; i < ARRAY_LEN(top_names); i++) {
		char target[PATH_MAX];
		struct stat st;
		ssize_t n;

		if (lstat(top_names[i], &st) < 0)
			continue;
		if (!S_ISLNK(st.st_mode)) {
			host_add_fact(host, &host->top, top_names[i], path_kind_of(&st), NULL);
			continue;
		}
		n = readlink(top_names[i], target, sizeof(target) - 1);
		if (n > 0) {
			target[n] = '\0';
			host_add_fact(host, &host->top, top_names[i], PATH_LINK, target);
		}
	}
}

/* Adds what exists; a link is recorded by what it leads to. Unreadable files are left out. */
static void probe_names(struct host *host, struct path_facts *facts, const char *const *names,
			size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char real[PATH_MAX];
		struct stat st;

		if (lstat(names[i], &st) < 0)
			continue;
		if (!S_ISLNK(st.st_mode)) {
			host_add_fact(host, facts, names[i], path_kind_of(&st), NULL);
			continue;
		}
		if (realpath(names[i], real) && stat(real, &st) == 0)
			host_add_fact(host, facts, names[i], path_kind_of(&st), real);
	}
}

/* Root owns every file of the kernel's in /proc, and could change its mode for the whole host. */
static void probe_proc_as_root(struct host *host)
{
	_cleanup_dir_ DIR *dir = opendir("/proc");
	struct dirent *entry;

	while ((entry = os_dir_next(dir))) {
		char *path = arena_printf(&host->arena, "/proc/%s", entry->d_name);
		struct stat st;

		if (entry->d_name[0] == '.' || isdigit((unsigned char)entry->d_name[0]) ||
		    path_facts_find(&host->masks, path) || lstat(path, &st) < 0 ||
		    S_ISLNK(st.st_mode))
			continue;
		host_add_fact(host, &host->masks, path, path_kind_of(&st), "ro");
	}
}

void host_probe_masks(struct host *host)
{
	for (size_t i = 0; i < ARRAY_LEN(mask_names); i++) {
		struct stat st;

		/* What only root may open is closed to everybody else already. */
		if (lstat(mask_names[i].path, &st) == 0 &&
		    (host->uid == 0 || (st.st_mode & S_IRWXO)))
			host_add_fact(host, &host->masks, mask_names[i].path, path_kind_of(&st),
				      mask_names[i].readonly ? "ro" : NULL);
	}
	if (host->uid == 0)
		probe_proc_as_root(host);
}

void host_probe_system(struct host *host)
{
	probe_top(host);
	probe_names(host, &host->etc, etc_names, ARRAY_LEN(etc_names));
	probe_names(host, &host->extra, extra_names, ARRAY_LEN(extra_names));
	host_probe_masks(host);
}
