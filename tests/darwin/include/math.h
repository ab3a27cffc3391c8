/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

double floor(double);
double ceil(double);
double sqrt(double);
double fabs(double);
double log(double);
double pow(double, double);
long lround(double);
int isfinite(double);
#define INFINITY (1.0f / 0.0f)
#define HUGE_VAL 1e500
#define NAN __builtin_nanf("")
