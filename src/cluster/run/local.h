/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The part of a product across processes that one process computes in its own context.
 *
 * If devices lack memory for a product, the context drops its cached blocks and the product is
 * tried again; if memory is still missing, the CPU's BLAS computes the product. Giving up is no
 * option then: other processes have already written their parts of C, so all of C would be lost.
 * Its other bits break no promise: native products across processes are never reproducible.
 */
#ifndef TSR_CLUSTER_RUN_LOCAL_H
#define TSR_CLUSTER_RUN_LOCAL_H

#include "cluster/run/grid.h"

/* A part of a matrix in host memory, or in a slot: rows x cols, column-major. */
typedef struct tsr_local_part {
  void *base;
  int64_t rows, cols, ld;
} tsr_local_part;

/* C = alpha A B + beta C. A is m x k and B is k x n, both in slots and without gaps between
 * columns; m x n is the extent of c. k = 0: C is only scaled. */
typedef struct tsr_local_product {
  tsr_type type;
  const void *alpha, *a, *b, *beta; /* alpha and beta point to values of the type */
  int64_t k;
  tsr_local_part c;
  const char *arithmetic; /* of tsr_level3; scaling has none */
} tsr_local_product;

/* Computes the product; asynchronous, as tsr_gemm_async. */
tsr_status tsr_local_multiply(const tsr_grid *grid, const tsr_local_product *x);

/* C = beta C, with k = 0; blocking, as tsr_gemm. */
tsr_status tsr_local_scale(const tsr_grid *grid, const tsr_local_product *x);

/* Functions of the context on a part of a matrix; they do nothing if the context has no devices or
 * the part is empty.
 *   settle      waits until host memory has the results of earlier calls (tsr_coherent)
 *   write_back  the same without waiting (tsr_coherent_async)
 *   renew       drops the devices' copies of the part: host memory has newer data (tsr_invalidate)
 */
tsr_status tsr_local_settle(const tsr_grid *grid, tsr_type type, const tsr_local_part *part);
tsr_status tsr_local_write_back(const tsr_grid *grid, tsr_type type, const tsr_local_part *part);
tsr_status tsr_local_renew(const tsr_grid *grid, tsr_type type, const tsr_local_part *part);

#endif
