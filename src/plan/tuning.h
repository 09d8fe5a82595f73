/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The planner's tuned constants, TSR_TUNE_..., for the planner alone. The table in tuning.def gives
 * each constant's unit, its effect and the origin of its value.
 */
#ifndef TSR_PLAN_TUNING_H
#define TSR_PLAN_TUNING_H

#include <stdint.h>

/* A first guess of a search: the power of two near extent / parts, from least to most. The unit of
 * least and most is the constant's. */
typedef struct tsr_guess {
  double parts;
  int64_t least, most;
} tsr_guess;

/* The power of two p in [least, most] that is about nearest to x: the least p with x <= 1.5 p, or
 * most. */
static inline int64_t tsr_power_of_two_near(double x, int64_t least, int64_t most) {
  int64_t p = least;
  while (p < most && (double)p * 1.5 < x) p *= 2;
  return p;
}

static inline int64_t tsr_guess_of(double extent, tsr_guess guess) {
  return tsr_power_of_two_near(extent / guess.parts, guess.least, guess.most);
}

#define TSR_TUNING "plan/tuning.def"
#include "base/tuning.h"

#endif
