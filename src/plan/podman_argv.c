/* SPDX-License-Identifier: MIT */
/* The operations of a plan as arguments for 'podman run': an array of words, no shell, no secrets. */
#include <string.h>

#include "base/path.h"
#include "base/str.h"
#include "os/linux/seccomp.h"
#include "plan/podman.h"

/* Directories of ours: podman would make what is missing of them as root, one file at a time. */
static const char *const staged_dirs[] = { AGENT_INSIDE "/bin", "/etc/wrapix" };

static const char *staged_dir(const char *dest)
{
	for (size_t i = 0; i < ARRAY_LEN(staged_dirs); i++)
		if (path_is_below(dest, staged_dirs[i]))
			return staged_dirs[i];
	return NULL;
}

static bool is_mount(const struct op *op)
{
	return op->kind == OP_BIND || op->kind == OP_SCRATCH || op->kind == OP_COW;
}

/* The deepest mount around a place. */
static const struct op *mount_around(const struct plan *plan, const char *dest)
{
	const struct op *around = NULL;

	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct op *op = &plan->ops[i];

		if (is_mount(op) && path_is_below(dest, op->dest) &&
		    (!around || strlen(op->dest) >= strlen(around->dest)))
			around = op;
	}
	return around;
}

/* In a place that is the sandbox's to write. */
static bool in_own_place(const struct plan *plan, const char *dest)
{
	const struct op *around = mount_around(plan, dest);

	return around && (around->kind == OP_SCRATCH || (around->flags & OPF_MAKE));
}

enum stage_kind podman_stage(const struct plan *plan, const struct op *op)
{
	bool made = op->kind == OP_FILE || op->kind == OP_LINK || op->kind == OP_DIR;

	if (staged_dir(op->dest) && (made || op->kind == OP_BIND || op->kind == OP_SOCKET))
		return STAGE_DIR;
	if (made && in_own_place(plan, op->dest))
		return STAGE_TREE;
	return op->kind == OP_FILE || op->kind == OP_COVER ? STAGE_FILE : STAGE_NOT;
}

char *podman_staged(struct arena *arena, const struct plan *plan, const struct op *op,
		    const char *stage)
{
	switch (podman_stage(plan, op)) {
	case STAGE_DIR:
		return arena_printf(arena, "%s/dirs%s", stage, op->dest);
	case STAGE_TREE:
		return arena_printf(arena, "%s/init/tree%s", stage, op->dest);
	case STAGE_FILE:
		return arena_printf(arena, "%s/files/%zu", stage, (size_t)(op - plan->ops));
	default:
		return NULL;
	}
}

/* One field of podman's comma-separated values. */
static void add_field(struct str *out, const char *name, const char *value)
{
	bool quoted = value[strcspn(value, ",\"\r\n")] != '\0';

	str_add(out, quoted ? ",\"" : ",");
	str_addf(out, "%s=", name);
	for (const char *p = value; *p; p++)
		str_addf(out, *p == '"' ? "\"\"" : "%c", *p);
	str_add(out, quoted ? "\"" : "");
}

/* Private labels for what is the session's own, shared ones for what others may use as well. A device
 * or a setuid program that stands in a tree is none inside. */
static void add_bind(struct arena *arena, const struct plan *plan, struct strv *words,
		     const char *src, const char *dest, bool ro, const char *label)
{
	_cleanup_str_ struct str word = { 0 };

	str_add(&word, "--mount=type=bind");
	add_field(&word, "src", src);
	add_field(&word, "dst", dest);
	str_add(&word, ro ? ",ro=true,nodev,nosuid" : ",nodev,nosuid");
	/* The system's own files are everybody's to read, and not ours to label. */
	if (plan->podman.selinux && label && !path_is_below(src, "/usr") &&
	    !path_is_below(src, "/nix") && !path_is_below(src, "/sys"))
		add_field(&word, "relabel", label);
	strv_add(arena, words, word.s);
}

/* Strictly below a private place, and in no mount there. */
static bool in_scratch(const struct plan *plan, const char *dest)
{
	const struct op *around = mount_around(plan, dest);

	return around && around->kind == OP_SCRATCH && !(around->flags & OPF_RO) &&
	       strcmp(around->dest, dest);
}

static void add_scratch(struct arena *arena, const struct plan *plan, struct strv *words,
			const struct op *op)
{
	_cleanup_str_ struct str word = { 0 };

	str_add(&word, "--mount=type=tmpfs");
	add_field(&word, "dst", op->dest);
	if (op->flags & OPF_RO) /* nothing but what is mounted in it */
		str_add(&word, ",ro=true,notmpcopyup,tmpfs-mode=0755,tmpfs-size=64k");
	else
		str_addf(&word, ",U=true,notmpcopyup,tmpfs-mode=%04o,tmpfs-size=%llu", op->mode,
			 (unsigned long long)plan->scratch_size);
	strv_add(arena, words, word.s);
}

/* The host's path of what stands at a place inside, by the mounts so far; NULL: nothing of the
 * host's. */
static char *source_of(struct arena *arena, const struct plan *plan, const char *dest)
{
	const struct op *around = NULL;

	for (size_t i = 0; i < plan->n_ops; i++)
		if ((plan->ops[i].kind == OP_BIND || plan->ops[i].kind == OP_COW) &&
		    path_is_below(dest, plan->ops[i].dest) &&
		    (!around || strlen(plan->ops[i].dest) >= strlen(around->dest)))
			around = &plan->ops[i];
	if (!around)
		return NULL;
	return strcmp(around->dest, dest)
		       ? path_join(arena, around->src, path_below(dest, around->dest))
		       : arena_strdup(arena, around->src);
}

/* A link where the image is read-only is a second mount of what it leads to, itself read-only so that
 * it is no way around what covers the first; what an image has itself (/var/run, /etc/mtab) leads to
 * nothing of the plan's. */
static void add_link(struct arena *arena, const struct plan *plan, struct strv *words,
		     const struct op *op, const char *stage)
{
	char *target = path_join(arena, path_parent(arena, op->dest), op->src);
	char *source = source_of(arena, plan, target);

	if (!source && staged_dir(target))
		source = arena_printf(arena, "%s/dirs%s", stage, target);
	if (source)
		add_bind(arena, plan, words, source, op->dest, true, NULL);
}

/* What podman makes on the way to a mount in a private place would be root's: each such directory is
 * a private place of its own. */
static void add_parents(struct arena *arena, const struct plan *plan, struct strv *words,
			const struct op *op)
{
	char *dir = path_parent(arena, op->dest);
	struct op place = { .kind = OP_SCRATCH, .mode = 0755 };

	for (; in_scratch(plan, dir); dir = path_parent(arena, dir)) {
		size_t before = words->len;

		place.dest = dir;
		add_scratch(arena, plan, words, &place);
		for (size_t i = 0; i < before; i++)
			if (!strcmp(words->v[i], words->v[before])) {
				words->v[before] = NULL;
				words->len = before;
				return;
			}
	}
}

/* podman refuses two mounts on one place; the later one would hide the other anyway. */
static bool is_hidden(const struct plan *plan, size_t i)
{
	for (size_t j = i + 1; is_mount(&plan->ops[i]) && j < plan->n_ops; j++)
		if (is_mount(&plan->ops[j]) && !strcmp(plan->ops[i].dest, plan->ops[j].dest))
			return true;
	return false;
}

static void add_op(struct arena *arena, const struct plan *plan, struct strv *words,
		   const struct op *op, const char *stage, const char *session)
{
	enum stage_kind kind = podman_stage(plan, op);
	const char *src = op->src;

	if (op->kind == OP_BIND) {
		add_parents(arena, plan, words, op);
		if (op->flags & OPF_SESSION)
			src = op_session_source(arena, op, session);
		add_bind(arena, plan, words, src, op->dest, op->flags & OPF_RO,
			 op->flags & OPF_RO ? "shared" : "private");
	} else if (op->kind == OP_COW) {
		/* The engine knows where the layers are. A device is none in podman's overlay. */
		src = path_join(arena, "LAYERS", op->layer);
		strv_addf(arena, words, "--volume=%s:%s:O,upperdir=%s/upper,workdir=%s/work",
			  op->src, op->dest, src, src);
	} else if (op->kind == OP_SCRATCH) {
		add_scratch(arena, plan, words, op);
	} else if (op->kind == OP_READONLY) {
		src = source_of(arena, plan, op->dest);
		if (src)
			add_bind(arena, plan, words, src, op->dest, true, NULL);
	} else if (kind == STAGE_FILE) {
		add_bind(arena, plan, words, podman_staged(arena, plan, op, stage), op->dest, true,
			 "private");
	} else if (op->kind == OP_LINK && kind == STAGE_NOT) {
		add_link(arena, plan, words, op, stage);
	}
}

static void add_mounts(struct arena *arena, const struct plan *plan, struct strv *words,
		       const char *stage, const char *session)
{
	add_bind(arena, plan, words, path_join(arena, stage, "init"), STAGE_INSIDE, true,
		 "private");
	for (size_t i = 0; i < ARRAY_LEN(staged_dirs); i++)
		for (size_t j = 0; j < plan->n_ops; j++)
			if (path_is_below(plan->ops[j].dest, staged_dirs[i])) {
				add_bind(arena, plan, words,
					 arena_printf(arena, "%s/dirs%s", stage, staged_dirs[i]),
					 staged_dirs[i], true, "private");
				break;
			}
	for (size_t i = 0; i < plan->n_ops; i++)
		if (!is_hidden(plan, i))
			add_op(arena, plan, words, &plan->ops[i], stage, session);
}

static void add_limits(struct arena *arena, const struct plan *plan, struct strv *words)
{
	const struct cgroup_limits *limits = &plan->limits;
	unsigned held = plan->podman.held;

	if (limits->memory && (held & LIMIT_BIT(LIMIT_MEMORY)))
		strv_addf(arena, words, "--memory=%llub", (unsigned long long)limits->memory);
	if (limits->cpus > 0 && (held & LIMIT_BIT(LIMIT_CPUS)))
		strv_addf(arena, words, "--cpus=%g", limits->cpus);
	if (limits->pids && (held & LIMIT_BIT(LIMIT_PIDS)))
		strv_addf(arena, words, "--pids-limit=%llu", (unsigned long long)limits->pids);
	else if (limits->pids &&
		 !plan_is_machine(plan)) /* it counts the sandbox's own user namespace */
		strv_addf(arena, words, "--ulimit=nproc=%llu:%llu",
			  (unsigned long long)limits->pids, (unsigned long long)limits->pids);
	strv_add(arena, words, "--ulimit=core=0:0");
}

/* Beside what podman masks anyway. */
static void add_masks(struct arena *arena, const struct plan *plan, struct strv *words)
{
	_cleanup_str_ struct str paths = { 0 };

	for (size_t i = 0; i < plan->n_ops; i++)
		if (plan->ops[i].kind == OP_HIDE)
			str_addf(&paths, "%s%s", paths.len ? ":" : "", plan->ops[i].dest);
	if (paths.len)
		strv_addf(arena, words, "--security-opt=mask=%s", paths.s);
}

static void add_identity(struct arena *arena, const struct plan *plan, struct strv *words)
{
	const struct plan_podman *podman = &plan->podman;

	strv_add(arena, words, "--userns=keep-id");
	strv_addf(arena, words, "--user=%u:%u", plan->uid, plan->gid);
	strv_addf(arena, words, "--passwd-entry=%s:*:%u:%u::%s:%s", podman->user, plan->uid,
		  plan->gid, HOME_INSIDE, podman->shell);
	strv_addf(arena, words, "--hostname=%s", plan->hostname);
	if (podman->keep_groups)
		strv_add(arena, words, "--group-add=keep-groups");
}

/* Everything that does not depend on the plan. */
static const char *const always[] = {
	"--rm",
	"--pull=never",
	"--interactive",
	/* what passes is the user's: neither written down nor looked at */
	"--log-driver=none",
	"--detach-keys=",
	"--sig-proxy=false",
	"--http-proxy=false",
	"--cap-drop=all",
	"--security-opt=no-new-privileges",
	"--read-only",
	"--read-only-tmpfs=false",
	"--image-volume=ignore", /* podman would make one's place in the project, as another id's */
	"--systemd=false",
	"--sdnotify=ignore",
	"--no-healthcheck",
};

void podman_argv(struct arena *arena, const struct plan *plan, const char *stage,
		 const char *session, struct strv *ret)
{
	strv_add(arena, ret, plan->podman.program);
	if (plan_is_machine(plan))
		strv_addf(arena, ret, "--runtime=%s", plan->podman.runtime);
	strv_addf(arena, ret, "--hooks-dir=%s/hooks", stage);
	strv_add(arena, ret, "run");
	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		strv_add(arena, ret, always[i]);
	if (plan_is_interactive(plan))
		strv_add(arena, ret, "--tty");
	strv_addf(arena, ret, "--name=wrapix-%s", session);
	strv_addf(arena, ret, "--pidfile=%s/pid", stage);
	strv_addf(arena, ret, "--conmon-pidfile=%s/conmon", stage);
	strv_addf(arena, ret, "--label=wrapix.session=%s", session);
	strv_addf(arena, ret, "--label=wrapix.name=%s", plan->name);
	add_identity(arena, plan, ret);
	strv_addf(arena, ret, "--security-opt=seccomp=%s/seccomp.json", stage);
	if (plan->nested)
		strv_add(arena, ret, "--security-opt=unmask=ALL");
	else
		add_masks(arena, plan, ret);
	strv_addf(arena, ret, "--network=%s", plan->podman.network);
	strv_add(arena, ret, "--no-hosts");
	if (plan_is_machine(plan) && plan->net == NET_OPEN) /* older ones pass no UDP */
		strv_add(arena, ret, "--dns-option=use-vc");
	add_limits(arena, plan, ret);
	add_mounts(arena, plan, ret, stage, session);
	strv_addf(arena, ret, "--workdir=%s", plan->cwd);
	strv_add(arena, ret, "--entrypoint=[\"" INIT_INSIDE "\"]");
	strv_add(arena, ret, plan->podman.image);
	strv_addf(arena, ret, "--filter=%s", seccomp_describe(plan_seccomp(plan)));
	if (plan_is_machine(plan)) /* where the command starts as root, and who it is to be */
		strv_addf(arena, ret, "--machine=%u:%u", plan->uid, plan->gid);
	strv_add(arena, ret, "--");
	for (size_t i = 0; i < plan->argv.len; i++)
		strv_add(arena, ret, plan->argv.v[i]);
}
