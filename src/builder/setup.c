/* SPDX-License-Identifier: MIT */
/*
 * Root's side, planned: which files below /etc change, and into what. Three of the files are ours alone;
 * the list of machines is shared with others, and only the block between our two lines is ours.
 */
#include "builder/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "builder/setup_priv.h"
#include "os/fs.h"

#define BLOCK_BEGIN "# " BUILDER_NAME ": begin\n"
#define BLOCK_END "# " BUILDER_NAME ": end\n"
#define HOW_NIXOS                                                                      \
	"a link there means that a configuration makes the file: see 'wrapix-builder " \
	"config nixos' or 'config darwin'"

enum { FILE_MACHINES, FILE_SSH, FILE_KNOWN, FILE_KEY, FILE_COUNT };

static const struct {
	const char *path; /* below /etc */
	unsigned mode;
	bool secret, shared;
} files[FILE_COUNT] = {
	[FILE_MACHINES] = { "nix/machines", 0644, false, true },
	[FILE_SSH] = { "ssh/ssh_config.d/100-" BUILDER_NAME ".conf", 0644, false, false },
	[FILE_KNOWN] = { "nix/wrapix_builder_known_hosts", 0644, false, false },
	[FILE_KEY] = { "nix/wrapix_builder_ed25519", 0600, true, false },
};

/* --- files as they are --- */

int setup_read(struct arena *arena, const char *path, struct found *ret, struct err *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	struct stat st;
	int r;

	*ret = (struct found){ 0 };
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0 && errno == EACCES) {
		ret->there = ret->unreadable = true;
		return 0;
	}
	if (fd < 0) {
		err_errno(err, errno, "opening '%s'", path);
		return err->code == ELOOP ? err_hint(err, HOW_NIXOS) : -err->code;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "'%s' is not a regular file", path);
	r = os_read_fd(fd, SETUP_FILE_MAX, &text, &ret->len);
	if (r < 0)
		return err_errno(err, -r, "reading '%s'", path);
	ret->there = true;
	ret->text = arena_alloc(arena, ret->len + 1);
	memcpy(ret->text, text, ret->len);
	explicit_bzero(text, ret->len);
	ret->mode = st.st_mode & 07777;
	ret->uid = st.st_uid;
	ret->gid = st.st_gid;
	return 0;
}

/* --- whose files are read --- */

/* Root's own, which would open to the user's links what only root's groups may read. */
static struct {
	gid_t gid, groups[NGROUPS_MAX];
	int n;
} own;

int builder_become(const char *user, struct err *err)
{
	struct passwd *pw = user ? getpwnam(user) : NULL;

	if (geteuid() != 0 || !user)
		return 0;
	if (!pw)
		return err_usage(err, "there is no user '%s'", user);
	own.gid = getegid();
	own.n = getgroups(NGROUPS_MAX, own.groups);
	if (own.n < 0 || initgroups(user, pw->pw_gid) < 0 || setegid(pw->pw_gid) < 0 ||
	    seteuid(pw->pw_uid) < 0)
		return err_errno(err, errno, "becoming '%s'", user);
	return 0;
}

int builder_return(struct err *err)
{
	if (geteuid() == getuid())
		return 0;
	if (seteuid(getuid()) < 0 || setegid(own.gid) < 0 ||
	    setgroups((size_t)own.n, own.groups) < 0)
		return err_errno(err, errno, "becoming root again");
	return 0;
}

/* --- what they are to be --- */

/* The text without our block. */
static char *without_block(struct arena *arena, const char *text, bool *ret_had)
{
	const char *begin = text ? strstr(text, BLOCK_BEGIN) : NULL;
	const char *end = begin ? strstr(begin, BLOCK_END) : NULL;

	*ret_had = end && (begin == text || begin[-1] == '\n');
	if (!*ret_had)
		return arena_strdup(arena, text ? text : "");
	return arena_printf(arena, "%.*s%s", (int)(begin - text), text, end + strlen(BLOCK_END));
}

static char *with_block(struct arena *arena, const char *text, const char *line)
{
	bool had;
	char *rest = without_block(arena, text, &had);
	size_t len = strlen(rest);

	return arena_printf(arena, "%s%s" BLOCK_BEGIN "%s\n" BLOCK_END, rest,
			    len && rest[len - 1] != '\n' ? "\n" : "", line);
}

/* As the user whose builder it is: the texts, the private key among them. */
static int gather(struct builder *b, struct arena *arena, char *etc, char *texts[FILE_COUNT],
		  struct err *err)
{
	char *key = arena_printf(arena, "%s/%s", etc, files[FILE_KEY].path);
	char *known = arena_printf(arena, "%s/%s", etc, files[FILE_KNOWN].path);
	char *host = builder_public_key(b, "host", err);
	struct found private = { 0 };
	int r = host ? setup_read(arena, builder_key_path(b, "client"), &private, err) : -err->code;

	if (r < 0)
		return r;
	if (!private.there || private.unreadable ||
	    !str_starts(private.text, "-----BEGIN OPENSSH PRIVATE KEY-----")) {
		err_set(err, ENOENT, "'%s' is no private key", builder_key_path(b, "client"));
		return err_hint(err, "'wrapix-builder start' makes one where there is none");
	}
	texts[FILE_MACHINES] = builder_machine(arena, b, key, host);
	texts[FILE_SSH] = builder_ssh_config(arena, &b->settings, key, known);
	texts[FILE_KNOWN] = builder_known_hosts(arena, &b->settings, host);
	texts[FILE_KEY] = private.text;
	return 0;
}

static int clean_etc(struct arena *arena, const char *etc, char **ret, struct err *err)
{
	*ret = os_realpath(arena, etc);
	if (!*ret)
		return err_errno(err, errno, "'%s'", etc);
	if ((*ret)[strcspn(*ret, " \t\n\"#%\\")])
		return err_usage(err, "'%s': Nix's list of machines cannot hold such a path", *ret);
	return 0;
}

static struct setup_change *add_change(struct setup_changes *changes, const char *name, bool secret,
				       const struct found *found)
{
	const char *path = arena_printf(&changes->arena, "%s/%s", changes->etc, name);
	struct setup_change *c = arena_grow(&changes->arena, &changes->v, &changes->len,
					    sizeof(*c));

	*c = (struct setup_change){
		.path = arena_strdup(&changes->arena, path),
		.name = name,
		.secret = secret,
		.before = found->there ? found->text ?: arena_strdup(&changes->arena, "") : NULL,
		.before_len = found->len,
		.before_mode = found->mode,
		.unreadable = found->unreadable,
		.uid = found->there ? found->uid : -1U,
		.gid = found->there ? found->gid : -1U,
	};
	return c;
}

/* The directories that are missing on the way to the files. */
static void add_made(struct setup_changes *changes)
{
	struct arena *a = &changes->arena;

	for (size_t i = 0; i < changes->len; i++)
		for (const char *p = changes->v[i].name; (p = strchr(p, '/')); p++) {
			char *dir = arena_strndup(a, changes->v[i].name,
						  (size_t)(p - changes->v[i].name));

			if (access(arena_printf(a, "%s/%s", changes->etc, dir), F_OK) < 0 &&
			    !strv_has(&changes->made, dir))
				strv_add(a, &changes->made, dir);
		}
}

int setup_plan(struct builder *builder, const char *etc, struct setup_changes *ret, struct err *err)
{
	struct arena *a = &ret->arena;
	char *texts[FILE_COUNT] = { NULL };
	int r = clean_etc(a, etc, &ret->etc, err);

	if (r == 0)
		r = builder_become(builder->user, err);
	if (r == 0)
		r = gather(builder, a, ret->etc, texts, err);
	if (builder_return(r == 0 ? err : &(struct err){ 0 }) < 0 || r < 0)
		return -err->code;
	for (size_t i = 0; i < FILE_COUNT; i++) {
		char *path = arena_printf(a, "%s/%s", ret->etc, files[i].path);
		struct found found = { 0 };
		struct setup_change *c;

		if (setup_read(a, path, &found, err) < 0)
			return -err->code;
		c = add_change(ret, files[i].path, files[i].secret, &found);
		c->after = files[i].shared ? with_block(a, found.text, texts[i]) : texts[i];
		known(c->after);
		c->after_len = strlen(c->after);
		c->mode = files[i].shared && found.there ? found.mode : files[i].mode;
	}
	add_made(ret);
	return 0;
}

/* --- the way back --- */

static bool is_same(const struct found *a, const struct found *b)
{
	known((!a->there || a->text) && (!b->there || b->text));
	return a->there && b->there && a->len == b->len && !memcmp(a->text, b->text, a->len);
}

static int plan_back(struct setup_changes *changes, const struct saved *saved, struct err *err)
{
	struct arena *a = &changes->arena;
	char *path = arena_printf(a, "%s/%s", changes->etc, saved->path);
	char hex[SHA256_HEX];
	struct found found;
	struct setup_change *c;
	bool had;

	if (setup_read(a, path, &found, err) < 0)
		return -err->code;
	c = add_change(changes, saved->path, !strcmp(saved->path, files[FILE_KEY].path), &found);
	c->after = saved->found.there ? saved->found.text : NULL;
	c->after_len = saved->found.len;
	c->mode = saved->found.mode;
	c->uid = saved->found.uid;
	c->gid = saved->found.gid;
	sha256_hex(found.text ? found.text : "", found.len, hex);
	if (!found.there || found.unreadable || !strcmp(hex, saved->written) ||
	    is_same(&found, &saved->found))
		return 0;
	c->edited = true;
	if (strcmp(saved->path, files[FILE_MACHINES].path))
		return 0;
	/* Others have been here since: what is theirs stays. */
	c->edited = false;
	c->after = without_block(a, found.text, &had);
	c->after_len = strlen(c->after);
	c->mode = found.mode;
	if (!*c->after && !saved->found.there)
		c->after = NULL;
	return 0;
}

int unsetup_plan(const char *etc, struct setup_changes *ret, struct err *err)
{
	struct saved_list list = { 0 };
	int r = clean_etc(&ret->arena, etc, &ret->etc, err);

	ret->back = true;
	if (r == 0)
		r = record_load(&ret->arena, ret->etc, &list, err);
	ret->made = list.made;
	for (size_t i = 0; r == 0 && i < list.len; i++)
		r = plan_back(ret, &list.v[i], err);
	return r;
}

bool setup_is_done(const struct setup_changes *changes)
{
	for (size_t i = 0; i < changes->len; i++) {
		const struct setup_change *c = &changes->v[i];

		if (c->unreadable || !c->before != !c->after || c->before_len != c->after_len ||
		    (c->after && memcmp(c->before, c->after, c->after_len)))
			return false;
	}
	return true;
}

void setup_release(struct setup_changes *changes)
{
	for (size_t i = 0; i < changes->len; i++) {
		struct setup_change *c = &changes->v[i];

		if (c->secret && c->before)
			explicit_bzero(c->before, c->before_len);
		if (c->secret && c->after)
			explicit_bzero(c->after, c->after_len);
	}
	arena_release(&changes->arena);
}
