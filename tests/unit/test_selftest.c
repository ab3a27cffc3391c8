/* SPDX-License-Identifier: MIT */
/* What 'wrapix selftest' makes of the lines of an attempt: above all, that it can say "escaped". */
#include <string.h>

#include "selftest/selftest.h"
#include "lib/tap.h"

static enum containment judged(struct selftest *test, const char *name, const char *control,
			       const char *outside, const char *inside)
{
	struct trial_case c = { .name = name,
				.group = "any",
				.control = control,
				.outside = outside,
				.inside = inside };

	test->cases = &c;
	test->n_cases = 1;
	selftest_judge(test);
	return c.verdict;
}

int main(void)
{
	struct selftest native = { .engine = "native", .network = "open" };
	struct selftest host = { .engine = "native", .network = "host" };
	struct selftest nested = { .engine = "native", .network = "open", .nested = true };
	struct selftest exec = { .engine = "exec" };
	const char *in = "secret-by-path";

	ok(judged(&native, in, "plain", "worked", "stopped ENOENT") == CONTAINED, "stopped");
	ok(judged(&native, in, "plain", "worked", "worked") == ESCAPED, "worked inside: escaped");
	ok(judged(&exec, in, "plain", "worked", "worked") == ESCAPED, "... under exec too");
	ok(judged(&native, in, "plain", "stopped EPERM", "worked") == ESCAPED,
	   "... whatever the control did");
	ok(judged(&native, in, "plain", "stopped EPERM", "stopped EPERM") == NOT_TRIED,
	   "a control that does not work proves nothing");
	ok(judged(&native, in, "plain", NULL, "stopped EPERM") == NOT_TRIED,
	   "... nor one that was not run");
	ok(judged(&native, in, "root", NULL, "stopped EPERM") == CONTAINED,
	   "a control that needs root is not waited for");
	ok(judged(&native, in, "root", NULL, "worked") == ESCAPED,
	   "... and its attempt may escape");
	ok(judged(&native, in, "plain", "worked", "unable (no file facts)") == NOT_TRIED,
	   "what could not be made inside is not contained");
	ok(judged(&native, in, "plain", "worked", NULL) == NOT_TRIED, "no line is no verdict");
	ok(judged(&native, in, "laid", NULL, "stopped EPERM") == NOT_TRIED,
	   "what the tests of wrapix alone prepare");
	ok(judged(&host, "net-loopback", "plain", "worked", "worked") == WEAKER,
	   "--network host reaches the loopback");
	ok(judged(&native, "net-loopback", "plain", "worked", "worked") == ESCAPED,
	   "... another network must not");
	ok(judged(&host, "net-abstract", "plain", "worked", "worked") == ESCAPED,
	   "... nor an abstract socket");
	ok(judged(&nested, "namespace-unshare-user", "plain", "worked", "worked") == WEAKER,
	   "--allow-nested makes namespaces");
	ok(judged(&nested, "nested-uncover-config", "userns", "worked", "worked") == ESCAPED,
	   "... which must not uncover anything");
	ok(judged(&exec, "env-doors", "plain", "worked", "worked") == WEAKER,
	   "exec brings the environment");
	return done();
}
