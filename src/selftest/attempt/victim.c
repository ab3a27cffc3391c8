/* SPDX-License-Identifier: MIT */
/*
 * --victim BASE PROJECT ARGUMENT: what the attempts are after, as one process of the user's on the
 * host. It holds the secret (WX_SECRET) in its memory, environment and open files, in System V and
 * POSIX objects, in the user's keyring, and answers with it on sockets of every kind. It writes
 * where all of that is to PROJECT/facts, says "ready", and ends, leaving nothing, when its standard
 * input closes.
 */
#include "selftest/attempt/attempt.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_SERVERS = 16, LOWEST_PID = 3000 };

static struct {
	int fd;
	bool datagram;
} servers[MAX_SERVERS];
static size_t n_servers;

static const char *base, *token;
static char memory[128], scratch[16];
static char evidence[4096];
static FILE *facts;

/* What must be taken away at the end. */
static int shm_id = -1, sem_id = -1, msg_id = -1;
static long key = -1;
static char queue[64], shm_name[64];
static char paths[8][108];
static size_t n_paths;

static bool
	lenient; /* WX_LENIENT: a user's machine may lack something; its attempts then cannot be made */

_Noreturn static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void lack(const char *what)
{
	if (!lenient)
		fail(what);
}

static volatile sig_atomic_t told_to_end;

/* Whoever started us is gone, or the terminal has ended us with it: what is to be taken away is taken away all the same. */
static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

static void on_end(int signal_no)
{
	(void)signal_no;
	told_to_end = 1;
}

static void on_urgent(int signal_no)
{
	(void)signal_no;
	close(open(evidence, O_WRONLY | O_CREAT, 0600));
}

static void add_server(int fd, bool datagram, const char *what)
{
	if (fd < 0 || (!datagram && listen(fd, 8) < 0) || n_servers == MAX_SERVERS)
		fail(what);
	servers[n_servers].fd = fd;
	servers[n_servers++].datagram = datagram;
}

static void serve_inet(const char *fact, int family, int type, const char *address)
{
	struct sockaddr_storage ss = { .ss_family = (sa_family_t)family };
	struct sockaddr_in *v4 = (void *)&ss;
	struct sockaddr_in6 *v6 = (void *)&ss;
	socklen_t len = family == AF_INET ? sizeof(*v4) : sizeof(*v6);
	int fd = socket(family, type | SOCK_CLOEXEC, 0);

	if (inet_pton(family, address,
		      family == AF_INET ? (void *)&v4->sin_addr : (void *)&v6->sin6_addr) != 1 ||
	    fd < 0 || bind(fd, (void *)&ss, len) < 0 || getsockname(fd, (void *)&ss, &len) < 0) {
		lack(fact);
		return;
	}
	add_server(fd, type == SOCK_DGRAM, fact);
	/* the port is in the same place for both families */
	fprintf(facts, "%s=%u\n", fact, ntohs(v4->sin_port));
}

static void serve_unix(const char *fact, int type, const char *name, bool abstract)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	size_t len = strlen(name);

	if (len + 1 >= sizeof(un.sun_path)) {
		errno = ENAMETOOLONG;
		lack(name);
		return;
	}
	memcpy(un.sun_path + abstract, name, len);
	if (bind(fd, (void *)&un,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + abstract + len)) < 0) {
		lack(name);
		return;
	}
	add_server(fd, type == SOCK_DGRAM, name);
	if (!abstract)
		(void)snprintf(paths[n_paths++], sizeof(paths[0]), "%s", name);
	fprintf(facts, "%s=%s\n", fact, name);
}

static void serve(void)
{
	const char *run = getenv("WX_RUN");
	char name[108];

	serve_inet("tcp", AF_INET, SOCK_STREAM, "127.0.0.1");
	serve_inet("tcp6", AF_INET6, SOCK_STREAM, "::1");
	serve_inet("tcp_any", AF_INET, SOCK_STREAM, "0.0.0.0");
	serve_inet("udp", AF_INET, SOCK_DGRAM, "127.0.0.1");
	(void)snprintf(name, sizeof(name), "wrapix-escape-%d", (int)getpid());
	serve_unix("abstract", SOCK_STREAM, name, true);
	(void)snprintf(name, sizeof(name), "wrapix-escape-datagram-%d", (int)getpid());
	serve_unix("abstract_datagram", SOCK_DGRAM, name, true);
	/* as an X server would, and would leave it; nobody else's machine keeps it */
	if (!lenient && mkdir("/tmp/.X11-unix", 01777) == 0 && chmod("/tmp/.X11-unix", 01777) < 0)
		fail("/tmp/.X11-unix");
	(void)snprintf(name, sizeof(name), "/tmp/.X11-unix/X9%d", (int)getpid());
	serve_unix("x11", SOCK_STREAM, name, true);
	serve_unix("x11", SOCK_STREAM, name, false);
	(void)snprintf(name, sizeof(name), "/tmp/wrapix-escape-%d.sock", (int)getpid());
	serve_unix("sock_tmp", SOCK_STREAM, name, false);
	(void)snprintf(name, sizeof(name), "/tmp/wrapix-escape-%d.datagram", (int)getpid());
	serve_unix("sock_datagram", SOCK_DGRAM, name, false);
	(void)snprintf(name, sizeof(name), "%s/agent.sock", base);
	serve_unix("sock_home", SOCK_STREAM, name, false);
	if (!run)
		return;
	(void)snprintf(name, sizeof(name), "%s/wrapix-escape-%d.sock", run, (int)getpid());
	serve_unix("sock_run", SOCK_STREAM, name, false);
}

static void fill_sysv(void)
{
	struct {
		long type;
		char text[64];
	} message = { .type = 1 };
	key_t number = 0x77780000 + getpid();
	char *at;

	shm_id = shmget(number, 4096, IPC_CREAT | IPC_EXCL | 0600);
	sem_id = semget(number, 1, IPC_CREAT | IPC_EXCL | 0600);
	msg_id = msgget(number, IPC_CREAT | IPC_EXCL | 0600);
	at = shm_id < 0 ? (void *)-1 : shmat(shm_id, NULL, 0);
	if (at == (void *)-1 || sem_id < 0 || msg_id < 0) {
		lack("System V");
		return;
	}
	(void)snprintf(at, 64, "%s", token);
	(void)snprintf(message.text, sizeof(message.text), "%s", token);
	if (msgsnd(msg_id, &message, sizeof(message.text), 0) < 0)
		fail("msgsnd");
	fprintf(facts, "sysv_key=%d\nshm_id=%d\nsem_id=%d\nmsg_id=%d\n", number, shm_id, sem_id,
		msg_id);
}

static void fill_posix(void)
{
	int fd;

	(void)snprintf(queue, sizeof(queue), "/wrapix-escape-%d", (int)getpid());
	(void)snprintf(shm_name, sizeof(shm_name), "%s", queue);
	fd = shm_open(shm_name, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (mq_open(queue, O_RDWR | O_CREAT | O_EXCL, 0600, NULL) < 0 || fd < 0 ||
	    write(fd, token, strlen(token)) < 0) {
		lack("POSIX objects");
		return;
	}
	fprintf(facts, "mq=%s\nshm_name=%s\n", queue, shm_name);
}

/* Readable by everybody with this uid, not only by who holds the keyring. */
static void fill_keyring(void)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "wrapix-escape-%d", (int)getpid());
	key = syscall(SYS_add_key, "user", name, token, strlen(token), KEY_SPEC_USER_KEYRING);
	if (key < 0 || syscall(SYS_keyctl, KEYCTL_SETPERM, key, 0x3f3f0000) < 0) {
		lack("add_key");
		return;
	}
	fprintf(facts, "key=%ld\nkey_name=%s\n", key, name);
}

static void open_secret(void)
{
	struct {
		struct file_handle head;
		unsigned char bytes[MAX_HANDLE_SZ];
	} handle = { .head.handle_bytes = MAX_HANDLE_SZ };
	char path[4096];
	int mount;

	(void)snprintf(path, sizeof(path), "%s/secret/key", base);
	if (open(path, O_RDONLY) < 0 || chdir(base) < 0)
		fail(path);
	fprintf(facts, "secret=%s\n", path);
	if (name_to_handle_at(AT_FDCWD, path, &handle.head, &mount, 0) < 0) {
		lack("name_to_handle_at");
		return;
	}
	fprintf(facts, "handle_type=%d\nhandle=", handle.head.handle_type);
	for (unsigned i = 0; i < handle.head.handle_bytes; i++)
		fprintf(facts, "%02x", handle.bytes[i]);
	fprintf(facts, "\n");
}

static void answer(int fd)
{
	struct timeval patience = { .tv_sec = 5 };
	int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	char byte;

	if (peer < 0)
		return;
	/* Taken first, or the unread byte would reset the connection. */
	(void)setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (recv(peer, &byte, 1, 0) == 1)
		(void)send(peer, token, strlen(token), MSG_NOSIGNAL);
	close(peer);
}

static void answer_datagram(int fd)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	char byte;

	if (recvfrom(fd, &byte, 1, 0, (void *)&from, &len) == 1 && len > sizeof(sa_family_t))
		(void)sendto(fd, token, strlen(token), 0, (void *)&from, len);
}

static void loop(void)
{
	struct pollfd fds[MAX_SERVERS + 1] = { { .fd = STDIN_FILENO, .events = POLLIN } };

	for (size_t i = 0; i < n_servers; i++)
		fds[i + 1] = (struct pollfd){ .fd = servers[i].fd, .events = POLLIN };
	while (!told_to_end) {
		char byte;

		if (poll(fds, n_servers + 1, -1) < 0)
			continue;
		if (fds[0].revents && read(STDIN_FILENO, &byte, 1) <= 0)
			return;
		for (size_t i = 0; i < n_servers; i++) {
			if (!fds[i + 1].revents)
				continue;
			if (servers[i].datagram)
				answer_datagram(servers[i].fd);
			else
				answer(servers[i].fd);
		}
	}
}

static void clean(void)
{
	(void)shmctl(shm_id, IPC_RMID, NULL);
	(void)semctl(sem_id, 0, IPC_RMID);
	(void)msgctl(msg_id, IPC_RMID, NULL);
	if (queue[0])
		(void)mq_unlink(queue);
	if (shm_name[0])
		(void)shm_unlink(shm_name);
	if (key >= 0)
		(void)syscall(SYS_keyctl, KEYCTL_INVALIDATE, key);
	for (size_t i = 0; i < n_paths; i++)
		(void)unlink(paths[i]);
}

static void write_facts(const char *argument)
{
	const char *address = getenv("WX_ADDRESS"), *gateway = getenv("WX_GATEWAY");
	char hostname[256] = "";

	(void)gethostname(hostname, sizeof(hostname) - 1);
	fprintf(facts, "token=%s\nbase=%s\nshown=%s/shown\nargument=%s\nhostname=%s\n", token, base,
		base, argument, hostname);
	fprintf(facts, "pid=%d\naddress=%#lx\nscratch=%#lx\n", (int)getpid(), (unsigned long)memory,
		(unsigned long)scratch);
	if (address)
		fprintf(facts, "address4=%s\n", address);
	if (gateway)
		fprintf(facts, "gateway4=%s\n", gateway);
	/* a port that is free now, for a server inside */
	serve_inet("port_inside", AF_INET, SOCK_STREAM, "127.0.0.1");
	if (n_servers)
		close(servers[--n_servers].fd);
	serve();
	fill_sysv();
	fill_posix();
	fill_keyring();
	open_secret();
}

/* Pids inside begin at 1: the victim's must be one that no process inside has. */
static void take_high_pid(void)
{
	int status;
	pid_t pid;

	while ((pid = fork()) > 0) {
		if (waitpid(pid, &status, 0) < 0)
			fail("waitpid");
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 99)
			exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
	}
	if (pid < 0)
		fail("fork");
	if (getpid() < LOWEST_PID)
		_exit(99);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
}

int be_victim(char **args)
{
	char path[4096];

	token = getenv("WX_SECRET");
	lenient = getenv("WX_LENIENT");
	if (!token || strlen(token) >= sizeof(memory))
		return 2;
	take_high_pid();
	base = args[0];
	(void)snprintf(memory, sizeof(memory), "%s", token);
	(void)snprintf(evidence, sizeof(evidence), "%s/evidence", base);
	(void)snprintf(path, sizeof(path), "%s/facts", args[1]);
	prctl(PR_SET_NAME, "wx-victim");
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	signal(SIGURG, on_urgent);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		signal(ends[i], on_end);
	umask(077);
	facts = fopen(path, "we");
	if (!facts)
		fail(path);
	if (atexit(clean))
		fail("atexit");
	write_facts(args[2]);
	if (fclose(facts) || printf("ready\n") < 0 || fflush(stdout))
		fail("facts");
	loop();
	return 0;
}
