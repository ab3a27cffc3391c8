/* SPDX-License-Identifier: MIT */
/*
 * Git directories of 'wrapix exec' (git/lasting.h). The sandbox sees another one where the host's
 * stands, at the same place and read-only like everything else; what the rules allow there is changed
 * in that one, and the host takes data of it over when the command ends. The rules and the judgement by
 * content are the same as ever: what the host would not take over is better refused at once.
 *
 * Nothing here tells the places apart but the anchor: a directory that the sandbox has must be the one
 * that the anchor leads to, so who still holds one of the host's changes neither.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/str.h"
#include "git/lasting.h"
#include "guard/broker_priv.h"
#include "os/fs.h"

#define ALTERNATES_MAX 65536

void broker_add_private(struct broker *b, const char *path, int fd, bool fixed)
{
	char *copy = arena_strdup(&b->arena, path), home[PATH_MAX] = "";
	struct anchor *anchor;

	if (fd >= 0 && place_path(b, fd, home) <= 0)
		*home = '\0'; /* what was opened in it has no place, and is read-only then */
	anchor = arena_grow(&b->arena, (void *)&b->anchors, &b->n_anchors, sizeof(*anchor));
	/* Before those that it lies in. */
	memmove(b->anchors + 1, b->anchors, (b->n_anchors - 1) * sizeof(*anchor));
	b->anchors[0] = (struct anchor){ copy,         strlen(copy), copy,
					 strlen(copy), fd,           arena_strdup(&b->arena, home),
					 false,        fixed };
	b->n_private++;
}

int private_name(const struct broker *b, char buf[PATH_MAX], int len)
{
	for (size_t i = 0; i < b->n_private; i++) {
		const struct anchor *a = &b->anchors[i];
		size_t n = strlen(a->home), rest = (size_t)len - n + 1;

		if (!n || strncmp(buf, a->home, n) != 0 || (buf[n] && buf[n] != '/'))
			continue;
		if (a->len + rest > PATH_MAX)
			return 0;
		memmove(buf + a->len, buf + n, rest);
		memcpy(buf, a->path, a->len);
		return (int)(a->len + rest - 1);
	}
	return len;
}

/* A linked work tree's own directory is COMMON/worktrees/ID, and the objects are the repository's. */
static size_t common_len(const struct anchor *a)
{
	const char *id = strrchr(a->path, '/');
	size_t n = id ? (size_t)(id - a->path) : 0, m = strlen("/worktrees");

	return n > m && !strncmp(id - m, "/worktrees", m) ? n - m : a->len;
}

struct file_verdict private_read(const struct broker *b, const char *path)
{
	struct file_verdict v = file_rules_read(b->rules, path);
	char host[PATH_MAX];

	for (size_t i = 0; v.allowed && i < b->n_private; i++) {
		const struct anchor *a = &b->anchors[i];
		const size_t lengths[] = { a->len, common_len(a) };

		if (strncmp(path, a->path, a->len) != 0 ||
		    !str_starts(path + a->len, "/" GIT_HOST "/"))
			continue;
		for (size_t k = 0; v.allowed && k < ARRAY_LEN(lengths); k++)
			if (snprintf(host, sizeof(host), "%.*s%s", (int)lengths[k], a->path,
				     path + a->len + strlen("/" GIT_HOST)) < (int)sizeof(host))
				v = file_rules_read(b->rules, host);
	}
	return v;
}

/* Where the host's objects are mounted. */
static bool is_closed(const struct place *p)
{
	const char *below = p->path + p->anchor->len;
	size_t n = strlen(GIT_HOST);

	return *below == '/' && !strncmp(below + 1, GIT_HOST, n) &&
	       (!below[n + 1] || below[n + 1] == '/');
}

/* The lock of an index that is given back, and objects that nothing leads to, are nothing to publish: 'git status'
 * takes one and looks on. What is renamed from it is another place. Any other lock is taken to change something, and
 * one that a git leaves when it is killed goes with the end of what changed. */
static bool counts(const struct place *p)
{
	static const char lock[] = "index.lock";
	const char *below = p->path + p->anchor->len;

	return strncmp(below, "/objects/", 9) != 0 &&
	       !(strcspn(p->name, "/") == strlen(lock) && str_starts(p->name, lock));
}

int private_judge(struct request *r, const struct place *p)
{
	const struct broker_hooks *hooks = &r->b->hooks;
	struct anchor *anchor;

	if (!p->anchor)
		return 0;
	if (!p->anchor->home)
		return repository_judge(r, p);
	if (p->anchor->fixed && git_lasting_is_own(p->path + p->anchor->len))
		return request_denied(r, p->path, NULL,
				      "the work tree that it belongs to may not be written");
	if (is_closed(p))
		return request_denied(r, p->path, NULL, "the repository's own objects stand there");
	if (!counts(p))
		return 0;
	anchor = &r->b->anchors[p->anchor - r->b->anchors];
	if (!anchor->changed && hooks->on_private)
		hooks->on_private(hooks->ctx, anchor->path);
	anchor->changed = true;
	return 0;
}

/* ------------------------------------------------------------------ clones */

/* "PATH/wrapix/objects" becomes "PATH/objects", which is one inside and on the host. */
static bool rename_lines(const struct anchor *a, const char *text, struct str *out)
{
	char theirs[PATH_MAX];
	bool found = false;
	size_t n;

	n = (size_t)snprintf(theirs, sizeof(theirs), "%s/" GIT_HOST "/objects", a->path);
	for (const char *line = text; n < sizeof(theirs) && *line;) {
		size_t len = strcspn(line, "\n");

		if (len == n && !memcmp(line, theirs, n)) {
			str_addf(out, "%s/objects", a->path);
			found = true;
		} else {
			str_addn(out, line, len);
		}
		line += len;
		if (*line)
			str_addn(out, line++, 1);
	}
	return found;
}

void private_lend(struct request *r, const struct place *from, const struct place *to)
{
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *text = NULL;
	struct stat st;

	if (!r->b->n_private || strcmp(to->name, "alternates") != 0)
		return;
	fd = openat(from->dir, from->name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    os_read_fd(fd, ALTERNATES_MAX, &text, NULL) < 0)
		return;
	for (size_t i = 0; i < r->b->n_private; i++) {
		_cleanup_str_ struct str out = { 0 };

		if (!rename_lines(&r->b->anchors[i], text, &out))
			continue;
		/* It is shorter; what cannot be written stays as the command wrote it. */
		if (pwrite(fd, out.s, out.len, 0) == (ssize_t)out.len)
			(void)!ftruncate(fd, (off_t)out.len);
		return;
	}
}
