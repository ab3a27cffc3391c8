/* SPDX-License-Identifier: MIT */
/* What wrapix-relay gives up once it has its rules and the value: see main.c. */
#pragma once

#include "base/err.h"

int relay_confine(struct err *err);
