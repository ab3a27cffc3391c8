/* SPDX-License-Identifier: MIT */
/* What the files of later.h share. */
#pragma once

#include <sys/stat.h>

#include "api/later.h"
#include "base/sha256.h"

struct later_file {
	const char *path;
	mode_t mode; /* 0: there is none */
	bool tree; /* what is in it was not looked at: a directory, or what a package manager fills */
	off_t size;
	struct timespec ctime;
	const char *text; /* NULL: too long, or no text; of a link its target */
	size_t len;
	char hash[SHA256_HEX]; /* of a file whose text is not kept; "": too long for that as well */
};

/* A new one, by that path; NULL: there are too many. */
struct later_file *later_add(struct later *later, const char *path, const struct stat *st);
bool later_is_noted(const struct later *later, const char *path);
/* The note of that path; NULL: there is none. */
const struct later_file *later_find(const struct later *later, const char *path);
bool later_same(const struct later_file *a, const struct later_file *b);
/* What is in the file, which 'name' in the directory is. */
void later_read_text(struct later *later, int dir, const char *name, struct later_file *file);
/* What counts of the path, or of what is in it. */
void later_look_at(struct later *later, int dir, const char *path);
/* later_file.c */
void later_write(const struct later *later, const struct later_file *file);
int later_by_path(const void *a, const void *b);
