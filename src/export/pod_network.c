/* SPDX-License-Identifier: MIT */
/*
 * Who a pod may talk to. A NetworkPolicy knows addresses only: the open network is everything but what is
 * private, the filtered one what is named by address. Hosts by name are Cilium's (kube.c).
 */
#include <string.h>

#include "export/pod.h"
#include "net/policy.h"

static void put_port(struct json_object *rule, const char *protocol, unsigned port)
{
	struct json_object *ports, *entry;

	if (!json_object_object_get_ex(rule, "ports", &ports))
		ports = json_put_list(rule, "ports");
	entry = json_push_map(ports);
	json_put_text(entry, "protocol", protocol);
	json_put(entry, "port", json_object_new_int((int)port));
}

struct json_object *pod_ingress(const struct task *task)
{
	struct json_object *rules = json_object_new_array(), *rule = NULL;

	for (size_t i = 0; i < task->spec->n_ports; i++) {
		if (task->spec->ports[i].into)
			continue;
		if (!rule)
			rule = json_push_map(rules);
		put_port(rule, "TCP", task->spec->ports[i].inside);
	}
	return rules;
}

/* The cluster's own resolver, wherever it is. */
static void put_dns(struct json_object *rules)
{
	struct json_object *rule = json_push_map(rules);
	struct json_object *to = json_push_map(json_put_list(rule, "to"));

	json_put_map(to, "namespaceSelector");
	json_put_text(json_put_map(json_put_map(to, "podSelector"), "matchLabels"), "k8s-app",
		      "kube-dns");
	put_port(rule, "UDP", 53);
	put_port(rule, "TCP", 53);
}

static void put_block(struct json_object *rules, const char *cidr, const char *const *except,
		      uint16_t port)
{
	struct json_object *rule = json_push_map(rules);
	struct json_object *block = json_put_map(json_push_map(json_put_list(rule, "to")),
						 "ipBlock");
	struct json_object *list = NULL;

	json_put_text(block, "cidr", cidr);
	for (; except && *except; except++) {
		if (!list)
			list = json_put_list(block, "except");
		json_push_text(list, *except);
	}
	if (port)
		put_port(rule, "TCP", port);
}

static void put_range(struct json_object *rules, const struct rule *rule)
{
	_cleanup_str_ struct str cidr = { 0 };
	char text[RANGE_TEXT];

	str_add(&cidr, range_print(&rule->range, text));
	if (!strchr(text, '/'))
		str_add(&cidr, strchr(text, ':') ? "/128" : "/32");
	put_block(rules, cidr.s, NULL, rule->port);
}

/* What the native engine's open network does not reach, and the cluster's own addresses. */
static const char *const private4[] = { "0.0.0.0/8",      "10.0.0.0/8",     "100.64.0.0/10",
					"127.0.0.0/8",    "169.254.0.0/16", "172.16.0.0/12",
					"192.168.0.0/16", "224.0.0.0/3",    NULL };
static const char *const private6[] = { "::/127",    "64:ff9b:1::/48", "fc00::/7",
					"fe80::/10", "ff00::/8",       NULL };

struct json_object *pod_egress(const struct task *task)
{
	struct json_object *rules = json_object_new_array();

	if (task->spec->net == NET_NONE)
		return rules;
	put_dns(rules);
	if (!task->filtered) {
		put_block(rules, "0.0.0.0/0", private4, 0);
		put_block(rules, "::/0", private6, 0);
	}
	for (size_t i = 0; i < task->n_allow; i++)
		if (task->allow[i].kind == RULE_RANGE)
			put_range(rules, &task->allow[i]);
	return rules;
}
