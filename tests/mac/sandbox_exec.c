/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for macOS's sandbox-exec: takes its words by its grammar, reads the profile, refuses what is none,
 * and executes the command with tests/mac/seatbelt.c preloaded, which enforces it on programs that are willing.
 *
 *	sandbox-exec [-f FILE | -n NAME | -p PROFILE] [-D KEY=VALUE]... COMMAND [ARGUMENT]...
 */
#include <unistd.h>

#include "lib/sbpl.h"

static const char *const operations[] = {
	"default",
	"distributed-notification-post",
	"file-ioctl",
	"file-read*",
	"file-read-data",
	"file-read-metadata",
	"file-write*",
	"file-write-create",
	"file-write-data",
	"file-write-unlink",
	"iokit-get-properties",
	"iokit-open",
	"ipc-posix-sem",
	"ipc-posix-shm",
	"mach-lookup",
	"mach-priv-task-port",
	"network*",
	"network-bind",
	"network-inbound",
	"network-outbound",
	"process-exec",
	"process-fork",
	"process-info*",
	"pseudo-tty",
	"signal",
	"sysctl-read",
	"sysctl-write",
	"system-socket",
	"user-preference-read",
};
static const char *const filters[] = {
	"subpath",
	"literal",
	"regex",
	"with",
	"target",
	"global-name",
	"global-name-prefix",
	"iokit-registry-entry-class",
	"iokit-user-client-class",
	"require-all",
	"require-any",
	"socket-domain",
	"socket-protocol",
	"sysctl-name",
	"remote",
	"local",
	"vnode-type",
};

static int fail(const char *what, const char *which)
{
	fprintf(stderr, "sandbox-exec: %s: %s\n", what, which);
	return 65;
}

static bool is_filter(const struct node *node)
{
	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++)
		if (!strcmp(node->child->atom, filters[i]))
			return true;
	return false;
}

/* Lists nest only below filters, and a string is not too long. */
static int check(const struct node *node)
{
	for (; node; node = node->next) {
		int r;

		if (node->atom) {
			if (node->quoted && strlen(node->atom) > 1025)
				return fail("string too long", node->atom);
			continue;
		}
		if (!node->child || !node->child->atom || !is_filter(node))
			return fail("unknown filter", node->child ? node->child->atom : "()");
		if (!strcmp(node->child->atom, "regex")) {
			regex_t regex;

			if (!node->child->next || !node->child->next->quoted ||
			    regcomp(&regex, node->child->next->atom, REG_EXTENDED | REG_NOSUB))
				return fail("invalid regex", node->child->next->atom);
			regfree(&regex);
		}
		r = check(node->child->next);
		if (r)
			return r;
	}
	return 0;
}

static int check_rule(const struct node *rule)
{
	const struct node *word = rule->child;
	bool known;

	if (!word || !word->atom || (strcmp(word->atom, "allow") && strcmp(word->atom, "deny")))
		return fail("neither allow nor deny", word && word->atom ? word->atom : "()");
	for (word = word->next; word && word->atom; word = word->next) {
		known = false;
		for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++)
			known |= !strcmp(word->atom, operations[i]);
		if (!known || word->quoted)
			return fail("unknown operation", word->atom);
	}
	return check(word);
}

static int check_profile(const char *text)
{
	struct arena arena = { 0 };
	struct node *profile = read_profile(&arena, &text);
	int r = 0;

	if (*text || !profile || profile->atom || strcmp(profile->child->atom, "version") ||
	    strcmp(profile->child->next->atom, "1"))
		return fail("not a profile of version 1", text);
	for (struct node *rule = profile->next; rule && !r; rule = rule->next)
		r = rule->atom ? fail("not a rule", rule->atom) : check_rule(rule);
	return r;
}

int main(int argc, char **argv)
{
	const char *profile = NULL, *preload = getenv("MAC_SEATBELT");
	int option, r;

	while ((option = getopt(argc, argv, "+f:n:p:D:")) != -1) {
		if (option == '?')
			return 64;
		if (option == 'p')
			profile = optarg;
	}
	if (!profile || optind == argc)
		return fail("usage", "a profile and a command are wanted");
	r = check_profile(profile);
	if (r)
		return r;
	if (preload) {
		setenv("MAC_PROFILE", profile, 1);
		setenv("LD_PRELOAD", preload, 1);
	}
	execvp(argv[optind], argv + optind);
	perror("sandbox-exec: execvp");
	return 71;
}
