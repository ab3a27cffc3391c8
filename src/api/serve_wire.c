/* SPDX-License-Identifier: MIT */
/* Requests to a server of commands, and its answers: text to struct and back. */
#include "api/serve_wire.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/json.h"

/* --- requests --- */

struct reader {
	struct arena *arena;
	struct serve_request *request;
	const char *key;
	bool has_fds;
};

typedef int read_fn(struct reader *r, const struct json_at *at, struct json_object *value,
		    struct err *err);

static int read_text(struct reader *r, const struct json_at *at, struct json_object *value,
		     const char **ret, struct err *err)
{
	const char *text;
	int code = json_get_string(at, value, &text, err);

	if (code == 0)
		*ret = arena_strdup(r->arena, text);
	return code;
}

static int read_command(struct reader *r, const struct json_at *at, struct json_object *value,
			struct err *err)
{
	return read_text(r, at, value, &r->request->command, err);
}

static int read_cwd(struct reader *r, const struct json_at *at, struct json_object *value,
		    struct err *err)
{
	int code = read_text(r, at, value, &r->request->cwd, err);

	if (code == 0 && r->request->cwd[0] != '/')
		return json_err_type(at, value, "an absolute path", err);
	return code;
}

static int read_argv(struct reader *r, const struct json_at *at, struct json_object *value,
		     struct err *err)
{
	int code = json_check_type(at, value, json_type_array, err);

	for (size_t i = 0; code == 0 && i < json_object_array_length(value); i++) {
		const char *word;

		code = json_get_string(JSON_INDEX(at, i), json_object_array_get_idx(value, i),
				       &word, err);
		if (code == 0)
			strv_add(r->arena, &r->request->argv, word);
	}
	return code;
}

static int read_env(struct reader *r, const struct json_at *at, struct json_object *value,
		    struct err *err)
{
	int code = json_check_type(at, value, json_type_object, err);

	r->request->has_env = true;
	if (code < 0)
		return code;
	json_object_object_foreach(value, name, text)
	{
		const struct json_at *here = JSON_KEY(at, name);
		const char *s;

		code = json_get_string(here, text, &s, err);
		if (code == 0 && (!*name || strchr(name, '=')))
			return json_err_type(at, value, "an object of variables by their names",
					     err);
		if (code < 0)
			return code;
		strv_addf(r->arena, &r->request->env, "%s=%s", name, s);
	}
	return 0;
}

/* Settings in the line itself go to their own parser, which knows what is wrong with them. */
static const char *text_of(struct arena *arena, struct json_object *value)
{
	return arena_strdup(arena, json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
}

static int read_settings(struct reader *r, const struct json_at *at, struct json_object *value,
			 struct err *err)
{
	if (json_object_is_type(value, json_type_object)) {
		r->request->text = text_of(r->arena, value);
		return 0;
	}
	if (!json_object_is_type(value, json_type_string))
		return json_err_type(at, value, "a file's name or an object", err);
	return read_text(r, at, value, &r->request->settings, err);
}

static int read_number(const struct json_at *at, struct json_object *value, int most, int *ret,
		       struct err *err)
{
	int64_t number;

	if (!json_object_is_type(value, json_type_int))
		return json_err_type(at, value, "a number", err);
	number = json_object_get_int64(value);
	if (number < 0 || number > most)
		return json_err_type(at, value, "a smaller number", err);
	*ret = (int)number;
	return 0;
}

static int read_umask(struct reader *r, const struct json_at *at, struct json_object *value,
		      struct err *err)
{
	return read_number(at, value, 0777, &r->request->umask, err);
}

/* Members that are a switch or a text and no more. */
static const struct plain {
	const char *key;
	size_t offset;
	bool text;
} plains[] = {
	{ "srt", offsetof(struct serve_request, srt), false },
	{ "dashed", offsetof(struct serve_request, dashed), false },
	{ "terminal", offsetof(struct serve_request, terminal), false },
	{ "unseen", offsetof(struct serve_request, unseen), false },
	{ "debug", offsetof(struct serve_request, debug), false },
	{ "detail", offsetof(struct serve_request, detail), false },
	{ "from", offsetof(struct serve_request, from), true },
	{ "project", offsetof(struct serve_request, project), true },
	{ "report", offsetof(struct serve_request, report), true },
};

static int read_plain(struct reader *r, const struct json_at *at, struct json_object *value,
		      struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(plains); i++) {
		char *field = (char *)r->request + plains[i].offset;

		if (strcmp(plains[i].key, r->key) != 0)
			continue;
		return plains[i].text ? read_text(r, at, value, (const char **)field, err)
				      : json_get_bool(at, value, (bool *)field, err);
	}
	return -ENOENT; /* the table of keys has them all */
}

static int read_control(struct reader *r, const struct json_at *at, struct json_object *value,
			struct err *err)
{
	return read_number(at, value, SERVE_FD_TOP - 1, &r->request->control, err);
}

static int read_fds(struct reader *r, const struct json_at *at, struct json_object *value,
		    struct err *err)
{
	struct serve_request *q = r->request;
	int code = json_check_type(at, value, json_type_array, err);
	size_t n = code < 0 ? 0 : json_object_array_length(value);

	r->has_fds = true;
	if (code == 0 && n != q->n_fds)
		return err_usage(err, "fds: %zu descriptors came along, not %zu", q->n_fds, n);
	for (size_t i = 0; code == 0 && i < n; i++) {
		struct json_object *number = json_object_array_get_idx(value, i);

		code = read_number(JSON_INDEX(at, i), number, SERVE_FD_TOP - 1, &q->fds[i], err);
		for (size_t k = 0; code == 0 && k < i; k++)
			if (q->fds[k] == q->fds[i])
				return json_err_type(JSON_INDEX(at, i), number,
						     "another than the ones before", err);
	}
	return code;
}

static const char *const request_keys[] = {
	"command", "argv", "cwd",     "env",      "settings", "umask",  "fds",   "control", "srt",
	"dashed",  "from", "project", "terminal", "report",   "unseen", "debug", "detail",
};
static read_fn *const request_readers[] = {
	read_command, read_argv,    read_cwd,   read_env,   read_settings, read_umask,
	read_fds,     read_control, read_plain, read_plain, read_plain,    read_plain,
	read_plain,   read_plain,   read_plain, read_plain, read_plain,
};

_Static_assert(ARRAY_LEN(request_keys) == ARRAY_LEN(request_readers), "a reader for each key");

static int parse_object(const char *line, size_t len, struct json_object **ret, struct err *err)
{
	int r = json_parse_max(line, len, SERVE_LINE_MAX, "request", ret, err);

	return r < 0 ? r : json_check_type(JSON_KEY(NULL, "request"), *ret, json_type_object, err);
}

static int check_request(struct reader *r, struct err *err)
{
	struct serve_request *q = r->request;

	if (!q->command == !q->argv.len || (q->command && !*q->command))
		return err_usage(err, "request: one of command and argv is needed");
	if (!r->has_fds && q->n_fds != 0 && q->n_fds != 3)
		return err_usage(err, "request: %zu descriptors came along, and no fds", q->n_fds);
	for (size_t i = 0; !r->has_fds && i < q->n_fds; i++)
		q->fds[i] = (int)i;
	for (size_t i = 0; i < q->n_fds; i++)
		if (q->fds[i] == q->control && q->control > 2)
			return 0;
	return q->control < 0 ? 0
			      : err_usage(err,
					  "control: no descriptor that came along is %d, or it "
					  "is a standard one",
					  q->control);
}

int serve_request_parse(struct arena *arena, const char *line, size_t len, size_t n_fds,
			struct serve_request *ret, struct err *err)
{
	_cleanup_json_ struct json_object *object = NULL;
	struct reader reader = { .arena = arena, .request = ret };
	int r = parse_object(line, len, &object, err);

	*ret = (struct serve_request){ .umask = -1, .control = -1, .n_fds = n_fds };
	if (r < 0)
		return r;
	if (n_fds > SERVE_FDS_MAX)
		return err_usage(err, "request: more than %d descriptors", SERVE_FDS_MAX);
	json_object_object_foreach(object, key, value)
	{
		const struct json_at *at = JSON_KEY(NULL, key);
		size_t i = 0;

		while (i < ARRAY_LEN(request_keys) && strcmp(request_keys[i], key) != 0)
			i++;
		reader.key = key;
		r = i < ARRAY_LEN(request_keys)
			    ? request_readers[i](&reader, at, value, err)
			    : json_err_key(at, request_keys, ARRAY_LEN(request_keys), err);
		if (r < 0)
			return r;
	}
	return check_request(&reader, err);
}

static void add_key(struct str *out, const char *key)
{
	str_addf(out, "%c\"%s\":", out->len ? ',' : '{', key);
}

static void add_member(struct str *out, const char *key, const char *value)
{
	if (!value)
		return;
	add_key(out, key);
	json_add_string(out, value);
}

/* Of a variable that is there twice the first one counts, as for getenv(). */
static bool is_second(const struct strv *env, size_t i, size_t len)
{
	for (size_t k = 0; k < i; k++)
		if (!strncmp(env->v[k], env->v[i], len + 1))
			return true;
	return false;
}

static void add_env(struct str *out, const struct strv *env)
{
	_cleanup_str_ struct str name = { 0 };

	add_key(out, "env");
	for (size_t i = 0; i < env->len; i++) {
		size_t len = strcspn(env->v[i], "=");

		if (is_second(env, i, len))
			continue;
		name.len = 0;
		str_addn(&name, env->v[i], len);
		str_add(out, i ? "," : "{");
		json_add_string(out, name.s);
		str_add(out, ":");
		json_add_string(out, env->v[i] + len + 1);
	}
	str_add(out, env->len ? "}" : "{}");
}

void serve_request_add(struct str *out, const struct serve_request *q)
{
	add_member(out, "command", q->command);
	for (size_t i = 0; i < q->argv.len; i++) {
		if (i == 0)
			add_key(out, "argv");
		str_add(out, i ? "," : "[");
		json_add_string(out, q->argv.v[i]);
	}
	str_add(out, q->argv.len ? "]" : "");
	add_member(out, "cwd", q->cwd);
	if (q->has_env)
		add_env(out, &q->env);
	add_member(out, "settings", q->settings);
	if (q->text) {
		add_key(out, "settings");
		str_add(out, q->text);
	}
	if (q->umask >= 0)
		str_addf(out, ",\"umask\":%d", q->umask);
	for (size_t i = 0; i < ARRAY_LEN(plains); i++) {
		const char *field = (const char *)q + plains[i].offset;

		if (plains[i].text)
			add_member(out, plains[i].key, *(const char *const *)field);
		else if (*(const bool *)field)
			str_addf(out, ",\"%s\":true", plains[i].key);
	}
	if (q->control >= 0)
		str_addf(out, ",\"control\":%d", q->control);
	for (size_t i = 0; i < q->n_fds; i++)
		str_addf(out, "%s%d", i ? "," : ",\"fds\":[", q->fds[i]);
	str_add(out, q->n_fds ? "]}\n" : "}\n");
}

/* --- messages --- */

/* What may be sent; the numbers are those of Linux everywhere that we run. */
static const int signals[] = { SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGUSR1,
			       SIGUSR2, SIGALRM, SIGCONT, SIGTSTP, SIGKILL };

static int read_signal(const struct json_at *at, struct json_object *value, int *ret,
		       struct err *err)
{
	int number = 0, r = read_number(at, value, 64, &number, err);

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(signals); i++)
		if (signals[i] == number)
			*ret = number;
	return r < 0 || *ret ? r : json_err_type(at, value, "a signal that is passed on", err);
}

int serve_message_parse(struct arena *arena, const char *line, size_t len,
			struct serve_message *ret, struct err *err)
{
	static const char *const keys[] = { "signal", "settings" };
	_cleanup_json_ struct json_object *object = NULL;
	struct serve_message message = { 0 };
	int r = parse_object(line, len, &object, err);

	if (r < 0)
		return r;
	json_object_object_foreach(object, key, value)
	{
		const struct json_at *at = JSON_KEY(NULL, key);

		if (!strcmp(key, "signal"))
			r = read_signal(at, value, &message.signal_no, err);
		else if (strcmp(key, "settings") != 0)
			r = json_err_key(at, keys, ARRAY_LEN(keys), err);
		else if ((r = json_check_type(at, value, json_type_object, err)) == 0)
			message.text = text_of(arena, value);
		if (r < 0)
			return r;
	}
	if (!message.signal_no && !message.text)
		return err_usage(err, "request: a message of nothing");
	*ret = message;
	return 0;
}

/* --- answers --- */

static const char *const kinds[] = {
	[SERVE_OUTPUT] = "output",     [SERVE_WARNING] = "warning", [SERVE_DENY] = "deny",
	[SERVE_SETTINGS] = "settings", [SERVE_STOPPED] = "stopped", [SERVE_TERMINAL] = "terminal",
	[SERVE_WEAKER] = "weaker",     [SERVE_DEBUG] = "debug",     [SERVE_DENIED] = "denied",
	[SERVE_LOGGED] = "logged",     [SERVE_ERROR] = "error",     [SERVE_EXIT] = "exit",
};

/* What a kind calls its number. */
static const struct {
	enum serve_kind kind;
	const char *key;
	bool flag; /* true or absent */
} numbers[] = {
	{ SERVE_EXIT, "status", false },
	{ SERVE_STOPPED, "signal", false },
	{ SERVE_SETTINGS, "control", true },
	{ SERVE_ERROR, "settings", true },
};

void serve_line_add(struct str *out, const struct serve_line *line)
{
	str_addf(out, "{\"type\":\"%s\"", kinds[line->kind]);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (numbers[i].kind != line->kind || (numbers[i].flag && !line->number))
			continue;
		else if (numbers[i].flag)
			str_addf(out, ",\"%s\":true", numbers[i].key);
		else
			str_addf(out, ",\"%s\":%d", numbers[i].key, line->number);
	add_member(out, "line", line->line);
	add_member(out, "text", line->text);
	add_member(out, "hint", line->hint && *line->hint ? line->hint : NULL);
	str_add(out, "}\n");
}

static const char *get(struct arena *arena, struct json_object *object, const char *key)
{
	struct json_object *value = json_object_object_get(object, key);

	return json_object_is_type(value, json_type_string)
		       ? arena_strdup(arena, json_object_get_string(value))
		       : NULL;
}

int serve_line_parse(struct arena *arena, const char *line, size_t len, struct serve_line *ret,
		     struct err *err)
{
	_cleanup_json_ struct json_object *object = NULL;
	int r = parse_object(line, len, &object, err);
	const char *type = r < 0 ? NULL : get(arena, object, "type");

	*ret = (struct serve_line){ .kind = SERVE_OTHER };
	if (r < 0 || !type)
		return r < 0 ? r : err_set(err, EPROTO, "the server's answer is none");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(kinds[i], type))
			ret->kind = (enum serve_kind)i;
	ret->text = get(arena, object, "text");
	ret->hint = get(arena, object, "hint");
	ret->line = get(arena, object, "line");
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (numbers[i].kind == ret->kind)
			ret->number = json_object_get_int(
				json_object_object_get(object, numbers[i].key));
	return 0;
}
