/* SPDX-License-Identifier: MIT */
/* The plan of 'wrapix exec': what is laid over the host's tree for which rules. */
#include <string.h>

#include "base/str.h"
#include "lib/tap.h"
#include "os/linux/seccomp.h"
#include "plan/plan.h"
#include "spec/exec.h"

struct rule {
	enum file_rule_kind kind;
	const char *path;
	enum path_kind there; /* PATH_ABSENT: no fact */
};

static const struct {
	const char *what;
	struct rule rules[6];
	const char *want; /* the operations on the user's paths, in order */
} cases[] = {
	{ "nothing is denied: nothing is laid over",
	  { { FILE_ALLOW_WRITE, "/h/p", PATH_DIR } },
	  "" },
	{ "a directory and a file that are denied",
	  { { FILE_DENY_READ, "/h/s", PATH_DIR }, { FILE_DENY_READ, "/h/k", PATH_FILE } },
	  "deny /h/k; deny /h/s (directory); " },
	{ "what is not there is the supervisor's",
	  { { FILE_DENY_READ, "/h/s", PATH_ABSENT } },
	  "" },
	{ "a hole in a denied directory, and the way to it",
	  { { FILE_DENY_READ, "/h", PATH_DIR }, { FILE_ALLOW_READ, "/h/a/b", PATH_DIR } },
	  "pass /h (directory); pass /h/a (directory); bind /h/a/b (directory); " },
	{ "two holes on one way",
	  { { FILE_DENY_READ, "/h", PATH_DIR },
	    { FILE_ALLOW_READ, "/h/a/b/c", PATH_DIR },
	    { FILE_ALLOW_READ, "/h/a/k", PATH_FILE } },
	  "pass /h (directory); pass /h/a (directory); pass /h/a/b (directory); "
	  "bind /h/a/b/c (directory); bind /h/a/k; " },
	{ "a writable place in a denied directory is a hole, too",
	  { { FILE_DENY_READ, "/h", PATH_DIR }, { FILE_ALLOW_WRITE, "/h/p", PATH_DIR } },
	  "pass /h (directory); bind /h/p (directory); " },
	{ "a denied file in such a hole",
	  { { FILE_DENY_READ, "/h", PATH_DIR },
	    { FILE_ALLOW_READ, "/h/a", PATH_DIR },
	    { FILE_DENY_READ, "/h/a/k", PATH_FILE } },
	  "pass /h (directory); bind /h/a (directory); deny /h/a/k; " },
	{ "the order of the rules means nothing",
	  { { FILE_DENY_READ, "/h/a/k", PATH_FILE },
	    { FILE_ALLOW_READ, "/h/a", PATH_DIR },
	    { FILE_DENY_READ, "/h", PATH_DIR } },
	  "pass /h (directory); bind /h/a (directory); deny /h/a/k; " },
	{ "a name that begins alike is another",
	  { { FILE_DENY_READ, "/h/a", PATH_DIR }, { FILE_ALLOW_READ, "/h/a-b", PATH_DIR } },
	  "deny /h/a (directory); " },
	{ "what lies in a denied place is denied already",
	  { { FILE_DENY_READ, "/h", PATH_DIR }, { FILE_DENY_READ, "/h/s", PATH_DIR } },
	  "deny /h (directory); " },
	{ "a hole in that, and the way through both",
	  { { FILE_DENY_READ, "/h", PATH_DIR },
	    { FILE_DENY_READ, "/h/a/b", PATH_DIR },
	    { FILE_ALLOW_READ, "/h/a/b/c/d", PATH_DIR } },
	  "pass /h (directory); pass /h/a (directory); pass /h/a/b (directory); pass /h/a/b/c "
	  "(directory); bind /h/a/b/c/d (directory); " },
};

static const char *const names[] = { [OP_DENY] = "deny", [OP_PASS] = "pass", [OP_BIND] = "bind" };

static void add_ops(struct str *out, const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct op *op = &plan->ops[i];

		if (strncmp(op->dest, "/h", 2) != 0)
			continue;
		str_addf(out, "%s %s", names[op->kind], op->dest);
		if (op->mode)
			str_addf(out, " %04o", op->mode);
		if (op->flags & OPF_DIR)
			str_add(out, " (directory)");
		str_add(out, "; ");
	}
}

static int make(const struct rule *rules, struct exec_spec *exec, struct plan *plan,
		struct err *err)
{
	static char *cmd[] = { (char *)"true", NULL };
	static char dir[] = "/h/p", home[] = "/h", linux_name[] = "linux", user[] = "u";
	struct spec spec;
	struct host host = { .platform = linux_name,
			     .uid = 1000,
			     .gid = 1000,
			     .user = user,
			     .home = home,
			     .landlock_abi = 7,
			     .seccomp_notify = true };
	struct path_fact facts[6] = { 0 };
	int r = 0;

	spec_init(&spec);
	spec.exec = exec;
	spec.cmd = cmd;
	spec.net = NET_NONE;
	host.project.dir = dir;
	host.points.v = facts;
	file_rules_init(&exec->files, home, dir);
	for (size_t i = 0; r == 0 && i < 6 && rules[i].path; i++) {
		const struct file_rule_source source = { .kind = rules[i].kind,
							 .text = rules[i].path,
							 .path = rules[i].path,
							 .key = "k",
							 .literal = true,
							 .absent = rules[i].there == PATH_ABSENT };

		facts[host.points.len++] = (struct path_fact){ (char *)rules[i].path,
							       rules[i].there, NULL };
		r = file_rules_add(&exec->files, &source, err);
	}
	if (r == 0)
		r = plan_make(&spec, &host, plan, err);
	spec_release(&spec);
	return r;
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_str_ struct str ops = { 0 };
		struct exec_spec exec = { 0 };
		struct plan plan = { 0 };
		struct err err = { 0 };

		ok(make(cases[i].rules, &exec, &plan, &err) == 0, "%s: there is a plan",
		   cases[i].what);
		add_ops(&ops, &plan);
		is_str(ops.s ? ops.s : "", cases[i].want, "%s", cases[i].what);
		if (i == 0) {
			is_int(plan.ops[0].kind, OP_ROOT, "the host's tree comes first");
			ok(plan.ops[0].flags & OPF_RO && plan.ops[0].flags & OPF_RECURSIVE,
			   "... read-only, with all that is mounted in it");
			is_str(seccomp_describe(plan_seccomp(&plan)),
			       "default+notify-files+notify-connect+notify-refused",
			       "what is asked about");
		}
		if (i == 2)
			ok(plan_seccomp(&plan) & SECCOMP_NOTIFY_READS,
			   "... who is asked about every reading then");
		plan_release(&plan);
		file_rules_release(&exec.files);
	}
	return done();
}
