/* SPDX-License-Identifier: MIT */
/* wrapix key test and trust: logging in with a pair, and pinning the keys of a host. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#include "base/base64.h"
#include "base/path.h"
#include "cli/key.h"
#include "keys/pins.h"
#include "os/fs.h"
#include "spec/deploykey.h"

#define HOSTS_MAX ((size_t)1 << 20)

/* The user's own pins; "" where there are none. */
static int read_trusted(struct key_job *job, char **ret, struct err *err)
{
	char *path = path_join(&job->arena, job->config_home, KNOWN_HOSTS_FILE);
	_cleanup_free_ char *text = NULL;
	int r = os_read_file_at(AT_FDCWD, path, HOSTS_MAX, &text, NULL);

	if (r < 0 && r != -ENOENT)
		return err_errno(err, -r, "reading '%s'", path);
	*ret = arena_strdup(&job->arena, text ? text : "");
	return 0;
}

static int load_pins(struct key_job *job, struct pins *pins, char **ret_text, struct err *err)
{
	char *trusted = NULL;
	int r = read_trusted(job, &trusted, err);

	if (r == 0)
		r = pins_add(pins, known_hosts_builtin(), "built-in host keys", err);
	if (r == 0)
		r = pins_add(pins, trusted, "~/.config/" KNOWN_HOSTS_FILE, err);
	if (r == 0 && ret_text)
		*ret_text = arena_printf(&job->arena, "%s%s", known_hosts_builtin(), trusted);
	return r;
}

static bool is_pinned(const struct pins *pins, const char *host)
{
	for (size_t i = 0; i < pins->n; i++)
		if (!strcmp(pins->v[i].host, host))
			return true;
	return false;
}

/* --- test --- */

/* Git speaks in lines that begin with their length; an empty repository says no more than that. */
static bool is_git(const char *said, const char *sign_of_life)
{
	return strstr(said, sign_of_life) || strspn(said, "0123456789abcdef") >= 4;
}

/* Starts one side of git over there and looks at what it says first. */
static int try_service(struct key_job *job, const char *key, const char *known_hosts,
		       const char *service, const char *sign_of_life, struct err *err)
{
	struct arena *a = &job->arena;
	const struct remote *remote = &job->remote;
	char *ssh = key_job_program(job, "ssh"), *said = NULL;
	_cleanup_str_ struct str shown = { 0 };
	int status;

	if (!ssh)
		return key_job_without("ssh", err);
	status = key_job_run(
		job,
		(const char *const[]){ ssh,
				       "-F",
				       "/dev/null",
				       "-i",
				       key,
				       "-o",
				       "IdentitiesOnly=yes",
				       "-o",
				       "IdentityAgent=none",
				       "-o",
				       "StrictHostKeyChecking=yes",
				       "-o",
				       arena_printf(a, "UserKnownHostsFile=\"%s\"", known_hosts),
				       "-o",
				       "GlobalKnownHostsFile=/dev/null",
				       "-o",
				       "BatchMode=yes",
				       "-o",
				       "ConnectTimeout=15",
				       "-p",
				       arena_printf(a, "%u", remote->port),
				       "-T",
				       "--",
				       arena_printf(a, "%s@%s", remote->user, remote->host),
				       service,
				       arena_printf(a, "'%s'", remote->path),
				       NULL },
		&said, err);
	if (status < 0)
		return status;
	if (is_git(said, sign_of_life))
		return 0;
	said[strcspn(said, "\r\n")] = '\0';
	str_add_escaped(&shown, *said ? said : "no answer");
	return err_set(err, EACCES, "%s: %.600s", service, shown.s);
}

static int try_both(struct key_job *job, const char *key, const char *known_hosts, struct err *err)
{
	static const struct {
		const char *service, *sign_of_life, *what, *hint;
	} sides[] = {
		{ "git-upload-pack", "agent=", "read", "is the deploy key registered there?" },
		{ "git-receive-pack", "report-status", "write",
		  "is the deploy key registered with write access?" },
	};

	for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
		int r = try_service(job, key, known_hosts, sides[i].service, sides[i].sign_of_life,
				    err);

		if (r < 0)
			return err_hint(err, "%s", sides[i].hint);
		printf("%-6s yes\n", sides[i].what);
		fflush(stdout);
	}
	return 0;
}

/* The agent signs logins for connections that are bound, which OpenSSH does since 8.9. What is tried
 * here works without; inside it would not. */
static void check_version(struct key_job *job)
{
	char *ssh = key_job_program(job, "ssh"), *said = NULL, *end;
	const char *version;
	unsigned long major, minor;
	struct err ignored; /* the login has shown that there is one */

	if (!ssh || key_job_run(job, (const char *const[]){ ssh, "-V", NULL }, &said, &ignored) < 0)
		return;
	version = strstr(said, "OpenSSH_");
	if (!version)
		return;
	major = strtoul(version + strlen("OpenSSH_"), &end, 10);
	minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	if (major < 8 || (major == 8 && minor < 9))
		cli_warn("OpenSSH %lu.%lu cannot use the key inside a sandbox, which takes 8.9; "
			 "--deploy-key-mode file gives it the key itself",
			 major, minor);
}

/* A file for ssh, gone when it is done. */
static int with_known_hosts(struct key_job *job, const char *key, const char *text, struct err *err)
{
	char *path = arena_printf(&job->arena, "%s/wrapix-known-hosts.XXXXXX",
				  getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	_cleanup_close_ int fd = mkostemp(path, O_CLOEXEC);
	int r;

	if (fd < 0)
		return err_errno(err, errno, "making '%s'", path);
	r = os_write_all(fd, text, strlen(text));
	r = r < 0 ? err_errno(err, -r, "writing '%s'", path) : try_both(job, key, path, err);
	unlink(path);
	return r;
}

int key_test(struct key_job *job, struct err *err)
{
	struct pins pins = { .v = NULL };
	struct key_pair pair = { 0 };
	char *name, *text, *host;
	int r = key_job_name(job, &name, err);

	if (r == 0)
		r = key_store_find(&job->arena, job->home, name, &pair, err);
	if (r < 0)
		return r;
	if (job->words[0] && job->words[1])
		job->has_remote = remote_parse(&job->arena, job->words[1], &job->remote);
	if (!job->has_remote) {
		err_set(err, ENOENT, "it is not known where to log in");
		return err_hint(err,
				"cd into a repository with an origin, or name it: wrapix key "
				"test %s git@HOST:OWNER/REPO.git",
				name);
	}
	if (!pair.deploy.path)
		return err_set(err, ENOENT, "'%s' has no deploy key", name);
	host = remote_pin(&job->arena, &job->remote);
	r = load_pins(job, &pins, &text, err);
	if (r == 0 && !is_pinned(&pins, host)) {
		err_set(err, ENOENT, "the keys of the host '%s' are not pinned", host);
		r = err_hint(err, "wrapix key trust %s%s%.0u", job->remote.host,
			     job->remote.port == 22 ? "" : ":",
			     job->remote.port == 22 ? 0 : job->remote.port);
	}
	if (r == 0) {
		printf("%s@%s, %s\n", job->remote.user, host, job->remote.name);
		r = with_known_hosts(job, pair.deploy.path, text, err);
		check_version(job);
	}
	pins_release(&pins);
	return r;
}

/* --- trust --- */

/* "host", "host:port", "[v6]:port" */
static int parse_host(struct key_job *job, const char *word, char **ret_host, char **ret_port,
		      struct err *err)
{
	static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "._-:";
	bool bracket = word[0] == '[';
	const char *host = word + bracket, *end = bracket ? strchr(word, ']') : strchr(word, ':');
	size_t len = end ? (size_t)(end - host) : strlen(host);
	const char *port = end ? end + bracket : "";

	*ret_host = arena_strndup(&job->arena, host, len);
	*ret_port = arena_strdup(&job->arena, *port == ':' ? port + 1 : "22");
	if (!len || host[0] == '-' || strspn(host, chars) < len || (bracket && !end) ||
	    (*port && *port != ':') || !**ret_port || strspn(*ret_port, "0123456789") > 5 ||
	    (*ret_port)[strspn(*ret_port, "0123456789")])
		return err_usage(err, "'%s' is not a host, nor HOST:PORT", word);
	return 0;
}

/* What the host offers, by its own word. */
static int scan(struct key_job *job, const char *host, const char *port, struct pins *pins,
		struct err *err)
{
	char *program = key_job_program(job, "ssh-keyscan"), *said = NULL, *line, *rest;
	_cleanup_str_ struct str lines = { 0 };
	int status;

	if (!program)
		return key_job_without("ssh-keyscan", err);
	status = key_job_run(job,
			     (const char *const[]){ program, "-T", "15", "-t", "ed25519,ecdsa,rsa",
						    "-p", port, "--", host, NULL },
			     &said, err);
	if (status < 0)
		return status;
	known(said);
	/* Its remarks stand between the keys. */
	for (rest = said; (line = strsep(&rest, "\n"));)
		if (line[0] != '#' && strstr(line, " AAAA"))
			str_addf(&lines, "%s\n", line);
	if (!lines.s) {
		said[strcspn(said, "\r")] = '\0';
		err_set(err, ENOENT, "'%s' offers no key at port %s%s%.300s", host, port,
			*said ? ": " : "", said);
		return err_hint(err,
				"is the name right? 'wrapix key trust HOST:PORT' for another port");
	}
	return pins_add(pins, lines.s, "ssh-keyscan", err);
}

/* Prints the fingerprints; true when the expected one is among them. */
static bool show_pins(const struct pins *pins, const char *expected)
{
	bool found = false;

	for (size_t i = 0; i < pins->n; i++) {
		_cleanup_str_ struct str print = { 0 };

		fingerprint_add(&print, pins->v[i].key);
		printf("  %s %s\n", print.s, pins->v[i].algorithm);
		found |= expected && !strcmp(expected, print.s);
	}
	return found;
}

static int write_pins(struct key_job *job, const char *host, const struct pins *found,
		      struct err *err)
{
	char *dir = path_join(&job->arena, job->config_home, "wrapix"), *old = NULL, *line, *rest;
	_cleanup_str_ struct str text = { 0 };
	_cleanup_close_ int fd = -1;
	size_t len = strlen(host);

	if (os_mkdirs(dir, 0700, err) < 0)
		return -err->code;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		return err_errno(err, errno, "opening '%s'", dir);
	if (read_trusted(job, &old, err) < 0)
		return -err->code;
	/* What the host had before makes room. */
	for (rest = old; (line = strsep(&rest, "\n"));)
		if (*line && !(str_starts(line, host) && line[len] == ' '))
			str_addf(&text, "%s\n", line);
	for (size_t i = 0; i < found->n; i++) {
		str_addf(&text, "%s %s ", host, found->v[i].algorithm);
		base64_add(&text, found->v[i].key.p, found->v[i].key.len);
		str_add(&text, "\n");
	}
	return os_write_file_atomic(fd, strrchr(KNOWN_HOSTS_FILE, '/') + 1, text.s, text.len, 0644,
				    err);
}

static int decide(struct key_job *job, const char *host, const struct pins *found, struct err *err)
{
	const char *expected = job->args.fingerprint;
	bool match;

	printf("'%s' says that these are its keys:\n", host);
	match = show_pins(found, expected);
	if (expected && !match)
		return err_set(err, EACCES,
			       "none of them has the fingerprint %s: this may be somebody else",
			       expected);
	if (expected)
		return 0;
	printf("Compare them with what its administrator publishes.\n");
	return key_job_ask(job, "Trust them?",
			   "wrapix key trust HOST --fingerprint SHA256:..., as its administrator "
			   "told you",
			   err);
}

int key_trust(struct key_job *job, struct err *err)
{
	struct pins found = { .v = NULL }, known = { .v = NULL };
	char *host, *port, *pin;
	int r;

	if (!job->words[0])
		return err_usage(err, "which host? wrapix key trust HOST[:PORT]");
	r = parse_host(job, job->words[0], &host, &port, err);
	if (r < 0)
		return r;
	pin = strcmp(port, "22") ? arena_printf(&job->arena, "[%s]:%s", host, port) : host;
	if (pins_add(&known, known_hosts_builtin(), "built-in host keys", err) == 0 &&
	    is_pinned(&known, pin))
		r = err_set(err, EEXIST, "the keys of '%s' are built in", pin);
	if (r == 0)
		r = scan(job, host, port, &found, err);
	if (r == 0)
		r = decide(job, pin, &found, err);
	if (r == 0)
		r = write_pins(job, pin, &found, err);
	if (r == 0)
		printf("Pinned in ~/.config/" KNOWN_HOSTS_FILE ".\n");
	pins_release(&found);
	pins_release(&known);
	return r;
}
