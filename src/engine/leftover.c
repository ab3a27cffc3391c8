/* SPDX-License-Identifier: MIT */
/*
 * A reader of escape sequences as terminals have it: ESC begins a new one wherever it stands, CAN and SUB end
 * one, other controls in the midst of one do not count. Of each it keeps a few numbers, however long it is.
 */
#include "engine/leftover.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ESC '\033'
#define SHIFT_OUT '\016' /* to the second set of characters, which may be one of lines */
#define SHIFT_IN '\017'
#define ANSWER_MS 1000
#define MOST 99 /* of what is counted */

/* A mode that is not as the user's shell expects it until it is set to 'usual' again. */
static const struct mode {
	char prefix;
	unsigned short number;
	char usual;
	bool talks;
} modes[] = {
	{ '?', 2026, 'l', false }, /* the screen stands still: first, for what follows is to be seen */
	{ 0, 4, 'l', false },      /* text is put in between */
	{ '?', 1, 'l', false },    /* cursor keys send something else */
	{ '?', 5, 'l', false },    /* light and dark exchanged */
	{ '?', 7, 'h', false },    /* lines wrap */
	{ '?', 9, 'l', true },     /* the mouse: what it tells, and how */
	{ '?', 1000, 'l', true },  { '?', 1001, 'l', true },
	{ '?', 1002, 'l', true },  { '?', 1003, 'l', true },
	{ '?', 1005, 'l', false }, { '?', 1006, 'l', false },
	{ '?', 1015, 'l', false }, { '?', 1016, 'l', false },
	{ '?', 1004, 'l', true },  /* the focus */
	{ '?', 2004, 'l', false }, /* what is pasted is marked */
	{ '?', 2031, 'l', true },  /* light or dark */
	{ '?', 2048, 'l', true },  /* the size */
	{ '?', 25, 'h', false },   /* the cursor is seen */
};

/* Not modes, but kept beside them. */
#define KEYPAD (1u << 30)
#define MODIFIED (1u << 31) /* keys with Ctrl, Alt, Shift send something else */
_Static_assert(ARRAY_LEN(modes) <= 30, "a bit each");

static void set_mode(struct leftover *l, char prefix, unsigned int number, char final)
{
	if (prefix == '?' && (number == 47 || number == 1047 || number == 1049))
		l->alternate = final == 'h' ? number : 0;
	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		if (modes[i].prefix != prefix || modes[i].number != number)
			continue;
		if (final == modes[i].usual)
			l->on &= ~(1u << i);
		else
			l->on |= 1u << i;
	}
}

static void forget(struct leftover *l)
{
	l->on = 0;
	l->drawing = l->shifted = false;
	l->alternate = l->top = l->bottom = 0;
	memset(l->keys, 0, sizeof(l->keys));
}

/* What a terminal's soft reset brings back. */
static void soft_reset(struct leftover *l)
{
	set_mode(l, 0, 4, 'l');
	set_mode(l, '?', 1, 'l');
	set_mode(l, '?', 25, 'h');
	l->on &= ~KEYPAD;
	l->drawing = l->shifted = false;
	l->top = l->bottom = 0;
}

static void on_keys(struct leftover *l, const struct leftover_reader *r)
{
	struct leftover_keys *keys = &l->keys[l->alternate != 0];
	unsigned int number = r->param[0];

	if (r->prefix == '>') {
		keys->pushed = MIN(keys->pushed + 1, MOST);
	} else if (r->prefix == '<') {
		number = number ? number : 1;
		if (number > keys->pushed)
			keys->flags = 0;
		keys->pushed -= MIN(number, keys->pushed);
	} else if (r->prefix == '=' && !keys->pushed) {
		keys->flags = r->param[1] == 2   ? keys->flags | number
			      : r->param[1] == 3 ? keys->flags & ~number
						 : number;
	}
}

/* The sequences that a terminal answers; of CSI t those that ask for its size, place or title. */
static bool is_question(const struct leftover_reader *r, char final)
{
	unsigned int what = r->param[0];

	switch (final) {
	case 'c':
		return r->prefix != '?' && !r->middle && !what;
	case 'x':
		return !r->prefix && !r->middle;
	case 'y':
		return r->middle == '*';
	case 'n':
		return r->prefix != '>' && !r->middle;
	case 'p':
		return r->middle == '$';
	case 'q':
		return r->prefix == '>';
	case 'S':
	case 'u':
		return r->prefix == '?';
	case 't':
		return !r->prefix && !r->middle && what >= 11 && what <= 21 && what != 12;
	default:
		return false;
	}
}

static bool is_answer(const struct leftover_reader *r, char final)
{
	switch (final) {
	case 'c':
	case 'S':
	case 'u':
		return r->prefix;
	case 'R':
	case 'n':
	case 't':
	case 'x':
		return true;
	case 'y':
		return r->middle == '$';
	default:
		return false;
	}
}

static void ask(struct leftover *l, int64_t now_ms)
{
	if (!leftover_expects(l, now_ms))
		l->asked = 0;
	l->asked = MIN(l->asked + 1, MOST);
	l->asked_at = now_ms;
}

static void on_csi(struct leftover *l, char final, int64_t now_ms)
{
	const struct leftover_reader *r = &l->out;

	if ((final == 'h' || final == 'l') && !r->middle) {
		for (size_t i = 0; i < MIN(r->n_params, ARRAY_LEN(r->param)); i++)
			set_mode(l, r->prefix, r->param[i], final);
	} else if (final == 'p' && r->middle == '!') {
		soft_reset(l);
	} else if (final == 'r' && !r->prefix && !r->middle) {
		l->top = r->param[0];
		l->bottom = r->param[1];
	} else if ((final == 'm' || final == 'n') && r->prefix == '>' && r->param[0] == 4) {
		l->on = final == 'm' && r->param[1] ? l->on | MODIFIED : l->on & ~MODIFIED;
	} else if (final == 'u') {
		on_keys(l, r);
	}
	if (is_question(r, final))
		ask(l, now_ms);
}

static void on_escape(struct leftover *l, char final, int64_t now_ms)
{
	if (final == 'Z')
		ask(l, now_ms);
	else if (final == '=')
		l->on |= KEYPAD;
	else if (final == '>')
		l->on &= ~KEYPAD;
	else if (final == 'c')
		forget(l);
}

/* Colours, the clipboard: "OSC ...;?". Settings and capabilities: "DCS $q", "DCS +q". */
static void on_string(struct leftover *l, int64_t now_ms)
{
	const struct leftover_reader *r = &l->out;

	if (r->kind == ']' ? r->last == '?'
			   : r->kind == 'P' && (r->first[0] == '$' || r->first[0] == '+') &&
				     r->first[1] == 'q')
		ask(l, now_ms);
}

static void begin(struct leftover_reader *r, int state, char kind)
{
	*r = (struct leftover_reader){ .state = state, .kind = kind, .n_params = 1 };
}

static void after_escape(struct leftover_reader *r, char c)
{
	if (c == '[')
		begin(r, LEFTOVER_CSI, c);
	else if (strchr("]PX^_", c))
		begin(r, LEFTOVER_STRING, c);
	else if (c < '0')
		begin(r, LEFTOVER_CHARSET, c);
	else
		r->state = LEFTOVER_TEXT;
}

static void in_csi(struct leftover_reader *r, char c)
{
	unsigned int *param = &r->param[MIN(r->n_params, ARRAY_LEN(r->param)) - 1];

	if (c >= '0' && c <= '9' && r->n_params <= ARRAY_LEN(r->param))
		*param = MIN(*param * 10 + (unsigned int)(c - '0'), 99999u);
	else if (c == ';' || c == ':')
		r->n_params = MIN(r->n_params + 1, ARRAY_LEN(r->param) + 1);
	else if (c >= '<' && c <= '?')
		r->prefix = c;
	else if (c < '0')
		r->middle = c;
}

static void in_string(struct leftover_reader *r, char c)
{
	if (r->length < sizeof(r->first))
		r->first[r->length++] = c;
	r->last = c;
}

/* The state whose end this byte is, LEFTOVER_TEXT for none; what was read is in r until the next byte. */
static int take(struct leftover_reader *r, char c)
{
	int state = r->state;
	bool bell = c == '\a' && state == LEFTOVER_STRING && r->kind == ']';

	if (c == ESC || c == '\030' || c == '\032' || bell) {
		r->state = c == ESC ? LEFTOVER_ESCAPE : LEFTOVER_TEXT;
		return state == LEFTOVER_STRING && (c == ESC || bell) ? state : LEFTOVER_TEXT;
	}
	if (state == LEFTOVER_STRING)
		in_string(r, c);
	else if (c < ' ' || c > '~') /* a control, or a byte of a character */
		return LEFTOVER_TEXT;
	else if (state == LEFTOVER_ESCAPE)
		after_escape(r, c);
	else if (state == LEFTOVER_CHARSET && c >= '0')
		r->state = LEFTOVER_TEXT;
	else if (state == LEFTOVER_CSI && c < '@')
		in_csi(r, c);
	else if (state == LEFTOVER_CSI)
		r->state = LEFTOVER_TEXT;
	return r->state == LEFTOVER_TEXT ? state : LEFTOVER_TEXT;
}

/* Text is passed over at once. */
static size_t skip_text(const struct leftover_reader *r, const char *bytes, size_t at, size_t len)
{
	const char *next = r->state == LEFTOVER_TEXT ? memchr(bytes + at, ESC, len - at)
						     : bytes + at;

	return next ? (size_t)(next - bytes) : len;
}

/* "SO" and "SI", of which the last counts; hardly anybody writes them. */
static void on_text(struct leftover *l, const char *text, size_t len)
{
	if (!memchr(text, SHIFT_OUT, len) && !memchr(text, SHIFT_IN, len))
		return;
	while (text[len - 1] != SHIFT_OUT && text[len - 1] != SHIFT_IN)
		len--;
	l->shifted = text[len - 1] == SHIFT_OUT;
}

void leftover_output(struct leftover *l, const char *bytes, size_t len, int64_t now_ms)
{
	for (size_t i = 0; i < len; i++) {
		size_t from = i;
		int ended;

		i = skip_text(&l->out, bytes, i, len);
		on_text(l, bytes + from, i - from);
		if (i == len)
			break;
		ended = take(&l->out, bytes[i]);

		if (ended == LEFTOVER_CSI)
			on_csi(l, bytes[i], now_ms);
		else if (ended == LEFTOVER_ESCAPE)
			on_escape(l, bytes[i], now_ms);
		else if (ended == LEFTOVER_CHARSET && l->out.kind == '(')
			l->drawing = bytes[i] != 'B';
		else if (ended == LEFTOVER_STRING)
			on_string(l, now_ms);
	}
}

void leftover_input(struct leftover *l, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len && (i = skip_text(&l->in, bytes, i, len)) < len; i++) {
		int ended = take(&l->in, bytes[i]);

		if (l->asked && (ended == LEFTOVER_STRING ||
				 (ended == LEFTOVER_CSI && is_answer(&l->in, bytes[i]))))
			l->asked--;
	}
}

static void add(char *text, size_t *len, const char *format, ...) _printf_(3, 4);
static void add(char *text, size_t *len, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text + *len, LEFTOVER_MAX - *len, format, args);
	va_end(args);
	*len = MIN(*len + (size_t)MAX(n, 0), LEFTOVER_MAX - 1);
}

static void add_keys(const struct leftover_keys *keys, char *text, size_t *len)
{
	if (keys->pushed)
		add(text, len, "\033[<%uu", keys->pushed);
	if (keys->flags)
		add(text, len, "\033[=0u");
}

static void add_modes(const struct leftover *l, char *text, size_t *len)
{
	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		if (l->on & 1u << i)
			add(text, len, "\033[%s%u%c", modes[i].prefix ? "?" : "", modes[i].number,
			    modes[i].usual);
	if (l->on & KEYPAD)
		add(text, len, "\033>");
	if (l->on & MODIFIED)
		add(text, len, "\033[>4m");
}

/* To make all lines scroll moves the cursor: leaving the other screen puts it back, else we do. */
static void add_margins(const struct leftover *l, unsigned int rows, char *text, size_t *len)
{
	if (l->top > 1 || (l->bottom && l->bottom < rows))
		add(text, len, l->alternate ? "\033[r" : "\0337\033[r\0338");
}

size_t leftover_undo(struct leftover *l, unsigned int rows, char text[static LEFTOVER_MAX])
{
	size_t len = 0;

	text[0] = '\0';
	if (l->out.state != LEFTOVER_TEXT) /* or it would swallow the prompt */
		add(text, &len, "\033\\");
	add_modes(l, text, &len);
	add_margins(l, rows, text, &len);
	add_keys(&l->keys[l->alternate != 0], text, &len);
	if (l->alternate) {
		add(text, &len, "\033[?%ul", l->alternate);
		add_keys(&l->keys[0], text, &len);
	}
	if (l->shifted)
		add(text, &len, "%c", SHIFT_IN);
	if (l->drawing)
		add(text, &len, "\033(B");
	l->out.state = LEFTOVER_TEXT;
	forget(l);
	return len;
}

bool leftover_talks(const struct leftover *l)
{
	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		if (modes[i].talks && l->on & 1u << i)
			return true;
	return false;
}

bool leftover_expects(const struct leftover *l, int64_t now_ms)
{
	return l->asked && now_ms - l->asked_at <= ANSWER_MS;
}
