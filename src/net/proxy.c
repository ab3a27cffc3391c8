/* SPDX-License-Identifier: MIT */
/* The company's proxy: its URL, who is exempt, and the few bytes of HTTP that open a tunnel. */
#include "net/proxy.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "net/address.h"

static bool base64(const char *text, size_t len, char *out, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t at = 0;

	if ((len + 2) / 3 * 4 >= size)
		return false;
	for (size_t i = 0; i < len; i += 3) {
		uint32_t group = (uint32_t)(unsigned char)text[i] << 16;

		group |= i + 1 < len ? (uint32_t)(unsigned char)text[i + 1] << 8 : 0;
		group |= i + 2 < len ? (uint32_t)(unsigned char)text[i + 2] : 0;
		out[at++] = digits[group >> 18];
		out[at++] = digits[group >> 12 & 63];
		out[at++] = (char)(i + 1 < len ? digits[group >> 6 & 63] : '=');
		out[at++] = (char)(i + 2 < len ? digits[group & 63] : '=');
	}
	out[at] = '\0';
	return true;
}

/* User and password are percent-encoded in a URL; NUL and line ends have no place in a header. */
static bool parse_credentials(const char *text, size_t len, struct proxy *proxy)
{
	char plain[256];
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		int c = (unsigned char)text[i];
		bool coded = c == '%' && i + 2 < len;
		int high = coded ? hex_digit(text[i + 1]) : -1;
		int low = coded ? hex_digit(text[i + 2]) : -1;

		if (high >= 0 && low >= 0) {
			c = high << 4 | low;
			i += 2;
		}
		if (n == sizeof(plain) || c < 0x20)
			return false;
		plain[n++] = (char)c;
	}
	return base64(plain, n, proxy->credentials, sizeof(proxy->credentials));
}

static bool parse_port(const char *text, size_t len, uint16_t *ret)
{
	unsigned n = 0;

	if (!len || len > 5)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)text[i]))
			return false;
		n = n * 10 + (unsigned)(text[i] - '0');
	}
	*ret = (uint16_t)n;
	return n && n <= UINT16_MAX;
}

/* "host", "host:port", "[v6]:port" */
static bool parse_authority(const char *text, size_t len, struct proxy *proxy)
{
	const char *end = text + len, *close = *text == '[' ? memchr(text, ']', len) : NULL;
	const char *host = close ? text + 1 : text;
	const char *colon = close ? (close + 1 < end ? close + 1 : NULL) : memchr(text, ':', len);
	size_t host_len = (size_t)((close ? close : colon ? colon : end) - host);
	struct address address;

	proxy->port = 3128;
	if (*text == '[' && !close)
		return false;
	if (colon &&
	    (*colon != ':' || !parse_port(colon + 1, (size_t)(end - colon - 1), &proxy->port)))
		return false;
	if (!host_len || host_len >= sizeof(proxy->host))
		return false;
	memcpy(proxy->host, host, host_len);
	proxy->host[host_len] = '\0';
	return address_parse(proxy->host, &address) || name_canonical(host, host_len, proxy->host);
}

int proxy_parse(const char *url, const char *no_proxy, struct proxy *ret, struct err *err)
{
	struct proxy proxy = { .port = 0 };
	const char *scheme = strstr(url, "://"), *at;
	const char *rest = scheme ? scheme + 3 : url;
	size_t len = strcspn(rest, "/");

	if (scheme && strncasecmp(url, "http://", 7)) {
		err_set(err, EPROTONOSUPPORT, "the proxy of this host is not an http:// one");
		return err_hint(err, "the filtered network speaks HTTP CONNECT to a proxy");
	}
	at = memrchr(rest, '@', len);
	if ((at && !parse_credentials(rest, (size_t)(at - rest), &proxy)) ||
	    !parse_authority(at ? at + 1 : rest, at ? len - (size_t)(at + 1 - rest) : len,
			     &proxy)) {
		err_set(err, EINVAL, "the proxy's address (HTTPS_PROXY) cannot be read");
		return err_hint(err, "as in http://HOST:PORT; https_proxy, HTTPS_PROXY, all_proxy, "
				     "ALL_PROXY: the first that is set counts");
	}
	if (strlen(no_proxy ? no_proxy : "") >=
	    sizeof(proxy.exempt)) /* cut off it would exempt others */
		return err_set(err, E2BIG, "NO_PROXY has more than %zu bytes",
			       sizeof(proxy.exempt) - 1);
	snprintf(proxy.exempt, sizeof(proxy.exempt), "%s", no_proxy ? no_proxy : "");
	*ret = proxy;
	return 0;
}

bool proxy_serves(const struct proxy *proxy, const char *name)
{
	const char *p = proxy->exempt;
	size_t name_len = strlen(name);

	while (*p) {
		size_t len;

		p += strspn(p, ", \t.");
		len = strcspn(p, ", \t:");
		if (len == 1 && *p == '*')
			return false;
		if (len && len <= name_len && !strncasecmp(name + name_len - len, p, len) &&
		    (len == name_len || name[name_len - len - 1] == '.'))
			return false;
		p += strcspn(p, ", \t");
	}
	return true;
}

size_t proxy_request(const struct proxy *proxy, const char *name, uint16_t port,
		     char buf[PROXY_REQUEST_MAX])
{
	int n = snprintf(buf, PROXY_REQUEST_MAX,
			 "CONNECT %s:%u HTTP/1.1\r\nHost: %s:%u\r\n%s%s%s\r\n", name, port, name,
			 port, proxy->credentials[0] ? "Proxy-Authorization: Basic " : "",
			 proxy->credentials, proxy->credentials[0] ? "\r\n" : "");

	return (size_t)n; /* the parts are bounded well below the buffer */
}

enum proxy_reply proxy_reply(const char *bytes, size_t len, size_t *ret_used)
{
	const char *end = memmem(bytes, len, "\r\n\r\n", 4);

	if (!end)
		return len < PROXY_REPLY_MAX ? PROXY_MORE : PROXY_REFUSED;
	*ret_used = (size_t)(end - bytes) + 4;
	/* "HTTP/1.x 2nn" */
	if (len < 12 || memcmp(bytes, "HTTP/1.", 7) || bytes[8] != ' ' || bytes[9] != '2')
		return PROXY_REFUSED;
	return PROXY_OPEN;
}
