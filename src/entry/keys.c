/* SPDX-License-Identifier: MIT */
/*
 * Git and ssh with the user's keys: a file of ssh's and one of git's in the home, each only where there is
 * none yet. Hosts are those that the image pins in /etc/ssh/ssh_known_hosts.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base64.h"
#include "base/str.h"
#include "entry/entry.h"
#include "os/fs.h"

#define KEY_BEGIN "-----BEGIN OPENSSH PRIVATE KEY-----\n"
#define KEY_END_LINE "-----END OPENSSH PRIVATE KEY-----"
#define KEY_MAGIC "openssh-key-v1"

enum { KEY_MAX = 65536 };

/* A new file of the user's; one that is there stays. */
static int put(int dir, const char *name, const char *text, size_t len, struct err *err)
{
	_cleanup_close_ int fd = openat(dir, name,
					O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return errno == EEXIST ? 0 : err_errno(err, errno, "writing '%s'", name);
	r = os_write_all(fd, text, len);
	return r < 0 ? err_errno(err, -r, "writing '%s'", name) : 0;
}

/* A directory of the home's, made with its parents. */
static int open_home(const struct entry *entry, const char *name, mode_t mode, struct err *err)
{
	_cleanup_str_ struct str path = { 0 };
	int fd;

	str_addf(&path, "%s/%s", entry->home, name);
	if (os_mkdirs(path.s, mode, err) < 0)
		return -err->code;
	fd = open(path.s, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_errno(err, errno, "opening '%s'", path.s) : fd;
}

/* The key's own file, or a copy that ssh takes: it refuses one that others could read. */
static int usable_key(const struct entry *entry, int ssh, const char *path, const char *name,
		      struct str *ret, struct err *err)
{
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t len;
	int r = os_read_file_at(AT_FDCWD, path, KEY_MAX, &text, &len);

	if (r < 0 || stat(path, &st) < 0)
		return err_errno(err, r < 0 ? -r : errno, "reading the key '%s'", path);
	if (!(st.st_mode & 077)) {
		str_add(ret, path);
	} else {
		str_addf(ret, "%s/.ssh/%s", entry->home, name);
		unlinkat(ssh, name, 0);
		r = put(ssh, name, text, len, err);
	}
	explicit_bzero(text, len);
	return r;
}

static int set_ssh(const struct entry *entry, int ssh, const char *path, struct err *err)
{
	_cleanup_str_ struct str key = { 0 }, text = { 0 }, command = { 0 };
	int r = usable_key(entry, ssh, path, "wrapix-deploy", &key, err);

	if (r < 0)
		return r;
	known(key.s);
	/* In ssh's file quotes keep blanks together; a quote itself cannot be said. */
	if (strpbrk(key.s, "\"\n"))
		return err_usage(err, "the key's path has a quote or a newline in it");
	str_addf(
		&text,
		"Host *\n\tIdentityFile \"%s\"\n\tIdentitiesOnly yes\n\tStrictHostKeyChecking yes\n"
		"\tUpdateHostKeys no\n",
		key.s);
	r = put(ssh, "config", text.s, text.len, err);
	str_addf(&command, "ssh -o IdentitiesOnly=yes -o StrictHostKeyChecking=yes -i ");
	str_add_shell(&command, key.s);
	if (r == 0)
		setenv("GIT_SSH_COMMAND", command.s, 0);
	return r;
}

static const unsigned char *take(const unsigned char **at, const unsigned char *end, size_t *ret)
{
	const unsigned char *p = *at;
	size_t len;

	if (end - p < 4)
		return NULL;
	len = load_be32(p);
	if ((size_t)(end - p - 4) < len)
		return NULL;
	*ret = len;
	*at = p + 4 + len;
	return p + 4;
}

/* The public half, which stands in the clear at the head of a private key: "TYPE BASE64". */
static bool public_half(char *text, struct str *ret)
{
	char *begin = strstr(text, KEY_BEGIN), *end = begin ? strstr(begin, KEY_END_LINE) : NULL;
	const unsigned char *at, *stop, *key = NULL, *type;
	size_t len = 0, n = 0;
	ssize_t size;

	if (!end)
		return false;
	for (char *p = begin + strlen(KEY_BEGIN); p < end; p++)
		if (*p != '\n' && *p != '\r')
			begin[n++] = *p;
	size = base64_decode(begin, n, begin, n);
	at = (unsigned char *)begin + sizeof(KEY_MAGIC);
	stop = (unsigned char *)begin + (size < 0 ? 0 : size);
	if (size < (ssize_t)sizeof(KEY_MAGIC) || memcmp(begin, KEY_MAGIC, sizeof(KEY_MAGIC)))
		return false;
	for (int i = 0; i < 3; i++) /* cipher, derivation and its options */
		if (!take(&at, stop, &len))
			return false;
	at += stop - at < 4 ? 0 : 4; /* how many keys */
	key = take(&at, stop, &len);
	at = key;
	type = key ? take(&at, key + len, &n) : NULL;
	if (!type)
		return false;
	str_addf(ret, "%.*s ", (int)n, type);
	base64_add(ret, key, len);
	return true;
}

static const char *email(void)
{
	const char *found = getenv("GIT_COMMITTER_EMAIL");

	found = found && *found ? found : getenv("GIT_AUTHOR_EMAIL");
	/* What would end the word, or be a pattern, is no address. */
	return found && *found && !found[strcspn(found, " \t\r\n\",*?!#")] ? found : "*";
}

static int set_signing(const struct entry *entry, int ssh, const char *path, struct err *err)
{
	_cleanup_close_ int git = open_home(entry, ".config/git", 0755, err);
	_cleanup_str_ struct str key = { 0 }, half = { 0 }, signers = { 0 }, config = { 0 };
	_cleanup_free_ char *text = NULL;
	const char *wish = getenv("WRAPIX_GIT_SIGN");
	size_t len;
	int r = git < 0 ? git : usable_key(entry, ssh, path, "wrapix-signing", &key, err);

	if (r < 0)
		return r;
	if (os_read_file_at(AT_FDCWD, path, KEY_MAX, &text, &len) < 0 || !public_half(text, &half))
		return err_set(err, EINVAL, "'%s' is no private key of OpenSSH's", path);
	str_addf(&signers, "%s namespaces=\"git\" %s\n", email(), half.s);
	str_addf(&config,
		 "[user]\n\tsigningKey = \"%s\"\n[gpg]\n\tformat = ssh\n[gpg \"ssh\"]\n"
		 "\tallowedSignersFile = \"%s/.config/git/allowed_signers\"\n%s",
		 key.s, entry->home,
		 wish && !strcmp(wish, "0") ? "" : "[commit]\n\tgpgSign = true\n");
	r = put(git, "allowed_signers", signers.s, signers.len, err);
	return r < 0 ? r : put(git, "config", config.s, config.len, err);
}

int entry_keys(const struct entry *entry, struct err *err)
{
	const char *deploy = getenv("WRAPIX_DEPLOY_KEY"), *signing = getenv("WRAPIX_SIGNING_KEY");
	_cleanup_close_ int ssh = -1;
	int r = 0;

	if (!(deploy && *deploy) && !(signing && *signing))
		return 0;
	ssh = open_home(entry, ".ssh", 0700, err);
	if (ssh < 0)
		return ssh;
	if (deploy && *deploy)
		r = set_ssh(entry, ssh, deploy, err);
	if (r == 0 && signing && *signing)
		r = set_signing(entry, ssh, signing, err);
	return r;
}
