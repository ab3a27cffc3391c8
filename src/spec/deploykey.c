/* SPDX-License-Identifier: MIT */
/* Looking for a pair of deploy keys. Private halves are not read here, only noted. */
#include "spec/deploykey.h"

#include <fcntl.h>
#include <string.h>

#include "base/base64.h"
#include "base/embed.h"
#include "base/json.h"
#include "base/path.h"
#include "os/fs.h"
#include "os/proc.h"
#include "spec/config_priv.h"
#include "spec/gitconfig.h"
#include "spec/host_priv.h"

#define PUBLIC_MAX 4096
#define HOSTS_MAX ((size_t)1 << 20)
#define GIT_CONFIG_MAX ((size_t)1 << 20)

extern const struct embedded builtin_known_hosts[];

const char *known_hosts_builtin(void)
{
	return builtin_known_hosts[0].data;
}

char *deploy_key_public(struct arena *arena, const char *text)
{
	static const char head[] = "ssh-ed25519 ";
	static const char form[] = "\0\0\0\x0bssh-ed25519\0\0\0\x20";
	size_t len;
	uint8_t bytes[64];

	if (!str_starts(text, head))
		return NULL;
	len = strcspn(text + sizeof(head) - 1, " \t\r\n");
	if (base64_decode(text + sizeof(head) - 1, len, bytes, sizeof(bytes)) != 51 ||
	    memcmp(bytes, form, sizeof(form) - 1) != 0)
		return NULL;
	return arena_strndup(arena, text, sizeof(head) - 1 + len);
}

static char *read_public(struct host *host, const char *private)
{
	_cleanup_free_ char *text = NULL;
	const char *path = arena_printf(&host->arena, "%s.pub", private);

	if (os_read_file_at(AT_FDCWD, path, PUBLIC_MAX, &text, NULL) < 0)
		return NULL;
	return deploy_key_public(&host->arena, text);
}

/* The private half by its real name, for a mount; the public one stands beside the name it has here. */
static void look_for(struct host *host, const char *ending, char **ret_private, char **ret_public)
{
	char *path = arena_printf(&host->arena, "%s/" DEPLOY_KEYS_DIR "/%s%s", host->home,
				  host->keys.name, ending);
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	*ret_public = read_public(host, path);
	*ret_private = os_realpath(&host->arena, path);
}

/* The program that can ask the user: the one that ssh was told to take, our own where somebody
 * listens, or the one that ssh would take. */
static char *find_asker(struct host *host, char **environment)
{
	const char *named = host_raw_env(environment, "SSH_ASKPASS");
	const char *path = host_raw_env(environment, "PATH");
	const char *listener = path_join(&host->arena, host->runtime_dir, "wrapix/notify.sock");

	if (named && named[0] == '/')
		return os_find_program(&host->arena, named, path, host->project.top);
	if (host->tools.notify && access(listener, W_OK) == 0)
		return host->tools.notify;
	return os_find_program(&host->arena, "ssh-askpass", path, host->project.top);
}

/* Not by a link: it could lead to another repository's, whose URL may hold a password. */
static char *read_origin(struct host *host)
{
	const struct project_facts *project = &host->project;
	const char *dir = project->git == GIT_LINKED
				  ? project->commondir
				  : path_join(&host->arena, project->top, ".git");
	_cleanup_close_ int fd = os_openat2(AT_FDCWD, path_join(&host->arena, dir, "config"),
					    O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
					    RESOLVE_NO_SYMLINKS);
	_cleanup_free_ char *text = NULL;
	char *url;

	if (project->git == GIT_NONE || fd < 0 || os_read_fd(fd, GIT_CONFIG_MAX, &text, NULL) < 0)
		return NULL;
	url = gitconfig_get_in(&host->arena, text, "remote", "origin", "url");
	/* With a password in it it works as it is, and is nothing to be printed in a plan. */
	return url && str_starts(url, "http") && strchr(url, '@') ? NULL : url;
}

void deploy_key_probe(const struct spec *spec, char **environment, struct host *host)
{
	struct deploy_key_facts *keys = &host->keys;
	_cleanup_free_ char *text = NULL;

	if (!spec->deploy_key)
		return;
	keys->name = arena_strdup(&host->arena, spec->deploy_key);
	look_for(host, "", &keys->deploy, &keys->deploy_public);
	look_for(host, "-signing", &keys->signing, &keys->signing_public);
	if (os_read_file_at(AT_FDCWD, path_join(&host->arena, host->config_home, KNOWN_HOSTS_FILE),
			    HOSTS_MAX, &text, NULL) == 0)
		keys->known_hosts = arena_strdup(&host->arena, text);
	keys->origin = read_origin(host);
	if (spec->deploy_key_confirm)
		keys->asker = find_asker(host, environment);
}

/* "NAME", or {"name": ..., "mode": ..., "confirm": ...}. */
int config_read_deploy_key(const struct reader *reader, const struct json_at *at,
			   struct json_object *value, struct err *err)
{
	static const char *const words[] = { "name", "mode", "confirm" };
	static const char *const keys[] = { "deployKey", "deployKeyMode", "deployKeyConfirm" };

	if (json_object_is_type(value, json_type_string))
		return config_read_word(reader, at, value, err);
	if (!json_object_is_type(value, json_type_object))
		return json_err_type(at, value, "a name, or an object with \"name\"", err);
	json_object_object_foreach(value, key, entry)
	{
		size_t i;
		int r = json_find_key(JSON_KEY(at, key), words, ARRAY_LEN(words), &i, err);

		if (r == 0)
			r = (i == 2 ? config_read_bool : config_read_word)(
				reader, JSON_KEY(NULL, keys[i]), entry, err);
		if (r < 0)
			return r;
	}
	return 0;
}
