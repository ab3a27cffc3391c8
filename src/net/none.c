/* SPDX-License-Identifier: MIT */
/*
 * A build for macOS: what stands in network namespaces. There the filtered network is the proxy of net/front.h, and
 * ports are container's to publish: who asks for one of these all the same is refused.
 */
#include <errno.h>
#include <libproc.h>
#include <stdlib.h>

#include "net/autopublish.h"
#include "net/dnsserve.h"
#include "net/nft.h"
#include "net/nsconf.h"
#include "net/owner.h"
#include "net/queue.h"

static int lacking(struct err *err)
{
	return err_set(err, ENOTSUP, "a network namespace needs Linux");
}

int nsconf_open(_unused_ int netns, _unused_ struct ns_sockets *ret, struct err *err)
{
	return lacking(err);
}

void nsconf_close(_unused_ struct ns_sockets *sockets)
{
}

int nsconf_refill(_unused_ int netns, _unused_ int *ret_fds, _unused_ size_t n, _unused_ int family,
		  struct err *err)
{
	return lacking(err);
}

int nsconf_diag(_unused_ int netns, _unused_ int *ret_fd, struct err *err)
{
	return lacking(err);
}

int nsconf_listen(_unused_ int netns, _unused_ int family, _unused_ uint16_t port,
		  _unused_ int *ret_fd, struct err *err)
{
	return lacking(err);
}

int nsconf_routes(_unused_ const struct ns_sockets *sockets, _unused_ bool *ret_ipv6,
		  struct err *err)
{
	return lacking(err);
}

int nft_apply(_unused_ const struct ns_sockets *sockets, _unused_ const struct nft_options *options,
	      _unused_ enum net_tier *ret, struct err *err)
{
	return lacking(err);
}

int queue_receive(_unused_ int fd, _unused_ struct queue_packet *ret)
{
	return -ENOTSUP;
}

int queue_verdict(_unused_ int fd, _unused_ uint32_t id, _unused_ enum queue_verdict verdict)
{
	return -ENOTSUP;
}

int log_receive(_unused_ int fd, _unused_ struct queue_packet *ret)
{
	return -ENOTSUP;
}

int dns_server_start(_unused_ struct dns_server *server, _unused_ struct loop *loop,
		     _unused_ const struct dns *dns, _unused_ int udp, _unused_ int tcp,
		     _unused_ dns_report_fn *report, _unused_ void *ctx, struct err *err)
{
	return lacking(err);
}

void dns_server_stop(_unused_ struct dns_server *server)
{
}

int auto_publish_start(struct auto_publish **ret, _unused_ struct ports *ports, struct err *err)
{
	*ret = NULL;
	return lacking(err);
}

void auto_publish_stop(_unused_ struct auto_publish **publisher)
{
}

/* --- who it was: a process of this Mac by its number; a connection comes from a virtual machine --- */

struct owner *owner_of(pid_t pid)
{
	struct owner *owner = calloc(1, sizeof(*owner));

	if (!owner)
		return NULL;
	owner->refs = 1;
	owner->pid = pid;
	if (proc_name(pid, owner->comm, sizeof(owner->comm)) <= 0)
		owner->comm[0] = '\0';
	return owner;
}

struct owner *owners_get(_unused_ struct owners *owners, pid_t thread, _unused_ uint64_t site)
{
	return owner_of(thread);
}

struct owner *owners_find(_unused_ struct owners *owners, _unused_ int diag,
			  _unused_ const struct queue_packet *packet)
{
	return NULL;
}

bool packet_of_socket(_unused_ int fd, _unused_ struct queue_packet *ret)
{
	return false;
}

void owner_unref(struct owner *owner)
{
	if (owner && --owner->refs == 0)
		free(owner);
}

void owners_release(_unused_ struct owners *owners)
{
}
