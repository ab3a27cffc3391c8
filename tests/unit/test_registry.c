/* SPDX-License-Identifier: MIT */
/* Hosts in the answers of package tools, and what cargo's home says. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/tap.h"
#include "os/fs.h"
#include "spec/registry.h"

static char *join(struct arena *arena, const struct strv *list)
{
	char *out = arena_strdup(arena, "");

	for (size_t i = 0; i < list->len; i++)
		out = arena_printf(arena, "%s%s%s", out, i ? " " : "", list->v[i]);
	return out;
}

static void scan(const char *text, bool bare, const char *want)
{
	struct arena arena = { 0 };
	struct strv found = { 0 };
	char *got;

	registry_scan(&arena, text, bare, &found);
	got = join(&arena, &found);
	ok(!strcmp(got, want), "'%.60s' gives '%.80s'", text, got);
	arena_release(&arena);
}

static void test_scan(void)
{
	scan("https://packages.example/\n", false, "packages.example:443");
	scan("http://packages.example/x http://packages.example:8080", false,
	     "packages.example:80 packages.example:8080");
	scan("https://user:secret@packages.example/simple", false, "packages.example:443");
	scan("sparse+https://index.example/", false, "index.example:443");
	scan("https://proxy.example,direct\nsum.example\n", true,
	     "proxy.example:443 sum.example:443");
	scan("sum.example off direct", false, "");
	scan("https://a.example https://a.example/again", false, "a.example:443");
	scan("{\"dl\":\"https://static.example/crates\",\"api\":\"https://api.example\"}", false,
	     "static.example:443 api.example:443");
	scan("https://localhost/ https://*/ https://-a.example https://a..", false, "");
	scan("https://a.example:0/ https://b.example:70000/ https://c.example:x", false, "");
	scan("undefined", true, "");
	/* What no rule of the network may be is none: the sandbox would not start. */
	scan("go1.21.3 a.6 https://b.0x1f/ http://1.2.3/ https://192.0.2.7/", true,
	     "192.0.2.7:443");
	scan("https://a.example: 99 https://b.example:+99 https://c.example:99x", false, "");
}

static void write_file(const char *dir, const char *name, const char *text)
{
	struct err err;
	int fd = open(dir, O_PATH | O_DIRECTORY);

	if (os_write_file_atomic(fd, name, text, strlen(text), 0644, &err) < 0)
		ok(false, "%s", err.msg);
	close(fd);
}

/* What the user has configured; what lies in the downloads is told apart from it. */
static void test_cargo(void)
{
	char home[] = "/tmp/wrapix-registry.XXXXXX";
	struct arena arena = { 0 };
	struct strv found = { 0 }, used = { 0 };
	struct registry_place place = { .home = mkdtemp(home), .cache_home = home, .path = "" };
	char *cargo = arena_printf(&arena, "%s/.cargo", home);
	char *index = arena_printf(&arena, "%s/registry/index/index.example-0123456789abcdef",
				   cargo);
	struct err err;

	unsetenv("CARGO_HOME");
	registry_used(&arena, "cargo", &place, &used);
	ok(!registry_hosts(&arena, "cargo", &place, &found) && !used.len,
	   "an empty home says nothing");
	ok(os_mkdirs(index, 0755, &err) == 0, "cargo, or a sandbox, makes an index");
	write_file(index, "config.json", "{\"dl\":\"https://static.example/crates\"}");
	ok(!registry_hosts(&arena, "cargo", &place, &found), "which lets no host through");
	registry_used(&arena, "cargo", &place, &used);
	is_str(join(&arena, &used), "index.example:443 static.example:443",
	       "both hosts of it are known");
	write_file(cargo, "config.toml",
		   "[registries.own]\nindex = \"sparse+https://crates.example:8443/index/\"\n");
	ok(registry_hosts(&arena, "cargo", &place, &found), "the user has configured one");
	is_str(join(&arena, &found), "crates.example:8443", "that one alone");
	ok(!registry_hosts(&arena, "npm", &place, &found), "no npm on the path, no answer");
	os_remove_tree(AT_FDCWD, home);
	arena_release(&arena);
}

int main(void)
{
	test_scan();
	test_cargo();
	return done();
}
