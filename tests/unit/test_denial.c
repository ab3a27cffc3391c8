/* SPDX-License-Identifier: MIT */
/* Refusals: their words, their JSON, and what would allow them. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/denial.h"
#include "lib/tap.h"

static const struct fix_place srt = { FIX_SRT, "/h/s.json", "/home/me", "/home/me/p" };
static const struct fix_place claude = { FIX_CLAUDE, "/h/s.json", "/home/me", "/home/me/p" };
static const struct fix_place locked = { .dialect = FIX_CLAUDE,
					 .file = "/h/s.json",
					 .home = "/home/me",
					 .cwd = "/home/me/p",
					 .hosts_lock = "HOSTS at P:1",
					 .paths_lock = "PATHS at P:2" };
static const struct fix_place run = { FIX_RUN, "/h/p/wrapix.json", "/home/me", "/home/me/p" };

#define WRITE(p) .what = "write", .call = "openat", .path = p
#define READ(p) .what = "read", .call = "openat", .path = p

static const struct {
	const char *name;
	const struct fix_place *place;
	struct denial denial;
	const char *text, *risk;
} rows[] = {
	{ "a file elsewhere",
	  &srt,
	  { WRITE("/home/me/out/x"), .reason = "not-allowed" },
	  "add \"~/out/x\" to filesystem.allowWrite",
	  NULL },
	{ "... for Claude Code",
	  &claude,
	  { WRITE("/srv/x"), .reason = "not-allowed" },
	  "add \"/srv/x\" to sandbox.filesystem.allowWrite",
	  NULL },
	{ "a file that shells obey",
	  &srt,
	  { WRITE("/home/me/.bashrc"), .reason = "not-allowed" },
	  "add \"~/.bashrc\" to filesystem.allowWrite",
	  "programs outside of the sandbox obey such files" },
	{ "the system",
	  &srt,
	  { WRITE("/etc/hosts"), .reason = "not-allowed" },
	  "add \"/etc/hosts\" to filesystem.allowWrite",
	  "it belongs to the system" },
	{ "where programs are looked for",
	  &srt,
	  { WRITE("/home/me/go/bin/ls"), .reason = "not-allowed", .made = true },
	  "add \"~/go/bin/ls\" to filesystem.allowWrite",
	  "programs are looked for there, outside of the sandbox, too" },
	{ "... and around it",
	  &srt,
	  { WRITE("/home/me/go/x"), .reason = "not-allowed", .made = true },
	  "add \"~/go/x\" to filesystem.allowWrite",
	  NULL },
	{ "the home",
	  &srt,
	  { WRITE("/home/me"), .reason = "not-allowed" },
	  "add \"/home/me\" to filesystem.allowWrite",
	  "that is your whole home directory" },
	{ "a name that is a pattern",
	  &srt,
	  { WRITE("/srv/a*"), .reason = "not-allowed" },
	  "add {\"path\":\"/srv/a*\",\"literal\":true} to filesystem.allowWrite",
	  NULL },
	{ "... which Claude Code cannot say",
	  &claude,
	  { WRITE("/srv/a*"), .reason = "not-allowed" },
	  "its name would be read as a pattern",
	  NULL },
	{ "denied by an entry",
	  &srt,
	  { WRITE("/home/me/p/keep/x"), .reason = "denyWrite", .rule = "keep",
	    .key = "filesystem.denyWrite[1]" },
	  "take \"keep\" out of filesystem.denyWrite",
	  "somebody denied it on purpose" },
	{ "protected",
	  &srt,
	  { WRITE("/home/me/p/.vscode"), .reason = "protect", .rule = ".vscode", .key = "protect" },
	  "add \".vscode\" to protect.remove",
	  "programs outside of the sandbox obey such files" },
	{ "protected by the user",
	  &srt,
	  { WRITE("/home/me/p/x"), .reason = "protect", .rule = "x", .key = "protect.add[0]" },
	  "take \"x\" out of protect.add",
	  "somebody denied it on purpose" },
	{ "the settings themselves",
	  &srt,
	  { WRITE("/h/s.json"), .reason = "denyWrite", .rule = "/h/s.json",
	    .key = "the settings file" },
	  "this file is what the sandbox itself rests on",
	  NULL },
	{ "git's",
	  &srt,
	  { WRITE("/home/me/p/.git/hooks/x"), .reason = "git runs what is in hooks" },
	  "git's own files are changed through git",
	  NULL },
	{ "reading",
	  &srt,
	  { READ("/home/me/.ssh/id"), .reason = "denyRead", .rule = "~/.ssh",
	    .key = "filesystem.denyRead[0]" },
	  "add \"~/.ssh/id\" to filesystem.allowRead",
	  "keys or passwords may be in it" },
	{ "reading what an entry names",
	  &srt,
	  { READ("/home/me/x/y"), .reason = "denyRead", .rule = "~/x/",
	    .key = "filesystem.denyRead[0]" },
	  "add \"~/x/y\" to filesystem.allowRead",
	  "somebody denied it on purpose" },
	{ "reading a part of all",
	  &srt,
	  { READ("/home/me/x/y"), .reason = "denyRead", .rule = "~",
	    .key = "filesystem.denyRead[0]" },
	  "add \"~/x/y\" to filesystem.allowRead",
	  NULL },
	{ "... by a permission rule",
	  &claude,
	  { READ("/home/me/x/y"), .reason = "denyRead", .rule = "Read(//home/**)",
	    .key = "permissions.deny[0]" },
	  "add \"~/x/y\" to sandbox.filesystem.allowRead",
	  NULL },
	{ "a credential",
	  &srt,
	  { READ("/home/me/x"), .reason = "denyRead", .rule = "~/x", .key = "credentials.files[0]",
	    .firm = true },
	  "a credential is never given away; take its entry out to lift that",
	  NULL },
	{ "a socket",
	  &srt,
	  { .what = "connect",
	    .call = "connect",
	    .path = "/run/docker.sock",
	    .reason = "host-socket" },
	  "add \"/run/docker.sock\" to network.allowUnixSockets",
	  "the program that listens there runs outside, and does what it is told" },
	{ "a host",
	  &run,
	  { .what = "lookup", .name = "a.example", .reason = "not-allowed" },
	  "add \"a.example\" to network.allow",
	  NULL },
	{ "a port",
	  &run,
	  { .what = "connect",
	    .name = "a.example",
	    .port = 22,
	    .reason = "port",
	    .rule = "a.example:443" },
	  "add \"a.example:22\" to network.allow",
	  NULL },
	{ "an address",
	  &run,
	  { .what = "connect", .address = "fd00::1", .port = 22, .reason = "direct-ip" },
	  "add \"[fd00::1]:22\" to network.allow",
	  "an address does not say who answers there" },
	{ "a private address",
	  &srt,
	  { .what = "connect",
	    .name = "a.example",
	    .address = "10.0.0.1",
	    .port = 22,
	    .reason = "private" },
	  "add \"10.0.0.1\" to network.allowedDomains",
	  "it is in your own network" },
	{ "a denied host",
	  &claude,
	  { .what = "lookup", .name = "a.example", .reason = "denied-name", .rule = "*.example" },
	  "take \"*.example\" out of sandbox.network.deniedDomains",
	  "somebody denied it on purpose" },
	{ "a limit",
	  &run,
	  { .what = "limit",
	    .call = "clone",
	    .reason = "processes",
	    .rule = "50",
	    .key = "limits.pids" },
	  "raise limits.pids above 50",
	  "how much of this machine it may have is yours to say" },
	{ "a level that the user set",
	  &run,
	  { WRITE("/home/me/.vscode/x"), .reason = "it runs later, and protect.editor is ro" },
	  "'--protect editor=hold' would, until you accept it",
	  NULL },
	{ "a level that the user set for a path",
	  &run,
	  { WRITE("/home/me/Makefile"), .reason = "protect says that 'Makefile' is ro" },
	  "'--protect ./Makefile=report' would",
	  NULL },
	{ "what the name gate holds",
	  &run,
	  { WRITE("/home/me/.git/hooks/x"), .reason = "git runs what is in hooks" },
	  "the name gate holds it; '--git direct' mounts the project without one",
	  NULL },
	{ "a limit under Claude Code's settings",
	  &claude,
	  { .what = "limit", .reason = "memory", .rule = "64M", .key = "limits.memory" },
	  "a larger limit in wrapix.json or on the command line would",
	  NULL },
	{ "a host that a policy locks",
	  &locked,
	  { .what = "lookup", .name = "a.example", .reason = "not-allowed" },
	  "a policy locks it: HOSTS at P:1",
	  NULL },
	{ "reading that a policy locks",
	  &locked,
	  { READ("/home/me/x"), .reason = "denyRead", .rule = "~/x",
	    .key = "sandbox.filesystem.denyRead[0]" },
	  "a policy locks it: PATHS at P:2",
	  NULL },
	{ "writing, which it does not",
	  &locked,
	  { WRITE("/home/me/x"), .reason = "not-allowed" },
	  "add \"~/x\" to sandbox.filesystem.allowWrite",
	  NULL },
	{ "a metadata service",
	  &run,
	  { .what = "connect",
	    .name = "a.example",
	    .address = "169.254.169.254",
	    .port = 80,
	    .reason = "metadata" },
	  "no setting allows this",
	  NULL },
	{ "another TLS name",
	  &run,
	  { .what = "connect", .name = "a.example", .port = 443, .reason = "sni" },
	  "no setting allows this",
	  NULL },
	{ "what was to be made",
	  &srt,
	  { WRITE("/home/me/out/tmp.Xy"), .reason = "not-allowed", .made = true },
	  "add \"~/out\" to filesystem.allowWrite",
	  NULL },
	{ "what a link was to be made to",
	  &srt,
	  { .what = "write", .call = "linkat", .path = "/srv/x", .reason = "not-allowed" },
	  "with a second name it could be changed by it; a copy needs no link",
	  NULL },
};

static void test_fixes(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct str text = { 0 }, json = { 0 }, again = { 0 };
		struct json_object *event = NULL;
		struct arena arena = { 0 };
		struct err err;
		struct fix fix, back;

		fix_make(&arena, &rows[i].denial, rows[i].place, &fix);
		fix_add_text(&text, &fix);
		is_str(text.s, rows[i].text, "%s", rows[i].name);
		is_str(fix.risk ? fix.risk : "", rows[i].risk ? rows[i].risk : "", "... its risk");
		str_add(&json, "{\"fix\":");
		fix_add_json(&json, &fix);
		str_add(&json, "}");
		if (json_parse(json.s, json.len, "fix", &event, &err) == 0 &&
		    fix_read(event, &back))
			fix_add_text(&again, &back);
		is_str(again.s ? again.s : "", rows[i].text, "... the same from JSON");
		json_object_put(event);
		str_release(&text);
		str_release(&json);
		str_release(&again);
		arena_release(&arena);
	}
}

static void test_limits(void)
{
	static const struct {
		enum denial_limit limit;
		uint64_t value;
		const char *want;
	} values[] = { { DENIAL_PROCESSES, 50, "limits.pids is 50" },
		       { DENIAL_PROCESSES, 1024, "limits.pids is 1024" },
		       { DENIAL_MEMORY, 64 << 20, "limits.memory is 64M" },
		       { DENIAL_MEMORY, 3ULL << 29, "limits.memory is 1536M" },
		       { DENIAL_MEMORY, 4ULL << 40, "limits.memory is 4T" },
		       { DENIAL_MEMORY, 1001, "limits.memory is 1001" },
		       { DENIAL_MEMORY, 0, "limits.memory is 0" },
		       { DENIAL_DISK, 1ULL << 30, "limits.disk is 1G" } };

	static const char *const acts[] = {
		[DENIAL_MEMORY] = "taking more memory",
		[DENIAL_PROCESSES] = "having more processes",
		[DENIAL_DISK] = "writing more to its private places",
	};

	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		char text[DENIAL_LIMIT_MAX];
		struct str why = { 0 }, line = { 0 };
		struct denial denial;

		denial_of_limit(&denial, values[i].limit, values[i].value, text);
		denial_add_why(&why, &denial);
		is_str(why.s, values[i].want, "why");
		denial_add_act(&line, &denial, NULL);
		is_str(line.s, acts[values[i].limit], "what");
		str_release(&why);
		str_release(&line);
	}
}

static void test_words(void)
{
	const struct denial hostile = { WRITE("/home/me/\x1b[2J\n</script>\xe2\x80\xae"),
					.reason = "not-allowed", .predicted = true };
	struct str text = { 0 }, json = { 0 };
	struct json_object *event = NULL;
	struct denial back = { 0 };
	struct err err;

	denial_add_act(&text, &hostile, "/home/me");
	is_str(text.s, "writing ~/\\x1b[2J\\x0a</script>\\xe2\\x80\\xae",
	       "a hostile name is escaped");
	str_release(&text);
	text = (struct str){ 0 };
	str_add(&json, "{");
	denial_add_members(&json, &hostile);
	str_add(&json, "}");
	ok(!strpbrk(json.s, "\x1b\n\xe2"), "... in JSON too");
	ok(json_parse(json.s, json.len, "event", &event, &err) == 0 && denial_read(event, &back) &&
		   !strcmp(back.path, hostile.path) && back.predicted,
	   "... and comes back as it was");
	json_object_put(event);
	denial_add_line(&text, &rows[9].denial);
	is_str(text.s, "deny file-write /home/me/p/keep/x (filesystem.denyWrite[1]: keep)",
	       "sandbox-runtime's form");
	str_release(&text);
	str_release(&json);
}

/* Each field is told apart, also from one that is not there. */
static void texts(void)
{
	static const struct denial list[] = {
		{ WRITE("/a"), .reason = "not-allowed" },
		{ WRITE("/b"), .reason = "not-allowed" },
		{ WRITE("/b"), .reason = "not-allowed", .predicted = true },
		{ READ("/b"), .reason = "denyRead", .rule = "/b" },
		{ READ("/b"), .reason = "denyRead", .key = "/b" },
		{ READ("/b"), .reason = "denyRead", .rule = "" },
		{ READ("/b"), .reason = "denyRead" },
		{ .what = "connect", .name = "h", .port = 1, .reason = "port" },
		{ .what = "connect", .name = "h", .port = 257, .reason = "port" },
		{ .what = "connect", .address = "h", .port = 257, .reason = "port" },
	};
	struct denial_texts kept = { 0 };
	bool same = true;

	for (size_t i = 0; i < 2 * ARRAY_LEN(list); i++) {
		const struct denial *denial = &list[i % ARRAY_LEN(list)];
		_cleanup_str_ struct str line = { 0 }, members = { 0 };

		denial_add_line(&line, denial);
		denial_add_members(&members, denial);
		for (int again = 0; again < 3; again++) {
			denial_texts_make(&kept, denial);
			same = same && !strcmp(kept.line.s, line.s) &&
			       !strcmp(kept.members.s, members.s);
		}
	}
	ok(same, "the texts that are kept are those of the last one");
	denial_texts_release(&kept);
}

/* ~/bin -> ~/dotfiles/bin: what is refused is named by where it lies. */
static void test_linked_programs(void)
{
	char dir[] = "/tmp/denial-XXXXXX", real[PATH_MAX], path[PATH_MAX + 16];

	ok(mkdtemp(dir) && realpath(dir, real) && chdir(real) == 0 && mkdir("there", 0700) == 0 &&
		   mkdir("other", 0700) == 0 && symlink("there", "bin") == 0,
	   "a directory of programs behind a link");
	snprintf(path, sizeof(path), "%s/bin", real);
	setenv("PATH", path, 1);
	snprintf(path, sizeof(path), "%s/there/ls", real);
	is_str(fix_path_risk(path, true, "/home/me"),
	       "programs are looked for there, outside of the sandbox, too", "... has its risk");
	ok(!fix_path_risk(path, false, "/home/me"), "... not for reading");
	snprintf(path, sizeof(path), "%s/other/ls", real);
	ok(!fix_path_risk(path, true, "/home/me"), "another has none");
	ok(unlink("bin") == 0 && rmdir("there") == 0 && rmdir("other") == 0 && rmdir(real) == 0,
	   "... and is gone");
}

int main(void)
{
	setenv("PATH", "relative:/home/me/go/bin:/usr/bin", 1);
	test_fixes();
	test_linked_programs();
	test_limits();
	test_words();
	texts();
	return done();
}
