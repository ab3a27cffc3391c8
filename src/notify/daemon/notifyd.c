/* SPDX-License-Identifier: MIT */
/* wrapix-notifyd: the daemon's command line, and the commands that ask a running one. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "base/json.h"
#include "base/opt.h"
#include "notify/daemon/notifyd.h"
#include "notify/door.h"
#include "os/proc.h"
#include "os/signals.h"

struct args {
	bool status, test, probe, json, on_demand, version;
	const char *dir, *tcp;
};

#define FLAG(field) .kind = OPT_FLAG, .offset = offsetof(struct args, field)
#define STRING(field) .kind = OPT_STRING, .offset = offsetof(struct args, field)

static const struct opt opts[] = {
	{ 0, "status", FLAG(status), .help = "say how a running daemon is, and what it did last" },
	{ 0, "test", FLAG(test), .help = "have it show a test message, and say what became of it" },
	{ 0, "probe", FLAG(probe), .help = "say which way a message would take here; show none" },
	{ 0, "json", FLAG(json), .help = "with --status: print it as JSON" },
	{ 0, "on-demand", FLAG(on_demand), .help = "end when no session is left" },
	{ 0, "dir", "DIR", STRING(dir), .complete = COMPLETE_DIR,
	  .help = "where wrapix/ with the sockets is (default: $XDG_RUNTIME_DIR)" },
	{ 0, "tcp", "ADDRESS[:PORT]", STRING(tcp),
	  .help = "listen there as well, for virtual machines (port 5959)" },
	{ 0, "version", FLAG(version), .help = "print the version" },
	{ 'h', "help", .kind = OPT_HELP, .help = "show this help" },
	{ .kind = OPT_END },
};

static int fail(const struct err *err)
{
	_cleanup_str_ struct str text = { 0 };

	str_add_escaped(&text, err->msg);
	fprintf(stderr, "wrapix-notifyd: %s\n", text.s);
	if (err->hint[0])
		fprintf(stderr, "hint: %s\n", err->hint);
	return err->exit ? err->exit : EXIT_WRAPIX;
}

static void print_help(void)
{
	_cleanup_str_ struct str help = { 0 };

	opt_add_help(&help, opts, 80);
	printf("usage: wrapix-notifyd [options]\n\n"
	       "Shows what sandboxes tell the user. 'wrapix run' starts it when it is needed.\n\n"
	       "options:\n%s\nexample:\n  wrapix-notifyd --test\n",
	       help.s);
}

/* The place that 'wrapix run' uses as well. */
static char *base_dir(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR"), *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	char usual[64], *dir = NULL;
	struct stat st;

	snprintf(usual, sizeof(usual), "/run/user/%u", (unsigned)geteuid());
	if (!runtime || runtime[0] != '/')
		runtime = usual;
	if (stat(runtime, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	    !(st.st_mode & 022))
		return strdup(runtime);
	if (state && state[0] == '/')
		return strdup(state);
	return asprintf(&dir, "%s/.local/state", home ? home : "") < 0 ? NULL : dir;
}

/* --- the daemon --- */

static void log_line(const char *line)
{
	_cleanup_str_ struct str text = { 0 };

	str_add_escaped(&text, line);
	fprintf(stderr, "wrapix-notifyd: %s\n", text.s);
}

static int on_signal(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	container_of(source, struct hub, signals)->loop.done = true;
	return 0;
}

static int watch_signals(struct hub *hub, struct err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	hub->signals = (struct loop_source){
		.fd = os_signals_open(&set),
		.on_event = on_signal,
	};
	if (hub->signals.fd < 0)
		return err_errno(err, errno, "watching signals");
	return loop_add(&hub->loop, &hub->signals, LOOP_IN, err);
}

/* Whoever started it reads this line, or the end of it, as "ready". */
static void say_ready(const struct hub *hub)
{
	int null;

	printf("wrapix-notifyd: listening on %s/wrapix/notify.sock\n", hub->path);
	fflush(stdout);
	null = hub->on_demand ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
	if (null < 0)
		return;
	dup2(null, STDOUT_FILENO);
	close(null);
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && !strcmp(value, "1");
}

static int serve(const struct args *args, char *dir)
{
	struct hub *hub = calloc(1, sizeof(*hub));
	struct err err = { 0 };
	int r;

	if (!hub)
		return EXIT_WRAPIX;
	hub->path = dir;
	hub->log = log_line;
	hub->on_demand = args->on_demand;
	hub->always = is_set("WRAPIX_NOTIFY_ALWAYS");
	hub->verbose = is_set("WRAPIX_NOTIFY_VERBOSE");
	/* What it hears is the user's: no core file, no other process of a sandbox may look. */
	os_set_dumpable(0);
	r = hub_open(hub, &err);
	if (r == 0 && args->tcp)
		r = hub_listen_tcp(hub, args->tcp, &err);
	if (r == 0)
		r = watch_signals(hub, &err);
	if (r == 0) {
		say_ready(hub);
		r = loop_run(&hub->loop, -1, &err);
	}
	if (r == 0 && !hub->activated) {
		unlinkat(hub->dir, DOOR_NAME, 0);
		unlinkat(hub->dir, "notify.sock", 0);
	}
	hub_close(hub);
	free(hub);
	/* On demand, two may be started at once: the second has nothing to do. */
	if (r == -EEXIST && args->on_demand)
		return 0;
	return r < 0 ? fail(&err) : 0;
}

/* --- asking a running one --- */

static int ask(int door, const char *op, struct str *ret, struct err *err)
{
	_cleanup_str_ struct str request = { 0 };
	struct pollfd p = { .fd = door, .events = POLLIN };
	char *buf = malloc(65536);
	ssize_t n = -1;
	int r;

	str_addf(&request, "{\"op\":\"%s\"}", op);
	r = door_send(door, &request, -1);
	if (r == 0 && buf && poll(&p, 1, 5000) > 0)
		n = recv(door, buf, 65536, 0);
	ret->len = 0;
	if (n > 0)
		str_addn(ret, buf, (size_t)n);
	free(buf);
	return n > 0 ? 0 : err_set(err, EPROTO, "the daemon does not answer");
}

/* Numbers are text as well. */
static const char *text_of(struct json_object *o, const char *key)
{
	return json_object_get_string(json_object_object_get(o, key)) ?: "";
}

static void print_line(const char *label, const char *text)
{
	_cleanup_str_ struct str shown = { 0 };

	str_add_escaped(&shown, text);
	printf("%-10s %s\n", label, shown.s ? shown.s : "");
}

static void print_counts(struct json_object *o)
{
	static const char *const keys[] = { "received", "shown",     "summed",   "silent",
					    "quiet",    "malformed", "too_long", "refused" };

	printf("%-10s", "counts");
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		printf(" %s %s%s", keys[i], text_of(o, keys[i]),
		       i + 1 < ARRAY_LEN(keys) ? "," : "\n");
}

static void print_status(struct json_object *o)
{
	struct json_object *list = json_object_object_get(o, "sessions");
	_cleanup_str_ struct str line = { 0 };

	print_line("desktop", text_of(o, "desktop"));
	print_line("program", text_of(o, "program")[0] ? text_of(o, "program") : "none installed");
	print_counts(o);
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *s = json_object_array_get_idx(list, i);

		line.len = 0;
		str_addf(&line, "%s %s, terminal %s%s%s", text_of(s, "id"), text_of(s, "name"),
			 text_of(s, "tty")[0] ? text_of(s, "tty") : "none",
			 text_of(s, "tmux")[0] ? ", tmux " : "", text_of(s, "tmux"));
		print_line("session", line.s);
	}
	list = json_object_object_get(o, "last");
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *s = json_object_array_get_idx(list, i);

		line.len = 0;
		str_addf(&line, "%s: '%s': %s", text_of(s, "sender"), text_of(s, "title"),
			 text_of(s, "outcome"));
		print_line("last", line.s);
	}
}

static int status(int door, bool json, struct err *err)
{
	_cleanup_str_ struct str text = { 0 };
	_cleanup_json_ struct json_object *o = NULL;
	int r = ask(door, "status", &text, err);

	if (r == 0 && json)
		puts(text.s ? text.s : "");
	else if (r == 0)
		r = json_parse(text.s, text.len, "the daemon", &o, err);
	if (r == 0 && !json)
		print_status(o);
	return r;
}

/* Its last outcome, once there is a new one. */
static int test(int door, struct err *err)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	unsigned long before = 0;

	for (int tries = 0; tries < 200; tries++) {
		_cleanup_str_ struct str text = { 0 };
		_cleanup_json_ struct json_object *o = NULL;
		struct json_object *last;
		int r = ask(door, "status", &text, err);

		if (r == 0)
			r = json_parse(text.s, text.len, "the daemon", &o, err);
		if (r < 0)
			return r;
		last = json_object_object_get(o, "last");
		if (!tries) {
			before = strtoul(text_of(o, "outcomes"), NULL, 10);
			r = ask(door, "test", &text, err);
			if (r < 0)
				return r;
		} else if (strtoul(text_of(o, "outcomes"), NULL, 10) > before && last) {
			size_t n = json_object_array_length(last);

			print_line("test",
				   text_of(json_object_array_get_idx(last, n - 1), "outcome"));
			return 0;
		}
		nanosleep(&pause, NULL);
	}
	return err_set(err, ETIMEDOUT, "no outcome after ten seconds");
}

/* --- without a daemon --- */

struct probe {
	struct loop loop;
	struct bus *bus;
};

static void on_probe_change(void *ctx)
{
	struct probe *p = ctx;

	p->loop.done = p->bus && bus_state(p->bus) != BUS_CONNECTING;
}

/* One line, and whether anything but a terminal will show a message. */
static int probe(void)
{
	struct probe p = { .bus = NULL };
	const struct bus_hooks hooks = { .on_change = on_probe_change, .ctx = &p };
	const char *program = way_program_name();
	bool works = false;
	struct err err;

	if (loop_init(&p.loop, &err) < 0)
		return fail(&err);
	p.bus = bus_new(&p.loop, NULL, &hooks);
	if (p.bus && bus_state(p.bus) == BUS_CONNECTING)
		(void)loop_run(&p.loop, 3000, &err); /* the state says how it ended */
	works = p.bus && bus_works(p.bus);
	if (works)
		printf("shown by %s\n", bus_describe(p.bus));
	else
		printf("%s; %s%s\n", p.bus ? bus_describe(p.bus) : "no bus",
		       program ? "then by " : "then on the terminal", program ? program : "");
	bus_free(p.bus);
	loop_release(&p.loop);
	return works ? 0 : 1;
}

static int query(const struct args *args, const char *dir)
{
	struct err err = { 0 };
	_cleanup_close_ int door = door_connect(dir);
	int r = 0;

	if (door < 0) {
		err_errno(&err, -door, "asking the daemon of '%s/wrapix'", dir);
		err_hint(&err,
			 "none is running; 'wrapix run -- wrapix-notify TITLE MESSAGE' starts one "
			 "and shows a message");
		return fail(&err);
	}
	if (args->test)
		r = test(door, &err);
	if (r == 0 && args->status)
		r = status(door, args->json, &err);
	return r < 0 ? fail(&err) : 0;
}

int main(int argc, char **argv)
{
	static const struct opt_syntax syntax = { opts, .max = 0 };
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	_cleanup_free_ char *dir = NULL;
	struct args args = { 0 };
	struct err err = { 0 };
	int r = opt_parse(&syntax, &args, argc, argv, &rest, &err);

	os_keep_children();
	if (r == OPT_WANTS_HELP) {
		print_help();
		return 0;
	}
	if (r < 0)
		return fail(&err);
	if (args.version) {
		puts("wrapix-notifyd " WRAPIX_VERSION);
		return 0;
	}
	dir = args.dir ? strdup(args.dir) : base_dir();
	if (!dir)
		return EXIT_WRAPIX;
	if (args.probe)
		return probe();
	return args.status || args.test ? query(&args, dir) : serve(&args, dir);
}
