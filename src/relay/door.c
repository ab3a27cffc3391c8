/* SPDX-License-Identifier: MIT */
/* The way between the supervisor and a relay. */
#include "relay/door.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "os/proc.h"

int relay_send(int door, enum relay_message type, const void *data, size_t len)
{
	char head = (char)type;
	struct iovec parts[] = { { &head, 1 }, { (void *)data, len } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	return sendmsg(door, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

size_t relay_rules_put(const struct relay_rules *rules, char *text, size_t size)
{
	struct wire_out out = { .p = (uint8_t *)text, .size = size };
	char port[8], fresh[16];
	const char *const fields[] = { rules->host,        port,          rules->prefix,
				       rules->methods,     rules->header, rules->scheme,
				       rules->placeholder, fresh };

	snprintf(port, sizeof(port), "%u", rules->port);
	snprintf(fresh, sizeof(fresh), "%d", rules->fresh);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		wire_put_bytes(&out, fields[i], strlen(fields[i]) + 1);
	return out.overflow ? 0 : out.len;
}

bool relay_rules_get(struct relay_rules *rules, const char *text, size_t len)
{
	const char *port = "", *fresh = "";
	const char **const fields[] = { &rules->host,        &port,          &rules->prefix,
					&rules->methods,     &rules->header, &rules->scheme,
					&rules->placeholder, &fresh };

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const char *end = memchr(text, '\0', len);

		if (!end)
			return false;
		*fields[i] = text;
		len -= (size_t)(end - text) + 1;
		text = end + 1;
	}
	rules->port = (uint16_t)strtoul(port, NULL, 10);
	rules->fresh = (int)strtol(fresh, NULL, 10);
	return len == 0 && rules->port;
}

/* What OpenSSL and the resolver look at; the rest of the user's environment stays here. */
static char **relay_environment(void)
{
	static const char *const names[] = { "SSL_CERT_FILE", "SSL_CERT_DIR", "RES_OPTIONS" };
	static char *kept[ARRAY_LEN(names) + 1];
	size_t n = 0;

	for (char **e = environ; e && *e; e++)
		for (size_t i = 0; i < ARRAY_LEN(names); i++) {
			size_t len = strlen(names[i]);

			if (!strncmp(*e, names[i], len) && (*e)[len] == '=' &&
			    n + 1 < ARRAY_LEN(kept))
				kept[n++] = *e;
		}
	return kept;
}

_Noreturn static void become_relay(const char *program, pid_t parent, int door, int listener)
{
	char *argv[] = { (char *)"wrapix-relay", NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* Out of the way of their places first. */
	int fds[] = { fcntl(door, F_DUPFD, 16), fcntl(listener, F_DUPFD, 16) };

	os_reset_signals();
	if (os_die_with_parent(SIGKILL) < 0 || getppid() != parent || fds[0] < 0 || fds[1] < 0 ||
	    chdir("/") < 0)
		_exit(127);
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	if (dup2(fds[0], RELAY_DOOR) < 0 || dup2(fds[1], RELAY_LISTENER) < 0)
		_exit(127);
	os_close_all_but(5, NULL, 0);
	/* The terminal's signals are for the command. */
	setsid();
	execve(program, argv, relay_environment());
	_exit(127);
}

int relay_spawn(const char *program, int listener, int *ret_door, pid_t *ret_pid, struct err *err)
{
	pid_t parent = getpid(), pid;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		int code = errno;

		close(listener);
		return err_errno(err, code, "starting '%s'", program);
	}
	pid = fork();
	if (pid == 0)
		become_relay(program, parent, pair[1], listener);
	close(listener);
	close(pair[1]);
	if (pid < 0) {
		int code = errno;

		close(pair[0]);
		return err_errno(err, code, "starting '%s'", program);
	}
	*ret_door = pair[0];
	*ret_pid = pid;
	return 0;
}
