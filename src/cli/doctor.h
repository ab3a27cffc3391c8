/* SPDX-License-Identifier: MIT */
/* What a check of 'wrapix doctor' finds; the checks are in doctor.c and its neighbours. */
#pragma once

#include "base/str.h"
#include "plan/plan.h"

enum verdict { WORKS, WEAKER, MISSING, BROKEN };

struct finding {
	enum verdict verdict;
	struct str text, fix;
};

struct patient {
	const struct host *host;
	const struct plan *plan; /* of a sandbox in the current directory, without a network */
	const struct err *gone;  /* why that directory cannot be used; the facts are of another */
};

/* A row of the table; the last one has no name. */
struct doctor_check {
	const char *name;
	void (*check)(const struct patient *p, struct finding *f);
};
extern const struct doctor_check mac_checks[];

/* A failed probe; what it is worth depends on the check. */
void found_error(struct finding *f, enum verdict verdict, const struct err *err);

/* The current directory. */
void check_project(const struct patient *p, struct finding *f);
/* The range of ids that podman needs and the native engine does not. */
void check_subids(const struct patient *p, struct finding *f);
/* As 'run --engine podman' would decide, but for the image, which is asked for by name. */
void check_podman(const struct patient *p, struct finding *f);
/* What 'wrapix exec' enforces here, and what is weaker than asked. */
void check_policy(const struct patient *p, struct finding *f);
/* What the latest sessions here were refused, and what would allow it. */
void check_refusals(const struct patient *p, struct finding *f);
