/* SPDX-License-Identifier: MIT */
/* Reading a secret in a child: a struct err, then the value, over a pipe. */
#include "keys/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/path.h"
#include "os/fs.h"
#include "os/platform.h"
#include "os/proc.h"

bool fetch_is_useful(const char *config_home)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct arena arena = { 0 };
	bool useful = os_is_darwin() || getenv("DBUS_SESSION_BUS_ADDRESS") ||
		      access(path_join(&arena, config_home, "wrapix/credentials.json"), F_OK) ==
			      0 ||
		      (runtime && access(path_join(&arena, runtime, "bus"), F_OK) == 0);

	arena_release(&arena);
	return useful;
}

_Noreturn static void read_store(const char *config_home, const char *name, pid_t parent, int out)
{
	struct vault vault = { .config_home = config_home };
	struct err err = { 0 };
	struct secret value = { 0 };
	enum vault_place place;
	size_t len = 0;

	os_reset_signals();
	if (os_die_with_parent(SIGKILL) < 0 || getppid() != parent)
		_exit(1);
	os_set_dumpable(0);
	os_close_all_but(3, &out, 1);
	if (vault_get(&vault, name, &value, &len, &place, &err) == 0)
		err.code = 0;
	if (os_write_all(out, &err, sizeof(err)) == 0 && !err.code)
		(void)os_write_all(out, value.data, len);
	secret_free(&value);
	vault_release(&vault);
	_exit(0);
}

int fetch_start(struct fetch *fetch, const char *config_home, const char *name, struct err *err)
{
	pid_t parent = getpid(), pid;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(err, errno, "reading the secret '%s'", name);
	pid = fork();
	if (pid == 0)
		read_store(config_home, name, parent, fds[1]);
	close(fds[1]);
	if (pid < 0) {
		int code = errno;

		close(fds[0]);
		return err_errno(err, code, "reading the secret '%s'", name);
	}
	*fetch = (struct fetch){ pid, fds[0] };
	return 0;
}

static ssize_t read_all(int fd, void *to, size_t size)
{
	size_t len = 0;
	ssize_t n = 1;

	while (n != 0 && len < size) {
		n = read(fd, (char *)to + len, size - len);
		if (n < 0 && errno != EINTR)
			return -errno;
		len += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)len;
}

static void end(struct fetch *fetch)
{
	close(fetch->fd);
	(void)os_await(fetch->pid);
	*fetch = (struct fetch){ 0 };
}

int fetch_finish(struct fetch *fetch, struct secret *ret, size_t *ret_len, struct err *err)
{
	struct err said;
	ssize_t n = read_all(fetch->fd, &said, sizeof(said));
	int r = 0;

	if (n != (ssize_t)sizeof(said))
		r = err_set(err, EIO, "the store could not be read");
	else if (said.code) {
		*err = said;
		r = -said.code;
	}
	if (r == 0)
		r = secret_alloc(ret, VAULT_VALUE_MAX + 1, err);
	n = r == 0 ? read_all(fetch->fd, ret->data, VAULT_VALUE_MAX + 1) : 0;
	if (r == 0 && (n <= 0 || n > VAULT_VALUE_MAX)) {
		secret_free(ret);
		r = err_set(err, EIO, "the store could not be read");
	}
	*ret_len = n > 0 ? (size_t)n : 0;
	end(fetch);
	return r;
}

void fetch_cancel(struct fetch *fetch)
{
	if (!fetch->pid)
		return;
	kill(fetch->pid, SIGKILL);
	end(fetch);
}
