/* SPDX-License-Identifier: MIT */
/*
 * wrapix doctor: tries what a sandbox needs and prints a line for each: what works, what does not,
 * and the command or file that fixes it. One table, one row a check.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>

#include "api/api.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/doctor.h"
#include "engine/engine.h"
#include "engine/native/probe.h"
#include "os/platform.h"
#include "os/proc.h"
#include "os/timer.h"
#include "os/linux/landlock.h"
#include "os/linux/seccomp.h"

struct doctor_args {
	bool json;
};

static const struct {
	const char *word, *color;
} verdicts[] = {
	[WORKS] = { "ok", "\033[32m" },
	[WEAKER] = { "weaker", "\033[33m" },
	[MISSING] = { "missing", "\033[33m" },
	[BROKEN] = { "broken", "\033[31m" },
};

void found_error(struct finding *f, enum verdict verdict, const struct err *err)
{
	f->verdict = verdict;
	str_add(&f->text, err->msg);
	str_add(&f->fix, err->hint);
}

static void check_kernel(const struct patient *p, struct finding *f)
{
	struct utsname name;

	(void)p;
	uname(&name);
	str_addf(&f->text, "%s %s, %s", name.sysname, name.release, name.machine);
	if (host_wsl() == 2) /* WSL 1 does not get as far as here */
		str_add(&f->text,
			"; WSL 2: Windows' programs do not start inside, and projects below "
			"/mnt are slow");
}

static void check_userns(const struct patient *p, struct finding *f)
{
	struct err err;

	(void)p;
	if (probe_userns(&err) < 0)
		found_error(f, BROKEN, &err);
	else
		str_add(&f->text, "made and mapped one");
}

static void check_mounts(const struct patient *p, struct finding *f)
{
	struct err err;

	(void)p;
	if (probe_mounts(&err) < 0)
		found_error(f, BROKEN, &err);
	else
		str_add(&f->text, "tmpfs, bind mounts and /proc in namespaces of their own");
}

static void check_seccomp(const struct patient *p, struct finding *f)
{
	struct err err;

	(void)p;
	if (probe_seccomp(&err) < 0)
		found_error(f, BROKEN, &err);
	else
		str_addf(&f->text, "filter loaded%s",
			 seccomp_features() & SECCOMP_HAS_NOTIFY ? "; notifications work" : "");
}

static void check_landlock(const struct patient *p, struct finding *f)
{
	int abi = p->host->landlock_abi;

	str_addf(&f->text, "ABI %d", abi);
	if (landlock_has_scopes(abi))
		return;
	f->verdict = WEAKER;
	str_add(&f->text, landlock_handles_files(abi)
				  ? ": files; signals and abstract sockets rest on the namespaces"
				  : ": not used; files rest on the mounts alone");
	str_add(&f->fix, "a kernel of 6.12 or newer with 'landlock' in its lsm= list");
}

static void check_git(const struct patient *p, struct finding *f)
{
	struct arena a = { 0 };
	char *git = os_find_program(&a, "git", getenv("PATH"), NULL);
	bool checked = landlock_handles_files(p->host->landlock_abi);

	f->verdict = git && checked && !p->host->no_state ? f->verdict : WEAKER;
	if (!git) {
		str_add(&f->text, "there is none: .git is read-only inside");
		str_add(&f->fix, "install git");
	} else if (!checked) {
		str_add(&f->text, "without Landlock nothing that is committed inside can be "
				  "checked: the repository's own .git is used");
		str_add(&f->fix, "a kernel of 5.19 or newer with 'landlock' in its lsm= list");
	} else if (p->host->no_state) {
		str_addf(
			&f->text,
			"wrapix has no directory to keep things in (%s): .git is read-only inside, "
			"and no session is listed",
			p->host->no_state);
		str_add(&f->fix,
			strstr(p->host->no_state, strerror(ENOSPC))
				? "room on that file system, or XDG_STATE_HOME on another"
				: "a home directory, or XDG_STATE_HOME, that you may write");
	} else {
		str_addf(&f->text, "%s takes over what is committed inside", git);
	}
	arena_release(&a);
}

/* Where the changes of a copy-on-write session are kept, as a start tries it. */
static void check_cow(const struct patient *p, struct finding *f)
{
	struct host host = { .state_home = p->host->state_home, .uid = p->host->uid };

	host_probe_cow(&host, NULL);
	if (host.cow_overlay) {
		str_addf(&f->text, "overlayfs, with the changes in '%s'", host.cow_base);
	} else {
		f->verdict = WEAKER;
		str_add(&f->text, "overlayfs cannot be used: --workspace cow copies the project");
		str_add(&f->fix, "Linux 5.11, and a file system with user attributes for the state "
				 "directory or /var/tmp");
	}
	arena_release(&host.arena);
}

/*
 * pasta of March 2023 (Debian 12) takes a connection whose server has said nothing yet for one whose answers are lost, and resets it after
 * 24 seconds. No pasta says reliably how old it is: an option of August 2024 in its help tells it from newer ones.
 */
static bool is_old_pasta(const char *program)
{
	_cleanup_free_ char *help = NULL;
	char *argv[] = { (char *)program, (char *)"--help", NULL };

	return os_capture_all(argv, 10, 65536, &help) >= 0 && help && strstr(help, "--no-map-gw") &&
	       !strstr(help, "--map-host-loopback");
}

static void judge_pasta(const struct host *host, struct finding *f)
{
	if (!host->tools.pasta || !is_old_pasta(host->tools.pasta))
		return;
	f->verdict = MAX(f->verdict, WEAKER);
	str_addf(&f->text,
		 "; %s is older than August 2024: one of 2023 resets connections in which "
		 "the server says nothing for the first 24 seconds",
		 host->tools.pasta);
	str_add(&f->fix,
		"a newer package 'passt'; or --network filtered, which does without pasta");
}

/* Each program is tried: the second stands in when the first fails. */
static void check_open(const struct patient *p, struct finding *f)
{
	struct spec spec = { .net = NET_OPEN };
	struct plan plan = { .net = NET_OPEN };
	size_t good = 0;
	struct err err;

	if (plan_network(&plan, &spec, p->host, &err) < 0)
		found_error(f, MISSING, &err);
	for (size_t i = 0; i < plan.n_uplinks; i++) {
		const char *program = plan.uplinks[i].v[0];

		if (probe_uplink(&plan.uplinks[i], &err) == 0) {
			str_addf(&f->text, "%s%s attached to a network namespace",
				 f->text.len ? "; " : "", program);
			good++;
		} else if (i == 0) { /* a sandbox can be made, with --network none at least */
			found_error(f, plan.n_uplinks > 1 ? WEAKER : MISSING, &err);
		} else {
			str_addf(&f->text, "; %s", err.msg);
		}
	}
	if (plan.n_uplinks && !good)
		f->verdict = MISSING;
	if (good && plan.weaker.len) {
		f->verdict = WEAKER;
		str_addf(&f->text, "; %s", plan.weaker.v[0]);
		str_add(&f->fix, "install the package 'passt'");
	} else if (good == plan.n_uplinks) {
		judge_pasta(p->host, f);
	}
	plan_release(&plan);
}

static void check_filter(const struct patient *p, struct finding *f)
{
	const char *tier;
	struct err err = { 0 };

	if (!p->host->seccomp_notify) {
		f->verdict = MISSING;
		str_add(&f->text,
			"this kernel cannot ask a supervisor about system calls, or another "
			"sandbox is around us");
	} else if (probe_filter(&tier, &err) < 0) {
		found_error(f, MISSING, &err);
	} else {
		str_addf(&f->text, "connections are caught by '%s'", tier);
		if (strcmp(tier, "queue")) {
			f->verdict = WEAKER;
			str_addf(&f->text, ": %s", err.msg);
		}
	}
}

static void check_limits(const struct patient *p, struct finding *f)
{
	const struct cgroup_limits limits = {
		.memory = 1 << 30, .pids = 1024, .cpus = 1, .asked = ~0U
	};
	static const char *const names[] = { "memory", "processes", "processors" };
	char fix[512];

	for (enum limit limit = 0; limit < LIMIT_COUNT; limit++) {
		char line[256];
		const char *how;

		if (!cgroup_describe(&p->host->cgroup, &limits, limit, line, sizeof(line)))
			f->verdict = WEAKER;
		how = strstr(line, ": ");
		str_addf(&f->text, "%s%s: %s", limit ? "; " : "", names[limit],
			 how ? how + 2 : line);
	}
	cgroup_fix(&p->host->cgroup, fix, sizeof(fix));
	if (f->verdict != WORKS)
		str_add(&f->fix, fix);
}

static void check_agent(const struct patient *p, struct finding *f)
{
	const struct agent_facts *agent = &p->host->agent;

	str_addf(&f->text, "%s: %s", agent->name, agent->program ? "installed" : "not installed");
	if (agent->root)
		str_addf(&f->text, " in %s", agent->root);
	if (!agent->program) {
		f->verdict = MISSING;
		str_add(&f->fix, "npm install -g @anthropic-ai/claude-code; "
				 "without it 'wrapix run' starts a shell");
	}
}

/* Which way messages will go, as the daemon itself sees it. */
static void check_messages(const struct patient *p, struct finding *f)
{
	const struct host *host = p->host;
	char *argv[] = { host->tools.notifyd, (char *)"--probe", NULL };
	_cleanup_free_ char *says = NULL;
	int status;

	if (!host->tools.notify || !host->tools.notifyd) {
		f->verdict = MISSING;
		str_addf(&f->text, "%s is not installed",
			 host->tools.notify ? "wrapix-notifyd" : "wrapix-notify");
		str_add(&f->fix, "install all of wrapix's programs in one directory");
		return;
	}
	status = os_capture(argv, "/", 4096, &says);
	if (says)
		says[strcspn(says, "\n")] = '\0';
	str_add(&f->text, says && *says ? says : "wrapix-notifyd failed");
	if (status == 0)
		return;
	f->verdict = MISSING;
	str_add(&f->fix,
		"a notification service for your desktop (dunst, mako, ...), or libnotify; "
		"then: wrapix run -- wrapix-notify TITLE MESSAGE");
}

void check_project(const struct patient *p, struct finding *f)
{
	if (p->gone)
		found_error(f, BROKEN, p->gone);
	else
		str_add_escaped(&f->text, p->host->project.dir);
}

static void check_sandbox(const struct patient *p, struct finding *f)
{
	const struct engine_session session = { .id = "doctor" };
	double start = os_now();
	struct err err;
	int status = 0;

	if (p->gone) {
		f->verdict = WEAKER;
		str_add(&f->text, "not tried: there is no directory for it");
	} else if (!p->plan) {
		f->verdict = WEAKER;
		str_add(&f->text, "not tried: no plan can be made for this directory");
	} else if (native_run(p->plan, &session, NULL, &status, &err) < 0)
		found_error(f, BROKEN, &err);
	else
		str_addf(&f->text, "started and ended one in %.1f ms", (os_now() - start) * 1e3);
}

static const struct doctor_check linux_checks[] = {
	{ "kernel", check_kernel },
	{ "user namespaces", check_userns },
	{ "mounts", check_mounts },
	{ "seccomp", check_seccomp },
	{ "Landlock", check_landlock },
	{ "git", check_git },
	{ "copy-on-write", check_cow },
	{ "open network", check_open },
	{ "filtered network", check_filter },
	{ "limits", check_limits },
	{ "subordinate ids", check_subids },
	{ "podman", check_podman },
	{ "agent", check_agent },
	{ "messages", check_messages },
	{ "project", check_project },
	{ "a whole sandbox", check_sandbox },
	{ "policy here", check_policy },
	{ "refused lately", check_refusals },
	{ NULL, NULL },
};

static void print_text(const char *name, const struct finding *f)
{
	_cleanup_str_ struct str text = { 0 };
	bool color = cli_color(stdout);

	/* Words of others in it are escaped already, so a backslash is one. */
	str_add_visible(&text, f->text.s ? f->text.s : "", f->text.len);
	for (char *p = text.s; p && *p; p++)
		if (*p == '\n' || *p == '\t')
			*p = ' ';
	printf("%s%-8s%s %-16s %s\n", color ? verdicts[f->verdict].color : "",
	       verdicts[f->verdict].word, color ? "\033[0m" : "", name, text.s ? text.s : "");
	if (f->fix.len)
		printf("%26sfix: %s\n", "", f->fix.s);
}

static void print_json(const char *name, const struct finding *f, bool first)
{
	_cleanup_str_ struct str out = { 0 };

	str_addf(&out, "%s\n  {\"check\": ", first ? "[" : ",");
	json_add_string(&out, name);
	str_addf(&out, ", \"verdict\": \"%s\", \"text\": ", verdicts[f->verdict].word);
	json_add_string(&out, f->text.s ? f->text.s : "");
	str_add(&out, ", \"fix\": ");
	json_add_string(&out, f->fix.s ? f->fix.s : "");
	str_add(&out, "}");
	fputs(out.s, stdout);
}

static bool examine(const struct patient *p, const struct doctor_check *checks, bool json)
{
	bool broken = false;

	for (const struct doctor_check *c = checks; c->name; c++) {
		struct finding f = { .verdict = WORKS };

		c->check(p, &f);
		if (json)
			print_json(c->name, &f, c == checks);
		else
			print_text(c->name, &f);
		broken |= f.verdict == BROKEN;
		str_release(&f.text);
		str_release(&f.fix);
		fflush(stdout);
	}
	if (json)
		puts("\n]");
	else if (checks == linux_checks)
		puts("\n'wrapix selftest' tries to break out of a sandbox made here, and says what "
		     "holds.");
	return broken;
}

/* Where nobody's project is, on every platform. */
static int probe_elsewhere(struct spec *spec, struct host *host)
{
	struct err ignored; /* the first one is told */

	spec->dir = arena_strdup(&spec->arena, "/dev");
	return host_probe(spec, environ, host, &ignored);
}

static void make_quick(struct spec *quick, char **command)
{
	spec_init(quick);
	quick->net = NET_NONE;
	quick->notify.mode = NOTIFY_OFF;
	quick->cmd = command;
	quick->git = GIT_MODE_DIRECT; /* nothing is committed, so nothing is prepared for it */
	quick->force = quick->only = true;
	if (os_is_darwin()) {
		quick->engine = ENGINE_APPLE;
		quick->net = NET_OPEN;
	}
}

static int cmd_doctor(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct doctor_args args = { 0 };
	struct spec spec, quick;
	struct host host, quick_host = { 0 };
	struct plan plan = { 0 };
	struct patient patient = { .host = &host };
	char *command[] = { (char *)"true", NULL };
	struct err err, gone;
	int status = cli_parse(argc, argv, &args, &rest);

	if (status != CLI_GO_ON)
		return status;
	spec_init(&spec);
	make_quick(&quick, command);
	spec.engine = quick.engine;
	if (host_probe(&spec, environ, &host, &gone) < 0)
		patient.gone = &gone;
	if (patient.gone && probe_elsewhere(&spec, &host) < 0) {
		status = cli_fail(&gone);
	} else {
		host_probe_podman(environ, &host);
		if (!patient.gone && host_probe(&quick, environ, &quick_host, &err) == 0 &&
		    plan_make(&quick, &quick_host, &plan, &err) == 0)
			patient.plan = &plan;
		memset(plan.tty, 0, sizeof(plan.tty));
		status = examine(&patient, os_is_darwin() ? mac_checks : linux_checks, args.json)
				 ? EXIT_WRAPIX
				 : 0;
		host_release(&host);
	}
	plan_release(&plan);
	host_release(&quick_host);
	spec_release(&spec);
	spec_release(&quick);
	return status;
}

static const struct opt opts[] = {
	{ 0, "json", FLAG(doctor_args, json), .help = "print the findings as JSON" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_doctor = {
	.name = "doctor",
	.section = SECTION_HOST,
	.usage = "doctor [options]",
	.summary = "say what works on this machine, and how to fix what does not",
	.description = "Tries each thing a sandbox needs by really doing it, and prints a line "
		       "for each: what works, what does not, and the command or file that "
		       "fixes it.",
	.examples = EXAMPLES("wrapix doctor", "check this machine"),
	.syntax = { opts },
	.run = cmd_doctor,
};
