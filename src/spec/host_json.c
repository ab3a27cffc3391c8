/* SPDX-License-Identifier: MIT */
/*
 * Host facts as JSON: what 'wrapix plan --facts' prints and 'wrapix plan --host FILE' reads. One
 * table of fields serves both, so what is printed can be read back.
 */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "spec/agent.h"
#include "spec/host.h"

enum field_type { FIELD_STRING, FIELD_UINT, FIELD_BOOL, FIELD_U64, FIELD_TEXT };

struct field {
	const char *name;
	enum field_type type;
	size_t offset;
	size_t size; /* FIELD_TEXT: of the array */
};

#define FIELD(name, type, member)                                    \
	{                                                            \
		name, FIELD_##type, offsetof(struct host, member), 0 \
	}
#define TEXT(name, member)                                       \
	{                                                        \
		name, FIELD_TEXT, offsetof(struct host, member), \
			sizeof(((struct host *)0)->member)       \
	}

static const struct field fields[] = {
	FIELD("platform", STRING, platform),
	FIELD("uid", UINT, uid),
	FIELD("gid", UINT, gid),
	FIELD("user", STRING, user),
	FIELD("home", STRING, home),
	FIELD("passwdHome", STRING, passwd_home),
	FIELD("stateHome", STRING, state_home),
	FIELD("runtimeDir", STRING, runtime_dir),
	FIELD("noState", STRING, no_state),
	FIELD("configHome", STRING, config_home),
	FIELD("cacheHome", STRING, cache_home),
	FIELD("dataHome", STRING, data_home),
	FIELD("landlockAbi", UINT, landlock_abi),
	FIELD("seccompNotify", BOOL, seccomp_notify),
	FIELD("inside", BOOL, inside),
	FIELD("tun", BOOL, tun),
	FIELD("resolvConf", STRING, resolv_conf),
	FIELD("routeInterface", STRING, route.interface),
	FIELD("routeV4", STRING, route.v4),
	FIELD("routeV6", STRING, route.v6),
	FIELD("resolvPath", STRING, resolv_path),
	FIELD("gitName", STRING, git_name),
	FIELD("gitEmail", STRING, git_email),
	FIELD("pasta", STRING, tools.pasta),
	FIELD("slirp4netns", STRING, tools.slirp),
	FIELD("shell", STRING, tools.shell),
	FIELD("notify", STRING, tools.notify),
	FIELD("notifyd", STRING, tools.notifyd),
	FIELD("imageRoot", STRING, image_root),
	FIELD("relay", STRING, tools.relay),
	FIELD("self", STRING, tools.self),
	FIELD("srt", STRING, tools.srt),
	FIELD("podman", STRING, podman.program),
	FIELD("podmanVersion", UINT, podman.version),
	FIELD("docker", STRING, podman.docker),
	FIELD("dockerSocket", BOOL, podman.socket),
	FIELD("dockerOwn", BOOL, podman.docker_own),
	FIELD("dockerShim", BOOL, podman.docker_shim),
	FIELD("newuidmap", STRING, podman.newuidmap),
	FIELD("subids", BOOL, podman.subids),
	FIELD("selinux", BOOL, podman.selinux),
	FIELD("krun", STRING, podman.krun),
	FIELD("kvm", BOOL, podman.kvm),
	FIELD("kvmThere", BOOL, podman.kvm_there),
	FIELD("kvmByGroup", BOOL, podman.kvm_by_group),
	FIELD("init", STRING, podman.init),
	FIELD("imageLoader", STRING, podman.loader),
	FIELD("container", STRING, apple.program),
	FIELD("containerVersion", UINT, apple.version),
	FIELD("macos", UINT, apple.macos),
	FIELD("appleSilicon", BOOL, apple.silicon),
	FIELD("containerService", BOOL, apple.service),
	FIELD("containerImage", STRING, apple.image),
	FIELD("containerImageLoaded", BOOL, apple.loaded),
	FIELD("containerGateway", STRING, apple.gateway),
	FIELD("cpus", UINT, apple.cpus),
	FIELD("containerLoader", STRING, apple.loader),
	FIELD("cowBase", STRING, cow_base),
	FIELD("cowOverlay", BOOL, cow_overlay),
	FIELD("ttyIn", BOOL, tty[0]),
	FIELD("ttyOut", BOOL, tty[1]),
	FIELD("ttyErr", BOOL, tty[2]),
	FIELD("projectDir", STRING, project.dir),
	FIELD("projectWay", STRING, project.way),
	FIELD("projectOwner", UINT, project.owner),
	FIELD("projectTop", STRING, project.top),
	FIELD("projectGit", UINT, project.git),
	FIELD("projectGitdir", STRING, project.gitdir),
	FIELD("projectCommondir", STRING, project.commondir),
	FIELD("projectGitRelative", BOOL, project.git_relative),
	FIELD("projectNote", STRING, project.note),
	FIELD("projectLacksGit", BOOL, project.lacks_git),
	FIELD("projectHasConfig", BOOL, project.has_config),
	FIELD("projectHasWrapixDir", BOOL, project.has_wrapix_dir),
	FIELD("agentName", STRING, agent.name),
	FIELD("agentProgram", STRING, agent.program),
	FIELD("agentRoot", STRING, agent.root),
	FIELD("agentInner", STRING, agent.inner),
	FIELD("agentInterpreter", STRING, agent.interpreter),
	FIELD("agentTheme", STRING, agent.theme),
	FIELD("keyName", STRING, keys.name),
	FIELD("keyDeploy", STRING, keys.deploy),
	FIELD("keySigning", STRING, keys.signing),
	FIELD("keyDeployPublic", STRING, keys.deploy_public),
	FIELD("keySigningPublic", STRING, keys.signing_public),
	FIELD("keyOrigin", STRING, keys.origin),
	FIELD("keyKnownHosts", STRING, keys.known_hosts),
	FIELD("keyAsker", STRING, keys.asker),
	FIELD("cgroupLayout", UINT, cgroup.layout),
	FIELD("cgroupV2", UINT, cgroup.v2),
	FIELD("cgroupV1", UINT, cgroup.v1),
	FIELD("cgroupSystemd", UINT, cgroup.systemd),
	TEXT("cgroupV2Dir", cgroup.v2_dir),
	TEXT("cgroupSystemdSocket", cgroup.systemd_socket),
	FIELD("systemdBooted", BOOL, cgroup.systemd_booted),
	FIELD("nprocIsOwn", BOOL, cgroup.nproc_is_own),
	FIELD("ram", U64, cgroup.ram),
};

static const struct {
	const char *name;
	size_t offset;
} lists[] = {
	{ "own", offsetof(struct host, own) },
	{ "imageTop", offsetof(struct host, image_top) },
	{ "top", offsetof(struct host, top) },
	{ "etc", offsetof(struct host, etc) },
	{ "extra", offsetof(struct host, extra) },
	{ "masks", offsetof(struct host, masks) },
	{ "points", offsetof(struct host, points) },
	{ "mounts", offsetof(struct host, mounts) },
	{ "projectModules", offsetof(struct host, project.modules) },
	{ "projectBorrowed", offsetof(struct host, project.borrowed) },
};

static const char *const kind_names[] = {
	[PATH_ABSENT] = "absent", [PATH_FILE] = "file",   [PATH_DIR] = "dir",
	[PATH_LINK] = "link",     [PATH_OTHER] = "other",
};

/* Reading */

static int load_string(struct host *host, const struct field *field, const char *value)
{
	void *at = (char *)host + field->offset;

	if (field->type == FIELD_TEXT)
		return snprintf(at, field->size, "%s", value) < (int)field->size ? 0 : -EINVAL;
	*(char **)at = arena_strdup(&host->arena, value);
	return 0;
}

static int load_number(struct host *host, const struct field *field, struct json_object *value)
{
	void *at = (char *)host + field->offset;
	int64_t n = json_object_get_int64(value);

	if (!json_object_is_type(value, json_type_int) || n < 0)
		return -EINVAL;
	if (field->type == FIELD_U64)
		*(uint64_t *)at = (uint64_t)n;
	else if (n <= UINT32_MAX)
		*(unsigned *)at = (unsigned)n;
	else
		return -EINVAL;
	return 0;
}

static int load_field(struct host *host, const struct field *field, struct json_object *value,
		      struct err *err)
{
	static const char *const what[] = {
		[FIELD_STRING] = "a string",     [FIELD_UINT] = "a whole number",
		[FIELD_BOOL] = "a boolean",      [FIELD_U64] = "a whole number",
		[FIELD_TEXT] = "a short string",
	};
	int r = 0;

	switch (field->type) {
	case FIELD_STRING:
	case FIELD_TEXT:
		if (!json_object_is_type(value, json_type_string))
			r = -EINVAL;
		else
			r = load_string(host, field, json_object_get_string(value));
		break;
	case FIELD_BOOL:
		if (!json_object_is_type(value, json_type_boolean))
			r = -EINVAL;
		*((bool *)((char *)host + field->offset)) = json_object_get_boolean(value);
		break;
	default:
		r = load_number(host, field, value);
	}
	return r < 0 ? json_err_type(JSON_KEY(NULL, field->name), value, what[field->type], err)
		     : 0;
}

static int load_fact(struct host *host, struct path_facts *facts, struct json_object *value,
		     const struct json_at *at, struct err *err)
{
	const char *path = json_text(value, "path");
	const char *kind = json_text(value, "kind");
	const char *target = json_text(value, "target");
	struct path_fact *fact;

	for (size_t i = 0; path && path[0] == '/' && kind && i < ARRAY_LEN(kind_names); i++) {
		if (strcmp(kind, kind_names[i]))
			continue;
		fact = arena_grow(&host->arena, &facts->v, &facts->len, sizeof(*fact));
		*fact = (struct path_fact){
			.path = arena_strdup(&host->arena, path),
			.kind = (enum path_kind)i,
			.target = arena_strdup(&host->arena, target),
		};
		return 0;
	}
	return json_err_type(at, value, "an absolute path and its kind", err);
}

static int load_list(struct host *host, const char *name, size_t offset, struct json_object *list,
		     struct err *err)
{
	struct path_facts *facts = (struct path_facts *)((char *)host + offset);
	const struct json_at *at = JSON_KEY(NULL, name);
	int r = json_check_type(at, list, json_type_array, err);

	for (size_t i = 0; r == 0 && i < json_object_array_length(list); i++)
		r = load_fact(host, facts, json_object_array_get_idx(list, i), JSON_INDEX(at, i),
			      err);
	return r;
}

static int load_env(struct host *host, const char *key, struct json_object *map,
		    struct env_fact **list, size_t *n, struct err *err)
{
	int r = json_check_type(JSON_KEY(NULL, key), map, json_type_object, err);

	if (r < 0)
		return r;
	json_object_object_foreach(map, name, value)
	{
		struct env_fact *fact = arena_grow(&host->arena, list, n, sizeof(*fact));

		fact->name = arena_strdup(&host->arena, name);
		fact->value = arena_strdup(&host->arena, json_object_get_string(value));
	}
	return 0;
}

static int load_key(struct host *host, const char *key, struct json_object *value, struct err *err)
{
	const char *names[ARRAY_LEN(fields)];

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		names[i] = fields[i].name;
		if (!strcmp(key, fields[i].name))
			return load_field(host, &fields[i], value, err);
	}
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (!strcmp(key, lists[i].name))
			return load_list(host, key, lists[i].offset, value, err);
	if (!strcmp(key, "env"))
		return load_env(host, key, value, &host->env, &host->n_env, err);
	if (!strcmp(key, "imageEnv"))
		return load_env(host, key, value, &host->image_env, &host->n_image_env, err);
	return json_err_key(JSON_KEY(NULL, key), names, ARRAY_LEN(names), err);
}

/* What a plan cannot be made without. */
static int check(const struct host *host, struct err *err)
{
	const struct {
		const char *name, *value;
	} needed[] = {
		{ "platform", host->platform },
		{ "user", host->user },
		{ "home", host->home },
		{ "shell", host->tools.shell },
		{ "stateHome", host->state_home },
		{ "projectDir", host->project.dir },
		{ "projectTop", host->project.top },
	};

	for (size_t i = 0; i < ARRAY_LEN(needed); i++)
		if (!needed[i].value)
			return err_usage(err, "the facts lack \"%s\"", needed[i].name);
	if (!path_is_below(host->project.dir, host->project.top))
		return err_usage(err, "\"projectDir\" does not lie below \"projectTop\"");
	if (host->project.git == GIT_LINKED && (!host->project.gitdir || !host->project.commondir))
		return err_usage(err, "the facts lack \"projectGitdir\" or \"projectCommondir\"");
	return 0;
}

int host_load(const char *json, size_t len, struct host *ret, struct err *err)
{
	_cleanup_json_ struct json_object *root = NULL;
	struct host host = { .platform = NULL };
	int r = json_parse(json, len, "facts", &root, err);

	if (r == 0)
		r = json_check_type(NULL, root, json_type_object, err);
	if (r == 0) {
		json_object_object_foreach(root, key, value)
		{
			r = load_key(&host, key, value, err);
			if (r < 0)
				break;
		}
	}
	if (r == 0)
		r = check(&host, err);
	if (r < 0) {
		host_release(&host);
		return r;
	}
	host.cgroup.uid = host.uid;
	*ret = host;
	return 0;
}

/* Writing */

static void key(struct str *out, const char *name)
{
	str_addf(out, "%s\n  \"%s\": ", out->len > 1 ? "," : "", name);
}

static void print_field(struct str *out, const struct host *host, const struct field *field)
{
	const void *at = (const char *)host + field->offset;
	const char *text = field->type == FIELD_TEXT ? at : NULL;

	if (field->type == FIELD_STRING)
		text = *(char *const *)at;
	if (text && *text) {
		key(out, field->name);
		json_add_string(out, text);
	} else if (field->type == FIELD_UINT) {
		key(out, field->name);
		str_addf(out, "%u", *(const unsigned *)at);
	} else if (field->type == FIELD_U64) {
		key(out, field->name);
		str_addf(out, "%llu", (unsigned long long)*(const uint64_t *)at);
	} else if (field->type == FIELD_BOOL) {
		key(out, field->name);
		str_add(out, *(const bool *)at ? "true" : "false");
	}
}

static void print_list(struct str *out, const struct path_facts *facts, const char *name)
{
	key(out, name);
	str_add(out, "[");
	for (size_t i = 0; i < facts->len; i++) {
		str_add(out, i ? ",\n    {\"path\": " : "\n    {\"path\": ");
		json_add_string(out, facts->v[i].path);
		str_addf(out, ", \"kind\": \"%s\"", kind_names[facts->v[i].kind]);
		if (facts->v[i].target) {
			str_add(out, ", \"target\": ");
			json_add_string(out, facts->v[i].target);
		}
		str_add(out, "}");
	}
	str_add(out, "]");
}

/* Values of variables may be secrets that the user named: only the allow-listed ones are shown, and an
 * image's, which anybody can read there. */
static void print_env(struct str *out, const char *name, const struct env_fact *list, size_t n,
		      bool all)
{
	bool first = true;

	key(out, name);
	str_add(out, "{");
	for (size_t i = 0; i < n; i++) {
		if (!all && !host_env_allowed(list[i].name))
			continue;
		str_add(out, first ? "" : ", ");
		json_add_string(out, list[i].name);
		str_add(out, ": ");
		json_add_string(out, list[i].value);
		first = false;
	}
	str_add(out, "}");
}

void host_print_json(const struct host *host, FILE *file)
{
	_cleanup_str_ struct str out = { 0 };

	str_add(&out, "{");
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		print_field(&out, host, &fields[i]);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		print_list(&out, (const struct path_facts *)((const char *)host + lists[i].offset),
			   lists[i].name);
	print_env(&out, "imageEnv", host->image_env, host->n_image_env, true);
	print_env(&out, "env", host->env, host->n_env, false);
	fprintf(file, "%s\n}\n", out.s);
}

void host_assume_mounts(const struct spec *spec, struct host *host)
{
	struct path_facts *facts = &host->mounts;

	while (facts->len < spec->n_mounts) {
		const char *src = spec->mounts[facts->len].src;
		char *path = path_expand(&host->arena, src, host->home, host->user);
		struct path_fact *fact;

		if (path[0] != '/')
			path = path_join(&host->arena, host->project.dir, path);
		fact = arena_grow(&host->arena, &facts->v, &facts->len, sizeof(*fact));
		*fact = (struct path_fact){ .path = path, .kind = PATH_DIR };
	}
}

void host_assume_agent(const struct spec *spec, struct host *host)
{
	const char *wanted = agent_wanted(spec);

	if (wanted && host->agent.name && !strcmp(host->agent.name, wanted))
		return;
	host->agent = (struct agent_facts){ .name = arena_strdup(&host->arena, wanted) };
	if (spec->definition && !strcmp(spec->definition->program, "$SHELL"))
		host->agent.program = host->tools.shell;
}
