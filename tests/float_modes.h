/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Floating-point environments in which a program may call: they must not change results of devices,
 * must not trap, and must be as they were when the call returns. Traps need glibc. */
#ifndef TSR_TESTS_FLOAT_MODES_H
#define TSR_TESTS_FLOAT_MODES_H

#include <fenv.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

typedef struct float_modes {
  char round; /* 'n' to nearest, 'u' up, 'd' down, 'z' to zero */
  int trap;   /* invalid operations, divisions by zero and overflows end the program */
  int flush;  /* subnormal results and inputs are 0, where the processor can */
  int flags;  /* bit i: the ith of float_flags is set */
} float_modes;

enum { FLOAT_FLAGS = 5, FLOAT_TRAPS = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW };
static const int float_flags[FLOAT_FLAGS] = {FE_UNDERFLOW, FE_INEXACT, FE_INVALID, FE_DIVBYZERO,
                                             FE_OVERFLOW};

static inline int float_round_of(char letter) {
  return letter == 'u'   ? FE_UPWARD
         : letter == 'd' ? FE_DOWNWARD
         : letter == 'z' ? FE_TOWARDZERO
                         : FE_TONEAREST;
}

static inline unsigned float_flushes(bool set) {
#if defined(__x86_64__)
  if (set) _mm_setcsr(_mm_getcsr() | 0x8040);
  return _mm_getcsr() & 0x8040;
#else
  (void)set;
  return 0;
#endif
}

static inline int float_traps(bool set) {
#if defined(__GLIBC__)
  if (set) feenableexcept(FLOAT_TRAPS);
  return fegetexcept();
#else
  (void)set;
  return 0;
#endif
}

/* A flag of an exception that traps would trap at once on some processors. */
static inline void float_modes_set(const float_modes *modes) {
  int flags = 0;
  for (int i = 0; i < FLOAT_FLAGS; i++)
    if (modes->flags >> i & 1) flags |= float_flags[i];
  fesetenv(FE_DFL_ENV);
  feraiseexcept(modes->trap ? flags & ~FLOAT_TRAPS : flags);
  fesetround(float_round_of(modes->round));
  float_flushes(modes->flush);
  float_traps(modes->trap);
}

typedef struct float_state {
  int round, flags, traps;
  unsigned flushes;
} float_state;

static inline float_state float_state_get(void) {
  return (float_state){fegetround(), fetestexcept(FE_ALL_EXCEPT), float_traps(false),
                       float_flushes(false)};
}

/* Whether the environment is the former one, but for flags that may have been raised. Sets the
 * default one. */
static inline bool float_state_is(const float_state *former, int may, char *why, size_t room) {
  float_state now = float_state_get();
  fesetenv(FE_DFL_ENV);
  int raised = now.flags & ~may, had = former->flags & ~may;
  if (now.round == former->round && now.traps == former->traps && now.flushes == former->flushes &&
      raised == had)
    return true;
  snprintf(why, room,
           "the floating-point environment has changed: rounding %d, was %d; flags %#x, were %#x; "
           "traps %#x, were %#x; flushing %#x, was %#x",
           now.round, former->round, raised, had, now.traps, former->traps, now.flushes,
           former->flushes);
  return false;
}

#endif
