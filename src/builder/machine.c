/* SPDX-License-Identifier: MIT */
/*
 * Starting and stopping, whichever way it runs. All of it happens under the lock: look, make what is
 * missing, start, wait for sshd's greeting. What is left of one that was killed is removed here.
 */
#include "builder/machine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "base/json.h"
#include "base/path.h"
#include "os/fs.h"
#include "os/platform.h"

enum { RUNNING_MAX = 1 << 16, POLL_MS = 20, GREETING_MS = 1000 };

static const struct builder_kind *const kinds[] = { &builder_native, &builder_podman,
						    &builder_apple };

static const struct builder_kind *find_kind(enum engine_kind engine)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i]->engine == engine)
			return kinds[i];
	return NULL;
}

enum engine_kind builder_engine(const struct builder *b)
{
	if (b->settings.engine != ENGINE_AUTO)
		return b->settings.engine;
	return os_is_darwin() ? ENGINE_APPLE : ENGINE_NATIVE;
}

char *builder_stage(struct builder *b)
{
	return path_join(&b->arena, b->state, "stage");
}

char *builder_log(struct builder *b)
{
	return path_join(&b->arena, b->state, "log");
}

/* The settings that it would be started with now. */
static char *builder_settings_text(struct builder *b)
{
	_cleanup_str_ struct str text = { 0 };

	str_add(&text, "{");
	builder_add_settings(&text, &b->settings);
	str_add(&text, "}");
	return arena_strdup(&b->arena, text.s);
}

/* Nobody starts or stops it until the descriptor is closed. */
static int builder_lock(struct builder *b, struct err *err)
{
	_cleanup_close_ int fd = -1;

	if (os_mkdirs(b->state, 0700, err) < 0)
		return -err->code;
	fd = open(path_join(&b->arena, b->state, "lock"), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
		  0600);
	if (fd < 0)
		return err_errno(err, errno, "opening the lock in '%s'", b->state);
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return err_errno(err, errno, "locking '%s'", b->state);
	return take_fd(&fd);
}

bool builder_is_locked(struct builder *b)
{
	_cleanup_close_ int fd = open(path_join(&b->arena, b->state, "lock"), O_RDWR | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* --- the greeting --- */

static bool greets(uint64_t port, int patience_ms)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM, 0);
	/* Of the whole wait: whoever else has the port may send a byte and no more. */
	const struct timeval patience = { patience_ms / 1000, patience_ms % 1000 * 1000 };
	char text[8];

	if (fd < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return false;
	return recv(fd, text, sizeof(text), MSG_WAITALL) == (ssize_t)sizeof(text) &&
	       !memcmp(text, "SSH-2.0-", sizeof(text));
}

/* Somebody else's ssh server there would be taken for ours, which is not there yet. */
static int find_port_free(uint64_t port, struct err *err)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons((uint16_t)port),
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM, 0);
	const int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ||
	    errno != EADDRINUSE)
		return 0; /* whoever starts it will say */
	err_set(err, EADDRINUSE, "port %llu of 127.0.0.1 is taken", (unsigned long long)port);
	return err_hint(err, "another program has it; --port takes another");
}

/* --- what is written down of the one that runs --- */

static char *running_path(struct builder *b)
{
	return path_join(&b->arena, b->state, "running");
}

static int write_running(struct builder *b, enum engine_kind engine,
			 const struct builder_root *root, struct err *err)
{
	_cleanup_str_ struct str text = { 0 };
	_cleanup_close_ int dir = open(b->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return err_errno(err, errno, "opening '%s'", b->state);
	str_add(&text, "{");
	json_add_member(&text, "engine", engine_name(engine));
	json_add_member(&text, "root", root->image ? root->image : "host");
	json_add_member(&text, "settings", builder_settings_text(b));
	json_add_count(&text, "port", b->settings.port);
	json_add_count(&text, "started", (uint64_t)time(NULL));
	str_add(&text, "}\n");
	return os_write_file_atomic(dir, "running", text.s, text.len, 0600, err);
}

static const char *get_text(struct json_object *json, const char *key)
{
	return json_text(json, key) ?: "";
}

/* True when there is one; what cannot be read is of another version, and counts as none. */
static bool read_running(struct builder *b, struct builder_machine *ret)
{
	_cleanup_json_ struct json_object *json = NULL;
	_cleanup_free_ char *text = NULL;
	struct err ignored;
	size_t len;

	if (os_read_file_at(AT_FDCWD, running_path(b), RUNNING_MAX, &text, &len) < 0 ||
	    json_parse(text, len, "running", &json, &ignored) < 0 ||
	    !json_object_is_type(json, json_type_object))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(get_text(json, "engine"), engine_name(kinds[i]->engine)))
			ret->engine = kinds[i]->engine;
	ret->root = arena_strdup(&b->arena, get_text(json, "root"));
	ret->settings = arena_strdup(&b->arena, get_text(json, "settings"));
	ret->port = (uint64_t)json_object_get_int64(json_object_object_get(json, "port"));
	ret->started = json_object_get_int64(json_object_object_get(json, "started"));
	return ret->engine != ENGINE_UNSET;
}

int builder_look(struct builder *builder, struct builder_machine *ret, struct err *err)
{
	const struct builder_kind *kind;

	*ret = (struct builder_machine){ 0 };
	if (!read_running(builder, ret))
		return 0;
	kind = find_kind(ret->engine);
	return kind ? kind->alive(builder, &ret->running, &ret->pid, err) : 0;
}

/* --- start --- */

static int write_stage(struct builder *b, const struct builder_kind *kind, struct err *err)
{
	char *stage = builder_stage(b), *client = builder_public_key(b, "client", err);
	_cleanup_close_ int dir = -1, state = open(b->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *host = NULL;
	char *idle = arena_printf(&b->arena, "%llu\n", (unsigned long long)b->settings.idle);
	size_t host_len;
	int r = client ? os_read_file_at(AT_FDCWD, builder_key_path(b, "host"), 1 << 16, &host,
					 &host_len)
		       : -err->code;
	const struct {
		const char *name, *text;
		unsigned mode;
	} files[] = {
		{ "sshd_config", builder_sshd_config(&b->arena, kind->listen), 0644 },
		{ "nix.conf", builder_nix_conf(&b->arena, b, kind->engine), 0644 },
		{ "authorized_keys", arena_printf(&b->arena, "restrict,pty %s\n", client), 0644 },
		{ "idle", idle, 0644 },
		{ "host_ed25519", host, 0600 },
	};

	if (!client)
		return r;
	if (r < 0)
		return err_errno(err, -r, "reading the builder's host key");
	os_remove_tree(state, "stage");
	if (mkdir(stage, 0700) < 0)
		return err_errno(err, errno, "making '%s'", stage);
	dir = open(stage, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(files); i++)
		r = os_write_file_atomic(dir, files[i].name, files[i].text, strlen(files[i].text),
					 files[i].mode, err);
	return r;
}

/* What comes from the one that starts: a word for the user (code 0), why it failed, or the end. */
static int take_report(const struct builder *b, int watch, struct err *err)
{
	struct err reported;

	if (watch >= 0 && os_read_full(watch, &reported, sizeof(reported)) == sizeof(reported)) {
		if (!reported.code) {
			builder_say(b, "%s", reported.msg);
			return 0;
		}
		*err = reported;
		return -err->code;
	}
	err_set(err, EIO, "the builder ended before it could be used");
	return err_hint(err, "'wrapix-builder logs' shows what it said");
}

static int await_greeting(struct builder *b, const struct builder_kind *kind, int watch,
			  struct err *err)
{
	struct pollfd fd = { .fd = watch, .events = POLLIN };
	time_t end = time(NULL) + kind->patience;
	bool alive = true;

	while (!greets(b->settings.port, GREETING_MS)) {
		pid_t pid;

		if (watch < 0 && kind->alive(b, &alive, &pid, err) < 0)
			return -err->code;
		if ((poll(&fd, 1, POLL_MS) > 0 || !alive) && take_report(b, watch, err) < 0)
			return -err->code;
		if (time(NULL) > end) {
			err_set(err, ETIMEDOUT, "the builder cannot be reached after %u s",
				kind->patience);
			return err_hint(err, "'wrapix-builder logs' shows what it said");
		}
	}
	while (poll(&fd, 1, 0) > 0)
		if (take_report(b, watch, err) < 0)
			return -err->code;
	return 0;
}

static int start_locked(struct builder *b, const struct builder_kind *kind, struct err *err)
{
	struct builder_root root = { 0 };
	_cleanup_close_ int watch = -1;
	int r = builder_make_keys(b, err);

	if (r == 0)
		r = builder_find_root(b, kind->engine, &root, err);
	if (r == 0)
		r = builder_fill_store(b, &root, err);
	if (r == 0)
		r = write_stage(b, kind, err);
	if (r == 0)
		r = builder_save(b, err);
	if (r == 0)
		r = write_running(b, kind->engine, &root, err);
	if (r == 0)
		r = find_port_free(b->settings.port, err);
	if (r == 0)
		r = kind->start(b, &root, &watch, err);
	if (r == 0)
		r = await_greeting(b, kind, watch, err);
	if (r < 0) {
		struct err ignored; /* the first error is the one to tell */

		kind->stop(b, &ignored);
		unlink(running_path(b));
	}
	return r;
}

int builder_start(struct builder *builder, struct err *err)
{
	const struct builder_kind *kind = find_kind(builder_engine(builder));
	struct builder_machine machine;
	_cleanup_close_ int lock = -1;
	int r;

	if (geteuid() == 0) {
		err_set(err, EPERM, "a builder is not root's: its root would be this machine's");
		return err_hint(err, "start it as an ordinary user; 'setup' is root's part");
	}
	lock = builder_lock(builder, err);
	r = lock < 0 ? lock : builder_look(builder, &machine, err);
	if (r < 0)
		return r;
	if (!kind)
		return err_usage(err, "engine: a builder runs natively, in podman or in container");
	if (machine.running && strcmp(machine.settings, builder_settings_text(builder))) {
		err_set(err, EBUSY, "it runs, with other settings");
		return err_hint(err, "'wrapix-builder restart' with the same options");
	}
	if (machine.running) {
		r = await_greeting(builder, find_kind(machine.engine), -1, err);
		return r < 0 ? r : 1;
	}
	/* Of one that was killed: a container of its name, a port that is held. */
	if (machine.engine != ENGINE_UNSET) {
		r = find_kind(machine.engine)->stop(builder, err);
		unlink(running_path(builder));
	}
	return r < 0 ? r : start_locked(builder, kind, err);
}

int builder_stop(struct builder *builder, struct err *err)
{
	_cleanup_close_ int lock = builder_lock(builder, err);
	struct builder_machine machine;
	int r = lock < 0 ? lock : builder_look(builder, &machine, err);

	if (r == 0 && machine.engine != ENGINE_UNSET)
		r = find_kind(machine.engine)->stop(builder, err);
	if (r < 0)
		return r;
	unlink(running_path(builder));
	return machine.running ? 0 : 1;
}
