/* SPDX-License-Identifier: MIT */
/*
 * What the podman engine needs here. Asking podman itself costs a tenth of a start, so that its
 * version is remembered for as long as its file is the same one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"
#include "os/fs.h"
#include "os/proc.h"
#include "spec/host_priv.h"

/* "podman version 5.4.2" as 50402; 0: something else */
static unsigned parse_version(const char *text)
{
	unsigned major, minor, patch = 0;

	if (sscanf(text, "podman version %2u.%2u.%2u", &major, &minor, &patch) < 2)
		return 0;
	return major * 10000 + minor * 100 + patch;
}

/* Which file it is, in a line. */
static char *identify(struct arena *arena, const char *program)
{
	struct stat st;

	if (stat(program, &st) < 0)
		return NULL;
	return arena_printf(arena, "%s %llu %llu %lld.%09ld", program,
			    (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
			    (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

static unsigned ask_version(struct host *host)
{
	struct podman_facts *podman = &host->podman;
	char *argv[] = { podman->program, (char *)"--version", NULL };
	char *file = identify(&host->arena, podman->program);
	_cleanup_free_ char *known = NULL, *says = NULL;
	_cleanup_close_ int dir = -1;
	char *path = path_join(&host->arena, host->cache_home, "wrapix"), *line;
	size_t len = file ? strlen(file) : 0;
	struct err ignored; /* the next start asks again */
	unsigned version;

	if (os_read_file_at(AT_FDCWD, path_join(&host->arena, path, "podman"), 8192, &known,
			    NULL) == 0 &&
	    len && !strncmp(known, file, len) && known[len] == '\n')
		return parse_version(known + len + 1);
	if (os_capture(argv, "/", 4096, &says) != 0 || !says)
		return 0;
	version = parse_version(says);
	line = arena_printf(&host->arena, "%s\n%s", file ? file : "", says);
	if (version && len && os_mkdirs(path, 0700, &ignored) == 0)
		dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0)
		(void)os_write_file_atomic(dir, "podman", line, strlen(line), 0600, &ignored);
	return version;
}

/* "name:first:count" or "uid:first:count" */
static bool has_range(const char *text, const char *name, unsigned uid)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", uid);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		size_t len;

		line += *line == '\n';
		len = strcspn(line, ":");
		if ((len == strlen(name) && !strncmp(line, name, len)) ||
		    (len == strlen(number) && !strncmp(line, number, len)))
			return true;
	}
	return false;
}

bool host_has_subids(const struct host *host, const char *file)
{
	_cleanup_free_ char *text = NULL;

	return os_read_file_at(AT_FDCWD, file, 1 << 20, &text, NULL) == 0 &&
	       has_range(text, host->user, host->uid);
}

/* They may be kept by a directory service instead, which newuidmap then asks. */
static bool subids_elsewhere(void)
{
	_cleanup_free_ char *text = NULL;

	return os_read_file_at(AT_FDCWD, "/etc/nsswitch.conf", 1 << 16, &text, NULL) == 0 &&
	       (str_starts(text, "subid:") || strstr(text, "\nsubid:"));
}

static bool selinux_enforces(void)
{
	_cleanup_free_ char *text = NULL;

	return os_read_file_at(AT_FDCWD, "/sys/fs/selinux/enforce", 16, &text, NULL) == 0 &&
	       text[0] == '1';
}

/* The package podman-docker has a script of that name, others a link. */
static bool is_podman_itself(const char *program, const char *podman)
{
	_cleanup_free_ char *text = NULL;
	struct stat a, b;

	if (podman && stat(program, &a) == 0 && stat(podman, &b) == 0 && os_same_file(&a, &b))
		return true;
	return os_read_file_at(AT_FDCWD, program, 1 << 14, &text, NULL) == 0 &&
	       str_starts(text, "#!") && strstr(text, "podman");
}

static void probe_docker(char **environment, struct host *host)
{
	struct podman_facts *podman = &host->podman;
	const char *where = host_raw_env(environment, "DOCKER_HOST");
	const char *own = path_join(&host->arena, host->runtime_dir, "docker.sock");
	const char *path = "/var/run/docker.sock";
	struct stat st;

	if (podman->docker)
		podman->docker_shim = is_podman_itself(podman->docker, podman->program);
	if (where && !str_starts(where, "unix://")) {
		podman->socket = true; /* another machine's, which is the same to us */
		return;
	}
	if (where)
		path = where + strlen("unix://");
	else if (access(path, R_OK | W_OK) < 0 && access(own, R_OK | W_OK) == 0)
		path = own;
	podman->socket = access(path, R_OK | W_OK) == 0;
	podman->docker_own = podman->socket && stat(path, &st) == 0 && st.st_uid == host->uid &&
			     host->uid != 0;
}

static void probe_kvm(struct podman_facts *podman)
{
	struct stat st;

	podman->kvm_there = stat("/dev/kvm", &st) == 0;
	podman->kvm = access("/dev/kvm", R_OK | W_OK) == 0;
	podman->kvm_by_group = podman->kvm && (st.st_mode & 06) != 06 && st.st_uid != geteuid();
}

void host_probe_podman(char **environment, struct host *host)
{
	struct podman_facts *podman = &host->podman;
	const char *path = host_raw_env(environment, "PATH");
	const char *except = host->project.dir;
	struct arena *a = &host->arena;

	podman->program = os_find_program(a, "podman", path, except);
	podman->docker = os_find_program(a, "docker", path, except);
	probe_docker(environment, host);
	podman->newuidmap = os_find_program(a, "newuidmap", path, except);
	podman->krun = os_find_program(a, "krun", path, except);
	probe_kvm(podman);
	podman->subids = (host_has_subids(host, "/etc/subuid") &&
			  host_has_subids(host, "/etc/subgid")) ||
			 subids_elsewhere();
	podman->selinux = selinux_enforces();
	podman->init = host_find_own(host, "wrapix-init", "../engine/wrapix-init");
	podman->loader = host_find_own(host, "wrapix-image", "../cli/wrapix-image");
	if (podman->program)
		podman->version = ask_version(host);
}
