/* SPDX-License-Identifier: MIT */
/* Asking container. */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "base/str.h"
#include "os/darwin/container.h"
#include "os/proc.h"

enum { ANSWER_MAX = 16 << 20, REMOVE_SECONDS = 30 };

unsigned container_version(const char *program)
{
	char *argv[] = { (char *)program, (char *)"--version", NULL };
	_cleanup_free_ char *says = NULL;

	return os_capture(argv, "/", 4096, &says) == 0 && says ? container_parse_version(says) : 0;
}

/* What it prints has changed more than once; that it succeeds has not. */
bool container_service_runs(const char *program)
{
	char *argv[] = { (char *)program, (char *)"system", (char *)"status", NULL };
	_cleanup_free_ char *says = NULL;

	return os_capture(argv, "/", 65536, &says) == 0;
}

/* Some releases fail for a name that is not there, others print an empty list. */
bool container_has_image(const char *program, const char *image)
{
	char *argv[] = { (char *)program, (char *)"image", (char *)"inspect", (char *)image, NULL };
	_cleanup_free_ char *says = NULL;

	return os_capture(argv, "/", ANSWER_MAX, &says) == 0 && says && strchr(says, '{');
}

static int ask(char *const argv[], char **ret, struct err *err)
{
	int status = os_capture(argv, "/", ANSWER_MAX, ret);

	if (status == 0 && *ret)
		return 0;
	if (status < 0)
		return err_errno(err, -status, "running '%s'", argv[0]);
	err_set(err, EIO, "'container %s' failed (status %d)", argv[1],
		WIFEXITED(status) ? WEXITSTATUS(status) : status);
	return err_hint(err, "'container system status' says whether its service runs");
}

int container_inspect(struct arena *arena, const char *program, const char *name,
		      struct container_info *ret, struct err *err)
{
	char *argv[] = { (char *)program, (char *)"inspect", (char *)name, NULL };
	_cleanup_free_ char *says = NULL;
	struct container_info *list = NULL;
	size_t n = 0;
	int r = ask(argv, &says, err);

	if (r == 0)
		r = container_read_list(arena, says, strlen(says), &list, &n, err);
	if (r < 0)
		return r;
	*ret = n ? list[0] : (struct container_info){ .state = CONTAINER_NONE };
	return 0;
}

int container_ask_network(struct arena *arena, const char *program, const char *name,
			  struct container_network *ret, struct err *err)
{
	char *argv[] = { (char *)program, (char *)"network", (char *)"inspect", (char *)name,
			 NULL };
	_cleanup_free_ char *says = NULL;
	int r = ask(argv, &says, err);

	return r < 0 ? r : container_read_network(arena, says, strlen(says), ret, err);
}

int container_remove(const char *program, const char *name, struct err *err)
{
	char *argv[] = { (char *)program, (char *)"delete", (char *)"--force", (char *)name, NULL };
	_cleanup_free_ char *says = NULL;
	_cleanup_str_ struct str shown = { 0 };
	struct container_info info;
	struct arena arena = { 0 };
	int r, status = os_capture_all(argv, REMOVE_SECONDS, 65536, &says);

	if (status == 0)
		return 0;
	/* It fails for one that is not there. */
	r = container_inspect(&arena, program, name, &info, err);
	if (r == 0 && info.state != CONTAINER_NONE) {
		str_add_escaped(&shown, says ? says : "");
		r = err_set(err, EIO, "removing the container '%s': %.300s", name,
			    shown.s ? shown.s : "");
	}
	arena_release(&arena);
	return r;
}
