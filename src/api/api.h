/* SPDX-License-Identifier: MIT */
/* What stands behind the opaque types of wrapix.h, for the commands that look deeper. */
#pragma once

#include "api/credentials.h"
#include "api/run_claude.h"
#include "plan/plan.h"
#include "spec/config.h"
#include "wrapix.h"

struct wrapix_spec {
	struct spec spec;
	bool will_run;             /* the plan will be: credentials are fetched meanwhile */
	struct run_claude *claude; /* --settings-from claude; NULL */
	/* Makes the image that packages ask for, where it is not there and the plan will be run. */
	int (*make_image)(const struct spec *spec, struct err *err);
};

struct wrapix_plan {
	struct host host;
	struct plan plan;
	struct prefetch prefetch;
	struct run_claude *claude; /* the spec's, which must outlive this; NULL */
	bool is_untrusted;         /* and why, in words for the user */
	struct err untrusted;
};

/* Lays the user's configuration, the project's and the profile under what the flags set. */
int spec_load_layers(struct spec *spec, struct project_config *ret_project, struct err *err);

/* A profile by itself, from where spec->dir is: the project's own, the user's or a built-in one. What the
 * project's own widens is in *ret_project, for trust_check(). */
int api_load_profile(struct spec *spec, const char *name, struct project_config *ret_project,
		     struct err *err);
/* Whether this user accepted what the project asks for. */
int api_check_trust(struct spec *spec, const struct project_config *project, struct err *err);

int api_check_rules(const struct spec *spec, struct err *err);
/* says: what the user should know. */
int api_add_registries(struct spec *spec, struct strv *says, struct err *err);

/* The error as the public one; returns its negative errno. */
int api_fail(const struct err *err, struct wrapix_error *error);
/* An XDG base directory of this user, before the host is probed. */
char *api_base_dir(struct arena *arena, const char *variable, const char *below_home);
