/* SPDX-License-Identifier: MIT */
/* Where a path of the project leads. Links are read, never followed by the kernel at their end. */
#include "cow/way.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/str.h"

enum { LINKS_MAX = 40 };

struct way {
	const struct way_view *view;
	char *done;          /* no link is in it */
	size_t len;          /* of it */
	char rest[PATH_MAX]; /* to go */
	int links;
};

/* What the link says at the end of 'done', in text; 0: there is none. */
static ssize_t read_link(const struct way *w, char text[PATH_MAX])
{
	struct stat st;

	for (size_t i = 0; i < w->view->n; i++)
		if (fstatat(w->view->roots[i], w->done, &st, AT_SYMLINK_NOFOLLOW) == 0)
			return S_ISLNK(st.st_mode)
				       ? readlinkat(w->view->roots[i], w->done, text, PATH_MAX - 1)
				       : 0;
	return 0;
}

static void go_up(struct way *w)
{
	char *slash = memrchr(w->done, '/', w->len);

	w->len = slash ? (size_t)(slash - w->done) : 0;
	w->done[w->len] = '\0';
}

static bool go_down(struct way *w, const char *name, size_t n)
{
	if (w->len + n + 2 > PATH_MAX)
		return false;
	if (w->len)
		w->done[w->len++] = '/';
	memcpy(w->done + w->len, name, n);
	w->len += n;
	w->done[w->len] = '\0';
	return true;
}

/* The link's text takes the place of its name. */
static bool go_by_link(struct way *w, const char *text, const char *behind)
{
	char rest[PATH_MAX];
	size_t n = strlen(w->view->project);

	if (++w->links > LINKS_MAX)
		return false;
	go_up(w);
	if (*text == '/') {
		if (strncmp(text, w->view->project, n) != 0 || (text[n] && text[n] != '/'))
			return false;
		text += n;
		w->len = 0;
		w->done[0] = '\0';
	}
	if (snprintf(rest, sizeof(rest), "%s/%s", text, behind) >= (int)sizeof(rest))
		return false;
	memcpy(w->rest, rest, sizeof(rest));
	return true;
}

/* One name of the rest. */
static bool go(struct way *w)
{
	char text[PATH_MAX], behind[PATH_MAX];
	const char *name = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(name, "/");
	bool ok = true;
	ssize_t got;

	snprintf(behind, sizeof(behind), "%s", name + n);
	if (n == 2 && !strncmp(name, "..", 2)) {
		ok = w->len > 0;
		go_up(w);
	} else if (n && !(n == 1 && *name == '.')) {
		ok = go_down(w, name, n);
		got = ok ? read_link(w, text) : 0;
		if (got > 0) {
			text[got] = '\0';
			return go_by_link(w, text, behind);
		}
		ok = ok && got == 0;
	}
	memcpy(w->rest, behind, sizeof(behind));
	return ok;
}

bool way_find(const struct way_view *view, const char *path, char ret[PATH_MAX])
{
	struct way w = { .view = view, .done = ret };

	ret[0] = '\0';
	if (snprintf(w.rest, sizeof(w.rest), "%s", path) >= (int)sizeof(w.rest))
		return false;
	while (w.rest[0])
		if (!go(&w))
			return false;
	return true;
}
