/*
 * Inside the planner: its tuned constants, TSR_TUNE_..., from the table in tuning.def, which says
 * of each its unit, what it does, and where its value comes from.
 */
#ifndef TSR_PLAN_TUNING_H
#define TSR_PLAN_TUNING_H

#include <stdint.h>

/* A first guess: the power of two near an extent / parts, from least to most, which are some. */
typedef struct tsr_guess {
  double parts;
  int64_t least, most;
} tsr_guess;

/* Of the powers of two from least to most, about the nearest to x: up to 1.5 times one of them is
 * nearer to it than to the next one. */
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
