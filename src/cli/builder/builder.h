/* SPDX-License-Identifier: MIT */
/* What the commands of wrapix-builder share: the row of each, how they begin and end. */
#pragma once

#include "builder/builder.h"
#include "cli/cli.h"

/* The headings of its help, in the places of wrapix's own. */
#define SECTION_RUN SECTION_SANDBOX
#define SECTION_LOOK SECTION_SESSIONS
#define SECTION_NIX SECTION_CLAUDE
#define SECTION_SELF SECTION_HOST

extern const struct command command_builder_start, command_builder_stop, command_builder_restart;
extern const struct command command_builder_status, command_builder_ssh, command_builder_logs;
extern const struct command command_builder_gc, command_builder_config;
extern const struct command command_builder_setup, command_builder_unsetup;

/* Of this user, with what it says on standard error. The status to end with, or CLI_GO_ON. */
int builder_begin(struct builder *builder);
/* Becomes ssh into it, with these words for a shell there; returns when it cannot. */
int builder_ssh(struct builder *builder, char **words, size_t n, struct err *err);
/* It runs: fails when it does not, and says how to start it. */
int builder_demand(struct builder *builder, struct err *err);
/* Closes it; the exit status of r and err. */
int builder_end(struct builder *builder, int r, const struct err *err);

/* What a command does with the builder, its arguments parsed. */
typedef int builder_work(struct builder *builder, void *args, const struct opt_rest *rest,
			 struct err *err);
/* Parses, begins, does the work, and ends: the exit status. */
int builder_do(int argc, char **argv, void *args, builder_work *work);
