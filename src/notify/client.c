/* SPDX-License-Identifier: MIT */
/*
 * wrapix-notify: sends one message and is gone.
 *
 * It stands inside every sandbox and image, so it is static and needs nothing. An agent's hook runs
 * it, so it never keeps the agent waiting (200 ms after its last word, unless --wait asks for it) and never fails:
 * the exit status is 0 whatever happened, and WRAPIX_NOTIFY_VERBOSE=1 says what that was.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "base/opt.h"
#include "notify/message.h"
#include "notify/scan.h"
#include "os/socket.h"
#include "os/timer.h"

#define SOCKET_INSIDE "/run/wrapix/notify.sock"
#define TCP_PORT 5959
#define PATIENCE_MS 200
#define HOOK_MS 5000 /* for the agent itself, to say what its hook is about */
#define HOOK_MAX (1 << 20)

struct args {
	bool hook, wait, version;
	const char *replace, *timeout;
	struct message message;
};

static int64_t deadline;

static int ms_left(void)
{
	return (int)MAX(deadline - os_now_ms(), 0);
}

static void say(const char *fmt, ...) _printf_(1, 2);
static void say(const char *fmt, ...)
{
	const char *verbose = getenv("WRAPIX_NOTIFY_VERBOSE");
	va_list ap;

	if (!verbose || strcmp(verbose, "1"))
		return;
	fputs("wrapix-notify: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* --- the command line --- */

static int set_urgency(void *ctx, _unused_ const struct opt *opt, const char *value,
		       struct err *err)
{
	struct args *args = ctx;

	return urgency_parse(value, &args->message.urgency) < 0
		       ? err_usage(err, "--urgency: must be low, normal or critical")
		       : 0;
}

static int add_action(void *ctx, _unused_ const struct opt *opt, const char *value, struct err *err)
{
	struct message *m = &((struct args *)ctx)->message;
	const char *equals = strchr(value, '=');
	struct message_action *action = &m->actions[m->n_actions];
	char key[sizeof(action->key)];

	if (!equals || equals == value || (size_t)(equals - value) >= sizeof(key))
		return err_usage(err, "--action: must be KEY=LABEL");
	if (m->n_actions == ARRAY_LEN(m->actions))
		return err_usage(err, "--action: there may be %zu", ARRAY_LEN(m->actions));
	snprintf(key, sizeof(key), "%.*s", (int)(equals - value), value);
	message_set(action->key, sizeof(action->key), key, false);
	message_set(action->label, sizeof(action->label), equals + 1, false);
	m->n_actions++;
	return 0;
}

#define FLAG(field) .kind = OPT_FLAG, .offset = offsetof(struct args, field)

static const struct opt opts[] = {
	{ 0, "hook", FLAG(hook),
	  .help = "take the message from a Claude Code hook's JSON on "
		  "standard input" },
	{ 0, "urgency", "low|normal|critical", .kind = OPT_CALL, .call = set_urgency,
	  .help = "how much it matters (default: normal)" },
	{ 0, "action", "KEY=LABEL", .kind = OPT_CALL, .call = add_action, .repeat = true,
	  .help = "offer a button; repeatable" },
	{ 0, "wait", FLAG(wait), .help = "wait for the user's answer and print the chosen KEY" },
	{ 0, "timeout", "SECONDS", .kind = OPT_STRING, .offset = offsetof(struct args, timeout),
	  .help = "with --wait: no longer than this" },
	{ 0, "replace", "ID", .kind = OPT_STRING, .offset = offsetof(struct args, replace),
	  .help = "take the place of the last message with this ID, a name of your choice" },
	{ 0, "version", FLAG(version), .help = "print the version" },
	{ 'h', "help", .kind = OPT_HELP, .help = "show this help" },
	{ .kind = OPT_END },
};

static void print_help(void)
{
	_cleanup_str_ struct str help = { 0 };

	opt_add_help(&help, opts, 80);
	printf("usage: wrapix-notify [options] [TITLE] [MESSAGE] [SOUND]\n\n"
	       "Tells the user something, from inside a sandbox or outside.\n\noptions:\n%s\n"
	       "example:\n  wrapix-notify 'Claude Code' 'Waiting for input'\n",
	       help.s);
}

/* --- ways out --- */

/* Waits for the socket within the patience. */
static bool ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	while (poll(&p, 1, ms_left()) < 0)
		if (errno != EINTR)
			return false;
	return p.revents != 0;
}

/* A full backlog says EAGAIN and gives nothing to wait for. */
static int connect_patiently(int fd, const struct sockaddr *address, socklen_t len)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	int failed = 0;
	socklen_t size = sizeof(failed);

	while (connect(fd, address, len) < 0) {
		if (errno == EAGAIN && ms_left() > 0) {
			nanosleep(&pause, NULL);
			continue;
		}
		if (errno != EINPROGRESS)
			return -errno;
		if (!ready(fd, POLLOUT))
			return -ETIMEDOUT;
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size) < 0)
			return -errno;
		return -failed;
	}
	return 0;
}

static int open_unix(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, r;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	r = connect_patiently(fd, (struct sockaddr *)&address, sizeof(address));
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

/* The gateway of the default route, as the kernel prints it. */
static bool gateway(struct in_addr *ret)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/net/route", "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		unsigned destination, via;

		if (sscanf(line, "%*s %x %x", &destination, &via) == 2 && !destination && via) {
			ret->s_addr = via;
			return true;
		}
	}
	return false;
}

/* "1": the gateway; else "ADDRESS[:PORT]". */
static bool tcp_address(const char *value, struct sockaddr_in *ret)
{
	char host[64];
	size_t len = strcspn(value, ":");
	unsigned long port = TCP_PORT;
	char *end;

	*ret = (struct sockaddr_in){ .sin_family = AF_INET };
	if (!strcmp(value, "1")) {
		ret->sin_port = htons(TCP_PORT);
		return gateway(&ret->sin_addr);
	}
	if (value[len]) {
		port = strtoul(value + len + 1, &end, 10);
		if (*end || !port || port > 65535)
			return false;
	}
	snprintf(host, sizeof(host), "%.*s", (int)len, value);
	ret->sin_port = htons((uint16_t)port);
	return inet_pton(AF_INET, host, &ret->sin_addr) == 1;
}

static int open_tcp(const char *value)
{
	struct sockaddr_in address;
	char shown[INET_ADDRSTRLEN];
	int fd, r;

	known(value); /* uses_tcp() has looked */
	if (!tcp_address(value, &address)) {
		say(strcmp(value, "1") ? "WRAPIX_NOTIFY_TCP is no ADDRESS:PORT"
				       : "no gateway found");
		return -EINVAL;
	}
	inet_ntop(AF_INET, &address.sin_addr, shown, sizeof(shown));
	say("using TCP to %s:%u", shown, ntohs(address.sin_port));
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	r = connect_patiently(fd, (struct sockaddr *)&address, sizeof(address));
	if (r == 0)
		return fd;
	say("no connection: %s", strerror(-r));
	close(fd);
	return r;
}

static bool uses_tcp(void)
{
	const char *tcp = getenv("WRAPIX_NOTIFY_TCP");

	return tcp && *tcp && strcmp(tcp, "0");
}

/* A directory that others may write can hold a listener of theirs, which would answer in the user's place. */
static int open_own(const char *path)
{
	int fd = open_unix(path);
	uid_t uid;

	if (fd < 0 || (os_peer(fd, &uid, NULL) && uid == geteuid()))
		return fd;
	close(fd);
	return -EPERM;
}

/*
 * Inside a sandbox there is one place, which only its maker could put there: who listens may have a number there that
 * is not the caller's (an image's user, root of a container). Outside it is the daemon's own.
 */
static int open_way(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char path[108];
	int fd;

	if (uses_tcp())
		return open_tcp(getenv("WRAPIX_NOTIFY_TCP"));
	fd = open_unix(SOCKET_INSIDE);
	if (fd >= 0) {
		say("using " SOCKET_INSIDE);
		return fd;
	}
	if (fd != -ENOENT || !runtime || runtime[0] != '/') {
		say(SOCKET_INSIDE ": %s", strerror(-fd));
		return fd;
	}
	snprintf(path, sizeof(path), "%s/wrapix/notify.sock", runtime);
	fd = open_own(path);
	say(fd < 0 ? "%s: %s" : "using %s", path, strerror(fd < 0 ? -fd : 0));
	return fd;
}

static bool send_all(int fd, const struct str *line)
{
	for (size_t at = 0; at < line->len;) {
		ssize_t n = send(fd, line->s + at, line->len - at, MSG_NOSIGNAL);

		if (n > 0)
			at += (size_t)n;
		else if (errno != EINTR && (errno != EAGAIN || !ready(fd, POLLOUT)))
			return false;
	}
	return true;
}

/* The answer is one line: {"action":"KEY"}. */
static void await_answer(int fd, const char *seconds)
{
	char line[512] = "", key[16], action[64] = "";
	size_t len = 0;
	struct scan s;

	deadline = seconds ? os_now_ms() + (int64_t)strtoul(seconds, NULL, 10) * 1000
			   : INT64_MAX / 2;
	while (len < sizeof(line) && !memchr(line, '\n', len)) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int r = poll(&p, 1, seconds ? ms_left() : -1);
		ssize_t n = r > 0 ? recv(fd, line + len, sizeof(line) - len, 0) : 0;

		if (r < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			say(r == 0 ? "no answer in time" : "no answer");
			return;
		}
		len += (size_t)n;
	}
	scan_init(&s, line, len);
	for (bool more = scan_open(&s, '{'); more; more = scan_next(&s, '}'))
		if (!scan_key(&s, key, sizeof(key)))
			return;
		else if (!strcmp(key, "action"))
			scan_text(&s, action, sizeof(action));
		else
			scan_skip(&s);
	if (action[0])
		puts(action);
	else
		say("closed without a choice");
}

/* --- what to say --- */

static void read_hook(struct message *m)
{
	_cleanup_str_ struct str json = { 0 };
	const struct message given = *m;
	char chunk[16384];
	ssize_t n = 1;

	deadline = os_now_ms() + HOOK_MS;
	while (json.len < HOOK_MAX && n > 0 && ready(STDIN_FILENO, POLLIN)) {
		n = read(STDIN_FILENO, chunk, sizeof(chunk));
		if (n > 0)
			str_addn(&json, chunk, (size_t)n);
	}
	deadline = os_now_ms() + PATIENCE_MS;
	if (!json.len || message_from_hook(json.s, json.len, m) < 0) {
		say("standard input is no hook's JSON");
		return;
	}
	/* What the command line says wins. */
	if (given.title[0])
		memcpy(m->title, given.title, sizeof(m->title));
	if (given.text[0])
		memcpy(m->text, given.text, sizeof(m->text));
	if (given.urgency != URGENCY_NORMAL)
		m->urgency = given.urgency;
	memcpy(m->sound, given.sound, sizeof(m->sound));
	memcpy(m->actions, given.actions, sizeof(m->actions));
	m->n_actions = given.n_actions;
}

static void compose(struct args *args, const struct opt_rest *rest)
{
	struct message *m = &args->message;
	const char *session = getenv("WRAPIX_SESSION_ID");
	char **word = rest->operands;

	if (rest->n_operands > 0)
		message_set(m->title, sizeof(m->title), word[0], false);
	if (rest->n_operands > 1)
		message_set(m->text, sizeof(m->text), word[1], true);
	if (rest->n_operands > 2)
		message_set(m->sound, sizeof(m->sound), word[2], false);
	if (args->hook)
		read_hook(m);
	if (!m->title[0])
		message_set(m->title, sizeof(m->title), MESSAGE_TITLE, false);
	message_set(m->session, sizeof(m->session), session ? session : "", false);
	message_set(m->replace, sizeof(m->replace), args->replace ? args->replace : "", false);
	m->wait = args->wait;
}

static void deliver(const struct args *args)
{
	_cleanup_str_ struct str line = { 0 };
	_cleanup_close_ int fd = open_way();

	if (fd < 0)
		return;
	if (uses_tcp() && getenv("WRAPIX_NOTIFY_TOKEN"))
		str_addf(&line, "%s\n", getenv("WRAPIX_NOTIFY_TOKEN"));
	message_print(&args->message, &line);
	if (!send_all(fd, &line)) {
		say("sending: %s", strerror(errno));
		return;
	}
	shutdown(fd, SHUT_WR);
	say("sent");
	if (args->wait)
		await_answer(fd, args->timeout);
}

int main(int argc, char **argv)
{
	static const struct opt_syntax syntax = { opts, .max = 3, .operand = "TITLE" };
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct args args = { .message.urgency = URGENCY_NORMAL };
	struct err err = { 0 };
	int r;

	deadline = os_now_ms() + PATIENCE_MS;
	signal(SIGPIPE, SIG_IGN);
	r = opt_parse(&syntax, &args, argc, argv, &rest, &err);
	if (r == OPT_WANTS_HELP) {
		print_help();
	} else if (r < 0) {
		fprintf(stderr, "wrapix-notify: %s\n", err.msg);
	} else if (args.version) {
		puts("wrapix-notify " WRAPIX_VERSION);
	} else {
		compose(&args, &rest);
		deliver(&args);
	}
	return 0;
}
