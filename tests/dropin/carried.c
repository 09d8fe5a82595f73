/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Stands for the BLAS that a wheel of Python carries: it counts calls, and does nothing else. */
int carried_calls;

#define ROUTINE(name)       \
  void scipy_##name(void);  \
  void scipy_##name(void) { \
    carried_calls++;        \
  }

ROUTINE(sgemm_)
ROUTINE(dgemm_)
ROUTINE(cgemm_)
ROUTINE(zgemm_)
