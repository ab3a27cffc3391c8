/* SPDX-License-Identifier: MIT */
/* The beginning and the end of a command, and small services on the way. */
#include "ralph/work.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "api/api.h"
#include "base/path.h"
#include "cow/apply.h"
#include "os/fs.h"
#include "ralph/beads.h"
#include "ralph/export.h"
#include "ralph/wire.h"

enum { SPEC_MAX = 1 << 20, PINNED_MAX = 64 * 1024 };

/* The agent that the project's configuration names, where ralph's own names none. */
static int choose_agent(struct work *work, const char *wanted, struct err *err)
{
	struct project_config project = { 0 };
	const char *name = wanted ? wanted : work->config.agent;
	struct spec spec;
	int r = 0;

	spec_init(&spec);
	spec.dir = arena_strdup(&spec.arena, work->site.top);
	if (!name) {
		r = spec_load_layers(&spec, &project, err);
		name = agent_wanted(&spec);
	}
	if (r == 0)
		r = agent_load(&work->arena, name,
			       api_base_dir(&work->arena, "XDG_CONFIG_HOME", ".config"),
			       &work->agent, err);
	if (r == 0) { /* a program of the user's own */
		work->agent = (struct agent){ .name = arena_strdup(&work->arena, name) };
		work->agent.dialect = arena_strdup(&work->arena, "claude");
		work->agent.ask = arena_strdup(&work->arena, "");
	}
	project_config_release(&project);
	spec_release(&spec);
	if (r < 0)
		return r;
	work->dialect = work->agent.dialect ? dialect_find(work->agent.dialect) : NULL;
	if (!work->dialect)
		return err_usage(err, "the agent '%s' cannot work without a terminal",
				 work->agent.name);
	return 0;
}

/* To look at a project one need not be able to write there; a step says it. */
static int export_unless_read_only(struct work *work, struct err *err)
{
	int r = work_export(work, err);

	return r == -EACCES || r == -EROFS ? 0 : r;
}

int work_open(struct work *work, const char *agent, struct err *err)
{
	struct err ignored;
	int r = site_find(&work->site, err);

	work->templates = (struct template_source)TEMPLATES_BUILT_IN;
	if (r == 0)
		r = ralph_config_load(&work->config, &work->site, err);
	if (r == 0)
		r = choose_agent(work, agent, err);
	if (r == 0)
		r = db_open(&work->db, work->site.db, NULL, err);
	if (r == 0)
		r = export_unless_read_only(work, err);
	if (r == 0) /* most projects have none of their own */
		work->templates.dir = site_open_dir(&work->site, EXPORT_DIR "/template", false,
						    &ignored);
	return r;
}

void work_close(struct work *work)
{
	if (work->db.handle)
		db_close(&work->db);
	if (work->templates.find)
		close_ptr(&work->templates.dir);
	ralph_config_release(&work->config);
	site_release(&work->site);
	arena_release(&work->arena);
}

int work_export(struct work *work, struct err *err)
{
	return beads_used(&work->site) ? beads_sync(work, err)
				       : export_sync(&work->db, &work->site, err);
}

int work_feature(struct work *work, const char *name, struct feature *ret, struct err *err)
{
	struct feature *list;
	char *current = NULL;
	size_t n = 0;
	int r = 0;

	if (!name) {
		r = db_get(&work->db, &work->arena, "current", &current, err);
		name = current;
	}
	if (r == 0 && !name) {
		r = feature_list(&work->db, &work->arena, &list, &n, err);
		if (r == 0 && n == 1)
			name = list[0].name;
	}
	if (r == 0 && !name && n) {
		err_usage(err, "which feature? none is in use");
		return err_hint(err,
				"'ralph use NAME' chooses one; 'ralph status --all' lists them");
	}
	if (r == 0 && !name) {
		err_usage(err, "there is no feature yet");
		return err_hint(err, "'ralph start NAME' begins one");
	}
	return r < 0 ? r : feature_find(&work->db, &work->arena, name, ret, err);
}

int work_use_host(struct work *work, struct err *err)
{
	int r = ralph_config_is_trusted(&work->config, &work->site, err);

	work->host = r == 0;
	return r;
}

void work_say(const struct work *work, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (!work->view.say)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	work->view.say(work->view.ctx, text);
}

char *work_spec_path(const struct work *work, struct arena *arena, const struct feature *feature)
{
	return path_join(arena, feature->hidden ? work->site.state : work->site.top, feature->spec);
}

const char *work_spec_inside(struct arena *arena, const struct feature *feature)
{
	return feature->hidden ? RALPH_SPEC_INSIDE "/spec.md"
			       : path_join(arena, WORKSPACE_INSIDE, feature->spec);
}

int work_read_spec(const struct work *work, const struct feature *feature, char **ret,
		   size_t *ret_len, struct err *err)
{
	_cleanup_close_ int dir = open(feature->hidden ? work->site.state : work->site.top,
				       O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int fd = os_openat2(dir, feature->spec, O_RDONLY | O_CLOEXEC | O_NONBLOCK,
					    0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	int r = fd < 0 ? fd : os_read_fd(fd, SPEC_MAX, ret, ret_len);

	if (r == 0)
		return 0;
	err_errno(err, -r, "reading the spec '%s'", feature->spec);
	return r == -ENOENT ? err_hint(err, "'ralph plan' writes it with you") : -err->code;
}

char *work_pinned(const struct work *work, struct arena *arena)
{
	_cleanup_close_ int dir = open(work->site.top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int fd = os_openat2(dir, work->config.pinned,
					    O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0,
					    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (fd < 0 || os_read_fd(fd, PINNED_MAX, &text, &len) < 0 || !len)
		return arena_printf(arena, "(nothing: there is no `%s`)", work->config.pinned);
	return arena_strndup(arena, text, len);
}

char *work_file(const struct work *work, struct arena *arena, const char *fmt, ...)
{
	va_list ap;
	char *name;

	va_start(ap, fmt);
	name = arena_vprintf(arena, fmt, ap);
	va_end(ap);
	return path_join(arena, work->site.state, name);
}

static int write_state(const struct work *work, const char *name, const char *text, size_t len,
		       bool wait, struct err *err)
{
	struct arena arena = { 0 };
	char *path = work_file(work, &arena, "%s", name);
	_cleanup_close_ int dir = open(path_parent(&arena, path), O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = dir < 0 ? err_errno(err, errno, "opening '%s'", path)
		: wait  ? os_write_file_atomic(dir, path_name(path), text, len, 0600, err)
			: os_write_file_soon(dir, path_name(path), text, len, 0600, err);

	arena_release(&arena);
	return r;
}

int work_write(const struct work *work, const char *name, const char *text, size_t len,
	       struct err *err)
{
	return write_state(work, name, text, len, true, err);
}

int work_write_soon(const struct work *work, const char *name, const char *text, size_t len,
		    struct err *err)
{
	return write_state(work, name, text, len, false, err);
}

char *work_session_name(const struct work *work, struct arena *arena, int64_t attempt)
{
	return arena_printf(arena, "ralph-%s-%lld", path_name(work->site.state),
			    (long long)attempt);
}

int work_open_session(const struct work *work, const char *name, struct cow *ret, struct err *err)
{
	struct arena arena = { 0 };
	const struct cow_info *info = NULL;
	struct cow_info *list;
	size_t n;
	int r = cow_list_all(&arena, work->site.state_home, &list, &n, err);

	if (r == 0)
		info = cow_find(list, n, name);
	if (info) {
		r = cow_open_listed(ret, info, err);
		if (r == 0)
			r = cow_lock(ret, err);
		if (r == 0)
			r = cow_open_project(ret, err);
	}
	arena_release(&arena);
	return r < 0 ? r : info != NULL;
}

int work_discard(const struct work *work, const char *name, struct err *err)
{
	_cleanup_cow_ struct cow cow = COW_NONE;
	int r = work_open_session(work, name, &cow, err);

	return r == 1 ? cow_remove(&cow, err) : r;
}

void work_notify(const struct work *work, const char *title, const char *text)
{
	char *command[] = { (char *)"wrapix-notify", (char *)"--replace", (char *)"ralph",
			    (char *)title,           (char *)text,        NULL };
	struct process_spec spec = {
		.dir = work->site.top,
		.name = "ralph",
		.offline = true,
		.command = command,
		.in = -1,
		.err = -1,
	};
	_cleanup_str_ struct str out = { 0 };
	struct err ignored; /* a message that is not sent loses nothing */

	(void)process_run(&spec, &out, &ignored);
	(void)work_discard(work, "ralph", &ignored);
}
