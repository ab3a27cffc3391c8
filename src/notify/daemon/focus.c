/* SPDX-License-Identifier: MIT */
/*
 * Is the user looking at the very pane that a session runs in?
 *
 * Layers, each of which may know nothing: the window that has the focus, the terminal's own report, the
 * tmux clients and their panes. Silence needs a layer that says yes and none that says no: unknown means
 * show. Runs in a child of the daemon, because any of these may hang.
 */
#include <string.h>

#include "notify/daemon/notifyd.h"
#include "notify/tmux.h"
#include "notify/windows.h"

/* Where windows are known by their application alone. */
static enum focus in_app(const struct place *place, const struct windows *windows, char *why,
			 size_t size)
{
	if (strcmp(place->app, windows->focused) != 0) {
		snprintf(why, size, "%s: another program is in front", windows->ruler);
		return FOCUS_ELSEWHERE;
	}
	if (windows->same > 1) {
		snprintf(why, size, "%s: the terminal program has several windows", windows->ruler);
		return FOCUS_UNKNOWN;
	}
	snprintf(why, size, "%s: the terminal is in front", windows->ruler);
	return FOCUS_HERE;
}

/* Is the process's terminal the window that has the focus? */
static enum focus in_window(const struct place *place, const struct windows *windows, pid_t pid,
			    bool started_here, char *why, size_t size)
{
	if (!windows->ruler) {
		snprintf(why, size, "nobody to ask which window has the focus");
		return FOCUS_UNKNOWN;
	}
	if (!windows->focused[0]) {
		snprintf(why, size, "%s: no window has the focus", windows->ruler);
		return FOCUS_ELSEWHERE;
	}
	if (windows->is_app)
		return in_app(place, windows, why, size);
	if (started_here && place->window[0]) {
		bool same = !strcmp(place->window, windows->focused);

		snprintf(why, size, "%s: window %s has the focus", windows->ruler,
			 windows->focused);
		return same ? FOCUS_HERE : FOCUS_ELSEWHERE;
	}
	if (!windows->pid || !pid) {
		snprintf(why, size, "%s: the focused window's process is not known",
			 windows->ruler);
		return FOCUS_UNKNOWN;
	}
	if (!process_descends(pid, windows->pid)) {
		snprintf(why, size, "%s: another program's window has the focus", windows->ruler);
		return FOCUS_ELSEWHERE;
	}
	if (windows->same > 1) {
		snprintf(why, size, "%s: the terminal program has several windows", windows->ruler);
		return FOCUS_UNKNOWN;
	}
	snprintf(why, size, "%s: the terminal's window has the focus", windows->ruler);
	return FOCUS_HERE;
}

static enum focus in_client(const struct place *place, const struct windows *windows,
			    const struct tmux_client *client, enum focus reported, char *why,
			    size_t size)
{
	enum focus focus;

	if (client->knows && !client->focused) {
		snprintf(why, size, "tmux: the terminal %.60s is not focused", client->tty);
		return FOCUS_ELSEWHERE;
	}
	/* A client may be in any window, not only in the one that the session was started in. */
	focus = in_window(place, windows, client->pid, false, why, size);
	if (focus != FOCUS_UNKNOWN || (!client->knows && reported != FOCUS_HERE))
		return focus;
	snprintf(why, size, "tmux: pane %s is in front on the focused terminal %.60s",
		 place->tmux_pane, client->tty);
	return FOCUS_HERE;
}

static enum focus in_tmux(const struct place *place, const struct windows *windows,
			  enum focus reported, char *why, size_t size)
{
	struct tmux_client clients[TMUX_CLIENTS];
	enum focus best = FOCUS_ELSEWHERE;
	int n = tmux_clients(place, clients);

	if (n < 0) {
		snprintf(why, size, "tmux does not answer");
		return FOCUS_UNKNOWN;
	}
	snprintf(why, size, n ? "tmux: another pane is in front" : "tmux: detached");
	for (int i = 0; i < n; i++) {
		char said[160];
		enum focus focus;

		if (!clients[i].shows)
			continue;
		focus = in_client(place, windows, &clients[i], reported, said, sizeof(said));
		if (best == FOCUS_ELSEWHERE)
			snprintf(why, size, "%s", said);
		if (focus == FOCUS_HERE) {
			snprintf(why, size, "%s", said);
			return FOCUS_HERE;
		}
		if (focus == FOCUS_UNKNOWN)
			best = FOCUS_UNKNOWN;
	}
	return best;
}

enum focus focus_ask(const struct place *place, enum focus reported, char *why, size_t size)
{
	struct windows windows;
	enum focus focus;

	if (reported == FOCUS_ELSEWHERE) {
		snprintf(why, size, "the terminal reports that it is not focused");
		return FOCUS_ELSEWHERE;
	}
	if (!windows_ask(place, &windows))
		windows.ruler = NULL;
	if (place->tmux_pane[0])
		return in_tmux(place, &windows, reported, why, size);
	if (!place->tty[0]) {
		snprintf(why, size, "the session has no terminal");
		return FOCUS_UNKNOWN;
	}
	focus = in_window(place, &windows, place->pid, true, why, size);
	if (focus == FOCUS_UNKNOWN && reported == FOCUS_HERE) {
		snprintf(why, size, "the terminal reports that it is focused");
		return FOCUS_HERE;
	}
	return focus;
}

void focus_raise(const struct place *place)
{
	if (place->tmux_pane[0])
		tmux_raise(place);
	if (place->window[0])
		(void)windows_raise(place, place->window); /* there may be nobody to ask */
}
