/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The turn of samples: a number that grows with every commit, so that each commit draws other
 * problems. 0 where nobody sets it; tools/run_tests.sh sets and prints it. */
#ifndef TSR_TESTS_TURN_H
#define TSR_TESTS_TURN_H

#include <stdint.h>
#include <stdlib.h>

static inline int64_t turn_of_samples(void) {
  const char *text = getenv("TSR_TEST_TURN");
  return text != NULL ? strtoll(text, NULL, 10) : 0;
}

#endif
