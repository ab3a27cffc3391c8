/* SPDX-License-Identifier: MIT */
/* What a compiled pattern is made of, for the files that read it. */
#pragma once

#include "spec/glob.h"

enum token_kind { LITERAL, ANY, SET, STAR, DEEP, DIRS };

struct range {
	uint32_t first, last;
};

/* State i stands before token i. STAR and DEEP stay and may be passed over; DIRS is "(.*\/)?": it
 * stays on anything, goes on after '/', and may be passed over where it is entered. */
struct token {
	enum token_kind kind;
	uint32_t cp;
	const struct range *ranges;
	size_t n_ranges;
};

struct glob {
	struct token *tokens;
	size_t n;
	bool fold;
	char *literal; /* the text itself when nothing is special and case counts */
	size_t literal_len;
};

enum { FOLD_MAX = 3 };

/* The characters outside ASCII that full case folding turns into ASCII letters. */
struct glob_fold {
	uint32_t cp;
	char to[FOLD_MAX + 1];
};
extern const struct glob_fold glob_folds[];
extern const size_t glob_n_folds;

/* Whether the set of a folded pattern has a character that folds to this one. */
bool glob_set_has_folded(const struct token *token, uint32_t cp);
