/* SPDX-License-Identifier: MIT */
/* Rules and ports of the network, as text becomes fields. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "spec/spec.h"

int spec_add_rule(struct spec *spec, const char *text, bool deny, enum layer layer, struct err *err)
{
	struct rule_spec *rule;

	if (spec->n_rules >= SPEC_MAX_RULES)
		return err_usage(err, "more than %d network rules", SPEC_MAX_RULES);
	rule = arena_grow(&spec->arena, &spec->rules, &spec->n_rules, sizeof(*rule));
	*rule = (struct rule_spec){
		.text = arena_strdup(&spec->arena, text),
		.deny = deny,
		.layer = layer,
	};
	return 0;
}

/* A profile's hosts are what its tools need where the network is filtered; they do not ask for it. */
bool spec_names_hosts(const struct spec *spec)
{
	for (size_t i = 0; i < spec->n_rules; i++)
		if (spec->rules[i].layer > LAYER_PROFILE)
			return true;
	return false;
}

bool spec_is_filtered(const struct spec *spec)
{
	return spec->net == NET_FILTERED || (spec->net == NET_UNSET && spec_names_hosts(spec));
}

static bool parse_port(const char *text, size_t len, uint16_t *ret)
{
	unsigned n = 0;

	if (!len || len > 5 || *text == '0')
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		n = n * 10 + (unsigned)(text[i] - '0');
	}
	*ret = (uint16_t)n;
	return n <= UINT16_MAX;
}

/* The same port of the host's again: the stronger layer says where it leads. */
static int merge_port(struct port_spec *old, const struct port_spec *port, struct err *err)
{
	if (old->layer == port->layer && old->inside != port->inside)
		return err_usage(err, "port %u of %s is named twice", port->host, port->address);
	if (old->layer < port->layer)
		*old = *port;
	return 0;
}

static int add_port(struct spec *spec, const struct port_spec *port, struct err *err)
{
	for (size_t i = 0; i < spec->n_ports; i++)
		if (spec->ports[i].into == port->into && spec->ports[i].host == port->host &&
		    !strcmp(spec->ports[i].address, port->address))
			return merge_port(&spec->ports[i], port, err);
	if (spec->n_ports >= SPEC_MAX_PORTS)
		return err_usage(err, "more than %d ports", SPEC_MAX_PORTS);
	*(struct port_spec *)arena_grow(&spec->arena, &spec->ports, &spec->n_ports,
					sizeof(*port)) = *port;
	return 0;
}

/* "127.0.0.1:" or "[::1]:" before the ports; returns what follows. */
static const char *parse_address(struct spec *spec, const char *text, char **ret)
{
	const char *end = *text == '[' ? strchr(text, ']') : strchr(text, ':');
	char *address;
	uint8_t bytes[16];

	if (*text == '[' && end && end[1] == ':') {
		address = arena_strndup(&spec->arena, text + 1, (size_t)(end - text) - 1);
		end++;
		if (inet_pton(AF_INET6, address, bytes) != 1)
			return NULL;
	} else if (end) {
		address = arena_strndup(&spec->arena, text, (size_t)(end - text));
		if (inet_pton(AF_INET, address, bytes) != 1)
			return strchr(end + 1, ':') ? NULL : text;
	} else {
		return text;
	}
	*ret = address;
	return end + 1;
}

int spec_add_publish(struct spec *spec, const char *text, enum layer layer, struct err *err)
{
	struct port_spec port = { .address = arena_strdup(&spec->arena, "127.0.0.1"),
				  .layer = layer };
	_cleanup_str_ struct str shown = { 0 };
	const char *ports = parse_address(spec, text, &port.address);
	size_t len = ports ? strcspn(ports, ":") : 0;
	const char *inside = ports && ports[len] ? ports + len + 1 : ports;

	if (!strcmp(text, "auto")) {
		spec->publish_auto = true;
		return 0;
	}
	if (strlen(text) > 4 && !strcmp(text + strlen(text) - 4, "/udp"))
		return err_usage(err, "%s: only TCP ports can be published",
				 str_quote(&shown, text));
	if (!ports || !parse_port(ports, len, &port.host) ||
	    !parse_port(inside, strlen(inside), &port.inside)) {
		err_usage(err, "%s: not a port to publish", str_quote(&shown, text));
		return err_hint(err,
				"--publish 3000, --publish 8080:3000, --publish 0.0.0.0:8080:3000 "
				"or --publish auto");
	}
	return add_port(spec, &port, err);
}

int spec_add_host_port(struct spec *spec, const char *text, enum layer layer, struct err *err)
{
	struct port_spec port = { .address = arena_strdup(&spec->arena, "127.0.0.1"),
				  .into = true,
				  .layer = layer };
	_cleanup_str_ struct str shown = { 0 };

	if (!parse_port(text, strlen(text), &port.host))
		return err_usage(err, "%s: not a port between 1 and 65535",
				 str_quote(&shown, text));
	port.inside = port.host;
	return add_port(spec, &port, err);
}
