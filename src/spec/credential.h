/* SPDX-License-Identifier: MIT */
/*
 * Credentials: secrets that the sandbox gets as a variable, from the user's environment or from the
 * store of 'wrapix secret'; or, brokered, that it may use and never has. Agents bring a table of theirs
 * (data/agents); flags and configuration files name them. Pure.
 */
#pragma once

#include "spec/spec.h"

/* What stands inside in place of a brokered one. */
#define CREDENTIAL_PLACEHOLDER "wrapix-brokered-credential"

enum credential_mode { CREDENTIAL_UNSET, CREDENTIAL_ON, CREDENTIAL_OFF, CREDENTIAL_BROKERED };

/* A file that stands inside from the start. */
struct staged_file {
	char *path;    /* "~/.claude.json" */
	char *content; /* with ${CWD}, ${THEME}, ${KEY_END}, ${BASE_URL} to be filled in */
};

struct staged_files {
	struct staged_file *v;
	size_t len;
};

/* NULL in what nobody said. */
struct credential {
	char *name;   /* the variable inside */
	char *secret; /* its name in the store; the variable's when NULL */
	enum credential_mode mode;
	char *upstream;      /* "https://HOST[:PORT][/PREFIX]", the only place where it is used */
	char *header;        /* that carries it: "authorization" when NULL */
	char *scheme;        /* what stands before it in there; "Bearer" with "authorization" */
	char *base_url;      /* the variable that leads programs to the relay */
	char *base_path;     /* what that variable has after the relay's address */
	struct strv methods; /* GET, HEAD and POST when empty */
	struct staged_files files; /* of an agent's table: what leads the agent to it */
	enum layer layer;
	bool named; /* without a word of how: brokered stays so */
	bool asked; /* of an agent's table: only when the user names it */
};

/* An upstream in its parts; the prefix begins with '/'. */
struct upstream {
	char *host, *prefix;
	uint16_t port;
};

struct agent;
struct json_object;
struct json_at;

/* Reads the object form: the keys of the struct, by their names in docs/credentials.md. */
int credential_read(struct arena *arena, const struct json_at *at, struct json_object *value,
		    struct credential *ret, struct err *err);

/* "NAME[=on|off|brokered]" */
int spec_add_credential_string(struct spec *spec, const char *text, enum layer layer,
			       struct err *err);

/* The credentials of this sandbox, complete: the agent's own (NULL: no agent) under what the spec says,
 * without those that are off. Each brokered one has all that it takes. */
int credentials_resolve(struct arena *arena, const struct spec *spec, const struct agent *agent,
			struct credential **ret, size_t *ret_len, struct err *err);
/* Somebody asked for this one, so that it must be there. */
bool credential_is_named(const struct spec *spec, const char *name);

int upstream_parse(struct arena *arena, const char *text, struct upstream *ret, struct err *err);
