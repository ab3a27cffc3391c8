/* SPDX-License-Identifier: MIT */
/* What becomes of a command: allow, ask, deny, excluded, in each mode. */
#include "spec/claude_check.h"

#include "lib/tap.h"

static const struct claude_place place = { .home = "/home/u",
					   .config = "/home/u/.claude",
					   .project = "/p",
					   .cwd = "/p",
					   .trusted = true };

#define REGULAR "\"sandbox\": {\"enabled\": true}"
#define AUTO "\"sandbox\": {\"enabled\": true, \"autoAllowBashIfSandboxed\": true}"
#define RULES                                                                                 \
	"\"permissions\": {\"allow\": [\"Bash(git:*)\", \"Bash(npm run *)\", \"Bash(ls)\"], " \
	"\"ask\": [\"Bash(git push:*)\"], \"deny\": [\"Bash(rm:*)\", \"Bash(curl *)\", "      \
	"\"Edit(./secret/**)\", \"Read(~/.ssh/**)\"]}"
#define EXCLUDED                                                                \
	"\"sandbox\": {\"enabled\": true, \"autoAllowBashIfSandboxed\": true, " \
	"\"excludedCommands\": [\"docker:*\", \"Bash(gh *)\", \"wrapix exec:*\", \"*srt*\"]}"

/* "answer[!]", where '!' says that it would run outside of a sandbox. */
static void check(const char *settings, bool outside, const char *command, const char *want)
{
	_cleanup_claude_ struct claude_settings s = { .n = 0 };
	_cleanup_(arena_release) struct arena arena = { NULL };
	struct claude_source source = { CLAUDE_USER, "f", settings, strlen(settings) };
	struct claude_verdict verdict;
	char got[32];
	struct err err;

	if (claude_settings_parse(&s, &source, 1, &place, &err) < 0) {
		is_str(err.msg, "", "settings");
		return;
	}
	claude_check(&arena, &s,
		     &(struct claude_question){ .command = command, .outside = outside }, &verdict);
	snprintf(got, sizeof(got), "%s%s", claude_answer_name(verdict.answer),
		 verdict.sandboxed ? "" : "!");
	if (!is_str(got, want, "%s", command))
		diag("%s (%s)", verdict.why, verdict.rule ? verdict.rule->name : "no rule");
	if (!verdict.why)
		ok(false, "it says why");
}

/* The same answer in every mode, but for where it runs. */
static void test_denied(void)
{
	static const char *const commands[] = {
		"rm -rf x",
		"git status; rm x",
		"git log | rm x",
		"git log $(rm x)",
		"echo \"`rm x`\"",
		"cat <<E\n$(rm x)\nE",
		"if true; then rm x; fi",
		"f() { rm x; }; f",
		"'rm' x",
		"r\\m x",
		"\"r\"m x",
		"/bin/rm x",
		"X=1 rm x",
		"sudo rm x",
		"sudo -u root rm x",
		"env A=b rm x",
		"timeout 5 rm x",
		"nohup nice rm x",
		"xargs rm < list",
		"find . -exec rm {} \\;",
		"sh -c 'rm x'",
		"bash -lc \"git status && rm x\"",
		"sudo sh -c 'rm x'",
		"sh -c \"sh -c 'rm x'\"",
		"eval rm x",
		"eval 'git status; rm x'",
		"(cd x && rm y)",
		"! rm x",
		"time rm x",
		"rm",
		"ls > /p/secret/x",
		"ls >secret/x",
		"cat < ~/.ssh/id",
		"for i in 1; do rm x; done",
		"diff <(rm x) y",
	};

	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		check("{" RULES "}", false, commands[i], "deny!");
		check("{" RULES "," REGULAR "}", false, commands[i], "deny");
		check("{" RULES "," AUTO "}", false, commands[i], "deny");
	}
}

static void test_rules(void)
{
	static const struct {
		const char *command, *disabled, *regular, *automatic;
	} cases[] = {
		{ "git status", "allow!", "allow", "allow" },
		{ "git", "allow!", "allow", "allow" },
		{ "git status && ls", "allow!", "allow", "allow" },
		{ "git log | git x", "allow!", "allow", "allow" },
		{ "git log > /dev/null 2>&1", "allow!", "allow", "allow" },
		{ "timeout 5 git log", "allow!", "allow", "allow" },
		{ "git commit -m 'a; b'", "allow!", "allow", "allow" },
		{ "git commit -m \"$(ls)\"", "allow!", "allow", "allow" },
		{ "npm run test", "allow!", "allow", "allow" },
		{ "(git status)", "allow!", "allow", "allow" },
		/* nothing says so, or not of all of it */
		{ "ls -l", "ask!", "ask", "allow" },
		{ "git status; make", "ask!", "ask", "allow" },
		{ "git log $(make)", "ask!", "ask", "allow" },
		{ "gitk", "ask!", "ask", "allow" },
		{ "make", "ask!", "ask", "allow" },
		{ "X=1 git status", "ask!", "ask", "allow" },
		{ "git log > x", "ask!", "ask", "allow" },
		{ "'git' status", "ask!", "ask", "allow" },
		{ "./git status", "ask!", "ask", "allow" },
		{ "\"git status\"", "ask!", "ask", "allow" },
		/* an ask rule */
		{ "git push", "ask!", "ask", "ask" },
		{ "git status; git push origin", "ask!", "ask", "ask" },
		{ "sudo git push", "ask!", "ask", "ask" },
		/* what cannot be known, while there are rules that deny */
		{ "$x y", "ask!", "ask", "ask" },
		{ "{rm,-rf,x}", "ask!", "ask", "ask" },
		{ "eval $x", "ask!", "ask", "ask" },
		{ "bash -c \"$x\"", "ask!", "ask", "ask" },
		{ "/bin/r? x", "ask!", "ask", "ask" },
		{ "sudo $x", "ask!", "ask", "ask" },
		/* what is not understood */
		{ "git status; (", "ask!", "ask", "ask" },
		{ "git status @(a|b)", "ask!", "ask", "ask" },
		{ "git status 'x", "ask!", "ask", "ask" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		check("{" RULES "}", false, cases[i].command, cases[i].disabled);
		check("{" RULES "," REGULAR "}", false, cases[i].command, cases[i].regular);
		check("{" RULES "," AUTO "}", false, cases[i].command, cases[i].automatic);
	}
	check("{" AUTO "}", false, "$x y", "allow");
	check("{" AUTO "}", false, "echo 'x", "ask");
	check("{" AUTO ", \"permissions\": {\"deny\": [\"Bash\"]}}", false, "true", "deny");
	check("{" AUTO ", \"permissions\": {\"deny\": [\"Bash\"]}}", false, "true 'x", "deny");
	check("{\"permissions\": {\"allow\": [\"Bash\"]}}", false, "X=1 make >x; $y", "allow!");
	check("{\"permissions\": {\"allow\": [\"Bash(*)\"]}}", false, "make", "allow!");
	check("{\"permissions\": {\"allow\": [\"Bash\"]}}", false, "make 'x", "ask!");
	check("{" AUTO ", \"permissions\": {\"deny\": [\"Edit(x)\"]}}", false, "$y", "allow");
}

static void test_excluded(void)
{
	static const char *const cases[][2] = {
		{ "docker ps", "excluded!" },
		{ "docker ps && docker images | docker x", "excluded!" },
		{ "gh pr list", "excluded!" },
		{ "(docker ps)", "excluded!" },
		{ "docker ps; make", "allow" },
		{ "docker ps | grep x", "allow" },
		{ "cd x && docker ps", "allow" },
		{ "docker ps > x", "allow" },
		{ "docker ps $(id)", "allow" },
		{ "docker ps <<E\nE", "allow" },
		{ "X=1 docker ps", "allow" },
		{ "make", "allow" },
		{ "docker 'x", "ask" },
		/* an exclusion for wrapix itself is Claude Code's own sandbox's */
		{ "wrapix exec -s evil.json -- id", "allow" },
		{ "/usr/bin/wrapix exec -s evil.json -- id", "allow" },
		{ "srt -s evil.json id", "allow" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check("{" EXCLUDED "}", false, cases[i][0], cases[i][1]);
	check("{" EXCLUDED ", \"permissions\": {\"deny\": [\"Bash(docker run:*)\"]}}", false,
	      "docker run x", "deny");
}

static void test_outside(void)
{
	check("{" AUTO "}", true, "make", "ask!");
	check("{" REGULAR ", \"permissions\": {\"allow\": [\"Bash(make)\"]}}", true, "make",
	      "ask!");
	check("{\"sandbox\": {\"enabled\": true, \"autoAllowBashIfSandboxed\": true, "
	      "\"allowUnsandboxedCommands\": false}}",
	      true, "make", "allow");
	check("{\"permissions\": {\"allow\": [\"Bash(make)\"]}}", true, "make", "allow!");
}

int main(void)
{
	test_denied();
	test_rules();
	test_excluded();
	test_outside();
	return done();
}
