/* SPDX-License-Identifier: MIT */
/* One command under srt's settings, from the file to the exit status. */
#include "api/exec.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "api/api.h"
#include "api/exec_priv.h"
#include "base/path.h"
#include "engine/native/lend.h"
#include "os/fs.h"
#include "os/platform.h"
#include "os/proc.h"
#include "session/turn.h"
#include "spec/project.h"

void exec_say(const struct exec *x, void (*fn)(void *ctx, const char *text), const char *text)
{
	if (fn)
		fn(x->hooks.ctx, text);
}

/* A directory of the user's choice for temporary files: made when missing. */
static int find_tmpdir(struct exec *x, struct err *err)
{
	static const char *const names[] = { "CLAUDE_CODE_TMPDIR", "CLAUDE_TMPDIR" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *value = getenv(names[i]);
		char *path, *real;
		int r;

		if (!value || !*value)
			continue;
		path = path_join(&x->arena, x->place.cwd, value);
		r = os_mkdirs(path, 0700, err);
		/* In the project of a sandbox around, whose supervisor changes its files. */
		if (r == -EROFS && x->request.asks)
			r = lent_mkdirs(x->request.asks, path, 0700, err);
		if (r < 0)
			return err_wrap(err, "%s", names[i]);
		real = os_realpath(&x->arena, path);
		if (!real)
			return err_errno(err, errno, "%s: opening '%s'", names[i], path);
		x->place.tmpdir = real;
		return 0;
	}
	return 0;
}

/* Where the rules see it. */
static char *add_own(struct exec *x, const char *home)
{
	return host_own_dir(&x->arena, home, &x->place.own);
}

static void find_own(struct exec *x)
{
	struct arena *a = &x->arena;
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	x->state = add_own(x, api_base_dir(a, "XDG_STATE_HOME", ".local/state"));
	x->spare_state = arena_printf(a, HOST_SPARE, geteuid());
	strv_add(a, &x->place.own, x->spare_state);
	add_own(x, api_base_dir(a, "XDG_DATA_HOME", ".local/share"));
	add_own(x, api_base_dir(a, "XDG_CACHE_HOME", ".cache"));
	x->secrets = path_join(a, add_own(x, api_base_dir(a, "XDG_CONFIG_HOME", ".config")),
			       "credentials.json");
	add_own(x, runtime && runtime[0] == '/' ? runtime
						: arena_printf(a, "/run/user/%u", geteuid()));
}

/* A pipe has no name; a FIFO or a file has one, by which a command could open it and write its own settings. */
static char *find_control(struct exec *x)
{
	struct stat st;
	char link[64];

	if (x->request.control_fd < 0 || fstat(x->request.control_fd, &st) < 0 ||
	    !(S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode)))
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", x->request.control_fd);
	return os_realpath(&x->arena, link);
}

/* The file by a name without '..', which behind a link is not what stands before it: nobody can make it another by
 * replacing what was only passed through. Links after it are kept, for somebody may point them elsewhere. */
static char *find_file(struct arena *a, const char *path)
{
	const char *rest = path;
	char *real;

	for (const char *up = path; (up = strstr(up, "/..")) != NULL; up += 3)
		if (!up[3] || up[3] == '/')
			rest = up + 3;
	real = os_realpath(a, arena_printf(a, "%.*s/", (int)(rest - path), path));
	return path_join(a, "/", real ? arena_printf(a, "%s%s", real, rest) : path);
}

static void find_settings(struct exec *x)
{
	struct arena *a = &x->arena;
	const char *named = x->request.settings;

	x->place.settings = path_at(a, named ? x->place.cwd : x->place.home,
				    named ? named : SRT_SETTINGS);
	x->settings = find_file(a, x->place.settings);
	if (!x->request.text)
		strv_add(a, &x->watched, x->settings);
}

static int find_place(struct exec *x, struct err *err)
{
	struct arena *a = &x->arena;
	const char *home = user_home(&x->arena);
	char *real = os_realpath(a, home);

	x->place.home = real ? real : path_join(a, "/", home);
	x->place.cwd = os_realpath(a, ".");
	if (!x->place.cwd)
		return err_errno(err, errno, "the working directory");
	find_settings(x);
	x->place.report = x->request.report ? path_at(a, x->place.cwd, x->request.report) : NULL;
	x->place.control = find_control(x);
	x->place.server = x->request.server;
	find_own(x);
	x->place.git_count = getenv("GIT_CONFIG_COUNT");
	x->place.git_dir = project_git_dir(a, x->place.cwd, x->place.home);
	return find_tmpdir(x, err);
}

/* Without rules of our own the sandbox around has its own, and must be asked. */
static int allow_all(struct file_rules *files, struct err *err)
{
	const struct file_rule_source all = {
		.kind = FILE_ALLOW_WRITE,
		.text = "/",
		.path = "/",
		.key = "filesystem.disabled",
		.literal = true,
	};

	files->disabled = false;
	return file_rules_add(files, &all, err);
}

static int fill_spec(struct exec *x, struct err *err)
{
	struct srt_notes notes = { .arena = &x->arena };
	struct strv words = { 0 };
	int r;

	x->spec.dir = arena_strdup(&x->spec.arena, x->place.cwd);
	for (char *const *word = x->request.argv; *word; word++)
		strv_add(&x->spec.arena, &words, *word);
	x->spec.cmd = words.v;
	x->exec_spec.pass_fds = x->request.pass_fds;
	x->exec_spec.n_pass_fds = x->request.n_pass_fds;
	r = srt_to_spec(&x->config, &x->place, &x->spec, &x->exec_spec, &notes, err);
	if (r == 0 && x->request.debug)
		r = spec_add_env(&x->spec, "SRT_DEBUG", "true", LAYER_FLAG, err);
	for (size_t i = 0; i < x->config.warnings.len; i++)
		exec_say(x, x->hooks.on_warning, x->config.warnings.v[i]);
	for (size_t i = 0; i < notes.lines.len; i++)
		exec_say(x, x->hooks.on_warning, notes.lines.v[i]);
	for (size_t i = 0; i < x->config.unused.len; i++)
		exec_say(x, x->hooks.on_unused, x->config.unused.v[i]);
	if (r == 0 && x->request.asks && x->exec_spec.files.disabled)
		r = allow_all(&x->exec_spec.files, err);
	x->exec_spec.files.unwatched = x->request.unseen_reads;
	x->exec_spec.files.asked = x->request.asks_reads;
	x->spec.exec = &x->exec_spec;
	return r;
}

static int parse_text(struct exec *x, struct str *ret_why)
{
	_cleanup_str_ struct str why = { 0 };
	int r = srt_parse(&x->config, x->request.text, strlen(x->request.text), "settings", &why);

	if (r < 0)
		str_addf(ret_why, "Error: settings %s", why.s);
	return r;
}

static int load_srt(struct exec *x, struct str *ret_why)
{
	const char *named = x->request.settings;

	if (!named)
		return srt_load(&x->config, x->settings, SRT_BY_DEFAULT, ret_why);
	return srt_load(&x->config, named, x->request.served ? SRT_SERVED : SRT_BY_NAME, ret_why);
}

struct engine_spare *exec_begin(int floor, bool at_once, bool lent)
{
	struct host around = { .uid = geteuid() };
	struct plan begun;

	if (geteuid() == 0 || os_is_darwin())
		return NULL; /* root's plan depends on what stands in /proc */
	if (lent)
		host_probe_masks(&around);
	plan_exec_begin(&begun, geteuid(), getegid(), lent ? &around.masks : NULL);
	host_release(&around);
	return native_spare(&begun, floor, at_once);
}

int exec_prepare(struct exec *x, const struct exec_request *request, const struct exec_hooks *hooks,
		 struct str *ret_why, struct err *err)
{
	int r;

	*x = (struct exec){ .request = *request,
			    .hooks = *hooks,
			    .watch = CONFIG_WATCH_NONE,
			    .messages = MESSAGES_NONE,
			    .patience.fd = -1 };
	x->spare = TAKE_PTR(x->request.spare);
	spec_init(&x->spec);
	if (request->claude)
		claude_policy_init(&x->claude, request->claude);
	config_watch_mark(&x->watch);
	r = find_place(x, err);
	if (r == 0 && x->request.text)
		r = parse_text(x, ret_why);
	else if (r == 0 && x->request.claude)
		r = claude_policy_load(&x->claude, &x->config, false, ret_why);
	else if (r == 0)
		r = load_srt(x, ret_why);
	if (r == 0)
		r = fill_spec(x, err);
	if (r == 0)
		r = host_probe(&x->spec, environ, &x->host, err);
	if (r == 0)
		r = plan_make(&x->spec, &x->host, &x->plan, err);
	return r;
}

struct fix_place exec_fix_place(const struct exec *x)
{
	return (struct fix_place){
		.dialect = x->claude.local ? FIX_CLAUDE : FIX_SRT,
		.file = x->claude.local ? x->claude.local : x->settings,
		.home = x->place.home,
		.cwd = x->place.cwd,
		.hosts_lock = x->claude.hosts_lock,
		.paths_lock = x->claude.paths_lock,
	};
}

void exec_on_failure(void *ctx, const struct err *err)
{
	const struct exec *x = ctx;

	exec_say(x, x->hooks.on_warning, err->msg);
}

void exec_on_note(void *ctx, const char *text)
{
	const struct exec *x = ctx;

	exec_say(x, x->hooks.on_debug, text);
}

static void on_event(void *ctx, enum engine_event event, int value)
{
	static const char *const names[] = { [EVENT_STARTED] = "started, pid",
					     [EVENT_STOPPED] = "stopped by signal",
					     [EVENT_CONTINUED] = "continued",
					     [EVENT_EXITED] = "ended with status" };
	struct exec *x = ctx;
	char text[64];

	if (event == EVENT_QUIET)
		return;
	if (event == EVENT_EXITED) {
		exec_tell_bad_lines(x);
		event_log_flush(&x->log); /* while messages can be sent */
	}
	if (event == EVENT_STOPPED && x->hooks.on_stopped)
		x->hooks.on_stopped(x->hooks.ctx, value);
	snprintf(text, sizeof(text), "%s %d", names[event],
		 event == EVENT_EXITED ? os_exit_code(value) : value);
	exec_say(x, x->hooks.on_debug, text);
}

static void on_peaks(void *ctx, const struct cgroup_peaks *peaks)
{
	event_log_peaks(&((struct exec *)ctx)->log, peaks);
}

static void on_loop(void *ctx, struct loop *loop)
{
	struct exec *x = ctx;

	x->loop = loop;
	event_log_watch(&x->log, loop);
	if (!loop) {
		config_watch_stop(&x->watch);
		exec_git_unwatch(x);
	}
	if (!loop && x->messages.plan)
		messages_watch(&x->messages, NULL);
	if (x->hooks.on_loop)
		x->hooks.on_loop(x->hooks.ctx, loop);
}

static void on_terminal(void *ctx, int master)
{
	const struct exec *x = ctx;

	x->hooks.take_terminal(x->hooks.ctx, master);
}

static void on_log_opened(void *ctx)
{
	((struct exec *)ctx)->logged = true;
}

static void on_log_failed(void *ctx, const struct err *err)
{
	struct exec *x = ctx;

	x->logged = false;
	exec_say(x, x->hooks.on_unlogged, err->msg);
}

/* The registry does not list single commands; the log is there once something was refused. */
static void open_log(struct exec *x)
{
	const struct event_log_hooks hooks = {
		.opened = on_log_opened, .failed = on_log_failed, .denied = exec_on_line, .ctx = x
	};
	const struct session_info about = {
		.id = x->id,
		.name = x->plan.name,
		.dir = x->plan.project,
		.engine = (char *)engine_name(x->plan.engine),
		.network = (char *)net_mode_name(x->plan.net),
		.command = (char *)x->request.command,
	};
	const struct fix_place place = exec_fix_place(x);

	session_new_id(x->id);
	event_log_init(&x->log, x->host.state_home, &about, &place, &hooks);
}

/* What is not there cannot be covered, and need not be, unless the command can have it made: it puts a directory in the place of
 * a file that is in the way, or makes its user's own directory writable. */
static int check_in_the_way(struct exec *x, const struct file_rules *rules, struct err *err)
{
	const char *path = x->state;
	struct stat st;

	while (stat(path, &st) < 0 && strcmp(path, "/") != 0)
		path = path_parent(&x->arena, path);
	if (!file_rules_write(rules, path).allowed ||
	    (S_ISDIR(st.st_mode) && st.st_uid != geteuid()))
		return 0;
	err_set(err, EACCES,
		"'%s' is no directory that wrapix can write to, and the command could make it one, "
		"and read what "
		"other sessions keep there",
		path);
	return err_hint(err, "put that right, or set XDG_STATE_HOME to another place");
}

int exec_check_state(struct exec *x, const struct file_rules *rules, struct err *err)
{
	return x->uncovered && file_rules_read(rules, x->state).allowed
		       ? check_in_the_way(x, rules, err)
		       : 0;
}

/* Copies of repositories are there, whatever may be read of those themselves; and there is the file of 'wrapix secret'.
 * It is a mount and no rule: no opening is asked about because of it. */
static void hide_dir(struct exec *x, const char *path)
{
	struct stat st = { .st_mode = S_IFDIR };
	int r = stat(path, &st) < 0 ? -errno : 0;

	if (r != -ENOTDIR && file_rules_read(x->plan.files, path).allowed)
		plan_add(&x->plan, OP_DENY, arena_strdup(&x->plan.arena, path), NULL,
			 (S_ISDIR(st.st_mode) ? OPF_DIR : 0) | OPF_OPTIONAL);
}

static int hide_state(struct exec *x, struct err *err)
{
	const char *const all[] = { x->state, x->spare_state };
	struct err ignored;
	int r;

	if (x->plan.engine != ENGINE_NATIVE || x->host.inside || !x->plan.files ||
	    x->exec_spec.files.disabled)
		return 0;
	/* Or it would be there, and seen, once we make it. */
	r = os_mkdirs(all[0], 0700, &ignored);
	x->uncovered = r == -ENOTDIR || r == -EACCES;
	if (exec_check_state(x, x->plan.files, err) < 0)
		return -err->code;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		hide_dir(x, all[i]);
	if (access(x->secrets, F_OK) == 0 && file_rules_read(x->plan.files, x->secrets).allowed)
		plan_add(&x->plan, OP_DENY, arena_strdup(&x->plan.arena, x->secrets), NULL,
			 OPF_OPTIONAL);
	return 0;
}

/* A sandbox around has its own broker, which makes our changes. */
static const char *find_turn(struct exec *x)
{
	return x->host.inside || x->request.asks ? NULL : turn_path(&x->arena, x->state);
}

int exec_run(struct exec *x, int *ret_status, struct err *err)
{
	const struct engine_hooks hooks = {
		.on_network = exec_on_network,
		.on_denied = exec_on_denied,
		.on_failure = exec_on_failure,
		.on_note = exec_on_note,
		.on_event = on_event,
		.on_loop = on_loop,
		.on_live = exec_on_live,
		.on_private = exec_git_change,
		.on_gitdir = exec_git_come,
		.take_terminal = x->hooks.take_terminal ? on_terminal : NULL,
		.on_peaks = on_peaks,
		.stays = x->hooks.on_stopped != NULL,
		.ctx = x,
	};
	struct engine_session session = { 0 };
	int r, status = 0;

	for (size_t i = 0; i < x->plan.weaker.len; i++)
		exec_say(x, x->hooks.on_weaker, x->plan.weaker.v[i]);
	r = hide_state(x, err);
	if (r < 0)
		return r;
	open_log(x);
	exec_git_begin(x);
	session.id = x->id;
	session.private = x->git.private;
	session.n_private = x->git.n_private;
	session.turn = find_turn(x);
	session.spare = TAKE_PTR(x->spare);
	session.asks = x->request.asks;
	session.asks_reads = x->request.asks_reads;
	session.ret_left = &x->left;
	r = (x->plan.engine == ENGINE_SEATBELT ? seatbelt_run : native_run)(&x->plan, &session,
									    &hooks, &status, err);
	exec_git_end(x);
	if (x->logged)
		exec_wait(x); /* what it took is in the last line */
	event_log_close(&x->log, r < 0 ? -1 : os_exit_code(status));
	messages_remove(&x->messages);
	if (r == 0)
		*ret_status = x->lost_control ? 1 : os_exit_code(status);
	return r;
}

void exec_wait(struct exec *x)
{
	(void)os_await(x->left);
	x->left = 0;
}

void exec_release(struct exec *x)
{
	exec_wait(x);
	exec_release_update(x);
	native_spare_free(x->spare);
	owners_release(&x->owners);
	arena_release(&x->limits.arena);
	plan_release(&x->plan);
	host_release(&x->host);
	file_rules_release(&x->exec_spec.files);
	spec_release(&x->spec);
	srt_config_release(&x->config);
	claude_policy_release(&x->claude);
	arena_release(&x->arena);
}
