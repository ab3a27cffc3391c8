/* SPDX-License-Identifier: MIT */
/* wrapix image build: from a profile's packages, a root directory or an archive to an image. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/path.h"
#include "base/str.h"
#include "cli/image.h"
#include "image/build.h"
#include "image/debian.h"
#include "image/export.h"
#include "image/unpack.h"
#include "os/fs.h"
#include "spec/config.h"

struct build_args {
	struct arena arena;
	struct strv packages;
	const char *from, *output, *name, *platform;
};

struct progress {
	int shown; /* percent; -1: nobody looks */
};

static int add_package(void *ctx, _unused_ const struct opt *opt, const char *value,
		       struct err *err)
{
	struct build_args *args = ctx;

	if (!*value || *value == '-')
		return err_usage(err, "--package: '%s' is no package's name", value);
	strv_add(&args->arena, &args->packages, value);
	return 0;
}

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct progress *progress = ctx;
	int percent = total ? (int)(done * 100 / total) : 100;

	if (progress->shown < 0 || percent == progress->shown)
		return;
	progress->shown = percent;
	fprintf(stderr, "\rlayers: %3d%%%s", percent, percent == 100 ? "\n" : "");
}

/* The platform as OCI spells it, and as Debian does: they agree where both exist. */
static const char *platform_of(const struct build_args *args)
{
	static const struct {
		const char *machine, *name;
	} names[] = { { "x86_64", "amd64" }, { "aarch64", "arm64" } };
	struct utsname uts;

	if (args->platform)
		return !strncmp(args->platform, "linux/", 6) ? args->platform + 6 : args->platform;
	uname(&uts);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(names[i].machine, uts.machine))
			return names[i].name;
	return "unknown";
}

/* What every image has, whatever it is made from. */
static int add_own_files(struct store *store, struct oci_image *image, struct err *err)
{
	static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\n"
				     "wrapix:x:1000:1000::/home/wrapix:/bin/sh\n"
				     "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
	static const char group[] = "root:x:0:\nwrapix:x:1000:\nnogroup:x:65534:\n";
	static const char hosts[] = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n";
	const struct build_file files[] = {
		{ "etc/group", S_IFREG | 0644, group, strlen(group) },
		{ "etc/hosts", S_IFREG | 0644, hosts, strlen(hosts) },
		{ "etc/passwd", S_IFREG | 0644, passwd, strlen(passwd) },
		/* Whoever the engine maps to this: his own home. */
		{ "home/wrapix", S_IFDIR | 0777, NULL, 0, 1000, 1000 },
		{ "tmp", S_IFDIR | 01777 },
		{ "var/cache", S_IFDIR | 01777 },
		{ "var/tmp", S_IFDIR | 01777 },
		{ "workspace", S_IFDIR | 0755, NULL, 0, 1000, 1000 },
	};

	return build_from_files(store, files, ARRAY_LEN(files), image, err);
}

static void add_environment(struct oci_image *image, const struct spec *spec)
{
	static const char *const common[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/home/wrapix",
		"LANG=C.UTF-8",
		"SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
	};
	struct arena *a = &image->arena;

	for (size_t i = 0; i < ARRAY_LEN(common); i++)
		strv_add(a, &image->env, common[i]);
	for (size_t i = 0; i < spec->n_env; i++)
		if (spec->env[i].value && strcmp(spec->env[i].name, "PATH"))
			strv_addf(a, &image->env, "%s=%s", spec->env[i].name, spec->env[i].value);
}

/* Says what mmdebstrap said when it failed. */
static int make_debian(const struct build_args *args, struct spec *spec, const char *tar,
		       struct err *err)
{
	_cleanup_free_ char *said = NULL;
	struct strv packages = { 0 };
	int log = memfd_create("mmdebstrap", MFD_CLOEXEC), r;
	size_t len, from = 0;

	for (size_t i = 0; i < spec->from_profile.n_packages; i++)
		if (!strcmp(spec->from_profile.packages[i].source, "debian"))
			strv_add(&spec->arena, &packages, spec->from_profile.packages[i].name);
	for (size_t i = 0; i < args->packages.len; i++)
		strv_add(&spec->arena, &packages, args->packages.v[i]);
	fprintf(stderr, "wrapix: getting %zu packages and what they need\n", packages.len);
	r = log < 0 ? err_errno(err, errno, "memfd_create")
		    : debian_make_tar(tar, &packages, args->platform ? platform_of(args) : NULL,
				      log, err);
	if (r < 0 && log >= 0 && lseek(log, 0, SEEK_SET) == 0 &&
	    os_read_fd(log, 16 * 1024 * 1024, &said, &len) == 0) {
		_cleanup_str_ struct str shown = { 0 };

		from = len > 1500 ? len - 1500 : 0;
		str_add_escaped(&shown, said + from);
		fprintf(stderr, "%s\n", shown.s ? shown.s : "");
	}
	if (log >= 0)
		close(log);
	return r;
}

/* "debian", "rootfs:DIR", "tar:FILE": makes the source; *ret_tar is a file to remove afterwards. */
static int find_source(struct build_args *args, struct spec *spec, struct source *ret,
		       char **ret_tar, struct err *err)
{
	const char *from = args->from ?: "debian";

	*ret_tar = NULL;
	if (!strncmp(from, "rootfs:", 7)) {
		*ret = (struct source){ .path = from + 7, .is_dir = true };
		return 0;
	}
	if (!strncmp(from, "tar:", 4)) {
		*ret = (struct source){ .path = from + 4 };
		return 0;
	}
	if (strcmp(from, "debian"))
		return err_usage(err, "--from: '%s' is none of debian, rootfs:DIR, tar:FILE", from);
	*ret_tar = arena_printf(&args->arena, "%s/.tar-%d", image_store_path(&args->arena),
				getpid());
	*ret = (struct source){ .path = *ret_tar };
	return make_debian(args, spec, *ret_tar, err);
}

static int build(struct build_args *args, struct spec *spec, struct store *store,
		 struct oci_image *image, struct err *err)
{
	struct progress progress = { .shown = isatty(STDERR_FILENO) ? 0 : -1 };
	struct build_hooks hooks = { on_progress, &progress };
	struct source source;
	char *tar;
	int r = find_source(args, spec, &source, &tar, err);

	image->os = arena_strdup(&image->arena, "linux");
	image->architecture = arena_strdup(&image->arena, platform_of(args));
	image->workdir = arena_strdup(&image->arena, WORKSPACE_INSIDE);
	strv_add(&image->arena, &image->cmd, "/bin/sh");
	add_environment(image, spec);
	if (r == 0)
		r = build_from_source(store, &source, image, &hooks, err);
	if (tar)
		unlink(tar);
	if (r == 0)
		r = add_own_files(store, image, err);
	return r == 0 ? oci_write_image(store->blobs, image, err) : r;
}

static int deliver(const struct build_args *args, struct store *store, const char *name,
		   struct oci_image *image, struct err *err)
{
	struct arena arena = { 0 };
	char *unpacked;
	int r = store_name(store, name, &image->manifest, err);

	/* So that 'wrapix run --image' starts at once. */
	if (r == 0)
		r = unpack_named(store, image, name, &arena, &unpacked, err);
	arena_release(&arena);

	if (r == 0 && args->output)
		r = image_export(store, image, name, args->output, err);
	if (r == 0)
		printf("%s %s%s\n", name, DIGEST_PREFIX, image->manifest.digest);
	return r;
}

static char *config_home(struct arena *arena)
{
	const char *set = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	return set && set[0] == '/' ? arena_strdup(arena, set)
				    : path_join(arena, home ?: "/", ".config");
}

static int cmd_build(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct build_args args = { 0 };
	struct oci_image image = { 0 };
	struct store store = STORE_NONE;
	struct spec spec;
	struct err err = { 0 };
	int r, status = cli_parse(argc, argv, &args, &rest);
	const char *profile;

	if (status != CLI_GO_ON)
		return status;
	profile = rest.n_operands ? rest.operands[0] : "base";
	spec_init(&spec);
	r = config_load_profile(&spec, profile, config_home(&spec.arena), &err);
	if (r == 0)
		r = image_open_store(&store, &err);
	if (r == 0)
		r = build(&args, &spec, &store, &image, &err);
	if (r == 0)
		r = deliver(&args, &store, args.name ?: profile, &image, &err);
	store_close(&store);
	oci_image_release(&image);
	spec_release(&spec);
	arena_release(&args.arena);
	return r < 0 ? cli_fail(&err) : 0;
}

#define TEXT(field) .kind = OPT_STRING, .offset = offsetof(struct build_args, field)

static const struct opt opts[] = {
	{ 0, "package", "NAME", .kind = OPT_CALL, .call = add_package, .repeat = true,
	  .help = "add this package to the profile's" },
	{ 0, "from", "SOURCE", TEXT(from),
	  .help = "debian (default): the profile's packages; rootfs:DIR; tar:FILE" },
	{ 'o', "output", "PLACE", TEXT(output), .complete = COMPLETE_FILE,
	  .help = "also write it there: a directory gets an OCI layout, FILE.tar a "
		  "docker-archive" },
	{ 0, "name", "NAME", TEXT(name),
	  .help = "what the image is called (default: the profile)" },
	{ 0, "platform", "linux/ARCH", TEXT(platform),
	  .help = "for another machine than this one" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_image_build = {
	.name = "build",
	.usage = "build [PROFILE] [options]",
	.summary = "make an image of a profile",
	.description = "Makes an OCI image of PROFILE (default: base). The same packages give the "
		       "same digest, "
		       "whoever builds it and when. Its layers are cut so that a changed package "
		       "changes one "
		       "small layer.",
	.examples = EXAMPLES("wrapix image build python --package ripgrep", "and one more package",
			     "wrapix image build --from rootfs:./root --name mine -o mine.tar",
			     "a directory of yours as an image, and as a file for docker"),
	.syntax = { opts, .max = 1, .operand = "PROFILE" },
	.run = cmd_build,
};
