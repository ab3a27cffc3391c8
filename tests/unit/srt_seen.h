/* SPDX-License-Identifier: MIT */
/* Settings of sandbox-runtime, and what 0.0.83 was seen to say of each; NULL: it takes them. */
#pragma once

#define NO_NET "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": []}, "
#define NO_FILES "\"filesystem\": {\"denyRead\": [], \"allowWrite\": [], \"denyWrite\": []}"
#define DOMAIN                                                                                   \
	"Invalid domain pattern. Must be a valid domain (e.g., \"example.com\"), a wildcard "    \
	"(e.g., \"*.example.com\"), or a bracketed IPv6 literal (e.g., \"[::1]\", "              \
	"\"[2001:db8::1]:443\"). Overly broad patterns like \"*.com\" or \"*\" are not allowed " \
	"for security reasons."
#define ALLOWED DOMAIN " An optional \":port\" suffix (1-65535) restricts the entry to that port."
#define DENIED                                                                                \
	DOMAIN " In deniedDomains a bare \"*\" (deny-all) is also accepted, and an optional " \
	       "\":port\" suffix (1-65535) restricts the entry to that port."
#define ADDRESS                                                                     \
	"Invalid IP address or CIDR range. Use an IPv4/IPv6 literal or CIDR, e.g. " \
	"\"10.0.0.0/8\", \"192.168.1.10\", \"fc00::/7\" (IPv6 unbracketed)."

static const struct {
	const char *text, *want;
} seen[] = {
	{ "{}", "network: Required; filesystem: Required" },
	{ "[]", "(root): Expected object, received array" },
	{ "null", "(root): Expected object, received null" },
	{ "3", "(root): Expected object, received number" },
	{ "\"x\"", "(root): Expected object, received string" },
	{ "{\"network\": 3, " NO_FILES "}", "network: Expected object, received number" },
	{ "{\"network\": null, " NO_FILES "}", "network: Expected object, received null" },
	{ "{\"network\": [], " NO_FILES "}", "network: Expected object, received array" },
	{ "{\"network\": {\"allowedDomains\": \"x\", \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains: Expected array, received string" },
	{ "{\"network\": {\"allowedDomains\": [3, null, true, {}, []], \"deniedDomains\": "
	  "[]}, " NO_FILES "}",
	  "network.allowedDomains.0: Expected string, received number; network.allowedDomains.1: "
	  "Expected string, received null; network.allowedDomains.2: Expected string, received "
	  "boolean; network.allowedDomains.3: Expected string, received object; "
	  "network.allowedDomains.4: Expected string, received array" },
	{ "{\"network\": {\"allowedDomains\": [\"*\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"*\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [\"*.com\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"*.com\"]}, " NO_FILES "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"x\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"x\"]}, " NO_FILES "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"\"]}, " NO_FILES "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"a..b\"], \"deniedDomains\": []}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"a..b\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [\".a.b\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\".a.b\"]}, " NO_FILES "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"a.b.\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"a.b.\"]}, " NO_FILES "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"http://a.b\"], \"deniedDomains\": []}, " NO_FILES
	  "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"http://a.b\"]}, " NO_FILES
	  "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"a/b.c\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"a/b.c\"]}, " NO_FILES "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"a.b:0\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"a.b:0\"]}, " NO_FILES "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"a.b:65536\"], \"deniedDomains\": []}, " NO_FILES
	  "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"a.b:65536\"]}, " NO_FILES
	  "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"a.b:99999\"], \"deniedDomains\": []}, " NO_FILES
	  "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"a.b:99999\"]}, " NO_FILES
	  "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"a.b:x\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"a.b:x\"]}, " NO_FILES "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"::1\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"::1\"]}, " NO_FILES "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"[::1]\"], \"deniedDomains\": []}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"[::1]\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [\"[::1]:443\"], \"deniedDomains\": []}, " NO_FILES
	  "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"[::1]:443\"]}, " NO_FILES
	  "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [\"[::1\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"[::1\"]}, " NO_FILES "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"*.a.b\"], \"deniedDomains\": []}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"*.a.b\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [\"a.*.b\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"a.*.b\"]}, " NO_FILES "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"*a.b\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"*a.b\"]}, " NO_FILES "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"1.2.3.4\"], \"deniedDomains\": []}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"1.2.3.4\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [\"localhost\"], \"deniedDomains\": []}, " NO_FILES
	  "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"localhost\"]}, " NO_FILES
	  "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [\"localhost:80\"], \"deniedDomains\": []}, " NO_FILES
	  "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"localhost:80\"]}, " NO_FILES
	  "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [\"*.x\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"*.x\"]}, " NO_FILES "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"*:443\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"*:443\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [\"a.b:080\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"a.b:080\"]}, " NO_FILES "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"LOCALHOST\"], \"deniedDomains\": []}, " NO_FILES
	  "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"LOCALHOST\"]}, " NO_FILES
	  "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"[fe80::1%eth0]\"], \"deniedDomains\": "
	  "[]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": "
	  "[\"[fe80::1%eth0]\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [\"*.a.b.\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"*.a.b.\"]}, " NO_FILES "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"*..b\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"*..b\"]}, " NO_FILES "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"a b.c\"], \"deniedDomains\": []}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"a b.c\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [\"[1.2.3.4]\"], \"deniedDomains\": []}, " NO_FILES
	  "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"[1.2.3.4]\"]}, " NO_FILES
	  "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [\"*.localhost\"], \"deniedDomains\": []}, " NO_FILES
	  "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"*.localhost\"]}, " NO_FILES
	  "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"a.b:\"], \"deniedDomains\": []}, " NO_FILES "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"a.b:\"]}, " NO_FILES "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [\"*.com:443\"], \"deniedDomains\": []}, " NO_FILES
	  "}",
	  "network.allowedDomains.0: " ALLOWED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"*.com:443\"]}, " NO_FILES
	  "}",
	  "network.deniedDomains.0: " DENIED },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"a.b\"], "
	  "\"deniedDomainReasons\": {\"a.b\": \"\"}}, " NO_FILES "}",
	  "network.deniedDomainReasons.a.b: String must contain at least 1 character(s)" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"a.b\"], "
	  "\"deniedDomainReasons\": {\"c.d\": \"no\"}}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [\"a.b\"], "
	  "\"deniedDomainReasons\": {\"a.b\": 3}}, " NO_FILES "}",
	  "network.deniedDomainReasons.a.b: Expected string, received number" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"deniedDomainReasons\": "
	  "[]}, " NO_FILES "}",
	  "network.deniedDomainReasons: Expected object, received array" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"strictAllowlist\": "
	  "\"x\"}, " NO_FILES "}",
	  "network.strictAllowlist: Expected boolean, received string" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], "
	  "\"deniedResolvedAddresses\": [\"1.2.3.4\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], "
	  "\"deniedResolvedAddresses\": [\"10.0.0.0/8\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], "
	  "\"deniedResolvedAddresses\": [\"x\"]}, " NO_FILES "}",
	  "network.deniedResolvedAddresses.0: " ADDRESS },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], "
	  "\"deniedResolvedAddresses\": [\"10.0.0.0/33\"]}, " NO_FILES "}",
	  "network.deniedResolvedAddresses.0: " ADDRESS },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], "
	  "\"deniedResolvedAddresses\": [\"::1/64\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], "
	  "\"deniedResolvedAddresses\": [\"[::1]\"]}, " NO_FILES "}",
	  "network.deniedResolvedAddresses.0: " ADDRESS },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], "
	  "\"deniedResolvedAddresses\": [\"10.0.0.1/8\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], "
	  "\"deniedResolvedAddresses\": [\"\"]}, " NO_FILES "}",
	  "network.deniedResolvedAddresses.0: " ADDRESS },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], "
	  "\"deniedResolvedAddresses\": [\"1.2.3.4/\"]}, " NO_FILES "}",
	  "network.deniedResolvedAddresses.0: " ADDRESS },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], "
	  "\"deniedResolvedAddresses\": [\"::/0\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], "
	  "\"deniedResolvedAddresses\": [\"1.2.3\"]}, " NO_FILES "}",
	  "network.deniedResolvedAddresses.0: " ADDRESS },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"allowUnixSockets\": "
	  "3}, " NO_FILES "}",
	  "network.allowUnixSockets: Expected array, received number" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"allowUnixSockets\": "
	  "[3]}, " NO_FILES "}",
	  "network.allowUnixSockets.0: Expected string, received number" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"allowUnixSockets\": "
	  "[\"\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"allowAllUnixSockets\": "
	  "3}, " NO_FILES "}",
	  "network.allowAllUnixSockets: Expected boolean, received number" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"allowMachLookup\": "
	  "[\"*\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"allowMachLookup\": "
	  "[\"a*b\"]}, " NO_FILES "}",
	  "network.allowMachLookup.0: Wildcards are only allowed as a single trailing \"*\" (e.g., "
	  "\"com.example.*\" or \"*\" for all services)." },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"allowMachLookup\": "
	  "[\"a*\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"allowMachLookup\": "
	  "[\"\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"allowMachLookup\": "
	  "[\"x\"]}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"httpProxyPort\": 0, "
	  "\"socksProxyPort\": 0}, " NO_FILES "}",
	  "network.httpProxyPort: Number must be greater than or equal to 1; "
	  "network.socksProxyPort: Number must be greater than or equal to 1" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"httpProxyPort\": 65536, "
	  "\"socksProxyPort\": 65536}, " NO_FILES "}",
	  "network.httpProxyPort: Number must be less than or equal to 65535; "
	  "network.socksProxyPort: Number must be less than or equal to 65535" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"httpProxyPort\": 1.5, "
	  "\"socksProxyPort\": 1.5}, " NO_FILES "}",
	  "network.httpProxyPort: Expected integer, received float; network.socksProxyPort: "
	  "Expected integer, received float" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"httpProxyPort\": "
	  "\"80\", \"socksProxyPort\": \"80\"}, " NO_FILES "}",
	  "network.httpProxyPort: Expected number, received string; network.socksProxyPort: "
	  "Expected number, received string" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"httpProxyPort\": -1, "
	  "\"socksProxyPort\": -1}, " NO_FILES "}",
	  "network.httpProxyPort: Number must be greater than or equal to 1; "
	  "network.socksProxyPort: Number must be greater than or equal to 1" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"httpProxyPort\": 80, "
	  "\"socksProxyPort\": 80}, " NO_FILES "}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"mitmProxy\": "
	  "{}}, " NO_FILES "}",
	  "network.mitmProxy.socketPath: Required; network.mitmProxy.domains: Required" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"mitmProxy\": "
	  "{\"socketPath\": \"\", \"domains\": []}}, " NO_FILES "}",
	  "network.mitmProxy.socketPath: String must contain at least 1 character(s); "
	  "network.mitmProxy.domains: Array must contain at least 1 element(s)" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"mitmProxy\": "
	  "{\"socketPath\": \"x\", \"domains\": [\"*\"]}}, " NO_FILES "}",
	  "network.mitmProxy.domains.0: " DOMAIN },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"parentProxy\": "
	  "{\"http\": \"x\", \"https\": 3, \"noProxy\": 3}}, " NO_FILES "}",
	  "network.parentProxy.http: Invalid url; network.parentProxy.https: Expected string, "
	  "received number; network.parentProxy.noProxy: Expected string, received number" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"parentProxy\": "
	  "{\"http\": \"\"}}, " NO_FILES "}",
	  "network.parentProxy.http: Invalid url" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"parentProxy\": "
	  "{\"http\": \"http://\"}}, " NO_FILES "}",
	  "network.parentProxy.http: Invalid url" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"tlsTerminate\": "
	  "{\"caCertPath\": \"/x\"}}, " NO_FILES "}",
	  "network.tlsTerminate: caCertPath and caKeyPath must be provided together" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"tlsTerminate\": "
	  "{\"maxTunnels\": 0, \"handshakeTimeoutMs\": 1, \"excludeDomains\": [\"*\"], "
	  "\"extraCaCertPaths\": [\"\"]}}, " NO_FILES "}",
	  "network.tlsTerminate.excludeDomains.0: " DOMAIN
	  "; network.tlsTerminate.extraCaCertPaths.0: String must contain at least 1 character(s); "
	  "network.tlsTerminate.maxTunnels: Number must be greater than or equal to 1; "
	  "network.tlsTerminate.handshakeTimeoutMs: Number must be greater than or equal to 100" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"tlsTerminate\": "
	  "{\"maxTunnels\": 70000, \"handshakeTimeoutMs\": 700000}}, " NO_FILES "}",
	  "network.tlsTerminate.maxTunnels: Number must be less than or equal to 65536; "
	  "network.tlsTerminate.handshakeTimeoutMs: Number must be less than or equal to 600000" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"filterRequest\": "
	  "\"x\"}, " NO_FILES "}",
	  "network.filterRequest: filterRequest must be a function" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], "
	  "\"allowPlaintextHeaderSet\": 3, \"stripResponseHeaders\": 3, \"refuseOpaqueTunnels\": "
	  "3, \"requireHostMatch\": 3, \"ambiguousRequestTarget\": \"x\"}, " NO_FILES "}",
	  "network.allowPlaintextHeaderSet: Expected boolean, received number; "
	  "network.stripResponseHeaders: Expected array, received number; "
	  "network.refuseOpaqueTunnels: Expected boolean, received number; "
	  "network.requireHostMatch: Expected boolean, received number; "
	  "network.ambiguousRequestTarget: Invalid enum value. Expected 'refuse' | 'asSpelled' | "
	  "'normalize', received 'x'" },
	{ "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"stripResponseHeaders\": "
	  "[\"\", \"a b\"], \"ambiguousRequestTarget\": 3}, " NO_FILES "}",
	  "network.stripResponseHeaders.0: String must contain at least 1 character(s); "
	  "network.ambiguousRequestTarget: Expected 'refuse' | 'asSpelled' | 'normalize', received "
	  "number" },
	{ NO_NET "\"filesystem\": {}}", "filesystem.denyRead: Required; filesystem.allowWrite: "
					"Required; filesystem.denyWrite: Required" },
	{ NO_NET
	  "\"filesystem\": {\"denyRead\": [\"\"], \"allowWrite\": [\"\"], \"denyWrite\": []}}",
	  "filesystem.denyRead.0: Path cannot be empty; filesystem.allowWrite.0: Path cannot be "
	  "empty" },
	{ NO_NET "\"filesystem\": {\"denyRead\": [3], \"allowWrite\": [3], \"denyWrite\": []}}",
	  "filesystem.denyRead.0: Expected a path, or { \"path\": \"<path>\", \"literal\": true }; "
	  "filesystem.allowWrite.0: Expected a path, or { \"path\": \"<path>\", \"literal\": true "
	  "}" },
	{ NO_NET
	  "\"filesystem\": {\"denyRead\": [null], \"allowWrite\": [null], \"denyWrite\": []}}",
	  "filesystem.denyRead.0: Expected a path, or { \"path\": \"<path>\", \"literal\": true }; "
	  "filesystem.allowWrite.0: Expected a path, or { \"path\": \"<path>\", \"literal\": true "
	  "}" },
	{ NO_NET "\"filesystem\": {\"denyRead\": [{}], \"allowWrite\": [{}], \"denyWrite\": []}}",
	  "filesystem.denyRead.0: Expected a path, or { \"path\": \"<path>\", \"literal\": true }; "
	  "filesystem.allowWrite.0: Expected a path, or { \"path\": \"<path>\", \"literal\": true "
	  "}" },
	{ NO_NET "\"filesystem\": {\"denyRead\": [{\"path\": \"x\"}], \"allowWrite\": [{\"path\": "
		 "\"x\"}], \"denyWrite\": []}}",
	  "filesystem.denyRead.0: Expected a path, or { \"path\": \"<path>\", \"literal\": true }; "
	  "filesystem.allowWrite.0: Expected a path, or { \"path\": \"<path>\", \"literal\": true "
	  "}" },
	{ NO_NET "\"filesystem\": {\"denyRead\": [{\"path\": \"x\", \"literal\": false}], "
		 "\"allowWrite\": [{\"path\": \"x\", \"literal\": false}], \"denyWrite\": []}}",
	  "filesystem.denyRead.0: Expected a path, or { \"path\": \"<path>\", \"literal\": true }; "
	  "filesystem.allowWrite.0: Expected a path, or { \"path\": \"<path>\", \"literal\": true "
	  "}" },
	{ NO_NET "\"filesystem\": {\"denyRead\": [{\"path\": \"\", \"literal\": true}], "
		 "\"allowWrite\": [{\"path\": \"\", \"literal\": true}], \"denyWrite\": []}}",
	  "filesystem.denyRead.0.path: Path cannot be empty; filesystem.allowWrite.0.path: Path "
	  "cannot be empty" },
	{ NO_NET
	  "\"filesystem\": {\"denyRead\": [{\"path\": \"x\", \"literal\": true, \"z\": 1}], "
	  "\"allowWrite\": [{\"path\": \"x\", \"literal\": true, \"z\": 1}], \"denyWrite\": []}}",
	  "filesystem.denyRead.0: Unrecognized key(s) in object: 'z'; filesystem.allowWrite.0: "
	  "Unrecognized key(s) in object: 'z'" },
	{ NO_NET "\"filesystem\": {\"denyRead\": [[]], \"allowWrite\": [[]], \"denyWrite\": []}}",
	  "filesystem.denyRead.0: Expected a path, or { \"path\": \"<path>\", \"literal\": true }; "
	  "filesystem.allowWrite.0: Expected a path, or { \"path\": \"<path>\", \"literal\": true "
	  "}" },
	{ NO_NET "\"filesystem\": {\"denyRead\": [\"/a/*/\"], \"allowWrite\": [\"/a/*/\"], "
		 "\"denyWrite\": [\"/a/*/\"], \"allowRead\": [\"/a/*/\"]}}",
	  "filesystem.denyRead.0: Deny glob \"/a/*/\" ends in a separator, so as a pattern it can "
	  "match no path. Write \"/a/*\", which is also read as the path of that name where it "
	  "exists, or add a \"**\" segment to match at any depth.; filesystem.denyWrite.0: Deny "
	  "glob \"/a/*/\" ends in a separator, so as a pattern it can match no path. Write "
	  "\"/a/*\", which is also read as the path of that name where it exists, or add a \"**\" "
	  "segment to match at any depth." },
	{ NO_NET "\"filesystem\": {\"denyRead\": [\"~/x*/\"], \"allowWrite\": [\"~/x*/\"], "
		 "\"denyWrite\": [\"~/x*/\"], \"allowRead\": [\"~/x*/\"]}}",
	  "filesystem.denyRead.0: Deny glob \"~/x*/\" ends in a separator, so as a pattern it can "
	  "match no path. Write \"~/x*\", which is also read as the path of that name where it "
	  "exists, or add a \"**\" segment to match at any depth.; filesystem.denyWrite.0: Deny "
	  "glob \"~/x*/\" ends in a separator, so as a pattern it can match no path. Write "
	  "\"~/x*\", which is also read as the path of that name where it exists, or add a \"**\" "
	  "segment to match at any depth." },
	{ NO_NET "\"filesystem\": {\"denyRead\": [\"a*/\"], \"allowWrite\": [\"a*/\"], "
		 "\"denyWrite\": [\"a*/\"], \"allowRead\": [\"a*/\"]}}",
	  NULL },
	{ NO_NET "\"filesystem\": {\"denyRead\": [\"/a/\"], \"allowWrite\": [\"/a/\"], "
		 "\"denyWrite\": [\"/a/\"], \"allowRead\": [\"/a/\"]}}",
	  NULL },
	{ NO_NET "\"filesystem\": {\"denyRead\": [\"/a/**/\"], \"allowWrite\": [\"/a/**/\"], "
		 "\"denyWrite\": [\"/a/**/\"], \"allowRead\": [\"/a/**/\"]}}",
	  "filesystem.denyRead.0: Deny glob \"/a/**/\" ends in a separator, so as a pattern it can "
	  "match no path. Write \"/a/**\", which is also read as the path of that name where it "
	  "exists, or add a \"**\" segment to match at any depth.; filesystem.denyWrite.0: Deny "
	  "glob \"/a/**/\" ends in a separator, so as a pattern it can match no path. Write "
	  "\"/a/**\", which is also read as the path of that name where it exists, or add a \"**\" "
	  "segment to match at any depth." },
	{ NO_NET "\"filesystem\": {\"denyRead\": [\"/[x]/\"], \"allowWrite\": [\"/[x]/\"], "
		 "\"denyWrite\": [\"/[x]/\"], \"allowRead\": [\"/[x]/\"]}}",
	  "filesystem.denyRead.0: Deny glob \"/[x]/\" ends in a separator, so as a pattern it can "
	  "match no path. Write \"/[x]\", which is also read as the path of that name where it "
	  "exists, or add a \"**\" segment to match at any depth.; filesystem.denyWrite.0: Deny "
	  "glob \"/[x]/\" ends in a separator, so as a pattern it can match no path. Write "
	  "\"/[x]\", which is also read as the path of that name where it exists, or add a \"**\" "
	  "segment to match at any depth." },
	{ NO_NET "\"filesystem\": {\"denyRead\": [\"/a/*//\"], \"allowWrite\": [\"/a/*//\"], "
		 "\"denyWrite\": [\"/a/*//\"], \"allowRead\": [\"/a/*//\"]}}",
	  "filesystem.denyRead.0: Deny glob \"/a/*//\" ends in a separator, so as a pattern it can "
	  "match no path. Write \"/a/*\", which is also read as the path of that name where it "
	  "exists, or add a \"**\" segment to match at any depth.; filesystem.denyWrite.0: Deny "
	  "glob \"/a/*//\" ends in a separator, so as a pattern it can match no path. Write "
	  "\"/a/*\", which is also read as the path of that name where it exists, or add a \"**\" "
	  "segment to match at any depth." },
	{ NO_NET "\"filesystem\": {\"denyRead\": [], \"allowWrite\": [], \"denyWrite\": [], "
		 "\"allowGitConfig\": \"x\", \"disabled\": 3, \"allowRead\": \"x\"}}",
	  "filesystem.disabled: Expected boolean, received number; filesystem.allowRead: Expected "
	  "array, received string; filesystem.allowGitConfig: Expected boolean, received string" },
	{ NO_NET NO_FILES ", \"credentials\": {\"x\": 1, \"y\": 2}}",
	  "credentials: Unrecognized key(s) in object: 'x', 'y'" },
	{ NO_NET NO_FILES
	  ", \"credentials\": {\"files\": [{\"path\": \"\", \"mode\": \"x\"}], \"envVars\": "
	  "[{\"name\": \"1a\", \"mode\": \"deny\"}, {\"name\": \"\", \"mode\": 3}, {}]}}",
	  "credentials.files.0.path: Path cannot be empty; credentials.files.0.mode: Invalid enum "
	  "value. Expected 'deny' | 'mask', received 'x'; credentials.envVars.0.name: Environment "
	  "variable name must start with a letter or underscore and contain only letters, digits, "
	  "and underscores; credentials.envVars.1.name: Environment variable name must start with "
	  "a letter or underscore and contain only letters, digits, and underscores; "
	  "credentials.envVars.1.mode: Expected 'deny' | 'mask', received number; "
	  "credentials.envVars.2.name: Required; credentials.envVars.2.mode: Required" },
	{ NO_NET NO_FILES ", \"credentials\": {\"files\": [{\"path\": \"/x\", \"mode\": "
			  "\"mask\"}], \"envVars\": [{\"name\": \"A\", \"mode\": \"mask\"}]}}",
	  "credentials: Credential masking requires network.tlsTerminate so substitution runs only "
	  "over a verified TLS connection. Enable tlsTerminate, or set "
	  "credentials.allowPlaintextInject to opt out (not recommended)." },
	{ NO_NET NO_FILES ", \"credentials\": {\"files\": [{\"path\": \"/x\", \"mode\": \"mask\", "
			  "\"maskClaims\": [\"a\"]}], \"allowPlaintextInject\": true}}",
	  "credentials.files.0.maskClaims: maskClaims requires decode — it names claims inside the "
	  "decoded payload. Set decode (e.g. \"jwt\"), or remove maskClaims to mask the extracted "
	  "value whole." },
	{ NO_NET NO_FILES ", \"credentials\": {\"files\": [{\"path\": \"/x\", \"mode\": \"mask\", "
			  "\"injectHosts\": []}], \"allowPlaintextInject\": true}}",
	  "credentials.files.0: injectHosts is explicitly empty — the credential would be masked "
	  "but never injected. Omit injectHosts to default to network.allowedDomains, or list the "
	  "intended hosts." },
	{ "{\"network\": {\"allowedDomains\": [\"a.b\"], \"deniedDomains\": []}, " NO_FILES
	  ", \"credentials\": {\"files\": [{\"path\": \"/x\", \"mode\": \"mask\", \"injectHosts\": "
	  "[\"c.d\"]}], \"allowPlaintextInject\": true}}",
	  "credentials.files.0.injectHosts.0: injectHosts entry \"c.d\" is not reachable via "
	  "network.allowedDomains — add \"c.d\" (or a covering wildcard) to allowedDomains, or "
	  "remove it from injectHosts." },
	{ NO_NET NO_FILES ", \"credentials\": {\"files\": [{\"path\": \"/x\", \"mode\": \"deny\", "
			  "\"injectHosts\": []}]}}",
	  NULL },
	{ NO_NET NO_FILES ", \"credentials\": {\"envVars\": [{\"name\": \"A\", \"mode\": \"deny\", "
			  "\"maskClaims\": []}], \"files\": [{\"path\": \"/x/*/\", \"mode\": "
			  "\"deny\"}]}}",
	  "credentials.envVars.0.maskClaims: maskClaims requires decode — it names claims inside "
	  "the "
	  "decoded payload. Set decode (e.g. \"jwt\"), or remove maskClaims to mask the whole "
	  "value.; credentials.envVars.0.maskClaims: maskClaims is explicitly empty — no claim "
	  "would "
	  "ever be masked. Omit maskClaims to mask the whole token, or list the claims to "
	  "protect.; "
	  "credentials.files.0.path: Deny glob \"/x/*/\" ends in a separator, so as a pattern it "
	  "can "
	  "match no path. Write \"/x/*\", which is also read as the path of that name where it "
	  "exists, or add a \"**\" segment to match at any depth." },
	{ NO_NET NO_FILES
	  ", \"credentials\": {\"files\": [{\"path\": \"/x/\", \"mode\": \"mask\"}], "
	  "\"allowPlaintextInject\": true}}",
	  "credentials.files.0.path: Credential mode \"mask\" applies to a single file, not a "
	  "directory. Use mode \"deny\" for \"/x/\", or point at the credential file inside it." },
	{ NO_NET
	  "\"filesystem\": {\"denyRead\": [\"/x/*/\"], \"allowWrite\": [], \"denyWrite\": [], "
	  "\"disabled\": true}}",
	  NULL },
	{ "{\"network\": {\"allowedDomains\": [\"*.*.b\"], \"deniedDomains\": "
	  "[\"*.*.b\"]}, " NO_FILES "}",
	  NULL },
	{ NO_NET NO_FILES ", \"credentials\": {\"awsPairs\": [{\"accessKeyIdVar\": \"A\"}], "
			  "\"sigv4\": {\"streaming\": \"x\", \"z\": 1}}}",
	  "credentials.awsPairs.0.secretAccessKeyVar: Required; credentials.sigv4.streaming: "
	  "Invalid enum value. Expected 'deny' | 'passthrough', received 'x'; credentials.sigv4: "
	  "Unrecognized key(s) in object: 'z'" },
	{ NO_NET NO_FILES ", \"credentials\": {\"awsPairs\": [{\"accessKeyIdVar\": \"A\", "
			  "\"secretAccessKeyVar\": \"B\", \"z\": 1}], \"sigv4\": 3}}",
	  "credentials.awsPairs.0: Unrecognized key(s) in object: 'z'; credentials.sigv4: Expected "
	  "object, received number" },
	{ NO_NET NO_FILES ", \"credentials\": {\"files\": [{\"path\": \"/x\", \"mode\": \"deny\", "
			  "\"injectHosts\": [\"a.b\"], \"extract\": \"(x)\"}]}}",
	  "credentials.files.0.injectHosts.0: injectHosts entry \"a.b\" is not reachable via "
	  "network.allowedDomains — add \"a.b\" (or a covering wildcard) to allowedDomains, or "
	  "remove it from injectHosts." },
	{ NO_NET NO_FILES ", \"credentials\": {\"envVars\": [{\"name\": \"A\", \"mode\": "
			  "\"deny\"}, {\"name\": \"A\", \"mode\": \"deny\"}], \"files\": "
			  "[{\"path\": \"/x\", \"mode\": \"deny\", \"z\": 1}]}}",
	  NULL },
	{ NO_NET NO_FILES ", \"credentials\": 3}",
	  "credentials: Expected object, received number" },
	{ NO_NET NO_FILES ", \"credentials\": {\"awsPairs\": [{\"accessKeyIdVar\": \"A\", "
			  "\"secretAccessKeyVar\": \"B\"}]}}",
	  "credentials.awsPairs.0.accessKeyIdVar: \"A\" does not reference a credentials.envVars "
	  "entry with mode \"mask\" — an AWS pair links already-masked variables; add the entry "
	  "(masking is the opt-in for SigV4 re-signing).; "
	  "credentials.awsPairs.0.secretAccessKeyVar: \"B\" does not reference a "
	  "credentials.envVars entry with mode \"mask\" — an AWS pair links already-masked "
	  "variables; add the entry (masking is the opt-in for SigV4 re-signing)." },
	{ NO_NET NO_FILES ", \"ignoreViolations\": 3}",
	  "ignoreViolations: Expected object, received number" },
	{ NO_NET NO_FILES ", \"ignoreViolations\": {\"*\": 3}}",
	  "ignoreViolations.*: Expected array, received number" },
	{ NO_NET NO_FILES ", \"ignoreViolations\": {\"*\": [3]}}",
	  "ignoreViolations.*.0: Expected string, received number" },
	{ NO_NET NO_FILES
	  ", \"enableWeakerNestedSandbox\": 3, \"allowNestedUserNamespaces\": \"x\", "
	  "\"enableWeakerNetworkIsolation\": 3, \"allowAppleEvents\": 3, \"allowPty\": 3}",
	  "enableWeakerNestedSandbox: Expected boolean, received number; "
	  "allowNestedUserNamespaces: Expected boolean, received string; "
	  "enableWeakerNetworkIsolation: Expected boolean, received number; allowAppleEvents: "
	  "Expected boolean, received number; allowPty: Expected boolean, received number" },
	{ NO_NET NO_FILES ", \"ripgrep\": {}}", "ripgrep.command: Required" },
	{ NO_NET NO_FILES ", \"ripgrep\": {\"command\": 3, \"args\": 3, \"argv0\": 3}}",
	  "ripgrep.command: Expected string, received number; ripgrep.args: Expected array, "
	  "received number; ripgrep.argv0: Expected string, received number" },
	{ NO_NET NO_FILES ", \"mandatoryDenySearchDepth\": 0}",
	  "mandatoryDenySearchDepth: Number must be greater than or equal to 1" },
	{ NO_NET NO_FILES ", \"mandatoryDenySearchDepth\": 11}",
	  "mandatoryDenySearchDepth: Number must be less than or equal to 10" },
	{ NO_NET NO_FILES ", \"mandatoryDenySearchDepth\": 1.5}",
	  "mandatoryDenySearchDepth: Expected integer, received float" },
	{ NO_NET NO_FILES ", \"mandatoryDenySearchDepth\": \"3\"}",
	  "mandatoryDenySearchDepth: Expected number, received string" },
	{ NO_NET NO_FILES ", \"mandatoryDenySearchDepth\": 3}", NULL },
	{ NO_NET NO_FILES ", \"seccomp\": 3}", "seccomp: Expected object, received number" },
	{ NO_NET NO_FILES ", \"seccomp\": {\"applyPath\": 3, \"argv0\": 3, \"z\": 1}}",
	  "seccomp.applyPath: Expected string, received number; seccomp.argv0: Expected string, "
	  "received number" },
	{ NO_NET NO_FILES ", \"seccomp\": {\"applyPath\": \"rel\"}}", NULL },
	{ NO_NET NO_FILES
	  ", \"bwrapPath\": \"x\", \"socatPath\": \"\", \"javaAgentJarPath\": \"y\"}",
	  "bwrapPath: Binary path must be absolute; socatPath: Path cannot be empty; socatPath: "
	  "Binary path must be absolute; javaAgentJarPath: Binary path must be absolute" },
	{ NO_NET NO_FILES ", \"bwrapPath\": 3}", "bwrapPath: Expected string, received number" },
	{ NO_NET NO_FILES ", \"git\": 3}", "git: Expected object, received number" },
	{ NO_NET NO_FILES ", \"git\": {\"safeDirectories\": 3}}",
	  "git.safeDirectories: Expected array, received number" },
	{ NO_NET NO_FILES ", \"git\": {\"safeDirectories\": [\"\", 3]}}",
	  "git.safeDirectories.1: Expected string, received number" },
	{ NO_NET NO_FILES
	  ", \"windows\": {\"backend\": \"x\", \"sandboxUser\": \"xxxxxxxxxxxxxxxxxxxxx\", "
	  "\"sublayerGuid\": \"x\", \"wfpSublayerGuid\": \"x\", \"proxyPortRange\": [1, 2], "
	  "\"srtWin\": {\"path\": 3}}}",
	  "windows.backend: Invalid enum value. Expected 'mxc' | 'srt-win', received 'x'; "
	  "windows.sandboxUser: Windows local usernames are limited to 20 characters; "
	  "windows.sublayerGuid: Invalid uuid; windows.wfpSublayerGuid: Invalid uuid; "
	  "windows.srtWin.path: Expected string, received number" },
	{ NO_NET NO_FILES ", \"windows\": {\"proxyPortRange\": [1000, 2000]}}",
	  "windows.proxyPortRange: low must be ≤ high and range width ≤ 64" },
	{ NO_NET NO_FILES ", \"windows\": {\"proxyPortRange\": [5]}}",
	  "windows.proxyPortRange: Array must contain at least 2 element(s)" },
	{ NO_NET NO_FILES ", \"windows\": {\"proxyPortRange\": [70000, 2]}}",
	  "windows.proxyPortRange: low must be ≤ high and range width ≤ 64" },
	{ NO_NET NO_FILES ", \"windows\": 3}", "windows: Expected object, received number" },
	{ NO_NET NO_FILES ", \"windows\": {\"sandboxUser\": \"\"}}",
	  "windows.sandboxUser: String must contain at least 1 character(s)" },
	{ NO_NET NO_FILES ", \"windows\": {\"proxyPortRange\": [2000, 1000]}}",
	  "windows.proxyPortRange: low must be ≤ high and range width ≤ 64" },
	{ NO_NET NO_FILES ", \"foo\": 3}", NULL },
};
