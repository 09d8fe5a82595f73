/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The floating-point environment: rounding mode, traps, flushing of subnormal numbers, and the
 * flags of exceptions (<fenv.h>).
 *
 * It belongs to a thread, and a thread begins with the modes of the thread that starts it. Plans,
 * conversions and residues are right in the default environment only (rounding to nearest, no trap,
 * no flushing), so threads of the library set it when they begin, and public functions hold the
 * caller's while they work (base/thread.h).
 */
#ifndef TSR_BASE_FLOAT_ENVIRONMENT_H
#define TSR_BASE_FLOAT_ENVIRONMENT_H

#include <fenv.h>
#include <stdbool.h>

typedef struct tsr_float_environment {
  fenv_t whole;    /* filled unless is_default */
  bool is_default; /* the modes are the default ones; flags and csr have the flags */
  int flags;
  unsigned csr;
} tsr_float_environment;

/* Sets the default environment, with no flag set. */
void tsr_float_set_default(void);

/* Stores the calling thread's environment and sets the default modes. Some 10 ns if they are set
 * already, as they nearly always are. */
void tsr_float_save(tsr_float_environment *callers);

/* Sets modes and flags as they were stored. Raises no trap. */
void tsr_float_restore(const tsr_float_environment *callers);

#endif
