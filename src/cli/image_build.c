/* SPDX-License-Identifier: MIT */
/* wrapix image build: from a profile's packages, or something that is there, to an image. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "api/api.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/image.h"
#include "image/base.h"
#include "image/contents.h"
#include "image/debian.h"
#include "image/export.h"
#include "image/interrupt.h"
#include "image/nix.h"
#include "image/platform.h"
#include "image/run.h"
#include "image/unpack.h"
#include "os/fs.h"

enum { BAR = 30 };

#define NO_PROFILE "base" /* which one it is when none is named */

struct build_args {
	struct arena arena;
	struct strv packages;
	const char *from, *output, *name, *platform, *compression, *agent;
	bool no_unpack;
};

/* One build. */
struct making {
	struct build_args *args;
	struct spec *spec; /* the profile */
	struct store *store;
	struct oci_image *image;
	struct build_how how;
	struct contents contents;
	char platform[64];
	const char *arch, *variant;
	char *scratch; /* a name in the store that is ours until we end */
	int log;       /* what other programs say */
	int shown;     /* percent; -1: nobody looks */
	bool waits;    /* a line about another program stands on the terminal */
};

static int add_package(void *ctx, _unused_ const struct opt *opt, const char *value,
		       struct err *err)
{
	struct build_args *args = ctx;

	if (!config_is_package(value))
		return err_usage(err, "--package: '%s' is no package's name", value);
	strv_add(&args->arena, &args->packages, value);
	return 0;
}

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct making *making = ctx;
	int percent = total ? (int)(done * 100 / total) : 100;
	char bar[BAR + 1];

	if (making->shown < 0 || percent == making->shown || percent > 100)
		return;
	making->shown = percent;
	for (int i = 0; i < BAR; i++)
		bar[i] = i < percent * BAR / 100 ? '#' : '-';
	bar[BAR] = '\0';
	fprintf(stderr, "\rlayers [%s] %3d%%%s", bar, percent, percent == 100 ? "\n" : "");
}

/* Another program works: the last line of what it says. */
static void on_wait(void *ctx)
{
	struct making *making = ctx;
	_cleanup_str_ struct str line = { 0 };
	char text[512];
	off_t end = lseek(making->log, 0, SEEK_CUR);
	ssize_t n = making->shown < 0 || end <= 0
			    ? 0
			    : pread(making->log, text, sizeof(text) - 1,
				    end > (off_t)sizeof(text) - 1 ? end - (off_t)sizeof(text) + 1
								  : 0);
	char *last;

	if (n <= 0)
		return;
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
		n--;
	text[n] = '\0';
	last = strrchr(text, '\n');
	str_add_escaped(&line, last ? last + 1 : text);
	fprintf(stderr, "\r\033[K%.76s", line.s ? line.s : "");
	making->waits = true;
}

/* The profile's packages of that source, and those that were asked for. */
static void packages_of(struct making *making, const char *source, struct strv *ret)
{
	const struct profile_spec *profile = &making->spec->from_profile;
	struct arena *a = &making->args->arena;

	for (size_t i = 0; i < profile->n_packages; i++)
		if (!strcmp(profile->packages[i].source, source))
			strv_add(a, ret, profile->packages[i].name);
	for (size_t i = 0; i < making->args->packages.len; i++)
		strv_add(a, ret, making->args->packages.v[i]);
}

static int from_source(struct making *making, const struct source *source, struct err *err)
{
	if (making->waits)
		fputs("\r\033[K", stderr);
	making->waits = false;
	return build_from_source(making->store, source, &making->how, making->image,
				 &making->contents.found, err);
}

static int from_debian(struct making *making, _unused_ const char *what, struct err *err)
{
	const struct source source = { .path = making->scratch };
	struct strv packages = { 0 };
	int r;

	packages_of(making, "debian", &packages);
	if (making->contents.interpreter && !strcmp(making->contents.interpreter, "node"))
		strv_add(&making->args->arena, &packages, "nodejs");
	fprintf(stderr, "wrapix: getting %zu packages and what they need\n", packages.len);
	r = debian_make_tar(making->scratch, &packages,
			    making->args->platform ? making->arch : NULL, making->log, err);
	if (r == 0)
		r = from_source(making, &source, err);
	os_remove_tree(AT_FDCWD, making->scratch);
	return r;
}

static int from_nix(struct making *making, const char *what, struct err *err)
{
	struct nix_closure closure;
	struct source source = { .kind = SOURCE_STORE };
	struct strv packages = { 0 };
	struct build_file *links;
	size_t n;
	int r;

	if (*what)
		strv_add(&making->args->arena, &packages, what);
	for (size_t i = 0; *what && i < making->args->packages.len; i++)
		strv_add(&making->args->arena, &packages, making->args->packages.v[i]);
	if (!*what)
		packages_of(making, "nix", &packages);
	r = nix_closure_find(&making->args->arena, &packages, making->log, &closure, err);
	if (r < 0)
		return r;
	source.path = closure.store;
	source.prefix = closure.store + 1;
	source.names = &closure.names;
	making->how.ranked = &closure.popular;
	r = from_source(making, &source, err);
	making->how.ranked = NULL;
	nix_links(&making->args->arena, &closure, &links, &n);
	return r < 0 ? r
		     : build_from_files(making->store, links, n, &making->how, making->image, err);
}

/* What is there has its packages already. */
static int no_packages(const struct making *making, struct err *err)
{
	if (!making->args->packages.len)
		return 0;
	err_usage(err, "--package: nothing can be installed into '%s'", making->args->from);
	return err_hint(err, "packages are for --from debian and --from nix");
}

static int from_oci(struct making *making, const char *what, struct err *err)
{
	int r = no_packages(making, err);

	if (r == 0)
		r = base_fetch(making->store, what, making->arch, making->scratch, making->log,
			       making->image, &making->contents.found, err);
	return r;
}

static int from_rootfs(struct making *making, const char *what, struct err *err)
{
	int r = no_packages(making, err);

	return r < 0 ? r : from_source(making, &(struct source){ SOURCE_DIR, what }, err);
}

static int from_tar(struct making *making, const char *what, struct err *err)
{
	int r = no_packages(making, err);

	return r < 0 ? r : from_source(making, &(struct source){ SOURCE_TAR, what }, err);
}

/* The word before a colon; what is behind it is given on. */
static const struct {
	const char *name;
	bool needs, takes; /* something behind the colon */
	int (*make)(struct making *making, const char *what, struct err *err);
} sources[] = {
	{ "debian", false, false, from_debian }, { "nix", false, true, from_nix },
	{ "oci", true, true, from_oci },         { "rootfs", true, true, from_rootfs },
	{ "tar", true, true, from_tar },
};

static bool names_packages(const struct making *making, const char *source)
{
	const struct profile_spec *profile = &making->spec->from_profile;

	for (size_t i = 0; i < profile->n_packages; i++)
		if (!strcmp(profile->packages[i].source, source))
			return true;
	return false;
}

static bool is_installed(struct making *making, const char *program)
{
	return run_find(&making->args->arena, program, "", &(struct err){ 0 });
}

/* Debian's packages, unless the profile has them of Nix alone, or nix is what there is here to get them. */
static const char *default_source(struct making *making)
{
	if (!names_packages(making, "nix"))
		return "debian";
	if (!names_packages(making, "debian"))
		return "nix";
	return !is_installed(making, "mmdebstrap") && is_installed(making, "nix-build") ? "nix"
											: "debian";
}

static int make_layers(struct making *making, struct err *err)
{
	const char *from = making->args->from ?: default_source(making);
	size_t len = strcspn(from, ":");
	const char *what = from[len] ? from + len + 1 : "";

	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		if (!strncmp(sources[i].name, from, len) && !sources[i].name[len] &&
		    (*what ? sources[i].takes : !sources[i].needs))
			return sources[i].make(making, what, err);
	return err_usage(err,
			 "--from: '%s' is none of debian, nix, nix:PATH, oci:REF, rootfs:DIR, "
			 "tar:FILE",
			 from);
}

/* What the other program said, when it failed. */
static void show_log(int log)
{
	_cleanup_free_ char *said = NULL;
	_cleanup_str_ struct str shown = { 0 };
	size_t len, from;

	if (lseek(log, 0, SEEK_SET) < 0 || os_read_fd(log, 16 << 20, &said, &len) < 0)
		return;
	from = len > 1500 ? len - 1500 : 0;
	str_add_visible(&shown, said + from, len - from);
	if (shown.len)
		fprintf(stderr, "%s\n", shown.s);
}

static int make_image(struct making *making, struct err *err)
{
	struct oci_image *image = making->image;
	char *said = NULL;
	int r = making->log < 0 ? err_errno(err, errno, "memfd_create") : 0;

	if (r == 0)
		r = contents_find_agent(&making->contents, &making->args->arena, err);
	if (r == 0)
		r = make_layers(making, err);
	if (r < 0 && making->log >= 0 && !interrupt_waits())
		show_log(making->log);
	if (!image->os) {
		image->os = arena_strdup(&image->arena, "linux");
		image->architecture = arena_strdup(&image->arena, making->arch);
		image->variant = arena_strdup(&image->arena, making->variant);
	}
	if (r == 0)
		r = contents_add(&making->contents, making->store, &making->how, image, &said, err);
	if (r == 0 && said)
		cli_warn("%s", said);
	return r < 0 ? r : oci_write_image(making->store->blobs, image, err);
}

static int deliver(const struct build_args *args, struct store *store, const char *name,
		   struct oci_image *image, struct err *err)
{
	struct arena arena = { 0 };
	char *unpacked;
	/* So that 'wrapix run --image' starts at once. What cannot be unpacked takes nobody's name. */
	_cleanup_close_ int root = args->no_unpack
					   ? -1
					   : unpack_image(store, image, &arena, &unpacked, err);
	int r = root < 0 && !args->no_unpack ? root
					     : layout_name(store, name, &image->manifest, err);

	if (r == 0 && !args->no_unpack)
		r = unpack_named(store, image, name, &arena, &unpacked, err);
	arena_release(&arena);
	if (r == 0 && args->output)
		r = image_export(store, image, name, args->output, err);
	if (r == 0)
		printf("%s %s%s\n", name, DIGEST_PREFIX, image->manifest.digest);
	return r;
}

/* Blobs that nothing names stay until somebody wants the room. */
static void hint_at_room(struct err *err)
{
	if (err->code == ENOSPC && !*err->hint)
		err_hint(err, "'wrapix image gc' removes what no image needs");
}

static bool is_projects(const struct project_config *project, const char *name)
{
	for (size_t i = 0; i < project->n_profiles; i++)
		if (!strcmp(project->profiles[i].name, name))
			return true;
	return false;
}

/* The packages of a project's own profile are fetched and set up outside of any sandbox, and the image is there for
 * every project: nothing of it is without a look. */
static int load_profile(struct spec *spec, const char *name, struct err *err)
{
	struct project_config project;
	int r = api_load_profile(spec, name, &project, err);

	if (r == 0 && is_projects(&project, name))
		r = trust_check_host(&project, spec->config_dir,
				     api_base_dir(&spec->arena, "XDG_STATE_HOME", ".local/state"),
				     err);
	else if (r == 0)
		r = api_check_trust(spec, &project, err);
	project_config_release(&project);
	return r;
}

static int set_up(struct making *making, const char *profile, struct err *err)
{
	struct build_args *args = making->args;
	const char *wish = args->compression ?: compression_names[COMPRESS_GZIP];
	int r = load_profile(making->spec, profile, err);

	making->how = (struct build_how){ .on_progress = on_progress, .ctx = making };
	for (size_t i = 0; i < COMPRESS_COUNT; i++)
		if (!strcmp(compression_names[i], wish))
			making->how.compression = (enum compression)i;
	making->arch = platform_here();
	making->shown = isatty(STDERR_FILENO) ? 0 : -1;
	making->scratch = arena_printf(&args->arena, "%s/.make-%d", image_store_path(&args->arena),
				       getpid());
	making->log = memfd_create("log", MFD_CLOEXEC);
	run_tell(on_wait, making);
	if (r == 0 && args->platform)
		r = platform_parse(args->platform, making->platform, &making->arch,
				   &making->variant, err);
	making->contents = (struct contents){ .architecture = making->arch,
					      .agent = args->agent,
					      .spec = making->spec };
	return r;
}

/*
 * The profile's; of a file's path the name, without its end. Where no profile is named, and the files are those of
 * something that is there: that one's.
 */
static char *default_name(struct arena *arena, const char *profile, const char *from)
{
	const char *name = path_name(profile ?: NO_PROFILE);
	size_t len = strlen(name);

	for (size_t i = 0; !profile && from && i < ARRAY_LEN(sources); i++) {
		size_t word = strlen(sources[i].name);

		if (sources[i].needs && str_starts(from, sources[i].name) && from[word] == ':')
			return image_name_of(arena, from + word + 1);
	}

	if (profile && profile[0] == '/' && len > 5 && !strcmp(name + len - 5, ".json"))
		len -= 5;
	return arena_strndup(arena, name, len);
}

static int cmd_build(int argc, char **argv)
{
	_cleanup_opt_rest_ struct opt_rest rest = { 0 };
	struct build_args args = { 0 };
	struct oci_image image = { 0 };
	struct store store = STORE_NONE;
	struct spec spec;
	struct making making = { .args = &args, .spec = &spec, .store = &store, .image = &image };
	struct err err = { 0 };
	int r, status = cli_parse(argc, argv, &args, &rest);
	const char *profile, *name;

	if (status != CLI_GO_ON)
		return status;
	profile = rest.n_operands ? rest.operands[0] : NULL;
	name = args.name ?: default_name(&args.arena, profile, args.from);
	spec_init(&spec);
	r = *name ? set_up(&making, profile ?: NO_PROFILE, &err) : image_no_name(&err);
	if (r == 0)
		r = image_open_store(&store, &err);
	if (r == 0)
		r = layout_tidy(&store, &err);
	/* Until what is half-made has gone. */
	interrupt_hold();
	if (r == 0)
		r = make_image(&making, &err);
	if (r == 0)
		r = deliver(&args, &store, name, &image, &err);
	if (making.log >= 0)
		close(making.log);
	layout_close(&store);
	oci_image_release(&image);
	spec_release(&spec);
	arena_release(&args.arena);
	interrupt_release();
	hint_at_room(&err);
	return r < 0 ? cli_fail(&err) : 0;
}

static const char *const *compression_words(_unused_ const char *name)
{
	return compression_names;
}

#define TEXT(field) .kind = OPT_STRING, .offset = offsetof(struct build_args, field)

static const struct opt opts[] = {
	{ 0, "package", "NAME", .kind = OPT_CALL, .call = add_package, .repeat = true,
	  .help = "add this package to the profile's; repeatable" },
	{ 0, "from", "SOURCE", TEXT(from),
	  .help = "debian or nix: the profile's packages (default: debian, where both can be had); "
		  "nix:PATH, oci:REF, rootfs:DIR, "
		  "tar:FILE: what is there" },
	{ 'o', "output", "PLACE", TEXT(output), .complete = COMPLETE_FILE,
	  .help = "also write it there: a directory gets an OCI layout, FILE.oci.tar is an archive "
		  "of one, FILE.tar one of docker's" },
	{ 0, "name", "NAME", TEXT(name),
	  .help = "what the image is called (default: the profile; of oci:REF, rootfs:DIR, "
		  "tar:FILE without one, their last word)" },
	{ 0, "agent", "NAME", TEXT(agent),
	  .help = "put this agent in, as it is installed here, and start it by default" },
	{ 0, "platform", "linux/ARCH", TEXT(platform),
	  .help = "for another machine than this one" },
	{ 0, "compression", "gzip|zstd|none", TEXT(compression), .words = compression_words,
	  .complete = COMPLETE_WORDS, .help = "of the layers (default: gzip)" },
	{ 0, "no-unpack", FLAG(build_args, no_unpack),
	  .help = "do not unpack it: it is for others than 'wrapix run'" },
	HELP,
	{ .kind = OPT_END },
};

const struct command command_image_build = {
	.name = "build",
	.usage = "build [PROFILE] [options]",
	.summary = "make an image of a profile",
	.description = "Makes an OCI image of PROFILE (default: base). The same packages give the "
		       "same digest, whoever builds it and when. Its layers are cut so that a "
		       "changed package changes one small layer.",
	.examples = EXAMPLES("wrapix image build python --package ripgrep", "and one more package",
			     "wrapix image build --from nix --agent claude",
			     "the profile's packages by nix, and Claude Code",
			     "wrapix image build --from rootfs:./root --name mine -o mine.tar",
			     "a directory of yours as an image, and as a file for docker"),
	.syntax = { opts, .max = 1, .operand = "PROFILE", .complete = COMPLETE_WORDS,
		    .words = config_profile_words },
	.run = cmd_build,
};
