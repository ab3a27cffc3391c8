/* SPDX-License-Identifier: MIT */
/* What both prints of a plan show, in words. Secrets are never in a plan's print: the values of the environment
 * are shown for our own variables only. */
#pragma once

#include "plan/plan.h"

const char *op_name(enum op_kind kind);
const char *access_name(enum access_class class);
bool op_has_content(const struct op *op);
/* Staged for the agent: it may hold a part of a key. */
bool op_is_private(const struct op *op);

/* "NAME=value" of ours, "NAME" of all others. */
char *env_shown(struct arena *arena, const char *entry);
/* One direction of the ports, as the options take them. */
struct strv ports_shown(struct arena *a, const struct plan *plan, bool into);
struct strv keys_shown(struct arena *a, const struct plan_keys *keys);
/* "TOKEN from the store", "TOKEN brokered for https://host:443/v1/ at 127.0.0.1:4777" */
struct strv credentials_shown(struct arena *a, const struct plan *plan);

struct str;
/* A line a word of a command line, as a shell takes it; a line a text. */
void shown_add_words(struct str *out, const char *title, const struct strv *words);
void shown_add_lines(struct str *out, const char *title, const struct strv *lines);

const char *plan_filter_name(const struct plan *plan);
/* The rules are kept for every kernel; an old one cannot be given them. */
size_t plan_rules_in_force(const struct plan *plan);
