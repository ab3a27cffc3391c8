/* SPDX-License-Identifier: MIT */
/*
 * The process behind a connection.
 *
 * Every network socket of the filtered network is announced to the supervisor by its system call, with
 * the caller's number; so the process that has a given socket is nearly always among the last few
 * callers, and no tree of processes is walked. The socket's inode number decides: it exists once.
 *
 * What an attacker controls: how many descriptors and threads there are, what the arguments say, and
 * that the socket goes to another process. All of it is bounded; an owner that is not found is left
 * out. The number of a process that is gone may be another one's by now, which has another inode.
 */
#include "net/owner.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "net/address.h"
#include "os/dir.h"
#include "os/linux/netlink.h"
#include "os/linux/packets.h"

#define FDS_MAX 512 /* looked at for one socket */
#define NEAR 8
#define FINDS_PER_SECOND 64
#define SECOND 1000000U
/* Microseconds, in which nobody becomes another program. */
#define EXEC 100U
/* ... in which who calls from the same place is the same, */
#define SITE 4000U
/* ... if it is one that the kernel has chosen by chance: a program that wants to lie at a place of its own lies low. */
#define CHANCE (1ULL << 32)

/* One end, from AF_INET or AF_INET6. */
static bool take_end(const struct sockaddr_storage *sa, struct in6_addr *ret, uint16_t *ret_port)
{
	struct address address;

	if (!address_from_sockaddr((const struct sockaddr *)sa, &address, ret_port))
		return false;
	memcpy(ret->s6_addr, address.b, sizeof(address.b));
	return true;
}

bool packet_of_socket(int fd, struct queue_packet *ret)
{
	struct sockaddr_storage peer = { 0 }, own = { 0 };
	socklen_t peer_len = sizeof(peer), own_len = sizeof(own);

	*ret = (struct queue_packet){ .proto = IPPROTO_TCP, .syn = true };
	return getpeername(fd, (struct sockaddr *)&peer, &peer_len) == 0 &&
	       getsockname(fd, (struct sockaddr *)&own, &own_len) == 0 &&
	       take_end(&peer, &ret->src, &ret->sport) && take_end(&own, &ret->dst, &ret->dport);
}

bool packet_of_message(const struct msghdr *message, uint16_t own_port, struct queue_packet *ret)
{
	struct msghdr m = *message; /* the macros take no const one */

	*ret = (struct queue_packet){ .proto = IPPROTO_UDP, .dport = own_port };
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			ret->dst = info.ipi6_addr;
		} else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;
			struct address v4;

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			v4 = address_v4(ntohl(info.ipi_addr.s_addr));
			memcpy(ret->dst.s6_addr, v4.b, sizeof(v4.b));
		}
	}
	return take_end(message->msg_name, &ret->src, &ret->sport);
}

static void recent_release(struct owner_recent *recent)
{
	owner_unref(recent->owner);
	if (recent->cmdline >= 0)
		close(recent->cmdline);
}

void owners_note(struct owners *owners, pid_t thread)
{
	struct owner_recent found = { .thread = thread, .fd = -1, .cmdline = -1 };
	size_t i = 0;

	while (i < owners->n_recent && owners->recent[i].thread != thread)
		i++;
	if (i < owners->n_recent)
		found = owners->recent[i];
	else if (owners->n_recent < ARRAY_LEN(owners->recent))
		owners->n_recent++;
	else
		recent_release(&owners->recent[--i]);
	memmove(&owners->recent[1], &owners->recent[0], i * sizeof(owners->recent[0]));
	owners->recent[0] = found;
}

static void put_address(uint32_t to[4], int family, const struct in6_addr *address)
{
	if (family == AF_INET)
		memcpy(to, &address->s6_addr[12], 4);
	else
		memcpy(to, address->s6_addr, 16);
}

/* The socket's own end is the source. For UDP the kernel wants the two ends the other way round. */
static void fill_request(struct inet_diag_req_v2 *request, const struct queue_packet *packet)
{
	bool swap = packet->proto == IPPROTO_UDP;
	int family = IN6_IS_ADDR_V4MAPPED(&packet->src) ? AF_INET : AF_INET6;
	struct inet_diag_sockid *id = &request->id;

	*request = (struct inet_diag_req_v2){
		.sdiag_family = (uint8_t)family,
		.sdiag_protocol = packet->proto,
		.idiag_states = -1U,
		.id.idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE },
	};
	put_address(swap ? id->idiag_dst : id->idiag_src, family, &packet->src);
	put_address(swap ? id->idiag_src : id->idiag_dst, family, &packet->dst);
	*(swap ? &id->idiag_dport : &id->idiag_sport) = htons(packet->sport);
	*(swap ? &id->idiag_sport : &id->idiag_dport) = htons(packet->dport);
}

/* The inode of the socket inside, 0 when the kernel knows none. It answers within the send. */
static uint32_t find_inode(int diag, const struct queue_packet *packet)
{
	uint8_t buffer[4096] __attribute__((aligned(4)));
	struct nl_out out = NL_OUT(buffer);
	struct inet_diag_req_v2 request;
	struct inet_diag_msg answer;
	struct nl_message message;
	uint32_t inode = 0;
	struct nl_in in;

	fill_request(&request, packet);
	nl_begin(&out, SOCK_DIAG_BY_FAMILY, 0, &request, sizeof(request));
	nl_end(&out);
	if (diag < 0 || nl_send(diag, &out) < 0)
		return 0;
	/* One answer to one question, an error where there is no such socket. */
	if (nl_receive(diag, buffer, sizeof(buffer), &in) == 0)
		while (nl_next_message(&in, &message))
			if (message.type == SOCK_DIAG_BY_FAMILY &&
			    message.body.len >= sizeof(answer)) {
				memcpy(&answer, message.body.data, sizeof(answer));
				inode = answer.idiag_inode;
			}
	return inode;
}

static bool is_socket(int dir, const char *path, const char *wanted)
{
	char target[64];
	ssize_t n = readlinkat(dir, path, target, sizeof(target) - 1);

	if (n <= 0)
		return false;
	target[n] = '\0';
	return !strcmp(target, wanted);
}

/* A descriptor closed and opened again has the same number; one of many has the next. */
static bool is_near(struct owner_recent *recent, const char *wanted)
{
	static const int steps[NEAR] = { 0, 1, -1, 2, 3, 4, 5, 6 };

	for (size_t i = 0; recent->fd >= 0 && i < NEAR; i++) {
		int fd = recent->fd + steps[i];
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)recent->thread, fd);
		if (fd >= 0 && is_socket(AT_FDCWD, path, wanted)) {
			recent->fd = fd;
			return true;
		}
	}
	return false;
}

/* Whether the thread has the socket; takes what it looks at from *budget. */
static bool has_socket(struct owner_recent *recent, const char *wanted, unsigned *budget)
{
	struct dirent *entry;
	bool found = false;
	char path[64];
	_cleanup_dir_ DIR *dir = NULL;

	if (is_near(recent, wanted))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)recent->thread);
	dir = opendir(path);
	if (!dir)
		return false;
	while (!found && *budget && (entry = os_dir_next(dir))) {
		(*budget)--;
		found = is_socket(dirfd(dir), entry->d_name, wanted);
		if (found)
			recent->fd = (int)strtol(entry->d_name, NULL, 10);
	}
	return found;
}

static int open_proc(pid_t thread, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)thread, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static size_t read_proc(pid_t thread, const char *name, char *buffer, size_t size)
{
	_cleanup_close_ int fd = open_proc(thread, name);
	ssize_t n = fd < 0 ? -1 : read(fd, buffer, size - 1);

	n = MAX(n, (ssize_t)0);
	buffer[n] = '\0';
	return (size_t)n;
}

/* The last number in the line "\nNStgid:\t4711\t12": the innermost namespace's. */
static pid_t last_number(const char *status, const char *field)
{
	const char *line = strstr(status, field);
	pid_t pid = 0;

	if (!line)
		return 0;
	line += strlen(field);
	for (char *end; *line && *line != '\n'; line = end) {
		long n = strtol(line, &end, 10);

		if (end == line)
			break;
		pid = (pid_t)n;
	}
	return pid;
}

/* "\nName:" cannot come from a process: the kernel escapes newlines in what it calls itself. */
static void find_parents(struct owner *owner, char *status, size_t size)
{
	pid_t parent = last_number(status, "\nPPid:");

	while (parent > 1 && owner->n_parents < OWNER_PARENTS_MAX &&
	       read_proc(parent, "status", status, size)) {
		pid_t inner = last_number(status, "\nNStgid:");
		size_t n = owner->n_parents;

		if (inner <= 1)
			break;
		owner->parents[n].pid = inner;
		if (sscanf(status, "Name:\t%63[^\n]", owner->parents[n].comm) == 1)
			owner->n_parents++;
		parent = last_number(status, "\nPPid:");
	}
}

/* The arguments that it has now; 0: it is gone. A descriptor that stays open never reads another process's, and takes
 * a microsecond. */
static size_t read_args(struct owner_recent *recent, char args[OWNER_ARGS_MAX])
{
	ssize_t n = 0;

	if (recent->cmdline >= 0)
		n = pread(recent->cmdline, args, OWNER_ARGS_MAX - 1, 0);
	if (n <= 0) {
		if (recent->cmdline >= 0)
			close(recent->cmdline);
		recent->cmdline = open_proc(recent->thread, "cmdline");
		n = recent->cmdline < 0 ? 0 : pread(recent->cmdline, args, OWNER_ARGS_MAX - 1, 0);
		if (n > 0) { /* the number is another's now */
			owner_unref(recent->owner);
			recent->owner = NULL;
		}
	}
	/* A program that wrote a title over its arguments left the rest of their room empty. */
	while (n > 1 && !args[n - 1] && !args[n - 2])
		n--;
	return (size_t)MAX(n, (ssize_t)0);
}

/* The same arguments: the same program as when it was last looked at. One that has just gone is what it was. */
static bool is_known(const struct owner_recent *recent, const char *args, size_t len, uint64_t now)
{
	const struct owner *known = recent->owner;

	if (!known || !len)
		return known && now - recent->looked < SECOND;
	return known->len == len && !memcmp(known->args, args, len);
}

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec / 1000;
}

/* A flood must not make us read all of /proc all the time. */
static bool may_look(struct owners *owners)
{
	time_t now = (time_t)(now_us() / SECOND);

	if (now != owners->second) {
		owners->second = now;
		owners->in_second = 0;
	}
	return owners->in_second++ < FINDS_PER_SECOND;
}

static struct owner *look(pid_t thread, const char *args, size_t len)
{
	struct owner *owner = calloc(1, sizeof(*owner));
	char status[4096];

	if (!owner)
		return NULL;
	owner->refs = 1;
	owner->len = len;
	memcpy(owner->args, args, len);
	read_proc(thread, "status", status, sizeof(status));
	owner->pid = last_number(status, "\nNStgid:");
	read_proc(thread, "comm", owner->comm, sizeof(owner->comm));
	owner->comm[strcspn(owner->comm, "\n")] = '\0';
	find_parents(owner, status, sizeof(status));
	return owner;
}

/* How long after a look who calls from here is what it was then. */
static uint64_t same_for(const struct owner_recent *recent, uint64_t site)
{
	return site >= CHANCE && site == recent->site ? SITE : EXEC;
}

/* NULL where it is not known yet, and too many were asked for; without 'asks' nothing is too many. */
static struct owner *describe(struct owner_recent *recent, uint64_t site, struct owners *asks)
{
	uint64_t now = now_us();
	char args[OWNER_ARGS_MAX];
	struct owner *owner;
	size_t len;

	if (recent->owner && now - recent->looked < same_for(recent, site)) {
		recent->owner->refs++;
		return recent->owner;
	}
	len = read_args(recent, args);
	if (!is_known(recent, args, len, now)) {
		owner = !asks || may_look(asks) ? look(recent->thread, args, len) : NULL;
		if (!owner)
			return NULL;
		owner_unref(recent->owner);
		recent->owner = owner;
	}
	recent->looked = now;
	recent->site = site;
	recent->owner->refs++;
	return recent->owner;
}

struct owner *owners_find(struct owners *owners, int diag, const struct queue_packet *packet)
{
	unsigned budget = FDS_MAX;
	char wanted[32];
	uint32_t inode;

	if (!owners->n_recent || !may_look(owners))
		return NULL;
	inode = find_inode(diag, packet);
	if (!inode)
		return NULL;
	snprintf(wanted, sizeof(wanted), "socket:[%u]", inode);
	for (size_t i = 0; i < owners->n_recent && budget; i++)
		if (has_socket(&owners->recent[i], wanted, &budget))
			return describe(&owners->recent[i], 0, NULL);
	return NULL;
}

struct owner *owners_get(struct owners *owners, pid_t thread, uint64_t site)
{
	owners_note(owners, thread);
	return describe(&owners->recent[0], site, owners);
}

struct owner *owner_of(pid_t pid)
{
	struct owner_recent one = { .thread = pid, .fd = -1, .cmdline = -1 };
	struct owner *owner = describe(&one, 0, NULL);

	recent_release(&one);
	return owner;
}

void owner_unref(struct owner *owner)
{
	if (owner && --owner->refs == 0)
		free(owner);
}

void owners_release(struct owners *owners)
{
	for (size_t i = 0; i < owners->n_recent; i++)
		recent_release(&owners->recent[i]);
	*owners = (struct owners){ 0 };
}
