/* SPDX-License-Identifier: MIT */
/*
 * A small reader of escape sequences: just enough to tell a bell from the end of a title, and to find the
 * sequences that matter. A sequence that is longer than its place is passed over to its end.
 */
#include "notify/waiting.h"

#include <string.h>

enum { DONE_NONE, DONE_BELL, DONE_CSI, DONE_OSC };

static void begin(struct waiting_parser *p, int state)
{
	p->state = state;
	p->len = 0;
}

static void add(struct waiting_parser *p, char c)
{
	if (p->len < sizeof(p->seq) - 1)
		p->seq[p->len] = c;
	if (p->len < sizeof(p->seq))
		p->len++;
}

/* What ended with this byte; the sequence is in seq. */
static int end(struct waiting_parser *p, int what)
{
	bool fits = p->len < sizeof(p->seq);

	p->seq[MIN(p->len, sizeof(p->seq) - 1)] = '\0';
	p->state = GROUND;
	return fits ? what : DONE_NONE;
}

static int after_escape(struct waiting_parser *p, char c)
{
	if (c == '[')
		begin(p, CSI);
	else if (c == ']')
		begin(p, OSC);
	else if (c && strchr("PX^_", c))
		begin(p, STRING);
	else if (c != '\033')
		p->state = GROUND;
	return DONE_NONE;
}

static int take(struct waiting_parser *p, char c)
{
	switch (p->state) {
	case GROUND:
		if (c == '\a')
			return DONE_BELL;
		if (c == '\033')
			p->state = ESCAPE;
		return DONE_NONE;
	case ESCAPE:
		return after_escape(p, c);
	case CSI:
		add(p, c);
		if (c == '\033')
			p->state = ESCAPE;
		return c >= '@' && c <= '~' ? end(p, DONE_CSI) : DONE_NONE;
	case OSC:
		if (c == '\a')
			return end(p, DONE_OSC);
		if (c == '\033')
			p->state = OSC_ESCAPE;
		else
			add(p, c);
		return DONE_NONE;
	case OSC_ESCAPE:
		if (c == '\\')
			return end(p, DONE_OSC);
		return after_escape(p, c);
	case STRING:
		if (c == '\033')
			p->state = STRING_ESCAPE;
		return DONE_NONE;
	default:
		if (c == '\\')
			p->state = GROUND;
		else if (c != '\033')
			p->state = STRING;
		return DONE_NONE;
	}
}

/* "9;text" (but "9;4;..." is a progress bar), "777;notify;title;text". */
static void on_osc(const struct waiting *w, char *seq)
{
	char *title, *text;

	if (!strncmp(seq, "9;", 2) && strncmp(seq, "9;4;", 4) && seq[2]) {
		w->hooks.on_text(w->hooks.ctx, "", seq + 2);
	} else if (!strncmp(seq, "777;notify;", 11)) {
		title = seq + 11;
		text = strchr(title, ';');
		if (text)
			*text++ = '\0';
		w->hooks.on_text(w->hooks.ctx, title, text ? text : "");
	}
}

/* "?1004h", also among others: "?1000;1004h". */
static void on_mode(struct waiting *w, const char *seq)
{
	size_t len = strlen(seq);
	const char *p = seq + 1;

	if (seq[0] != '?' || (seq[len - 1] != 'h' && seq[len - 1] != 'l'))
		return;
	while (*p) {
		size_t n = strspn(p, "0123456789");

		if (n == 4 && !strncmp(p, "1004", 4))
			w->focus_events = seq[len - 1] == 'h';
		p += n + 1;
		if (p > seq + len)
			break;
	}
}

void waiting_output(struct waiting *w, const char *bytes, size_t len, int64_t now)
{
	for (size_t i = 0; i < len; i++)
		switch (take(&w->out, bytes[i])) {
		case DONE_BELL:
			w->hooks.on_bell(w->hooks.ctx);
			break;
		case DONE_OSC:
			on_osc(w, w->out.seq);
			break;
		case DONE_CSI:
			on_mode(w, w->out.seq);
			break;
		default:
			break;
		}
	if (len)
		w->output_at = now;
}

void waiting_input(struct waiting *w, const char *bytes, size_t len)
{
	bool keys = false;

	for (size_t i = 0; i < len; i++) {
		int done = take(&w->in, bytes[i]);
		bool focus = done == DONE_CSI && w->focus_events && w->in.len == 1 &&
			     (w->in.seq[0] == 'I' || w->in.seq[0] == 'O');

		if (focus)
			w->hooks.on_focus(w->hooks.ctx, w->in.seq[0] == 'I');
		else if (done == DONE_CSI || w->in.state == GROUND)
			keys = true;
	}
	if (keys)
		w->output_at = 0;
}

int64_t waiting_silence(const struct waiting *w, int64_t now)
{
	return w->output_at ? now - w->output_at : 0;
}

void waiting_told(struct waiting *w)
{
	w->output_at = 0;
}
