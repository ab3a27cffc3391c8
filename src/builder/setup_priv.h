/* SPDX-License-Identifier: MIT */
/* The record of what was below /etc before setup: ETC/nix/wrapix-builder.saved/{record,0,1,...}. */
#pragma once

#include "builder/setup.h"

enum { SETUP_FILE_MAX = 1 << 20 };
#define SAVED_DIR "nix/wrapix-builder.saved"

/* A file as it is found. */
struct found {
	bool there, unreadable;
	char *text;
	size_t len;
	unsigned mode, uid, gid;
};

/* What was saved of one. */
struct saved {
	char *path;          /* below /etc */
	struct found found;  /* as it was */
	const char *written; /* the SHA-256 of what setup wrote last; "": nothing yet */
};

struct saved_list {
	struct saved *v;
	size_t len;
	struct strv made; /* directories that setup made */
};

int setup_read(struct arena *arena, const char *path, struct found *ret, struct err *err);

/* setup_record.c. -ENOENT with a hint where setup has not been. */
int record_load(struct arena *arena, const char *etc, struct saved_list *ret, struct err *err);
