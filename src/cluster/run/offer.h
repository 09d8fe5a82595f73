/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* For a door that can compute a failed product in another way: the PBLAS door falls back on the
 * PBLAS that is loaded. */
#ifndef TSR_CLUSTER_RUN_OFFER_H
#define TSR_CLUSTER_RUN_OFFER_H

#include <stdbool.h>

#include "tessera_mpi.h"

/* As tsr_pgemm. *begun: whether C may have been written, also when the call fails; the same on all
 * processes. */
TSR_API tsr_status tsr_pgemm_begun(tsr_grid *grid, tsr_op transa, tsr_op transb, int64_t m,
                                   int64_t n, int64_t k, const void *alpha, const tsr_pmatrix *a,
                                   int64_t ia, int64_t ja, const tsr_pmatrix *b, int64_t ib,
                                   int64_t jb, const void *beta, const tsr_pmatrix *c, int64_t ic,
                                   int64_t jc, bool *begun);

#endif
