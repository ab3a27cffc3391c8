/* SPDX-License-Identifier: MIT */
/* What a control group counted; see tally.h. */
#include "engine/tally.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"
#include "os/timer.h"
#include "session/denial.h"

enum {
	LOOK_MS = 5,
	LOOKS = 40,      /* then nobody of those that were held was it */
	SHARE = 20,      /* looking takes no more than that part of the time */
	MAKER_MS = 1000, /* a flood is one's */
	ASKED_MS = 100,  /* where nobody wakes us: a limit that somebody named, */
	DEFAULT_MS = 2000,
	COMMAND = 2, /* inside; PID 1 makes it first */
};

static struct crowd crowd_of(const struct tally *t)
{
	return (struct crowd){ t->sandbox, t->watch.members };
}

static void tell(const struct tally *t, enum denial_limit limit, uint64_t times,
		 struct owner *owner)
{
	const struct cgroup_limits *limits = &t->sandbox->plan->limits;
	char value[DENIAL_LIMIT_MAX];
	struct denial denial;

	denial_of_limit(&denial, limit, limit == DENIAL_MEMORY ? limits->memory : limits->pids,
			value);
	denial.times = (unsigned)MIN(times, (uint64_t)UINT32_MAX);
	denial.owner = owner;
	sandbox_tell_denied(t->sandbox, &denial, 0);
}

static void tell_refused(struct tally *t, uint64_t times)
{
	const struct crowd crowd = crowd_of(t);

	if (!t->maker || os_now_ms() - t->maker_at >= MAKER_MS) {
		owner_unref(t->maker);
		t->maker = suspects_find_parent(&crowd);
		t->maker_at = os_now_ms();
	}
	tell(t, DENIAL_PROCESSES, times, t->maker);
}

/* What the command was started with. */
static void add_words(struct owner *owner, const struct plan *plan)
{
	for (size_t i = 0; i < plan->argv.len && owner->len < sizeof(owner->args); i++) {
		size_t room = sizeof(owner->args) - owner->len;

		snprintf(owner->args + owner->len, room, "%s", plan->argv.v[i]);
		owner->len += MIN(strlen(plan->argv.v[i]) + 1, room);
	}
}

/* Those of whom it is known now. last: nothing more will be. */
static void tell_ended(struct tally *t, bool last)
{
	struct owner *owner;

	while (t->ended && ((owner = suspects_take_ended(&t->suspects, false)) ||
			    (last && (owner = suspects_take_ended(&t->suspects, true))))) {
		/* On its end a process has no arguments any more. */
		if (owner->pid == COMMAND && !owner->len)
			add_words(owner, t->sandbox->plan);
		tell(t, DENIAL_MEMORY, 1, owner);
		owner_unref(owner);
		t->ended--;
	}
	if (t->ended && last)
		tell(t, DENIAL_MEMORY, t->ended, NULL);
	if (last)
		t->ended = 0;
}

static void hold_suspects(struct tally *t)
{
	const struct crowd crowd = crowd_of(t);
	int64_t start = os_now_ms();

	if (start < t->next_look)
		return;
	suspects_hold(&t->suspects, &crowd);
	t->next_look = os_now_ms() + (os_now_ms() - start) * SHARE;
}

/* Whether the kernel counted something new. */
static bool look(struct tally *t)
{
	struct cgroup_counts counts;
	uint64_t refused, ended;

	cgroup_watch_counts(&t->watch, &counts);
	refused = counts.of[LIMIT_PIDS] - MIN(counts.of[LIMIT_PIDS], t->told.of[LIMIT_PIDS]);
	ended = counts.of[LIMIT_MEMORY] - MIN(counts.of[LIMIT_MEMORY], t->told.of[LIMIT_MEMORY]);
	for (size_t i = 0; i < LIMIT_COUNT; i++)
		t->told.of[i] = MAX(t->told.of[i], counts.of[i]);
	t->ended += ended;
	if (refused)
		tell_refused(t, refused);
	return refused || ended;
}

/* How often to look without being woken; 0: never. */
static unsigned period(const struct tally *t)
{
	if (t->looks)
		return LOOK_MS;
	if (!t->watch.silent)
		return 0;
	return t->sandbox->plan->limits.asked & LIMIT_BIT(LIMIT_PIDS) ? ASKED_MS : DEFAULT_MS;
}

static int set_timer(const struct tally *t)
{
	return t->timer.fd < 0 ? -1 : os_timer_set(t->timer.fd, period(t), period(t));
}

static void wait_for_ends(struct tally *t)
{
	t->looks = LOOKS;
	if (set_timer(t) < 0)
		tell_ended(t, true);
}

static int on_timer(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	struct tally *t = container_of(source, struct tally, timer);

	(void)os_timer_take(source->fd);
	if (look(t) && t->ended)
		wait_for_ends(t);
	tell_ended(t, t->looks <= 1);
	if (!t->looks)
		return 0;
	/* In version 1 the count comes after the wake, and nothing wakes us for it. */
	t->looks = t->ended || t->watch.scarce >= 0 ? t->looks - 1 : 0;
	if (!t->looks)
		(void)set_timer(t);
	return 0;
}

static void on_wake(struct tally *t, bool scarce)
{
	bool new;

	cgroup_watch_take(&t->watch);
	new = look(t);
	if (t->ended || !new) /* memory is scarce, or was */
		hold_suspects(t);
	tell_ended(t, false);
	if (t->ended || scarce)
		wait_for_ends(t);
}

static int on_wakes(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	on_wake(container_of(source, struct tally, wakes), false);
	return 0;
}

static int on_scarce(struct loop_source *source, _unused_ uint32_t events, _unused_ struct err *err)
{
	on_wake(container_of(source, struct tally, scarce), true);
	return 0;
}

static void add_source(struct tally *t, struct loop_source *source, int fd,
		       int (*fn)(struct loop_source *, uint32_t, struct err *))
{
	struct err err;

	*source = (struct loop_source){ .fd = fd, .on_event = fn };
	if (fd >= 0 && loop_add(t->loop, source, LOOP_IN, &err) < 0)
		sandbox_warn(t->sandbox, &err);
}

void tally_start(struct tally *t, struct loop *loop, struct sandbox *sandbox)
{
	*t = (struct tally)TALLY_NONE;
	t->sandbox = sandbox;
	t->loop = loop;
	if (sandbox->plan->engine == ENGINE_PODMAN && sandbox->first > 0)
		cgroup_watch_of(&t->watch, sandbox->first);
	else if (sandbox->plan->engine == ENGINE_NATIVE)
		cgroup_watch_own(&t->watch, &sandbox->cgroup, sandbox->first);
	if (t->watch.members < 0)
		return;
	add_source(t, &t->wakes, t->watch.wakes, on_wakes);
	add_source(t, &t->scarce, t->watch.scarce, on_scarce);
	add_source(t, &t->timer, os_timer_open(), on_timer);
	(void)set_timer(t);
	if (look(t)) /* before we looked */
		on_wake(t, false);
}

/* The command itself, when it was gone before it could be looked at. */
static struct owner *describe_command(const struct plan *plan)
{
	struct owner *owner = calloc(1, sizeof(*owner));

	if (!owner)
		return NULL;
	owner->refs = 1;
	owner->pid = COMMAND;
	owner->likely = true;
	if (!plan->argv.len)
		return owner;
	snprintf(owner->comm, sizeof(owner->comm), "%.15s", path_name(plan->argv.v[0]));
	add_words(owner, plan);
	return owner;
}

void tally_end(struct tally *t, int status)
{
	if (t->watch.members < 0)
		return;
	(void)look(t);
	tell_ended(t, false);
	if (t->ended && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
		struct owner *owner = describe_command(t->sandbox->plan);

		tell(t, DENIAL_MEMORY, 1, owner);
		owner_unref(owner);
		t->ended--;
	}
	tell_ended(t, true);
}

void tally_stop(struct tally *t)
{
	struct loop_source *const sources[] = { &t->wakes, &t->scarce, &t->timer };

	tally_end(t, 0);
	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		if (sources[i]->fd >= 0)
			loop_remove(t->loop, sources[i]);
	if (t->timer.fd >= 0)
		close(t->timer.fd);
	cgroup_watch_stop(&t->watch);
	suspects_release(&t->suspects);
	owner_unref(t->maker);
	*t = (struct tally)TALLY_NONE;
}
