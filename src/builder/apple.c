/* SPDX-License-Identifier: MIT */
/*
 * A builder in a virtual machine of Apple's container. Its store is a shared directory, in which all is
 * root's whoever made it; so root builds there (texts.c), in a machine that is there for nothing else.
 * The image is container's own business, and only inside can its files be read: the store is filled by a
 * container of the same image that ends when it has done so, in the order of store.c.
 *
 * Written from container's documentation, and tried with a stand-in for it: nobody has run it on a Mac.
 */
#include <errno.h>
#include <string.h>

#include "base/sha256.h"
#include "builder/machine.h"
#include "entry/builder.h"
#include "os/darwin/container.h"
#include "os/proc.h"

enum { ANSWER_MAX = 1 << 20, ASK_SECONDS = 60, START_SECONDS = 300, FILL_SECONDS = 1800 };

#define FILL_NAME BUILDER_NAME "-fill"
#define DATA_INSIDE "/wrapix-data"

/* $1 is the stamp. What store.c does, by the programs of the image. */
static const char fill_script[] =
	"set -eu\n"
	"nix=" DATA_INSIDE "/builder-nix to=" DATA_INSIDE "/builder-nix\n"
	"[ \"$(cat \"$nix/.wrapix-stamp\" 2>/dev/null || :)\" != \"$1\" ] || exit 0\n"
	"[ -d \"$nix\" ] || { to=$nix.new; rm -rf \"$to\"; }\n"
	"mkdir -p \"$to/store\" \"$to/var/nix/gcroots\"\n"
	"rm -rf \"$to/.wrapix-filling\" \"$to/var/nix/gcroots/wrapix-image\"\n"
	"mkdir \"$to/.wrapix-filling\" \"$to/var/nix/gcroots/wrapix-image\"\n"
	"for path in /nix/store/*; do\n"
	"	[ -e \"$path\" ] || [ -L \"$path\" ] || continue\n"
	"	name=${path##*/}\n"
	"	[ -e \"$to/store/$name\" ] || [ -L \"$to/store/$name\" ] || {\n"
	"		cp -a \"$path\" \"$to/.wrapix-filling/$name\"\n"
	"		mv \"$to/.wrapix-filling/$name\" \"$to/store/$name\"\n"
	"	}\n"
	"	ln -s \"$path\" \"$to/var/nix/gcroots/wrapix-image/$name\"\n"
	"done\n"
	"[ ! -e /nix-path-registration ] || {\n"
	"	cp /nix-path-registration \"$to/.wrapix-filling/registration\"\n"
	"	mv \"$to/.wrapix-filling/registration\" \"$to/.wrapix-registration\"\n"
	"}\n"
	"rm -rf \"$to/.wrapix-filling\"\n"
	"sync\n"
	"printf %s \"$1\" >\"$to/.wrapix-stamp.new\"\n"
	"mv \"$to/.wrapix-stamp.new\" \"$to/.wrapix-stamp\"\n"
	"[ \"$to\" = \"$nix\" ] || mv \"$to\" \"$nix\"\n";

static char *find_container(struct builder *b, struct err *err)
{
	char *path = os_find_program(&b->arena, "container",
				     getenv("PATH") ?: "/usr/local/bin:/usr/bin", NULL);

	if (!path) {
		err_set(err, ENOENT, "there is no 'container' on this machine");
		err_hint(err,
			 "it is a program of Apple's for macOS 26 and Apple silicon; install it, "
			 "then 'container system start'");
	}
	return path;
}

static int check(const char *program, const char *image, struct err *err)
{
	unsigned version = container_version(program);

	if (version < CONTAINER_OLDEST) {
		err_set(err, EOPNOTSUPP, "container is older than 0.8.0");
		return err_hint(err,
				"install a newer one: before it, an image could write outside of "
				"its directory");
	}
	if (!container_service_runs(program)) {
		err_set(err, ENOTCONN, "container's service does not run");
		return err_hint(err, "container system start");
	}
	if (!container_has_image(program, image)) {
		err_set(err, ENOENT, "container has no image '%s'", image);
		return err_hint(
			err, "on a Linux machine: wrapix image build --package nix-bin --package "
			     "openssh-server --platform linux/arm64 -o builder.oci.tar; here: "
			     "container image load -i builder.oci.tar, container image tag, "
			     "--image NAME");
	}
	return 0;
}

static int run(struct builder *b, struct strv *words, unsigned seconds, char **ret, struct err *err)
{
	_cleanup_free_ char *said = NULL;
	int status = os_capture_all(words->v, seconds, ANSWER_MAX, &said);

	known(words->v);
	if (status < 0)
		return err_errno(err, -status, "running '%s'", words->v[0]);
	if (status)
		return err_set(err, EIO, "container %s: %.400s", words->v[1], said ? said : "");
	*ret = arena_strdup(&b->arena, said ? said : "");
	return 0;
}

/* What the image is, as far as container tells. */
static int find_stamp(struct builder *b, char *program, const char *image, char **ret,
		      struct err *err)
{
	char hex[SHA256_HEX], *said = NULL;
	struct strv words = { 0 };
	int r;

	strv_add(&b->arena, &words, program);
	strv_add(&b->arena, &words, "image");
	strv_add(&b->arena, &words, "inspect");
	strv_add(&b->arena, &words, image);
	r = run(b, &words, ASK_SECONDS, &said, err);
	if (r < 0)
		return r;
	known(said);
	sha256_hex(said, strlen(said), hex);
	*ret = arena_printf(&b->arena, "apple %s", hex);
	return 0;
}

static int fill(struct builder *b, char *program, const struct builder_root *root, struct err *err)
{
	struct arena *a = &b->arena;
	struct strv words = { 0 };
	char *stamp, *said;
	int r = find_stamp(b, program, root->ref, &stamp, err);

	if (r == 0)
		r = container_remove(program, FILL_NAME, err);
	if (r < 0)
		return r;
	strv_add(a, &words, program);
	strv_add(a, &words, "run");
	strv_add(a, &words, "--rm");
	container_add_option(a, &words, "--name", FILL_NAME);
	container_add_option(a, &words, "--entrypoint", "/bin/sh");
	r = container_add_dir(a, &words, b->data, DATA_INSIDE, false, err);
	if (r < 0)
		return r;
	container_add_image(a, &words, root->ref);
	strv_add(a, &words, "-c");
	strv_add(a, &words, fill_script);
	strv_add(a, &words, "fill");
	strv_add(a, &words, stamp);
	r = run(b, &words, FILL_SECONDS, &said, err);
	return r < 0 ? err_wrap(err, "filling the builder's store") : 0;
}

static int make_words(struct builder *b, char *program, const struct builder_root *root,
		      struct strv *words, struct err *err)
{
	struct arena *a = &b->arena;
	int r;

	strv_add(a, words, program);
	strv_add(a, words, "run");
	strv_add(a, words, "--detach");
	container_add_option(a, words, "--name", BUILDER_NAME);
	container_add_option(a, words, "--cpus", arena_printf(a, "%u", builder_cores(b)));
	container_add_memory(a, words, b->settings.memory ? b->settings.memory : 4ULL << 30);
	container_add_option(a, words, "--network", "default");
	r = container_add_port(a, words, (unsigned)b->settings.port, BUILDER_SSHD_PORT, err);
	if (r == 0)
		r = container_add_dir(a, words, b->nix, "/nix", false, err);
	if (r == 0)
		r = container_add_dir(a, words, builder_stage(b), BUILDER_STAGE, true, err);
	container_add_option(a, words, "--entrypoint", "/opt/wrapix/bin/wrapix-entry");
	container_add_image(a, words, root->ref);
	strv_add(a, words, "builder");
	return r;
}

static int start_apple(struct builder *b, const struct builder_root *root, _unused_ int *ret_watch,
		       struct err *err)
{
	char *program = find_container(b, err), *said;
	struct strv words = { 0 };
	int r;

	if (!program)
		return -err->code;
	if (b->settings.net == NET_NONE)
		return err_usage(err,
				 "network: 'none' is for the native engine: container publishes "
				 "no port then");
	r = check(program, root->ref, err);
	if (r == 0) /* to start one that was stopped is unreliable */
		r = container_remove(program, BUILDER_NAME, err);
	if (r == 0)
		r = fill(b, program, root, err);
	if (r == 0)
		r = make_words(b, program, root, &words, err);
	return r < 0 ? r : run(b, &words, START_SECONDS, &said, err);
}

static int alive_apple(struct builder *b, bool *ret_alive, pid_t *ret_pid, struct err *err)
{
	char *program = find_container(b, err);
	struct container_info info = { 0 };
	int r = program ? container_inspect(&b->arena, program, BUILDER_NAME, &info, err)
			: -err->code;

	*ret_alive = r == 0 && info.state == CONTAINER_RUNNING;
	*ret_pid = 0;
	return r;
}

static int stop_apple(struct builder *b, struct err *err)
{
	char *program = find_container(b, err), *said;
	struct strv words = { 0 };
	struct err ignored; /* it is removed in any case */

	if (program) { /* kindly first: nix-daemon finishes what it writes */
		strv_add(&b->arena, &words, program);
		container_add_option(&b->arena, &words, "stop", "--time");
		container_add_option(&b->arena, &words, "15", BUILDER_NAME);
		(void)run(b, &words, ASK_SECONDS, &said, &ignored);
	}
	return program ? container_remove(program, BUILDER_NAME, err) : -err->code;
}

int builder_log_words(struct builder *b, bool follow, const char *lines, struct strv *ret,
		      struct err *err)
{
	char *program = find_container(b, err);

	if (!program)
		return -err->code;
	strv_add(&b->arena, ret, program);
	strv_add(&b->arena, ret, "logs");
	if (follow)
		strv_add(&b->arena, ret, "--follow");
	if (lines)
		container_add_option(&b->arena, ret, "-n", lines);
	strv_add(&b->arena, ret, BUILDER_NAME);
	return 0;
}

const struct builder_kind builder_apple = {
	.engine = ENGINE_APPLE,
	.patience = 120,
	.listen = "0.0.0.0", /* of the virtual machine; this one's port is on 127.0.0.1 alone */
	.start = start_apple,
	.alive = alive_apple,
	.stop = stop_apple,
};
