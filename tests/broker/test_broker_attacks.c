/* SPDX-License-Identifier: MIT */
/*
 * Ways round the broker: what it was shown is changed while it looks. Each attack runs for a while
 * and also counts what it may do, so that it is known to have run; then the tree is looked at.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "brokered.h"
#include "lib/tap.h"
#include "os/linux/seccomp.h"

#define SECONDS 1.0

/* Shared with the processes inside. */
static struct {
	atomic_int done, failed, odd;
	atomic_bool stop;
	union {
		char text[64];
		_Atomic uint32_t first;
	} path;
} * shared;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int put(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

/* Calls until the time is over and counts what went well. */
static void keep_calling(int (*call)(void))
{
	double end = now() + SECONDS;

	while (now() < end)
		atomic_fetch_add(call() == 0 ? &shared->done : &shared->failed, 1);
	shared->stop = true;
}

static void start(pthread_t *thread, void *(*fn)(void *))
{
	shared->stop = false;
	if (pthread_create(thread, NULL, fn, NULL) != 0)
		_exit(90);
}

/* ------------------------------------------------------------------ the path's text */

static void *flip_text(void *arg)
{
	(void)arg;
	while (!shared->stop) {
		atomic_store(&shared->path.first, *(const uint32_t *)"ok/s");
		atomic_store(&shared->path.first, *(const uint32_t *)".cla");
	}
	return NULL;
}

static int open_text(void)
{
	return put(shared->path.text);
}

static int mkdir_text(void)
{
	return mkdir(shared->path.text, 0700) == 0 || errno == EEXIST ? 0 : -1;
}

static int rename_text(void)
{
	return put("source") == 0 ? rename("source", shared->path.text) : -1;
}

static int race_text(int (*call)(void), const char *rest)
{
	pthread_t thread;

	if (mkdir("ok", 0700) < 0 || mkdir("ok/sude", 0700) < 0 || mkdir(".claude", 0700) < 0)
		return 1;
	/* Its first four bytes become those of "ok/sude" and back. */
	snprintf(shared->path.text, sizeof(shared->path.text), ".claude/%s", rest);
	start(&thread, flip_text);
	keep_calling(call);
	pthread_join(thread, NULL);
	return 0;
}

static int race_open(void *ctx)
{
	(void)ctx;
	return race_text(open_text, "settings.json");
}

static int race_mkdir(void *ctx)
{
	(void)ctx;
	return race_text(mkdir_text, "commands");
}

static int race_rename(void *ctx)
{
	(void)ctx;
	return race_text(rename_text, "settings.json");
}

/* ------------------------------------------------------------------ links, descriptors, cwd */

static int open_through(void)
{
	return put("p/settings.json");
}

/* Another process turns the link: each turn is a change that the broker makes. */
static int race_link(void *ctx)
{
	pid_t child;

	(void)ctx;
	if (mkdir("ok", 0700) < 0 || mkdir(".claude", 0700) < 0 || symlink("ok", "p") < 0)
		return 1;
	child = fork();
	if (child == 0) {
		for (int i = 0; !shared->stop; i++) {
			if (symlink(i % 2 ? "ok" : ".claude", "q") < 0 || rename("q", "p") < 0)
				_exit(1);
		}
		_exit(0);
	}
	keep_calling(open_through);
	waitpid(child, NULL, 0);
	return 0;
}

static void *flip_fd(void *arg)
{
	int good = open("ok", O_PATH), bad = open(".claude", O_PATH);

	(void)arg;
	while (!shared->stop) {
		dup2(good, 77);
		dup2(bad, 77);
	}
	return NULL;
}

static int open_at(void)
{
	int fd = openat(77, "settings.json", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 ? -1 : close(fd);
}

static int race_fd(void *ctx)
{
	pthread_t thread;

	(void)ctx;
	if (mkdir("ok", 0700) < 0 || mkdir(".claude", 0700) < 0)
		return 1;
	start(&thread, flip_fd);
	keep_calling(open_at);
	pthread_join(thread, NULL);
	return 0;
}

static void *flip_cwd(void *arg)
{
	(void)arg;
	while (!shared->stop)
		if (chdir("ok") < 0 || chdir("../.claude") < 0 || chdir("..") < 0)
			break;
	return NULL;
}

static int open_here(void)
{
	return put("settings.json");
}

static int race_cwd(void *ctx)
{
	pthread_t thread;

	(void)ctx;
	if (mkdir("ok", 0700) < 0 || mkdir(".claude", 0700) < 0)
		return 1;
	start(&thread, flip_cwd);
	keep_calling(open_here);
	pthread_join(thread, NULL);
	return 0;
}

/* ------------------------------------------------------------------ signals, threads, deaths */

static void on_signal(int signal_no)
{
	(void)signal_no;
}

static int storm(void *ctx)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct itimerval every = { { 0, 100 }, { 0, 100 } };

	(void)ctx;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 3000; i++) {
		if (mkdir("d", 0700) < 0 || rmdir("d") < 0)
			shared->odd++;
		shared->done++;
	}
	return 0;
}

static void *make_many(void *arg)
{
	char name[64];

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "t%ld-%d", (long)(intptr_t)arg, i);
		if (put(name) < 0 || access(name, W_OK) < 0)
			shared->odd++;
		shared->done++;
	}
	return NULL;
}

static int threads(void *ctx)
{
	pthread_t all[8];

	(void)ctx;
	for (long i = 0; i < 8; i++)
		if (pthread_create(&all[i], NULL, make_many, (void *)(intptr_t)i) != 0)
			return 1;
	for (int i = 0; i < 8; i++)
		pthread_join(all[i], NULL);
	return 0;
}

static int deaths(void *ctx)
{
	struct timespec wait = { 0, 0 };

	(void)ctx;
	for (int i = 0; i < 150; i++) {
		pid_t child = fork();

		if (child == 0) {
			for (int k = 0;; k++) {
				char name[32];

				snprintf(name, sizeof(name), "f%d", k % 10);
				if (put(name) < 0 || (k % 3 == 0 && unlink(name) < 0))
					_exit(1);
			}
		}
		wait.tv_nsec = 1000L * (i * 37 % 1500);
		nanosleep(&wait, NULL);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		if (put("alive") < 0)
			shared->odd++;
		shared->done++;
	}
	return 0;
}

/* ------------------------------------------------------------------ git, by what stays open */

static int write_all(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int r = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;

	close(fd);
	return r;
}

static const char evil[] = "[core]\n\tfsmonitor = id\n";

static int held_config(void *ctx)
{
	int fd;

	(void)ctx;
	if (mkdir(".git", 0700) < 0)
		return 1;
	fd = open(".git/config.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (write(fd, "[user]\n\tname = x\n", 17) != 17 || link(".git/config.lock", "second") < 0 ||
	    rename(".git/config.lock", ".git/config") < 0)
		return 2;
	shared->done++;
	/* All that is left of it: */
	if (pwrite(fd, evil, strlen(evil), 0) < 0 || write_all("second", evil) < 0)
		return 3;
	shared->failed += write_all(".git/config", evil) < 0;
	shared->failed += link(".git/config", "x") < 0;
	shared->failed += symlink("../second", ".git/config.worktree") < 0;
	shared->failed += rename("second", ".git/config") < 0;
	return 0;
}

static int held_bare(void *ctx)
{
	int fd;

	(void)ctx;
	if (mkdir("b", 0700) < 0 || mkdir("b/objects", 0700) < 0 || mkdir("b/hooks", 0700) < 0 ||
	    write_all("b/hooks/x.sample", "") < 0)
		return 1;
	fd = open("b/config", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (write_all("b/HEAD", "ref: refs/heads/main\n") < 0 || mkdir("b/refs", 0700) < 0)
		return 2;
	shared->done++;
	if (pwrite(fd, evil, strlen(evil), 0) < 0)
		return 3;
	shared->failed += rename("b/hooks/x.sample", "b/hooks/pre-commit") < 0;
	shared->failed += write_all("b/config", evil) < 0;
	shared->failed += write_all("b/hooks/pre-commit", "id") < 0;
	/* Taken apart it is nobody's, and does not come together again with that in it. */
	if (rename("b/HEAD", "b/H") < 0 || write_all("b/config", evil) < 0)
		return 4;
	shared->failed += rename("b/H", "b/HEAD") < 0;
	shared->failed += link("b/H", "b/head") < 0 && errno == EACCES;
	shared->failed += write_all("b/commondir", "../x") < 0;
	return 0;
}

#ifdef __x86_64__
static int call32(long nr, const char *path, long a, long b)
{
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"(path), "c"(a), "d"(b)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)ret;
}

/* The same calls by their 32-bit numbers. */
static int compat(void *ctx)
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	(void)ctx;
	strcpy(low, ".bashrc");
	shared->failed += call32(5, low, O_WRONLY | O_CREAT, 0600) == -EACCES;
	shared->failed += call32(8, low, 0600, 0) == -EACCES;
	shared->failed += call32(295, (char *)(long)(uint32_t)AT_FDCWD, (long)low, O_CREAT) ==
			  -EACCES;
	strcpy(low, ".vscode");
	shared->failed += call32(39, low, 0700, 0) == -EACCES;
	strcpy(low, "fine");
	shared->done += call32(39, low, 0700, 0) == 0;
	shared->done += call32(15, low, 0711, 0) == 0;
	shared->done += call32(40, low, 0, 0) == 0;
	shared->done += call32(5, low, O_WRONLY | O_CREAT, 0600) >= 0;
	shared->done += call32(193, low, 5, 0) == 0;
	return 0;
}
#endif

/* ------------------------------------------------------------------ */

static bool exists(struct brokered *b, const char *name)
{
	char path[512];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", b->dir, name);
	return lstat(path, &st) == 0;
}

static bool has_evil(struct brokered *b, const char *name)
{
	char path[512], text[256];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", b->dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return strstr(text, "fsmonitor");
}

/* A descriptor of a file outside, opened for reading: as standard input may be. */
static int given;

static int foreign(void *ctx)
{
	char path[32];

	(void)ctx;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", given);
	shared->failed += fchmod(given, 0777) < 0 && errno == EROFS;
	shared->failed += chmod(path, 0777) < 0 && errno == EROFS;
	shared->failed += futimens(given, NULL) < 0;
	shared->failed += truncate(path, 0) < 0;
	shared->failed += fchown(given, getuid(), getgid()) < 0;
	shared->done++;
	return 0;
}

/* ------------------------------------------------------------------ to cut off what may be read */

enum { SHOWN = 198, GIVEN = 199 }; /* descriptors: of a file in the view, and of the one outside */

static char turning[] = "/proc/self/fd/199";
static struct open_how turning_how;

/* What the broker sees is harmless, what the kernel would see then is not. */
static void *flip_cut(void *arg)
{
	_Atomic char *last = (_Atomic char *)&turning[strlen(turning) - 1];
	_Atomic uint64_t *flags = (_Atomic uint64_t *)(void *)&turning_how.flags;

	(void)arg;
	while (!shared->stop) {
		atomic_store(last, '8');
		atomic_store(flags, (uint64_t)O_RDONLY);
		atomic_store(flags, (uint64_t)O_WRONLY);
		atomic_store(last, '9');
		atomic_store(flags, (uint64_t)(O_RDONLY | O_TRUNC));
	}
	return NULL;
}

static int count_uncut(int fd)
{
	struct stat st;

	shared->odd += fstat(GIVEN, &st) < 0 || st.st_size == 0;
	if (fd > 2)
		close(fd);
	return 0;
}

static int cut_by_open(void)
{
	return count_uncut(open(turning, O_RDONLY | O_TRUNC | O_CLOEXEC));
}

static int cut_by_openat2(void)
{
	return count_uncut(
		(int)syscall(SYS_openat2, AT_FDCWD, turning, &turning_how, sizeof(turning_how)));
}

static int cut_by_truncate(void)
{
	return count_uncut(truncate(turning, 0));
}

static int race_cut(void *ctx)
{
	int (*const calls[])(void) = { cut_by_open, cut_by_openat2, cut_by_truncate };
	pthread_t thread;

	(void)ctx;
	if (dup2(given, GIVEN) < 0 || dup2(open("/proc/version", O_RDONLY), SHOWN) < 0)
		return 1;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		start(&thread, flip_cut);
		keep_calling(calls[i]);
		pthread_join(thread, NULL);
	}
	return 0;
}

/* ------------------------------------------------------------------ to read what is denied */

static char secret[] = "a.txt";

static void *flip_secret(void *arg)
{
	_Atomic uint32_t *kind = (_Atomic uint32_t *)(void *)&secret[1];
	_Atomic uint64_t *flags = (_Atomic uint64_t *)(void *)&turning_how.flags;

	(void)arg;
	while (!shared->stop) {
		atomic_store(kind, *(const uint32_t *)".txt");
		atomic_store(flags, (uint64_t)O_PATH);
		atomic_store(flags, (uint64_t)(O_WRONLY | O_CREAT));
		atomic_store(kind, *(const uint32_t *)".env");
		atomic_store(flags, (uint64_t)O_RDONLY);
	}
	return NULL;
}

static int count_read(int fd)
{
	char text[8];

	shared->odd += fd >= 0 && read(fd, text, sizeof(text)) > 0;
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static int read_by_openat2(void)
{
	return count_read(
		(int)syscall(SYS_openat2, AT_FDCWD, secret, &turning_how, sizeof(turning_how)));
}

static int read_by_open(void)
{
	return count_read(open(secret, O_RDONLY | O_CLOEXEC));
}

static int race_secret(void *ctx)
{
	pthread_t thread;

	(void)ctx;
	start(&thread, flip_secret);
	keep_calling(read_by_openat2);
	pthread_join(thread, NULL);
	start(&thread, flip_secret);
	keep_calling(read_by_open);
	pthread_join(thread, NULL);
	return 0;
}

static void put_outside(const struct brokered *b, const char *name, const char *text)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", b->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ok(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "%s is there", name);
	close(fd);
}

static void attack(const char *name, int (*fn)(void *), const char *victim)
{
	struct brokered b;

	memset(shared, 0, sizeof(*shared));
	brokered_init(&b, getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	is_int(brokered_run(&b, fn, NULL), 0, "%s: it ran", name);
	ok(shared->done > 0, "%s: %d calls did what they may", name, shared->done);
	if (victim)
		ok(!exists(&b, victim) && shared->failed > 0 && b.denials > 0,
		   "%s: %s is not there, %d calls failed", name, victim, shared->failed);
	brokered_release(&b);
}

static void check(const char *name, int (*fn)(void *), int failed, const char *config)
{
	struct brokered b;

	memset(shared, 0, sizeof(*shared));
	brokered_init(&b, getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	is_int(brokered_run(&b, fn, NULL), 0, "%s: it ran", name);
	ok(shared->done > 0, "%s: what may be done is", name);
	is_int(shared->failed, failed, "%s: what may not is not", name);
	if (config)
		ok(exists(&b, config) && !has_evil(&b, config), "%s: %s is harmless", name, config);
	brokered_release(&b);
}

/* The same file can be changed without a broker; with one it cannot. */
static void check_given(void)
{
	char path[] = "/tmp/broker-given-XXXXXX";
	int fd = mkstemp(path);
	struct brokered b;

	given = open(path, O_RDONLY | O_CLOEXEC);
	close(fd);
	check("a file given from outside", foreign, 5, NULL);
	memset(shared, 0, sizeof(*shared));
	brokered_init(&b, "/tmp");
	b.flags = 0;
	brokered_run(&b, foreign, NULL);
	is_int(shared->failed, 0, "a file given from outside: without a broker it is changed");
	brokered_release(&b);
	close(given);
	unlink(path);
}

static void check_cut(void)
{
	char path[] = "/tmp/broker-given-XXXXXX";
	int fd = mkstemp(path);

	ok(write(fd, "text", 4) == 4, "a file to read: it has content");
	close(fd);
	given = open(path, O_RDONLY | O_CLOEXEC);
	attack("a file to read", race_cut, NULL);
	is_int(shared->odd, 0, "a file to read: it is not cut off");
	close(given);
	unlink(path);
}

static void check_secret(void)
{
	struct brokered b;
	char path[512];

	memset(shared, 0, sizeof(*shared));
	brokered_init(&b, getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	put_outside(&b, "a.txt", "");
	put_outside(&b, "a.env", "secret");
	snprintf(path, sizeof(path), "%s/**/*.env", b.dir);
	brokered_deny(&b, FILE_DENY_READ, path);
	b.flags |= SECCOMP_NOTIFY_READS;
	is_int(brokered_run(&b, race_secret, NULL), 0, "a denied file: it ran");
	ok(shared->done > 0 && shared->failed > 0,
	   "a denied file: %d calls open the other, %d fail", shared->done, shared->failed);
	is_int(shared->odd, 0, "a denied file: nobody reads it");
	brokered_release(&b);
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	attack("the text of an open", race_open, ".claude/settings.json");
	attack("the text of a mkdir", race_mkdir, ".claude/commands");
	attack("the text of a rename", race_rename, ".claude/settings.json");
	attack("a link that turns", race_link, ".claude/settings.json");
	attack("a descriptor that changes", race_fd, ".claude/settings.json");
	attack("a working directory that changes", race_cwd, ".claude/settings.json");
	attack("a storm of signals", storm, NULL);
	is_int(shared->odd, 0, "a storm of signals: no call is made twice or broken off");
	attack("many threads", threads, NULL);
	is_int(shared->odd, 0, "many threads: each is served");
	attack("callers that die", deaths, NULL);
	is_int(shared->odd, 0, "callers that die: the others are served");
	check("a configuration that stays open", held_config, 4, ".git/config");
	check("a bare repository", held_bare, 5, NULL);
	check_given();
	check_cut();
	check_secret();
#ifdef __x86_64__
	check("32-bit calls", compat, 4, NULL);
#endif
	return done();
}
