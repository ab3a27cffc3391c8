/* SPDX-License-Identifier: MIT */
/* What the name of a file says: git's own, or one that is executed later without being started. */
#pragma once

#include "base/util.h"

/* ".git", however it is spelled on a file system that does not tell cases apart. */
bool is_git_name(const char *name);
/* One of the components is. */
bool is_in_git(const char *path);

/* Relative, clean, without '..', shorter than PATH_MAX. */
bool path_is_plain(const char *path);

/* Who would execute or obey the file, as a word ("git", "shell", "editor", "agent", "build", "ci"),
 * and when; NULL for an ordinary file. */
const char *sensitive_class(const char *path, const char **ret_when);
/* When a class counts: "when you use git here". */
const char *sensitive_when(const char *class);
/* The same for one file: what makes it count, "you run make"; NULL for an ordinary one. */
const char *sensitive_event(const char *path);
/* The class of the directory that the first n bytes of the path name, where all that is in it counts
 * (".vscode"); NULL: of none. */
const char *sensitive_dir(const char *path, size_t n);
/* The i-th of the names that count in a directory of one name only (".cargo" and "config"): both parts, the second
 * without a '*'. False: no more. */
bool sensitive_pair(size_t i, char first[32], char second[64]);
/* The length of a directory on the path that a package manager fills, whose files are not worth a line each. */
size_t sensitive_bulk(const char *path);
/* The i-th of the names without a '*'; a directory ends in '/'. NULL: no more. */
const char *sensitive_name(size_t i);
