/* SPDX-License-Identifier: MIT */
/*
 * What a brokered process can do and cannot, call by call. The process inside runs a list of steps
 * and writes what each gave; nothing waits by the clock.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "brokered.h"
#include "lib/tap.h"
#include "os/linux/seccomp.h"

/* Shared with the process inside. */
static struct {
	int n;
	struct {
		char what[100];
		int got, want;
	} steps[400];
} * log_;

static void expect(int ret, int want, const char *what)
{
	int e = ret < 0 ? errno : 0, i = log_->n++;

	snprintf(log_->steps[i].what, sizeof(log_->steps[i].what), "%s", what);
	log_->steps[i].got = e;
	log_->steps[i].want = want;
}

/* 'cond' as a step. */
static void check(int cond, const char *what)
{
	errno = EPROTO;
	expect(cond ? 0 : -1, 0, what);
}

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int r = fd < 0 ? -1 : (int)write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return r;
}

static int mode_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) < 0 ? -1 : (int)(st.st_mode & 07777);
}

static int files(void *ctx)
{
	struct stat st;
	char buf[64];
	int fd;

	(void)ctx;
	umask(022);
	expect(put("a", "hello"), 0, "a file is made");
	check(mode_of("a") == 0644, "with the caller's umask");
	umask(077);
	expect(put("b", "x"), 0, "another");
	check(mode_of("b") == 0600, "with the umask that was set meanwhile");
	umask(022);
	fd = open("a", O_RDWR);
	check(fd >= 0 && read(fd, buf, sizeof(buf)) == 5 && !memcmp(buf, "hello", 5), "read back");
	check(!(fcntl(fd, F_GETFD) & FD_CLOEXEC), "no close-on-exec unless asked");
	check((fcntl(fd, F_GETFL) & ~0100000) == O_RDWR, "F_GETFL as it was asked for");
	expect(ftruncate(fd, 2), 0, "ftruncate on what we gave");
	expect(fchmod(fd, 0640), 0, "fchmod on it");
	close(fd);
	fd = open("a", O_RDONLY);
	expect(fchmod(fd, 0600), 0, "fchmod on a descriptor that reads");
	check(mode_of("a") == 0600, "is done");
	expect(futimens(fd, (struct timespec[]){ { 1, 2 }, { 3, 4 } }), 0, "futimens on it");
	check(fstat(fd, &st) == 0 && st.st_mtim.tv_sec == 3 && st.st_mtim.tv_nsec == 4, "is done");
	expect(fchown(fd, (uid_t)-1, (gid_t)-1), 0, "fchown on it");
	expect(fsetxattr(fd, "user.x", "1", 1, 0), 0, "fsetxattr on it");
	check(getxattr("a", "user.x", buf, sizeof(buf)) == 1, "is there");
	expect(removexattr("a", "user.x"), 0, "and gone");
	close(fd);
	expect(open("a", O_CREAT | O_EXCL | O_WRONLY, 0600), EEXIST, "O_EXCL");
	expect(open("nope/x", O_CREAT | O_WRONLY, 0600), ENOENT, "a missing directory");
	expect(open("a/x", O_CREAT | O_WRONLY, 0600), ENOTDIR, "a file on the way");
	expect(open("nope", O_WRONLY), ENOENT, "a missing file");
	expect(open(".", O_WRONLY), EISDIR, "a directory");
	expect(open("new/", O_CREAT | O_WRONLY, 0600), EISDIR, "a trailing slash");
	expect(truncate("a", 100), 0, "truncate");
	check(stat("a", &st) == 0 && st.st_size == 100, "is done");
	expect(access("a", W_OK), 0, "access for writing");
	expect(access(".", W_OK), 0, "also of the root itself");
	expect(access("/usr", W_OK), geteuid() ? EACCES : EROFS, "and not elsewhere");
	expect(access("nope", W_OK), ENOENT, "nor of what is not there");
	expect(open("/usr/x", O_CREAT | O_WRONLY, 0600), EROFS, "outside");
	fd = open("/dev/null", O_WRONLY);
	expect(fd, 0, "/dev/null");
	close(fd);
	expect(creat("c", 0600), 0, "creat");
	return 0;
}

static int names(void *ctx)
{
	struct stat st;
	char buf[300];
	int fd;

	(void)ctx;
	umask(022);
	expect(mkdir("d", 0777), 0, "mkdir");
	check(mode_of("d") == 0755, "with the umask");
	expect(mkdir("d", 0777), EEXIST, "twice");
	expect(mkdir("d/e/", 0777), 0, "with a slash");
	expect(mkdir("d/x/y", 0777), ENOENT, "too deep");
	expect(put("d/f", "1"), 0, "a file");
	expect(symlink("d/f", "l"), 0, "symlink");
	expect(put("l", "23"), 0, "written through it");
	check(stat("d/f", &st) == 0 && st.st_size == 2, "arrives");
	expect(symlink("d/new", "dangling"), 0, "a dangling one");
	expect(put("dangling", "4"), 0, "makes its target");
	check(stat("d/new", &st) == 0, "which is there");
	expect(open("l", O_WRONLY | O_NOFOLLOW), ELOOP, "O_NOFOLLOW");
	expect(symlink("loop", "loop"), 0, "a link to itself");
	expect(open("loop", O_WRONLY), ELOOP, "a loop");
	expect(link("d/f", "hard"), 0, "link");
	check(stat("hard", &st) == 0 && st.st_nlink == 2, "counts");
	expect(link("/usr/bin/env", "stolen"), EXDEV, "not of a file outside");
	expect(rename("hard", "d/harder"), 0, "rename");
	expect(rename("nope", "x"), ENOENT, "of nothing");
	expect(rename("d", "d/e/d"), EINVAL, "into itself");
	expect(rename("/usr/bin/env", "env"), EXDEV, "from outside");
	expect(syscall(SYS_renameat2, AT_FDCWD, "d/f", AT_FDCWD, "d/harder", RENAME_NOREPLACE),
	       EEXIST, "RENAME_NOREPLACE");
	expect(syscall(SYS_renameat2, AT_FDCWD, "d/f", AT_FDCWD, "d/e", RENAME_EXCHANGE), 0,
	       "RENAME_EXCHANGE");
	check(stat("d/f", &st) == 0 && S_ISDIR(st.st_mode), "exchanges");
	expect(unlink("d/f"), EISDIR, "unlink of a directory");
	expect(rmdir("d/f"), 0, "rmdir");
	expect(rmdir("d"), ENOTEMPTY, "of what is not empty");
	expect(unlink("l"), 0, "unlink of a link");
	expect(unlink("l"), ENOENT, "twice");
	expect(mkfifo("fifo", 0666), 0, "mkfifo");
	expect(mknod("dev", S_IFCHR | 0600, 0x103), EPERM, "no devices");
	fd = open("d", O_RDONLY | O_DIRECTORY);
	expect(mkdirat(fd, "at", 0700), 0, "relative to a descriptor");
	expect(fchdir(fd), 0, "fchdir");
	expect(put("../up", "1"), 0, "above the working directory");
	expect(unlinkat(fd, "at", AT_REMOVEDIR), 0, "unlinkat");
	expect(mkdirat(99, "x", 0700), EBADF, "a bad descriptor");
	memset(buf, 'n', sizeof(buf));
	buf[255] = '\0';
	expect(put(buf, "1"), 0, "a name of 255 bytes");
	buf[255] = 'n';
	buf[256] = '\0';
	expect(open(buf, O_CREAT | O_WRONLY, 0600), ENAMETOOLONG, "of 256");
	expect(rename("../d", "../d2"), 0, "the working directory is renamed");
	expect(put("still-here", "1"), 0, "and can be used");
	expect(chmod(".", 0711), 0, "chmod of it");
	expect(mkdir("gone", 0700), 0, "a directory");
	expect(chdir("gone"), 0, "to be in");
	expect(rmdir("../gone"), 0, "and to lose");
	expect(open("x", O_CREAT | O_WRONLY, 0600), ENOENT, "nothing can be made in it");
	return 0;
}

static int tricks(void *ctx)
{
	struct open_how how = { .flags = O_WRONLY | O_CREAT, .mode = 0644 };
	char buf[100], path[64];
	struct stat st;
	int fd, fd2;

	(void)ctx;
	umask(022);
	expect(put("file", "one"), 0, "a file");
	fd = open("file", O_RDONLY);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd2 = open(path, O_WRONLY | O_TRUNC);
	expect(fd2, 0, "reopened for writing through /proc/self/fd");
	check(write(fd2, "two", 3) == 3 && pread(fd, buf, 9, 0) == 3 && !memcmp(buf, "two", 3),
	      "it is the same file");
	snprintf(path, sizeof(path), "/dev/fd/%d", fd2);
	expect(put(path, "three"), 0, "what we gave, through /dev/fd");
	close(fd2);
	close(fd);
	fd = open("file", O_PATH);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	expect(open(path, O_WRONLY), 0, "O_PATH is no way round, nor an obstacle");
	close(fd);
	fd = open("/usr", O_PATH);
	snprintf(path, sizeof(path), "/proc/self/fd/%d/x", fd);
	expect(open(path, O_WRONLY | O_CREAT, 0600), EROFS, "through a fd to outside");
	snprintf(path, sizeof(path), "/proc/self/cwd/bycwd");
	expect(put(path, "1"), 0, "/proc/self/cwd is the caller's");
	check(stat("bycwd", &st) == 0, "and leads here");
	expect(mkdir("/proc/thread-self/cwd/bythread", 0700), 0, "/proc/thread-self too");
	snprintf(path, sizeof(path), "/proc/%d/cwd/bypid", getpid());
	expect(put(path, "1"), 0, "/proc/PID too");
	fd = open(".", O_TMPFILE | O_RDWR, 0644);
	expect(fd, 0, "O_TMPFILE");
	check(write(fd, "tmp", 3) == 3, "can be written");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	expect(linkat(AT_FDCWD, path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW), 0, "and named");
	check(stat("named", &st) == 0 && st.st_size == 3 && (st.st_mode & 0777) == 0644,
	      "it is it");
	close(fd);
	fd = open(".", O_TMPFILE | O_RDWR, 0644);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	expect(linkat(AT_FDCWD, path, AT_FDCWD, ".bashrc", AT_SYMLINK_FOLLOW), EACCES,
	       "not with a protected name");
	close(fd);
	fd = (int)syscall(SYS_openat2, AT_FDCWD, "how", &how, sizeof(how));
	expect(fd, 0, "openat2");
	close(fd);
	expect(symlink("how", "tohow"), 0, "a link");
	how.resolve = RESOLVE_NO_SYMLINKS;
	expect((int)syscall(SYS_openat2, AT_FDCWD, "tohow", &how, sizeof(how)), ELOOP,
	       "RESOLVE_NO_SYMLINKS");
	how.resolve = RESOLVE_BENEATH;
	expect((int)syscall(SYS_openat2, AT_FDCWD, "../x", &how, sizeof(how)), EXDEV,
	       "RESOLVE_BENEATH");
	how.flags = O_RDONLY | O_DIRECTORY;
	how.mode = 0;
	how.resolve = 0;
	fd = (int)syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof(how));
	expect(fd, 0, "openat2 for reading");
	fd2 = openat(fd, "..", O_PATH);
	check(fd2 >= 0, "is the view's");
	expect(mkdirat(fd2, "beside", 0700), EROFS, "and read-only");
	expect(open((char *)1, O_WRONLY), EFAULT, "a bad address");
	expect(open("", O_WRONLY), ENOENT, "an empty path");
	return 0;
}

static int larger(void *ctx)
{
	/* As of a program for a later kernel. */
	struct {
		struct open_how how;
		char more[8192];
	} how = { .how = { .flags = O_WRONLY | O_CREAT, .mode = 0600 } };
	const size_t known = sizeof(how.how), page = (size_t)sysconf(_SC_PAGESIZE);
	static const size_t sizes[] = { 1, 8, 256, 257, 4072 };
	int fd;

	(void)ctx;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		fd = (int)syscall(SYS_openat2, AT_FDCWD, "larger", &how, known + sizes[i]);
		expect(fd, 0, "openat2 with zeroes after what is known");
		check(write(fd, "x", 1) == 1, "can be written");
		close(fd);
		how.more[sizes[i] - 1] = 1;
		expect((int)syscall(SYS_openat2, AT_FDCWD, "larger", &how, known + sizes[i]), E2BIG,
		       "with something else");
		how.more[sizes[i] - 1] = 0;
	}
	expect((int)syscall(SYS_openat2, AT_FDCWD, ".bashrc", &how, known + 8), EACCES,
	       "under the rules");
	expect((int)syscall(SYS_openat2, AT_FDCWD, "larger", &how, known - 1), EINVAL,
	       "a smaller one");
	if (page < sizeof(how))
		expect((int)syscall(SYS_openat2, AT_FDCWD, "larger", &how, page + 1), E2BIG,
		       "of more than a page");
	how.how = (struct open_how){ .flags = O_RDONLY };
	expect((int)syscall(SYS_openat2, AT_FDCWD, "larger", &how, known + 8), 0, "for reading");
	return 0;
}

static int protected_(void *ctx)
{
	int fd;

	(void)ctx;
	expect(put(".bashrc", "x"), EACCES, ".bashrc");
	expect(mkdir("sub", 0700), 0, "a directory");
	expect(put("sub/.BashRC", "x"), EACCES, "at any depth, without case");
	expect(mkdir(".vscode", 0700), EACCES, ".vscode");
	expect(symlink("x", ".vscode"), EACCES, "as a link");
	expect(mkdir("part", 0700), 0, "a directory");
	expect(mkdir("part/refs", 0700), 0, "with one part of git's");
	expect(put("part/HEAD", "ref: refs/heads/main\n"), 0, "and another");
	expect(symlink("/tmp", "part/objects"), EACCES,
	       "the last one is no link, through which git would write");
	expect(symlink("/tmp", "link"), 0, "a link");
	expect(rename("link", "part/objects"), EACCES, "... nor by another name before");
	expect(link("link", "part/objects"), EACCES, "... nor by a second one");
	expect(mkdir("part/objects", 0700), 0, "... a directory is");
	expect(put("other", "x"), 0, "another file");
	expect(rename("other", ".mcp.json"), EACCES, "renamed onto a name");
	expect(link("other", ".mcp.json"), EACCES, "linked onto it");
	expect(mkdir("claude", 0700), 0, "a harmless name");
	expect(mkdir("claude/commands", 0700), 0, "with a harmless one in it");
	expect(rename("claude", ".claude"), EACCES, "does not become another");
	expect(mkdir(".claude", 0700), 0, "which can be made");
	expect(mkdir(".claude/commands", 0700), EACCES, "without what is protected");
	expect(put(".claude/notes", "x"), 0, "other files are free");
	expect(symlink(".claude", "c"), 0, "a link to it");
	expect(put("c/settings.json", "x"), EACCES, "is no way round");
	fd = open(".claude", O_PATH);
	expect(openat(fd, "settings.local.json", O_CREAT | O_WRONLY, 0600), EACCES,
	       "nor is a descriptor");
	expect(fd, 0, "");
	expect(unlink("readme"), 0, "what is there and free goes");
	expect(unlink(".profile"), EACCES, "what is protected stays");
	expect(chmod(".profile", 0777), EACCES, "as it is");
	expect(truncate(".profile", 0), EACCES, "whole");
	expect(rename(".profile", "x"), EACCES, "in its place");
	expect(link(".profile", "x"), EACCES, "with one name");
	expect(access(".profile", W_OK), EACCES, "and says so");
	expect(open(".profile", O_RDONLY | O_CREAT, 0600), 0, "but can be read");
	expect(open("denied/x", O_CREAT | O_WRONLY, 0600), EACCES, "denyWrite");
	expect(rename("denied", "allowed"), EACCES, "is not moved away");
	expect(open("sub/x.key", O_CREAT | O_WRONLY, 0600), EACCES, "a glob");
	expect(put("sub/x.kez", "1"), 0, "and what it does not match");
	expect(rename("sub/x.kez", "sub/x.key"), EACCES, "nor by a rename");
	return 0;
}

static int sockets(void *ctx)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX, .sun_path = "sock" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
	struct stat st;

	(void)ctx;
	umask(077);
	expect(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0, "bind to a name");
	check(stat("sock", &st) == 0 && S_ISSOCK(st.st_mode) && (st.st_mode & 0777) == 0700,
	      "makes it, with the umask");
	expect(listen(fd, 1), 0, "listen");
	expect(connect(client, (struct sockaddr *)&name, sizeof(name)), 0, "and connect");
	expect(bind(client, (struct sockaddr *)&name, sizeof(name)), EADDRINUSE, "twice");
	return 0;
}

/* A reader in another process opens when it pleases. */
static int fifos(void *ctx)
{
	char buf[8];
	pid_t child;
	int fd, status;

	(void)ctx;
	expect(mkfifo("f", 0600), 0, "a fifo");
	expect(open("f", O_WRONLY | O_NONBLOCK), ENXIO, "nobody reads");
	child = fork();
	if (child == 0) {
		fd = open("f", O_WRONLY);
		_exit(fd >= 0 && write(fd, "hi", 2) == 2 ? 0 : 1);
	}
	expect(put("meanwhile", "1"), 0, "others are served meanwhile");
	fd = open("f", O_RDONLY);
	check(read(fd, buf, 2) == 2 && !memcmp(buf, "hi", 2), "what was written comes");
	waitpid(child, &status, 0);
	check(status == 0, "and the writer got in");
	close(fd);
	child = fork();
	if (child == 0)
		_exit(open("f", O_WRONLY) < 0);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	expect(put("afterwards", "1"), 0, "a writer that died waiting does no harm");
	return 0;
}

static int openat2(const char *path, const struct open_how *how)
{
	return (int)syscall(SYS_openat2, AT_FDCWD, path, how, sizeof(*how));
}

static int reads(void *ctx)
{
	struct open_how how = { .flags = O_RDONLY };
	char buf[100], path[64];
	int fd;

	(void)ctx;
	fd = open("readme", O_RDONLY);
	expect(fd, 0, "a file that nobody denies");
	check(!(fcntl(fd, F_GETFD) & FD_CLOEXEC), "as it was asked for");
	close(fd);
	expect(open("sub/a.env", O_RDONLY), EACCES, "a denied one");
	expect(open("sub/a.env", O_RDWR), EACCES, "also for writing");
	expect(open("sub/a.env", O_RDONLY | O_CREAT, 0600), EACCES, "also with O_CREAT");
	expect(open("sub/new.env", O_WRONLY | O_CREAT, 0600), EACCES, "also when it is new");
	expect(symlink("sub/a.env", "link"), 0, "a link");
	expect(open("link", O_RDONLY), EACCES, "is no way round");
	expect(rename("sub/a.env", "sub/a.txt"), EACCES, "nor is another name");
	expect(link("sub/a.env", "sub/b.txt"), EACCES, "nor a second one");
	fd = open("sub/a.env", O_PATH);
	expect(fd, 0, "O_PATH gives no content");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	expect(open(path, O_RDONLY), EACCES, "and does not lead to it");
	expect(openat2("readme", &how), 0, "openat2");
	expect(openat2("sub/a.env", &how), EACCES, "of a denied one");
	expect(openat2("nope", &how), ENOENT, "of nothing");
	expect(openat2("/proc/self/status", &how), ENOSYS, "of what is each one's own");
	how.resolve = RESOLVE_BENEATH;
	expect(openat2("readme", &how), 0, "openat2 with RESOLVE_BENEATH");
	expect(openat2("sub/../link", &how), EACCES, "of a link");
	expect(openat2("..", &how), EXDEV, "of what is above");
	how.resolve = RESOLVE_NO_SYMLINKS;
	expect(openat2("link", &how), ELOOP, "openat2 with RESOLVE_NO_SYMLINKS");
	how.flags |= 1ULL << 40;
	expect(openat2("readme", &how), EINVAL, "openat2 with what no kernel knows");
	fd = open("/proc/self/status", O_RDONLY);
	check(fd >= 0 && read(fd, buf, 5) == 5 && !memcmp(buf, "Name:", 5), "/proc/self");
	fd = open("sub", O_RDONLY | O_DIRECTORY);
	expect(fd, 0, "a directory");
	expect(openat(fd, "a.env", O_RDONLY), EACCES, "and from there");
	expect(mkdirat(fd, "x", 0700), 0, "what we gave of it");
	expect(openat(fd, "..", O_RDONLY | O_DIRECTORY), 0, "is the view's");
	expect(open("/dev/null", O_RDONLY), 0, "a device");
	expect(open("nope", O_RDONLY), ENOENT, "nothing");
	expect(open("nope", O_RDONLY | O_CREAT, 0600), 0, "made by a reader");
	expect(open("readme/x", O_RDONLY), ENOTDIR, "no directory");
	expect(open("readme/", O_RDONLY), ENOTDIR, "nor with a slash");
	expect(open("link", O_RDONLY | O_NOFOLLOW), ELOOP, "O_NOFOLLOW");
	return 0;
}

static void run(const char *name, int (*fn)(void *), void (*prepare)(struct brokered *))
{
	struct brokered b;
	int status;

	log_->n = 0;
	brokered_init(&b, getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (prepare)
		prepare(&b);
	status = brokered_run(&b, fn, NULL);
	if (!is_int(status, 0, "%s: it ran", name))
		diag("status 0x%x", status);
	for (int i = 0; i < log_->n; i++)
		if (*log_->steps[i].what)
			is_int(log_->steps[i].got, log_->steps[i].want, "%s: %s", name,
			       log_->steps[i].what);
	brokered_release(&b);
}

static void write_file(struct brokered *b, const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", b->dir, name);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	close(fd);
}

static void prepare_protected(struct brokered *b)
{
	char path[512];

	write_file(b, "readme");
	write_file(b, ".profile");
	snprintf(path, sizeof(path), "%s/denied", b->dir);
	mkdir(path, 0755);
	brokered_deny(b, FILE_DENY_WRITE, path);
	snprintf(path, sizeof(path), "%s/**/*.key", b->dir);
	brokered_deny(b, FILE_DENY_WRITE, path);
}

static void prepare_reads(struct brokered *b)
{
	char path[512];

	write_file(b, "readme");
	snprintf(path, sizeof(path), "%s/sub", b->dir);
	mkdir(path, 0755);
	write_file(b, "sub/a.env");
	snprintf(path, sizeof(path), "%s/**/*.env", b->dir);
	brokered_deny(b, FILE_DENY_READ, path);
	b->flags |= SECCOMP_NOTIFY_READS;
}

int main(void)
{
	log_ = mmap(NULL, sizeof(*log_), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	run("files", files, NULL);
	run("names", names, NULL);
	run("tricks", tricks, NULL);
	run("larger", larger, prepare_protected);
	run("protected", protected_, prepare_protected);
	run("sockets", sockets, NULL);
	run("fifos", fifos, NULL);
	run("reads", reads, prepare_reads);
	return done();
}
