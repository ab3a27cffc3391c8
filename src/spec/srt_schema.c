/* SPDX-License-Identifier: MIT */
/* Every key of a SandboxRuntimeConfig (release 0.0.83), in the order of its messages, and ours. */
#include "spec/srt_schema.h"

#include <string.h>

#define NO_TEXT "String must contain at least 1 character(s)"
#define NO_PATH "Path cannot be empty"

static const struct srt_type boolean = { .kind = SRT_BOOL };
static const struct srt_type string = { .kind = SRT_STRING };
static const struct srt_type filled = { .kind = SRT_STRING, .empty = NO_TEXT };
static const struct srt_type file = { .kind = SRT_STRING, .empty = NO_PATH };
static const struct srt_type path = { .kind = SRT_PATH, .empty = NO_PATH };
static const struct srt_type port = { .kind = SRT_INT, .min = 1, .max = 65535 };
static const struct srt_type depth = { .kind = SRT_INT, .min = 1, .max = 10 };
static const struct srt_type url = { .kind = SRT_STRING, .check = srt_check_url };
static const struct srt_type uuid = { .kind = SRT_STRING, .check = srt_check_uuid };
static const struct srt_type address = { .kind = SRT_STRING, .check = srt_check_address };
static const struct srt_type env_name = { .kind = SRT_STRING, .check = srt_check_env_name };
static const struct srt_type mach_name = { .kind = SRT_STRING, .check = srt_check_mach };
static const struct srt_type domain = { .kind = SRT_STRING, .check = srt_check_domain };
static const struct srt_type allowed = { .kind = SRT_STRING, .check = srt_check_allowed };
static const struct srt_type denied = { .kind = SRT_STRING, .check = srt_check_denied };
static const struct srt_type program = { .kind = SRT_STRING,
					 .empty = NO_PATH,
					 .check = srt_check_absolute };
static const struct srt_type function = { .kind = SRT_FUNCTION };
static const struct srt_type size = { .kind = SRT_SIZE };

static const struct srt_type strings = { .kind = SRT_ARRAY, .of = &string };
static const struct srt_type filled_strings = { .kind = SRT_ARRAY, .of = &filled };
static const struct srt_type paths = { .kind = SRT_ARRAY, .of = &path };
static const struct srt_type domains = { .kind = SRT_ARRAY, .of = &domain };
static const struct srt_type some_domains = { .kind = SRT_ARRAY, .of = &domain, .min = 1 };
static const struct srt_type addresses = { .kind = SRT_ARRAY, .of = &address };
static const struct srt_type allowed_domains = { .kind = SRT_ARRAY, .of = &allowed };
static const struct srt_type denied_domains = { .kind = SRT_ARRAY, .of = &denied };
static const struct srt_type mach_names = { .kind = SRT_ARRAY, .of = &mach_name };
static const struct srt_type reasons = { .kind = SRT_RECORD, .of = &filled };
static const struct srt_type lists = { .kind = SRT_RECORD, .of = &strings };

static const char *const mode_words[] = { "deny", "mask", NULL };
static const struct srt_type mode = { .kind = SRT_ENUM, .words = mode_words };
static const char *const no_match_words[] = { "warn", "deny", "error", NULL };
static const struct srt_type no_match = { .kind = SRT_ENUM, .words = no_match_words };
static const char *const decode_words[] = { "jwt", NULL };
static const struct srt_type decode = { .kind = SRT_ENUM, .words = decode_words };
static const char *const pass_words[] = { "deny", "passthrough", NULL };
static const struct srt_type pass = { .kind = SRT_ENUM, .words = pass_words };

/* --- network --- */

static const struct srt_key mitm_keys[] = {
	{ "socketPath", &filled, SRT_REQUIRED },
	{ "domains", &some_domains, SRT_REQUIRED },
	{ .name = NULL },
};
static const struct srt_type mitm = { .kind = SRT_OBJECT, .keys = mitm_keys };

static const char *const target_words[] = { "refuse", "asSpelled", "normalize", NULL };
static const struct srt_type target = { .kind = SRT_ENUM, .words = target_words };

static const struct srt_type tunnels = { .kind = SRT_INT, .min = 1, .max = 65536 };
static const struct srt_type handshake = { .kind = SRT_INT, .min = 100, .max = 600000 };
static const struct srt_key tls_keys[] = {
	{ "caCertPath", &filled },
	{ "caKeyPath", &filled },
	{ "excludeDomains", &domains },
	{ "extraCaCertPaths", &filled_strings },
	{ "maxTunnels", &tunnels },
	{ "handshakeTimeoutMs", &handshake },
	{ .name = NULL },
};

static const char *refine_tls(const struct json_doc *doc, const struct json_span *span)
{
	bool cert = json_span_get(doc, span, "caCertPath");

	return cert == !!json_span_get(doc, span, "caKeyPath")
		       ? NULL
		       : "caCertPath and caKeyPath must be provided together";
}

static const struct srt_type tls = { .kind = SRT_OBJECT, .keys = tls_keys, .refine = refine_tls };

static const struct srt_key parent_keys[] = {
	{ "http", &url },
	{ "https", &url },
	{ "noProxy", &string },
	{ .name = NULL },
};
static const struct srt_type parent = { .kind = SRT_OBJECT, .keys = parent_keys };

static const struct srt_key network_keys[] = {
	{ "allowedDomains", &allowed_domains, SRT_REQUIRED },
	{ "deniedDomains", &denied_domains, SRT_REQUIRED },
	{ "deniedDomainReasons", &reasons },
	{ "strictAllowlist", &boolean, SRT_ALWAYS },
	{ "deniedResolvedAddresses", &addresses },
	{ "allowUnixSockets", &strings },
	{ "allowAllUnixSockets", &boolean },
	{ "allowLocalBinding", &boolean, SRT_ALWAYS },
	{ "allowMachLookup", &mach_names, SRT_MACOS },
	{ "httpProxyPort", &port },
	{ "socksProxyPort", &port },
	{ "mitmProxy", &mitm, SRT_REFUSED },
	{ "filterRequest", &function, SRT_REFUSED },
	{ "allowPlaintextHeaderSet", &boolean, SRT_REFUSED },
	{ "stripResponseHeaders", &filled_strings, SRT_REFUSED },
	{ "refuseOpaqueTunnels", &boolean, SRT_REFUSED },
	{ "requireHostMatch", &boolean, SRT_REFUSED },
	{ "ambiguousRequestTarget", &target, SRT_REFUSED },
	{ "tlsTerminate", &tls, SRT_REFUSED },
	{ "parentProxy", &parent },
	{ .name = NULL },
};
static const struct srt_type network = { .kind = SRT_OBJECT, .keys = network_keys };

/* --- filesystem --- */

static const struct srt_key filesystem_keys[] = {
	{ "disabled", &boolean },
	{ "denyRead", &paths, SRT_REQUIRED },
	{ "allowRead", &paths },
	{ "allowWrite", &paths, SRT_REQUIRED },
	{ "denyWrite", &paths, SRT_REQUIRED },
	{ "allowGitConfig", &boolean },
	{ .name = NULL },
};
static const struct srt_type filesystem = { .kind = SRT_OBJECT, .keys = filesystem_keys };

/* --- credentials --- */

static const struct srt_key credential_file_keys[] = {
	{ "path", &file, SRT_REQUIRED },
	{ "mode", &mode, SRT_REQUIRED },
	{ "extract", &string, SRT_MASK },
	{ "onExtractNoMatch", &no_match, SRT_MASK },
	{ "decode", &decode, SRT_MASK },
	{ "maskClaims", &strings, SRT_MASK },
	{ "maskDuplicates", &boolean, SRT_MASK },
	{ "injectHosts", &domains, SRT_MASK },
	{ .name = NULL },
};
static const struct srt_type credential_file = { .kind = SRT_OBJECT, .keys = credential_file_keys };
static const struct srt_type credential_files = { .kind = SRT_ARRAY, .of = &credential_file };

static const struct srt_key credential_env_keys[] = {
	{ "name", &env_name, SRT_REQUIRED },   { "mode", &mode, SRT_REQUIRED },
	{ "extract", &string, SRT_MASK },      { "onExtractNoMatch", &no_match, SRT_MASK },
	{ "decode", &decode, SRT_MASK },       { "maskClaims", &strings, SRT_MASK },
	{ "injectHosts", &domains, SRT_MASK }, { .name = NULL },
};
static const struct srt_type credential_env = { .kind = SRT_OBJECT, .keys = credential_env_keys };
static const struct srt_type credential_envs = { .kind = SRT_ARRAY, .of = &credential_env };

static const struct srt_key aws_keys[] = {
	{ "accessKeyIdVar", &string, SRT_REQUIRED },
	{ "secretAccessKeyVar", &string, SRT_REQUIRED },
	{ "sessionTokenVar", &string },
	{ .name = NULL },
};
static const struct srt_type aws = { .kind = SRT_OBJECT, .strict = true, .keys = aws_keys };
static const struct srt_type aws_pairs = { .kind = SRT_ARRAY, .of = &aws };

static const struct srt_key sigv4_keys[] = {
	{ "streaming", &pass },
	{ "presigned", &pass },
	{ "sigv4a", &pass },
	{ .name = NULL },
};
static const struct srt_type sigv4 = { .kind = SRT_OBJECT, .strict = true, .keys = sigv4_keys };

static const struct srt_key credentials_keys[] = {
	{ "files", &credential_files },
	{ "envVars", &credential_envs },
	{ "allowPlaintextInject", &boolean, SRT_MASK },
	{ "awsPairs", &aws_pairs, SRT_MASK },
	{ "sigv4", &sigv4, SRT_MASK },
	{ .name = NULL },
};
static const struct srt_type credentials = { .kind = SRT_OBJECT,
					     .strict = true,
					     .keys = credentials_keys };

/* --- programs and other systems --- */

static const struct srt_key ripgrep_keys[] = {
	{ "command", &string, SRT_REQUIRED },
	{ "args", &strings },
	{ "argv0", &string },
	{ .name = NULL },
};
static const struct srt_type ripgrep = { .kind = SRT_OBJECT, .keys = ripgrep_keys };

static const struct srt_key seccomp_keys[] = {
	{ "applyPath", &string },
	{ "argv0", &string },
	{ .name = NULL },
};
static const struct srt_type seccomp = { .kind = SRT_OBJECT, .keys = seccomp_keys };

static const struct srt_key git_keys[] = { { "safeDirectories", &strings }, { .name = NULL } };
static const struct srt_type git = { .kind = SRT_OBJECT, .keys = git_keys };

static const char *refine_ports(const struct json_doc *doc, const struct json_span *span)
{
	const struct json_span *low = json_span_first(doc, span), *high = json_span_next(doc, low);
	double a = srt_number(doc, low), b = srt_number(doc, high);

	return a <= b && b - a < 64 ? NULL : "low must be ≤ high and range width ≤ 64";
}

static const char *const backend_words[] = { "mxc", "srt-win", NULL };
static const struct srt_type backend = { .kind = SRT_ENUM, .words = backend_words };
static const struct srt_type windows_user = { .kind = SRT_STRING,
					      .empty = NO_TEXT,
					      .check = srt_check_user };
static const struct srt_type any_port = { .kind = SRT_INT, .min = 0, .max = 1L << 30 };
static const struct srt_type port_range = {
	.kind = SRT_ARRAY, .min = 2, .max = 2, .of = &any_port, .refine = refine_ports
};
static const struct srt_key srt_win_keys[] = { { "path", &string }, { .name = NULL } };
static const struct srt_type srt_win = { .kind = SRT_OBJECT, .keys = srt_win_keys };
static const struct srt_key windows_keys[] = {
	{ "backend", &backend },
	{ "sandboxUser", &windows_user },
	{ "sublayerGuid", &uuid },
	{ "wfpSublayerGuid", &uuid },
	{ "proxyPortRange", &port_range },
	{ "srtWin", &srt_win },
	{ .name = NULL },
};
static const struct srt_type windows = { .kind = SRT_OBJECT, .keys = windows_keys };

/* --- ours --- */

static const struct srt_key protect_keys[] = {
	{ "add", &filled_strings },
	{ "remove", &filled_strings },
	{ .name = NULL },
};
static const struct srt_type protect = { .kind = SRT_OBJECT, .strict = true, .keys = protect_keys };

static const struct srt_key limits_keys[] = {
	{ "cpus", &size }, { "memory", &size }, { "pids", &size },
	{ "disk", &size }, { .name = NULL },
};
static const struct srt_type limits = { .kind = SRT_OBJECT, .strict = true, .keys = limits_keys };

static const struct srt_key config_keys[] = {
	{ "network", &network, SRT_REQUIRED },
	{ "filesystem", &filesystem, SRT_REQUIRED },
	{ "credentials", &credentials },
	{ "ignoreViolations", &lists },
	{ "enableWeakerNestedSandbox", &boolean },
	{ "allowNestedUserNamespaces", &boolean },
	{ "enableWeakerNetworkIsolation", &boolean, SRT_MACOS },
	{ "allowAppleEvents", &boolean, SRT_MACOS },
	{ "ripgrep", &ripgrep, SRT_UNUSED },
	{ "mandatoryDenySearchDepth", &depth, SRT_UNUSED },
	{ "allowPty", &boolean, SRT_ALWAYS },
	{ "seccomp", &seccomp, SRT_UNUSED },
	{ "bwrapPath", &program, SRT_UNUSED },
	{ "socatPath", &program, SRT_UNUSED },
	{ "javaAgentJarPath", &program, SRT_UNUSED },
	{ "windows", &windows, SRT_WINDOWS },
	{ "git", &git },
	{ "protect", &protect },
	{ "limits", &limits },
	{ .name = NULL },
};

const struct srt_type srt_config_type = { .kind = SRT_OBJECT, .keys = config_keys };

const char *srt_key_state(unsigned flags)
{
	static const struct {
		unsigned flag;
		const char *state;
	} states[] = {
		{ SRT_REFUSED, "refused" },
		{ SRT_UNUSED, "accepted, not needed" },
		{ SRT_MACOS, "accepted, for macOS" },
		{ SRT_WINDOWS, "accepted, for Windows" },
		{ SRT_ALWAYS, "accepted, so in any case" },
		{ SRT_MASK, "accepted, for mode mask" },
	};

	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		if (flags & states[i].flag)
			return states[i].state;
	return "enforced";
}
