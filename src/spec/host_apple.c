/* SPDX-License-Identifier: MIT */
/* What the engine of macOS needs here: Apple's container, its service, the image in its store. */
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/json.h"
#include "base/path.h"
#include "os/darwin/container.h"
#include "os/fs.h"
#include "os/proc.h"
#include "spec/host_priv.h"

enum { INDEX_MAX = 4 << 20, TAG_LEN = 12 };

enum engine_kind host_engine(const struct spec *spec, const char *platform)
{
	if (spec->engine != ENGINE_UNSET && spec->engine != ENGINE_AUTO)
		return spec->engine;
	return strcmp(platform, "linux") ? ENGINE_APPLE : ENGINE_NATIVE;
}

/* "26.1" is 26; 0: it does not say. */
static unsigned ask_macos(struct host *host, const char *path)
{
	char *argv[] = { os_find_program(&host->arena, "sw_vers", path, host->project.dir),
			 (char *)"-productVersion", NULL };
	_cleanup_free_ char *says = NULL;

	if (!argv[0] || os_capture(argv, "/", 4096, &says) != 0 || !says)
		return 0;
	return (unsigned)strtoul(says, NULL, 10);
}

/* Where macOS is a wish of the tests', so is the machine. */
static bool is_silicon(void)
{
#ifdef __APPLE__
	struct utsname name;

	return uname(&name) == 0 && !strcmp(name.machine, "arm64");
#else
	return true;
#endif
}

/* The digest of the image in our own store (image/store.h), without its algorithm; NULL: none. */
static char *find_digest(struct arena *arena, const char *store, const char *name)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ struct json_object *root = NULL;
	struct json_object *list = NULL;
	struct err ignored; /* 'wrapix image list' says what is wrong with it */
	char *found = NULL;
	size_t len;

	if (os_read_file_at(AT_FDCWD, path_join(arena, store, "index.json"), INDEX_MAX, &text,
			    &len) < 0 ||
	    json_parse_max(text, len, INDEX_MAX, "index.json", &root, &ignored) < 0 ||
	    !json_object_object_get_ex(root, "manifests", &list) ||
	    !json_object_is_type(list, json_type_array))
		return NULL;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *entry = json_object_array_get_idx(list, i), *notes = NULL,
				   *ref = NULL, *digest = NULL;
		const char *value;

		if (!json_object_object_get_ex(entry, "annotations", &notes) ||
		    !json_object_object_get_ex(notes, "org.opencontainers.image.ref.name", &ref) ||
		    !json_object_object_get_ex(entry, "digest", &digest) ||
		    strcmp(json_object_get_string(ref) ?: "", name))
			continue;
		value = json_object_get_string(digest) ?: "";
		if (!strncmp(value, "sha256:", 7) && strlen(value) > 7 + TAG_LEN)
			found = arena_strdup(arena, value + 7);
	}
	return found;
}

/* Ours by its digest, or one of that name that was given to container on another way. */
static void probe_image(const struct spec *spec, struct host *host)
{
	struct apple_facts *apple = &host->apple;
	struct arena *a = &host->arena;
	const char *name = spec_image(spec);
	char *digest = find_digest(a, path_join(a, host->cache_home, "wrapix/images"), name);
	char *latest = arena_printf(a, "localhost/wrapix-%s:latest", name);

	if (digest)
		apple->image = arena_printf(a, "localhost/wrapix-%s:%.*s", name, TAG_LEN, digest);
	if (!apple->service)
		return;
	apple->loaded = apple->image && container_has_image(apple->program, apple->image);
	if (!apple->image && container_has_image(apple->program, latest)) {
		apple->image = latest;
		apple->loaded = true;
	}
}

void host_probe_apple(const struct spec *spec, char **environment, struct host *host)
{
	struct apple_facts *apple = &host->apple;
	const char *path = host_raw_env(environment, "PATH");
	struct container_network network = { 0 };
	struct err ignored; /* the machine finds its gateway by itself */
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	path = path ? path : "/usr/local/bin:/usr/bin:/bin";
	apple->macos = ask_macos(host, path);
	apple->silicon = is_silicon();
	apple->cpus = cpus > 0 ? (unsigned)cpus : 1;
	apple->loader = host_find_own(host, "wrapix-image", "wrapix-image");
	apple->program = os_find_program(&host->arena, "container", path, host->project.dir);
	if (!apple->program)
		return;
	apple->version = container_version(apple->program);
	apple->service = container_service_runs(apple->program);
	if (apple->service &&
	    container_ask_network(&host->arena, apple->program, "default", &network, &ignored) == 0)
		apple->gateway = network.gateway;
	probe_image(spec, host);
}
