/* SPDX-License-Identifier: MIT */
/* The company's proxy: URLs, exemptions, the request, and replies in pieces. */
#include "net/proxy.h"

#include <string.h>

#include "lib/tap.h"

static void test_urls(void)
{
	static const struct {
		const char *url, *host;
		unsigned port;
		const char *credentials;
	} good[] = {
		{ "http://proxy.example:8080", "proxy.example", 8080, "" },
		{ "http://Proxy.Example", "proxy.example", 3128, "" },
		{ "proxy.example:81/", "proxy.example", 81, "" },
		{ "http://10.1.2.3:8080/path", "10.1.2.3", 8080, "" },
		{ "http://[fd00::1]:3128", "fd00::1", 3128, "" },
		{ "http://me:p%40ss@proxy.example:1", "proxy.example", 1, "bWU6cEBzcw==" },
		{ "http://a:b@c@proxy.example:1", "proxy.example", 1, "YTpiQGM=" },
	};
	static const char *const bad[] = {
		"",
		"https://proxy.example",
		"socks5://proxy.example",
		"http://",
		"http://:80",
		"http://proxy.example:0",
		"http://proxy.example:65536",
		"http://proxy.example:8x",
		"http://[fd00::1",
		"http://pro xy",
		"http://a%0d%0aX:b@proxy.example",
	};
	struct proxy proxy;
	struct err err;

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		ok(proxy_parse(good[i].url, NULL, &proxy, &err) == 0, "read: %s", good[i].url);
		is_str(proxy.host, good[i].host, "its host");
		is_int(proxy.port, good[i].port, "its port");
		is_str(proxy.credentials, good[i].credentials, "its credentials");
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ok(proxy_parse(bad[i], NULL, &proxy, &err) < 0, "refused: %s", bad[i]);
	proxy_parse("http://me:secret@pro xy", NULL, &proxy, &err);
	ok(!strstr(err.msg, "secret") && !strstr(err.hint, "secret"),
	   "a password is not in the message");
}

static void test_exemptions(void)
{
	static const struct {
		const char *list, *name;
		bool served;
	} cases[] = {
		{ "", "a.example", true },
		{ "a.example", "a.example", false },
		{ "a.example", "b.a.example", false },
		{ ".a.example", "b.a.example", false },
		{ "a.example", "xa.example", true },
		{ "other, A.Example:443", "a.example", false },
		{ "other a.example", "a.example", false },
		{ "other:80\t.a.example", "b.a.example", false },
		{ "*", "a.example", false },
		{ "localhost,127.0.0.1", "a.example", true },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct proxy proxy;
		struct err err;

		proxy_parse("http://p.example:1", cases[i].list, &proxy, &err);
		is_int(proxy_serves(&proxy, cases[i].name), cases[i].served, "'%s' for %s",
		       cases[i].list, cases[i].name);
	}
}

/* What does not fit is not cut off in the middle of a name. */
static void test_long_list(void)
{
	char list[sizeof(((struct proxy *)0)->exempt) + 1] = "";
	struct proxy proxy;
	struct err err;

	memset(list, 'x', sizeof(list) - 1);
	ok(proxy_parse("http://p.example:1", list, &proxy, &err) < 0 && strstr(err.msg, "NO_PROXY"),
	   "a list that is too long is refused: %s", err.msg);
	list[sizeof(list) - 2] = '\0';
	ok(proxy_parse("http://p.example:1", list, &proxy, &err) == 0, "one that just fits is not");
}

static void test_request(void)
{
	char buf[PROXY_REQUEST_MAX], name[NAME_SIZE];
	struct proxy proxy;
	struct err err;
	size_t len;

	proxy_parse("http://u:p@p.example:1", NULL, &proxy, &err);
	len = proxy_request(&proxy, "host.example", 443, buf);
	is_str(buf,
	       "CONNECT host.example:443 HTTP/1.1\r\nHost: host.example:443\r\n"
	       "Proxy-Authorization: Basic dTpw\r\n\r\n",
	       "the request");
	is_int((long long)len, (long long)strlen(buf), "its length");
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memset(proxy.credentials, 'x', sizeof(proxy.credentials) - 1);
	ok(proxy_request(&proxy, name, 65535, buf) < sizeof(buf), "the longest one fits");
}

static void test_replies(void)
{
	static const struct {
		const char *text;
		enum proxy_reply want;
		size_t used;
	} cases[] = {
		{ "", PROXY_MORE, 0 },
		{ "HTTP/1.1 200 OK\r\n", PROXY_MORE, 0 },
		{ "HTTP/1.1 200 OK\r\n\r\n", PROXY_OPEN, 19 },
		{ "HTTP/1.0 200\r\nA: b\r\n\r\nbytes", PROXY_OPEN, 22 },
		{ "HTTP/1.1 407 Auth\r\n\r\n", PROXY_REFUSED, 21 },
		{ "HTTP/1.1 2", PROXY_MORE, 0 },
		{ "220 ftp\r\n\r\n", PROXY_REFUSED, 11 },
		{ "\r\n\r\n", PROXY_REFUSED, 4 },
	};
	static char endless[PROXY_REPLY_MAX];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		size_t used = 0;

		is_int(proxy_reply(cases[i].text, strlen(cases[i].text), &used), cases[i].want,
		       "reply %zu", i);
		is_int((long long)used, (long long)cases[i].used, "and what it takes");
	}
	memset(endless, 'a', sizeof(endless));
	is_int(proxy_reply(endless, sizeof(endless), &(size_t){ 0 }), PROXY_REFUSED,
	       "an endless head is refused");
}

int main(void)
{
	test_urls();
	test_exemptions();
	test_long_list();
	test_request();
	test_replies();
	return done();
}
