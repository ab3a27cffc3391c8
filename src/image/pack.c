/* SPDX-License-Identifier: MIT */
/* gzip by zlib, zstd by libzstd, or nothing. */
#include "image/pack.h"

#include <errno.h>
#include <zlib.h>
#include <zstd.h>

const char *const compression_names[] = { "gzip", "zstd", "none", NULL };

enum {
	/* As large as what others write, at their speed; 6 takes three times as long. */
	GZIP_LEVEL = 2,
	GZIP_HEADER = 16, /* deflate's window bits plus this: gzip, without a time */
	ZSTD_LEVEL = 3,
	/* Bits of the window and the tables: sixty of them stay below the limit of memory. */
	ZSTD_WINDOW = 17,
	ZSTD_HASH = 15,
	ZSTD_CHAIN = 16,
};

struct packer {
	enum compression how;
	pack_fn *out;
	void *ctx;
	z_stream gzip;
	ZSTD_CStream *zstd;
};

static bool begin_zstd(struct packer *packer)
{
	static const struct {
		ZSTD_cParameter key;
		int value;
	} settings[] = {
		{ ZSTD_c_compressionLevel, ZSTD_LEVEL },
		{ ZSTD_c_windowLog, ZSTD_WINDOW },
		{ ZSTD_c_hashLog, ZSTD_HASH },
		{ ZSTD_c_chainLog, ZSTD_CHAIN },
		{ ZSTD_c_checksumFlag, 1 },
	};

	packer->zstd = ZSTD_createCStream();
	if (!packer->zstd)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		if (ZSTD_isError(ZSTD_CCtx_setParameter(packer->zstd, settings[i].key,
							settings[i].value)))
			return false;
	return true;
}

static bool begin(struct packer *packer)
{
	switch (packer->how) {
	case COMPRESS_GZIP:
		return deflateInit2(&packer->gzip, GZIP_LEVEL, Z_DEFLATED, MAX_WBITS + GZIP_HEADER,
				    8, Z_DEFAULT_STRATEGY) == Z_OK;
	case COMPRESS_ZSTD:
		return begin_zstd(packer);
	default:
		return true;
	}
}

struct packer *packer_new(enum compression how, pack_fn *out, void *ctx)
{
	struct packer *packer = calloc(1, sizeof(*packer));

	if (!packer)
		return NULL;
	*packer = (struct packer){ .how = how, .out = out, .ctx = ctx };
	if (begin(packer))
		return packer;
	packer_free(packer);
	return NULL;
}

void packer_free(struct packer *packer)
{
	if (!packer)
		return;
	if (packer->how == COMPRESS_GZIP)
		deflateEnd(&packer->gzip);
	ZSTD_freeCStream(packer->zstd);
	free(packer);
}

enum compression packer_how(const struct packer *packer)
{
	return packer->how;
}

static int pump_gzip(struct packer *packer, const void *data, size_t len, bool end)
{
	unsigned char out[65536];
	int r = 0;

	packer->gzip.next_in = (unsigned char *)data;
	packer->gzip.avail_in = (unsigned)len;
	do {
		packer->gzip.next_out = out;
		packer->gzip.avail_out = sizeof(out);
		if (deflate(&packer->gzip, end ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR)
			return -EIO;
		r = packer->out(packer->ctx, out, sizeof(out) - packer->gzip.avail_out);
	} while (r == 0 && packer->gzip.avail_out == 0);
	return r;
}

static int pump_zstd(struct packer *packer, const void *data, size_t len, bool end)
{
	ZSTD_inBuffer in = { data, len, 0 };
	char bytes[65536];
	size_t left;
	int r = 0;

	do {
		ZSTD_outBuffer out = { bytes, sizeof(bytes), 0 };

		left = ZSTD_compressStream2(packer->zstd, &out, &in,
					    end ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return -EIO;
		r = packer->out(packer->ctx, bytes, out.pos);
	} while (r == 0 && (end ? left != 0 : in.pos < in.size));
	return r;
}

static int pump(struct packer *packer, const void *data, size_t len, bool end)
{
	switch (packer->how) {
	case COMPRESS_GZIP:
		return pump_gzip(packer, data, len, end);
	case COMPRESS_ZSTD:
		return pump_zstd(packer, data, len, end);
	default:
		return packer->out(packer->ctx, data, len);
	}
}

int packer_add(struct packer *packer, const void *data, size_t len)
{
	return pump(packer, data, len, false);
}

int packer_end(struct packer *packer)
{
	return pump(packer, NULL, 0, true);
}
