/* SPDX-License-Identifier: MIT */
/* Limits: what the probe claims on made-up hosts, which way is chosen and how it is described, what
 * the rlimits really do, and a systemd that lies. Real groups: tests/system/limits.sh. */
#include "os/linux/cgroup_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "../lib/tap.h"

#define MEM LIMIT_BIT(LIMIT_MEMORY)
#define PIDS LIMIT_BIT(LIMIT_PIDS)
#define CPUS LIMIT_BIT(LIMIT_CPUS)
#define GIB (1024ULL * 1024 * 1024)

static char top[] = "/tmp/test_cgroup.XXXXXX";

/* A made-up host: 'path=content' lines make files, a trailing '/' makes a directory; 'path!' takes
 * the right to write away. "%u" stands for our uid. */
static void make_host(const char *name, const char *const *lines)
{
	char line[512], cmd[2048];

	for (size_t i = 0; lines[i]; i++) {
		char *content;

		(void)snprintf(line, sizeof(line), "%s", lines[i]);
		content = strchr(line, '=');
		if (content)
			*content++ = '\0';
		if (line[strlen(line) - 1] == '!') {
			line[strlen(line) - 1] = '\0';
			(void)snprintf(cmd, sizeof(cmd), "cd %s/%s && chmod a-w \"%s\"", top, name,
				       line);
		} else {
			(void)snprintf(cmd, sizeof(cmd),
				       "mkdir -p %s/%s && cd %s/%s && p=\"%s\" && "
				       "mkdir -p \"$(dirname \"$p\")\" && "
				       "if [ \"${p%%/}\" = \"$p\" ]; then echo '%s' >\"$p\"; else "
				       "mkdir -p \"$p\" && :>\"$p/cgroup.procs\"; fi",
				       top, name, top, name, line, content ? content : "");
		}
		if (system(cmd) != 0)
			diag("failed: %s", cmd);
	}
}

static void probe(struct cgroup_facts *facts, const char *name, const char *proc)
{
	char root[256], runtime[256];

	(void)snprintf(root, sizeof(root), "%s/%s", top, name);
	(void)snprintf(runtime, sizeof(runtime), "%s/%s/run", top, name);
	cgroup_probe_in(facts, proc, root, runtime);
}

static void test_probe_desktop(void)
{
	static const char *const host[] = {
		"cgroup.controllers=cpu io memory pids",
		"u/app/term/",
		"u/app/term/cgroup.subtree_control=",
		"u/app/term/memory.max=104857600",
		"u/app/term/pids.max=max",
		"u/app/term/cpu.max=50000 100000",
		"u/app/cgroup.procs=",
		"u/app/memory.max=1",
		"u/app/cgroup.subtree_control=memory pids",
		"u/cgroup.procs=",
		"u/cgroup.subtree_control=cpu memory pids",
		NULL,
	};
	struct cgroup_facts facts;
	char want[256];

	make_host("desktop", host);
	probe(&facts, "desktop", "0::/u/app/term\n");
	(void)snprintf(want, sizeof(want), "%s/desktop/u/app", top);
	is_int(facts.layout, CGROUP_LAYOUT_V2, "desktop: version 2");
	is_int(facts.v2, MEM | PIDS, "desktop: memory and pids");
	is_str(facts.v2_dir, want, "desktop: the parent of our own group");
	is_int((long long)facts.ceiling.memory, 104857600,
	       "desktop: our group's memory goes along");
	is_int((long long)facts.ceiling.pids, 0, "desktop: 'max' is no ceiling");
	ok(facts.ceiling.cpus > 0.49 && facts.ceiling.cpus < 0.51, "desktop: half a processor");
	is_int(facts.systemd, 0, "desktop: no manager, no scope");

	probe(&facts, "desktop", "0::/../elsewhere\n");
	is_int(facts.v2, 0, "outside the namespace's root: nothing is claimed");
}

static void test_probe_login(void)
{
	static const char *const host[] = {
		"cgroup.controllers=cpu io memory pids",
		"run/systemd/private=",
		"user.slice/user-$(id -u).slice/user@$(id -u).service/cgroup.controllers=memory "
		"pids",
		"s/session/",
		"s/session/memory.max=1000",
		"s/session/cgroup.procs!",
		"s/cgroup.procs=",
		"s/cgroup.subtree_control=memory pids",
		"s/cgroup.procs!",
		"cgroup.procs=",
		"cgroup.procs!",
		NULL,
	};
	struct cgroup_facts facts;

	make_host("login", host);
	probe(&facts, "login", "0::/s/session\n");
	is_int(facts.v2, 0, "login: a writable directory with a root's cgroup.procs is no way");
	is_int(facts.systemd, MEM | PIDS, "login: the scope holds what the manager was given");
	is_int((long long)facts.ceiling.memory, 1000, "login: the session's ceiling goes along");
}

static void test_probe_hybrid(void)
{
	static const char *const host[] = {
		"memory/box/",
		"memory/box/cgroup.procs!",
		"pids/own/",
		"cpu/cgroup.procs=",
		"cpu/cgroup.procs!",
		"unified/cgroup.procs=",
		"memory/cgroup.procs=",
		"unified/cgroup.subtree_control=hugetlb",
		NULL,
	};
	static const char *const delegated[] = { "memory/wrapix.$(id -u)/", NULL };
	static const char proc[] = "9:name=systemd:/\n8:pids:/own\n4:memory:/box\n"
				   "2:cpu,cpuacct:/\n0::/\n";
	struct cgroup_facts facts;
	char want[256];

	make_host("hybrid", host);
	probe(&facts, "hybrid", proc);
	is_int(facts.layout, CGROUP_LAYOUT_V1, "hybrid: version 1 owns the controllers");
	is_int(facts.v2, 0, "hybrid: a version 2 with hugetlb alone holds nothing of ours");
	is_int(facts.v1, PIDS, "hybrid: only the writable group counts");

	make_host("hybrid", delegated);
	probe(&facts, "hybrid", proc);
	(void)snprintf(want, sizeof(want), "%s/hybrid/memory/wrapix.%u", top, (unsigned)geteuid());
	is_int(facts.v1, PIDS | MEM, "hybrid: with wrapix.UID for memory");
	is_str(facts.v1_dir[LIMIT_MEMORY], want, "hybrid: and there it is");
}

static void test_probe_odd(void)
{
	static const char *const odd[] = {
		"", "\n\n", "0", "0:", "0::", ":::", "nonsense", "0::/../..\n", "1:memory\n",
	};
	struct cgroup_facts facts;
	char text[4096];

	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		probe(&facts, "hybrid", odd[i]);
		ok(facts.v2 == 0 && facts.v1 == 0, "odd text %zu claims nothing", i);
	}
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text, "0::/", 4);
	probe(&facts, "desktop", text);
	is_int(facts.v2, 0, "a path that is too long is passed over");
	probe(&facts, "nowhere", "0::/\n");
	is_int(facts.layout, CGROUP_LAYOUT_NONE, "no cgroup file system is a fact too");
}

static void test_choose(void)
{
	static const struct {
		unsigned v2, v1, systemd, asked;
		bool patient;
		enum cgroup_kind want;
		const char *name;
	} rows[] = {
		{ MEM | PIDS, 0, 0, 0, false, CGROUP_V2, "defaults in a delegated group" },
		{ MEM | PIDS, 0, LIMIT_ALL, MEM, false, CGROUP_V2,
		  "the cheap way where it will do" },
		{ MEM | PIDS, 0, LIMIT_ALL, CPUS, false, CGROUP_SYSTEMD, "a scope for cpus" },
		{ LIMIT_ALL, 0, LIMIT_ALL, CPUS, false, CGROUP_SYSTEMD, "a scope keeps cpus" },
		{ LIMIT_ALL, 0, 0, CPUS, false, CGROUP_V2, "cpus without systemd" },
		{ MEM | PIDS, 0, MEM | PIDS, CPUS, false, CGROUP_V2, "cpus that nobody holds" },
		{ 0, 0, LIMIT_ALL, 0, false, CGROUP_NONE, "defaults are not worth a scope" },
		{ 0, 0, LIMIT_ALL, 0, true, CGROUP_SYSTEMD, "but in a long session they are" },
		{ 0, 0, LIMIT_ALL, PIDS, false, CGROUP_SYSTEMD, "what the user named is" },
		{ 0, LIMIT_ALL, 0, 0, false, CGROUP_V1, "version 1" },
		{ 0, MEM, MEM | PIDS, PIDS, false, CGROUP_SYSTEMD,
		  "version 1 without what was named" },
		{ 0, MEM, 0, PIDS, false, CGROUP_V1, "part of it is better than nothing" },
		{ 0, 0, 0, LIMIT_ALL, true, CGROUP_NONE, "nothing there" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cgroup_facts facts = { .v2 = rows[i].v2,
					      .v1 = rows[i].v1,
					      .systemd = rows[i].systemd };
		struct cgroup_limits limits = { .memory = GIB,
						.pids = 100,
						.cpus = rows[i].asked & CPUS ? 2 : 0,
						.asked = rows[i].asked,
						.patient = rows[i].patient };

		is_int(cgroup_choose(&facts, &limits), rows[i].want, "choice: %s", rows[i].name);
	}
}

static void test_describe(void)
{
	static const struct {
		unsigned v2, systemd, asked;
		uid_t uid;
		bool own, whole;
		enum limit limit;
		const char *want;
	} rows[] = {
		{ MEM, 0, MEM, 1, true, true, LIMIT_MEMORY,
		  "memory 1.5 GiB: cgroup v2 (whole sandbox)" },
		{ 0, MEM, MEM, 1, true, true, LIMIT_MEMORY,
		  "memory 1.5 GiB: systemd scope (whole sandbox)" },
		{ 0, 0, MEM, 1, true, false, LIMIT_MEMORY,
		  "memory 1.5 GiB: each process on its own (RLIMIT_DATA), not the whole sandbox" },
		{ 0, 0, 0, 1, true, false, LIMIT_MEMORY,
		  "memory: not limited (only a control group could)" },
		{ 0, MEM, 0, 1, true, false, LIMIT_MEMORY,
		  "memory: not limited (a limit you name would be, by a systemd scope)" },
		{ 0, 0, 0, 1, true, true, LIMIT_PIDS, "pids 100: RLIMIT_NPROC (whole sandbox)" },
		{ 0, 0, 0, 1, false, false, LIMIT_PIDS,
		  "pids 100: RLIMIT_NPROC, which counts all of this user's processes" },
		{ 0, 0, 0, 0, true, false, LIMIT_PIDS,
		  "pids: not limited (RLIMIT_NPROC does not bind root)" },
		{ 0, 0, 0, 1, true, true, LIMIT_CPUS, "cpus: no limit" },
		{ 0, 0, CPUS, 1, true, false, LIMIT_CPUS,
		  "cpus 1.5: affinity to whole processors, which a program inside can lift" },
		{ CPUS, 0, CPUS, 1, true, true, LIMIT_CPUS, "cpus 1.5: cgroup v2 (whole sandbox)" },
	};
	char text[256];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cgroup_facts facts = { .v2 = rows[i].v2,
					      .systemd = rows[i].systemd,
					      .uid = rows[i].uid,
					      .nproc_is_own = rows[i].own };
		struct cgroup_limits limits = { .memory = GIB + GIB / 2,
						.pids = 100,
						.cpus = rows[i].asked & CPUS ? 1.5 : 0,
						.asked = rows[i].asked };
		bool whole = cgroup_describe(&facts, &limits, rows[i].limit, text, sizeof(text));

		is_str(text, rows[i].want, "description %zu", i);
		is_int(whole, rows[i].whole, "and whether it is the whole sandbox");
	}
}

static void test_fix(void)
{
	static const struct {
		enum cgroup_layout layout;
		unsigned v2, v1, systemd;
		const char *socket;
		bool booted;
		const char *want;
	} rows[] = {
		{ CGROUP_LAYOUT_V2, LIMIT_ALL, 0, 0, "", true, "" },
		{ CGROUP_LAYOUT_V2, MEM | PIDS, 0, LIMIT_ALL, "/s", true, "" },
		{ CGROUP_LAYOUT_V2, 0, 0, MEM | PIDS, "/s", true,
		  "Delegate=cpu cpuset io memory pids" },
		{ CGROUP_LAYOUT_V2, 0, 0, 0, "", true, "sudo loginctl enable-linger 1234" },
		{ CGROUP_LAYOUT_V2, 0, 0, 0, "", false, "chown -R 1234 user.1234" },
		{ CGROUP_LAYOUT_V1, 0, MEM, 0, "", false, "/sys/fs/cgroup/$c/wrapix.1234" },
		{ CGROUP_LAYOUT_NONE, 0, 0, 0, "", false, "mount a cgroup2" },
	};
	char text[1024];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cgroup_facts facts = { .layout = rows[i].layout,
					      .v2 = rows[i].v2,
					      .v1 = rows[i].v1,
					      .systemd = rows[i].systemd,
					      .systemd_booted = rows[i].booted,
					      .uid = 1234 };

		(void)snprintf(facts.systemd_socket, sizeof(facts.systemd_socket), "%s",
			       rows[i].socket);
		cgroup_fix(&facts, text, sizeof(text));
		ok(rows[i].want[0] ? strstr(text, rows[i].want) != NULL : text[0] == '\0',
		   "fix %zu: '%s'", i, text);
	}
}

static void test_defaults(void)
{
	struct cgroup_facts facts = { .v2 = LIMIT_ALL, .ram = 4 * GIB };
	struct cgroup_limits limits = { .memory = GIB, .asked = MEM };

	cgroup_limits_default(&limits, &facts);
	is_int((long long)limits.memory, (long long)GIB, "what the user named stays");
	is_int((long long)limits.pids, 8192, "pids get a default");
	facts.ram = GIB;
	limits = (struct cgroup_limits){ 0 };
	cgroup_limits_default(&limits, &facts);
	is_int((long long)limits.pids, 4096, "smaller on a small machine");
	is_int((long long)limits.memory, (long long)(3 * GIB / 4), "memory: three quarters");
	ok(limits.cpus <= 0, "cpus get none");

	facts.ceiling = (struct cgroup_limits){ .memory = 1000, .pids = 10, .cpus = 0.5 };
	cgroup_limits_default(&limits, &facts);
	ok(limits.memory == 1000 && limits.pids == 10 && limits.cpus > 0.4 && limits.cpus < 0.6,
	   "a group elsewhere keeps the limits around us");

	facts.v2 = 0;
	limits = (struct cgroup_limits){ .memory = GIB, .asked = MEM };
	cgroup_limits_default(&limits, &facts);
	is_int((long long)limits.memory, (long long)GIB, "which bind anyhow when we stay inside");
}

/* In a child of its own user namespace, as the sandbox is. */
static int in_child(int (*run)(const void *), const void *arg)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER) == 0 ? run(arg) : 99);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int check_rlimits(const void *arg)
{
	const struct cgroup_facts facts = { .nproc_is_own = true };
	const struct cgroup_limits *limits = arg;
	struct rlimit core, data;
	struct err err = { 0 };
	int forked = 0;

	if (rlimits_apply(&facts, CGROUP_NONE, limits, &err) < 0)
		return 1;
	getrlimit(RLIMIT_CORE, &core);
	getrlimit(RLIMIT_DATA, &data);
	if (core.rlim_max != 0)
		return 2;
	if (limits->asked & MEM ? data.rlim_max != limits->memory : data.rlim_max == limits->memory)
		return 3;
	for (; forked < 100; forked++) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (pid == 0) {
			pause();
			_exit(0);
		}
	}
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	while (wait(NULL) > 0)
		;
	return forked == (int)limits->pids - 1 ? 0 : 4;
}

static int check_rlimits_alone(const void *arg)
{
	setsid();
	return check_rlimits(arg);
}

static int check_old_kernel(const void *arg)
{
	const struct cgroup_facts facts = { .nproc_is_own = false };
	struct rlimit nproc;
	struct err err = { 0 };

	if (rlimits_apply(&facts, CGROUP_NONE, arg, &err) < 0)
		return 1;
	getrlimit(RLIMIT_NPROC, &nproc);
	return nproc.rlim_max > 1000 ? 0 : 2;
}

static int check_behind_group(const void *arg)
{
	const struct cgroup_facts facts = { .nproc_is_own = true, .v2 = LIMIT_ALL };
	struct rlimit nproc, data;
	struct err err = { 0 };

	if (rlimits_apply(&facts, CGROUP_V2, arg, &err) < 0)
		return 1;
	getrlimit(RLIMIT_NPROC, &nproc);
	getrlimit(RLIMIT_DATA, &data);
	return nproc.rlim_max == 21 && data.rlim_max == RLIM_INFINITY ? 0 : 2;
}

static int check_affinity(const void *arg)
{
	const struct cgroup_facts facts = { .nproc_is_own = true };
	struct err err = { 0 };
	cpu_set_t set;

	if (rlimits_apply(&facts, CGROUP_NONE, arg, &err) < 0)
		return 1;
	sched_getaffinity(0, sizeof(set), &set);
	return CPU_COUNT(&set) == 1 ? 0 : 2;
}

static void test_rlimits(void)
{
	struct cgroup_limits limits = { .memory = GIB, .pids = 20, .asked = MEM };

	is_int(in_child(check_rlimits_alone, &limits), 0,
	       "20 processes of the sandbox alone, RLIMIT_DATA, no core dumps");
	is_int(in_child(check_behind_group, &limits), 0,
	       "a group leaves only RLIMIT_NPROC to do, one above its own");
	limits.asked = 0;
	is_int(in_child(check_rlimits_alone, &limits), 0, "a default does not become RLIMIT_DATA");
	is_int(in_child(check_old_kernel, &limits), 0, "on an old kernel 20 would stop the start");
	limits = (struct cgroup_limits){ .cpus = 0.5, .asked = CPUS };
	is_int(in_child(check_affinity, &limits), 0, "half a processor is an affinity to one");
}

/* A systemd of our own making: says what it is told and hangs up. */
struct lie {
	const char *name;
	const char *welcome;
	const char *bytes;
	size_t len;
	const char *want; /* in the error */
};

/* type, member, then the body: u32, string, string, string. */
static size_t make_signal(char *buf, const char *unit, const char *result)
{
	static const char head[] =
		"l\4\1\1\0\0\0\0\1\0\0\0\23\0\0\0\3\1s\0\n\0\0\0JobRemoved\0\0\0\0\0";
	const char *const strings[] = { "/job/1", unit, result };
	size_t len = 40;
	uint32_t body;

	memcpy(buf, head, 40);
	memcpy(buf + len, "\1\0\0\0", 4);
	len += 4;
	for (size_t i = 0; i < ARRAY_LEN(strings); i++) {
		uint32_t n = (uint32_t)strlen(strings[i]);

		memset(buf + len, 0, 4);
		len = (len + 3) & ~(size_t)3;
		memcpy(buf + len, &n, 4);
		memcpy(buf + len + 4, strings[i], n + 1);
		len += 4 + n + 1;
	}
	body = (uint32_t)(len - 40);
	memcpy(buf + 4, &body, 4);
	return len;
}

static void serve(int listener, const struct lie *lie)
{
	char buf[4096];
	int fd = accept(listener, NULL, NULL);

	/* The greeting and the call may come in pieces; the unit's name stands in the call. */
	for (size_t n = 0; n < sizeof(buf) && !memmem(buf, n, "TasksMax", 8);) {
		ssize_t r = read(fd, buf + n, sizeof(buf) - n);

		if (r <= 0)
			_exit(1);
		n += (size_t)r;
	}
	if (write(fd, lie->welcome, strlen(lie->welcome)) < 0 ||
	    write(fd, lie->bytes, lie->len) < 0)
		_exit(2);
	shutdown(fd, SHUT_WR);
	while (read(fd, buf, sizeof(buf)) > 0)
		;
	_exit(0);
}

static void try_lie(const struct lie *lie)
{
	struct cgroup cg = { .kind = CGROUP_SYSTEMD, .name = "wrapix-x" };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), r;
	struct err err = { 0 };
	pid_t pid;

	cg.limits = (struct cgroup_limits){ .memory = GIB, .pids = 10, .asked = MEM };
	(void)snprintf(cg.socket, sizeof(cg.socket), "%s/socket", top);
	memcpy(address.sun_path, cg.socket, sizeof(cg.socket));
	unlink(cg.socket);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(listener, 1) < 0) {
		ok(false, "a socket to lie on: %s", strerror(errno));
		return;
	}
	pid = fork();
	if (pid == 0)
		serve(listener, lie);
	close(listener);
	r = cgroup_enter(&cg, getpid(), &err);
	ok(r < 0 && strstr(err.msg, lie->want), "systemd %s: '%s'", lie->name, err.msg);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_systemd(void)
{
	static const char error[] = "l\3\1\1\10\0\0\0\1\0\0\0\0\0\0\0\3\0\0\0no!";
	static const char huge[] = "l\4\1\1\377\377\377\377\1\0\0\0\0\0\0\0";
	static const char torn[] = "l\4\1\1\0\0\0\0\1\0\0\0\20\0\0\0\3\1s\0\377\377\377\0JobRemov";
	static const char version[] = "l\4\1\7\0\0\0\0\1\0\0\0\0\0\0\0";
	/* A body of 20,000 bytes, more than we keep, and then the signal. */
	static char talk[20016 + 256] = "l\4\1\1\40\116\0\0\1\0\0\0\0\0\0\0";
	char failed[256], done[256], other[512];
	size_t len = make_signal(other, "else.scope", "done");
	size_t talk_len = 20016 + make_signal(talk + 20016, "wrapix-x.scope", "failed");
	const struct lie lies[] = {
		{ "hangs up", "OK 1\r\n", "", 0, "Connection reset" },
		{ "does not know us", "REJECTED EXTERNAL\r\n", "", 0, "Permission denied" },
		{ "refuses", "OK 1\r\n", error, sizeof(error),
		  "refused to start 'wrapix-x.scope': no!" },
		{ "sends too much", "OK 1\r\n", huge, sizeof(huge) - 1, "Bad message" },
		{ "sends a torn field", "OK 1\r\n", torn, sizeof(torn) - 1, "Bad message" },
		{ "speaks another version", "OK 1\r\n", version, sizeof(version) - 1,
		  "Bad message" },
		{ "cannot", "OK 1\r\n", failed, make_signal(failed, "wrapix-x.scope", "failed"),
		  "could not start 'wrapix-x.scope': failed" },
		{ "says done and did not", "OK 1\r\n", done,
		  make_signal(done, "wrapix-x.scope", "done"), "did not move process" },
		{ "speaks of another unit", "OK 1\r\n", other, len, "Connection reset" },
		{ "is talkative first", "OK 1\r\n", talk, talk_len,
		  "could not start 'wrapix-x.scope': failed" },
	};
	struct cgroup cg = { .kind = CGROUP_SYSTEMD, .name = "wrapix-x", .socket = "/nonexistent" };
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(lies); i++)
		try_lie(&lies[i]);
	is_int(cgroup_enter(&cg, getpid(), &err), -ENOENT, "no systemd: '%s'", err.msg);
}

static void test_create(void)
{
	struct cgroup_facts facts = { .v2 = LIMIT_ALL };
	struct cgroup_limits limits = { .memory = GIB, .pids = 10 };
	struct err err = { 0 };
	struct cgroup cg;

	(void)snprintf(facts.v2_dir, sizeof(facts.v2_dir), "%s/gone", top);
	ok(cgroup_create(&cg, &facts, CGROUP_V2, "a", &limits, &err) == -ENOENT,
	   "a directory that is gone: '%s'", err.msg);
	ok(cgroup_create(&cg, &facts, CGROUP_V2, "../a", &limits, &err) == -EINVAL,
	   "a name that is none: '%s'", err.msg);
	cgroup_remove(&cg);
	/* A plain directory has no control files: it must not be taken for a group. */
	(void)snprintf(facts.v2_dir, sizeof(facts.v2_dir), "%s", top);
	ok(cgroup_create(&cg, &facts, CGROUP_V2, "a", &limits, &err) < 0,
	   "a limit that cannot be set is an error: '%s'", err.msg);
	is_int(cgroup_fd(&cg), -1, "and leaves nothing open");
	ok(access(facts.v2_dir, F_OK) == 0, "nor the parent harmed");
}

int main(void)
{
	char cmd[64];

	if (!mkdtemp(top))
		return 1;
	/* Root may write everywhere and is not bound by RLIMIT_NPROC: go on as somebody else. */
	if (geteuid() == 0 &&
	    (chown(top, 65534, 65534) < 0 || setgid(65534) < 0 || setuid(65534) < 0))
		return 1;
	test_probe_desktop();
	test_probe_login();
	test_probe_hybrid();
	test_probe_odd();
	test_choose();
	test_describe();
	test_fix();
	test_defaults();
	test_create();
	test_systemd();
	test_rlimits();
	(void)snprintf(cmd, sizeof(cmd), "rm -rf %s", top);
	if (system(cmd) != 0)
		return 1;
	return done();
}
