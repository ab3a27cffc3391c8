/* SPDX-License-Identifier: MIT */
/*
 * Keys: base64, SSH's wire format, pinned hosts, private key files, remotes, and what the ssh-agent
 * signs. The keys are made for this test and stand in nobody's account.
 */
#include <errno.h>
#include <string.h>

#include "base/base64.h"
#include "keys/forge.h"
#include "keys/pins.h"
#include "keys/privkey.h"
#include "keys/protocol.h"
#include "lib/tap.h"
#include "spec/deploykey.h"

static const char private_key[] =
	"-----BEGIN OPENSSH PRIVATE KEY-----\n"
	"b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n"
	"QyNTUxOQAAACCjkAKJx4zQvTYpC9i6Adhs8jhfX2kcJl0CSJSWF2ViPQAAAJC0ZgB4tGYA\n"
	"eAAAAAtzc2gtZWQyNTUxOQAAACCjkAKJx4zQvTYpC9i6Adhs8jhfX2kcJl0CSJSWF2ViPQ\n"
	"AAAEDSmTRzuKT++ucRww6hKC3sz6JLoEGyFqPb83KfraTDWqOQAonHjNC9NikL2LoB2Gzy\n"
	"OF9faRwmXQJIlJYXZWI9AAAACHRlc3Qta2V5AQIDBAU=\n"
	"-----END OPENSSH PRIVATE KEY-----\n";
static const char with_passphrase[] =
	"-----BEGIN OPENSSH PRIVATE KEY-----\n"
	"b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0AAAAGAAAABAmIy0HX3\n"
	"LdLM4gJ3Rd0WnPAAAAEAAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5AAAAIGlAEjxjeN3Dom6U\n"
	"2sBJwWnvvW5xKdE5FBO6UY/7Wh5fAAAAkEeVGixet/aN54g8wNGYa4rX7KB0FhdfRJYAQx\n"
	"g+JjJYUAePpgFIRMfded5TkhBC+CL0UBhfMsfopG076YgWHIelDws2QFQ4GcNAE0G+jGcH\n"
	"2xkhR41//WlJComc8HVG4vPtBNXo2L6u3pOXzWhrmWU44lpXhYCOsboG/QtCiOgrN8hM2i\n"
	"/FTLcThMRT43kXzA==\n"
	"-----END OPENSSH PRIVATE KEY-----\n";
static const char ecdsa_key[] =
	"-----BEGIN OPENSSH PRIVATE KEY-----\n"
	"b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAaAAAABNlY2RzYS\n"
	"1zaGEyLW5pc3RwMjU2AAAACG5pc3RwMjU2AAAAQQSzHlBXnUJgfxYAe6U1dGIHs1zcF9Q6\n"
	"MpsJe3gUY3PPSCcjpRzgrj7ApFHzxijHSoQxN0q3gD/uWxSZOZx6QLp8AAAAoO2jKxXtoy\n"
	"sVAAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBLMeUFedQmB/FgB7\n"
	"pTV0YgezXNwX1Doymwl7eBRjc89IJyOlHOCuPsCkUfPGKMdKhDE3SreAP+5bFJk5nHpAun\n"
	"wAAAAhAMsPf+30X1S4iYRHV19tNlFYjQ+hQvaHEaKVZ/Z0F6gPAAAAAXgBAgMEBQY=\n"
	"-----END OPENSSH PRIVATE KEY-----\n";
static const char public_line[] =
	"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKOQAonHjNC9NikL2LoB2GzyOF9faRwmXQJIlJYXZWI9";
static const char public_print[] = "SHA256:W97jcfVrrkjhRbj/YaQo+onb9RZUDNKnqrnKuOw8VwU";

static void test_base64(void)
{
	static const struct {
		const char *text, *bytes;
	} good[] = {
		{ "", "" },
		{ "Zg==", "f" },
		{ "Zm8=", "fo" },
		{ "Zm9v", "foo" },
		{ "Zm9vYg==", "foob" },
		{ "Zm9vYmE=", "fooba" },
		{ "+/+/", "\xfb\xff\xbf" },
	};
	static const char *const bad[] = { "Z",        "Zg",    "Zg=",  "=",    "====",
					   "Zg==Zg==", "Zh==",  "Zm9=", "Z g=", "Zm9v\n",
					   "Zm-_",     "Zm9v=", "Z===", "Zg=a" };
	char buf[64];

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		_cleanup_str_ struct str out = { 0 };
		ssize_t n = base64_decode(good[i].text, strlen(good[i].text), buf, sizeof(buf));

		ok(n == (ssize_t)strlen(good[i].bytes) && !memcmp(buf, good[i].bytes, (size_t)n),
		   "reads '%s'", good[i].text);
		base64_add(&out, good[i].bytes, strlen(good[i].bytes));
		is_str(out.s ? out.s : "", good[i].text, "writes it");
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ok(base64_decode(bad[i], strlen(bad[i]), buf, sizeof(buf)) < 0, "refuses '%s'",
		   bad[i]);
	ok(base64_decode("Zm9v", 4, buf, 2) < 0, "not more than there is room");
}

static void test_wire(void)
{
	uint8_t buf[16];
	struct wire_out out = { .p = buf, .size = sizeof(buf) };
	struct blob in, s;
	uint32_t n;
	uint8_t b;

	wire_put_string(&out, "abc", 3);
	wire_put_u32(&out, 0x01020304);
	wire_put_byte(&out, 9);
	in = (struct blob){ buf, out.len };
	ok(wire_string(&in, &s) && blob_is(s, "abc") && wire_u32(&in, &n) && n == 0x01020304 &&
		   wire_byte(&in, &b) && b == 9 && !in.len,
	   "what is written is read");
	ok(!wire_byte(&in, &b) && !wire_u32(&in, &n) && !wire_string(&in, &s), "and then no more");
	wire_put_string(&out, "too long", 8);
	ok(out.overflow && out.len <= sizeof(buf), "what does not fit is marked");
	in = (struct blob){ (const uint8_t *)"\xff\xff\xff\xffxx", 6 };
	ok(!wire_string(&in, &s) && in.len == 6, "a length that lies takes nothing");
}

static void check_builtin(const struct pins *pins, const char *host, const char *print)
{
	bool found = false;

	for (size_t i = 0; i < pins->n; i++) {
		_cleanup_str_ struct str out = { 0 };

		fingerprint_add(&out, pins->v[i].key);
		found |= !strcmp(pins->v[i].host, host) && !strcmp(out.s, print);
	}
	ok(found, "%s has the key %s", host, print);
}

static void test_pins(void)
{
	static const char *const bad[] = { "host", "host ssh-ed25519", "host ssh-ed25519 AAAA",
					   "@cert-authority * ssh-ed25519 AAAA", "a b c d" };
	struct pins pins = { .v = NULL };
	struct arena a = { 0 };
	struct blob key;
	struct err err;

	ok(pins_add(&pins, known_hosts_builtin(), "f", &err) == 0, "the built-in hosts");
	is_int((int)pins.n, 9, "are three with three keys each");
	check_builtin(&pins, "github.com", "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU");
	check_builtin(&pins, "github.com", "SHA256:p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM");
	check_builtin(&pins, "github.com", "SHA256:uNiVztksCsDhcc0u9e8BujQXVUpKZIDTMczCvj3tD2s");
	check_builtin(&pins, "gitlab.com", "SHA256:eUXGGm1YGsMAS7vkcx6JOJdOGHPem5gQp4taiCfCLB8");
	check_builtin(&pins, "gitlab.com", "SHA256:HbW3g8zUjNSksFbqTiUWPWg2Bq1x8xdGUrliXFzSnUw");
	check_builtin(&pins, "gitlab.com", "SHA256:ROQFvPThGrW4RuWLoL9tq9I9zJ42fK4XywyRtbOz/EQ");
	check_builtin(&pins, "codeberg.org", "SHA256:mIlxA9k46MmM6qdJOdMnAQpzGxF4WIVVL+fj+wZbw0g");
	check_builtin(&pins, "codeberg.org", "SHA256:T9FYDEHELhVkulEKKwge5aVhVTbqCW0MIRwAfpARs/E");
	check_builtin(&pins, "codeberg.org", "SHA256:6QQmYi4ppFS4/+zSZ5S4IU+4sa6rwvQ4PbhCtPEBekQ");
	ok(public_key_parse(&a, public_line, NULL, &key) && !pins_find(&pins, key),
	   "another key is not pinned");
	ok(pins_add(&pins, arena_printf(&a, "# x\n\n\t[h]:22 %s comment\r\n", public_line), "f",
		    &err) == 0,
	   "a line of one's own, among comments");
	is_str(pins_find(&pins, key) ? pins_find(&pins, key)->host : NULL, "[h]:22", "is found");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		ok(pins_add(&pins, arena_printf(&a, "#\n%s\n", bad[i]), "f", &err) < 0,
		   "refused: %s", bad[i]);
		is_str(err.msg, "f:2: not a host and its key", "its message");
	}
	pins_release(&pins);
	arena_release(&a);
}

static int parse_private(const char *text, uint8_t *seed, uint8_t *public, struct err *err)
{
	char copy[PRIVKEY_MAX];

	snprintf(copy, sizeof(copy), "%s", text);
	return privkey_parse(copy, strlen(copy), seed, public, err);
}

static void check_bad_private(const char *text, const char *want)
{
	uint8_t seed[ED25519_KEY], public[ED25519_KEY];
	struct err err = { 0 };

	ok(parse_private(text, seed, public, &err) < 0, "refused");
	ok(strstr(err.msg, want), "because: %s", want);
}

static void test_private(void)
{
	uint8_t seed[ED25519_KEY], public[ED25519_KEY], derived[ED25519_KEY];
	char text[PRIVKEY_MAX];
	struct arena a = { 0 };
	struct blob key;
	struct err err;

	ok(crypto_load(&err) == 0, "libcrypto is there");
	ok(parse_private(private_key, seed, public, &err) == 0, "a key of ssh-keygen's");
	ok(crypto_ed25519_public(seed, derived) == 0 && !memcmp(derived, public, sizeof(derived)),
	   "leads to its public half");
	ok(public_key_parse(&a, public_line, NULL, &key) && key.len == KEY_BLOB &&
		   !memcmp(key.p + KEY_BLOB - ED25519_KEY, public, ED25519_KEY),
	   "which is the one in the .pub file");
	check_bad_private(with_passphrase, "has a passphrase");
	check_bad_private(ecdsa_key, "only Ed25519");
	check_bad_private("", "not a private key");
	check_bad_private("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n", "cut short");
	check_bad_private(
		"-----BEGIN OPENSSH PRIVATE KEY-----\nA\n-----END OPENSSH PRIVATE KEY-----",
		"damaged");
	/* Every single character counts. */
	for (size_t i = 36, wrong = 0; i < sizeof(private_key) - 36; i++) {
		memcpy(text, private_key, sizeof(private_key));
		text[i] = text[i] == 'B' ? 'C' : 'B';
		if (private_key[i] == '\n' || parse_private(text, seed, derived, &err) < 0 ||
		    crypto_ed25519_public(seed, public) < 0 || memcmp(public, derived, 32))
			continue;
		/* The comment is nobody's secret: its eight bytes are in eleven characters. */
		wrong++;
		if (wrong > 11)
			ok(false, "a change at %zu is not noticed", i);
	}
	ok(true, "every change but one of the comment is noticed");
	arena_release(&a);
}

static void test_public_line(void)
{
	struct arena a = { 0 };

	is_str(deploy_key_public(&a, arena_printf(&a, "%s comment here\n", public_line)),
	       public_line, "the line without its comment");
	ok(!deploy_key_public(&a, "ssh-rsa AAAA"), "no other kind");
	ok(!deploy_key_public(&a, "ssh-ed25519 AAAA"), "nothing else");
	ok(!deploy_key_public(&a, ""), "nothing");
	arena_release(&a);
}

static void test_remotes(void)
{
	static const struct {
		const char *url, *want;
	} cases[] = {
		{ "git@github.com:me/repo.git", "git github.com 22 me/repo.git me/repo 1" },
		{ "github.com:me/repo", "git github.com 22 me/repo me/repo 1" },
		{ "https://github.com/me/repo.git", "git github.com 22 me/repo.git me/repo 1" },
		{ "https://user:token@github.com/me/repo", "git github.com 22 me/repo me/repo 1" },
		{ "https://gitlab.example.com:8443/a/b/c",
		  "git gitlab.example.com 22 a/b/c a/b/c 2" },
		{ "ssh://git@codeberg.org/me/r.git", "git codeberg.org 22 /me/r.git me/r 3" },
		{ "ssh://u@h:2222/srv/r.git/", "u h 2222 /srv/r.git/ srv/r 0" },
		{ "h:~/r", "git h 22 ~/r ~/r 0" },
		{ "/srv/r.git", NULL },
		{ "../r", NULL },
		{ "./a:b", NULL },
		{ "", NULL },
		{ "ext::sh -c x", NULL },
		{ "file:///srv/r", NULL },
		{ "-oProxyCommand=x:y", NULL },
		{ "git@-oX:y", NULL },
		{ "-x@h:y", NULL },
		{ "h:-x", NULL },
		{ "h:a'b", NULL },
		{ "h:a b", NULL },
		{ "h:$(x)", NULL },
		{ "ssh://h:0/x", NULL },
		{ "ssh://h:99999/x", NULL },
		{ "ssh://h:1x/x", NULL },
		{ "https://h", NULL },
		{ "h:", NULL },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct remote r;
		char *got = NULL;

		if (remote_parse(&a, cases[i].url, &r))
			got = arena_printf(&a, "%s %s %u %s %s %d", r.user, r.host, r.port, r.path,
					   r.name, forge_of(r.host));
		is_str(got, cases[i].want, "%s", cases[i].url);
	}
	arena_release(&a);
}

/* --- the agent --- */

struct world {
	struct keyring keys;
	struct key_binding binding;
	uint8_t host_seed[ED25519_KEY], host[KEY_BLOB];
	uint8_t in[AGENT_MESSAGE], out[AGENT_REPLY];
	struct key_wish wish;
	enum key_reason reason;
};

static void fill_blob(uint8_t blob[KEY_BLOB], const uint8_t *seed)
{
	struct wire_out out = { .p = blob, .size = KEY_BLOB };
	uint8_t public[ED25519_KEY];

	crypto_ed25519_public(seed, public);
	wire_put_string(&out, "ssh-ed25519", 11);
	wire_put_string(&out, public, sizeof(public));
}

static void make_world(struct world *w)
{
	_cleanup_str_ struct str line = { 0 };
	struct err err;

	*w = (struct world){ .reason = 0 };
	secret_alloc(&w->keys.memory, 64, &err);
	memset(w->keys.memory.data, 1, 32);
	memset(w->keys.memory.data + 32, 2, 32);
	memset(w->host_seed, 3, sizeof(w->host_seed));
	for (int i = 0; i < KEY_ROLES; i++) {
		w->keys.has[i] = true;
		fill_blob(w->keys.blob[i], w->keys.memory.data + 32 * i);
	}
	fill_blob(w->host, w->host_seed);
	str_add(&line, "host ssh-ed25519 ");
	base64_add(&line, w->host, sizeof(w->host));
	ok(pins_add(&w->keys.pins, line.s, "f", &err) == 0, "a world with one host");
}

static enum key_outcome request(struct world *w, const struct wire_out *message)
{
	struct wire_out reply = { .p = w->out, .size = sizeof(w->out) };

	return key_request(&w->keys, &w->binding, (struct blob){ message->p, message->len }, &reply,
			   &w->wish, &w->reason);
}

static enum key_outcome bind_to(struct world *w, const char *session, const uint8_t *seed,
				bool forwarded)
{
	struct wire_out out = { .p = w->in, .size = sizeof(w->in) };
	uint8_t bytes[ED25519_SIGNATURE], text[128], host[KEY_BLOB];
	struct wire_out signature = { .p = text, .size = sizeof(text) };

	fill_blob(host, w->host_seed);
	crypto_ed25519_sign(seed, (struct blob){ (const uint8_t *)session, strlen(session) },
			    bytes);
	wire_put_string(&signature, "ssh-ed25519", 11);
	wire_put_string(&signature, bytes, sizeof(bytes));
	wire_put_byte(&out, 27);
	wire_put_string(&out, "session-bind@openssh.com", 24);
	wire_put_string(&out, host, sizeof(host));
	wire_put_string(&out, session, strlen(session));
	wire_put_string(&out, text, signature.len);
	wire_put_byte(&out, forwarded);
	return request(w, &out);
}

static enum key_outcome sign_with(struct world *w, int role, const uint8_t *data, size_t len)
{
	struct wire_out out = { .p = w->in, .size = sizeof(w->in) };

	wire_put_byte(&out, 13);
	wire_put_string(&out, w->keys.blob[role], KEY_BLOB);
	wire_put_string(&out, data, len);
	wire_put_u32(&out, 0);
	return request(w, &out);
}

static enum key_outcome log_in(struct world *w, const char *session, const char *method,
			       const uint8_t *host)
{
	uint8_t data[1024];
	struct wire_out out = { .p = data, .size = sizeof(data) };

	wire_put_string(&out, session, strlen(session));
	wire_put_byte(&out, 50);
	wire_put_string(&out, "git", 3);
	wire_put_string(&out, "ssh-connection", 14);
	wire_put_string(&out, method, strlen(method));
	wire_put_byte(&out, 1);
	wire_put_string(&out, "ssh-ed25519", 11);
	wire_put_string(&out, w->keys.blob[KEY_DEPLOY], KEY_BLOB);
	if (host)
		wire_put_string(&out, host, KEY_BLOB);
	return sign_with(w, KEY_DEPLOY, data, out.len);
}

#define SESSION "01234567890123456789012345678901"
#define OTHER "X1234567890123456789012345678901"
#define HOSTBOUND "publickey-hostbound-v00@openssh.com"

static void test_binding(void)
{
	const struct key_binding none = { 0 };
	struct wire_out reply;
	struct blob signature;
	struct world w;

	make_world(&w);
	ok(log_in(&w, SESSION, "publickey", NULL) == KEY_DENIED && w.reason == KEY_NOT_BOUND,
	   "no login without a binding");
	ok(bind_to(&w, SESSION, w.host_seed, false) == KEY_REPLY && w.out[4] == 6,
	   "a session that the host signed");
	ok(log_in(&w, SESSION, "publickey", NULL) == KEY_WISH, "may be logged in to");
	is_str(w.wish.host, "host", "its host");
	is_str(w.wish.user, "git", "its user");
	reply = (struct wire_out){ .p = w.out, .size = sizeof(w.out) };
	ok(keyring_sign(&w.keys, &w.wish, &reply) == 0 && w.out[4] == 14, "is signed");
	signature = (struct blob){ w.out + 9, reply.len - 9 };
	ok(crypto_verify((struct blob){ w.keys.blob[0], KEY_BLOB }, signature, w.wish.data),
	   "with the deploy key");
	ok(!crypto_verify((struct blob){ w.keys.blob[1], KEY_BLOB }, signature, w.wish.data),
	   "not with the other");
	ok(log_in(&w, SESSION, HOSTBOUND, w.host) == KEY_WISH, "also when it names the host");
	ok(log_in(&w, SESSION, HOSTBOUND, w.keys.blob[1]) == KEY_DENIED &&
		   w.reason == KEY_BAD_BINDING,
	   "not when it names another");
	ok(log_in(&w, SESSION, HOSTBOUND, NULL) == KEY_DENIED, "nor when it names none");
	ok(log_in(&w, SESSION, "publickey", w.host) == KEY_DENIED, "nor with something behind it");
	ok(log_in(&w, SESSION, "password", NULL) == KEY_DENIED, "nor by another method");
	ok(log_in(&w, OTHER, "publickey", NULL) == KEY_DENIED && w.reason == KEY_BAD_BINDING,
	   "nor another session");
	ok(bind_to(&w, OTHER, w.host_seed, false) == KEY_DENIED, "a second binding is refused");
	ok(log_in(&w, SESSION, "publickey", NULL) == KEY_DENIED &&
		   log_in(&w, OTHER, "publickey", NULL) == KEY_DENIED,
	   "and ends the first");
	w.binding = none;
	ok(bind_to(&w, SESSION, w.host_seed, true) == KEY_DENIED && w.reason == KEY_BAD_BINDING,
	   "a forwarded one is refused");
	ok(log_in(&w, SESSION, "publickey", NULL) == KEY_DENIED, "and logs in nowhere");
	w.binding = none;
	ok(bind_to(&w, SESSION, w.keys.memory.data, false) == KEY_DENIED,
	   "one that somebody else signed");
	w.binding = none;
	ok(bind_to(&w, "short", w.host_seed, false) == KEY_DENIED, "one that is too short");
	w.binding = none;
	memset(w.host_seed, 4, sizeof(w.host_seed));
	ok(bind_to(&w, SESSION, w.host_seed, false) == KEY_DENIED && w.reason == KEY_NOT_PINNED,
	   "one with a host that is not pinned");
	ok(log_in(&w, SESSION, "publickey", NULL) == KEY_DENIED && w.reason == KEY_NOT_PINNED,
	   "which is the reason that is given");
	keyring_release(&w.keys);
}

static size_t make_message(uint8_t *data, size_t size, const char *space)
{
	const uint8_t digest[64] = { 7 };
	struct wire_out out = { .p = data, .size = size };

	wire_put_bytes(&out, "SSHSIG", 6);
	wire_put_string(&out, space, strlen(space));
	wire_put_string(&out, "", 0);
	wire_put_string(&out, "sha512", 6);
	wire_put_string(&out, digest, sizeof(digest));
	return out.len;
}

static void test_messages(void)
{
	uint8_t data[256];
	size_t n = make_message(data, sizeof(data), "git");
	struct world w;

	make_world(&w);
	ok(sign_with(&w, KEY_SIGNING, data, n) == KEY_WISH, "a message for git");
	ok(sign_with(&w, KEY_DEPLOY, data, n) == KEY_DENIED && w.reason == KEY_OTHER_USE,
	   "not with the deploy key");
	for (size_t i = 0; i < n; i++)
		if (sign_with(&w, KEY_SIGNING, data, i) == KEY_WISH)
			ok(false, "its first %zu bytes", i);
	data[n] = 0;
	ok(sign_with(&w, KEY_SIGNING, data, n + 1) == KEY_DENIED, "nor with a byte more");
	n = make_message(data, sizeof(data), "file");
	ok(sign_with(&w, KEY_SIGNING, data, n) == KEY_DENIED && w.reason == KEY_OTHER_SPACE,
	   "nor for something else");
	w.keys.has[KEY_SIGNING] = false;
	n = make_message(data, sizeof(data), "git");
	ok(sign_with(&w, KEY_SIGNING, data, n) == KEY_DENIED && w.reason == KEY_UNKNOWN,
	   "nor with a key that is not there");
	keyring_release(&w.keys);
}

static void test_other_requests(void)
{
	struct world w;
	int others = 0;

	make_world(&w);
	for (unsigned type = 0; type < 256; type++) {
		const struct wire_out message = { .p = w.in, .len = 1, .size = sizeof(w.in) };

		w.in[0] = (uint8_t)type;
		others += request(&w, &message) != KEY_DENIED;
	}
	is_int(others, 1, "of all bare requests one is answered");
	w.in[0] = 11;
	ok(request(&w, &(struct wire_out){ .p = w.in, .len = 1 }) == KEY_REPLY && w.out[4] == 12 &&
		   w.out[8] == 2,
	   "the list, of two");
	ok(request(&w, &(struct wire_out){ .p = w.in, .len = 0 }) == KEY_DENIED &&
		   w.reason == KEY_MALFORMED,
	   "nothing at all");
	keyring_release(&w.keys);
}

/* What the kernel says of the mapping that begins at p: " dd " is in no core file, " wf " empty in a child. */
static bool mapping_has(const void *p, const char *flag)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	char line[512], start[32];
	bool inside = false, has = false;

	snprintf(start, sizeof(start), "%lx-", (unsigned long)(uintptr_t)p);
	while (f && fgets(line, sizeof(line), f)) {
		if (strchr("0123456789abcdef", line[0]))
			inside = str_starts(line, start);
		else if (inside && str_starts(line, "VmFlags:"))
			has = strstr(line, flag);
	}
	if (f)
		fclose(f);
	return has;
}

static void test_secret(void)
{
	struct secret s = { 0 };
	struct err err;

	secret_free(&s);
	ok(secret_alloc(&s, 1, &err) == 0 && s.size >= 1 && !s.data[0], "memory for a secret");
	ok(mapping_has(s.data, " dd "), "... that is in no core file");
	ok(mapping_has(s.data, " wf "), "... nor in a child's memory");
	secret_free(&s);
	ok(!s.data, "is given back");
}

int main(void)
{
	struct arena a = { 0 };
	_cleanup_str_ struct str print = { 0 };
	struct blob key;

	test_base64();
	test_wire();
	test_pins();
	test_private();
	test_public_line();
	ok(public_key_parse(&a, public_line, NULL, &key), "a public key");
	fingerprint_add(&print, key);
	is_str(print.s, public_print, "its fingerprint");
	arena_release(&a);
	test_remotes();
	test_binding();
	test_messages();
	test_other_requests();
	test_secret();
	return done();
}
