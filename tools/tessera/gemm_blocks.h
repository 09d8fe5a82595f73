/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Products by the CPU's BLAS, block by block. If the files are larger than memory, a block of C
 * stays in memory while the parts of A and B for one range of k after another are read; a single
 * call of the BLAS would read and write all of C once for every few hundred columns of A. Otherwise
 * a long product is cut into as few parts as show how far it is.
 */
#ifndef TESSERA_GEMM_BLOCKS_H
#define TESSERA_GEMM_BLOCKS_H

#include "gemm.h"

/* Whether the product is to be computed in blocks: the context has no devices. */
bool blocks_wanted(const gemm_job *job);

/* Computes C = alpha op(A) op(B) + beta C in blocks that fit into the limit in bytes; the exit
 * code. */
int blocks_multiply(gemm_job *job, size_t limit);

#endif
