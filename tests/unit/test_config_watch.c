/* SPDX-License-Identifier: MIT */
/* New settings from a descriptor and from a file that is rewritten. */
#include "session/config_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "lib/tap.h"

static char dir[] = "/tmp/test_config_watch.XXXXXX";
static struct {
	char lines[512];
	int files, lost;
	size_t last_len;
} got;
static struct loop loop;

static void on_line(void *ctx, const char *line, size_t len)
{
	size_t at = strlen(got.lines);

	(void)ctx;
	got.last_len = len;
	snprintf(got.lines + at, sizeof(got.lines) - at, "[%.*s]", (int)(len < 99 ? len : 0), line);
	loop.done = true;
}

static void on_file(void *ctx)
{
	(void)ctx;
	got.files++;
	loop.done = true;
}

static void on_lost(void *ctx, int code)
{
	(void)ctx;
	got.lost = code;
	loop.done = true;
}

static const struct config_watch_hooks hooks = { on_line, on_file, on_lost, NULL };

/* Until something was told, or nothing is. */
static void turn(int timeout_ms)
{
	struct err err;

	loop.done = false;
	if (loop_run(&loop, timeout_ms, &err) < 0)
		ok(false, "%s", err.msg);
}

static void test_lines(void)
{
	struct config_watch watch = CONFIG_WATCH_NONE;
	struct err err;
	char *big = malloc(CONFIG_LINE_MAX + 100), path[128];
	int fd[2];

	memset(&got, 0, sizeof(got));
	ok(!pipe2(fd, O_CLOEXEC), "a pipe");
	ok(!config_watch_start(&watch, &loop, fd[0], NULL, &hooks, &err), "is watched");
	ok(write(fd[1], "{1}\n\n  \n{2}\n{", 13) == 13, "lines are written");
	turn(1000);
	is_str(got.lines, "[{1}][{2}]", "and told, blank ones passed over, a part not yet");
	ok(write(fd[1], "3}", 2) == 2, "the rest of one");
	close(fd[1]);
	for (int i = 0; i < 10 && watch.control.fd >= 0; i++)
		turn(100);
	is_str(got.lines, "[{1}][{2}][{3}]", "the end ends a line");
	ok(!got.lost && watch.control.fd < 0, "and is no failure");
	config_watch_stop(&watch);
	close(fd[0]);

	memset(&got, 0, sizeof(got));
	memset(big, 'x', CONFIG_LINE_MAX + 100);
	big[CONFIG_LINE_MAX + 50] = '\n';
	snprintf(path, sizeof(path), "%s/long", dir);
	FILE *f = fopen(path, "we+");
	ok(f && fwrite(big, 1, CONFIG_LINE_MAX + 51, f) == CONFIG_LINE_MAX + 51 &&
		   fputs("{4}", f) >= 0 && !fflush(f),
	   "a file with a line that is too long");
	rewind(f);
	ok(!config_watch_start(&watch, &loop, fileno(f), NULL, &hooks, &err), "is read at once");
	is_str(got.lines, "[][{4}]", "the long line is one, and does not swallow the next");
	config_watch_stop(&watch);
	fclose(f);
	unlink(path);
	free(big);
}

/* Devices cannot be waited for. */
static void test_devices(void)
{
	static const struct {
		const char *path;
		int lost;
	} cases[] = { { "/dev/null", 0 }, { "/dev/zero", -EOPNOTSUPP } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct config_watch watch = CONFIG_WATCH_NONE;
		int fd = open(cases[i].path, O_RDONLY | O_CLOEXEC);
		struct err err;

		memset(&got, 0, sizeof(got));
		ok(!config_watch_start(&watch, &loop, fd, NULL, &hooks, &err), "%s is read",
		   cases[i].path);
		is_int(got.lost, cases[i].lost, "... and has an end, or is lost");
		is_str(got.lines, "", "... without a line");
		config_watch_stop(&watch);
		close(fd);
	}
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (!f || fputs(text, f) < 0 || fclose(f))
		ok(false, "writing %s", path);
}

static void test_file(void)
{
	char path[128], other[128], link[128];
	struct config_watch watch = CONFIG_WATCH_NONE;
	char *list[] = { link, NULL };
	const struct strv paths = { list, 1 };
	struct err err;

	snprintf(path, sizeof(path), "%s/s.json", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	snprintf(link, sizeof(link), "%s/sub", dir);
	ok(!mkdir(link, 0700), "a directory below");
	snprintf(link, sizeof(link), "%s/sub/link.json", dir);
	ok(!symlink("../s.json", link), "a link to the file");
	write_file(path, "x");
	memset(&got, 0, sizeof(got));
	ok(!config_watch_start(&watch, &loop, -1, &paths, &hooks, &err), "a file is watched");
	write_file(other, "x");
	write_file(path, "y");
	turn(1000);
	is_int(got.files, 1, "written in place, behind a link; another file says nothing");
	ok(!rename(other, path), "replaced");
	turn(1000);
	is_int(got.files, 2, "is told, too");
	config_watch_stop(&watch);
	config_watch_stop(&watch);
}

/* What changes between reading and watching is not lost. */
static void test_late(void)
{
	char path[128], absent[128];
	struct config_watch watch = CONFIG_WATCH_NONE;
	char *list[] = { path, absent, NULL };
	const struct strv paths = { list, 2 };
	struct err err;

	snprintf(path, sizeof(path), "%s/late.json", dir);
	snprintf(absent, sizeof(absent), "%s/none/absent.json", dir);
	memset(&got, 0, sizeof(got));
	config_watch_mark(&watch);
	write_file(path, "1");
	ok(!config_watch_start(&watch, &loop, -1, &paths, &hooks, &err), "watched after a change");
	ok(watch.files[0].late && !watch.files[1].late, "... which is known");
	for (int i = 0; i < 100 && !got.files; i++)
		turn(1000);
	is_int(got.files, 1, "... and told of");
	ok(!watch.files[0].late, "... once");
	config_watch_stop(&watch);
	config_watch_mark(&watch);
	ok(!unlink(path) && !mkfifo(path, 0600) &&
		   !config_watch_start(&watch, &loop, -1, &paths, &hooks, &err),
	   "a pipe is watched");
	ok(!watch.files[0].late, "... and is not read twice");
	config_watch_stop(&watch);
	config_watch_mark(&watch);
	watch.since.tv_sec += 1000;
	ok(!config_watch_start(&watch, &loop, -1, &paths, &hooks, &err), "watched after none");
	ok(!watch.files[0].late, "... there is nothing to tell");
	config_watch_stop(&watch);
	unlink(path);
}

int main(void)
{
	struct err err;
	char command[128];

	if (!mkdtemp(dir) || loop_init(&loop, &err) < 0)
		return 1;
	test_lines();
	test_devices();
	test_file();
	test_late();
	loop_release(&loop);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command) != 0)
		diag("%s is left", dir);
	return done();
}
