/* SPDX-License-Identifier: MIT */
/* The order: a head of fixed size, then the texts that it counts, each with its length and a NUL. */
#include "engine/native/order.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "os/fs.h"
#include "os/linux/processor.h"

#define ORDER_MAX (64 << 20) /* more than the kernel takes for a command */
#define NO_TEXT UINT32_MAX

struct head {
	unsigned seccomp;
	mode_t mask;
	bool tty[3];
	int landlock_abi;
	enum cgroup_kind limits_by;
	struct cgroup_limits limits;
	struct cgroup_facts cgroup;
	int numbers[3 + EXEC_PASS_MAX];
	uint32_t n_fds, n_ops, n_rules, n_argv, n_env;
};

struct op_head {
	enum op_kind kind;
	unsigned flags, mode;
};

/* --- writing --- */

static void add(struct str *out, const void *data, size_t len)
{
	str_addn(out, data, len);
}

static void add_text(struct str *out, const char *text)
{
	uint32_t len = text ? (uint32_t)strlen(text) : NO_TEXT;

	add(out, &len, sizeof(len));
	if (text)
		add(out, text, len + 1);
}

static void add_list(struct str *out, const struct strv *list)
{
	for (size_t i = 0; i < list->len; i++)
		add_text(out, list->v[i]);
}

void order_write(struct str *out, const struct plan *plan, size_t done, mode_t mask)
{
	struct head head = {
		.seccomp = plan_seccomp(plan),
		.mask = mask,
		.landlock_abi = plan->landlock_abi,
		.limits_by = plan->limits_by,
		.limits = plan->limits,
		.cgroup = plan->cgroup,
		.numbers = { 0, 1, 2 },
		.n_fds = (uint32_t)(3 + plan->n_pass_fds),
		.n_ops = (uint32_t)(plan->n_ops - done),
		.n_rules = (uint32_t)plan->n_rules,
		.n_argv = (uint32_t)plan->argv.len,
		.n_env = (uint32_t)plan->env.len,
	};

	memcpy(head.tty, plan->tty, sizeof(head.tty));
	for (size_t i = 0; i < plan->n_pass_fds && i < EXEC_PASS_MAX; i++)
		head.numbers[3 + i] = plan->pass_fds[i];
	add(out, &head, sizeof(head));
	for (size_t i = done; i < plan->n_ops; i++) {
		const struct op *op = &plan->ops[i];

		add(out, &(struct op_head){ op->kind, op->flags, op->mode },
		    sizeof(struct op_head));
		add_text(out, op->dest);
		add_text(out, op->src);
	}
	for (size_t i = 0; i < plan->n_rules; i++) {
		add(out, &plan->rules[i].class, sizeof(plan->rules[i].class));
		add_text(out, plan->rules[i].path);
	}
	add_list(out, &plan->argv);
	add_list(out, &plan->env);
	add_text(out, plan->cwd);
}

int order_send(int control, const struct plan *plan, size_t done)
{
	_cleanup_close_ int memory = memfd_create("wrapix-order", MFD_CLOEXEC);
	_cleanup_str_ struct str text = { 0 };
	int fds[1 + 3 + EXEC_PASS_MAX] = { memory, 0, 1, 2 };
	mode_t mask = umask(0);

	umask(mask);
	if (memory < 0)
		return -errno;
	if (plan->n_pass_fds > EXEC_PASS_MAX)
		return -EMFILE;
	for (size_t i = 0; i < plan->n_pass_fds; i++)
		fds[4 + i] = plan->pass_fds[i];
	order_write(&text, plan, done, mask);
	if (os_write_all(memory, text.s, text.len) < 0 || lseek(memory, 0, SEEK_SET) < 0)
		return -errno;
	return control_send_many(control, CONTROL_ORDER, 0, fds, 4 + plan->n_pass_fds);
}

/* --- reading --- */

struct reader {
	char *at, *end;
	bool torn;
};

static void get(struct reader *in, void *ret, size_t len)
{
	in->torn |= (size_t)(in->end - in->at) < len;
	if (in->torn) {
		memset(ret, 0, len);
		return;
	}
	memcpy(ret, in->at, len);
	in->at += len;
}

static char *get_text(struct reader *in)
{
	uint32_t len;
	char *text;

	get(in, &len, sizeof(len));
	if (in->torn || len == NO_TEXT)
		return NULL;
	text = in->at;
	in->torn = len >= (size_t)(in->end - in->at) || text[len];
	if (in->torn)
		return NULL;
	in->at += len + 1;
	return text;
}

/* A list that says it has more than there are bytes is torn. */
static void *get_array(struct reader *in, struct arena *arena, size_t n, size_t size)
{
	in->torn |= n > (size_t)(in->end - in->at);
	return in->torn ? NULL : arena_alloc(arena, (n + 1) * size);
}

static void get_list(struct reader *in, struct arena *arena, size_t n, struct strv *ret)
{
	ret->v = get_array(in, arena, n, sizeof(*ret->v));
	while (!in->torn && ret->len < n) {
		ret->v[ret->len] = get_text(in);
		in->torn |= !ret->v[ret->len++];
	}
}

static void get_ops(struct reader *in, struct plan *plan, size_t n)
{
	plan->ops = get_array(in, &plan->arena, n, sizeof(*plan->ops));
	while (!in->torn && plan->n_ops < n) {
		struct op_head head;
		struct op *op = &plan->ops[plan->n_ops++];

		get(in, &head, sizeof(head));
		*op = (struct op){ .kind = head.kind, .flags = head.flags, .mode = head.mode };
		op->dest = get_text(in);
		op->src = get_text(in);
		in->torn |= head.kind > OP_COW || !op->dest || *op->dest != '/';
	}
}

static void get_rules(struct reader *in, struct plan *plan, size_t n)
{
	plan->rules = get_array(in, &plan->arena, n, sizeof(*plan->rules));
	while (!in->torn && plan->n_rules < n) {
		struct access_rule *rule = &plan->rules[plan->n_rules++];

		get(in, &rule->class, sizeof(rule->class));
		rule->path = get_text(in);
		in->torn |= rule->class > ACCESS_DEV || !rule->path;
	}
}

int order_read(struct order *ret, char *text, size_t len)
{
	struct reader in = { text, text + len, false };
	struct plan *plan = &ret->plan;
	struct head head;

	*ret = (struct order){ 0 };
	get(&in, &head, sizeof(head));
	in.torn |= head.n_fds < 3 || head.n_fds > ARRAY_LEN(ret->numbers);
	if (in.torn)
		return -EBADMSG;
	ret->seccomp = head.seccomp;
	ret->mask = head.mask;
	ret->n_fds = head.n_fds;
	memcpy(ret->numbers, head.numbers, sizeof(ret->numbers));
	memcpy(plan->tty, head.tty, sizeof(plan->tty));
	plan->landlock_abi = head.landlock_abi;
	plan->limits_by = head.limits_by;
	plan->limits = head.limits;
	plan->cgroup = head.cgroup;
	plan->pass_fds = ret->numbers + 3;
	plan->n_pass_fds = head.n_fds - 3;
	get_ops(&in, plan, head.n_ops);
	get_rules(&in, plan, head.n_rules);
	get_list(&in, &plan->arena, head.n_argv, &plan->argv);
	get_list(&in, &plan->arena, head.n_env, &plan->env);
	plan->cwd = get_text(&in);
	return in.torn || in.at != in.end || !plan->argv.len || !plan->cwd ? -EBADMSG : 0;
}

/* --- in the child --- */

int order_take(struct child *child, struct err *err)
{
	static struct order order; /* the plan points into it, to the end */
	int fds[1 + ARRAY_LEN(order.fds)];
	size_t n = ARRAY_LEN(fds), len;
	struct control message;
	char *text;
	int r;

	if (control_receive_many(child->control, &message, fds, &n) < 0 ||
	    message.type != CONTROL_ORDER || !n)
		return err_set(err, EPIPE, "the supervisor is gone");
	processor_release(0, child->apart); /* it gave us ours before it sent this */
	r = os_read_fd(fds[0], ORDER_MAX, &text, &len);
	close(fds[0]);
	if (r == 0)
		r = order_read(&order, text, len);
	if (r == 0 && order.n_fds != n - 1)
		r = -EBADMSG;
	if (r < 0)
		return err_errno(err, -r, "reading what the sandbox is for");
	memcpy(order.fds, fds + 1, (n - 1) * sizeof(*fds));
	child->order = &order;
	child->plan = &order.plan;
	child->seccomp = order.seccomp;
	child->mask = order.mask;
	child->limits_by = order.plan.limits_by;
	return 0;
}

static bool is_wanted(const struct order *order, int fd)
{
	for (size_t i = 0; i < order->n_fds; i++)
		if (order->numbers[i] == fd)
			return true;
	return false;
}

/* Moves a descriptor off the numbers that are wanted. */
static int step_aside(const struct order *order, int *fd)
{
	int old = *fd;

	while (*fd >= 0 && is_wanted(order, *fd))
		*fd = fcntl(old, F_DUPFD_CLOEXEC, *fd + 1);
	if (*fd < 0)
		return -errno;
	if (*fd != old)
		close(old);
	return 0;
}

int order_place(struct child *child, struct err *err)
{
	struct order *order = child->order;
	int r = step_aside(order, &child->control);

	if (r == 0)
		r = step_aside(order, &child->status);
	for (size_t i = 0; r == 0 && i < order->n_fds; i++)
		r = step_aside(order, &order->fds[i]);
	for (size_t i = 0; r == 0 && i < order->n_fds; i++) {
		r = dup2(order->fds[i], order->numbers[i]) < 0 ? -errno : 0;
		close(order->fds[i]);
	}
	return r < 0 ? err_errno(err, -r, "giving the command its descriptors") : 0;
}
