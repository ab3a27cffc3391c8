/* SPDX-License-Identifier: MIT */
/*
 * Where a builder's programs come from: an image by name, else (our own engine) this machine's, where it
 * has both sshd and nix-daemon outside of /nix, else an image of Debian's packages that is made once.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/path.h"
#include "builder/machine.h"
#include "os/fs.h"
#include "os/proc.h"
#include "spec/host.h"

#define OWN_IMAGE BUILDER_NAME /* what ours is called in the store of images */

static const char *const packages[] = { "nix-bin", "openssh-server", "ca-certificates", "git" };

static char *own_program(struct builder *b, const char *name, const char *in_build)
{
	struct host host = { 0 };
	char *path = arena_strdup(&b->arena, host_find_own(&host, name, in_build));

	arena_release(&host.arena);
	return path;
}

/* The directory of an unpacked image; NULL: there is none. */
static char *find_image(struct builder *b, const char *name)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (!cache || cache[0] != '/')
		cache = arena_printf(&b->arena, "%s/.cache", home ? home : "");
	return os_realpath(&b->arena,
			   arena_printf(&b->arena, "%s/wrapix/images/names/%s", cache, name));
}

static int take_image(struct builder *b, const char *name, struct builder_root *ret)
{
	char *dir = find_image(b, name);

	if (!dir)
		return -ENOENT;
	*ret = (struct builder_root){
		.image = arena_strdup(&b->arena, name),
		.dir = dir,
		.ref = arena_printf(&b->arena, "localhost/wrapix-%s:%.12s", name, path_name(dir)),
		.stamp = arena_printf(&b->arena, "image %s", path_name(dir)),
	};
	return 0;
}

/* What our engine can show of this machine's own. */
static bool take_host(struct builder *b, struct builder_root *ret)
{
	static const char *const names[] = { "sshd", "nix-daemon" };
	char *path = NULL;
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		path = os_find_program(
			&b->arena, names[i],
			"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", NULL);
		path = path ? os_realpath(&b->arena, path) : NULL;
		if (!path || path_is_below(path, "/nix") || stat(path, &st) < 0)
			return false;
	}
	*ret = (struct builder_root){
		.stamp = arena_printf(&b->arena, "host %s %lld %lld", path, (long long)st.st_size,
				      (long long)st.st_mtime),
	};
	return true;
}

_Noreturn static void be_loader(char *const *argv)
{
	int null = open("/dev/null", O_RDONLY);

	dup2(null, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execv(argv[0], argv);
	_exit(EXIT_NOTFOUND);
}

/* wrapix-image, to its end; what it says is for the user. */
static int run_loader(struct builder *b, struct strv *words, struct err *err)
{
	char *program = own_program(b, "wrapix-image", "../cli/wrapix-image");
	struct strv argv = { 0 };
	int status;
	pid_t pid;

	if (!program) {
		err_set(err, ENOENT, "there is no wrapix-image on this machine");
		return err_hint(
			err, "in a clone 'make' builds it; 'make install' installs it with wrapix");
	}
	strv_add(&b->arena, &argv, program);
	for (size_t i = 0; i < words->len; i++)
		strv_add(&b->arena, &argv, words->v[i]);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		be_loader(argv.v);
	status = os_await(pid);
	if (pid < 0)
		return err_errno(err, errno, "fork");
	return status ? err_set(err, EIO, "wrapix image %s failed", words->v[0]) : 0;
}

static int make_image(struct builder *b, struct err *err)
{
	struct strv words = { 0 };

	builder_say(b, "making an image with Nix and an ssh server; it is kept, and the next start "
		       "finds it");
	strv_add(&b->arena, &words, "build");
	for (size_t i = 0; i < ARRAY_LEN(packages); i++) {
		strv_add(&b->arena, &words, "--package");
		strv_add(&b->arena, &words, packages[i]);
	}
	strv_add(&b->arena, &words, "--name");
	strv_add(&b->arena, &words, OWN_IMAGE);
	return run_loader(b, &words, err);
}

int builder_load_root(struct builder *b, const struct builder_root *root, const char *into,
		      struct err *err)
{
	struct strv words = { 0 };

	strv_add(&b->arena, &words, "load");
	strv_add(&b->arena, &words, root->image);
	strv_add(&b->arena, &words, "--into");
	strv_add(&b->arena, &words, into);
	return run_loader(b, &words, err);
}

int builder_find_root(struct builder *b, enum engine_kind engine, struct builder_root *ret,
		      struct err *err)
{
	const char *name = b->settings.image;

	if (engine == ENGINE_APPLE) { /* whose images are the virtual machine's business */
		*ret = (struct builder_root){ .image = arena_strdup(&b->arena, name ?: OWN_IMAGE) };
		ret->ref = ret->image;
		return 0;
	}
	if (!name && engine == ENGINE_NATIVE && take_host(b, ret))
		return 0;
	if (take_image(b, name ? name : OWN_IMAGE, ret) == 0)
		return 0;
	if (name) {
		err_set(err, ENOENT, "there is no unpacked image '%s'", name);
		return err_hint(err,
				"'wrapix image build --package nix-bin --package "
				"openssh-server --name %s' makes one",
				name);
	}
	if (make_image(b, err) < 0)
		return -err->code;
	return take_image(b, OWN_IMAGE, ret) < 0
		       ? err_set(err, ENOENT, "the image '%s' was made, and is not there",
				 OWN_IMAGE)
		       : 0;
}
