/* SPDX-License-Identifier: MIT */
/* What the rules for files that run later (protect, spec/spec.h) say about one path of a project. Pure, but for a
 * look into a directory that is about to be moved. */
#pragma once

#include "spec/spec.h"

struct ruling {
	enum protect_level level; /* PROTECT_ALLOW: nobody obeys it, or the user does not mind */
	size_t held; /* PROTECT_HOLD: of the path, the directory that is held; 0: it is none itself */
	bool dir;    /* PROTECT_HOLD: it is such a directory itself */
	const char *class; /* NULL: by its path alone, or none */
	const char *path;  /* as the user named it, where that counts and not the class */
};

struct ruling protection_of(const struct protection *protection, const char *path);
/* What was said of the path itself, or of a directory above it; PROTECT_UNSET: nothing. */
enum protect_level protection_said(const struct protection *protection, const char *path);
/* Something below it is held or read-only by its own path: by another way it would be none of that. */
bool protection_leads(const struct protection *protection, const char *path);
/* A directory that comes to the path has something in it that may not come there: its name in the directory, which
 * lives until the next call. NULL: nothing. */
const char *protection_brings(const struct protection *protection, int dir, const char *path);

struct json_object;
struct str;
/* All of it as a list of strings, without the brackets, and back. */
void protection_add(struct str *out, const struct protection *protection);
void protection_read(struct protection *protection, struct json_object *list, struct arena *arena);
