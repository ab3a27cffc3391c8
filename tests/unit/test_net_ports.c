/* SPDX-License-Identifier: MIT */
/* Ports as text, in several layers, and the host's ports that are tried for one inside. */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/tap.h"
#include "net/autopublish.h"
#include "os/socket.h"
#include "spec/spec.h"

static void test_publish_text(void)
{
	static const struct {
		const char *text, *address; /* NULL: refused */
		unsigned host, inside;
	} cases[] = {
		{ "1", "127.0.0.1", 1, 1 },
		{ "65535", "127.0.0.1", 65535, 65535 },
		{ "8080:3000", "127.0.0.1", 8080, 3000 },
		{ "0.0.0.0:8080:3000", "0.0.0.0", 8080, 3000 },
		{ "192.0.2.1:3000", "192.0.2.1", 3000, 3000 },
		{ "[::1]:8080:3000", "::1", 8080, 3000 },
		{ "[::]:3000", "::", 3000, 3000 },
		{ "[::ffff:127.0.0.1]:1:2", "::ffff:127.0.0.1", 1, 2 },
		{ "" },
		{ "0" },
		{ "00" },
		{ "01" },
		{ "65536" },
		{ "99999" },
		{ "100000" },
		{ "-1" },
		{ "+1" },
		{ " 1" },
		{ "1 " },
		{ "1\n" },
		{ "0x1" },
		{ "1.5" },
		{ "a" },
		{ "AUTO" },
		{ ":" },
		{ "1:" },
		{ ":1" },
		{ "1:0" },
		{ "0:1" },
		{ "1:2:3" },
		{ "1::2" },
		{ "127.0.0.1" },
		{ "127.0.0.1:" },
		{ "127.0.0.1::1" },
		{ "127.0.0.1:1:" },
		{ "127.0.0.1:1:2:3" },
		{ "127.1:1:2" },
		{ "127.0.0.256:1:2" },
		{ "localhost:1:2" },
		{ "::1:1:2" },
		{ "[::1]" },
		{ "[::1]:" },
		{ "[::1]1:2" },
		{ "[::1:1:2" },
		{ "[]:1:2" },
		{ "[127.0.0.1]:1:2" },
		{ "[::1%lo]:1:2" },
		{ "[::1]:1:2:3" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct spec spec;
		struct err err;
		int r;

		spec_init(&spec);
		r = spec_add_publish(&spec, cases[i].text, LAYER_FLAG, &err);
		if (!cases[i].address)
			ok(r == -EINVAL && !spec.n_ports, "'%s' is no port", cases[i].text);
		else
			ok(r == 0 && spec.n_ports == 1 &&
				   !strcmp(spec.ports[0].address, cases[i].address) &&
				   spec.ports[0].host == cases[i].host &&
				   spec.ports[0].inside == cases[i].inside && !spec.ports[0].into,
			   "'%s'", cases[i].text);
		spec_release(&spec);
	}
}

static void test_host_port_text(void)
{
	static const char *const wrong[] = { "", "0", "65536", "1:2", "auto", "a", "127.0.0.1:1" };
	struct spec spec;
	struct err err;

	spec_init(&spec);
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		ok(spec_add_host_port(&spec, wrong[i], LAYER_FLAG, &err) == -EINVAL &&
			   !spec.n_ports,
		   "'%s' is no port of the host's", wrong[i]);
	ok(spec_add_host_port(&spec, "5432", LAYER_FLAG, &err) == 0 && spec.n_ports == 1 &&
		   spec.ports[0].into && spec.ports[0].host == 5432 && spec.ports[0].inside == 5432,
	   "one is");
	ok(spec_add_publish(&spec, "auto", LAYER_FLAG, &err) == 0 && spec.publish_auto &&
		   spec.n_ports == 1,
	   "auto is no port of its own");
	spec_release(&spec);
}

static void test_layers(void)
{
	struct spec spec;
	struct err err;
	char text[8];
	int r = 0;

	spec_init(&spec);
	ok(spec_add_publish(&spec, "1:2", LAYER_FLAG, &err) == 0 &&
		   spec_add_publish(&spec, "1:2", LAYER_FLAG, &err) == 0 && spec.n_ports == 1,
	   "the same twice is the same");
	ok(spec_add_publish(&spec, "1:3", LAYER_FLAG, &err) == -EINVAL, "two ways for one port");
	ok(spec_add_publish(&spec, "1:3", LAYER_USER, &err) == 0 && spec.ports[0].inside == 2,
	   "a weaker layer does not change it");
	ok(spec_add_publish(&spec, "4:5", LAYER_USER, &err) == 0 &&
		   spec_add_publish(&spec, "4:6", LAYER_PROJECT, &err) == 0 && spec.n_ports == 2 &&
		   spec.ports[1].inside == 6,
	   "a stronger one does");
	ok(spec_add_publish(&spec, "[::1]:1:9", LAYER_FLAG, &err) == 0 && spec.n_ports == 3,
	   "another address is another port");
	ok(spec_add_host_port(&spec, "1", LAYER_FLAG, &err) == 0 && spec.n_ports == 4,
	   "and so is the other direction");
	for (unsigned port = 1000; r == 0 && port < 1000 + SPEC_MAX_PORTS - 4; port++) {
		snprintf(text, sizeof(text), "%u", port);
		r = spec_add_publish(&spec, text, LAYER_FLAG, &err);
	}
	ok(r == 0 && spec.n_ports == SPEC_MAX_PORTS, "as many as may be");
	ok(spec_add_publish(&spec, "9", LAYER_FLAG, &err) == -EINVAL, "and no more");
	ok(spec_add_publish(&spec, "1000", LAYER_FLAG, &err) == 0, "but for one that is there");
	spec_release(&spec);
}

static void test_candidates(void)
{
	static const uint16_t ports[] = { 1, 80, 443, 1023, 1024, 3000, 65530, 65535 };

	for (size_t i = 0; i < ARRAY_LEN(ports); i++) {
		bool good = auto_publish_candidate(ports[i], 0) == ports[i];
		unsigned n = 1;

		for (int p; (p = auto_publish_candidate(ports[i], n)) > 0; n++)
			good = good && p >= 1024 && p <= UINT16_MAX;
		ok(good && n > 2 && n < 20 && auto_publish_candidate(ports[i], n) == 0 &&
			   auto_publish_candidate(ports[i], n + 1) < 0,
		   "for %u: itself, then ones that anybody may take, then the kernel's choice",
		   ports[i]);
	}
	ok(auto_publish_candidate(80, 1) == 8080, "8080 for 80");
	ok(auto_publish_candidate(443, 1) == 8443, "8443 for 443");
	ok(auto_publish_candidate(3000, 1) == 3001, "3001 for 3000");
}

/* As one does by chance that dials a port of the range in which the kernel finds own ones. */
static void test_own_port(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr *address = (struct sockaddr *)&at;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(at);

	ok(bind(fd, address, len) == 0 && getsockname(fd, address, &len) == 0 &&
		   connect(fd, address, len) == 0,
	   "a socket is connected to itself");
	is_int(os_connect_result(fd), ECONNREFUSED, "... which is nobody's answer");
	close(fd);
}

int main(void)
{
	test_own_port();
	test_publish_text();
	test_host_port_text();
	test_layers();
	test_candidates();
	return done();
}
