/* SPDX-License-Identifier: MIT */
/* Errors: a lack of descriptors or processes is told with what was to be done, and with what to do about it. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "keys/confirm.h"
#include "lib/tap.h"
#include "net/resolver.h"
#include "os/start.h"

int main(void)
{
	struct confirm confirm = { 0 };
	struct resolver resolver;
	struct rlimit limit, none;
	struct loop loop;
	struct err err;
	char said[128];

	is_int(err_errno(&err, ENOENT, "opening '%s'", "x"), -ENOENT, "a failed call");
	is_str(err.msg, "opening 'x': No such file or directory", "it is told why");
	is_str(err.hint, "", "there is no more to say");
	is_int(os_err_start(&err, EAGAIN, "pasta"), -EAGAIN, "no more processes");
	is_str(err.msg, "starting pasta: Resource temporarily unavailable", "what was started");
	ok(strstr(err.hint, "ulimit -u") != NULL, "who says how many: %s", err.hint);

	if (loop_init(&loop, &err) < 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1;
	none = limit;
	none.rlim_cur = 0;
	if (setrlimit(RLIMIT_NOFILE, &none) < 0)
		return 1;
	is_int(resolver_start(&resolver, &loop, NULL, NULL, &err), -EMFILE, "no more descriptors");
	snprintf(said, sizeof(said), "starting what looks up names: %s", strerror(EMFILE));
	is_str(err.msg, said, "what they are for");
	ok(strstr(err.hint, "ulimit -n") != NULL, "who says how many: %s", err.hint);
	is_int(confirm_ask(&confirm, "/x/wrapix-notify", "?", &err), -EMFILE,
	       "a question to the user");
	snprintf(said, sizeof(said), "starting /x/wrapix-notify: %s", strerror(EMFILE));
	is_str(err.msg, said, "by whom");
	(void)setrlimit(RLIMIT_NOFILE, &limit); /* for who looks for leaks at the end */
	return done();
}
