/* SPDX-License-Identifier: MIT */
/* Mount strings, variables, scalars and sizes: every form, every refusal, and which layer wins. */
#include "spec/spec.h"

#include "lib/tap.h"

static struct err err;

static void test_mount_good(void)
{
	static const struct {
		const char *text, *src, *dest;
		bool rw, optional;
	} cases[] = {
		{ "/a:/b", "/a", "/b", true, false },
		{ "/a:/b:ro", "/a", "/b", false, false },
		{ "/a:/b:rw", "/a", "/b", true, false },
		{ "/a:/b,optional", "/a", "/b", true, true },
		{ "/a:/b:ro,optional", "/a", "/b", false, true },
		{ "~/x:~/y:ro", "~/x", "/home/wrapix/y", false, false },
		{ "$HOME/x:/data/", "$HOME/x", "/data", true, false },
		{ "rel/dir:/b//c/./d", "rel/dir", "/b/c/d", true, false },
		{ "../up:/b", "../up", "/b", true, false },
		{ "a,b:/c", "a,b", "/c", true, false },
		{ "a:/b,c:rw", "a", "/b,c", true, false },
		{ "/a b\n:/c d", "/a b\n", "/c d", true, false },
		{ "/\xff:/\xfe", "/\xff", "/\xfe", true, false },
		{ "/a:/workspace/data", "/a", "/workspace/data", true, false },
		{ "/a:/device", "/a", "/device", true, false },
		{ "/a:/b..c", "/a", "/b..c", true, false },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct spec spec;

		spec_init(&spec);
		if (ok(spec_add_mount_string(&spec, cases[i].text, LAYER_FLAG, &err) == 0, "%s",
		       cases[i].text)) {
			is_str(spec.mounts[0].src, cases[i].src, "its source");
			is_str(spec.mounts[0].dest, cases[i].dest, "its destination");
			ok(spec.mounts[0].rw == cases[i].rw &&
				   spec.mounts[0].optional == cases[i].optional &&
				   spec.mounts[0].layer == LAYER_FLAG,
			   "its mode");
		} else {
			diag("%s", err.msg);
		}
		spec_release(&spec);
	}
}

static void test_mount_bad(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "must be SRC:DEST" },
		{ "/a", "must be SRC:DEST" },
		{ "/a:", "the destination is empty" },
		{ ":/b", "the source is empty" },
		{ ":", "the source is empty" },
		{ "/a:b", "must be absolute" },
		{ "/a:ro", "must be absolute" },
		{ "/a:~user/x", "must be absolute" },
		{ "~user/x:/b", "only '~' and '~/'" },
		{ "/a:/b:x", "the mode must be 'ro' or 'rw', not 'x'" },
		{ "/a:/b:", "the mode must be 'ro' or 'rw', not ''" },
		{ "/a:/b:RO", "the mode must be 'ro' or 'rw', not 'RO'" },
		{ "/a:b:/c", "the mode must be 'ro' or 'rw', not '/c'" },
		{ "/a:/b:c:ro", "too many colons" },
		{ "/a:/b,ro", "'ro' is not an option" },
		{ "/a:/b:ro,", "'' is not an option" },
		{ "/a:/b:ro,Optional", "'Optional' is not an option" },
		{ "/a:/b/../c", "'..' is not allowed" },
		{ "/a:/..", "'..' is not allowed" },
		{ "/a:~/..", "'..' is not allowed" },
		{ "/a:/", "the root of the sandbox" },
		{ "/a:///./", "the root of the sandbox" },
		{ "/a:/proc", "nothing can be mounted there" },
		{ "/a:/proc/self", "nothing can be mounted there" },
		{ "/a://dev/./null", "nothing can be mounted there" },
		{ "/a:/sys/fs", "nothing can be mounted there" },
		{ "/a:/workspace", "the project stands there" },
		{ "/a:/workspace/", "the project stands there" },
		{ "/home:/home", "such as /home/NAME" },
		{ "/a:~", "the private home" },
		{ "/a:/home/wrapix", "the private home" },
		{ "/\x1b[31m:b", "'/\\x1b[31m:b'" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct spec spec;

		spec_init(&spec);
		ok(spec_add_mount_string(&spec, cases[i].text, LAYER_FLAG, &err) < 0 &&
			   !spec.n_mounts,
		   "refused: '%s'", cases[i].text);
		if (!ok(strstr(err.msg, cases[i].want), "the reason: %s", cases[i].want))
			diag("got: %s", err.msg);
		is_int(err.exit, EXIT_USAGE, "a usage error");
		spec_release(&spec);
	}
	ok(!strchr(err.msg, 0x1b), "no control byte in a message");
}

static void test_mount_hint(void)
{
	struct spec spec;

	spec_init(&spec);
	spec_add_mount_string(&spec, "/a:b:/c:d", LAYER_FLAG, &err);
	ok(strstr(err.hint, "wrapix.json") && strstr(err.hint, "\"source\""),
	   "a colon too many points at the JSON form");
	spec_release(&spec);
}

static void test_mount_layers(void)
{
	struct spec spec;

	spec_init(&spec);
	ok(spec_add_mount_string(&spec, "/flag:/x", LAYER_FLAG, &err) == 0, "a flag");
	ok(spec_add_mount_string(&spec, "/user:/x/", LAYER_USER, &err) == 0,
	   "a weaker one on the same place is fine");
	is_str(spec.mounts[0].src, "/flag", "and has no effect");
	ok(spec_add_mount_string(&spec, "/again:/x//", LAYER_FLAG, &err) < 0, "twice in a layer");
	ok(strstr(err.msg, "two mounts have it"), "says so");
	spec_add_mount_string(&spec, "~/a:~/p", LAYER_PROFILE, &err);
	ok(spec_add_mount_string(&spec, "~/b:/home/wrapix/p", LAYER_PROFILE, &err) == 0,
	   "a child profile replaces its parent's");
	is_str(spec.mounts[1].src, "~/b", "with its own");
	ok(spec_add_mount_string(&spec, "/c:~/p:ro", LAYER_PROJECT, &err) == 0, "a stronger layer");
	is_str(spec.mounts[1].src, "/c", "replaces it");
	is_int((long long)spec.n_mounts, 2, "no mount is there twice");
	spec_release(&spec);
}

static void test_many_mounts(void)
{
	struct spec spec;
	int r = 0;

	spec_init(&spec);
	for (int i = 0; i < SPEC_MAX_MOUNTS && r == 0; i++) {
		char text[64];

		snprintf(text, sizeof(text), "/a%d:/b/%d", i, i);
		r = spec_add_mount_string(&spec, text, LAYER_FLAG, &err);
	}
	is_int(r, 0, "as many mounts as there may be");
	ok(spec_add_mount_string(&spec, "/a:/c", LAYER_FLAG, &err) < 0, "and not one more");
	spec_release(&spec);
}

static void test_env(void)
{
	static const char *const bad[] = { "",      "=x",         "1A=x", "A-B=x",
					   "A B=x", "\xc3\x84=x", "A.B",  "HOME=/x",
					   "HOME",  "USER=x",     "PWD=/" };
	struct spec spec;

	spec_init(&spec);
	ok(spec_add_env_string(&spec, "A=b=c", LAYER_FLAG, &err) == 0, "A=b=c");
	is_str(spec.env[0].value, "b=c", "the first '=' separates");
	ok(spec_add_env_string(&spec, "_x9", LAYER_FLAG, &err) == 0 && !spec.env[1].value,
	   "a bare name takes the host's value");
	ok(spec_add_env_string(&spec, "E=", LAYER_FLAG, &err) == 0, "an empty value");
	is_str(spec.env[2].value, "", "stays empty");
	ok(spec_add_env_string(&spec, "A=later", LAYER_FLAG, &err) == 0 && spec.n_env == 3,
	   "the same name again");
	is_str(spec_find_env(&spec, "A")->value, "later", "the later wins");
	ok(spec_add_env_string(&spec, "A=weak", LAYER_PROFILE, &err) == 0, "a weaker layer");
	is_str(spec_find_env(&spec, "A")->value, "later", "loses");
	ok(spec_add_env_string(&spec, "PATH=/bin", LAYER_FLAG, &err) == 0, "PATH may be set");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ok(spec_add_env_string(&spec, bad[i], LAYER_FLAG, &err) < 0, "refused: %s", bad[i]);
	spec_add_env_string(&spec, "HOME=/x", LAYER_FLAG, &err);
	is_str(err.msg, "env: HOME cannot be set: the home inside is always /home/wrapix",
	       "HOME is refused with its reason");
	spec_release(&spec);
}

static void test_env_size(void)
{
	char *text = malloc(128 * 1024 + 1);
	struct spec spec;

	if (!text)
		abort();
	spec_init(&spec);
	memset(text, 'v', 128 * 1024);
	memcpy(text, "A=", 2);
	text[128 * 1024] = '\0';
	ok(spec_add_env_string(&spec, text, LAYER_FLAG, &err) < 0, "longer than exec takes");
	text[128 * 1024 - 1] = '\0';
	ok(spec_add_env_string(&spec, text, LAYER_FLAG, &err) == 0, "as long as exec takes");
	spec_release(&spec);
	free(text);
}

static void test_scalars(void)
{
	static const struct {
		const char *key, *value, *want; /* want: NULL when it is fine */
	} cases[] = {
		{ "network", "none", NULL },
		{ "network", "nonne", "network: 'nonne': must be one of open, none, host" },
		{ "network", "", "network: '': must be one of open, none, host" },
		{ "engine", "native", NULL },
		{ "engine", "lxc",
		  "engine: 'lxc': must be one of auto, native, podman, docker, apple" },
		{ "runtime", "krun", NULL },
		{ "runtime", "runc", "runtime: 'runc': must be one of default, krun" },
		{ "home", "keep", NULL },
		{ "only", "true", NULL },
		{ "allowNested", "yes", "allowNested: 'yes': must be one of false, true" },
		{ "profile", "rust-1.2_x", NULL },
		{ "profile", "../x", "profile: '../x': a profile is named" },
		{ "profile", ".x", "profile: '.x': a profile is named" },
		{ "profile", "Rust", "profile: 'Rust': a profile is named" },
		{ "agent", "claude", NULL },
		{ "agent", "./my agent", NULL },
		{ "agent", "my agent", "agent: 'my agent': must be" },
		{ "agent", "", "agent: '': must be" },
		{ "agent", "-x", "agent: '-x': must be" },
		{ "name", "a.b-c", NULL },
		{ "name", "a b", "name: 'a b': a name is made of" },
		{ "name", "a/b", "name: 'a/b': a name is made of" },
		{ "cpus", "1.5", NULL },
		{ "cpus", "2", NULL },
		{ "cpus", "0", "cpus: '0': must be at least 0.01" },
		{ "cpus", "-1", "must be a decimal number" },
		{ "cpus", "1e3", "must be a decimal number" },
		{ "cpus", "1,5", "must be a decimal number" },
		{ "cpus", ".5", "must be a decimal number" },
		{ "cpus", "1.", "must be a decimal number" },
		{ "cpus", "nan", "must be a decimal number" },
		{ "cpus", "100000", "must lie between" },
		{ "memory", "4G", NULL },
		{ "memory", "4", "must lie between" },
		{ "memory", "4X", "must be a size" },
		{ "memory", "8E", "must be a size" },
		{ "memory", "99999999999T", "too large" },
		{ "memory", "9223372036854775808", "must lie between" },
		{ "pids", "1", NULL },
		{ "pids", "0", "must lie between 1 and 4194304" },
		{ "pids", "99999999999999999999", "too large" },
		{ "pids", "1K", "must be a whole number" },
		{ "disk", "10G", NULL },
		{ "colour", "red", "'colour': unknown key" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct spec spec;
		int r;

		spec_init(&spec);
		r = spec_set(&spec, cases[i].key, cases[i].value, LAYER_FLAG, &err);
		if (!cases[i].want)
			ok(r == 0, "%s '%s'", cases[i].key, cases[i].value);
		else if (!ok(r < 0 && strstr(err.msg, cases[i].want), "refused: %s '%s'",
			     cases[i].key, cases[i].value))
			diag("got %d: %s", r, err.msg);
		spec_release(&spec);
	}
}

static void test_values(void)
{
	struct spec spec;

	spec_init(&spec);
	spec_set(&spec, "network", "host", LAYER_FLAG, &err);
	spec_set(&spec, "engine", "podman", LAYER_FLAG, &err);
	spec_set(&spec, "home", "keep", LAYER_FLAG, &err);
	spec_set(&spec, "cpus", "1.25", LAYER_FLAG, &err);
	spec_set(&spec, "memory", "2g", LAYER_FLAG, &err);
	spec_set(&spec, "pids", "77", LAYER_FLAG, &err);
	spec_set(&spec, "allowNested", "true", LAYER_FLAG, &err);
	ok(spec.net == NET_HOST && spec.engine == ENGINE_PODMAN && spec.home == HOME_KEEP,
	   "choices land in their fields");
	ok(spec.limits.cpus == 1.25 && spec.limits.memory == 2ULL << 30 && spec.limits.pids == 77,
	   "limits land in their fields");
	ok(spec.allow_nested && !spec.only, "booleans land in their fields");
	is_str(net_mode_name(spec.net), "host", "the word for a network");
	is_str(engine_name(ENGINE_APPLE), "apple", "the word for an engine");
	is_str(spec_choices("home")[1], "keep", "the words of a choice");
	ok(!spec_choices("memory") && !spec_choices("x"), "no words where there is no choice");
	spec_release(&spec);
}

static void test_layers(void)
{
	struct spec spec;
	enum layer layer = LAYER_BUILTIN;

	spec_init(&spec);
	ok(!spec_layer(&spec, "network", &layer), "unset");
	spec_set(&spec, "network", "open", LAYER_PROJECT, &err);
	ok(spec_layer(&spec, "network", &layer) && layer == LAYER_PROJECT, "set by the project");
	spec_set(&spec, "network", "none", LAYER_USER, &err);
	ok(spec.net == NET_OPEN, "a weaker layer does not replace it");
	ok(spec_set(&spec, "network", "nnoe", LAYER_USER, &err) < 0,
	   "a weaker layer's mistake is still an error");
	spec_set(&spec, "network", "host", LAYER_FLAG, &err);
	ok(spec.net == NET_HOST, "a stronger one does");
	for (int i = 0; i < 1000; i++) {
		spec_set(&spec, "agent", "strong", LAYER_FLAG, &err);
		spec_set(&spec, "agent", "weak", LAYER_USER, &err);
	}
	is_str(spec.agent, "strong", "strings too, however often");
	spec.only = true; /* as an option table does */
	spec_set(&spec, "only", "false", LAYER_PROJECT, &err);
	ok(spec.only, "a field that was written directly counts as a flag");
	spec_set(&spec, "allowNested", "false", LAYER_USER, &err);
	spec_set(&spec, "allowNested", "true", LAYER_PROFILE, &err);
	ok(!spec.allow_nested, "false is a value too");
	spec_release(&spec);
}

static void test_sizes(void)
{
	static const struct {
		const char *text;
		uint64_t want; /* 0: refused */
	} cases[] = {
		{ "1", 1 },
		{ "1048576", 1 << 20 },
		{ "1K", 1 << 10 },
		{ "3m", 3 << 20 },
		{ "4G", 4ULL << 30 },
		{ "4GB", 4ULL << 30 },
		{ "4GiB", 4ULL << 30 },
		{ "4Gi", 4ULL << 30 },
		{ "2T", 2ULL << 40 },
		{ "10B", 10 },
		{ "18446744073709551615", UINT64_MAX },
		{ "18446744073709551616", 0 },
		{ "16777215T", 16777215ULL << 40 },
		{ "16777216T", 0 },
		{ "", 0 },
		{ "G", 0 },
		{ "B", 0 },
		{ "-1", 0 },
		{ "+1", 0 },
		{ " 1", 0 },
		{ "1 ", 0 },
		{ "1.5G", 0 },
		{ "0x10", 0 },
		{ "1GG", 0 },
		{ "1Gb", 0 },
		{ "1i", 0 },
		{ "1iB", 0 },
		{ "1BB", 0 },
		{ "1\xcd", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t n = 0;
		int r = parse_size(cases[i].text, &n, &err);

		ok(cases[i].want ? r == 0 && n == cases[i].want : r < 0, "size '%s'",
		   cases[i].text);
	}
}

int main(void)
{
	test_mount_good();
	test_mount_bad();
	test_mount_hint();
	test_mount_layers();
	test_many_mounts();
	test_env();
	test_env_size();
	test_scalars();
	test_values();
	test_layers();
	test_sizes();
	return done();
}
