/* SPDX-License-Identifier: MIT */
/*
 * The same random calls on a plain directory and on a brokered one: every result, every errno and
 * the tree at the end must be equal. Seeds are printed; BROKER_SEED=N runs one, BROKER_ROUNDS=N
 * that many new ones.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "brokered.h"
#include "lib/tap.h"
#include "os/linux/seccomp.h"

#define STEPS 400
#define LINE 200

/* One child's log, shared with it. */
struct log {
	unsigned n;
	char lines[STEPS][LINE];
};

static struct log *logs[2];
static uint64_t state;

static unsigned pick(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)((state >> 20) % n);
}

/* Few names, so that they meet. */
static const char *random_path(char buf[600])
{
	static const char *const names[] = { "a", "b", "c", "dir", "dir2", "link", ".", ".." };
	unsigned parts = 1 + pick(3);

	*buf = '\0';
	for (unsigned i = 0; i < parts; i++) {
		strcat(buf, names[pick(i == 0 || pick(3) ? 6 : 8)]);
		if (i + 1 < parts)
			strcat(buf, pick(8) ? "/" : "//");
	}
	if (!pick(12))
		strcat(buf, "/");
	if (!pick(60))
		snprintf(buf, 600, "dir/%0*d", 200 + (int)pick(100), 7);
	if (!pick(80))
		*buf = '\0';
	return buf;
}

struct world {
	struct log *log;
	int fds[4], dirs[3], home;
	bool goes; /* from directory to directory; it closes none then, for who is behind a closed door is told other things */
};

__attribute__((format(printf, 3, 4))) static void note(struct world *w, long ret, const char *fmt,
						       ...)
{
	char *line = w->log->lines[w->log->n];
	int e = ret < 0 ? errno : 0, n;
	va_list ap;

	va_start(ap, fmt);
	n = vsnprintf(line, LINE, fmt, ap);
	va_end(ap);
	if (n < LINE)
		snprintf(line + n, (size_t)(LINE - n), " = %s", ret < 0 ? err_name(e) : "ok");
}

static int random_dir(struct world *w)
{
	return pick(3) ? AT_FDCWD : w->dirs[pick(3)];
}

static void try_open(struct world *w)
{
	static const int some[] = { O_CREAT,  O_EXCL,      O_TRUNC,   O_NOFOLLOW,
				    O_APPEND, O_DIRECTORY, O_CLOEXEC, O_NONBLOCK };
	static const int modes[] = { 0666, 0600, 0444, 0, 0777, 0200, 04755 };
	int flags = (int[]){ O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_CREAT }[pick(4)];
	unsigned slot = pick(4);
	char path[600];
	mode_t mode = (mode_t)modes[pick(7)];
	int dir = random_dir(w), fd;

	for (unsigned i = 0; i < pick(3); i++)
		flags |= some[pick(8)];
	if (!pick(40))
		flags = O_TMPFILE | O_RDWR;
	random_path(path);
	if (pick(6)) {
		fd = openat(dir, path, flags, mode);
	} else {
		struct open_how how = { .flags = (unsigned)flags,
					.mode = flags & (O_CREAT | 020000000) ? mode : 0,
					.resolve = pick(2) ? RESOLVE_NO_SYMLINKS : 0 };

		fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	}
	/* O_NOFOLLOW is gone from what the broker has opened in the sandbox's view, and nobody asks for it. */
	note(w, fd, "open(%d, %.60s, 0%o, 0%o) fl %o", dir == AT_FDCWD, path, (unsigned)flags, mode,
	     fd < 0 ? 0 : (unsigned)(fcntl(fd, F_GETFL) & ~O_NOFOLLOW));
	if (fd < 0)
		return;
	if ((flags & O_ACCMODE) && write(fd, "some text", 1 + pick(9)) < 0)
		note(w, -1, "write");
	close(w->fds[slot]);
	w->fds[slot] = fd;
}

static void try_name(struct world *w)
{
	char path[600], path2[600];
	int dir = random_dir(w), dir2 = random_dir(w);
	unsigned what = pick(9), flags = 0;
	long r = 0;

	random_path(path);
	random_path(path2);
	switch (what) {
	case 0:
		r = mkdirat(dir, path, (mode_t)(pick(4) ? 0777 : 0700));
		break;
	case 1:
		r = unlinkat(dir, path, pick(2) ? AT_REMOVEDIR : 0);
		break;
	case 2:
		r = symlinkat(path2, dir, path);
		break;
	case 3:
		flags = pick(2) ? AT_SYMLINK_FOLLOW : 0;
		r = linkat(dir, path, dir2, path2, (int)flags);
		break;
	case 4:
		r = mknodat(dir, path, pick(2) ? S_IFREG | 0644 : S_IFSOCK | 0600, 0);
		break;
	case 5:
		r = rmdir(path);
		break;
	default:
		flags = pick(3) ? 0 : pick(2) ? RENAME_NOREPLACE : RENAME_EXCHANGE;
		r = syscall(SYS_renameat2, dir, path, dir2, path2, flags);
	}
	note(w, r, "name %u(%d, %.60s, %.60s, %u)", what, dir == AT_FDCWD, path, path2, flags);
}

static bool is_nowhere(int fd)
{
	char link[32], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[MAX(n, 0)] = '\0';
	return n >= 0 && *path == '/' && access(path, F_OK) < 0;
}

static void try_attr(struct world *w)
{
	static const int modes[] = { 0755, 0700, 0644, 0444, 0600, 0000, 02775 };
	const struct timespec ts[2] = { { 1000 + (int)pick(9), 5 },
					{ 2000, pick(3) ? 7 : UTIME_OMIT } };
	int dir = random_dir(w), fd = w->fds[pick(4)];
	unsigned what = pick(12);
	char path[600];
	long r = 0;

	random_path(path);
	/* A name that is gone, or out of reach, leads nowhere: what the broker cannot do. */
	if ((what == 1 || what == 4 || what == 8) && is_nowhere(fd))
		what = 9;
	if (what <= 1 && w->goes)
		what = 3;
	switch (what) {
	case 0:
		r = fchmodat(dir, path, (mode_t)modes[pick(7)], 0);
		break;
	case 1:
		r = fchmod(fd, (mode_t)modes[pick(5)]);
		break;
	case 2:
		r = fchownat(dir, path, (uid_t)-1, pick(2) ? getegid() : (gid_t)-1,
			     pick(2) ? AT_SYMLINK_NOFOLLOW : 0);
		break;
	case 3:
		r = utimensat(dir, path, ts, pick(2) ? AT_SYMLINK_NOFOLLOW : 0);
		break;
	case 4:
		r = futimens(fd, ts);
		break;
	case 5:
		r = truncate(path, pick(50));
		break;
	case 6:
		r = setxattr(path, "user.test", "value", pick(6), pick(2) ? XATTR_CREATE : 0);
		break;
	case 7:
		r = removexattr(path, "user.test");
		break;
	case 8:
		r = fsetxattr(fd, "user.fd", "v", 1, 0);
		break;
	case 9:
		r = ftruncate(fd, pick(20));
		break;
	default:
		r = faccessat(dir, path, (int)pick(8), 0);
	}
	note(w, r, "attr %u(%d, %.80s)", what, dir == AT_FDCWD, path);
}

/* Another directory for relative paths, by a name or by a descriptor, which may be of one that was moved or removed. */
static void go(struct world *w)
{
	int dir = pick(3) ? w->dirs[pick(3)] : w->home;

	if (pick(3))
		note(w, fchdir(dir), "fchdir");
	else
		note(w, chdir(pick(2) ? "dir" : "link"), "chdir");
}

static void try_move(struct world *w)
{
	unsigned slot = pick(3);
	char path[600];
	int fd;

	switch (pick(4)) {
	case 0:
		umask((mode_t)(int[]){ 022, 077, 0, 027 }[pick(4)]);
		note(w, 0, "umask");
		break;
	case 1: /* never above the directory: both would leave it for different places */
		fd = open(pick(2) ? "dir" : "dir2", O_RDONLY | O_DIRECTORY);
		note(w, fd, "opendir");
		if (fd >= 0) {
			close(w->dirs[slot]);
			w->dirs[slot] = fd;
		}
		break;
	case 2:
		random_path(path);
		fd = openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK);
		note(w, fd, "read-open(%.60s)", path);
		if (fd >= 0) {
			slot = pick(4);
			close(w->fds[slot]);
			w->fds[slot] = fd;
		}
		break;
	default:
		if (w->goes)
			go(w);
		else
			note(w, 0, "nothing");
	}
}

static int play(void *ctx)
{
	struct world w = { .log = ctx, .fds = { -1, -1, -1, -1 }, .goes = pick(2) };

	umask(022);
	if (mkdir("top", 0777) < 0 || chdir("top") < 0 || mkdir("in", 0777) < 0 || chdir("in") < 0)
		return 1;
	for (int i = 0; i < 3; i++)
		w.dirs[i] = open(".", O_RDONLY | O_DIRECTORY);
	w.home = open(".", O_RDONLY | O_DIRECTORY);
	for (w.log->n = 0; w.log->n < STEPS; w.log->n++) {
		unsigned what = pick(10);

		if (what < 4)
			try_open(&w);
		else if (what < 7)
			try_name(&w);
		else if (what < 9)
			try_attr(&w);
		else
			try_move(&w);
	}
	return 0;
}

/* ------------------------------------------------------------------ trees */

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* As the broker leaves it: nobody becomes the user, or gets his group, by starting a file. */
static mode_t without_rights(mode_t mode)
{
	return mode & ~(mode_t)(S_ISDIR(mode) ? S_ISUID : S_ISUID | S_ISGID);
}

static mode_t as_it_is(mode_t mode)
{
	return mode;
}

typedef mode_t mode_fn(mode_t mode);

static void list(FILE *out, int parent, const char *name, const char *shown, mode_fn *mode)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent **entries = NULL;
	char at[32];
	int n;

	snprintf(at, sizeof(at), "/proc/self/fd/%d", fd);
	n = fd < 0 ? -1 : scandir(at, &entries, NULL, by_name);

	for (int i = 0; i < n; i++) {
		const char *e = entries[i]->d_name;
		char path[PATH_MAX], text[200] = "";
		struct stat st;

		if (!strcmp(e, ".") || !strcmp(e, "..") || fstatat(fd, e, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		snprintf(path, sizeof(path), "%s/%s", shown, e);
		if (S_ISLNK(st.st_mode) && readlinkat(fd, e, text, sizeof(text) - 1) < 0)
			strcpy(text, "?");
		fprintf(out, "%s %o %u %u links %u size %lld %s%s\n", path, mode(st.st_mode),
			st.st_uid, st.st_gid, (unsigned)st.st_nlink,
			S_ISDIR(st.st_mode) ? 0LL : (long long)st.st_size, text,
			st.st_mtim.tv_sec == 2000 ? " old" : "");
		if (S_ISDIR(st.st_mode)) {
			if (fchmodat(fd, e, 0700, 0) < 0) /* listed; now enter it */
				fprintf(out, "cannot be entered\n");
			list(out, fd, e, path, mode);
		}
	}
	while (n > 0)
		free(entries[--n]);
	free(entries);
	close(fd);
}

static char *list_tree(const char *dir, mode_fn *mode)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	list(out, AT_FDCWD, dir, "", mode);
	fclose(out);
	return text;
}

static bool round_(uint64_t seed, const char *base)
{
	char *trees[2];
	bool fine = true;

	for (int i = 0; i < 2; i++) {
		struct brokered b;

		brokered_init(&b, base);
		if (i == 0)
			b.flags = 0;
		state = seed * 0x9e3779b97f4a7c15ULL + 1;
		memset(logs[i], 0, sizeof(*logs[i]));
		if (brokered_run(&b, play, logs[i]) != 0)
			fine = false;
		trees[i] = list_tree(b.dir, i == 0 ? without_rights : as_it_is);
		brokered_release(&b);
	}
	for (int k = 0; k < STEPS && fine; k++)
		if (strcmp(logs[0]->lines[k], logs[1]->lines[k]) != 0) {
			diag("seed %llu, step %d:", (unsigned long long)seed, k);
			for (int j = k > 8 ? k - 8 : 0; j < k; j++)
				diag("        %s", logs[0]->lines[j]);
			diag("kernel: %s", logs[0]->lines[k]);
			diag("broker: %s", logs[1]->lines[k]);
			fine = false;
		}
	if (fine && strcmp(trees[0], trees[1]) != 0) {
		diag("seed %llu: the trees differ", (unsigned long long)seed);
		diag("kernel:\n%s", trees[0]);
		diag("broker:\n%s", trees[1]);
		fine = false;
	}
	free(trees[0]);
	free(trees[1]);
	return fine;
}

int main(void)
{
	const char *one = getenv("BROKER_SEED"), *many = getenv("BROKER_ROUNDS");
	const char *bases[] = { getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", "/dev/shm" };
	/* Looking for more takes new seeds; the test itself does the same work every time. */
	uint64_t seed = one ? strtoull(one, NULL, 10) : many ? (uint64_t)getpid() * 1000 : 1;
	unsigned rounds = one ? 1 : many ? (unsigned)strtoul(many, NULL, 10) : 16;

	for (int i = 0; i < 2; i++)
		logs[i] = mmap(NULL, sizeof(*logs[i]), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (unsigned i = 0; i < rounds; i++)
		ok(round_(seed + i, bases[i % 2]), "seed %llu in %s: kernel and broker agree",
		   (unsigned long long)(seed + i), bases[i % 2]);
	return done();
}
