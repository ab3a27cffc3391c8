/* SPDX-License-Identifier: MIT */
/* A private key in OpenSSH's own file format ("openssh-key-v1"): Ed25519, without a passphrase. */
#pragma once

#include "base/err.h"
#include "keys/crypto.h"

#define PRIVKEY_MAX 8192 /* bytes of such a file */

/* Reads the text of len bytes, which it writes over while it does. seed is the caller's to protect. */
int privkey_parse(char *text, size_t len, uint8_t ret_seed[ED25519_KEY],
		  uint8_t ret_public[ED25519_KEY], struct err *err);

/* The file at path: regular, the user's own, closed to others, at most PRIVKEY_MAX. All that is read
 * goes through protected memory, and what the seed leads to is compared with the public half. */
int privkey_load(const char *path, uint8_t ret_seed[ED25519_KEY], uint8_t ret_public[ED25519_KEY],
		 struct err *err);
