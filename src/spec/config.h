/* SPDX-License-Identifier: MIT */
/*
 * wrapix.json, ~/.config/wrapix/config.json and profiles: one format, one reader.
 *
 * A project's file is hostile until trusted: config_load_project() reports each key that widens
 * what the sandbox gets, and trust_check() stops the start until 'wrapix trust' has recorded
 * exactly this content.
 */
#pragma once

#include "spec/spec.h"

struct json_object;

/* A key of a project file that gives the sandbox more than the defaults do, ready to be shown. */
struct widening {
	char *key;        /* "mounts[0]", "network", ... */
	char *shown;      /* the value as the user should read it, escaped */
	const char *when; /* it widens only then, as the user should read it; NULL: now */
};

/* A profile of the project's own: .wrapix/profiles/NAME.json. */
struct project_profile {
	char *name, *path;
	char *bytes;
	size_t len;
};

struct project_config {
	struct arena arena;
	char *path; /* NULL when there is neither wrapix.json nor a profile */
	char *bytes; /* of wrapix.json: what was parsed, never read a second time; NULL: there is none */
	size_t len;
	struct project_profile *profiles; /* sorted by name */
	size_t n_profiles;
	struct widening *widenings;
	size_t n_widenings;
	/* More of them, but only at another time: nobody is asked for these alone. */
	struct widening *others;
	size_t n_others;
	bool chose_profile; /* it, and not the user, says which */
	bool has_ralph;     /* commands that ralph runs, on the host when the user says --host */
};

/* Lays a configuration text over spec. origin is used in messages. With LAYER_PROJECT, what widens
 * is added to 'project', which is NULL for the other layers; it is judged against what the spec
 * holds by then, so the user's own file comes first. */
int config_parse(struct spec *spec, const char *text, size_t len, const char *origin,
		 enum layer layer, struct project_config *project, struct err *err);

/* The same for a text that was read already. */
int config_apply(struct spec *spec, struct json_object *root, const char *origin, enum layer layer,
		 struct project_config *project, struct err *err);

/* Reads a file of ours: regular, at most 1 MiB; *ret_text is malloc'ed, NULL where there is none. */
int config_read(const char *path, char **ret_text, size_t *ret_len, struct err *err);

/* DIR/wrapix.json as config_load_project() reads it: never by a link. */
int config_read_project(const char *dir, char **ret_text, size_t *ret_len, struct err *err);

/* The i-th key of a configuration file, NULL after the last: what the schema is compared with. */
const char *config_key(size_t i);

/* DIR/wrapix.json: at most 1 MiB, a regular file, opened without following a link out of DIR; and its
 * profiles, which are read and not yet laid over anything. */
int config_load_project(struct spec *spec, int dir_fd, const char *dir,
			struct project_config *ret_project, struct err *err);
/* DIR/wrapix.json of a directory above the project's own file: what it limits holds for the project as well, the rest is
 * not for it. Comes before config_load_project(), by which the project's own file is judged against it. */
int config_load_around(struct spec *spec, const char *dir, struct err *err);
/* True when something that such a file limits is so still, once all layers are laid. */
bool config_around_holds(const struct spec *spec);
/* $XDG_CONFIG_HOME/wrapix/config.json; absent is fine. */
int config_load_user(struct spec *spec, const char *config_home, struct err *err);
/* A file of the user's own choice was read: its place, and where a link there leads to. */
void spec_note_file(struct spec *spec, const char *path);
/* A file that the user names on the command line: it counts as flags do. */
int config_load_file(struct spec *spec, const char *path, struct err *err);
/* The project's own profile of that name, the user's config_home/wrapix/profiles/NAME.json or a built-in
 * one, with what it extends; each may be NULL, and is not looked at then. A profile that extends its own
 * name extends the next of these. An absolute path is that file. What the project's own widen is added to
 * 'project'. It may be laid last: every other layer is stronger. */
int config_load_profile(struct spec *spec, const char *name, const char *config_home,
			struct project_config *project, struct err *err);
/* Adds what any of the project's profiles widens, whether it is used or not. */
int config_judge_profiles(struct project_config *project, const char *config_home, struct err *err);
/* A package's name, for a package manager's command line? */
bool config_is_package(const char *name);
/* The i-th built-in profile, NULL after the last. */
const char *config_profile(size_t i);
/* All of them, for a table of options. */
const char *const *config_profile_words(const char *name);
/* True when the profile, one of the user's or a built-in one (NULL: these alone), exists and mounts nothing of the host's. */
bool config_profile_is_bare(const char *name, const char *config_home);

void project_config_release(struct project_config *project);

/* 0 when the project widens nothing, or this very content was trusted and each thing that it widens here and now was shown
 * then; else -EPERM, with as many widening keys as a message holds, the number of the others, and a hint at 'wrapix trust'.
 * dir is canonical in all of these. */
int trust_check(const struct project_config *project, const char *dir, const char *state_home,
		struct err *err);
/* The same when nothing widens either: for what is to run on the host. */
int trust_check_host(const struct project_config *project, const char *dir, const char *state_home,
		     struct err *err);
/* True when there is nothing that 'wrapix trust' could show and has not shown. */
bool trust_is_complete(const struct project_config *project, const char *dir,
		       const char *state_home);
/* Records the content's hash and what was shown of it; trust_revoke() forgets the directory. */
int trust_record(const struct project_config *project, const char *dir, const char *state_home,
		 struct err *err);
int trust_revoke(const char *dir, const char *state_home, struct err *err);
