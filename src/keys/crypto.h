/* SPDX-License-Identifier: MIT */
/*
 * The three things that need real cryptography, from OpenSSL's libcrypto. It is loaded when it is
 * first used (crypto_load), so that a start without keys does not pay for it.
 */
#pragma once

#include "base/err.h"
#include "keys/wire.h"

#define ED25519_KEY 32
#define ED25519_SIGNATURE 64

int crypto_load(struct err *err);

/* The private key is its seed. 0 or -errno; crypto_load() must have succeeded. */
int crypto_ed25519_public(const uint8_t *seed, uint8_t ret_public[ED25519_KEY]);
int crypto_ed25519_sign(const uint8_t *seed, struct blob data,
			uint8_t ret_signature[ED25519_SIGNATURE]);

/* Whether a signature in SSH's form was made with this public key (in SSH's form) over the data:
 * Ed25519, ECDSA with the NIST curves, RSA with SHA-2. Anything else is false. */
bool crypto_verify(struct blob key, struct blob signature, struct blob data);
