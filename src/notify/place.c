/* SPDX-License-Identifier: MIT */
/* One table of fields, which the writer and the reader share. */
#include "notify/place.h"

#include <errno.h>
#include <string.h>

#include "notify/scan.h"

static const struct {
	const char *key;
	size_t offset, size;
} fields[] = {
#define FIELD(key, field)                                                              \
	{                                                                              \
		key, offsetof(struct place, field), sizeof(((struct place *)0)->field) \
	}
	FIELD("session_id", id),
	FIELD("name", name),
	FIELD("dir", dir),
	FIELD("tty", tty),
	FIELD("term", term),
	FIELD("tmux_socket", tmux_socket),
	FIELD("tmux_pane", tmux_pane),
	FIELD("niri", niri),
	FIELD("sway", sway),
	FIELD("hyprland", hyprland),
	FIELD("display", display),
	FIELD("xauthority", xauthority),
	FIELD("window_id", window),
	FIELD("app", app),
	FIELD("bus", bus),
	FIELD("quiet", quiet),
	FIELD("sound", sound),
	FIELD("webhook", webhook),
#undef FIELD
};

static const char *find(char *const *environment, const char *name)
{
	size_t len = strlen(name);

	for (; *environment; environment++)
		if (!strncmp(*environment, name, len) && (*environment)[len] == '=')
			return *environment + len + 1;
	return "";
}

/* A value that does not fit would name something else: it is as good as none. */
static void set(char *field, size_t size, const char *value)
{
	if (strlen(value) < size)
		memcpy(field, value, strlen(value) + 1);
}
#define SET(field, value) set(field, sizeof(field), value)

static void look_at_windows(struct place *place, char *const *environment)
{
	const char *signature = find(environment, "HYPRLAND_INSTANCE_SIGNATURE");
	const char *runtime = find(environment, "XDG_RUNTIME_DIR");
	char path[sizeof(place->hyprland)];

	SET(place->niri, find(environment, "NIRI_SOCKET"));
	SET(place->sway, find(environment, "SWAYSOCK"));
	SET(place->app, find(environment, "__CFBundleIdentifier"));
	if (*signature && *runtime &&
	    snprintf(path, sizeof(path), "%s/hypr/%s/.socket.sock", runtime, signature) <
		    (int)sizeof(path))
		SET(place->hyprland, path);
	/* Under Wayland an X11 window is only one of several. */
	if (!*find(environment, "WAYLAND_DISPLAY")) {
		SET(place->display, find(environment, "DISPLAY"));
		SET(place->xauthority, find(environment, "XAUTHORITY"));
		SET(place->window, find(environment, "WINDOWID"));
	}
}

void place_look(struct place *place, char *const *environment)
{
	const char *tmux = find(environment, "TMUX"), *program = find(environment, "TERM_PROGRAM");
	char socket[sizeof(place->tmux_socket)] = "";
	size_t len = strcspn(tmux, ",");

	look_at_windows(place, environment);
	if (len && len < sizeof(socket)) {
		memcpy(socket, tmux, len);
		SET(place->tmux_socket, socket);
		SET(place->tmux_pane, find(environment, "TMUX_PANE"));
	}
	SET(place->term, *program && strcmp(program, "tmux") ? program : find(environment, "TERM"));
	SET(place->bus, find(environment, "DBUS_SESSION_BUS_ADDRESS"));
}

static void add_string(struct str *out, const char *value)
{
	str_add(out, "\"");
	for (; *value; value++)
		if (*value == '"' || *value == '\\')
			str_addf(out, "\\%c", *value);
		else if ((unsigned char)*value < 0x20)
			str_addf(out, "\\u%04x", (unsigned)*value);
		else
			str_addn(out, value, 1);
	str_add(out, "\"");
}

void place_print(const struct place *place, struct str *out)
{
	str_add(out, "{");
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		str_addf(out, "\"%s\":", fields[i].key);
		add_string(out, (const char *)place + fields[i].offset);
		str_add(out, ",");
	}
	str_addf(out, "\"pid\":\"%d\",\"always\":%s}\n", (int)place->pid,
		 place->always ? "true" : "false");
}

static void read_member(struct scan *s, const char *key, struct place *place)
{
	char number[16];

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (!strcmp(fields[i].key, key)) {
			scan_text(s, (char *)place + fields[i].offset, fields[i].size);
			return;
		}
	if (!strcmp(key, "pid") && scan_text(s, number, sizeof(number))) {
		place->pid = (pid_t)strtol(number, NULL, 10);
		return;
	}
	if (!strcmp(key, "always"))
		place->always = scan_kind(s) == 't';
	if (strcmp(key, "pid"))
		scan_skip(s);
}

int place_parse(const char *text, size_t len, struct place *ret)
{
	struct place place = { .id = "" };
	struct scan s;
	char key[32];

	scan_init(&s, text, len);
	for (bool more = scan_open(&s, '{'); more; more = scan_next(&s, '}')) {
		if (!scan_key(&s, key, sizeof(key)))
			break;
		read_member(&s, key, &place);
	}
	if (!scan_end(&s))
		return -EINVAL;
	*ret = place;
	return 0;
}
