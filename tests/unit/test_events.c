/* SPDX-License-Identifier: MIT */
/* The event log: what is written, counted, cut and kept, and what a reader makes of any bytes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/tap.h"
#include "net/filter.h"
#include "os/fs.h"
#include "session/events.h"

static char state[] = "/tmp/wrapix-test-events.XXXXXX";
static struct err err;
static int opened, failed;
static struct loop loop;

static void on_opened(void *ctx)
{
	(void)ctx;
	opened++;
	loop.done = true;
}

static void on_failed(void *ctx, const struct err *why)
{
	(void)ctx;
	err = *why;
	failed++;
}

static void start(struct event_log *log, const char *id)
{
	const struct event_log_hooks hooks = { .opened = on_opened, .failed = on_failed };
	const struct fix_place place = { .dialect = FIX_RUN, .file = "/home/me/site/wrapix.json" };
	struct session_info about = {
		.id = (char *)id,
		.name = (char *)"site",
		.dir = (char *)"/home/me/site",
		.engine = (char *)"native",
		.network = (char *)"filtered",
		.command = (char *)"sh -c 'echo \"hi\x1b[2J\"'",
	};

	opened = failed = 0;
	event_log_init(log, state, &about, &place, &hooks);
}

static char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/wrapix/log/%s", state, name);
	return path;
}

static char *text_of(const char *name, size_t *ret_len)
{
	char *text;

	if (os_read_file_at(AT_FDCWD, path_of(name), 64 << 20, &text, ret_len) < 0)
		abort();
	return text;
}

static void write_file(const char *name, const char *text, size_t len)
{
	int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || os_write_all(fd, text, len) < 0)
		abort();
	close(fd);
}

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, word)); p++)
		n++;
	return n;
}

static void clear(void)
{
	int fd = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (os_remove_tree(fd, "wrapix") < 0)
		abort();
	close(fd);
}

static const struct owner curl = {
	.pid = 7, .comm = "curl", .len = sizeof("curl\0-H\0a b"), .args = "curl\0-H\0a b"
};

static void deny(struct event_log *log, const char *name, const struct owner *owner)
{
	struct net_event event = {
		.type = NET_EVENT_DENIED,
		.name = name,
		.reason = NET_NOT_ALLOWED,
		.owner = owner,
	};

	event_log_network(log, &event);
}

static void connection(struct event_log *log)
{
	struct net_event event = {
		.type = NET_EVENT_ENDED,
		.name = "ok.example",
		.address = "192.0.2.1",
		.port = 443,
		.rule = "*.example",
		.sent = 100,
		.received = 123456789012,
		.seconds = 61.0625,
		.owner = &curl,
	};

	event_log_network(log, &event);
}

/* All events of a log: how many, and the sum of what deny lines count and gaps miss. */
struct tally {
	size_t headers, events, bad;
	uint64_t denials, lost;
};

static struct tally read_log(const char *id)
{
	struct tally tally = { 0 };
	struct event_reader reader;
	struct json_object *event, *value;
	int dir = event_log_open_dir(state, &err);

	if (dir < 0 || event_reader_open(&reader, dir, id, &err) < 0)
		abort();
	while (event_reader_next(&reader, &event) > 0) {
		tally.headers += event_is_header(event);
		tally.events += !event_is_header(event);
		if (json_object_object_get_ex(event, "lost", &value))
			tally.lost += (uint64_t)json_object_get_int64(value);
		if (json_object_object_get_ex(event, "reason", NULL))
			tally.denials += json_object_object_get_ex(event, "count", &value)
						 ? (uint64_t)json_object_get_int64(value)
						 : 1;
		json_object_put(event);
	}
	event_reader_finish(&reader);
	tally.bad = reader.bad;
	event_reader_close(&reader);
	close(dir);
	return tally;
}

/* --- writing --- */

static void test_lazy(void)
{
	struct event_log log;

	start(&log, "lazyaaaa");
	event_log_close(&log, 0);
	ok(access(path_of(""), F_OK) < 0 && errno == ENOENT, "no event: no file, no directory");
	is_int(opened, 0, "... and nobody is told of one");
	event_log_text(&log, "limit", "late");
	ok(access(path_of(""), F_OK) < 0, "nothing is written after the end");
}

static void test_lines(void)
{
	struct event_log log;
	struct stat st;
	size_t len;
	char *text, *line;

	start(&log, "lineaaaa");
	connection(&log);
	is_int(opened, 1, "the first event makes the file");
	ok(stat(path_of("lineaaaa.jsonl"), &st) == 0 && (st.st_mode & 07777) == 0600,
	   "... for its owner alone");
	ok(stat(path_of(""), &st) == 0 && (st.st_mode & 07777) == 0700, "... in such a directory");
	event_log_text(&log, "limit", "memory\n");
	deny(&log, "evil.example", &curl);
	event_log_network(&log, &(struct net_event){ .type = NET_EVENT_DENY_RULE, .rule = "*.x" });
	event_log_close(&log, 3);
	is_int(opened, 1, "... once");
	text = text_of("lineaaaa.jsonl", &len);
	line = strtok(text, "\n");
	ok(!strncmp(line, "{\"v\":1,\"id\":\"lineaaaa\",\"name\":\"site\",", 36), "header");
	ok(strstr(line, "\"command\":\"sh -c 'echo "
			"\\\"hi\\u001b[2J\\\"'\",\"policy\":\"run\",\"settings\":"),
	   "... with the command, escaped");
	line = strtok(NULL, "\n");
	is_str(line + 32,
	       "\"type\":\"connection\",\"name\":\"ok.example\",\"address\":\"192.0.2.1\",\"port\":"
	       "443,"
	       "\"rule\":\"*.example\",\"sent\":100,\"received\":123456789012,\"seconds\":61.063,"
	       "\"process\":{\"pid\":7,\"comm\":\"curl\",\"argv\":[\"curl\",\"-H\",\"a b\"]}}",
	       "a connection");
	is_str(strtok(NULL, "\n") + 32, "\"type\":\"limit\",\"text\":\"memory\\n\"}", "a limit");
	is_str(strtok(NULL, "\n") + 32, "\"type\":\"rule\",\"effect\":\"deny\",\"rule\":\"*.x\"}",
	       "a rule");
	is_str(strtok(NULL, "\n") + 32,
	       "\"type\":\"deny\",\"what\":\"lookup\",\"name\":\"evil.example\","
	       "\"reason\":\"not-allowed\",\"fix\":{\"key\":\"network.allow\",\"add\":"
	       "\"evil.example\"},\"process\":{\"pid\":7,\"comm\":\"curl\","
	       "\"argv\":[\"curl\",\"-H\",\"a b\"]}}",
	       "a denial");
	is_str(strtok(NULL, "\n") + 32,
	       "\"type\":\"exit\",\"status\":3,\"cpu\":0.000,\"memory\":0}", "the end");
	ok(!strtok(NULL, "\n"), "and no more");
	free(text);
}

static void test_counting(void)
{
	const struct owner other = { .pid = 8, .comm = "wget", .len = 5, .args = "wget" };
	const struct owner likely = {
		.pid = 9, .comm = "make", .len = 5, .args = "make", .likely = true
	};
	char value[DENIAL_LIMIT_MAX];
	struct denial limit;
	struct event_log log;
	struct tally tally;
	char *text;
	size_t len;

	start(&log, "countaaa");
	for (int i = 0; i < 500; i++)
		deny(&log, "evil.example", NULL);
	deny(&log, "evil.example", &curl);
	deny(&log, "evil.example", &other);
	deny(&log, "evil.example", NULL);
	deny(&log, "bad.example", NULL);
	event_log_close(&log, 0);
	text = text_of("countaaa.jsonl", &len);
	is_int((long long)count(text, "\"name\":\"evil.example\""), 2,
	       "a line for each process that is known");
	ok(strstr(text, "\"count\":502,\"process\":{\"pid\":7"), "... with how often it was");
	ok(strstr(text, "\"add\":\"bad.example\"}}"), "... and none for once");
	free(text);
	tally = read_log("countaaa");
	is_int((long long)tally.denials, 504, "none is lost");
	clear();

	start(&log, "timesaaa");
	denial_of_limit(&limit, DENIAL_PROCESSES, 50, value);
	limit.times = 7;
	event_log_denial(&log, &limit, NULL, &likely);
	limit.times = 0;
	event_log_denial(&log, &limit, NULL, &likely);
	event_log_close(&log, 0);
	text = text_of("timesaaa.jsonl", &len);
	ok(strstr(text, "\"count\":8,\"process\":{\"pid\":9,\"comm\":\"make\",\"argv\":[\"make\"],"
			"\"predicted\":true}}"),
	   "several at once, of one who is likely");
	free(text);
	clear();

	start(&log, "manyaaaa");
	for (int i = 0; i < 200; i++) {
		char name[32];

		snprintf(name, sizeof(name), "n%d.example", i % 100);
		deny(&log, name, NULL);
	}
	event_log_close(&log, 0);
	tally = read_log("manyaaaa");
	is_int((long long)tally.denials, 200, "more than wait at a time: none is lost either");
}

static void test_timer(void)
{
	struct event_log log;

	if (loop_init(&loop, &err) < 0)
		abort();
	start(&log, "timeaaaa");
	event_log_watch(&log, &loop);
	deny(&log, "evil.example", NULL);
	deny(&log, "evil.example", NULL);
	is_int(opened, 0, "a denial waits");
	is_int(loop_run(&loop, 20000, &err), 0, "... for its second");
	is_int(opened, 1, "... and is written then");
	is_int((long long)read_log("timeaaaa").denials, 2, "... with its count");
	event_log_watch(&log, NULL);
	event_log_close(&log, 0);
	loop_release(&loop);
}

static void test_flood(void)
{
	const int n = 20 * EVENTS_PER_SECOND;
	struct event_log log;
	struct tally tally;

	start(&log, "floodaaa");
	for (int i = 0; i < n; i++)
		connection(&log);
	event_log_close(&log, 0);
	tally = read_log("floodaaa");
	ok(tally.lost > 0 && tally.events < (size_t)n / 2, "a flood is counted, not written");
	/* Without the exit and the lines about gaps: at most one a second, and the last. */
	ok(tally.events + tally.lost >= (size_t)n + 2 &&
		   tally.events + tally.lost <= (size_t)n + 20,
	   "... and nothing is missing from the count");
}

static void test_files(void)
{
	struct event_log log;
	struct tally tally;
	char *text;
	size_t len;
	int n = 900; /* below what is a flood */

	start(&log, "filesaaa");
	event_log_text(&log, "warning", "the first");
	log.size_max = 20000;
	for (int i = 0; i < n; i++)
		connection(&log);
	event_log_text(&log, "warning", "the last");
	event_log_close(&log, 0);
	text = text_of("filesaaa.jsonl", &len);
	ok(len <= 20000 && strstr(text, "the first"), "the first file keeps the beginning");
	free(text);
	text = text_of("filesaaa.1.jsonl", &len);
	ok(len <= 20000 && strstr(text, "the last"), "the second has the latest");
	is_int((long long)count(text, "\"type\":\"truncated\""), 1,
	       "... and says that there is a gap");
	ok(!strncmp(text, "{\"v\":1,", 7), "... and has a header of its own");
	free(text);
	tally = read_log("filesaaa");
	is_int((long long)(tally.events + tally.lost), n + 2 + 1 + 1,
	       "what is there and what is missing are all of it (with the gap's own line)");
	is_int((long long)tally.headers, 2, "both files are read");
	is_int((long long)tally.bad, 0, "... and whole");
}

static void test_failures(void)
{
	struct rlimit old, tiny;
	struct event_log log;
	struct tally tally;
	int keep;

	start(&log, "failaaaa");
	event_log_text(&log, "warning", "before");
	keep = log.fd;
	log.fd = open("/dev/full", O_WRONLY | O_APPEND | O_CLOEXEC);
	event_log_text(&log, "warning", "one");
	event_log_text(&log, "warning", "two");
	is_int(failed, 1, "a full disk is said once");
	ok(strstr(err.msg, "wrapix log") && strstr(err.msg, "No space"), "... in words");
	close(log.fd);
	log.fd = keep;
	event_log_text(&log, "warning", "after");
	event_log_close(&log, 0);
	tally = read_log("failaaaa");
	is_int((long long)tally.lost, 2, "... and the log says what it lacks");
	/* The empty line is what heals a line that was cut short. */
	ok(tally.events == 4 && tally.bad == 1, "... and is readable around it");

	getrlimit(RLIMIT_FSIZE, &old);
	tiny = (struct rlimit){ 4096, old.rlim_max };
	setrlimit(RLIMIT_FSIZE, &tiny);
	start(&log, "ulimitaa");
	for (int i = 0; i < 100; i++)
		event_log_text(&log, "warning", "x");
	event_log_close(&log, 0);
	setrlimit(RLIMIT_FSIZE, &old);
	ok(failed == 1 && strstr(err.msg, "ulimit -f"), "a limit for files kills nobody");
}

static void test_link(void)
{
	struct event_log log;
	char dir[64], link[80];

	snprintf(dir, sizeof(dir), "%s/wrapix", state);
	snprintf(link, sizeof(link), "%s/log", dir);
	if (mkdir(dir, 0700) < 0 || symlink("/tmp", link) < 0)
		abort();
	start(&log, "linkaaaa");
	event_log_text(&log, "warning", "x");
	event_log_close(&log, 0);
	ok(failed == 1 && access("/tmp/linkaaaa.jsonl", F_OK) < 0,
	   "a link in the place of the directory is not followed");
}

/* --- crash --- */

static void test_crash(void)
{
	int pipes[2];
	pid_t pid;
	size_t len, whole = 0, lines = 0, wrong = 0;
	char *text, byte;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		abort();
	pid = fork();
	if (pid == 0) {
		struct event_log log;

		start(&log, "crashaaa");
		for (int i = 0; i < 5; i++)
			connection(&log);
		if (write(pipes[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	if (read(pipes[0], &byte, 1) != 1)
		abort();
	{
		struct event_log_info *list;
		struct arena arena = { 0 };
		size_t n;

		is_int(event_log_list(&arena, state, &list, &n, &err), 0, "while it is written");
		ok(n == 1 && list[0].session.pid == pid, "... the writer is known");
		is_str(list[0].session.dir, "/home/me/site", "... and what it is about");
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		event_log_list(&arena, state, &list, &n, &err);
		ok(n == 1 && list[0].session.pid == 0, "... and that it was killed");
		arena_release(&arena);
	}
	is_int((long long)read_log("crashaaa").events, 5, "kill -9: what was written is there");
	text = text_of("crashaaa.jsonl", &len);
	for (size_t i = 0; i <= len; i++) {
		struct tally tally;

		write_file("cutaaaaa.jsonl", text, i);
		tally = read_log("cutaaaaa");
		lines += i > 0 && text[i - 1] == '\n';
		whole = tally.headers + tally.events;
		wrong += whole != lines || tally.bad != (i > 0 && text[i - 1] != '\n');
	}
	is_int((long long)wrong, 0, "cut at each of %zu bytes: every whole line, and no other",
	       len);
	free(text);
}

/* --- what is kept --- */

static void test_prune(void)
{
	struct event_log log, live;
	char name[64];
	size_t logs = 0;
	struct dirent *entry;
	DIR *dir;

	start(&live, "liveaaaa");
	event_log_text(&live, "warning", "x");
	for (int i = 0; i < 130; i++) {
		struct timespec times[2] = { { .tv_sec = 1000 + i }, { .tv_sec = 1000 + i } };

		snprintf(name, sizeof(name), "old%03d.jsonl", i);
		write_file(name, "x\n", 2);
		utimensat(AT_FDCWD, path_of(name), times, 0);
		snprintf(name, sizeof(name), "old%03d.1.jsonl", i);
		write_file(name, "x\n", 2);
		utimensat(AT_FDCWD, path_of(name), times, 0);
	}
	write_file("notes.txt", "x", 1);
	write_file("Upper.jsonl", "x", 1);
	{
		struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

		utimensat(AT_FDCWD, path_of("liveaaaa.jsonl"), times, 0);
		utimensat(AT_FDCWD, path_of("notes.txt"), times, 0);
	}
	/* A record lock is no obstacle to its own process, so another one must look. */
	if (fork() == 0) {
		start(&log, "newaaaaa");
		event_log_text(&log, "warning", "x");
		event_log_close(&log, 0);
		_exit(0);
	}
	wait(NULL);
	dir = opendir(path_of(""));
	while ((entry = readdir(dir)))
		logs += strstr(entry->d_name, ".jsonl") && !strstr(entry->d_name, ".1.jsonl");
	closedir(dir);
	/* One too many is removed for the live one, which stays. */
	is_int((long long)logs, EVENTS_KEPT + 1 + 1,
	       "the latest %d are kept, and a live one, and what is none", EVENTS_KEPT);
	ok(access(path_of("liveaaaa.jsonl"), F_OK) == 0, "the live one is, however old");
	ok(access(path_of("newaaaaa.jsonl"), F_OK) == 0, "the new one is");
	ok(access(path_of("old129.jsonl"), F_OK) == 0 && access(path_of("old031.jsonl"), F_OK) == 0,
	   "the newest of the old are");
	ok(access(path_of("old030.jsonl"), F_OK) < 0 && access(path_of("old000.1.jsonl"), F_OK) < 0,
	   "the oldest are gone, both files");
	ok(access(path_of("notes.txt"), F_OK) == 0 && access(path_of("Upper.jsonl"), F_OK) == 0,
	   "other files are nobody's business");
	event_log_close(&live, 0);
}

static void test_list(void)
{
	struct event_log log;
	struct event_log_info *list;
	struct arena arena = { 0 };
	size_t n;

	is_int(event_log_list(&arena, state, &list, &n, &err), 0, "no directory: no logs");
	is_int((long long)n, 0, "... not one");
	for (int i = 0; i < 3; i++) {
		static const char *const ids[] = { "zzzzzzzz", "aaaaaaaa", "mmmmmmmm" };

		start(&log, ids[i]);
		log.started = 1000000 + i; /* a millisecond apart */
		event_log_text(&log, "warning", "x");
		event_log_close(&log, 0);
	}
	write_file("damaged.jsonl", "{\"v\":1,\"id\"", 11);
	if (symlink("/etc/passwd", path_of("linkedlog.jsonl")) < 0 ||
	    mkfifo(path_of("fifo.jsonl"), 0600) < 0)
		abort();
	is_int(event_log_list(&arena, state, &list, &n, &err), 0, "all logs");
	is_int((long long)n, 4, "... and nothing else");
	is_str(list[0].session.id, "damaged", "one without a header has its id");
	is_str(list[0].session.name, "", "... and no name");
	is_str(list[1].session.id, "zzzzzzzz", "the oldest first");
	is_str(list[3].session.id, "mmmmmmmm", "... by the millisecond");
	arena_release(&arena);
}

/* --- reading --- */

static void test_time(void)
{
	static const char *const wrong[] = {
		"",
		"2026-11-15",
		"2026-11-15T12:00:00Z",
		"2026-11-15T12:00:00.123",
		"2026-11-15T12:00:00.123Z ",
		"2026-02-31T12:00:00.123Z",
		"2026-13-01T12:00:00.123Z",
		"2026-11-15T24:00:00.123Z",
		"2026-11-15 12:00:00.123Z",
		"-026-11-15T12:00:00.123Z",
	};
	_cleanup_str_ struct str text = { 0 };
	int64_t time = 0;

	ok(event_time_parse("2026-11-15T12:34:56.789Z", &time) && time == 1794746096789, "a time");
	event_time_add(&text, time);
	is_str(text.s, "2026-11-15T12:34:56.789Z", "... and back");
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		ok(!event_time_parse(wrong[i], &time), "no time: '%s'", wrong[i]);
}

#define T "\"t\":\"2026-11-15T12:34:56.789Z\""

static void test_parse(void)
{
	static const struct {
		const char *line;
		bool good;
	} lines[] = {
		{ "{" T ",\"type\":\"deny\"}", true },
		{ "{" T ",\"type\":\"of-the-future\",\"x\":[1,{\"y\":null}]}", true },
		{ "{\"v\":1,\"id\":\"a\",\"started\":\"2026-11-15T12:34:56.789Z\"}", true },
		{ "{\"v\":2,\"id\":\"a\",\"started\":\"2026-11-15T12:34:56.789Z\"}", false },
		{ "{\"v\":1,\"id\":\"0123456789abcdef\",\"started\":\"2026-11-15T12:34:56.789Z\"}",
		  false },
		{ "{\"v\":1}", false },
		{ "{" T "}", false },
		{ "{\"type\":\"deny\"}", false },
		{ "{" T ",\"type\":7}", false },
		{ "{" T ",\"type\":\"\"}", false },
		{ "{" T ",\"type\":\"De\\u001bny\"}", false },
		{ "{\"t\":1,\"type\":\"deny\"}", false },
		{ "{" T ",\"type\":\"deny\"} x", false },
		{ "{" T ",\"type\":\"deny\",\"type\":\"exit\"}", false },
		{ "[]", false },
		{ "null", false },
		{ "", false },
		{ "\xff", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct json_object *event = NULL;
		int r = event_parse(lines[i].line, strlen(lines[i].line), &event);

		is_int(r, lines[i].good ? 0 : -EINVAL, "%s: %s", lines[i].good ? "good" : "bad",
		       lines[i].line);
		json_object_put(event);
	}
}

static const char *text_for(const char *line)
{
	static struct str out;
	struct json_object *event;

	str_release(&out);
	out = (struct str){ 0 };
	if (event_parse(line, strlen(line), &event) < 0)
		abort();
	event_add_text(&out, event);
	json_object_put(event);
	return out.s;
}

static void test_text(void)
{
	_cleanup_str_ struct str json = { 0 };
	struct json_object *event;
	const char *line;

	is_str(text_for(
		       "{" T
		       ",\"type\":\"connection\",\"name\":\"ok.example\",\"port\":443,\"sent\":100,"
		       "\"received\":1536000,\"seconds\":61.063,\"process\":{\"pid\":7,\"comm\":"
		       "\"curl\","
		       "\"argv\":[\"curl\",\"a b\"]}}"),
	       "2026-11-15 12:34:56  ok.example:443                       ok"
	       "                        100    1500K    61.063  7 curl 'a b'",
	       "a connection");
	is_str(text_for("{" T ",\"type\":\"deny\",\"address\":\"fd00::1\",\"port\":22,\"reason\":"
			"\"direct-ip\","
			"\"count\":3,\"rule\":\"[fd00::1]\"}"),
	       "2026-11-15 12:34:56  [fd00::1]:22                         direct-ip x3 by "
	       "[fd00::1]",
	       "a denial");
	line = text_for(
		"{" T ",\"type\":\"deny\",\"what\":\"write\",\"call\":\"openat\",\"reason\":"
		"\"not-allowed\",\"path\":\"/home/user/a-project/with/a/name/that/is/long.txt\","
		"\"process\":{\"pid\":7,\"argv\":[\"sh\"]}}");
	is_str(line + strcspn(line, "/"),
	       "/home/user/a-project/with/a/name/that/is/long.txt not-allowed"
	       "                    7 sh",
	       "a long path");
	is_int((long long)(strstr(line, "  7 sh") - line), 22 + 36 + 1 + 20 + 28 - 1,
	       "... what follows it stays in its column");
	is_str(text_for("{" T ",\"type\":\"exit\",\"status\":7}"),
	       "2026-11-15 12:34:56  ended with status 7", "the end");
	is_str(text_for("{" T ",\"type\":\"rule\",\"effect\":\"deny\",\"rule\":\"*\"}"),
	       "2026-11-15 12:34:56  from now on: deny *", "a rule");
	is_str(text_for("{" T ",\"type\":\"truncated\",\"lost\":12}"),
	       "2026-11-15 12:34:56  12 events are missing here", "a gap");
	is_str(text_for("{" T ",\"type\":\"newer\"}"), "2026-11-15 12:34:56  newer", "another one");
	line = "{" T ",\"type\":\"deny\",\"name\":\"a\\u001b[2J\\nb\\u202e\",\"port\":\"x\","
	       "\"process\":{\"pid\":-1,"
	       "\"argv\":[\"\xc2\x9b\",{},\"\\udcff\"]}}";
	is_str(text_for(line),
	       "2026-11-15 12:34:56  a\\x1b[2J\\x0ab\\xe2\\x80\\xae            denied"
	       "                                            -1 '\\xc2\\x9b'  '\\xff'",
	       "hostile text");
	if (event_parse(line, strlen(line), &event) < 0)
		abort();
	event_add_json(&json, event);
	is_str(json.s,
	       "{" T ",\"type\":\"deny\",\"name\":\"a\\u001b[2J\\nb\\u202e\",\"port\":\"x\","
	       "\"process\":{\"pid\":-1,"
	       "\"argv\":[\"\\u009b\",{},\"\\udcff\"]}}",
	       "... and as JSON");
	json_object_put(event);
}

static void test_follow(void)
{
	struct json_object *event;
	struct event_reader reader;
	struct event_log log;
	int dir, seen = 0;

	start(&log, "followaa");
	event_log_text(&log, "warning", "0");
	dir = event_log_open_dir(state, &err);
	if (dir < 0 || event_reader_open(&reader, dir, "followaa", &err) < 0)
		abort();
	while (event_reader_next(&reader, &event) > 0)
		json_object_put(event);
	is_int(event_reader_next(&reader, &event), 0, "the end, for now");
	log.size_max = 8000;
	/* The files are begun anew many times, and the reader is never more than a line behind. */
	for (int i = 1; i <= 800; i++) {
		event_log_text(&log, "warning", "more, and more, and more, and more");
		while (event_reader_next(&reader, &event) > 0) {
			seen += !event_is_header(event) &&
				!json_object_object_get_ex(event, "lost", NULL);
			json_object_put(event);
		}
	}
	is_int(seen, 800, "who follows misses nothing, whatever becomes of the files");
	is_int((long long)reader.bad, 0, "... and nothing is damaged");
	event_reader_close(&reader);
	close(dir);
	event_log_close(&log, 0);
}

static void test_hostile_files(void)
{
	char *big = malloc(20 << 20);
	struct event_log log;
	struct tally tally;
	size_t len = 0;

	start(&log, "makesdir");
	event_log_text(&log, "warning", "x");
	event_log_close(&log, 0);
	memset(big, 'x', 20 << 20);
	write_file("bigaaaaa.jsonl", big, 20 << 20);
	tally = read_log("bigaaaaa");
	ok(tally.events == 0 && tally.bad == 1, "a file without a line");
	len = 100000;
	len += (size_t)sprintf(big + len, "\n{" T ",\"type\":\"exit\"}\n");
	write_file("longaaaa.jsonl", big, len);
	tally = read_log("longaaaa");
	ok(tally.events == 1 && tally.bad == 1, "a line that is too long, and a good one");
	memset(big, '\n', 1000);
	write_file("nullaaaa.jsonl", big, 1000);
	is_int((long long)read_log("nullaaaa").bad, 1000, "empty lines are no events");
	free(big);
}

int main(void)
{
	static void (*const tests[])(void) = {
		test_lazy,  test_lines, test_counting, test_timer,
		test_flood, test_files, test_failures, test_link,
		test_crash, test_prune, test_list,     test_time,
		test_parse, test_text,  test_follow,   test_hostile_files,
	};

	setenv("TZ", "UTC", 1);
	if (!mkdtemp(state))
		abort();
	for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
		tests[i]();
		clear();
	}
	rmdir(state);
	return done();
}
