/* SPDX-License-Identifier: MIT */
/* The builder's settings, and the texts that ssh and Nix read. */
#include <errno.h>
#include <string.h>

#include "builder/builder.h"
#include "lib/tap.h"

#define KEY "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

static struct builder fresh(void)
{
	struct builder b = { .settings = { .engine = ENGINE_AUTO, .port = 2222, .net = NET_OPEN } };

	b.config = b.keys = arena_strdup(&b.arena, "/keys");
	return b;
}

static void test_settings(void)
{
	static const struct {
		const char *key, *value;
		bool good;
	} rows[] = {
		{ "port", "2222", true },     { "port", "1023", false },
		{ "port", "65536", false },   { "port", "22x", false },
		{ "port", "-1", false },      { "port", "", false },
		{ "port", "+2222", false },   { "port", " 2222", false },
		{ "cores", "0", true },       { "cores", "64", true },
		{ "cores", "1.5", false },    { "cores", "99999", false },
		{ "memory", "4G", true },     { "memory", "0", true },
		{ "memory", "lots", false },  { "idle", "30m", true },
		{ "idle", "never", true },    { "idle", "2h", true },
		{ "idle", "90", true },       { "idle", "m", false },
		{ "idle", "1w", false },      { "idle", "-1m", false },
		{ "network", "open", true },  { "network", "none", true },
		{ "network", "host", false }, { "network", "filtered", false },
		{ "engine", "native", true }, { "engine", "docker", false },
		{ "engine", "", false },      { "image", "mine", true },
		{ "image", "none", true },    { "image", "-x", false },
		{ "image", "a b", false },    { "image", "a\nb", false },
		{ "other", "1", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct builder b = fresh();
		struct err err = { 0 };
		int r = builder_set(&b, rows[i].key, rows[i].value, &err);

		is_int(r == 0, rows[i].good, "%s=%s", rows[i].key, rows[i].value);
		if (r < 0)
			ok(err.exit == EXIT_USAGE && strstr(err.msg, rows[i].key) == err.msg,
			   "... is the user's mistake, and named");
		builder_close(&b);
	}
}

static void test_round(void)
{
	struct builder a = fresh(), b = fresh();
	_cleanup_str_ struct str first = { 0 }, second = { 0 };
	struct err err = { 0 };

	builder_set(&a, "port", "3000", &err);
	builder_set(&a, "memory", "4G", &err);
	builder_set(&a, "idle", "2h", &err);
	builder_set(&a, "image", "mine", &err);
	builder_set(&a, "network", "none", &err);
	str_add(&first, "{");
	builder_add_settings(&first, &a.settings);
	str_add(&first, "}");
	is_int(builder_parse_settings(&b, first.s, first.len, &err), 0, "what is written is read");
	str_add(&second, "{");
	builder_add_settings(&second, &b.settings);
	str_add(&second, "}");
	is_str(second.s, first.s, "... as it was");
	is_int((long)b.settings.idle, 7200, "a time is in seconds");
	is_int(builder_parse_settings(&b, "[]", 2, &err), -EINVAL, "a list is no settings");
	is_int(builder_parse_settings(&b, "{\"port\": 1}", 11, &err), -EINVAL, "a number no text");
	is_int(builder_parse_settings(&b, "{\"prot\": \"1\"}", 13, &err), -EINVAL,
	       "an unknown key");
	builder_close(&a);
	builder_close(&b);
}

static void test_texts(void)
{
	struct builder b = fresh();
	struct arena *a = &b.arena;
	char *text = builder_ssh_config(a, &b.settings, "/a \"b\" 100%/key", "/k");

	ok(strstr(text, "\tIdentityFile \"/a \\\"b\\\" 100%%/key\"\n"),
	   "a path is one word to ssh");
	ok(strstr(text, "\tStrictHostKeyChecking yes\n"), "no host key is taken on trust");
	ok(strstr(text, "Host wrapix-builder localhost:2222\n"), "by both names");
	is_str(builder_known_hosts(a, &b.settings, KEY),
	       "wrapix-builder,[localhost]:2222,[127.0.0.1]:2222 " KEY "\n", "the known host");
	text = builder_machine(a, &b, "/etc/nix/key", KEY);
	ok(str_starts(text, "ssh-ng://builder@wrapix-builder ") && !strchr(text, '\n'),
	   "a machine");
	text = builder_snippet(a, &b, SNIPPET_NIXOS, "/a ${b} \"c\" \\", KEY);
	ok(strstr(text, "sshKey = \"/a \\${b} \\\"c\\\" \\\\\";"), "a string of Nix's");
	text = builder_sshd_config(a, "127.0.0.1");
	ok(strstr(text, "ListenAddress 127.0.0.1:22\n"), "sshd listens where it is told");
	for (const char *const *line =
		     (const char *const[]){ "PasswordAuthentication no", "PermitRootLogin no",
					    "DisableForwarding yes",
					    "AuthenticationMethods publickey", "AllowUsers builder",
					    NULL };
	     *line; line++)
		ok(strstr(text, *line), "sshd: %s", *line);
	ok(strstr(builder_nix_conf(a, &b, ENGINE_NATIVE), "build-users-group = nixbld\n"),
	   "builds have users of their own");
	ok(strstr(builder_nix_conf(a, &b, ENGINE_APPLE), "build-users-group = \n"),
	   "... but in a virtual machine");
	b.settings.net = NET_NONE;
	ok(strstr(builder_nix_conf(a, &b, ENGINE_NATIVE), "substituters =\n"),
	   "without a network nothing is downloaded");
	builder_close(&b);
}

int main(void)
{
	test_settings();
	test_round();
	test_texts();
	return done();
}
