/* SPDX-License-Identifier: MIT */
/* What a program says to the proxy, and what macOS's log says of refusals. */
#include "engine/seatbelt/violations.h"
#include "lib/tap.h"
#include "net/talk.h"
#include "session/denial.h"
#include "spec/file_rules.h"

#define TOKEN "0123456789abcdef"
#define AUTH "Proxy-Authorization: Basic d3JhcGl4OjAxMjM0NTY3ODlhYmNkZWY=\r\n"

static enum talk_step say(struct talk *talk, const char *text, size_t len, struct str *reply)
{
	size_t used;

	*talk = (struct talk){ .token = TOKEN };
	str_release(reply);
	return talk_step(talk, text, len, &used, reply);
}

#define SAY(text) say(&talk, text, sizeof(text) - 1, &reply)

static void test_http(void)
{
	_cleanup_str_ struct str reply = { 0 };
	struct talk talk;

	is_int(SAY("CONNECT a.example:443 HTTP/1.1\r\nHost: b\r\n" AUTH "\r\n"), TALK_DIAL,
	       "CONNECT");
	is_str(talk.host, "a.example", "... its host");
	is_int(talk.port, 443, "... and port");
	is_int(SAY("CONNECT a.example:443 HTTP/1.1\r\n\r\n"), TALK_END, "without the token");
	ok(str_starts(reply.s, "HTTP/1.1 407 "), "... 407");
	is_int(SAY("CONNECT [2001:db8::1]:443 HTTP/1.1\r\n" AUTH "\r\n"), TALK_DIAL, "an address");
	is_str(talk.host, "2001:db8::1", "... without its brackets");
	is_int(SAY("GET http://a.example:8080/x?y HTTP/1.1\r\nHost: evil.example\r\n" AUTH
		   "Accept: */*\r\nConnection: keep-alive\r\n\r\n"),
	       TALK_DIAL, "a request with a whole address");
	is_str(reply.s,
	       "GET /x?y HTTP/1.1\r\nHost: a.example:8080\r\nConnection: close\r\nAccept: "
	       "*/*\r\n\r\n",
	       "... is for the host that is dialled, without what is ours");
	is_int(SAY("GET /x HTTP/1.1\r\n" AUTH "\r\n"), TALK_END, "one for nobody");
	ok(str_starts(reply.s, "HTTP/1.1 400 "), "... 400");
	is_int(SAY("GET https://a.example/ HTTP/1.1\r\n" AUTH "\r\n"), TALK_END, "one by TLS");
	is_int(SAY("CONNECT a.example:0 HTTP/1.1\r\n" AUTH "\r\n"), TALK_END, "port 0");
	is_int(SAY("CONNECT a.example:65536 HTTP/1.1\r\n" AUTH "\r\n"), TALK_END, "port 65536");
	is_int(SAY("CONNECT a.example:443 HTTP/1.1\r\n" AUTH), TALK_MORE, "half of it");
}

static void test_socks(void)
{
	_cleanup_str_ struct str reply = { 0 };
	struct talk talk;
	size_t used;

	is_int(SAY("\x05\x01\x00"), TALK_END, "SOCKS without a method for the token");
	is_int(SAY("\x05\x02\x00\x02"), TALK_ON, "with one");
	str_release(&reply);
	is_int(talk_step(&talk, "\x01\x06wrapix\x10" TOKEN, 25, &used, &reply), TALK_ON,
	       "the token");
	str_release(&reply);
	is_int(talk_step(&talk,
			 "\x05\x01\x00\x03\x09"
			 "a.example\x01\xbb",
			 16, &used, &reply),
	       TALK_DIAL, "a name");
	is_str(talk.host, "a.example", "... which it is");
	is_int(talk.port, 443, "... with its port");
	is_int(talk_step(&talk, "\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50", 10, &used, &reply),
	       TALK_DIAL, "an address");
	is_str(talk.host, "127.0.0.1", "... which it is");
	is_int(talk_step(&talk,
			 "\x05\x01\x00\x03\x0b"
			 "a\0.a.example\x01\xbb",
			 18, &used, &reply),
	       TALK_END, "a name with a NUL in it is none");
	(void)SAY("\x05\x01\x02");
	str_release(&reply);
	is_int(talk_step(&talk,
			 "\x01\x06wrapix\x10"
			 "0123456789abcdeX",
			 25, &used, &reply),
	       TALK_END, "a wrong token");
}

#define LOG "2026-11-15 10:00:00.000 E  kernel[0:1f] (Sandbox) Sandbox: "

static bool parse(const char *text, const struct file_rules *rules, struct denial *ret)
{
	static char line[512];
	pid_t pid;

	snprintf(line, sizeof(line), "%s", text);
	return violation_parse(line, "wrapix-1", rules, ret, &pid) && (pid == 12 || pid == 1);
}

static void test_log(void)
{
	struct file_rules rules;
	struct denial d;
	struct err err;

	file_rules_init(&rules, "/Users/me", "/Users/me/p");
	(void)file_rules_add(&rules,
			     &(struct file_rule_source){ FILE_DENY_READ, "~/.ssh", "/Users/me/.ssh",
							 "filesystem.denyRead[0]", "s.json:3",
							 .literal = true },
			     &err);
	ok(parse(LOG "bash(12) deny(1) file-write-create /Users/me/a b", &rules, &d), "a write");
	is_str(d.what, "write", "... is one");
	is_str(d.path, "/Users/me/a b", "... of a path with a blank");
	is_str(d.reason, "not-allowed", "... that no rule allows");
	ok(parse(LOG "a(b) c(12) deny(1) file-read-data /Users/me/.ssh/id wrapix-1", &rules, &d),
	   "a read, by a program with brackets in its name, with the tag on the same line");
	is_str(d.path, "/Users/me/.ssh/id", "... its path");
	is_str(d.comm, "a(b) c", "... whose name that is");
	is_str(d.key, "filesystem.denyRead[0]", "... and the rule");
	ok(parse(LOG "curl(12) deny(1) network-outbound 192.0.2.1:443", &rules, &d),
	   "a connection");
	is_str(d.address, "192.0.2.1", "... to an address");
	is_int(d.port, 443, "... and a port");
	ok(parse(LOG "x(12) deny(1) network-outbound /private/var/run/docker.sock", &rules, &d),
	   "a socket");
	is_str(d.path, "/private/var/run/docker.sock", "... its path");
	ok(parse(LOG "x(12) deny(1) mach-lookup com.apple.x", &rules, &d), "something else");
	is_str(d.call, "mach-lookup", "... its name");
	ok(!parse(LOG "mDNSResponder(1) deny(1) file-read-data /x", &rules, &d),
	   "the system's own are left out");
	ok(!parse("Filtering the log data using \"x\"", &rules, &d), "a heading is none");
	ok(!parse(LOG "bash(12) allow file-read-data /x", &rules, &d), "nor is what was allowed");
	file_rules_release(&rules);
}

int main(void)
{
	test_http();
	test_socks();
	test_log();
	return done();
}
