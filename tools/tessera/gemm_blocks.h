/*
 * Products of the CPU's BLAS that are larger than memory, block by block: a block of C stays, while
 * what it is summed from streams through in chunks of k. The BLAS by itself would go through all of
 * C once for every few hundred columns of A.
 */
#ifndef TESSERA_GEMM_BLOCKS_H
#define TESSERA_GEMM_BLOCKS_H

#include "gemm.h"

/* Whether a product is to be done in blocks: no device does it, and its files are larger than the
 * limit, bytes. */
bool blocks_wanted(const gemm_job *job, size_t limit);

/* C = alpha op(A) op(B) + beta C, in blocks that fit into the limit. */
int blocks_multiply(gemm_job *job, size_t limit);

#endif
