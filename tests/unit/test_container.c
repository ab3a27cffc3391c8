/* SPDX-License-Identifier: MIT */
/* Apple's container: what can be said in its grammar, and what it answers in both shapes. */
#include <string.h>

#include "lib/tap.h"
#include "os/darwin/container.h"

static char *join(struct arena *arena, const struct strv *list)
{
	char *out = arena_strdup(arena, "");

	for (size_t i = 0; i < list->len; i++)
		out = arena_printf(arena, "%s%s%s", out, i ? " " : "", list->v[i]);
	return out;
}

/* want NULL: it cannot be said. */
static void dir(const char *src, const char *dest, bool ro, const char *want)
{
	struct arena arena = { 0 };
	struct strv words = { 0 };
	struct err err = { 0 };
	int r = container_add_dir(&arena, &words, src, dest, ro, &err);
	char *got = join(&arena, &words);

	if (want)
		ok(r == 0 && !strcmp(got, want), "'%s' on '%s' is %s", src, dest, got);
	else
		ok(r < 0 && !words.len && strstr(err.msg, src), "'%s' on '%s' is refused: %s", src,
		   dest, err.msg);
	arena_release(&arena);
}

static void test_words(void)
{
	struct arena arena = { 0 };
	struct strv words = { 0 };
	struct err err;

	dir("/Users/a/p", "/workspace", false, "--volume /Users/a/p:/workspace");
	dir("/Users/a/p q", "/w", true, "--volume /Users/a/p q:/w:ro");
	dir("/a,b=c", "/w", false, "--volume /a,b=c:/w");
	dir("/a:b", "/w", true, "--mount type=virtiofs,source=/a:b,target=/w,readonly");
	dir("/a", "/w:x", false, "--mount type=virtiofs,source=/a,target=/w:x");
	dir("/a:b,c", "/w", false, NULL);
	dir("/a:b=c", "/w", false, NULL);
	dir("/a:b", "/w=x", false, NULL);
	dir("relative", "/w", false, NULL);
	dir("/a\nb", "/w", false, NULL);
	dir("/a\xff", "/w", false, NULL);
	ok(container_add_socket(&arena, &words, "/r/a,s", "/run/s", &err) == 0 &&
		   !strcmp(join(&arena, &words), "--volume /r/a,s:/run/s"),
	   "a socket");
	ok(container_add_socket(&arena, &words, "/r/a:s", "/run/s", &err) < 0 && words.len == 2,
	   "one with a colon is refused: --mount takes directories alone");
	words = (struct strv){ 0 };
	ok(container_add_port(&arena, &words, 8080, 80, &err) == 0 &&
		   !strcmp(join(&arena, &words), "--publish 127.0.0.1:8080:80/tcp"),
	   "a port is published on the loopback alone");
	ok(container_add_port(&arena, &words, 1, 80, &err) < 0 &&
		   container_add_port(&arena, &words, 80, 70000, &err) < 0,
	   "ports that it does not take are refused");
	words = (struct strv){ 0 };
	container_add_memory(&arena, &words, (1 << 20) + 1);
	container_add_env(&arena, &words, "A", "");
	container_add_image(&arena, &words, "img");
	ok(!strcmp(join(&arena, &words), "--memory 2M --env A= -- img"),
	   "memory, variable, image: %s", join(&arena, &words));
	ok(container_add_label(&arena, &words, "a", "b=c", &err) < 0, "a label's value has no '='");
	arena_release(&arena);
}

static void versions(void)
{
	static const struct {
		const char *text;
		unsigned want;
	} list[] = {
		{ "container CLI version 1.2.0 (build: release, commit: 1234567)\n", 10200 },
		{ "container CLI version 0.8.0", 800 },
		{ "container CLI version 0.12.3-5-gabc (build: debug)", 1203 },
		{ "container CLI version main", 0 },
		{ "docker 1.2.3", 0 },
		{ "", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		ok(container_parse_version(list[i].text) == list[i].want, "'%.40s' is %u",
		   list[i].text, list[i].want);
}

static void one(const char *text, enum container_state state, const char *want, const char *what)
{
	struct arena arena = { 0 };
	struct container_info *list = NULL;
	struct err err = { 0 };
	size_t n = 0;
	int r = container_read_list(&arena, text, strlen(text), &list, &n, &err);
	char *got = r == 0 && n == 1 ? arena_printf(&arena, "%s %s", list[0].id,
						    join(&arena, &list[0].labels))
				     : arena_printf(&arena, "%zu: %s", n, err.msg);

	ok(r == 0 && n == 1 && list[0].state == state && !strcmp(got, want), "%s: %s", what, got);
	arena_release(&arena);
}

static void answers(void)
{
	struct arena arena = { 0 };
	struct container_network net;
	struct container_info *list;
	struct err err;
	size_t n;

	one("[{\"id\":\"a\",\"configuration\":{\"id\":\"a\",\"image\":{\"reference\":\"i:1\"},"
	    "\"labels\":{\"wrapix.session\":\"s\"},\"resources\":{\"cpus\":4}},\"status\":{"
	    "\"state\":"
	    "\"running\",\"networks\":[{\"ipv4Address\":\"192.168.64.3\\/24\"}],"
	    "\"startedDate\":1.5}}]",
	    CONTAINER_RUNNING, "a wrapix.session=s", "the newer shape");
	one("[{\"status\":\"stopped\",\"configuration\":{\"id\":\"b\",\"image\":{\"reference\":"
	    "\"i\"}},"
	    "\"networks\":[{\"address\":\"10.0.0.2/24\",\"gateway\":\"10.0.0.1\"}]}]",
	    CONTAINER_STOPPED, "b ", "the older shape");
	one("[{\"id\":\"c\",\"status\":{\"state\":\"stopping\"}}]", CONTAINER_BETWEEN, "c ",
	    "another state");
	ok(container_read_list(&arena, "[]", 2, &list, &n, &err) == 0 && n == 0, "none");
	ok(container_read_list(&arena, "{}", 2, &list, &n, &err) < 0 &&
		   container_read_list(&arena, "[1]", 3, &list, &n, &err) < 0 &&
		   container_read_list(&arena, "", 0, &list, &n, &err) < 0,
	   "something else is an error");
	static const char newer[] =
		"[{\"id\":\"default\",\"status\":{\"ipv4Subnet\":\"192.168.64.0\\/24\","
		"\"ipv4Gateway\":\"192.168.64.1\"}}]";
	static const char older[] =
		"[{\"id\":\"default\",\"status\":{\"address\":\"192.168.65.0/24\","
		"\"gateway\":\"192.168.65.1\"}}]";
	ok(container_read_network(&arena, newer, strlen(newer), &net, &err) == 0 &&
		   !strcmp(net.subnet, "192.168.64.0/24") && !strcmp(net.gateway, "192.168.64.1"),
	   "a network, the newer shape");
	ok(container_read_network(&arena, older, strlen(older), &net, &err) == 0 &&
		   !strcmp(net.subnet, "192.168.65.0/24") && !strcmp(net.gateway, "192.168.65.1"),
	   "a network, the older shape");
	ok(container_read_network(&arena, "[]", 2, &net, &err) < 0, "no network");
	arena_release(&arena);
}

int main(void)
{
	test_words();
	versions();
	answers();
	return done();
}
