/*
 * What a process's own context does of a product across processes. What lacks memory there is tried
 * again with what the context had kept, and is then done by the CPU's BLAS, since others have
 * written their parts of C by then, and one that gave up would lose all of it. Where results are to
 * be reproducible, which the CPU's are not, it is found out before anything is written.
 */
#ifndef TSR_CLUSTER_LOCAL_H
#define TSR_CLUSTER_LOCAL_H

#include "cluster/grid.h"

/* A part of a matrix in host memory, or in a slot: rows x cols, column-major. */
typedef struct tsr_local_part {
  void *base;
  int64_t rows, cols, ld;
} tsr_local_part;

/* C = alpha A B + beta C: A is m x k and B is k x n, both without gaps and in slots; k is 0 where C
 * is only scaled. */
typedef struct tsr_local_product {
  tsr_type type;
  const void *alpha, *a, *b, *beta; /* the scalars: values of the type */
  int64_t k;
  tsr_local_part c;
} tsr_local_product;

/* Whether the context has the memory, where it must have it; a, b and c.base may be NULL.
 * TSR_ERR_MEMORY. */
tsr_status tsr_local_check(const tsr_grid *grid, const tsr_local_product *x);

/* Asynchronous, as tsr_gemm_async. */
tsr_status tsr_local_multiply(const tsr_grid *grid, const tsr_local_product *x);

/* C = beta C, with k = 0; blocking, as tsr_gemm. */
tsr_status tsr_local_scale(const tsr_grid *grid, const tsr_local_product *x);

/* As tsr_coherent, tsr_coherent_async and tsr_invalidate; there is nothing to do where there are no
 * devices, or where the part is empty. */
tsr_status tsr_local_settle(const tsr_grid *grid, tsr_type type, const tsr_local_part *part);
tsr_status tsr_local_bring_home(const tsr_grid *grid, tsr_type type, const tsr_local_part *part);
tsr_status tsr_local_renew(const tsr_grid *grid, tsr_type type, const tsr_local_part *part);

#endif
