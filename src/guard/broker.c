/* SPDX-License-Identifier: MIT */
/* The broker's entry: which row a call is, who asks, and what a refusal is. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "guard/broker_priv.h"
#include "guard/caller.h"
#include "guard/gate.h"
#include "os/linux/kernel.h"
#include "os/linux/processor.h"
#include "os/linux/seccomp.h"
#include "os/proc.h"

#define AT(call, function, ...)                                                               \
	{                                                                                     \
		.name = call, .fn = function, .dir = -1, .path = -1, .dir2 = -1, .path2 = -1, \
		.arg = -1, .flags = -1, __VA_ARGS__                                           \
	}

/* clang-format off */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const struct row rows[] = {
	AT("open", do_open, .path = 0, .arg = 1),
	AT("openat", do_open, .dir = 0, .path = 1, .arg = 2),
	AT("creat", do_open, .path = 0, .arg = 1, .fixed = O_CREAT | O_WRONLY | O_TRUNC),
	AT("openat2", do_openat2, .dir = 0, .path = 1, .arg = 2),
	AT("mkdir", do_mkdir, .path = 0, .arg = 1, .names = true),
	AT("mkdirat", do_mkdir, .dir = 0, .path = 1, .arg = 2, .names = true),
	AT("mknod", do_mknod, .path = 0, .arg = 1),
	AT("mknodat", do_mknod, .dir = 0, .path = 1, .arg = 2),
	AT("symlink", do_symlink, .arg = 0, .path = 1, .names = true),
	AT("symlinkat", do_symlink, .arg = 0, .dir = 1, .path = 2, .names = true),
	AT("link", do_link, .path = 0, .path2 = 1, .names = true),
	AT("linkat", do_link, .dir = 0, .path = 1, .dir2 = 2, .path2 = 3, .flags = 4, .names = true),
	AT("rename", do_rename, .path = 0, .path2 = 1, .names = true),
	AT("renameat", do_rename, .dir = 0, .path = 1, .dir2 = 2, .path2 = 3, .names = true),
	AT("renameat2", do_rename, .dir = 0, .path = 1, .dir2 = 2, .path2 = 3, .flags = 4, .names = true),
	AT("unlink", do_unlink, .path = 0, .names = true),
	AT("unlinkat", do_unlink, .dir = 0, .path = 1, .flags = 2, .names = true),
	AT("rmdir", do_unlink, .path = 0, .fixed = AT_REMOVEDIR, .names = true),
	AT("bind", do_bind, .dir = 0, .arg = 1),
	AT("truncate", do_truncate, .path = 0, .arg = 1),
	AT("truncate64", do_truncate, .path = 0, .arg = 1, .fixed = 64),
	AT("chmod", do_chmod, .path = 0, .arg = 1),
	AT("fchmod", do_chmod, .dir = 0, .arg = 1),
	AT("fchmodat", do_chmod, .dir = 0, .path = 1, .arg = 2),
	AT("fchmodat2", do_chmod, .dir = 0, .path = 1, .arg = 2, .flags = 3),
	AT("chown", do_chown, .path = 0, .arg = 1),
	AT("chown32", do_chown, .path = 0, .arg = 1),
	AT("lchown", do_chown, .path = 0, .arg = 1, .fixed = AT_SYMLINK_NOFOLLOW),
	AT("lchown32", do_chown, .path = 0, .arg = 1, .fixed = AT_SYMLINK_NOFOLLOW),
	AT("fchown", do_chown, .dir = 0, .arg = 1),
	AT("fchown32", do_chown, .dir = 0, .arg = 1),
	AT("fchownat", do_chown, .dir = 0, .path = 1, .arg = 2, .flags = 4),
	AT("access", do_access, .path = 0, .arg = 1),
	AT("faccessat", do_access, .dir = 0, .path = 1, .arg = 2),
	AT("faccessat2", do_access, .dir = 0, .path = 1, .arg = 2, .flags = 3),
	AT("utime", do_utime, .path = 0, .arg = 1, .fixed = 1),
	AT("utimes", do_utime, .path = 0, .arg = 1, .fixed = 2),
	AT("futimesat", do_utime, .dir = 0, .path = 1, .arg = 2, .fixed = 2),
	AT("utimensat", do_utime, .dir = 0, .path = 1, .arg = 2, .flags = 3, .fixed = 3),
	AT("utimensat_time64", do_utime, .dir = 0, .path = 1, .arg = 2, .flags = 3, .fixed = 4),
	AT("setxattr", do_xattr, .path = 0, .arg = 1),
	AT("lsetxattr", do_xattr, .path = 0, .arg = 1, .fixed = AT_SYMLINK_NOFOLLOW),
	AT("fsetxattr", do_xattr, .dir = 0, .arg = 1),
	AT("setxattrat", do_xattr, .dir = 0, .path = 1, .flags = 2, .arg = 3),
	AT("removexattr", do_xattr, .path = 0, .arg = 1),
	AT("lremovexattr", do_xattr, .path = 0, .arg = 1, .fixed = AT_SYMLINK_NOFOLLOW),
	AT("fremovexattr", do_xattr, .dir = 0, .arg = 1),
	AT("removexattrat", do_xattr, .dir = 0, .path = 1, .flags = 2, .arg = 3),
	AT("umask", do_umask, .arg = 0),
	AT("chdir", do_chdir, .path = 0),
	AT("fchdir", do_chdir, .dir = 0),
};
#pragma GCC diagnostic pop
/* clang-format on */

/* Who changes nothing needs no umask, and a question is not worth an event. */
static bool has_row(const struct broker *b, const struct row *row, const struct seccomp_call *call)
{
	return !strcmp(row->name, call->name) && call->nr < ARRAY_LEN(b->rows[0]) &&
	       !(b->watches && (row->fn == do_umask || row->fn == do_access));
}

static void add_rows(struct broker *b, const struct seccomp_program *fragment)
{
	for (const struct seccomp_call *call = fragment->calls; call->name; call++)
		for (size_t i = 0; i < ARRAY_LEN(rows); i++)
			if (has_row(b, &rows[i], call))
				b->rows[call->arch != b->arch][call->nr] = (uint8_t)(i + 1);
}

/* "/" begins every path before its first slash. */
static size_t path_len(const char *path)
{
	return strcmp(path, "/") ? strlen(path) : 0;
}

/* The nearest directory that exists at or above a writable place; many may have the same. */
static int add_anchor(struct broker *b, const char *root, struct err *err)
{
	char *path = arena_strdup(&b->arena, root);
	struct anchor *anchor;
	void **known;
	int fd;

	while ((fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0 && strcmp(path, "/") != 0)
		path = path_parent(&b->arena, path);
	if (fd < 0)
		return err_errno(err, errno, "opening the writable directory '%s'", root);
	known = path_map_add(&b->anchored, path, strlen(path));
	if (*known) {
		close(fd);
		return 0;
	}
	*known = b;
	anchor = arena_grow(&b->arena, (void *)&b->anchors, &b->n_anchors, sizeof(*anchor));
	*anchor = (struct anchor){ path, path_len(path), path, path_len(path), fd };
	return 0;
}

/* Each is held open. Whether there is room for them is known when those that are the same are one. */
static int add_anchors(struct broker *b, const struct strv *roots, struct err *err)
{
	int r = 0;

	(void)os_need_descriptors(roots->len);
	for (size_t i = 0; i < roots->len && r == 0; i++)
		r = add_anchor(b, roots->v[i], err);
	if (r == 0 && os_need_descriptors(b->n_anchors) < 0)
		r = err_errno(err, EMFILE, "opening the %zu writable directories", b->n_anchors);
	return r;
}

/* The innermost first; of two at one place the later one, which lies on top. */
static void add_maps(struct broker *b, const struct broker_view *view)
{
	for (size_t i = view->n; i-- > 0;) {
		const struct broker_map *map = &view->maps[i];
		struct anchor *anchor;

		anchor = arena_grow(&b->arena, (void *)&b->anchors, &b->n_anchors, sizeof(*anchor));
		*anchor = (struct anchor){
			.inside = arena_strdup(&b->arena, map->inside),
			.inside_len = path_len(map->inside),
			.path = arena_strdup(&b->arena, map->host),
			.len = path_len(map->host),
			.fd = -1,
		};
	}
	/* Stable for equals: there are few, and insertion keeps their order. */
	for (size_t i = 1; i < b->n_anchors; i++)
		for (size_t k = i; k > 0 && b->anchors[k - 1].inside_len < b->anchors[k].inside_len;
		     k--) {
			struct anchor swapped = b->anchors[k];

			b->anchors[k] = b->anchors[k - 1];
			b->anchors[k - 1] = swapped;
		}
}

int broker_new(struct broker **ret, const struct file_rules *rules, const struct broker_view *view,
	       const struct broker_hooks *hooks, struct err *err)
{
	struct broker *b = calloc(1, sizeof(*b));
	int r = 0;

	if (!b)
		return err_errno(err, ENOMEM, "the file broker");
	b->rules = b->given = rules;
	b->hooks = *hooks;
	b->view = -1;
	b->turn = -1;
	b->turn_path = arena_strdup(&b->arena, view->turn);
	b->arch = seccomp_notify_files.calls[0].arch;
	b->watches = view->watches;
	b->has_caps = geteuid() == 0 && !b->watches;
	b->news = BROKER_NEWS;
	b->umask = umask(022);
	umask(b->umask);
	place_settle(b);
	b->reads = view->reads;
	b->mapped = view->maps;
	for (size_t i = 0; i < BROKER_TASKS; i++)
		b->tasks[i].proc = -1;
	for (size_t i = 0; i < BROKER_DIRS; i++)
		b->dirs[i].fd = -1;
	b->kept.fd = -1;
	add_rows(b, &seccomp_notify_files);
	add_rows(b, &seccomp_notify_reads);
	b->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	b->own_fds = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (b->proc < 0 || b->own_fds < 0)
		r = err_errno(err, errno, "opening '/proc/self/fd'");
	if (r == 0 && b->mapped)
		add_maps(b, view);
	if (r == 0 && !b->mapped)
		r = add_anchors(b, &rules->roots, err);
	if (r < 0) {
		broker_free(b);
		return r;
	}
	b->gate = view->gate;
	*ret = b;
	return 0;
}

void broker_free(struct broker *b)
{
	if (!b)
		return;
	processor_pause(0);
	workers_end(b, NULL);
	tasks_forget_directories(b);
	for (size_t i = 0; i < BROKER_TASKS; i++)
		close_ptr(&b->tasks[i].proc);
	for (size_t i = 0; i < BROKER_DIRS; i++) {
		close_ptr(&b->dirs[i].fd);
		free(b->dirs[i].path);
	}
	kept_release(b);
	seen_release(b);
	lately_forget(b);
	hooked_release(b);
	for (size_t i = 0; i < b->n_anchors; i++)
		close_ptr(&b->anchors[i].fd);
	close_ptr(&b->view);
	close_ptr(&b->turn);
	close_ptr(&b->proc);
	close_ptr(&b->own_fds);
	close_ptr(&b->home);
	gate_free(b->gate);
	path_map_release(&b->anchored);
	arena_release(&b->arena);
	free(b);
}

void broker_take_tree(struct broker *b, const char *inside, int fd)
{
	for (size_t i = 0; i < b->n_anchors; i++)
		if (b->anchors[i].fd < 0 && !strcmp(b->anchors[i].inside, inside)) {
			b->anchors[i].fd = fd;
			return;
		}
	close(fd);
}

void broker_enter(struct broker *b, const struct notify *notify, int view, bool nested)
{
	b->notify = notify;
	b->view = view;
	b->nested = nested;
	covers_enter(b);
}

static bool is_anchored(const struct broker *b, const char *root)
{
	for (size_t i = 0; i < b->n_anchors; i++)
		if (path_is_below(root, b->anchors[i].path))
			return true;
	return false;
}

static bool is_same_rule(const struct file_rule *a, const struct file_rule *b)
{
	return a->kind == b->kind && !strcmp(a->text, b->text) && !a->path == !b->path &&
	       (!a->path || !strcmp(a->path, b->path)) && a->glob == b->glob &&
	       a->firm == b->firm && a->absent == b->absent && a->fleeting == b->fleeting &&
	       a->folded == b->folded;
}

/* Settings that were written just before the start are read twice: their mounts stand for them as before. */
static bool are_same(const struct file_rules *a, const struct file_rules *b)
{
	bool same = a->n == b->n && a->asked == b->asked && a->unwatched == b->unwatched &&
		    a->disabled == b->disabled;

	for (size_t i = 0; same && i < a->n; i++)
		same = is_same_rule(&a->rules[i], &b->rules[i]);
	return same;
}

int broker_set_rules(struct broker *b, const struct file_rules *rules, struct err *err)
{
	bool others = b->reads == FILE_READS_WATCHED && !are_same(b->given, rules);
	int r = 0;

	if (b->watches)
		return 0;
	(void)os_need_descriptors(rules->roots.len);
	for (size_t i = 0; i < rules->roots.len && r == 0 && !b->mapped; i++)
		if (!is_anchored(b, rules->roots.v[i]))
			r = add_anchor(b, rules->roots.v[i], err);
	if (r == 0) {
		b->given = rules;
		hooked_extend(b);
	}
	if (r == 0 && others)
		b->reads = FILE_READS_ASKED;
	return r;
}

/* Repositories that one call may come to: two names, each in one, or a link that leads to the next. */
enum { AGAIN_MAX = 8 };

/* Root outside would pass by every permission; root inside has no capability, and so have we while
 * we act for it. Who owns the user namespace may look into its processes without one. */
static void set_caps(struct broker *b, bool on)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (!b->has_caps)
		return;
	if (syscall(SYS_capget, &header, data) < 0)
		abort(); /* never with more rights than the caller has */
	for (int i = 0; i < 2; i++)
		data[i].effective = on ? data[i].permitted : 0;
	if (syscall(SYS_capset, &header, data) < 0)
		abort();
}

/* Of those that need not, opening takes its turn where it turns out to be a change. */
static bool takes_turn(const struct row *row)
{
	return row->fn != do_open && row->fn != do_openat2 && row->fn != do_access &&
	       row->fn != do_umask && row->fn != do_chdir;
}

static int do_row(struct request *r)
{
	int answer = takes_turn(r->row) ? turn_take(r) : 0;

	if (answer == 0)
		answer = r->row->fn(r);
	turn_give(r);
	return answer;
}

static int serve(struct broker *b, const struct notify *notify, bool lent,
		 const struct seccomp_notif *call)
{
	struct request r = {
		.b = b,
		.notify = notify,
		.notif = call,
		.own_root = -1,
		.nested = b->nested || lent,
		.lent = lent,
	};
	int answer;
	uint8_t row = 0;

	r.compat = call->data.arch != b->arch;
	if (call->data.nr >= 0 && (size_t)call->data.nr < ARRAY_LEN(b->rows[0]))
		row = b->rows[r.compat][call->data.nr];
	if (!row)
		return NOTIFY_CONTINUE;
	r.row = &rows[row - 1];
	if (b->n_workers)
		workers_reap(b);
	if (r.row->names)
		seen_forget(b);
	kept_arrived(b, call->pid);
	lately_begin(b);
	set_caps(b, false);
	/* What cannot be looked at is not let go on: no mount stands for some of the rules. */
	answer = task_find(&r);
	if (answer == 0)
		answer = b->watches && watch_passes(&r) ? OUTSIDE : do_row(&r);
	for (int i = 0; answer == AGAIN && i < AGAIN_MAX; i++)
		answer = do_row(&r);
	set_caps(b, true);
	task_give_umask(&r);
	close_ptr(&r.own_root);
	processor_pause((pid_t)call->pid);
	if (b->watches || answer == OUTSIDE || answer == RETRY)
		return NOTIFY_CONTINUE;
	return answer == AGAIN ? -EROFS : answer;
}

int broker_call(void *broker, const struct seccomp_notif *call)
{
	struct broker *b = broker;

	return serve(b, b->notify, false, call);
}

int broker_call_lent(struct broker *b, const struct notify *notify,
		     const struct seccomp_notif *call)
{
	return serve(b, notify, true, call);
}

void broker_forget(struct broker *b, const struct notify *notify)
{
	workers_end(b, notify);
}

uint64_t request_arg(const struct request *r, int i)
{
	return r->compat ? (uint32_t)r->notif->data.args[i] : r->notif->data.args[i];
}

int request_dir(const struct request *r, int arg)
{
	return arg < 0 ? AT_FDCWD : (int)request_arg(r, arg);
}

int request_read_path(struct request *r, int arg, char buf[PATH_MAX])
{
	int n = -EAGAIN;

	if (arg == r->row->path2 && r->is_ahead)
		return (int)strlen(memcpy(buf, r->ahead, sizeof(r->ahead)));
	if (arg == r->row->path && r->row->path2 >= 0) {
		n = caller_read_paths(
			r->notif,
			(uint64_t[]){ request_arg(r, arg), request_arg(r, r->row->path2) }, buf,
			r->ahead);
		r->is_ahead = n >= 0;
	}
	return n >= 0 ? n : caller_read_path(r->notif, request_arg(r, arg), buf);
}

int request_read(struct request *r, int arg, void *buf, size_t len)
{
	return caller_read(r->notif, request_arg(r, arg), buf, len);
}

static void tell(struct request *r, struct broker_denial denial)
{
	turn_give(r); /* nothing is done any more, and who listens may be slow */
	denial.call = r->row->name;
	denial.pid = (pid_t)r->notif->pid;
	denial.site = r->notif->data.instruction_pointer;
	if (!r->quiet && r->b->hooks.on_denied)
		r->b->hooks.on_denied(r->b->hooks.ctx, &denial);
}

int request_denied(struct request *r, const char *path, const struct file_rule *rule,
		   const char *reason)
{
	tell(r, (struct broker_denial){ .path = path, .rule = rule, .reason = reason });
	return -EACCES;
}

int request_apart(struct request *r, const char *path, bool made)
{
	tell(r, (struct broker_denial){
			.path = path, .reason = r->b->mapped ? "read-only" : NULL, .made = made });
	return -EXDEV;
}

void request_predicted(struct request *r, const char *path, bool made)
{
	/* An inner supervisor, which sets its network up: no command has asked for that. */
	if (r->lent && path_is_below(path, "/proc"))
		return;
	/* A sandbox with names of its own has read-only places that no rule speaks of. */
	tell(r, (struct broker_denial){ .path = path,
					.reason = r->b->mapped ? "read-only" : NULL,
					.made = made,
					.predicted = true });
}

int request_check(struct request *r)
{
	if (r->b->watches)
		return OUTSIDE;
	return notify_is_fresh(r->notify) || notify_is_valid(r->notify, r->notif->id) ? 0 : -EINTR;
}

int request_result(int ret)
{
	return ret < 0 ? -errno : NOTIFY_DONE;
}

const char *fd_path(int fd, char buf[32])
{
	snprintf(buf, 32, "/proc/self/fd/%d", fd);
	return buf;
}
