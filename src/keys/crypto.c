/* SPDX-License-Identifier: MIT */
/*
 * libcrypto, loaded by hand.
 *
 * Public keys become an EVP_PKEY by way of their X.509 form (SubjectPublicKeyInfo), which is put
 * together here: SSH's numbers and points are the very bytes that ASN.1 wants. So few functions of
 * the library are needed, and they are the same in every version since 1.1.1.
 *
 * What an attacker controls: the signature that is verified. The key is one that the user pinned;
 * protocol.c asks for no other.
 */
#include "keys/crypto.h"

#include <dlfcn.h>
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <string.h>

#define DER_MAX 4096 /* an RSA key of 16384 bits and its head */

static struct {
	void *library;
	typeof(EVP_PKEY_new_raw_private_key) *new_private;
	typeof(EVP_PKEY_new_raw_public_key) *new_public;
	typeof(EVP_PKEY_get_raw_public_key) *get_public;
	typeof(EVP_PKEY_free) *free_key;
	typeof(EVP_MD_CTX_new) *new_ctx;
	typeof(EVP_MD_CTX_free) *free_ctx;
	typeof(EVP_DigestSignInit) *sign_init;
	typeof(EVP_DigestSign) *sign;
	typeof(EVP_DigestVerifyInit) *verify_init;
	typeof(EVP_DigestVerify) *verify;
	typeof(EVP_sha256) *sha256;
	typeof(EVP_sha384) *sha384;
	typeof(EVP_sha512) *sha512;
	typeof(d2i_PUBKEY) *read_public;
} ssl;

static const struct {
	const char *name;
	void *at;
} symbols[] = {
	{ "EVP_PKEY_new_raw_private_key", &ssl.new_private },
	{ "EVP_PKEY_new_raw_public_key", &ssl.new_public },
	{ "EVP_PKEY_get_raw_public_key", &ssl.get_public },
	{ "EVP_PKEY_free", &ssl.free_key },
	{ "EVP_MD_CTX_new", &ssl.new_ctx },
	{ "EVP_MD_CTX_free", &ssl.free_ctx },
	{ "EVP_DigestSignInit", &ssl.sign_init },
	{ "EVP_DigestSign", &ssl.sign },
	{ "EVP_DigestVerifyInit", &ssl.verify_init },
	{ "EVP_DigestVerify", &ssl.verify },
	{ "EVP_sha256", &ssl.sha256 },
	{ "EVP_sha384", &ssl.sha384 },
	{ "EVP_sha512", &ssl.sha512 },
	{ "d2i_PUBKEY", &ssl.read_public },
};

int crypto_load(struct err *err)
{
	void *library;

	if (ssl.library)
		return 0;
	library = dlopen(WRAPIX_LIBCRYPTO, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; library && i < ARRAY_LEN(symbols); i++) {
		void *symbol = dlsym(library, symbols[i].name);

		if (!symbol) {
			dlclose(library);
			library = NULL;
			break;
		}
		memcpy(symbols[i].at, &symbol, sizeof(symbol));
	}
	if (!library) {
		err_set(err, ENOENT, "loading OpenSSL's %s, which keys need: %s", WRAPIX_LIBCRYPTO,
			dlerror());
		return err_hint(err, "install OpenSSL (Debian: libssl3; Fedora: openssl-libs)");
	}
	ssl.library = library;
	return 0;
}

int crypto_ed25519_public(const uint8_t *seed, uint8_t ret_public[ED25519_KEY])
{
	EVP_PKEY *key = ssl.new_private(EVP_PKEY_ED25519, NULL, seed, ED25519_KEY);
	size_t len = ED25519_KEY;
	int r = key && ssl.get_public(key, ret_public, &len) == 1 && len == ED25519_KEY ? 0 : -EIO;

	ssl.free_key(key);
	return r;
}

int crypto_ed25519_sign(const uint8_t *seed, struct blob data,
			uint8_t ret_signature[ED25519_SIGNATURE])
{
	/* The library's own copy lives as long as this call; freeing it wipes it. */
	EVP_PKEY *key = ssl.new_private(EVP_PKEY_ED25519, NULL, seed, ED25519_KEY);
	EVP_MD_CTX *ctx = ssl.new_ctx();
	size_t len = ED25519_SIGNATURE;
	bool ok = key && ctx && ssl.sign_init(ctx, NULL, NULL, NULL, key) == 1 &&
		  ssl.sign(ctx, ret_signature, &len, data.p, data.len) == 1 &&
		  len == ED25519_SIGNATURE;

	ssl.free_ctx(ctx);
	ssl.free_key(key);
	return ok ? 0 : -EIO;
}

/* --- ASN.1 --- */

static void put_head(struct wire_out *out, uint8_t tag, size_t len)
{
	wire_put_byte(out, tag);
	if (len > 255)
		wire_put_byte(out, 0x82);
	else if (len > 127)
		wire_put_byte(out, 0x81);
	if (len > 255)
		wire_put_byte(out, (uint8_t)(len >> 8));
	wire_put_byte(out, (uint8_t)len);
}

static void put_value(struct wire_out *out, uint8_t tag, struct blob value)
{
	put_head(out, tag, value.len);
	wire_put_bytes(out, value.p, value.len);
}

enum { DER_INTEGER = 0x02, DER_BITS = 0x03, DER_SEQUENCE = 0x30 };

/* SEQUENCE { a INTEGER, b INTEGER }: an RSA key, an ECDSA signature. An SSH number is an INTEGER. */
static struct blob der_pair(struct blob a, struct blob b, uint8_t *buf, size_t size)
{
	uint8_t body[DER_MAX];
	struct wire_out inner = { .p = body, .size = sizeof(body) };
	struct wire_out out = { .p = buf, .size = size };

	put_value(&inner, DER_INTEGER, a);
	put_value(&inner, DER_INTEGER, b);
	put_value(&out, DER_SEQUENCE, (struct blob){ body, inner.len });
	return (struct blob){ buf, inner.overflow || out.overflow ? 0 : out.len };
}

/* SEQUENCE { algorithm, BIT STRING }; algorithm is the whole AlgorithmIdentifier. */
static EVP_PKEY *read_key(const char *algorithm, size_t len, struct blob key)
{
	uint8_t body[DER_MAX], whole[DER_MAX];
	struct wire_out inner = { .p = body, .size = sizeof(body) };
	struct wire_out out = { .p = whole, .size = sizeof(whole) };
	const uint8_t *p = whole;

	wire_put_bytes(&inner, algorithm, len);
	put_head(&inner, DER_BITS, key.len + 1);
	wire_put_byte(&inner, 0); /* no unused bits */
	wire_put_bytes(&inner, key.p, key.len);
	put_value(&out, DER_SEQUENCE, (struct blob){ body, inner.len });
	if (inner.overflow || out.overflow)
		return NULL;
	return ssl.read_public(NULL, &p, (long)out.len);
}

/* --- verifying --- */

static bool verify(EVP_PKEY *key, const EVP_MD *hash, struct blob signature, struct blob data)
{
	EVP_MD_CTX *ctx = key ? ssl.new_ctx() : NULL;
	bool ok = ctx && ssl.verify_init(ctx, NULL, hash, NULL, key) == 1 &&
		  ssl.verify(ctx, signature.p, signature.len, data.p, data.len) == 1;

	ssl.free_ctx(ctx);
	ssl.free_key(key);
	return ok;
}

static bool verify_ed25519(struct blob key, struct blob algorithm, struct blob signature,
			   struct blob data)
{
	struct blob point;

	if (!blob_is(algorithm, "ssh-ed25519") || !wire_string(&key, &point) || key.len ||
	    point.len != ED25519_KEY || signature.len != ED25519_SIGNATURE)
		return false;
	return verify(ssl.new_public(EVP_PKEY_ED25519, NULL, point.p, point.len), NULL, signature,
		      data);
}

static bool verify_rsa(struct blob key, struct blob algorithm, struct blob signature,
		       struct blob data)
{
	static const char id[] = "\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05";
	bool sha512 = blob_is(algorithm, "rsa-sha2-512");
	uint8_t buf[DER_MAX];
	struct blob e, n, pair;

	if ((!sha512 && !blob_is(algorithm, "rsa-sha2-256")) || !wire_string(&key, &e) ||
	    !wire_string(&key, &n) || key.len)
		return false;
	pair = der_pair(n, e, buf, sizeof(buf));
	/* The id ends in NULL, 05 00: the literal's own end is its last byte. */
	return pair.len && verify(read_key(id, sizeof(id), pair),
				  sha512 ? ssl.sha512() : ssl.sha256(), signature, data);
}

static const struct curve {
	const char *algorithm, *name, *id;
	size_t id_len;
	typeof(EVP_sha256) **hash;
} curves[] = {
#define EC_ID "\x06\x07\x2a\x86\x48\xce\x3d\x02\x01"
#define CURVE(a, b, id, h)                  \
	{                                   \
		a, b, id, sizeof(id) - 1, h \
	}
	CURVE("ecdsa-sha2-nistp256", "nistp256",
	      "\x30\x13" EC_ID "\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07", &ssl.sha256),
	CURVE("ecdsa-sha2-nistp384", "nistp384", "\x30\x10" EC_ID "\x06\x05\x2b\x81\x04\x00\x22",
	      &ssl.sha384),
	CURVE("ecdsa-sha2-nistp521", "nistp521", "\x30\x10" EC_ID "\x06\x05\x2b\x81\x04\x00\x23",
	      &ssl.sha512),
};

static bool verify_ecdsa(const struct curve *curve, struct blob key, struct blob algorithm,
			 struct blob signature, struct blob data)
{
	uint8_t buf[DER_MAX];
	struct blob name, point, r, s, pair;

	if (!blob_is(algorithm, curve->algorithm) || !wire_string(&key, &name) ||
	    !blob_is(name, curve->name) || !wire_string(&key, &point) || key.len ||
	    !wire_string(&signature, &r) || !wire_string(&signature, &s) || signature.len)
		return false;
	pair = der_pair(r, s, buf, sizeof(buf));
	return pair.len &&
	       verify(read_key(curve->id, curve->id_len, point), (*curve->hash)(), pair, data);
}

bool crypto_verify(struct blob key, struct blob signature, struct blob data)
{
	struct blob type, algorithm, bytes;

	if (!wire_string(&key, &type) || !wire_string(&signature, &algorithm) ||
	    !wire_string(&signature, &bytes) || signature.len)
		return false;
	if (blob_is(type, "ssh-ed25519"))
		return verify_ed25519(key, algorithm, bytes, data);
	if (blob_is(type, "ssh-rsa"))
		return verify_rsa(key, algorithm, bytes, data);
	for (size_t i = 0; i < ARRAY_LEN(curves); i++)
		if (blob_is(type, curves[i].algorithm))
			return verify_ecdsa(&curves[i], key, algorithm, bytes, data);
	return false;
}
