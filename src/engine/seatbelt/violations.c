/* SPDX-License-Identifier: MIT */
/*
 * Refusals of Seatbelt from the log; see violations.h. The paths and names in it are the command's own
 * words: a line is cut into parts and nothing in it is believed but that.
 */
#include "engine/seatbelt/violations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "session/denial.h"
#include "spec/file_rules.h"

/* They ask on behalf of a program, and nobody misses what they are refused. */
static const char *const services[] = { "mDNSResponder", "diagnosticd", "analyticsd" };

/* "NAME(PID) deny(1) OPERATION TARGET": moves on to the operation; p is the name then. */
static char *after_who(char *name, pid_t *ret_pid)
{
	char *deny = strstr(name, ") deny("), *p, *open;

	if (!deny)
		return NULL;
	*deny = '\0';
	open = strrchr(name, '(');
	if (!open)
		return NULL;
	*open = '\0';
	*ret_pid = (pid_t)strtol(open + 1, NULL, 10);
	for (size_t i = 0; i < ARRAY_LEN(services); i++)
		if (!strcmp(name, services[i]))
			return NULL;
	p = strchr(deny + strlen(") deny("), ')');
	return p && p[1] == ' ' ? p + 2 : NULL;
}

static void set_rule(struct denial *d, struct file_verdict verdict)
{
	const struct file_rule *rule = verdict.rule;

	d->reason = rule ? file_rule_kind_name(rule->kind) : "not-allowed";
	d->rule = rule ? rule->text : NULL;
	d->key = rule ? rule->key : NULL;
	d->origin = rule ? rule->origin : NULL;
	d->firm = rule && rule->firm;
	if (rule && rule->kind == FILE_DENY_READ)
		d->what = "read";
}

/* Which rule it was that the profile stands for. */
static void explain_file(struct denial *d, const struct file_rules *files)
{
	struct file_verdict verdict = !strcmp(d->what, "read") ? file_rules_read(files, d->path)
							       : file_rules_write(files, d->path);

	if (verdict.allowed) /* a move of what lies above something protected */
		verdict = (struct file_verdict){ 0 };
	set_rule(d, verdict);
}

/* "192.0.2.1:443", "*:80", or the path of a socket */
static void explain_network(struct denial *d, char *target)
{
	char *colon = strrchr(target, ':');

	d->what = "connect";
	if (target[0] == '/') {
		d->path = target;
		d->reason = "host-socket";
		d->key = "network.allowUnixSockets";
		return;
	}
	d->call = NULL;
	d->reason = "direct-ip";
	if (!colon)
		return;
	*colon = '\0';
	d->port = (uint16_t)strtoul(colon + 1, NULL, 10);
	d->address = target;
}

bool violation_parse(char *line, const char *tag, const struct file_rules *files,
		     struct denial *ret, pid_t *ret_pid)
{
	static const char mark[] = "Sandbox: ";
	char *name = strstr(line, mark), *p, *target;
	size_t len;

	name = name ? name + strlen(mark) : NULL;
	p = name ? after_who(name, ret_pid) : NULL;
	if (!p || !*p)
		return false;
	target = p + strcspn(p, " ");
	if (*target)
		*target++ = '\0';
	len = strlen(target);
	if (len > strlen(tag) && !strcmp(target + len - strlen(tag), tag)) {
		target[len - strlen(tag)] = '\0'; /* the message is on the same line */
		target[strcspn(target, "\r\n")] = '\0';
		while (*target && target[strlen(target) - 1] == ' ')
			target[strlen(target) - 1] = '\0';
	}
	*ret = (struct denial){ .what = "call", .call = p, .reason = "system-call", .comm = name };
	if (!strncmp(p, "file-", 5) && target[0] == '/') {
		ret->what = strncmp(p, "file-read", 9) ? "write" : "read";
		ret->path = target;
		explain_file(ret, files);
	} else if (!strncmp(p, "network-", 8) && *target) {
		explain_network(ret, target);
	} else if (*target) {
		ret->args = target;
	}
	return true;
}

static void take_line(struct violations *v)
{
	struct denial denial;
	pid_t pid = 0;

	v->line[v->len] = '\0';
	v->len = 0;
	if (violation_parse(v->line, v->tag, v->files, &denial, &pid))
		sandbox_tell_denied(v->sandbox, &denial, pid);
}

/* False at the end. */
static bool take(struct violations *v)
{
	char bytes[4096];
	ssize_t n = read(v->source.fd, bytes, sizeof(bytes));

	for (ssize_t i = 0; i < n; i++) {
		if (bytes[i] == '\n') {
			if (!v->skips)
				take_line(v);
			v->skips = false;
			v->len = 0;
		} else if (v->len + 1 < sizeof(v->line)) {
			v->line[v->len++] = (char)(bytes[i] ? bytes[i] : ' ');
		} else {
			v->skips = true;
		}
	}
	return n > 0 || (n < 0 && errno == EINTR);
}

static int on_output(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct violations *v = container_of(source, struct violations, source);

	if (!take(v) && errno != EAGAIN)
		loop_remove(v->loop, source);
	return 0;
}

int violations_start(struct violations *v, struct loop *loop, struct sandbox *sandbox,
		     struct err *err)
{
	v->sandbox = sandbox;
	v->loop = loop;
	v->source.on_event = on_output;
	return v->source.fd < 0 ? 0 : loop_add(loop, &v->source, LOOP_IN, err);
}

void violations_stop(struct violations *v)
{
	if (v->source.fd < 0)
		return;
	if (v->loop) {
		loop_remove(v->loop, &v->source);
		while (take(v)) /* it does not block, and the log is dead */
			;
	}
	close(v->source.fd);
	v->source.fd = -1;
}
