/* SPDX-License-Identifier: MIT */
/*
 * Configuration files and profiles: every key, every refusal, what a project's file widens, and that
 * the JSON Schema for editors knows the same keys as the program.
 */
#include "spec/config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/json.h"
#include "lib/tap.h"
#include "os/fs.h"
#include "spec/agent.h"

static struct err err;
static char tmp[] = "/tmp/wrapix-test-config.XXXXXX";

static void put(const char *name, const char *text)
{
	_cleanup_close_ int dir = open(tmp, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (os_write_file_atomic(dir, name, text, strlen(text), 0600, &err) < 0)
		abort();
}

static void test_all_keys(void)
{
	static const char text[] =
		"{ // every key\n"
		"  \"$schema\": \"x\", \"profile\": \"rust\",\n"
		"  \"env\": { \"A\": \"b\", \"TERM\": null },\n"
		"  \"mounts\": [ \"/a:/b:ro\", { \"source\": \"/c:d\", \"dest\": \"~/e,f\",\n"
		"    \"mode\": \"ro\", \"optional\": true }, { \"source\": \"g\", \"dest\": \"/h\" "
		"} ],\n"
		"  \"network\": \"none\", \"engine\": \"native\", \"agent\": \"codex\",\n"
		"  \"limits\": { \"cpus\": 1.5, \"memory\": \"4G\", \"pids\": 100, \"disk\": "
		"1073741824 },\n"
		"  \"home\": \"keep\", \"allowNested\": true, \"only\": true }\n";
	struct spec spec;

	spec_init(&spec);
	if (!ok(config_parse(&spec, text, strlen(text), "f", LAYER_PROJECT, NULL, &err) == 0,
		"every key is taken"))
		diag("%s", err.msg);
	is_str(spec.profile, "rust", "profile");
	is_str(spec.agent, "codex", "agent");
	ok(spec.net == NET_NONE && spec.engine == ENGINE_NATIVE && spec.home == HOME_KEEP,
	   "choices");
	ok(spec.allow_nested && spec.only, "booleans");
	ok(spec.limits.cpus == 1.5 && spec.limits.memory == 4ULL << 30 && spec.limits.pids == 100 &&
		   spec.limits.disk == 1 << 30,
	   "limits");
	ok(spec.n_env == 2 && !strcmp(spec.env[0].value, "b") && !spec.env[1].value, "env");
	is_int((long long)spec.n_mounts, 3, "mounts");
	is_str(spec.mounts[1].src, "/c:d", "a source with a colon");
	is_str(spec.mounts[1].dest, "/home/wrapix/e,f", "a destination with a comma");
	ok(!spec.mounts[1].rw && spec.mounts[1].optional, "its mode");
	ok(spec.mounts[2].rw && !spec.mounts[2].optional && spec.mounts[2].layer == LAYER_PROJECT,
	   "the defaults of the object form");
	spec_release(&spec);
}

static void test_bad(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "[]", "f: must be an object, not a list" },
		{ "null", "f: must be an object, not null" },
		{ "{", "f:1:2: the text ends too early" },
		{ "{\"mount\":[]}", "f: mount: unknown key" },
		{ "{\"description\":\"x\"}", "f: description: unknown key" },
		{ "{\"deployKey\":7}",
		  "f: deployKey: must be a name, or an object with \"name\", not 7" },
		{ "{\"deployKey\":{\"nam\":\"x\"}}", "f: deployKey.nam: unknown key" },
		{ "{\"deployKey\":{\"confirm\":\"x\"}}",
		  "f: deployKeyConfirm: must be true or false, not \"x\"" },
		{ "{\"packages\":[\"--x\"]}",
		  "f: packages[0]: package: '--x' is no package's name" },
		{ "{\"packages\":{}}", "f: packages: must be a list, not an object" },
		{ "{\"workspace\":\"cwo\"}", "f: workspace: 'cwo': must be one of direct, cow" },
		{ "{\"profile\":7}", "f: profile: must be a string, not 7" },
		{ "{\"network\":7}",
		  "f: network: must be a mode, or an object with \"mode\", not 7" },
		{ "{\"network\":{\"mode\":7}}", "f: network.mode: must be a string, not 7" },
		{ "{\"network\":{\"alow\":[]}}", "f: network.alow: unknown key" },
		{ "{\"network\":{\"allow\":[7]}}", "f: network.allow[0]: must be a string, not 7" },
		{ "{\"network\":{\"explain\":7}}",
		  "f: network.explain: must be true or false, not 7" },
		{ "{\"network\":\"opne\"}",
		  "f: network: 'opne': must be one of open, none, host, filtered" },
		{ "{\"publish\":[\"99999\"]}", "f: publish[0]: '99999': not a port to publish" },
		{ "{\"hostPorts\":[true]}", "f: hostPorts[0]: must be a port, not true" },
		{ "{\"only\":\"true\"}", "f: only: must be true or false, not \"true\"" },
		{ "{\"only\":null}", "f: only: must be true or false, not null" },
		{ "{\"env\":[\"A=b\"]}", "f: env: must be an object, not a list" },
		{ "{\"env\":{\"A\":8080}}",
		  "f: env.A: must be a string, or null for the value it has outside, not 8080" },
		{ "{\"env\":{\"A-B\":\"x\"}}",
		  "f: env: 'A-B' is not a name: letters, digits and '_', no digit first" },
		{ "{\"mounts\":{}}", "f: mounts: must be a list, not an object" },
		{ "{\"mounts\":[\"/a:/b\",7]}",
		  "f: mounts[1]: must be a string \"SRC:DEST[:ro|rw]\" or an object, not 7" },
		{ "{\"mounts\":[\"/a\"]}", "f: mounts[0]: must be SRC:DEST[:ro|rw][,optional]" },
		{ "{\"mounts\":[{\"source\":\"/a\"}]}",
		  "f: mounts[0].dest: must be given, not null" },
		{ "{\"mounts\":[{\"source\":\"/a\",\"dest\":\"/b\",\"mode\":7}]}",
		  "f: mounts[0].mode: must be a string, not 7" },
		{ "{\"mounts\":[{\"source\":\"/a\",\"dest\":\"/b\",\"mode\":\"w\"}]}",
		  "f: mounts[0].mode: must be \"ro\" or \"rw\", not \"w\"" },
		{ "{\"mounts\":[{\"src\":\"/a\",\"dest\":\"/b\"}]}",
		  "f: mounts[0].src: unknown key" },
		{ "{\"mounts\":[{\"source\":\"/a\",\"dest\":\"/proc\"}]}",
		  "f: mounts[0]: destination '/proc': nothing can be mounted there: wrapix mounts "
		  "it "
		  "for the sandbox's own processes" },
		{ "{\"mounts\":[\"/a:/b\",\"/c:/b\"]}",
		  "f: mounts[1]: destination '/b': two mounts have it" },
		{ "{\"limits\":{\"ram\":1}}", "f: limits.ram: unknown key" },
		{ "{\"limits\":{\"pids\":1.5}}", "f: limits: pids: '1.5': must be a whole number" },
		{ "{\"limits\":{\"pids\":true}}",
		  "f: limits.pids: must be a number or a string such as \"4G\", not true" },
		{ "{\"limits\":{\"cpus\":1e2}}",
		  "f: limits: cpus: '1e2': must be a decimal number such as 2 or 1.5" },
		{ "{\"limits\":{\"memory\":-1}}", "f: limits: memory: '-1': must be a size such as "
						  "512M or 4G (K, M, G, T: powers of "
						  "1024)" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct spec spec;

		spec_init(&spec);
		ok(config_parse(&spec, cases[i].text, strlen(cases[i].text), "f", LAYER_PROJECT,
				NULL, &err) < 0,
		   "refused: %s", cases[i].text);
		is_str(err.msg, cases[i].want, "its message");
		is_int(err.exit, EXIT_USAGE, "a usage error");
		spec_release(&spec);
	}
}

static void test_layer_rules(void)
{
	static const char relative[] = "{\"mounts\":[\"a:/b\"]}";
	struct spec spec;

	spec_init(&spec);
	ok(config_parse(&spec, relative, strlen(relative), "f", LAYER_USER, NULL, &err) < 0,
	   "the user's file has no directory to be relative to");
	ok(config_parse(&spec, relative, strlen(relative), "f", LAYER_PROJECT, NULL, &err) == 0,
	   "a project's has");
	ok(config_parse(&spec, "{\"network\":\"none\"}", 18, "f", LAYER_PROFILE, NULL, &err) < 0,
	   "a profile does not set the network");
	config_parse(&spec, "{\"netwrk\":\"none\"}", 17, "f", LAYER_USER, NULL, &err);
	is_str(err.hint, "did you mean \"network\"?", "the nearest key");
	spec_release(&spec);
}

/* Lays the user's and the project's text and lists what the latter widens. */
static void check_widening(const char *user, const char *text, const char *want)
{
	struct project_config project = { .path = NULL };
	_cleanup_str_ struct str got = { 0 };
	struct spec spec;
	int r = 0;

	spec_init(&spec);
	if (user)
		r = config_parse(&spec, user, strlen(user), "user", LAYER_USER, NULL, &err);
	if (r == 0)
		r = config_parse(&spec, text, strlen(text), "f", LAYER_PROJECT, &project, &err);
	str_add(&got, r < 0 ? err.msg : "");
	for (size_t i = 0; i < project.n_widenings; i++)
		str_addf(&got, "%s%s=%s", i ? "; " : "", project.widenings[i].key,
			 project.widenings[i].shown);
	is_str(got.s, want, "%s over %s", text, user ? user : "nothing");
	project_config_release(&project);
	spec_release(&spec);
}

static void test_widening(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "{}", "" },
		{ "{\"network\":\"none\"}", "" },
		{ "{\"network\":\"open\"}", "" },
		{ "{\"network\":\"host\"}", "network=\"host\"" },
		{ "{\"engine\":\"native\",\"home\":\"keep\",\"only\":true}", "" },
		{ "{\"engine\":\"podman\"}", "engine=\"podman\"" },
		{ "{\"env\":{\"SHELL\":\"/workspace/x\"}}", "env.SHELL=\"/workspace/x\"" },
		{ "{\"allowNested\":false}", "" },
		{ "{\"allowNested\":true}", "allowNested=\"true\"" },
		{ "{\"deployKey\":\"site\"}", "deployKey=\"site\"" },
		{ "{\"deployKey\":{\"name\":\"site\",\"mode\":\"file\"}}",
		  "deployKey=\"site\"; deployKeyMode=\"file\"" },
		{ "{\"deployKeyMode\":\"agent\",\"deployKeyConfirm\":true}", "" },
		{ "{\"agent\":\"codex\"}", "" },
		{ "{\"agent\":\"./agent.sh\"}", "agent=\"./agent.sh\"" },
		{ "{\"profile\":\"base\"}", "" },
		{ "{\"profile\":\"rust\"}", "profile=\"rust\"" },
		{ "{\"profile\":\"my-own\"}", "profile=\"my-own\"" },
		{ "{\"limits\":{\"cpus\":64,\"memory\":\"4G\",\"pids\":4096,\"disk\":\"4G\"}}",
		  "" },
		{ "{\"limits\":{\"memory\":\"5G\"}}", "limits.memory=\"5G\"" },
		{ "{\"limits\":{\"pids\":4194304,\"disk\":\"1T\"}}",
		  "limits.pids=\"4194304\"; limits.disk=\"1T\"" },
		{ "{\"env\":{\"RUST_LOG\":\"debug\",\"NODE_ENV\":\"test\"}}", "" },
		{ "{\"env\":{\"SECRET\":null}}", "env.SECRET=the value it has outside" },
		{ "{\"env\":{\"ANTHROPIC_BASE_URL\":\"http://x\"}}",
		  "env.ANTHROPIC_BASE_URL=\"http://x\"" },
		{ "{\"env\":{\"https_proxy\":\"http://x\"}}", "env.https_proxy=\"http://x\"" },
		{ "{\"env\":{\"LD_PRELOAD\":\"/workspace/x.so\"}}",
		  "env.LD_PRELOAD=\"/workspace/x.so\"" },
		{ "{\"env\":{\"NODE_COMPILE_CACHE\":\"/workspace/x\"}}",
		  "env.NODE_COMPILE_CACHE=\"/workspace/x\"" },
		{ "{\"env\":{\"PYTHONPYCACHEPREFIX\":\"/workspace/x\"}}",
		  "env.PYTHONPYCACHEPREFIX=\"/workspace/x\"" },
		{ "{\"env\":{\"SSLKEYLOGFILE\":\"/workspace/x\"}}",
		  "env.SSLKEYLOGFILE=\"/workspace/x\"" },
		{ "{\"env\":{\"PATH\":\"\\u001b[2J\"}}", "env.PATH=\"\\u001b[2J\"" },
		{ "{\"mounts\":[\"data:/data:ro\"]}",
		  "mounts[0]=\"data\" at \"/data\", read-only" },
		{ "{\"mounts\":[\"a:~/.claude:ro\"]}",
		  "mounts[0]=\"a\" at \"/home/wrapix/.claude\", read-only" },
		{ "{\"mounts\":[\"data:/data\"]}", "mounts[0]=\"data\" at \"/data\", read-write" },
		{ "{\"mounts\":[\"a:/workspace/.git:ro\"]}",
		  "mounts[0]=\"a\" at \"/workspace/.git\", read-only" },
		{ "{\"mounts\":[\"/etc:/x:ro\"]}", "mounts[0]=\"/etc\" at \"/x\", read-only" },
		{ "{\"mounts\":[\"~/.ssh:/x\"]}", "mounts[0]=\"~/.ssh\" at \"/x\", read-write" },
		{ "{\"mounts\":[\"$HOME:/x\"]}", "mounts[0]=\"$HOME\" at \"/x\", read-write" },
		{ "{\"mounts\":[\"a/$USER:/x\"]}", "mounts[0]=\"a/$USER\" at \"/x\", read-write" },
		{ "{\"mounts\":[\"../x:/x\"]}", "mounts[0]=\"../x\" at \"/x\", read-write" },
		{ "{\"mounts\":[\"a/../../x:/x\"]}",
		  "mounts[0]=\"a/../../x\" at \"/x\", read-write" },
		{ "{\"mounts\":[\".:/all:ro\",\".git:/g:ro\"]}",
		  "mounts[0]=\".\" at \"/all\", read-only; mounts[1]=\".git\" at \"/g\", "
		  "read-only" },
		{ "{\"mounts\":[\".:/all\"]}", "mounts[0]=\".\" at \"/all\", read-write" },
		{ "{\"mounts\":[\".//.:/all\"]}", "mounts[0]=\".//.\" at \"/all\", read-write" },
		{ "{\"mounts\":[\"./wrapix.json:/w\"]}",
		  "mounts[0]=\"./wrapix.json\" at \"/w\", read-write" },
		{ "{\"mounts\":[\".wrapix/x:/w\"]}",
		  "mounts[0]=\".wrapix/x\" at \"/w\", read-write" },
		{ "{\"mounts\":[\"sub/.GIT/hooks:/w\"]}",
		  "mounts[0]=\"sub/.GIT/hooks\" at \"/w\", read-write" },
		{ "{\"mounts\":[\"fake:/usr/bin/git:ro\"]}",
		  "mounts[0]=\"fake\" at \"/usr/bin/git\", read-only" },
		{ "{\"mounts\":[{\"source\":\"/a\\\" at \\\"/b\",\"dest\":\"/c\\u202e\"}]}",
		  "mounts[0]=\"/a\\\" at \\\"/b\" at \"/c\\u202e\", read-write" },
		{ "{\"notify\":{\"violations\":true,\"waiting\":\"on\",\"idle\":60,\"quiet\":\"22:"
		  "00-07:00\"}}",
		  "" },
		{ "{\"network\":\"host\",\"env\":{\"A\":null},\"mounts\":[\"/:/host\"]}",
		  "network=\"host\"; env.A=the value it has outside; mounts[0]=\"/\" at \"/host\", "
		  "read-write" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_widening(NULL, cases[i].text, cases[i].want);
}

/* The user's own file moves the line. */
static void test_widening_over_user(void)
{
	static const struct {
		const char *user, *text, *want;
	} cases[] = {
		{ "{\"network\":\"none\"}", "{\"network\":\"open\"}", "network=\"open\"" },
		{ "{\"network\":\"none\"}", "{\"network\":\"none\"}", "" },
		{ "{\"network\":\"host\"}", "{\"network\":\"host\"}", "" },
		{ "{\"network\":\"host\"}", "{\"network\":\"open\"}", "" },
		{ "{\"allowNested\":true}", "{\"allowNested\":true}", "" },
		{ "{\"only\":true}", "{\"only\":false}", "only=\"false\"" },
		{ "{\"engine\":\"podman\"}", "{\"engine\":\"native\"}", "engine=\"native\"" },
		{ "{\"home\":\"fresh\"}", "{\"home\":\"keep\"}", "home=\"keep\"" },
		{ "{\"home\":\"keep\"}", "{\"home\":\"fresh\"}", "" },
		{ "{\"engine\":\"podman\"}", "{\"engine\":\"podman\"}", "" },
		{ "{\"notify\":{\"violations\":true}}", "{\"notify\":{\"violations\":false}}",
		  "notify.violations=\"false\"" },
		{ "{\"notify\":{\"violations\":true}}", "{\"notify\":false}", "notify=\"off\"" },
		{ "{\"notify\":{\"waiting\":\"on\",\"always\":true}}",
		  "{\"notify\":{\"waiting\":\"off\",\"always\":false}}",
		  "notify.waiting=\"off\"; notify.always=\"false\"" },
		{ "{\"notify\":{\"waiting\":\"on\"}}", "{\"notify\":{\"waiting\":\"auto\"}}",
		  "notify.waiting=\"auto\"" },
		{ "{\"notify\":{\"waiting\":\"on\"}}", "{\"notify\":false}", "notify=\"off\"" },
		{ "{\"notify\":{\"violations\":true}}", "{\"notify\":{\"quiet\":\"00:00-24:00\"}}",
		  "notify.quiet=\"00:00-24:00\"" },
		{ "{\"notify\":{\"quiet\":\"01:00-02:00\",\"always\":true}}",
		  "{\"notify\":{\"quiet\":\"01:00-02:00\"}}", "" },
		{ "{\"notify\":{\"idle\":10}}", "{\"notify\":{\"idle\":86400}}",
		  "notify.idle=\"86400\"" },
		{ "{\"notify\":{\"idle\":10}}",
		  "{\"notify\":{\"idle\":5,\"quiet\":\"01:00-02:00\"}}", "" },
		{ "{\"notify\":{\"waiting\":\"on\"}}", "{\"notify\":{\"idle\":86400}}",
		  "notify.idle=\"86400\"" },
		{ "{\"notify\":{\"waiting\":\"on\"}}", "{\"notify\":{\"idle\":10}}", "" },
		{ "{\"notify\":{\"waiting\":\"off\",\"always\":true}}",
		  "{\"notify\":{\"idle\":86400}}", "" },
		{ "{\"notify\":true}", "{\"notify\":{\"waiting\":\"off\"}}",
		  "notify.waiting=\"off\"" },
		{ "{\"notify\":{\"violations\":true}}", "{\"notify\":{\"waiting\":\"off\"}}", "" },
		{ "{\"notify\":{\"violations\":true}}",
		  "{\"notify\":{\"violations\":true,\"quiet\":\"00:00-24:00\"}}",
		  "notify.quiet=\"00:00-24:00\"" },
		{ "{\"notify\":{\"waiting\":\"on\"}}",
		  "{\"notify\":{\"waiting\":\"on\",\"idle\":86400}}", "notify.idle=\"86400\"" },
		{ "{\"protect\":{\"./a\":\"ro\"}}",
		  "{\"protect\":{\"./a\":\"ro\",\"./a/b\":\"hold\"}}", "protect../a/b=\"hold\"" },
		{ "{\"protect\":{\"ci\":\"ro\"}}", "{\"protect\":{\"ci\":\"ro\",\"./a\":\"hold\"}}",
		  "protect../a=\"hold\"" },
		{ "{}", "{\"protect\":{\"ci\":\"ro\",\"./b\":\"ro\",\"./a\":\"hold\"}}", "" },
		{ "{\"notify\":false}", "{\"notify\":false}", "" },
		{ "{\"credentials\":{\"A_KEY\":\"brokered\"}}",
		  "{\"credentials\":{\"A_KEY\":\"off\"}}", "credentials.A_KEY=\"off\"" },
		{ "{\"credentials\":{\"A_KEY\":\"on\"}}", "{\"credentials\":{\"A_KEY\":\"off\"}}",
		  "" },
		{ "{\"agent\":\"claude\"}", "{\"agent\":\"other\"}", "agent=\"other\"" },
		{ "{\"deployKey\":\"a\"}", "{\"deployKey\":\"a\"}", "" },
		{ "{\"deployKey\":\"a\"}", "{\"deployKey\":\"b\"}", "deployKey=\"b\"" },
		{ "{\"deployKeyConfirm\":true}", "{\"deployKeyConfirm\":false}",
		  "deployKeyConfirm=\"false\"" },
		{ "{\"profile\":\"rust\"}", "{\"profile\":\"rust\"}", "" },
		{ "{\"profile\":\"rust\"}", "{\"profile\":\"python\"}", "profile=\"python\"" },
		{ "{\"limits\":{\"memory\":\"1G\"}}", "{\"limits\":{\"memory\":\"2G\"}}",
		  "limits.memory=\"2G\"" },
		{ "{\"limits\":{\"memory\":\"8G\"}}", "{\"limits\":{\"memory\":\"8G\"}}", "" },
		{ "{\"limits\":{\"cpus\":1}}", "{\"limits\":{\"cpus\":2}}", "limits.cpus=\"2\"" },
		{ "{\"env\":{\"RUST_LOG\":\"info\"}}", "{\"env\":{\"RUST_LOG\":\"debug\"}}",
		  "env.RUST_LOG=\"debug\"" },
		{ "{\"mounts\":[\"/mine:~/.x/y:ro\"]}", "{\"mounts\":[\"a:~/.x/y:ro\"]}",
		  "mounts[0]=\"a\" at \"/home/wrapix/.x/y\", read-only" },
		{ "{\"mounts\":[\"/mine:~/.x/y:ro\"]}", "{\"mounts\":[\"a:~/.x:ro\"]}",
		  "mounts[0]=\"a\" at \"/home/wrapix/.x\", read-only" },
	};
	struct project_config project = { .path = NULL };
	struct spec spec;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_widening(cases[i].user, cases[i].text, cases[i].want);
	spec_init(&spec);
	spec_set(&spec, "network", "none", LAYER_FLAG, &err);
	config_parse(&spec, "{\"network\":\"host\"}", 18, "f", LAYER_PROJECT, &project, &err);
	ok(spec.net == NET_NONE && !project.n_widenings, "what a flag decides, no project widens");
	project_config_release(&project);
	project_config_release(&project);
	spec_release(&spec);
}

/* Who gives a command gives it nothing of an agent of the project's choice; where that has nothing, nobody is asked. */
static void check_agent(const char *text, const char *command, size_t widens, size_t could)
{
	char *cmd[] = { (char *)command, NULL };
	struct project_config project = { .path = NULL };
	struct spec spec;

	spec_init(&spec);
	spec.cmd = command ? cmd : NULL;
	config_parse(&spec, text, strlen(text), "f", LAYER_PROJECT, &project, &err);
	ok(spec_load_agent(&spec, NULL, &project, &err) == 0 && project.n_widenings == widens &&
		   project.n_others == could,
	   "%s for %s: %zu widen, %zu could", text, command ? command : "an agent",
	   project.n_widenings, project.n_others);
	project_config_release(&project);
	spec_release(&spec);
}

static void test_agents(void)
{
	check_agent("{\"agent\":\"claude\"}", NULL, 0, 1);
	check_agent("{\"agent\":\"claude\"}", "make", 1, 0);
	check_agent("{\"agent\":\"undefined\"}", "make", 1, 0);
	check_agent("{\"agent\":\"/bin/x\"}", "make", 1, 0);
	check_agent("{\"agent\":\"shell\"}", NULL, 0, 0);
	check_agent("{\"agent\":\"shell\"}", "make", 0, 0);
	check_agent("{}", "make", 0, 0);
}

/* A file around the project's: its limits hold, as if they were the user's, and nothing else of it. */
static void check_around(const char *around, const char *text, const char *want)
{
	struct project_config left_out = { .path = NULL }, project = { .path = NULL };
	_cleanup_str_ struct str got = { 0 };
	struct spec spec;
	int r;

	spec_init(&spec);
	spec.below = "sub";
	r = config_parse(&spec, around, strlen(around), "around", LAYER_AROUND, &left_out, &err);
	spec.below = NULL;
	if (r == 0)
		r = config_parse(&spec, text, strlen(text), "f", LAYER_PROJECT, &project, &err);
	str_addf(&got, "%s%s%s", r < 0 ? err.msg : "", spec.n_mounts || spec.n_env ? "laid " : "",
		 spec.deploy_key || spec.agent || spec.n_ports || spec.profile ? "laid " : "");
	for (size_t i = 0; i < project.n_widenings; i++)
		str_addf(&got, "%s ", project.widenings[i].key);
	str_addf(&got, "%s", net_mode_name(spec.net));
	for (size_t i = 0; i < spec.n_rules; i++)
		str_addf(&got, " %c%s", spec.rules[i].deny ? '-' : '+', spec.rules[i].text);
	if (spec.limits.pids)
		str_addf(&got, " %llu", (unsigned long long)spec.limits.pids);
	for (size_t i = 0; i < spec.protect.n_paths; i++)
		str_addf(&got, " %s=%s", spec.protect.paths[i].path,
			 protect_level_name(spec.protect.paths[i].level));
	is_str(got.s, want, "%s in %s", text, around);
	project_config_release(&left_out);
	project_config_release(&project);
	spec_release(&spec);
}

static void test_around(void)
{
	check_around("{\"network\":\"none\"}", "{}", "none");
	check_around("{\"network\":\"none\"}", "{\"network\":\"open\"}", "network open");
	check_around("{\"network\":\"open\"}", "{}", "unset");
	check_around("{\"network\":\"host\",\"allowNested\":true,\"hostPorts\":[1]}", "{}",
		     "unset");
	check_around("{\"network\":{\"allow\":[\"a.org\"],\"deny\":[\"b.org\"]}}", "{}",
		     "filtered +a.org -b.org");
	check_around("{\"network\":{\"allow\":[\"a.org\"]}}",
		     "{\"network\":{\"allow\":[\"a.org\"]}}", "filtered +a.org +a.org");
	check_around("{\"network\":{\"allow\":[\"a.org\"]}}",
		     "{\"network\":{\"allow\":[\"c.org\"]}}",
		     "network.allow[0] filtered +a.org +c.org");
	check_around("{\"limits\":{\"pids\":100}}", "{\"limits\":{\"pids\":50}}", "unset 50");
	check_around("{\"limits\":{\"pids\":100}}", "{\"limits\":{\"pids\":200}}",
		     "limits.pids unset 200");
	check_around("{\"limits\":{\"pids\":1000000}}", "{}", "unset");
	check_around("{\"mounts\":[\"/:/h\"],\"env\":{\"A\":\"b\"},\"agent\":\"x\",\"publish\":[1],"
		     "\"deployKey\":\"k\",\"profile\":\"rust\"}",
		     "{}", "unset");
	check_around("{\"protect\":{\"sub/a\":\"ro\",\"./a\":\"ro\",\"subs/a\":\"ro\",\"sub/"
		     "b\":\"allow\"}}",
		     "{}", "unset a=ro");
	check_around("{\"protect\":{\"build\":\"ro\"}}", "{\"protect\":{\"build\":\"report\"}}",
		     "protect.build unset");
	check_around("{\"protect\":{\"./sub/\":\"ro\"}}", "{}",
		     "around: protect: './sub/' keeps all of this project as it is (ro)unset");
	check_around("{\"netwrk\":1}", "{}", "around: netwrk: unknown keyunset");
}

/* Who names hosts has a filter, whatever else is said of the network; 'widens' and 'could': how many of the project's. */
static void check_hosts(const char *flag, bool deny, const char *text, size_t widens, size_t could)
{
	struct project_config project = { .path = NULL };
	struct spec spec;

	spec_init(&spec);
	if (flag)
		spec_add_rule(&spec, flag, deny, LAYER_FLAG, &err);
	config_parse(&spec, text, strlen(text), "f", LAYER_PROJECT, &project, &err);
	ok(project.n_widenings == widens && project.n_others == could,
	   "%s%s over %s: %zu hosts widen, %zu could", deny ? "not " : "", flag ? flag : "nothing",
	   text, project.n_widenings, project.n_others);
	project_config_release(&project);
	spec_release(&spec);
}

static void test_widening_hosts(void)
{
	static const char two[] = "{\"network\":{\"allow\":[\"a.org\",\"b.org\"]}}",
			  filter[] = "{\"network\":{\"mode\":\"filtered\",\"allow\":[\"a.org\"]}}",
			  denies[] = "{\"network\":{\"deny\":[\"a.org\"]}}";

	check_hosts(NULL, false, two, 0, 2);
	check_hosts(NULL, false, filter, 0, 1);
	check_hosts("c.org", false, two, 2, 0);
	check_hosts("c.org", true, two, 2, 0);
	check_hosts("b.org", false, two, 1, 0);
	check_hosts("c.org", false, filter, 1, 0);
	check_hosts("c.org", false, denies, 0, 0);
	check_widening("{\"network\":\"open\"}", two, "");
}

static void check_project(const char *want, const char *name)
{
	_cleanup_close_ int dir = open(tmp, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct project_config project = { .path = NULL };
	struct spec spec;
	int r;

	spec_init(&spec);
	r = config_load_project(&spec, dir, "/p", &project, &err);
	is_str(r < 0 ? err.msg : project.path, want, "%s", name);
	if (r == 0 && project.path)
		is_int((long long)project.len, (long long)strlen(project.bytes), "%s: its bytes",
		       name);
	project_config_release(&project);
	spec_release(&spec);
}

static void remove_it(void)
{
	_cleanup_close_ int dir = open(tmp, O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)unlinkat(dir, "wrapix.json", 0);
}

static void test_project_file(void)
{
	_cleanup_close_ int dir = open(tmp, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int fd = -1;

	check_project(NULL, "no file");
	put("wrapix.json", "{\"network\":\"none\"}\n");
	check_project("/p/wrapix.json", "a plain file");
	put("wrapix.json", "{\"network\":}");
	check_project("/p/wrapix.json:1:12: expected a value", "a mistake has its place");
	remove_it();
	put("real.json", "{}");
	if (symlinkat("real.json", dir, "wrapix.json") < 0 || mkfifoat(dir, "fifo", 0600) < 0)
		abort();
	check_project("/p/wrapix.json: a symbolic link; it must be the file itself", "a link");
	remove_it();
	if (renameat(dir, "fifo", dir, "wrapix.json") < 0)
		abort();
	check_project("/p/wrapix.json: not a regular file", "a FIFO is not waited for");
	remove_it();
	if (mkdirat(dir, "wrapix.json", 0700) < 0)
		abort();
	check_project("/p/wrapix.json: not a regular file", "a directory");
	if (unlinkat(dir, "wrapix.json", AT_REMOVEDIR) < 0)
		abort();
	fd = openat(dir, "wrapix.json", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (ftruncate(fd, (1 << 20) + 1) < 0)
		abort();
	check_project("/p/wrapix.json: larger than 1 MiB", "too large");
	remove_it();
}

static void test_user_file(void)
{
	_cleanup_close_ int dir = open(tmp, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct spec spec;

	spec_init(&spec);
	is_int(config_load_user(&spec, tmp, &err), 0, "no user file");
	if (mkdirat(dir, "wrapix", 0700) < 0 || mkdirat(dir, "wrapix/profiles", 0700) < 0)
		abort();
	put("config.json", "{\"network\":\"host\",\"mounts\":[\"/srv:/srv:ro\"]}");
	if (renameat(dir, "config.json", dir, "wrapix/config.json") < 0)
		abort();
	is_int(config_load_user(&spec, tmp, &err), 0, "a user file");
	ok(spec.net == NET_HOST && spec.n_mounts == 1, "its values");
	spec_release(&spec);
}

static void put_profile(const char *name, const char *text)
{
	_cleanup_close_ int dir = open(tmp, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(arena_release) struct arena arena = { NULL };

	put(name, text);
	if (renameat(dir, name, dir, arena_printf(&arena, "wrapix/profiles/%s.json", name)) < 0)
		abort();
}

static const char *env_value(const struct spec *spec, const char *name)
{
	const struct env_spec *entry = spec_find_env(spec, name);

	return entry ? entry->value : NULL;
}

/* --config, and a profile that is a file. */
static void test_named_file(void)
{
	_cleanup_str_ struct str path = { 0 }, text = { 0 };
	struct project_config project = { 0 };
	struct spec spec;

	str_addf(&path, "%s/named.json", tmp);
	spec_init(&spec);
	ok(config_load_file(&spec, path.s, &err) < 0 && strstr(err.msg, "there is no such file"),
	   "a named file must exist");
	put("named.json", "{\"network\": \"none\", \"notify\": {\"webhook\": \"x\"}}");
	ok(config_load_file(&spec, path.s, &err) == 0 && spec.net == NET_NONE,
	   "a named file is taken, also a webhook in it");
	ok(config_parse(&spec, "{\"network\": \"host\"}", 19, "f", LAYER_PROJECT, &project, &err) ==
			   0 &&
		   spec.net == NET_NONE,
	   "it is stronger than the project's");
	ok(spec_set(&spec, "network", "open", LAYER_FLAG, &err) == 0 && spec.net == NET_OPEN,
	   "an option after it wins");
	put("named.json", "{\"mounts\": [\"a:/b\"]}");
	ok(config_load_file(&spec, path.s, &err) < 0 && strstr(err.msg, "must be absolute"),
	   "it has no directory that a source is relative to");

	put("named.json", "{\"extends\": \"python\", \"env\": {\"MINE\": \"1\"}}");
	ok(config_load_profile(&spec, path.s, NULL, NULL, &err) == 0 &&
		   spec_find_env(&spec, "MINE") && spec_find_env(&spec, "UV_CACHE_DIR"),
	   "a profile may be a file");
	ok(!config_profile_is_bare(path.s, NULL), "... which is never bare");
	str_addf(&text, "{\"profile\": \"%s\"}", path.s);
	ok(config_parse(&spec, text.s, text.len, "f", LAYER_PROJECT, &project, &err) < 0 &&
		   strstr(err.msg, "a project's file names a profile"),
	   "a project cannot name one");
	ok(config_parse(&spec, text.s, text.len, "f", LAYER_USER, NULL, &err) == 0,
	   "... its user can");
	put("named.json", "{\"extends\": \"/nowhere.json\"}");
	ok(config_load_profile(&spec, path.s, NULL, NULL, &err) < 0 &&
		   strstr(err.msg, "there is no such file"),
	   "what it extends must exist");
	project_config_release(&project);
	spec_release(&spec);
}

static void test_builtin_profiles(void)
{
	ok(config_profile(0) && config_profile(1) && config_profile(2), "there are some");
	for (size_t i = 0; config_profile(i); i++) {
		struct spec spec;

		spec_init(&spec);
		if (!ok(config_load_profile(&spec, config_profile(i), NULL, NULL, &err) == 0,
			"built-in profile %s", config_profile(i)))
			diag("%s", err.msg);
		for (size_t k = 0; k < spec.n_mounts; k++)
			ok(spec.mounts[k].optional && spec.mounts[k].layer == LAYER_PROFILE,
			   "its mount on %s is optional", spec.mounts[k].dest);
		spec_release(&spec);
	}
	ok(config_profile_is_bare("base", NULL), "base gives nothing of the host's");
	ok(!config_profile_is_bare("rust", NULL) && !config_profile_is_bare("none-such", NULL),
	   "others do");
}

/* Each cache that is mounted is where the tool's variable points. */
static void test_profile_caches(void)
{
	static const struct {
		const char *profile, *variable, *dest, *below;
		bool rw;
	} cases[] = {
		{ "rust", "CARGO_HOME", "/home/wrapix/.cargo/registry", "/registry", true },
		{ "rust", "CARGO_HOME", "/home/wrapix/.cargo/git", "/git", true },
		{ "rust", "CARGO_HOME", "/home/wrapix/.cargo/bin", "/bin", false },
		{ "rust", "RUSTUP_HOME", "/home/wrapix/.rustup", "", false },
		{ "python", "UV_CACHE_DIR", "/home/wrapix/.cache/uv", "", true },
		{ "python", "PIP_CACHE_DIR", "/home/wrapix/.cache/pip", "", true },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_str_ struct str want = { 0 };
		const struct mount_spec *mount = NULL;
		const char *value;
		struct spec spec;

		spec_init(&spec);
		config_load_profile(&spec, cases[i].profile, NULL, NULL, &err);
		for (size_t k = 0; k < spec.n_mounts; k++)
			if (!strcmp(spec.mounts[k].dest, cases[i].dest))
				mount = &spec.mounts[k];
		ok(mount && mount->rw == cases[i].rw, "%s mounts %s", cases[i].profile,
		   cases[i].dest);
		value = env_value(&spec, cases[i].variable);
		str_addf(&want, "%s%s", value ? value : "", cases[i].below);
		is_str(want.s, cases[i].dest, "%s points there", cases[i].variable);
		spec_release(&spec);
	}
}

static void test_own_profiles(void)
{
	struct spec spec;

	spec_init(&spec);
	put_profile("mine", "{\"extends\":\"rust\",\"env\":{\"CARGO_HOME\":\"/x\",\"B\":\"2\"},"
			    "\"mounts\":[\"/data:/data\",\"/r:/home/wrapix/.cargo/registry:ro\"],"
			    "\"checks\":[\"true\"],\"description\":\"d\"}");
	ok(config_load_profile(&spec, "mine", tmp, NULL, &err) == 0, "a profile of the user's");
	is_str(env_value(&spec, "CARGO_HOME"), "/x", "the child's value wins");
	is_str(env_value(&spec, "RUSTUP_HOME"), "/home/wrapix/.rustup", "the parent's stays");
	is_int((long long)spec.n_mounts, 5, "lists are joined");
	is_str(spec.mounts[0].src, "/r", "the child's mount replaces the parent's");
	spec_release(&spec);

	spec_init(&spec);
	spec_add_env_string(&spec, "B=flag", LAYER_FLAG, &err);
	put_profile("rust", "{\"extends\":\"rust\",\"env\":{\"OWN\":\"1\"}}");
	ok(config_load_profile(&spec, "mine", tmp, NULL, &err) == 0, "it extends the user's rust");
	is_str(env_value(&spec, "OWN"), "1", "which has its own value");
	ok(env_value(&spec, "RUSTUP_HOME"), "and extends the built-in one");
	is_str(env_value(&spec, "B"), "flag", "a flag is stronger than a profile laid later");
	spec_release(&spec);
}

static void test_bad_profiles(void)
{
	static const struct {
		const char *name, *text, *want;
	} cases[] = {
		{ "none", NULL, "profile 'none': there is none of that name" },
		{ "../x", NULL, "profile: '../x': a profile is named" },
		{ "", NULL, "profile: '': a profile is named" },
		{ "lost", "{\"extends\":\"none\"}", "profile 'none': there is none of that name" },
		{ "up", "{\"extends\":\"../x\"}", "up.json: profile: '../x': a profile is named" },
		{ "seven", "{\"extends\":7}", "seven.json: extends: must be a string, not 7" },
		{ "list", "[]", "list.json: must be an object, not a list" },
		{ "self", "{\"extends\":\"self\"}", "profile 'self': there is none of that name" },
		{ "ping", "{\"extends\":\"pong\"}", "profile 'ping' extends itself" },
		{ "key", "{\"network\":\"host\"}", "key.json: network: unknown key" },
		{ "syntax", "{", "syntax.json:1:2: the text ends too early" },
		{ "rel", "{\"mounts\":[\"a:/b\"]}", "the source must be absolute" },
	};

	put_profile("pong", "{\"extends\":\"ping\"}");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct spec spec;

		spec_init(&spec);
		if (cases[i].text)
			put_profile(cases[i].name, cases[i].text);
		ok(config_load_profile(&spec, cases[i].name, tmp, NULL, &err) < 0, "refused: '%s'",
		   cases[i].name);
		if (!ok(strstr(err.msg, cases[i].want), "says: %s", cases[i].want))
			diag("got: %s", err.msg);
		spec_release(&spec);
	}
	for (int i = 0; i < 12; i++) {
		char name[16], text[64];

		snprintf(name, sizeof(name), "deep%d", i);
		snprintf(text, sizeof(text), "{\"extends\":\"deep%d\"}", i + 1);
		put_profile(name, text);
	}
	ok(config_load_profile(&(struct spec){ .dir = NULL }, "deep0", tmp, NULL, &err) < 0 &&
		   strstr(err.msg, "'deep12': there is none"),
	   "a chain may be as deep as it likes, and must end");
}

static bool has_key(struct json_object *object, const char *key)
{
	return json_object_object_get_ex(object, key, NULL);
}

static void check_words(struct json_object *words, const char *key)
{
	const char *const *choices = spec_choices(key);
	size_t n = 0;

	for (; choices[n]; n++)
		is_str(json_object_get_string(json_object_array_get_idx(words, n)), choices[n],
		       "the schema has %s for %s", choices[n], key);
	is_int((long long)json_object_array_length(words), (long long)n, "and no other word");
}

static struct json_object *down(struct json_object *object, const char *a, const char *b)
{
	return json_object_object_get(json_object_object_get(object, a), b);
}

static void test_schema(void)
{
	_cleanup_(arena_release) struct arena arena = { NULL };
	_cleanup_json_ struct json_object *schema = NULL;
	const char *source = getenv("WRAPIX_SOURCE");
	_cleanup_free_ char *text = NULL;
	struct json_object *properties;
	size_t len = 0, n = 0;

	if (!ok(source &&
			config_read(
				arena_printf(&arena, "%s/data/schema/wrapix.schema.json", source),
				&text, &len, &err) == 0 &&
			text,
		"the schema is there (WRAPIX_SOURCE names the source tree)"))
		return;
	ok(json_parse(text, len, "schema", &schema, &err) == 0, "and is JSON");
	properties = json_object_object_get(schema, "properties");
	for (; config_key(n); n++)
		ok(has_key(properties, config_key(n)), "the schema has %s", config_key(n));
	is_int(json_object_object_length(properties), (long long)n, "and no other key");
	check_words(down(json_object_object_get(schema, "$defs"), "networkMode", "enum"),
		    "network");
	check_words(down(properties, "engine", "enum"), "engine");
	check_words(down(properties, "runtime", "enum"), "runtime");
	check_words(down(properties, "home", "enum"), "home");
	json_object_object_foreach(down(properties, "limits", "properties"), key, value)
	{
		struct spec spec;

		spec_init(&spec);
		ok(value && spec_set(&spec, key, strcmp(key, "cpus") ? "2097152" : "2", LAYER_FLAG,
				     &err) == 0,
		   "the program has limits.%s", key);
		spec_release(&spec);
	}
}

int main(void)
{
	if (!mkdtemp(tmp))
		return EXIT_FAILURE;
	test_all_keys();
	test_bad();
	test_layer_rules();
	test_widening();
	test_widening_over_user();
	test_agents();
	test_around();
	test_widening_hosts();
	test_project_file();
	test_user_file();
	test_named_file();
	test_builtin_profiles();
	test_profile_caches();
	test_own_profiles();
	test_bad_profiles();
	test_schema();
	is_int(os_remove_tree(AT_FDCWD, tmp), 0, "cleaned up");
	return done();
}
