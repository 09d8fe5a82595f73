/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Others take memory: allocations of emulated devices are refused while problems run. Only programs
 * that are linked with the library's inside can do it; RANDOM_REFUSALS says which.
 */
#ifndef TSR_TESTS_REFUSALS_H
#define TSR_TESTS_REFUSALS_H

#include "problem.h"

/* Of the allocations of devices' memory the nth and those after it, so many; nth 0: none. */
typedef struct refusals {
  long nth, count;
} refusals;

enum { REFUSALS_FOR_EVER = 1000000 };

/* One, a few, or all from some allocation on. */
static inline refusals refusals_draw(rng *random) {
  refusals r = {rng_between(random, 1, 12), 1};
  int64_t kind = rng_between(random, 0, 9);
  if (kind >= 5) r.count = rng_between(random, 2, 6);
  if (kind >= 8) r.count = REFUSALS_FOR_EVER;
  return r;
}

#ifdef RANDOM_REFUSALS
#include "engine/host/host.h"
enum { REFUSES = 1 };
/* How many were refused since the last time. */
static inline long refusals_set(refusals r) {
  return tsr_engine_host_refuse(r.nth, r.count);
}
#else
enum { REFUSES = 0 };
static inline long refusals_set(refusals r) {
  (void)r;
  return 0;
}
#endif

#endif
