/* SPDX-License-Identifier: MIT */
/*
 * One command under Seatbelt, the sandbox of macOS, without a virtual machine. In this order:
 *
 *	1. a directory for temporary files, a proxy on the loopback (net/front.h), a terminal of its own
 *	2. the profile, from the policy and from what was made (plan/seatbelt.h), with a tag of its own
 *	3. the keeper (keeper.h), which starts 'log stream' for that tag
 *	4. the log is ready, or half a second is over: sandbox-exec -p PROFILE COMMAND
 *	5. supervise(), as for every other engine, until the command has ended
 *
 * The kernel enforces the profile on the command and on all that it starts. What an attacker controls:
 * the bytes to the proxy, and the paths that the log repeats.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/base64.h"
#include "base/path.h"
#include "engine/control.h"
#include "engine/rules.h"
#include "engine/seatbelt/keeper.h"
#include "engine/seatbelt/violations.h"
#include "net/front.h"
#include "os/fs.h"
#include "os/proc.h"
#include "os/socket.h"
#include "os/tty.h"
#include "plan/seatbelt.h"
#include "spec/exec.h"

enum {
	LOG_READY_MS = 500,
	PROFILE_MAX = 512 << 10, /* the system takes a megabyte of arguments and environment */
};

struct belt {
	struct sandbox sandbox;
	struct arena arena;
	struct front front;
	struct violations violations;
	char tag[64], tty[64];
	char *tmpdir; /* of our own; NULL: the user's */
	int slave;
	struct strv argv, env, log_argv;
};

/* --- guests of the loop --- */

/* A service of this machine's that the settings name: "localhost:8080". */
static int add_port(struct policy *policy, const struct port_spec *port, struct err *err)
{
	static const char *const hosts[] = { "localhost", "127.0.0.1", "[::1]" };
	char text[32];
	int r = 0;

	for (size_t i = 0; r == 0 && port->into && i < ARRAY_LEN(hosts); i++) {
		snprintf(text, sizeof(text), "%s:%u", hosts[i], port->host);
		r = policy_add(policy, text, RULE_PRIVATE, err);
	}
	return r;
}

static int make_policy(const struct plan *plan, const struct engine_rules *rules,
		       struct policy **ret, struct err *err)
{
	int r = rules_make_policy(rules, ret, err);

	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < plan->n_ports; i++)
		r = add_port(*ret, &plan->ports[i], err);
	if (r < 0)
		policy_unref(*ret);
	else
		(*ret)->guard.kind = GUARD_SRT;
	return r;
}

static int start_guests(struct sandbox *sandbox, struct loop *loop, void **ret, struct err *err)
{
	struct belt *b = container_of(sandbox, struct belt, sandbox);
	const struct plan *plan = sandbox->plan;
	const struct engine_rules rules = rules_of_plan(plan);
	struct policy *policy;
	int r = make_policy(plan, &rules, &policy, err);

	*ret = b;
	if (r == 0 && plan->proxy)
		r = proxy_parse(plan->proxy, plan->no_proxy, &b->front.proxy, err);
	if (r == 0)
		r = front_serve(&b->front, loop, policy, sandbox_tell_network, sandbox, err);
	return r == 0 ? violations_start(&b->violations, loop, sandbox, err) : r;
}

/* The profile is the kernel's, and stays: new settings count for who may be reached. */
static int set_rules(void *guests, const struct engine_rules *rules, struct err *err)
{
	struct belt *b = guests;
	struct policy *policy;
	int r = make_policy(b->sandbox.plan, rules, &policy, err);

	if (r == 0)
		front_set_rules(&b->front, policy);
	return r;
}

static void stop_guests(void *guests)
{
	struct belt *b = guests;

	violations_stop(&b->violations);
	front_stop(&b->front);
}

const struct sandbox_guests seatbelt_guests = {
	.start = start_guests,
	.set_rules = set_rules,
	.stop = stop_guests,
};

/* --- what the command gets --- */

/* The system's own, and none that a PATH leads to; the tests have theirs. */
static char *find_tool(struct belt *b, const char *name)
{
	char *own = path_join(&b->arena, "/usr/bin", name);

	return access(own, X_OK) == 0
		       ? own
		       : os_find_program(&b->arena, name, getenv("PATH"), b->sandbox.plan->project);
}

static int make_tmpdir(struct belt *b, struct err *err)
{
	const char *base = getenv("TMPDIR");
	char *path;

	if (b->sandbox.plan->exec->tmpdir)
		return 0;
	path = path_join(&b->arena, base && base[0] == '/' ? base : "/tmp", "wrapix-XXXXXX");
	if (!mkdtemp(path))
		return err_errno(err, errno, "a directory for temporary files, '%s'", path);
	b->tmpdir = os_realpath(&b->arena, path);
	return b->tmpdir ? 0 : err_errno(err, errno, "'%s'", path);
}

static void set(struct belt *b, const char *name, const char *value)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < b->env.len; i++)
		if (!strncmp(b->env.v[i], name, n) && b->env.v[i][n] == '=') {
			b->env.v[i] = arena_printf(&b->arena, "%s=%s", name, value);
			return;
		}
	strv_addf(&b->arena, &b->env, "%s=%s", name, value);
}

/* ssh takes no proxy from the environment; bash has sockets. */
static void set_ssh(struct belt *b, const char *host)
{
	_cleanup_str_ struct str plain = { 0 }, token = { 0 };

	str_addf(&plain, "%s:%s", TALK_USER, b->front.token);
	base64_add(&token, plain.s, plain.len);
	set(b, "GIT_SSH_COMMAND",
	    arena_printf(&b->arena,
			 "ssh -o ControlMaster=no -o ControlPath=none -o ProxyCommand='bash -c "
			 "\"exec 3<>/dev/tcp/%s/%u; printf \\\"CONNECT %%h:%%p "
			 "HTTP/1.1\\r\\nProxy-Authorization: Basic %s\\r\\n\\r\\n\\\" >&3; "
			 "while IFS= read -r l <&3 && [ \\${#l} -gt 1 ]; do :; done; cat <&3 & cat "
			 ">&3\"'",
			 host, b->front.port, token.s));
}

static void set_proxies(struct belt *b)
{
	static const char *const http[] = { "HTTP_PROXY",        "HTTPS_PROXY", "http_proxy",
					    "https_proxy",       "ALL_PROXY",   "all_proxy",
					    "GRPC_PROXY",        "grpc_proxy",  "DOCKER_HTTP_PROXY",
					    "DOCKER_HTTPS_PROXY" };
	static const char *const socks[] = { "FTP_PROXY", "ftp_proxy" };
	/* What is allowed on the loopback goes there by itself; everything else by the proxy. */
	const char *none = b->sandbox.plan->exec->local_binding ? "localhost,127.0.0.1,::1" : "";
	char *at = arena_printf(&b->arena, "%s:%s@127.0.0.1:%u", TALK_USER, b->front.token,
				b->front.port);

	for (size_t i = 0; i < ARRAY_LEN(http); i++)
		set(b, http[i], arena_printf(&b->arena, "http://%s", at));
	for (size_t i = 0; i < ARRAY_LEN(socks); i++)
		set(b, socks[i], arena_printf(&b->arena, "socks5h://%s", at));
	set(b, "NO_PROXY", none);
	set(b, "no_proxy", none);
	set(b, "NODE_USE_ENV_PROXY", "1");
	set_ssh(b, "127.0.0.1");
}

static void make_env(struct belt *b)
{
	const struct plan *plan = b->sandbox.plan;

	for (size_t i = 0; i < plan->env.len; i++)
		strv_add(&b->arena, &b->env, plan->env.v[i]);
	if (b->tmpdir) {
		set(b, "TMPDIR", b->tmpdir);
		set(b, "TMUX_TMPDIR", b->tmpdir);
	}
	set_proxies(b);
}

static int find_command(struct belt *b, char **ret, struct err *err)
{
	const struct plan *plan = b->sandbox.plan;
	const char *name = plan->argv.v[0], *path = NULL;
	struct stat st;

	for (size_t i = 0; i < b->env.len; i++)
		if (str_starts(b->env.v[i], "PATH="))
			path = b->env.v[i] + 5;
	if (strchr(name, '/')) {
		*ret = path_join(&b->arena, plan->cwd, name);
		if (stat(*ret, &st) == 0 && (S_ISDIR(st.st_mode) || access(*ret, X_OK) < 0)) {
			err_errno(err, EACCES, "'%s'", name);
			err->exit = EXIT_NOEXEC;
			return -err->code;
		}
		if (stat(*ret, &st) == 0)
			return 0;
	} else {
		*ret = os_find_program(&b->arena, name, path, NULL);
		if (*ret)
			return 0;
	}
	err_set(err, ENOENT, "'%s': command not found", name);
	err->exit = EXIT_NOTFOUND;
	return -err->code;
}

static int make_argv(struct belt *b, struct err *err)
{
	const struct plan *plan = b->sandbox.plan;
	char *tool = find_tool(b, "sandbox-exec"), *log = find_tool(b, "log"), *command = NULL;
	_cleanup_str_ struct str profile = { 0 };
	const struct seatbelt seatbelt = {
		.exec = plan->exec,
		.tag = b->tag,
		.tmpdir = b->tmpdir ? b->tmpdir : plan->exec->tmpdir,
		.tty = b->slave >= 0 ? b->tty : NULL,
		.proxy_port = b->front.port,
	};
	int r = tool ? seatbelt_add(&profile, &seatbelt, err)
		     : err_set(err, ENOENT, "there is no sandbox-exec, which comes with macOS");

	if (r == 0)
		r = find_command(b, &command, err);
	if (r < 0)
		return r;
	if (profile.len > PROFILE_MAX)
		return err_set(err, E2BIG, "the rules make a profile of %zu bytes: too many",
			       profile.len);
	strv_add(&b->arena, &b->argv, tool);
	strv_add(&b->arena, &b->argv, "-p");
	strv_add(&b->arena, &b->argv, arena_strdup(&b->arena, profile.s));
	strv_add(&b->arena, &b->argv, command);
	for (size_t i = 1; i < plan->argv.len; i++)
		strv_add(&b->arena, &b->argv, plan->argv.v[i]);
	if (!log)
		return 0; /* a comfort: nothing is told then of what was refused */
	strv_add(&b->arena, &b->log_argv, log);
	strv_add(&b->arena, &b->log_argv, "stream");
	strv_add(&b->arena, &b->log_argv, "--predicate");
	strv_addf(&b->arena, &b->log_argv, "(eventMessage ENDSWITH \"%s\")", b->tag);
	strv_add(&b->arena, &b->log_argv, "--style");
	strv_add(&b->arena, &b->log_argv, "compact");
	return 0;
}

static int make_tag(struct belt *b, struct err *err)
{
	unsigned char random[12];
	size_t n = (size_t)snprintf(b->tag, sizeof(b->tag), "wrapix-");

	if (getentropy(random, sizeof(random)) < 0)
		return err_errno(err, errno, "a tag for the log");
	for (size_t i = 0; i < sizeof(random); i++)
		n += (size_t)snprintf(b->tag + n, sizeof(b->tag) - n, "%02x", random[i]);
	return 0;
}

/* A terminal of its own: what is typed into the user's by a program is never the user's word. */
static int make_terminal(struct belt *b, struct err *err)
{
	const bool *tty = b->sandbox.plan->tty;
	int std = tty[0] ? 0 : tty[1] ? 1 : 2, r;

	if (!tty[0] && !tty[1] && !tty[2])
		return 0;
	r = tty_pair(&b->sandbox.pty_master, &b->slave, b->tty, sizeof(b->tty));
	if (r < 0)
		return err_errno(err, -r, "a terminal for the command");
	tty_copy_settings(std, b->slave, false);
	return 0;
}

/* --- starting --- */

static int start_keeper(struct belt *b, struct err *err)
{
	int fds[2], log[2] = { -1, -1 };
	struct pollfd ready;
	struct keeper keeper;

	if (os_message_pair(fds) < 0 || (b->log_argv.len && pipe2(log, O_CLOEXEC) < 0))
		return err_errno(err, errno, "starting the command");
	b->sandbox.control = fds[0];
	b->violations.source.fd = log[0];
	keeper = (struct keeper){
		.argv = b->argv.v,
		.env = b->env.v,
		.cwd = b->sandbox.plan->cwd,
		.log_argv = b->log_argv.v,
		.log_out = log[1],
		.control = fds[1],
		.slave = b->slave,
		.tty = b->sandbox.plan->tty,
		.pass_fds = b->sandbox.plan->pass_fds,
		.n_pass_fds = b->sandbox.plan->n_pass_fds,
		.tmpdir = b->tmpdir,
	};
	b->sandbox.pid = fork();
	if (b->sandbox.pid == 0)
		keeper_main(&keeper);
	close(fds[1]);
	if (log[1] >= 0)
		close(log[1]);
	if (b->slave >= 0)
		close(take_fd(&b->slave));
	if (b->sandbox.pid < 0)
		return err_errno(err, errno, "starting the command");
	b->sandbox.pidfd = os_pidfd_open(b->sandbox.pid);
	if (b->sandbox.pidfd < 0)
		return err_errno(err, -b->sandbox.pidfd, "watching the command");
	/* What was refused before the log listens is not told of. */
	ready = (struct pollfd){ .fd = log[0], .events = POLLIN };
	if (log[0] >= 0) {
		(void)poll(&ready, 1, LOG_READY_MS);
		fcntl(log[0], F_SETFL, O_NONBLOCK);
	}
	return control_send(b->sandbox.control, CONTROL_GO, 0, -1) < 0
		       ? err_set(err, ECHILD, "the keeper of the command has ended")
		       : 0;
}

static int prepare(struct belt *b, struct err *err)
{
	int r = make_tag(b, err);

	if (r == 0)
		r = front_listen(&b->front, err);
	if (r == 0)
		r = make_tmpdir(b, err);
	if (r == 0)
		r = make_terminal(b, err);
	if (r < 0)
		return r;
	make_env(b);
	b->violations.tag = b->tag;
	b->violations.files = b->sandbox.plan->files;
	return make_argv(b, err);
}

/* The keeper removes what it was given; without one it is ours to do. */
static void release(struct belt *b)
{
	if (b->sandbox.pid > 0) {
		close(take_fd(&b->sandbox.control)); /* which ends it */
		(void)os_await(b->sandbox.pid);
	} else if (b->tmpdir) {
		(void)os_remove_tree(AT_FDCWD, b->tmpdir);
	}
	violations_stop(&b->violations);
	front_stop(&b->front);
	if (b->slave >= 0)
		close(b->slave);
	sandbox_release(&b->sandbox);
	arena_release(&b->arena);
}

int seatbelt_run(const struct plan *plan, const struct engine_session *session,
		 const struct engine_hooks *hooks, int *ret_status, struct err *err)
{
	struct belt b = {
		.sandbox = { SANDBOX_NONE, .plan = plan, .hooks = hooks, .link = &keeper_link },
		.front = { .listener = LISTENER(-1, NULL),
			   .own = OWN_ADDRESSES_NONE,
			   .dials = { .timer.fd = -1, .resolver.source.fd = -1 } },
		.violations.source.fd = -1,
		.slave = -1,
	};
	sigset_t set, old;
	int r;

	(void)session;
	supervised_signals(&set);
	sigprocmask(SIG_BLOCK, &set, &old);
	r = prepare(&b, err);
	if (r == 0)
		r = start_keeper(&b, err);
	if (r == 0)
		r = supervise(&b.sandbox, ret_status, err);
	release(&b);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return r;
}
