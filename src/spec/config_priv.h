/* SPDX-License-Identifier: MIT */
/* How config.c and the files it is cut into read the value of a key. */
#pragma once

#include "spec/config.h"

struct json_at;

struct reader {
	struct spec *spec;
	enum layer layer;
	const char *origin;             /* the file's name */
	struct project_config *project; /* NULL: nobody asks what widens */
};

/* Of a file around the project's only limits count. What would be asked about is left out: how many there are before a
 * value is judged, and whether it was one. */
size_t config_asked(const struct reader *reader);
bool config_leaves_out(const struct reader *reader, size_t before);

/* Each lays one value over the spec, noting on the way what it widens. */
int config_set(const struct reader *reader, const struct json_at *at, const char *text,
	       struct err *err);
int config_read_word(const struct reader *reader, const struct json_at *at,
		     struct json_object *value, struct err *err);
int config_read_bool(const struct reader *reader, const struct json_at *at,
		     struct json_object *value, struct err *err);
int config_read_network(const struct reader *reader, const struct json_at *at,
			struct json_object *value, struct err *err);
/* Fills in the lines of the rules from the 'first' on, which are this text's. */
void config_find_lines(struct spec *spec, size_t first, const char *text, size_t len);
int config_read_publish(const struct reader *reader, const struct json_at *at,
			struct json_object *value, struct err *err);
int config_read_host_ports(const struct reader *reader, const struct json_at *at,
			   struct json_object *value, struct err *err);
int config_read_description(const struct reader *reader, const struct json_at *at,
			    struct json_object *value, struct err *err);
int config_read_packages(const struct reader *reader, const struct json_at *at,
			 struct json_object *value, struct err *err);
int config_read_writable(const struct reader *reader, const struct json_at *at,
			 struct json_object *value, struct err *err);
int config_read_domains(const struct reader *reader, const struct json_at *at,
			struct json_object *value, struct err *err);
int config_read_registries(const struct reader *reader, const struct json_at *at,
			   struct json_object *value, struct err *err);
int config_read_checks(const struct reader *reader, const struct json_at *at,
		       struct json_object *value, struct err *err);

int config_read_wanted(const struct reader *reader, const struct json_at *at,
		       struct json_object *value, struct err *err);

int config_read_deploy_key(const struct reader *reader, const struct json_at *at,
			   struct json_object *value, struct err *err);

int config_read_credentials(const struct reader *reader, const struct json_at *at,
			    struct json_object *value, struct err *err);

int config_read_notify(const struct reader *reader, const struct json_at *at,
		       struct json_object *value, struct err *err);

int config_read_protect(const struct reader *reader, const struct json_at *at,
			struct json_object *value, struct err *err);

bool config_in_words(const char *word, const char *const *words, size_t n);

/* Reads a file that must be regular; *ret_text is malloc'ed, and NULL where there is no file. 'resolve' is
 * for openat2(); with any, the file may have no second name. */
int config_read_at(int dir_fd, const char *name, uint64_t resolve, const char *shown,
		   char **ret_text, size_t *ret_len, struct err *err);
