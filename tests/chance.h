/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Numbers by chance for tests: the same on every computer for the same seed. One sequence a
 * program. */
#ifndef TSR_TESTS_CHANCE_H
#define TSR_TESTS_CHANCE_H

#include <stdint.h>

static uint64_t chance_state = 1;

static inline void chance_seed(uint64_t seed) {
  chance_state = seed;
}

/* Both ends may come. */
static inline int64_t between(int64_t least, int64_t most) {
  chance_state = chance_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return least + (int64_t)((chance_state >> 33) % (uint64_t)(most - least + 1));
}

#endif
