/* SPDX-License-Identifier: MIT */
/* What a session of an agent is started with: arguments, mounts, the run directory. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "os/fs.h"
#include "plan/plan.h"
#include "ralph/turn_priv.h"
#include "ralph/wire.h"

enum { PIN_MAX = 9000, PREVIOUS_MAX = 512 * 1024 };

static const char pin_settings[] =
	"{\"hooks\":{\"SessionStart\":[{\"matcher\":\"compact\",\"hooks\":[{\"type\":\"command\","
	"\"command\":\"cat " RALPH_RUN_INSIDE "/pin.json\"}]}]}}";

static void add_common(const struct work *work, struct arena *arena, enum phase phase,
		       struct strv *args)
{
	if (work->agent.model && work->config.models[phase]) {
		strv_add(arena, args, work->agent.model);
		strv_add(arena, args, work->config.models[phase]);
	}
	if (work->agent.settings) {
		strv_add(arena, args, work->agent.settings);
		strv_add(arena, args, pin_settings);
	}
}

char **turn_headless_args(struct turn *turn)
{
	const struct agent *agent = &turn->work->agent;
	struct strv args = { 0 };

	for (size_t i = 0; i < agent->headless.len; i++)
		strv_add(&turn->arena, &args, agent->headless.v[i]);
	add_common(turn->work, &turn->arena, turn->phase, &args);
	if (turn->budget > 0 && agent->budget) {
		strv_add(&turn->arena, &args, agent->budget);
		strv_addf(&turn->arena, &args, "%.2f", MAX(turn->budget, 0.01));
	}
	return args.v ? args.v : arena_alloc(&turn->arena, sizeof(char *));
}

char **turn_ask_args(const struct work *work, struct arena *arena, enum phase phase,
		     const char *prompt)
{
	struct strv args = { 0 };

	for (size_t i = 0; i < work->agent.args.len; i++)
		strv_add(arena, &args, work->agent.args.v[i]);
	add_common(work, arena, phase, &args);
	if (work->agent.ask && *work->agent.ask)
		strv_add(arena, &args, work->agent.ask);
	strv_add(arena, &args, prompt);
	return args.v;
}

/* 'ralph' as it stands inside: beside this program, or where it was installed. */
static char *client(struct arena *arena)
{
	char *self = os_realpath(arena, "/proc/self/exe");
	char *beside = self ? path_join(arena, path_parent(arena, self), "ralph-inside") : NULL;

	return beside && access(beside, X_OK) == 0
		       ? beside
		       : arena_strdup(arena, WRAPIX_LIBEXECDIR "/ralph-inside");
}

static void add_mount(struct process_spec *spec, const char *src, const char *dest, bool rw)
{
	spec->mounts[spec->n_mounts++] = (struct process_mount){ src, dest, rw };
}

void turn_add_mounts(const struct work *work, struct arena *arena, const struct feature *feature,
		     const char *run_dir, bool spec_writable, struct process_spec *spec)
{
	add_mount(spec, client(arena), AGENT_INSIDE "/bin/ralph", false);
	if (run_dir)
		add_mount(spec, run_dir, RALPH_RUN_INSIDE, false);
	if (feature->hidden)
		add_mount(spec, path_parent(arena, work_spec_path(work, arena, feature)),
			  RALPH_SPEC_INSIDE, spec_writable);
}

void turn_add_protected(struct turn *turn, struct process_spec *spec)
{
	const struct strv *protect = &turn->work->config.protect;
	_cleanup_close_ int top = open(turn->work->site.top, O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < protect->len; i++) {
		_cleanup_close_ int fd = os_openat2(top, protect->v[i], O_PATH | O_CLOEXEC, 0,
						    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
		struct stat st;

		/* What is not there yet cannot be mounted; land.c looks at it. */
		if (fd >= 0 && fstat(fd, &st) == 0 && (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)))
			strv_addf(&turn->arena, &spec->read_only, "%s%s", protect->v[i],
				  S_ISDIR(st.st_mode) ? "/" : "");
	}
}

/* What the hook prints after a compaction. */
static int write_pin(struct turn *turn, int dir, struct err *err)
{
	_cleanup_str_ struct str text = { 0 }, out = { 0 };
	const struct template_var vars[] = {
		{ "FEATURE", turn->feature->name },
		{ "SPEC_PATH", work_spec_inside(&turn->arena, turn->feature) },
		{ "PINNED", work_pinned(turn->work, &turn->arena) },
		{ "ITEM_ID", turn->item ? turn->item->id : "(none)" },
		{ "TITLE", turn->item ? turn->item->title : phase_names[turn->phase] },
	};
	int r = template_fill(&text, &turn->work->templates, "pin", vars, ARRAY_LEN(vars), err);

	if (r < 0)
		return r;
	if (text.len > PIN_MAX) { /* at the beginning of a character */
		for (text.len = PIN_MAX;
		     text.len && ((unsigned char)text.s[text.len] & 0xc0) == 0x80;)
			text.len--;
		text.s[text.len] = '\0';
	}
	str_add(&out, "{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\","
		      "\"additionalContext\":");
	json_add_string(&out, text.s);
	str_add(&out, "}}\n");
	return os_write_file_soon(dir, "pin.json", out.s, out.len, 0644, err);
}

int turn_make_run_dir(struct turn *turn, struct err *err)
{
	_cleanup_free_ char *diff = NULL;
	_cleanup_close_ int dir = -1;
	size_t len = 0;
	int r;

	turn->run_dir = work_file(turn->work, &turn->arena, "run/%lld",
				  (long long)turn->attempt.id);
	r = os_mkdirs(turn->run_dir, 0700, err);
	if (r < 0)
		return r;
	dir = open(turn->run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_errno(err, errno, "opening '%s'", turn->run_dir);
	r = write_pin(turn, dir, err);
	if (r == 0 && turn->previous &&
	    os_read_file_at(AT_FDCWD, turn->previous, PREVIOUS_MAX, &diff, &len) == 0)
		r = os_write_file_soon(dir, "previous.diff", diff, len, 0644, err);
	return r;
}
