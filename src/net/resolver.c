/* SPDX-License-Identifier: MIT */
/*
 * Name resolution out of the loop.
 *
 * One worker process forks a child for each question, so many at a time; the child calls
 * getaddrinfo() with the host's own configuration and sends the answer itself. The worker dies with
 * the supervisor, and a child with its alarm. getaddrinfo() loads modules, which a static program
 * cannot: there the worker is a program of its own.
 */
#include "net/resolver.h"

#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/path.h"
#include "os/fs.h"
#include "os/proc.h"
#include "os/socket.h"
#include "os/start.h"

#define TIMEOUT_S 15

struct question {
	char name[RESOLVER_NAME_MAX];
};

static void answer_failed(int fd, const struct question *question, int error)
{
	struct resolver_answer answer = { .error = error };

	memcpy(answer.name, question->name, sizeof(answer.name));
	(void)send(fd, &answer, sizeof(answer), MSG_NOSIGNAL); /* nobody is there: so are we gone */
}

static void add_address(struct resolver_answer *answer, const struct sockaddr *address)
{
	struct in6_addr *to = &answer->addresses[answer->n];

	if (answer->n == RESOLVER_ADDRESSES)
		return;
	if (address->sa_family == AF_INET6) {
		*to = ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	} else if (address->sa_family == AF_INET) {
		memset(to, 0, sizeof(*to));
		to->s6_addr[10] = to->s6_addr[11] = 0xff;
		memcpy(&to->s6_addr[12],
		       &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
	} else {
		return;
	}
	answer->n++;
}

_Noreturn static void resolve(int fd, const struct question *question, pid_t worker)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG },
			*list = NULL;
	struct resolver_answer answer = { 0 };

	/* It would keep the worker's end of the socket open: nobody would hear that the worker is gone. */
	os_die_with_parent(SIGKILL);
	if (getppid() != worker)
		_exit(1);
	alarm(TIMEOUT_S);
	memcpy(answer.name, question->name, sizeof(answer.name));
	answer.error = getaddrinfo(question->name, NULL, &hints, &list);
	for (struct addrinfo *a = answer.error ? NULL : list; a; a = a->ai_next)
		add_address(&answer, a->ai_addr);
	if (send(fd, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
		_exit(1);
	_exit(0);
}

/* A child that was killed cannot answer: its slot does it for it. */
struct slots {
	pid_t pid[RESOLVER_AT_ONCE];
	struct question question[RESOLVER_AT_ONCE];
	size_t n;
};

static void collect(struct slots *slots, int fd, bool wait)
{
	int status;
	pid_t pid;

	while (slots->n && (pid = waitpid(-1, &status, wait ? 0 : WNOHANG)) > 0) {
		size_t i = 0;

		wait = false;
		while (i < slots->n && slots->pid[i] != pid)
			i++;
		if (i == slots->n)
			continue;
		if (!WIFEXITED(status))
			answer_failed(fd, &slots->question[i], EAI_AGAIN);
		slots->n--;
		slots->pid[i] = slots->pid[slots->n];
		slots->question[i] = slots->question[slots->n];
	}
}

static void on_child(int signal_no)
{
	(void)signal_no; /* its arrival interrupts recv() */
}

_Noreturn void resolver_work(int fd)
{
	struct sigaction action = { .sa_handler = on_child };
	struct slots slots = { .n = 0 };
	struct question question;
	pid_t self = getpid();
	ssize_t n;

	sigaction(SIGCHLD, &action, NULL);
	for (;;) {
		pid_t pid;

		collect(&slots, fd, slots.n == RESOLVER_AT_ONCE);
		n = recv(fd, &question, sizeof(question), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(question))
			_exit(0); /* the supervisor is gone */
		question.name[sizeof(question.name) - 1] = '\0';
		pid = fork();
		if (pid == 0)
			resolve(fd, &question, self);
		if (pid < 0) {
			answer_failed(fd, &question, EAI_MEMORY);
			continue;
		}
		slots.pid[slots.n] = pid;
		slots.question[slots.n++] = question;
	}
}

/* Beside us, in the build's tree, in a tree that was moved, or installed. Without it names are not
 * found, and somebody who copied srt alone has to hear why. */
_Noreturn static void work_elsewhere(int fd)
{
	static char name[] = "wrapix-resolver";
	struct arena arena = { 0 };
	char *self = os_realpath(&arena, "/proc/self/exe");
	char *own = self ? path_parent(&arena, self) : NULL;
	const char *const places[] = {
		own ? path_join(&arena, own, name) : "",
		own ? path_join(&arena, path_parent(&arena, own), name) : "",
		own ? path_join(&arena, path_parent(&arena, own), "libexec/wrapix/wrapix-resolver")
		    : "",
		WRAPIX_LIBEXECDIR "/wrapix-resolver",
	};

	if (dup2(fd, STDIN_FILENO) < 0)
		_exit(1);
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		execv(places[i], (char *[]){ name, NULL });
	dprintf(STDERR_FILENO,
		"Warning: no host can be reached by its name: '%s' is missing, which is installed "
		"with this program (%s)\n",
		name, places[ARRAY_LEN(places) - 1]);
	_exit(1);
}

static void end_worker(struct resolver *resolver)
{
	if (resolver->source.fd >= 0) {
		loop_remove(resolver->loop, &resolver->source);
		close(resolver->source.fd);
	}
	if (resolver->pid > 0) {
		kill(resolver->pid, SIGKILL);
		(void)os_await(resolver->pid);
	}
	resolver->source.fd = -1;
	resolver->pid = 0;
}

static int on_answer(struct loop_source *source, uint32_t events, struct err *err)
{
	struct resolver *resolver = container_of(source, struct resolver, source);
	struct resolver_answer answer;
	ssize_t n = recv(source->fd, &answer, sizeof(answer), MSG_DONTWAIT);

	(void)events;
	(void)err;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	answer.name[sizeof(answer.name) - 1] = 0;
	if (n == sizeof(answer) && answer.n <= RESOLVER_ADDRESSES) {
		resolver->worked = true;
		resolver->fn(resolver->ctx, &answer);
	} else {
		/* It was killed, and what it was asked with it. The next question starts another. */
		answer = (struct resolver_answer){ .error = EAI_AGAIN };
		end_worker(resolver);
		resolver->fn(resolver->ctx, &answer);
	}
	return 0;
}

static int start_worker(struct resolver *resolver, struct err *err)
{
	pid_t parent = getpid();
	int fds[2], r;

	if (os_message_pair(fds) < 0)
		return os_err_start(err, errno, "what looks up names");
	resolver->pid = fork();
	if (resolver->pid == 0) {
		os_reset_signals();
		os_die_with_parent(SIGKILL);
		if (getppid() != parent)
			_exit(1);
		os_close_all_but(3, &fds[1], 1);
		(os_is_static() ? work_elsewhere : resolver_work)(fds[1]);
	}
	close(fds[1]);
	resolver->source = (struct loop_source){ .fd = fds[0], .on_event = on_answer };
	if (resolver->pid < 0) {
		int code = errno;

		end_worker(resolver);
		return os_err_start(err, code, "what looks up names");
	}
	r = loop_add(resolver->loop, &resolver->source, LOOP_IN, err);
	if (r < 0)
		end_worker(resolver); /* nobody would hear its answers */
	return r;
}

int resolver_start(struct resolver *resolver, struct loop *loop, resolver_fn *fn, void *ctx,
		   struct err *err)
{
	*resolver = (struct resolver){ .loop = loop, .source.fd = -1, .fn = fn, .ctx = ctx };
	return start_worker(resolver, err);
}

int resolver_ask(struct resolver *resolver, const char *name)
{
	struct question question = { 0 };
	struct err err;

	if (snprintf(question.name, sizeof(question.name), "%s", name) >=
	    (int)sizeof(question.name))
		return -ENAMETOOLONG;
	if (resolver->source.fd < 0 && resolver->worked && start_worker(resolver, &err) < 0)
		return -err.code;
	if (send(resolver->source.fd, &question, sizeof(question), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return -errno;
	return 0;
}

void resolver_stop(struct resolver *resolver)
{
	end_worker(resolver);
	*resolver = (struct resolver){ .source.fd = -1 };
}
