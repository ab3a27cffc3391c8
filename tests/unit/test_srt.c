/* SPDX-License-Identifier: MIT */
/* The settings of srt: every error text, every key, what becomes of paths and domains. */
#include "spec/srt.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "lib/tap.h"
#include "srt_seen.h"

#define REFUSED "\nRefusing to run with the built-in defaults, which would drop "
#define THIS_FILE "this file's rules (its denyRead, allowRead and credential entries included)."

static struct arena arena;
static char dir[] = "/tmp/test_srt.XXXXXX";

static char *in_dir(const char *name)
{
	return arena_printf(&arena, "%s/%s", dir, name);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (!f || fputs(text, f) < 0 || fclose(f))
		ok(false, "writing %s", path);
}

/* Keys that are not built are refused after they were found to be right. */
static bool is_refused(const char *text)
{
	return strstr(text, "mitmProxy\": {\"socketPath\": \"x\"") || strstr(text, "\"mask\"");
}

static void test_seen(void)
{
	for (size_t i = 0; i < ARRAY_LEN(seen); i++) {
		_cleanup_str_ struct str why = { 0 };
		struct srt_config config = { 0 };
		int r = srt_parse(&config, seen[i].text, strlen(seen[i].text), "f", &why);
		const char *got = why.s;

		if (!seen[i].want && r < 0 && is_refused(seen[i].text)) {
			ok(strstr(why.s, "does not have yet"), "refused: %s", why.s);
			continue;
		}
		if (got && !strncmp(got, "does not hold a valid config — ", 33))
			got += 33;
		is_str(r < 0 ? got : NULL, seen[i].want, "%s", seen[i].text);
		srt_config_release(&config);
	}
}

static const char *why_of(const char *text)
{
	_cleanup_str_ struct str why = { 0 };
	struct srt_config config = { 0 };
	int r = srt_parse(&config, text, strlen(text), "f", &why);

	srt_config_release(&config);
	return r < 0 ? arena_strdup(&arena, why.s) : NULL;
}

static void test_refused(void)
{
	is_str(why_of("{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], "
		      "\"tlsTerminate\": {}}, " NO_FILES "}"),
	       "asks for network.tlsTerminate, which wrapix does not have yet.", "tlsTerminate");
	is_str(why_of("{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], "
		      "\"mitmProxy\": "
		      "{\"socketPath\": \"/s\", \"domains\": [\"a.b\"]}}, " NO_FILES "}"),
	       "asks for network.mitmProxy, which wrapix does not have yet.", "mitmProxy");
	is_str(why_of(NO_NET NO_FILES
		      ", \"credentials\": {\"allowPlaintextInject\": true, "
		      "\"files\": [{\"path\": \"/x\", \"mode\": \"mask\"}], \"envVars\": "
		      "[{\"name\": \"A\", \"mode\": \"mask\"}]}}"),
	       "asks for credentials.files.0.mode \"mask\", credentials.envVars.0.mode \"mask\", "
	       "which wrapix does not have yet.",
	       "masking");
	is_str(why_of("{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], "
		      "\"refuseOpaqueTunnels\": false, \"stripResponseHeaders\": []}, " NO_FILES
		      "}"),
	       NULL, "false asks for nothing");
	is_str(why_of("{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], "
		      "\"refuseOpaqueTunnels\": true}, " NO_FILES "}"),
	       "asks for network.refuseOpaqueTunnels, which wrapix does not have yet.",
	       "true asks for something");
	is_str(why_of("{\"a\": [1,\n 2"), "is not valid JSON: 2:3: the text ends too early",
	       "a syntax error has its place");
	is_str(why_of(NO_NET NO_FILES ", \"protect\": {\"ad\": []}}"),
	       "does not hold a valid config — protect: Unrecognized key(s) in object: 'ad'",
	       "our own keys are strict");
	is_str(why_of(NO_NET NO_FILES ", \"limits\": {\"memory\": true}}"),
	       "does not hold a valid config — limits.memory: Expected number or string, received "
	       "boolean",
	       "a limit of the wrong kind");
}

static void test_warnings(void)
{
	static const char text[] = NO_NET NO_FILES
		", \"alowPty\": true, \"seccomp\": {}, \"bwrapPath\": \"/x\", "
		"\"zzzzzzzz\": 1, \"ripgrep\": {\"command\": \"rg\"}}";
	_cleanup_str_ struct str why = { 0 };
	struct srt_config config = { 0 };

	ok(!srt_parse(&config, text, strlen(text), "FILE", &why), "unknown keys are no error");
	is_int((long long)config.warnings.len, 2, "each is warned about");
	is_str(config.warnings.v[0], "FILE: unknown key 'alowPty'; did you mean 'allowPty'?",
	       "with what may be meant");
	is_str(config.warnings.v[1], "FILE: unknown key 'zzzzzzzz'", "where something may be");
	is_int((long long)config.unused.len, 3, "accepted keys with nothing to do are listed");
	is_str(config.unused.v[1], "seccomp: accepted, not needed", "with the reason");
	srt_config_release(&config);
}

static void test_load(void)
{
	static const struct {
		const char *name, *text, *want;
	} cases[] = {
		{ "absent", NULL, "does not exist." REFUSED "the rules --settings asked for." },
		{ "blank", " \n\t\n",
		  "is empty. Delete it, or put a config in it." REFUSED THIS_FILE },
		{ "none", "", "is empty. Delete it, or put a config in it." REFUSED THIS_FILE },
		{ "shape", "{}",
		  "does not hold a valid config — network: Required; filesystem: Required" REFUSED
			  THIS_FILE },
		{ "syntax", "{",
		  "is not valid JSON: 1:2: the text ends too early" REFUSED THIS_FILE },
	};
	struct srt_config config = { 0 };
	struct str why = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *path = in_dir(cases[i].name);

		if (cases[i].text)
			write_file(path, cases[i].text);
		ok(srt_load(&config, path, SRT_BY_NAME, &why) < 0, "%s is refused", cases[i].name);
		is_str(why.s, arena_printf(&arena, "Error: %s %s", path, cases[i].want),
		       "in these words");
		str_release(&why);
	}
	ok(srt_load(&config, dir, SRT_BY_NAME, &why) == -EISDIR, "a directory is refused");
	is_str(why.s,
	       arena_printf(&arena, "Error: %s could not be read (EISDIR).%s%s", dir, REFUSED,
			    THIS_FILE),
	       "with the error's name");
	str_release(&why);
	ok(!mkfifo(in_dir("fifo"), 0600) &&
		   srt_load(&config, in_dir("fifo"), SRT_AGAIN, &why) == -EINVAL &&
		   srt_load(&config, in_dir("fifo"), SRT_BY_DEFAULT, &why) == -EINVAL,
	   "of a FIFO that was not named no writer is waited for");
	str_release(&why);
	ok(!srt_load(&config, in_dir("absent"), SRT_BY_DEFAULT, &why) && !config.origin &&
		   !config.allowed.len,
	   "no settings at all are the defaults");
	srt_config_release(&config);
	ok(srt_load(&config, in_dir("blank"), SRT_BY_DEFAULT, &why) < 0,
	   "an empty file is no defaults");
	str_release(&why);
}

struct applied {
	struct srt_config config;
	struct spec spec;
	struct exec_spec exec;
	struct srt_notes notes;
	struct err err;
	int r;
};

static struct srt_place place;

static void apply(struct applied *a, const char *text)
{
	_cleanup_str_ struct str why = { 0 };

	*a = (struct applied){ .notes.arena = &arena };
	spec_init(&a->spec);
	if (srt_parse(&a->config, text, strlen(text), "S", &why) < 0)
		ok(false, "%s: %s", text, why.s);
	a->r = srt_to_spec(&a->config, &place, &a->spec, &a->exec, &a->notes, &a->err);
}

static void release(struct applied *a)
{
	file_rules_release(&a->exec.files);
	spec_release(&a->spec);
	srt_config_release(&a->config);
}

static void test_network(void)
{
	struct applied a;

	apply(&a, "{\"network\": {\"allowedDomains\": [\"a.com\", \"*.b.com:443\", "
		  "\"localhost:8080\", \"[::1]:81\", \"localhost\", \"a b.c\", \"[fe80::1%eth0]\", "
		  "\"[1.2.3.4]:5\"], \"deniedDomains\": [\"*:25\", \"evil.com\"], "
		  "\"deniedDomainReasons\": {\"evil.com\": \"it is evil\"}, "
		  "\"deniedResolvedAddresses\": [\"10.0.0.1/8\", \"1.2.3.4\", \"fc00::1/7\"], "
		  "\"httpProxyPort\": 3128, \"socksProxyPort\": 1080, \"parentProxy\": {\"http\": "
		  "\"http://p:3\", \"noProxy\": \"x\"}}, " NO_FILES "}");
	ok(!a.r && a.spec.net == NET_FILTERED, "filtered, always");
	is_int((long long)a.spec.n_rules, 6, "six rules");
	is_str(a.spec.rules[1].text, "*.b.com:443", "as written");
	is_str(a.spec.rules[2].text, "[fe80::1]", "without a zone");
	is_str(a.spec.rules[3].text, "1.2.3.4:5", "IPv4 needs no brackets");
	ok(a.spec.rules[4].deny && !strcmp(a.spec.rules[4].text, "*:25"), "and denials");
	is_int((long long)a.spec.n_ports, 4, "ports of this machine: named, and the proxies'");
	is_int(a.spec.ports[0].host, 8080, "localhost");
	is_int(a.spec.ports[1].host, 81, "and its address");
	is_str(spec_find_env(&a.spec, "https_proxy")->value, "http://localhost:3128", "told of");
	is_str(spec_find_env(&a.spec, "ALL_PROXY")->value, "socks5h://localhost:1080", "both");
	is_int((long long)a.notes.lines.len, 2, "two entries mean nothing: %s",
	       a.notes.lines.len ? a.notes.lines.v[0] : "");
	is_str(a.exec.denied_resolved.v[0], "10.0.0.0/8", "a range by an address in it");
	is_str(a.exec.denied_resolved.v[1], "1.2.3.4/32", "an address");
	is_str(a.exec.denied_resolved.v[2], "fc00::/7", "IPv6");
	is_str(a.exec.proxy, "http://p:3", "the parent's proxy");
	is_str(srt_reason(&a.config, "evil.com"), "it is evil", "a reason");
	is_str(srt_reason(&a.config, "*:25"), NULL, "none given");
	release(&a);
	apply(&a, "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], \"parentProxy\": "
		  "{\"https\": \"socks5://x\"}}, " NO_FILES "}");
	ok(a.r == -EINVAL, "another scheme: %s", a.err.msg);
	release(&a);
	apply(&a, "{\"network\": {\"allowedDomains\": [], \"deniedDomains\": [], "
		  "\"httpProxyPort\": 8e3, "
		  "\"socksProxyPort\": 1080.0}, " NO_FILES "}");
	ok(a.config.http_proxy_port == 8000 && a.config.socks_proxy_port == 1080,
	   "a port however it is written");
	release(&a);
}

static void test_rest(void)
{
	struct applied a;

	place.git_count = "2";
	apply(&a, NO_NET NO_FILES
	      ", \"credentials\": {\"envVars\": [{\"name\": \"TOKEN\", \"mode\": \"deny\"}]}, "
	      "\"allowNestedUserNamespaces\": true, \"enableWeakerNestedSandbox\": true, "
	      "\"git\": {\"safeDirectories\": [\"/x/\", \"*\"]}, \"limits\": {\"memory\": \"1G\", "
	      "\"pids\": 40, \"cpus\": 1.5}, \"ignoreViolations\": {\"*\": [\"/a/b\"], \"npm\": "
	      "[\"x\"]}}");
	place.git_count = NULL;
	ok(!a.r && a.spec.allow_nested && a.exec.host_proc, "switches");
	ok(strv_has(&a.exec.unset_env, "TOKEN"), "a variable that is taken out");
	ok(strv_has(&a.exec.unset_env, "HTTPS_PROXY"), "... and the host's proxy's");
	is_str(spec_find_env(&a.spec, "SANDBOX_RUNTIME")->value, "1", "programs can tell");
	is_str(spec_find_env(&a.spec, "GIT_CONFIG_KEY_2")->value, "safe.directory",
	       "after the user's own");
	is_str(spec_find_env(&a.spec, "GIT_CONFIG_VALUE_3")->value, "/x/*", "what is below it");
	is_str(spec_find_env(&a.spec, "GIT_CONFIG_VALUE_4")->value, "*", "each");
	is_str(spec_find_env(&a.spec, "GIT_CONFIG_COUNT")->value, "6", "counted");
	ok(a.spec.limits.memory == 1ULL << 30 && a.spec.limits.pids == 40 &&
		   a.spec.limits.cpus == 1.5,
	   "limits");
	ok(srt_ignores(&a.config, "make", "denied /a/b/c") &&
		   !srt_ignores(&a.config, "make", "denied x") &&
		   srt_ignores(&a.config, "npm ci", "denied x"),
	   "violations to be passed over");
	release(&a);
	apply(&a, NO_NET NO_FILES ", \"limits\": {\"memory\": \"lots\"}}");
	ok(a.r == -EINVAL, "a wrong limit: %s", a.err.msg);
	release(&a);
}

static bool can_write(const struct applied *a, const char *name)
{
	return file_rules_write(&a->exec.files, name[0] == '/' ? name : in_dir(name)).allowed;
}

static bool can_read(const struct applied *a, const char *name)
{
	return file_rules_read(&a->exec.files, name[0] == '/' ? name : in_dir(name)).allowed;
}

static void make_tree(void)
{
	static const char *const dirs[] = { "home",     "work",        "work/real", "out",
					    "out/deep", "work/lit[a]", "cred" };

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		ok(!mkdir(in_dir(dirs[i]), 0755), "mkdir %s", dirs[i]);
	ok(!symlink("../out", in_dir("work/link")), "a link out");
	ok(!symlink(in_dir("nowhere/x"), in_dir("work/dangling")), "a link to nowhere");
	ok(!symlink("loop", in_dir("work/loop")), "a link to itself");
	write_file(in_dir("work/secret"), "");
	write_file(in_dir("work/settings.json"), "");
	place = (struct srt_place){ .home = in_dir("home"),
				    .cwd = in_dir("work"),
				    .settings = in_dir("work/settings.json") };
}

static void test_paths(void)
{
	struct applied a;
	struct file_verdict verdict;

	apply(&a, NO_NET
	      "\n\"filesystem\": {\"denyRead\": [\"secret\", \"~/x\", \"**/*.pem\", "
	      "\"link/deep\"],\n"
	      "\"allowRead\": [], \"allowWrite\": [\"~/data/\", \"link\", \"/dev/null\", "
	      "\"./new/dir\"],\n \"denyWrite\": [\"link\", \"dangling\", \"lit[a]\"]}, "
	      "\"credentials\": {\"files\": [{\"path\": \"../cred\", \"mode\": \"deny\"}]}}");
	ok(!a.r, "paths become rules: %s", a.err.msg);
	ok(can_write(&a, "work/real/x") && can_write(&a, "home/data/x") &&
		   can_write(&a, "work/new/dir/x"),
	   "the working directory, home, what is not there");
	ok(!can_write(&a, "out/x") && a.notes.lines.len == 1, "a link does not widen: %s",
	   a.notes.lines.len ? a.notes.lines.v[0] : "");
	verdict = file_rules_read(&a.exec.files, in_dir("work/secret"));
	ok(!verdict.allowed, "a file that is denied");
	is_str(verdict.rule->key, "filesystem.denyRead[0]", "by this entry");
	is_str(verdict.rule->origin, "S:2", "of this line");
	ok(!can_read(&a, "home/x") && !can_read(&a, "work/a/b.pem") && can_read(&a, "out/b.pem"),
	   "home, and a glob from the working directory");
	ok(!can_read(&a, "out/deep/x"), "a denial through a link");
	ok(!can_write(&a, "work/link") && !can_write(&a, "work/dangling"),
	   "the links themselves stay");
	ok(!can_write(&a, "work/lit[a]/x") && !can_write(&a, "work/lita"),
	   "a pattern that is also a name");
	ok(!can_read(&a, "cred/x"), "a credential");
	ok(!can_write(&a, "work/settings.json"), "the settings can never be written");
	ok(file_rules_reads(&a.exec.files) == FILE_READS_ASKED, "globs need the broker");
	release(&a);

	apply(&a,
	      NO_NET "\"filesystem\": {\"denyRead\": [], \"allowWrite\": [{\"path\": \"lit[a]\", "
		     "\"literal\": true}], \"denyWrite\": [], \"disabled\": true}}");
	ok(can_write(&a, "/etc/passwd"), "nothing is refused when disabled");
	release(&a);
	apply(&a, NO_NET "\"filesystem\": {\"denyRead\": [\"loop\"], \"allowWrite\": [], "
			 "\"denyWrite\": []}}");
	ok(a.r == -ELOOP, "a denial that leads nowhere stops: %s", a.err.msg);
	release(&a);

	apply(&a, NO_NET "\"filesystem\": {\"denyRead\": [], \"allowWrite\": [\"~/.bashrc\"], "
			 "\"denyWrite\": []}}");
	is_str(a.notes.lines.v[0],
	       "filesystem.allowWrite[0]: '~/.bashrc' stays protected; \"protect\": {\"remove\": "
	       "[\".bashrc\"]} would lift that",
	       "a protected name that is allowed by name");
	release(&a);
	apply(&a, NO_NET "\"filesystem\": {\"denyRead\": [\"$HOME/.ssh\", \"~/.aws\", \"$5\"], "
			 "\"allowWrite\": [\"~root/x\", \"~\"], \"denyWrite\": "
			 "[{\"path\": \"${A}\", \"literal\": true}]}}");
	is_int((long long)a.notes.lines.len, 2, "what only a shell would replace is told of");
	is_str(a.notes.lines.v[0],
	       "filesystem.denyRead[0]: '$HOME/.ssh' is a name in the working directory: no "
	       "variable is replaced here, and of homes only '~/'",
	       "... a variable");
	ok(str_starts(a.notes.lines.v[1], "filesystem.allowWrite[0]: '~root/x' is a name"),
	   "... somebody else's home");
	release(&a);

	place.settings = in_dir("work/link/deep/../settings.json");
	apply(&a, NO_NET "\"filesystem\": {\"denyRead\": [], \"allowWrite\": [\"../out\"], "
			 "\"denyWrite\": []}}");
	ok(!can_write(&a, "out/settings.json") && !can_write(&a, "work/link") &&
		   can_write(&a, "work/settings.json"),
	   "settings by a link and '..': as the kernel finds them");
	ok(can_write(&a, "out/deep/x") &&
		   !file_rules_symlink(&a.exec.files, in_dir("out/deep")).allowed,
	   "... and no link comes in the place of what was passed");
	release(&a);

	place.cwd = dir;
	apply(&a, NO_NET NO_FILES "}");
	ok(!can_write(&a, "work/x") && !can_write(&a, "home/y"),
	   "a working directory that holds the home is not given away");
	release(&a);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	test_seen();
	test_refused();
	test_warnings();
	test_load();
	make_tree();
	test_network();
	test_rest();
	test_paths();
	if (system(arena_printf(&arena, "rm -rf '%s'", dir)) != 0)
		diag("%s is left", dir);
	arena_release(&arena);
	return done();
}
