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

/* A key of a project file that gives the sandbox more than the defaults do, ready to be shown. */
struct widening {
	char *key;   /* "mounts[0]", "network", ... */
	char *shown; /* the value as the user should read it, escaped */
};

struct project_config {
	struct arena arena;
	char *path;  /* NULL when there is no wrapix.json */
	char *bytes; /* the content that was parsed, never read a second time */
	size_t len;
	struct widening *widenings;
	size_t n_widenings;
};

/* Lays a configuration text over spec. origin is used in messages. ret_widenings may be NULL. */
int config_parse(struct spec *spec, const char *text, size_t len, const char *origin, enum layer layer,
		 struct project_config *ret_project, struct err *err);

/* DIR/wrapix.json: at most 1 MiB, a regular file, opened without following a link out of DIR. */
int config_load_project(struct spec *spec, int dir_fd, const char *dir, struct project_config *ret_project,
			struct err *err);
/* $XDG_CONFIG_HOME/wrapix/config.json; absent is fine. */
int config_load_user(struct spec *spec, const char *config_home, struct err *err);
/* A built-in profile or one of config_home/wrapix/profiles/NAME.json, with what it extends. */
int config_load_profile(struct spec *spec, const char *name, const char *config_home, struct err *err);

void project_config_release(struct project_config *project);

/* 0 when the project widens nothing or this very content was trusted; else an error that shows
 * every widening key and hints at 'wrapix trust'. */
int trust_check(const struct project_config *project, const char *dir, const char *state_home, struct err *err);
/* Records the content's hash; trust_revoke() forgets the directory. */
int trust_record(const struct project_config *project, const char *dir, const char *state_home, struct err *err);
int trust_revoke(const char *dir, const char *state_home, struct err *err);
