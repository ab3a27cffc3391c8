/* SPDX-License-Identifier: MIT */
/*
 * New settings for a command that runs. A text counts as a whole: when anything in it is wrong, the old
 * rules stay in force. What can change is who may be reached and what may be written; the rest of a
 * text is checked and counts for the next command.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "api/exec_priv.h"
#include "api/explain.h"
#include "os/timer.h"

enum { BAD_PAUSE_MS = 1000, BAD_PAUSE_MAX_MS = 64000 };

struct exec_update {
	struct srt_config config;
	struct spec spec;
	struct exec_spec exec;
};

static void free_update(struct exec_update *u)
{
	file_rules_release(&u->exec.files);
	spec_release(&u->spec);
	srt_config_release(&u->config);
	free(u);
}

void exec_release_update(struct exec *x)
{
	if (x->update)
		free_update(x->update);
	x->update = NULL;
}

const struct srt_config *exec_config(const struct exec *x)
{
	const struct exec_update *last = x->applied ? x->applied : x->update;

	return last ? &last->config : &x->config;
}

static int apply(struct exec *x, struct exec_update *u, struct err *err)
{
	struct srt_notes notes = { .arena = &x->arena };
	struct engine_rules rules = { 0 };
	int r = srt_to_spec(&u->config, &x->place, &u->spec, &u->exec, &notes, err);

	if (r < 0)
		return r;
	rules.denied_resolved = u->exec.denied_resolved;
	for (size_t i = 0; i < u->spec.n_rules; i++)
		strv_add(&u->spec.arena, u->spec.rules[i].deny ? &rules.deny : &rules.allow,
			 u->spec.rules[i].text);
	if (u->exec.files.disabled != x->exec_spec.files.disabled)
		return err_set(err, EINVAL,
			       "filesystem.disabled cannot change while the command runs");
	if (!u->exec.files.disabled && exec_check_state(x, &u->exec.files, err) < 0)
		return -err->code;
	rules.files = &u->exec.files;
	return engine_set_rules(x->live, &rules, err);
}

/* A denyRead stands on a mount, or on questions that the kernel was told to ask at the start; under Seatbelt
 * each rule stands in the profile. */
static void warn_late(const struct exec *x, const struct file_rules *rules)
{
	const struct file_rules *first = &x->exec_spec.files;
	bool profile = x->plan.engine == ENGINE_SEATBELT;

	for (size_t i = 0; i < rules->n && (profile || file_rules_reads(first) == FILE_READS_FREE);
	     i++) {
		const struct file_rule *rule = &rules->rules[i];
		char text[256];

		if ((!profile && rule->kind != FILE_DENY_READ) || file_rules_have(first, rule))
			continue;
		snprintf(text, sizeof(text), "%s: '%.128s' counts from the next command on",
			 rule->key, rule->text);
		exec_say(x, x->hooks.on_warning, text);
	}
}

/* Of the control descriptor's lines, of which there may be a flood: the first is told, and those that come at its heels are
 * told as a number. */
static bool is_counted(struct exec *x)
{
	const int64_t now = os_now_ms();

	if (now < x->bad_lines.until)
		return ++x->bad_lines.n;
	x->bad_lines.pause = x->bad_lines.n ? MIN(x->bad_lines.pause * 2, BAD_PAUSE_MAX_MS)
					    : BAD_PAUSE_MS;
	exec_tell_bad_lines(x);
	x->bad_lines.until = now + x->bad_lines.pause;
	return false;
}

void exec_tell_bad_lines(struct exec *x)
{
	char text[128];

	if (x->bad_lines.n) {
		snprintf(text, sizeof(text),
			 "... and %zu more lines of the control descriptor that are no settings",
			 x->bad_lines.n);
		event_log_text(&x->log, "warning", text);
		exec_say(x, x->hooks.on_warning, text);
	}
	x->bad_lines.until = 0;
	x->bad_lines.n = 0;
}

/* The old ones stay in force: into the log, and to whoever runs the command. */
static void refuse(struct exec *x, bool control, const char *why)
{
	_cleanup_str_ struct str text = { 0 };

	if (control && is_counted(x))
		return;
	str_addf(&text, "the settings stay as they were: %s", why);
	event_log_text(&x->log, "warning", text.s);
	x->hooks.on_settings(x->hooks.ctx, control, why);
}

/* Takes the configuration over. */
static void update(struct exec *x, struct srt_config *config, bool control)
{
	struct exec_update *u = calloc(1, sizeof(*u));
	struct err err;
	int r;

	if (!u) {
		srt_config_release(config);
		return;
	}
	u->config = *config;
	spec_init(&u->spec);
	x->applied = u; /* what ends now ends by these */
	r = apply(x, u, &err);
	x->applied = NULL;
	if (r < 0) {
		refuse(x, control, err.msg);
		free_update(u);
		return;
	}
	if (control) {
		config_watch_overrule(&x->watch);
		exec_tell_bad_lines(x);
	}
	x->hooks.on_settings(x->hooks.ctx, control, NULL);
	explain_change(&x->log,
		       &(struct settings_rules){ exec_config(x), x->update ? &x->update->exec.files
									   : &x->exec_spec.files },
		       &(struct settings_rules){ &u->config, &u->exec.files });
	warn_late(x, &u->exec.files);
	exec_release_update(x); /* nothing refers to it any more */
	x->update = u;
}

void exec_take_settings(struct exec *x, const char *line, size_t len)
{
	_cleanup_str_ struct str why = { 0 };
	struct srt_config config;

	if (len > CONFIG_LINE_MAX)
		str_add(&why, "is too long");
	else if (srt_parse(&config, line, len, "the control descriptor", &why) == 0)
		update(x, &config, true);
	if (why.len)
		refuse(x, true, why.s);
}

static void on_line(void *ctx, const char *line, size_t len)
{
	struct exec *x = ctx;

	x->got_line = true;
	exec_take_settings(x, line, len);
}

static void on_file(void *ctx)
{
	struct exec *x = ctx;
	_cleanup_str_ struct str why = { 0 };
	struct srt_config config;
	int r = x->request.claude ? claude_policy_load(&x->claude, &config, true, &why)
				  : srt_load(&config, x->settings, SRT_AGAIN, &why);

	if (r == 0)
		update(x, &config, false);
	else if (r != -ENOENT) /* an editor may be about to put the new one in its place */
		refuse(x, false, why.s);
}

static int on_patience(struct loop_source *source, _unused_ uint32_t events,
		       _unused_ struct err *err)
{
	struct exec *x = container_of(source, struct exec, patience);

	loop_remove(x->loop, source);
	close(take_fd(&source->fd));
	engine_kill(x->live);
	return 0;
}

/* A command that does not end by itself is killed after two seconds. */
static void lose_patience(struct exec *x)
{
	struct err err;

	x->patience = (struct loop_source){
		.fd = os_timer_open(),
		.on_event = on_patience,
	};
	if (x->patience.fd < 0 || os_timer_set(x->patience.fd, 2000, 0) < 0 ||
	    loop_add(x->loop, &x->patience, LOOP_IN, &err) < 0)
		engine_kill(x->live);
}

/* Who was to be told of changes and never can be does not run on. */
static void on_lost(void *ctx, int code)
{
	struct exec *x = ctx;
	char text[256];

	if (x->got_line)
		return;
	snprintf(text, sizeof(text),
		 "--control-fd %d is not usable: %s. The command is ended: it was to run with that "
		 "control "
		 "channel.",
		 x->request.control_fd,
		 code == -EOPNOTSUPP ? "a device that has no end cannot be waited for"
				     : strerror(-code));
	exec_say(x, x->hooks.on_warning, text);
	x->lost_control = true;
	raise(SIGTERM); /* forwarded, as any other */
	lose_patience(x);
}

void exec_kill(struct exec *x)
{
	if (x->live)
		engine_kill(x->live);
}

void exec_on_live(void *ctx, struct engine_live *live)
{
	struct exec *x = ctx;
	const struct config_watch_hooks hooks = { on_line, on_file, on_lost, x };
	/* A command that may write anything could write its own settings. */
	static const struct strv none = { 0 };
	const struct strv *paths = x->exec_spec.files.disabled ? &none
				   : x->request.claude         ? &x->claude.watched
							       : &x->watched;
	struct err err;

	x->live = live;
	if (!live && x->patience.fd >= 0)
		close(take_fd(&x->patience.fd)); /* the loop ends with it */
	if (live &&
	    config_watch_start(&x->watch, x->loop, x->request.control_fd, paths, &hooks, &err) < 0)
		exec_say(x, x->hooks.on_warning, err.msg);
}
