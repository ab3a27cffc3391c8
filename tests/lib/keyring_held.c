/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD into gnome-keyring-daemon: its main loop stands still for a moment, once, when the file
 * $KEYRING_HELD is there. It stands where it looks which of its sources are ready, as it may on a busy
 * machine: what has the usual priority and comes now is seen before what has a higher one.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#define HELD_US 500000

struct source_funcs { /* glib's GSourceFuncs */
	int (*prepare)(void *source, int *timeout);
	int (*check)(void *source);
	int (*dispatch)(void *source, void *callback, void *data);
	void (*rest[3])(void);
};

static int prepare(void *source, int *timeout)
{
	(void)source;
	*timeout = -1;
	return 0;
}

static int check(void *source)
{
	const char *path = getenv("KEYRING_HELD");

	(void)source;
	if (path && unlink(path) == 0)
		usleep(HELD_US);
	return 0;
}

static int dispatch(void *source, void *callback, void *data)
{
	(void)source, (void)callback, (void)data;
	return 1;
}

__attribute__((constructor)) static void start(void)
{
	static struct source_funcs funcs = { prepare, check, dispatch, { NULL } };
	void *(*source_new)(struct source_funcs * funcs, unsigned size);
	unsigned (*source_attach)(void *source, void *context);

	*(void **)&source_new = dlsym(RTLD_DEFAULT, "g_source_new");
	*(void **)&source_attach = dlsym(RTLD_DEFAULT, "g_source_attach");
	if (source_new && source_attach)
		source_attach(source_new(&funcs, 256), NULL);
}
