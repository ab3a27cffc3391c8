/* SPDX-License-Identifier: MIT */
/* A change as text. */
#include "cow/show.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "os/fs.h"

int change_open(const struct cow *cow, const struct change *change)
{
	_cleanup_close_ int dir = node_open_parent(cow->upper, change->path);

	return dir < 0 ? dir : node_open(dir, path_name(change->path));
}

static int read_node(int root, const char *path, const struct node *node, char **ret, size_t *len)
{
	_cleanup_close_ int fd = -1, dir = node_open_parent(root, path);
	char target[PATH_MAX];
	ssize_t n;
	int r = dir < 0 ? dir : 0;

	if (r == 0 && S_ISLNK(node->mode)) {
		n = readlinkat(dir, path_name(path), target, sizeof(target));
		*ret = n < 0 ? NULL : strndup(target, (size_t)n);
		*len = n < 0 ? 0 : (size_t)n;
		return *ret ? 0 : -EIO;
	}
	fd = r < 0 ? r : node_open(dir, path_name(path));
	return fd < 0 ? fd : os_read_fd(fd, SHOW_MAX, ret, len);
}

int change_read(const struct cow *cow, const struct change *change, bool new, char **ret,
		size_t *ret_len)
{
	bool renamed = change->status == CHANGE_RENAMED;
	const struct node *node = new ? &change->new : renamed ? &change->from_node : &change->old;

	if (!S_ISREG(node->mode) && !S_ISLNK(node->mode)) {
		*ret_len = 0;
		*ret = strdup("");
		return *ret ? 0 : -ENOMEM;
	}
	if (node->size > SHOW_MAX)
		return -EFBIG;
	return read_node(new ? cow->upper : cow->root, !new &&renamed ? change->from : change->path,
			 node, ret, ret_len);
}

static bool is_bare(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == '"' || *s == '\\' || *s == 127 ||
		    (unsigned char)*s >= 128)
			return false;
	return true;
}

void add_quoted_name(struct str *out, const char *prefix, const char *path)
{
	if (is_bare(path)) {
		str_addf(out, "%s%s", prefix, path);
		return;
	}
	str_addf(out, "\"%s", prefix);
	for (const char *s = path; *s; s++) {
		if (*s == '"' || *s == '\\')
			str_addf(out, "\\%c", *s);
		else if (*s == '\n' || *s == '\t')
			str_add(out, *s == '\n' ? "\\n" : "\\t");
		else if ((unsigned char)*s < ' ' || (unsigned char)*s >= 127)
			str_addf(out, "\\%03o", (unsigned char)*s);
		else
			str_addn(out, s, 1);
	}
	str_add(out, "\"");
}

/* git knows two modes of files. */
static unsigned git_mode(const struct node *node)
{
	return S_ISLNK(node->mode)   ? 0120000
	       : S_ISDIR(node->mode) ? 040000
				     : 0100644 | (node->mode & 0100 ? 0111 : 0);
}

static void add_names(struct str *out, const struct change *change)
{
	bool renamed = change->status == CHANGE_RENAMED;
	const struct node *old = renamed ? &change->from_node : &change->old;

	str_add(out, "diff --git ");
	add_quoted_name(out, "a/", renamed ? change->from : change->path);
	str_add(out, " ");
	add_quoted_name(out, "b/", change->path);
	str_add(out, "\n");
	if (!node_exists(old)) {
		str_addf(out, "new file mode %06o\n", git_mode(&change->new));
	} else if (!node_exists(&change->new)) {
		str_addf(out, "deleted file mode %06o\n", git_mode(old));
	} else if (git_mode(old) != git_mode(&change->new)) {
		str_addf(out, "old mode %06o\nnew mode %06o\n", git_mode(old),
			 git_mode(&change->new));
	}
	if (S_ISLNK(old->mode) && S_ISLNK(change->new.mode))
		str_add(out, "index 0000000..0000000 120000\n");
	if (!renamed)
		return;
	str_add(out, change->content ? "" : "similarity index 100%\n");
	str_add(out, "rename from ");
	add_quoted_name(out, "", change->from);
	str_add(out, "\nrename to ");
	add_quoted_name(out, "", change->path);
	str_add(out, "\n");
}

static void add_text(struct str *out, const struct change *change, const char *a, size_t a_len,
		     const char *b, size_t b_len)
{
	struct unified_stat stat;

	if (!a_len && !b_len)
		return;
	if (!unified_is_text(a, a_len) || !unified_is_text(b, b_len)) {
		str_add(out, "Binary files differ\n");
		return;
	}
	str_add(out, "--- ");
	if (node_exists(&change->old) || change->from)
		add_quoted_name(out, "a/", change->from ? change->from : change->path);
	else
		str_add(out, "/dev/null");
	str_add(out, "\n+++ ");
	if (node_exists(&change->new))
		add_quoted_name(out, "b/", change->path);
	else
		str_add(out, "/dev/null");
	str_add(out, "\n");
	unified_add(out, a, a_len, b, b_len, &stat);
}

bool change_is_git(const struct change *change)
{
	const struct node *old = change->from ? &change->from_node : &change->old;

	if (change->status == CHANGE_TYPE)
		return true;
	if (S_ISDIR(change->new.mode) || (S_ISDIR(old->mode) && !node_exists(&change->new)))
		return false;
	return change->content || change->from || git_mode(old) != git_mode(&change->new);
}

/* Another kind of thing: one is removed, and one is new. */
static void add_both_kinds(struct str *out, const struct cow *cow, const struct change *change)
{
	struct change half = *change;

	half.status = CHANGE_DELETED;
	half.new = (struct node){ 0 };
	change_add_diff(out, cow, &half);
	half = *change;
	half.status = CHANGE_ADDED;
	half.old = (struct node){ 0 };
	change_add_diff(out, cow, &half);
}

void change_add_diff(struct str *out, const struct cow *cow, const struct change *change)
{
	_cleanup_free_ char *a = NULL, *b = NULL;
	size_t a_len = 0, b_len = 0;
	int r, k;

	/* git knows neither directories nor other modes than the executable one. */
	if (change->status == CHANGE_IGNORED || !change_is_git(change))
		return;
	if (change->status == CHANGE_TYPE) {
		add_both_kinds(out, cow, change);
		return;
	}
	add_names(out, change);
	if (!change->content)
		return;
	r = change_read(cow, change, false, &a, &a_len);
	k = change_read(cow, change, true, &b, &b_len);
	if (r < 0 || k < 0)
		str_add(out, r == -EFBIG || k == -EFBIG ? "Large files differ\n"
							: "A file that cannot be read\n");
	else
		add_text(out, change, a, a_len, b, b_len);
}

bool change_count(const struct cow *cow, const struct change *change, struct unified_stat *ret)
{
	_cleanup_free_ char *a = NULL, *b = NULL;
	size_t a_len = 0, b_len = 0;

	*ret = (struct unified_stat){ 0 };
	if (change->status == CHANGE_IGNORED || !change->content)
		return change->status != CHANGE_IGNORED;
	if (change_read(cow, change, false, &a, &a_len) < 0 ||
	    change_read(cow, change, true, &b, &b_len) < 0 || !unified_is_text(a, a_len) ||
	    !unified_is_text(b, b_len))
		return false;
	unified_add(NULL, a, a_len, b, b_len, ret);
	return true;
}

static void add_node(struct str *out, const char *key, const struct node *node)
{
	if (node_exists(node))
		str_addf(out, ", \"%s\": {\"kind\": \"%s\", \"mode\": \"%04o\", \"size\": %llu}",
			 key,
			 S_ISDIR(node->mode)   ? "directory"
			 : S_ISLNK(node->mode) ? "link"
			 : S_ISREG(node->mode) ? "file"
					       : "other",
			 (unsigned)node->mode & 07777, (unsigned long long)node->size);
}

static void add_pair(struct str *out, const char *key, const char *value)
{
	if (!value)
		return;
	str_addf(out, ", \"%s\": ", key);
	json_add_string(out, value);
}

void change_add_json(struct str *out, const struct cow *cow, const struct change *change)
{
	struct unified_stat stat;

	str_addf(out, "{\"status\": \"%c\", \"path\": ", change->status);
	json_add_string(out, change->path);
	add_pair(out, "from", change->from);
	add_node(out, "old", change->from ? &change->from_node : &change->old);
	add_node(out, "new", &change->new);
	if (change_count(cow, change, &stat))
		str_addf(out, ", \"added\": %zu, \"removed\": %zu", stat.added, stat.removed);
	add_pair(out, "conflict", change->conflict ? conflict_text(change->conflict) : NULL);
	add_pair(out, "sensitive", change->sensitive);
	add_pair(out, "why", change->why);
	str_add(out, "}");
}
