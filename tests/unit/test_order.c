/* SPDX-License-Identifier: MIT */
/* Sandboxes begun ahead: which plans continue one, and what it is told then. */
#include <errno.h>
#include <string.h>

#include "engine/native/order.h"
#include "lib/tap.h"
#include "os/linux/seccomp.h"
#include "plan/parts.h"

static const int passed[] = { 7, 300 };

/* A command's plan, with two operations after the common ones. */
static void make(struct plan *ret, struct file_rules *files)
{
	plan_exec_begin(ret, 1000, 1001, NULL);
	ret->files = files;
	ret->cwd = arena_strdup(&ret->arena, "/h/p");
	ret->guard_unix = true;
	ret->landlock_abi = 7;
	ret->limits.pids = 12;
	ret->tty[1] = true;
	ret->pass_fds = passed;
	ret->n_pass_fds = ARRAY_LEN(passed);
	plan_add(ret, OP_COVER, "/etc/resolv.conf", "nameserver x\n", OPF_OPTIONAL)->mode = 0444;
	plan_add(ret, OP_DENY, "/h/s", NULL, OPF_DIR | OPF_OPTIONAL);
	strv_add(&ret->arena, &ret->argv, "printf");
	strv_add(&ret->arena, &ret->argv, "");
	strv_add(&ret->arena, &ret->env, "A=1\n2");
	plan_access_rules(ret);
}

/* --- which plans continue what was begun --- */

static void other_user(struct plan *p)
{
	p->uid++;
}
static void other_group(struct plan *p)
{
	p->gid++;
}
static void other_network(struct plan *p)
{
	p->net = NET_NONE;
}
static void other_size(struct plan *p)
{
	p->scratch_size--;
}
static void host_name(struct plan *p)
{
	p->hostname = p->cwd;
}
static void control_group(struct plan *p)
{
	p->limits_by = CGROUP_V2;
}
static void network_first(struct plan *p)
{
	p->eager_net = true;
}
static void ports(struct plan *p)
{
	p->publish_auto = true;
}
static void no_rules(struct plan *p)
{
	p->files = NULL;
}
static void writable_root(struct plan *p)
{
	p->ops[0].flags &= ~(unsigned)OPF_RO;
}
static void other_proc(struct plan *p)
{
	p->ops[1].kind = OP_DEVPTS;
}
static void fewer(struct plan *p)
{
	p->n_ops = 3;
}
static void in_dev(struct plan *p)
{
	plan_add(p, OP_DENY, "/dev/shm", NULL, OPF_DIR);
}
static void from_proc(struct plan *p)
{
	plan_add(p, OP_BIND, "/h/x", "/proc/1", OPF_RO);
}
static void checked(struct plan *p)
{
	plan_add(p, OP_BIND, "/h/x", "/h/y", OPF_CHECK);
}
static void layer(struct plan *p)
{
	plan_add(p, OP_COW, "/h/x", "/h/x", 0);
}
static void hole(struct plan *p)
{
	plan_add(p, OP_BIND, "/h/s/a", "/h/s/a", OPF_RO);
}
static void other_limits(struct plan *p)
{
	p->limits.pids = 1;
}

static const struct {
	const char *what;
	void (*change)(struct plan *plan);
	bool continues;
} changes[] = {
	{ "another user", other_user, false },
	{ "another group", other_group, false },
	{ "another network", other_network, false },
	{ "another size", other_size, false },
	{ "a host name", host_name, false },
	{ "a control group", control_group, false },
	{ "a network that comes first", network_first, false },
	{ "ports", ports, false },
	{ "no rules", no_rules, false },
	{ "a root that can be written", writable_root, false },
	{ "another beginning", other_proc, false },
	{ "an end before", fewer, false },
	{ "something in /dev", in_dev, false },
	{ "something of /proc", from_proc, false },
	{ "a source that must be compared", checked, false },
	{ "a layer", layer, false },
	{ "a hole in what is denied", hole, true },
	{ "other limits for its processes", other_limits, true },
};

static void test_continues(struct file_rules *files)
{
	struct plan begun, plan;

	plan_exec_begin(&begun, 1000, 1001, NULL);
	make(&plan, files);
	ok(plan_continues(&plan, &begun), "a plan continues what was begun");
	plan_release(&plan);
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		make(&plan, files);
		changes[i].change(&plan);
		is_int(plan_continues(&plan, &begun), changes[i].continues, "%s: %s",
		       changes[i].what, changes[i].continues ? "so does it" : "it does not");
		plan_release(&plan);
	}
	plan_release(&begun);
}

/* --- the order --- */

static void test_read(const struct plan *plan, struct str *text, size_t done_ops)
{
	struct order order;

	is_int(order_read(&order, text->s, text->len), 0, "an order is read back");
	is_int((long)order.plan.n_ops, (long)(plan->n_ops - done_ops), "... what is left to do");
	is_str(order.plan.ops[0].src, "nameserver x\n", "... with its text");
	ok(order.plan.ops[1].kind == OP_DENY && !order.plan.ops[1].src &&
		   order.plan.ops[1].flags == (OPF_DIR | OPF_OPTIONAL),
	   "... and without one");
	is_str(order.plan.argv.v[0], "printf", "the words");
	is_str(order.plan.argv.v[1], "", "... an empty one");
	ok(!order.plan.argv.v[2], "... and their end");
	is_str(order.plan.env.v[0], "A=1\n2", "the environment");
	is_str(order.plan.cwd, "/h/p", "the directory");
	is_int((long)order.plan.n_rules, (long)plan->n_rules, "Landlock's rules");
	is_str(order.plan.rules[0].path, plan->rules[0].path, "... as they are");
	is_int((long)order.plan.limits.pids, 12, "the limits");
	ok(!order.plan.tty[0] && order.plan.tty[1], "the terminal");
	is_int(order.seccomp, plan_seccomp(plan),
	       "the filter, by the rules that do not come along");
	is_int(order.mask, 027, "the umask");
	ok(order.n_fds == 5 && order.numbers[2] == 2 && order.numbers[4] == 300,
	   "the numbers of the descriptors");
	plan_release(&order.plan);
}

static void test_torn(const struct str *text)
{
	size_t taken = 0;

	for (size_t len = 0; len < text->len; len++) {
		char *copy = malloc(len + 1);
		struct order order;

		memcpy(copy, text->s, len);
		taken += order_read(&order, copy, len) != -EBADMSG;
		plan_release(&order.plan);
		free(copy);
	}
	is_int((long)taken, 0, "an order that ends too early is none, wherever it ends");
}

static void is_refused(const struct plan *plan, size_t done_ops, const char *what)
{
	_cleanup_str_ struct str text = { 0 };
	struct order order;

	order_write(&text, plan, done_ops, 0);
	is_int(order_read(&order, text.s, text.len), -EBADMSG, "%s: it is no order", what);
	plan_release(&order.plan);
}

/* What no plan has would be an index of PID 1's. */
static void test_strange(struct plan *plan, size_t done_ops)
{
	const struct op op = plan->ops[done_ops];
	const struct access_rule rule = plan->rules[0];

	plan->ops[done_ops].kind = OP_COW + 1;
	is_refused(plan, done_ops, "an operation that there is not");
	plan->ops[done_ops] = op;
	plan->ops[done_ops].dest = "etc/x";
	is_refused(plan, done_ops, "a place that is not absolute");
	plan->ops[done_ops] = op;
	plan->rules[0].class = ACCESS_DEV + 1;
	is_refused(plan, done_ops, "a class of Landlock's that there is not");
	plan->rules[0] = rule;
}

int main(void)
{
	_cleanup_str_ struct str text = { 0 };
	struct file_rules files = { 0 };
	struct plan begun, plan;

	test_continues(&files);
	plan_exec_begin(&begun, 1000, 1001, NULL);
	make(&plan, &files);
	order_write(&text, &plan, begun.n_ops, 027);
	test_read(&plan, &text, begun.n_ops);
	test_torn(&text);
	test_strange(&plan, begun.n_ops);
	plan_release(&plan);
	plan_release(&begun);
	return done();
}
