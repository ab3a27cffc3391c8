/* SPDX-License-Identifier: MIT */
/*
 * A builder as a container of podman's, without root. The ids are the same as in our own engine - root
 * inside is the user, the rest is his range - so that both can have the same store, one after the other.
 * Its log is a file of ours, for it is read after the container is gone.
 */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "builder/machine.h"
#include "entry/builder.h"
#include "os/proc.h"
#include "spec/host.h"

enum { ANSWER_MAX = 65536, ASK_SECONDS = 60, START_SECONDS = 300 };

/* As plan/builder.c gives them: see os/linux/caps.h. */
#define CAPS "CHOWN,DAC_OVERRIDE,FOWNER,FSETID,KILL,SETGID,SETUID,NET_BIND_SERVICE,SYS_CHROOT"
#define ENTRY_INSIDE "/opt/wrapix/bin/wrapix-entry"

static char *find_podman(struct builder *b, struct err *err)
{
	char *path = os_find_program(&b->arena, "podman", getenv("PATH"), NULL);

	if (!path) {
		err_set(err, ENOENT, "there is no podman on this machine");
		err_hint(err, "apt install podman, or --engine native");
	}
	return path;
}

/* Runs it with these words; its answer is in the arena. The wait status, or -errno with a reason. */
static int ask(struct builder *b, const char *program, const struct strv *words, unsigned seconds,
	       char **ret, struct err *err)
{
	_cleanup_free_ char *said = NULL;
	struct strv argv = { 0 };
	int status;

	strv_add(&b->arena, &argv, program);
	for (size_t i = 0; i < words->len; i++)
		strv_add(&b->arena, &argv, words->v[i]);
	status = os_capture_all(argv.v, seconds, ANSWER_MAX, &said);
	if (status < 0)
		return err_errno(err, -status, "running '%s'", program);
	*ret = arena_strdup(&b->arena, said ? said : "");
	return status;
}

static void add(struct builder *b, struct strv *words, const char *const *list)
{
	for (; *list; list++)
		strv_add(&b->arena, words, *list);
}
#define WORDS(b, words, ...) add(b, words, (const char *const[]){ __VA_ARGS__, NULL })

/* Its options are divided by commas, and have no quotes that every version reads. */
static int add_mount(struct builder *b, struct strv *words, const char *from, const char *to,
		     bool read_only, struct err *err)
{
	if (from[strcspn(from, ",\"\n")])
		return err_set(err, EINVAL, "'%s': podman cannot mount a path with such a letter",
			       from);
	strv_add(&b->arena, words, "--mount");
	strv_addf(&b->arena, words, "type=bind,source=%s,target=%s%s", from, to,
		  read_only ? ",ro" : "");
	return 0;
}

static int add_limits(struct builder *b, struct strv *words, struct err *err)
{
	if (b->settings.net == NET_NONE)
		return err_usage(err,
				 "network: 'none' is for the native engine: podman publishes no "
				 "port then");
	WORDS(b, words, "--pids-limit", "-1");
	if (b->settings.cores) {
		strv_add(&b->arena, words, "--cpus");
		strv_addf(&b->arena, words, "%u", builder_cores(b));
	}
	if (b->settings.memory) {
		strv_add(&b->arena, words, "--memory");
		strv_addf(&b->arena, words, "%llub", (unsigned long long)b->settings.memory);
	}
	return 0;
}

static int make_words(struct builder *b, const struct builder_root *root, struct strv *words,
		      struct err *err)
{
	struct host host = { 0 };
	char *entry = arena_strdup(&b->arena,
				   host_find_own(&host, "wrapix-entry", "../entry/wrapix-entry"));
	int r;

	arena_release(&host.arena);
	if (!entry)
		return err_set(err, ENOENT, "there is no wrapix-entry on this machine");
	WORDS(b, words, "run", "--detach", "--replace", "--name", BUILDER_NAME, "--hostname",
	      BUILDER_NAME, "--userns", "host", "--user", "0:0", "--cap-drop", "all", "--cap-add",
	      CAPS, "--security-opt", "no-new-privileges", "--log-driver", "k8s-file", "--log-opt");
	strv_addf(&b->arena, words, "path=%s", builder_log(b));
	strv_add(&b->arena, words, "--publish");
	strv_addf(&b->arena, words, "127.0.0.1:%llu:%d", (unsigned long long)b->settings.port,
		  BUILDER_SSHD_PORT);
	r = add_limits(b, words, err);
	if (r == 0)
		r = add_mount(b, words, b->nix, "/nix", false, err);
	if (r == 0)
		r = add_mount(b, words, builder_stage(b), BUILDER_STAGE, true, err);
	if (r == 0)
		r = add_mount(b, words, entry, ENTRY_INSIDE, true, err);
	WORDS(b, words, "--workdir", "/", "--entrypoint", ENTRY_INSIDE, root->ref, "builder");
	return r;
}

static int start_podman(struct builder *b, const struct builder_root *root, _unused_ int *ret_watch,
			struct err *err)
{
	char *program = find_podman(b, err), *said;
	struct strv words = { 0 }, has = { 0 };
	int r;

	if (!program)
		return -err->code;
	r = make_words(b, root, &words, err);
	if (r < 0)
		return r;
	WORDS(b, &has, "image", "exists", root->ref);
	r = ask(b, program, &has, ASK_SECONDS, &said, err);
	if (r > 0)
		r = builder_load_root(b, root, "podman", err);
	if (r < 0)
		return r;
	unlink(builder_log(b));
	r = ask(b, program, &words, START_SECONDS, &said, err);
	return r > 0 ? err_set(err, EIO, "podman run: %.400s", said) : r;
}

static int alive_podman(struct builder *b, bool *ret_alive, pid_t *ret_pid, struct err *err)
{
	char *program = find_podman(b, err), *said;
	struct strv words = { 0 };
	int r;

	*ret_alive = false;
	*ret_pid = 0;
	if (!program)
		return -err->code;
	WORDS(b, &words, "container", "inspect", "--format", "{{.State.Running}} {{.State.Pid}}",
	      BUILDER_NAME);
	r = ask(b, program, &words, ASK_SECONDS, &said, err);
	if (r < 0)
		return r;
	*ret_alive = r == 0 && str_starts(said, "true ");
	*ret_pid = *ret_alive ? (pid_t)strtol(said + 5, NULL, 10) : 0;
	return 0;
}

static int stop_podman(struct builder *b, struct err *err)
{
	char *program = find_podman(b, err), *said = NULL;
	struct strv words = { 0 };
	int r;

	if (!program)
		return -err->code;
	WORDS(b, &words, "rm", "--force", "--ignore", "--time", "15", BUILDER_NAME);
	r = ask(b, program, &words, ASK_SECONDS, &said, err);
	return r > 0 ? err_set(err, EIO, "podman rm: %.400s", said) : r;
}

const struct builder_kind builder_podman = {
	.engine = ENGINE_PODMAN,
	.patience = 60,
	.listen = "0.0.0.0", /* of the container: podman alone reaches it */
	.start = start_podman,
	.alive = alive_podman,
	.stop = stop_podman,
};
